// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MC, memory management: translates a context's logical addresses to addresses of cell memory, with two TLBs
// and a table walker.
//
// Handshake  two clients (0 send, 1 receive), each a request (valid/ready), then its response (valid until taken), then
//            the next request. One lookup at a time; a client that waits is passed over by at most one of the other's.
//            A response that is not taken holds the next lookup, and a demap.
// Response   `rsp_fault_o` of 0: `rsp_addr_o` is where the byte lies. Otherwise it is the reason (regs.toml), and the
//            address means nothing.
// TLBs       256 entries of 4 KB, at address[19:12]; 64 of 256 KB, at address[23:18]; direct-mapped, tagged with
//            context and the rest of the address. If both hit, the 4 KB page counts. A page of 16 MB is entered 256 KB
//            at a time.
// Walk       on a miss: context table, then 256, 64 and 64 entries of one word. The context table's word of the last
//            context walked is kept. Entries and this word stay until replaced or demapped, whatever becomes of the
//            tables. A fault enters nothing.
// Demap      forgets the entries of `demap_addr_i` in both TLBs, of any context; with `demap_all_i` everything, and the
//            word kept. It begins between two lookups, before those that wait. When `demap_ready_o` takes it, no later
//            lookup finds an old entry. Between two demaps a waiting lookup has its turn.
// Latency    3 cycles from request to response on a hit. The request goes into flip-flops, the response is there late
//            in its cycle. A walk adds 3 cycles for each read, the memory's time beyond one from command to word, and 4
//            if a page is entered.
// Memory     one word a command, one command at a time.
// Reset      forgets everything: requests wait for 256 cycles. The memory must forget the command, too.
// miss_o     pulse: a walk begins.
// busy_o     low: without a request and a demap nothing changes.
// Misuse     another context table before a demap of everything has been taken: old and new translations mix.
// Source     64 entries of 256 KB and 256 of 4 KB, context in the command, translation on both sides by hardware: paper
//            2.2.1, 3.2. Index and tag of the 4 KB TLB, shape of the tables: the machine's Linux port. Words and
//            rights: SPARC reference MMU. Index of the 256 KB TLB, word kept, demap, faults: own guess. Referenced and
//            modified bits are left to software.
module ap1000p_mmu #(
    parameter int MemW  = 26,  // bits of an address in cell memory, 24 to 32
    parameter int DataW = 64   // bits of a bus word, 32 or 64
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,
    output logic miss_o,

    input logic [31:0] table_i,  // address of the context table, a multiple of 16 KB

    input logic [1:0] req_valid_i,
    output logic [1:0] req_ready_o,
    input logic [1:0][11:0] req_context_i,
    input logic [1:0][31:0] req_addr_i,
    input logic [1:0] req_write_i,
    input logic [1:0] req_system_i,  // with the rights of a supervisor
    output logic [1:0] rsp_valid_o,
    input logic [1:0] rsp_ready_i,
    output logic [1:0][31:0] rsp_addr_o,
    output logic [1:0][2:0] rsp_fault_o,

    input logic demap_valid_i,
    output logic demap_ready_o,
    input logic demap_all_i,
    input logic [31:0] demap_addr_i,

    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [31:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    input logic mem_data_valid_i,
    output logic mem_data_ready_o,
    input logic [DataW-1:0] mem_data_data_i,
    input logic mem_data_last_i,
    input logic mem_data_err_i
);
  if (MemW < 24 || MemW > 32) begin : gen_bad_mem
    ap1000p_mmu_MemW_must_be_24_to_32 u_bad ();
  end
  if (DataW != 32 && DataW != 64) begin : gen_bad_data
    ap1000p_mmu_DataW_must_be_32_or_64 u_bad ();
  end

  localparam int SpaceW = 36 - MemW;
  // The bits above an address in cell memory.
  localparam logic [SpaceW-1:0] Space = SpaceW'(ap1000p_pkg::CellSpace) << (32 - MemW);

  localparam logic [2:0] None = 3'(ap1000p_pkg::FaultNone);

  // Whether a page's access field allows the access.
  function automatic logic allows(input logic [2:0] access, input logic system, input logic write);
    case (access)
      3'd0, 3'd2: allows = !write;
      3'd1, 3'd3: allows = 1'b1;
      3'd4: allows = 1'b0;  // execute only
      3'd5: allows = system || !write;
      3'd6: allows = system && !write;
      default: allows = system;
    endcase
  endfunction

  typedef enum logic [3:0] {
    Sweep,   // forget everything, a place a cycle
    Forget,  // one entry of each TLB
    Idle,    // a lookup begins: both TLBs are read
    Match,
    Judge,
    Read,    // a word of a table
    Await,
    Step,    // the word is judged
    Enter,   // the page, into its TLB
    Again    // the TLBs are read
  } state_e;
  state_e state_q;

  // ---------------------------------------------------------------------------------------------------------- requests
  localparam int RequestW = 12 + 32 + 1 + 1;
  logic [1:0][RequestW-1:0] offered, kept_q;
  logic [1:0] taken_q;  // requests without a taken response
  logic [1:0] new_q;  // of these, not begun
  logic who_q, who, begins, done, taken, reported_q;
  logic [ 2:0] fault;
  logic [11:0] lookup_context;
  logic [31:0] lookup_addr;  // address
  logic lookup_write, lookup_system;
  for (genvar c = 0; c < 2; c++) begin : gen_offered
    assign offered[c] = {req_context_i[c], req_addr_i[c], req_write_i[c], req_system_i[c]};
  end
  assign req_ready_o = ~taken_q;
  // Not the same client twice if the other waits.
  assign who = (state_q == Idle && new_q[!who_q]) ? !who_q : who_q;
  assign {lookup_context, lookup_addr, lookup_write, lookup_system} = kept_q[who];
  assign begins = state_q == Idle && new_q != '0 && (!demap_valid_i || reported_q);

  // -------------------------------------------------------------------------------------------------------------- TLBs
  localparam int SmallW = MemW - 12;  // bits of a page's number in cell memory
  localparam int LargeW = MemW - 18;
  localparam int SmallEntryW = 1 + 3 + 24 + SmallW;  // {valid, access, address[31:20], context, page}
  localparam int LargeEntryW = 1 + 3 + 20 + LargeW;  // {valid, access, address[31:24], context, page}
  // An entry is never read in the cycle it is written.
  (* ram_style = "block", no_rw_check *)logic [SmallEntryW-1:0] small_q[256];
  (* ram_style = "block", no_rw_check *)logic [LargeEntryW-1:0] large_q[ 64];
  logic [SmallEntryW-1:0] small_read_q, small_entry;
  logic [LargeEntryW-1:0] large_read_q, large_entry;
  logic small_write, large_write;
  logic [7:0] small_index, sweep_q;
  logic [5:0] large_index;

  logic small_valid, large_valid;
  logic [2:0] small_access, large_access;
  logic [23:0] small_tag, small_want;
  logic [19:0] large_tag, large_want;
  logic [SmallW-1:0] small_page, small_page_q;
  logic [LargeW-1:0] large_page, large_page_q;
  assign {small_valid, small_access, small_tag, small_page} = small_read_q;
  assign {large_valid, large_access, large_tag, large_page} = large_read_q;
  assign small_want = {lookup_addr[31:20], lookup_context};
  assign large_want = {lookup_addr[31:24], lookup_context};
  // Tags are compared in two cycles: four bits each, then all.
  logic [5:0] small_same_q;
  logic [4:0] large_same_q;
  logic small_valid_q, large_valid_q, small_allows_q, large_allows_q, small_hit, large_hit, allowed;
  logic [31:0] found;
  assign small_hit = small_valid_q && small_same_q == '1;
  assign large_hit = large_valid_q && large_same_q == '1;
  assign allowed = small_hit ? small_allows_q : large_allows_q;
  assign found = small_hit ? 32'({small_page_q, lookup_addr[11:0]}) : 32'({large_page_q, lookup_addr[17:0]});

  // -------------------------------------------------------------------------------------------------------------- walk
  logic [1:0] level_q;  // 0 context table, 1 to 3 the others
  logic [31:0] word, word_q;
  logic err_q, root_valid_q, root_same, enters;
  logic [11:0] root_context_q;
  logic [MemW-1:8] root_q, next;
  if (DataW == 64) begin : gen_half
    assign word = mem_cmd_addr_o[2] ? mem_data_data_i[63:32] : mem_data_data_i[31:0];
  end else begin : gen_word
    assign word = mem_data_data_i;
  end
  assign root_same = root_valid_q && root_context_q == lookup_context;
  // The next table's address: its bits 35:6 are in 31:2 of the word.
  assign next = (state_q == Judge) ? root_q : word_q[MemW-5:4];

  always_comb begin
    fault  = None;
    enters = 1'b0;
    if (err_q) fault = 3'(ap1000p_pkg::FaultBus);
    else begin
      case (word_q[1:0])
        2'(ap1000p_pkg::EntryNone): fault = 3'(ap1000p_pkg::FaultPage);
        2'(ap1000p_pkg::EntryTable): if (level_q == 2'd3) fault = 3'(ap1000p_pkg::FaultTable);
        2'(ap1000p_pkg::EntryPage):
        if (level_q == 2'd0) fault = 3'(ap1000p_pkg::FaultTable);
        else enters = 1'b1;
        default: fault = 3'(ap1000p_pkg::FaultTable);
      endcase
      if (fault == None && word_q[31:MemW-4] != Space) fault = 3'(ap1000p_pkg::FaultOutside);
    end
    if (state_q == Judge) fault = allowed ? None : 3'(ap1000p_pkg::FaultAccess);
  end
  assign done  = (state_q == Judge && (small_hit || large_hit)) || (state_q == Step && fault != None);
  assign taken = done && rsp_ready_i[who_q];
  for (genvar c = 0; c < 2; c++) begin : gen_response
    assign rsp_valid_o[c] = done && who_q == c[0];
    assign rsp_addr_o[c]  = found;
    assign rsp_fault_o[c] = fault;
  end

  // ------------------------------------------------------------------------------------------------------------ writes
  always_comb begin
    small_write = state_q == Sweep || state_q == Forget || (state_q == Enter && level_q == 2'd3);
    large_write = state_q == Sweep || state_q == Forget || (state_q == Enter && level_q != 2'd3);
    small_index = lookup_addr[19:12];
    large_index = lookup_addr[23:18];
    small_entry = {1'b1, word_q[4:2], small_want, word_q[MemW-5:8]};
    large_entry = {1'b1, word_q[4:2], large_want, word_q[MemW-5:14]};
    // Of 16 MB, the 256 KB of the address.
    if (level_q == 2'd1) large_entry[5:0] = lookup_addr[23:18];
    if (state_q == Sweep) {small_index, large_index} = {sweep_q, sweep_q[5:0]};
    if (state_q == Forget) {small_index, large_index} = {demap_addr_i[19:12], demap_addr_i[23:18]};
    if (state_q != Enter) begin
      small_entry = '0;
      large_entry = '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (small_write) small_q[small_index] <= small_entry;
    if (large_write) large_q[large_index] <= large_entry;
    if (begins || state_q == Again) begin
      small_read_q <= small_q[lookup_addr[19:12]];
      large_read_q <= large_q[lookup_addr[23:18]];
    end
    for (int i = 0; i < 6; i++) begin
      small_same_q[i] <= small_tag[4*i+:4] == small_want[4*i+:4];
    end
    for (int i = 0; i < 5; i++) begin
      large_same_q[i] <= large_tag[4*i+:4] == large_want[4*i+:4];
    end
    small_valid_q  <= small_valid;
    large_valid_q  <= large_valid;
    small_allows_q <= allows(small_access, lookup_system, lookup_write);
    large_allows_q <= allows(large_access, lookup_system, lookup_write);
    small_page_q   <= small_page;
    large_page_q   <= large_page;
  end

  // ----------------------------------------------------------------------------------------------------------- clients
  always_ff @(posedge clk_i) begin
    for (int c = 0; c < 2; c++) begin
      if (!taken_q[c]) kept_q[c] <= offered[c];
      if (rst_i) begin
        taken_q[c] <= 1'b0;
        new_q[c]   <= 1'b0;
      end else begin
        taken_q[c] <= taken_q[c] ? !(taken && who_q == c[0]) : req_valid_i[c];
        new_q[c]   <= taken_q[c] ? new_q[c] && !(begins && who == c[0]) : req_valid_i[c];
      end
    end
  end

  // ----------------------------------------------------------------------------------------------------------- control
  logic all_q;  // the sweep is a demap's
  always_ff @(posedge clk_i) begin
    reported_q <= 1'b0;
    miss_o <= 1'b0;
    case (state_q)
      Sweep: begin
        sweep_q <= sweep_q + 8'd1;
        if (sweep_q == '1) begin
          state_q <= Idle;
          reported_q <= all_q;
        end
      end
      Forget: begin
        state_q <= Idle;
        reported_q <= 1'b1;
      end
      Idle:
      if (demap_valid_i && !reported_q) begin
        state_q <= demap_all_i ? Sweep : Forget;
        all_q <= 1'b1;
        root_valid_q <= 1'b0;
      end else if (begins) begin
        who_q   <= who;
        state_q <= Match;
      end
      Match: state_q <= Judge;
      Judge:
      if (!done) begin
        miss_o <= 1'b1;
        state_q <= Read;
        level_q <= root_same ? 2'd1 : 2'd0;
        mem_cmd_addr_o <= root_same ? 32'({next[MemW-1:10], lookup_addr[31:24], 2'b0})
                                    : {table_i[31:14], lookup_context, 2'b0};
      end
      Read: if (mem_cmd_ready_i) state_q <= Await;
      Await:
      if (mem_data_valid_i) begin
        word_q  <= word;
        err_q   <= mem_data_err_i;
        state_q <= Step;
      end
      Step: begin
        if (!done) state_q <= enters ? Enter : Read;
        if (!done && !enters) begin
          level_q <= level_q + 2'd1;
          case (level_q)
            2'd0: mem_cmd_addr_o <= 32'({next[MemW-1:10], lookup_addr[31:24], 2'b0});
            2'd1: mem_cmd_addr_o <= 32'({next, lookup_addr[23:18], 2'b0});
            default: mem_cmd_addr_o <= 32'({next, lookup_addr[17:12], 2'b0});
          endcase
          if (level_q == 2'd0) begin
            root_valid_q <= 1'b1;
            root_context_q <= lookup_context;
            root_q <= next;
          end
        end
      end
      Enter: state_q <= Again;
      default: state_q <= Match;
    endcase
    if (taken) state_q <= Idle;
    if (rst_i) begin
      state_q <= Sweep;
      sweep_q <= '0;
      all_q <= 1'b0;
      root_valid_q <= 1'b0;
      reported_q <= 1'b0;
      miss_o <= 1'b0;
      who_q <= 1'b0;
    end
  end
  assign mem_cmd_valid_o = state_q == Read;
  assign mem_cmd_len_o = '0;
  assign mem_data_ready_o = state_q == Await;
  assign demap_ready_o = reported_q;
  assign busy_o = state_q != Idle || taken_q != '0;

  logic [34:0] unused;
  assign unused = {table_i[13:0], mem_data_last_i, demap_addr_i[31:24], demap_addr_i[11:0]};

`ifdef TSUNAGI_ASSERT
  mem_read_rules #(
      .Outstanding(1)
  ) u_memory (
      .clk_i,
      .rst_i,
      .cmd_valid_i (mem_cmd_valid_o),
      .cmd_ready_i (mem_cmd_ready_i),
      .cmd_len_i   (mem_cmd_len_o),
      .data_valid_i(mem_data_valid_i),
      .data_ready_i(mem_data_ready_o),
      .data_last_i (mem_data_last_i)
  );
`endif
endmodule
