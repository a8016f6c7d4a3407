// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, addresses of a transfer: a logical address, a stride and a length become runs of consecutive words in
// cell memory.
//
// Job        valid/ready: `job_words_i` (>= 1) words from `job_addr_i`, with the stride word's items and gap. The next
//            item begins 4 x (item + gap) bytes after the last. Item 0 means 256 words, gap 0 no stride. Addresses are
//            modulo 2^32. With `job_physical_i` the address is one of cell memory and is not looked up.
// Run        valid/ready: {address in cell memory, words (1 to 1024), last}. No run leaves its item or its page of 4
//            KB.
// Lookup     a client of ap1000p_mmu: once for each page entered, and again after `forget_i`.
// Fault      `fault_valid_o` holds, with the reason (for whom and where: `req_*_o`), until `retry_i` looks up again or
//            `abort_i` ends the job with a last run of 0 words. An address that is no multiple of 4 is a fault,
//            FAULT_ALIGN. Both inputs are ignored at other times.
// stop_i     while high, it aborts the job inside as soon as none of its runs or lookups is offered and no lookup is on
//            its way.
// Latency    1 cycle from job to request, 1 from the lookup's response to the run. A run per 2 cycles within a page; a
//            job takes one more.
// forget_i   pulse: runs that are not offered yet use no earlier translation.
// Reset      drops everything; the MMU must forget the request, too.
// busy_o     low when no job is inside.
// Source     stride word, unit of a word, item 0 as 256: paper 3.2, Fig 5. Gap after each item, field positions: the
//            digest's choice. Runs, cut at 4 KB, fault with retry or abort: own guess (software maps the page and
//            resumes: the machine's Linux port).
module ap1000p_address_runs #(
    parameter bit Write = 1'b0  // the job writes
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic job_valid_i,
    output logic job_ready_o,
    input logic [11:0] job_context_i,
    input logic job_system_i,
    input logic job_physical_i,
    input logic [31:0] job_addr_i,
    input logic [31:0] job_stride_i,
    input logic [19:0] job_words_i,
    input logic forget_i,
    input logic stop_i,

    output logic req_valid_o,
    input logic req_ready_i,
    output logic [11:0] req_context_o,
    output logic [31:0] req_addr_o,
    output logic req_write_o,
    output logic req_system_o,
    input logic rsp_valid_i,
    output logic rsp_ready_o,
    input logic [31:0] rsp_addr_i,
    input logic [2:0] rsp_fault_i,

    output logic run_valid_o,
    input logic run_ready_i,
    output logic [31:0] run_addr_o,
    output logic [10:0] run_words_o,
    output logic run_last_o,

    output logic fault_valid_o,
    output logic [2:0] fault_reason_o,
    input logic retry_i,
    input logic abort_i
);
  typedef enum logic [2:0] {
    Idle,
    Cut,    // the next run; looks up its page if that is another
    Await,
    Give,
    Fault
  } state_e;
  state_e state_q;

  logic [11:0] context_q;
  logic system_q, physical_q, strided_q;
  logic [1:0] odd_q;  // not zero: the address is no multiple of 4
  // Addresses in words: of the run, its item and the next item; the distance between items.
  logic [29:0] word_q, item_at_q, next_q, pitch_q;
  logic [8:0] item_q, item_left_q;
  logic [19:0] left_q;
  logic requested_q;  // a request is offered: it holds
  logic known_q, same_q;  // the page's frame is known; the next run is in the same page
  logic stale_q;  // the lookup on its way is older than a `forget_i`
  logic [19:0] page_q, frame_q;
  logic [2:0] reason_q;

  // The next run ends with its item, page or job.
  logic [10:0] room, run_d, run_q;
  logic [8:0] item;
  logic item_ends, job_ends, ends_q, last_q, here, stop;
  assign item = {job_stride_i[31:24] == '0, job_stride_i[31:24]};
  assign room = 11'd1024 - {1'b0, word_q[9:0]};
  assign item_ends = strided_q && {2'b0, item_left_q} <= room;
  assign run_d = item_ends ? {2'b0, item_left_q} : room;
  // Both comparisons in parallel, not one after the other.
  assign job_ends = left_q <= {9'd0, room} && (!strided_q || left_q <= {11'd0, item_left_q});
  assign here = physical_q || (known_q && same_q);

  assign job_ready_o = state_q == Idle;
  assign stop = stop_i && !requested_q;
  assign req_valid_o = state_q == Cut && !here && odd_q == '0 && !stop;
  assign req_context_o = context_q;
  assign req_addr_o = {word_q, odd_q};
  assign req_write_o = Write;
  assign req_system_o = system_q;
  assign rsp_ready_o = state_q == Await;
  assign run_valid_o = state_q == Give;
  assign run_addr_o = {frame_q, word_q[9:0], 2'b00};
  assign run_words_o = run_q;
  assign run_last_o = last_q;
  assign fault_valid_o = state_q == Fault;
  assign fault_reason_o = reason_q;
  assign busy_o = state_q != Idle;

  always_ff @(posedge clk_i) begin
    case (state_q)
      Idle: begin
        context_q <= job_context_i;
        system_q <= job_system_i;
        physical_q <= job_physical_i;
        word_q <= job_addr_i[31:2];
        item_at_q <= job_addr_i[31:2];
        odd_q <= job_addr_i[1:0];
        strided_q <= job_stride_i[23:0] != '0;
        pitch_q <= {{6{job_stride_i[23]}}, job_stride_i[23:0]} + 30'(item);
        item_q <= item;
        item_left_q <= item;
        left_q <= job_words_i;
      end
      Cut: begin
        run_q  <= job_ends ? left_q[10:0] : run_d;
        last_q <= job_ends;
        ends_q <= item_ends;
        page_q <= word_q[29:10];
        next_q <= item_at_q + pitch_q;
        if (physical_q) frame_q <= word_q[29:10];
        reason_q <= 3'(ap1000p_pkg::FaultAlign);
        if (stop) {run_q, last_q} <= 12'd1;
      end
      Await: begin
        frame_q  <= rsp_addr_i[31:12];
        same_q   <= 1'b1;
        reason_q <= rsp_fault_i;
      end
      Give: begin
        if (run_ready_i) begin
          // A run that ends within an item ends at a page.
          word_q <= ends_q ? next_q : {page_q + 20'd1, 10'd0};
          same_q <= ends_q && next_q[29:10] == page_q;
          if (ends_q) item_at_q <= next_q;
          item_left_q <= ends_q ? item_q : item_left_q - 9'(run_q);
          left_q <= left_q - 20'(run_q);
        end
      end
      default: begin
        if (abort_i || stop_i) {run_q, last_q} <= 12'd1;
      end
    endcase

    if (state_q == Cut) known_q <= here && !forget_i;
    else if (state_q == Await) known_q <= rsp_fault_i == 3'(ap1000p_pkg::FaultNone) && !stale_q && !forget_i;
    else if (forget_i || state_q == Idle) known_q <= 1'b0;
    stale_q <= state_q == Await && (stale_q || forget_i);
    requested_q <= req_valid_o && !req_ready_i && !rst_i;

    if (rst_i) state_q <= Idle;
    else begin
      case (state_q)
        Idle: if (job_valid_i) state_q <= Cut;
        Cut:
        if (stop) state_q <= Give;
        else if (odd_q != '0) state_q <= Fault;
        else if (here) state_q <= forget_i && !physical_q ? Cut : Give;
        else if (req_ready_i) state_q <= Await;
        Await:
        if (rsp_valid_i) begin
          if (rsp_fault_i != 3'(ap1000p_pkg::FaultNone)) state_q <= Fault;
          else state_q <= (stale_q || forget_i) ? Cut : Give;
        end
        Give: if (run_ready_i) state_q <= last_q ? Idle : Cut;
        default:
        if (abort_i || stop_i) state_q <= Give;
        else if (retry_i) state_q <= Cut;
      endcase
    end
  end

  logic unused_offset;
  assign unused_offset = rsp_addr_i[11:0] != '0;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) assert (!job_valid_i || job_words_i != '0);
  end
`endif
endmodule
