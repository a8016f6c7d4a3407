// AP1000+ MSC+, messages of one class that wait for software to serve a missing translation: holds their queues, and
// shows one fault at a time to the registers.
//
// Back       `back_i` of a queue, a pulse: ap1000p_send put its message back; `why_*_i` has the fault. `hold_o` keeps
//            the queue from giving it again until software has served a fault.
// Own        `own_i`: the message that is going out waits at a fault, `why_*_i`; served by `own_retry_o` or
//            `own_abort_o`, pulses.
// Fault      `fault_valid_o` with `fault_*_o`: the first one that came. It stays until `retry_i` or `abort_i`, so these
//            serve the fault that software has read. All held queues are free then: a message whose fault was not shown
//            is read again, meets its fault again and is shown.
// Lost       `lost_o` of a queue, after `abort_i`: its next message is to end at the missing translation. `settle_i`, a
//            pulse: that message goes out.
// Latency    1 cycle.
// Misuse     without a fault shown, `retry_i` and `abort_i` are ignored. With both, it is `abort_i`.
// Reset      frees all.
// Source     software serves a fault by retry or abort: the machine's Linux port. The rest: own guess,
//            docs/decisions/2026-11-29-ap1000p-send.md.
module ap1000p_aside #(
    parameter int Queues = 3  // at least 1
) (
    input logic clk_i,
    input logic rst_i,

    input logic [Queues-1:0] back_i,
    input logic [Queues-1:0] settle_i,
    output logic [Queues-1:0] hold_o,
    output logic [Queues-1:0] lost_o,
    input logic own_i,
    output logic own_retry_o,
    output logic own_abort_o,
    input logic [2:0] why_reason_i,
    input logic [11:0] why_context_i,
    input logic why_system_i,
    input logic [31:0] why_addr_i,

    output logic fault_valid_o,
    output logic [2:0] fault_reason_o,
    output logic [11:0] fault_context_o,
    output logic fault_system_o,
    output logic [31:0] fault_addr_o,
    input logic retry_i,
    input logic abort_i
);
  if (Queues < 1) begin : gen_bad_queues
    ap1000p_aside_Queues_must_be_at_least_1 u_bad ();
  end

  logic [Queues-1:0] hold_q;
  logic [Queues-1:0] whose_q;  // the queue of the fault that is shown; none: it is the sender's own
  logic served, own, comes;
  assign hold_o = hold_q;
  assign served = fault_valid_o && (retry_i || abort_i);
  // In the cycle after the service the sender still waits.
  assign own = own_i && !own_retry_o && !own_abort_o;
  assign comes = (!fault_valid_o && own) || ((!fault_valid_o || served) && back_i != '0);

  always_ff @(posedge clk_i) begin
    if (comes) begin
      whose_q <= back_i;
      {fault_reason_o, fault_context_o, fault_system_o, fault_addr_o} <= {
        why_reason_i, why_context_i, why_system_i, why_addr_i
      };
    end
    if (rst_i) begin
      fault_valid_o <= 1'b0;
      hold_q <= '0;
      lost_o <= '0;
      own_retry_o <= 1'b0;
      own_abort_o <= 1'b0;
    end else begin
      fault_valid_o <= comes || (fault_valid_o && !served);
      hold_q <= back_i | (served ? '0 : hold_q);
      lost_o <= (lost_o & ~settle_i) | (served && abort_i ? whose_q : '0);
      own_retry_o <= served && whose_q == '0 && !abort_i;
      own_abort_o <= served && whose_q == '0 && abort_i;
    end
  end

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    // Somebody frees each queue that is held.
    if (!rst_i) assert (hold_q == '0 || fault_valid_o);
  end
`endif
endmodule
