// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ cell behind AXI: the top to instantiate in a design of one's own.
//
//   s_axil (registers) ─┬─ axi_bridge ─┬─────────────────────────────────┬── ap1000p_cell ──> tx, <── rx (torus_router)
//   m_axi  (memory) ────┘              └─ mem_read_wide, mem_write_wide ─┤
//   s_axi  (window) ────── axi_slave ──── ap1000p_window ────────────────┘
//
// Clock      `aclk` is for all of it.
// Reset      `aresetn` is active low. Release it with the clock. Hold it for 4 cycles, and reset memory, processor and
//            router with it.
// Registers  AXI4-Lite, 256 bytes, layout in docs/machines/ap1000p-formats.md. What the cell refuses is answered with
//            SLVERR. Registers answer while the window waits.
// Window     AXI4 of 64 bits at the machine's physical addresses: pages of commands, communication registers, other
//            cells' memory (ap1000p_window). A burst of 8 words to a page is a command. Refusals and faults are SLVERR.
// Memory     AXI4 of 64 bits: INCR bursts that never cross 4 KB, up to Outstanding each way, ID 0. SLVERR and DECERR
//            reach the cell's registers as bus errors.
// Network    a port of torus_router, words with credits. AXI4-Stream has no channels that share a wire.
// irq        high while an enabled cause is pending.
// busy       while it is low and no input is valid, no clock edge changes anything. May be left open.
// Latency    the bridges add 3 cycles to a read's address and 4 to a write's, 2 to read data, 2 to a beat of data, 2 to
//            a response each.
// Rate       that of ap1000p_cell: a word a cycle each way, as far as the memory answers within Outstanding - 4 bursts.
module ap1000p_cell_axi #(
    parameter int CoordW = 5,  // bits of a coordinate, 2 to 7
    parameter int MemW = 26,  // bits of an address in cell memory, 24 to 31
    parameter bit HardwareRefill = 1'b1,
    parameter int Outstanding = 8,  // bursts that may await data or response, each way, >= 1
    parameter int IdW = 1,  // bits of an ID of the memory's, >= 1
    parameter int WindowIdW = 4  // bits of an ID of the window's, >= 1
) (
    input  logic aclk,
    input  logic aresetn,
    output logic irq,
    output logic busy,

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

    input logic [WindowIdW-1:0] s_axi_awid,
    input logic [35:0] s_axi_awaddr,
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
    output logic [WindowIdW-1:0] s_axi_bid,
    output logic [1:0] s_axi_bresp,
    output logic s_axi_bvalid,
    input logic s_axi_bready,
    input logic [WindowIdW-1:0] s_axi_arid,
    input logic [35:0] s_axi_araddr,
    input logic [7:0] s_axi_arlen,
    input logic [2:0] s_axi_arsize,
    input logic [1:0] s_axi_arburst,
    input logic s_axi_arlock,
    input logic [3:0] s_axi_arcache,
    input logic [2:0] s_axi_arprot,
    input logic [3:0] s_axi_arqos,
    input logic s_axi_arvalid,
    output logic s_axi_arready,
    output logic [WindowIdW-1:0] s_axi_rid,
    output logic [63:0] s_axi_rdata,
    output logic [1:0] s_axi_rresp,
    output logic s_axi_rlast,
    output logic s_axi_rvalid,
    input logic s_axi_rready,

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
    output logic [63:0] m_axi_wdata,
    output logic [7:0] m_axi_wstrb,
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
    input logic [63:0] m_axi_rdata,
    input logic [1:0] m_axi_rresp,
    input logic m_axi_rlast,
    input logic m_axi_rvalid,
    output logic m_axi_rready,

    output logic tx_valid_o,
    output logic [1:0] tx_vc_o,
    output logic [31:0] tx_data_o,
    output logic tx_last_o,
    input logic [3:0] tx_credit_i,
    input logic rx_valid_i,
    input logic [1:0] rx_vc_i,
    input logic [31:0] rx_data_i,
    input logic rx_last_i,
    output logic [3:0] rx_credit_o
);
  // One flip-flop ends the design's reset tree. It starts set, so that nothing runs before its first reset.
  logic rst_q;
  initial rst_q = 1'b1;
  always_ff @(posedge aclk) rst_q <= !aresetn;

  logic axi_busy, slave_busy, window_busy, read_busy, write_busy, cell_busy;
  assign busy = axi_busy || slave_busy || window_busy || read_busy || write_busy || cell_busy;

  // ------------------------------------------------------------------------------------------------------------ window
  logic win_req_valid, win_req_ready, win_req_write, win_rsp_valid, win_rsp_ready, win_rsp_err;
  logic [35:0] win_req_addr;
  logic [63:0] win_req_wdata, win_rsp_rdata;
  logic [7:0] win_req_wstrb;
  logic
      store_valid,
      store_ready,
      creg_req_valid,
      creg_req_ready,
      creg_req_write,
      creg_rsp_valid,
      creg_rsp_ready,
      creg_rsp_fault;
  logic dsm_req_valid, dsm_req_ready, dsm_req_write, dsm_req_registers, dsm_rsp_valid, dsm_rsp_ready, dsm_rsp_err;
  logic [15:0] store_page;
  logic [31:0] store_data, creg_req_data, creg_rsp_data, dsm_req_addr;
  logic [6:0] creg_req_addr;
  logic [2*CoordW-1:0] dsm_req_cell;
  logic [1:0] dsm_req_size;
  logic [63:0] dsm_req_data, dsm_rsp_data;

  // The pins of AXI go through under their own names, here and below.
  axi_slave #(
      .AddrW(36),
      .DataW(64),
      .IdW  (WindowIdW)
  ) u_slave (
      .clk_i(aclk),
      .rst_i(rst_q),
      .busy_o(slave_busy),
      .win_req_valid_o(win_req_valid),
      .win_req_ready_i(win_req_ready),
      .win_req_write_o(win_req_write),
      .win_req_addr_o(win_req_addr),
      .win_req_wdata_o(win_req_wdata),
      .win_req_wstrb_o(win_req_wstrb),
      .win_rsp_valid_i(win_rsp_valid),
      .win_rsp_ready_o(win_rsp_ready),
      .win_rsp_rdata_i(win_rsp_rdata),
      .win_rsp_err_i(win_rsp_err),
      .*
  );

  ap1000p_window #(
      .CoordW(CoordW)
  ) u_window (
      .clk_i(aclk),
      .rst_i(rst_q),
      .busy_o(window_busy),
      .req_valid_i(win_req_valid),
      .req_ready_o(win_req_ready),
      .req_write_i(win_req_write),
      .req_addr_i(win_req_addr),
      .req_wdata_i(win_req_wdata),
      .req_wstrb_i(win_req_wstrb),
      .rsp_valid_o(win_rsp_valid),
      .rsp_ready_i(win_rsp_ready),
      .rsp_rdata_o(win_rsp_rdata),
      .rsp_err_o(win_rsp_err),
      .store_valid_o(store_valid),
      .store_ready_i(store_ready),
      .store_page_o(store_page),
      .store_data_o(store_data),
      .creg_req_valid_o(creg_req_valid),
      .creg_req_ready_i(creg_req_ready),
      .creg_req_write_o(creg_req_write),
      .creg_req_addr_o(creg_req_addr),
      .creg_req_data_o(creg_req_data),
      .creg_rsp_valid_i(creg_rsp_valid),
      .creg_rsp_ready_o(creg_rsp_ready),
      .creg_rsp_fault_i(creg_rsp_fault),
      .creg_rsp_data_i(creg_rsp_data),
      .dsm_req_valid_o(dsm_req_valid),
      .dsm_req_ready_i(dsm_req_ready),
      .dsm_req_write_o(dsm_req_write),
      .dsm_req_registers_o(dsm_req_registers),
      .dsm_req_cell_o(dsm_req_cell),
      .dsm_req_addr_o(dsm_req_addr),
      .dsm_req_size_o(dsm_req_size),
      .dsm_req_data_o(dsm_req_data),
      .dsm_rsp_valid_i(dsm_rsp_valid),
      .dsm_rsp_ready_o(dsm_rsp_ready),
      .dsm_rsp_err_i(dsm_rsp_err),
      .dsm_rsp_data_i(dsm_rsp_data)
  );

  // ---------------------------------------------------------------------------------------------- registers and memory
  logic req_valid, req_ready, req_write, rsp_valid, rsp_ready, rsp_err;
  logic [7:0] req_addr;
  logic [31:0] req_wdata, rsp_rdata;
  logic [3:0] req_wstrb;
  // The cell's words of 32 bits, and the bus's of 64.
  logic rd_cmd_valid, rd_cmd_ready, rd_valid, rd_ready, rd_last, rd_err;
  logic wr_cmd_valid, wr_cmd_ready, wr_valid, wr_ready, wr_last, done_valid, done_ready, done_err;
  logic [31:0] rd_cmd_addr, wr_cmd_addr, rd_data, wr_data;
  logic [7:0] rd_cmd_len, wr_cmd_len;
  logic [3:0] wr_strb;
  logic rd64_cmd_valid, rd64_cmd_ready, rd64_valid, rd64_ready, rd64_last, rd64_err;
  logic wr64_cmd_valid, wr64_cmd_ready, wr64_valid, wr64_ready, wr64_last, done64_valid, done64_ready, done64_err;
  logic [31:0] rd64_cmd_addr, wr64_cmd_addr;
  logic [7:0] rd64_cmd_len, wr64_cmd_len, wr64_strb;
  logic [63:0] rd64_data, wr64_data;

  mem_read_wide #(
      .Outstanding(Outstanding)
  ) u_read_wide (
      .clk_i(aclk),
      .rst_i(rst_q),
      .busy_o(read_busy),
      .cmd_valid_i(rd_cmd_valid),
      .cmd_ready_o(rd_cmd_ready),
      .cmd_addr_i(rd_cmd_addr),
      .cmd_len_i(rd_cmd_len),
      .data_valid_o(rd_valid),
      .data_ready_i(rd_ready),
      .data_data_o(rd_data),
      .data_last_o(rd_last),
      .data_err_o(rd_err),
      .mem_cmd_valid_o(rd64_cmd_valid),
      .mem_cmd_ready_i(rd64_cmd_ready),
      .mem_cmd_addr_o(rd64_cmd_addr),
      .mem_cmd_len_o(rd64_cmd_len),
      .mem_data_valid_i(rd64_valid),
      .mem_data_ready_o(rd64_ready),
      .mem_data_data_i(rd64_data),
      .mem_data_last_i(rd64_last),
      .mem_data_err_i(rd64_err)
  );

  mem_write_wide #(
      .Outstanding(Outstanding)
  ) u_write_wide (
      .clk_i(aclk),
      .rst_i(rst_q),
      .busy_o(write_busy),
      .cmd_valid_i(wr_cmd_valid),
      .cmd_ready_o(wr_cmd_ready),
      .cmd_addr_i(wr_cmd_addr),
      .cmd_len_i(wr_cmd_len),
      .data_valid_i(wr_valid),
      .data_ready_o(wr_ready),
      .data_data_i(wr_data),
      .data_strb_i(wr_strb),
      .data_last_i(wr_last),
      .rsp_valid_o(done_valid),
      .rsp_ready_i(done_ready),
      .rsp_err_o(done_err),
      .mem_cmd_valid_o(wr64_cmd_valid),
      .mem_cmd_ready_i(wr64_cmd_ready),
      .mem_cmd_addr_o(wr64_cmd_addr),
      .mem_cmd_len_o(wr64_cmd_len),
      .mem_data_valid_o(wr64_valid),
      .mem_data_ready_i(wr64_ready),
      .mem_data_data_o(wr64_data),
      .mem_data_strb_o(wr64_strb),
      .mem_data_last_o(wr64_last),
      .mem_rsp_valid_i(done64_valid),
      .mem_rsp_ready_o(done64_ready),
      .mem_rsp_err_i(done64_err)
  );

  axi_bridge #(
      .DataW(64),
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
      .mem_rd_cmd_valid_i(rd64_cmd_valid),
      .mem_rd_cmd_ready_o(rd64_cmd_ready),
      .mem_rd_cmd_addr_i(rd64_cmd_addr),
      .mem_rd_cmd_len_i(rd64_cmd_len),
      .mem_rd_data_valid_o(rd64_valid),
      .mem_rd_data_ready_i(rd64_ready),
      .mem_rd_data_data_o(rd64_data),
      .mem_rd_data_last_o(rd64_last),
      .mem_rd_data_err_o(rd64_err),
      .mem_wr_cmd_valid_i(wr64_cmd_valid),
      .mem_wr_cmd_ready_o(wr64_cmd_ready),
      .mem_wr_cmd_addr_i(wr64_cmd_addr),
      .mem_wr_cmd_len_i(wr64_cmd_len),
      .mem_wr_data_valid_i(wr64_valid),
      .mem_wr_data_ready_o(wr64_ready),
      .mem_wr_data_data_i(wr64_data),
      .mem_wr_data_strb_i(wr64_strb),
      .mem_wr_data_last_i(wr64_last),
      .mem_wr_rsp_valid_o(done64_valid),
      .mem_wr_rsp_ready_i(done64_ready),
      .mem_wr_rsp_err_o(done64_err),
      .*
  );

  // -------------------------------------------------------------------------------------------------------------- cell
  ap1000p_cell #(
      .CoordW(CoordW),
      .MemW(MemW),
      .HardwareRefill(HardwareRefill)
  ) u_cell (
      .clk_i(aclk),
      .rst_i(rst_q),
      .busy_o(cell_busy),
      .irq_o(irq),
      .store_valid_i(store_valid),
      .store_ready_o(store_ready),
      .store_page_i(store_page),
      .store_data_i(store_data),
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
      .creg_req_valid_i(creg_req_valid),
      .creg_req_ready_o(creg_req_ready),
      .creg_req_write_i(creg_req_write),
      .creg_req_addr_i(creg_req_addr),
      .creg_req_data_i(creg_req_data),
      .creg_rsp_valid_o(creg_rsp_valid),
      .creg_rsp_ready_i(creg_rsp_ready),
      .creg_rsp_fault_o(creg_rsp_fault),
      .creg_rsp_data_o(creg_rsp_data),
      .dsm_req_valid_i(dsm_req_valid),
      .dsm_req_ready_o(dsm_req_ready),
      .dsm_req_write_i(dsm_req_write),
      .dsm_req_registers_i(dsm_req_registers),
      .dsm_req_cell_i(dsm_req_cell),
      .dsm_req_addr_i(dsm_req_addr),
      .dsm_req_size_i(dsm_req_size),
      .dsm_req_data_i(dsm_req_data),
      .dsm_rsp_valid_o(dsm_rsp_valid),
      .dsm_rsp_ready_i(dsm_rsp_ready),
      .dsm_rsp_err_o(dsm_rsp_err),
      .dsm_rsp_data_o(dsm_rsp_data),
      .tx_valid_o,
      .tx_vc_o,
      .tx_data_o,
      .tx_last_o,
      .tx_credit_i,
      .rx_valid_i,
      .rx_vc_i,
      .rx_data_i,
      .rx_last_i,
      .rx_credit_o,
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
      .mem_wr_rsp_err_i(done_err)
  );
endmodule
