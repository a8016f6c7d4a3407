// SPDX-License-Identifier: MIT OR Apache-2.0
// `dma_write` writes each packet's words at the addresses of its command, in order, once, and no byte outside the
// command.
//
// - The strobes cover the bytes that both packet and command have.
// - Bursts are as commanded and cut at the alignment. They are announced when they are collected, before their data. No
//   more await their response than allowed.
// - Every command is reported once, after its responses, with the right code.
// - Offers hold.
// - With something inside and no other side to wait for, it pauses at most one cycle at a time.
// - `busy_o` is low only at rest.
//
// Assumed of the memory: a response only for a burst with all its data.
module prove_dma_write #(
    parameter  int AddrW       = 9,
    parameter  int DataW       = 16,
    parameter  int LenW        = 4,
    parameter  int BurstBeats  = 2,
    parameter  int Outstanding = 2,
    localparam int Bytes       = DataW / 8,
    localparam int KeepW       = $clog2(Bytes)
) (
    input logic clk_i,
    input logic rst_i,
    input logic cmd_valid_i,
    input logic [AddrW-1:0] cmd_addr_i,
    input logic [LenW-1:0] cmd_bytes_i,
    input logic in_valid_i,
    input logic [DataW-1:0] in_data_i,
    input logic [KeepW-1:0] in_keep_i,
    input logic in_last_i,
    input logic mem_cmd_ready_i,
    input logic mem_data_ready_i,
    input logic mem_rsp_valid_i,
    input logic mem_rsp_err_i,
    input logic done_ready_i,
    input logic mark_i
);
  localparam int WordW = AddrW - KeepW;
  localparam int CountW = LenW - KeepW;
  localparam int BufWords = 1 << $clog2(2 * BurstBeats + 4);
  localparam int BufW = $clog2(BufWords + 2);
  typedef struct packed {
    logic final_burst;
    logic [1:0] err;  // long, short
    logic [WordW-1:0] word;
    logic [7:0] len;
  } burst_t;

  logic busy, cmd_ready, in_ready, mem_cmd_valid, mem_data_valid, mem_data_last, mem_rsp_ready, done_valid;
  logic [AddrW-1:0] mem_cmd_addr;
  logic [7:0] mem_cmd_len;
  logic [DataW-1:0] mem_data_data;
  logic [Bytes-1:0] mem_data_strb;
  logic [2:0] done_err;

  dma_write #(
      .AddrW(AddrW),
      .DataW(DataW),
      .LenW(LenW),
      .BurstBeats(BurstBeats),
      .Outstanding(Outstanding)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .cmd_valid_i,
      .cmd_ready_o(cmd_ready),
      .cmd_addr_i,
      .cmd_bytes_i,
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_data_i,
      .in_keep_i,
      .in_last_i,
      .mem_cmd_valid_o(mem_cmd_valid),
      .mem_cmd_ready_i,
      .mem_cmd_addr_o(mem_cmd_addr),
      .mem_cmd_len_o(mem_cmd_len),
      .mem_data_valid_o(mem_data_valid),
      .mem_data_ready_i,
      .mem_data_data_o(mem_data_data),
      .mem_data_strb_o(mem_data_strb),
      .mem_data_last_o(mem_data_last),
      .mem_rsp_valid_i,
      .mem_rsp_ready_o(mem_rsp_ready),
      .mem_rsp_err_i,
      .done_valid_o(done_valid),
      .done_ready_i,
      .done_err_o(done_err)
  );
  power_up u_power_up (.*);
  stream_rules #(
      .W(AddrW + LenW),
      .Assume(1'b1)
  ) u_source (
      .clk_i,
      .rst_i,
      .valid_i(cmd_valid_i),
      .ready_i(cmd_ready),
      .data_i ({cmd_addr_i, cmd_bytes_i})
  );
  stream_rules #(
      .W(AddrW + 8)
  ) u_announces (
      .clk_i,
      .rst_i,
      .valid_i(mem_cmd_valid),
      .ready_i(mem_cmd_ready_i),
      .data_i ({mem_cmd_addr, mem_cmd_len})
  );
  stream_rules #(
      .W(DataW + Bytes + 1)
  ) u_writes (
      .clk_i,
      .rst_i,
      .valid_i(mem_data_valid),
      .ready_i(mem_data_ready_i),
      .data_i ({mem_data_data, mem_data_strb, mem_data_last})
  );
  stream_rules #(
      .W(3)
  ) u_sink (
      .clk_i,
      .rst_i,
      .valid_i(done_valid),
      .ready_i(done_ready_i),
      .data_i (done_err)
  );
  mem_write_rules #(
      .Assume(1'b1)
  ) u_memory (
      .clk_i,
      .rst_i,
      .data_valid_i(mem_data_valid),
      .data_ready_i(mem_data_ready_i),
      .data_last_i (mem_data_last),
      .rsp_valid_i (mem_rsp_valid_i),
      .rsp_ready_i (mem_rsp_ready)
  );
  always_ff @(posedge clk_i)
    if (!rst_i) begin
      command_not_empty : assume (!cmd_valid_i || cmd_bytes_i != '0);
    end

  // ------------------------------------------------------------------------------------------------------------- input
  // Commands with a packet to come, words of the oldest that are in, and words of its present burst. `over_q`: the
  // command's words are in, its packet goes on.
  function automatic logic [7:0] of_block(input logic [WordW-1:0] n);
    of_block = 8'(n) & 8'(BurstBeats - 1);
  endfunction
  logic give, take, over_q, cmd_end, ending, at_edge;
  logic [1:0] waiting;
  logic [AddrW-1:0] addr;
  logic [LenW-1:0] bytes_m1;
  logic [CountW-1:0] taken_q, words_m1;
  logic [WordW-1:0] word;
  logic [7:0] beats_q;
  logic [Bytes-1:0] strb;
  logic [1:0] err;
  burst_t collected;
  assign give = cmd_valid_i && cmd_ready;
  assign take = in_valid_i && in_ready && !over_q;
  logic commands_room, commands_wait;
  fifo #(
      .W(AddrW + LenW),
      .Depth(3)
  ) u_commands (
      .clk_i,
      .rst_i,
      .in_valid_i (give),
      .in_ready_o (commands_room),
      .in_data_i  ({cmd_addr_i, LenW'(cmd_bytes_i - LenW'(1))}),
      .out_valid_o(commands_wait),
      .out_ready_i(take && ending),
      .out_data_o ({addr, bytes_m1}),
      .level_o    (waiting)
  );
  assign words_m1 = bytes_m1[LenW-1:KeepW];
  assign word = addr[AddrW-1:KeepW] + WordW'(taken_q);
  assign cmd_end = taken_q == words_m1;
  assign ending = cmd_end || in_last_i;
  assign at_edge = of_block(word) == 8'(BurstBeats - 1);
  always_comb begin
    // Bytes of the command that the packet has.
    for (int b = 0; b < Bytes; b++)
    strb[b] = !(cmd_end && b > int'(bytes_m1[KeepW-1:0])) && !(in_last_i && b > int'(in_keep_i));
    // The packet is longer, or shorter.
    err[1] = cmd_end && (!in_last_i || in_keep_i > bytes_m1[KeepW-1:0]);
    err[0] = in_last_i && (!cmd_end || in_keep_i < bytes_m1[KeepW-1:0]);
  end
  assign collected = '{final_burst: ending, err: err, word: word - WordW'(beats_q), len: beats_q};
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      taken_q <= '0;
      beats_q <= '0;
      over_q  <= 1'b0;
    end else if (in_valid_i && in_ready) begin
      if (take) taken_q <= ending ? '0 : taken_q + CountW'(1);
      if (take) beats_q <= (ending || at_edge) ? '0 : beats_q + 8'd1;
      over_q <= (over_q || cmd_end) && !in_last_i;
    end
  end

  // -------------------------------------------------------------------------------------------------- announced bursts
  // The bursts, in the order of their words. From `written` on they are not wholly written, from `announced` on not
  // announced, from `collected` on not collected, from `answered` on not answered.
  localparam int PtrW = 3;
  typedef logic [PtrW-1:0] ptr_t;
  logic announce, beat, respond;
  burst_t bursts_q[2**PtrW];
  ptr_t collected_q, announced_q, written_q, answered_q, ready, announced, awaiting;
  burst_t next, present, answered;
  logic [7:0] beat_q;
  assign announce = mem_cmd_valid && mem_cmd_ready_i;
  assign beat = mem_data_valid && mem_data_ready_i;
  assign respond = mem_rsp_valid_i && mem_rsp_ready;
  assign next = bursts_q[announced_q];
  assign present = bursts_q[written_q];
  assign answered = bursts_q[answered_q];
  assign ready = collected_q - announced_q;
  assign announced = announced_q - written_q;
  assign awaiting = announced_q - answered_q;
  always_ff @(posedge clk_i) begin
    if (take && (ending || at_edge)) bursts_q[collected_q] <= collected;
    collected_q <= collected_q + ptr_t'(take && (ending || at_edge));
    announced_q <= announced_q + ptr_t'(announce);
    written_q   <= written_q + ptr_t'(beat && mem_data_last);
    answered_q  <= answered_q + ptr_t'(respond);
    if (beat) beat_q <= mem_data_last ? '0 : beat_q + 8'd1;
    if (rst_i) begin
      {collected_q, announced_q, written_q, answered_q} <= '0;
      beat_q <= '0;
    end
  end

  localparam int TrackW = WordW + Bytes + 1 + DataW;
  logic follow;
  logic [BufW-1:0] count, ahead;
  logic [TrackW-1:0] followed;
  stream_track #(
      .W(TrackW),
      .Capacity(BufWords)
  ) u_words (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(take),
      .in_data_i({word, strb, ending || at_edge, in_data_i}),
      .pop_i(beat),
      .out_data_i({present.word + WordW'(beat_q), mem_data_strb, mem_data_last, mem_data_data}),
      .inside_o(count),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(followed)
  );

  // -------------------------------------------------------------------------------------------------------- completion
  logic bus_q, done_follow;
  logic [1:0] done_count, done_ahead;
  logic [2:0] done_followed;
  always_ff @(posedge clk_i) begin
    if (rst_i) bus_q <= 1'b0;
    else if (respond) bus_q <= !answered.final_burst && (bus_q || mem_rsp_err_i);
  end
  stream_track #(
      .W(3),
      .Capacity(2)
  ) u_done (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(respond && answered.final_burst),
      .in_data_i({answered.err, bus_q || mem_rsp_err_i}),
      .pop_i(done_valid && done_ready_i),
      .out_data_i(done_err),
      .inside_o(done_count),
      .follow_o(done_follow),
      .ahead_o(done_ahead),
      .word_o(done_followed)
  );

  // ---------------------------------------------------------------------------------------------------------- progress
  // Cycles in a row in which something is inside, nothing moves and no other side blocks it.
  localparam int Pause = 1;
  logic some, others;
  logic [1:0] stuck_q;
  assign some   = waiting != '0 || over_q || count != '0 || ready != '0 || awaiting != '0 || done_count != '0;
  assign others = in_ready || mem_cmd_valid || mem_data_valid || mem_rsp_ready || done_valid;
  always_ff @(posedge clk_i) stuck_q <= (rst_i || !some || others || give) ? '0 : stuck_q + 2'd1;

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      words_have_a_command : assert (!in_ready || over_q || waiting != '0);
      if (mem_cmd_valid) begin
        burst_is_collected : assert (ready != '0);
        burst_as_commanded : assert (mem_cmd_addr == {next.word, KeepW'(0)} && mem_cmd_len == next.len);
        burst_is_aligned : assert (9'(of_block(next.word)) + 9'(mem_cmd_len) < 9'(BurstBeats));
      end
      data_after_command : assert (!mem_data_valid || announced != '0);
      last_beat_is_last : assert (!mem_data_valid || mem_data_last == (beat_q == present.len));
      bursts_outstanding : assert (int'(awaiting) <= Outstanding);
      response_is_awaited : assert (!mem_rsp_ready || awaiting != '0);
      goes_on : assert (int'(stuck_q) <= Pause);
      rests_when_done : assert (busy || !some);
      several_bursts : cover (respond && answered.final_burst && bus_q);
      too_long : cover (done_valid && done_err[2]);
      too_short : cover (done_valid && done_err[1] && done_err[0]);
      all_outstanding : cover (int'(awaiting) == Outstanding && int'(announced) == Outstanding);
      partial : cover (beat && mem_data_strb != '1);
    end
  end

  // --------------------------------------------------------------------------------------------------------- registers
  logic active;
  logic [1:0] cmd_level;
  assign active = dut.active_q;
  assign cmd_level = dut.u_cmd.level_q;

  logic same_commands, same_bursts, same_notes, aligned;
  burst_t of, held;
  logic [2:0] note;
  logic [AddrW+LenW-1:0] command;
  always_comb begin
    same_commands = 1'b1;
    for (int n = 0; n < 2; n++) begin
      command = u_commands.mem_q[active?n+1 : n];
      if (n < int'(cmd_level) && {command[AddrW+LenW-1:LenW+KeepW], command[LenW-1:0]} != dut.u_cmd.mem_q[n])
        same_commands = 1'b0;
    end
    same_bursts = 1'b1;
    aligned = 1'b1;
    for (int n = 0; n < 4; n++) begin
      of = bursts_q[announced_q+ptr_t'(n)];
      if (n < int'(ready)) begin
        // `short` counts in a command's last burst.
        held = dut.u_burst.mem_q[n];
        if (!of.final_burst) held.err[0] = of.err[0];
        if (of != held) same_bursts = 1'b0;
        if (9'(of_block(of.word)) + 9'(of.len) >= 9'(BurstBeats)) aligned = 1'b0;
      end
    end
    same_notes = 1'b1;
    for (int n = 0; n < Outstanding; n++) begin
      of   = bursts_q[answered_q+ptr_t'(n)];
      note = dut.u_note.mem_q[n];
      if (!of.final_burst) note[0] = of.err[0];
      if (n < int'(awaiting) && {of.final_burst, of.err} != note) same_notes = 1'b0;
    end
  end

  // The burst of each word in the buffer, and its beat.
  logic places_room, places_used;
  logic [PtrW+7:0] oldest;
  logic [$clog2(BufWords+1)-1:0] places;
  fifo #(
      .W(PtrW + 8),
      .Depth(BufWords)
  ) u_places (
      .clk_i,
      .rst_i,
      .in_valid_i (take),
      .in_ready_o (places_room),
      .in_data_i  ({collected_q, beats_q}),
      .out_valid_o(places_used),
      .out_ready_i(beat),
      .out_data_o (oldest),
      .level_o    (places)
  );
  for (genvar n = 0; n < BufWords; n++) begin : gen_word
    ptr_t of;
    logic [7:0] at;
    logic ends;
    logic [KeepW-1:0] keep;
    logic [DataW-1:0] data;
    logic [WordW-1:0] base;
    logic [PtrW+7:0] follows;
    assign {of, at} = u_places.mem_q[n];
    assign {ends, keep, data} = dut.u_buf.mem_q[n];
    assign base = of == collected_q ? word - WordW'(beats_q) : bursts_q[of].word;
    assign follows = ends ? {of + ptr_t'(1), 8'd0} : {of, at + 8'd1};
    always_ff @(posedge clk_i) begin
      if (!rst_i && n < int'(count)) begin
        burst_ends : assert (ends == (of != collected_q && at == bursts_q[of].len));
        beat_possible : assert (at < 8'(BurstBeats));
        oldest_word : assert (n != 0 || (of == written_q && at == beat_q));
        if (n + 1 < int'(count)) begin
          word_after : assert (u_places.mem_q[(n+1)%BufWords] == follows);
        end else begin
          newest_word : assert ({collected_q, beats_q} == follows);
        end
        in_place :
        assert (!follow || BufW'(n) != ahead || followed == {base + WordW'(at), Bytes'((2 << keep) - 1), ends, data});
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      commands_counted : assert (int'(waiting) == int'(cmd_level) + int'(active));
      commands_kept : assert (same_commands);
      nothing_taken : assert (active || {taken_q, beats_q} == '0);
      over : assert (over_q == dut.drain_q);
      if (active) begin
        at_word : assert (dut.word_q == word && dut.base_q == word - WordW'(beats_q) && dut.beat_q == beats_q);
        words_left : assert (dut.left_q == words_m1 - taken_q && taken_q <= words_m1);
        keep_kept : assert (dut.cmd_keep_q == bytes_m1[KeepW-1:0]);
        burst_begins : assert (beats_q <= of_block(word));
      end
      bursts_kept : assert (ready == dut.burst_level && int'(ready) <= 4 && same_bursts);
      ready_aligned : assert (aligned);
      notes_kept : assert (int'(awaiting) == int'(dut.note_level) && same_notes);
      announced_counted : assert (int'(announced) == int'(dut.announced_q));
      written_counted : assert (int'(awaiting) == int'(announced) + int'(u_memory.written_q));
      none_forgotten : assert (int'(ready) + int'(awaiting) < 2 ** PtrW);
      empty : assert (count != '0 || {written_q, beat_q, 8'd0} == {collected_q, 8'd0, beats_q});
      words_counted : assert (count == BufW'(places) && count == BufW'(dut.buf_level));
      done_kept :
      assert (done_count == dut.done_level && (!done_follow || dut.u_done.mem_q[done_ahead[0]] == done_followed));
      started : assert (stuck_q == '0 || active);
      bus_kept : assert (bus_q == dut.bus_q);
`ifdef TSUNAGI_ASSERT
      // The engine's own checker.
      assert (dut.u_memory.written_q == u_memory.written_q);
`endif
    end
  end
endmodule
