// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules of the data and the responses of AXI4 writes, for one ID: an offer holds, data are as long as their address
// says, and a response comes after both.
//
// Purpose    the master's side of W and the slave's side of B. In the proof of a master W is proved and B is assumed.
//            In simulation harness::axi::Rules holds both sides to the same rules, in every run. The proofs of our
//            slaves go further (burst_track, prove_axi_window).
// Outputs    `open_o`: bursts with an address taken and a response to come.
// Source     AXI4 (IHI 0022), A3.2.1, A3.3.1 and A3.4.1.
module axi_write_rules #(
    parameter int DataW = 32,  // bits of a word
    parameter int Open = 3,  // bursts that may be open, >= 2
    localparam int OpenW = $clog2(Open + 1)
) (
    input logic clk_i,
    input logic rst_i,
    input logic aw_valid_i,
    input logic aw_ready_i,
    input logic [7:0] aw_len_i,
    input logic w_valid_i,
    input logic w_ready_i,
    input logic [DataW-1:0] w_data_i,
    input logic [DataW/8-1:0] w_strb_i,
    input logic w_last_i,
    input logic b_valid_i,
    input logic b_ready_i,
    input logic [1:0] b_resp_i,
    output logic [OpenW-1:0] open_o
);
  // Addresses without their data, and data without their address: each burst is paired when both are there.
  logic address, data, pair;
  logic [7:0] address_len, data_len, beat_q, unused_address, unused_data;
  logic [OpenW-1:0] addresses, datas, landed_q;
  assign address = aw_valid_i && aw_ready_i;
  assign data = w_valid_i && w_ready_i && w_last_i;
  assign pair = addresses != '0 && datas != '0;
  assign open_o = addresses + landed_q;

  axi_queue #(
      .W(8),
      .Depth(Open)
  ) u_address (
      .clk_i,
      .rst_i,
      .push_i(address),
      .data_i(aw_len_i),
      .pop_i(pair),
      .count_o(addresses),
      .head_o(address_len),
      .second_o(unused_address)
  );
  axi_queue #(
      .W(8),
      .Depth(Open)
  ) u_data (
      .clk_i,
      .rst_i,
      .push_i(data),
      .data_i(beat_q),
      .pop_i(pair),
      .count_o(datas),
      .head_o(data_len),
      .second_o(unused_data)
  );
  always_ff @(posedge clk_i) begin
    if (rst_i || data) beat_q <= '0;
    else if (w_valid_i && w_ready_i) beat_q <= beat_q + 8'd1;
    if (rst_i) landed_q <= '0;
    else landed_q <= landed_q + OpenW'(pair) - OpenW'(b_valid_i && b_ready_i);
  end

  stream_rules #(
      .W(DataW + DataW / 8 + 1)
  ) u_w (
      .clk_i,
      .rst_i,
      .valid_i(w_valid_i),
      .ready_i(w_ready_i),
      .data_i ({w_data_i, w_strb_i, w_last_i})
  );
  stream_rules #(
      .W(2),
      .Assume(1'b1)
  ) u_b (
      .clk_i,
      .rst_i,
      .valid_i(b_valid_i),
      .ready_i(b_ready_i),
      .data_i (b_resp_i)
  );
  always_ff @(posedge clk_i)
    if (!rst_i) begin
      as_long_as_said : assert (!pair || data_len == address_len);
      answer_was_due : assume (!b_valid_i || landed_q != '0);
    end
endmodule
