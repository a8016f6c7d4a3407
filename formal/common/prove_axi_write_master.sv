// SPDX-License-Identifier: MIT OR Apache-2.0
// `axi_write_master` keeps AXI4's rules of a master, and its bursts are the commands, in order, cut at 4 KB and nowhere
// else.
//
// - Offers hold. Bursts are legal, and their data are as long as their address says. No more are open than allowed.
// - Data and strobes are the given ones, in order.
// - A command is answered once, after all its bursts, with their errors.
// - An address comes within 2 cycles where nothing is in its way.
// - `busy_o` is low only at rest.
module prove_axi_write_master #(
    parameter int DataW = 32,
    parameter int Outstanding = 2,
    localparam int AddrW = 15
) (
    input logic clk_i,
    input logic rst_i,
    input logic cmd_valid_i,
    input logic [AddrW-1:0] cmd_addr_i,
    input logic [7:0] cmd_len_i,
    input logic data_valid_i,
    input logic [DataW-1:0] data_i,
    input logic [DataW/8-1:0] strb_i,
    input logic rsp_ready_i,
    input logic awready_i,
    input logic wready_i,
    input logic [1:0] bresp_i,
    input logic bvalid_i,
    input logic mark_i
);
  localparam int Open = Outstanding + 1;  // one more than allowed, so that a violation shows
  localparam int Commands = Outstanding + 3;

  logic cmd_ready, data_ready, rsp_valid, err, busy, awvalid, wvalid, wlast, bready, unused_id, unused_lock;
  logic [AddrW-1:0] awaddr;
  logic [7:0] awlen;
  logic [2:0] awsize, unused_prot;
  logic [1:0] awburst;
  logic [3:0] unused_cache, unused_qos;
  logic [  DataW-1:0] wdata;
  logic [DataW/8-1:0] wstrb;

  axi_write_master #(
      .AddrW(AddrW),
      .DataW(DataW),
      .Outstanding(Outstanding)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .mem_cmd_valid_i(cmd_valid_i),
      .mem_cmd_ready_o(cmd_ready),
      .mem_cmd_addr_i(cmd_addr_i),
      .mem_cmd_len_i(cmd_len_i),
      .mem_data_valid_i(data_valid_i),
      .mem_data_ready_o(data_ready),
      .mem_data_data_i(data_i),
      .mem_data_strb_i(strb_i),
      .mem_data_last_i(1'b0),  // ignored
      .mem_rsp_valid_o(rsp_valid),
      .mem_rsp_ready_i(rsp_ready_i),
      .mem_rsp_err_o(err),
      .m_axi_awid(unused_id),
      .m_axi_awaddr(awaddr),
      .m_axi_awlen(awlen),
      .m_axi_awsize(awsize),
      .m_axi_awburst(awburst),
      .m_axi_awlock(unused_lock),
      .m_axi_awcache(unused_cache),
      .m_axi_awprot(unused_prot),
      .m_axi_awqos(unused_qos),
      .m_axi_awvalid(awvalid),
      .m_axi_awready(awready_i),
      .m_axi_wdata(wdata),
      .m_axi_wstrb(wstrb),
      .m_axi_wlast(wlast),
      .m_axi_wvalid(wvalid),
      .m_axi_wready(wready_i),
      .m_axi_bid(1'b0),
      .m_axi_bresp(bresp_i),
      .m_axi_bvalid(bvalid_i),
      .m_axi_bready(bready)
  );

  power_up u_power_up (.*);
  stream_rules #(
      .W(AddrW + 8),
      .Assume(1'b1)
  ) u_command (
      .clk_i,
      .rst_i,
      .valid_i(cmd_valid_i),
      .ready_i(cmd_ready),
      .data_i ({cmd_addr_i, cmd_len_i})
  );
  stream_rules #(
      .W(DataW + DataW / 8),
      .Assume(1'b1)
  ) u_data (
      .clk_i,
      .rst_i,
      .valid_i(data_valid_i),
      .ready_i(data_ready),
      .data_i ({data_i, strb_i})
  );
  stream_rules #(
      .W(1)
  ) u_response (
      .clk_i,
      .rst_i,
      .valid_i(rsp_valid),
      .ready_i(rsp_ready_i),
      .data_i (err)
  );
  axi_address_rules #(
      .AddrW(AddrW),
      .DataW(DataW)
  ) u_aw (
      .clk_i,
      .rst_i,
      .valid_i(awvalid),
      .ready_i(awready_i),
      .addr_i (awaddr),
      .len_i  (awlen),
      .size_i (awsize),
      .burst_i(awburst)
  );
  logic [$clog2(Open + 1)-1:0] open;
  axi_write_rules #(
      .DataW(DataW),
      .Open (Open)
  ) u_w (
      .clk_i,
      .rst_i,
      .aw_valid_i(awvalid),
      .aw_ready_i(awready_i),
      .aw_len_i(awlen),
      .w_valid_i(wvalid),
      .w_ready_i(wready_i),
      .w_data_i(wdata),
      .w_strb_i(wstrb),
      .w_last_i(wlast),
      .b_valid_i(bvalid_i),
      .b_ready_i(bready),
      .b_resp_i(bresp_i),
      .open_o(open)
  );

  logic [$clog2(Commands + 1)-1:0] commands;
  logic [7:0] unused_len;
  logic cut, issuing, done;
  axi_commands #(
      .AddrW(AddrW),
      .DataW(DataW),
      .Depth(Commands)
  ) u_commands (
      .clk_i,
      .rst_i,
      .cmd_valid_i,
      .cmd_ready_i(cmd_ready),
      .cmd_addr_i,
      .cmd_len_i,
      .valid_i(awvalid),
      .ready_i(awready_i),
      .addr_i(awaddr),
      .len_i(awlen),
      .done_i(done),
      .count_o(commands),
      .len_o(unused_len),
      .cut_o(cut),
      .issuing_o(issuing)
  );

  logic [1:0] held, unused_ahead;
  logic unused_follow;
  logic [DataW+DataW/8-1:0] unused_word;
  stream_track #(
      .W(DataW + DataW / 8),
      .Capacity(2)
  ) u_track (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(data_valid_i && data_ready),
      .in_data_i({data_i, strb_i}),
      .pop_i(wvalid && wready_i),
      .out_data_i({wdata, wstrb}),
      .inside_o(held),
      .follow_o(unused_follow),
      .ahead_o(unused_ahead),
      .word_o(unused_word)
  );

  // Burst responses of commands without a response, and the errors among them. `of`: the oldest command has one or two
  // bursts.
  logic [3:0] answers_q, of, left;
  logic [7:0] errors_q, later;
  logic take;
  assign take  = bvalid_i && bready;
  assign done  = rsp_valid && rsp_ready_i;
  assign of    = cut ? 4'd2 : 4'd1;
  assign left  = done ? answers_q - of : answers_q;
  assign later = done ? errors_q >> of : errors_q;
  logic [2:0] idle_q;  // cycles without an offered address although nothing blocked it
  always_ff @(posedge clk_i) begin
    errors_q  <= rst_i ? '0 : later | (8'(take && bresp_i[1]) << left);
    answers_q <= rst_i ? '0 : left + 4'(take);
    if (rst_i || awvalid || !issuing || open != '0 || answers_q != '0) idle_q <= '0;
    else if (idle_q != '1) idle_q <= idle_q + 3'd1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      if (rsp_valid) begin
        answered_after_all : assert (commands != '0 && answers_q >= of);
        errors_are_reported : assert (err == (errors_q[0] || (cut && errors_q[1])));
      end
      no_more_open : assert (32'(open) <= Outstanding);
      address_comes : assert (idle_q < 3'd2);
      busy_tells : assert (busy || (commands == '0 && open == '0 && held == '0));
      all_open : cover (32'(open) == Outstanding);
      late_address : cover (wvalid && wready_i && wlast && awvalid && !awready_i);
    end
  end
  // With one burst at a time this takes too long.
  if (Outstanding > 1) begin : gen_cut
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        cut_command_ends : cover (done && cut && err);
      end
    end
  end
endmodule
