// SPDX-License-Identifier: MIT OR Apache-2.0
// Matching and fetch unit of EM-4/EM-X (FMU): packets become starts of threads, or wait in memory for their partners.
//
// Packets    well formed, with addresses that packets may touch (`emx_input` sees to it). One is taken whenever none is
//            inside. The offer may change before it is taken: a packet of level 1 goes first.
// Early      `early_*` is word 0 of a packet that is offered two cycles later, or never; no other is offered until
//            then. What it needs of memory is read meanwhile, and a read that nobody needs harms nothing.
// Order      behind the start of a WRITE nothing is read while `thread_i` is high: so a packet finds the word that a
//            WRITE before it put there, its link, too.
// Start      {pc, r1, r2, frame}, offered until it is taken; one can stand ready while a thread runs. A link that is
//            none, or a pc beyond 22 bits, gives the highest pc, where the execution unit faults.
// Matching   an operand whose slot is empty is written there, with its side as tag, and starts nothing. The second one
//            of the other side empties the slot and starts the thread. One of the same side is refused (OVERRUN), and
//            the slot is unharmed. The link is read behind the slot, whatever stands there. Nobody else writes a slot
//            while an operand for it is inside.
// Memory     a request is taken where `mem_ready_i` is high; what was read is there in the next cycle. `pres_i` follows
//            `pres_addr_o` by a cycle; it is looked at with the slot's word.
// Latency    from the offer to the start, with a free port: special type 1, THREAD 3, the second operand 4;
//            with `early_*` 1 each.
// Paths      requests and start come from flip-flops, by two LUTs at most. What was read goes to flip-flops, the link
//            by an adder.
// held_o     operands that this unit put to memory and no partner has met, modulo 65536.
// Reset      drops the packet and the start; operands in memory stay, and held_o begins with 0.
// busy_o     low when no packet and no start is inside, and none is to come.
// Source     paper, 2.1. The place of operands and the entry behind the link are ours.
module emx_matching (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic next_valid_i,
    output logic next_ready_o,
    input logic [77:0] next_packet_i,
    input logic early_valid_i,
    input logic [38:0] early_word_i,
    input logic [31:0] system_link_i,  // word 0 of memory
    input logic thread_i,  // the start that was taken last is not done: its thread runs, or its access waits
    output logic start_valid_o,
    input logic start_ready_i,
    output logic [21:0] start_pc_o,
    output logic [31:0] start_r1_o,
    output logic [31:0] start_r2_o,
    output logic [21:0] start_frame_o,
    output logic mem_valid_o,
    input logic mem_ready_i,
    output logic mem_write_o,
    output logic [21:0] mem_addr_o,
    output logic [38:0] mem_wdata_o,
    input logic [38:0] mem_rdata_i,
    output logic [21:0] pres_addr_o,
    input logic pres_i,
    output logic pres_write_o,
    output logic pres_value_o,
    output logic refused_valid_o,
    output logic [3:0] refused_reason_o,
    output logic [77:0] refused_packet_o,
    output logic [15:0] held_o
);
  typedef enum logic [2:0] {
    Idle,
    Slot,   // the slot is to be read
    Link,   // the link is to be read
    Begin,  // it was read, and is on the memory's pins
    Store,  // the operand is to be written; in Begin, too
    Clear,  // the slot is to be emptied; in Begin, too
    Ready
  } state_e;

  state_e state_q, state_d;
  logic idle, here;
  logic writes_q;  // the start that was taken last is of a WRITE
  logic [1:0] comes_q;  // the packet of word 0: [0] in the next cycle, [1] in this one, or never
  logic fresh_q;  // the slot is on the memory's pins
  logic [77:0] packet_q;  // at first word 0 alone
  logic [39:0] slot_q;
  assign idle = state_q == Idle;
  assign here = !comes_q[1] || next_valid_i;

  // ---- the packet
  logic [21:0] addr, frame, looked;
  logic [31:0] data;
  logic [3:0] kind, next_kind, early_kind;
  logic matching, side, special, next_special, next_matching, early_matching;
  assign addr = packet_q[39+emx_pkg::PktW0AddrLsb+:emx_pkg::PktW0AddrW];
  assign frame = {addr[21:6], 6'b0};
  assign kind = packet_q[39+emx_pkg::PktW0TypeLsb+:emx_pkg::PktW0TypeW];
  assign side = packet_q[39+emx_pkg::PktW0SideLsb];
  assign matching = packet_q[39+emx_pkg::PktW0MatchLsb];
  assign data = packet_q[emx_pkg::PktW1DataLsb+:emx_pkg::PktW1DataW];
  assign special = kind != 4'(emx_pkg::TypeThread);
  assign next_kind = next_packet_i[39+emx_pkg::PktW0TypeLsb+:emx_pkg::PktW0TypeW];
  assign next_special = next_kind != 4'(emx_pkg::TypeThread);
  assign next_matching = next_packet_i[39+emx_pkg::PktW0MatchLsb];
  assign early_kind = early_word_i[emx_pkg::PktW0TypeLsb+:emx_pkg::PktW0TypeW];
  assign early_matching = early_word_i[emx_pkg::PktW0MatchLsb];

  // ---- what stands in its slot
  logic present, overrun;
  assign present = slot_q[emx_pkg::MemPresentLsb];
  assign overrun = matching && present && slot_q[emx_pkg::MemTagLsb] == side;

  // ---- the start
  logic [31:0] link;
  logic [22:0] entry;
  logic [21:0] pc_q;
  logic [5:0] offset;
  logic outside;
  assign link = idle ? system_link_i : mem_rdata_i[31:0];
  assign offset = idle ? 6'(next_kind) : addr[5:0];
  assign entry = {{1'b0, link[emx_pkg::LinkCodeW-1:2]} + 21'(offset), link[1:0]};
  assign outside = link[31:emx_pkg::LinkCodeW] != '0 || entry[22];
  assign start_valid_o = state_q == Ready && !comes_q[1];
  assign start_pc_o = pc_q;
  assign start_frame_o = special ? '0 : frame;
  // r2 is the operand of side 1.
  logic [31:0] plain;
  assign plain = {3'b0, special ? packet_q[emx_pkg::PktW1TagLsb+:emx_pkg::PktW1TagW] : 7'b0, addr};
  assign start_r1_o = (matching && side) ? slot_q[31:0] : data;
  assign start_r2_o = !matching ? plain : side ? data : slot_q[31:0];

  // ---- memory
  logic waits, looks, reads_slot, reads_link, clears, stores;
  assign waits = writes_q && thread_i;
  assign looks = idle && early_valid_i && early_kind == 4'(emx_pkg::TypeThread) && !waits;
  assign reads_slot = (state_q == Slot && !waits) || (looks && early_matching);
  assign reads_link = (state_q == Link && !waits) || (looks && !early_matching);
  assign looked = idle ? early_word_i[emx_pkg::PktW0AddrLsb+:emx_pkg::PktW0AddrW] : addr;
  // Presence bits change with an access only: else their port may be the host's.
  assign clears = state_q == Clear || (state_q == Begin && matching && present && !overrun && here);
  assign stores = state_q == Store || (state_q == Begin && matching && !present && !comes_q[1]);
  assign mem_valid_o = reads_slot || reads_link || clears || stores;
  assign mem_write_o = stores;
  assign mem_addr_o = {looked[21:6], looked[5:0] & {6{!reads_link}}};
  assign mem_wdata_o = {6'b0, side, data};
  assign pres_addr_o = looked;
  assign pres_write_o = (clears || stores) && mem_ready_i;
  assign pres_value_o = stores;

  assign next_ready_o = idle || comes_q[1];

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: begin
        if (next_valid_i) state_d = next_special ? Ready : next_matching ? Slot : Link;
        else if (looks && early_matching) state_d = mem_ready_i ? Link : Slot;
        else if (looks) state_d = mem_ready_i ? Begin : Link;
      end
      Slot: if (mem_ready_i && !waits) state_d = Link;
      Link: if (mem_ready_i && !waits) state_d = Begin;
      Begin: begin
        if (!matching) state_d = Ready;
        else if (overrun) state_d = Idle;
        else if (!present) state_d = (stores && mem_ready_i) ? Idle : Store;
        else state_d = mem_ready_i ? Ready : Clear;
      end
      Store: if (mem_ready_i) state_d = Idle;
      Clear: if (mem_ready_i) state_d = Ready;
      default: if (start_valid_o && start_ready_i) state_d = Idle;
    endcase
    if (!here) state_d = Idle;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      state_q <= Idle;
      comes_q <= '0;
      fresh_q <= 1'b0;
      refused_valid_o <= 1'b0;
      held_o <= '0;
      writes_q <= 1'b0;
    end else begin
      state_q <= state_d;
      if (start_valid_o && start_ready_i) writes_q <= kind == 4'(emx_pkg::TypeWrite);
      comes_q <= {comes_q[0], looks};
      fresh_q <= reads_slot && mem_ready_i;
      refused_valid_o <= state_q == Begin && overrun && here;
      if (pres_write_o) held_o <= held_o + {{15{!pres_value_o}}, 1'b1};
    end
  end

  always_ff @(posedge clk_i) begin
    if (next_ready_o) packet_q <= next_valid_i ? next_packet_i : {early_word_i, next_packet_i[38:0]};
    if (fresh_q) slot_q <= {pres_i, mem_rdata_i};
    if (idle || state_q == Begin) pc_q <= entry[21:0] | {22{outside}};
  end

  assign refused_packet_o = packet_q;
  assign refused_reason_o = 4'(emx_pkg::ReasonOverrun);
  assign busy_o = !idle || refused_valid_o;

  logic unused;
  assign unused = ^{packet_q[77], packet_q[39+emx_pkg::PktW0PeLsb+:emx_pkg::PktW0PeW], slot_q[38:33], early_word_i};

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i && next_valid_i) begin
      assert (!(next_special && next_matching));
      assert (!next_matching || next_packet_i[39+:6] != '0);
      assert (!early_valid_i && !comes_q[0]);
      assert (!comes_q[1] || next_packet_i[77:39] == packet_q[77:39]);
    end
  end
`endif
endmodule
