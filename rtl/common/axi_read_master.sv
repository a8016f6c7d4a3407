// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory read streams (the protocol of `dma_read`) to the read channels of an AXI4 master.
//
// Memory     commands {addr, len = beats - 1}, word aligned. Data come in order, `last` with a command's last word,
//            `err` with each word that the slave answered with SLVERR or DECERR.
// AXI        INCR bursts of whole words, cut at 4 KB (axi_burst_cut). All have one ID, so the slave answers in order.
//            Normal, not cacheable, not bufferable. `m_axi_rready` waits for room only; `m_axi_rid` is ignored.
// Latency    2 cycles from command to address, 1 from AXI data to memory data. 1 word per cycle, no bubble between
//            commands, one-word ones included, if the slave answers within (Outstanding - 3) bursts.
// Full       at most Outstanding AXI bursts await data, then commands wait. A word that the client does not take stops
//            `m_axi_rready`.
// Misuse     if a slave never answers, the master waits forever. Data without a requested burst fail an assertion.
// Reset      drops everything; the slave must be reset, too.
// busy_o     low when nothing is inside or outstanding.
// Source     AXI4 (IHI 0022). Names of the AXI side are the standard's.
module axi_read_master #(
    parameter int AddrW = 32,  // bits of a byte address, > 12
    parameter int DataW = 32,  // bits of a word: 32, 64 or 128
    parameter int IdW = 1,  // bits of an ID, >= 1; it is always 0
    parameter int Outstanding = 4  // AXI bursts that may await data, >= 1
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic mem_cmd_valid_i,
    output logic mem_cmd_ready_o,
    input logic [AddrW-1:0] mem_cmd_addr_i,
    input logic [7:0] mem_cmd_len_i,
    output logic mem_data_valid_o,
    input logic mem_data_ready_i,
    output logic [DataW-1:0] mem_data_data_o,
    output logic mem_data_last_o,
    output logic mem_data_err_o,

    output logic [IdW-1:0] m_axi_arid,
    output logic [AddrW-1:0] m_axi_araddr,
    output logic [7:0] m_axi_arlen,
    output logic [2:0] m_axi_arsize,
    output logic [1:0] m_axi_arburst,
    output logic m_axi_arlock,
    output logic [3:0] m_axi_arcache,
    output logic [2:0] m_axi_arprot,
    output logic [3:0] m_axi_arqos,
    output logic m_axi_arvalid,
    input logic m_axi_arready,
    input logic [IdW-1:0] m_axi_rid,
    input logic [DataW-1:0] m_axi_rdata,
    input logic [1:0] m_axi_rresp,
    input logic m_axi_rlast,
    input logic m_axi_rvalid,
    output logic m_axi_rready
);
  if (IdW < 1) begin : gen_bad_id
    axi_read_master_IdW_must_be_at_least_1 u_bad ();
  end

  assign m_axi_arid = '0;
  assign m_axi_arsize = 3'($clog2(DataW / 8));
  assign m_axi_arburst = 2'b01;  // INCR
  assign m_axi_arlock = 1'b0;
  assign m_axi_arcache = 4'b0010;  // a read returns the present contents of memory
  assign m_axi_arprot = 3'b000;
  assign m_axi_arqos = 4'b0000;

  logic open_valid, open_final, data_end, unused_new;
  logic [7:0] unused_new_len;

  logic unused;
  assign unused = &{1'b0, m_axi_rid, m_axi_rresp[0], open_valid, unused_new, unused_new_len};

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
      .out_valid_o (m_axi_arvalid),
      .out_ready_i (m_axi_arready),
      .out_addr_o  (m_axi_araddr),
      .out_len_o   (m_axi_arlen),
      .new_o       (unused_new),
      .new_len_o   (unused_new_len),
      .open_valid_o(open_valid),
      .open_final_o(open_final),
      .done_i      (mem_data_valid_o && mem_data_ready_i && data_end)
  );

  skid #(
      .W(DataW + 2)
  ) u_data (
      .clk_i,
      .rst_i,
      .in_valid_i (m_axi_rvalid),
      .in_ready_o (m_axi_rready),
      .in_data_i  ({m_axi_rresp[1], m_axi_rlast, m_axi_rdata}),
      .out_valid_o(mem_data_valid_o),
      .out_ready_i(mem_data_ready_i),
      .out_data_o ({mem_data_err_o, data_end, mem_data_data_o})
  );
  assign mem_data_last_o = data_end && open_final;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) assert (!mem_data_valid_o || open_valid);
  end
`endif
endmodule
