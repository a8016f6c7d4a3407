// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1 receiver: brings packets' data to memory, or drops them.
//
// Command    one for each packet with data, in order: drop, or write `cmd_bytes_i` (1 to 4096) at `cmd_addr_i`, 8-byte
//            aligned. `cmd_part_i`: only the next words, all full, and the packet's next command has the rest.
// Data       `in_*`. A packet with as many words as its bytes need is cut to the exact length.
// ended_o    a pulse, before the next command is taken: the packet's data ended within a part, or with it. The packet
//            needs no further command.
// Memory     as `dma_write`; a longer packet's rest is dropped.
// Done       as `dma_write`: one for each write, in order, when the data are visible: {long, short, bus}.
// Latency    1 cycle, and that of `dma_write`; up to 3 idle cycles between packets.
// Full       one command; the next is taken when its predecessor's data have all come in.
// Reset      drops everything; the memory must forget its bursts, too.
// busy_o     low when nothing is inside or outstanding, except for the command of a packet whose data are to come.
// Source     ours.
module dimmnet1_move (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic cmd_valid_i,
    output logic cmd_ready_o,
    input logic cmd_drop_i,
    input logic cmd_part_i,
    input logic [31:0] cmd_addr_i,
    input logic [12:0] cmd_bytes_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [63:0] in_data_i,
    input logic in_last_i,

    output logic wr_cmd_valid_o,
    input logic wr_cmd_ready_i,
    output logic [31:0] wr_cmd_addr_o,
    output logic [7:0] wr_cmd_len_o,
    output logic wr_data_valid_o,
    input logic wr_data_ready_i,
    output logic [63:0] wr_data_data_o,
    output logic [7:0] wr_data_strb_o,
    output logic wr_data_last_o,
    input logic wr_rsp_valid_i,
    output logic wr_rsp_ready_o,
    input logic wr_rsp_err_i,

    output logic ended_o,

    output logic done_valid_o,
    input logic done_ready_i,
    output logic [2:0] done_err_o
);
  logic write_q, drop_q, part_q;  // what becomes of the packet
  logic [2:0] keep_q;  // bytes in its last word, minus 1
  logic [8:0] left_q;  // words to come, minus 1
  logic over_q;  // more came
  logic dma_cmd_ready, dma_ready, dma_busy, take, begins, ends;
  logic [12:0] bytes_m1;

  assign bytes_m1 = cmd_bytes_i - 13'd1;
  assign cmd_ready_o = !write_q && !drop_q && !ended_o && dma_cmd_ready;
  assign begins = cmd_valid_i && cmd_ready_o;
  assign in_ready_o = drop_q || (write_q && dma_ready);
  assign take = in_valid_i && in_ready_o;
  assign ends = in_last_i || (part_q && left_q == '0);

  always_ff @(posedge clk_i) begin
    if (begins) begin
      {left_q, keep_q} <= bytes_m1[11:0];
      part_q <= cmd_part_i && !cmd_drop_i;
      over_q <= 1'b0;
    end else if (take) begin
      left_q <= left_q - 9'd1;
      over_q <= over_q || left_q == '0;
    end
    if (rst_i) begin
      write_q <= 1'b0;
      drop_q  <= 1'b0;
    end else if (begins) begin
      write_q <= !cmd_drop_i;
      drop_q  <= cmd_drop_i;
    end else if (take && ends) begin
      write_q <= 1'b0;
      drop_q  <= 1'b0;
    end
    ended_o <= take && in_last_i && part_q && !rst_i;
  end
  logic unused_bytes;
  assign unused_bytes = bytes_m1[12];

  dma_write #(
      .AddrW(32),
      .DataW(64),
      .LenW (13)
  ) u_write (
      .clk_i,
      .rst_i,
      .busy_o(dma_busy),
      .cmd_valid_i(begins && !cmd_drop_i),
      .cmd_ready_o(dma_cmd_ready),
      .cmd_addr_i,
      .cmd_bytes_i,
      .in_valid_i(in_valid_i && write_q),
      .in_ready_o(dma_ready),
      .in_data_i,
      .in_keep_i((left_q == '0 && !over_q) ? keep_q : 3'd7),
      .in_last_i(ends),
      .mem_cmd_valid_o(wr_cmd_valid_o),
      .mem_cmd_ready_i(wr_cmd_ready_i),
      .mem_cmd_addr_o(wr_cmd_addr_o),
      .mem_cmd_len_o(wr_cmd_len_o),
      .mem_data_valid_o(wr_data_valid_o),
      .mem_data_ready_i(wr_data_ready_i),
      .mem_data_data_o(wr_data_data_o),
      .mem_data_strb_o(wr_data_strb_o),
      .mem_data_last_o(wr_data_last_o),
      .mem_rsp_valid_i(wr_rsp_valid_i),
      .mem_rsp_ready_o(wr_rsp_ready_o),
      .mem_rsp_err_i(wr_rsp_err_i),
      .done_valid_o,
      .done_ready_i,
      .done_err_o
  );

  assign busy_o = dma_busy;
endmodule
