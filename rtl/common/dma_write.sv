// SPDX-License-Identifier: MIT OR Apache-2.0
// DMA write engine: writes one packet per {address, bytes} command to memory, and reports how it ended.
//
// Command    `cmd_addr_i` word aligned (lower bits are ignored), `cmd_bytes_i` >= 1.
// Input      words with `keep` (bytes in the last word, minus 1; all other words are full) and `last`.
// Memory     write commands {addr, len = beats - 1}, cut where the word address is a multiple of BurstBeats. A burst is
//            collected before it is announced: the bus never waits for the packet's source, and no byte outside [addr,
//            addr + bytes) is ever enabled. Data of a burst follow its command. At most Outstanding bursts await their
//            response.
// Done       one per command, in order, with its last response: `done_err_o` = {long, short, bus}. short: the packet
//            ended early, and the words until then are written. long: the packet went on, and the rest was dropped.
// Latency    1 cycle from a burst's last word to its memory command, 2 to its first data word. 1 word per cycle, no
//            bubble between commands, one-word ones included, if memory latency <= (Outstanding - 1) bursts.
// Full       two commands wait while a third is written. `in_ready_o` is low without a command, with four collected
//            bursts that are not announced, or when the data buffer (room for two bursts and four words or more) is
//            full.
// Reset      drops everything; the memory must forget its bursts, too.
// busy_o     low when nothing is inside or outstanding.
// Source     common practice; collect-before-announce because sender and receiver of a NIC share one bus.
module dma_write #(
    parameter int AddrW = 32,  // bits of a byte address
    parameter int DataW = 32,  // bits of a word, power of two, >= 16
    parameter int LenW = 20,  // bits of a command's length in bytes, > $clog2(DataW / 8), < AddrW
    parameter int BurstBeats = 8,  // words in the longest burst, power of two, 1..256
    parameter int Outstanding = 4,  // bursts that may await their response, >= 1
    localparam int KeepW = $clog2(DataW / 8)
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic cmd_valid_i,
    output logic cmd_ready_o,
    input logic [AddrW-1:0] cmd_addr_i,
    input logic [LenW-1:0] cmd_bytes_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [DataW-1:0] in_data_i,
    input logic [KeepW-1:0] in_keep_i,
    input logic in_last_i,
    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [AddrW-1:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    output logic mem_data_valid_o,
    input logic mem_data_ready_i,
    output logic [DataW-1:0] mem_data_data_o,
    output logic [DataW/8-1:0] mem_data_strb_o,
    output logic mem_data_last_o,
    input logic mem_rsp_valid_i,
    output logic mem_rsp_ready_o,
    input logic mem_rsp_err_i,
    output logic done_valid_o,
    input logic done_ready_i,
    output logic [2:0] done_err_o
);
  localparam int WordW = AddrW - KeepW;  // a word address
  localparam int CountW = LenW - KeepW;  // words of a command, minus 1
  localparam int BufWords = 1 << $clog2(2 * BurstBeats + 4);
  localparam int BufW = $clog2(BufWords + 1);

  if (DataW < 16 || (1 << $clog2(DataW)) != DataW) begin : gen_bad_data
    dma_write_DataW_must_be_a_power_of_two_and_at_least_16 u_bad ();
  end
  if (BurstBeats < 1 || BurstBeats > 256 || (1 << $clog2(BurstBeats)) != BurstBeats) begin : gen_bad_burst
    dma_write_BurstBeats_must_be_a_power_of_two_from_1_to_256 u_bad ();
  end
  if (Outstanding < 1) begin : gen_bad_outstanding
    dma_write_Outstanding_must_be_at_least_1 u_bad ();
  end
  if (LenW <= KeepW || AddrW <= LenW) begin : gen_bad_len
    dma_write_LenW_must_be_above_the_byte_bits_and_below_AddrW u_bad ();
  end

  logic [KeepW-1:0] unused_addr;
  assign unused_addr = cmd_addr_i[KeepW-1:0];

  // Commands wait as {first word, words - 1, bytes in the last word - 1}.
  logic next_valid, load;
  logic [WordW-1:0] next_word;
  logic [LenW-1:0] next_bytes_m1;
  logic [1:0] cmd_level;

  fifo #(
      .W(WordW + LenW),
      .Depth(2)
  ) u_cmd (
      .clk_i,
      .rst_i,
      .in_valid_i (cmd_valid_i),
      .in_ready_o (cmd_ready_o),
      .in_data_i  ({cmd_addr_i[AddrW-1:KeepW], cmd_bytes_i - LenW'(1)}),
      .out_valid_o(next_valid),
      .out_ready_i(load),
      .out_data_o ({next_word, next_bytes_m1}),
      .level_o    (cmd_level)
  );

  // The command of the incoming packet. `drain_q`: the command's words are written, the packet goes on.
  logic active_q, drain_q, take, cmd_end, ending, burst_end, is_short, is_long;
  logic [WordW-1:0] word_q, base_q;  // the present word, the first of its burst
  logic [CountW-1:0] left_q;  // words left, minus 1
  logic [KeepW-1:0] cmd_keep_q, room_keep, came_keep, keep;
  logic [7:0] beat_q;
  logic buf_ready, burst_ready;

  assign in_ready_o = drain_q || (active_q && buf_ready && burst_ready);
  assign take = in_valid_i && in_ready_o && !drain_q;
  assign cmd_end = left_q == '0;
  assign ending = cmd_end || in_last_i;
  assign burst_end = ending || (~word_q[7:0] & 8'(BurstBeats - 1)) == '0;
  assign room_keep = cmd_end ? cmd_keep_q : '1;
  assign came_keep = in_last_i ? in_keep_i : '1;
  assign keep = (came_keep < room_keep) ? came_keep : room_keep;
  assign is_short = !cmd_end || came_keep < room_keep;  // counts only where the command ends
  assign is_long = cmd_end && (!in_last_i || came_keep > room_keep);
  assign load = !active_q || (take && ending);

  always_ff @(posedge clk_i) begin
    if (load) begin
      word_q <= next_word;
      base_q <= next_word;
      left_q <= next_bytes_m1[LenW-1:KeepW];
      cmd_keep_q <= next_bytes_m1[KeepW-1:0];
      beat_q <= '0;
    end else if (take) begin
      word_q <= word_q + WordW'(1);
      left_q <= left_q - CountW'(1);
      beat_q <= burst_end ? '0 : beat_q + 8'd1;
      if (burst_end) base_q <= word_q + WordW'(1);
    end
    if (rst_i) begin
      active_q <= 1'b0;
      drain_q  <= 1'b0;
    end else begin
      if (load) active_q <= next_valid;
      if (take) drain_q <= cmd_end && !in_last_i;
      else if (in_valid_i && in_last_i) drain_q <= 1'b0;
    end
  end

  // Words of collected bursts, and of the burst in collection.
  logic data_go, data_end;
  logic unused_buf_valid;
  logic [KeepW-1:0] data_keep;
  logic [BufW-1:0] buf_level;

  fifo #(
      .W(DataW + KeepW + 1),
      .Depth(BufWords)
  ) u_buf (
      .clk_i,
      .rst_i,
      .in_valid_i (take),
      .in_ready_o (buf_ready),
      .in_data_i  ({burst_end, keep, in_data_i}),
      .out_valid_o(unused_buf_valid),
      .out_ready_i(data_go && mem_data_ready_i),
      .out_data_o ({data_end, data_keep, mem_data_data_o}),
      .level_o    (buf_level)
  );

  // Collected bursts, not announced: {ends its command, {long, short}, address, beats - 1}.
  logic burst_valid, burst_final, announce, note_ready;
  logic [1:0] burst_err;
  logic [WordW-1:0] burst_word;
  logic [2:0] burst_level;

  fifo #(
      .W(3 + WordW + 8),
      .Depth(4)
  ) u_burst (
      .clk_i,
      .rst_i,
      .in_valid_i (take && burst_end),
      .in_ready_o (burst_ready),
      .in_data_i  ({ending, is_long, is_short, base_q, beat_q}),
      .out_valid_o(burst_valid),
      .out_ready_i(mem_cmd_ready_i && note_ready),
      .out_data_o ({burst_final, burst_err, burst_word, mem_cmd_len_o}),
      .level_o    (burst_level)
  );

  assign mem_cmd_valid_o = burst_valid && note_ready;
  assign mem_cmd_addr_o = {burst_word, KeepW'(0)};
  assign announce = mem_cmd_valid_o && mem_cmd_ready_i;

  // Announced bursts with data still to go; the buffer holds each of them whole.
  logic [BufW-1:0] announced_q;
  logic data_done;

  assign data_done = data_go && mem_data_ready_i && data_end;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      announced_q <= '0;
      data_go <= 1'b0;
    end else begin
      announced_q <= announced_q + BufW'(announce) - BufW'(data_done);
      data_go <= announce || announced_q > BufW'(data_done);
    end
  end

  assign mem_data_valid_o = data_go;
  assign mem_data_strb_o  = ~(({DataW / 8{1'b1}} << data_keep) << 1);
  assign mem_data_last_o  = data_end;

  // Announced bursts that await their response.
  logic note_valid, note_final, done_ready, bus_q, respond;
  logic [1:0] note_err, done_level;
  logic [$clog2(Outstanding + 1)-1:0] note_level;

  fifo #(
      .W(3),
      .Depth(Outstanding)
  ) u_note (
      .clk_i,
      .rst_i,
      .in_valid_i (announce),
      .in_ready_o (note_ready),
      .in_data_i  ({burst_final, burst_err}),
      .out_valid_o(note_valid),
      .out_ready_i(respond),
      .out_data_o ({note_final, note_err}),
      .level_o    (note_level)
  );

  assign mem_rsp_ready_o = note_valid && done_ready;
  assign respond = mem_rsp_valid_i && mem_rsp_ready_o;

  always_ff @(posedge clk_i) begin
    if (rst_i) bus_q <= 1'b0;
    else if (respond) bus_q <= !note_final && (bus_q || mem_rsp_err_i);
  end

  fifo #(
      .W(3),
      .Depth(2)
  ) u_done (
      .clk_i,
      .rst_i,
      .in_valid_i (respond && note_final),
      .in_ready_o (done_ready),
      .in_data_i  ({note_err, bus_q || mem_rsp_err_i}),
      .out_valid_o(done_valid_o),
      .out_ready_i(done_ready_i),
      .out_data_o (done_err_o),
      .level_o    (done_level)
  );

  assign busy_o = cmd_level != '0 || active_q || drain_q || buf_level != '0 || burst_level != '0 || note_level != '0 ||
                  done_level != '0;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!cmd_valid_i || cmd_bytes_i != '0);
      // Data only while a burst is announced.
      assert (data_go == (announced_q != '0));
    end
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
`endif
endmodule
