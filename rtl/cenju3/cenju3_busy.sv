// SPDX-License-Identifier: MIT OR Apache-2.0
// Reports when a clock domain's state no longer changes by itself. Two of them, one in each domain and wired to each
// other, let a simulator skip both clocks, or a gate stop them, at any ratio and phase.
//
// Handshake  `active_i` is high while something moves or is offered here. It is also high at every clock edge that
//            changes the other domain's view of this one. `busy_o` (a flip-flop) follows it. It falls after a round:
//            `call_o` changes and comes back as the other's `echo_o`, and nothing was active here meanwhile. The echo
//            stays behind data that cross with the call. So the other side's `busy_o` rises first, if it has anything
//            to do.
// Rest       while both `busy_o` are low, no clock edge without a valid input changes anything. If either is high, both
//            clocks must run.
// Latency    `busy_o` falls Behind + 2 edges of the other clock, then Behind + 2 of its own, after the last active
//            edge; one more of each by phase or jitter.
// Reset      two rounds: crossings empty in the first and open in the second. `call_o` has no reset, as its change is a
//            round. Both sides' resets hold together for 8 edges of the slower clock: until then the way of the echo
//            may hold values from before, which look like rounds.
// Source     ours; no part of the machine.
module cenju3_busy (
    input  logic clk_i,
    input  logic rst_i,
    input  logic active_i,
    output logic busy_o,
    output logic call_o,    // to the other's call_i
    input  logic call_i,
    output logic echo_o,    // to the other's echo_i
    input  logic echo_i
);
  // Cycles from the arrival of a crossing word to busy_o: one that its synchroniser missed, one in which an
  // asynchronous FIFO claims a word or a slot, one for busy_o.
  localparam int Behind = 3;

  logic call, echo, home;
  logic [Behind-2:0] call_q;
  logic [Behind-1:0] echo_q;
  logic [1:0] due_q;  // rounds still to begin, a bit each
  cdc_sync u_call (
      .clk_i,
      .data_i(call_i),
      .data_o(call)
  );
  cdc_sync u_echo (
      .clk_i,
      .data_i(echo_i),
      .data_o(echo)
  );
  assign home = echo_q[Behind-1] == call_o;

  initial call_o = 1'b0;
  always_ff @(posedge clk_i) begin
    {echo_o, call_q} <= rst_i ? {Behind{call}} : {call_q, call};
    echo_q <= rst_i ? {Behind{echo}} : {echo_q[Behind-2:0], echo};
    if (rst_i) due_q <= '1;
    else if (active_i) due_q[0] <= 1'b1;
    else if (home && due_q[0]) begin
      call_o <= !call_o;
      due_q  <= due_q >> 1;
    end
    busy_o <= rst_i || active_i || due_q[0] || !home;
  end
endmodule
