// SPDX-License-Identifier: MIT OR Apache-2.0
// `crossbar` carries words to the output that their packet names, in order and in whole packets, fairly and without
// deadlock.
//
// crossbar_rules has the claims. Here are the inputs, each with a head and a next word.
module prove_crossbar #(
    parameter  int N       = 2,
    parameter  int W       = 2,
    parameter  int Digits  = 1,
    parameter  int Dst     = 0,
    localparam int DigitW  = $clog2(N),
    localparam int SelectW = Digits > 1 ? $clog2(Digits) : 1
) (
    input logic clk_i,
    input logic rst_i,
    input logic [SelectW-1:0] digit_i,
    input logic [N-1:0] in_valid_i,
    input logic [N-1:0][W-1:0] in_data_i,
    input logic [N-1:0] in_last_i,
    input logic [N-1:0] out_ready_i,
    input logic mark_i
);
  localparam int Words = 3;  // of one input on the way to an output's queue
  localparam int WordsW = $clog2(Words + 2);

  logic [N-1:0] in_ready, out_valid, out_last;
  logic [N-1:0][W-1:0] out_data;
  logic [N-1:0][DigitW-1:0] out_source;
  logic busy;
  logic [15:0] unroutable;

  crossbar #(
      .N(N),
      .W(W),
      .Digits(Digits)
  ) dut (
      .clk_i,
      .rst_i,
      .digit_i,
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_data_i,
      .in_last_i,
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o(out_data),
      .out_last_o(out_last),
      .out_source_o(out_source),
      .busy_o(busy),
      .unroutable_o(unroutable)
  );
  logic [N-1:0] first, lost;
  logic [N-1:0][DigitW-1:0] to;
  logic [DigitW-1:0] src;
  logic follow, granted_in_place;
  logic [WordsW-1:0] count, ahead, granted;
  logic [W:0] word;
  int lost_inside;
  // Per input: the words inside, and their requests.
  logic [N-1:0] head_valid, head_last, popped;
  logic [N-1:0][N:0] next;
  logic [N-1:0][N-1:0] request, lock;
  logic [N-1:0][W:0] head_word, next_word;
  logic [N-1:0][1:0] stored;
  crossbar_rules #(
      .N(N),
      .W(W),
      .Digits(Digits),
      .Dst(Dst),
      .Words(Words)
  ) u_rules (
      .clk_i,
      .rst_i,
      .digit_i,
      .in_valid_i,
      .in_ready_i(in_ready),
      .in_data_i,
      .in_last_i,
      .out_valid_i(out_valid),
      .out_ready_i,
      .out_data_i(out_data),
      .out_last_i(out_last),
      .out_source_i(out_source),
      .busy_i(busy),
      .unroutable_i(unroutable),
      .mark_i,
      .waiting_i(head_valid),
      .lost_inside_i(lost_inside),
      .first_o(first),
      .lost_o(lost),
      .to_o(to),
      .src_o(src),
      .count_o(count),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(word),
      .granted_o(granted),
      .in_place_o(granted_in_place)
  );

  // An input's memory is addressed in Gray code.
  function automatic logic [1:0] binary(input logic [1:0] code);
    binary = {code[1], code[1] ^ code[0]};
  endfunction
  function automatic logic [1:0] gray(input logic [1:0] n);
    gray = {n[1], n[1] ^ n[0]};
  endfunction

  assign head_valid = dut.head_valid_q;
  assign head_last  = dut.head_last_q;
  assign request    = dut.request_q;
  for (genvar i = 0; i < N; i++) begin : gen_input
    logic [1:0] read;
    assign read = binary(dut.gen_in[i].read_q);
    assign stored[i] = binary(dut.gen_in[i].write_q) - read;
    assign popped[i] = dut.gen_in[i].popped_q;
    assign next[i] = dut.gen_in[i].next_q;
    assign head_word[i] = dut.gen_in[i].words_q[gray(read+2'(popped[i]))];
    assign next_word[i] = dut.gen_in[i].words_q[gray(read+2'(popped[i])+2'd1)];
    assign lock[i] = dut.u_arbiter.gen_input[i].lock_q;

    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        words_stored : assert (3'(stored[i]) == 3'(head_valid[i]) + 3'(!in_ready[i]) + 3'(popped[i]));
        next_behind_head : assert (in_ready[i] || head_valid[i]);
        no_head_no_request : assert (head_valid[i] || {head_last[i], request[i]} == '0);
        one_request : assert ((request[i] & (request[i] - N'(1))) == '0);
        one_next : assert ((next[i][N-1:0] & (next[i][N-1:0] - N'(1))) == '0);
        granted_was_popped : assert (dut.granted_q[i] == '0 || popped[i]);
        one_granted : assert ((dut.granted_q[i] & (dut.granted_q[i] - N'(1))) == '0);
        head_is_last : assert (!head_valid[i] || head_last[i] == head_word[i][W]);
        next_is_last : assert (in_ready[i] || next[i][N] == next_word[i][W]);
        next_goes_on : assert (in_ready[i] || head_last[i] || next[i][N-1:0] == request[i]);
        head_is_newest : assert (!in_ready[i] || !head_valid[i] || next[i] == {head_last[i], request[i]});
        packet_ended : assert (first[i] == next[i][N]);
        packet_goes_on : assert (first[i] || next[i][N-1:0] == (lost[i] ? '0 : N'(1) << to[i]));
        lost_is_known : assert (first[i] || lost[i] == (int'(to[i]) >= N));
        one_locked : assert ((lock[i] & (lock[i] - N'(1))) == '0);
        if (lock[i] != '0) begin
          locked : assert (head_valid[i] ? request[i] == lock[i] : next[i] == {1'b0, lock[i]});
        end else begin
          unlocked : assert (head_valid[i] || next[i][N] || next[i][N-1:0] == '0);
        end
      end
    end
  end

  // Words of the followed input: how many, and whether the followed word is in its place.
  logic in_place;
  logic [WordsW-1:0] found;
  always_comb begin
    in_place = granted_in_place;
    found = granted;
    if (request[src][Dst]) begin
      if (found == ahead && head_word[src] != word) in_place = 1'b0;
      found = found + WordsW'(1);
    end
    if (!in_ready[src] && next[src][Dst]) begin
      if (found == ahead && next_word[src] != word) in_place = 1'b0;
      found = found + WordsW'(1);
    end
    lost_inside = 0;
    for (int i = 0; i < N; i++) begin
      if (head_valid[i] && head_last[i] && request[i] == '0) lost_inside = lost_inside + 1;
      if (!in_ready[i] && next[i] == {1'b1, N'(0)}) lost_inside = lost_inside + 1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      order : assert (found == count && (!follow || in_place));
    end
  end
endmodule
