// SPDX-License-Identifier: MIT OR Apache-2.0
// Synchronous FIFO in LUT RAM: the default buffer between two stages.
//
// Handshake  valid/ready streams on both sides; `in_ready_o` and `out_valid_o` are flip-flops, `out_data_o` is a
//            memory addressed by flip-flops: no combinational path from any input to any output.
// Latency    1 cycle: a word taken at one clock edge is offered right after it.
// Rate       1 word per cycle for Depth >= 2; Depth 1 alternates between full and empty (half the rate).
// Full       `in_ready_o` is low with Depth words inside, also in the cycle a word leaves (registered ready).
// Reset      empties it, in mid-flight too.
// level_o    words inside, 0..Depth.
// Source     common practice. Asynchronous-read memory infers LUT RAM (12 times smaller than flip-flops); the full and
//            empty flags are registered because they drive wide logic elsewhere.
module fifo #(
    parameter int W = 32,  // bits of a word, >= 1
    parameter int Depth = 16,  // words, >= 1, any number
    localparam int LevelW = $clog2(Depth + 1)
) (
    input logic clk_i,
    input logic rst_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [W-1:0] in_data_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [W-1:0] out_data_o,
    output logic [LevelW-1:0] level_o
);
  localparam int PtrW = (Depth > 1) ? $clog2(Depth) : 1;

  if (W < 1) begin : gen_bad_w
    fifo_W_must_be_at_least_1 u_bad ();
  end
  if (Depth < 1) begin : gen_bad_depth
    fifo_Depth_must_be_at_least_1 u_bad ();
  end

  logic [W-1:0] mem_q[Depth];
  logic [PtrW-1:0] wr_q;
  (* init = 0 *) logic [PtrW-1:0] rd_q;  // or Yosys copies it into the memory, with LUTs of its own
  logic [LevelW-1:0] level_q;
  logic ready_q, valid_q;
  logic push, pop, some, near;

  assign push = in_valid_i && ready_q;
  assign pop  = out_ready_i && valid_q;
  // Two words or more; at most one free slot. The flags below are computed from these and not from the next level.
  assign some = LevelW'(level_q >> 1) != '0;
  assign near = !ready_q || level_q == LevelW'(Depth - 1);

  function automatic logic [PtrW-1:0] next(input logic [PtrW-1:0] pointer);
    next = (Depth != 2 ** PtrW && pointer == PtrW'(Depth - 1)) ? '0 : pointer + PtrW'(1);
  endfunction

  always_ff @(posedge clk_i) begin
    // A free slot may hold anything.
    if (ready_q) mem_q[wr_q] <= in_data_i;
    if (rst_i) begin
      wr_q <= '0;
      rd_q <= '0;
      level_q <= '0;
      ready_q <= 1'b1;
      valid_q <= 1'b0;
    end else begin
      if (push) wr_q <= next(wr_q);
      if (pop) rd_q <= next(rd_q);
      if (push != pop) level_q <= level_q + (pop ? '1 : LevelW'(1));
      ready_q <= !near || pop || (ready_q && !in_valid_i);
      valid_q <= push || some || (valid_q && !out_ready_i);
    end
  end

  assign in_ready_o  = ready_q;
  assign out_valid_o = valid_q;
  assign out_data_o  = mem_q[rd_q];
  assign level_o     = level_q;

`ifdef TSUNAGI_ASSERT
  stream_rules #(
      .W(W)
  ) u_source (
      .clk_i,
      .rst_i,
      .valid_i(in_valid_i),
      .ready_i(ready_q),
      .data_i (in_data_i)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (valid_q == (level_q != '0));
      assert (ready_q == (level_q != LevelW'(Depth)));
    end
  end
`endif
endmodule
