// SPDX-License-Identifier: MIT OR Apache-2.0
// `ap1000p_queue_ram` as the proof of `ap1000p_queues` sees it: any queues may be full, and any words may leave.
//
// The RAM's own proof covers the order of its words. That proof assumes of the RAM's source the assertions here.
module ap1000p_queue_ram #(
    // words of each queue, a power of two and at least 32, 256 together at most; 0 for no third queue
    parameter int First = 32,
    parameter int Second = 64,
    parameter int Third = 64,
    parameter int AgeCap = 16,  // messages that may pass over one
    localparam int N = Third == 0 ? 2 : 3
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic put_valid_i,
    input logic [N-1:0] put_queue_i,
    input logic [2:0] put_number_i,
    input logic [3:0] put_index_i,
    input logic put_end_i,
    input logic [31:0] put_data_i,
    input logic put_doubt_i,
    input logic [N-1:0] forget_i,
    input logic [N-1:0] hold_i,
    input logic [N-1:0] settle_i,
    input logic [N-1:0] back_i,
    output logic broken_o,
    output logic [N-1:0] full_o,
    output logic [N-1:0] more_o,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [N-1:0] out_queue_o,
    output logic out_end_o,
    output logic [31:0] out_data_o
);
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_queue : assert (!put_valid_i || (put_queue_i != '0 && (put_queue_i & (put_queue_i - N'(1))) == '0));
      has_room : assert (!put_valid_i || (put_queue_i & full_o) == '0);
      not_forgotten : assert (!put_valid_i || (put_queue_i & forget_i) == '0);
    end
  end
endmodule
