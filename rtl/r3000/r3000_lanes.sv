// SPDX-License-Identifier: MIT OR Apache-2.0
// Byte lanes of `r3000`: where the bytes of a memory instruction stand in the word at its address.
//
// Store      `data_o` has the register's bytes at their lanes; other lanes have anything.
// Load       `turn_o`, `fresh_o` and `sign_o` tell the load side, a stage later, where the register's bytes are in the
//            word, which of them come from it, and which byte of the word has the sign. `load_value_o` has the others
//            from `load_old_i`, or copies of the sign; one of both must be zero.
// Latency    none: combinational. Store and load sides are independent, for they are in different stages.
// Source     Kane, Heinrich, MIPS RISC Architecture (1992), little-endian.
module r3000_lanes (
    input logic [1:0] size_i,
    input logic left_i,
    input logic right_i,
    input logic [1:0] byte_i,
    output logic aligned_o,
    output logic [3:0] lanes_o,
    output logic [3:0] fresh_o,
    output logic [1:0] turn_o,
    output logic [3:0] sign_o,  // none: unsigned
    input logic signed_i,
    input logic [31:0] data_i,
    output logic [31:0] data_o,

    input  logic [ 3:0] load_sign_i,
    input  logic [ 3:0] load_fresh_i,
    input  logic [ 1:0] load_turn_i,
    input  logic [31:0] load_word_i,
    input  logic [31:0] load_old_i,
    output logic [31:0] load_value_o
);
  // Bytes up to the address's for the left part, from the address's on for all others.
  logic [ 1:0] turn;
  logic [31:0] pairs;
  assign turn   = byte_i + 2'(left_i);
  assign turn_o = turn;
  assign pairs  = turn[0] ? {data_i[23:0], data_i[31:24]} : data_i;
  assign data_o = turn[1] ? {pairs[15:0], pairs[31:16]} : pairs;
  always_comb begin
    aligned_o = 1'b1;
    if (left_i) lanes_o = ~(4'b1110 << byte_i);
    else if (right_i) lanes_o = 4'b1111 << byte_i;
    else begin
      unique case (size_i)
        2'd0: lanes_o = 4'b0001 << byte_i;
        2'd1: lanes_o = 4'b0011 << byte_i;
        default: lanes_o = 4'b1111;
      endcase
      aligned_o = size_i == 2'd0 || (!byte_i[0] && (size_i == 2'd1 || !byte_i[1]));
    end
    // A part has its bytes at the register's other end.
    if (left_i || right_i) fresh_o = {lanes_o[0], lanes_o[1], lanes_o[2], lanes_o[3]};
    else fresh_o = {size_i[1], size_i[1], size_i != 2'd0, 1'b1};
    // The odd byte of a half word is its higher one. A whole word does not care.
    sign_o = signed_i ? 4'b0001 << {byte_i[1], byte_i[0] || size_i[0]} : '0;
  end

  // The sign is found beside the turn, not behind it: the word comes late.
  logic [31:0] load_pairs, turned;
  logic sign;
  assign load_pairs = load_turn_i[1] ? {load_word_i[15:0], load_word_i[31:16]} : load_word_i;
  assign turned = load_turn_i[0] ? {load_pairs[7:0], load_pairs[31:8]} : load_pairs;
  assign sign = (load_sign_i & {load_word_i[31], load_word_i[23], load_word_i[15], load_word_i[7]}) != '0;
  for (genvar i = 0; i < 4; i++) begin : gen_byte
    assign load_value_o[8*i+:8] = load_fresh_i[i] ? turned[8*i+:8] : load_old_i[8*i+:8] | {8{sign}};
  end
endmodule
