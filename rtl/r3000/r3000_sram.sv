// SPDX-License-Identifier: MIT OR Apache-2.0
// SRAM of `r3000`: true dual port block RAM, port A to fetch, port B to load and store.
//
// Latency    1 cycle. A port's output holds while the port is not enabled, and during a write.
// Conflict   port A reads undefined data where port B writes in the same cycle.
// Source     common practice; the split into byte-wide memories maps to block RAM of any kind.
module r3000_sram #(
    parameter int Words = 4096,  // as many as r3000 allows
    localparam int IndexW = $clog2(Words)
) (
    input logic clk_i,
    input logic a_enable_i,
    input logic [IndexW-1:0] a_index_i,
    output logic [31:0] a_data_o,
    input logic b_enable_i,
    input logic [IndexW-1:0] b_index_i,
    input logic b_write_i,
    input logic [3:0] b_lanes_i,  // bytes to write
    input logic [31:0] b_data_i,
    output logic [31:0] b_data_o
);
  for (genvar b = 0; b < 4; b++) begin : gen_byte
    (* no_rw_check *) logic [7:0] mem_q[Words];
    logic [7:0] a_q, b_q;
    always_ff @(posedge clk_i) begin
      if (a_enable_i) a_q <= mem_q[a_index_i];
    end
    always_ff @(posedge clk_i) begin
      if (b_enable_i && b_write_i && b_lanes_i[b]) mem_q[b_index_i] <= b_data_i[8*b+:8];
      if (b_enable_i && !b_write_i) b_q <= mem_q[b_index_i];
    end
    assign a_data_o[8*b+:8] = a_q;
    assign b_data_o[8*b+:8] = b_q;
  end
endmodule
