// SPDX-License-Identifier: MIT OR Apache-2.0
// `dma_read` requests exactly the bursts of its commands, in order, and passes their data on in order with the right
// marks.
//
// - No burst reaches beyond a command or an alignment. No more are outstanding than allowed, and all have room.
// - After a bus error it drops the rest of that command.
// - Offers hold.
// - It never deadlocks: with something inside and no other side to wait for, something moves within
//   BurstBeats * Outstanding + 2 cycles.
// - `busy_o` is low only at rest.
//
// Assumed of the memory: data only for requested bursts, and `last` on a burst's last beat.
module prove_dma_read #(
    parameter  int AddrW       = 9,
    parameter  int DataW       = 16,
    parameter  int LenW        = 4,
    parameter  int BurstBeats  = 2,
    parameter  int Outstanding = 2,
    parameter  bit Early       = 1'b0,
    localparam int KeepW       = $clog2(DataW / 8)
) (
    input logic clk_i,
    input logic rst_i,
    input logic cmd_valid_i,
    input logic [AddrW-1:0] cmd_addr_i,
    input logic [LenW-1:0] cmd_bytes_i,
    input logic mem_cmd_ready_i,
    input logic mem_data_valid_i,
    input logic [DataW-1:0] mem_data_data_i,
    input logic mem_data_last_i,
    input logic mem_data_err_i,
    input logic out_ready_i,
    input logic mark_i
);
  localparam int WordW = AddrW - KeepW;
  localparam int BufWords = BurstBeats * Outstanding;
  localparam int PtrW = $clog2(Outstanding + 1);

  logic busy, cmd_ready, next, mem_cmd_valid, mem_data_ready, out_valid, out_last, out_err;
  logic [AddrW-1:0] mem_cmd_addr;
  logic [7:0] mem_cmd_len;
  logic [DataW-1:0] out_data;
  logic [KeepW-1:0] out_keep;

  dma_read #(
      .AddrW(AddrW),
      .DataW(DataW),
      .LenW(LenW),
      .BurstBeats(BurstBeats),
      .Outstanding(Outstanding),
      .Early(Early)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .cmd_valid_i,
      .cmd_ready_o(cmd_ready),
      .next_o(next),
      .cmd_addr_i,
      .cmd_bytes_i,
      .mem_cmd_valid_o(mem_cmd_valid),
      .mem_cmd_ready_i,
      .mem_cmd_addr_o(mem_cmd_addr),
      .mem_cmd_len_o(mem_cmd_len),
      .mem_data_valid_i,
      .mem_data_ready_o(mem_data_ready),
      .mem_data_data_i,
      .mem_data_last_i,
      .mem_data_err_i,
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o(out_data),
      .out_keep_o(out_keep),
      .out_last_o(out_last),
      .out_err_o(out_err)
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
  ) u_mmu_mux (
      .clk_i,
      .rst_i,
      .valid_i(mem_cmd_valid),
      .ready_i(mem_cmd_ready_i),
      .data_i ({mem_cmd_addr, mem_cmd_len})
  );
  stream_rules #(
      .W(DataW + KeepW + 2)
  ) u_sink (
      .clk_i,
      .rst_i,
      .valid_i(out_valid),
      .ready_i(out_ready_i),
      .data_i ({out_data, out_keep, out_last, out_err})
  );

  // ------------------------------------------------------------------------------------------------------------ bursts
  // Commands with bursts to request, and the number of requested words of the oldest.
  logic take, ask, ask_end;
  logic [2:0] waiting;
  logic [AddrW-1:0] addr;
  logic [LenW-1:0] bytes_m1;
  logic [LenW-KeepW-1:0] requested_q, words_m1;
  logic [WordW-1:0] word;
  logic [7:0] to_edge;
  logic [LenW-KeepW-1:0] left_m1;
  assign take = cmd_valid_i && cmd_ready;
  assign ask  = mem_cmd_valid && mem_cmd_ready_i;
  queue #(
      .W(AddrW + LenW),
      .Depth(4)
  ) u_commands (
      .clk_i,
      .rst_i,
      .push_i(take),
      .data_i({cmd_addr_i, LenW'(cmd_bytes_i - LenW'(1))}),
      .pop_i(ask && ask_end),
      .count_o(waiting),
      .oldest_o({addr, bytes_m1})
  );
  assign words_m1 = bytes_m1[LenW-1:KeepW];
  assign word = addr[AddrW-1:KeepW] + WordW'(requested_q);
  assign to_edge = 8'(BurstBeats - 1) & ~8'(word);
  assign left_m1 = words_m1 - requested_q;
  assign ask_end = 32'(left_m1) <= 32'(to_edge);
  always_ff @(posedge clk_i) begin
    if (rst_i || (ask && ask_end)) requested_q <= '0;
    else if (ask) requested_q <= requested_q + (LenW - KeepW)'(mem_cmd_len) + (LenW - KeepW)'(1);
  end

  // -------------------------------------------------------------------------------------------------------------- data
  mem_read_rules #(
      .Outstanding(Outstanding),
      .Assume(1'b1)
  ) u_memory (
      .clk_i,
      .rst_i,
      .cmd_valid_i (mem_cmd_valid),
      .cmd_ready_i (mem_cmd_ready_i),
      .cmd_len_i   (mem_cmd_len),
      .data_valid_i(mem_data_valid_i),
      .data_ready_i(mem_data_ready),
      .data_last_i (mem_data_last_i)
  );
  // Bursts that await data, and whether the command of the oldest has had an error.
  logic beat, final_burst, erred_q, erred;
  logic [KeepW-1:0] keep, word_keep;
  logic [PtrW:0] due;
  assign beat = mem_data_valid_i && mem_data_ready;
  queue #(
      .W(1 + KeepW),
      .Depth(2 ** PtrW)
  ) u_bursts (
      .clk_i,
      .rst_i,
      .push_i(ask),
      .data_i({ask_end, bytes_m1[KeepW-1:0]}),
      .pop_i(beat && mem_data_last_i),
      .count_o(due),
      .oldest_o({final_burst, keep})
  );
  assign word_keep = (final_burst && mem_data_last_i) ? keep : '1;
  assign erred = erred_q || mem_data_err_i;
  always_ff @(posedge clk_i) begin
    if (rst_i) erred_q <= 1'b0;
    else if (beat) erred_q <= erred && !(final_burst && mem_data_last_i);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      command_not_empty : assume (!cmd_valid_i || cmd_bytes_i != '0);
    end
  end

  localparam int CountW = $clog2(BufWords + 2);
  logic follow;
  logic [CountW-1:0] count, ahead;
  logic [DataW+KeepW+1:0] followed;
  stream_track #(
      .W(DataW + KeepW + 2),
      .Capacity(BufWords)
  ) u_track (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(beat && !erred_q),
      .in_data_i({mem_data_data_i, word_keep, (final_burst && mem_data_last_i) || mem_data_err_i, mem_data_err_i}),
      .pop_i(out_valid && out_ready_i),
      .out_data_i({out_data, out_keep, out_last, out_err}),
      .inside_o(count),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(followed)
  );

  // ---------------------------------------------------------------------------------------------------------- progress
  // Cycles in a row in which something is inside, nothing moves and no other side blocks it.
  localparam int Pause = BufWords + 2;  // words after an error are dropped one a cycle
  logic some, others;
  logic [$clog2(Pause+2)-1:0] stuck_q;
  assign some   = waiting != '0 || due != '0 || count != '0;
  assign others = mem_cmd_valid || due != '0 || out_valid;
  always_ff @(posedge clk_i) stuck_q <= (rst_i || !some || others || take) ? '0 : stuck_q + ($clog2(Pause + 2))'(1);

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (mem_cmd_valid) begin
        burst_of_a_command : assert (waiting != '0);
        burst_begins : assert (mem_cmd_addr == {word, KeepW'(0)});
        burst_ends : assert (mem_cmd_len == (ask_end ? 8'(left_m1) : to_edge));
        within_the_command : assert (32'(mem_cmd_len) + 32'(requested_q) <= 32'(words_m1));
      end
      bursts_outstanding : assert (int'(due) <= Outstanding);
      never_holds_the_bus : assert (due == '0 || mem_data_ready);
      goes_on : assert (int'(stuck_q) <= Pause);
      rests_when_done : assert (busy || !some);
      next_when_all_is_requested : assert (next || waiting != '0);
      cut_thrice : cover (ask && ask_end && int'(requested_q) > BurstBeats);
      error_within : cover (beat && erred_q && final_burst && mem_data_last_i);
      all_outstanding : cover (int'(due) == Outstanding);
    end
  end

  // --------------------------------------------------------------------------------------------------------- registers
  logic active, drain, apart, last_requested;
  logic [1:0] cmd_level;
  logic [2:0] present;  // the position among the waiting ones of the command being cut
  logic [LenW-KeepW-1:0] issued;  // words of it
  assign active = dut.active_q;
  assign drain = dut.drain_q;
  assign apart = !Early && mem_cmd_valid;  // a burst on offer, apart from the command being cut
  assign last_requested = apart && ask_end;
  assign present = 3'(last_requested);
  always_comb begin
    issued = last_requested ? '0 : requested_q;
    if (apart && !ask_end) issued = requested_q + (LenW - KeepW)'(mem_cmd_len) + (LenW - KeepW)'(1);
  end

  logic [1:0][WordW+LenW-1:0] waits;  // commands that are not being cut
  if (Early) begin : gen_early
    assign cmd_level = 2'(!dut.u_cmd.gen_early.ready_q);
    assign waits = {(WordW + LenW)'(0), dut.u_cmd.gen_early.spare_q};
  end else begin : gen_fifo
    assign cmd_level = dut.u_cmd.gen_fifo.u_fifo.level_q;
    assign waits = dut.u_cmd.gen_fifo.u_fifo.mem_q;
  end

  // The n-th command that waits, the n-th burst that awaits data, the n-th word and note of the engine.
  function automatic logic [AddrW+LenW-1:0] command(input logic [2:0] n);
    command = u_commands.mem_q[2'(u_commands.rd_q+n)];
  endfunction
  function automatic logic [KeepW:0] burst(input int n);
    burst = u_bursts.mem_q[PtrW'(u_bursts.rd_q+n)];
  endfunction
  function automatic logic [7:0] len(input int n);
    len = u_memory.len_q[PtrW'(u_memory.read_q+n)];
  endfunction
  function automatic logic [DataW+KeepW+1:0] stored(input int n);
    stored = dut.u_buf.mem_q[n];
  endfunction
  function automatic logic [KeepW:0] note(input int n);
    note = dut.u_note.mem_q[n];
  endfunction

  logic same_commands, same_bursts;
  int reserved;  // words requested and not in
  always_comb begin
    same_commands = 1'b1;
    for (int n = 0; n < 2; n++) begin
      if (n < int'(cmd_level) && {command(
              present + 3'(active) + 3'(n)
          ) [AddrW+LenW-1:LenW+KeepW], command(
              present + 3'(active) + 3'(n)
          ) [LenW-1:0]} != waits[n])
        same_commands = 1'b0;
    end
    same_bursts = 1'b1;
    reserved = apart ? int'(mem_cmd_len) + 1 : 0;
    for (int n = 0; n < Outstanding; n++) begin
      if (n < int'(due)) begin
        reserved = reserved + int'(len(n)) + 1;
        if (burst(n) != note(n)) same_bursts = 1'b0;
      end
    end
    reserved = reserved - int'(u_memory.beat_q);
    if (apart && note(int'(due)) != {ask_end, bytes_m1[KeepW-1:0]}) same_bursts = 1'b0;
  end

  // Words of the buffer that are shown, and whether the followed one is in its place. At the end: whether the last
  // incoming command has had an error.
  logic dropped, in_place;
  logic [CountW-1:0] shown;
  logic [ DataW-1:0] data_n;
  logic [ KeepW-1:0] keep_n;
  logic err_n, end_n;
  always_comb begin
    dropped = drain;
    in_place = 1'b1;
    shown = '0;
    {err_n, end_n, keep_n, data_n} = '0;
    for (int n = 0; n < BufWords; n++) begin
      if (n < int'(dut.buf_level)) begin
        {err_n, end_n, keep_n, data_n} = stored(n);
        if (!dropped) begin
          if (shown == ahead && {data_n, keep_n, end_n || err_n, err_n} != followed) in_place = 1'b0;
          shown = shown + CountW'(1);
        end
        dropped = !end_n && (err_n || dropped);
      end
    end
  end

  logic [AddrW+LenW-1:0] cut;
  int to_go;
  logic [7:0] edge_ahead;  // words, minus 1
  logic last_burst;
  assign edge_ahead = 8'(BurstBeats - 1) & ~8'(dut.word_q);
  assign last_burst = 32'(dut.left_q) <= 32'(edge_ahead);
  assign cut = command(present);
  assign to_go = (drain ? int'(dut.buf_level) : 0) + (waiting == '0 ? 0 : active ? 1 : 2);
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      commands_counted : assert (waiting == 3'(cmd_level) + 3'(active) + present);
      commands_kept : assert (same_commands);
      nothing_requested : assert (waiting != '0 || requested_q == '0);
      requested_of_it : assert (waiting == '0 || requested_q <= words_m1);
      goes_on_with_it : assert (active || issued == '0);
      if (active) begin
        at_word : assert (dut.word_q == cut[AddrW+LenW-1:LenW+KeepW] + WordW'(issued));
        words_left : assert (dut.left_q == cut[LenW-1:KeepW] - issued && issued <= cut[LenW-1:KeepW]);
        burst_known : assert (dut.final_q == last_burst && dut.len_q == (last_burst ? 8'(dut.left_q) : edge_ahead));
        keep_kept : assert (dut.keep_q == cut[KeepW-1:0]);
      end
      bursts_counted : assert (int'(dut.note_level) == int'(due) + int'(apart));
      bursts_possible : assert (int'(dut.note_level) <= Outstanding);
      bursts_kept : assert (same_bursts);
      beats_of_it : assert (due == '0 ? u_memory.beat_q == '0 : u_memory.beat_q <= len(0));
      bursts_due : assert (PtrW'(u_memory.issued_q - u_memory.read_q) == PtrW'(due));
      room_counted : assert (int'(dut.room_q) + int'(dut.buf_level) + reserved == BufWords);
      words_in_place : assert (shown == count && dropped == erred_q && (!follow || in_place));
      comes_nearer : assert (others || int'(stuck_q) + to_go <= Pause);
`ifdef TSUNAGI_ASSERT
      // The engine's own checker.
      assert ({dut.u_memory.len_q, dut.u_memory.issued_q, dut.u_memory.read_q, dut.u_memory.beat_q} ==
              {u_memory.len_q, u_memory.issued_q, u_memory.read_q, u_memory.beat_q});
`endif
    end
  end
endmodule
