// SPDX-License-Identifier: MIT OR Apache-2.0
// `dimmnet1_execute` writes only where a lookup of this packet's own header allows it, and a stop holds until a
// command.
//
// - Data go to the address of the last lookup, of exactly the stamp, address and kind that the header has now, and the
//   bytes that are moved, and only if that lookup found no reason and no miss. Or they go where RX_GO DMA said.
// - As many bytes are moved as LENGTH says, or fewer in a part: whole words, and the packet goes on.
// - OTF writes LLCM the same way, only the bytes that LENGTH says within one word, and when all before is settled.
// - Each packet ends once. Its data are moved then or in parts before, once; what is not accepted is dropped.
// - A part is not answered, not counted, and takes no number.
// - A stop begins only behind a whole header. It lasts until a command, and meanwhile nothing is written, answered or
//   ended, and only the processor changes the header.
// - A packet that asks for an answer gets one, and a PULL goes to the queue of answers, only if that said that it has
//   room, or if the processor asks.
// - A packet with F_SEQ that is accepted as it came has the number that is expected of its source: of one source, any.
//
// Assumed: what `dimmnet1_parse`'s proof says of a header; one response to each lookup; all is settled until the next
// packet ends, or moves a part; a number changes only when another packet is settled; data end in a part only before
// the next command is taken; header word 0 does not change in the cycle of a command. After a reset 64 cycles pass.
// With `Late` the proof begins after them, which broken twins and cover goals need, because their search starts at the
// beginning.
module prove_dimmnet1_execute #(
    parameter bit Late = 1'b0
) (
    input logic clk_i,
    input logic rst_i,
    input logic cpu_runs_i,
    input logic match_i,
    input logic answers_room_i,
    input logic load_valid_i,
    input logic load_runt_i,
    input logic [2:0][63:0] load_header_i,
    input logic word_valid_i,
    input logic [2:0] word_index_i,
    input logic [63:0] word_data_i,
    input logic whole_i,
    input logic whole_bad_i,
    input logic whole_payload_i,
    input logic tlb_req_ready_i,
    input logic tlb_rsp_valid_i,
    input logic [31:0] tlb_rsp_addr_i,
    input logic [3:0] tlb_rsp_reason_i,
    input logic [1:0] tlb_rsp_miss_i,
    input logic [63:0] tlb_rsp_key_i,
    input logic otf_ready_i,
    input logic hdr_write_valid_i,
    input logic [2:0] hdr_write_index_i,
    input logic [1:0] hdr_write_strb_i,
    input logic [63:0] hdr_write_data_i,
    input logic go_valid_i,
    input logic [2:0] go_what_i,
    input logic [3:0] go_reason_i,
    input logic [15:0] go_bytes_i,
    input logic [31:0] go_addr_i,
    input logic mat_pass_i,
    input logic pull_ready_i,
    input logic move_ready_i,
    input logic move_ended_i,
    input logic put_ready_i,
    input logic settled_i,
    input logic next_valid_i,
    input logic [5:0] next_src_i,
    input logic [31:0] next_seq_i,
    input logic quiet_done_i,
    input logic [3:0] quiet_reason_i
);
  typedef struct packed {
    logic [15:0] pgid;
    logic [15:0] region;
    logic [47:0] offset;
    logic [12:0] bytes;
    logic [1:0]  kind;
  } lookup_t;
  lookup_t req, now;  // as requested; as the header is now

  logic busy, load_ready, tlb_req_valid, otf_valid, stop_valid, dma_done, mat_valid, pull_valid, pull_last;
  logic move_valid, move_drop, put_valid, put_write, put_again, put_ask, put_tell, put_nack, put_count, put_number;
  logic put_quiet, stop_more, mat_more, move_part;
  logic [5:0][63:0] hdr;
  logic [13:0] otf_addr;
  logic [63:0] otf_data, stop_key, pull_data;
  logic [7:0] otf_strb;
  logic [3:0] stop_cause, dma_reason, put_reason;
  logic [31:0] move_addr, put_seq;
  logic [12:0] move_bytes;
  logic [15:0] put_src, put_pgid, put_tag;

  dimmnet1_execute dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .cpu_runs_i,
      .match_i,
      .answers_room_i,
      .load_valid_i,
      .load_ready_o(load_ready),
      .load_runt_i,
      .load_header_i,
      .word_valid_i,
      .word_index_i,
      .word_data_i,
      .whole_i,
      .whole_bad_i,
      .whole_payload_i,
      .tlb_req_valid_o(tlb_req_valid),
      .tlb_req_ready_i,
      .tlb_req_pgid_o(req.pgid),
      .tlb_req_region_o(req.region),
      .tlb_req_offset_o(req.offset),
      .tlb_req_bytes_o(req.bytes),
      .tlb_req_kind_o(req.kind),
      .tlb_rsp_valid_i,
      .tlb_rsp_addr_i,
      .tlb_rsp_reason_i,
      .tlb_rsp_miss_i,
      .tlb_rsp_key_i,
      .otf_valid_o(otf_valid),
      .otf_ready_i,
      .otf_addr_o(otf_addr),
      .otf_data_o(otf_data),
      .otf_strb_o(otf_strb),
      .stop_valid_o(stop_valid),
      .stop_cause_o(stop_cause),
      .stop_more_o(stop_more),
      .stop_key_o(stop_key),
      .hdr_o(hdr),
      .hdr_write_valid_i,
      .hdr_write_index_i,
      .hdr_write_strb_i,
      .hdr_write_data_i,
      .go_valid_i,
      .go_what_i,
      .go_reason_i,
      .go_bytes_i,
      .go_addr_i,
      .dma_done_o(dma_done),
      .dma_reason_o(dma_reason),
      .mat_valid_o(mat_valid),
      .mat_more_o(mat_more),
      .mat_pass_i,
      .pull_valid_o(pull_valid),
      .pull_ready_i,
      .pull_data_o(pull_data),
      .pull_last_o(pull_last),
      .move_valid_o(move_valid),
      .move_ready_i,
      .move_drop_o(move_drop),
      .move_part_o(move_part),
      .move_addr_o(move_addr),
      .move_bytes_o(move_bytes),
      .move_ended_i,
      .put_valid_o(put_valid),
      .put_ready_i,
      .put_write_o(put_write),
      .put_reason_o(put_reason),
      .put_again_o(put_again),
      .put_ask_o(put_ask),
      .put_tell_o(put_tell),
      .put_nack_o(put_nack),
      .put_count_o(put_count),
      .put_number_o(put_number),
      .put_quiet_o(put_quiet),
      .put_src_o(put_src),
      .put_pgid_o(put_pgid),
      .put_tag_o(put_tag),
      .put_seq_o(put_seq),
      .settled_i,
      .next_valid_i,
      .next_src_i,
      .next_seq_i,
      .quiet_done_i,
      .quiet_reason_i
  );

  stream_rules #(
      .W(95)
  ) u_request (
      .clk_i,
      .rst_i,
      .valid_i(tlb_req_valid),
      .ready_i(tlb_req_ready_i),
      .data_i (req)
  );

  // The states, in the order of the block's list.
  localparam int Idle = 0;
  localparam int Begin = 1;
  localparam int Compare = 2;
  localparam int Wait = 3;
  localparam int Act = 4;
  localparam int Pull = 5;
  localparam int Match = 6;
  int state;
  assign state = int'(dut.state_q);

  logic short, load, go, standing;
  logic [15:0] len;
  logic [ 2:0] lane;
  assign short = hdr[0][dimmnet1_pkg::HdrW0OtfLsb];
  assign len = hdr[0][dimmnet1_pkg::HdrW0LengthLsb+:16];
  assign lane = hdr[2][2:0];
  assign load = load_valid_i && load_ready;
  assign standing = stop_valid || mat_valid;
  assign go = standing && go_valid_i && go_what_i >= 3'd1 && go_what_i <= 3'd5;
  assign now = {hdr[1][15:0], hdr[2][63:48], hdr[2][47:0], dut.bytes_q, otf_valid, 1'b0};

  // The source that is followed: a register that keeps its initial value.
  logic [5:0] src_q;
  always_ff @(posedge clk_i) src_q <= src_q;

  // ----------------------------------------------------------------------------------------------- this packet's story
  logic ended_q;  // a packet has, since the reset
  logic part, parted_q, moving_q, over_q;  // over: the data ended in a part
  logic calm, calm_q;  // only parts of this packet are not settled
  logic inside_q, whole_q, payload_q, bad_q, changed_q, asked_q, told_q, sent_q, room_q, stood_q, settled_q;
  lookup_t lookup_q;
  logic [31:0] told_addr_q, go_addr_q, number_q;
  logic [5:0][63:0] hdr_q;
  assign part = put_valid && move_part;
  assign calm = settled_i || calm_q;
  always_ff @(posedge clk_i) begin
    inside_q <= load || (inside_q && !(put_valid && !move_part));
    if (whole_i) {whole_q, payload_q, bad_q} <= {1'b1, whole_payload_i, whole_bad_i};
    else if (load) {whole_q, payload_q, bad_q} <= 3'b000;
    else if (move_ended_i) payload_q <= 1'b0;
    parted_q <= !load && (parted_q || part);
    over_q <= !part && (over_q || move_ended_i);
    moving_q <= (part || (moving_q && !move_ready_i)) && !rst_i;
    calm_q <= calm && !(put_valid && !part) && !rst_i;
    changed_q <= !load && (changed_q || (standing && hdr_write_valid_i));
    room_q <= !load && (room_q || answers_room_i);
    // Lookups: under way, answered, and found to be allowed.
    asked_q <= (tlb_req_valid && tlb_req_ready_i) || (asked_q && !tlb_rsp_valid_i);
    if (tlb_req_valid && tlb_req_ready_i) lookup_q <= req;
    if (tlb_rsp_valid_i) begin
      told_q <= tlb_rsp_reason_i == '0 && tlb_rsp_miss_i == '0;
      told_addr_q <= tlb_rsp_addr_i;
    end else if (load || (go && go_what_i inside {3'(dimmnet1_pkg::GoContinue), 3'(dimmnet1_pkg::GoPart)})) begin
      told_q <= 1'b0;
    end
    // RX_GO DMA.
    if (load) sent_q <= 1'b0;
    else if (go && go_what_i == 3'(dimmnet1_pkg::GoDma)) {sent_q, go_addr_q} <= {1'b1, go_addr_i};
    stood_q <= stop_valid && !go && !rst_i;
    settled_q <= settled_i && !put_valid;
    ended_q <= (ended_q || put_valid) && !rst_i;
    hdr_q <= hdr;
    if (next_valid_i && next_src_i == src_q) number_q <= next_seq_i;
    if (rst_i) begin
      inside_q  <= 1'b0;
      asked_q   <= 1'b0;
      number_q  <= '0;
      settled_q <= 1'b0;
    end
  end

  logic [7:0] type_in, type_of_q;  // of the packet, as it came
  logic short_of_q;
  logic [15:0] len_of, len_of_q;
  logic of_short;
  assign type_in  = load_header_i[0][7:0];
  assign of_short = load ? load_header_i[0][dimmnet1_pkg::HdrW0OtfLsb] : short_of_q;
  assign len_of   = load ? load_header_i[0][dimmnet1_pkg::HdrW0LengthLsb+:16] : len_of_q;
  always_ff @(posedge clk_i) if (load) {type_of_q, short_of_q, len_of_q} <= {type_in, of_short, len_of};
  logic [7:0] type_of;
  logic bare;  // of a type whose data word stays in the header
  assign type_of = load ? type_in : type_of_q;
  assign bare = type_of == 8'(dimmnet1_pkg::TypeOtf) || type_of == 8'(dimmnet1_pkg::TypePull);

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      header_then_whole : assume (!whole_i || load || (inside_q && !whole_q));
      runt_is_whole : assume (!(load && load_runt_i) || (whole_i && whole_bad_i && !whole_payload_i));
      words_before_whole :
      assume (!word_valid_i || (inside_q && !whole_q && word_index_i >= 3'd3 && word_index_i <= 3'd5));
      no_body_of_bare : assume (!(whole_i && whole_payload_i) || !(of_short && bare));
      no_body_of_none : assume (!(whole_i && whole_payload_i && of_short && len_of == '0) || whole_bad_i);
      no_body_else_bad :
      assume (!(whole_i && !whole_payload_i && !whole_bad_i) || (of_short && (bare || len_of == '0)));
      response_to_lookup : assume (!tlb_rsp_valid_i || asked_q);
      stays_settled : assume (!settled_q || settled_i);
      numbers_before : assume (!next_valid_i || (!calm && ended_q));
      length_before_go : assume (!(go_valid_i && hdr_write_valid_i && hdr_write_index_i == '0));
      ends_in_a_part : assume (!move_ended_i || (moving_q && !over_q && !move_ready_i));
    end
  end

  if (Late) begin : gen_late
    logic begun_q = 1'b0;
    always_ff @(posedge clk_i) begin
      begun_q <= 1'b1;
      if (!begun_q) begin
        after_a_reset :
        assume (!rst_i && !dut.clearing_q && state == Idle && !dut.req_q && !dut.open_q && !inside_q && !asked_q &&
                !stood_q && !moving_q && !dut.moving_q && !calm_q && !u_request.waiting_q &&
                 dut.expected_mem_q[src_q] == number_q);
      end
    end
  end else begin : gen_power_up
    power_up u_power_up (.*);
  end

  // ------------------------------------------------------------------------------------------------------------ claims
  logic allowed, dma, accepts, translates, early, ours;
  assign allowed = told_q && lookup_q == now;
  assign dma = sent_q && move_addr == go_addr_q && go_addr_q[2:0] == '0 &&
               33'(move_addr) + 33'(move_bytes) <= 33'h1_0000_0000;
  assign accepts = put_valid && put_reason == '0;
  assign translates = dut.kind_q.push || dut.kind_q.reply || dut.kind_q.otf;
  assign early = state >= Begin && state <= Wait;
  assign ours = dut.numbered && put_src == {10'b0, src_q};  // it has a number of the followed source
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      writes_where_allowed :
      assert (!(move_valid && !move_drop) || dma ||
              (allowed && move_addr == told_addr_q && move_bytes == lookup_q.bytes));
      otf_where_allowed :
      assert (!otf_valid || (allowed && otf_addr == {told_addr_q[13:3], lane} && lookup_q.offset[2:0] == lane));
      otf_within_a_word :
      assert (!otf_valid || (int'(lane) + int'(lookup_q.bytes) <= 8 &&
                             16'(otf_strb) == ((16'd1 << lookup_q.bytes) - 16'd1) << lane));
      otf_in_order : assert (!(otf_valid || pull_valid) || settled_i);
      once : assert (put_valid ? inside_q : !(move_valid || load && inside_q));
      data_move_at_the_end : assert (!put_valid || move_valid == payload_q);
      all_or_a_part :
      assert (!(move_valid && !move_drop) || (move_part ? move_bytes[2:0] == '0 && move_bytes != '0 &&
                                              16'(move_bytes) < len : move_bytes == len[12:0]));
      part_is_quiet :
      assert (!move_part || (put_valid && put_write && !(put_ask || put_tell || put_count || put_number || put_quiet)));
      write_has_data : assert (!put_valid || put_write == (move_valid && !move_drop));
      stop_holds : assert (!stood_q || stop_valid);
      stop_behind_header : assert (!stop_valid || (inside_q && whole_q));
      stop_is_quiet : assert (!standing || !(move_valid || put_valid || otf_valid || pull_valid || tlb_req_valid));
      answered_with_room : assert (!(put_valid && (put_ask || pull_valid)) || changed_q || room_q);
      in_sequence : assert (!(accepts && put_number && ours && !changed_q) || put_seq == number_q);
      busy_tells : assert (busy || !inside_q || standing);
      // Invariants for induction.
      at_rest : assert (inside_q == (state != Idle));
      cleared : assert (!dut.clearing_q || (state == Idle && !dut.req_q && !dut.open_q));
      none_ended : assert (!dut.clearing_q || !ended_q);
      clean : assert (!(early || state >= Match) || !(dut.drop_q || dut.dma_q || dut.reason_q != '0));
      of_a_kind : assert (state < Match || dut.kind_q.trap || translates);
      moving : assert (dut.moving_q == moving_q);
      moves_its_data : assert (!(moving_q && !over_q) || (inside_q && parted_q && payload_q));
      bytes_known :
      assert (!(early || (state == Act && dut.reason_q == '0 && !dut.drop_q)) || dut.part_q ||
              dut.bytes_q == len[12:0]);
      part_known :
      assert (!(dut.part_q && (((state == Compare || state == Wait) && !dut.form_q) ||
                               (state == Act && dut.reason_q == '0 && !dut.drop_q))) ||
              (dut.bytes_q[2:0] == '0 && dut.bytes_q != '0 && 16'(dut.bytes_q) < len));
      parts_of_writes :
      assert (!(parted_q && inside_q) || ((dut.kind_q.push || dut.kind_q.reply) && dut.resumed_q && whole_q));
      one_end : assert (!(dut.dma_q && dut.drop_q) || state == Idle);
      part_resumes : assert (!dut.part_q || state == Idle || (dut.resumed_q && !dut.dma_q && state != Match));
      lacks_the_type :
      assert (state == Idle || dut.kind_q != '0 || (early && !dut.resumed_q) || (state == Act && dut.reason_q != '0));
      form_taken : assert (!(state == Compare || state == Wait) || dut.form_q == (dut.form_bad || dut.part_bad));
      pulls : assert (state != Pull || (dut.kind_q.pull && !dut.drop_q && !dut.dma_q && dut.reason_q == '0));
      one_kind : assert (state == Idle || $countones(dut.kind_q) <= 1);
      asks : assert (dut.open_q == (dut.req_q || asked_q) && !(dut.req_q && asked_q));
      asks_early : assert (!dut.open_q || (early && translates));
      looked_up : assert (!(early && translates && !dut.req_q) || lookup_q == {now[94:2], dut.kind_q.otf, 1'b0});
      told : assert (!(early && translates && !dut.open_q) || told_q == (dut.found_q == '0 && dut.miss_q == '0));
      told_addr : assert (!(early && translates && !dut.open_q) || dut.addr_q == told_addr_q);
      acts :
      assert (!(state == Act && translates && dut.reason_q == '0 && !dut.drop_q && !dut.dma_q) ||
              (lookup_q == {now[94:2], dut.kind_q.otf, 1'b0} && dut.addr_q == told_addr_q &&
               told_q == (dut.found_q == '0 && dut.miss_q == '0)));
      otf_form :
      assert (!(dut.kind_q.otf && state == Act && dut.reason_q == '0 && !dut.drop_q && !dut.dma_q) ||
              (len != '0 && len <= 16'd8 && int'(lane) + int'(len[3:0]) <= 8));
      form_known :
      assert (!(dut.kind_q.otf && (state == Compare || state == Wait) && !dut.form_q) ||
              (len != '0 && len <= 16'd8 && int'(lane) + int'(len[3:0]) <= 8));
      waited :
      assert (!((state >= Compare || (dut.resumed_q && early)) && (dut.kind_q.otf || dut.kind_q.pull) &&
                !dut.drop_q && !dut.dma_q && !dut.mute_q) ||
              settled_i || (state == Act && dut.reason_q != '0));
      header_known : assert (state == Idle || (dut.whole_q == whole_q && (whole_q || (state < Act && !dut.resumed_q))));
      mute_ends : assert (!dut.mute_q || state == Idle || (state == Act && dut.reason_q != '0));
      data_known : assert (!whole_q || state == Idle || (dut.payload_q == payload_q && dut.bad_q == bad_q));
      dma_known : assert (dut.dma_q == (sent_q && state != Idle) || state == Idle);
      dma_addr :
      assert (!(state == Act && dut.dma_q && dut.reason_q == '0) ||
              (dut.addr_q == go_addr_q && go_addr_q[2:0] == '0 && 33'(go_addr_q) + 33'(len) <= 33'h1_0000_0000 &&
               (payload_q || parted_q)));
      room_seen : assert (!((state == Compare || state == Wait) && dut.room_q) || room_q);
      room_for_it :
      assert (!((state >= Act || (dut.resumed_q && early)) && (dut.ask || dut.kind_q.pull) && !changed_q &&
                !dut.mute_q) || room_q);
      as_it_came :
      assert (!inside_q || whole_q ||
              ({short, len} == {short_of_q, len_of_q} && dut.kind_q.push == (type_of_q == 8'(dimmnet1_pkg::TypePush)) &&
               dut.kind_q.reply == (type_of_q == 8'(dimmnet1_pkg::TypePullReply)) &&
               (dut.kind_q.otf || dut.kind_q.pull) == bare));
      numbers_kept :
      assert (dut.clearing_q ? number_q == '0 && (src_q >= dut.clear_q || dut.expected_mem_q[src_q] == '0) :
              dut.expected_mem_q[src_q] == number_q);
      changes_in_a_stop : assert (!(inside_q && changed_q && early && !dut.resumed_q));
      number_read : assert (!(state == Compare && ours && !dut.resumed_q) || dut.expected_q == number_q);
      number_compared : assert (!(state == Wait && ours && !dut.resumed_q && !dut.gap_q) || hdr[1][63:32] == number_q);
      number_holds :
      assert (!((state >= Act || (dut.resumed_q && early)) && ours && !changed_q && dut.reason_q == '0) ||
              hdr[1][63:32] == number_q);
      settled_for_it :
      assert (!(ours && !changed_q && !dut.mute_q && (state >= Compare || (dut.resumed_q && early))) || calm);
      no_data_of_bare :
      assert (!(whole_q && payload_q && (dut.kind_q.otf || dut.kind_q.pull)) || state == Idle ||
              (state <= Wait && !short && !dut.resumed_q) || (state == Act && dut.reason_q != '0));
      no_data_of_answers :
      assert (!(whole_q && payload_q && (dut.kind_q.ack || dut.kind_q.nack)) || state == Idle ||
              (state <= Wait && (!short || len != '0 || bad_q)) || (state == Act && dut.reason_q != '0));
      data_of_writes :
      assert (!(whole_q && !payload_q && (dut.kind_q.push || dut.kind_q.reply)) || state == Idle ||
              (early && (dut.resumed_q || bad_q || (short && len == '0))) || (state == Act && dut.reason_q != '0) ||
              parted_q);
      resumes : assert (!dut.resumed_q || state == Idle || translates);
      cover_dma : cover (move_valid && !move_drop && sent_q);
      cover_otf : cover (otf_valid && otf_ready_i);
      cover_part : cover (move_valid && !move_drop && !move_part && parted_q);
      cover_continue : cover (move_valid && !move_drop && dut.resumed_q && changed_q);
    end
  end
endmodule
