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
//            taken. Counts, shuts and the host go first, then the ports, the lowest number first.
// Latency    4 cycles from lookup to result if nothing else is under way; a lookup each 3 cycles.
// Count      `count_valid_i` adds 1 to a field's count, `shut_valid_i` clears its ENABLED. Always taken; a channel gives
//            the next one of the same kind 16 cycles later or more.
// Gone       `open_i` with `open_index_i`: the channel has a message for this field under way; from the cycle after
//            `look_for_o` on. A host write of STATE that clears ENABLED or changes KEY of an open field makes `gone_o`
//            pulse, with `host_done_o`. Writing STATE sets the count to 0.
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
    input logic [1:0][9:0] count_index_i,
    input logic [1:0] shut_valid_i,
    input logic [1:0][9:0] shut_index_i,
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

  // ----------------------------------------------------------------------------------------- what is to be done, by whom
  // In step 0 the memories read for the first who waits; in step 1 they give it, and are written; in step 2 they give
  // the second word of a lookup.
  logic init_q, right_q;
  logic [1:0] step_q, count_q, shut_q, do_count, do_shut;
  logic [1:0][9:0] count_at_q, shut_at_q;
  logic [2:0] look_q, do_look;
  logic [2:0][9:0] look_at_q;
  logic host, do_host, any, right, at_right_q, is_count_q, is_shut_q, is_host_q;
  logic [2:0] is_look_q;
  logic [9:0] at, at_q;

  assign host = host_valid_i && !host_done_o;
  assign do_count = {count_q[1] && !count_q[0], count_q[0]};
  assign do_shut = (count_q != '0) ? 2'b0 : {shut_q[1] && !shut_q[0], shut_q[0]};
  assign do_host = host && {count_q, shut_q} == '0;
  assign do_look = (host || {count_q, shut_q} != '0) ? 3'b0 : look_q & (~look_q + 3'd1);
  assign any = host || {count_q, shut_q, look_q} != '0;
  assign right = (do_host && host_right_i) || (do_look[2] && right_q);
  always_comb begin
    at = do_host ? host_index_i : '0;
    for (int c = 0; c < 2; c++) at |= (count_at_q[c] & {10{do_count[c]}}) | (shut_at_q[c] & {10{do_shut[c]}});
    for (int p = 0; p < 3; p++) at |= look_at_q[p] & {10{do_look[p]}};
  end

  assign look_ready_o = ~look_q;

  always_ff @(posedge clk_i) begin
    for (int c = 0; c < 2; c++) begin
      if (count_valid_i[c]) count_at_q[c] <= count_index_i[c];
      if (shut_valid_i[c]) shut_at_q[c] <= shut_index_i[c];
    end
    for (int p = 0; p < 3; p++) if (!look_q[p]) look_at_q[p] <= look_index_i[p];
    if (!look_q[2]) right_q <= look_right_i;
    if (step_q == 2'd0) begin
      at_q <= init_q ? at_q + 10'd1 : at;
      at_right_q <= init_q ? at_right_q ^ (&at_q[IndexW-1:0]) : right;
      {is_count_q, is_shut_q, is_host_q, is_look_q} <= {do_count != '0, do_shut != '0, do_host, do_look};
    end
    if (rst_i) begin
      init_q <= 1'b1;
      {at_right_q, at_q} <= '0;
      step_q <= 2'd0;
      {count_q, shut_q, look_q} <= '0;
    end else begin
      // The index of rights comes last.
      if (at_right_q && (&at_q[IndexW-1:0])) init_q <= 1'b0;
      case (step_q)
        2'd0: step_q <= {1'b0, any && !init_q};
        2'd1: step_q <= {is_look_q != '0, 1'b0};
        default: step_q <= 2'd0;
      endcase
      count_q <= count_valid_i | (count_q & ~(do_count &{2{step_q == 2'd0 && !init_q}}));
      shut_q  <= shut_valid_i | (shut_q & ~(do_shut &{2{step_q == 2'd0 && !init_q}}));
      look_q  <= (look_q | look_valid_i) & ~(is_look_q &{3{step_q == 2'd2}});
    end
  end

  // ------------------------------------------------------------------------------------------------------ the memories
  // STATE, EXTENT, PLACE; FLAG, LIMIT; counts; ENABLED, VALID. None is read where it is written in the same cycle.
  (* ram_style = "block", no_rw_check *) logic [63:0] wide_q[4*Entries];
  (* ram_style = "block", no_rw_check *) logic [31:0] narrow_q[2*Entries];
  (* ram_style = "block", no_rw_check *) logic [31:0] counts_q[Entries];
  (* ram_style = "block", no_rw_check *) logic valids_q[2*Entries];
  logic [63:0] wide;
  logic [31:0] narrow, count;
  logic valid, exists, exists_q, write, wide_write, state_write, first_write, narrow_write;
  logic [1:0] wide_part, part_q;  // 0 STATE, 1 EXTENT, 2 PLACE

  assign exists = right ? 32'(at) < Rights : 32'(at) < Fields;
  assign wide_part = right ? 2'd2 : ((do_host && host_word_i == 2'd1) ? 2'd1 : 2'd0);
  assign write = step_q == 2'd1 && is_host_q && host_write_i;
  assign first_write = write && host_word_i == 2'd0;
  assign state_write = first_write && !host_right_i;
  assign wide_write = first_write || (write && host_word_i == 2'd1 && !host_right_i);
  assign narrow_write = write && host_word_i == (host_right_i ? 2'd1 : 2'd2);

  always_ff @(posedge clk_i) begin
    wide   <= wide_q[(step_q==2'd0)?{wide_part, at[IndexW-1:0]} : {2'd1, at_q[IndexW-1:0]}];
    narrow <= narrow_q[{right, at[IndexW-1:0]}];
    count  <= counts_q[at[IndexW-1:0]];
    valid  <= valids_q[{right, at[IndexW-1:0]}];
    if (step_q == 2'd0) begin
      exists_q <= exists;
      part_q   <= wide_part;
    end
    if (wide_write) wide_q[{part_q, at_q[IndexW-1:0]}] <= host_wdata_i;
    if (narrow_write) narrow_q[{at_right_q, at_q[IndexW-1:0]}] <= host_wdata_i[31:0];
    if (state_write || (step_q == 2'd1 && is_count_q))
      counts_q[at_q[IndexW-1:0]] <= (count & {32{is_count_q}}) + 32'(is_count_q);
    if (init_q || first_write || (step_q == 2'd1 && is_shut_q))
      valids_q[{
        at_right_q, at_q[IndexW-1:0]
      }] <= !init_q && is_host_q &&
          (host_right_i ? host_wdata_i[Valid] : host_wdata_i[cppacs_pkg::FieldStateEnabledLsb]);
  end

  // ------------------------------------------------------------------------------------------------------- the answers
  logic [63:0] first;
  always_comb begin
    first = wide;
    if (at_right_q) first[Valid] = valid && exists_q;
    else first[cppacs_pkg::FieldStateEnabledLsb] = valid && exists_q;
  end

  logic closes;  // a write of STATE ends the message for it
  assign closes = !host_wdata_i[cppacs_pkg::FieldStateEnabledLsb] ||
      host_wdata_i[cppacs_pkg::FieldStateKeyLsb+:32] != wide[cppacs_pkg::FieldStateKeyLsb+:32];

  always_ff @(posedge clk_i) begin
    if (step_q == 2'd1) begin
      look_first_o <= first;
      look_flag_o  <= narrow;
      look_count_o <= count;
      if (host_word_i == 2'd0) host_rdata_o <= first;
      else if (host_word_i == 2'd1 && !host_right_i) host_rdata_o <= wide;
      else host_rdata_o <= host_word_i == 2'd3 ? 64'd0 : {32'd0, narrow};
    end
    look_second_o <= wide;
    look_for_o <= rst_i ? 3'd0 : is_look_q & {3{step_q == 2'd2}};
    host_done_o <= step_q == 2'd1 && is_host_q && !rst_i;
    for (int c = 0; c < 2; c++) gone_o[c] <= state_write && closes && open_i[c] && open_index_i[c] == at_q && !rst_i;
  end

  assign busy_o = init_q || step_q != 2'd0 || {count_q, shut_q, look_q, look_for_o} != '0 || host_done_o;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert ((count_valid_i & count_q) == '0);
      assert ((shut_valid_i & shut_q) == '0);
      assert (!host_valid_i || 32'(host_index_i) < (host_right_i ? Rights : Fields));
    end
  end
`endif
endmodule
