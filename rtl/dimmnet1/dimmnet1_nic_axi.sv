// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1 card behind AXI: the top to instantiate in a design of one's own.
//
//   s_axi  (registers, windows, AOTF, LLCM) ── axi_slave ──────────┬── dimmnet1_nic ──> m_axis, <── s_axis (link_aclk)
//   m_axi  (memory) ── axi_read_master, axi_write_master ──────────┘
//
// Clocks     `aclk` for both AXI sides, `link_aclk` for both links, any ratio and phase.
// Resets     `aresetn` and `link_aresetn` are active low; each is released with its clock. Hold both for 8 cycles of
//            the slower clock, and reset memory and processor with them.
// Host       AXI4 of 64 bits and 16 MB: the map of docs/machines/dimmnet1-registers.md. Registers take whole words. A
//            burst of stores fills a window at a word a cycle. What the card refuses is answered with SLVERR; a store
//            that `dimmnet1_send` refuses is only counted.
// Memory     AXI4 of 64 bits: INCR bursts that never cross 4 KB, up to Outstanding each way, ID 0. SLVERR and DECERR
//            become REASON_BUS.
// Links      AXI4-Stream of 64 bits, one packet from first word to TLAST.
// irq        high while a cause of STATUS is set that MASK lets through.
// busy       while `busy` and `link_busy` are low and no input is valid, no clock edge changes anything but TIME. May
//            be left open.
// Latency    the bridges add 3 cycles to a request of the host's and 1 to its response, 3 to a read's address and 4 to
//            a write's, 2 to read data.
// Source     AXI4, AXI4-Stream (IHI 0022, IHI 0051); the card: dimmnet1_nic.
module dimmnet1_nic_axi #(
    parameter int Outstanding = 8,  // bursts that may await data or response, each way, >= 1
    parameter int IdW = 4,  // bits of an ID of the host's, >= 1
    parameter int MemIdW = 1,  // bits of an ID of the memory's, >= 1
    parameter int Matching = 1  // as dimmnet1_nic
) (
    input  logic aclk,
    input  logic aresetn,
    output logic irq,
    output logic busy,

    input logic [IdW-1:0] s_axi_awid,
    input logic [23:0] s_axi_awaddr,
    input logic [7:0] s_axi_awlen,
    input logic [2:0] s_axi_awsize,
    input logic [1:0] s_axi_awburst,
    input logic s_axi_awlock,
    input logic [3:0] s_axi_awcache,
    input logic [2:0] s_axi_awprot,
    input logic [3:0] s_axi_awqos,
    input logic s_axi_awvalid,
    output logic s_axi_awready,
    input logic [63:0] s_axi_wdata,
    input logic [7:0] s_axi_wstrb,
    input logic s_axi_wlast,
    input logic s_axi_wvalid,
    output logic s_axi_wready,
    output logic [IdW-1:0] s_axi_bid,
    output logic [1:0] s_axi_bresp,
    output logic s_axi_bvalid,
    input logic s_axi_bready,
    input logic [IdW-1:0] s_axi_arid,
    input logic [23:0] s_axi_araddr,
    input logic [7:0] s_axi_arlen,
    input logic [2:0] s_axi_arsize,
    input logic [1:0] s_axi_arburst,
    input logic s_axi_arlock,
    input logic [3:0] s_axi_arcache,
    input logic [2:0] s_axi_arprot,
    input logic [3:0] s_axi_arqos,
    input logic s_axi_arvalid,
    output logic s_axi_arready,
    output logic [IdW-1:0] s_axi_rid,
    output logic [63:0] s_axi_rdata,
    output logic [1:0] s_axi_rresp,
    output logic s_axi_rlast,
    output logic s_axi_rvalid,
    input logic s_axi_rready,

    output logic [MemIdW-1:0] m_axi_awid,
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
    output logic [63:0] m_axi_wdata,
    output logic [7:0] m_axi_wstrb,
    output logic m_axi_wlast,
    output logic m_axi_wvalid,
    input logic m_axi_wready,
    input logic [MemIdW-1:0] m_axi_bid,
    input logic [1:0] m_axi_bresp,
    input logic m_axi_bvalid,
    output logic m_axi_bready,
    output logic [MemIdW-1:0] m_axi_arid,
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
    input logic [MemIdW-1:0] m_axi_rid,
    input logic [63:0] m_axi_rdata,
    input logic [1:0] m_axi_rresp,
    input logic m_axi_rlast,
    input logic m_axi_rvalid,
    output logic m_axi_rready,

    input logic link_aclk,
    input logic link_aresetn,
    output logic link_busy,
    output logic m_axis_tvalid,
    input logic m_axis_tready,
    output logic [63:0] m_axis_tdata,
    output logic m_axis_tlast,
    input logic s_axis_tvalid,
    output logic s_axis_tready,
    input logic [63:0] s_axis_tdata,
    input logic s_axis_tlast
);
  // One flip-flop ends each reset tree. It starts set, so that nothing runs before its first reset.
  logic rst_q, link_rst_q;
  initial rst_q = 1'b1;
  initial link_rst_q = 1'b1;
  always_ff @(posedge aclk) rst_q <= !aresetn;
  always_ff @(posedge link_aclk) link_rst_q <= !link_aresetn;

  logic slave_busy, read_busy, write_busy, core_busy;
  assign busy = slave_busy || read_busy || write_busy || core_busy;

  logic req_valid, req_ready, req_write, rsp_valid, rsp_ready, rsp_err;
  logic [23:0] req_addr;
  logic [63:0] req_wdata, rsp_rdata;
  logic [7:0] req_wstrb;
  logic rd_cmd_valid, rd_cmd_ready, rd_valid, rd_ready, rd_last, rd_err;
  logic wr_cmd_valid, wr_cmd_ready, wr_valid, wr_ready, wr_last, done_valid, done_ready, done_err;
  logic [31:0] rd_cmd_addr, wr_cmd_addr;
  logic [7:0] rd_cmd_len, wr_cmd_len, wr_strb;
  logic [63:0] rd_data, wr_data;
  // For simulation: what the processor retires.
  logic unused_retire_valid, unused_retire_trap;
  logic [31:0] unused_retire_pc;

  // The pins of AXI go through under their own names, here and below.
  axi_slave #(
      .AddrW(24),
      .DataW(64),
      .IdW  (IdW)
  ) u_slave (
      .clk_i(aclk),
      .rst_i(rst_q),
      .busy_o(slave_busy),
      .win_req_valid_o(req_valid),
      .win_req_ready_i(req_ready),
      .win_req_write_o(req_write),
      .win_req_addr_o(req_addr),
      .win_req_wdata_o(req_wdata),
      .win_req_wstrb_o(req_wstrb),
      .win_rsp_valid_i(rsp_valid),
      .win_rsp_ready_o(rsp_ready),
      .win_rsp_rdata_i(rsp_rdata),
      .win_rsp_err_i(rsp_err),
      .*
  );

  axi_read_master #(
      .DataW(64),
      .IdW(MemIdW),
      .Outstanding(Outstanding)
  ) u_read (
      .clk_i(aclk),
      .rst_i(rst_q),
      .busy_o(read_busy),
      .mem_cmd_valid_i(rd_cmd_valid),
      .mem_cmd_ready_o(rd_cmd_ready),
      .mem_cmd_addr_i(rd_cmd_addr),
      .mem_cmd_len_i(rd_cmd_len),
      .mem_data_valid_o(rd_valid),
      .mem_data_ready_i(rd_ready),
      .mem_data_data_o(rd_data),
      .mem_data_last_o(rd_last),
      .mem_data_err_o(rd_err),
      .*
  );

  axi_write_master #(
      .DataW(64),
      .IdW(MemIdW),
      .Outstanding(Outstanding)
  ) u_write (
      .clk_i(aclk),
      .rst_i(rst_q),
      .busy_o(write_busy),
      .mem_cmd_valid_i(wr_cmd_valid),
      .mem_cmd_ready_o(wr_cmd_ready),
      .mem_cmd_addr_i(wr_cmd_addr),
      .mem_cmd_len_i(wr_cmd_len),
      .mem_data_valid_i(wr_valid),
      .mem_data_ready_o(wr_ready),
      .mem_data_data_i(wr_data),
      .mem_data_strb_i(wr_strb),
      .mem_data_last_i(wr_last),
      .mem_rsp_valid_o(done_valid),
      .mem_rsp_ready_i(done_ready),
      .mem_rsp_err_o(done_err),
      .*
  );

  dimmnet1_nic #(
      .Matching(Matching)
  ) u_nic (
      .core_clk_i(aclk),
      .core_rst_i(rst_q),
      .link_clk_i(link_aclk),
      .link_rst_i(link_rst_q),
      .host_req_valid_i(req_valid),
      .host_req_ready_o(req_ready),
      .host_req_write_i(req_write),
      .host_req_addr_i(req_addr),
      .host_req_wdata_i(req_wdata),
      .host_req_wstrb_i(req_wstrb),
      .host_rsp_valid_o(rsp_valid),
      .host_rsp_ready_i(rsp_ready),
      .host_rsp_rdata_o(rsp_rdata),
      .host_rsp_err_o(rsp_err),
      .irq_o(irq),
      .mem_rd_cmd_valid_o(rd_cmd_valid),
      .mem_rd_cmd_ready_i(rd_cmd_ready),
      .mem_rd_cmd_addr_o(rd_cmd_addr),
      .mem_rd_cmd_len_o(rd_cmd_len),
      .mem_rd_data_valid_i(rd_valid),
      .mem_rd_data_ready_o(rd_ready),
      .mem_rd_data_data_i(rd_data),
      .mem_rd_data_last_i(rd_last),
      .mem_rd_data_err_i(rd_err),
      .mem_wr_cmd_valid_o(wr_cmd_valid),
      .mem_wr_cmd_ready_i(wr_cmd_ready),
      .mem_wr_cmd_addr_o(wr_cmd_addr),
      .mem_wr_cmd_len_o(wr_cmd_len),
      .mem_wr_data_valid_o(wr_valid),
      .mem_wr_data_ready_i(wr_ready),
      .mem_wr_data_data_o(wr_data),
      .mem_wr_data_strb_o(wr_strb),
      .mem_wr_data_last_o(wr_last),
      .mem_wr_rsp_valid_i(done_valid),
      .mem_wr_rsp_ready_o(done_ready),
      .mem_wr_rsp_err_i(done_err),
      .link_tx_valid_o(m_axis_tvalid),
      .link_tx_ready_i(m_axis_tready),
      .link_tx_data_o(m_axis_tdata),
      .link_tx_last_o(m_axis_tlast),
      .link_rx_valid_i(s_axis_tvalid),
      .link_rx_ready_o(s_axis_tready),
      .link_rx_data_i(s_axis_tdata),
      .link_rx_last_i(s_axis_tlast),
      .retire_valid_o(unused_retire_valid),
      .retire_pc_o(unused_retire_pc),
      .retire_trap_o(unused_retire_trap),
      .core_busy_o(core_busy),
      .link_busy_o(link_busy)
  );
endmodule
