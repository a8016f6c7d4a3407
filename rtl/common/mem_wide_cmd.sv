// SPDX-License-Identifier: MIT OR Apache-2.0
// Turns commands of a client with narrow words into commands of a memory with wide ones, and locates each narrow word
// in its beat. `mem_read_wide` and `mem_write_wide` share it.
//
// Commands   in: {word address, len = narrow words - 1}; out: the wide words that contain them, {byte address, len =
//            beats - 1}.
// Words      of the commands that the memory has taken, one after another: `word_valid_o`, its `word_lane_o`,
//            `word_last_o` with a command's last one. `word_take_i` goes on to the next. `done_i` ends the oldest
//            command.
// Latency    1 cycle to the memory, 1 from there to the first word. 1 word per cycle.
// Full       at most Outstanding commands are taken and not done; two more wait.
// Reset      drops everything.
// busy_o     low when nothing is inside or not done.
// Source     ours.
module mem_wide_cmd #(
    parameter int AddrW = 32,  // bits of a byte address
    parameter int NarrowW = 32,  // bits of the client's words, power of two, >= 16
    parameter int WideW = 64,  // bits of the memory's words, power of two, > NarrowW
    parameter int Outstanding = 4,  // commands taken and not done, >= 1
    localparam int ByteW = $clog2(NarrowW / 8),
    localparam int LaneW = $clog2(WideW / NarrowW)
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic cmd_valid_i,
    output logic cmd_ready_o,
    input logic [AddrW-ByteW-1:0] cmd_word_i,
    input logic [7:0] cmd_len_i,
    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [AddrW-1:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    output logic word_valid_o,
    input logic word_take_i,
    output logic [LaneW-1:0] word_lane_o,
    output logic word_last_o,
    input logic done_i
);
  localparam int OpenW = $clog2(Outstanding + 1);

  if (NarrowW < 16 || (1 << $clog2(NarrowW)) != NarrowW) begin : gen_bad_narrow
    mem_wide_cmd_NarrowW_must_be_a_power_of_two_and_at_least_16 u_bad ();
  end
  if (WideW <= NarrowW || (1 << $clog2(WideW)) != WideW) begin : gen_bad_wide
    mem_wide_cmd_WideW_must_be_a_power_of_two_above_NarrowW u_bad ();
  end
  if (Outstanding < 1) begin : gen_bad_outstanding
    mem_wide_cmd_Outstanding_must_be_at_least_1 u_bad ();
  end

  logic next_valid, room_q, ask;
  logic [AddrW-ByteW-LaneW-1:0] next_beat;
  logic [LaneW-1:0] next_lane;
  logic [7:0] next_len;
  logic [8:0] words;  // from the lowest word of the first beat, minus 1

  skid #(
      .W(AddrW - ByteW + 8)
  ) u_cmd (
      .clk_i,
      .rst_i,
      .in_valid_i (cmd_valid_i),
      .in_ready_o (cmd_ready_o),
      .in_data_i  ({cmd_word_i, cmd_len_i}),
      .out_valid_o(next_valid),
      .out_ready_i(mem_cmd_ready_i && room_q),
      .out_data_o ({next_beat, next_lane, next_len})
  );
  assign words = 9'(next_len) + 9'(next_lane);
  assign mem_cmd_valid_o = next_valid && room_q;
  assign mem_cmd_addr_o = {next_beat, (LaneW + ByteW)'(0)};
  assign mem_cmd_len_o = 8'(words >> LaneW);
  assign ask = mem_cmd_valid_o && mem_cmd_ready_i;

  logic [OpenW-1:0] open_q, open_d;
  assign open_d = open_q + OpenW'(ask) - OpenW'(done_i);
  assign busy_o = next_valid || open_q != '0;

  // Commands with words still to come. None of them is done, so there is always room.
  logic unused_ready;
  logic [LaneW-1:0] first_lane, lane_q;
  logic [7:0] first_left, left, left_q;
  logic first_q;
  logic [OpenW-1:0] unused_level;

  fifo #(
      .W(LaneW + 8),
      .Depth(Outstanding)
  ) u_words (
      .clk_i,
      .rst_i,
      .in_valid_i (ask),
      .in_ready_o (unused_ready),
      .in_data_i  ({next_lane, next_len}),
      .out_valid_o(word_valid_o),
      .out_ready_i(word_take_i && word_last_o),
      .out_data_o ({first_lane, first_left}),
      .level_o    (unused_level)
  );

  assign word_lane_o = first_q ? first_lane : lane_q;
  assign left = first_q ? first_left : left_q;
  assign word_last_o = left == '0;

  always_ff @(posedge clk_i) begin
    if (word_take_i) begin
      lane_q <= word_lane_o + LaneW'(1);
      left_q <= left - 8'd1;
    end
    if (rst_i) begin
      first_q <= 1'b1;
      open_q  <= '0;
      room_q  <= 1'b1;
    end else begin
      if (word_take_i) first_q <= word_last_o;
      open_q <= open_d;
      room_q <= open_d != OpenW'(Outstanding);
    end
  end

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!word_take_i || word_valid_o);
      assert (!done_i || open_q != '0);
    end
  end
`endif
endmodule
