// Which words go in a switch of the hyper-crossbar with N inputs and outputs and two channels.
//
// Handshake  of the word at the head of each channel of each input: one_i (there is one, for one output), last_i, its
//            output as way_i (one-hot) and to_i (number; both hold from a worm's first word to its last). room_i, by
//            channel: outputs that take a word. go_o says in the same cycle which words go: one of an input and one to
//            an output at most. closed_i: no data worm begins. hush_i: no word of the acknowledge channel goes in this
//            cycle, if data have it. open_o: inputs inside a data worm. data_first_o: data have this cycle.
// Worms      from first word to last an output's channel is one input's.
// Channels   cycles belong to data and to acknowledge in turn. In its own cycles a channel does not know of the other.
//            In the other's it uses inputs and outputs for which the other has no word that has room.
// Fairness   of the worms that wait for an output on a channel the one goes whose input was served longest ago, on that
//            channel and to any output. While it waits, no other input can pass it twice: N - 1 pass it at most. It
//            keeps its place where its input sends on the other channel.
// Latency    none: go_o is a function of the inputs and of flip-flops.
// Source     docs/machines/cppacs-contract.md; the matrix of ages is a textbook's.
module hxb_arbiter #(
    parameter int N = 4,
    localparam int ToW = $clog2(N)
) (
    input  logic                       clk_i,
    input  logic                       rst_i,
    input  logic [1:0][N-1:0]          one_i,
    input  logic [1:0][N-1:0]          last_i,
    input  logic [1:0][N-1:0][N-1:0]   way_i,
    input  logic [1:0][N-1:0][ToW-1:0] to_i,
    input  logic [1:0][N-1:0]          room_i,
    input  logic                       closed_i,
    input  logic                       hush_i,
    output logic [1:0][N-1:0]          go_o,
    output logic [N-1:0]               open_o,
    output logic                       data_first_o
);
  logic [1:0][N-1:0] open_q, may, reach, rival, live;
  logic [1:0][N-1:0][N-1:0] older;  // older[c][i][j]: on channel c, j was served longer ago than i
  logic turn_q;  // the channel whose cycle it is

  for (genvar c = 0; c < 2; c++) begin : gen_channel
    for (genvar i = 0; i < N; i++) begin : gen_input
      logic [N-1:0] same, meets;  // inputs whose word on this channel, on the other one, is for the same output
      for (genvar j = 0; j < N; j++) begin : gen_rival
        assign meets[j] = one_i[1-c][j] && to_i[c][i] == to_i[1-c][j];
        if (j < i) begin : gen_pair
          logic older_q;
          always_ff @(posedge clk_i) begin
            if (rst_i) older_q <= 1'b1;
            else if (go_o[c][i]) older_q <= 1'b1;
            else if (go_o[c][j]) older_q <= 1'b0;
          end
          assign older[c][i][j] = older_q;
          assign older[c][j][i] = !older_q;
        end
        if (j == i) begin : gen_self
          assign older[c][i][i] = 1'b0;
          assign same[i] = 1'b0;
        end else begin : gen_other
          assign same[j] = to_i[c][i] == to_i[c][j] && (open_q[c][j] || (one_i[c][j] && older[c][i][j]));
        end
      end
      assign reach[c][i] = (way_i[c][i] & room_i[c]) != '0;
      assign live[c][i] = one_i[c][i] && reach[c][i];
      assign may[c][i] = live[c][i] && (open_q[c][i] || (same == '0 && !(c == 0 && closed_i)));
      // The other channel has a word with room for the same output. In its cycle this one does not go.
      assign rival[c][i] = meets != '0 && (way_i[c][i] & room_i[1-c]) != '0;
      assign go_o[c][i] = may[c][i] && (turn_q == 1'(c) || !(live[1-c][i] || rival[c][i] || (c == 1 && hush_i)));
      always_ff @(posedge clk_i) begin
        if (rst_i) open_q[c][i] <= 1'b0;
        else if (go_o[c][i]) open_q[c][i] <= !last_i[c][i];
      end
    end
  end

  // At rest it stands still.
  always_ff @(posedge clk_i) begin
    if (rst_i) turn_q <= 1'b0;
    else if (one_i != '0) turn_q <= !turn_q;
  end

  assign open_o = open_q[0];
  assign data_first_o = !turn_q;
endmodule
