// SPDX-License-Identifier: MIT OR Apache-2.0
// A whole Cenju-3 as one top: a NIC for each PE and the multistage network between them.
//
// Handshake  the ports of cenju3_nic, an element of a packed array for each PE. `tx_*` and `rx_*` only show the links
//            between the NICs and the network.
// Network    Stages columns of 4x4 switches, a perfect shuffle before each; column s routes by digit Stages - 1 - s of
//            the destination PE. Ports above the last PE are open: a packet to a PE that does not exist is lost there.
// Clocks     one `io_clk_i` for all NICs, one `net_clk_i` for all links and switches; resets as in cenju3_nic.
// busy       `io_busy_o` and `net_busy_o` per PE, `switch_busy_o` for the network. While all are low and no input is
//            valid, no clock edge changes anything.
// Source     paper section 2 (Fig 1, 2); the wiring is textbook (see omega).
module cenju3_machine #(
    parameter int Nodes = 16,  // PEs, 1 to 4**Stages
    parameter int Stages = 2,  // columns of switches, 1 to 4
    parameter int BusW = 32,  // bits of a bus word, 32 or 64
    parameter int LinkW = 16,  // bits of a flit, 16
    parameter int FifoWords = 512,  // as cenju3_nic
    parameter int BurstBeats = 8,  // as cenju3_nic
    parameter int Outstanding = 4,  // as cenju3_nic
    parameter int BufFlits = 32  // as cenju3_switch
) (
    input logic io_clk_i,
    input logic io_rst_i,
    input logic net_clk_i,
    input logic net_rst_i,
    input logic [7:0] idle_i,  // idle cycles on a switch's output after each packet; static

    input logic [Nodes-1:0] host_req_valid_i,
    output logic [Nodes-1:0] host_req_ready_o,
    input logic [Nodes-1:0] host_req_write_i,
    input logic [Nodes-1:0][7:0] host_req_addr_i,
    input logic [Nodes-1:0][31:0] host_req_wdata_i,
    input logic [Nodes-1:0][3:0] host_req_wstrb_i,
    output logic [Nodes-1:0] host_rsp_valid_o,
    input logic [Nodes-1:0] host_rsp_ready_i,
    output logic [Nodes-1:0][31:0] host_rsp_rdata_o,
    output logic [Nodes-1:0] host_rsp_err_o,
    output logic [Nodes-1:0] irq_o,

    output logic [Nodes-1:0] mem_rd_cmd_valid_o,
    input logic [Nodes-1:0] mem_rd_cmd_ready_i,
    output logic [Nodes-1:0][31:0] mem_rd_cmd_addr_o,
    output logic [Nodes-1:0][7:0] mem_rd_cmd_len_o,
    input logic [Nodes-1:0] mem_rd_data_valid_i,
    output logic [Nodes-1:0] mem_rd_data_ready_o,
    input logic [Nodes-1:0][BusW-1:0] mem_rd_data_data_i,
    input logic [Nodes-1:0] mem_rd_data_last_i,
    input logic [Nodes-1:0] mem_rd_data_err_i,

    output logic [Nodes-1:0] mem_wr_cmd_valid_o,
    input logic [Nodes-1:0] mem_wr_cmd_ready_i,
    output logic [Nodes-1:0][31:0] mem_wr_cmd_addr_o,
    output logic [Nodes-1:0][7:0] mem_wr_cmd_len_o,
    output logic [Nodes-1:0] mem_wr_data_valid_o,
    input logic [Nodes-1:0] mem_wr_data_ready_i,
    output logic [Nodes-1:0][BusW-1:0] mem_wr_data_data_o,
    output logic [Nodes-1:0][BusW/8-1:0] mem_wr_data_strb_o,
    output logic [Nodes-1:0] mem_wr_data_last_o,
    input logic [Nodes-1:0] mem_wr_rsp_valid_i,
    output logic [Nodes-1:0] mem_wr_rsp_ready_o,
    input logic [Nodes-1:0] mem_wr_rsp_err_i,

    output logic [Nodes-1:0] tx_valid_o,
    output logic [Nodes-1:0] tx_ready_o,
    output logic [Nodes-1:0][LinkW-1:0] tx_data_o,
    output logic [Nodes-1:0] tx_last_o,
    output logic [Nodes-1:0] rx_valid_o,
    output logic [Nodes-1:0] rx_ready_o,
    output logic [Nodes-1:0][LinkW-1:0] rx_data_o,
    output logic [Nodes-1:0] rx_last_o,
    output logic [Nodes-1:0][15:0] rx_level_o,

    output logic [Nodes-1:0] io_busy_o,
    output logic [Nodes-1:0] net_busy_o,
    output logic switch_busy_o,
    output logic [15:0] unroutable_o
);
  localparam int Radix = 4;
  localparam int Ports = Radix ** Stages;
  localparam int Rows = Ports / Radix;
  localparam int SumW = 16 + $clog2(Rows * Stages + 1);

  if (Stages < 1 || Stages > 4) begin : g_bad_stages
    cenju3_machine_Stages_must_be_1_to_4 u_bad ();
  end
  if (Nodes < 1 || Nodes > Ports) begin : g_bad_nodes
    cenju3_machine_Nodes_must_be_1_to_4_to_the_Stages u_bad ();
  end

  // Boundary s enters column s, before its shuffle; boundary Stages leaves the network.
  logic [Stages:0][Ports-1:0] valid, ready, last;
  logic [Stages:0][Ports-1:0][LinkW-1:0] data;
  logic [Stages-1:0][Ports-1:0] in_valid, in_ready, in_last;
  logic [Stages-1:0][Ports-1:0][LinkW-1:0] in_data;
  logic [Stages-1:0][Rows-1:0] busy;
  logic [Stages-1:0][Rows-1:0][15:0] unroutable;

  for (genvar n = 0; n < Ports; n++) begin : g_node
    if (n < Nodes) begin : g_nic
      cenju3_nic #(
          .BusW(BusW),
          .LinkW(LinkW),
          .FifoWords(FifoWords),
          .BurstBeats(BurstBeats),
          .Outstanding(Outstanding)
      ) u_nic (
          .io_clk_i,
          .io_rst_i,
          .net_clk_i,
          .net_rst_i,
          .host_req_valid_i(host_req_valid_i[n]),
          .host_req_ready_o(host_req_ready_o[n]),
          .host_req_write_i(host_req_write_i[n]),
          .host_req_addr_i(host_req_addr_i[n]),
          .host_req_wdata_i(host_req_wdata_i[n]),
          .host_req_wstrb_i(host_req_wstrb_i[n]),
          .host_rsp_valid_o(host_rsp_valid_o[n]),
          .host_rsp_ready_i(host_rsp_ready_i[n]),
          .host_rsp_rdata_o(host_rsp_rdata_o[n]),
          .host_rsp_err_o(host_rsp_err_o[n]),
          .irq_o(irq_o[n]),
          .mem_rd_cmd_valid_o(mem_rd_cmd_valid_o[n]),
          .mem_rd_cmd_ready_i(mem_rd_cmd_ready_i[n]),
          .mem_rd_cmd_addr_o(mem_rd_cmd_addr_o[n]),
          .mem_rd_cmd_len_o(mem_rd_cmd_len_o[n]),
          .mem_rd_data_valid_i(mem_rd_data_valid_i[n]),
          .mem_rd_data_ready_o(mem_rd_data_ready_o[n]),
          .mem_rd_data_data_i(mem_rd_data_data_i[n]),
          .mem_rd_data_last_i(mem_rd_data_last_i[n]),
          .mem_rd_data_err_i(mem_rd_data_err_i[n]),
          .mem_wr_cmd_valid_o(mem_wr_cmd_valid_o[n]),
          .mem_wr_cmd_ready_i(mem_wr_cmd_ready_i[n]),
          .mem_wr_cmd_addr_o(mem_wr_cmd_addr_o[n]),
          .mem_wr_cmd_len_o(mem_wr_cmd_len_o[n]),
          .mem_wr_data_valid_o(mem_wr_data_valid_o[n]),
          .mem_wr_data_ready_i(mem_wr_data_ready_i[n]),
          .mem_wr_data_data_o(mem_wr_data_data_o[n]),
          .mem_wr_data_strb_o(mem_wr_data_strb_o[n]),
          .mem_wr_data_last_o(mem_wr_data_last_o[n]),
          .mem_wr_rsp_valid_i(mem_wr_rsp_valid_i[n]),
          .mem_wr_rsp_ready_o(mem_wr_rsp_ready_o[n]),
          .mem_wr_rsp_err_i(mem_wr_rsp_err_i[n]),
          .tx_valid_o(tx_valid_o[n]),
          .tx_ready_i(ready[0][n]),
          .tx_data_o(tx_data_o[n]),
          .tx_last_o(tx_last_o[n]),
          .rx_valid_i(valid[Stages][n]),
          .rx_ready_o(rx_ready_o[n]),
          .rx_data_i(data[Stages][n]),
          .rx_last_i(last[Stages][n]),
          .rx_level_o(rx_level_o[n]),
          .io_busy_o(io_busy_o[n]),
          .net_busy_o(net_busy_o[n])
      );
      assign tx_ready_o[n] = ready[0][n];
      assign rx_valid_o[n] = valid[Stages][n];
      assign rx_data_o[n] = data[Stages][n];
      assign rx_last_o[n] = last[Stages][n];
      assign valid[0][n] = tx_valid_o[n];
      assign data[0][n] = tx_data_o[n];
      assign last[0][n] = tx_last_o[n];
      assign ready[Stages][n] = rx_ready_o[n];
    end else begin : g_open
      logic unused_open;
      assign valid[0][n] = 1'b0;
      assign data[0][n] = '0;
      assign last[0][n] = 1'b0;
      assign ready[Stages][n] = 1'b1;
      assign unused_open = &{1'b0, ready[0][n], valid[Stages][n], data[Stages][n], last[Stages][n]};
    end
  end

  for (genvar s = 0; s < Stages; s++) begin : g_stage
    for (genvar p = 0; p < Ports; p++) begin : g_shuffle
      // The shuffle moves the top digit of a position to the bottom.
      localparam int To = (p * Radix) % Ports + p / Rows;
      assign in_valid[s][To] = valid[s][p];
      assign in_data[s][To] = data[s][p];
      assign in_last[s][To] = last[s][p];
      assign ready[s][p] = in_ready[s][To];
    end
    for (genvar r = 0; r < Rows; r++) begin : g_row
      cenju3_switch #(
          .BufFlits(BufFlits)
      ) u_switch (
          .clk_i(net_clk_i),
          .rst_i(net_rst_i),
          .digit_i(2'(Stages - 1 - s)),
          .idle_i,
          .in_valid_i(in_valid[s][r*Radix+:Radix]),
          .in_ready_o(in_ready[s][r*Radix+:Radix]),
          .in_data_i(in_data[s][r*Radix+:Radix]),
          .in_last_i(in_last[s][r*Radix+:Radix]),
          .out_valid_o(valid[s+1][r*Radix+:Radix]),
          .out_ready_i(ready[s+1][r*Radix+:Radix]),
          .out_data_o(data[s+1][r*Radix+:Radix]),
          .out_last_o(last[s+1][r*Radix+:Radix]),
          .busy_o(busy[s][r]),
          .unroutable_o(unroutable[s][r])
      );
    end
  end
  assign switch_busy_o = busy != '0;

  logic [SumW-1:0] sum;
  always_comb begin
    sum = '0;
    for (int s = 0; s < Stages; s++) begin
      for (int r = 0; r < Rows; r++) sum = sum + SumW'(unroutable[s][r]);
    end
  end
  assign unroutable_o = sum[SumW-1:16] != '0 ? '1 : sum[15:0];
endmodule
