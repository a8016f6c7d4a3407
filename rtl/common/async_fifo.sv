// Asynchronous FIFO: a stream from one clock domain to another, at any ratio and phase.
//
// Handshake  valid/ready streams, each in its own domain; `in_ready_o` and `out_valid_o` are flip-flops, `out_data_o` is
//            a memory addressed by flip-flops of the output's domain.
// Latency    SyncStages + 1 output clock edges after the input edge that takes the word, one more by phase or jitter.
// Rate       1 word per cycle of the slower clock if Depth covers the round trip (>= 8 at about equal clocks).
// Full       `in_ready_o` is low; a slot that was read becomes free SyncStages + 1 input edges later.
// Reset      either side's reset, synchronous to its own clock and as short as one cycle, empties the whole FIFO: it is
//            carried to the other side and acknowledged, and meanwhile `in_ready_o` and `out_valid_o` are low, so a word
//            offered at the output is withdrawn by a reset of the input side. Both sides need one reset after power-up,
//            in any order, overlapping or not; until both had it the outputs mean nothing. Both clocks must run. Open again
//            within SyncStages + 5 cycles of each clock, twice, after the last reset ends.
// Source     Gray pointers through synchronisers, common practice; the reset handshake is ours.
module async_fifo #(
    parameter int W = 32,  // bits of a word, >= 1
    parameter int Depth = 16,  // words, power of two, >= 2
    parameter int SyncStages = 2  // synchroniser flip-flops, >= 2
) (
    input logic in_clk_i,
    input logic in_rst_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [W-1:0] in_data_i,
    input logic out_clk_i,
    input logic out_rst_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [W-1:0] out_data_o
);
  localparam int AddrW = $clog2(Depth);
  localparam int PtrW = AddrW + 1;

  if (W < 1) begin : gen_bad_w
    async_fifo_W_must_be_at_least_1 u_bad ();
  end
  if (Depth < 2 || (1 << AddrW) != Depth) begin : gen_bad_depth
    async_fifo_Depth_must_be_a_power_of_two_and_at_least_2 u_bad ();
  end

  logic [W-1:0] mem_q[Depth];

  // Input side. `*_clear_q` asks the other side to empty, `*_ack_q` answers its request.
  logic [PtrW-1:0] wr_q, wr_d, wr_gray_q, wr_gray_d, rd_gray_in;
  logic in_ready_q, in_clear_q, in_ack_q, out_clear_in, out_ack_in, in_shut, push;
  // Output side.
  logic [PtrW-1:0] rd_q, rd_d, rd_gray_q, rd_gray_d, wr_gray_out;
  logic out_valid_q, out_clear_q, out_ack_q, in_clear_out, in_ack_out, out_shut, pop;

  cdc_sync #(
      .W(PtrW),
      .Stages(SyncStages)
  ) u_wr (
      .clk_i (out_clk_i),
      .data_i(wr_gray_q),
      .data_o(wr_gray_out)
  );
  cdc_sync #(
      .W(PtrW),
      .Stages(SyncStages)
  ) u_rd (
      .clk_i (in_clk_i),
      .data_i(rd_gray_q),
      .data_o(rd_gray_in)
  );
  cdc_sync #(
      .W(2),
      .Stages(SyncStages)
  ) u_in_reset (
      .clk_i (out_clk_i),
      .data_i({in_clear_q, in_ack_q}),
      .data_o({in_clear_out, in_ack_out})
  );
  cdc_sync #(
      .W(2),
      .Stages(SyncStages)
  ) u_out_reset (
      .clk_i (in_clk_i),
      .data_i({out_clear_q, out_ack_q}),
      .data_o({out_clear_in, out_ack_in})
  );

  // One bit changes per step, so a synchroniser sees the old or the new count, nothing else.
  function automatic logic [PtrW-1:0] gray(input logic [PtrW-1:0] count);
    gray = count ^ (count >> 1);
  endfunction

  assign push = in_valid_i && in_ready_q;
  assign wr_d = wr_q + PtrW'(push);
  assign wr_gray_d = gray(wr_d);
  assign in_shut = in_clear_q || in_ack_q || out_clear_in || out_ack_in;

  always_ff @(posedge in_clk_i) begin
    if (push) mem_q[wr_q[AddrW-1:0]] <= in_data_i;
    in_ack_q   <= out_clear_in;
    in_clear_q <= in_rst_i || (in_clear_q && !(out_ack_in && wr_q == '0));
    if (in_rst_i || in_shut) begin
      in_ready_q <= 1'b0;
      // The count jumps back only while the other side does not look.
      if (out_ack_in || out_clear_in) begin
        wr_q <= '0;
        wr_gray_q <= '0;
      end
    end else begin
      wr_q <= wr_d;
      wr_gray_q <= wr_gray_d;
      // Full: the write pointer is Depth ahead.
      in_ready_q <= gray(wr_d ^ PtrW'(Depth)) != rd_gray_in;
    end
  end

  assign pop = out_ready_i && out_valid_q;
  assign rd_d = rd_q + PtrW'(pop);
  assign rd_gray_d = gray(rd_d);
  assign out_shut = out_clear_q || out_ack_q || in_clear_out || in_ack_out;

  always_ff @(posedge out_clk_i) begin
    out_ack_q   <= in_clear_out;
    out_clear_q <= out_rst_i || (out_clear_q && !(in_ack_out && rd_q == '0));
    if (out_rst_i || out_shut) begin
      out_valid_q <= 1'b0;
      if (in_ack_out || in_clear_out) begin
        rd_q <= '0;
        rd_gray_q <= '0;
      end
    end else begin
      rd_q <= rd_d;
      rd_gray_q <= rd_gray_d;
      out_valid_q <= rd_gray_d != wr_gray_out;
    end
  end

  assign in_ready_o  = in_ready_q;
  assign out_valid_o = out_valid_q;
  assign out_data_o  = mem_q[rd_q[AddrW-1:0]];

`ifdef TSUNAGI_ASSERT
  logic waiting_q;
  logic [W-1:0] offer_q;  // not $past: a simulator may sample it before inputs that change with the clock
  always_ff @(posedge in_clk_i) begin
    waiting_q <= in_valid_i && !in_ready_q && !in_rst_i;
    offer_q   <= in_data_i;
    // The source holds its offer until it is taken.
    if (!in_rst_i) assert (!waiting_q || (in_valid_i && in_data_i == offer_q));
  end
`endif
endmodule
