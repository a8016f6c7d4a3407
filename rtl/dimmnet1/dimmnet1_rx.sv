// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1 receiver: ordinary and Mini-OTF. It checks packets, translates their addresses, writes their data, answers.
//
// Input      packets from the link, of any content. `receive_i` clear: no further packet begins.
// Data       PUSH and PULL_REPLY go to memory or LLCM by `wr_*` (dma_write); OTF by `otf_*`, when all earlier packets'
//            data are visible. `otf_data_o` and `otf_strb_o` stand in the lanes of the word at `otf_addr_o`.
// Answers    whole packets for the answer queue: ACK, NACK, and PULL as it came. `answers_room_i` low: a packet that
//            asks for an answer, and any PULL, is refused, CREDIT. A packet with MULTICAST asks for none. A packet that
//            ends before header word 2 gets none.
// Slots      `ans_*` pulses: ACK and NACK that came, and how a PULL_REPLY ended.
// Outcome    `outcome_*` pulses: one for each packet but well-formed ACK and NACK, 0: accepted.
// Stop       see dimmnet1_execute. `stop_valid_o`: the header `hdr_o` may be changed by `hdr_write_*`, and one `go_*`
//            ends the stop. `mat_valid_o`: the same for the matcher, or `mat_pass_i` gives the packet to the processor.
// Waits      for memory, for processor and matcher, and for a place in the answer queue; never for the network.
// Latency    with TLBs of 2 cycles, OTF: 3 cycles from data word to `otf_valid_o`, 6 cycles per packet. Long packets: 1
//            word per cycle, no bubble between packets of 9 words and more that hit, while memory keeps pace. A packet
//            with F_SEQ waits until its predecessor is settled: up to 18 cycles after it, and memory's latency.
// Full       four packets await their data's end, and 16 words wait in front of memory; then `in_ready_o` falls.
// Reset      drops everything; the memory must forget its bursts, too. No packet is taken whole for 64 cycles behind
//            it.
// busy_o     low when nothing is inside, and while it is stopped.
// Source     paper, sections 2.2 and 2.3 (receivers, stop, continue); formats, reasons and numbers are ours.
module dimmnet1_rx (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic receive_i,
    input logic cpu_runs_i,
    input logic match_i,
    input logic [15:0] node_i,

    input logic in_valid_i,
    output logic in_ready_o,
    input logic [63:0] in_data_i,
    input logic in_last_i,

    output logic tlb_req_valid_o,
    input logic tlb_req_ready_i,
    output logic [15:0] tlb_req_pgid_o,
    output logic [15:0] tlb_req_region_o,
    output logic [47:0] tlb_req_offset_o,
    output logic [12:0] tlb_req_bytes_o,
    output logic [1:0] tlb_req_kind_o,
    input logic tlb_rsp_valid_i,
    input logic [31:0] tlb_rsp_addr_i,
    input logic [3:0] tlb_rsp_reason_i,
    input logic [1:0] tlb_rsp_miss_i,
    input logic [63:0] tlb_rsp_key_i,

    output logic answers_valid_o,
    input logic answers_ready_i,
    output logic [63:0] answers_data_o,
    output logic answers_last_o,
    input logic answers_room_i,

    output logic ans_valid_o,
    output logic [15:0] ans_tag_o,
    output logic [15:0] ans_src_o,
    output logic ans_nack_o,
    output logic [3:0] ans_reason_o,
    output logic [31:0] ans_seq_o,

    output logic otf_valid_o,
    input logic otf_ready_i,
    output logic [13:0] otf_addr_o,
    output logic [63:0] otf_data_o,
    output logic [7:0] otf_strb_o,

    output logic wr_cmd_valid_o,
    input logic wr_cmd_ready_i,
    output logic [31:0] wr_cmd_addr_o,
    output logic [7:0] wr_cmd_len_o,
    output logic wr_data_valid_o,
    input logic wr_data_ready_i,
    output logic [63:0] wr_data_data_o,
    output logic [7:0] wr_data_strb_o,
    output logic wr_data_last_o,
    input logic wr_rsp_valid_i,
    output logic wr_rsp_ready_o,
    input logic wr_rsp_err_i,

    output logic stop_valid_o,
    output logic [3:0] stop_cause_o,
    output logic stop_more_o,
    output logic [63:0] stop_key_o,
    output logic [5:0][63:0] hdr_o,
    input logic hdr_write_valid_i,
    input logic [2:0] hdr_write_index_i,
    input logic [1:0] hdr_write_strb_i,
    input logic [63:0] hdr_write_data_i,
    input logic go_valid_i,
    input logic [2:0] go_what_i,
    input logic [3:0] go_reason_i,
    input logic [15:0] go_bytes_i,
    input logic [31:0] go_addr_i,
    output logic dma_done_o,
    output logic [3:0] dma_reason_o,
    output logic mat_valid_o,
    output logic mat_more_o,
    input logic mat_pass_i,

    output logic outcome_valid_o,
    output logic [3:0] outcome_reason_o
);
  logic parse_busy, execute_busy, move_busy, settle_busy;
  logic load_valid, load_ready, load_runt, word_valid, whole, whole_bad, whole_payload;
  logic [2:0][63:0] load_header;
  logic [2:0] word_index;
  logic [63:0] word_data;
  logic body_valid, body_ready, body_last;
  logic [63:0] body_data;

  dimmnet1_parse u_parse (
      .clk_i,
      .rst_i,
      .busy_o(parse_busy),
      .receive_i,
      .in_valid_i,
      .in_ready_o,
      .in_data_i,
      .in_last_i,
      .load_valid_o(load_valid),
      .load_ready_i(load_ready),
      .load_runt_o(load_runt),
      .load_header_o(load_header),
      .word_valid_o(word_valid),
      .word_index_o(word_index),
      .word_data_o(word_data),
      .whole_o(whole),
      .whole_bad_o(whole_bad),
      .whole_payload_o(whole_payload),
      .body_valid_o(body_valid),
      .body_ready_i(body_ready),
      .body_data_o(body_data),
      .body_last_o(body_last)
  );

  logic pull_valid, pull_last;
  logic [63:0] pull_data;
  logic move_valid, move_ready, move_drop, move_part, move_ended;
  logic [31:0] move_addr;
  logic [12:0] move_bytes;
  logic put_valid, put_ready, put_write, put_again, put_ask, put_tell, put_nack, put_count, put_number, put_quiet;
  logic [3:0] put_reason;
  logic [15:0] put_src, put_pgid, put_tag;
  logic [31:0] put_seq;
  logic settled, next_valid, quiet_done;
  logic [ 5:0] next_src;
  logic [31:0] next_seq;
  logic [ 3:0] quiet_reason;

  dimmnet1_execute u_execute (
      .clk_i,
      .rst_i,
      .busy_o(execute_busy),
      .cpu_runs_i,
      .match_i,
      .answers_room_i,
      .load_valid_i(load_valid),
      .load_ready_o(load_ready),
      .load_runt_i(load_runt),
      .load_header_i(load_header),
      .word_valid_i(word_valid),
      .word_index_i(word_index),
      .word_data_i(word_data),
      .whole_i(whole),
      .whole_bad_i(whole_bad),
      .whole_payload_i(whole_payload),
      .tlb_req_valid_o,
      .tlb_req_ready_i,
      .tlb_req_pgid_o,
      .tlb_req_region_o,
      .tlb_req_offset_o,
      .tlb_req_bytes_o,
      .tlb_req_kind_o,
      .tlb_rsp_valid_i,
      .tlb_rsp_addr_i,
      .tlb_rsp_reason_i,
      .tlb_rsp_miss_i,
      .tlb_rsp_key_i,
      .otf_valid_o,
      .otf_ready_i,
      .otf_addr_o,
      .otf_data_o,
      .otf_strb_o,
      .stop_valid_o,
      .stop_cause_o,
      .stop_more_o,
      .stop_key_o,
      .hdr_o,
      .hdr_write_valid_i,
      .hdr_write_index_i,
      .hdr_write_strb_i,
      .hdr_write_data_i,
      .go_valid_i,
      .go_what_i,
      .go_reason_i,
      .go_bytes_i,
      .go_addr_i,
      .dma_done_o,
      .dma_reason_o,
      .mat_valid_o,
      .mat_more_o,
      .mat_pass_i,
      .pull_valid_o(pull_valid),
      .pull_ready_i(answers_ready_i),
      .pull_data_o(pull_data),
      .pull_last_o(pull_last),
      .move_valid_o(move_valid),
      .move_ready_i(move_ready),
      .move_drop_o(move_drop),
      .move_part_o(move_part),
      .move_addr_o(move_addr),
      .move_bytes_o(move_bytes),
      .move_ended_i(move_ended),
      .put_valid_o(put_valid),
      .put_ready_i(put_ready),
      .put_write_o(put_write),
      .put_reason_o(put_reason),
      .put_again_o(put_again),
      .put_ask_o(put_ask),
      .put_tell_o(put_tell),
      .put_nack_o(put_nack),
      .put_count_o(put_count),
      .put_number_o(put_number),
      .put_quiet_o(put_quiet),
      .put_src_o(put_src),
      .put_pgid_o(put_pgid),
      .put_tag_o(put_tag),
      .put_seq_o(put_seq),
      .settled_i(settled),
      .next_valid_i(next_valid),
      .next_src_i(next_src),
      .next_seq_i(next_seq),
      .quiet_done_i(quiet_done),
      .quiet_reason_i(quiet_reason)
  );

  logic done_valid, done_ready;
  logic [2:0] done_err;

  dimmnet1_move u_move (
      .clk_i,
      .rst_i,
      .busy_o(move_busy),
      .cmd_valid_i(move_valid),
      .cmd_ready_o(move_ready),
      .cmd_drop_i(move_drop),
      .cmd_part_i(move_part),
      .cmd_addr_i(move_addr),
      .cmd_bytes_i(move_bytes),
      .in_valid_i(body_valid),
      .in_ready_o(body_ready),
      .in_data_i(body_data),
      .in_last_i(body_last),
      .wr_cmd_valid_o,
      .wr_cmd_ready_i,
      .wr_cmd_addr_o,
      .wr_cmd_len_o,
      .wr_data_valid_o,
      .wr_data_ready_i,
      .wr_data_data_o,
      .wr_data_strb_o,
      .wr_data_last_o,
      .wr_rsp_valid_i,
      .wr_rsp_ready_o,
      .wr_rsp_err_i,
      .ended_o(move_ended),
      .done_valid_o(done_valid),
      .done_ready_i(done_ready),
      .done_err_o(done_err)
  );

  // Answers of settled packets, and PULL, which waits until all are settled.
  logic answer_valid, answer_last;
  logic [63:0] answer_data;

  dimmnet1_settle u_settle (
      .clk_i,
      .rst_i,
      .busy_o(settle_busy),
      .settled_o(settled),
      .node_i,
      .put_valid_i(put_valid),
      .put_ready_o(put_ready),
      .put_write_i(put_write),
      .put_reason_i(put_reason),
      .put_again_i(put_again),
      .put_ask_i(put_ask),
      .put_tell_i(put_tell),
      .put_nack_i(put_nack),
      .put_count_i(put_count),
      .put_number_i(put_number),
      .put_quiet_i(put_quiet),
      .put_src_i(put_src),
      .put_pgid_i(put_pgid),
      .put_tag_i(put_tag),
      .put_seq_i(put_seq),
      .done_valid_i(done_valid),
      .done_ready_o(done_ready),
      .done_err_i(done_err),
      .out_valid_o(answer_valid),
      .out_ready_i(answers_ready_i),
      .out_data_o(answer_data),
      .out_last_o(answer_last),
      .ans_valid_o,
      .ans_tag_o,
      .ans_src_o,
      .ans_nack_o,
      .ans_reason_o,
      .ans_seq_o,
      .next_valid_o(next_valid),
      .next_src_o(next_src),
      .next_seq_o(next_seq),
      .outcome_valid_o,
      .outcome_reason_o,
      .quiet_done_o(quiet_done),
      .quiet_reason_o(quiet_reason)
  );

  assign answers_valid_o = pull_valid || answer_valid;
  assign answers_data_o = pull_valid ? pull_data : answer_data;
  assign answers_last_o = pull_valid ? pull_last : answer_last;
  assign busy_o = parse_busy || execute_busy || move_busy || settle_busy;
endmodule
