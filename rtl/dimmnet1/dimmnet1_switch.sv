// SPDX-License-Identifier: MIT OR Apache-2.0
// The switch of DIMMnet-1's network: a stand-in for RHiNET-2/SW, 8x8, with routes by table and multicast.
//
// Purpose    carries packets of 64-bit words. A packet's first word is word 0 of its header: flags.multicast is bit 10,
//            dst bits 47 to 32. Tables, order, multicast, fairness, counts and misuse are as of crossbar_multicast.
// Handshake  AXI4-Stream on the links, valid/ready on cfg_*; every valid and ready is a function of flip-flops only.
// Latency    DelayWords + 9 cycles transfer to transfer: 15 by default, 240 ns at the 62.5 MHz of a link. A multicast
//            leaves when its last word has been inside for as long. One word a cycle and port.
// busy_o     0 after an edge: nothing is inside, and further edges change nothing while no valid input is set.
// Source     papers: 8x8, 8 Gbit/s a port, multicast. Hop latency, word width and clock are the design values of our
//            digest. More than 8 nodes take a 16x16 of the same module here, where the machine joins several switches.
module dimmnet1_switch #(
    parameter int N = 8,  // ports, 2 to 16
    parameter int DelayWords = 6,  // cycles that a word rests at an input, for the latency of a hop; 0 or more
    parameter int MulticastWords = 70,  // longest multicast: 64 words and a header of 6
    localparam int W = 64,
    localparam int DigitW = $clog2(N)
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                cfg_valid_i,
    output logic                cfg_ready_o,
    input  logic                cfg_group_i,
    input  logic [  5:0]        cfg_index_i,
    input  logic [N-1:0]        cfg_entry_i,
    input  logic [N-1:0]        in_valid_i,
    output logic [N-1:0]        in_ready_o,
    input  logic [N-1:0][W-1:0] in_data_i,
    input  logic [N-1:0]        in_last_i,
    output logic [N-1:0]        out_valid_o,
    input  logic [N-1:0]        out_ready_i,
    output logic [N-1:0][W-1:0] out_data_o,
    output logic [N-1:0]        out_last_o,
    output logic                busy_o,
    output logic [ 15:0]        unroutable_o,
    output logic [ 15:0]        refused_o
);
  if (N > 16) begin : gen_bad_n
    dimmnet1_switch_N_must_be_at_most_16 u_bad ();
  end

  logic [N-1:0][DigitW-1:0] unused_source;

  crossbar_multicast #(
      .N(N),
      .W(W),
      .MulticastWords(MulticastWords),
      .Delay(DelayWords)
  ) u_crossbar (
      .clk_i       (clk_i),
      .rst_i       (rst_i),
      .cfg_valid_i (cfg_valid_i),
      .cfg_ready_o (cfg_ready_o),
      .cfg_group_i (cfg_group_i),
      .cfg_index_i (cfg_index_i),
      .cfg_entry_i (cfg_entry_i),
      .in_valid_i  (in_valid_i),
      .in_ready_o  (in_ready_o),
      .in_data_i   (in_data_i),
      .in_last_i   (in_last_i),
      .out_valid_o (out_valid_o),
      .out_ready_i (out_ready_i),
      .out_data_o  (out_data_o),
      .out_last_o  (out_last_o),
      .out_source_o(unused_source),
      .busy_o      (busy_o),
      .unroutable_o(unroutable_o),
      .refused_o   (refused_o)
  );
endmodule
