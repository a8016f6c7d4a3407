// SPDX-License-Identifier: MIT OR Apache-2.0
// One output of a crossbar: its crosspoints, and the words on their way to the port.
//
// Handshake  the word of the input named in `granted_i` (one at most) comes in; it cannot be refused. `more_o` falls
//            early enough for three more words in flight and one granted before the arbiter saw it, and `room_o` so
//            early that a packet that then begins never waits within its first Whole words. Out: AXI4-Stream
//            valid/ready/data/last; source_o names the input of the offered word.
// Latency    a word that comes in is offered after the second edge. 1 word a cycle.
// Full       14 words are inside.
// busy_o     a word is inside, or comes in.
// Source     each crosspoint is a flip-flop with its own reset and the crosspoints are ORed: 1 LUT a bit for four
//            inputs. Control arrives registered, so only flip-flops drive wide data.
module crossbar_output #(
    parameter  int N       = 4,         // inputs, 2 or more
    parameter  int W       = 16,        // bits a word
    parameter  int Whole   = 1,         // 1 to 4
    localparam int SourceW = $clog2(N)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic [      N-1:0]      granted_i,
    input  logic [      N-1:0][W:0] word_i,     // {last, data}
    output logic                    room_o,
    output logic                    more_o,
    output logic                    valid_o,
    input  logic                    ready_i,
    output logic [      W-1:0]      data_o,
    output logic                    last_o,
    output logic [SourceW-1:0]      source_o,
    output logic                    busy_o
);
  if (Whole < 1 || Whole > 4) begin : gen_bad_whole
    crossbar_output_Whole_must_be_1_to_4 u_bad ();
  end

  // crossed[i]: {source, last, data} at the first i crosspoints, ORed.
  logic [N:0][W+SourceW:0] crossed  /*verilator split_var*/;
  logic [W+SourceW:0] words_q[16];
  logic [3:0] write_q, level_q;
  (* init = 0 *) logic [3:0] read_q;  // or Yosys copies it into the memory, with LUTs of its own
  logic cross_valid_q, valid_q, take;

  // Steps through 15 addresses: a shift register with feedback, a LUT instead of a counter's four.
  function automatic logic [3:0] next(input logic [3:0] address);
    next = {address[2:0], address[3] ~^ address[2]};
  endfunction

  assign crossed[0] = '0;
  for (genvar i = 0; i < N; i++) begin : gen_cross
    logic [W+SourceW:0] cross_q;
    always_ff @(posedge clk_i) begin
      if (!granted_i[i]) cross_q <= '0;
      else cross_q <= {SourceW'(i), word_i[i]};
    end
    assign crossed[i+1] = crossed[i] | cross_q;
  end

  assign take = valid_q && ready_i;
  assign more_o = !(level_q[3] && (level_q[2] || level_q[1:0] == '1));
  assign room_o = Whole > 1 ? !level_q[3] : more_o;
  assign {source_o, last_o, data_o} = words_q[read_q];
  assign valid_o = valid_q;
  assign busy_o = granted_i != '0 || cross_valid_q || valid_q;

  always_ff @(posedge clk_i) begin
    words_q[write_q] <= crossed[N];  // there is always a free slot
    if (rst_i) begin
      write_q <= '0;
      read_q <= '0;
      level_q <= '0;
      cross_valid_q <= 1'b0;
      valid_q <= 1'b0;
    end else begin
      cross_valid_q <= granted_i != '0;
      if (cross_valid_q) write_q <= next(write_q);
      if (take) read_q <= next(read_q);
      if (cross_valid_q != take) level_q <= level_q + {{3{take}}, 1'b1};
      valid_q <= cross_valid_q || level_q[3:1] != '0 || (level_q[0] && !take);
    end
`ifdef TSUNAGI_ASSERT
    if (!rst_i) assert (level_q <= 4'd14);
`endif
  end
endmodule
