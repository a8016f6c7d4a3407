// SPDX-License-Identifier: MIT OR Apache-2.0
// Bursts that become beats: one burst, any burst, is followed from its address to its last beat.
//
// Purpose    `mark_i` is free, so the followed burst stands for every one. Its beats come after exactly the beats that
//            were due when it came. Each has the burst's ID, its own address and bytes, and `last` if it is the last.
//            It has `refuse` if the burst is exclusive or the standard forbids it. So no beat is lost, doubled,
//            invented, overtaken or altered.
// Handshake  `take_i` and `go_i` are transfers of bursts and beats, at least a cycle apart.
// Outputs    `left_o`: beats to come. The others for a proof's invariants: the followed burst, the number of beats
//            ahead of it, the index of its next beat, and that beat's address.
// Source     AXI4 (IHI 0022), A3.4.1.
module burst_track #(
    parameter int AddrW = 13,  // bits of a byte address, > 12
    parameter int DataW = 32,  // bits of a word
    parameter int IdW = 1,
    localparam int StrbW = DataW / 8,
    localparam int BurstW = IdW + AddrW + 8 + 3 + 2 + 1,
    localparam int CountW = 10
) (
    input logic clk_i,
    input logic rst_i,
    input logic mark_i,
    input logic take_i,
    input logic [BurstW-1:0] burst_i,  // ID, address, beats - 1, size, kind, lock
    input logic offered_i,
    input logic go_i,
    input logic [IdW-1:0] id_i,
    input logic [AddrW-1:0] addr_i,
    input logic [StrbW-1:0] lanes_i,
    input logic last_i,
    input logic refuse_i,
    output logic [CountW-1:0] left_o,
    output logic follow_o,
    output logic [CountW-1:0] ahead_o,
    output logic [BurstW-1:0] burst_o,
    output logic refused_o,
    output logic [7:0] nth_o,
    output logic [AddrW-1:0] place_o
);
  localparam int LaneW = $clog2(StrbW);

  logic [  IdW-1:0] id;
  logic [AddrW-1:0] addr;
  logic [7:0] len, new_len;
  logic [2:0] size;
  logic [1:0] kind;
  logic lock, legal, enter, here;
  assign {id, addr, len, size, kind, lock} = burst_o;
  assign new_len = burst_i[13:6];
  assign enter = take_i && mark_i && !follow_o;
  assign here = follow_o && ahead_o == '0;

  always_ff @(posedge clk_i) begin
    left_o <= left_o - CountW'(go_i) + (take_i ? CountW'(new_len) + CountW'(1) : '0);
    if (enter) begin
      follow_o <= 1'b1;
      burst_o <= burst_i;
      ahead_o <= left_o - CountW'(go_i);
      nth_o <= '0;
    end else if (go_i && here) begin
      follow_o <= nth_o != len;
      nth_o <= nth_o + 8'd1;
    end else if (go_i) begin
      ahead_o <= ahead_o - CountW'(1);
    end
    if (rst_i) begin
      left_o   <= '0;
      follow_o <= 1'b0;
    end
  end

  axi_legal #(
      .AddrW(AddrW),
      .DataW(DataW)
  ) u_legal (
      .addr_i (addr),
      .len_i  (len),
      .size_i (size),
      .burst_i(kind),
      .legal_o(legal)
  );
  assign refused_o = !legal || lock;

  // The next beat's address, and its bytes: from there to the end of the aligned unit of its size.
  logic [11:0] next, round;
  logic [StrbW-1:0] lanes;
  always_comb begin
    next = (addr[11:0] >> size << size) + (12'(nth_o) << size);
    round = ((12'(len) + 12'd1) << size) - 12'd1;  // of a wrapping burst
    place_o = addr;
    if (nth_o != '0 && kind == 2'b01) place_o[11:0] = next;
    if (nth_o != '0 && kind == 2'b10) place_o[11:0] = (addr[11:0] & ~round) | (next & round);
    for (int b = 0; b < StrbW; b++)
    lanes[b] = b >= int'(place_o[LaneW-1:0]) && (b >> size) == (int'(place_o[LaneW-1:0]) >> size);
  end

  logic now;
  assign now = here && offered_i;
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      beat_of_a_burst : assert (!offered_i || left_o != '0);
      beat_id : assert (!now || id_i == id);
      beat_refused : assert (!now || refuse_i == refused_o);
      beat_last : assert (!now || last_i == (nth_o == len));
      beat_place : assert (!now || refused_o || addr_i == place_o);
      beat_bytes : assert (!now || refused_o || lanes_i == lanes);
      goes_round : cover (now && go_i && last_i && !refused_o && place_o < addr);
      narrow : cover (now && go_i && last_i && !refused_o && kind == 2'b01 && size == '0 && len == 8'd2);
      stays : cover (now && go_i && last_i && !refused_o && kind == 2'b00 && len != '0);
      refuses : cover (now && go_i && last_i && refused_o);
    end
  end
endmodule
