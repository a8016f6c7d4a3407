// SPDX-License-Identifier: MIT OR Apache-2.0
// `skid` keeps order and content of up to two words: none is lost, doubled or invented.
//
// An offer holds until it is taken. The flags are exact.
module prove_skid #(
    parameter int W = 2
) (
    input logic clk_i,
    input logic rst_i,
    input logic in_valid_i,
    input logic [W-1:0] in_data_i,
    input logic out_ready_i,
    input logic mark_i
);
  logic in_ready, out_valid, follow;
  logic [W-1:0] out_data, word;
  logic [1:0] count, ahead;

  skid #(
      .W(W)
  ) dut (
      .clk_i,
      .rst_i,
      .in_valid_i,
      .in_ready_o (in_ready),
      .in_data_i,
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o (out_data)
  );

  queue_rules #(
      .W(W),
      .Capacity(2)
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

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      offers_unless_empty : assert (out_valid == (count != '0));
      takes_unless_full : assert (in_ready == (count != 2'd2));
      // Invariants for induction.
      stored : assert (!follow || (ahead == '0 ? dut.data_q : dut.spare_q) == word);
    end
  end
endmodule
