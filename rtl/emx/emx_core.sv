// SPDX-License-Identifier: MIT OR Apache-2.0
// EM-4/EM-X PE without its switch and its registers: input buffer, matching, execution, output buffer and memory.
//
// Network    `su_*` from the switch, `out_*` to `emx_route`; both by the rule of room: a packet begins in a cycle in
//            which room is high, and its word 1 follows directly.
// Host       packets (`host_*`), and the memory (`host_mem_*`): a request is taken where ready is high, and what was
//            read is there in the next cycle, with the presence bit above.
// Parameters those of the parts; seven of them make an EMC-Y of an EMC-R.
// Latency    with an empty PE and a free port the first instruction executes 4 cycles after word 1 is visible, with
//            matching, too. A packet of the host has no early word: 4 cycles if special, THREAD 6, with matching 7.
// Full       packets go to memory; FATAL when that is full. See `emx_input`.
// Paths      from the switch's word 1, `out_room_i` and the host's request to the outputs: `emx_route` has the
//            register.
// Reset      drops all but the memory.
// busy_o     low when nothing is inside and no thread runs.
// Source     paper, 2.1 and 2.2.
module emx_core #(
    parameter int AddrW = 16,
    parameter int SpillBits = 12,
    parameter int Levels = 1,
    parameter int HalfPackets = 4,
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
    input logic run_i,
    input logic [9:0] pe_i,
    input logic [31:0] time_i,
    input logic su_valid_i,
    input logic [38:0] su_data_i,
    input logic su_last_i,
    output logic su_room_o,
    output logic out_valid_o,
    output logic [38:0] out_data_o,
    output logic out_last_o,
    input logic out_room_i,
    input logic host_valid_i,
    output logic host_ready_o,
    input logic [77:0] host_packet_i,
    input logic host_mem_valid_i,
    output logic host_mem_ready_o,
    input logic host_mem_write_i,
    input logic [21:0] host_mem_addr_i,
    input logic [39:0] host_mem_wdata_i,
    output logic [39:0] host_mem_rdata_o,
    output logic tell_valid_o,
    output logic [31:0] tell_data_o,
    output logic fault_o,
    output logic [3:0] fault_cause_o,
    output logic [21:0] fault_pc_o,
    output logic [16:0] fault_code_o,
    output logic [21:0] frame_o,
    output logic thread_o,
    output logic waits_send_o,
    output logic ret_valid_o,
    output logic [21:0] ret_pc_o,
    output logic [31:0] ret_insn_o,
    output logic [1:0] refused_valid_o,  // of the input buffer, and of the matching unit
    output logic [1:0][3:0] refused_reason_o,
    output logic [1:0][77:0] refused_packet_o,
    output logic [13:0] depth_o,
    output logic [15:0] held_o,
    output logic sent_o,  // of threads
    output logic started_o,
    output logic spilled_o,
    output logic bypassed_o,
    output logic fatal_o
);

  logic [4:0] busy, req_valid, req_ready, req_write;
  logic [4:0][21:0] req_addr;
  logic [4:0][38:0] req_wdata;
  logic [38:0] rdata;
  logic [31:0] fetch_data, system_link;
  logic urgent, pres, pres_write, pres_value;
  logic [21:0] pres_addr;

  logic next_valid, next_ready, early_valid;
  logic [38:0] early_word;
  logic [77:0] next_packet;
  logic [1:0] send_valid, send_ready;
  logic [1:0][77:0] send_packet;
  emx_input #(
      .AddrW(AddrW),
      .SpillBits(SpillBits),
      .Levels(Levels),
      .HalfPackets(HalfPackets),
      .SpillTurns(SpillTurns),
      .WriteBypass(WriteBypass),
      .ReadBypass(ReadBypass)
  ) u_input (
      .clk_i,
      .rst_i,
      .busy_o(busy[0]),
      .su_valid_i,
      .su_data_i,
      .su_last_i,
      .su_room_o,
      .host_valid_i,
      .host_ready_o,
      .host_packet_i,
      .next_valid_o(next_valid),
      .next_ready_i(next_ready),
      .next_packet_o(next_packet),
      .mem_valid_o(req_valid[3]),
      .mem_ready_i(req_ready[3]),
      .mem_write_o(req_write[3]),
      .mem_addr_o(req_addr[3]),
      .mem_wdata_o(req_wdata[3]),
      .mem_rdata_i(rdata),
      .early_valid_o(early_valid),
      .early_word_o(early_word),
      .urgent_o(urgent),
      .reply_valid_o(send_valid[1]),
      .reply_ready_i(send_ready[1]),
      .reply_packet_o(send_packet[1]),
      .refused_valid_o(refused_valid_o[0]),
      .refused_reason_o(refused_reason_o[0]),
      .refused_packet_o(refused_packet_o[0]),
      .depth_o,
      .spilled_o,
      .bypassed_o,
      .fatal_o
  );

  logic start_valid, start_ready;
  logic [21:0] start_pc, start_frame;
  logic [31:0] start_r1, start_r2;
  emx_matching u_matching (
      .clk_i,
      .rst_i,
      .busy_o(busy[1]),
      .next_valid_i(next_valid),
      .next_ready_o(next_ready),
      .next_packet_i(next_packet),
      .early_valid_i(early_valid),
      .early_word_i(early_word),
      .system_link_i(system_link),
      .thread_i(thread_o || req_valid[0]),
      .start_valid_o(start_valid),
      .start_ready_i(start_ready),
      .start_pc_o(start_pc),
      .start_r1_o(start_r1),
      .start_r2_o(start_r2),
      .start_frame_o(start_frame),
      .mem_valid_o(req_valid[2]),
      .mem_ready_i(req_ready[2]),
      .mem_write_o(req_write[2]),
      .mem_addr_o(req_addr[2]),
      .mem_wdata_o(req_wdata[2]),
      .mem_rdata_i(rdata),
      .pres_addr_o(pres_addr),
      .pres_i(pres),
      .pres_write_o(pres_write),
      .pres_value_o(pres_value),
      .refused_valid_o(refused_valid_o[1]),
      .refused_reason_o(refused_reason_o[1]),
      .refused_packet_o(refused_packet_o[1]),
      .held_o
  );

  emx_execute #(
      .AddrW(AddrW),
      .SpillBits(SpillBits),
      .Levels(Levels),
      .FastSend(FastSend)
  ) u_execute (
      .clk_i,
      .rst_i,
      .busy_o(busy[2]),
      .run_i,
      .pe_i,
      .time_i,
      .depth_i(depth_o),
      .start_valid_i(start_valid),
      .start_ready_o(start_ready),
      .start_pc_i(start_pc),
      .start_r1_i(start_r1),
      .start_r2_i(start_r2),
      .start_frame_i(start_frame),
      .mem_valid_o(req_valid[0]),
      .mem_ready_i(req_ready[0]),
      .mem_write_o(req_write[0]),
      .mem_addr_o(req_addr[0]),
      .mem_wdata_o(req_wdata[0]),
      .mem_rdata_i(rdata[31:0]),
      .fetch_valid_o(req_valid[1]),
      .fetch_ready_i(req_ready[1]),
      .fetch_addr_o(req_addr[1]),
      .fetch_data_i(fetch_data),
      .send_valid_o(send_valid[0]),
      .send_ready_i(send_ready[0]),
      .send_packet_o(send_packet[0]),
      .tell_valid_o,
      .tell_data_o,
      .fault_o,
      .fault_cause_o,
      .fault_pc_o,
      .fault_code_o,
      .frame_o,
      .thread_o,
      .waits_send_o,
      .ret_valid_o,
      .ret_pc_o,
      .ret_insn_o
  );
  assign req_write[1] = 1'b0;
  assign req_wdata[1] = '0;

  emx_output #(
      .OutputPackets(OutputPackets),
      .ReadBypass(ReadBypass)
  ) u_output (
      .clk_i,
      .rst_i,
      .busy_o(busy[3]),
      .in_valid_i(send_valid),
      .in_ready_o(send_ready),
      .in_packet_i(send_packet),
      .out_valid_o,
      .out_data_o,
      .out_last_o,
      .out_room_i
  );

  assign req_valid[4] = host_mem_valid_i;
  assign req_write[4] = host_mem_write_i;
  assign req_addr[4] = host_mem_addr_i;
  assign req_wdata[4] = host_mem_wdata_i[38:0];
  assign host_mem_ready_o = req_ready[4];
  assign host_mem_rdata_o = {pres, rdata};
  emx_memory #(
      .AddrW(AddrW),
      .InputFirst(InputFirst),
      .CodePort(CodePort),
      .HostWait(HostWait)
  ) u_memory (
      .clk_i,
      .rst_i,
      .busy_o(busy[4]),
      .req_valid_i(req_valid),
      .req_ready_o(req_ready),
      .req_write_i(req_write),
      .req_addr_i(req_addr),
      .req_wdata_i(req_wdata),
      .urgent_i(urgent),
      .rdata_o(rdata),
      .fetch_data_o(fetch_data),
      .pres_addr_i(pres_addr),
      .pres_write_i(pres_write),
      .pres_value_i(pres_value),
      .pres_o(pres),
      .host_present_i(host_mem_wdata_i[39]),
      .link_o(system_link)
  );
  assign sent_o = send_valid[0] && send_ready[0];
  assign started_o = start_valid && start_ready;
  assign busy_o = busy != '0;
endmodule
