// SPDX-License-Identifier: MIT OR Apache-2.0
// `async_fifo` keeps order and content between resets, whatever the ratio and phase of its clocks.
//
// - An offer holds until it is taken.
// - Of the crossing signals, one bit changes at a time.
// - A word shows, and a slot becomes free, within SyncStages + 2 edges of the other clock.
//
// It starts empty and open, as a reset leaves it. Its resets stay low: only simulation tests the handshake of its
// resets.
module prove_async_fifo #(
    parameter int W = 2,
    parameter int Depth = 4,
    parameter int SyncStages = 2
) (
    input logic clk_i,
    input logic in_edge_i,
    input logic out_edge_i,
    input logic in_valid_i,
    input logic [W-1:0] in_data_i,
    input logic out_ready_i,
    input logic mark_i
);
  localparam int AddrW = $clog2(Depth);
  localparam int PtrW = AddrW + 1;
  localparam int CountW = $clog2(Depth + 2);

  logic in_clk, out_clk, in_ready, out_valid, push, pop, follow, rst;
  logic [W-1:0] out_data, word;
  logic [CountW-1:0] count, ahead;
  assign rst  = 1'b0;
  assign push = in_edge_i && in_valid_i && in_ready;
  assign pop  = out_edge_i && out_valid && out_ready_i;
  logic started_q = 1'b0;

  two_clocks u_clocks (
      .step_i(clk_i),
      .in_edge_i,
      .out_edge_i,
      .in_clk_o(in_clk),
      .out_clk_o(out_clk)
  );
  async_fifo #(
      .W(W),
      .Depth(Depth),
      .SyncStages(SyncStages)
  ) dut (
      .in_clk_i(in_clk),
      .in_rst_i(rst),
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_data_i,
      .out_clk_i(out_clk),
      .out_rst_i(rst),
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o(out_data)
  );
  // Between edges, too, an offer holds.
  stream_rules #(
      .W(W),
      .Assume(1'b1)
  ) u_source (
      .clk_i,
      .rst_i  (rst),
      .valid_i(in_valid_i),
      .ready_i(in_edge_i && in_ready),
      .data_i (in_data_i)
  );
  stream_rules #(
      .W(W)
  ) u_sink (
      .clk_i,
      .rst_i  (rst),
      .valid_i(out_valid),
      .ready_i(out_edge_i && out_ready_i),
      .data_i (out_data)
  );
  stream_track #(
      .W(W),
      .Capacity(Depth)
  ) u_track (
      .clk_i,
      .rst_i(!started_q),
      .mark_i,
      .push_i(push),
      .in_data_i,
      .pop_i(pop),
      .out_data_i(out_data),
      .inside_o(count),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(word)
  );

  // --------------------------------------------------------------------------------------------------------- registers
  function automatic logic [PtrW-1:0] gray(input logic [PtrW-1:0] n);
    gray = n ^ (n >> 1);
  endfunction
  function automatic logic [PtrW-1:0] binary(input logic [PtrW-1:0] code);
    for (int i = 0; i < PtrW; i++) binary[i] = ^(code >> i);
  endfunction
  function automatic logic [AddrW-1:0] address(input logic [PtrW-1:0] n);
    address = AddrW'(gray(n)) ^ (AddrW'(n[AddrW]) << (AddrW - 1));
  endfunction
  // Bit 0 of the code.
  function automatic logic low(input logic [PtrW-1:0] n);
    low = n[0] ^ n[1];
  endfunction
  // The step from here changes a bit of the code above bit 2.
  function automatic logic high(input logic [PtrW-1:0] n);
    high = PtrW >= 3 && (n | ~PtrW'(7)) == '1;
  endfunction
  // The knowledge of each pointer further and further down its synchroniser, newest first: the pointer, its value a
  // step before, then each stage. Kept here as plain binary, and as a distance from the output's read pointer.
  localparam int Seen = SyncStages + 2;
  typedef logic [PtrW-1:0] ptr_t;
  typedef logic [CountW-1:0] count_t;
  logic wr_late, rd_late;
  ptr_t [Seen-1:0] wr, rd;
  ptr_t [Seen-1:1] wr_q, rd_q;
  count_t [Seen-1:0] above_q, above_d, below_q, below_d;
  ptr_t at_q;  // of the followed word
  assign wr = {wr_q, binary(dut.in_state[AddrW:0])};
  assign rd = {rd_q, binary(dut.out_state[AddrW:0])};
  // The synchroniser's first stage takes the pointer as it was.
  assign wr_late = dut.u_to_out.taken[AddrW:0] != gray(wr[0]);
  assign rd_late = dut.u_to_in.taken[AddrW:0] != gray(rd[0]);
  always_comb begin
    above_d = above_q;
    below_d = below_q;
    above_d[0] = above_q[0] + count_t'(push);
    above_d[1] = above_q[0];
    below_d[1] = '0;
    for (int s = 2; s < Seen; s++) begin
      if (out_edge_i) above_d[s] = above_q[s==2?int'(wr_late) : s-1];
      if (in_edge_i) below_d[s] = below_q[s==2?int'(rd_late) : s-1];
    end
  end
  always_ff @(posedge clk_i) begin
    wr_q[1] <= wr[0];
    rd_q[1] <= rd[0];
    for (int s = 2; s < Seen; s++) begin
      if (out_edge_i) wr_q[s] <= wr[s==2?int'(wr_late) : s-1];
      if (in_edge_i) rd_q[s] <= rd[s==2?int'(rd_late) : s-1];
    end
    for (int s = 0; s < Seen; s++) above_q[s] <= above_d[s] - count_t'(pop);
    for (int s = 1; s < Seen; s++) below_q[s] <= below_d[s] + count_t'(pop);
    below_q[0] <= '0;
    if (!follow) at_q <= wr[0];
  end

  // No knowledge goes back, and from the oldest knowledge of the reads to the newest write it is Depth steps at most.
  logic climbs;
  always_comb begin
    climbs = int'(above_q[0]) + int'(below_q[Seen-1]) <= Depth;
    for (int s = 1; s < Seen; s++) climbs = climbs && above_q[s] <= above_q[s-1] && below_q[s] >= below_q[s-1];
  end

  logic open;
  logic [SyncStages-1:0] resetting;
  for (genvar s = 0; s < SyncStages; s++) begin : gen_resetting
    assign resetting[s] = {dut.u_to_out.stage_q[s][AddrW+2:AddrW+1], dut.u_to_in.stage_q[s][AddrW+2:AddrW+1]} != '0;
  end
  assign open = resetting == '0 && {dut.u_in.home_q, dut.u_out.home_q} == '0 &&
      {dut.in_state[AddrW+2:AddrW+1], dut.u_to_out.before_q[AddrW+2:AddrW+1]} == '0 &&
      {dut.out_state[AddrW+2:AddrW+1], dut.u_to_in.before_q[AddrW+2:AddrW+1]} == '0;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      before_any_edge : assume (!in_edge_i && !out_edge_i);
      starts_open : assume (open && !in_ready && !out_valid);
      starts_empty : assume ({wr, rd, above_q, below_q} == '0);
      nothing_claimed : assume ({dut.u_in.ahead_q, dut.u_in.before_q, dut.u_out.ahead_q, dut.u_out.before_q} == '0);
      no_step_yet : assume ({dut.u_in.high_q, dut.u_out.high_q} == '0);
      nothing_known :
      assume ({dut.u_to_out.before_q, dut.u_to_out.stage_q, dut.u_to_in.before_q, dut.u_to_in.stage_q} == '0);
      checkers_start : assume ({u_source.waiting_q, u_sink.waiting_q} == '0);
    end
  end

  // Edges of the other clock for which a word was inside and not on offer, or a slot free and not offered.
  logic [3:0] unseen_q, unused_q;
  always_ff @(posedge clk_i) begin
    if (!started_q || count == '0 || out_valid) unseen_q <= '0;
    else if (out_edge_i) unseen_q <= unseen_q + 4'd1;
    if (!started_q || count == CountW'(Depth) || in_ready) unused_q <= '0;
    else if (in_edge_i) unused_q <= unused_q + 4'd1;
  end

  always_ff @(posedge clk_i) begin
    if (started_q) begin
      shows_in_time : assert (int'(unseen_q) < SyncStages + 2 + int'(out_valid));
      frees_in_time : assert (int'(unused_q) < SyncStages + 2 + int'(in_ready));
      one_bit_a_step :
      assert ($onehot0(dut.in_state ^ dut.u_to_out.before_q) && $onehot0(dut.out_state ^ dut.u_to_in.before_q));
      // Invariants for induction.
      stays_open : assert (open);
      claimed :
      assert (dut.u_in.ahead_q == gray(
          wr[0] + ptr_t'(in_ready)
      ) && dut.u_out.ahead_q == gray(
          rd[0] + ptr_t'(out_valid)
      ));
      claimed_before :
      assert (dut.u_in.before_q == low(
          wr[0] - ptr_t'(!in_ready)
      ) && dut.u_out.before_q == low(
          rd[0] - ptr_t'(!out_valid)
      ));
      claimed_high :
      assert (dut.u_in.high_q == high(wr[0] + ptr_t'(in_ready)) && dut.u_out.high_q == high(rd[0] + ptr_t'(out_valid)));
      step_before :
      assert (dut.u_to_out.before_q[AddrW:0] == gray(wr[1]) && dut.u_to_in.before_q[AddrW:0] == gray(rd[1]));
      newest : assert (above_q[0] - above_q[1] <= count_t'(1) && below_q[1] <= count_t'(1));
      never_back : assert (climbs && below_q[0] == '0);
      counted : assert (above_q[0] == count);
      ready_is_true : assert (!in_ready || int'(above_q[0]) + int'(below_q[Seen-1]) < Depth);
      valid_is_true : assert (!out_valid || above_q[Seen-1] != '0);
      in_place : assert (!follow || at_q == rd[0] + ptr_t'(ahead));
      stored : assert (!follow || dut.mem_q[address(at_q)] == word);
    end
  end
  for (genvar s = 0; s < SyncStages; s++) begin : gen_stage
    always_ff @(posedge clk_i) begin
      if (started_q) begin
        known :
        assert (dut.u_to_out.stage_q[s][AddrW:0] == gray(wr[s+2]) && dut.u_to_in.stage_q[s][AddrW:0] == gray(rd[s+2]));
      end
    end
  end
  for (genvar s = 0; s < Seen; s++) begin : gen_known
    always_ff @(posedge clk_i) begin
      if (started_q) begin
        distance : assert (wr[s] == rd[0] + ptr_t'(above_q[s]) && rd[0] == rd[s] + ptr_t'(below_q[s]));
        word_comes_nearer : assert (s == 0 || int'(unseen_q) < s || above_q[s] != '0);
        place_comes_nearer : assert (s == 0 || int'(unused_q) < s || int'(above_q[0]) + int'(below_q[s]) < Depth);
      end
    end
  end
endmodule
