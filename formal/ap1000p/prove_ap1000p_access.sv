// SPDX-License-Identifier: MIT OR Apache-2.0
// `ap1000p_access` answers each load once and sends one whole message for each access that is not refused, but none for
// a load of a copy.
//
// - The answer of a remote load is the first answer of its cell that comes after its message has left. The answer of a
//   load of a Write Through Page is the copy, or an error if there is none. A refused load is answered with an error.
// - A stray answer, for which no load waits, is reported and changes nothing.
// - An access is refused exactly if its cell does not exist or its address is no multiple of its size.
// - A message goes to its cell, with the request's contents.
// - A store is reported to the counter of acknowledges exactly if its message leaves. An access waits while the
//   counter is full, whatever it is. Nothing else keeps it waiting but the one before.
// - The copy is accessed only after a hit, at the address of the tags. Only the bytes of the access are written.
//
// Assumed: the tags answer after their request, and the answer holds; the memory responds only to requests. Cells and
// pages are constant, any.
module prove_ap1000p_access #(
    parameter int CoordW = 2,
    parameter int LocalW = 13
) (
    input logic clk_i,
    input logic rst_i,
    input logic acks_full_i,
    input logic req_valid_i,
    input logic req_write_i,
    input logic req_registers_i,
    input logic [2*CoordW-1:0] req_cell_i,
    input logic [31:0] req_addr_i,
    input logic [1:0] req_size_i,
    input logic [63:0] req_data_i,
    input logic rsp_ready_i,
    input logic out_ready_i,
    input logic load_valid_i,
    input logic [1:0][7:0] load_cell_i,
    input logic load_err_i,
    input logic [63:0] load_data_i,
    input logic tag_req_ready_i,
    input logic tag_rsp_valid_i,
    input logic tag_hit_i,
    input logic [31:0] tag_local_i,
    input logic rd_cmd_ready_i,
    input logic rd_data_valid_i,
    input logic [31:0] rd_data_i,
    input logic rd_last_i,
    input logic rd_err_i,
    input logic wr_cmd_ready_i,
    input logic wr_data_ready_i,
    input logic wr_rsp_valid_i,
    input logic wr_rsp_err_i
);
  // Registers that keep their initial value.
  logic [CoordW-1:0] x_q, y_q, last_x_q, last_y_q;
  logic [15:0] low_q, high_q;
  always_ff @(posedge clk_i) begin
    {x_q, y_q, last_x_q, last_y_q} <= {x_q, y_q, last_x_q, last_y_q};
    {low_q, high_q} <= {low_q, high_q};
  end

  logic busy, req_ready, rsp_valid, rsp_err, issue, refused, stale, stray, out_valid, out_end, load_ready;
  logic [63:0] rsp_data;
  logic [ 1:0] why;
  logic [31:0] out_data, rd_addr, wr_addr, wr_data;
  logic tag_req_valid, tag_rsp_ready, rd_cmd_valid, rd_data_ready, wr_cmd_valid, wr_data_valid, wr_last, wr_rsp_ready;
  logic [2*CoordW-1:0] tag_cell;
  logic [  LocalW-1:0] tag_addr;
  logic [7:0] rd_len, wr_len;
  logic [3:0] wr_strb;
  ap1000p_access #(
      .CoordW(CoordW),
      .LocalW(LocalW)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o             (busy),
      .x_i                (x_q),
      .y_i                (y_q),
      .last_x_i           (last_x_q),
      .last_y_i           (last_y_q),
      .low_i              (low_q),
      .high_i             (high_q),
      .acks_full_i,
      .dsm_req_valid_i    (req_valid_i),
      .dsm_req_ready_o    (req_ready),
      .dsm_req_write_i    (req_write_i),
      .dsm_req_registers_i(req_registers_i),
      .dsm_req_cell_i     (req_cell_i),
      .dsm_req_addr_i     (req_addr_i),
      .dsm_req_size_i     (req_size_i),
      .dsm_req_data_i     (req_data_i),
      .dsm_rsp_valid_o    (rsp_valid),
      .dsm_rsp_ready_i    (rsp_ready_i),
      .dsm_rsp_err_o      (rsp_err),
      .dsm_rsp_data_o     (rsp_data),
      .why_o              (why),
      .issue_o            (issue),
      .refused_o          (refused),
      .stale_o            (stale),
      .out_valid_o        (out_valid),
      .out_ready_i,
      .out_end_o          (out_end),
      .out_data_o         (out_data),
      .load_valid_i,
      .load_ready_o       (load_ready),
      .load_cell_i,
      .load_err_i,
      .load_data_i,
      .stray_o            (stray),
      .tag_req_valid_o    (tag_req_valid),
      .tag_req_ready_i,
      .tag_req_cell_o     (tag_cell),
      .tag_req_addr_o     (tag_addr),
      .tag_rsp_valid_i,
      .tag_rsp_ready_o    (tag_rsp_ready),
      .tag_hit_i,
      .tag_local_i,
      .mem_rd_cmd_valid_o (rd_cmd_valid),
      .mem_rd_cmd_ready_i (rd_cmd_ready_i),
      .mem_rd_cmd_addr_o  (rd_addr),
      .mem_rd_cmd_len_o   (rd_len),
      .mem_rd_data_valid_i(rd_data_valid_i),
      .mem_rd_data_ready_o(rd_data_ready),
      .mem_rd_data_data_i (rd_data_i),
      .mem_rd_data_last_i (rd_last_i),
      .mem_rd_data_err_i  (rd_err_i),
      .mem_wr_cmd_valid_o (wr_cmd_valid),
      .mem_wr_cmd_ready_i (wr_cmd_ready_i),
      .mem_wr_cmd_addr_o  (wr_addr),
      .mem_wr_cmd_len_o   (wr_len),
      .mem_wr_data_valid_o(wr_data_valid),
      .mem_wr_data_ready_i(wr_data_ready_i),
      .mem_wr_data_data_o (wr_data),
      .mem_wr_data_strb_o (wr_strb),
      .mem_wr_data_last_o (wr_last),
      .mem_wr_rsp_valid_i (wr_rsp_valid_i),
      .mem_wr_rsp_ready_o (wr_rsp_ready),
      .mem_wr_rsp_err_i   (wr_rsp_err_i)
  );
  power_up u_power_up (.*);
  stream_rules #(
      .W(33),
      .Assume(1'b1)
  ) u_tags (
      .clk_i,
      .rst_i,
      .valid_i(tag_rsp_valid_i),
      .ready_i(tag_rsp_ready),
      .data_i ({tag_hit_i, tag_local_i})
  );
  mem_read_rules #(
      .Outstanding(1),
      .Assume(1'b1)
  ) u_read (
      .clk_i,
      .rst_i,
      .cmd_valid_i (rd_cmd_valid),
      .cmd_ready_i (rd_cmd_ready_i),
      .cmd_len_i   (rd_len),
      .data_valid_i(rd_data_valid_i),
      .data_ready_i(rd_data_ready),
      .data_last_i (rd_last_i)
  );

  // --------------------------------------------------------------------------------------------- the last access taken
  logic accept, bad, copied, write_q, registers_q, bad_q, copied_q;
  logic [1:0] size_q;
  logic [2*CoordW-1:0] cell_q;
  logic [31:0] addr_q;
  logic [63:0] data_q;
  logic [2:0] to_send, sent_q;  // words of its message
  assign accept = req_valid_i && req_ready;
  assign bad = req_cell_i[0+:CoordW] > last_x_q || req_cell_i[CoordW+:CoordW] > last_y_q ||
               (req_addr_i[2:0] & ((3'd1 << req_size_i) - 3'd1)) != '0;
  assign copied = !req_registers_i && req_addr_i < (32'd1 << LocalW) && req_addr_i[27:12] >= low_q &&
                  req_addr_i[27:12] < high_q;
  always_ff @(posedge clk_i) begin
    if (accept) begin
      {write_q, registers_q, cell_q, addr_q} <= {req_write_i, req_registers_i, req_cell_i, req_addr_i};
      {size_q, data_q, bad_q, copied_q} <= {req_size_i, req_data_i, bad, copied};
    end
    if (rst_i) {bad_q, write_q} <= 2'b10;
  end
  always_comb begin
    if (bad_q || (copied_q && !write_q)) to_send = '0;
    else if (!write_q) to_send = 3'd2;
    else to_send = size_q == 2'd3 ? 3'd4 : 3'd3;
  end

  // Its message.
  logic word, last_word;
  logic [31:0] expected;
  assign word = out_valid && out_ready_i;
  assign last_word = sent_q + 3'd1 == to_send;
  always_comb begin
    expected = '0;
    case (sent_q)
      3'd0: begin
        expected[15:8] = 8'(cell_q[0+:CoordW]) - 8'(x_q);
        expected[7:0] = 8'(cell_q[CoordW+:CoordW]) - 8'(y_q);
        expected[31] = 1'b1;
        expected[28:27] = size_q;
        expected[21] = registers_q;
        expected[18:16] = write_q ? 3'(ap1000p_pkg::MadeStore) : 3'(ap1000p_pkg::MadeLoad);
      end
      3'd1: expected = addr_q;
      3'd2: expected = data_q[31:0];
      default: expected = data_q[63:32];
    endcase
  end

  // A load, until it is answered; its answer.
  logic open_q, came_q, err_q, remote, waits;
  logic [63:0] came_data_q;
  assign remote = open_q && !bad_q && !copied_q;
  assign waits  = remote && sent_q == 3'd2 && !came_q && load_cell_i[0] == 8'(cell_q[0+:CoordW]) &&
                  load_cell_i[1] == 8'(cell_q[CoordW+:CoordW]);
  // The tags and the copy: requested, there was a hit, and how many words of memory.
  logic requested_q, judged_q, hit_q, memory_q, tag_done_q;
  logic [1:0] beats_q, all_beats;
  logic [31:0] local_q;
  logic beat, is_copied;
  assign is_copied = copied_q && !bad_q;
  assign all_beats = size_q == 2'd3 ? 2'd2 : 2'd1;
  assign beat = (rd_data_valid_i && rd_data_ready) || (wr_data_valid && wr_data_ready_i);
  always_ff @(posedge clk_i) begin
    if (accept) begin
      {came_q, err_q, requested_q, tag_done_q, memory_q} <= '0;
      beats_q <= '0;
      came_data_q <= '0;
    end
    if (word) sent_q <= sent_q + 3'd1;
    if (load_valid_i && waits) begin
      came_q <= 1'b1;
      err_q <= load_err_i;
      came_data_q <= size_q == 2'd3 ? load_data_i : {32'd0, load_data_i[31:0]};
    end
    if (tag_req_valid && tag_req_ready_i) requested_q <= 1'b1;
    if (tag_rsp_valid_i && tag_rsp_ready) begin
      tag_done_q <= 1'b1;
      hit_q <= tag_hit_i;
    end
    if ((rd_cmd_valid && rd_cmd_ready_i) || (wr_cmd_valid && wr_cmd_ready_i)) memory_q <= 1'b1;
    if (beat) beats_q <= beats_q + 2'd1;
    if (rd_data_valid_i && rd_data_ready) begin
      if (rd_err_i) err_q <= 1'b1;
      if (beats_q == '0) came_data_q[31:0] <= rd_data_i;
      else came_data_q[63:32] <= rd_data_i;
    end
    if (accept) sent_q <= '0;
    open_q <= ((accept && !req_write_i) || (open_q && !(rsp_valid && rsp_ready_i))) && !rst_i;
    if (rst_i) {sent_q, requested_q, tag_done_q, memory_q, beats_q} <= '0;
  end

  logic refused_q, stray_q, under_way;
  logic [3:0] lanes;
  always_comb begin
    case (size_q)
      2'd0: lanes = 4'd1 << addr_q[1:0];
      2'd1: lanes = 4'd3 << addr_q[1:0];
      default: lanes = 4'hf;
    endcase
  end
  localparam int Idle = 0;
  localparam int Await = 5;
  localparam int Lookup = 6;
  localparam int Judge = 7;
  localparam int Command = 8;
  localparam int Copy = 9;
  localparam int Written = 10;
  localparam int Release = 11;
  localparam int Respond = 12;
  int state;
  assign state = int'(dut.state_q);
  assign under_way = state >= Lookup && state <= Release;
  always_ff @(posedge clk_i) begin
    refused_q <= accept && bad && !rst_i;
    stray_q   <= load_valid_i && !waits && !rst_i;
    if (!rst_i) begin
      tags_were_requested : assume (!tag_rsp_valid_i || (requested_q && !tag_done_q));
      // Answers.
      answered_once : assert (!rsp_valid || open_q);
      one_at_a_time : assert (!accept || !open_q);
      answered_by_what_came :
      assert (!(rsp_valid && remote) || (came_q && rsp_err == err_q && rsp_data == came_data_q));
      answered_by_the_copy :
      assert (!(rsp_valid && is_copied) || (tag_done_q && rsp_err == (err_q || !hit_q) &&
              (!hit_q || (beats_q == all_beats && rsp_data == came_data_q))));
      refused_has_an_error : assert (!(rsp_valid && bad_q) || (rsp_err && why == 2'(ap1000p_pkg::AccessRefused)));
      refused_reported : assert (refused == refused_q);
      stray_reported : assert (stray == stray_q);
      // Messages.
      nothing_invented : assert (!out_valid || sent_q < to_send);
      as_requested : assert (!out_valid || (out_data == expected && out_end == last_word));
      whole_before_the_next : assert (!accept || sent_q == to_send);
      waits_for_the_count : assert (!accept || !acks_full_i);
      ready_follows_no_request : assert (state != Idle || req_ready == !acks_full_i);
      issued_if_it_leaves : assert (issue == (accept && req_write_i && !bad));
      // The copy.
      tags_requested_of_pages :
      assert (!tag_req_valid || (is_copied && tag_cell == cell_q && tag_addr == addr_q[LocalW-1:0]));
      copy_where_tags_say :
      assert (!(rd_cmd_valid || wr_cmd_valid) || (tag_rsp_valid_i && tag_hit_i && wr_cmd_valid == write_q &&
              (write_q ? wr_addr : rd_addr) == {tag_local_i[31:2], 2'b00} &&
              (write_q ? wr_len : rd_len) == 8'(all_beats) - 8'd1 && !memory_q));
      only_its_bytes :
      assert (!wr_data_valid || (memory_q && is_copied && write_q && wr_strb == lanes &&
              wr_data == (beats_q == '0 ? data_q[31:0] : data_q[63:32]) && wr_last == (beats_q + 2'd1 == all_beats)));
      // Invariants for induction.
      request :
      assert (state == Idle || (dut.write_q == write_q && dut.registers_q == registers_q && dut.size_q == size_q &&
              dut.cell_q == cell_q && dut.addr_q == addr_q && dut.through_q == copied_q));
      data_known : assert (!(write_q && state != Idle) || dut.data_q == data_q);
      distance :
      assert (state == Idle || (dut.dx_q == 8'(cell_q[0+:CoordW]) - 8'(x_q) &&
 dut.dy_q == 8'(cell_q[CoordW+:CoordW]) - 8'(y_q)));
      sending : assert (!(state > Idle && state < Await) || (!bad_q && int'(sent_q) == state - 1 && sent_q < to_send));
      sent : assert ((state > Idle && state < Await) || sent_q == to_send);
      well_placed : assert (bad_q || (addr_q[2:0] & ((3'd1 << size_q) - 3'd1)) == '0);
      open_known : assert (open_q == (state != Idle && !write_q) && state <= Respond);
      refused_goes : assert (!(bad_q && state != Idle) || (state == Respond && why == 2'(ap1000p_pkg::AccessRefused)));
      awaits : assert (state != Await || (remote && !came_q));
      came : assert (!remote || state == Respond || !came_q);
      nothing_yet :
      assert (!(state > Idle && state < Lookup) || (!requested_q && !tag_done_q && !memory_q && beats_q == '0));
      of_pages : assert (!under_way || is_copied);
      tags_known : assert (!under_way || (requested_q == (state != Lookup) && !tag_done_q));
      hit_known : assert (!(state > Judge && state <= Release) || tag_rsp_valid_i);
      hit_commands :
      assert (!(state > Judge && state < Release) || (tag_hit_i && dut.local_q == {tag_local_i[31:2], 2'b00}));
      memory_known : assert (!(state > Idle && state < Copy) || (!memory_q && beats_q == '0));
      beats_known : assert (!(state == Copy) || (memory_q && beats_q < all_beats && dut.second_q == (beats_q != '0)));
      second_known : assert (state != Command || !dut.second_q);
      done_known :
      assert ((state != Written || (write_q && beats_q == all_beats)) &&
 (state != Release || beats_q == (tag_hit_i ? all_beats : 2'd0)));
      why_known :
      assert (!(open_q && !bad_q) || why == (err_q ? 2'(ap1000p_pkg::AccessFailed) :
              (is_copied && ((state == Release && !tag_hit_i) || (state == Respond && !hit_q))) ?
              2'(ap1000p_pkg::AccessMiss) : 2'(ap1000p_pkg::AccessDone)));
      no_error_yet : assert (!(open_q && !bad_q && (is_copied || !came_q) && beats_q == '0) || !err_q);
      read_known :
      assert (!(open_q && is_copied && beats_q != '0 && (state == Copy || state == Release || state == Respond)) ||
              (dut.data_q[31:0] == came_data_q[31:0] && (beats_q == 2'd1 ?
 dut.data_q[63:32] == '0 && came_data_q[63:32] == '0
               : dut.data_q == came_data_q)));
      nothing_came : assert (!(open_q && is_copied && beats_q == '0) || came_data_q == '0);
      answer_known :
      assert (!(state == Respond && !bad_q) || (is_copied ? tag_done_q && beats_q == (hit_q ? all_beats : 2'd0) :
                                               came_q && dut.data_q == came_data_q));
      memory_reads :
      assert (u_read.issued_q == (u_read.read_q ^ 1'(state == Copy && !write_q)) &&
              (state != Copy || write_q || (u_read.len_q[u_read.read_q] == 8'(all_beats) - 8'd1 &&
                                            u_read.beat_q == 8'(beats_q))));
      beat_rests : assert ((state == Copy && !write_q) || u_read.beat_q == '0);
      loaded : cover (rsp_valid && remote && size_q == 2'd3 && !rsp_err);
      copy_loaded : cover (rsp_valid && is_copied && size_q == 2'd3 && !rsp_err);
      stored : cover (state == Release && write_q && tag_hit_i && size_q == 2'd3);
    end
  end
endmodule
