// CP-PACS NIA, words: all small accesses of memory, one after the other.
//
// Clients    0 receiver (flag), 1 acknowledge receiver, 2 acknowledge sender, 3 fetch (TCWs), 4 sender (flag).
// Job        READ and WRITE: `job_words_i` (1..16) words of 32 bits from `job_addr_i` on, a multiple of 4. SWAP and
//            CSWAP: 2 words, a multiple of 8. `job_valid_i` and what goes with it hold until `job_ready_o`, which
//            pulses once a job, at the latest with its `done_valid_o`.
// Data in    `job_data_i` is the next word that is needed. In a cycle with `data_take_o` it is used, and the next one
//            stands there in the cycle after. WRITE: all its words. SWAP: the new value. CSWAP: the value that is
//            compared, then the new one, both of 2 words, low first; the new one is not taken if the comparison fails.
//            Data may be taken before or after `job_ready_o`; they stand there from `job_valid_i` on.
// Data out   `data_valid_o` of the client for each word that was read, in order, with `data_o` and `data_err_o`; the
//            client always takes it. SWAP and CSWAP: the old value.
// Done       `done_valid_o` for a cycle, with the job's last response; `done_err_o`: memory reported an error in it. A
//            SWAP or CSWAP whose read fails writes nothing.
// Order      one job at a time, the least recently served client first. Nothing of this unit comes between the read
//            and the write of a SWAP or CSWAP.
// Latency    2 cycles from job to memory command, 1 from memory data to `data_valid_o`.
// Fairness   a job that waits is passed over by at most 4 others. It waits for memory only.
// Reset      drops the job; the memory must forget it, too.
// busy_o     low when no job is under way.
// Source     ours.
module cppacs_words (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [4:0] job_valid_i,
    output logic [4:0] job_ready_o,
    input logic [4:0][1:0] job_op_i,  // 0 READ, 1 WRITE, 2 SWAP, 3 CSWAP
    input logic [4:0][31:0] job_addr_i,
    input logic [4:0][4:0] job_words_i,
    input logic [4:0][31:0] job_data_i,
    output logic [4:0] data_take_o,
    output logic [4:0] data_valid_o,
    output logic [31:0] data_o,
    output logic data_err_o,
    output logic [4:0] done_valid_o,
    output logic done_err_o,

    output logic rd_cmd_valid_o,
    input logic rd_cmd_ready_i,
    output logic [31:0] rd_cmd_addr_o,
    output logic [7:0] rd_cmd_len_o,
    input logic rd_data_valid_i,
    output logic rd_data_ready_o,
    input logic [31:0] rd_data_data_i,
    input logic rd_data_last_i,
    input logic rd_data_err_i,

    output logic wr_cmd_valid_o,
    input logic wr_cmd_ready_i,
    output logic [31:0] wr_cmd_addr_o,
    output logic [7:0] wr_cmd_len_o,
    output logic wr_data_valid_o,
    input logic wr_data_ready_i,
    output logic [31:0] wr_data_data_o,
    output logic [3:0] wr_data_strb_o,
    output logic wr_data_last_o,
    input logic wr_rsp_valid_i,
    output logic wr_rsp_ready_o,
    input logic wr_rsp_err_i
);
endmodule
