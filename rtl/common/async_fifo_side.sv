// SPDX-License-Identifier: MIT OR Apache-2.0
// One side of an asynchronous FIFO: its pointer, its view of the other side's pointer, and its half of the reset.
//
// Purpose    the input side claims free slots and offers them with `open_o` (the FIFO's ready). The output side claims
//            words and offers them (the FIFO's valid). A high `take_i` uses the claimed slot, and the pointer moves on.
// Pointers   count in Gray code, one bit more than an address. `gray_o` is the slot on offer, or the next one to claim;
//            the other side may know of it. Nothing can be claimed when this side's pointer is a fixed distance from
//            the other side's: Depth slots at the input (full), none at the output (empty).
// Latency    open_o follows other_i by one edge; every output is a flip-flop, or the XOR of two (addr_o).
// Reset      `clear_o` asks the other side to empty, `ack_o` answers its request. Pointers jump back only while the
//            other side does not look, and have been 0 for a cycle before the request ends.
// Source     Gray pointers are common practice. Ours: claiming ahead, which takes the comparison out of the pointer's
//            loop, and the reset handshake.
module async_fifo_side #(
    parameter int AddrW   = 4,    // bits of an address, >= 1
    parameter bit IsInput = 1'b0  // 1: claims free places; 0: claims words
) (
    input logic clk_i,
    input logic rst_i,
    input logic take_i,
    output logic open_o,
    output logic [AddrW-1:0] addr_o,
    output logic [AddrW:0] gray_o,
    output logic clear_o,
    output logic ack_o,
    input logic [AddrW:0] other_i,  // gray_o, clear_o and ack_o of the other side, through synchronisers
    input logic clear_i,
    input logic ack_i
);
  if (AddrW < 1) begin : gen_bad_addr
    async_fifo_side_AddrW_must_be_at_least_1 u_bad ();
  end

  // A lap ahead in Gray code: the two top bits differ.
  localparam logic [AddrW:0] Lap = IsInput ? (AddrW + 1)'(3) << (AddrW - 1) : '0;

  logic [AddrW:0] ahead_q;  // the next slot to claim
  logic before_q;  // its bit 0 a step ago
  logic high_q;  // the next step changes a bit above bit 2, computed a step ago
  logic open_q, clear_q, ack_q, home_q;
  logic stop, go, claim, step, home;

  // The next code: every other step changes bit 0; the others change the bit above the lowest 1, or the top bit.
  function automatic logic [AddrW:0] next(input logic [AddrW:0] code, input logic prior, input logic high);
    logic done;
    done = code[0] == prior;
    next[0] = code[0] ^ done;
    for (int i = 1; i <= AddrW; i++) begin
      next[i] = code[i] ^ (!done && (code[i-1] || i == AddrW));
      done = (i == 2) ? !high : done || code[i-1];
    end
  endfunction

  assign home  = clear_i || ack_i;
  assign stop  = rst_i || clear_q || ack_q;
  assign go    = !stop && (take_i || !open_q);
  assign claim = (ahead_q ^ Lap) != other_i;
  assign step  = go && claim;

  always_ff @(posedge clk_i) begin
    ack_q  <= clear_i;
    home_q <= home;
    // Two statements: an acknowledge that is X in a four-state simulator must not make the request X.
    if (rst_i) clear_q <= 1'b1;
    else if (ack_i && home_q) clear_q <= 1'b0;
    if (home) open_q <= 1'b0;
    else open_q <= step || (open_q && !take_i && !stop);
    if (home) begin
      ahead_q  <= '0;
      high_q   <= 1'b0;
      before_q <= 1'b0;
      gray_o   <= '0;
    end else if (go) begin
      gray_o <= ahead_q;
      if (step) begin
        ahead_q  <= next(ahead_q, before_q, high_q);
        before_q <= ahead_q[0];
        high_q   <= ahead_q[0] && before_q && !ahead_q[1];
      end
    end
  end

`ifdef TSUNAGI_ASSERT
  logic sound_q;  // from the first reset on
  initial sound_q = 1'b0;
  always_ff @(posedge clk_i) begin
    sound_q <= sound_q || home;
    // One bit at a time, or the other side may see a slot that the pointer never had.
    if (sound_q && go && !home) assert (((gray_o ^ ahead_q) & ((gray_o ^ ahead_q) - (AddrW + 1)'(1))) == '0);
  end
`endif

  assign open_o  = open_q;
  assign addr_o  = gray_o[AddrW-1:0] ^ (AddrW'(gray_o[AddrW]) << (AddrW - 1));
  assign clear_o = clear_q;
  assign ack_o   = ack_q;
endmodule
