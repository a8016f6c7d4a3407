// SPDX-License-Identifier: MIT OR Apache-2.0
// A proof's record of a protocol: words in order, the oldest in front. A model, not for synthesis.
//
// Handshake  `push_i` and `pop_i` act at once. A push to a full queue, or a pop from an empty one, is an error of the
//            proof, and asserted.
// Outputs    `head_o`, the oldest word, means nothing while `count_o` is 0; `second_o` while it is below 2.
module axi_queue #(
    parameter int W = 8,
    parameter int Depth = 4,  // >= 2
    localparam int CountW = $clog2(Depth + 1)
) (
    input logic clk_i,
    input logic rst_i,
    input logic push_i,
    input logic [W-1:0] data_i,
    input logic pop_i,
    output logic [CountW-1:0] count_o,
    output logic [W-1:0] head_o,
    output logic [W-1:0] second_o
);
  logic [W-1:0] word_q[Depth];
  logic [CountW-1:0] place;
  assign place = count_o - CountW'(pop_i);

  always_ff @(posedge clk_i) begin
    for (int i = 0; i < Depth; i++) begin
      if (push_i && place == CountW'(i)) word_q[i] <= data_i;
      else if (pop_i && i + 1 < Depth) word_q[i] <= word_q[(i+1)%Depth];
    end
    if (rst_i) count_o <= '0;
    else count_o <= place + CountW'(push_i);
    if (!rst_i) begin
      queue_has_room : assert (!push_i || place != CountW'(Depth));
      queue_has_words : assert (!pop_i || count_o != '0);
    end
  end
  assign head_o   = word_q[0];
  assign second_o = word_q[1];
endmodule
