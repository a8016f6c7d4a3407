// SPDX-License-Identifier: MIT OR Apache-2.0
// Cuts a parcel (one long transfer) into packets of at most PacketBytes.
//
// Handshake  valid/ready streams, a parcel in, its packets out; every output is a flip-flop or the AND of two.
// Packets    number k takes bytes [k*PacketBytes, (k+1)*PacketBytes) of the parcel. Source and destination both
//            advance, so a packet's addresses have the parcel's alignment. `out_flags_o` is zero except on the last
//            packet; `user` is copied to each. `out_seq_o` counts packets from 0 within the parcel, modulo 2**SeqW.
// Latency    2 cycles to the first packet, 1 with Early; then 1 packet per cycle, no bubble between parcels.
// Full       two parcels (with Early, one) wait while another is cut; then `in_ready_o` is low.
// Misuse     a parcel of 0 bytes gives one packet of 0 bytes, first and last; the caller checks lengths.
// Reset      drops its contents, in mid-flight too.
// Source     Cenju-3's Sender cuts parcels of up to 128 KB into 512-byte packets; the block is ours.
module dma_splitter #(
    parameter int AddrW = 32,  // bits of an address, > $clog2(PacketBytes)
    parameter int LenW = 18,  // bits of a parcel's length in bytes, > $clog2(PacketBytes)
    parameter int PacketBytes = 512,  // power of two, >= 2
    parameter int FlagsW = 2,  // bits shown on the last packet only, >= 1
    parameter int UserW = 8,  // bits copied to each packet, >= 1
    parameter int SeqW = 8,  // bits of the packet number, >= 1
    parameter bit Early = 1'b0,  // a parcel that finds none waiting is cut at once
    localparam int BytesW = $clog2(PacketBytes) + 1
) (
    input logic clk_i,
    input logic rst_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [AddrW-1:0] in_src_i,
    input logic [AddrW-1:0] in_dst_i,
    input logic [LenW-1:0] in_bytes_i,
    input logic [FlagsW-1:0] in_flags_i,
    input logic [UserW-1:0] in_user_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [AddrW-1:0] out_src_o,
    output logic [AddrW-1:0] out_dst_o,
    output logic [BytesW-1:0] out_bytes_o,
    output logic out_first_o,
    output logic out_last_o,
    output logic [FlagsW-1:0] out_flags_o,
    output logic [UserW-1:0] out_user_o,
    output logic [SeqW-1:0] out_seq_o
);
  if (PacketBytes < 2 || (1 << $clog2(PacketBytes)) != PacketBytes) begin : gen_bad_packet
    dma_splitter_PacketBytes_must_be_a_power_of_two_and_at_least_2 u_bad ();
  end
  if (LenW < BytesW || AddrW < BytesW) begin : gen_bad_len
    dma_splitter_LenW_and_AddrW_must_hold_PacketBytes u_bad ();
  end
  if (FlagsW < 1 || UserW < 1 || SeqW < 1) begin : gen_bad_widths
    dma_splitter_FlagsW_UserW_and_SeqW_must_be_at_least_1 u_bad ();
  end

  logic next_valid, load, step, unused_waits;
  logic [AddrW-1:0] next_src, next_dst, src_q, dst_q;
  logic [LenW-1:0] next_left, left_q, left_d;  // bytes of this packet and the later ones
  logic [FlagsW-1:0] next_flags, flags_q;
  logic [UserW-1:0] next_user, user_q;
  logic [SeqW-1:0] seq_q;
  logic valid_q, first_q, last_q;

  command_queue #(
      .W(2 * AddrW + LenW + FlagsW + UserW),
      .Early(Early)
  ) u_queue (
      .clk_i,
      .rst_i,
      .in_valid_i,
      .in_ready_o,
      .in_data_i({in_src_i, in_dst_i, in_bytes_i, in_flags_i, in_user_i}),
      .out_valid_o(next_valid),
      .out_ready_i(load),
      .out_data_o({next_src, next_dst, next_left, next_flags, next_user}),
      .waits_o(unused_waits)
  );

  assign step   = valid_q && out_ready_i && !last_q;
  assign load   = !valid_q || (out_ready_i && last_q);
  assign left_d = load ? next_left : left_q - LenW'(PacketBytes);

  always_ff @(posedge clk_i) begin
    if (load) begin
      src_q   <= next_src;
      dst_q   <= next_dst;
      flags_q <= next_flags;
      user_q  <= next_user;
      seq_q   <= '0;
    end else if (step) begin
      src_q <= src_q + AddrW'(PacketBytes);
      dst_q <= dst_q + AddrW'(PacketBytes);
      seq_q <= seq_q + SeqW'(1);
    end
    if (load || step) begin
      left_q  <= left_d;
      first_q <= load;
      last_q  <= left_d <= LenW'(PacketBytes);
    end
    if (rst_i) valid_q <= 1'b0;
    else if (load) valid_q <= next_valid;
  end

  assign out_valid_o = valid_q;
  assign out_src_o   = src_q;
  assign out_dst_o   = dst_q;
  assign out_bytes_o = last_q ? left_q[BytesW-1:0] : BytesW'(PacketBytes);
  assign out_first_o = first_q;
  assign out_last_o  = last_q;
  assign out_flags_o = last_q ? flags_q : '0;
  assign out_user_o  = user_q;
  assign out_seq_o   = seq_q;
endmodule
