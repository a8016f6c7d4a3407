// SPDX-License-Identifier: MIT OR Apache-2.0
// One input of crossbar_multicast: it looks up a packet's outputs and asks for them.
//
// Purpose    stores the words of packets in block RAM, and gives each packet to the arbiter in turns. A short one asks
//            for all its outputs, and in the next turn for those that did not grant it. A longer one asks for one
//            output in a turn, first for output Own, so inputs that send to all at the same time do not meet.
// Handshake  in: AXI4-Stream valid/ready/data/last. Out: as crossbar_arbiter and crossbar_output. request_o and last_o
//            are of the first waiting word, which leaves when grant_i has a bit; it is in word_o a cycle later, as
//            grant_i is in granted_i. Outputs that grant the first word of a turn must grant all of them in successive
//            cycles, if there are several. A pulse of unroutable_o or refused_o counts a packet that was drained.
// Tables     route_write_i and group_write_i: the edge writes route_i or group_i at index_i. A first word that is taken
//            at the same edge has the old entry.
// Latency    a word is requested after the fifth edge and Delay more after it was taken; a multicast, after those of
//            its last word. One word a cycle, no bubble between packets; five cycles before each further turn, and
//            three after a turn that asked for several outputs.
// Full       in_ready_o falls with Depth - 4 to Depth - 1 words inside. A multicast is inside to its last copy.
// Misuse     a multicast of more than MulticastWords words, or ShortWords if it is marked short, is drained and counted
//            in refused_o; a packet without an output, in unroutable_o.
// busy_o     a word is inside.
// Why so     words of a multicast are committed together, so a copy never waits for its source, and what was too long
//            is forgotten by going back to the last commit. Only control is fetched ahead, and goes back for a turn; a
//            word itself is read when it waits, so the memory is the crossbar's queue. What follows a turn of several
//            outputs waits for its grants, which say whether it goes back. To rest, a word is seen late, which costs no
//            memory.
// Source     our own: the papers on RHiNET-2/SW name multicast and no circuit.
module multicast_input #(
    parameter int N = 8,  // outputs
    parameter int W = 64,  // bits a word
    parameter int MulticastWords = 70,  // longest multicast, 1 or more
    parameter int DstAt = 32,  // lowest of the destination's 16 bits in a first word
    parameter int MulticastAt = 10,  // bit of a first word that marks a multicast
    parameter int ShortAt = 12,  // bit of a first word that marks a packet of at most ShortWords words
    parameter int ShortWords = 4,  // 1 or more
    parameter int Own = 0,  // output of the first copy
    parameter int Delay = 0,  // cycles that a word rests, 0 or more
    localparam int DigitW = $clog2(N)
) (
    input  logic            clk_i,
    input  logic            rst_i,
    input  logic            open_i,
    input  logic            route_write_i,
    input  logic            group_write_i,
    input  logic [     5:0] index_i,
    input  logic [DigitW:0] route_i,        // {there is one, output}
    input  logic [   N-1:0] group_i,        // outputs
    input  logic            in_valid_i,
    output logic            in_ready_o,
    input  logic [   W-1:0] in_data_i,
    input  logic            in_last_i,
    output logic [   N-1:0] request_o,
    output logic            last_o,
    input  logic [   N-1:0] grant_i,
    input  logic [   N-1:0] granted_i,
    output logic [     W:0] word_o,         // {last, data}
    output logic            busy_o,
    output logic            unroutable_o,
    output logic            refused_o
);
  // A multicast that is one word too long still leaves room.
  localparam int AtW = $clog2(MulticastWords + 5);
  localparam int Depth = 2 ** AtW;
  localparam int Few = ShortWords < MulticastWords ? ShortWords : MulticastWords;

  // What counts is never read in the cycle of its write.
  (* no_rw_check *)logic [W-1:0] words_q  [Depth];
  (* no_rw_check *)logic [N+1:0] control_q[Depth];  // {short, last, outputs}
  // Words are kept up to write_q, count up to commit_q, and are seen up to there Delay cycles later. Their control is
  // fetched up to read_q. at_q is the word that waits, and free_q the first one that is still needed. open_q is the
  // distance of write_q and commit_q.
  logic [AtW-1:0] write_q, commit_q, seen, read_q, at_q, free_q, level, open_q;

  // ---------------------------------------------------------------------------------------------------------- tables
  logic [DigitW:0] routes_q[64];
  logic [N-1:0] groups_q[16];
  always_ff @(posedge clk_i) begin
    if (route_write_i) routes_q[index_i] <= route_i;
    if (group_write_i) groups_q[index_i[3:0]] <= group_i;
  end

  logic [15:0] dst;
  logic [DigitW:0] route;
  logic [N-1:0] one, group, outputs;
  logic multicast;
  assign dst = in_data_i[DstAt+:16];
  assign multicast = in_data_i[MulticastAt];
  assign route = routes_q[dst[5:0]];
  assign one = N'(route[DigitW] && dst[15:6] == '0) << route[DigitW-1:0];
  assign group = dst[15:4] == '0 ? groups_q[dst[3:0]] : '0;
  assign outputs = multicast ? group : one;

  // ---------------------------------------------------------------------------------------------------------- way in
  logic ready_q, first_q, taken_q, multicast_q, short_q, refuse_q;
  logic [  W:0] word_q;
  logic [N-1:0] outputs_q;  // of the last word taken, output Own lowest
  logic take, none, excess, keep;

  assign take   = in_valid_i && ready_q;
  assign none   = outputs_q == '0;
  assign excess = taken_q && multicast_q && open_q == AtW'(short_q ? Few : MulticastWords);
  assign keep   = taken_q && !none && !excess && !refuse_q;
  assign level  = write_q - free_q;

  always_ff @(posedge clk_i) begin
    word_q <= {in_last_i, in_data_i};
    if (take && first_q) begin
      multicast_q <= multicast;
      short_q <= in_data_i[ShortAt];
      outputs_q <= N'({outputs, outputs} >> Own);
    end
    // There is always a free place, which may hold anything.
    words_q[write_q]   <= word_q[W-1:0];
    control_q[write_q] <= {short_q, word_q[W], outputs_q};
    if (rst_i) begin
      ready_q <= 1'b0;
      first_q <= 1'b1;
      taken_q <= 1'b0;
      refuse_q <= 1'b0;
      write_q <= '0;
      commit_q <= '0;
      open_q <= '0;
      unroutable_o <= 1'b0;
      refused_o <= 1'b0;
    end else begin
      ready_q <= open_i && level[AtW-1:2] != '1;
      taken_q <= take;
      if (take) first_q <= in_last_i;
      if (taken_q) refuse_q <= (excess || refuse_q) && !word_q[W];
      if (excess) write_q <= commit_q;
      else if (keep) write_q <= write_q + AtW'(1);
      if (keep && (word_q[W] || !multicast_q)) commit_q <= write_q + AtW'(1);
      if (taken_q) open_q <= excess || word_q[W] || !multicast_q ? '0 : open_q + AtW'(keep);
      unroutable_o <= taken_q && word_q[W] && none;
      refused_o <= taken_q && word_q[W] && (excess || refuse_q);
    end
  end

  if (Delay == 0) begin : gen_now
    assign seen = commit_q;
  end else begin : gen_later
    logic [Delay*AtW-1:0] commits_q;  // the latest lowest
    always_ff @(posedge clk_i) begin
      if (rst_i) commits_q <= '0;
      else commits_q <= (Delay * AtW)'({commits_q, commit_q});
    end
    assign seen = commits_q[(Delay-1)*AtW+:AtW];
  end

  // -------------------------------------------------------------------------------------------------- control ahead
  // Fetched from the memory and looked at: {short, last, outputs}. Ready: {several, inside, last, request}.
  logic fetched_valid_q, looked_valid_q, out_valid_q;
  logic [N+1:0] fetched_q, looked_q;
  logic [N+2:0] out_q;
  // A turn begins with the next word, and it is not the packet's first. The turn at the way out has to end.
  logic begins_q, again_q, wait_q;
  logic [N-1:0] due, lowest, ask, asked, left_q, left, reached;
  logic go, step, more, several, back, room_q;
  // The word that left in the cycle before: of a turn with several outputs, its last.
  logic copied_q, ended_q;

  assign go = !out_valid_q || room_q;
  assign step = go && !wait_q;
  assign more = read_q != seen;
  assign due = again_q ? left_q : looked_q[N-1:0];
  assign ask = looked_q[N+1] ? due : lowest;
  assign asked = N'({ask, ask} >> (N - Own));  // output 0 lowest
  assign several = begins_q ? due != lowest : out_q[N+2];
  assign reached = N'({granted_i, granted_i} >> Own);
  assign left = left_q & ~reached;
  assign back = ended_q && left != '0;

  always_comb begin
    lowest = '0;
    for (int i = N - 1; i >= 0; i--) if (due[i]) lowest = N'(1) << i;
  end

  always_ff @(posedge clk_i) begin
    if (step) begin
      fetched_q <= control_q[read_q];
      looked_q <= fetched_q;
      out_q <= {several, several && !begins_q, looked_q[N], begins_q ? asked : out_q[N-1:0]};
    end
    if (copied_q) left_q <= left;
    else if (begins_q && !wait_q) left_q <= due;
    if (rst_i) begin
      read_q <= '0;
      fetched_valid_q <= 1'b0;
      looked_valid_q <= 1'b0;
      out_valid_q <= 1'b0;
      begins_q <= 1'b1;
      again_q <= 1'b0;
      wait_q <= 1'b0;
    end else begin
      if (go) out_valid_q <= looked_valid_q && !wait_q;
      if (step) begin
        if (more) read_q <= read_q + AtW'(1);
        fetched_valid_q <= more;
        looked_valid_q  <= fetched_valid_q;
        if (looked_valid_q) begin
          begins_q <= looked_q[N];
          if (looked_q[N]) again_q <= 1'b0;
          wait_q <= looked_q[N] && several;
        end
      end
      if (ended_q) wait_q <= 1'b0;
      if (back) begin
        read_q <= free_q;
        fetched_valid_q <= 1'b0;
        looked_valid_q <= 1'b0;
        again_q <= 1'b1;
      end
    end
  end

  // ------------------------------------------------------------------------------------------------------- way out
  // The word that waits and the next one, as in crossbar: all zero is none.
  logic head_valid_q, pop, last_q;
  logic [N+2:0] next_q, next;
  logic [N+1:0] head_q, follows;
  logic [W-1:0] data_q;

  assign pop = grant_i != '0;
  assign next = room_q ? out_q & {(N + 3) {out_valid_q}} : next_q;
  // Where several outputs may be granted, the first word's grants are those of all words.
  assign follows = {next[N+2], next[N], next[N-1:0] & (grant_i | {N{!next[N+1]}})};

  always_ff @(posedge clk_i) begin
    data_q <= words_q[at_q];
    last_q <= head_q[N];
    if (out_valid_q && room_q) next_q <= out_q;
    if (rst_i) begin
      head_valid_q <= 1'b0;
      head_q <= '0;
      room_q <= 1'b1;
      copied_q <= 1'b0;
      ended_q <= 1'b0;
      at_q <= '0;
      free_q <= '0;
    end else begin
      head_valid_q <= (head_valid_q && !pop) || out_valid_q || !room_q;
      head_q <= pop ? follows : head_q | (head_valid_q ? '0 : follows);
      room_q <= pop || !head_valid_q || (room_q && !out_valid_q);
      copied_q <= pop && head_q[N+1];
      ended_q <= pop && head_q[N+1] && head_q[N];
      if (pop) at_q <= at_q + AtW'(1);
      if (back) at_q <= free_q;
      if (pop && !head_q[N+1]) free_q <= at_q + AtW'(1);
      if (ended_q && !back) free_q <= at_q;
    end
  end

  assign in_ready_o = ready_q;
  assign request_o = head_q[N-1:0];
  assign last_o = head_q[N];
  assign word_o = {last_q, data_q};
  assign busy_o = taken_q || level != '0;

`ifdef TSUNAGI_ASSERT
  logic inside_q;
  always_ff @(posedge clk_i) begin
    if (rst_i) inside_q <= 1'b0;
    else if (pop) inside_q <= !head_q[N];
    if (!rst_i) begin
      assert (!keep || level != '1);
      assert (open_q <= AtW'(MulticastWords) && open_q == write_q - commit_q);
      assert (!looked_valid_q || !begins_q || due != '0);
      assert ((grant_i & ~request_o) == '0);
      // The words of a turn follow each other, and go where the first one went.
      assert (!next[N+1] || head_valid_q);
      assert (!inside_q || !pop || grant_i == request_o);
    end
  end
`endif
endmodule
