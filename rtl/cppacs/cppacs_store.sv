// CP-PACS NIA, inside cppacs_receive: words of a message go to memory, run by run, in bursts.
//
// Run        {address, bytes}, both multiples of 8. One is taken when the one before has all its words.
// Input      words of the run. A word with `in_last_i` is the message's last: the run is given up behind it.
//            `drop_i`, while `amid_o` is low: the run is given up.
// Memory     write commands {addr, len = beats - 1}, cut where the address is a multiple of BurstBeats words. A burst
//            is collected before it is announced: memory never waits for the network. Its data follow its command. At
//            most Outstanding collected bursts await their responses.
// Amid       a burst is begun and not collected. `end_o`: the next word ends the run.
// Message    `turn_i`, while `old_done_o`: what was collected till now belongs to a message that ended. `old_done_o`:
//            it has all its responses. `old_err_o`: one of them was an error; cleared by `turn_i`.
// Latency    2 cycles from a burst's last word to its memory command. 1 word per cycle, no bubble between runs of 2
//            words, if memory responds within Outstanding - 1 bursts.
// Full       with Outstanding collected bursts `in_ready_o` is low.
// Reset      drops everything; the memory must forget its bursts, too.
// busy_o     low when nothing is inside or outstanding.
// Source     ours: dma_write without bytes, commands of its own, and checks, at less than half of its area.
module cppacs_store #(
    parameter int BurstBeats  = 16,  // words in the longest burst, power of two, 4..64
    parameter int Outstanding = 4    // collected bursts that may await their responses, 2..16
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic run_valid_i,
    output logic run_ready_o,
    input logic [31:0] run_addr_i,
    input logic [20:0] run_bytes_i,
    input logic drop_i,
    output logic active_o,
    output logic amid_o,
    output logic end_o,

    input logic in_valid_i,
    output logic in_ready_o,
    input logic [31:0] in_data_i,
    input logic in_last_i,

    input  logic turn_i,
    output logic old_done_o,
    output logic old_err_o,

    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [31:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    output logic mem_data_valid_o,
    input logic mem_data_ready_i,
    output logic [31:0] mem_data_data_o,
    output logic mem_data_last_o,
    input logic mem_rsp_valid_i,
    output logic mem_rsp_ready_o,
    input logic mem_rsp_err_i
);
  localparam int BeatW = $clog2(BurstBeats);
  localparam int CountW = $clog2(Outstanding + 1);

  if (BurstBeats < 4 || BurstBeats > 64 || (1 << BeatW) != BurstBeats) begin : gen_bad_burst
    cppacs_store_BurstBeats_must_be_a_power_of_two_from_4_to_64 u_bad ();
  end
  if (Outstanding < 2 || Outstanding > 16) begin : gen_bad_outstanding
    cppacs_store_Outstanding_must_be_2_to_16 u_bad ();
  end

  logic [8:0] unused_bits;
  assign unused_bits = {run_addr_i[2:0], run_bytes_i[20:17], run_bytes_i[1:0]};

  // --------------------------------------------------------------------------------------------- words into the buffer
  // The present word, the first of its burst (below the block that it shares with all of it), the words left.
  logic active_q, amid_q, end_q, load, take, run_end, burst_end, buffer_ready, note_ready;
  logic [29:0] word_q;
  logic [BeatW-1:0] base_q;
  logic [14:0] left_q;

  assign active_o = active_q;
  assign amid_o = amid_q;
  assign end_o = end_q;
  assign in_ready_o = active_q && buffer_ready && note_ready;
  assign take = in_valid_i && in_ready_o;
  assign run_end = end_q || in_last_i;
  assign burst_end = run_end || word_q[BeatW-1:0] == '1;
  assign run_ready_o = !active_q || (in_ready_o && end_q && in_valid_i && !in_last_i);
  assign load = run_valid_i && run_ready_o;

  always_ff @(posedge clk_i) begin
    if (load) begin
      word_q <= run_addr_i[31:2];
      left_q <= run_bytes_i[16:2];
      end_q  <= 1'b0;
    end else if (take) begin
      word_q <= word_q + 30'd1;
      left_q <= left_q - 15'd1;
      end_q  <= left_q == 15'd2;
    end
    if (load) base_q <= run_addr_i[2+:BeatW];
    else if (take && burst_end) base_q <= '0;
    if (rst_i) begin
      active_q <= 1'b0;
      amid_q   <= 1'b0;
    end else begin
      if (load) active_q <= 1'b1;
      else if (drop_i || (take && run_end)) active_q <= 1'b0;
      if (take) amid_q <= !burst_end;
    end
  end

  logic data_go, unused_valid;
  logic [$clog2(4*BurstBeats+1)-1:0] unused_level;
  fifo_bram #(
      .W(33),
      .Depth(4 * BurstBeats)
  ) u_buffer (
      .clk_i,
      .rst_i,
      .in_valid_i (take),
      .in_ready_o (buffer_ready),
      .in_data_i  ({burst_end, in_data_i}),
      .out_valid_o(unused_valid),
      .out_ready_i(data_go && mem_data_ready_i),
      .out_data_o ({mem_data_last_o, mem_data_data_o}),
      .level_o    (unused_level)
  );

  // ---------------------------------------------------------------------------------------- collected bursts to memory
  logic note_valid, unused_note_ready, announce, data_done;
  logic [29:0] note_word;
  logic [BeatW-1:0] note_beats;
  logic [6:0] unused_notes;
  fifo_bram #(
      .W(30 + BeatW),
      .Depth(64)
  ) u_note (
      .clk_i,
      .rst_i,
      .in_valid_i (take && burst_end),
      .in_ready_o (unused_note_ready),
      .in_data_i  ({word_q[29:BeatW], base_q, word_q[BeatW-1:0] - base_q}),
      .out_valid_o(note_valid),
      .out_ready_i(mem_cmd_ready_i),
      .out_data_o ({note_word, note_beats}),
      .level_o    (unused_notes)
  );
  assign mem_cmd_valid_o = note_valid;
  assign mem_cmd_addr_o = {note_word, 2'b00};
  assign mem_cmd_len_o = 8'(note_beats);
  assign announce = note_valid && mem_cmd_ready_i;

  // Announced bursts with data still to go; the buffer holds each of them whole.
  logic [CountW-1:0] announced_q;
  assign data_done = data_go && mem_data_ready_i && mem_data_last_o;
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      announced_q <= '0;
      data_go <= 1'b0;
    end else begin
      announced_q <= announced_q + CountW'(announce) - CountW'(data_done);
      data_go <= announce || announced_q > CountW'(data_done);
    end
  end
  assign mem_data_valid_o = data_go;

  // Collected bursts that await their responses, and those among them whose message has ended. Responses are in order.
  logic [CountW-1:0] all_q, all_d, old_q;
  logic old_err_q, err_q, respond, error;
  assign mem_rsp_ready_o = all_q != '0;
  assign respond = mem_rsp_valid_i && mem_rsp_ready_o;
  assign error = respond && mem_rsp_err_i;
  assign all_d = all_q + CountW'(take && burst_end) - CountW'(respond);
  assign old_done_o = old_q == '0;
  assign old_err_o = old_err_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      all_q <= '0;
      old_q <= '0;
      note_ready <= 1'b1;
      err_q <= 1'b0;
      old_err_q <= 1'b0;
    end else begin
      all_q <= all_d;
      note_ready <= all_d != CountW'(Outstanding);
      if (turn_i) begin
        old_q <= all_d;
        old_err_q <= err_q || error;
        err_q <= 1'b0;
      end else if (old_done_o) err_q <= err_q || error;
      else begin
        old_q <= old_q - CountW'(respond);
        old_err_q <= old_err_q || error;
      end
    end
  end

  assign busy_o = active_q || all_q != '0;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!load || (run_addr_i[2:0] == '0 && run_bytes_i[2:0] == '0 && run_bytes_i != '0));
      assert (!data_go || unused_valid);
      assert (unused_note_ready || !(take && burst_end));
      assert (!drop_i || !amid_q);
      assert (!turn_i || (old_done_o && !active_q));
    end
  end
  mem_write_rules u_memory (
      .clk_i,
      .rst_i,
      .data_valid_i(mem_data_valid_o),
      .data_ready_i(mem_data_ready_i),
      .data_last_i (mem_data_last_o),
      .rsp_valid_i (mem_rsp_valid_i),
      .rsp_ready_i (mem_rsp_ready_o)
  );
`endif
endmodule
