// SPDX-License-Identifier: MIT OR Apache-2.0
// `emx_input` handles packets in the order in which they came: each is refused, done at once, or queued, in order
// across the spill to memory, and none is lost.
//
// - Arrivals are decided strictly in order, each once. A packet that is malformed or out of range is refused, as it
//   came and with its reason, and no other is.
// - A WRITE that passes by is written in the cycle in which it is decided: before a later packet is queued. With
//   WriteBypass none is queued. A READ that passes by is answered in the next cycle, with a place that was promised.
// - Packets of a level are offered in the order in which they were queued, as they came but for the receiver's number,
//   and level 1 before level 0.
// - Memory is accessed in the rings, in whole pairs, or for a packet that passes by, where packets may touch it.
// - FATAL is raised only with a full ring, and always before there is no place. Then nothing is taken until reset.
// - While the host's packet waits, at most 15 of the switch's go before it.
// - Word 0 that is shown early is that of the packet which is offered two cycles later, if one is; none is until then.
//
// The memory of the rings is the proof's own; other words are any. Assumed: the switch keeps the rule of room, the host
// holds its offer. Nothing is assumed of who takes packets, of the port, or of the output buffer.
module prove_emx_input #(
    parameter int AddrW = 14,
    parameter int SpillBits = 4,
    parameter int Levels = 1,
    parameter int HalfPackets = 2,
    parameter int SpillTurns = 1,
    parameter bit WriteBypass = 1'b0,
    parameter bit ReadBypass = 1'b0
) (
    input logic clk_i,
    input logic rst_i,
    input logic su_valid_i,
    input logic [38:0] su_data_i,
    input logic su_last_i,
    input logic host_valid_i,
    input logic [77:0] host_packet_i,
    input logic next_ready_i,
    input logic mem_ready_i,
    input logic [38:0] any_word_i,
    input logic reply_ready_i,
    input logic mark_i
);
  localparam int Half = HalfPackets;
  localparam bit Waits = WriteBypass || ReadBypass;  // else what comes is decided at once
  localparam int Ring = 1 << SpillBits;
  localparam int Base = 1 << (AddrW - 3);
  localparam int Words = Levels << (SpillBits + 1);
  localparam int IndexW = SpillBits + 2;
  localparam int Most = Ring + 2 * Half;  // packets of a level
  localparam int CountW = $clog2(Most + 2);
  localparam bit [1:0] Spill = 2'd2;
  localparam bit [1:0] Refill = 2'd3;

  logic busy, su_room, host_ready, next_valid, mem_valid, mem_write, urgent, reply_valid, refused_valid, early_valid;
  logic [77:0] next_packet, reply_packet, refused_packet;
  logic [21:0] mem_addr;
  logic [38:0] mem_wdata, mem_rdata, early_word;
  logic [ 3:0] reason;
  logic [13:0] depth;
  logic spilled, bypassed, fatal;
  emx_input #(
      .AddrW(AddrW),
      .SpillBits(SpillBits),
      .Levels(Levels),
      .HalfPackets(HalfPackets),
      .SpillTurns(SpillTurns),
      .WriteBypass(WriteBypass),
      .ReadBypass(ReadBypass)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .su_valid_i,
      .su_data_i,
      .su_last_i,
      .su_room_o(su_room),
      .host_valid_i,
      .host_ready_o(host_ready),
      .host_packet_i,
      .next_valid_o(next_valid),
      .next_ready_i,
      .next_packet_o(next_packet),
      .mem_valid_o(mem_valid),
      .mem_ready_i,
      .mem_write_o(mem_write),
      .mem_addr_o(mem_addr),
      .mem_wdata_o(mem_wdata),
      .mem_rdata_i(mem_rdata),
      .early_valid_o(early_valid),
      .early_word_o(early_word),
      .urgent_o(urgent),
      .reply_valid_o(reply_valid),
      .reply_ready_i,
      .reply_packet_o(reply_packet),
      .refused_valid_o(refused_valid),
      .refused_reason_o(reason),
      .refused_packet_o(refused_packet),
      .depth_o(depth),
      .spilled_o(spilled),
      .bypassed_o(bypassed),
      .fatal_o(fatal)
  );
  power_up u_power_up (.*);
  stream_rules #(
      .W(78),
      .Assume(1'b1)
  ) u_host (
      .clk_i,
      .rst_i,
      .valid_i(host_valid_i),
      .ready_i(host_ready),
      .data_i (host_packet_i)
  );

  // --------------------------------------------------------------------------------- the switch, and what came from it
  logic head, last, inside_q, room_q, comes;
  logic [38:0] word0_q;
  logic [77:0] incoming;
  assign head = su_valid_i && !su_last_i;
  assign last = su_valid_i && su_last_i;
  assign comes = last || (host_valid_i && host_ready);
  assign incoming = last ? {word0_q, su_data_i} : host_packet_i;
  always_ff @(posedge clk_i) begin
    inside_q <= head && !rst_i;
    room_q   <= su_room && !rst_i;
    if (head) word0_q <= su_data_i;
    if (!rst_i) begin
      word_1_behind_word_0 : assume (inside_q == last);
      begins_with_room : assume (!head || room_q);
    end
  end

  // ------------------------------------------------------------------------------------------------- decided in order
  logic decided_q, follow1;
  logic [2:0] count1, ahead1;
  logic [77:0] word1, arrival_q, arrival;
  assign arrival = dut.arrival;
  always_ff @(posedge clk_i) begin
    decided_q <= dut.decided && !rst_i;
    arrival_q <= arrival;
  end
  stream_track #(
      .W(78),
      .Capacity(2)
  ) u_arrivals (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(comes),
      .in_data_i(incoming),
      .pop_i(decided_q),
      .out_data_i(arrival_q),
      .inside_o(count1),
      .follow_o(follow1),
      .ahead_o(ahead1),
      .word_o(word1)
  );

  // What becomes of a packet.
  logic [ 3:0] kind;
  logic [21:0] addr;
  logic match, side, bad_type, bad_range, is_write, is_read, queued;
  assign addr = arrival[39+:22];
  assign kind = arrival[39+emx_pkg::PktW0TypeLsb+:4];
  assign side = arrival[39+emx_pkg::PktW0SideLsb];
  assign match = arrival[39+emx_pkg::PktW0MatchLsb];
  assign is_write = int'(kind) == emx_pkg::TypeWrite;
  assign is_read = int'(kind) == emx_pkg::TypeRead;
  assign bad_type = int'(kind) > 7 || (match && (kind != '0 || addr[5:0] == '0)) || (side && !match) ||
                    (arrival[38:32] != '0 && !is_read);
  assign bad_range = int'(addr) >= (1 << AddrW) || (int'(addr) >= Base && int'(addr) < Base + Words);

  // ------------------------------------------------------------------------------------------- the memory of the rings
  logic access, in_rings, pair_q, ring_read_q, spill_q, refill_q, bypass_read_q, bypass_q, offered_q, spilt_q;
  logic [21:0] at_q;
  logic [38:0] ring_mem[1<<IndexW];
  logic [38:0] read_q, tag_q;
  assign access = mem_valid && mem_ready_i;
  assign in_rings = int'(mem_addr) >= Base && int'(mem_addr) < Base + Words;
  assign mem_rdata = ring_read_q ? read_q : any_word_i;
  always_ff @(posedge clk_i) begin
    if (access && mem_write && in_rings) ring_mem[mem_addr[IndexW-1:0]] <= mem_wdata;
    read_q <= ring_mem[mem_addr[IndexW-1:0]];
    ring_read_q <= access && !mem_write && in_rings;
    bypass_q <= access && !in_rings && !rst_i;
    bypass_read_q <= access && !in_rings && !mem_write && !rst_i;
    spilt_q <= access && in_rings && mem_write && mem_addr[0] && !rst_i;
    offered_q <= reply_ready_i && !reply_valid;
    tag_q <= arrival[38:0];
    if (access && in_rings) {pair_q, at_q} <= {!pair_q, mem_addr};
    if (access && in_rings) {spill_q, refill_q} <= {mem_write, !mem_write};
    if (rst_i) pair_q <= 1'b0;
  end

  // ------------------------------------------------------------------------------------------------- one level's queue
  logic level_q;
  always_ff @(posedge clk_i) level_q <= level_q;

  // Without the receiver's number, which memory does not keep.
  function automatic logic [67:0] kept(input logic [77:0] packet);
    kept = {packet[77:71], packet[60:0]};
  endfunction

  logic access_passes;  // a packet passes by
  assign access_passes = access && !in_rings;
  logic [Levels-1:0][3:0] heads;
  logic push2, pop2, follow2;
  logic [CountW-1:0] count2, ahead2;
  logic [67:0] word2;
  // The head of level 1 goes before that of level 0.
  assign pop2   = next_valid && next_ready_i && (Levels == 1 || (heads[Levels-1] != '0) == level_q);
  assign queued = dut.decided && !bad_type && !bad_range && !access_passes;
  assign push2  = queued && (Levels == 1 || arrival[77] == level_q);
  stream_track #(
      .W(68),
      .Capacity(Most),
      .Fills(1'b0)
  ) u_level (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(push2),
      .in_data_i(kept(arrival)),
      .pop_i(pop2),
      .out_data_i(kept(next_packet)),
      .inside_o(count2),
      .follow_o(follow2),
      .ahead_o(ahead2),
      .word_o(word2)
  );

  // --------------------------------------------------------------------------------------------------------- registers
  logic [1:0] op;
  logic second, op_level;
  assign op = dut.op_q;
  assign second = dut.second_access_q;
  assign op_level = Levels != 1 && dut.op_level_q;

  logic [Levels-1:0] spilling, comes_back, at_limit, is_full;
  logic [Levels-1:0][SpillBits:0] ring;
  logic [Levels-1:0][SpillBits-1:0] in_at, out_at;
  logic [Levels-1:0][3:0] tails;
  logic [Levels-1:0][Half-1:0][77:0] head_mem;
  logic [Levels-1:0][Half:0][77:0] tail_mem;
  logic [Levels-1:0][13:0] total;
  for (genvar g = 0; g < Levels; g++) begin : gen_level
    assign spilling[g] = dut.gen_level[g].u_queue.spilling_q;
    assign comes_back[g] = dut.word1_comes_q[g];
    assign ring[g] = dut.gen_level[g].u_queue.ring_q;
    assign in_at[g] = dut.gen_level[g].u_queue.in_q;
    assign out_at[g] = dut.gen_level[g].u_queue.out_q;
    assign heads[g] = 4'(dut.gen_level[g].u_queue.u_head.level_q);
    assign tails[g] = 4'(dut.gen_level[g].u_queue.u_tail.level_q);
    assign head_mem[g] = dut.gen_level[g].u_queue.u_head.mem_q;
    assign tail_mem[g] = dut.gen_level[g].u_queue.u_tail.mem_q;
    assign total[g] = 14'(heads[g]) + 14'(comes_back[g]) + 14'(ring[g]) + 14'(tails[g]) - 14'(spilling[g]);
    assign at_limit[g] = int'(total[g]) >= Ring + Half - 1 && int'(ring[g]) == Ring;
    assign is_full[g] = int'(total[g]) >= Most;
    always_ff @(posedge clk_i)
      if (!rst_i) begin
        ring_places :
        assert (SpillBits'(in_at[g] - out_at[g]) == SpillBits'(ring[g]) - SpillBits'(spilling[g]) &&
                int'(ring[g]) <= Ring);
        spills_a_packet : assert (!spilling[g] || (ring[g] != '0 && tails[g] != '0));
        spill_under_way : assert (spilling[g] == (op == Spill && op_level == 1'(g)));
        refill_has_room :
        assert (!(op == Refill && op_level == 1'(g)) ||
                (ring[g] != '0 && int'(heads[g]) + int'(comes_back[g]) <= Half - 2));
        returns_to_room : assert (!comes_back[g] || int'(heads[g]) <= Half - 2);
        tail_has_room : assert (int'(tails[g]) - int'(spilling[g]) <= Half && int'(heads[g]) <= Half);
        // For what is on its way, and for what the host may give.
        place_for_it :
        assert (Waits || (int'(tails[g]) - int'(spilling[g]) + int'(inside_q) + int'(su_room) <= Half &&
                int'(tails[g]) - int'(spilling[g]) + int'(inside_q || room_q) <= Half &&
                int'(tails[g]) - int'(spilling[g]) + int'(dut.host_free_q) <= Half));
      end
  end

  // The followed packet, in the head, on its way back, in the ring, or in the tail.
  logic g, here;
  int at, in_ring;
  logic [IndexW-1:0] place;
  logic [77:0] found;
  assign g = Levels != 1 && level_q;
  assign at = int'(ahead2) - int'(heads[g]) - int'(comes_back[g]);
  assign in_ring = int'(ring[g]) - int'(spilling[g]);
  assign place = IndexW'({g, SpillBits'(out_at[g] + SpillBits'(at)), 1'b0});
  always_comb begin
    found = tail_mem[g][0];
    for (int i = 0; i <= Half; i++) if (at - in_ring == i) found = tail_mem[g][i];
    if (at < in_ring) found = {ring_mem[place], ring_mem[place|IndexW'(1)]};
    if (at == -1 && comes_back[g]) found = {dut.refill_word0_q, mem_rdata};
    for (int i = 0; i < Half; i++) if (int'(ahead2) == i && i < int'(heads[g])) found = head_mem[g][i];
  end
  logic [38:0] found0;  // what was read of the front of the ring
  assign found0 = dut.word0_comes_q ? mem_rdata : dut.refill_word0_q;
  assign here   = op_level == g;

  logic [77:0] found1;  // among those that came
  always_comb begin
    found1 = dut.second_q;
    if (int'(ahead1) == int'(decided_q)) found1 = dut.first_q;
    if (decided_q && ahead1 == '0) found1 = arrival_q;
  end

  // -------------------------------------------------------------------------------------------------------- the claims
  logic fatal_q, limit_q, full_q, refused_q, type_q;
  logic [4:0] passed_q;
  logic [1:0] early_q;  // in the last cycle, and in the one before
  logic [Levels-1:0] others;  // levels with another packet at their head
  always_comb for (int i = 0; i < Levels; i++) others[i] = heads[i] != '0 && head_mem[i][0][77:39] != word0_q;
  always_ff @(posedge clk_i) begin
    fatal_q <= fatal && !rst_i;
    limit_q <= at_limit != '0;
    full_q <= is_full != '0 && !rst_i;
    refused_q <= dut.decided && (bad_type || bad_range) && !rst_i;
    type_q <= bad_type;
    early_q <= rst_i ? '0 : {early_q[0], early_valid};
    if (rst_i || !host_valid_i || host_ready) passed_q <= '0;
    else passed_q <= passed_q + 5'(last);
  end

  always_ff @(posedge clk_i) begin
    a_level : assume (Levels != 1 || !level_q);
    if (!rst_i) begin
      refused_once :
      assert (refused_valid == refused_q && (!refused_q || (refused_packet == arrival_q &&
              int'(reason) == (type_q ? emx_pkg::ReasonType : emx_pkg::ReasonRange))));
      passes_by_as_it_came :
      assert (!(mem_valid && !in_rings) || (!bad_type && !bad_range && mem_addr == addr &&
              (mem_write ? WriteBypass && is_write &&
              mem_wdata == {7'b0, arrival[31:0]} : ReadBypass && is_read && reply_ready_i)));
      decided_with_its_access : assert (!access_passes || dut.decided);
      no_write_is_queued : assert (!(WriteBypass && queued && is_write));
      answered :
      assert (reply_valid == bypass_read_q && (!reply_valid ||
              (offered_q && reply_packet == {tag_q, 7'b0, mem_rdata[31:0]})));
      bypass_told : assert (bypassed == bypass_q);
      in_pairs :
      assert (!(mem_valid && (in_rings ? pair_q : 1'b0)) || (mem_addr == at_q + 22'd1 && mem_write == spill_q));
      pair_is_whole : assert (!(mem_valid && pair_q) || in_rings);
      pair_begins : assert (!(mem_valid && in_rings && !pair_q) || !mem_addr[0]);
      spill_told : assert (spilled == spilt_q);
      depth_told : assert (depth == total[0] + (Levels == 1 ? 14'd0 : total[Levels-1]));
      fatal_at_the_limit : assert (!fatal || fatal_q || limit_q);
      never_silent : assert (!full_q || fatal);
      fatal_stays : assert (!fatal_q || fatal);
      fatal_takes_none : assert (!fatal || !(su_room || host_ready));
      host_in_turn : assert (passed_q <= 5'd15);
      early_is_word_0 : assert (!early_valid || (head && early_word == su_data_i));
      none_until_word_1 : assert (!(next_valid && (early_valid || early_q[0])));
      offered_behind_word_0 : assert (!(next_valid && early_q[1]) || next_packet[77:39] == word0_q);
      busy_tells : assert (busy || !(inside_q || count1 != '0 || count2 != '0 || refused_valid || reply_valid));
      // Invariants for induction.
      op_possible :
      assert (op != 2'd1 && (op != 2'd0 || !second) && second == pair_q &&
              (!second || {spill_q, refill_q} == {op == Spill, op == Refill}));
      pair_at :
      assert (!second || at_q == 22'(Base) + 22'({op_level, op == Spill ? in_at[op_level] : out_at[op_level], 1'b0}));
      reads_first : assert (!dut.word0_comes_q || (op == Refill && second && ring_read_q));
      reads_second : assert (comes_back == '0 || (ring_read_q && (comes_back & (comes_back - Levels'(1))) == '0));
      arrivals_counted : assert (int'(count1) == int'(dut.held_q) + int'(decided_q) && dut.held_q <= 2'd2);
      arrival_in_line : assert (!follow1 || found1 == word1);
      room_for_it : assert (!su_room || int'(dut.held_q) + int'(inside_q) <= 1);
      room_was_for_it : assert (!(room_q || inside_q) || dut.held_q <= 2'd1);
      never_waits : assert (Waits || dut.held_q == '0);
      half : assert (dut.half_q == inside_q && (!inside_q || dut.word0_q == word0_q));
      counted : assert (14'(count2) == total[g]);
      in_line : assert (!follow2 || kept(found) == word2);
      first_word_spilled :
      assert (!(follow2 && op == Spill && here && second && at == in_ring) ||
              ({ring_mem[IndexW'({g, in_at[g], 1'b0})][38:32],
                ring_mem[IndexW'({g, in_at[g], 1'b0})][21:0]} == word2[67:39]));
      first_word_read :
      assert (!(follow2 && op == Refill && here && second && at == 0) || {found0[38:32], found0[21:0]} == word2[67:39]);
      passed : assert (dut.passed_q == passed_q[3:0]);
      none_behind_15 : assert (passed_q != 5'd15 || !(su_room || room_q || inside_q));
      none_behind_14 : assert (!(passed_q >= 5'd14 && inside_q) || !su_room);
      early_alone : assert (!early_q[0] || (inside_q && depth == '0 && dut.held_q == '0));
      early_first : assert (!early_q[1] || (tails == '0 && ring == '0 && comes_back == '0 && depth <= 14'd1));
      early_at_head : assert (!early_q[1] || others == '0);
      turns : assert (int'(dut.turns_q) <= SpillTurns);
      // The claims are not vacuous.
      spills : cover (spilled && follow2);
      comes_back_and_goes : cover (comes_back != '0);
      refused : cover (refused_valid && !type_q);
      host_first : cover (host_valid_i && host_ready && inside_q == '0 && count1 != '0);
    end
  end
endmodule
