// SPDX-License-Identifier: MIT OR Apache-2.0
// `fifo` keeps order and content: no word is lost, doubled or invented.
//
// An offer holds until it is taken. The flags and the level are exact.
module prove_fifo #(
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

  fifo #(
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

  // The place of the n-th word inside.
  function automatic int place(input int n);
    place = (int'(dut.rd_q) + n) % Depth;
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      level_counts : assert (CountW'(level) == count);
      offers_unless_empty : assert (out_valid == (count != '0));
      takes_unless_full : assert (in_ready == (count != CountW'(Depth)));
      // Invariants for induction.
      pointers : assert (int'(dut.rd_q) < Depth && int'(dut.wr_q) == place(int'(count)));
      stored : assert (!follow || dut.mem_q[place(int'(ahead))] == word);
    end
  end
endmodule
