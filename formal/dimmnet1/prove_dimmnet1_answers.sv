// SPDX-License-Identifier: MIT OR Apache-2.0
// `dimmnet1_answers` passes each word on once, in order but for one PULL that waits, and `room_o` tells the truth.
//
// - What the merged inputs bring leaves by `out`, but for the packets of PULL. All words of a packet go one way. That
//   the inputs are merged in order and whole is the claim of `stream_merge`'s proof.
// - A PULL of at least three words shows at `pull` with its first four words, once.
// - `room_o` is high only with Spare - 1 free words, and low only with no more than Spare.
// - The builder begins a packet only with at most Builder + 1 words inside, and is never stopped within one.
//
// Assumed: a source holds its offer.
module prove_dimmnet1_answers #(
    parameter int Depth   = 8,
    parameter int Spare   = 3,
    parameter int Builder = 4
) (
    input logic clk_i,
    input logic rst_i,
    input logic [1:0] in_valid_i,
    input logic [1:0][63:0] in_data_i,
    input logic [1:0] in_last_i,
    input logic out_ready_i,
    input logic pull_ready_i,
    input logic mark_i
);
  localparam int CountW = $clog2(Depth + 2);

  logic busy, room, out_valid, out_last, pull_valid, follow;
  logic [1:0] in_ready;
  logic [63:0] out_data;
  logic [3:0][63:0] pull_words;
  logic [CountW-1:0] count, ahead;
  logic [65:0] word;

  dimmnet1_answers #(
      .Depth  (Depth),
      .Spare  (Spare),
      .Builder(Builder)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_data_i,
      .in_last_i,
      .room_o(room),
      .out_valid_o(out_valid),
      .out_ready_i,
      .out_data_o(out_data),
      .out_last_o(out_last),
      .pull_valid_o(pull_valid),
      .pull_ready_i,
      .pull_w0_o(pull_words[0]),
      .pull_w1_o(pull_words[1]),
      .pull_w2_o(pull_words[2]),
      .pull_w3_o(pull_words[3])
  );

  power_up u_power_up (.*);
  for (genvar i = 0; i < 2; i++) begin : gen_source
    stream_rules #(
        .W(65),
        .Assume(1'b1)
    ) u_source (
        .clk_i,
        .rst_i,
        .valid_i(in_valid_i[i]),
        .ready_i(in_ready[i]),
        .data_i ({in_last_i[i], in_data_i[i]})
    );
  end
  stream_rules #(
      .W(65)
  ) u_out (
      .clk_i,
      .rst_i,
      .valid_i(out_valid),
      .ready_i(out_ready_i),
      .data_i ({out_last, out_data})
  );
  stream_rules #(
      .W(256)
  ) u_pull (
      .clk_i,
      .rst_i,
      .valid_i(pull_valid),
      .ready_i(pull_ready_i),
      .data_i (pull_words)
  );

  // --------------------------------------------------------------------------------------------------------- the queue
  // What enters it, and the kind of the packet by its first word; what leaves it, by either way.
  logic enter, leave, first_q, kind_q, kind, leaves_pull;
  assign enter = dut.merge_valid && dut.merge_ready_in;
  assign kind = first_q ? dut.merge_data[7:0] == 8'(dimmnet1_pkg::TypePull) : kind_q;
  assign leaves_pull = dut.valid && dut.take && !out_valid;
  assign leave = leaves_pull || (out_valid && out_ready_i);
  always_ff @(posedge clk_i) begin
    if (enter) {first_q, kind_q} <= {dut.merge_last, kind};
    if (rst_i) first_q <= 1'b1;
  end
  stream_track #(
      .W(66),
      .Capacity(Depth)
  ) u_track (
      .clk_i,
      .rst_i,
      .mark_i,
      .push_i(enter),
      .in_data_i({dut.merge_last, kind, dut.merge_data}),
      .pop_i(leave),
      .out_data_i(leaves_pull ? {dut.last, 1'b1, dut.data} : {out_last, 1'b0, out_data}),
      .inside_o(count),
      .follow_o(follow),
      .ahead_o(ahead),
      .word_o(word)
  );

  // The n-th word inside: the prefetched one, then the words in the memory.
  function automatic logic [65:0] nth(input int n);
    int at;
    at = (int'(dut.gen_part[0].u_queue.rd_q) + n - int'(dut.valid)) % Depth;
    nth = (n == 0 && dut.valid) ? {dut.gen_part[1].u_queue.out_data_q, dut.gen_part[0].u_queue.out_data_q} :
          {dut.gen_part[1].u_queue.mem_q[at], dut.gen_part[0].u_queue.mem_q[at]};
  endfunction
  int stored;  // words in the memory
  assign stored = int'(count) - int'(dut.valid);

  // ----------------------------------------------------------------------------------------------------- what has left
  logic ends_q, of_pull_q, waits_q;  // the last word ended its packet; was one of PULL; a PULL waits
  logic [2:0] words_q;  // of the last PULL, at most 4
  logic [3:0][63:0] came_q;
  always_ff @(posedge clk_i) begin
    if (leave) {ends_q, of_pull_q} <= {leaves_pull ? dut.last : out_last, leaves_pull};
    if (leaves_pull) begin
      words_q <= ends_q ? 3'd1 : words_q + 3'(words_q < 3'd4);
      if (ends_q) came_q <= {192'b0, dut.data};
      else if (words_q < 3'd4) came_q[words_q[1:0]] <= dut.data;
    end
    waits_q <= ((leaves_pull && dut.last) || (waits_q && !pull_ready_i)) && !rst_i;
    if (rst_i) begin
      ends_q  <= 1'b1;
      words_q <= '0;
    end
  end

  logic shows;  // the pull's port holds words of a PULL
  assign shows = waits_q || (!ends_q && of_pull_q);

  // The builder is inside a packet.
  logic building_q, builds;
  assign builds = in_valid_i[1] && in_ready[1];
  always_ff @(posedge clk_i) building_q <= (builds ? !in_last_i[1] : building_q) && !rst_i;

  // Every word inside is of its packet's kind.
  for (genvar n = 0; n < Depth; n++) begin : gen_place
    logic [65:0] prior;
    if (n == 0) begin : gen_head
      assign prior = {ends_q, of_pull_q, 64'b0};
    end else begin : gen_next
      assign prior = nth(n - 1);
    end
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        of_its_kind : assert (n >= int'(count) || prior[65] || prior[64] == 1'(nth(n) >> 64));
        last_in : assert (n != int'(count) - 1 || {first_q, kind_q} == 2'(nth(n) >> 64));
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_way : assert (!leave || ends_q || leaves_pull == of_pull_q);
      pull_shows_once : assert (pull_valid == waits_q);
      pull_as_it_came : assert (!(pull_valid && words_q >= 3'd3) || pull_words == came_q);
      room_is_there : assert (!room || int'(count) <= Depth - Spare + 1);
      room_is_told : assert (room || int'(count) >= Depth - Spare);
      builder_waits : assert (!(builds && !building_q) || int'(count) <= Builder + 1);
      builder_goes_on : assert (!building_q || in_ready[1] == dut.merge_ready[1]);
      busy_tells : assert (busy || (count == '0 && !pull_valid && !dut.merge_valid));
      // Invariants for induction.
      seen : assert (dut.begin_q == first_q && (first_q || dut.pull_q == kind_q));
      built : assert (dut.inside_q == building_q && (!building_q || dut.open_q));
      empty : assert (count != '0 || (ends_q == first_q && (first_q || of_pull_q == kind_q)));
      levels : assert (int'(dut.level) == int'(count));
      content : assert (!follow || nth(int'(ahead)) == word);
      collects : assert (dut.word_q == ((ends_q || !of_pull_q) ? 4'd1 : 4'd1 << words_q));
      words_possible : assert (words_q <= 3'd4);
      waits_whole : assert (!waits_q || ends_q || !of_pull_q);
      // The claims are not vacuous.
      passes : cover (pull_valid && out_valid && out_ready_i && out_last);
      of_four : cover (pull_valid && words_q == 3'd4 && pull_words[3] != '0);
      no_room : cover (!room && builds);
    end
  end
  for (genvar i = 0; i < 2; i++) begin : gen_part
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        together :
        assert (int'(dut.levels[i]) == int'(count) && dut.valids[i] == dut.valid &&
                dut.gen_part[i].u_queue.ready_q == (int'(count) != Depth));
        stored_flag : assert (dut.gen_part[i].u_queue.stored_q == (stored != 0) && stored >= 0);
        pointers :
        assert (int'(dut.gen_part[i].u_queue.rd_q) < Depth &&
                dut.gen_part[i].u_queue.rd_q == dut.gen_part[0].u_queue.rd_q &&
                int'(dut.gen_part[i].u_queue.wr_q) == (int'(dut.gen_part[i].u_queue.rd_q) + stored) % Depth);
      end
    end
  end
  for (genvar n = 0; n < 4; n++) begin : gen_word
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        collected : assert (!shows || n >= int'(words_q) || pull_words[n] == came_q[n]);
        rest_is_zero : assert (!shows || n < 3 || words_q > 3'd3 || (pull_words[3] == '0 && came_q[3] == '0));
      end
    end
  end
endmodule
