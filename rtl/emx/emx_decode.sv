// SPDX-License-Identifier: MIT OR Apache-2.0
// Decoder of `emx_execute`: what an instruction of EM-4/EM-X does.
//
// Latency    none: combinational.
// Misuse     a code that is no operation sets none of the outputs, and `legal_o` is low.
// Source     our own instruction set (regs.toml, Operations). Fields that an instruction does not have are ignored.
module emx_decode (
    input logic [5:0] op_i,
    output logic legal_o,
    output logic alu_o,  // with operation op_i[3:0]
    output logic immediate_o,  // the second operand is IMM, but for those that have none
    output logic lui_o,
    output logic load_o,
    output logic store_o,
    output logic branch_o,
    output logic jal_o,
    output logic jalr_o,
    output logic send_o,
    output logic tell_o,
    output logic get_o,
    output logic trap_o
);

  logic [31:0] op;
  logic registers, constant;
  assign op = 32'(op_i);
  always_comb begin
    {registers, constant, branch_o} = '0;
    unique case (op)
      emx_pkg::OpAdd, emx_pkg::OpSub, emx_pkg::OpAnd, emx_pkg::OpOr, emx_pkg::OpXor, emx_pkg::OpSll, emx_pkg::OpSrl,
      emx_pkg::OpSra, emx_pkg::OpSlt, emx_pkg::OpSltu:
      registers = 1'b1;
      emx_pkg::OpAddi, emx_pkg::OpSubi, emx_pkg::OpAndi, emx_pkg::OpOri, emx_pkg::OpXori, emx_pkg::OpSlli,
      emx_pkg::OpSrli, emx_pkg::OpSrai, emx_pkg::OpSlti, emx_pkg::OpSltui:
      constant = 1'b1;
      emx_pkg::OpBeq, emx_pkg::OpBne, emx_pkg::OpBlt, emx_pkg::OpBge: branch_o = 1'b1;
      default: ;
    endcase
  end
  assign immediate_o = !registers && !branch_o;
  assign alu_o = registers || constant;
  assign lui_o = op == emx_pkg::OpLui;
  assign load_o = op == emx_pkg::OpLd;
  assign store_o = op == emx_pkg::OpSt;
  assign jal_o = op == emx_pkg::OpJal;
  assign jalr_o = op == emx_pkg::OpJalr;
  assign send_o = op == emx_pkg::OpSend;
  assign tell_o = op == emx_pkg::OpTell;
  assign get_o = op == emx_pkg::OpGet;
  assign trap_o = op == emx_pkg::OpTrap;
  assign legal_o = alu_o || lui_o || load_o || store_o || branch_o || jal_o || jalr_o || send_o || tell_o || get_o ||
                   trap_o;
endmodule
