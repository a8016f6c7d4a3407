// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, word unit: reads, changes or counts one word of cell memory, one request after the other, so none sees
// another half done.
//
// Request    of each client valid/ready: {operation (regs.toml, "Operations on one word of memory"), for whom,
//            where, bytes, operands}. WRITE writes the bytes of `req_strb_i` of operand a, each in its lane; the others
//            are of whole words. FOP: (old AND a) OR b. CSI: b, if the old word is a. INC: old + 1, modulo 2^32. Unused
//            operands mean nothing, and need not hold. With `req_physical_i` the address is one of cell memory and is
//            not looked up. Otherwise the page must allow a write, unless the request is a READ.
// Response   a pulse for each request, `rsp_valid_o` of its client: done, and in memory if the memory said so.
//            `rsp_old_o` is the word before (of a WRITE: nothing), `rsp_fault_o` says that it was given up, `rsp_err_o`
//            that the memory reported an error. The client can always take it.
// Order      one request at a time; those of a client in its order. A client that waits is passed over at most Clients
//            - 1 times.
// Fault      `fault_valid_o` holds, with the reason, for whom and where, until `retry_i` (looks up again) or `abort_i`
//            (the request gets its response, nothing is written). An address that is no multiple of 4 is a fault,
//            FAULT_ALIGN. All clients wait meanwhile.
// Latency    11 cycles from taking an INC to taking the next request, if the MMU responds in 3 and the memory in 1 (7
//            of a READ, 9 of a WRITE; 4 less if physical).
// Memory     bursts of one word, one at a time, command before data.
// Reset      drops everything; MMU and memory must forget their requests, too.
// Pulses     `given_up_o` and `bus_error_o`, with the response.
// Misuse     an operation that does not exist is a READ that needs the right to write.
// Source     flags by hardware, +1; compare-and-swap, fetch-and-and/or: paper 2.2.4, 2.2.9. Operations as commands of
//            the MSC+'s memory access sequencers: the machine's Linux port. One unit for all of them: own guess.
module ap1000p_word #(
    parameter int Clients = 4  // at least 1
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [Clients-1:0] req_valid_i,
    output logic [Clients-1:0] req_ready_o,
    input logic [Clients-1:0][2:0] req_op_i,
    input logic [Clients-1:0][11:0] req_context_i,
    input logic [Clients-1:0] req_system_i,
    input logic [Clients-1:0] req_physical_i,
    input logic [Clients-1:0][31:0] req_addr_i,
    input logic [Clients-1:0][3:0] req_strb_i,
    input logic [Clients-1:0][31:0] req_a_i,
    input logic [Clients-1:0][31:0] req_b_i,
    output logic [Clients-1:0] rsp_valid_o,
    output logic [31:0] rsp_old_o,
    output logic rsp_fault_o,
    output logic rsp_err_o,
    output logic given_up_o,
    output logic bus_error_o,

    output logic mmu_req_valid_o,
    input logic mmu_req_ready_i,
    output logic [11:0] mmu_req_context_o,
    output logic [31:0] mmu_req_addr_o,
    output logic mmu_req_write_o,
    output logic mmu_req_system_o,
    input logic mmu_rsp_valid_i,
    output logic mmu_rsp_ready_o,
    input logic [31:0] mmu_rsp_addr_i,
    input logic [2:0] mmu_rsp_fault_i,

    output logic fault_valid_o,
    output logic [2:0] fault_reason_o,
    output logic [11:0] fault_context_o,
    output logic [31:0] fault_addr_o,
    output logic fault_write_o,
    output logic fault_system_o,
    input logic retry_i,
    input logic abort_i,

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
  if (Clients < 1) begin : gen_bad_clients
    ap1000p_word_Clients_must_be_at_least_1 u_bad ();
  end

  localparam logic [2:0] Read = 3'(ap1000p_pkg::WordRead);
  localparam logic [2:0] Write = 3'(ap1000p_pkg::WordWrite);
  localparam logic [2:0] Inc = 3'(ap1000p_pkg::WordInc);
  localparam logic [2:0] Fop = 3'(ap1000p_pkg::WordFop);
  localparam logic [2:0] Csi = 3'(ap1000p_pkg::WordCsi);

  typedef enum logic [3:0] {
    Idle,
    Lookup,   // for its address in memory
    Await,
    Request,  // for the word
    Fetch,
    Work,
    Command,  // to write the word
    Data,
    Written,
    Fault
  } state_e;
  state_e state_q;

  // ---------------------------------------------------------------------------------------------------------- requests
  localparam int RequestW = 3 + 12 + 1 + 1 + 32 + 4 + 32 + 32;
  logic [Clients-1:0] grant, takes, who_q;
  logic [RequestW-1:0] offered;
  logic taken;
  assign req_ready_o = (state_q == Idle) ? grant : '0;
  assign takes = req_valid_i & req_ready_o;
  assign taken = takes != '0;

  // The next client is known before the unit is free.
  arbiter_rr #(
      .N(Clients)
  ) u_arbiter (
      .clk_i,
      .rst_i,
      .req_i(req_valid_i & ~takes),
      .advance_i(taken),
      .grant_o(grant)
  );

  always_comb begin
    offered = '0;
    for (int c = 0; c < Clients; c++) begin
      if (grant[c]) begin
        offered |= {
          req_op_i[c],
          req_context_i[c],
          req_system_i[c],
          req_physical_i[c],
          req_addr_i[c],
          req_strb_i[c],
          req_a_i[c],
          req_b_i[c]
        };
      end
    end
  end

  logic [2:0] op_q, reason_q;
  logic [11:0] context_q;
  logic system_q, physical_q, odd, changes;
  logic [31:0] addr_q, a_q, b_q, mem_addr_q, new_q;
  logic [3:0] strb_q;
  assign odd = addr_q[1:0] != '0;
  assign changes = op_q == Write || op_q == Inc || op_q == Fop || (op_q == Csi && rsp_old_o == a_q);

  // -------------------------------------------------------------------------------------------------------- completion
  logic gives_up, fetched, written, responds;
  assign gives_up = state_q == Fault && abort_i;
  assign fetched  = state_q == Fetch && mem_rd_data_valid_i && mem_rd_data_err_i;
  assign written  = state_q == Written && mem_wr_rsp_valid_i;
  assign responds = gives_up || fetched || written || (state_q == Work && !changes);

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      {op_q, context_q, system_q, physical_q, addr_q, strb_q, a_q, b_q} <= offered;
      who_q <= grant;
    end
    if (state_q == Lookup) begin
      mem_addr_q <= addr_q;
      reason_q   <= 3'(ap1000p_pkg::FaultAlign);
    end
    if (state_q == Await) begin
      mem_addr_q <= mmu_rsp_addr_i;
      reason_q   <= mmu_rsp_fault_i;
    end
    if (state_q == Fetch) rsp_old_o <= mem_rd_data_data_i;
    case (op_q)
      Write:   new_q <= a_q;
      Inc:     new_q <= rsp_old_o + 32'd1;
      Fop:     new_q <= (rsp_old_o & a_q) | b_q;
      default: new_q <= b_q;
    endcase
    rsp_fault_o <= gives_up;
    rsp_err_o   <= fetched || (written && mem_wr_rsp_err_i);
    if (rst_i) begin
      state_q <= Idle;
      rsp_valid_o <= '0;
      given_up_o <= 1'b0;
      bus_error_o <= 1'b0;
    end else begin
      rsp_valid_o <= responds ? who_q : '0;
      given_up_o  <= gives_up;
      bus_error_o <= fetched || (written && mem_wr_rsp_err_i);
      case (state_q)
        Idle: if (taken) state_q <= Lookup;
        Lookup:
        if (odd) state_q <= Fault;
        else if (physical_q) state_q <= (op_q == Write) ? Work : Request;
        else if (mmu_req_ready_i) state_q <= Await;
        Await:
        if (mmu_rsp_valid_i) begin
          if (mmu_rsp_fault_i != 3'(ap1000p_pkg::FaultNone)) state_q <= Fault;
          else state_q <= (op_q == Write) ? Work : Request;
        end
        Request: if (mem_rd_cmd_ready_i) state_q <= Fetch;
        Fetch: if (mem_rd_data_valid_i) state_q <= mem_rd_data_err_i ? Idle : Work;
        Work: state_q <= changes ? Command : Idle;
        Command: if (mem_wr_cmd_ready_i) state_q <= Data;
        Data: if (mem_wr_data_ready_i) state_q <= Written;
        Written: if (mem_wr_rsp_valid_i) state_q <= Idle;
        default:
        if (abort_i) state_q <= Idle;
        else if (retry_i) state_q <= Lookup;
      endcase
    end
  end

  assign mmu_req_valid_o = state_q == Lookup && !physical_q && !odd;
  assign mmu_req_context_o = context_q;
  assign mmu_req_addr_o = addr_q;
  assign mmu_req_write_o = op_q != Read;
  assign mmu_req_system_o = system_q;
  assign mmu_rsp_ready_o = state_q == Await;
  assign fault_valid_o = state_q == Fault;
  assign fault_reason_o = reason_q;
  assign fault_context_o = context_q;
  assign fault_addr_o = addr_q;
  assign fault_write_o = op_q != Read;
  assign fault_system_o = system_q;
  assign mem_rd_cmd_valid_o = state_q == Request;
  assign mem_rd_cmd_addr_o = mem_addr_q;
  assign mem_rd_cmd_len_o = '0;
  assign mem_rd_data_ready_o = state_q == Fetch;
  assign mem_wr_cmd_valid_o = state_q == Command;
  assign mem_wr_cmd_addr_o = mem_addr_q;
  assign mem_wr_cmd_len_o = '0;
  assign mem_wr_data_valid_o = state_q == Data;
  assign mem_wr_data_data_o = new_q;
  assign mem_wr_data_strb_o = (op_q == Write) ? strb_q : '1;
  assign mem_wr_data_last_o = 1'b1;
  assign mem_wr_rsp_ready_o = state_q == Written;
  assign busy_o = state_q != Idle || rsp_valid_o != '0;

  logic unused_last;
  assign unused_last = mem_rd_data_last_i;

`ifdef TSUNAGI_ASSERT
  mem_read_rules #(
      .Outstanding(1)
  ) u_reads (
      .clk_i,
      .rst_i,
      .cmd_valid_i (mem_rd_cmd_valid_o),
      .cmd_ready_i (mem_rd_cmd_ready_i),
      .cmd_len_i   (mem_rd_cmd_len_o),
      .data_valid_i(mem_rd_data_valid_i),
      .data_ready_i(mem_rd_data_ready_o),
      .data_last_i (mem_rd_data_last_i)
  );
  mem_write_rules u_writes (
      .clk_i,
      .rst_i,
      .data_valid_i(mem_wr_data_valid_o),
      .data_ready_i(mem_wr_data_ready_i),
      .data_last_i (mem_wr_data_last_o),
      .rsp_valid_i (mem_wr_rsp_valid_i),
      .rsp_ready_i (mem_wr_rsp_ready_o)
  );
`endif
endmodule
