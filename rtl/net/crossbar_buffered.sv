// SPDX-License-Identifier: MIT OR Apache-2.0
// N x N wormhole crossbar with a queue at each crosspoint.
//
// Purpose    a drop-in sibling of `crossbar` with the same ports and packets. A word waits in the queue of its input
//            and output, so no packet waits behind one for another output. The price is twice the area at four ports.
// Saturation words a cycle and port, with uniform packets of 1, 4 and 16 words: at four ports 0.97, 0.90 and 0.70. Long
//            packets hold outputs, and fill queues of 14 words. `crossbar` has 0.65 for each.
// Handshake  AXI4-Stream valid/ready/data/last on every port; every valid and ready is a function of flip-flops only.
//            out_source_o names the input of the offered word, for checks of the arbiter.
// Latency    a word taken at one clock edge is offered after the third edge after it (4 cycles transfer to transfer).
//            One word a cycle and port in the steady state: no bubble between packets, one-word packets included.
// Fairness   each output serves the least recently served input that has a word for it, so a waiting input is passed
//            over by at most N - 1 packets. An output stays with a packet until its last word.
// Full       a queue holds 14 words, and so does an output. A packet may begin while all queues of its input have room.
//            Inside a packet only its own queue counts, or packets that hold outputs could wait for each other for
//            ever.
// Misuse     with a digit of N or more (N not a power of two) the packet is drained and counted in unroutable_o, which
//            saturates. digit_i must be static. W must have room for the digits.
// busy_o     0 after an edge: nothing is inside, and further edges change nothing while no in_valid_i is set.
// Source     buffered crossbars are textbook; the organisation is ours.
module crossbar_buffered #(
    parameter int N = 4,  // ports a side, 2 or more
    parameter int W = 16,  // bits a word, at least Digits * $clog2(N)
    parameter int Digits = 1,  // digits in a first word, 1 or more
    localparam int DigitW = $clog2(N),
    localparam int SelectW = Digits > 1 ? $clog2(Digits) : 1
) (
    input  logic                           clk_i,
    input  logic                           rst_i,
    input  logic [SelectW-1:0]             digit_i,
    input  logic [      N-1:0]             in_valid_i,
    output logic [      N-1:0]             in_ready_o,
    input  logic [      N-1:0][     W-1:0] in_data_i,
    input  logic [      N-1:0]             in_last_i,
    output logic [      N-1:0]             out_valid_o,
    input  logic [      N-1:0]             out_ready_i,
    output logic [      N-1:0][     W-1:0] out_data_o,
    output logic [      N-1:0]             out_last_o,
    output logic [      N-1:0][DigitW-1:0] out_source_o,
    output logic                           busy_o,
    output logic [       15:0]             unroutable_o
);

  if (N < 2) begin : gen_bad_n
    crossbar_buffered_N_must_be_at_least_2 u_bad ();
  end
  if (Digits < 1 || W < Digits * DigitW) begin : gen_bad_digits
    crossbar_buffered_W_must_hold_Digits_of_clog2_N_bits u_bad ();
  end

  // Per input, over outputs: its queue has a word; that word ends a packet; it leaves; it left in the cycle before.
  logic [N-1:0][N-1:0] some_q, lasts, grant, granted_q;
  // Per output, over inputs: `granted_q`, and {last, data} of the word that left.
  logic [N-1:0][N-1:0] granted_to;
  logic [N-1:0][N-1:0][W:0] word;
  logic [N-1:0] waiting, ended;  // over inputs: some queue has a word; a packet without an output ended
  logic [N-1:0] room, more, busy;  // over outputs

  // Steps through 15 addresses: a shift register with feedback, a LUT instead of a counter's four.
  function automatic logic [3:0] next(input logic [3:0] address);
    next = {address[2:0], address[3] ~^ address[2]};
  endfunction

  for (genvar i = 0; i < N; i++) begin : gen_in
    logic [DigitW-1:0] digit;
    logic [N-1:0] to, to_q, full;  // over outputs: the packet's output; no room for more than two words
    logic ready_q, inside_d, inside_q, take;

    if (Digits > 1) begin : gen_digit
      assign digit = in_data_i[i][digit_i*DigitW+:DigitW];
    end else begin : gen_no_digit
      logic unused_digit;
      assign unused_digit = digit_i[0];
      assign digit = in_data_i[i][DigitW-1:0];
    end

    assign take = in_valid_i[i] && ready_q;
    assign to = inside_q ? to_q : N'(1) << digit;
    assign inside_d = take ? !in_last_i[i] : inside_q;
    assign in_ready_o[i] = ready_q;
    assign waiting[i] = some_q[i] != '0;

    always_ff @(posedge clk_i) begin
      to_q <= to;  // valid inside a packet only
      if (rst_i) begin
        inside_q <= 1'b0;
        ready_q  <= 1'b1;
      end else begin
        inside_q <= inside_d;
        ready_q  <= full == '0 || (inside_d && (full & to) == '0);
      end
    end

    for (genvar o = 0; o < N; o++) begin : gen_queue
      logic [W-1:0] words_q[16];
      logic lasts_q[16];
      logic [3:0] write_q, level_q;
      (* init = 0 *) logic [3:0] head_q, read_q;  // or Yosys copies them into the memories, with LUTs of their own
      logic push, last_q;

      assign push = take && to[o];
      assign full[o] = level_q[3] && level_q[2] && level_q[1:0] != '0;
      assign lasts[i][o] = lasts_q[head_q];
      assign granted_to[o][i] = granted_q[i][o];
      assign word[o][i] = {last_q, words_q[read_q]};

      always_ff @(posedge clk_i) begin
        words_q[write_q] <= in_data_i[i];  // there is always a free slot
        lasts_q[write_q] <= in_last_i[i];
        last_q <= lasts[i][o];
        read_q <= head_q;
        if (rst_i) begin
          write_q <= '0;
          head_q <= '0;
          level_q <= '0;
          some_q[i][o] <= 1'b0;
        end else begin
          if (push) write_q <= next(write_q);
          if (grant[i][o]) head_q <= next(head_q);
          if (push != grant[i][o]) level_q <= level_q + {{3{grant[i][o]}}, 1'b1};
          some_q[i][o] <= push || level_q[3:1] != '0 || (some_q[i][o] && !grant[i][o]);
        end
`ifdef TSUNAGI_ASSERT
        if (!rst_i) assert (level_q != 4'd15 && some_q[i][o] == (level_q != '0));
`endif
      end
    end

    if (2 ** DigitW == N) begin : gen_all_routable
      assign ended[i] = 1'b0;
    end else begin : gen_some_unroutable
      assign ended[i] = take && in_last_i[i] && to == '0;
    end
  end

  crossbar_arbiter #(
      .N(N)
  ) u_arbiter (
      .clk_i    (clk_i),
      .rst_i    (rst_i),
      .request_i(some_q),
      .last_i   (lasts),
      .room_i   (room),
      .more_i   (more),
      .grant_o  (grant),
      .granted_o(granted_q)
  );

  for (genvar o = 0; o < N; o++) begin : gen_out
    crossbar_output #(
        .N(N),
        .W(W)
    ) u_output (
        .clk_i    (clk_i),
        .rst_i    (rst_i),
        .granted_i(granted_to[o]),
        .word_i   (word[o]),
        .room_o   (room[o]),
        .more_o   (more[o]),
        .valid_o  (out_valid_o[o]),
        .ready_i  (out_ready_i[o]),
        .data_o   (out_data_o[o]),
        .last_o   (out_last_o[o]),
        .source_o (out_source_o[o]),
        .busy_o   (busy[o])
    );
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) busy_o <= 1'b1;
    else busy_o <= (in_valid_i | waiting | busy) != '0;
  end

  // Packets without an output, counted at their last word.
  if (2 ** DigitW == N) begin : gen_never_unroutable
    logic unused_ended;
    assign unused_ended = ^ended;
    assign unroutable_o = '0;
  end else begin : gen_unroutable
    logic [15:0] count_q;
    logic [16:0] count_d;
    always_comb begin
      count_d = {1'b0, count_q};
      for (int i = 0; i < N; i++) count_d = count_d + {16'd0, ended[i]};
    end
    always_ff @(posedge clk_i) begin
      if (rst_i) count_q <= '0;
      else count_q <= count_d[16] ? '1 : count_d[15:0];
    end
    assign unroutable_o = count_q;
  end

endmodule
