// SPDX-License-Identifier: MIT OR Apache-2.0
// The bursts that AXI4 allows: not wider than the word; of a known type; FIXED of 16 beats at most, INCR within 4 KB,
// WRAP aligned and of 2, 4, 8 or 16 beats.
//
// Source     AXI4 (IHI 0022), A3.4.1.
module axi_legal #(
    parameter int AddrW = 13,  // bits of a byte address, >= 12
    parameter int DataW = 32   // bits of a word
) (
    input logic [AddrW-1:0] addr_i,
    input logic [7:0] len_i,
    input logic [2:0] size_i,
    input logic [1:0] burst_i,
    output logic legal_o
);
  logic aligned;
  logic [12:0] first, bytes;  // start of the burst's aligned part within 4 KB; its length, less one beat
  assign aligned = (addr_i[11:0] >> size_i << size_i) == addr_i[11:0];
  assign first   = {1'b0, addr_i[11:0] >> size_i << size_i};
  assign bytes   = 13'(len_i) << size_i;
  always_comb begin
    case (burst_i)
      2'b00:   legal_o = len_i < 8'd16;
      2'b01:   legal_o = first + bytes < 13'd4096;
      2'b10:   legal_o = aligned && (len_i == 8'd1 || len_i == 8'd3 || len_i == 8'd7 || len_i == 8'd15);
      default: legal_o = 1'b0;
    endcase
    if (DataW >> size_i < 8) legal_o = 1'b0;
  end
endmodule
