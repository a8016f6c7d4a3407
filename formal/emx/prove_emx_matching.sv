// SPDX-License-Identifier: MIT OR Apache-2.0
// `emx_matching` starts each pair of operands once, each other packet once, and refuses a second operand of the same
// side.
//
// - An operand whose slot is empty is written there and starts nothing. Its partner empties the slot and starts the
//   thread with the left operand in r1 and the right one in r2. One of the same side is refused, with its packet.
// - A start has its own packet's operands and frame, and the entry behind the link that was read from that frame.
// - Memory and presence bits are written for a matching packet alone, at its own slot. `held_o` counts operands that
//   wait.
// - Nothing is read behind the start of a WRITE while its thread runs or its store waits.
// - With a port and an execution unit that are free, and no such WRITE, every packet ends within 5 cycles. One whose
//   word 0 was there early is a start in the cycle behind its offer.
//
// The claims on a slot are about one slot, any slot: the proof's memory. A reset drops the packet, not the slot.
// Presence bits are read and written only with a request that is taken: else their port is the host's.
// Assumed: packets are well formed, and offered behind their early word 0 or not at all, which `emx_input`'s proof
// claims. Nobody else writes the slot.
module prove_emx_matching (
    input logic clk_i,
    input logic rst_i,
    input logic next_valid_i,
    input logic [77:0] next_packet_i,
    input logic early_valid_i,
    input logic [38:0] early_word_i,
    input logic [31:0] system_link_i,
    input logic thread_i,
    input logic start_ready_i,
    input logic mem_ready_i,
    input logic [38:0] any_word_i,
    input logic any_present_i
);
  logic busy, next_ready, start_valid, mem_valid, mem_write, pres_write, pres_value, refused_valid;
  logic [21:0] start_pc, start_frame, mem_addr, pres_addr;
  logic [31:0] start_r1, start_r2;
  logic [38:0] mem_wdata, mem_rdata;
  logic pres;
  logic [3:0] refused_reason;
  logic [77:0] refused_packet;
  logic [15:0] held;

  emx_matching dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .next_valid_i,
      .next_ready_o(next_ready),
      .next_packet_i,
      .early_valid_i,
      .early_word_i,
      .system_link_i,
      .thread_i,
      .start_valid_o(start_valid),
      .start_ready_i,
      .start_pc_o(start_pc),
      .start_r1_o(start_r1),
      .start_r2_o(start_r2),
      .start_frame_o(start_frame),
      .mem_valid_o(mem_valid),
      .mem_ready_i,
      .mem_write_o(mem_write),
      .mem_addr_o(mem_addr),
      .mem_wdata_o(mem_wdata),
      .mem_rdata_i(mem_rdata),
      .pres_addr_o(pres_addr),
      .pres_i(pres),
      .pres_write_o(pres_write),
      .pres_value_o(pres_value),
      .refused_valid_o(refused_valid),
      .refused_reason_o(refused_reason),
      .refused_packet_o(refused_packet),
      .held_o(held)
  );
  power_up u_power_up (.*);

  // --------------------------------------------------------------------------------------------- packets and their end
  localparam bit [2:0] None = 3'd0;
  localparam bit [2:0] Start = 3'd1;
  localparam bit [2:0] Store = 3'd2;
  localparam bit [2:0] Refuse = 3'd3;
  localparam bit [2:0] Other = 3'd4;  // an operand of another slot: any of the three

  logic [21:0] slot_q;  // the slot that is followed
  always_ff @(posedge clk_i) slot_q <= slot_q;

  logic take, go, clear, here, here_q, begins, ends, write, kept_present_q, waits_q, side_q;
  logic [2:0] due_q, due;
  logic [77:0] packet_q, packet;
  logic [31:0] data_q;  // the operand that waits in the slot
  logic [31:0] partner_q, system_q;
  logic [38:0] kept_q;
  logic [21:0] addr;
  logic [ 3:0] kind;
  logic match, side, special;
  assign take = next_valid_i && next_ready;
  assign go = mem_valid && mem_ready_i;
  assign write = go && mem_write;
  assign clear = pres_write && !pres_value;
  assign packet = take ? next_packet_i : packet_q;
  assign addr = packet[39+:22];
  assign kind = packet[39+emx_pkg::PktW0TypeLsb+:4];
  assign side = packet[39+emx_pkg::PktW0SideLsb];
  assign match = packet[39+emx_pkg::PktW0MatchLsb];
  assign special = kind != 4'(emx_pkg::TypeThread);
  assign here = match && addr == slot_q;
  assign here_q = due_q != None && packet_q[39+emx_pkg::PktW0MatchLsb] && packet_q[39+:22] == slot_q;
  always_comb begin
    due = due_q;
    if (take) due = !match ? Start : !here ? Other : !waits_q ? Store : side_q == side ? Refuse : Start;
  end
  assign begins = start_valid && start_ready_i;
  assign ends   = begins || write || refused_valid;
  logic wrote_q, keeps;  // the start before is of a WRITE; its word may be not there yet
  assign keeps = wrote_q && thread_i;
  always_ff @(posedge clk_i) begin
    if (rst_i) wrote_q <= 1'b0;
    else if (begins) wrote_q <= kind == 4'(emx_pkg::TypeWrite);
  end

  // The memory as it is, at the slot; elsewhere any.
  logic reads_slot_q, looks_q, was_present_q, reset_q, reads_q;
  logic [21:0] read_at_q;
  logic [38:0] was_q;
  assign mem_rdata = reads_slot_q ? was_q : any_word_i;
  assign pres = looks_q ? was_present_q : any_present_i;
  logic present_d;
  logic [38:0] kept_d;
  assign present_d = (pres_write && go && pres_addr == slot_q) ? pres_value : kept_present_q;
  assign kept_d = (write && mem_addr == slot_q) ? mem_wdata : kept_q;
  always_ff @(posedge clk_i) begin
    kept_present_q <= present_d;
    kept_q <= kept_d;
    reads_slot_q <= go && !mem_write && mem_addr == slot_q;
    looks_q <= go && pres_addr == slot_q;
    was_q <= kept_q;
    was_present_q <= kept_present_q;
    reads_q <= go && !mem_write && !clear;
    if (go && !mem_write && !clear) read_at_q <= mem_addr;
    reset_q <= rst_i;
  end

  logic [31:0] link_q, link;
  assign link = reads_q ? mem_rdata[31:0] : link_q;
  always_ff @(posedge clk_i) begin
    link_q   <= link;
    packet_q <= packet;
    if (take) system_q <= system_link_i;
    if (take && here && !waits_q) {side_q, data_q} <= {side, packet[31:0]};
    if (take && here) partner_q <= data_q;
    if (rst_i) begin
      due_q <= None;
      waits_q <= present_d;
      {side_q, data_q} <= kept_d[32:0];
    end else begin
      due_q <= take ? due : ends ? None : due_q;
      if (take && here) waits_q <= !waits_q || side_q == side;
    end
  end

  // ------------------------------------------------------------------------------------------------ what a start holds
  logic [31:0] base, r1, r2;
  logic [22:0] entry;
  logic [21:0] pc;
  assign base = special ? system_q : link;
  assign entry = 23'(base[21:0]) + 23'({special ? {2'b0, kind} : addr[5:0], 2'b0});
  assign pc = (base[31:22] != '0 || entry[22]) ? '1 : entry[21:0];
  always_comb begin
    r1 = packet[31:0];
    r2 = special ? {3'b0, packet[38:32], addr} : 32'(addr);
    if (match) r1 = side ? partner_q : packet[31:0];
    if (match) r2 = side ? packet[31:0] : partner_q;
  end

  logic [15:0] held_q;
  logic [ 2:0] stays_q;  // cycles in which nothing kept it
  // Word 0 that was there a cycle and two cycles before, and in how many of the last two the port was free.
  logic [1:0] early_q, free_q;
  logic [1:0][38:0] word_q;
  logic quick_q;  // nothing kept a packet whose word 0 was early
  always_ff @(posedge clk_i) begin
    if (rst_i) held_q <= '0;
    else held_q <= held_q + 16'(write) - 16'(clear);
    if (rst_i || (ends && !take)) stays_q <= '0;
    else if (take) stays_q <= 3'(mem_ready_i && start_ready_i && !keeps);
    else if (due_q != None && mem_ready_i && start_ready_i && !keeps) stays_q <= stays_q + 3'd1;
    early_q <= rst_i ? '0 : {early_q[0], early_valid_i};
    word_q  <= {word_q[0], early_word_i};
    free_q  <= {free_q[0], mem_ready_i && !keeps};
    quick_q <= take && dut.comes_q[1] && mem_ready_i && !keeps && free_q == '1;
  end

  // -------------------------------------------------------------------------------------------------------- the claims
  localparam int Idle = 0;
  localparam int Slot = 1;
  localparam int Link = 2;
  localparam int Begin = 3;
  localparam int Put = 4;
  localparam int Clear = 5;
  localparam int Ready = 6;
  int state;
  logic comes, met;  // its word 0 alone is here; the unit's operand is of the slot
  logic [21:0] frame, entered;
  logic [22:0] reached;
  assign state = int'(dut.state_q);
  assign comes = dut.comes_q != '0;
  assign met = state != Idle && dut.matching && dut.addr == slot_q;
  assign frame = {dut.addr[21:6], 6'b0};
  assign reached = 23'(link[21:0]) + 23'({dut.addr[5:0], 2'b0});
  assign entered = (link[31:22] != '0 || reached[22]) ? '1 : reached[21:0];

  always_ff @(posedge clk_i) begin
    well_formed :
    assume (!next_valid_i || (!next_packet_i[39+35] && (!next_packet_i[39+emx_pkg::PktW0MatchLsb] ||
            (next_packet_i[39+32+:4] == '0 && next_packet_i[39+:6] != '0))));
    early_alone : assume (!(next_valid_i && (early_valid_i || early_q[0])) && !(early_valid_i && early_q[0]));
    early_first : assume (!(next_valid_i && early_q[1]) || next_packet_i[77:39] == word_q[1]);
    an_operands_slot : assume (slot_q[5:0] != '0);
    if (!rst_i) begin
      started_once : assert (!start_valid || due_q == Start || due_q == Other);
      started_as_it_came :
      assert (!start_valid || due_q != Start || (start_r1 == r1 && start_r2 == r2 && start_frame ==
              (special ? '0 : {addr[21:6], 6'b0})));
      started_at_its_entry : assert (!start_valid || (start_pc == pc && (special || read_at_q == {addr[21:6], 6'b0})));
      one_at_a_time : assert (!take || due_q == None || (due_q == Refuse || due_q == Other) && refused_valid);
      refused_overrun :
      assert (!refused_valid || ((due_q == Refuse || due_q == Other) && refused_packet == packet_q &&
              refused_reason == 4'(emx_pkg::ReasonOverrun)));
      written_for_an_operand : assert (!write || (match && mem_addr == addr && (due == Store || due == Other)));
      presence_of_its_slot : assert (!pres_write || (match && pres_addr == addr && due != Refuse));
      slot_as_it_was_left :
      assert (here_q || (kept_present_q == waits_q && (!waits_q || kept_q[32:0] == {side_q, data_q})));
      refusal_leaves_it : assert (due_q != Refuse || (kept_present_q && kept_q[32:0] == {side_q, data_q}));
      held_counts : assert (held == held_q);
      reads_what_was_written : assert (!(mem_valid && !mem_write && !dut.clears) || !keeps);
      goes_on : assert (stays_q <= 3'd4);
      at_once_behind_word_0 : assert (!quick_q || due_q != Start || start_valid);
      busy_tells : assert (busy || due_q == None);
      // Invariants for induction.
      writes_known : assert (dut.writes_q == wrote_q);
      state_possible : assert (state <= Ready && due_q <= Other);
      comes_possible :
      assert (!comes || ((dut.comes_q == 2'd1 && early_q[0] && dut.packet_q[77:39] == word_q[0]) ||
              (dut.comes_q == 2'd2 && early_q[1] && dut.packet_q[77:39] == word_q[1])));
      comes_behind :
      assert (!comes || (due_q == None && !dut.special && (state == Slot || state == Link || state == Begin ||
              state == Ready)));
      reads_first : assert (!(comes && dut.matching) || (state != Ready && (state != Begin || dut.comes_q[1])));
      begins_late : assert (!(dut.comes_q[0] && state == Ready));
      reads_at_once :
      assert (!(comes && free_q[0]) || state != Slot && (!dut.comes_q[1] || !free_q[1] ||
              state == (dut.matching ? Begin : Ready)));
      reads_link_at_once : assert (!(dut.comes_q[0] && free_q[0]) || state == (dut.matching ? Link : Begin));
      idle : assert ((state == Idle) == ((due_q == None && !comes) || refused_valid));
      packet_kept : assert (state == Idle || comes || dut.packet_q == packet_q);
      thread : assert (state == Idle || state == Ready || !dut.special);
      operand : assert (!(state == Slot || state == Put || state == Clear) || dut.matching);
      refused_due : assert (!refused_valid || due_q == Refuse || due_q == Other);
      fresh : assert (!dut.fresh_q || state == Link || state == Idle);
      fresh_is_read :
      assert (!(met && state == Link && dut.fresh_q) || (reads_slot_q && looks_q && was_q == kept_q &&
              was_present_q == kept_present_q));
      slot_known :
      assert (!met || state == Slot || state == Ready || (state == Link && dut.fresh_q) ||
              (dut.present == kept_present_q && (!dut.present || dut.slot_q[32:0] == kept_q[32:0])));
      link_known : assert (state != Begin || (reads_q && read_at_q == frame));
      pc_known :
      assert (!(state == Clear || state == Ready) || (dut.special ? dut.pc_q == pc :
              dut.pc_q == entered && read_at_q == frame));
      not_yet :
      assert (!here_q || state == Ready || refused_valid ||
              (due_q == Store ? !kept_present_q : kept_present_q && (kept_q[32:0] == (due_q == Refuse ?
               {side_q, data_q} : {side_q, partner_q}))));
      done_then :
      assert (!(state == Ready && here_q) || (due_q == Start && !kept_present_q && dut.slot_q[31:0] == partner_q));
      writes_it : assert (state != Put || due_q == Store || due_q == Other);
      clears_it : assert (state != Clear || due_q == Start || due_q == Other);
      begins_it : assert (state != Ready || comes || due_q == Start || due_q == Other);
      waits_known : assert (!here_q || waits_q == (due_q != Start));
      kinds : assert (due_q == None || packet_q[39+emx_pkg::PktW0MatchLsb] == (due_q != Start || here_q));
      formed :
      assert (due_q == None || !packet_q[39+emx_pkg::PktW0MatchLsb] ||
              (packet_q[39+emx_pkg::PktW0TypeLsb+:4] == '0 && packet_q[39+:6] != '0));
      to_store :
      assert (!(here_q && due_q == Store) || {packet_q[39+emx_pkg::PktW0SideLsb], packet_q[31:0]} == {side_q, data_q});
      of_its_side :
      assert (!(here_q && (due_q == Start || due_q == Refuse)) ||
              (due_q == Start) == (packet_q[39+emx_pkg::PktW0SideLsb] != side_q));
      others : assert (due_q == None || (due_q == Other) == (packet_q[39+emx_pkg::PktW0MatchLsb] && !here_q));
      so_far :
      assert (stays_q == '0 || (due_q != None && stays_q <= (state == Slot ? 3'd1 : state == Link ? 3'd2 :
              state == Ready || refused_valid ? 3'd4 : 3'd3)));
      // The claims are not vacuous.
      a_pair : cover (begins && here_q && due_q == Start);
      an_overrun : cover (refused_valid && due_q == Refuse);
      at_once : cover (quick_q && here_q && due_q == Start);
    end
  end
endmodule
