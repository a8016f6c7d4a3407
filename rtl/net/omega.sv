// SPDX-License-Identifier: MIT OR Apache-2.0
// Omega network: Radix**Stages ports, Stages columns of crossbars, a perfect shuffle before each column.
//
// Purpose    carries packets from any port to the port named in the low Stages * $clog2(Radix) bits of their first
//            word, a digit of base Radix per $clog2(Radix) bits. Stage s routes by digit Stages - 1 - s, so there is
//            exactly one path a pair and its packets stay in order.
// Handshake  as crossbar.
// Latency    Stages times crossbar's when nothing is in the way.
// Saturation words a cycle and port, with 4x4 crossbars and uniform packets of 1, 4 and 16 words: at 16 ports 0.61,
//            0.55 and 0.51; at 64 0.58, 0.50 and 0.44.
// Full       back-pressure from column to column; nothing is lost. Packets only move forward: no routing deadlock.
// Misuse     a packet with a digit of Radix or more is drained and counted in unroutable_o, the sum over all crossbars,
//            saturating.
// busy_o     0 when every crossbar is at rest.
// Source     perfect-shuffle wiring and destination tags are textbook; the order of the digits is ours.
module omega #(
    parameter  int Radix  = 4,               // ports a side of one crossbar, 2 or more
    parameter  int Stages = 2,               // columns, 1 or more
    parameter  int W      = 16,              // bits a word, at least Stages * $clog2(Radix)
    localparam int Ports  = Radix ** Stages
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic [Ports-1:0]        in_valid_i,
    output logic [Ports-1:0]        in_ready_o,
    input  logic [Ports-1:0][W-1:0] in_data_i,
    input  logic [Ports-1:0]        in_last_i,
    output logic [Ports-1:0]        out_valid_o,
    input  logic [Ports-1:0]        out_ready_i,
    output logic [Ports-1:0][W-1:0] out_data_o,
    output logic [Ports-1:0]        out_last_o,
    output logic                    busy_o,
    output logic [     15:0]        unroutable_o
);

  if (Stages < 1) begin : gen_bad_stages
    omega_Stages_must_be_at_least_1 u_bad ();
  end

  localparam int Rows = Ports / Radix;
  localparam int SelectW = Stages > 1 ? $clog2(Stages) : 1;
  localparam int SumW = 16 + $clog2(Rows * Stages + 1);

  // Boundary s enters column s, before its shuffle; boundary Stages leaves the network.
  logic [Stages:0][Ports-1:0] valid, ready, last;
  logic [Stages:0][Ports-1:0][W-1:0] data;
  // The same after the shuffle of column s.
  logic [Stages-1:0][Ports-1:0] in_valid, in_ready, in_last;
  logic [Stages-1:0][Ports-1:0][W-1:0] in_data;
  logic [Stages-1:0][Rows-1:0] busy;
  logic [Stages-1:0][Rows-1:0][15:0] unroutable;

  assign valid[0] = in_valid_i;
  assign data[0] = in_data_i;
  assign last[0] = in_last_i;
  assign in_ready_o = ready[0];
  assign out_valid_o = valid[Stages];
  assign out_data_o = data[Stages];
  assign out_last_o = last[Stages];
  assign ready[Stages] = out_ready_i;
  assign busy_o = busy != '0;

  for (genvar s = 0; s < Stages; s++) begin : gen_stage
    for (genvar p = 0; p < Ports; p++) begin : gen_shuffle
      // The shuffle moves the top digit of a position to the bottom.
      localparam int To = (p * Radix) % Ports + p / Rows;
      assign in_valid[s][To] = valid[s][p];
      assign in_data[s][To] = data[s][p];
      assign in_last[s][To] = last[s][p];
      assign ready[s][p] = in_ready[s][To];
    end
    for (genvar r = 0; r < Rows; r++) begin : gen_row
      logic [Radix*$clog2(Radix)-1:0] unused_source;
      crossbar #(
          .N(Radix),
          .W(W),
          .Digits(Stages)
      ) u_crossbar (
          .clk_i       (clk_i),
          .rst_i       (rst_i),
          .digit_i     (SelectW'(Stages - 1 - s)),
          .in_valid_i  (in_valid[s][r*Radix+:Radix]),
          .in_ready_o  (in_ready[s][r*Radix+:Radix]),
          .in_data_i   (in_data[s][r*Radix+:Radix]),
          .in_last_i   (in_last[s][r*Radix+:Radix]),
          .out_valid_o (valid[s+1][r*Radix+:Radix]),
          .out_ready_i (ready[s+1][r*Radix+:Radix]),
          .out_data_o  (data[s+1][r*Radix+:Radix]),
          .out_last_o  (last[s+1][r*Radix+:Radix]),
          .out_source_o(unused_source),
          .busy_o      (busy[s][r]),
          .unroutable_o(unroutable[s][r])
      );
    end
  end

  logic [SumW-1:0] sum;
  always_comb begin
    sum = '0;
    for (int s = 0; s < Stages; s++) begin
      for (int r = 0; r < Rows; r++) sum = sum + SumW'(unroutable[s][r]);
    end
  end
  assign unroutable_o = sum[SumW-1:16] != '0 ? '1 : sum[15:0];

endmodule
