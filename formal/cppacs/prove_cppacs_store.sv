// `cppacs_store` announces no burst that leaves the run whose words it holds, and none before it has its words.
//
// Assumed: runs do not wrap, and have at most 64 KB, as cppacs_runs' are inside a field; memory's responses are of
// bursts that it has; the buffer has the words of an announced burst (an assertion of the RTL, which the bench checks).
module prove_cppacs_store (
    input logic clk_i,
    input logic rst_i,
    input logic run_valid_i,
    input logic [31:0] run_addr_i,
    input logic [20:0] run_bytes_i,
    input logic drop_i,
    input logic in_valid_i,
    input logic [31:0] in_data_i,
    input logic in_last_i,
    input logic turn_i,
    input logic mem_cmd_ready_i,
    input logic mem_data_ready_i,
    input logic mem_rsp_valid_i,
    input logic mem_rsp_err_i
);
  logic busy, run_ready, active, amid, last_word, in_ready, old_done, old_err;
  logic cmd_valid, data_valid, data_last, rsp_ready;
  logic [31:0] cmd_addr, data;
  logic [7:0] cmd_len;
  cppacs_store #(
      .BurstBeats (4),
      .Outstanding(2)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .run_valid_i,
      .run_ready_o(run_ready),
      .run_addr_i,
      .run_bytes_i,
      .drop_i,
      .active_o(active),
      .amid_o(amid),
      .end_o(last_word),
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_data_i,
      .in_last_i,
      .turn_i,
      .old_done_o(old_done),
      .old_err_o(old_err),
      .mem_cmd_valid_o(cmd_valid),
      .mem_cmd_ready_i,
      .mem_cmd_addr_o(cmd_addr),
      .mem_cmd_len_o(cmd_len),
      .mem_data_valid_o(data_valid),
      .mem_data_ready_i,
      .mem_data_data_o(data),
      .mem_data_last_o(data_last),
      .mem_rsp_valid_i,
      .mem_rsp_ready_o(rsp_ready),
      .mem_rsp_err_i
  );
  power_up u_power_up (.*);
  mem_write_rules #(
      .Assume(1'b1)
  ) u_memory (
      .clk_i,
      .rst_i,
      .data_valid_i(data_valid),
      .data_ready_i(mem_data_ready_i),
      .data_last_i (data_last),
      .rsp_valid_i (mem_rsp_valid_i),
      .rsp_ready_i (rsp_ready)
  );

  // The run's first word, and the first behind it. A burst is noted with its last word: from `first` on.
  logic [30:0] start_q, end_q, next_q, first, beats;  // next: the first that is not noted
  logic noted, amid_q;
  assign noted = dut.take && dut.burst_end;
  assign first = {1'b0, dut.word_q[29:2], dut.base_q};
  assign beats = 31'(dut.word_q[1:0] - dut.base_q) + 31'd1;
  always_ff @(posedge clk_i) begin
    if (dut.load) begin
      start_q <= {1'b0, run_addr_i[31:2]};
      end_q   <= {1'b0, run_addr_i[31:2]} + 31'(run_bytes_i[20:2]);
      next_q  <= {1'b0, run_addr_i[31:2]};
    end else if (noted) next_q <= {1'b0, dut.word_q} + 31'd1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      run_is_whole : assume (!run_valid_i || (run_addr_i[2:0] == '0 && run_bytes_i[2:0] == '0 && run_bytes_i != '0));
      run_is_short : assume (!run_valid_i || run_bytes_i <= 21'd65536);
      run_ends : assume (!run_valid_i || {2'b0, run_addr_i[31:2]} + 32'(run_bytes_i[20:2]) <= 32'h4000_0000);
      dropped_between : assume (!drop_i || !amid);
      turned_between : assume (!turn_i || (old_done && !active));
      words_are_there : assume (!dut.data_go || dut.unused_valid);
      from_its_start : assert (!noted || first >= start_q);
      to_its_end : assert (!noted || first + beats <= end_q);
      unbroken : assert (!noted || (first == next_q && first + beats == {1'b0, dut.word_q} + 31'd1));
      // Invariants for induction.
      word_inside : assert (!active || ({1'b0, dut.word_q} >= start_q && {1'b0, dut.word_q} < end_q));
      left_is_left : assert (!active || ({1'b0, dut.word_q} + 31'(dut.left_q) == end_q && end_q <= 31'h4000_0000));
      some_left : assert (!active || dut.left_q != '0);
      ends_with_one : assert (!active || dut.end_q == (dut.left_q == 15'd1));
      begun : assert (!active || (dut.base_q <= dut.word_q[1:0] && first >= start_q && first == next_q));
`ifdef TSUNAGI_ASSERT
      same_memory : assert (u_memory.written_q == dut.u_memory.written_q);
`endif
      goes_if_announced : assert (dut.data_go == (dut.announced_q != '0));
      all_are_somewhere :
      assert (17'(dut.all_q) ==
          17'(u_memory.written_q) + 17'(dut.announced_q) + 17'(dut.u_note.level_q) && dut.all_q <= 2'd2);
      in_range : assert (dut.u_buffer.level_q <= 5'd16 && dut.u_note.level_q <= 7'd64);
      room_for_one : assert (dut.note_ready == (dut.all_q != 2'd2));
      // The claims are not vacuous.
      second : cover (noted && first != start_q);
    end
  end
endmodule
