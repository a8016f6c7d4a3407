// SPDX-License-Identifier: MIT OR Apache-2.0
// Reset bridge: an asynchronous request (PLL not locked, a button) becomes the reset of one clock's domain.
//
// Handshake  none. `arst_i` may come and go at any time, also while the clock stands still.
// Latency    `rst_o` asserts asynchronously, with or without a clock. It is released synchronously, Stages clock edges
//            after the request has ended.
// Power-up| `rst_o` means nothing until the first request; a PLL makes one until it has locked.
// Source     common practice: asynchronous assertion, synchronous release.
module reset_sync #(
    parameter int Stages = 3  // flip-flops in series, >= 2
) (
    input  logic clk_i,
    input  logic arst_i,
    output logic rst_o
);
  if (Stages < 2) begin : gen_bad_stages
    reset_sync_Stages_must_be_at_least_2 u_bad ();
  end

  (* ASYNC_REG = "TRUE" *) logic [Stages-1:0] stage_q;

  always_ff @(posedge clk_i or posedge arst_i) begin
    if (arst_i) stage_q <= '1;
    else stage_q <= {stage_q[Stages-2:0], 1'b0};
  end

  assign rst_o = stage_q[Stages-1];
endmodule
