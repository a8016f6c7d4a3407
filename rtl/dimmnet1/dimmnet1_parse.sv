// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1 receiver, first part: takes packets apart, and finds those with too few or too many words.
//
// Input      packets of 64-bit words, as the link gives them. `receive_i` clear: no further packet begins.
// Header     `load_*` offers header words 0 to 2 in the cycle in which word 2 stands at the input. `load_runt_o`: the
//            packet ended before, and no word counts. Words 3 to 5 follow on `word_*`; word 3 of a short packet is its
//            data word.
// Whole      a pulse, with or after `load_*`: the header is whole. `whole_bad_o`: the number of words is wrong, as far
//            as the header and the first data word show it. `whole_payload_o`: data follow on `body_*`.
// Body       the data of a long packet, and the data word of a short one but for OTF and PULL: 16 words wait here.
// Latency    1 word per cycle; 1 cycle from data word to body.
// Full       a packet's word 2 waits for `load_ready_i`, its data for the body.
// Reset      drops everything; the next word is taken for a packet's first.
// busy_o     low when no word is inside but those of a header, and `receive_i` has come to its register.
// Source     paper, section 2.2; formats are ours (regs.toml).
module dimmnet1_parse (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic receive_i,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [63:0] in_data_i,
    input logic in_last_i,

    output logic load_valid_o,
    input logic load_ready_i,
    output logic load_runt_o,
    output logic [2:0][63:0] load_header_o,
    output logic word_valid_o,
    output logic [2:0] word_index_o,
    output logic [63:0] word_data_o,
    output logic whole_o,
    output logic whole_bad_o,
    output logic whole_payload_o,

    output logic body_valid_o,
    input logic body_ready_i,
    output logic [63:0] body_data_o,
    output logic body_last_o
);
  localparam int Depth = 16;

  typedef enum logic [2:0] {
    Word0,
    Word1,
    Word2,
    Short,  // the data word of a short packet
    Long,   // header words 3 to 5
    Data,
    Drain,  // what is beyond a short packet
    Runt
  } state_e;
  state_e state_q;
  logic [63:0] word0_q, word1_q;
  logic [1:0] index_q;  // of header words 3 to 5
  logic receive_q, short_q, empty_q, keeps_q, take, body_ready;

  assign take = in_valid_i && in_ready_o;
  always_comb begin
    case (state_q)
      Word0: in_ready_o = receive_q;
      Word2: in_ready_o = load_ready_i;
      Short, Data: in_ready_o = body_ready;
      Runt: in_ready_o = 1'b0;
      default: in_ready_o = 1'b1;
    endcase
  end

  always_ff @(posedge clk_i) begin
    receive_q <= receive_i;
    index_q   <= (state_q == Long) ? index_q + 2'(take) : 2'd3;
    if (state_q == Word0) word0_q <= in_data_i;
    if (state_q == Word1) begin
      word1_q <= in_data_i;
      short_q <= word0_q[dimmnet1_pkg::HdrW0OtfLsb];
      empty_q <= word0_q[dimmnet1_pkg::HdrW0LengthLsb+:dimmnet1_pkg::HdrW0LengthW] == '0;
      keeps_q <= word0_q[dimmnet1_pkg::HdrW0TypeLsb+:8] != 8'(dimmnet1_pkg::TypeOtf) &&
                 word0_q[dimmnet1_pkg::HdrW0TypeLsb+:8] != 8'(dimmnet1_pkg::TypePull);
    end
    case (state_q)
      Word0: if (take) state_q <= in_last_i ? Runt : Word1;
      Word1: if (take) state_q <= in_last_i ? Runt : Word2;
      Word2: if (take) state_q <= in_last_i ? Word0 : short_q ? Short : Long;
      Short: if (take) state_q <= in_last_i ? Word0 : Drain;
      Long: if (take) state_q <= in_last_i ? Word0 : (index_q == 2'd1) ? Data : Long;
      Runt: if (load_ready_i) state_q <= Word0;
      default: if (take && in_last_i) state_q <= Word0;
    endcase
    if (rst_i) begin
      state_q   <= Word0;
      receive_q <= 1'b0;
    end
  end

  // Of the three header words index_q counts 3, 0, 1.
  assign load_valid_o  = state_q == Runt || (state_q == Word2 && in_valid_i);
  assign load_runt_o   = state_q == Runt;
  assign load_header_o = {in_data_i, word1_q, word0_q};
  assign word_valid_o  = take && (state_q == Short || state_q == Long);
  assign word_index_o  = (index_q == 2'd3) ? 3'd3 : {2'b10, index_q[0]};
  assign word_data_o   = in_data_i;
  always_comb begin
    whole_o = 1'b0;
    whole_bad_o = 1'b1;
    whole_payload_o = 1'b0;
    case (state_q)
      Word2: begin
        whole_o = take && in_last_i;
        whole_bad_o = !(short_q && empty_q);
      end
      Short: begin
        whole_o = take;
        whole_bad_o = !in_last_i || empty_q;
        whole_payload_o = keeps_q;
      end
      Long: begin
        whole_o = take && (in_last_i || index_q == 2'd1);
        whole_bad_o = in_last_i;
        whole_payload_o = !in_last_i;
      end
      Runt: whole_o = load_ready_i;
      default: ;
    endcase
  end

  logic [$clog2(Depth+1)-1:0] level;
  fifo #(
      .W(65),
      .Depth(Depth)
  ) u_body (
      .clk_i,
      .rst_i,
      .in_valid_i (in_valid_i && (state_q == Data || (state_q == Short && keeps_q))),
      .in_ready_o (body_ready),
      .in_data_i  ({in_last_i || state_q == Short, in_data_i}),
      .out_valid_o(body_valid_o),
      .out_ready_i(body_ready_i),
      .out_data_o ({body_last_o, body_data_o}),
      .level_o    (level)
  );

  assign busy_o = state_q == Runt || level != '0;
endmodule
