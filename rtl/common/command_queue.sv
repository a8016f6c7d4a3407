// SPDX-License-Identifier: MIT OR Apache-2.0
// Queue of commands in front of an engine's command register.
//
// Handshake  valid/ready streams; `in_ready_o` is a flip-flop. The output must feed a register.
// Latency    1 cycle. With Early none: a command that finds the queue empty is offered in the same cycle.
// Rate       1 command per cycle.
// Full       two commands wait (with Early, one); then `in_ready_o` is low.
// Reset      empties it.
// waits_o    a command waits.
// Source     common practice: a FIFO, or the input half of a skid buffer.
module command_queue #(
    parameter int W = 32,  // bits of a command, >= 1
    parameter bit Early = 1'b0
) (
    input logic clk_i,
    input logic rst_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [W-1:0] in_data_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [W-1:0] out_data_o,
    output logic waits_o
);
  if (Early) begin : gen_early
    logic ready_q;
    logic [W-1:0] spare_q;

    always_ff @(posedge clk_i) begin
      if (ready_q) spare_q <= in_data_i;
      if (rst_i) ready_q <= 1'b1;
      else ready_q <= out_ready_i || (ready_q && !in_valid_i);
    end

    assign in_ready_o  = ready_q;
    assign out_valid_o = in_valid_i || !ready_q;
    assign out_data_o  = ready_q ? in_data_i : spare_q;
    assign waits_o     = !ready_q;

`ifdef TSUNAGI_ASSERT
    stream_rules #(
        .W(W)
    ) u_source (
        .clk_i,
        .rst_i,
        .valid_i(in_valid_i),
        .ready_i(ready_q),
        .data_i (in_data_i)
    );
`endif
  end else begin : gen_fifo
    logic [1:0] level;

    fifo #(
        .W(W),
        .Depth(2)
    ) u_fifo (
        .clk_i,
        .rst_i,
        .in_valid_i,
        .in_ready_o,
        .in_data_i,
        .out_valid_o,
        .out_ready_i,
        .out_data_o,
        .level_o(level)
    );
    assign waits_o = level != '0;
  end
endmodule
