// SPDX-License-Identifier: MIT OR Apache-2.0
// `r3000_sram` as a proof sees it that holds for any program and any data: a port that reads gets any word.
//
// A port's word stays until it reads again.
module r3000_sram #(
    parameter  int Words  = 4096,
    localparam int IndexW = $clog2(Words)
) (
    input logic clk_i,
    input logic a_enable_i,
    input logic [IndexW-1:0] a_index_i,
    output logic [31:0] a_data_o,
    input logic b_enable_i,
    input logic [IndexW-1:0] b_index_i,
    input logic b_write_i,
    input logic [3:0] b_lanes_i,
    input logic [31:0] b_data_i,
    output logic [31:0] b_data_o
);
  logic [31:0] any_a, any_b;  // driven by nothing: free at each step
  always_ff @(posedge clk_i) begin
    if (a_enable_i) a_data_o <= any_a;
    if (b_enable_i && !b_write_i) b_data_o <= any_b;
  end
endmodule
