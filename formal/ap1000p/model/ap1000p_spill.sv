// SPDX-License-Identifier: MIT OR Apache-2.0
// `ap1000p_spill` as the proof of `ap1000p_queues` sees it: each word becomes an element, at once.
//
// Elements in the region at the same time have different tags. Its own proof shows that elements reach the memory in
// order, at the address of their tag. The memory is a list that the proof keeps. It takes an element if
// `mem_data_ready_i` is high, and two if `mem_cmd_ready_i` is high.
module ap1000p_spill #(
    parameter int DataW = 64  // bits of a bus word, 32 or 64
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [7:0] base_i,  // 512 KB
    input logic [6:0] limit_i,  // 8 KB, 0 to 64
    input logic empty_i,
    output logic [7:0] base_o,  // in use
    output logic [6:0] limit_o,
    output logic [ap1000p_pkg::SpillTagLapW+ap1000p_pkg::SpillTagPositionW-1:0] tag_o,  // {lap, position}

    input logic in_valid_i,
    output logic in_ready_o,
    output logic in_room_o,  // for 2 words
    input logic [4:0] in_queue_i,
    input logic [2:0] in_number_i,
    input logic [3:0] in_index_i,
    input logic in_end_i,
    input logic [31:0] in_data_i,

    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [31:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    output logic mem_data_valid_o,
    input logic mem_data_ready_i,
    output logic [DataW-1:0] mem_data_data_o,
    output logic [DataW/8-1:0] mem_data_strb_o,
    output logic mem_data_last_o,
    input logic mem_rsp_valid_i,
    output logic mem_rsp_ready_o,
    input logic mem_rsp_err_i,

    output logic stored_valid_o,
    output logic [2:0] stored_count_o,
    output logic error_o
);
  localparam int TagW = ap1000p_pkg::SpillTagLapW + ap1000p_pkg::SpillTagPositionW;
  always_ff @(posedge clk_i) begin
    if (empty_i) {base_o, limit_o} <= {base_i, limit_i};
    tag_o <= rst_i ? '0 : tag_o + TagW'(in_valid_i && in_ready_o);
  end
  assign in_ready_o = mem_data_ready_i;
  assign in_room_o = mem_cmd_ready_i;
  assign mem_data_valid_o = in_valid_i;
  assign mem_data_data_o = {in_data_i, in_number_i, in_queue_i, tag_o, in_index_i, in_end_i};
endmodule
