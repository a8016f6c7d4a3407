// `cppacs_runs` offers no run that leaves [0, limit) as a good one, and no address but that of its offset.
//
// - A run that is not bad begins at or above the base and ends at or below base + limit, in 33 bits.
// - The bytes of all runs are the job's, or the last one is bad. No run is empty.
// - An offer holds until it is taken, or the job is stopped.
//
// Assumed: what the header's checks say of a job.
module prove_cppacs_runs #(
    parameter bit Whole = 1'b0
) (
    input logic clk_i,
    input logic rst_i,
    input logic job_valid_i,
    input logic [31:0] job_base_i,
    input logic [31:0] job_offset_i,
    input logic [31:0] job_limit_i,
    input logic [20:0] job_bytes_i,
    input logic job_strided_i,
    input logic [18:0] job_element_i,
    input logic [18:0] job_left_i,
    input logic [31:0] job_step_i,
    input logic stop_i,
    input logic run_ready_i
);
  logic busy, job_ready, run_valid, run_last, run_bad;
  logic [31:0] run_addr;
  logic [20:0] run_bytes;
  cppacs_runs #(
      .Whole(Whole)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .job_valid_i,
      .job_ready_o(job_ready),
      .job_base_i,
      .job_offset_i,
      .job_limit_i,
      .job_bytes_i,
      .job_strided_i,
      .job_element_i,
      .job_left_i,
      .job_step_i,
      .stop_i,
      .run_valid_o(run_valid),
      .run_ready_i,
      .run_addr_o(run_addr),
      .run_bytes_o(run_bytes),
      .run_last_o(run_last),
      .run_bad_o(run_bad)
  );
  power_up u_power_up (.*);

  // Of the run on offer: its job's base and limit, its offset, and what is left of the job behind it. Of the job: what
  // has not been offered.
  logic [28:0] base_q, limit_q, start_q;
  logic [17:0] left_q, before_q, behind_q;
  logic load, give;
  assign load = job_valid_i && job_ready && !stop_i;
  assign give = dut.give && !stop_i;
  always_ff @(posedge clk_i) begin
    if (dut.give) {base_q, limit_q, start_q} <= {dut.base_q, dut.limit_q, dut.start_q[28:0]};
    if (dut.give) {before_q, behind_q} <= {left_q, left_q - dut.bytes_q};
    if (load) left_q <= job_bytes_i[20:3];
    else if (give) left_q <= left_q - dut.bytes_q;
  end

  logic held_q;
  logic [55:0] offer_q;
  always_ff @(posedge clk_i) begin
    held_q  <= run_valid && !run_ready_i && !stop_i && !rst_i;
    offer_q <= {run_addr, run_bytes, run_last, run_bad, 1'b0};
  end

  logic [29:0] over;
  assign over = {1'b0, start_q} + 30'(run_bytes[20:3]);
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      some_bytes : assume (!job_valid_i || (job_bytes_i != '0 && job_bytes_i[2:0] == '0));
      whole_units :
      assume (!job_valid_i || (job_offset_i[2:0] == '0 && job_element_i[2:0] == '0 &&
          job_left_i[2:0] == '0 && job_step_i[2:0] == '0));
      some_element : assume (!job_valid_i || (job_element_i[18:3] != '0 && job_left_i[18:3] != '0));
      inside_the_limit : assert (!run_valid || run_bad || over <= {1'b0, limit_q});
      at_its_address : assert (!run_valid || run_bad || run_addr == {base_q + start_q, 3'd0});
      not_empty : assert (!run_valid || run_bytes[20:3] != '0);
      no_more_than_the_job : assert (!run_valid || run_bytes[20:3] <= before_q);
      the_last_one_ends_it : assert (!(run_valid && run_last && !run_bad) || behind_q == '0);
      another_follows : assert (!(run_valid && !run_last) || behind_q != '0);
      bad_is_last : assert (!(run_valid && run_bad) || run_last);
      offer_holds : assert (!held_q || (run_valid && offer_q == {run_addr, run_bytes, run_last, run_bad, 1'b0}));
      // Invariants for induction.
      rest_is_left : assert (!dut.active_q || (dut.rest_q == left_q && left_q != '0));
      element_is_some : assert (!(dut.active_q && dut.strided_q) || dut.element_q != '0);
      size_is_some : assert (!(dut.active_q && dut.strided_q) || dut.size != '0);
      checked :
      assert (!dut.check_q || (dut.active_q && dut.bytes_q != '0 &&
          dut.bytes_q == (dut.cut ? 18'(dut.size) : dut.rest_q) && dut.last_q == !dut.cut &&
          dut.addr_q == dut.base_q + dut.start_q[28:0]));
      // The claims are not vacuous.
      second : cover (run_valid && !run_bad && !run_last);
      bad : cover (run_valid && run_bad);
    end
  end
endmodule
