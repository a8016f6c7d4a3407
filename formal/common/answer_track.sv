// SPDX-License-Identifier: MIT OR Apache-2.0
// Responses of one direction of a slave in front of a window: one access, any access, is followed from its request
// through the window's response to its own response.
//
// Purpose    `mark_i` is free, so the followed access stands for every one. Its response comes after exactly the
//            responses that were due at its request. It carries the window's data and error, and comes right after
//            them. So none is lost, doubled, invented, overtaken or altered. The window responds in the order of the
//            requests.
// Handshake  `ask_i`, of this direction, `rsp_i`, of both, and `taken_i` are transfers.
// Outputs    for a proof's invariants: the number of open accesses, and whether the followed one is among them. Also
//            the number of accesses, and of window responses, ahead of it, and the window's response to it, if any.
module answer_track #(
    parameter int W = 4,  // bits of a response, the highest of which is an error
    parameter int TagW = 1,  // bits of the tag of an access and its response
    parameter int Capacity = 4,  // open accesses, at most
    parameter int RequestedW = 4,
    localparam int CountW = $clog2(Capacity + 2)
) (
    input logic clk_i,
    input logic rst_i,
    input logic mark_i,
    input logic ask_i,
    input logic [TagW-1:0] tag_i,
    input logic refuse_i,  // no request to the window: the response is an error
    input logic [RequestedW-1:0] requested_i,  // accesses of both directions without a response
    input logic rsp_i,
    input logic [W-1:0] rsp_data_i,
    input logic valid_i,
    input logic taken_i,
    input logic [TagW-1:0] answer_tag_i,
    input logic [W-1:0] data_i,
    output logic [CountW-1:0] open_o,
    output logic follow_o,
    output logic [CountW-1:0] ahead_o,
    output logic [RequestedW-1:0] rsp_ahead_o,
    output logic reported_o,
    output logic [TagW-1:0] tag_o,
    output logic [W-1:0] word_o
);
  logic enter, next, refused_q, reported_q;
  logic [W-1:0] word_q, seen;
  assign enter = ask_i && mark_i && !follow_o;
  assign reported_o = reported_q || refused_q;
  assign word_o = refused_q ? {1'b1, (W - 1)'(0)} : word_q;
  assign seen = refused_q ? {data_i[W-1], (W - 1)'(0)} : data_i;  // the data of a refused access mean nothing
  assign next = follow_o && ahead_o == '0;  // the followed access gets the next response

  always_ff @(posedge clk_i) begin
    open_o <= open_o + CountW'(ask_i) - CountW'(taken_i);
    if (enter) begin
      follow_o <= 1'b1;
      tag_o <= tag_i;
      refused_q <= refuse_i;
      reported_q <= 1'b0;
      ahead_o <= open_o - CountW'(taken_i);
      rsp_ahead_o <= requested_i - RequestedW'(rsp_i);
    end else begin
      if (taken_i && next) follow_o <= 1'b0;
      if (taken_i) ahead_o <= ahead_o - CountW'(1);
      if (rsp_i) rsp_ahead_o <= rsp_ahead_o - RequestedW'(1);
      if (rsp_i && !reported_q && rsp_ahead_o == '0) {reported_q, word_q} <= {1'b1, rsp_data_i};
    end
    if (rst_i) begin
      open_o   <= '0;
      follow_o <= 1'b0;
    end
    if (!rst_i) begin
      answer_was_due : assert (!valid_i || open_o != '0);
      answer_as_reported : assert (!valid_i || !next || (reported_o && seen == word_o && answer_tag_i == tag_o));
      answer_comes : assert (!next || !reported_o || refused_q || valid_i);
      no_more_open : assert (open_o <= CountW'(Capacity));
      answered : cover (taken_i && next);
      all_open : cover (taken_i && follow_o && ahead_o == CountW'(Capacity - 1));
    end
  end
endmodule
