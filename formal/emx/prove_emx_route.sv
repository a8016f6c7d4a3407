// SPDX-License-Identifier: MIT OR Apache-2.0
// `emx_route` gives each packet the path to its receiver, and sends it whole, once, in order.
//
// - Who follows the path hop by hop from the sender's place stands at the receiver's place when it says `here`, and
//   passes column 4 at most twice. Nothing else of the packet changes.
// - Word 1 follows directly behind word 0. A packet begins only where there was room.
// - A packet for nobody is not sent. It is reported once, as it came.
//
// The hops are written here on their own: output b of row r leads to row 2r + b of the next column.
// Assumed: a packet comes where there is room, as `emx_output` sends it; the PE's number is one of a PE, and never
// changes.
module prove_emx_route #(
    parameter int RowBits = 4
) (
    input logic clk_i,
    input logic rst_i,
    input logic in_valid_i,
    input logic [38:0] in_data_i,
    input logic in_last_i,
    input logic out_room_i,
    input logic mark_i
);
  localparam int Pes = 5 << RowBits;

  logic [9:0] pe_q;
  always_ff @(posedge clk_i) pe_q <= pe_q;

  logic in_room, out_valid, out_last, nowhere, busy;
  logic [38:0] out_data;
  logic [77:0] nowhere_packet;
  logic [6:0] here, place;
  emx_route #(
      .RowBits(RowBits)
  ) dut (
      .clk_i,
      .rst_i,
      .pe_i(pe_q),
      .in_valid_i,
      .in_data_i,
      .in_last_i,
      .in_room_o(in_room),
      .out_valid_o(out_valid),
      .out_data_o(out_data),
      .out_last_o(out_last),
      .out_room_i,
      .here_o(here),
      .place_o(place),
      .nowhere_o(nowhere),
      .nowhere_packet_o(nowhere_packet),
      .busy_o(busy)
  );
  power_up u_power_up (.*);

  // ------------------------------------------------------------------------------------------ in, out, and their words
  logic head, known, push, pop, inside_q, out_inside_q, out_room_q, unknown_q, refused_q, follow;
  logic [38:0] word0_q, out_word0_q;
  logic [77:0] refused_packet_q;
  logic [1:0] count, ahead;
  logic [77:0] word;
  assign head  = in_valid_i && !in_last_i;
  assign known = int'(in_data_i[31:22]) < Pes;
  assign push  = in_valid_i && in_last_i && !unknown_q;
  assign pop   = out_valid && out_last;
  always_ff @(posedge clk_i) begin
    inside_q <= head && !rst_i;
    out_inside_q <= out_valid && !out_last && !rst_i;
    out_room_q <= out_room_i && !rst_i;
    unknown_q <= head && !known && !rst_i;
    refused_q <= unknown_q && !rst_i;
    refused_packet_q <= {word0_q, in_data_i};
    if (head) word0_q <= in_data_i;
    if (out_valid && !out_last) out_word0_q <= out_data;
  end

  // The way of the packet that goes: row, column and the rest of its path, hop by hop.
  function automatic logic arrives(input logic [6:0] from, input logic [6:0] to, input logic [9:0] path);
    logic [9:0] rest;
    logic [3:0] row;
    logic [2:0] column;
    logic [1:0] crossed;
    {row, column} = from;
    rest = path;
    crossed = '0;
    for (int i = 0; i < 9; i++) begin
      if (rest > 10'd1) begin
        row = 4'({row, rest[0]} & 5'((1 << RowBits) - 1));
        if (column == 3'd4) crossed = crossed + 2'd1;
        column = column == 3'd4 ? '0 : column + 3'd1;
        rest   = rest >> 1;
      end
    end
    arrives = rest == 10'd1 && {row, column} == to && crossed <= 2'd2;
  endfunction
  logic [6:0] here_at, to_at;
  logic [9:0] due_q;  // the receiver of the packet in `way_q`
  assign here_at = emx_place_pkg::place_of(3'(RowBits), pe_q);
  assign to_at   = emx_place_pkg::place_of(3'(RowBits), due_q);

  // Without the path, which the claim above is about.
  stream_track #(
      .W(78),
      .Capacity(1)
  ) u_track (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(push),
      .in_data_i({word0_q[38:32], 10'd0, word0_q[21:0], in_data_i}),
      .pop_i(pop),
      .out_data_i({out_word0_q[38:32], 10'd0, out_word0_q[21:0], out_data}),
      .inside_o(count),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(word)
  );

  // ------------------------------------------------------------------- registers
  logic coming, out_head;
  logic [38:0] before0_q, before1_q;
  assign coming   = inside_q && !unknown_q;
  assign out_head = out_valid && !out_last;
  always_ff @(posedge clk_i) begin
    if (head && known) due_q <= in_data_i[31:22];
    before0_q <= word0_q;
    before1_q <= in_data_i;
  end
  function automatic logic same(input logic [38:0] now, input logic [38:0] was);
    same = {now[38:32], now[21:0]} == {was[38:32], was[21:0]};
  endfunction

  always_ff @(posedge clk_i) begin
    a_pe : assume (int'(pe_q) < Pes);
    if (rst_i) begin
      place_in_reset : assert (place == here_at);
    end else begin
      word_1_behind_word_0 : assume (inside_q == (in_valid_i && in_last_i));
      begins_with_room : assume (!head || in_room);
      words_together : assert (out_inside_q == (out_valid && out_last));
      room_was_there : assert (!(out_valid && !out_last) || out_room_q);
      leads_there : assert (!(out_valid && !out_last) || arrives(here_at, to_at, out_data[31:22]));
      refused_once : assert (nowhere == refused_q);
      refused_as_it_came : assert (!nowhere || nowhere_packet == refused_packet_q);
      busy_tells : assert (busy || (count == '0 && !out_valid && !nowhere && !unknown_q));
      // Invariants for induction.
      own_place : assert (here == here_at);
      alive : assert (out_head == coming && count == 2'(out_inside_q));
      word_shown : assert (!out_head || same(out_data, word0_q));
      word_went : assert (!out_inside_q || same(out_word0_q, before0_q));
      second_shown : assert (!out_inside_q || out_data == before1_q);
      followed : assert (!follow || (ahead == '0 && word == {before0_q[38:32], 10'd0, before0_q[21:0], before1_q}));
      reports :
      assert (dut.refused_q == unknown_q && (!unknown_q || dut.first_q == word0_q) &&
              (!unknown_q || (inside_q && !out_head)));
      // The claims are not vacuous.
      longest : cover (out_valid && !out_last && out_data[31:22] >= 10'd1 << (RowBits + 4));
      refused : cover (nowhere);
    end
  end
endmodule
