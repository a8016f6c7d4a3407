// SPDX-License-Identifier: MIT OR Apache-2.0
// `dma_write` writes a packet of 10 bytes to 0x28 of a memory that always takes: a burst is announced when all of it is
// there.
module dma_write_example (
    input logic clk_i,
    input logic rst_i,
    output logic cmd_valid_o,
    output logic cmd_ready_o,
    output logic in_valid_o,
    output logic in_ready_o,
    output logic [7:0] in_data_o,
    output logic in_last_o,
    output logic mem_cmd_valid_o,
    output logic [7:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    output logic mem_data_valid_o,
    output logic [7:0] mem_data_data_o,
    output logic [3:0] mem_data_strb_o,
    output logic mem_data_last_o,
    output logic mem_rsp_valid_o,
    output logic done_valid_o,
    output logic [2:0] done_err_o,
    output logic busy_o
);
  logic given_q, rsp_q, rsp_ready, unused;
  logic [ 1:0] word_q;
  logic [31:0] data;
  logic [11:0] addr;

  always_ff @(posedge clk_i) begin
    if (rst_i) given_q <= 1'b0;
    else if (cmd_ready_o) given_q <= 1'b1;
    if (rst_i) word_q <= '0;
    else if (in_valid_o && in_ready_o) word_q <= word_q + 2'd1;
    if (rst_i) rsp_q <= 1'b0;
    else rsp_q <= (mem_data_valid_o && mem_data_last_o) || (rsp_q && !rsp_ready);
  end

  assign cmd_valid_o = !given_q;
  assign in_valid_o = word_q != 2'd3;
  assign in_data_o = {6'd4, word_q};
  assign in_last_o = word_q == 2'd2;
  assign mem_cmd_addr_o = addr[7:0];
  assign mem_data_data_o = data[7:0];
  assign mem_rsp_valid_o = rsp_q;
  assign unused = &{data[31:8], addr[11:8]};

  dma_write #(
      .AddrW(12),
      .LenW(8),
      .BurstBeats(4)
  ) u_dma (
      .clk_i,
      .rst_i,
      .busy_o,
      .cmd_valid_i(cmd_valid_o),
      .cmd_ready_o,
      .cmd_addr_i(12'h28),
      .cmd_bytes_i(8'd10),
      .in_valid_i(in_valid_o),
      .in_ready_o,
      .in_data_i({24'd0, in_data_o}),
      .in_keep_i(2'd1),
      .in_last_i(in_last_o),
      .mem_cmd_valid_o,
      .mem_cmd_ready_i(1'b1),
      .mem_cmd_addr_o(addr),
      .mem_cmd_len_o,
      .mem_data_valid_o,
      .mem_data_ready_i(1'b1),
      .mem_data_data_o(data),
      .mem_data_strb_o,
      .mem_data_last_o,
      .mem_rsp_valid_i(rsp_q),
      .mem_rsp_ready_o(rsp_ready),
      .mem_rsp_err_i(1'b0),
      .done_valid_o,
      .done_ready_i(1'b1),
      .done_err_o
  );
endmodule
