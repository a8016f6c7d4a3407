// SPDX-License-Identifier: MIT OR Apache-2.0
// Skid buffer: a register stage of a stream that cuts both directions.
//
// Handshake  valid/ready streams; every output is a flip-flop.
// Latency    1 cycle, 1 word per cycle.
// Full       holds two words, then `in_ready_o` is low.
// Reset      empties it, in mid-flight too.
// Source     common practice (the shape ZipCPU's `skidbuffer` describes).
module skid #(
    parameter int W = 32  // bits of a word, >= 1
) (
    input logic clk_i,
    input logic rst_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [W-1:0] in_data_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [W-1:0] out_data_o
);
  if (W < 1) begin : gen_bad_w
    skid_W_must_be_at_least_1 u_bad ();
  end

  logic ready_q, valid_q;
  logic [W-1:0] spare_q, data_q;
  logic stuck;

  assign stuck = valid_q && !out_ready_i;

  always_ff @(posedge clk_i) begin
    if (ready_q) spare_q <= in_data_i;
    if (!stuck) data_q <= ready_q ? in_data_i : spare_q;
    if (rst_i) begin
      ready_q <= 1'b1;
      valid_q <= 1'b0;
    end else begin
      // Not ready means that the spare register holds a word.
      ready_q <= !stuck || (ready_q && !in_valid_i);
      valid_q <= stuck || in_valid_i || !ready_q;
    end
  end

  assign in_ready_o  = ready_q;
  assign out_valid_o = valid_q;
  assign out_data_o  = data_q;

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
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (ready_q || valid_q);
    end
  end
`endif
endmodule
