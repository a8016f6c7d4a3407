// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, link: between the controllers of both classes and the cell's port of the torus router. Messages to the
// cell itself take the short way.
//
// Out        from the send controllers, [0] requests, [1] replies: words with `last`, and `local`, the same over a
//            whole message. Local messages go to the receive controller of their class, the others to the router, on
//            virtual channel {class, 0}. The classes take turns word by word. A word goes when there is a credit for
//            one of four places at the router.
// In         from the router on {class, 0}, into four places each; `rx_credit_o` returns a credit for each place that
//            becomes free. Words reach the receive controllers message by message, from the router and from the cell
//            itself in turn.
// Latency    2 cycles out, 1 in, and 1 from out to in. A word per cycle each way, of one class or both.
// Full       a class that cannot go waits; the other goes on.
// Misuse     a word without a place, or on a lane other than 0, is lost (asserted).
// Reset      drops everything.
// busy_o     low when nothing is inside and the router has returned all four credits of both classes.
// Source     a transfer to the own cell does not use the network: paper 2.2.1. Link, turns: own guess.
module ap1000p_link (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [1:0] out_valid_i,
    output logic [1:0] out_ready_o,
    input logic [1:0] out_local_i,
    input logic [1:0] out_last_i,
    input logic [1:0][31:0] out_data_i,
    output logic [1:0] in_valid_o,
    input logic [1:0] in_ready_i,
    output logic [1:0] in_last_o,
    output logic [1:0][31:0] in_data_o,

    output logic tx_valid_o,
    output logic [1:0] tx_vc_o,
    output logic [31:0] tx_data_o,
    output logic tx_last_o,
    input logic [3:0] tx_credit_i,
    input logic rx_valid_i,
    input logic [1:0] rx_vc_i,
    input logic [31:0] rx_data_i,
    input logic rx_last_i,
    output logic [3:0] rx_credit_o
);
  // Words that wait for the router, and those of the cell itself.
  logic [1:0] net_ready, net_valid, net_pop, own_ready, own_valid, own_pop, room, wants, busy;
  logic [1:0][32:0] net_word;
  logic turn_q;  // the class that goes if both can

  assign wants   = net_valid & room;
  assign net_pop = (wants == '1) ? {turn_q, !turn_q} : wants;
  always_ff @(posedge clk_i) begin
    tx_vc_o <= {net_pop[1], 1'b0};
    {tx_last_o, tx_data_o} <= net_pop[1] ? net_word[1] : net_word[0];
    if (wants == '1) turn_q <= !turn_q;
    if (rst_i) begin
      tx_valid_o <= 1'b0;
      turn_q <= 1'b0;
    end else tx_valid_o <= net_pop != '0;
  end

  for (genvar c = 0; c < 2; c++) begin : gen_class
    logic [32:0] own_word, far_word;
    logic [1:0] net_level, own_level;
    logic [2:0] credits_q, far_level;
    logic far_valid, far_pop, far_in, unused_far;

    assign out_ready_o[c] = net_ready[c] && own_ready[c];
    fifo #(
        .W(33),
        .Depth(2)
    ) u_net (
        .clk_i,
        .rst_i,
        .in_valid_i (out_valid_i[c] && own_ready[c] && !out_local_i[c]),
        .in_ready_o (net_ready[c]),
        .in_data_i  ({out_last_i[c], out_data_i[c]}),
        .out_valid_o(net_valid[c]),
        .out_ready_i(net_pop[c]),
        .out_data_o (net_word[c]),
        .level_o    (net_level)
    );
    fifo #(
        .W(33),
        .Depth(2)
    ) u_own (
        .clk_i,
        .rst_i,
        .in_valid_i (out_valid_i[c] && net_ready[c] && out_local_i[c]),
        .in_ready_o (own_ready[c]),
        .in_data_i  ({out_last_i[c], out_data_i[c]}),
        .out_valid_o(own_valid[c]),
        .out_ready_i(own_pop[c]),
        .out_data_o (own_word),
        .level_o    (own_level)
    );

    // Credits: free places at the router.
    assign room[c] = credits_q != '0 || tx_credit_i[2*c];
    always_ff @(posedge clk_i) begin
      if (rst_i) credits_q <= 3'd4;
      else credits_q <= credits_q + 3'(tx_credit_i[2*c]) - 3'(net_pop[c]);
    end

    // From the router.
    assign far_in = rx_valid_i && rx_vc_i == 2'(2 * c);
    fifo #(
        .W(33),
        .Depth(4)
    ) u_far (
        .clk_i,
        .rst_i,
        .in_valid_i (far_in),
        .in_ready_o (unused_far),
        .in_data_i  ({rx_last_i, rx_data_i}),
        .out_valid_o(far_valid),
        .out_ready_i(far_pop),
        .out_data_o (far_word),
        .level_o    (far_level)
    );
    always_ff @(posedge clk_i) rx_credit_o[2*c+:2] <= {1'b0, far_pop && !rst_i};

    // Message by message, in turn.
    logic within_q, own_q, own, pop;
    assign own = within_q ? own_q : own_valid[c] && !(far_valid && own_q);
    assign in_valid_o[c] = own ? own_valid[c] : far_valid;
    assign {in_last_o[c], in_data_o[c]} = own ? own_word : far_word;
    assign pop = in_valid_o[c] && in_ready_i[c];
    assign own_pop[c] = pop && own;
    assign far_pop = pop && !own;
    always_ff @(posedge clk_i) begin
      if (in_valid_o[c]) own_q <= own;
      if (rst_i) within_q <= 1'b0;
      else if (in_valid_o[c]) within_q <= !(pop && in_last_o[c]);
    end

    assign busy[c] = net_level != '0 || own_level != '0 || far_level != '0 || credits_q != 3'd4;
`ifdef TSUNAGI_ASSERT
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        assert (!far_in || unused_far);
        assert (!tx_credit_i[2*c] || credits_q != 3'd4);
      end
    end
`endif
  end
  assign busy_o = busy != '0;  // a word on the wire has no credit back yet

  logic unused_credit;
  assign unused_credit = tx_credit_i[1] || tx_credit_i[3];
`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) assert (!rx_valid_i || !rx_vc_i[0]);
  end
`endif
endmodule
