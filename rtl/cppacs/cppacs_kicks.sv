// CP-PACS NIA, kicks: the queues of TCWs that processes kicked, one for each process and channel.
//
// Kick       `kick_valid_i` for a cycle; it never waits. Into a full queue: dropped, and `refused_o` pulses in the next
//            cycle.
// Next       for each channel the kick that is served next, a stream: `next_valid_o`, `next_take_i`.
// Order      kicks of one process and channel leave in order. Processes take turns: who waits is passed over by each
//            other process at most once.
// Latency    2 cycles from kick to next, 4 while kicks of other queues come in between.
// Room       `room_o`: how many kicks each queue of `room_process_i` takes now, a cycle later.
// Full       KickDepth kicks in a queue, the one on offer included.
// Reset      empties all queues.
// busy_o     low when nothing moves until a kick comes or is taken. Kicks may wait.
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
endmodule
