// SPDX-License-Identifier: MIT OR Apache-2.0
// Output buffer of EM-4/EM-X (OBU): packets of threads and answers of the input buffer, on their way to the network.
//
// Producers  0: the execution unit, 1: the input buffer's answers. A packet is 78 bits, word 0 above. Both speak
//            valid/ready. An answer goes before a thread's packet of the same cycle. `in_ready_o[1]` promises a place
//            in the next cycle: one place is kept for answers where there are any (ReadBypass).
// Output     two words, the second one directly behind the first. A packet begins where `out_room_i` is high and no
//            word 1 is due: whoever takes it loads it into a register at the end of that cycle.
// Latency    0 through an empty buffer, for the execution unit; 1 through the buffer. 2 cycles a packet, first in first
//            out.
// Full       `in_ready_o` is low with OutputPackets packets. OutputPackets 0: there is no buffer, and a thread hands
//            its packet over where `out_room_i` is high.
// Paths      from producer 0 to the output, and from `out_room_i` to the output, and without a buffer to `in_ready_o`;
//            the unit is a part of `emx_pe`, whose pins are flip-flops.
// Reset      drops what is inside, in mid-flight too.
// busy_o     low when nothing is inside.
// Source     public: EMC-Y has an output buffer; its depth is ours.
module emx_output #(
    parameter int OutputPackets = 0,  // packets of threads that it holds
    parameter bit ReadBypass = 1'b0  // the input buffer sends answers
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [1:0] in_valid_i,
    output logic [1:0] in_ready_o,
    input logic [1:0][77:0] in_packet_i,
    output logic out_valid_o,
    output logic [38:0] out_data_o,
    output logic out_last_o,
    input logic out_room_i
);

  if (OutputPackets < 0) begin : gen_bad_depth
    emx_output_OutputPackets_must_not_be_negative u_bad ();
  end
  if (ReadBypass && OutputPackets < 1) begin : gen_bad_reply
    emx_output_ReadBypass_needs_OutputPackets u_bad ();
  end

  logic second_q;  // word 1 is due
  logic [38:0] word1_q;
  logic may_begin, begins, stored;
  logic [77:0] packet;
  assign may_begin = out_room_i && !second_q;

  if (OutputPackets == 0) begin : gen_direct
    logic unused;
    assign unused = ^{in_valid_i[1], in_packet_i[1]};
    assign in_ready_o = {1'b0, may_begin};
    assign begins = in_valid_i[0] && may_begin;
    assign packet = in_packet_i[0];
    assign stored = 1'b0;
  end else begin : gen_buffer
    localparam int Depth = OutputPackets + (ReadBypass ? 1 : 0);
    localparam int LevelW = $clog2(Depth + 1);
    logic passes, push, ready;
    logic [77:0] front;
    logic [LevelW-1:0] level;
    fifo #(
        .W(78),
        .Depth(Depth)
    ) u_fifo (
        .clk_i,
        .rst_i,
        .in_valid_i(push),
        .in_ready_o(ready),
        .in_data_i(in_valid_i[1] ? in_packet_i[1] : in_packet_i[0]),
        .out_valid_o(stored),
        .out_ready_i(may_begin),
        .out_data_o(front),
        .level_o(level)
    );
    assign in_ready_o[1] = ReadBypass && ready;
    assign in_ready_o[0] = ready && !in_valid_i[1] && level < LevelW'(OutputPackets);
    assign passes = may_begin && !stored && in_valid_i[0] && in_ready_o[0];
    assign push = (in_valid_i[1] && in_ready_o[1]) || (in_valid_i[0] && in_ready_o[0] && !passes);
    assign begins = passes || (may_begin && stored);
    assign packet = stored ? front : in_packet_i[0];
`ifdef TSUNAGI_ASSERT
    always_ff @(posedge clk_i) begin
      if (!rst_i) assert (!in_valid_i[1] || in_ready_o[1]);
    end
`endif
  end

  always_ff @(posedge clk_i) begin
    second_q <= !rst_i && begins;
    word1_q  <= packet[38:0];
  end

  assign out_valid_o = begins || second_q;
  assign out_data_o = second_q ? word1_q : packet[77:39];
  assign out_last_o = second_q;
  assign busy_o = stored || second_q;
endmodule
