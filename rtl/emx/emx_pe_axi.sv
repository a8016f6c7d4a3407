// SPDX-License-Identifier: MIT OR Apache-2.0
// EM-4/EM-X PE behind AXI4-Lite: the top to instantiate in another design.
//
//   s_axil (registers and memory) ── axil_slave ── emx_pe ──> link_out, <── link_in
//
// Reset      `aresetn` is active low. Hold it for 8 cycles, for all PEs of a machine at once.
// Host       AXI4-Lite of 64 bits, 16 MB: the map of docs/machines/emx-registers.md. A write takes whole words. A
//            refused access gets SLVERR.
// Links      by the rule of room, not AXI4-Stream: see emx_pe and cut_through. `pe` is static from the last cycle of
//            reset on; emx_machine shows how PEs are joined.
// TIME       cycles since reset.
// irq        high while a cause of STATUS is set that MASK lets through.
// busy       while it is low and no input is valid, no clock edge changes anything but TIME. May be left open.
// Latency    the bridge adds 2 cycles to a request and 1 to its response.
module emx_pe_axi #(
    parameter int RowBits = 4,  // these as emx_pe
    parameter int AddrW = 16,
    parameter int SpillBits = 12,
    parameter int Levels = 1,
    parameter int HalfPackets = 4,
    parameter int Packets = 2,
    parameter int SpillTurns = 3,
    parameter int HostWait = 64,
    parameter int OutputPackets = 0,
    parameter bit WriteBypass = 1'b0,
    parameter bit ReadBypass = 1'b0,
    parameter bit InputFirst = 1'b0,
    parameter bit CodePort = 1'b0,
    parameter bit FastSend = 1'b0
) (
    input logic aclk,
    input logic aresetn,
    input logic [9:0] pe,
    output logic irq,
    output logic busy,

    input logic [23:0] s_axil_awaddr,
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
    input logic [23:0] s_axil_araddr,
    input logic [2:0] s_axil_arprot,
    input logic s_axil_arvalid,
    output logic s_axil_arready,
    output logic [63:0] s_axil_rdata,
    output logic [1:0] s_axil_rresp,
    output logic s_axil_rvalid,
    input logic s_axil_rready,

    input logic [1:0] link_in_valid,
    input logic [1:0][1:0] link_in_vc,
    input logic [1:0][38:0] link_in_data,
    input logic [1:0] link_in_last,
    output logic [1:0][2:0] link_in_room,
    output logic [1:0] link_out_valid,
    output logic [1:0][1:0] link_out_vc,
    output logic [1:0][38:0] link_out_data,
    output logic [1:0] link_out_last,
    input logic [1:0][2:0] link_out_room
);
  // One flip-flop ends the reset tree. It starts set, so that nothing runs before its first reset.
  logic rst_q;
  initial rst_q = 1'b1;
  always_ff @(posedge aclk) rst_q <= !aresetn;

  logic [31:0] time_q;
  always_ff @(posedge aclk) time_q <= rst_q ? '0 : time_q + 32'd1;

  logic slave_busy, pe_busy;
  assign busy = slave_busy || pe_busy;

  logic req_valid, req_ready, req_write, rsp_valid, rsp_ready, rsp_err;
  logic [23:0] req_addr;
  logic [63:0] req_wdata, rsp_rdata;
  logic [7:0] req_wstrb;
  // For simulation: what runs.
  logic unused_tell_valid, unused_ret_valid;
  logic [ 1:0] unused_state;
  logic [13:0] unused_depth;
  logic [31:0] unused_tell_data, unused_ret_insn;
  logic [21:0] unused_ret_pc;

  // The pins of AXI go through under their own names.
  axil_slave #(
      .AddrW(24),
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

  emx_pe #(
      .RowBits(RowBits),
      .AddrW(AddrW),
      .SpillBits(SpillBits),
      .Levels(Levels),
      .HalfPackets(HalfPackets),
      .Packets(Packets),
      .SpillTurns(SpillTurns),
      .HostWait(HostWait),
      .OutputPackets(OutputPackets),
      .WriteBypass(WriteBypass),
      .ReadBypass(ReadBypass),
      .InputFirst(InputFirst),
      .CodePort(CodePort),
      .FastSend(FastSend)
  ) u_pe (
      .clk_i(aclk),
      .rst_i(rst_q),
      .busy_o(pe_busy),
      .pe_i(pe),
      .time_i(time_q),
      .link_in_valid_i(link_in_valid),
      .link_in_vc_i(link_in_vc),
      .link_in_data_i(link_in_data),
      .link_in_last_i(link_in_last),
      .link_in_room_o(link_in_room),
      .link_out_valid_o(link_out_valid),
      .link_out_vc_o(link_out_vc),
      .link_out_data_o(link_out_data),
      .link_out_last_o(link_out_last),
      .link_out_room_i(link_out_room),
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
      .state_o(unused_state),
      .depth_o(unused_depth),
      .tell_valid_o(unused_tell_valid),
      .tell_data_o(unused_tell_data),
      .ret_valid_o(unused_ret_valid),
      .ret_pc_o(unused_ret_pc),
      .ret_insn_o(unused_ret_insn)
  );
endmodule
