// SPDX-License-Identifier: MIT OR Apache-2.0
// `dimmnet1_acks` loses no credit, gives no more than there are, and counts an answer only for an open packet.
//
// - Open packets of all slots and free credits are always 32 together. A take that may go goes at once.
// - This is proved of one slot, any: OPEN, NACKS, REASON and SEQ read as the takes, answers and clears say.
// - An answer counts when its slot has open packets, to its source and of its generation. Any other is a stray.
// - Open packets of a slot have one destination and one generation, which is a new one after a clear, 4095 clears long.
// - A client that may take is passed over at most once.
//
// Assumed: a take holds until it is taken. Only the first slots are used, because all are alike. After a reset 16
// cycles pass. With `Late` the proof begins after them, which broken twins and cover goals need, because their search
// starts at the beginning.
module prove_dimmnet1_acks #(
    parameter int Used = 2,    // slots that are used, from the first
    parameter bit Late = 1'b0
) (
    input logic clk_i,
    input logic rst_i,
    input logic [1:0] take_valid_i,
    input logic [1:0][3:0] take_slot_i,
    input logic [1:0][15:0] take_dst_i,
    input logic ans_valid_i,
    input logic [15:0] ans_tag_i,
    input logic [15:0] ans_src_i,
    input logic ans_nack_i,
    input logic [3:0] ans_reason_i,
    input logic [31:0] ans_seq_i,
    input logic [3:0] slot_index_i,
    input logic clear_valid_i,
    input logic [3:0] clear_index_i
);
  logic busy, ans_ready, stray;
  logic [1:0] take_ready;
  logic [1:0][11:0] take_gen;
  logic [63:0] slot_value;

  dimmnet1_acks dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .take_valid_i,
      .take_ready_o(take_ready),
      .take_slot_i,
      .take_dst_i,
      .take_gen_o(take_gen),
      .ans_valid_i,
      .ans_ready_o(ans_ready),
      .ans_tag_i,
      .ans_src_i,
      .ans_nack_i,
      .ans_reason_i,
      .ans_seq_i,
      .stray_o(stray),
      .slot_index_i,
      .slot_value_o(slot_value),
      .clear_valid_i,
      .clear_index_i
  );
  for (genvar k = 0; k < 2; k++) begin : gen_source
    stream_rules #(
        .W(20),
        .Assume(1'b1)
    ) u_source (
        .clk_i,
        .rst_i,
        .valid_i(take_valid_i[k]),
        .ready_i(take_ready[k]),
        .data_i ({take_slot_i[k], take_dst_i[k]})
    );
  end

  // The slot that is followed: a register that keeps its initial value.
  logic [3:0] slot_q;
  always_ff @(posedge clk_i) slot_q <= slot_q;

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      used_slots :
      assume (int'(slot_q) < Used && int'(take_slot_i[0]) < Used && int'(take_slot_i[1]) < Used &&
              int'(ans_tag_i[3:0]) < Used && int'(clear_index_i) < Used);
    end
  end

  // Answers and clears as they came, two cycles later: with them the record below knows what the ports show.
  typedef struct packed {
    logic valid;
    logic [15:0] tag;
    logic [15:0] src;
    logic nack;
    logic [3:0] reason;
    logic [27:0] seq;
  } answer_t;
  answer_t [1:0] answer_q;
  logic [1:0] clear_q, read_q;
  always_ff @(posedge clk_i) begin
    answer_q <= {answer_q[0], ans_valid_i, ans_tag_i, ans_src_i, ans_nack_i, ans_reason_i, ans_seq_i[27:0]};
    clear_q  <= {clear_q[0], clear_valid_i && clear_index_i == slot_q};
    read_q   <= {read_q[0], slot_index_i == slot_q};
    if (rst_i) begin
      answer_q[0].valid <= 1'b0;
      answer_q[1].valid <= 1'b0;
      clear_q <= '0;
      read_q <= '0;
    end
  end

  // The slot's record.
  logic taken, who, ours, counts;
  logic [5:0] open_q, open_d;
  logic [15:0] dst_q, dst_d;
  logic [11:0] gen_q;  // of the last take
  logic [47:0] bad_q, bad_d;
  logic known_q;  // it was taken since the reset
  logic [12:0] clears_q;  // clears since the last take
  assign who = take_ready[1];
  assign taken = take_ready != '0 && take_slot_i[who] == slot_q;
  assign ours = answer_q[1].valid && answer_q[1].tag[3:0] == slot_q;
  assign counts = ours && open_q != '0 && answer_q[1].tag[15:4] == gen_q && answer_q[1].src == dst_q;
  always_comb begin
    open_d = open_q + 6'(taken) - 6'(counts);
    dst_d  = taken ? take_dst_i[who] : dst_q;
    bad_d  = bad_q;
    if (counts && answer_q[1].nack) begin
      if (bad_q[15:0] == '0) bad_d[47:16] = {answer_q[1].seq, answer_q[1].reason};
      if (bad_q[15:0] != '1) bad_d[15:0] = bad_q[15:0] + 16'd1;
    end
    if (clear_q[1]) begin
      open_d = '0;
      bad_d  = '0;
    end
  end
  always_ff @(posedge clk_i) begin
    open_q <= rst_i ? '0 : open_d;
    bad_q  <= rst_i ? '0 : bad_d;
    dst_q  <= dst_d;
    if (taken) gen_q <= take_gen[who];
    known_q <= (known_q || taken) && !rst_i;
    if (rst_i) clears_q <= '0;
    else if (clear_q[1] && clears_q != 13'd4096) clears_q <= clears_q + 13'd1;
    else if (taken) clears_q <= '0;
  end

  // All slots, those that the reset has reached.
  int all;
  always_comb begin
    all = 0;
    for (int i = 0; i < Used; i++) if (!dut.init || i < int'(dut.init_q)) all = all + int'(dut.open_q[i]);
  end

  // A client that waits though nothing hinders its take, and for how many takes of the other.
  logic [1:0] may;
  logic [1:0] passed_q[2];
  for (genvar k = 0; k < 2; k++) begin : gen_client
    assign may[k] = take_valid_i[k] && !take_ready[k] && dut.free_q != '0 &&
                    (dut.open_q[take_slot_i[k]] == '0 || dut.dst_q[take_slot_i[k]] == take_dst_i[k]);
    always_ff @(posedge clk_i) begin
      if (rst_i || !may[k]) passed_q[k] <= '0;
      else if (dut.take) passed_q[k] <= (dut.who == k[0]) ? '0 : passed_q[k] + 2'd1;
      if (!rst_i) begin
        fair : assert (passed_q[k] <= 2'd1);
        in_turn : assert (passed_q[k] == '0 || dut.turn_q == k[0]);
      end
    end
  end
  logic goes_q;  // a client may take, and nothing else is to be done
  always_ff @(posedge clk_i) begin
    goes_q <= may == take_valid_i && may != '0 && !dut.init && !dut.ans_q && dut.clears_q == '0 && !rst_i;
  end

  logic quiet;  // the followed slot is as recorded: no clear waits that the record has made
  logic waited_q;  // it was about to be, the cycle before
  logic [11:0] made;  // generations made since the last take
  logic [12:0] asked;  // clears since the last take
  logic recent;  // too few for the generation to come again
  always_ff @(posedge clk_i) waited_q <= dut.clears_q[slot_q] && !rst_i;
  assign quiet  = !dut.init && !(dut.clears_q[slot_q] && waited_q);
  assign made   = dut.gen_q[slot_q] - gen_q;
  assign recent = !dut.init && known_q && asked < 13'd4096;
  assign asked  = clears_q + 13'(clear_q[0]) + 13'(clear_q[1]);

  if (Late) begin : gen_late
    logic begun_q = 1'b0;
    always_ff @(posedge clk_i) begin
      begun_q <= 1'b1;
      if (!begun_q) begin
        after_a_reset :
        assume (!rst_i && dut.init_q == 5'd16 && all == 0 && dut.free_q == 6'd32 && dut.clears_q == '0 &&
                !dut.clearing_q && !dut.fixed_q && !dut.ans_q && !stray && take_ready == '0 &&
                dut.bad_q[slot_q] == '0 && open_q == '0 && bad_q == '0 && !known_q && clears_q == '0 &&
                clear_q == '0 && read_q == '0 && !waited_q && !answer_q[0].valid && !answer_q[1].valid && !goes_q &&
                passed_q[0] == '0 && passed_q[1] == '0 && !gen_source[0].u_source.waiting_q &&
                !gen_source[1].u_source.waiting_q);
      end
    end
  end else begin : gen_power_up
    power_up u_power_up (.*);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      open_and_free : assert (all + int'(dut.free_q) == 32);
      never_above : assert (all <= 32);
      goes_at_once : assert (!goes_q || take_ready != '0);
      one_take : assert (take_ready != '1 && (take_ready & ~take_valid_i) == '0);
      reads_as_counted : assert (!read_q[0] || slot_value == (clear_q[1] ? '0 : {bad_q, 16'(open_q)}));
      strays : assert (!ours || stray == !counts);
      no_stray_without_answer : assert (answer_q[1].valid || !stray);
      one_destination : assert (!taken || open_q == '0 || take_dst_i[who] == dst_q);
      one_generation : assert (!taken || open_q == '0 || take_gen[who] == gen_q);
      new_generation : assert (!(taken && known_q && clears_q != '0 && clears_q < 13'd4096) || take_gen[who] != gen_q);
      busy_tells : assert (busy || (!answer_q[0].valid && dut.clears_q == '0 && take_ready == '0));
      // Invariants for induction.
      begins : assert (dut.init_q <= 5'd16);
      chosen :
      assert (dut.clearing_q == (dut.clears_q != '0) && dut.fixed_q == (dut.init || dut.ans_q || dut.clearing_q) &&
              (!dut.init || dut.fixed_slot_q == dut.init_q[3:0]));
      chosen_for_it : assert (!dut.ans_q || dut.init || dut.fixed_slot_q == answer_q[0].tag[3:0]);
      one_of_them : assert (dut.init || dut.ans_q || !dut.clearing_q || dut.clears_q[dut.fixed_slot_q]);
      kept : assert (!quiet || (dut.open_q[slot_q] == open_d && dut.bad_q[slot_q] == bad_d));
      kept_destination : assert (!quiet || open_d == '0 || dut.dst_q[slot_q] == dst_d);
      kept_generation : assert (!quiet || open_d == '0 || dut.gen_q[slot_q] == (taken ? take_gen[who] : gen_q));
      given_generation : assert (dut.init || !taken || take_gen[who] == dut.gen_q[slot_q]);
      nothing_before : assert (!dut.init || (open_d == '0 && bad_d == '0 && !known_q && take_ready == '0));
      cleared_first :
      assert (!(dut.init && {1'b0, slot_q} < dut.init_q) || {dut.open_q[slot_q], dut.bad_q[slot_q]} == '0);
      waits_for_clear : assert (!waited_q || clear_q[1] || (open_q == '0 && bad_q == '0));
      takes_wait : assert (!(waited_q && taken));
      since_the_clear : assert (!dut.clears_q[slot_q] || waited_q || clear_q[0]);
      old : assert (!(dut.ans_q && answer_q[0].tag[3:0] == slot_q) || dut.ans_old_q == waited_q);
      counted_generations : assert (taken || !recent || 13'(made) + 13'(dut.clears_q[slot_q]) <= asked);
      cleared_soon : assert ((!clear_q[0] || dut.clears_q[slot_q]) && (!clear_q[1] || waited_q));
      clears_possible : assert (clears_q <= 13'd4096);
      made_one : assert (!recent || asked == '0 || dut.clears_q[slot_q] || made != '0);
      still_new : assert (!recent || clears_q == '0 || waited_q || made != '0);
      used : assert ((dut.clears_q >> Used) == '0 && (!dut.ans_q || int'(answer_q[0].tag[3:0]) < Used));
      answered : assert (dut.ans_q == answer_q[0].valid);
      answer_kept :
      assert (!dut.ans_q || {dut.ans_tag_q, dut.ans_src_q, dut.ans_nack_q, dut.ans_reason_q, dut.ans_seq_q[27:0]} ==
              {answer_q[0].tag[15:4], answer_q[0][48:0]});
      // The claims are not vacuous.
      negative : cover (read_q[0] && slot_value == 64'h0000_0075_0001_0001);
      another_generation : cover (taken && take_gen[who] == 12'd1);
      wrong_source : cover (ours && stray && open_q != '0 && answer_q[1].tag[15:4] == gen_q);
    end
  end
endmodule
