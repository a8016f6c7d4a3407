// SPDX-License-Identifier: MIT OR Apache-2.0
// `ap1000p_queue_arbiter` selects a requesting queue, in the order of the queues, and passes over none more than AgeCap
// + N - 1 times.
//
// Some queue is selected at each request. Assumed: a queue that has a message keeps it until it is selected.
module prove_ap1000p_queue_arbiter #(
    parameter int N = 3,
    parameter int AgeCap = 4
) (
    input logic clk_i,
    input logic rst_i,
    input logic [N-1:0] more_i,
    input logic take_i
);
  logic [N-1:0] pick;
  ap1000p_queue_arbiter #(
      .N(N),
      .AgeCap(AgeCap)
  ) dut (
      .clk_i,
      .rst_i,
      .more_i,
      .take_i,
      .pick_o(pick)
  );
  power_up u_power_up (.*);

  // How often each queue was passed over since its last selection or its request, and how often at most.
  int passed_q[N];
  logic [N-1:0] older;
  logic ordered, soon;
  always_comb begin
    ordered = 1'b1;
    soon = 1'b1;
    for (int a = 0; a < N; a++) begin
      if (passed_q[a] > AgeCap + N - 1) soon = 1'b0;
      for (int b = 0; b < N; b++) begin
        if (a < b && more_i[a] && pick[b]) ordered = ordered && older[b] && !older[a];
      end
    end
  end
  always_comb for (int q = 0; q < N; q++) older[q] = passed_q[q] >= AgeCap && more_i[q];
  logic [N-1:0] keep_q;
  always_ff @(posedge clk_i) begin
    keep_q <= rst_i ? '0 : more_i & ~(take_i ? pick : '0);
    if (!rst_i) begin
      kept : assume ((keep_q & ~more_i) == '0);
    end
  end

  logic [N-1:0][7:0] left;
  for (genvar q = 0; q < N; q++) begin : gen_left
    assign left[q] = 8'(dut.gen_age[q].left_q);
  end
  logic counted, fresh;
  int few;
  always_comb begin
    counted = 1'b1;
    fresh   = 1'b1;
    for (int q = 0; q < N; q++) begin
      if (passed_q[q] < 0 || int'(left[q]) != (passed_q[q] < AgeCap ? AgeCap - passed_q[q] : 0)) counted = 1'b0;
      if (passed_q[q] != 0 && !keep_q[q]) counted = 1'b0;
    end
    for (int q = 0; q < N; q++) begin
      for (int m = 1; m < N; m++) begin
        few = 0;
        for (int p = 0; p < N; p++) if (passed_q[p] < m) few = few + 1;
        if (passed_q[q] >= AgeCap + m && few < m) fresh = 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    for (int q = 0; q < N; q++) begin
      if (rst_i || (take_i && pick[q])) passed_q[q] <= 0;
      else if (take_i && more_i[q] && pick != '0) passed_q[q] <= passed_q[q] + 1;
    end
    if (!rst_i) begin
      one_who_requested :
      assert ((pick & ~more_i) == '0 && (pick & (pick - N'(1))) == '0 && (pick == '0) == (more_i == '0));
      in_turn : assert (soon);
      order : assert (ordered);
      // Invariants for induction: the last m selected were passed over less than m times, so they are not old.
      passes : assert (counted);
      chosen : assert (fresh);
      late : cover (take_i && pick[N-1] && passed_q[N-1] == AgeCap + N - 2);
    end
  end
endmodule
