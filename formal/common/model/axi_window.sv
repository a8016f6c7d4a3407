// SPDX-License-Identifier: MIT OR Apache-2.0
// `axi_window` as the proof of its source sees it: it takes beats at any time and gives any response; it has a proof of
// its own.
module axi_window #(
    parameter int AddrW = 32,
    parameter int DataW = 32,
    parameter int IdW = 1,
    parameter int Outstanding = 8,
    localparam int StrbW = DataW / 8
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic rd_valid_i,
    output logic rd_ready_o,
    input logic [IdW-1:0] rd_id_i,
    input logic [AddrW-1:0] rd_addr_i,
    input logic [StrbW-1:0] rd_lanes_i,
    input logic rd_last_i,
    input logic rd_refuse_i,

    input logic wr_valid_i,
    output logic wr_ready_o,
    input logic [IdW-1:0] wr_id_i,
    input logic [AddrW-1:0] wr_addr_i,
    input logic [DataW-1:0] wr_data_i,
    input logic [StrbW-1:0] wr_strb_i,
    input logic wr_last_i,
    input logic wr_refuse_i,

    output logic win_req_valid_o,
    input logic win_req_ready_i,
    output logic win_req_write_o,
    output logic [AddrW-1:0] win_req_addr_o,
    output logic [DataW-1:0] win_req_wdata_o,
    output logic [StrbW-1:0] win_req_wstrb_o,
    input logic win_rsp_valid_i,
    output logic win_rsp_ready_o,
    input logic [DataW-1:0] win_rsp_rdata_i,
    input logic win_rsp_err_i,

    output logic r_valid_o,
    input logic r_ready_i,
    output logic [IdW-1:0] r_id_o,
    output logic [DataW-1:0] r_data_o,
    output logic [1:0] r_resp_o,
    output logic r_last_o,
    output logic b_valid_o,
    input logic b_ready_i,
    output logic [IdW-1:0] b_id_o,
    output logic [1:0] b_resp_o
);
  // Nothing drives the outputs: they are free at each step.
endmodule
