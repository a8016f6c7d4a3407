// SPDX-License-Identifier: MIT OR Apache-2.0
// Bitwise synchroniser: brings levels, or a Gray-coded count, into another clock's domain.
//
// Handshake  none. `data_i` comes straight from flip-flops of the other domain. More than one bit is allowed only if at
//            most one bit changes per edge of that domain's clock (Gray code).
// Latency    Stages cycles of `clk_i`, one more when the first flip-flop misses a change.
// Reset      none: it follows its input.
// Jitter     under TSUNAGI_CDC_JITTER (simulation only) the first flip-flop takes the old or the new value of each bit
//            at random, for the input's last change before the clock edge. Parity tells one change from the next, since
//            each step of a Gray count flips it. Earlier steps of a faster source have settled and stay as they are.
// Source     common practice.
module cdc_sync #(
    parameter int W = 1,  // bits, >= 1
    parameter int Stages = 2  // flip-flops in series, >= 2
) (
    input logic clk_i,
    input logic [W-1:0] data_i,
    output logic [W-1:0] data_o
);
  if (W < 1) begin : gen_bad_w
    cdc_sync_W_must_be_at_least_1 u_bad ();
  end
  if (Stages < 2) begin : gen_bad_stages
    cdc_sync_Stages_must_be_at_least_2 u_bad ();
  end

  (* ASYNC_REG = "TRUE" *) logic [Stages-1:0][W-1:0] stage_q;

`ifdef TSUNAGI_CDC_JITTER
  logic [W-1:0] before_q, after_q, uncertain;  // around the input's last change
  logic [W-1:0] sampled_q;  // the input at the last clock edge
  logic parity, change_q, seen_q, jumped_q;  // jumped_q: the input had changed with its parity the same (a reset)

  // Only here, in simulation, is data also a clock, on purpose; hence the waiver.
  // verilator lint_off SYNCASYNCNET
  assign parity = ^data_i;
  always @(posedge parity or negedge parity) begin
    before_q <= (jumped_q && change_q == seen_q) ? sampled_q : after_q;
    after_q  <= data_i;
    change_q <= !change_q;
  end
  // verilator lint_on SYNCASYNCNET
  assign uncertain = (change_q != seen_q && data_i == after_q) ? before_q ^ after_q : '0;
  always_ff @(posedge clk_i) begin
    seen_q <= change_q;
    sampled_q <= data_i;
    jumped_q <= data_i != after_q;
    stage_q <= {stage_q[Stages-2:0], data_i ^ (uncertain & W'($urandom))};
  end
`else
  always_ff @(posedge clk_i) stage_q <= {stage_q[Stages-2:0], data_i};
`endif

  assign data_o = stage_q[Stages-1];
endmodule
