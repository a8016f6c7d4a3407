// `ap1000p_mmu`: of one page of one context, any page of any context: an address that is answered for it was entered for it and has not
// been forgotten since, by a demap of its place, of everything, or by a reset.
//
// What is entered is read from the block's own registers: that it is what the tables say is for the bench, and so is that anything is
// ever answered, since after a reset 256 cycles pass. Assumed: a demap holds until it is taken; the memory gives what it was asked for.
module prove_ap1000p_mmu #(
    parameter int MemW = 24
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
  power_up u_power_up (.*);
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
  localparam int Enter = 8;
  int state;
  assign state = int'(dut.state_q);

  // The context and the page that are looked at: registers that hold what they start with.
  logic [ 11:0] context_q;
  logic [31:12] page_q;
  always_ff @(posedge clk_i) begin
    context_q <= context_q;
    page_q <= page_q;
  end

  // What was entered for the page, and for the 256 KB it lies in, and not forgotten since.
  logic small_q, large_q, enters_small, enters_large, enters;
  logic [MemW-1:12] small_at_q;
  logic [MemW-1:18] large_at_q;
  assign enters = state == Enter && dut.asked_context == context_q;
  assign enters_small = enters && dut.level_q == 2'd3 && dut.asked[31:12] == page_q;
  assign enters_large = enters && dut.level_q != 2'd3 && dut.asked[31:18] == page_q[31:18];
  always_ff @(posedge clk_i) begin
    if (enters_small) begin
      small_q <= 1'b1;
      small_at_q <= dut.word_q[MemW-5:8];
    end
    if (enters_large) begin
      large_q <= 1'b1;
      large_at_q <= dut.word_q[MemW-5:14];
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
    logic open_q, fresh, of_page;
    logic [11:0] asked_context_q;
    logic [31:0] asked_q;
    assign fresh   = rsp_valid[c] && open_q;
    assign of_page = asked_context_q == context_q && asked_q[31:12] == page_q;
    always_ff @(posedge clk_i) begin
      open_q <= ((req_valid_i[c] && req_ready[c]) || (open_q && !rsp_valid[c])) && !rst_i;
      if (req_valid_i[c] && req_ready[c]) begin
        asked_context_q <= req_context_i[c];
        asked_q <= req_addr_i[c];
      end
      if (!rst_i) begin
        entered_and_not_forgotten :
        assert (!(fresh && of_page && rsp_fault[c] == '0) ||
                (small_q && rsp_addr[c] == 32'({small_at_q, asked_q[11:0]})) ||
                (large_q && rsp_addr[c] == 32'({large_at_q, asked_q[17:0]})));
        // What makes it inductive.
        request : assert (!open_q || dut.kept_q[c][RequestW-1:2] == {asked_context_q, asked_q});
        open : assert (open_q == (dut.taken_q[c] && (!rsp_valid[c] || fresh)));
        under_way :
        assert (!(state > Idle && dut.who_q == c[0]) || (dut.taken_q[c] && open_q && !rsp_valid[c] && !dut.new_q[c]));
        answered : assert (!rsp_valid[c] || dut.taken_q[c]);
        waiting : assert (!dut.new_q[c] || (dut.taken_q[c] && !rsp_valid[c]));
      end
    end
  end

  // What the TLBs hold of the page, when they have it.
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
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      small_known : assert (!(small_has && small_swept) || (small_q && small_entry[SmallW-1:0] == small_at_q));
      large_known : assert (!(large_has && large_swept) || (large_q && large_entry[LargeW-1:0] == large_at_q));
      swept_small : assert (!(state == Sweep && small_swept) || !small_entry[27+SmallW]);
      swept_large : assert (!(state == Sweep && large_swept) || !large_entry[23+LargeW]);
      sweep_starts : assert (state == Sweep || dut.sweep_q == '0);
      demaps : assert (!(state == Forget || demap_ready || (state == Sweep && dut.all_q)) || demap_valid_i);
      sweeps_all : assert (!(state == Sweep && dut.all_q) || demap_all_i);
      told : assert (!demap_ready || state == Idle);
      told_small : assert (!(demap_ready && small_clean) || !small_entry[27+SmallW]);
      told_large : assert (!(demap_ready && large_clean) || !large_entry[23+LargeW]);
      read :
      assert (state != Match || (dut.small_read_q == dut.small_q[dut.asked[19:12]] &&
                                        dut.large_read_q == dut.large_q[dut.asked[23:18]]));
      judged_small :
      assert (!(state == Judge && dut.small_hit && dut.asked_context == context_q && dut.asked[31:12] == page_q)
                             || (small_has && dut.small_page_q == small_entry[SmallW-1:0]));
      judged_large :
      assert (!(state == Judge && dut.large_hit && dut.asked_context == context_q &&
                               dut.asked[31:18] == page_q[31:18])
                             || (large_has && dut.large_page_q == large_entry[LargeW-1:0]));
      entered : assert (state != Enter || dut.level_q != 2'd0);
`ifdef TSUNAGI_ASSERT
      // The block's own copy of the memory's rules.
      same_rules :
      assert ({dut.u_memory.asked_q, dut.u_memory.read_q, dut.u_memory.len_q, dut.u_memory.beat_q} ==
                           {u_read.asked_q, u_read.read_q, u_read.len_q, u_read.beat_q});
`endif
    end
  end
endmodule
