// SPDX-License-Identifier: MIT OR Apache-2.0
// `dimmnet1_parse` offers each packet's header once, says once whether it is whole, and passes on its data, whole and
// in order.
//
// - Header words 0 to 2 come as they are, and words 3 to 5 with their index. A packet that ends before is a runt.
// - A header is whole with or behind its offer, and before the next one. Words come between the two.
// - A short packet of OTF or PULL has no data behind its header, nor has one of three words. One with a data word
//   though LENGTH is 0, and one without though it is not, is bad.
// - The data are those of a long packet from word 6 on, and of other short ones word 3, which is the last one.
// - A packet begins only if RECEIVE was set in the cycle before.
//
// `dimmnet1_execute`'s proof assumes this. Assumed here: the link holds its offer.
module prove_dimmnet1_parse (
    input logic clk_i,
    input logic rst_i,
    input logic receive_i,
    input logic in_valid_i,
    input logic [63:0] in_data_i,
    input logic in_last_i,
    input logic load_ready_i,
    input logic body_ready_i,
    input logic mark_i
);
  localparam int Depth = 16;

  logic busy, in_ready, load_valid, load_runt, word_valid, whole, whole_bad, whole_payload, body_valid, body_last;
  logic [2:0][63:0] load_header;
  logic [2:0] word_index;
  logic [63:0] word_data, body_data;

  dimmnet1_parse dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .receive_i,
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_data_i,
      .in_last_i,
      .load_valid_o(load_valid),
      .load_ready_i,
      .load_runt_o(load_runt),
      .load_header_o(load_header),
      .word_valid_o(word_valid),
      .word_index_o(word_index),
      .word_data_o(word_data),
      .whole_o(whole),
      .whole_bad_o(whole_bad),
      .whole_payload_o(whole_payload),
      .body_valid_o(body_valid),
      .body_ready_i,
      .body_data_o(body_data),
      .body_last_o(body_last)
  );

  power_up u_power_up (.*);
  stream_rules #(
      .W(65),
      .Assume(1'b1)
  ) u_source (
      .clk_i,
      .rst_i,
      .valid_i(in_valid_i),
      .ready_i(in_ready),
      .data_i ({in_last_i, in_data_i})
  );
  stream_rules #(
      .W(65)
  ) u_body (
      .clk_i,
      .rst_i,
      .valid_i(body_valid),
      .ready_i(body_ready_i),
      .data_i ({body_last, body_data})
  );

  // ------------------------------------------------------------------------------------------------- the packet so far
  // `at`: the word that comes, at most 6. `open`: the header was offered, and is not whole. `runt`: it is to be
  // offered.
  logic take, load, short, bare, empty, is_data, runt_q, open_q, receive_q;
  logic [2:0] at_q;
  logic [1:0][63:0] head_q;
  logic [7:0] kind;
  assign take = in_valid_i && in_ready;
  assign load = load_valid && load_ready_i;
  assign short = head_q[0][dimmnet1_pkg::HdrW0OtfLsb];
  assign kind = head_q[0][7:0];
  assign bare = short && (kind == 8'(dimmnet1_pkg::TypeOtf) || kind == 8'(dimmnet1_pkg::TypePull));
  assign empty = head_q[0][dimmnet1_pkg::HdrW0LengthLsb+:16] == '0;
  assign is_data = short ? at_q == 3'd3 && !bare : at_q == 3'd6;
  always_ff @(posedge clk_i) begin
    if (take) begin
      if (at_q < 3'd2) head_q[at_q[0]] <= in_data_i;
      at_q <= in_last_i ? '0 : at_q + 3'(at_q != 3'd6);
    end
    runt_q <= (take && in_last_i && at_q < 3'd2) || (runt_q && !load);
    open_q <= (load || open_q) && !whole;
    receive_q <= receive_i;
    if (rst_i) begin
      at_q <= '0;
      runt_q <= 1'b0;
      open_q <= 1'b0;
      receive_q <= 1'b0;
    end
  end

  logic [4:0] count, ahead;
  logic [64:0] word;
  logic follow;
  stream_track #(
      .W(65),
      .Capacity(Depth)
  ) u_track (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(take && is_data),
      .in_data_i({in_last_i || short, in_data_i}),
      .pop_i(body_valid && body_ready_i),
      .out_data_i({body_last, body_data}),
      .inside_o(count),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(word)
  );

  // The states, in the order of the block's list.
  localparam int Short = 3;
  localparam int Long = 4;
  localparam int Data = 5;
  localparam int Drain = 6;
  localparam int Runt = 7;
  int state;
  assign state = int'(dut.state_q);

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      offered_once : assert (load == ((take && at_q == 3'd2) || (runt_q && load_ready_i)));
      runt_told : assert (!load || load_runt == runt_q);
      header_as_it_came : assert (!(load && !load_runt) || load_header == {in_data_i, head_q});
      words_with_index :
      assert (word_valid == (take && (short ? at_q == 3'd3 : at_q >= 3'd3 && at_q <= 3'd5)) &&
              (!word_valid || (word_index == at_q && word_data == in_data_i && open_q)));
      whole_behind_offer : assert (!whole || load || open_q);
      whole_before_next : assert (!(load && open_q));
      runt_is_bad : assert (!(load && load_runt) || (whole && whole_bad && !whole_payload));
      no_data_of_bare : assert (!(whole && whole_payload) || !bare);
      data_of_none_are_bad : assert (!(whole && whole_payload && short && empty) || whole_bad);
      no_data_else_bad : assert (!(whole && !whole_payload && !whole_bad && !runt_q) || (short && (bare || empty)));
      begins_if_it_may : assert (!(take && at_q == '0) || receive_q);
      busy_tells : assert (busy || (count == '0 && !runt_q));
      // Invariants for induction.
      position :
      assert (runt_q ? state == Runt && at_q == '0 :
              at_q < 3'd3 ? state == int'(at_q) :
              short ? state == (at_q == 3'd3 ? Short : Drain) : state == (at_q == 3'd6 ? Data : Long));
      possible : assert (at_q != 3'd7);
      index : assert (state != Long || dut.index_q == at_q[1:0]);
      first_index : assert (!(state >= 1 && state <= Short) || dut.index_q == 2'd3);
      first_word : assert (at_q == '0 || dut.word0_q == head_q[0]);
      second_word : assert (at_q < 3'd2 || (dut.short_q == short && dut.empty_q == empty));
      second_as_it_came : assert (at_q != 3'd2 || dut.word1_q == head_q[1]);
      keeps : assert (!(at_q == 3'd3 && short) || dut.keeps_q == !bare);
      keeps_before :
      assert (at_q != 3'd2 || dut.keeps_q == !(kind == 8'(dimmnet1_pkg::TypeOtf) ||
                                                              kind == 8'(dimmnet1_pkg::TypePull)));
      open : assert (open_q == (at_q >= 3'd3 && (short ? at_q == 3'd3 : at_q <= 3'd5)));
      receives : assert (dut.receive_q == receive_q);
      counted : assert (int'(dut.u_body.level_q) == int'(count));
      stored : assert (!follow || dut.u_body.mem_q[ahead[3:0]] == word);
      // The claims are not vacuous.
      behind_a_runt : cover (load && load_runt && count != '0);
    end
  end
endmodule
