// SPDX-License-Identifier: MIT OR Apache-2.0
// `axi_read_master` keeps AXI4's rules of a master, and its bursts are the commands, in order, cut at 4 KB and nowhere
// else.
//
// - Offers hold. Bursts are legal. No more are open than allowed.
// - Every word and every error comes back in order, with `last` on the last word of a command.
// - An address comes within 2 cycles where nothing is in its way.
// - `busy_o` is low only at rest.
module prove_axi_read_master #(
    parameter int DataW = 32,
    parameter int Outstanding = 2,
    localparam int AddrW = 15
) (
    input logic clk_i,
    input logic rst_i,
    input logic cmd_valid_i,
    input logic [AddrW-1:0] cmd_addr_i,
    input logic [7:0] cmd_len_i,
    input logic data_ready_i,
    input logic arready_i,
    input logic [DataW-1:0] rdata_i,
    input logic [1:0] rresp_i,
    input logic rlast_i,
    input logic rvalid_i,
    input logic mark_i
);
  localparam int Open = Outstanding + 1;  // one more than allowed, so that a violation shows
  localparam int Commands = Outstanding + 3;

  logic cmd_ready, valid, last, err, arvalid, rready, busy, unused_id, unused_lock, done;
  logic [AddrW-1:0] araddr;
  logic [7:0] arlen;
  logic [2:0] arsize, unused_prot;
  logic [1:0] arburst;
  logic [3:0] unused_cache, unused_qos;
  logic [DataW-1:0] data;

  axi_read_master #(
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
      .mem_data_valid_o(valid),
      .mem_data_ready_i(data_ready_i),
      .mem_data_data_o(data),
      .mem_data_last_o(last),
      .mem_data_err_o(err),
      .m_axi_arid(unused_id),
      .m_axi_araddr(araddr),
      .m_axi_arlen(arlen),
      .m_axi_arsize(arsize),
      .m_axi_arburst(arburst),
      .m_axi_arlock(unused_lock),
      .m_axi_arcache(unused_cache),
      .m_axi_arprot(unused_prot),
      .m_axi_arqos(unused_qos),
      .m_axi_arvalid(arvalid),
      .m_axi_arready(arready_i),
      .m_axi_rid(1'b0),
      .m_axi_rdata(rdata_i),
      .m_axi_rresp(rresp_i),
      .m_axi_rlast(rlast_i),
      .m_axi_rvalid(rvalid_i),
      .m_axi_rready(rready)
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
      .W(DataW + 2)
  ) u_data (
      .clk_i,
      .rst_i,
      .valid_i(valid),
      .ready_i(data_ready_i),
      .data_i ({data, last, err})
  );
  axi_address_rules #(
      .AddrW(AddrW),
      .DataW(DataW)
  ) u_ar (
      .clk_i,
      .rst_i,
      .valid_i(arvalid),
      .ready_i(arready_i),
      .addr_i (araddr),
      .len_i  (arlen),
      .size_i (arsize),
      .burst_i(arburst)
  );
  logic [$clog2(Open + 1)-1:0] open;
  axi_read_rules #(
      .DataW(DataW),
      .Open (Open)
  ) u_r (
      .clk_i,
      .rst_i,
      .ar_valid_i(arvalid),
      .ar_ready_i(arready_i),
      .ar_len_i(arlen),
      .r_valid_i(rvalid_i),
      .r_ready_i(rready),
      .r_data_i(rdata_i),
      .r_resp_i(rresp_i),
      .r_last_i(rlast_i),
      .open_o(open)
  );

  logic [$clog2(Commands + 1)-1:0] commands;
  logic [7:0] len, beat_q;
  logic cut, issuing;
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
      .valid_i(arvalid),
      .ready_i(arready_i),
      .addr_i(araddr),
      .len_i(arlen),
      .done_i(done),
      .count_o(commands),
      .len_o(len),
      .cut_o(cut),
      .issuing_o(issuing)
  );

  logic [1:0] held, unused_ahead;
  logic unused_follow;
  logic [DataW:0] unused_word;
  stream_track #(
      .W(DataW + 1),
      .Capacity(2)
  ) u_track (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(rvalid_i && rready),
      .in_data_i({rresp_i[1], rdata_i}),
      .pop_i(valid && data_ready_i),
      .out_data_i({err, data}),
      .inside_o(held),
      .follow_o(unused_follow),
      .ahead_o(unused_ahead),
      .word_o(unused_word)
  );

  assign done = valid && data_ready_i && beat_q == len;
  logic [2:0] idle_q;  // cycles without an offered address although nothing blocked it
  always_ff @(posedge clk_i) begin
    if (rst_i || done) beat_q <= '0;
    else if (valid && data_ready_i) beat_q <= beat_q + 8'd1;
    if (rst_i || arvalid || !issuing || open != '0 || held != '0) idle_q <= '0;
    else if (idle_q != '1) idle_q <= idle_q + 3'd1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      last_ends_the_command : assert (!valid || (commands != '0 && last == (beat_q == len)));
      no_more_open : assert (32'(open) <= Outstanding);
      address_comes : assert (idle_q < 3'd2);
      busy_tells : assert (busy || (commands == '0 && open == '0 && held == '0));
      all_open : cover (32'(open) == Outstanding);
      error_reported : cover (valid && data_ready_i && err);
    end
  end
  // With one burst at a time this takes too long.
  if (Outstanding > 1) begin : gen_cut
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        cut_command_ends : cover (done && cut);
      end
    end
  end
endmodule
