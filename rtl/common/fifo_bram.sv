// SPDX-License-Identifier: MIT OR Apache-2.0
// Synchronous FIFO in block RAM: like `fifo`, for depths of hundreds of words.
//
// Handshake  as `fifo`. The memory's registered read is the output register. The next word is fetched in the cycle in
//            which the present one is taken, so the rate is 1 word per cycle.
// Latency    2 cycles (write, prefetch) when empty.
// Full       `in_ready_o` is low with Depth words inside, the prefetched one included.
// Reset      empties it, in mid-flight too.
// level_o    words inside, the prefetched one included, 0..Depth.
// Source     common practice.
module fifo_bram #(
    parameter int W = 32,  // bits of a word, >= 1
    parameter int Depth = 512,  // words, >= 1, any number
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
    fifo_bram_W_must_be_at_least_1 u_bad ();
  end
  if (Depth < 1) begin : gen_bad_depth
    fifo_bram_Depth_must_be_at_least_1 u_bad ();
  end

  (* no_rw_check *) logic [W-1:0] mem_q[Depth];  // no slot is read in the cycle of its write
  logic [W-1:0] out_data_q;
  logic [PtrW-1:0] wr_q, rd_q;
  logic [LevelW-1:0] level_q;  // in the memory and prefetched
  logic ready_q, stored_q, out_valid_q;  // stored: in the memory
  logic push, pop, fetch, near, two;
  logic [1:0] low;

  assign push  = in_valid_i && ready_q;
  assign pop   = out_ready_i && out_valid_q;
  assign fetch = stored_q && (pop || !out_valid_q);
  // At most one free slot; two words or more in the memory.
  assign near  = !ready_q || level_q == LevelW'(Depth - 1);
  assign low   = 2'(level_q);
  assign two   = LevelW'(level_q >> 2) != '0 || (low[1] && (low[0] || !out_valid_q));

  function automatic logic [PtrW-1:0] next(input logic [PtrW-1:0] pointer);
    next = (Depth != 2 ** PtrW && pointer == PtrW'(Depth - 1)) ? '0 : pointer + PtrW'(1);
  endfunction

  always_ff @(posedge clk_i) begin
    // A free slot may hold anything.
    if (ready_q) mem_q[wr_q] <= in_data_i;
    if (fetch) out_data_q <= mem_q[rd_q];
    if (rst_i) begin
      wr_q <= '0;
      rd_q <= '0;
      level_q <= '0;
      ready_q <= 1'b1;
      stored_q <= 1'b0;
      out_valid_q <= 1'b0;
    end else begin
      if (push) wr_q <= next(wr_q);
      if (fetch) rd_q <= next(rd_q);
      if (push != pop) level_q <= level_q + (pop ? '1 : LevelW'(1));
      ready_q <= !near || pop || (ready_q && !in_valid_i);
      stored_q <= push || two || (stored_q && !fetch);
      out_valid_q <= stored_q || (out_valid_q && !out_ready_i);
    end
  end

  assign in_ready_o  = ready_q;
  assign out_valid_o = out_valid_q;
  assign out_data_o  = out_data_q;
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
      assert (ready_q == (level_q != LevelW'(Depth)));
      assert (LevelW'(level_q >> 1) == '0 || stored_q);
      assert (LevelW'(level_q >> 1) != '0 || level_q[0] == (stored_q != out_valid_q));
      assert (LevelW'(level_q >> 1) != '0 || level_q[0] || !stored_q);
    end
  end
`endif
endmodule
