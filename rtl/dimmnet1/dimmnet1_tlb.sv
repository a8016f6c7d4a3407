// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1 TLBs: RVATLB and PATLB translate regions and offsets to physical addresses, for receiver and RDMA engine.
//
// Tables     64 entries each, direct mapped. RVATLB: {PGID, REGION} to base, bound and rights, index REGION ^ PGID.
//            PATLB: {PGID, virtual page} to frame, index PAGE ^ PGID; of each the low 6 bits. A write replaces what
//            stands at its index, and removes it when VALID is clear. `flush_i` makes all entries invalid; a write in
//            the same cycle is lost. Both count for lookups that are taken in this cycle or later, and may count for
//            the one under way.
// Request    `req_*` of client 0 (receiver) or 1 (RDMA engine): the bytes to write (0), to read (1), to write by the
//            Mini-OTF receiver (2; only in LLCM), or of a cell (3; only in LLCM, whatever its rights, also across a
//            page). At least one byte, at most 4096. One lookup is under way. The clients take turns. Without demand
//            from client 1 client 0 has the turn, so client 1 waits a cycle more.
// Response   a pulse of the client's `rsp_valid_o`; the rest is common to both. `rsp_reason_o`: RIGHTS, else RANGE:
//            beyond the bound, across a page of OFFSET, or beyond LLCM. `rsp_miss_o`: 1 RVATLB, 2 PATLB, and
//            `rsp_key_o` is the key that missed, with VALID set, as it must be written. `rsp_addr_o` counts when both
//            are 0: LLCM is at 0xF0000000.
// Latency    2 cycles from request to response without PATLB, 3 with it; one more for each write in a table's turn.
// Misuse     bits 2:0 of an LLCM region's base are ignored. A virtual page wraps at 2^28.
// Reset      makes all entries invalid and drops the lookup.
// busy_o     low when no lookup is under way.
// Source     paper, section 2.2 (RVATLB, PATLB); formats, sizes and index are ours.
module dimmnet1_tlb (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic rva_valid_i,
    input logic [63:0] rva_key_i,
    input logic [63:0] rva_base_i,
    input logic [63:0] rva_bound_i,
    input logic pa_valid_i,
    input logic [63:0] pa_key_i,
    input logic [63:0] pa_frame_i,
    input logic flush_i,

    input logic [1:0] req_valid_i,
    output logic [1:0] req_ready_o,
    input logic [1:0][15:0] req_pgid_i,
    input logic [1:0][15:0] req_region_i,
    input logic [1:0][47:0] req_offset_i,
    input logic [1:0][12:0] req_bytes_i,
    input logic [1:0][1:0] req_kind_i,

    output logic [ 1:0] rsp_valid_o,
    output logic [31:0] rsp_addr_o,
    output logic [ 3:0] rsp_reason_o,
    output logic [ 1:0] rsp_miss_o,
    output logic [63:0] rsp_key_o
);
  localparam int Entries = dimmnet1_pkg::SizeTlb;
  localparam int IndexW = 6;
  localparam int PageW = dimmnet1_pkg::RvaBasePageW;
  localparam int BoundW = dimmnet1_pkg::RvaBoundBytesW;
  localparam int FrameW = dimmnet1_pkg::PaFramePageW;
  localparam int RvaTagW = 32 - IndexW;
  localparam int PaTagW = PageW + 16 - IndexW;

  if (Entries != 1 << IndexW) begin : gen_bad_entries
    dimmnet1_tlb_needs_tables_of_64_entries u_bad_package ();
  end

  // States, one bit each, for the words of the tables come late in the cycle in which they decide.
  logic idle_q;
  logic again_q;  // RVATLB was written in the lookup's turn
  logic look_q;  // the entry of RVATLB is there
  logic frame_q;  // the entry of PATLB is there
  logic turn_q, client_q, taken;
  logic [15:0] pgid_q, region_q;
  logic [47:0] offset_q;
  logic [12:0] bytes_q;
  logic [ 1:0] kind_q;

  assign req_ready_o = {idle_q && turn_q, idle_q && !turn_q};
  assign taken = (req_valid_i & req_ready_o) != '0;

  always_ff @(posedge clk_i) begin
    if (idle_q) begin
      client_q <= turn_q;
      pgid_q   <= req_pgid_i[turn_q];
      region_q <= req_region_i[turn_q];
      offset_q <= req_offset_i[turn_q];
      bytes_q  <= req_bytes_i[turn_q];
      kind_q   <= req_kind_i[turn_q];
    end
  end

  // ------------------------------------------------------------------------------------------------------------ tables
  // No entry is read in the cycle of its write.
  (* ram_style = "block", no_rw_check *) logic [RvaTagW+PageW+4+BoundW-1:0] rva_mem_q[Entries];
  (* ram_style = "block", no_rw_check *) logic [PaTagW+FrameW-1:0] pa_mem_q[Entries];
  logic [Entries-1:0] rva_set_q, pa_set_q;  // the valid entries
  logic rva_read, pa_read, rva_set, pa_set;
  logic [IndexW-1:0] rva_write_at, pa_write_at, rva_at, pa_at;
  logic [RvaTagW-1:0] rva_tag;
  logic [  PageW-1:0] base;
  logic may_read, may_write, may_otf, in_llcm;
  logic [BoundW-1:0] bound;
  logic [PaTagW-1:0] pa_tag;
  logic [FrameW-1:0] frame;

  assign rva_write_at = rva_key_i[dimmnet1_pkg::RvaKeyRegionLsb+:IndexW] ^
                        rva_key_i[dimmnet1_pkg::RvaKeyPgidLsb+:IndexW];
  assign pa_write_at = pa_key_i[dimmnet1_pkg::PaKeyPageLsb+:IndexW] ^ pa_key_i[dimmnet1_pkg::PaKeyPgidLsb+:IndexW];
  assign rva_at = idle_q ? req_region_i[turn_q][IndexW-1:0] ^ req_pgid_i[turn_q][IndexW-1:0] :
                           region_q[IndexW-1:0] ^ pgid_q[IndexW-1:0];
  assign rva_read = (idle_q || again_q) && !rva_valid_i;

  always_ff @(posedge clk_i) begin
    if (rva_valid_i) begin
      rva_mem_q[rva_write_at] <= {
        rva_key_i[dimmnet1_pkg::RvaKeyRegionLsb+IndexW+:16-IndexW],
        rva_key_i[dimmnet1_pkg::RvaKeyPgidLsb+:16],
        rva_base_i[dimmnet1_pkg::RvaBasePageLsb+:PageW],
        rva_base_i[dimmnet1_pkg::RvaBaseReadLsb+:4],
        rva_bound_i[dimmnet1_pkg::RvaBoundBytesLsb+:BoundW]
      };
    end
    if (rva_read) begin
      {rva_tag, base, in_llcm, may_otf, may_write, may_read, bound} <= rva_mem_q[rva_at];
      rva_set <= rva_set_q[rva_at] && !flush_i;
    end
    if (pa_valid_i) begin
      pa_mem_q[pa_write_at] <= {
        pa_key_i[dimmnet1_pkg::PaKeyPageLsb+IndexW+:PageW-IndexW],
        pa_key_i[dimmnet1_pkg::PaKeyPgidLsb+:16],
        pa_frame_i[dimmnet1_pkg::PaFramePageLsb+:FrameW]
      };
    end
    if (pa_read) {pa_tag, frame} <= pa_mem_q[pa_at];
    if (rva_valid_i) rva_set_q[rva_write_at] <= rva_key_i[dimmnet1_pkg::RvaKeyValidLsb];
    if (pa_valid_i) pa_set_q[pa_write_at] <= pa_key_i[dimmnet1_pkg::PaKeyValidLsb];
    if (rst_i || flush_i) begin
      rva_set_q <= '0;
      pa_set_q  <= '0;
    end
  end
  logic unused_entry;
  assign unused_entry = &{1'b0, rva_key_i, rva_base_i, rva_bound_i, pa_key_i, pa_frame_i};

  // ------------------------------------------------------------------------------------------------------------ region
  logic [PageW-1:0] page, page_q;
  logic [BoundW:0] stop;  // the byte behind the last one
  logic [15:0] llcm_stop;
  logic [13:0] llcm_at;
  logic [12:0] page_left;
  logic known, forbidden, crosses, outside, decided;

  assign known = rva_set && rva_tag == {region_q[15:IndexW], pgid_q};
  always_comb begin
    case (kind_q)
      2'd0: forbidden = !may_write;
      2'd1: forbidden = !may_read;
      2'd2: forbidden = !(may_otf && in_llcm);
      default: forbidden = !in_llcm;
    endcase
  end
  assign stop = {1'b0, offset_q[BoundW-1:0]} + (BoundW + 1)'(bytes_q);
  assign page_left = 13'd4096 - {1'b0, offset_q[11:0]};
  assign llcm_at = {base[13:3], 3'b0} + offset_q[13:0];
  assign llcm_stop = {2'b0, base[13:3], 3'b0} + {1'b0, stop[14:0]};
  assign crosses = bytes_q > page_left && kind_q != 2'd3;
  assign outside = offset_q[47:BoundW] != '0 || stop > {1'b0, bound} || crosses ||
                   (in_llcm && (base[PageW-1:14] != '0 || stop[BoundW:15] != '0 || llcm_stop[15] ||
                                (llcm_stop[14] && llcm_stop[13:0] != '0)));
  assign page = base + PageW'(offset_q[BoundW-1:12]);
  assign pa_at = page[IndexW-1:0] ^ pgid_q[IndexW-1:0];
  assign pa_read = look_q && !pa_valid_i;
  assign decided = !known || forbidden || outside || in_llcm;

  // PATLB is not written between the read of an entry and the cycle that looks at it.
  logic found, responds;
  assign pa_set = pa_set_q[page_q[IndexW-1:0]^pgid_q[IndexW-1:0]];
  assign found = pa_set && pa_tag == {page_q[PageW-1:IndexW], pgid_q};
  assign responds = (look_q && decided) || frame_q;

  always_ff @(posedge clk_i) begin
    if (look_q) begin
      page_q <= page;
      rsp_addr_o <= {4'hF, 14'b0, llcm_at};
      rsp_reason_o <= !known ? 4'(dimmnet1_pkg::ReasonNone) :
                      forbidden ? 4'(dimmnet1_pkg::ReasonRights) :
                      outside ? 4'(dimmnet1_pkg::ReasonRange) : 4'(dimmnet1_pkg::ReasonNone);
      rsp_miss_o <= {1'b0, !known};
      rsp_key_o <= {1'b1, 31'b0, region_q, pgid_q};
    end
    if (frame_q) begin
      rsp_addr_o <= {frame, offset_q[11:0]};
      rsp_miss_o <= {!found, 1'b0};
      rsp_key_o  <= {1'b1, 15'b0, pgid_q, 4'b0, page_q};
    end
    rsp_valid_o <= {responds && client_q, responds && !client_q};
    if (idle_q) turn_q <= !(taken && turn_q) && req_valid_i[1];
    idle_q  <= (idle_q && !taken) || (look_q && decided) || frame_q;
    again_q <= ((idle_q && taken) || again_q) && !rva_read;
    look_q  <= (((idle_q && taken) || again_q) && rva_read) || (look_q && !decided && pa_valid_i);
    frame_q <= look_q && !decided && !pa_valid_i;
    if (rst_i) begin
      idle_q <= 1'b1;
      again_q <= 1'b0;
      look_q <= 1'b0;
      frame_q <= 1'b0;
      turn_q <= 1'b0;
      rsp_valid_o <= '0;
    end
  end

  assign busy_o = !idle_q || rsp_valid_o != '0 || turn_q;
endmodule
