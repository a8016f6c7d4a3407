// AP1000+ cell: message controller (MSC+) and the memory controller's parts that it needs, between processor, memory and torus.
//
// Store      words to command pages: ap1000p_command.
// Registers  ap1000p_regs; `irq_o` is its interrupt.
// Creg       the processor's port of the communication registers: ap1000p_creg, source 0. Receivers and senders are the others.
// Dsm        the processor's loads and stores to other cells' memory, and to copies of it: ap1000p_access, ap1000p_wtp. Register ACKS says when the
//            stores are done.
// Network    a port of torus_router: ap1000p_link.
// Memory     read and write streams of 32-bit words, shared by all inside: mem_read_mux, mem_write_mux. What is asked for has its room.
// The path   command ─► queues ─► (requests: spread) ─► send ─► link ─► router ... link ─► receive ─► memory, flag: each block's header says what it does. Requests
//            and replies have a controller each on both sides, so that no reply waits for a request.
// Latency    of the blocks; a command enters its queue when its last word is stored, 8 words then, and the memory's mux adds up to 2 cycles.
// Reset      everything; memory and router must be reset with it.
// busy_o     low: without an input nothing changes.
// Source     paper 2.1, Fig 2. One controller a class, the memory's port: own guess.
module ap1000p_cell #(
    parameter int CoordW = 5,  // bits of a coordinate, 1 to 7
    parameter int MemW = 26,  // bits of an address in cell memory, 24 to 31
    parameter bit HardwareRefill = 1'b1
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,
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

    input logic creg_req_valid_i,
    output logic creg_req_ready_o,
    input logic creg_req_write_i,
    input logic [6:0] creg_req_addr_i,
    input logic [31:0] creg_req_data_i,
    output logic creg_rsp_valid_o,
    input logic creg_rsp_ready_i,
    output logic creg_rsp_fault_o,
    output logic [31:0] creg_rsp_data_o,

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

    output logic mem_rd_cmd_valid_o,
    input logic mem_rd_cmd_ready_i,
    output logic [31:0] mem_rd_cmd_addr_o,
    output logic [7:0] mem_rd_cmd_len_o,
    input logic mem_rd_data_valid_i,
    output logic mem_rd_data_ready_o,
    input logic [31:0] mem_rd_data_data_i,
    input logic mem_rd_data_last_i,
    input logic mem_rd_data_err_i,
    output logic mem_wr_cmd_valid_o,
    input logic mem_wr_cmd_ready_i,
    output logic [31:0] mem_wr_cmd_addr_o,
    output logic [7:0] mem_wr_cmd_len_o,
    output logic mem_wr_data_valid_o,
    input logic mem_wr_data_ready_i,
    output logic [31:0] mem_wr_data_data_o,
    output logic [3:0] mem_wr_data_strb_o,
    output logic mem_wr_data_last_o,
    input logic mem_wr_rsp_valid_i,
    output logic mem_wr_rsp_ready_o,
    input logic mem_wr_rsp_err_i
);
  if (CoordW < 1 || CoordW > 7) begin : gen_bad_coord
    ap1000p_cell_CoordW_must_be_1_to_7 u_bad ();
  end

  localparam int LocalW = 25;  // bits of an address in a cell's memory that the shared space has
  // Of both classes: [0] requests, [1] replies. Of the five that look addresses up: those sent, those received, the word unit.
  localparam int Word = 4;

  // -------------------------------------------------------------------------------------------------------- registers
  logic [1:0][7:0] at, size, last;
  logic [11:0] context_;
  logic [3:0][7:0] range;
  logic [31:0] table_;
  logic [7:0] base;
  logic [6:0] limit;
  logic pause, through, block, release_valid, stable, fill, full, regs_busy, any_busy;
  logic [1:0] creg_fault, drop, refused_cause;
  logic [3:0] peek;
  logic [16:0] release_count, held;
  logic [15:0] position, acks, refused_count, refused_page;
  logic demap_valid, demap_ready, demap_all, forget, refused, dsm_refused;
  logic [31:0] demap_addr, peek_data;
  logic [4:0] fault, fault_write, fault_system, retry, abort, spilled;
  logic [4:0][ 2:0] fault_reason;
  logic [4:0][11:0] fault_context;
  logic [4:0][31:0] fault_addr;
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
  logic [31:0] cache;
  logic [15:0] low_page, high_page;
  logic upd_valid, upd_ready;
  logic [ 2:0] upd_kind;
  logic [24:0] upd_line;
  logic [1:0] loaded, stray;

  logic [5:0] pulse;
  assign pulse = {
    spill_error || lost || too_long,
    word_given_up || word_error || stale,
    cut != '0,
    bad != '0,
    broken != '0,
    refused || dsm_refused
  };

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
      .cell_o(at),
      .size_o(size),
      .last_o(last),
      .context_o(context_),
      .range_o(range),
      .table_o(table_),
      .base_o(base),
      .limit_o(limit),
      .pause_o(pause),
      .through_o(through),
      .block_o(block),
      .creg_fault_o(creg_fault),
      .drop_o(drop),
      .peek_o(peek),
      .release_valid_o(release_valid),
      .release_count_o(release_count),
      .cache_o(cache),
      .low_o(low_page),
      .high_o(high_page),
      .upd_valid_o(upd_valid),
      .upd_ready_i(upd_ready),
      .upd_kind_o(upd_kind),
      .upd_line_o(upd_line),
      .loaded_i(loaded),
      .demap_valid_o(demap_valid),
      .demap_ready_i(demap_ready),
      .demap_all_o(demap_all),
      .demap_addr_o(demap_addr),
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
      .cell_busy_i(any_busy),
      // Of a direct word the queues know a cycle late.
      .stable_i(stable && !direct_waits),
      .fill_i(fill),
      .full_i(full),
      .spilled_i(spilled),
      .held_i(held),
      .position_i(position),
      .acks_i(acks),
      .pulse_i(pulse),
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

  // ------------------------------------------------------------------------------------- commands and queues
  logic command_busy, queues_busy;
  logic [4:0] put, put_ready, put_end;
  logic [4:0][31:0] put_data;
  logic direct_waits, direct_valid, direct_ready, direct_end;
  logic [ 4:0] direct_queue;
  logic [ 2:0] direct_number;
  logic [ 3:0] direct_index;
  logic [31:0] direct_data;
  logic [1:0] out_valid, out_ready, out_end;
  logic [1:0][31:0] out_data;
  logic [4:0] unused_queue;

  ap1000p_command u_command (
      .clk_i,
      .rst_i,
      .busy_o(command_busy),
      .store_valid_i,
      .store_ready_o,
      .store_page_i,
      .store_data_i,
      .context_i(context_),
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
      .system_valid_o(put[ap1000p_pkg::QueueSystem]),
      .system_ready_i(put_ready[ap1000p_pkg::QueueSystem]),
      .system_end_o(put_end[ap1000p_pkg::QueueSystem]),
      .system_data_o(put_data[ap1000p_pkg::QueueSystem]),
      .user_valid_o(put[ap1000p_pkg::QueueUser]),
      .user_ready_i(put_ready[ap1000p_pkg::QueueUser]),
      .user_end_o(put_end[ap1000p_pkg::QueueUser]),
      .user_data_o(put_data[ap1000p_pkg::QueueUser]),
      .direct_waits_o(direct_waits),
      .direct_valid_o(direct_valid),
      .direct_ready_i(direct_ready),
      .direct_queue_o(direct_queue),
      .direct_number_o(direct_number),
      .direct_index_o(direct_index),
      .direct_end_o(direct_end),
      .direct_data_o(direct_data)
  );

  logic [1:0] ack, load, load_err;
  logic [1:0][63:0] load_data;
  logic [1:0][1:0][7:0] load_cell;
  logic access_busy, issue, acks_full, load_ready;
  logic wtp_busy, tag_req, tag_req_ready, tag_rsp, tag_rsp_ready, tag_hit;
  logic [2*CoordW-1:0] tag_cell;
  logic [LocalW-1:0] tag_addr;
  logic [31:0] tag_local;
  ap1000p_access #(
      .CoordW(CoordW),
      .LocalW(LocalW)
  ) u_access (
      .clk_i,
      .rst_i,
      .busy_o(access_busy),
      .x_i(at[0][CoordW-1:0]),
      .y_i(at[1][CoordW-1:0]),
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
      .refused_o(dsm_refused),
      .stale_o(stale),
      .out_valid_o(put[ap1000p_pkg::QueueAccess]),
      .out_ready_i(put_ready[ap1000p_pkg::QueueAccess]),
      .out_end_o(put_end[ap1000p_pkg::QueueAccess]),
      .out_data_o(put_data[ap1000p_pkg::QueueAccess]),
      .load_valid_i(load[1]),
      .load_ready_o(load_ready),
      .load_cell_i(load_cell[1]),
      .load_err_i(load_err[1]),
      .load_data_i(load_data[1]),
      .stray_o(stray[1]),
      .tag_req_valid_o(tag_req),
      .tag_req_ready_i(tag_req_ready),
      .tag_req_cell_o(tag_cell),
      .tag_req_addr_o(tag_addr),
      .tag_rsp_valid_i(tag_rsp),
      .tag_rsp_ready_o(tag_rsp_ready),
      .tag_hit_i(tag_hit),
      .tag_local_i(tag_local),
      .mem_rd_cmd_valid_o(rd_cmd[5]),
      .mem_rd_cmd_ready_i(rd_cmd_ready[5]),
      .mem_rd_cmd_addr_o(rd_addr[5]),
      .mem_rd_cmd_len_o(rd_len[5]),
      .mem_rd_data_valid_i(rd_data[5]),
      .mem_rd_data_ready_o(rd_data_ready[5]),
      .mem_rd_data_data_i(rd_word),
      .mem_rd_data_last_i(rd_last),
      .mem_rd_data_err_i(rd_err),
      .mem_wr_cmd_valid_o(wr_cmd[4]),
      .mem_wr_cmd_ready_i(wr_cmd_ready[4]),
      .mem_wr_cmd_addr_o(wr_addr[4]),
      .mem_wr_cmd_len_o(wr_len[4]),
      .mem_wr_data_valid_o(wr_data[4]),
      .mem_wr_data_ready_i(wr_data_ready[4]),
      .mem_wr_data_data_o(wr_word[4]),
      .mem_wr_data_strb_o(wr_strb[4]),
      .mem_wr_data_last_o(wr_last[4]),
      .mem_wr_rsp_valid_i(wr_rsp[4]),
      .mem_wr_rsp_ready_o(wr_rsp_ready[4]),
      .mem_wr_rsp_err_i(wr_err)
  );
  ap1000p_wtp #(
      .LocalW(LocalW),
      .CellW (2 * CoordW)
  ) u_wtp (
      .clk_i,
      .rst_i,
      .busy_o(wtp_busy),
      .base_i(cache),
      .req_valid_i(tag_req),
      .req_ready_o(tag_req_ready),
      .req_cell_i(tag_cell),
      .req_addr_i(tag_addr),
      .rsp_valid_o(tag_rsp),
      .rsp_ready_i(tag_rsp_ready),
      .hit_o(tag_hit),
      .local_o(tag_local),
      .upd_valid_i(upd_valid),
      .upd_ready_o(upd_ready),
      .upd_kind_i(upd_kind),
      .upd_cell_i((2 * CoordW)'(upd_line[24:15])),
      .upd_addr_i({upd_line[14:0], 10'b0})
  );

  // Memory's clients: reads of the queues' refill, the MMU, both senders, the word unit, the local cache; writes of the queues' spill,
  // both receivers, the word unit, the local cache.
  logic [5:0] rd_cmd, rd_cmd_ready, rd_data, rd_data_ready;
  logic [5:0][31:0] rd_addr;
  logic [5:0][7:0] rd_len;
  logic [31:0] rd_word;
  logic rd_last, rd_err;
  logic [4:0] wr_cmd, wr_cmd_ready, wr_data, wr_data_ready, wr_last, wr_rsp, wr_rsp_ready;
  logic [4:0][31:0] wr_addr, wr_word;
  logic [4:0][7:0] wr_len;
  logic [4:0][3:0] wr_strb;
  logic wr_err;

  ap1000p_queues #(
      .DataW(32),
      .HardwareRefill(HardwareRefill)
  ) u_queues (
      .clk_i,
      .rst_i,
      .busy_o(queues_busy),
      .base_i(base),
      .limit_i(limit),
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
      .in_valid_i(put),
      .in_ready_o(put_ready),
      .in_end_i(put_end),
      .in_data_i(put_data),
      .arriving_i(direct_waits),
      .direct_valid_i(direct_valid),
      .direct_ready_o(direct_ready),
      .direct_queue_i(direct_queue),
      .direct_number_i(direct_number),
      .direct_index_i(direct_index),
      .direct_end_i(direct_end),
      .direct_data_i(direct_data),
      .out_valid_o(out_valid),
      .out_ready_i(out_ready),
      .out_queue_o(unused_queue),
      .out_end_o(out_end),
      .out_data_o(out_data),
      .mem_wr_cmd_valid_o(wr_cmd[0]),
      .mem_wr_cmd_ready_i(wr_cmd_ready[0]),
      .mem_wr_cmd_addr_o(wr_addr[0]),
      .mem_wr_cmd_len_o(wr_len[0]),
      .mem_wr_data_valid_o(wr_data[0]),
      .mem_wr_data_ready_i(wr_data_ready[0]),
      .mem_wr_data_data_o(wr_word[0]),
      .mem_wr_data_strb_o(wr_strb[0]),
      .mem_wr_data_last_o(wr_last[0]),
      .mem_wr_rsp_valid_i(wr_rsp[0]),
      .mem_wr_rsp_ready_o(wr_rsp_ready[0]),
      .mem_wr_rsp_err_i(wr_err),
      .mem_rd_cmd_valid_o(rd_cmd[0]),
      .mem_rd_cmd_ready_i(rd_cmd_ready[0]),
      .mem_rd_cmd_addr_o(rd_addr[0]),
      .mem_rd_cmd_len_o(rd_len[0]),
      .mem_rd_data_valid_i(rd_data[0]),
      .mem_rd_data_ready_o(rd_data_ready[0]),
      .mem_rd_data_data_i(rd_word),
      .mem_rd_data_last_i(rd_last),
      .mem_rd_data_err_i(rd_err)
  );

  // ------------------------------------------------------------------------------------------------------------- send
  logic [4:0] ask, ask_ready, answer, answer_ready;
  logic [4:0][45:0] ask_what;  // {context, address, write, system}
  logic [1:0][31:0] found;
  logic [1:0][ 2:0] found_fault;
  logic [1:0] send_busy, send_in, send_ready, flag, flag_ready, flag_system;
  logic [1:0] send_end, send_more, go, go_ready, go_local, go_last, come, come_ready, come_last;
  logic [1:0][11:0] flag_context;
  logic [1:0][31:0] send_data, flag_addr, go_data, come_data;
  logic spread_busy, spread_ready;
  // Communication registers: [0] the processor, [1], [2] the receivers, [3] both senders.
  logic [3:0] creg, creg_ready, creg_write, creg_rsp, creg_rsp_ready, creg_rsp_fault;
  logic [3:0][6:0] creg_addr;
  logic [3:0][31:0] creg_data, creg_rsp_data;
  logic [1:0] fetch, fetch_ready, fetch_rsp, fetch_rsp_ready;
  logic [1:0][6:0] fetch_addr;

  // A reply's words come from a block RAM late in the cycle; a request's pass the register of `u_broadcast`.
  logic answers_ready;
  skid #(
      .W(33)
  ) u_answers (
      .clk_i,
      .rst_i,
      .in_valid_i (out_valid[1]),
      .in_ready_o (answers_ready),
      .in_data_i  ({out_end[1], out_data[1]}),
      .out_valid_o(send_in[1]),
      .out_ready_i(send_ready[1]),
      .out_data_o ({send_end[1], send_data[1]})
  );
  assign send_more[1] = 1'b0;
  assign out_ready = {answers_ready, spread_ready};

  ap1000p_broadcast #(
      .CoordW(CoordW)
  ) u_broadcast (
      .clk_i,
      .rst_i,
      .busy_o(spread_busy),
      .last_x_i(last[0][CoordW-1:0]),
      .in_valid_i(out_valid[0]),
      .in_ready_o(spread_ready),
      .in_end_i(out_end[0]),
      .in_data_i(out_data[0]),
      .out_valid_o(send_in[0]),
      .out_ready_i(send_ready[0]),
      .out_end_o(send_end[0]),
      .out_more_o(send_more[0]),
      .out_data_o(send_data[0])
  );

  for (genvar c = 0; c < 2; c++) begin : gen_send
    logic [11:0] context_c;
    logic [31:0] addr_c;
    logic system_c;
    ap1000p_send #(
        .Reply (c == 1),
        .CoordW(CoordW)
    ) u_send (
        .clk_i,
        .rst_i,
        .busy_o(send_busy[c]),
        .bad_o(bad[c]),
        .error_o(cut[c]),
        .x_i(at[0][CoordW-1:0]),
        .y_i(at[1][CoordW-1:0]),
        .last_x_i(last[0][CoordW-1:0]),
        .last_y_i(last[1][CoordW-1:0]),
        .in_valid_i(send_in[c]),
        .in_ready_o(send_ready[c]),
        .in_end_i(send_end[c]),
        .in_more_i(send_more[c]),
        .in_data_i(send_data[c]),
        .req_valid_o(ask[c]),
        .req_ready_i(ask_ready[c]),
        .req_context_o(context_c),
        .req_addr_o(addr_c),
        .req_system_o(system_c),
        .rsp_valid_i(answer[c]),
        .rsp_ready_o(answer_ready[c]),
        .rsp_addr_i(found[0]),
        .rsp_fault_i(found_fault[0]),
        .forget_i(forget),
        .fault_valid_o(fault[c]),
        .fault_reason_o(fault_reason[c]),
        .retry_i(retry[c]),
        .abort_i(abort[c]),
        .mem_cmd_valid_o(rd_cmd[2+c]),
        .mem_cmd_ready_i(rd_cmd_ready[2+c]),
        .mem_cmd_addr_o(rd_addr[2+c]),
        .mem_cmd_len_o(rd_len[2+c]),
        .mem_data_valid_i(rd_data[2+c]),
        .mem_data_ready_o(rd_data_ready[2+c]),
        .mem_data_data_i(rd_word),
        .mem_data_last_i(rd_last),
        .mem_data_err_i(rd_err),
        .creg_wait_i(!creg_fault[1]),
        .creg_valid_o(fetch[c]),
        .creg_ready_i(fetch_ready[c]),
        .creg_addr_o(fetch_addr[c]),
        .creg_rsp_valid_i(fetch_rsp[c]),
        .creg_rsp_ready_o(fetch_rsp_ready[c]),
        .creg_rsp_fault_i(creg_rsp_fault[3]),
        .creg_rsp_data_i(creg_rsp_data[3]),
        .flag_valid_o(flag[c]),
        .flag_ready_i(flag_ready[c]),
        .flag_context_o(flag_context[c]),
        .flag_system_o(flag_system[c]),
        .flag_addr_o(flag_addr[c]),
        .out_valid_o(go[c]),
        .out_ready_i(go_ready[c]),
        .out_local_o(go_local[c]),
        .out_last_o(go_last[c]),
        .out_data_o(go_data[c])
    );
    assign ask_what[c] = {context_c, addr_c, 1'b0, system_c};
    assign {fault_context[c], fault_addr[c], fault_write[c], fault_system[c]} = ask_what[c];
  end

  logic link_busy;
  ap1000p_link u_link (
      .clk_i,
      .rst_i,
      .busy_o(link_busy),
      .out_valid_i(go),
      .out_ready_o(go_ready),
      .out_local_i(go_local),
      .out_last_i(go_last),
      .out_data_i(go_data),
      .in_valid_o(come),
      .in_ready_i(come_ready),
      .in_last_o(come_last),
      .in_data_o(come_data),
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

  // ---------------------------------------------------------------------------------------------------------- receive
  logic [1:0] receive_busy;
  logic [3:0] op, op_ready, op_system, op_physical, op_done;
  logic [3:0][ 2:0] op_what;
  logic [3:0][11:0] op_context;
  logic [3:0][31:0] op_addr, op_a, op_b;
  logic [3:0][3:0] op_strb;
  logic [31:0] op_old;
  logic op_fault, op_err;
  logic [1:0][1:0] reply, reply_ready;
  logic [1:0] reply_end;
  logic [1:0][31:0] reply_data;

  for (genvar c = 0; c < 2; c++) begin : gen_receive
    logic [11:0] context_c;
    logic [31:0] addr_c;
    logic write_c, system_c;
    ap1000p_receive #(
        .Reply(c == 1),
        .MemW (MemW)
    ) u_receive (
        .clk_i,
        .rst_i,
        .busy_o(receive_busy[c]),
        .cell_x_i(at[0]),
        .cell_y_i(at[1]),
        .forget_i(forget),
        .ring_on_i(ring_on),
        .ring_size_i(ring_size),
        .ring_context_i(ring_context),
        .ring_read_i(ring_read),
        .ring_set_i(ring_set),
        .ring_at_i(ring_at),
        .ring_write_o(ring_write[c]),
        .ring_busy_o(ring_busy[c]),
        .in_valid_i(come[c]),
        .in_ready_o(come_ready[c]),
        .in_data_i(come_data[c]),
        .in_last_i(come_last[c]),
        .mmu_req_valid_o(ask[2+c]),
        .mmu_req_ready_i(ask_ready[2+c]),
        .mmu_req_context_o(context_c),
        .mmu_req_addr_o(addr_c),
        .mmu_req_write_o(write_c),
        .mmu_req_system_o(system_c),
        .mmu_rsp_valid_i(answer[2+c]),
        .mmu_rsp_ready_o(answer_ready[2+c]),
        .mmu_rsp_addr_i(found[1]),
        .mmu_rsp_fault_i(found_fault[1]),
        .fault_valid_o(fault[2+c]),
        .fault_reason_o(fault_reason[2+c]),
        .fault_context_o(fault_context[2+c]),
        .fault_addr_o(fault_addr[2+c]),
        .fault_system_o(fault_system[2+c]),
        .retry_i(retry[2+c]),
        .abort_i(abort[2+c]),
        .mem_cmd_valid_o(wr_cmd[1+c]),
        .mem_cmd_ready_i(wr_cmd_ready[1+c]),
        .mem_cmd_addr_o(wr_addr[1+c]),
        .mem_cmd_len_o(wr_len[1+c]),
        .mem_data_valid_o(wr_data[1+c]),
        .mem_data_ready_i(wr_data_ready[1+c]),
        .mem_data_data_o(wr_word[1+c]),
        .mem_data_strb_o(wr_strb[1+c]),
        .mem_data_last_o(wr_last[1+c]),
        .mem_rsp_valid_i(wr_rsp[1+c]),
        .mem_rsp_ready_o(wr_rsp_ready[1+c]),
        .mem_rsp_err_i(wr_err),
        .word_valid_o(op[2+c]),
        .word_ready_i(op_ready[2+c]),
        .word_op_o(op_what[2+c]),
        .word_context_o(op_context[2+c]),
        .word_system_o(op_system[2+c]),
        .word_physical_o(op_physical[2+c]),
        .word_addr_o(op_addr[2+c]),
        .word_strb_o(op_strb[2+c]),
        .word_a_o(op_a[2+c]),
        .word_b_o(op_b[2+c]),
        .word_done_i(op_done[2+c]),
        .word_old_i(op_old),
        .word_fault_i(op_fault),
        .word_err_i(op_err),
        .creg_valid_o(creg[1+c]),
        .creg_ready_i(creg_ready[1+c]),
        .creg_addr_o(creg_addr[1+c]),
        .creg_write_o(creg_write[1+c]),
        .creg_data_o(creg_data[1+c]),
        .creg_rsp_valid_i(creg_rsp[1+c]),
        .creg_rsp_ready_o(creg_rsp_ready[1+c]),
        .creg_rsp_fault_i(creg_rsp_fault[1+c]),
        .creg_rsp_data_i(creg_rsp_data[1+c]),
        .queue_valid_o(reply[c]),
        .queue_ready_i(reply_ready[c]),
        .queue_end_o(reply_end[c]),
        .queue_data_o(reply_data[c]),
        .load_valid_o(load[c]),
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
    assign ask_what[2+c] = {context_c, addr_c, write_c, system_c};
    assign fault_write[2+c] = 1'b1;
  end

  // Requests are answered through the queues; replies answer nobody.
  assign {put[ap1000p_pkg::QueueGetReply], put[ap1000p_pkg::QueueRemoteReply]} = reply[0];
  assign put_end[4:3] = {2{reply_end[0]}};
  assign put_data[4:3] = {2{reply_data[0]}};
  assign reply_ready = {2'b00, put_ready[4:3]};
  logic unused_of_class;
  assign unused_of_class = ^{
    op_done[1:0], ack[0], load[0], load_err[0], load_data[0], load_cell[0], ring_write[1], ring_busy[1]
  };
  logic unused_answers;
  assign unused_answers = ^{reply[1], reply_end[1], reply_data[1]};

  logic unused_over;
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

  // ------------------------------------------------------------------------------------- memory controller's parts
  assign {creg[0], creg_write[0], creg_addr[0], creg_data[0]} = {
    creg_req_valid_i, creg_req_write_i, creg_req_addr_i, creg_req_data_i
  };
  assign creg_rsp_ready[0] = creg_rsp_ready_i;
  assign creg_req_ready_o = creg_ready[0];
  assign creg_rsp_valid_o = creg_rsp[0];
  assign creg_rsp_fault_o = creg_rsp_fault[0];
  assign creg_rsp_data_o = creg_rsp_data[0];
  assign {creg_write[3], creg_data[3]} = '0;
  ap1000p_mmu_mux #(
      .Clients(2),
      .W(7)
  ) u_fetches (
      .clk_i,
      .rst_i,
      .req_valid_i(fetch),
      .req_ready_o(fetch_ready),
      .req_i(fetch_addr),
      .rsp_valid_o(fetch_rsp),
      .rsp_ready_i(fetch_rsp_ready),
      .mmu_valid_o(creg[3]),
      .mmu_ready_i(creg_ready[3]),
      .mmu_req_o(creg_addr[3]),
      .mmu_rsp_valid_i(creg_rsp[3]),
      .mmu_rsp_ready_o(creg_rsp_ready[3])
  );
  logic creg_busy;
  logic [127:0] unused_present;
  ap1000p_creg #(
      .Sources(4)
  ) u_creg (
      .clk_i,
      .rst_i,
      .busy_o(creg_busy),
      // Senders ask again themselves: the two of them share a source, and neither may hold the other.
      .fault_i({1'b1, creg_fault[1], creg_fault}),
      .req_valid_i(creg),
      .req_ready_o(creg_ready),
      .req_addr_i(creg_addr),
      .req_write_i(creg_write),
      .req_data_i(creg_data),
      .rsp_valid_o(creg_rsp),
      .rsp_ready_i(creg_rsp_ready),
      .rsp_fault_o(creg_rsp_fault),
      .rsp_data_o(creg_rsp_data),
      .present_o(unused_present)
  );

  // Flags of what was sent.
  assign op[1:0] = flag;
  assign flag_ready = op_ready[1:0];
  assign op_what[1:0] = {2{3'(ap1000p_pkg::WordInc)}};
  assign op_context[1:0] = flag_context;
  assign op_system[1:0] = flag_system;
  assign op_physical[1:0] = '0;
  assign op_addr[1:0] = flag_addr;
  assign op_strb[1:0] = '1;
  assign op_a[1:0] = '0;
  assign op_b[1:0] = '0;

  logic word_busy;
  logic [11:0] word_context;
  logic [31:0] word_addr;
  logic word_write, word_system;
  ap1000p_word u_word (
      .clk_i,
      .rst_i,
      .busy_o(word_busy),
      .req_valid_i(op),
      .req_ready_o(op_ready),
      .req_op_i(op_what),
      .req_context_i(op_context),
      .req_system_i(op_system),
      .req_physical_i(op_physical),
      .req_addr_i(op_addr),
      .req_strb_i(op_strb),
      .req_a_i(op_a),
      .req_b_i(op_b),
      .rsp_valid_o(op_done),
      .rsp_old_o(op_old),
      .rsp_fault_o(op_fault),
      .rsp_err_o(op_err),
      .given_up_o(word_given_up),
      .bus_error_o(word_error),
      .mmu_req_valid_o(ask[Word]),
      .mmu_req_ready_i(ask_ready[Word]),
      .mmu_req_context_o(word_context),
      .mmu_req_addr_o(word_addr),
      .mmu_req_write_o(word_write),
      .mmu_req_system_o(word_system),
      .mmu_rsp_valid_i(answer[Word]),
      .mmu_rsp_ready_o(answer_ready[Word]),
      .mmu_rsp_addr_i(found[1]),
      .mmu_rsp_fault_i(found_fault[1]),
      .fault_valid_o(fault[Word]),
      .fault_reason_o(fault_reason[Word]),
      .fault_context_o(fault_context[Word]),
      .fault_addr_o(fault_addr[Word]),
      .fault_write_o(fault_write[Word]),
      .fault_system_o(fault_system[Word]),
      .retry_i(retry[Word]),
      .abort_i(abort[Word]),
      .mem_rd_cmd_valid_o(rd_cmd[4]),
      .mem_rd_cmd_ready_i(rd_cmd_ready[4]),
      .mem_rd_cmd_addr_o(rd_addr[4]),
      .mem_rd_cmd_len_o(rd_len[4]),
      .mem_rd_data_valid_i(rd_data[4]),
      .mem_rd_data_ready_o(rd_data_ready[4]),
      .mem_rd_data_data_i(rd_word),
      .mem_rd_data_last_i(rd_last),
      .mem_rd_data_err_i(rd_err),
      .mem_wr_cmd_valid_o(wr_cmd[3]),
      .mem_wr_cmd_ready_i(wr_cmd_ready[3]),
      .mem_wr_cmd_addr_o(wr_addr[3]),
      .mem_wr_cmd_len_o(wr_len[3]),
      .mem_wr_data_valid_o(wr_data[3]),
      .mem_wr_data_ready_i(wr_data_ready[3]),
      .mem_wr_data_data_o(wr_word[3]),
      .mem_wr_data_strb_o(wr_strb[3]),
      .mem_wr_data_last_o(wr_last[3]),
      .mem_wr_rsp_valid_i(wr_rsp[3]),
      .mem_wr_rsp_ready_o(wr_rsp_ready[3]),
      .mem_wr_rsp_err_i(wr_err)
  );
  assign ask_what[Word] = {word_context, word_addr, word_write, word_system};

  // Both sides of the MMU: what is sent; what is received, and the word unit.
  logic [1:0] mmu_req, mmu_ready, mmu_rsp, mmu_rsp_ready, mmu_write, mmu_system;
  logic [1:0][11:0] mmu_context;
  logic [1:0][31:0] mmu_addr;
  ap1000p_mmu_mux #(
      .Clients(2)
  ) u_mmu_mux_send (
      .clk_i,
      .rst_i,
      .req_valid_i(ask[1:0]),
      .req_ready_o(ask_ready[1:0]),
      .req_i(ask_what[1:0]),
      .rsp_valid_o(answer[1:0]),
      .rsp_ready_i(answer_ready[1:0]),
      .mmu_valid_o(mmu_req[0]),
      .mmu_ready_i(mmu_ready[0]),
      .mmu_req_o({mmu_context[0], mmu_addr[0], mmu_write[0], mmu_system[0]}),
      .mmu_rsp_valid_i(mmu_rsp[0]),
      .mmu_rsp_ready_o(mmu_rsp_ready[0])
  );
  ap1000p_mmu_mux #(
      .Clients(3)
  ) u_mmu_mux_receive (
      .clk_i,
      .rst_i,
      .req_valid_i(ask[4:2]),
      .req_ready_o(ask_ready[4:2]),
      .req_i(ask_what[4:2]),
      .rsp_valid_o(answer[4:2]),
      .rsp_ready_i(answer_ready[4:2]),
      .mmu_valid_o(mmu_req[1]),
      .mmu_ready_i(mmu_ready[1]),
      .mmu_req_o({mmu_context[1], mmu_addr[1], mmu_write[1], mmu_system[1]}),
      .mmu_rsp_valid_i(mmu_rsp[1]),
      .mmu_rsp_ready_o(mmu_rsp_ready[1])
  );

  logic mmu_busy, unused_miss;
  ap1000p_mmu #(
      .MemW (MemW),
      .DataW(32)
  ) u_mmu (
      .clk_i,
      .rst_i,
      .busy_o(mmu_busy),
      .miss_o(unused_miss),
      .table_i(table_),
      .req_valid_i(mmu_req),
      .req_ready_o(mmu_ready),
      .req_context_i(mmu_context),
      .req_addr_i(mmu_addr),
      .req_write_i(mmu_write),
      .req_system_i(mmu_system),
      .rsp_valid_o(mmu_rsp),
      .rsp_ready_i(mmu_rsp_ready),
      .rsp_addr_o(found),
      .rsp_fault_o(found_fault),
      .demap_valid_i(demap_valid),
      .demap_ready_o(demap_ready),
      .demap_all_i(demap_all),
      .demap_addr_i(demap_addr),
      .mem_cmd_valid_o(rd_cmd[1]),
      .mem_cmd_ready_i(rd_cmd_ready[1]),
      .mem_cmd_addr_o(rd_addr[1]),
      .mem_cmd_len_o(rd_len[1]),
      .mem_data_valid_i(rd_data[1]),
      .mem_data_ready_o(rd_data_ready[1]),
      .mem_data_data_i(rd_word),
      .mem_data_last_i(rd_last),
      .mem_data_err_i(rd_err)
  );

  // ---------------------------------------------------------------------------------------------------------- memory
  logic read_busy, write_busy;
  mem_read_mux #(
      .N(6)
  ) u_reads (
      .clk_i,
      .rst_i,
      .busy_o(read_busy),
      .cmd_valid_i(rd_cmd),
      .cmd_ready_o(rd_cmd_ready),
      .cmd_addr_i(rd_addr),
      .cmd_len_i(rd_len),
      .data_valid_o(rd_data),
      .data_ready_i(rd_data_ready),
      .data_data_o(rd_word),
      .data_last_o(rd_last),
      .data_err_o(rd_err),
      .mem_cmd_valid_o(mem_rd_cmd_valid_o),
      .mem_cmd_ready_i(mem_rd_cmd_ready_i),
      .mem_cmd_addr_o(mem_rd_cmd_addr_o),
      .mem_cmd_len_o(mem_rd_cmd_len_o),
      .mem_data_valid_i(mem_rd_data_valid_i),
      .mem_data_ready_o(mem_rd_data_ready_o),
      .mem_data_data_i(mem_rd_data_data_i),
      .mem_data_last_i(mem_rd_data_last_i),
      .mem_data_err_i(mem_rd_data_err_i)
  );
  mem_write_mux #(
      .N(5)
  ) u_writes (
      .clk_i,
      .rst_i,
      .busy_o(write_busy),
      .cmd_valid_i(wr_cmd),
      .cmd_ready_o(wr_cmd_ready),
      .cmd_addr_i(wr_addr),
      .cmd_len_i(wr_len),
      .data_valid_i(wr_data),
      .data_ready_o(wr_data_ready),
      .data_data_i(wr_word),
      .data_strb_i(wr_strb),
      .data_last_i(wr_last),
      .rsp_valid_o(wr_rsp),
      .rsp_ready_i(wr_rsp_ready),
      .rsp_err_o(wr_err),
      .mem_cmd_valid_o(mem_wr_cmd_valid_o),
      .mem_cmd_ready_i(mem_wr_cmd_ready_i),
      .mem_cmd_addr_o(mem_wr_cmd_addr_o),
      .mem_cmd_len_o(mem_wr_cmd_len_o),
      .mem_data_valid_o(mem_wr_data_valid_o),
      .mem_data_ready_i(mem_wr_data_ready_i),
      .mem_data_data_o(mem_wr_data_data_o),
      .mem_data_strb_o(mem_wr_data_strb_o),
      .mem_data_last_o(mem_wr_data_last_o),
      .mem_rsp_valid_i(mem_wr_rsp_valid_i),
      .mem_rsp_ready_o(mem_wr_rsp_ready_o),
      .mem_rsp_err_i(mem_wr_rsp_err_i)
  );

  assign any_busy = wtp_busy || access_busy || command_busy || queues_busy || spread_busy || send_in[1] || link_busy
      || word_busy || creg_busy || mmu_busy || read_busy || write_busy || send_busy != '0 || receive_busy != '0;
  assign busy_o = any_busy || regs_busy || host_rsp_valid_o;
endmodule
