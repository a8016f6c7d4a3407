// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, before the send controller of requests: a PUT or SEND to all cells becomes one for each column of the
// torus.
//
// In, out    whole messages {queue one-hot, end, word} of queues 0 to 2, valid/ready. All but those to all cells pass
//            unchanged.
// To all     messages with ROW and COLUMN, which only a PUT or SEND can have (ap1000p_command). Such a message is sent
//            last_x_i + 1 times, for the columns 0, 1, ... further along X than its own. Word 0 says which, without
//            ROW. `out_more_o`, with each of its words: the same message is sent once more.
// Latency    1 cycle. A word per cycle; no word enters while a message is repeated.
// Full       `in_ready_o` is low; it is a function of flip-flops, as all outputs are.
// Misuse     a message of more than 16 words to all cells is repeated wrongly (asserted); the queues have none.
// Reset      drops everything.
// busy_o     low when nothing is inside.
// Source     that there is a broadcast to all: page codes of the machine's Linux port. How it goes: own guess;
//            docs/machines/torus.md.
module ap1000p_broadcast #(
    parameter int CoordW = 5  // bits of a coordinate, 1 to 7
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [CoordW-1:0] last_x_i,

    input logic in_valid_i,
    output logic in_ready_o,
    input logic [2:0] in_queue_i,
    input logic in_end_i,
    input logic [31:0] in_data_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [2:0] out_queue_o,
    output logic out_end_o,
    output logic out_more_o,
    output logic [31:0] out_data_o
);
  if (CoordW < 1 || CoordW > 7) begin : gen_bad_coord
    ap1000p_broadcast_CoordW_must_be_1_to_7 u_bad ();
  end

  localparam int Head = ap1000p_pkg::CommandHeadKindLsb;

  logic [32:0] kept_q[16];  // the message
  logic [3:0] index_q;  // of the word under way
  logic [7:0] column_q;  // of its message
  logic again_q;  // the message comes from `kept_q`
  logic all_q, all, first, more, valid, move, ready, ends;
  logic [2:0] queue_q, queue;
  logic [31:0] word, data;

  assign first = index_q == '0;
  assign valid = again_q || in_valid_i;
  assign move = valid && ready;
  assign {ends, word} = again_q ? kept_q[index_q] : {in_end_i, in_data_i};
  assign queue = again_q ? queue_q : in_queue_i;
  assign in_ready_o = ready && !again_q;

  always_comb begin
    all = all_q;
    // Only messages to all cells are repeated. The words come late in the cycle.
    if (first && !again_q) all = in_data_i[Head+ap1000p_pkg::PageRowLsb] && in_data_i[Head+ap1000p_pkg::PageColumnLsb];
    data = word;
    if (all && first) begin
      data[ap1000p_pkg::CommandHeadDxLsb+:8] = column_q;
      data[Head+ap1000p_pkg::PageRowLsb] = 1'b0;
    end
  end
  assign more = all && column_q != 8'(last_x_i);

  always_ff @(posedge clk_i) begin
    if (move) kept_q[index_q] <= {ends, word};  // of a repeated one the same again
    if (move) queue_q <= queue;
    if (rst_i) begin
      index_q  <= '0;
      column_q <= '0;
      again_q  <= 1'b0;
    end else if (move) begin
      index_q <= ends ? '0 : index_q + 4'd1;
      all_q   <= all;
      if (ends) begin
        again_q  <= more;
        column_q <= more ? column_q + 8'd1 : '0;
      end
    end
`ifdef TSUNAGI_ASSERT
    if (!rst_i && move) assert (!all || ends || index_q != '1);
`endif
  end

  skid #(
      .W(37)
  ) u_out (
      .clk_i,
      .rst_i,
      .in_valid_i(valid),
      .in_ready_o(ready),
      .in_data_i ({more, queue, ends, data}),
      .out_valid_o,
      .out_ready_i,
      .out_data_o({out_more_o, out_queue_o, out_end_o, out_data_o})
  );

  assign busy_o = index_q != '0 || again_q || out_valid_o;
endmodule
