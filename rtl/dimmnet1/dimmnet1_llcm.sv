// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1 low-latency common memory (LLCM): 16 KB in true dual-port block RAM, for host, receivers and processor.
//
// Port A     the host's. It never waits; `a_rdata_o` holds the word one cycle after the request.
// Port B     one access a cycle, for five parties: OTF writes, the processor, the matcher, and the two streams of the
//            DMA engines (protocol of `mem_bram`). The order is that of this list, and the streams alternate. A stream
//            that was passed over three times in a row goes next: at least every fourth cycle is theirs.
// Addresses  11 bits of an aligned 64-bit word. OTF has a byte address, whose lower 3 bits are ignored: data and
//            strobes stand in the lanes of the word. Streams have 28 bits; a word beyond 16 KB reads with `err`, and a
//            burst that writes one gets `err`.
// Latency    processor: taken at once, `cpu_rvalid_o` in the next cycle. OTF and matcher: the offer is kept for a cycle
//            or more and then done; `mat_rvalid_o` follows. The processor waits for an OTF write that came before.
//            Streams: 4 cycles from read command to first word, 1 word per cycle while nobody else wants port B.
// Collision  a read sees what the other port writes in the same cycle. Bytes that both ports write in one cycle: port
//            B's stay.
// Full       OTF and matcher: one access waits, then `ready` is low. Streams: two commands, two written words, four
//            read words and two responses.
// Reset      drops accesses under way; the memory keeps its contents.
// busy_o     low when nothing is inside.
// Source     paper, section 2 (LLCM); size, order and cap are ours.
module dimmnet1_llcm (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic a_valid_i,
    input logic a_write_i,
    input logic [13:3] a_addr_i,
    input logic [63:0] a_wdata_i,
    input logic [7:0] a_strb_i,
    output logic [63:0] a_rdata_o,

    input logic otf_valid_i,
    output logic otf_ready_o,
    input logic [13:0] otf_addr_i,
    input logic [63:0] otf_data_i,
    input logic [7:0] otf_strb_i,

    input logic cpu_valid_i,
    output logic cpu_ready_o,
    input logic cpu_write_i,
    input logic [13:3] cpu_addr_i,
    input logic [63:0] cpu_wdata_i,
    input logic [7:0] cpu_strb_i,
    output logic cpu_rvalid_o,
    output logic [63:0] cpu_rdata_o,

    input logic mat_valid_i,
    output logic mat_ready_o,
    input logic mat_write_i,
    input logic [13:3] mat_addr_i,
    input logic [63:0] mat_wdata_i,
    input logic [7:0] mat_strb_i,
    output logic mat_rvalid_o,
    output logic [63:0] mat_rdata_o,

    input logic rd_cmd_valid_i,
    output logic rd_cmd_ready_o,
    input logic [27:0] rd_cmd_addr_i,
    input logic [7:0] rd_cmd_len_i,
    output logic rd_data_valid_o,
    input logic rd_data_ready_i,
    output logic [63:0] rd_data_data_o,
    output logic rd_data_last_o,
    output logic rd_data_err_o,
    input logic wr_cmd_valid_i,
    output logic wr_cmd_ready_o,
    input logic [27:0] wr_cmd_addr_i,
    input logic [7:0] wr_cmd_len_i,
    input logic wr_data_valid_i,
    output logic wr_data_ready_o,
    input logic [63:0] wr_data_data_i,
    input logic [7:0] wr_data_strb_i,
    input logic wr_data_last_i,
    output logic wr_rsp_valid_o,
    input logic wr_rsp_ready_i,
    output logic wr_rsp_err_o
);
  localparam int Words = dimmnet1_pkg::SizeLlcm / 8;
  localparam int IndexW = $clog2(Words);
  localparam int WordW = 25;  // a word address of the streams

  logic [8:0] unused_addr;
  assign unused_addr = {otf_addr_i[2:0], rd_cmd_addr_i[2:0], wr_cmd_addr_i[2:0]};

  // ----------------------------------------------------------------------------------------------- accesses that wait
  logic otf_q, mat_q, mat_write_q;
  logic [IndexW-1:0] otf_word_q, mat_word_q;
  logic [63:0] otf_data_q, mat_data_q;
  logic [7:0] otf_strb_q, mat_strb_q;
  logic otf_go, cpu_go, mat_go, wr_go, rd_go;

  assign otf_ready_o = !otf_q;
  assign mat_ready_o = !mat_q;
  always_ff @(posedge clk_i) begin
    if (!otf_q) begin
      otf_word_q <= otf_addr_i[13:3];
      otf_data_q <= otf_data_i;
      otf_strb_q <= otf_strb_i;
    end
    if (!mat_q) begin
      mat_write_q <= mat_write_i;
      mat_word_q  <= mat_addr_i;
      mat_data_q  <= mat_wdata_i;
      mat_strb_q  <= mat_strb_i;
    end
    if (rst_i) begin
      otf_q <= 1'b0;
      mat_q <= 1'b0;
    end else begin
      otf_q <= otf_q ? !otf_go : otf_valid_i;
      mat_q <= mat_q ? !mat_go : mat_valid_i;
    end
  end

  // ------------------------------------------------------------------------------------------------------- read stream
  logic rd_next_valid, rd_load, rd_active_q, rd_want, rd_end, rd_inside;
  logic [WordW-1:0] rd_next_word, rd_word_q;
  logic [7:0] rd_next_len, rd_left_q;
  logic [1:0] rd_cmd_level;
  logic [2:0] rd_room_q, rd_level;  // words that may still be read; words that wait
  logic fetched_q, fetched_last_q, fetched_err_q, unused_rd_ready, rd_pop;

  fifo #(
      .W(WordW + 8),
      .Depth(2)
  ) u_rd_cmd (
      .clk_i,
      .rst_i,
      .in_valid_i (rd_cmd_valid_i),
      .in_ready_o (rd_cmd_ready_o),
      .in_data_i  ({rd_cmd_addr_i[27:3], rd_cmd_len_i}),
      .out_valid_o(rd_next_valid),
      .out_ready_i(rd_load),
      .out_data_o ({rd_next_word, rd_next_len}),
      .level_o    (rd_cmd_level)
  );

  assign rd_end = rd_left_q == '0;
  assign rd_inside = rd_word_q[WordW-1:IndexW] == '0;
  assign rd_want = rd_active_q && rd_room_q != '0;
  assign rd_load = !rd_active_q || (rd_go && rd_end);
  assign rd_pop = rd_data_valid_o && rd_data_ready_i;

  always_ff @(posedge clk_i) begin
    if (rd_load) begin
      rd_word_q <= rd_next_word;
      rd_left_q <= rd_next_len;
    end else if (rd_go) begin
      rd_word_q <= rd_word_q + WordW'(1);
      rd_left_q <= rd_left_q - 8'd1;
    end
    fetched_last_q <= rd_end;
    fetched_err_q  <= !rd_inside;
    if (rst_i) begin
      rd_active_q <= 1'b0;
      rd_room_q   <= 3'd4;
      fetched_q   <= 1'b0;
    end else begin
      if (rd_load) rd_active_q <= rd_next_valid;
      rd_room_q <= rd_room_q - 3'(rd_go) + 3'(rd_pop);
      fetched_q <= rd_go;
    end
  end

  // ------------------------------------------------------------------------------------------------------ write stream
  logic wr_next_valid, wr_load, wr_active_q, wr_want, wr_end, wr_inside, rsp_ready, wr_valid;
  logic [WordW-1:0] wr_next_word, wr_word_q;
  logic [7:0] wr_next_len, wr_left_q, wr_strb;
  logic [63:0] wr_data;
  logic [1:0] wr_cmd_level, wr_level, rsp_level;

  fifo #(
      .W(WordW + 8),
      .Depth(2)
  ) u_wr_cmd (
      .clk_i,
      .rst_i,
      .in_valid_i (wr_cmd_valid_i),
      .in_ready_o (wr_cmd_ready_o),
      .in_data_i  ({wr_cmd_addr_i[27:3], wr_cmd_len_i}),
      .out_valid_o(wr_next_valid),
      .out_ready_i(wr_load),
      .out_data_o ({wr_next_word, wr_next_len}),
      .level_o    (wr_cmd_level)
  );

  fifo #(
      .W(72),
      .Depth(2)
  ) u_wr_data (
      .clk_i,
      .rst_i,
      .in_valid_i (wr_data_valid_i),
      .in_ready_o (wr_data_ready_o),
      .in_data_i  ({wr_data_strb_i, wr_data_data_i}),
      .out_valid_o(wr_valid),
      .out_ready_i(wr_go),
      .out_data_o ({wr_strb, wr_data}),
      .level_o    (wr_level)
  );

  assign wr_end = wr_left_q == '0;
  assign wr_inside = wr_word_q[WordW-1:IndexW] == '0;
  assign wr_want = wr_active_q && wr_valid && rsp_ready;
  assign wr_load = !wr_active_q || (wr_go && wr_end);

  always_ff @(posedge clk_i) begin
    if (wr_load) begin
      wr_word_q <= wr_next_word;
      wr_left_q <= wr_next_len;
    end else if (wr_go) begin
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
      .in_valid_i (wr_go && wr_end),
      .in_ready_o (rsp_ready),
      .in_data_i  (!wr_inside),       // addresses ascend, so the last word decides
      .out_valid_o(wr_rsp_valid_o),
      .out_ready_i(wr_rsp_ready_i),
      .out_data_o (wr_rsp_err_o),
      .level_o    (rsp_level)
  );

  // --------------------------------------------------------------------------------------------- who has port B's turn
  logic streams_turn, streams_go, wr_last_q;
  logic [1:0] passed_q;  // cycles in which a stream was passed over
  assign streams_turn = passed_q == 2'd3;
  assign cpu_ready_o = !otf_q && !streams_turn;
  assign otf_go = otf_q && !streams_turn;
  assign cpu_go = cpu_valid_i && cpu_ready_o;
  assign mat_go = mat_q && !otf_q && !cpu_valid_i && !streams_turn;
  assign streams_go = streams_turn || !(otf_q || cpu_valid_i || mat_q);
  assign wr_go = streams_go && wr_want && !(rd_want && wr_last_q);
  assign rd_go = streams_go && rd_want && !(wr_want && !wr_last_q);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      passed_q  <= '0;
      wr_last_q <= 1'b0;
    end else begin
      passed_q <= (!streams_go && (wr_want || rd_want)) ? passed_q + 2'd1 : '0;
      if (wr_go || rd_go) wr_last_q <= wr_go;
    end
  end

  // ------------------------------------------------------------------------------------------------------------ memory
  logic b_valid, b_write;
  logic [IndexW-1:0] b_word;
  logic [63:0] b_wdata, b_rdata;
  logic [7:0] b_strb, a_we, b_we;
  always_comb begin
    b_word  = rd_word_q[IndexW-1:0];
    b_write = 1'b0;
    b_wdata = wr_data;
    b_strb  = wr_strb;
    if (otf_go) begin
      b_word  = otf_word_q;
      b_write = 1'b1;
      b_wdata = otf_data_q;
      b_strb  = otf_strb_q;
    end else if (cpu_go) begin
      b_word  = cpu_addr_i;
      b_write = cpu_write_i;
      b_wdata = cpu_wdata_i;
      b_strb  = cpu_strb_i;
    end else if (mat_go) begin
      b_word  = mat_word_q;
      b_write = mat_write_q;
      b_wdata = mat_data_q;
      b_strb  = mat_strb_q;
    end else if (wr_go) begin
      b_word  = wr_word_q[IndexW-1:0];
      b_write = wr_inside;
    end
  end
  assign b_valid = otf_go || cpu_go || mat_go || wr_go || rd_go;
  assign b_we = {8{b_write}} & b_strb;

  // Block RAM gives no word at one port while the other writes it, so such bytes come from registers.
  logic same;
  logic [7:0] a_take_q, b_take_q;
  logic [63:0] a_other_q, b_other_q;
  assign same = a_valid_i && b_valid && a_addr_i == b_word;
  assign a_we = {8{a_valid_i && a_write_i}} & a_strb_i & ~({8{same}} & b_we);
  always_ff @(posedge clk_i) begin
    a_take_q  <= {8{same}} & b_we;
    b_take_q  <= {8{same && a_write_i}} & a_strb_i;
    a_other_q <= b_wdata;
    b_other_q <= a_wdata_i;
  end

  for (genvar b = 0; b < 8; b++) begin : gen_byte
    (* no_rw_check *) logic [7:0] mem_q[Words];
    logic [7:0] a_read_q, b_read_q;
    always_ff @(posedge clk_i) begin
      if (a_valid_i) begin
        if (a_we[b]) mem_q[a_addr_i] <= a_wdata_i[8*b+:8];
        a_read_q <= mem_q[a_addr_i];
      end
      if (b_valid) begin
        if (b_we[b]) mem_q[b_word] <= b_wdata[8*b+:8];
        b_read_q <= mem_q[b_word];
      end
    end
    assign a_rdata_o[8*b+:8] = a_take_q[b] ? a_other_q[8*b+:8] : a_read_q;
    assign b_rdata[8*b+:8]   = b_take_q[b] ? b_other_q[8*b+:8] : b_read_q;
  end

  // ----------------------------------------------------------------------------------------------- words that are read
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      cpu_rvalid_o <= 1'b0;
      mat_rvalid_o <= 1'b0;
    end else begin
      cpu_rvalid_o <= cpu_go && !cpu_write_i;
      mat_rvalid_o <= mat_go && !mat_write_q;
    end
  end
  assign cpu_rdata_o = b_rdata;
  assign mat_rdata_o = b_rdata;

  fifo #(
      .W(66),
      .Depth(4)
  ) u_rd_data (
      .clk_i,
      .rst_i,
      .in_valid_i (fetched_q),
      .in_ready_o (unused_rd_ready),                                  // room is reserved
      .in_data_i  ({fetched_err_q, fetched_last_q, b_rdata}),
      .out_valid_o(rd_data_valid_o),
      .out_ready_i(rd_data_ready_i),
      .out_data_o ({rd_data_err_o, rd_data_last_o, rd_data_data_o}),
      .level_o    (rd_level)
  );

  assign busy_o = otf_q || mat_q || cpu_rvalid_o || mat_rvalid_o || rd_active_q || wr_active_q || fetched_q ||
                  rd_cmd_level != '0 || wr_cmd_level != '0 || wr_level != '0 || rsp_level != '0 || rd_level != '0;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!fetched_q || unused_rd_ready);
      assert (!streams_turn || wr_go || rd_go);
    end
  end
  mem_write_rules u_writer (
      .clk_i,
      .rst_i,
      .data_valid_i(wr_data_valid_i),
      .data_ready_i(wr_data_ready_o),
      .data_last_i (wr_data_last_i),
      .rsp_valid_i (wr_rsp_valid_o),
      .rsp_ready_i (wr_rsp_ready_i)
  );
`else
  logic unused_last;
  assign unused_last = wr_data_last_i;
`endif
endmodule
