// SPDX-License-Identifier: MIT OR Apache-2.0
// `emx_memory` serves one request a cycle, in the order of the contract, and a read gives what was written last.
//
// - A request is served whenever there is one. Loads and stores, fetch, matching, input buffer and host go in this
//   order, but an urgent input buffer goes first with InputFirst.
// - The host waits HostWait cycles at most. It goes before others only after that.
// - A read of a word, of its presence bit, and a fetch give what was written last. The copy of word 0 follows it.
//
// The claims on words are about one word, any word, after its first write.
module prove_emx_memory #(
    parameter int AddrW = 14,
    parameter bit InputFirst = 1'b0,
    parameter bit CodePort = 1'b0,
    parameter int HostWait = 3
) (
    input logic clk_i,
    input logic rst_i,
    input logic [4:0] req_valid_i,
    input logic [4:0] req_write_i,
    input logic [4:0][21:0] req_addr_i,
    input logic [4:0][38:0] req_wdata_i,
    input logic urgent_i,
    input logic [21:0] pres_addr_i,
    input logic pres_write_i,
    input logic pres_value_i,
    input logic host_present_i
);
  localparam int Fetch = 1;
  localparam int Input = 3;
  localparam int Host = 4;

  logic busy, pres;
  logic [ 4:0] ready;
  logic [38:0] rdata;
  logic [31:0] fetch_data, link;

  emx_memory #(
      .AddrW(AddrW),
      .InputFirst(InputFirst),
      .CodePort(CodePort),
      .HostWait(HostWait)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .req_valid_i,
      .req_ready_o(ready),
      .req_write_i,
      .req_addr_i,
      .req_wdata_i,
      .urgent_i,
      .rdata_o(rdata),
      .fetch_data_o(fetch_data),
      .pres_addr_i,
      .pres_write_i,
      .pres_value_i,
      .pres_o(pres),
      .host_present_i,
      .link_o(link)
  );
  power_up u_power_up (.*);

  // ------------------------------------------------------------------------------------------------- who goes, and who
  logic [4:0] asks, goes;  // for the one port
  int waited_q;  // cycles of the host
  logic overdue, urgent;
  always_comb begin
    asks = req_valid_i;
    if (CodePort) asks[Fetch] = 1'b0;
  end
  assign goes = asks & ready;
  assign overdue = asks[Host] && waited_q == HostWait;
  assign urgent = InputFirst && urgent_i && asks[Input];
  always_ff @(posedge clk_i) begin
    if (rst_i || !asks[Host] || goes[Host]) waited_q <= 0;
    else waited_q <= waited_q + 1;
  end

  // ------------------------------------------------------------------------------------------------ one word, any word
  logic [AddrW-1:0] at_q;
  always_ff @(posedge clk_i) at_q <= at_q;

  logic [4:0] here, writes;
  logic [38:0] word_q, was_q;
  logic known_q, read_q, fetched_q, present_q, was_present_q, present_known_q, looked_q;
  logic presence_here, presence_write, presence;
  for (genvar i = 0; i < 5; i++) begin : gen_here
    assign here[i] = req_addr_i[i][AddrW-1:0] == at_q;
  end
  assign writes = goes & req_write_i & here;
  assign presence_here = (goes[Host] ? req_addr_i[Host][AddrW-1:0] : pres_addr_i[AddrW-1:0]) == at_q;
  assign presence_write = presence_here && (goes[Host] ? req_write_i[Host] : pres_write_i);
  assign presence = goes[Host] ? host_present_i : pres_value_i;
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < 5; i++) if (writes[i]) word_q <= req_wdata_i[i];
    known_q <= known_q || writes != '0;
    was_q <= word_q;
    read_q <= (goes & ~req_write_i & here) != '0 && known_q;
    fetched_q <= req_valid_i[Fetch] && ready[Fetch] && here[Fetch] && !req_write_i[Fetch] && known_q;
    if (presence_write) present_q <= presence;
    present_known_q <= present_known_q || presence_write;
    was_present_q <= present_q;
    looked_q <= presence_here && present_known_q;
    if (rst_i) {known_q, read_q, fetched_q, present_known_q, looked_q} <= '0;
  end

  always_ff @(posedge clk_i) begin
    a_fetch_reads : assume (!req_valid_i[Fetch] || !req_write_i[Fetch]);
    if (!rst_i) begin
      one_at_a_time : assert ((goes & (goes - 5'd1)) == '0 && (ready & ~asks & ~(5'(CodePort) << Fetch)) == '0);
      one_if_any : assert ((goes != '0) == (asks != '0));
      fetch_always : assert (!CodePort || ready[Fetch]);
      in_order : assert (overdue || urgent || ((goes - 5'd1) & asks) == '0 || goes == '0);
      urgent_first : assert (overdue || !urgent || goes[Input]);
      host_in_time : assert (!overdue || goes[Host]);
      host_waits_at_most : assert (waited_q <= HostWait);
      reads_what_was_written : assert (!read_q || rdata == was_q);
      fetches_what_was_written : assert (!fetched_q || fetch_data == was_q[31:0]);
      presence_as_written : assert (!looked_q || pres == was_present_q);
      link_is_word_0 : assert (!known_q || at_q != '0 || link == word_q[31:0]);
      busy_tells : assert (busy == (waited_q != 0));
      // Invariants for induction.
      stored : assert (!known_q || dut.word_q[at_q] == word_q);
      present_stored : assert (!present_known_q || dut.present_q[at_q] == present_q);
      waited : assert (int'(dut.waited_q) == waited_q);
      // The claims are not vacuous.
      all_at_once : cover (asks == {3'b111, !CodePort, 1'b1} && overdue);
      read_back : cover (read_q);
      fetched : cover (fetched_q);
      looked : cover (looked_q && was_present_q);
    end
  end
endmodule
