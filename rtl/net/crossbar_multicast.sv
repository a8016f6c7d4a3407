// SPDX-License-Identifier: MIT OR Apache-2.0
// N x N crossbar with routes by table and multicast.
//
// Purpose    carries packets (words up to and including `last`) from N input streams to N output streams. A packet's
//            first word has a destination, bits [DstAt +: 16], and a mark, bit MulticastAt. Without the mark the packet
//            goes to the output of the destination's route; with it, the destination is a group, and the packet goes to
//            each output of the group's mask, back to its own input's too if that is in the mask.
// Tables     routes of destinations 0 to 63, masks of groups 0 to 15. After reset destination d < N goes to output d,
//            group 0 to all outputs, all else nowhere. A table is written through cfg_*: cfg_entry_i is a group's mask,
//            or a route: the output in the low $clog2(N) bits, and the bit above them says that there is one. Groups
//            from 16 on do not exist. The entry counts for packets whose first word is taken at a later edge.
// Handshake  AXI4-Stream valid/ready/data/last on every port, valid/ready on cfg_*; every valid and ready is a function
//            of flip-flops only. For 65 cycles after reset the tables are being filled and all ready are low.
//            out_source_o names the input of the offered word, for checks.
// Latency    9 + Delay cycles transfer to transfer: a word taken at one clock edge is offered after the eighth edge and
//            Delay more after it. Of a multicast, all words count from its last one. One word a cycle and port.
// Multicast  is stored whole, and leaves in turns. A short one, marked by bit ShortAt, asks for all its outputs, and
//            goes at once to all that are free: an output begins a packet only with room for a short one, so the copies
//            of a turn never wait. A longer one goes to one output in a turn: to output i first at input i, then
//            upwards. 5 cycles lie between two turns. After a turn that was for several outputs, 3 lie before the next
//            packet.
// Deadlock   there is none. A turn holds several outputs only for the cycles of its words, and one output at the pace
//            of its own sink (formal/net/prove_multicast_turns.sv, src/net/dependencies.rs). Each turn reaches an
//            output, so a multicast ends after as many turns as it has outputs, at most.
// Order      packets from one input to one output keep it, multicasts included.
// Fairness   each output serves the least recently served input, so a waiting packet or copy is passed over by at most
//            N - 1 packets, and a whole multicast by at most N * (N - 1). While a turn of a short one lasts, of at most
//            8 cycles, its other outputs serve others, so of these a copy is passed over by at most 9 * (N - 1).
// Saturation words a cycle and port, with uniform packets of 1, 4 and 16 words: at eight ports 0.62, 0.62 and 0.61.
// Full       an output holds up to 14 words, an input 127 for MulticastWords = 70. Then its ready falls.
// Misuse     a packet without a route, or to an empty mask, is drained and counted in unroutable_o; a multicast of more
//            than MulticastWords words, or 4 if it is marked short, in refused_o. Both saturate. A route to output N or
//            more is none. The mark means nothing on a unicast packet.
// busy_o     0 after an edge: nothing is inside, and further edges change nothing while no valid input is set.
// Source     the papers name RHiNET-2/SW's multicast; tables, limits and organisation are ours.
module crossbar_multicast #(
    parameter int N = 8,  // ports a side, 2 to 64
    parameter int W = 64,  // bits a word
    parameter int MulticastWords = 70,  // longest multicast: 64 words and a header of 6
    parameter int DstAt = 32,  // lowest of the destination's 16 bits in a first word
    parameter int MulticastAt = 10,  // bit of a first word that marks a multicast
    parameter int ShortAt = 12,  // bit of a first word that marks a short packet, of at most 4 words
    parameter int Delay = 0,  // cycles that a word rests, 0 or more; full rate takes MulticastWords >= Delay + 8
    localparam int DigitW = $clog2(N)
) (
    input  logic                     clk_i,
    input  logic                     rst_i,
    input  logic                     cfg_valid_i,
    output logic                     cfg_ready_o,
    input  logic                     cfg_group_i,
    input  logic [  5:0]             cfg_index_i,
    input  logic [N-1:0]             cfg_entry_i,
    input  logic [N-1:0]             in_valid_i,
    output logic [N-1:0]             in_ready_o,
    input  logic [N-1:0][     W-1:0] in_data_i,
    input  logic [N-1:0]             in_last_i,
    output logic [N-1:0]             out_valid_o,
    input  logic [N-1:0]             out_ready_i,
    output logic [N-1:0][     W-1:0] out_data_o,
    output logic [N-1:0]             out_last_o,
    output logic [N-1:0][DigitW-1:0] out_source_o,
    output logic                     busy_o,
    output logic [ 15:0]             unroutable_o,
    output logic [ 15:0]             refused_o
);
  if (N < 2 || N > 64) begin : gen_bad_n
    crossbar_multicast_N_must_be_2_to_64 u_bad ();
  end
  if (MulticastWords < 1) begin : gen_bad_multicast_words
    crossbar_multicast_MulticastWords_must_be_at_least_1 u_bad ();
  end
  if (Delay < 0) begin : gen_bad_delay
    crossbar_multicast_Delay_must_be_at_least_0 u_bad ();
  end
  if (DstAt < 0 || DstAt + 16 > W || MulticastAt < 0 || MulticastAt >= W ||
      ShortAt < 0 || ShortAt >= W) begin : gen_bad_fields
    crossbar_multicast_W_must_hold_destination_and_mark u_bad ();
  end

  // The tables are filled with what they have after reset, entry by entry; bit 6: done.
  logic [6:0] fill_q;
  logic open, route_write, group_write;
  logic [5:0] index;
  logic [DigitW:0] route;
  logic [N-1:0] group;
  assign open = fill_q[6];
  assign route_write = !open || (cfg_valid_i && !cfg_group_i);
  assign group_write = !open || (cfg_valid_i && cfg_group_i && cfg_index_i[5:4] == '0);
  assign index = open ? cfg_index_i : fill_q[5:0];
  assign route[DigitW] = open ? cfg_entry_i[DigitW] && int'(cfg_entry_i[DigitW-1:0]) < N : int'(fill_q[5:0]) < N;
  assign route[DigitW-1:0] = open ? cfg_entry_i[DigitW-1:0] : fill_q[DigitW-1:0];
  assign group = open ? cfg_entry_i : {N{fill_q[3:0] == '0}};
  always_ff @(posedge clk_i) begin
    if (rst_i) fill_q <= '0;
    else if (!open) fill_q <= fill_q + 7'd1;
  end
  assign cfg_ready_o = open;

  localparam int ShortWords = 4;

  // As in crossbar: per input, over outputs.
  logic [N-1:0][N-1:0] request, grant, granted, lasts;
  logic [N-1:0][N-1:0] granted_to;  // per output, over inputs
  logic [N-1:0][  W:0] word  /*verilator split_var*/;
  logic [N-1:0] last, unroutable, refused, in_busy;  // over inputs
  logic [N-1:0] room, more, out_busy;  // over outputs

  for (genvar i = 0; i < N; i++) begin : gen_in
    multicast_input #(
        .N(N),
        .W(W),
        .MulticastWords(MulticastWords),
        .DstAt(DstAt),
        .MulticastAt(MulticastAt),
        .ShortAt(ShortAt),
        .ShortWords(ShortWords),
        .Own(i),
        .Delay(Delay)
    ) u_input (
        .clk_i        (clk_i),
        .rst_i        (rst_i),
        .open_i       (open),
        .route_write_i(route_write),
        .group_write_i(group_write),
        .index_i      (index),
        .route_i      (route),
        .group_i      (group),
        .in_valid_i   (in_valid_i[i]),
        .in_ready_o   (in_ready_o[i]),
        .in_data_i    (in_data_i[i]),
        .in_last_i    (in_last_i[i]),
        .request_o    (request[i]),
        .last_o       (last[i]),
        .grant_i      (grant[i]),
        .granted_i    (granted[i]),
        .word_o       (word[i]),
        .busy_o       (in_busy[i]),
        .unroutable_o (unroutable[i]),
        .refused_o    (refused[i])
    );
    assign lasts[i] = {N{last[i]}};
  end

  crossbar_arbiter #(
      .N(N)
  ) u_arbiter (
      .clk_i    (clk_i),
      .rst_i    (rst_i),
      .request_i(request),
      .last_i   (lasts),
      .room_i   (room),
      .more_i   (more),
      .grant_o  (grant),
      .granted_o(granted)
  );

  for (genvar o = 0; o < N; o++) begin : gen_out
    for (genvar i = 0; i < N; i++) begin : gen_from
      assign granted_to[o][i] = granted[i][o];
    end
    crossbar_output #(
        .N(N),
        .W(W),
        .Whole(ShortWords)
    ) u_output (
        .clk_i    (clk_i),
        .rst_i    (rst_i),
        .granted_i(granted_to[o]),
        .word_i   (word),
        .room_o   (room[o]),
        .more_o   (more[o]),
        .valid_o  (out_valid_o[o]),
        .ready_i  (out_ready_i[o]),
        .data_o   (out_data_o[o]),
        .last_o   (out_last_o[o]),
        .source_o (out_source_o[o]),
        .busy_o   (out_busy[o])
    );
  end

  function automatic logic [15:0] counted(input logic [15:0] count, input logic [N-1:0] events);
    logic [DigitW:0] some;
    logic [16:0] sum;
    some = '0;
    for (int i = 0; i < N; i++) some = some + (DigitW + 1)'(events[i]);
    sum = {1'b0, count} + 17'(some);
    counted = sum[16] ? '1 : sum[15:0];
  endfunction

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      busy_o <= 1'b1;
      unroutable_o <= '0;
      refused_o <= '0;
    end else begin
      busy_o <= !open || (in_valid_i | in_busy | out_busy) != '0;
      unroutable_o <= counted(unroutable_o, unroutable);
      refused_o <= counted(refused_o, refused);
    end
  end
endmodule
