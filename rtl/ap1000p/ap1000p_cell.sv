// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ cell: its two chips, the message controller MSC+ (ap1000p_msc) and the memory controller MC (ap1000p_mc),
// between processor, memory and torus.
//
// Store      words to command pages: ap1000p_command.
// Registers  of both chips: ap1000p_regs; `irq_o` is its interrupt.
// Creg       the processor's port of the communication registers: ap1000p_creg. Receivers and senders are its other
//            sources.
// Dsm        the processor's loads and stores to other cells' memory, and to copies of it: ap1000p_access, ap1000p_wtp.
//            Register ACKS says when the stores are done.
// Network    a port of torus_router: ap1000p_link.
// Memory     read and write streams of 32-bit words, shared by all inside: mem_read_mux, mem_write_mux. A client
//            reserves the room for its data before it requests them.
// Latency    of the chips.
// Reset      everything; memory and router must be reset with it.
// busy_o     low: without an input nothing changes.
// Source     two LSIs, MSC+ and MC, joined by the V-Bus: paper 2.1, Fig 2. The memory's port: own guess.
module ap1000p_cell #(
    parameter int CoordW = 5,  // bits of a coordinate, 1 to 7
    parameter int MemW = 26,  // bits of an address in cell memory, 24 to 31
    parameter bit HardwareRefill = 1'b1
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,
    output logic irq_o,

    input logic store_valid_i,
    output logic store_ready_o,
    input logic [15:0] store_page_i,
    input logic [31:0] store_data_i,

    input logic host_req_valid_i,
    output logic host_req_ready_o,
    input logic host_req_write_i,
    input logic [7:0] host_req_addr_i,
    input logic [31:0] host_req_wdata_i,
    input logic [3:0] host_req_wstrb_i,
    output logic host_rsp_valid_o,
    input logic host_rsp_ready_i,
    output logic [31:0] host_rsp_rdata_o,
    output logic host_rsp_err_o,

    input logic creg_req_valid_i,
    output logic creg_req_ready_o,
    input logic creg_req_write_i,
    input logic [6:0] creg_req_addr_i,
    input logic [31:0] creg_req_data_i,
    output logic creg_rsp_valid_o,
    input logic creg_rsp_ready_i,
    output logic creg_rsp_fault_o,
    output logic [31:0] creg_rsp_data_o,

    input logic dsm_req_valid_i,
    output logic dsm_req_ready_o,
    input logic dsm_req_write_i,
    input logic dsm_req_registers_i,
    input logic [2*CoordW-1:0] dsm_req_cell_i,
    input logic [31:0] dsm_req_addr_i,
    input logic [1:0] dsm_req_size_i,
    input logic [63:0] dsm_req_data_i,
    output logic dsm_rsp_valid_o,
    input logic dsm_rsp_ready_i,
    output logic dsm_rsp_err_o,
    output logic [63:0] dsm_rsp_data_o,

    output logic tx_valid_o,
    output logic [1:0] tx_vc_o,
    output logic [31:0] tx_data_o,
    output logic tx_last_o,
    input logic [3:0] tx_credit_i,
    input logic rx_valid_i,
    input logic [1:0] rx_vc_i,
    input logic [31:0] rx_data_i,
    input logic rx_last_i,
    output logic [3:0] rx_credit_o,

    output logic mem_rd_cmd_valid_o,
    input logic mem_rd_cmd_ready_i,
    output logic [31:0] mem_rd_cmd_addr_o,
    output logic [7:0] mem_rd_cmd_len_o,
    input logic mem_rd_data_valid_i,
    output logic mem_rd_data_ready_o,
    input logic [31:0] mem_rd_data_data_i,
    input logic mem_rd_data_last_i,
    input logic mem_rd_data_err_i,
    output logic mem_wr_cmd_valid_o,
    input logic mem_wr_cmd_ready_i,
    output logic [31:0] mem_wr_cmd_addr_o,
    output logic [7:0] mem_wr_cmd_len_o,
    output logic mem_wr_data_valid_o,
    input logic mem_wr_data_ready_i,
    output logic [31:0] mem_wr_data_data_o,
    output logic [3:0] mem_wr_data_strb_o,
    output logic mem_wr_data_last_o,
    input logic mem_wr_rsp_valid_i,
    output logic mem_wr_rsp_ready_o,
    input logic mem_wr_rsp_err_i
);
  if (CoordW < 1 || CoordW > 7) begin : gen_bad_coord
    ap1000p_cell_CoordW_must_be_1_to_7 u_bad ();
  end

  logic mc_busy;
  ap1000p_vbus_pkg::control_request_t control_req;
  ap1000p_vbus_pkg::control_response_t control_rsp;
  ap1000p_vbus_pkg::creg_request_t creg_req;
  ap1000p_vbus_pkg::creg_response_t creg_rsp;
  ap1000p_vbus_pkg::lookup_request_t lookup_req;
  ap1000p_vbus_pkg::lookup_response_t lookup_rsp;
  ap1000p_vbus_pkg::read_request_t read_req;
  ap1000p_vbus_pkg::read_response_t read_rsp;
  ap1000p_vbus_pkg::write_request_t write_req;
  ap1000p_vbus_pkg::write_response_t write_rsp;
  logic tag_req_valid, tag_req_ready, tag_rsp_valid, tag_rsp_ready, tag_hit;
  logic [2*CoordW-1:0] tag_req_cell;
  logic [ap1000p_vbus_pkg::LocalW-1:0] tag_req_addr;
  logic [31:0] tag_local;

  ap1000p_msc #(
      .CoordW(CoordW),
      .MemW(MemW),
      .HardwareRefill(HardwareRefill)
  ) u_msc (
      .clk_i,
      .rst_i,
      .busy_o,
      .mc_busy_i(mc_busy),
      .irq_o,
      .store_valid_i,
      .store_ready_o,
      .store_page_i,
      .store_data_i,
      .host_req_valid_i,
      .host_req_ready_o,
      .host_req_write_i,
      .host_req_addr_i,
      .host_req_wdata_i,
      .host_req_wstrb_i,
      .host_rsp_valid_o,
      .host_rsp_ready_i,
      .host_rsp_rdata_o,
      .host_rsp_err_o,
      .dsm_req_valid_i,
      .dsm_req_ready_o,
      .dsm_req_write_i,
      .dsm_req_registers_i,
      .dsm_req_cell_i,
      .dsm_req_addr_i,
      .dsm_req_size_i,
      .dsm_req_data_i,
      .dsm_rsp_valid_o,
      .dsm_rsp_ready_i,
      .dsm_rsp_err_o,
      .dsm_rsp_data_o,
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
      .control_o(control_req),
      .control_i(control_rsp),
      .creg_o(creg_req),
      .creg_i(creg_rsp),
      .lookup_o(lookup_req),
      .lookup_i(lookup_rsp),
      .read_o(read_req),
      .read_i(read_rsp),
      .write_o(write_req),
      .write_i(write_rsp),
      .tag_req_valid_o(tag_req_valid),
      .tag_req_ready_i(tag_req_ready),
      .tag_req_cell_o(tag_req_cell),
      .tag_req_addr_o(tag_req_addr),
      .tag_rsp_valid_i(tag_rsp_valid),
      .tag_rsp_ready_o(tag_rsp_ready),
      .tag_hit_i(tag_hit),
      .tag_local_i(tag_local)
  );

  ap1000p_mc #(
      .CoordW(CoordW),
      .MemW  (MemW)
  ) u_mc (
      .clk_i,
      .rst_i,
      .busy_o(mc_busy),
      .creg_req_valid_i,
      .creg_req_ready_o,
      .creg_req_write_i,
      .creg_req_addr_i,
      .creg_req_data_i,
      .creg_rsp_valid_o,
      .creg_rsp_ready_i,
      .creg_rsp_fault_o,
      .creg_rsp_data_o,
      .control_i(control_req),
      .control_o(control_rsp),
      .creg_i(creg_req),
      .creg_o(creg_rsp),
      .lookup_i(lookup_req),
      .lookup_o(lookup_rsp),
      .read_i(read_req),
      .read_o(read_rsp),
      .write_i(write_req),
      .write_o(write_rsp),
      .tag_req_valid_i(tag_req_valid),
      .tag_req_ready_o(tag_req_ready),
      .tag_req_cell_i(tag_req_cell),
      .tag_req_addr_i(tag_req_addr),
      .tag_rsp_valid_o(tag_rsp_valid),
      .tag_rsp_ready_i(tag_rsp_ready),
      .tag_hit_o(tag_hit),
      .tag_local_o(tag_local),
      .mem_rd_cmd_valid_o,
      .mem_rd_cmd_ready_i,
      .mem_rd_cmd_addr_o,
      .mem_rd_cmd_len_o,
      .mem_rd_data_valid_i,
      .mem_rd_data_ready_o,
      .mem_rd_data_data_i,
      .mem_rd_data_last_i,
      .mem_rd_data_err_i,
      .mem_wr_cmd_valid_o,
      .mem_wr_cmd_ready_i,
      .mem_wr_cmd_addr_o,
      .mem_wr_cmd_len_o,
      .mem_wr_data_valid_o,
      .mem_wr_data_ready_i,
      .mem_wr_data_data_o,
      .mem_wr_data_strb_o,
      .mem_wr_data_last_o,
      .mem_wr_rsp_valid_i,
      .mem_wr_rsp_ready_o,
      .mem_wr_rsp_err_i
  );
endmodule
