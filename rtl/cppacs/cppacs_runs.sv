// CP-PACS NIA, runs: the bytes of a transfer that are contiguous in memory, run by run.
//
// Job        taken whole. A run starts at an offset and stays below `job_limit_i`, both from `job_base_i`. All are
//            multiples of 8, `job_bytes_i` above 0. Strided: first `job_left_i` bytes, which end an element, then
//            elements of `job_element_i` bytes, `job_step_i` from start to start; the last one may be shorter.
// Run        address, bytes, `run_last_o`: the job's last. A run outside the limit, or whose offset wraps, is offered
//            with `run_bad_o` and `run_last_o`, and ends the job; its address and bytes do not count.
// Stop       `stop_i` for a cycle ends the job and withdraws its run; no job is taken in it.
// Latency    3 cycles from job to run; a run each 2 cycles.
// Full       one job at a time; the next one is taken while the last run is on offer.
// busy_o     low when no run is on offer or under way.
// Source     contiguous: paper, section 3; strides: the family's library, as is public. The arithmetic is ours.
module cppacs_runs #(
    parameter bit Whole = 1'b0  // 1: a job begins with a whole element, `job_left_i` does not count
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic job_valid_i,
    output logic job_ready_o,
    input logic [31:0] job_base_i,
    input logic [31:0] job_offset_i,
    input logic [31:0] job_limit_i,
    input logic [20:0] job_bytes_i,
    input logic job_strided_i,
    input logic [18:0] job_element_i,
    input logic [18:0] job_left_i,
    input logic [31:0] job_step_i,
    input logic stop_i,

    output logic run_valid_o,
    input logic run_ready_i,
    output logic [31:0] run_addr_o,
    output logic [20:0] run_bytes_o,
    output logic run_last_o,
    output logic run_bad_o
);
  // Numbers of 8 bytes. Offsets have a bit more: what sets it has wrapped.
  logic active_q, check_q, strided_q, valid_q, last_q, load, cut, bad, room, give;
  logic [28:0] base_q, limit_q, addr_q;
  logic [29:0] start_q, end_d, next;
  logic [18:0] over;  // the rest behind a whole element
  logic [30:0] free;
  logic [17:0] rest_q, bytes_q;
  logic [15:0] element_q, size;

  logic unused_low, unused_free;
  assign unused_free = ^free[29:0];
  assign unused_low = ^{job_base_i[2:0], job_offset_i[2:0], job_limit_i[2:0], job_bytes_i[2:0], job_element_i[2:0],
                        job_left_i[2:0], job_step_i[2:0]};

  assign job_ready_o = !active_q;
  assign load = job_valid_i && !active_q;

  if (Whole) begin : gen_whole
    logic [28:0] step_q;
    logic unused_left;
    assign unused_left = ^job_left_i;
    assign size = element_q;
    assign next = start_q + {1'b0, step_q};
    always_ff @(posedge clk_i) if (load) step_q <= job_step_i[31:3];
  end else begin : gen_inside
    // From the end of an element to the start of the next; below 0 where they overlap.
    logic [29:0] gap_q;
    logic [15:0] size_q;
    assign size = size_q;
    assign next = end_d + gap_q;
    always_ff @(posedge clk_i) begin
      if (load) begin
        size_q <= job_left_i[18:3];
        gap_q  <= {1'b0, job_step_i[31:3]} - 30'(job_element_i[18:3]);
      end else if (give) size_q <= element_q;
    end
  end

  // First a run's length and address, then whether it is inside.
  assign over  = {1'b0, rest_q} - 19'(size);
  assign cut   = strided_q && !over[18] && over != '0;
  assign end_d = start_q + 30'(bytes_q);
  assign free  = {2'b00, limit_q} - {1'b0, end_d};
  assign bad   = start_q[29] || free[30];
  assign room  = !valid_q || run_ready_i;
  assign give  = check_q && room;

  always_ff @(posedge clk_i) begin
    if (load) begin
      base_q <= job_base_i[31:3];
      limit_q <= job_limit_i[31:3];
      element_q <= job_element_i[18:3];
      strided_q <= job_strided_i;
      start_q <= {1'b0, job_offset_i[31:3]};
      rest_q <= job_bytes_i[20:3];
    end else if (give) begin
      start_q <= next;
      rest_q  <= over[17:0];  // unless this is the last run
    end
    if (!check_q) begin
      bytes_q <= cut ? 18'(size) : rest_q;
      addr_q  <= base_q + start_q[28:0];
      last_q  <= !cut;
    end
    if (give) begin
      run_addr_o  <= {addr_q, 3'd0};
      run_bytes_o <= {bytes_q, 3'd0};
      run_last_o  <= last_q || bad;
      run_bad_o   <= bad;
    end
    if (rst_i || stop_i) begin
      {active_q, check_q, valid_q} <= '0;
    end else begin
      active_q <= load || (active_q && !(give && (last_q || bad)));
      check_q  <= active_q && (!check_q || !room);
      valid_q  <= give || (valid_q && !run_ready_i);
    end
  end

  assign run_valid_o = valid_q;
  assign busy_o = active_q || valid_q;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i && job_valid_i) begin
      assert (job_bytes_i != '0 && job_bytes_i[2:0] == '0 && job_offset_i[2:0] == '0);
      assert (!job_strided_i || (job_element_i != '0 && job_step_i[2:0] == '0 && (Whole || job_left_i != '0)));
    end
  end
`endif
endmodule
