// SPDX-License-Identifier: MIT OR Apache-2.0
// Controls of `r3000`: what its decoder says of an instruction.
package r3000_pkg;
  // Cause.ExcCode.
  typedef enum logic [3:0] {
    Interrupt = 4'd0,
    AddressLoad = 4'd4,
    AddressStore = 4'd5,
    BusFetch = 4'd6,
    BusLoad = 4'd7,
    Syscall = 4'd8,
    Breakpoint = 4'd9,
    Reserved = 4'd10,
    Coprocessor = 4'd11,
    Overflow = 4'd12
  } exception_e;

  // Which of the results is the instruction's: at most one bit is set.
  typedef struct packed {
    logic sum;
    logic logical;
    logic shift;
    logic less;
    logic link;
    logic hi;
    logic lo;
  } results_t;

  typedef enum logic [2:0] {
    BranchNone,
    BranchEqual,
    BranchDifferent,
    BranchNotPositive,
    BranchPositive,
    BranchNegative,
    BranchNotNegative,
    BranchAlways
  } branch_e;

  typedef struct packed {
    results_t result;
    branch_e branch;
    logic subtract;
    logic signed_less;
    logic traps_overflow;
    logic [1:0] logic_op;  // and, or, xor, nor
    logic shift_right;
    logic shift_arithmetic;
    logic shift_by_register;
  } alu_t;

  typedef struct packed {
    alu_t alu;
    logic writes;
    logic [4:0] target;
    logic is_delayed;  // the next instruction does not see the result
    logic uses_immediate;  // instead of its second register
    logic by_register;  // it branches to the address in the first operand
    logic is_self;  // `b .`
    logic is_nop;
    // Memory.
    logic load;
    logic store;
    logic [1:0] size;  // byte, half, word
    logic left;  // LWL, SWL
    logic right;  // LWR, SWR
    logic sign_extend;
    // Multiplier and divider.
    logic hi_lo;  // any instruction of theirs
    logic start;
    logic divide;
    logic signed_operands;
    logic to_hi;
    logic to_lo;
    // Coprocessor 0.
    logic system;  // any instruction of its
    logic from_system;
    logic to_system;
    logic return_mode;  // rfe
    // It traps, whatever its operands are.
    logic traps;
    logic [3:0] reserved;  // any: it does not exist. Not joined, since it is slow to tell.
    exception_e exception;
    logic [1:0] coprocessor;
  } controls_t;
endpackage
