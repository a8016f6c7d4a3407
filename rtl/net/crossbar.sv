// N x N wormhole crossbar.
//
// Purpose    Carries packets (words up to and including `last`) from N input streams to N output streams. The output is a
//            digit of the packet's first word, bits [digit_i * $clog2(N) +: $clog2(N)]; later words follow the first.
// Handshake  AXI4-Stream valid/ready/data/last on every port; every valid and ready is a function of flip-flops only.
//            out_source_o names the input that the word on show came from, for whoever checks the arbiter.
// Latency    A word taken at one clock edge is on show after the third edge after it (4 cycles transfer to transfer). One
//            word a cycle and port in the steady state: no bubble between packets, one-word packets included.
// Arbiter    Each output serves the least recently served input that asks for it, so a waiting input is passed over by at
//            most N - 1 packets. An output stays with a packet until its last word.
// When full  An output holds up to 16 words; an input two more. Then its ready falls; nothing is lost.
// Misused    A digit of N or more (N not a power of two): the packet is drained and counted in unroutable_o, which
//            saturates. digit_i must be static. W must have room for the digits.
// busy_o     0 after an edge: nothing is inside, and further edges change nothing while no in_valid_i is set.
// Why so     The loop head, arbiter, pop, next head is the one that cannot be cut, so only control is in it: data waits in
//            LUT RAM, follows the registered grant a cycle later, is gated per crosspoint (the flip-flop's own reset) and
//            ORed. Vectors run over outputs, so a simulator does all outputs in one operation.
// Source     Common machinery, used by more than one machine; the organisation is our own.
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

  localparam int OutDepth = 16;  // one LUT RAM

  // Per input, over outputs: what its head word asks for, what it is granted, whether it is inside a packet there, and
  // that with room. Row i of the `_any` chains is the OR over the first i inputs.
  logic [N-1:0][N-1:0] request_q  /*verilator split_var*/;
  logic [N-1:0][N-1:0] grant_d  /*verilator split_var*/;
  logic [N-1:0][N-1:0] grant_q  /*verilator split_var*/;
  logic [N:0][N-1:0] grant_any  /*verilator split_var*/;
  logic [N:0][N-1:0] lock_any  /*verilator split_var*/;
  // older[j*N+i], over outputs: j was served longer ago than i.
  logic [N*N-1:0][N-1:0] older  /*verilator split_var*/;
  // blocked[i*(N+1)+j], over outputs: one of the first j inputs asks and is older than i.
  logic [N*(N+1)-1:0][N-1:0] blocked  /*verilator split_var*/;
  // crossed[o*(N+1)+i]: {source, last, data} at the first i crosspoints of output o, ORed.
  logic [N*(N+1)-1:0][W+DigitW:0] crossed  /*verilator split_var*/;
  // Over outputs: has room; has room and is not inside a packet.
  logic [N-1:0] room, open_q;

  // Over inputs.
  logic [N-1:0] head_valid_q, head_last_q, drop, ready_q;
  logic [N-1:0][W:0] word  /*verilator split_var*/;  // {last, data} of the word granted in the cycle before
  // Over outputs: a word is in its crosspoints; a word is on show.
  logic [N-1:0] cross_valid_q, out_valid_q;

  assign in_ready_o  = ready_q;
  assign out_valid_o = out_valid_q;

  // {last, request} of a word at an input: mid-packet it asks for what the word taken before it asked for.
  function automatic logic [N:0] asked(input logic last, input logic [DigitW-1:0] digit, input logic [N:0] previous);
    asked = {last, previous[N] ? N'(1) << digit : previous[N-1:0]};
  endfunction

  // A head, all zero if there is none, after a cycle: what follows, if it goes or there was none. Not an `if` around the
  // registers, which would become a clock enable, a hop more in the loop that sets the pace.
  function automatic logic [N:0] head(input logic pop, input logic valid, input logic [N:0] now,
                                      input logic [N:0] next);
    head = pop ? next : now | (valid ? '0 : next);
  endfunction

  // Inputs: the requests of a head and a next word in flip-flops, the words themselves in LUT RAM.
  for (genvar i = 0; i < N; i++) begin : gen_in
    logic [DigitW-1:0] digit;
    logic [N:0] next_q;  // {last, request} of the last word taken in, whether or not that word is still the next
    logic pop, popped_q;
    logic [W:0] words_q[4];
    logic [1:0] write_q, read_q;

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
    assign pop = grant_d[i] != '0 || drop[i];
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
            ready_q[i] ? asked(
                in_last_i[i], digit, next_q) & {(N + 1) {in_valid_i[i]}} : next_q
        );
        ready_q[i] <= pop || !head_valid_q[i] || (ready_q[i] && !in_valid_i[i]);
        if (in_valid_i[i] && ready_q[i]) begin
          next_q  <= asked(in_last_i[i], digit, next_q);
          write_q <= write_q + 2'd1;
        end
        popped_q <= pop;
        if (popped_q) read_q <= read_q + 2'd1;
      end
    end
  end

  // Arbiters, all outputs at once: a granted input becomes the youngest.
  assign grant_any[0] = '0;
  assign lock_any[0]  = '0;
  for (genvar i = 0; i < N; i++) begin : gen_arbiter
    logic [N-1:0] lock_d, lock_q, hold_q;

    assign blocked[i*(N+1)] = '0;
    for (genvar j = 0; j < N; j++) begin : gen_rival
      if (j < i) begin : gen_pair
        logic [N-1:0] older_q;
        always_ff @(posedge clk_i) begin
          if (rst_i) older_q <= '1;
          else older_q <= (older_q & ~grant_d[j]) | grant_d[i];
        end
        assign older[j*N+i] = older_q;
        assign older[i*N+j] = ~older_q;
      end else if (j == i) begin : gen_self
        assign older[i*N+i] = '0;
      end
      assign blocked[i*(N+1)+j+1] = blocked[i*(N+1)+j] | (request_q[j] & older[j*N+i]);
    end

    assign grant_d[i] = request_q[i] & (hold_q | (open_q & ~blocked[i*(N+1)+N]));
    assign lock_d = (grant_d[i] & {N{!head_last_q[i]}}) | (lock_q & ~grant_d[i]);
    assign grant_any[i+1] = grant_any[i] | grant_q[i];
    assign lock_any[i+1] = lock_any[i] | lock_d;

    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        grant_q[i] <= '0;
        lock_q <= '0;
        hold_q <= '0;
      end else begin
        grant_q[i] <= grant_d[i];
        lock_q <= lock_d;
        hold_q <= lock_d & room;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      open_q <= '0;
      cross_valid_q <= '0;
      busy_o <= 1'b1;
    end else begin
      open_q <= room & ~lock_any[N];
      cross_valid_q <= grant_any[N];
      busy_o <= (in_valid_i | head_valid_q | grant_any[N] | cross_valid_q | out_valid_q) != '0;
    end
  end

  // Crosspoints and outputs.
  for (genvar o = 0; o < N; o++) begin : gen_out
    logic [W+DigitW:0] words_q[OutDepth];
    logic [3:0] write_q, read_q;
    logic [4:0] level_q;
    logic take;

    assign crossed[o*(N+1)] = '0;
    for (genvar i = 0; i < N; i++) begin : gen_cross
      logic [W+DigitW:0] cross_q;
      always_ff @(posedge clk_i) begin
        if (!grant_q[i][o]) cross_q <= '0;
        else cross_q <= {DigitW'(i), word[i]};
      end
      assign crossed[o*(N+1)+i+1] = crossed[o*(N+1)+i] | cross_q;
    end

    assign take = out_valid_q[o] && out_ready_i[o];
    // Three more grants may be under way when the level is seen.
    assign room[o] = !(level_q[4] || (level_q[3] && level_q[2]));
    assign {out_source_o[o], out_last_o[o], out_data_o[o]} = words_q[read_q];

    always_ff @(posedge clk_i) begin
      words_q[write_q] <= crossed[o*(N+1)+N];
      if (rst_i) begin
        write_q <= '0;
        read_q <= '0;
        level_q <= '0;
        out_valid_q[o] <= 1'b0;
      end else begin
        if (cross_valid_q[o]) write_q <= write_q + 4'd1;
        if (take) read_q <= read_q + 4'd1;
        if (cross_valid_q[o] != take) level_q <= level_q + {{4{take}}, 1'b1};
        out_valid_q[o] <= cross_valid_q[o] || level_q[4:1] != '0 || (level_q[0] && !take);
      end
`ifdef TSUNAGI_ASSERT
      if (!rst_i) assert (level_q <= 5'd16);
`endif
    end
  end

  // Packets that no output takes, counted at their last word.
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
