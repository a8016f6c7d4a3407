// SPDX-License-Identifier: MIT OR Apache-2.0
// `cenju3_rx` turns flits into words, in order and whole, and its receive FIFO never overflows.
//
// - The link is open exactly while the FIFO is below the threshold and takes words.
// - At most two words come in after the link stops.
// - The receive FIFO does not overflow, whatever the threshold does.
// - The reported level is the level, and crosses one bit at a time.
//
// The proof ends at the crossing, a model that takes words at any time. FIFO and crossing have proofs of their own;
// both clocks are one here. Nothing is assumed of the link.
module prove_cenju3_rx #(
    parameter int BusW = 4,
    parameter int LinkW = 2,
    parameter int FifoWords = 4,
    localparam int Ratio = BusW / LinkW,
    localparam int KeepW = $clog2(Ratio)
) (
    input logic clk_i,
    input logic rst_i,
    input logic io_rst_i,
    input logic [15:0] thresh_i,
    input logic rx_valid_i,
    input logic [LinkW-1:0] rx_data_i,
    input logic rx_last_i,
    input logic out_ready_i,
    input logic mark_i
);
  localparam int WordW = BusW + KeepW + 1;
  localparam int Capacity = 2;  // whole words between the link and the FIFO

  logic rx_ready, net_active, out_valid, out_last;
  logic [BusW-1:0] out_data;
  logic [KeepW-1:0] out_keep;
  logic [15:0] reported;

  cenju3_rx #(
      .BusW(BusW),
      .LinkW(LinkW),
      .FifoWords(FifoWords)
  ) dut (
      .net_clk_i(clk_i),
      .net_rst_i(rst_i),
      .thresh_i,
      .rx_valid_i,
      .rx_ready_o(rx_ready),
      .rx_data_i,
      .rx_last_i,
      .net_active_o(net_active),
      .io_clk_i(clk_i),
      .io_rst_i,
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o(out_data),
      .out_keep_o(out_keep),
      .out_last_o(out_last),
      .level_o(reported)
  );
  power_up u_power_up (.*);

  // ------------------------------------------------------------------------------------------------------------- words
  // The words made of flits: the first flit of a packet alone, then Ratio of them, or fewer at the end.
  logic take, first_q, done;
  logic [KeepW-1:0] have_q;
  logic [BusW-1:0] part_q, word;
  assign take = rx_valid_i && rx_ready;
  assign done = first_q || rx_last_i || have_q == KeepW'(Ratio - 1);
  assign word = part_q | (BusW'(rx_data_i) << (int'(have_q) * LinkW));
  always_ff @(posedge clk_i) begin
    if (take) begin
      first_q <= rx_last_i;
      have_q  <= done ? '0 : have_q + KeepW'(1);
      part_q  <= done ? '0 : word;
    end
    if (rst_i) begin
      first_q <= 1'b1;
      have_q  <= '0;
      part_q  <= '0;
    end
  end

  logic enters, follow;
  logic [1:0] count, ahead;
  logic [WordW-1:0] followed;
  assign enters = dut.up_valid && dut.fifo_in_ready;
  stream_track #(
      .W(WordW),
      .Capacity(Capacity)
  ) u_track (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(take && done),
      .in_data_i({rx_last_i, have_q, word}),
      .pop_i(enters),
      .out_data_i({dut.up_last, dut.up_keep, dut.up_data}),
      .inside_o(count),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(followed)
  );

  // --------------------------------------------------------------------------------------------------------- threshold
  logic [15:0] level;
  assign level = 16'(dut.level);
  // The edge before, and the levels of the last four.
  logic [3:0][15:0] level_q;
  logic below_q, reset_q;
  logic [3:0] disturbed_q;  // a reset in the last cycles
  // Words that entered since the FIFO was last below the threshold.
  logic [1:0] over_q;
  always_ff @(posedge clk_i) begin
    level_q <= {level_q[2:0], level};
    below_q <= level < thresh_i;
    reset_q <= rst_i;
    disturbed_q <= {disturbed_q[2:0], rst_i};
    over_q <= (rst_i || level < thresh_i) ? 2'd0 : over_q + 2'(enters);
  end

  logic [$clog2(FifoWords + 1)-1:0] gray_before_q;
  logic io_reset_q;
  always_ff @(posedge clk_i) begin
    gray_before_q <= dut.gray_q;
    io_reset_q <= io_rst_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      open_as_reported : assert (rx_ready == (!reset_q && below_q && count != 2'(Capacity)));
      stopped_in_time : assert (over_q <= 2'd2);
      never_overflows : assert (!enters || level != 16'(FifoWords));
      level_crosses_bit_by_bit : assert (reset_q || $onehot0(dut.gray_q ^ gray_before_q));
      if (disturbed_q == '0) begin
        level_is_reported : assert (reported == (io_reset_q ? '0 : level_q[3]));
      end
      last_word_over : cover (over_q == 2'd2);
      stopped_early : cover (!rx_ready && level < 16'(FifoWords) && level >= thresh_i && count == '0);
      full : cover (level == 16'(FifoWords) && !rx_ready && level < thresh_i);
      // Invariants for induction.
      on_its_way : assert (level < thresh_i || int'(over_q) + int'(count) + int'(rx_ready) <= 2);
      part : assert (first_q == dut.first_q && have_q == dut.u_up.unit_q && part_q == dut.u_up.part_q);
      level_possible : assert (level <= 16'(FifoWords));
      nothing_above : assert (part_q >> (int'(have_q) * LinkW) == '0);
      counted : assert (count == dut.u_up.u_fifo.level_q);
      in_place : assert (!follow || dut.u_up.u_fifo.mem_q[dut.u_up.u_fifo.rd_q^ahead[0]] == followed);
      places : assert (dut.u_up.u_fifo.wr_q == (dut.u_up.u_fifo.rd_q ^ count[0]));
    end
  end
endmodule
