// SPDX-License-Identifier: MIT OR Apache-2.0
// No sync is handled before its data, from a PE's thread to the queues of the next PE: output, route and switch of the
// sender, switch and input buffer of the receiver, as they are joined in a ring of five.
//
// - A WRITE that a thread sends, and a packet behind it to the same PE: the later one goes into a queue only when the
//   WRITE is done (WriteBypass), or behind it in the queues.
// - Each is done once.
//
// Two bits of word 1 mark the two packets, and all others have none: no unit of the way looks at them. Free: both PEs'
// other packets, those that pass through, room beyond, the receiver's memory port, and when a packet is taken.
// Bounded: within so many cycles of reset. `emx_sync` and the proofs of the units are for ever.
// Assumed: the other senders keep the rule of room; a producer holds its offer.
module prove_emx_pair #(
    parameter int OutputPackets = 0,
    parameter bit WriteBypass   = 1'b0
) (
    input logic clk_i,
    input logic rst_i,
    input logic [2:0] sender_i,
    // the sender's threads
    input logic send_valid_i,
    input logic [77:0] send_packet_i,
    // two links into the sender, and the receiver's own packets
    input logic [2:0] other_valid_i,
    input logic [2:0][1:0] other_vc_i,
    input logic [2:0][38:0] other_data_i,
    input logic [2:0] other_last_i,
    // beyond the receiver, and what the sender gets
    input logic [1:0][2:0] beyond_room_i,
    input logic sender_room_i,
    input logic next_ready_i,
    input logic mem_ready_i,
    input logic [38:0] mem_rdata_i,
    input logic reply_ready_i
);
  localparam int AddrW = 14;
  localparam int SpillBits = 4;
  localparam int Base = 1 << (AddrW - 3);
  localparam int Words = 1 << (SpillBits + 1);

  logic [2:0] sender_q, receiver;
  always_ff @(posedge clk_i) sender_q <= rst_i ? sender_i : sender_q;
  assign receiver = (sender_q == 3'd4) ? 3'd0 : sender_q + 3'd1;

  // ------------------------------------------------------------------------------------------------------- the sender
  logic [1:0] send_ready;
  logic out_valid, out_last, out_room, pe_valid, pe_last, pe_room, nowhere;
  logic [38:0] out_data, pe_data;
  logic [77:0] nowhere_packet;
  logic [6:0] here, place;
  logic [7:0] busy;
  emx_output #(
      .OutputPackets(OutputPackets)
  ) u_output (
      .clk_i,
      .rst_i,
      .busy_o(busy[0]),
      .in_valid_i({1'b0, send_valid_i}),
      .in_ready_o(send_ready),
      .in_packet_i({78'b0, send_packet_i}),
      .out_valid_o(out_valid),
      .out_data_o(out_data),
      .out_last_o(out_last),
      .out_room_i(out_room)
  );
  emx_route #(
      .RowBits(0)
  ) u_route (
      .clk_i,
      .rst_i,
      .pe_i({7'b0, sender_i}),
      .in_valid_i(out_valid),
      .in_data_i(out_data),
      .in_last_i(out_last),
      .in_room_o(out_room),
      .out_valid_o(pe_valid),
      .out_data_o(pe_data),
      .out_last_o(pe_last),
      .out_room_i(pe_room),
      .here_o(here),
      .place_o(place),
      .nowhere_o(nowhere),
      .nowhere_packet_o(nowhere_packet),
      .busy_o(busy[1])
  );

  logic [1:0] link_valid, link_last;
  logic [1:0][ 1:0] link_vc;
  logic [1:0][38:0] link_data;
  logic [1:0][2:0] link_room, came_room;
  logic sender_valid, sender_last;
  logic [38:0] sender_data;
  logic [15:0] drained, receiver_drained;
  emx_switch #(
      .Packets(1)
  ) u_sender (
      .clk_i,
      .rst_i,
      .column_i(sender_i),
      .link_in_valid_i(other_valid_i[1:0]),
      .link_in_vc_i(other_vc_i[1:0]),
      .link_in_data_i(other_data_i[1:0]),
      .link_in_last_i(other_last_i[1:0]),
      .link_in_room_o(came_room),
      .link_out_valid_o(link_valid),
      .link_out_vc_o(link_vc),
      .link_out_data_o(link_data),
      .link_out_last_o(link_last),
      .link_out_room_i(link_room),
      .pe_in_valid_i(pe_valid),
      .pe_in_data_i(pe_data),
      .pe_in_last_i(pe_last),
      .pe_in_room_o(pe_room),
      .pe_out_valid_o(sender_valid),
      .pe_out_data_o(sender_data),
      .pe_out_last_o(sender_last),
      .pe_out_room_i(sender_room_i),
      .busy_o(busy[2]),
      .drained_o(drained)
  );

  // ----------------------------------------------------------------------------------------------------- the receiver
  logic own_room, su_valid, su_last, su_room;
  logic [38:0] su_data;
  logic [1:0] beyond_valid, beyond_last;
  logic [1:0][ 1:0] beyond_vc;
  logic [1:0][38:0] beyond_data;
  emx_switch #(
      .Packets(1)
  ) u_receiver (
      .clk_i,
      .rst_i,
      .column_i((sender_i == 3'd4) ? 3'd0 : sender_i + 3'd1),
      .link_in_valid_i(link_valid),
      .link_in_vc_i(link_vc),
      .link_in_data_i(link_data),
      .link_in_last_i(link_last),
      .link_in_room_o(link_room),
      .link_out_valid_o(beyond_valid),
      .link_out_vc_o(beyond_vc),
      .link_out_data_o(beyond_data),
      .link_out_last_o(beyond_last),
      .link_out_room_i(beyond_room_i),
      .pe_in_valid_i(other_valid_i[2]),
      .pe_in_data_i(other_data_i[2]),
      .pe_in_last_i(other_last_i[2]),
      .pe_in_room_o(own_room),
      .pe_out_valid_o(su_valid),
      .pe_out_data_o(su_data),
      .pe_out_last_o(su_last),
      .pe_out_room_i(su_room),
      .busy_o(busy[3]),
      .drained_o(receiver_drained)
  );

  logic host_ready, next_valid, mem_valid, mem_write, early_valid, urgent, reply_valid, refused_valid;
  logic [77:0] next_packet, reply_packet, refused_packet;
  logic [21:0] mem_addr;
  logic [38:0] mem_wdata, early_word;
  logic [ 3:0] reason;
  logic [13:0] depth;
  logic spilled, bypassed, fatal;
  emx_input #(
      .AddrW(AddrW),
      .SpillBits(SpillBits),
      .HalfPackets(2),
      .WriteBypass(WriteBypass)
  ) u_input (
      .clk_i,
      .rst_i,
      .busy_o(busy[4]),
      .su_valid_i(su_valid),
      .su_data_i(su_data),
      .su_last_i(su_last),
      .su_room_o(su_room),
      .host_valid_i(1'b0),
      .host_ready_o(host_ready),
      .host_packet_i('0),
      .next_valid_o(next_valid),
      .next_ready_i,
      .next_packet_o(next_packet),
      .mem_valid_o(mem_valid),
      .mem_ready_i,
      .mem_write_o(mem_write),
      .mem_addr_o(mem_addr),
      .mem_wdata_o(mem_wdata),
      .mem_rdata_i,
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

  // ------------------------------------------------------------------------------------------------- the other senders
  logic [2:0] other_head, inside_q;
  logic [2:0][2:0] room, room_q;
  assign room = {2'b0, own_room, came_room};
  for (genvar i = 0; i < 3; i++) begin : gen_other
    assign other_head[i] = other_valid_i[i] && !other_last_i[i];
    always_ff @(posedge clk_i) begin
      inside_q[i] <= other_head[i] && !rst_i;
      room_q[i]   <= rst_i ? '0 : room[i];
      if (!rst_i) begin
        word_1_behind_word_0 : assume (inside_q[i] == (other_valid_i[i] && other_last_i[i]));
        begins_with_room :
        assume (!other_head[i] || (other_vc_i[i] <= (i == 2 ? 2'd0 : 2'd2) && room_q[i][other_vc_i[i]]));
        unmarked : assume (!inside_q[i] || other_data_i[i][1:0] == '0);
      end
    end
  end

  // ------------------------------------------------------------------------------------------------- the two packets
  function automatic logic open(input logic [21:0] addr);
    open = int'(addr) < (1 << AddrW) && (int'(addr) < Base || int'(addr) >= Base + Words);
  endfunction
  function automatic logic to_it(input logic [77:0] packet, input logic [5:0] kind);
    to_it = packet[76:71] == kind && packet[38:32] == '0 && packet[70:61] == {7'b0, receiver} && open(packet[60:39]);
  endfunction
  logic offered_q, written, queued;
  logic [77:0] packet_q;
  logic [1:0] mark, sent_q, done_q;
  assign mark = send_packet_i[1:0];
  assign queued = (u_input.in_valid & u_input.in_ready) != '0;
  assign written = mem_valid && mem_ready_i && mem_write && mem_wdata[1:0] == 2'b01 &&
                   !(int'(mem_addr) >= Base && int'(mem_addr) < Base + Words);
  always_ff @(posedge clk_i) begin
    offered_q <= !rst_i && send_valid_i && !send_ready[0];
    packet_q  <= send_packet_i;
    if (rst_i) {sent_q, done_q} <= '0;
    else begin
      if (send_valid_i && send_ready[0]) sent_q <= sent_q | mark;
      done_q[0] <= done_q[0] || (WriteBypass ? written : queued && u_input.arrival[0]);
      done_q[1] <= done_q[1] || (queued && u_input.arrival[1]);
    end
    if (!rst_i) begin
      sender_exists : assume (sender_q <= 3'd4);
      holds_its_offer : assume (!offered_q || (send_valid_i && send_packet_i == packet_q));
      data_then_sync :
      assume (!send_valid_i || mark == '0 || (mark == 2'b01 && sent_q == '0 && to_it(
          send_packet_i, 6'(emx_pkg::TypeWrite)
      )) || (mark == 2'b10 && sent_q == 2'b01 && to_it(
          send_packet_i, 6'(emx_pkg::TypeThread)
      )));
      data_before_sync : assert (!(queued && u_input.arrival[1]) || done_q[0]);
      each_once : assert (!(WriteBypass && done_q[0] && written) && !(queued && (u_input.arrival[1:0] & done_q) != '0));
      // The claims are not vacuous.
      handled : cover (done_q == '1);
      both_on_their_way : cover (sent_q == '1 && done_q == '0);
    end
  end
endmodule
