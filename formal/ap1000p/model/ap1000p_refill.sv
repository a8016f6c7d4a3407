// SPDX-License-Identifier: MIT OR Apache-2.0
// `ap1000p_refill` as the proof of `ap1000p_queues` sees it: it passes on the memory's elements.
//
// An error of the memory makes an element lost. Its own proof shows that they are the stored elements, in order.
module ap1000p_refill #(
    parameter int DataW = 64,  // bits of a bus word, 32 or 64
    parameter int Notes = 16,  // runs of refused elements, 1 to 256
    localparam int TagW = ap1000p_pkg::SpillTagLapW + ap1000p_pkg::SpillTagPositionW
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [7:0] base_i,
    input logic [6:0] limit_i,
    input logic empty_i,
    input logic [TagW-1:0] tag_i,
    input logic stored_valid_i,
    input logic [2:0] stored_count_i,
    input logic stored_refused_i,

    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [31:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    input logic mem_data_valid_i,
    output logic mem_data_ready_o,
    input logic [DataW-1:0] mem_data_data_i,
    input logic mem_data_last_i,
    input logic mem_data_err_i,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic out_lost_o,
    output logic [4:0] out_queue_o,
    output logic [2:0] out_number_o,
    output logic [3:0] out_index_o,
    output logic out_end_o,
    output logic [TagW-1:0] out_tag_o,
    output logic [31:0] out_data_o
);
  assign out_valid_o = mem_data_valid_i;
  assign mem_data_ready_o = out_ready_i;
  assign out_lost_o = mem_data_err_i;
  assign out_end_o = mem_data_data_i[ap1000p_pkg::SpillTagEndLsb];
  assign out_number_o = mem_data_data_i[ap1000p_pkg::SpillTagNumberLsb+:3];
  assign out_index_o = mem_data_data_i[ap1000p_pkg::SpillTagIndexLsb+:4];
  assign out_queue_o = mem_data_data_i[ap1000p_pkg::SpillTagQueueLsb+:5];
  assign out_tag_o = mem_data_data_i[ap1000p_pkg::SpillTagPositionLsb+:TagW];
  assign out_data_o = mem_data_data_i[63:32];
endmodule
