// SPDX-License-Identifier: MIT OR Apache-2.0
// `axi_slave` in front of a window that answers each read with its address: a burst of four words from 0x20.
module axi_slave_example (
    input logic clk_i,
    input logic rst_i,
    output logic s_axi_arvalid_o,
    output logic s_axi_arready_o,
    output logic win_req_valid_o,
    output logic win_req_ready_o,
    output logic [7:0] win_req_addr_o,
    output logic win_rsp_valid_o,
    output logic [7:0] win_rsp_rdata_o,
    output logic s_axi_rvalid_o,
    output logic [7:0] s_axi_rdata_o,
    output logic s_axi_rlast_o,
    output logic busy_o
);
  logic given_q, rsp_q, rsp_ready;
  logic [7:0] data_q;
  logic [31:0] rdata, addr, wdata;
  logic [3:0] bid, rid, strb;
  logic [1:0] bresp, rresp;
  logic awready, wready, bvalid, write, unused;

  always_ff @(posedge clk_i) begin
    if (rst_i) given_q <= 1'b0;
    else if (s_axi_arready_o) given_q <= 1'b1;
    if (rst_i) rsp_q <= 1'b0;
    else if (win_req_ready_o) rsp_q <= win_req_valid_o;
    if (win_req_ready_o) data_q <= addr[7:0];
  end

  assign s_axi_arvalid_o = !given_q;
  assign s_axi_rdata_o = rdata[7:0];
  assign win_req_ready_o = !rsp_q || rsp_ready;
  assign win_req_addr_o = addr[7:0];
  assign win_rsp_valid_o = rsp_q;
  assign win_rsp_rdata_o = data_q;
  assign unused = &{rdata[31:8], addr[31:8], wdata, bid, rid, strb, bresp, rresp, awready, wready, bvalid, write};

  axi_slave u_slave (
      .clk_i,
      .rst_i,
      .busy_o,
      .s_axi_awid('0),
      .s_axi_awaddr('0),
      .s_axi_awlen('0),
      .s_axi_awsize('0),
      .s_axi_awburst('0),
      .s_axi_awlock(1'b0),
      .s_axi_awcache('0),
      .s_axi_awprot('0),
      .s_axi_awqos('0),
      .s_axi_awvalid(1'b0),
      .s_axi_awready(awready),
      .s_axi_wdata('0),
      .s_axi_wstrb('0),
      .s_axi_wlast(1'b0),
      .s_axi_wvalid(1'b0),
      .s_axi_wready(wready),
      .s_axi_bid(bid),
      .s_axi_bresp(bresp),
      .s_axi_bvalid(bvalid),
      .s_axi_bready(1'b1),
      .s_axi_arid('0),
      .s_axi_araddr(32'h20),
      .s_axi_arlen(8'd3),
      .s_axi_arsize(3'd2),
      .s_axi_arburst(2'b01),
      .s_axi_arlock(1'b0),
      .s_axi_arcache('0),
      .s_axi_arprot('0),
      .s_axi_arqos('0),
      .s_axi_arvalid(s_axi_arvalid_o),
      .s_axi_arready(s_axi_arready_o),
      .s_axi_rid(rid),
      .s_axi_rdata(rdata),
      .s_axi_rresp(rresp),
      .s_axi_rlast(s_axi_rlast_o),
      .s_axi_rvalid(s_axi_rvalid_o),
      .s_axi_rready(1'b1),
      .win_req_valid_o,
      .win_req_ready_i(win_req_ready_o),
      .win_req_write_o(write),
      .win_req_addr_o(addr),
      .win_req_wdata_o(wdata),
      .win_req_wstrb_o(strb),
      .win_rsp_valid_i(rsp_q),
      .win_rsp_ready_o(rsp_ready),
      .win_rsp_rdata_i({24'd0, data_q}),
      .win_rsp_err_i(1'b0)
  );
endmodule
