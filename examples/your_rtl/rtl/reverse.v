// Reverses the bits of each word of an AXI4-Stream.
module reverse #(parameter W = 8) (
  input aclk, input aresetn,
  input s_axis_tvalid, output s_axis_tready, input [W-1:0] s_axis_tdata, input s_axis_tlast,
  output reg m_axis_tvalid, input m_axis_tready, output reg [W-1:0] m_axis_tdata, output reg m_axis_tlast
);
  integer i;
  assign s_axis_tready = !m_axis_tvalid || m_axis_tready;
  always @(posedge aclk) begin
    if (s_axis_tready) begin
      m_axis_tvalid <= s_axis_tvalid;
      m_axis_tlast <= s_axis_tlast;
      for (i = 0; i < W; i = i + 1) m_axis_tdata[i] <= s_axis_tdata >> (W - 1 - i);
    end
    if (!aresetn) m_axis_tvalid <= 0;
  end
endmodule
