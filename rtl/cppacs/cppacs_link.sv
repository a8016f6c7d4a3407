// CP-PACS NIA, link: between the streams of the NIA, one for each channel, and the credits of the link to the exchanger.
//
// Streams    in_* from the senders, out_* to the receivers, by channel: 0 data, 1 acknowledge.
// Link       `valid`, `channel`, `data`, `last`, no ready; back a pulse of `credit` for each word that left the buffer.
//            A word is sent only with a credit of its channel.
// Order      the channels alternate word by word where both could go.
// Latency    2 cycles from stream to link, 2 from link to stream; one word a cycle.
// Stall      `stall_o`: a word waits, and no channel with a word has a credit.
// Misuse     a word that comes without credit overwrites another: asserted.
// Reset      forgets all words, and has all credits.
// busy_o     low when no word is inside.
// Source     ours; two channels: US patent 5,892,923 of the family.
module cppacs_link #(
    parameter int Credits = 16,  // words of data that the exchanger's buffer takes, 2..1023
    parameter int AckCredits = 16,  // the same of the acknowledge channel
    parameter int Room = 32  // words of the NIA's own buffer, for each channel: the exchanger's PuRoom
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [1:0] in_valid_i,
    output logic [1:0] in_ready_o,
    input logic [1:0][31:0] in_data_i,
    input logic [1:0] in_last_i,

    output logic [1:0] out_valid_o,
    input logic [1:0] out_ready_i,
    output logic [1:0][31:0] out_data_o,
    output logic [1:0] out_last_o,

    output logic link_out_valid_o,
    output logic link_out_channel_o,
    output logic [31:0] link_out_data_o,
    output logic link_out_last_o,
    input logic [1:0] link_out_credit_i,
    input logic link_in_valid_i,
    input logic link_in_channel_i,
    input logic [31:0] link_in_data_i,
    input logic link_in_last_i,
    output logic [1:0] link_in_credit_o,

    output logic stall_o
);
endmodule
