// CP-PACS NIA, tables: send rights and communication fields.
//
// Host       one access at a time: `host_valid_i` holds until `host_done_o`, which pulses with `host_rdata_o`. A word
//            has 64 bits; `host_index_i` is below Rights or Fields. At most 8 cycles.
// Lookup     ports 0 data receiver, 1 acknowledge receiver, 2 fetch. A port takes a lookup, and is not ready until
//            `look_for_o` of the port pulses; the outputs hold in that cycle. `look_first_o` is STATE of a field or PLACE
//            of a right, `look_second_o` is EXTENT or LIMIT. Port 2 looks up a right when `look_right_i`. An index that
//            does not exist gives ENABLED or VALID 0.
// Order      a lookup sees all host writes that were done, and all counts and shuts that were given, before it was
//            taken. Lookups of ports: lowest number first; counts, shuts and the host go before them.
// Latency    4 cycles from lookup to result if nothing else is under way; a lookup each 3 cycles.
// Count      `count_valid_i` adds 1 to a field's count, `shut_valid_i` clears its ENABLED. Always taken; a channel gives
//            the next one 8 cycles later or more.
// Gone       `open_i` with `open_index_i`: the channel has a message for this field under way. It is set from the cycle
//            of the lookup on. A host write of STATE that clears ENABLED or changes KEY of an open field makes `gone_o`
//            pulse: at the latest with `host_done_o`. Writing STATE sets the count to 0.
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
endmodule
