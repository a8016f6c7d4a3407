// SPDX-License-Identifier: MIT OR Apache-2.0
// `r3000` retires instructions in program order, with one delay slot behind each branch, and its exceptions are
// precise.
//
// - The first instruction is at 0. The next one is 4 further, or at the target of the last but one, if that is a branch
//   that is taken. Behind a trap comes the one at 0x80.
// - A trap sets EPC to its instruction's address and clears BD; in a delay slot it sets EPC to the branch's and BD.
// - A branch in the delay slot of another one has its own slot at the first one's target.
// - Nothing retires twice, and nothing that a trap has overtaken retires at all.
// - It waits only in `1: b 1b; nop`, executed once. While `busy_o` is low, and nobody calls, nothing changes.
// - An access of the bus holds until it is answered.
//
// The target, and whether a branch is taken, are the ALU's word. Programs, data, the bus's answers and interrupts are
// any.
module prove_r3000_order (
    input logic clk_i,
    input logic rst_i,
    input logic run_i,
    input logic irq_i,
    input logic load_valid_i,
    input logic load_write_i,
    input logic [5:0] load_addr_i,
    input logic [31:0] load_data_i,
    input logic bus_done_i,
    input logic [31:0] bus_rdata_i,
    input logic bus_error_i
);
  logic
      busy, waiting, load_ready, load_rvalid, load_error, bus_valid, bus_write, store_error, retire_valid, retire_trap;
  logic [31:0] load_rdata, bus_wdata, retire_pc;
  logic [30:2] bus_addr;
  logic [ 3:0] bus_be;

  r3000 #(
      .SramWords(64)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .run_i,
      .waiting_o(waiting),
      .irq_i,
      .load_valid_i,
      .load_ready_o(load_ready),
      .load_write_i,
      .load_addr_i,
      .load_data_i,
      .load_rvalid_o(load_rvalid),
      .load_error_o(load_error),
      .load_rdata_o(load_rdata),
      .bus_valid_o(bus_valid),
      .bus_write_o(bus_write),
      .bus_addr_o(bus_addr),
      .bus_wdata_o(bus_wdata),
      .bus_be_o(bus_be),
      .bus_done_i,
      .bus_rdata_i,
      .bus_error_i,
      .store_error_o(store_error),
      .retire_valid_o(retire_valid),
      .retire_pc_o(retire_pc),
      .retire_trap_o(retire_trap)
  );

  power_up u_power_up (.*);
  stream_rules #(
      .W(66)
  ) u_bus (
      .clk_i,
      .rst_i,
      .valid_i(bus_valid),
      .ready_i(bus_done_i),
      .data_i ({bus_write, bus_addr, bus_wdata, bus_be})
  );

  // Where the program is: the address of the next instruction, whether it is in a delay slot, and where the one behind
  // it is if that is not 4 further.
  typedef struct packed {
    logic [31:0] pc;
    logic in_slot;
    logic jumps;
    logic [31:0] target;
  } place_t;
  localparam place_t Start = '0;

  function automatic place_t after(input place_t at, input logic branches, input logic taken,
                                   input logic [31:0] target);
    after.pc = at.jumps ? at.target : at.pc + 32'd4;
    after.in_slot = branches;
    after.jumps = branches && taken;
    after.target = target;
  endfunction

  // Of the instruction in the memory stage.
  logic branches_q, taken_q;
  logic [31:0] target_q;
  place_t at_q, behind_m, behind_e;  // before it; behind it; behind the one in the execute stage
  logic ends, execute_valid;
  assign ends = dut.m_valid_q && !dut.m_wait_q;
  assign execute_valid = dut.e_valid_q && !dut.m_trap;
  always_comb begin
    behind_m = at_q;
    if (dut.m_trap) behind_m = {32'h80, 34'b0};
    else if (dut.m_valid_q) behind_m = after(at_q, branches_q, taken_q, target_q);
    behind_e = behind_m;
    if (execute_valid) behind_e = after(behind_m, dut.e_q.alu.branch != r3000_pkg::BranchNone, dut.taken, dut.e_target);
  end

  logic [31:0] ended_pc_q, epc_q;
  logic ended_q, trapped_q, slot_q, known_q;  // known: there was a trap since the start
  always_ff @(posedge clk_i) begin
    if (!dut.m_wait_q) begin
      {branches_q, taken_q} <= {dut.e_q.alu.branch != r3000_pkg::BranchNone, dut.taken};
      target_q <= dut.e_target;
    end
    if (ends) at_q <= behind_m;
    ended_q <= ends;
    ended_pc_q <= at_q.pc;
    trapped_q <= dut.m_trap;
    if (dut.m_trap) begin
      {epc_q, slot_q} <= {at_q.in_slot ? at_q.pc - 32'd4 : at_q.pc, at_q.in_slot};
      known_q <= 1'b1;
    end
    if (rst_i || !run_i) begin
      at_q <= Start;
      ended_q <= 1'b0;
      known_q <= 1'b0;
    end
  end

  // The last two instructions that left the execute stage, the youngest first.
  typedef struct packed {
    logic [31:0] pc;
    logic is_self;
    logic is_nop;
  } left_t;
  left_t last_q, before_q;
  always_ff @(posedge clk_i)
    if (dut.leaves)
      {before_q, last_q} <= {last_q, dut.e_pc_q, dut.e_q.is_self, dut.e_q.is_nop};
  localparam int Branched = 1;
  localparam int Closed = 2;
  int loop;
  assign loop = int'(dut.loop_q);

  // Nobody called in the cycle before, in which it rested, and what it looked like then.
  logic quiet_q;
  logic [293:0] state, state_q;
  assign state = {
    dut.run_q,
    {dut.d_pc_q, dut.d_valid_q, dut.e_valid_q, dut.loop_q, dut.m_valid_q, dut.m_wait_q, dut.bus_valid_q},
    {
      dut.load_q,
      dut.load_rvalid_q,
      dut.retire_valid_q,
      dut.store_error_q,
      dut.a_q,
      dut.b_q,
      dut.e_valid_q && dut.e_slot_q
    },
    {dut.u_hi_lo.hi_q, dut.u_hi_lo.lo_q, dut.u_hi_lo.busy_q},
    {dut.u_system.modes_q, dut.u_system.mask_q, dut.u_system.software_q, dut.u_system.epc_q, dut.u_system.slot_q},
    {dut.u_system.bad_q, dut.u_system.exception_q, dut.u_system.coprocessor_q, dut.u_system.line_q},
    dut.e_valid_q ? dut.e_pc_q : 32'b0
  };
  always_ff @(posedge clk_i) begin
    quiet_q <= !busy && !rst_i && run_i == dut.run_q && !irq_i && !load_valid_i;
    state_q <= state;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      waits_in_the_loop :
      assert (!waiting || (before_q.is_self && last_q.is_nop && before_q.pc == dut.e_pc_q &&
                           last_q.pc == dut.e_pc_q + 32'd4 && dut.enabled));
      nothing_changes :
      assert (!quiet_q || (state == state_q && !busy && !(dut.u_sram.b_enable_i && dut.u_sram.b_write_i)));
      in_program_order : assert (retire_valid == ended_q && (!retire_valid || retire_pc == ended_pc_q));
      traps_told : assert (!retire_valid || retire_trap == trapped_q);
      epc_of_the_branch : assert (!known_q || (dut.u_system.epc_q == epc_q && dut.u_system.slot_q == slot_q));
      none_beside_a_trap :
      assert (!dut.m_trap || !(dut.bus_start || dut.u_hi_lo.start_i || dut.u_system.write_i ||
                                                    (dut.reaches && dut.e_q.store)));
      stopped : assert (dut.run_q || !(dut.m_valid_q || dut.e_valid_q || dut.d_valid_q || ended_q));
      // Invariants for induction.
      memory_place : assert (!dut.m_valid_q || (dut.m_pc_q == at_q.pc && dut.m_slot_q == at_q.in_slot));
      execute_place : assert (!execute_valid || (dut.e_pc_q == behind_m.pc && dut.e_slot_q == behind_m.in_slot));
      decode_place : assert (!dut.d_valid_q || dut.m_trap || dut.d_pc_q == behind_e.pc);
      slot_known : assert (!dut.d_valid_q || dut.m_trap || execute_valid || !behind_m.in_slot);
      no_jump_there : assert (!dut.d_valid_q || dut.m_trap || execute_valid || !behind_m.jumps);
      begins : assert (dut.d_valid_q || (dut.d_pc_q == -32'd4 && !dut.e_valid_q && at_q == Start));
      packed_stages : assert (dut.e_valid_q || !dut.m_valid_q);
      loop_branches :
      assert (!(dut.e_valid_q && dut.e_q.is_self) ||
              (dut.a_q == dut.b_q && dut.target_q == dut.e_pc_q && dut.e_q.alu.branch == r3000_pkg::BranchEqual &&
               !dut.e_q.by_register && !dut.e_q.traps && dut.e_q.reserved == '0 && !dut.e_q.system && !dut.e_q.load &&
               !dut.e_q.store && !dut.e_q.start && !dut.e_q.to_hi && !dut.e_q.to_lo &&
               !dut.e_q.to_system && !dut.e_q.return_mode));
      nops_do_not : assert (!(dut.e_valid_q && dut.e_q.is_nop) || dut.e_q.alu.branch == r3000_pkg::BranchNone);
      outside_known : assert (!dut.e_valid_q || dut.e_outside_q == (dut.e_pc_q[31:8] != '0));
      loop_begun :
      assert (!(loop == Branched && !dut.m_trap) ||
              (last_q.is_self && behind_m == {last_q.pc + 32'd4, 2'b11, last_q.pc} && last_q.pc[31:8] == '0 &&
               last_q.pc[1:0] == '0));
      loop_closed :
      assert (!(loop == Closed && !dut.m_trap) ||
              (before_q.is_self && last_q.is_nop && last_q.pc == before_q.pc + 32'd4 && behind_m.pc == before_q.pc &&
               !behind_m.jumps && before_q.pc[31:8] == '0 && before_q.pc[1:0] == '0));
      rests_stopped :
      assert (dut.run_q ||
              ({dut.a_q, dut.b_q, dut.loop_q, dut.u_hi_lo.hi_q, dut.u_hi_lo.lo_q, dut.u_hi_lo.busy_q} == '0 &&
               {dut.u_system.modes_q, dut.u_system.mask_q, dut.u_system.software_q, dut.u_system.epc_q,
                             dut.u_system.slot_q, dut.u_system.bad_q, dut.u_system.exception_q,
                             dut.u_system.coprocessor_q, dut.u_system.line_q} == '0));
      jumps_behind_a_slot : assert (!at_q.jumps || at_q.in_slot);
      signs_while_busy : assert (!dut.u_hi_lo.signs_q || dut.u_hi_lo.busy_q);
      memory_alone : assert (!(dut.e_valid_q && (dut.e_q.load || dut.e_q.store) && (dut.e_q.hi_lo || dut.e_q.is_self)));
      held : assert (!dut.m_wait_q || dut.m_valid_q);
      waits_run : assert (dut.run_q || !dut.m_wait_q);
      // The claims are not vacuous.
      trap_in_slot : cover (known_q && slot_q && retire_valid && retire_pc == 32'h80);
      waits : cover (waiting);
      slot_of_slot : cover (ends && at_q.in_slot && at_q.jumps && branches_q && taken_q);
    end
  end
endmodule
