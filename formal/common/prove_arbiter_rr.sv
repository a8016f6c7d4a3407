// SPDX-License-Identifier: MIT OR Apache-2.0
// `arbiter_rr` grants at most one requester, and none is passed over more than N - 1 times.
//
// Only a requester is granted. A grant is held until it is advanced. No cycle is idle during a request.
module prove_arbiter_rr #(
    parameter int N = 4
) (
    input logic clk_i,
    input logic rst_i,
    input logic [N-1:0] req_i,
    input logic advance_i
);
  logic [N-1:0] grant;

  arbiter_rr #(
      .N(N)
  ) dut (
      .clk_i,
      .rst_i,
      .req_i,
      .advance_i,
      .grant_o(grant)
  );
  power_up u_power_up (.*);

  // The edge before: the requests, the grant, and whether a new grant was due.
  logic [N-1:0] request_q, before_q;
  logic due_q, reset_q;
  always_ff @(posedge clk_i) begin
    request_q  <= req_i;
    before_q <= grant;
    due_q    <= grant == '0 || advance_i;
    reset_q  <= rst_i;
  end

  // The number of grants to others, one after the other, while i requested.
  int passed_q[N], passed[N];
  always_comb begin
    for (int i = 0; i < N; i++) begin
      passed[i] = passed_q[i];
      if (due_q) passed[i] = (request_q[i] && !grant[i]) ? passed_q[i] + 1 : 0;
      if (reset_q) passed[i] = 0;
    end
  end
  always_ff @(posedge clk_i) passed_q <= passed;

  // The number of requesters before i, in a search that starts with `after_q` and goes around.
  function automatic int line(input int i);
    line = 0;
    for (int j = 0; j < N; j++) begin
      if (dut.after_q[i] ? (j < i && dut.after_q[j]) : (dut.after_q[j] || j < i)) line++;
    end
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_at_most : assert ((grant & (grant - N'(1))) == '0);
      if (reset_q) begin
        none_after_reset : assert (grant == '0);
      end else if (due_q) begin
        to_a_requester : assert ((grant & ~request_q) == '0);
        no_idle_cycle : assert ((grant != '0) == (request_q != '0));
      end else begin
        held : assert (grant == before_q);
      end
      // Invariants for induction.
      shape : assert ((~dut.after_q & (~dut.after_q + N'(1))) == '0);
    end
  end
  for (genvar i = 0; i < N; i++) begin : gen_fair
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        fair : assert (passed[i] <= N - 1);
        in_line : assert (passed[i] + line(i) <= N - 1);
        bound_is_reached : cover (passed[i] == N - 1 && grant != '0);
      end
    end
  end
endmodule
