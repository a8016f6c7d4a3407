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
  logic [31:0] pc_q, held_q, insn;
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

  // ---- registers: those that a start loads are flip-flops
  logic [31:0] bank_q[16];
  logic [31:0] r1_q, r2_q, fp_q;
  logic [31:0] a, b, c, immediate;
  function automatic logic [31:0] operand(input logic [3:0] index, input logic [31:0] from_bank, input logic [31:0] r1,
                                          input logic [31:0] r2, input logic [31:0] fp);
    unique case (index)
      4'd0: operand = '0;
      4'd1: operand = r1;
      4'd2: operand = r2;
      Fp: operand = fp;
      default: operand = from_bank;
    endcase
  endfunction
  assign a = operand(insn[24:21], bank_q[insn[24:21]], r1_q, r2_q, fp_q);
  assign b = operand(insn[20:17], bank_q[insn[20:17]], r1_q, r2_q, fp_q);
  assign c = operand(insn[16:13], bank_q[insn[16:13]], r1_q, r2_q, fp_q);
  assign immediate = {{15{insn[16]}}, insn[16:0]};

  // ---- results
  logic [31:0] computed, addr, next_pc, target, result;
  logic taken, writes;
  emx_alu u_alu (
      .op_i(insn[29:26]),
      .b_i(b),
      .c_i(is_immediate ? immediate : c),
      .result_o(computed),
      .branch_i(insn[27:26]),
      .a_i(a),
      .taken_o(taken)
  );
  assign addr = b + immediate;
  assign next_pc = pc_q + 32'd1;
  assign target = jalr ? addr : pc_q + immediate;
  assign writes = is_alu || lui || load || jal || jalr || get;

  always_comb begin
    result = computed;
    if (lui) result = {insn[15:0], 16'b0};
    if (load) result = mem_rdata_i;
    if (jal || jalr) result = next_pc;
    if (get) begin
      unique case (immediate)
        32'(emx_pkg::SpecialPe): result = 32'(pe_i);
        32'(emx_pkg::SpecialTime): result = time_i;
        32'(emx_pkg::SpecialDepth): result = 32'(depth_i);
        default: result = '0;
      endcase
    end
  end

  // ---- faults
  logic pc_public, addr_public, faults;
  logic [3:0] cause;
  emx_public #(
      .AddrW(AddrW),
      .SpillBits(SpillBits),
      .Levels(Levels)
  ) u_pc_public (
      .addr_i  (pc_q),
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
  assign mem_wdata_o = {7'b0, a};
  assign send_valid_o = first_send;
  assign send_packet_o = {insn[6:0], a, insn[13:7], b};

  // What is fetched while an instruction jumps or is not done is fetched again.
  logic [21:0] sequel;
  assign sequel = executes ? next_pc[21:0] : pc_q[21:0];
  assign fetch_valid_o = start || (running_q && !ends && !faults && !first_access && !waits);
  assign fetch_addr_o = start ? start_pc_i : sequel;

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
        fault_pc_o <= pc_q[21:0];
        fault_code_o <= (cause == 4'(emx_pkg::FaultCauseTrap)) ? insn[16:0] : '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    held_q <= insn;
    ret_pc_o <= pc_q[21:0];
    ret_insn_o <= insn;
    tell_data_o <= a;
    if (start) pc_q <= 32'(start_pc_i);
    else if (jumps) pc_q <= target;
    else if (done) pc_q <= next_pc;
    if (done && writes) bank_q[insn[24:21]] <= result;
    if (start) r1_q <= start_r1_i;
    else if (done && writes && insn[24:21] == 4'd1) r1_q <= result;
    if (start) r2_q <= start_r2_i;
    else if (done && writes && insn[24:21] == 4'd2) r2_q <= result;
    if (start) fp_q <= 32'(start_frame_i);
    else if (done && writes && insn[24:21] == Fp) fp_q <= result;
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
