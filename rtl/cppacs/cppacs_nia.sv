// CP-PACS, network interface adapter (NIA): RDMA between the memory of a node and its exchanger.
//
//   host ── regs ── kicks ── fetch ──┬── send ──────┬── link ── exchanger
//             │                      └── ack_send ──┤
//             └── tables             ┌── receive ───┤
//                        answers ────┴── ack_receive┘
//   memory ── muxes ── words (TCWs, flags, short messages, atomics), load of send, store of receive
//
// Host       the window of docs/machines/cppacs-registers.md, as cppacs_regs.
// Memory     one read and one write port of 32 bits, as mem_read_mux and mem_write_mux.
// Link       credits, as cppacs_link. `drained_i` is the exchanger's count.
// Barrier    to `sync_tree`, one group.
// Channels   neither waits for the other. A request that finds the answers full is refused.
// Latency    see the blocks.
// Reset      drops everything; memory and exchanger must be reset, too. The host waits while the tables are cleared.
// busy_o     low when no further edge changes anything while no input is valid.
// Source     paper, sections 2 and 3; its division into blocks is ours (docs/machines/cppacs-contract.md).
module cppacs_nia #(
    parameter int Rights = 512,  // as cppacs_tables
    parameter int Fields = 512,
    parameter int KickDepth = 4,  // as cppacs_kicks
    parameter int Answers = 128,  // as cppacs_answers
    parameter int BurstBeats = 16,  // words of the longest burst, power of two, 4..64
    parameter int Outstanding = 4  // bursts under way, 2..16
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic host_req_valid_i,
    output logic host_req_ready_o,
    input logic host_req_write_i,
    input logic [16:0] host_req_addr_i,
    input logic [63:0] host_req_wdata_i,
    input logic [7:0] host_req_wstrb_i,
    output logic host_rsp_valid_o,
    input logic host_rsp_ready_i,
    output logic [63:0] host_rsp_rdata_o,
    output logic host_rsp_err_o,
    output logic irq_o,

    output logic barrier_member_o,
    output logic barrier_arrive_o,
    input  logic barrier_waiting_i,
    input  logic barrier_release_i,

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
    input logic mem_wr_rsp_err_i,

    output logic link_out_valid_o,
    output logic link_out_channel_o,
    output logic [31:0] link_out_data_o,
    output logic link_out_last_o,
    input logic [1:0] link_out_credit_i,
    input logic link_in_valid_i,
    input logic link_in_channel_i,
    input logic [31:0] link_in_data_i,
    input logic link_in_last_i,
    output logic [1:0] link_in_credit_o,

    output logic [12:0] place_o,   // of this node, and the highest coordinates of the grid, for the exchanger
    output logic [12:0] last_o,
    input  logic [15:0] drained_i
);
  // Clients of the words unit; indices of lookups are those of the channels, and 2.
  localparam int Flag = 0;
  localparam int AckIn = 1;
  localparam int AckOut = 2;
  localparam int Tcw = 3;
  localparam int SendFlag = 4;
  localparam bit [1:0] Read = 2'd0;
  localparam bit [1:0] Write = 2'd1;

  logic [12:0] busy;
  assign busy_o = busy != '0;

  // ------------------------------------------------------------------------------------------------- registers, tables
  logic kick_valid, kick_channel, kick_refused, table_valid, table_write, table_right, table_done, run;
  logic [2:0] kick_process, tcw_process;
  logic [15:0] kick_tcw, waiting_answers;
  logic [1:0][4:0] room;
  logic [7:0] waiting, count;
  logic [9:0] table_index;
  logic [1:0] table_word;
  logic [63:0] table_wdata, table_rdata;
  logic [31:0] ring_tail, area_base, area_size, tcw_base;
  logic [ 4:0] ring_slot_log;
  logic [ 3:0] ring_slots_log;
  logic [16:0] tcw_count;

  // By channel: 0 data, 1 acknowledge.
  logic [1:0] sending, open, shut, notify, send_refused, recv_refused, sent, received, words_out, words_in;
  logic [1:0][2:0] send_process, recv_kind;
  logic [1:0][15:0] send_tcw;
  logic [1:0][3:0] send_reason, recv_reason;
  logic [1:0][12:0] recv_src;
  logic [1:0][9:0] recv_field, field;
  logic answered, stall;

  cppacs_regs u_regs (
      .clk_i,
      .rst_i,
      .busy_o(busy[0]),
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
      .irq_o,
      .barrier_member_o,
      .barrier_arrive_o,
      .barrier_waiting_i,
      .barrier_release_i,
      .kick_valid_o(kick_valid),
      .kick_process_o(kick_process),
      .kick_channel_o(kick_channel),
      .kick_tcw_o(kick_tcw),
      .kick_refused_i(kick_refused),
      .room_i(room),
      .waiting_i(waiting),
      .table_valid_o(table_valid),
      .table_write_o(table_write),
      .table_right_o(table_right),
      .table_index_o(table_index),
      .table_word_o(table_word),
      .table_wdata_o(table_wdata),
      .table_done_i(table_done),
      .table_rdata_i(table_rdata),
      .place_o,
      .last_o,
      .run_o(run),
      .ring_tail_o(ring_tail),
      .ring_slot_log_o(ring_slot_log),
      .ring_slots_log_o(ring_slots_log),
      .process_i(tcw_process),
      .area_base_o(area_base),
      .area_size_o(area_size),
      .tcw_base_o(tcw_base),
      .tcw_count_o(tcw_count),
      .sending_i(sending),
      .receiving_i(open),
      .field_i(field[0]),
      .answers_i(waiting_answers),
      .drained_i,
      .count_i(count),
      .shut_i(shut),
      .notify_valid_i(notify),
      .notify_src_i(recv_src),
      .notify_field_i(recv_field),
      .send_refused_valid_i(send_refused),
      .send_refused_process_i(send_process),
      .send_refused_tcw_i(send_tcw),
      .send_refused_reason_i(send_reason),
      .recv_refused_valid_i(recv_refused),
      .recv_refused_src_i(recv_src),
      .recv_refused_field_i(recv_field),
      .recv_refused_kind_i(recv_kind),
      .recv_refused_reason_i(recv_reason)
  );

  // Words of both channels may pass in one cycle; the acknowledge channel's are told in the next ones that are free.
  // Both share a link of a word a cycle, so few wait.
  logic [1:0] words_told, words_wait;
  for (genvar w = 0; w < 2; w++) begin : gen_words
    logic [1:0] now;
    logic [5:0] wait_q;
    assign now = (w == 0) ? words_out : words_in;
    assign words_told[w] = now != '0 || wait_q != '0;
    assign words_wait[w] = wait_q != '0;
    always_ff @(posedge clk_i) begin
      if (rst_i) wait_q <= '0;
      else if (now == 2'b11) wait_q <= wait_q + 6'd1;
      else if (now == '0 && wait_q != '0) wait_q <= wait_q - 6'd1;
    end
  end
  assign busy[1] = words_wait != '0;
  assign count[cppacs_pkg::CountSentAck:cppacs_pkg::CountSent] = sent;
  assign count[cppacs_pkg::CountReceivedAck:cppacs_pkg::CountReceived] = received;
  assign count[cppacs_pkg::CountWordsIn:cppacs_pkg::CountWords] = words_told;
  assign count[cppacs_pkg::CountAnswered] = answered;
  assign count[cppacs_pkg::CountStalls] = stall;

  logic [2:0] look_valid, look_ready, look_for;
  logic look_right;
  logic [9:0] fetch_index;
  logic [63:0] look_first, look_second;
  logic [31:0] look_flag, look_count;
  logic [1:0] count_valid, gone;

  cppacs_tables #(
      .Rights(Rights),
      .Fields(Fields)
  ) u_tables (
      .clk_i,
      .rst_i,
      .busy_o(busy[2]),
      .host_valid_i(table_valid),
      .host_write_i(table_write),
      .host_right_i(table_right),
      .host_index_i(table_index),
      .host_word_i(table_word),
      .host_wdata_i(table_wdata),
      .host_done_o(table_done),
      .host_rdata_o(table_rdata),
      .look_valid_i(look_valid),
      .look_ready_o(look_ready),
      .look_index_i({fetch_index, field}),
      .look_right_i(look_right),
      .look_for_o(look_for),
      .look_first_o(look_first),
      .look_second_o(look_second),
      .look_flag_o(look_flag),
      .look_count_o(look_count),
      .count_valid_i(count_valid),
      .shut_valid_i(shut),
      .told_index_i(field),
      .open_i(open),
      .open_index_i(field),
      .gone_o(gone)
  );

  // -------------------------------------------------------------------------------------------------- kicks to senders
  logic [1:0] next_valid, next_take;
  logic [1:0][ 2:0] next_process;
  logic [1:0][15:0] next_tcw;

  cppacs_kicks #(
      .KickDepth(KickDepth)
  ) u_kicks (
      .clk_i,
      .rst_i,
      .busy_o(busy[3]),
      .kick_valid_i(kick_valid),
      .kick_process_i(kick_process),
      .kick_channel_i(kick_channel),
      .kick_tcw_i(kick_tcw),
      .refused_o(kick_refused),
      .next_valid_o(next_valid),
      .next_take_i(next_take),
      .next_process_o(next_process),
      .next_tcw_o(next_tcw),
      .room_process_i(kick_process),
      .room_o(room),
      .waiting_o(waiting)
  );

  logic [4:0] job_valid, job_ready, job_take, data_valid, done_valid;
  logic [4:0][1:0] job_op;
  logic [4:0][31:0] job_addr, job_data;
  logic [4:0][4:0] job_words;
  logic [31:0] data;
  logic data_err, done_err, unused_data_err;
  logic [1:0] desc_valid, desc_ready;
  logic [1:0][ 3:0] desc_index;
  logic [1:0][31:0] desc_data;
  assign unused_data_err = data_err;

  cppacs_fetch u_fetch (
      .clk_i,
      .rst_i,
      .busy_o(busy[4]),
      .run_i(run),
      .place_i(place_o),
      .last_i(last_o),
      .next_valid_i(next_valid),
      .next_take_o(next_take),
      .next_process_i(next_process),
      .next_tcw_i(next_tcw),
      .process_o(tcw_process),
      .area_base_i(area_base),
      .area_size_i(area_size),
      .tcw_base_i(tcw_base),
      .tcw_count_i(tcw_count),
      .job_valid_o(job_valid[Tcw]),
      .job_ready_i(job_ready[Tcw]),
      .job_addr_o(job_addr[Tcw]),
      .job_data_valid_i(data_valid[Tcw]),
      .job_data_i(data),
      .job_done_i(done_valid[Tcw]),
      .job_err_i(done_err),
      .look_valid_o(look_valid[2]),
      .look_ready_i(look_ready[2]),
      .look_right_o(look_right),
      .look_index_o(fetch_index),
      .look_for_i(look_for[2]),
      .look_first_i(look_first),
      .look_second_i(look_second),
      .look_flag_i(look_flag),
      .desc_valid_o(desc_valid),
      .desc_ready_i(desc_ready),
      .desc_index_o(desc_index),
      .desc_data_o(desc_data)
  );
  assign job_op[Tcw] = Read;
  assign job_words[Tcw] = 5'(cppacs_pkg::SizeTcw / 4);
  assign job_data[Tcw] = '0;

  // By channel: from the senders to the link, and from the link to the receivers.
  logic [1:0] out_valid, out_ready, out_last, in_valid, in_ready, in_last;
  logic [1:0][31:0] out_data, in_data;
  logic ask_valid, ask_room, answer_valid, answer_ready;
  logic [3:0] ask_index, answer_index;
  logic [31:0] ask_data, answer_data;
  logic read_valid, read_ready, read_data_valid, read_data_ready, read_data_last, read_data_err;
  logic [31:0] read_addr, read_data;
  logic [20:0] read_bytes;

  cppacs_send u_send (
      .clk_i,
      .rst_i,
      .busy_o(busy[5]),
      .desc_valid_i(desc_valid[0]),
      .desc_ready_o(desc_ready[0]),
      .desc_index_i(desc_index[0]),
      .desc_data_i(desc_data[0]),
      .answer_valid_i(answer_valid),
      .answer_ready_o(answer_ready),
      .answer_index_i(answer_index),
      .answer_data_i(answer_data),
      .read_valid_o(read_valid),
      .read_ready_i(read_ready),
      .read_addr_o(read_addr),
      .read_bytes_o(read_bytes),
      .data_valid_i(read_data_valid),
      .data_ready_o(read_data_ready),
      .data_data_i(read_data),
      .data_last_i(read_data_last),
      .data_err_i(read_data_err),
      .job_valid_o(job_valid[SendFlag]),
      .job_ready_i(job_ready[SendFlag]),
      .job_addr_o(job_addr[SendFlag]),
      .job_data_o(job_data[SendFlag]),
      .job_take_i(job_take[SendFlag]),
      .job_done_i(done_valid[SendFlag]),
      .out_valid_o(out_valid[0]),
      .out_ready_i(out_ready[0]),
      .out_data_o(out_data[0]),
      .out_last_o(out_last[0]),
      .sending_o(sending[0]),
      .sent_o(sent[0]),
      .words_o(words_out[0]),
      .answered_o(answered),
      .refused_o(send_refused[0]),
      .refused_process_o(send_process[0]),
      .refused_tcw_o(send_tcw[0]),
      .refused_reason_o(send_reason[0])
  );
  assign job_op[SendFlag] = Write;
  assign job_words[SendFlag] = 5'd2;

  cppacs_ack_send u_ack_send (
      .clk_i,
      .rst_i,
      .busy_o(busy[6]),
      .desc_valid_i(desc_valid[1]),
      .desc_ready_o(desc_ready[1]),
      .desc_index_i(desc_index[1]),
      .desc_data_i(desc_data[1]),
      .job_valid_o(job_valid[AckOut]),
      .job_ready_i(job_ready[AckOut]),
      .job_op_o(job_op[AckOut]),
      .job_addr_o(job_addr[AckOut]),
      .job_words_o(job_words[AckOut]),
      .job_data_o(job_data[AckOut]),
      .job_take_i(job_take[AckOut]),
      .job_data_valid_i(data_valid[AckOut]),
      .job_data_i(data),
      .job_done_i(done_valid[AckOut]),
      .job_err_i(done_err),
      .out_valid_o(out_valid[1]),
      .out_ready_i(out_ready[1]),
      .out_data_o(out_data[1]),
      .out_last_o(out_last[1]),
      .sending_o(sending[1]),
      .sent_o(sent[1]),
      .words_o(words_out[1]),
      .refused_o(send_refused[1]),
      .refused_process_o(send_process[1]),
      .refused_tcw_o(send_tcw[1]),
      .refused_reason_o(send_reason[1])
  );

  cppacs_link u_link (
      .clk_i,
      .rst_i,
      .busy_o(busy[7]),
      .in_valid_i(out_valid),
      .in_ready_o(out_ready),
      .in_data_i(out_data),
      .in_last_i(out_last),
      .out_valid_o(in_valid),
      .out_ready_i(in_ready),
      .out_data_o(in_data),
      .out_last_o(in_last),
      .link_out_valid_o,
      .link_out_channel_o,
      .link_out_data_o,
      .link_out_last_o,
      .link_out_credit_i,
      .link_in_valid_i,
      .link_in_channel_i,
      .link_in_data_i,
      .link_in_last_i,
      .link_in_credit_o,
      .stall_o(stall)
  );

  // --------------------------------------------------------------------------------------------------------- receivers
  // Clients of memory: 0 the words unit, 1 what reads or writes long runs.
  logic [1:0] wr_cmd_valid, wr_cmd_ready, wr_valid, wr_ready, wr_last, wr_rsp_valid, wr_rsp_ready;
  logic [1:0][31:0] wr_cmd_addr, wr_data;
  logic [1:0][7:0] wr_cmd_len;
  logic [1:0][3:0] wr_strb;
  logic wr_rsp_err;
  logic [1:0] settling;

  cppacs_receive #(
      .BurstBeats (BurstBeats),
      .Outstanding(Outstanding)
  ) u_receive (
      .clk_i,
      .rst_i,
      .busy_o(busy[8]),
      .place_i(place_o),
      .ring_tail_i(ring_tail),
      .ring_slot_log_i(ring_slot_log),
      .ring_slots_log_i(ring_slots_log),
      .in_valid_i(in_valid[0]),
      .in_ready_o(in_ready[0]),
      .in_data_i(in_data[0]),
      .in_last_i(in_last[0]),
      .field_o(field[0]),
      .look_valid_o(look_valid[0]),
      .look_ready_i(look_ready[0]),
      .look_for_i(look_for[0]),
      .look_first_i(look_first),
      .look_second_i(look_second),
      .look_flag_i(look_flag),
      .look_count_i(look_count),
      .count_valid_o(count_valid[0]),
      .shut_valid_o(shut[0]),
      .open_o(open[0]),
      .gone_i(gone[0]),
      .mem_cmd_valid_o(wr_cmd_valid[1]),
      .mem_cmd_ready_i(wr_cmd_ready[1]),
      .mem_cmd_addr_o(wr_cmd_addr[1]),
      .mem_cmd_len_o(wr_cmd_len[1]),
      .mem_data_valid_o(wr_valid[1]),
      .mem_data_ready_i(wr_ready[1]),
      .mem_data_data_o(wr_data[1]),
      .mem_data_last_o(wr_last[1]),
      .mem_rsp_valid_i(wr_rsp_valid[1]),
      .mem_rsp_ready_o(wr_rsp_ready[1]),
      .mem_rsp_err_i(wr_rsp_err),
      .job_valid_o(job_valid[Flag]),
      .job_ready_i(job_ready[Flag]),
      .job_addr_o(job_addr[Flag]),
      .job_data_o(job_data[Flag]),
      .job_take_i(job_take[Flag]),
      .done_valid_i(done_valid[Flag]),
      .done_err_i(done_err),
      .settling_o(settling[0]),
      .other_settling_i(settling[1]),
      .notify_valid_o(notify[0]),
      .refused_valid_o(recv_refused[0]),
      .src_o(recv_src[0]),
      .ended_field_o(recv_field[0]),
      .kind_o(recv_kind[0]),
      .reason_o(recv_reason[0]),
      .received_o(received[0]),
      .words_o(words_in[0])
  );
  assign wr_strb[1] = '1;
  assign job_op[Flag] = Write;
  assign job_words[Flag] = 5'd2;

  cppacs_ack_receive u_ack_receive (
      .clk_i,
      .rst_i,
      .busy_o(busy[9]),
      .place_i(place_o),
      .in_valid_i(in_valid[1]),
      .in_ready_o(in_ready[1]),
      .in_data_i(in_data[1]),
      .in_last_i(in_last[1]),
      .field_o(field[1]),
      .look_valid_o(look_valid[1]),
      .look_ready_i(look_ready[1]),
      .look_for_i(look_for[1]),
      .look_first_i(look_first),
      .look_second_i(look_second),
      .look_flag_i(look_flag),
      .look_count_i(look_count),
      .count_valid_o(count_valid[1]),
      .shut_valid_o(shut[1]),
      .open_o(open[1]),
      .gone_i(gone[1]),
      .job_valid_o(job_valid[AckIn]),
      .job_ready_i(job_ready[AckIn]),
      .job_op_o(job_op[AckIn]),
      .job_addr_o(job_addr[AckIn]),
      .job_words_o(job_words[AckIn]),
      .job_data_o(job_data[AckIn]),
      .job_take_i(job_take[AckIn]),
      .data_valid_i(data_valid[AckIn]),
      .data_i(data),
      .done_valid_i(done_valid[AckIn]),
      .done_err_i(done_err),
      .ask_room_i(ask_room),
      .ask_valid_o(ask_valid),
      .ask_index_o(ask_index),
      .ask_data_o(ask_data),
      .settling_o(settling[1]),
      .other_settling_i(settling[0]),
      .notify_valid_o(notify[1]),
      .refused_valid_o(recv_refused[1]),
      .src_o(recv_src[1]),
      .kind_o(recv_kind[1]),
      .reason_o(recv_reason[1]),
      .received_o(received[1]),
      .words_o(words_in[1])
  );
  assign recv_field[1] = field[1];

  cppacs_answers #(
      .Answers(Answers)
  ) u_answers (
      .clk_i,
      .rst_i,
      .busy_o(busy[10]),
      .ask_valid_i(ask_valid),
      .ask_index_i(ask_index),
      .ask_data_i(ask_data),
      .ask_room_o(ask_room),
      .answer_valid_o(answer_valid),
      .answer_ready_i(answer_ready),
      .answer_index_o(answer_index),
      .answer_data_o(answer_data),
      .waiting_o(waiting_answers)
  );

  // ------------------------------------------------------------------------------------------------------------ memory
  logic [1:0] rd_cmd_valid, rd_cmd_ready, rd_valid, rd_ready;
  logic [1:0][31:0] rd_cmd_addr;
  logic [1:0][7:0] rd_cmd_len;
  logic [31:0] rd_data;
  logic rd_last, rd_err, words_busy, read_busy;

  cppacs_words u_words (
      .clk_i,
      .rst_i,
      .busy_o(words_busy),
      .job_valid_i(job_valid),
      .job_ready_o(job_ready),
      .job_op_i(job_op),
      .job_addr_i(job_addr),
      .job_words_i(job_words),
      .data_i(job_data),
      .data_take_o(job_take),
      .data_valid_o(data_valid),
      .data_o(data),
      .data_err_o(data_err),
      .done_valid_o(done_valid),
      .done_err_o(done_err),
      .rd_cmd_valid_o(rd_cmd_valid[0]),
      .rd_cmd_ready_i(rd_cmd_ready[0]),
      .rd_cmd_addr_o(rd_cmd_addr[0]),
      .rd_cmd_len_o(rd_cmd_len[0]),
      .rd_data_valid_i(rd_valid[0]),
      .rd_data_ready_o(rd_ready[0]),
      .rd_data_data_i(rd_data),
      .rd_data_last_i(rd_last),
      .rd_data_err_i(rd_err),
      .wr_cmd_valid_o(wr_cmd_valid[0]),
      .wr_cmd_ready_i(wr_cmd_ready[0]),
      .wr_cmd_addr_o(wr_cmd_addr[0]),
      .wr_cmd_len_o(wr_cmd_len[0]),
      .wr_data_valid_o(wr_valid[0]),
      .wr_data_ready_i(wr_ready[0]),
      .wr_data_data_o(wr_data[0]),
      .wr_data_strb_o(wr_strb[0]),
      .wr_data_last_o(wr_last[0]),
      .wr_rsp_valid_i(wr_rsp_valid[0]),
      .wr_rsp_ready_o(wr_rsp_ready[0]),
      .wr_rsp_err_i(wr_rsp_err)
  );

  cppacs_load #(
      .BurstBeats (BurstBeats),
      .Outstanding(Outstanding)
  ) u_read (
      .clk_i,
      .rst_i,
      .busy_o(read_busy),
      .cmd_valid_i(read_valid),
      .cmd_ready_o(read_ready),
      .cmd_addr_i(read_addr),
      .cmd_bytes_i(read_bytes),
      .mem_cmd_valid_o(rd_cmd_valid[1]),
      .mem_cmd_ready_i(rd_cmd_ready[1]),
      .mem_cmd_addr_o(rd_cmd_addr[1]),
      .mem_cmd_len_o(rd_cmd_len[1]),
      .mem_data_valid_i(rd_valid[1]),
      .mem_data_ready_o(rd_ready[1]),
      .mem_data_data_i(rd_data),
      .mem_data_last_i(rd_last),
      .mem_data_err_i(rd_err),
      .out_valid_o(read_data_valid),
      .out_ready_i(read_data_ready),
      .out_data_o(read_data),
      .out_last_o(read_data_last),
      .out_err_o(read_data_err)
  );

  mem_read_mux #(
      .N(2),
      .Outstanding(Outstanding + 2)
  ) u_read_mux (
      .clk_i,
      .rst_i,
      .busy_o(busy[11]),
      .cmd_valid_i(rd_cmd_valid),
      .cmd_ready_o(rd_cmd_ready),
      .cmd_addr_i(rd_cmd_addr),
      .cmd_len_i(rd_cmd_len),
      .data_valid_o(rd_valid),
      .data_ready_i(rd_ready),
      .data_data_o(rd_data),
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

  logic write_mux_busy;
  mem_write_mux #(
      .N(2),
      .Outstanding(Outstanding + 4)
  ) u_write_mux (
      .clk_i,
      .rst_i,
      .busy_o(write_mux_busy),
      .cmd_valid_i(wr_cmd_valid),
      .cmd_ready_o(wr_cmd_ready),
      .cmd_addr_i(wr_cmd_addr),
      .cmd_len_i(wr_cmd_len),
      .data_valid_i(wr_valid),
      .data_ready_o(wr_ready),
      .data_data_i(wr_data),
      .data_strb_i(wr_strb),
      .data_last_i(wr_last),
      .rsp_valid_o(wr_rsp_valid),
      .rsp_ready_i(wr_rsp_ready),
      .rsp_err_o(wr_rsp_err),
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
  assign busy[12] = words_busy || read_busy || write_mux_busy;
endmodule
