// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, inside ap1000p_receive: writes data to memory, and counts the flag when they are there.
//
// Job        valid/ready: for whom, where, with which stride, how many words (>= 1); then its words (`data_*_i`), the
//            last one marked; `data_short_i` says that it is not the last of the job. The next job is taken when all
//            words of the present one have an address. With `job_ring_i` the address is in a ring buffer of cell
//            memory, which lies at a multiple of its size (`job_size_i`: 128 KB, 512 KB, 2 MB, 8 MB); behind its end
//            comes its beginning. Such a job shares no message with another: `over_o` pulses when it is done, `whole_o`
//            says that all went well.
// Note       of each message, in order: its result, whether it was a job, whether and which flag counts.
// Flag       a request to the word unit (INC) when all words of the message and of those before are in memory, if all
//            went well. Address 0: none.
// Reported   `reported_valid_o`, a pulse: a message was not executed as it says. With it the reason (regs.toml,
//            "BROKEN"), sender and kind.
// Fault      of ap1000p_address_runs, with for whom and where. When it is given up, the rest of the message is thrown
//            away.
// Memory     of dma_write.
// Latency    3 cycles and the lookup from job to the first word in the write engine; 1 word per cycle, a run of them
//            per 2 cycles; 4 from the last response to the flag.
// Full       16 words wait for their address, 4 notes for their turn.
// idle_o     everything noted is done, flags included, and no job is inside.
// Reset      drops everything; MMU, memory and word unit must forget their requests, too.
// Source     flag after the last word: paper 2.2.4. Otherwise own guess.
module ap1000p_store (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,
    output logic idle_o,
    input  logic forget_i,

    input logic job_valid_i,
    output logic job_ready_o,
    input logic [11:0] job_context_i,
    input logic job_system_i,
    input logic [31:0] job_addr_i,
    input logic [31:0] job_stride_i,
    input logic [19:0] job_words_i,
    input logic job_ring_i,
    input logic [1:0] job_size_i,
    input logic data_valid_i,
    output logic data_ready_o,
    input logic data_end_i,
    input logic data_short_i,
    input logic [31:0] data_i,

    input logic note_valid_i,
    output logic note_ready_o,
    input logic [3:0] note_reason_i,
    input logic note_job_i,
    input logic note_flag_i,
    input logic [31:0] note_addr_i,
    input logic [11:0] note_context_i,
    input logic [15:0] note_kind_i,
    input logic [7:0] note_x_i,
    input logic [7:0] note_y_i,

    output logic mmu_req_valid_o,
    input logic mmu_req_ready_i,
    output logic [11:0] mmu_req_context_o,
    output logic [31:0] mmu_req_addr_o,
    output logic mmu_req_write_o,
    output logic mmu_req_system_o,
    input logic mmu_rsp_valid_i,
    output logic mmu_rsp_ready_o,
    input logic [31:0] mmu_rsp_addr_i,
    input logic [2:0] mmu_rsp_fault_i,
    output logic fault_valid_o,
    output logic [2:0] fault_reason_o,
    input logic retry_i,
    input logic abort_i,

    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [31:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    output logic mem_data_valid_o,
    input logic mem_data_ready_i,
    output logic [31:0] mem_data_data_o,
    output logic [3:0] mem_data_strb_o,
    output logic mem_data_last_o,
    input logic mem_rsp_valid_i,
    output logic mem_rsp_ready_o,
    input logic mem_rsp_err_i,

    output logic flag_valid_o,
    input logic flag_ready_i,
    output logic [11:0] flag_context_o,
    output logic flag_system_o,
    output logic [31:0] flag_addr_o,
    input logic flag_done_i,

    output logic over_o,
    output logic whole_o,

    output logic reported_valid_o,
    output logic [3:0] reported_reason_o,
    output logic [15:0] reported_kind_o,
    output logic [7:0] reported_x_o,
    output logic [7:0] reported_y_o
);
  localparam logic [3:0] None = 4'(ap1000p_pkg::BrokenNone);

  // --------------------------------------------------------------------------------------------------------- addresses
  logic run_valid, run_ready, run_last, address_runs_busy, none_q;
  logic [31:0] run_addr;
  logic [10:0] run_words;

  ap1000p_address_runs #(
      .Write(1'b1)
  ) u_address_runs (
      .clk_i,
      .rst_i,
      .busy_o(address_runs_busy),
      .job_valid_i,
      .job_ready_o,
      .job_context_i,
      .job_system_i,
      .job_physical_i(job_ring_i),
      .job_addr_i,
      .job_stride_i,
      .job_words_i,
      .forget_i,
      .stop_i(none_q && !fault_valid_o),  // a fault that is shown waits for software
      .req_valid_o(mmu_req_valid_o),
      .req_ready_i(mmu_req_ready_i),
      .req_context_o(mmu_req_context_o),
      .req_addr_o(mmu_req_addr_o),
      .req_write_o(mmu_req_write_o),
      .req_system_o(mmu_req_system_o),
      .rsp_valid_i(mmu_rsp_valid_i),
      .rsp_ready_o(mmu_rsp_ready_o),
      .rsp_addr_i(mmu_rsp_addr_i),
      .rsp_fault_i(mmu_rsp_fault_i),
      .run_valid_o(run_valid),
      .run_ready_i(run_ready),
      .run_addr_o(run_addr),
      .run_words_o(run_words),
      .run_last_o(run_last),
      .fault_valid_o,
      .fault_reason_o,
      .retry_i,
      .abort_i
  );

  // Words of the job that came, beyond those with an address. A run is taken when its first word is there, so none
  // begins without a word. (Words that are thrown away are counted, too, but then the count is not used.)
  logic [11:0] beyond_q;
  logic some, none, known, short_q, given_up, issue, drop, over, fits, data_take;
  assign data_take = data_valid_i && data_ready_o;
  assign some = !beyond_q[11] && beyond_q != '0;
  assign none = short_q && !some;  // no more will come
  assign given_up = run_words == '0;
  assign issue = run_valid && fits && some && !given_up;
  assign drop = run_valid && fits && none && !given_up;
  // Whether a message ends before its given-up run is known when all words of the runs before have come, or its end.
  assign known = !beyond_q[11] || short_q;
  assign over = run_valid && fits && given_up && known;
  assign run_ready = fits && (given_up ? known : some || none);

  // In a ring, the address bits above its size stay.
  logic ring_q;
  logic [1:0] size_q;
  logic [31:17] base_q;
  logic [31:0] write_addr;
  always_ff @(posedge clk_i) if (job_ready_o) {ring_q, size_q, base_q} <= {job_ring_i, job_size_i, job_addr_i[31:17]};
  always_comb begin
    write_addr = run_addr;
    if (ring_q) begin
      if (size_q == 2'd0) write_addr[18:17] = base_q[18:17];
      if (!size_q[1]) write_addr[20:19] = base_q[20:19];
      if (size_q != 2'd3) write_addr[22:21] = base_q[22:21];
      write_addr[31:23] = base_q[31:23];
    end
  end

  always_ff @(posedge clk_i) begin
    // With no job inside, as after a reset, all is set for the next one, which comes before its words.
    beyond_q <= (job_ready_o ? 12'd0 : beyond_q) + 12'(data_take) - (issue ? 12'(run_words) : 12'd0);
    short_q  <= (short_q && !job_ready_o) || (data_take && data_short_i);
    none_q   <= none && !job_ready_o;
  end

  // --------------------------------------------------------------------------------------------------- words to memory
  logic word_valid, word_pop, word_end;
  logic [31:0] word;
  logic [ 4:0] word_level;
  fifo #(
      .W(33),
      .Depth(16)
  ) u_data (
      .clk_i,
      .rst_i,
      .in_valid_i (data_valid_i),
      .in_ready_o (data_ready_o),
      .in_data_i  ({data_end_i, data_i}),
      .out_valid_o(word_valid),
      .out_ready_i(word_pop),
      .out_data_o ({word_end, word}),
      .level_o    (word_level)
  );

  // Per run: words, minus 1; or throw away all words up to the message's end.
  logic part_put, part_ready, part_valid, part_away, part_load;
  logic [9:0] part_words;
  logic [2:0] part_level;
  logic cmd_ready, run_note_ready;
  assign fits = cmd_ready && part_ready && run_note_ready;
  // The message has not ended yet, or has words without an address.
  assign part_put = issue || (over && (some || !short_q));
  fifo #(
      .W(11),
      .Depth(4)
  ) u_parts (
      .clk_i,
      .rst_i,
      .in_valid_i (part_put),
      .in_ready_o (part_ready),
      .in_data_i  ({given_up, run_words[9:0] - 10'd1}),
      .out_valid_o(part_valid),
      .out_ready_i(part_load),
      .out_data_o ({part_away, part_words}),
      .level_o    (part_level)
  );

  logic active_q, away_q, part_end, write_ready;
  logic [9:0] left_q;  // words of the part, minus 1
  assign word_pop  = active_q && (away_q || write_ready);
  assign part_end  = word_end || (left_q == '0 && !away_q);
  assign part_load = !active_q || (word_valid && word_pop && part_end);
  always_ff @(posedge clk_i) begin
    if (part_load) {away_q, left_q} <= {part_away, part_words};
    else if (word_valid && word_pop) left_q <= left_q - 10'd1;
    if (rst_i) active_q <= 1'b0;
    else if (part_load) active_q <= part_valid;
  end

  logic written_valid, done_valid, done_ready, done_bus, write_busy, unused_done_ready;
  logic [2:0] written_err;
  logic [4:0] done_level;
  dma_write #(
      .AddrW(32),
      .DataW(32),
      .LenW (13)
  ) u_write (
      .clk_i,
      .rst_i,
      .busy_o(write_busy),
      .cmd_valid_i(issue),
      .cmd_ready_o(cmd_ready),
      .cmd_addr_i(write_addr),
      .cmd_bytes_i({run_words, 2'b00}),
      .in_valid_i(word_valid && active_q && !away_q),
      .in_ready_o(write_ready),
      .in_data_i(word),
      .in_keep_i('1),
      .in_last_i(part_end),
      .mem_cmd_valid_o,
      .mem_cmd_ready_i,
      .mem_cmd_addr_o,
      .mem_cmd_len_o,
      .mem_data_valid_o,
      .mem_data_ready_i,
      .mem_data_data_o,
      .mem_data_strb_o,
      .mem_data_last_o,
      .mem_rsp_valid_i,
      .mem_rsp_ready_o,
      .mem_rsp_err_i,
      .done_valid_o(written_valid),
      .done_ready_i(1'b1),
      .done_err_o(written_err)
  );
  // With room for all runs that are noted, so the shared memory never waits for a flag.
  fifo #(
      .W(1),
      .Depth(16)
  ) u_done (
      .clk_i,
      .rst_i,
      .in_valid_i (written_valid),
      .in_ready_o (unused_done_ready),
      .in_data_i  (written_err[0]),
      .out_valid_o(done_valid),
      .out_ready_i(done_ready),
      .out_data_o (done_bus),
      .level_o    (done_level)
  );

  // -------------------------------------------------------------------------------------------------------- completion
  // Per run: it has a response to wait for, its job ends, it was given up.
  logic ran_valid, ran_pop, ran_waits, ran_ends, ran_given_up;
  logic [4:0] ran_level;
  fifo #(
      .W(3),
      .Depth(16)
  ) u_ran (
      .clk_i,
      .rst_i,
      .in_valid_i (issue || over || (drop && run_last)),
      .in_ready_o (run_note_ready),
      .in_data_i  ({issue, run_last, over}),
      .out_valid_o(ran_valid),
      .out_ready_i(ran_pop),
      .out_data_o ({ran_waits, ran_ends, ran_given_up}),
      .level_o    (ran_level)
  );

  logic note_valid, note_pop, note_job, note_flag, note_counts;
  assign note_counts = note_flag_i && note_addr_i != '0;
  logic [3:0] note_reason;
  logic [2:0] note_level;
  fifo #(
      .W(4 + 1 + 1 + 32 + 12 + 16 + 8 + 8),
      .Depth(4)
  ) u_notes (
      .clk_i,
      .rst_i,
      .in_valid_i(note_valid_i),
      .in_ready_o(note_ready_o),
      .in_data_i({
        note_reason_i, note_job_i, note_counts, note_addr_i, note_context_i, note_kind_i, note_y_i, note_x_i
      }),
      .out_valid_o(note_valid),
      .out_ready_i(note_pop),
      .out_data_o({
        note_reason, note_job, note_flag, flag_addr_o, flag_context_o, reported_kind_o, reported_y_o, reported_x_o
      }),
      .level_o(note_level)
  );

  // When the runs of the oldest message are done, and it has been noted, it is reported, or its flag counts.
  typedef enum logic [1:0] {
    Gather,
    Judge,
    Count
  } state_e;
  state_e state_q;
  logic done, bus_q, given_up_q, flag_open_q, counts;
  assign done = ran_valid && (!ran_waits || done_valid);
  assign ran_pop = state_q == Gather && done && (ran_ends ? note_valid && note_job : !note_valid || note_job);
  assign done_ready = ran_pop && ran_waits;
  assign reported_reason_o = (note_reason != None) ? note_reason : given_up_q ? 4'(ap1000p_pkg::BrokenGivenUp) :
                         bus_q ? 4'(ap1000p_pkg::BrokenBus) : None;
  assign reported_valid_o = state_q == Judge && reported_reason_o != None;
  assign over_o = state_q == Judge && note_job && reported_kind_o[ap1000p_pkg::PageSendLsb];
  assign whole_o = reported_reason_o == None;
  assign counts = note_flag && reported_reason_o == None;
  assign note_pop = (state_q == Judge && !counts) || (state_q == Count && flag_ready_i);

  always_ff @(posedge clk_i) begin
    // A run that writes nothing is of a message with another reason, which goes first.
    if (ran_pop) {bus_q, given_up_q} <= {bus_q || done_bus, given_up_q || ran_given_up};
    if (rst_i || note_pop) {bus_q, given_up_q} <= '0;
    if (rst_i) begin
      state_q <= Gather;
      flag_open_q <= 1'b0;
      idle_o <= 1'b0;
    end else begin
      flag_open_q <= (flag_valid_o && flag_ready_i) || (flag_open_q && !flag_done_i);
      idle_o <= state_q == Gather && !note_valid && !ran_valid && job_ready_o && !flag_open_q;
      case (state_q)
        Gather:  if (note_valid && (!note_job || (ran_pop && ran_ends))) state_q <= Judge;
        Judge:   state_q <= counts ? Count : Gather;
        default: if (flag_ready_i) state_q <= Gather;
      endcase
    end
  end
  assign flag_valid_o = state_q == Count;
  assign flag_system_o = reported_kind_o[ap1000p_pkg::PageSystemLsb];
  assign busy_o = state_q != Gather || note_valid || ran_valid || flag_open_q || address_runs_busy || write_busy ||
                  word_level != '0 || part_level != '0 || active_q;

  logic [15:0] unused;
  assign unused = {ran_level, note_level, written_err[2:1], done_level, unused_done_ready};

`ifdef TSUNAGI_ASSERT
  // A flag counts when all runs up to its message's last one are in memory (paper 2.2.4). `ahead_q`: runs in memory,
  // less those that have been taken from the list.
  logic signed [5:0] ahead_q;
  always_ff @(posedge clk_i) begin
    ahead_q <= rst_i ? '0 : ahead_q + 6'(written_valid) - 6'(ran_pop && ran_waits);
    if (!rst_i) assert (!flag_valid_o || ahead_q >= 0);
  end
`endif
endmodule
