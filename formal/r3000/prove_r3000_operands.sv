// SPDX-License-Identifier: MIT OR Apache-2.0
// Register 0 of `r3000` is zero, and an instruction has the operands that the program order gives it, but for the load
// delay slot.
//
// This is proved of one register, any. An instruction sees the last value that an earlier one wrote to it. What a load
// and MFC0 write counts from the second instruction behind them on. LWL and LWR see, as their old value, a load just
// before them. MFHI, MFLO and the others of HI and LO execute only while the multiplier rests.
//
// Programs, data, the bus's answers and interrupts are any.
module prove_r3000_operands (
    input logic clk_i,
    input logic rst_i,
    input logic run_i,
    input logic irq_i,
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
      .load_valid_i(1'b0),
      .load_ready_o(load_ready),
      .load_write_i(1'b0),
      .load_addr_i('0),
      .load_data_i('0),
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

  // The register that is followed keeps its initial value.
  logic [4:0] of_q;
  always_ff @(posedge clk_i) of_q <= of_q;

  // Its value as the next instruction to end sees it; a load's that counts only behind that one.
  logic [31:0] value_q, late_q;
  logic late_valid_q;
  // Of the instruction in the execute and in the memory stage: its registers, its operands there.
  logic [4:0] e_rs_q, e_rt_q, m_rs_q, m_rt_q;
  logic [31:0] m_a_q, m_b_q;
  logic m_delayed_q, ends, writes, execute_valid;
  assign ends = dut.m_valid_q && !dut.m_wait_q;
  assign writes = dut.m_write && dut.m_target_q == of_q;
  assign execute_valid = dut.e_valid_q && !dut.m_trap;
  always_ff @(posedge clk_i) begin
    if (dut.advance) {e_rs_q, e_rt_q} <= {dut.word[25:21], dut.word[20:16]};
    if (!dut.m_wait_q) begin
      {m_rs_q, m_rt_q} <= {e_rs_q, e_rt_q};
      {m_a_q, m_b_q} <= {dut.a_q, dut.b_q};
      m_delayed_q <= dut.e_q.is_delayed;
    end
    if (ends) begin
      late_valid_q <= 1'b0;
      if (late_valid_q) value_q <= late_q;
      if (writes && m_delayed_q) {late_valid_q, late_q} <= {1'b1, dut.m_value};
      else if (writes) value_q <= dut.m_value;
    end
    if (!dut.run_q) begin
      late_valid_q <= 1'b0;
      value_q <= (of_q == '0) ? '0 : dut.regs_q[of_q];
    end
  end

  // What the one in the execute stage sees: behind the one in the memory stage.
  logic [31:0] after;
  always_comb begin
    after = value_q;
    if (dut.m_valid_q) begin
      if (late_valid_q) after = late_q;
      if (dut.m_write_q && dut.m_target_q == of_q && !m_delayed_q) after = dut.m_plain_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      register_0 : assert (!dut.run_q || dut.regs_q[0] == '0);
      first_operand : assert (!(ends && m_rs_q == of_q) || m_a_q == value_q);
      second_operand : assert (!(ends && m_rt_q == of_q) || m_b_q == value_q);
      hi_lo_waits : assert (!(dut.leaves && !dut.early && dut.e_q.hi_lo) || !dut.hi_lo_busy);
      // Invariants for induction.
      zero_is_no_target :
      assert (!(dut.e_valid_q && dut.e_q.writes && dut.e_q.target == '0) &&
              !(dut.m_valid_q && dut.m_write_q && dut.m_target_q == '0));
      stays_zero : assert (!dut.run_q || of_q != '0 || (value_q == '0 && !late_valid_q));
      stored : assert (!dut.run_q || dut.regs_q[of_q] == (late_valid_q ? late_q : value_q));
      execute_first : assert (!(execute_valid && e_rs_q == of_q) || dut.a_q == after);
      execute_second : assert (!(execute_valid && e_rt_q == of_q) || dut.b_q == after);
      memory_first : assert (!(dut.m_valid_q && m_rs_q == of_q) || m_a_q == value_q);
      memory_second : assert (!(dut.m_valid_q && m_rt_q == of_q) || m_b_q == value_q);
      plain : assert (!(dut.m_valid_q && dut.m_write_q && !m_delayed_q) || dut.m_value == dut.m_plain_q);
      only_loads_are_fresh : assert (!dut.m_valid_q || dut.m_load_q || (dut.m_fresh_q == '0 && dut.m_sign_q == '0));
      loads_are_delayed :
      assert (!(dut.e_valid_q && (dut.e_q.load || dut.e_q.from_system) && !dut.e_q.is_delayed) &&
              !(dut.m_valid_q && dut.m_load_q && !m_delayed_q));
      stopped :
      assert (dut.run_q || (!dut.m_valid_q && !dut.e_valid_q && !dut.d_valid_q && dut.m_target_q == '0 &&
                            dut.m_value == '0));
      memory_alone : assert (!(dut.e_valid_q && (dut.e_q.load || dut.e_q.store) && (dut.e_q.hi_lo || dut.e_q.is_self)));
      held : assert (!dut.m_wait_q || dut.m_valid_q);
      late_with_next : assert (!dut.run_q || !late_valid_q || dut.e_valid_q);
      begun : assert (dut.d_valid_q || !dut.e_valid_q);
      packed_stages : assert (dut.e_valid_q || !dut.m_valid_q);
      // The claims are not vacuous.
      delay_slot : cover (ends && m_rs_q == of_q && late_valid_q && late_q != value_q);
    end
  end
endmodule
