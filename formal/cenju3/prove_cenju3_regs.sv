// SPDX-License-Identifier: MIT OR Apache-2.0
// `cenju3_regs` forgets no cause of an interrupt and invents none, and a register changes by a legal write alone.
//
// - The interrupt line follows causes and enables, also when a cause is cleared as it is raised.
// - Restart and resume are exactly the writes to them.
// - Rings go round.
// - Status, drop and error registers report the events.
// - Every access has one response, an error where it should be refused.
//
// Nothing is assumed of the host or of the rest of the NIC.
module prove_cenju3_regs
  import cenju3_pkg::*;
#(
    parameter int FifoWords = 512
) (
    input logic clk_i,
    input logic rst_i,
    input logic req_valid_i,
    input logic req_write_i,
    input logic [7:0] req_addr_i,
    input logic [31:0] req_wdata_i,
    input logic [3:0] req_wstrb_i,
    input logic rsp_ready_i,
    input logic [1:0][7:0] sq_get_i,
    input logic [1:0] sq_empty_i,
    input logic [1:0] sq_halted_i,
    input logic [1:0][3:0] sq_error_i,
    input logic [1:0] sq_sent_i,
    input logic [1:0] sq_failed_i,
    input logic s_busy_i,
    input logic [3:0] ring_publish_i,
    input logic halted_i,
    input logic [6:0] cause_i,
    input logic drop_i,
    input logic drop_known_i,
    input logic [31:0] drop_head_i,
    input logic [15:0] level_i
);
  logic req_ready, rsp_valid, rsp_err, irq, run, restart, halt_arrival;
  logic [31:0] rsp_rdata;
  logic [1:0][31:0] sq_base;
  logic [1:0][7:0] sq_put;
  logic [1:0] sq_resume, halt_end;
  logic [3:0][31:0] ring_base;
  logic [3:0][16:0] ring_size;
  logic [3:0][15:0] ring_put, ring_put1, ring_get;
  logic [15:0] dma_put2;
  logic [7:0] node_id, s_gap;
  logic [15:0] thresh;

  cenju3_regs #(
      .FifoWords(FifoWords)
  ) dut (
      .clk_i,
      .rst_i,
      .host_req_valid_i(req_valid_i),
      .host_req_ready_o(req_ready),
      .host_req_write_i(req_write_i),
      .host_req_addr_i(req_addr_i),
      .host_req_wdata_i(req_wdata_i),
      .host_req_wstrb_i(req_wstrb_i),
      .host_rsp_valid_o(rsp_valid),
      .host_rsp_ready_i(rsp_ready_i),
      .host_rsp_rdata_o(rsp_rdata),
      .host_rsp_err_o(rsp_err),
      .irq_o(irq),
      .sq_base_o(sq_base),
      .sq_put_o(sq_put),
      .sq_resume_o(sq_resume),
      .sq_get_i,
      .sq_empty_i,
      .sq_halted_i,
      .sq_error_i,
      .sq_sent_i,
      .sq_failed_i,
      .s_busy_i,
      .ring_base_o(ring_base),
      .ring_size_o(ring_size),
      .ring_put_o(ring_put),
      .ring_put1_o(ring_put1),
      .dma_put2_o(dma_put2),
      .ring_get_o(ring_get),
      .ring_publish_i,
      .run_o(run),
      .restart_o(restart),
      .halt_arrival_o(halt_arrival),
      .halt_end_o(halt_end),
      .halted_i,
      .cause_i,
      .drop_i,
      .drop_known_i,
      .drop_head_i,
      .level_i,
      .node_id_o(node_id),
      .s_gap_o(s_gap),
      .r_thresh_o(thresh)
  );
  power_up u_power_up (.*);
  stream_rules #(
      .W(33)
  ) u_reply (
      .clk_i,
      .rst_i,
      .valid_i(rsp_valid),
      .ready_i(rsp_ready_i),
      .data_i ({rsp_err, rsp_rdata})
  );

  // An access; a write that may change something.
  logic accept, write;
  assign accept = req_valid_i && req_ready;
  assign write  = accept && req_write_i && req_wstrb_i == '1;

  // -------------------------------------------------------------------------------------------------------- interrupts
  logic [11:8] enable_q;
  logic [7:0] pending_q, causes, clears, mask;
  logic line_q;
  assign causes = {sq_failed_i != '0, cause_i};
  assign clears = (write && req_addr_i == RStat) ? req_wdata_i[15:8] : '0;
  assign mask = {
    enable_q[RCtrlIeSendLsb], {5{enable_q[RCtrlIeErrorLsb]}}, enable_q[RCtrlIeEndLsb], enable_q[RCtrlIeArrivalLsb]
  };
  always_ff @(posedge clk_i) begin
    if (write && req_addr_i == RCtrl) enable_q <= req_wdata_i[11:8];
    pending_q <= (pending_q & ~clears) | causes;
    line_q <= (pending_q & mask) != '0;
    if (rst_i) begin
      enable_q <= '0;
      pending_q <= '0;
      line_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      interrupt_as_reported : assert (irq == line_q);
      // Invariants for induction.
      pending_kept : assert (dut.pending_q == pending_q);
      enabled : assert ({dut.ie_send_q, dut.ie_error_q, dut.ie_end_q, dut.ie_arrival_q} == enable_q);
      interrupt_masked : cover (pending_q != '0 && mask != '0 && (pending_q & mask) == '0);
      interrupt_ends : cover (line_q && (pending_q & mask) == '0 && mask != '0);
      raised_as_cleared : cover ((clears & causes & pending_q) != '0);
    end
  end

  // --------------------------------------------------------------------------------------------- responses to accesses
  // The value that a read of a status must have returned.
  logic [15:0] drops_q, sent_q;
  logic [31:0] culprit_q, status, status_q;
  logic status_read_q;
  logic wait_q;  // for a response
  always_comb begin
    status = '0;
    case (req_addr_i)
      RStat: status = {level_i, pending_q, 7'd0, halted_i};
      RDrop: status = 32'(drops_q);
      RErr: status = culprit_q;
      SStat: status = {sent_q, sq_error_i, 3'd0, sq_halted_i, sq_empty_i, s_busy_i};
      default: ;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (drop_i && drops_q != '1) drops_q <= drops_q + 16'd1;
    if (drop_i && drop_known_i) culprit_q <= drop_head_i;
    sent_q <= sent_q + 16'($countones(sq_sent_i));
    if (rst_i) begin
      drops_q <= '0;
      culprit_q <= '0;
      sent_q <= '0;
    end
    if (accept) begin
      status_q <= status;
      status_read_q <= !req_write_i && req_addr_i inside {RStat, RDrop, RErr, SStat};
    end
    wait_q <= !rst_i && (accept || (wait_q && !(rsp_valid && rsp_ready_i)));
  end
  logic refused_q, readable, writable;
  always_comb begin
    readable = req_addr_i <= Id && req_addr_i[1:0] == '0;
    writable = readable && !(req_addr_i inside {
      Sq0Get, Sq1Get, SStat, MhbPut, DhbPut, Mbb0Put, Mbb1Put, RDrop, RErr, Id
    });
  end
  always_ff @(posedge clk_i) begin
    if (accept) refused_q <= req_write_i ? !(writable && req_wstrb_i == '1) : !readable;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_answer : assert (rsp_valid == wait_q);
      one_at_a_time : assert (req_ready == !wait_q);
      if (rsp_valid) begin
        refused_if_wrong : assert (rsp_err == refused_q);
        status_reported : assert (!status_read_q || rsp_rdata == status_q);
      end
      counted : assert ({dut.drop_q, dut.sent_q, dut.err_q} == {drops_q, sent_q, culprit_q});
      restart_is_written : assert (restart == (write && req_addr_i == RCtrl && req_wdata_i[RCtrlRestartLsb]));
      resume_is_written :
      assert (sq_resume == ((write && req_addr_i == SCtrl) ?
                            {req_wdata_i[SCtrlResume1Lsb], req_wdata_i[SCtrlResume0Lsb]} : '0));
    end
  end

  // ----------------------------------------------------------------------- registers: one, any, is picked and followed
  // Its address, and all its bits (bits that no register has stay 0), as written, or as they start.
  logic [7:0] pick_q;
  always_ff @(posedge clk_i) pick_q <= pick_q;
  logic [31:0] kept, at_reset, bits, holds;
  always_comb begin
    kept = '0;
    at_reset = '0;
    bits = '1;
    unique case (pick_q)
      Sq0Base, Sq1Base: begin
        kept = sq_base[pick_q==Sq1Base];
        bits = ~32'h1F;
      end
      Sq0Put, Sq1Put: begin
        kept = 32'(sq_put[pick_q==Sq1Put]);
        bits = 32'hFF;
      end
      MhbBase, DhbBase: begin
        kept = ring_base[pick_q==DhbBase];
        bits = ~32'hF;
      end
      Mbb0Base, Mbb1Base: begin
        kept = ring_base[2+2'(pick_q==Mbb1Base)];
        bits = ~32'h1F;
      end
      RCtrl: begin
        kept = {27'd0, halt_end, halt_arrival, 1'b0, run};
        bits = 32'h1D;
      end
      NodeId: begin
        kept = 32'(node_id);
        bits = 32'hFF;
      end
      SGap: begin
        kept = 32'(s_gap);
        bits = 32'hFF;
      end
      RThresh: begin
        kept = 32'(thresh);
        bits = 32'hFFFF;
        at_reset = 32'(FifoWords - 16);
      end
      default: bits = '0;
    endcase
  end
  logic [31:0] written_q;
  always_ff @(posedge clk_i) begin
    if (rst_i) written_q <= at_reset;
    else if (write && req_addr_i == pick_q) written_q <= req_wdata_i;
  end
  assign holds = written_q & bits;
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      as_written : assert (kept == holds);
    end
  end

  // ------------------------------------------------------------------------------------------------------------- rings
  for (genvar g = 0; g < 4; g++) begin : gen_ring
    localparam logic [7:0] Base = MhbBase + 8'(16 * g);
    logic [16:0] size_q;
    logic [15:0] put_q, get_q, put1, put2;
    assign put1 = (17'(put_q) + 17'd1 == size_q) ? '0 : put_q + 16'd1;
    assign put2 = (17'(put1) + 17'd1 == size_q) ? '0 : put1 + 16'd1;
    always_ff @(posedge clk_i) begin
      if (ring_publish_i[g]) put_q <= put1;
      if (write && req_addr_i == Base + 8'd12) get_q <= req_wdata_i[15:0];
      if (write && req_addr_i == Base + 8'd4) begin
        size_q <= req_wdata_i[16:0];
        put_q  <= '0;
        get_q  <= '0;
      end
      if (rst_i) begin
        size_q <= '0;
        put_q  <= '0;
        get_q  <= '0;
      end
    end
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        ring_as_reported : assert (ring_size[g] == size_q && ring_get[g] == get_q);
        ring_goes_round : assert ({ring_put[g], ring_put1[g]} == {put_q, put1} && (g != 1 || dma_put2 == put2));
        places_after : assert (dut.put2_q[g] == put2);
        round : cover (ring_publish_i[g] && put_q == 16'd2 && size_q == 17'd3);
      end
    end
  end
endmodule
