// SPDX-License-Identifier: MIT OR Apache-2.0
// An invariant of a block that `stream_track` or `answer_track` watches: these slots, the oldest first, hold as many
// words as it counts, and the followed one is in its place.
//
// Purpose    makes their claims inductive: the slots are registers of the block.
module in_line #(
    parameter int W = 4,  // bits of a word
    parameter int Places = 4,
    parameter int CountW = 3
) (
    input logic clk_i,
    input logic rst_i,
    input logic [Places-1:0] taken_i,  // this slot holds a word that counts
    input logic [Places-1:0][W-1:0] place_i,
    input logic [CountW-1:0] inside_i,  // the other four: of the tracker
    input logic follow_i,
    input logic [CountW-1:0] ahead_i,
    input logic [W-1:0] word_i
);
  int   seen;
  logic found;
  always_comb begin
    seen  = 0;
    found = !follow_i;
    for (int i = 0; i < Places; i++) begin
      if (taken_i[i]) begin
        if (seen == int'(ahead_i) && place_i[i] == word_i) found = 1'b1;
        seen = seen + 1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      places_counted : assert (seen == int'(inside_i));
      in_its_place : assert (found);
    end
  end
endmodule
