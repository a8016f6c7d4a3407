// SPDX-License-Identifier: MIT OR Apache-2.0
// Cenju-3 network interface behind AXI: the top to instantiate in another design.
//
//   s_axil (registers) ─┬─ axi_bridge ── cenju3_nic ──> m_axis (link out)
//   m_axi  (memory) ────┘                           <── s_axis (link in)
//
// Clocks     `aclk` is for registers and memory, `link_aclk` for the links, at any ratio and phase. The crossing is
//            inside.
// Reset      `aresetn` and `link_aresetn` are active low. Release each with its clock. Hold both for 8 cycles of the
//            slower clock, and reset the slave on `m_axi` and the links with them.
// Registers  AXI4-Lite, 256 bytes, layout in docs/machines/cenju3-registers.md. A refused access gets SLVERR.
// Memory     AXI4 of BusW bits: INCR bursts of at most BurstBeats words that never cross 4 KB, up to Outstanding each
//            way, ID 0. SLVERR and DECERR reach the NIC's status registers as bus errors.
// Links      AXI4-Stream, one flit a beat, TLAST with the last of a packet. There is no TKEEP: every byte counts.
// irq        high while an enabled cause is pending.
// rx_level   words in the receive FIFO, as R_STAT.LEVEL gives them, in the clock `aclk`. May be left open.
// busy       `busy` is of `aclk`, `link_busy` of `link_aclk`. While both are low and no input is valid, no clock edge
//            changes anything, so both clocks may stand, at any ratio. While either is high both must run. May be left
//            open.
// Latency    the bridge adds 2 cycles to an address, and 1 each to read data, write data and a response.
// Rate       that of cenju3_nic, if the memory responds within Outstanding * BurstBeats - 20 cycles.
module cenju3_nic_axi #(
    parameter int BusW = 32,  // bits of a memory word, 32 or 64
    parameter int LinkW = 16,  // bits of a flit, 16
    parameter int FifoWords = 512,  // depth of the receive FIFO in memory words, 32 to 32768
    parameter int BurstBeats = 8,  // words in the longest burst, power of two, 1..256
    parameter int Outstanding = 4,  // bursts that may await data or response, each way, >= 1
    parameter int IdW = 1  // bits of an ID, >= 1
) (
    input logic aclk,
    input logic aresetn,
    input logic link_aclk,
    input logic link_aresetn,
    output logic irq,
    output logic [15:0] rx_level,
    output logic busy,
    output logic link_busy,

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
    output logic [BusW-1:0] m_axi_wdata,
    output logic [BusW/8-1:0] m_axi_wstrb,
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
    input logic [BusW-1:0] m_axi_rdata,
    input logic [1:0] m_axi_rresp,
    input logic m_axi_rlast,
    input logic m_axi_rvalid,
    output logic m_axi_rready,

    output logic [LinkW-1:0] m_axis_tdata,
    output logic m_axis_tvalid,
    input logic m_axis_tready,
    output logic m_axis_tlast,
    input logic [LinkW-1:0] s_axis_tdata,
    input logic s_axis_tvalid,
    output logic s_axis_tready,
    input logic s_axis_tlast
);
  // One flip-flop ends the design's reset tree. It starts set, so nothing runs before its first reset.
  logic rst_q, link_rst_q;
  initial {rst_q, link_rst_q} = '1;
  always_ff @(posedge aclk) rst_q <= !aresetn;
  always_ff @(posedge link_aclk) link_rst_q <= !link_aresetn;

  logic axi_busy, nic_busy;
  assign busy = axi_busy || nic_busy;

  logic req_valid, req_ready, req_write, rsp_valid, rsp_ready, rsp_err;
  logic [7:0] req_addr;
  logic [31:0] req_wdata, rsp_rdata;
  logic [3:0] req_wstrb;
  logic rd_cmd_valid, rd_cmd_ready, rd_valid, rd_ready, rd_last, rd_err;
  logic wr_cmd_valid, wr_cmd_ready, wr_valid, wr_ready, wr_last, done_valid, done_ready, done_err;
  logic [31:0] rd_cmd_addr, wr_cmd_addr;
  logic [7:0] rd_cmd_len, wr_cmd_len;
  logic [BusW-1:0] rd_data, wr_data;
  logic [BusW/8-1:0] wr_strb;

  // The pins of AXI go through under their own names.
  axi_bridge #(
      .DataW(BusW),
      .IdW(IdW),
      .Outstanding(Outstanding)
  ) u_axi (
      .clk_i(aclk),
      .rst_i(rst_q),
      .busy_o(axi_busy),
      .host_req_valid_o(req_valid),
      .host_req_ready_i(req_ready),
      .host_req_write_o(req_write),
      .host_req_addr_o(req_addr),
      .host_req_wdata_o(req_wdata),
      .host_req_wstrb_o(req_wstrb),
      .host_rsp_valid_i(rsp_valid),
      .host_rsp_ready_o(rsp_ready),
      .host_rsp_rdata_i(rsp_rdata),
      .host_rsp_err_i(rsp_err),
      .mem_rd_cmd_valid_i(rd_cmd_valid),
      .mem_rd_cmd_ready_o(rd_cmd_ready),
      .mem_rd_cmd_addr_i(rd_cmd_addr),
      .mem_rd_cmd_len_i(rd_cmd_len),
      .mem_rd_data_valid_o(rd_valid),
      .mem_rd_data_ready_i(rd_ready),
      .mem_rd_data_data_o(rd_data),
      .mem_rd_data_last_o(rd_last),
      .mem_rd_data_err_o(rd_err),
      .mem_wr_cmd_valid_i(wr_cmd_valid),
      .mem_wr_cmd_ready_o(wr_cmd_ready),
      .mem_wr_cmd_addr_i(wr_cmd_addr),
      .mem_wr_cmd_len_i(wr_cmd_len),
      .mem_wr_data_valid_i(wr_valid),
      .mem_wr_data_ready_o(wr_ready),
      .mem_wr_data_data_i(wr_data),
      .mem_wr_data_strb_i(wr_strb),
      .mem_wr_data_last_i(wr_last),
      .mem_wr_rsp_valid_o(done_valid),
      .mem_wr_rsp_ready_i(done_ready),
      .mem_wr_rsp_err_o(done_err),
      .*
  );

  cenju3_nic #(
      .BusW(BusW),
      .LinkW(LinkW),
      .FifoWords(FifoWords),
      .BurstBeats(BurstBeats),
      .Outstanding(Outstanding)
  ) u_nic (
      .io_clk_i(aclk),
      .io_rst_i(rst_q),
      .net_clk_i(link_aclk),
      .net_rst_i(link_rst_q),
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
      .rx_level_o(rx_level),
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
      .tx_valid_o(m_axis_tvalid),
      .tx_ready_i(m_axis_tready),
      .tx_data_o(m_axis_tdata),
      .tx_last_o(m_axis_tlast),
      .rx_valid_i(s_axis_tvalid),
      .rx_ready_o(s_axis_tready),
      .rx_data_i(s_axis_tdata),
      .rx_last_i(s_axis_tlast),
      .io_busy_o(nic_busy),
      .net_busy_o(link_busy)
  );
endmodule
