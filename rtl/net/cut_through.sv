// SPDX-License-Identifier: MIT OR Apache-2.0
// N x N switch for packets of two words, with virtual channels: one cycle a hop.
//
// Purpose    carries packets from inputs to the outputs that are named beside them. It knows no addresses: what wraps
//            it gives output and channel beyond with word 0, as functions of the word.
// Handshake  room instead of ready. A sender may load word 0 of a packet of channel v into its link register at the end
//            of a cycle in which in_room_o[v] is high. Word 1, with `last`, follows in the next cycle without asking.
//            The next packet may be begun two cycles after the one before. Outputs likewise. in_out_i (one-hot) and
//            in_to_i (channel beyond) are valid with word 0. All outputs come from flip-flops; won_o is the input of
//            the word on out_data_o.
// Latency    word 0 on an input's link in a cycle is on the output's link in the next one, if the output is free and
//            has room. An input and an output each carry a packet in two cycles, all of them at once.
// Order      packets of an input, a channel and an output leave in the order in which they came.
// Full       a packet begins only where all of it has room beyond, so none stands on an output. Each input holds
//            `Packets` packets a channel; then its room is low. Room rises in the cycle after word 0 has left.
// Fairness   an output takes the least recently served input, an input the least recently served channel that could go.
//            An output waits for an older input that is about to end another packet: who is out of step is not starved.
//            After a reset lower numbers go first.
// Misuse     drained, and counted by drained_o, which saturates: a packet without an output, without room, or on or for
//            a channel that does not exist, as all but 0 of an input in Single. Word 1 that does not follow directly,
//            and several outputs: assertions only.
// busy_o     0 after an edge: nothing is inside, and further edges change nothing while no in_valid_i is set. Both ends
//            of a link are reset together: under reset room is high, and nothing is taken.
// Source     EM-4: 3x3, a word and a hop a cycle, virtual cut-through, three banks of buffers against deadlock.
//            Organisation, arbitration and the depth of buffers are our own.
module cut_through #(
    parameter int N = 3,  // inputs and outputs, 1 to 4
    parameter int Channels = 3,  // of a link, 1 to 4
    parameter int Packets = 2,  // that an input holds for each channel, 1 to 4
    parameter int W = 39,  // bits a word
    parameter bit [3:0] Single = 4'd0  // inputs that have channel 0 alone, by bit
) (
    input  logic                       clk_i,
    input  logic                       rst_i,
    input  logic [N-1:0]               in_valid_i,
    input  logic [N-1:0][         1:0] in_vc_i,
    input  logic [N-1:0][       W-1:0] in_data_i,
    input  logic [N-1:0]               in_last_i,
    input  logic [N-1:0][       N-1:0] in_out_i,
    input  logic [N-1:0][         1:0] in_to_i,
    output logic [N-1:0][Channels-1:0] in_room_o,
    output logic [N-1:0]               out_valid_o,
    output logic [N-1:0][         1:0] out_vc_o,
    output logic [N-1:0][       W-1:0] out_data_o,
    output logic [N-1:0]               out_last_o,
    input  logic [N-1:0][Channels-1:0] out_room_i,
    output logic [N-1:0][         1:0] won_o,
    output logic                       busy_o,
    output logic [ 15:0]               drained_o
);
  if (N < 1 || N > 4) begin : gen_bad_n
    cut_through_N_must_be_1_to_4 u_bad ();
  end
  if (Channels < 1 || Channels > 4) begin : gen_bad_channels
    cut_through_Channels_must_be_1_to_4 u_bad ();
  end
  if (Packets < 1 || Packets > 4) begin : gen_bad_packets
    cut_through_Packets_must_be_1_to_4 u_bad ();
  end

  logic [N-1:0][Channels-1:0] open;  // of outputs
  // Per input, over outputs.
  logic [N-1:0][N-1:0] request, next, grant;
  logic [N-1:0][  1:0] to;
  logic [N-1:0][W-1:0] word;
  logic [N-1:0] granted, drained, in_busy;

  for (genvar i = 0; i < N; i++) begin : gen_in
    localparam int Own = Single[i] ? 1 : Channels;
    logic [Own-1:0] room;
    assign granted[i]   = grant[i] != '0;
    assign in_room_o[i] = Channels'(room);
    cut_through_input #(
        .N       (N),
        .Channels(Own),
        .Beyond  (Channels),
        .Packets (Packets),
        .W       (W)
    ) u_input (
        .clk_i    (clk_i),
        .rst_i    (rst_i),
        .valid_i  (in_valid_i[i]),
        .vc_i     (in_vc_i[i]),
        .data_i   (in_data_i[i]),
        .last_i   (in_last_i[i]),
        .out_i    (in_out_i[i]),
        .to_i     (in_to_i[i]),
        .room_o   (room),
        .open_i   (open),
        .request_o(request[i]),
        .next_o   (next[i]),
        .to_o     (to[i]),
        .grant_i  (granted[i]),
        .word_o   (word[i]),
        .drained_o(drained[i]),
        .busy_o   (in_busy[i])
    );
  end

  for (genvar o = 0; o < N; o++) begin : gen_out
    // Over inputs.
    logic [N-1:0] wanted, coming, either, first, from, from_q;
    logic [1:0] beyond;
    logic [W-1:0] data;
    logic second;  // word 0 is on the link, so word 1 is due

    assign second  = out_valid_o[o] && !out_last_o[o];
    assign open[o] = second ? '0 : out_room_i[o];
    for (genvar i = 0; i < N; i++) begin : gen_from
      assign wanted[i]   = request[i][o];
      assign coming[i]   = next[i][o];
      assign grant[i][o] = first[i];
    end
    assign either = wanted | coming;
    arbiter_lru #(
        .N(N)
    ) u_arbiter (
        .clk_i    (clk_i),
        .rst_i    (rst_i),
        .request_i(wanted),
        .block_i  (either),
        .served_i (first),
        .first_o  (first)
    );

    assign from = second ? from_q : first;
    always_comb begin
      beyond   = '0;
      data     = word[0];
      won_o[o] = '0;
      for (int i = 0; i < N; i++) begin
        if (first[i]) beyond = beyond | to[i];
        if (from[i]) data = word[i];
        if (from_q[i]) won_o[o] = 2'(i);
      end
    end
    always_ff @(posedge clk_i) begin
      if (first != '0) begin
        from_q <= first;
        out_vc_o[o] <= beyond;
      end
      out_data_o[o] <= data;
      if (rst_i) begin
        out_valid_o[o] <= 1'b0;
        out_last_o[o]  <= 1'b0;
      end else begin
        out_valid_o[o] <= second || first != '0;
        out_last_o[o]  <= second;
      end
    end
  end

  logic [ 2:0] more;
  logic [16:0] count_d;
  always_comb begin
    more = '0;
    for (int i = 0; i < N; i++) more = more + {2'd0, drained[i]};
    count_d = {1'b0, drained_o} + {14'd0, more};
  end
  always_ff @(posedge clk_i) begin
    if (rst_i) drained_o <= '0;
    else drained_o <= count_d[16] ? '1 : count_d[15:0];
  end
  assign busy_o = out_valid_o != '0 || in_busy != '0;

endmodule
