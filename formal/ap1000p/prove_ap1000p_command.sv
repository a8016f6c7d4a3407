// SPDX-License-Identifier: MIT OR Apache-2.0
// `ap1000p_command` passes on exactly the allowed commands of eight words stored to one page: in order, and whole.
//
// This is proved of one class, whatever the stores of the other.
//
// - Word 0 has the page as kind. Word 1 has the context of the register at that moment. The others are as stored.
// - The cell is in the torus. The cell of a user is in the range register too, and its broadcast is along an axis that
//   the range covers. The length fits in 20 bits. The stream of a user has no command of the system's class.
// - Of a refused command not a word leaves. A command with data in the bits of kind or context, or with a changed page,
//   is refused too. It is reported with cause and page, and counted.
// - Direct words go in order to the queue that their page names, with their label.
// - The view of an open command is its stored words, a waiting word included. A forgotten command leaves no word.
// - Offers hold.
//
// One word of the eight, any of them, is followed. The rules are written from docs/machines/ap1000p.md and the formats,
// for whole words and at once; the block checks them in four cycles.
//
// Assumed: size and range are constant, any; no open command is forgotten in the cycle after a store. The context
// changes at any time.
module prove_ap1000p_command #(
    parameter int System = 0
) (
    input logic clk_i,
    input logic rst_i,
    input logic store_valid_i,
    input logic [15:0] store_page_i,
    input logic [31:0] store_data_i,
    input logic [11:0] context_i,
    input logic [1:0] drop_i,
    input logic [3:0] peek_i,
    input logic system_ready_i,
    input logic user_ready_i,
    input logic direct_ready_i,
    input logic mark_i
);
  // Registers that keep their initial value: the setup, and the index of the followed word.
  logic [7:0] size_x_q, size_y_q, low_x_q, high_x_q, low_y_q, high_y_q;
  logic [2:0] which_q;
  always_ff @(posedge clk_i) begin
    {size_x_q, low_x_q, high_x_q} <= {size_x_q, low_x_q, high_x_q};
    {size_y_q, low_y_q, high_y_q} <= {size_y_q, low_y_q, high_y_q};
    which_q <= which_q;
  end

  logic busy, store_ready, refused, direct_valid, direct_end;
  logic [1:0][ 2:0] open_count;
  logic [1:0][15:0] open_page;
  logic [31:0] peeked, direct_data;
  logic [1:0] cause, valid, ended;
  logic [15:0] refused_page, refused_count;
  logic [1:0][31:0] data;
  logic [4:0] direct_queue;
  logic direct_waits;
  logic [2:0] direct_number;
  logic [3:0] direct_index;
  ap1000p_command dut (
      .clk_i,
      .rst_i,
      .busy_o         (busy),
      .store_valid_i,
      .store_ready_o  (store_ready),
      .store_page_i,
      .store_data_i,
      .context_i,
      .size_x_i       (size_x_q),
      .size_y_i       (size_y_q),
      .low_x_i        (low_x_q),
      .high_x_i       (high_x_q),
      .low_y_i        (low_y_q),
      .high_y_i       (high_y_q),
      .open_count_o   (open_count),
      .open_page_o    (open_page),
      .drop_i,
      .peek_i,
      .peek_data_o    (peeked),
      .refused_valid_o(refused),
      .refused_cause_o(cause),
      .refused_page_o (refused_page),
      .refused_count_o(refused_count),
      .system_valid_o (valid[1]),
      .system_ready_i,
      .system_end_o   (ended[1]),
      .system_data_o  (data[1]),
      .user_valid_o   (valid[0]),
      .user_ready_i,
      .user_end_o     (ended[0]),
      .user_data_o    (data[0]),
      .direct_waits_o (direct_waits),
      .direct_valid_o (direct_valid),
      .direct_ready_i,
      .direct_queue_o (direct_queue),
      .direct_number_o(direct_number),
      .direct_index_o (direct_index),
      .direct_end_o   (direct_end),
      .direct_data_o  (direct_data)
  );
  power_up u_power_up (.*);

  // ------------------------------------------------------------------------------------------------------------- rules
  function automatic logic is_page(input logic [15:0] page);
    logic send, row, column, from, into;
    send = page[ap1000p_pkg::PageSendLsb];
    row = page[ap1000p_pkg::PageRowLsb];
    column = page[ap1000p_pkg::PageColumnLsb];
    from = page[ap1000p_pkg::PageAsSendLsb];
    into = page[ap1000p_pkg::PageAsReceiveLsb];
    if (page[15]) begin
      is_page = page[13:10] == '0 && page[2:0] <= 3'd4;
    end else if (page[3] || page[8:7] != '0 || page[12:11] != '0 || page[14]) begin
      is_page = 1'b0;
    end else begin
      case (int'(page[2:0]))
        ap1000p_pkg::KindPut: is_page = !(send && into) && !(row && column && from);
        ap1000p_pkg::KindGet: is_page = !send && !row && !column;
        ap1000p_pkg::KindCsi, ap1000p_pkg::KindFop: is_page = !send && !row && !column && !from && !into;
        default: is_page = 1'b0;
      endcase
    end
  endfunction
  function automatic logic [4:0] queue_of(input logic [15:0] page);
    case (page[2:0])
      3'd0: queue_of = 5'b00001;
      3'd1: queue_of = 5'b00100;
      3'd2: queue_of = 5'b00010;
      3'd3: queue_of = 5'b10000;
      default: queue_of = 5'b01000;
    endcase
  endfunction
  // Along an axis: one of the torus; one of the range, also a turn further; the range covers it.
  function automatic logic on_torus(input logic [7:0] cell_, input logic [7:0] size);
    logic signed [9:0] at, turn;
    at = 10'($signed(cell_));
    turn = $signed({2'b00, size});
    on_torus = at < turn && -at < turn;
  endfunction
  function automatic logic in_range(input logic [7:0] cell_, input logic [7:0] size, input logic [7:0] low,
                                    input logic [7:0] high);
    logic signed [9:0] at, turn, from, to;
    at = 10'($signed(cell_));
    turn = $signed({2'b00, size});
    from = 10'($signed(low));
    to = 10'($signed(high));
    in_range = (from <= at && at <= to) || (from <= at + turn && at + turn <= to) ||
               (from <= at - turn && at - turn <= to);
  endfunction
  function automatic logic covers(input logic [7:0] size, input logic [7:0] low, input logic [7:0] high);
    covers = 10'($signed(high)) - 10'($signed(low)) + 10'sd1 >= $signed({2'b00, size});
  endfunction
  logic cover_x, cover_y;
  assign cover_x = covers(size_x_q, low_x_q, high_x_q);
  assign cover_y = covers(size_y_q, low_y_q, high_y_q);

  // ------------------------------------------------------------------------------------------------------------ stores
  // A taken store is done in the cycle in which the next may come. Until then it may wait. It belongs to the open
  // command already, unless it ends that command, and is forgotten with it.
  logic store_q, exists, waits, gone, mine, turned, done, ends, right;
  logic [15:0] page_q;
  logic [31:0] word_q, kept;
  logic [2:0] count_q, index;
  logic [15:0] open_page_q;
  logic strange_q, outside_q, long_q;  // of the open command: forged or uncovered, outside, too long
  // Of the open command: the followed word; of its word 0: the cell is in the torus, it is in the range, the broadcast
  // is covered.
  logic [31:0] follow_q;
  logic [2:0] may, may_q;
  assign exists = is_page(page_q);
  assign done = store_q && store_ready;
  assign waits = store_q && exists && !page_q[15] && int'(page_q[ap1000p_pkg::PageSystemLsb]) == System;
  assign gone = waits && drop_i[System] && !ends;
  assign mine = done && waits && !gone;
  assign turned = count_q != '0 && page_q != open_page_q;
  assign index = turned ? '0 : count_q;
  assign ends = index == 3'd7;
  assign right = !strange_q && !outside_q && !long_q;
  assign may[0] = on_torus(word_q[15:8], size_x_q) && on_torus(word_q[7:0], size_y_q);
  assign may[1] = in_range(
      word_q[15:8], size_x_q, low_x_q, high_x_q
  ) && in_range(
      word_q[7:0], size_y_q, low_y_q, high_y_q
  );
  assign may[2] = (!page_q[ap1000p_pkg::PageRowLsb] || cover_x) && (!page_q[ap1000p_pkg::PageColumnLsb] || cover_y);
  always_comb begin
    kept = word_q;
    if (index == 3'd0) kept[31:16] = page_q;
    if (index == 3'd1) kept[31:20] = context_i;
  end
  always_ff @(posedge clk_i) begin
    if (store_ready) begin
      page_q <= store_page_i;
      word_q <= store_data_i;
    end
    store_q <= (store_valid_i || (store_q && !store_ready)) && !rst_i;
    if (mine) begin
      if (index == 3'd0) begin
        open_page_q <= page_q;
        may_q <= may;
        strange_q <= word_q[31:16] != '0 || (System == 0 && !may[2]);
        outside_q <= !may[0] || (System == 0 && !may[1]);
        long_q <= 1'b0;
      end
      if (index == 3'd1) long_q <= word_q[31:20] != '0;
      if (index == which_q) follow_q <= kept;
    end
    if (rst_i) count_q <= '0;
    else if (mine) count_q <= index + 3'd1;
    else if (waits ? turned || gone : drop_i[System]) count_q <= '0;
  end

  // The expected view of the open command: its number of words, its page, and the followed word.
  logic [ 2:0] shown_q;
  logic [15:0] shown_page_q;
  logic [31:0] shown_word_q, peeked_q;
  logic peeks_q;
  always_ff @(posedge clk_i) begin
    if (waits) shown_q <= gone ? '0 : index + 3'd1;
    else shown_q <= drop_i[System] ? '0 : count_q;
    shown_page_q <= waits && index == '0 ? page_q : open_page_q;
    if (waits && index == which_q) shown_word_q <= kept;
    peeks_q  <= !rst_i && dut.peek_q == {1'(System), which_q};
    peeked_q <= shown_q > which_q ? shown_word_q : '0;
    if (rst_i) shown_q <= '0;
  end

  // Whole commands on their way out: the followed word of each, the older first.
  logic enters, leaves, ready, first;
  logic [1:0] level_q;
  logic [1:0][34:0] out_q;
  logic [2:0] place_q;  // words of the first that have left
  logic [34:0] entering;
  assign entering = {may_q, which_q == 3'd7 ? kept : follow_q};
  assign enters = mine && ends && right;
  assign ready = System == 0 ? user_ready_i : system_ready_i;
  assign leaves = valid[System] && ready && place_q == 3'd7;
  assign first = level_q == 2'(leaves);
  always_ff @(posedge clk_i) begin
    if (leaves) out_q[0] <= out_q[1];
    if (enters && first) out_q[0] <= entering;
    if (enters && !first) out_q[1] <= entering;
    if (rst_i) begin
      level_q <= '0;
      place_q <= '0;
    end else begin
      level_q <= level_q + 2'(enters) - 2'(leaves);
      if (valid[System] && ready) place_q <= place_q + 3'd1;
    end
  end

  logic here, head_leaves;
  logic [31:0] leaving;
  logic [ 2:0] allowed;
  assign leaving = data[System];
  assign allowed = out_q[0][34:32];
  assign here = valid[System] && place_q == which_q;
  assign head_leaves = here && which_q == 3'd0;

  function automatic logic is_head(input logic [31:0] word);
    is_head = is_page(word[31:16]) && !word[31] && int'(word[16+ap1000p_pkg::PageSystemLsb]) == System;
  endfunction
  function automatic logic is_right(input logic [34:0] entry);
    is_right = entry[32] && (entry[34:33] == '1 || System != 0) && (which_q != 3'd0 || is_head(entry[31:0]));
  endfunction

  // Refusals: of any store to no page, of any store of this class.
  logic refuses, reported_q;
  logic [1:0] cause_q;
  logic [15:0] reported_page_q, reported_count_q;
  assign refuses = (done && !exists) || (waits && turned && !gone) || (mine && ends && !right);
  always_ff @(posedge clk_i) begin
    reported_q <= refuses && !rst_i;
    reported_page_q <= exists && turned ? open_page_q : page_q;
    if (!exists) cause_q <= 2'(ap1000p_pkg::RefusedPage);
    else if (turned) cause_q <= 2'(ap1000p_pkg::RefusedChange);
    else if (strange_q || outside_q) cause_q <= 2'(ap1000p_pkg::RefusedCell);
    else cause_q <= 2'(ap1000p_pkg::RefusedLength);
    if (rst_i) reported_count_q <= '0;
    else if (refused && reported_count_q != '1) reported_count_q <= reported_count_q + 16'd1;
  end

  // ------------------------------------------------------------------------------------------------------ direct words
  localparam int DirectW = 45;
  logic direct_follow;
  logic [1:0] direct_inside, direct_ahead;
  logic [DirectW-1:0] direct_word;
  stream_track #(
      .W(DirectW),
      .Capacity(2)
  ) u_direct (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i    (done && exists && page_q[15]),
      .in_data_i ({queue_of(page_q), page_q[9:7], page_q[6:3], page_q[14], word_q}),
      .pop_i     (direct_valid && direct_ready_i),
      .out_data_i({direct_queue, direct_number, direct_index, direct_end, direct_data}),
      .inside_o  (direct_inside),
      .follow_o  (direct_follow),
      .ahead_o   (direct_ahead),
      .word_o    (direct_word)
  );

  stream_rules #(
      .W(33)
  ) u_out (
      .clk_i,
      .rst_i,
      .valid_i(valid[System]),
      .ready_i(ready),
      .data_i ({ended[System], data[System]})
  );

  // ------------------------------------------------------------------------------------------------------------ claims
  logic fresh_q;
  logic [15:0][31:0] memory;
  for (genvar i = 0; i < 16; i++) begin : gen_memory
    assign memory[i] = dut.gen_class[System].u_command_buffer.mem_q[i];
  end
  logic [2:0] counted;
  logic [3:0] read;
  logic [1:0] level;
  logic bank, checked;
  assign counted = dut.gen_class[System].u_command_buffer.count_q;
  assign read = dut.gen_class[System].u_command_buffer.rd_q;
  assign level = dut.gen_class[System].u_command_buffer.level_q;
  assign bank = dut.gen_class[System].u_command_buffer.bank_q;
  assign checked = {dut.check_q[2][System], dut.check_q[1][System], dut.check_q[0][System]} == '0;
  logic [1:0] settled_q = '0;
  always_ff @(posedge clk_i) begin
    settled_q <= {settled_q[0], 1'b1};
    fresh_q   <= store_valid_i && store_ready;
    if (!rst_i) begin
      not_after_a_store : assume (drop_i == '0 || !fresh_q);
      // Accepted commands.
      nothing_refused_leaves : assert (!valid[System] || level_q != '0);
      nothing_kept_back : assert (valid[System] || level_q == '0);
      whole : assert (!valid[System] || ended[System] == (place_q == 3'd7));
      unchanged : assert (!here || leaving == out_q[0][31:0]);
      context_is_the_registers : assert (!(here && which_q == 3'd1) || leaving[31:20] == out_q[0][31:20]);
      class_is_its_own : assert (!head_leaves || int'(leaving[16+ap1000p_pkg::PageSystemLsb]) == System);
      kind_is_a_page : assert (!head_leaves || (is_page(leaving[31:16]) && !leaving[31]));
      cell_of_the_torus : assert (!head_leaves || allowed[0]);
      cell_in_range : assert (!head_leaves || System != 0 || allowed[1]);
      broadcast_covered : assert (!head_leaves || System != 0 || allowed[2]);
      // Refused commands are reported.
      refused_reported : assert (!reported_q || (refused && cause == cause_q && refused_page == reported_page_q));
      only_refused_reported :
      assert (!refused || reported_q || int'(refused_page[ap1000p_pkg::PageSystemLsb]) != System);
      refused_counted : assert (refused_count == (reported_count_q == '1 ? '1 : reported_count_q + 16'(refused)));
      // The open command is shown, and stores in progress are reported.
      open_shown : assert (open_count[System] == shown_q && (shown_q == '0 || open_page[System] == shown_page_q));
      word_shown : assert (!peeks_q || peeked == peeked_q);
      direct_reported : assert (direct_waits == ((store_q && exists && page_q[15]) || direct_inside != '0));
      // Invariants for induction.
      words_shown : assert (shown_q <= which_q || dut.shown_q[{1'(System), which_q}] == shown_word_q);
      same_known :
      assert (!store_q || !exists || page_q[15] || dut.count[page_q[ap1000p_pkg::PageSystemLsb]] == '0 ||
              dut.same_q == (page_q == dut.open_page_q[page_q[ap1000p_pkg::PageSystemLsb]]));
      turns_at_once : assert (!store_q || fresh_q || !waits || !turned);
      shown_is_open : assert (shown_q == '0 || count_q == shown_q || (store_q && count_q + 3'd1 == shown_q));
      store_known : assert (store_q == dut.valid_q && (!store_q || (page_q == dut.page_q && word_q == dut.data_q)));
      page_known : assert (!store_q || exists == dut.known_q);
      open_known :
      assert (count_q == counted && (count_q == '0 || open_page_q == dut.open_page_q[System]) &&
                           (!waits || fresh_q || count_q != '0 || dut.open_page_q[System] == page_q));
      pages_of_the_class :
      assert ((dut.count[0] == '0 || !dut.open_page_q[0][ap1000p_pkg::PageSystemLsb]) &&
              (dut.count[1] == '0 || dut.open_page_q[1][ap1000p_pkg::PageSystemLsb]) &&
              (open_count[0] == '0 || !open_page[0][ap1000p_pkg::PageSystemLsb]) &&
              (open_count[1] == '0 || open_page[1][ap1000p_pkg::PageSystemLsb]));
      flags_known :
      assert ((count_q == '0 || strange_q == dut.bad_head_q[System]) &&
              (count_q <= 3'd1 || long_q == dut.bad_length_q[System]));
      cell_known : assert (count_q == '0 || !checked || outside_q == dut.bad_cell_q[System]);
      checks_early :
      assert ((!dut.check_q[2][System] || count_q <= 3'd1) && (!dut.check_q[1][System] || count_q <= 3'd2) &&
              (!dut.check_q[0][System] || count_q <= 3'd3));
      places_known : assert (level_q == level && place_q == read[2:0] && bank == (read[3] ^ level[0]));
      places_possible : assert (level_q <= 2'd2 && (level_q != '0 || place_q == '0));
      not_over_those_inside : assert (level_q != 2'd2 || count_q <= place_q);
      open_followed : assert (count_q <= which_q || follow_q == memory[{bank, which_q}]);
      first_followed : assert (level_q == '0 || place_q > which_q || out_q[0][31:0] == memory[{read[3], which_q}]);
      second_followed : assert (level_q != 2'd2 || out_q[1][31:0] == memory[{!read[3], which_q}]);
      head_followed :
      assert (count_q == '0 || ((outside_q || (may_q[0] && (may_q[1] || System != 0))) &&
              (strange_q || may_q[2] || System != 0) && (which_q != 3'd0 || is_head(
          follow_q
      ))));
      heads_followed : assert ((level_q == '0 || is_right(out_q[0])) && (level_q != 2'd2 || is_right(out_q[1])));
      spans :
      assert ((!settled_q[0] || (dut.span_x_q == 10'($signed(
          high_x_q
      )) - 10'($signed(
          low_x_q
      )) && dut.span_y_q == 10'($signed(
          high_y_q
      )) - 10'($signed(
          low_y_q
      )))) && (!settled_q[1] || (dut.whole_x_q == cover_x && dut.whole_y_q == cover_y)));
      settled : assert (!store_q || settled_q == '1);
      direct_level : assert (direct_valid == (direct_inside != '0) && dut.direct_ready == (direct_inside != 2'd2));
      direct_followed :
      assert (!direct_follow || direct_word == (direct_ahead == '0 ? dut.u_direct.data_q : dut.u_direct.spare_q));
      two_inside : cover (level_q == 2'd2 && which_q == 3'd1);
    end
  end
endmodule
