// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1, crossings between the core's clock and the link's, each way, and the rest of both clock domains.
//
// Handshake  valid/ready/data/last streams. Names with `link` are in the link's clock domain.
// Latency    3 edges of the clock of the output, one more by phase (async_fifo). 1 word per cycle of the slower clock.
// Full       16 words towards the link, 64 towards the core; then the stream waits.
// Reset      the reset of either domain empties both crossings. Reset both, and hold both for 8 cycles of the slower
//            clock, or packets may be cut and `busy` may fall too early.
// busy       `core_active_i`: some other block of the card is busy. While `core_busy_o` and `link_busy_o` are low and
//            no input is valid, no clock edge changes anything, so both clocks may stand. When either is high, both
//            clocks must run (cenju3_busy). A word that the receiver does not take keeps nothing busy.
// Source     two clocks: paper Table 1, core 50 MHz and link 500 MB/s, which is 62.5 MHz with words of 64 bits.
module dimmnet1_link (
    input logic clk_i,
    input logic rst_i,
    input logic core_active_i,
    output logic core_busy_o,
    input logic tx_valid_i,
    output logic tx_ready_o,
    input logic [63:0] tx_data_i,
    input logic tx_last_i,
    output logic rx_valid_o,
    input logic rx_ready_i,
    output logic [63:0] rx_data_o,
    output logic rx_last_o,

    input logic link_clk_i,
    input logic link_rst_i,
    output logic link_busy_o,
    output logic link_tx_valid_o,
    input logic link_tx_ready_i,
    output logic [63:0] link_tx_data_o,
    output logic link_tx_last_o,
    input logic link_rx_valid_i,
    output logic link_rx_ready_o,
    input logic [63:0] link_rx_data_i,
    input logic link_rx_last_i
);
  async_fifo #(
      .W(65),
      .Depth(16)
  ) u_tx (
      .in_clk_i(clk_i),
      .in_rst_i(rst_i),
      .in_valid_i(tx_valid_i),
      .in_ready_o(tx_ready_o),
      .in_data_i({tx_last_i, tx_data_i}),
      .out_clk_i(link_clk_i),
      .out_rst_i(link_rst_i),
      .out_valid_o(link_tx_valid_o),
      .out_ready_i(link_tx_ready_i),
      .out_data_o({link_tx_last_o, link_tx_data_o})
  );
  async_fifo #(
      .W(65),
      .Depth(64)
  ) u_rx (
      .in_clk_i(link_clk_i),
      .in_rst_i(link_rst_i),
      .in_valid_i(link_rx_valid_i),
      .in_ready_o(link_rx_ready_o),
      .in_data_i({link_rx_last_i, link_rx_data_i}),
      .out_clk_i(clk_i),
      .out_rst_i(rst_i),
      .out_valid_o(rx_valid_o),
      .out_ready_i(rx_ready_i),
      .out_data_o({rx_last_o, rx_data_o})
  );

  logic core_call, core_echo, link_call, link_echo;
  cenju3_busy u_core_busy (
      .clk_i,
      .rst_i,
      .active_i(core_active_i || tx_valid_i || (rx_valid_o && rx_ready_i)),
      .busy_o  (core_busy_o),
      .call_o  (core_call),
      .call_i  (link_call),
      .echo_o  (core_echo),
      .echo_i  (link_echo)
  );
  cenju3_busy u_link_busy (
      .clk_i(link_clk_i),
      .rst_i(link_rst_i),
      .active_i(link_tx_valid_o || (link_rx_valid_i && link_rx_ready_o)),
      .busy_o(link_busy_o),
      .call_o(link_call),
      .call_i(core_call),
      .echo_o(link_echo),
      .echo_i(core_echo)
  );
endmodule
