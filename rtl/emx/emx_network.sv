// SPDX-License-Identifier: MIT OR Apache-2.0
// EM-4/EM-X, the network of a whole machine: path and switch of each PE, and the links between them.
//
// Purpose    a circular omega of 5 columns with a PE in every switch: output b of row r leads to row 2r + b of the next
//            column, modulo the rows, and column 4 to column 0. Ports are by number of PE.
// Handshake  room. in_* from a PE's output: word 0 stands in a cycle with room, as of emx_route. out_* to its input
//            buffer: word 0 comes in the cycle behind one with room, as of cut_through with one channel.
// Latency    k hops take k + 2 cycles, from the link into emx_route to the PE's input.
// Order      packets of a pair do not overtake each other.
// Full       a receiver that never has room holds up what lies behind on its paths; with room the network drains.
// Misuse     a receiver that does not exist: nowhere_o of the sender pulses, with the packet.
// busy_o     0 after an edge: nothing is inside, and further edges change nothing while no in_valid_i is set.
// Source     paper, 2.1; see emx_switch and emx_route.
module emx_network #(
    parameter  int RowBits = 2,                                // 0, 2 or 4 (5, 20, 80 PEs)
    parameter  int Packets = 2,                                // of a switch's input, for each channel, 1 to 4
    localparam int Rows    = 1 << RowBits,
    localparam int Pes     = emx_pkg::SizeColumns << RowBits,
    localparam int W       = 39
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic [Pes-1:0]          in_valid_i,
    input  logic [Pes-1:0][  W-1:0] in_data_i,
    input  logic [Pes-1:0]          in_last_i,
    output logic [Pes-1:0]          in_room_o,
    output logic [Pes-1:0]          out_valid_o,
    output logic [Pes-1:0][  W-1:0] out_data_o,
    output logic [Pes-1:0]          out_last_o,
    input  logic [Pes-1:0]          out_room_i,
    output logic [Pes-1:0]          nowhere_o,
    output logic [Pes-1:0][2*W-1:0] nowhere_packet_o,
    output logic                    busy_o,
    output logic [Pes-1:0][   15:0] drained_o
);
  // The links into a switch, by place: column * Rows + row.
  logic [Pes-1:0][1:0] valid  /*verilator split_var*/, last  /*verilator split_var*/;
  logic [Pes-1:0][1:0][1:0] vc  /*verilator split_var*/;
  logic [Pes-1:0][1:0][W-1:0] data  /*verilator split_var*/;
  logic [Pes-1:0][1:0][emx_pkg::SizeChannels-1:0] room  /*verilator split_var*/;
  logic [Pes-1:0][1:0] busy;
  assign busy_o = busy != '0;

  for (genvar pe = 0; pe < Pes; pe++) begin : gen_pe
    localparam int Column = pe % emx_pkg::SizeColumns;
    localparam int Row = int'(emx_place_pkg::row_of(3'(RowBits), 4'(pe / emx_pkg::SizeColumns), 3'(Column)));
    localparam int At = Column * Rows + Row;
    localparam int Next = (Column + 1) % emx_pkg::SizeColumns * Rows;
    localparam int Next0 = Next + 2 * Row % Rows;
    localparam int Next1 = Next + (2 * Row + 1) % Rows;
    // With one row both links lead to the same switch.
    localparam int Input0 = RowBits == 0 ? 0 : 2 * Row / Rows;
    localparam int Input1 = RowBits == 0 ? 1 : 2 * Row / Rows;

    logic pe_valid, pe_last, pe_room;
    logic [ 13:0] unused_place;
    logic [W-1:0] pe_data;
    emx_route #(
        .RowBits(RowBits)
    ) u_route (
        .clk_i           (clk_i),
        .rst_i           (rst_i),
        .pe_i            (10'(pe)),
        .in_valid_i      (in_valid_i[pe]),
        .in_data_i       (in_data_i[pe]),
        .in_last_i       (in_last_i[pe]),
        .in_room_o       (in_room_o[pe]),
        .out_valid_o     (pe_valid),
        .out_data_o      (pe_data),
        .out_last_o      (pe_last),
        .out_room_i      (pe_room),
        .here_o          (unused_place[6:0]),
        .place_o         (unused_place[13:7]),
        .nowhere_o       (nowhere_o[pe]),
        .nowhere_packet_o(nowhere_packet_o[pe]),
        .busy_o          (busy[pe][0])
    );
    emx_switch #(
        .Packets(Packets)
    ) u_switch (
        .clk_i           (clk_i),
        .rst_i           (rst_i),
        .column_i        (3'(Column)),
        .link_in_valid_i (valid[At]),
        .link_in_vc_i    (vc[At]),
        .link_in_data_i  (data[At]),
        .link_in_last_i  (last[At]),
        .link_in_room_o  (room[At]),
        .link_out_valid_o({valid[Next1][Input1], valid[Next0][Input0]}),
        .link_out_vc_o   ({vc[Next1][Input1], vc[Next0][Input0]}),
        .link_out_data_o ({data[Next1][Input1], data[Next0][Input0]}),
        .link_out_last_o ({last[Next1][Input1], last[Next0][Input0]}),
        .link_out_room_i ({room[Next1][Input1], room[Next0][Input0]}),
        .pe_in_valid_i   (pe_valid),
        .pe_in_data_i    (pe_data),
        .pe_in_last_i    (pe_last),
        .pe_in_room_o    (pe_room),
        .pe_out_valid_o  (out_valid_o[pe]),
        .pe_out_data_o   (out_data_o[pe]),
        .pe_out_last_o   (out_last_o[pe]),
        .pe_out_room_i   (out_room_i[pe]),
        .busy_o          (busy[pe][1]),
        .drained_o       (drained_o[pe])
    );
  end
endmodule
