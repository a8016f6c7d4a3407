// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MC, memory controller of a cell: the MMU, the communication registers, the tags of the Write Through Pages,
// and the one port of cell memory.
//
// Processor  its port of the communication registers, `creg_req_*`, `creg_rsp_*`: ap1000p_creg, source 0.
// Registers  `creg_i` and `creg_o` are the sources after it, in the MSC+.
// Lookups    logical addresses of both sides: ap1000p_mmu.
// Tags       of remote kilobytes with a copy in cell memory: ap1000p_wtp.
// Memory     streams of 32-bit words. The MSC+'s clients and the MMU's table walker share the port: mem_read_mux,
//            mem_write_mux.
// Control    settings of software, from ap1000p_regs in the MSC+.
// Latency    of the blocks; the muxes add up to 2 cycles to a command, and 1 each to data and responses.
// Full       requests wait.
// Misuse     of the blocks. A client that does not take its data holds up all the others.
// Reset      everything; the memory and the MSC+ must be reset with it.
// busy_o     low: without an input nothing changes.
// Source     MMU in the MC: paper 2.2.1. Tags in the MC: paper 4.1. Communication registers (paper 2.2.8) in the MC:
//            the digest. The memory's port, the muxes: own guess.
module ap1000p_mc #(
    parameter int CoordW = 5,  // bits of a coordinate
    parameter int MemW   = 26  // bits of an address in cell memory
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic creg_req_valid_i,
    output logic creg_req_ready_o,
    input logic creg_req_write_i,
    input logic [6:0] creg_req_addr_i,
    input logic [31:0] creg_req_data_i,
    output logic creg_rsp_valid_o,
    input logic creg_rsp_ready_i,
    output logic creg_rsp_fault_o,
    output logic [31:0] creg_rsp_data_o,

    input  ap1000p_vbus_pkg::control_request_t  control_i,
    output ap1000p_vbus_pkg::control_response_t control_o,
    input  ap1000p_vbus_pkg::creg_request_t     creg_i,
    output ap1000p_vbus_pkg::creg_response_t    creg_o,
    input  ap1000p_vbus_pkg::lookup_request_t   lookup_i,
    output ap1000p_vbus_pkg::lookup_response_t  lookup_o,
    input  ap1000p_vbus_pkg::read_request_t     read_i,
    output ap1000p_vbus_pkg::read_response_t    read_o,
    input  ap1000p_vbus_pkg::write_request_t    write_i,
    output ap1000p_vbus_pkg::write_response_t   write_o,

    input logic tag_req_valid_i,
    output logic tag_req_ready_o,
    input logic [2*CoordW-1:0] tag_req_cell_i,
    input logic [ap1000p_vbus_pkg::LocalW-1:0] tag_req_addr_i,
    output logic tag_rsp_valid_o,
    input logic tag_rsp_ready_i,
    output logic tag_hit_o,
    output logic [31:0] tag_local_o,

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
  logic creg_busy, wtp_busy, mmu_busy, read_busy, write_busy;
  assign busy_o = creg_busy || wtp_busy || mmu_busy || read_busy || write_busy;

  // ------------------------------------------------------------------------------------------- communication registers
  logic [127:0] unused_present;
  ap1000p_creg #(
      .Sources(1 + ap1000p_vbus_pkg::CregSources)
  ) u_creg (
      .clk_i,
      .rst_i,
      .busy_o(creg_busy),
      // The senders retry by themselves: the two of them share a source, and neither may hold the other.
      .fault_i({1'b1, {2{control_i.creg_fault[1]}}, control_i.creg_fault[0]}),
      .req_valid_i({creg_i.valid, creg_req_valid_i}),
      .req_ready_o({creg_o.ready, creg_req_ready_o}),
      .req_addr_i({creg_i.addr, creg_req_addr_i}),
      .req_write_i({creg_i.write, creg_req_write_i}),
      .req_data_i({creg_i.data, creg_req_data_i}),
      .rsp_valid_o({creg_o.valid, creg_rsp_valid_o}),
      .rsp_ready_i({creg_i.rsp_ready, creg_rsp_ready_i}),
      .rsp_fault_o({creg_o.fault, creg_rsp_fault_o}),
      .rsp_data_o({creg_o.data, creg_rsp_data_o}),
      .present_o(unused_present)
  );

  // -------------------------------------------------------------------------------------------------------------- tags
  ap1000p_wtp #(
      .LocalW(ap1000p_vbus_pkg::LocalW),
      .CellW (2 * CoordW)
  ) u_wtp (
      .clk_i,
      .rst_i,
      .busy_o(wtp_busy),
      .base_i(control_i.local_cache),
      .req_valid_i(tag_req_valid_i),
      .req_ready_o(tag_req_ready_o),
      .req_cell_i(tag_req_cell_i),
      .req_addr_i(tag_req_addr_i),
      .rsp_valid_o(tag_rsp_valid_o),
      .rsp_ready_i(tag_rsp_ready_i),
      .hit_o(tag_hit_o),
      .local_o(tag_local_o),
      .upd_valid_i(control_i.update_valid),
      .upd_ready_o(control_o.update_ready),
      .upd_kind_i(control_i.update_kind),
      .upd_cell_i((2 * CoordW)'(control_i.update_line[24:15])),
      .upd_addr_i({control_i.update_line[14:0], 10'b0})
  );

  // --------------------------------------------------------------------------------------------------------------- MMU
  logic walk_cmd_valid, walk_cmd_ready, walk_data_valid, walk_data_ready, unused_miss;
  logic [31:0] walk_cmd_addr;
  logic [ 7:0] walk_cmd_len;
  ap1000p_mmu #(
      .MemW (MemW),
      .DataW(32)
  ) u_mmu (
      .clk_i,
      .rst_i,
      .busy_o(mmu_busy),
      .miss_o(unused_miss),
      .table_i(control_i.context_table),
      .req_valid_i(lookup_i.valid),
      .req_ready_o(lookup_o.ready),
      .req_context_i(lookup_i.context_id),
      .req_addr_i(lookup_i.addr),
      .req_write_i(lookup_i.write),
      .req_system_i(lookup_i.system),
      .rsp_valid_o(lookup_o.valid),
      .rsp_ready_i(lookup_i.rsp_ready),
      .rsp_addr_o(lookup_o.addr),
      .rsp_fault_o(lookup_o.fault),
      .demap_valid_i(control_i.demap_valid),
      .demap_ready_o(control_o.demap_ready),
      .demap_all_i(control_i.demap_all),
      .demap_addr_i(control_i.demap_addr),
      .mem_cmd_valid_o(walk_cmd_valid),
      .mem_cmd_ready_i(walk_cmd_ready),
      .mem_cmd_addr_o(walk_cmd_addr),
      .mem_cmd_len_o(walk_cmd_len),
      .mem_data_valid_i(walk_data_valid),
      .mem_data_ready_o(walk_data_ready),
      .mem_data_data_i(read_o.data),
      .mem_data_last_i(read_o.last),
      .mem_data_err_i(read_o.err)
  );

  // ------------------------------------------------------------------------------------------------------------ memory
  // The table walker stands behind the queues: it is the second to go when all ask for the first time.
  localparam int Queues = ap1000p_vbus_pkg::MemQueues;
  localparam int Next = Queues + 1;
  localparam int Last = ap1000p_vbus_pkg::MemClients - 1;
  mem_read_mux #(
      .N(ap1000p_vbus_pkg::MemClients + 1)
  ) u_reads (
      .clk_i,
      .rst_i,
      .busy_o(read_busy),
      .cmd_valid_i({read_i.cmd_valid[Last:Next], walk_cmd_valid, read_i.cmd_valid[Queues]}),
      .cmd_ready_o({read_o.cmd_ready[Last:Next], walk_cmd_ready, read_o.cmd_ready[Queues]}),
      .cmd_addr_i({read_i.cmd_addr[Last:Next], walk_cmd_addr, read_i.cmd_addr[Queues]}),
      .cmd_len_i({read_i.cmd_len[Last:Next], walk_cmd_len, read_i.cmd_len[Queues]}),
      .data_valid_o({read_o.data_valid[Last:Next], walk_data_valid, read_o.data_valid[Queues]}),
      .data_ready_i({read_i.data_ready[Last:Next], walk_data_ready, read_i.data_ready[Queues]}),
      .data_data_o(read_o.data),
      .data_last_o(read_o.last),
      .data_err_o(read_o.err),
      .mem_cmd_valid_o(mem_rd_cmd_valid_o),
      .mem_cmd_ready_i(mem_rd_cmd_ready_i),
      .mem_cmd_addr_o(mem_rd_cmd_addr_o),
      .mem_cmd_len_o(mem_rd_cmd_len_o),
      .mem_data_valid_i(mem_rd_data_valid_i),
      .mem_data_ready_o(mem_rd_data_ready_o),
      .mem_data_data_i(mem_rd_data_data_i),
      .mem_data_last_i(mem_rd_data_last_i),
      .mem_data_err_i(mem_rd_data_err_i)
  );
  mem_write_mux #(
      .N(ap1000p_vbus_pkg::MemClients)
  ) u_writes (
      .clk_i,
      .rst_i,
      .busy_o(write_busy),
      .cmd_valid_i(write_i.cmd_valid),
      .cmd_ready_o(write_o.cmd_ready),
      .cmd_addr_i(write_i.cmd_addr),
      .cmd_len_i(write_i.cmd_len),
      .data_valid_i(write_i.data_valid),
      .data_ready_o(write_o.data_ready),
      .data_data_i(write_i.data),
      .data_strb_i(write_i.strb),
      .data_last_i(write_i.last),
      .rsp_valid_o(write_o.rsp_valid),
      .rsp_ready_i(write_i.rsp_ready),
      .rsp_err_o(write_o.err),
      .mem_cmd_valid_o(mem_wr_cmd_valid_o),
      .mem_cmd_ready_i(mem_wr_cmd_ready_i),
      .mem_cmd_addr_o(mem_wr_cmd_addr_o),
      .mem_cmd_len_o(mem_wr_cmd_len_o),
      .mem_data_valid_o(mem_wr_data_valid_o),
      .mem_data_ready_i(mem_wr_data_ready_i),
      .mem_data_data_o(mem_wr_data_data_o),
      .mem_data_strb_o(mem_wr_data_strb_o),
      .mem_data_last_o(mem_wr_data_last_o),
      .mem_rsp_valid_i(mem_wr_rsp_valid_i),
      .mem_rsp_ready_o(mem_wr_rsp_ready_o),
      .mem_rsp_err_i(mem_wr_rsp_err_i)
  );
endmodule
