// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1, answer queue: short packets that the receiver or the processor makes wait here for the transmit arbiter,
// and requests of PULL for the RDMA engine.
//
// Input      stream 0 receiver, 1 packet builder: packets of 3 or 4 words, all words of a packet without a pause.
// Output     a PULL goes to the `pull` port, whoever made it: its words as they came, `pull_w3_o` 0 where it has only
//            three. Words after the fourth are dropped. Any other packet goes to the stream `out`.
// Order      of the inputs is kept, but for one PULL that waits for the RDMA engine: other packets may pass it.
// Room       nodes that keep to their credit have 512 packets here at once, of 4 words at most, and the queue has room
//            for these beside what the builder gets. `room_o` is low when fewer than 64 words are free: the receiver
//            looks before it accepts a packet, and has at most 12 packets under way to here. The builder waits while
//            more than 384 words are inside.
// Latency    4 cycles to `out`, 8 to `pull`. 1 word per cycle.
// Full       an input waits.
// Reset      empties it, in mid-packet too.
// busy_o     low when nothing is inside.
// Source     hardware acknowledgement: paper section 3.4; the queue is ours.
module dimmnet1_answers #(
    parameter int Depth   = 2560,  // words: 512 packets of 4; 384 words and a packet of the builder; 124 to spare
    parameter int Spare   = 64,    // free words below which `room_o` is low
    parameter int Builder = 384    // words inside, above which no packet of the builder begins
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [1:0] in_valid_i,
    output logic [1:0] in_ready_o,
    input logic [1:0][63:0] in_data_i,
    input logic [1:0] in_last_i,
    output logic room_o,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic [63:0] out_data_o,
    output logic out_last_o,

    output logic pull_valid_o,
    input logic pull_ready_i,
    output logic [63:0] pull_w0_o,
    output logic [63:0] pull_w1_o,
    output logic [63:0] pull_w2_o,
    output logic [63:0] pull_w3_o
);
  if (Spare > Depth || Builder > Depth) begin : gen_bad_depth
    dimmnet1_answers_Depth_must_be_at_least_Spare_and_Builder u_bad ();
  end

  localparam int LevelW = $clog2(Depth + 1);

  // ---------------------------------------------------------------------------------------------------------------- in
  logic [LevelW-1:0] level;
  logic [1:0] merge_ready, unused_from;
  logic open_q, inside_q, inside_d, room_q;  // of the builder: it may begin, it is inside a packet
  assign in_ready_o = merge_ready & {open_q, 1'b1};
  assign inside_d   = in_valid_i[1] && in_ready_o[1] ? !in_last_i[1] : inside_q;
  assign room_o     = room_q;

  always_ff @(posedge clk_i) begin
    inside_q <= inside_d && !rst_i;
    open_q   <= inside_d || level <= LevelW'(Builder) || rst_i;
    room_q   <= level <= LevelW'(Depth - Spare) || rst_i;
  end

  logic merge_busy, merge_valid, merge_ready_in, merge_last, begin_q, pull_in;
  logic [63:0] merge_data;
  stream_merge #(
      .N(2),
      .W(64)
  ) u_merge (
      .clk_i,
      .rst_i,
      .busy_o(merge_busy),
      .in_valid_i(in_valid_i & {open_q, 1'b1}),
      .in_ready_o(merge_ready),
      .in_data_i,
      .in_last_i,
      .out_valid_o(merge_valid),
      .out_ready_i(merge_ready_in),
      .out_data_o(merge_data),
      .out_last_o(merge_last),
      .out_from_o(unused_from)
  );

  // Each word says whether it is of a PULL, so the memory's output decides nothing.
  logic pull_q;
  assign pull_in = begin_q ? merge_data[7:0] == 8'(dimmnet1_pkg::TypePull) : pull_q;
  always_ff @(posedge clk_i) begin
    if (merge_valid && merge_ready_in) begin
      begin_q <= merge_last;
      pull_q  <= pull_in;
    end
    if (rst_i) begin_q <= 1'b1;
  end

  // --------------------------------------------------------------------------------------------------------------- out
  logic valid, take, last, pull;
  logic [63:0] data;
  // The flags, which decide, have a memory of their own: it is narrow, so no multiplexer stands behind it.
  logic [1:0] valids, readies;
  logic [1:0][LevelW-1:0] levels;
  logic [65:0] word_in, word_out;
  assign word_in = {merge_last, pull_in, merge_data};
  assign {last, pull, data} = word_out;
  for (genvar i = 0; i < 2; i++) begin : gen_part
    localparam int W = (i == 0) ? 64 : 2;
    fifo_bram #(
        .W(W),
        .Depth(Depth)
    ) u_queue (
        .clk_i,
        .rst_i,
        .in_valid_i (merge_valid),
        .in_ready_o (readies[i]),
        .in_data_i  (word_in[64*i+:W]),
        .out_valid_o(valids[i]),
        .out_ready_i(take),
        .out_data_o (word_out[64*i+:W]),
        .level_o    (levels[i])
    );
  end
  assign merge_ready_in = readies[0];
  assign valid = valids[0];
  assign level = levels[0];
  logic unused_twin;
  assign unused_twin = ^{readies[1], valids[1], levels[1]};  // both go together

  logic [3:0] word_q;  // the next word of a PULL, one-hot; 0: beyond the fourth
  assign take = pull ? !pull_valid_o : out_ready_i;
  assign out_valid_o = valid && !pull;
  assign out_data_o = data;
  assign out_last_o = last;

  always_ff @(posedge clk_i) begin
    if (valid && pull && !pull_valid_o) begin
      if (word_q[0]) pull_w0_o <= data;
      if (word_q[1]) pull_w1_o <= data;
      if (word_q[2]) pull_w2_o <= data;
      if (word_q[3]) pull_w3_o <= data;
      else if (word_q[0]) pull_w3_o <= '0;
      word_q <= last ? 4'd1 : word_q << 1;
      pull_valid_o <= last;
    end else if (pull_ready_i) pull_valid_o <= 1'b0;
    if (rst_i) begin
      word_q <= 4'd1;
      pull_valid_o <= 1'b0;
    end
  end

  assign busy_o = merge_busy || level != '0 || pull_valid_o;
endmodule
