// N streams onto one, packet by packet, whoever was served longest ago first.
//
// Handshake  valid/ready/data/last streams. A packet (words up to and including `last`) stays whole; where every word is a packet,
//            `in_last_i` is all ones. `out_index_o` tells the stream that the word came from.
// Fairness   least recently served first: a packet that is first in its stream is passed over by at most N - 1 others, and the one
//            whose turn it is already.
// Latency    1 cycle. 1 word per cycle, no bubble between packets, whatever streams they are of.
// Full       the output holds one word; each input one more, then its `in_ready_o` is low.
// Misuse     a stream that pauses inside a packet holds up all the others.
// Reset      empties it, in mid-packet too; the lowest index is first in line.
// busy_o     low when nothing is inside.
// Source     a matrix of ages, textbook.
module stream_merge #(
    parameter int N = 4,  // streams, >= 1
    parameter int W = 32,  // bits of a word, >= 1
    localparam int IndexW = (N > 1) ? $clog2(N) : 1
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
    output logic [IndexW-1:0] out_index_o
);
  if (N < 1) begin : gen_bad_n
    stream_merge_N_must_be_at_least_1 u_bad ();
  end
  if (W < 1) begin : gen_bad_w
    stream_merge_W_must_be_at_least_1 u_bad ();
  end

  // Over streams: a word waits; whose turn it is, if the output is free; inside a packet of it.
  logic [N-1:0] valid, waits, turn, take, hold_q;
  logic [N-1:0][W:0] word;  // {last, data}
  logic free;

  assign free = !out_valid_o || out_ready_i;
  assign take = free ? turn : '0;

  for (genvar i = 0; i < N; i++) begin : gen_in
    logic [N-1:0] older;  // served longer ago than this one

    command_queue #(
        .W(W + 1),
        .Early(1'b1)
    ) u_queue (
        .clk_i,
        .rst_i,
        .in_valid_i (in_valid_i[i]),
        .in_ready_o (in_ready_o[i]),
        .in_data_i  ({in_last_i[i], in_data_i[i]}),
        .out_valid_o(valid[i]),
        .out_ready_i(take[i]),
        .out_data_o (word[i]),
        .waits_o    (waits[i])
    );

    for (genvar j = 0; j < N; j++) begin : gen_rival
      if (j < i) begin : gen_pair
        logic older_q;
        always_ff @(posedge clk_i) begin
          if (rst_i) older_q <= 1'b1;
          else older_q <= (older_q && !take[j]) || take[i];
        end
        assign older[j] = older_q;
      end else if (j > i) begin : gen_mirror
        assign older[j] = !gen_in[j].gen_rival[i].gen_pair.older_q;
      end else begin : gen_self
        assign older[j] = 1'b0;
      end
    end

    assign turn[i] = valid[i] && (hold_q[i] || (hold_q == '0 && (valid & older) == '0));
  end

  logic [W:0] word_d;
  logic [IndexW-1:0] index_d;
  always_comb begin
    word_d  = '0;
    index_d = '0;
    for (int i = 0; i < N; i++) begin
      word_d |= word[i] & {(W + 1) {turn[i]}};
      index_d |= IndexW'(i) & {IndexW{turn[i]}};
    end
  end

  always_ff @(posedge clk_i) begin
    if (free) begin
      {out_last_o, out_data_o} <= word_d;
      out_index_o <= index_d;
    end
    if (rst_i) begin
      out_valid_o <= 1'b0;
      hold_q <= '0;
    end else if (free) begin
      out_valid_o <= turn != '0;
      if (turn != '0) hold_q <= turn & ~{N{word_d[W]}};
    end
  end

  assign busy_o = out_valid_o || waits != '0;
endmodule
