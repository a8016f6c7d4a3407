// SPDX-License-Identifier: MIT OR Apache-2.0
// EM-4/EM-X SU, switching unit of a PE: two links in, two links out, and the PE itself.
//
// Purpose    carries packets by the path in their word 0: PE 1 is here; else bit 0 names the output link, and the rest
//            of the path goes on. The channel beyond is one higher behind column 4.
// Handshake  room, as of cut_through; column_i is that of the last cycle of reset.
// Latency    one cycle; k hops take k + 1, from the link into the first switch to the PE's input.
// Order      packets of one sender to one receiver do not overtake each other.
// Full       see cut_through. The channels (channel, column) rise along a path, so packets never wait in a circle;
//            src/emx/golden/route.rs proves it over the same paths.
// Misuse     a path of zero and a fourth crossing of column 4: drained, counted by drained_o. Only forged paths have
//            them.
// busy_o     0 after an edge: nothing is inside, and further edges change nothing while no valid input is set.
// Source     paper, 2.1: a 3x3 switch in each PE, circular omega, three banks of buffers. Path and channels are ours.
module emx_switch #(
    parameter int Packets = 2,  // that an input holds for each channel, 1 to 4
    localparam int W = 39
) (
    input  logic              clk_i,
    input  logic              rst_i,
    input  logic [ 2:0]       column_i,
    input  logic [ 1:0]       link_in_valid_i,
    input  logic [ 1:0][ 1:0] link_in_vc_i,
    input  logic [ 1:0][38:0] link_in_data_i,
    input  logic [ 1:0]       link_in_last_i,
    output logic [ 1:0][ 2:0] link_in_room_o,
    output logic [ 1:0]       link_out_valid_o,
    output logic [ 1:0][ 1:0] link_out_vc_o,
    output logic [ 1:0][38:0] link_out_data_o,
    output logic [ 1:0]       link_out_last_o,
    input  logic [ 1:0][ 2:0] link_out_room_i,
    input  logic              pe_in_valid_i,
    input  logic [38:0]       pe_in_data_i,
    input  logic              pe_in_last_i,
    output logic              pe_in_room_o,
    output logic              pe_out_valid_o,
    output logic [38:0]       pe_out_data_o,
    output logic              pe_out_last_o,
    input  logic              pe_out_room_i,
    output logic              busy_o,
    output logic [15:0]       drained_o
);
  logic [2:0][1:0] in_vc, out_vc, unused_won;
  logic [2:0][W-1:0] came, in_data, out_data;
  logic [2:0] in_last, out_valid, out_last;
  logic [2:0][2:0] in_out, in_room, out_room;
  logic unused_pe;

  // Within the switch a packet keeps its channel.
  logic rise_q;  // on the links behind it the channel is one higher
  always_ff @(posedge clk_i) if (rst_i) rise_q <= column_i == 3'(emx_pkg::SizeColumns - 1);

  assign came = {pe_in_data_i, link_in_data_i};
  assign in_vc = {2'd0, link_in_vc_i};
  assign in_last = {pe_in_last_i, link_in_last_i};
  for (genvar i = 0; i < 3; i++) begin : gen_in
    logic [emx_pkg::PktW0PeW-1:0] path;
    logic here, none;
    assign path = came[i][emx_pkg::PktW0PeLsb+:emx_pkg::PktW0PeW];
    assign here = path == emx_pkg::PktW0PeW'(1);
    assign none = path == '0 || (!here && rise_q && in_vc[i] == 2'(emx_pkg::SizeChannels - 1));
    assign in_out[i] = none ? '0 : here ? 3'b100 : path[0] ? 3'b010 : 3'b001;
    always_comb begin
      in_data[i] = came[i];
      if (!in_last[i] && !here) in_data[i][emx_pkg::PktW0PeLsb+:emx_pkg::PktW0PeW] = path >> 1;
    end
  end

  cut_through #(
      .N       (3),
      .Channels(emx_pkg::SizeChannels),
      .Packets (Packets),
      .W       (W),
      .Single  (4)
  ) u_cut_through (
      .clk_i      (clk_i),
      .rst_i      (rst_i),
      .in_valid_i ({pe_in_valid_i, link_in_valid_i}),
      .in_vc_i    (in_vc),
      .in_data_i  (in_data),
      .in_last_i  (in_last),
      .in_out_i   (in_out),
      .in_to_i    (in_vc),
      .in_room_o  (in_room),
      .out_valid_o(out_valid),
      .out_vc_o   (out_vc),
      .out_data_o (out_data),
      .out_last_o (out_last),
      .out_room_i (out_room),
      .won_o      (unused_won),
      .busy_o     (busy_o),
      .drained_o  (drained_o)
  );

  assign link_in_room_o = in_room[1:0];
  assign pe_in_room_o = in_room[2][0];
  assign {pe_out_valid_o, link_out_valid_o} = out_valid;
  assign {pe_out_last_o, link_out_last_o} = out_last;
  assign {pe_out_data_o, link_out_data_o} = out_data;
  for (genvar o = 0; o < 2; o++) begin : gen_out
    assign link_out_vc_o[o] = out_vc[o] + 2'(rise_q);
    assign out_room[o] = rise_q ? link_out_room_i[o] >> 1 : link_out_room_i[o];
  end
  assign out_room[2] = {3{pe_out_room_i}};
  assign unused_pe   = ^{out_vc[2], in_room[2][2:1]};
endmodule
