// CP-PACS NIA, registers: the host's window, counters, the interrupt, and the barrier.
//
// Host       one access at a time: request, then response. At most 12 cycles; nothing that the network does holds it up.
// Misuse     an access to an offset that does not exist, a write to a read-only register or with partial strobes, and
//            ARRIVE without MEMBER or while WAITING get `host_rsp_err_o`, change nothing, and are counted.
// Process    `area_*_o` and `tcw_*_o` are those of `process_i`, a cycle later.
// Refusals   a pulse with what was refused: of the kicks in the cycle after `kick_valid_o`; of senders (0 data, 1
//            acknowledge) and receivers (the same) at most one each 16 cycles.
// Counts     `count_i`: a pulse each, by code of Counts. WORDS, WORDS_IN and STALLS may pulse in each cycle, the others
//            each 4 cycles. A register shows a count at the latest 16 cycles later.
// Barrier    to `sync_tree`, one group.
// Reset      all registers are 0, after 128 cycles; the host waits until then.
// busy_o     low when no further edge changes anything while no input is valid.
// Source     ours; the family has a hardware barrier, as is public. Layout: regs.toml.
module cppacs_regs (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic host_req_valid_i,
    output logic host_req_ready_o,
    input logic host_req_write_i,
    input logic [16:0] host_req_addr_i,
    input logic [63:0] host_req_wdata_i,
    input logic [7:0] host_req_wstrb_i,
    output logic host_rsp_valid_o,
    input logic host_rsp_ready_i,
    output logic [63:0] host_rsp_rdata_o,
    output logic host_rsp_err_o,
    output logic irq_o,

    output logic barrier_member_o,
    output logic barrier_arrive_o,
    input  logic barrier_waiting_i,
    input  logic barrier_release_i,

    output logic kick_valid_o,
    output logic [2:0] kick_process_o,  // also the process whose room is asked for
    output logic kick_channel_o,
    output logic [15:0] kick_tcw_o,
    input logic kick_refused_i,
    input logic [1:0][4:0] room_i,
    input logic [7:0] waiting_i,

    output logic table_valid_o,
    output logic table_write_o,
    output logic table_right_o,
    output logic [9:0] table_index_o,
    output logic [1:0] table_word_o,
    output logic [63:0] table_wdata_o,
    input logic table_done_i,
    input logic [63:0] table_rdata_i,

    output logic [12:0] place_o,
    output logic [12:0] last_o,  // highest coordinates of the grid
    output logic run_o,  // CONTROL.SEND
    output logic [31:0] ring_tail_o,
    output logic [4:0] ring_slot_log_o,
    output logic [3:0] ring_slots_log_o,
    input logic [2:0] process_i,
    output logic [31:0] area_base_o,
    output logic [31:0] area_size_o,
    output logic [31:0] tcw_base_o,
    output logic [16:0] tcw_count_o,

    input logic [1:0] sending_i,
    input logic [1:0] receiving_i,
    input logic [9:0] field_i,
    input logic [15:0] answers_i,
    input logic [15:0] drained_i,
    input logic [7:0] count_i,
    input logic [1:0] shut_i,
    input logic [1:0] notify_valid_i,
    input logic [1:0][12:0] notify_src_i,
    input logic [1:0][9:0] notify_field_i,
    input logic [1:0] send_refused_valid_i,
    input logic [1:0][2:0] send_refused_process_i,
    input logic [1:0][15:0] send_refused_tcw_i,
    input logic [1:0][3:0] send_refused_reason_i,
    input logic [1:0] recv_refused_valid_i,
    input logic [1:0][12:0] recv_refused_src_i,
    input logic [1:0][9:0] recv_refused_field_i,
    input logic [1:0][2:0] recv_refused_kind_i,
    input logic [1:0][3:0] recv_refused_reason_i
);
endmodule
