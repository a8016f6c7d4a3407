// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+, the processor's window: accesses of a bus at physical addresses become stores to command pages, accesses of
// communication registers, and loads and stores of other cells.
//
// Window     of axi_slave: request {write, address, data, strobes; of a read the bytes requested}, then its response,
//            in order.
// Spaces     by the address:
//              0 cell local         bit 35 clear: the memory of a cell {y, x}, below it the address there. 1, 2, 4 or 8
//                                   bytes, at a multiple of their number.
//              A in bits 35:32      27:12 page code. Stores of 32 bits; the response comes when one is taken.
//              B                    8:2 a communication register of this cell. 32 bits.
//              B, and bit 28 set    the same of the cell {y, x} in the bits from 9 on.
// Refused    with an error and no effect: any other address or bytes, a read of a page.
// Nothing    a write without a byte gets its response and does nothing.
// Waiting    an access that waits at the cell (a load, a communication register in conflict) holds those behind it, as
//            on the machine's bus. The registers, which must not wait, have a port of their own.
// Latency    1 cycle from request to the cell's port, 1 from its response to the bus's. A store a cycle.
// Full       two requests and two responses wait inside, then their side does.
// Reset      forgets everything; both sides must be reset, too.
// busy_o     low when nothing is inside.
// Source     the shared half of the space: paper 2.2.6, Fig 7. Highest digit of pages and registers: the machine's
//            Linux port, as facts. Positions within, widths, refusals: own guess.
module ap1000p_window #(
    parameter int CoordW = 5  // bits of a coordinate, 2 to 7
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic req_valid_i,
    output logic req_ready_o,
    input logic req_write_i,
    input logic [35:0] req_addr_i,
    input logic [63:0] req_wdata_i,
    input logic [7:0] req_wstrb_i,
    output logic rsp_valid_o,
    input logic rsp_ready_i,
    output logic [63:0] rsp_rdata_o,
    output logic rsp_err_o,

    output logic store_valid_o,
    input logic store_ready_i,
    output logic [15:0] store_page_o,
    output logic [31:0] store_data_o,

    output logic creg_req_valid_o,
    input logic creg_req_ready_i,
    output logic creg_req_write_o,
    output logic [6:0] creg_req_addr_o,
    output logic [31:0] creg_req_data_o,
    input logic creg_rsp_valid_i,
    output logic creg_rsp_ready_o,
    input logic creg_rsp_fault_i,
    input logic [31:0] creg_rsp_data_i,

    output logic dsm_req_valid_o,
    input logic dsm_req_ready_i,
    output logic dsm_req_write_o,
    output logic dsm_req_registers_o,
    output logic [2*CoordW-1:0] dsm_req_cell_o,
    output logic [31:0] dsm_req_addr_o,
    output logic [1:0] dsm_req_size_o,
    output logic [63:0] dsm_req_data_o,
    input logic dsm_rsp_valid_i,
    output logic dsm_rsp_ready_o,
    input logic dsm_rsp_err_i,
    input logic [63:0] dsm_rsp_data_i
);
  if (CoordW < 2 || CoordW > 7) begin : gen_bad_coord
    ap1000p_window_CoordW_must_be_2_to_7 u_bad ();
  end

  localparam int CellW = 2 * CoordW;
  localparam int LocalW = 35 - CellW;

  typedef enum logic [2:0] {
    Refused,
    Nothing,
    Store,
    Creg,
    Dsm
  } kind_e;

  // ----------------------------------------------------------------------------------------------------------- decoder
  // The size, from the strobes.
  logic [2:0] unused_lane;
  assign unused_lane = req_addr_i[2:0];

  kind_e kind;
  logic sized, word, registers;
  logic [1:0] size;
  logic [2:0] lane;
  logic [31:0] addr, half;
  logic [63:0] data;
  logic [CellW-1:0] name;

  always_comb begin
    {sized, size, lane} = {1'b1, 2'd0, 3'd0};
    case (req_wstrb_i)
      8'h01:   lane = 3'd0;
      8'h02:   lane = 3'd1;
      8'h04:   lane = 3'd2;
      8'h08:   lane = 3'd3;
      8'h10:   lane = 3'd4;
      8'h20:   lane = 3'd5;
      8'h40:   lane = 3'd6;
      8'h80:   lane = 3'd7;
      8'h03:   {size, lane} = {2'd1, 3'd0};
      8'h0c:   {size, lane} = {2'd1, 3'd2};
      8'h30:   {size, lane} = {2'd1, 3'd4};
      8'hc0:   {size, lane} = {2'd1, 3'd6};
      8'h0f:   {size, lane} = {2'd2, 3'd0};
      8'hf0:   {size, lane} = {2'd2, 3'd4};
      8'hff:   {size, lane} = {2'd3, 3'd0};
      default: sized = 1'b0;
    endcase
  end

  assign word = sized && size == 2'd2;
  assign half = lane[2] ? req_wdata_i[63:32] : req_wdata_i[31:0];
  assign data = size == 2'd3 ? req_wdata_i : {32'd0, half};
  assign registers = req_addr_i[35];
  assign name = registers ? req_addr_i[9+:CellW] : req_addr_i[LocalW+:CellW];

  always_comb begin
    kind = Refused;
    addr = {{32 - LocalW{1'b0}}, req_addr_i[LocalW-1:3], lane};
    if (req_wstrb_i == '0) begin
      if (req_write_i) kind = Nothing;
    end else if (!req_addr_i[35]) begin
      if (sized) kind = Dsm;
    end else if (req_addr_i[35:32] == 4'(ap1000p_pkg::PageSpace)) begin
      addr = {16'd0, req_addr_i[27:12]};
      if (req_addr_i[31:28] == '0 && req_write_i && word) kind = Store;
    end else if (req_addr_i[35:32] == 4'(ap1000p_pkg::CregSpace)) begin
      addr = {23'd0, req_addr_i[8:3], lane};
      if (req_addr_i[31:29] == '0 && word) begin
        if (!req_addr_i[28]) begin
          if (req_addr_i[27:9] == '0) kind = Creg;
        end else if (req_addr_i[27:9+CellW] == '0) kind = Dsm;
      end
    end
  end

  logic valid, done, write_q, registers_q;
  logic [1:0] size_q;
  logic [CellW-1:0] name_q;
  logic [31:0] addr_q;
  logic [63:0] data_q;
  logic [2:0] kind_q;
  skid #(
      .W(3 + 1 + 1 + 2 + CellW + 32 + 64)
  ) u_req (
      .clk_i,
      .rst_i,
      .in_valid_i (req_valid_i),
      .in_ready_o (req_ready_o),
      .in_data_i  ({kind, req_write_i, registers, size, name, addr, data}),
      .out_valid_o(valid),
      .out_ready_i(done),
      .out_data_o ({kind_q, write_q, registers_q, size_q, name_q, addr_q, data_q})
  );

  // ---------------------------------------------------------------------------------------------------------- accesses
  // `pending_q`: the cell has the access at the front, and will respond.
  logic pending_q, room, err;
  logic [63:0] rdata;

  assign store_valid_o = valid && kind_q == Store && room;
  assign store_page_o = addr_q[15:0];
  assign store_data_o = data_q[31:0];
  assign creg_req_valid_o = valid && kind_q == Creg && !pending_q;
  assign creg_req_write_o = write_q;
  assign creg_req_addr_o = addr_q[8:2];
  assign creg_req_data_o = data_q[31:0];
  assign creg_rsp_ready_o = pending_q && kind_q == Creg && room;
  assign dsm_req_valid_o = valid && kind_q == Dsm && !pending_q && room;
  assign dsm_req_write_o = write_q;
  assign dsm_req_registers_o = registers_q;
  assign dsm_req_cell_o = name_q;
  assign dsm_req_addr_o = addr_q;
  assign dsm_req_size_o = size_q;
  assign dsm_req_data_o = data_q;
  assign dsm_rsp_ready_o = pending_q && kind_q == Dsm && room;

  always_comb begin
    err   = kind_q == Refused;
    rdata = {2{dsm_rsp_data_i[31:0]}};
    case (kind_q)
      Store:   done = store_valid_o && store_ready_i;
      Creg: begin
        done  = creg_rsp_valid_i && creg_rsp_ready_o;
        err   = creg_rsp_fault_i;
        rdata = {2{creg_rsp_data_i}};
      end
      Dsm: begin
        // A store has no response.
        done = write_q ? dsm_req_valid_o && dsm_req_ready_i : dsm_rsp_valid_i && dsm_rsp_ready_o;
        err  = !write_q && dsm_rsp_err_i;
        if (size_q == 2'd3) rdata = dsm_rsp_data_i;
      end
      default: done = valid && room;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (rst_i || done) pending_q <= 1'b0;
    else if ((creg_req_valid_o && creg_req_ready_i) || (dsm_req_valid_o && dsm_req_ready_i)) pending_q <= 1'b1;
  end

  skid #(
      .W(65)
  ) u_rsp (
      .clk_i,
      .rst_i,
      .in_valid_i (done),
      .in_ready_o (room),
      .in_data_i  ({err, rdata}),
      .out_valid_o(rsp_valid_o),
      .out_ready_i(rsp_ready_i),
      .out_data_o ({rsp_err_o, rsp_rdata_o})
  );
  assign busy_o = valid || rsp_valid_o;
endmodule
