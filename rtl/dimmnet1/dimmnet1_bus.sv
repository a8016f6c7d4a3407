// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1 card: host and on-chip processor reach registers and memories; decode, order, errors.
//
// Host       requests {write, byte address, word, strobes}; the lower 3 address bits are ignored, strobes select bytes.
//            One response for each request, in order. At most four requests await their response.
//            Stores to windows, kicks, header TLB and AOTF pages go to `store_*` and are answered as soon as they
//            leave: what dimmnet1_send refuses is only counted (`store_error_i`). LLCM takes any strobes; SRAM and
//            registers take whole words. SRAM answers while RUN is clear, else with an error. `host_rsp_rdata_o` means
//            nothing after a write or an error.
// Order      requests are done in order. An access to a register waits until two cycles after the stores before it were
//            taken, so that WINDOWS shows their effect.
// Processor  the bus port of `r3000`, one access at a time, held until `bus_done_o`; address bits 30:24 must be 0.
//            Loads give a word whatever the byte enables; a store to a register needs all four. It sees registers
//            without the user's page and the header TLB, and LLCM. A bad access gets `bus_error_o`, and a bad store
//            counts. A store to LLCM is answered when it is on its way, and is done before any later access of the
//            processor. An access may be withdrawn (RUN is cleared): then `bus_done_o` means nothing in the next cycle.
// Both       registers take one access a cycle; after a write there is none for a cycle. The processor goes first,
//            unless the host lost the last time; so does its access to another place, which costs the host a cycle.
//            While a built packet leaves, writes to BUILD and BUILD_GO wait.
// Latency    host: store to `store_valid_o` 1 cycle, request to response 3, for SRAM more. 1 store per cycle to
//            windows, AOTF pages and LLCM. Processor: register 1 cycle, store to LLCM 1, load from LLCM 3.
// Full       two host requests wait.
// Reset      drops everything; registers are 0 after 16 cycles.
// busy_o     low when no further edge changes anything but TIME.
// Source     paper, sections 2 and 3; map and rules: regs.toml.
module dimmnet1_bus (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic host_req_valid_i,
    output logic host_req_ready_o,
    input logic host_req_write_i,
    input logic [23:0] host_req_addr_i,
    input logic [63:0] host_req_wdata_i,
    input logic [7:0] host_req_wstrb_i,
    output logic host_rsp_valid_o,
    input logic host_rsp_ready_i,
    output logic [63:0] host_rsp_rdata_o,
    output logic host_rsp_err_o,
    output logic irq_o,

    input logic bus_valid_i,
    input logic bus_write_i,
    input logic [30:2] bus_addr_i,
    input logic [31:0] bus_wdata_i,
    input logic [3:0] bus_be_i,
    output logic bus_done_o,
    output logic [31:0] bus_rdata_o,
    output logic bus_error_o,
    output logic load_valid_o,
    input logic load_ready_i,
    output logic load_write_o,
    output logic [13:2] load_addr_o,
    output logic [31:0] load_data_o,
    input logic load_rvalid_i,
    input logic [31:0] load_rdata_i,
    output logic run_o,
    output logic irq_cpu_o,

    output logic store_valid_o,
    input logic store_ready_i,
    output logic [20:0] store_addr_o,
    output logic [63:0] store_data_o,
    output logic [7:0] store_strb_o,
    input logic store_error_i,
    input logic lost_i,
    input logic [63:0] windows_i,
    output logic [15:0] node_o,
    output logic [15:0] pgid_o,
    output logic [15:0] patience_o,
    output logic receive_o,
    output logic match_o,

    output logic a_valid_o,
    output logic a_write_o,
    output logic [13:3] a_addr_o,
    output logic [63:0] a_wdata_o,
    output logic [7:0] a_strb_o,
    input logic [63:0] a_rdata_i,
    output logic cpu_valid_o,
    input logic cpu_ready_i,
    output logic cpu_write_o,
    output logic [13:3] cpu_addr_o,
    output logic [63:0] cpu_wdata_o,
    output logic [7:0] cpu_strb_o,
    input logic cpu_rvalid_i,
    input logic [63:0] cpu_rdata_i,

    output logic rva_valid_o,
    output logic [63:0] rva_key_o,
    output logic [63:0] rva_base_o,
    output logic [63:0] rva_bound_o,
    output logic pa_valid_o,
    output logic [63:0] pa_key_o,
    output logic [63:0] pa_frame_o,
    output logic flush_o,

    input logic rx_stop_valid_i,
    input logic [3:0] rx_stop_cause_i,
    input logic rx_stop_more_i,
    input logic [63:0] rx_stop_key_i,
    input logic [5:0][63:0] rx_hdr_i,
    output logic rx_hdr_write_valid_o,
    output logic [2:0] rx_hdr_write_index_o,
    output logic [1:0] rx_hdr_write_strb_o,
    output logic [63:0] rx_hdr_write_data_o,
    output logic rx_go_valid_o,
    output logic [2:0] rx_go_what_o,
    output logic [3:0] rx_go_reason_o,
    output logic [15:0] rx_go_bytes_o,
    output logic [31:0] rx_go_addr_o,
    input logic rx_dma_done_i,
    input logic [3:0] rx_dma_reason_i,
    input logic outcome_valid_i,
    input logic [3:0] outcome_reason_i,

    output logic desc_valid_o,
    input logic desc_ready_i,
    output logic [63:0] desc_w0_o,
    output logic [63:0] desc_local_o,
    output logic [63:0] desc_remote_o,
    output logic [31:0] desc_bytes_o,
    output logic [3:0] desc_slot_o,
    input logic desc_done_i,
    input logic [3:0] desc_error_i,
    input logic rdma_busy_i,
    input logic rdma_full_i,
    input logic rdma_stop_valid_i,
    input logic [3:0] rdma_stop_cause_i,
    input logic [63:0] rdma_stop_key_i,
    output logic rdma_go_valid_o,
    output logic [2:0] rdma_go_what_o,
    output logic [3:0] rdma_go_reason_o,

    output logic [3:0] slot_index_o,
    input logic [63:0] slot_value_i,
    output logic clear_valid_o,
    output logic [3:0] clear_index_o,
    input logic stray_i,

    output logic build_valid_o,
    input logic build_ready_i,
    output logic [63:0] build_data_o,
    output logic build_last_o
);
  // ------------------------------------------------------------------------------------------------ the host's request
  logic req_valid, req_go, req_write;
  logic [20:3] req_word;
  logic [63:0] req_data;
  logic [ 7:0] req_strb;
  logic [ 1:0] req_level;
  logic [ 2:0] unused_addr;
  assign unused_addr = host_req_addr_i[2:0];

  function automatic logic builds(input logic [14:3] word);
    builds = (word ^ dimmnet1_pkg::Build[14:3]) >> 3 == '0;
  endfunction
  logic in_store, in_llcm, in_sram, in_regs, in_builds, req_sram, req_builds;
  logic to_store, to_llcm, to_sram, to_regs, to_none;
  assign in_store = host_req_write_i && (host_req_addr_i[23:18] == 6'(dimmnet1_pkg::Aotf >> 18) ||  // 256 KB
      host_req_addr_i[23:10] == '0 ||  // both windows
      host_req_addr_i[23:4] == 20'(dimmnet1_pkg::Kick0 >> 4) ||  // both kicks
      host_req_addr_i[23:11] == 13'(dimmnet1_pkg::HeaderTlb >> 11));  // 2 KB
  assign in_llcm = host_req_addr_i[23:14] == 10'(dimmnet1_pkg::Llcm >> 14);
  assign in_sram = host_req_addr_i[23:14] == 10'(dimmnet1_pkg::Sram >> 14) &&
                   (!host_req_write_i || host_req_wstrb_i == '1);
  assign in_regs = host_req_addr_i[23:15] == '0 && !in_store;
  assign in_builds = host_req_write_i && builds(host_req_addr_i[14:3]);

  // Where it goes, and what kind of register it is, is found before it waits.
  logic [40:0] in_kinds, req_kinds, cpu_kinds;
  dimmnet1_decode u_decode_host (
      .word_i (host_req_addr_i[14:3]),
      .user_i (1'b1),
      .kinds_o(in_kinds)
  );

  fifo #(
      .W(137),
      .Depth(2)
  ) u_req (
      .clk_i,
      .rst_i,
      .in_valid_i(host_req_valid_i),
      .in_ready_o(host_req_ready_o),
      .in_data_i({
        {in_kinds, in_store, in_llcm, in_sram, in_regs, in_builds},
        {host_req_write_i, host_req_addr_i[20:3], host_req_wstrb_i, host_req_wdata_i}
      }),
      .out_valid_o(req_valid),
      .out_ready_i(req_go),
      .out_data_o({
        {req_kinds, to_store, to_llcm, req_sram, to_regs, req_builds}, {req_write, req_word, req_strb, req_data}
      }),
      .level_o(req_level)
  );

  assign to_sram = req_sram && !run_o;
  assign to_none = !to_store && !to_llcm && !to_sram && !to_regs;

  // ----------------------------------------------------------------------------------------------- registers, by turns
  logic cpu_asks, host_asks, cpu_acc, host_acc, host_next_q, regs_ready, building, acc_err, acc_slot, regs_busy;
  logic host_turn, cpu_regs, cpu_builds, host_builds, store_settled_q;
  logic [63:0] acc_rdata;
  logic cpu_new, cpu_llcm, cpu_none, done_q, waits_q, gone_q, llcm_q, sram_q, room;

  assign cpu_new = bus_valid_i && !done_q && !waits_q;
  assign cpu_llcm = bus_addr_i[30:14] == 17'(dimmnet1_pkg::Llcm >> 14);
  assign cpu_regs = bus_addr_i[30:15] == '0;
  assign cpu_none = !cpu_llcm && !cpu_regs;
  assign cpu_builds = bus_write_i && building && builds(bus_addr_i[14:3]);
  assign host_builds = req_builds && building;
  assign cpu_asks = cpu_new && cpu_regs && !llcm_q && !cpu_builds;
  assign host_asks = req_valid && to_regs && room && !sram_q && store_settled_q && !host_builds;
  // The turn waits neither for the host's wish nor for the decoder: they come late.
  assign host_turn = !(cpu_new && !llcm_q) || host_next_q;
  assign host_acc = host_asks && regs_ready && host_turn;
  assign cpu_acc = cpu_asks && regs_ready && !host_turn;
  always_ff @(posedge clk_i) begin
    if (rst_i) host_next_q <= 1'b0;
    else if (regs_ready) host_next_q <= host_asks && !host_turn;
  end

  dimmnet1_decode u_decode_cpu (
      .word_i (bus_addr_i[14:3]),
      .user_i (1'b0),
      .kinds_o(cpu_kinds)
  );

  dimmnet1_regs u_regs (
      .clk_i,
      .rst_i,
      .busy_o        (regs_busy),
      .ready_o       (regs_ready),
      .building_o    (building),
      .host_turn_i   (host_turn),
      .host_acc_i    (host_acc),
      .host_kinds_i  (req_kinds),
      .host_write_i  (req_write),
      .host_partial_i(req_strb != '1),
      .host_word_i   (req_word[6:3]),
      .host_data_i   (req_data),
      .cpu_acc_i     (cpu_acc),
      .cpu_kinds_i   (cpu_kinds),
      .cpu_write_i   (bus_write_i),
      .cpu_partial_i (bus_be_i != '1),
      .cpu_word_i    (bus_addr_i[6:3]),
      .cpu_half_i    ({bus_addr_i[2], !bus_addr_i[2]}),
      .cpu_data_i    (bus_wdata_i),
      .err_o         (acc_err),
      .slot_o        (acc_slot),
      .rdata_o       (acc_rdata),
      .host_refused_i(req_go && to_none),
      .cpu_refused_i (cpu_new && cpu_none && bus_write_i),
      .node_o,
      .pgid_o,
      .patience_o,
      .run_o,
      .receive_o,
      .match_o,
      .irq_o,
      .irq_cpu_o,
      .store_error_i,
      .lost_i,
      .windows_i,
      .clear_valid_o,
      .clear_index_o,
      .stray_i,
      .rva_valid_o,
      .rva_key_o,
      .rva_base_o,
      .rva_bound_o,
      .pa_valid_o,
      .pa_key_o,
      .pa_frame_o,
      .flush_o,
      .rx_stop_valid_i,
      .rx_stop_cause_i,
      .rx_stop_more_i,
      .rx_stop_key_i,
      .rx_hdr_i,
      .rx_hdr_write_valid_o,
      .rx_hdr_write_index_o,
      .rx_hdr_write_strb_o,
      .rx_hdr_write_data_o,
      .rx_go_valid_o,
      .rx_go_what_o,
      .rx_go_reason_o,
      .rx_go_bytes_o,
      .rx_go_addr_o,
      .rx_dma_done_i,
      .rx_dma_reason_i,
      .outcome_valid_i,
      .outcome_reason_i,
      .desc_valid_o,
      .desc_w0_o,
      .desc_local_o,
      .desc_remote_o,
      .desc_bytes_o,
      .desc_slot_o,
      .desc_done_i,
      .desc_error_i,
      .rdma_busy_i,
      .rdma_full_i,
      .rdma_stop_valid_i,
      .rdma_stop_cause_i,
      .rdma_stop_key_i,
      .rdma_go_valid_o,
      .rdma_go_what_o,
      .rdma_go_reason_o,
      .build_valid_o,
      .build_ready_i,
      .build_data_o,
      .build_last_o
  );
  assign slot_index_o  = req_word[6:3] & {4{req_valid}};

  // ------------------------------------------------------------------------------------------------- the host's stores
  assign store_valid_o = req_valid && to_store && room && !sram_q;
  assign store_addr_o  = {req_word[20:3], 3'b0};
  assign store_data_o  = req_data;
  assign store_strb_o  = req_strb;
  always_ff @(posedge clk_i) store_settled_q <= !store_valid_o || rst_i;

  // ------------------------------------------------------------------------------- SRAM: two halves, one after another
  // `sram_q`: the request's halves; `sent_q`: the read half was requested.
  logic sram_write_q, half_q, sent_q, sram_step, sram_end;
  logic [13:3] sram_word_q;
  logic [63:0] sram_data_q;
  assign load_valid_o = sram_q && !sent_q;
  assign load_write_o = sram_write_q;
  assign load_addr_o = {sram_word_q, half_q};
  assign load_data_o = half_q ? sram_data_q[63:32] : sram_data_q[31:0];
  assign sram_step = sram_q && (sram_write_q ? load_ready_i : sent_q && load_rvalid_i);
  assign sram_end = sram_step && half_q;
  always_ff @(posedge clk_i) begin
    if (!sram_q) begin
      sram_write_q <= req_write;
      sram_word_q  <= req_word[13:3];
      sram_data_q  <= req_data;
    end else if (sram_step && !half_q && !sram_write_q) begin
      sram_data_q[31:0] <= load_rdata_i;
    end
    if (rst_i) begin
      sram_q <= 1'b0;
      half_q <= 1'b0;
      sent_q <= 1'b0;
    end else begin
      sram_q <= sram_q ? !sram_end : req_go && to_sram;
      if (sram_step) half_q <= !half_q;
      if (load_valid_o && load_ready_i && !sram_write_q) sent_q <= 1'b1;
      else if (sram_step) sent_q <= 1'b0;
    end
  end

  assign a_valid_o = req_valid && to_llcm && room && !sram_q;
  assign a_write_o = req_write;
  assign a_addr_o  = req_word[13:3];
  assign a_wdata_o = req_data;
  assign a_strb_o  = req_strb;

  // ---------------------------------------------------------------------------------------------- the host's responses
  // A request that goes has its response a cycle later, from SRAM later still.
  logic rsp_q, from_llcm_q, from_regs_q, rsp_err_q, rsp_push, unused_rsp_ready;
  logic [63:0] rsp_data;
  logic [2:0] open_q, rsp_level;
  assign room = !open_q[2];  // four at most
  assign req_go = req_valid && room && !sram_q &&
                  (to_store ? store_ready_i : to_llcm || to_sram || to_none || host_acc);
  always_ff @(posedge clk_i) begin
    from_llcm_q <= to_llcm;
    from_regs_q <= to_regs;
    rsp_err_q   <= to_none;
    if (rst_i) begin
      rsp_q  <= 1'b0;
      open_q <= '0;
    end else begin
      rsp_q  <= req_go && !to_sram;
      open_q <= open_q + 3'(req_go) - 3'(host_rsp_valid_o && host_rsp_ready_i);
    end
  end
  assign rsp_push = rsp_q || sram_end;
  always_comb begin
    rsp_data = acc_slot ? slot_value_i : acc_rdata;
    if (from_llcm_q) rsp_data = a_rdata_i;
    if (sram_q) rsp_data = {load_rdata_i, sram_data_q[31:0]};
  end

  fifo #(
      .W(65),
      .Depth(4)
  ) u_rsp (
      .clk_i,
      .rst_i,
      .in_valid_i (rsp_push),
      .in_ready_o (unused_rsp_ready),                                          // at most four are open
      .in_data_i  ({rsp_q && (from_regs_q ? acc_err : rsp_err_q), rsp_data}),
      .out_valid_o(host_rsp_valid_o),
      .out_ready_i(host_rsp_ready_i),
      .out_data_o ({host_rsp_err_o, host_rsp_rdata_o}),
      .level_o    (rsp_level)
  );

  // ---------------------------------------------------------------------------------------------------- the processor
  logic llcm_go, llcm_done, from_acc_q, from_none_q, was_high_q, llcm_write_q, llcm_high_q;
  logic [31:0] llcm_rdata_q, llcm_wdata_q;
  logic [3:0] llcm_be_q;
  assign llcm_go = cpu_new && cpu_llcm && (!llcm_q || cpu_ready_i);
  assign cpu_valid_o = llcm_q;
  assign cpu_write_o = llcm_write_q;
  assign cpu_wdata_o = {2{llcm_wdata_q}};
  assign cpu_strb_o = llcm_high_q ? {llcm_be_q, 4'b0} : {4'b0, llcm_be_q};

  // The word of a load that the processor withdrew is nobody's.
  assign llcm_done = waits_q && cpu_rvalid_i && bus_valid_i && !gone_q;

  always_ff @(posedge clk_i) begin
    if (llcm_go) begin
      llcm_write_q <= bus_write_i;
      cpu_addr_o   <= bus_addr_i[13:3];
      llcm_high_q  <= bus_addr_i[2];
      llcm_wdata_q <= bus_wdata_i;
      llcm_be_q    <= bus_be_i;
    end
    if (cpu_rvalid_i) llcm_rdata_q <= llcm_high_q ? cpu_rdata_i[63:32] : cpu_rdata_i[31:0];
    from_acc_q  <= cpu_acc;
    from_none_q <= cpu_none;
    was_high_q  <= bus_addr_i[2];
    if (rst_i) begin
      llcm_q  <= 1'b0;
      waits_q <= 1'b0;
      gone_q  <= 1'b0;
      done_q  <= 1'b0;
    end else begin
      llcm_q  <= llcm_go || (llcm_q && !cpu_ready_i);
      waits_q <= (llcm_go && !bus_write_i) || (waits_q && !cpu_rvalid_i);
      gone_q  <= waits_q && (gone_q || !bus_valid_i);
      done_q  <= cpu_acc || (cpu_new && cpu_none) || (llcm_go && bus_write_i) || llcm_done;
    end
  end
  assign bus_done_o = done_q;
  assign bus_error_o = from_acc_q ? acc_err : from_none_q;
  assign bus_rdata_o = !from_acc_q ? llcm_rdata_q : was_high_q ? acc_rdata[63:32] : acc_rdata[31:0];

  assign busy_o = req_level != '0 || open_q != '0 || rsp_level != '0 || !store_settled_q || llcm_q || waits_q ||
                  done_q || regs_busy;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!rsp_push || unused_rsp_ready);
      assert (!desc_valid_o || desc_ready_i);
      assert (!(rsp_q && sram_q && sram_end));
    end
  end
`else
  logic unused_ready;
  assign unused_ready = desc_ready_i;
`endif
endmodule
