// SPDX-License-Identifier: MIT OR Apache-2.0
// `ap1000p_refill` reads the announced elements, each once, in order, at the address of its tag, and passes on the
// memory's data, each once, in order.
//
// - It never reads more than was announced or has room, across 8 elements, or outside the region. It reads soon.
// - An element leaves with the tag that it must have, or as lost. It is lost exactly if it is of a run that the memory
//   refused, the memory reported an error, its tag is another, or its queue is none.
// - A refused element is of such a run. Another element counts as refused only where runs had to be joined.
// - Offers hold. Nothing waits without cause. `busy_o` is low only at rest.
//
// An element, any, is followed. With `Most` = 16 the region has at most 16 elements, in up to three runs at a time.
//
// Assumed, as `ap1000p_spill` and `ap1000p_queues` keep it: the region is constant while an element is in it. Its first
// tag is a position in it. The announced elements fit into the largest region. The memory keeps its rules; it may give
// any data.
module prove_ap1000p_refill #(
    parameter int DataW = 64,
    // elements that are announced and have not left; with a few, runs of refused ones are followed
    parameter int Most  = 65536
) (
    input logic clk_i,
    input logic rst_i,
    input logic mark_i,
    input logic [7:0] base_i,
    input logic [6:0] limit_i,
    input logic empty_i,
    input logic [ap1000p_pkg::SpillTagLapW+ap1000p_pkg::SpillTagPositionW-1:0] tag_i,
    input logic stored_valid_i,
    input logic [2:0] stored_count_i,
    input logic stored_refused_i,
    input logic mark_spot_i,
    input logic [2:0] nth_i,
    input logic cmd_ready_i,
    input logic data_valid_i,
    input logic [DataW-1:0] data_data_i,
    input logic data_last_i,
    input logic data_err_i,
    input logic out_ready_i
);
  localparam int TagW = ap1000p_pkg::SpillTagLapW + ap1000p_pkg::SpillTagPositionW;
  localparam int Beats = 64 / DataW;
  localparam int Capacity = 18;
  localparam int ElementW = 1 + 3 + 5 + 4 + 1 + TagW + 32;
  localparam int Notes = 1;

  logic busy, cmd_valid, data_ready, out_valid, out_lost, out_end;
  logic [31:0] cmd_addr, out_data;
  logic [7:0] cmd_len;
  logic [4:0] out_queue;
  logic [2:0] out_number;
  logic [3:0] out_index;
  logic [TagW-1:0] out_tag;
  ap1000p_refill #(
      .DataW(DataW),
      .Notes(Notes)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .base_i,
      .limit_i,
      .empty_i,
      .tag_i,
      .stored_valid_i,
      .stored_count_i,
      .stored_refused_i,
      .mem_cmd_valid_o(cmd_valid),
      .mem_cmd_ready_i(cmd_ready_i),
      .mem_cmd_addr_o(cmd_addr),
      .mem_cmd_len_o(cmd_len),
      .mem_data_valid_i(data_valid_i),
      .mem_data_ready_o(data_ready),
      .mem_data_data_i(data_data_i),
      .mem_data_last_i(data_last_i),
      .mem_data_err_i(data_err_i),
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_lost_o(out_lost),
      .out_queue_o(out_queue),
      .out_number_o(out_number),
      .out_index_o(out_index),
      .out_end_o(out_end),
      .out_tag_o(out_tag),
      .out_data_o(out_data)
  );
  power_up u_power_up (.*);
  stream_rules #(
      .W(40)
  ) u_cmd (
      .clk_i,
      .rst_i,
      .valid_i(cmd_valid),
      .ready_i(cmd_ready_i),
      .data_i ({cmd_addr, cmd_len})
  );
  stream_rules #(
      .W(ElementW)
  ) u_out (
      .clk_i,
      .rst_i,
      .valid_i(out_valid),
      .ready_i(out_ready_i),
      .data_i ({out_lost, out_number, out_queue, out_index, out_end, out_tag, out_data})
  );
  mem_read_rules #(
      .Outstanding(1),
      .Assume(1'b1)
  ) u_read (
      .clk_i,
      .rst_i,
      .cmd_valid_i (cmd_valid),
      .cmd_ready_i (cmd_ready_i),
      .cmd_len_i   (cmd_len),
      .data_valid_i(data_valid_i),
      .data_ready_i(data_ready),
      .data_last_i (data_last_i)
  );

  // ------------------------------------------------------------------------------------------ the region and its reads
  logic beat, element, half_q, err_q, burst_q, asks, pop;
  logic [31:0] first_q;
  logic [63:0] given;
  logic [16:0] unrequested_q, inside_q;  // announced: not requested, not gone
  logic [4:0] due_q, requested;  // elements: to come of the burst, of the command
  logic [3:0] tells;
  logic [TagW-1:0] tag_q;  // of the next element to come
  logic fresh_q, after_q;
  logic [14:0] region_q;
  assign beat = data_valid_i && data_ready;
  assign element = beat && (Beats == 1 || half_q);
  if (Beats == 1) begin : gen_whole
    assign given = data_data_i;
  end else begin : gen_halves
    assign given = {data_data_i, first_q};
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        first_known :
        assert ((!dut.active_q || dut.half_q == half_q) &&
                (!half_q || {err_q, first_q} == {dut.gen_halves.err_q, dut.gen_halves.first_q}));
      end
    end
  end
  assign tells = stored_valid_i ? 4'(stored_count_i) + 4'd1 : '0;
  assign requested = 5'((9'(cmd_len) + 9'd1) >> (Beats - 1));
  assign asks = cmd_valid && cmd_ready_i;
  assign pop = out_valid && out_ready_i;

  function automatic logic [TagW-1:0] next(input logic [TagW-1:0] tag, input logic [6:0] limit);
    if (tag[9:0] == '1 && {1'b0, tag[15:10]} + 7'd1 == limit) return {tag[TagW-1:16] + 3'd1, 16'b0};
    return {tag[TagW-1:16], tag[15:0] + 16'd1};
  endfunction

  // The expected output for an element of the memory. A lost one has no contents.
  logic [4:0] queue;
  logic lost;
  logic [ElementW-1:0] must, does;
  assign queue = given[28:24];
  assign lost = dut.refused || data_err_i || (Beats == 2 && err_q) || given[23:5] != tag_q ||
      !(queue == 5'd1 || queue == 5'd2 || queue == 5'd4 || queue == 5'd8 || queue == 5'd16);
  localparam bit [ElementW-1:0] Lost = {1'b1, (ElementW - 1)'(0)};
  assign must = lost ? Lost : {1'b0, given[31:29], queue, given[4:1], given[0], tag_q, given[63:32]};
  assign does = out_lost ? Lost : {1'b0, out_number, out_queue, out_index, out_end, out_tag, out_data};

  logic follow;
  logic [4:0] held, ahead;
  logic [ElementW-1:0] word;
  stream_track #(
      .W(ElementW),
      .Capacity(Capacity),
      .Fills(1'b0)
  ) u_track (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(element),
      .in_data_i(must),
      .pop_i(pop),
      .out_data_i(does),
      .inside_o(held),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(word)
  );

  // In the cycle before: a read was due and nothing blocked it; an element was inside, and none offered.
  logic waits_q, idle_q;
  always_ff @(posedge clk_i) begin
    unrequested_q <= unrequested_q + 17'(tells) - (asks ? 17'(requested) : '0);
    inside_q <= inside_q + 17'(tells) - 17'(pop);
    if (asks) due_q <= requested;
    else if (element) due_q <= due_q - 5'd1;
    burst_q <= asks || (burst_q && !(element && due_q == 5'd1));
    if (beat) half_q <= !half_q && Beats == 2;
    if (beat) {err_q, first_q} <= {data_err_i, data_data_i[31:0]};
    if (empty_i) tag_q <= tag_i;
    else if (element) tag_q <= next(tag_q, limit_i);
    fresh_q  <= empty_i;
    after_q  <= rst_i;
    region_q <= {base_i, limit_i};
    waits_q  <= unrequested_q != '0 && !burst_q && !cmd_valid && held <= 5'd8;
    idle_q   <= held != '0 && !out_valid;
    if (rst_i) begin
      unrequested_q <= '0;
      inside_q <= '0;
      burst_q <= 1'b0;
      half_q <= 1'b0;
      due_q <= '0;
      waits_q <= 1'b0;
      idle_q <= 1'b0;
    end
    if (!rst_i) begin
      empty_at_first : assume (!after_q || empty_i);
      empty_is_empty : assume (!empty_i || (inside_q == '0 && !stored_valid_i));
      in_use_holds : assume (fresh_q || region_q == {base_i, limit_i});
      a_region : assume (empty_i || !fresh_q || ({1'b0, tag_q[15:10]} < limit_i && limit_i <= 7'd64));
      no_more_than_fits : assume (inside_q + 17'(tells) <= 17'(Most));

      requested_in_order : assert (!cmd_valid || cmd_addr == {5'b0, base_i, tag_q[15:0], 3'b0});
      whole_elements : assert (!cmd_valid || (cmd_len < 8'(8 * Beats) && (Beats == 1 || cmd_len[0])));
      within_eight : assert (!cmd_valid || 5'(cmd_addr[5:3]) + requested <= 5'd8);
      within_region : assert (!cmd_valid || 18'(cmd_addr[18:3]) + 18'(requested) <= {1'b0, limit_i, 10'b0});
      requested_if_there : assert (!cmd_valid || 17'(requested) <= unrequested_q);
      requested_if_room : assert (!cmd_valid || held + requested <= 5'(Capacity));
      one_at_a_time : assert (!cmd_valid || !burst_q);
      takes_what_it_requested_for : assert (!burst_q || data_ready);
      none_but_requested_for : assert (!data_ready || burst_q);
      asks_soon : assert (!waits_q || cmd_valid);
      offers_soon : assert (!idle_q || out_valid);
      busy_tells : assert (busy || inside_q == '0);
      rests : assert (!busy || inside_q != '0);

      loses : cover (pop && follow && ahead == '0 && out_lost);
      goes_round : cover (element && !lost && tag_q[15:0] == '0 && !fresh_q && out_valid && !out_lost);
      full_burst : cover (asks && requested == 5'd8 && held != '0);
    end
  end

  // --------------------------------------------------------------------------------------------------------- induction
  logic [Capacity-1:0] taken;
  logic [Capacity-1:0][ElementW-1:0] place, plain;
  assign taken = {16'((17'd1 << dut.level) - 17'd1), !dut.u_out.ready_q, out_valid};
  assign plain = {dut.u_elements.mem_q, dut.u_out.spare_q, dut.u_out.data_q};
  for (genvar n = 0; n < Capacity; n++) begin : gen_place
    assign place[n] = plain[n][ElementW-1] ? {1'b1, (ElementW - 1)'(0)} : plain[n];
  end
  in_line #(
      .W(ElementW),
      .Places(Capacity),
      .CountW(5)
  ) u_line (
      .clk_i,
      .rst_i,
      .taken_i (taken),
      .place_i (place),
      .inside_i(held),
      .follow_i(follow),
      .ahead_i (ahead),
      .word_i  (word)
  );

  if (Most <= 64) begin : gen_runs
    // One announced element is followed: the number before it; it was refused; runs were joined.
    logic spot, spot_q, spot_refused_q, joined_q;
    logic [16:0] before_spot_q, outstanding_q;
    assign spot = stored_valid_i && mark_spot_i && !spot_q && 4'(nth_i) < tells;
    always_ff @(posedge clk_i) begin
      outstanding_q <= outstanding_q + 17'(tells) - 17'(element);
      if (spot) begin
        spot_q <= 1'b1;
        spot_refused_q <= stored_refused_i;
        before_spot_q <= outstanding_q - 17'(element) + 17'(nth_i);
      end else if (spot_q && element) begin
        spot_q <= before_spot_q != '0;
        before_spot_q <= before_spot_q - 17'd1;
      end
      joined_q <= joined_q || (dut.adds && dut.widens && dut.behind_q != '0);
      if (rst_i) {spot_q, joined_q, outstanding_q} <= '0;
    end

    // Runs of refused elements, the oldest first, by the number of elements before them and before their ends.
    localparam int Runs = Notes + 2;
    logic [Runs-1:0] run, covers;
    logic [Runs-1:0][16:0] gap, length;
    logic [Runs:0][19:0] ends;
    logic [Runs-1:0][19:0] from;
    logic runs;
    assign run[0] = dut.oldest_q;
    assign {gap[0], length[0]} = {dut.oldest_gap_q, dut.oldest_run_q};
    for (genvar n = 0; n < Notes; n++) begin : gen_note
      assign run[n+1] = n < int'(dut.u_notes.level_o);
      assign {gap[n+1], length[n+1]} = dut.u_notes.mem_q[n];
    end
    assign run[Runs-1] = dut.newest_q;
    assign {gap[Runs-1], length[Runs-1]} = {dut.newest_gap_q, dut.newest_run_q};
    always_comb begin
      runs = 1'b1;
      ends[0] = '0;
      for (int n = 0; n < Runs; n++) begin
        from[n]   = ends[n] + 20'(gap[n]);
        ends[n+1] = run[n] ? from[n] + 20'(length[n]) : ends[n];
        covers[n] = run[n] && from[n] <= 20'(before_spot_q) && 20'(before_spot_q) < ends[n+1];
        if (run[n] && length[n] == '0) runs = 1'b0;
      end
    end
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        refused_is_lost : assert (!(element && spot_q && before_spot_q == '0 && spot_refused_q) || dut.refused);
        refused_or_joined :
        assert (!(element && spot_q && before_spot_q == '0 && dut.refused) || spot_refused_q || joined_q);
        two_runs : cover (spot_q && spot_refused_q && dut.oldest_q && dut.newest_q && !joined_q);
        elements_known : assert (outstanding_q == unrequested_q + 17'(due_q));
        in_runs : assert (runs && ends[Runs] + 20'(dut.behind_q) == 20'(outstanding_q));
        few_inside :
        assert (outstanding_q <= 17'(Most) && dut.behind_q <= outstanding_q &&
                (!dut.oldest_q || (dut.oldest_gap_q <= 17'(Most) && dut.oldest_run_q <= 17'(Most))) &&
                (!dut.newest_q || (dut.newest_gap_q <= 17'(Most) && dut.newest_run_q <= 17'(Most))) &&
                (!run[1] || (gap[1] <= 17'(Most) && length[1] <= 17'(Most))));
        oldest_known :
        assert (dut.oldest_q || (dut.u_notes.level_o == '0 && (!dut.newest_q || dut.newest_gap_q >= 17'(due_q))));
        spot_known : assert (!spot_q || before_spot_q < outstanding_q);
        refused_covered : assert (!spot_q || (spot_refused_q ? covers != '0 : covers == '0 || joined_q));
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      all_counted : assert (inside_q == unrequested_q + 17'(due_q) + 17'(held));
      possible : assert (inside_q <= 17'(Most) && dut.stored_q <= 17'(Most));
      unrequested_known : assert (unrequested_q == dut.stored_q + (cmd_valid ? 17'(requested) : '0));
      burst_known :
      assert (dut.active_q == (cmd_valid || burst_q) && burst_q == (due_q != '0) &&
              (!dut.active_q || 5'(dut.left_q) + 5'd1 == (burst_q ? due_q : requested)));
      room_left : assert (!dut.active_q || dut.level + 5'(dut.left_q) + 5'd1 <= 5'd16);
      tag_known : assert (after_q || dut.tag_q == tag_q);
      position_known : assert (empty_i || fresh_q || ({1'b0, tag_q[15:10]} < limit_i && limit_i <= 7'd64));
      stays_within_eight : assert (!burst_q || 5'(tag_q[2:0]) + due_q <= 5'd8);
      halves : assert (!half_q || (Beats == 2 && burst_q));
      few : assert (dut.level <= 5'd16 && due_q <= 5'd8 && (dut.u_out.ready_q || out_valid));
      beats_known :
      assert ((u_read.issued_q != u_read.read_q) == burst_q && (!burst_q ||
              9'(u_read.len_q[u_read.read_q]) + 9'd1 == 9'(u_read.beat_q) + 9'(due_q) * 9'(Beats) - 9'(half_q)));
      beats_start : assert (burst_q || u_read.beat_q == '0);
`ifdef TSUNAGI_ASSERT
      own_rules :
      assert ({dut.u_memory.issued_q, dut.u_memory.read_q, dut.u_memory.beat_q, dut.u_memory.len_q} ==
              {u_read.issued_q, u_read.read_q, u_read.beat_q, u_read.len_q});
`endif
    end
  end
endmodule
