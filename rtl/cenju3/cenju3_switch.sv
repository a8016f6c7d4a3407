// SPDX-License-Identifier: MIT OR Apache-2.0
// One 4x4 switch of Cenju-3's network: synchronisation, switching and the idle time between packets on a link.
//
// Purpose    carries packets of 16-bit flits from four input links to four output links by digit digit_i of the route
//            flit (two bits a digit, PE number in the low byte).
// Handshake  as crossbar. After a packet's last flit an output link stays idle for idle_i cycles.
// Latency    10 cycles transfer to transfer when nothing is in the way: 5 to synchronise, 4 in the crossbar, 1 in the
//            output stage.
// Full       an input holds BufFlits flits before its synchroniser's end, and some more behind it; then its ready
//            falls.
// Misuse     digit_i and idle_i must be static.
// busy_o     0 after an edge: nothing is inside, no link is in its idle time, further edges change nothing.
// Source     NEC's paper: 4x4 switches, 16 bits at 20 MHz, about 1 us of synchronisation and 1 us of switching over
//            four stages, hence 5 + 5 cycles each. idle_i stands for its "a little under 38 MB/s after
//            synchronisation". The depth of the buffers and the arbiter are our own guess.
module cenju3_switch #(
    parameter int BufFlits = 32,  // flits an input can hold, at least 8 for full rate; 272 is a whole packet
    localparam int N = 4,
    localparam int W = 16
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic [  1:0]        digit_i,
    input  logic [  7:0]        idle_i,
    input  logic [N-1:0]        in_valid_i,
    output logic [N-1:0]        in_ready_o,
    input  logic [N-1:0][W-1:0] in_data_i,
    input  logic [N-1:0]        in_last_i,
    output logic [N-1:0]        out_valid_o,
    input  logic [N-1:0]        out_ready_i,
    output logic [N-1:0][W-1:0] out_data_o,
    output logic [N-1:0]        out_last_o,
    output logic                busy_o,
    output logic [ 15:0]        unroutable_o
);

  if (BufFlits < 8) begin : gen_bad_buf_flits
    cenju3_switch_BufFlits_must_be_at_least_8 u_bad ();
  end

  localparam int SyncCycles = 5;
  localparam int LevelW = $clog2(BufFlits + 1);

  logic [N-1:0] sync_valid, sync_ready, sync_last, sync_full;
  logic [N-1:0][W-1:0] sync_data;
  logic [N-1:0] cross_valid, cross_ready, cross_last;
  logic [N-1:0][W-1:0] cross_data;
  logic [2*N-1:0] unused_source;
  logic cross_busy;

  for (genvar i = 0; i < N; i++) begin : gen_in
    logic [LevelW-1:0] level;
    stream_delay #(
        .W(W + 1),
        .Depth(BufFlits),
        .Delay(SyncCycles)
    ) u_sync (
        .clk_i      (clk_i),
        .rst_i      (rst_i),
        .in_valid_i (in_valid_i[i]),
        .in_ready_o (in_ready_o[i]),
        .in_data_i  ({in_last_i[i], in_data_i[i]}),
        .out_valid_o(sync_valid[i]),
        .out_ready_i(sync_ready[i]),
        .out_data_o ({sync_last[i], sync_data[i]}),
        .level_o    (level)
    );
    assign sync_full[i] = level != '0;
  end

  crossbar #(
      .N(N),
      .W(W),
      .Digits(4)
  ) u_crossbar (
      .clk_i       (clk_i),
      .rst_i       (rst_i),
      .digit_i     (digit_i),
      .in_valid_i  (sync_valid),
      .in_ready_o  (sync_ready),
      .in_data_i   (sync_data),
      .in_last_i   (sync_last),
      .out_valid_o (cross_valid),
      .out_ready_i (cross_ready),
      .out_data_o  (cross_data),
      .out_last_o  (cross_last),
      .out_source_o(unused_source),
      .busy_o      (cross_busy),
      .unroutable_o(unroutable_o)
  );

  logic [N-1:0] idle_busy;
  for (genvar o = 0; o < N; o++) begin : gen_out
    stream_gap #(
        .W(W),
        .GapW(8)
    ) u_idle (
        .clk_i      (clk_i),
        .rst_i      (rst_i),
        .gap_i      (idle_i),
        .in_valid_i (cross_valid[o]),
        .in_ready_o (cross_ready[o]),
        .in_data_i  (cross_data[o]),
        .in_last_i  (cross_last[o]),
        .out_valid_o(out_valid_o[o]),
        .out_ready_i(out_ready_i[o]),
        .out_data_o (out_data_o[o]),
        .out_last_o (out_last_o[o]),
        .busy_o     (idle_busy[o])
    );
  end

  always_ff @(posedge clk_i) begin
    busy_o <= rst_i || (in_valid_i | sync_full | idle_busy) != '0 || cross_busy;
  end

endmodule
