// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1 card: Martini with its on-chip processor, between the host's bus, the card's memory and the link.
//
//   host ── bus ──┬── send (AOTF, BOTF) ──────────┐
//                 ├── rdma ◄── memory read        ├── tx ── link ──> link out
//                 ├── r3000 (stops, firmware)     │
//                 ├── llcm, tlb, acks             │
//                 └── answers ────────────────────┘
//                        ▲ ACK, NACK, PULL
//   memory write <────── rx <───────────────────────── link <── link in
//                        └── matcher (INDIRECT, MESSAGE) ── tlb, llcm
//
// Handshake  valid/ready everywhere; memory as `mem_bram`. Every output is a flip-flop, or a memory addressed by
//            flip-flops.
// Clocks     `core_clk_i` (50 MHz on the machine) and `link_clk_i` (62.5 MHz), any ratio and phase. Each has a
//            synchronous reset. Reset both together, in any order, or packets may be cut; hold both for 8 cycles of the
//            slower clock.
// retire     `retire_*`: the instructions of the processor as they end, for listings and waves.
// busy       while `core_busy_o` and `link_busy_o` are low and no input is valid, no clock edge changes anything but
//            TIME, so both clocks may stand. When either is high, both clocks must run.
// Source     paper, sections 2 and 3; public descriptions of AOTF, BOTF and LLCM (docs/machines/dimmnet1.md).
module dimmnet1_nic #(
    parameter int Matching = 1  // 1: with dimmnet1_matcher, which CONTROL.MATCH switches on; 0: without
) (
    input logic core_clk_i,
    input logic core_rst_i,
    input logic link_clk_i,
    input logic link_rst_i,

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

    output logic mem_rd_cmd_valid_o,
    input logic mem_rd_cmd_ready_i,
    output logic [31:0] mem_rd_cmd_addr_o,
    output logic [7:0] mem_rd_cmd_len_o,
    input logic mem_rd_data_valid_i,
    output logic mem_rd_data_ready_o,
    input logic [63:0] mem_rd_data_data_i,
    input logic mem_rd_data_last_i,
    input logic mem_rd_data_err_i,

    output logic mem_wr_cmd_valid_o,
    input logic mem_wr_cmd_ready_i,
    output logic [31:0] mem_wr_cmd_addr_o,
    output logic [7:0] mem_wr_cmd_len_o,
    output logic mem_wr_data_valid_o,
    input logic mem_wr_data_ready_i,
    output logic [63:0] mem_wr_data_data_o,
    output logic [7:0] mem_wr_data_strb_o,
    output logic mem_wr_data_last_o,
    input logic mem_wr_rsp_valid_i,
    output logic mem_wr_rsp_ready_o,
    input logic mem_wr_rsp_err_i,

    output logic link_tx_valid_o,
    input logic link_tx_ready_i,
    output logic [63:0] link_tx_data_o,
    output logic link_tx_last_o,
    input logic link_rx_valid_i,
    output logic link_rx_ready_o,
    input logic [63:0] link_rx_data_i,
    input logic link_rx_last_i,

    output logic retire_valid_o,
    output logic [31:0] retire_pc_o,
    output logic retire_trap_o,

    output logic core_busy_o,
    output logic link_busy_o
);

  // Settings.
  logic [15:0] node, pgid, patience;
  logic receive, run;

  // Stores of the host for `send`, and what it says.
  logic store_valid, store_ready, store_error, lost;
  logic [20:0] store_addr;
  logic [63:0] store_data, windows;
  logic [7:0] store_strb;

  // LLCM: host, processor, OTF, streams.
  logic a_valid, a_write;
  logic [13:3] a_addr, cpu_addr;
  logic [63:0] a_wdata, a_rdata, cpu_wdata, cpu_rdata, otf_data;
  logic [7:0] a_strb, cpu_strb, otf_strb;
  logic cpu_valid, cpu_ready, cpu_write, cpu_rvalid;
  logic otf_valid, otf_ready;
  logic [13:0] otf_addr;
  logic lrd_cmd_valid, lrd_cmd_ready, lrd_data_valid, lrd_data_ready, lrd_data_last, lrd_data_err;
  logic lwr_cmd_valid, lwr_cmd_ready, lwr_data_valid, lwr_data_ready, lwr_data_last;
  logic lwr_rsp_valid, lwr_rsp_ready, lwr_rsp_err;
  logic [27:0] lrd_cmd_addr, lwr_cmd_addr;
  logic [7:0] lrd_cmd_len, lwr_cmd_len, lwr_data_strb;
  logic [63:0] lrd_data_data, lwr_data_data;

  // DMA engines, before memory and LLCM part.
  logic rd_cmd_valid, rd_cmd_ready, rd_data_valid, rd_data_ready, rd_data_last, rd_data_err;
  logic wr_cmd_valid, wr_cmd_ready, wr_data_valid, wr_data_ready, wr_data_last;
  logic wr_rsp_valid, wr_rsp_ready, wr_rsp_err;
  logic [31:0] rd_cmd_addr, wr_cmd_addr;
  logic [7:0] rd_cmd_len, wr_cmd_len, wr_data_strb;
  logic [63:0] rd_data_data, wr_data_data;

  // TLB: its writes, and its clients, 0 the receiver, 1 the RDMA engine.
  logic rva_valid, pa_valid, flush;
  logic [63:0] rva_key, rva_base, rva_bound, pa_key, pa_frame;
  logic [1:0] tlb_valid, tlb_ready, tlb_rsp_valid, tlb_rsp_miss;
  logic [1:0][15:0] tlb_pgid, tlb_region;
  logic [1:0][47:0] tlb_offset;
  logic [1:0][12:0] tlb_bytes;
  logic [1:0][1:0] tlb_kind;
  logic [31:0] tlb_rsp_addr;
  logic [3:0] tlb_rsp_reason;
  logic [63:0] tlb_rsp_key;

  // Slots: takers, 0 `send`, 1 the RDMA engine; answers; the host's view.
  logic [1:0] take_valid, take_ready;
  logic [1:0][ 3:0] take_slot;
  logic [1:0][15:0] take_dst;
  logic [1:0][11:0] take_gen;
  logic ans_valid, ans_nack, stray, clear_valid;
  logic [15:0] ans_tag, ans_src;
  logic [3:0] ans_reason, slot_index, clear_index;
  logic [31:0] ans_seq;
  logic [63:0] slot_value;

  // Stops.
  logic rx_stop_valid, rx_stop_more, hdr_write_valid, rx_go_valid, rx_dma_done, outcome_valid;
  logic [3:0] rx_stop_cause, rx_go_reason, rx_dma_reason, outcome_reason;
  logic [63:0] rx_stop_key, hdr_write_data;
  logic [5:0][63:0] hdr;
  logic [2:0] hdr_write_index, rx_go_what;
  logic [ 1:0] hdr_write_strb;
  logic [15:0] rx_go_bytes;
  logic [31:0] rx_go_addr;
  logic rdma_stop_valid, rdma_go_valid;
  logic [3:0] rdma_stop_cause, rdma_go_reason;
  logic [63:0] rdma_stop_key;
  logic [ 2:0] rdma_go_what;

  // RDMA descriptors and PULL requests.
  logic desc_valid, desc_ready, desc_done, rdma_working, rdma_full;
  logic [63:0] desc_w0, desc_local, desc_remote;
  logic [31:0] desc_bytes;
  logic [3:0] desc_slot, desc_error;
  logic pull_valid, pull_ready;
  logic [63:0] pull_w0, pull_w1, pull_w2, pull_w3;

  // Packets: into the answer queue, 0 the receiver, 1 the builder; to the arbiter, 0 answers, 1 `send`, 2 RDMA.
  logic [1:0] answer_valid, answer_ready, answer_last;
  logic [1:0][63:0] answer_data;
  logic room;
  logic [2:0] to_tx_valid, to_tx_ready, to_tx_last;
  logic [2:0][63:0] to_tx_data;
  logic tx_valid, tx_ready, tx_last, rx_valid, rx_ready, rx_last;
  logic [63:0] tx_data, rx_data;

  // Processor.
  logic bus_valid, bus_write, bus_done, bus_error, irq_cpu;
  logic [30:2] bus_addr;
  logic [31:0] bus_wdata, bus_rdata;
  logic [3:0] bus_be;
  logic load_valid, load_ready, load_write, load_rvalid;
  logic [13:2] load_addr;
  logic [31:0] load_data, load_rdata;

  // Matcher: the receiver's offer and how it ends, its turn at the receiver's lookups, LLCM.
  logic match, offer, more, pass, match_go, match_place_valid;
  logic [ 2:0] match_what;
  logic [ 3:0] match_reason;
  logic [15:0] match_bytes;
  logic [63:0] match_place;
  logic rx_tlb_valid, mat_tlb_valid;
  logic [1:0] rx_tlb_kind;
  logic [12:0] rx_tlb_bytes, mat_tlb_bytes;
  logic mat_valid, mat_ready, mat_write, mat_rvalid;
  logic [13:3] mat_addr;
  logic [63:0] mat_wdata, mat_rdata;
  logic [7:0] mat_strb;

  // `bus` counts the stores that fail, and answers none that the processor may not make.
  logic unused_store_error, unused_load_error, unused_ans_ready, unused_waiting;

  logic [11:0] busy;
  logic [1:0] wakes_q;
  logic active;

  // `core_busy_o` is a flip-flop: what comes in must be told with the edge that takes it. The processor may rest when
  // it is called or stopped, and needs one edge to see it.
  always_ff @(posedge core_clk_i) wakes_q <= core_rst_i ? 2'b00 : {run, irq_cpu};
  assign active = host_req_valid_i || busy != '0 || wakes_q != {run, irq_cpu};

  dimmnet1_bus u_bus (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .busy_o(busy[0]),
      .host_req_valid_i,
      .host_req_ready_o,
      .host_req_write_i,
      .host_req_addr_i,
      .host_req_wdata_i,
      .host_req_wstrb_i,
      .host_rsp_valid_o,
      .host_rsp_ready_i,
      .host_rsp_rdata_o,
      .host_rsp_err_o,
      .irq_o,
      .bus_valid_i(bus_valid),
      .bus_write_i(bus_write),
      .bus_addr_i(bus_addr),
      .bus_wdata_i(bus_wdata),
      .bus_be_i(bus_be),
      .bus_done_o(bus_done),
      .bus_rdata_o(bus_rdata),
      .bus_error_o(bus_error),
      .load_valid_o(load_valid),
      .load_ready_i(load_ready),
      .load_write_o(load_write),
      .load_addr_o(load_addr),
      .load_data_o(load_data),
      .load_rvalid_i(load_rvalid),
      .load_rdata_i(load_rdata),
      .run_o(run),
      .irq_cpu_o(irq_cpu),
      .store_valid_o(store_valid),
      .store_ready_i(store_ready),
      .store_addr_o(store_addr),
      .store_data_o(store_data),
      .store_strb_o(store_strb),
      .store_error_i(store_error),
      .lost_i(lost),
      .windows_i(windows),
      .node_o(node),
      .pgid_o(pgid),
      .patience_o(patience),
      .receive_o(receive),
      .match_o(match),
      .a_valid_o(a_valid),
      .a_write_o(a_write),
      .a_addr_o(a_addr),
      .a_wdata_o(a_wdata),
      .a_strb_o(a_strb),
      .a_rdata_i(a_rdata),
      .cpu_valid_o(cpu_valid),
      .cpu_ready_i(cpu_ready),
      .cpu_write_o(cpu_write),
      .cpu_addr_o(cpu_addr),
      .cpu_wdata_o(cpu_wdata),
      .cpu_strb_o(cpu_strb),
      .cpu_rvalid_i(cpu_rvalid),
      .cpu_rdata_i(cpu_rdata),
      .rva_valid_o(rva_valid),
      .rva_key_o(rva_key),
      .rva_base_o(rva_base),
      .rva_bound_o(rva_bound),
      .pa_valid_o(pa_valid),
      .pa_key_o(pa_key),
      .pa_frame_o(pa_frame),
      .flush_o(flush),
      .rx_stop_valid_i(rx_stop_valid),
      .rx_stop_cause_i(rx_stop_cause),
      .rx_stop_more_i(rx_stop_more),
      .rx_stop_key_i(rx_stop_key),
      .rx_hdr_i(hdr),
      .rx_hdr_write_valid_o(hdr_write_valid),
      .rx_hdr_write_index_o(hdr_write_index),
      .rx_hdr_write_strb_o(hdr_write_strb),
      .rx_hdr_write_data_o(hdr_write_data),
      .rx_go_valid_o(rx_go_valid),
      .rx_go_what_o(rx_go_what),
      .rx_go_reason_o(rx_go_reason),
      .rx_go_bytes_o(rx_go_bytes),
      .rx_go_addr_o(rx_go_addr),
      .rx_dma_done_i(rx_dma_done),
      .rx_dma_reason_i(rx_dma_reason),
      .outcome_valid_i(outcome_valid),
      .outcome_reason_i(outcome_reason),
      .desc_valid_o(desc_valid),
      .desc_ready_i(desc_ready),
      .desc_w0_o(desc_w0),
      .desc_local_o(desc_local),
      .desc_remote_o(desc_remote),
      .desc_bytes_o(desc_bytes),
      .desc_slot_o(desc_slot),
      .desc_done_i(desc_done),
      .desc_error_i(desc_error),
      .rdma_busy_i(rdma_working),
      .rdma_full_i(rdma_full),
      .rdma_stop_valid_i(rdma_stop_valid),
      .rdma_stop_cause_i(rdma_stop_cause),
      .rdma_stop_key_i(rdma_stop_key),
      .rdma_go_valid_o(rdma_go_valid),
      .rdma_go_what_o(rdma_go_what),
      .rdma_go_reason_o(rdma_go_reason),
      .slot_index_o(slot_index),
      .slot_value_i(slot_value),
      .clear_valid_o(clear_valid),
      .clear_index_o(clear_index),
      .stray_i(stray),
      .build_valid_o(answer_valid[1]),
      .build_ready_i(answer_ready[1]),
      .build_data_o(answer_data[1]),
      .build_last_o(answer_last[1])
  );

  r3000 u_r3000 (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .busy_o(busy[1]),
      .run_i(run),
      .waiting_o(unused_waiting),
      .irq_i(irq_cpu),
      .load_valid_i(load_valid),
      .load_ready_o(load_ready),
      .load_write_i(load_write),
      .load_addr_i(load_addr),
      .load_data_i(load_data),
      .load_rvalid_o(load_rvalid),
      .load_error_o(unused_load_error),
      .load_rdata_o(load_rdata),
      .bus_valid_o(bus_valid),
      .bus_write_o(bus_write),
      .bus_addr_o(bus_addr),
      .bus_wdata_o(bus_wdata),
      .bus_be_o(bus_be),
      .bus_done_i(bus_done),
      .bus_rdata_i(bus_rdata),
      .bus_error_i(bus_error),
      .store_error_o(unused_store_error),
      .retire_valid_o,
      .retire_pc_o,
      .retire_trap_o
  );

  dimmnet1_send u_send (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .busy_o(busy[2]),
      .pgid_i(pgid),
      .patience_i(patience),
      .store_valid_i(store_valid),
      .store_ready_o(store_ready),
      .store_addr_i(store_addr),
      .store_data_i(store_data),
      .store_strb_i(store_strb),
      .store_error_o(store_error),
      .lost_o(lost),
      .windows_o(windows),
      .credit_valid_o(take_valid[0]),
      .credit_ready_i(take_ready[0]),
      .credit_slot_o(take_slot[0]),
      .credit_dst_o(take_dst[0]),
      .credit_gen_i(take_gen[0]),
      .out_valid_o(to_tx_valid[1]),
      .out_ready_i(to_tx_ready[1]),
      .out_data_o(to_tx_data[1]),
      .out_last_o(to_tx_last[1])
  );

  dimmnet1_rdma u_rdma (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .busy_o(busy[3]),
      .desc_valid_i(desc_valid),
      .desc_ready_o(desc_ready),
      .desc_w0_i(desc_w0),
      .desc_local_i(desc_local),
      .desc_remote_i(desc_remote),
      .desc_bytes_i(desc_bytes),
      .desc_slot_i(desc_slot),
      .desc_done_o(desc_done),
      .desc_error_o(desc_error),
      .rdma_busy_o(rdma_working),
      .full_o(rdma_full),
      .pgid_i(pgid),
      .cpu_runs_i(run),
      .pull_valid_i(pull_valid),
      .pull_ready_o(pull_ready),
      .pull_w0_i(pull_w0),
      .pull_w1_i(pull_w1),
      .pull_w2_i(pull_w2),
      .pull_w3_i(pull_w3),
      .tlb_req_valid_o(tlb_valid[1]),
      .tlb_req_ready_i(tlb_ready[1]),
      .tlb_req_pgid_o(tlb_pgid[1]),
      .tlb_req_region_o(tlb_region[1]),
      .tlb_req_offset_o(tlb_offset[1]),
      .tlb_req_bytes_o(tlb_bytes[1]),
      .tlb_req_kind_o(tlb_kind[1]),
      .tlb_rsp_valid_i(tlb_rsp_valid[1]),
      .tlb_rsp_addr_i(tlb_rsp_addr),
      .tlb_rsp_reason_i(tlb_rsp_reason),
      .tlb_rsp_miss_i(tlb_rsp_miss),
      .tlb_rsp_key_i(tlb_rsp_key),
      .stop_valid_o(rdma_stop_valid),
      .stop_cause_o(rdma_stop_cause),
      .stop_key_o(rdma_stop_key),
      .go_valid_i(rdma_go_valid),
      .go_what_i(rdma_go_what),
      .go_reason_i(rdma_go_reason),
      .take_valid_o(take_valid[1]),
      .take_ready_i(take_ready[1]),
      .take_slot_o(take_slot[1]),
      .take_dst_o(take_dst[1]),
      .take_gen_i(take_gen[1]),
      .rd_cmd_valid_o(rd_cmd_valid),
      .rd_cmd_ready_i(rd_cmd_ready),
      .rd_cmd_addr_o(rd_cmd_addr),
      .rd_cmd_len_o(rd_cmd_len),
      .rd_data_valid_i(rd_data_valid),
      .rd_data_ready_o(rd_data_ready),
      .rd_data_data_i(rd_data_data),
      .rd_data_last_i(rd_data_last),
      .rd_data_err_i(rd_data_err),
      .out_valid_o(to_tx_valid[2]),
      .out_ready_i(to_tx_ready[2]),
      .out_data_o(to_tx_data[2]),
      .out_last_o(to_tx_last[2])
  );

  dimmnet1_answers u_answers (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .busy_o(busy[4]),
      .in_valid_i(answer_valid),
      .in_ready_o(answer_ready),
      .in_data_i(answer_data),
      .in_last_i(answer_last),
      .room_o(room),
      .out_valid_o(to_tx_valid[0]),
      .out_ready_i(to_tx_ready[0]),
      .out_data_o(to_tx_data[0]),
      .out_last_o(to_tx_last[0]),
      .pull_valid_o(pull_valid),
      .pull_ready_i(pull_ready),
      .pull_w0_o(pull_w0),
      .pull_w1_o(pull_w1),
      .pull_w2_o(pull_w2),
      .pull_w3_o(pull_w3)
  );

  dimmnet1_tx u_tx (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .busy_o(busy[5]),
      .node_i(node),
      .in_valid_i(to_tx_valid),
      .in_ready_o(to_tx_ready),
      .in_data_i(to_tx_data),
      .in_last_i(to_tx_last),
      .out_valid_o(tx_valid),
      .out_ready_i(tx_ready),
      .out_data_o(tx_data),
      .out_last_o(tx_last)
  );

  dimmnet1_acks u_acks (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .busy_o(busy[6]),
      .take_valid_i(take_valid),
      .take_ready_o(take_ready),
      .take_slot_i(take_slot),
      .take_dst_i(take_dst),
      .take_gen_o(take_gen),
      .ans_valid_i(ans_valid),
      .ans_ready_o(unused_ans_ready),
      .ans_tag_i(ans_tag),
      .ans_src_i(ans_src),
      .ans_nack_i(ans_nack),
      .ans_reason_i(ans_reason),
      .ans_seq_i(ans_seq),
      .stray_o(stray),
      .slot_index_i(slot_index),
      .slot_value_o(slot_value),
      .clear_valid_i(clear_valid),
      .clear_index_i(clear_index)
  );

  dimmnet1_tlb u_tlb (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .busy_o(busy[7]),
      .rva_valid_i(rva_valid),
      .rva_key_i(rva_key),
      .rva_base_i(rva_base),
      .rva_bound_i(rva_bound),
      .pa_valid_i(pa_valid),
      .pa_key_i(pa_key),
      .pa_frame_i(pa_frame),
      .flush_i(flush),
      .req_valid_i(tlb_valid),
      .req_ready_o(tlb_ready),
      .req_pgid_i(tlb_pgid),
      .req_region_i(tlb_region),
      .req_offset_i(tlb_offset),
      .req_bytes_i(tlb_bytes),
      .req_kind_i(tlb_kind),
      .rsp_valid_o(tlb_rsp_valid),
      .rsp_addr_o(tlb_rsp_addr),
      .rsp_reason_o(tlb_rsp_reason),
      .rsp_miss_o(tlb_rsp_miss),
      .rsp_key_o(tlb_rsp_key)
  );

  dimmnet1_llcm u_llcm (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .busy_o(busy[8]),
      .a_valid_i(a_valid),
      .a_write_i(a_write),
      .a_addr_i(a_addr),
      .a_wdata_i(a_wdata),
      .a_strb_i(a_strb),
      .a_rdata_o(a_rdata),
      .otf_valid_i(otf_valid),
      .otf_ready_o(otf_ready),
      .otf_addr_i(otf_addr),
      .otf_data_i(otf_data),
      .otf_strb_i(otf_strb),
      .cpu_valid_i(cpu_valid),
      .cpu_ready_o(cpu_ready),
      .cpu_write_i(cpu_write),
      .cpu_addr_i(cpu_addr),
      .cpu_wdata_i(cpu_wdata),
      .cpu_strb_i(cpu_strb),
      .cpu_rvalid_o(cpu_rvalid),
      .cpu_rdata_o(cpu_rdata),
      .mat_valid_i(mat_valid),
      .mat_ready_o(mat_ready),
      .mat_write_i(mat_write),
      .mat_addr_i(mat_addr),
      .mat_wdata_i(mat_wdata),
      .mat_strb_i(mat_strb),
      .mat_rvalid_o(mat_rvalid),
      .mat_rdata_o(mat_rdata),
      .rd_cmd_valid_i(lrd_cmd_valid),
      .rd_cmd_ready_o(lrd_cmd_ready),
      .rd_cmd_addr_i(lrd_cmd_addr),
      .rd_cmd_len_i(lrd_cmd_len),
      .rd_data_valid_o(lrd_data_valid),
      .rd_data_ready_i(lrd_data_ready),
      .rd_data_data_o(lrd_data_data),
      .rd_data_last_o(lrd_data_last),
      .rd_data_err_o(lrd_data_err),
      .wr_cmd_valid_i(lwr_cmd_valid),
      .wr_cmd_ready_o(lwr_cmd_ready),
      .wr_cmd_addr_i(lwr_cmd_addr),
      .wr_cmd_len_i(lwr_cmd_len),
      .wr_data_valid_i(lwr_data_valid),
      .wr_data_ready_o(lwr_data_ready),
      .wr_data_data_i(lwr_data_data),
      .wr_data_strb_i(lwr_data_strb),
      .wr_data_last_i(lwr_data_last),
      .wr_rsp_valid_o(lwr_rsp_valid),
      .wr_rsp_ready_i(lwr_rsp_ready),
      .wr_rsp_err_o(lwr_rsp_err)
  );

  dimmnet1_memory u_memory (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .busy_o(busy[9]),
      .rd_cmd_valid_i(rd_cmd_valid),
      .rd_cmd_ready_o(rd_cmd_ready),
      .rd_cmd_addr_i(rd_cmd_addr),
      .rd_cmd_len_i(rd_cmd_len),
      .rd_data_valid_o(rd_data_valid),
      .rd_data_ready_i(rd_data_ready),
      .rd_data_data_o(rd_data_data),
      .rd_data_last_o(rd_data_last),
      .rd_data_err_o(rd_data_err),
      .wr_cmd_valid_i(wr_cmd_valid),
      .wr_cmd_ready_o(wr_cmd_ready),
      .wr_cmd_addr_i(wr_cmd_addr),
      .wr_cmd_len_i(wr_cmd_len),
      .wr_data_valid_i(wr_data_valid),
      .wr_data_ready_o(wr_data_ready),
      .wr_data_data_i(wr_data_data),
      .wr_data_strb_i(wr_data_strb),
      .wr_data_last_i(wr_data_last),
      .wr_rsp_valid_o(wr_rsp_valid),
      .wr_rsp_ready_i(wr_rsp_ready),
      .wr_rsp_err_o(wr_rsp_err),
      .mem_rd_cmd_valid_o,
      .mem_rd_cmd_ready_i,
      .mem_rd_cmd_addr_o,
      .mem_rd_cmd_len_o,
      .mem_rd_data_valid_i,
      .mem_rd_data_ready_o,
      .mem_rd_data_data_i,
      .mem_rd_data_last_i,
      .mem_rd_data_err_i,
      .mem_wr_cmd_valid_o,
      .mem_wr_cmd_ready_i,
      .mem_wr_cmd_addr_o,
      .mem_wr_cmd_len_o,
      .mem_wr_data_valid_o,
      .mem_wr_data_ready_i,
      .mem_wr_data_data_o,
      .mem_wr_data_strb_o,
      .mem_wr_data_last_o,
      .mem_wr_rsp_valid_i,
      .mem_wr_rsp_ready_o,
      .mem_wr_rsp_err_i,
      .llcm_rd_cmd_valid_o(lrd_cmd_valid),
      .llcm_rd_cmd_ready_i(lrd_cmd_ready),
      .llcm_rd_cmd_addr_o(lrd_cmd_addr),
      .llcm_rd_cmd_len_o(lrd_cmd_len),
      .llcm_rd_data_valid_i(lrd_data_valid),
      .llcm_rd_data_ready_o(lrd_data_ready),
      .llcm_rd_data_data_i(lrd_data_data),
      .llcm_rd_data_last_i(lrd_data_last),
      .llcm_rd_data_err_i(lrd_data_err),
      .llcm_wr_cmd_valid_o(lwr_cmd_valid),
      .llcm_wr_cmd_ready_i(lwr_cmd_ready),
      .llcm_wr_cmd_addr_o(lwr_cmd_addr),
      .llcm_wr_cmd_len_o(lwr_cmd_len),
      .llcm_wr_data_valid_o(lwr_data_valid),
      .llcm_wr_data_ready_i(lwr_data_ready),
      .llcm_wr_data_data_o(lwr_data_data),
      .llcm_wr_data_strb_o(lwr_data_strb),
      .llcm_wr_data_last_o(lwr_data_last),
      .llcm_wr_rsp_valid_i(lwr_rsp_valid),
      .llcm_wr_rsp_ready_o(lwr_rsp_ready),
      .llcm_wr_rsp_err_i(lwr_rsp_err)
  );

  dimmnet1_rx u_rx (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .busy_o(busy[10]),
      .receive_i(receive),
      .cpu_runs_i(run),
      .match_i(match && Matching != 0),
      .node_i(node),
      .in_valid_i(rx_valid),
      .in_ready_o(rx_ready),
      .in_data_i(rx_data),
      .in_last_i(rx_last),
      .tlb_req_valid_o(rx_tlb_valid),
      .tlb_req_ready_i(tlb_ready[0]),
      .tlb_req_pgid_o(tlb_pgid[0]),
      .tlb_req_region_o(tlb_region[0]),
      .tlb_req_offset_o(tlb_offset[0]),
      .tlb_req_bytes_o(rx_tlb_bytes),
      .tlb_req_kind_o(rx_tlb_kind),
      .tlb_rsp_valid_i(tlb_rsp_valid[0] && !offer),
      .tlb_rsp_addr_i(tlb_rsp_addr),
      .tlb_rsp_reason_i(tlb_rsp_reason),
      .tlb_rsp_miss_i(tlb_rsp_miss),
      .tlb_rsp_key_i(tlb_rsp_key),
      .answers_valid_o(answer_valid[0]),
      .answers_ready_i(answer_ready[0]),
      .answers_data_o(answer_data[0]),
      .answers_last_o(answer_last[0]),
      .answers_room_i(room),
      .ans_valid_o(ans_valid),
      .ans_tag_o(ans_tag),
      .ans_src_o(ans_src),
      .ans_nack_o(ans_nack),
      .ans_reason_o(ans_reason),
      .ans_seq_o(ans_seq),
      .otf_valid_o(otf_valid),
      .otf_ready_i(otf_ready),
      .otf_addr_o(otf_addr),
      .otf_data_o(otf_data),
      .otf_strb_o(otf_strb),
      .wr_cmd_valid_o(wr_cmd_valid),
      .wr_cmd_ready_i(wr_cmd_ready),
      .wr_cmd_addr_o(wr_cmd_addr),
      .wr_cmd_len_o(wr_cmd_len),
      .wr_data_valid_o(wr_data_valid),
      .wr_data_ready_i(wr_data_ready),
      .wr_data_data_o(wr_data_data),
      .wr_data_strb_o(wr_data_strb),
      .wr_data_last_o(wr_data_last),
      .wr_rsp_valid_i(wr_rsp_valid),
      .wr_rsp_ready_o(wr_rsp_ready),
      .wr_rsp_err_i(wr_rsp_err),
      .stop_valid_o(rx_stop_valid),
      .stop_cause_o(rx_stop_cause),
      .stop_more_o(rx_stop_more),
      .stop_key_o(rx_stop_key),
      .hdr_o(hdr),
      .hdr_write_valid_i(hdr_write_valid || match_place_valid),
      .hdr_write_index_i(match_place_valid ? 3'd2 : hdr_write_index),
      .hdr_write_strb_i(match_place_valid ? 2'b11 : hdr_write_strb),
      .hdr_write_data_i(match_place_valid ? match_place : hdr_write_data),
      .go_valid_i(rx_go_valid || match_go),
      .go_what_i(match_go ? match_what : rx_go_what),
      .go_reason_i(match_go ? match_reason : rx_go_reason),
      .go_bytes_i(match_go ? match_bytes : rx_go_bytes),
      .go_addr_i(rx_go_addr),
      .dma_done_o(rx_dma_done),
      .dma_reason_o(rx_dma_reason),
      .mat_valid_o(offer),
      .mat_more_o(more),
      .mat_pass_i(pass),
      .outcome_valid_o(outcome_valid),
      .outcome_reason_o(outcome_reason)
  );

  // While a packet is offered the receiver looks up nothing, and its outputs name what header word 2 names.
  assign tlb_valid[0] = rx_tlb_valid || mat_tlb_valid;
  assign tlb_bytes[0] = mat_tlb_valid ? mat_tlb_bytes : rx_tlb_bytes;
  assign tlb_kind[0]  = rx_tlb_kind | {2{mat_tlb_valid}};

  if (Matching == 1) begin : gen_matcher
    logic matcher_busy;
    dimmnet1_matcher u_matcher (
        .clk_i(core_clk_i),
        .rst_i(core_rst_i),
        .busy_o(matcher_busy),
        .valid_i(offer),
        .type_i(hdr[0][dimmnet1_pkg::HdrW0TypeLsb+:8]),
        .bytes_i(hdr[0][dimmnet1_pkg::HdrW0LengthLsb+:13]),
        .region_i(hdr[2][dimmnet1_pkg::HdrW2RegionLsb+:16]),
        .more_i(more),
        .pass_o(pass),
        .go_valid_o(match_go),
        .go_what_o(match_what),
        .go_reason_o(match_reason),
        .go_bytes_o(match_bytes),
        .place_valid_o(match_place_valid),
        .place_o(match_place),
        .tlb_req_valid_o(mat_tlb_valid),
        .tlb_req_ready_i(tlb_ready[0]),
        .tlb_req_bytes_o(mat_tlb_bytes),
        .tlb_rsp_valid_i(tlb_rsp_valid[0]),
        .tlb_rsp_word_i(tlb_rsp_addr[13:3]),
        .tlb_rsp_reason_i(tlb_rsp_reason),
        .tlb_rsp_miss_i(tlb_rsp_miss != '0),
        .mat_valid_o(mat_valid),
        .mat_ready_i(mat_ready),
        .mat_write_o(mat_write),
        .mat_addr_o(mat_addr),
        .mat_wdata_o(mat_wdata),
        .mat_strb_o(mat_strb),
        .mat_rvalid_i(mat_rvalid),
        .mat_rdata_i(mat_rdata)
    );
    assign busy[11] = matcher_busy || offer;
  end else if (Matching == 0) begin : gen_no_matcher
    logic unused_matcher;
    assign {match_go, match_what, match_reason, match_bytes, match_place_valid, match_place, pass} = '0;
    assign {mat_tlb_valid, mat_tlb_bytes} = '0;
    assign {mat_valid, mat_write, mat_addr, mat_wdata, mat_strb} = '0;
    assign busy[11] = 1'b0;
    assign unused_matcher = &{1'b0, mat_ready, mat_rvalid, mat_rdata, more};
  end else begin : gen_bad_matching
    dimmnet1_nic_Matching_must_be_0_or_1 u_bad ();
  end

  dimmnet1_link u_link (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .core_active_i(active),
      .core_busy_o,
      .tx_valid_i(tx_valid),
      .tx_ready_o(tx_ready),
      .tx_data_i(tx_data),
      .tx_last_i(tx_last),
      .rx_valid_o(rx_valid),
      .rx_ready_i(rx_ready),
      .rx_data_o(rx_data),
      .rx_last_o(rx_last),
      .link_clk_i,
      .link_rst_i,
      .link_busy_o,
      .link_tx_valid_o,
      .link_tx_ready_i,
      .link_tx_data_o,
      .link_tx_last_o,
      .link_rx_valid_i,
      .link_rx_ready_o,
      .link_rx_data_i,
      .link_rx_last_i
  );

endmodule
