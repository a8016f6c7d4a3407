// CP-PACS NIA, receiver of the data channel: worms become bytes of fields, counts and flags.
//
// Input      worms, of any content, one after the other.
// Checks     of the header, in this order: FORM, ELSEWHERE, FIELD, KEY, RIGHTS, FULL, BOUNDS of the first run. A worm
//            that fails is drained, and nothing is written. Later BOUNDS, FORM (fewer or more words than it says), SUM,
//            GIVEN_UP, GONE and MEMORY end one that was accepted; what was written stays. Of several the first in time
//            counts, but GONE goes before all, and MEMORY behind all. FORM, SUM and MEMORY of an accepted worm
//            shut the field.
// Tables     `field_o` is the field of lookups, counts and shuts, and of the message under way while `open_o`.
// Complete   a sound worm with LAST: when memory has responded to all its words, the field's count grows, then its flag
//            is written by the words unit, then `notify_valid_o` pulses. `settling_o` and `other_settling_i` keep count
//            and flag of the two receivers together, so a flag never goes back.
// Ring       field 0, while `ring_slot_log_i` is not 0: the worm goes to the slot that the count says.
// Parts      Words come through a FIFO of 64. Before it a worm's header is taken out, and its field looked up; behind
//            it its words are written; then it settles: it waits for its responses, and counts. A worm for the field of
//            those before it, but 0, is looked up while they are under way; any other when they have ended.
// Latency    1 word per cycle, 1 cycle between worms; so the next header is looked up while words of the worm before
//            leave the FIFO. 11 cycles from a header's last word to the first word written, 15 more for the ring.
// Full       `in_ready_o` is low. It waits for memory, for the tables, and for the other receiver's flag, only.
// Refused    `refused_valid_o` pulses once in 32 cycles at most.
// Reset      drops everything; the memory must forget its bursts, too.
// busy_o     low when nothing is inside.
// Source     paper, section 3: fields, rights, flag behind the data. Checks, formats and the ring are ours.
module cppacs_receive #(
    parameter int BurstBeats  = 16,  // words in the longest burst, power of two, 4..64
    parameter int Outstanding = 4    // collected bursts that may await their responses, 2..16
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [12:0] place_i,
    input logic [31:0] ring_tail_i,
    input logic [ 4:0] ring_slot_log_i,
    input logic [ 3:0] ring_slots_log_i,

    input logic in_valid_i,
    output logic in_ready_o,
    input logic [31:0] in_data_i,
    input logic in_last_i,

    output logic [9:0] field_o,
    output logic look_valid_o,
    input logic look_ready_i,
    input logic look_for_i,
    input logic [63:0] look_first_i,
    input logic [63:0] look_second_i,
    input logic [31:0] look_flag_i,
    input logic [31:0] look_count_i,
    output logic count_valid_o,
    output logic shut_valid_o,
    output logic open_o,
    input logic gone_i,

    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [31:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    output logic mem_data_valid_o,
    input logic mem_data_ready_i,
    output logic [31:0] mem_data_data_o,
    output logic mem_data_last_o,
    input logic mem_rsp_valid_i,
    output logic mem_rsp_ready_o,
    input logic mem_rsp_err_i,

    output logic job_valid_o,
    input logic job_ready_i,
    output logic [31:0] job_addr_o,
    output logic [31:0] job_data_o,
    input logic job_take_i,
    input logic done_valid_i,
    input logic done_err_i,

    output logic settling_o,
    input  logic other_settling_i,

    output logic notify_valid_o,
    output logic refused_valid_o,
    output logic [12:0] src_o,
    output logic [9:0] ended_field_o,
    output logic [2:0] kind_o,
    output logic [3:0] reason_o,
    output logic received_o,
    output logic words_o
);
  localparam bit [3:0] Form = 4'(cppacs_pkg::RecvForm);
  localparam bit [3:0] Gone = 4'(cppacs_pkg::RecvGone);
  localparam bit [3:0] Memory = 4'(cppacs_pkg::RecvMemory);
  localparam bit [3:0] BadSum = 4'(cppacs_pkg::RecvSum);
  localparam bit [3:0] Sound = 4'd0;

  // ------------------------------------------------------------------------------------------------------- the header
  typedef enum logic [1:0] {
    Head,
    Pass,
    Sum,
    Full
  } head_t;
  head_t head_q, head_d;
  logic take, clear, fifo_ready, last_q, strided_q, notify_q, elsewhere_q, form_q, runt_q, later_q;
  logic ready_q, free;  // a header is complete; it is not needed any more
  logic [2:0] n_q, kind_q;
  logic [12:0] src_q;
  logic [ 9:0] field_q;
  logic [31:0] key_q, offset_q, step_q, sum_q;
  logic [16:0] length_q;
  logic [15:0] element_q, left_q;

  logic held_q, held_last_q, held_sums_q;  // a word on its way into the FIFO
  logic [31:0] held_word_q;
  assign in_ready_o = head_q == Head || (head_q == Pass && (!held_q || fifo_ready));
  assign take = in_valid_i && in_ready_o;

  // A destination along an axis that is in MASK is every coordinate.
  logic here;
  logic [12:0] same;
  logic [2:0] mask;
  assign same = ~(in_data_i[12:0] ^ place_i);
  assign mask = in_data_i[cppacs_pkg::MsgF0MaskLsb+:3];
  assign here = (&same[3:0] || mask[0]) && (&same[8:4] || mask[1]) && (&same[12:9] || mask[2]);

  // Words that cannot be, by number.
  logic [6:0] bad;
  logic [2:0] kind;
  logic [15:0] element, left;
  assign kind = in_data_i[cppacs_pkg::MsgF0KindLsb+:3];
  assign element = in_data_i[cppacs_pkg::MsgF5ElementLsb+:16];
  assign left = in_data_i[cppacs_pkg::MsgF5LeftLsb+:16];
  assign bad[0] = in_data_i[cppacs_pkg::MsgF0ChannelLsb] || kind[2:1] != '0;
  assign bad[2:1] = '0;
  assign bad[3] = in_data_i[2:0] != '0;
  assign bad[4] = in_data_i[2:0] != '0 || (in_data_i[15:0] == '0) != in_data_i[16];
  assign bad[5] = left == '0 || left > element;
  assign bad[6] = in_data_i[2:0] != '0;

  logic in_head, head_end, turn;
  assign in_head  = head_q == Head;
  assign head_end = n_q == (strided_q ? 3'd6 : 3'd4);

  always_comb begin
    head_d = head_q;
    case (head_q)
      Head: if (take && (in_last_i || head_end)) head_d = in_last_i ? Full : Pass;
      Pass: if (take && in_last_i) head_d = Sum;
      Sum: if (fifo_ready) head_d = (ready_q && !free) ? Full : Head;
      default: if (free) head_d = Head;  // Full
    endcase
  end
  assign clear = !in_head && head_d == Head;

  always_ff @(posedge clk_i) begin
    head_q <= head_d;
    if (in_head && take) begin
      if (n_q == 3'd0) begin
        kind_q <= kind;
        last_q <= in_data_i[cppacs_pkg::MsgF0LastLsb];
        strided_q <= in_data_i[cppacs_pkg::MsgF0StridedLsb];
        notify_q <= in_data_i[cppacs_pkg::MsgF0NotifyLsb];
        elsewhere_q <= !here;
      end
      if (n_q == 3'd1) begin
        src_q   <= in_data_i[cppacs_pkg::MsgF1SrcLsb+:13];
        field_q <= in_data_i[cppacs_pkg::MsgF1FieldLsb+:10];
      end
      if (n_q == 3'd2) key_q <= in_data_i;
      if (n_q == 3'd4) begin
        length_q <= in_data_i[cppacs_pkg::MsgF4LengthLsb+:17];
        later_q  <= in_data_i[cppacs_pkg::MsgF4WormLsb+:12] != '0;
      end
      if (n_q == 3'd5) begin
        element_q <= element;
        left_q <= left;
      end
      if (n_q == 3'd6) step_q <= in_data_i;
      form_q <= form_q || bad[n_q];
      runt_q <= in_last_i;
      n_q <= n_q + 3'd1;
    end
    if (take) begin
      sum_q <= sum_q + in_data_i;
      held_sums_q <= in_data_i == sum_q;
      held_last_q <= in_last_i;
      held_word_q <= in_data_i;
    end
    if (rst_i || clear) begin
      head_q <= Head;
      n_q <= '0;
      form_q <= 1'b0;
      runt_q <= 1'b0;
      sum_q <= '0;
      src_q <= '0;
      field_q <= '0;
      strided_q <= 1'b0;
    end
    if (rst_i) begin
      ready_q <= 1'b0;
      held_q  <= 1'b0;
    end else begin
      ready_q <= (in_head && head_d != Head) || (ready_q && !free);
      held_q  <= (take && !in_head) || (held_q && !fifo_ready);
    end
  end

  // With a word come: it is the sum of those before it; it is their complement, so that the sum of all is all ones.
  logic word_valid, word_ready, word_take, word_last, word_sums, word_inverts;
  logic [31:0] word;
  logic [ 6:0] unused_level;
  fifo_bram #(
      .W(35),
      .Depth(64)
  ) u_words (
      .clk_i,
      .rst_i,
      .in_valid_i (held_q),
      .in_ready_o (fifo_ready),
      .in_data_i  ({held_sums_q, &sum_q, held_last_q, held_word_q}),
      .out_valid_o(word_valid),
      .out_ready_i(word_ready),
      .out_data_o ({word_sums, word_inverts, word_last, word}),
      .level_o    (unused_level)
  );

  // -------------------------------------------------------------------------------------------------- lookups, verdict
  // Worms that are written and that settle are for `open_q`.
  typedef enum logic [2:0] {
    Check,
    Slot,
    Body,
    Last,
    Drain,
    End
  } state_t;
  state_t state_q, state_d;
  logic wants_q, asked_q, looked_q, look_mine, look_may, mine_q, gone_q, settles, settle_asks, begins;
  logic [9:0] open_q;
  logic enabled_q, write_q;
  logic [31:0] field_key_q, base_q, size_q;
  logic [12:0] count_q;

  assign look_may = wants_q && ((state_q == Check && !settles) || (field_q == open_q && field_q != '0));
  assign look_valid_o = settle_asks || look_may;
  assign look_mine = look_may && !settle_asks;
  assign field_o = look_mine ? field_q : open_q;
  assign open_o = settles || state_q != Check || wants_q || asked_q || looked_q;

  always_ff @(posedge clk_i) begin
    if (in_head && take && n_q == 3'd1) wants_q <= 1'b1;
    if (look_mine && look_ready_i) begin
      wants_q <= 1'b0;
      asked_q <= 1'b1;
    end
    if ((look_mine && look_ready_i) || begins) open_q <= field_q;
    if (look_valid_o && look_ready_i) mine_q <= look_mine;
    if (look_for_i && mine_q) begin
      asked_q <= 1'b0;
      looked_q <= 1'b1;
      enabled_q <= look_first_i[cppacs_pkg::FieldStateEnabledLsb];
      write_q <= look_first_i[cppacs_pkg::FieldStateWriteLsb];
      field_key_q <= look_first_i[cppacs_pkg::FieldStateKeyLsb+:32];
      base_q <= look_second_i[cppacs_pkg::FieldExtentBaseLsb+:32];
      size_q <= look_second_i[cppacs_pkg::FieldExtentSizeLsb+:32];
      count_q <= look_count_i[12:0];
    end
    // `shut_valid_o`: by a worm before, of the same field.
    if ((gone_i || shut_valid_o) && (asked_q || looked_q)) gone_q <= 1'b1;
    if (rst_i || free) begin
      wants_q  <= 1'b0;
      asked_q  <= 1'b0;
      looked_q <= 1'b0;
      gone_q   <= 1'b0;
    end
  end

  // The ring: slots are 1 << ring_slots_log_i, at most 4096; `slot_mask` is that minus 1.
  logic ring, full, long_q;
  logic [11:0] slot_mask;
  logic [12:0] behind;  // messages in the ring, minus 1
  assign ring = field_q == '0 && ring_slot_log_i != '0;
  for (genvar i = 0; i < 12; i++) begin : gen_mask
    assign slot_mask[i] = ring_slots_log_i > 4'(i);
  end
  assign behind = count_q + ~ring_tail_i[12:0];
  assign full   = behind == {1'b0, slot_mask};
  logic [18:0] unused_tail;
  assign unused_tail = ring_tail_i[31:13];

  logic [3:0] verdict;
  always_comb begin
    verdict = Sound;
    if (ring && full) verdict = 4'(cppacs_pkg::RecvFull);
    if (!kind_q[0] && !write_q) verdict = 4'(cppacs_pkg::RecvRights);
    if (field_key_q != key_q) verdict = 4'(cppacs_pkg::RecvKey);
    if (!enabled_q) verdict = 4'(cppacs_pkg::RecvField);
    if (elsewhere_q) verdict = 4'(cppacs_pkg::RecvElsewhere);
    if (form_q || runt_q || (ring && (strided_q || !last_q || later_q))) verdict = Form;
  end

  // In Slot `k_q` counts the bits of LENGTH, from bit 3 on. Until it is SLOT_LOG the slot's number is shifted to its
  // place. A length is too long if it has a bit above SLOT_LOG, or that bit and a lower one.
  logic [4:0] k_q;
  logic bit_k, low_q, long_d, shifts;
  assign shifts = state_q == Slot && k_q < ring_slot_log_i;
  assign bit_k  = length_q[k_q];
  assign long_d = long_q || (bit_k && k_q >= ring_slot_log_i && (k_q != ring_slot_log_i || low_q));

  always_ff @(posedge clk_i) begin
    if ((in_head && take && n_q == 3'd3) || (ring && (state_q == Check || shifts)))
      offset_q <= !ring ? in_data_i : shifts ? {offset_q[30:0], 1'b0} : 32'({count_q[11:0] & slot_mask, 3'b0});
    if (state_q == Check) begin
      k_q <= 5'd3;
      low_q <= 1'b0;
      long_q <= 1'b0;
    end
    if (state_q == Slot) begin
      k_q <= k_q + 5'd1;
      if (shifts) low_q <= low_q || bit_k;
      long_q <= long_d;
    end
  end

  // ------------------------------------------------------------------------------------------------------- runs, words
  logic job_q, job_ready, runs_stop, runs_busy, run_valid, run_take, run_bad, run_last;
  logic in_body, active, amid, run_end, gives_up, bounds, last_run_q;
  logic [31:0] run_addr;
  logic [20:0] run_bytes;
  cppacs_runs u_runs (
      .clk_i,
      .rst_i,
      .busy_o(runs_busy),
      .job_valid_i(job_q),
      .job_ready_o(job_ready),
      .job_base_i(base_q),
      .job_offset_i(offset_q),
      .job_limit_i(size_q),
      .job_bytes_i(21'(length_q)),
      .job_strided_i(strided_q),
      .job_element_i({element_q, 3'b0}),
      .job_left_i({left_q, 3'b0}),
      .job_step_i(step_q),
      .stop_i(runs_stop),
      .run_valid_o(run_valid),
      .run_ready_i(run_take),
      .run_addr_o(run_addr),
      .run_bytes_o(run_bytes),
      .run_last_o(run_last),
      .run_bad_o(run_bad)
  );

  logic store_run, store_ready, old_done, old_err, store_busy;
  cppacs_store #(
      .BurstBeats (BurstBeats),
      .Outstanding(Outstanding)
  ) u_store (
      .clk_i,
      .rst_i,
      .busy_o(store_busy),
      .run_valid_i(in_body && run_valid && !run_bad && !gives_up),
      .run_ready_o(store_run),
      .run_addr_i(run_addr),
      .run_bytes_i(run_bytes),
      .drop_i(gives_up),
      .active_o(active),
      .amid_o(amid),
      .end_o(run_end),
      .in_valid_i(word_valid && in_body && !gives_up),
      .in_ready_o(store_ready),
      .in_data_i(word),
      .in_last_i(word_last),
      .turn_i(turn),
      .old_done_o(old_done),
      .old_err_o(old_err),
      .mem_cmd_valid_o,
      .mem_cmd_ready_i,
      .mem_cmd_addr_o,
      .mem_cmd_len_o,
      .mem_data_valid_o,
      .mem_data_ready_i,
      .mem_data_data_o,
      .mem_data_last_o,
      .mem_rsp_valid_i,
      .mem_rsp_ready_o,
      .mem_rsp_err_i
  );

  // A message whose field is gone writes the burst that it has begun, and no other.
  logic lost_q, accepted_q, job_end;
  logic [3:0] reason_q, reason_d;
  assign in_body = state_q == Body;
  assign gives_up = in_body && lost_q && !amid;
  assign bounds = in_body && run_valid && run_bad && !active && !gives_up;
  assign run_take = in_body && !gives_up && (run_bad ? !active : store_run);
  assign runs_stop = gives_up || (in_body && word_take && word_last);
  assign word_ready = state_q == Last || state_q == Drain || (store_ready && in_body && !gives_up);
  assign word_take = word_valid && word_ready;

  // A worm of one word has no field. It waits for the one before, whose field is still open.
  assign begins = state_q == Check && ready_q && (looked_q || (runt_q && n_q == 3'd1 && !settles));
  assign job_end = job_q && (job_ready || runs_stop);
  assign free = job_end || (begins && (runt_q || verdict != Sound)) || (state_q == Slot && state_d == Drain);

  always_comb begin
    state_d  = state_q;
    reason_d = reason_q;
    case (state_q)
      Check:
      if (begins) begin
        reason_d = verdict;
        if (runt_q) state_d = End;
        else if (verdict != Sound) state_d = Drain;
        else state_d = ring ? Slot : Body;
      end
      Slot:
      if (k_q == 5'd16) begin
        state_d = long_d ? Drain : Body;
        if (long_d) reason_d = 4'(cppacs_pkg::RecvBounds);
      end
      Body:
      if (bounds) begin
        state_d  = Drain;
        reason_d = 4'(cppacs_pkg::RecvBounds);
      end else if (gives_up) state_d = Drain;
      else if (word_take && word_last) begin
        state_d  = End;
        reason_d = Form;
      end else if (word_take && run_end && last_run_q) state_d = Last;
      Last:
      if (word_take) begin
        state_d = word_last ? End : Drain;
        if (!word_last) reason_d = Form;
        else if (!word_sums) reason_d = word_inverts ? 4'(cppacs_pkg::RecvGivenUp) : BadSum;
      end
      Drain:   if (word_take && word_last) state_d = End;
      default: if (!settles) state_d = Check;  // End
    endcase
  end

  logic ends_last_q, ends_notify_q;
  logic [12:0] ends_src_q;
  logic [ 2:0] ends_kind_q;
  always_ff @(posedge clk_i) begin
    state_q  <= state_d;
    reason_q <= reason_d;
    if (begins) begin
      ends_last_q <= last_q;
      ends_notify_q <= notify_q;
      ends_src_q <= src_q;
      ends_kind_q <= kind_q;
      lost_q <= gone_q || gone_i || shut_valid_o;
    end else if (gone_i || shut_valid_o) lost_q <= 1'b1;
    if (run_take && run_valid) last_run_q <= run_last;
    if (state_q == Check) accepted_q <= 1'b0;
    else if (in_body) accepted_q <= 1'b1;
    words_o <= word_take && in_body;
    if (rst_i) begin
      state_q <= Check;
      job_q   <= 1'b0;
      words_o <= 1'b0;
    end else job_q <= (job_q && !job_end) || (state_d == Body && !in_body);
  end

  // ------------------------------------------------------------------------------------- the worm before, till it ends
  typedef enum logic [2:0] {
    Idle,
    Wait,
    Turn,
    Count,
    Look,
    Looked,
    Flag,
    Report
  } settle_t;
  settle_t settle_q, settle_d;
  logic settle_last_q, settle_notify_q, settle_accepted_q, settle_gone_q, settle_shut_q, second_q, told, job_valid_q;
  logic [ 3:0] settle_reason_q;
  logic [12:0] settle_src_q;
  logic [ 2:0] settle_kind_q;
  logic [31:0] flag_q, flag_count_q;
  logic [4:0] pause_q;  // cycles until a refusal may be told

  assign settles = settle_q != Idle;
  assign turn = state_q == End && !settles;
  assign settle_asks = settle_q == Look;
  assign settling_o = settle_q == Turn || settle_q == Count || settle_q == Look || settle_q == Looked ||
                      settle_q == Flag;
  assign told = settle_q == Report && (settle_reason_q == Sound || pause_q == '0);

  always_comb begin
    settle_d = settle_q;
    case (settle_q)
      Idle: if (turn) settle_d = Wait;
      Wait:
      if (old_done)
        settle_d = (settle_reason_q == Sound && !old_err && !settle_gone_q && settle_last_q) ? Turn : Report;
      Turn: if (!other_settling_i) settle_d = Count;
      Count: settle_d = settle_gone_q ? Report : Look;
      Look: if (look_ready_i) settle_d = Looked;
      Looked:
      if (look_for_i) settle_d = (look_first_i[cppacs_pkg::FieldStateFlaggedLsb] && !settle_gone_q) ? Flag : Report;
      Flag: if (done_valid_i) settle_d = Report;
      default: if (told) settle_d = Idle;  // Report
    endcase
  end

  always_ff @(posedge clk_i) begin
    settle_q <= settle_d;
    if (turn) begin
      settle_reason_q <= reason_q;
      settle_shut_q <= accepted_q && (reason_q == Form || reason_q == BadSum);
      settle_accepted_q <= accepted_q;
      settle_gone_q <= accepted_q && (lost_q || gone_i);
      settle_last_q <= ends_last_q;
      settle_notify_q <= ends_notify_q && ends_last_q;
      settle_src_q <= ends_src_q;
      settle_kind_q <= ends_kind_q;
    end else begin
      if (gone_i && settle_accepted_q) settle_gone_q <= 1'b1;
      if ((settle_q == Wait && settle_reason_q == Sound && old_err) ||
          (settle_q == Flag && done_valid_i && done_err_i)) begin
        settle_reason_q <= Memory;
        settle_shut_q   <= 1'b1;
      end
      if (settle_gone_q && settles && settle_q != Flag && settle_q != Report) begin
        settle_reason_q <= Gone;
        settle_shut_q   <= 1'b0;
      end
    end
    if (settle_q == Looked && look_for_i) begin
      flag_q <= look_flag_i;
      flag_count_q <= look_count_i;
    end
    if (settle_q != Flag) second_q <= 1'b0;
    else if (job_take_i) second_q <= 1'b1;
    if (rst_i) begin
      settle_q <= Idle;
      job_valid_q <= 1'b0;
      pause_q <= '0;
    end else begin
      job_valid_q <= settle_d == Flag && (settle_q != Flag || (job_valid_q && !job_ready_i));
      if (refused_valid_o) pause_q <= '1;
      else if (pause_q != '0) pause_q <= pause_q - 5'd1;
    end
  end

  assign count_valid_o = settle_q == Count && !settle_gone_q;
  assign job_valid_o = job_valid_q;
  assign job_addr_o = flag_q;
  assign job_data_o = second_q ? flag_count_q : 32'(settle_src_q);
  assign received_o = told && settle_reason_q == Sound;
  assign refused_valid_o = told && settle_reason_q != Sound;
  assign notify_valid_o = received_o && settle_notify_q;
  assign shut_valid_o = refused_valid_o && settle_shut_q;
  assign src_o = settle_src_q;
  assign ended_field_o = open_q;
  assign kind_o = settle_kind_q;
  assign reason_o = settle_reason_q;

  assign busy_o = !in_head || n_q != '0 || ready_q || state_q != Check || settles || store_busy || runs_busy ||
                  words_o || pause_q != '0;
endmodule
