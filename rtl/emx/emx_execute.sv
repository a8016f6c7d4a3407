// SPDX-License-Identifier: MIT OR Apache-2.0
// Execution unit of EM-4/EM-X (EXU): runs a thread from its start to the instruction that ends it, without
// interruption.
//
// Stages     fetch, arrival, execution: what is asked for in a cycle is there in the next one, and executes behind it,
//            or waits in order. Three instructions are inside at most. An instruction executes in one cycle, to its
//            end but for what LD and ST put into registers for the data port.
// Start      taken where no thread runs or one ends, with its first fetch. It loads r1, r2 and fp (r15). The other
//            registers keep what the thread before left. `run_i` low: no thread begins. Its first instruction executes
//            2 cycles later.
// Cycles     1. LD 2, and 3 where A, B or C of the next instruction names its register, or it is SEND. ST 1, but the
//            port that it takes. SEND 2, or 1 with FastSend. A jump that is taken 3; but JAL, and a branch to a lower
//            address, 2, as their target is fetched while they execute. Where such a branch is not taken, nothing is
//            fetched, nor beside what ends a thread. A branch that ends a thread, and a last SEND that waited: a cycle
//            more to the next one.
// Fetch      a running thread asks in each cycle, as the paper's EM-4 keeps its memory, whether it has place or not;
//            but where a thread ends, and where SEND has waited and no place is left, or it is the thread's last.
// Data port  asked from the cycle behind LD or ST until `mem_ready_i`; meanwhile nothing else executes. What was read
//            is there in the next cycle. A store has tag 0.
// Sending    SEND waits for `send_ready_i`, while its offer holds.
// Faults     no instruction, one or a load or store outside what threads may touch, TRAP: the instruction changes
//            nothing, and no instruction follows until reset. `fault_o` is a level. What was under way is done.
// Paths      requests of memory come from flip-flops: an instruction's address by one adder, `fetch_valid_o` by two
//            LUTs. From `mem_ready_i` to SEND's offer. Else from the readies to `start_ready_o` and flip-flops only.
// Misuse     code that a thread writes: the three instructions behind the store may be the old ones.
// Reset      ends the thread, and drops what it offers; registers 3 to 14 keep what they hold.
// busy_o     a thread runs, an access waits, data come, or a pulse is out. SEND that waits is busy, too.
// Source     paper, 2.1 and 2.2: threads that are not interrupted, and an instruction that sends a packet. Instruction
//            set and stages are ours (public: EMC-Y makes a packet in a cycle, EMC-R in two).
module emx_execute #(
    parameter int AddrW = 16,  // words of memory, as a power of two
    parameter int SpillBits = 12,  // packets of a level that memory holds, as a power of two
    parameter int Levels = 1,  // priorities of packets
    parameter bit FastSend = 1'b0  // SEND takes one cycle
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic run_i,
    input logic [9:0] pe_i,
    input logic [31:0] time_i,
    input logic [13:0] depth_i,
    input logic start_valid_i,
    output logic start_ready_o,
    input logic [21:0] start_pc_i,
    input logic [31:0] start_r1_i,
    input logic [31:0] start_r2_i,
    input logic [21:0] start_frame_i,
    output logic mem_valid_o,
    input logic mem_ready_i,
    output logic mem_write_o,
    output logic [21:0] mem_addr_o,
    output logic [38:0] mem_wdata_o,
    input logic [31:0] mem_rdata_i,
    output logic fetch_valid_o,
    input logic fetch_ready_i,
    output logic [21:0] fetch_addr_o,
    input logic [31:0] fetch_data_i,
    output logic send_valid_o,
    input logic send_ready_i,
    output logic [77:0] send_packet_o,
    output logic tell_valid_o,
    output logic [31:0] tell_data_o,
    output logic fault_o,
    output logic [3:0] fault_cause_o,
    output logic [21:0] fault_pc_o,
    output logic [16:0] fault_code_o,
    output logic [21:0] frame_o,
    output logic thread_o,
    output logic waits_send_o,  // SEND waits in this cycle
    output logic ret_valid_o,  // an instruction was done in the last cycle
    output logic [21:0] ret_pc_o,
    output logic [31:0] ret_insn_o
);
  localparam bit [3:0] Fp = 4'd15;

  // ---- the instructions inside
  logic running_q, halted_q;
  logic [2:0] have_q;  // the one at hand, and two behind it
  logic flight_q;  // one that was asked for in the last cycle
  logic [31:0] insn_q, second_insn_q, third_insn_q;
  logic [21:0] pc_q;  // of the one at hand
  logic far_q;  // it is of an address beyond 22 bits
  logic [21:0] fetched_q, next_q;  // what was asked for last, and what is next
  logic full;
  assign full = have_q[2] || (have_q[1] && flight_q);

  logic legal, is_alu, is_immediate, lui, load, store, branch, jal, jalr, send, tell, get, trap;
  emx_decode u_decode (
      .op_i(insn_q[31:26]),
      .legal_o(legal),
      .alu_o(is_alu),
      .immediate_o(is_immediate),
      .lui_o(lui),
      .load_o(load),
      .store_o(store),
      .branch_o(branch),
      .jal_o(jal),
      .jalr_o(jalr),
      .send_o(send),
      .tell_o(tell),
      .get_o(get),
      .trap_o(trap)
  );

  // ---- registers: what a start loads stands beside the bank until it is written
  logic [31:0] bank_q[16];
  logic [31:0] r1_q, r2_q;
  logic r1_new_q, r2_new_q, fp_new_q;
  // Five sources in two LUTs of four inputs: `nearer` is the bank, r1, 0 or 1; with `far` it chooses r2 or fp.
  function automatic logic [31:0] operand(input logic [3:0] index, input logic [31:0] from_bank, input logic [31:0] r1,
                                          input logic [31:0] r2, input logic [21:0] fp, input logic [2:0] is_new);
    logic far;
    logic [1:0] choice;
    logic [31:0] nearer;
    {far, choice} = 3'b000;
    if (index == 4'd0) {far, choice} = 3'b010;
    if (index == 4'd1 && is_new[0]) {far, choice} = 3'b001;
    if (index == 4'd2 && is_new[1]) {far, choice} = 3'b110;
    if (index == Fp && is_new[2]) {far, choice} = 3'b111;
    nearer  = choice[1] ? {32{choice[0]}} : choice[0] ? r1 : from_bank;
    operand = far ? (nearer & 32'(fp)) | (~nearer & r2) : nearer;
  endfunction
  logic [3:0] second_index;
  logic [31:0] b, second, immediate;  // second: C of an operation on registers, else A
  logic [2:0] is_new;
  assign is_new = {fp_new_q, r2_new_q, r1_new_q};
  assign second_index = (insn_q[31:30] == '0) ? insn_q[16:13] : insn_q[24:21];
  assign b = operand(insn_q[20:17], bank_q[insn_q[20:17]], r1_q, r2_q, frame_o, is_new);
  assign second = operand(second_index, bank_q[second_index], r1_q, r2_q, frame_o, is_new);
  assign immediate = {{15{insn_q[16]}}, insn_q[16:0]};

  // ---- results
  logic [31:0] computed, addr, result;
  logic [21:0] behind, target;
  logic taken, writes;
  emx_alu u_alu (
      .op_i(insn_q[29:26]),
      .computes_i(!insn_q[31]),
      .branch_i(branch),
      .immediate_i(is_immediate),
      .b_i(b),
      .second_i(second),
      .value_i(immediate),
      .sum_o(addr),
      .result_o(computed),
      .taken_o(taken)
  );
  assign behind = pc_q + 22'd1;
  assign target = pc_q + immediate[21:0];
  assign writes = is_alu || lui || load || jal || jalr || get;
  logic get_pe, get_time, get_depth;
  assign get_pe = get && insn_q[16:0] == 17'(emx_pkg::SpecialPe);
  assign get_time = get && insn_q[16:0] == 17'(emx_pkg::SpecialTime);
  assign get_depth = get && insn_q[16:0] == 17'(emx_pkg::SpecialDepth);
  assign result = (computed | ({32{get_time}} & time_i)) | ({32{jal || jalr}} & 32'(behind)) |
                  ({32{get_depth}} & 32'(depth_i)) | ({32{get_pe}} & 32'(pe_i)) | {{16{lui}} & insn_q[15:0], 16'b0};

  // ---- faults
  logic pc_public, addr_public, unsound, astray;
  logic [3:0] cause;
  emx_public #(
      .AddrW(AddrW),
      .SpillBits(SpillBits),
      .Levels(Levels)
  ) u_pc_public (
      .addr_i  ({9'b0, far_q, pc_q}),
      .public_o(pc_public)
  );
  emx_public #(
      .AddrW(AddrW),
      .SpillBits(SpillBits),
      .Levels(Levels)
  ) u_addr_public (
      .addr_i  (addr),
      .public_o(addr_public)
  );
  assign unsound = !pc_public || !legal || trap;
  assign astray  = (load || store) && !addr_public;
  always_comb begin
    cause = '0;
    if (trap) cause = 4'(emx_pkg::FaultCauseTrap);
    if (astray) cause = 4'(emx_pkg::FaultCauseAddress);
    if (!legal) cause = 4'(emx_pkg::FaultCauseCode);
    if (!pc_public) cause = 4'(emx_pkg::FaultCauseFetch);
  end

  // ---- what LD and ST leave for the data port
  logic access_q, store_q, loads_q;  // loads_q: the data are on the pins
  logic [3:0] asked_q, loaded_q;  // their registers
  logic blocked, names, holds;
  logic sent_q, waited_q;  // SEND's second cycle; it waited in the last cycle
  assign blocked = access_q && !mem_ready_i;
  assign names   = insn_q[24:21] == asked_q || insn_q[20:17] == asked_q || second_index == asked_q;
  assign holds   = loads_q || sent_q || blocked || (access_q && !store_q && (names || send));

  // ---- the cycle
  logic tries, executes, faults, done, leaves, jumps, ends, flush;
  assign tries = running_q && have_q[0] && !holds;
  assign send_valid_o = tries && send && pc_public;
  assign send_packet_o = {insn_q[6:0], second, insn_q[13:7], b};
  assign waits_send_o = send_valid_o && !send_ready_i;
  assign executes = tries && !waits_send_o;
  assign faults = executes && (unsound || astray);
  assign done = executes && !unsound && !astray;
  assign leaves = jal || jalr || (branch && taken);
  assign jumps = executes && !unsound && leaves;
  assign ends = done && insn_q[25] && !leaves;
  assign flush = executes && (unsound || astray || leaves || insn_q[25]);

  // ---- fetch: a start, the target of a jump that is probably taken, or the next one
  logic is_branch, is_last, may_end, leads, begins, start, asked, comes;
  logic [21:0] away;
  assign is_branch = insn_q[31:28] == 4'b1001;  // as below, by the bits alone: it is quick
  assign is_last = have_q[0] && insn_q[25] && !is_branch && insn_q[31:27] != 5'b10100;
  assign leads = (is_branch && insn_q[16]) || insn_q[31:26] == 6'(emx_pkg::OpJal);
  assign may_end = is_last && !waited_q;  // a last SEND that waits leaves the memory free
  assign begins = start_valid_i && run_i && !halted_q && (!running_q || may_end);
  assign fetch_valid_o = begins || (running_q && !is_last && !(full && waited_q));
  assign fetch_addr_o = begins ? start_pc_i : (have_q[0] && leads) ? target : next_q;
  assign start_ready_o = run_i && !halted_q && fetch_ready_i && (!running_q || (may_end && done));
  assign start = start_valid_i && start_ready_o;
  assign asked = fetch_valid_o && fetch_ready_i;
  assign comes = start || (asked && !begins && ((have_q[0] && leads) ? jumps : !full && !flush));
  assign away = jalr ? addr[21:0] : target;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      running_q <= 1'b0;
      halted_q <= 1'b0;
      have_q <= '0;
      flight_q <= 1'b0;
      access_q <= 1'b0;
      loads_q <= 1'b0;
      sent_q <= 1'b0;
      waited_q <= 1'b0;
      ret_valid_o <= 1'b0;
      tell_valid_o <= 1'b0;
      frame_o <= '0;
      fault_cause_o <= '0;
      fault_pc_o <= '0;
      fault_code_o <= '0;
    end else begin
      running_q <= start || (running_q && !ends && !faults);
      if (flush) have_q <= '0;
      else if (executes || !have_q[0]) have_q <= {1'b0, full, have_q[1] || flight_q};
      else have_q <= {full, have_q[1] || flight_q, 1'b1};
      flight_q <= comes;
      access_q <= blocked || (done && (load || store));
      loads_q <= access_q && !store_q && mem_ready_i;
      sent_q <= done && send && !FastSend;
      waited_q <= waits_send_o;
      ret_valid_o <= done;
      tell_valid_o <= done && tell;
      if (start) frame_o <= start_frame_i;
      if (faults) begin
        halted_q <= 1'b1;
        fault_cause_o <= cause;
        fault_pc_o <= pc_q;
        fault_code_o <= (cause == 4'(emx_pkg::FaultCauseTrap)) ? insn_q[16:0] : '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (executes || !have_q[0]) insn_q <= have_q[1] ? second_insn_q : fetch_data_i;
    if (executes || !have_q[1]) second_insn_q <= have_q[2] ? third_insn_q : fetch_data_i;
    if (!have_q[2]) third_insn_q <= fetch_data_i;
    if (!have_q[0]) pc_q <= fetched_q;
    else if (executes) pc_q <= behind;
    if (start) far_q <= 1'b0;
    else if (jumps) far_q <= jalr && addr[31:22] != '0;
    fetched_q <= fetch_addr_o;
    // Behind a fault or the end of a thread, it does not matter.
    if (jumps && !(leads && asked)) next_q <= away;
    else if (asked && (leads && have_q[0] ? jumps : begins || !full)) next_q <= fetch_addr_o + 22'd1;
  end

  always_ff @(posedge clk_i) begin
    ret_pc_o <= pc_q;
    ret_insn_o <= insn_q;
    tell_data_o <= second;
    loaded_q <= asked_q;
    if (!blocked) begin
      store_q <= store;
      asked_q <= insn_q[24:21];
      mem_addr_o <= addr[21:0];
      mem_wdata_o <= {7'b0, second};
    end
    if (loads_q || (executes && !unsound && writes && !load))
      bank_q[loads_q?loaded_q : insn_q[24:21]] <= loads_q ? mem_rdata_i : result;
    if (executes && !unsound && writes) begin
      if (insn_q[24:21] == 4'd1) r1_new_q <= 1'b0;
      if (insn_q[24:21] == 4'd2) r2_new_q <= 1'b0;
      if (insn_q[24:21] == Fp) fp_new_q <= 1'b0;
    end
    if (start) begin
      {r1_new_q, r2_new_q, fp_new_q} <= '1;
      r1_q <= start_r1_i;
      r2_q <= start_r2_i;
    end
  end

  assign mem_valid_o = access_q;
  assign mem_write_o = store_q;
  assign fault_o = halted_q;
  assign thread_o = running_q;
  assign busy_o = running_q || access_q || loads_q || ret_valid_o || tell_valid_o;

`ifdef TSUNAGI_ASSERT
  logic blocked_q;
  logic [77:0] packet_q;
  always_ff @(posedge clk_i) begin
    blocked_q <= !rst_i && blocked;
    packet_q  <= send_packet_o;
    if (!rst_i) begin
      assert (!waited_q || (send_valid_o && send_packet_o == packet_q));
      assert (!blocked_q || mem_valid_o);
      assert (!(halted_q && running_q));
      assert (!(full && flight_q && have_q[2]));
    end
  end
`endif
endmodule
