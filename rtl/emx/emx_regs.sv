// SPDX-License-Identifier: MIT OR Apache-2.0
// Registers of an EM-4/EM-X PE, its counters, its interrupt, and the host's way to memory and to the input buffer.
//
// Host       one access at a time: request, then response, each valid/ready. Addresses are of bytes; their lowest three
//            bits do not count. The map is that of regs.toml.
// Latency    response 2 cycles after the request; of a memory word that is read 3, and longer as others have the port;
//            of SEND1 until the input buffer has room. The next request is taken 2 cycles after the response.
// Refused    an offset that is none, a word beyond memory, a write to what is read-only or with partial strobes, SEND1
//            in FATAL: the response is an error, nothing changes, and HOST_ERRORS counts.
// Counters   48 bits each in one memory, but the lowest five of each in flip-flops as well. These count at once, and
//            the memory follows in turn; what is read is exact up to two cycles before.
// Refusals   of input buffer, matching unit and path, at once too; each reason is of one of them. The first packet is
//            kept, in this order.
// Reads      each register has flip-flops of its own that take its word, or zero where another is read: the answer is
//            all of them ORed, without a multiplexer.
// STATUS     a cause that comes as it is cleared stays set. `irq_o` follows by a cycle.
// Reset      all registers are 0; the counters are cleared in 16 cycles. Until then nothing is counted, and no request
//            taken.
// busy_o     low when no further edge changes anything that can be seen, as long as no input is valid.
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
  typedef enum logic [2:0] {
    Idle,
    Access,
    Word,  // a memory word was read
    Respond,
    Ends  // ready follows
  } state_e;
  localparam int Causes = emx_pkg::StatusHostLsb + 1;
  localparam int Registers = 14;
  localparam int WordW = emx_pkg::FaultCodeLsb + emx_pkg::FaultCodeW;  // of the longest register
  localparam int Places = 16;  // of counters: COUNTS, and behind them refusals by reason
  localparam int Refusals = 8;
  localparam int Reasons = 4;
  localparam int Errors = 13;  // place of HOST_ERRORS, with bits 2:0 of its offset in words
  localparam int CountW = 48;
  localparam int LowW = 5;

  // --------------------------------------------------------------------------------------- the request, as it is taken
  logic [Registers-1:0] named;  // by offset in words
  logic is_memory, is_counts, is_refusals, saturates, known, writable, refuses;
  always_comb begin
    is_memory = host_req_addr_i[23] && host_req_addr_i[22:3] >> AddrW == '0;
    is_counts = host_req_addr_i[23:6] == emx_pkg::Counts[23:6];
    is_refusals = host_req_addr_i[23:6] == emx_pkg::Refusals[23:6];
    named = '0;
    if (host_req_addr_i[23:7] == '0) begin
      for (int i = 0; i < Registers; i++) named[i] = host_req_addr_i[6:3] == 4'(i);
    end
    saturates = named[emx_pkg::HostErrors[6:3]];
    for (int i = 1; i <= Reasons; i++) if (is_refusals && host_req_addr_i[5:3] == 3'(i)) saturates = 1'b1;
    known = is_counts || is_refusals || (named != '0 && !named[emx_pkg::Send1[6:3]]);
    writable = named[emx_pkg::Control[6:3]] || named[emx_pkg::Status[6:3]] || named[emx_pkg::Mask[6:3]] ||
               named[emx_pkg::Send0[6:3]] || named[emx_pkg::Send1[6:3]];
    if (is_memory) {known, writable} = '1;
  end
  assign refuses = host_req_write_i ? !writable || host_req_wstrb_i != '1 : !known;

  logic refuses_q, write_q, memory_q, registers_q;  // refused; a write; to memory, to a register
  logic [Registers-1:0] hides_q;  // is not read
  logic counts_q, saturates_q;  // is read
  logic [22:3] addr_q;
  logic [39:0] wdata_q;
  always_ff @(posedge clk_i) begin
    if (host_req_ready_o) begin
      refuses_q <= refuses;
      write_q <= host_req_write_i;
      memory_q <= is_memory && !refuses;
      registers_q <= !is_memory && !refuses;
      hides_q <= host_req_write_i ? '1 : ~named;
      counts_q <= is_counts && !host_req_write_i;
      saturates_q <= saturates && !host_req_write_i;
      addr_q <= host_req_addr_i[22:3];
      wdata_q <= host_req_wdata_i[39:0];
    end
  end

  // -------------------------------------------------------------------------------------------------------- the access
  state_e state_q, state_d;
  logic access, sends, stuck, put, puts_control, puts_status, puts_mask, puts_send0;
  logic [38:0] send0_q;
  assign access = state_q == Access;
  assign sends = registers_q && write_q && addr_q[6:3] == emx_pkg::Send1[6:3];
  assign stuck = sends && fatal_i;
  assign put = access && write_q && registers_q;
  assign puts_control = put && addr_q[6:3] == emx_pkg::Control[6:3];
  assign puts_status = put && addr_q[6:3] == emx_pkg::Status[6:3];
  assign puts_mask = put && addr_q[6:3] == emx_pkg::Mask[6:3];
  assign puts_send0 = put && addr_q[6:3] == emx_pkg::Send0[6:3];
  assign mem_valid_o = access && memory_q;
  assign mem_write_o = write_q;
  assign mem_addr_o = 22'(addr_q);
  assign mem_wdata_o = wdata_q;
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

  logic clearing_q, failed;
  assign failed = access && (refuses_q || stuck);
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
    if (access) host_rsp_err_o <= failed;
  end

  // ----------------------------------------------------------------------------------------------------- the registers
  logic [Causes-1:0] status, mask_q, sticky_q, sets, clears;
  logic [31:0] tell_q;
  logic [13:0] peak_q;
  logic keeps, keeps_new;
  logic [2:0] first;
  logic [2:0][77:0] kept_q;  // by who refused it; those of the others are 0
  logic [77:0] kept;
  always_comb begin
    status = sticky_q;
    status[emx_pkg::StatusHaltedLsb] = fault_i;
    status[emx_pkg::StatusFatalLsb] = fatal_i;
    sets = '0;
    sets[emx_pkg::StatusToldLsb] = tell_valid_i;
    sets[emx_pkg::StatusRefusedLsb] = refused_valid_i != '0;
    sets[emx_pkg::StatusHostLsb] = failed;
    clears = puts_status ? wdata_q[Causes-1:0] : '0;
  end
  assign keeps = !sticky_q[emx_pkg::StatusRefusedLsb] || clears[emx_pkg::StatusRefusedLsb];
  assign keeps_new = keeps && refused_valid_i != '0;
  assign first = refused_valid_i & -refused_valid_i;
  assign kept = kept_q[0] | kept_q[1] | kept_q[2];
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      run_o <= 1'b0;
      irq_o <= 1'b0;
      sticky_q <= '0;
      mask_q <= '0;
      send0_q <= '0;
      tell_q <= '0;
      peak_q <= '0;
    end else begin
      if (puts_control) run_o <= wdata_q[emx_pkg::ControlRunLsb];
      if (puts_mask) mask_q <= wdata_q[Causes-1:0];
      if (puts_send0) send0_q <= wdata_q[38:0];
      irq_o <= (status & mask_q) != '0;
      sticky_q <= sticky_q & ~clears | sets;
      if (tell_valid_i) tell_q <= tell_data_i;
      if (depth_i > peak_q) peak_q <= depth_i;
    end
    for (int i = 0; i < 3; i++) begin
      if (rst_i || (keeps_new && !first[i])) kept_q[i] <= '0;
      else if (keeps_new) kept_q[i] <= refused_packet_i[i];
    end
  end

  // ------------------------------------------------------------------------------------------------------ the counters
  // The low bits of each are a code that counts with a shift. With its difference to the memory's low bits, the
  // memory has the whole count again. Each cycle with an event goes on by a place but where the host reads, in every
  // fourth at most: between two visits of a place there are fewer events than the low bits tell apart.
  function automatic logic [LowW-1:0] next(input logic [LowW-1:0] code);
    next = {code[LowW-2:0], code[4] ^ code[1] ^ (code[LowW-2:0] == '0)};
  endfunction

  logic [Places-1:0] events, events_q;
  logic [1:0] from;  // who refuses for a reason
  logic [Places-1:0][LowW-1:0] codes_q;
  logic [3:0] turn_q, turn_d, place_q, place_d, written_q;
  logic [Places-1:0] here_q;  // place, one-hot
  logic [LowW-1:0] code, step, low;
  logic [CountW-1:0] memory[Places];
  logic [CountW-1:0] old, sum, sum_q;
  logic reads_d, reads_q, ends_q, counts_any_q;  // the host reads one
  always_comb begin
    from = '0;
    events = '0;
    events[7:0] = count_i;
    events[Errors] = failed;
    for (int reason = 1; reason <= Reasons; reason++) begin
      from = (reason == emx_pkg::ReasonOverrun) ? 2'd1 : (reason == emx_pkg::ReasonNowhere) ? 2'd2 : 2'd0;
      events[Refusals+reason] = refused_valid_i[from] && refused_reason_i[from] == 4'(reason);
    end
  end
  assign reads_d = host_req_valid_i && host_req_ready_o && !host_req_write_i && (is_counts || saturates);
  assign turn_d  = turn_q + 4'(!reads_q && (clearing_q || counts_any_q));
  assign place_d = reads_d ? {saturates, host_req_addr_i[5:3]} : turn_d;
  always_comb begin
    code = '0;
    for (int i = 0; i < Places; i++) code = code | codes_q[i] & {LowW{here_q[i]}};
    low  = '0;
    step = '0;
    for (int i = 1; i < 2 ** LowW; i++) begin
      step = next(step);
      if (code == step) low = LowW'(i);
    end
  end
  assign old = memory[place_q];
  always_comb begin
    sum = old + {(CountW - LowW)'(0), ~low};  // a carry where the low bits have begun again
    sum[LowW-1:0] = low;
  end
  always_ff @(posedge clk_i) begin
    if (!ends_q) memory[written_q] <= sum_q;
    written_q <= place_q;
    sum_q <= clearing_q ? '0 : sum;
    ends_q <= !clearing_q && place_q[3] && old[16];  // one of 16 bits that is full stays so
    for (int i = 0; i < Places; i++) here_q[i] <= place_d == 4'(i);
    reads_q <= reads_d && !rst_i;
    if (rst_i) begin
      turn_q <= '0;
      place_q <= '0;
      clearing_q <= 1'b1;
    end else begin
      turn_q  <= turn_d;
      place_q <= place_d;
      if (turn_q == '1) clearing_q <= 1'b0;
    end
    if (rst_i || clearing_q) begin
      events_q <= '0;
      counts_any_q <= 1'b0;
      codes_q <= '0;
    end else begin
      events_q <= events;
      counts_any_q <= events != '0;
      for (int i = 0; i < Places; i++) begin
        if (events_q[i]) codes_q[i] <= next(codes_q[i]);
      end
    end
  end

  // -------------------------------------------------------------------------------------------------------- the answer
  logic [Registers-1:0][WordW-1:0] words, words_q;
  logic [CountW-1:0] count_q;
  logic [39:0] word_q;
  logic full_q;
  always_comb begin
    words = '0;
    words[emx_pkg::Pe[6:3]][emx_pkg::PeNumberLsb+:10] = pe_i;
    words[emx_pkg::Pe[6:3]][emx_pkg::PeColumnLsb+:3] = column_i;
    words[emx_pkg::Pe[6:3]][emx_pkg::PeRowLsb+:4] = row_i;
    words[emx_pkg::Control[6:3]][emx_pkg::ControlRunLsb] = run_o;
    words[emx_pkg::Status[6:3]][Causes-1:0] = status;
    words[emx_pkg::Mask[6:3]][Causes-1:0] = mask_q;
    words[emx_pkg::Fault[6:3]][emx_pkg::FaultPcLsb+:emx_pkg::FaultPcW] = fault_pc_i;
    words[emx_pkg::Fault[6:3]][emx_pkg::FaultCauseLsb+:emx_pkg::FaultCauseW] = fault_cause_i;
    words[emx_pkg::Fault[6:3]][emx_pkg::FaultCodeLsb+:emx_pkg::FaultCodeW] = fault_code_i;
    words[emx_pkg::Frame[6:3]][21:0] = frame_i;
    words[emx_pkg::Tell[6:3]][31:0] = tell_q;
    words[emx_pkg::Send0[6:3]][38:0] = send0_q;
    words[emx_pkg::Refused0[6:3]][38:0] = kept[77:39];
    words[emx_pkg::Refused1[6:3]][38:0] = kept[38:0];
    words[emx_pkg::Depth[6:3]][emx_pkg::DepthNowLsb+:14] = depth_i;
    words[emx_pkg::Depth[6:3]][emx_pkg::DepthPeakLsb+:14] = peak_q;
    words[emx_pkg::Waiting[6:3]][15:0] = held_i;
  end
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < Registers; i++) begin
      if (hides_q[i]) words_q[i] <= '0;
      else if (access) words_q[i] <= words[i];
    end
    if (!counts_q) count_q[CountW-1:16] <= '0;
    else if (access) count_q[CountW-1:16] <= sum[CountW-1:16];
    if (!counts_q && !saturates_q) count_q[15:0] <= '0;
    else if (access) count_q[15:0] <= sum[15:0];
    if (access) full_q <= saturates_q && sum[16];
    if (!memory_q || write_q) word_q <= '0;
    else if (state_q == Word) word_q <= mem_rdata_i;
  end
  always_comb begin
    host_rsp_rdata_o = 64'(count_q) | 64'(word_q) | {48'd0, {16{full_q}}};
    for (int i = 0; i < Registers; i++) host_rsp_rdata_o = host_rsp_rdata_o | 64'(words_q[i]);
  end

  logic unused;
  assign unused = ^{host_req_addr_i[2:0], host_req_wdata_i[63:40]};
  assign busy_o = state_q != Idle || clearing_q || !host_req_ready_o || counts_any_q ||
                  irq_o != ((status & mask_q) != '0) || depth_i > peak_q;
endmodule
