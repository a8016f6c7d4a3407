// SPDX-License-Identifier: MIT OR Apache-2.0
// One input of a torus router: 16 words in four virtual channels, one of which requests an output.
//
// Handshake  In: a word with valid_i goes to its channel's queue of four words. The sender counts the queue's credits;
//            credit_o pulses in the cycle after a word has left. Out: request_o is the output (one at most) that a word
//            requests, on vc_o. grant_i says in the same cycle that the word goes there; word_o is that word in the
//            next cycle. A word with two outputs requests one after the other: the cell, then onward.
// Turns      while other channels wait, each word gives the turn to another channel. A channel without a grant sits out
//            until retry_i while others may go: stuck traffic hardly slows down the rest.
// Latency    a word that comes to an empty input requests in the next cycle. 1 word a cycle.
// Misuse     a word sent without a credit overwrites the words waiting in its channel. A packet without an output is
//            drained; drained_o pulses at its last word.
// busy_o     a word is inside, or a credit on its way.
// Source     ours. The words wait in LUT RAM, with {channel, pointer} as the address. A second RAM beside it holds
//            their outputs and is read a word ahead, so the next word of a channel follows at once.
module torus_input #(
    parameter int Port   = 0,   // 0 the cell, 1 +X, 2 -X, 3 +Y, 4 -Y
    parameter int W      = 64,  // bits a word, 19 or more
    parameter int CoordW = 5    // bits of a coordinate
) (
    input  logic              clk_i,
    input  logic              rst_i,
    input  logic [CoordW-1:0] x_i,
    input  logic [CoordW-1:0] y_i,
    input  logic [CoordW-1:0] far_x_i,
    input  logic [CoordW-1:0] far_y_i,
    input  logic [       1:0] at_first_i,
    input  logic [       1:0] at_last_i,
    input  logic [       1:0] before_i,
    input  logic              valid_i,
    input  logic [       1:0] vc_i,
    input  logic [     W-1:0] data_i,
    input  logic              last_i,
    output logic [       3:0] credit_o,
    output logic [       4:0] request_o,
    output logic [       1:0] vc_o,
    output logic              head_o,
    output logic              last_o,
    input  logic [       4:0] grant_i,
    output logic [       W:0] word_o,      // {last, data}
    input  logic              retry_i,
    output logic              drained_o,
    output logic              busy_o
);
  // Of the five outputs, the ones open to a word from here: the cell's first, unless the word comes from the cell.
  localparam int Ways = Port < 3 ? 4 : 2;
  function automatic int out_of(input int way);
    if (Port < 3) out_of = way < Port ? way : way + 1;
    else out_of = way == 0 ? 0 : 7 - Port;
  endfunction
  // Broadcasts that come by these ports go to the cell and onward.
  localparam bit Copies = Port == 2 || Port == 4;

  // Facts about a word: it ends its packet, begins one, its outputs.
  typedef struct packed {
    logic last;
    logic head;
    logic lane;
    logic [Ways-1:0] ways;
  } info_t;

  logic [W-1:0] words_q[16];
  logic [Ways+2:0] infos_q[16];
  logic [Ways:0] routes_q[4];  // of the incoming packet

  // The word that requests: of the channel with turn_q, even without a word.
  info_t now_q, now_d, ahead, arrival;
  logic idle_d, idle_q, drop;  // no word; no output
  logic [3:0] turn_q, turn_d;
  logic [1:0] turn;  // its number
  logic [3:0] came;  // one-hot
  (* init = 0 *) logic [3:0] address_q, read_q;  // of that word; of the one before
  logic [3:0] address_d, ahead_at, write_at;
  logic last_q;

  // Over channels: has a word; has two words, if it has one; its incoming packet has begun; had no grant last time.
  // Then the addresses of its first word and of its next one; the cell's copy of its first word went.
  logic [3:0] some, two, begun, stuck;
  logic [3:0][1:0] first, free;
  logic [3:0] done;

  logic [4:0] outs;
  logic [Ways-1:0] ways;
  logic lane;
  logic go, pop, direct, switch, follow;
  logic again;  // when the cell has its copy, the same word requests once more
  logic [3:0] pool, pick;

  // Steps through four addresses, with an inverter for a counter.
  function automatic logic [1:0] next(input logic [1:0] address);
    next = {address[0], !address[1]};
  endfunction

  assign came = {3'b0, valid_i} << vc_i;

  // In.
  torus_route #(
      .Port  (Port),
      .CoordW(CoordW)
  ) u_route (
      .x_i     (x_i),
      .y_i     (y_i),
      .far_x_i (far_x_i),
      .far_y_i (far_y_i),
      .first_i (at_first_i),
      .last_i  (at_last_i),
      .before_i(before_i),
      .word_i  (data_i[18:0]),
      .vc_i    (vc_i),
      .outs_o  (outs),
      .lane_o  (lane)
  );
  assign arrival.last = last_i;
  assign arrival.head = !begun[vc_i];
  assign {arrival.lane, arrival.ways} = begun[vc_i] ? routes_q[vc_i] : {lane, ways};
  assign write_at = {vc_i, free[vc_i]};
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      words_q[write_at] <= data_i;
      infos_q[write_at] <= arrival;
      routes_q[vc_i] <= {arrival.lane, arrival.ways};
    end
  end

  // Out. Of two outputs, the cell is first.
  always_comb begin
    request_o = '0;
    for (int w = 0; w < Ways; w++) begin
      ways[w] = outs[out_of(w)];
      request_o[out_of(w)] = !idle_q && now_q.ways[w] && !(Copies && w != 0 && now_q.ways[0]);
    end
  end
  assign drop = !idle_q && now_q.ways == '0;
  assign vc_o = {address_q[3], now_q.lane};
  assign head_o = now_q.head;
  assign last_o = now_q.last;
  assign word_o = {last_q, words_q[read_q]};
  assign go = grant_i != '0;
  assign again = Copies && !idle_q && now_q.ways[0] && now_q.ways[1];
  assign pop = drop || (go && !again);

  // The next turn_q: known without the grant.
  assign turn = address_q[3:2];
  assign pool = some & (~stuck | {4{idle_q}});
  for (genvar v = 0; v < 4; v++) begin : gen_pick
    localparam int A = (v + 3) % 4, B = (v + 2) % 4;  // before it
    assign pick[v] = pool[v] && turn != 2'(v) && (turn == 2'(A) || (!pool[A] && (turn == 2'(B) || !pool[B])));
  end
  assign switch = (pool & ~turn_q) != '0;
  assign direct = !switch && idle_q && valid_i;  // a word for an empty input
  assign turn_d = switch ? pick : direct ? came : turn_q;

  // The first word of another channel, or the second of this one.
  always_comb begin
    ahead_at = switch ? '0 : {turn, again ? address_q[1:0] : next(address_q[1:0])};
    for (int v = 0; v < 4; v++) begin
      if (pick[v]) ahead_at = ahead_at | {2'(v), first[v]};
    end
    ahead = infos_q[ahead_at];
    if (Copies && ((done & pick) != '0 || (!switch && again))) ahead.ways[0] = 1'b0;
  end

  // The word after the one that requests, if it goes or gives way. A grant, which comes late, only enables this.
  assign follow = switch || direct || drop || go;
  assign idle_d = !switch && !direct && !again && ((two | came) & turn_q) == '0;
  always_comb begin
    now_d = arrival;
    address_d = {direct ? vc_i : turn, free[vc_i]};
    if (switch || again || (!idle_q && (two & turn_q) != '0)) begin
      now_d = ahead;
      address_d = ahead_at;
    end
  end

  for (genvar v = 0; v < 4; v++) begin : gen_channel
    if (Port == 0 && v % 2 == 1) begin : gen_none
      assign some[v] = 1'b0;
      assign two[v] = 1'b0;
      assign stuck[v] = 1'b0;
      assign begun[v] = 1'b0;
      assign first[v] = '0;
      assign free[v] = '0;
      assign credit_o[v] = 1'b0;
    end else begin : gen_some
      logic some_q, begun_q, stuck_q, credit_q, push, gone;
      (* init = 0 *) logic [1:0] first_q, free_q;  // or Yosys copies them into the memory, with LUTs of its own
      assign push = came[v];
      assign gone = pop && turn_q[v];
      assign some[v] = some_q;
      assign two[v] = free_q != next(first_q);
      assign stuck[v] = stuck_q;
      assign begun[v] = begun_q;
      assign first[v] = first_q;
      assign free[v] = free_q;
      assign credit_o[v] = credit_q;
      always_ff @(posedge clk_i) begin
        if (rst_i) begin
          some_q   <= 1'b0;
          first_q  <= '0;
          free_q   <= '0;
          begun_q  <= 1'b0;
          stuck_q  <= 1'b0;
          credit_q <= 1'b0;
        end else begin
          if (push != gone) some_q <= push || two[v];
          if (push) free_q <= next(free_q);
          if (push) begun_q <= !last_i;
          if (gone) first_q <= next(first_q);
          stuck_q  <= !retry_i && (turn_q[v] ? !go && !drop : stuck_q);
          credit_q <= gone;
        end
`ifdef TSUNAGI_ASSERT
        if (!rst_i) assert (!(push && some_q && first_q == free_q));
`endif
      end
    end
    // Broadcasts are requests.
    if (Copies && v < 2) begin : gen_copies
      logic done_q;
      always_ff @(posedge clk_i) begin
        if (rst_i) done_q <= 1'b0;
        else if (go && turn_q[v]) done_q <= again;
      end
      assign done[v] = done_q;
    end else begin : gen_no_copies
      assign done[v] = 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (follow) now_q <= now_d;
    read_q <= address_q;
    last_q <= now_q.last;
    if (rst_i) begin
      idle_q <= 1'b1;
      turn_q <= 4'b0001;
      address_q <= '0;
      drained_o <= 1'b0;
    end else begin
      if (follow) begin
        idle_q <= idle_d;
        address_q <= address_d;
      end
      turn_q <= turn_d;
      drained_o <= drop && now_q.last;
    end
  end

  assign busy_o = (some | credit_o) != '0 || drained_o;
endmodule
