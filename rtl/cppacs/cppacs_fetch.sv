// CP-PACS NIA, fetch: reads the TCW of a kick, checks it, and gives the sender a descriptor, or the refusal.
//
// Kicks      `next` of cppacs_kicks, taken while `run_i`. The channels alternate where both have kicks. A kick of the
//            data channel is taken when the descriptor before has gone to the sender, one of the acknowledge channel
//            when its sender is ready. So a kick waits for one fetch of the other channel at most.
// TCW        one burst of 16 words, by client 3 of the words unit; each word is used as it comes. Where the process's
//            table has no such TCW nothing is read.
// Process    `process_o`; in the next cycle `area_*_i` and `tcw_*_i` are that process's. SIZE of areas, fields and
//            rights is a multiple of 8.
// Lookups    port 2 of cppacs_tables.
// Descriptor of cppacs_desc_pkg, by channel. `desc_ready_i[1]` is high when the acknowledge sender takes a whole one.
// Checks     in this order: TCW (its number), MEMORY, TCW (VALID), KIND, SHAPE, LENGTH, AREA, RIGHT, OWNER, KIND
//            (MASK on the acknowledge channel), NOWHERE, LIMIT, REPLY. The first one that fails is the reason. What a
//            kind does not use is not looked at. Sums have 33 bits.
// Latency    3 cycles from kick to job; 4 from the burst's end to the descriptor's last word. An idle NIA's first word
//            leaves 39 cycles and a read of memory after the host's write.
// Full       kicks wait.
// busy_o     low when no TCW is under way, and no descriptor of the data channel waits. Kicks may wait.
// Source     paper, section 3: send rights are checked; the TCW and the order of checks are ours.
module cppacs_fetch (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic run_i,
    input logic [12:0] place_i,
    input logic [12:0] last_i,  // highest coordinates of the grid
    input logic [1:0] next_valid_i,
    output logic [1:0] next_take_o,
    input logic [1:0][2:0] next_process_i,
    input logic [1:0][15:0] next_tcw_i,

    output logic [ 2:0] process_o,
    input  logic [31:0] area_base_i,
    input  logic [31:0] area_size_i,
    input  logic [31:0] tcw_base_i,
    input  logic [16:0] tcw_count_i,

    output logic job_valid_o,
    input logic job_ready_i,
    output logic [31:0] job_addr_o,
    input logic job_data_valid_i,
    input logic [31:0] job_data_i,
    input logic job_done_i,
    input logic job_err_i,

    output logic look_valid_o,
    input logic look_ready_i,
    output logic look_right_o,
    output logic [9:0] look_index_o,
    input logic look_for_i,
    input logic [63:0] look_first_i,
    input logic [63:0] look_second_i,
    input logic [31:0] look_flag_i,

    output logic [1:0] desc_valid_o,
    input logic [1:0] desc_ready_i,
    output logic [1:0][3:0] desc_index_o,
    output logic [1:0][31:0] desc_data_o
);
  typedef enum logic [2:0] {
    Idle,
    Take,
    Locate,
    Ask,
    Read
  } state_e;
  // The words that a descriptor has beside those of the TCW, in this order; one bit each.
  localparam int TellWhat = 0;
  localparam int TellSize = 1;
  localparam int TellF1 = 2;
  localparam int TellF2 = 3;
  localparam int TellKey = 4;
  localparam int TellF4 = 5;
  localparam int TellF0 = 6;
  logic [6:0] tell_q, tell_d;
  state_e state_q;
  logic [29:0] limit_free, reply_free;
  logic unused;  // sizes and addresses are multiples
  assign unused = ^{area_base_i[2:0], area_size_i[2:0], tcw_base_i[5:0], look_second_i[34:0], look_flag_i[2:0],
                    limit_free[28:0], reply_free[28:0]};

  logic out_valid_q;

  // ------------------------------------------------------------------------------------------------------------- kicks
  logic ack_q, turn_q, data_empty, pick;
  logic [ 1:0] can;
  logic [ 2:0] process_q;
  logic [15:0] tcw_q;
  assign can = next_valid_i & {desc_ready_i[1], data_empty} & {2{run_i && !out_valid_q}};
  assign pick = can[1] && (turn_q || !can[0]);
  assign next_take_o = (state_q == Take) ? {ack_q, !ack_q} : 2'd0;
  assign process_o = process_q;

  // --------------------------------------------------------------------------------------------- the TCW, word by word
  // In units of 8 bytes where only these count.
  logic come, strided_q, flagged_q, notify_q, valid_q, request, beyond_q;
  logic [2:0] kind_q;
  logic [3:0] word_q;
  logic [28:0] source_q, length_q, x;
  logic [29:0] sum_d, sum_q, limit_sum_q, reply_sum_q, room;
  logic [28:0] room_q, right_size_q, reply_size_q;
  logic kind_bad_q, shape_bad_q, length_bad_q, source_bad_q, flag_bad_q, flag_off_q, memory_bad_q, done_q;
  logic is_source_q, is_flag_q, is_first_q;
  logic [3:0] above;  // LENGTH is above 8, SizeAck, SizeWorm, SizeTransfer
  logic too_long;
  assign come = job_data_valid_i;
  assign request = kind_q != 3'(cppacs_pkg::KindWrite);

  always_comb begin
    x = '0;
    if (word_q == 4'd2 || word_q == 4'd5) x = source_q;
    if ((word_q == 4'd3 && !strided_q) || word_q == 4'd9) x = length_q;
    if ((word_q == 4'd3 && strided_q) || word_q == 4'd4) x = 29'd1;
    case (kind_q)
      3'(cppacs_pkg::KindWrite): too_long = ack_q ? above[1] : above[3];
      3'(cppacs_pkg::KindGet): too_long = above[2];
      default: too_long = above[0];
    endcase
  end
  // Each is a power of two, and LENGTH is a multiple of 8, or bad anyhow.
  for (genvar i = 0; i < 4; i++) begin : gen_above
    localparam int Most = (i == 0) ? 8 : (i == 1) ? cppacs_pkg::SizeAck :
        (i == 2) ? cppacs_pkg::SizeWorm : cppacs_pkg::SizeTransfer;
    localparam int Log = $clog2(Most);
    assign above[i] = job_data_i[31:Log+1] != '0 || (job_data_i[Log] && job_data_i[Log-1:0] != '0);
  end
  assign sum_d = {1'b0, job_data_i[31:3]} + {1'b0, x};
  assign room  = {1'b0, area_size_i[31:3]} - sum_q;

  logic odd, shape_counts;
  assign odd = job_data_i[2:0] != '0;
  always_comb begin
    case (word_q)
      4'd1: shape_counts = !request;
      4'd3: shape_counts = 1'b1;
      4'd4: shape_counts = flagged_q;
      4'd5, 4'd6, 4'd7: shape_counts = strided_q;
      4'd9: shape_counts = request;
      default: shape_counts = 1'b0;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (come) begin
      word_q <= word_q + 4'd1;
      sum_q  <= sum_d;
      case (word_q)
        4'd0: begin
          kind_q <= job_data_i[cppacs_pkg::TcwControlKindLsb+:3];
          {notify_q, flagged_q, strided_q} <= {
            job_data_i[cppacs_pkg::TcwControlNotifyLsb],
            job_data_i[cppacs_pkg::TcwControlFlaggedLsb],
            job_data_i[cppacs_pkg::TcwControlStridedLsb]
          };
          valid_q <= job_data_i[cppacs_pkg::TcwControlValidLsb];
          kind_bad_q <= job_data_i[cppacs_pkg::TcwControlChannelLsb] != ack_q;
        end
        4'd1: begin
          source_q <= job_data_i[31:3];
          shape_bad_q <= strided_q && ack_q;
          if (kind_q == 3'(cppacs_pkg::KindReply) || kind_q > 3'd4 || (request && !ack_q)) kind_bad_q <= 1'b1;
        end
        4'd2: begin
          length_q <= job_data_i[31:3];
          length_bad_q <= odd || job_data_i[31:3] == '0 || too_long;
        end
        4'd3: limit_sum_q <= sum_d;
        4'd4: flag_off_q <= odd;
        4'd5: if (strided_q && (job_data_i[31:19] != '0 || job_data_i[18:3] == '0)) shape_bad_q <= 1'b1;
        4'd8: beyond_q <= job_data_i[31:10] != '0;
        4'd9: reply_sum_q <= sum_d;
        default: ;
      endcase
      if (odd && shape_counts) shape_bad_q <= 1'b1;
      if (word_q == 4'd1) shape_bad_q <= (strided_q && ack_q) || (odd && !request);
    end
    is_first_q  <= come && word_q == 4'd1;
    is_source_q <= come && word_q == (strided_q ? 4'd5 : 4'd2);
    is_flag_q   <= come && word_q == 4'd4;
    if (is_first_q) room_q <= room[28:0];
    if (is_source_q) source_bad_q <= room[29];
    if (is_flag_q) flag_bad_q <= room[29];
    if (state_q == Take) {word_q, memory_bad_q, done_q} <= '0;
    if (job_done_i) {memory_bad_q, done_q} <= {job_err_i, 1'b1};
  end

  // ------------------------------------------------------------------------------------------------ rights and replies
  logic [31:0] place_q, key_q;
  logic looks_q, looked_q, right_q, reply_bad_q, counted_q;
  logic [9:0] index_q;
  assign look_valid_o = looks_q;
  assign look_right_o = right_q;
  assign look_index_o = index_q;
  assign limit_free   = {1'b0, right_size_q} - limit_sum_q;
  assign reply_free   = {1'b0, reply_size_q} - reply_sum_q;

  logic reply_asks;
  logic [9:0] reply_index_q;
  // Not before the word that names the field has come.
  assign reply_asks = state_q == Read && tell_q[TellKey] && right_q && looked_q &&
      (done_q || (word_q[3] && word_q != 4'd8));
  always_ff @(posedge clk_i) begin
    if (come && word_q == 4'd0) index_q <= job_data_i[9:0];
    if (come && word_q == 4'd8) reply_index_q <= job_data_i[9:0];
    if (reply_asks) index_q <= reply_index_q;
    if (look_for_i) begin
      key_q <= look_first_i[63:32];
      if (right_q) begin
        place_q <= look_first_i[31:0];
        right_size_q <= look_flag_i[31:3];
      end else begin
        reply_bad_q <= !look_first_i[cppacs_pkg::FieldStateEnabledLsb] ||
            look_first_i[cppacs_pkg::FieldStateOwnerLsb+:3] != process_q;
        reply_size_q <= look_second_i[63:35];
      end
    end
    if (come && word_q == 4'd0) right_q <= 1'b1;
    else if (reply_asks) right_q <= 1'b0;
    if (rst_i) {looks_q, looked_q} <= '0;
    else begin
      looks_q  <= (come && word_q == 4'd0) || reply_asks || (looks_q && !look_ready_i);
      looked_q <= look_for_i || (looked_q && state_q == Read && !reply_asks);
    end
  end

  // -------------------------------------------------------------------------------------------------------- the reason
  logic nowhere;
  logic [3:0] reason;
  assign nowhere =
      (!place_q[13] && place_q[3:0] > last_i[3:0]) || (!place_q[14] && place_q[8:4] > last_i[8:4]) ||
      (!place_q[15] && place_q[12:9] > last_i[12:9]);
  always_comb begin
    if (!counted_q) reason = 4'(cppacs_pkg::SendTcw);
    else if (memory_bad_q) reason = 4'(cppacs_pkg::SendMemory);
    else if (!valid_q) reason = 4'(cppacs_pkg::SendTcw);
    else if (kind_bad_q) reason = 4'(cppacs_pkg::SendKind);
    else if (shape_bad_q) reason = 4'(cppacs_pkg::SendShape);
    else if (length_bad_q) reason = 4'(cppacs_pkg::SendLength);
    else if ((source_bad_q && !request) || (flag_bad_q && flagged_q)) reason = 4'(cppacs_pkg::SendArea);
    else if (!place_q[cppacs_pkg::RightPlaceValidLsb]) reason = 4'(cppacs_pkg::SendRight);
    else if (place_q[cppacs_pkg::RightPlaceOwnerLsb+:3] != process_q) reason = 4'(cppacs_pkg::SendOwner);
    else if (ack_q && place_q[cppacs_pkg::RightPlaceMaskLsb+:3] != '0) reason = 4'(cppacs_pkg::SendKind);
    else if (nowhere) reason = 4'(cppacs_pkg::SendNowhere);
    else if (limit_free[29]) reason = 4'(cppacs_pkg::SendLimit);
    else if (request && (reply_bad_q || beyond_q || reply_free[29])) reason = 4'(cppacs_pkg::SendReply);
    else reason = '0;
  end

  // ---------------------------------------------------------------------------------------------------- the descriptor
  logic copies, adds, tells, told;
  logic [3:0] index, index_d, index_out_q;
  logic [31:0] told_word, out_q;
  // Words of the TCW go on as they come; two of them are offsets that become addresses.
  always_comb begin
    copies = come;
    adds   = 1'b0;
    index  = cppacs_desc_pkg::Offset;
    case (word_q)
      4'd1: begin
        index = ack_q ? cppacs_desc_pkg::AckAddress : cppacs_desc_pkg::Base;
        adds  = 1'b1;
      end
      4'd2: index = (ack_q && request) ? cppacs_desc_pkg::AckPayload + 4'd3 : cppacs_desc_pkg::Length;
      4'd3: index = cppacs_desc_pkg::Offset;
      4'd4: begin
        index = ack_q ? cppacs_desc_pkg::AckFlag : cppacs_desc_pkg::Flag;
        adds  = 1'b1;
      end
      4'd5: begin
        index  = cppacs_desc_pkg::Element;
        copies = come && !ack_q;
      end
      4'd6: begin
        index  = cppacs_desc_pkg::SourceStep;
        copies = come && !ack_q;
      end
      4'd7: begin
        index  = cppacs_desc_pkg::Step;
        copies = come && !ack_q;
      end
      4'd8, 4'd9, 4'd10, 4'd11, 4'd12, 4'd13: begin
        index = word_q - 4'd1;
        if (word_q == 4'd8) index = cppacs_desc_pkg::AckPayload;
        if (word_q == 4'd9) index = cppacs_desc_pkg::AckPayload + 4'd2;
        copies = come && ack_q && request;
      end
      default: copies = 1'b0;
    endcase
  end

  logic flags;
  assign flags = flagged_q && valid_q && !flag_off_q && !flag_bad_q && !memory_bad_q && counted_q;
  always_comb begin
    tells = state_q == Read && !copies && (word_q[3] || done_q || !counted_q);
    if ((tell_q[TellF1] && !looked_q) || (tell_q[TellKey] && !(looked_q && !right_q))) tells = 1'b0;
    if (tell_q[TellF0] && !(done_q || !counted_q)) tells = 1'b0;
    index_d = ({4{tell_q[TellWhat]}} & (ack_q ? cppacs_desc_pkg::AckWhat : cppacs_desc_pkg::What)) |
        ({4{tell_q[TellSize]}} & cppacs_desc_pkg::Size) | ({4{tell_q[TellF1]}} & cppacs_desc_pkg::F1) |
        ({4{tell_q[TellF2]}} & cppacs_desc_pkg::F2) | ({4{tell_q[TellKey]}} & (cppacs_desc_pkg::AckPayload + 4'd1)) |
        ({4{tell_q[TellF4]}} & cppacs_desc_pkg::Length) | ({4{tell_q[TellF0]}} & cppacs_desc_pkg::F0);
    told_word = ({32{tell_q[TellWhat]}} & {13'd0, process_q, tcw_q}) | ({32{tell_q[TellSize]}} & {room_q, 3'd0}) |
        ({32{tell_q[TellF1]}} & {6'd0, place_q[25:16], 3'd0, place_i}) |
        ({32{tell_q[TellF2] || tell_q[TellKey]}} & key_q) |
        ({32{tell_q[TellF4]}} & 32'(cppacs_pkg::SizeAck)) |
        ({32{tell_q[TellF0]}} & {reason, flags, 4'd0, notify_q, strided_q, 1'b0, kind_q, ack_q, place_q[15:0]});
    tell_d = tell_q << 1;
    if (tell_q[TellWhat] && !counted_q) tell_d = 7'd1 << TellF0;
    else if (tell_q[TellWhat] && ack_q) tell_d = 7'd1 << TellF1;
    if (tell_q[TellF2] && !(request && ack_q)) tell_d = 7'd1 << TellF0;
  end
  assign told = tells && tell_q[TellF0];

  always_ff @(posedge clk_i) begin
    if (copies) out_q <= {job_data_i[31:3] + (area_base_i[31:3] & {29{adds}}), job_data_i[2:0]};
    else out_q <= told_word;
    index_out_q <= copies ? index : index_d;
    if (state_q == Idle && can != '0) begin
      ack_q <= pick;
      process_q <= next_process_i[pick];
      tcw_q <= next_tcw_i[pick];
    end
    if (state_q == Locate) begin
      job_addr_o <= {tcw_base_i[31:6] + 26'(tcw_q), 6'd0};
      counted_q  <= {1'b0, tcw_q} < tcw_count_i;
    end
    if (rst_i) begin
      state_q <= Idle;
      turn_q <= 1'b0;
      out_valid_q <= 1'b0;
    end else begin
      out_valid_q <= copies || tells;
      case (state_q)
        Idle: if (can != '0) state_q <= Take;
        Take: begin
          turn_q  <= !ack_q;
          state_q <= Locate;
        end
        Locate: state_q <= Ask;
        Ask: begin
          tell_q <= 7'd1 << TellWhat;
          if (!counted_q || job_ready_i) state_q <= Read;
        end
        default: if (told) state_q <= Idle;
      endcase
      if (tells) tell_q <= tell_d;
    end
  end
  assign job_valid_o = state_q == Ask && counted_q;
  assign desc_valid_o[1] = out_valid_q && ack_q;
  assign desc_index_o[1] = index_out_q;
  assign desc_data_o[1] = out_q;

  // Room for the words of a descriptor of the data channel, so that its sender is never waited for.
  (* ram_style = "block", no_rw_check *) logic [35:0] mem_q[16];  // no word is read in the cycle of its write
  logic [3:0] wr_q, rd_q;
  logic [35:0] word_out_q;
  logic give_q, give, put;
  assign put  = out_valid_q && !ack_q;
  assign give = wr_q != rd_q && (!give_q || desc_ready_i[0]);
  always_ff @(posedge clk_i) begin
    if (put) mem_q[wr_q] <= {index_out_q, out_q};
    if (give) word_out_q <= mem_q[rd_q];
    if (rst_i) begin
      {wr_q, rd_q} <= '0;
      give_q <= 1'b0;
    end else begin
      wr_q   <= wr_q + 4'(put);
      rd_q   <= rd_q + 4'(give);
      give_q <= give || (give_q && !desc_ready_i[0]);
    end
  end
  assign data_empty = wr_q == rd_q && !give_q;
  assign desc_valid_o[0] = give_q;
  assign {desc_index_o[0], desc_data_o[0]} = word_out_q;

  assign busy_o = state_q != Idle || out_valid_q || !data_empty;
endmodule
