// SPDX-License-Identifier: MIT OR Apache-2.0
// `ap1000p_queues` puts each word into the RAM once, in order, with its index in its message, whether straight or
// through the region.
//
// This is proved between its writers and its RAM, of one queue, any.
//
// - A word that an error of the memory hits is lost, and reported.
// - No queue is overfilled. Only words of the queue are put into it.
// - The region holds no more than its limit, nothing without one, and of the user's words no more than half of it.
// - No reply is behind a request in the region. No request comes amid a reply that goes there.
// - A writer with room in its queue waits at most 8 cycles, whatever the others do.
// - With no other word, an element comes back each cycle, unless many before it are lost.
// - The tag of a queue's first element in the region is known as long as the queue has any there.
//
// Direct words are words of their queue. Direct words of the followed queue come with `through_i` low (Direct), or not
// at all.
//
// RAM, spill and refill are models. The RAM is full and offers at any time. The region is a list of at most 8 elements,
// any of which the memory may lose. The composition of the blocks is an argument, not a run. This proof, the proofs of
// `ap1000p_spill` and `ap1000p_refill`, and a memory that keeps its words make a region.
module prove_ap1000p_queues #(
    parameter int Which  = 0,    // the queue that is followed
    parameter bit Direct = 1'b1
) (
    input logic clk_i,
    input logic rst_i,
    input logic mark_i,
    input logic [7:0] base_i,
    input logic [6:0] limit_i,
    input logic pause_i,
    input logic through_i,
    input logic block_i,
    input logic [4:0] in_valid_i,
    input logic [4:0] in_end_i,
    input logic [4:0][31:0] in_data_i,
    input logic direct_valid_i,
    input logic arriving_i,
    input logic [4:0] direct_queue_i,
    input logic [2:0] direct_number_i,
    input logic [3:0] direct_index_i,
    input logic direct_end_i,
    input logic [31:0] direct_data_i,
    input logic [1:0] out_ready_i,
    input logic takes_i,  // the memory
    input logic gives_i,
    input logic err_i
);
  localparam int Places = 8;
  localparam int ElementW = 64;

  logic busy, stable, fill, red, spill_error, lost, broken, direct_ready;
  logic [1:0] out_valid, out_end;
  logic [4:0] spilled, in_ready, out_queue;
  logic [16:0] held;
  logic [15:0] position;
  logic [1:0][31:0] out_data;
  logic [31:0] wr_addr, rd_addr;
  logic wr_cmd, wr_valid, wr_ready, wr_last, wr_rsp, rd_cmd, rd_valid, rd_ready, kept;
  logic [7:0] wr_len, rd_len, wr_strb;
  logic [ElementW-1:0] wr_element, rd_element;
  logic [3:0] level;

  ap1000p_queues #(
      .System(32),
      .User(32),
      .GetReply(32)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .base_i,
      .limit_i,
      .pause_i,
      .through_i,
      .block_i,
      .release_valid_i(1'b0),
      .release_count_i('0),
      .stable_o(stable),
      .fill_o(fill),
      .full_o(red),
      .spilled_o(spilled),
      .held_o(held),
      .position_o(position),
      .spill_error_o(spill_error),
      .lost_o(lost),
      .broken_o(broken),
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_end_i,
      .in_data_i,
      .arriving_i,
      .direct_valid_i,
      .direct_ready_o(direct_ready),
      .direct_queue_i,
      .direct_number_i,
      .direct_index_i,
      .direct_end_i,
      .direct_data_i,
      .hold_i('0),
      .settle_i('1),
      .back_i('0),
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_queue_o(out_queue),
      .out_end_o(out_end),
      .out_data_o(out_data),
      .mem_wr_cmd_valid_o(wr_cmd),
      .mem_wr_cmd_ready_i(takes_i && level <= 4'(Places - 2)),
      .mem_wr_cmd_addr_o(wr_addr),
      .mem_wr_cmd_len_o(wr_len),
      .mem_wr_data_valid_o(wr_valid),
      .mem_wr_data_ready_i(wr_ready),
      .mem_wr_data_data_o(wr_element),
      .mem_wr_data_strb_o(wr_strb),
      .mem_wr_data_last_o(wr_last),
      .mem_wr_rsp_valid_i(1'b0),
      .mem_wr_rsp_ready_o(wr_rsp),
      .mem_wr_rsp_err_i(1'b0),
      .mem_rd_cmd_valid_o(rd_cmd),
      .mem_rd_cmd_ready_i(1'b0),
      .mem_rd_cmd_addr_o(rd_addr),
      .mem_rd_cmd_len_o(rd_len),
      .mem_rd_data_valid_i(rd_valid),
      .mem_rd_data_ready_o(rd_ready),
      .mem_rd_data_data_i(rd_element),
      .mem_rd_data_last_i(1'b1),
      .mem_rd_data_err_i(err_i)
  );
  fifo #(
      .W(ElementW),
      .Depth(Places)
  ) u_region (
      .clk_i,
      .rst_i,
      .in_valid_i (wr_valid),
      .in_ready_o (wr_ready),
      .in_data_i  (wr_element),
      .out_valid_o(kept),
      .out_ready_i(rd_ready && gives_i),
      .out_data_o (rd_element),
      .level_o    (level)
  );
  assign rd_valid = kept && gives_i;

  power_up u_power_up (.*);
  for (genvar q = 0; q < 5; q++) begin : gen_writer
    stream_rules #(
        .W(33),
        .Assume(1'b1)
    ) u_writer (
        .clk_i,
        .rst_i,
        .valid_i(in_valid_i[q]),
        .ready_i(in_ready[q]),
        .data_i ({in_end_i[q], in_data_i[q]})
    );
  end
  stream_rules #(
      .W(45),
      .Assume(1'b1)
  ) u_direct (
      .clk_i,
      .rst_i,
      .valid_i(direct_valid_i),
      .ready_i(direct_ready),
      .data_i ({direct_queue_i, direct_number_i, direct_index_i, direct_end_i, direct_data_i})
  );
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      direct_for_one :
      assume (!direct_valid_i || (direct_queue_i != '0 && (direct_queue_i & (direct_queue_i - 5'd1)) == '0));
      direct_of_others : assume (Direct || !direct_valid_i || !direct_queue_i[Which]);
    end
    direct_in_order : assume (!Direct || !through_i);
  end

  // ------------------------------------------------------------------------------------------------------------- words
  // A word of the queue, from its writer or direct, when taken; words into the RAM; elements to and from the region.
  logic enters, direct, word_end, put, out, back, came, gone;
  logic [31:0] word;
  logic [ 2:0] number_q;
  logic [ 3:0] index_q;
  assign direct = dut.take[5] && dut.direct_queue[Which];
  assign enters = (in_valid_i[Which] && in_ready[Which]) || direct;
  assign {word_end, word} = direct ? {dut.direct_end, dut.direct_data} : {in_end_i[Which], in_data_i[Which]};
  assign put = dut.put && dut.queue[Which];
  assign out = wr_valid && wr_ready;
  assign back = rd_valid && rd_ready;

  localparam int QueueLsb = ap1000p_pkg::SpillTagQueueLsb;
  localparam int NumberLsb = ap1000p_pkg::SpillTagNumberLsb;
  localparam int IndexLsb = ap1000p_pkg::SpillTagIndexLsb;
  localparam int TagLsb = ap1000p_pkg::SpillTagPositionLsb;
  localparam int TagW = ap1000p_pkg::SpillTagLapW + ap1000p_pkg::SpillTagPositionW;
  // {word, number of the message, place in it, end} of an element
  function automatic logic [39:0] content(input logic [ElementW-1:0] element);
    content = {element[63:32], element[NumberLsb+:3], element[IndexLsb+:4], element[0]};
  endfunction
  assign came = out && wr_element[QueueLsb+Which];
  assign gone = back && rd_element[QueueLsb+Which];

  // Words of the queue in the region; of these, before the followed one.
  logic [3:0] away_q, ahead_q;
  logic follow_q, follow, leaves, reported_q;
  logic [39:0] followed_q, entering, putting;
  assign entering = {word, number_q, index_q, word_end};
  assign putting  = {dut.word, dut.number, dut.index, dut.word_end};
  assign follow   = enters && came && mark_i && !follow_q;
  assign leaves   = gone && follow_q && ahead_q == '0;

  logic in_line;  // no reply behind a request
  logic amid;  // a reply's writer is within a message of which a word is in the region, or was
  assign amid = (spilled[4:3] & dut.midway_q[4:3]) != '0;

  // An element can go back, and there is no other word; in the two cycles before.
  logic alone;
  logic [1:0] alone_q;
  assign alone = in_valid_i == '0 && !dut.direct_valid && dut.refill_valid && (dut.refill_queue & dut.full) == '0 &&
                 dut.gen_refill.missed == '0;
  // The queue's first element since it had none in the region.
  logic [TagW-1:0] first_q;

  // Cycles in a row in which the writer could go on.
  int waits_q;
  logic can;
  assign can = in_valid_i[Which] && !dut.full[Which] && !spilled[Which] && (!dut.pause_q || dut.midway_q[Which]);

  always_ff @(posedge clk_i) begin
    if (enters) number_q <= number_q + 3'(word_end);
    if (enters) index_q <= word_end ? '0 : index_q == '1 ? '1 : index_q + 4'd1;
    away_q <= away_q + 4'(came) - 4'(gone);
    if (follow) begin
      follow_q <= 1'b1;
      followed_q <= entering;
      ahead_q <= away_q - 4'(gone);
    end else if (gone && follow_q) begin
      follow_q <= ahead_q != '0;
      ahead_q  <= ahead_q - 4'd1;
    end
    reported_q <= back && err_i;
    alone_q <= {alone_q[0], alone};
    if (dut.diverted && dut.queue[Which] && (!spilled[Which] || dut.empty)) first_q <= dut.tag;
    waits_q <= can && !in_ready[Which] ? waits_q + 1 : 0;
    if (rst_i) begin
      number_q <= '0;
      index_q <= '0;
      away_q <= '0;
      follow_q <= 1'b0;
      reported_q <= 1'b0;
      alone_q <= '0;
      waits_q <= 0;
    end
    if (!rst_i) begin
      once : assert (!enters || (put != came));
      unchanged : assert (!enters || (put ? putting : content(wr_element)) == entering);
      none_overtaken : assert (!(enters && put) || away_q == '0);
      nothing_invented : assert (!put || enters || (gone && !err_i));
      nothing_kept_back : assert (!came || enters);
      none_lost : assert (!gone || err_i || (put && !enters));
      order_and_content : assert (!leaves || err_i || putting == followed_q);
      loss_is_reported : assert (lost == reported_q);
      region_has_room : assert (!out || 20'(held) < {3'b0, dut.limit, 10'b0});
      waits_for_turns : assert (waits_q <= 8);
      one_back_each_cycle : assert (!(alone && alone_q == '1) || dut.refill);
      first_known : assert (!spilled[Which] || dut.gen_refill.first_q[Which] == first_q);
      replies_first : assert (in_line);
      none_amid_a_reply : assert (!amid || spilled[2:0] == '0);
      through_region : cover (leaves && !err_i && ahead_q == '0 && away_q > 4'd2);
      straight_again : cover (enters && put && followed_q != '0);
    end
  end

  // --------------------------------------------------------------------------------------------------------- induction
  logic [Places-1:0][ElementW-1:0] list;
  logic [3:0] count, at;  // of the queue's elements: their number, and the followed one's position
  logic tags;
  logic requests, known;  // there is a request; each queue's last element is known
  logic [4:0] users;
  logic [4:0][3:0] last_of;
  logic [4:0] there;
  for (genvar n = 0; n < Places; n++) begin : gen_place
    assign list[n] = u_region.mem_q[n];
  end
  logic [TagW-1:0] next_tag;
  assign next_tag = dut.tag;
  always_comb begin
    count = '0;
    at = 4'(Places);
    tags = 1'b1;
    in_line = 1'b1;
    requests = 1'b0;
    users = '0;
    there = '0;
    last_of = '0;
    for (int n = 0; n < Places; n++) begin
      if (n < int'(level)) begin
        if (list[n][QueueLsb+Which]) begin
          if (count == ahead_q) at = 4'(n);
          count = count + 4'd1;
        end
        if (requests && list[n][QueueLsb+3+:2] != '0) in_line = 1'b0;
        if (list[n][QueueLsb+:3] != '0) requests = 1'b1;
        users = users + 5'(list[n][QueueLsb+2]);
        for (int q = 0; q < 5; q++) begin
          if (list[n][QueueLsb+q]) begin
            there[q]   = 1'b1;
            last_of[q] = 4'(n);
          end
        end
        if (list[n][TagLsb+:TagW] != next_tag - TagW'(level) + TagW'(n)) tags = 1'b0;
        if (list[n][QueueLsb+:5] == '0 || (list[n][QueueLsb+:5] & (list[n][QueueLsb+:5] - 5'd1)) != '0) tags = 1'b0;
      end
    end
  end
  always_comb begin
    known = 1'b1;
    for (int q = 0; q < 5; q++) begin
      if (there[q] && !(spilled[q] && dut.gen_refill.last_q[q] == list[last_of[q][2:0]][TagLsb+:TagW])) known = 1'b0;
    end
  end

  // Turns before the writer's.
  int above, distance;
  always_comb begin
    above = 0;
    for (int n = 0; n < 7; n++) if (dut.u_turn.after_q[n]) above = above + 1;
    distance = (Which + above) % 7;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      held_is_counted : assert (held == 17'(level) && away_q == count);
      all_tagged : assert (tags);
      room_known : assert (dut.room_q == '0 || level < 4'(Places));
      room_of_replies : assert (!dut.room_q[2] || dut.just_q[0] || spilled[2:0] == '0);
      room_of_requests : assert (dut.room_q[1:0] == '0 || dut.just_q[1] || !amid);
      within_share :
      assert (17'(users) <= dut.users_q && 20'(dut.users_q) + 20'(dut.room_q[1]) <= {4'b0, dut.limit, 9'b0});
      direct_one :
      assert ((!dut.direct_valid || $onehot(
          dut.direct_queue
      )) && (dut.u_direct.ready_q || $onehot(
          dut.u_direct.spare_q[44:40]
      )));
      direct_kind :
      assert (Direct ? !dut.through_q
                     : !(dut.direct_valid && dut.direct_queue[Which]) &&
                       (dut.u_direct.ready_q || !dut.u_direct.spare_q[40+Which]));
      place_known : assert ({number_q, index_q} == {dut.number_q[Which], dut.index_q[Which]});
      away_known : assert (known);
      followed_there :
      assert (!follow_q || (ahead_q < away_q && at < 4'(Places) && content(list[at[2:0]]) == followed_q));
      within_limit : assert (20'(held) + 20'(dut.room_q != '0) <= {3'b0, dut.limit, 10'b0});
      alone_known : assert (!alone_q[0] || (dut.req_q == 7'b1000000 && (!alone_q[1] || dut.grant == dut.req_q)));
      turns : assert ((~dut.u_turn.after_q & (~dut.u_turn.after_q + 7'd1)) == '0);
      waits_counted :
      assert (waits_q >= 0 && (waits_q < 1 || dut.req_q[Which]) &&
              (waits_q < 2 || dut.grant[Which] || waits_q + distance <= 7));
    end
  end
endmodule
