// SPDX-License-Identifier: MIT OR Apache-2.0
// A whole DIMMnet-1 as one top: a card for each node and the switch between them.
//
// Handshake  the ports of dimmnet1_nic, an element of a packed array for each node; `cfg_*` as dimmnet1_switch.
//            `link_tx_*` and `link_rx_*` only show the links between the cards and the switch.
// Network    one switch of Ports ports. Ports above the last node are open: what leaves there is lost.
// Clocks     one `core_clk_i` for all cards, one `link_clk_i` for all links and the switch; resets as in dimmnet1_nic.
// busy       `core_busy_o` and `link_busy_o` per node, `switch_busy_o`. While all are low and no input is valid, no
//            clock edge changes anything but TIME.
// Source     paper, Table 1; more than 8 ports stand in for several switches (dimmnet1_switch).
module dimmnet1_machine #(
    parameter int Nodes = 2,  // cards, 1 to Ports
    parameter int Ports = 8,  // ports of the switch, 2 to 16
    parameter int DelayWords = 6,  // as dimmnet1_switch
    parameter int Matching = 1  // as dimmnet1_nic
) (
    input logic core_clk_i,
    input logic core_rst_i,
    input logic link_clk_i,
    input logic link_rst_i,

    input logic cfg_valid_i,
    output logic cfg_ready_o,
    input logic cfg_group_i,
    input logic [5:0] cfg_index_i,
    input logic [Ports-1:0] cfg_entry_i,

    input logic [Nodes-1:0] host_req_valid_i,
    output logic [Nodes-1:0] host_req_ready_o,
    input logic [Nodes-1:0] host_req_write_i,
    input logic [Nodes-1:0][23:0] host_req_addr_i,
    input logic [Nodes-1:0][63:0] host_req_wdata_i,
    input logic [Nodes-1:0][7:0] host_req_wstrb_i,
    output logic [Nodes-1:0] host_rsp_valid_o,
    input logic [Nodes-1:0] host_rsp_ready_i,
    output logic [Nodes-1:0][63:0] host_rsp_rdata_o,
    output logic [Nodes-1:0] host_rsp_err_o,
    output logic [Nodes-1:0] irq_o,

    output logic [Nodes-1:0] mem_rd_cmd_valid_o,
    input logic [Nodes-1:0] mem_rd_cmd_ready_i,
    output logic [Nodes-1:0][31:0] mem_rd_cmd_addr_o,
    output logic [Nodes-1:0][7:0] mem_rd_cmd_len_o,
    input logic [Nodes-1:0] mem_rd_data_valid_i,
    output logic [Nodes-1:0] mem_rd_data_ready_o,
    input logic [Nodes-1:0][63:0] mem_rd_data_data_i,
    input logic [Nodes-1:0] mem_rd_data_last_i,
    input logic [Nodes-1:0] mem_rd_data_err_i,

    output logic [Nodes-1:0] mem_wr_cmd_valid_o,
    input logic [Nodes-1:0] mem_wr_cmd_ready_i,
    output logic [Nodes-1:0][31:0] mem_wr_cmd_addr_o,
    output logic [Nodes-1:0][7:0] mem_wr_cmd_len_o,
    output logic [Nodes-1:0] mem_wr_data_valid_o,
    input logic [Nodes-1:0] mem_wr_data_ready_i,
    output logic [Nodes-1:0][63:0] mem_wr_data_data_o,
    output logic [Nodes-1:0][7:0] mem_wr_data_strb_o,
    output logic [Nodes-1:0] mem_wr_data_last_o,
    input logic [Nodes-1:0] mem_wr_rsp_valid_i,
    output logic [Nodes-1:0] mem_wr_rsp_ready_o,
    input logic [Nodes-1:0] mem_wr_rsp_err_i,

    output logic [Nodes-1:0] link_tx_valid_o,
    output logic [Nodes-1:0] link_tx_ready_o,
    output logic [Nodes-1:0][63:0] link_tx_data_o,
    output logic [Nodes-1:0] link_tx_last_o,
    output logic [Nodes-1:0] link_rx_valid_o,
    output logic [Nodes-1:0] link_rx_ready_o,
    output logic [Nodes-1:0][63:0] link_rx_data_o,
    output logic [Nodes-1:0] link_rx_last_o,

    output logic [Nodes-1:0] retire_valid_o,
    output logic [Nodes-1:0][31:0] retire_pc_o,
    output logic [Nodes-1:0] retire_trap_o,

    output logic [Nodes-1:0] core_busy_o,
    output logic [Nodes-1:0] link_busy_o,
    output logic switch_busy_o,
    output logic [15:0] unroutable_o,
    output logic [15:0] refused_o
);
  if (Nodes < 1 || Nodes > Ports) begin : g_bad_nodes
    dimmnet1_machine_Nodes_must_be_1_to_Ports u_bad ();
  end

  // Into the switch, and out of it.
  logic [Ports-1:0] in_valid, in_ready, in_last, out_valid, out_ready, out_last;
  logic [Ports-1:0][63:0] in_data, out_data;

  for (genvar n = 0; n < Ports; n++) begin : g_node
    if (n < Nodes) begin : g_nic
      dimmnet1_nic #(
          .Matching(Matching)
      ) u_nic (
          .core_clk_i,
          .core_rst_i,
          .link_clk_i,
          .link_rst_i,
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
          .link_tx_valid_o(link_tx_valid_o[n]),
          .link_tx_ready_i(in_ready[n]),
          .link_tx_data_o(link_tx_data_o[n]),
          .link_tx_last_o(link_tx_last_o[n]),
          .link_rx_valid_i(out_valid[n]),
          .link_rx_ready_o(link_rx_ready_o[n]),
          .link_rx_data_i(out_data[n]),
          .link_rx_last_i(out_last[n]),
          .retire_valid_o(retire_valid_o[n]),
          .retire_pc_o(retire_pc_o[n]),
          .retire_trap_o(retire_trap_o[n]),
          .core_busy_o(core_busy_o[n]),
          .link_busy_o(link_busy_o[n])
      );
      assign in_valid[n] = link_tx_valid_o[n];
      assign in_data[n] = link_tx_data_o[n];
      assign in_last[n] = link_tx_last_o[n];
      assign link_tx_ready_o[n] = in_ready[n];
      assign out_ready[n] = link_rx_ready_o[n];
      assign link_rx_valid_o[n] = out_valid[n];
      assign link_rx_data_o[n] = out_data[n];
      assign link_rx_last_o[n] = out_last[n];
    end else begin : g_open
      logic unused_open;
      assign in_valid[n]  = 1'b0;
      assign in_data[n]   = '0;
      assign in_last[n]   = 1'b0;
      assign out_ready[n] = 1'b1;
      assign unused_open  = &{1'b0, in_ready[n], out_valid[n], out_data[n], out_last[n]};
    end
  end

  dimmnet1_switch #(
      .N(Ports),
      .DelayWords(DelayWords)
  ) u_switch (
      .clk_i(link_clk_i),
      .rst_i(link_rst_i),
      .cfg_valid_i,
      .cfg_ready_o,
      .cfg_group_i,
      .cfg_index_i,
      .cfg_entry_i,
      .in_valid_i(in_valid),
      .in_ready_o(in_ready),
      .in_data_i(in_data),
      .in_last_i(in_last),
      .out_valid_o(out_valid),
      .out_ready_i(out_ready),
      .out_data_o(out_data),
      .out_last_o(out_last),
      .busy_o(switch_busy_o),
      .unroutable_o,
      .refused_o
  );
endmodule
