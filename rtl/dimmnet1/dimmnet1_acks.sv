// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1, slots and credits: counts the packets that ask for an answer, by slot, and the answers to them.
//
// Take       a client offers {slot, DST} and holds the offer. `take_ready_o` is a pulse: one packet of the slot is open
//            from then on, and `take_gen_o` is the generation for its TAG in that cycle. A take waits while all credits
//            are out, and while the slot has open packets to another DST. The two clients alternate.
// Answer     never waits. It counts when its slot has open packets, to its source and of its generation, and is a stray
//            otherwise (`stray_o`, 2 cycles after it). A negative answer counts twice: the packet is no longer open,
//            and NACKS goes up, which saturates. REASON and SEQ are those of the first one.
// Clear      never waits. The slot reads as 0 from the next cycle on, its credits are free, and answers of its old
//            generation are strays. It is done in the first cycle without an answer; takes wait for it.
// Read       `slot_value_o` is register SLOTS of slot `slot_index_i`, one cycle later. An answer shows 2 cycles after
//            it came.
// Latency    take: 1 cycle when nothing else is to be done; one event per cycle, answers before clears before takes.
// Reset      clears all slots, which takes 16 cycles: takes wait, slots read as 0, and every answer is a stray.
// Wrap       a generation comes again after 4096 clears of a slot: an answer as late as that counts for a new packet.
// Source     acknowledgements and negative ones: paper sections 3.4.2 and 4.1; slots, generations, credits are ours.
module dimmnet1_acks (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [1:0] take_valid_i,
    output logic [1:0] take_ready_o,
    input logic [1:0][3:0] take_slot_i,
    input logic [1:0][15:0] take_dst_i,
    output logic [1:0][11:0] take_gen_o,

    input logic ans_valid_i,
    output logic ans_ready_o,
    input logic [15:0] ans_tag_i,
    input logic [15:0] ans_src_i,
    input logic ans_nack_i,
    input logic [3:0] ans_reason_i,
    input logic [31:0] ans_seq_i,
    output logic stray_o,

    input logic [3:0] slot_index_i,
    output logic [63:0] slot_value_o,
    input logic clear_valid_i,
    input logic [3:0] clear_index_i
);
  localparam int Slots = dimmnet1_pkg::SizeSlots;
  localparam int Credits = dimmnet1_pkg::SizeCredits;
  localparam int OpenW = $clog2(Credits + 1);

  // One event per cycle reads a slot and writes it back.
  logic [OpenW-1:0] open_q[Slots];
  logic [15:0] dst_q[Slots];
  logic [11:0] gen_q[Slots];
  logic [47:0] bad_q[Slots];  // {SEQ, REASON, NACKS}

  logic [4:0] init_q, init_d;  // slots cleared since reset
  logic init;
  assign init   = !init_q[4];
  assign init_d = init_q + 5'(init);

  // ------------------------------------------------------------------------------------------------------------ events
  logic ans_q, ans_nack_q, ans_old_q;
  logic [15:4] ans_tag_q;
  logic [15:0] ans_src_q;
  logic [31:0] ans_seq_q;
  logic [ 3:0] ans_reason_q;
  logic [Slots-1:0] clears_q, clears_d;  // to be done
  logic clear, clearing_q;
  logic [3:0] clear_slot;  // the first of them
  logic fixed_q;  // the cycle is not a take's
  logic [3:0] fixed_slot_q;

  always_comb begin
    clears_d = clears_q;
    if (clear && !init) clears_d[fixed_slot_q] = 1'b0;
    if (clear_valid_i) clears_d[clear_index_i] = 1'b1;
    clear_slot = 4'd0;
    for (int i = Slots - 1; i >= 0; i--) if (clears_d[i]) clear_slot = 4'(i);
  end
  assign clear = init || (!ans_q && clearing_q);

  logic turn_q, who, full;
  logic [1:0] tries;
  logic [3:0] slot;
  assign tries = take_valid_i & ~take_ready_o;
  assign who   = tries[turn_q] ? turn_q : !turn_q;
  assign slot  = take_slot_i[who];

  // ------------------------------------------------------------------------------------------------------ the one slot
  // That of an answer or a clear is known a cycle ahead, that of a take comes late: each is read by itself.
  logic [OpenW-1:0] open, take_open;
  logic [11:0] gen, take_gen;
  logic [15:0] dst, take_dst;
  logic [47:0] bad;
  logic try_take, take, answer, nack, first;
  assign open = open_q[fixed_slot_q];
  assign dst = dst_q[fixed_slot_q];
  assign gen = gen_q[fixed_slot_q];
  assign bad = bad_q[fixed_slot_q];
  assign take_open = open_q[slot];
  assign take_dst = dst_q[slot];
  assign take_gen = gen_q[slot];
  assign try_take = !fixed_q && tries != '0 && !full;
  assign take = try_take && (take_open == '0 || take_dst == take_dst_i[who]);
  assign answer = ans_q && !init && !ans_old_q && open != '0 && gen == ans_tag_q[15:4] && dst == ans_src_q;
  assign nack = answer && ans_nack_q;
  assign first = bad[15:0] == '0;

  logic [OpenW-1:0] open_d, free_d, free_q;
  assign open_d = clear ? '0 : fixed_q ? open - OpenW'(1) : take_open + OpenW'(1);
  assign full   = free_q == '0;
  // The sums do not wait for the event.
  always_comb begin
    free_d = free_q;
    if (clear && !init) free_d = free_q + open;
    if (take) free_d = free_q - OpenW'(1);
    if (answer) free_d = free_q + OpenW'(1);
  end

  always_ff @(posedge clk_i) begin
    if (clear || take || answer) open_q[fixed_q?fixed_slot_q : slot] <= open_d;
    if (take) dst_q[slot] <= take_dst_i[who];
    if (clear) gen_q[fixed_slot_q] <= init ? '0 : gen + 12'd1;
    if (clear || nack) begin
      bad_q[fixed_slot_q] <= clear ? '0 : {
        first ? ans_seq_q[27:0] : bad[47:20],
        first ? ans_reason_q : bad[19:16],
        bad[15:0] == '1 ? '1 : bad[15:0] + 16'd1
      };
    end

    ans_tag_q <= ans_tag_i[15:4];
    ans_src_q <= ans_src_i;
    ans_nack_q <= ans_nack_i;
    ans_reason_q <= ans_reason_i;
    ans_seq_q <= ans_seq_i;
    ans_old_q <= clears_q[ans_tag_i[3:0]];
    if (take) take_gen_o <= {2{take_gen}};
    if (try_take) turn_q <= !who;
    ans_q <= ans_valid_i;
    stray_o <= ans_q && !answer;
    take_ready_o <= take ? {who, !who} : 2'b00;
    clears_q <= clears_d;
    clearing_q <= clears_d != '0;
    // The slot is chosen a cycle ahead.
    fixed_q <= !init_d[4] || ans_valid_i || clears_d != '0;
    fixed_slot_q <= !init_d[4] ? init_d[3:0] : ans_valid_i ? ans_tag_i[3:0] : clear_slot;
    init_q <= init_d;
    free_q <= free_d;
    if (rst_i) begin
      turn_q <= 1'b0;
      ans_q <= 1'b0;
      stray_o <= 1'b0;
      take_ready_o <= 2'b00;
      clears_q <= '0;
      clearing_q <= 1'b0;
      init_q <= '0;
      fixed_q <= 1'b1;
      fixed_slot_q <= '0;
      free_q <= OpenW'(Credits);
    end
  end

  // -------------------------------------------------------------------------------------------------------------- host
  always_ff @(posedge clk_i) begin
    slot_value_o <= {bad_q[slot_index_i], 16'(open_q[slot_index_i])};
    if (init || clears_q[slot_index_i]) slot_value_o <= '0;
  end

  logic [3:0] unused_seq;
  assign unused_seq = ans_seq_q[31:28];
  assign ans_ready_o = 1'b1;
  assign busy_o = init || ans_q || clears_q != '0 || stray_o || take_ready_o != '0;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) assert (free_q <= OpenW'(Credits));
  end
`endif
endmodule
