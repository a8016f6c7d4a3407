// SPDX-License-Identifier: MIT OR Apache-2.0
// Connects a write client with narrow words to a memory with wide ones.
//
// Client     write commands {addr, len = words - 1}, aligned to a narrow word (lower bits are ignored). Their words,
//            with a strobe for each byte, follow their command. Each command gets one response, in order, with `err` if
//            the memory reports an error of any of its beats.
// Memory     write commands {addr, len = beats - 1} for the wide words that contain the client's words; strobes cover
//            the client's words only.
// Latency    1 cycle from command to memory command, 1 from a beat's last word to the beat, 1 for a response. 1 narrow
//            word per cycle, no bubble between bursts, one-word ones included (each is a beat of its own), if the
//            memory responds within Outstanding - 4 bursts.
// Full       at most Outstanding bursts await their response; two more commands wait. With two beats and a partial one
//            inside, `data_ready_o` is low.
// Misuse     `data_last_i` is ignored: words are counted.
// Reset      drops everything; the memory must forget its bursts, too.
// busy_o     low when nothing is inside or outstanding.
// Source     ours.
module mem_write_wide #(
    parameter int AddrW = 32,  // bits of a byte address
    parameter int NarrowW = 32,  // bits of the client's words, power of two, >= 16
    parameter int WideW = 64,  // bits of the memory's words, power of two, > NarrowW
    parameter int Outstanding = 8,  // bursts that may await their response, >= 1
    localparam int NarrowB = NarrowW / 8,
    localparam int WideB = WideW / 8
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic cmd_valid_i,
    output logic cmd_ready_o,
    input logic [AddrW-1:0] cmd_addr_i,
    input logic [7:0] cmd_len_i,
    input logic data_valid_i,
    output logic data_ready_o,
    input logic [NarrowW-1:0] data_data_i,
    input logic [NarrowB-1:0] data_strb_i,
    input logic data_last_i,
    output logic rsp_valid_o,
    input logic rsp_ready_i,
    output logic rsp_err_o,
    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [AddrW-1:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    output logic mem_data_valid_o,
    input logic mem_data_ready_i,
    output logic [WideW-1:0] mem_data_data_o,
    output logic [WideB-1:0] mem_data_strb_o,
    output logic mem_data_last_o,
    input logic mem_rsp_valid_i,
    output logic mem_rsp_ready_o,
    input logic mem_rsp_err_i
);
  localparam int ByteW = $clog2(NarrowB);
  localparam int LaneW = $clog2(WideW / NarrowW);

  logic word_valid, word_last, beat_ready, take, beat_end;
  logic [LaneW-1:0] lane;
  logic [WideW-1:0] part_q, beat;
  logic [WideB-1:0] strb_q, strb;
  logic [ByteW-1:0] unused_addr;
  logic [1:0] unused_level;
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
      .word_last_o (word_last),
      .done_i      (rsp_valid_o && rsp_ready_i)
  );

  assign data_ready_o = word_valid && beat_ready;
  assign take = data_valid_i && data_ready_o;
  assign beat_end = word_last || lane == '1;
  always_comb begin
    beat = part_q;
    strb = strb_q;
    beat[lane*NarrowW+:NarrowW] = data_data_i;
    strb[lane*NarrowB+:NarrowB] = data_strb_i;
  end

  always_ff @(posedge clk_i) begin
    if (take) part_q <= beat;
    if (rst_i) strb_q <= '0;
    else if (take) strb_q <= beat_end ? '0 : strb;
  end

  fifo #(
      .W(WideW + WideB + 1),
      .Depth(2)
  ) u_beat (
      .clk_i,
      .rst_i,
      .in_valid_i (take && beat_end),
      .in_ready_o (beat_ready),
      .in_data_i  ({word_last, strb, beat}),
      .out_valid_o(mem_data_valid_o),
      .out_ready_i(mem_data_ready_i),
      .out_data_o ({mem_data_last_o, mem_data_strb_o, mem_data_data_o}),
      .level_o    (unused_level)
  );

  skid #(
      .W(1)
  ) u_rsp (
      .clk_i,
      .rst_i,
      .in_valid_i (mem_rsp_valid_i),
      .in_ready_o (mem_rsp_ready_o),
      .in_data_i  (mem_rsp_err_i),
      .out_valid_o(rsp_valid_o),
      .out_ready_i(rsp_ready_i),
      .out_data_o (rsp_err_o)
  );

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) assert (!take || data_last_i == word_last);
  end
  mem_write_rules u_memory (
      .clk_i,
      .rst_i,
      .data_valid_i(mem_data_valid_o),
      .data_ready_i(mem_data_ready_i),
      .data_last_i (mem_data_last_o),
      .rsp_valid_i (mem_rsp_valid_i),
      .rsp_ready_i (mem_rsp_ready_o)
  );
`else
  logic unused_last;
  assign unused_last = data_last_i;
`endif
endmodule
