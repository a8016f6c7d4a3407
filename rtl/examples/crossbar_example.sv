// SPDX-License-Identifier: MIT OR Apache-2.0
// `crossbar` with two inputs that send packets of three words to output 0 at once: it takes them in turn, whole.
module crossbar_example (
    input logic clk_i,
    input logic rst_i,
    output logic [1:0] in_valid_o,
    output logic [1:0] in_ready_o,
    output logic [7:0] in_data_0_o,
    output logic [7:0] in_data_1_o,
    output logic [1:0] in_last_o,
    output logic out_valid_o,
    output logic [7:0] out_data_o,
    output logic out_last_o,
    output logic out_source_o,
    output logic busy_o
);
  logic [1:0] valid, last, source;
  logic [1:0][7:0] in_data, out_data;
  logic [1:0][3:0] word_q, place;
  logic [15:0] unroutable;
  logic unused;

  for (genvar i = 0; i < 2; i++) begin : gen_in
    always_ff @(posedge clk_i) begin
      if (rst_i) word_q[i] <= '0;
      else if (in_valid_o[i] && in_ready_o[i]) word_q[i] <= word_q[i] + 4'd1;
    end
    // Two packets of three words. The digit of the first word, bit 0, is the output.
    assign in_valid_o[i] = word_q[i] < 4'd6;
    assign in_last_o[i]  = word_q[i] == 4'd2 || word_q[i] == 4'd5;
    assign place[i]      = word_q[i] >= 4'd3 ? word_q[i] - 4'd3 : word_q[i];
    assign in_data[i]    = {3'd5 + 3'(i), place[i], 1'b0};
  end

  assign in_data_0_o = in_data[0];
  assign in_data_1_o = in_data[1];
  assign out_valid_o = valid[0];
  assign out_data_o = out_data[0];
  assign out_last_o = last[0];
  assign out_source_o = source[0];
  assign unused = &{valid[1], out_data[1], last[1], source[1], unroutable};

  crossbar #(
      .N(2),
      .W(8)
  ) u_crossbar (
      .clk_i,
      .rst_i,
      .digit_i(1'b0),
      .in_valid_i(in_valid_o),
      .in_ready_o,
      .in_data_i(in_data),
      .in_last_i(in_last_o),
      .out_valid_o(valid),
      .out_ready_i('1),
      .out_data_o(out_data),
      .out_last_o(last),
      .out_source_o(source),
      .busy_o,
      .unroutable_o(unroutable)
  );
endmodule
