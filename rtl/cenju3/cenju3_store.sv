// SPDX-License-Identifier: MIT OR Apache-2.0
// Cenju-3 NIC: all writes to memory, in order of request, through one write engine.
//
// Jobs       {kind of job, address, bytes}: a header (its 16 bytes come with the job), or a body (its words come on
//            `body_*`). The Sender's status word is a third client. It goes before a job, but waits for a body in
//            progress.
// Done       one per job, in order, when it is in memory; error bits {long, short, bus} as in dma_write.
//            `status_done_o` is a pulse. A bus error of the status word itself is ignored: it cannot be reported
//            anywhere.
// Latency    as dma_write; 1 word per cycle, no bubble between jobs.
// Source     ours.
module cenju3_store #(
    parameter int BusW = 32,  // bits of a bus word, 32 or 64
    parameter int BurstBeats = 8,  // words in the longest burst
    parameter int Outstanding = 4,  // bursts that may await their response
    localparam int KeepW = $clog2(BusW / 8)
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic job_valid_i,
    output logic job_ready_o,
    input logic job_body_i,  // 0 header, 1 body
    input logic [31:0] job_addr_i,
    input logic [9:0] job_bytes_i,
    input logic [127:0] job_header_i,
    input logic body_valid_i,
    output logic body_ready_o,
    input logic [BusW-1:0] body_data_i,
    input logic [KeepW-1:0] body_keep_i,  // bytes, minus 1
    input logic body_last_i,
    output logic done_valid_o,
    output logic done_body_o,
    output logic [2:0] done_err_o,

    input logic status_valid_i,
    output logic status_ready_o,
    input logic [31:0] status_addr_i,
    input logic [31:0] status_data_i,
    output logic status_done_o,

    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [31:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    output logic mem_data_valid_o,
    input logic mem_data_ready_i,
    output logic [BusW-1:0] mem_data_data_o,
    output logic [BusW/8-1:0] mem_data_strb_o,
    output logic mem_data_last_o,
    input logic mem_rsp_valid_i,
    output logic mem_rsp_ready_o,
    input logic mem_rsp_err_i
);
  localparam int HeadBeats = cenju3_pkg::PacketHeaderBytes * 8 / BusW;
  localparam int HeadW = $clog2(HeadBeats);

  if (BusW != 32 && BusW != 64) begin : gen_bad_bus
    cenju3_store_BusW_must_be_32_or_64 u_bad ();
  end

  // --------------------------------------------------------------------------------------------------------- selection
  logic cmd_ready, order_ready, note_ready, accept;
  assign status_ready_o = cmd_ready && order_ready && note_ready;
  assign job_ready_o = status_ready_o && !status_valid_i;
  assign accept = status_ready_o && (status_valid_i || job_valid_i);

  // Data in order of the jobs: {status, body, header or status word}.
  logic order_valid, order_pop, order_status, order_body;
  logic [127:0] order_words;
  logic [  2:0] order_level;
  fifo #(
      .W(128),
      .Depth(4)
  ) u_order (
      .clk_i,
      .rst_i,
      .in_valid_i(accept),
      .in_ready_o(order_ready),
      .in_data_i(status_valid_i ? {96'b0, status_data_i} : job_header_i),
      .out_valid_o(order_valid),
      .out_ready_i(order_pop),
      .out_data_o(order_words),
      .level_o(order_level)
  );
  // Their kinds are in flip-flops, the oldest first: the engine's next command depends on it.
  logic [3:0][1:0] kind_q, kept;
  logic [2:0] place;
  assign kept  = order_pop ? kind_q >> 2 : kind_q;
  assign place = order_level - 3'(order_pop);
  always_ff @(posedge clk_i) begin
    for (int n = 0; n < 4; n++) begin
      kind_q[n] <= accept && place == 3'(n) ? {status_valid_i, !status_valid_i && job_body_i} : kept[n];
    end
  end
  assign {order_status, order_body} = kind_q[0];

  logic [HeadW-1:0] beat_q;
  logic in_valid, in_ready, in_last, take;
  logic [ BusW-1:0] in_data;
  logic [KeepW-1:0] in_keep;
  assign in_valid = order_valid && (!order_body || body_valid_i);
  assign take = in_valid && in_ready;
  assign body_ready_o = order_valid && order_body && in_ready;
  assign order_pop = take && in_last;
  always_comb begin
    in_data = order_words[32'(beat_q)*BusW+:BusW];
    in_keep = order_status ? KeepW'(3) : '1;
    in_last = order_status || beat_q == HeadW'(HeadBeats - 1);
    if (order_body) begin
      in_data = body_data_i;
      in_keep = body_keep_i;
      in_last = body_last_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) beat_q <= (in_last || order_body) ? '0 : beat_q + HeadW'(1);
    if (rst_i) beat_q <= '0;
  end

  // -------------------------------------------------------------------------------------------------------- the engine
  logic done_valid, note_valid, note_status, write_busy;
  logic [3:0] note_level;
  dma_write #(
      .DataW(BusW),
      .LenW(10),
      .BurstBeats(BurstBeats),
      .Outstanding(Outstanding)
  ) u_write (
      .clk_i,
      .rst_i,
      .busy_o(write_busy),
      .cmd_valid_i(accept),
      .cmd_ready_o(cmd_ready),
      .cmd_addr_i(status_valid_i ? status_addr_i : job_addr_i),
      .cmd_bytes_i(status_valid_i ? 10'd4 : job_bytes_i),
      .in_valid_i(in_valid),
      .in_ready_o(in_ready),
      .in_data_i(in_data),
      .in_keep_i(in_keep),
      .in_last_i(in_last),
      .mem_cmd_valid_o,
      .mem_cmd_ready_i,
      .mem_cmd_addr_o,
      .mem_cmd_len_o,
      .mem_data_valid_o,
      .mem_data_ready_i,
      .mem_data_data_o,
      .mem_data_strb_o,
      .mem_data_last_o,
      .mem_rsp_valid_i,
      .mem_rsp_ready_o,
      .mem_rsp_err_i,
      .done_valid_o(done_valid),
      .done_ready_i(1'b1),
      .done_err_o
  );

  fifo #(
      .W(2),
      .Depth(8)
  ) u_notes (
      .clk_i,
      .rst_i,
      .in_valid_i(accept),
      .in_ready_o(note_ready),
      .in_data_i({status_valid_i, !status_valid_i && job_body_i}),
      .out_valid_o(note_valid),
      .out_ready_i(done_valid),
      .out_data_o({note_status, done_body_o}),
      .level_o(note_level)
  );
  assign done_valid_o = done_valid && !note_status;
  assign status_done_o = done_valid && note_status;
  assign busy_o = write_busy || order_level != '0 || note_level != '0;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) assert (!done_valid || note_valid);
  end
`else
  logic unused_note;
  assign unused_note = note_valid;
`endif
endmodule
