// `axil_slave`: see axi_slave_rules; every access is a burst of one whole word.
module prove_axil_slave #(
    parameter  int DataW       = 32,
    parameter  int Outstanding = 2,
    localparam int StrbW       = DataW / 8,
    localparam int AddrW       = 12
) (
    input logic clk_i,
    input logic rst_i,
    input logic [AddrW-1:0] awaddr_i,
    input logic awvalid_i,
    input logic [1:0] wpair_i,
    input logic [StrbW-1:0] wstrb_i,
    input logic wvalid_i,
    input logic bready_i,
    input logic [AddrW-1:0] araddr_i,
    input logic arvalid_i,
    input logic rready_i,
    input logic req_ready_i,
    input logic rsp_valid_i,
    input logic [1:0] rsp_pair_i,
    input logic rsp_err_i
);
  logic awready, wready, bvalid, arready, rvalid, req_valid, req_write, rsp_ready, busy;
  logic [1:0] bresp, rresp;
  logic [DataW-1:0] rdata, req_data;
  logic [AddrW-1:0] req_addr;
  logic [StrbW-1:0] req_strb;
  // Words of equal pairs of bits: no bridge looks at them.
  logic [DataW-1:0] wdata, rsp_data;
  assign wdata = {DataW / 2{wpair_i}};
  assign rsp_data = {DataW / 2{rsp_pair_i}};

  axil_slave #(
      .AddrW(AddrW),
      .DataW(DataW),
      .Outstanding(Outstanding)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .s_axil_awaddr(awaddr_i),
      .s_axil_awprot(3'd0),
      .s_axil_awvalid(awvalid_i),
      .s_axil_awready(awready),
      .s_axil_wdata(wdata),
      .s_axil_wstrb(wstrb_i),
      .s_axil_wvalid(wvalid_i),
      .s_axil_wready(wready),
      .s_axil_bresp(bresp),
      .s_axil_bvalid(bvalid),
      .s_axil_bready(bready_i),
      .s_axil_araddr(araddr_i),
      .s_axil_arprot(3'd0),
      .s_axil_arvalid(arvalid_i),
      .s_axil_arready(arready),
      .s_axil_rdata(rdata),
      .s_axil_rresp(rresp),
      .s_axil_rvalid(rvalid),
      .s_axil_rready(rready_i),
      .host_req_valid_o(req_valid),
      .host_req_ready_i(req_ready_i),
      .host_req_write_o(req_write),
      .host_req_addr_o(req_addr),
      .host_req_wdata_o(req_data),
      .host_req_wstrb_o(req_strb),
      .host_rsp_valid_i(rsp_valid_i),
      .host_rsp_ready_o(rsp_ready),
      .host_rsp_rdata_i(rsp_data),
      .host_rsp_err_i(rsp_err_i)
  );
  power_up u_power_up (.*);
  localparam logic [2:0] Size = 3'($clog2(StrbW));
  localparam logic [1:0] Incr = 2'b01;
  axi_slave_rules #(
      .AddrW(AddrW),
      .DataW(DataW),
      .Outstanding(Outstanding),
      .Lite(1'b1)
  ) u_rules (
      .clk_i,
      .rst_i,
      .busy_i(busy),
      .awid_i(1'b0),
      .awaddr_i,
      .awlen_i(8'd0),
      .awsize_i(Size),
      .awburst_i(Incr),
      .awlock_i(1'b0),
      .awvalid_i,
      .awready_i(awready),
      .wdata_i(wdata),
      .wstrb_i,
      .wlast_i(1'b1),
      .wvalid_i,
      .wready_i(wready),
      .bid_i(1'b0),
      .bresp_i(bresp),
      .bvalid_i(bvalid),
      .bready_i,
      .arid_i(1'b0),
      .araddr_i,
      .arlen_i(8'd0),
      .arsize_i(Size),
      .arburst_i(Incr),
      .arlock_i(1'b0),
      .arvalid_i,
      .arready_i(arready),
      .rid_i(1'b0),
      .rdata_i(rdata),
      .rresp_i(rresp),
      .rlast_i(1'b1),
      .rvalid_i(rvalid),
      .rready_i,
      .req_valid_i(req_valid),
      .req_ready_i,
      .req_write_i(req_write),
      .req_addr_i(req_addr),
      .req_data_i(req_data),
      .req_strb_i(req_strb),
      .rsp_valid_i,
      .rsp_ready_i(rsp_ready),
      .rsp_data_i(rsp_data),
      .rsp_err_i
  );
endmodule
