// SPDX-License-Identifier: MIT OR Apache-2.0
// ALU of `emx_execute`: arithmetic, logic, shifts and comparisons of EM-4/EM-X, addresses, and whether a branch is
// taken.
//
// Parts      one adder, whose second operand can be inverted, serves sums, differences, comparisons and addresses. One
//            shifter moves to the right; for a shift to the left by n it takes 31 - n, and the word stands 31 bits
//            higher.
// Latency    none: combinational.
// Source     our own instruction set (regs.toml, Operations).
module emx_alu (
    input logic [3:0] op_i,  // lower bits of the operation
    input logic computes_i,  // it is OpAdd to OpSltu, or with an immediate
    input logic branch_i,  // it is OpBeq to OpBge
    input logic immediate_i,  // the second operand is the immediate
    input logic [31:0] b_i,
    input logic [31:0] second_i,  // C, or A of a branch
    input logic [31:0] value_i,  // of the immediate
    output logic [31:0] sum_o,  // of an instruction with an address: b + immediate
    output logic [31:0] result_o,  // 0 if it computes nothing
    output logic taken_o  // of a branch
);

  logic adds, subtracts, compares, shifts, left;
  assign adds = computes_i && op_i == 4'(emx_pkg::OpAdd);
  assign subtracts = computes_i && op_i == 4'(emx_pkg::OpSub);
  assign compares = computes_i && (op_i == 4'(emx_pkg::OpSlt) || op_i == 4'(emx_pkg::OpSltu));
  assign left = computes_i && op_i == 4'(emx_pkg::OpSll);
  assign shifts = left || (computes_i && (op_i == 4'(emx_pkg::OpSrl) || op_i == 4'(emx_pkg::OpSra)));

  // ---- sum and comparison: b - second - 1 of a branch, where a carry says that b is greater
  logic inverts, carry, is_signed, above;
  logic [31:0] y, sum;
  logic unused;
  assign inverts = subtracts || compares || left || branch_i;
  assign y = (immediate_i ? value_i : second_i) ^ {32{inverts}};
  assign {carry, sum, unused} = {1'b0, b_i, 1'b1} + {1'b0, y, inverts && !branch_i};
  assign sum_o = sum;
  assign is_signed = branch_i || op_i == 4'(emx_pkg::OpSlt);
  // Signs that differ turn the answer.
  assign above = carry ^ (is_signed && b_i[31] != ~y[31]);

  // ---- logic; of a branch, all bits are set where both are equal
  logic [ 1:0] choice;
  logic [31:0] logical;
  always_comb begin
    choice = 2'd0;
    if (computes_i && op_i == 4'(emx_pkg::OpAnd)) choice = 2'd1;
    if (computes_i && op_i == 4'(emx_pkg::OpOr)) choice = 2'd2;
    if ((computes_i && op_i == 4'(emx_pkg::OpXor)) || branch_i) choice = 2'd3;
    unique case (choice)
      2'd0: logical = '0;
      2'd1: logical = b_i & y;
      2'd2: logical = b_i | y;
      default: logical = b_i ^ y;
    endcase
  end
  assign taken_o = op_i[0] ^ (op_i[1] ? above : logical == '1);

  // ---- shifts
  logic fill;
  logic [62:0] moved;
  assign fill = op_i == 4'(emx_pkg::OpSra) && b_i[31];
  always_comb begin
    moved = left ? {b_i, 31'b0} : {{31{fill}}, b_i};
    for (int stage = 4; stage >= 0; stage--) if (y[stage]) moved = moved >> (1 << stage);
  end

  assign result_o = ({32{adds || subtracts}} & sum) | logical | ({32{shifts}} & moved[31:0]) |
                    {31'b0, compares && !above};
endmodule
