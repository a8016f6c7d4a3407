// SPDX-License-Identifier: MIT OR Apache-2.0
// `axil_slave` passes every read and every write to the port once, in order, with its own address, data and strobes,
// and answers each once.
//
// - Responses are in order, repeat the port's response, and come right after it.
// - Offers hold. Each request has room for its response, so responses of the port never wait.
// - A direction that waits and has room is passed by at most 3 requests of the other. If the port does not block it, it
//   is offered in the next cycle, whatever the master of the other direction does.
// - `busy_o` is low exactly at rest.
//
// Assumed of the port: it responds only to requests of an earlier cycle.
module prove_axil_slave #(
    parameter  int DataW       = 32,
    parameter  int Outstanding = 2,
    localparam int StrbW       = DataW / 8,
    localparam int AddrW       = 2
) (
    input logic clk_i,
    input logic rst_i,
    input logic [AddrW-1:0] awaddr_i,
    input logic awvalid_i,
    input logic [DataW-1:0] wdata_i,
    input logic [StrbW-1:0] wstrb_i,
    input logic wvalid_i,
    input logic bready_i,
    input logic [AddrW-1:0] araddr_i,
    input logic arvalid_i,
    input logic rready_i,
    input logic req_ready_i,
    input logic rsp_valid_i,
    input logic [DataW-1:0] rsp_data_i,
    input logic rsp_err_i,
    input logic [4:0] mark_i
);
  localparam int Inside = 2 + (Outstanding < 2 ? Outstanding : 2);  // requests of a direction: a skid's, the queue's
  localparam int InsideW = $clog2(Inside + 2);
  localparam int OpenW = $clog2(Outstanding + 2);
  localparam int Notes = 2 * Outstanding;
  localparam int RequestedW = 16;
  localparam int AnswerW = 1 + DataW;

  logic awready, wready, bvalid, arready, rvalid, req_valid, req_write, rsp_ready, busy;
  logic [1:0] bresp, rresp;
  logic [DataW-1:0] rdata, req_data;
  logic [AddrW-1:0] req_addr;
  logic [StrbW-1:0] req_strb;

  axil_slave #(
      .AddrW(AddrW),
      .DataW(DataW),
      .Outstanding(Outstanding)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .s_axil_awaddr(awaddr_i),
      .s_axil_awprot(3'd0),
      .s_axil_awvalid(awvalid_i),
      .s_axil_awready(awready),
      .s_axil_wdata(wdata_i),
      .s_axil_wstrb(wstrb_i),
      .s_axil_wvalid(wvalid_i),
      .s_axil_wready(wready),
      .s_axil_bresp(bresp),
      .s_axil_bvalid(bvalid),
      .s_axil_bready(bready_i),
      .s_axil_araddr(araddr_i),
      .s_axil_arprot(3'd0),
      .s_axil_arvalid(arvalid_i),
      .s_axil_arready(arready),
      .s_axil_rdata(rdata),
      .s_axil_rresp(rresp),
      .s_axil_rvalid(rvalid),
      .s_axil_rready(rready_i),
      .host_req_valid_o(req_valid),
      .host_req_ready_i(req_ready_i),
      .host_req_write_o(req_write),
      .host_req_addr_o(req_addr),
      .host_req_wdata_o(req_data),
      .host_req_wstrb_o(req_strb),
      .host_rsp_valid_i(rsp_valid_i),
      .host_rsp_ready_o(rsp_ready),
      .host_rsp_rdata_i(rsp_data_i),
      .host_rsp_err_i(rsp_err_i)
  );

  // Direction 0: reads; 1: writes.
  logic [1:0] offered, taken, answer_offered, answer_taken, waits;
  logic [1:0][  AddrW-1:0] addr;
  logic [1:0][AnswerW-1:0] answer;  // {error, data of a read}
  assign offered = {awvalid_i, arvalid_i};
  assign taken = offered & {awready, arready};
  assign addr = {awaddr_i, araddr_i};
  assign answer_offered = {bvalid, rvalid};
  assign answer_taken = answer_offered & {bready_i, rready_i};
  assign answer = {bresp[1], DataW'(0), rresp[1], rdata};

  // ------------------------------------------------------------------------------------------------ rules of the sides
  power_up u_power_up (.*);
  stream_rules #(
      .W(StrbW + DataW),
      .Assume(1'b1)
  ) u_w (
      .clk_i,
      .rst_i,
      .valid_i(wvalid_i),
      .ready_i(wready),
      .data_i ({wstrb_i, wdata_i})
  );
  stream_rules #(
      .W(1 + AddrW + DataW + StrbW)
  ) u_req (
      .clk_i,
      .rst_i,
      .valid_i(req_valid),
      .ready_i(req_ready_i),
      .data_i ({req_write, req_addr, req_data, req_strb})
  );
  mem_write_rules #(
      .Assume(1'b1)
  ) u_port (
      .clk_i,
      .rst_i,
      .data_valid_i(req_valid),
      .data_ready_i(req_ready_i),
      .data_last_i (1'b1),
      .rsp_valid_i,
      .rsp_ready_i (rsp_ready)
  );

  // -------------------------------------------------------------------------------------------- requests and responses
  logic ask, rsp;
  logic [RequestedW-1:0] requested;  // of both directions, without a response
  assign ask = req_valid && req_ready_i;
  assign rsp = rsp_valid_i && rsp_ready;
  assign requested = u_port.written_q;

  // Inside: taken and not requested; open: requested and not answered.
  logic [1:0] follow, back_follow, reported;
  logic [1:0][InsideW-1:0] held, ahead;
  logic [1:0][AddrW-1:0] word;
  logic [1:0][OpenW-1:0] open, back_ahead;
  logic [1:0][RequestedW-1:0] rsp_ahead;
  logic [1:0][AnswerW-1:0] back_word;
  for (genvar d = 0; d < 2; d++) begin : gen_direction
    logic tag;
    stream_rules #(
        .W(AddrW),
        .Assume(1'b1)
    ) u_address (
        .clk_i,
        .rst_i,
        .valid_i(offered[d]),
        .ready_i(taken[d]),
        .data_i (addr[d])
    );
    stream_rules #(
        .W(AnswerW)
    ) u_reply (
        .clk_i,
        .rst_i,
        .valid_i(answer_offered[d]),
        .ready_i(answer_taken[d]),
        .data_i (answer[d])
    );
    stream_track #(
        .W(AddrW),
        .Capacity(Inside)
    ) u_there (
        .clk_i,
        .rst_i,
        .mark_i(mark_i[d]),
        .push_i(taken[d]),
        .in_data_i(addr[d]),
        .pop_i(ask && req_write == d),
        .out_data_i(req_addr),
        .inside_o(held[d]),
        .follow_o(follow[d]),
        .ahead_o(ahead[d]),
        .word_o(word[d])
    );
    answer_track #(
        .W(AnswerW),
        .Capacity(Outstanding),
        .RequestedW(RequestedW)
    ) u_back (
        .clk_i,
        .rst_i,
        .mark_i(mark_i[2+d]),
        .ask_i(ask && req_write == d),
        .tag_i(1'b0),
        .refuse_i(1'b0),
        .requested_i(requested),
        .rsp_i(rsp),
        .rsp_data_i({rsp_err_i, d == 0 ? rsp_data_i : DataW'(0)}),
        .valid_i(answer_offered[d]),
        .taken_i(answer_taken[d]),
        .answer_tag_i(1'b0),
        .data_i(answer[d]),
        .open_o(open[d]),
        .follow_o(back_follow[d]),
        .ahead_o(back_ahead[d]),
        .rsp_ahead_o(rsp_ahead[d]),
        .reported_o(reported[d]),
        .tag_o(tag),
        .word_o(back_word[d])
    );
  end
  logic w_follow;
  logic [InsideW-1:0] datas, w_ahead;
  logic [StrbW+DataW-1:0] w_word;
  stream_track #(
      .W(StrbW + DataW),
      .Capacity(Inside)
  ) u_data (
      .clk_i,
      .rst_i,
      .mark_i(mark_i[4]),
      .push_i(wvalid_i && wready),
      .in_data_i({wstrb_i, wdata_i}),
      .pop_i(ask && req_write),
      .out_data_i({req_strb, req_data}),
      .inside_o(datas),
      .follow_o(w_follow),
      .ahead_o(w_ahead),
      .word_o(w_word)
  );

  // ---------------------------------------------------------------------------------------------------------- progress
  // `waits`: a request waits with room for its response. `passed_q`: requests of the other direction that went
  // meanwhile. `could_q`: one waited and the port had no response outstanding, so now there must be an offer.
  localparam int Passed = 3;  // two in the queue, and one with the turn
  logic [1:0][2:0] passed_q;
  logic [1:0] could_q;
  assign waits = {
    held[1] != '0 && datas != '0 && int'(open[1]) < Outstanding, held[0] != '0 && int'(open[0]) < Outstanding
  };
  always_ff @(posedge clk_i) begin
    for (int d = 0; d < 2; d++) begin
      passed_q[d] <= passed_q[d] + 3'(ask);
      if (rst_i || !waits[d] || (ask && req_write == d)) passed_q[d] <= '0;
    end
    could_q <= (rst_i || req_valid || requested != '0) ? '0 : waits;
    if (!rst_i) begin
      turns : assert (int'(passed_q[0]) <= Passed && int'(passed_q[1]) <= Passed);
      goes_on : assert (could_q == '0 || req_valid);
      reads_ask_for_all : assert (!req_valid || req_write || req_strb == '1);
      okay_or_slverr : assert (!(rvalid && rresp[0]) && !(bvalid && bresp[0]));
      never_holds_the_port : assert (requested == '0 || rsp_ready);
      busy_tells : assert (busy == (held != '0 || datas != '0 || open != '0));
      data_first : cover (datas != '0 && held[1] == '0);
    end
  end

  // --------------------------------------------------------------------------------------------------------- registers
  // Skids, the queue of requests, the notes of requests, the responses: the oldest first.
  logic [1:0] req_here, req_writes;
  logic [1:0][AddrW-1:0] req_addrs;
  logic [1:0][StrbW+DataW-1:0] req_words;
  for (genvar i = 0; i < 2; i++) begin : gen_req
    assign req_here[i] = int'(dut.u_window.u_req.level_q) > i;
    logic [DataW-1:0] data;
    logic [StrbW-1:0] strb;
    assign {req_writes[i], req_addrs[i], data, strb} = dut.u_window.u_req.mem_q[i];
    assign req_words[i] = {strb, data};
  end
  logic [Notes-1:0] note_requested, note_writes, note_refuses, note_lasts, unused_ids;
  for (genvar i = 0; i < Notes; i++) begin : gen_note
    assign note_requested[i] = int'(requested) > i;
    assign {note_writes[i], note_refuses[i], note_lasts[i], unused_ids[i]} = dut.u_window.u_note.mem_q[i];
  end
  logic [1:0][Outstanding-1:0] answer_here;
  logic [1:0][Outstanding-1:0][AnswerW-1:0] answers;
  logic [Outstanding-1:0] unused_rids, unused_bids, unused_lasts;
  for (genvar i = 0; i < Outstanding; i++) begin : gen_answer
    assign answer_here[0][i] = int'(dut.u_window.u_r.level_q) > i;
    assign answer_here[1][i] = int'(dut.u_window.u_b.level_q) > i;
    logic [DataW-1:0] data;
    logic err;
    assign {unused_rids[i], data, err, unused_lasts[i]} = dut.u_window.u_r.mem_q[i];
    assign answers[0][i] = {err, data};
    assign {unused_bids[i], answers[1][i]} = {dut.u_window.u_b.mem_q[i], DataW'(0)};
  end

  logic [1:0][1:0] skid_here;
  logic [1:0][1:0][AddrW-1:0] skid_addrs;
  assign skid_here  = {!dut.u_aw.ready_q, dut.u_aw.valid_q, !dut.u_ar.ready_q, dut.u_ar.valid_q};
  assign skid_addrs = {dut.u_aw.spare_q, dut.u_aw.data_q, dut.u_ar.spare_q, dut.u_ar.data_q};
  for (genvar d = 0; d < 2; d++) begin : gen_lines
    in_line #(
        .W(AddrW),
        .Places(4),
        .CountW(InsideW)
    ) u_there (
        .clk_i,
        .rst_i,
        .taken_i ({skid_here[d], d == 0 ? req_here & ~req_writes : req_here & req_writes}),
        .place_i ({skid_addrs[d], req_addrs}),
        .inside_i(held[d]),
        .follow_i(follow[d]),
        .ahead_i (ahead[d]),
        .word_i  (word[d])
    );
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        never_refused : assert (!back_follow[d] || {gen_direction[d].u_back.refused_q, gen_direction[d].tag} == '0);
      end
    end
    // Responses, then requests without one: the first `requested` notes. The content of a note here is its index.
    logic [Outstanding+Notes-1:0][AnswerW:0] back;
    for (genvar i = 0; i < Outstanding + Notes; i++) begin : gen_place
      if (i < Outstanding) assign back[i] = {1'b1, answers[d][i]};
      else assign back[i] = (AnswerW + 1)'(i - Outstanding);
    end
    in_line #(
        .W(1 + AnswerW),
        .Places(Outstanding + Notes),
        .CountW(OpenW)
    ) u_back (
        .clk_i,
        .rst_i,
        .taken_i ({d == 0 ? note_requested & ~note_writes : note_requested & note_writes, answer_here[d]}),
        .place_i (back),
        .inside_i(open[d]),
        .follow_i(back_follow[d]),
        .ahead_i (back_ahead[d]),
        .word_i  (reported[d] ? {1'b1, back_word[d]} : (AnswerW + 1)'(rsp_ahead[d]))
    );
  end
  in_line #(
      .W(StrbW + DataW),
      .Places(4),
      .CountW(InsideW)
  ) u_data_line (
      .clk_i,
      .rst_i,
      .taken_i ({!dut.u_w.ready_q, dut.u_w.valid_q, req_here & req_writes}),
      .place_i ({dut.u_w.spare_q, dut.u_w.data_q, req_words}),
      .inside_i(datas),
      .follow_i(w_follow),
      .ahead_i (w_ahead),
      .word_i  (w_word)
  );

  // A note is of a request, or of an entry of the queue; both directions have room for the responses to their requests.
  logic noted;
  int   queued[2];
  always_comb begin
    noted  = int'(dut.u_window.note_level) == int'(requested) + int'(dut.u_window.req_level);
    queued = '{0, 0};
    for (int i = 0; i < 2; i++) begin
      if (req_here[i] && note_writes[int'(requested)+i] != req_writes[i]) noted = 1'b0;
      if (req_here[i] && !req_writes[i] && req_words[i][DataW+:StrbW] != '1) noted = 1'b0;
      if (req_here[i]) queued[req_writes[i]] = queued[req_writes[i]] + 1;
    end
    for (int i = 0; i < Notes; i++)
    if (i < int'(dut.u_window.note_level) && (note_refuses[i] || !note_lasts[i])) noted = 1'b0;
  end
  // Requests before the next one of a direction: the ones in front of it in the queue, and one if the other has the
  // turn.
  int   in_front[2];
  logic nearer;
  always_comb begin
    nearer = 1'b1;
    for (int d = 0; d < 2; d++) begin
      in_front[d] = int'(dut.u_window.req_level) + int'(dut.u_window.write_next_q != d);
      for (int i = 1; i >= 0; i--) if (req_here[i] && req_writes[i] == d) in_front[d] = i;
      if (waits[d] && int'(passed_q[d]) + in_front[d] > Passed) nearer = 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      comes_nearer : assert (nearer);
      all_noted : assert (noted && !dut.u_window.err_q);
      room :
      assert (int'(dut.u_window.r_due_q) == int'(open[0]) + queued[0] && int'(dut.u_window.r_due_q) <= Outstanding);
      room_too :
      assert (int'(dut.u_window.b_due_q) == int'(open[1]) + queued[1] && int'(dut.u_window.b_due_q) <= Outstanding);
`ifdef TSUNAGI_ASSERT
      assert (dut.u_window.u_win.written_q == requested);
`endif
    end
  end
endmodule
