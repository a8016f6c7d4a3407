// SPDX-License-Identifier: MIT OR Apache-2.0
// EM-4/EM-X PE: everything of a processing element but its host's bus.
//
//   two links in ──► emx_switch ──► emx_core ──► emx_route ──► emx_switch ──► two links out
//                                    │  ▲
//                        host ──► emx_regs
//
// Links      by the rule of room, as of cut_through: a packet begins in a cycle in which room of its channel is high,
//            and its word 1 follows directly. Output b of row r leads to row 2r + b of the next column: emx_network.
// Host       registers and memory: see emx_regs, and docs/machines/emx-registers.md.
// Numbers    pe_i is static from the last cycle of reset on. time_i is what GET TIME gives: one counter of the machine.
// Parameters those of the parts; seven of them make an EMC-Y of an EMC-R.
// Shown      for measurements: state_o (0 idle, 1 a thread runs, 2 it waits to send, 3 halted) and depth_o of the cycle
//            before; tell_* and ret_*, what a thread told and did in the cycle before.
// Reset      drops all but the memory.
// busy_o     0 after an edge: further edges change nothing while no input is valid.
// Source     paper, 2.1 and 2.2.
module emx_pe #(
    parameter int RowBits = 4,  // 0, 2 or 4 (a machine of 5, 20, 80 PEs)
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
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [9:0] pe_i,
    input logic [31:0] time_i,

    input logic [1:0] link_in_valid_i,
    input logic [1:0][1:0] link_in_vc_i,
    input logic [1:0][38:0] link_in_data_i,
    input logic [1:0] link_in_last_i,
    output logic [1:0][2:0] link_in_room_o,
    output logic [1:0] link_out_valid_o,
    output logic [1:0][1:0] link_out_vc_o,
    output logic [1:0][38:0] link_out_data_o,
    output logic [1:0] link_out_last_o,
    input logic [1:0][2:0] link_out_room_i,

    input logic host_req_valid_i,
    output logic host_req_ready_o,
    input logic host_req_write_i,
    input logic [23:0] host_req_addr_i,
    input logic [63:0] host_req_wdata_i,
    input logic [7:0] host_req_wstrb_i,
    output logic host_rsp_valid_o,
    input logic host_rsp_ready_i,
    output logic [63:0] host_rsp_rdata_o,
    output logic host_rsp_err_o,
    output logic irq_o,

    output logic [1:0] state_o,
    output logic [13:0] depth_o,
    output logic tell_valid_o,
    output logic [31:0] tell_data_o,
    output logic ret_valid_o,
    output logic [21:0] ret_pc_o,
    output logic [31:0] ret_insn_o
);
  // Taken in reset; so do the switch and the route.
  logic [9:0] pe_q;
  logic [6:0] here, place;
  logic unused_row;
  assign unused_row = ^place[6:3];
  always_ff @(posedge clk_i) if (rst_i) pe_q <= pe_i;

  logic [3:0] busy;
  logic run;
  logic su_valid, su_last, su_room, out_valid, out_last, out_room, pe_valid, pe_last, pe_room;
  logic [38:0] su_data, out_data, pe_data;
  logic mem_valid, mem_ready, mem_write;
  logic [21:0] mem_addr;
  logic [39:0] mem_wdata, mem_rdata;
  logic packet_valid, packet_ready;
  logic [77:0] packet;
  logic fault, fatal, thread, waits_send, spilled, bypassed, sent, started;
  logic [3:0] fault_cause;
  logic [21:0] fault_pc, frame;
  logic [16:0] fault_code;
  logic [15:0] held, unused_drained;
  logic [2:0] refused_valid;
  logic [2:0][3:0] refused_reason;
  logic [2:0][77:0] refused_packet;
  logic [7:0] counted;

  emx_switch #(
      .Packets(Packets)
  ) u_switch (
      .clk_i,
      .rst_i,
      .column_i(place[2:0]),
      .link_in_valid_i,
      .link_in_vc_i,
      .link_in_data_i,
      .link_in_last_i,
      .link_in_room_o,
      .link_out_valid_o,
      .link_out_vc_o,
      .link_out_data_o,
      .link_out_last_o,
      .link_out_room_i,
      .pe_in_valid_i(pe_valid),
      .pe_in_data_i(pe_data),
      .pe_in_last_i(pe_last),
      .pe_in_room_o(pe_room),
      .pe_out_valid_o(su_valid),
      .pe_out_data_o(su_data),
      .pe_out_last_o(su_last),
      .pe_out_room_i(su_room),
      .busy_o(busy[0]),
      .drained_o(unused_drained)
  );

  emx_route #(
      .RowBits(RowBits)
  ) u_route (
      .clk_i,
      .rst_i,
      .pe_i,
      .in_valid_i(out_valid),
      .in_data_i(out_data),
      .in_last_i(out_last),
      .in_room_o(out_room),
      .out_valid_o(pe_valid),
      .out_data_o(pe_data),
      .out_last_o(pe_last),
      .out_room_i(pe_room),
      .here_o(here),
      .place_o(place),
      .nowhere_o(refused_valid[2]),
      .nowhere_packet_o(refused_packet[2]),
      .busy_o(busy[1])
  );
  assign refused_reason[2] = 4'(emx_pkg::ReasonNowhere);

  emx_core #(
      .AddrW(AddrW),
      .SpillBits(SpillBits),
      .Levels(Levels),
      .HalfPackets(HalfPackets),
      .SpillTurns(SpillTurns),
      .HostWait(HostWait),
      .OutputPackets(OutputPackets),
      .WriteBypass(WriteBypass),
      .ReadBypass(ReadBypass),
      .InputFirst(InputFirst),
      .CodePort(CodePort),
      .FastSend(FastSend)
  ) u_core (
      .clk_i,
      .rst_i,
      .busy_o(busy[2]),
      .run_i(run),
      .pe_i(pe_q),
      .time_i,
      .su_valid_i(su_valid),
      .su_data_i(su_data),
      .su_last_i(su_last),
      .su_room_o(su_room),
      .out_valid_o(out_valid),
      .out_data_o(out_data),
      .out_last_o(out_last),
      .out_room_i(out_room),
      .host_valid_i(packet_valid),
      .host_ready_o(packet_ready),
      .host_packet_i(packet),
      .host_mem_valid_i(mem_valid),
      .host_mem_ready_o(mem_ready),
      .host_mem_write_i(mem_write),
      .host_mem_addr_i(mem_addr),
      .host_mem_wdata_i(mem_wdata),
      .host_mem_rdata_o(mem_rdata),
      .tell_valid_o,
      .tell_data_o,
      .fault_o(fault),
      .fault_cause_o(fault_cause),
      .fault_pc_o(fault_pc),
      .fault_code_o(fault_code),
      .frame_o(frame),
      .thread_o(thread),
      .waits_send_o(waits_send),
      .ret_valid_o,
      .ret_pc_o,
      .ret_insn_o,
      .refused_valid_o(refused_valid[1:0]),
      .refused_reason_o(refused_reason[1:0]),
      .refused_packet_o(refused_packet[1:0]),
      .depth_o,
      .held_o(held),
      .sent_o(sent),
      .started_o(started),
      .spilled_o(spilled),
      .bypassed_o(bypassed),
      .fatal_o(fatal)
  );

  always_comb begin
    counted = '0;
    counted[emx_pkg::CountSent] = sent;
    counted[emx_pkg::CountReceived] = su_valid && su_last;
    counted[emx_pkg::CountStarted] = started;
    counted[emx_pkg::CountBypassed] = bypassed;
    counted[emx_pkg::CountSpilled] = spilled;
    counted[emx_pkg::CountBusy] = thread;
    counted[emx_pkg::CountSendWait] = waits_send;
    counted[emx_pkg::CountStalled] = !su_room && !fatal;
  end

  emx_regs #(
      .AddrW(AddrW)
  ) u_regs (
      .clk_i,
      .rst_i,
      .busy_o(busy[3]),
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
      .irq_o,
      .pe_i(pe_q),
      .column_i(here[2:0]),
      .row_i(here[6:3]),
      .run_o(run),
      .mem_valid_o(mem_valid),
      .mem_ready_i(mem_ready),
      .mem_write_o(mem_write),
      .mem_addr_o(mem_addr),
      .mem_wdata_o(mem_wdata),
      .mem_rdata_i(mem_rdata),
      .packet_valid_o(packet_valid),
      .packet_ready_i(packet_ready),
      .packet_o(packet),
      .tell_valid_i(tell_valid_o),
      .tell_data_i(tell_data_o),
      .fault_i(fault),
      .fault_cause_i(fault_cause),
      .fault_pc_i(fault_pc),
      .fault_code_i(fault_code),
      .fatal_i(fatal),
      .frame_i(frame),
      .depth_i(depth_o),
      .held_i(held),
      .count_i(counted),
      .refused_valid_i(refused_valid),
      .refused_reason_i(refused_reason),
      .refused_packet_i(refused_packet)
  );

  always_ff @(posedge clk_i) begin
    if (rst_i) state_o <= 2'd0;
    else state_o <= fault ? 2'd3 : waits_send ? 2'd2 : {1'b0, thread};
  end
  assign busy_o = busy != '0 || state_o != (fault ? 2'd3 : {1'b0, thread});
endmodule
