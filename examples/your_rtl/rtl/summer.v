// Adds words of memory. AXI4-Lite: 0 address, 4 words (1 to 256), 8 where the sum goes, 12 start; reads 1 while at work.
// AXI4: one burst in, one word out.
module summer (
  input aclk, input aresetn,
  input s_axil_awvalid, output s_axil_awready, input [3:0] s_axil_awaddr,
  input s_axil_wvalid, output s_axil_wready, input [31:0] s_axil_wdata, input [3:0] s_axil_wstrb,
  output reg s_axil_bvalid, input s_axil_bready, output [1:0] s_axil_bresp,
  input s_axil_arvalid, output s_axil_arready, input [3:0] s_axil_araddr,
  output reg s_axil_rvalid, input s_axil_rready, output reg [31:0] s_axil_rdata, output [1:0] s_axil_rresp,
  output reg m_axi_arvalid, input m_axi_arready, output [31:0] m_axi_araddr, output [7:0] m_axi_arlen,
  output [2:0] m_axi_arsize, output [1:0] m_axi_arburst,
  input m_axi_rvalid, output m_axi_rready, input [31:0] m_axi_rdata, input [1:0] m_axi_rresp, input m_axi_rlast,
  output reg m_axi_awvalid, input m_axi_awready, output [31:0] m_axi_awaddr, output [7:0] m_axi_awlen,
  output [2:0] m_axi_awsize, output [1:0] m_axi_awburst,
  output reg m_axi_wvalid, input m_axi_wready, output [31:0] m_axi_wdata, output [3:0] m_axi_wstrb, output m_axi_wlast,
  input m_axi_bvalid, output m_axi_bready, input [1:0] m_axi_bresp
);
  reg [31:0] from, words, to, sum;
  reg busy;
  wire write = s_axil_awvalid && s_axil_wvalid && !s_axil_bvalid;
  wire read = s_axil_arvalid && !s_axil_rvalid;
  assign s_axil_awready = write, s_axil_wready = write, s_axil_arready = read;
  assign s_axil_bresp = 0, s_axil_rresp = 0;
  assign m_axi_araddr = from, m_axi_arlen = words - 1, m_axi_arsize = 2, m_axi_arburst = 1, m_axi_rready = 1;
  assign m_axi_awaddr = to, m_axi_awlen = 0, m_axi_awsize = 2, m_axi_awburst = 1;
  assign m_axi_wdata = sum, m_axi_wstrb = 15, m_axi_wlast = 1, m_axi_bready = 1;
  always @(posedge aclk) begin
    if (s_axil_bready) s_axil_bvalid <= 0;
    if (s_axil_rready) s_axil_rvalid <= 0;
    if (m_axi_arready) m_axi_arvalid <= 0;
    if (m_axi_awready) m_axi_awvalid <= 0;
    if (m_axi_wready) m_axi_wvalid <= 0;
    if (write) begin
      s_axil_bvalid <= 1;
      case (s_axil_awaddr[3:2])
        0: from <= s_axil_wdata;
        1: words <= s_axil_wdata;
        2: to <= s_axil_wdata;
        3: if (!busy) begin busy <= 1; sum <= 0; m_axi_arvalid <= 1; end
      endcase
    end
    if (read) begin
      s_axil_rvalid <= 1;
      case (s_axil_araddr[3:2])
        0: s_axil_rdata <= from;
        1: s_axil_rdata <= words;
        2: s_axil_rdata <= to;
        3: s_axil_rdata <= busy;
      endcase
    end
    if (m_axi_rvalid) begin
      sum <= sum + m_axi_rdata;
      if (m_axi_rlast) begin m_axi_awvalid <= 1; m_axi_wvalid <= 1; end
    end
    if (m_axi_bvalid) busy <= 0;
    if (!aresetn) begin
      s_axil_bvalid <= 0; s_axil_rvalid <= 0; m_axi_arvalid <= 0; m_axi_awvalid <= 0; m_axi_wvalid <= 0; busy <= 0;
    end
  end
endmodule
