// SPDX-License-Identifier: MIT OR Apache-2.0
// ALU of `r3000`: sum, logic, shift and comparison of two operands, and whether a branch on them is taken.
//
// Latency    none: combinational.
// Source     common practice.
module r3000_alu (
    input r3000_pkg::alu_t controls_i,
    input logic [31:0] a_i,
    input logic [31:0] b_i,
    input logic [31:0] register_b_i,  // of a branch or a shift
    input logic [4:0] shift_i,  // of an instruction that shifts by a constant
    input logic [31:0] hi_i,
    input logic [31:0] lo_i,
    input logic [31:0] link_i,
    output logic [31:0] result_o,
    output logic [31:0] sum_o,
    output logic overflow_o,
    output logic taken_o
);

  r3000_pkg::results_t chosen;
  assign chosen = controls_i.result;
  logic [31:0] y, sum, logical, shifted;
  logic [32:0] wide;
  logic less, equal;
  // Logic does not subtract, so it takes the same operand.
  assign y = b_i ^ {32{controls_i.subtract}};
  assign wide = {1'b0, a_i} + {1'b0, y} + 33'(controls_i.subtract);
  assign sum = wide[31:0];
  assign sum_o = sum;
  assign overflow_o = controls_i.traps_overflow && (a_i[31] ^ sum[31]) && (y[31] ^ sum[31]);
  // The difference's carry says which is less; signs that differ turn the answer of signed numbers.
  assign less = !wide[32] ^ (controls_i.signed_less && (a_i[31] ~^ y[31]));

  always_comb begin
    unique case (controls_i.logic_op)
      2'd0: logical = a_i & y;
      2'd1: logical = a_i | y;
      2'd2: logical = a_i ^ y;
      default: logical = ~(a_i | y);
    endcase
  end

  // One shifter to the right; a shift to the left turns the bits before and behind it.
  function automatic logic [31:0] turned(input logic [31:0] value);
    for (int i = 0; i < 32; i++) turned[i] = value[31-i];
  endfunction
  logic [4:0] amount;
  logic [31:0] straight, moved;
  logic fill;
  assign amount = controls_i.shift_by_register ? a_i[4:0] : shift_i;
  assign straight = controls_i.shift_right ? register_b_i : turned(register_b_i);
  assign fill = controls_i.shift_arithmetic && register_b_i[31];
  assign moved = 32'($signed({fill, straight}) >>> amount);
  assign shifted = ({32{chosen.shift && controls_i.shift_right}} & moved) |
                   ({32{chosen.shift && !controls_i.shift_right}} & turned(
      moved
  ));

  assign result_o = ((({32{chosen.sum}} & sum) | ({32{chosen.logical}} & logical)) | shifted) |
                    ((({32{chosen.hi}} & hi_i) | ({32{chosen.lo}} & lo_i)) | ({32{chosen.link}} & link_i)) |
                    {31'b0, chosen.less && less};

  logic zero;
  assign equal = a_i == register_b_i;
  assign zero  = a_i == '0;
  always_comb begin
    unique case (controls_i.branch)
      r3000_pkg::BranchEqual: taken_o = equal;
      r3000_pkg::BranchDifferent: taken_o = !equal;
      r3000_pkg::BranchNotPositive: taken_o = a_i[31] || zero;
      r3000_pkg::BranchPositive: taken_o = !a_i[31] && !zero;
      r3000_pkg::BranchNegative: taken_o = a_i[31];
      r3000_pkg::BranchNotNegative: taken_o = !a_i[31];
      r3000_pkg::BranchAlways: taken_o = 1'b1;
      default: taken_o = 1'b0;
    endcase
  end
endmodule
