// Exchanger of the hyper-crossbar: the switch of a node, between its PU and the crossbars of its three lines.
//
// Purpose    carries worms (words up to and including `last`) by their first word F0, X before Y before Z. F0: [3:0] x,
//            [8:4] y, [12:9] z of the destination; [15:13] axes along which all nodes are meant instead; [16] the
//            channel, 0 data and 1 acknowledge. What came by an axis' port has crossed that axis and those before it.
// Ports      0 PU, 1 X, 2 Y, 3 Z. From PU to all; from X to Y, Z, PU; from Y to Z, PU; from Z to PU.
// Handshake  credits. A word comes with in_valid_i and its channel; the sender needs one of that channel's credits:
//            Room of data, of the PU 16; 16 of acknowledge. in_credit_o pulses for each word that has left. Outputs
//            likewise: 16 credits of each channel, of the PU PuRoom. Worms of the two channels may share a link word by
//            word. out_source_o names the input of the word, for checks. x_i to last_z_i (the highest coordinates) are
//            static from the last cycle of reset on.
// Latency    link to link 4 cycles from PU, 5 from X, Y, Z: 1 more with Room = 496. A word a cycle and link, without a
//            bubble between worms.
// Fairness   see hxb_arbiter: a waiting worm is passed over by at most 3 others.
// Full       a word leaves only with a credit; nothing is lost.
// Misuse     drained: a worm with a coordinate of a crossed axis that is neither meant nor the own one, with another
//            channel in F0 than that of its link, or with a mask on the acknowledge channel. drained_o counts them, and
//            saturates. A word sent without a credit overwrites the words waiting in its channel.
// busy_o     0 after an edge: nothing is inside, and further edges change nothing while no in_valid_i or out_credit_i
//            is set.
// Source     docs/machines/cppacs-contract.md. Grid, fixed routing and wormholes are the paper's; the virtual channels
//            are a patent's of the machine's maker; the rest is ours.
module hxb_exchanger #(
    parameter int Room   = 496,  // credits of data at the inputs X, Y, Z: 496, or 16
    parameter int PuRoom = 32    // credits of each channel at the PU, 4 or more
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic [3:0]       x_i,
    input  logic [4:0]       y_i,
    input  logic [3:0]       z_i,
    input  logic [3:0]       last_x_i,
    input  logic [4:0]       last_y_i,
    input  logic [3:0]       last_z_i,
    input  logic [3:0]       in_valid_i,
    input  logic [3:0]       in_channel_i,
    input  logic [3:0][31:0] in_data_i,
    input  logic [3:0]       in_last_i,
    output logic [3:0][1:0]  in_credit_o,
    output logic [3:0]       out_valid_o,
    output logic [3:0]       out_channel_o,
    output logic [3:0][31:0] out_data_o,
    output logic [3:0]       out_last_o,
    input  logic [3:0][1:0]  out_credit_i,
    output logic [3:0][1:0]  out_source_o,
    output logic [15:0]      drained_o,
    output logic             busy_o
);
  logic [2:0] far_q;  // axes with more than one node
  always_ff @(posedge clk_i) far_q <= {last_z_i != '0, last_y_i != '0, last_x_i != '0};

  // By channel, over inputs: of the word at the head.
  logic [1:0][3:0] one, last, go, room;
  logic [1:0][3:0][3:0] way;
  logic [1:0][3:0][1:0] to;
  // The same by input.
  logic [3:0][1:0] ones, lasts, unused_all;
  logic [3:0][1:0][3:0] ways;
  logic [3:0][1:0][1:0] tos;
  logic [3:0][31:0] data;
  logic [3:0][1:0] drained;
  logic [3:0] in_busy, out_busy;
  logic [3:0] unused_open, unused_whole;
  logic unused_first;

  for (genvar i = 0; i < 4; i++) begin : gen_in
    logic [3:0] way_in;
    hxb_turn #(
        .Port(i)
    ) u_turn (
        .x_i      (x_i),
        .y_i      (y_i),
        .z_i      (z_i),
        .far_i    (far_q),
        .f0_i     (in_data_i[i][16:0]),
        .channel_i(in_channel_i[i]),
        .way_o    (way_in)
    );
    hxb_input #(
        .N   (4),
        .Room(i == 0 ? 16 : Room)
    ) u_input (
        .clk_i       (clk_i),
        .rst_i       (rst_i),
        .in_valid_i  (in_valid_i[i]),
        .in_channel_i(in_channel_i[i]),
        .in_data_i   (in_data_i[i]),
        .in_last_i   (in_last_i[i]),
        .in_way_i    (way_in),
        .in_credit_o (in_credit_o[i]),
        .one_o       (ones[i]),
        .all_o       (unused_all[i]),
        .last_o      (lasts[i]),
        .way_o       (ways[i]),
        .to_o        (tos[i]),
        .take_i      ({go[1][i], go[0][i]}),
        .drop_i      (1'b0),
        .data_o      (data[i]),
        .drained_o   (drained[i]),
        .busy_o      (in_busy[i])
    );
    for (genvar c = 0; c < 2; c++) begin : gen_channel
      assign one[c][i]  = ones[i][c];
      assign last[c][i] = lasts[i][c];
      assign way[c][i]  = ways[i][c];
      assign to[c][i]   = tos[i][c];
    end
  end

  hxb_arbiter #(
      .N(4)
  ) u_arbiter (
      .clk_i       (clk_i),
      .rst_i       (rst_i),
      .one_i       (one),
      .last_i      (last),
      .way_i       (way),
      .to_i        (to),
      .room_i      (room),
      .closed_i    (1'b0),
      .hush_i      (1'b0),
      .go_o        (go),
      .open_o      (unused_open),
      .data_first_o(unused_first)
  );

  for (genvar o = 0; o < 4; o++) begin : gen_out
    logic [3:0] grants, ack_grants;
    logic [1:0] rooms;
    logic is_ack, is_last;
    for (genvar i = 0; i < 4; i++) begin : gen_from
      assign grants[i] = go[0][i] && way[0][i][o];
      assign ack_grants[i] = go[1][i] && way[1][i][o];
    end
    assign room[0][o] = rooms[0];
    assign room[1][o] = rooms[1];
    assign is_ack = ack_grants != '0;
    assign is_last = ((grants & last[0]) | (ack_grants & last[1])) != '0;
    hxb_output #(
        .N         (4),
        .Credits   (o == 0 ? PuRoom : 16),
        .AckCredits(o == 0 ? PuRoom : 16),
        .Whole     (1)
    ) u_output (
        .clk_i    (clk_i),
        .rst_i    (rst_i),
        .grant_i  (grants | ack_grants),
        .channel_i(is_ack),
        .last_i   (is_last),
        .data_i   (data),
        .room_o   (rooms),
        .whole_o  (unused_whole[o]),
        .valid_o  (out_valid_o[o]),
        .channel_o(out_channel_o[o]),
        .data_o   (out_data_o[o]),
        .last_o   (out_last_o[o]),
        .source_o (out_source_o[o]),
        .credit_i (out_credit_i[o]),
        .busy_o   (out_busy[o])
    );
  end

  // Worms without a way, counted at their last word.
  logic [ 3:0] more;
  logic [16:0] count_d;
  always_comb begin
    more = '0;
    for (int i = 0; i < 4; i++) more = more + {3'd0, drained[i][0]} + {3'd0, drained[i][1]};
    count_d = {1'b0, drained_o} + {13'd0, more};
  end
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      drained_o <= '0;
      busy_o <= 1'b1;
    end else begin
      drained_o <= count_d[16] ? '1 : count_d[15:0];
      busy_o <= in_valid_i != '0 || (in_busy | out_busy) != '0;
    end
  end
endmodule
