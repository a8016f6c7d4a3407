// SPDX-License-Identifier: MIT OR Apache-2.0
// AXI4 slave in front of a memory-mapped window: bursts become single accesses with the protocol of a NIC's host port.
//
// AXI        FIXED, INCR and WRAP; narrow and unaligned. IDs return with the responses; the responses of each direction
//            come in the order of the addresses. Refused with SLVERR, and not executed: exclusive accesses and bursts
//            that break the standard (axi_beats). Reads and writes do not wait for one another. Cache, protection and
//            quality bits are ignored.
// Window     request {write, address of the beat, data, strobes}, then its response {data, error}, in order. The window
//            decides how many are outstanding. Data lanes are those of the bus; `strb` of a read marks the requested
//            bytes. An error becomes SLVERR: for a read with its beat, for a write with the burst.
// Latency    3 cycles from address (and data) to request, 1 from window response to AXI response. 1 beat per cycle, no
//            bubble between bursts, if the window responds within Outstanding - 3 cycles.
// Full       see axi_window; addresses and data then wait in their channels.
// Misuse     WLAST is ignored: beats are counted. Strobes outside a beat's lanes are dropped.
// Reset      drops everything; master and window must be reset, too.
// busy_o     low when nothing is inside or outstanding.
// Source     AXI4 (IHI 0022). Names of the AXI side are the standard's.
module axi_slave #(
    parameter int AddrW = 32,  // bits of a byte address, >= 12
    parameter int DataW = 32,  // bits of a word: 32, 64 or 128
    parameter int IdW = 4,  // bits of an ID, >= 1
    parameter int Outstanding = 8,  // outstanding responses of each direction, >= 1
    localparam int StrbW = DataW / 8
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [IdW-1:0] s_axi_awid,
    input logic [AddrW-1:0] s_axi_awaddr,
    input logic [7:0] s_axi_awlen,
    input logic [2:0] s_axi_awsize,
    input logic [1:0] s_axi_awburst,
    input logic s_axi_awlock,
    input logic [3:0] s_axi_awcache,
    input logic [2:0] s_axi_awprot,
    input logic [3:0] s_axi_awqos,
    input logic s_axi_awvalid,
    output logic s_axi_awready,
    input logic [DataW-1:0] s_axi_wdata,
    input logic [StrbW-1:0] s_axi_wstrb,
    input logic s_axi_wlast,
    input logic s_axi_wvalid,
    output logic s_axi_wready,
    output logic [IdW-1:0] s_axi_bid,
    output logic [1:0] s_axi_bresp,
    output logic s_axi_bvalid,
    input logic s_axi_bready,
    input logic [IdW-1:0] s_axi_arid,
    input logic [AddrW-1:0] s_axi_araddr,
    input logic [7:0] s_axi_arlen,
    input logic [2:0] s_axi_arsize,
    input logic [1:0] s_axi_arburst,
    input logic s_axi_arlock,
    input logic [3:0] s_axi_arcache,
    input logic [2:0] s_axi_arprot,
    input logic [3:0] s_axi_arqos,
    input logic s_axi_arvalid,
    output logic s_axi_arready,
    output logic [IdW-1:0] s_axi_rid,
    output logic [DataW-1:0] s_axi_rdata,
    output logic [1:0] s_axi_rresp,
    output logic s_axi_rlast,
    output logic s_axi_rvalid,
    input logic s_axi_rready,

    output logic win_req_valid_o,
    input logic win_req_ready_i,
    output logic win_req_write_o,
    output logic [AddrW-1:0] win_req_addr_o,
    output logic [DataW-1:0] win_req_wdata_o,
    output logic [StrbW-1:0] win_req_wstrb_o,
    input logic win_rsp_valid_i,
    output logic win_rsp_ready_o,
    input logic [DataW-1:0] win_rsp_rdata_i,
    input logic win_rsp_err_i
);
  // Index 0: reads; 1: writes.
  localparam int BurstW = IdW + AddrW + 8 + 3 + 2 + 1;
  logic [1:0] in_valid, in_ready, burst_valid, burst_ready, beat_valid, beat_ready, beat_last, beat_refuse;
  logic [1:0][BurstW-1:0] in_burst;
  logic [1:0][IdW-1:0] beat_id;
  logic [1:0][AddrW-1:0] beat_addr;
  logic [1:0][StrbW-1:0] beat_lanes;

  assign in_valid = {s_axi_awvalid, s_axi_arvalid};
  assign {s_axi_awready, s_axi_arready} = in_ready;
  assign in_burst[0] = {s_axi_arid, s_axi_araddr, s_axi_arlen, s_axi_arsize, s_axi_arburst, s_axi_arlock};
  assign in_burst[1] = {s_axi_awid, s_axi_awaddr, s_axi_awlen, s_axi_awsize, s_axi_awburst, s_axi_awlock};

  for (genvar g = 0; g < 2; g++) begin : g_direction
    logic [IdW-1:0] id;
    logic [AddrW-1:0] addr;
    logic [7:0] len;
    logic [2:0] size;
    logic [1:0] burst;
    logic lock;

    skid #(
        .W(BurstW)
    ) u_burst (
        .clk_i,
        .rst_i,
        .in_valid_i (in_valid[g]),
        .in_ready_o (in_ready[g]),
        .in_data_i  (in_burst[g]),
        .out_valid_o(burst_valid[g]),
        .out_ready_i(burst_ready[g]),
        .out_data_o ({id, addr, len, size, burst, lock})
    );

    axi_beats #(
        .AddrW(AddrW),
        .DataW(DataW),
        .IdW  (IdW)
    ) u_beats (
        .clk_i,
        .rst_i,
        .in_valid_i  (burst_valid[g]),
        .in_ready_o  (burst_ready[g]),
        .in_id_i     (id),
        .in_addr_i   (addr),
        .in_len_i    (len),
        .in_size_i   (size),
        .in_burst_i  (burst),
        .in_lock_i   (lock),
        .out_valid_o (beat_valid[g]),
        .out_ready_i (beat_ready[g]),
        .out_id_o    (beat_id[g]),
        .out_addr_o  (beat_addr[g]),
        .out_lanes_o (beat_lanes[g]),
        .out_last_o  (beat_last[g]),
        .out_refuse_o(beat_refuse[g])
    );
  end

  logic data_valid, data_last, write_valid, write_ready;
  logic [DataW-1:0] data;
  logic [StrbW-1:0] strb;

  skid #(
      .W(DataW + StrbW + 1)
  ) u_data (
      .clk_i,
      .rst_i,
      .in_valid_i (s_axi_wvalid),
      .in_ready_o (s_axi_wready),
      .in_data_i  ({s_axi_wlast, s_axi_wstrb, s_axi_wdata}),
      .out_valid_o(data_valid),
      .out_ready_i(beat_valid[1] && write_ready),
      .out_data_o ({data_last, strb, data})
  );
  assign write_valid   = beat_valid[1] && data_valid;
  assign beat_ready[1] = data_valid && write_ready;

  logic window_busy;

  axi_window #(
      .AddrW(AddrW),
      .DataW(DataW),
      .IdW(IdW),
      .Outstanding(Outstanding)
  ) u_window (
      .clk_i,
      .rst_i,
      .busy_o(window_busy),
      .rd_valid_i(beat_valid[0]),
      .rd_ready_o(beat_ready[0]),
      .rd_id_i(beat_id[0]),
      .rd_addr_i(beat_addr[0]),
      .rd_lanes_i(beat_lanes[0]),
      .rd_last_i(beat_last[0]),
      .rd_refuse_i(beat_refuse[0]),
      .wr_valid_i(write_valid),
      .wr_ready_o(write_ready),
      .wr_id_i(beat_id[1]),
      .wr_addr_i(beat_addr[1]),
      .wr_data_i(data),
      .wr_strb_i(strb & beat_lanes[1]),
      .wr_last_i(beat_last[1]),
      .wr_refuse_i(beat_refuse[1]),
      .win_req_valid_o,
      .win_req_ready_i,
      .win_req_write_o,
      .win_req_addr_o,
      .win_req_wdata_o,
      .win_req_wstrb_o,
      .win_rsp_valid_i,
      .win_rsp_ready_o,
      .win_rsp_rdata_i,
      .win_rsp_err_i,
      .r_valid_o(s_axi_rvalid),
      .r_ready_i(s_axi_rready),
      .r_id_o(s_axi_rid),
      .r_data_o(s_axi_rdata),
      .r_resp_o(s_axi_rresp),
      .r_last_o(s_axi_rlast),
      .b_valid_o(s_axi_bvalid),
      .b_ready_i(s_axi_bready),
      .b_id_o(s_axi_bid),
      .b_resp_o(s_axi_bresp)
  );
  assign busy_o = |burst_valid || |beat_valid || data_valid || window_busy;

  logic unused;
  assign unused = &{1'b0, s_axi_awcache, s_axi_awprot, s_axi_awqos, data_last, s_axi_arcache, s_axi_arprot,
                    s_axi_arqos};

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) assert (!(write_valid && write_ready) || data_last == beat_last[1]);
  end
`endif
endmodule
