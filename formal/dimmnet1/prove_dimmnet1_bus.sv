// SPDX-License-Identifier: MIT OR Apache-2.0
// `dimmnet1_bus` answers each request of the host once, in order, and each access of the processor once; the watchdog
// ends each stop in time, and nobody else ends one that is not.
//
// - The host: at most six requests are inside, four of them done. What nobody has gets an error; stores to windows,
//   kicks, header TLB and AOTF pages, and accesses of LLCM, get none.
// - The processor: `bus_done_o` only for an access that was there in the cycle before, once.
// - A command to the receiver or to the RDMA engine comes only in a stop of it. WATCHDOG cycles behind a stop's first
//   one, there was a command: NACK TIMEOUT at the latest, and then RUN is clear.
//
// Assumed: the host keeps the stream rule; the processor holds its access, or withdraws it; a party drops its stop when
// it gets a command, and in a reset; the RDMA engine takes a descriptor unless it is full. All other inputs are
// any.
module prove_dimmnet1_bus (
    input logic clk_i,
    input logic rst_i,
    input logic host_req_valid_i,
    input logic host_req_write_i,
    input logic [23:0] host_req_addr_i,
    input logic [63:0] host_req_wdata_i,
    input logic [7:0] host_req_wstrb_i,
    input logic host_rsp_ready_i,
    input logic bus_valid_i,
    input logic bus_write_i,
    input logic [30:2] bus_addr_i,
    input logic [31:0] bus_wdata_i,
    input logic [3:0] bus_be_i,
    input logic load_ready_i,
    input logic load_rvalid_i,
    input logic store_ready_i,
    input logic [63:0] a_rdata_i,
    input logic cpu_ready_i,
    input logic rx_stop_valid_i,
    input logic rdma_stop_valid_i,
    input logic [31:0] load_rdata_i,
    input logic store_error_i,
    input logic lost_i,
    input logic [63:0] windows_i,
    input logic [63:0] cpu_rdata_i,
    input logic [3:0] rx_stop_cause_i,
    input logic [63:0] rx_stop_key_i,
    input logic [5:0][63:0] rx_hdr_i,
    input logic rx_dma_done_i,
    input logic [3:0] rx_dma_reason_i,
    input logic outcome_valid_i,
    input logic [3:0] outcome_reason_i,
    input logic desc_done_i,
    input logic [3:0] desc_error_i,
    input logic rdma_busy_i,
    input logic rdma_full_i,
    input logic [3:0] rdma_stop_cause_i,
    input logic [63:0] rdma_stop_key_i,
    input logic [63:0] slot_value_i,
    input logic stray_i,
    input logic build_ready_i
);
  logic busy, req_ready, rsp_valid, rsp_err, bus_done, run, store_valid, a_valid, a_write, cpu_valid, cpu_write;
  logic load_valid, load_write;
  logic [63:0] rsp_rdata, store_data, cpu_wdata;
  logic [20:0] store_addr;
  logic [7:0] store_strb, cpu_strb;
  logic [13:3] cpu_addr;
  logic [1:0] go;  // of receiver and RDMA engine
  logic [1:0][2:0] go_what;
  logic [1:0][3:0] go_reason;
  logic rvalid_q;  // LLCM's answer to the processor, in the cycle behind its read

  dimmnet1_bus dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .host_req_valid_i,
      .host_req_ready_o(req_ready),
      .host_req_write_i,
      .host_req_addr_i,
      .host_req_wdata_i,
      .host_req_wstrb_i,
      .host_rsp_valid_o(rsp_valid),
      .host_rsp_ready_i,
      .host_rsp_rdata_o(rsp_rdata),
      .host_rsp_err_o(rsp_err),
      .bus_valid_i,
      .bus_write_i,
      .bus_addr_i,
      .bus_wdata_i,
      .bus_be_i,
      .bus_done_o(bus_done),
      .load_valid_o(load_valid),
      .load_ready_i,
      .load_write_o(load_write),
      .load_rvalid_i,
      .run_o(run),
      .store_valid_o(store_valid),
      .store_ready_i,
      .store_addr_o(store_addr),
      .store_data_o(store_data),
      .store_strb_o(store_strb),
      .a_valid_o(a_valid),
      .a_write_o(a_write),
      .a_rdata_i,
      .cpu_valid_o(cpu_valid),
      .cpu_ready_i,
      .cpu_write_o(cpu_write),
      .cpu_addr_o(cpu_addr),
      .cpu_wdata_o(cpu_wdata),
      .cpu_strb_o(cpu_strb),
      .cpu_rvalid_i(rvalid_q),
      .load_rdata_i,
      .store_error_i,
      .lost_i,
      .windows_i,
      .cpu_rdata_i,
      .rx_stop_cause_i,
      .rx_stop_key_i,
      .rx_hdr_i,
      .rx_dma_done_i,
      .rx_dma_reason_i,
      .outcome_valid_i,
      .outcome_reason_i,
      .desc_done_i,
      .desc_error_i,
      .rdma_busy_i,
      .rdma_full_i,
      .rdma_stop_cause_i,
      .rdma_stop_key_i,
      .slot_value_i,
      .stray_i,
      .build_ready_i,
      .desc_ready_i(1'b1),
      .irq_o(),
      .bus_rdata_o(),
      .bus_error_o(),
      .load_addr_o(),
      .load_data_o(),
      .irq_cpu_o(),
      .node_o(),
      .pgid_o(),
      .patience_o(),
      .receive_o(),
      .match_o(),
      .a_addr_o(),
      .a_wdata_o(),
      .a_strb_o(),
      .rva_valid_o(),
      .rva_key_o(),
      .rva_base_o(),
      .rva_bound_o(),
      .pa_valid_o(),
      .pa_key_o(),
      .pa_frame_o(),
      .flush_o(),
      .rx_hdr_write_valid_o(),
      .rx_hdr_write_index_o(),
      .rx_hdr_write_strb_o(),
      .rx_hdr_write_data_o(),
      .rx_go_addr_o(),
      .desc_valid_o(),
      .desc_w0_o(),
      .desc_local_o(),
      .desc_remote_o(),
      .desc_bytes_o(),
      .desc_slot_o(),
      .slot_index_o(),
      .clear_valid_o(),
      .clear_index_o(),
      .build_valid_o(),
      .build_data_o(),
      .build_last_o(),
      .rx_stop_valid_i,
      .rx_go_valid_o(go[0]),
      .rx_go_what_o(go_what[0]),
      .rx_go_reason_o(go_reason[0]),
      .rdma_stop_valid_i,
      .rdma_go_valid_o(go[1]),
      .rdma_go_what_o(go_what[1]),
      .rdma_go_reason_o(go_reason[1])
  );

  power_up u_power_up (.*);
  stream_rules #(
      .W(97),
      .Assume(1'b1)
  ) u_request (
      .clk_i,
      .rst_i,
      .valid_i(host_req_valid_i),
      .ready_i(req_ready),
      .data_i ({host_req_write_i, host_req_addr_i, host_req_wdata_i, host_req_wstrb_i})
  );
  stream_rules #(
      .W(65)
  ) u_response (
      .clk_i,
      .rst_i,
      .valid_i(rsp_valid),
      .ready_i(host_rsp_ready_i),
      .data_i ({rsp_err, rsp_rdata})
  );
  stream_rules #(
      .W(93)
  ) u_store (
      .clk_i,
      .rst_i,
      .valid_i(store_valid),
      .ready_i(store_ready_i),
      .data_i ({store_addr, store_data, store_strb})
  );
  stream_rules #(
      .W(84)
  ) u_llcm (
      .clk_i,
      .rst_i,
      .valid_i(cpu_valid),
      .ready_i(cpu_ready_i),
      .data_i ({cpu_write, cpu_addr, cpu_wdata, cpu_strb})
  );

  // ---------------------------------------------------------------------------------------------------------- the host
  // What a request must get: an error, or none; all else may get either.
  typedef struct packed {
    logic fails;
    logic works;
  } class_t;
  class_t oldest;
  logic enters, leaves;
  logic [3:0] count;
  assign enters = host_req_valid_i && req_ready;
  assign leaves = rsp_valid && host_rsp_ready_i;

  function automatic logic in(input logic [23:3] word, input logic [23:0] from, input int bytes);
    in = {word, 3'b0} >= from && int'({word, 3'b0}) < int'(from) + bytes;
  endfunction
  function automatic class_t class_of(input logic write, input logic [23:3] word);
    class_of.works = in(word, dimmnet1_pkg::Llcm, 16384) ||
        (write && (in(word, dimmnet1_pkg::Window0, 1024) || in(word, dimmnet1_pkg::Kick0, 16) ||
                   in(word, dimmnet1_pkg::HeaderTlb, 2048) || in(word, dimmnet1_pkg::Aotf, 1 << 18)));
    class_of.fails = !class_of.works && word >= 21'h1800;  // behind registers and SRAM
  endfunction
  queue #(
      .W(2),
      .Depth(8)
  ) u_classes (
      .clk_i,
      .rst_i,
      .push_i  (enters),
      .data_i  (class_of(host_req_write_i, host_req_addr_i[23:3])),
      .pop_i   (leaves),
      .count_o (count),
      .oldest_o(oldest)
  );

  // Of the n-th request inside, the oldest first; of the one whose response is about to be there.
  function automatic class_t nth(input int n);
    nth = u_classes.mem_q[u_classes.rd_q[2:0]+3'(n)];
  endfunction
  class_t last;
  assign last = nth(int'(dut.rsp_level));

  // ----------------------------------------------------------------------------------------------------- the processor
  logic there_q;
  logic [65:0] access, access_q;
  assign access = {bus_write_i, bus_addr_i, bus_wdata_i, bus_be_i};
  always_ff @(posedge clk_i) begin
    there_q  <= bus_valid_i && !bus_done && !rst_i;  // an access that was not done yet
    access_q <= access;
    rvalid_q <= cpu_valid && cpu_ready_i && !cpu_write && !rst_i;
  end

  // --------------------------------------------------------------------------------------------------------- the stops
  logic [1:0] stopped, stops_q, told_q, fires_q;  // fires: the watchdog did
  logic [1:0][31:0] limit_q, cycles_q;
  assign stopped = {rdma_stop_valid_i, rx_stop_valid_i} & ~go;
  always_ff @(posedge clk_i) begin
    for (int k = 0; k < 2; k++) begin
      if (!stopped[k]) {limit_q[k], cycles_q[k]} <= {dut.u_regs.watchdog_q, 32'd0};
      else cycles_q[k] <= cycles_q[k] + 32'(cycles_q[k] != '1);
    end
    for (int k = 0; k < 2; k++)
    fires_q[k] <= !rst_i && stopped[k] && limit_q[k] != '0 && cycles_q[k] == limit_q[k] - 32'd1;
    stops_q <= rst_i ? 2'b00 : stopped;
    told_q  <= rst_i ? 2'b00 : go;
  end

  always_ff @(posedge clk_i) begin
    drops_its_stop : assume (((rst_i ? 2'b11 : told_q) & {rdma_stop_valid_i, rx_stop_valid_i}) == '0);
    if (!rst_i) begin
      processor_holds : assume (!there_q || !bus_valid_i || access == access_q);
      answer_in_order :
      assert (!rsp_valid || (count != '0 && !(oldest.fails && !rsp_err) && !(oldest.works && rsp_err)));
      six_at_most : assert (count <= 4'd6);
      done_once : assert (!bus_done || there_q);
      busy_tells : assert (busy || (count == '0 && !store_valid && !bus_done));
      go_in_a_stop : assert ((go & ~stops_q) == '0);
      // Invariants for induction.
      counted :
      assert (int'(count) == int'(dut.req_level) + int'(dut.open_q) &&
              int'(dut.open_q) == int'(dut.rsp_level) + int'(dut.rsp_q) + int'(dut.sram_q));
      four_done : assert (dut.open_q <= 3'd4 && !(dut.rsp_q && dut.sram_q));
      sram_has_no_class : assert (!dut.sram_q || nth(int'(dut.rsp_level)) == '0);
      error_to_come :
      assert (!dut.rsp_q || (!(last.works && (dut.from_regs_q || dut.rsp_err_q)) &&
                             !(last.fails && (dut.from_regs_q || !dut.rsp_err_q))));
      waits_for_llcm : assert (!(dut.waits_q && dut.done_q));
      // The claims are not vacuous.
      answers_both : cover (leaves && oldest.fails && count == 4'd6);
      ends_a_stop : cover (fires_q[1] && limit_q[1] == 32'd3);
    end
  end
  for (genvar n = 0; n < 4; n++) begin : gen_response
    class_t class_q;
    assign class_q = nth(n);
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        errors_kept :
        assert (n >= int'(dut.rsp_level) || (!(class_q.works && dut.u_rsp.mem_q[n][64]) &&
                                             !(class_q.fails && !dut.u_rsp.mem_q[n][64])));
      end
    end
  end
  for (genvar n = 0; n < 2; n++) begin : gen_request
    class_t class_q;
    logic store, llcm, sram, regs;
    logic [136:0] request;
    logic [ 40:0] kinds;
    assign class_q = nth(int'(dut.open_q) + n);
    assign request = dut.u_req.mem_q[n];
    assign {store, llcm, sram, regs} = request[95:92];
    dimmnet1_decode u_decode (
        .word_i (request[83:72]),
        .user_i (1'b1),
        .kinds_o(kinds)
    );
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        kinds_kept : assert (n >= int'(dut.req_level) || request[136:96] == kinds);
        class_kept :
        assert (n >= int'(dut.req_level) || (class_q.works ? !class_q.fails && (store || llcm) && !sram && !regs :
                                             !store && !llcm && (!class_q.fails || (!sram && !regs))));
      end
    end
  end
  for (genvar k = 0; k < 2; k++) begin : gen_stop
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        in_time : assert (!(stopped[k] && limit_q[k] != '0) || cycles_q[k] < limit_q[k]);
        times_out :
        assert (!fires_q[k] || (go[k] && go_what[k] == 3'(dimmnet1_pkg::GoNack) &&
                                go_reason[k] == 4'(dimmnet1_pkg::ReasonTimeout) && !run));
        left :
        assert ((k == 0 ? dut.u_regs.rx_left_q : dut.u_regs.rdma_left_q) ==
                (limit_q[k] > cycles_q[k] ? limit_q[k] - cycles_q[k] : '0));
      end
    end
  end
endmodule
