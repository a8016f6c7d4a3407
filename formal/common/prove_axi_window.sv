// SPDX-License-Identifier: MIT OR Apache-2.0
// `axi_window` sends each beat that is not refused to the window once, in order of its direction, and answers each
// once.
//
// - A beat of a read is answered with ID, `last` and the response of the window. A burst of writes is answered after
//   all its beats, with its ID, and with an error exactly if one of them had one. A refused beat is answered with an
//   error.
// - A response comes right after the window's response. A refused beat is answered within 2 * Outstanding cycles once
//   nothing else is due. Responses of the window wait at most that long.
// - Offers hold.
// - A direction that waits and has room is passed at most once. Neither direction waits for the master of the other.
// - `busy_o` is low only at rest.
//
// Assumed of the window: it responds only to requests of an earlier cycle. Nothing is assumed of the beats.
module prove_axi_window #(
    parameter  int DataW       = 8,
    parameter  int Outstanding = 2,
    localparam int AddrW       = 2,
    localparam int IdW         = 1,
    localparam int StrbW       = DataW / 8
) (
    input logic clk_i,
    input logic rst_i,
    // Index 0: reads; 1: writes.
    input logic [1:0] valid_i,
    input logic [1:0][IdW-1:0] id_i,
    input logic [1:0][AddrW-1:0] addr_i,
    input logic [1:0][StrbW-1:0] strb_i,
    input logic [DataW-1:0] data_i,
    input logic [1:0] last_i,
    input logic [1:0] refuse_i,
    input logic [1:0] answer_ready_i,
    input logic req_ready_i,
    input logic rsp_valid_i,
    input logic [DataW-1:0] rsp_data_i,
    input logic rsp_err_i,
    input logic [3:0] mark_i
);
  localparam int Notes = 2 * Outstanding;
  localparam int NoteW = $clog2(Notes + 1);
  localparam int DueW = $clog2(Outstanding + 2);
  localparam int RequestW = AddrW + DataW + StrbW;
  localparam int AnswerW = 1 + DataW;  // {error, data}
  localparam int TagW = IdW + 1;  // {ID, last}

  logic [1:0] ready, answer_valid;
  logic busy, req_valid, req_write, rsp_ready, rlast;
  logic [AddrW-1:0] req_addr;
  logic [DataW-1:0] req_data, rdata;
  logic [StrbW-1:0] req_strb;
  logic [IdW-1:0] rid, bid;
  logic [1:0] rresp, bresp;

  axi_window #(
      .AddrW(AddrW),
      .DataW(DataW),
      .IdW(IdW),
      .Outstanding(Outstanding)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .rd_valid_i(valid_i[0]),
      .rd_ready_o(ready[0]),
      .rd_id_i(id_i[0]),
      .rd_addr_i(addr_i[0]),
      .rd_lanes_i(strb_i[0]),
      .rd_last_i(last_i[0]),
      .rd_refuse_i(refuse_i[0]),
      .wr_valid_i(valid_i[1]),
      .wr_ready_o(ready[1]),
      .wr_id_i(id_i[1]),
      .wr_addr_i(addr_i[1]),
      .wr_data_i(data_i),
      .wr_strb_i(strb_i[1]),
      .wr_last_i(last_i[1]),
      .wr_refuse_i(refuse_i[1]),
      .win_req_valid_o(req_valid),
      .win_req_ready_i(req_ready_i),
      .win_req_write_o(req_write),
      .win_req_addr_o(req_addr),
      .win_req_wdata_o(req_data),
      .win_req_wstrb_o(req_strb),
      .win_rsp_valid_i(rsp_valid_i),
      .win_rsp_ready_o(rsp_ready),
      .win_rsp_rdata_i(rsp_data_i),
      .win_rsp_err_i(rsp_err_i),
      .r_valid_o(answer_valid[0]),
      .r_ready_i(answer_ready_i[0]),
      .r_id_o(rid),
      .r_data_o(rdata),
      .r_resp_o(rresp),
      .r_last_o(rlast),
      .b_valid_o(answer_valid[1]),
      .b_ready_i(answer_ready_i[1]),
      .b_id_o(bid),
      .b_resp_o(bresp)
  );

  // ------------------------------------------------------------------------------------------------ rules of the sides
  power_up u_power_up (.*);
  stream_rules #(
      .W(1 + RequestW)
  ) u_req (
      .clk_i,
      .rst_i,
      .valid_i(req_valid),
      .ready_i(req_ready_i),
      .data_i ({req_write, req_addr, req_data, req_strb})
  );
  stream_rules #(
      .W(IdW + DataW + 3)
  ) u_r (
      .clk_i,
      .rst_i,
      .valid_i(answer_valid[0]),
      .ready_i(answer_ready_i[0]),
      .data_i ({rid, rdata, rresp, rlast})
  );
  stream_rules #(
      .W(IdW + 2)
  ) u_b (
      .clk_i,
      .rst_i,
      .valid_i(answer_valid[1]),
      .ready_i(answer_ready_i[1]),
      .data_i ({bid, bresp})
  );
  mem_write_rules #(
      .Assume(1'b1)
  ) u_win (
      .clk_i,
      .rst_i,
      .data_valid_i(req_valid),
      .data_ready_i(req_ready_i),
      .data_last_i (1'b1),
      .rsp_valid_i,
      .rsp_ready_i (rsp_ready)
  );

  // ----------------------------------------------------------------------------------------------------- to the window
  logic [1:0] go, plain, answered;  // plain: goes, and is not refused
  logic ask, rsp;
  assign go = valid_i & ready;
  assign plain = go & ~refuse_i;
  assign answered = answer_valid & answer_ready_i;
  assign ask = req_valid && req_ready_i;
  assign rsp = rsp_valid_i && rsp_ready;

  logic [1:0] follow;
  logic [1:0][1:0] queued, ahead;
  logic [1:0][RequestW-1:0] word;
  for (genvar d = 0; d < 2; d++) begin : gen_there
    localparam int Held = (d == 0 && Outstanding == 1) ? 1 : 2;
    logic [$clog2(Held+2)-1:0] inside_held, ahead_held;
    stream_track #(
        .W(RequestW),
        .Capacity(Held)
    ) u_track (
        .clk_i,
        .rst_i,
        .mark_i(mark_i[d]),
        .push_i(plain[d]),
        .in_data_i({addr_i[d], d == 0 ? DataW'(0) : data_i, strb_i[d]}),
        .pop_i(ask && req_write == d),
        .out_data_i({req_addr, d == 0 ? DataW'(0) : req_data, req_strb}),
        .inside_o(inside_held),
        .follow_o(follow[d]),
        .ahead_o(ahead_held),
        .word_o(word[d])
    );
    assign queued[d] = 2'(inside_held);
    assign ahead[d]  = 2'(ahead_held);
  end

  // --------------------------------------------------------------------------------------------------- from the window
  // The directions of the window's outstanding responses, requested or not; the responses that are due.
  logic [NoteW-1:0] pending;
  logic rsp_write, unused_second;
  axi_queue #(
      .W(1),
      .Depth(Notes)
  ) u_pending (
      .clk_i,
      .rst_i,
      .push_i(plain != '0),
      .data_i(plain[1]),
      .pop_i(rsp),
      .count_o(pending),
      .head_o(rsp_write),
      .second_o(unused_second)
  );
  logic [1:0][DueW-1:0] due;

  logic r_follow, r_reported;
  logic [DueW-1:0] r_ahead;
  logic [NoteW-1:0] r_rsp_ahead;
  logic [TagW-1:0] r_tag;
  logic [AnswerW-1:0] r_word;
  answer_track #(
      .W(AnswerW),
      .TagW(TagW),
      .Capacity(Outstanding),
      .RequestedW(NoteW)
  ) u_read (
      .clk_i,
      .rst_i,
      .mark_i(mark_i[2]),
      .ask_i(go[0]),
      .tag_i({id_i[0], last_i[0]}),
      .refuse_i(refuse_i[0]),
      .requested_i(pending),
      .rsp_i(rsp),
      .rsp_data_i({rsp_err_i, rsp_data_i}),
      .valid_i(answer_valid[0]),
      .taken_i(answered[0]),
      .answer_tag_i({rid, rlast}),
      .data_i({rresp[1], rdata}),
      .open_o(due[0]),
      .follow_o(r_follow),
      .ahead_o(r_ahead),
      .rsp_ahead_o(r_rsp_ahead),
      .reported_o(r_reported),
      .tag_o(r_tag),
      .word_o(r_word)
  );

  // A followed burst of writes: window responses outstanding to earlier bursts, and to its own beats; whether its last
  // beat has gone; bursts to be answered before it; its error so far.
  logic first_q, w_follow_q, ended_q, err_q, refused_q;
  logic [NoteW-1:0] writes_q, before_q, ours_q;
  logic [DueW-1:0] bursts_q, w_ahead_q;
  logic [IdW-1:0] w_id_q;
  logic enter, more, w_rsp, w_rsp_ours, w_next;
  assign due[1] = bursts_q;
  assign enter = go[1] && first_q && mark_i[3] && !w_follow_q;
  assign more = go[1] && w_follow_q && !ended_q;
  assign w_rsp = rsp && rsp_write;
  assign w_rsp_ours = w_rsp && before_q == '0 && ours_q != '0;
  assign w_next = w_follow_q && w_ahead_q == '0;
  always_ff @(posedge clk_i) begin
    if (go[1]) first_q <= last_i[1];
    writes_q <= writes_q + NoteW'(plain[1]) - NoteW'(w_rsp);
    bursts_q <= bursts_q + DueW'(go[1] && last_i[1]) - DueW'(answered[1]);
    if (enter || more) {ended_q, w_id_q} <= {last_i[1], id_i[1]};
    if (enter) begin
      w_follow_q <= 1'b1;
      before_q <= writes_q - NoteW'(w_rsp);
      ours_q <= NoteW'(plain[1]);
      {err_q, refused_q} <= {2{refuse_i[1]}};
      w_ahead_q <= bursts_q - DueW'(answered[1]);
    end else begin
      before_q <= before_q - NoteW'(w_rsp && before_q != '0);
      ours_q <= ours_q + NoteW'(more && plain[1]) - NoteW'(w_rsp_ours);
      err_q <= err_q || (more && refuse_i[1]) || (w_rsp_ours && rsp_err_i);
      refused_q <= refused_q || (more && refuse_i[1]);
      if (answered[1] && w_next) w_follow_q <= 1'b0;
      w_ahead_q <= w_ahead_q - DueW'(answered[1]);
    end
    if (rst_i) begin
      first_q <= 1'b1;
      {writes_q, bursts_q, w_follow_q} <= '0;
    end
    if (!rst_i) begin
      burst_was_due : assert (!answer_valid[1] || bursts_q != '0);
      if (answer_valid[1] && w_next) begin
        burst_answered_after_all : assert (ended_q && before_q == '0 && ours_q == '0);
        burst_answer : assert (bid == w_id_q && bresp[1] == err_q);
      end
      burst_answer_comes :
      assert (!w_next || !ended_q || before_q != '0 || ours_q != '0 || refused_q || answer_valid[1]);
      okay_or_slverr : assert (!(answer_valid[0] && rresp[0]) && !(answer_valid[1] && bresp[0]));
      burst_errs_once : cover (w_next && answered[1] && err_q && !refused_q && !rsp);
      burst_refused : cover (w_next && answered[1] && refused_q);
    end
  end

  // ---------------------------------------------------------------------------------------------------------- progress
  // `waits`: a beat waits with room for its response. `passed_q`: beats of the other direction that went meanwhile.
  // `could_q`: none went, with no response of the window outstanding. `quiet_q`: cycles in which a due response was
  // missing and the window had none to give. `holds_q`: cycles in which the window had a response due and could not
  // give it.
  logic [1:0] waits, quiet;
  logic [1:0][1:0] passed_q;
  logic could_q;
  logic [1:0][NoteW-1:0] quiet_q;
  logic [NoteW-1:0] holds_q;
  assign waits = {valid_i[1] && int'(due[1]) < Outstanding, valid_i[0] && int'(due[0]) < Outstanding};
  assign quiet = {due[1] != '0 && pending == '0, due[0] != '0 && pending == '0} & ~answer_valid;
  always_ff @(posedge clk_i) begin
    for (int d = 0; d < 2; d++) begin
      passed_q[d] <= (rst_i || !waits[d] || go[d]) ? '0 : passed_q[d] + 2'(go != '0);
      quiet_q[d]  <= (rst_i || !quiet[d]) ? '0 : quiet_q[d] + NoteW'(1);
    end
    could_q <= !rst_i && waits != '0 && go == '0 && pending == '0;
    holds_q <= (rst_i || u_win.written_q == '0 || rsp_ready) ? '0 : holds_q + NoteW'(1);
    if (!rst_i) begin
      turns : assert (passed_q[0] < 2'd2 && passed_q[1] < 2'd2);
      goes_on : assert (!could_q || waits == '0 || go != '0);
      refusals_are_answered : assert (int'(quiet_q[0]) <= Notes && int'(quiet_q[1]) <= Notes);
      never_holds_the_window : assert (int'(holds_q) < Notes);
      busy_tells : assert (busy || (queued == '0 && pending == '0 && due == '0));
      rests : assert (!busy || pending != '0 || due != '0 || !first_q);
    end
  end

  // --------------------------------------------------------------------------------------------------------- registers
  // The queue of requests, the notes of taken beats, the responses: the oldest first.
  logic [1:0] req_here, req_writes;
  logic [1:0][RequestW-1:0] requests, read_requests;
  for (genvar i = 0; i < 2; i++) begin : gen_req
    assign req_here[i] = int'(dut.req_level) > i;
    assign {req_writes[i], requests[i]} = dut.u_req.mem_q[i];
    assign read_requests[i] = requests[i] & ~(RequestW'({DataW{1'b1}}) << StrbW);
  end
  for (genvar d = 0; d < 2; d++) begin : gen_lines
    in_line #(
        .W(RequestW),
        .Places(2),
        .CountW(2)
    ) u_there (
        .clk_i,
        .rst_i,
        .taken_i (d == 0 ? req_here & ~req_writes : req_here & req_writes),
        .place_i (d == 0 ? read_requests : requests),
        .inside_i(queued[d]),
        .follow_i(follow[d]),
        .ahead_i (ahead[d]),
        .word_i  (word[d])
    );
  end

  logic [Notes-1:0] note_here, note_writes, note_refuses, note_lasts;
  logic [Notes-1:0][IdW-1:0] note_ids;
  for (genvar i = 0; i < Notes; i++) begin : gen_note
    assign note_here[i] = int'(dut.note_level) > i;
    assign {note_writes[i], note_refuses[i], note_lasts[i], note_ids[i]} = dut.u_note.mem_q[i];
  end
  logic [Outstanding-1:0] r_here;
  logic [Outstanding-1:0][TagW+AnswerW:0] r_places;
  for (genvar i = 0; i < Outstanding; i++) begin : gen_answer
    logic [  IdW-1:0] id;
    logic [DataW-1:0] data;
    logic err, last;
    assign r_here[i] = int'(dut.r_level) > i;
    assign {id, data, err, last} = dut.u_r.mem_q[i];
    // Data of a refused beat mean nothing.
    assign r_places[i] = {1'b1, id, last, err, r_reported && u_read.refused_q ? DataW'(0) : data};
  end

  // The contents of the notes. A note of a refused read is like a response; another counts the responses ahead of its
  // own.
  logic [Notes-1:0][TagW+AnswerW:0] note_places;
  logic noted;  // they match the window's past and future requests, and the refusals
  int plains, reads, ends;  // not refused; of reads; that end a burst of writes
  int r_first, w_first, refusals;  // up to the first of a read, and of the end of a burst; refused ones in front
  logic newest_last;  // the newest of a write ends its burst
  int w_nth, w_seen;  // the followed burst's index among bursts with notes; ends of bursts seen
  int w_before, w_ours;  // writes before it and of it that are not refused
  logic w_refuse, w_ended;  // one of it is refused; its end has a note
  logic [IdW-1:0] w_id;
  always_comb begin
    noted = 1'b1;
    {plains, reads, ends, refusals} = '0;
    newest_last = first_q;
    {r_first, w_first} = '0;
    {w_before, w_ours, w_seen} = '0;
    {w_refuse, w_ended, w_id} = '0;
    w_nth = int'(w_ahead_q) - int'(dut.b_level);
    for (int i = 0; i < Notes; i++) begin
      note_places[i] = {
        note_refuses[i] && u_read.refused_q,
        note_ids[i],
        note_lasts[i],
        note_refuses[i],
        note_refuses[i] ? DataW'(0) : DataW'(plains)
      };
      if (note_here[i]) begin
        if (plains == 0 && note_refuses[i]) refusals = refusals + 1;
        if (!note_writes[i]) begin
          reads = reads + 1;
          if (r_first == 0) r_first = i + 1;
        end else begin
          newest_last = note_lasts[i];
          if (w_seen < w_nth) w_before = w_before + int'(!note_refuses[i]);
          else if (w_seen == w_nth) begin
            w_ours = w_ours + int'(!note_refuses[i]);
            w_refuse = w_refuse || note_refuses[i];
            {w_ended, w_id} = {note_lasts[i], note_ids[i]};
          end
          if (note_lasts[i]) begin
            ends   = ends + 1;
            w_seen = w_seen + 1;
            if (w_first == 0) w_first = i + 1;
          end
        end
        if (!note_refuses[i]) begin
          if (u_pending.word_q[plains] != note_writes[i]) noted = 1'b0;
          if (plains >= int'(u_win.written_q) && req_writes[plains-int'(u_win.written_q)] != note_writes[i])
            noted = 1'b0;
          plains = plains + 1;
        end
      end
    end
    if (plains != int'(pending) || plains != int'(u_win.written_q) + int'(dut.req_level)) noted = 1'b0;
  end
  in_line #(
      .W(1 + TagW + AnswerW),
      .Places(Outstanding + Notes),
      .CountW(DueW)
  ) u_back (
      .clk_i,
      .rst_i,
      .taken_i ({note_here & ~note_writes, r_here}),
      .place_i ({note_places, r_places}),
      .inside_i(due[0]),
      .follow_i(r_follow),
      .ahead_i (r_ahead),
      .word_i  ({r_reported, r_tag, r_reported ? r_word : AnswerW'(r_rsp_ahead)})
  );

  logic w_in_place;
  int   w_writes;
  always_comb begin
    w_writes = 0;
    for (int i = 0; i < Notes; i++) if (note_here[i] && note_writes[i] && !note_refuses[i]) w_writes = w_writes + 1;
    if (w_nth < 0) begin
      w_in_place = ended_q && before_q == '0 && ours_q == '0 && dut.u_b.mem_q[w_ahead_q] == {w_id_q, err_q};
    end else begin
      w_in_place = w_ended == ended_q && int'(before_q) == w_before && int'(ours_q) == w_ours &&
          (!w_ended || w_id == w_id_q) && err_q == (w_refuse || (w_nth == 0 && dut.err_q)) &&
          (refused_q || !w_refuse) && w_nth <= ends;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      all_noted : assert (noted);
      writes_counted : assert (int'(writes_q) == w_writes);
      reads_due : assert (int'(due[0]) == reads + int'(dut.r_level) && int'(due[0]) <= Outstanding);
      writes_due : assert (int'(due[1]) == ends + int'(dut.b_level) && int'(due[1]) <= Outstanding);
      due_known : assert (dut.r_due_q == due[0] && dut.b_due_q == due[1]);
      burst_in_place : assert (!w_follow_q || w_in_place);
      newest_known : assert (newest_last == first_q);
      no_error_between : assert (!dut.err_q || !first_q || ends != 0);
      reads_turn : assert (!waits[0] || passed_q[0] == '0 || !dut.write_next_q);
      writes_turn : assert (!waits[1] || passed_q[1] == '0 || dut.write_next_q);
      read_comes_nearer : assert (!quiet[0] || int'(quiet_q[0]) + r_first <= Notes);
      write_comes_nearer : assert (!quiet[1] || int'(quiet_q[1]) + w_first <= Notes);
      response_comes_nearer : assert (u_win.written_q == '0 || int'(holds_q) + refusals < Notes);
`ifdef TSUNAGI_ASSERT
      assert (dut.u_win.written_q == u_win.written_q);
`endif
    end
  end
endmodule
