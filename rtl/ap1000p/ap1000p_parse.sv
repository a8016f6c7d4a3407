// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, inside ap1000p_receive: parses messages, finds the broken ones, and says what is to be done with each.
//
// Input      whole messages of one class, route word first.
// Data       of a message that brings some: a job (`length_o`, `word_o`: for whom, where, with which stride, how many),
//            and from then on its words. `data_end_o` marks the last one that came or was announced, `data_short_o`
//            says that more were.
// Ring       a message for a ring buffer requests a slot: `ring_valid_o` until `ring_done_i`, with `ring_reason_i` if
//            there is none. Then it is a job, and its first two words are the header, from here. The flag's address has
//            then replaced the last word in `word_o`.
// Operation  everything else: `op_valid_o`, held until `op_done_i`, with `op_reason_i` if it was not done. Its operands
//            hold; the words of the head from the third on have been put to `head_*_o`. Words for communication
//            registers are operations, too.
// Note       of each message, in order, after its last word and its operation: its result (regs.toml, "BROKEN"),
//            whether a job was given, whether a flag counts (address: `word_o[0]`).
// Latency    data pass in the same cycle. A message with data costs no cycle beyond its words; one without costs one
//            more, and its operation's time; one for a ring buffer two more, and the time until it has a slot.
// Full       `in_ready_o` is low during an operation, while the job before has runs left, and while data or notes are
//            not taken.
// Reset      drops everything; the next word is a route.
// Source     kinds and words: docs/machines/ap1000p.md. Order and checks: own guess.
module ap1000p_parse #(
    parameter bit Reply = 1'b0  // replies, otherwise requests
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [31:0] in_data_i,
    input logic in_last_i,

    // Of the message under way, until the cycle after its note is first offered.
    output logic [15:0] kind_o,
    output logic [7:0] x_o,
    output logic [7:0] y_o,
    output logic [31:0] length_o,  // {context, words}
    output logic [2:0][31:0] word_o,  // the last words of its head, the very last in [0]

    output logic job_valid_o,
    input logic job_ready_i,
    output logic data_valid_o,
    input logic data_ready_i,
    output logic data_end_o,
    output logic data_short_o,
    output logic [31:0] data_o,

    output logic ring_valid_o,
    input logic ring_done_i,
    input logic [3:0] ring_reason_i,

    output logic head_put_o,
    output logic [3:0] head_index_o,
    output logic op_valid_o,
    output logic [2:0] op_o,  // GET, atomic, load, store, register: ap1000p_reply
    input logic op_done_i,
    input logic [3:0] op_reason_i,

    output logic load_valid_o,
    input logic load_ready_i,
    output logic load_err_o,
    output logic [63:0] load_data_o,
    output logic ack_o,

    output logic note_valid_o,
    input logic note_ready_i,
    output logic [3:0] note_reason_o,
    output logic note_job_o,
    output logic note_flag_o
);
  typedef enum logic [3:0] {
    Get,  // the first ones are operations
    Atomic,
    Load,
    Store,
    Data,  // to memory or communication registers
    Ring,
    Loaded,
    Stored,
    Unknown
  } what_e;
  localparam logic [2:0] OpRegister = 3'd4;

  typedef enum logic [3:0] {
    Route,
    What,
    Head,
    Body,  // data for memory
    Judge,
    Place,  // in a ring buffer: a slot is requested
    Header,  // the header goes into it
    Word,  // for a communication register
    Operate,
    Drain
  } state_e;
  state_e state_q;

  localparam logic [3:0] None = 4'(ap1000p_pkg::BrokenNone);
  localparam logic [3:0] Class = 4'(ap1000p_pkg::BrokenClass);
  localparam logic [3:0] Kind = 4'(ap1000p_pkg::BrokenKind);
  localparam logic [3:0] Short = 4'(ap1000p_pkg::BrokenShort);
  localparam logic [3:0] Long = 4'(ap1000p_pkg::BrokenLong);
  localparam logic [3:0] Address = 4'(ap1000p_pkg::BrokenAddress);

  // -------------------------------------------------------------------------------------------------------- page codes
  localparam logic [15:0] Spaces = 16'd1 << ap1000p_pkg::PageAsSendLsb | 16'd1 << ap1000p_pkg::PageAsReceiveLsb;
  localparam logic [15:0] Registers = 16'd1 << ap1000p_pkg::PageAsReceiveLsb;
  localparam logic [15:0] ToRing = 16'd1 << ap1000p_pkg::PageAsSendLsb | 16'd1 << ap1000p_pkg::PageSendLsb;
  localparam logic [15:0] Broadcast = 16'd1 << ap1000p_pkg::PageRowLsb | 16'd1 << ap1000p_pkg::PageColumnLsb;
  localparam logic [15:0] AsSend = 16'd1 << ap1000p_pkg::PageAsSendLsb;
  localparam logic [15:0] Size = 16'd3 << ap1000p_pkg::PageSizeLsb;
  // Bits that every kind may have.
  localparam logic [15:0] Always = 16'h8007 | 16'd1 << ap1000p_pkg::PageSystemLsb;
  localparam logic [3:0] Made = 4'd8;  // {DIRECT, KIND}

  what_e what, what_q;
  logic [15:0] may;  // the bits that it may have
  logic is_ring;
  assign is_ring = in_data_i[16+ap1000p_pkg::PageSendLsb];
  always_comb begin
    what = Unknown;
    may  = Always;
    case ({
      in_data_i[31], in_data_i[18:16]
    })
      4'(ap1000p_pkg::KindPut):
      if (!Reply) begin
        what = is_ring ? Ring : Data;
        may  = Always | Broadcast | (is_ring ? ToRing : Spaces);
        // No page sends from registers to all cells.
        if ((~in_data_i[31:16] & Broadcast) == '0) may = may & ~AsSend;
      end
      4'(ap1000p_pkg::KindGet):
      if (!Reply) begin
        what = Get;
        may  = Always | Spaces;
      end
      4'(ap1000p_pkg::KindCsi), 4'(ap1000p_pkg::KindFop): if (!Reply) what = Atomic;
      Made | 4'(ap1000p_pkg::MadeLoad), Made | 4'(ap1000p_pkg::MadeStore):
      if (!Reply) begin
        what = in_data_i[16] == 1'(ap1000p_pkg::MadeLoad) ? Load : Store;
        may  = Always | Registers | Size;
      end
      Made | 4'(ap1000p_pkg::MadeGetReply):
      if (Reply) begin
        what = Data;
        may  = Always | Spaces;
      end
      Made | 4'(ap1000p_pkg::MadeAtomicReply): if (Reply) what = Data;
      Made | 4'(ap1000p_pkg::MadeLoadReply), Made | 4'(ap1000p_pkg::MadeStoreAck):
      if (Reply) begin
        what = in_data_i[16] == 1'(ap1000p_pkg::MadeLoadReply) ? Loaded : Stored;
        may  = Always | Registers | Size;
      end
      default: ;
    endcase
    if ((in_data_i[31:16] & ~may) != '0) what = Unknown;
  end

  // ------------------------------------------------------------------------------------------------------------ checks
  logic [3:0] count_q, need, reason_q, judged;  // words taken; of the head
  logic [19:0] left_q;  // words of data to come
  logic class_q, none_q, final_q, ended_q, end_q, job_q, double, take, ends, registers, range;
  assign double = kind_o[ap1000p_pkg::PageSizeLsb+:2] == '1;
  assign registers = kind_o[ap1000p_pkg::PageAsReceiveLsb];
  always_comb begin
    case (what_q)
      Get, Atomic: need = 4'd9;
      Data, Ring:  need = 4'd6;
      Store:       need = double ? 4'd5 : 4'd4;
      Loaded:      need = double ? 4'd4 : 4'd3;
      Stored:      need = 4'd2;
      default:     need = 4'd3;
    endcase
  end
  // All `length_o` words from this address on are registers.
  assign range = word_o[2][31:9] == '0 && word_o[2][1:0] == '0 && length_o[19:8] == '0 &&
                 {1'b0, length_o[7:0]} + {2'b0, word_o[2][8:2]} <= 9'd128;

  logic brings, refused_load;
  assign brings = (what_q == Data || what_q == Ring) && !none_q;
  assign refused_load = what_q == Loaded && count_q == 4'd2;
  always_comb begin
    judged = None;
    if (class_q) judged = Class;
    else if (count_q >= 4'd2 && what_q == Unknown) judged = Kind;
    else if (ended_q && ((count_q < need && !refused_load) || brings || count_q < 4'd2)) judged = Short;
    else if ((!ended_q || count_q > need) && !brings) judged = Long;
    else if (what_q == Data && registers && !none_q && !range) judged = Address;
  end

  // The result of an operation. Another word may follow that of a register.
  logic over_q, more;
  logic [3:0] done;
  always_comb begin
    done = op_reason_i;
    if (op_reason_i == None && what_q == Data) begin
      if (!ended_q) done = Long;  // or there are more, and it does not count
      if (!over_q && ended_q) done = Short;
    end
  end
  assign more = what_q == Data && op_reason_i == None && !over_q && !ended_q;

  // Data come after their job, or with it.
  logic given, header_take, second_q;
  assign given = !job_valid_o || job_ready_i;
  assign header_take = state_q == Header && given && data_ready_i;

  assign take = in_valid_i && in_ready_o;
  assign ends = in_last_i || final_q;
  always_comb begin
    case (state_q)
      Route:   in_ready_o = !end_q || note_ready_i;
      Body:    in_ready_o = data_ready_i && given;
      Judge, Place, Header, Operate: in_ready_o = 1'b0;
      default: in_ready_o = 1'b1;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      ended_q <= in_last_i;
      case (state_q)
        Route: begin
          class_q <= in_data_i[ap1000p_pkg::MessageRouteReplyLsb] != Reply;
          count_q <= 4'd1;
          job_q <= 1'b0;
          {kind_o, y_o, x_o} <= '0;
        end
        What: begin
          count_q <= 4'd2;
          what_q <= what;
          {kind_o, y_o, x_o} <= in_data_i;
        end
        Head: begin
          count_q <= count_q + 4'd1;
          word_o  <= {word_o[1:0], in_data_i};
          if (count_q == 4'd2) begin
            length_o <= in_data_i;
            left_q   <= in_data_i[19:0];
            none_q   <= in_data_i[19:0] == '0;
            final_q  <= in_data_i[19:0] == 20'd1;
          end
        end
        Word: begin
          word_o[1] <= in_data_i;
          over_q <= final_q;
        end
        default: ;
      endcase
      if (state_q == Body || state_q == Word) begin
        left_q  <= left_q - 20'd1;
        final_q <= left_q == 20'd2;
      end
    end
    if (state_q == Operate && op_done_i) word_o[2][8:2] <= word_o[2][8:2] + 7'd1;
    if (header_take && !second_q) word_o <= {word_o[1:0], word_o[2]};
    if (state_q == Place || header_take) second_q <= header_take;

    if (rst_i) begin
      state_q <= Route;
      end_q <= 1'b0;
      job_valid_o <= 1'b0;
      ack_o <= 1'b0;
    end else begin
      if (note_ready_i) end_q <= 1'b0;
      if (job_ready_i) job_valid_o <= 1'b0;
      ack_o <= 1'b0;
      case (state_q)
        Route: if (take) state_q <= in_last_i ? Judge : What;
        What:  if (take) state_q <= in_last_i ? Judge : Head;
        Head:
        if (take && (in_last_i || count_q + 4'd1 >= need)) begin
          if (!in_last_i && what_q == Data && !registers && !none_q && !class_q) begin
            state_q <= Body;
            job_valid_o <= 1'b1;
            job_q <= 1'b1;
          end else begin
            state_q <= Judge;
          end
        end
        Body:
        if (take && ends) begin
          state_q <= in_last_i ? Route : Drain;
          end_q <= in_last_i;
          reason_q <= !in_last_i ? Long : !final_q ? Short : None;
        end
        Judge: begin
          reason_q <= judged;
          if (judged != None) begin
            state_q <= ended_q ? Route : Drain;
            end_q   <= ended_q;
            // A load is over, whatever came.
            if (what_q == Loaded && judged != Class && count_q >= 4'd2) begin
              state_q <= Operate;
              end_q   <= 1'b0;
            end
          end else if (what_q == Stored || (what_q == Data && none_q)) begin
            state_q <= Route;
            end_q   <= 1'b1;
            ack_o   <= what_q == Stored;
          end else begin
            state_q <= (what_q == Data) ? Word : (what_q == Ring) ? Place : Operate;
          end
        end
        Place:
        if (ring_done_i) begin
          reason_q <= ring_reason_i;
          if (ring_reason_i == None) begin
            state_q <= Header;
            job_valid_o <= 1'b1;
            job_q <= 1'b1;
          end else begin
            state_q <= ended_q ? Route : Drain;
            end_q   <= ended_q;
          end
        end
        Header:
        if (header_take && second_q) begin
          state_q <= none_q ? Route : Body;
          end_q   <= none_q;
        end
        Word:  if (take) state_q <= Operate;
        Operate:
        if (what_q == Loaded ? load_ready_i : op_done_i) begin
          if (what_q != Loaded) reason_q <= done;
          state_q <= more ? Word : ended_q ? Route : Drain;
          end_q   <= !more && ended_q;
        end
        default:
        if (take && in_last_i) begin
          state_q <= Route;
          end_q   <= 1'b1;
        end
      endcase
    end
  end

  assign data_valid_o = (in_valid_i && state_q == Body || state_q == Header) && given;
  assign data_end_o = (state_q == Header) ? second_q && none_q : ends;
  assign data_short_o = state_q == Body && in_last_i && !final_q;
  assign data_o = (state_q == Header) ? word_o[1] : in_data_i;
  assign ring_valid_o = state_q == Place;
  assign head_put_o = state_q == Head;
  assign head_index_o = count_q;
  assign op_valid_o = state_q == Operate && what_q != Loaded;
  assign op_o = (what_q == Data) ? OpRegister : 3'(what_q);
  assign load_valid_o = state_q == Operate && what_q == Loaded;
  assign load_err_o = refused_load || reason_q != None;
  assign load_data_o = {word_o[0], double ? word_o[1] : word_o[0]};
  assign note_valid_o = end_q;
  assign note_reason_o = reason_q;
  assign note_job_o = job_q;
  assign note_flag_o = what_q == Data || what_q == Ring;
  assign busy_o = state_q != Route || end_q;
endmodule
