// Registers of an EM-4/EM-X PE, its counters, its interrupt, and the host's way to memory and to the input buffer.
//
// Host       one access at a time: request, then response, each valid/ready. Addresses are of bytes; their lowest three
//            bits do not count. The map is that of regs.toml.
// Latency    response 2 cycles after the request; of a memory word that is read 3, and longer as others have the port;
//            of SEND1 until the input buffer has room. The next request is taken 2 cycles after the response.
// Refused    an offset that is none, a word beyond memory, a write to what is read-only or with partial strobes, SEND1
//            in FATAL: the response is an error, nothing changes, and HOST_ERRORS counts.
// Counters   48 bits each in one memory. Events of a cycle are collected, and added in turn; what is read is exact up
//            to two cycles before.
// Refusals   of input buffer, matching unit and path, at once too; each reason is of one of them. The first packet is
//            kept, in this order.
// STATUS     a cause that comes as it is cleared stays set. `irq_o` follows by a cycle.
// Reset      all registers are 0; the counters are cleared in 16 cycles. Until then nothing is counted, and no request
//            taken.
// busy_o     low when no further edge changes anything, as long as no input is valid.
// Source     ours: the paper names no registers.
module emx_regs #(
    parameter int AddrW = 16  // words of memory, as a power of two, 14..20
) (
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

    input logic [9:0] pe_i,
    input logic [2:0] column_i,
    input logic [3:0] row_i,
    output logic run_o,

    output logic mem_valid_o,
    input logic mem_ready_i,
    output logic mem_write_o,
    output logic [21:0] mem_addr_o,
    output logic [39:0] mem_wdata_o,
    input logic [39:0] mem_rdata_i,

    output logic packet_valid_o,
    input logic packet_ready_i,
    output logic [77:0] packet_o,

    input logic tell_valid_i,
    input logic [31:0] tell_data_i,
    input logic fault_i,
    input logic [3:0] fault_cause_i,
    input logic [21:0] fault_pc_i,
    input logic [16:0] fault_code_i,
    input logic fatal_i,
    input logic [21:0] frame_i,
    input logic [13:0] depth_i,
    input logic [15:0] held_i,
    input logic [7:0] count_i,  // pulses, by code of Counts
    input logic [2:0] refused_valid_i,
    input logic [2:0][3:0] refused_reason_i,
    input logic [2:0][77:0] refused_packet_i
);
  if (AddrW < 14 || AddrW > 20) begin : gen_bad_addr
    emx_regs_AddrW_must_be_14_to_20 u_bad ();
  end
  localparam bit [2:0] Idle = 3'd0;
  localparam bit [2:0] Access = 3'd1;
  localparam bit [2:0] Word = 3'd2;  // a memory word was read
  localparam bit [2:0] Respond = 3'd3;
  localparam bit [2:0] Ends = 3'd4;  // ready follows
  localparam int Causes = emx_pkg::StatusHostLsb + 1;
  localparam int Counters = 8;
  localparam int Errors = Counters;  // place of HOST_ERRORS; refusals are behind it, by reason
  localparam int Reasons = 5;
  localparam int Places = 16;
  localparam int CountW = 48;

  // -------------------------------------------------------------------------------------------------- what is accessed
  logic [2:0] state_q, state_d;
  logic write_q, whole_q;
  logic [23:3] addr_q;
  logic [63:0] wdata_q;
  logic access, is_memory, is_counts, is_refusals;
  logic [23:0] offset;
  assign access = state_q == Access;
  assign offset = {addr_q, 3'b0};
  assign is_memory = offset[23];
  assign is_counts = offset[23:6] == emx_pkg::Counts[23:6];
  assign is_refusals = offset[23:6] == emx_pkg::Refusals[23:6];

  logic known, writable;
  logic [63:0] short_word;
  logic [Causes-1:0] status, mask_q;
  logic [38:0] send0_q;
  logic [77:0] refused_q;
  logic [31:0] tell_q;
  logic [13:0] peak_q;
  always_comb begin
    known = 1'b1;
    writable = 1'b0;
    short_word = '0;
    case (offset)
      emx_pkg::Pe: begin
        short_word[emx_pkg::PeNumberLsb+:10] = pe_i;
        short_word[emx_pkg::PeColumnLsb+:3] = column_i;
        short_word[emx_pkg::PeRowLsb+:4] = row_i;
      end
      emx_pkg::Control: {writable, short_word[emx_pkg::ControlRunLsb]} = {1'b1, run_o};
      emx_pkg::Status: {writable, short_word[Causes-1:0]} = {1'b1, status};
      emx_pkg::Mask: {writable, short_word[Causes-1:0]} = {1'b1, mask_q};
      emx_pkg::Fault: begin
        short_word[emx_pkg::FaultPcLsb+:emx_pkg::FaultPcW] = fault_pc_i;
        short_word[emx_pkg::FaultCauseLsb+:emx_pkg::FaultCauseW] = fault_cause_i;
        short_word[emx_pkg::FaultCodeLsb+:emx_pkg::FaultCodeW] = fault_code_i;
      end
      emx_pkg::Frame: short_word[21:0] = frame_i;
      emx_pkg::Tell: short_word[31:0] = tell_q;
      emx_pkg::Send0: {writable, short_word[38:0]} = {1'b1, send0_q};
      emx_pkg::Send1: {writable, known} = 2'b10;
      emx_pkg::Refused0: short_word[38:0] = refused_q[77:39];
      emx_pkg::Refused1: short_word[38:0] = refused_q[38:0];
      emx_pkg::Depth: begin
        short_word[emx_pkg::DepthNowLsb+:14]  = depth_i;
        short_word[emx_pkg::DepthPeakLsb+:14] = peak_q;
      end
      emx_pkg::Waiting: short_word[15:0] = held_i;
      emx_pkg::HostErrors: ;
      default: known = is_counts || is_refusals;
    endcase
    if (is_memory) {known, writable} = {2{addr_q[22:3] >> AddrW == '0}};
  end

  // -------------------------------------------------------------------------------------------------------- the access
  logic is_send1, sends, refuses, stuck, put;
  assign is_send1 = offset == emx_pkg::Send1;
  assign refuses = write_q ? !writable || !whole_q : !known;
  assign sends = is_send1 && write_q && !refuses;
  assign stuck = sends && fatal_i;
  assign put = access && write_q && !refuses;
  assign mem_valid_o = access && is_memory && !refuses;
  assign mem_write_o = write_q;
  assign mem_addr_o = 22'(addr_q[22:3]);
  assign mem_wdata_o = wdata_q[39:0];
  assign packet_valid_o = access && sends && !stuck;
  assign packet_o = {send0_q, wdata_q[38:0]};

  always_comb begin
    state_d = state_q;
    case (state_q)
      Idle: if (host_req_valid_i && host_req_ready_o) state_d = Access;
      Access: begin
        state_d = Respond;
        if (mem_valid_o) state_d = !mem_ready_i ? Access : write_q ? Respond : Word;
        if (packet_valid_o && !packet_ready_i) state_d = Access;
      end
      Word: state_d = Respond;
      Respond: if (host_rsp_ready_i) state_d = Ends;
      default: state_d = Idle;
    endcase
  end

  logic clearing_q;
  logic [CountW-1:0] sum;
  logic failed;
  assign failed = access && (refuses || stuck);
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      state_q <= Idle;
      host_req_ready_o <= 1'b0;
      host_rsp_valid_o <= 1'b0;
    end else begin
      state_q <= state_d;
      host_req_ready_o <= state_d == Idle && !clearing_q;
      host_rsp_valid_o <= state_d == Respond;
    end
    if (host_req_ready_o) begin
      write_q <= host_req_write_i;
      whole_q <= host_req_wstrb_i == '1;
      addr_q  <= host_req_addr_i[23:3];
      wdata_q <= host_req_wdata_i;
    end
    if (access) begin
      host_rsp_err_o   <= failed;
      host_rsp_rdata_o <= short_word;
      if (is_counts) host_rsp_rdata_o[CountW-1:0] <= sum;
      if ((is_refusals && offset[5:3] != '0) || offset == emx_pkg::HostErrors)
        host_rsp_rdata_o[15:0] <= sum[CountW-1:16] != '0 ? '1 : sum[15:0];
      if (failed || write_q) host_rsp_rdata_o <= '0;
    end
    if (state_q == Word) host_rsp_rdata_o[39:0] <= mem_rdata_i;
  end

  // ----------------------------------------------------------------------------------------------------- the registers
  logic [Causes-1:0] sticky_q, sets, clears;
  always_comb begin
    status = sticky_q;
    status[emx_pkg::StatusHaltedLsb] = fault_i;
    status[emx_pkg::StatusFatalLsb] = fatal_i;
    sets = '0;
    sets[emx_pkg::StatusToldLsb] = tell_valid_i;
    sets[emx_pkg::StatusRefusedLsb] = refused_valid_i != '0;
    sets[emx_pkg::StatusHostLsb] = failed;
    clears = (put && offset == emx_pkg::Status) ? wdata_q[Causes-1:0] : '0;
  end
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      run_o <= 1'b0;
      irq_o <= 1'b0;
      sticky_q <= '0;
      mask_q <= '0;
      send0_q <= '0;
      tell_q <= '0;
      peak_q <= '0;
      refused_q <= '0;
    end else begin
      if (put && offset == emx_pkg::Control) run_o <= wdata_q[emx_pkg::ControlRunLsb];
      if (put && offset == emx_pkg::Mask) mask_q <= wdata_q[Causes-1:0];
      if (put && offset == emx_pkg::Send0) send0_q <= wdata_q[38:0];
      irq_o <= (status & mask_q) != '0;
      sticky_q <= sticky_q & ~clears | sets;
      if (tell_valid_i) tell_q <= tell_data_i;
      if (depth_i > peak_q) peak_q <= depth_i;
      if (!sticky_q[emx_pkg::StatusRefusedLsb] || clears[emx_pkg::StatusRefusedLsb]) begin
        if (refused_valid_i[2]) refused_q <= refused_packet_i[2];
        if (refused_valid_i[1]) refused_q <= refused_packet_i[1];
        if (refused_valid_i[0]) refused_q <= refused_packet_i[0];
      end
    end
  end

  // ------------------------------------------------------------------------------------------------------ the counters
  // Events by place; each place is visited in turn. The host goes first, in every fourth cycle at most: so five bits
  // hold what comes between.
  logic [Counters+Reasons-1:0] events, events_q;
  logic [Counters+Reasons-1:0][4:0] new_q;
  logic [3:0] turn_q, place;
  logic is_count;
  logic [4:0] recent;
  logic [CountW-1:0] counts_q[Places];
  always_comb begin
    events = '0;
    events[Counters-1:0] = count_i;
    events[Errors] = failed;
    for (int i = 0; i < 3; i++) begin
      for (int reason = 1; reason < Reasons; reason++) begin
        if (refused_valid_i[i] && refused_reason_i[i] == 4'(reason)) events[Errors+reason] = 1'b1;
      end
    end
  end
  assign is_count = access && (is_counts || is_refusals || offset == emx_pkg::HostErrors);
  always_comb begin
    place = turn_q;
    if (access && is_counts) place = {1'b0, offset[5:3]};
    if (access && is_refusals) place = {1'b1, offset[5:3]};
    if (access && offset == emx_pkg::HostErrors) place = 4'(Errors);
  end
  always_comb begin
    recent = '0;
    for (int i = 0; i < Counters + Reasons; i++) if (place == 4'(i)) recent = new_q[i];
  end
  assign sum = clearing_q ? '0 : counts_q[place] + CountW'(recent);
  always_ff @(posedge clk_i) begin
    counts_q[place] <= sum;
    if (rst_i) begin
      turn_q <= '0;
      clearing_q <= 1'b1;
    end else begin
      if (!is_count && (clearing_q || new_q != '0)) turn_q <= turn_q + 4'd1;
      if (turn_q == '1) clearing_q <= 1'b0;
    end
    if (rst_i || clearing_q) begin
      events_q <= '0;
      new_q <= '0;
    end else begin
      events_q <= events;
      for (int i = 0; i < Counters + Reasons; i++) begin
        new_q[i] <= (place == 4'(i) ? '0 : new_q[i]) + 5'(events_q[i]);
      end
    end
  end

  logic unused_addr;
  assign unused_addr = ^host_req_addr_i[2:0];
  assign busy_o = state_q != Idle || clearing_q || !host_req_ready_o || events_q != '0 || new_q != '0 ||
                  irq_o != ((status & mask_q) != '0) || depth_i > peak_q;
endmodule
