// SPDX-License-Identifier: MIT OR Apache-2.0
// Order and content of a block's words: one word, any word, is followed from its entry to its exit.
//
// Purpose    `mark_i` is free, so the followed word stands for every word. It must leave unchanged, after exactly the
//            words that were inside at its entry. So none is lost, doubled, invented, overtaken or altered: a word lost
//            or doubled before it would bring it out too early or too late.
// Handshake  `push_i` and `pop_i` are transfers at the block's input and output, at least a cycle apart.
// Outputs    for a proof's invariants: the number of words inside, whether the followed one is, and the number of words
//            ahead of it.
module stream_track #(
    parameter int W = 4,  // bits of a word
    parameter int Capacity = 4,  // words that the block holds at most
    parameter bit Fills = 1'b1,  // a cover goal: the block reaches its capacity
    localparam int CountW = $clog2(Capacity + 2)
) (
    input logic clk_i,
    input logic rst_i,
    input logic mark_i,
    input logic push_i,
    input logic [W-1:0] in_data_i,
    input logic pop_i,
    input logic [W-1:0] out_data_i,
    output logic [CountW-1:0] inside_o,
    output logic follow_o,
    output logic [CountW-1:0] ahead_o,
    output logic [W-1:0] word_o
);
  logic follow_q;
  logic [CountW-1:0] inside_q, ahead_q;
  logic [W-1:0] word_q;
  logic enter, leave;

  assign enter = push_i && mark_i && !follow_q;
  assign leave = pop_i && follow_q && ahead_q == '0;

  always_ff @(posedge clk_i) begin
    if (enter) word_q <= in_data_i;
    if (rst_i) begin
      follow_q <= 1'b0;
      inside_q <= '0;
      ahead_q  <= '0;
    end else begin
      follow_q <= enter || (follow_q && !leave);
      inside_q <= inside_q + CountW'(push_i) - CountW'(pop_i);
      if (enter) ahead_q <= inside_q - CountW'(pop_i);
      else if (pop_i && !leave) ahead_q <= ahead_q - CountW'(follow_q);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      nothing_invented : assert (!pop_i || inside_q != '0);
      order_and_content : assert (!leave || out_data_i == word_q);
      capacity : assert (inside_q <= CountW'(Capacity));
      inside_is_counted : assert (!follow_q || ahead_q < inside_q);
      // The claims are not vacuous: a followed word leaves, and (below) the block fills up.
      left : cover (leave);
    end
  end
  if (Fills) begin : gen_full
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        full : cover (inside_q == CountW'(Capacity));
      end
    end
  end
  if (Fills && Capacity > 1) begin : gen_waited
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        // As the last of a full block, so that it passed every slot.
        waited : cover (pop_i && follow_q && ahead_q == CountW'(Capacity - 1));
      end
    end
  end

  assign inside_o = inside_q;
  assign follow_o = follow_q;
  assign ahead_o  = ahead_q;
  assign word_o   = word_q;
endmodule
