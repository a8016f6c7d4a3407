// Execution unit of EM-4/EM-X (EXU): runs a thread from its start to the instruction that ends it, without
// interruption.
//
// Stages     fetch and execute. The word that was fetched executes in the next cycle, while the next one is fetched.
// Start      taken in a cycle in which no thread runs or one ends; it loads r1, r2 and fp (r15). The other registers
//            keep what the thread before left. `run_i` low: no thread begins.
// Cycles     1; LD and ST 2; SEND 2, or 1 with FastSend; a jump that is taken 2. The end of a thread costs nothing.
// Waiting    LD and ST for the data port, SEND for `send_ready_i`, both while the offer holds; then nothing is fetched.
//            Otherwise a running thread asks for the fetch port in each cycle, as the paper's EM-4 keeps its memory.
// Data port  a request is taken where `mem_ready_i` is high; what was read is there in the next cycle. A store has
//            tag 0.
// Faults     no instruction, one or a load or store outside what threads may touch, TRAP: the instruction changes
//            nothing, and no instruction follows until reset. `fault_o` is a level.
// Paths      from what was fetched to both ports and to SEND, and from `send_ready_i` and the start to the fetch: the
//            unit is a part of `emx_pe`, whose pins are flip-flops.
// Reset      ends the thread; registers 3 to 14 keep what they hold.
// busy_o     a thread runs, or a pulse is out. SEND that waits is busy, too.
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

  // ---- the instruction at hand
  logic running_q, halted_q;
  logic have_q, fresh_q;  // it was fetched; in the last cycle
  logic second_q;  // its second cycle: a load's data are here, or a packet was sent
  logic [21:0] pc_q;
  logic far_q;  // pc_q is of an address beyond 22 bits
  logic [16:0] leap_q;  // what the jump of the last cycle adds to pc_q, else 0
  logic [31:0] held_q, insn;
  assign insn = fresh_q ? fetch_data_i : held_q;

  logic legal, is_alu, is_immediate, lui, load, store, branch, jal, jalr, send, tell, get, trap;
  emx_decode u_decode (
      .op_i(insn[31:26]),
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
  assign second_index = (insn[31:30] == '0) ? insn[16:13] : insn[24:21];
  assign b = operand(insn[20:17], bank_q[insn[20:17]], r1_q, r2_q, frame_o, is_new);
  assign second = operand(second_index, bank_q[second_index], r1_q, r2_q, frame_o, is_new);
  assign immediate = {{15{insn[16]}}, insn[16:0]};

  // ---- results
  logic [31:0] computed, addr, result;
  logic [21:0] next_pc;
  logic taken, writes;
  emx_alu u_alu (
      .op_i(insn[29:26]),
      .computes_i(!insn[31]),
      .branch_i(branch),
      .immediate_i(is_immediate),
      .b_i(b),
      .second_i(second),
      .value_i(immediate),
      .sum_o(addr),
      .result_o(computed),
      .taken_o(taken)
  );
  assign writes = is_alu || lui || load || jal || jalr || get;
  logic get_pe, get_time, get_depth;
  assign get_pe = get && insn[16:0] == 17'(emx_pkg::SpecialPe);
  assign get_time = get && insn[16:0] == 17'(emx_pkg::SpecialTime);
  assign get_depth = get && insn[16:0] == 17'(emx_pkg::SpecialDepth);
  assign result = (computed | ({32{load}} & mem_rdata_i) | ({32{get_time}} & time_i)) |
                  ({32{jal || jalr}} & 32'(next_pc)) | ({32{get_depth}} & 32'(depth_i)) |
                  ({32{get_pe}} & 32'(pe_i)) | {{16{lui}} & insn[15:0], 16'b0};

  // ---- faults
  logic pc_public, addr_public, faults;
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
  always_comb begin
    cause = '0;
    if (trap) cause = 4'(emx_pkg::FaultCauseTrap);
    if ((load || store) && !addr_public) cause = 4'(emx_pkg::FaultCauseAddress);
    if (!legal) cause = 4'(emx_pkg::FaultCauseCode);
    if (!pc_public) cause = 4'(emx_pkg::FaultCauseFetch);
  end

  // ---- the cycle
  logic executes, sound, first_access, first_send, waits, done, jumps, ends, start;
  assign executes = running_q && have_q;
  assign faults = executes && cause != '0;
  assign sound = executes && cause == '0;
  assign first_access = sound && (load || store) && !second_q;
  assign first_send = sound && send && !second_q;
  assign waits = first_send && !send_ready_i;
  assign done = sound && !first_access && !waits && !(first_send && !FastSend);
  assign jumps = done && (jal || jalr || (branch && taken));
  assign ends = done && insn[25] && !jumps;
  assign start_ready_o = run_i && !halted_q && (!running_q || ends);
  assign start = start_valid_i && start_ready_o;

  assign mem_valid_o = first_access;
  assign mem_write_o = store;
  assign mem_addr_o = addr[21:0];
  assign mem_wdata_o = {7'b0, second};
  assign send_valid_o = first_send;
  assign send_packet_o = {insn[6:0], second, insn[13:7], b};

  // What is fetched while an instruction jumps or is not done is fetched again.
  assign next_pc = pc_q + {{5{leap_q[16]}}, leap_q[16:1], leap_q[0] || executes};
  assign fetch_valid_o = start || (running_q && !ends && !faults && !first_access && !waits);
  assign fetch_addr_o = start ? start_pc_i : next_pc;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      running_q <= 1'b0;
      halted_q <= 1'b0;
      have_q <= 1'b0;
      fresh_q <= 1'b0;
      second_q <= 1'b0;
      ret_valid_o <= 1'b0;
      tell_valid_o <= 1'b0;
      frame_o <= '0;
      fault_cause_o <= '0;
      fault_pc_o <= '0;
      fault_code_o <= '0;
    end else begin
      running_q <= start || (running_q && !ends && !faults);
      have_q <= (executes && !done) || (fetch_valid_o && fetch_ready_i && !jumps);
      fresh_q <= fetch_valid_o && fetch_ready_i && (!executes || (done && !jumps));
      second_q <= (first_access && mem_ready_i) || (first_send && send_ready_i && !FastSend);
      ret_valid_o <= done;
      tell_valid_o <= done && tell;
      if (start) frame_o <= start_frame_i;
      if (faults) begin
        halted_q <= 1'b1;
        fault_cause_o <= cause;
        fault_pc_o <= pc_q;
        fault_code_o <= (cause == 4'(emx_pkg::FaultCauseTrap)) ? insn[16:0] : '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    held_q <= insn;
    ret_pc_o <= pc_q;
    ret_insn_o <= insn;
    tell_data_o <= second;
    if (start || !executes || (done && !jumps)) pc_q <= fetch_addr_o;
    else if (jumps && jalr) pc_q <= addr[21:0];
    if (start) far_q <= 1'b0;
    else if (jumps && jalr) far_q <= addr[31:22] != '0;
    if (jumps && !jalr) leap_q <= insn[16:0];
    else leap_q <= '0;
    if (done && writes) begin
      bank_q[insn[24:21]] <= result;
      if (insn[24:21] == 4'd1) r1_new_q <= 1'b0;
      if (insn[24:21] == 4'd2) r2_new_q <= 1'b0;
      if (insn[24:21] == Fp) fp_new_q <= 1'b0;
    end
    if (start) begin
      {r1_new_q, r2_new_q, fp_new_q} <= '1;
      r1_q <= start_r1_i;
      r2_q <= start_r2_i;
    end
  end

  assign fault_o = halted_q;
  assign thread_o = running_q;
  assign waits_send_o = waits;
  assign busy_o = running_q || ret_valid_o || tell_valid_o;

`ifdef TSUNAGI_ASSERT
  logic sent_q, asked_q;
  logic [77:0] packet_q;
  always_ff @(posedge clk_i) begin
    sent_q   <= !rst_i && waits;
    asked_q  <= !rst_i && mem_valid_o && !mem_ready_i;
    packet_q <= send_packet_o;
    if (!rst_i) begin
      assert (!sent_q || (send_valid_o && send_packet_o == packet_q));
      assert (!asked_q || mem_valid_o);
      assert (!(halted_q && running_q));
      assert (!(mem_valid_o && fetch_valid_o));
    end
  end
`endif
endmodule
