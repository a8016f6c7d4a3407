// SPDX-License-Identifier: MIT OR Apache-2.0
// Claims about any crossbar: the words that enter at one port for another come out there, in order.
//
// - Content and source are kept. Packets are whole and unmixed. Nothing is lost or invented. Packets without an output
//   are counted.
// - An offer holds. No queue of an output overflows.
// - No input is passed over by more than N - 1 packets.
// - No deadlock: while words may go, one goes within 6 cycles, not counting cycles in which the sink does not take. An
//   output inside a packet waits for the source of that packet alone, which may always go on.
// - `busy_o` is low only at rest.
//
// Purpose    shared by the proofs of `crossbar` and `crossbar_buffered`, which have arbiter and outputs in common.
//            Names that begin with `dut.` are those of the enclosing proof. Nothing is assumed of sources and sinks.
//            The claims are about output Dst and one followed input, any input.
// Outputs    for a proof's invariants. Of each port: whether a packet begins with its next word, and where its last
//            word went or whether it was lost. Of the followed input: its number, the number of words on their way to
//            Dst, and which of them is followed. Also the number of granted words, and whether the followed one, if
//            granted, is in its place.
module crossbar_rules #(
    parameter int N = 2,
    parameter int W = 2,
    parameter int Digits = 1,
    parameter int Dst = 0,
    parameter int Words = 3,  // of one input on the way to an output's queue
    localparam int DigitW = $clog2(N),
    localparam int SelectW = Digits > 1 ? $clog2(Digits) : 1,
    localparam int WordsW = $clog2(Words + 2)
) (
    input logic clk_i,
    input logic rst_i,
    input logic [SelectW-1:0] digit_i,
    input logic [N-1:0] in_valid_i,
    input logic [N-1:0] in_ready_i,
    input logic [N-1:0][W-1:0] in_data_i,
    input logic [N-1:0] in_last_i,
    input logic [N-1:0] out_valid_i,
    input logic [N-1:0] out_ready_i,
    input logic [N-1:0][W-1:0] out_data_i,
    input logic [N-1:0] out_last_i,
    input logic [N-1:0][DigitW-1:0] out_source_i,
    input logic busy_i,
    input logic [15:0] unroutable_i,
    input logic mark_i,
    input logic [N-1:0] waiting_i,  // inputs with a word inside
    input int lost_inside_i,  // packets without an output that are inside to their last word
    output logic [N-1:0] first_o,
    output logic [N-1:0] lost_o,
    output logic [N-1:0][DigitW-1:0] to_o,
    output logic [DigitW-1:0] src_o,
    output logic [WordsW-1:0] count_o,
    output logic follow_o,
    output logic [WordsW-1:0] ahead_o,
    output logic [W:0] word_o,
    output logic [WordsW-1:0] granted_o,
    output logic in_place_o
);
  localparam int Queued = 14;  // words of an output's queue
  localparam int QueuedW = $clog2(Queued + 2);
  localparam int Stall = 5;  // cycles that a word waits for room that the sink makes

  power_up u_power_up (.*);

  // ------------------------------------------------------------------------------------------------------------- ports
  // The output of each input's packet: a digit of the first word; `lost`: there is no such output.
  logic [N-1:0] lost, take;
  logic [N-1:0][DigitW-1:0] to;
  assign take = in_valid_i & in_ready_i;
  always_comb begin
    for (int i = 0; i < N; i++) begin
      to[i]   = first_o[i] ? in_data_i[i][DigitW*(Digits>1?int'(digit_i) : 0)+:DigitW] : to_o[i];
      lost[i] = int'(to[i]) >= N;
    end
  end
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < N; i++) begin
      if (take[i]) begin
        first_o[i] <= in_last_i[i];
        to_o[i] <= to[i];
        lost_o[i] <= lost[i];
      end
    end
    if (rst_i) first_o <= '1;
  end

  // The followed input: a register that keeps its initial value.
  logic [DigitW-1:0] src_q, src;
  always_ff @(posedge clk_i) src_q <= src_q;
  assign src   = int'(src_q) < N ? src_q : '0;
  assign src_o = src;

  // The word that enters the queue of output Dst: {source, last, data}.
  logic arrives;
  logic [W+DigitW:0] arrival;
  assign arrives = dut.gen_out[Dst].u_output.cross_valid_q;
  assign arrival = dut.gen_out[Dst].u_output.crossed[N];

  // From an input to the queue: words of one input keep their order.
  stream_track #(
      .W(W + 1),
      .Capacity(Words)
  ) u_way (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(take[src] && to[src] == DigitW'(Dst)),
      .in_data_i({in_last_i[src], in_data_i[src]}),
      .pop_i(arrives && arrival[W+1+:DigitW] == src),
      .out_data_i(arrival[W:0]),
      .inside_o(count_o),
      .follow_o,
      .ahead_o,
      .word_o
  );
  // Through the queue: all words keep their order, and their source.
  logic queue_follow;
  logic [QueuedW-1:0] queue_count, queue_ahead;
  logic [W+DigitW:0] queue_word;
  stream_track #(
      .W(W + 1 + DigitW),
      .Capacity(Queued)
  ) u_queue (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(arrives),
      .in_data_i(arrival),
      .pop_i(out_valid_i[Dst] && out_ready_i[Dst]),
      .out_data_i({out_source_i[Dst], out_last_i[Dst], out_data_i[Dst]}),
      .inside_o(queue_count),
      .follow_o(queue_follow),
      .ahead_o(queue_ahead),
      .word_o(queue_word)
  );
  stream_rules #(
      .W(W + 1 + DigitW)
  ) u_sink (
      .clk_i,
      .rst_i,
      .valid_i(out_valid_i[Dst]),
      .ready_i(out_ready_i[Dst]),
      .data_i ({out_source_i[Dst], out_last_i[Dst], out_data_i[Dst]})
  );

  // The input of the entering packet, between its first word and its last.
  logic inside_q;
  logic [DigitW-1:0] from_q;
  always_ff @(posedge clk_i) begin
    if (rst_i) inside_q <= 1'b0;
    else if (arrives) inside_q <= !arrival[W];
    if (arrives) from_q <= arrival[W+1+:DigitW];
  end
  always_ff @(posedge clk_i) begin
    if (!rst_i && arrives) begin
      packets_unmixed : assert (!inside_q || arrival[W+1+:DigitW] == from_q);
      source_exists : assert (int'(arrival[W+1+:DigitW]) < N);
      long_packet : cover (inside_q && arrival[W]);
    end
  end

  // --------------------------------------------------------------------------------------------------------- registers
  // Output Dst, over inputs: granted now, granted in the cycle before, then in its crosspoint.
  logic [N-1:0] asks, grant, granted, locks, holds, crossing_q;
  logic [N-1:0][W+DigitW:0] at_cross;
  logic [N-1:0][W:0] granted_word;
  for (genvar i = 0; i < N; i++) begin : gen_row
    assign asks[i] = dut.u_arbiter.request_i[i][Dst];
    assign grant[i] = dut.u_arbiter.grant_o[i][Dst];
    assign granted[i] = dut.u_arbiter.granted_o[i][Dst];
    assign locks[i] = dut.u_arbiter.gen_input[i].lock_q[Dst];
    assign holds[i] = dut.u_arbiter.gen_input[i].hold_q[Dst];
    assign at_cross[i] = dut.gen_out[Dst].u_output.gen_cross[i].cross_q;
    assign granted_word[i] = dut.gen_out[Dst].u_output.word_i[i];
  end
  logic reset_q;  // crosspoints have no reset of their own
  always_ff @(posedge clk_i) begin
    crossing_q <= rst_i ? '0 : granted;
    reset_q <= rst_i;
  end

  logic open;
  logic [3:0] read;
  logic [3:0] level;
  assign open  = dut.u_arbiter.open_q[Dst];
  assign read  = dut.gen_out[Dst].u_output.read_q;
  assign level = dut.gen_out[Dst].u_output.level_q;

  // The address n words after the one that is read: a shift register with feedback.
  function automatic logic [3:0] place(input logic [3:0] n);
    place = read;
    for (int i = 0; i < Queued; i++) if (i < int'(n)) place = {place[2:0], place[3] ~^ place[2]};
  endfunction

  // At every output the words in its queue, on the way there, and grantable now, fit.
  for (genvar o = 0; o < N; o++) begin : gen_room
    logic [N-1:0] granted_here, may_grant;
    logic crossing;
    logic [3:0] queued;
    assign crossing = dut.gen_out[o].u_output.cross_valid_q;
    assign queued   = dut.gen_out[o].u_output.level_q;
    for (genvar i = 0; i < N; i++) begin : gen_row
      assign granted_here[i] = dut.u_arbiter.granted_o[i][o];
      assign may_grant[i] = dut.u_arbiter.open_q[o] || dut.u_arbiter.gen_input[i].hold_q[o];
    end
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        offers_unless_empty : assert (out_valid_i[o] == (queued != '0));
        room : assert (int'(queued) + int'(crossing) + int'(granted_here != '0) + int'(may_grant != '0) <= Queued);
      end
    end
  end

  // Words on the way, in the order of leaving: in the crosspoint, granted.
  logic [1:0] slot_valid;
  logic [1:0][DigitW-1:0] slot_source;
  logic [1:0][W:0] slot_word;
  always_comb begin
    slot_valid  = {granted != '0, crossing_q != '0};
    slot_source = '0;
    slot_word   = '0;
    for (int i = 0; i < N; i++) begin
      if (crossing_q[i]) begin
        slot_source[0] |= DigitW'(i);
        slot_word[0] |= at_cross[i][W:0];
      end
      if (granted[i]) begin
        slot_source[1] |= DigitW'(i);
        slot_word[1] |= granted_word[i];
      end
    end
  end

  // The input inside a packet after the last of these words, and whether all before were in order.
  logic unmixed, owned;
  logic [DigitW-1:0] owner;
  always_comb begin
    unmixed = 1'b1;
    owned = inside_q;
    owner = from_q;
    in_place_o = 1'b1;
    granted_o = '0;
    for (int k = 0; k < 2; k++) begin
      if (slot_valid[k]) begin
        if (owned && slot_source[k] != owner) unmixed = 1'b0;
        owned = !slot_word[k][W];
        owner = slot_source[k];
        if (owner == src) begin
          if (granted_o == ahead_o && slot_word[k] != word_o) in_place_o = 1'b0;
          granted_o = granted_o + WordsW'(1);
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      // A granted word shows three edges later.
      shows : assert (crossing_q == '0 || arrives);
      one_grant : assert ((grant & (grant - N'(1))) == '0 && (grant & ~asks) == '0);
      // Invariants for induction.
      ownership : assert (unmixed && owned == (locks != '0) && (!owned || (int'(owner) < N && locks[owner])));
      none_after_reset : assert (!reset_q || crossing_q == '0);
      one_crossing : assert ((crossing_q & (crossing_q - N'(1))) == '0 && arrives == (crossing_q != '0));
      one_from_here : assert ((granted & (granted - N'(1))) == '0);
      one_lock : assert ((locks & (locks - N'(1))) == '0);
      hold_is_locked : assert ((holds & ~locks) == '0);
      open_is_unlocked : assert (!open || locks == '0);
      queue_level :
      assert (dut.gen_out[Dst].u_output.write_q == place(level) && read != 4'd15 && int'(queue_count) == int'(level));
      queued : assert (!queue_follow || dut.gen_out[Dst].u_output.words_q[place(queue_ahead[3:0])] == queue_word);
    end
  end

  // --------------------------------------------------------------------------------------------- progress and fairness
  // The words that may go: of the output's open packet, or any. `stall_q`: cycles in which none of them went, without
  // cycles in which the sink did not take an offer.
  logic [N-1:0] may;
  logic idle_q, room_q;  // nothing was offered, there was room, in the cycle before
  logic [2:0] stall_q;
  int under_way;
  assign may = asks & (locks == '0 ? '1 : locks);
  assign under_way = int'(level) + int'(arrives) + int'(granted != '0);
  always_ff @(posedge clk_i) begin
    idle_q <= !out_valid_i[Dst] && !rst_i;
    room_q <= dut.gen_out[Dst].u_output.room_o && !rst_i;
    if (rst_i || may == '0 || grant != '0) stall_q <= '0;
    else if (stall_q != '1 && !(out_valid_i[Dst] && !out_ready_i[Dst])) stall_q <= stall_q + 3'd1;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      grants_when_idle : assert (!idle_q || may == '0 || grant != '0);
      goes_in_time : assert (int'(stall_q) <= Stall);
      room_is_used : assert (!room_q || (locks == '0 ? open : holds == locks));
      room_is_reported : assert (room_q || reset_q || level >= 4'd10);
      sink_makes_room : assert (stall_q == '0 || !reset_q && under_way + int'(stall_q) <= Queued);
      longest_stall : cover (int'(stall_q) == Stall);
    end
  end

  // The number of other inputs' packets that went to Dst since this input's word requested it.
  int passed_q[N];
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < N; i++) begin
      if (rst_i || grant[i] || !asks[i]) passed_q[i] <= 0;
      else if ((grant & ~holds) != '0) passed_q[i] <= passed_q[i] + 1;
    end
  end
  for (genvar i = 0; i < N; i++) begin : gen_fair
    logic [N-1:0] elders;
    for (genvar j = 0; j < N; j++) begin : gen_elder
      assign elders[j] = dut.u_arbiter.older[j*N+i][Dst];
      for (genvar k = 0; k < N; k++) begin : gen_transitive
        if (i != j && j != k && i != k) begin : gen_distinct
          always_ff @(posedge clk_i) begin
            if (!rst_i) begin
              age_is_an_order :
              assert (!elders[j] || !dut.u_arbiter.older[k*N+j][Dst] || dut.u_arbiter.older[k*N+i][Dst]);
            end
          end
        end
      end
    end
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        // An output inside a packet waits for the source of that packet only.
        holder_goes_on : assert (!locks[i] || asks[i] || (in_ready_i[i] && !first_o[i] && int'(to_o[i]) == Dst));
        fair : assert (passed_q[i] <= N - 1);
        in_line : assert (passed_q[i] + $countones(elders) <= N - 1);
        bound_is_reached : cover (passed_q[i] == N - 1);
        if (!reset_q) begin
          crosspoint_is_gated : assert (crossing_q[i] ? at_cross[i][W+DigitW:W+1] == DigitW'(i) : at_cross[i] == '0);
        end
      end
    end
  end

  // ----------------------------------------------------------------------------------------- packets without an output
  // Taken in whole so far; counted at their last word, when it has gone.
  int lost_packets_q, lost_packets;
  always_comb begin
    lost_packets = lost_packets_q;
    for (int i = 0; i < N; i++) if (take[i] && in_last_i[i] && lost[i]) lost_packets = lost_packets + 1;
  end
  always_ff @(posedge clk_i) lost_packets_q <= rst_i ? 0 : lost_packets < 65535 ? lost_packets : 65535;

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      lost_are_counted :
      assert (lost_packets_q == 65535 ? int'(unroutable_i) + lost_inside_i >= 65535 :
              int'(unroutable_i) + lost_inside_i == lost_packets_q);
      rest : assert (busy_i || (waiting_i == '0 && granted == '0 && crossing_q == '0 && level == '0));
    end
  end
endmodule
