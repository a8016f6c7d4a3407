// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1 receiver, middle part: decides what becomes of each packet, by its header; stops for processor and matcher.
//
// Header     `load_*`, `word_*` and `whole_*` of dimmnet1_parse. The registers `hdr_o` hold one packet's header; the
//            next packet's begins when this one is decided.
// Checks     In this order: a packet that asks for an answer, or any PULL, without room in the queue of answers:
//            CREDIT, and no answer. A type that the card lacks: TYPE. Number of words, LENGTH, alignment: LENGTH.
//            F_SEQ: SEQUENCE, if SEQ is not the number that is expected of SRC; a number up to 2^31 - 1 behind is a
//            duplicate, and is answered with ACK. SRC beyond 63 has no numbers, and none is counted if the firmware
//            lets its packet through. Then the translation. ACK and NACK have only the check of LENGTH.
// Order      OTF, PULL, F_SEQ and RX_GO DMA wait until all earlier packets are settled. So a number that was refused is
//            expected again before the next one is looked at; packets with F_SEQ do not overlap in memory.
// Stop       `stop_*`, for a type of 16 and up or a miss, while `cpu_runs_i`; else the packet is refused, UNSERVED.
//            Only now do `hdr_write_*` and `go_*` count. CONTINUE: OTF and PULL_REPLY are done anew, all others as
//            PUSH, without check of SEQ. NACK with reason 0 counts as FIRMWARE. DMA of OTF, with a wrong LENGTH,
//            without data, to an address that is not aligned, or beyond the last address, ends with LENGTH. No write
//            to W0 comes with a command. Any other command is ignored. A stop outlasts `cpu_runs_i`.
// Parts      PART is CONTINUE for the next `go_bytes_i` bytes of the data: behind their command LENGTH falls by them,
//            and the packet stops anew, TYPE, `stop_more_o`, when they have come. Not a multiple of 8: LENGTH. If no
//            more are left, it is CONTINUE. A stop for a miss in a part goes on with the part. Data that end in a part:
//            LENGTH. What was written stays written when a later part is refused.
// Matcher    `mat_valid_o`: with `match_i` a type of 16 and up is offered to the matcher first, which reads `hdr_o` and
//            ends the offer by `mat_pass_i` (it is the processor's), or as a stop is ended, by `go_*`. The next offer
//            may come before a part's data: `mat_more_o`.
// dma_done_o the last transfer of RX_GO DMA has ended. Only the next RX_GO DMA clears it: a stop does not, since the
//            firmware may not have seen it.
// Latency    a hit of the TLBs: 4 cycles from header word 2 to the OTF write, 5 to the command for a long packet's
//            data.
// Reset      drops everything. 64 cycles behind it all expected numbers are 0; until then no packet is loaded.
// busy_o     low at rest, and while it waits for a command.
// Source     paper, section 2.2; SEQ, order and reasons are ours.
module dimmnet1_execute (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic cpu_runs_i,
    input logic match_i,
    input logic answers_room_i,

    input logic load_valid_i,
    output logic load_ready_o,
    input logic load_runt_i,
    input logic [2:0][63:0] load_header_i,
    input logic word_valid_i,
    input logic [2:0] word_index_i,
    input logic [63:0] word_data_i,
    input logic whole_i,
    input logic whole_bad_i,
    input logic whole_payload_i,

    output logic tlb_req_valid_o,
    input logic tlb_req_ready_i,
    output logic [15:0] tlb_req_pgid_o,
    output logic [15:0] tlb_req_region_o,
    output logic [47:0] tlb_req_offset_o,
    output logic [12:0] tlb_req_bytes_o,
    output logic [1:0] tlb_req_kind_o,
    input logic tlb_rsp_valid_i,
    input logic [31:0] tlb_rsp_addr_i,
    input logic [3:0] tlb_rsp_reason_i,
    input logic [1:0] tlb_rsp_miss_i,
    input logic [63:0] tlb_rsp_key_i,

    output logic otf_valid_o,
    input logic otf_ready_i,
    output logic [13:0] otf_addr_o,
    output logic [63:0] otf_data_o,
    output logic [7:0] otf_strb_o,

    output logic stop_valid_o,
    output logic [3:0] stop_cause_o,
    output logic stop_more_o,
    output logic [63:0] stop_key_o,
    output logic [5:0][63:0] hdr_o,
    input logic hdr_write_valid_i,
    input logic [2:0] hdr_write_index_i,
    input logic [1:0] hdr_write_strb_i,
    input logic [63:0] hdr_write_data_i,
    input logic go_valid_i,
    input logic [2:0] go_what_i,
    input logic [3:0] go_reason_i,
    input logic [15:0] go_bytes_i,
    input logic [31:0] go_addr_i,
    output logic dma_done_o,
    output logic [3:0] dma_reason_o,
    output logic mat_valid_o,
    output logic mat_more_o,
    input logic mat_pass_i,

    output logic pull_valid_o,
    input logic pull_ready_i,
    output logic [63:0] pull_data_o,
    output logic pull_last_o,

    output logic move_valid_o,
    input logic move_ready_i,
    output logic move_drop_o,
    output logic move_part_o,
    output logic [31:0] move_addr_o,
    output logic [12:0] move_bytes_o,
    input logic move_ended_i,

    output logic put_valid_o,
    input logic put_ready_i,
    output logic put_write_o,
    output logic [3:0] put_reason_o,
    output logic put_again_o,
    output logic put_ask_o,
    output logic put_tell_o,
    output logic put_nack_o,
    output logic put_count_o,
    output logic put_number_o,
    output logic put_quiet_o,
    output logic [15:0] put_src_o,
    output logic [15:0] put_pgid_o,
    output logic [15:0] put_tag_o,
    output logic [31:0] put_seq_o,
    input logic settled_i,
    input logic next_valid_i,
    input logic [5:0] next_src_i,
    input logic [31:0] next_seq_i,
    input logic quiet_done_i,
    input logic [3:0] quiet_reason_i
);
  typedef enum logic [2:0] {
    Idle,
    Begin,  // LENGTH is checked, the expected number looked up
    Compare,  // SEQ is compared
    Wait,  // until the header is whole and translated
    Act,
    Pull,  // its words go to the queue of answers
    Match,
    Stop
  } state_e;
  state_e state_q;

  // What kind of packet it is; none of these: a type that the card lacks.
  typedef struct packed {
    logic push;
    logic pull;
    logic reply;
    logic ack;
    logic nack;
    logic otf;
    logic trap;   // for matcher and processor
  } kind_t;
  kind_t kind_q, kind_in;
  logic [7:0] type_in;
  assign type_in = load_header_i[0][dimmnet1_pkg::HdrW0TypeLsb+:8];
  assign kind_in.push = type_in == 8'(dimmnet1_pkg::TypePush);
  assign kind_in.pull = type_in == 8'(dimmnet1_pkg::TypePull);
  assign kind_in.reply = type_in == 8'(dimmnet1_pkg::TypePullReply);
  assign kind_in.ack = type_in == 8'(dimmnet1_pkg::TypeAck);
  assign kind_in.nack = type_in == 8'(dimmnet1_pkg::TypeNack);
  assign kind_in.otf = type_in == 8'(dimmnet1_pkg::TypeOtf);
  assign kind_in.trap = type_in >= 8'(dimmnet1_pkg::TypeIndirect);

  // ------------------------------------------------------------------------------------------------------------ header
  logic [5:0][63:0] hdr_q;
  logic load, stopped, writable, short, split, clearing_q;
  logic moving_q;  // a part's data are to come
  logic [15:0] len;
  logic [12:0] bytes_q;  // of the part, or of all
  assign load_ready_o = state_q == Idle && !clearing_q;
  assign load = load_valid_i && load_ready_o;
  assign stopped = state_q == Stop && !moving_q;
  assign writable = state_q == Match || stopped;
  assign short = hdr_q[0][dimmnet1_pkg::HdrW0OtfLsb];
  assign len = hdr_q[0][dimmnet1_pkg::HdrW0LengthLsb+:16];

  always_ff @(posedge clk_i) begin
    if (load) hdr_q <= {192'b0, load_header_i};
    for (int i = 0; i < 6; i++) begin
      if (word_valid_i && word_index_i == 3'(i)) hdr_q[i] <= word_data_i;
      if (hdr_write_valid_i && writable && hdr_write_index_i == 3'(i)) begin
        if (hdr_write_strb_i[0]) hdr_q[i][31:0] <= hdr_write_data_i[31:0];
        if (hdr_write_strb_i[1]) hdr_q[i][63:32] <= hdr_write_data_i[63:32];
      end
    end
    if (split) hdr_q[0][dimmnet1_pkg::HdrW0LengthLsb+:16] <= len - {3'b0, bytes_q};
  end

  logic multicast, ask;
  logic [15:0] src;
  logic [ 2:0] lane;
  logic [31:0] seq;
  assign multicast = hdr_q[0][dimmnet1_pkg::HdrW0MulticastLsb];
  assign src = hdr_q[0][dimmnet1_pkg::HdrW0SrcLsb+:16];
  assign seq = hdr_q[1][dimmnet1_pkg::HdrW1SeqLsb+:32];
  assign lane = hdr_q[2][2:0];
  assign ask = (kind_q.pull || hdr_q[0][dimmnet1_pkg::HdrW0AckReqLsb]) && !multicast &&
               !(kind_q.reply || kind_q.ack || kind_q.nack);

  // ----------------------------------------------------------------------------------------------------------- numbers
  // The read that counts is in a cycle without a write: all earlier packets are settled.
  (* no_rw_check *) logic [31:0] expected_mem_q[64];
  logic [31:0] expected_q, ahead;
  logic [5:0] clear_q;
  logic numbered, ordered;
  assign ahead = seq - expected_q;
  assign numbered = hdr_q[0][dimmnet1_pkg::HdrW0FSeqLsb] && !kind_q.ack && !kind_q.nack;
  assign ordered = numbered || kind_q.otf || kind_q.pull;

  always_ff @(posedge clk_i) begin
    if (clearing_q || next_valid_i) begin
      expected_mem_q[clearing_q?clear_q : next_src_i] <= clearing_q ? '0 : next_seq_i;
    end
    if (state_q == Begin) expected_q <= (src[15:6] == '0) ? expected_mem_q[src[5:0]] : '0;
    clear_q <= clearing_q ? clear_q + 6'd1 : '0;
    if (rst_i) begin
      clear_q <= '0;
      clearing_q <= 1'b1;
    end else if (clear_q == '1) begin
      clearing_q <= 1'b0;
    end
  end

  // ------------------------------------------------------------------------------------------------------------ checks
  logic long_bad, short_bad, empty, form_bad;
  assign empty = len == '0;
  assign long_bad = len[15:13] != '0 || (len[12] && len[11:0] != '0);
  assign short_bad = len[15:4] != '0 || (len[3] && len[2:0] != '0);
  always_comb begin
    if (kind_q.ack || kind_q.nack) form_bad = !short || !empty;
    else if (kind_q.otf) form_bad = !short || empty || short_bad || ({2'b0, lane} + {1'b0, len[3:0]}) > 5'd8;
    else if (kind_q.pull) form_bad = !short || empty || long_bad || lane != '0;
    else form_bad = (short ? short_bad : long_bad) || (empty && !(short && kind_q.trap)) || lane != '0;
  end

  logic whole_q, bad_q, payload_q;  // of the header, as it came
  logic open_q;  // a lookup is under way
  logic resumed_q;  // by CONTINUE
  logic mute_q;  // nobody is answered
  logic drop_q, dma_q, dma_bad, wraps;
  logic part_q, served_q;  // a part is under way; the matcher began the last one
  logic fewer, part_bad;  // PART asks for less than all; a part that none may be
  logic form_q, gap_q, dup_q, room_q;
  logic [31:0] addr_q;
  logic [63:0] key_q;
  logic [3:0] reason_q, found_q, cause_q;  // found: by the translation
  logic [1:0] miss_q;
  logic translates, looked;
  assign translates = kind_q.push || kind_q.reply || kind_q.otf;
  assign looked = !open_q || tlb_rsp_valid_i;
  assign wraps = go_addr_i[31:12] == '1 && {1'b0, go_addr_i[11:0]} + len[12:0] > 13'h1000;
  assign dma_bad = empty || (short ? short_bad : long_bad) || !payload_q || go_addr_i[2:0] != '0 || wraps;
  assign fewer = go_bytes_i < len;
  assign part_bad = part_q && (bytes_q[2:0] != '0 || bytes_q == '0 || {3'd0, bytes_q} >= len);

  // ---------------------------------------------------------------------------------------------------------- decision
  logic refused, missed, moves, writes, bare, ends, quits;
  assign refused = reason_q != '0 || (translates && found_q != '0 && !drop_q && !dma_q);
  assign missed  = !refused && translates && miss_q != '0 && !drop_q && !dma_q;
  assign writes  = !refused && (dma_q || ((kind_q.push || kind_q.reply) && !drop_q));
  assign moves   = payload_q && (writes || refused || drop_q);
  assign bare    = writes && !payload_q;  // the data ended in a part
  // It ends in this cycle unless something is not ready.
  always_comb begin
    if (bare) ends = 1'b0;
    else if (dma_q) ends = settled_i;
    else if (refused || drop_q) ends = 1'b1;
    else if (kind_q.trap || missed || kind_q.pull) ends = 1'b0;
    else if (kind_q.otf) ends = otf_ready_i;
    else ends = 1'b1;
  end
  assign quits = (state_q == Act && ends && put_ready_i && (!moves || move_ready_i)) ||
                 (state_q == Pull && pull_last_o && pull_ready_i);

  assign split = quits && part_q && writes;

  assign move_valid_o = state_q == Act && quits && moves;
  assign move_part_o = split;
  assign move_drop_o = !writes;
  assign move_addr_o = addr_q;
  assign move_bytes_o = bytes_q;

  assign put_valid_o = quits;
  assign put_write_o = writes;
  assign put_reason_o = refused ? (reason_q != '0 ? reason_q : found_q) :
                        kind_q.nack ? hdr_q[2][dimmnet1_pkg::AnswerReasonLsb+:4] : '0;
  assign put_again_o = dup_q && reason_q == 4'(dimmnet1_pkg::ReasonSequence);
  assign put_ask_o = ask && state_q == Act && !mute_q && !drop_q && !dma_q && !split;
  assign put_tell_o = (kind_q.reply && !drop_q && !dma_q && !split) || ((kind_q.ack || kind_q.nack) && !refused);
  assign put_nack_o = kind_q.nack;
  assign put_count_o = (refused || !(kind_q.ack || kind_q.nack)) && !split;
  assign put_number_o = numbered && src[15:6] == '0 && !split;
  assign put_quiet_o = dma_q;
  assign put_src_o = src;
  assign put_pgid_o = hdr_q[1][dimmnet1_pkg::HdrW1PgidLsb+:16];
  assign put_tag_o = hdr_q[1][dimmnet1_pkg::HdrW1TagLsb+:16];
  assign put_seq_o = (kind_q.ack || kind_q.nack) ? hdr_q[2][dimmnet1_pkg::AnswerSeqLsb+:32] :
                     (gap_q && !dup_q && reason_q == 4'(dimmnet1_pkg::ReasonSequence)) ? expected_q : seq;

  assign otf_valid_o = state_q == Act && kind_q.otf && !refused && !drop_q && !dma_q && miss_q == '0;
  assign otf_addr_o = {addr_q[13:3], lane};
  assign otf_data_o = hdr_q[3] << {lane, 3'b0};
  assign otf_strb_o = ~(8'hFF << len[3:0]) << lane;

  logic [1:0] word_q;
  assign pull_valid_o = state_q == Pull;
  assign pull_data_o  = hdr_q[{1'b0, word_q}];
  assign pull_last_o  = word_q == 2'd3;

  logic req_q;
  assign tlb_req_valid_o  = req_q;
  assign tlb_req_pgid_o   = hdr_q[1][dimmnet1_pkg::HdrW1PgidLsb+:16];
  assign tlb_req_region_o = hdr_q[2][dimmnet1_pkg::HdrW2RegionLsb+:16];
  assign tlb_req_offset_o = hdr_q[2][dimmnet1_pkg::HdrW2OffsetLsb+:48];
  assign tlb_req_bytes_o  = bytes_q;
  assign tlb_req_kind_o   = {kind_q.otf, 1'b0};

  // ------------------------------------------------------------------------------------------------------------- state
  always_ff @(posedge clk_i) begin
    if (whole_i) begin
      whole_q   <= 1'b1;
      bad_q     <= whole_bad_i;
      payload_q <= whole_payload_i;
    end else if (load) begin
      whole_q   <= 1'b0;
      payload_q <= 1'b0;
    end else if (move_ended_i) begin
      payload_q <= 1'b0;
    end
    if (split) moving_q <= 1'b1;
    else if (move_ready_i) moving_q <= 1'b0;
    if (tlb_req_ready_i) req_q <= 1'b0;
    if (tlb_rsp_valid_i) begin
      open_q  <= 1'b0;
      addr_q  <= tlb_rsp_addr_i;
      found_q <= tlb_rsp_reason_i;
      miss_q  <= tlb_rsp_miss_i;
      key_q   <= tlb_rsp_key_i;
    end
    case (state_q)
      Idle: begin
        kind_q <= load_runt_i ? '0 : kind_in;
        mute_q <= load_runt_i;
        {resumed_q, drop_q, dma_q, gap_q, dup_q, part_q, served_q} <= '0;
        {found_q, miss_q, key_q, word_q} <= '0;
        bytes_q <= load_header_i[0][dimmnet1_pkg::HdrW0LengthLsb+:13];
        reason_q <= load_runt_i ? 4'(dimmnet1_pkg::ReasonLength) : '0;
        if (load) begin
          state_q <= load_runt_i ? Act : Begin;
          req_q   <= !load_runt_i && (kind_in.push || kind_in.reply || kind_in.otf);
          open_q  <= !load_runt_i && (kind_in.push || kind_in.reply || kind_in.otf);
        end
      end
      Begin: begin
        form_q <= form_bad || part_bad;
        room_q <= answers_room_i;
        if (!ordered || resumed_q || settled_i) state_q <= Compare;
      end
      Compare: begin
        gap_q   <= numbered && !resumed_q && (src[15:6] != '0 || ahead != '0);
        dup_q   <= numbered && !resumed_q && src[15:6] == '0 && ahead[31] && ahead[30:0] != '0;
        state_q <= Wait;
      end
      Wait:
      if (whole_q && looked && (!moving_q || move_ready_i)) begin
        state_q <= Act;
        if (resumed_q) reason_q <= (form_q || !(payload_q || kind_q.otf)) ? 4'(dimmnet1_pkg::ReasonLength) : '0;
        else if ((ask || kind_q.pull) && !room_q) begin
          reason_q <= 4'(dimmnet1_pkg::ReasonCredit);
          mute_q   <= 1'b1;
        end else if (kind_q == '0) reason_q <= 4'(dimmnet1_pkg::ReasonType);
        else if (bad_q || form_q) reason_q <= 4'(dimmnet1_pkg::ReasonLength);
        else if (gap_q) reason_q <= 4'(dimmnet1_pkg::ReasonSequence);
      end
      Act:
      if (quits) begin
        state_q <= !split ? Idle : served_q ? Match : Stop;
        part_q  <= 1'b0;
        key_q   <= '0;
        cause_q <= 4'(dimmnet1_pkg::StopType);
      end else if (bare) begin
        reason_q <= 4'(dimmnet1_pkg::ReasonLength);
      end else if (!refused && !drop_q && !dma_q) begin
        if (kind_q.trap && match_i) begin
          state_q <= Match;
        end else if (kind_q.trap || missed) begin
          cause_q <= kind_q.trap ? 4'(dimmnet1_pkg::StopType) :
                     miss_q[0] ? 4'(dimmnet1_pkg::StopRvatlb) : 4'(dimmnet1_pkg::StopPatlb);
          if (cpu_runs_i) state_q <= Stop;
          else reason_q <= 4'(dimmnet1_pkg::ReasonUnserved);
        end else if (kind_q.pull) begin
          state_q <= Pull;
        end
      end
      Pull:
      if (pull_ready_i) begin
        word_q <= word_q + 2'd1;
        if (pull_last_o) state_q <= Idle;
      end
      default: begin  // Match, Stop
        if (go_valid_i && writable) begin
          case (go_what_i)
            3'(dimmnet1_pkg::GoContinue), 3'(dimmnet1_pkg::GoPart): begin
              state_q   <= Begin;
              resumed_q <= 1'b1;
              if (go_what_i == 3'(dimmnet1_pkg::GoPart)) begin
                part_q  <= fewer;
                bytes_q <= fewer ? go_bytes_i[12:0] : len[12:0];
              end else if (!part_q) begin
                bytes_q <= len[12:0];
              end
              if (!part_q) served_q <= state_q == Match;
              kind_q.push <= kind_q.push || kind_q.trap;
              kind_q.trap <= 1'b0;
              req_q <= 1'b1;
              open_q <= 1'b1;
            end
            3'(dimmnet1_pkg::GoDrop): begin
              state_q <= Act;
              drop_q  <= 1'b1;
            end
            3'(dimmnet1_pkg::GoNack): begin
              state_q  <= Act;
              reason_q <= (go_reason_i == '0) ? 4'(dimmnet1_pkg::ReasonFirmware) : go_reason_i;
            end
            3'(dimmnet1_pkg::GoDma): begin
              state_q <= Act;
              dma_q   <= 1'b1;
              part_q  <= 1'b0;
              bytes_q <= len[12:0];
              addr_q  <= go_addr_i;
              if (dma_bad) reason_q <= 4'(dimmnet1_pkg::ReasonLength);
            end
            default: ;
          endcase
        end else if (state_q == Match && mat_pass_i) begin
          cause_q <= 4'(dimmnet1_pkg::StopType);
          state_q <= cpu_runs_i ? Stop : Act;
          if (!cpu_runs_i) reason_q <= 4'(dimmnet1_pkg::ReasonUnserved);
        end
      end
    endcase
    if (rst_i) begin
      state_q  <= Idle;
      req_q    <= 1'b0;
      open_q   <= 1'b0;
      moving_q <= 1'b0;
    end
  end

  assign stop_valid_o = stopped;
  assign stop_cause_o = cause_q;
  assign stop_key_o = key_q;
  assign hdr_o = hdr_q;
  assign stop_more_o = cause_q == 4'(dimmnet1_pkg::StopType) && !kind_q.trap && !served_q;
  assign mat_valid_o = state_q == Match;
  assign mat_more_o = !kind_q.trap;

  always_ff @(posedge clk_i) begin
    if (quiet_done_i) dma_reason_o <= quiet_reason_i;
    if (rst_i) dma_done_o <= 1'b0;
    // A transfer before the one that waits in Act does not count.
    else if (dma_q && state_q == Act) dma_done_o <= 1'b0;
    else if (quiet_done_i) dma_done_o <= 1'b1;
  end

  assign busy_o = clearing_q || moving_q || !(state_q == Idle || state_q == Match || state_q == Stop);
endmodule
