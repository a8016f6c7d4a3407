// SPDX-License-Identifier: MIT OR Apache-2.0
// Connects a read client with narrow words to a memory with wide ones.
//
// Client     read commands {addr, len = words - 1}, aligned to a narrow word (lower bits are ignored), and their words
//            in order, `last` with a command's last one. Each word of a beat with an error has the error.
// Memory     read commands {addr, len = beats - 1} for the wide words that contain the client's words. They read up to
//            a beat's width less one word to each side.
// Latency    1 cycle from command to memory command, 1 from memory data to data. 1 narrow word per cycle, no bubble
//            between bursts, one-word ones included (each is a beat of its own), if memory latency <= Outstanding - 2
//            bursts.
// Full       at most Outstanding bursts are before their last word; two more commands wait. Depth beats wait for
//            conversion, then the memory waits. If Depth covers all beats of the client's outstanding bursts, the
//            memory never waits.
// Reset      drops everything; the memory must forget the requested bursts, too.
// busy_o     low when nothing is inside or outstanding.
// Source     ours.
module mem_read_wide #(
    parameter int AddrW = 32,  // bits of a byte address
    parameter int NarrowW = 32,  // bits of the client's words, power of two, >= 16
    parameter int WideW = 64,  // bits of the memory's words, power of two, > NarrowW
    parameter int Outstanding = 4,  // bursts that may await data, >= 1
    parameter int Depth = 4  // beats that may wait, >= 2
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic cmd_valid_i,
    output logic cmd_ready_o,
    input logic [AddrW-1:0] cmd_addr_i,
    input logic [7:0] cmd_len_i,
    output logic data_valid_o,
    input logic data_ready_i,
    output logic [NarrowW-1:0] data_data_o,
    output logic data_last_o,
    output logic data_err_o,
    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [AddrW-1:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    input logic mem_data_valid_i,
    output logic mem_data_ready_o,
    input logic [WideW-1:0] mem_data_data_i,
    input logic mem_data_last_i,
    input logic mem_data_err_i
);
  localparam int ByteW = $clog2(NarrowW / 8);
  localparam int LaneW = $clog2(WideW / NarrowW);

  if (Depth < 2) begin : gen_bad_depth
    mem_read_wide_Depth_must_be_at_least_2 u_bad ();
  end

  logic word_valid, beat_valid, beat_end, take;
  logic [LaneW-1:0] lane;
  logic [WideW-1:0] beat;
  logic [ByteW-1:0] unused_addr;
  logic [$clog2(Depth + 1)-1:0] unused_level;
  assign unused_addr = cmd_addr_i[ByteW-1:0];

  mem_wide_cmd #(
      .AddrW(AddrW),
      .NarrowW(NarrowW),
      .WideW(WideW),
      .Outstanding(Outstanding)
  ) u_cmd (
      .clk_i,
      .rst_i,
      .busy_o,
      .cmd_valid_i,
      .cmd_ready_o,
      .cmd_word_i  (cmd_addr_i[AddrW-1:ByteW]),
      .cmd_len_i,
      .mem_cmd_valid_o,
      .mem_cmd_ready_i,
      .mem_cmd_addr_o,
      .mem_cmd_len_o,
      .word_valid_o(word_valid),
      .word_take_i (take),
      .word_lane_o (lane),
      .word_last_o (data_last_o),
      .done_i      (take && data_last_o)
  );

  fifo #(
      .W(WideW + 1),
      .Depth(Depth)
  ) u_beat (
      .clk_i,
      .rst_i,
      .in_valid_i (mem_data_valid_i),
      .in_ready_o (mem_data_ready_o),
      .in_data_i  ({mem_data_err_i, mem_data_data_i}),
      .out_valid_o(beat_valid),
      .out_ready_i(take && beat_end),
      .out_data_o ({data_err_o, beat}),
      .level_o    (unused_level)
  );

  assign data_valid_o = beat_valid && word_valid;
  assign data_data_o = beat[lane*NarrowW+:NarrowW];
  assign take = data_valid_o && data_ready_i;
  assign beat_end = data_last_o || lane == '1;

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
`else
  logic unused_last;
  assign unused_last = mem_data_last_i;
`endif
endmodule
