// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MC, communication registers: words with a present bit, read when it is set, written when it is clear.
//
// Handshake  sources (0 host, the others the network's), each a request (valid/ready), then its response (valid until
//            taken), then the next request.
// Meaning    a write to an empty word fills it, a read of a full one empties it. The other two are conflicts. With
//            `fault_i` of the source low, the request waits until the word is as it needs it, and the other sources go
//            on. With `fault_i` high the response is `rsp_fault_o`, and nothing changes; a request that waits when
//            `fault_i` rises gets the same.
// Order      one access a cycle. If several sources can go, the lowest number does, and the others in the next cycles.
// Latency    3 cycles from request to response. A request per 4 cycles and source.
// Misuse     a wait that nobody ends lasts until reset or until `fault_i` rises. `rsp_data_o` of a write or a fault
//            means nothing.
// Reset      all words are empty, requests are forgotten.
// present_o  the present bits.
// Source     128 words, present bits, block or exception: paper 2.2.8. Mode per source, order: own guess. A remote
//            write to a full word holds the channel, or faults: the digest's choice, here the same rule for all
//            sources.
module ap1000p_creg #(
    parameter int Words = 128,  // power of two, at least 2
    parameter int W = 32,  // bits of a word
    parameter int Sources = 2,  // 1 to 4
    localparam int AddrW = $clog2(Words)
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [Sources-1:0] fault_i,
    input logic [Sources-1:0] req_valid_i,
    output logic [Sources-1:0] req_ready_o,
    input logic [Sources-1:0][AddrW-1:0] req_addr_i,
    input logic [Sources-1:0] req_write_i,
    input logic [Sources-1:0][W-1:0] req_data_i,
    output logic [Sources-1:0] rsp_valid_o,
    input logic [Sources-1:0] rsp_ready_i,
    output logic [Sources-1:0] rsp_fault_o,
    output logic [Sources-1:0][W-1:0] rsp_data_o,
    output logic [Words-1:0] present_o
);
  if (Words < 2 || (1 << AddrW) != Words) begin : gen_bad_words
    ap1000p_creg_Words_must_be_a_power_of_two_and_at_least_2 u_bad ();
  end
  if (W < 1) begin : gen_bad_w
    ap1000p_creg_W_must_be_at_least_1 u_bad ();
  end

  if (Sources < 1 || Sources > 4) begin : gen_bad_sources
    ap1000p_creg_Sources_must_be_1_to_4 u_bad ();
  end

  logic [Sources-1:0] taken_q;  // a request without a taken response
  logic [Sources-1:0] new_q;  // of these: taken in the cycle before, so `full_q` is not known yet
  logic [Sources-1:0] todo_q;  // of these: without a response
  logic [Sources-1:0][AddrW-1:0] addr_q;
  logic [Sources-1:0][W-1:0] data_q;
  logic [Sources-1:0] write_q;
  logic [Sources-1:0] full_q;  // the word is full
  logic [Sources-1:0] fits, can, go;
  logic [AddrW-1:0] addr;  // of the request that goes
  logic [W-1:0] data;
  logic changes, write;

  assign req_ready_o = ~taken_q;
  assign fits = full_q ^ write_q;
  assign can = todo_q & ~new_q & (fits | fault_i);
  // A source that has gone comes back after three cycles, so one that can go waits for at most one of each other.
  always_comb begin
    for (int p = 0; p < Sources; p++) go[p] = can[p] && (can & ((Sources'(1) << p) - Sources'(1))) == '0;
  end
  // The present bit that changed in the cycle before: it is set a cycle late, since one address selects many bits.
  logic changed_q, last_write_q;
  logic [AddrW-1:0] last_addr_q;
  logic [Words-1:0] present_q;
  always_comb begin
    present_o = present_q;
    if (changed_q) present_o[last_addr_q] = last_write_q;
  end

  assign changes = (go & fits) != '0;
  always_comb begin
    {write, addr, data} = {write_q[0], addr_q[0], data_q[0]};
    for (int p = 1; p < Sources; p++) if (go[p]) {write, addr, data} = {write_q[p], addr_q[p], data_q[p]};
  end

  // A RAM with a read port for each source. No word is read in the cycle it is written.
  (* no_rw_check *) logic [W-1:0] mem_q[Words];

  always_ff @(posedge clk_i) begin
    if (changes && write) mem_q[addr] <= data;
    if (changed_q) present_q[last_addr_q] <= last_write_q;
    {last_write_q, last_addr_q} <= {write, addr};
    for (int p = 0; p < Sources; p++) begin
      if (!taken_q[p]) begin
        addr_q[p]  <= req_addr_i[p];
        write_q[p] <= req_write_i[p];
        data_q[p]  <= req_data_i[p];
      end
      if (changes && addr == addr_q[p]) full_q[p] <= write;
      else if (changed_q && last_addr_q == addr_q[p]) full_q[p] <= last_write_q;
      else full_q[p] <= present_q[addr_q[p]];
      if (go[p]) begin
        rsp_data_o[p]  <= mem_q[addr_q[p]];
        rsp_fault_o[p] <= !fits[p];
      end
    end
    if (rst_i) begin
      taken_q <= '0;
      new_q <= '0;
      todo_q <= '0;
      rsp_valid_o <= '0;
      present_q <= '0;
      changed_q <= 1'b0;
    end else begin
      changed_q <= changes;
      taken_q <= (req_valid_i & ~taken_q) | (taken_q & ~(rsp_valid_o & rsp_ready_i));
      new_q <= req_valid_i & ~taken_q;
      todo_q <= (req_valid_i & ~taken_q) | (todo_q & ~go);
      rsp_valid_o <= go | (rsp_valid_o & ~rsp_ready_i);
    end
  end
  assign busy_o = taken_q != '0;
endmodule
