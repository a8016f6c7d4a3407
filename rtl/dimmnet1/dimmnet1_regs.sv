// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1 card, inside dimmnet1_bus: registers, the watchdog of both stops, the packet builder, and the interrupts.
//
// Access     of the host, `host_acc_i`, in its turn, or else of the processor, `cpu_acc_i`, in a cycle with `ready_o`:
//            it is done at the end of that cycle; `err_o`, `rdata_o` and `slot_o` (the answer is the slot, at
//            `dimmnet1_acks`) hold in the next one. `cpu_half_i`: the halves that a write has. After a write `ready_o`
//            is low for a cycle, until its effect can be read. A write to BUILD or BUILD_GO must wait while
//            `building_o` is high, and the bus sees to it.
// Rules      ../dimmnet1/regs.toml. Fields that a register does not have read as 0, and RX_DMA's lower 3 bits, too, and
//            cause and key of a stop while there is none. A
//            command starts with the write of its low half; the high half alone only sets what it holds. WHAT of
//            RX_GO must be a code of Go, and of RDMA_GO the same but DMA; REASON of RX_GO NACK must not be 0: other
//            writes are errors. RX_GO, RX_HEADER and RDMA_GO are errors, too, in the cycle in which the watchdog fires.
//            OTF of a built packet is always set. A built PULL goes to the own RDMA engine: a way to send from memory.
// Watchdog   `go_valid_o` NACK TIMEOUT, WATCHDOG cycles after the first cycle of a stop; RUN is cleared, STATUS.FIRED
//            set. A change of WATCHDOG counts for later stops. Each stop has a counter of its own.
// Stops      a party that gets `go_valid_o` must drop its stop at that clock edge.
// Reset      registers are 0 after 16 cycles; `ready_o` is low until then.
// busy_o     low when no further edge changes anything but TIME, as long as no input is valid; a stop is one.
// Source     ours; the paper (sections 2 and 3) names registers, and publishes none.
module dimmnet1_regs (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    output logic ready_o,
    output logic building_o,
    input logic host_turn_i,
    input logic host_acc_i,
    input logic [40:0] host_kinds_i,  // of dimmnet1_decode
    input logic host_write_i,
    input logic host_partial_i,  // the write's strobes are not those of whole halves
    input logic [6:3] host_word_i,
    input logic [63:0] host_data_i,
    input logic cpu_acc_i,
    input logic [40:0] cpu_kinds_i,
    input logic cpu_write_i,
    input logic cpu_partial_i,
    input logic [6:3] cpu_word_i,
    input logic [1:0] cpu_half_i,
    input logic [31:0] cpu_data_i,
    output logic err_o,
    output logic slot_o,
    output logic [63:0] rdata_o,
    input logic host_refused_i,  // pulse: an access of the host that did not come here
    input logic cpu_refused_i,  // pulse: a store of the processor that did not come here

    output logic [15:0] node_o,
    output logic [15:0] pgid_o,
    output logic [15:0] patience_o,
    output logic run_o,
    output logic receive_o,
    output logic match_o,
    output logic irq_o,
    output logic irq_cpu_o,
    input logic store_error_i,
    input logic lost_i,
    input logic [63:0] windows_i,
    output logic clear_valid_o,
    output logic [3:0] clear_index_o,
    input logic stray_i,

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

    output logic build_valid_o,
    input logic build_ready_i,
    output logic [63:0] build_data_o,
    output logic build_last_o
);
  localparam bit [3:0] Timeout = 4'(dimmnet1_pkg::ReasonTimeout);
  localparam int Causes = dimmnet1_pkg::StatusFirmwareLsb + 1;

  // ------------------------------------------------------------------------------------------------------------ decode
  // Whose turn it is comes late: what is selected by it was decoded before.
  logic [3:0] place;
  logic [5:0] keeps;
  logic is_node, is_pgid, is_patience, is_watchdog, is_mask;
  logic is_desc, is_windows, is_rdma, is_slot, is_status, is_control, is_call, is_time, is_count, is_other;
  logic is_rva, is_rva_bound, is_pa_key, is_pa_frame, is_flush, is_stop, is_rx_dma, is_key, is_build_go, stored;
  logic is_length, is_header, is_rx_go, is_rdma_go, unused_readable, unused_writable;
  assign {
      place,
      keeps,
      is_desc,
      is_windows,
      is_rdma,
      is_slot,
      is_status,
      is_node,
      is_pgid,
      is_patience,
      is_watchdog,
      is_mask,
      is_control,
      is_call,
      is_time,
      is_count,
      is_other,
      is_rva,
      is_rva_bound,
      is_pa_key,
      is_pa_frame,
      is_flush,
      is_stop,
      is_rx_dma,
      is_key,
      is_build_go,
      stored,
      is_length,
      is_header,
      is_rx_go,
      is_rdma_go,
      unused_readable,
      unused_writable
  } = host_turn_i ? host_kinds_i : cpu_kinds_i;

  logic [ 6:3] acc_word;
  logic [ 1:0] acc_half;
  logic [63:0] acc_data;
  logic [ 2:0] what;
  assign acc_word = host_turn_i ? host_word_i : cpu_word_i;
  assign acc_half = host_turn_i ? 2'b11 : cpu_half_i;
  assign acc_data = host_turn_i ? host_data_i : {2{cpu_data_i}};
  assign what = acc_data[dimmnet1_pkg::RxGoWhatLsb+:3];

  // A stop that ends now, or ended at the last edge, is none.
  logic rx_stopped, rdma_stopped, rx_fires, rdma_fires, rx_open, rdma_open;
  assign rx_open   = rx_stopped && !rx_fires;
  assign rdma_open = rdma_stopped && !rdma_fires;
  function automatic logic refuses(input logic [5:0] kind, input logic write, input logic partial, input logic low,
                                   input logic [2:0] go, input logic bare, input logic rx, input logic rdma,
                                   input logic full);
    logic length, header, rx_go, rdma_go, readable, writable, bad_go;
    {length, header, rx_go, rdma_go, readable, writable} = kind;
    bad_go = go == '0 || go > 3'(dimmnet1_pkg::GoPart) || (rdma_go && go >= 3'(dimmnet1_pkg::GoDma)) ||
             (rx_go && go == 3'(dimmnet1_pkg::GoNack) && bare);
    if (length) writable = !full;
    if (header) writable = rx;
    if (rx_go) writable = rx && !(low && bad_go);
    if (rdma_go) writable = rdma && !(low && bad_go);
    refuses = write ? !writable || partial : !readable;
  endfunction

  logic host_bare, cpu_bare, host_fails, cpu_fails, refused, wr, put, takes, low;  // bare: a NACK without a reason
  assign host_bare = host_data_i[dimmnet1_pkg::RxGoReasonLsb+:4] == '0;
  assign cpu_bare = cpu_data_i[dimmnet1_pkg::RxGoReasonLsb+:4] == '0;
  assign host_fails = refuses(
      host_kinds_i[5:0],
      host_write_i,
      host_partial_i,
      1'b1,
      host_data_i[dimmnet1_pkg::RxGoWhatLsb+:3],
      host_bare,
      rx_open,
      rdma_open,
      rdma_full_i
  );
  assign cpu_fails = refuses(
      cpu_kinds_i[5:0],
      cpu_write_i,
      cpu_partial_i,
      cpu_half_i[0],
      cpu_data_i[dimmnet1_pkg::RxGoWhatLsb+:3],
      cpu_bare,
      rx_open,
      rdma_open,
      rdma_full_i
  );
  assign refused = host_turn_i ? host_fails : cpu_fails;
  assign wr = (host_acc_i && host_write_i && !host_fails) || (cpu_acc_i && cpu_write_i && !cpu_fails);
  // The same, and early, for a register that is only refused when the strobes are bad, or that says so by `takes`.
  assign put = (host_acc_i && host_write_i && !host_partial_i) || (cpu_acc_i && cpu_write_i && !cpu_partial_i);
  assign takes = !(is_length && rdma_full_i);
  assign low = acc_half[0];

  // ------------------------------------------------------------------------ registers in LUT RAM: what is read is here
  logic clearing_q, settle_q;
  logic [3:0] clear_q;
  logic [1:0] store;
  logic [63:0] mask, kept, built;
  assign mask  = {{28{keeps[5]}}, {4{keeps[4]}}, {16{keeps[3]}}, {9{keeps[2]}}, {3{keeps[1]}}, 1'b1, {3{keeps[0]}}};
  assign store = (put && stored && takes) ? acc_half : '0;

  logic [1:0] build_index_q;
  for (genvar h = 0; h < 2; h++) begin : gen_half
    logic [31:0] mem_q[16];
    always_ff @(posedge clk_i) begin
      if (clearing_q || store[h])
        mem_q[clearing_q?clear_q : place] <= acc_data[32*h+:32] & mask[32*h+:32] & {32{!clearing_q}};
    end
    assign kept[32*h+:32]  = mem_q[place];
    assign built[32*h+:32] = mem_q[{2'b01, build_index_q}];
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      clearing_q <= 1'b1;
      clear_q <= '0;
      settle_q <= 1'b0;
    end else begin
      clear_q <= clear_q + 4'd1;
      if (clear_q == '1) clearing_q <= 1'b0;
      settle_q <= wr;
    end
  end
  assign ready_o = !clearing_q && !settle_q;

  // ----------------------------------------------------------------------------------- registers that others listen to
  logic [31:0] watchdog_q;
  logic [6:0] mask_q;
  logic poll_q;
  function automatic logic [63:0] merge(input logic [63:0] old, input logic [63:0] data, input logic [1:0] half);
    merge = {half[1] ? data[63:32] : old[63:32], half[0] ? data[31:0] : old[31:0]};
  endfunction

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      node_o <= '0;
      pgid_o <= '0;
      patience_o <= '0;
      watchdog_q <= '0;
      mask_q <= '0;
      {match_o, poll_q, receive_o, run_o} <= '0;
      rx_go_addr_o <= '0;
    end else begin
      if (put && low) begin
        if (is_node) node_o <= acc_data[15:0];
        if (is_pgid) pgid_o <= acc_data[15:0];
        if (is_patience) patience_o <= acc_data[15:0];
        if (is_watchdog) watchdog_q <= acc_data[31:0];
        if (is_mask) mask_q <= acc_data[6:0];
        if (is_control) {match_o, poll_q, receive_o, run_o} <= acc_data[3:0];
        if (is_rx_dma) rx_go_addr_o <= {acc_data[31:3], 3'b0};
      end
      if (rx_fires || rdma_fires) run_o <= 1'b0;
    end
  end

  // Descriptor, and the words of a TLB entry: they leave with the last of them.
  logic [32:0] rva_key_q, rva_bound_q;
  logic [31:0] rva_base_q;
  logic [44:0] pa_key_q;
  logic [19:0] pa_frame_q;
  logic [63:0] merged;  // over the present value of the written entry
  always_comb begin
    merged = rva_key_o;
    if (acc_word[4:3] == 2'd1) merged = rva_base_o;
    if (acc_word[4:3] == 2'd2) merged = rva_bound_o;
    if (is_pa_key) merged = pa_key_o;
    merged = merge(merged, acc_data, acc_half);
  end
  assign rva_key_o = {rva_key_q[32], 31'd0, rva_key_q[31:0]};
  assign rva_base_o = {rva_base_q[31:28], 32'd0, rva_base_q[27:0]};
  assign rva_bound_o = {31'd0, rva_bound_q};
  assign pa_key_o = {pa_key_q[44], 15'd0, pa_key_q[43:28], 4'd0, pa_key_q[27:0]};
  assign pa_frame_o = {44'd0, pa_frame_q};

  always_ff @(posedge clk_i) begin
    if (put && is_desc && takes) begin
      case (acc_word[4:3])
        2'd0: desc_w0_o <= acc_data;
        2'd1: desc_local_o <= acc_data;
        2'd2: desc_remote_o <= acc_data;
        default: {desc_slot_o, desc_bytes_o} <= acc_data[35:0];
      endcase
    end
    if (put && is_rva) begin
      case (acc_word[4:3])
        2'd0: rva_key_q <= {merged[63], merged[31:0]};
        2'd1: rva_base_q <= {merged[63:60], merged[27:0]};
        default: rva_bound_q <= merged[32:0];
      endcase
    end
    if (put && is_pa_key) pa_key_q <= {merged[63], merged[47:32], merged[27:0]};
    if (put && is_pa_frame && low) pa_frame_q <= acc_data[19:0];
    // Registers without a write read as 0, and so do the halves of entries.
    if (rst_i) begin
      desc_w0_o <= '0;
      desc_local_o <= '0;
      desc_remote_o <= '0;
      rva_key_q <= '0;
      rva_base_q <= '0;
      rva_bound_q <= '0;
      pa_key_q <= '0;
    end
  end

  // ---------------------------------------------------------------------------------------- commands, and the watchdog
  logic [31:0] rx_left_q, rdma_left_q;
  assign rx_stopped = rx_stop_valid_i && !rx_go_valid_o;
  assign rdma_stopped = rdma_stop_valid_i && !rdma_go_valid_o;
  assign rx_fires = rx_stopped && rx_left_q == 32'd1;
  assign rdma_fires = rdma_stopped && rdma_left_q == 32'd1;

  always_ff @(posedge clk_i) begin
    clear_index_o <= acc_word[6:3];
    rx_hdr_write_index_o <= acc_word[5:3];
    rx_hdr_write_strb_o <= acc_half;
    rx_hdr_write_data_o <= acc_data;
    rx_go_what_o <= rx_fires ? 3'(dimmnet1_pkg::GoNack) : what;
    rx_go_bytes_o <= acc_data[dimmnet1_pkg::RxGoBytesLsb+:16];
    rx_go_reason_o <= rx_fires ? Timeout : acc_data[dimmnet1_pkg::RxGoReasonLsb+:4];
    rdma_go_what_o <= rdma_fires ? 3'(dimmnet1_pkg::GoNack) : what;
    rdma_go_reason_o <= rdma_fires ? Timeout : acc_data[dimmnet1_pkg::RdmaGoReasonLsb+:4];
    rx_left_q <= rx_stopped ? rx_left_q - 32'(rx_left_q != '0) : watchdog_q;
    rdma_left_q <= rdma_stopped ? rdma_left_q - 32'(rdma_left_q != '0) : watchdog_q;
    if (rst_i) begin
      clear_valid_o <= 1'b0;
      rva_valid_o <= 1'b0;
      pa_valid_o <= 1'b0;
      flush_o <= 1'b0;
      rx_hdr_write_valid_o <= 1'b0;
      rx_go_valid_o <= 1'b0;
      rdma_go_valid_o <= 1'b0;
      desc_valid_o <= 1'b0;
    end else begin
      clear_valid_o <= put && is_slot;
      rva_valid_o <= put && is_rva_bound && low;
      pa_valid_o <= put && is_pa_frame && low;
      flush_o <= put && is_flush && low;
      rx_hdr_write_valid_o <= wr && is_header;
      rx_go_valid_o <= rx_fires || (wr && is_rx_go && low);
      rdma_go_valid_o <= rdma_fires || (wr && is_rdma_go && low);
      desc_valid_o <= put && is_length && takes;  // not full: it is taken at once
    end
  end

  // ----------------------------------------------------------------------------------------------------------- builder
  logic build_data_q;
  assign build_last_o = build_index_q == (build_data_q ? 2'd3 : 2'd2);
  assign build_data_o = built | (64'(build_index_q == '0) << dimmnet1_pkg::HdrW0OtfLsb);
  assign building_o   = build_valid_o;
  always_ff @(posedge clk_i) begin
    if (put && is_build_go) build_data_q <= acc_data[dimmnet1_pkg::BuildGoDataLsb];
    if (rst_i) begin
      build_valid_o <= 1'b0;
      build_index_q <= '0;
    end else if (build_valid_o) begin
      if (build_ready_i) begin
        build_valid_o <= !build_last_o;
        build_index_q <= build_last_o ? '0 : build_index_q + 2'd1;
      end
    end else begin
      build_valid_o <= put && is_build_go && low;
    end
  end

  // -------------------------------------------------------------------------------------- causes, counters, interrupts
  logic [Causes-1:0] status_q, causes, cleared;
  logic host_refused, cpu_refused;
  logic [3:0] rdma_error_q;
  assign host_refused = (host_acc_i && host_fails) || host_refused_i;
  assign cpu_refused = (cpu_acc_i && cpu_fails && cpu_write_i) || cpu_refused_i;
  assign causes = {
    put && is_call && !host_turn_i && low,
    cpu_refused,
    host_refused || store_error_i,
    lost_i,
    stray_i,
    outcome_valid_i && outcome_reason_i != '0,
    rx_fires || rdma_fires
  };
  assign cleared = (put && is_status && low) ? acc_data[Causes-1:0] : '0;

  logic irq, irq_cpu;
  assign irq = (status_q & mask_q) != '0;
  assign irq_cpu = (rx_stopped || rdma_stopped) && !poll_q;
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      status_q <= '0;
      irq_o <= 1'b0;
      irq_cpu_o <= 1'b0;
      rdma_error_q <= '0;
    end else begin
      status_q <= (status_q & ~cleared) | causes;
      irq_o <= irq;
      // It falls with the command, or a short routine would be interrupted by its own stop again.
      irq_cpu_o <= irq_cpu && !(wr && low && (is_rx_go || is_rdma_go));
      if (desc_done_i) rdma_error_q <= desc_error_i;
    end
  end

  function automatic logic [15:0] plus(input logic [15:0] count);
    plus = count + 16'(count != '1);
  endfunction

  logic [15:0] strays_q, lost_q, host_errors_q, cpu_errors_q, other, outcomes;
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      strays_q <= '0;
      lost_q <= '0;
      host_errors_q <= '0;
      cpu_errors_q <= '0;
    end else begin
      if (stray_i) strays_q <= plus(strays_q);
      if (lost_i) lost_q <= plus(lost_q);
      if (host_refused && store_error_i) host_errors_q <= plus(plus(host_errors_q));
      else if (host_refused || store_error_i) host_errors_q <= plus(host_errors_q);
      if (cpu_refused) cpu_errors_q <= plus(cpu_errors_q);
    end
  end
  always_comb begin
    case (acc_word[4:3])
      2'd0: other = strays_q;
      2'd1: other = lost_q;
      2'd2: other = host_errors_q;
      default: other = cpu_errors_q;
    endcase
  end

  // The receiver's counters in LUT RAM. `counted_q`: since reset; the others are 0.
  logic [15:0] counts_q[16];
  logic [15:0] counted_q, count;
  assign count = counts_q[outcome_reason_i] & {16{counted_q[outcome_reason_i]}};
  assign outcomes = counts_q[acc_word[6:3]] & {16{counted_q[acc_word[6:3]]}};
  always_ff @(posedge clk_i) begin
    if (outcome_valid_i) counts_q[outcome_reason_i] <= plus(count);
    if (rst_i) counted_q <= '0;
    else if (outcome_valid_i) counted_q[outcome_reason_i] <= 1'b1;
  end

  // ------------------------------------------------------------------------------------------------------------- reads
  logic [63:0] time_q;
  always_ff @(posedge clk_i) time_q <= rst_i ? '0 : time_q + 64'd1;

  logic [31:0] short_word;
  always_comb begin
    short_word = '0;
    if (is_windows) short_word = windows_i[31:0];
    if (is_rdma) begin
      short_word[dimmnet1_pkg::RdmaFullLsb] = rdma_full_i;
      short_word[dimmnet1_pkg::RdmaBusyLsb] = rdma_busy_i;
      short_word[dimmnet1_pkg::RdmaStoppedLsb] = rdma_stopped;
      short_word[dimmnet1_pkg::RdmaErrorLsb+:4] = rdma_error_q;
    end
    if (is_status) short_word[Causes-1:0] = status_q;
    if (is_count) short_word[15:0] = outcomes;
    if (is_other) short_word[15:0] = other;
    if (is_stop) begin
      short_word[dimmnet1_pkg::RxStopStoppedLsb] = rx_stopped;
      short_word[dimmnet1_pkg::RxStopMoreLsb] = rx_stop_more_i && rx_stopped;
      short_word[dimmnet1_pkg::RxStopCauseLsb+:4] = rx_stop_cause_i & {4{rx_stopped}};
      short_word[dimmnet1_pkg::RxStopTypeLsb+:8] = rx_hdr_i[0][dimmnet1_pkg::HdrW0TypeLsb+:8];
      short_word[dimmnet1_pkg::RxStopRdmaLsb] = rdma_stopped;
      short_word[dimmnet1_pkg::RxStopRdmaCauseLsb+:4] = rdma_stop_cause_i & {4{rdma_stopped}};
      short_word[dimmnet1_pkg::RxStopDoneLsb] = rx_dma_done_i;
      short_word[dimmnet1_pkg::RxStopDoneReasonLsb+:4] = rx_dma_reason_i;
    end
  end
  logic [63:0] key;  // cause and key mean nothing without a stop
  assign key = acc_word[3] ? rx_stop_key_i & {64{rx_stopped}} : rdma_stop_key_i & {64{rdma_stopped}};
  logic [31:0] unused_windows;
  assign unused_windows = windows_i[63:32];

  always_ff @(posedge clk_i) begin
    err_o   <= refused;
    slot_o  <= is_slot;
    rdata_o <= 64'(short_word);
    if (is_time) rdata_o <= time_q;
    if (is_key) rdata_o <= key;
    if (is_header) rdata_o <= rx_hdr_i[acc_word[5:3]];
    if (stored) rdata_o <= {kept[63:1], is_control ? run_o : kept[0]};
  end

  assign busy_o = clearing_q || settle_q || build_valid_o || rx_go_valid_o || rdma_go_valid_o || irq != irq_o;
endmodule
