// SPDX-License-Identifier: MIT OR Apache-2.0
// FIFO whose words become visible a fixed time after they enter: a pipeline's latency without its registers.
//
// Handshake  as `fifo`: registered `in_ready_o` and `out_valid_o`, `out_data_o` from memory.
// Latency    a word taken at one clock edge is offered Delay cycles later (1: right after that edge), or when the
//            earlier words have left.
// Rate       1 word per cycle if Depth > Delay.
// Full       `in_ready_o` is low with Depth words inside, visible or not.
// Reset      empties it, in mid-flight too.
// level_o    words inside, visible or not.
// Source     the five synchronisation cycles of Cenju-3's switch inputs. Its documents give the time, not the circuit.
module stream_delay #(
    parameter int W = 16,  // bits of a word, >= 1
    parameter int Depth = 8,  // words, >= 1
    parameter int Delay = 5,  // cycles, >= 1
    localparam int LevelW = $clog2(Depth + 1)
) (
    input logic clk_i,
    input logic rst_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [W-1:0] in_data_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [W-1:0] out_data_o,
    output logic [LevelW-1:0] level_o
);
  if (Delay < 1) begin : gen_bad_delay
    stream_delay_Delay_must_be_at_least_1 u_bad ();
  end

  logic unused_stored;  // the FIFO holds a word, visible or not
  logic visible_valid_q, ripe, pop;
  logic [LevelW-1:0] visible_q, visible_d;

  fifo #(
      .W(W),
      .Depth(Depth)
  ) u_fifo (
      .clk_i,
      .rst_i,
      .in_valid_i,
      .in_ready_o,
      .in_data_i,
      .out_valid_o(unused_stored),
      .out_ready_i(pop),
      .out_data_o,
      .level_o
  );

  // `ripe`: a word taken Delay - 1 cycles ago becomes visible after this cycle.
  if (Delay == 1) begin : gen_now
    assign ripe = in_valid_i && in_ready_o;
  end else begin : gen_later
    logic [Delay-2:0] age_q;
    always_ff @(posedge clk_i) begin
      if (rst_i) age_q <= '0;
      else age_q <= (Delay - 1)'({age_q, in_valid_i && in_ready_o});
    end
    assign ripe = age_q[Delay-2];
  end

  assign pop = out_ready_i && visible_valid_q;

  always_comb begin
    visible_d = visible_q;
    if (ripe && !pop) visible_d = visible_q + LevelW'(1);
    if (pop && !ripe) visible_d = visible_q - LevelW'(1);
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      visible_q <= '0;
      visible_valid_q <= 1'b0;
    end else begin
      visible_q <= visible_d;
      visible_valid_q <= visible_d != '0;
    end
  end

  assign out_valid_o = visible_valid_q;
endmodule
