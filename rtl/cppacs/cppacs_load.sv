// CP-PACS NIA, reads for cppacs_send: the bytes of each command, as one packet of words.
//
// Command    {address, bytes}, both multiples of 8, bytes above 0.
// Memory     read commands {addr, len = beats - 1}, cut where the address is a multiple of BurstBeats words. At most
//            Outstanding bursts await data, and 16 are inside. A burst is asked for when all its words have room: a
//            slow sink never holds the bus.
// Output     words of a command with `out_last_o` at the last one; `out_err_o`: memory reported an error for the word.
// Latency    2 cycles from command to memory command, 2 from memory's word to output. 1 word per cycle, no bubble
//            between commands of 2 words, if memory's latency is at most (Outstanding - 1) bursts.
// Full       a command is taken when the one before has all its bursts asked for.
// Reset      drops everything; the memory must forget its bursts, too.
// busy_o     low when nothing is inside or outstanding.
// Source     ours: dma_read without bytes, in block RAM, at a third of its area.
module cppacs_load #(
    parameter int BurstBeats  = 16,  // words in the longest burst, power of two, 4..64
    parameter int Outstanding = 4    // bursts that may await data, 2..16
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic cmd_valid_i,
    output logic cmd_ready_o,
    input logic [31:0] cmd_addr_i,
    input logic [20:0] cmd_bytes_i,

    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [31:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    input logic mem_data_valid_i,
    output logic mem_data_ready_o,
    input logic [31:0] mem_data_data_i,
    input logic mem_data_last_i,
    input logic mem_data_err_i,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic [31:0] out_data_o,
    output logic out_last_o,
    output logic out_err_o
);
  localparam int UnitW = $clog2(BurstBeats) - 1;  // a unit: 8 bytes
  localparam int BlockW = 18 - UnitW;
  localparam int Inside = 16;  // bursts

  if (BurstBeats < 4 || BurstBeats > 64 || (2 << UnitW) != BurstBeats) begin : gen_bad_burst
    cppacs_load_BurstBeats_must_be_a_power_of_two_from_4_to_64 u_bad ();
  end
  if (Outstanding < 2 || Outstanding > 16) begin : gen_bad_outstanding
    cppacs_load_Outstanding_must_be_2_to_16 u_bad ();
  end

  logic [5:0] unused_low;
  assign unused_low = {cmd_addr_i[2:0], cmd_bytes_i[2:0]};

  // Blocks are what bursts may not cross. The command's last unit, counted from the start of its first block; the
  // present block, counted from the first.
  logic active_q, first_q, issue, final_d, note_ready, valid_q;
  logic [28:0] unit_q;
  logic [17:0] more_q, last;  // units but one
  logic [BlockW-1:0] block_q;
  logic [UnitW-1:0] begins, ends;
  logic [4:0] inside_q;
  assign last = more_q + 18'(unit_q[UnitW-1:0]);
  assign final_d = block_q == last[17:UnitW];
  assign begins = unit_q[UnitW-1:0] & {UnitW{first_q}};
  assign ends = last[UnitW-1:0] | {UnitW{!final_d}};
  assign cmd_ready_o = !active_q;
  assign issue = active_q && note_ready && !inside_q[4] && (!valid_q || mem_cmd_ready_i);

  always_ff @(posedge clk_i) begin
    if (!active_q) begin
      unit_q  <= cmd_addr_i[31:3];
      more_q  <= cmd_bytes_i[20:3] - 18'd1;
      block_q <= '0;
      first_q <= 1'b1;
    end else if (issue) begin
      block_q <= block_q + BlockW'(1);
      first_q <= 1'b0;
    end
    if (issue) begin
      mem_cmd_addr_o <= {unit_q[28:UnitW] + (29 - UnitW)'(block_q), begins, 3'd0};
      mem_cmd_len_o  <= 8'({ends - begins, 1'b1});
    end
    if (rst_i) {active_q, valid_q} <= '0;
    else begin
      active_q <= active_q ? !(issue && final_d) : cmd_valid_i;
      valid_q  <= issue || (valid_q && !mem_cmd_ready_i);
    end
  end
  assign mem_cmd_valid_o = valid_q;

  // For each burst that awaits data: it is its command's last.
  logic note_valid, note_final, take;
  logic [$clog2(Outstanding + 1)-1:0] unused_notes;
  fifo #(
      .W(1),
      .Depth(Outstanding)
  ) u_note (
      .clk_i,
      .rst_i,
      .in_valid_i (issue),
      .in_ready_o (note_ready),
      .in_data_i  (final_d),
      .out_valid_o(note_valid),
      .out_ready_i(take && mem_data_last_i),
      .out_data_o (note_final),
      .level_o    (unused_notes)
  );

  logic buffer_ready, burst_end, gone;
  logic [$clog2(Inside * BurstBeats + 1)-1:0] unused_level;
  assign mem_data_ready_o = note_valid && buffer_ready;
  assign take = mem_data_valid_i && mem_data_ready_o;
  fifo_bram #(
      .W(35),
      .Depth(Inside * BurstBeats)
  ) u_buffer (
      .clk_i,
      .rst_i,
      .in_valid_i(take),
      .in_ready_o(buffer_ready),
      .in_data_i ({mem_data_err_i, mem_data_last_i, mem_data_last_i && note_final, mem_data_data_i}),
      .out_valid_o,
      .out_ready_i,
      .out_data_o({out_err_o, burst_end, out_last_o, out_data_o}),
      .level_o   (unused_level)
  );
  assign gone = out_valid_o && out_ready_i && burst_end;
  always_ff @(posedge clk_i) begin
    if (rst_i) inside_q <= '0;
    else if (issue != gone) inside_q <= inside_q + (gone ? '1 : 5'd1);
  end

  assign busy_o = active_q || inside_q != '0;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!cmd_valid_i || (cmd_bytes_i != '0 && cmd_bytes_i[2:0] == '0 && cmd_addr_i[2:0] == '0));
      // There is always room for requested words.
      assert (!mem_data_valid_i || mem_data_ready_o);
    end
  end
  mem_read_rules #(
      .Outstanding(Outstanding)
  ) u_memory (
      .clk_i,
      .rst_i,
      .cmd_valid_i (mem_cmd_valid_o),
      .cmd_ready_i (mem_cmd_ready_i),
      .cmd_len_i   (mem_cmd_len_o),
      .data_valid_i(mem_data_valid_i),
      .data_ready_i(mem_data_ready_o),
      .data_last_i (mem_data_last_i)
  );
`endif
endmodule
