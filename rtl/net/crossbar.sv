// SPDX-License-Identifier: MIT OR Apache-2.0
// N x N wormhole crossbar.
//
// Purpose    carries packets (words up to and including `last`) from N input streams to N output streams. A digit of
//            the packet's first word selects the output: bits [digit_i * $clog2(N) +: $clog2(N)]. Later words follow
//            the first.
// Handshake  AXI4-Stream valid/ready/data/last on every port; every valid and ready is a function of flip-flops only.
//            out_source_o names the input of the offered word, for checks of the arbiter.
// Latency    a word taken at one clock edge is offered after the third edge after it (4 cycles transfer to transfer).
//            One word a cycle and port in the steady state: no bubble between packets, one-word packets included.
// Fairness   each output serves the least recently served input that requests it, so a waiting input is passed over by
//            at most N - 1 packets. An output stays with a packet until its last word.
// Saturation words a cycle and port, with uniform packets of 1, 4 and 16 words: at four ports 0.65, 0.65 and 0.65.
// Full       an output holds up to 14 words, an input two more. Then its ready falls; nothing is lost.
// Misuse     with a digit of N or more (N not a power of two) the packet is drained and counted in unroutable_o, which
//            saturates. digit_i must be static. W must have room for the digits.
// busy_o     0 after an edge: nothing is inside, and further edges change nothing while no in_valid_i is set.
// Why so     the loop of head, arbiter, pop and next head cannot be cut, so only control is in it. Data waits in LUT
//            RAM, follows the registered grant a cycle later, is gated per crosspoint (the flip-flop's own reset) and
//            ORed. Vectors run over outputs, so a simulator does all outputs in one operation.
// Source     common machinery, used by more than one machine; the organisation is ours.
module crossbar #(
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
    crossbar_N_must_be_at_least_2 u_bad ();
  end
  if (Digits < 1 || W < Digits * DigitW) begin : gen_bad_digits
    crossbar_W_must_hold_Digits_of_clog2_N_bits u_bad ();
  end

  // Per input, over outputs: the request of its head word; its grant, now and in the cycle before; the end of its
  // packet.
  logic [N-1:0][N-1:0] request_q, grant, granted_q, lasts;
  logic [N-1:0][N-1:0] granted_to;  // per output, over inputs
  // Over inputs.
  logic [N-1:0] head_valid_q, head_last_q, drop, ready_q;
  logic [N-1:0][W:0] word  /*verilator split_var*/;  // {last, data} of the word granted in the cycle before
  logic [N-1:0] room, more, busy;  // over outputs

  assign in_ready_o = ready_q;

  // {last, request} of a word at an input: a word inside a packet repeats the request of the word before.
  function automatic logic [N:0] request_of(input logic last, input logic [DigitW-1:0] digit,
                                            input logic [N:0] previous);
    request_of = {last, previous[N] ? N'(1) << digit : previous[N-1:0]};
  endfunction

  // The head after a cycle; all zero is no head. The next word follows if the head pops or there was none. An `if`
  // around the registers would become a clock enable, a hop more in the loop that limits the clock.
  function automatic logic [N:0] head(input logic pop, input logic valid, input logic [N:0] now,
                                      input logic [N:0] next);
    head = pop ? next : now | (valid ? '0 : next);
  endfunction

  // Inputs: the requests of a head and a next word in flip-flops, the words themselves in LUT RAM.
  for (genvar i = 0; i < N; i++) begin : gen_in
    logic [DigitW-1:0] digit;
    logic [N:0] next_q;  // {last, request} of the last word taken in, even if it has left this stage
    logic pop, popped_q;
    logic [W:0] words_q[4];
    logic [1:0] write_q;
    (* init = 0 *) logic [1:0] read_q;  // or Yosys copies it into the memory, with LUTs of its own

    if (Digits > 1) begin : gen_digit
      assign digit = in_data_i[i][digit_i*DigitW+:DigitW];
    end else begin : gen_no_digit
      logic unused_digit;
      assign unused_digit = digit_i[0];
      assign digit = in_data_i[i][DigitW-1:0];
    end
    if (2 ** DigitW == N) begin : gen_all_routable
      assign drop[i] = 1'b0;
    end else begin : gen_some_unroutable
      assign drop[i] = head_valid_q[i] && request_q[i] == '0;
    end
    assign pop = grant[i] != '0 || drop[i];
    assign lasts[i] = {N{head_last_q[i]}};
    assign word[i] = words_q[read_q];

    always_ff @(posedge clk_i) begin
      words_q[write_q] <= {in_last_i[i], in_data_i[i]};
      if (rst_i) begin
        head_valid_q[i] <= 1'b0;
        {head_last_q[i], request_q[i]} <= '0;
        ready_q[i] <= 1'b1;
        next_q <= {1'b1, N'(0)};
        write_q <= '0;
        read_q <= '0;
        popped_q <= 1'b0;
      end else begin
        head_valid_q[i] <= (head_valid_q[i] && !pop) || in_valid_i[i] || !ready_q[i];
        {head_last_q[i], request_q[i]} <= head(
            pop,
            head_valid_q[i],
            {
              head_last_q[i], request_q[i]
            },
            ready_q[i] ? request_of(
                in_last_i[i], digit, next_q) & {(N + 1) {in_valid_i[i]}} : next_q
        );
        ready_q[i] <= pop || !head_valid_q[i] || (ready_q[i] && !in_valid_i[i]);
        if (in_valid_i[i] && ready_q[i]) begin
          next_q  <= request_of(in_last_i[i], digit, next_q);
          write_q <= {write_q[0], !write_q[1]};
        end
        popped_q <= pop;
        if (popped_q) read_q <= {read_q[0], !read_q[1]};
      end
    end
  end

  crossbar_arbiter #(
      .N(N)
  ) u_arbiter (
      .clk_i    (clk_i),
      .rst_i    (rst_i),
      .request_i(request_q),
      .last_i   (lasts),
      .room_i   (room),
      .more_i   (more),
      .grant_o  (grant),
      .granted_o(granted_q)
  );

  for (genvar o = 0; o < N; o++) begin : gen_out
    for (genvar i = 0; i < N; i++) begin : gen_from
      assign granted_to[o][i] = granted_q[i][o];
    end
    crossbar_output #(
        .N(N),
        .W(W)
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
        .busy_o   (busy[o])
    );
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) busy_o <= 1'b1;
    else busy_o <= (in_valid_i | head_valid_q | busy) != '0;
  end

  // Packets without an output, counted at their last word.
  if (2 ** DigitW == N) begin : gen_never_unroutable
    assign unroutable_o = '0;
  end else begin : gen_unroutable
    logic [15:0] count_q;
    logic [16:0] count_d;
    always_comb begin
      count_d = {1'b0, count_q};
      for (int i = 0; i < N; i++) count_d = count_d + {16'd0, drop[i] && head_last_q[i]};
    end
    always_ff @(posedge clk_i) begin
      if (rst_i) count_q <= '0;
      else count_q <= count_d[16] ? '1 : count_d[15:0];
    end
    assign unroutable_o = count_q;
  end

endmodule
