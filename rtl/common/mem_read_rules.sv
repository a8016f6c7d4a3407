// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules of a memory's read side: data only for requested bursts, in order, `last` on a burst's last beat. A checker, it
// drives nothing.
//
// Purpose    a block that reads states with it, under TSUNAGI_ASSERT, its expectations of the memory. A proof (formal/)
//            takes the same rules as an assumption about the memory (Assume = 1).
// Handshake  watches read commands {len = beats - 1} and data beats.
// Latency    a beat that breaks a rule is reported at the edge at which it is offered.
// Reset      forgets the requests; nothing is checked while `rst_i` is high.
// Misuse     it confuses more than Outstanding bursts at a time.
// Source     AXI4's rules for one ID.
module mem_read_rules #(
    parameter int Outstanding = 4,  // bursts that may await data, >= 1
    parameter bit Assume = 1'b0  // in a proof: 1 takes the rules as given
) (
    input logic clk_i,
    input logic rst_i,
    input logic cmd_valid_i,
    input logic cmd_ready_i,
    input logic [7:0] cmd_len_i,
    input logic data_valid_i,
    input logic data_ready_i,
    input logic data_last_i
);
  localparam int PtrW = $clog2(Outstanding + 1);

  if (Outstanding < 1) begin : gen_bad_outstanding
    mem_read_rules_Outstanding_must_be_at_least_1 u_bad ();
  end

  logic [2**PtrW-1:0][7:0] len_q;
  logic [PtrW-1:0] issued_q, read_q;
  logic [7:0] beat_q;
  logic requested, last;
  assign requested = !data_valid_i || issued_q != read_q;
  assign last = !data_valid_i || data_last_i == (beat_q == len_q[read_q]);

  always_ff @(posedge clk_i) begin
    if (cmd_valid_i && cmd_ready_i) begin
      len_q[issued_q] <= cmd_len_i;
      issued_q <= issued_q + PtrW'(1);
    end
    if (data_valid_i && data_ready_i) begin
      beat_q <= data_last_i ? '0 : beat_q + 8'd1;
      if (data_last_i) read_q <= read_q + PtrW'(1);
    end
    if (rst_i) begin
      len_q <= '0;
      issued_q <= '0;
      read_q <= '0;
      beat_q <= '0;
    end
  end

  if (Assume) begin : gen_assume
    always_ff @(posedge clk_i)
      if (!rst_i) begin
        data_were_requested : assume (requested);
        last_is_last : assume (last);
      end
  end else begin : gen_assert
    always_ff @(posedge clk_i)
      if (!rst_i) begin
        data_were_requested : assert (requested);
        last_is_last : assert (last);
      end
  end
endmodule
