// SPDX-License-Identifier: MIT OR Apache-2.0
// ULX3S (LFE5U-85F-6BG381C): clocks, reset and LEDs around the self-test of a Cenju-3 NIC.
//
// Clocks     25 MHz from the board's oscillator; PLL (VCO 600 MHz): IO 50 MHz, network 40 MHz, twice the machine's. The
//            design treats them as unrelated.
// Reset      while the PLL has not locked, or FIRE1 is pressed.
// LEDs       7 failed; 6 65,536 parcels passed (some seconds) and none failed; 5:2 the count of parcels in 16,384s, or
//            after a failure the reason (see cenju3_selftest_host); 1 network clock alive; 0 IO clock alive.
// Source     ours; pins in ulx3s.lpf.
module ulx3s_top (
    input logic clk_25mhz,
    input logic fire1_i,
    output logic [7:0] led_o
);
  logic io_clk, net_clk, locked;

  // verilator lint_off PINMISSING
  (* FREQUENCY_PIN_CLKI = "25" *)
  (* FREQUENCY_PIN_CLKOP = "50" *)
  (* FREQUENCY_PIN_CLKOS = "40" *)
  (* ICP_CURRENT = "12" *)
  (* LPF_RESISTOR = "8" *)
  (* MFG_ENABLE_FILTEROPAMP = "1" *)
  (* MFG_GMCREF_SEL = "2" *)
  EHXPLLL #(
      .CLKI_DIV(1),
      .CLKFB_DIV(2),
      .FEEDBK_PATH("CLKOP"),
      .CLKOP_ENABLE("ENABLED"),
      .CLKOP_DIV(12),
      .CLKOP_CPHASE(11),
      .CLKOS_ENABLE("ENABLED"),
      .CLKOS_DIV(15),
      .CLKOS_CPHASE(14)
  ) u_pll (
      .CLKI(clk_25mhz),
      .CLKFB(io_clk),
      .CLKOP(io_clk),
      .CLKOS(net_clk),
      .LOCK(locked),
      .RST(1'b0),
      .STDBY(1'b0),
      .PHASESEL0(1'b0),
      .PHASESEL1(1'b0),
      .PHASEDIR(1'b1),
      .PHASESTEP(1'b1),
      .PHASELOADREG(1'b1),
      .PLLWAKESYNC(1'b0),
      .ENCLKOP(1'b0)
  );
  // verilator lint_on PINMISSING

  logic stop, io_rst, net_rst;
  assign stop = !locked || fire1_i;
  reset_sync u_io_rst (
      .clk_i (io_clk),
      .arst_i(stop),
      .rst_o (io_rst)
  );
  reset_sync u_net_rst (
      .clk_i (net_clk),
      .arst_i(stop),
      .rst_o (net_rst)
  );

  // verilator lint_off UNUSEDSIGNAL
  logic [31:0] rounds;  // the LEDs show some of its bits
  // verilator lint_on UNUSEDSIGNAL
  logic fail;
  logic [2:0] reason;
  cenju3_selftest u_selftest (
      .io_clk_i (io_clk),
      .io_rst_i (io_rst),
      .net_clk_i(net_clk),
      .net_rst_i(net_rst),
      .rounds_o (rounds),
      .fail_o   (fail),
      .reason_o (reason)
  );

  // Half a second on, half a second off, about.
  logic [24:0] io_beat_q, net_beat_q;
  always_ff @(posedge io_clk) io_beat_q <= io_rst ? '0 : io_beat_q + 25'd1;
  always_ff @(posedge net_clk) net_beat_q <= net_rst ? '0 : net_beat_q + 25'd1;

  logic passed_q;
  logic [3:0] shown_q;
  always_ff @(posedge io_clk) begin
    passed_q <= !io_rst && !fail && (passed_q || rounds[16]);
    shown_q  <= fail ? {1'b0, reason} : rounds[17:14];
  end

  assign led_o = {fail, passed_q, shown_q, net_beat_q[24], io_beat_q[24]};
endmodule
