// SPDX-License-Identifier: MIT OR Apache-2.0
// The arbiters of a crossbar, all outputs at once: they select the input of each output's next word.
//
// Handshake  `request_i`: per input, over outputs, the request of its first waiting word (one for all outputs, or one
//            for each). `last_i`: that word ends its packet. `grant_o` answers in the same cycle, at most one input an
//            output, and the word leaves at the edge. `granted_o` is `grant_o` a cycle later. An output begins no
//            packet in the cycle after its `room_i` is low, and goes on with none after its `more_i` is.
// Fairness   the least recently served requester goes first, so a waiting one is passed over by at most N - 1 packets.
//            An output stays with a packet until its last word.
// Latency    grants in the cycle of the request; none for one cycle after reset.
// Source     a matrix of ages, textbook. Vectors run over outputs, so a simulator does all outputs in one operation.
//            Hold and release of a packet are computed a cycle early, which leaves two LUTs between a request and its
//            grant.
module crossbar_arbiter #(
    parameter int N = 4  // ports a side, 2 or more
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic [N-1:0][N-1:0] request_i,
    input  logic [N-1:0][N-1:0] last_i,
    input  logic [N-1:0]        room_i,
    input  logic [N-1:0]        more_i,
    output logic [N-1:0][N-1:0] grant_o,
    output logic [N-1:0][N-1:0] granted_o
);
  // Row i: the OR over the first i inputs.
  logic [N:0][N-1:0] lock_any  /*verilator split_var*/;
  // older[j*N+i], over outputs: j was served longer ago than i.
  logic [N*N-1:0][N-1:0] older  /*verilator split_var*/;
  // blocked[i*(N+1)+j], over outputs: one of the first j inputs requests and is older than i.
  logic [N*(N+1)-1:0][N-1:0] blocked  /*verilator split_var*/;
  logic [N-1:0] open_q;  // has room and is not inside a packet

  assign lock_any[0] = '0;
  for (genvar i = 0; i < N; i++) begin : gen_input
    // Inside a packet of this input: at the end of this cycle, now, and now with room.
    logic [N-1:0] lock_d, lock_q, hold_q;

    assign blocked[i*(N+1)] = '0;
    for (genvar j = 0; j < N; j++) begin : gen_rival
      if (j < i) begin : gen_pair
        logic [N-1:0] older_q;
        always_ff @(posedge clk_i) begin
          if (rst_i) older_q <= '1;
          else older_q <= (older_q & ~grant_o[j]) | grant_o[i];
        end
        assign older[j*N+i] = older_q;
        assign older[i*N+j] = ~older_q;
      end else if (j == i) begin : gen_self
        assign older[i*N+i] = '0;
      end
      assign blocked[i*(N+1)+j+1] = blocked[i*(N+1)+j] | (request_i[j] & older[j*N+i]);
    end

    assign grant_o[i] = request_i[i] & (hold_q | (open_q & ~blocked[i*(N+1)+N]));
    assign lock_d = (grant_o[i] & ~last_i[i]) | (lock_q & ~grant_o[i]);
    assign lock_any[i+1] = lock_any[i] | lock_d;

    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        granted_o[i] <= '0;
        lock_q <= '0;
        hold_q <= '0;
      end else begin
        granted_o[i] <= grant_o[i];
        lock_q <= lock_d;
        hold_q <= lock_d & more_i;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) open_q <= '0;
    else open_q <= room_i & ~lock_any[N];
  end
endmodule
