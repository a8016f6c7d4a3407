// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory write streams (the protocol of `dma_write`) to the write channels of an AXI4 master.
//
// Memory     commands {addr, len = beats - 1}, word aligned. Data follow their command, with a strobe for each byte and
//            `last` with a command's last word. Each command gets one response, in order, with `err` if the slave
//            answered any of its bursts with SLVERR or DECERR.
// AXI        INCR bursts of whole words, cut at 4 KB (axi_burst_cut). All have one ID, so the slave answers in order.
//            Normal, not cacheable, not bufferable: a response means that the data have arrived. An address and its
//            data do not wait for one another. `m_axi_bready` waits for room only; `m_axi_bid` is ignored.
// Latency    2 cycles from command to address, 3 to its first data, 1 from memory data to AXI data, 1 from AXI response
//            to response. 1 word per cycle, no bubble between commands, one-word ones included, if the slave answers
//            within (Outstanding - 4) bursts.
// Full       at most Outstanding AXI bursts await their response, then commands wait.
// Misuse     `mem_data_last_i` is ignored: words are counted. If a slave never answers, the master waits forever.
// Reset      drops everything; the slave must be reset, too.
// busy_o     low when nothing is inside or outstanding.
// Source     AXI4 (IHI 0022). Names of the AXI side are the standard's.
module axi_write_master #(
    parameter int AddrW = 32,  // bits of a byte address, > 12
    parameter int DataW = 32,  // bits of a word: 32, 64 or 128
    parameter int IdW = 1,  // bits of an ID, >= 1; it is always 0
    parameter int Outstanding = 4  // AXI bursts that may await their response, >= 1
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic mem_cmd_valid_i,
    output logic mem_cmd_ready_o,
    input logic [AddrW-1:0] mem_cmd_addr_i,
    input logic [7:0] mem_cmd_len_i,
    input logic mem_data_valid_i,
    output logic mem_data_ready_o,
    input logic [DataW-1:0] mem_data_data_i,
    input logic [DataW/8-1:0] mem_data_strb_i,
    input logic mem_data_last_i,
    output logic mem_rsp_valid_o,
    input logic mem_rsp_ready_i,
    output logic mem_rsp_err_o,

    output logic [IdW-1:0] m_axi_awid,
    output logic [AddrW-1:0] m_axi_awaddr,
    output logic [7:0] m_axi_awlen,
    output logic [2:0] m_axi_awsize,
    output logic [1:0] m_axi_awburst,
    output logic m_axi_awlock,
    output logic [3:0] m_axi_awcache,
    output logic [2:0] m_axi_awprot,
    output logic [3:0] m_axi_awqos,
    output logic m_axi_awvalid,
    input logic m_axi_awready,
    output logic [DataW-1:0] m_axi_wdata,
    output logic [DataW/8-1:0] m_axi_wstrb,
    output logic m_axi_wlast,
    output logic m_axi_wvalid,
    input logic m_axi_wready,
    input logic [IdW-1:0] m_axi_bid,
    input logic [1:0] m_axi_bresp,
    input logic m_axi_bvalid,
    output logic m_axi_bready
);
  if (IdW < 1) begin : gen_bad_id
    axi_write_master_IdW_must_be_at_least_1 u_bad ();
  end

  assign m_axi_awid = '0;
  assign m_axi_awsize = 3'($clog2(DataW / 8));
  assign m_axi_awburst = 2'b01;  // INCR
  assign m_axi_awlock = 1'b0;
  assign m_axi_awcache = 4'b0010;
  assign m_axi_awprot = 3'b000;
  assign m_axi_awqos = 4'b0000;

  logic new_burst, open_valid, open_final, end_valid, end_take, end_err;
  logic [7:0] new_len;

  axi_burst_cut #(
      .AddrW(AddrW),
      .DataW(DataW),
      .Outstanding(Outstanding)
  ) u_cut (
      .clk_i,
      .rst_i,
      .busy_o,
      .in_valid_i  (mem_cmd_valid_i),
      .in_ready_o  (mem_cmd_ready_o),
      .in_addr_i   (mem_cmd_addr_i),
      .in_len_i    (mem_cmd_len_i),
      .out_valid_o (m_axi_awvalid),
      .out_ready_i (m_axi_awready),
      .out_addr_o  (m_axi_awaddr),
      .out_len_o   (m_axi_awlen),
      .new_o       (new_burst),
      .new_len_o   (new_len),
      .open_valid_o(open_valid),
      .open_final_o(open_final),
      .done_i      (end_valid && end_take)
  );

  // Lengths of the bursts with data still to come. Each of them also awaits its response, so there is always room.
  logic len_valid, len_ready, data_ready, data_take, data_end;
  logic [7:0] len, beat_q;
  logic [$clog2(Outstanding + 1)-1:0] unused_level;

  fifo #(
      .W(8),
      .Depth(Outstanding)
  ) u_len (
      .clk_i,
      .rst_i,
      .in_valid_i (new_burst),
      .in_ready_o (len_ready),
      .in_data_i  (new_len),
      .out_valid_o(len_valid),
      .out_ready_i(data_take && data_end),
      .out_data_o (len),
      .level_o    (unused_level)
  );

  assign mem_data_ready_o = len_valid && data_ready;
  assign data_take = mem_data_valid_i && mem_data_ready_o;
  assign data_end = beat_q == len;

  always_ff @(posedge clk_i) begin
    if (rst_i) beat_q <= '0;
    else if (data_take) beat_q <= data_end ? '0 : beat_q + 8'd1;
  end

  skid #(
      .W(DataW + DataW / 8 + 1)
  ) u_data (
      .clk_i,
      .rst_i,
      .in_valid_i (data_take),
      .in_ready_o (data_ready),
      .in_data_i  ({data_end, mem_data_strb_i, mem_data_data_i}),
      .out_valid_o(m_axi_wvalid),
      .out_ready_i(m_axi_wready),
      .out_data_o ({m_axi_wlast, m_axi_wstrb, m_axi_wdata})
  );

  // If a command was cut in two, the error of its first burst waits for the response of its second.
  logic err_q;

  skid #(
      .W(1)
  ) u_end (
      .clk_i,
      .rst_i,
      .in_valid_i (m_axi_bvalid),
      .in_ready_o (m_axi_bready),
      .in_data_i  (m_axi_bresp[1]),
      .out_valid_o(end_valid),
      .out_ready_i(end_take),
      .out_data_o (end_err)
  );

  assign end_take = !open_final || mem_rsp_ready_i;
  assign mem_rsp_valid_o = end_valid && open_final;
  assign mem_rsp_err_o = end_err || err_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) err_q <= 1'b0;
    else if (end_valid && end_take) err_q <= !open_final && end_err;
  end

  logic unused;
  assign unused = &{1'b0, m_axi_bid, m_axi_bresp[0], mem_data_last_i, open_valid, len_ready, unused_level};

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!end_valid || open_valid);
      assert (!new_burst || len_ready);
      assert (!data_take || !mem_data_last_i || data_end);
    end
  end
`endif
endmodule
