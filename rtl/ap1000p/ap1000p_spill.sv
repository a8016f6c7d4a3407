// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, inside ap1000p_queues: writes words that find no room in their queue to the spill region of cell
// memory.
//
// In         valid/ready stream {queue one-hot, number of the message, index in it, end, word}; each gets the element
//            tag that `tag_o` shows.
// Memory     write commands {addr, len = beats - 1}; an element is 8 bytes, tag word first (regs.toml). A burst takes
//            the words that wait at that moment, up to the next multiple of 8 elements; data follow their command. Up
//            to four bursts await their response.
// Region     `limit_i` units of 1024 elements from `base_i`, used as a ring. While `empty_i` says that nothing of the
//            region is in use, and no word comes in, base and limit are taken over, and the next element is the first
//            of the region again.
// Stored     `stored_valid_o` with `stored_count_o` elements, minus 1, for each response. If it reports an error,
//            `error_o` is set, too: none of its elements is valid, whatever is read there.
// Latency    3 cycles from a word to its element at the memory; with 64 bits 8 elements in 11 cycles, with 32 bits in
//            19.
// Full       16 words wait.
// Reset      empties it; the memory must forget its bursts, too.
// Source     element of 8 bytes, queue one-hot, end bit, base, pointer and limit: the machine's Linux port. Number,
//            index, position and lap in the tag, the ring: own guess.
module ap1000p_spill #(
    parameter int DataW = 64  // bits of a bus word, 32 or 64
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [7:0] base_i,  // 512 KB
    input logic [6:0] limit_i,  // 8 KB, 0 to 64
    input logic empty_i,
    output logic [7:0] base_o,  // in use
    output logic [6:0] limit_o,
    output logic [ap1000p_pkg::SpillTagLapW+ap1000p_pkg::SpillTagPositionW-1:0] tag_o,  // {lap, position}

    input logic in_valid_i,
    output logic in_ready_o,
    output logic in_room_o,  // for 2 words
    input logic [4:0] in_queue_i,
    input logic [2:0] in_number_i,
    input logic [3:0] in_index_i,
    input logic in_end_i,
    input logic [31:0] in_data_i,

    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [31:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    output logic mem_data_valid_o,
    input logic mem_data_ready_i,
    output logic [DataW-1:0] mem_data_data_o,
    output logic [DataW/8-1:0] mem_data_strb_o,
    output logic mem_data_last_o,
    input logic mem_rsp_valid_i,
    output logic mem_rsp_ready_o,
    input logic mem_rsp_err_i,

    output logic stored_valid_o,
    output logic [2:0] stored_count_o,
    output logic error_o
);
  localparam int TagW = ap1000p_pkg::SpillTagLapW + ap1000p_pkg::SpillTagPositionW;
  localparam int Beats = 64 / DataW;  // of an element

  if (DataW != 32 && DataW != 64) begin : gen_bad_data
    ap1000p_spill_DataW_must_be_32_or_64 u_bad ();
  end

  // -------------------------------------------------------------------------------------------------------------- tags
  logic [ap1000p_pkg::SpillTagLapW-1:0] lap_q;
  logic [ap1000p_pkg::SpillTagPositionW-1:0] position_q;
  logic push, wraps;
  assign push  = in_valid_i && in_ready_o;
  assign wraps = position_q[9:0] == '1 && 7'(position_q[15:10]) + 7'd1 == limit_o;
  always_ff @(posedge clk_i) begin
    if (empty_i) begin
      base_o  <= base_i;
      limit_o <= limit_i;
    end
    if (rst_i) begin
      lap_q <= '0;
      position_q <= '0;
    end else if (push ? wraps : empty_i && position_q != '0) begin
      lap_q <= lap_q + ap1000p_pkg::SpillTagLapW'(1);
      position_q <= '0;
    end else if (push) begin
      position_q <= position_q + ap1000p_pkg::SpillTagPositionW'(1);
    end
  end
  assign tag_o = {lap_q, position_q};

  // ---------------------------------------------------------------------------------------------------------- elements
  logic valid, pop, word_end;
  logic [4:0] queue;
  logic [2:0] number;
  logic [3:0] index;
  logic [TagW-1:0] tag;
  logic [31:0] word;
  logic [4:0] level;
  fifo #(
      .W(3 + 5 + 4 + 1 + TagW + 32),
      .Depth(16)
  ) u_words (
      .clk_i,
      .rst_i,
      .in_valid_i,
      .in_ready_o,
      .in_data_i  ({in_number_i, in_queue_i, in_index_i, in_end_i, tag_o, in_data_i}),
      .out_valid_o(valid),
      .out_ready_i(pop),
      .out_data_o ({number, queue, index, word_end, tag, word}),
      .level_o    (level)
  );

  // ------------------------------------------------------------------------------------------------------------ bursts
  logic active_q, cmd_valid_q, start, half_q, half_end, note_ready, note_valid;
  logic [2:0] left_q, count, to_edge;  // elements, minus 1
  logic [31:0] addr_q;
  logic [ 7:0] len_q;
  logic [ 2:0] note_level;

  assign in_room_o = level <= 5'd14;
  assign start = !active_q && valid && note_ready;
  assign to_edge = ~tag[2:0];
  assign count = level > 5'(to_edge) ? to_edge : 3'(level - 5'd1);
  assign half_end = Beats == 1 || half_q;
  assign pop = mem_data_valid_o && mem_data_ready_i && half_end;

  always_ff @(posedge clk_i) begin
    if (start) begin
      addr_q <= {5'b0, base_o, 19'b0} | {13'b0, tag[ap1000p_pkg::SpillTagPositionW-1:0], 3'b0};
      len_q  <= 8'(count) * 8'(Beats) + 8'(Beats - 1);
      left_q <= count;
      half_q <= 1'b0;
    end else begin
      if (mem_data_valid_o && mem_data_ready_i) half_q <= !half_q;
      if (pop) left_q <= left_q - 3'd1;
    end
    if (rst_i) begin
      active_q <= 1'b0;
      cmd_valid_q <= 1'b0;
    end else begin
      active_q <= start || (active_q && !(pop && left_q == '0));
      cmd_valid_q <= start || (cmd_valid_q && !mem_cmd_ready_i);
    end
  end

  logic [31:0] tag_word;
  assign tag_word = {number, queue, tag, index, word_end};
  assign mem_cmd_valid_o = cmd_valid_q;
  assign mem_cmd_addr_o = addr_q;
  assign mem_cmd_len_o = len_q;
  assign mem_data_valid_o = active_q && !cmd_valid_q;
  assign mem_data_data_o = Beats == 1 ? DataW'({word, tag_word}) : DataW'(half_q ? word : tag_word);
  assign mem_data_strb_o = '1;
  assign mem_data_last_o = half_end && left_q == '0;

  fifo #(
      .W(3),
      .Depth(4)
  ) u_notes (
      .clk_i,
      .rst_i,
      .in_valid_i (start),
      .in_ready_o (note_ready),
      .in_data_i  (count),
      .out_valid_o(note_valid),
      .out_ready_i(mem_rsp_valid_i),
      .out_data_o (stored_count_o),
      .level_o    (note_level)
  );
  assign mem_rsp_ready_o = note_valid;
  assign stored_valid_o = mem_rsp_valid_i && note_valid;
  assign error_o = stored_valid_o && mem_rsp_err_i;
  assign busy_o = valid || active_q || note_level != '0 || (empty_i && position_q != '0);

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!active_q || valid);
      assert (!(empty_i && push));
    end
  end
  mem_write_rules u_memory (
      .clk_i,
      .rst_i,
      .data_valid_i(mem_data_valid_o),
      .data_ready_i(mem_data_ready_i),
      .data_last_i (mem_data_last_o),
      .rsp_valid_i (mem_rsp_valid_i),
      .rsp_ready_i (mem_rsp_ready_o)
  );
`endif
endmodule
