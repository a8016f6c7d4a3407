// SPDX-License-Identifier: MIT OR Apache-2.0
// `ap1000p_ring` gives a message a place in the first ring of its context that is on, at the slot of that ring's next
// message.
//
// - No slot of the place has an unread message. One slot stays free behind it, so that the pointers do not meet.
// - Without a ring or without room there is a fault, with the ring and the number of slots. It holds until a retry or
//   until it is given up. A message that is longer than its ring is reported at once.
// - A pointer moves by software, or by the slots of a message when all of that is in memory. It stays in its ring.
// - A ring that is off and not busy does not change. `busy_o` is high from the read of the registers until over, or
//   until there is no place.
// - An answer comes 4 cycles after a request.
//
// Any slot is followed. Registers change at any time. The request is compared a cycle after it comes, or after the
// retry.
//
// Assumed: a request holds until done; over comes once after a place; there is no request in between.
module prove_ap1000p_ring (
    input logic clk_i,
    input logic rst_i,
    input logic [2:0] on_i,
    input logic [2:0][1:0] size_i,
    input logic [2:0][11:0] context_i,
    input logic [2:0][17:0] read_i,
    input logic [2:0] set_i,
    input logic [26:0] set_at_i,
    input logic req_valid_i,
    input logic [11:0] req_context_i,
    input logic [19:0] req_words_i,
    input logic retry_i,
    input logic abort_i,
    input logic over_i,
    input logic whole_i
);
  logic [2:0][26:0] write;
  logic [2:0] busy;
  logic done, fault;
  logic [ 3:0] reason;
  logic [26:0] at;
  logic [ 1:0] size;
  logic [31:0] what;
  ap1000p_ring dut (
      .clk_i,
      .rst_i,
      .on_i,
      .size_i,
      .context_i,
      .read_i,
      .set_i,
      .set_at_i,
      .write_o      (write),
      .busy_o       (busy),
      .req_valid_i,
      .req_context_i,
      .req_words_i,
      .rsp_valid_o  (done),
      .rsp_reason_o (reason),
      .at_o         (at),
      .size_o       (size),
      .fault_valid_o(fault),
      .fault_what_o (what),
      .retry_i,
      .abort_i,
      .over_i,
      .whole_i
  );
  power_up u_power_up (.*);
  stream_rules #(
      .W(32),
      .Assume(1'b1)
  ) u_ask (
      .clk_i,
      .rst_i,
      .valid_i(req_valid_i),
      .ready_i(done),
      .data_i ({req_context_i, req_words_i})
  );

  // Cycles since the look began: 1 the registers are looked at, 4 there is an answer.
  logic [2:0] phase_q;
  logic asks, again, placed_q, answered;
  assign asks = req_valid_i && phase_q == '0;
  assign again = fault && retry_i && !abort_i;
  assign answered = phase_q == 3'd4;

  // The values that the registers had.
  logic found_q;
  logic [1:0] set_q, size_q;
  logic [26:0] at_q;
  logic [17:0] read_q;
  always_ff @(posedge clk_i) begin
    if (phase_q == 3'd1) begin
      found_q <= 1'b0;
      for (int i = 2; i >= 0; i--) begin
        if (on_i[i] && context_i[i] == req_context_i) begin
          found_q <= 1'b1;
          set_q <= 2'(i);
          at_q <= write[i];
          size_q <= size_i[i];
          read_q <= read_i[i];
        end
      end
    end
    if (rst_i) phase_q <= '0;
    else if (asks || again) phase_q <= 3'd1;
    else if (phase_q != '0 && phase_q < 3'd4) phase_q <= phase_q + 3'd1;
    else if (done) phase_q <= '0;
    placed_q <= ((done && reason == '0) || (placed_q && !over_i)) && !rst_i;
  end

  // Needed and present slots of 8 words, the header among them, in a ring of 128 KB, 512 KB, 2 MB or 8 MB.
  logic [21:0] bytes_of_words;
  logic [18:0] all;  // slots of the ring
  logic [17:0] needs, inner, unread;
  logic too_long, has_room;
  assign bytes_of_words = {2'b00, req_words_i} + 22'd2 + 22'd7;
  assign needs = bytes_of_words[20:3];
  assign all = 19'd4096 << {size_q, 1'b0};
  assign inner = 18'(all - 19'd1);
  assign unread = (at_q[17:0] - read_q) & inner;
  assign too_long = req_words_i > 20'hffffd || {1'b0, needs} >= all;  // 2^20 - 3; one slot stays free
  assign has_room = {1'b0, needs} + {1'b0, unread} < all;

  // A slot, any: it holds an unread message; it is one of the place.
  logic [17:0] slot_q;
  logic is_unread, is_given;
  assign is_unread = ((slot_q - read_q) & inner) < unread;
  assign is_given  = ((slot_q - at_q[17:0]) & inner) < needs;

  // The slot of each ring's next message, and of the one after which it comes.
  logic [2:0][26:0] write_q;
  logic [2:0] held, busy_q, on_q;
  logic [17:0] next_q, inner_q;
  logic aborted_q;
  logic may_move;
  assign may_move = placed_q || (done && reason == '0) || (found_q && (phase_q == 3'd2 || phase_q == 3'd3));
  assign held = may_move ? 3'd1 << set_q : '0;
  always_ff @(posedge clk_i) begin
    slot_q <= slot_q;
    if (done) {next_q, inner_q} <= {at_q[17:0] + needs, inner};
    aborted_q <= fault && abort_i && !rst_i;
    for (int i = 0; i < 3; i++) begin
      if (over_i && whole_i && set_q == 2'(i))
        write_q[i] <= {at_q[26:18], (next_q & inner_q) | (at_q[17:0] & ~inner_q)};
      else if (set_i[i]) write_q[i] <= set_at_i;
    end
    {on_q, busy_q} <= {on_i, busy};
    if (rst_i) write_q <= '0;
    if (!rst_i) begin
      requested_before_over : assume (!over_i || placed_q);
      over_before_ask : assume (!(req_valid_i && placed_q) || over_i);
      // A place.
      in_its_own_ring : assert (!(done && reason == '0) || (found_q && at == at_q && size == size_q));
      nothing_unread : assert (!(done && reason == '0) || !(is_unread && is_given));
      a_slot_stays_free : assert (!(done && reason == '0) || has_room);
      // Or why there is none.
      too_long_reported :
      assert (!(answered && done) || aborted_q || (reason == '0 ? !too_long : too_long && found_q &&
              reason == 4'(ap1000p_pkg::BrokenRingSize)));
      given_up_when_reported : assert (!(done && reason == 4'(ap1000p_pkg::BrokenRing)) || aborted_q);
      gives_up_when_reported : assert (!aborted_q || (done && reason == 4'(ap1000p_pkg::BrokenRing)));
      fault_if_no_room : assert (!answered || done || (fault && (!found_q || (!too_long && !has_room))));
      fault_tells_which : assert (!fault || (what[22:5] == needs && what[1:0] == (found_q ? set_q : 2'd3)));
      answered_in_time : assert ((done || fault) == answered);
      // The pointers.
      moves_when_whole : assert (write == write_q);
      busy_until_over : assert (busy == held);
      off_is_final : assert ((busy & ~busy_q & ~on_q) == '0);
      // Invariants for induction.
      looks : assert (int'(dut.state_q) == (phase_q < 3'd4 ? int'(phase_q) : done ? 5 : 4));
      seen : assert (phase_q < 3'd2 || (dut.set_q == (found_q ? set_q : 2'd3) && (!found_q || set_q != 2'd3)));
      registers_seen :
      assert (phase_q < 3'd2 || !found_q || {dut.at_o, dut.size_o, dut.read_q} == {at_q, size_q, read_q});
      requested : assert (phase_q == '0 || req_valid_i);
      slots_known : assert (phase_q == '0 || dut.slots_q == needs);
      room_known :
      assert (phase_q < 3'd3 || !found_q || ({1'b0, dut.room_q} == all - 19'd1 - {1'b0, unread} &&
              dut.next_q == at_q[17:0] + needs && dut.too_long_q == too_long));
      placed_known :
      assert (!placed_q || (dut.set_q == set_q && dut.at_o == at_q && dut.next_q == next_q && dut.inner == inner_q &&
                            phase_q == '0));
      not_both : assert (!aborted_q || answered);
      wraps : cover (placed_q && over_i && whole_i && (next_q & inner_q) < (at_q[17:0] & inner_q) && size_q == 2'd0);
      served : cover (done && reason == '0 && slot_q == 18'd1 && is_unread);
      refused : cover (done && reason == 4'(ap1000p_pkg::BrokenRingSize));
    end
  end
endmodule
