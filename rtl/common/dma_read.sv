// SPDX-License-Identifier: MIT OR Apache-2.0
// DMA read engine: turns {address, bytes} commands into memory bursts and their data into one packet per command.
//
// Command    `cmd_addr_i` word aligned (lower bits are ignored), `cmd_bytes_i` >= 1.
// Memory     read commands {addr, len = beats - 1}, cut where the word address is a multiple of BurstBeats, so no burst
//            leaves the command's range or crosses that alignment. At most Outstanding bursts await data. Room for a
//            whole burst is reserved before the request: `mem_data_ready_o` is high while data are due, and a slow sink
//            never holds the bus.
// Output     words with `keep` (bytes in the word, minus 1; all but in the last word), `last`, `err`.
// Bus error  the word of a beat with `mem_data_err_i` goes out with `err` and `last`. The engine still reads the rest
//            of that command and drops it. The next command is not affected.
// Latency    3 cycles from command to memory command, 1 with Early, where `mem_cmd_*_o` are a function of flip-flops
//            instead of flip-flops; 1 from memory data to output. 1 word per cycle, no bubble between commands,
//            one-word ones included, if memory latency <= (Outstanding - 1) bursts.
// Full       two commands (with Early, one) wait while another is cut; then `cmd_ready_o` is low.
// next_o     a command given now is cut next, and at most one burst of all earlier commands is not yet requested. A
//            client with a choice of commands should not decide earlier.
// Reset      drops everything; the memory must forget the requested bursts, too.
// busy_o     low when nothing is inside or outstanding.
// Source     common practice; buffer-before-request because sender and receiver of a NIC share one bus.
module dma_read #(
    parameter int AddrW = 32,  // bits of a byte address
    parameter int DataW = 32,  // bits of a word, power of two, >= 16
    parameter int LenW = 20,  // bits of a command's length in bytes, > $clog2(DataW / 8), < AddrW
    parameter int BurstBeats = 8,  // words in the longest burst, power of two, 1..256
    parameter int Outstanding = 4,  // bursts that may await data, >= 1
    parameter bit Early = 1'b0,  // a command that finds none waiting is cut at once, and requested right after
    localparam int KeepW = $clog2(DataW / 8)
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic cmd_valid_i,
    output logic cmd_ready_o,
    output logic next_o,
    input logic [AddrW-1:0] cmd_addr_i,
    input logic [LenW-1:0] cmd_bytes_i,
    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [AddrW-1:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    input logic mem_data_valid_i,
    output logic mem_data_ready_o,
    input logic [DataW-1:0] mem_data_data_i,
    input logic mem_data_last_i,
    input logic mem_data_err_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [DataW-1:0] out_data_o,
    output logic [KeepW-1:0] out_keep_o,
    output logic out_last_o,
    output logic out_err_o
);
  localparam int WordW = AddrW - KeepW;  // a word address
  localparam int CountW = LenW - KeepW;  // words of a command, minus 1
  localparam int BufWords = BurstBeats * Outstanding;
  localparam int RoomW = $clog2(BufWords + 1);

  if (DataW < 16 || (1 << $clog2(DataW)) != DataW) begin : gen_bad_data
    dma_read_DataW_must_be_a_power_of_two_and_at_least_16 u_bad ();
  end
  if (BurstBeats < 1 || BurstBeats > 256 || (1 << $clog2(BurstBeats)) != BurstBeats) begin : gen_bad_burst
    dma_read_BurstBeats_must_be_a_power_of_two_from_1_to_256 u_bad ();
  end
  if (Outstanding < 1) begin : gen_bad_outstanding
    dma_read_Outstanding_must_be_at_least_1 u_bad ();
  end
  if (LenW <= KeepW || AddrW <= LenW) begin : gen_bad_len
    dma_read_LenW_must_be_above_the_byte_bits_and_below_AddrW u_bad ();
  end

  logic [KeepW-1:0] unused_addr;
  assign unused_addr = cmd_addr_i[KeepW-1:0];

  // Commands wait as {first word, words - 1, bytes in the last word - 1}.
  logic next_valid, load, waits;
  logic [WordW-1:0] next_word;
  logic [ LenW-1:0] next_bytes_m1;

  command_queue #(
      .W(WordW + LenW),
      .Early(Early)
  ) u_cmd (
      .clk_i,
      .rst_i,
      .in_valid_i (cmd_valid_i),
      .in_ready_o (cmd_ready_o),
      .in_data_i  ({cmd_addr_i[AddrW-1:KeepW], cmd_bytes_i - LenW'(1)}),
      .out_valid_o(next_valid),
      .out_ready_i(load),
      .out_data_o ({next_word, next_bytes_m1}),
      .waits_o    (waits)
  );

  // The current command, and its next burst, computed a cycle ahead.
  logic active_q, issue, room, note_ready, final_q, final_d;
  logic [WordW-1:0] word_q;
  logic [CountW-1:0] left_q, left_d;  // words left, minus 1
  logic [KeepW-1:0] keep_q;
  logic [7:0] low_d, edge_d, len_q;  // beats minus 1: left, within a burst; up to the alignment; of the burst

  assign left_d = load ? next_bytes_m1[LenW-1:KeepW] : left_q - CountW'(len_q) - CountW'(1);
  // All bursts except a command's first begin at an aligned word.
  assign edge_d = (load ? ~next_word[7:0] : '1) & 8'(BurstBeats - 1);
  assign low_d = 8'(left_d) & 8'(BurstBeats - 1);
  assign final_d = CountW'(left_d >> $clog2(BurstBeats)) == '0 && low_d <= edge_d;
  assign load = !active_q || (issue && final_q);
  assign next_o = !waits && (!active_q || final_q);

  always_ff @(posedge clk_i) begin
    if (load || issue) begin
      left_q  <= left_d;
      final_q <= final_d;
      len_q   <= final_d ? low_d : edge_d;
    end
    if (load) begin
      word_q <= next_word;
      keep_q <= next_bytes_m1[KeepW-1:0];
    end else if (issue) begin
      word_q <= word_q + WordW'(len_q) + WordW'(1);
    end
    if (rst_i) active_q <= 1'b0;
    else if (load) active_q <= next_valid;
  end

  if (Early) begin : gen_direct
    assign mem_cmd_valid_o = active_q && room && note_ready;
    assign mem_cmd_addr_o = {word_q, KeepW'(0)};
    assign mem_cmd_len_o = len_q;
    assign issue = mem_cmd_valid_o && mem_cmd_ready_i;
  end else begin : gen_registered
    logic valid_q;
    logic [WordW-1:0] addr_q;
    logic [7:0] cmd_len_q;

    assign issue = active_q && room && note_ready && (!valid_q || mem_cmd_ready_i);
    always_ff @(posedge clk_i) begin
      if (issue) begin
        addr_q <= word_q;
        cmd_len_q <= len_q;
      end
      if (rst_i) valid_q <= 1'b0;
      else valid_q <= issue || (valid_q && !mem_cmd_ready_i);
    end
    assign mem_cmd_valid_o = valid_q;
    assign mem_cmd_addr_o  = {addr_q, KeepW'(0)};
    assign mem_cmd_len_o   = cmd_len_q;
  end

  // One note per burst that awaits data: whether it ends its command, and with how many bytes.
  logic note_valid, note_final, mem_take;
  logic [KeepW-1:0] note_keep;
  logic [$clog2(Outstanding + 1)-1:0] note_level;

  fifo #(
      .W(KeepW + 1),
      .Depth(Outstanding)
  ) u_note (
      .clk_i,
      .rst_i,
      .in_valid_i (issue),
      .in_ready_o (note_ready),
      .in_data_i  ({final_q, keep_q}),
      .out_valid_o(note_valid),
      .out_ready_i(mem_take && mem_data_last_i),
      .out_data_o ({note_final, note_keep}),
      .level_o    (note_level)
  );

  // Data buffer. A burst is requested only when all its words have room. `drain_q`: after a bus error the rest of the
  // command is dropped.
  logic buf_valid, buf_ready, buf_pop, buf_end, buf_err, in_end, drain_q;
  logic [KeepW-1:0] buf_keep;
  logic [RoomW-1:0] buf_level, room_q;

  assign mem_data_ready_o = note_valid && buf_ready;
  assign mem_take = mem_data_valid_i && mem_data_ready_o;
  assign in_end = note_final && mem_data_last_i;
  assign room = 32'(room_q) >= BurstBeats;

  fifo #(
      .W(DataW + KeepW + 2),
      .Depth(BufWords)
  ) u_buf (
      .clk_i,
      .rst_i,
      .in_valid_i (mem_take),
      .in_ready_o (buf_ready),
      .in_data_i  ({mem_data_err_i, in_end, in_end ? note_keep : {KeepW{1'b1}}, mem_data_data_i}),
      .out_valid_o(buf_valid),
      .out_ready_i(out_ready_i || drain_q),
      .out_data_o ({buf_err, buf_end, buf_keep, out_data_o}),
      .level_o    (buf_level)
  );

  assign buf_pop = buf_valid && (out_ready_i || drain_q);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      room_q  <= RoomW'(BufWords);
      drain_q <= 1'b0;
    end else begin
      room_q <= room_q - (issue ? RoomW'(len_q) + RoomW'(1) : '0) + RoomW'(buf_pop);
      if (buf_pop) drain_q <= !buf_end && (buf_err || drain_q);
    end
  end

  assign out_valid_o = buf_valid && !drain_q;
  assign out_keep_o = buf_keep;
  assign out_last_o = buf_end || buf_err;
  assign out_err_o = buf_err;
  assign busy_o = waits || active_q || mem_cmd_valid_o || note_level != '0 || buf_level != '0;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!cmd_valid_i || cmd_bytes_i != '0);
      // There is always room for requested words.
      assert (!mem_data_valid_i || mem_data_ready_o);
    end
  end
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
