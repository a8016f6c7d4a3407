// SPDX-License-Identifier: MIT OR Apache-2.0
// Connects N write clients to one memory.
//
// Client     write commands {addr, len = beats - 1}. The words of a burst, with a strobe for each byte, follow its
//            command, `last` with the last one. Each command gets one response, in order. All clients share the wire
//            `rsp_err_o`; `rsp_valid_o` selects the client.
// Memory     the commands unchanged, one after another; their words and responses in that order, no word before its
//            command. At most Outstanding commands await their response.
// Fairness   least recently served first. The first command of a client is passed over by at most N - 1 others, and by
//            two that are inside already.
// Latency    2 cycles from command to memory command, 1 for the client that was served last; 3 from there to its first
//            word, 1 for data, 1 for a response. 1 word per cycle, no bubble between bursts, one-word bursts and
//            bursts of different clients included, if the memory responds within Outstanding - 3 bursts.
// Full       two commands wait inside, then `cmd_ready_o` is low. Words are taken in the commands' order.
// Misuse     a client with late words, or one that does not take its responses, holds up all the others: collect a
//            burst before its command, as `dma_write` does. A burst ends with `data_last_i`, whatever its command said.
// Reset      drops everything; the memory must forget its bursts, too.
// busy_o     low when nothing is inside or outstanding.
// Source     common practice.
module mem_write_mux #(
    parameter int N = 4,  // clients, >= 1
    parameter int AddrW = 32,  // bits of a byte address
    parameter int DataW = 32,  // bits of a word, multiple of 8
    parameter int Outstanding = 8,  // bursts that may await their response, >= 1
    localparam int StrbW = DataW / 8
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [N-1:0] cmd_valid_i,
    output logic [N-1:0] cmd_ready_o,
    input logic [N-1:0][AddrW-1:0] cmd_addr_i,
    input logic [N-1:0][7:0] cmd_len_i,
    input logic [N-1:0] data_valid_i,
    output logic [N-1:0] data_ready_o,
    input logic [N-1:0][DataW-1:0] data_data_i,
    input logic [N-1:0][StrbW-1:0] data_strb_i,
    input logic [N-1:0] data_last_i,
    output logic [N-1:0] rsp_valid_o,
    input logic [N-1:0] rsp_ready_i,
    output logic rsp_err_o,
    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [AddrW-1:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    output logic mem_data_valid_o,
    input logic mem_data_ready_i,
    output logic [DataW-1:0] mem_data_data_o,
    output logic [StrbW-1:0] mem_data_strb_o,
    output logic mem_data_last_o,
    input logic mem_rsp_valid_i,
    output logic mem_rsp_ready_o,
    input logic mem_rsp_err_i
);
  localparam int WordW = DataW + StrbW + 1;  // {last, strobes, data}

  if (N < 1) begin : gen_bad_n
    mem_write_mux_N_must_be_at_least_1 u_bad ();
  end
  if (DataW < 8 || DataW % 8 != 0) begin : gen_bad_data
    mem_write_mux_DataW_must_be_a_multiple_of_8 u_bad ();
  end
  if (Outstanding < 1) begin : gen_bad_outstanding
    mem_write_mux_Outstanding_must_be_at_least_1 u_bad ();
  end

  logic [N-1:0][AddrW+7:0] cmd;
  logic [N-1:0][WordW-1:0] word;
  for (genvar i = 0; i < N; i++) begin : gen_pack
    assign cmd[i]  = {cmd_addr_i[i], cmd_len_i[i]};
    assign word[i] = {data_last_i[i], data_strb_i[i], data_data_i[i]};
  end

  logic cmds_busy, next_valid, note_ready, ask, unused_last;
  logic [N-1:0] next;

  stream_merge #(
      .N(N),
      .W(AddrW + 8),
      .Packets(1'b0)
  ) u_cmd (
      .clk_i,
      .rst_i,
      .busy_o     (cmds_busy),
      .in_valid_i (cmd_valid_i),
      .in_ready_o (cmd_ready_o),
      .in_data_i  (cmd),
      .in_last_i  ({N{1'b1}}),
      .out_valid_o(next_valid),
      .out_ready_i(mem_cmd_ready_i && note_ready),
      .out_data_o ({mem_cmd_addr_o, mem_cmd_len_o}),
      .out_last_o (unused_last),
      .out_from_o (next)
  );
  assign mem_cmd_valid_o = next_valid && note_ready;
  assign ask = mem_cmd_valid_o && mem_cmd_ready_i;

  // The client that writes next, one-hot: the current burst's in flip-flops, those of later bursts in a FIFO. These
  // bursts also await their response, so there is always room.
  logic later_valid, give, load, word_ready, unused_later_ready;
  logic [N-1:0] later, writer_q;
  logic [WordW-1:0] given;
  logic [$clog2(Outstanding + 1)-1:0] unused_level;

  fifo #(
      .W(N),
      .Depth(Outstanding)
  ) u_later (
      .clk_i,
      .rst_i,
      .in_valid_i (ask),
      .in_ready_o (unused_later_ready),
      .in_data_i  (next),
      .out_valid_o(later_valid),
      .out_ready_i(load),
      .out_data_o (later),
      .level_o    (unused_level)
  );

  assign data_ready_o = {N{word_ready}} & writer_q;
  assign give = (data_ready_o & data_valid_i) != '0;
  assign load = writer_q == '0 || (give && (writer_q & data_last_i) != '0);
  always_comb begin
    given = '0;
    for (int i = 0; i < N; i++) given |= word[i] & {WordW{writer_q[i]}};
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) writer_q <= '0;
    else if (load) writer_q <= later & {N{later_valid}};
  end

  skid #(
      .W(WordW)
  ) u_data (
      .clk_i,
      .rst_i,
      .in_valid_i (give),
      .in_ready_o (word_ready),
      .in_data_i  (given),
      .out_valid_o(mem_data_valid_o),
      .out_ready_i(mem_data_ready_i),
      .out_data_o ({mem_data_last_o, mem_data_strb_o, mem_data_data_o})
  );

  // The clients of the bursts that await their response, one-hot.
  logic rsp_valid, take, unused_valid;
  logic [N-1:0] owner, to;
  logic [$clog2(Outstanding + 1)-1:0] note_level;

  fifo #(
      .W(N),
      .Depth(Outstanding)
  ) u_note (
      .clk_i,
      .rst_i,
      .in_valid_i (ask),
      .in_ready_o (note_ready),
      .in_data_i  (next),
      .out_valid_o(unused_valid),
      .out_ready_i(mem_rsp_valid_i && mem_rsp_ready_o),
      .out_data_o (owner),
      .level_o    (note_level)
  );

  skid #(
      .W(N + 1)
  ) u_rsp (
      .clk_i,
      .rst_i,
      .in_valid_i (mem_rsp_valid_i),
      .in_ready_o (mem_rsp_ready_o),
      .in_data_i  ({owner, mem_rsp_err_i}),
      .out_valid_o(rsp_valid),
      .out_ready_i(take),
      .out_data_o ({to, rsp_err_o})
  );

  assign rsp_valid_o = {N{rsp_valid}} & to;
  assign take = (to & rsp_ready_i) != '0;
  assign busy_o = cmds_busy || note_level != '0 || rsp_valid;

`ifdef TSUNAGI_ASSERT
  mem_write_rules u_memory (
      .clk_i,
      .rst_i,
      .data_valid_i(mem_data_valid_o),
      .data_ready_i(mem_data_ready_i),
      .data_last_i (mem_data_last_o),
      .rsp_valid_i (mem_rsp_valid_i),
      .rsp_ready_i (mem_rsp_ready_o)
  );
`endif
endmodule
