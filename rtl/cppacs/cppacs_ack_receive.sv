// CP-PACS NIA, receiver of the acknowledge channel: short messages are written, requests are answered.
//
// Input      worms, of any content. Each is stored whole, 14 words at most, before anything is done.
// Checks     in this order: FORM (more than 14 words), GIVEN_UP, SUM, FORM, ELSEWHERE, FIELD, KEY, RIGHTS, FULL,
//            BOUNDS. A worm that fails changes nothing.
// WRITE      its words are written by the words unit; with LAST the field's count grows, then its flag is written.
//            `settling_o` and `other_settling_i` keep count and flag of the two receivers together.
// GET        an answer that reads the bytes. SWAP, CSWAP: done in memory, then an answer with the old value. An answer
//            goes to the worm's SRC, word by word as `cppacs_desc_pkg` says, and only if `ask_room_i` was high before:
//            else FULL. A request changes no count.
// Errors     of memory: MEMORY, the field is shut, and no answer. GONE: the field was destroyed before its count.
// Latency    10 cycles from the last word to the job or the first word of the answer.
// Full       one worm at a time; `in_ready_o` is low until it has ended. It waits for memory, for the tables, and for
//            the other receiver's flag, only.
// Refused    `refused_valid_o` pulses once in 32 cycles at most.
// Reset      drops everything.
// busy_o     low when nothing is inside.
// Source     short messages and remote reads are ours; fields and flags: paper, section 3.
module cppacs_ack_receive (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [12:0] place_i,

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

    output logic job_valid_o,
    input logic job_ready_i,
    output logic [1:0] job_op_o,
    output logic [31:0] job_addr_o,
    output logic [4:0] job_words_o,
    output logic [31:0] job_data_o,
    input logic job_take_i,
    input logic data_valid_i,
    input logic [31:0] data_i,
    input logic done_valid_i,
    input logic done_err_i,

    input logic ask_room_i,
    output logic ask_valid_o,
    output logic [3:0] ask_index_o,
    output logic [31:0] ask_data_o,

    output logic settling_o,
    input  logic other_settling_i,

    output logic notify_valid_o,
    output logic refused_valid_o,
    output logic [12:0] src_o,
    output logic [2:0] kind_o,
    output logic [3:0] reason_o,
    output logic received_o,
    output logic words_o
);
  localparam bit [3:0] Sound = 4'd0;
  localparam bit [2:0] Get = 3'(cppacs_pkg::KindGet);
  localparam bit [2:0] Swap = 3'(cppacs_pkg::KindSwap);
  localparam bit [2:0] Cswap = 3'(cppacs_pkg::KindCswap);

  typedef enum logic [3:0] {
    Take,
    Sum,
    Look,
    Looked,
    Verdict,
    Job,
    Answer,
    Turn,
    Count,
    Report
  } state_t;
  state_t state_q, state_d;

  // ---------------------------------------------------------------------------------------------------------- the worm
  // All its words stand in `worm`; what checks need is in registers, too. Behind them the old value of a SWAP comes.
  logic take, takes, told, last_q, notify_q, form_q, long_q, elsewhere_q, equal_q;
  logic [3:0] n_q, read_q;
  logic [2:0] kind_q, kind;
  logic [12:0] src_q, same;
  logic [9:0] field_q;
  logic [31:0] key_q, offset_q, sum_q;
  logic [16:0] length_q, asked_q;  // of the payload; LENGTH of a request
  logic asked_high_q;
  logic [31:0] worm[16];

  assign takes = state_q == Take;
  assign in_ready_o = takes;
  assign take = in_valid_i && takes;
  assign kind = in_data_i[cppacs_pkg::MsgF0KindLsb+:3];
  assign same = ~(in_data_i[12:0] ^ place_i);

  always_ff @(posedge clk_i) begin
    if (takes || data_valid_i) worm[n_q] <= takes ? in_data_i : data_i;
    if (state_q == Sum) n_q <= 4'd14;
    if (data_valid_i) n_q <= 4'd15;
    if (take) begin
      case (n_q)
        4'd0: begin
          kind_q <= kind;
          last_q <= in_data_i[cppacs_pkg::MsgF0LastLsb];
          notify_q <= in_data_i[cppacs_pkg::MsgF0NotifyLsb];
          elsewhere_q <= !(&same);
          form_q <= !in_data_i[cppacs_pkg::MsgF0ChannelLsb] || in_data_i[cppacs_pkg::MsgF0StridedLsb] ||
              kind == 3'(cppacs_pkg::KindReply) || kind > Cswap;
        end
        4'd1: begin
          src_q   <= in_data_i[cppacs_pkg::MsgF1SrcLsb+:13];
          field_q <= in_data_i[cppacs_pkg::MsgF1FieldLsb+:10];
        end
        4'd2: key_q <= in_data_i;
        4'd3: offset_q <= in_data_i;
        4'd4: length_q <= in_data_i[cppacs_pkg::MsgF4LengthLsb+:17];
        4'd8: begin
          asked_q <= in_data_i[16:0];
          asked_high_q <= in_data_i[31:17] != '0;
        end
        default: ;
      endcase
      if (n_q == 4'd3 && in_data_i[2:0] != '0) form_q <= 1'b1;
      long_q <= n_q == 4'd14;
      if (n_q != 4'd14) n_q <= n_q + 4'd1;
      sum_q   <= sum_q + in_data_i;
      equal_q <= in_data_i == sum_q;
    end
    if (rst_i || told) begin
      n_q <= '0;
      sum_q <= '0;
      src_q <= '0;
      field_q <= '0;
    end
  end

  // What the words say together. The sum holds all of them: with its complement as the last one it is all ones.
  logic request, is_length, is_shape, given_up;
  assign request = kind_q != 3'(cppacs_pkg::KindWrite);
  assign is_length = request ? length_q[5:3] == 3'd4 : length_q[5:3] != '0;
  assign is_shape = length_q[16:6] == '0 && length_q[2:0] == '0 && is_length && {1'b0, n_q} == 5'd6 + 5'(length_q[5:2]);
  assign given_up = &sum_q;

  // LENGTH of a request: of GET 8 to 65,536.
  logic is_asked;
  assign is_asked = !request || (asked_q[2:0] == '0 && !asked_high_q &&
                                 (kind_q == Get ? (asked_q[15:0] == '0) == asked_q[16] : asked_q[16:3] == 14'd1));

  // ----------------------------------------------------------------------------------------------------------- lookups
  logic behind_q;  // the count has grown: the second lookup, and the flag
  logic gone_q, open, enabled_q, writes_q, reads_q, atomics_q;
  logic [28:0] size_q;  // in units of 8 bytes
  logic [31:0] field_key_q, base_q, flag_q, count_q, addr;
  logic [2:0] unused_size;
  assign unused_size = look_second_i[cppacs_pkg::FieldExtentSizeLsb+:3];

  assign open = !takes && state_q != Sum;
  assign open_o = open;
  assign field_o = field_q;
  assign look_valid_o = state_q == Look;
  assign addr = base_q + offset_q;

  always_ff @(posedge clk_i) begin
    if (look_for_i && !behind_q) begin
      enabled_q <= look_first_i[cppacs_pkg::FieldStateEnabledLsb];
      writes_q <= look_first_i[cppacs_pkg::FieldStateWriteLsb];
      reads_q <= look_first_i[cppacs_pkg::FieldStateReadLsb];
      atomics_q <= look_first_i[cppacs_pkg::FieldStateAtomicLsb];
      field_key_q <= look_first_i[cppacs_pkg::FieldStateKeyLsb+:32];
      base_q <= look_second_i[cppacs_pkg::FieldExtentBaseLsb+:32];
      size_q <= look_second_i[cppacs_pkg::FieldExtentSizeLsb+3+:29];
    end
    if (look_for_i && behind_q) begin
      flag_q  <= look_flag_i;
      count_q <= look_count_i;
    end
    gone_q <= open && state_q != Report && (gone_q || gone_i);
    if (takes) behind_q <= 1'b0;
    else if (state_q == Count) behind_q <= 1'b1;
  end

  logic allowed;
  logic [13:0] eights;  // units of 8 bytes
  logic [29:0] past;
  logic [3:0] verdict;
  assign allowed = !request ? writes_q : kind_q == Get ? reads_q : atomics_q;
  assign eights = request ? asked_q[16:3] : length_q[16:3];
  assign past = {1'b0, offset_q[31:3]} + 30'(eights);
  always_comb begin
    verdict = Sound;
    if (gone_q) verdict = 4'(cppacs_pkg::RecvGone);
    if (past > {1'b0, size_q}) verdict = 4'(cppacs_pkg::RecvBounds);
    if (request && !ask_room_i) verdict = 4'(cppacs_pkg::RecvFull);
    if (!allowed) verdict = 4'(cppacs_pkg::RecvRights);
    if (field_key_q != key_q) verdict = 4'(cppacs_pkg::RecvKey);
    if (!enabled_q) verdict = 4'(cppacs_pkg::RecvField);
  end

  // ------------------------------------------------------------------------------------------------------------ states
  logic [3:0] reason_q, reason_d;
  logic shut_q, memory, job_valid_q, second_q, flagged;
  logic [2:0] k_q;
  logic [4:0] pause_q;  // cycles until a refusal may be told
  assign told = state_q == Report && (reason_q == Sound || pause_q == '0);
  assign memory = state_q == Job && done_valid_i && done_err_i;
  assign flagged = look_first_i[cppacs_pkg::FieldStateFlaggedLsb];

  always_comb begin
    state_d  = state_q;
    reason_d = reason_q;
    case (state_q)
      Take: begin
        reason_d = Sound;
        if (take && in_last_i) state_d = Sum;
      end
      Sum: begin
        if (elsewhere_q) reason_d = 4'(cppacs_pkg::RecvElsewhere);
        if (form_q || !is_shape || !is_asked) reason_d = 4'(cppacs_pkg::RecvForm);
        if (!equal_q) reason_d = 4'(given_up ? cppacs_pkg::RecvGivenUp : cppacs_pkg::RecvSum);
        if (long_q) reason_d = 4'(cppacs_pkg::RecvForm);
        state_d = (reason_d == Sound) ? Look : Report;
      end
      Look: if (look_ready_i) state_d = Looked;
      Looked:
      if (look_for_i) begin
        if (!behind_q) state_d = Verdict;
        else if (gone_q) begin
          state_d  = Report;
          reason_d = 4'(cppacs_pkg::RecvGone);
        end else state_d = flagged ? Job : Report;
      end
      Verdict: begin
        reason_d = verdict;
        if (verdict != Sound) state_d = Report;
        else state_d = (kind_q == Get) ? Answer : Job;
      end
      Job:
      if (done_valid_i) begin
        if (done_err_i) reason_d = 4'(cppacs_pkg::RecvMemory);
        else if (gone_q && !behind_q) reason_d = 4'(cppacs_pkg::RecvGone);
        if (behind_q || reason_d != Sound) state_d = Report;
        else if (request) state_d = Answer;
        else state_d = last_q ? Turn : Report;
      end
      Answer: if (k_q == 3'd6) state_d = Report;
      Turn: if (!other_settling_i) state_d = Count;
      Count: begin
        state_d = gone_q ? Report : Look;
        if (gone_q) reason_d = 4'(cppacs_pkg::RecvGone);
      end
      default: if (told) state_d = Take;  // Report
    endcase
  end

  always_ff @(posedge clk_i) begin
    reason_q <= reason_d;
    if (takes) shut_q <= 1'b0;
    else if (memory) shut_q <= 1'b1;
    if (rst_i) begin
      state_q <= Take;
      job_valid_q <= 1'b0;
      words_o <= 1'b0;
      pause_q <= '0;
    end else begin
      state_q <= state_d;
      job_valid_q <= state_d == Job && (state_q != Job || (job_valid_q && !job_ready_i));
      words_o <= job_take_i && !behind_q && !request;
      if (refused_valid_o) pause_q <= '1;
      else if (pause_q != '0) pause_q <= pause_q - 5'd1;
    end
  end

  // ----------------------------------------------------------------------------------------------------- words to send
  // Of a job: WRITE the payload; SWAP the new value; CSWAP the value that is compared, then the new one; a flag SRC and
  // the count.
  logic [31:0] word;
  logic [ 3:0] answer_read;
  assign word = worm[(state_q==Answer)?answer_read : read_q];
  assign job_valid_o = job_valid_q;
  assign job_op_o = (behind_q || !request) ? 2'd1 : {1'b1, kind_q == Cswap};
  assign job_addr_o = behind_q ? flag_q : addr;
  assign job_words_o = (behind_q || request) ? 5'd2 : length_q[6:2];
  assign job_data_o = second_q ? count_q : {behind_q ? 19'b0 : word[31:13], word[12:0]};

  always_ff @(posedge clk_i) begin
    if (state_q != Job) begin
      second_q <= 1'b0;
      read_q   <= behind_q ? 4'd1 : !request ? 4'd5 : kind_q == Swap ? 4'd9 : 4'd11;
    end else if (job_take_i) begin
      second_q <= behind_q;
      read_q   <= (read_q == 4'd12) ? 4'd9 : read_q + 4'd1;
    end
  end

  // Of an answer: F1, F2, OFFSET, LENGTH; the old value, or SIZE and BASE; F0.
  logic gets;
  logic [12:0] place_q;
  assign gets = kind_q == Get;
  always_comb begin
    case (k_q)
      3'd0: {ask_index_o, answer_read} = {cppacs_desc_pkg::F1, 4'd5};
      3'd1: {ask_index_o, answer_read} = {cppacs_desc_pkg::F2, 4'd6};
      3'd2: {ask_index_o, answer_read} = {cppacs_desc_pkg::Offset, 4'd7};
      3'd3: {ask_index_o, answer_read} = {cppacs_desc_pkg::Length, 4'd8};
      3'd4: {ask_index_o, answer_read} = gets ? {cppacs_desc_pkg::Size, 4'd8} : {cppacs_desc_pkg::Flag, 4'd14};
      3'd5: {ask_index_o, answer_read} = {gets ? cppacs_desc_pkg::Base : cppacs_desc_pkg::What, 4'd15};
      default: {ask_index_o, answer_read} = {cppacs_desc_pkg::F0, 4'd1};
    endcase
    ask_data_o = word;
    case (k_q)
      3'd0: ask_data_o = {6'b0, word[9:0], 3'b0, place_q};
      3'd5: if (gets) ask_data_o = addr;
      3'd6: begin
        ask_data_o = 32'(word[12:0]);
        ask_data_o[cppacs_pkg::MsgF0KindLsb+:3] = 3'(cppacs_pkg::KindReply);
        ask_data_o[cppacs_desc_pkg::F0ImmediateLsb] = !gets;
      end
      default: ;
    endcase
  end
  assign ask_valid_o = state_q == Answer;

  always_ff @(posedge clk_i) begin
    place_q <= place_i;
    if (state_q != Answer) k_q <= '0;
    else k_q <= k_q + 3'd1;
  end

  assign count_valid_o = state_q == Count && !gone_q;
  assign settling_o = state_q == Count || (behind_q && state_q != Report && !takes);
  assign received_o = told && reason_q == Sound;
  assign refused_valid_o = told && reason_q != Sound;
  assign notify_valid_o = received_o && notify_q && last_q;
  assign shut_valid_o = refused_valid_o && shut_q;
  assign src_o = src_q;
  assign kind_o = kind_q;
  assign reason_o = reason_q;
  assign busy_o = !takes || n_q != '0 || words_o || pause_q != '0;
endmodule
