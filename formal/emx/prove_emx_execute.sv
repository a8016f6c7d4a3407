// SPDX-License-Identifier: MIT OR Apache-2.0
// `emx_execute` executes only where code may stand, one thread at a time, and nothing behind a fault.
//
// - An instruction that retires stands where threads may touch memory, and so does what it loads or stores.
// - A thread goes on at the next address but for jumps. It is over with an instruction that has END, or a fault: no
//   other thread begins before.
// - With `run_i` low no thread begins. The one under way goes on.
// - A fault has a cause. Behind it nothing is asked for, sent, retired or begun until reset, and its record stays.
// - SEND sends once, a load or store is one access, and both hold their offers. While a packet
//   waits to be sent, none is asked for with three instructions inside, nor behind a thread's last one.
//
// Nothing is assumed of the code.
module prove_emx_execute #(
    parameter int AddrW = 14,
    parameter int SpillBits = 4,
    parameter int Levels = 1,
    parameter bit FastSend = 1'b0
) (
    input logic clk_i,
    input logic rst_i,
    input logic run_i,
    input logic [9:0] pe_i,
    input logic [31:0] time_i,
    input logic [13:0] depth_i,
    input logic start_valid_i,
    input logic [21:0] start_pc_i,
    input logic [31:0] start_r1_i,
    input logic [31:0] start_r2_i,
    input logic [21:0] start_frame_i,
    input logic mem_ready_i,
    input logic [31:0] mem_rdata_i,
    input logic fetch_ready_i,
    input logic [31:0] fetch_data_i,
    input logic send_ready_i
);
  logic busy, start_ready, mem_valid, mem_write, fetch_valid, send_valid, tell_valid, fault, thread, waits_send;
  logic ret_valid;
  logic [21:0] mem_addr, fetch_addr, fault_pc, frame, ret_pc;
  logic [38:0] mem_wdata;
  logic [77:0] send_packet;
  logic [31:0] tell_data, ret_insn;
  logic [ 3:0] cause;
  logic [16:0] code;

  emx_execute #(
      .AddrW(AddrW),
      .SpillBits(SpillBits),
      .Levels(Levels),
      .FastSend(FastSend)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .run_i,
      .pe_i,
      .time_i,
      .depth_i,
      .start_valid_i,
      .start_ready_o(start_ready),
      .start_pc_i,
      .start_r1_i,
      .start_r2_i,
      .start_frame_i,
      .mem_valid_o(mem_valid),
      .mem_ready_i,
      .mem_write_o(mem_write),
      .mem_addr_o(mem_addr),
      .mem_wdata_o(mem_wdata),
      .mem_rdata_i,
      .fetch_valid_o(fetch_valid),
      .fetch_ready_i,
      .fetch_addr_o(fetch_addr),
      .fetch_data_i,
      .send_valid_o(send_valid),
      .send_ready_i,
      .send_packet_o(send_packet),
      .tell_valid_o(tell_valid),
      .tell_data_o(tell_data),
      .fault_o(fault),
      .fault_cause_o(cause),
      .fault_pc_o(fault_pc),
      .fault_code_o(code),
      .frame_o(frame),
      .thread_o(thread),
      .waits_send_o(waits_send),
      .ret_valid_o(ret_valid),
      .ret_pc_o(ret_pc),
      .ret_insn_o(ret_insn)
  );
  power_up u_power_up (.*);

  // Where packets and threads may touch memory.
  localparam int Base = 1 << (AddrW - 3);
  localparam int End = Base + (Levels << (SpillBits + 1));
  function automatic logic allowed(input logic [21:0] addr);
    allowed = int'(addr) < (1 << AddrW) && (int'(addr) < Base || int'(addr) >= End);
  endfunction

  logic start, reset_q, thread_q, fault_q, start_q, known, known_q;
  logic [21:0] expected, expected_q;
  logic [21:0] frame_q;
  logic [ 3:0] cause_q;
  logic [21:0] fault_pc_q;
  logic [16:0] code_q;
  logic [ 5:0] op;
  logic jumps, sends, moves;
  int held, loaded;  // instructions
  assign held = int'(dut.have_q[0]) + int'(dut.have_q[1]) + int'(dut.have_q[2]);
  assign loaded = held + int'(dut.flight_q);
  assign start = start_valid_i && start_ready;
  assign op = ret_insn[31:26];
  assign jumps = int'(op) >= emx_pkg::OpBeq && int'(op) <= emx_pkg::OpJalr;
  assign sends = int'(op) == emx_pkg::OpSend;
  assign moves = int'(op) == emx_pkg::OpLd || int'(op) == emx_pkg::OpSt;

  // What stood on the ports in the last cycle, and was not taken.
  logic waited_q, sent_q, asked_q;
  logic [77:0] packet_q;
  logic [21:0] start_pc_q, addr_q;
  logic [38:0] wdata_q;
  always_ff @(posedge clk_i) begin
    reset_q <= rst_i;
    thread_q <= thread && !rst_i;
    fault_q <= fault && !rst_i;
    start_q <= start && !rst_i;
    cause_q <= cause;
    fault_pc_q <= fault_pc;
    code_q <= code;
    frame_q <= start ? start_frame_i : frame;
    if (start) start_pc_q <= start_pc_i;
    waited_q <= send_valid && !send_ready_i && !rst_i;
    sent_q <= send_valid && send_ready_i && !rst_i;
    asked_q <= mem_valid && !mem_ready_i && !rst_i;
    packet_q <= send_packet;
    addr_q <= mem_addr;
    wdata_q <= mem_wdata;
    {known_q, expected_q} <= {known, expected};
  end
  // The address of what executes, unless the last one jumps.
  assign {known, expected} = start_q ? {1'b1, start_pc_q} :
                             ret_valid ? {!jumps, ret_pc + 22'd1} : {known_q, expected_q};

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      executes_where_it_may : assert (!ret_valid || allowed(ret_pc));
      touches_where_it_may : assert (!mem_valid || allowed(mem_addr));
      all_of_the_address : assert (!(dut.done && ((dut.load || dut.store) && dut.addr[31:22] != '0 || dut.far_q)));
      none_begins_in_a_thread : assert (!(start_q && thread_q) || (ret_valid && ret_insn[25]));
      ends_with_end_or_fault : assert (reset_q || !thread_q || thread || fault || (ret_valid && ret_insn[25]));
      goes_on_while_it_runs : assert (!(thread_q && thread && !start_q && ret_valid) || !ret_insn[25] || jumps);
      begins_only_if_it_may : assert (!start_ready || run_i);
      runs_from_a_start : assert (reset_q || !thread || thread_q || start_q);
      one_that_runs_retires : assert (!ret_valid || (thread_q && !fault));
      fault_has_a_cause : assert (fault == (cause != '0));
      fault_of_a_thread : assert (!fault || fault_q || thread_q);
      nothing_behind_a_fault :
      assert (!fault || !(mem_valid || fetch_valid || send_valid || ret_valid || start_ready || thread));
      fault_stays : assert (reset_q || !fault_q || (fault && {cause, fault_pc, code} == {cause_q, fault_pc_q, code_q}));
      frame_of_the_thread : assert (reset_q || frame == frame_q);
      sends_with_send : assert (reset_q || sent_q == (ret_valid && sends));
      accesses_with_access : assert (reset_q || (mem_valid && !asked_q) == (ret_valid && moves));
      writes_with_store : assert (!(mem_valid && !asked_q) || mem_write == (int'(op) == emx_pkg::OpSt));
      send_holds : assert (!waited_q || (send_valid && send_packet == packet_q));
      access_holds : assert (!asked_q || (mem_valid && {mem_addr, mem_wdata} == {addr_q, wdata_q}));
      waits_quietly : assert (!(waited_q && (loaded == 3 || dut.is_last) && fetch_valid));
      in_sequence : assert (!ret_valid || !known_q || ret_pc == expected_q);
      busy_tells : assert (busy || !(thread || ret_valid || tell_valid || mem_valid || send_valid));
      // Invariants for induction.
      runs : assert (thread == dut.running_q && fault == dut.halted_q);
      in_order : assert (dut.have_q == 3'b000 || dut.have_q == 3'b001 || dut.have_q == 3'b011 || dut.have_q == 3'b111);
      three_at_most : assert (loaded <= 3);
      of_a_thread : assert (thread || loaded == 0);
      comes_behind : assert (!dut.flight_q || !dut.have_q[0] || dut.fetched_q == dut.pc_q + 22'(held));
      next_behind :
      assert (loaded == 0 || dut.is_last ||
              dut.next_q == (dut.flight_q ? dut.fetched_q + 22'd1 : dut.pc_q + 22'(held)));
      pc_known :
      assert (!thread || !known || expected == (dut.have_q[0] ? dut.pc_q : dut.flight_q ? dut.fetched_q : dut.next_q));
      waited_known : assert (waited_q == dut.waited_q);
      no_load : assert (!waited_q || !(dut.loads_q || mem_valid || dut.sent_q));
      // The claims are not vacuous.
      a_fault : cover (fault && int'(cause) == emx_pkg::FaultCauseAddress);
      runs_off : cover (fault && int'(cause) == emx_pkg::FaultCauseFetch && ret_valid == '0 && thread_q);
      back_to_back : cover (start_q && thread_q && ret_valid);
      waits_and_goes : cover (waited_q && send_valid && send_ready_i && dut.is_last && start_valid_i);
      stopped : cover (thread && !run_i && start_valid_i);
    end
  end
endmodule
