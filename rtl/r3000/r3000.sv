// SPDX-License-Identifier: MIT OR Apache-2.0
// Processor with local memory: the MIPS I integer set with delay slots, exceptions, an interrupt line and a bus.
//
// Contract   one instruction a cycle but for the waits in `docs/r3000.md`, which also has the map and the exceptions.
// Run        `run_i` low is a reset of everything but the SRAM and the general registers. The program begins at
//            address 0 when it is high.
// Load port  while `run_i` is low, a host writes and reads words of the SRAM: one each cycle, `load_ready_o` is always
//            high. Each access is answered two cycles after it is taken by `load_rvalid_o`, in order and for one cycle:
//            the answer cannot wait. `load_error_o`: the processor ran, and nothing was written or read.
// Bus        accesses of the addresses with bit 31 set, one at a time: `bus_valid_o` and the access hold until the
//            cycle of `bus_done_i`, which may be the first. `bus_be_o` are the bytes to write, or those that a load
//            needs. The processor waits for loads. Stores are posted: the next bus access waits.
// Errors     `store_error_o`: for one cycle for each store that failed, on the bus or for want of an address. A load
//            that fails traps.
// Retire     `retire_valid_o` for each instruction, in order, with its address. `retire_trap_o`: it trapped instead.
// Waiting    `waiting_o`: the program has executed `1: b 1b; nop` once and is about to do so again, with interrupts
//            enabled, and nothing is under way. Nothing retires then until an interrupt traps the branch.
// busy_o     low while `run_i` is low or the program waits, and nothing is under way. A rising `irq_i`, `run_i`, or
//            `load_valid_i` needs clock edges again; so does a falling `run_i`.
// Stop       a falling `run_i` ends the program after the instruction that executes in that cycle. An open bus access
//            goes on to its answer.
// Source     Kane, Heinrich, MIPS RISC Architecture (1992), for the instructions. Map, vectors, stages and ports are
//            our choice.
module r3000 #(
    parameter int SramWords = 4096,  // words of SRAM, power of two, 64..1048576
    localparam int IndexW = $clog2(SramWords)
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,
    input  logic run_i,
    output logic waiting_o,
    input  logic irq_i,

    input logic load_valid_i,
    output logic load_ready_o,
    input logic load_write_i,
    input logic [IndexW-1:0] load_addr_i,  // of a word
    input logic [31:0] load_data_i,
    output logic load_rvalid_o,
    output logic load_error_o,
    output logic [31:0] load_rdata_o,

    output logic bus_valid_o,
    output logic bus_write_o,
    output logic [30:2] bus_addr_o,
    output logic [31:0] bus_wdata_o,
    output logic [3:0] bus_be_o,
    input logic bus_done_i,
    input logic [31:0] bus_rdata_i,
    input logic bus_error_i,
    output logic store_error_o,

    output logic retire_valid_o,
    output logic [31:0] retire_pc_o,
    output logic retire_trap_o
);

  localparam logic [31:0] Vector = 32'h0000_0080;

  if (SramWords < 64 || SramWords > 1048576 || (1 << IndexW) != SramWords) begin : gen_bad_words
    r3000_SramWords_must_be_a_power_of_two_from_64_to_1048576 u_bad ();
  end

  logic run_q, stop;
  assign stop = rst_i || !run_i;
  always_ff @(posedge clk_i) run_q <= !stop;

  // What later stages say to earlier ones: execute and all before it hold, the memory stage holds, it traps.
  logic advance, m_wait_q, m_trap;

  // ------------------------------------------------------------------------------------------------------------- fetch
  // The cycle's fetch becomes the next cycle's decode: behind a branch in the execute stage its target does, so the
  // delay slot is decoded meanwhile.
  logic [31:0] d_pc_q, next_pc, fetch_pc, e_target;
  logic d_valid_q, taken, e_valid;
  assign fetch_pc = m_trap ? Vector : (e_valid && taken) ? e_target : next_pc;
  assign next_pc  = d_pc_q + 32'd4;

  always_ff @(posedge clk_i) begin
    if (stop) begin
      d_valid_q <= 1'b0;
      d_pc_q <= -32'd4;
    end else if (advance && run_q) begin
      d_valid_q <= 1'b1;
      d_pc_q <= fetch_pc;
    end
  end

  // ------------------------------------------------------------------------------------------------------------ decode
  logic [31:0] word;
  r3000_pkg::controls_t d_controls;

  r3000_decode u_decode (
      .word_i(word),
      .controls_o(d_controls)
  );

  // The general registers. A result is written at the end of the memory stage, and taken from that stage and from the
  // execute stage before. A delayed result is not taken from the execute stage: that is the load delay slot. Before a
  // program starts, register 0 becomes zero; no instruction writes it.
  logic [31:0] regs_q[32];
  logic e_valid_q, m_write;
  logic [4:0] m_target_q;
  logic [31:0] e_result, m_value, d_a, d_b;
  r3000_pkg::controls_t e_q;

  always_ff @(posedge clk_i) begin
    if (m_write || !run_q) regs_q[m_target_q] <= m_value;
  end

  logic e_gives;
  assign e_gives = e_valid_q && e_q.writes && !e_q.is_delayed;

  always_comb begin
    d_a = regs_q[word[25:21]];
    if (m_write && m_target_q == word[25:21]) d_a = m_value;
    if (e_gives && e_q.target == word[25:21]) d_a = e_result;
    d_b = regs_q[word[20:16]];
    if (m_write && m_target_q == word[20:16]) d_b = m_value;
    if (e_gives && e_q.target == word[20:16]) d_b = e_result;
  end

  // ----------------------------------------------------------------------------------------------------------- execute
  logic [31:0] e_pc_q, a_q, b_q, target_q;
  logic [31:0] imm_q;
  logic e_slot_q, e_outside_q;

  always_ff @(posedge clk_i) begin
    if (advance) begin
      e_q <= d_controls;
      e_pc_q <= d_pc_q;
      e_outside_q <= d_pc_q[31:IndexW+2] != '0;
      e_slot_q <= e_valid && e_q.alu.branch != r3000_pkg::BranchNone;
      a_q <= d_a;
      b_q <= d_b;
      // ANDI to LUI are not signed. The word comes late, so no more of its bits are looked at than the instructions
      // with an immediate, or a target, differ in.
      imm_q <= {{16{word[15] && (word[31] || word[29:28] != '1)}}, word[15:0]};
      if (word[29:26] == '1) imm_q <= {word[15:0], 16'b0};
      // J and JAL have another target than branches.
      if (word[28:27] == 2'b01) target_q <= {next_pc[31:28], word[25:0], 2'b0};
      else target_q <= next_pc + {{14{word[15]}}, word[15:0], 2'b0};
    end
    if (stop) begin
      a_q   <= '0;
      b_q   <= '0;
      imm_q <= '0;
    end
    if (stop) e_valid_q <= 1'b0;
    else if (advance) e_valid_q <= d_valid_q && !m_trap;
  end

  logic [31:0] hi, lo, addr;  // address of a memory instruction
  logic overflow, hi_lo_busy;
  assign e_valid  = e_valid_q && !m_trap;
  assign e_target = e_q.by_register ? a_q : target_q;

  r3000_alu u_alu (
      .controls_i(e_q.alu),
      .a_i(a_q),
      .b_i(e_q.uses_immediate ? imm_q : b_q),
      .register_b_i(b_q),
      .shift_i(imm_q[10:6]),
      .hi_i(hi),
      .lo_i(lo),
      .link_i(next_pc),
      .result_o(e_result),
      .sum_o(addr),
      .overflow_o(overflow),
      .taken_o(taken)
  );

  // Traps that are known without the operands, which the memory stage takes.
  logic interrupt, line, enabled, user, usable, early;
  r3000_pkg::exception_e early_exception;
  always_comb begin
    early = 1'b1;
    if (interrupt) early_exception = r3000_pkg::Interrupt;
    else if (e_pc_q[1:0] != '0 || (user && e_pc_q[31])) early_exception = r3000_pkg::AddressLoad;
    else if (e_outside_q) early_exception = r3000_pkg::BusFetch;
    else if (e_q.system && !usable) early_exception = r3000_pkg::Coprocessor;
    else begin
      early = e_q.traps || e_q.reserved != '0;
      early_exception = e_q.exception;
    end
  end

  logic [31:0] store_data;
  logic [3:0] lanes, fresh;
  logic [1:0] turn;
  logic is_memory, aligned, bad_addr, in_sram;
  assign is_memory = e_q.load || e_q.store;
  assign bad_addr  = is_memory && (!aligned || (user && addr[31]));
  assign in_sram   = addr[31:IndexW+2] == '0;

  // The loop `1: b 1b; nop`: it has been executed once. In a delay slot the branch has another slot than the nop behind
  // it.
  typedef enum logic [1:0] {
    Outside,
    Branched,
    Closed
  } loop_e;
  loop_e loop_q;
  logic  idles;
  assign idles = e_valid && e_q.is_self && loop_q == Closed && enabled && !interrupt;

  // What holds an instruction here.
  logic waits, leaves, acts, reaches, bus_valid_q, works;
  assign waits = (e_q.hi_lo && hi_lo_busy) || (is_memory && !in_sram && !bad_addr && bus_valid_q) || idles;
  assign advance = !m_wait_q && !(e_valid && !early && waits);
  assign leaves = e_valid && advance;
  assign acts = e_valid && !early && !m_wait_q;  // but for traps that depend on the operands
  assign works = acts && !hi_lo_busy;
  assign reaches = acts && is_memory && !bad_addr;

  r3000_hi_lo u_hi_lo (
      .clk_i,
      .rst_i(stop),
      .busy_o(hi_lo_busy),
      .start_i(works && e_q.start),
      .divide_i(e_q.divide),
      .signed_i(e_q.signed_operands),
      .to_hi_i(works && e_q.to_hi),
      .to_lo_i(works && e_q.to_lo),
      .a_i(a_q),
      .b_i(b_q),
      .hi_o(hi),
      .lo_o(lo)
  );

  always_ff @(posedge clk_i) begin
    if (stop || m_trap) loop_q <= Outside;
    else if (leaves && e_q.is_self && !e_slot_q) loop_q <= Branched;
    else if (leaves && e_q.is_nop && loop_q == Branched) loop_q <= Closed;
    else if (leaves) loop_q <= Outside;
  end

  // --------------------------------------------------------------------------------------------------------------- bus
  logic bus_write_q, store_error_q;
  logic [30:2] bus_addr_q;
  logic [31:0] bus_wdata_q, bus_rdata_q;
  logic [3:0] bus_be_q;
  logic bus_error_q, bus_start, lost;
  assign bus_start = reaches && addr[31] && !bus_valid_q;
  assign lost = reaches && e_q.store && !addr[31] && !in_sram && !bus_valid_q;

  always_ff @(posedge clk_i) begin
    if (bus_start) begin
      bus_write_q <= e_q.store;
      bus_addr_q  <= addr[30:2];
      bus_wdata_q <= store_data;
      bus_be_q    <= lanes;
    end
    bus_rdata_q <= bus_rdata_i;
    bus_error_q <= bus_error_i;
    if (rst_i) begin
      bus_valid_q   <= 1'b0;
      store_error_q <= 1'b0;
    end else begin
      bus_valid_q   <= bus_start || (bus_valid_q && !bus_done_i);
      store_error_q <= lost || (bus_valid_q && bus_write_q && bus_done_i && bus_error_i);
    end
    if (stop) m_wait_q <= 1'b0;
    else m_wait_q <= (bus_start && e_q.load) || (m_wait_q && !bus_done_i);
  end

  // ------------------------------------------------------------------------------------------------------------ memory
  logic m_valid_q, m_slot_q, m_trap_q, m_bad_q, m_bus_q, m_load_q, m_write_q;
  logic e_held_q, partial, paired;
  logic [1:0] m_coprocessor_q, m_turn_q;
  logic [3:0] m_fresh_q, m_sign_q, sign;
  logic [31:0] m_pc_q, m_addr_q, m_plain_q, system_value, sram_value;
  r3000_pkg::exception_e m_exception_q;

  // What a load leaves of its register. One of LWL and LWR sees what its predecessor loads, which leaves the memory
  // stage though this one may be held.
  assign partial = e_q.load && (e_q.left || e_q.right);
  assign paired  = m_write && m_target_q == e_q.target;

  always_ff @(posedge clk_i) begin
    if (!m_wait_q) begin
      m_pc_q <= e_pc_q;
      m_slot_q <= e_slot_q;
      m_trap_q <= early || overflow || bad_addr || (e_q.load && !in_sram && !addr[31]);
      m_coprocessor_q <= (early && early_exception == r3000_pkg::Coprocessor) ? e_q.coprocessor : 2'd0;
      // The address of a bad fetch, or that of the data.
      m_bad_q <= early ? early_exception == r3000_pkg::AddressLoad : bad_addr;
      m_addr_q <= early ? e_pc_q : addr;
      m_bus_q <= addr[31];
      m_load_q <= e_q.load;
      m_turn_q <= turn;
      m_fresh_q <= fresh & {4{e_q.load}};
      m_sign_q <= sign;
      m_target_q <= e_q.target;
      m_write_q <= e_q.writes;
      if (early) m_exception_q <= early_exception;
      else if (overflow) m_exception_q <= r3000_pkg::Overflow;
      else if (bad_addr) m_exception_q <= e_q.load ? r3000_pkg::AddressLoad : r3000_pkg::AddressStore;
      else m_exception_q <= r3000_pkg::BusLoad;
    end
    if (!m_wait_q && !(e_q.load && e_held_q)) begin
      m_plain_q <= (e_result | system_value) | (({32{partial && paired}} & m_value) | ({32{partial && !paired}} & b_q));
    end
    if (stop) e_held_q <= 1'b0;
    else if (!m_wait_q) e_held_q <= !advance;
    if (stop) begin
      m_valid_q  <= 1'b0;
      m_load_q   <= 1'b0;
      m_fresh_q  <= '0;
      m_sign_q   <= '0;
      m_target_q <= '0;
      m_plain_q  <= '0;
    end else if (!m_wait_q) begin
      m_valid_q <= leaves;
    end
  end

  assign m_trap  = m_valid_q && !m_wait_q && (m_trap_q || (m_load_q && m_bus_q && bus_error_q));
  assign m_write = m_valid_q && !m_wait_q && !m_trap && m_write_q;

  r3000_lanes u_lanes (
      .size_i(e_q.size),
      .left_i(e_q.left),
      .right_i(e_q.right),
      .byte_i(addr[1:0]),
      .aligned_o(aligned),
      .lanes_o(lanes),
      .fresh_o(fresh),
      .turn_o(turn),
      .sign_o(sign),
      .signed_i(e_q.load && e_q.sign_extend),
      .data_i(b_q),
      .data_o(store_data),
      .load_sign_i(m_sign_q),
      .load_fresh_i(m_fresh_q),
      .load_turn_i(m_turn_q),
      .load_word_i(m_bus_q ? bus_rdata_q : sram_value),
      .load_old_i(m_plain_q),
      .load_value_o(m_value)
  );

  r3000_system u_system (
      .clk_i,
      .rst_i(stop),
      .irq_i,
      .line_o(line),
      .interrupt_o(interrupt),
      .enabled_o(enabled),
      .user_o(user),
      .usable_o(usable),
      .number_i(imm_q[15:11]),
      .read_i(e_q.from_system),
      .read_o(system_value),
      .write_i(acts && e_q.to_system),
      .data_i(b_q),
      .return_i(acts && e_q.return_mode),
      .trap_i(m_trap),
      .exception_i(m_exception_q),
      .coprocessor_i(m_coprocessor_q),
      .slot_i(m_slot_q),
      .pc_i(m_pc_q),
      .bad_valid_i(m_bad_q),
      .bad_addr_i(m_addr_q)
  );

  // -------------------------------------------------------------------------------------------------------------- SRAM
  // The host's accesses share port B while the processor does not run. Address and data are zero in the one of both
  // that rests.
  logic load_q, load_write_q;
  logic [IndexW-1:0] load_addr_q;
  logic [31:0] load_data_q;
  logic load_rvalid_q, load_error_q;

  always_ff @(posedge clk_i) begin
    load_write_q <= stop && load_write_i;
    load_addr_q  <= stop ? load_addr_i : '0;
    load_data_q  <= stop ? load_data_i : '0;
    load_error_q <= run_q;
    if (rst_i) begin
      load_q <= 1'b0;
      load_rvalid_q <= 1'b0;
    end else begin
      load_q <= load_valid_i;
      load_rvalid_q <= load_q;
    end
  end

  r3000_sram #(
      .Words(SramWords)
  ) u_sram (
      .clk_i,
      .a_enable_i(advance && run_q),
      .a_index_i (fetch_pc[IndexW+1:2]),
      .a_data_o  (word),
      .b_enable_i(run_q ? reaches && in_sram : load_q),
      .b_index_i (addr[IndexW+1:2] | load_addr_q),
      .b_write_i ((run_q && e_q.store) || load_write_q),
      .b_lanes_i (lanes | {4{!run_q}}),
      .b_data_i  (store_data | load_data_q),
      .b_data_o  (sram_value)
  );

  // ----------------------------------------------------------------------------------------------------------- outputs
  logic retire_valid_q, retire_trap_q;
  logic [31:0] retire_pc_q;

  always_ff @(posedge clk_i) begin
    retire_pc_q   <= m_pc_q;
    retire_trap_q <= m_trap;
    if (stop) retire_valid_q <= 1'b0;
    else retire_valid_q <= m_valid_q && !m_wait_q;
  end

  assign load_ready_o = 1'b1;
  assign load_rvalid_o = load_rvalid_q;
  assign load_error_o = load_error_q;
  assign load_rdata_o = sram_value;
  assign bus_valid_o = bus_valid_q;
  assign bus_write_o = bus_write_q;
  assign bus_addr_o = bus_addr_q;
  assign bus_wdata_o = bus_wdata_q;
  assign bus_be_o = bus_be_q;
  assign store_error_o = store_error_q;
  assign retire_valid_o = retire_valid_q;
  assign retire_pc_o = retire_pc_q;
  assign retire_trap_o = retire_trap_q;

  logic rests;
  assign rests = !m_valid_q && !hi_lo_busy && !bus_valid_q && !retire_valid_q && !store_error_q;
  assign waiting_o = run_q && idles && rests;
  assign busy_o = !rests || load_q || load_rvalid_q || line || (run_q && !idles);
endmodule
