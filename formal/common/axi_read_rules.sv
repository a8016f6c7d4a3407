// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules of the data of AXI4 reads, for one ID: an offer holds, belongs to a request, and ends with its burst.
//
// Purpose    the slave's side of R, assumed in the proof of a master. In simulation harness::axi::Rules holds both
//            sides to the same rules, in every run. The proofs of our slaves go further (burst_track, answer_track).
// Outputs    `open_o`: bursts with an address taken and a last beat to come.
// Source     AXI4 (IHI 0022), A3.2.1, A3.3.1 and A5.3.
module axi_read_rules #(
    parameter int DataW = 32,  // bits of a word
    parameter int Open = 3,  // bursts that may be open, >= 2
    localparam int OpenW = $clog2(Open + 1)
) (
    input logic clk_i,
    input logic rst_i,
    input logic ar_valid_i,
    input logic ar_ready_i,
    input logic [7:0] ar_len_i,
    input logic r_valid_i,
    input logic r_ready_i,
    input logic [DataW-1:0] r_data_i,
    input logic [1:0] r_resp_i,
    input logic r_last_i,
    output logic [OpenW-1:0] open_o
);
  logic take;
  logic [7:0] len, beat_q, unused_len;
  assign take = r_valid_i && r_ready_i;

  axi_queue #(
      .W(8),
      .Depth(Open)
  ) u_command_buffer (
      .clk_i,
      .rst_i,
      .push_i(ar_valid_i && ar_ready_i),
      .data_i(ar_len_i),
      .pop_i(take && r_last_i),
      .count_o(open_o),
      .head_o(len),
      .second_o(unused_len)
  );
  always_ff @(posedge clk_i) begin
    if (rst_i || (take && r_last_i)) beat_q <= '0;
    else if (take) beat_q <= beat_q + 8'd1;
  end

  stream_rules #(
      .W(DataW + 3),
      .Assume(1'b1)
  ) u_offer (
      .clk_i,
      .rst_i,
      .valid_i(r_valid_i),
      .ready_i(r_ready_i),
      .data_i ({r_data_i, r_resp_i, r_last_i})
  );
  always_ff @(posedge clk_i)
    if (!rst_i) begin
      data_was_requested : assume (!r_valid_i || open_o != '0);
      last_is_last : assume (!r_valid_i || r_last_i == (beat_q == len));
    end
endmodule
