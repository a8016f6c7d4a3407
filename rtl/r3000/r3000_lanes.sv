// Byte lanes of `r3000`: where the bytes of a memory instruction stand in the word at its address.
//
// Store      `data_o` has the register's bytes at their lanes; other lanes have anything.
// Load       `load_value_o` is the word's bytes as the register has them: extended, or with the others of `load_old_i`.
//            It is `load_old_i` without a load.
// Latency    none: combinational. Store and load sides are independent, for they are in different stages.
// Source     Kane, Heinrich, MIPS RISC Architecture (1992), little-endian.
module r3000_lanes (
    input logic [1:0] size_i,
    input logic left_i,
    input logic right_i,
    input logic [1:0] byte_i,
    output logic aligned_o,
    output logic [3:0] lanes_o,
    input logic [31:0] data_i,
    output logic [31:0] data_o,

    input logic load_i,
    input logic [1:0] load_size_i,
    input logic load_left_i,
    input logic load_right_i,
    input logic load_extend_i,
    input logic [1:0] load_byte_i,
    input logic [31:0] load_word_i,
    input logic [31:0] load_old_i,
    output logic [31:0] load_value_o
);
  // Bytes up to the address's for the left part, from the address's on for all others.
  logic [1:0] turn;
  assign turn = byte_i + 2'(left_i);
  always_comb begin
    unique case (turn)
      2'd0: data_o = data_i;
      2'd1: data_o = {data_i[23:0], data_i[31:24]};
      2'd2: data_o = {data_i[15:0], data_i[31:16]};
      default: data_o = {data_i[7:0], data_i[31:8]};
    endcase
    if (left_i) begin
      lanes_o   = ~(4'b1110 << byte_i);
      aligned_o = 1'b1;
    end else if (right_i) begin
      lanes_o   = 4'b1111 << byte_i;
      aligned_o = 1'b1;
    end else begin
      unique case (size_i)
        2'd0: lanes_o = 4'b0001 << byte_i;
        2'd1: lanes_o = 4'b0011 << byte_i;
        default: lanes_o = 4'b1111;
      endcase
      aligned_o = size_i == 2'd0 || (!byte_i[0] && (size_i == 2'd1 || !byte_i[1]));
    end
  end

  logic [ 1:0] load_turn;
  logic [31:0] turned;
  logic [ 3:0] fresh;  // bytes of the register that come from memory
  logic sign, left_or_right;
  logic [31:0] rest;
  assign left_or_right = load_left_i || load_right_i;
  assign load_turn = load_byte_i + 2'(load_left_i);
  always_comb begin
    unique case (load_turn)
      2'd0: turned = load_word_i;
      2'd1: turned = {load_word_i[7:0], load_word_i[31:8]};
      2'd2: turned = {load_word_i[15:0], load_word_i[31:16]};
      default: turned = {load_word_i[23:0], load_word_i[31:24]};
    endcase
    if (!load_i) fresh = '0;
    else if (load_left_i) fresh = 4'b1111 << ~load_byte_i;
    else if (load_right_i) fresh = 4'b1111 >> load_byte_i;
    else fresh = {load_size_i[1], load_size_i[1], load_size_i != 2'd0, 1'b1};
    sign = load_extend_i && (load_size_i[0] ? turned[15] : turned[7]);
    rest = (left_or_right || !load_i) ? load_old_i : {32{sign}};
    for (int i = 0; i < 4; i++) load_value_o[8*i+:8] = fresh[i] ? turned[8*i+:8] : rest[8*i+:8];
  end
endmodule
