// CP-PACS NIA, answer queue: what the receiver of the acknowledge channel answers waits here for the sender of data.
//
// Input      words of descriptors (`cppacs_desc_pkg`), F0 last; never held up. `ask_room_o` is low when an answer of 8
//            words might find no place: the receiver looks before it acts on a request.
// Output     the words as they came. `waiting_o`: answers with a word inside.
// Latency    2 cycles. 1 word per cycle.
// Full       misuse, asserted: the word is lost.
// Reset      empties it.
// busy_o     low when nothing is inside.
// Source     ours. Freed by the sender of data alone, so by network and memory.
module cppacs_answers #(
    parameter int Answers = 128  // of 8 words, power of two, 4..512
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic ask_valid_i,
    input logic [3:0] ask_index_i,
    input logic [31:0] ask_data_i,
    output logic ask_room_o,

    output logic answer_valid_o,
    input logic answer_ready_i,
    output logic [3:0] answer_index_o,
    output logic [31:0] answer_data_o,

    output logic [15:0] waiting_o
);
  localparam int Depth = 8 * Answers;
  localparam int LevelW = $clog2(Depth + 1);

  if (Answers < 4 || Answers > 512 || (1 << $clog2(Answers)) != Answers) begin : gen_bad_answers
    cppacs_answers_Answers_must_be_a_power_of_two_from_4_to_512 u_bad ();
  end

  logic ready;
  logic [LevelW-1:0] level;
  fifo_bram #(
      .W(36),
      .Depth(Depth)
  ) u_words (
      .clk_i,
      .rst_i,
      .in_valid_i (ask_valid_i),
      .in_ready_o (ready),
      .in_data_i  ({ask_index_i, ask_data_i}),
      .out_valid_o(answer_valid_o),
      .out_ready_i(answer_ready_i),
      .out_data_o ({answer_index_o, answer_data_o}),
      .level_o    (level)
  );

  logic [$clog2(Depth)-1:0] waiting_q;
  logic comes, goes;
  assign comes = ask_valid_i && ask_index_i == cppacs_desc_pkg::F0;
  assign goes  = answer_valid_o && answer_ready_i && answer_index_o == cppacs_desc_pkg::F0;

  // Between a look at the room and its answer's words nothing else comes.
  always_ff @(posedge clk_i) begin
    ask_room_o <= level < LevelW'(Depth - 8) || rst_i;
    if (rst_i) waiting_q <= '0;
    else if (comes != goes) waiting_q <= waiting_q + (goes ? '1 : $clog2(Depth)'(1));
  end
  assign waiting_o = 16'(waiting_q);
  assign busy_o = level != '0;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (ready || !ask_valid_i);
    end
  end
`else
  logic unused_ready;
  assign unused_ready = ready;
`endif
endmodule
