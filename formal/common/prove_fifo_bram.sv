// SPDX-License-Identifier: MIT OR Apache-2.0
// `fifo_bram` keeps order and content: no word is lost, doubled or invented.
//
// An offer holds until it is taken. The level and the full flag are exact. While a word is inside, at most one cycle
// passes without an offer.
module prove_fifo_bram #(
    parameter int W = 2,
    parameter int Depth = 3
) (
    input logic clk_i,
    input logic rst_i,
    input logic in_valid_i,
    input logic [W-1:0] in_data_i,
    input logic out_ready_i,
    input logic mark_i
);
  localparam int CountW = $clog2(Depth + 2);

  logic in_ready, out_valid, follow;
  logic [W-1:0] out_data, word;
  logic [$clog2(Depth + 1)-1:0] level;
  logic [CountW-1:0] count, ahead;

  fifo_bram #(
      .W(W),
      .Depth(Depth)
  ) dut (
      .clk_i,
      .rst_i,
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_data_i,
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o(out_data),
      .level_o(level)
  );

  queue_rules #(
      .W(W),
      .Capacity(Depth)
  ) u_rules (
      .clk_i,
      .rst_i,
      .mark_i,
      .in_valid_i,
      .in_ready_i (in_ready),
      .in_data_i,
      .out_valid_i(out_valid),
      .out_ready_i,
      .out_data_i (out_data),
      .inside_o   (count),
      .follow_o   (follow),
      .ahead_o    (ahead),
      .word_o     (word)
  );

  // The n-th word inside: the prefetched one, then the words in the memory.
  function automatic logic [W-1:0] nth(input int n);
    nth = (n == 0 && out_valid) ? dut.out_data_q : dut.mem_q[(int'(dut.rd_q)+n-int'(out_valid))%Depth];
  endfunction

  int stored;  // words in the memory
  assign stored = int'(count) - int'(out_valid);

  logic idle_q;  // there was a word inside in the cycle before, and none on offer
  always_ff @(posedge clk_i) idle_q <= count != '0 && !out_valid && !rst_i;

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      level_counts : assert (CountW'(level) == count);
      offers_soon : assert (out_valid || count == '0 || !idle_q);
      takes_unless_full : assert (in_ready == (count != CountW'(Depth)));
      // Invariants for induction.
      stored_flag : assert (dut.stored_q == (stored != 0) && stored >= 0);
      pointers : assert (int'(dut.rd_q) < Depth && int'(dut.wr_q) == (int'(dut.rd_q) + stored) % Depth);
      content : assert (!follow || nth(int'(ahead)) == word);
    end
  end
endmodule
