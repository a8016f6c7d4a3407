// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1 RDMA engine: descriptors become PUSH packets or PULL requests, and PULL requests of others become replies.
//
// Descriptor {RDMA_WHAT, local, remote, bytes, slot}. TYPE is PUSH or 16 and up (packets with data from local memory),
// or
//            PULL (requests). Of RDMA_WHAT count TYPE, ACK_REQ, F_SEQ, MULTICAST, LAST and DST. `pgid_i` is sampled
//            with it. One waits behind the one under way; then `desc_ready_o` is low and `full_o` high. It is refused,
//            and nothing leaves: TYPE for another type, or for a multicast that asks for an answer (PULL always does);
//            else LENGTH for 0 bytes, or for an address that is not 8-byte aligned. `desc_done_o` is a pulse with
//            `desc_error_o`, after its last word; `rdma_busy_o` is low behind it.
// Cut        packets of at most 4096 bytes, none of which crosses a page of 4 KB of the local or of the remote offset.
//            The remote address of TYPE 16 and up names a cell of the far processor: all packets have it as it is.
// Packets    PUSH: six header words (W4: bytes of the descriptor; W3, W5: 0) and the data; bytes beyond LENGTH in the
//            last word are 0. LAST only on the last packet. PULL: W0 with OTF and ACK_REQ, W1, W2, local address.
// Credit     one for each packet with ACK_REQ, requested when the local address is translated; its generation goes into
//            TAG. While a descriptor waits for credit, PULL requests are served.
// PULL       `pull_w*_i` hold until they are taken, when the reply's header is on its way. The local address is
//            translated with the requester's PGID. Refused ones (LENGTH: not 1 to 4096 bytes, not aligned) are answered
//            by NACK; SEQ of the status is the request's. At most two requests go before a packet of the descriptor
//            that has its credit, and at most one packet before a request.
// Stop       a translation that misses waits for `go_*`: CONTINUE looks again, anything else ends the descriptor or the
//            reply with the reason (FIRMWARE, if it is 0). If the processor does not run, it ends at once: UNSERVED.
// Bus error  no word of a packet leaves before the next one is known to be good, or the last one is its own. After a
//            bus error the packet ends early, so that its receiver refuses it, and the descriptor ends with BUS. Up to
//            three further packets of it were under way and still leave. The packet of a reply ends early, too.
// Latency    14 cycles from descriptor to the memory's first command with an immediate translation, then 2 from the
//            first word's arrival to W0. 1 word per cycle within a packet and between packets, if memory, credit and
//            translation are quick. A header is offered only when its first word of data is in.
// Reset      drops everything; the memory must forget the requested bursts, too.
// busy_o     low when nothing is inside.
// Source     paper, sections 2 and 3 (PUSH, PULL, RDMA without splitting); cut, order and errors are ours.
module dimmnet1_rdma (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic desc_valid_i,
    output logic desc_ready_o,
    input logic [63:0] desc_w0_i,
    input logic [63:0] desc_local_i,
    input logic [63:0] desc_remote_i,
    input logic [31:0] desc_bytes_i,
    input logic [3:0] desc_slot_i,
    output logic desc_done_o,
    output logic [3:0] desc_error_o,
    output logic rdma_busy_o,
    output logic full_o,
    input logic [15:0] pgid_i,
    input logic cpu_runs_i,

    input logic pull_valid_i,
    output logic pull_ready_o,
    input logic [63:0] pull_w0_i,
    input logic [63:0] pull_w1_i,
    input logic [63:0] pull_w2_i,
    input logic [63:0] pull_w3_i,

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

    output logic stop_valid_o,
    output logic [3:0] stop_cause_o,
    output logic [63:0] stop_key_o,
    input logic go_valid_i,
    input logic [2:0] go_what_i,
    input logic [3:0] go_reason_i,

    output logic take_valid_o,
    input logic take_ready_i,
    output logic [3:0] take_slot_o,
    output logic [15:0] take_dst_o,
    input logic [11:0] take_gen_i,

    output logic rd_cmd_valid_o,
    input logic rd_cmd_ready_i,
    output logic [31:0] rd_cmd_addr_o,
    output logic [7:0] rd_cmd_len_o,
    input logic rd_data_valid_i,
    output logic rd_data_ready_o,
    input logic [63:0] rd_data_data_i,
    input logic rd_data_last_i,
    input logic rd_data_err_i,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic [63:0] out_data_o,
    output logic out_last_o
);
  localparam bit [1:0] KindRead = 2'd1;
  localparam bit [3:0] Length = 4'(dimmnet1_pkg::ReasonLength);
  localparam bit [3:0] Unserved = 4'(dimmnet1_pkg::ReasonUnserved);
  localparam int TypeLsb = dimmnet1_pkg::HdrW0TypeLsb;
  localparam int DstLsb = dimmnet1_pkg::HdrW0DstLsb;
  localparam int SrcLsb = dimmnet1_pkg::HdrW0SrcLsb;
  localparam int LengthLsb = dimmnet1_pkg::HdrW0LengthLsb;
  localparam int TagLsb = dimmnet1_pkg::HdrW1TagLsb;
  localparam int SeqLsb = dimmnet1_pkg::HdrW1SeqLsb;

  typedef enum logic [3:0] {
    Idle,
    Cut,
    Size,
    Look,
    Ask,
    Answer,  // of the TLB
    Stop,
    Command,
    Head,
    Taken  // the PULL request is done
  } state_e;
  state_e state_q;

  // ------------------------------------------------------------------------------------------------------- descriptors
  // {PGID, slot, bytes, remote, local, TYPE, LAST, MULTICAST, F_SEQ, ACK_REQ, DST}
  localparam int DescW = 16 + 4 + 32 + 64 + 64 + 28;
  logic next_q, active_q, start;
  logic [DescW-1:0] next_desc_q, desc;
  assign desc = {
    pgid_i,
    desc_slot_i,
    desc_bytes_i,
    desc_remote_i,
    desc_local_i,
    desc_w0_i[TypeLsb+:8],
    desc_w0_i[dimmnet1_pkg::HdrW0LastLsb],
    desc_w0_i[dimmnet1_pkg::HdrW0MulticastLsb],
    desc_w0_i[dimmnet1_pkg::HdrW0FSeqLsb],
    desc_w0_i[dimmnet1_pkg::HdrW0AckReqLsb],
    desc_w0_i[DstLsb+:16]
  };
  logic unused_desc;
  assign unused_desc = &{1'b0, desc_w0_i, pull_w0_i, pull_w1_i};
  assign desc_ready_o = !next_q;
  assign full_o = next_q;
  assign start = next_q && !active_q;

  // The one under way, less what has left.
  logic [15:0] pgid_q, dst_q;
  logic [3:0] slot_q;
  logic [31:0] left_q, total_q;
  logic [63:0] remote_q, local_q;
  logic [7:0] type_q;
  logic last_flag_q, multicast_q, f_seq_q, ack_req_q;

  // Its next packet. `parked_q`: it waits for credit; `ready_q`: it is translated and has its credit.
  logic parked_q, ready_q, ending_q, final_q, bus_q;
  logic [12:0] room_q, size_q;
  logic [31:0] desc_addr_q;
  logic [11:0] gen_q;
  logic [ 3:0] error_q;
  logic [ 2:0] flying_q;  // its packets that have not left whole

  // What is being served: a PULL request or the descriptor; its translation, and why it is refused.
  logic pull_q, pull_last_q, pull_bad;
  logic [31:0] pull_addr_q;
  logic [3:0] refused_q, cause_q;
  logic [63:0] key_q;
  logic [ 2:0] index_q;

  // ------------------------------------------------------------------------------------------------------------ checks
  logic is_pull, advances, bad_type, bad_length, misaligned, fits, desc_work, serve;
  logic [11:0] low;
  assign is_pull = type_q == 8'(dimmnet1_pkg::TypePull);
  assign bad_type = (type_q != 8'(dimmnet1_pkg::TypePush) && !is_pull && type_q[7:4] == '0) ||
                    (multicast_q && (ack_req_q || is_pull));
  assign misaligned = local_q[2:0] != '0 || remote_q[2:0] != '0;
  assign bad_length = left_q == '0 || misaligned;
  assign advances = type_q[7:4] == '0;
  assign low = (!advances || local_q[11:0] > remote_q[11:0]) ? local_q[11:0] : remote_q[11:0];
  assign fits = left_q <= 32'(room_q);
  assign pull_bad = pull_w0_i[LengthLsb+:16] == '0 ||
                    pull_w0_i[LengthLsb+:16] > 16'(dimmnet1_pkg::SizePacket) ||
                    pull_w2_i[2:0] != '0 || pull_w3_i[2:0] != '0;
  assign desc_work = active_q && !parked_q && !ending_q;
  assign serve = pull_valid_i && !(pull_last_q && desc_work);  // a PULL request, and not the descriptor

  // -------------------------------------------------------------------------------------------------------- the packet
  logic has_data, header_room, commit, head_end, leave, leave_desc, leave_err;
  logic [15:0] dst, length;
  logic [7:0] packet_type, flags;
  logic [ 3:0] tag_slot;
  logic [11:0] tag_gen;
  logic [ 2:0] last_index;
  logic [63:0] head;
  assign has_data = pull_q ? refused_q == '0 : !is_pull;
  assign last_index = has_data ? 3'd5 : pull_q ? 3'd2 : 3'd3;
  assign head_end = index_q == last_index;
  assign dst = pull_q ? pull_w0_i[SrcLsb+:16] : dst_q;
  assign length = pull_q ? pull_w0_i[LengthLsb+:16] & {16{has_data}} : 16'(size_q);
  assign {tag_gen, tag_slot} = pull_q ? pull_w1_i[TagLsb+:16] : {gen_q, slot_q};

  always_comb begin
    flags = '0;
    if (pull_q) begin
      packet_type = has_data ? 8'(dimmnet1_pkg::TypePullReply) : 8'(dimmnet1_pkg::TypeNack);
      flags[dimmnet1_pkg::HdrW0LastLsb-8] = has_data && pull_w0_i[dimmnet1_pkg::HdrW0LastLsb];
    end else begin
      packet_type = type_q;
      flags[dimmnet1_pkg::HdrW0AckReqLsb-8] = ack_req_q || is_pull;
      flags[dimmnet1_pkg::HdrW0FSeqLsb-8] = f_seq_q;
      flags[dimmnet1_pkg::HdrW0MulticastLsb-8] = multicast_q;
      flags[dimmnet1_pkg::HdrW0LastLsb-8] = last_flag_q && final_q;
    end
    flags[dimmnet1_pkg::HdrW0OtfLsb-8] = !has_data;
    case (index_q)
      3'd0: head = {length, dst, 16'd0, flags, packet_type};
      3'd1: head = {32'd0, tag_gen, tag_slot, pull_q ? pull_w1_i[15:0] : pgid_q};
      3'd2: begin
        head = pull_q ? pull_w3_i : remote_q;
        if (!has_data && pull_q) begin
          head = '0;
          head[dimmnet1_pkg::AnswerReasonLsb+:4] = refused_q;
          head[dimmnet1_pkg::AnswerSeqLsb+:32] = pull_w1_i[SeqLsb+:32];
        end
      end
      3'd3: head = has_data ? '0 : local_q;
      3'd4: head = pull_q ? '0 : {32'd0, total_q};
      default: head = '0;
    endcase
  end

  // Header words: {the descriptor's, with data, last of the header, word}.
  logic head_valid, head_take, head_desc, head_data, head_final, unused_head_ready;
  logic [63:0] head_word;
  logic [ 4:0] head_level;
  fifo #(
      .W(67),
      .Depth(16)
  ) u_head (
      .clk_i,
      .rst_i,
      .in_valid_i (state_q == Head),
      .in_ready_o (unused_head_ready),                              // room for a whole header was seen
      .in_data_i  ({!pull_q, has_data, head_end, head}),
      .out_valid_o(head_valid),
      .out_ready_i(head_take),
      .out_data_o ({head_desc, head_data, head_final, head_word}),
      .level_o    (head_level)
  );
  assign header_room = head_level <= 5'd10;

  // ------------------------------------------------------------------------------------------------------------ memory
  logic cmd_ready, unused_next, dma_busy, word_valid, word_ready, word_last, word_err;
  logic [63:0] word, word_mask;
  logic [2:0] keep;
  assign commit = state_q == Command && header_room && (cmd_ready || !has_data);
  dma_read #(
      .AddrW(32),
      .DataW(64),
      .LenW (13)
  ) u_read (
      .clk_i,
      .rst_i,
      .busy_o          (dma_busy),
      .cmd_valid_i     (state_q == Command && header_room && has_data),
      .cmd_ready_o     (cmd_ready),
      .next_o          (unused_next),
      .cmd_addr_i      (pull_q ? pull_addr_q : desc_addr_q),
      .cmd_bytes_i     (length[12:0]),
      .mem_cmd_valid_o (rd_cmd_valid_o),
      .mem_cmd_ready_i (rd_cmd_ready_i),
      .mem_cmd_addr_o  (rd_cmd_addr_o),
      .mem_cmd_len_o   (rd_cmd_len_o),
      .mem_data_valid_i(rd_data_valid_i),
      .mem_data_ready_o(rd_data_ready_o),
      .mem_data_data_i (rd_data_data_i),
      .mem_data_last_i (rd_data_last_i),
      .mem_data_err_i  (rd_data_err_i),
      .out_valid_o     (word_valid),
      .out_ready_i     (word_ready),
      .out_data_o      (word),
      .out_keep_o      (keep),
      .out_last_o      (word_last),
      .out_err_o       (word_err)
  );

  always_comb begin
    for (int b = 0; b < 8; b++) word_mask[8*b+:8] = {8{3'(b) <= keep}};
  end

  // ------------------------------------------------------------------------------------------------------------ output
  // A word of data waits in `word_q` until the next one is known. `body_q`: data leave, else headers.
  logic hold_q, hold_last_q, hold_err_q, body_q, body_desc_q, take, ends, cut_short;
  logic [63:0] word_q;
  assign out_valid_o = body_q ? hold_q && (hold_last_q || word_valid) : head_valid && (hold_q || !head_data);
  assign out_data_o = body_q ? word_q : head_word;
  assign out_last_o = body_q ? hold_last_q || word_err : head_final && (!head_data || hold_err_q);
  assign take = out_valid_o && out_ready_i;
  assign ends = take && out_last_o;
  assign head_take = take && !body_q;
  // The packet ends without the bad word.
  assign cut_short = ends && (body_q ? !hold_last_q : head_data);
  assign word_ready = !hold_q || (take && body_q) || cut_short;
  assign leave = ends;
  assign leave_desc = body_q ? body_desc_q : head_desc;
  assign leave_err = cut_short && leave_desc;

  always_ff @(posedge clk_i) begin
    if (word_ready) begin
      word_q <= word & word_mask;
      hold_last_q <= word_last;
      hold_err_q <= word_err;
    end
    if (head_take) body_desc_q <= head_desc;
    if (rst_i) begin
      hold_q <= 1'b0;
      body_q <= 1'b0;
    end else begin
      // In a body the bad word is the one behind the word that leaves, and goes with it.
      if (word_ready) hold_q <= word_valid && !(cut_short && body_q);
      if (take) body_q <= body_q ? !out_last_o : head_data && head_final && !hold_err_q;
    end
  end

  // ----------------------------------------------------------------------------------------------------------- control
  assign tlb_req_valid_o = state_q == Ask;
  assign tlb_req_kind_o = KindRead;
  assign stop_valid_o = state_q == Stop;
  assign stop_cause_o = cause_q;
  assign stop_key_o = key_q;
  assign take_valid_o = parked_q;
  assign take_slot_o = slot_q;
  assign take_dst_o = dst_q;
  assign pull_ready_o = state_q == Taken;
  assign rdma_busy_o = active_q || next_q || desc_done_o;  // who sees it low sees the reason, too
  assign busy_o = active_q || next_q || state_q != Idle || head_level != '0 || dma_busy || hold_q || body_q ||
                  desc_done_o;

  // How the translation ended.
  logic hit, stops, refuses;
  logic [3:0] reason;
  assign hit   = state_q == Answer && tlb_rsp_valid_i && tlb_rsp_miss_i == '0 && tlb_rsp_reason_i == '0;
  assign stops = state_q == Answer && tlb_rsp_valid_i && tlb_rsp_miss_i != '0 && cpu_runs_i;
  always_comb begin
    refuses = 1'b0;
    reason  = tlb_rsp_reason_i;
    if (state_q == Answer) begin
      refuses = tlb_rsp_valid_i && !hit && !stops;
      if (tlb_rsp_miss_i != '0) reason = Unserved;
    end else if (state_q == Stop) begin
      refuses = go_valid_i && go_what_i != 3'(dimmnet1_pkg::GoContinue);
      reason  = (go_reason_i == '0) ? 4'(dimmnet1_pkg::ReasonFirmware) : go_reason_i;
    end else if (state_q == Cut) begin
      refuses = bad_type || bad_length || bus_q;
      reason  = bad_type ? 4'(dimmnet1_pkg::ReasonType) : bad_length ? Length : 4'(dimmnet1_pkg::ReasonBus);
    end
  end

  always_ff @(posedge clk_i) begin
    case (state_q)
      Idle: begin
        pull_q <= serve;
        refused_q <= pull_bad ? Length : '0;
        if (serve) begin
          state_q <= pull_bad ? Command : Look;
          pull_last_q <= 1'b1;
        end else if (desc_work) begin
          state_q <= ready_q ? Command : Cut;
          pull_last_q <= 1'b0;
        end
      end
      Cut: begin
        room_q  <= 13'(dimmnet1_pkg::SizePage) - 13'(low);
        state_q <= Size;
      end
      Size: begin
        size_q  <= fits ? left_q[12:0] : room_q;
        final_q <= fits;
        state_q <= is_pull ? Idle : Look;
      end
      Look: begin
        tlb_req_pgid_o <= pull_q ? pull_w1_i[15:0] : pgid_q;
        {tlb_req_region_o, tlb_req_offset_o} <= pull_q ? pull_w2_i : local_q;
        tlb_req_bytes_o <= length[12:0];
        state_q <= Ask;
      end
      Ask: if (tlb_req_ready_i) state_q <= Answer;
      Answer: begin
        if (stops) state_q <= Stop;
        if (hit) state_q <= (pull_q || !ack_req_q) ? Command : Idle;
      end
      Stop: if (go_valid_i) state_q <= Look;
      Command: if (commit) state_q <= Head;
      Head: if (head_end) state_q <= pull_q ? Taken : Idle;
      default: state_q <= Idle;
    endcase
    if (refuses) begin
      state_q <= pull_q ? Command : Idle;
      if (pull_q) refused_q <= reason;
      else error_q <= reason;
    end
    if (state_q == Answer) begin
      cause_q <= 4'(tlb_rsp_miss_i) + 4'd1;  // STOP_RVATLB, STOP_PATLB
      key_q   <= tlb_rsp_key_i;
      if (pull_q) pull_addr_q <= tlb_rsp_addr_i;
      else desc_addr_q <= tlb_rsp_addr_i;
    end
    index_q <= (state_q == Head) ? index_q + 3'd1 : '0;
    if (take_valid_o && take_ready_i) gen_q <= take_gen_i;

    if (desc_ready_o) next_desc_q <= desc;
    if (start) begin
      {pgid_q, slot_q, total_q, remote_q, local_q, type_q, last_flag_q, multicast_q, f_seq_q, ack_req_q, dst_q} <=
          next_desc_q;
      left_q <= next_desc_q[DescW-21-:32];
      gen_q <= '0;
      error_q <= '0;
      bus_q <= 1'b0;
    end else if (state_q == Head && head_end && !pull_q) begin
      left_q <= left_q - 32'(size_q);
      if (advances) remote_q[47:0] <= remote_q[47:0] + 48'(size_q);
      local_q[47:0] <= local_q[47:0] + 48'(size_q);
    end
    if (leave_err) bus_q <= 1'b1;
    desc_error_o <= (error_q == '0 && bus_q) ? 4'(dimmnet1_pkg::ReasonBus) : error_q;

    if (rst_i) begin
      state_q <= Idle;
      next_q <= 1'b0;
      active_q <= 1'b0;
      parked_q <= 1'b0;
      ready_q <= 1'b0;
      ending_q <= 1'b0;
      flying_q <= '0;
      pull_last_q <= 1'b0;
      desc_done_o <= 1'b0;
    end else begin
      next_q <= next_q ? !start : desc_valid_i;
      if (start) active_q <= 1'b1;
      // A packet that is parked has its credit's request out, and will leave.
      if ((state_q == Size && is_pull) || (hit && !pull_q && ack_req_q)) parked_q <= 1'b1;
      else if (take_ready_i) parked_q <= 1'b0;
      if (take_valid_o && take_ready_i) ready_q <= 1'b1;
      else if (commit && !pull_q) ready_q <= 1'b0;
      flying_q <= flying_q + 3'(commit && !pull_q) - 3'(leave && leave_desc);
      desc_done_o <= 1'b0;
      if ((refuses && !pull_q) || (state_q == Head && head_end && !pull_q && final_q)) ending_q <= 1'b1;
      else if (ending_q && flying_q == '0) begin
        ending_q <= 1'b0;
        active_q <= 1'b0;
        desc_done_o <= 1'b1;
      end
    end
  end

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (state_q != Head || unused_head_ready);
      assert (!(leave && leave_desc) || flying_q != '0);
      assert (!(commit && !pull_q) || flying_q != '1);
      assert (state_q != Taken || pull_valid_i);
    end
  end
`endif
endmodule
