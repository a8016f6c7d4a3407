// SPDX-License-Identifier: MIT OR Apache-2.0
// Self-test of a Cenju-3 NIC on a board: a NIC looped through a 4x4 switch, block RAM as memory, a state machine as
// host.
//
//   cenju3_selftest_host ──┬── registers ── cenju3_nic ── link ──> any input ─┐
//                          └── mem_bram ──────┘  └─────── link <── any output ┴ cenju3_switch
//
// Purpose    everything on the board except its clocks and pins, so it also runs in simulation.
// Clocks     as cenju3_nic; both resets together.
// Outcome    `rounds_o` parcels passed so far. `fail_o` stays high after a failure, with `reason_o`: see
//            cenju3_selftest_host. All in the IO domain.
// Crossing   the selection of the switch's ports, static while packets are in flight.
// Source     ours.
module cenju3_selftest #(
    parameter int TimeoutCycles = 65536  // as cenju3_selftest_host
) (
    input logic io_clk_i,
    input logic io_rst_i,
    input logic net_clk_i,
    input logic net_rst_i,
    output logic [31:0] rounds_o,
    output logic fail_o,
    output logic [2:0] reason_o
);
  localparam int Ports = 4;
  localparam int LinkW = 16;

  // -------------------------------------------------------------------------------------------------------------- host
  logic req_valid, req_ready, req_write, rsp_valid, rsp_ready, rsp_err, irq;
  logic [7:0] req_addr;
  logic [31:0] req_wdata, rsp_rdata;

  logic own;
  logic host_rd_cmd_valid, host_rd_data_ready, host_wr_cmd_valid, host_wr_data_valid, host_wr_rsp_ready;
  logic [31:0] host_mem_addr, host_wr_data;
  logic [3:0] lane, net_lane;

  logic rd_cmd_ready, rd_data_valid, rd_data_last, rd_data_err;
  logic wr_cmd_ready, wr_data_ready, wr_rsp_valid, wr_rsp_err;
  logic [31:0] rd_data;

  cenju3_selftest_host #(
      .TimeoutCycles(TimeoutCycles)
  ) u_host (
      .clk_i(io_clk_i),
      .rst_i(io_rst_i),
      .req_valid_o(req_valid),
      .req_ready_i(req_ready),
      .req_write_o(req_write),
      .req_addr_o(req_addr),
      .req_wdata_o(req_wdata),
      .rsp_valid_i(rsp_valid),
      .rsp_ready_o(rsp_ready),
      .rsp_rdata_i(rsp_rdata),
      .rsp_err_i(rsp_err),
      .irq_i(irq),
      .mem_own_o(own),
      .rd_cmd_valid_o(host_rd_cmd_valid),
      .rd_cmd_ready_i(rd_cmd_ready),
      .rd_data_valid_i(rd_data_valid),
      .rd_data_ready_o(host_rd_data_ready),
      .rd_data_data_i(rd_data),
      .rd_data_err_i(rd_data_err),
      .wr_cmd_valid_o(host_wr_cmd_valid),
      .wr_cmd_ready_i(wr_cmd_ready),
      .wr_data_valid_o(host_wr_data_valid),
      .wr_data_ready_i(wr_data_ready),
      .wr_data_data_o(host_wr_data),
      .wr_rsp_valid_i(wr_rsp_valid),
      .wr_rsp_ready_o(host_wr_rsp_ready),
      .wr_rsp_err_i(wr_rsp_err),
      .mem_addr_o(host_mem_addr),
      .lane_o(lane),
      .rounds_o,
      .fail_o,
      .reason_o
  );

  // --------------------------------------------------------------------------------------------------------------- NIC
  logic nic_rd_cmd_valid, nic_rd_data_ready, nic_wr_cmd_valid, nic_wr_data_valid, nic_wr_data_last, nic_wr_rsp_ready;
  logic [31:0] nic_rd_addr, nic_wr_addr, nic_wr_data;
  logic [7:0] nic_rd_len, nic_wr_len;
  logic [3:0] nic_wr_strb;
  logic tx_valid, tx_ready, tx_last, rx_valid, rx_ready, rx_last;
  logic [LinkW-1:0] tx_data, rx_data;
  logic unused_io_busy, unused_net_busy;
  logic [15:0] unused_rx_level;

  cenju3_nic u_nic (
      .io_clk_i,
      .io_rst_i,
      .net_clk_i,
      .net_rst_i,
      .host_req_valid_i(req_valid),
      .host_req_ready_o(req_ready),
      .host_req_write_i(req_write),
      .host_req_addr_i(req_addr),
      .host_req_wdata_i(req_wdata),
      .host_req_wstrb_i(4'b1111),
      .host_rsp_valid_o(rsp_valid),
      .host_rsp_ready_i(rsp_ready),
      .host_rsp_rdata_o(rsp_rdata),
      .host_rsp_err_o(rsp_err),
      .irq_o(irq),
      .mem_rd_cmd_valid_o(nic_rd_cmd_valid),
      .mem_rd_cmd_ready_i(rd_cmd_ready && !own),
      .mem_rd_cmd_addr_o(nic_rd_addr),
      .mem_rd_cmd_len_o(nic_rd_len),
      .mem_rd_data_valid_i(rd_data_valid && !own),
      .mem_rd_data_ready_o(nic_rd_data_ready),
      .mem_rd_data_data_i(rd_data),
      .mem_rd_data_last_i(rd_data_last),
      .mem_rd_data_err_i(rd_data_err),
      .mem_wr_cmd_valid_o(nic_wr_cmd_valid),
      .mem_wr_cmd_ready_i(wr_cmd_ready && !own),
      .mem_wr_cmd_addr_o(nic_wr_addr),
      .mem_wr_cmd_len_o(nic_wr_len),
      .mem_wr_data_valid_o(nic_wr_data_valid),
      .mem_wr_data_ready_i(wr_data_ready && !own),
      .mem_wr_data_data_o(nic_wr_data),
      .mem_wr_data_strb_o(nic_wr_strb),
      .mem_wr_data_last_o(nic_wr_data_last),
      .mem_wr_rsp_valid_i(wr_rsp_valid && !own),
      .mem_wr_rsp_ready_o(nic_wr_rsp_ready),
      .mem_wr_rsp_err_i(wr_rsp_err),
      .tx_valid_o(tx_valid),
      .tx_ready_i(tx_ready),
      .tx_data_o(tx_data),
      .tx_last_o(tx_last),
      .rx_valid_i(rx_valid),
      .rx_ready_o(rx_ready),
      .rx_data_i(rx_data),
      .rx_last_i(rx_last),
      .rx_level_o(unused_rx_level),
      .io_busy_o(unused_io_busy),
      .net_busy_o(unused_net_busy)
  );

  // ---------------------------------------------------- memory: the NIC's while the host waits for it, else the host's
  mem_bram u_mem (
      .clk_i(io_clk_i),
      .rst_i(io_rst_i),
      .rd_cmd_valid_i(own ? host_rd_cmd_valid : nic_rd_cmd_valid),
      .rd_cmd_ready_o(rd_cmd_ready),
      .rd_cmd_addr_i(own ? host_mem_addr : nic_rd_addr),
      .rd_cmd_len_i(own ? 8'd0 : nic_rd_len),
      .rd_data_valid_o(rd_data_valid),
      .rd_data_ready_i(own ? host_rd_data_ready : nic_rd_data_ready),
      .rd_data_data_o(rd_data),
      .rd_data_last_o(rd_data_last),
      .rd_data_err_o(rd_data_err),
      .wr_cmd_valid_i(own ? host_wr_cmd_valid : nic_wr_cmd_valid),
      .wr_cmd_ready_o(wr_cmd_ready),
      .wr_cmd_addr_i(own ? host_mem_addr : nic_wr_addr),
      .wr_cmd_len_i(own ? 8'd0 : nic_wr_len),
      .wr_data_valid_i(own ? host_wr_data_valid : nic_wr_data_valid),
      .wr_data_ready_o(wr_data_ready),
      .wr_data_data_i(own ? host_wr_data : nic_wr_data),
      .wr_data_strb_i(own ? 4'b1111 : nic_wr_strb),
      .wr_data_last_i(own || nic_wr_data_last),
      .wr_rsp_valid_o(wr_rsp_valid),
      .wr_rsp_ready_i(own ? host_wr_rsp_ready : nic_wr_rsp_ready),
      .wr_rsp_err_o(wr_rsp_err)
  );

  // ------------------------------------------------------------------------------------------------------------ switch
  logic [Ports-1:0] in_valid, in_ready, out_valid, out_ready, out_last;
  logic [Ports-1:0][LinkW-1:0] out_data;
  logic [1:0] in_port, out_port;
  logic unused_busy;
  logic [15:0] unused_unroutable;

  cdc_sync #(
      .W(4)
  ) u_lane (
      .clk_i (net_clk_i),
      .data_i(lane),
      .data_o(net_lane)
  );
  assign {in_port, out_port} = net_lane;

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    assign in_valid[p]  = tx_valid && in_port == 2'(p);
    assign out_ready[p] = rx_ready && out_port == 2'(p);
  end
  assign tx_ready = in_ready[in_port];
  assign rx_valid = out_valid[out_port];
  assign rx_data  = out_data[out_port];
  assign rx_last  = out_last[out_port];

  cenju3_switch u_switch (
      .clk_i(net_clk_i),
      .rst_i(net_rst_i),
      .digit_i(2'd0),
      .idle_i(8'd5),
      .in_valid_i(in_valid),
      .in_ready_o(in_ready),
      .in_data_i({Ports{tx_data}}),
      .in_last_i({Ports{tx_last}}),
      .out_valid_o(out_valid),
      .out_ready_i(out_ready),
      .out_data_o(out_data),
      .out_last_o(out_last),
      .busy_o(unused_busy),
      .unroutable_o(unused_unroutable)
  );
endmodule
