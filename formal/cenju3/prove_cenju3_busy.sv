// SPDX-License-Identifier: MIT OR Apache-2.0
// Two `cenju3_busy`, wired to each other, are both low only when each domain has processed all reports of the other.
//
// This holds at any ratio and phase of the clocks, with any delay of the synchronisers, and with resets of either side.
// No report came since.
//
// The domains around them are a model. As in the NIC, a change crosses by a synchroniser, is claimed a cycle later and
// processed in the next. That may change the report to the other side, at once or a cycle later. The model starts at
// rest.
module prove_cenju3_busy (
    input logic clk_i,
    input logic in_edge_i,
    input logic out_edge_i,
    input logic [1:0] rst_i,
    input logic [1:0] act_i,  // moves by itself
    input logic [1:0] tell_i,  // its action changes the report to the other side
    input logic [1:0] late_i  // a cycle later
);
  logic [1:0] clks, edges, active, busy, call, echo, reported, late;
  assign edges = {out_edge_i, in_edge_i};
  two_clocks u_clocks (
      .step_i(clk_i),
      .in_edge_i,
      .out_edge_i,
      .in_clk_o(clks[0]),
      .out_clk_o(clks[1])
  );

  // Side s's view of the other's call, of its own echo and of the reports, newest first.
  logic [1:0][5:0] heard, echoed;
  logic [1:0][4:0] knows;
  logic [1:0][1:0] due;
  logic [1:0][2:0] age;  // edges since its reset, at least
  for (genvar s = 0; s < 2; s++) begin : gen_side
    logic seen, claim_q, done_q;
    logic [2:0] age_q;
    cenju3_busy dut (
        .clk_i(clks[s]),
        .rst_i(rst_i[s]),
        .active_i(active[s]),
        .busy_o(busy[s]),
        .call_o(call[s]),
        .call_i(call[1-s]),
        .echo_o(echo[s]),
        .echo_i(echo[1-s])
    );
    cdc_sync u_reported (
        .clk_i (clks[s]),
        .data_i(reported[1-s]),
        .data_o(seen)
    );
    assign active[s] = act_i[s] || claim_q != done_q;
    always_ff @(posedge clks[s]) begin
      claim_q <= seen;
      if (active[s]) done_q <= claim_q;
      reported[s] <= reported[s] ^ late[s] ^ (active[s] && tell_i[s] && !late_i[s]);
      late[s] <= active[s] && tell_i[s] && late_i[s];
      if (rst_i[s]) age_q <= '0;
      else if (age_q < 3'd5) age_q <= age_q + 3'd1;
    end
    assign heard[s] = {dut.echo_o, dut.call_q, dut.u_call.stage_q, dut.u_call.before_q};
    assign echoed[s] = {dut.echo_q, dut.u_echo.stage_q, dut.u_echo.before_q};
    assign knows[s] = {done_q, claim_q, u_reported.stage_q, u_reported.before_q};
    assign due[s] = dut.due_q;
    assign age[s] = age_q;
  end

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      before_any_edge : assume (!in_edge_i && !out_edge_i);
      starts_at_rest : assume ({call, heard, echoed, knows, due, busy, reported, late} == '0);
      after_reset : assume (age[0] == 3'd5 && age[1] == 3'd5);
    end
  end

  logic [1:0] rest;
  always_ff @(posedge clk_i) begin
    if (started_q) begin
      nothing_on_its_way : assert (busy != '0 || (rest == '1 && late == '0));
      rests : cover (busy == '0 && reported == 2'b01);
      both_reported : cover (busy == '0 && reported == 2'b11);
    end
  end
  for (genvar s = 0; s < 2; s++) begin : gen_rules
    localparam int O = 1 - s;
    logic [12:0] ring;
    logic [ 4:0] same;
    assign ring = {echoed[s], heard[O], call[s]};
    assign same = knows[O] ~^ {5{reported[s]}};
    assign rest[s] = same == '1;
    always_ff @(posedge clk_i) begin
      if (started_q) begin
        // Invariants for induction. One call at most is on its way.
        one_call : assert ($onehot0(ring[12:1] ^ ring[11:0]));
        due_possible : assert (due[s] != 2'b10);
        busy_until_home : assert (busy[s] || (due[s] == '0 && echoed[s][5] == call[s]));
        // No report since a last call; where the call has arrived, earlier reports have arrived, too.
        reported_before : assert (due[s] != '0 || !late[s]);
        comes_with_it : assert (due[s] != '0 || heard[O][0] != call[s] || same[0]);
        not_late : assert (due[s] != '0 || heard[O][2] != call[s] || same[1]);
        seen : assert (due[s] != '0 || heard[O][3] != call[s] || same[2] || age[O] < 3'd1);
        claimed : assert (due[s] != '0 || heard[O][4] != call[s] || same[3] || age[O] < 3'd2);
        done : assert (due[s] != '0 || heard[O][5] != call[s] || same[4] || age[O] < 3'd3);
        // After a reset.
        two_rounds : assert (due[s] != '0 || age[s] >= 3'd5);
      end
    end
    for (genvar k = 1; k < 6; k++) begin : gen_back
      always_ff @(posedge clk_i) begin
        if (started_q) first_round : assert (due[s] != 2'b01 || echoed[s][k] != call[s] || age[s] >= 3'(k));
      end
    end
  end
endmodule
