// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, inside ap1000p_queues: reads elements of the spill region back from cell memory, in order.
//
// Stored     `stored_valid_i` announces `stored_count_i` + 1 elements that are in memory, or that it refused
//            (`stored_refused_i`). They are fetched as soon as there is room.
// Memory     read commands {addr, len = beats - 1} of up to 8 elements, none across a multiple of 8; one at a time.
// Out        valid/ready stream: `lost` alone, or {queue one-hot, number of the message, index in it, end, tag, word}.
//            An element is lost if the memory refused it, or reports an error, or its tag is not the expected one.
// Refused    Notes + 2 runs of refused elements are remembered, of any length. With more of them in the region the last
//            run is extended to the new one: the elements between are lost, too. (The contents from before could have
//            the right tag.)
// Region     as `ap1000p_spill` uses it; while `empty_i`, the next element to come is the one with tag `tag_i`.
// Latency    3 cycles from stored to the memory's command, 2 from its word. 1 element per beat pair (32 bits) or beat
//            (64 bits) within a burst; the next burst is requested when this one is in.
// Full       18 elements wait; a burst is requested only if there is room for it.
// Reset      empties it; the memory must forget its bursts, too.
// Source     automatic spill: paper 2.2.10; refill by hardware: own guess (the machine's system software refills).
module ap1000p_refill #(
    parameter int DataW = 64,  // bits of a bus word, 32 or 64
    parameter int Notes = 16,  // runs of refused elements, 1 to 256
    localparam int TagW = ap1000p_pkg::SpillTagLapW + ap1000p_pkg::SpillTagPositionW
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [7:0] base_i,
    input logic [6:0] limit_i,
    input logic empty_i,
    input logic [TagW-1:0] tag_i,
    input logic stored_valid_i,
    input logic [2:0] stored_count_i,
    input logic stored_refused_i,

    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [31:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    input logic mem_data_valid_i,
    output logic mem_data_ready_o,
    input logic [DataW-1:0] mem_data_data_i,
    input logic mem_data_last_i,
    input logic mem_data_err_i,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic out_lost_o,
    output logic [4:0] out_queue_o,
    output logic [2:0] out_number_o,
    output logic [3:0] out_index_o,
    output logic out_end_o,
    output logic [TagW-1:0] out_tag_o,
    output logic [31:0] out_data_o
);
  localparam int Beats = 64 / DataW;  // of an element
  localparam int ElementW = 1 + 3 + 5 + 4 + 1 + TagW + 32;

  if (DataW != 32 && DataW != 64) begin : gen_bad_data
    ap1000p_refill_DataW_must_be_32_or_64 u_bad ();
  end
  if (Notes < 1 || Notes > 256) begin : gen_bad_notes
    ap1000p_refill_Notes_must_be_1_to_256 u_bad ();
  end

  // ------------------------------------------------------------------------------------------------------------ bursts
  logic active_q, cmd_valid_q, start, half_q, element, wraps, fifo_ready;
  logic [TagW-1:0] tag_q;  // of the next element
  logic [ap1000p_pkg::SpillTagPositionW-1:0] position;
  logic [16:0] stored_q;  // in memory, not requested
  logic [2:0] left_q, count, to_edge;  // minus 1
  logic [31:0] addr_q;
  logic [ 7:0] len_q;
  logic [ 4:0] level;

  assign position = tag_q[ap1000p_pkg::SpillTagPositionW-1:0];
  assign start = !active_q && stored_q != '0 && level <= 5'd8;
  assign to_edge = ~position[2:0];
  assign count = stored_q > 17'(to_edge) ? to_edge : 3'(stored_q - 17'd1);
  assign element = mem_data_valid_i && mem_data_ready_o && (Beats == 1 || half_q);
  assign wraps = position[9:0] == '1 && 7'(position[15:10]) + 7'd1 == limit_i;

  always_ff @(posedge clk_i) begin
    if (start) begin
      addr_q <= {5'b0, base_i, 19'b0} | {13'b0, position, 3'b0};
      len_q  <= 8'(count) * 8'(Beats) + 8'(Beats - 1);
      left_q <= count;
      half_q <= 1'b0;
    end else begin
      if (mem_data_valid_i && mem_data_ready_o) half_q <= !half_q;
      if (element) left_q <= left_q - 3'd1;
    end
    if (empty_i) tag_q <= tag_i;
    else if (element) begin
      if (wraps)
        tag_q <= {
          tag_q[TagW-1:ap1000p_pkg::SpillTagPositionW] + ap1000p_pkg::SpillTagLapW'(1),
          ap1000p_pkg::SpillTagPositionW'(0)
        };
      else tag_q[ap1000p_pkg::SpillTagPositionW-1:0] <= position + ap1000p_pkg::SpillTagPositionW'(1);
    end
    if (rst_i) begin
      active_q <= 1'b0;
      cmd_valid_q <= 1'b0;
      stored_q <= '0;
    end else begin
      active_q <= start || (active_q && !(element && left_q == '0));
      cmd_valid_q <= start || (cmd_valid_q && !mem_cmd_ready_i);
      stored_q <= stored_q + (stored_valid_i ? 17'(stored_count_i) + 17'd1 : '0) - (start ? 17'(count) + 17'd1 : '0);
    end
  end
  assign mem_cmd_valid_o  = cmd_valid_q;
  assign mem_cmd_addr_o   = addr_q;
  assign mem_cmd_len_o    = len_q;
  assign mem_data_ready_o = active_q && !cmd_valid_q;

  // ----------------------------------------------------------------------------------------------------------- refused
  // Runs as {elements between it and the run before, its elements}. The oldest counts down to its end, the newest may
  // be widened, the others are in a FIFO.
  logic [16:0] oldest_gap_q, oldest_run_q, newest_gap_q, newest_run_q, note_gap, note_run;
  logic [16:0] behind_q, behind, added;  // elements behind all runs
  logic oldest_q, newest_q, refused, ends, free, note_ready, note_valid, hands_on, adds, widens;
  logic [$clog2(Notes+1)-1:0] unused_level;
  assign added = 17'(stored_count_i) + 17'd1;
  assign refused = oldest_q && oldest_gap_q == '0;
  assign ends = element && refused && oldest_run_q == 17'd1;
  assign free = !oldest_q || ends;
  assign hands_on = free && !note_valid;  // the newest becomes the oldest
  assign adds = stored_valid_i && stored_refused_i;
  assign widens = newest_q && !hands_on && (behind_q == '0 || !note_ready);
  assign behind = behind_q - 17'(element && !oldest_q && !newest_q);
  fifo #(
      .W(34),
      .Depth(Notes)
  ) u_notes (
      .clk_i,
      .rst_i,
      .in_valid_i (adds && newest_q && !hands_on && !widens),
      .in_ready_o (note_ready),
      .in_data_i  ({newest_gap_q, newest_run_q}),
      .out_valid_o(note_valid),
      .out_ready_i(free),
      .out_data_o ({note_gap, note_run}),
      .level_o    (unused_level)
  );
  always_ff @(posedge clk_i) begin
    if (free) begin
      oldest_gap_q <= note_valid ? note_gap : newest_gap_q - 17'(element && !oldest_q);
      oldest_run_q <= note_valid ? note_run : newest_run_q;
    end else if (element) begin
      if (refused) oldest_run_q <= oldest_run_q - 17'd1;
      else oldest_gap_q <= oldest_gap_q - 17'd1;
    end
    if (adds) begin
      newest_run_q <= (widens ? newest_run_q + behind_q : '0) + added;
      if (!widens) newest_gap_q <= behind;
    end
    if (rst_i) begin
      behind_q <= '0;
      oldest_q <= 1'b0;
      newest_q <= 1'b0;
    end else begin
      behind_q <= adds ? '0 : behind + (stored_valid_i ? added : '0);
      if (free) oldest_q <= note_valid || newest_q;
      newest_q <= adds || (newest_q && !hands_on);
    end
  end

  // ---------------------------------------------------------------------------------------------------------- elements
  logic [63:0] both;
  logic err, one, lost;
  logic [4:0] queue;
  if (Beats == 1) begin : gen_whole
    assign both = mem_data_data_i;
    assign err  = mem_data_err_i;
  end else begin : gen_halves
    logic [31:0] first_q;
    logic err_q;
    always_ff @(posedge clk_i) begin
      if (!half_q) {err_q, first_q} <= {mem_data_err_i, mem_data_data_i};
    end
    assign both = {mem_data_data_i, first_q};
    assign err  = err_q || mem_data_err_i;
  end
  assign queue = both[ap1000p_pkg::SpillTagQueueLsb+:5];
  assign one   = queue != '0 && (queue & (queue - 5'd1)) == '0;
  assign lost  = refused || err || both[ap1000p_pkg::SpillTagPositionLsb+:TagW] != tag_q || !one;

  logic waits, pass;
  logic [ElementW-1:0] next;
  fifo #(
      .W(ElementW),
      .Depth(16)
  ) u_elements (
      .clk_i,
      .rst_i,
      .in_valid_i(element),
      .in_ready_o(fifo_ready),
      .in_data_i({
        lost,
        both[ap1000p_pkg::SpillTagNumberLsb+:3],
        queue,
        both[ap1000p_pkg::SpillTagIndexLsb+:4],
        both[ap1000p_pkg::SpillTagEndLsb],
        tag_q,
        both[63:32]
      }),
      .out_valid_o(waits),
      .out_ready_i(pass),
      .out_data_o(next),
      .level_o(level)
  );
  skid #(
      .W(ElementW)
  ) u_out (
      .clk_i,
      .rst_i,
      .in_valid_i(waits),
      .in_ready_o(pass),
      .in_data_i (next),
      .out_valid_o,
      .out_ready_i,
      .out_data_o({out_lost_o, out_number_o, out_queue_o, out_index_o, out_end_o, out_tag_o, out_data_o})
  );
  assign busy_o = active_q || stored_q != '0 || waits || out_valid_o;

  logic unused;
  assign unused = mem_data_last_i;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) assert (!element || fifo_ready);
  end
  mem_read_rules #(
      .Outstanding(1)
  ) u_memory (
      .clk_i,
      .rst_i,
      .cmd_valid_i (mem_cmd_valid_o),
      .cmd_ready_i (mem_cmd_ready_i),
      .cmd_len_i   (mem_cmd_len_o),
      .data_valid_i(mem_data_valid_i),
      .data_ready_i(mem_data_ready_o),
      .data_last_i (mem_data_last_i)
  );
`else
  logic unused_ready;
  assign unused_ready = fifo_ready;
`endif
endmodule
