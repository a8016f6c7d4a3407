// CP-PACS NIA, tables: send rights and communication fields.
//
// Host       one access at a time: `host_valid_i` and what goes with it hold until `host_done_o`, which pulses with
//            `host_rdata_o`. A word has 64 bits; `host_index_i` is below Rights or Fields. 8 cycles at most.
// Lookup     ports 0 data receiver, 1 acknowledge receiver, 2 fetch. A port takes a lookup, and is not ready until
//            `look_for_o` of the port pulses; the outputs hold in that cycle. Field: `look_first_o` is STATE,
//            `look_second_o` EXTENT, `look_flag_o` its flag's address, `look_count_o` its count. Port 2 looks up a
//            right when `look_right_i`: `look_first_o` is PLACE, `look_flag_o` its SIZE. An index that does not exist
//            gives ENABLED or VALID 0. Bits that the layout does not have are as they were written.
// Order      a lookup sees all host writes that were done, and all counts and shuts that were given, before it was
//            taken. Counts, shuts and the host go first, then the ports in turn.
// Latency    6 cycles from lookup to result if nothing else is under way; a lookup each 5 cycles.
// Count      `count_valid_i` adds 1 to the count of field `told_index_i`, `shut_valid_i` clears its ENABLED. Always
//            taken; a channel gives one of the two, and the next one 16 cycles later or more.
// Gone       `open_i` with `open_index_i`: the channel has a message for this field under way; from the cycle after
//            `look_for_o` on. A host write of STATE of an open field makes `gone_o` pulse, with `host_done_o`.
//            Writing STATE sets the count to 0.
// Reset      clears ENABLED and VALID of all entries, one a cycle. Until then lookups and the host wait.
// busy_o     low when nothing is under way.
// Source     rights, fields, descriptors: paper, section 3. Layout and ports are ours.
module cppacs_tables #(
    parameter int Rights = 512,  // power of two, 16..1024
    parameter int Fields = 512   // power of two, 16..1024
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic host_valid_i,
    input logic host_write_i,
    input logic host_right_i,  // 0 field, 1 right
    input logic [9:0] host_index_i,
    input logic [1:0] host_word_i,
    input logic [63:0] host_wdata_i,
    output logic host_done_o,
    output logic [63:0] host_rdata_o,

    input logic [2:0] look_valid_i,
    output logic [2:0] look_ready_o,
    input logic [2:0][9:0] look_index_i,
    input logic look_right_i,
    output logic [2:0] look_for_o,
    output logic [63:0] look_first_o,
    output logic [63:0] look_second_o,
    output logic [31:0] look_flag_o,
    output logic [31:0] look_count_o,

    input logic [1:0] count_valid_i,
    input logic [1:0] shut_valid_i,
    input logic [1:0][9:0] told_index_i,  // of either
    input logic [1:0] open_i,
    input logic [1:0][9:0] open_index_i,
    output logic [1:0] gone_o
);
  localparam int Entries = (Rights > Fields) ? Rights : Fields;
  localparam int IndexW = $clog2(Entries);
  localparam int Valid = cppacs_pkg::RightPlaceValidLsb;

  if (Rights < 16 || Rights > 1024 || (1 << $clog2(Rights)) != Rights) begin : gen_bad_rights
    cppacs_tables_Rights_must_be_a_power_of_two_from_16_to_1024 u_bad ();
  end
  if (Fields < 16 || Fields > 1024 || (1 << $clog2(Fields)) != Fields) begin : gen_bad_fields
    cppacs_tables_Fields_must_be_a_power_of_two_from_16_to_1024 u_bad ();
  end

  // --------------------------------------------------------------------------------------- what is to be done, by whom
  // Step 0 selects it, and then its entry. In step 1 the memories are read, in step 2 once more, for the second word of
  // a lookup; in step 3 they are written.
  logic init_q, picked_q, begins, host, right_q, at_right_q, is_host_q;
  logic [1:0] step_q, count_q, shut_q, told, is_told_q;
  logic [1:0][9:0] count_at_q;
  logic [2:0] look_q, fresh, pool, look, is_look_q, served_q;  // served: in this round
  logic [2:0][9:0] look_at_q;
  logic [9:0] at, at_q;
  logic [IndexW:0] next;  // to be cleared

  assign begins = step_q == 2'd0 && picked_q;
  assign told   = count_q | shut_q;
  assign host   = host_valid_i && !host_done_o && told == '0;
  assign fresh  = look_q & ~served_q;
  assign pool   = (fresh != '0) ? fresh : look_q;
  assign look   = (host || told != '0) ? 3'd0 : pool & (~pool + 3'd1);
  assign next   = {at_right_q, at_q[IndexW-1:0]} + (IndexW + 1)'(1);
  always_comb begin
    at = host_index_i & {10{is_host_q}};
    for (int c = 0; c < 2; c++) at |= count_at_q[c] & {10{is_told_q[c]}};
    for (int p = 0; p < 3; p++) at |= look_at_q[p] & {10{is_look_q[p]}};
  end

  assign look_ready_o = ~look_q;

  always_ff @(posedge clk_i) begin
    for (int c = 0; c < 2; c++) if (!told[c]) count_at_q[c] <= told_index_i[c];
    for (int p = 0; p < 3; p++) if (!look_q[p]) look_at_q[p] <= look_index_i[p];
    if (!look_q[2]) right_q <= look_right_i;
    if (init_q) {at_right_q, at_q} <= {next[IndexW], 10'(next[IndexW-1:0])};
    else if (begins) {at_right_q, at_q} <= {(is_host_q && host_right_i) || (is_look_q[2] && right_q), at};
    if (step_q == 2'd0 && !picked_q) begin
      is_told_q <= {told[1] && !told[0], told[0]};
      is_host_q <= host;
      is_look_q <= look;
      if (look != '0) served_q <= ((fresh != '0) ? served_q : '0) | look;
    end
    if (rst_i) begin
      {init_q, picked_q, step_q} <= 4'b1000;
      {at_right_q, at_q} <= '0;
      {count_q, shut_q, look_q, served_q} <= '0;
    end else begin
      init_q   <= init_q && next != '0;
      picked_q <= step_q == 2'd0 && !picked_q && !init_q && (host || {told, look_q} != '0);
      step_q   <= (step_q == 2'd0 && !picked_q) ? 2'd0 : step_q + 2'd1;
      count_q  <= count_valid_i | (count_q & ~(is_told_q &{2{step_q == 2'd3}}));
      shut_q   <= shut_valid_i | (shut_q & ~(is_told_q &{2{step_q == 2'd3}}));
      look_q   <= (look_q | look_valid_i) & ~(is_look_q &{3{step_q == 2'd3}});
    end
  end

  // ------------------------------------------------------------------------------------------------------ the memories
  // STATE, PLACE, EXTENT; FLAG, LIMIT; counts; ENABLED, VALID. None is read where it is written in the same cycle.
  (* ram_style = "block", no_rw_check *) logic [63:0] wide_q[4*Entries];
  (* ram_style = "block", no_rw_check *) logic [31:0] narrow_q[2*Entries];
  (* ram_style = "block", no_rw_check *) logic [31:0] counts_q[Entries];
  (* ram_style = "block", no_rw_check *) logic valids_q[2*Entries];
  logic [63:0] wide;
  logic [31:0] narrow, count, added_q;
  logic valid, write, first_write, state_write, extent_write, narrow_write, is_extent, is_narrow;
  logic allows;
  logic [IndexW-1:0] slot;
  logic [IndexW:0] entry;
  assign slot = at_q[IndexW-1:0];
  assign entry = {at_right_q, slot};
  // Where the host's word stands.
  assign is_extent = host_word_i == 2'd1 && !host_right_i;
  assign is_narrow = host_word_i[1] || (host_word_i[0] && host_right_i);
  assign write = step_q == 2'd3 && is_host_q && host_write_i;
  assign first_write = write && host_word_i == 2'd0;
  assign state_write = first_write && !host_right_i;
  assign extent_write = write && is_extent;
  assign allows = host_right_i ? host_wdata_i[Valid] : host_wdata_i[cppacs_pkg::FieldStateEnabledLsb];
  assign narrow_write = write && is_narrow && host_word_i != 2'd3;

  always_ff @(posedge clk_i) begin
    wide   <= wide_q[{step_q[1]||(is_host_q&&is_extent), entry}];
    narrow <= narrow_q[entry];
    count  <= counts_q[slot];
    valid  <= valids_q[entry];
    if (first_write || extent_write) wide_q[{is_extent, entry}] <= host_wdata_i;
    if (narrow_write) narrow_q[entry] <= host_wdata_i[31:0];
    if (state_write || (step_q == 2'd3 && (is_told_q & count_q) != '0)) counts_q[slot] <= added_q;
    if (init_q || first_write || (step_q == 2'd3 && (is_told_q & shut_q) != '0))
      valids_q[entry] <= allows && !init_q && is_host_q;
  end

  // ------------------------------------------------------------------------------------------------------- the answers
  logic exists;
  logic [63:0] first;
  assign exists = at_right_q ? 32'(at_q) < Rights : 32'(at_q) < Fields;
  always_comb begin
    first = wide;
    if (at_right_q) first[Valid] = valid && exists;
    else if (!(is_host_q && is_extent)) first[cppacs_pkg::FieldStateEnabledLsb] = valid && exists;
  end

  always_ff @(posedge clk_i) begin
    if (step_q == 2'd2) begin
      look_first_o <= first;
      look_flag_o <= narrow;
      look_count_o <= count;
      host_rdata_o[31:0] <= is_narrow ? narrow : first[31:0];
      host_rdata_o[63:32] <= wide[63:32];
      if (is_narrow) host_rdata_o[63:32] <= '0;
      if (host_word_i == 2'd3) host_rdata_o[31:0] <= '0;
    end
    added_q <= count + 32'd1;
    if (is_host_q) added_q <= '0;
    look_second_o <= wide;
    look_for_o <= rst_i ? 3'd0 : is_look_q & {3{step_q == 2'd3}};
    host_done_o <= step_q == 2'd3 && is_host_q && !rst_i;
    for (int c = 0; c < 2; c++) gone_o[c] <= state_write && open_i[c] && open_index_i[c] == at_q && !rst_i;
  end

  assign busy_o = init_q || picked_q || step_q != 2'd0 || {count_q, shut_q, look_q, look_for_o} != '0 || host_done_o;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (((count_valid_i | shut_valid_i) & told) == '0);
      assert ((count_valid_i & shut_valid_i) == '0);
      assert (!host_valid_i || 32'(host_index_i) < (host_right_i ? Rights : Fields));
    end
  end
`endif
endmodule
