// Matching and fetch unit of EM-4/EM-X (FMU): packets become starts of threads, or wait in memory for their partners.
//
// Packets    well formed, with addresses that packets may touch (`emx_input` sees to it). One is taken whenever none is
//            inside. The offer may change before it is taken: a packet of level 1 goes first.
// Start      {pc, r1, r2, frame}, offered until it is taken; one can stand ready while a thread runs. A link that is
//            none, or a pc beyond 22 bits, gives the highest pc, where the execution unit faults.
// Matching   an operand whose slot is empty is written there, with its side as tag, and starts nothing. The second one
//            of the other side empties the slot and starts the thread. One of the same side is refused (OVERRUN), and
//            the slot is unharmed.
// Memory     a request is taken where `mem_ready_i` is high; what was read is there in the next cycle. `pres_i` follows
//            `pres_addr_o` by a cycle; it is looked at with the slot's word.
// Latency    from the cycle of the offer, with a free port: special type 0, THREAD 1, the second operand 2.
// Paths      from the offer to the memory and the start, and from what was read to the start: the unit is a part of
//            `emx_pe`, whose pins are flip-flops.
// held_o     operands that this unit put to memory and no partner has met, modulo 65536.
// Reset      drops the packet and the start; operands in memory stay, and held_o begins with 0.
// busy_o     low when no packet and no start is inside.
// Source     paper, 2.1. The place of operands and the entry behind the link are ours.
module emx_matching (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic next_valid_i,
    output logic next_ready_o,
    input logic [77:0] next_packet_i,
    input logic [31:0] system_link_i,  // word 0 of memory
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
  // Idle and Ready choose wide words: each has a bit of its own.
  localparam bit [3:0] Idle = 4'd4;
  localparam bit [3:0] Slot = 4'd0;  // the slot is to be read
  localparam bit [3:0] Meet = 4'd1;  // it was read: its partner is there, or not
  localparam bit [3:0] Link = 4'd2;  // the link is to be read
  localparam bit [3:0] Begin = 4'd3;  // it was read
  localparam bit [3:0] Ready = 4'd8;  // its pc is kept; the rest follows from the packet and the slot

  logic [3:0] state_q, state_d;
  logic idle, ready;
  assign idle  = state_q[2];
  assign ready = state_q[3];
  logic fresh_q;  // the first cycle of Meet: the slot is on the memory's pins
  logic [77:0] packet_q, packet;
  logic [39:0] slot_q, slot;  // what was read there: the word that waits, until its start is taken

  // ---- the packet
  logic [21:0] addr, frame;
  logic [31:0] data;
  logic [ 3:0] kind;
  logic matching, side, special;
  assign packet = idle ? next_packet_i : packet_q;
  assign addr = packet[39+emx_pkg::PktW0AddrLsb+:emx_pkg::PktW0AddrW];
  assign frame = {addr[21:6], 6'b0};
  assign kind = packet[39+emx_pkg::PktW0TypeLsb+:emx_pkg::PktW0TypeW];
  assign side = packet[39+emx_pkg::PktW0SideLsb];
  assign matching = packet[39+emx_pkg::PktW0MatchLsb];
  assign data = packet[emx_pkg::PktW1DataLsb+:emx_pkg::PktW1DataW];
  assign special = kind != 4'(emx_pkg::TypeThread);

  // ---- what stands in its slot
  logic present, overrun;
  assign slot = fresh_q ? {pres_i, mem_rdata_i} : slot_q;
  assign present = slot[emx_pkg::MemPresentLsb];
  assign overrun = present && slot[emx_pkg::MemTagLsb] == side;

  // ---- the start
  logic [31:0] link;
  logic [22:0] entry;
  logic [21:0] pc_q;
  logic [5:0] offset;
  logic outside;
  assign link = special ? system_link_i : mem_rdata_i[31:0];
  assign offset = special ? 6'(kind) : addr[5:0];
  assign entry = {{1'b0, link[emx_pkg::LinkCodeW-1:2]} + 21'(offset), link[1:0]};
  assign outside = link[31:emx_pkg::LinkCodeW] != '0 || entry[22];
  assign start_valid_o = ready || state_q == Begin || (idle && next_valid_i && special);
  assign start_pc_o = ready ? pc_q : entry[21:0] | {22{outside}};
  assign start_frame_o = special ? '0 : frame;
  // An operand's start comes from the packet that is kept; r2 is the operand of side 1.
  logic met, met_side;
  logic [31:0] kept, plain;
  assign met = !idle && packet_q[39+emx_pkg::PktW0MatchLsb];
  assign met_side = packet_q[39+emx_pkg::PktW0SideLsb];
  assign kept = packet_q[emx_pkg::PktW1DataLsb+:emx_pkg::PktW1DataW];
  assign plain = {3'b0, special ? packet[emx_pkg::PktW1TagLsb+:emx_pkg::PktW1TagW] : 7'b0, addr};
  assign start_r1_o = (met && met_side) ? slot_q[31:0] : data;
  assign start_r2_o = !met ? plain : met_side ? kept : slot_q[31:0];

  // ---- memory
  logic reads_slot, reads_link, stores;
  assign reads_slot = state_q == Slot || (idle && next_valid_i && matching);
  assign reads_link = state_q == Link || (idle && next_valid_i && !matching && !special) ||
                      (state_q == Meet && present && !overrun);
  assign stores = state_q == Meet && !present;
  assign mem_valid_o = reads_slot || reads_link || stores;
  assign mem_write_o = stores;
  assign mem_addr_o = reads_link ? frame : addr;
  assign mem_wdata_o = {6'b0, met_side, kept};
  assign pres_addr_o = addr;
  assign pres_write_o = state_q == Meet && !overrun && mem_ready_i;
  assign pres_value_o = !present;

  assign next_ready_o = idle;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: begin
        if (next_valid_i && special) state_d = start_ready_i ? Idle : Ready;
        else if (next_valid_i && matching) state_d = mem_ready_i ? Meet : Slot;
        else if (next_valid_i) state_d = mem_ready_i ? Begin : Link;
      end
      Slot: if (mem_ready_i) state_d = Meet;
      Meet: begin
        if (overrun) state_d = Idle;
        else if (mem_ready_i) state_d = present ? Begin : Idle;
      end
      Link: if (mem_ready_i) state_d = Begin;
      Begin: state_d = start_ready_i ? Idle : Ready;
      default: if (start_ready_i) state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      state_q <= Idle;
      fresh_q <= 1'b0;
      refused_valid_o <= 1'b0;
      held_o <= '0;
    end else begin
      state_q <= state_d;
      fresh_q <= reads_slot && mem_ready_i;
      refused_valid_o <= state_q == Meet && overrun;
      if (pres_write_o) held_o <= held_o + {{15{!pres_value_o}}, 1'b1};
    end
  end

  always_ff @(posedge clk_i) begin
    packet_q <= packet;
    slot_q <= slot;
    pc_q <= start_pc_o;
  end

  assign refused_packet_o = packet_q;
  assign refused_reason_o = 4'(emx_pkg::ReasonOverrun);
  assign busy_o = !idle || refused_valid_o;

  logic unused;
  assign unused = ^{packet[77], packet[39+emx_pkg::PktW0PeLsb+:emx_pkg::PktW0PeW], slot[38:33], slot_q[38:33]};

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i && next_valid_i && next_ready_o) begin
      assert (!(special && matching));
      assert (!matching || addr[5:0] != '0);
    end
  end
`endif
endmodule
