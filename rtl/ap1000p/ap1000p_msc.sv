// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, message controller of a cell: commands and remote accesses of the processor become messages, and
// messages that arrive are executed without it.
//
// Send       command window (ap1000p_command) and remote access generator (ap1000p_access) ─► queues, with spill and
//            refill ─► (requests: broadcast) ─► send ─► link ─► router.
// Receive    router ─► link ─► receive ─► memory, flag. Requests and replies have a controller each on both sides, so
//            no reply waits for a request. Replies that the hardware makes go to the queues.
// Word unit  flags, atomics and remote accesses of all controllers: ap1000p_word.
// Registers  of both chips: ap1000p_regs. The MC's settings go there as `control_o`. `irq_o` is the interrupt.
// Accesses   ACKS says when the processor's remote stores are done: ap1000p_acks.
// MC         lookups, memory, communication registers and tags, by the bundles of ap1000p_vbus_pkg.
// Latency    of the blocks; a command is in its queue 8 words after its last word is stored.
// Full       of the blocks.
// Misuse     of the blocks, which report it to the registers.
// Reset      everything; the MC, memory and router must be reset with it.
// busy_o     low: without an input nothing changes. It includes `mc_busy_i`, which register STATUS shows, too.
// Source     send queues, Send and Receive Controller, Reply Queue: paper 2.2.1, 2.2.2. Remote Access Queue: 2.2.5.
//            Spill: 2.2.10. Ring buffers, flags and atomics (as commands of the memory access sequencers), registers
//            and interrupt in the MSC+: the machine's Linux port. The acknowledge counter (2.2.6) is here since both
//            its events are; no source says where. One controller a class, one block of registers for both chips: own
//            guess.
module ap1000p_msc #(
    parameter int CoordW = 5,  // bits of a coordinate
    parameter int MemW = 26,  // bits of an address in cell memory
    parameter bit HardwareRefill = 1'b1
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,
    input  logic mc_busy_i,
    output logic irq_o,

    input logic store_valid_i,
    output logic store_ready_o,
    input logic [15:0] store_page_i,
    input logic [31:0] store_data_i,

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

    input logic dsm_req_valid_i,
    output logic dsm_req_ready_o,
    input logic dsm_req_write_i,
    input logic dsm_req_registers_i,
    input logic [2*CoordW-1:0] dsm_req_cell_i,
    input logic [31:0] dsm_req_addr_i,
    input logic [1:0] dsm_req_size_i,
    input logic [63:0] dsm_req_data_i,
    output logic dsm_rsp_valid_o,
    input logic dsm_rsp_ready_i,
    output logic dsm_rsp_err_o,
    output logic [63:0] dsm_rsp_data_o,

    output logic tx_valid_o,
    output logic [1:0] tx_vc_o,
    output logic [31:0] tx_data_o,
    output logic tx_last_o,
    input logic [3:0] tx_credit_i,
    input logic rx_valid_i,
    input logic [1:0] rx_vc_i,
    input logic [31:0] rx_data_i,
    input logic rx_last_i,
    output logic [3:0] rx_credit_o,

    output ap1000p_vbus_pkg::control_request_t  control_o,
    input  ap1000p_vbus_pkg::control_response_t control_i,
    output ap1000p_vbus_pkg::creg_request_t     creg_o,
    input  ap1000p_vbus_pkg::creg_response_t    creg_i,
    output ap1000p_vbus_pkg::lookup_request_t   lookup_o,
    input  ap1000p_vbus_pkg::lookup_response_t  lookup_i,
    output ap1000p_vbus_pkg::read_request_t     read_o,
    input  ap1000p_vbus_pkg::read_response_t    read_i,
    output ap1000p_vbus_pkg::write_request_t    write_o,
    input  ap1000p_vbus_pkg::write_response_t   write_i,

    output logic tag_req_valid_o,
    input logic tag_req_ready_i,
    output logic [2*CoordW-1:0] tag_req_cell_o,
    output logic [ap1000p_vbus_pkg::LocalW-1:0] tag_req_addr_o,
    input logic tag_rsp_valid_i,
    output logic tag_rsp_ready_o,
    input logic tag_hit_i,
    input logic [31:0] tag_local_i
);
  // A pair is of both classes: [0] requests, [1] replies. These units look up addresses and wait at faults. There is
  // one Send and one Receive for each class; they are also the clients of the word unit.
  localparam int Send = 0;
  localparam int Receive = 2;
  localparam int Word = 4;
  localparam int Units = 5;

  // --------------------------------------------------------------------------------------------------------- registers
  logic [1:0][7:0] coord, size, last;  // [0] x, [1] y
  logic [11:0] context_id;
  logic [3:0][7:0] range;
  logic [7:0] spill_base;
  logic [6:0] spill_limit;
  logic pause, through, block, release_valid, stable, fill, full;
  logic [1:0] drop, refused_cause;
  logic [3:0] peek;
  logic [16:0] release_count, held;
  logic [15:0] position, acks, refused_count, refused_page, low_page, high_page;
  logic forget, refused, access_refused;
  logic [31:0] peek_data;
  logic [ 4:0] spilled;
  logic [Units-1:0] fault, fault_write, fault_system, retry, abort;
  logic [Units-1:0][ 2:0] fault_reason;
  logic [Units-1:0][11:0] fault_context;
  logic [Units-1:0][31:0] fault_addr;
  logic [1:0] bad, cut, broken;
  logic [1:0][3:0] broken_reason;
  logic [1:0][15:0] broken_kind, broken_count, open_page;
  logic [1:0][7:0] broken_x, broken_y;
  logic [1:0][2:0] open_count;
  logic [2:0] ring_on, ring_set;
  logic [2:0][1:0] ring_size;
  logic [2:0][11:0] ring_context;
  logic [2:0][17:0] ring_read;
  logic [26:0] ring_at;
  logic [1:0][2:0][26:0] ring_write;
  logic [1:0][2:0] ring_busy;
  logic word_given_up, word_error, spill_error, lost, too_long, stale;
  logic [1:0] loaded, stray;
  logic direct_arriving;

  logic regs_busy, command_busy, access_busy, queues_busy, broadcast_busy, link_busy, word_busy, cell_busy;
  logic [1:0] send_busy, receive_busy, send_valid;
  assign cell_busy = mc_busy_i || access_busy || command_busy || queues_busy || broadcast_busy ||
                     link_busy || word_busy || send_busy != '0 || receive_busy != '0;
  assign busy_o = cell_busy || regs_busy || host_rsp_valid_o;

  ap1000p_regs u_regs (
      .clk_i,
      .rst_i,
      .busy_o(regs_busy),
      .irq_o,
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
      .cell_o(coord),
      .size_o(size),
      .last_o(last),
      .context_o(context_id),
      .range_o(range),
      .table_o(control_o.context_table),
      .base_o(spill_base),
      .limit_o(spill_limit),
      .pause_o(pause),
      .through_o(through),
      .block_o(block),
      .creg_fault_o(control_o.creg_fault),
      .drop_o(drop),
      .peek_o(peek),
      .release_valid_o(release_valid),
      .release_count_o(release_count),
      .cache_o(control_o.local_cache),
      .low_o(low_page),
      .high_o(high_page),
      .upd_valid_o(control_o.update_valid),
      .upd_ready_i(control_i.update_ready),
      .upd_kind_o(control_o.update_kind),
      .upd_line_o(control_o.update_line),
      .loaded_i(loaded),
      .demap_valid_o(control_o.demap_valid),
      .demap_ready_i(control_i.demap_ready),
      .demap_all_o(control_o.demap_all),
      .demap_addr_o(control_o.demap_addr),
      .forget_o(forget),
      .ring_on_o(ring_on),
      .ring_size_o(ring_size),
      .ring_context_o(ring_context),
      .ring_read_o(ring_read),
      .ring_set_o(ring_set),
      .ring_at_o(ring_at),
      .ring_write_i(ring_write[0]),
      .ring_busy_i(ring_busy[0]),
      .fault_i(fault),
      .fault_reason_i(fault_reason),
      .fault_write_i(fault_write),
      .fault_system_i(fault_system),
      .fault_context_i(fault_context),
      .fault_addr_i(fault_addr),
      .retry_o(retry),
      .abort_o(abort),
      .cell_busy_i(cell_busy),
      // The queues see a direct word a cycle late.
      .stable_i(stable && !direct_arriving),
      .fill_i(fill),
      .full_i(full),
      .spilled_i(spilled),
      .held_i(held),
      .position_i(position),
      .acks_i(acks),
      .pulse_i({
        spill_error || lost || too_long,
        word_given_up || word_error || stale,
        cut != '0,
        bad != '0,
        broken != '0,
        refused || access_refused
      }),
      .stray_i(stray),
      .refused_count_i(refused_count),
      .refused_page_i(refused_page),
      .refused_cause_i(refused_cause),
      .count_of_broken_i(broken_count),
      .broken_valid_i(broken),
      .broken_reason_i(broken_reason),
      .broken_what_i({{broken_kind[1], broken_y[1], broken_x[1]}, {broken_kind[0], broken_y[0], broken_x[0]}}),
      .open_count_i(open_count),
      .open_page_i(open_page),
      .peek_data_i(peek_data)
  );

  // -------------------------------------------------------------------------------------- commands and remote accesses
  logic [4:0] queue_valid, queue_ready, queue_end;  // one writer for each queue
  logic [4:0][31:0] queue_data;
  logic direct_valid, direct_ready, direct_end;
  logic [ 4:0] direct_queue;
  logic [ 2:0] direct_number;
  logic [ 3:0] direct_index;
  logic [31:0] direct_data;
  ap1000p_command u_command (
      .clk_i,
      .rst_i,
      .busy_o(command_busy),
      .store_valid_i,
      .store_ready_o,
      .store_page_i,
      .store_data_i,
      .context_i(context_id),
      .size_x_i(size[0]),
      .size_y_i(size[1]),
      .low_x_i(range[0]),
      .high_x_i(range[1]),
      .low_y_i(range[2]),
      .high_y_i(range[3]),
      .open_count_o(open_count),
      .open_page_o(open_page),
      .drop_i(drop),
      .peek_i(peek),
      .peek_data_o(peek_data),
      .refused_valid_o(refused),
      .refused_cause_o(refused_cause),
      .refused_page_o(refused_page),
      .refused_count_o(refused_count),
      .system_valid_o(queue_valid[ap1000p_pkg::QueueSystem]),
      .system_ready_i(queue_ready[ap1000p_pkg::QueueSystem]),
      .system_end_o(queue_end[ap1000p_pkg::QueueSystem]),
      .system_data_o(queue_data[ap1000p_pkg::QueueSystem]),
      .user_valid_o(queue_valid[ap1000p_pkg::QueueUser]),
      .user_ready_i(queue_ready[ap1000p_pkg::QueueUser]),
      .user_end_o(queue_end[ap1000p_pkg::QueueUser]),
      .user_data_o(queue_data[ap1000p_pkg::QueueUser]),
      .direct_waits_o(direct_arriving),
      .direct_valid_o(direct_valid),
      .direct_ready_i(direct_ready),
      .direct_queue_o(direct_queue),
      .direct_number_o(direct_number),
      .direct_index_o(direct_index),
      .direct_end_o(direct_end),
      .direct_data_o(direct_data)
  );

  logic [1:0] ack, load_valid, load_err;
  logic [1:0][63:0] load_data;
  logic [1:0][1:0][7:0] load_cell;
  logic issue, acks_full, load_ready, unused_over;
  ap1000p_access #(
      .CoordW(CoordW),
      .LocalW(ap1000p_vbus_pkg::LocalW)
  ) u_access (
      .clk_i,
      .rst_i,
      .busy_o(access_busy),
      .x_i(coord[0][CoordW-1:0]),
      .y_i(coord[1][CoordW-1:0]),
      .last_x_i(last[0][CoordW-1:0]),
      .last_y_i(last[1][CoordW-1:0]),
      .low_i(low_page),
      .high_i(high_page),
      .acks_full_i(acks_full),
      .dsm_req_valid_i,
      .dsm_req_ready_o,
      .dsm_req_write_i,
      .dsm_req_registers_i,
      .dsm_req_cell_i,
      .dsm_req_addr_i,
      .dsm_req_size_i,
      .dsm_req_data_i,
      .dsm_rsp_valid_o,
      .dsm_rsp_ready_i,
      .dsm_rsp_err_o,
      .dsm_rsp_data_o,
      .why_o(loaded),
      .issue_o(issue),
      .refused_o(access_refused),
      .stale_o(stale),
      .out_valid_o(queue_valid[ap1000p_pkg::QueueAccess]),
      .out_ready_i(queue_ready[ap1000p_pkg::QueueAccess]),
      .out_end_o(queue_end[ap1000p_pkg::QueueAccess]),
      .out_data_o(queue_data[ap1000p_pkg::QueueAccess]),
      .load_valid_i(load_valid[1]),
      .load_ready_o(load_ready),
      .load_cell_i(load_cell[1]),
      .load_err_i(load_err[1]),
      .load_data_i(load_data[1]),
      .stray_o(stray[1]),
      .tag_req_valid_o,
      .tag_req_ready_i,
      .tag_req_cell_o,
      .tag_req_addr_o,
      .tag_rsp_valid_i,
      .tag_rsp_ready_o,
      .tag_hit_i,
      .tag_local_i,
      .mem_rd_cmd_valid_o(read_o.cmd_valid[ap1000p_vbus_pkg::MemAccess]),
      .mem_rd_cmd_ready_i(read_i.cmd_ready[ap1000p_vbus_pkg::MemAccess]),
      .mem_rd_cmd_addr_o(read_o.cmd_addr[ap1000p_vbus_pkg::MemAccess]),
      .mem_rd_cmd_len_o(read_o.cmd_len[ap1000p_vbus_pkg::MemAccess]),
      .mem_rd_data_valid_i(read_i.data_valid[ap1000p_vbus_pkg::MemAccess]),
      .mem_rd_data_ready_o(read_o.data_ready[ap1000p_vbus_pkg::MemAccess]),
      .mem_rd_data_data_i(read_i.data),
      .mem_rd_data_last_i(read_i.last),
      .mem_rd_data_err_i(read_i.err),
      .mem_wr_cmd_valid_o(write_o.cmd_valid[ap1000p_vbus_pkg::MemAccess]),
      .mem_wr_cmd_ready_i(write_i.cmd_ready[ap1000p_vbus_pkg::MemAccess]),
      .mem_wr_cmd_addr_o(write_o.cmd_addr[ap1000p_vbus_pkg::MemAccess]),
      .mem_wr_cmd_len_o(write_o.cmd_len[ap1000p_vbus_pkg::MemAccess]),
      .mem_wr_data_valid_o(write_o.data_valid[ap1000p_vbus_pkg::MemAccess]),
      .mem_wr_data_ready_i(write_i.data_ready[ap1000p_vbus_pkg::MemAccess]),
      .mem_wr_data_data_o(write_o.data[ap1000p_vbus_pkg::MemAccess]),
      .mem_wr_data_strb_o(write_o.strb[ap1000p_vbus_pkg::MemAccess]),
      .mem_wr_data_last_o(write_o.last[ap1000p_vbus_pkg::MemAccess]),
      .mem_wr_rsp_valid_i(write_i.rsp_valid[ap1000p_vbus_pkg::MemAccess]),
      .mem_wr_rsp_ready_o(write_o.rsp_ready[ap1000p_vbus_pkg::MemAccess]),
      .mem_wr_rsp_err_i(write_i.err)
  );
  ap1000p_acks u_acks (
      .clk_i,
      .rst_i,
      .issue_i(issue),
      .ack_i  (ack[1]),
      .count_o(acks),
      .full_o (acks_full),
      .over_o (unused_over),
      .under_o(stray[0])
  );

  // ------------------------------------------------------------------------------------------------------------ queues
  logic [1:0] queued_valid, queued_ready, queued_end;
  logic [1:0][31:0] queued_data;
  logic [4:0] queued_queue, queue_hold, queue_settle, queue_back;
  ap1000p_queues #(
      .DataW(32),
      .HardwareRefill(HardwareRefill)
  ) u_queues (
      .clk_i,
      .rst_i,
      .busy_o(queues_busy),
      .base_i(spill_base),
      .limit_i(spill_limit),
      .pause_i(pause),
      .through_i(through),
      .block_i(block),
      .release_valid_i(release_valid),
      .release_count_i(release_count),
      .stable_o(stable),
      .fill_o(fill),
      .full_o(full),
      .spilled_o(spilled),
      .held_o(held),
      .position_o(position),
      .spill_error_o(spill_error),
      .lost_o(lost),
      .broken_o(too_long),
      .in_valid_i(queue_valid),
      .in_ready_o(queue_ready),
      .in_end_i(queue_end),
      .in_data_i(queue_data),
      .arriving_i(direct_arriving),
      .direct_valid_i(direct_valid),
      .direct_ready_o(direct_ready),
      .direct_queue_i(direct_queue),
      .direct_number_i(direct_number),
      .direct_index_i(direct_index),
      .direct_end_i(direct_end),
      .direct_data_i(direct_data),
      .hold_i(queue_hold),
      .settle_i(queue_settle),
      .back_i(queue_back),
      .out_valid_o(queued_valid),
      .out_ready_i(queued_ready),
      .out_queue_o(queued_queue),
      .out_end_o(queued_end),
      .out_data_o(queued_data),
      .mem_wr_cmd_valid_o(write_o.cmd_valid[ap1000p_vbus_pkg::MemQueues]),
      .mem_wr_cmd_ready_i(write_i.cmd_ready[ap1000p_vbus_pkg::MemQueues]),
      .mem_wr_cmd_addr_o(write_o.cmd_addr[ap1000p_vbus_pkg::MemQueues]),
      .mem_wr_cmd_len_o(write_o.cmd_len[ap1000p_vbus_pkg::MemQueues]),
      .mem_wr_data_valid_o(write_o.data_valid[ap1000p_vbus_pkg::MemQueues]),
      .mem_wr_data_ready_i(write_i.data_ready[ap1000p_vbus_pkg::MemQueues]),
      .mem_wr_data_data_o(write_o.data[ap1000p_vbus_pkg::MemQueues]),
      .mem_wr_data_strb_o(write_o.strb[ap1000p_vbus_pkg::MemQueues]),
      .mem_wr_data_last_o(write_o.last[ap1000p_vbus_pkg::MemQueues]),
      .mem_wr_rsp_valid_i(write_i.rsp_valid[ap1000p_vbus_pkg::MemQueues]),
      .mem_wr_rsp_ready_o(write_o.rsp_ready[ap1000p_vbus_pkg::MemQueues]),
      .mem_wr_rsp_err_i(write_i.err),
      .mem_rd_cmd_valid_o(read_o.cmd_valid[ap1000p_vbus_pkg::MemQueues]),
      .mem_rd_cmd_ready_i(read_i.cmd_ready[ap1000p_vbus_pkg::MemQueues]),
      .mem_rd_cmd_addr_o(read_o.cmd_addr[ap1000p_vbus_pkg::MemQueues]),
      .mem_rd_cmd_len_o(read_o.cmd_len[ap1000p_vbus_pkg::MemQueues]),
      .mem_rd_data_valid_i(read_i.data_valid[ap1000p_vbus_pkg::MemQueues]),
      .mem_rd_data_ready_o(read_o.data_ready[ap1000p_vbus_pkg::MemQueues]),
      .mem_rd_data_data_i(read_i.data),
      .mem_rd_data_last_i(read_i.last),
      .mem_rd_data_err_i(read_i.err)
  );

  // -------------------------------------------------------------------------------------------------------------- send
  logic [Units-1:0] lookup_valid, lookup_ready, lookup_rsp_valid, lookup_rsp_ready;
  logic [Units-1:0][ap1000p_vbus_pkg::LookupW-1:0] lookup;
  logic [1:0] send_ready, send_end, send_more, flag_valid, flag_ready, flag_system;
  logic [4:0] send_queue, settle, lost_head;  // as the queues are numbered
  logic [1:0] sent_valid, sent_ready, sent_local, sent_last;
  logic [1:0][11:0] flag_context;
  logic [1:0][31:0] send_data, flag_addr, sent_data;
  logic [1:0] fetch_valid, fetch_ready, fetch_rsp_valid, fetch_rsp_ready;
  logic [1:0][6:0] fetch_addr;

  // A reply's words come from a block RAM late in the cycle; a request's pass the register of `u_broadcast`.
  skid #(
      .W(35)
  ) u_replies (
      .clk_i,
      .rst_i,
      .in_valid_i (queued_valid[1]),
      .in_ready_o (queued_ready[1]),
      .in_data_i  ({queued_queue[4:3], queued_end[1], queued_data[1]}),
      .out_valid_o(send_valid[1]),
      .out_ready_i(send_ready[1]),
      .out_data_o ({send_queue[4:3], send_end[1], send_data[1]})
  );
  assign send_more[1] = 1'b0;

  ap1000p_broadcast #(
      .CoordW(CoordW)
  ) u_broadcast (
      .clk_i,
      .rst_i,
      .busy_o(broadcast_busy),
      .last_x_i(last[0][CoordW-1:0]),
      .in_valid_i(queued_valid[0]),
      .in_ready_o(queued_ready[0]),
      .in_queue_i(queued_queue[2:0]),
      .in_end_i(queued_end[0]),
      .in_data_i(queued_data[0]),
      .out_valid_o(send_valid[0]),
      .out_ready_i(send_ready[0]),
      .out_queue_o(send_queue[2:0]),
      .out_end_o(send_end[0]),
      .out_more_o(send_more[0]),
      .out_data_o(send_data[0])
  );

  for (genvar c = 0; c < 2; c++) begin : gen_send
    localparam int Client = ap1000p_vbus_pkg::MemClass + c;
    localparam int First = c == 0 ? 0 : 3;  // of the queues of the class
    localparam int Queues = c == 0 ? 3 : 2;
    ap1000p_vbus_pkg::lookup_t source;
    logic own, own_retry, own_abort, why_system;
    logic [ 2:0] why_reason;
    logic [11:0] why_context;
    logic [31:0] why_addr;
    assign source.write = 1'b0;
    assign lookup[Send+c] = source;
    assign fault_write[Send+c] = 1'b0;
    ap1000p_aside #(
        .Queues(Queues)
    ) u_aside (
        .clk_i,
        .rst_i,
        .back_i(queue_back[First+:Queues]),
        .settle_i(settle[First+:Queues]),
        .hold_o(queue_hold[First+:Queues]),
        .lost_o(lost_head[First+:Queues]),
        .own_i(own),
        .own_retry_o(own_retry),
        .own_abort_o(own_abort),
        .why_reason_i(why_reason),
        .why_context_i(why_context),
        .why_system_i(why_system),
        .why_addr_i(why_addr),
        .fault_valid_o(fault[Send+c]),
        .fault_reason_o(fault_reason[Send+c]),
        .fault_context_o(fault_context[Send+c]),
        .fault_system_o(fault_system[Send+c]),
        .fault_addr_o(fault_addr[Send+c]),
        .retry_i(retry[Send+c]),
        .abort_i(abort[Send+c])
    );
    ap1000p_send #(
        .Reply (c == 1),
        .CoordW(CoordW)
    ) u_send (
        .clk_i,
        .rst_i,
        .busy_o(send_busy[c]),
        .bad_o(bad[c]),
        .error_o(cut[c]),
        .x_i(coord[0][CoordW-1:0]),
        .y_i(coord[1][CoordW-1:0]),
        .last_x_i(last[0][CoordW-1:0]),
        .last_y_i(last[1][CoordW-1:0]),
        .in_valid_i(send_valid[c]),
        .in_ready_o(send_ready[c]),
        .in_queue_i(send_queue[First+:Queues]),
        .in_end_i(send_end[c]),
        .in_more_i(send_more[c]),
        .in_data_i(send_data[c]),
        .lost_i(lost_head[First+:Queues]),
        .settle_o(settle[First+:Queues]),
        .back_o(queue_back[First+:Queues]),
        .req_valid_o(lookup_valid[Send+c]),
        .req_ready_i(lookup_ready[Send+c]),
        .req_context_o(source.context_id),
        .req_addr_o(source.addr),
        .req_system_o(source.system),
        .rsp_valid_i(lookup_rsp_valid[Send+c]),
        .rsp_ready_o(lookup_rsp_ready[Send+c]),
        .rsp_addr_i(lookup_i.addr[ap1000p_vbus_pkg::SideSend]),
        .rsp_fault_i(lookup_i.fault[ap1000p_vbus_pkg::SideSend]),
        .forget_i(forget),
        .fault_valid_o(own),
        .why_reason_o(why_reason),
        .why_context_o(why_context),
        .why_system_o(why_system),
        .why_addr_o(why_addr),
        .retry_i(own_retry),
        .abort_i(own_abort),
        .mem_cmd_valid_o(read_o.cmd_valid[Client]),
        .mem_cmd_ready_i(read_i.cmd_ready[Client]),
        .mem_cmd_addr_o(read_o.cmd_addr[Client]),
        .mem_cmd_len_o(read_o.cmd_len[Client]),
        .mem_data_valid_i(read_i.data_valid[Client]),
        .mem_data_ready_o(read_o.data_ready[Client]),
        .mem_data_data_i(read_i.data),
        .mem_data_last_i(read_i.last),
        .mem_data_err_i(read_i.err),
        .creg_wait_i(!control_o.creg_fault[1]),
        .creg_valid_o(fetch_valid[c]),
        .creg_ready_i(fetch_ready[c]),
        .creg_addr_o(fetch_addr[c]),
        .creg_rsp_valid_i(fetch_rsp_valid[c]),
        .creg_rsp_ready_o(fetch_rsp_ready[c]),
        .creg_rsp_fault_i(creg_i.fault[ap1000p_vbus_pkg::CregSend]),
        .creg_rsp_data_i(creg_i.data[ap1000p_vbus_pkg::CregSend]),
        .flag_valid_o(flag_valid[c]),
        .flag_ready_i(flag_ready[c]),
        .flag_context_o(flag_context[c]),
        .flag_system_o(flag_system[c]),
        .flag_addr_o(flag_addr[c]),
        .out_valid_o(sent_valid[c]),
        .out_ready_i(sent_ready[c]),
        .out_local_o(sent_local[c]),
        .out_last_o(sent_last[c]),
        .out_data_o(sent_data[c])
    );
  end

  // Messages of remote accesses have no data in memory: none comes back.
  assign queue_settle = settle | 5'd1 << ap1000p_pkg::QueueAccess | 5'd1 << ap1000p_pkg::QueueRemoteReply;

  // Both send controllers read communication registers as one source.
  assign {creg_o.write[ap1000p_vbus_pkg::CregSend], creg_o.data[ap1000p_vbus_pkg::CregSend]} = '0;
  ap1000p_mmu_mux #(
      .Clients(2),
      .W(7)
  ) u_fetch_mux (
      .clk_i,
      .rst_i,
      .req_valid_i(fetch_valid),
      .req_ready_o(fetch_ready),
      .req_i(fetch_addr),
      .rsp_valid_o(fetch_rsp_valid),
      .rsp_ready_i(fetch_rsp_ready),
      .mmu_valid_o(creg_o.valid[ap1000p_vbus_pkg::CregSend]),
      .mmu_ready_i(creg_i.ready[ap1000p_vbus_pkg::CregSend]),
      .mmu_req_o(creg_o.addr[ap1000p_vbus_pkg::CregSend]),
      .mmu_rsp_valid_i(creg_i.valid[ap1000p_vbus_pkg::CregSend]),
      .mmu_rsp_ready_o(creg_o.rsp_ready[ap1000p_vbus_pkg::CregSend])
  );

  logic [1:0] received_valid, received_ready, received_last;
  logic [1:0][31:0] received_data;
  ap1000p_link u_link (
      .clk_i,
      .rst_i,
      .busy_o(link_busy),
      .out_valid_i(sent_valid),
      .out_ready_o(sent_ready),
      .out_local_i(sent_local),
      .out_last_i(sent_last),
      .out_data_i(sent_data),
      .in_valid_o(received_valid),
      .in_ready_i(received_ready),
      .in_last_o(received_last),
      .in_data_o(received_data),
      .tx_valid_o,
      .tx_vc_o,
      .tx_data_o,
      .tx_last_o,
      .tx_credit_i,
      .rx_valid_i,
      .rx_vc_i,
      .rx_data_i,
      .rx_last_i,
      .rx_credit_o
  );

  // ----------------------------------------------------------------------------------------------------------- receive
  logic [Word-1:0] word_valid, word_ready, word_system, word_physical, word_done;
  logic [Word-1:0][ 2:0] word_op;
  logic [Word-1:0][11:0] word_context;
  logic [Word-1:0][31:0] word_addr, word_a, word_b;
  logic [Word-1:0][3:0] word_strb;
  logic [31:0] word_old;
  logic word_fault, word_err;
  logic [1:0][1:0] reply_valid, reply_ready;
  logic [1:0] reply_end;
  logic [1:0][31:0] reply_data;

  for (genvar c = 0; c < 2; c++) begin : gen_receive
    localparam int Client = ap1000p_vbus_pkg::MemClass + c;
    localparam int Source = ap1000p_vbus_pkg::CregReceive + c;
    ap1000p_vbus_pkg::lookup_t destination;
    assign lookup[Receive+c] = destination;
    assign fault_write[Receive+c] = 1'b1;
    ap1000p_receive #(
        .Reply(c == 1),
        .MemW (MemW)
    ) u_receive (
        .clk_i,
        .rst_i,
        .busy_o(receive_busy[c]),
        .cell_x_i(coord[0]),
        .cell_y_i(coord[1]),
        .forget_i(forget),
        .ring_on_i(ring_on),
        .ring_size_i(ring_size),
        .ring_context_i(ring_context),
        .ring_read_i(ring_read),
        .ring_set_i(ring_set),
        .ring_at_i(ring_at),
        .ring_write_o(ring_write[c]),
        .ring_busy_o(ring_busy[c]),
        .in_valid_i(received_valid[c]),
        .in_ready_o(received_ready[c]),
        .in_data_i(received_data[c]),
        .in_last_i(received_last[c]),
        .mmu_req_valid_o(lookup_valid[Receive+c]),
        .mmu_req_ready_i(lookup_ready[Receive+c]),
        .mmu_req_context_o(destination.context_id),
        .mmu_req_addr_o(destination.addr),
        .mmu_req_write_o(destination.write),
        .mmu_req_system_o(destination.system),
        .mmu_rsp_valid_i(lookup_rsp_valid[Receive+c]),
        .mmu_rsp_ready_o(lookup_rsp_ready[Receive+c]),
        .mmu_rsp_addr_i(lookup_i.addr[ap1000p_vbus_pkg::SideReceive]),
        .mmu_rsp_fault_i(lookup_i.fault[ap1000p_vbus_pkg::SideReceive]),
        .fault_valid_o(fault[Receive+c]),
        .fault_reason_o(fault_reason[Receive+c]),
        .fault_context_o(fault_context[Receive+c]),
        .fault_addr_o(fault_addr[Receive+c]),
        .fault_system_o(fault_system[Receive+c]),
        .retry_i(retry[Receive+c]),
        .abort_i(abort[Receive+c]),
        .mem_cmd_valid_o(write_o.cmd_valid[Client]),
        .mem_cmd_ready_i(write_i.cmd_ready[Client]),
        .mem_cmd_addr_o(write_o.cmd_addr[Client]),
        .mem_cmd_len_o(write_o.cmd_len[Client]),
        .mem_data_valid_o(write_o.data_valid[Client]),
        .mem_data_ready_i(write_i.data_ready[Client]),
        .mem_data_data_o(write_o.data[Client]),
        .mem_data_strb_o(write_o.strb[Client]),
        .mem_data_last_o(write_o.last[Client]),
        .mem_rsp_valid_i(write_i.rsp_valid[Client]),
        .mem_rsp_ready_o(write_o.rsp_ready[Client]),
        .mem_rsp_err_i(write_i.err),
        .word_valid_o(word_valid[Receive+c]),
        .word_ready_i(word_ready[Receive+c]),
        .word_op_o(word_op[Receive+c]),
        .word_context_o(word_context[Receive+c]),
        .word_system_o(word_system[Receive+c]),
        .word_physical_o(word_physical[Receive+c]),
        .word_addr_o(word_addr[Receive+c]),
        .word_strb_o(word_strb[Receive+c]),
        .word_a_o(word_a[Receive+c]),
        .word_b_o(word_b[Receive+c]),
        .word_done_i(word_done[Receive+c]),
        .word_old_i(word_old),
        .word_fault_i(word_fault),
        .word_err_i(word_err),
        .creg_valid_o(creg_o.valid[Source]),
        .creg_ready_i(creg_i.ready[Source]),
        .creg_addr_o(creg_o.addr[Source]),
        .creg_write_o(creg_o.write[Source]),
        .creg_data_o(creg_o.data[Source]),
        .creg_rsp_valid_i(creg_i.valid[Source]),
        .creg_rsp_ready_o(creg_o.rsp_ready[Source]),
        .creg_rsp_fault_i(creg_i.fault[Source]),
        .creg_rsp_data_i(creg_i.data[Source]),
        .queue_valid_o(reply_valid[c]),
        .queue_ready_i(reply_ready[c]),
        .queue_end_o(reply_end[c]),
        .queue_data_o(reply_data[c]),
        .load_valid_o(load_valid[c]),
        .load_ready_i(load_ready),
        .load_err_o(load_err[c]),
        .load_cell_o(load_cell[c]),
        .load_data_o(load_data[c]),
        .ack_o(ack[c]),
        .broken_valid_o(broken[c]),
        .broken_reason_o(broken_reason[c]),
        .broken_kind_o(broken_kind[c]),
        .broken_x_o(broken_x[c]),
        .broken_y_o(broken_y[c]),
        .broken_count_o(broken_count[c])
    );
  end

  // Requests are answered through the queues; replies are not answered.
  assign {queue_valid[ap1000p_pkg::QueueGetReply], queue_valid[ap1000p_pkg::QueueRemoteReply]} = reply_valid[0];
  assign {queue_end[ap1000p_pkg::QueueGetReply], queue_end[ap1000p_pkg::QueueRemoteReply]} = {2{reply_end[0]}};
  assign {queue_data[ap1000p_pkg::QueueGetReply], queue_data[ap1000p_pkg::QueueRemoteReply]} = {2{reply_data[0]}};
  assign reply_ready = {2'b00, queue_ready[ap1000p_pkg::QueueGetReply], queue_ready[ap1000p_pkg::QueueRemoteReply]};
  logic unused_of_class;
  assign unused_of_class = ^{
    ack[0], load_valid[0], load_err[0], load_data[0], load_cell[0], ring_write[1], ring_busy[1],
    reply_valid[1], reply_end[1], reply_data[1], word_done[Send+:2]
  };

  // Flags of what was sent.
  assign word_valid[Send+:2] = flag_valid;
  assign flag_ready = word_ready[Send+:2];
  assign word_op[Send+:2] = {2{3'(ap1000p_pkg::WordInc)}};
  assign word_context[Send+:2] = flag_context;
  assign word_system[Send+:2] = flag_system;
  assign word_physical[Send+:2] = '0;
  assign word_addr[Send+:2] = flag_addr;
  assign word_strb[Send+:2] = '1;
  assign word_a[Send+:2] = '0;
  assign word_b[Send+:2] = '0;

  ap1000p_vbus_pkg::lookup_t word_lookup;
  assign lookup[Word] = word_lookup;
  ap1000p_word u_word (
      .clk_i,
      .rst_i,
      .busy_o(word_busy),
      .req_valid_i(word_valid),
      .req_ready_o(word_ready),
      .req_op_i(word_op),
      .req_context_i(word_context),
      .req_system_i(word_system),
      .req_physical_i(word_physical),
      .req_addr_i(word_addr),
      .req_strb_i(word_strb),
      .req_a_i(word_a),
      .req_b_i(word_b),
      .rsp_valid_o(word_done),
      .rsp_old_o(word_old),
      .rsp_fault_o(word_fault),
      .rsp_err_o(word_err),
      .given_up_o(word_given_up),
      .bus_error_o(word_error),
      .mmu_req_valid_o(lookup_valid[Word]),
      .mmu_req_ready_i(lookup_ready[Word]),
      .mmu_req_context_o(word_lookup.context_id),
      .mmu_req_addr_o(word_lookup.addr),
      .mmu_req_write_o(word_lookup.write),
      .mmu_req_system_o(word_lookup.system),
      .mmu_rsp_valid_i(lookup_rsp_valid[Word]),
      .mmu_rsp_ready_o(lookup_rsp_ready[Word]),
      .mmu_rsp_addr_i(lookup_i.addr[ap1000p_vbus_pkg::SideReceive]),
      .mmu_rsp_fault_i(lookup_i.fault[ap1000p_vbus_pkg::SideReceive]),
      .fault_valid_o(fault[Word]),
      .fault_reason_o(fault_reason[Word]),
      .fault_context_o(fault_context[Word]),
      .fault_addr_o(fault_addr[Word]),
      .fault_write_o(fault_write[Word]),
      .fault_system_o(fault_system[Word]),
      .retry_i(retry[Word]),
      .abort_i(abort[Word]),
      .mem_rd_cmd_valid_o(read_o.cmd_valid[ap1000p_vbus_pkg::MemWord]),
      .mem_rd_cmd_ready_i(read_i.cmd_ready[ap1000p_vbus_pkg::MemWord]),
      .mem_rd_cmd_addr_o(read_o.cmd_addr[ap1000p_vbus_pkg::MemWord]),
      .mem_rd_cmd_len_o(read_o.cmd_len[ap1000p_vbus_pkg::MemWord]),
      .mem_rd_data_valid_i(read_i.data_valid[ap1000p_vbus_pkg::MemWord]),
      .mem_rd_data_ready_o(read_o.data_ready[ap1000p_vbus_pkg::MemWord]),
      .mem_rd_data_data_i(read_i.data),
      .mem_rd_data_last_i(read_i.last),
      .mem_rd_data_err_i(read_i.err),
      .mem_wr_cmd_valid_o(write_o.cmd_valid[ap1000p_vbus_pkg::MemWord]),
      .mem_wr_cmd_ready_i(write_i.cmd_ready[ap1000p_vbus_pkg::MemWord]),
      .mem_wr_cmd_addr_o(write_o.cmd_addr[ap1000p_vbus_pkg::MemWord]),
      .mem_wr_cmd_len_o(write_o.cmd_len[ap1000p_vbus_pkg::MemWord]),
      .mem_wr_data_valid_o(write_o.data_valid[ap1000p_vbus_pkg::MemWord]),
      .mem_wr_data_ready_i(write_i.data_ready[ap1000p_vbus_pkg::MemWord]),
      .mem_wr_data_data_o(write_o.data[ap1000p_vbus_pkg::MemWord]),
      .mem_wr_data_strb_o(write_o.strb[ap1000p_vbus_pkg::MemWord]),
      .mem_wr_data_last_o(write_o.last[ap1000p_vbus_pkg::MemWord]),
      .mem_wr_rsp_valid_i(write_i.rsp_valid[ap1000p_vbus_pkg::MemWord]),
      .mem_wr_rsp_ready_o(write_o.rsp_ready[ap1000p_vbus_pkg::MemWord]),
      .mem_wr_rsp_err_i(write_i.err)
  );

  // ----------------------------------------------------------------------------------------------------------- lookups
  // Each side of the MMU has several clients: the senders; the receivers and the word unit.
  for (genvar s = 0; s < ap1000p_vbus_pkg::Sides; s++) begin : gen_side
    localparam int First = s == ap1000p_vbus_pkg::SideSend ? Send : Receive;
    localparam int Clients = s == ap1000p_vbus_pkg::SideSend ? Receive - Send : Units - Receive;
    ap1000p_mmu_mux #(
        .Clients(Clients),
        .W(ap1000p_vbus_pkg::LookupW)
    ) u_mmu_mux (
        .clk_i,
        .rst_i,
        .req_valid_i(lookup_valid[First+:Clients]),
        .req_ready_o(lookup_ready[First+:Clients]),
        .req_i(lookup[First+:Clients]),
        .rsp_valid_o(lookup_rsp_valid[First+:Clients]),
        .rsp_ready_i(lookup_rsp_ready[First+:Clients]),
        .mmu_valid_o(lookup_o.valid[s]),
        .mmu_ready_i(lookup_i.ready[s]),
        .mmu_req_o({lookup_o.context_id[s], lookup_o.addr[s], lookup_o.write[s], lookup_o.system[s]}),
        .mmu_rsp_valid_i(lookup_i.valid[s]),
        .mmu_rsp_ready_o(lookup_o.rsp_ready[s])
    );
  end
endmodule
