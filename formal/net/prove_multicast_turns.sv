// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies that begin together end together: no sink, and no other multicast, makes one of them wait.
//
// - A turn of several outputs goes on in every cycle to all outputs that granted its first word, so it holds them for
//   the cycles of its words alone.
// - An output that is free grants a word in every cycle with a request, whatever other outputs and their sinks do.
// - At most one input is granted at an output, and a waiting input is passed over by at most N - 1 packets.
// - No queue of an output overflows.
//
// Purpose    `crossbar_arbiter` and `crossbar_output` as in `crossbar_multicast`, with any inputs that keep the rules
//            that prove_multicast_input shows: a turn's request stands until it is granted; a turn of several outputs
//            has at most 4 words, which follow each other and go where the first one went. Nothing is assumed of sinks.
module prove_multicast_turns #(
    parameter int N = 2
) (
    input logic clk_i,
    input logic rst_i,
    input logic [N-1:0] valid_i,
    input logic [N-1:0] last_i,
    input logic [N-1:0][N-1:0] ask_i,
    input logic [N-1:0] out_ready_i
);
  localparam int Short = 4;
  localparam int Queued = 14;

  power_up u_power_up (.*);

  // ------------------------------------------------------------------------------------------------------------ inputs
  // The word that waits: its request (0: none), whether it ends the turn, whether the turn began with several outputs,
  // and words of the turn that have left.
  logic [N-1:0][N-1:0] request_q, grant, granted, lasts, lock, hold;
  logic [N-1:0] last_q, several_q;
  logic [N-1:0][1:0] count_q;
  logic [N-1:0] pop, turn;

  for (genvar i = 0; i < N; i++) begin : gen_in
    assign lasts[i] = {N{last_q[i]}};
    assign pop[i]   = grant[i] != '0;
    assign turn[i]  = count_q[i] != '0;  // words of a turn of several outputs have left, and more wait
    assign lock[i]  = u_arbiter.gen_input[i].lock_q;
    assign hold[i]  = u_arbiter.gen_input[i].hold_q;

    // A turn of one output has words of any number, and may pause.
    logic [N-1:0] next;
    logic one, several;
    assign one = (ask_i[i] & (ask_i[i] - N'(1))) == '0;
    assign several = ask_i[i] != '0 && !one;
    always_comb begin
      next = request_q[i];
      if (pop[i] && !last_q[i] && several_q[i]) next = grant[i];
      else if (pop[i] || request_q[i] == '0) begin
        next = '0;
        if (valid_i[i]) begin
          if ((pop[i] ? grant[i] : lock[i]) != '0 && !(pop[i] && last_q[i])) next = pop[i] ? grant[i] : lock[i];
          else next = ask_i[i];
        end
      end
    end
    always_ff @(posedge clk_i) begin
      request_q[i] <= next;
      if (pop[i] || request_q[i] == '0) begin
        last_q[i]  <= last_i[i];
        count_q[i] <= '0;
        if (pop[i] && !last_q[i] && several_q[i]) begin
          count_q[i] <= count_q[i] + 2'd1;
          if (int'(count_q[i]) == Short - 2) last_q[i] <= 1'b1;
        end else if (!(pop[i] ? !last_q[i] : lock[i] != '0)) several_q[i] <= several;
      end
      if (rst_i) begin
        request_q[i] <= '0;
        count_q[i]   <= '0;
        several_q[i] <= 1'b0;
      end
    end
  end

  // ------------------------------------------------------------------------------------------------------------ blocks
  logic [N-1:0] room, more, valid, reset_q;
  logic [N-1:0][N-1:0] granted_to;
  crossbar_arbiter #(
      .N(N)
  ) u_arbiter (
      .clk_i,
      .rst_i,
      .request_i(request_q),
      .last_i   (lasts),
      .room_i   (room),
      .more_i   (more),
      .grant_o  (grant),
      .granted_o(granted)
  );
  always_ff @(posedge clk_i) reset_q <= {N{rst_i}};

  for (genvar o = 0; o < N; o++) begin : gen_out
    logic [N-1:0] asks, grants, locks, holds;
    logic [2:0] unused_word;
    logic unused_busy, open, crossing;
    logic [3:0] level;
    logic room_q, more_q;
    int held;
    for (genvar i = 0; i < N; i++) begin : gen_from
      assign granted_to[o][i] = granted[i][o];
      assign asks[i] = request_q[i][o];
      assign grants[i] = grant[i][o];
      assign locks[i] = lock[i][o];
      assign holds[i] = hold[i][o];
    end
    crossbar_output #(
        .N(N),
        .W(1),
        .Whole(Short)
    ) u_output (
        .clk_i,
        .rst_i,
        .granted_i(granted_to[o]),
        .word_i   ('0),
        .room_o   (room[o]),
        .more_o   (more[o]),
        .valid_o  (valid[o]),
        .ready_i  (out_ready_i[o]),
        .data_o   (unused_word[0]),
        .last_o   (unused_word[1]),
        .source_o (unused_word[2+:1]),
        .busy_o   (unused_busy)
    );
    assign open = u_arbiter.open_q[o];
    assign level = u_output.level_q;
    assign crossing = u_output.cross_valid_q;
    assign held = int'(level) + int'(crossing) + int'(granted_to[o] != '0);
    always_ff @(posedge clk_i) begin
      room_q <= room[o] && !rst_i;
      more_q <= more[o] && !rst_i;
    end

    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        one_grant : assert ((grants & (grants - N'(1))) == '0 && (grants & ~asks) == '0);
        free_grants : assert (!open || asks == '0 || grants != '0);
        fits : assert (held + int'(grants != '0) <= Queued + 1 && level <= 4'd14);
        // Invariants for induction.
        one_lock : assert ((locks & (locks - N'(1))) == '0 && (holds & ~locks) == '0 && (!open || locks == '0));
        room_opens : assert (!room_q || locks != '0 || open);
        more_holds : assert (!more_q || holds == locks);
        one_granted : assert ((granted_to[o] & (granted_to[o] - N'(1))) == '0);
        offers : assert (valid[o] == (level != '0));
        open_has_room : assert (!open || held <= 10);
        in_room : assert (held + int'(open || holds != '0) <= Queued);
      end
    end

    for (genvar i = 0; i < N; i++) begin : gen_fair
      logic [N-1:0] elders;  // served longer ago
      logic [  3:0] passed_q;  // packets since this input asks
      for (genvar j = 0; j < N; j++) begin : gen_elder
        assign elders[j] = u_arbiter.older[j*N+i][o];
        for (genvar k = 0; k < N; k++) begin : gen_transitive
          if (i != j && j != k && i != k) begin : gen_distinct
            always_ff @(posedge clk_i) begin
              if (!rst_i) begin
                age_is_an_order : assert (!elders[j] || !u_arbiter.older[k*N+j][o] || u_arbiter.older[k*N+i][o]);
              end
            end
          end
        end
      end
      always_ff @(posedge clk_i) begin
        if (rst_i || grants[i] || !asks[i]) passed_q <= '0;
        else if ((grants & ~holds) != '0) passed_q <= passed_q + 4'd1;
        if (!rst_i) begin
          fair : assert (int'(passed_q) <= N - 1);
          in_line : assert (int'(passed_q) + $countones(elders) <= N - 1);
        end
      end
    end
  end

  for (genvar i = 0; i < N; i++) begin : gen_rule
    for (genvar o = 0; o < N; o++) begin : gen_level
      always_ff @(posedge clk_i) begin
        if (!rst_i) begin
          turn_has_room : assert (!turn[i] || !lock[i][o] || gen_out[o].held <= 10 + int'(count_q[i]));
          turn_on_its_way : assert (!turn[i] || !lock[i][o] || granted[i][o]);
          second_on_its_way : assert (count_q[i] < 2'd2 || !lock[i][o] || gen_out[o].crossing);
        end
      end
    end
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        turn_goes_on : assert (!turn[i] || grant[i] == lock[i]);
        // Invariants for induction.
        turn_asks_on : assert (!turn[i] || (request_q[i] == lock[i] && hold[i] == lock[i] && several_q[i]));
        short : assert (int'(count_q[i]) < Short && (int'(count_q[i]) < Short - 1 || last_q[i]));
        alone : assert (turn[i] || (lock[i] & (lock[i] - N'(1))) == '0);
        alone_asks_on : assert (turn[i] || lock[i] == '0 || request_q[i] == '0 || request_q[i] == lock[i]);
        alone_is_one : assert (turn[i] || lock[i] == '0 || !several_q[i]);
        is_one : assert (several_q[i] || (request_q[i] & (request_q[i] - N'(1))) == '0);
        whole_turn : cover (int'(count_q[i]) == Short - 1 && grant[i] == '1);
      end
    end
  end
endmodule
