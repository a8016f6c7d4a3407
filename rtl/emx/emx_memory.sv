// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory of an EM-4/EM-X PE and its one port (MCU): words of 39 bits, the presence bits beside them, and who goes
// first.
//
// Clients    0 loads and stores, 1 fetch, 2 matching, 3 input buffer, 4 host. A request is taken where `req_ready_o` is
//            high, at most one in a cycle; what was read is on `rdata_o` in the next cycle. A fetch only reads.
// Order      0 to 4. With InputFirst the input buffer goes first while `urgent_i` is high. A host that has waited
//            HostWait cycles goes before all, once.
// CodePort   the fetch has a port of its own and is always ready. `fetch_data_o` is then from that port: a word that is
//            written in the cycle of its fetch is the old one. Block RAM with two ports holds both.
// Presence   a memory of one bit a word, at the host's address where the host is served, else at `pres_addr_i`, which
//            is read in each cycle and written where `pres_write_i` is high. A write of data leaves it as it is, but
//            for the host's.
// link_o     word 0: it follows each write of it. It is read by nothing else in the cycle of a special packet.
// Addresses  lower AddrW bits count; the clients refuse the others.
// Reset      does not clear the memory, nor the copy of word 0.
// busy_o     the host waits.
// Source     paper, 2.2 and 4.5: one memory, and on EM-X an input buffer that goes first. The rest is ours.
module emx_memory #(
    parameter int AddrW = 16,  // words, as a power of two
    parameter bit InputFirst = 1'b0,  // an input buffer that is nearly full goes first
    parameter bit CodePort = 1'b0,  // the fetch has a port of its own
    parameter int HostWait = 64  // cycles, 1..1000
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [4:0] req_valid_i,
    output logic [4:0] req_ready_o,
    input logic [4:0] req_write_i,
    input logic [4:0][21:0] req_addr_i,
    input logic [4:0][38:0] req_wdata_i,
    input logic urgent_i,
    output logic [38:0] rdata_o,
    output logic [31:0] fetch_data_o,
    input logic [21:0] pres_addr_i,
    input logic pres_write_i,
    input logic pres_value_i,
    output logic pres_o,
    input logic host_present_i,
    output logic [31:0] link_o
);
  localparam int Execute = 0;
  localparam int Fetch = 1;
  localparam int Matching = 2;
  localparam int Input = 3;
  localparam int Host = 4;
  localparam int WaitW = $clog2(HostWait + 1);

  if (AddrW < 14 || AddrW > 20) begin : gen_bad_addr
    emx_AddrW_must_be_14_to_20 u_bad ();
  end
  if (HostWait < 1 || HostWait > 1000) begin : gen_bad_wait
    emx_HostWait_must_be_1_to_1000 u_bad ();
  end

  logic [WaitW-1:0] waited_q;
  logic host_first;
  logic [4:0] requests, grant;
  always_comb begin
    requests = req_valid_i;
    if (CodePort) requests[Fetch] = 1'b0;
  end
  assign host_first = waited_q == WaitW'(HostWait);

  always_comb begin
    grant = requests & (~requests + 5'd1);
    if (InputFirst && urgent_i && requests[Input]) grant = 5'd1 << Input;
    if (host_first && requests[Host]) grant = 5'd1 << Host;
  end
  always_comb begin
    req_ready_o = grant;
    if (CodePort) req_ready_o[Fetch] = 1'b1;
  end

  logic [21:0] addr, pres_addr;
  logic [38:0] wdata;
  logic write, pres_write;
  // One of four in two LUTs of four inputs: `nearer` is of the first two, or says which of the other two. A fetch only
  // reads.
  logic far, other;
  logic [21:0] nearer_addr;
  logic [38:0] nearer;
  assign far = grant[Input] || grant[Host];
  assign other = grant[Matching] || grant[Host];
  assign nearer = far ? {39{other}} : other ? req_wdata_i[Matching] : req_wdata_i[Execute];
  assign wdata = far ? (nearer & req_wdata_i[Host]) | (~nearer & req_wdata_i[Input]) : nearer;
  assign nearer_addr = far ? {22{other}} : other ? req_addr_i[Matching] :
                       grant[Fetch] ? req_addr_i[Fetch] : req_addr_i[Execute];
  assign addr = far ? (nearer_addr & req_addr_i[Host]) | (~nearer_addr & req_addr_i[Input]) : nearer_addr;
  assign write = (grant & req_write_i) != '0;
  assign pres_addr = grant[Host] ? req_addr_i[Host] : pres_addr_i;
  assign pres_write = grant[Host] ? req_write_i[Host] : pres_write_i;

  logic [38:0] word_q[2**AddrW];
  logic present_q[2**AddrW];
  logic [31:0] link_q;

  always_ff @(posedge clk_i) begin
    if (write) word_q[addr[AddrW-1:0]] <= wdata;
    rdata_o <= word_q[addr[AddrW-1:0]];
    if (pres_write) present_q[pres_addr[AddrW-1:0]] <= grant[Host] ? host_present_i : pres_value_i;
    pres_o <= present_q[pres_addr[AddrW-1:0]];
    if (write && addr[AddrW-1:0] == '0) link_q <= wdata[31:0];
    if (rst_i || !requests[Host] || grant[Host]) waited_q <= '0;
    else waited_q <= waited_q + WaitW'(1);
  end

  if (CodePort) begin : gen_code
    // Where the other port writes the word, that port has the old one. Block RAM has only to serve two addresses.
    logic collides, collided_q;
    logic [31:0] code_q;
    assign collides = write && addr[AddrW-1:0] == req_addr_i[Fetch][AddrW-1:0];
    always_ff @(posedge clk_i) begin
      if (!collides) code_q <= word_q[req_addr_i[Fetch][AddrW-1:0]][31:0];
      collided_q <= collides;
    end
    assign fetch_data_o = collided_q ? rdata_o[31:0] : code_q;
  end else begin : gen_shared
    assign fetch_data_o = rdata_o[31:0];
  end

  assign link_o = link_q;
  assign busy_o = waited_q != '0;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) assert (!req_valid_i[Fetch] || !req_write_i[Fetch]);
  end
`endif

  logic unused;
  assign unused = ^{addr[21:AddrW], pres_addr[21:AddrW], req_addr_i[Fetch][21:AddrW]};
endmodule
