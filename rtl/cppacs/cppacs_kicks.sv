// CP-PACS NIA, kicks: the queues of TCWs that processes kicked, one for each process and channel.
//
// Kick       `kick_valid_i` for a cycle; it never waits. Into a full queue: dropped, and `refused_o` pulses in the next
//            cycle.
// Next       for each channel the kick that is served next, a stream: `next_valid_o`, `next_take_i`.
// Order      kicks of one process and channel leave in order. Processes take turns: who waits is passed over by each
//            other process at most once.
// Latency    2 cycles from kick to next, and one for each kick that comes in between; one kick each 4 cycles.
// Room       `room_o`: how many kicks each queue of `room_process_i` takes now, a cycle later.
// Full       KickDepth kicks in a queue, the one on offer included.
// Reset      empties all queues.
// busy_o     low when nothing moves until an input changes. Kicks may wait.
// Source     paper, section 2: the user starts a transfer. Queues and their order are ours.
module cppacs_kicks #(
    parameter int KickDepth = 4  // kicks of a queue, power of two, 2..16
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic kick_valid_i,
    input logic [2:0] kick_process_i,
    input logic kick_channel_i,  // 0 data, 1 acknowledge
    input logic [15:0] kick_tcw_i,
    output logic refused_o,

    output logic [1:0] next_valid_o,
    input logic [1:0] next_take_i,
    output logic [1:0][2:0] next_process_o,
    output logic [1:0][15:0] next_tcw_o,

    input logic [2:0] room_process_i,
    output logic [1:0][4:0] room_o,
    output logic [7:0] waiting_o  // processes with a kick in a queue
);
  localparam int SlotW = $clog2(KickDepth);

  if (KickDepth < 2 || KickDepth > 16 || (1 << SlotW) != KickDepth) begin : gen_bad_depth
    cppacs_kicks_KickDepth_must_be_a_power_of_two_from_2_to_16 u_bad ();
  end

  logic [1:0] full, moves;
  logic [1:0][7:0] some;

  for (genvar c = 0; c < 2; c++) begin : gen_channel
    // A queue: whether it has a kick, and then the slot of its first one, and how many others there are.
    logic [7:0] some_q;
    logic [SlotW-1:0] first_q[8], others_q[8];

    // In a cycle a kick comes in, or one that was taken leaves its queue, or the next one is offered.
    logic turn_valid, offer, kick, leave, leave_q, settle_q, valid_q, has, put, unused_ready;
    logic [2:0] turn, at, process_q;
    logic [3:0] unused_level;
    logic [SlotW-1:0] first, others, first_d, others_d;

    assign kick = kick_valid_i && kick_channel_i == 1'(c);
    assign leave = leave_q && !kick;
    assign offer = turn_valid && !valid_q && !leave_q && !kick;
    assign at = kick ? kick_process_i : (leave_q ? process_q : turn);
    assign has = some_q[at];
    assign first = first_q[at];
    assign others = others_q[at];
    assign full[c] = has && others == SlotW'(KickDepth - 1);
    assign put = (kick && !full[c]) || leave;
    assign first_d = leave ? first + SlotW'(1) : first;
    assign others_d = leave ? others - SlotW'(1) : (has ? others + SlotW'(1) : '0);

    always_ff @(posedge clk_i) begin
      if (put) begin
        first_q[at]  <= first_d;
        others_q[at] <= others_d;
      end
      if (rst_i) some_q <= '0;
      else if (put) some_q[at] <= kick || others != '0;
    end

    // Each process with a kick that is not on offer, once.
    fifo #(
        .W(3),
        .Depth(8)
    ) u_turns (
        .clk_i,
        .rst_i,
        .in_valid_i (put && (kick ? !has : others != '0)),
        .in_ready_o (unused_ready),
        .in_data_i  (at),
        .out_valid_o(turn_valid),
        .out_ready_i(offer),
        .out_data_o (turn),
        .level_o    (unused_level)
    );

    // No slot is read in the cycle of its write
    (* ram_style = "block", no_rw_check *) logic [15:0] tcw_q[8*KickDepth];
    logic [15:0] next_q;
    logic [SlotW-1:0] slot;
    assign slot = has ? first + others + SlotW'(1) : first;

    always_ff @(posedge clk_i) begin
      if (kick && !full[c]) tcw_q[{at, slot}] <= kick_tcw_i;
      if (offer) begin
        next_q <= tcw_q[{at, first}];
        process_q <= turn;
      end
      settle_q <= put && !rst_i;
      if (rst_i) begin
        valid_q <= 1'b0;
        leave_q <= 1'b0;
      end else begin
        valid_q <= offer || (valid_q && !next_take_i[c]);
        leave_q <= (valid_q && next_take_i[c]) || (leave_q && !leave);
      end
      room_o[c] <= some_q[room_process_i] ? 5'({~others_q[room_process_i]}) : 5'(KickDepth);
      if (rst_i) room_o[c] <= 5'(KickDepth);
    end

    assign next_valid_o[c] = valid_q;
    assign next_process_o[c] = process_q;
    assign next_tcw_o[c] = next_q;
    assign some[c] = some_q;
    assign moves[c] = leave_q || settle_q || (turn_valid && !valid_q);
  end

  always_ff @(posedge clk_i) refused_o <= kick_valid_i && full[kick_channel_i] && !rst_i;

  assign waiting_o = some[0] | some[1];
  assign busy_o = moves != '0 || refused_o;
endmodule
