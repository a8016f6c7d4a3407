// SPDX-License-Identifier: MIT OR Apache-2.0
// Asynchronous FIFO: a stream from one clock domain to another, at any ratio and phase.
//
// Handshake  valid/ready streams, each in its own domain. `in_ready_o` and `out_valid_o` are flip-flops; `out_data_o`
//            is a memory addressed by flip-flops of the output's domain.
// Latency    SyncStages + 1 output clock edges after the input edge that takes the word, one more by phase or jitter.
// Rate       1 word per cycle of the slower clock if Depth covers the round trip (>= 8 at about equal clocks).
// Full       `in_ready_o` is low. A slot becomes free SyncStages + 1 input edges after its word is read.
// Reset      either side's reset empties the whole FIFO. It is synchronous to that side's clock and may be as short as
//            one cycle. The other side receives it and acknowledges it; meanwhile `in_ready_o` and `out_valid_o` are
//            low. So a reset of the input side withdraws a word offered at the output. Both sides need one reset after
//            power-up, in any order, overlapping or not; until both had it the outputs mean nothing. Both clocks must
//            run. The FIFO is open again within SyncStages + 5 cycles of each clock, twice, after the last reset ends.
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

  if (W < 1) begin : gen_bad_w
    async_fifo_W_must_be_at_least_1 u_bad ();
  end
  if (Depth < 2 || (1 << AddrW) != Depth) begin : gen_bad_depth
    async_fifo_Depth_must_be_a_power_of_two_and_at_least_2 u_bad ();
  end

  // {clear, ack, pointer} of each side, and the copy that the other side sees.
  logic [AddrW+2:0] in_state, in_seen, out_state, out_seen;
  logic [AddrW-1:0] wr, rd;
  logic [W-1:0] mem_q[Depth];

  cdc_sync #(
      .W(AddrW + 3),
      .Stages(SyncStages)
  ) u_to_out (
      .clk_i (out_clk_i),
      .data_i(in_state),
      .data_o(in_seen)
  );
  cdc_sync #(
      .W(AddrW + 3),
      .Stages(SyncStages)
  ) u_to_in (
      .clk_i (in_clk_i),
      .data_i(out_state),
      .data_o(out_seen)
  );

  async_fifo_side #(
      .AddrW  (AddrW),
      .IsInput(1'b1)
  ) u_in (
      .clk_i  (in_clk_i),
      .rst_i  (in_rst_i),
      .take_i (in_valid_i),
      .open_o (in_ready_o),
      .addr_o (wr),
      .gray_o (in_state[AddrW:0]),
      .clear_o(in_state[AddrW+2]),
      .ack_o  (in_state[AddrW+1]),
      .other_i(out_seen[AddrW:0]),
      .clear_i(out_seen[AddrW+2]),
      .ack_i  (out_seen[AddrW+1])
  );
  async_fifo_side #(
      .AddrW  (AddrW),
      .IsInput(1'b0)
  ) u_out (
      .clk_i  (out_clk_i),
      .rst_i  (out_rst_i),
      .take_i (out_ready_i),
      .open_o (out_valid_o),
      .addr_o (rd),
      .gray_o (out_state[AddrW:0]),
      .clear_o(out_state[AddrW+2]),
      .ack_o  (out_state[AddrW+1]),
      .other_i(in_seen[AddrW:0]),
      .clear_i(in_seen[AddrW+2]),
      .ack_i  (in_seen[AddrW+1])
  );

  always_ff @(posedge in_clk_i) if (in_ready_o) mem_q[wr] <= in_data_i;  // a free slot may hold anything
  assign out_data_o = mem_q[rd];

`ifdef TSUNAGI_ASSERT
  stream_rules #(
      .W(W)
  ) u_source (
      .clk_i  (in_clk_i),
      .rst_i  (in_rst_i),
      .valid_i(in_valid_i),
      .ready_i(in_ready_o),
      .data_i (in_data_i)
  );
`endif
endmodule
