// SPDX-License-Identifier: MIT OR Apache-2.0
// Coprocessor 0 of `r3000`: Status, Cause, EPC, BadVAddr, PRId, and the decision to interrupt.
//
// Write      `write_i` (MTC0) writes Status and the software interrupts of Cause; other registers are read only.
// Trap       `trap_i` pushes the modes of Status and writes Cause, EPC, and if `bad_valid_i` BadVAddr. It never comes
//            with a write or a return.
// Latency    1 cycle; the line `irq_i` is registered, and counts a cycle later.
// Source     Kane, Heinrich, MIPS RISC Architecture (1992). Bits of Status without a use are zero: our choice.
module r3000_system (
    input logic clk_i,
    input logic rst_i,
    input logic irq_i,
    output logic line_o,  // the line as it counts
    output logic interrupt_o,  // an interrupt is enabled and pending
    output logic enabled_o,  // Status.IEc
    output logic user_o,  // Status.KUc
    output logic usable_o,  // coprocessor 0 is usable
    input logic [4:0] number_i,
    input logic read_i,  // else `read_o` is zero
    output logic [31:0] read_o,
    input logic write_i,
    input logic [31:0] data_i,
    input logic return_i,  // rfe
    input logic trap_i,
    input r3000_pkg::exception_e exception_i,
    input logic [1:0] coprocessor_i,
    input logic slot_i,  // the trapping instruction is in a delay slot
    input logic [31:0] pc_i,  // its address
    input logic bad_valid_i,
    input logic [31:0] bad_addr_i
);
  localparam logic [31:0] PrId = 32'h0000_0230;

  logic [5:0] modes_q;  // KUo, IEo, KUp, IEp, KUc, IEc
  logic [2:0] mask_q;
  logic usable_q, line_q, slot_q;
  logic [1:0] software_q, coprocessor_q;
  logic [ 3:0] exception_q;
  logic [31:0] epc_q;
  logic [31:0] bad_q, status, cause;

  logic [21:0] unused_data;
  assign unused_data = {data_i[31:29], data_i[27:11], data_i[7:6]};
  assign status = {3'b0, usable_q, 17'b0, mask_q, 2'b0, modes_q};
  assign cause = {slot_q, 1'b0, coprocessor_q, 17'b0, line_q, software_q, 2'b0, exception_q, 2'b0};
  assign line_o = line_q;
  assign interrupt_o = modes_q[0] && ({line_q, software_q} & mask_q) != '0;
  assign enabled_o = modes_q[0];
  assign user_o = modes_q[1];
  assign usable_o = !modes_q[1] || usable_q;

  assign read_o = (({32{read_i && number_i == 5'd8}} & bad_q) | ({32{read_i && number_i == 5'd14}} & epc_q)) |
                  (({32{read_i && number_i == 5'd12}} & status) | ({32{read_i && number_i == 5'd13}} & cause)) |
                  ({32{read_i && number_i == 5'd15}} & PrId);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      modes_q <= '0;
      mask_q <= '0;
      usable_q <= 1'b0;
      line_q <= 1'b0;
      software_q <= '0;
      slot_q <= 1'b0;
      coprocessor_q <= '0;
      exception_q <= '0;
      epc_q <= '0;
      bad_q <= '0;
    end else begin
      line_q <= irq_i;
      if (trap_i) begin
        modes_q <= {modes_q[3:0], 2'b0};
        slot_q <= slot_i;
        coprocessor_q <= coprocessor_i;
        exception_q <= exception_i;
        epc_q <= {pc_i[31:2] - 30'(slot_i), pc_i[1:0]};
        if (bad_valid_i) bad_q <= bad_addr_i;
      end else if (return_i) begin
        modes_q[3:0] <= modes_q[5:2];
      end else if (write_i) begin
        if (number_i == 5'd12) {usable_q, mask_q, modes_q} <= {data_i[28], data_i[10:8], data_i[5:0]};
        if (number_i == 5'd13) software_q <= data_i[9:8];
      end
    end
  end
endmodule
