// SPDX-License-Identifier: MIT OR Apache-2.0
// Cenju-3 NIC: host registers, pending causes and the interrupt line.
//
// Handshake  one access at a time: request (valid/ready), then response (valid/ready), all outputs flip-flops. The
//            response to a write has the data 0.
// Latency    response 1 cycle after the request; a write acts at the same edge. `irq_o` follows its cause by 1 cycle.
// Misuse     an access to an offset that does not exist, a write to a read-only register or with partial strobes gets
//            `host_rsp_err_o` and changes nothing. A cause that is set and cleared in the same cycle stays set.
// Crossing   the network clock uses `s_gap_o` and `r_thresh_o` without synchronisers: they are quasi-static. Software
//            writes them only while the Sender (S_GAP) or the link (R_THRESH) is idle.
// Source     Header Queue Pointer, header and body buffers, interrupts: paper sections 3 and 4. Layout, counters and
//            everything else: ours (rtl/cenju3/regs.toml).
module cenju3_regs #(
    parameter int FifoWords = 512  // depth of the receive FIFO, 32 to 32768
) (
    input logic clk_i,
    input logic rst_i,

    input logic host_req_valid_i,
    output logic host_req_ready_o,
    input logic host_req_write_i,
    input logic [7:0] host_req_addr_i,
    input logic [31:0] host_req_wdata_i,
    input logic [3:0] host_req_wstrb_i,
    output logic host_rsp_valid_o,
    input logic host_rsp_ready_i,
    output logic [31:0] host_rsp_rdata_o,
    output logic host_rsp_err_o,
    output logic irq_o,

    // send queues
    output logic [1:0][31:0] sq_base_o,
    output logic [1:0][7:0] sq_put_o,
    output logic [1:0] sq_resume_o,  // pulse
    input logic [1:0][7:0] sq_get_i,
    input logic [1:0] sq_empty_i,
    input logic [1:0] sq_halted_i,
    input logic [1:0][3:0] sq_error_i,
    input logic [1:0] sq_sent_i,  // pulse: a parcel is out
    input logic [1:0] sq_failed_i,  // pulse: the queue halted
    input logic s_busy_i,

    // rings: 0 message headers, 1 DMA headers, 2 and 3 message bodies of kind 0 and 1
    output logic [3:0][31:0] ring_base_o,
    output logic [3:0][16:0] ring_size_o,
    output logic [3:0][15:0] ring_put_o,
    output logic [3:0][15:0] ring_put1_o,  // PUT + 1, around the ring
    output logic [15:0] dma_put2_o,  // of ring 1: PUT + 2
    output logic [3:0][15:0] ring_get_o,
    input logic [3:0] ring_publish_i,  // pulse: PUT + 1

    // receiver
    output logic run_o,
    output logic restart_o,  // pulse
    output logic halt_arrival_o,
    output logic [1:0] halt_end_o,  // 0 message, 1 DMA
    input logic halted_i,
    input logic [6:0] cause_i,  // pulses: arrival, end, overflow, bad header, bus error, truncated, overlong
    input logic drop_i,  // pulse: a packet was not delivered
    input logic drop_known_i,  // with its header word 0
    input logic [31:0] drop_head_i,
    input logic [15:0] level_i,  // receive FIFO, words

    output logic [ 7:0] node_id_o,
    output logic [ 7:0] s_gap_o,
    output logic [15:0] r_thresh_o
);
  if (FifoWords < 32 || FifoWords > 32768) begin : g_bad
    cenju3_regs_FifoWords_must_be_32_to_32768 u_bad ();
  end

  localparam logic [31:0] RingBase = {
    cenju3_pkg::Mbb1Base, cenju3_pkg::Mbb0Base, cenju3_pkg::DhbBase, cenju3_pkg::MhbBase
  };
  localparam logic [31:0] RingSize = {
    cenju3_pkg::Mbb1Size, cenju3_pkg::Mbb0Size, cenju3_pkg::DhbSize, cenju3_pkg::MhbSize
  };
  localparam logic [31:0] RingPut = {cenju3_pkg::Mbb1Put, cenju3_pkg::Mbb0Put, cenju3_pkg::DhbPut, cenju3_pkg::MhbPut};
  localparam logic [31:0] RingGet = {cenju3_pkg::Mbb1Get, cenju3_pkg::Mbb0Get, cenju3_pkg::DhbGet, cenju3_pkg::MhbGet};
  localparam logic [15:0] SqBase = {cenju3_pkg::Sq1Base, cenju3_pkg::Sq0Base};
  localparam logic [15:0] SqPut = {cenju3_pkg::Sq1Put, cenju3_pkg::Sq0Put};

  // ---------------------------------------------------------------------------------------------------- write and read
  logic accept, write;
  logic [ 7:0] addr;
  logic [31:0] wdata;
  assign accept = host_req_valid_i && host_req_ready_o;
  assign addr   = host_req_addr_i;
  assign wdata  = host_req_wdata_i;
  assign write  = accept && host_req_write_i && host_req_wstrb_i == 4'hF;

  logic ie_arrival_q, ie_end_q, ie_error_q, ie_send_q;
  logic [7:0] pending_q;
  logic [15:0] drop_q, sent_q;
  logic [31:0] err_q;

  logic known, writable;
  logic [31:0] rdata;
  always_comb begin
    known = 1'b1;
    writable = 1'b0;
    rdata = '0;
    case (addr)
      cenju3_pkg::Sq0Get: rdata[7:0] = sq_get_i[0];
      cenju3_pkg::Sq1Get: rdata[7:0] = sq_get_i[1];
      cenju3_pkg::SCtrl: writable = 1'b1;
      cenju3_pkg::SStat: begin
        rdata[cenju3_pkg::SStatBusyLsb] = s_busy_i;
        rdata[cenju3_pkg::SStatEmpty0Lsb] = sq_empty_i[0];
        rdata[cenju3_pkg::SStatEmpty1Lsb] = sq_empty_i[1];
        rdata[cenju3_pkg::SStatHalted0Lsb] = sq_halted_i[0];
        rdata[cenju3_pkg::SStatHalted1Lsb] = sq_halted_i[1];
        rdata[cenju3_pkg::SStatError0Lsb+:cenju3_pkg::SStatError0W] = sq_error_i[0];
        rdata[cenju3_pkg::SStatError1Lsb+:cenju3_pkg::SStatError1W] = sq_error_i[1];
        rdata[cenju3_pkg::SStatSentLsb+:cenju3_pkg::SStatSentW] = sent_q;
      end
      cenju3_pkg::RCtrl: begin
        writable = 1'b1;
        rdata[cenju3_pkg::RCtrlRunLsb] = run_o;
        rdata[cenju3_pkg::RCtrlHaltArrivalLsb] = halt_arrival_o;
        rdata[cenju3_pkg::RCtrlHaltEndMsgLsb] = halt_end_o[0];
        rdata[cenju3_pkg::RCtrlHaltEndDmaLsb] = halt_end_o[1];
        rdata[cenju3_pkg::RCtrlIeArrivalLsb] = ie_arrival_q;
        rdata[cenju3_pkg::RCtrlIeEndLsb] = ie_end_q;
        rdata[cenju3_pkg::RCtrlIeErrorLsb] = ie_error_q;
        rdata[cenju3_pkg::RCtrlIeSendLsb] = ie_send_q;
      end
      cenju3_pkg::RStat: begin
        writable = 1'b1;
        rdata[cenju3_pkg::RStatHaltedLsb] = halted_i;
        rdata[cenju3_pkg::RStatArrivalLsb+:8] = pending_q;
        rdata[cenju3_pkg::RStatLevelLsb+:cenju3_pkg::RStatLevelW] = level_i;
      end
      cenju3_pkg::NodeId: begin
        writable = 1'b1;
        rdata[cenju3_pkg::NodeIdPeLsb+:cenju3_pkg::NodeIdPeW] = node_id_o;
      end
      cenju3_pkg::SGap: begin
        writable = 1'b1;
        rdata[cenju3_pkg::SGapCyclesLsb+:cenju3_pkg::SGapCyclesW] = s_gap_o;
      end
      cenju3_pkg::RThresh: begin
        writable = 1'b1;
        rdata[cenju3_pkg::RThreshWordsLsb+:cenju3_pkg::RThreshWordsW] = r_thresh_o;
      end
      cenju3_pkg::RDrop: rdata[cenju3_pkg::RDropCountLsb+:cenju3_pkg::RDropCountW] = drop_q;
      cenju3_pkg::RErr: rdata = err_q;
      cenju3_pkg::Id: rdata = cenju3_pkg::IdValue;
      default: known = 1'b0;
    endcase
    for (int i = 0; i < 2; i++) begin
      if (addr == SqBase[8*i+:8]) {known, writable, rdata} = {2'b11, sq_base_o[i]};
      if (addr == SqPut[8*i+:8]) {known, writable, rdata} = {2'b11, 24'b0, sq_put_o[i]};
    end
    for (int i = 0; i < 4; i++) begin
      if (addr == RingBase[8*i+:8]) {known, writable, rdata} = {2'b11, ring_base_o[i]};
      if (addr == RingSize[8*i+:8]) {known, writable, rdata} = {2'b11, 15'b0, ring_size_o[i]};
      if (addr == RingPut[8*i+:8]) {known, writable, rdata} = {2'b10, 16'b0, ring_put_o[i]};
      if (addr == RingGet[8*i+:8]) {known, writable, rdata} = {2'b11, 16'b0, ring_get_o[i]};
    end
  end

  logic rsp_valid_q;
  assign host_req_ready_o = !rsp_valid_q;
  assign host_rsp_valid_o = rsp_valid_q;
  always_ff @(posedge clk_i) begin
    if (accept) begin
      rsp_valid_q <= 1'b1;
      host_rsp_rdata_o <= host_req_write_i ? 32'b0 : rdata;
      host_rsp_err_o <= !known || (host_req_write_i && !(writable && host_req_wstrb_i == 4'hF));
    end else if (host_rsp_ready_i) rsp_valid_q <= 1'b0;
    if (rst_i) rsp_valid_q <= 1'b0;
  end

  // ------------------------------------------------------------------------------------------------- control registers
  assign restart_o = write && addr == cenju3_pkg::RCtrl && wdata[cenju3_pkg::RCtrlRestartLsb];
  assign sq_resume_o = write && addr == cenju3_pkg::SCtrl
      ? {wdata[cenju3_pkg::SCtrlResume1Lsb], wdata[cenju3_pkg::SCtrlResume0Lsb]} : 2'b0;

  always_ff @(posedge clk_i) begin
    if (write && addr == cenju3_pkg::RCtrl) begin
      run_o <= wdata[cenju3_pkg::RCtrlRunLsb];
      halt_arrival_o <= wdata[cenju3_pkg::RCtrlHaltArrivalLsb];
      halt_end_o <= {wdata[cenju3_pkg::RCtrlHaltEndDmaLsb], wdata[cenju3_pkg::RCtrlHaltEndMsgLsb]};
      ie_arrival_q <= wdata[cenju3_pkg::RCtrlIeArrivalLsb];
      ie_end_q <= wdata[cenju3_pkg::RCtrlIeEndLsb];
      ie_error_q <= wdata[cenju3_pkg::RCtrlIeErrorLsb];
      ie_send_q <= wdata[cenju3_pkg::RCtrlIeSendLsb];
    end
    if (write && addr == cenju3_pkg::NodeId) node_id_o <= wdata[7:0];
    if (write && addr == cenju3_pkg::SGap) s_gap_o <= wdata[7:0];
    if (write && addr == cenju3_pkg::RThresh) r_thresh_o <= wdata[15:0];
    for (int i = 0; i < 2; i++) begin
      if (write && addr == SqBase[8*i+:8]) sq_base_o[i] <= {wdata[31:5], 5'b0};
      if (write && addr == SqPut[8*i+:8]) sq_put_o[i] <= wdata[7:0];
    end
    if (rst_i) begin
      run_o <= 1'b0;
      halt_arrival_o <= 1'b0;
      halt_end_o <= 2'b0;
      ie_arrival_q <= 1'b0;
      ie_end_q <= 1'b0;
      ie_error_q <= 1'b0;
      ie_send_q <= 1'b0;
      node_id_o <= '0;
      s_gap_o <= '0;
      r_thresh_o <= 16'(FifoWords - 16);
      sq_base_o <= '0;
      sq_put_o <= '0;
    end
  end

  // ------------------------------------------------------------------------------------------------------------- rings
  // The slots after PUT are registered, so that no user of them has to add.
  logic [3:0][15:0] put2_q;
  assign dma_put2_o = put2_q[1];
  for (genvar g = 0; g < 4; g++) begin : g_ring
    localparam int Align = (g < 2) ? 4 : 5;
    logic [16:0] put3;
    assign put3 = {1'b0, put2_q[g]} + 17'd1;
    always_ff @(posedge clk_i) begin
      if (write && addr == RingBase[8*g+:8]) ring_base_o[g] <= {wdata[31:Align], Align'(0)};
      if (write && addr == RingGet[8*g+:8]) ring_get_o[g] <= wdata[15:0];
      if (ring_publish_i[g]) begin
        ring_put_o[g] <= ring_put1_o[g];
        ring_put1_o[g] <= put2_q[g];
        put2_q[g] <= (put3 == ring_size_o[g]) ? 16'b0 : put3[15:0];
      end
      if (write && addr == RingSize[8*g+:8]) begin
        ring_size_o[g] <= wdata[16:0];
        ring_put_o[g] <= '0;
        ring_put1_o[g] <= (wdata[16:0] == 17'd1) ? 16'd0 : 16'd1;
        put2_q[g] <= (wdata[16:0] == 17'd1 || wdata[16:0] == 17'd2) ? 16'd0 : 16'd2;
        ring_get_o[g] <= '0;
      end
      if (rst_i) begin
        ring_base_o[g] <= '0;
        ring_size_o[g] <= '0;
        ring_put_o[g] <= '0;
        ring_put1_o[g] <= 16'd1;
        put2_q[g] <= 16'd2;
        ring_get_o[g] <= '0;
      end
    end
  end

  // --------------------------------------------------------------------------------------- causes, counters, interrupt
  logic [7:0] clear, enable;
  assign clear  = write && addr == cenju3_pkg::RStat ? wdata[cenju3_pkg::RStatArrivalLsb+:8] : 8'b0;
  assign enable = {ie_send_q, {5{ie_error_q}}, ie_end_q, ie_arrival_q};

  always_ff @(posedge clk_i) begin
    pending_q <= (pending_q & ~clear) | {|sq_failed_i, cause_i};
    irq_o <= |(pending_q & enable);
    if (drop_i && drop_q != '1) drop_q <= drop_q + 16'd1;
    if (drop_i && drop_known_i) err_q <= drop_head_i;
    sent_q <= sent_q + 16'(sq_sent_i[0]) + 16'(sq_sent_i[1]);
    if (rst_i) begin
      pending_q <= '0;
      irq_o <= 1'b0;
      drop_q <= '0;
      err_q <= '0;
      sent_q <= '0;
    end
  end
endmodule
