// Decoder of `emx_execute`: what an instruction of EM-4/EM-X does.
//
// Latency    none: combinational.
// Misuse     a code that is no operation sets none of the outputs, and `legal_o` is low.
// Source     our own instruction set (regs.toml, Operations). Fields that an instruction does not have are ignored.
module emx_decode (
    input logic [5:0] op_i,
    output logic legal_o,
    output logic alu_o,  // with operation op_i[3:0]
    output logic immediate_o,  // the second operand of the ALU is IMM
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
  logic registers;
  assign op = 32'(op_i);
  assign registers = op >= emx_pkg::OpAdd && op <= emx_pkg::OpSltu;
  assign immediate_o = op >= emx_pkg::OpAddi && op <= emx_pkg::OpSltui;
  assign alu_o = registers || immediate_o;
  assign lui_o = op == emx_pkg::OpLui;
  assign load_o = op == emx_pkg::OpLd;
  assign store_o = op == emx_pkg::OpSt;
  assign branch_o = op >= emx_pkg::OpBeq && op <= emx_pkg::OpBge;
  assign jal_o = op == emx_pkg::OpJal;
  assign jalr_o = op == emx_pkg::OpJalr;
  assign send_o = op == emx_pkg::OpSend;
  assign tell_o = op == emx_pkg::OpTell;
  assign get_o = op == emx_pkg::OpGet;
  assign trap_o = op == emx_pkg::OpTrap;
  assign legal_o = alu_o || lui_o || load_o || store_o || branch_o || jal_o || jalr_o || send_o || tell_o || get_o ||
                   trap_o;
endmodule
