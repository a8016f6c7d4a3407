// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1 memory split: the DMA engines' 32-bit memory streams go to memory, or to LLCM where address[31:28] is 15.
//
// Clients    one read client (the RDMA engine's `dma_read`), one write client (the receiver's `dma_write`); protocol of
//            `mem_bram`. No burst crosses 256 MB: both engines align theirs.
// Order      commands leave unchanged, each to its side, in order. Words and responses come back in the order of their
//            commands, whichever side is faster.
// Latency    1 cycle from command to the side's command, 1 for read data, written data and responses. 1 word per cycle,
//            no bubble between bursts, also between bursts of different sides.
// Full       two commands wait each way, and at most Outstanding bursts each way await their end.
// Misuse     a side that holds its commands holds up the other: reads and writes apart.
// Reset      drops everything; both sides must forget their bursts, too.
// busy_o     low when nothing is inside or outstanding.
// Source     ours: LLCM as a destination of the ordinary receiver follows from the paper, section 2.
module dimmnet1_memory #(
    parameter int Outstanding = 4  // bursts each way that may await their end, >= 1
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic rd_cmd_valid_i,
    output logic rd_cmd_ready_o,
    input logic [31:0] rd_cmd_addr_i,
    input logic [7:0] rd_cmd_len_i,
    output logic rd_data_valid_o,
    input logic rd_data_ready_i,
    output logic [63:0] rd_data_data_o,
    output logic rd_data_last_o,
    output logic rd_data_err_o,
    input logic wr_cmd_valid_i,
    output logic wr_cmd_ready_o,
    input logic [31:0] wr_cmd_addr_i,
    input logic [7:0] wr_cmd_len_i,
    input logic wr_data_valid_i,
    output logic wr_data_ready_o,
    input logic [63:0] wr_data_data_i,
    input logic [7:0] wr_data_strb_i,
    input logic wr_data_last_i,
    output logic wr_rsp_valid_o,
    input logic wr_rsp_ready_i,
    output logic wr_rsp_err_o,

    output logic mem_rd_cmd_valid_o,
    input logic mem_rd_cmd_ready_i,
    output logic [31:0] mem_rd_cmd_addr_o,
    output logic [7:0] mem_rd_cmd_len_o,
    input logic mem_rd_data_valid_i,
    output logic mem_rd_data_ready_o,
    input logic [63:0] mem_rd_data_data_i,
    input logic mem_rd_data_last_i,
    input logic mem_rd_data_err_i,
    output logic mem_wr_cmd_valid_o,
    input logic mem_wr_cmd_ready_i,
    output logic [31:0] mem_wr_cmd_addr_o,
    output logic [7:0] mem_wr_cmd_len_o,
    output logic mem_wr_data_valid_o,
    input logic mem_wr_data_ready_i,
    output logic [63:0] mem_wr_data_data_o,
    output logic [7:0] mem_wr_data_strb_o,
    output logic mem_wr_data_last_o,
    input logic mem_wr_rsp_valid_i,
    output logic mem_wr_rsp_ready_o,
    input logic mem_wr_rsp_err_i,

    output logic llcm_rd_cmd_valid_o,
    input logic llcm_rd_cmd_ready_i,
    output logic [27:0] llcm_rd_cmd_addr_o,
    output logic [7:0] llcm_rd_cmd_len_o,
    input logic llcm_rd_data_valid_i,
    output logic llcm_rd_data_ready_o,
    input logic [63:0] llcm_rd_data_data_i,
    input logic llcm_rd_data_last_i,
    input logic llcm_rd_data_err_i,
    output logic llcm_wr_cmd_valid_o,
    input logic llcm_wr_cmd_ready_i,
    output logic [27:0] llcm_wr_cmd_addr_o,
    output logic [7:0] llcm_wr_cmd_len_o,
    output logic llcm_wr_data_valid_o,
    input logic llcm_wr_data_ready_i,
    output logic [63:0] llcm_wr_data_data_o,
    output logic [7:0] llcm_wr_data_strb_o,
    output logic llcm_wr_data_last_o,
    input logic llcm_wr_rsp_valid_i,
    output logic llcm_wr_rsp_ready_o,
    input logic llcm_wr_rsp_err_i
);
  localparam bit [3:0] Llcm = 4'hf;
  localparam int LevelW = $clog2(Outstanding + 1);

  if (Outstanding < 1) begin : gen_bad_outstanding
    dimmnet1_memory_Outstanding_must_be_at_least_1 u_bad ();
  end

  // ------------------------------------------------------------------------------------------------------------- reads
  logic
      rd_next_valid,
      rd_to_llcm,
      rd_ask,
      rd_note_ready,
      rd_open,
      rd_from_llcm,
      rd_ready,
      rd_go,
      rd_valid,
      rd_last,
      rd_err;
  logic [31:0] rd_addr;
  logic [7:0] rd_len;
  logic [63:0] rd_data;
  logic [1:0] rd_cmd_level;
  logic [LevelW-1:0] rd_level;

  fifo #(
      .W(40),
      .Depth(2)
  ) u_rd_cmd (
      .clk_i,
      .rst_i,
      .in_valid_i (rd_cmd_valid_i),
      .in_ready_o (rd_cmd_ready_o),
      .in_data_i  ({rd_cmd_addr_i, rd_cmd_len_i}),
      .out_valid_o(rd_next_valid),
      .out_ready_i(rd_ask),
      .out_data_o ({rd_addr, rd_len}),
      .level_o    (rd_cmd_level)
  );

  assign rd_to_llcm = rd_addr[31:28] == Llcm;
  assign mem_rd_cmd_valid_o = rd_next_valid && rd_note_ready && !rd_to_llcm;
  assign llcm_rd_cmd_valid_o = rd_next_valid && rd_note_ready && rd_to_llcm;
  assign rd_ask = rd_note_ready && (rd_to_llcm ? llcm_rd_cmd_ready_i : mem_rd_cmd_ready_i);
  assign mem_rd_cmd_addr_o = rd_addr;
  assign mem_rd_cmd_len_o = rd_len;
  assign llcm_rd_cmd_addr_o = rd_addr[27:0];
  assign llcm_rd_cmd_len_o = rd_len;

  fifo #(
      .W(1),
      .Depth(Outstanding)
  ) u_rd_note (
      .clk_i,
      .rst_i,
      .in_valid_i (rd_next_valid && rd_ask),
      .in_ready_o (rd_note_ready),
      .in_data_i  (rd_to_llcm),
      .out_valid_o(rd_open),
      .out_ready_i(rd_valid && rd_last),
      .out_data_o (rd_from_llcm),
      .level_o    (rd_level)
  );

  assign rd_go = rd_open && rd_ready;
  assign mem_rd_data_ready_o = rd_go && !rd_from_llcm;
  assign llcm_rd_data_ready_o = rd_go && rd_from_llcm;
  assign rd_valid = rd_go && (rd_from_llcm ? llcm_rd_data_valid_i : mem_rd_data_valid_i);
  assign rd_data = rd_from_llcm ? llcm_rd_data_data_i : mem_rd_data_data_i;
  assign rd_last = rd_from_llcm ? llcm_rd_data_last_i : mem_rd_data_last_i;
  assign rd_err = rd_from_llcm ? llcm_rd_data_err_i : mem_rd_data_err_i;

  skid #(
      .W(66)
  ) u_rd_data (
      .clk_i,
      .rst_i,
      .in_valid_i (rd_valid),
      .in_ready_o (rd_ready),
      .in_data_i  ({rd_err, rd_last, rd_data}),
      .out_valid_o(rd_data_valid_o),
      .out_ready_i(rd_data_ready_i),
      .out_data_o ({rd_data_err_o, rd_data_last_o, rd_data_data_o})
  );

  // ------------------------------------------------------------------------------------------------------------ writes
  logic wr_next_valid, wr_to_llcm, wr_ask, wr_note_ready, wr_open, wr_from_llcm, rsp_ready, rsp_valid, rsp_err;
  logic [31:0] wr_addr;
  logic [ 7:0] wr_len;
  logic [ 1:0] wr_cmd_level;
  logic [LevelW-1:0] wr_level, unused_later_level;

  fifo #(
      .W(40),
      .Depth(2)
  ) u_wr_cmd (
      .clk_i,
      .rst_i,
      .in_valid_i (wr_cmd_valid_i),
      .in_ready_o (wr_cmd_ready_o),
      .in_data_i  ({wr_cmd_addr_i, wr_cmd_len_i}),
      .out_valid_o(wr_next_valid),
      .out_ready_i(wr_ask),
      .out_data_o ({wr_addr, wr_len}),
      .level_o    (wr_cmd_level)
  );

  assign wr_to_llcm = wr_addr[31:28] == Llcm;
  assign mem_wr_cmd_valid_o = wr_next_valid && wr_note_ready && !wr_to_llcm;
  assign llcm_wr_cmd_valid_o = wr_next_valid && wr_note_ready && wr_to_llcm;
  assign wr_ask = wr_note_ready && (wr_to_llcm ? llcm_wr_cmd_ready_i : mem_wr_cmd_ready_i);
  assign mem_wr_cmd_addr_o = wr_addr;
  assign mem_wr_cmd_len_o = wr_len;
  assign llcm_wr_cmd_addr_o = wr_addr[27:0];
  assign llcm_wr_cmd_len_o = wr_len;

  // Where the words of the announced bursts go. These bursts also await their response, so there is always room.
  logic later_valid, later_llcm, give, word_ready, word_valid, word_llcm, word_take, unused_later_ready;
  logic [63:0] word_data;
  logic [7:0] word_strb;
  logic word_last;

  fifo #(
      .W(1),
      .Depth(Outstanding)
  ) u_later (
      .clk_i,
      .rst_i,
      .in_valid_i (wr_next_valid && wr_ask),
      .in_ready_o (unused_later_ready),
      .in_data_i  (wr_to_llcm),
      .out_valid_o(later_valid),
      .out_ready_i(give && wr_data_last_i),
      .out_data_o (later_llcm),
      .level_o    (unused_later_level)
  );

  assign wr_data_ready_o = later_valid && word_ready;
  assign give = wr_data_valid_i && wr_data_ready_o;

  skid #(
      .W(74)
  ) u_word (
      .clk_i,
      .rst_i,
      .in_valid_i (give),
      .in_ready_o (word_ready),
      .in_data_i  ({later_llcm, wr_data_last_i, wr_data_strb_i, wr_data_data_i}),
      .out_valid_o(word_valid),
      .out_ready_i(word_take),
      .out_data_o ({word_llcm, word_last, word_strb, word_data})
  );

  assign word_take = word_llcm ? llcm_wr_data_ready_i : mem_wr_data_ready_i;
  assign mem_wr_data_valid_o = word_valid && !word_llcm;
  assign mem_wr_data_data_o = word_data;
  assign mem_wr_data_strb_o = word_strb;
  assign mem_wr_data_last_o = word_last;
  assign llcm_wr_data_valid_o = word_valid && word_llcm;
  assign llcm_wr_data_data_o = word_data;
  assign llcm_wr_data_strb_o = word_strb;
  assign llcm_wr_data_last_o = word_last;

  fifo #(
      .W(1),
      .Depth(Outstanding)
  ) u_wr_note (
      .clk_i,
      .rst_i,
      .in_valid_i (wr_next_valid && wr_ask),
      .in_ready_o (wr_note_ready),
      .in_data_i  (wr_to_llcm),
      .out_valid_o(wr_open),
      .out_ready_i(rsp_valid && rsp_ready),
      .out_data_o (wr_from_llcm),
      .level_o    (wr_level)
  );

  assign mem_wr_rsp_ready_o = wr_open && !wr_from_llcm && rsp_ready;
  assign llcm_wr_rsp_ready_o = wr_open && wr_from_llcm && rsp_ready;
  assign rsp_valid = wr_open && (wr_from_llcm ? llcm_wr_rsp_valid_i : mem_wr_rsp_valid_i);
  assign rsp_err = wr_from_llcm ? llcm_wr_rsp_err_i : mem_wr_rsp_err_i;

  skid #(
      .W(1)
  ) u_rsp (
      .clk_i,
      .rst_i,
      .in_valid_i (rsp_valid),
      .in_ready_o (rsp_ready),
      .in_data_i  (rsp_err),
      .out_valid_o(wr_rsp_valid_o),
      .out_ready_i(wr_rsp_ready_i),
      .out_data_o (wr_rsp_err_o)
  );

  // A burst's words are out before its response comes, so the notes count them.
  assign busy_o = rd_cmd_level != '0 || rd_level != '0 || rd_data_valid_o || wr_cmd_level != '0 || wr_level != '0 ||
                  wr_rsp_valid_o;

`ifdef TSUNAGI_ASSERT
  mem_write_rules u_memory (
      .clk_i,
      .rst_i,
      .data_valid_i(mem_wr_data_valid_o),
      .data_ready_i(mem_wr_data_ready_i),
      .data_last_i (mem_wr_data_last_o),
      .rsp_valid_i (mem_wr_rsp_valid_i),
      .rsp_ready_i (mem_wr_rsp_ready_o)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!(wr_next_valid && wr_ask) || unused_later_ready);
    end
  end
`endif
endmodule
