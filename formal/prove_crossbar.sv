// `crossbar`: what goes in at one port for another comes out there, in order, whole packets, nothing else; the oldest is
// served first; no output's queue overflows; no output idles while a head could go.
//
// Nothing is assumed of sources and sinks. Output Dst is looked at, and one input, any input, is picked and followed.
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
  localparam int Queued = 14;  // words of an output's queue
  localparam int WordsW = $clog2(Words + 2);
  localparam int QueuedW = $clog2(Queued + 2);

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
  power_up u_power_up (.*);

  // ------------------------------------------------------------------------------------------------ what the ports show
  // The output of each input's packet: a digit of the first word; `lost` if there is no such output.
  logic [N-1:0] first_q, lost_q, lost, take;
  logic [N-1:0][DigitW-1:0] to_q, to;
  assign take = in_valid_i & in_ready;
  always_comb begin
    for (int i = 0; i < N; i++) begin
      to[i]   = first_q[i] ? in_data_i[i][DigitW*(Digits>1?int'(digit_i) : 0)+:DigitW] : to_q[i];
      lost[i] = int'(to[i]) >= N;
    end
  end
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < N; i++) begin
      if (take[i]) begin
        first_q[i] <= in_last_i[i];
        to_q[i] <= to[i];
        lost_q[i] <= lost[i];
      end
    end
    if (rst_i) first_q <= '1;
  end

  // The input that is followed: a register that holds what it starts with.
  logic [DigitW-1:0] src_q, src;
  always_ff @(posedge clk_i) src_q <= src_q;
  assign src = int'(src_q) < N ? src_q : '0;

  // What enters the queue of output Dst: {source, last, data}.
  logic arrives;
  logic [W+DigitW:0] arrival;
  assign arrives = dut.gen_out[Dst].u_output.cross_valid_q;
  assign arrival = dut.gen_out[Dst].u_output.crossed[N];

  // From an input to the queue: words of one input keep their order.
  logic follow;
  logic [WordsW-1:0] count, ahead;
  logic [W:0] word;
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
      .inside_o(count),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(word)
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
      .pop_i(out_valid[Dst] && out_ready_i[Dst]),
      .out_data_i({out_source[Dst], out_last[Dst], out_data[Dst]}),
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
      .valid_i(out_valid[Dst]),
      .ready_i(out_ready_i[Dst]),
      .data_i ({out_source[Dst], out_last[Dst], out_data[Dst]})
  );

  // The input whose packet is entering, between its first word and its last.
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

  // ------------------------------------------------------------------------------------------------------ its registers
  // An input's memory is addressed in Gray code.
  function automatic logic [1:0] binary(input logic [1:0] code);
    binary = {code[1], code[1] ^ code[0]};
  endfunction
  function automatic logic [1:0] gray(input logic [1:0] n);
    gray = {n[1], n[1] ^ n[0]};
  endfunction

  // Per input: the words that are inside it, and what they ask for.
  logic [N-1:0] head_valid, head_last, popped;
  logic [N-1:0][N:0] next;
  logic [N-1:0][N-1:0] request, lock, hold;
  logic [N-1:0][W:0] granted_word, head_word, next_word;
  logic [N-1:0][1:0] stored;
  assign head_valid = dut.head_valid_q;
  assign head_last  = dut.head_last_q;
  assign request    = dut.request_q;
  for (genvar i = 0; i < N; i++) begin : gen_input
    logic [1:0] read;
    assign read = binary(dut.gen_in[i].read_q);
    assign stored[i] = binary(dut.gen_in[i].write_q) - read;
    assign popped[i] = dut.gen_in[i].popped_q;
    assign next[i] = dut.gen_in[i].next_q;
    assign granted_word[i] = dut.gen_in[i].words_q[gray(read)];
    assign head_word[i] = dut.gen_in[i].words_q[gray(read+2'(popped[i]))];
    assign next_word[i] = dut.gen_in[i].words_q[gray(read+2'(popped[i])+2'd1)];
    assign lock[i] = dut.u_arbiter.gen_input[i].lock_q;
    assign hold[i] = dut.u_arbiter.gen_input[i].hold_q;

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
        packet_ended : assert (first_q[i] == next[i][N]);
        packet_goes_on : assert (first_q[i] || next[i][N-1:0] == (lost_q[i] ? '0 : N'(1) << to_q[i]));
        lost_is_known : assert (first_q[i] || lost_q[i] == (int'(to_q[i]) >= N));
        one_lock : assert ((lock[i] & (lock[i] - N'(1))) == '0);
        hold_is_locked : assert ((hold[i] & ~lock[i]) == '0);
        if (lock[i] != '0) begin
          locked : assert (head_valid[i] ? request[i] == lock[i] : next[i] == {1'b0, lock[i]});
        end else begin
          unlocked : assert (head_valid[i] || next[i][N] || next[i][N-1:0] == '0);
        end
      end
    end
  end

  // Output Dst, over inputs: granted now, granted in the cycle before, then in its crosspoint.
  logic [N-1:0] asks, grant, granted, locks, holds, crossing_q;
  logic [N-1:0][W+DigitW:0] at_cross;
  for (genvar i = 0; i < N; i++) begin : gen_row
    assign asks[i] = request[i][Dst];
    assign grant[i] = dut.grant[i][Dst];
    assign granted[i] = dut.granted_q[i][Dst];
    assign locks[i] = lock[i][Dst];
    assign holds[i] = hold[i][Dst];
    assign at_cross[i] = dut.gen_out[Dst].u_output.gen_cross[i].cross_q;
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

  // The address n places after the one that is read: a shift register with feedback.
  function automatic logic [3:0] place(input logic [3:0] n);
    place = read;
    for (int i = 0; i < Queued; i++) if (i < int'(n)) place = {place[2:0], place[3] ~^ place[2]};
  endfunction

  // Every output: what is in its queue, on the way there, and may be granted now, fits.
  for (genvar o = 0; o < N; o++) begin : gen_room
    logic granted_here, may_grant, crossing;
    logic [3:0] queued;
    assign crossing = dut.gen_out[o].u_output.cross_valid_q;
    assign queued   = dut.gen_out[o].u_output.level_q;
    always_comb begin
      granted_here = 1'b0;
      may_grant = dut.u_arbiter.open_q[o];
      for (int i = 0; i < N; i++) begin
        granted_here |= dut.granted_q[i][o];
        may_grant |= hold[i][o];
      end
    end
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        offers_unless_empty : assert (out_valid[o] == (queued != '0));
        room : assert (int'(queued) + int'(crossing) + int'(granted_here) + int'(may_grant) <= Queued);
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

  // Who is inside a packet after the last of these words, and whether all before went well.
  logic unmixed, owned;
  logic [DigitW-1:0] owner;
  // Words of the followed input: how many, and whether the followed word is in its place.
  logic in_place;
  logic [WordsW-1:0] found;
  always_comb begin
    unmixed = 1'b1;
    owned = inside_q;
    owner = from_q;
    in_place = 1'b1;
    found = '0;
    for (int k = 0; k < 2; k++) begin
      if (slot_valid[k]) begin
        if (owned && slot_source[k] != owner) unmixed = 1'b0;
        owned = !slot_word[k][W];
        owner = slot_source[k];
        if (owner == src) begin
          if (found == ahead && slot_word[k] != word) in_place = 1'b0;
          found = found + WordsW'(1);
        end
      end
    end
    if (asks[src]) begin
      if (found == ahead && head_word[src] != word) in_place = 1'b0;
      found = found + WordsW'(1);
    end
    if (!in_ready[src] && next[src][Dst]) begin
      if (found == ahead && next_word[src] != word) in_place = 1'b0;
      found = found + WordsW'(1);
    end
  end

  logic idle_q;  // nothing on show in the cycle before
  always_ff @(posedge clk_i) idle_q <= !out_valid[Dst] && !rst_i;

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      // No deadlock: a head goes if its output is idle and inside no other's packet, and shows three edges later.
      grants_when_idle : assert (!idle_q || (asks & (locks == '0 ? '1 : locks)) == '0 || grant != '0);
      shows : assert (crossing_q == '0 || arrives);
      one_grant : assert ((grant & (grant - N'(1))) == '0 && (grant & ~asks) == '0);
      // What makes these inductive.
      order : assert (found == count && (!follow || in_place));
      ownership : assert (unmixed && owned == (locks != '0) && (!owned || (int'(owner) < N && locks[owner])));
      none_after_reset : assert (!reset_q || crossing_q == '0);
      one_crossing : assert ((crossing_q & (crossing_q - N'(1))) == '0 && arrives == (crossing_q != '0));
      one_from_here : assert ((granted & (granted - N'(1))) == '0);
      one_lock : assert ((locks & (locks - N'(1))) == '0);
      open_is_unlocked : assert (!open || locks == '0);
      queue_level :
      assert (dut.gen_out[Dst].u_output.write_q == place(level) && read != 4'd15 && int'(queue_count) == int'(level));
      queued : assert (!queue_follow || dut.gen_out[Dst].u_output.words_q[place(queue_ahead[3:0])] == queue_word);
      room_is_used : assert (!idle_q || (locks == '0 ? open : holds == locks));
    end
  end

  // ---------------------------------------------------------------------------------------------------------- fairness
  // How many packets of others went to Dst since this input's head asked for it.
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
        fair : assert (passed_q[i] <= N - 1);
        in_line : assert (passed_q[i] + $countones(elders) <= N - 1);
        bound_is_reached : cover (passed_q[i] == N - 1);
        if (!reset_q) begin
          crosspoint_is_gated : assert (crossing_q[i] ? at_cross[i][W+DigitW:W+1] == DigitW'(i) : at_cross[i] == '0);
        end
      end
    end
  end

  // -------------------------------------------------------------------------------------------------- packets that go nowhere
  // Taken in whole so far; counted at their last word, when it has gone.
  int lost_packets_q, lost_packets, lost_inside;
  always_comb begin
    lost_packets = lost_packets_q;
    lost_inside  = 0;
    for (int i = 0; i < N; i++) begin
      if (take[i] && in_last_i[i] && lost[i]) lost_packets = lost_packets + 1;
      if (head_valid[i] && head_last[i] && request[i] == '0) lost_inside = lost_inside + 1;
      if (!in_ready[i] && next[i] == {1'b1, N'(0)}) lost_inside = lost_inside + 1;
    end
  end
  always_ff @(posedge clk_i) lost_packets_q <= rst_i ? 0 : lost_packets < 65535 ? lost_packets : 65535;

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      lost_are_counted :
      assert (lost_packets_q == 65535 ? int'(unroutable) + lost_inside >= 65535 :
              int'(unroutable) + lost_inside == lost_packets_q);
      rest : assert (busy || (head_valid == '0 && granted == '0 && crossing_q == '0 && level == '0));
    end
  end
endmodule
