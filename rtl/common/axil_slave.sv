// SPDX-License-Identifier: MIT OR Apache-2.0
// AXI4-Lite slave in front of a register port, such as the host port of a NIC.
//
// AXI        reads and writes do not wait for one another. Address and data of a write come in any order. The responses
//            of each direction come in order. An error of the port becomes SLVERR. Protection bits are ignored.
// Port       request {write, address as given, data, strobes} (a read sets all strobes), then its response {data,
//            error}, in order. The port decides how many are outstanding.
// Latency    2 cycles from address (and data) to request, 1 from port response to AXI response. 1 access per cycle if
//            the port responds within Outstanding - 3 cycles.
// Full       see axi_window; addresses and data then wait in their channels.
// Reset      drops everything; master and port must be reset, too.
// busy_o     low when nothing is inside or outstanding.
// Source     AXI4-Lite (IHI 0022, part B). Names of the AXI side are the standard's.
module axil_slave #(
    parameter int AddrW = 8,  // bits of a byte address, >= 1
    parameter int DataW = 32,  // bits of a word: 32 or 64
    parameter int Outstanding = 4,  // outstanding responses of each direction, >= 1
    localparam int StrbW = DataW / 8
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [AddrW-1:0] s_axil_awaddr,
    input logic [2:0] s_axil_awprot,
    input logic s_axil_awvalid,
    output logic s_axil_awready,
    input logic [DataW-1:0] s_axil_wdata,
    input logic [StrbW-1:0] s_axil_wstrb,
    input logic s_axil_wvalid,
    output logic s_axil_wready,
    output logic [1:0] s_axil_bresp,
    output logic s_axil_bvalid,
    input logic s_axil_bready,
    input logic [AddrW-1:0] s_axil_araddr,
    input logic [2:0] s_axil_arprot,
    input logic s_axil_arvalid,
    output logic s_axil_arready,
    output logic [DataW-1:0] s_axil_rdata,
    output logic [1:0] s_axil_rresp,
    output logic s_axil_rvalid,
    input logic s_axil_rready,

    output logic host_req_valid_o,
    input logic host_req_ready_i,
    output logic host_req_write_o,
    output logic [AddrW-1:0] host_req_addr_o,
    output logic [DataW-1:0] host_req_wdata_o,
    output logic [StrbW-1:0] host_req_wstrb_o,
    input logic host_rsp_valid_i,
    output logic host_rsp_ready_o,
    input logic [DataW-1:0] host_rsp_rdata_i,
    input logic host_rsp_err_i
);
  if (DataW != 32 && DataW != 64) begin : gen_bad_data
    axil_slave_DataW_must_be_32_or_64 u_bad ();
  end

  logic rd_valid, rd_ready, aw_valid, w_valid, wr_valid, wr_ready, window_busy;
  logic [AddrW-1:0] rd_addr, wr_addr;
  logic [DataW-1:0] wr_data;
  logic [StrbW-1:0] wr_strb;

  skid #(
      .W(AddrW)
  ) u_ar (
      .clk_i,
      .rst_i,
      .in_valid_i (s_axil_arvalid),
      .in_ready_o (s_axil_arready),
      .in_data_i  (s_axil_araddr),
      .out_valid_o(rd_valid),
      .out_ready_i(rd_ready),
      .out_data_o (rd_addr)
  );

  skid #(
      .W(AddrW)
  ) u_aw (
      .clk_i,
      .rst_i,
      .in_valid_i (s_axil_awvalid),
      .in_ready_o (s_axil_awready),
      .in_data_i  (s_axil_awaddr),
      .out_valid_o(aw_valid),
      .out_ready_i(w_valid && wr_ready),
      .out_data_o (wr_addr)
  );

  skid #(
      .W(DataW + StrbW)
  ) u_w (
      .clk_i,
      .rst_i,
      .in_valid_i (s_axil_wvalid),
      .in_ready_o (s_axil_wready),
      .in_data_i  ({s_axil_wstrb, s_axil_wdata}),
      .out_valid_o(w_valid),
      .out_ready_i(aw_valid && wr_ready),
      .out_data_o ({wr_strb, wr_data})
  );
  assign wr_valid = aw_valid && w_valid;

  logic unused, unused_rid, unused_rlast, unused_bid;
  assign unused = &{1'b0, s_axil_awprot, s_axil_arprot};

  axi_window #(
      .AddrW(AddrW),
      .DataW(DataW),
      .Outstanding(Outstanding)
  ) u_window (
      .clk_i,
      .rst_i,
      .busy_o(window_busy),
      .rd_valid_i(rd_valid),
      .rd_ready_o(rd_ready),
      .rd_id_i(1'b0),
      .rd_addr_i(rd_addr),
      .rd_lanes_i({StrbW{1'b1}}),  // Yosys 0.70 stops at '1 here
      .rd_last_i(1'b1),
      .rd_refuse_i(1'b0),
      .wr_valid_i(wr_valid),
      .wr_ready_o(wr_ready),
      .wr_id_i(1'b0),
      .wr_addr_i(wr_addr),
      .wr_data_i(wr_data),
      .wr_strb_i(wr_strb),
      .wr_last_i(1'b1),
      .wr_refuse_i(1'b0),
      .win_req_valid_o(host_req_valid_o),
      .win_req_ready_i(host_req_ready_i),
      .win_req_write_o(host_req_write_o),
      .win_req_addr_o(host_req_addr_o),
      .win_req_wdata_o(host_req_wdata_o),
      .win_req_wstrb_o(host_req_wstrb_o),
      .win_rsp_valid_i(host_rsp_valid_i),
      .win_rsp_ready_o(host_rsp_ready_o),
      .win_rsp_rdata_i(host_rsp_rdata_i),
      .win_rsp_err_i(host_rsp_err_i),
      .r_valid_o(s_axil_rvalid),
      .r_ready_i(s_axil_rready),
      .r_id_o(unused_rid),
      .r_data_o(s_axil_rdata),
      .r_resp_o(s_axil_rresp),
      .r_last_o(unused_rlast),
      .b_valid_o(s_axil_bvalid),
      .b_ready_i(s_axil_bready),
      .b_id_o(unused_bid),
      .b_resp_o(s_axil_bresp)
  );
  assign busy_o = rd_valid || aw_valid || w_valid || window_busy;
endmodule
