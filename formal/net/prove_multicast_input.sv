// SPDX-License-Identifier: MIT OR Apache-2.0
// Each packet that `multicast_input` takes goes to each of its outputs once, and whole, if its turns are granted.
//
// - The words of a turn of several outputs follow each other, and go to the outputs that granted the first one. There
//   are at most ShortWords.
// - A request stands until it is granted. A turn of one output asks for that one only.
// - No output gets a packet that is not for it, or one twice; at rest no output lacks one.
// - While a whole packet is inside, a word asks within 5 + Delay cycles.
//
// Purpose    prove_multicast_turns shows what is assumed of grants: a turn of several outputs goes on in every cycle.
//            The tables are any, and do not change. So that the steps suffice for all turns, only Packets packets come,
//            and no reset after the first.
module prove_multicast_input #(
    parameter int N = 2,
    parameter int MulticastWords = 3,
    parameter int ShortWords = 2,
    parameter int Own = 0,
    parameter int Packets = 1,
    parameter int Delay = 0  // at most 8
) (
    input logic clk_i,
    input logic rst_i,
    input logic in_valid_i,
    input logic [3:0] in_data_i,  // short, multicast, the lowest bits of the destination
    input logic in_last_i,
    input logic [N-1:0] grant_i
);
  localparam logic [3:0] Most = 4'd15;

  logic in_valid, in_ready, last, busy, unroutable, refused, take, pop;
  logic [N-1:0] request, granted_q;
  logic [18:0] unused_word;
  logic [ 1:0] packets_q;

  multicast_input #(
      .N(N),
      .W(18),
      .MulticastWords(MulticastWords),
      .DstAt(0),
      .MulticastAt(16),
      .ShortAt(17),
      .ShortWords(ShortWords),
      .Own(Own),
      .Delay(Delay)
  ) dut (
      .clk_i,
      .rst_i,
      .open_i       (1'b1),
      .route_write_i(1'b0),
      .group_write_i(1'b0),
      .index_i      ('0),
      .route_i      ('0),
      .group_i      ('0),
      .in_valid_i   (in_valid),
      .in_ready_o   (in_ready),
      .in_data_i    ({in_data_i[3:2], 14'd0, in_data_i[1:0]}),
      .in_last_i,
      .request_o    (request),
      .last_o       (last),
      .grant_i,
      .granted_i    (granted_q),
      .word_o       (unused_word),
      .busy_o       (busy),
      .unroutable_o (unroutable),
      .refused_o    (refused)
  );
  power_up u_power_up (.*);
  assign in_valid = in_valid_i && int'(packets_q) < Packets;
  assign take = in_valid && in_ready;
  logic ran_q;
  always_ff @(posedge clk_i) begin
    ran_q <= !rst_i;
    reset_first_only : assume (!ran_q || !rst_i);
  end
  always_ff @(posedge clk_i) begin
    if (rst_i) packets_q <= '0;
    else if (take && in_last_i) packets_q <= packets_q + 2'd1;
  end
  assign pop = grant_i != '0;

  // ------------------------------------------------------------------------------------------------------------- turns
  // Inside a turn: its outputs, its words so far.
  logic [N-1:0] turn_q, asked_q;
  logic several_q;
  logic [3:0] count_q;
  always_ff @(posedge clk_i) begin
    granted_q <= rst_i ? '0 : grant_i;
    asked_q   <= rst_i || pop ? '0 : request;
    if (rst_i || (pop && last)) begin
      turn_q  <= '0;
      count_q <= '0;
    end else if (pop) begin
      turn_q <= grant_i;
      if (count_q != Most) count_q <= count_q + 4'd1;
      if (turn_q == '0) several_q <= (request & (request - N'(1))) != '0;
    end
  end
  always_ff @(posedge clk_i) begin
    grants_what_is_asked : assume ((grant_i & ~request) == '0);
    goes_on : assume (turn_q == '0 || grant_i == request || (!several_q && !pop));
    if (!rst_i) begin
      stands : assert (asked_q == '0 || request == asked_q);
      follows : assert (turn_q == '0 || request == turn_q || (!several_q && request == '0));
      few : assert (turn_q == '0 || !several_q || int'(count_q) < ShortWords);
      two_words_to_one_of_two : cover (turn_q != '0 && several_q && turn_q != '1);
    end
  end

  // ----------------------------------------------------------------------------------------------------------- packets
  // Of the packet that is being taken: words so far, its limit, its outputs. Of each output: packets to come.
  logic [3:0] words_q, words, limit_q, limit, idle_q;
  logic [N-1:0] outputs_q, outputs, any;
  logic kept;
  assign words = words_q == Most ? Most : words_q + 4'd1;
  assign outputs = words_q == '0 ? dut.outputs : outputs_q;
  assign limit = words_q != '0 ? limit_q : !in_data_i[2] ? Most : in_data_i[3] ? 4'(ShortWords) : 4'(MulticastWords);
  assign kept = take && in_last_i && words <= limit;
  always_ff @(posedge clk_i) begin
    if (rst_i || (take && in_last_i)) words_q <= '0;
    else if (take) words_q <= words;
    outputs_q <= outputs;
    limit_q   <= limit;
  end
  for (genvar o = 0; o < N; o++) begin : gen_due
    logic [3:0] due_q;
    logic done;
    assign done   = grant_i[o] && last;
    assign any[o] = due_q != '0;
    always_ff @(posedge clk_i) begin
      if (rst_i) due_q <= '0;
      else due_q <= due_q + 4'(kept && outputs[o]) - 4'(done);
      if (!rst_i) begin
        invents_none : assert (!done || due_q != '0);
        loses_none : assert (busy || in_valid || words_q != '0 || due_q == '0);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (rst_i || any == '0 || request != '0) idle_q <= '0;
    else if (idle_q != Most) idle_q <= idle_q + 4'd1;
    if (!rst_i) begin
      asks_in_time : assert (int'(idle_q) <= 5 + Delay);
      longest_pause : cover (int'(idle_q) == 5 + Delay);
    end
  end
endmodule
