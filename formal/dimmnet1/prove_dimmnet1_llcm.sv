// SPDX-License-Identifier: MIT OR Apache-2.0
// `dimmnet1_llcm` does each access once, reads what was written last, and lets the streams go at least every fourth
// cycle.
//
// This is proved of one byte of the memory, any word's. Both ports read it as it was written, a write of the other port
// in the same cycle included. Of two writes in one cycle port B's stays.
//
// - An access of OTF or of the matcher is done once after it was taken; the processor's at once. A read is answered in
//   the next cycle, and nothing else is. No access of the processor passes an OTF write that was taken before.
// - A word that the read stream fetches leaves once, in order, with `err` beyond 16 KB, and finds room.
// - A stream that has something to do is passed over at most three times in a row.
//
// Assumed: all but port A and the processor hold their offers. A burst that is written has one word, which follows its
// command. That a burst is read from its address on is not claimed.
module prove_dimmnet1_llcm #(
    parameter int Lane = 2  // of the byte that is followed
) (
    input logic clk_i,
    input logic rst_i,
    input logic a_valid_i,
    input logic a_write_i,
    input logic [13:3] a_addr_i,
    input logic [63:0] a_wdata_i,
    input logic [7:0] a_strb_i,
    input logic otf_valid_i,
    input logic [13:0] otf_addr_i,
    input logic [63:0] otf_data_i,
    input logic [7:0] otf_strb_i,
    input logic cpu_valid_i,
    input logic cpu_write_i,
    input logic [13:3] cpu_addr_i,
    input logic [63:0] cpu_wdata_i,
    input logic [7:0] cpu_strb_i,
    input logic mat_valid_i,
    input logic mat_write_i,
    input logic [13:3] mat_addr_i,
    input logic [63:0] mat_wdata_i,
    input logic [7:0] mat_strb_i,
    input logic rd_cmd_valid_i,
    input logic [27:0] rd_cmd_addr_i,
    input logic [7:0] rd_cmd_len_i,
    input logic rd_data_ready_i,
    input logic wr_cmd_valid_i,
    input logic [27:0] wr_cmd_addr_i,
    input logic wr_data_valid_i,
    input logic [63:0] wr_data_data_i,
    input logic [7:0] wr_data_strb_i,
    input logic wr_rsp_ready_i
);
  logic busy, otf_ready, cpu_ready, cpu_rvalid, mat_ready, mat_rvalid, rd_cmd_ready, rd_data_valid, rd_data_last;
  logic rd_data_err, wr_cmd_ready, wr_data_ready, wr_rsp_valid, wr_rsp_err;
  logic [63:0] a_rdata, cpu_rdata, mat_rdata, rd_data_data;

  dimmnet1_llcm dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .a_valid_i,
      .a_write_i,
      .a_addr_i,
      .a_wdata_i,
      .a_strb_i,
      .a_rdata_o(a_rdata),
      .otf_valid_i,
      .otf_ready_o(otf_ready),
      .otf_addr_i,
      .otf_data_i,
      .otf_strb_i,
      .cpu_valid_i,
      .cpu_ready_o(cpu_ready),
      .cpu_write_i,
      .cpu_addr_i,
      .cpu_wdata_i,
      .cpu_strb_i,
      .cpu_rvalid_o(cpu_rvalid),
      .cpu_rdata_o(cpu_rdata),
      .mat_valid_i,
      .mat_ready_o(mat_ready),
      .mat_write_i,
      .mat_addr_i,
      .mat_wdata_i,
      .mat_strb_i,
      .mat_rvalid_o(mat_rvalid),
      .mat_rdata_o(mat_rdata),
      .rd_cmd_valid_i,
      .rd_cmd_ready_o(rd_cmd_ready),
      .rd_cmd_addr_i,
      .rd_cmd_len_i,
      .rd_data_valid_o(rd_data_valid),
      .rd_data_ready_i,
      .rd_data_data_o(rd_data_data),
      .rd_data_last_o(rd_data_last),
      .rd_data_err_o(rd_data_err),
      .wr_cmd_valid_i,
      .wr_cmd_ready_o(wr_cmd_ready),
      .wr_cmd_addr_i,
      .wr_cmd_len_i('0),
      .wr_data_valid_i,
      .wr_data_ready_o(wr_data_ready),
      .wr_data_data_i,
      .wr_data_strb_i,
      .wr_data_last_i(1'b1),
      .wr_rsp_valid_o(wr_rsp_valid),
      .wr_rsp_ready_i,
      .wr_rsp_err_o(wr_rsp_err)
  );

  power_up u_power_up (.*);
  stream_rules #(
      .W(86),
      .Assume(1'b1)
  ) u_otf (
      .clk_i,
      .rst_i,
      .valid_i(otf_valid_i),
      .ready_i(otf_ready),
      .data_i ({otf_addr_i, otf_data_i, otf_strb_i})
  );
  stream_rules #(
      .W(84),
      .Assume(1'b1)
  ) u_mat (
      .clk_i,
      .rst_i,
      .valid_i(mat_valid_i),
      .ready_i(mat_ready),
      .data_i ({mat_write_i, mat_addr_i, mat_wdata_i, mat_strb_i})
  );
  stream_rules #(
      .W(36),
      .Assume(1'b1)
  ) u_rd_cmd (
      .clk_i,
      .rst_i,
      .valid_i(rd_cmd_valid_i),
      .ready_i(rd_cmd_ready),
      .data_i ({rd_cmd_addr_i, rd_cmd_len_i})
  );
  stream_rules #(
      .W(28),
      .Assume(1'b1)
  ) u_wr_cmd (
      .clk_i,
      .rst_i,
      .valid_i(wr_cmd_valid_i),
      .ready_i(wr_cmd_ready),
      .data_i (wr_cmd_addr_i)
  );
  stream_rules #(
      .W(72),
      .Assume(1'b1)
  ) u_wr_data (
      .clk_i,
      .rst_i,
      .valid_i(wr_data_valid_i),
      .ready_i(wr_data_ready),
      .data_i ({wr_data_data_i, wr_data_strb_i})
  );
  stream_rules #(
      .W(66)
  ) u_rd_data (
      .clk_i,
      .rst_i,
      .valid_i(rd_data_valid),
      .ready_i(rd_data_ready_i),
      .data_i ({rd_data_err, rd_data_last, rd_data_data})
  );
  stream_rules #(
      .W(1)
  ) u_rsp (
      .clk_i,
      .rst_i,
      .valid_i(wr_rsp_valid),
      .ready_i(wr_rsp_ready_i),
      .data_i (wr_rsp_err)
  );

  // The word of the byte that is followed: a register that keeps its initial value.
  logic [13:3] word_q;
  always_ff @(posedge clk_i) word_q <= word_q;

  // ------------------------------------------------------------------------------------- accesses that wait, and go
  typedef struct packed {
    logic write;
    logic [13:3] word;
    logic [7:0] data;  // of the followed lane
    logic strobe;
  } access_t;
  access_t otf, otf_q, mat, mat_q, cpu;
  logic otf_waits_q, mat_waits_q;
  assign otf = {1'b1, otf_addr_i[13:3], otf_data_i[8*Lane+:8], otf_strb_i[Lane]};
  assign mat = {mat_write_i, mat_addr_i, mat_wdata_i[8*Lane+:8], mat_strb_i[Lane]};
  assign cpu = {cpu_write_i, cpu_addr_i, cpu_wdata_i[8*Lane+:8], cpu_strb_i[Lane]};

  // Who uses port B, as the block says; the access itself as it came.
  logic otf_goes, cpu_goes, mat_goes;
  access_t b;
  assign otf_goes = dut.otf_go;
  assign cpu_goes = cpu_valid_i && cpu_ready;
  assign mat_goes = dut.mat_go;
  always_comb begin
    b = '0;
    if (otf_goes) b = otf_q;
    else if (cpu_goes) b = cpu;
    else if (mat_goes) b = mat_q;
    else if (dut.wr_go) b = {dut.wr_inside, dut.wr_word_q[10:0], dut.wr_data[8*Lane+:8], dut.wr_strb[Lane]};
    else if (dut.rd_go) b = {1'b0, dut.rd_word_q[10:0], 9'b0};
  end

  // The byte, and what a read in this cycle sees of it: each port the other's write.
  logic [7:0] byte_q;
  logic a_writes, b_writes;
  assign a_writes = a_valid_i && a_write_i && a_addr_i == word_q && a_strb_i[Lane];
  assign b_writes = b.write && b.word == word_q && b.strobe;

  logic a_reads_q, b_reads_q, cpu_reads_q, mat_reads_q;
  logic [7:0] a_sees_q, b_sees_q;
  logic a_changes_q;
  logic [1:0] begun_q = '0;  // since the first reset
  logic [1:0] passed_q;
  always_ff @(posedge clk_i) begin
    begun_q <= {begun_q[0], 1'b1};
    if (a_writes) byte_q <= a_wdata_i[8*Lane+:8];
    if (b_writes) byte_q <= b.data;
    otf_waits_q <= ((otf_valid_i && otf_ready) || (otf_waits_q && !otf_goes)) && !rst_i;
    mat_waits_q <= ((mat_valid_i && mat_ready) || (mat_waits_q && !mat_goes)) && !rst_i;
    if (otf_valid_i && otf_ready) otf_q <= otf;
    if (mat_valid_i && mat_ready) mat_q <= mat;
    a_reads_q <= a_valid_i && !a_write_i && a_addr_i == word_q;
    a_sees_q <= b_writes ? b.data : byte_q;
    b_reads_q <= !b.write && b.word == word_q;
    a_changes_q <= a_writes && a_wdata_i[8*Lane+:8] != byte_q;
    b_sees_q <= a_writes ? a_wdata_i[8*Lane+:8] : byte_q;
    cpu_reads_q <= cpu_goes && !cpu_write_i && !rst_i;
    mat_reads_q <= mat_goes && !mat_q.write && !rst_i;
    passed_q <= (dut.wr_go || dut.rd_go || !(dut.wr_want || dut.rd_want) || rst_i) ? '0 : passed_q + 2'd1;
    if (!begun_q[1]) any_contents : assume (dut.gen_byte[Lane].mem_q[word_q] == byte_q);
    // Through a reset, too.
    since_the_first : assert (begun_q[0] == u_power_up.started_q && (begun_q[0] || !begun_q[1]));
    if (begun_q[1]) kept : assert (dut.gen_byte[Lane].mem_q[word_q] == byte_q);
    if (begun_q[0]) begin
      waiting :
      assert ({dut.otf_q, dut.mat_q} == {otf_waits_q, mat_waits_q} &&
              (!otf_waits_q || {1'b1, dut.otf_word_q, dut.otf_data_q[8*Lane+:8], dut.otf_strb_q[Lane]} == otf_q) &&
              (!mat_waits_q ||
               {dut.mat_write_q, dut.mat_word_q, dut.mat_data_q[8*Lane+:8], dut.mat_strb_q[Lane]} == mat_q));
    end
  end

  // -------------------------------------------------------------------------------------------- words that are fetched
  typedef struct packed {
    logic known;  // it has the followed byte
    logic [7:0] data;
    logic last;
    logic err;
  } fetched_t;
  fetched_t oldest, fetched;
  logic fetched_q;
  logic [2:0] count;
  logic was_last_q, was_err_q;
  always_ff @(posedge clk_i) begin
    fetched_q  <= dut.rd_go && !rst_i;
    was_last_q <= dut.rd_left_q == '0;
    was_err_q  <= dut.rd_word_q[24:11] != '0;
  end
  assign fetched = {b_reads_q, b_sees_q, was_last_q, was_err_q};
  queue #(
      .W(11),
      .Depth(4)
  ) u_fetched (
      .clk_i,
      .rst_i,
      .push_i  (fetched_q),
      .data_i  (fetched),
      .pop_i   (rd_data_valid && rd_data_ready_i),
      .count_o (count),
      .oldest_o(oldest)
  );
  for (genvar n = 0; n < 4; n++) begin : gen_place
    fetched_t place;
    logic [65:0] stored;
    assign place  = u_fetched.mem_q[u_fetched.rd_q[1:0]+2'(n)];
    assign stored = dut.u_rd_data.mem_q[n];
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        places :
        assert (n >= int'(count) || (stored[65:64] == {place.err, place.last} &&
                                     (!place.known || stored[8*Lane+:8] == place.data)));
      end
    end
  end

  // Commands of bursts whose word has not come; bursts that were written and not answered.
  logic [ 3:0] commands_q;
  logic [15:0] written_q;
  always_ff @(posedge clk_i) begin
    commands_q <= commands_q + 4'(wr_cmd_valid_i && wr_cmd_ready) - 4'(wr_data_valid_i && wr_data_ready);
    written_q  <= written_q + 16'(wr_data_valid_i && wr_data_ready) - 16'(wr_rsp_valid && wr_rsp_ready_i);
    if (rst_i) begin
      commands_q <= '0;
      written_q  <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_reads : assert (!a_reads_q || a_rdata[8*Lane+:8] == a_sees_q);
      cpu_answered : assert (cpu_rvalid == cpu_reads_q);
      mat_answered : assert (mat_rvalid == mat_reads_q);
      cpu_reads : assert (!(cpu_rvalid && b_reads_q) || cpu_rdata[8*Lane+:8] == b_sees_q);
      mat_reads : assert (!(mat_rvalid && b_reads_q) || mat_rdata[8*Lane+:8] == b_sees_q);
      goes_once : assert (!(otf_goes && !otf_waits_q) && !(mat_goes && !mat_waits_q));
      one_at_a_time : assert ($countones({otf_goes, cpu_goes, mat_goes, dut.wr_go, dut.rd_go}) <= 1);
      otf_first : assert (!(cpu_goes && otf_waits_q));
      takes_one : assert (otf_ready == !otf_waits_q && mat_ready == !mat_waits_q);
      fetched_in_order :
      assert (rd_data_valid == (count != '0) &&
              (!rd_data_valid || ({rd_data_err, rd_data_last} == {oldest.err, oldest.last} &&
                                  (!oldest.known || rd_data_data[8*Lane+:8] == oldest.data))));
      cap : assert (!((dut.wr_want || dut.rd_want) && passed_q == 2'd3) || dut.wr_go || dut.rd_go);
      busy_tells :
      assert (busy || !(otf_waits_q || mat_waits_q || cpu_rvalid || mat_rvalid || count != '0 || fetched_q));
      data_behind_command : assume (!wr_data_valid_i || commands_q != '0);
      // Invariants for induction.
      passed_over : assert (passed_q == dut.passed_q);
      fetch : assert (dut.fetched_q == fetched_q && {dut.fetched_last_q, dut.fetched_err_q} == {was_last_q, was_err_q});
      fetches : assert (!fetched_q || !b_reads_q || dut.b_rdata[8*Lane+:8] == b_sees_q);
      rooms : assert (dut.u_rd_data.level_q == count && int'(dut.rd_room_q) + int'(count) + int'(fetched_q) == 4);
      words_of_one : assert (!dut.wr_active_q || dut.wr_left_q == '0);
      commands_of_one : assert (dut.u_wr_cmd.mem_q[0][7:0] == '0 || dut.u_wr_cmd.level_q == '0);
      commands_of_two : assert (dut.u_wr_cmd.mem_q[1][7:0] == '0 || dut.u_wr_cmd.level_q != 2'd2);
      data_due : assert (commands_q + 4'(dut.u_wr_data.level_q) == 4'(dut.u_wr_cmd.level_q) + 4'(dut.wr_active_q));
      written : assert (written_q == 16'(dut.u_wr_data.level_q) + 16'(dut.u_rsp.level_q));
`ifdef TSUNAGI_ASSERT
      assert (dut.u_writer.written_q == written_q);
`endif
      // The claims are not vacuous.
      collides : cover (cpu_rvalid && b_reads_q && a_changes_q);
      streams_turn : cover (passed_q == 2'd3 && dut.rd_go);
      fetched_byte : cover (rd_data_valid && oldest.known && oldest.last && oldest.data != '0);
    end
  end
endmodule
