// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, shares one side of the MMU, or one source of the communication registers, among several clients.
//
// Handshake  as ap1000p_mmu's, towards each client and towards the MMU (`mmu_*`). Requests pass combinationally. A
//            response returns to the client of the last request taken.
// Fairness   in turn: a client is passed over by at most one request of each other.
// Latency    none.
// Reset      no request is offered; the MMU must forget its request, too.
// Source     own guess.
module ap1000p_mmu_mux #(
    parameter int Clients = 3,  // at least 1
    parameter int W = 46  // bits of a request, at least 1; the MMU's are {context, address, write, system}
) (
    input logic clk_i,
    input logic rst_i,
    input logic [Clients-1:0] req_valid_i,
    output logic [Clients-1:0] req_ready_o,
    input logic [Clients-1:0][W-1:0] req_i,
    output logic [Clients-1:0] rsp_valid_o,
    input logic [Clients-1:0] rsp_ready_i,

    output logic mmu_valid_o,
    input logic mmu_ready_i,
    output logic [W-1:0] mmu_req_o,
    input logic mmu_rsp_valid_i,
    output logic mmu_rsp_ready_o
);
  if (Clients < 1) begin : gen_bad_clients
    ap1000p_mmu_mux_Clients_must_be_at_least_1 u_bad ();
  end
  if (W < 1) begin : gen_bad_w
    ap1000p_mmu_mux_W_must_be_at_least_1 u_bad ();
  end

  logic [Clients-1:0] turn_q, after, chosen, pick, offered_q, owner_q;
  logic offers_q;  // `offered_q` was not taken: it holds

  // The first from `turn_q` on, which is one-hot.
  assign after  = req_valid_i & ~(turn_q - Clients'(1));
  assign chosen = (after != '0) ? after : req_valid_i;
  assign pick   = offers_q ? offered_q : chosen & (~chosen + Clients'(1));
  always_comb begin
    mmu_req_o = '0;
    for (int c = 0; c < Clients; c++) if (pick[c]) mmu_req_o |= req_i[c];
  end
  assign mmu_valid_o = pick != '0;
  assign req_ready_o = mmu_ready_i ? pick : '0;
  assign rsp_valid_o = mmu_rsp_valid_i ? owner_q : '0;
  assign mmu_rsp_ready_o = (owner_q & rsp_ready_i) != '0;

  always_ff @(posedge clk_i) begin
    offered_q <= pick;
    if (mmu_ready_i) owner_q <= pick;  // no response is to come
    if (rst_i) begin
      offers_q <= 1'b0;
      turn_q   <= Clients'(1);
    end else begin
      offers_q <= mmu_valid_o && !mmu_ready_i;
      if (mmu_valid_o && mmu_ready_i) turn_q <= pick[Clients-1] ? Clients'(1) : pick << 1;
    end
  end
endmodule
