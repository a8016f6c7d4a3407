// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MC, Write Through Page: the tags of the remote kilobytes that have a copy in the local cache in cell memory.
//
// Lookup     request {cell, address}, then its response (valid until taken): `hit_o`, and `local_o` where the copy lies
//            (on a miss: would lie).
// Update     valid until `upd_ready_o` takes it (regs.toml). UPDATE_CLAIM gives the page its place, with no line valid
//            if another page had it. UPDATE_SET makes one line valid, and claims. UPDATE_LINE and UPDATE_PAGE forget a
//            line or a page, if they are there. UPDATE_ALL forgets everything. A replaced page is forgotten silently: a
//            copy is never newer than its memory.
// Tags       Entries of 4 KB, four lines of 1 KB. The index of a page is its number modulo Entries. A number is {cell,
//            address[:12]}.
// In flight  one at a time. An update is taken only when every earlier response has been taken. So a client that takes
//            a response after its access to the copy never uses a forgotten copy. Later lookups see the update. If both
//            wait, they take turns.
// Latency    3 cycles from lookup to response, 4 from update to `upd_ready_o`, Entries + 1 for all. One lookup in 4
//            cycles.
// Misuse     an update of no known kind changes nothing.
// Refill     handler of a miss: claim, GET of the kilobyte to `local_o`, set. Without the claim the old page at that
//            index would hit on the new page's data in between.
// Reset      forgets all: requests wait for Entries cycles.
// Source     512 x 4 KB, 1 KB lines, tags changed by software, hit address in the local cache: paper 4.1. Index: the
//            digest's guess. Claim, turns, when an update is taken: own guess.
module ap1000p_wtp #(
    parameter int LocalW = 25,  // bits of an address within a cell in a remote access
    parameter int CellW = 10,  // bits of a cell's number
    parameter int Entries = 512,  // pages of the local cache, a power of two
    localparam int IndexW = $clog2(Entries)
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [31:0] base_i,  // of the local cache, a multiple of its size (lower bits are ignored)

    input logic req_valid_i,
    output logic req_ready_o,
    input logic [CellW-1:0] req_cell_i,
    input logic [LocalW-1:0] req_addr_i,
    output logic rsp_valid_o,
    input logic rsp_ready_i,
    output logic hit_o,
    output logic [31:0] local_o,

    input logic upd_valid_i,
    output logic upd_ready_o,
    input logic [2:0] upd_kind_i,
    input logic [CellW-1:0] upd_cell_i,
    input logic [LocalW-1:0] upd_addr_i
);
  localparam int PlaceW = IndexW + 12;  // bits of an address in the local cache
  localparam int TagW = CellW + LocalW - PlaceW;
  localparam int Pairs = (TagW + 1) / 2;

  if (Entries < 2 || (1 << IndexW) != Entries) begin : gen_bad_entries
    ap1000p_wtp_Entries_must_be_a_power_of_two_and_at_least_2 u_bad ();
  end
  if (LocalW <= PlaceW || LocalW > 32) begin : gen_bad_local
    ap1000p_wtp_LocalW_must_be_above_the_local_cache_and_at_most_32 u_bad ();
  end
  if (CellW < 1) begin : gen_bad_cell
    ap1000p_wtp_CellW_must_be_at_least_1 u_bad ();
  end

  typedef enum logic [2:0] {
    Sweep,  // forget everything, an entry a cycle
    Idle,   // a lookup or an update begins: its entry is read
    Match,
    Judge,
    Write
  } state_e;
  state_e state_q;

  logic   taken_q;  // a lookup without a taken response
  logic new_q, waits;  // not begun; to begin, an offered one as well
  logic update_q, reported_q, updates, begins;
  logic [CellW-1:0] cell_q, at_cell;
  logic [LocalW-1:0] addr_q, at;
  assign req_ready_o = !taken_q;
  assign waits = new_q || (req_valid_i && !taken_q);
  // Between two updates a lookup has its turn. While a response waits to be taken, no lookup can wait to begin.
  assign updates = upd_valid_i && !reported_q && !rsp_valid_o;
  assign begins = state_q == Idle && (updates || waits);
  always_comb begin
    if (state_q == Idle ? updates : update_q) {at_cell, at} = {upd_cell_i, upd_addr_i};
    else if (taken_q) {at_cell, at} = {cell_q, addr_q};
    else {at_cell, at} = {req_cell_i, req_addr_i};
  end

  // -------------------------------------------------------------------------------------------------------------- tags
  // {lines, tag}; an entry is never read in the cycle it is written.
  (* ram_style = "block", no_rw_check *) logic [4+TagW-1:0] mem_q[Entries];
  logic [4+TagW-1:0] read_q, entry;
  logic [IndexW-1:0] index, sweep_q;
  logic [2*Pairs-1:0] found, want;
  logic [Pairs-1:0] same_q;  // the tags are compared in two cycles: two bits each, then all
  logic [3:0] lines_q, lines, new_lines_q, line;
  logic same, writes_q;
  assign index = at[PlaceW-1:12];
  assign found = (2 * Pairs)'(read_q[TagW-1:0]);
  assign want  = (2 * Pairs)'({at_cell, at[LocalW-1:PlaceW]});
  assign same  = same_q == '1;
  assign line  = 4'b0001 << at[11:10];
  assign lines = same ? lines_q : '0;
  assign entry = (state_q == Sweep) ? '0 : {new_lines_q, want[TagW-1:0]};

  always_ff @(posedge clk_i) begin
    if (state_q == Sweep || (state_q == Write && writes_q)) mem_q[state_q==Sweep?sweep_q : index] <= entry;
    if (begins) read_q <= mem_q[index];
    for (int i = 0; i < Pairs; i++) same_q[i] <= found[2*i+:2] == want[2*i+:2];
    lines_q <= read_q[TagW+:4];
    case (upd_kind_i)
      3'(ap1000p_pkg::UpdateSet): new_lines_q <= lines | line;
      3'(ap1000p_pkg::UpdateLine): new_lines_q <= lines & ~line;
      3'(ap1000p_pkg::UpdatePage): new_lines_q <= '0;
      default: new_lines_q <= lines;
    endcase
    case (upd_kind_i)
      3'(ap1000p_pkg::UpdateClaim), 3'(ap1000p_pkg::UpdateSet): writes_q <= 1'b1;
      3'(ap1000p_pkg::UpdateLine), 3'(ap1000p_pkg::UpdatePage): writes_q <= same;
      default: writes_q <= 1'b0;
    endcase
  end

  // ----------------------------------------------------------------------------------------------------------- control
  logic all_q, responds;  // the sweep is an update's
  assign responds = state_q == Judge && !update_q;
  always_ff @(posedge clk_i) begin
    if (!taken_q) {cell_q, addr_q} <= {req_cell_i, req_addr_i};
    if (responds) begin
      hit_o   <= (lines & line) != '0;
      local_o <= {base_i[31:PlaceW], at[PlaceW-1:0]};
    end
    reported_q <= 1'b0;
    case (state_q)
      Sweep: begin
        sweep_q <= sweep_q + IndexW'(1);
        if (sweep_q == '1) begin
          state_q <= Idle;
          reported_q <= all_q;
        end
      end
      Idle:
      if (begins) begin
        update_q <= updates;
        state_q  <= (updates && upd_kind_i == 3'(ap1000p_pkg::UpdateAll)) ? Sweep : Match;
        all_q    <= 1'b1;
      end
      Match: state_q <= Judge;
      Judge: state_q <= update_q ? Write : Idle;
      default: begin  // Write
        state_q <= Idle;
        reported_q <= 1'b1;
      end
    endcase
    if (rst_i) begin
      state_q <= Sweep;
      sweep_q <= '0;
      all_q <= 1'b0;
      reported_q <= 1'b0;
      taken_q <= 1'b0;
      new_q <= 1'b0;
      rsp_valid_o <= 1'b0;
    end else begin
      taken_q <= taken_q ? !(rsp_valid_o && rsp_ready_i) : req_valid_i;
      new_q <= waits && !(begins && !updates);
      rsp_valid_o <= responds || (rsp_valid_o && !rsp_ready_i);
    end
  end
  assign upd_ready_o = reported_q;
  assign busy_o = state_q != Idle || taken_q;

  logic [PlaceW-1:0] unused;
  assign unused = base_i[PlaceW-1:0];
endmodule
