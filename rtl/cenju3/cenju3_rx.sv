// SPDX-License-Identifier: MIT OR Apache-2.0
// Cenju-3 NIC, way in: 16-bit flits of the network clock fill the receive FIFO as bus words and cross to the IO clock.
//
// Handshake  valid/ready/data/last streams; input in the network domain, output in the IO domain. `rx_ready_o` is the
//            AND of two flip-flops.
// Output     the route flit is a word of its own; every other word is full except the last of a packet.
// Threshold  the link stops while the FIFO holds `thresh_i` words or more: at most 2 words later nothing more comes in.
//            The FIFO never overflows, whatever the threshold. `level_o` is its level in the IO domain, some cycles
//            late.
// Crossing   asynchronous FIFO of 16 words behind the receive FIFO; the level as Gray code; `thresh_i` is quasi-static
//            (see cenju3_regs).
// Reset      the reset of either domain empties the crossing; reset both, or packets may be cut.
// net_active_o (of the network clock) something moves; low also when all is full and the Receiver takes nothing.
// Source     receive FIFO between network and Receiver: paper section 3.2 (Fig 4); its threshold is our reading of 6.3.
module cenju3_rx #(
    parameter  int BusW      = 32,                   // bits of a bus word, multiple of LinkW
    parameter  int LinkW     = 16,                   // bits of a flit
    parameter  int FifoWords = 512,                  // depth of the receive FIFO, 4 to 32768
    localparam int KeepW     = $clog2(BusW / LinkW)
) (
    input logic net_clk_i,
    input logic net_rst_i,
    input logic [15:0] thresh_i,
    input logic rx_valid_i,
    output logic rx_ready_o,
    input logic [LinkW-1:0] rx_data_i,
    input logic rx_last_i,
    output logic net_active_o,

    input logic io_clk_i,
    input logic io_rst_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [BusW-1:0] out_data_o,
    output logic [KeepW-1:0] out_keep_o,
    output logic out_last_o,
    output logic [15:0] level_o
);
  localparam int LevelW = $clog2(FifoWords + 1);
  localparam int WordW = BusW + KeepW + 1;

  if (BusW % LinkW != 0) begin : gen_bad_bus
    cenju3_rx_BusW_must_be_a_multiple_of_LinkW u_bad ();
  end
  if (FifoWords < 4 || FifoWords > 32768) begin : gen_bad_fifo
    cenju3_rx_FifoWords_must_be_4_to_32768 u_bad ();
  end

  // ----------------------------------------------------------------------------------------------- words, receive FIFO
  logic open_q, first_q, up_ready, take;
  logic [LevelW-1:0] level, gray_q;
  assign rx_ready_o = open_q && up_ready;
  assign take = rx_valid_i && rx_ready_o;
  always_ff @(posedge net_clk_i) begin
    open_q <= 16'(level) < thresh_i;
    gray_q <= level ^ (level >> 1);
    if (take) first_q <= rx_last_i;
    if (net_rst_i) begin
      open_q  <= 1'b0;
      first_q <= 1'b1;
      gray_q  <= '0;
    end
  end

  logic up_valid, fifo_in_ready, up_last;
  logic [ BusW-1:0] up_data;
  logic [KeepW-1:0] up_keep;
  stream_up #(
      .UnitW(LinkW),
      .Ratio(BusW / LinkW)
  ) u_up (
      .clk_i(net_clk_i),
      .rst_i(net_rst_i),
      .in_valid_i(take),
      .in_ready_o(up_ready),
      .in_data_i(rx_data_i),
      .in_flush_i(first_q),
      .in_last_i(rx_last_i),
      .out_valid_o(up_valid),
      .out_ready_i(fifo_in_ready),
      .out_data_o(up_data),
      .out_keep_o(up_keep),
      .out_last_o(up_last)
  );

  logic fifo_valid, cross_ready;
  logic [WordW-1:0] fifo_data;
  fifo_bram #(
      .W(WordW),
      .Depth(FifoWords)
  ) u_fifo (
      .clk_i(net_clk_i),
      .rst_i(net_rst_i),
      .in_valid_i(up_valid),
      .in_ready_o(fifo_in_ready),
      .in_data_i({up_last, up_keep, up_data}),
      .out_valid_o(fifo_valid),
      .out_ready_i(cross_ready),
      .out_data_o(fifo_data),
      .level_o(level)
  );

  assign net_active_o = take || (up_valid && fifo_in_ready) || (fifo_valid && cross_ready);

  // --------------------------------------------------------------------------------------------------- to the IO clock
  async_fifo #(
      .W(WordW),
      .Depth(16)
  ) u_cross (
      .in_clk_i  (net_clk_i),
      .in_rst_i  (net_rst_i),
      .in_valid_i(fifo_valid),
      .in_ready_o(cross_ready),
      .in_data_i (fifo_data),
      .out_clk_i (io_clk_i),
      .out_rst_i (io_rst_i),
      .out_valid_o,
      .out_ready_i,
      .out_data_o({out_last_o, out_keep_o, out_data_o})
  );

  logic [LevelW-1:0] gray, binary_d;
  cdc_sync #(
      .W(LevelW)
  ) u_level (
      .clk_i (io_clk_i),
      .data_i(gray_q),
      .data_o(gray)
  );
  always_comb begin
    binary_d = gray;
    for (int i = 1; i < LevelW; i++) binary_d = binary_d ^ (gray >> i);
  end
  always_ff @(posedge io_clk_i) level_o <= io_rst_i ? 16'b0 : 16'(binary_d);
endmodule
