// SPDX-License-Identifier: MIT OR Apache-2.0
// Turns AXI4 bursts into beats with their addresses and byte lanes: FIXED, INCR and WRAP, narrow and unaligned.
//
// Input      an address channel of AXI4. `in_ready_o` depends on `out_ready_i` in the same cycle: put a skid before it.
// Output     `out_addr_o` is the given address for a burst's first beat, a multiple of the beat's size for the others.
//            `out_lanes_o` has a bit for each byte of the word that the beat may touch. `out_last_o` marks the last
//            beat.
// Refused    `out_refuse_o` marks every beat of a burst that is exclusive, wider than the word, of a reserved type,
//            longer than 16 beats at one address, or running across 4 KB. It also marks a wrapping burst of other than
//            2, 4, 8 or 16 beats, or from an unaligned address. The caller answers such beats with an error and does
//            not execute them.
// Latency    1 cycle; 1 beat per cycle, no bubble between bursts.
// Reset      drops the current burst.
// Source     AXI4, A3.4.1. Exclusive accesses: the slaves have no monitor, and a store executed although the lock
//            failed is worse than a fault. The standard's way out (execute it, answer OKAY) relies on the master to
//            look.
module axi_beats #(
    parameter int AddrW = 32,  // bits of a byte address, >= 12
    parameter int DataW = 32,  // bits of a word: 32, 64 or 128
    parameter int IdW = 1,  // bits of an ID, >= 1
    localparam int Lanes = DataW / 8
) (
    input logic clk_i,
    input logic rst_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [IdW-1:0] in_id_i,
    input logic [AddrW-1:0] in_addr_i,
    input logic [7:0] in_len_i,
    input logic [2:0] in_size_i,
    input logic [1:0] in_burst_i,
    input logic in_lock_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [IdW-1:0] out_id_o,
    output logic [AddrW-1:0] out_addr_o,
    output logic [Lanes-1:0] out_lanes_o,
    output logic out_last_o,
    output logic out_refuse_o
);
  localparam int LaneW = $clog2(Lanes);

  if (DataW != 32 && DataW != 64 && DataW != 128) begin : gen_bad_data
    axi_beats_DataW_must_be_32_or_64_or_128 u_bad ();
  end
  if (AddrW < 12) begin : gen_bad_addr
    axi_beats_AddrW_must_be_at_least_12 u_bad ();
  end

  if (IdW < 1) begin : gen_bad_id
    axi_beats_IdW_must_be_at_least_1 u_bad ();
  end

  // The distance that a burst reaches beyond its first aligned byte. A burst that is too wide is refused at any
  // distance.
  logic fixed, wrap, good_wrap, good_fixed;
  logic [11:0] low, reach;
  logic [12:0] last_byte;
  assign fixed = in_burst_i == 2'b00;
  assign wrap = in_burst_i == 2'b10;
  assign good_fixed = in_len_i[7:4] == '0;
  assign good_wrap = (in_len_i == 8'd1 || in_len_i == 8'd3 || in_len_i == 8'd7 || in_len_i == 8'd15) &&
                     (in_addr_i[11:0] & low) == '0;
  assign low = 12'((13'd1 << in_size_i) - 13'd1);
  assign reach = (12'(in_len_i) << in_size_i) | low;
  assign last_byte = {1'b0, in_addr_i[11:0] & ~low} + 13'(reach);

  logic unused;
  assign unused = &{1'b0, last_byte[11:0]};

  logic load, step;
  logic [ 7:0] left_q;
  logic [ 2:0] size_q;
  logic [11:0] moves_q;  // the address bits that change from beat to beat
  logic [11:0] size_bytes, next;

  assign load = !out_valid_o || (out_ready_i && out_last_o);
  assign step = out_valid_o && out_ready_i && !out_last_o;
  assign in_ready_o = load;
  assign size_bytes = 12'd1 << size_q;
  assign next = (out_addr_o[11:0] & ~(size_bytes - 12'd1)) + size_bytes;

  always_ff @(posedge clk_i) begin
    if (load) begin
      out_id_o <= in_id_i;
      out_addr_o <= in_addr_i;
      left_q <= in_len_i;
      size_q <= in_size_i;
      moves_q <= fixed ? '0 : wrap ? reach : '1;
      out_last_o <= in_len_i == '0;
      out_refuse_o <= in_lock_i || in_size_i > 3'(LaneW) || in_burst_i == 2'b11 || (wrap && !good_wrap)
          || (fixed && !good_fixed) || (in_burst_i == 2'b01 && last_byte[12]);
    end else if (step) begin
      out_addr_o[11:0] <= (out_addr_o[11:0] & ~moves_q) | (next & moves_q);
      left_q <= left_q - 8'd1;
      out_last_o <= left_q == 8'd1;
    end
    if (rst_i) out_valid_o <= 1'b0;
    else if (load) out_valid_o <= in_valid_i;
  end

  // From the address to the end of its aligned unit of the beat's size.
  logic [LaneW-1:0] place;
  assign place = out_addr_o[LaneW-1:0];
  always_comb begin
    for (int i = 0; i < Lanes; i++) begin
      out_lanes_o[i] = LaneW'(i) >= place && (LaneW'(i) >> size_q) == (place >> size_q);
    end
  end
endmodule
