// SPDX-License-Identifier: MIT OR Apache-2.0
// Connects N read clients to one memory.
//
// Client     read commands {addr, len = beats - 1}. Each gets its words in order, `last` with its last one, `err` as
//            the memory reports it. All clients share the wires `data_data_o`, `data_last_o` and `data_err_o`;
//            `data_valid_o` selects the client.
// Memory     the commands unchanged, one after another, and their data in that order. At most Outstanding commands
//            await their last word.
// Fairness   least recently served first. The first command of a client is passed over by at most N - 1 others, and by
//            two that are inside already.
// Latency    2 cycles from command to memory command, 1 for the client that was served last; 1 from memory data to
//            data. 1 word per cycle, no bubble between bursts, one-word bursts and bursts of different clients
//            included, if memory latency <= Outstanding - 1 bursts.
// Full       two commands wait inside, then `cmd_ready_o` is low.
// Misuse     a client that does not take its data holds up all the others: reserve the room before the request, as
//            `dma_read` does.
// Reset      drops everything; the memory must forget the requested bursts, too.
// busy_o     low when nothing is inside or outstanding.
// Source     common practice.
module mem_read_mux #(
    parameter int N = 4,  // clients, >= 1
    parameter int AddrW = 32,  // bits of a byte address
    parameter int DataW = 32,  // bits of a word
    parameter int Outstanding = 8  // bursts that may await data, >= 1
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [N-1:0] cmd_valid_i,
    output logic [N-1:0] cmd_ready_o,
    input logic [N-1:0][AddrW-1:0] cmd_addr_i,
    input logic [N-1:0][7:0] cmd_len_i,
    output logic [N-1:0] data_valid_o,
    input logic [N-1:0] data_ready_i,
    output logic [DataW-1:0] data_data_o,
    output logic data_last_o,
    output logic data_err_o,
    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [AddrW-1:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    input logic mem_data_valid_i,
    output logic mem_data_ready_o,
    input logic [DataW-1:0] mem_data_data_i,
    input logic mem_data_last_i,
    input logic mem_data_err_i
);
  if (N < 1) begin : gen_bad_n
    mem_read_mux_N_must_be_at_least_1 u_bad ();
  end
  if (Outstanding < 1) begin : gen_bad_outstanding
    mem_read_mux_Outstanding_must_be_at_least_1 u_bad ();
  end

  logic [N-1:0][AddrW+7:0] cmd;
  for (genvar i = 0; i < N; i++) begin : gen_cmd
    assign cmd[i] = {cmd_addr_i[i], cmd_len_i[i]};
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

  // The clients of the bursts that await data, one-hot.
  logic unused_valid;
  logic [N-1:0] owner;
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
      .out_ready_i(mem_data_valid_i && mem_data_ready_o && mem_data_last_i),
      .out_data_o (owner),
      .level_o    (note_level)
  );

  logic valid, take;
  logic [N-1:0] to;

  skid #(
      .W(N + DataW + 2)
  ) u_data (
      .clk_i,
      .rst_i,
      .in_valid_i (mem_data_valid_i),
      .in_ready_o (mem_data_ready_o),
      .in_data_i  ({owner, mem_data_err_i, mem_data_last_i, mem_data_data_i}),
      .out_valid_o(valid),
      .out_ready_i(take),
      .out_data_o ({to, data_err_o, data_last_o, data_data_o})
  );

  assign data_valid_o = {N{valid}} & to;
  assign take = (to & data_ready_i) != '0;
  assign busy_o = cmds_busy || note_level != '0 || valid;

`ifdef TSUNAGI_ASSERT
  mem_read_rules #(
      .Outstanding(Outstanding)
  ) u_memory (
      .clk_i,
      .rst_i,
      .cmd_valid_i (mem_cmd_valid_o),
      .cmd_ready_i (mem_cmd_ready_i),
      .cmd_len_i   (mem_cmd_len_o),
      .data_valid_i(mem_data_valid_i),
      .data_ready_i(mem_data_ready_o),
      .data_last_i (mem_data_last_i)
  );
`endif
endmodule
