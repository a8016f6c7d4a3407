// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+ and MC, host registers of both chips: settings of the operating system, state, faults to be served, and
// the interrupt.
//
// Host       32-bit request (valid/ready) and response (valid/ready, `host_rsp_*`); one at a time. An unknown offset, a
//            write to a read-only register or with partial strobes gives `host_rsp_err_o` and changes nothing.
// Registers  docs/machines/ap1000p-formats.md, "Registers" (generated from regs.toml). A limit above 64 is written as
//            64. If two messages are broken in one cycle, the request is shown as the last one. Stray responses are
//            counted here, to 65535.
// Causes     are kept until written with 1; FAULT, FILL and FULL are set again while they last. `irq_o` is high while
//            an enabled one is kept.
// Faults     of five units are shown as they are; SERVE gives `retry_o` and `abort_o` pulses.
// Rings      software's settings of the ring buffers. Where the next message goes is ap1000p_ring's; a pulse sets it.
// Demap      is handed to the MMU; `forget_o`, a pulse when it is taken, is for units that keep translations. After
//            demaps that are requested while another is not done (STATUS says whether), one of everything follows.
// Tags       a write of WTP_UPDATE is handed to the Write Through Pages' tags. Its response comes when they have taken
//            it.
// Latency    1 cycle from request to response; inputs are seen 1 cycle late.
// Reset      defaults: one cell at (0, 0), no region, no cause enabled.
// busy_o     low: only a response may be due. High for 7 cycles after a write, a new cause or a reset, while the
//            effects settle.
// Source     what there is: the machine's Linux port (context, range, spill, counters, modes); offsets and causes are
//            our own.
module ap1000p_regs (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,
    output logic irq_o,

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

    output logic [1:0][7:0] cell_o,  // [0] x, [1] y
    output logic [1:0][7:0] size_o,
    output logic [1:0][7:0] last_o,  // highest coordinate
    output logic [11:0] context_o,
    output logic [3:0][7:0] range_o,  // low and high x, low and high y
    output logic [31:0] table_o,
    output logic [7:0] base_o,
    output logic [6:0] limit_o,
    output logic pause_o,
    output logic through_o,
    output logic block_o,
    output logic [1:0] creg_fault_o,
    output logic [1:0] drop_o,
    output logic [3:0] peek_o,
    output logic release_valid_o,
    output logic [16:0] release_count_o,

    output logic [31:0] cache_o,
    output logic [15:0] low_o,
    output logic [15:0] high_o,
    output logic upd_valid_o,
    input logic upd_ready_i,
    output logic [2:0] upd_kind_o,
    output logic [24:0] upd_line_o,
    input logic [1:0] loaded_i,

    output logic demap_valid_o,
    input logic demap_ready_i,
    output logic demap_all_o,
    output logic [31:0] demap_addr_o,
    output logic forget_o,

    output logic [2:0] ring_on_o,  // ap1000p_ring
    output logic [2:0][1:0] ring_size_o,
    output logic [2:0][11:0] ring_context_o,
    output logic [2:0][17:0] ring_read_o,
    output logic [2:0] ring_set_o,
    output logic [26:0] ring_at_o,
    input logic [2:0][26:0] ring_write_i,
    input logic [2:0] ring_busy_i,

    // 0 requests sent, 1 replies sent, 2 requests received, 3 replies received, 4 word unit
    input logic [4:0] fault_i,
    input logic [4:0][2:0] fault_reason_i,
    input logic [4:0] fault_write_i,
    input logic [4:0] fault_system_i,
    input logic [4:0][11:0] fault_context_i,
    input logic [4:0][31:0] fault_addr_i,
    output logic [4:0] retry_o,
    output logic [4:0] abort_o,

    input logic cell_busy_i,
    input logic stable_i,
    input logic fill_i,
    input logic full_i,
    input logic [4:0] spilled_i,
    input logic [16:0] held_i,
    input logic [15:0] position_i,
    input logic [15:0] acks_i,
    input logic [5:0] pulse_i,  // REFUSED to QUEUE, in the order of CAUSE
    input logic [1:0] stray_i,  // pulses: an acknowledgement, a load's reply
    input logic [15:0] refused_count_i,
    input logic [15:0] refused_page_i,
    input logic [1:0] refused_cause_i,
    input logic [1:0][15:0] count_of_broken_i,
    input logic [1:0] broken_valid_i,
    input logic [1:0][3:0] broken_reason_i,
    input logic [1:0][31:0] broken_what_i,  // {kind, y, x}
    input logic [1:0][2:0] open_count_i,
    input logic [1:0][15:0] open_page_i,
    input logic [31:0] peek_data_i
);
  // ---------------------------------------------------------------------------------------------------- write and read
  logic accept, write, update, known, writable, rsp_valid_q;
  logic [7:0] addr;
  logic [31:0] wdata, rdata;
  assign accept = host_req_valid_i && host_req_ready_o;
  assign addr   = host_req_addr_i;
  assign wdata  = host_req_wdata_i;
  assign write  = accept && host_req_write_i && host_req_wstrb_i == 4'hF;

  logic [9:0] pending_q, enable_q;
  logic [1:0][15:0] stray_q;
  logic [31:0] what_q;
  logic [3:0] why_q;
  logic [4:0] mode_q;
  logic demap_q, again_q, demap;
  logic [2:0] ring_write_at, ring_mode_at, ring_read_at;
  for (genvar i = 0; i < 3; i++) begin : gen_ring_at
    assign ring_write_at[i] = addr == ap1000p_pkg::Ring0Write + 8'(16 * i);
    assign ring_mode_at[i]  = addr == ap1000p_pkg::Ring0Mode + 8'(16 * i);
    assign ring_read_at[i]  = addr == ap1000p_pkg::Ring0Read + 8'(16 * i);
  end

  always_comb begin
    known = 1'b1;
    writable = 1'b0;
    rdata = '0;
    case (addr)
      ap1000p_pkg::Cell: {writable, rdata} = {1'b1, 16'b0, cell_o};
      ap1000p_pkg::Size: {writable, rdata} = {1'b1, 16'b0, size_o};
      ap1000p_pkg::Context: {writable, rdata} = {1'b1, 20'b0, context_o};
      ap1000p_pkg::Range: {writable, rdata} = {1'b1, range_o};
      ap1000p_pkg::ContextTable: {writable, rdata} = {1'b1, table_o};
      ap1000p_pkg::SpillRegion: {writable, rdata} = {1'b1, 17'b0, limit_o, base_o};
      ap1000p_pkg::Mode: begin
        writable = 1'b1;
        rdata[ap1000p_pkg::ModePauseLsb+:3] = {block_o, through_o, pause_o};
        rdata[ap1000p_pkg::ModeFaultHostLsb+:2] = creg_fault_o;
      end
      ap1000p_pkg::Status: begin
        rdata[ap1000p_pkg::StatusStableLsb+:5]  = {demap_q, cell_busy_i, full_i, fill_i, stable_i};
        rdata[ap1000p_pkg::StatusSpilledLsb+:5] = spilled_i;
      end
      ap1000p_pkg::Cause: {writable, rdata[9:0]} = {1'b1, pending_q};
      ap1000p_pkg::Enable: {writable, rdata[9:0]} = {1'b1, enable_q};
      ap1000p_pkg::Faults: rdata[4:0] = fault_i;
      ap1000p_pkg::Serve, ap1000p_pkg::Demap, ap1000p_pkg::DemapAll, ap1000p_pkg::Drop, ap1000p_pkg::Release:
      writable = 1'b1;
      ap1000p_pkg::Acks: rdata[15:0] = acks_i;
      ap1000p_pkg::StrayCount: rdata = stray_q;
      ap1000p_pkg::RefusedCount: rdata = {refused_page_i, refused_count_i};
      ap1000p_pkg::BrokenCount: rdata = count_of_broken_i;
      ap1000p_pkg::BrokenWhat: rdata = what_q;
      ap1000p_pkg::Open: rdata[13:0] = {refused_cause_i, why_q, 1'b0, open_count_i[1], 1'b0, open_count_i[0]};
      ap1000p_pkg::OpenPage: rdata = open_page_i;
      ap1000p_pkg::Peek: {writable, rdata} = {1'b1, peek_data_i};
      ap1000p_pkg::Held: rdata[16:0] = held_i;
      ap1000p_pkg::Position: rdata[15:0] = position_i;
      ap1000p_pkg::WtpCache: {writable, rdata} = {1'b1, cache_o};
      ap1000p_pkg::WtpPages: {writable, rdata} = {1'b1, high_o, low_o};
      ap1000p_pkg::WtpUpdate: writable = 1'b1;
      ap1000p_pkg::Loaded: rdata[1:0] = loaded_i;
      ap1000p_pkg::Id: rdata = ap1000p_pkg::IdValue;
      default: known = 1'b0;
    endcase
    for (int i = 0; i < 5; i++) begin
      // Without a fault they read as zero.
      if (addr == ap1000p_pkg::Why0 + 8'(8 * i)) begin
        known = 1'b1;
        if (fault_i[i]) begin
          rdata = {fault_context_i[i], 15'b0, fault_system_i[i], fault_write_i[i], fault_reason_i[i]};
        end
      end
      if (addr == ap1000p_pkg::Where0 + 8'(8 * i)) begin
        known = 1'b1;
        if (fault_i[i]) rdata = fault_addr_i[i];
      end
    end
    for (int i = 0; i < 3; i++) begin
      if (ring_write_at[i]) {known, writable, rdata} = {2'b11, 5'b0, ring_write_i[i]};
      if (ring_mode_at[i]) begin
        {known, writable, rdata} = {2'b11, ring_context_o[i], 16'b0, ring_busy_i[i], ring_on_o[i], ring_size_o[i]};
      end
      if (ring_read_at[i]) {known, writable, rdata} = {2'b11, 14'b0, ring_read_o[i]};
    end
  end

  assign update = write && addr == ap1000p_pkg::WtpUpdate;
  assign host_req_ready_o = !rsp_valid_q && !upd_valid_o;
  assign host_rsp_valid_o = rsp_valid_q;
  always_ff @(posedge clk_i) begin
    if (accept) begin
      host_rsp_rdata_o <= host_req_write_i ? 32'b0 : rdata;
      host_rsp_err_o   <= !known || (host_req_write_i && !(writable && host_req_wstrb_i == 4'hF));
    end
    if (update) begin
      upd_kind_o <= wdata[ap1000p_pkg::WtpUpdateKindLsb+:3];
      upd_line_o <= wdata[24:0];
    end
    if (rst_i) {rsp_valid_q, upd_valid_o} <= '0;
    else begin
      upd_valid_o <= update || (upd_valid_o && !upd_ready_i);
      rsp_valid_q <= (accept && !update) || (upd_valid_o && upd_ready_i) || (rsp_valid_q && !host_rsp_ready_i);
    end
  end

  // ------------------------------------------------------------------------------------------------- control registers
  assign {creg_fault_o, block_o, through_o, pause_o} = mode_q;
  always_ff @(posedge clk_i) begin
    if (write) begin
      case (addr)
        ap1000p_pkg::Cell: cell_o <= wdata[15:0];
        ap1000p_pkg::Size: size_o <= wdata[15:0];
        ap1000p_pkg::Context: context_o <= wdata[11:0];
        ap1000p_pkg::Range: range_o <= wdata;
        ap1000p_pkg::ContextTable: table_o <= {wdata[31:14], 14'b0};
        // 64 and above are written as 64.
        ap1000p_pkg::SpillRegion: {limit_o, base_o} <= {wdata[14], wdata[13:8] & ~{6{wdata[14]}}, wdata[7:0]};
        ap1000p_pkg::Mode: mode_q <= {wdata[ap1000p_pkg::ModeFaultHostLsb+:2], wdata[ap1000p_pkg::ModePauseLsb+:3]};
        ap1000p_pkg::Enable: enable_q <= wdata[9:0];
        ap1000p_pkg::Peek: peek_o <= wdata[3:0];
        ap1000p_pkg::WtpCache: cache_o <= {wdata[31:21], 21'b0};
        ap1000p_pkg::WtpPages: {high_o, low_o} <= wdata;
        default: ;
      endcase
    end
    for (int i = 0; i < 3; i++) begin
      if (write && ring_mode_at[i]) {ring_context_o[i], ring_on_o[i], ring_size_o[i]} <= {wdata[31:20], wdata[2:0]};
      if (write && ring_read_at[i]) ring_read_o[i] <= wdata[17:0];
    end
    for (int axis = 0; axis < 2; axis++) last_o[axis] <= size_o[axis] - 8'd1;
    release_count_o <= wdata[16:0];
    ring_at_o <= wdata[26:0];
    if (!demap_q || demap_ready_i) begin
      demap_addr_o <= wdata;
      demap_all_o  <= again_q || addr == ap1000p_pkg::DemapAll;
    end
    if (rst_i) begin
      cell_o <= '0;
      size_o <= {2{8'd1}};
      context_o <= '0;
      range_o <= '0;
      table_o <= '0;
      {limit_o, base_o} <= '0;
      mode_q <= '0;
      enable_q <= '0;
      peek_o <= '0;
      {ring_on_o, ring_size_o, ring_context_o, ring_read_o} <= '0;
      {cache_o, high_o, low_o} <= '0;
    end
  end

  // ------------------------------------------------------------------------------------------ pulses, demap, interrupt
  logic serve, clear;
  logic [2:0] settle_q;  // cycles
  logic [9:0] causes;
  assign demap = write && (addr == ap1000p_pkg::Demap || addr == ap1000p_pkg::DemapAll);
  assign serve = write && addr == ap1000p_pkg::Serve;
  assign clear = write && addr == ap1000p_pkg::Cause;
  assign demap_valid_o = demap_q;
  assign causes = {stray_i != '0, pulse_i, full_i, fill_i, fault_i != '0};
  assign busy_o = upd_valid_o || demap_q || settle_q != '0;

  always_ff @(posedge clk_i) begin
    if (broken_valid_i != '0) begin
      what_q <= broken_valid_i[0] ? broken_what_i[0] : broken_what_i[1];
      why_q  <= broken_valid_i[0] ? broken_reason_i[0] : broken_reason_i[1];
    end
    if (rst_i) begin
      {what_q, why_q, stray_q} <= '0;
      retry_o <= '0;
      abort_o <= '0;
      drop_o <= '0;
      release_valid_o <= 1'b0;
      ring_set_o <= '0;
      {demap_q, again_q} <= '0;
      settle_q <= '1;
      forget_o <= 1'b0;
      pending_q <= '0;
      irq_o <= 1'b0;
    end else begin
      for (int i = 0; i < 2; i++) if (stray_i[i] && stray_q[i] != '1) stray_q[i] <= stray_q[i] + 16'd1;
      retry_o <= serve ? wdata[ap1000p_pkg::ServeRetryLsb+:5] : '0;
      abort_o <= serve ? wdata[ap1000p_pkg::ServeAbortLsb+:5] : '0;
      drop_o <= (write && addr == ap1000p_pkg::Drop) ? wdata[1:0] : '0;
      release_valid_o <= write && addr == ap1000p_pkg::Release;
      ring_set_o <= {3{write}} & ring_write_at;
      demap_q <= demap || again_q || (demap_q && !demap_ready_i);
      again_q <= demap_q && !demap_ready_i && (demap || again_q);
      if (write || (causes & ~pending_q) != '0) settle_q <= '1;
      else if (settle_q != '0) settle_q <= settle_q - 3'd1;
      forget_o <= demap_q && demap_ready_i;
      pending_q <= (pending_q & ~(clear ? wdata[9:0] : 10'd0)) | causes;
      irq_o <= (pending_q & enable_q) != '0;
    end
  end
endmodule
