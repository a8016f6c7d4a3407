// SPDX-License-Identifier: MIT OR Apache-2.0
// DMA copy: moves a range of memory to another, as packets, and reads, cuts and writes a word per cycle.
//
// Command    source and destination are word aligned (lower bits are ignored), `cmd_bytes_i` >= 1. Reads run ahead of
//            writes by the contents of the buffers. So the ranges may overlap only where no word is read after it was
//            written.
// Memory     a read and a write port, used at the same time, with the protocols of dma_read and dma_write; bursts never
//            leave a packet.
// Done       one per command, in order, when its last write has its response: `done_err_o` = {write, read}.
// Bus error  on the read side: the packet of that word ends with the word, and the word's content is whatever the bus
//            gave. On the write side: only that burst is affected. Other packets of the command are copied all the
//            same.
// Latency    2 cycles from command to read command. 1 word per cycle, no bubble between packets or commands, if memory
//            latency <= (Outstanding - 1) bursts.
// Full       one command waits while another is cut; then `cmd_ready_o` is low. A slow `done_ready_i` stops the writes
//            in the end.
// Reset      drops everything; the memory must forget its bursts, too.
// busy_o     low when nothing is inside or outstanding.
// Source     the path of a parcel through Cenju-3's Sender and Receiver with no network between; the block is ours.
module dma_copy #(
    parameter int AddrW = 32,  // bits of a byte address
    parameter int DataW = 64,  // bits of a word, power of two, >= 16
    parameter int LenW = 20,  // bits of a command's length in bytes, > $clog2(PacketBytes), < AddrW
    parameter int PacketBytes = 512,  // power of two, at least a word
    parameter int BurstBeats = 8,  // words in the longest burst, power of two, 1..256
    parameter int Outstanding = 4  // bursts that may await data, or their response, >= 1
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic cmd_valid_i,
    output logic cmd_ready_o,
    input logic [AddrW-1:0] cmd_src_i,
    input logic [AddrW-1:0] cmd_dst_i,
    input logic [LenW-1:0] cmd_bytes_i,
    output logic rd_cmd_valid_o,
    input logic rd_cmd_ready_i,
    output logic [AddrW-1:0] rd_cmd_addr_o,
    output logic [7:0] rd_cmd_len_o,
    input logic rd_data_valid_i,
    output logic rd_data_ready_o,
    input logic [DataW-1:0] rd_data_data_i,
    input logic rd_data_last_i,
    input logic rd_data_err_i,
    output logic wr_cmd_valid_o,
    input logic wr_cmd_ready_i,
    output logic [AddrW-1:0] wr_cmd_addr_o,
    output logic [7:0] wr_cmd_len_o,
    output logic wr_data_valid_o,
    input logic wr_data_ready_i,
    output logic [DataW-1:0] wr_data_data_o,
    output logic [DataW/8-1:0] wr_data_strb_o,
    output logic wr_data_last_o,
    input logic wr_rsp_valid_i,
    output logic wr_rsp_ready_o,
    input logic wr_rsp_err_i,
    output logic done_valid_o,
    input logic done_ready_i,
    output logic [1:0] done_err_o
);
  localparam int KeepW = $clog2(DataW / 8);
  localparam int BytesW = $clog2(PacketBytes) + 1;
  // Upper bound of the packets between the splitter and `done`: in the write engine's queue and register, in its burst
  // queue, awaiting responses, done.
  localparam int Packets = 3 + 4 + Outstanding + 2;

  if (PacketBytes < DataW / 8) begin : gen_bad_packet
    dma_copy_PacketBytes_must_be_at_least_a_word u_bad ();
  end
  if (LenW < BytesW || AddrW <= LenW) begin : gen_bad_len
    dma_copy_LenW_must_hold_PacketBytes_and_be_below_AddrW u_bad ();
  end

  // Packets: each goes to both engines, and leaves a note for the end.
  logic packet_valid, packet_go, packet_last, reads, writes, notes;
  logic [AddrW-1:0] packet_src, packet_dst;
  logic [BytesW-1:0] packet_bytes;
  logic unused_first, unused_flags, unused_user, unused_seq, unused_next;

  dma_splitter #(
      .AddrW(AddrW),
      .LenW(LenW),
      .PacketBytes(PacketBytes),
      .FlagsW(1),
      .UserW(1),
      .SeqW(1),
      .Early(1'b1)
  ) u_splitter (
      .clk_i,
      .rst_i,
      .in_valid_i (cmd_valid_i),
      .in_ready_o (cmd_ready_o),
      .in_src_i   (cmd_src_i),
      .in_dst_i   (cmd_dst_i),
      .in_bytes_i (cmd_bytes_i),
      .in_flags_i (1'b0),
      .in_user_i  (1'b0),
      .out_valid_o(packet_valid),
      .out_ready_i(packet_go),
      .out_src_o  (packet_src),
      .out_dst_o  (packet_dst),
      .out_bytes_o(packet_bytes),
      .out_first_o(unused_first),
      .out_last_o (packet_last),
      .out_flags_o(unused_flags),
      .out_user_o (unused_user),
      .out_seq_o  (unused_seq)
  );

  assign packet_go = reads && writes && notes;

  logic word_valid, word_ready, word_last, word_err, reading, writing;
  logic [DataW-1:0] word;
  logic [KeepW-1:0] word_keep;

  dma_read #(
      .AddrW(AddrW),
      .DataW(DataW),
      .LenW(BytesW),
      .BurstBeats(BurstBeats),
      .Outstanding(Outstanding),
      .Early(1'b1)
  ) u_read (
      .clk_i,
      .rst_i,
      .busy_o          (reading),
      .cmd_valid_i     (packet_valid && writes && notes),
      .cmd_ready_o     (reads),
      .next_o          (unused_next),
      .cmd_addr_i      (packet_src),
      .cmd_bytes_i     (packet_bytes),
      .mem_cmd_valid_o (rd_cmd_valid_o),
      .mem_cmd_ready_i (rd_cmd_ready_i),
      .mem_cmd_addr_o  (rd_cmd_addr_o),
      .mem_cmd_len_o   (rd_cmd_len_o),
      .mem_data_valid_i(rd_data_valid_i),
      .mem_data_ready_o(rd_data_ready_o),
      .mem_data_data_i (rd_data_data_i),
      .mem_data_last_i (rd_data_last_i),
      .mem_data_err_i  (rd_data_err_i),
      .out_valid_o     (word_valid),
      .out_ready_i     (word_ready),
      .out_data_o      (word),
      .out_keep_o      (word_keep),
      .out_last_o      (word_last),
      .out_err_o       (word_err)
  );

  logic packet_done, done_take;
  logic [2:0] written;  // {long, short, bus}: `short` only after `word_err`

  dma_write #(
      .AddrW(AddrW),
      .DataW(DataW),
      .LenW(BytesW),
      .BurstBeats(BurstBeats),
      .Outstanding(Outstanding)
  ) u_write (
      .clk_i,
      .rst_i,
      .busy_o          (writing),
      .cmd_valid_i     (packet_valid && reads && notes),
      .cmd_ready_o     (writes),
      .cmd_addr_i      (packet_dst),
      .cmd_bytes_i     (packet_bytes),
      .in_valid_i      (word_valid),
      .in_ready_o      (word_ready),
      .in_data_i       (word),
      .in_keep_i       (word_keep),
      .in_last_i       (word_last),
      .mem_cmd_valid_o (wr_cmd_valid_o),
      .mem_cmd_ready_i (wr_cmd_ready_i),
      .mem_cmd_addr_o  (wr_cmd_addr_o),
      .mem_cmd_len_o   (wr_cmd_len_o),
      .mem_data_valid_o(wr_data_valid_o),
      .mem_data_ready_i(wr_data_ready_i),
      .mem_data_data_o (wr_data_data_o),
      .mem_data_strb_o (wr_data_strb_o),
      .mem_data_last_o (wr_data_last_o),
      .mem_rsp_valid_i (wr_rsp_valid_i),
      .mem_rsp_ready_o (wr_rsp_ready_o),
      .mem_rsp_err_i   (wr_rsp_err_i),
      .done_valid_o    (packet_done),
      .done_ready_i    (done_take),
      .done_err_o      (written)
  );

  // For each packet: it ends its command; its source failed. Both notes are there before the packet is done.
  logic note_last, note_err, unused_note, unused_err_ready, unused_err_valid;
  logic [$clog2(Packets + 1)-1:0] unused_note_level, unused_err_level;

  fifo #(
      .W(1),
      .Depth(Packets)
  ) u_note (
      .clk_i,
      .rst_i,
      .in_valid_i (packet_valid && packet_go),
      .in_ready_o (notes),
      .in_data_i  (packet_last),
      .out_valid_o(unused_note),
      .out_ready_i(packet_done && done_take),
      .out_data_o (note_last),
      .level_o    (unused_note_level)
  );
  fifo #(
      .W(1),
      .Depth(Packets)
  ) u_err (
      .clk_i,
      .rst_i,
      .in_valid_i (word_valid && word_ready && word_last),
      .in_ready_o (unused_err_ready),
      .in_data_i  (word_err),
      .out_valid_o(unused_err_valid),
      .out_ready_i(packet_done && done_take),
      .out_data_o (note_err),
      .level_o    (unused_err_level)
  );

  logic [1:0] err_q;  // of the command's earlier packets

  assign done_valid_o = packet_done && note_last;
  assign done_err_o = err_q | {written[0], note_err};
  assign done_take = done_ready_i || !note_last;
  assign busy_o = packet_valid || !cmd_ready_o || reading || writing;

  always_ff @(posedge clk_i) begin
    if (rst_i) err_q <= '0;
    else if (packet_done && done_take) err_q <= note_last ? '0 : done_err_o;
  end

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!cmd_valid_i || cmd_bytes_i != '0);
      assert (!packet_done || (unused_note && unused_err_valid));
      assert (!(word_valid && word_ready && word_last) || unused_err_ready);
      assert (!packet_done || !written[2]);
      assert (!packet_done || !written[1] || note_err);
    end
  end
`endif
endmodule
