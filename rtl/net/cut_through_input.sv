// SPDX-License-Identifier: MIT OR Apache-2.0
// One input of cut_through: `Packets` packets of two words for each channel, one of which requests an output.
//
// Handshake  `open_i`: outputs that are free, with room beyond, by channel. `request_o`: the output of the packet that
//            is selected, one-hot; `to_o` its channel beyond. With `grant_i` its word 0 is taken from `word_o` at the
//            edge, and word 1 in the next cycle. Meanwhile nothing is requested: `next_o` shows which outputs could be
//            requested if it were over.
// Latency    a packet whose channel is empty requests in the cycle in which word 0 stands on the link.
// Full       `room_o` is low. A packet that comes nevertheless is drained, as one without an output, on a channel that
//            does not exist, or for one.
// Fairness   the least recently served channel of those with an open output.
// Source     see cut_through. Words stand in one LUT RAM; what requests needs stands in flip-flops.
module cut_through_input #(
    parameter int N = 3,
    parameter int Channels = 3,
    parameter int Beyond = 3,  // channels of an output
    parameter int Packets = 2,
    parameter int W = 39
) (
    input  logic                            clk_i,
    input  logic                            rst_i,
    input  logic                            valid_i,
    input  logic [         1:0]             vc_i,
    input  logic [       W-1:0]             data_i,
    input  logic                            last_i,
    input  logic [       N-1:0]             out_i,
    input  logic [         1:0]             to_i,
    output logic [Channels-1:0]             room_o,
    input  logic [       N-1:0][Beyond-1:0] open_i,
    output logic [       N-1:0]             request_o,
    output logic [       N-1:0]             next_o,
    output logic [         1:0]             to_o,
    input  logic                            grant_i,
    output logic [       W-1:0]             word_o,
    output logic                            drained_o,
    output logic                            busy_o
);
  localparam int PtrW = Packets > 2 ? 2 : 1;
  localparam int Slots = 1 << PtrW;
  localparam int WayW = N + 2;

  logic head, good, arrive;
  logic [1:0] came_change;  // between its channel and that beyond: kept instead, as where there is none it costs none
  logic [3:0] room;  // of channels that do not exist: none
  logic [Channels-1:0] on, has, could, pick, take;
  // By channel, of its first packet: outputs, if they are open; channel beyond.
  logic [Channels-1:0][N-1:0] opens;
  logic [Channels-1:0][  1:0] tos;
  logic [Channels-1:0][PtrW-1:0] write_at, read_at;

  assign head = valid_i && !last_i;
  assign room = 4'(room_o);
  assign good = out_i != '0 && room[vc_i] && int'(to_i) < Beyond;
  assign came_change = to_i ^ vc_i;
  assign arrive = head && good;
  assign drained_o = head && !good;

  for (genvar v = 0; v < Channels; v++) begin : gen_channel
    // Of the first packet, the second one and so on; above them one that comes.
    logic [Packets*WayW-1:0] way_q;
    logic [(Packets+1)*WayW-1:0] way;
    logic [Packets-1:0] free_q;
    logic [Packets:0] free;
    logic [PtrW-1:0] write_q, read_q;
    logic [N-1:0] out, open;
    logic [1:0] change;

    assign way = {out_i, came_change, way_q};
    assign free = {1'b1, free_q};
    assign room_o[v] = free_q[Packets-1];
    assign on[v] = arrive && vc_i == 2'(v);
    assign has[v] = !free[0];
    assign {out, change} = has[v] ? way_q[0+:WayW] : {out_i & {N{on[v]}}, came_change};
    assign tos[v] = change ^ 2'(v);
    always_comb begin
      open = '0;
      for (int o = 0; o < N; o++) for (int c = 0; c < Beyond; c++) if (tos[v] == 2'(c)) open[o] = open_i[o][c];
    end
    assign opens[v] = out & open;
    assign could[v] = opens[v] != '0;
    assign take[v] = pick[v] && grant_i;
    assign write_at[v] = write_q;
    assign read_at[v] = read_q;

    always_ff @(posedge clk_i) begin
      for (int p = 0; p < Packets; p++) begin
        if (take[v] || (on[v] && free[p]))
          way_q[p*WayW+:WayW] <= free[p+1] ? way[Packets*WayW+:WayW] : way[(p+1)*WayW+:WayW];
      end
      if (rst_i) begin
        free_q  <= '1;
        write_q <= '0;
        read_q  <= '0;
      end else begin
        if (on[v] != take[v]) free_q <= on[v] ? Packets'({free_q, 1'b0}) : free[Packets:1];
        write_q <= write_q + PtrW'(on[v]);
        read_q  <= read_q + PtrW'(take[v]);
      end
    end
  end

  arbiter_lru #(
      .N(Channels)
  ) u_pick (
      .clk_i    (clk_i),
      .rst_i    (rst_i),
      .request_i(could),
      .block_i  (could),
      .served_i (take),
      .first_o  (pick)
  );

  // Words: address {channel, packet, word}.
  logic [W-1:0] ram[8*Slots];
  logic second_q, direct_q, keep_q;
  logic direct;
  logic [PtrW+1:0] slot, slot_q, kept_q;
  logic [N-1:0] any, chosen;
  always_comb begin
    {any, chosen, to_o, slot, direct} = '0;
    for (int v = 0; v < Channels; v++) begin
      any = any | opens[v];
      if (pick[v]) begin
        chosen = opens[v];
        to_o   = tos[v];
        slot   = {2'(v), read_at[v]};
        direct = !has[v];
      end
    end
  end
  assign request_o = second_q ? '0 : chosen;
  assign next_o = second_q ? any : '0;

  logic [PtrW+1:0] fresh;
  always_comb begin
    fresh = '0;
    for (int v = 0; v < Channels; v++) if (vc_i == 2'(v)) fresh = {2'(v), write_at[v]};
  end
  always_ff @(posedge clk_i) begin
    if (arrive || (valid_i && keep_q)) ram[head?{fresh, 1'b0} : {kept_q, 1'b1}] <= data_i;
    if (arrive) kept_q <= fresh;
    if (grant_i) {slot_q, direct_q} <= {slot, direct};
    if (rst_i) {second_q, keep_q} <= '0;
    else {second_q, keep_q} <= {grant_i, arrive};
  end
  assign word_o = (second_q ? direct_q : direct) ? data_i : ram[second_q?{slot_q, 1'b1} : {slot, 1'b0}];
  assign busy_o = second_q || has != '0;

`ifdef TSUNAGI_ASSERT
  logic inside_q;
  always_ff @(posedge clk_i) begin
    inside_q <= !rst_i && head;
    if (!rst_i) begin
      assert (inside_q ? valid_i && last_i : !(valid_i && last_i))
      else $error("cut_through: word 1 does not follow directly behind word 0");
      assert (!head || (out_i & (out_i - N'(1))) == '0)
      else $error("cut_through: a packet for several outputs");
      assert (!head || int'(vc_i) >= Channels || room[vc_i])
      else $error("cut_through: a packet without room");
    end
  end
`endif
endmodule
