// SPDX-License-Identifier: MIT OR Apache-2.0
// `dimmnet1_tlb` answers a lookup once, only as the tables say, and allows no byte outside of the bound, the page and
// the rights.
//
// This is proved of one region and one virtual page of one PGID, any: their entries are those that were written last,
// unless an entry of the same index, a removal, a flush or a reset came since. Bytes to be allowed lie within BOUND, in
// one page of OFFSET, and in LLCM if the region is there; the right of the access is set. A cell may lie across pages,
// whatever its rights, but in LLCM alone. The address is BASE and OFFSET say, through PATLB's frame. A lookup sees each
// table at one moment between its request and its response. Reasons, misses and keys are exact. Without writes a
// response comes at most 3 cycles after its request.
//
// Assumed: a client holds its request, of 1 to 4096 bytes.
module prove_dimmnet1_tlb (
    input logic clk_i,
    input logic rst_i,
    input logic rva_valid_i,
    input logic [63:0] rva_key_i,
    input logic [63:0] rva_base_i,
    input logic [63:0] rva_bound_i,
    input logic pa_valid_i,
    input logic [63:0] pa_key_i,
    input logic [63:0] pa_frame_i,
    input logic flush_i,
    input logic [1:0] req_valid_i,
    input logic [1:0][15:0] req_pgid_i,
    input logic [1:0][15:0] req_region_i,
    input logic [1:0][47:0] req_offset_i,
    input logic [1:0][12:0] req_bytes_i,
    input logic [1:0][1:0] req_kind_i
);
  logic busy;
  logic [1:0] req_ready, rsp_valid, rsp_miss;
  logic [31:0] rsp_addr;
  logic [ 3:0] rsp_reason;
  logic [63:0] rsp_key;

  dimmnet1_tlb dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .rva_valid_i,
      .rva_key_i,
      .rva_base_i,
      .rva_bound_i,
      .pa_valid_i,
      .pa_key_i,
      .pa_frame_i,
      .flush_i,
      .req_valid_i,
      .req_ready_o(req_ready),
      .req_pgid_i,
      .req_region_i,
      .req_offset_i,
      .req_bytes_i,
      .req_kind_i,
      .rsp_valid_o(rsp_valid),
      .rsp_addr_o(rsp_addr),
      .rsp_reason_o(rsp_reason),
      .rsp_miss_o(rsp_miss),
      .rsp_key_o(rsp_key)
  );

  power_up u_power_up (.*);
  for (genvar k = 0; k < 2; k++) begin : gen_client
    stream_rules #(
        .W(95),
        .Assume(1'b1)
    ) u_source (
        .clk_i,
        .rst_i,
        .valid_i(req_valid_i[k]),
        .ready_i(req_ready[k]),
        .data_i ({req_pgid_i[k], req_region_i[k], req_offset_i[k], req_bytes_i[k], req_kind_i[k]})
    );
    always_ff @(posedge clk_i)
      if (!rst_i) begin
        some_bytes : assume (!req_valid_i[k] || (req_bytes_i[k] != '0 && req_bytes_i[k] <= 13'd4096));
      end
  end

  // The states, in the order of the block's list.
  localparam int Idle = 0;
  localparam int Again = 1;
  localparam int Region = 2;
  localparam int Frame = 3;
  int state;
  assign state = dut.idle_q ? Idle : dut.again_q ? Again : dut.look_q ? Region : Frame;

  // The region and the page that are followed: registers that keep their initial value.
  logic [15:0] of_pgid_q, of_region_q;
  logic [27:0] of_page_q;
  logic [5:0] rva_index, pa_index;
  always_ff @(posedge clk_i) begin
    of_pgid_q   <= of_pgid_q;
    of_region_q <= of_region_q;
    of_page_q   <= of_page_q;
  end
  assign rva_index = of_region_q[5:0] ^ of_pgid_q[5:0];
  assign pa_index  = of_page_q[5:0] ^ of_pgid_q[5:0];

  // --------------------------------------------------------------------------------------------------- the two entries
  typedef struct packed {
    logic [27:0] base;
    logic llcm;
    logic otf;
    logic write;
    logic read;
    logic [32:0] bound;
  } region_t;
  logic region_known_q, page_known_q;
  region_t region_q;
  logic [19:0] frame_q;
  always_ff @(posedge clk_i) begin
    if (rva_valid_i && (rva_key_i[21:16] ^ rva_key_i[5:0]) == rva_index) begin
      region_known_q <= rva_key_i[63] && rva_key_i[31:0] == {of_region_q, of_pgid_q};
      region_q <= {rva_base_i[27:0], rva_base_i[63:60], rva_bound_i[32:0]};
    end
    if (pa_valid_i && (pa_key_i[5:0] ^ pa_key_i[37:32]) == pa_index) begin
      page_known_q <= pa_key_i[63] && pa_key_i[27:0] == of_page_q && pa_key_i[47:32] == of_pgid_q;
      frame_q <= pa_frame_i[19:0];
    end
    if (rst_i || flush_i) begin
      region_known_q <= 1'b0;
      page_known_q   <= 1'b0;
    end
  end

  // ------------------------------------------------------------------------------------------- the lookup under way
  logic open_q, who_q, taken, responds, known_q, found_q;
  logic [15:0] pgid_q, lookup_q;
  logic [47:0] offset_q;
  logic [12:0] bytes_q;
  logic [1:0] kind_q, wait_q;  // wait: cycles without a write, from the request on
  region_t seen_q;  // its entries, when the tables were read
  logic [19:0] seen_frame_q;
  assign taken = (req_valid_i & req_ready) != '0;
  assign responds = rsp_valid != '0;
  always_ff @(posedge clk_i) begin
    open_q <= (taken || (open_q && !responds)) && !rst_i;
    if (taken) begin
      who_q <= req_ready[1];
      {pgid_q, lookup_q} <= {req_pgid_i[req_ready[1]], req_region_i[req_ready[1]]};
      {offset_q, bytes_q} <= {req_offset_i[req_ready[1]], req_bytes_i[req_ready[1]]};
      kind_q <= req_kind_i[req_ready[1]];
    end
    if (dut.rva_read) begin
      known_q <= region_known_q && !flush_i;
      seen_q  <= region_q;
    end
    if (dut.pa_read) begin
      found_q <= page_known_q && !flush_i;
      seen_frame_q <= frame_q;
    end
    wait_q <= (taken ? '0 : wait_q) + 2'(!(rva_valid_i || pa_valid_i));
  end

  // What it should be told.
  logic ours, may, fits, in_page, page_ours;
  logic [49:0] stop;
  logic [27:0] page;
  logic [14:0] llcm_base;
  assign ours = {lookup_q, pgid_q} == {of_region_q, of_pgid_q};
  assign in_page = kind_q == 2'd3 || 13'(offset_q[11:0]) + bytes_q <= 13'd4096;
  always_comb begin
    case (kind_q)
      2'd0: may = seen_q.write;
      2'd1: may = seen_q.read;
      2'd2: may = seen_q.otf && seen_q.llcm;
      default: may = seen_q.llcm;  // a cell
    endcase
  end
  assign stop = 50'(offset_q) + 50'(bytes_q);
  assign llcm_base = {1'b0, seen_q.base[13:3], 3'b0};
  assign fits = stop <= 50'(seen_q.bound) && in_page &&
                  (!seen_q.llcm || (seen_q.base[27:14] == '0 && 50'(llcm_base) + stop <= 50'd16384));
  assign page = seen_q.base + 28'(offset_q >> 12);
  assign page_ours = page == of_page_q;

  logic ok;
  assign ok = rsp_miss == '0 && rsp_reason == '0;
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_answer : assert (!responds || (open_q && rsp_valid == (who_q ? 2'b10 : 2'b01)));
      in_time : assert (!(open_q && !responds) || wait_q <= 2'd2);
      within_bound : assert (!(responds && ours && ok) || (known_q && stop <= 50'(seen_q.bound)));
      within_page : assert (!(responds && ok) || in_page);
      within_rights : assert (!(responds && ours && ok) || may);
      within_llcm :
      assert (!(responds && ours && ok && seen_q.llcm) ||
              (rsp_addr == 32'hF000_0000 + 32'(llcm_base) + offset_q[31:0] &&
               rsp_addr[27:0] + 28'(bytes_q) <= 28'd16384));
      by_its_frame :
      assert (!(responds && ours && ok && !seen_q.llcm && page_ours) ||
              (found_q && rsp_addr == {seen_frame_q, offset_q[11:0]}));
      region_missed : assert (!(responds && ours) || rsp_miss[0] == !known_q);
      reason_exact :
      assert (!(responds && ours) || rsp_reason == (!known_q ? 4'd0 : !may ? 4'd2 : !fits ? 4'd3 : 4'd0));
      page_missed :
      assert (!(responds && ours && page_ours) || rsp_miss[1] == (known_q && may && fits && !seen_q.llcm && !found_q));
      key_as_written :
      assert (!(responds && ours && rsp_miss != '0) ||
              rsp_key == (rsp_miss[0] ? {1'b1, 31'b0, lookup_q, pgid_q} : {1'b1, 15'b0, pgid_q, 4'b0, page}));
      busy_tells : assert (busy || !open_q);
      // Invariants for induction.
      one_state : assert ($countones({dut.idle_q, dut.again_q, dut.look_q, dut.frame_q}) == 1);
      under_way : assert (open_q == (state != Idle || responds) && !(state != Idle && responds));
      kept :
      assert (state == Idle || {dut.client_q, dut.pgid_q, dut.region_q, dut.offset_q, dut.bytes_q, dut.kind_q} ==
              {who_q, pgid_q, lookup_q, offset_q, bytes_q, kind_q});
      some : assert (!open_q || (bytes_q != '0 && bytes_q <= 13'd4096));
      waited : assert (state == Idle || int'(wait_q) <= (state == Again ? 0 : state == Region ? 1 : 2));
      region_kept :
      assert (region_known_q == (dut.rva_set_q[rva_index] &&
                                 dut.rva_mem_q[rva_index][90:65] == {of_region_q[15:6], of_pgid_q}) &&
              (!region_known_q || dut.rva_mem_q[rva_index][64:0] == region_q));
      page_kept :
      assert (page_known_q == (dut.pa_set_q[pa_index] &&
                               dut.pa_mem_q[pa_index][57:20] == {of_page_q[27:6], of_pgid_q}) &&
              (!page_known_q || dut.pa_mem_q[pa_index][19:0] == frame_q));
      region_read :
      assert (!(state >= Region && ours) || (dut.known == known_q &&
 (!known_q || {dut.base, dut.in_llcm, dut.may_otf, dut.may_write, dut.may_read, dut.bound} == seen_q)));
      page_read :
      assert (!(state == Frame && ours) ||
              (known_q && may && fits && !seen_q.llcm && dut.page_q == page &&
               (!page_ours || (dut.found == found_q && (!found_q || dut.frame == seen_frame_q)))));
      waits_for_page : assert (state != Frame || (rsp_miss[0] == 1'b0 && rsp_reason == '0));
      all_in_page : assert (state != Frame || 13'(offset_q[11:0]) + bytes_q <= 13'd4096);
      // The claims are not vacuous.
      to_memory : cover (responds && ours && ok && !seen_q.llcm && page_ours && rsp_addr != '0);
      to_llcm : cover (responds && ours && ok && seen_q.llcm && rsp_addr[13:0] == 14'd16376);
      misses_page : cover (responds && ours && rsp_miss[1] && page_ours && page_known_q);
    end
  end
endmodule
