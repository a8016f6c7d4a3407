// Synchronous FIFO in block RAM: as `fifo`, for depths of hundreds of words.
//
// Handshake  as `fifo`. The memory's registered read is the output register: the next word is fetched in the cycle the
//            present one is taken, so the rate is 1 word per cycle.
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

  logic [W-1:0] mem_q[Depth];
  logic [W-1:0] out_data_q;
  logic [PtrW-1:0] wr_q, rd_q;
  logic [LevelW-1:0] level_q, level_d;  // in the memory and prefetched
  logic [LevelW-1:0] stored_q, stored_d;  // in the memory only
  logic ready_q, stored_valid_q, out_valid_q;
  logic push, pop, fetch;

  assign push  = in_valid_i && ready_q;
  assign pop   = out_ready_i && out_valid_q;
  assign fetch = stored_valid_q && (pop || !out_valid_q);

  always_comb begin
    level_d = level_q;
    if (push && !pop) level_d = level_q + LevelW'(1);
    if (pop && !push) level_d = level_q - LevelW'(1);
    stored_d = stored_q;
    if (push && !fetch) stored_d = stored_q + LevelW'(1);
    if (fetch && !push) stored_d = stored_q - LevelW'(1);
  end

  always_ff @(posedge clk_i) begin
    if (push) mem_q[wr_q] <= in_data_i;
    if (fetch) out_data_q <= mem_q[rd_q];
    if (rst_i) begin
      wr_q <= '0;
      rd_q <= '0;
      level_q <= '0;
      stored_q <= '0;
      ready_q <= 1'b1;
      stored_valid_q <= 1'b0;
      out_valid_q <= 1'b0;
    end else begin
      if (push) wr_q <= (wr_q == PtrW'(Depth - 1)) ? '0 : wr_q + PtrW'(1);
      if (fetch) rd_q <= (rd_q == PtrW'(Depth - 1)) ? '0 : rd_q + PtrW'(1);
      level_q <= level_d;
      stored_q <= stored_d;
      ready_q <= level_d != LevelW'(Depth);
      stored_valid_q <= stored_d != '0;
      out_valid_q <= fetch || (out_valid_q && !pop);
    end
  end

  assign in_ready_o  = ready_q;
  assign out_valid_o = out_valid_q;
  assign out_data_o  = out_data_q;
  assign level_o     = level_q;

`ifdef TSUNAGI_ASSERT
  logic waiting_q;
  logic [W-1:0] offer_q;  // not $past: a simulator may sample it before inputs that change with the clock
  always_ff @(posedge clk_i) begin
    waiting_q <= in_valid_i && !ready_q && !rst_i;
    offer_q   <= in_data_i;
    if (!rst_i) begin
      assert (ready_q == (level_q != LevelW'(Depth)));
      assert (level_q == stored_q + LevelW'(out_valid_q));
      // The source holds its offer until it is taken.
      assert (!waiting_q || (in_valid_i && in_data_i == offer_q));
    end
  end
`endif
endmodule
