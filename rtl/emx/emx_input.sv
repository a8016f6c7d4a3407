// SPDX-License-Identifier: MIT OR Apache-2.0
// Input buffer unit of EM-4/EM-X (IBU): checks packets that arrive, does WRITE and READ without a thread where it may,
// and queues the others, in order, with spill to memory and refill.
//
// Arrivals   from the switch, two words each, and from the host, whole. They are decided strictly in order: form and
//            range (refused with a reason), then bypass, then queue. With a bypass two wait inside; without, none.
// su_room_o  a flip-flop: a packet that begins now finds a place. It depends on the memory port only, never on sending.
// Bypass     a WRITE is one access; a READ is one, begun where `reply_ready_i` is high, and its answer follows in the
//            next cycle. A READ without a place for its answer is queued.
// Queues     one a level (`emx_queue`); `next_*` offers level 1 first, so an offer may change before it is taken.
// Memory     in this order: the pair of accesses under way, the arrival's bypass, spill, refill; after SpillTurns
//            spills a refill that waits goes before the next one. A request is taken where `mem_ready_i` is high.
// early_*    word 0 of a packet that is alone in the unit, two cycles before it is offered: none is until then. It may
//            be refused, or pass by.
// urgent_o   the tail of a level has one place or none, or an arrival waits behind a bypass.
// Full       FATAL: a spill is needed, and the level's ring in memory is full. It stays until reset, with `su_room_o`
//            and `host_ready_o` low; nothing is lost.
// Latency    1 cycle from word 1 to the offer, through an empty unit.
// Host       a packet is taken where no word comes from the switch, whose packets leave a place. After 14 of the
//            switch's that went before it, and one that is on its way, the switch gets no room until it is in.
// Paths      from the switch's word 1 and from `reply_ready_i` to the memory port, and from the switch to
//            `host_ready_o`; from word 0 to `early_*`, which is a read's address behind `emx_matching`. The unit is a
//            part of `emx_pe`, whose pins are flip-flops.
// Reset      drops all packets, those in memory, too.
// busy_o     low when no packet is inside or in memory, and no pulse is out.
// Source     paper, 2.2, 2.3, 4.2, 4.5; order, room and SpillTurns are ours.
module emx_input #(
    parameter int AddrW = 16,  // words of memory, as a power of two, 14..20
    parameter int SpillBits = 12,  // packets of a level that memory holds, as a power of two, 4..12
    parameter int Levels = 1,  // priorities, 1..2
    parameter int HalfPackets = 4,  // packets in each half of a queue, 2..8
    parameter int SpillTurns = 3,  // spills while a refill waits, 1..16
    parameter bit WriteBypass = 1'b0,  // a WRITE takes no thread
    parameter bit ReadBypass = 1'b0  // a READ takes no thread
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic su_valid_i,
    input logic [38:0] su_data_i,
    input logic su_last_i,
    output logic su_room_o,
    input logic host_valid_i,
    output logic host_ready_o,
    input logic [77:0] host_packet_i,
    output logic next_valid_o,
    input logic next_ready_i,
    output logic [77:0] next_packet_o,
    output logic mem_valid_o,
    input logic mem_ready_i,
    output logic mem_write_o,
    output logic [21:0] mem_addr_o,
    output logic [38:0] mem_wdata_o,
    input logic [38:0] mem_rdata_i,
    output logic early_valid_o,
    output logic [38:0] early_word_o,
    output logic urgent_o,
    output logic reply_valid_o,
    input logic reply_ready_i,
    output logic [77:0] reply_packet_o,
    output logic refused_valid_o,
    output logic [3:0] refused_reason_o,
    output logic [77:0] refused_packet_o,
    output logic [13:0] depth_o,
    output logic spilled_o,
    output logic bypassed_o,
    output logic fatal_o
);
  localparam int BaseBit = AddrW - 3;  // of the rings' address
  localparam int LevelW = $clog2(HalfPackets + 1);
  localparam int TurnW = $clog2(SpillTurns + 1);
  localparam bit Waits = WriteBypass || ReadBypass;  // for memory: else there is a place for each that comes
  localparam bit [1:0] Nothing = 2'd0;
  localparam bit [1:0] Bypass = 2'd1;
  localparam bit [1:0] Spill = 2'd2;
  localparam bit [1:0] Refill = 2'd3;

  if (SpillTurns < 1 || SpillTurns > 16) begin : gen_bad_turns
    emx_SpillTurns_must_be_1_to_16 u_bad ();
  end

  // ---- arrivals: what comes now goes behind those that wait
  logic [38:0] word0_q;
  logic half_q;  // word 0 is here, and word 1 is not
  logic [1:0] held_q, held_d;  // arrivals that wait
  logic [77:0] first_q, second_q, incoming, arrival;
  logic from_su, comes, has_arrival, decided;
  assign from_su = su_valid_i && su_last_i;
  assign comes = from_su || (host_valid_i && host_ready_o);
  assign incoming = from_su ? {word0_q, su_data_i} : host_packet_i;
  assign has_arrival = held_q != '0 || comes;
  assign arrival = (held_q != '0) ? first_q : incoming;
  assign held_d = held_q + 2'(comes) - 2'(decided);

  // ---- what becomes of it
  logic [ 3:0] kind;
  logic [21:0] addr;
  logic [ 6:0] tag;
  logic side, matching, is_thread, malformed, is_public, may_write, may_read, passes, refused;
  assign addr = arrival[39+emx_pkg::PktW0AddrLsb+:emx_pkg::PktW0AddrW];
  assign kind = arrival[39+emx_pkg::PktW0TypeLsb+:emx_pkg::PktW0TypeW];
  assign side = arrival[39+emx_pkg::PktW0SideLsb];
  assign matching = arrival[39+emx_pkg::PktW0MatchLsb];
  assign tag = arrival[emx_pkg::PktW1TagLsb+:emx_pkg::PktW1TagW];
  assign is_thread = kind == 4'(emx_pkg::TypeThread);
  assign malformed = kind[3] || (matching && (!is_thread || addr[5:0] == '0)) || (side && !matching) ||
                     (tag != '0 && kind != 4'(emx_pkg::TypeRead));
  emx_public #(
      .AddrW(AddrW),
      .SpillBits(SpillBits),
      .Levels(Levels)
  ) u_public (
      .addr_i  (32'(addr)),
      .public_o(is_public)
  );
  assign refused = has_arrival && (malformed || !is_public);
  assign may_write = WriteBypass && kind == 4'(emx_pkg::TypeWrite);
  assign may_read = ReadBypass && kind == 4'(emx_pkg::TypeRead) && reply_ready_i;
  assign passes = has_arrival && !refused && (may_write || may_read);

  // ---- queues
  logic [Levels-1:0] level_in, level_out, in_valid, in_ready, out_valid, out_ready, short, full;
  logic [Levels-1:0] spill_want, spill_begin, spill_end, refill_want, refill_end, refill_valid;
  logic [Levels-1:0][77:0] out_packet, spill_packet;
  logic [Levels-1:0][LevelW-1:0] free;
  logic [Levels-1:0][SpillBits-1:0] spill_place, refill_place;
  logic [38:0] refill_word0_q;
  logic stands;  // it is queued, or waits for a place
  for (genvar g = 0; g < Levels; g++) begin : gen_level
    emx_queue #(
        .HalfPackets(HalfPackets),
        .SpillBits  (SpillBits)
    ) u_queue (
        .clk_i,
        .rst_i,
        .in_valid_i(in_valid[g]),
        .in_ready_o(in_ready[g]),
        .in_packet_i(arrival),
        .out_valid_o(out_valid[g]),
        .out_ready_i(out_ready[g]),
        .out_packet_o(out_packet[g]),
        .free_o(free[g]),
        .short_o(short[g]),
        .full_o(full[g]),
        .spill_want_o(spill_want[g]),
        .spill_begin_i(spill_begin[g]),
        .spill_end_i(spill_end[g]),
        .spill_packet_o(spill_packet[g]),
        .spill_place_o(spill_place[g]),
        .refill_want_o(refill_want[g]),
        .refill_end_i(refill_end[g]),
        .refill_valid_i(refill_valid[g]),
        .refill_packet_i({refill_word0_q, mem_rdata_i}),
        .refill_place_o(refill_place[g])
    );
  end
  if (Levels == 1) begin : gen_one_level
    assign level_in  = 1'b1;
    assign level_out = out_valid;
  end else begin : gen_two_levels
    assign level_in  = arrival[39+emx_pkg::PktW0LevelLsb] ? 2'b10 : 2'b01;
    assign level_out = out_valid[1] ? 2'b10 : {1'b0, out_valid[0]};
  end
  assign stands = has_arrival && !refused && !passes;
  assign in_valid = level_in & {Levels{stands}};
  assign out_ready = level_out & {Levels{next_ready_i}};
  assign next_valid_o = out_valid != '0;
  assign next_packet_o = (Levels == 1 || level_out[Levels-1]) ? out_packet[Levels-1] : out_packet[0];

  // ---- the memory port: what is chosen begins in this cycle; a pair goes on until both accesses are done
  logic [1:0] chosen, op, op_q;
  logic second_access_q, op_level, op_level_q, pick_spill, pick_refill, refill_first, granted, pair_ends;
  logic [TurnW-1:0] turns_q;
  logic word0_comes_q, fatal_q;
  logic [Levels-1:0] word1_comes_q, this_level;
  assign pick_spill   = !spill_want[0];
  assign pick_refill  = !refill_want[0];
  assign refill_first = turns_q == TurnW'(SpillTurns) && refill_want != '0;
  always_comb begin
    chosen = Nothing;
    if (passes && (may_write || !reply_valid_o)) chosen = Bypass;
    else if (spill_want != '0 && !fatal_q && !refill_first) chosen = Spill;
    else if (refill_want != '0) chosen = Refill;
  end
  assign op = op_q[1] ? op_q : chosen;  // a pair
  assign op_level = (op_q != Nothing) ? op_level_q : ((chosen == Spill) ? pick_spill : pick_refill);
  assign this_level = (Levels == 1) ? Levels'(1) : Levels'(1) << op_level;
  assign mem_valid_o = op != Nothing;
  assign granted = mem_valid_o && mem_ready_i;
  assign pair_ends = granted && second_access_q;
  assign spill_begin = this_level & {Levels{op_q == Nothing && chosen == Spill}};
  assign spill_end = this_level & {Levels{op == Spill && pair_ends}};
  assign refill_end = this_level & {Levels{op == Refill && pair_ends}};
  assign refill_valid = word1_comes_q;
  assign decided = refused || (in_valid & in_ready) != '0 || (op == Bypass && granted);

  logic queues, leaves;  // a packet
  assign queues = (in_valid & in_ready) != '0;
  assign leaves = next_valid_o && next_ready_i;

  logic [77:0] leaving;
  logic [SpillBits-1:0] place;
  logic [21:0] ring_word, ring_addr;
  logic unused;
  assign unused = ^leaving[70:61];  // the receiver is not kept in memory
  assign leaving = spill_packet[(Levels==1)?0 : 32'(op_level)];
  assign place = (op == Spill) ? spill_place[(Levels == 1) ? 0 : 32'(op_level)] :
                                 refill_place[(Levels == 1) ? 0 : 32'(op_level)];
  assign ring_word = 22'({op_level && Levels != 1, place, second_access_q});
  assign ring_addr = {(22 - BaseBit)'(ring_word >> BaseBit) + (22 - BaseBit)'(1), ring_word[BaseBit-1:0]};
  always_comb begin
    mem_write_o = op == Spill || (op == Bypass && may_write);
    mem_addr_o  = (op == Bypass) ? addr : ring_addr;
    mem_wdata_o = second_access_q ? leaving[38:0] : {leaving[77:71], 10'b0, leaving[60:39]};
    if (op == Bypass) mem_wdata_o = {7'b0, arrival[31:0]};
  end

  // ---- room: packets that are here, that come, and those that may still begin
  logic [1:0] expected;
  logic [LevelW-1:0] least;
  logic [3:0] passed_q;  // packets that went before the host's
  logic room_q, has_place, host_overdue;
  assign least = (free[Levels-1] < free[0]) ? free[Levels-1] : free[0];
  assign expected = held_d + 2'(su_valid_i && !su_last_i);
  assign has_place = expected < 2'd2 && 4'(least) > 4'(expected);
  assign host_overdue = host_valid_i && passed_q >= 4'd14;  // and one more is on its way

  // With the host's packet and one that begins in this cycle, two wait at most.
  logic [1:0] beside;
  assign beside = held_q + 2'(room_q);
  logic [LevelW-1:0] host_free_q;
  assign host_ready_o = !su_valid_i && beside < 2'd2 && 4'(host_free_q) > 4'(beside) && !fatal_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      half_q <= 1'b0;
      held_q <= '0;
      op_q <= Nothing;
      second_access_q <= 1'b0;
      op_level_q <= 1'b0;
      turns_q <= '0;
      word0_comes_q <= 1'b0;
      word1_comes_q <= '0;
      fatal_q <= 1'b0;
      room_q <= 1'b1;
      passed_q <= '0;
      host_free_q <= LevelW'(HalfPackets);
      reply_valid_o <= 1'b0;
      refused_valid_o <= 1'b0;
      spilled_o <= 1'b0;
      bypassed_o <= 1'b0;
      depth_o <= '0;
    end else begin
      half_q <= su_valid_i && !su_last_i;
      held_q <= Waits ? held_d : '0;
      op_q <= (pair_ends || op == Bypass) ? Nothing : op;
      op_level_q <= op_level;
      if (granted && op != Bypass) second_access_q <= !second_access_q;
      if (refill_end != '0) turns_q <= '0;
      else if (spill_begin != '0 && turns_q != TurnW'(SpillTurns)) turns_q <= turns_q + TurnW'(1);
      word0_comes_q <= granted && op == Refill && !second_access_q;
      word1_comes_q <= refill_end;
      fatal_q <= fatal_q || full != '0;
      room_q <= has_place && !fatal_q && full == '0 && !host_overdue;
      if (!host_valid_i || host_ready_o) passed_q <= '0;
      else if (from_su && passed_q != '1) passed_q <= passed_q + 4'd1;
      host_free_q <= least;
      reply_valid_o <= granted && op == Bypass && !may_write;
      refused_valid_o <= refused;
      spilled_o <= spill_end != '0;
      bypassed_o <= granted && op == Bypass;
      if (queues != leaves) depth_o <= depth_o + (leaves ? '1 : 14'd1);
    end
  end

  logic [38:0] answer_q;
  always_ff @(posedge clk_i) begin
    if (su_valid_i && !su_last_i) word0_q <= su_data_i;
    if (held_q == '0 || decided) first_q <= (held_q[1]) ? second_q : incoming;
    if (!held_q[1] || decided) second_q <= incoming;
    if (word0_comes_q) refill_word0_q <= mem_rdata_i;
    answer_q <= arrival[38:0];
    refused_reason_o <= malformed ? 4'(emx_pkg::ReasonType) : 4'(emx_pkg::ReasonRange);
    refused_packet_o <= arrival;
  end

  assign urgent_o = short != '0 || (held_q[1] && passes);
  assign early_valid_o = su_valid_i && !su_last_i && held_q == '0 && depth_o == '0;
  assign early_word_o = su_data_i;
  assign su_room_o = room_q;
  assign fatal_o = fatal_q;
  assign reply_packet_o = {answer_q, 7'b0, mem_rdata_i[31:0]};
  assign busy_o = half_q || held_q != '0 || depth_o != '0 || op_q != Nothing || reply_valid_o || refused_valid_o ||
                  spilled_o || bypassed_o;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (held_q != 2'd3);
      assert (Waits || held_d == '0);
      assert (!(held_q == 2'd2 && comes && !decided));
      assert (!(su_valid_i && su_last_i) || half_q);
      assert (!half_q || (su_valid_i && su_last_i));
    end
  end
`endif
endmodule
