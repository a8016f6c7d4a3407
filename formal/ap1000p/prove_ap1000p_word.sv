// SPDX-License-Identifier: MIT OR Apache-2.0
// `ap1000p_word` gives every request one answer, and accesses memory only at the address of its word.
//
// - The answer goes to the requesting client. No other request begins before it.
// - The MMU gets the address of the request, in its context, with the right that it needs. The physical address is the
//   answer of the MMU or given, and used only if it is a word's.
// - Memory is written at most once, with the operation's result on the word read, in its bytes. It is not written if
//   the request was given up, a compare found another word, or the read failed.
// - The answer has the errors of the memory, whether the request was given up, and the word before.
// - A fault holds with reason and address until software decides.
// - The block never pauses for more than 2 cycles without another side to wait for. `busy_o` is low exactly at rest.
//
// Assumed: the rules of the memory. Nothing is assumed of clients and MMU. The proof of `arbiter_rr` covers the
// clients' turns.
module prove_ap1000p_word #(
    parameter int Clients = 3
) (
    input logic clk_i,
    input logic rst_i,
    input logic [Clients-1:0] req_valid_i,
    input logic [Clients-1:0][2:0] req_op_i,
    input logic [Clients-1:0][11:0] req_context_i,
    input logic [Clients-1:0] req_system_i,
    input logic [Clients-1:0] req_physical_i,
    input logic [Clients-1:0][31:0] req_addr_i,
    input logic [Clients-1:0][3:0] req_strb_i,
    input logic [Clients-1:0][31:0] req_a_i,
    input logic [Clients-1:0][31:0] req_b_i,
    input logic mmu_req_ready_i,
    input logic mmu_rsp_valid_i,
    input logic [31:0] mmu_rsp_addr_i,
    input logic [2:0] mmu_rsp_fault_i,
    input logic retry_i,
    input logic abort_i,
    input logic rd_cmd_ready_i,
    input logic rd_data_valid_i,
    input logic [31:0] rd_data_i,
    input logic rd_data_last_i,
    input logic rd_data_err_i,
    input logic wr_cmd_ready_i,
    input logic wr_data_ready_i,
    input logic wr_rsp_valid_i,
    input logic wr_rsp_err_i
);
  logic busy, rsp_fault, rsp_err, given_up, bus_error;
  logic [Clients-1:0] req_ready, rsp_valid;
  logic [31:0] rsp_old;
  logic mmu_req_valid, mmu_req_write, mmu_req_system, mmu_rsp_ready;
  logic [11:0] mmu_req_context, fault_context;
  logic [31:0] mmu_req_addr, fault_addr;
  logic fault_valid, fault_write, fault_system;
  logic [2:0] fault_reason;
  logic rd_cmd_valid, rd_data_ready, wr_cmd_valid, wr_data_valid, wr_data_last, wr_rsp_ready;
  logic [31:0] rd_cmd_addr, wr_cmd_addr, wr_data;
  logic [7:0] rd_cmd_len, wr_cmd_len;
  logic [3:0] wr_strb;
  ap1000p_word #(
      .Clients(Clients)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .req_valid_i,
      .req_ready_o(req_ready),
      .req_op_i,
      .req_context_i,
      .req_system_i,
      .req_physical_i,
      .req_addr_i,
      .req_strb_i,
      .req_a_i,
      .req_b_i,
      .rsp_valid_o(rsp_valid),
      .rsp_old_o(rsp_old),
      .rsp_fault_o(rsp_fault),
      .rsp_err_o(rsp_err),
      .given_up_o(given_up),
      .bus_error_o(bus_error),
      .mmu_req_valid_o(mmu_req_valid),
      .mmu_req_ready_i,
      .mmu_req_context_o(mmu_req_context),
      .mmu_req_addr_o(mmu_req_addr),
      .mmu_req_write_o(mmu_req_write),
      .mmu_req_system_o(mmu_req_system),
      .mmu_rsp_valid_i,
      .mmu_rsp_ready_o(mmu_rsp_ready),
      .mmu_rsp_addr_i,
      .mmu_rsp_fault_i,
      .fault_valid_o(fault_valid),
      .fault_reason_o(fault_reason),
      .fault_context_o(fault_context),
      .fault_addr_o(fault_addr),
      .fault_write_o(fault_write),
      .fault_system_o(fault_system),
      .retry_i,
      .abort_i,
      .mem_rd_cmd_valid_o(rd_cmd_valid),
      .mem_rd_cmd_ready_i(rd_cmd_ready_i),
      .mem_rd_cmd_addr_o(rd_cmd_addr),
      .mem_rd_cmd_len_o(rd_cmd_len),
      .mem_rd_data_valid_i(rd_data_valid_i),
      .mem_rd_data_ready_o(rd_data_ready),
      .mem_rd_data_data_i(rd_data_i),
      .mem_rd_data_last_i(rd_data_last_i),
      .mem_rd_data_err_i(rd_data_err_i),
      .mem_wr_cmd_valid_o(wr_cmd_valid),
      .mem_wr_cmd_ready_i(wr_cmd_ready_i),
      .mem_wr_cmd_addr_o(wr_cmd_addr),
      .mem_wr_cmd_len_o(wr_cmd_len),
      .mem_wr_data_valid_o(wr_data_valid),
      .mem_wr_data_ready_i(wr_data_ready_i),
      .mem_wr_data_data_o(wr_data),
      .mem_wr_data_strb_o(wr_strb),
      .mem_wr_data_last_o(wr_data_last),
      .mem_wr_rsp_valid_i(wr_rsp_valid_i),
      .mem_wr_rsp_ready_o(wr_rsp_ready),
      .mem_wr_rsp_err_i(wr_rsp_err_i)
  );
  power_up u_power_up (.*);
  stream_rules #(
      .W(46)
  ) u_mmu (
      .clk_i,
      .rst_i,
      .valid_i(mmu_req_valid),
      .ready_i(mmu_req_ready_i),
      .data_i ({mmu_req_context, mmu_req_addr, mmu_req_write, mmu_req_system})
  );
  stream_rules #(
      .W(32)
  ) u_rd_cmd (
      .clk_i,
      .rst_i,
      .valid_i(rd_cmd_valid),
      .ready_i(rd_cmd_ready_i),
      .data_i (rd_cmd_addr)
  );
  stream_rules #(
      .W(32)
  ) u_wr_cmd (
      .clk_i,
      .rst_i,
      .valid_i(wr_cmd_valid),
      .ready_i(wr_cmd_ready_i),
      .data_i (wr_cmd_addr)
  );
  stream_rules #(
      .W(36)
  ) u_wr_data (
      .clk_i,
      .rst_i,
      .valid_i(wr_data_valid),
      .ready_i(wr_data_ready_i),
      .data_i ({wr_data, wr_strb})
  );
  stream_rules #(
      .W(49)
  ) u_fault (
      .clk_i,
      .rst_i,
      .valid_i(fault_valid),
      .ready_i(retry_i || abort_i),
      .data_i ({fault_reason, fault_context, fault_addr, fault_write, fault_system})
  );
  mem_read_rules #(
      .Outstanding(1),
      .Assume(1'b1)
  ) u_read (
      .clk_i,
      .rst_i,
      .cmd_valid_i (rd_cmd_valid),
      .cmd_ready_i (rd_cmd_ready_i),
      .cmd_len_i   (rd_cmd_len),
      .data_valid_i(rd_data_valid_i),
      .data_ready_i(rd_data_ready),
      .data_last_i (rd_data_last_i)
  );
  mem_write_rules #(
      .Assume(1'b1)
  ) u_write (
      .clk_i,
      .rst_i,
      .data_valid_i(wr_data_valid),
      .data_ready_i(wr_data_ready_i),
      .data_last_i (wr_data_last),
      .rsp_valid_i (wr_rsp_valid_i),
      .rsp_ready_i (wr_rsp_ready)
  );

  // ----------------------------------------------------------------------------------------------------------- request
  localparam logic [2:0] Read = 3'(ap1000p_pkg::WordRead);
  localparam logic [2:0] Write = 3'(ap1000p_pkg::WordWrite);
  localparam logic [2:0] Inc = 3'(ap1000p_pkg::WordInc);
  localparam logic [2:0] Fop = 3'(ap1000p_pkg::WordFop);
  localparam logic [2:0] Csi = 3'(ap1000p_pkg::WordCsi);
  logic open_q, system_q, physical_q, takes, answered;
  logic [Clients-1:0] who_q, taken;
  logic [ 2:0] op_q;
  logic [11:0] context_q;
  logic [31:0] addr_q, a_q, b_q;
  logic [3:0] strb_q;
  assign taken = req_valid_i & req_ready;
  assign takes = taken != '0;
  assign answered = rsp_valid != '0;

  // Its progress.
  logic
      lookup_q,
      refused_q,
      gave_up_q,
      placed_q;  // the MMU is requested, it refused, software gave it up, it has a place
  logic rd_sent_q, rd_done_q, wr_reported_q, wr_put_q, wr_done_q, err_q;
  logic [2:0] why_q;
  logic resumed_q;
  logic [31:0] place_q, old_q;
  logic odd, changes, word_fits;
  logic [31:0] place, made, lanes;
  assign odd = addr_q[1:0] != '0;
  assign place = physical_q ? addr_q : place_q;
  assign changes = op_q == Write || op_q == Inc || op_q == Fop || (op_q == Csi && old_q == a_q);
  always_comb begin
    made = b_q;
    if (op_q == Write) made = a_q;
    if (op_q == Inc) made = old_q + 32'd1;
    if (op_q == Fop) made = (old_q & a_q) | b_q;
    for (int n = 0; n < 4; n++) lanes[8*n+:8] = {8{wr_strb[n]}};
  end
  assign word_fits = ((wr_data ^ made) & lanes) == '0 && wr_strb == (op_q == Write ? strb_q : '1) && wr_data_last;

  int   idle_q;  // cycles with a request and no other side to wait for
  logic idle;
  assign idle = open_q && !answered && !mmu_req_valid && !lookup_q && !fault_valid && !rd_cmd_valid && !wr_cmd_valid &&
      !wr_data_valid && !(rd_sent_q && !rd_done_q) && !(wr_put_q && !wr_done_q);
  always_ff @(posedge clk_i) begin
    if (takes) begin
      for (int c = 0; c < Clients; c++) begin
        if (taken[c]) begin
          {op_q, context_q, system_q, physical_q, addr_q, strb_q, a_q, b_q} <= {
            req_op_i[c],
            req_context_i[c],
            req_system_i[c],
            req_physical_i[c],
            req_addr_i[c],
            req_strb_i[c],
            req_a_i[c],
            req_b_i[c]
          };
        end
      end
      who_q <= taken;
      resumed_q <= 1'b0;
      {lookup_q, refused_q, gave_up_q, placed_q, rd_sent_q, rd_done_q, wr_reported_q, wr_put_q, wr_done_q, err_q} <= '0;
    end else begin
      if (mmu_req_valid && mmu_req_ready_i) lookup_q <= 1'b1;
      if (lookup_q && mmu_rsp_valid_i) begin
        lookup_q <= 1'b0;
        place_q <= mmu_rsp_addr_i;
        why_q <= mmu_rsp_fault_i;
        refused_q <= mmu_rsp_fault_i != 3'(ap1000p_pkg::FaultNone);
        placed_q <= mmu_rsp_fault_i == 3'(ap1000p_pkg::FaultNone);
      end
      if (fault_valid && (retry_i || abort_i)) refused_q <= 1'b0;
      if (fault_valid && abort_i) gave_up_q <= 1'b1;
      if (fault_valid && retry_i) resumed_q <= 1'b1;
      if (rd_cmd_valid && rd_cmd_ready_i) rd_sent_q <= 1'b1;
      if (rd_sent_q && !rd_done_q && rd_data_valid_i) begin
        rd_done_q <= 1'b1;
        old_q <= rd_data_i;
        err_q <= rd_data_err_i;
      end
      if (wr_cmd_valid && wr_cmd_ready_i) wr_reported_q <= 1'b1;
      if (wr_data_valid && wr_data_ready_i) wr_put_q <= 1'b1;
      if (wr_put_q && !wr_done_q && wr_rsp_valid_i) begin
        wr_done_q <= 1'b1;
        err_q <= wr_rsp_err_i;
      end
    end
    open_q <= takes || (open_q && !answered);
    idle_q <= idle ? idle_q + 1 : 0;
    if (rst_i) begin
      open_q <= 1'b0;
      idle_q <= 0;
      {lookup_q, refused_q, gave_up_q, placed_q, rd_sent_q, rd_done_q, wr_reported_q, wr_put_q, wr_done_q, err_q} <= '0;
    end
    if (!rst_i) begin
      one_at_a_time : assert (!takes || ((!open_q || answered) && (taken & (taken - Clients'(1))) == '0));
      answers_who_requested : assert (!answered || (open_q && rsp_valid == who_q));
      asks_for_it :
      assert (!mmu_req_valid || (open_q && !physical_q && !odd && !placed_q && mmu_req_context == context_q &&
                                 mmu_req_addr == addr_q && mmu_req_system == system_q));
      asks_for_its_right : assert (!mmu_req_valid || mmu_req_write == (op_q != Read));
      takes_the_place : assert (!lookup_q || mmu_rsp_ready);
      fault_is_one :
      assert (!fault_valid || (open_q && (odd || refused_q) && !gave_up_q &&
                               fault_reason == (odd ? 3'(ap1000p_pkg::FaultAlign) : why_q)));
      fault_of_whom :
      assert (!fault_valid || (fault_context == context_q && fault_addr == addr_q && fault_system == system_q &&
                               fault_write == (op_q != Read)));
      reads_its_word :
      assert (!rd_cmd_valid || (open_q && !odd && (physical_q || placed_q) && op_q != Write && !rd_sent_q &&
                                rd_cmd_addr == place && rd_cmd_len == '0));
      writes_its_word :
      assert (!wr_cmd_valid || (open_q && !odd && (physical_q || placed_q) &&
                                wr_cmd_addr == place && wr_cmd_len == '0));
      writes_once : assert (!(wr_cmd_valid && wr_reported_q) && !(wr_data_valid && (wr_put_q || !wr_reported_q)));
      writes_if_it_should : assert (!wr_cmd_valid || (changes && (op_q == Write || (rd_done_q && !err_q))));
      writes_what_it_should : assert (!wr_data_valid || word_fits);
      reported_of_errors : assert (!answered || (rsp_err == err_q && bus_error == err_q));
      reported_if_given_up : assert (!answered || (rsp_fault == gave_up_q && given_up == gave_up_q));
      tells_with_answers : assert (answered || (!given_up && !bus_error));
      the_word_before : assert (!answered || !rd_done_q || rsp_old == old_q);
      done_if_it_says_so :
      assert (!answered || gave_up_q || err_q || (changes ? wr_done_q : rd_done_q && !wr_reported_q));
      nothing_if_given_up : assert (!answered || !rsp_fault || (!rd_sent_q && !wr_reported_q));
      goes_on : assert (idle_q <= 2);
      busy_tells : assert (busy == open_q);
      swaps : cover (answered && op_q == Csi && wr_done_q && !physical_q && !err_q);
      resumes : cover (answered && resumed_q && op_q == Inc && wr_done_q);
    end
  end

  // --------------------------------------------------------------------------------------------------------- induction
  localparam int Idle = 0, Lookup = 1, Await = 2, Request = 3, Fetch = 4;
  localparam int Work = 5, Command = 6, Data = 7, Written = 8, Fault = 9;
  int state;
  assign state = int'(dut.state_q);
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      states : assert (state <= Fault && open_q == (state != Idle || answered) && (state == Idle || !answered));
      request :
      assert (state == Idle ||
              ({dut.who_q, dut.op_q, dut.context_q, dut.system_q, dut.physical_q, dut.addr_q, dut.strb_q} ==
               {who_q, op_q, context_q, system_q, physical_q, addr_q, strb_q} && {dut.a_q, dut.b_q} == {a_q, b_q}));
      of_whom : assert (state == Idle || (who_q != '0 && (who_q & (who_q - Clients'(1))) == '0));
      phases :
      assert (state == Idle || (lookup_q == (state == Await) && refused_q == (state == Fault && !odd) && !gave_up_q &&
              (rd_sent_q && !rd_done_q) == (state == Fetch) && wr_reported_q == (state == Data || state == Written) &&
              wr_put_q == (state == Written) && !wr_done_q && !err_q));
      reads_first :
      assert (state == Idle ||
              (rd_sent_q == (state == Fetch || (state >= Work && state <= Written && op_q != Write)) &&
               rd_done_q == (rd_sent_q && state != Fetch) && !(state == Fetch && op_q == Write)));
      no_place_yet :
      assert (!(state == Lookup || state == Await || state == Fault) ||
              (!placed_q && (state == Lookup || odd || !physical_q) && !(state == Await && odd)));
      places :
      assert (state < Request || state == Fault || (!odd && (physical_q || placed_q) && dut.mem_addr_q == place));
      refused_why : assert (state != Fault || dut.reason_q == (odd ? 3'(ap1000p_pkg::FaultAlign) : why_q));
      old_known : assert (!rd_done_q || state == Idle || rsp_old == old_q);
      new_known : assert (state < Command || state == Fault || (changes && dut.new_q == made));
      turns : assert ((dut.grant & (dut.grant - Clients'(1))) == '0);
      idles : assert (idle_q >= 0 && idle_q <= (state == Lookup ? 0 : state == Work ? 1 : 2) && (idle_q < 2 || !idle));
      rules :
      assert ((u_read.issued_q != u_read.read_q) == (state == Fetch) && u_read.beat_q == '0 &&
              u_write.written_q == 16'(state == Written) &&
              (state != Fetch || u_read.len_q[u_read.read_q] == '0));
`ifdef TSUNAGI_ASSERT
      own_rules :
      assert ({dut.u_reads.issued_q, dut.u_reads.read_q, dut.u_reads.beat_q, dut.u_reads.len_q} ==
              {u_read.issued_q, u_read.read_q, u_read.beat_q, u_read.len_q} &&
              dut.u_writes.written_q == u_write.written_q);
`endif
    end
  end
endmodule
