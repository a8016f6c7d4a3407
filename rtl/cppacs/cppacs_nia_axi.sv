// CP-PACS, network interface adapter behind AXI: the top to instantiate in a design of one's own.
//
//   s_axil (window) ── axil_slave ─────────────────────────── cppacs_nia ── link
//   m_axi  (memory) ── axi_read_master, axi_write_master ──┘
//
// Host       AXI4-Lite of 64 bits and 128 KB: the window of docs/machines/cppacs-registers.md. What it refuses is
//            answered with SLVERR. Only the master's map keeps users out of the kernel's first 64 KB.
// Memory     AXI4 of 32 bits: INCR bursts that never cross 4 KB, up to Outstanding each way, ID 0. SLVERR and DECERR
//            are memory errors.
// Link       credits and barrier as they are; see cppacs_link and sync_tree. `place`, `last` and `drained` are the
//            exchanger's.
// Resets     `aresetn` is active low, and released with `aclk`. Memory and exchanger are reset with it.
// busy       while it is low and no input is valid, no clock edge changes anything.
// Latency    2 cycles from an AXI4-Lite address to its request, 1 for its response; see the masters.
// Source     AXI4, AXI4-Lite (IHI 0022); the NIA: cppacs_nia.
module cppacs_nia_axi #(
    parameter int Rights = 512,  // as cppacs_tables
    parameter int Fields = 512,
    parameter int KickDepth = 4,  // as cppacs_kicks
    parameter int Answers = 128,  // as cppacs_answers
    parameter int BurstBeats = 16,  // words of the longest burst, power of two, 4..64
    parameter int Outstanding = 4,  // bursts under way, 2..16
    parameter int IdW = 1  // bits of an ID of the memory's, >= 1
) (
    input  logic aclk,
    input  logic aresetn,
    output logic irq,
    output logic busy,

    input logic [16:0] s_axil_awaddr,
    input logic [2:0] s_axil_awprot,
    input logic s_axil_awvalid,
    output logic s_axil_awready,
    input logic [63:0] s_axil_wdata,
    input logic [7:0] s_axil_wstrb,
    input logic s_axil_wvalid,
    output logic s_axil_wready,
    output logic [1:0] s_axil_bresp,
    output logic s_axil_bvalid,
    input logic s_axil_bready,
    input logic [16:0] s_axil_araddr,
    input logic [2:0] s_axil_arprot,
    input logic s_axil_arvalid,
    output logic s_axil_arready,
    output logic [63:0] s_axil_rdata,
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
    output logic [31:0] m_axi_wdata,
    output logic [3:0] m_axi_wstrb,
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
    input logic [31:0] m_axi_rdata,
    input logic [1:0] m_axi_rresp,
    input logic m_axi_rlast,
    input logic m_axi_rvalid,
    output logic m_axi_rready,

    output logic barrier_member_o,
    output logic barrier_arrive_o,
    input  logic barrier_waiting_i,
    input  logic barrier_release_i,

    output logic link_out_valid_o,
    output logic link_out_channel_o,
    output logic [31:0] link_out_data_o,
    output logic link_out_last_o,
    input logic [1:0] link_out_credit_i,
    input logic link_in_valid_i,
    input logic link_in_channel_i,
    input logic [31:0] link_in_data_i,
    input logic link_in_last_i,
    output logic [1:0] link_in_credit_o,

    output logic [12:0] place_o,
    output logic [12:0] last_o,
    input  logic [15:0] drained_i
);
  // It starts set, so that nothing runs before the first reset.
  logic rst_q;
  initial rst_q = 1'b1;
  always_ff @(posedge aclk) rst_q <= !aresetn;

  logic slave_busy, read_busy, write_busy, nia_busy;
  assign busy = slave_busy || read_busy || write_busy || nia_busy;

  logic req_valid, req_ready, req_write, rsp_valid, rsp_ready, rsp_err;
  logic [16:0] req_addr;
  logic [63:0] req_wdata, rsp_rdata;
  logic [7:0] req_wstrb;
  logic rd_cmd_valid, rd_cmd_ready, rd_valid, rd_ready, rd_last, rd_err;
  logic wr_cmd_valid, wr_cmd_ready, wr_valid, wr_ready, wr_last, done_valid, done_ready, done_err;
  logic [31:0] rd_cmd_addr, wr_cmd_addr, rd_data, wr_data;
  logic [7:0] rd_cmd_len, wr_cmd_len;
  logic [3:0] wr_strb;

  // The pins of AXI go through under their own names, here and below.
  axil_slave #(
      .AddrW(17),
      .DataW(64)
  ) u_slave (
      .clk_i(aclk),
      .rst_i(rst_q),
      .busy_o(slave_busy),
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
      .*
  );

  axi_read_master #(
      .DataW(32),
      .IdW(IdW),
      .Outstanding(Outstanding + 4)
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
      .DataW(32),
      .IdW(IdW),
      .Outstanding(Outstanding + 4)
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

  cppacs_nia #(
      .Rights(Rights),
      .Fields(Fields),
      .KickDepth(KickDepth),
      .Answers(Answers),
      .BurstBeats(BurstBeats),
      .Outstanding(Outstanding)
  ) u_nia (
      .clk_i(aclk),
      .rst_i(rst_q),
      .busy_o(nia_busy),
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
      .*
  );
endmodule
