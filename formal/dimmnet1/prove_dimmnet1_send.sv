// SPDX-License-Identifier: MIT OR Apache-2.0
// `dimmnet1_send` sends a window as it stood at its kick, in the order of the kicks, under the card's stamp.
//
// This is proved of one word of one window, any, and of one word of one entry of the header TLB. Only stores that find
// the window free change the one, and only stores to the header TLB the other.
//
// - A packet of BOTF has the window's words, each once and in order, as many as its LENGTH says. Only SRC, OTF,
//   PGID and the generation in TAG are the hardware's: 0, 0, the card's, and any.
// - A packet of AOTF has four words, and OTF is set. Its DST, type, stamp, slot and region are those of one entry, and
//   its remote address lies in the 4 KB from the entry's on.
// - A packet leaves that asks for an answer only after a credit was taken for it. A group is never asked.
// - Of a window, a packet leaves only if its TYPE is PUSH or firmware's, and its LENGTH is 1 to 464.
// - A store to a busy window and a kick of it show an error.
//
// Assumed: a source holds its store; the card's stamp stays; an entry is written while WINDOWS.AOTF is 0.
module prove_dimmnet1_send (
    input logic clk_i,
    input logic rst_i,
    input logic [15:0] patience_i,
    input logic store_valid_i,
    input logic [20:0] store_addr_i,
    input logic [63:0] store_data_i,
    input logic [7:0] store_strb_i,
    input logic credit_ready_i,
    input logic [11:0] credit_gen_i,
    input logic out_ready_i
);
  logic busy, store_ready, store_error, lost, credit_valid, out_valid, out_last;
  logic [63:0] windows, out_data;
  logic [3:0] credit_slot;
  logic [15:0] credit_dst;

  // Registers that keep their initial value: the card's stamp; the window and its word that are followed, and the entry
  // and its word.
  logic [15:0] pgid_q;
  logic of_q;
  logic [5:0] at_q, page_q;  // page: of the entry
  logic [1:0] in_entry_q;
  always_ff @(posedge clk_i) begin
    pgid_q <= pgid_q;
    page_q <= page_q;
    in_entry_q <= in_entry_q;
    of_q <= of_q;
    at_q <= at_q;
  end

  dimmnet1_send dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .pgid_i(pgid_q),
      .patience_i,
      .store_valid_i,
      .store_ready_o(store_ready),
      .store_addr_i,
      .store_data_i,
      .store_strb_i,
      .store_error_o(store_error),
      .lost_o(lost),
      .windows_o(windows),
      .credit_valid_o(credit_valid),
      .credit_ready_i,
      .credit_slot_o(credit_slot),
      .credit_dst_o(credit_dst),
      .credit_gen_i,
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o(out_data),
      .out_last_o(out_last)
  );

  power_up u_power_up (.*);
  stream_rules #(
      .W(93),
      .Assume(1'b1)
  ) u_store (
      .clk_i,
      .rst_i,
      .valid_i(store_valid_i),
      .ready_i(store_ready),
      .data_i ({store_addr_i, store_data_i, store_strb_i})
  );
  stream_rules #(
      .W(65)
  ) u_out (
      .clk_i,
      .rst_i,
      .valid_i(out_valid),
      .ready_i(out_ready_i),
      .data_i ({out_last, out_data})
  );
  stream_rules #(
      .W(20)
  ) u_credit (
      .clk_i,
      .rst_i,
      .valid_i(credit_valid),
      .ready_i(credit_ready_i),
      .data_i ({credit_slot, credit_dst})
  );

  // ------------------------------------------------------------------------------------------------- stores and kicks
  logic take, to_window, to_kick, to_entry, which, kicks;
  logic [1:0] busies;
  assign busies = windows[dimmnet1_pkg::WindowsBusy0Lsb+:2];
  assign take = store_valid_i && store_ready;
  assign to_window = !store_addr_i[20] && !store_addr_i[14] && !store_addr_i[12];
  assign to_kick = !store_addr_i[20] && !store_addr_i[14] && store_addr_i[12];
  assign to_entry = !store_addr_i[20] && store_addr_i[14];
  assign which = to_kick ? store_addr_i[3] : store_addr_i[9];
  assign kicks = take && to_kick && store_strb_i == '1 && !busies[which];

  function automatic logic asks(input logic [63:0] w0);
    asks = w0[dimmnet1_pkg::HdrW0AckReqLsb] || w0[7:0] == 8'(dimmnet1_pkg::TypePull);
  endfunction

  // A word as the memory has it: the bytes with their marks.
  function automatic logic [71:0] marked(input logic [63:0] word, input logic entry);
    logic [7:0] mark;
    logic group;
    group = word[dimmnet1_pkg::HdrW0MulticastLsb];
    mark = '0;
    mark[0] = entry ? word[7:0] != 8'(dimmnet1_pkg::TypeClosed) && !(asks(word) && group) :
        word[7:0] == 8'(dimmnet1_pkg::TypePush) || word[7:4] != '0;
    mark[1] = entry ? asks(word) : word[dimmnet1_pkg::HdrW0AckReqLsb] && group;
    mark[6] = !entry && word[dimmnet1_pkg::HdrW0LengthLsb+:8] > 8'd208;
    mark[7] = !entry && word[dimmnet1_pkg::HdrW0LengthLsb+:16] >= 16'd512;
    for (int i = 0; i < 8; i++) marked[9*i+:9] = {mark[i], word[8*i+:8]};
  endfunction

  logic begun_q = 1'b0;
  logic refused_q, first_q;  // first: the window that was kicked before the other, when both are busy
  logic [63:0] word_q, entry_q;  // the followed words
  logic as_written;
  logic [71:0] word_marked, entry_marked;
  assign word_marked = marked(word_q, 1'b0);
  assign entry_marked = marked(entry_q, 1'b1);
  assign as_written = dut.mem_q[{2'b00, of_q, at_q}] == word_marked &&
                      dut.mem_q[{1'b1, page_q, in_entry_q}] == entry_marked;
  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    if (take && to_window && which == of_q && !busies[of_q] && store_addr_i[8:3] == at_q) begin
      for (int i = 0; i < 8; i++) if (store_strb_i[i]) word_q[8*i+:8] <= store_data_i[8*i+:8];
    end
    refused_q <= take && (to_window || to_kick) && busies[which] && !rst_i;
    if (kicks && busies == '0) first_q <= which;
    else if (busies != '0 && !busies[first_q]) first_q <= !first_q;
    if (take && to_entry && store_strb_i == '1 && store_addr_i[10:3] == {page_q, in_entry_q}) entry_q <= store_data_i;
    // That words have their marks is proved of the followed ones, which are any.
    if (!rst_i) marks_fit : assume (!dut.have2_q || dut.read9_q == marked(dut.read_q, !dut.kind2_q));
    if (!rst_i) entries_first : assume (!(take && to_entry) || !windows[dimmnet1_pkg::WindowsAotfLsb]);
    // Through a reset, too.
    if (!begun_q) any_contents : assume (as_written);
    if (begun_q) kept : assert (as_written);
  end

  // ----------------------------------------------------------------------------------------------------- what leaves
  // The next word that goes to the output register; the packet's first word; credits that no packet has used, at least.
  logic moves, gets, uses, head, botf, botf_q, asks_q, window;
  logic [5:0] place_q;
  logic [6:0] words;
  logic [63:0] next, head_q, expected, shown_q;
  logic [1:0] credits_q;
  logic shown_last_q;
  assign moves  = dut.move && dut.emit;
  assign gets   = credit_valid && credit_ready_i;
  assign uses   = moves && place_q == 6'd1 && asks_q;
  assign next   = dut.word;
  assign head   = place_q == '0;
  assign botf   = head ? !next[dimmnet1_pkg::HdrW0OtfLsb] : botf_q;
  assign window = busies[first_q] ? first_q : !first_q;
  assign words  = 7'(16'd6 + ((head_q[dimmnet1_pkg::HdrW0LengthLsb+:16] + 16'd7) >> 3));  // of a packet of BOTF

  always_comb begin
    expected = word_q;
    if (at_q == 6'd0) begin
      expected[dimmnet1_pkg::HdrW0SrcLsb+:16] = '0;
      expected[dimmnet1_pkg::HdrW0OtfLsb] = 1'b0;
    end
    if (at_q == 6'd1) begin
      expected[dimmnet1_pkg::HdrW1PgidLsb+:16] = pgid_q;
      expected[31:20] = next[31:20];
    end
  end

  // Of the entry: all but SRC, OTF and LENGTH; stamp and slot, and SEQ is 0; region.
  logic [63:0] of_entry;
  logic [47:0] distance;
  always_comb begin
    of_entry = next;
    if (in_entry_q == 2'd0)
      {of_entry[47:32], of_entry[15:13], of_entry[11:0]} = {entry_q[47:32], entry_q[15:13], entry_q[11:0]};
    if (in_entry_q == 2'd1) {of_entry[63:32], of_entry[19:0]} = {32'b0, entry_q[19:0]};
    if (in_entry_q == 2'd2) of_entry[63:48] = entry_q[63:48];
  end
  assign distance = next[47:0] - {entry_q[47:3], 3'b0};

  always_ff @(posedge clk_i) begin
    if (moves) begin
      place_q <= dut.last2_q ? '0 : place_q + 6'd1;
      if (head) {head_q, botf_q, asks_q} <= {next, botf, asks(next)};
      shown_q <= next;
      shown_last_q <= dut.last2_q;
    end
    if (gets && !(uses || credits_q == '1)) credits_q <= credits_q + 2'd1;
    else if (uses && !gets) credits_q <= credits_q - 2'd1;
    if (rst_i) begin
      place_q   <= '0;
      credits_q <= '0;
    end
  end

  // ------------------------------------------------------------------------------------------------------- the stages
  // Of the word in the second one: its place in its packet, its window.
  logic [5:0] place2;
  logic window2, real2;
  assign place2  = dut.index_q - 6'd1;
  assign window2 = dut.last2_q ? !dut.head_q : dut.head_q;
  assign real2   = dut.have2_q && !(dut.quiet_q && !dut.word_q[0]);  // its packet leaves
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      shows : assert (!out_valid || {out_last, out_data} == {shown_last_q, shown_q});
      as_stored : assert (!(moves && botf && window == of_q && place_q == at_q) || next == expected);
      of_its_entry :
      assert (!(moves && !botf && dut.page_q == page_q && place_q == 6'(in_entry_q) && in_entry_q != 2'd3) ||
              next == of_entry);
      within_its_page :
      assert (!(moves && !botf && dut.page_q == page_q && place_q == 6'd2 && in_entry_q == 2'd2) ||
              distance < 48'd4096);
      stamped : assert (!(moves && botf && place_q == 6'd1) || next[dimmnet1_pkg::HdrW1PgidLsb+:16] == pgid_q);
      of_a_busy_window : assert (!(moves && botf) || busies[window]);
      whole : assert (!(moves && botf && !head) || dut.last2_q == (place_q == 6'(words - 7'd1)));
      four_words : assert (!(moves && !botf) || dut.last2_q == (place_q == 6'd3));
      longer : assert (!(moves && head) || !dut.last2_q);
      type_allowed : assert (!(moves && botf && head) || next[7:0] == 8'(dimmnet1_pkg::TypePush) || next[7:4] != '0);
      length_allowed :
      assert (!(moves && botf && head) || (next[dimmnet1_pkg::HdrW0LengthLsb+:16] != '0 &&
                                           next[dimmnet1_pkg::HdrW0LengthLsb+:16] <= 16'd464));
      no_group : assert (!(moves && head && asks(next)) || !next[dimmnet1_pkg::HdrW0MulticastLsb]);
      with_credit : assert (!(moves && head && asks(next)) || credits_q != '0);
      refusal_shows : assert (!refused_q || store_error);
      busy_tells : assert (busy || (!out_valid && busies == '0 && head));
      // Invariants for induction.
      in_order :
      assert (dut.busy_q == '0 || dut.refused_q || window == ((dut.have2_q && dut.kind2_q) ? window2 : dut.head_q));
      after_refusal :
      assert (!dut.refused_q || (!dut.have2_q && !dut.in_q && dut.head_q == !dut.refused_window_q &&
                                 dut.busy_q[dut.refused_window_q]));
      busy_while_read : assert (!(dut.in_q && dut.kind_q) || dut.busy_q[dut.head_q]);
      busy_while_inside : assert (!(dut.have2_q && dut.kind2_q) || dut.busy_q[window2]);
      no_bubble : assert (!dut.in_q || (dut.have2_q && dut.kind_q == dut.kind2_q && !dut.last2_q));
      goes_on : assert (!(dut.have2_q && !dut.last2_q) || dut.in_q);
      place : assert (real2 && !dut.word_q[0] ? place_q == place2 && botf_q == dut.kind2_q : head);
      word : assert (!dut.have2_q || dut.word_q == (place2 < 6'd4 ? 4'd1 << place2[1:0] : 4'd0));
      quiet_second : assert (!(dut.have2_q && dut.quiet_q && !dut.word_q[0]) || dut.word_q[1]);
      bounds : assert (dut.end_q >= 6'd6);
      length : assert (!(real2 && dut.kind2_q && !dut.word_q[0]) || dut.end_q == 6'(words - 7'd1));
      length_possible : assert (!(real2 && dut.kind2_q && !dut.word_q[0]) || (words >= 7'd7 && words <= 7'd64));
      last :
      assert (!dut.have2_q || dut.last2_q == (place2 == (dut.kind2_q ? dut.end_q : 6'd3)) ||
              (dut.word_q[0] && !dut.last2_q));
      read : assert (!(dut.have2_q && dut.kind2_q && window2 == of_q && place2 == at_q) || dut.read_q == word_q);
      at_most_four : assert (!(dut.have2_q && !dut.kind2_q) || place2 <= 6'd3);
      keeps : assert (!(dut.have2_q && !dut.kind2_q && place2 <= 6'd2) || dut.keep_q);
      read_entry :
      assert (!(dut.have2_q && !dut.kind2_q && dut.page_q == page_q && place2 == 6'(in_entry_q) &&
                in_entry_q != 2'd3) || dut.read_q == entry_q);
      credit : assert (int'(credits_q) >= int'(dut.have_q[0]) + int'(dut.have_q[1]));
      credit_of_packet : assert (!(real2 && dut.word_q[1] && asks_q) || dut.have_q[dut.kind2_q]);
      stores : assert (dut.u_stores.level_q <= 5'd16);
      one_waits : assert (!(dut.have2_q && dut.quiet_q && dut.word_q[1] && (credit_valid || dut.have_q[dut.kind2_q])));
      one_request : assert (!credit_valid || !dut.have_q[dut.credit_kind_q]);
      // The claims are not vacuous.
      second_window : cover (moves && botf && window == of_q && place_q == at_q && at_q == 6'd6 && of_q);
      answered : cover (moves && botf && head && asks(next));
    end
  end
endmodule
