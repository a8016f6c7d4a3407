// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1, transmit arbiter: merges the streams of the card, packet by packet, and puts in SRC and SEQ.
//
// Input      streams 0 answers, 1 AOTF and BOTF, 2 RDMA. A packet that begins is followed by all its words without a
//            wait for the network, or it holds up the others.
// Output     SRC of W0 is `node_i`. W1 of a packet with F_SEQ and without RESEND gets the next number of its DST,
//            from 0; a DST of 64 or more, and a group (MULTICAST), always gets 0. All else passes as it is.
// Fairness   least recently served first (stream_merge).
// Latency    2 cycles; 1 for AOTF and BOTF when nothing else leaves. 1 word per cycle, no bubble between packets.
// Full       holds two words; then the streams wait.
// Reset      numbers begin at 0 again. For 64 cycles after it, nothing is taken.
// busy_o     low when nothing is inside.
// Source     sequence numbers, by the flag f_seq: paper section 4.1; the table is ours.
module dimmnet1_tx (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [15:0] node_i,
    input logic [2:0] in_valid_i,
    output logic [2:0] in_ready_o,
    input logic [2:0][63:0] in_data_i,
    input logic [2:0] in_last_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [63:0] out_data_o,
    output logic out_last_o
);
  localparam int Nodes = 64;
  localparam int NodeW = $clog2(Nodes);

  logic [NodeW:0] init_q;  // numbers set to 0 since reset
  logic init;
  assign init = !init_q[NodeW];

  logic [2:0] merge_ready, unused_from;
  logic merge_busy;
  logic [63:0] word;
  assign in_ready_o = init ? 3'b000 : merge_ready;
  stream_merge #(
      .N(3),
      .W(64),
      .Home(1)
  ) u_merge (
      .clk_i,
      .rst_i,
      .busy_o(merge_busy),
      .in_valid_i(init ? 3'b000 : in_valid_i),
      .in_ready_o(merge_ready),
      .in_data_i,
      .in_last_i,
      .out_valid_o,
      .out_ready_i,
      .out_data_o(word),
      .out_last_o,
      .out_from_o(unused_from)
  );

  // ----------------------------------------------------------------------------------------------------------- numbers
  // W0 reads the number of its DST, W1 takes it and writes the next. A DST is not read in the cycle of its write.
  (* no_rw_check *)logic [31:0] number_q[Nodes];
  logic [31:0] read_q;
  logic [NodeW-1:0] dst_q, write_at;
  logic first_q, second_q, stamp_q, known_q, leave, count;

  assign leave = out_valid_o && out_ready_i;
  assign count = leave && second_q && stamp_q && known_q;
  assign write_at = init ? init_q[NodeW-1:0] : dst_q;

  always_ff @(posedge clk_i) begin
    if (init || count) number_q[write_at] <= init ? '0 : read_q + 32'd1;
    if (leave && first_q) begin
      read_q <= number_q[word[dimmnet1_pkg::HdrW0DstLsb+:NodeW]];
      dst_q <= word[dimmnet1_pkg::HdrW0DstLsb+:NodeW];
      stamp_q <= word[dimmnet1_pkg::HdrW0FSeqLsb] && !word[dimmnet1_pkg::HdrW0ResendLsb];
      known_q <= !word[dimmnet1_pkg::HdrW0MulticastLsb] &&
          word[dimmnet1_pkg::HdrW0DstLsb+NodeW+:dimmnet1_pkg::HdrW0DstW-NodeW] == '0;
    end
    if (leave) begin
      first_q  <= out_last_o;
      second_q <= first_q && !out_last_o;
    end
    if (init) init_q <= init_q + (NodeW + 1)'(1);
    if (rst_i) begin
      init_q   <= '0;
      first_q  <= 1'b1;
      second_q <= 1'b0;
    end
  end

  always_comb begin
    out_data_o = word;
    if (first_q) out_data_o[dimmnet1_pkg::HdrW0SrcLsb+:dimmnet1_pkg::HdrW0SrcW] = node_i;
    if (second_q && stamp_q) out_data_o[dimmnet1_pkg::HdrW1SeqLsb+:dimmnet1_pkg::HdrW1SeqW] = known_q ? read_q : '0;
  end

  assign busy_o = init || merge_busy;
endmodule
