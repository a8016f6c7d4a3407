// SPDX-License-Identifier: MIT OR Apache-2.0
// `dma_read` fetches 18 bytes from 0x24 of a memory whose words are their numbers: two bursts, the first one up to the
// next multiple of four words.
module dma_read_example (
    input logic clk_i,
    input logic rst_i,
    output logic cmd_valid_o,
    output logic cmd_ready_o,
    output logic mem_cmd_valid_o,
    output logic mem_cmd_ready_o,
    output logic [7:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    output logic mem_data_valid_o,
    output logic mem_data_ready_o,
    output logic [7:0] mem_data_data_o,
    output logic mem_data_last_o,
    output logic out_valid_o,
    output logic [7:0] out_data_o,
    output logic [1:0] out_keep_o,
    output logic out_last_o,
    output logic busy_o
);
  logic given_q, reads_q;
  logic [7:0] word_q, left_q;
  logic [31:0] data;
  logic [11:0] addr;
  logic unused, unused_next, unused_err;

  always_ff @(posedge clk_i) begin
    if (rst_i) given_q <= 1'b0;
    else if (cmd_ready_o) given_q <= 1'b1;
    if (rst_i) reads_q <= 1'b0;
    else if (mem_cmd_valid_o && !reads_q) reads_q <= 1'b1;
    else if (mem_data_ready_o && mem_data_last_o) reads_q <= 1'b0;
    if (!reads_q) {word_q, left_q} <= {2'd0, addr[7:2], mem_cmd_len_o};
    else if (mem_data_ready_o) {word_q, left_q} <= {word_q + 8'd1, left_q - 8'd1};
  end

  assign cmd_valid_o = !given_q;
  assign mem_cmd_ready_o = !reads_q;
  assign mem_cmd_addr_o = addr[7:0];
  assign mem_data_valid_o = reads_q;
  assign mem_data_data_o = word_q;
  assign mem_data_last_o = left_q == '0;
  assign out_data_o = data[7:0];

  dma_read #(
      .AddrW(12),
      .LenW(8),
      .BurstBeats(4)
  ) u_dma (
      .clk_i,
      .rst_i,
      .busy_o,
      .cmd_valid_i(cmd_valid_o),
      .cmd_ready_o,
      .next_o(unused_next),
      .cmd_addr_i(12'h24),
      .cmd_bytes_i(8'd18),
      .mem_cmd_valid_o,
      .mem_cmd_ready_i(mem_cmd_ready_o),
      .mem_cmd_addr_o(addr),
      .mem_cmd_len_o,
      .mem_data_valid_i(mem_data_valid_o),
      .mem_data_ready_o,
      .mem_data_data_i({24'd0, word_q}),
      .mem_data_last_i(mem_data_last_o),
      .mem_data_err_i(1'b0),
      .out_valid_o,
      .out_ready_i(1'b1),
      .out_data_o(data),
      .out_keep_o,
      .out_last_o,
      .out_err_o(unused_err)
  );
  assign unused = &{data[31:8], addr[11:8], addr[1:0], unused_next, unused_err};
endmodule
