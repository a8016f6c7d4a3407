// Answers of one direction, reads or writes, of a slave in front of a window: one access, any access, is followed from its request
// through the window's response to its answer.
//
// Purpose    `mark_i` is left free, so the followed access stands for every one. Its answer must be that after exactly the answers
//            which were due when it was asked for, must say what the response to it said, and be there right after it. So none is
//            lost, doubled, invented, overtaken or altered. The window responds in the order it was asked in.
// Handshake  `ask_i` and `rsp_i` are transfers, `mine_i` says that a request is of this direction.
// Outputs    for a proof's invariants: accesses asked for and not answered, whether the followed one is among them, how many of
//            them, and of responses, are ahead of it, and whether and what the window has responded to it.
module answer_track #(
    parameter int W = 4,  // bits of what a response says
    parameter int Capacity = 4,  // accesses asked for and not answered, at most
    parameter int AskedW = 4,
    localparam int CountW = $clog2(Capacity + 2)
) (
    input logic clk_i,
    input logic rst_i,
    input logic mark_i,
    input logic ask_i,
    input logic mine_i,
    input logic [AskedW-1:0] asked_i,  // requests of both directions without a response
    input logic rsp_i,
    input logic [W-1:0] rsp_data_i,
    input logic valid_i,
    input logic taken_i,
    input logic [W-1:0] data_i,
    output logic [CountW-1:0] open_o,
    output logic follow_o,
    output logic [CountW-1:0] ahead_o,
    output logic [AskedW-1:0] rsp_ahead_o,
    output logic told_o,
    output logic [W-1:0] word_o
);
  logic enter, next;
  assign enter = ask_i && mine_i && mark_i && !follow_o;
  assign next  = follow_o && ahead_o == '0;  // the followed one's answer is next

  always_ff @(posedge clk_i) begin
    open_o <= open_o + CountW'(ask_i && mine_i) - CountW'(taken_i);
    if (enter) begin
      follow_o <= 1'b1;
      told_o <= 1'b0;
      ahead_o <= open_o - CountW'(taken_i);
      rsp_ahead_o <= asked_i - AskedW'(rsp_i);
    end else begin
      if (taken_i && next) follow_o <= 1'b0;
      if (taken_i) ahead_o <= ahead_o - CountW'(1);
      if (rsp_i) rsp_ahead_o <= rsp_ahead_o - AskedW'(1);
      if (rsp_i && !told_o && rsp_ahead_o == '0) {told_o, word_o} <= {1'b1, rsp_data_i};
    end
    if (rst_i) begin
      open_o   <= '0;
      follow_o <= 1'b0;
    end
    if (!rst_i) begin
      answer_was_due : assert (!valid_i || open_o != '0);
      answer_as_told : assert (!valid_i || !next || (told_o && data_i == word_o));
      answer_comes : assert (!next || !told_o || valid_i);
      no_more_open : assert (open_o <= CountW'(Capacity));
      answered : cover (taken_i && next);
      all_open : cover (taken_i && follow_o && ahead_o == CountW'(Capacity - 1));
    end
  end
endmodule
