// SPDX-License-Identifier: MIT OR Apache-2.0
// `axi_write_master` writes four words from 0xff8: two bursts, for none may cross 4 KB, and one response for both.
module axi_write_master_example (
    input logic clk_i,
    input logic rst_i,
    output logic mem_cmd_valid_o,
    output logic mem_cmd_ready_o,
    output logic mem_data_valid_o,
    output logic mem_data_ready_o,
    output logic [7:0] mem_data_data_o,
    output logic m_axi_awvalid_o,
    output logic [12:0] m_axi_awaddr_o,
    output logic [7:0] m_axi_awlen_o,
    output logic m_axi_wvalid_o,
    output logic [7:0] m_axi_wdata_o,
    output logic m_axi_wlast_o,
    output logic m_axi_bvalid_o,
    output logic mem_rsp_valid_o,
    output logic busy_o
);
  logic given_q, bready, err, lock, id, unused;
  logic [2:0] word_q;
  logic [1:0] ended_q;  // bursts without a response
  logic [31:0] addr, data;
  logic [2:0] size, prot;
  logic [1:0] burst;
  logic [3:0] cache, qos, strb;

  always_ff @(posedge clk_i) begin
    if (rst_i) given_q <= 1'b0;
    else if (mem_cmd_ready_o) given_q <= 1'b1;
    if (rst_i) word_q <= '0;
    else if (mem_data_valid_o && mem_data_ready_o) word_q <= word_q + 3'd1;
    if (rst_i) ended_q <= '0;
    else ended_q <= ended_q + {1'b0, m_axi_wvalid_o && m_axi_wlast_o} - {1'b0, m_axi_bvalid_o && bready};
  end

  assign mem_cmd_valid_o = !given_q;
  assign mem_data_valid_o = !word_q[2];
  assign mem_data_data_o = {5'd2, word_q};
  assign m_axi_awaddr_o = addr[12:0];
  assign m_axi_wdata_o = data[7:0];
  assign m_axi_bvalid_o = ended_q != '0;
  assign unused = &{addr[31:13], data[31:8], err, lock, id, size, prot, burst, cache, qos, strb};

  axi_write_master u_master (
      .clk_i,
      .rst_i,
      .busy_o,
      .mem_cmd_valid_i(mem_cmd_valid_o),
      .mem_cmd_ready_o,
      .mem_cmd_addr_i(32'hff8),
      .mem_cmd_len_i(8'd3),
      .mem_data_valid_i(mem_data_valid_o),
      .mem_data_ready_o,
      .mem_data_data_i({24'd0, mem_data_data_o}),
      .mem_data_strb_i('1),
      .mem_data_last_i(word_q == 3'd3),
      .mem_rsp_valid_o,
      .mem_rsp_ready_i(1'b1),
      .mem_rsp_err_o(err),
      .m_axi_awid(id),
      .m_axi_awaddr(addr),
      .m_axi_awlen(m_axi_awlen_o),
      .m_axi_awsize(size),
      .m_axi_awburst(burst),
      .m_axi_awlock(lock),
      .m_axi_awcache(cache),
      .m_axi_awprot(prot),
      .m_axi_awqos(qos),
      .m_axi_awvalid(m_axi_awvalid_o),
      .m_axi_awready(1'b1),
      .m_axi_wdata(data),
      .m_axi_wstrb(strb),
      .m_axi_wlast(m_axi_wlast_o),
      .m_axi_wvalid(m_axi_wvalid_o),
      .m_axi_wready(1'b1),
      .m_axi_bid('0),
      .m_axi_bresp('0),
      .m_axi_bvalid(m_axi_bvalid_o),
      .m_axi_bready(bready)
  );
endmodule
