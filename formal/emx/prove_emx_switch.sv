// SPDX-License-Identifier: MIT OR Apache-2.0
// `emx_switch` carries each packet whole to the output that its path names, once, in the order of its input and
// channel.
//
// - Word 1 follows directly behind word 0, at every output. A packet begins only where there was room for it.
// - At an output it has the rest of its path, and the channel that its column makes. Nothing else of it changes.
// - Nothing is lost, doubled or invented. A packet with no path, and no other, is drained and counted.
//
// The claims on packets are about one input and channel, any of them. All packets that come there, for whatever output,
// are marked in word 0, and no others are: the switch does not look at the mark.
// Assumed: senders keep the rule of room; the column never changes.
module prove_emx_switch #(
    parameter int Packets = 2
) (
    input logic clk_i,
    input logic rst_i,
    input logic [1:0] link_in_valid_i,
    input logic [1:0][1:0] link_in_vc_i,
    input logic [1:0][38:0] link_in_data_i,
    input logic [1:0] link_in_last_i,
    input logic [1:0][2:0] link_out_room_i,
    input logic pe_in_valid_i,
    input logic [38:0] pe_in_data_i,
    input logic pe_in_last_i,
    input logic pe_out_room_i,
    input logic mark_i
);
  localparam int PtrW = Packets > 2 ? 2 : 1;
  localparam int Slots = 1 << PtrW;
  localparam int CountW = $clog2(Packets + 2);
  localparam int Pe = 2;

  // ------------------------------------------------------------------------------------------------------------- ports
  logic [2:0] column_q;
  always_ff @(posedge clk_i) column_q <= column_q;

  logic [2:0] in_valid, in_last, out_valid, out_last;
  logic [2:0][1:0] in_vc, out_vc;
  logic [2:0][38:0] in_data, out_data;
  logic [2:0][2:0] in_room, out_room;
  logic busy;
  logic [15:0] drained;
  assign in_valid = {pe_in_valid_i, link_in_valid_i};
  assign in_last  = {pe_in_last_i, link_in_last_i};
  assign in_vc    = {2'd0, link_in_vc_i};
  assign in_data  = {pe_in_data_i, link_in_data_i};
  assign out_room = {2'd0, pe_out_room_i, link_out_room_i};
  assign out_vc[Pe] = '0;
  assign in_room[Pe][2:1] = '0;

  emx_switch #(
      .Packets(Packets)
  ) dut (
      .clk_i,
      .rst_i,
      .column_i(column_q),
      .link_in_valid_i,
      .link_in_vc_i,
      .link_in_data_i,
      .link_in_last_i,
      .link_in_room_o(in_room[1:0]),
      .link_out_valid_o(out_valid[1:0]),
      .link_out_vc_o(out_vc[1:0]),
      .link_out_data_o(out_data[1:0]),
      .link_out_last_o(out_last[1:0]),
      .link_out_room_i,
      .pe_in_valid_i,
      .pe_in_data_i,
      .pe_in_last_i,
      .pe_in_room_o(in_room[Pe][0]),
      .pe_out_valid_o(out_valid[Pe]),
      .pe_out_data_o(out_data[Pe]),
      .pe_out_last_o(out_last[Pe]),
      .pe_out_room_i,
      .busy_o(busy),
      .drained_o(drained)
  );
  power_up u_power_up (.*);

  // ------------------------------------------------------------------------------------ senders, and what a path means
  logic [1:0] from_q, vc_q;  // the followed input and channel
  always_ff @(posedge clk_i) {from_q, vc_q} <= {from_q, vc_q};

  logic [2:0] head, inside_q, mine, routed, out_head, out_mine, out_inside_q;
  logic [2:0][2:0] room_q, out_room_q;
  logic [2:0][1:0] to, beyond;
  logic [2:0][38:0] becomes;
  for (genvar i = 0; i < 3; i++) begin : gen_port
    logic [9:0] path;
    logic [2:0] crossed;
    assign head[i] = in_valid[i] && !in_last[i];
    assign out_head[i] = out_valid[i] && !out_last[i];
    assign out_mine[i] = out_head[i] && out_data[i][0];
    assign mine[i] = from_q == 2'(i) && vc_q == in_vc[i];
    assign path = in_data[i][31:22];
    assign crossed = 3'(in_vc[i]) + 3'(column_q == 3'd4);
    assign to[i] = path == 10'd1 ? 2'(Pe) : 2'(path[0]);
    assign beyond[i] = path == 10'd1 ? '0 : crossed[1:0];
    assign becomes[i] = path == 10'd1 ? in_data[i] : {in_data[i][38:32], 1'b0, path[9:1], in_data[i][21:0]};
    assign routed[i] = path == 10'd1 || (path != '0 && crossed < 3'd3);
    always_ff @(posedge clk_i) begin
      inside_q[i] <= head[i] && !rst_i;
      out_inside_q[i] <= out_head[i] && !rst_i;
      room_q[i] <= rst_i ? '0 : in_room[i];
      out_room_q[i] <= rst_i ? '0 : out_room[i];
      followed_exists : assume (from_q <= 2'd2 && vc_q <= 2'd2 && (from_q != 2'(Pe) || vc_q == '0));
      if (!rst_i) begin
        word_1_behind_word_0 : assume (inside_q[i] == (in_valid[i] && in_last[i]));
        begins_with_room : assume (!head[i] || (in_vc[i] <= 2'd2 && room_q[i][in_vc[i]]));
        marked : assume (!head[i] || in_data[i][0] == mine[i]);
        words_together : assert (out_inside_q[i] == (out_valid[i] && out_last[i]));
        room_was_there : assert (!out_head[i] || out_room_q[i][out_vc[i]]);
      end
    end
  end

  // --------------------------------------------------------------------------------------------- the followed packets
  logic push, pop, leave, follow, on_link, second_q, mine_q;
  logic [CountW-1:0] count, ahead;
  logic [ 1:0] via;
  logic [42:0] word;
  logic [38:0] word1_q;  // of the followed one
  logic [ 2:0] lost;
  logic [16:0] lost_q;
  assign push = head[from_q] && mine[from_q] && routed[from_q];
  assign pop  = out_mine != '0;
  assign via  = out_mine[0] ? 2'd0 : out_mine[1] ? 2'd1 : 2'd2;
  stream_track #(
      .W(43),
      .Capacity(Packets)
  ) u_track (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(push),
      .in_data_i({to[from_q], beyond[from_q], becomes[from_q]}),
      .pop_i(pop),
      .out_data_i({via, out_vc[via], out_data[via]}),
      .inside_o(count),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(word)
  );
  assign leave = pop && follow && ahead == '0;
  assign lost  = head & ~routed;
  logic [ 1:0] via_q;
  logic [38:0] due_q;
  always_ff @(posedge clk_i) begin
    second_q <= push && mark_i && !follow && !rst_i;  // its word 1 comes now
    if (second_q) word1_q <= in_data[from_q];
    mine_q <= leave && !rst_i;  // its word 1 goes now
    via_q  <= via;
    due_q  <= second_q ? in_data[from_q] : word1_q;
    if (rst_i) lost_q <= '0;
    else if (!lost_q[16]) lost_q <= lost_q + 17'(lost[0]) + 17'(lost[1]) + 17'(lost[2]);
  end

  // --------------------------------------------------------------------------------------------------------- registers
  logic [2:0][2:0][2:0] level;  // by input and channel
  logic [2:0][2:0][PtrW-1:0] read_at, write_at;
  logic [2:0][2:0][Slots-1:0][4:0] way;
  logic [2:0][2:0][Slots-1:0][38:0] ram0, ram1;
  logic [2:0] second, direct, keep, goes;
  logic [2:0][PtrW+1:0] slot, kept;
  logic [2:0][2:0] source;  // of each output's packet
  for (genvar i = 0; i < 3; i++) begin : gen_state
    assign second[i] = dut.u_cut_through.gen_in[i].u_input.second_q;
    assign direct[i] = dut.u_cut_through.gen_in[i].u_input.direct_q;
    assign keep[i]   = dut.u_cut_through.gen_in[i].u_input.keep_q;
    assign slot[i]   = dut.u_cut_through.gen_in[i].u_input.slot_q;
    assign kept[i]   = dut.u_cut_through.gen_in[i].u_input.kept_q;
    assign source[i] = out_head[i] ? dut.u_cut_through.gen_out[i].from_q : '0;
    assign goes[i]   = ((source[0] | source[1] | source[2]) >> i) & 1'b1;
    for (genvar v = 0; v < 3; v++) begin : gen_level
      if (i != Pe || v == 0) begin : gen_own
        logic [Packets-1:0] free;
        assign free = dut.u_cut_through.gen_in[i].u_input.gen_channel[v].free_q;
        assign level[i][v] = 3'(Packets) - 3'($countones(free));
        assign read_at[i][v] = dut.u_cut_through.gen_in[i].u_input.gen_channel[v].read_q;
        assign write_at[i][v] = dut.u_cut_through.gen_in[i].u_input.gen_channel[v].write_q;
        for (genvar s = 0; s < Slots; s++) begin : gen_slot
          logic taken;
          assign taken = 3'(PtrW'(PtrW'(s) - read_at[i][v])) < level[i][v];
          assign way[i][v][s] =
              dut.u_cut_through.gen_in[i].u_input.gen_channel[v].way_q[5*int'(PtrW'(PtrW'(s) - read_at[i][v]))+:5];
          assign ram0[i][v][s] = dut.u_cut_through.gen_in[i].u_input.ram[{2'(v), PtrW'(s), 1'b0}];
          assign ram1[i][v][s] = dut.u_cut_through.gen_in[i].u_input.ram[{2'(v), PtrW'(s), 1'b1}];
          always_ff @(posedge clk_i)
            if (!rst_i && taken) begin
              stored_way :
              assert ((way[i][v][s][4:2] == 3'd1 || way[i][v][s][4:2] == 3'd2 || way[i][v][s][4:2] == 3'd4) &&
                                   way[i][v][s][1:0] == '0);
              stored_mark : assert (ram0[i][v][s][0] == (from_q == 2'(i) && vc_q == 2'(v)));
            end
        end
        always_ff @(posedge clk_i)
          if (!rst_i) begin
            places : assert (PtrW'(write_at[i][v] - read_at[i][v]) == PtrW'(level[i][v]));
            in_line : assert ((~free & (~free + Packets'(1))) == '0);
            room_tells : assert (in_room[i][v] == (int'(level[i][v]) < Packets));
          end
      end else begin : gen_none  // the PE has one channel
        assign {level[i][v], read_at[i][v], write_at[i][v], way[i][v], ram0[i][v], ram1[i][v]} = '0;
      end
    end
    always_ff @(posedge clk_i)
      if (!rst_i) begin
        one_source : assert ((source[i] & (source[i] - 3'd1)) == '0 && (source[i] != '0) == out_head[i]);
        goes_on : assert (second[i] == goes[i]);
        one_way_each :
        assert (!(source[0][i] && source[1][i]) && !(source[0][i] && source[2][i]) && !(source[1][i] && source[2][i]));
        keeps : assert (!keep[i] || inside_q[i]);
        direct_comes : assert (!(second[i] && direct[i]) || inside_q[i]);
      end
  end

  // The followed packet, where it is stored.
  logic stored;
  logic [PtrW-1:0] at;
  assign on_link = pop;
  assign stored = follow && !leave;
  assign at = read_at[from_q][vc_q] + PtrW'(ahead) - PtrW'(on_link);

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_output : assert ((out_mine & (out_mine - 3'd1)) == '0);
      word_1_as_it_came : assert (!mine_q || out_data[via_q] == due_q);
      lost_are_counted : assert (lost_q >= 17'h0ffff || 17'(drained) == lost_q);
      busy_tells : assert (busy || (count == '0 && !out_valid));
      // Invariants for induction.
      counted : assert (int'(count) == int'(level[from_q][vc_q]) + int'(on_link));
      mark_known : assert (!on_link || source[via][from_q]);
      word_stored : assert (!stored || ram0[from_q][vc_q][at] == word[38:0]);
      way_stored :
      assert (!stored || (way[from_q][vc_q][at] == {3'b001 << word[42:41], 2'd0} &&
              word[40:39] == (word[42:41] == 2'(Pe) ? 2'd0 : vc_q + 2'(dut.rise_q))));
      column_known : assert (dut.rise_q == (column_q == 3'd4));
      second_stored :
      assert (!stored || (second_q ? keep[from_q] && kept[from_q] == {vc_q, at} : ram1[from_q][vc_q][at] == word1_q));
      second_goes :
      assert (!leave || (direct[from_q] ? second_q : !second_q && slot[from_q][PtrW+1:PtrW] == vc_q &&
              ram1[from_q][vc_q][slot[from_q][PtrW-1:0]] == word1_q));
      written_once : assert (!stored || second_q || !(keep[from_q] && kept[from_q] == {vc_q, at}));
      none_is_written : assert (!leave || direct[from_q] || !(keep[from_q] && kept[from_q] == slot[from_q]));
      second_once : assert (!second_q || (follow && inside_q[from_q]));
      slot_is_free : assert (!leave || direct[from_q] || slot[from_q][PtrW-1:0] == read_at[from_q][vc_q] - PtrW'(1));
      mine_goes : assert (!mine_q || out_inside_q[via_q]);
      // The claims are not vacuous.
      cut_through : cover (leave && second_q);
      drains : cover (lost_q[1:0] == 2'd2);
      to_the_pe : cover (leave && via == 2'(Pe) && !second_q);
      injected : cover (leave && from_q == 2'(Pe) && via != 2'(Pe));
      higher : cover (leave && out_vc[via] == 2'd2);
    end
  end
endmodule
