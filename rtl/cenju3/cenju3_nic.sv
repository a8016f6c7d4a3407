// SPDX-License-Identifier: MIT OR Apache-2.0
// Cenju-3 network interface: Sender, Receiver, registers, and the two crossings between IO bus and network.
//
//   host registers ── regs ──┬── sender ── tx ──> link out
//   memory (read, write) ────┴── receiver ── rx <── link in
//
// Handshake  valid/ready everywhere; memory commands are single-issue, data and responses in order. Every output is a
//            flip-flop, the AND of two, or a memory addressed by flip-flops.
// Clocks     `io_clk_i` (25 MHz on the machine) and `net_clk_i` (20 MHz), any ratio and phase. Each has a synchronous
//            reset. Reset both domains together, in any order, or packets may be cut. Hold both for 8 cycles of the
//            slower clock, or `busy` may fall too early (cenju3_busy).
// level      `rx_level_o`: words in the receive FIFO as R_STAT.LEVEL gives them, in the IO domain, some cycles late.
// busy       while `io_busy_o` and `net_busy_o` are low and no input is valid, no clock edge changes anything, so both
//            clocks may stand. When either is high, both clocks must run: each waits for the other side's echo
//            (cenju3_busy).
// Source     paper sections 2 and 3 (Fig 2, 3, 4).
module cenju3_nic #(
    parameter int BusW = 32,  // bits of a bus word, 32 or 64
    parameter int LinkW = 16,  // bits of a flit, 16
    parameter int FifoWords = 512,  // depth of the receive FIFO in bus words, 32 to 32768
    parameter int BurstBeats = 8,  // words in the longest burst, power of two
    parameter int Outstanding = 4  // bursts that may await data or response, each way
) (
    input logic io_clk_i,
    input logic io_rst_i,
    input logic net_clk_i,
    input logic net_rst_i,

    input logic host_req_valid_i,
    output logic host_req_ready_o,
    input logic host_req_write_i,
    input logic [7:0] host_req_addr_i,
    input logic [31:0] host_req_wdata_i,
    input logic [3:0] host_req_wstrb_i,
    output logic host_rsp_valid_o,
    input logic host_rsp_ready_i,
    output logic [31:0] host_rsp_rdata_o,
    output logic host_rsp_err_o,
    output logic irq_o,

    output logic mem_rd_cmd_valid_o,
    input logic mem_rd_cmd_ready_i,
    output logic [31:0] mem_rd_cmd_addr_o,
    output logic [7:0] mem_rd_cmd_len_o,
    input logic mem_rd_data_valid_i,
    output logic mem_rd_data_ready_o,
    input logic [BusW-1:0] mem_rd_data_data_i,
    input logic mem_rd_data_last_i,
    input logic mem_rd_data_err_i,

    output logic mem_wr_cmd_valid_o,
    input logic mem_wr_cmd_ready_i,
    output logic [31:0] mem_wr_cmd_addr_o,
    output logic [7:0] mem_wr_cmd_len_o,
    output logic mem_wr_data_valid_o,
    input logic mem_wr_data_ready_i,
    output logic [BusW-1:0] mem_wr_data_data_o,
    output logic [BusW/8-1:0] mem_wr_data_strb_o,
    output logic mem_wr_data_last_o,
    input logic mem_wr_rsp_valid_i,
    output logic mem_wr_rsp_ready_o,
    input logic mem_wr_rsp_err_i,

    output logic tx_valid_o,
    input logic tx_ready_i,
    output logic [LinkW-1:0] tx_data_o,
    output logic tx_last_o,
    input logic rx_valid_i,
    output logic rx_ready_o,
    input logic [LinkW-1:0] rx_data_i,
    input logic rx_last_i,
    output logic [15:0] rx_level_o,

    output logic io_busy_o,
    output logic net_busy_o
);
  if (LinkW != 16) begin : g_bad
    cenju3_nic_LinkW_must_be_16 u_bad ();
  end
  localparam int KeepW = $clog2(BusW / LinkW);

  logic [1:0][31:0] sq_base;
  logic [1:0][7:0] sq_put, sq_get;
  logic [1:0][3:0] sq_error;
  logic [1:0] sq_resume, sq_empty, sq_halted, sq_sent, sq_failed;
  logic s_busy;
  logic [3:0][31:0] ring_base;
  logic [3:0][16:0] ring_size;
  logic [3:0][15:0] ring_put, ring_put1, ring_get;
  logic [15:0] dma_put2;
  logic [ 3:0] ring_publish;
  logic run, restart, halt_arrival, halted, drop, drop_known;
  logic [ 1:0] halt_end;
  logic [ 6:0] cause;
  logic [31:0] drop_head;
  logic [15:0] level, r_thresh;
  logic [7:0] node_id, s_gap;

  cenju3_regs #(
      .FifoWords(FifoWords)
  ) u_regs (
      .clk_i(io_clk_i),
      .rst_i(io_rst_i),
      .host_req_valid_i,
      .host_req_ready_o,
      .host_req_write_i,
      .host_req_addr_i,
      .host_req_wdata_i,
      .host_req_wstrb_i,
      .host_rsp_valid_o,
      .host_rsp_ready_i,
      .host_rsp_rdata_o,
      .host_rsp_err_o,
      .irq_o,
      .sq_base_o(sq_base),
      .sq_put_o(sq_put),
      .sq_resume_o(sq_resume),
      .sq_get_i(sq_get),
      .sq_empty_i(sq_empty),
      .sq_halted_i(sq_halted),
      .sq_error_i(sq_error),
      .sq_sent_i(sq_sent),
      .sq_failed_i(sq_failed),
      .s_busy_i(s_busy),
      .ring_base_o(ring_base),
      .ring_size_o(ring_size),
      .ring_put_o(ring_put),
      .ring_put1_o(ring_put1),
      .dma_put2_o(dma_put2),
      .ring_get_o(ring_get),
      .ring_publish_i(ring_publish),
      .run_o(run),
      .restart_o(restart),
      .halt_arrival_o(halt_arrival),
      .halt_end_o(halt_end),
      .halted_i(halted),
      .cause_i(cause),
      .drop_i(drop),
      .drop_known_i(drop_known),
      .drop_head_i(drop_head),
      .level_i(level),
      .node_id_o(node_id),
      .s_gap_o(s_gap),
      .r_thresh_o(r_thresh)
  );

  // --------------------------------------------------------------------------------------------------------------- out
  logic out_valid, out_ready, out_last, sender_busy, tx_active;
  logic [ BusW-1:0] out_data;
  logic [KeepW-1:0] out_keep;
  logic status_valid, status_ready, status_done;
  logic [31:0] status_addr, status_data;

  cenju3_sender #(
      .BusW(BusW),
      .BurstBeats(BurstBeats),
      .Outstanding(Outstanding)
  ) u_sender (
      .clk_i(io_clk_i),
      .rst_i(io_rst_i),
      .busy_o(sender_busy),
      .node_id_i(node_id),
      .sq_base_i(sq_base),
      .sq_put_i(sq_put),
      .sq_resume_i(sq_resume),
      .sq_get_o(sq_get),
      .sq_empty_o(sq_empty),
      .sq_halted_o(sq_halted),
      .sq_error_o(sq_error),
      .sq_sent_o(sq_sent),
      .sq_failed_o(sq_failed),
      .s_busy_o(s_busy),
      .mem_cmd_valid_o(mem_rd_cmd_valid_o),
      .mem_cmd_ready_i(mem_rd_cmd_ready_i),
      .mem_cmd_addr_o(mem_rd_cmd_addr_o),
      .mem_cmd_len_o(mem_rd_cmd_len_o),
      .mem_data_valid_i(mem_rd_data_valid_i),
      .mem_data_ready_o(mem_rd_data_ready_o),
      .mem_data_data_i(mem_rd_data_data_i),
      .mem_data_last_i(mem_rd_data_last_i),
      .mem_data_err_i(mem_rd_data_err_i),
      .status_valid_o(status_valid),
      .status_ready_i(status_ready),
      .status_addr_o(status_addr),
      .status_data_o(status_data),
      .status_done_i(status_done),
      .out_valid_o(out_valid),
      .out_ready_i(out_ready),
      .out_data_o(out_data),
      .out_keep_o(out_keep),
      .out_last_o(out_last)
  );

  cenju3_tx #(
      .BusW (BusW),
      .LinkW(LinkW)
  ) u_tx (
      .io_clk_i,
      .io_rst_i,
      .in_valid_i(out_valid),
      .in_ready_o(out_ready),
      .in_data_i(out_data),
      .in_keep_i(out_keep),
      .in_last_i(out_last),
      .net_clk_i,
      .net_rst_i,
      .gap_i(s_gap),
      .out_valid_o(tx_valid_o),
      .out_ready_i(tx_ready_i),
      .out_data_o(tx_data_o),
      .out_last_o(tx_last_o),
      .net_active_o(tx_active)
  );

  // ---------------------------------------------------------------------------------------------------------------- in
  logic in_valid, in_ready, in_last, receiver_busy, rx_active;
  logic [ BusW-1:0] in_data;
  logic [KeepW-1:0] in_keep;

  cenju3_rx #(
      .BusW(BusW),
      .LinkW(LinkW),
      .FifoWords(FifoWords)
  ) u_rx (
      .net_clk_i,
      .net_rst_i,
      .thresh_i(r_thresh),
      .rx_valid_i,
      .rx_ready_o,
      .rx_data_i,
      .rx_last_i,
      .net_active_o(rx_active),
      .io_clk_i,
      .io_rst_i,
      .out_valid_o(in_valid),
      .out_ready_i(in_ready),
      .out_data_o(in_data),
      .out_keep_o(in_keep),
      .out_last_o(in_last),
      .level_o(level)
  );

  cenju3_receiver #(
      .BusW(BusW),
      .BurstBeats(BurstBeats),
      .Outstanding(Outstanding)
  ) u_receiver (
      .clk_i(io_clk_i),
      .rst_i(io_rst_i),
      .busy_o(receiver_busy),
      .node_id_i(node_id),
      .run_i(run),
      .restart_i(restart),
      .halt_arrival_i(halt_arrival),
      .halt_end_i(halt_end),
      .halted_o(halted),
      .cause_o(cause),
      .drop_o(drop),
      .drop_known_o(drop_known),
      .drop_head_o(drop_head),
      .ring_base_i(ring_base),
      .ring_size_i(ring_size),
      .ring_put_i(ring_put),
      .ring_put1_i(ring_put1),
      .dma_put2_i(dma_put2),
      .ring_get_i(ring_get),
      .ring_publish_o(ring_publish),
      .in_valid_i(in_valid),
      .in_ready_o(in_ready),
      .in_data_i(in_data),
      .in_keep_i(in_keep),
      .in_last_i(in_last),
      .status_valid_i(status_valid),
      .status_ready_o(status_ready),
      .status_addr_i(status_addr),
      .status_data_i(status_data),
      .status_done_o(status_done),
      .mem_cmd_valid_o(mem_wr_cmd_valid_o),
      .mem_cmd_ready_i(mem_wr_cmd_ready_i),
      .mem_cmd_addr_o(mem_wr_cmd_addr_o),
      .mem_cmd_len_o(mem_wr_cmd_len_o),
      .mem_data_valid_o(mem_wr_data_valid_o),
      .mem_data_ready_i(mem_wr_data_ready_i),
      .mem_data_data_o(mem_wr_data_data_o),
      .mem_data_strb_o(mem_wr_data_strb_o),
      .mem_data_last_o(mem_wr_data_last_o),
      .mem_rsp_valid_i(mem_wr_rsp_valid_i),
      .mem_rsp_ready_o(mem_wr_rsp_ready_o),
      .mem_rsp_err_i(mem_wr_rsp_err_i)
  );

  assign rx_level_o = level;

  // -------------------------------------------------------------------------------------------------------------- rest
  logic io_call, io_echo, net_call, net_echo;
  cenju3_busy u_io_busy (
      .clk_i(io_clk_i),
      .rst_i(io_rst_i),
      .active_i(host_req_valid_i || host_rsp_valid_o || sender_busy || receiver_busy),
      .busy_o(io_busy_o),
      .call_o(io_call),
      .call_i(net_call),
      .echo_o(io_echo),
      .echo_i(net_echo)
  );
  cenju3_busy u_net_busy (
      .clk_i(net_clk_i),
      .rst_i(net_rst_i),
      .active_i(tx_active || rx_active),
      .busy_o(net_busy_o),
      .call_o(net_call),
      .call_i(io_call),
      .echo_o(net_echo),
      .echo_i(io_echo)
  );
endmodule
