// SPDX-License-Identifier: MIT OR Apache-2.0
// Ejection does not depend on injection, nor on the links: `emx_switch` passes a packet for its PE on when the PE has
// room.
//
// - A packet for the PE that is first of its channel waits, while the PE has room, only for packets that go: of `Idle`
//   + 1 cycles in a row in which it could go, in one a packet begins at some output, and at the PE's if the links are
//   stuck.
// - So it cannot wait for room on a link, for a packet that is injected, or for one that waits itself.
//
// Who goes first is by age: who was served is the youngest, so those that go before are few. This is not claimed here.
//
// Assumed: senders keep the rule of room; the column never changes.
module prove_emx_eject #(
    parameter int Packets = 1,
    parameter int Idle = 1
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
    input logic pe_out_room_i
);
  localparam int PtrW = Packets > 2 ? 2 : 1;
  localparam int Pe = 2;

  logic [2:0] column_q;
  always_ff @(posedge clk_i) column_q <= column_q;

  logic [2:0] in_valid, in_last, out_valid, out_last;
  logic [2:0][1:0] in_vc;
  logic [1:0][1:0] link_out_vc;
  logic [1:0][38:0] link_out_data;
  logic [38:0] pe_out_data;
  logic [2:0][2:0] in_room;
  logic busy;
  logic [15:0] drained;
  assign in_valid = {pe_in_valid_i, link_in_valid_i};
  assign in_last = {pe_in_last_i, link_in_last_i};
  assign in_vc = {2'd0, link_in_vc_i};
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
      .link_out_vc_o(link_out_vc),
      .link_out_data_o(link_out_data),
      .link_out_last_o(out_last[1:0]),
      .link_out_room_i,
      .pe_in_valid_i,
      .pe_in_data_i,
      .pe_in_last_i,
      .pe_in_room_o(in_room[Pe][0]),
      .pe_out_valid_o(out_valid[Pe]),
      .pe_out_data_o(pe_out_data),
      .pe_out_last_o(out_last[Pe]),
      .pe_out_room_i,
      .busy_o(busy),
      .drained_o(drained)
  );
  power_up u_power_up (.*);

  logic [2:0] head, inside_q, out_head, second, goes;
  logic [2:0][2:0] room_q, source, stands;
  logic [2:0][2:0][2:0] level;
  for (genvar i = 0; i < 3; i++) begin : gen_port
    logic [1:0] elders;  // each pair of inputs, and of channels, has an elder
    assign head[i] = in_valid[i] && !in_last[i];
    assign out_head[i] = out_valid[i] && !out_last[i];
    assign second[i] = dut.u_cut_through.gen_in[i].u_input.second_q;
    assign source[i] = out_head[i] ? dut.u_cut_through.gen_out[i].from_q : '0;
    assign goes[i] = ((source[0] | source[1] | source[2]) >> i) & 1'b1;
    always_ff @(posedge clk_i) begin
      inside_q[i] <= head[i] && !rst_i;
      room_q[i]   <= rst_i ? '0 : in_room[i];
      if (!rst_i) begin
        word_1_behind_word_0 : assume (inside_q[i] == (in_valid[i] && in_last[i]));
        begins_with_room : assume (!head[i] || (in_vc[i] <= 2'd2 && room_q[i][in_vc[i]]));
      end
    end
    for (genvar v = 0; v < 3; v++) begin : gen_level
      if (i != Pe || v == 0) begin : gen_own
        logic [PtrW-1:0] read_at;
        logic [4:0] first;
        logic [Packets-1:0] free;
        assign free = dut.u_cut_through.gen_in[i].u_input.gen_channel[v].free_q;
        assign level[i][v] = 3'(Packets) - 3'($countones(free));
        assign read_at = dut.u_cut_through.gen_in[i].u_input.gen_channel[v].read_q;
        assign first = dut.u_cut_through.gen_in[i].u_input.gen_channel[v].way_q[4:0];
        assign stands[i][v] = level[i][v] != '0 && first[4];
        for (genvar p = 0; p < Packets; p++) begin : gen_packet
          logic [4:0] way;
          assign way = dut.u_cut_through.gen_in[i].u_input.gen_channel[v].way_q[5*p+:5];
          always_ff @(posedge clk_i)
            if (!rst_i && !free[p]) begin
              stored_way : assert ((way[4:2] == 3'd1 || way[4:2] == 3'd2 || way[4:2] == 3'd4) && way[1:0] == '0);
            end
        end
        always_ff @(posedge clk_i)
          if (!rst_i) begin
            places :
            assert (PtrW'(dut.u_cut_through.gen_in[i].u_input.gen_channel[v].write_q - read_at) ==
                    PtrW'(level[i][v]) && (~free & (~free + Packets'(1))) == '0);
            room_tells : assert (in_room[i][v] == (int'(level[i][v]) < Packets));
          end
      end else begin : gen_none  // the PE has one channel
        assign {level[i][v], stands[i][v]} = '0;
      end
    end
    // Three in a circle, each older than the next, would serve none.
    logic [2:0][2:0] older_out, older_in;
    assign older_out = dut.u_cut_through.gen_out[i].u_arbiter.older;
    assign older_in  = dut.u_cut_through.gen_in[i].u_input.u_pick.older;
    always_ff @(posedge clk_i)
      if (!rst_i) begin
        one_source : assert ((source[i] & (source[i] - 3'd1)) == '0 && (source[i] != '0) == out_head[i]);
        goes_on : assert (second[i] == goes[i]);
        in_line :
        assert (!(older_out[0][1] && older_out[1][2] && older_out[2][0]) &&
                !(older_out[1][0] && older_out[2][1] && older_out[0][2]) &&
                !(older_in[0][1] && older_in[1][2] && older_in[2][0]) &&
                !(older_in[1][0] && older_in[2][1] && older_in[0][2]));
      end
  end

  // Cycles in a row in which a packet for the PE stood first, the PE had room, and nothing went anywhere.
  logic could_q;
  logic [Idle:0] idle_q;
  logic idle;
  assign idle = could_q && out_head == '0;
  always_ff @(posedge clk_i) begin
    could_q <= stands != '0 && pe_out_room_i && !out_head[Pe] && !rst_i;
    idle_q  <= rst_i ? '0 : {idle_q[Idle-1:0], idle};
  end
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      ejects : assert (!(idle_q == '1));
      // The claims are not vacuous.
      waits : cover (idle);
      longest : cover (idle_q[Idle-1:0] == '1);
      ejected : cover (out_head[Pe] && idle_q[0]);
    end
  end
endmodule
