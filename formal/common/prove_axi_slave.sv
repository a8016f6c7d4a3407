// SPDX-License-Identifier: MIT OR Apache-2.0
// `axi_slave` turns any burst, legal or not, into its beats in front of the window: each once, in order, none lost or
// invented.
//
// - Each beat has the ID of the burst, its own address and byte lanes (FIXED, INCR, WRAP, narrow, unaligned), and
//   `last`.
// - Bursts that must be refused are refused, and no others.
// - Data of writes stay in order. A beat of a write goes only with its data. A beat with its burst and data is offered
//   in the next cycle.
// - Answers, requests and responses pass unchanged.
// - `busy_o` is low only at rest.
//
// The window is a model that takes beats and answers when it likes; `axi_window` has a proof of its own. Assumed of the
// master: offers hold, and WLAST is as AWLEN says, which only the assertion of the slave itself looks at.
module prove_axi_slave #(
    parameter  int DataW  = 32,
    parameter  int AddrW  = 13,
    parameter  int IdW    = 1,
    localparam int StrbW  = DataW / 8,
    localparam int BurstW = IdW + AddrW + 8 + 3 + 2 + 1
) (
    input logic clk_i,
    input logic rst_i,
    // Index 0: reads; 1: writes.
    input logic [1:0] valid_i,
    input logic [1:0][BurstW-1:0] burst_i,
    input logic [DataW-1:0] wdata_i,
    input logic [StrbW-1:0] wstrb_i,
    input logic wlast_i,
    input logic wvalid_i,
    input logic rready_i,
    input logic bready_i,
    input logic req_ready_i,
    input logic rsp_valid_i,
    input logic [DataW-1:0] rsp_data_i,
    input logic rsp_err_i,
    input logic [2:0] mark_i
);
  localparam int CountW = 10;  // beats inside

  logic [1:0] ready, lock;
  logic [1:0][IdW-1:0] id;
  logic [1:0][AddrW-1:0] addr;
  logic [1:0][7:0] len;
  logic [1:0][2:0] size;
  logic [1:0][1:0] kind;
  for (genvar d = 0; d < 2; d++) begin : gen_burst
    assign {id[d], addr[d], len[d], size[d], kind[d], lock[d]} = burst_i[d];
  end
  logic wready, bvalid, rvalid, rlast, req_valid, req_write, rsp_ready, busy;
  logic [1:0] bresp, rresp;
  logic [IdW-1:0] bid, rid;
  logic [DataW-1:0] rdata, req_data;
  logic [AddrW-1:0] req_addr;
  logic [StrbW-1:0] req_strb;

  axi_slave #(
      .AddrW(AddrW),
      .DataW(DataW),
      .IdW  (IdW)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .s_axi_awid(id[1]),
      .s_axi_awaddr(addr[1]),
      .s_axi_awlen(len[1]),
      .s_axi_awsize(size[1]),
      .s_axi_awburst(kind[1]),
      .s_axi_awlock(lock[1]),
      .s_axi_awcache(4'd0),
      .s_axi_awprot(3'd0),
      .s_axi_awqos(4'd0),
      .s_axi_awvalid(valid_i[1]),
      .s_axi_awready(ready[1]),
      .s_axi_wdata(wdata_i),
      .s_axi_wstrb(wstrb_i),
      .s_axi_wlast(wlast_i),
      .s_axi_wvalid(wvalid_i),
      .s_axi_wready(wready),
      .s_axi_bid(bid),
      .s_axi_bresp(bresp),
      .s_axi_bvalid(bvalid),
      .s_axi_bready(bready_i),
      .s_axi_arid(id[0]),
      .s_axi_araddr(addr[0]),
      .s_axi_arlen(len[0]),
      .s_axi_arsize(size[0]),
      .s_axi_arburst(kind[0]),
      .s_axi_arlock(lock[0]),
      .s_axi_arcache(4'd0),
      .s_axi_arprot(3'd0),
      .s_axi_arqos(4'd0),
      .s_axi_arvalid(valid_i[0]),
      .s_axi_arready(ready[0]),
      .s_axi_rid(rid),
      .s_axi_rdata(rdata),
      .s_axi_rresp(rresp),
      .s_axi_rlast(rlast),
      .s_axi_rvalid(rvalid),
      .s_axi_rready(rready_i),
      .win_req_valid_o(req_valid),
      .win_req_ready_i(req_ready_i),
      .win_req_write_o(req_write),
      .win_req_addr_o(req_addr),
      .win_req_wdata_o(req_data),
      .win_req_wstrb_o(req_strb),
      .win_rsp_valid_i(rsp_valid_i),
      .win_rsp_ready_o(rsp_ready),
      .win_rsp_rdata_i(rsp_data_i),
      .win_rsp_err_i(rsp_err_i)
  );

  // The window's inputs for a beat, and its transfers.
  logic [1:0] offered, go, last, refuse;
  logic [1:0][  IdW-1:0] beat_id;
  logic [1:0][AddrW-1:0] beat_addr;
  assign offered = {dut.u_window.wr_valid_i, dut.u_window.rd_valid_i};
  assign go = offered & {dut.u_window.wr_ready_o, dut.u_window.rd_ready_o};
  assign last = {dut.u_window.wr_last_i, dut.u_window.rd_last_i};
  assign refuse = {dut.u_window.wr_refuse_i, dut.u_window.rd_refuse_i};
  assign beat_id = {dut.u_window.wr_id_i, dut.u_window.rd_id_i};
  assign beat_addr = {dut.u_window.wr_addr_i, dut.u_window.rd_addr_i};

  power_up u_power_up (.*);
  stream_rules #(
      .W(1 + StrbW + DataW),
      .Assume(1'b1)
  ) u_w (
      .clk_i,
      .rst_i,
      .valid_i(wvalid_i),
      .ready_i(wready),
      .data_i ({wlast_i, wstrb_i, wdata_i})
  );

  logic [1:0] follow, refused;
  logic [1:0][CountW-1:0] left, ahead;
  logic [1:0][BurstW-1:0] followed;
  logic [1:0][7:0] nth;
  logic [1:0][AddrW-1:0] place;
  for (genvar d = 0; d < 2; d++) begin : gen_direction
    stream_rules #(
        .W(BurstW),
        .Assume(1'b1)
    ) u_address (
        .clk_i,
        .rst_i,
        .valid_i(valid_i[d]),
        .ready_i(ready[d]),
        .data_i (burst_i[d])
    );
    burst_track #(
        .AddrW(AddrW),
        .DataW(DataW),
        .IdW  (IdW)
    ) u_track (
        .clk_i,
        .rst_i,
        .mark_i(mark_i[d]),
        .take_i(valid_i[d] && ready[d]),
        .burst_i(burst_i[d]),
        .offered_i(offered[d]),
        .go_i(go[d]),
        .id_i(beat_id[d]),
        .addr_i(beat_addr[d]),
        .lanes_i(dut.beat_lanes[d]),
        .last_i(last[d]),
        .refuse_i(refuse[d]),
        .left_o(left[d]),
        .follow_o(follow[d]),
        .ahead_o(ahead[d]),
        .burst_o(followed[d]),
        .refused_o(refused[d]),
        .nth_o(nth[d]),
        .place_o(place[d])
    );
  end
  logic data_follow;
  logic [1:0] datas, data_ahead;
  logic [StrbW+DataW-1:0] data_word;
  stream_track #(
      .W(StrbW + DataW),
      .Capacity(2)
  ) u_data (
      .clk_i,
      .rst_i,
      .mark_i(mark_i[2]),
      .push_i(wvalid_i && wready),
      .in_data_i({wstrb_i, wdata_i}),
      .pop_i(go[1]),
      .out_data_i({dut.strb, dut.u_window.wr_data_i}),
      .inside_o(datas),
      .follow_o(data_follow),
      .ahead_o(data_ahead),
      .word_o(data_word)
  );

  // WLAST is as AWLEN says. The slave ignores it; only its assertion reads it.
  logic [1:0] bursts, lasts;
  logic [7:0] data_len, unused_len, beat_q;
  logic data_last, unused_last;
  axi_queue #(
      .W(8),
      .Depth(3)
  ) u_lens (
      .clk_i,
      .rst_i,
      .push_i(valid_i[1] && ready[1]),
      .data_i(len[1]),
      .pop_i(go[1] && beat_q == data_len),
      .count_o(bursts),
      .head_o(data_len),
      .second_o(unused_len)
  );
  axi_queue #(
      .W(1),
      .Depth(2)
  ) u_lasts (
      .clk_i,
      .rst_i,
      .push_i(wvalid_i && wready),
      .data_i(wlast_i),
      .pop_i(go[1]),
      .count_o(lasts),
      .head_o(data_last),
      .second_o(unused_last)
  );
  always_ff @(posedge clk_i) begin
    if (rst_i || (go[1] && beat_q == data_len)) beat_q <= '0;
    else if (go[1]) beat_q <= beat_q + 8'd1;
    if (!rst_i) begin
      data_end_as_reported : assume (!go[1] || data_last == (beat_q == data_len));
    end
  end

  // Signals that pass unchanged: responses to the master, requests to the window and its responses.
  localparam int PortsW = 3 * DataW + StrbW + AddrW + 2 * IdW + 13;
  logic [PortsW-1:0] ports, inner;
  assign ports = {
    {rvalid, rready_i, rid, rdata, rresp, rlast, bvalid, bready_i, bid, bresp},
    {req_valid, req_ready_i, req_write, req_addr, req_data, req_strb, rsp_valid_i, rsp_ready, rsp_data_i, rsp_err_i}
  };
  assign inner = {
    {dut.u_window.r_valid_o, dut.u_window.r_ready_i, dut.u_window.r_id_o, dut.u_window.r_data_o, dut.u_window.r_resp_o},
    {dut.u_window.r_last_o, dut.u_window.b_valid_o, dut.u_window.b_ready_i, dut.u_window.b_id_o, dut.u_window.b_resp_o},
    {dut.u_window.win_req_valid_o, dut.u_window.win_req_ready_i, dut.u_window.win_req_write_o},
    {dut.u_window.win_req_addr_o, dut.u_window.win_req_wdata_o, dut.u_window.win_req_wstrb_o},
    {
      dut.u_window.win_rsp_valid_i,
      dut.u_window.win_rsp_ready_o,
      dut.u_window.win_rsp_rdata_i,
      dut.u_window.win_rsp_err_i
    }
  };

  logic [1:0] could_q;  // a beat was inside, with its data, and not offered
  always_ff @(posedge clk_i) begin
    could_q <= (rst_i ? 2'b00 : 2'b11) & {left[1] != '0 && datas != '0, left[0] != '0} & ~offered;
    if (!rst_i) begin
      goes_on : assert ((could_q & ~offered) == '0);
      read_bytes : assert (dut.u_window.rd_lanes_i == dut.beat_lanes[0]);
      write_bytes : assert (dut.u_window.wr_strb_i == (dut.strb & dut.beat_lanes[1]));
      busy_tells : assert (busy == (left != '0 || datas != '0 || dut.u_window.busy_o));
      ports_go_through : assert (ports == inner);
      data_first : cover (datas == 2'd2 && left[1] == '0);
    end
  end

  // --------------------------------------------------------------------------------------------------------- registers
  in_line #(
      .W(StrbW + DataW),
      .Places(2),
      .CountW(2)
  ) u_data_line (
      .clk_i,
      .rst_i,
      .taken_i ({!dut.u_data.ready_q, dut.u_data.valid_q}),
      .place_i ({dut.u_data.spare_q[StrbW+DataW-1:0], dut.u_data.data_q[StrbW+DataW-1:0]}),
      .inside_i(datas),
      .follow_i(data_follow),
      .ahead_i (data_ahead),
      .word_i  (data_word)
  );
  // Beats of a direction: of the current burst, and of two that wait.
  logic [1:0][7:0] beats_left;
  logic [1:0][2:0] here;
  logic [1:0][1:0][BurstW-1:0] waiting;
  for (genvar d = 0; d < 2; d++) begin : gen_registers
    logic [CountW-1:0] first, second, third;
    logic in_place;
    logic [IdW-1:0] of_id;
    logic [AddrW-1:0] of_addr;
    logic [7:0] of_len;
    logic [2:0] of_size;
    logic [1:0] of_kind;
    logic of_lock;
    logic [11:0] moves;
    assign beats_left[d] = dut.g_direction[d].u_beats.left_q;
    assign here[d] = {
      !dut.g_direction[d].u_burst.ready_q, dut.g_direction[d].u_burst.valid_q, dut.g_direction[d].u_beats.out_valid_o
    };
    assign waiting[d] = {dut.g_direction[d].u_burst.spare_q, dut.g_direction[d].u_burst.data_q};
    assign first = here[d][0] ? CountW'(beats_left[d]) + CountW'(1) : '0;
    assign second = here[d][1] ? CountW'(waiting[d][0][13:6]) + CountW'(1) : '0;
    assign third = here[d][2] ? CountW'(waiting[d][1][13:6]) + CountW'(1) : '0;
    assign {of_id, of_addr, of_len, of_size, of_kind, of_lock} = followed[d];
    assign moves = of_kind == 2'b00 ? '0 : of_kind == 2'b10 ? ((12'(of_len) + 12'd1) << of_size) - 12'd1 : '1;
    always_comb begin
      if (ahead[d] < first) begin
        in_place = ahead[d] == '0 && beats_left[d] == of_len - nth[d] && nth[d] <= of_len && beat_id[d] == of_id &&
            refuse[d] == refused[d] && (refused[d] || (beat_addr[d] == place[d] &&
            dut.g_direction[d].u_beats.moves_q == moves && dut.g_direction[d].u_beats.size_q == of_size));
      end else begin
        in_place = nth[d] == '0 && ((here[d][1] && ahead[d] == first && waiting[d][0] == followed[d]) ||
                                    (here[d][2] && ahead[d] == first + second && waiting[d][1] == followed[d]));
      end
    end
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        beats_counted : assert (left[d] == first + second + third);
        burst_in_place : assert (!follow[d] || in_place);
        last_known : assert (!here[d][0] || last[d] == (beats_left[d] == '0));
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      lens_counted : assert (int'(bursts) == $countones(here[1]));
      beat_known : assert (here[1][0] ? data_len - beat_q == beats_left[1] && beat_q <= data_len : beat_q == '0);
      lens_known :
      assert ((!here[1][1] || u_lens.word_q[here[1][0]] == waiting[1][0][13:6]) &&
                           (!here[1][2] || u_lens.word_q[2'(here[1][0])+2'd1] == waiting[1][1][13:6]));
      lasts_known :
      assert (lasts == datas && (lasts == '0 || data_last == dut.data_last) &&
                            (lasts != 2'd2 || u_lasts.word_q[1] == dut.u_data.spare_q[StrbW+DataW]));
    end
  end
endmodule
