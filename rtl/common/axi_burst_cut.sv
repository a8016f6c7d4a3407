// SPDX-License-Identifier: MIT OR Apache-2.0
// Cuts memory bursts into AXI4 bursts that stay within 4 KB, and counts the outstanding ones.
//
// Input      memory commands {addr, len = beats - 1}, `in_addr_i` word aligned (lower bits are ignored).
// Output     an address channel of AXI4: valid holds, with its payload, until taken. A command that crosses a multiple
//            of 4 KB becomes two bursts, cut there; any other becomes one. Two are enough: 256 words are at most 4 KB.
// Notes      `new_o` is a pulse, with `new_len_o`, in the cycle before a burst is offered. `open_valid_o`: a burst is
//            not done; `open_final_o`: the oldest such burst ends its command; `done_i` ends that burst.
// Latency    2 cycles; 1 burst per cycle.
// Full       at most Outstanding bursts are offered and not done; one further command waits inside, then `in_ready_o`
//            is low.
// Misuse     a command beyond the last address continues at address 0.
// Reset      drops everything.
// busy_o     low when nothing is inside or outstanding.
// Source     the 4 KB rule: AXI4, A3.4.1.
module axi_burst_cut #(
    parameter int AddrW = 32,  // bits of a byte address, > 12
    parameter int DataW = 32,  // bits of a word: 32, 64 or 128
    parameter int Outstanding = 4  // bursts offered and not done, >= 1
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic in_valid_i,
    output logic in_ready_o,
    input logic [AddrW-1:0] in_addr_i,
    input logic [7:0] in_len_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [AddrW-1:0] out_addr_o,
    output logic [7:0] out_len_o,
    output logic new_o,
    output logic [7:0] new_len_o,
    output logic open_valid_o,
    output logic open_final_o,
    input logic done_i
);
  localparam int LaneW = $clog2(DataW / 8);
  localparam int EdgeW = 12 - LaneW;  // bits of a word's index within 4 KB

  if (DataW != 32 && DataW != 64 && DataW != 128) begin : gen_bad_data
    axi_burst_cut_DataW_must_be_32_or_64_or_128 u_bad ();
  end
  if (AddrW <= 12) begin : gen_bad_addr
    axi_burst_cut_AddrW_must_be_above_12 u_bad ();
  end
  if (Outstanding < 1) begin : gen_bad_outstanding
    axi_burst_cut_Outstanding_must_be_at_least_1 u_bad ();
  end

  logic head_valid, take_head;
  logic [AddrW-13:0] head_page;
  logic [EdgeW-1:0] head_word;
  logic [7:0] head_len;

  skid #(
      .W(AddrW - LaneW + 8)
  ) u_in (
      .clk_i,
      .rst_i,
      .in_valid_i,
      .in_ready_o,
      .in_data_i  ({in_addr_i[AddrW-1:LaneW], in_len_i}),
      .out_valid_o(head_valid),
      .out_ready_i(take_head),
      .out_data_o ({head_page, head_word, head_len})
  );

  // The index of a command's last word: its carry says that the command crosses, its low bits how far beyond.
  logic crosses, free, note_ready, second_q;
  logic [EdgeW:0] end_word;
  logic [7:0] rest_q;  // beats of the second burst of a command cut in two, minus 1
  logic [AddrW-13:0] page_q;
  logic [EdgeW-1:0] word_q;

  assign end_word = (EdgeW + 1)'(head_word) + (EdgeW + 1)'(head_len);
  assign crosses = end_word[EdgeW];
  assign free = note_ready && (!out_valid_o || out_ready_i);
  assign take_head = free && !second_q;
  assign new_o = free && (second_q || head_valid);
  always_comb begin
    new_len_o = head_len;
    if (crosses) new_len_o = ~head_word[7:0];
    if (second_q) new_len_o = rest_q;
  end

  always_ff @(posedge clk_i) begin
    if (new_o) begin
      page_q <= second_q ? page_q + (AddrW - 12)'(1) : head_page;
      word_q <= second_q ? '0 : head_word;
      rest_q <= end_word[7:0];
      out_len_o <= new_len_o;
    end
    if (rst_i) begin
      out_valid_o <= 1'b0;
      second_q <= 1'b0;
    end else begin
      out_valid_o <= new_o || (out_valid_o && !out_ready_i);
      if (new_o) second_q <= !second_q && crosses;
    end
  end
  assign out_addr_o = {page_q, word_q, LaneW'(0)};

  logic unused;
  assign unused = &{1'b0, in_addr_i[LaneW-1:0], end_word[EdgeW-1:7]};

  logic [$clog2(Outstanding + 1)-1:0] note_level;
  fifo #(
      .W(1),
      .Depth(Outstanding)
  ) u_note (
      .clk_i,
      .rst_i,
      .in_valid_i (new_o),
      .in_ready_o (note_ready),
      .in_data_i  (second_q || !crosses),
      .out_valid_o(open_valid_o),
      .out_ready_i(done_i),
      .out_data_o (open_final_o),
      .level_o    (note_level)
  );
  assign busy_o = head_valid || second_q || note_level != '0;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) assert (!done_i || open_valid_o);
  end
`endif
endmodule
