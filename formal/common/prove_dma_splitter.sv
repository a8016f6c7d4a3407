// SPDX-License-Identifier: MIT OR Apache-2.0
// `dma_splitter` cuts a parcel into packets: joined in order they are the parcel, and none reaches outside it.
//
// No packet is empty or too long. Only the last one carries the flags. Packets are numbered. While a parcel waits there
// is no bubble.
module prove_dma_splitter #(
    parameter int AddrW = 5,
    parameter int LenW = 4,
    parameter int PacketBytes = 4,
    parameter int FlagsW = 1,
    parameter int UserW = 1,
    parameter int SeqW = 1,
    parameter bit Early = 1'b0,
    localparam int BytesW = $clog2(PacketBytes) + 1
) (
    input logic clk_i,
    input logic rst_i,
    input logic in_valid_i,
    input logic [AddrW-1:0] in_src_i,
    input logic [AddrW-1:0] in_dst_i,
    input logic [LenW-1:0] in_bytes_i,
    input logic [FlagsW-1:0] in_flags_i,
    input logic [UserW-1:0] in_user_i,
    input logic out_ready_i,
    input logic mark_i
);
  typedef struct packed {
    logic [AddrW-1:0]  src;
    logic [AddrW-1:0]  dst;
    logic [LenW-1:0]   bytes;
    logic [FlagsW-1:0] flags;
    logic [UserW-1:0]  user;
  } parcel_t;
  localparam int ParcelW = $bits(parcel_t);
  localparam int Capacity = Early ? 2 : 3;

  logic in_ready, valid, first, last, push, pop, follow;
  logic [AddrW-1:0] src, dst;
  logic [BytesW-1:0] bytes;
  logic [FlagsW-1:0] flags;
  logic [ UserW-1:0] user;
  logic [  SeqW-1:0] seq;
  logic [2:0] count, ahead;
  parcel_t offered, rebuilt, parcel;

  dma_splitter #(
      .AddrW(AddrW),
      .LenW(LenW),
      .PacketBytes(PacketBytes),
      .FlagsW(FlagsW),
      .UserW(UserW),
      .SeqW(SeqW),
      .Early(Early)
  ) dut (
      .clk_i,
      .rst_i,
      .in_valid_i,
      .in_ready_o (in_ready),
      .in_src_i,
      .in_dst_i,
      .in_bytes_i,
      .in_flags_i,
      .in_user_i,
      .out_valid_o(valid),
      .out_ready_i,
      .out_src_o  (src),
      .out_dst_o  (dst),
      .out_bytes_o(bytes),
      .out_first_o(first),
      .out_last_o (last),
      .out_flags_o(flags),
      .out_user_o (user),
      .out_seq_o  (seq)
  );

  assign offered = {in_src_i, in_dst_i, in_bytes_i, in_flags_i, in_user_i};
  assign push = in_valid_i && in_ready;
  assign pop = valid && out_ready_i && last;

  // Packets and bytes of the present parcel that have left.
  logic [LenW:0] packets_q, sent_q;
  always_ff @(posedge clk_i) begin
    if (rst_i || pop) begin
      packets_q <= '0;
      sent_q <= '0;
    end else if (valid && out_ready_i) begin
      packets_q <= packets_q + (LenW + 1)'(1);
      sent_q <= sent_q + (LenW + 1)'(bytes);
    end
  end
  // The parcel that began `sent_q` bytes before the packet on offer and ends with it.
  assign rebuilt = {src - AddrW'(sent_q), dst - AddrW'(sent_q), LenW'(sent_q + (LenW + 1)'(bytes)), flags, user};

  power_up u_power_up (.*);
  stream_rules #(
      .W(ParcelW),
      .Assume(1'b1)
  ) u_source (
      .clk_i,
      .rst_i,
      .valid_i(in_valid_i),
      .ready_i(in_ready),
      .data_i (offered)
  );
  stream_rules #(
      .W(2 * AddrW + BytesW + 2 + FlagsW + UserW + SeqW)
  ) u_sink (
      .clk_i,
      .rst_i,
      .valid_i(valid),
      .ready_i(out_ready_i),
      .data_i ({src, dst, bytes, first, last, flags, user, seq})
  );
  stream_track #(
      .W(ParcelW),
      .Capacity(Capacity)
  ) u_track (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(push),
      .in_data_i(offered),
      .pop_i(pop),
      .out_data_i(rebuilt),
      .inside_o(count),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(parcel)
  );

  logic idle_q;  // a parcel was inside in the cycle before, and no packet on offer
  always_ff @(posedge clk_i) idle_q <= count != '0 && !valid && !rst_i;

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      offers_soon : assert (valid || count == '0 || !idle_q);
      no_bubble : assert (valid || count < 3'd2);
      takes_unless_full : assert (in_ready || count >= 3'd2);
      if (valid) begin
        first_is_first : assert (first == (packets_q == '0));
        numbered : assert (seq == packets_q[SeqW-1:0]);
        whole_but_the_last : assert (last || bytes == BytesW'(PacketBytes));
        not_too_long : assert (bytes <= BytesW'(PacketBytes));
        not_empty : assert (bytes != '0 || first);
        flags_on_last_only : assert (last || flags == '0);
        if (follow && ahead == '0) begin
          source_address : assert (src == parcel.src + AddrW'(sent_q));
          destination_address : assert (dst == parcel.dst + AddrW'(sent_q));
          inside_the_parcel : assert (sent_q + (LenW + 1)'(bytes) <= (LenW + 1)'(parcel.bytes));
          user_copied : assert (user == parcel.user);
        end
        several_packets : cover (pop && packets_q != '0 && bytes < BytesW'(PacketBytes));
        empty_parcel : cover (pop && bytes == '0);
      end
    end
  end

  // The claims become inductive with the registers of the present parcel and the FIFO of the later ones.
  localparam logic [LenW:0] Step = (LenW + 1)'(PacketBytes);
  logic [LenW:0] left, at;
  logic [ParcelW-1:0] held;
  logic [1:0] queued;
  logic in_place;
  logic [ParcelW-1:0] queued_parcel;
  if (Early) begin : gen_early
    assign queued = 2'(!dut.u_queue.gen_early.ready_q);
    assign in_place = 1'b1;
    assign queued_parcel = dut.u_queue.gen_early.spare_q;
  end else begin : gen_fifo
    assign queued = dut.u_queue.gen_fifo.u_fifo.level_q;
    assign in_place = dut.u_queue.gen_fifo.u_fifo.wr_q == (dut.u_queue.gen_fifo.u_fifo.rd_q ^ queued[0]);
    assign queued_parcel = dut.u_queue.gen_fifo.u_fifo.mem_q[dut.u_queue.gen_fifo.u_fifo.rd_q^1'(ahead-3'(valid))];
  end
  assign left = {1'b0, dut.left_q};
  assign at = sent_q % Step;
  assign held = {dut.src_q - AddrW'(sent_q), dut.dst_q - AddrW'(sent_q), LenW'(left + sent_q), dut.flags_q, dut.user_q};
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      queue_level : assert (count == 3'(queued) + 3'(valid));
      queue_pointers : assert (in_place);
      nothing_sent : assert (valid || sent_q == '0);
      steps : assert (at == '0 && packets_q == sent_q / Step);
      if (valid) begin
        fits : assert (int'(left) + int'(sent_q) < (1 << LenW));
        some_left : assert (left != '0 || sent_q == '0);
        last_is_known : assert (last == (left <= Step));
      end
      if (follow) begin
        if (valid && ahead == '0) begin
          present : assert (held == parcel);
        end else begin
          waiting : assert (queued_parcel == parcel);
        end
      end
    end
  end
endmodule
