// SPDX-License-Identifier: MIT OR Apache-2.0
// `omega` carries words from any port to any other: in order, in whole packets, nothing lost or invented.
//
// The source of each word is kept. An offer holds. If no packet waits for its source, a word inside shows within the
// latency of the network (radix 2). `busy_o` is low only at rest.
//
// Every word carries the number of its source port: the network ignores it. Nothing is assumed of sources and sinks. No
// queue fills within the steps of the proof.
module prove_omega #(
    parameter  int Radix  = 2,
    parameter  int Stages = 2,
    localparam int Ports  = Radix ** Stages,
    localparam int DigitW = $clog2(Radix),
    localparam int DestW  = Stages * DigitW,
    localparam int PortW  = $clog2(Ports),
    localparam int W      = DestW + PortW + 1
) (
    input logic clk_i,
    input logic rst_i,
    input logic [Ports-1:0] in_valid_i,
    input logic [Ports-1:0][DestW-1:0] in_dest_i,
    input logic [Ports-1:0] in_bit_i,
    input logic [Ports-1:0] in_last_i,
    input logic [Ports-1:0] out_ready_i,
    input logic mark_i
);
  localparam int Words = 64;  // between two ports: more than possible
  localparam int WordsW = $clog2(Words + 2);

  logic [Ports-1:0] in_ready, out_valid, out_last;
  logic [Ports-1:0][W-1:0] in_data, out_data;
  logic busy;
  logic [15:0] unused_unroutable;
  for (genvar p = 0; p < Ports; p++) begin : gen_source
    assign in_data[p] = {in_bit_i[p], PortW'(p), in_dest_i[p]};
  end

  omega #(
      .Radix(Radix),
      .Stages(Stages),
      .W(W)
  ) dut (
      .clk_i,
      .rst_i,
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_data_i(in_data),
      .in_last_i,
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o(out_data),
      .out_last_o(out_last),
      .busy_o(busy),
      .unroutable_o(unused_unroutable)
  );
  power_up u_power_up (.*);

  // The checked pair: registers that keep their initial value.
  logic [PortW-1:0] src_q, dst_q, src, dst;
  always_ff @(posedge clk_i) {src_q, dst_q} <= {src_q, dst_q};
  assign src = int'(src_q) < Ports ? src_q : '0;
  assign dst = int'(dst_q) < Ports ? dst_q : '0;

  // `first_q`: each port's packet begins with its next word. `to`: the destination of the packet at `src`. `enters`: a
  // word goes from `src` to `dst`. `amid_q`, `from_q`: a packet is open at `dst`, and its source.
  logic [Ports-1:0] first_q;
  logic amid_q, enters, give;
  logic [DestW-1:0] to_q, to;
  logic [PortW-1:0] from, from_q;
  always_comb begin
    to = first_q[src] ? in_dest_i[src] : to_q;
    enters = in_valid_i[src] && in_ready[src];
    for (int s = 0; s < Stages; s++) begin
      if (int'(to[s*DigitW+:DigitW]) != int'(dst) / Radix ** s % Radix) enters = 1'b0;
    end
  end
  assign give = out_valid[dst] && out_ready_i[dst];
  assign from = out_data[dst][DestW+:PortW];
  always_ff @(posedge clk_i) begin
    for (int p = 0; p < Ports; p++) if (in_valid_i[p] && in_ready[p]) first_q[p] <= in_last_i[p];
    if (in_valid_i[src] && in_ready[src]) to_q <= to;
    if (give) {amid_q, from_q} <= {!out_last[dst], from};
    if (rst_i) {first_q, amid_q} <= {{Ports{1'b1}}, 1'b0};
  end

  logic [WordsW-1:0] count, unused_ahead;
  logic unused_follow;
  logic [W:0] unused_word;
  stream_track #(
      .W(W + 1),
      .Capacity(Words),
      .Fills(1'b0)
  ) u_way (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(enters),
      .in_data_i({in_last_i[src], in_data[src]}),
      .pop_i(give && from == src),
      .out_data_i({out_last[dst], out_data[dst]}),
      .inside_o(count),
      .follow_o(unused_follow),
      .ahead_o(unused_ahead),
      .word_o(unused_word)
  );
  stream_rules #(
      .W(W + 1)
  ) u_sink (
      .clk_i,
      .rst_i,
      .valid_i(out_valid[dst]),
      .ready_i(out_ready_i[dst]),
      .data_i ({out_last[dst], out_data[dst]})
  );

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      packets_unmixed : assert (!give || !amid_q || from == from_q);
      rest : assert (busy || count == '0);
      long_packet : cover (give && amid_q && out_last[dst]);
    end
  end
  // Cycles in a row without an offer although a word is inside and no packet waits for its source. Packets without an
  // output, which only other radices have, take cycles unseen.
  if (2 ** DigitW == Radix) begin : gen_progress
    localparam int Latency = 4 * Stages;
    logic [$clog2(Latency+1)-1:0] quiet_q;
    always_ff @(posedge clk_i) begin
      quiet_q <= (rst_i || count == '0 || first_q != '1 || out_valid != '0) ? '0 : quiet_q + ($clog2(Latency + 1))'(1);
      if (!rst_i) begin
        goes_on : assert (int'(quiet_q) < Latency);
      end
    end
  end
endmodule
