// SPDX-License-Identifier: MIT OR Apache-2.0
// Merges N streams into one, packet by packet, least recently served first.
//
// Handshake  valid/ready/data/last streams. A packet (words up to and including `last`) stays whole. With Packets = 0
//            every word is a packet and `in_last_i` is ignored. `out_from_o` is the stream of the word, one-hot.
// Fairness   least recently served first. The first packet of a stream is passed over by at most N - 1 others, and by
//            the words that are inside already.
// Latency    2 cycles, 1 for the stream that has the turn already: the one that was served last, or Home. 1 word per
//            cycle, no bubble between packets, also of different streams.
// Full       holds two words; then `in_ready_o` is low.
// Misuse     a stream that pauses inside a packet holds up all the others.
// Reset      empties it, in mid-packet too.
// busy_o     low when nothing is inside. With Home, the cycle behind a reset must have its edge all the same.
// Source     a matrix of ages, textbook. The turn is registered before the word is read, so the arbiter and the words'
//            multiplexer are in different cycles. The turn stays until another stream requests it, so one stream alone
//            loses nothing.
module stream_merge #(
    parameter int N = 4,  // streams, >= 1
    parameter int W = 32,  // bits of a word, >= 1
    parameter bit Packets = 1'b1,  // 0: every word is a packet
    parameter int Home = -1  // stream that has the turn while none requests it; -1: the one that was served last
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [N-1:0] in_valid_i,
    output logic [N-1:0] in_ready_o,
    input logic [N-1:0][W-1:0] in_data_i,
    input logic [N-1:0] in_last_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [W-1:0] out_data_o,
    output logic out_last_o,
    output logic [N-1:0] out_from_o
);
  if (N < 1) begin : gen_bad_n
    stream_merge_N_must_be_at_least_1 u_bad ();
  end
  if (W < 1) begin : gen_bad_w
    stream_merge_W_must_be_at_least_1 u_bad ();
  end
  if (Home < -1 || Home >= N) begin : gen_bad_home
    stream_merge_Home_must_be_a_stream u_bad ();
  end

  // Over streams: the one with the turn, one-hot; the one with the next turn.
  logic [N-1:0] turn_q, next;
  logic room, offers, take, last, inside_q, leave;

  assign in_ready_o = turn_q & {N{room}};
  assign offers = (in_valid_i & turn_q) != '0;
  assign take = offers && room;
  assign last = !Packets || (in_last_i & turn_q) != '0;
  assign leave = take ? last : !offers && !inside_q;

  for (genvar i = 0; i < N; i++) begin : gen_in
    logic [N-1:0] older;  // served longer ago than this one

    for (genvar j = 0; j < N; j++) begin : gen_rival
      if (j < i) begin : gen_pair
        logic older_q;
        always_ff @(posedge clk_i) begin
          if (rst_i) older_q <= 1'b0;
          else if (leave) older_q <= (older_q && !next[j]) || next[i];
        end
        assign older[j] = older_q;
      end else if (j > i) begin : gen_mirror
        assign older[j] = !gen_in[j].gen_rival[i].gen_pair.older_q;
      end else begin : gen_self
        assign older[j] = 1'b0;
      end
    end

    // The stream with the turn counts as served last: it is next only when no other requests.
    assign next[i] = (in_valid_i == '0) ? i == Home : in_valid_i[i] && (in_valid_i & older) == '0;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      turn_q   <= N'(1);
      inside_q <= 1'b0;
    end else begin
      if (leave && next != '0) turn_q <= next;
      if (take) inside_q <= !last;
    end
  end

  logic [W-1:0] word;
  always_comb begin
    word = '0;
    for (int i = 0; i < N; i++) word |= in_data_i[i] & {W{turn_q[i]}};
  end

  skid #(
      .W(N + 1 + W)
  ) u_out (
      .clk_i,
      .rst_i,
      .in_valid_i(take),
      .in_ready_o(room),
      .in_data_i ({turn_q, last, word}),
      .out_valid_o,
      .out_ready_i,
      .out_data_o({out_from_o, out_last_o, out_data_o})
  );
  assign busy_o = out_valid_o;
endmodule
