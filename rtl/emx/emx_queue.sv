// SPDX-License-Identifier: MIT OR Apache-2.0
// One level's queue of `emx_input`: two halves on the chip, and a ring in memory between them.
//
// Packets    go to the head where neither the tail nor the ring holds one, else to the tail. On the chip they move up
//            where the ring is empty. `in_ready_o`: the tail has a place, or the head takes the packet.
// Spill      `spill_want_o`: the tail has at most one free place. From `spill_begin_i` on its first packet, shown as
//            `spill_packet_o`, counts as in the ring, and a place of the tail is free: the tail has one more for it
//            until `spill_end_i`.
// Refill     `refill_want_o`: the head has two free places and the ring a packet. `refill_end_i`: its second word is
//            asked for; `refill_valid_i`: the packet is here, in the next cycle.
// free_o     free places of the tail, after this cycle's changes but for those that the clock edge has not seen.
// short_o    the tail has at most one free place, and no packet moves up.
// full_o     a further spill is wanted, and the ring is full.
// Latency    1 cycle, through an empty queue.
// Reset      empties it; the ring begins at its first place.
// Source     paper, 2.2 and 4.2: packets that the buffer cannot hold go to memory. Halves and ring are ours.
module emx_queue #(
    parameter int HalfPackets = 4,  // packets of a half, 2..8
    parameter int SpillBits = 12,  // the ring holds 1 << SpillBits packets
    localparam int LevelW = $clog2(HalfPackets + 1)
) (
    input logic clk_i,
    input logic rst_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [77:0] in_packet_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [77:0] out_packet_o,
    output logic [LevelW-1:0] free_o,
    output logic short_o,
    output logic full_o,
    output logic spill_want_o,
    input logic spill_begin_i,
    input logic spill_end_i,
    output logic [77:0] spill_packet_o,
    output logic [SpillBits-1:0] spill_place_o,
    output logic refill_want_o,
    input logic refill_end_i,
    input logic refill_valid_i,
    input logic [77:0] refill_packet_i,
    output logic [SpillBits-1:0] refill_place_o
);

  if (HalfPackets < 2 || HalfPackets > 8) begin : gen_bad_half
    emx_HalfPackets_must_be_2_to_8 u_bad ();
  end

  logic [SpillBits:0] ring_q;  // packets in the ring
  logic [SpillBits-1:0] in_q, out_q;
  logic ring_empty, tail_valid, tail_ready, head_ready, moves, to_head, to_tail, spilling_q;
  logic [LevelW-1:0] head_level, tail_level;
  logic [$clog2(HalfPackets+2)-1:0] tail_places;  // taken, with that of the packet that is spilled
  logic unused_ready;
  logic [77:0] tail_packet;

  // A packet that was asked for is on its way to the head.
  assign ring_empty = ring_q == '0 && !refill_valid_i;
  assign moves = ring_empty && tail_valid && head_ready;
  assign to_head = in_valid_i && ring_empty && !tail_valid && head_ready;
  assign to_tail = in_valid_i && !to_head;
  assign tail_level = LevelW'(tail_places) - LevelW'(spilling_q);
  assign tail_ready = tail_level != LevelW'(HalfPackets);
  assign in_ready_o = tail_ready || (ring_empty && !tail_valid && head_ready);

  fifo #(
      .W(78),
      .Depth(HalfPackets + 1)
  ) u_tail (
      .clk_i,
      .rst_i,
      .in_valid_i (to_tail && tail_ready),
      .in_ready_o (unused_ready),
      .in_data_i  (in_packet_i),
      .out_valid_o(tail_valid),
      .out_ready_i(moves || spill_end_i),
      .out_data_o (tail_packet),
      .level_o    (tail_places)
  );

  logic [77:0] head_packet;
  always_comb begin
    head_packet = in_packet_i;
    if (moves) head_packet = tail_packet;
    if (refill_valid_i) head_packet = refill_packet_i;
  end
  fifo #(
      .W(78),
      .Depth(HalfPackets)
  ) u_head (
      .clk_i,
      .rst_i,
      .in_valid_i(refill_valid_i || moves || to_head),
      .in_ready_o(head_ready),
      .in_data_i(head_packet),
      .out_valid_o,
      .out_ready_i,
      .out_data_o(out_packet_o),
      .level_o(head_level)
  );

  assign free_o = LevelW'(HalfPackets) - tail_level - LevelW'(to_tail && tail_ready);
  assign short_o = tail_level >= LevelW'(HalfPackets - 1) && !moves;
  assign full_o = short_o && ring_q[SpillBits];
  assign spill_want_o = short_o && !ring_q[SpillBits];
  assign refill_want_o = ring_q != '0 && head_level + LevelW'(refill_valid_i) <= LevelW'(HalfPackets - 2);
  assign spill_packet_o = tail_packet;
  assign spill_place_o = in_q;
  assign refill_place_o = out_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      ring_q <= '0;
      spilling_q <= 1'b0;
      in_q <= '0;
      out_q <= '0;
    end else begin
      if (spill_begin_i != refill_end_i) ring_q <= ring_q + (refill_end_i ? '1 : (SpillBits + 1)'(1));
      spilling_q <= spill_begin_i || (spilling_q && !spill_end_i);
      if (spill_end_i) in_q <= in_q + SpillBits'(1);
      if (refill_end_i) out_q <= out_q + SpillBits'(1);
    end
  end

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!refill_valid_i || head_ready);
      assert (!spill_end_i || tail_valid);
      assert (tail_places != '0 || !spilling_q);
      assert (!refill_end_i || ring_q != '0);
    end
  end
`endif
endmodule
