// A broadcast of `hxb_crossbar` that has begun never waits for anything beyond the crossbar.
//
// - Its words go to all outputs at once, each with a credit at each output.
// - In each cycle in which its next word is there it goes, but for the acknowledge channel's cycles.
// - From its first word to its last no other data word goes; acknowledge words never go together with one.
// - It is no longer than BroadcastWords, so an output never sends more than it had room for at the beginning.
// - After it, each input whose worm to one output waited begins before the next one does.
//
// Purpose    the whole crossbar, with any words on its links. Words are only their bits that matter.
// Assumed: senders and receivers keep to the credits.
module prove_hxb_crossbar #(
    parameter int N = 2,
    parameter int Room = 5,
    parameter int BroadcastWords = 3
) (
    input logic clk_i,
    input logic rst_i,
    input logic [N-1:0] in_valid_i,
    input logic [N-1:0] in_channel_i,
    input logic [N-1:0] in_last_i,
    input logic [N-1:0] masked_i,
    input logic [N-1:0] to_i,
    input logic [N-1:0][1:0] out_credit_i
);
  logic [N-1:0][31:0] in_data, unused_data;
  logic [N-1:0][1:0] in_credit;
  logic [N-1:0] out_valid, out_channel, out_last;
  logic [N-1:0][$clog2(N)-1:0] unused_source;
  logic [15:0] unused_drained, unused_cut;
  logic busy;

  for (genvar i = 0; i < N; i++) begin : gen_word
    assign in_data[i] = {15'd0, in_channel_i[i], 2'd0, masked_i[i], 12'd0, to_i[i]};
  end
  hxb_crossbar #(
      .N             (N),
      .Axis          (0),
      .Room          (Room),
      .BroadcastWords(BroadcastWords)
  ) dut (
      .clk_i,
      .rst_i,
      .in_valid_i,
      .in_channel_i,
      .in_data_i    (in_data),
      .in_last_i,
      .in_credit_o  (in_credit),
      .out_valid_o  (out_valid),
      .out_channel_o(out_channel),
      .out_data_o   (unused_data),
      .out_last_o   (out_last),
      .out_credit_i,
      .out_source_o (unused_source),
      .drained_o    (unused_drained),
      .cut_o        (unused_cut),
      .busy_o       (busy)
  );
  power_up u_power_up (.*);

  // Credits of senders, and of the crossbar at its outputs, as the far ends count them.
  for (genvar p = 0; p < N; p++) begin : gen_credits
    logic [1:0][5:0] left_q, waits_q;
    for (genvar c = 0; c < 2; c++) begin : gen_channel
      logic sends, gets;
      assign sends = in_valid_i[p] && in_channel_i[p] == 1'(c);
      assign gets  = out_valid[p] && out_channel[p] == 1'(c);
      always_ff @(posedge clk_i) begin
        if (rst_i) {left_q[c], waits_q[c]} <= {6'd16, 6'd0};
        else begin
          left_q[c]  <= left_q[c] + 6'(in_credit[p][c]) - 6'(sends);
          waits_q[c] <= waits_q[c] + 6'(gets) - 6'(out_credit_i[p][c]);
        end
        sends_with_credit : assume (rst_i || !sends || left_q[c] != '0);
        credits_of_words : assume (rst_i || !out_credit_i[p][c] || waits_q[c] != '0);
        if (!rst_i) begin
          never_more_than_room : assert (int'(waits_q[c]) <= (c == 0 ? Room : 16));
        end
      end
    end
  end

  logic [N-1:0] all_go, held;
  logic begun, turns, room;
  assign all_go = dut.all_go;
  assign held = dut.holder_q & dut.all;
  assign begun = dut.begun_q;
  assign turns = !dut.data_first && dut.one[1] != '0;  // the cycle is the acknowledge channel's
  assign room = dut.room[0] == '1;
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      goes_with_credit : assert (all_go == '0 || room);
      goes_at_once : assert (!begun || held == '0 || turns || all_go == held);
      alone : assert (!begun || dut.go[0] == '0);
      apart : assert (all_go == '0 || dut.go == '0);
      one_holder : assert ((all_go & (all_go - N'(1))) == '0);
      acks_go_on : assert (dut.data_first || all_go == '0 || dut.one[1] == '0);
      bounded : assert (!begun || int'(dut.count_q) < BroadcastWords);
      others_first : assert (dut.first_q == '0 || (!dut.held_q && all_go == '0));
      // The claims are not vacuous.
      long : cover (begun && dut.cut != '0);
      two : cover (dut.first_q != '0 && dut.go[0] != '0);
    end
  end
endmodule
