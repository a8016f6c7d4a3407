// Crossbar of the hyper-crossbar: the switch of one line of nodes along an axis, with broadcasts that never wait.
//
// Purpose    carries worms from N links to N links by their first word: to the output of the destination's coordinate
//            on this axis; with the axis in the mask, to all outputs, the sender's own included. F0 is as in
//            hxb_exchanger.
// Handshake  as hxb_exchanger: each input has 16 credits of a channel; outputs have Room of data and 16 of acknowledge.
// Latency    4 cycles link to link, of a broadcast that finds all outputs free, too. A word a cycle and link.
// Broadcast  its head asks. Of those that ask, the least recently served becomes the holder; from then on no data worm
//            is begun at any output. It begins when no output is inside a data worm and each has BroadcastWords
//            credits, so nothing can stop it. Each of its words goes to all outputs in one cycle. Where acknowledge
//            words wait anywhere, they and it have alternate cycles, so all copies are equal. After it, each input
//            whose worm to one output waited begins that before there is a next holder.
// Deadlock   there is none: a broadcast that waits holds no output, and one that holds outputs never waits
//            (formal/net/prove_hxb_crossbar.sv, src/net/dependencies.rs).
// Fairness   see hxb_arbiter: a waiting worm is passed over by at most N - 1 others and, each time, a broadcast.
// Misuse     drained, and counted in drained_o: a worm with a coordinate that the line does not have, another channel
//            in F0 than that of its link, or a mask on the acknowledge channel. Of a longer broadcast the first
//            BroadcastWords words go, the last of them with last; cut_o counts. Both counts saturate.
// busy_o     as hxb_exchanger.
// Source     docs/machines/cppacs-contract.md. That a broadcast starts only with room at all outputs is a patent's of
//            the machine's maker; the rest is ours.
module hxb_crossbar #(
    parameter int N = 8,  // 2 to 17
    parameter int Axis = 0,  // 0 X, 1 Y, 2 Z
    parameter int Room = 496,  // credits of data at the outputs
    parameter int BroadcastWords = 256,  // of the longest one, 3 or more, below Room
    localparam int ToW = $clog2(N)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic [N-1:0]          in_valid_i,
    input  logic [N-1:0]          in_channel_i,
    input  logic [N-1:0][31:0]    in_data_i,
    input  logic [N-1:0]          in_last_i,
    output logic [N-1:0][1:0]     in_credit_o,
    output logic [N-1:0]          out_valid_o,
    output logic [N-1:0]          out_channel_o,
    output logic [N-1:0][31:0]    out_data_o,
    output logic [N-1:0]          out_last_o,
    input  logic [N-1:0][1:0]     out_credit_i,
    output logic [N-1:0][ToW-1:0] out_source_o,
    output logic [15:0]           drained_o,
    output logic [15:0]           cut_o,
    output logic                  busy_o
);
  if (N < 2 || N > 17) begin : gen_bad_n
    hxb_crossbar_N_must_be_2_to_17 u_bad ();
  end
  if (Axis < 0 || Axis > 2) begin : gen_bad_axis
    hxb_crossbar_Axis_must_be_0_to_2 u_bad ();
  end
  if (BroadcastWords < 3 || BroadcastWords >= Room) begin : gen_bad_words
    hxb_crossbar_BroadcastWords_must_be_3_to_below_Room u_bad ();
  end

  localparam int CountW = $clog2(BroadcastWords);
  localparam int MoreW = $clog2(2 * N + 1);

  // By channel, over inputs: of the word at the head.
  logic [1:0][N-1:0] one, last, go, room;
  logic [1:0][N-1:0][N-1:0] way;
  logic [1:0][N-1:0][ToW-1:0] to;
  logic [N-1:0] all, all_go, open, whole, lasts;
  logic [N-1:0] heads;  // a word of a broadcast, the rest of one that was cut included
  // The same by input.
  logic [N-1:0][1:0] ones, alls, last_words;
  logic [N-1:0][1:0][N-1:0] ways;
  logic [N-1:0][1:0][ToW-1:0] tos;
  logic [N-1:0][31:0] data;
  logic [N-1:0][1:0] drained;
  logic [N-1:0] in_busy, out_busy;
  logic closed, data_first, hush;
  logic [N-1:0] rest_q;  // inputs with the rest of a broadcast that was cut

  for (genvar i = 0; i < N; i++) begin : gen_in
    logic [4:0] coordinate;
    logic [N-1:0] way_in;
    logic masked, lost;
    logic unused;
    assign unused = alls[i][1];
    assign coordinate = Axis == 0 ? {1'b0, in_data_i[i][3:0]} :
        Axis == 1 ? in_data_i[i][8:4] : {1'b0, in_data_i[i][12:9]};
    assign masked = in_data_i[i][13+Axis];
    assign lost = in_data_i[i][16] != in_channel_i[i] || (in_channel_i[i] && in_data_i[i][15:13] != '0);
    for (genvar o = 0; o < N; o++) begin : gen_way
      assign way_in[o] = !lost && (masked || coordinate == 5'(o));
    end
    hxb_input #(
        .N(N)
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
        .all_o       (alls[i]),
        .last_o      (last_words[i]),
        .way_o       (ways[i]),
        .to_o        (tos[i]),
        .take_i      ({go[1][i], go[0][i] || all_go[i]}),
        .drop_i      (rest_q[i]),
        .data_o      (data[i]),
        .drained_o   (drained[i]),
        .busy_o      (in_busy[i])
    );
    assign heads[i] = alls[i][0];
    for (genvar c = 0; c < 2; c++) begin : gen_channel
      assign one[c][i]  = ones[i][c];
      assign last[c][i] = last_words[i][c];
      assign way[c][i]  = ways[i][c];
      assign to[c][i]   = tos[i][c];
    end
  end

  hxb_arbiter #(
      .N(N)
  ) u_arbiter (
      .clk_i       (clk_i),
      .rst_i       (rst_i),
      .one_i       (one),
      .last_i      (last),
      .way_i       (way),
      .to_i        (to),
      .room_i      (room),
      .closed_i    (closed),
      .hush_i      (hush),
      .go_o        (go),
      .open_o      (open),
      .data_first_o(data_first)
  );

  // ------------------------------------------------------------------------------------------------------- broadcasts
  logic held_q, begun_q, full_q;  // full: the word that goes is the last that may
  logic [N-1:0] holder_q, holder, pick, cut, first_q;  // first: inputs that begin before there is a next holder
  logic [CountW-1:0] count_q;
  logic choose, begins, ends;

  assign all = heads & ~rest_q;
  arbiter_lru #(
      .N(N)
  ) u_pick (
      .clk_i    (clk_i),
      .rst_i    (rst_i),
      .request_i(all),
      .block_i  (all),
      .served_i (all_go),
      .first_o  (pick)
  );
  assign choose = !held_q && first_q == '0;
  assign holder = held_q ? holder_q : choose ? pick : '0;
  assign closed = held_q || (choose && all != '0);
  assign begins = open == '0 && whole == '1;
  assign all_go = holder & all & {N{(begun_q || begins) && (data_first || one[1] == '0)}};
  assign cut    = all_go & ~last[0] & {N{full_q}};
  assign ends   = (all_go & lasts) != '0;
  assign hush   = all != '0;
  assign lasts  = last[0] | (holder_q & {N{full_q}});

  always_ff @(posedge clk_i) begin
    if (!held_q) holder_q <= pick;
    if (rst_i) begin
      held_q  <= 1'b0;
      begun_q <= 1'b0;
      full_q  <= 1'b0;
      count_q <= '0;
      first_q <= '0;
      rest_q  <= '0;
    end else begin
      held_q  <= closed && !ends;
      begun_q <= (begun_q || all_go != '0) && !ends;
      if (all_go != '0) begin
        count_q <= ends ? '0 : count_q + CountW'(1);
        full_q  <= !ends && count_q == CountW'(BroadcastWords - 2);
      end
      first_q <= ends ? one[0] : first_q & ~go[0];
      rest_q  <= (rest_q & ~(heads & last[0])) | cut;
    end
  end

  // --------------------------------------------------------------------------------------------------------- way out
  for (genvar o = 0; o < N; o++) begin : gen_out
    logic [N-1:0] grants, ack_grants;
    logic [1:0] rooms;
    logic is_ack, is_last;
    for (genvar i = 0; i < N; i++) begin : gen_from
      assign grants[i] = (go[0][i] && way[0][i][o]) || all_go[i];
      assign ack_grants[i] = go[1][i] && way[1][i][o];
    end
    assign room[0][o] = rooms[0];
    assign room[1][o] = rooms[1];
    assign is_ack = ack_grants != '0;
    assign is_last = ((grants & lasts) | (ack_grants & last[1])) != '0;
    hxb_output #(
        .N      (N),
        .Credits(Room),
        .Whole  (BroadcastWords)
    ) u_output (
        .clk_i    (clk_i),
        .rst_i    (rst_i),
        .grant_i  (grants | ack_grants),
        .channel_i(is_ack),
        .last_i   (is_last),
        .data_i   (data),
        .room_o   (rooms),
        .whole_o  (whole[o]),
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
  logic [MoreW-1:0] more;
  logic [16:0] drained_d, cut_d;
  always_comb begin
    more = '0;
    for (int i = 0; i < N; i++) more = more + MoreW'(drained[i][0]) + MoreW'(drained[i][1]);
    drained_d = {1'b0, drained_o} + 17'(more);
    cut_d = {1'b0, cut_o} + 17'(cut != '0);
  end
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      drained_o <= '0;
      cut_o <= '0;
      busy_o <= 1'b1;
    end else begin
      drained_o <= drained_d[16] ? '1 : drained_d[15:0];
      cut_o <= cut_d[16] ? '1 : cut_d[15:0];
      busy_o <= in_valid_i != '0 || (in_busy | out_busy) != '0;
    end
  end

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert ((all_go & (all_go - N'(1))) == '0);
      assert (all_go == '0 || go == '0);
      assert (!begun_q || held_q);
      assert (!begun_q || open == '0);
    end
  end
`endif
endmodule
