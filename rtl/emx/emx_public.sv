// SPDX-License-Identifier: MIT OR Apache-2.0
// Map of a PE of EM-4/EM-X: whether packets and threads may touch an address.
//
// Latency    none: combinational.
// Source     our own map: the rings of spilled packets begin at an eighth of memory, and belong to `emx_input` alone.
module emx_public #(
    parameter int AddrW = 16,  // words of memory, as a power of two, 14..20
    parameter int SpillBits = 12,  // packets of a level that memory holds, as a power of two, 4..12
    parameter int Levels = 1  // priorities, 1..2
) (
    input logic [31:0] addr_i,
    output logic public_o
);
  localparam bit [31:0] Words = 32'd1 << AddrW;
  localparam bit [31:0] SpillBase = 32'd1 << (AddrW - 3);
  localparam bit [31:0] SpillEnd = SpillBase + 32'(Levels << (SpillBits + 1));

  if (AddrW < 14 || AddrW > 20) begin : gen_bad_addr
    emx_AddrW_must_be_14_to_20 u_bad ();
  end
  if (SpillBits < 4 || SpillBits > 12) begin : gen_bad_spill
    emx_SpillBits_must_be_4_to_12 u_bad ();
  end
  if (Levels != 1 && Levels != 2) begin : gen_bad_levels
    emx_Levels_must_be_1_or_2 u_bad ();
  end
  if (SpillEnd > Words) begin : gen_bad_rings
    emx_memory_must_hold_the_spilled_packets u_bad ();
  end

  // The rings are whole parts of memory: equality of a few bits takes less than a comparison.
  localparam int PartBits = (SpillBits + 1 < AddrW - 3) ? SpillBits + 1 : AddrW - 3;
  logic in_rings;
  always_comb begin
    in_rings = 1'b0;
    for (int part = int'(SpillBase) >> PartBits; part < int'(SpillEnd) >> PartBits; part++) begin
      if (addr_i >> PartBits == 32'(part)) in_rings = 1'b1;
    end
  end
  assign public_o = addr_i >> AddrW == '0 && !in_rings;
endmodule
