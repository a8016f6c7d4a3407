// `hxb_output` knows its credits, and sends each word that is granted, two cycles later.
//
// - A channel has room exactly while a credit is left. A word more than there are credits never goes.
// - What is said to have whole room has it.
// - The word, its channel, its end and its input stand on the link after the next edge, and nothing else does.
//
// Assumed: a word is granted only where there is room, at most one; no more credits come back than words went.
module prove_hxb_output #(
    parameter int N = 2,
    parameter int Credits = 5,
    parameter int AckCredits = 4,
    parameter int Whole = 3
) (
    input logic clk_i,
    input logic rst_i,
    input logic [N-1:0] grant_i,
    input logic channel_i,
    input logic last_i,
    input logic [N-1:0][31:0] data_i,
    input logic [1:0] credit_i
);
  localparam int SourceW = $clog2(N);
  logic [1:0] room;
  logic whole, valid, channel, last, busy;
  logic [31:0] data;
  logic [SourceW-1:0] source;

  hxb_output #(
      .N         (N),
      .Credits   (Credits),
      .AckCredits(AckCredits),
      .Whole     (Whole)
  ) dut (
      .clk_i,
      .rst_i,
      .grant_i,
      .channel_i,
      .last_i,
      .data_i,
      .room_o   (room),
      .whole_o  (whole),
      .valid_o  (valid),
      .channel_o(channel),
      .data_o   (data),
      .last_o   (last),
      .source_o (source),
      .credit_i,
      .busy_o   (busy)
  );
  power_up u_power_up (.*);

  // Credits that are left, by channel.
  logic [1:0][3:0] left_q;
  logic go;
  assign go = grant_i != '0;
  always_ff @(posedge clk_i) begin
    one_at_most : assume ((grant_i & (grant_i - N'(1))) == '0);
    with_room : assume (rst_i || !go || room[channel_i]);
    credits_of_words : assume (rst_i || !credit_i[0] || int'(left_q[0]) < Credits);
    credits_of_acks : assume (rst_i || !credit_i[1] || int'(left_q[1]) < AckCredits);
    for (int c = 0; c < 2; c++) begin
      if (rst_i) left_q[c] <= c == 0 ? 4'(Credits) : 4'(AckCredits);
      else left_q[c] <= left_q[c] + 4'(credit_i[c]) - 4'(go && channel_i == 1'(c));
    end
  end

  // The word on its way.
  logic [N-1:0] from_q;
  logic [1:0] channel_q, last_q, went_q;
  logic [1:0][SourceW-1:0] source_q;
  logic [31:0] data_q, picked;
  logic [SourceW-1:0] number;
  always_comb begin
    picked = '0;
    number = '0;
    for (int i = 0; i < N; i++) begin
      if (from_q[i]) picked = data_i[i];
      if (grant_i[i]) number = SourceW'(i);
    end
  end
  always_ff @(posedge clk_i) begin
    from_q <= grant_i & {N{!rst_i}};
    went_q <= rst_i ? '0 : {went_q[0], go};
    channel_q <= {channel_q[0], channel_i};
    last_q <= {last_q[0], last_i};
    source_q <= {source_q[0], number};
    data_q <= picked;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      room_is_known : assert (room[0] == (left_q[0] != '0));
      room_of_acks : assert (room[1] == (left_q[1] != '0));
      whole_room : assert (!whole || int'(left_q[0]) >= Whole);
      sends : assert (valid == went_q[1]);
      sends_it : assert (!valid || {channel, last, source} == {channel_q[1], last_q[1], source_q[1]});
      sends_its_data : assert (!valid || data == data_q);
      busy_tells : assert (busy || went_q == '0);
      // Invariants for induction.
      in_range : assert (int'(left_q[0]) <= Credits && int'(left_q[1]) <= AckCredits);
      counted : assert (4'(dut.gen_channel[0].count_q) == left_q[0] + 4'(went_q[0] && !channel_q[0]));
      counted_acks : assert (4'(dut.gen_channel[1].count_q) == left_q[1] + 4'(went_q[0] && channel_q[0]));
      flags : assert (dut.gen_channel[0].many_q == (dut.gen_channel[0].count_q > 1) &&
          dut.gen_channel[0].one_q == (dut.gen_channel[0].count_q == 1));
      flags_of_acks : assert (dut.gen_channel[1].many_q == (dut.gen_channel[1].count_q > 1) &&
          dut.gen_channel[1].one_q == (dut.gen_channel[1].count_q == 1));
      whole_flag : assert (whole == (int'(dut.gen_channel[0].count_q) > Whole));
      on_its_way : assert (dut.granted_q == from_q && dut.sent_q == went_q[0]);
      one_on_its_way : assert ((from_q & (from_q - N'(1))) == '0 && went_q[0] == (from_q != '0));
      its_marks : assert (!went_q[0] ||
          {dut.sent_channel_q, dut.sent_last_q, dut.sent_source_q} == {channel_q[0], last_q[0], source_q[0]});
      // The claims are not vacuous.
      empty : cover (left_q == '0 && valid);
      again : cover (left_q[0] == 4'd1 && credit_i[0] && go && !channel_i);
    end
  end
endmodule
