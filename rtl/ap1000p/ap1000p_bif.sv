// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ BIF: a cell's interface to the S-net (sync_tree) and the B-net (broadcast_bus), as host registers.
//
// Host       32-bit request (valid/ready) and response (valid/ready, `host_rsp_*`); one at a time. `host_rsp_err_o`
//            says that an access was refused and changed nothing: an unknown offset, a write to a read-only register or
//            with partial strobes, a word sent without room or beyond the longest packet, a word received where there
//            is none.
// Registers  docs/machines/ap1000p-bif.md (generated from bif_regs.toml).
// S-net      ports of sync_tree, two groups. ARRIVE gives `arrive_o`, a pulse, for groups in which the cell is a member
//            and does not wait. Then it waits until `release_i`.
// B-net      streams of words with `last`. A packet is offered when it is complete, so none pauses on the bus. An
//            arriving packet is kept whole or dropped whole, as MODE.LISTEN says when its first word is first offered.
// Latency    1 cycle from request to response, to `arrive_o`, to the bus.
// Full       no word is lost. Without room SEND is refused. A listener that does not receive stops the bus, and with it
//            all cells.
// Misuse     MEMBER must not change while a cell of the group waits: as sync_tree's.
// Reset      member of nothing, does not listen, nothing sent or received.
// busy_o     low: without an input nothing changes. (Received words may wait.)
// Source     the machine's Linux port names the interface (BIF) with two groups of sync bits; registers: own guess.
module ap1000p_bif #(
    parameter int Words = 32  // of the longest packet, and of each direction's FIFO; power of two, 2 to 32
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic host_req_valid_i,
    output logic host_req_ready_o,
    input logic host_req_write_i,
    input logic [7:0] host_req_addr_i,
    input logic [31:0] host_req_wdata_i,
    input logic [3:0] host_req_wstrb_i,
    output logic host_rsp_valid_o,
    input logic host_rsp_ready_i,
    output logic [31:0] host_rsp_rdata_o,
    output logic host_rsp_err_o,

    output logic [1:0] member_o,
    output logic [1:0] arrive_o,
    input  logic [1:0] release_i,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic [31:0] out_data_o,
    output logic out_last_o,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [31:0] in_data_i,
    input logic in_last_i
);
  localparam int LevelW = $clog2(Words + 1);

  if (Words < 2 || Words > 32 || (Words & (Words - 1)) != 0) begin : gen_bad_words
    ap1000p_bif_Words_must_be_a_power_of_two_2_to_32 u_bad ();
  end

  // ---------------------------------------------------------------------------------------------------- write and read
  logic accept, write, readable, writable, read, rsp_valid_q;
  logic room, some, last, listen_q;
  logic [1:0] waiting_q;
  logic [31:0] rdata, word;
  logic [LevelW-1:0] out_level, in_level, open_q;

  assign accept = host_req_valid_i && host_req_ready_o;
  assign write  = accept && host_req_write_i && writable && host_req_wstrb_i == 4'hF;
  assign read   = accept && !host_req_write_i && readable;

  always_comb begin
    readable = 1'b1;
    writable = 1'b0;
    rdata = '0;
    case (host_req_addr_i)
      ap1000p_bif_pkg::BifMember: {writable, rdata[1:0]} = {1'b1, member_o};
      ap1000p_bif_pkg::BifArrive: writable = 1'b1;
      ap1000p_bif_pkg::BifMode: {writable, rdata[0]} = {1'b1, listen_q};
      ap1000p_bif_pkg::BifState: begin
        rdata[ap1000p_bif_pkg::BifStateWaitingLsb+:2] = waiting_q;
        rdata[ap1000p_bif_pkg::BifStateRoomLsb+:6] = 6'(Words) - 6'(out_level);
        rdata[ap1000p_bif_pkg::BifStateWordsLsb+:6] = 6'(in_level);
        rdata[ap1000p_bif_pkg::BifStateLastLsb] = some && last;
      end
      // The last place is for the word that completes the packet.
      ap1000p_bif_pkg::BifSend: writable = room && open_q != LevelW'(Words - 1);
      ap1000p_bif_pkg::BifSendLast: writable = room;
      ap1000p_bif_pkg::BifReceive: {readable, rdata} = {some, word};
      default: readable = 1'b0;
    endcase
  end

  assign host_req_ready_o = !rsp_valid_q;
  assign host_rsp_valid_o = rsp_valid_q;
  always_ff @(posedge clk_i) begin
    if (accept) begin
      host_rsp_rdata_o <= read ? rdata : '0;
      host_rsp_err_o   <= !(write || read);
    end
    if (rst_i) rsp_valid_q <= 1'b0;
    else rsp_valid_q <= accept || (rsp_valid_q && !host_rsp_ready_i);
  end

  // ------------------------------------------------------------------------------------------------------------- S-net
  logic arriving;
  logic [1:0] arrives;
  assign arriving = write && host_req_addr_i == ap1000p_bif_pkg::BifArrive;
  assign arrives  = arriving ? host_req_wdata_i[1:0] & member_o & ~waiting_q : '0;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      member_o  <= '0;
      arrive_o  <= '0;
      waiting_q <= '0;
      listen_q  <= 1'b0;
    end else begin
      if (write && host_req_addr_i == ap1000p_bif_pkg::BifMember) member_o <= host_req_wdata_i[1:0];
      if (write && host_req_addr_i == ap1000p_bif_pkg::BifMode) listen_q <= host_req_wdata_i[0];
      arrive_o  <= arrives;
      waiting_q <= member_o & ((waiting_q & ~release_i) | arrives);
    end
  end

  // ------------------------------------------------------------------------------------------------------------- B-net
  // Complete packets in the FIFO, and words of the open one.
  logic push, push_last, pop, pop_last, unused_some;
  logic [LevelW-1:0] packets_q;
  assign push_last = write && host_req_addr_i == ap1000p_bif_pkg::BifSendLast;
  assign push = push_last || (write && host_req_addr_i == ap1000p_bif_pkg::BifSend);
  assign out_valid_o = packets_q != '0;
  assign pop = out_valid_o && out_ready_i;
  assign pop_last = pop && out_last_o;

  fifo #(
      .W(33),
      .Depth(Words)
  ) u_out (
      .clk_i,
      .rst_i,
      .in_valid_i (push),
      .in_ready_o (room),
      .in_data_i  ({push_last, host_req_wdata_i}),
      .out_valid_o(unused_some),
      .out_ready_i(pop),
      .out_data_o ({out_last_o, out_data_o}),
      .level_o    (out_level)
  );
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      packets_q <= '0;
      open_q <= '0;
    end else begin
      packets_q <= packets_q + LevelW'(push_last) - LevelW'(pop_last);
      if (push) open_q <= push_last ? '0 : open_q + LevelW'(1);
    end
  end

  // A packet is kept whole or not at all.
  logic kept_q, inside_q, keeps, in_room;
  assign keeps = inside_q ? kept_q : listen_q;
  assign in_ready_o = in_room || !keeps;
  always_ff @(posedge clk_i) begin
    if (rst_i) {kept_q, inside_q} <= '0;
    else if (in_valid_i) {kept_q, inside_q} <= {keeps, !(in_ready_o && in_last_i)};
  end

  fifo #(
      .W(33),
      .Depth(Words)
  ) u_in (
      .clk_i,
      .rst_i,
      .in_valid_i (in_valid_i && keeps),
      .in_ready_o (in_room),
      .in_data_i  ({in_last_i, in_data_i}),
      .out_valid_o(some),
      .out_ready_i(read && host_req_addr_i == ap1000p_bif_pkg::BifReceive),
      .out_data_o ({last, word}),
      .level_o    (in_level)
  );

  // `arrive_o` and the response come in the same cycle.
  assign busy_o = host_rsp_valid_o || out_valid_o;
endmodule
