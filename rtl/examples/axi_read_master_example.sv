// SPDX-License-Identifier: MIT OR Apache-2.0
// `axi_read_master` fetches four words from 0xff8: two bursts, for none may cross 4 KB. The slave's words are their
// numbers.
module axi_read_master_example (
    input logic clk_i,
    input logic rst_i,
    output logic mem_cmd_valid_o,
    output logic mem_cmd_ready_o,
    output logic m_axi_arvalid_o,
    output logic m_axi_arready_o,
    output logic [12:0] m_axi_araddr_o,
    output logic [7:0] m_axi_arlen_o,
    output logic m_axi_rvalid_o,
    output logic [11:0] m_axi_rdata_o,
    output logic m_axi_rlast_o,
    output logic mem_data_valid_o,
    output logic [11:0] mem_data_data_o,
    output logic mem_data_last_o,
    output logic busy_o
);
  logic given_q, reads_q, rready, err, lock, id, unused;
  logic [11:0] word_q;
  logic [ 7:0] left_q;
  logic [31:0] addr, data;
  logic [2:0] size, prot;
  logic [1:0] burst;
  logic [3:0] cache, qos;

  always_ff @(posedge clk_i) begin
    if (rst_i) given_q <= 1'b0;
    else if (mem_cmd_ready_o) given_q <= 1'b1;
    if (rst_i) reads_q <= 1'b0;
    else if (m_axi_arvalid_o && !reads_q) reads_q <= 1'b1;
    else if (rready && m_axi_rlast_o) reads_q <= 1'b0;
    if (!reads_q) {word_q, left_q} <= {addr[13:2], m_axi_arlen_o};
    else if (rready) {word_q, left_q} <= {word_q + 12'd1, left_q - 8'd1};
  end

  assign mem_cmd_valid_o = !given_q;
  assign m_axi_arready_o = !reads_q;
  assign m_axi_araddr_o = addr[12:0];
  assign m_axi_rvalid_o = reads_q;
  assign m_axi_rdata_o = word_q;
  assign m_axi_rlast_o = left_q == '0;
  assign mem_data_data_o = data[11:0];
  assign unused = &{addr[31:14], addr[1:0], data[31:12], err, lock, id, size, prot, burst, cache, qos};

  axi_read_master u_master (
      .clk_i,
      .rst_i,
      .busy_o,
      .mem_cmd_valid_i(mem_cmd_valid_o),
      .mem_cmd_ready_o,
      .mem_cmd_addr_i(32'hff8),
      .mem_cmd_len_i(8'd3),
      .mem_data_valid_o,
      .mem_data_ready_i(1'b1),
      .mem_data_data_o(data),
      .mem_data_last_o,
      .mem_data_err_o(err),
      .m_axi_arid(id),
      .m_axi_araddr(addr),
      .m_axi_arlen(m_axi_arlen_o),
      .m_axi_arsize(size),
      .m_axi_arburst(burst),
      .m_axi_arlock(lock),
      .m_axi_arcache(cache),
      .m_axi_arprot(prot),
      .m_axi_arqos(qos),
      .m_axi_arvalid(m_axi_arvalid_o),
      .m_axi_arready(m_axi_arready_o),
      .m_axi_rid('0),
      .m_axi_rdata({20'd0, word_q}),
      .m_axi_rresp('0),
      .m_axi_rlast(m_axi_rlast_o),
      .m_axi_rvalid(m_axi_rvalid_o),
      .m_axi_rready(rready)
  );
endmodule
