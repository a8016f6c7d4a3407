// SPDX-License-Identifier: MIT OR Apache-2.0
// `crossbar_buffered` carries words to the output that their packet names, in order and in whole packets, fairly and
// without deadlock.
//
// crossbar_rules has the claims. Here are the queues, one for each input and output: none overflows. An input is ready
// unless the queue of its packet has 13 words or, between packets, any of its queues has.
module prove_crossbar_buffered #(
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
  localparam int Words = 14;  // of one input on the way to an output's queue
  localparam int WordsW = $clog2(Words + 2);

  logic [N-1:0] in_ready, out_valid, out_last;
  logic [N-1:0][W-1:0] out_data;
  logic [N-1:0][DigitW-1:0] out_source;
  logic busy;
  logic [15:0] unroutable;

  crossbar_buffered #(
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
  logic [N-1:0] first, waiting, unused_lost;
  logic [N-1:0][DigitW-1:0] to;
  logic [DigitW-1:0] src;
  logic follow, granted_in_place;
  logic [WordsW-1:0] count, ahead, granted;
  logic [W:0] word;
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
      .waiting_i(waiting),
      .lost_inside_i(32'd0),
      .first_o(first),
      .lost_o(unused_lost),
      .to_o(to),
      .src_o(src),
      .count_o(count),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(word),
      .granted_o(granted),
      .in_place_o(granted_in_place)
  );

  // The address n words after another: a shift register with feedback.
  function automatic logic [3:0] place(input logic [3:0] from, input logic [3:0] n);
    place = from;
    for (int i = 0; i < Words; i++) if (i < int'(n)) place = {place[2:0], place[3] ~^ place[2]};
  endfunction

  // Every input: its packet's queue (between packets all its queues) had room for more than two words in the cycle
  // before.
  for (genvar i = 0; i < N; i++) begin : gen_ready
    logic [N-1:0] some, full, wants;
    logic roomy_q, takes, amid;  // `amid`, `goes`: inside a packet after this cycle's word, and its output
    logic [DigitW-1:0] goes;
    for (genvar o = 0; o < N; o++) begin : gen_queue
      assign some[o]  = dut.gen_in[i].gen_queue[o].level_q != '0;
      assign full[o]  = dut.gen_in[i].gen_queue[o].level_q > 4'd12;
      assign wants[o] = !amid || int'(goes) == o;
    end
    assign takes = in_valid_i[i] && in_ready[i];
    assign amid = takes ? !in_last_i[i] : !first[i];
    assign goes = u_rules.to[i];
    assign waiting[i] = some != '0;
    always_ff @(posedge clk_i) begin
      roomy_q <= !rst_i && (full & wants) == '0;
      if (!rst_i) begin
        accepts : assert (!roomy_q || in_ready[i]);
        passes_full_queue : cover (takes && !first[i] && full != '0);
      end
    end
  end

  // Every queue.
  for (genvar i = 0; i < N; i++) begin : gen_from
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        same_packet :
        assert (dut.gen_in[i].inside_q == !first[i] && (first[i] || dut.gen_in[i].to_q == N'(1) << to[i]));
      end
    end
    for (genvar o = 0; o < N; o++) begin : gen_to
      logic [3:0] level, head, newest;
      logic lock, mine;  // a packet from here is leaving; coming in
      assign level  = dut.gen_in[i].gen_queue[o].level_q;
      assign head   = dut.gen_in[i].gen_queue[o].head_q;
      assign newest = place(head, level - 4'd1);
      assign lock   = dut.u_arbiter.gen_input[i].lock_q[o];
      assign mine   = !first[i] && int'(to[i]) == o;
      always_ff @(posedge clk_i) begin
        if (!rst_i) begin
          level_fits : assert (int'(level) + int'(dut.granted_q[i][o]) <= Words);
          ready_has_room :
          assert (!in_ready[i] || (!first[i] && !mine) || int'(level) + int'(dut.granted_q[i][o]) < Words);
          shows_some : assert (dut.some_q[i][o] == (level != '0));
          places : assert (head != 4'd15 && dut.gen_in[i].gen_queue[o].write_q == place(head, level));
          goes_on : assert (level == '0 ? lock == mine : dut.gen_in[i].gen_queue[o].lasts_q[newest] != mine);
        end
      end
    end
  end

  // Words of the followed input: how many, and whether the followed word is in its place.
  logic [3:0] stored, oldest, at;
  logic [N-1:0][3:0] levels, heads;
  logic [N-1:0][W:0] at_place;
  for (genvar i = 0; i < N; i++) begin : gen_followed
    assign levels[i] = dut.gen_in[i].gen_queue[Dst].level_q;
    assign heads[i] = dut.gen_in[i].gen_queue[Dst].head_q;
    assign at_place[i] = {dut.gen_in[i].gen_queue[Dst].lasts_q[at], dut.gen_in[i].gen_queue[Dst].words_q[at]};
  end
  assign stored = levels[src];
  assign at = place(heads[src], 4'(ahead - granted));
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      order : assert (granted + WordsW'(stored) == count);
      in_place : assert (!follow || (granted_in_place && (ahead < granted || at_place[src] == word)));
    end
  end
endmodule
