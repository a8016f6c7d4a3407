// SPDX-License-Identifier: MIT OR Apache-2.0
// `ap1000p_mmu` answers an address only as the tables say, from a walk that nothing has forgotten since, and only if
// the page's rights allow the access.
//
// This is proved of one page of one context, any.
//
// - The address is the one that the walk found. A demap of the page's address or of everything, and a reset, forget it.
// - The rights come from the same word, for a user's or the system's access, read or write. An access refused for its
//   rights is one that they do not allow.
// - A walk reads the word of its context in the context table, then in each table the word of the address. A word of a
//   table must say table, lie in cell memory and come without an error. So no read leaves cell memory.
// - Only the word of a page in cell memory is entered, and only if it came without an error of the memory.
//
// Assumed: a demap holds until it is taken; the memory gives the requested words. After a reset 256 cycles pass. With
// `Late` the proof begins after them, without a request and without an entry in the page's two places. Broken twins
// need that, because their search starts at the beginning.
module prove_ap1000p_mmu #(
    parameter int MemW = 24,
    parameter bit Late = 1'b0
) (
    input logic clk_i,
    input logic rst_i,
    input logic [31:0] table_i,
    input logic [1:0] req_valid_i,
    input logic [1:0][11:0] req_context_i,
    input logic [1:0][31:0] req_addr_i,
    input logic [1:0] req_write_i,
    input logic [1:0] req_system_i,
    input logic [1:0] rsp_ready_i,
    input logic demap_valid_i,
    input logic demap_all_i,
    input logic [31:0] demap_addr_i,
    input logic mem_cmd_ready_i,
    input logic mem_data_valid_i,
    input logic [31:0] mem_data_data_i,
    input logic mem_data_err_i
);
  logic busy, miss, demap_ready, mem_cmd_valid, mem_data_ready;
  logic [1:0] req_ready, rsp_valid;
  logic [1:0][31:0] rsp_addr;
  logic [1:0][2:0] rsp_fault;
  logic [31:0] mem_cmd_addr;
  logic [7:0] mem_cmd_len;

  ap1000p_mmu #(
      .MemW (MemW),
      .DataW(32)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .miss_o(miss),
      .table_i,
      .req_valid_i,
      .req_ready_o(req_ready),
      .req_context_i,
      .req_addr_i,
      .req_write_i,
      .req_system_i,
      .rsp_valid_o(rsp_valid),
      .rsp_ready_i,
      .rsp_addr_o(rsp_addr),
      .rsp_fault_o(rsp_fault),
      .demap_valid_i,
      .demap_ready_o(demap_ready),
      .demap_all_i,
      .demap_addr_i,
      .mem_cmd_valid_o(mem_cmd_valid),
      .mem_cmd_ready_i,
      .mem_cmd_addr_o(mem_cmd_addr),
      .mem_cmd_len_o(mem_cmd_len),
      .mem_data_valid_i,
      .mem_data_ready_o(mem_data_ready),
      .mem_data_data_i,
      .mem_data_last_i(1'b1),
      .mem_data_err_i
  );
  if (!Late) begin : gen_power_up
    power_up u_power_up (.*);
  end
  stream_rules #(
      .W(33),
      .Assume(1'b1)
  ) u_demap (
      .clk_i,
      .rst_i,
      .valid_i(demap_valid_i),
      .ready_i(demap_ready),
      .data_i ({demap_all_i, demap_addr_i})
  );

  mem_read_rules #(
      .Outstanding(1),
      .Assume(1'b1)
  ) u_read (
      .clk_i,
      .rst_i,
      .cmd_valid_i (mem_cmd_valid),
      .cmd_ready_i (mem_cmd_ready_i),
      .cmd_len_i   (mem_cmd_len),
      .data_valid_i(mem_data_valid_i),
      .data_ready_i(mem_data_ready),
      .data_last_i (1'b1)
  );

  // The states, in the order of the block's list.
  localparam int Sweep = 0;
  localparam int Forget = 1;
  localparam int Idle = 2;
  localparam int Match = 3;
  localparam int Judge = 4;
  localparam int Read = 5;
  localparam int Await = 6;
  localparam int Enter = 8;
  int state;
  assign state = int'(dut.state_q);

  // The checked context and page: registers that keep their initial value.
  logic [ 11:0] context_q;
  logic [31:12] page_q;
  always_ff @(posedge clk_i) begin
    context_q <= context_q;
    page_q <= page_q;
  end

  // The rights of a page: of a user or the system, to read or write.
  function automatic logic allows(input logic [2:0] rights, input logic system, input logic write);
    case (rights)
      3'd0, 3'd2: allows = !write;  // all read (and execute)
      3'd1, 3'd3: allows = 1'b1;  // all read and write (and execute)
      3'd4: allows = 1'b0;  // all execute
      3'd5: allows = system || !write;  // the system writes, too
      3'd6: allows = system && !write;  // the system reads and executes
      default: allows = system;  // the system only, all
    endcase
  endfunction

  // The walk, as the memory sees it: of which table the next word is, 0 the context table; the word before, good if
  // without error.
  logic first, first_q, step, good_q, root_valid_q, root_of;
  logic [1:0] level, next_q, read_level_q;
  logic [31:0] last_q, table_q;
  logic [11:0] root_context_q;
  logic [31:0] root_q;
  logic cell_memory;  // the word before says an address there
  assign first = miss || first_q;
  assign root_of = root_valid_q && root_context_q == dut.lookup_context;
  assign level = !first ? next_q : root_of ? 2'd1 : 2'd0;
  assign step = mem_cmd_valid && mem_cmd_ready_i;
  localparam int SpaceW = 36 - MemW;
  assign cell_memory = last_q[31-:SpaceW] == {4'(ap1000p_pkg::CellSpace), {(SpaceW - 4) {1'b0}}};
  always_ff @(posedge clk_i) begin
    if (!mem_cmd_valid) table_q <= table_i;
    first_q <= first && !step && !rst_i;
    if (step) begin
      next_q <= level + 2'd1;
      read_level_q <= level;
    end
    if (mem_data_valid_i && mem_data_ready) begin
      last_q <= mem_data_data_i;
      good_q <= !mem_data_err_i;
    end
    // The first table of the context that was walked last.
    if (step && level == 2'd1 && !root_of) begin
      root_valid_q <= 1'b1;
      root_context_q <= dut.lookup_context;
      root_q <= last_q;
    end
    if (rst_i || (demap_valid_i && demap_ready)) root_valid_q <= 1'b0;
  end

  // The entries for the page, and for its 256 KB, not forgotten since.
  logic small_q, large_q, enters_small, enters_large, enters;
  logic [MemW-1:12] small_at_q;
  logic [MemW-1:18] large_at_q;
  logic [2:0] small_rights_q, large_rights_q;
  assign enters = state == Enter && dut.lookup_context == context_q;
  assign enters_small = enters && dut.level_q == 2'd3 && dut.lookup_addr[31:12] == page_q;
  assign enters_large = enters && dut.level_q != 2'd3 && dut.lookup_addr[31:18] == page_q[31:18];
  always_ff @(posedge clk_i) begin
    if (enters_small) begin
      small_q <= 1'b1;
      small_at_q <= last_q[MemW-5:8];
      small_rights_q <= last_q[4:2];
    end
    if (enters_large) begin
      large_q <= 1'b1;
      large_at_q <= last_q[MemW-5:14];
      large_rights_q <= last_q[4:2];
      if (dut.level_q == 2'd1) large_at_q[23:18] <= page_q[23:18];
    end
    if (demap_valid_i && demap_ready) begin
      if (demap_all_i || demap_addr_i[19:12] == page_q[19:12]) small_q <= 1'b0;
      if (demap_all_i || demap_addr_i[23:18] == page_q[23:18]) large_q <= 1'b0;
    end
    if (rst_i) begin
      small_q <= 1'b0;
      large_q <= 1'b0;
    end
  end

  localparam int RequestW = 46;  // {context, address, write, system}
  // Requests as they were taken, until they are answered.
  for (genvar c = 0; c < 2; c++) begin : gen_client
    logic open_q, answers, of_page, small_at, large_at, small_allows, large_allows, request_write_q, request_system_q;
    logic [11:0] context_of_q;
    logic [31:0] request_q;
    assign answers = rsp_valid[c] && of_page;
    assign of_page = context_of_q == context_q && request_q[31:12] == page_q;
    assign small_at = small_q && rsp_addr[c] == 32'({small_at_q, request_q[11:0]});
    assign large_at = large_q && rsp_addr[c] == 32'({large_at_q, request_q[17:0]});
    assign small_allows = allows(small_rights_q, request_system_q, request_write_q);
    assign large_allows = allows(large_rights_q, request_system_q, request_write_q);
    always_ff @(posedge clk_i) begin
      open_q <= ((req_valid_i[c] && req_ready[c]) || (open_q && !(rsp_valid[c] && rsp_ready_i[c]))) && !rst_i;
      if (req_valid_i[c] && req_ready[c]) begin
        context_of_q <= req_context_i[c];
        request_q <= req_addr_i[c];
        request_write_q <= req_write_i[c];
        request_system_q <= req_system_i[c];
      end
      if (!rst_i) begin
        entered_and_not_forgotten : assert (!(answers && rsp_fault[c] == '0) || small_at || large_at);
        allowed_by_its_rights :
        assert (!(answers && rsp_fault[c] == '0) || (small_at && small_allows) || (large_at && large_allows));
        refused_by_its_rights :
        assert (!(answers && rsp_fault[c] == 3'(ap1000p_pkg::FaultAccess)) || (small_q && !small_allows) ||
                (large_q && !large_allows));
        // Invariants for induction.
        request : assert (!open_q || dut.kept_q[c] == {context_of_q, request_q, request_write_q, request_system_q});
        open : assert (open_q == dut.taken_q[c]);
        under_way : assert (!(state > Idle && dut.who_q == c[0]) || (dut.taken_q[c] && !dut.new_q[c]));
        waiting : assert (!dut.new_q[c] || dut.taken_q[c]);
      end
    end
  end

  // The context's word was read, and its table is not requested yet; a demap in progress forgets the root.
  logic root_in_time, forgets;
  assign root_in_time = state == Read && level == 2'd1 && !first;
  assign forgets = state == Sweep || state == Forget || demap_ready;

  // The TLBs' entries of the page, when they have it.
  localparam int SmallW = MemW - 12;
  localparam int LargeW = MemW - 18;
  logic [28+SmallW-1:0] small_entry;
  logic [24+LargeW-1:0] large_entry;
  logic small_has, large_has, small_clean, large_clean, small_swept, large_swept;
  assign small_entry = dut.small_q[page_q[19:12]];
  assign large_entry = dut.large_q[page_q[23:18]];
  assign small_has   = small_entry[27+SmallW] && small_entry[SmallW+:24] == {page_q[31:20], context_q};
  assign large_has   = large_entry[23+LargeW] && large_entry[LargeW+:20] == {page_q[31:24], context_q};
  assign small_swept = state != Sweep || page_q[19:12] < dut.sweep_q;
  assign large_swept = state != Sweep || {2'b0, page_q[23:18]} < dut.sweep_q;
  assign small_clean = demap_all_i || demap_addr_i[19:12] == page_q[19:12];
  assign large_clean = demap_all_i || demap_addr_i[23:18] == page_q[23:18];
  if (Late) begin : gen_late
    logic begun_q = 1'b0;
    always_ff @(posedge clk_i) begin
      begun_q <= 1'b1;
      if (!begun_q) begin
        after_a_reset :
        assume (!rst_i && state == Idle && !small_q && !large_q && !small_entry[27+SmallW] && !large_entry[23+LargeW] &&
                !dut.root_valid_q && !root_valid_q && dut.taken_q == '0 && dut.new_q == '0 && rsp_valid == '0 &&
                !demap_ready && !miss && !first_q && dut.sweep_q == '0 && u_read.issued_q == '0 &&
                u_read.read_q == '0 && !gen_client[0].open_q && !gen_client[1].open_q && !u_demap.waiting_q);
`ifdef TSUNAGI_ASSERT
        same_rules_after_a_reset :
        assume ({dut.u_memory.issued_q, dut.u_memory.read_q, dut.u_memory.len_q, dut.u_memory.beat_q} ==
                {u_read.issued_q, u_read.read_q, u_read.len_q, u_read.beat_q});
`endif
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      small_known :
      assert (!(small_has && small_swept) || (small_q && small_entry[SmallW-1:0] == small_at_q &&
                                                      small_entry[SmallW+24+:3] == small_rights_q));
      large_known :
      assert (!(large_has && large_swept) || (large_q && large_entry[LargeW-1:0] == large_at_q &&
                                                      large_entry[LargeW+20+:3] == large_rights_q));
      swept_small : assert (!(state == Sweep && small_swept) || !small_entry[27+SmallW]);
      swept_large : assert (!(state == Sweep && large_swept) || !large_entry[23+LargeW]);
      sweep_starts : assert (state == Sweep || dut.sweep_q == '0);
      demaps : assert (!(state == Forget || demap_ready || (state == Sweep && dut.all_q)) || demap_valid_i);
      sweeps_all : assert (!(state == Sweep && dut.all_q) || demap_all_i);
      demap_is_reported : assert (!demap_ready || state == Idle);
      reported_small : assert (!(demap_ready && small_clean) || !small_entry[27+SmallW]);
      reported_large : assert (!(demap_ready && large_clean) || !large_entry[23+LargeW]);
      read :
      assert (!(state == Match || state == Judge) || (dut.small_read_q == dut.small_q[dut.lookup_addr[19:12]] &&
                                        dut.large_read_q == dut.large_q[dut.lookup_addr[23:18]]));
      judged_small :
      assert (!(state == Judge && dut.small_hit && dut.lookup_context == context_q && dut.lookup_addr[31:12] == page_q)
                             || (small_has && dut.small_page_q == small_entry[SmallW-1:0] &&
                                 dut.small_allows_q == allows(
          small_entry[SmallW+24+:3], dut.lookup_system, dut.lookup_write
      )));
      judged_large :
      assert (!(state == Judge && dut.large_hit && dut.lookup_context == context_q &&
                               dut.lookup_addr[31:18] == page_q[31:18])
                             || (large_has && dut.large_page_q == large_entry[LargeW-1:0] &&
                                 dut.large_allows_q == allows(
          large_entry[LargeW+20+:3], dut.lookup_system, dut.lookup_write
      )));
      // The walk.
      walks_from_the_context :
      assert (!(mem_cmd_valid && level == 2'd0) || mem_cmd_addr == {table_q[31:14], dut.lookup_context, 2'b00});
      walks_the_tables :
      assert (!(mem_cmd_valid && level != 2'd0) || mem_cmd_addr == 32'(
              level == 2'd1 ? {root_of ? root_q[MemW-5:6] : last_q[MemW-5:6], dut.lookup_addr[31:24], 2'b00} :
              {last_q[MemW-5:4], level == 2'd2 ? dut.lookup_addr[23:18] : dut.lookup_addr[17:12], 2'b00}));
      stays_in_the_tables :
      assert (!(mem_cmd_valid && level != 2'd0 && !(level == 2'd1 && root_of)) ||
              (good_q && cell_memory && last_q[1:0] == 2'(ap1000p_pkg::EntryTable)));
      enters_a_page :
      assert (state != Enter || (good_q && cell_memory && last_q[1:0] == 2'(ap1000p_pkg::EntryPage) &&
 read_level_q != 2'd0));
      // Invariants for induction.
      entered : assert (state != Enter || dut.level_q != 2'd0);
      level_known : assert (state != Read || dut.level_q == level);
      reads_level :
      assert (!(state > Read && state <= Enter) || (dut.level_q == read_level_q && next_q == read_level_q + 2'd1));
      word_known :
      assert (!((state > Await && state <= Enter) || (state == Read && !first)) ||
 (dut.word_q == last_q && dut.err_q == !good_q));
      root_known :
      assert (!dut.root_valid_q || (root_in_time ?
 dut.root_context_q == dut.lookup_context && dut.root_q == last_q[MemW-5:4] :
              root_valid_q && dut.root_context_q == root_context_q && dut.root_q == root_q[MemW-5:4]));
      root_forgotten :
      assert ((!forgets || !dut.root_valid_q) && (!root_in_time || dut.root_valid_q) &&
 (!(state == Sweep && !dut.all_q) || !root_valid_q));
      root_reported : assert (!root_valid_q || root_in_time || dut.root_valid_q || forgets);
      root_read : assert (!(root_in_time || (state > Read && state <= Enter && read_level_q == 2'd0)) || !root_of);
      first_asks : assert (!first || state == Read);
      asks_tell : assert (mem_cmd_valid == (state == Read));
      tables_known : assert (!mem_cmd_valid || first || level != 2'd0);
`ifdef TSUNAGI_ASSERT
      // The block's own copy of the memory's rules.
      same_rules :
      assert ({dut.u_memory.issued_q, dut.u_memory.read_q, dut.u_memory.len_q, dut.u_memory.beat_q} ==
                           {u_read.issued_q, u_read.read_q, u_read.len_q, u_read.beat_q});
`endif
    end
  end
endmodule
