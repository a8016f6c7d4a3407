// `async_fifo` under resets of either side, at any time, of any length, again before the last one is done. What a reset finds
// inside never comes out after it; nothing comes out twice or from nowhere; and within the stated time after the last one both
// sides are at rest in a state that prove_async_fifo goes on from (`as_new`).
module prove_async_fifo_reset #(
    parameter int Depth = 2,
    parameter int SyncStages = 2,
    parameter int PowerUp = 0  // 0: registers start as 0; else they start as anything, and both resets last this many cycles
) (
    input logic clk_i,
    input logic in_edge_i,
    input logic out_edge_i,
    input logic in_rst_i,
    input logic out_rst_i,
    input logic in_valid_i,
    input logic in_data_i,
    input logic out_ready_i
);
  localparam int PtrW = $clog2(Depth) + 1;
  localparam int OpensIn = 6 * (SyncStages + 2);  // rounds: an edge of each clock at least

  logic in_clk, out_clk, in_ready, out_valid, out_data;

  two_clocks u_clocks (
      .step_i(clk_i),
      .in_edge_i,
      .out_edge_i,
      .in_clk_o(in_clk),
      .out_clk_o(out_clk)
  );
  async_fifo #(
      .W(1),
      .Depth(Depth),
      .SyncStages(SyncStages)
  ) dut (
      .in_clk_i(in_clk),
      .in_rst_i,
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_data_i,
      .out_clk_i(out_clk),
      .out_rst_i,
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o(out_data)
  );

  logic started_q = 1'b0;
  logic push, pop, in_reset, out_reset;
  assign in_reset = in_edge_i && in_rst_i;
  assign out_reset = out_edge_i && out_rst_i;
  assign push = in_edge_i && in_valid_i && in_ready && !in_rst_i;
  assign pop = out_edge_i && out_valid && out_ready_i && !out_rst_i;

  // Edges since the beginning; rounds since the last reset of either side.
  logic [3:0] in_edges_q = '0, out_edges_q = '0;
  logic [5:0] rounds_q;
  logic known;  // what the registers hold
  logic in_seen_q, out_seen_q, round;
  assign known = int'(in_edges_q) >= PowerUp && int'(out_edges_q) >= PowerUp;
  assign round = (in_seen_q || in_edge_i) && (out_seen_q || out_edge_i);
  always_ff @(posedge clk_i) begin
    in_edges_q  <= in_edges_q + 4'(in_edge_i && in_edges_q != '1);
    out_edges_q <= out_edges_q + 4'(out_edge_i && out_edges_q != '1);
    if (in_reset || out_reset || !known || !started_q) {rounds_q, in_seen_q, out_seen_q} <= '0;
    else begin
      rounds_q   <= rounds_q + 6'(round && rounds_q != '1);
      in_seen_q  <= !round && (in_seen_q || in_edge_i);
      out_seen_q <= !round && (out_seen_q || out_edge_i);
    end
  end

  // One word is a 1, all others are 0.
  logic sent_q = 1'b0;
  logic alive_q = 1'b0;  // it may still come out
  logic closed_q = 1'b0;  // the input has had a reset and not been open since
  always_ff @(posedge clk_i) begin
    closed_q <= in_reset || (closed_q && !in_ready);
    if (pop && out_data) alive_q <= 1'b0;
    if (closed_q && in_ready) alive_q <= 1'b0;
    if (push && in_data_i) begin
      alive_q <= 1'b1;
      sent_q  <= 1'b1;
    end
    if (out_reset) alive_q <= 1'b0;
  end

  // What prove_async_fifo begins with: no reset is under way, and no pointer is known to be where it was before.
  function automatic logic [PtrW-1:0] binary(input logic [PtrW-1:0] n);
    binary = n;
    for (int i = 1; i < PtrW; i++) binary = binary ^ (n >> i);
  endfunction
  logic at_rest, as_new;
  int climb;
  logic [SyncStages+1:0][PtrW-1:0] wr, rd;
  assign wr[0] = dut.wr_q;
  assign rd[0] = dut.rd_q;
  assign wr[1] = binary(dut.u_wr.before_q);
  assign rd[1] = binary(dut.u_rd.before_q);
  for (genvar s = 0; s < SyncStages; s++) begin : gen_stage
    assign wr[s+2] = binary(dut.u_wr.stage_q[s]);
    assign rd[s+2] = binary(dut.u_rd.stage_q[s]);
  end
  assign at_rest = {dut.in_again_q, dut.in_clear_q, dut.in_ack_q, dut.u_in_reset.before_q, dut.u_in_reset.stage_q} == '0 &&
      {dut.out_again_q, dut.out_clear_q, dut.out_ack_q, dut.u_out_reset.before_q, dut.u_out_reset.stage_q} == '0;
  always_comb begin
    climb = int'(PtrW'(wr[SyncStages+1] - rd[0]));
    for (int s = 1; s < SyncStages + 2; s++) begin
      climb = climb + int'(PtrW'(wr[s-1] - wr[s])) + int'(PtrW'(rd[s-1] - rd[s]));
    end
    as_new = climb <= Depth && dut.wr_q == binary(dut.wr_gray_q) && dut.rd_q == binary(dut.rd_gray_q) &&
        (!in_ready || wr[0] != (rd[SyncStages+1] ^ PtrW'(Depth))) && (!out_valid || wr[SyncStages+1] != rd[0]);
  end

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q && PowerUp == 0) begin
      starts_at_rest : assume (at_rest && !in_ready && !out_valid);
      starts_empty : assume ({wr, rd, dut.wr_gray_q, dut.rd_gray_q} == '0);
    end
    if (!known) begin
      resets_overlap : assume (in_rst_i && out_rst_i);
    end
    if (push && sent_q) begin
      one_is_sent : assume (!in_data_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (started_q && known) begin
      none_stale : assert (!pop || !out_data || alive_q);
      rests_as_new : assert (!at_rest || as_new);
      opens_in_time : assert (int'(rounds_q) < OpensIn || at_rest);
      comes_out : cover (pop && out_data);
    end
  end
endmodule
