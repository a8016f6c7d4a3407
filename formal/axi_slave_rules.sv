// What a slave in front of a window must do: every beat of every burst reaches the window once, in order, with its own address,
// data and strobes; a burst that must be refused never does; each is answered once, in order, with what the window said.
//
// Purpose    shared by the proofs of `axi_slave` and `axil_slave` (Lite: bursts of one whole word, a read asks with all strobes).
// Assumed    of the master what AXI4 says of AR, AW and W; of the window that it answers what it was asked for, and no more.
//            In simulation harness::axi::Rules and `axi_window` assert the same.
// Source     AXI4 (IHI 0022), A3.2 to A3.4.
module axi_slave_rules #(
    parameter int AddrW = 12,  // bits of a byte address, >= 12
    parameter int DataW = 32,  // bits of a word
    parameter int IdW = 1,  // bits of an ID
    parameter int Outstanding = 2,  // answers of each direction on their way
    parameter bit Lite = 1'b0,
    localparam int StrbW = DataW / 8
) (
    input logic clk_i,
    input logic rst_i,
    input logic busy_i,
    input logic [IdW-1:0] awid_i,
    input logic [AddrW-1:0] awaddr_i,
    input logic [7:0] awlen_i,
    input logic [2:0] awsize_i,
    input logic [1:0] awburst_i,
    input logic awlock_i,
    input logic awvalid_i,
    input logic awready_i,
    input logic [DataW-1:0] wdata_i,
    input logic [StrbW-1:0] wstrb_i,
    input logic wlast_i,
    input logic wvalid_i,
    input logic wready_i,
    input logic [IdW-1:0] bid_i,
    input logic [1:0] bresp_i,
    input logic bvalid_i,
    input logic bready_i,
    input logic [IdW-1:0] arid_i,
    input logic [AddrW-1:0] araddr_i,
    input logic [7:0] arlen_i,
    input logic [2:0] arsize_i,
    input logic [1:0] arburst_i,
    input logic arlock_i,
    input logic arvalid_i,
    input logic arready_i,
    input logic [IdW-1:0] rid_i,
    input logic [DataW-1:0] rdata_i,
    input logic [1:0] rresp_i,
    input logic rlast_i,
    input logic rvalid_i,
    input logic rready_i,
    input logic req_valid_i,
    input logic req_ready_i,
    input logic req_write_i,
    input logic [AddrW-1:0] req_addr_i,
    input logic [DataW-1:0] req_data_i,
    input logic [StrbW-1:0] req_strb_i,
    input logic rsp_valid_i,
    input logic rsp_ready_i,
    input logic [DataW-1:0] rsp_data_i,
    input logic rsp_err_i
);
  localparam int LaneW = $clog2(StrbW);
  localparam int Open = Outstanding + 4;  // bursts of a direction inside, at most
  localparam int Datas = 3;  // words that wait for their address
  localparam int OpenW = $clog2(Open + 1);
  localparam int BurstW = AddrW + 8 + 3 + 2;
  localparam logic [1:0] Okay = 2'b00, Slverr = 2'b10;

  // The address of beat n of a burst.
  function automatic logic [AddrW-1:0] place(input logic [BurstW-1:0] of, input logic [7:0] n);
    logic [AddrW-1:0] addr;
    logic [11:0] next, round;
    logic [7:0] len;
    logic [2:0] size;
    logic [1:0] burst;
    {addr, len, size, burst} = of;
    next = (addr[11:0] >> size << size) + (12'(n) << size);
    round = ((12'(len) + 12'd1) << size) - 12'd1;  // of a burst that wraps
    place = addr;
    if (n != '0 && burst == 2'b01) place[11:0] = next;
    if (n != '0 && burst == 2'b10) place[11:0] = (addr[11:0] & ~round) | (next & round);
  endfunction

  // The bytes of a word that a beat at that address has: from there to the end of the aligned unit of its size.
  function automatic logic [StrbW-1:0] lanes(input logic [AddrW-1:0] addr, input logic [2:0] size);
    for (int b = 0; b < StrbW; b++)
    lanes[b] = Lite || (b >= int'(addr[LaneW-1:0]) && (b >> size) == (int'(addr[LaneW-1:0]) >> size));
  endfunction

  stream_rules #(
      .W(IdW + BurstW + 1),
      .Assume(1'b1)
  ) u_ar (
      .clk_i,
      .rst_i,
      .valid_i(arvalid_i),
      .ready_i(arready_i),
      .data_i ({arid_i, araddr_i, arlen_i, arsize_i, arburst_i, arlock_i})
  );
  stream_rules #(
      .W(IdW + BurstW + 1),
      .Assume(1'b1)
  ) u_aw (
      .clk_i,
      .rst_i,
      .valid_i(awvalid_i),
      .ready_i(awready_i),
      .data_i ({awid_i, awaddr_i, awlen_i, awsize_i, awburst_i, awlock_i})
  );
  stream_rules #(
      .W(1 + AddrW + DataW + StrbW)
  ) u_req (
      .clk_i,
      .rst_i,
      .valid_i(req_valid_i),
      .ready_i(req_ready_i),
      .data_i ({req_write_i, req_addr_i, {DataW{req_write_i}} & req_data_i, req_strb_i})
  );
  logic [OpenW-1:0] reads_open, unused_writes;
  axi_read_rules #(
      .DataW(DataW + IdW),
      .Open (Open)
  ) u_r (
      .clk_i,
      .rst_i,
      .ar_valid_i(arvalid_i),
      .ar_ready_i(arready_i),
      .ar_len_i(arlen_i),
      .r_valid_i(rvalid_i),
      .r_ready_i(rready_i),
      .r_data_i({rid_i, rdata_i}),
      .r_resp_i(rresp_i),
      .r_last_i(rlast_i),
      .open_o(reads_open)
  );
  axi_write_rules #(
      .DataW(DataW),
      .Open(Open),
      .OfMaster(1'b0)
  ) u_w (
      .clk_i,
      .rst_i,
      .aw_valid_i(awvalid_i),
      .aw_ready_i(awready_i),
      .aw_len_i(awlen_i),
      .w_valid_i(wvalid_i),
      .w_ready_i(wready_i),
      .w_data_i(wdata_i),
      .w_strb_i(wstrb_i),
      .w_last_i(wlast_i),
      .b_valid_i(bvalid_i),
      .b_ready_i(bready_i),
      .b_resp_i(bresp_i),
      .open_o(unused_writes)
  );

  // ------------------------------------------------------------------------------------------------------ to the window
  logic ar_take, aw_take, ar_refused, aw_refused, read_req, write_req;
  assign ar_take = arvalid_i && arready_i;
  assign aw_take = awvalid_i && awready_i;
  // Refused is what the standard forbids, and what is exclusive.
  logic ar_legal, aw_legal;
  axi_legal #(
      .AddrW(AddrW),
      .DataW(DataW)
  ) u_ar_legal (
      .addr_i (araddr_i),
      .len_i  (arlen_i),
      .size_i (arsize_i),
      .burst_i(arburst_i),
      .legal_o(ar_legal)
  );
  axi_legal #(
      .AddrW(AddrW),
      .DataW(DataW)
  ) u_aw_legal (
      .addr_i (awaddr_i),
      .len_i  (awlen_i),
      .size_i (awsize_i),
      .burst_i(awburst_i),
      .legal_o(aw_legal)
  );
  assign ar_refused = !ar_legal || arlock_i;
  assign aw_refused = !aw_legal || awlock_i;
  assign read_req = req_valid_i && req_ready_i && !req_write_i;
  assign write_req = req_valid_i && req_ready_i && req_write_i;

  // Reads that are carried out and not wholly asked for.
  logic [OpenW-1:0] reads;
  logic [BurstW-1:0] read, unused_read;
  logic [7:0] read_beat_q;
  logic [AddrW-1:0] read_place;
  logic read_ends;
  axi_queue #(
      .W(BurstW),
      .Depth(Open)
  ) u_reads (
      .clk_i,
      .rst_i,
      .push_i(ar_take && !ar_refused),
      .data_i({araddr_i, arlen_i, arsize_i, arburst_i}),
      .pop_i(read_req && read_ends),
      .count_o(reads),
      .head_o(read),
      .second_o(unused_read)
  );
  assign read_place = place(read, read_beat_q);
  assign read_ends  = read_beat_q == read[12:5];

  // Write bursts and their data, brought together beat by beat; then those beats that are carried out.
  logic [OpenW-1:0] bursts, writes;
  logic [1:0] datas;
  logic [BurstW:0] burst, unused_burst;
  logic [DataW+StrbW:0] data, unused_data;
  logic [AddrW+DataW+StrbW-1:0] write, unused_write;
  logic [7:0] write_beat_q;
  logic [AddrW-1:0] write_place;
  logic pair, write_ends;
  assign pair = bursts != '0 && datas != '0;
  assign write_place = place(burst[BurstW-1:0], write_beat_q);
  assign write_ends = write_beat_q == burst[12:5];
  axi_queue #(
      .W(1 + BurstW),
      .Depth(Open)
  ) u_bursts (
      .clk_i,
      .rst_i,
      .push_i(aw_take),
      .data_i({aw_refused, awaddr_i, awlen_i, awsize_i, awburst_i}),
      .pop_i(pair && write_ends),
      .count_o(bursts),
      .head_o(burst),
      .second_o(unused_burst)
  );
  axi_queue #(
      .W(1 + DataW + StrbW),
      .Depth(Datas)
  ) u_datas (
      .clk_i,
      .rst_i,
      .push_i(wvalid_i && wready_i),
      .data_i({wlast_i, wdata_i, wstrb_i}),
      .pop_i(pair),
      .count_o(datas),
      .head_o(data),
      .second_o(unused_data)
  );
  axi_queue #(
      .W(AddrW + DataW + StrbW),
      .Depth(Open)
  ) u_writes (
      .clk_i,
      .rst_i,
      .push_i(pair && !burst[BurstW]),
      .data_i({write_place, data[StrbW+:DataW], data[StrbW-1:0] & lanes(write_place, burst[4:2])}),
      .pop_i(write_req),
      .count_o(writes),
      .head_o(write),
      .second_o(unused_write)
  );
  always_ff @(posedge clk_i) begin
    if (rst_i || (read_req && read_ends)) read_beat_q <= '0;
    else if (read_req) read_beat_q <= read_beat_q + 8'd1;
    if (rst_i || (pair && write_ends)) write_beat_q <= '0;
    else if (pair) write_beat_q <= write_beat_q + 8'd1;
    if (!rst_i) begin
      data_end_as_told : assume (!pair || data[DataW+StrbW] == write_ends);
      if (req_valid_i && !req_write_i) begin
        read_as_told : assert (reads != '0 && req_addr_i == read_place && req_strb_i == lanes(read_place, read[4:2]));
      end
      if (req_valid_i && req_write_i) begin
        write_as_told : assert (writes != '0 && {req_addr_i, req_data_i, req_strb_i} == write);
      end
    end
  end

  // ---------------------------------------------------------------------------------------------------------- and back
  // What the window was asked and did not answer: was it a write. What it answered to reads: {error, data}.
  logic [OpenW-1:0] asked, told;
  logic asked_write, unused_asked, rsp;
  logic [DataW:0] answer, unused_answer;
  assign rsp = rsp_valid_i && rsp_ready_i;
  axi_queue #(
      .W(1),
      .Depth(Open)
  ) u_asked (
      .clk_i,
      .rst_i,
      .push_i(req_valid_i && req_ready_i),
      .data_i(req_write_i),
      .pop_i(rsp),
      .count_o(asked),
      .head_o(asked_write),
      .second_o(unused_asked)
  );
  // Reads whose last beat was not answered: {refused, ID}.
  logic [OpenW-1:0] unused_due;
  logic [IdW:0] due, unused_second;
  logic r_take, b_take;
  assign r_take = rvalid_i && rready_i;
  assign b_take = bvalid_i && bready_i;
  axi_queue #(
      .W(1 + IdW),
      .Depth(Open)
  ) u_due (
      .clk_i,
      .rst_i,
      .push_i(ar_take),
      .data_i({ar_refused, arid_i}),
      .pop_i(r_take && rlast_i),
      .count_o(unused_due),
      .head_o(due),
      .second_o(unused_second)
  );
  axi_queue #(
      .W(1 + DataW),
      .Depth(Open)
  ) u_told (
      .clk_i,
      .rst_i,
      .push_i(rsp && !asked_write),
      .data_i({rsp_err_i, rsp_data_i}),
      .pop_i(r_take && !due[IdW]),
      .count_o(told),
      .head_o(answer),
      .second_o(unused_answer)
  );

  // Writes that were not answered: {refused, ID}. Those carried out whose last beat the window has not answered: beats - 1; and
  // those of which it has: an error.
  logic [OpenW-1:0] unused_writes_due, unused_lens, ended;
  logic [IdW:0] write_due, unused_write_due;
  logic [7:0] len, unused_len, answered_q;
  logic write_rsp, err_q, err, unused_err;
  assign write_rsp = rsp && asked_write;
  axi_queue #(
      .W(1 + IdW),
      .Depth(Open)
  ) u_writes_due (
      .clk_i,
      .rst_i,
      .push_i(aw_take),
      .data_i({aw_refused, awid_i}),
      .pop_i(b_take),
      .count_o(unused_writes_due),
      .head_o(write_due),
      .second_o(unused_write_due)
  );
  axi_queue #(
      .W(8),
      .Depth(Open)
  ) u_lens (
      .clk_i,
      .rst_i,
      .push_i(aw_take && !aw_refused),
      .data_i(awlen_i),
      .pop_i(write_rsp && answered_q == len),
      .count_o(unused_lens),
      .head_o(len),
      .second_o(unused_len)
  );
  axi_queue #(
      .W(1),
      .Depth(Open)
  ) u_ended (
      .clk_i,
      .rst_i,
      .push_i(write_rsp && answered_q == len),
      .data_i(err_q || rsp_err_i),
      .pop_i(b_take && !write_due[IdW]),
      .count_o(ended),
      .head_o(err),
      .second_o(unused_err)
  );
  always_ff @(posedge clk_i) begin
    if (rst_i || (write_rsp && answered_q == len)) begin
      answered_q <= '0;
      err_q <= 1'b0;
    end else if (write_rsp) begin
      answered_q <= answered_q + 8'd1;
      err_q <= err_q || rsp_err_i;
    end
  end

  // Cycles in a row in which something is inside and nobody else is waited for: the window, the master, the data of a write.
  localparam int Pause = 4;
  localparam int Refusals = Lite ? 0 : 2 * Outstanding;
  logic [2:0] stuck_q;
  logic [$clog2(Refusals+2)-1:0] holds_q;  // so many in which the window may not answer
  // Beats of one direction that went while the other waited. The names are those of the bridge that stands around this module.
  logic read_waits, write_waits, reads_go, writes_go;
  logic [1:0] reads_passed_q, writes_passed_q;
  assign read_waits = dut.u_window.rd_valid_i && dut.u_window.rd_room;
  assign write_waits = dut.u_window.wr_valid_i && dut.u_window.wr_room;
  assign reads_go = dut.u_window.rd_take;
  assign writes_go = dut.u_window.write;
  always_ff @(posedge clk_i) begin
    if (rst_i || (reads_open == '0 && u_w.landed_q == '0) || req_valid_i || asked != '0 || rvalid_i || bvalid_i)
      stuck_q <= '0;
    else if (stuck_q != '1) stuck_q <= stuck_q + 3'd1;
    holds_q <= (rst_i || asked == '0 || rsp_ready_i) ? '0 : holds_q + ($clog2(Refusals + 2))'(1);
    reads_passed_q <= (rst_i || !read_waits || reads_go) ? '0 : reads_passed_q + 2'(writes_go);
    writes_passed_q <= (rst_i || !write_waits || writes_go) ? '0 : writes_passed_q + 2'(reads_go);

    if (!rst_i) begin
      answer_was_asked : assume (!rsp_valid_i || asked != '0);
      if (rvalid_i) begin
        read_answer :
        assert (due[IdW] ? rresp_i == Slverr :
                told != '0 && rdata_i == answer[DataW-1:0] && rresp_i == (answer[DataW] ? Slverr : Okay));
      end
      if (bvalid_i) begin
        write_answer : assert (write_due[IdW] ? bresp_i == Slverr : ended != '0 && bresp_i == (err ? Slverr : Okay));
      end
      never_holds_the_window : assert (int'(holds_q) <= Refusals);
      turns : assert (reads_passed_q < 2'd2 && writes_passed_q < 2'd2);
      goes_on : assert (int'(stuck_q) <= Pause);
      rests_when_done : assert (busy_i || (reads_open == '0 && u_w.open_o == '0 && datas == '0));
      read_error : cover (r_take && rresp_i == Slverr && !due[IdW]);
      write_error : cover (b_take && bresp_i == Slverr && !write_due[IdW]);
      data_first : cover (write_req && req_strb_i != '1 && req_strb_i != '0);
      both_open : cover (int'(reads_open) > 1 && int'(u_w.open_o) > 1);
    end
  end
  if (!Lite) begin : gen_bursts
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        read_id : assert (!rvalid_i || rid_i == due[IdW-1:0]);
        write_id : assert (!bvalid_i || bid_i == write_due[IdW-1:0]);
        wraps : cover (read_req && read[1:0] == 2'b10 && read_ends && read_place < read[BurstW-1:13]);
        narrow : cover (pair && write_ends && burst[4:2] == 3'd0 && write_beat_q != '0);
        refuses_read : cover (r_take && rlast_i && due[IdW]);
        refuses_write : cover (b_take && write_due[IdW]);
      end
    end
  end
endmodule
