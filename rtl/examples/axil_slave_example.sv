// SPDX-License-Identifier: MIT OR Apache-2.0
// `axil_slave` in front of one register: a write, and a read that is given once the write was answered.
module axil_slave_example (
    input logic clk_i,
    input logic rst_i,
    output logic s_axil_awvalid_o,
    output logic s_axil_awready_o,
    output logic s_axil_wvalid_o,
    output logic s_axil_wready_o,
    output logic s_axil_bvalid_o,
    output logic s_axil_arvalid_o,
    output logic s_axil_arready_o,
    output logic s_axil_rvalid_o,
    output logic [7:0] s_axil_rdata_o,
    output logic host_req_valid_o,
    output logic host_req_write_o,
    output logic [7:0] host_req_addr_o,
    output logic [7:0] host_req_wdata_o,
    output logic host_rsp_valid_o,
    output logic busy_o
);
  logic aw_q, w_q, b_q, ar_q, rsp_q, rsp_ready, take, unused;
  logic [31:0] register_q, wdata, rdata;
  logic [3:0] strb;
  logic [1:0] bresp, rresp;

  always_ff @(posedge clk_i) begin
    if (rst_i) {aw_q, w_q, b_q, ar_q} <= '0;
    else begin
      if (s_axil_awready_o) aw_q <= 1'b1;
      if (s_axil_wready_o) w_q <= 1'b1;
      if (s_axil_bvalid_o) b_q <= 1'b1;
      if (s_axil_arvalid_o && s_axil_arready_o) ar_q <= 1'b1;
    end
    // The register's port: a request is taken where its response has room.
    if (rst_i) rsp_q <= 1'b0;
    else if (take) rsp_q <= host_req_valid_o;
    if (take && host_req_valid_o && host_req_write_o) register_q <= wdata;
  end

  assign s_axil_awvalid_o = !aw_q;
  assign s_axil_wvalid_o = !w_q;
  assign s_axil_arvalid_o = b_q && !ar_q;
  assign s_axil_rdata_o = rdata[7:0];
  assign host_req_wdata_o = wdata[7:0];
  assign host_rsp_valid_o = rsp_q;
  assign take = !rsp_q || rsp_ready;
  assign unused = &{rdata[31:8], strb, bresp, rresp};

  axil_slave u_slave (
      .clk_i,
      .rst_i,
      .busy_o,
      .s_axil_awaddr(8'h10),
      .s_axil_awprot('0),
      .s_axil_awvalid(s_axil_awvalid_o),
      .s_axil_awready(s_axil_awready_o),
      .s_axil_wdata(32'h5a),
      .s_axil_wstrb('1),
      .s_axil_wvalid(s_axil_wvalid_o),
      .s_axil_wready(s_axil_wready_o),
      .s_axil_bresp(bresp),
      .s_axil_bvalid(s_axil_bvalid_o),
      .s_axil_bready(1'b1),
      .s_axil_araddr(8'h10),
      .s_axil_arprot('0),
      .s_axil_arvalid(s_axil_arvalid_o),
      .s_axil_arready(s_axil_arready_o),
      .s_axil_rdata(rdata),
      .s_axil_rresp(rresp),
      .s_axil_rvalid(s_axil_rvalid_o),
      .s_axil_rready(1'b1),
      .host_req_valid_o,
      .host_req_ready_i(take),
      .host_req_write_o,
      .host_req_addr_o,
      .host_req_wdata_o(wdata),
      .host_req_wstrb_o(strb),
      .host_rsp_valid_i(rsp_q),
      .host_rsp_ready_o(rsp_ready),
      .host_rsp_rdata_i(register_q),
      .host_rsp_err_i(1'b0)
  );
endmodule
