// SPDX-License-Identifier: MIT OR Apache-2.0
// `ap1000p_spill` writes each word once, in order, as the element that the header describes, at the address of its tag.
//
// - The address is in the region that was in use when the word came. Tags are in order and go round the region.
// - Bursts are as announced, and none crosses 8 elements.
// - Exactly the elements that are written and answered are reported as stored, in order.
// - Offers hold.
//
// Assumed: nothing is reported empty with a word inside (`held_is_counted` of `ap1000p_queues`); no word comes without
// a region, of at most 512 KB (`region_has_room`); the memory answers bursts that were written.
module prove_ap1000p_spill #(
    parameter int DataW = 64
) (
    input logic clk_i,
    input logic rst_i,
    input logic mark_i,
    input logic [7:0] base_i,
    input logic [6:0] limit_i,
    input logic empty_i,
    input logic in_valid_i,
    input logic [4:0] in_queue_i,
    input logic [2:0] in_number_i,
    input logic [3:0] in_index_i,
    input logic in_end_i,
    input logic [31:0] in_data_i,
    input logic cmd_ready_i,
    input logic data_ready_i,
    input logic rsp_valid_i,
    input logic rsp_err_i
);
  localparam int TagW = ap1000p_pkg::SpillTagLapW + ap1000p_pkg::SpillTagPositionW;
  localparam int Beats = 64 / DataW;
  localparam int Places = 16;

  logic busy, in_ready, in_room, cmd_valid, data_valid, data_last, rsp_ready, stored_valid, error;
  logic [7:0] base, cmd_len;
  logic [6:0] limit;
  logic [TagW-1:0] tag;
  logic [31:0] cmd_addr;
  logic [DataW-1:0] data;
  logic [DataW/8-1:0] strb;
  logic [2:0] stored_count;
  ap1000p_spill #(
      .DataW(DataW)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .base_i,
      .limit_i,
      .empty_i,
      .base_o(base),
      .limit_o(limit),
      .tag_o(tag),
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_room_o(in_room),
      .in_queue_i,
      .in_number_i,
      .in_index_i,
      .in_end_i,
      .in_data_i,
      .mem_cmd_valid_o(cmd_valid),
      .mem_cmd_ready_i(cmd_ready_i),
      .mem_cmd_addr_o(cmd_addr),
      .mem_cmd_len_o(cmd_len),
      .mem_data_valid_o(data_valid),
      .mem_data_ready_i(data_ready_i),
      .mem_data_data_o(data),
      .mem_data_strb_o(strb),
      .mem_data_last_o(data_last),
      .mem_rsp_valid_i(rsp_valid_i),
      .mem_rsp_ready_o(rsp_ready),
      .mem_rsp_err_i(rsp_err_i),
      .stored_valid_o(stored_valid),
      .stored_count_o(stored_count),
      .error_o(error)
  );
  power_up u_power_up (.*);
  stream_rules #(
      .W(45),
      .Assume(1'b1)
  ) u_in (
      .clk_i,
      .rst_i,
      .valid_i(in_valid_i),
      .ready_i(in_ready),
      .data_i ({in_number_i, in_queue_i, in_index_i, in_end_i, in_data_i})
  );
  stream_rules #(
      .W(40)
  ) u_cmd (
      .clk_i,
      .rst_i,
      .valid_i(cmd_valid),
      .ready_i(cmd_ready_i),
      .data_i ({cmd_addr, cmd_len})
  );
  stream_rules #(
      .W(DataW + 1)
  ) u_data (
      .clk_i,
      .rst_i,
      .valid_i(data_valid),
      .ready_i(data_ready_i),
      .data_i ({data, data_last})
  );
  mem_write_rules #(
      .Assume(1'b1)
  ) u_write (
      .clk_i,
      .rst_i,
      .data_valid_i(data_valid),
      .data_ready_i(data_ready_i),
      .data_last_i (data_last),
      .rsp_valid_i (rsp_valid_i),
      .rsp_ready_i (rsp_ready)
  );

  // ----------------------------------------------------------------------------------- writes, as the memory sees them
  logic push, beat, element, burst_q, half_q;
  logic [7:0] left_q;  // beats, minus 1
  logic [31:0] at_q, first_q;  // address of the next beat's element
  logic [63:0] written;
  assign push = in_valid_i && in_ready;
  assign beat = data_valid && data_ready_i;
  assign element = beat && (Beats == 1 || half_q);
  if (Beats == 1) begin : gen_whole
    assign written = data;
  end else begin : gen_halves
    assign written = {data, first_q};
  end

  // The element of a word, and its address.
  logic [31:0] place, address_q;
  logic [63:0] content, element_q;
  assign place   = {5'b0, base, tag[15:0], 3'b0};
  assign content = {in_data_i, in_number_i, in_queue_i, tag, in_index_i, in_end_i};

  // Elements not written, and elements not reported; of both, the ones before the followed one.
  logic follow_q, reported_q, enters, leaves;
  logic [4:0] words_q, words_ahead_q;
  logic [5:0] unreported_q, unreported_ahead_q;
  logic [5:0] tells;
  assign tells  = stored_valid ? 6'(stored_count) + 6'd1 : '0;
  assign enters = push && mark_i && !follow_q;
  assign leaves = element && follow_q && words_ahead_q == '0 && !reported_q;

  // The tag of the next element.
  logic [TagW-1:0] tag_q;
  logic tag_known_q, full_lap;
  assign full_lap = tag[9:0] == '1 && {1'b0, tag[15:10]} + 7'd1 == limit;
  always_ff @(posedge clk_i) begin
    tag_known_q <= push && !rst_i;
    tag_q <= full_lap ? {tag[TagW-1:16] + 3'd1, 16'b0} : tag + TagW'(1);
  end

  always_ff @(posedge clk_i) begin
    if (cmd_valid && cmd_ready_i) begin
      burst_q <= 1'b1;
      left_q <= cmd_len;
      at_q <= cmd_addr;
    end else if (beat) begin
      burst_q <= left_q != '0;
      left_q  <= left_q - 8'd1;
      if (element) at_q <= at_q + 32'd8;
    end
    if (beat) half_q <= !half_q && Beats == 2;
    if (beat) first_q <= data[31:0];
    words_q <= words_q + 5'(push) - 5'(element);
    unreported_q <= unreported_q + 6'(push) - tells;
    if (enters) begin
      follow_q <= 1'b1;
      reported_q <= 1'b0;
      address_q <= place;
      element_q <= content;
      words_ahead_q <= words_q - 5'(element);
      unreported_ahead_q <= unreported_q - tells;
    end else if (follow_q) begin
      if (element && !reported_q) words_ahead_q <= words_ahead_q - 5'd1;
      if (leaves) reported_q <= 1'b1;  // it is in the memory
      unreported_ahead_q <= unreported_ahead_q - tells;
      if (tells > unreported_ahead_q) follow_q <= 1'b0;
    end
    if (rst_i) begin
      burst_q <= 1'b0;
      half_q <= 1'b0;
      words_q <= '0;
      unreported_q <= '0;
      follow_q <= 1'b0;
    end
    if (!rst_i) begin
      empty_is_empty : assume (!empty_i || (unreported_q == '0 && !push));
      a_region : assume (!push || (limit != '0 && limit <= 7'd64));
      nothing_invented : assert (!element || words_q != '0);
      at_its_place : assert (!leaves || (at_q == address_q && written == element_q));
      as_announced : assert (!beat || (burst_q && data_last == (left_q == '0) && strb == '1));
      one_at_a_time : assert (!(cmd_valid && cmd_ready_i) || !burst_q);
      within_eight :
      assert (!cmd_valid || {1'b0, cmd_addr[5:3]} + 4'(cmd_len[4-1:0] >> (Beats - 1)) < 4'd8 &&
              cmd_len < 8'(8 * Beats) && (Beats == 1 || cmd_len[0]));
      reported_when_stored : assert (!(follow_q && tells > unreported_ahead_q) || reported_q);
      reported_once : assert (tells <= unreported_q);
      within_region : assert (!push || {1'b0, tag[15:10]} < limit);
      tag_goes_round : assert (!tag_known_q || tag == tag_q);
      error_is_reported : assert (error == (stored_valid && rsp_err_i));
      room_is_room : assert (!in_room || words_q <= 5'd14);
      reported : cover (follow_q && tells > unreported_ahead_q && unreported_ahead_q > 6'd1);
    end
  end

  // --------------------------------------------------------------------------------------------------------- induction
  logic [4:0] active;  // elements of the current burst
  logic [5:0] noted;  // elements of all bursts without an answer
  logic [TagW-1:0] oldest;
  logic [4:0] at;
  logic tags, there, half_same;
  logic [Places-1:0][3+5+4+1+TagW+31:0] word;
  assign active = dut.active_q ? 5'(dut.left_q) + 5'd1 : '0;
  for (genvar n = 0; n < Places; n++) begin : gen_place
    assign word[n] = dut.u_words.mem_q[n];
  end
  always_comb begin
    noted = '0;
    for (int n = 0; n < 4; n++) if (n < int'(dut.note_level)) noted = noted + 6'(dut.u_notes.mem_q[n]) + 6'd1;
  end
  assign oldest = word[0][32+:TagW];
  // Positions are consecutive except at the end of a lap, which is a multiple of 8.
  always_comb begin
    tags = 1'b1;
    for (int n = 0; n < Places; n++) begin
      if (n < int'(dut.level)) begin
        if (n + 1 < int'(dut.level)) begin
          if (word[n][32+:3] != '1 && word[n+1][32+:16] != word[n][32+:16] + 16'd1) tags = 1'b0;
          if (word[n][32+:3] == '1 && word[n+1][32+:3] != '0) tags = 1'b0;
        end else if (word[n][32+:3] != '1 ? tag[15:0] != word[n][32+:16] + 16'd1 : tag[2:0] != '0) tags = 1'b0;
      end
    end
  end
  assign there = word[words_ahead_q[3:0]] == {
    element_q[31:29], element_q[28:24], element_q[4:1], element_q[0], element_q[23:5], element_q[63:32]
  };
  assign half_same = Beats == 1 || !half_q || first_q == {
    word[0][32+TagW+10+:3], word[0][32+TagW+5+:5], word[0][32+:TagW], word[0][32+TagW+1+:4], word[0][32+TagW]
  };

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      all_counted :
      assert (words_q == dut.level && unreported_q == 6'(words_q) + noted - 6'(active) && noted >= 6'(active));
      notes_written : assert (16'(dut.note_level) == u_write.written_q + 16'(dut.active_q) && dut.note_level <= 3'd4);
      newest_active :
      assert (!dut.active_q || (dut.note_level != '0 && dut.u_notes.mem_q[dut.note_level[1:0]-2'd1] >= dut.left_q));
      in_order : assert (tags);
      burst_known :
      assert (burst_q == data_valid && (!dut.active_q || (active <= dut.level &&
              (!burst_q || 6'(left_q) == 6'({1'b0, active} * 6'(Beats)) - 6'd1 - 6'(half_q) &&
               left_q < 8'd16))));
      command_known : assert (!cmd_valid || (dut.active_q && cmd_len == 8'(active) * 8'(Beats) - 8'd1 && !half_q));
      address_known :
      assert (!dut.active_q || ((burst_q ? at_q : cmd_addr) == {5'b0, base, oldest[15:0], 3'b0} &&
                                5'(oldest[2:0]) + active <= 5'd8));
      halves :
      assert ((Beats == 1 || dut.half_q == half_q || !dut.active_q) &&
              ((burst_q && Beats == 2) || !half_q) && half_same);
      followed :
      assert (!follow_q || (unreported_ahead_q < unreported_q &&
               (reported_q ? unreported_ahead_q < noted - 6'(active) : words_ahead_q < words_q && there &&
                         unreported_ahead_q == 6'(words_ahead_q) + noted - 6'(active))));
      followed_base : assert (!follow_q || reported_q || address_q == {5'b0, base, element_q[20:5], 3'b0});
      position_known : assert (tag[15:0] == '0 || ({1'b0, tag[15:10]} < limit && limit <= 7'd64));
      few : assert (dut.level <= 5'd16 && u_write.written_q <= 16'd4);
`ifdef TSUNAGI_ASSERT
      own_rules : assert (dut.u_memory.written_q == u_write.written_q);
`endif
    end
  end
endmodule
