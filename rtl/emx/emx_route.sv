// SPDX-License-Identifier: MIT OR Apache-2.0
// EM-4/EM-X, path at injection: between a PE's output and its switch. The receiver's number becomes the path to it.
//
// Purpose    in word 0, PE becomes {1, outputs}, the next hop's in bit 0; PE = 1 is here. Word 1 passes as it is. The
//            path is a function of sender and receiver, so packets of a pair keep their order.
// Handshake  room: word 0 stands in a cycle in which in_room_o is high, which is out_room_i, as the register here is
//            that of the link behind. pe_i, the own number, is taken in reset.
// Places     here_o is the own one, {row, column}; place_o is, in reset, what here_o becomes: one divider makes it and
//            the receivers'.
// Latency    one cycle; a packet in two cycles.
// Full       nothing waits here.
// Misuse     a receiver that does not exist: both words are taken, and nowhere_o pulses with the packet, word 0 above.
//            A packet without room, and word 1 that does not follow directly: assertions only.
// busy_o     0 after an edge: nothing is inside, and further edges change nothing while in_valid_i is clear.
// Source     paper, 2.1: circular omega of 5 columns. Numbers, and the choice among the paths of a pair, are ours: see
//            src/emx/golden/route.rs.
module emx_route #(
    parameter  int RowBits = 4,  // 0, 2 or 4: 5, 20 or 80 PEs
    localparam int W       = 39
) (
    input  logic           clk_i,
    input  logic           rst_i,
    input  logic [    9:0] pe_i,
    input  logic           in_valid_i,
    input  logic [  W-1:0] in_data_i,
    input  logic           in_last_i,
    output logic           in_room_o,
    output logic           out_valid_o,
    output logic [  W-1:0] out_data_o,
    output logic           out_last_o,
    input  logic           out_room_i,
    output logic [    6:0] here_o,
    output logic [    6:0] place_o,
    output logic           nowhere_o,
    output logic [2*W-1:0] nowhere_packet_o,
    output logic           busy_o
);
  if (RowBits != 0 && RowBits != 2 && RowBits != 4) begin : gen_bad_rows
    emx_route_RowBits_must_be_0_2_or_4 u_bad ();
  end
  localparam int Pes = emx_pkg::SizeColumns << RowBits;

  function automatic logic [9:0] path(input logic [6:0] from, input logic [6:0] to);
    logic [3:0] row, mixed, kept;
    logic [ 2:0] least;
    logic [17:0] longest;
    row   = to[6:3];
    mixed = row ^ from[6:3];
    least = '0;
    for (int a = 0; a < emx_pkg::SizeColumns; a++) begin
      for (int b = 0; b < emx_pkg::SizeColumns; b++) begin
        if (from[2:0] == 3'(a) && to[2:0] == 3'(b)) least = 3'((b - a + emx_pkg::SizeColumns) % emx_pkg::SizeColumns);
      end
    end
    // The path of the most hops: its last ones make the row, highest bit first; those before are free.
    longest = 18'd1;
    for (int i = 0; i < RowBits; i++) longest = {longest[16:0], row[i]};
    for (int i = RowBits - 1; i >= 0; i--) longest = {longest[16:0], mixed[i]};
    longest = longest << (emx_pkg::SizeColumns - 1 - RowBits);
    // Five hops more replace all bits of the row; the least do if those that they do not replace are there already.
    kept = 4'((1 << RowBits) - 1) & (4'hf << least);
    if (((row ^ (from[6:3] << least)) & kept) != '0) longest = longest << emx_pkg::SizeColumns;
    path = 10'((longest << least) >> (RowBits + emx_pkg::SizeColumns - 1));
  endfunction

  logic head, known, second, refused_q;
  logic [9:0] pe;
  logic [6:0] there, here_q;
  logic [W-1:0] data, first_q;

  assign head = in_valid_i && !in_last_i;
  assign pe = in_data_i[emx_pkg::PktW0PeLsb+:emx_pkg::PktW0PeW];
  assign known = int'(pe) < Pes;
  assign second = out_valid_o && !out_last_o;
  assign there = emx_place_pkg::place_of(3'(RowBits), rst_i ? pe_i : pe);
  always_comb begin
    data = in_data_i;
    if (head) data[emx_pkg::PktW0PeLsb+:emx_pkg::PktW0PeW] = path(here_q, there);
  end
  assign in_room_o = out_room_i;
  assign here_o = here_q;
  assign place_o = there;

  always_ff @(posedge clk_i) begin
    if (in_valid_i) out_data_o <= data;
    if (head) first_q <= in_data_i;
    if (in_valid_i && refused_q) nowhere_packet_o <= {first_q, in_data_i};
    if (rst_i) begin
      here_q <= there;
      {out_valid_o, out_last_o, refused_q, nowhere_o} <= '0;
    end else begin
      out_valid_o <= (head && known) || second;
      out_last_o <= second;
      {refused_q, nowhere_o} <= {head && !known, refused_q};
    end
  end
  assign busy_o = out_valid_o || refused_q || nowhere_o;

`ifdef TSUNAGI_ASSERT
  logic inside_q;
  always_ff @(posedge clk_i) begin
    inside_q <= !rst_i && head;
    if (!rst_i) begin
      assert (inside_q ? in_valid_i && in_last_i : !(in_valid_i && in_last_i))
      else $error("emx_route: word 1 does not follow directly behind word 0");
      assert (!head || in_room_o)
      else $error("emx_route: a packet without room");
    end
  end
`endif
endmodule
