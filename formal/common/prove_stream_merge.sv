// SPDX-License-Identifier: MIT OR Apache-2.0
// `stream_merge` passes each stream's words on once, in order, with the mark of the stream, and keeps packets whole.
//
// An offer holds until it is taken. A requesting stream is passed over at most N - 1 times. No cycle is lost while the
// stream with the turn offers.
module prove_stream_merge #(
    parameter int N = 3,
    parameter int W = 2,
    parameter bit Packets = 1'b1,
    parameter int Home = -1,
    parameter int Which = 0  // the stream that is followed
) (
    input logic clk_i,
    input logic rst_i,
    input logic [N-1:0] in_valid_i,
    input logic [N-1:0][W-1:0] in_data_i,
    input logic [N-1:0] in_last_i,
    input logic out_ready_i,
    input logic mark_i
);
  typedef struct packed {
    logic [N-1:0] from;
    logic last;
    logic [W-1:0] data;
  } word_t;

  logic [N-1:0] in_ready;
  logic out_valid, follow, busy;
  logic [1:0] count, ahead;
  logic [W:0] followed;
  word_t out, spare;

  stream_merge #(
      .N(N),
      .W(W),
      .Packets(Packets),
      .Home(Home)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_data_i,
      .in_last_i,
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o(out.data),
      .out_last_o(out.last),
      .out_from_o(out.from)
  );
  assign spare = dut.u_out.spare_q;

  power_up u_power_up (.*);
  for (genvar i = 0; i < N; i++) begin : gen_source
    stream_rules #(
        .W(W + 1),
        .Assume(1'b1)
    ) u_source (
        .clk_i,
        .rst_i,
        .valid_i(in_valid_i[i]),
        .ready_i(in_ready[i]),
        .data_i ({in_last_i[i], in_data_i[i]})
    );
  end
  stream_rules #(
      .W(N + 1 + W)
  ) u_out (
      .clk_i,
      .rst_i,
      .valid_i(out_valid),
      .ready_i(out_ready_i),
      .data_i (out)
  );
  stream_track #(
      .W(W + 1),
      .Capacity(2)
  ) u_track (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(in_valid_i[Which] && in_ready[Which]),
      .in_data_i({!Packets || in_last_i[Which], in_data_i[Which]}),
      .pop_i(out_valid && out_ready_i && out.from[Which]),
      .out_data_i({out.last, out.data}),
      .inside_o(count),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(followed)
  );

  // The followed word's position, if it is inside.
  logic [W:0] at;
  assign at = (ahead == '0 && out_valid && out.from[Which]) ? {out.last, out.data} : {spare.last, spare.data};

  // The open packet: at the output, behind the offered word, behind the waiting word.
  logic open_q, open_shown, open_spare;
  logic [N-1:0] of_q, of_shown, of_spare;
  assign {open_shown, of_shown} = out_valid ? {!out.last, out.from} : {open_q, of_q};
  assign {open_spare, of_spare} = !dut.room ? {!spare.last, spare.from} : {open_shown, of_shown};
  always_ff @(posedge clk_i) begin
    if (out_valid && out_ready_i) of_q <= out.from;
    if (rst_i) open_q <= 1'b0;
    else if (out_valid && out_ready_i) open_q <= !out.last;
  end

  // The number of turns given to others while i requested; the number of streams served longer ago.
  int passed_q[N];
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < N; i++) begin
      if (rst_i || !in_valid_i[i] || (dut.leave && dut.next[i])) passed_q[i] <= 0;
      else if (dut.leave) passed_q[i] <= passed_q[i] + 1;
    end
  end

  function automatic logic one(input logic [N-1:0] bits);
    one = bits != '0 && (bits & (bits - N'(1))) == '0;
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      of_one_stream : assert (!out_valid || one(out.from));
      packets_stay_whole : assert (!out_valid || !open_q || out.from == of_q);
      taken_while_there_is_room :
      assert (!dut.room || (in_valid_i & dut.turn_q) == '0 || (in_valid_i & in_ready) != '0);
      busy_tells : assert (busy || count == '0);
      // Invariants for induction.
      one_turn : assert (one(dut.turn_q));
      one_waits : assert (dut.room || (out_valid && one(spare.from)));
      counted : assert (count == 2'(out_valid && out.from[Which]) + 2'(!dut.room && spare.from[Which]));
      stored : assert (!follow || at == followed);
      open_packet : assert (dut.inside_q == open_spare && (!open_spare || dut.turn_q == of_spare));
      open_waits : assert (dut.room || !open_shown || spare.from == of_shown);
    end
  end
  for (genvar i = 0; i < N; i++) begin : gen_fair
    for (genvar j = 0; j < N; j++) begin : gen_order
      always_ff @(posedge clk_i) begin
        // If j is older than i, and k older than j, k is older than i. So one requester is the oldest.
        if (!rst_i) by_age : assert (!dut.gen_in[i].older[j] || (dut.gen_in[j].older & ~dut.gen_in[i].older) == '0);
      end
    end
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        fair : assert (passed_q[i] <= N - 1);
        in_line : assert (passed_q[i] + $countones(dut.gen_in[i].older) <= N - 1);
      end
    end
  end
endmodule
