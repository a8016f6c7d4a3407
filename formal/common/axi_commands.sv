// SPDX-License-Identifier: MIT OR Apache-2.0
// The expected bursts of a memory-stream bridge: its commands, in order, cut at 4 KB and nowhere else.
//
// Watches    taken commands, and the address channel; `done_i` says that a command is over.
// Outputs    `count_o`: commands taken and not over; of the oldest `len_o` (beats - 1) and `cut_o` (it is two bursts).
//            `issuing_o`: a command's bursts have not all been taken.
module axi_commands #(
    parameter int AddrW = 13,
    parameter int DataW = 32,
    parameter int Depth = 6,  // commands that the bridge holds at most
    localparam int CountW = $clog2(Depth + 1)
) (
    input logic clk_i,
    input logic rst_i,
    input logic cmd_valid_i,
    input logic cmd_ready_i,
    input logic [AddrW-1:0] cmd_addr_i,
    input logic [7:0] cmd_len_i,
    input logic valid_i,
    input logic ready_i,
    input logic [AddrW-1:0] addr_i,
    input logic [7:0] len_i,
    input logic done_i,
    output logic [CountW-1:0] count_o,
    output logic [7:0] len_o,
    output logic cut_o,
    output logic issuing_o
);
  localparam int LaneW = $clog2(DataW / 8);
  localparam int WordW = AddrW - LaneW;

  logic push, ends, second_q;
  logic [WordW-1:0] word;
  logic [7:0] len, unused_len;
  logic [8:0] beats, whole;
  logic [12-LaneW:0] room;  // beats up to the next multiple of 4 KB
  logic [CountW-1:0] to_issue;
  logic [WordW+7:0] issue, unused_second;
  logic unused_cut;

  assign push = cmd_valid_i && cmd_ready_i;
  axi_queue #(
      .W(WordW + 8),
      .Depth(Depth)
  ) u_issue (
      .clk_i,
      .rst_i,
      .push_i(push),
      .data_i({cmd_addr_i[AddrW-1:LaneW], cmd_len_i}),
      .pop_i(valid_i && ready_i && ends),
      .count_o(to_issue),
      .head_o(issue),
      .second_o(unused_second)
  );
  assign {word, len} = issue;
  assign issuing_o = to_issue != '0;

  // The first burst ends at the boundary if that is nearer than the command's end; the second has the rest.
  assign whole = {1'b0, len} + 9'd1;
  assign room = (13 - LaneW)'(4096 / (DataW / 8)) - {1'b0, word[11-LaneW:0]};
  assign beats = 32'(room) < 32'(whole) ? 9'(room) : whole;
  assign ends = second_q || beats == whole;

  logic [AddrW-1:0] want_addr;
  logic [7:0] want_len;
  assign want_addr = {word + (second_q ? WordW'(beats) : '0), LaneW'(0)};
  assign want_len  = 8'((second_q ? whole - beats : beats) - 9'd1);

  always_ff @(posedge clk_i) begin
    if (rst_i) second_q <= 1'b0;
    else if (valid_i && ready_i) second_q <= !ends;
    if (!rst_i) begin
      bursts_are_the_commands : assert (!valid_i || (issuing_o && addr_i == want_addr && len_i == want_len));
      cut_in_two : cover (valid_i && ready_i && second_q);
    end
  end

  // The commands that are not over.
  logic in_cut;
  logic [12:0] in_end;
  assign in_end = {1'b0, cmd_addr_i[11:LaneW], LaneW'(0)} + (13'(cmd_len_i) << LaneW);
  assign in_cut = in_end[12];
  axi_queue #(
      .W(9),
      .Depth(Depth)
  ) u_command_buffer (
      .clk_i,
      .rst_i,
      .push_i(push),
      .data_i({in_cut, cmd_len_i}),
      .pop_i(done_i),
      .count_o,
      .head_o({cut_o, len_o}),
      .second_o({unused_cut, unused_len})
  );
endmodule
