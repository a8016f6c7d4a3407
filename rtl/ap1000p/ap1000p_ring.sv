// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, inside ap1000p_receive: the ring buffers for SEND. Which one takes a message, and where does the next
// one go?
//
// Sets       three, each with its context (`on_i`, `context_i`), size, and the slot to be read next. `write_o`, the
//            slot of the next message, is `set_at_i` after a pulse `set_i`, and moves on with each message. Slots are
//            32 bytes of cell memory.
// Request    `req_valid_i` with context and words of data, held until `rsp_valid_o`, a pulse: BROKEN_NONE and a slot,
//            `at_o` (it holds until the next request), in a ring of `size_o`; or a reason: BROKEN_RING, given up;
//            BROKEN_RING_SIZE, longer than the ring or 2^20 - 3 words.
// Over       of the message of the last request, if it has a slot: `over_i`, a pulse; with `whole_i` the next one goes
//            behind it. Make no request before.
// Fault      `fault_valid_o` holds with `fault_what_o` (regs.toml, "Message that no ring buffer takes"): no ring has
//            the context, or the one that has it has no room. `retry_i` looks again, `abort_i` gives up; both are
//            ignored at other times.
// Misuse     two rings of a context: the first one counts. An invalid read pointer makes more or less room, inside the
//            ring. `set_i` of a ring between request and over is undone by over. A base outside the memory is the
//            memory's to refuse.
// busy_o     this ring may be the one of a message: from the cycle after it was found `on_i` until over, or until it
//            has no room. So a ring that is off, and not busy in the cycle after that, is left alone.
// Latency    4 cycles from request to response.
// Reset      all at slot 0, no request.
// Source     three sets, their registers, sizes, slots of 32 bytes, interrupts for miss and full: the machine's Linux
//            port. Layout, one slot that stays free, retry and abort: own guess.
module ap1000p_ring (
    input logic clk_i,
    input logic rst_i,

    input logic [2:0] on_i,
    input logic [2:0][1:0] size_i,  // 128 KB, 512 KB, 2 MB, 8 MB
    input logic [2:0][11:0] context_i,
    input logic [2:0][17:0] read_i,
    input logic [2:0] set_i,
    input logic [26:0] set_at_i,
    output logic [2:0][26:0] write_o,
    output logic [2:0] busy_o,

    input logic req_valid_i,
    input logic [11:0] req_context_i,
    input logic [19:0] req_words_i,
    output logic rsp_valid_o,
    output logic [3:0] rsp_reason_o,
    output logic [26:0] at_o,
    output logic [1:0] size_o,

    output logic fault_valid_o,
    output logic [31:0] fault_what_o,
    input logic retry_i,
    input logic abort_i,

    input logic over_i,
    input logic whole_i
);
  typedef enum logic [2:0] {
    Rest,
    Find,
    Room,
    Judge,
    Fault,
    Done
  } state_e;
  state_e state_q;

  logic [1:0] set_q, set;  // 3: none
  logic [17:0] slots_q, read_q, room_q, next_q, inner;
  logic [20:0] padded;  // words, with header and the most padding that a slot can need
  logic too_long_q, fits;

  always_comb begin
    set = 2'd3;
    for (int i = 2; i >= 0; i--) if (on_i[i] && context_i[i] == req_context_i) set = 2'(i);
  end
  // Bits of a slot's number within the ring.
  assign inner  = {{2{size_o == 2'd3}}, {2{size_o[1]}}, {2{size_o != 2'd0}}, 12'hfff};
  assign padded = {1'b0, req_words_i} + 21'd9;
  assign fits   = !too_long_q && slots_q <= room_q;

  always_ff @(posedge clk_i) begin
    case (state_q)
      Rest: slots_q <= padded[20:3];
      Find: begin
        set_q <= set;
        for (int i = 0; i < 3; i++) begin
          if (set == 2'(i)) {at_o, size_o, read_q} <= {write_o[i], size_i[i], read_i[i]};
        end
      end
      Room: begin
        room_q <= (read_q + ~at_o[17:0]) & inner;  // free slots, minus 1
        next_q <= at_o[17:0] + slots_q;
        too_long_q <= req_words_i[19:1] == '1 || (slots_q & ~inner) != '0;
      end
      Judge: rsp_reason_o <= too_long_q ? 4'(ap1000p_pkg::BrokenRingSize) : 4'(ap1000p_pkg::BrokenNone);
      Fault: rsp_reason_o <= 4'(ap1000p_pkg::BrokenRing);
      default: ;
    endcase

    for (int i = 0; i < 3; i++) begin
      if (over_i && whole_i && set_q == 2'(i)) write_o[i] <= {at_o[26:18], (next_q & inner) | (at_o[17:0] & ~inner)};
      else if (set_i[i]) write_o[i] <= set_at_i;
      busy_o[i] <= !over_i && !(state_q == Judge && !fits) && (busy_o[i] || (state_q == Find && set == 2'(i)));
    end
    if (rst_i) begin
      state_q <= Rest;
      write_o <= '0;
      busy_o  <= '0;
    end else begin
      case (state_q)
        Rest: if (req_valid_i) state_q <= Find;
        Find: state_q <= Room;
        Room: state_q <= Judge;
        Judge: state_q <= (set_q != 2'd3 && (too_long_q || slots_q <= room_q)) ? Done : Fault;
        Fault:
        if (abort_i) state_q <= Done;
        else if (retry_i) state_q <= Find;
        default: state_q <= Rest;
      endcase
    end
  end
  assign rsp_valid_o   = state_q == Done;
  assign fault_valid_o = state_q == Fault;
  assign fault_what_o  = {9'd0, slots_q, 3'd0, set_q};

  logic unused_rest;
  assign unused_rest = ^padded[2:0];
endmodule
