// SPDX-License-Identifier: MIT OR Apache-2.0
// `dimmnet1_tx` passes each stream's words on once, in order and in whole packets, and alters only SRC and SEQ.
//
// - SRC of a packet's first word is the card's node. SEQ of its second one is the next number of its DST, from 0, if
//   F_SEQ is set and RESEND is not. A group, and a DST of 64 or more, always gets 0. This is proved of one DST, any.
// - A stream is passed over by at most two packets of others.
//
// Assumed: a source holds its offer; the card's node stays. After a reset 64 cycles pass. With `Late` the proof begins
// after them, which broken twins and cover goals need, because their search starts at the beginning.
module prove_dimmnet1_tx #(
    parameter int Which = 0,    // the stream that is followed
    parameter bit Late  = 1'b0
) (
    input logic clk_i,
    input logic rst_i,
    input logic [2:0] in_valid_i,
    input logic [2:0][63:0] in_data_i,
    input logic [2:0] in_last_i,
    input logic out_ready_i,
    input logic mark_i
);
  logic busy, out_valid, out_last, follow;
  logic [2:0] in_ready, from;
  logic [63:0] out_data, word;
  logic [1:0] count, ahead;
  logic [64:0] followed;
  logic [67:0] spare;

  // Registers that keep their initial value: this node; the DST that is followed.
  logic [15:0] node_q;
  logic [ 5:0] to_q;
  always_ff @(posedge clk_i) begin
    node_q <= node_q;
    to_q   <= to_q;
  end

  dimmnet1_tx dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .node_i(node_q),
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_data_i,
      .in_last_i,
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o(out_data),
      .out_last_o(out_last)
  );
  assign from  = dut.unused_from;
  assign word  = dut.word;
  assign spare = dut.u_merge.u_out.spare_q;

  for (genvar i = 0; i < 3; i++) begin : gen_source
    stream_rules #(
        .W(65),
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
      .W(65)
  ) u_out (
      .clk_i,
      .rst_i,
      .valid_i(out_valid),
      .ready_i(out_ready_i),
      .data_i ({out_last, out_data})
  );
  // Of the words as they are before the stamps.
  stream_track #(
      .W(65),
      .Capacity(2)
  ) u_track (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(in_valid_i[Which] && in_ready[Which]),
      .in_data_i({in_last_i[Which], in_data_i[Which]}),
      .pop_i(out_valid && out_ready_i && from[Which]),
      .out_data_i({out_last, word}),
      .inside_o(count),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(followed)
  );

  // ------------------------------------------------------------------------------------------------------------ stamps
  logic first_q, second_q, leave, numbered, known, ours;
  logic [63:0] word0_q, stamped;
  logic [31:0] number_q;  // of the followed DST, the next
  assign leave = out_valid && out_ready_i;
  assign numbered = word0_q[dimmnet1_pkg::HdrW0FSeqLsb] && !word0_q[dimmnet1_pkg::HdrW0ResendLsb];
  assign known = !word0_q[dimmnet1_pkg::HdrW0MulticastLsb] && word0_q[dimmnet1_pkg::HdrW0DstLsb+6+:10] == '0;
  assign ours = known && word0_q[dimmnet1_pkg::HdrW0DstLsb+:6] == to_q;
  always_comb begin
    stamped = word;
    if (first_q) stamped[dimmnet1_pkg::HdrW0SrcLsb+:16] = node_q;
    if (second_q && numbered) begin
      stamped[dimmnet1_pkg::HdrW1SeqLsb+:32] = !known ? '0 : ours ? number_q : out_data[dimmnet1_pkg::HdrW1SeqLsb+:32];
    end
  end
  always_ff @(posedge clk_i) begin
    if (leave && first_q) word0_q <= out_data;
    if (leave) first_q <= out_last;
    if (leave) second_q <= first_q && !out_last;
    if (leave && second_q && numbered && ours) number_q <= number_q + 32'd1;
    if (rst_i) begin
      first_q  <= 1'b1;
      second_q <= 1'b0;
      number_q <= '0;
    end
  end

  // The open packet: at the output, behind the offered word, behind the waiting word.
  logic room, open_q, open_shown, open_spare;
  logic [2:0] of_q, of_shown, of_spare, turn;
  logic [64:0] at;  // the followed word's position, if it is inside
  assign room = dut.u_merge.room;
  assign turn = dut.u_merge.turn_q;
  assign at = (ahead == '0 && out_valid && from[Which]) ? {out_last, word} : spare[64:0];
  assign {open_shown, of_shown} = out_valid ? {!out_last, from} : {open_q, of_q};
  assign {open_spare, of_spare} = !room ? {!spare[64], spare[67:65]} : {open_shown, of_shown};
  always_ff @(posedge clk_i) begin
    if (leave) of_q <= from;
    if (rst_i) open_q <= 1'b0;
    else if (leave) open_q <= !out_last;
  end

  // The number of turns given to others while i requested.
  int passed_q[3];
  logic [2:0] offers;
  assign offers = dut.init ? 3'b000 : in_valid_i;
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < 3; i++) begin
      if (rst_i || !offers[i] || (dut.u_merge.leave && dut.u_merge.next[i])) passed_q[i] <= 0;
      else if (dut.u_merge.leave) passed_q[i] <= passed_q[i] + 1;
    end
  end

  function automatic logic one(input logic [2:0] bits);
    one = bits != '0 && (bits & (bits - 3'd1)) == '0;
  endfunction

  if (Late) begin : gen_late
    logic begun_q = 1'b0;
    always_ff @(posedge clk_i) begin
      begun_q <= 1'b1;
      if (!begun_q) begin
        after_a_reset :
        assume (!rst_i && dut.init_q == 7'd64 && !out_valid && room && !dut.u_merge.inside_q && turn == 3'b010 &&
                !open_q && dut.first_q && !dut.second_q && first_q && !second_q && number_q == '0 &&
                dut.number_q[to_q] == '0 && !follow && count == '0 && u_out.waiting_q == 1'b0 && passed_q[0] == 0 &&
                passed_q[1] == 0 && passed_q[2] == 0 && dut.u_merge.gen_in[0].older == 3'b110 &&
                dut.u_merge.gen_in[1].older == 3'b100);
`ifdef TSUNAGI_ASSERT
        same_after_a_reset : assume (!dut.u_merge.u_out.u_source.waiting_q);
`endif
      end
    end
  end else begin : gen_power_up
    power_up u_power_up (.*);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      only_stamps : assert (!out_valid || out_data == stamped);
      packets_stay_whole : assert (!out_valid || !open_q || from == of_q);
      of_one_stream : assert (!out_valid || one(from));
      busy_tells : assert (busy || count == '0);
      // Invariants for induction.
      begins : assert (dut.init_q <= 7'd64);
      nothing_before : assert (!dut.init || (!out_valid && !dut.second_q && dut.first_q && number_q == '0));
      one_turn : assert (one(turn));
      one_waits : assert (room || (out_valid && one(spare[67:65])));
      counted : assert (count == 2'(out_valid && from[Which]) + 2'(!room && spare[65+Which]));
      stored : assert (!follow || at == followed);
      open_packet : assert (dut.u_merge.inside_q == open_spare && (!open_spare || turn == of_spare));
      open_waits : assert (room || !open_shown || spare[67:65] == of_shown);
      place : assert (dut.first_q == first_q && dut.second_q == second_q && first_q == !open_q);
      which : assert (!second_q || !first_q);
      seen : assert (!second_q || (dut.stamp_q == numbered && dut.known_q == known));
      seen_dst : assert (!second_q || dut.dst_q == word0_q[dimmnet1_pkg::HdrW0DstLsb+:6]);
      number : assert ((dut.init && {1'b0, to_q} >= dut.init_q) || dut.number_q[to_q] == number_q);
      number_read : assert (!(second_q && known && ours) || dut.read_q == number_q);
      // The claims are not vacuous.
      third : cover (leave && second_q && numbered && ours && number_q == 32'd2);
      group : cover (leave && second_q && numbered && !known);
    end
  end
  for (genvar i = 0; i < 3; i++) begin : gen_fair
    for (genvar j = 0; j < 3; j++) begin : gen_order
      always_ff @(posedge clk_i) begin
        if (!rst_i) begin
          by_age :
          assert (!dut.u_merge.gen_in[i].older[j] ||
                           (dut.u_merge.gen_in[j].older & ~dut.u_merge.gen_in[i].older) == '0);
        end
      end
    end
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        fair : assert (passed_q[i] <= 2);
        in_line : assert (passed_q[i] + $countones(dut.u_merge.gen_in[i].older) <= 2);
      end
    end
  end
endmodule
