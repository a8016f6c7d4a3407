// SPDX-License-Identifier: MIT OR Apache-2.0
// `torus_router` of cell (1, 1) in a torus of 4 x 4: the cell sends a packet of four words to (2, 1), which leaves on
// port 1, +X. The neighbour gives each credit back at once.
module torus_router_example (
    input logic clk_i,
    input logic rst_i,
    output logic in_valid_o,
    output logic [11:0] in_data_o,
    output logic in_last_o,
    output logic [3:0] in_credit_o,
    output logic out_valid_o,
    output logic [1:0] out_vc_o,
    output logic [11:0] out_data_o,
    output logic out_last_o,
    output logic [3:0] out_credit_o,
    output logic busy_o
);
  logic [2:0] word_q;
  logic [4:0] valid, last;
  logic [4:0][1:0] vc;
  logic [4:0][31:0] data;
  logic [4:0][3:0] credit;
  logic [15:0] drained;
  logic unused;

  // Four words for the four credits that the cell begins with.
  always_ff @(posedge clk_i) begin
    if (rst_i) word_q <= '0;
    else if (in_valid_o) word_q <= word_q + 3'd1;
    if (rst_i) out_credit_o <= '0;
    else out_credit_o <= out_valid_o ? 4'd1 << out_vc_o : '0;
  end

  assign in_valid_o = !word_q[2];
  assign in_data_o = word_q == '0 ? 12'h102 : {9'h2a, word_q};
  assign in_last_o = word_q == 3'd3;
  assign in_credit_o = credit[0];
  assign out_valid_o = valid[1];
  assign out_vc_o = vc[1];
  assign out_data_o = data[1][11:0];
  assign out_last_o = last[1];
  assign unused = &{
    valid[4:2], valid[0], vc[4:2], vc[0], data[4:2], data[1][31:12], data[0], last[4:2], last[0], credit[4:1], drained
  };

  torus_router #(
      .W(32),
      .CoordW(2)
  ) u_router (
      .clk_i,
      .rst_i,
      .x_i(2'd1),
      .y_i(2'd1),
      .last_x_i(2'd3),
      .last_y_i(2'd3),
      .in_valid_i({4'd0, in_valid_o}),
      .in_vc_i('0),
      .in_data_i({128'd0, 20'd0, in_data_o}),
      .in_last_i({4'd0, in_last_o}),
      .in_credit_o(credit),
      .out_valid_o(valid),
      .out_vc_o(vc),
      .out_data_o(data),
      .out_last_o(last),
      .out_credit_i({12'd0, out_credit_o, 4'd0}),
      .busy_o,
      .drained_o(drained)
  );
endmodule
