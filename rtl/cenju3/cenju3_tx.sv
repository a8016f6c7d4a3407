// SPDX-License-Identifier: MIT OR Apache-2.0
// Cenju-3 NIC, way out: bus words of the IO clock become 16-bit flits of the network clock, with a gap after each
// packet.
//
// Handshake  valid/ready/data/last streams; input in the IO domain, output in the network domain. All outputs are
//            flip-flops or the AND of two.
// Crossing   asynchronous FIFO of 16 words; `gap_i` is quasi-static (see cenju3_regs).
// Rate       1 flit per network cycle, no bubble between words or packets beyond the gap.
// Reset      the reset of either domain empties the crossing; reset both, or packets may be cut.
// net_active_o (of the network clock) something is inside, or a gap is counted.
// Source     two clocks: paper section 2; the gap stands for the 36 of 38 MB/s that the paper measured.
module cenju3_tx #(
    parameter int BusW = 32,  // bits of a bus word, multiple of LinkW
    parameter int LinkW = 16,  // bits of a flit
    localparam int KeepW = $clog2(BusW / LinkW)
) (
    input logic io_clk_i,
    input logic io_rst_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [BusW-1:0] in_data_i,
    input logic [KeepW-1:0] in_keep_i,
    input logic in_last_i,

    input logic net_clk_i,
    input logic net_rst_i,
    input logic [7:0] gap_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [LinkW-1:0] out_data_o,
    output logic out_last_o,
    output logic net_active_o
);
  logic cross_valid, cross_ready, cross_last;
  logic [ BusW-1:0] cross_data;
  logic [KeepW-1:0] cross_keep;
  async_fifo #(
      .W(BusW + KeepW + 1),
      .Depth(16)
  ) u_cross (
      .in_clk_i(io_clk_i),
      .in_rst_i(io_rst_i),
      .in_valid_i,
      .in_ready_o,
      .in_data_i({in_last_i, in_keep_i, in_data_i}),
      .out_clk_i(net_clk_i),
      .out_rst_i(net_rst_i),
      .out_valid_o(cross_valid),
      .out_ready_i(cross_ready),
      .out_data_o({cross_last, cross_keep, cross_data})
  );

  logic flit_valid, flit_ready, flit_last, gap_busy;
  logic [LinkW-1:0] flit_data;
  stream_down #(
      .UnitW(LinkW),
      .Ratio(BusW / LinkW)
  ) u_down (
      .clk_i(net_clk_i),
      .rst_i(net_rst_i),
      .in_valid_i(cross_valid),
      .in_ready_o(cross_ready),
      .in_data_i(cross_data),
      .in_keep_i(cross_keep),
      .in_last_i(cross_last),
      .out_valid_o(flit_valid),
      .out_ready_i(flit_ready),
      .out_data_o(flit_data),
      .out_last_o(flit_last)
  );

  stream_gap #(
      .W(LinkW)
  ) u_gap (
      .clk_i(net_clk_i),
      .rst_i(net_rst_i),
      .gap_i,
      .in_valid_i(flit_valid),
      .in_ready_o(flit_ready),
      .in_data_i(flit_data),
      .in_last_i(flit_last),
      .out_valid_o,
      .out_ready_i,
      .out_data_o,
      .out_last_o,
      .busy_o(gap_busy)
  );
  assign net_active_o = cross_valid || flit_valid || gap_busy;
endmodule
