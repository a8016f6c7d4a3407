// SPDX-License-Identifier: MIT OR Apache-2.0
// Decoder of `r3000`: an instruction's controls.
//
// Latency    none: combinational.
// Source     Kane, Heinrich, MIPS RISC Architecture (1992). Fields that an instruction does not use are ignored.
module r3000_decode (
    input logic [31:0] word_i,
    output r3000_pkg::controls_t controls_o
);

  logic [5:0] op, funct;
  logic [4:0] rt;
  r3000_pkg::controls_t c;
  assign op = word_i[31:26];
  assign funct = word_i[5:0];
  assign rt = word_i[20:16];

  // Whether an instruction has a result is also whether its target is not register 0.
  logic has_result, blank;
  logic [4:0] target;
  assign blank = word_i[31:29] == '0 && word_i[27:16] == '0;

  always_comb begin
    c = '0;
    c.alu.branch = r3000_pkg::BranchNone;
    c.exception = r3000_pkg::Reserved;
    has_result = 1'b0;
    target = rt;
    c.is_self = blank && word_i[28] && word_i[15:0] == '1;
    c.is_nop = blank && !word_i[28] && word_i[15:0] == '0;
    c.uses_immediate = op[5] || op[3];
    c.coprocessor = op[1:0];
    c.alu.logic_op = (op == 6'h00) ? funct[1:0] : {op[1] && !op[0], op[0]};  // LUI is an OR with register 0
    c.size = op[1:0];
    c.left = op[2:0] == 3'd2;
    c.right = op[2:0] == 3'd6;
    c.sign_extend = !op[2] && !c.left;
    c.alu.shift_right = funct[1];
    c.alu.shift_arithmetic = funct[0];
    c.alu.shift_by_register = funct[2];
    c.divide = funct[1];
    c.signed_operands = !funct[0];
    unique case (op)
      6'h00: begin
        target = word_i[15:11];
        has_result = 1'b1;
        c.alu.signed_less = !funct[0];
        unique case (funct)
          6'h00, 6'h02, 6'h03, 6'h04, 6'h06, 6'h07: c.alu.result.shift = 1'b1;
          6'h08: begin
            has_result = 1'b0;
            c.alu.branch = r3000_pkg::BranchAlways;
            c.by_register = 1'b1;
          end
          6'h09: begin
            c.alu.branch = r3000_pkg::BranchAlways;
            c.by_register = 1'b1;
            c.alu.result.link = 1'b1;
          end
          6'h0c: begin
            c.traps = 1'b1;
            c.exception = r3000_pkg::Syscall;
          end
          6'h0d: begin
            c.traps = 1'b1;
            c.exception = r3000_pkg::Breakpoint;
          end
          6'h10: begin
            c.hi_lo = 1'b1;
            c.alu.result.hi = 1'b1;
          end
          6'h12: begin
            c.hi_lo = 1'b1;
            c.alu.result.lo = 1'b1;
          end
          6'h11: begin
            has_result = 1'b0;
            c.hi_lo = 1'b1;
            c.to_hi = 1'b1;
          end
          6'h13: begin
            has_result = 1'b0;
            c.hi_lo = 1'b1;
            c.to_lo = 1'b1;
          end
          6'h18, 6'h19, 6'h1a, 6'h1b: begin
            has_result = 1'b0;
            c.hi_lo = 1'b1;
            c.start = 1'b1;
          end
          6'h20, 6'h21: begin
            c.alu.result.sum = 1'b1;
            c.alu.traps_overflow = !funct[0];
          end
          6'h22, 6'h23: begin
            c.alu.result.sum = 1'b1;
            c.alu.subtract = 1'b1;
            c.alu.traps_overflow = !funct[0];
          end
          6'h24, 6'h25, 6'h26, 6'h27: c.alu.result.logical = 1'b1;
          6'h2a, 6'h2b: begin
            c.alu.subtract = 1'b1;
            c.alu.result.less = 1'b1;
          end
          default: c.reserved[0] = 1'b1;
        endcase
      end
      6'h01: begin
        target = 5'd31;
        has_result = rt[4];
        c.alu.result.link = 1'b1;
        c.alu.branch = rt[0] ? r3000_pkg::BranchNotNegative : r3000_pkg::BranchNegative;
        c.reserved[1] = rt[3:1] != '0;
      end
      6'h02, 6'h03: begin
        target = 5'd31;
        has_result = op[0];
        c.alu.result.link = 1'b1;
        c.alu.branch = r3000_pkg::BranchAlways;
      end
      6'h04: c.alu.branch = r3000_pkg::BranchEqual;
      6'h05: c.alu.branch = r3000_pkg::BranchDifferent;
      6'h06: c.alu.branch = r3000_pkg::BranchNotPositive;
      6'h07: c.alu.branch = r3000_pkg::BranchPositive;
      6'h08, 6'h09: begin
        has_result = 1'b1;
        c.alu.result.sum = 1'b1;
        c.alu.traps_overflow = !op[0];
      end
      6'h0a, 6'h0b: begin
        has_result = 1'b1;
        c.alu.subtract = 1'b1;
        c.alu.signed_less = !op[0];
        c.alu.result.less = 1'b1;
      end
      6'h0c, 6'h0d, 6'h0e, 6'h0f: begin
        has_result = 1'b1;
        c.alu.result.logical = 1'b1;
      end
      6'h10: begin
        c.system = 1'b1;
        c.from_system = word_i[25:21] == 5'd0;
        c.to_system = word_i[25:21] == 5'd4;
        c.return_mode = word_i[25] && funct == 6'h10;
        has_result = c.from_system;
        c.is_delayed = 1'b1;
        c.reserved[2] = !(c.from_system || c.to_system || c.return_mode);
      end
      6'h11, 6'h12, 6'h13, 6'h31, 6'h32, 6'h33, 6'h39, 6'h3a, 6'h3b: begin
        c.traps = 1'b1;
        c.exception = r3000_pkg::Coprocessor;
      end
      6'h20, 6'h21, 6'h22, 6'h23, 6'h24, 6'h25, 6'h26: begin
        has_result = 1'b1;
        c.is_delayed = 1'b1;
        c.load = 1'b1;
      end
      6'h28, 6'h29, 6'h2a, 6'h2b, 6'h2e: c.store = 1'b1;
      default: c.reserved[3] = 1'b1;
    endcase
    c.target = target;
    c.writes = has_result && target != '0;
  end

  assign controls_o = c;
endmodule
