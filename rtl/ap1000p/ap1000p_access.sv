// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, remote access generator: the processor's loads and stores to other cells' memory become messages for
// the queue of remote accesses, which goes before PUT and GET. Accesses to a Write Through Page also reach the local
// cache.
//
// Request    valid/ready: {write, cell {y, x}, address in its memory, size as a power of two of bytes (0 to 3), data}.
//            The bytes of a store are in their lanes of the word; of 8 bytes, the lower word comes first. With
//            `dsm_req_registers_i` the address is one of a communication register.
// Response   of a load, valid until taken: the word or words, or `dsm_rsp_err_o`. `why_o` says why (ACCESS_...) and
//            holds. The next request is taken after the response. Stores have no response.
// Issue      `issue_o`, for ap1000p_acks, in the cycle in which a store is taken: whoever reads the count after that
//            sees the store.
// Pages      [low_i, high_i) of each cell's memory, 4 KB each, are Write Through Pages. Each access there looks up the
//            tags (ap1000p_wtp). A load reads the copy, without a message; without a copy it is an error. A store is
//            always a message, and then changes the copy, too. The tags' response is taken when the copy has been
//            accessed: until then no copy is forgotten.
// Refused    a cell that does not exist; an address that is no multiple of the size. `refused_o` pulses; a load gets an
//            error.
// Latency    1 cycle from the request to the message's first word. A store takes 4 cycles (5 of 8 bytes). In a Write
//            Through Page it takes 4 more, and the memory's time if there is a copy. A load there takes 6 cycles and
//            the memory's, or 6 to its error.
// Full       any access waits while `acks_full_i`, though only a store is counted: the ready follows no request. It
//            waits while its queue takes no words.
// Misuse     a response that no load waits for, or from another cell than the load's, is dropped; `stray_o` pulses. A
//            load of a cell that never responds waits until reset.
// Errors     of memory: a load of a copy gets an error. If a store could not change its copy, `stale_o` pulses:
//            software must forget the line.
// Reset      forgets the access under way. No response to it may come later: reset the network and the tags, too.
// Source     access-sized GET or PUT from the MSC+, a queue of its own with priority, a counter of acknowledgements:
//            paper 2.2.5, 2.2.6. Local cache: paper 4. The cell's number as {y, x}, refusals, which pages are Write
//            Through: own guess.
module ap1000p_access #(
    parameter int CoordW = 5,  // bits of a coordinate, 1 to 7
    parameter int LocalW = 25  // bits of an address that Write Through Pages can have, 13 to 28
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [CoordW-1:0] x_i,
    input logic [CoordW-1:0] y_i,
    input logic [CoordW-1:0] last_x_i,
    input logic [CoordW-1:0] last_y_i,
    input logic [15:0] low_i,
    input logic [15:0] high_i,
    input logic acks_full_i,

    input logic dsm_req_valid_i,
    output logic dsm_req_ready_o,
    input logic dsm_req_write_i,
    input logic dsm_req_registers_i,
    input logic [2*CoordW-1:0] dsm_req_cell_i,
    input logic [31:0] dsm_req_addr_i,
    input logic [1:0] dsm_req_size_i,
    input logic [63:0] dsm_req_data_i,
    output logic dsm_rsp_valid_o,
    input logic dsm_rsp_ready_i,
    output logic dsm_rsp_err_o,
    output logic [63:0] dsm_rsp_data_o,
    output logic [1:0] why_o,
    output logic issue_o,
    output logic refused_o,
    output logic stale_o,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic out_end_o,
    output logic [31:0] out_data_o,
    input logic load_valid_i,
    output logic load_ready_o,
    input logic [1:0][7:0] load_cell_i,  // of the response: {y, x}
    input logic load_err_i,
    input logic [63:0] load_data_i,
    output logic stray_o,

    output logic tag_req_valid_o,
    input logic tag_req_ready_i,
    output logic [2*CoordW-1:0] tag_req_cell_o,
    output logic [LocalW-1:0] tag_req_addr_o,
    input logic tag_rsp_valid_i,
    output logic tag_rsp_ready_o,
    input logic tag_hit_i,
    input logic [31:0] tag_local_i,

    output logic mem_rd_cmd_valid_o,
    input logic mem_rd_cmd_ready_i,
    output logic [31:0] mem_rd_cmd_addr_o,
    output logic [7:0] mem_rd_cmd_len_o,
    input logic mem_rd_data_valid_i,
    output logic mem_rd_data_ready_o,
    input logic [31:0] mem_rd_data_data_i,
    input logic mem_rd_data_last_i,
    input logic mem_rd_data_err_i,
    output logic mem_wr_cmd_valid_o,
    input logic mem_wr_cmd_ready_i,
    output logic [31:0] mem_wr_cmd_addr_o,
    output logic [7:0] mem_wr_cmd_len_o,
    output logic mem_wr_data_valid_o,
    input logic mem_wr_data_ready_i,
    output logic [31:0] mem_wr_data_data_o,
    output logic [3:0] mem_wr_data_strb_o,
    output logic mem_wr_data_last_o,
    input logic mem_wr_rsp_valid_i,
    output logic mem_wr_rsp_ready_o,
    input logic mem_wr_rsp_err_i
);
  if (CoordW < 1 || CoordW > 7) begin : gen_bad_coord
    ap1000p_access_CoordW_must_be_1_to_7 u_bad ();
  end
  if (LocalW < 13 || LocalW > 28) begin : gen_bad_local
    ap1000p_access_LocalW_must_be_13_to_28 u_bad ();
  end

  typedef enum logic [3:0] {
    Idle,
    Head,
    Addr,
    Low,      // data
    High,
    Await,
    Lookup,   // of the tags
    Judge,
    Command,  // to memory, for the copy
    Copy,     // its words
    Written,
    Release,  // the tags' response is taken
    Respond
  } state_e;
  state_e state_q;

  // ----------------------------------------------------------------------------------------------------------- request
  logic write_q, registers_q, through_q, bad, aligned, through, accept, sends, loaded;
  logic [1:0] size_q;
  logic [2*CoordW-1:0] cell_q;
  logic [CoordW-1:0] to_x, to_y;
  logic [7:0] dx_q, dy_q;
  logic [15:0] page;
  logic [31:0] addr_q;
  logic [63:0] data_q;
  assign {to_y, to_x} = dsm_req_cell_i;
  assign bad = to_x > last_x_i || to_y > last_y_i || !aligned;
  assign page = dsm_req_addr_i[27:12];
  assign through = !dsm_req_registers_i && dsm_req_addr_i[31:LocalW] == '0 && page >= low_i && page < high_i;
  assign accept = dsm_req_valid_i && dsm_req_ready_o;
  assign sends = state_q == Head || state_q == Addr || state_q == Low || state_q == High;

  always_comb begin
    case (dsm_req_size_i)
      2'd0: aligned = 1'b1;
      2'd1: aligned = !dsm_req_addr_i[0];
      2'd2: aligned = dsm_req_addr_i[1:0] == '0;
      default: aligned = dsm_req_addr_i[2:0] == '0;
    endcase
  end

  assign dsm_req_ready_o = state_q == Idle && !acks_full_i;
  assign issue_o = accept && dsm_req_write_i && !bad;
  assign load_ready_o = 1'b1;
  assign loaded = load_valid_i && load_cell_i == {8'(cell_q[CoordW+:CoordW]), 8'(cell_q[0+:CoordW])};
  assign dsm_rsp_valid_o = state_q == Respond;
  assign dsm_rsp_data_o = data_q;
  assign busy_o = state_q != Idle;

  // ----------------------------------------------------------------------------------------------------------- message
  always_comb begin
    out_data_o = '0;
    case (state_q)
      Head: begin
        out_data_o[ap1000p_pkg::CommandHeadDxLsb+:8] = dx_q;
        out_data_o[ap1000p_pkg::CommandHeadDyLsb+:8] = dy_q;
        out_data_o[16+ap1000p_pkg::PageDirectLsb] = 1'b1;
        out_data_o[16+ap1000p_pkg::PageAsReceiveLsb] = registers_q;
        out_data_o[16+ap1000p_pkg::PageSizeLsb+:2] = size_q;
        out_data_o[16+ap1000p_pkg::PageKindLsb+:3] = write_q ? 3'(ap1000p_pkg::MadeStore) : 3'(ap1000p_pkg::MadeLoad);
      end
      Addr: out_data_o = addr_q;
      Low: out_data_o = data_q[31:0];
      default: out_data_o = data_q[63:32];
    endcase
  end
  assign out_valid_o = sends;
  // A flip-flop, since it has many loads in the queues.
  always_ff @(posedge clk_i) begin
    if (!sends) out_end_o <= 1'b0;
    else if (out_ready_i) out_end_o <= state_q == Head ? !write_q : state_q != Addr || size_q != 2'd3;
  end

  // -------------------------------------------------------------------------------------------------------------- copy
  logic double, second_q, beat, last;  // the second word of eight bytes
  logic [ 3:0] lanes;
  logic [31:0] local_q;
  assign double = size_q == 2'd3;
  always_comb begin
    case (size_q)
      2'd0: lanes = 4'b0001 << addr_q[1:0];
      2'd1: lanes = addr_q[1] ? 4'b1100 : 4'b0011;
      default: lanes = '1;
    endcase
  end
  assign tag_req_valid_o = state_q == Lookup;
  assign tag_req_cell_o = cell_q;
  assign tag_req_addr_o = addr_q[LocalW-1:0];
  assign tag_rsp_ready_o = state_q == Release;
  assign mem_rd_cmd_valid_o = state_q == Command && !write_q;
  assign mem_wr_cmd_valid_o = state_q == Command && write_q;
  assign mem_rd_cmd_addr_o = local_q;
  assign mem_wr_cmd_addr_o = local_q;
  assign mem_rd_cmd_len_o = 8'(double);
  assign mem_wr_cmd_len_o = 8'(double);
  assign mem_rd_data_ready_o = state_q == Copy && !write_q;
  assign mem_wr_data_valid_o = state_q == Copy && write_q;
  assign mem_wr_data_data_o = second_q ? data_q[63:32] : data_q[31:0];
  assign mem_wr_data_strb_o = lanes;
  assign mem_wr_data_last_o = second_q || !double;
  assign mem_wr_rsp_ready_o = 1'b1;  // it comes in Written
  assign beat = state_q == Copy && (write_q ? mem_wr_data_ready_i : mem_rd_data_valid_i);
  assign last = write_q ? mem_wr_data_last_o : mem_rd_data_last_i;

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      {write_q, registers_q, through_q, size_q} <= {dsm_req_write_i, dsm_req_registers_i, through, dsm_req_size_i};
      {cell_q, addr_q, data_q} <= {dsm_req_cell_i, dsm_req_addr_i, dsm_req_data_i};
      dx_q <= 8'(to_x) - 8'(x_i);
      dy_q <= 8'(to_y) - 8'(y_i);
    end
    if (accept) why_o <= bad ? 2'(ap1000p_pkg::AccessRefused) : 2'(ap1000p_pkg::AccessDone);
    // Overwritten until the response comes, and then by it.
    if (state_q == Await) data_q <= double ? load_data_i : {32'd0, load_data_i[31:0]};
    if (state_q == Await && loaded && load_err_i) why_o <= 2'(ap1000p_pkg::AccessFailed);
    if (state_q == Judge) begin
      local_q  <= {tag_local_i[31:2], 2'b00};
      second_q <= 1'b0;
      if (tag_rsp_valid_i && !tag_hit_i && !write_q) why_o <= 2'(ap1000p_pkg::AccessMiss);
    end
    if (beat) begin
      second_q <= 1'b1;
      if (!write_q) begin
        if (second_q) data_q[63:32] <= mem_rd_data_data_i;
        else data_q <= {32'd0, mem_rd_data_data_i};
        if (mem_rd_data_err_i) why_o <= 2'(ap1000p_pkg::AccessFailed);
      end
    end
    refused_o <= accept && bad && !rst_i;
    stray_o   <= load_valid_i && !(state_q == Await && loaded) && !rst_i;
    stale_o   <= state_q == Written && mem_wr_rsp_valid_i && mem_wr_rsp_err_i && !rst_i;
    if (rst_i) begin
      state_q <= Idle;
      why_o   <= 2'(ap1000p_pkg::AccessDone);
    end else begin
      case (state_q)
        Idle:
        if (accept && !(bad && dsm_req_write_i)) begin
          state_q <= bad ? Respond : (through && !dsm_req_write_i) ? Lookup : Head;
        end
        Head: if (out_ready_i) state_q <= Addr;
        Addr: if (out_ready_i) state_q <= write_q ? Low : Await;
        Low: if (out_ready_i) state_q <= double ? High : through_q ? Lookup : Idle;
        High: if (out_ready_i) state_q <= through_q ? Lookup : Idle;
        Await: if (loaded) state_q <= Respond;
        Lookup: if (tag_req_ready_i) state_q <= Judge;
        Judge: if (tag_rsp_valid_i) state_q <= tag_hit_i ? Command : Release;
        Command: if (write_q ? mem_wr_cmd_ready_i : mem_rd_cmd_ready_i) state_q <= Copy;
        Copy: if (beat && last) state_q <= write_q ? Written : Release;
        Written: if (mem_wr_rsp_valid_i) state_q <= Release;
        Release: state_q <= write_q ? Idle : Respond;
        default: if (dsm_rsp_ready_i) state_q <= Idle;
      endcase
    end
  end
  assign dsm_rsp_err_o = why_o != 2'(ap1000p_pkg::AccessDone);

  logic [1:0] unused;
  assign unused = tag_local_i[1:0];
endmodule
