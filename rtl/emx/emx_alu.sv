// ALU of `emx_execute`: arithmetic, logic, shifts and comparisons of EM-4/EM-X, and whether a branch is taken.
//
// Latency    none: combinational.
// Source     our own instruction set (regs.toml, Operations).
module emx_alu (
    input logic [3:0] op_i,  // OpAdd to OpSltu
    input logic [31:0] b_i,
    input logic [31:0] c_i,
    output logic [31:0] result_o,
    input logic [1:0] branch_i,  // lower bits of OpBeq to OpBge
    input logic [31:0] a_i,
    output logic taken_o  // of a and b
);

  always_comb begin
    unique case (32'(op_i))
      emx_pkg::OpAdd: result_o = b_i + c_i;
      emx_pkg::OpSub: result_o = b_i - c_i;
      emx_pkg::OpAnd: result_o = b_i & c_i;
      emx_pkg::OpOr: result_o = b_i | c_i;
      emx_pkg::OpXor: result_o = b_i ^ c_i;
      emx_pkg::OpSll: result_o = b_i << c_i[4:0];
      emx_pkg::OpSrl: result_o = b_i >> c_i[4:0];
      emx_pkg::OpSra: result_o = $signed(b_i) >>> c_i[4:0];
      emx_pkg::OpSlt: result_o = {31'b0, $signed(b_i) < $signed(c_i)};
      default: result_o = {31'b0, b_i < c_i};
    endcase
  end

  always_comb begin
    unique case (branch_i)
      2'(emx_pkg::OpBeq): taken_o = a_i == b_i;
      2'(emx_pkg::OpBne): taken_o = a_i != b_i;
      2'(emx_pkg::OpBlt): taken_o = $signed(a_i) < $signed(b_i);
      default: taken_o = $signed(a_i) >= $signed(b_i);
    endcase
  end
endmodule
