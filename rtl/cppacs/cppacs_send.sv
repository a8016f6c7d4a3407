// CP-PACS NIA, sender of the data channel: transfers and answers become worms.
//
// Descriptor of `cppacs_desc_pkg`, from fetch (`desc`) and from the answers (`answer`), whose words are a stream each. The
//            two alternate, transfer by transfer. One waits while another is sent.
module cppacs_send (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic desc_valid_i,
    output logic desc_ready_o,
    input logic [3:0] desc_index_i,
    input logic [31:0] desc_data_i,
    input logic answer_valid_i,
    output logic answer_ready_o,
    input logic [3:0] answer_index_i,
    input logic [31:0] answer_data_i,

    output logic read_valid_o,
    input logic read_ready_i,
    output logic [31:0] read_addr_o,
    output logic [20:0] read_bytes_o,
    input logic data_valid_i,
    output logic data_ready_o,
    input logic [31:0] data_data_i,
    input logic data_last_i,
    input logic data_err_i,

    output logic job_valid_o,
    input logic job_ready_i,
    output logic [31:0] job_addr_o,
    output logic [31:0] job_data_o,
    input logic job_take_i,
    input logic job_done_i,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic [31:0] out_data_o,
    output logic out_last_o,

    output logic sending_o,  // a transfer or an answer is under way
    output logic sent_o,  // pulse: a worm is out
    output logic words_o,  // pulse: a word of payload is out
    output logic answered_o,  // pulse: an answer is out
    output logic refused_o,  // pulse: the transfer was refused, or was given up
    output logic [2:0] refused_process_o,
    output logic [15:0] refused_tcw_o,
    output logic [3:0] refused_reason_o
);
endmodule
