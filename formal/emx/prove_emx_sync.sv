// SPDX-License-Identifier: MIT OR Apache-2.0
// No sync is handled before its data: a packet that comes to `emx_input` behind a WRITE is decided only when that is
// done.
//
// - With WriteBypass the WRITE stands in memory, as it came, before the later packet goes into a queue, of whatever
//   level.
// - Without, the WRITE goes into the queue before it.
// - Each of the two is done once.
//
// This is the end of the way from one PE to another, for ever. That the two come in the order in which they were sent
// is claimed by the proofs of `emx_output`, `emx_route` and `emx_switch`; that a queue keeps its order, across the
// spill, by that of `emx_input`.
// Two bits of word 1 mark the two packets, and all others have none: `emx_input` does not look at them. Free: all other
// packets, the port, when a packet is taken. Assumed: the switch keeps the rule of room.
module prove_emx_sync #(
    parameter int Levels = 2,
    parameter int HalfPackets = 4,
    parameter int SpillTurns = 3,
    parameter bit WriteBypass = 1'b1
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
    input logic [38:0] mem_rdata_i,
    input logic reply_ready_i,
    input logic data_i,  // what comes is the WRITE
    input logic sync_i  // what comes is the packet behind it
);
  localparam int AddrW = 14;
  localparam int SpillBits = 4;
  localparam int Half = HalfPackets;
  localparam int Ring = 1 << SpillBits;
  localparam int Base = 1 << (AddrW - 3);
  localparam int Words = Levels << (SpillBits + 1);
  localparam bit [1:0] Spill = 2'd2;
  localparam bit [1:0] Refill = 2'd3;

  logic busy, su_room, host_ready, next_valid, mem_valid, mem_write, urgent, reply_valid, refused_valid;
  logic [77:0] next_packet, reply_packet, refused_packet;
  logic [21:0] mem_addr;
  logic [38:0] mem_wdata;
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
      .ReadBypass(WriteBypass)
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
      .mem_rdata_i,
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

  // ------------------------------------------------------------------------------------------------------ what comes
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
  function automatic logic open(input logic [21:0] addr);
    open = int'(addr) < (1 << AddrW) && (int'(addr) < Base || int'(addr) >= Base + Words);
  endfunction
  function automatic logic is_data(input logic [77:0] packet);
    is_data = packet[76:71] == 6'(emx_pkg::TypeWrite) && packet[38:32] == '0 && open(packet[60:39]);
  endfunction
  function automatic logic is_sync(input logic [77:0] packet);
    is_sync = packet[76:71] == 6'(emx_pkg::TypeThread) && packet[38:32] == '0 && open(packet[60:39]);
  endfunction

  // -------------------------------------------------------------------------------------------------------- the queues
  logic [1:0] op;
  logic op_level;
  assign op = dut.op_q;
  assign op_level = Levels != 1 && dut.op_level_q;
  for (genvar g = 0; g < Levels; g++) begin : gen_level
    logic spilling, comes_back;
    logic [4:0] ring;
    int heads, tails;
    assign spilling = dut.gen_level[g].u_queue.spilling_q;
    assign comes_back = dut.word1_comes_q[g];
    assign ring = dut.gen_level[g].u_queue.ring_q;
    assign heads = int'(dut.gen_level[g].u_queue.u_head.level_q);
    assign tails = int'(dut.gen_level[g].u_queue.u_tail.level_q);
    always_ff @(posedge clk_i)
      if (!rst_i) begin
        ring_possible : assert (int'(ring) <= Ring);
        spills_a_packet : assert (!spilling || (ring != '0 && tails != 0));
        spill_under_way : assert (spilling == (op == Spill && op_level == 1'(g)));
        refill_has_room :
        assert (!(op == Refill && op_level == 1'(g)) || (ring != '0 && heads + int'(comes_back) <= Half - 2));
        returns_to_room : assert (!comes_back || heads <= Half - 2);
        tail_has_room : assert (tails - int'(spilling) <= Half && heads <= Half);
        // Without WriteBypass nothing waits: for what is on its way, and for what the host may give.
        place_for_it :
        assert (WriteBypass || (dut.held_q == '0 && tails - int'(spilling) + int'(inside_q) + int'(su_room) <= Half &&
                tails - int'(spilling) + int'(inside_q || room_q) <= Half &&
                tails - int'(spilling) + int'(dut.host_free_q) <= Half));
      end
  end

  logic access, in_rings;
  assign access   = mem_valid && mem_ready_i;
  assign in_rings = int'(mem_addr) >= Base && int'(mem_addr) < Base + Words;

  // ---------------------------------------------------------------------------------- the two packets, by their places
  // 0: the WRITE, 1: the packet behind it. `came`, and then: among the arrivals, with so many ahead; done.
  logic [1:0] mark, came_q, waits_q, done_q, waits;
  logic [1:0][1:0] ahead_q, ahead;
  logic [1:0][77:0] packet_q, packet;
  logic written, queued;  // the WRITE, that passes by; a packet that goes into a queue
  assign written = access && mem_write && !in_rings && mem_wdata[1:0] == 2'b01;
  assign queued = (dut.in_valid & dut.in_ready) != '0;
  assign mark = {
    sync_i && comes && came_q == 2'b01 && is_sync(incoming), data_i && comes && came_q == '0 && is_data(incoming)
  };
  for (genvar k = 0; k < 2; k++) begin : gen_packet
    assign waits[k]  = waits_q[k] || mark[k];
    assign packet[k] = mark[k] ? incoming : packet_q[k];
    assign ahead[k]  = mark[k] ? dut.held_q : ahead_q[k];
    always_ff @(posedge clk_i) begin
      packet_q[k] <= packet[k];
      ahead_q[k]  <= ahead[k] - 2'(dut.decided);
      if (rst_i) {came_q[k], waits_q[k], done_q[k]} <= '0;
      else begin
        came_q[k]  <= came_q[k] || mark[k];
        waits_q[k] <= waits[k] && !(dut.decided && ahead[k] == '0);
        done_q[k]  <= done_q[k] || ((k == 0 && WriteBypass) ? written : queued && dut.arrival[k]);
      end
    end
    always_ff @(posedge clk_i)
      if (!rst_i) begin
        one_place : assert ((waits_q[k] != done_q[k]) == came_q[k] && !(waits_q[k] && done_q[k]));
        ahead_exists : assert (!waits_q[k] || ahead_q[k] < dut.held_q);
        of_its_kind : assert (!came_q[k] || (k == 0 ? is_data(packet_q[k]) : is_sync(packet_q[k])));
        content : assert (!waits_q[k] || packet_q[k] == (ahead_q[k] == '0 ? dut.first_q : dut.second_q));
        first_marked : assert (dut.held_q == '0 || dut.first_q[k] == (waits_q[k] && ahead_q[k] == '0));
        second_marked : assert (!dut.held_q[1] || dut.second_q[k] == (waits_q[k] && ahead_q[k] != '0));
      end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      marked : assume (!comes || incoming[1:0] == mark);
      data_before_sync : assert (!(queued && dut.arrival[1]) || done_q[0]);
      data_as_it_came :
      assert (!(WriteBypass && written) || (mem_addr == packet[0][60:39] && mem_wdata == {7'd0, packet[0][31:0]}));
      each_once : assert (!(done_q[0] && written) && !(queued && (dut.arrival[1:0] & done_q) != '0));
      // Invariants for induction.
      op_possible :
      assert (op != 2'd1 && (op != 2'd0 || !dut.second_access_q) && (!dut.word0_comes_q || op == Refill) &&
              (Levels != 1 || !dut.op_level_q || op == 2'd0));
      one_after_the_other : assert (!came_q[1] || came_q[0]);
      behind_waiting : assert (!(waits_q == '1) || ahead_q[0] < ahead_q[1]);
      not_overtaken : assert (!(waits_q[0] && done_q[1]));
      few : assert (dut.held_q <= 2'd2 && dut.half_q == inside_q && (!inside_q || dut.word0_q == word0_q));
      room_for_it : assert (!su_room || int'(dut.held_q) + int'(inside_q) <= 1);
      room_was_for_it : assert (!(room_q || inside_q) || dut.held_q <= 2'd1);
      // The claims are not vacuous.
      handled : cover (done_q == '1);
      together : cover (waits_q == '1);
    end
  end
endmodule
