// CP-PACS NIA, sender of the data channel: transfers and answers become worms.
//
// Transfers  descriptors of `cppacs_desc_pkg`, from fetch (`desc`) and from the answers (`answer`), a word a cycle. The
//            two alternate, transfer by transfer. One waits while another is sent, and its memory is read ahead.
// Worms      of 65,536 bytes, the last one shorter; with MASK of 992. A strided transfer is cut anywhere at 8 bytes.
// Memory     `read` are commands to cppacs_load, `data` its packets, one a run of the source. At most 16 are under way.
// Broken     a run outside the area, or a memory error: the worm is filled with zeros to its length, its sum is
//            complemented, and no further worm of the transfer is sent. All its commands are still read.
// Flag       client 4 of the words unit, with the transfer's end or refusal.
// Latency    3 cycles from the descriptor's last word to F0 at `out`. One word a cycle; 2 idle cycles between worms of
//            a transfer, 4 between transfers that wait.
// Full       `desc_ready_o` is low while two transfers are inside, and until the second one's reading has begun.
// busy_o     low when nothing is inside.
// Source     worms: paper, section 3; strides: the family's library, as is public; formats and giving up are ours.
module cppacs_send (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic desc_valid_i,
    output logic desc_ready_o,
    input logic [3:0] desc_index_i,
    input logic [31:0] desc_data_i,
    input logic answer_valid_i,
    output logic answer_ready_o,
    input logic [3:0] answer_index_i,
    input logic [31:0] answer_data_i,

    output logic read_valid_o,
    input logic read_ready_i,
    output logic [31:0] read_addr_o,
    output logic [20:0] read_bytes_o,
    input logic data_valid_i,
    output logic data_ready_o,
    input logic [31:0] data_data_i,
    input logic data_last_i,
    input logic data_err_i,

    output logic job_valid_o,
    input logic job_ready_i,
    output logic [31:0] job_addr_o,
    output logic [31:0] job_data_o,
    input logic job_take_i,
    input logic job_done_i,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic [31:0] out_data_o,
    output logic out_last_o,

    output logic sending_o,  // a transfer or an answer is under way
    output logic sent_o,  // pulse: a worm is out
    output logic words_o,  // pulse: a word of payload is out
    output logic answered_o,  // pulse: an answer is out
    output logic refused_o,  // pulse: the transfer was refused, or was given up
    output logic [2:0] refused_process_o,
    output logic [15:0] refused_tcw_o,
    output logic [3:0] refused_reason_o
);
  localparam int UnitsWorm = cppacs_pkg::SizeWorm / 8;
  localparam int UnitsBroadcast = cppacs_pkg::SizeBroadcast / 8;

  // ------------------------------------------------------------------------------------------------------- descriptors
  // Words of both streams go to a bank of the memory, and those for the reading side also to registers.
  logic answers_q, inside_q, room, here, there, take, free, wait_q, bank_q;
  logic [ 1:0] banks_q;  // in use
  logic [ 3:0] index;
  logic [31:0] word;
  logic begins, starts;
  assign room = !banks_q[1] && !wait_q;
  assign desc_ready_o = !answers_q && room;
  assign answer_ready_o = answers_q && room;
  assign {there, here} = answers_q ? {desc_valid_i, answer_valid_i} : {answer_valid_i, desc_valid_i};
  assign take = room && here;
  assign index = answers_q ? answer_index_i : desc_index_i;
  assign word = answers_q ? answer_data_i : desc_data_i;
  assign begins = take && index == cppacs_desc_pkg::F0;
  assign starts = begins && !word[cppacs_desc_pkg::F0ImmediateLsb] &&
      word[cppacs_desc_pkg::F0ReasonLsb+:cppacs_desc_pkg::F0ReasonW] == '0;

  logic strided_in_q, job_ready;
  logic [31:0] base_in_q, size_in_q, step_in_q;
  logic [20:0] bytes_in_q;
  logic [18:0] element_in_q;
  always_ff @(posedge clk_i) begin
    if (take) begin
      if (index == cppacs_desc_pkg::F0) strided_in_q <= word[cppacs_pkg::MsgF0StridedLsb];
      if (index == cppacs_desc_pkg::Length) bytes_in_q <= word[20:0];
      if (index == cppacs_desc_pkg::Element) element_in_q <= word[18:0];
      if (index == cppacs_desc_pkg::Base) base_in_q <= word;
      if (index == cppacs_desc_pkg::Size) size_in_q <= word;
      if (index == cppacs_desc_pkg::SourceStep) step_in_q <= word;
    end
    if (rst_i) begin
      {answers_q, inside_q, wait_q, bank_q, banks_q} <= '0;
    end else begin
      if (take) inside_q <= index != cppacs_desc_pkg::F0;
      // The other stream has the next turn if it has a word.
      if ((begins || (!inside_q && !here)) && there) answers_q <= !answers_q;
      if (begins) bank_q <= !bank_q;
      wait_q <= starts || (wait_q && !job_ready);
      if (begins != free) banks_q <= begins ? {banks_q[0], 1'b1} : {1'b0, banks_q[1]};
    end
  end

  logic job_busy_q, job_valid_q;  // a send flag is written
  logic [8:0] result_q;

  // ----------------------------------------------------------------------------------------------------------- reading
  // A note for each packet: it is the transfer's last one; there is none, for its run is outside.
  logic runs_busy, run_valid, run_last, run_bad, note_ready, note_valid, note_last, note_bad, pop;
  logic [4:0] note_level;
  cppacs_runs #(
      .Whole(1'b1)
  ) u_runs (
      .clk_i,
      .rst_i,
      .busy_o       (runs_busy),
      .job_valid_i  (wait_q),
      .job_ready_o  (job_ready),
      .job_base_i   (base_in_q),
      .job_offset_i (32'd0),
      .job_limit_i  (size_in_q),
      .job_bytes_i  (bytes_in_q),
      .job_strided_i(strided_in_q),
      .job_element_i(element_in_q),
      .job_left_i   (element_in_q),
      .job_step_i   (step_in_q),
      .stop_i       (1'b0),
      .run_valid_o  (run_valid),
      .run_ready_i  (note_ready && (run_bad || read_ready_i)),
      .run_addr_o   (read_addr_o),
      .run_bytes_o  (read_bytes_o),
      .run_last_o   (run_last),
      .run_bad_o    (run_bad)
  );
  assign read_valid_o = run_valid && !run_bad && note_ready;
  fifo #(
      .W(2),
      .Depth(16)
  ) u_notes (
      .clk_i,
      .rst_i,
      .in_valid_i (run_valid && (run_bad || read_ready_i)),
      .in_ready_o (note_ready),
      .in_data_i  ({run_last, run_bad}),
      .out_valid_o(note_valid),
      .out_ready_i(pop),
      .out_data_o ({note_last, note_bad}),
      .level_o    (note_level)
  );

  // ------------------------------------------------------------------------------------------------------------- worms
  // States are named after the word that the memory gives: in Fx the word x of the header leaves.
  typedef enum logic [3:0] {
    Idle,
    HaveLength,
    HaveF0,
    HaveF1,
    HaveF2,
    HaveOffset,
    HaveElement,
    HaveStep,
    HaveStep2,
    Data,
    Sum,
    HaveFlag,
    HaveWhat
  } state_e;
  state_e state_q, state_d;
  (* ram_style = "block", no_rw_check *)logic [31:0] mem_q [32];  // no word is read in the cycle of its write
  logic [31:0] ram_q;
  logic [ 3:0] at;
  logic out_bank_q, read;
  assign free = state_q == HaveWhat;
  always_ff @(posedge clk_i) begin
    if (take) mem_q[{bank_q, index}] <= word;
    if (read) ram_q <= mem_q[{out_bank_q^free, at}];
    if (rst_i) out_bank_q <= 1'b0;
    else out_bank_q <= out_bank_q ^ free;
  end

  // The word that leaves next; the sum takes it as it leaves.
  logic word_valid_q, word_last_q, wants, go, emit, skid_ready;
  logic [31:0] word_q, word_d, sum_q;
  skid #(
      .W(33)
  ) u_out (
      .clk_i,
      .rst_i,
      .in_valid_i(word_valid_q),
      .in_ready_o(skid_ready),
      .in_data_i ({word_last_q, word_q}),
      .out_valid_o,
      .out_ready_i,
      .out_data_o({out_last_o, out_data_o})
  );

  // Of the transfer: what is left of it, and where it goes, in units of 8 bytes. Of the worm: what is left.
  logic masked_q, strided_q, flagged_q, immediate_q, reply_q, last_q, last, is_short, half_q, wrap;
  logic unit, first, refused;
  logic [17:0] rest_q;
  logic [13:0] length, left_q;
  logic [28:0] offset_q, gap_q, ahead;
  logic [29:0] offset_d;
  logic unused_carry, offset_comes_q, step_comes_q;
  assign unused_carry = offset_d[0];
  logic [15:0] element_q, element_left_q;
  logic [11:0] worm_q;
  logic [3:0] reason, reason_q;

  assign reason = ram_q[cppacs_desc_pkg::F0ReasonLsb+:cppacs_desc_pkg::F0ReasonW];
  assign refused = state_q == HaveF0 && reason != '0;
  assign first = worm_q == '0;
  assign last = rest_q[17:14] == '0 && (!rest_q[13] || rest_q[12:0] == '0) &&
      (ram_q[cppacs_pkg::MsgF0MaskLsb+:cppacs_pkg::MsgF0MaskW] == '0 || is_short);
  assign is_short = rest_q[13:7] == '0 && rest_q[6:0] <= 7'(UnitsBroadcast);
  assign length = last_q ? rest_q[13:0] : (masked_q ? 14'(UnitsBroadcast) : 14'(UnitsWorm));

  // A word of payload is of memory, of the descriptor, or 0 when the transfer is broken. Then the rest is read in vain.
  logic is_data, fill_q, ended_q, come, bad;
  assign is_data = state_q == Data;
  assign go = !word_valid_q || skid_ready;
  assign bad = note_valid && note_bad && !immediate_q;
  assign data_ready_o = note_valid && !note_bad && (fill_q ? !ended_q : is_data && go && !immediate_q);
  assign come = data_valid_i && data_ready_o;
  assign pop = (come && data_last_i) || (bad && (fill_q ? !ended_q : is_data));
  assign unit = is_data && emit && half_q;

  always_comb begin
    state_d = state_q;
    wants = 1'b1;
    at = cppacs_desc_pkg::F0;
    case (state_q)
      Idle: begin
        wants = 1'b0;
        at = cppacs_desc_pkg::Length;
        if (banks_q[0]) state_d = HaveLength;
      end
      HaveLength: begin
        wants   = 1'b0;
        state_d = HaveF0;
      end
      HaveF0: begin
        wants = !refused;
        at = refused ? cppacs_desc_pkg::Flag : cppacs_desc_pkg::F1;
        state_d = refused ? HaveFlag : HaveF1;
      end
      HaveF1: begin
        at = cppacs_desc_pkg::F2;
        state_d = HaveF2;
      end
      HaveF2: begin
        at = cppacs_desc_pkg::Offset;
        state_d = HaveOffset;
      end
      HaveOffset: begin
        at = cppacs_desc_pkg::Element;
        state_d = HaveElement;
      end
      HaveElement: begin
        at = strided_q ? cppacs_desc_pkg::Step : cppacs_desc_pkg::Flag;
        state_d = strided_q ? HaveStep : Data;
      end
      HaveStep: begin
        at = cppacs_desc_pkg::Step;
        state_d = HaveStep2;
      end
      HaveStep2: begin
        at = cppacs_desc_pkg::Flag;
        state_d = Data;
      end
      Data: begin
        at = cppacs_desc_pkg::What;
        if (half_q && left_q == 14'd1) state_d = Sum;
      end
      Sum: begin
        at = (last_q || fill_q) ? cppacs_desc_pkg::Flag : cppacs_desc_pkg::F0;
        state_d = (last_q || fill_q) ? HaveFlag : HaveF0;
      end
      HaveFlag: begin
        wants = 1'b0;
        at = job_busy_q ? cppacs_desc_pkg::Flag : cppacs_desc_pkg::What;
        if (!job_busy_q) state_d = HaveWhat;
      end
      default: begin
        wants = 1'b0;
        at = cppacs_desc_pkg::Length;
        state_d = banks_q[1] ? HaveLength : Idle;
      end
    endcase
    case (state_q)
      Data: emit = go && (immediate_q || fill_q || bad || come);
      Sum: emit = !word_valid_q && (!fill_q || ended_q);
      default: emit = wants && go;
    endcase
    if (wants && !emit) state_d = state_q;
    read = !wants || emit;
  end

  always_comb begin
    case (state_q)
      HaveF0: word_d = {9'd0, ram_q[22:21], last, ram_q[19:0]};
      HaveOffset: word_d = first ? ram_q : {offset_q, 3'd0};
      HaveElement: word_d = {worm_q, 3'd0, length, 3'd0};
      HaveStep: word_d = {element_left_q, element_q};
      Data: word_d = immediate_q ? ram_q : data_data_i;
      Sum: word_d = sum_q ^ {32{fill_q}};
      default: word_d = ram_q;
    endcase
    // A unit further; from an element's last one over the gap, too. OFFSET and STEP come a cycle later, as they leave.
    ahead = offset_comes_q ? word_q[31:3] : gap_q & {29{wrap}};
    offset_d = {offset_q, !offset_comes_q} + {ahead, 1'b1};
  end

  always_ff @(posedge clk_i) begin
    if (emit) word_q <= word_d;
    if (emit && is_data && !immediate_q && (!come || data_err_i || fill_q)) word_q <= '0;
    if (emit) word_last_q <= state_q == Sum;
    if (word_last_q) sum_q <= '0;
    else if (word_valid_q && skid_ready) sum_q <= sum_q + word_q;
    if (state_q == HaveLength) begin
      rest_q <= ram_q[20:3];
      offset_q <= '0;
      worm_q <= '0;
      {fill_q, ended_q} <= '0;
    end
    if (state_q == HaveF0) begin
      masked_q <= ram_q[cppacs_pkg::MsgF0MaskLsb+:cppacs_pkg::MsgF0MaskW] != '0;
      strided_q <= ram_q[cppacs_pkg::MsgF0StridedLsb];
      reply_q <= ram_q[cppacs_pkg::MsgF0KindLsb+:cppacs_pkg::MsgF0KindW] == 3'(cppacs_pkg::KindReply);
      immediate_q <= ram_q[cppacs_desc_pkg::F0ImmediateLsb];
      flagged_q <= ram_q[cppacs_desc_pkg::F0FlaggedLsb];
      reason_q <= reason;
      last_q <= last;
    end
    if (offset_comes_q || unit) offset_q <= offset_d[29:1];
    if (state_q == HaveElement) begin
      element_q <= ram_q[18:3];
      if (first) element_left_q <= ram_q[18:3];
      left_q <= length;
      half_q <= 1'b0;
    end
    if (step_comes_q) gap_q <= word_q[31:3] - 29'(element_q);
    if (is_data && emit) half_q <= !half_q;
    wrap <= strided_q && element_left_q == 16'd1;  // a unit has two words, so it is in time
    if (unit) begin
      rest_q <= rest_q - 18'd1;
      left_q <= left_q - 14'd1;
      element_left_q <= wrap ? element_q : element_left_q - 16'd1;
    end
    if (state_q == Sum && emit) worm_q <= worm_q + 12'd1;
    if (is_data && !fill_q && !immediate_q && (bad || (come && data_err_i))) begin
      fill_q   <= 1'b1;
      reason_q <= bad ? 4'(cppacs_pkg::SendArea) : 4'(cppacs_pkg::SendMemory);
    end
    if (pop && note_last) ended_q <= 1'b1;

    if (state_q == HaveFlag && !job_busy_q) job_addr_o <= ram_q;
    if (free) job_data_o <= {16'd0, ram_q[cppacs_desc_pkg::WhatTcwLsb+:cppacs_desc_pkg::WhatTcwW]};
    else if (job_take_i) job_data_o <= {23'd0, result_q};
    if (free) result_q <= (reason_q == '0) ? 9'(cppacs_pkg::ResultSent) : 9'(cppacs_pkg::ResultRefused) | 9'(reason_q);
    refused_process_o <= ram_q[cppacs_desc_pkg::WhatProcessLsb+:cppacs_desc_pkg::WhatProcessW];
    refused_tcw_o <= ram_q[cppacs_desc_pkg::WhatTcwLsb+:cppacs_desc_pkg::WhatTcwW];
    refused_reason_o <= reason_q;
    if (rst_i) begin
      state_q <= Idle;
      word_last_q <= 1'b1;
      {word_valid_q, job_valid_q, job_busy_q, offset_comes_q, step_comes_q} <= '0;
      {sent_o, words_o, answered_o, refused_o} <= '0;
    end else begin
      state_q <= state_d;
      word_valid_q <= emit || (word_valid_q && !skid_ready);
      job_valid_q <= (free && flagged_q) || (job_valid_q && !job_ready_i);
      job_busy_q <= (free && flagged_q) || (job_busy_q && !job_done_i);
      offset_comes_q <= state_q == HaveOffset && emit && first;
      step_comes_q <= state_q == HaveStep2 && emit;
      sent_o <= state_q == Sum && emit;
      words_o <= is_data && emit;
      answered_o <= free && reply_q;
      refused_o <= free && reason_q != '0 && !reply_q;
    end
  end

  assign job_valid_o = job_valid_q;
  assign sending_o = banks_q[0];
  assign busy_o = banks_q[0] || wait_q || runs_busy || note_level != '0 || word_valid_q || out_valid_o || job_busy_q ||
      {sent_o, words_o, answered_o, refused_o} != '0;
endmodule
