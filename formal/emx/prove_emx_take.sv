// SPDX-License-Identifier: MIT OR Apache-2.0
// `emx_input` takes packets from the network whatever becomes of those that it holds: it waits for the memory port
// alone.
//
// - While the port is free, the host waits for nothing and the ring is not full, room is low for at most `Low` cycles
//   in a row: whether or not packets are taken from the queue, and whether or not answers find a place to be sent.
// - So a thread that waits to send, and an output buffer that is full, never keep a packet in the network.
//
// Assumed: the switch keeps the rule of room.
module prove_emx_take #(
    parameter int Levels = 1,
    parameter int HalfPackets = 4,
    parameter int SpillTurns = 3,
    parameter bit WriteBypass = 1'b1,
    parameter bit ReadBypass = 1'b1,
    parameter int Low = 13
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
    input logic reply_ready_i
);
  localparam int Half = HalfPackets;
  localparam int Ring = 16;
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
      .AddrW(14),
      .SpillBits(4),
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

  logic head, last, inside_q, room_q;
  assign head = su_valid_i && !su_last_i;
  assign last = su_valid_i && su_last_i;
  always_ff @(posedge clk_i) begin
    inside_q <= head && !rst_i;
    room_q   <= su_room && !rst_i;
    if (!rst_i) begin
      word_1_behind_word_0 : assume (inside_q == last);
      begins_with_room : assume (!head || room_q);
    end
  end

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
      end
  end

  logic [Low:0] low_q;
  always_ff @(posedge clk_i) low_q <= rst_i ? '0 : {low_q[Low-1:0], !su_room && mem_ready_i && !host_valid_i && !fatal};

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      takes : assert (low_q != '1);
      // Invariants for induction.
      op_possible :
      assert (op != 2'd1 && (op != 2'd0 || !dut.second_access_q) && (!dut.word0_comes_q || op == Refill) &&
              (Levels != 1 || !dut.op_level_q || op == 2'd0));
      few : assert (dut.held_q <= 2'd2 && dut.half_q == inside_q);
      room_for_it : assert (!su_room || int'(dut.held_q) + int'(inside_q) <= 1);
      room_was_for_it : assert (!(room_q || inside_q) || dut.held_q <= 2'd1);
      turns : assert (int'(dut.turns_q) <= SpillTurns);
      // The claims are not vacuous.
      longest : cover (low_q[3:0] == '1 && !next_ready_i);
      spills : cover (spilled && su_room);
    end
  end
endmodule
