// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, receive controller of one class of messages: executes them one after the other, without the processor.
//
// Input      whole messages (docs/machines/ap1000p.md, "Messages on the network"), route word first, the last word
//            marked.
// Data       of PUT, GET_REPLY and ATOMIC_REPLY go to memory, through the MMU in the context of the message, or word by
//            word to successive communication registers (the stride means nothing there). Then the flag counts, if the
//            message was whole and nothing failed.
// Others     GET goes to queue 1 as a GET_REPLY. CSI and FOP go to the word unit, the old word to queue 0. LOAD and
//            STORE go to the word unit or a communication register, and their reply to queue 0: of a load that failed
//            without data, of a store always. LOAD_REPLY appears on `load_*_o`, with its sender; STORE_ACK is a pulse,
//            `ack_o`.
// Order      a message has no effect before all earlier ones are executed, with two exceptions. Data may be written
//            before the flag of the message before counts. LOAD_REPLY and STORE_ACK are reported when they come. So a
//            GET's reply says that what came before it is in memory.
// Broken     a message that is not executed as it says is reported in the order of the messages: `broken_valid_o`, a
//            pulse with reason, kind and sender (regs.toml, "BROKEN"), counted up to 65535. Its words are taken to the
//            last; no flag counts; the next message is not affected.
// SEND       requests only. When all earlier messages are done, header and data go into the ring buffer of its context
//            (ap1000p_ring), which then moves on; then the flag counts. A SEND that ends early, or meets an error,
//            leaves the ring as it was.
// Fault      `fault_valid_o` holds, with the reason, for whom and where (always a write), until `retry_i` or `abort_i`.
//            With FAULT_RING the address says which ring buffer, and how many slots are needed. Faults of the word unit
//            are its own.
// Rate       1 word per cycle, also over the ends of messages with data; 2 cycles per run of words
//            (ap1000p_address_runs).
// Latency    5 cycles and the lookup from the first word of data to the write engine (2 more to the memory).
// Full       requests wait for their queues; replies only for memory, MMU, word unit, communication registers and
//            `load_ready_i`.
// Reset      drops everything; MMU, memory, word unit and registers must forget their requests, too.
// Source     paper 2.2.1, 2.2.4, 2.2.6, 2.2.8, 2.2.9. Messages, order, what is broken: own guess.
module ap1000p_receive #(
    parameter bit Reply = 1'b0,  // replies, otherwise requests
    parameter int MemW = 26  // bits of an address in cell memory, 9 to 31
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [7:0] cell_x_i,  // this cell
    input logic [7:0] cell_y_i,
    input logic forget_i,  // ap1000p_address_runs: a page has been demapped

    input logic [2:0] ring_on_i,  // ap1000p_ring
    input logic [2:0][1:0] ring_size_i,
    input logic [2:0][11:0] ring_context_i,
    input logic [2:0][17:0] ring_read_i,
    input logic [2:0] ring_set_i,
    input logic [26:0] ring_at_i,
    output logic [2:0][26:0] ring_write_o,
    output logic [2:0] ring_busy_o,

    input logic in_valid_i,
    output logic in_ready_o,
    input logic [31:0] in_data_i,
    input logic in_last_i,

    output logic mmu_req_valid_o,
    input logic mmu_req_ready_i,
    output logic [11:0] mmu_req_context_o,
    output logic [31:0] mmu_req_addr_o,
    output logic mmu_req_write_o,
    output logic mmu_req_system_o,
    input logic mmu_rsp_valid_i,
    output logic mmu_rsp_ready_o,
    input logic [31:0] mmu_rsp_addr_i,
    input logic [2:0] mmu_rsp_fault_i,

    output logic fault_valid_o,
    output logic [2:0] fault_reason_o,
    output logic [11:0] fault_context_o,
    output logic [31:0] fault_addr_o,
    output logic fault_system_o,
    input logic retry_i,
    input logic abort_i,

    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [31:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    output logic mem_data_valid_o,
    input logic mem_data_ready_i,
    output logic [31:0] mem_data_data_o,
    output logic [3:0] mem_data_strb_o,
    output logic mem_data_last_o,
    input logic mem_rsp_valid_i,
    output logic mem_rsp_ready_o,
    input logic mem_rsp_err_i,

    // A client of ap1000p_word.
    output logic word_valid_o,
    input logic word_ready_i,
    output logic [2:0] word_op_o,
    output logic [11:0] word_context_o,
    output logic word_system_o,
    output logic word_physical_o,
    output logic [31:0] word_addr_o,
    output logic [3:0] word_strb_o,
    output logic [31:0] word_a_o,
    output logic [31:0] word_b_o,
    input logic word_done_i,
    input logic [31:0] word_old_i,
    input logic word_fault_i,
    input logic word_err_i,

    // A source of ap1000p_creg.
    output logic creg_valid_o,
    input logic creg_ready_i,
    output logic [6:0] creg_addr_o,
    output logic creg_write_o,
    output logic [31:0] creg_data_o,
    input logic creg_rsp_valid_i,
    output logic creg_rsp_ready_o,
    input logic creg_rsp_fault_i,
    input logic [31:0] creg_rsp_data_i,

    // Requests: messages for the queues of remote replies [0] and of GET replies [1].
    output logic [1:0] queue_valid_o,
    input logic [1:0] queue_ready_i,
    output logic queue_end_o,
    output logic [31:0] queue_data_o,

    // Replies, for ap1000p_access. A load's data are 1 word, or 2, the first in 31:0.
    output logic load_valid_o,
    input logic load_ready_i,
    output logic load_err_o,
    output logic [1:0][7:0] load_cell_o,  // of the response: {y, x}
    output logic [63:0] load_data_o,
    output logic ack_o,

    output logic broken_valid_o,
    output logic [3:0] broken_reason_o,
    output logic [15:0] broken_kind_o,
    output logic [7:0] broken_x_o,
    output logic [7:0] broken_y_o,
    output logic [15:0] broken_count_o
);
  // A register stage keeps the network's timing out of the decisions here.
  logic in_valid, in_ready, in_last;
  logic [31:0] in_data;
  skid #(
      .W(33)
  ) u_in (
      .clk_i,
      .rst_i,
      .in_valid_i,
      .in_ready_o,
      .in_data_i  ({in_last_i, in_data_i}),
      .out_valid_o(in_valid),
      .out_ready_i(in_ready),
      .out_data_o ({in_last, in_data})
  );

  logic [15:0] kind;
  logic [7:0] x, y;
  assign load_cell_o = {y, x};
  logic [31:0] length;
  logic [2:0][31:0] word;
  logic job_valid, job_ready, data_valid, data_ready, data_end, data_short;
  logic [31:0] data;
  logic ring_valid, ring_done, to_ring, over, whole, ring_fault, store_fault;
  logic [ 3:0] ring_reason;
  logic [26:0] ring_at;
  logic [ 1:0] ring_size;
  logic [31:0] ring_what;
  logic [ 2:0] store_reason;
  logic head_put, op_valid, op_done, note_valid, note_ready, note_job, note_flag;
  logic [3:0] head_index, op_reason, note_reason;
  logic [2:0] op;
  logic parse_busy, reply_busy, store_busy, idle;

  ap1000p_parse #(
      .Reply(Reply)
  ) u_parse (
      .clk_i,
      .rst_i,
      .busy_o(parse_busy),
      .in_valid_i(in_valid),
      .in_ready_o(in_ready),
      .in_data_i(in_data),
      .in_last_i(in_last),
      .kind_o(kind),
      .x_o(x),
      .y_o(y),
      .length_o(length),
      .word_o(word),
      .job_valid_o(job_valid),
      .job_ready_i(job_ready),
      .data_valid_o(data_valid),
      .data_ready_i(data_ready),
      .data_end_o(data_end),
      .data_short_o(data_short),
      .data_o(data),
      .ring_valid_o(ring_valid),
      .ring_done_i(ring_done),
      .ring_reason_i(ring_reason),
      .head_put_o(head_put),
      .head_index_o(head_index),
      .op_valid_o(op_valid),
      .op_o(op),
      .op_done_i(op_done),
      .op_reason_i(op_reason),
      .load_valid_o,
      .load_ready_i,
      .load_err_o,
      .load_data_o,
      .ack_o,
      .note_valid_o(note_valid),
      .note_ready_i(note_ready),
      .note_reason_o(note_reason),
      .note_job_o(note_job),
      .note_flag_o(note_flag)
  );

  if (Reply) begin : gen_no_ring
    assign {ring_done, ring_reason, ring_at, ring_size, ring_fault, ring_what} = '0;
    assign {ring_write_o, ring_busy_o} = '0;
    assign to_ring = 1'b0;
    logic unused_ring;
    assign unused_ring = ^{ring_on_i, ring_size_i, ring_context_i, ring_read_i, ring_set_i, ring_at_i, ring_valid, over,
                           whole};
  end else begin : gen_ring
    assign to_ring = kind[ap1000p_pkg::PageSendLsb];
    ap1000p_ring u_ring (
        .clk_i,
        .rst_i,
        .on_i(ring_on_i),
        .size_i(ring_size_i),
        .context_i(ring_context_i),
        .read_i(ring_read_i),
        .set_i(ring_set_i),
        .set_at_i(ring_at_i),
        .write_o(ring_write_o),
        .busy_o(ring_busy_o),
        .req_valid_i(ring_valid && idle),
        .req_context_i(length[31:20]),
        .req_words_i(length[19:0]),
        .rsp_valid_o(ring_done),
        .rsp_reason_o(ring_reason),
        .at_o(ring_at),
        .size_o(ring_size),
        .fault_valid_o(ring_fault),
        .fault_what_o(ring_what),
        .retry_i,
        .abort_i,
        .over_i(over),
        .whole_i(whole)
    );
  end

  logic flag_valid, flag_system;
  logic [11:0] flag_context;
  logic [31:0] flag_addr;
  ap1000p_store u_store (
      .clk_i,
      .rst_i,
      .busy_o(store_busy),
      .idle_o(idle),
      .forget_i,
      .job_valid_i(job_valid),
      .job_ready_o(job_ready),
      .job_context_i(length[31:20]),
      .job_system_i(kind[ap1000p_pkg::PageSystemLsb]),
      .job_addr_i(to_ring ? {ring_at, 5'd0} : word[2]),
      .job_stride_i(to_ring ? 32'd0 : word[1]),
      .job_words_i(length[19:0] + {18'd0, to_ring, 1'b0}),
      .job_ring_i(to_ring),
      .job_size_i(ring_size),
      .data_valid_i(data_valid),
      .data_ready_o(data_ready),
      .data_end_i(data_end),
      .data_short_i(data_short),
      .data_i(data),
      .note_valid_i(note_valid),
      .note_ready_o(note_ready),
      .note_reason_i(note_reason),
      .note_job_i(note_job),
      .note_flag_i(note_flag),
      .note_addr_i(word[0]),
      .note_context_i(length[31:20]),
      .note_kind_i(kind),
      .note_x_i(x),
      .note_y_i(y),
      .mmu_req_valid_o,
      .mmu_req_ready_i,
      .mmu_req_context_o,
      .mmu_req_addr_o,
      .mmu_req_write_o,
      .mmu_req_system_o,
      .mmu_rsp_valid_i,
      .mmu_rsp_ready_o,
      .mmu_rsp_addr_i,
      .mmu_rsp_fault_i,
      .fault_valid_o(store_fault),
      .fault_reason_o(store_reason),
      .retry_i,
      .abort_i,
      .mem_cmd_valid_o,
      .mem_cmd_ready_i,
      .mem_cmd_addr_o,
      .mem_cmd_len_o,
      .mem_data_valid_o,
      .mem_data_ready_i,
      .mem_data_data_o,
      .mem_data_strb_o,
      .mem_data_last_o,
      .mem_rsp_valid_i,
      .mem_rsp_ready_o,
      .mem_rsp_err_i,
      .flag_valid_o(flag_valid),
      .flag_ready_i(word_ready_i),
      .flag_context_o(flag_context),
      .flag_system_o(flag_system),
      .flag_addr_o(flag_addr),
      .flag_done_i(word_done_i),
      .over_o(over),
      .whole_o(whole),
      .reported_valid_o(broken_valid_o),
      .reported_reason_o(broken_reason_o),
      .reported_kind_o(broken_kind_o),
      .reported_x_o(broken_x_o),
      .reported_y_o(broken_y_o)
  );
  // The lookup's, which hold during a fault, or a ring's: a ring is requested when nothing is looked up.
  assign fault_valid_o = store_fault || ring_fault;
  assign fault_reason_o = ring_fault ? 3'(ap1000p_pkg::FaultRing) : store_reason;
  assign fault_context_o = ring_fault ? length[31:20] : mmu_req_context_o;
  assign fault_addr_o = ring_fault ? ring_what : mmu_req_addr_o;
  assign fault_system_o = ring_fault ? kind[ap1000p_pkg::PageSystemLsb] : mmu_req_system_o;

  logic reply_valid, reply_physical;
  logic [ 2:0] reply_op;
  logic [31:0] reply_addr;
  ap1000p_reply #(
      .Reply(Reply),
      .MemW (MemW)
  ) u_reply (
      .clk_i,
      .rst_i,
      .busy_o(reply_busy),
      .cell_x_i,
      .cell_y_i,
      .may_i(idle),
      .op_valid_i(op_valid),
      .op_i(op),
      .op_done_o(op_done),
      .op_reason_o(op_reason),
      .kind_i(kind),
      .x_i(x),
      .y_i(y),
      .context_i(length[31:20]),
      .word_i(word),
      .head_put_i(head_put),
      .head_index_i(head_index),
      .head_data_i(in_data),
      .word_valid_o(reply_valid),
      .word_ready_i,
      .word_op_o(reply_op),
      .word_physical_o(reply_physical),
      .word_addr_o(reply_addr),
      .word_strb_o,
      .word_a_o,
      .word_b_o,
      .word_done_i,
      .word_old_i,
      .word_fault_i,
      .word_err_i,
      .creg_valid_o,
      .creg_ready_i,
      .creg_addr_o,
      .creg_write_o,
      .creg_data_o,
      .creg_rsp_valid_i,
      .creg_rsp_ready_o,
      .creg_rsp_fault_i,
      .creg_rsp_data_i,
      .queue_valid_o,
      .queue_ready_i,
      .queue_end_o,
      .queue_data_o
  );

  // An operation begins when no flag is left to be counted, so the two never request together.
  assign word_valid_o = flag_valid || reply_valid;
  assign word_op_o = flag_valid ? 3'(ap1000p_pkg::WordInc) : reply_op;
  assign word_context_o = flag_valid ? flag_context : length[31:20];
  assign word_system_o = flag_valid ? flag_system : kind[ap1000p_pkg::PageSystemLsb];
  assign word_physical_o = !flag_valid && reply_physical;
  assign word_addr_o = flag_valid ? flag_addr : reply_addr;

  always_ff @(posedge clk_i) begin
    if (rst_i) broken_count_o <= '0;
    else if (broken_valid_o && broken_count_o != '1) broken_count_o <= broken_count_o + 16'd1;
  end
  assign busy_o = in_valid || parse_busy || store_busy || reply_busy;
endmodule
