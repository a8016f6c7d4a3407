// SPDX-License-Identifier: MIT OR Apache-2.0
// The AXI side of a network interface: its registers behind an AXI4-Lite slave, its memory streams on an AXI4 master.
//
//   s_axil ─── axil_slave ──────── host
//   m_axi  ─┬─ axi_read_master ─── mem_rd
//           └─ axi_write_master ── mem_wr
//
// Host       requests {write, address, data, strobes} and their responses {data, error}: axil_slave.
// Memory     read and write commands {addr, len = beats - 1} with their words and responses: axi_read_master,
//            axi_write_master.
// Latency    2 cycles from an AXI4-Lite address to its request, and from a command to its AXI address; 1 for a
//            response, read data and write data.
// Rate       1 word per cycle each way, if the memory responds within Outstanding - 4 bursts.
// Full       at most Outstanding bursts each way await data or response, then commands wait.
// Misuse     errors of the host become SLVERR; SLVERR and DECERR of the memory become errors of the streams. If a slave
//            never responds, the bridge waits forever.
// Reset      drops everything. The AXI master, the AXI slave, the host and the memory's client must be reset with it.
// busy_o     low when nothing is inside or outstanding.
// Source     ours. The AXI sides carry the standard's names.
module axi_bridge #(
    parameter int DataW = 64,  // bits of a memory word: 32, 64 or 128
    parameter int IdW = 1,  // bits of an ID, >= 1; it is always 0
    parameter int Outstanding = 4,  // bursts that may await data or response, each way, >= 1
    localparam int StrbW = DataW / 8
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [7:0] s_axil_awaddr,
    input logic [2:0] s_axil_awprot,
    input logic s_axil_awvalid,
    output logic s_axil_awready,
    input logic [31:0] s_axil_wdata,
    input logic [3:0] s_axil_wstrb,
    input logic s_axil_wvalid,
    output logic s_axil_wready,
    output logic [1:0] s_axil_bresp,
    output logic s_axil_bvalid,
    input logic s_axil_bready,
    input logic [7:0] s_axil_araddr,
    input logic [2:0] s_axil_arprot,
    input logic s_axil_arvalid,
    output logic s_axil_arready,
    output logic [31:0] s_axil_rdata,
    output logic [1:0] s_axil_rresp,
    output logic s_axil_rvalid,
    input logic s_axil_rready,

    output logic [IdW-1:0] m_axi_awid,
    output logic [31:0] m_axi_awaddr,
    output logic [7:0] m_axi_awlen,
    output logic [2:0] m_axi_awsize,
    output logic [1:0] m_axi_awburst,
    output logic m_axi_awlock,
    output logic [3:0] m_axi_awcache,
    output logic [2:0] m_axi_awprot,
    output logic [3:0] m_axi_awqos,
    output logic m_axi_awvalid,
    input logic m_axi_awready,
    output logic [DataW-1:0] m_axi_wdata,
    output logic [StrbW-1:0] m_axi_wstrb,
    output logic m_axi_wlast,
    output logic m_axi_wvalid,
    input logic m_axi_wready,
    input logic [IdW-1:0] m_axi_bid,
    input logic [1:0] m_axi_bresp,
    input logic m_axi_bvalid,
    output logic m_axi_bready,
    output logic [IdW-1:0] m_axi_arid,
    output logic [31:0] m_axi_araddr,
    output logic [7:0] m_axi_arlen,
    output logic [2:0] m_axi_arsize,
    output logic [1:0] m_axi_arburst,
    output logic m_axi_arlock,
    output logic [3:0] m_axi_arcache,
    output logic [2:0] m_axi_arprot,
    output logic [3:0] m_axi_arqos,
    output logic m_axi_arvalid,
    input logic m_axi_arready,
    input logic [IdW-1:0] m_axi_rid,
    input logic [DataW-1:0] m_axi_rdata,
    input logic [1:0] m_axi_rresp,
    input logic m_axi_rlast,
    input logic m_axi_rvalid,
    output logic m_axi_rready,

    output logic host_req_valid_o,
    input logic host_req_ready_i,
    output logic host_req_write_o,
    output logic [7:0] host_req_addr_o,
    output logic [31:0] host_req_wdata_o,
    output logic [3:0] host_req_wstrb_o,
    input logic host_rsp_valid_i,
    output logic host_rsp_ready_o,
    input logic [31:0] host_rsp_rdata_i,
    input logic host_rsp_err_i,

    input logic mem_rd_cmd_valid_i,
    output logic mem_rd_cmd_ready_o,
    input logic [31:0] mem_rd_cmd_addr_i,
    input logic [7:0] mem_rd_cmd_len_i,
    output logic mem_rd_data_valid_o,
    input logic mem_rd_data_ready_i,
    output logic [DataW-1:0] mem_rd_data_data_o,
    output logic mem_rd_data_last_o,
    output logic mem_rd_data_err_o,
    input logic mem_wr_cmd_valid_i,
    output logic mem_wr_cmd_ready_o,
    input logic [31:0] mem_wr_cmd_addr_i,
    input logic [7:0] mem_wr_cmd_len_i,
    input logic mem_wr_data_valid_i,
    output logic mem_wr_data_ready_o,
    input logic [DataW-1:0] mem_wr_data_data_i,
    input logic [StrbW-1:0] mem_wr_data_strb_i,
    input logic mem_wr_data_last_i,
    output logic mem_wr_rsp_valid_o,
    input logic mem_wr_rsp_ready_i,
    output logic mem_wr_rsp_err_o
);
  logic host_busy, read_busy, write_busy;
  assign busy_o = host_busy || read_busy || write_busy;

  axil_slave u_host (
      .clk_i,
      .rst_i,
      .busy_o(host_busy),
      .s_axil_awaddr,
      .s_axil_awprot,
      .s_axil_awvalid,
      .s_axil_awready,
      .s_axil_wdata,
      .s_axil_wstrb,
      .s_axil_wvalid,
      .s_axil_wready,
      .s_axil_bresp,
      .s_axil_bvalid,
      .s_axil_bready,
      .s_axil_araddr,
      .s_axil_arprot,
      .s_axil_arvalid,
      .s_axil_arready,
      .s_axil_rdata,
      .s_axil_rresp,
      .s_axil_rvalid,
      .s_axil_rready,
      .host_req_valid_o,
      .host_req_ready_i,
      .host_req_write_o,
      .host_req_addr_o,
      .host_req_wdata_o,
      .host_req_wstrb_o,
      .host_rsp_valid_i,
      .host_rsp_ready_o,
      .host_rsp_rdata_i,
      .host_rsp_err_i
  );

  axi_read_master #(
      .DataW(DataW),
      .IdW(IdW),
      .Outstanding(Outstanding)
  ) u_read (
      .clk_i,
      .rst_i,
      .busy_o(read_busy),
      .mem_cmd_valid_i(mem_rd_cmd_valid_i),
      .mem_cmd_ready_o(mem_rd_cmd_ready_o),
      .mem_cmd_addr_i(mem_rd_cmd_addr_i),
      .mem_cmd_len_i(mem_rd_cmd_len_i),
      .mem_data_valid_o(mem_rd_data_valid_o),
      .mem_data_ready_i(mem_rd_data_ready_i),
      .mem_data_data_o(mem_rd_data_data_o),
      .mem_data_last_o(mem_rd_data_last_o),
      .mem_data_err_o(mem_rd_data_err_o),
      .m_axi_arid,
      .m_axi_araddr,
      .m_axi_arlen,
      .m_axi_arsize,
      .m_axi_arburst,
      .m_axi_arlock,
      .m_axi_arcache,
      .m_axi_arprot,
      .m_axi_arqos,
      .m_axi_arvalid,
      .m_axi_arready,
      .m_axi_rid,
      .m_axi_rdata,
      .m_axi_rresp,
      .m_axi_rlast,
      .m_axi_rvalid,
      .m_axi_rready
  );

  axi_write_master #(
      .DataW(DataW),
      .IdW(IdW),
      .Outstanding(Outstanding)
  ) u_write (
      .clk_i,
      .rst_i,
      .busy_o(write_busy),
      .mem_cmd_valid_i(mem_wr_cmd_valid_i),
      .mem_cmd_ready_o(mem_wr_cmd_ready_o),
      .mem_cmd_addr_i(mem_wr_cmd_addr_i),
      .mem_cmd_len_i(mem_wr_cmd_len_i),
      .mem_data_valid_i(mem_wr_data_valid_i),
      .mem_data_ready_o(mem_wr_data_ready_o),
      .mem_data_data_i(mem_wr_data_data_i),
      .mem_data_strb_i(mem_wr_data_strb_i),
      .mem_data_last_i(mem_wr_data_last_i),
      .mem_rsp_valid_o(mem_wr_rsp_valid_o),
      .mem_rsp_ready_i(mem_wr_rsp_ready_i),
      .mem_rsp_err_o(mem_wr_rsp_err_o),
      .m_axi_awid,
      .m_axi_awaddr,
      .m_axi_awlen,
      .m_axi_awsize,
      .m_axi_awburst,
      .m_axi_awlock,
      .m_axi_awcache,
      .m_axi_awprot,
      .m_axi_awqos,
      .m_axi_awvalid,
      .m_axi_awready,
      .m_axi_wdata,
      .m_axi_wstrb,
      .m_axi_wlast,
      .m_axi_wvalid,
      .m_axi_wready,
      .m_axi_bid,
      .m_axi_bresp,
      .m_axi_bvalid,
      .m_axi_bready
  );
endmodule
