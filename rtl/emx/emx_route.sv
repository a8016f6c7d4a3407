// EM-4/EM-X, path at injection: between a PE's output and its switch. The receiver's number becomes the path to it.
//
// Purpose    in word 0, PE becomes {1, outputs}, the next hop's in bit 0; PE = 1 is here. Word 1 passes as it is. The
//            path is a function of sender and receiver, so packets of a pair keep their order.
// Handshake  room, as of cut_through with one channel, on both sides. pe_i, the own number, is static from the last
//            cycle of reset on.
// Latency    one cycle; a packet in two cycles.
// Full       one packet waits here; then in_room_o is low.
// Misuse     a receiver that does not exist: both words are taken, and nowhere_o pulses with the packet, word 0 above.
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
    output logic           nowhere_o,
    output logic [2*W-1:0] nowhere_packet_o,
    output logic           busy_o
);
  if (RowBits != 0 && RowBits != 2 && RowBits != 4) begin : gen_bad_rows
    emx_route_RowBits_must_be_0_2_or_4 u_bad ();
  end
  localparam int Pes = emx_pkg::SizeColumns << RowBits;

  function automatic logic [9:0] path(input logic [6:0] from, input logic [6:0] to);
    logic [3:0] row, mixed;
    int least, hops, free, at;
    row   = to[6:3];
    mixed = row ^ from[6:3];
    least = int'(to[2:0]) - int'(from[2:0]);
    if (least < 0) least = least + emx_pkg::SizeColumns;
    // The bits of the row that the hops do not replace are there already.
    hops = least + emx_pkg::SizeColumns;
    for (int i = 0; i <= RowBits; i++) begin
      if (least == i && row >> i == (from[6:3] & 4'((1 << (RowBits - i)) - 1))) hops = least;
    end
    if (least >= RowBits) hops = least;
    free = hops - RowBits;
    path = 10'd1 << hops;
    for (int i = 0; i < RowBits + emx_pkg::SizeColumns - 1; i++) begin
      at = i < free ? RowBits + i - free : hops - 1 - i;
      if (i < hops && at >= 0 && at < 4) path[i] = i < free ? mixed[at[1:0]] : row[at[1:0]];
    end
  endfunction

  logic known, refused_q;
  logic [9:0] pe;
  logic [6:0] here, there;
  logic [W-1:0] data, first_q;
  logic [15:0] unused_drained;
  logic passing, unused_out;
  logic [1:0] out_vc, won;

  assign here = emx_place_pkg::place_of(3'(RowBits), pe_i);
  assign there = emx_place_pkg::place_of(3'(RowBits), pe);
  assign pe = in_data_i[emx_pkg::PktW0PeLsb+:emx_pkg::PktW0PeW];
  assign known = int'(pe) < Pes;
  always_comb begin
    data = in_data_i;
    if (!in_last_i) data[emx_pkg::PktW0PeLsb+:emx_pkg::PktW0PeW] = path(here, there);
  end

  cut_through #(
      .N       (1),
      .Channels(1),
      .Packets (1),
      .W       (W)
  ) u_cut_through (
      .clk_i      (clk_i),
      .rst_i      (rst_i),
      .in_valid_i (in_valid_i),
      .in_vc_i    (2'd0),
      .in_data_i  (data),
      .in_last_i  (in_last_i),
      .in_out_i   (known),
      .in_to_i    (2'd0),
      .in_room_o  (in_room_o),
      .out_valid_o(out_valid_o),
      .out_vc_o   (out_vc),
      .out_data_o (out_data_o),
      .out_last_o (out_last_o),
      .out_room_i (out_room_i),
      .won_o      (won),
      .busy_o     (passing),
      .drained_o  (unused_drained)
  );
  assign unused_out = ^{out_vc, won};

  always_ff @(posedge clk_i) begin
    if (in_valid_i && !in_last_i) first_q <= in_data_i;
    if (in_valid_i && refused_q) nowhere_packet_o <= {first_q, in_data_i};
    if (rst_i) {refused_q, nowhere_o} <= '0;
    else {refused_q, nowhere_o} <= {in_valid_i && !in_last_i && !known, refused_q};
  end
  assign busy_o = passing || refused_q || nowhere_o;
endmodule
