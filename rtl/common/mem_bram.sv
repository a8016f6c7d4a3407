// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory in block RAM behind the streams of `dma_read` and `dma_write`: for a board without DRAM, for a test.
//
// Read       command {addr, len = beats - 1}, then its words in order, `last` on the last one of a burst.
// Write      command {addr, len = beats - 1}, its words with byte strobes, then one response.
// Address    in bytes, from 0, word aligned (lower bits are ignored). A word outside the memory reads with `err` and
//            undefined data. A burst that writes such a word gets `err`; its words inside are written.
// Order      a read whose command is taken after a write's response sees the written data; an earlier read may see
//            either.
// Latency    3 cycles from read command to first word; 1 cycle from the last word written to the response. 1 word per
//            cycle each way, no bubble between bursts.
// Full       two commands wait behind the current burst, each way; two write responses wait.
// Reset      drops the current bursts; the memory keeps its contents.
// Source     common practice; the split into byte-wide memories maps to block RAM of any kind.
module mem_bram #(
    parameter int DataW = 32,  // bits of a word, power of two, >= 16
    parameter int Words = 4096,  // words, power of two, >= 2
    localparam int KeepW = $clog2(DataW / 8)
) (
    input logic clk_i,
    input logic rst_i,
    input logic rd_cmd_valid_i,
    output logic rd_cmd_ready_o,
    input logic [31:0] rd_cmd_addr_i,
    input logic [7:0] rd_cmd_len_i,
    output logic rd_data_valid_o,
    input logic rd_data_ready_i,
    output logic [DataW-1:0] rd_data_data_o,
    output logic rd_data_last_o,
    output logic rd_data_err_o,
    input logic wr_cmd_valid_i,
    output logic wr_cmd_ready_o,
    input logic [31:0] wr_cmd_addr_i,
    input logic [7:0] wr_cmd_len_i,
    input logic wr_data_valid_i,
    output logic wr_data_ready_o,
    input logic [DataW-1:0] wr_data_data_i,
    input logic [DataW/8-1:0] wr_data_strb_i,
    input logic wr_data_last_i,
    output logic wr_rsp_valid_o,
    input logic wr_rsp_ready_i,
    output logic wr_rsp_err_o
);
  localparam int WordW = 32 - KeepW;  // a word address
  localparam int IndexW = $clog2(Words);

  if (DataW < 16 || (1 << $clog2(DataW)) != DataW) begin : gen_bad_data
    mem_bram_DataW_must_be_a_power_of_two_and_at_least_16 u_bad ();
  end
  if (Words < 2 || (1 << IndexW) != Words) begin : gen_bad_words
    mem_bram_Words_must_be_a_power_of_two_and_at_least_2 u_bad ();
  end

  logic [2*KeepW-1:0] unused_addr;
  logic [3:0] unused_level;
  logic [1:0] unused_rsp_level;
  assign unused_addr = {rd_cmd_addr_i[KeepW-1:0], wr_cmd_addr_i[KeepW-1:0]};

  // -------------------------------------------------------------------------------------------------------------- read
  logic rd_next_valid, rd_load, rd_active_q, fetch;
  logic [WordW-1:0] rd_next_word, rd_word_q;
  logic [7:0] rd_next_len, rd_left_q;

  fifo #(
      .W(WordW + 8),
      .Depth(2)
  ) u_rd_cmd (
      .clk_i,
      .rst_i,
      .in_valid_i (rd_cmd_valid_i),
      .in_ready_o (rd_cmd_ready_o),
      .in_data_i  ({rd_cmd_addr_i[31:KeepW], rd_cmd_len_i}),
      .out_valid_o(rd_next_valid),
      .out_ready_i(rd_load),
      .out_data_o ({rd_next_word, rd_next_len}),
      .level_o    (unused_level[1:0])
  );

  // The memory's registered read is the output register: the next word is fetched when the present one is taken.
  assign fetch   = rd_active_q && (!rd_data_valid_o || rd_data_ready_i);
  assign rd_load = !rd_active_q || (fetch && rd_left_q == '0);

  always_ff @(posedge clk_i) begin
    if (rd_load) begin
      rd_word_q <= rd_next_word;
      rd_left_q <= rd_next_len;
    end else if (fetch) begin
      rd_word_q <= rd_word_q + WordW'(1);
      rd_left_q <= rd_left_q - 8'd1;
    end
    if (fetch) begin
      rd_data_last_o <= rd_left_q == '0;
      rd_data_err_o  <= rd_word_q[WordW-1:IndexW] != '0;
    end
    if (rst_i) begin
      rd_active_q <= 1'b0;
      rd_data_valid_o <= 1'b0;
    end else begin
      if (rd_load) rd_active_q <= rd_next_valid;
      rd_data_valid_o <= fetch || (rd_data_valid_o && !rd_data_ready_i);
    end
  end

  // ------------------------------------------------------------------------------------------------------------- write
  logic wr_next_valid, wr_load, wr_active_q, wr_take, wr_end, wr_inside, rsp_ready;
  logic [WordW-1:0] wr_next_word, wr_word_q;
  logic [7:0] wr_next_len, wr_left_q;

  fifo #(
      .W(WordW + 8),
      .Depth(2)
  ) u_wr_cmd (
      .clk_i,
      .rst_i,
      .in_valid_i (wr_cmd_valid_i),
      .in_ready_o (wr_cmd_ready_o),
      .in_data_i  ({wr_cmd_addr_i[31:KeepW], wr_cmd_len_i}),
      .out_valid_o(wr_next_valid),
      .out_ready_i(wr_load),
      .out_data_o ({wr_next_word, wr_next_len}),
      .level_o    (unused_level[3:2])
  );

  assign wr_data_ready_o = wr_active_q && rsp_ready;
  assign wr_take = wr_data_valid_i && wr_data_ready_o;
  assign wr_end = wr_left_q == '0;
  assign wr_inside = wr_word_q[WordW-1:IndexW] == '0;
  assign wr_load = !wr_active_q || (wr_take && wr_end);

  always_ff @(posedge clk_i) begin
    if (wr_load) begin
      wr_word_q <= wr_next_word;
      wr_left_q <= wr_next_len;
    end else if (wr_take) begin
      wr_word_q <= wr_word_q + WordW'(1);
      wr_left_q <= wr_left_q - 8'd1;
    end
    if (rst_i) wr_active_q <= 1'b0;
    else if (wr_load) wr_active_q <= wr_next_valid;
  end

  fifo #(
      .W(1),
      .Depth(2)
  ) u_rsp (
      .clk_i,
      .rst_i,
      .in_valid_i (wr_take && wr_end),
      .in_ready_o (rsp_ready),
      .in_data_i  (!wr_inside),         // addresses ascend, so the last word decides
      .out_valid_o(wr_rsp_valid_o),
      .out_ready_i(wr_rsp_ready_i),
      .out_data_o (wr_rsp_err_o),
      .level_o    (unused_rsp_level)
  );

  // ------------------------------------------------------------------------------------------------------------ memory
  for (genvar b = 0; b < DataW / 8; b++) begin : gen_byte
    logic [7:0] mem_q  [Words];
    logic [7:0] read_q;
    always_ff @(posedge clk_i) begin
      if (wr_take && wr_inside && wr_data_strb_i[b]) mem_q[wr_word_q[IndexW-1:0]] <= wr_data_data_i[8*b+:8];
      if (fetch) read_q <= mem_q[rd_word_q[IndexW-1:0]];
    end
    assign rd_data_data_o[8*b+:8] = read_q;
  end

`ifdef TSUNAGI_ASSERT
  stream_rules #(
      .W(DataW + DataW / 8 + 1)
  ) u_writer (
      .clk_i,
      .rst_i,
      .valid_i(wr_data_valid_i),
      .ready_i(wr_data_ready_o),
      .data_i ({wr_data_last_i, wr_data_strb_i, wr_data_data_i})
  );
  always_ff @(posedge clk_i) begin
    // A burst's last word comes where its command says.
    if (!rst_i) assert (!wr_take || wr_data_last_i == wr_end);
  end
`else
  logic unused_last;
  assign unused_last = wr_data_last_i;
`endif
endmodule
