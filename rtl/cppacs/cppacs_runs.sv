// CP-PACS NIA, runs: the bytes of a transfer that are contiguous in memory, run by run.
//
// Job        taken whole. A run starts at an offset and stays below `job_limit_i`, both from `job_base_i`. All are
//            multiples of 8, `job_bytes_i` above 0. Strided: first `job_left_i` bytes, which end an element, then
//            elements of `job_element_i` bytes, `job_step_i` from start to start; the last one may be shorter.
// Run        address, bytes, `run_last_o`: the job's last. A run outside the limit, or whose offset wraps, is offered
//            with `run_bad_o` and `run_last_o`, and ends the job.
// Stop       `stop_i` for a cycle ends the job and withdraws its run.
// Latency    2 cycles from job to run; a run each 2 cycles.
// Full       one job at a time.
// busy_o     low when no run is on offer or under way.
// Source     contiguous: paper, section 3; strides: the family's library, as is public. The arithmetic is ours.
module cppacs_runs (
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
endmodule
