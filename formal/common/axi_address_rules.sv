// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules of an address channel of AXI4: an offer holds, and is a burst that the standard allows.
//
// Purpose    the source's side of AR or AW, proved of a master. In simulation harness::axi::Rules holds both sides to
//            the same rules, in every run. A slave's proof takes any burst (burst_track).
// Source     AXI4 (IHI 0022), A3.2.1 and A3.4.1.
module axi_address_rules #(
    parameter int AddrW = 13,  // bits of a byte address, > 12
    parameter int DataW = 32   // bits of a word
) (
    input logic clk_i,
    input logic rst_i,
    input logic valid_i,
    input logic ready_i,
    input logic [AddrW-1:0] addr_i,
    input logic [7:0] len_i,
    input logic [2:0] size_i,
    input logic [1:0] burst_i
);
  logic legal;
  axi_legal #(
      .AddrW(AddrW),
      .DataW(DataW)
  ) u_legal (
      .addr_i,
      .len_i,
      .size_i,
      .burst_i,
      .legal_o(legal)
  );

  stream_rules #(
      .W(AddrW + 8 + 3 + 2)
  ) u_offer (
      .clk_i,
      .rst_i,
      .valid_i,
      .ready_i,
      .data_i({addr_i, len_i, size_i, burst_i})
  );
  always_ff @(posedge clk_i)
    if (!rst_i) begin
      legal_burst : assert (!valid_i || legal);
    end
endmodule
