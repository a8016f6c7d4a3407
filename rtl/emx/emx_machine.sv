// SPDX-License-Identifier: MIT OR Apache-2.0
// EM-4/EM-X, a whole machine as one top: PEs and the links between them.
//
// Ports      those of emx_pe, an element of a packed array for each PE, by number. `link_*_o` only show what the PEs
//            give each other.
// Network    a circular omega of 5 columns: output b of row r leads to row 2r + b of the next column, modulo the rows,
//            and column 4 to column 0.
// TIME       one counter for all PEs: cycles since reset.
// busy_o     per PE. While all are low and no input is valid, no edge changes anything but TIME.
// Source     paper, 2.1 and 2.2.
module emx_machine #(
    parameter int RowBits = 0,  // 0, 2 or 4 (5, 20, 80 PEs)
    parameter int AddrW = 16,
    parameter int SpillBits = 12,
    parameter int Levels = 1,
    parameter int HalfPackets = 4,
    parameter int Packets = 2,
    parameter int SpillTurns = 3,
    parameter int HostWait = 64,
    parameter int OutputPackets = 0,
    parameter bit WriteBypass = 1'b0,
    parameter bit ReadBypass = 1'b0,
    parameter bit InputFirst = 1'b0,
    parameter bit CodePort = 1'b0,
    parameter bit FastSend = 1'b0,
    localparam int Rows = 1 << RowBits,
    localparam int Pes = emx_pkg::SizeColumns << RowBits
) (
    input logic clk_i,
    input logic rst_i,
    output logic [Pes-1:0] busy_o,

    input logic [Pes-1:0] host_req_valid_i,
    output logic [Pes-1:0] host_req_ready_o,
    input logic [Pes-1:0] host_req_write_i,
    input logic [Pes-1:0][23:0] host_req_addr_i,
    input logic [Pes-1:0][63:0] host_req_wdata_i,
    input logic [Pes-1:0][7:0] host_req_wstrb_i,
    output logic [Pes-1:0] host_rsp_valid_o,
    input logic [Pes-1:0] host_rsp_ready_i,
    output logic [Pes-1:0][63:0] host_rsp_rdata_o,
    output logic [Pes-1:0] host_rsp_err_o,
    output logic [Pes-1:0] irq_o,

    output logic [Pes-1:0][1:0] link_valid_o,
    output logic [Pes-1:0][1:0][1:0] link_vc_o,
    output logic [Pes-1:0][1:0][38:0] link_data_o,
    output logic [Pes-1:0][1:0] link_last_o,
    output logic [Pes-1:0][1:0] state_o,
    output logic [Pes-1:0][13:0] depth_o,
    output logic [Pes-1:0] tell_valid_o,
    output logic [Pes-1:0][31:0] tell_data_o,
    output logic [Pes-1:0] ret_valid_o,
    output logic [Pes-1:0][21:0] ret_pc_o,
    output logic [Pes-1:0][31:0] ret_insn_o
);
  logic [31:0] time_q;
  always_ff @(posedge clk_i) time_q <= rst_i ? '0 : time_q + 32'd1;

  // What each PE gets, by place: column * Rows + row.
  logic [Pes-1:0][1:0] valid, last;
  logic [Pes-1:0][1:0][1:0] vc;
  logic [Pes-1:0][1:0][38:0] data;
  logic [Pes-1:0][1:0][emx_pkg::SizeChannels-1:0] room;

  for (genvar pe = 0; pe < Pes; pe++) begin : gen_pe
    localparam bit [6:0] Place = emx_place_pkg::place_of(3'(RowBits), 10'(pe));
    localparam int Column = int'(Place[2:0]);
    localparam int Row = int'(Place[6:3]);
    localparam int At = Column * Rows + Row;
    localparam int Next = (Column + 1) % emx_pkg::SizeColumns * Rows;
    localparam int Next0 = Next + 2 * Row % Rows;
    localparam int Next1 = Next + (2 * Row + 1) % Rows;
    // With one row both links lead to the same PE.
    localparam int Input0 = RowBits == 0 ? 0 : 2 * Row / Rows;
    localparam int Input1 = RowBits == 0 ? 1 : 2 * Row / Rows;
    assign {valid[Next1][Input1], valid[Next0][Input0]} = link_valid_o[pe];
    assign {vc[Next1][Input1], vc[Next0][Input0]} = link_vc_o[pe];
    assign {data[Next1][Input1], data[Next0][Input0]} = link_data_o[pe];
    assign {last[Next1][Input1], last[Next0][Input0]} = link_last_o[pe];
    emx_pe #(
        .RowBits(RowBits),
        .AddrW(AddrW),
        .SpillBits(SpillBits),
        .Levels(Levels),
        .HalfPackets(HalfPackets),
        .Packets(Packets),
        .SpillTurns(SpillTurns),
        .HostWait(HostWait),
        .OutputPackets(OutputPackets),
        .WriteBypass(WriteBypass),
        .ReadBypass(ReadBypass),
        .InputFirst(InputFirst),
        .CodePort(CodePort),
        .FastSend(FastSend)
    ) u_pe (
        .clk_i,
        .rst_i,
        .busy_o(busy_o[pe]),
        .pe_i(10'(pe)),
        .time_i(time_q),
        .link_in_valid_i(valid[At]),
        .link_in_vc_i(vc[At]),
        .link_in_data_i(data[At]),
        .link_in_last_i(last[At]),
        .link_in_room_o(room[At]),
        .link_out_valid_o(link_valid_o[pe]),
        .link_out_vc_o(link_vc_o[pe]),
        .link_out_data_o(link_data_o[pe]),
        .link_out_last_o(link_last_o[pe]),
        .link_out_room_i({room[Next1][Input1], room[Next0][Input0]}),
        .host_req_valid_i(host_req_valid_i[pe]),
        .host_req_ready_o(host_req_ready_o[pe]),
        .host_req_write_i(host_req_write_i[pe]),
        .host_req_addr_i(host_req_addr_i[pe]),
        .host_req_wdata_i(host_req_wdata_i[pe]),
        .host_req_wstrb_i(host_req_wstrb_i[pe]),
        .host_rsp_valid_o(host_rsp_valid_o[pe]),
        .host_rsp_ready_i(host_rsp_ready_i[pe]),
        .host_rsp_rdata_o(host_rsp_rdata_o[pe]),
        .host_rsp_err_o(host_rsp_err_o[pe]),
        .irq_o(irq_o[pe]),
        .state_o(state_o[pe]),
        .depth_o(depth_o[pe]),
        .tell_valid_o(tell_valid_o[pe]),
        .tell_data_o(tell_data_o[pe]),
        .ret_valid_o(ret_valid_o[pe]),
        .ret_pc_o(ret_pc_o[pe]),
        .ret_insn_o(ret_insn_o[pe])
    );
  end
endmodule
