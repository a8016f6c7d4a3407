// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, inside ap1000p_queues: the queues of one class in a RAM of their own, words in, whole messages out.
// Queues are numbered by priority.
//
// Put        `put_valid_i` puts a word into `put_queue_i` (one-hot), with the number of its message and its index in
//            it; the queue must not be full. The word must be the next of its queue's open message, or a first one;
//            with `put_doubt_i` a first one. Another word is dropped, and so are the words of the open message: the
//            message has lost words, or has more than MessageWords. `broken_o` says so. `forget_i` drops the open
//            message of a queue, the rest of which will not come; not together with a word of it.
// Out        valid/ready stream {queue one-hot, end, word}: whole messages. `ap1000p_queue_arbiter` selects one in the
//            cycle before the last word of the one before is offered, or later, when there is one. A message is in when
//            its last word is.
// Back       `back_i` of a queue, a pulse: its message that was selected last is to be read again. It keeps its words,
//            and the queue is not selected, until then or until `settle_i`: that message will not come back. Both come
//            when all of it has been taken. With `settle_i` always high none comes back, and none is waited for.
// Hold       `hold_i` of a queue: it is not selected.
// Latency    3 cycles from a message's last word put to its first offered. 1 word per cycle, no bubble between
//            messages.
// Full       `full_o`: the queue holds all its words, or all but one. It always holds a whole message then, selected or
//            not.
// Reset      empties it.
// more_o     the queue has a message that is not being read.
// Source     queues in a RAM of 256 words: the machine's Linux port. A RAM for each class, so that none waits for the
//            other's sender; pointers as a position behind whole messages and a count of the open one's words: ours.
module ap1000p_queue_ram #(
    // words of each queue, a power of two and at least 32, 256 together at most; 0 for no third queue
    parameter int First = 32,
    parameter int Second = 64,
    parameter int Third = 64,
    parameter int AgeCap = 16,  // messages that may pass over one
    localparam int N = Third == 0 ? 2 : 3
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic put_valid_i,
    input logic [N-1:0] put_queue_i,
    input logic [2:0] put_number_i,
    input logic [3:0] put_index_i,
    input logic put_end_i,
    input logic [31:0] put_data_i,
    input logic put_doubt_i,
    input logic [N-1:0] forget_i,
    input logic [N-1:0] hold_i,
    input logic [N-1:0] settle_i,
    input logic [N-1:0] back_i,
    output logic broken_o,
    output logic [N-1:0] full_o,
    output logic [N-1:0] more_o,
    output logic out_valid_o,
    input logic out_ready_i,
    output logic [N-1:0] out_queue_o,
    output logic out_end_o,
    output logic [31:0] out_data_o
);
  function automatic int words(input int queue);
    case (queue)
      0: words = First;
      1: words = Second;
      default: words = Third;
    endcase
  endfunction

  // The larger queues come first, so each begins at a multiple of its size.
  function automatic int base(input int queue);
    base = 0;
    for (int q = 0; q < N; q++) begin
      if (words(q) > words(queue) || (words(q) == words(queue) && q < queue)) base = base + words(q);
    end
  endfunction

  if (First + Second + Third > 256) begin : gen_bad_sum
    ap1000p_queue_ram_queues_must_be_256_words_or_less u_bad ();
  end
  for (genvar q = 0; q < N; q++) begin : gen_check
    if (words(q) < 32 || (words(q) & (words(q) - 1)) != 0) begin : gen_bad_size
      ap1000p_queue_ram_each_queue_must_be_a_power_of_two_and_at_least_32 u_bad ();
    end
  end

  logic [N-1:0][7:0] whole_q, rd_q;  // positions behind the whole messages, and of the next word to be read
  logic [N-1:0][4:0] open_q;  // words behind whole_q
  logic [N-1:0][2:0] number_q;  // of their message
  logic [N-1:0][7:0] whole_addr, next_addr, rd_addr;

  // --------------------------------------------------------------------------------------------------------------- put
  logic [7:0] put_whole, put_next;
  logic [4:0] expected;
  logic [2:0] number;
  logic first, fits;

  always_comb begin
    put_whole = '0;
    put_next  = '0;
    expected  = '0;
    number    = '0;
    for (int q = 0; q < N; q++) begin
      if (put_queue_i[q]) begin
        put_whole = put_whole | whole_addr[q];
        put_next  = put_next | next_addr[q];
        expected  = expected | open_q[q];
        number    = number | number_q[q];
      end
    end
  end
  assign first = put_index_i == '0;
  assign fits  = first || ({put_number_i, 5'(put_index_i)} == {number, expected} && !put_doubt_i);

  // ------------------------------------------------------------------------------------------------------------ reader
  logic run_q, fetch, ends, choose;
  logic [N-1:0] sel_q, pick, more_q, forgotten;
  logic [N-1:0] unsure_q;  // the message selected last may come back
  logic [7:0] addr_q, addr_pick, addr_next;

  assign fetch  = run_q && (!out_valid_o || out_ready_i);
  assign choose = !run_q || (fetch && ends);

  ap1000p_queue_arbiter #(
      .N(N),
      .AgeCap(AgeCap)
  ) u_queue_arbiter (
      .clk_i,
      .rst_i,
      .more_i(more_q & ~hold_i & ~unsure_q),
      .take_i(choose),
      .pick_o(pick)
  );

  always_comb begin
    addr_pick = '0;
    addr_next = '0;
    for (int q = 0; q < N; q++) begin
      if (pick[q]) addr_pick = addr_pick | rd_addr[q];
      if (sel_q[q]) addr_next = addr_next | rd_addr[q];
    end
  end

  for (genvar q = 0; q < N; q++) begin : gen_queue
    localparam bit [7:0] Size = 8'(words(q));
    localparam bit [7:0] Base = 8'(base(q));
    localparam bit [7:0] Mask = Size - 8'd1;
    logic full_q, put, in, out;
    logic [7:0] next, rd_next, level;
    logic [7:0] begin_q;  // position of the message selected last
    logic [7:0] count_q;  // whole messages that are not being read, with those that came back

    assign next = whole_q[q] + 8'(open_q[q]);
    assign whole_addr[q] = (whole_q[q] & Mask) | Base;
    assign next_addr[q] = (next & Mask) | Base;
    // The queue being read is a word further when this matters.
    assign rd_next = rd_q[q] + 8'(sel_q[q]);
    assign rd_addr[q] = (rd_next & Mask) | Base;
    assign level = next - (unsure_q[q] ? begin_q : rd_q[q]);
    assign full_o[q] = full_q;
    assign put = put_valid_i && put_queue_i[q];
    assign in = put && fits && put_end_i;
    assign out = choose && pick[q];
    assign forgotten[q] = forget_i[q] && open_q[q] != '0;

    always_ff @(posedge clk_i) begin
      if (put) number_q[q] <= put_number_i;
      if (out) begin_q <= rd_next;
      if (rst_i) begin
        whole_q[q] <= '0;
        open_q[q] <= '0;
        rd_q[q] <= '0;
        count_q <= '0;
        more_q[q] <= 1'b0;
        unsure_q[q] <= 1'b0;
        full_q <= 1'b0;
      end else begin
        if (put) open_q[q] <= (!fits || put_end_i) ? '0 : 5'(put_index_i) + 5'd1;
        else if (forget_i[q]) open_q[q] <= '0;
        if (in) whole_q[q] <= (first ? whole_q[q] : next) + 8'd1;
        if (back_i[q]) rd_q[q] <= begin_q;
        else if (fetch && sel_q[q]) rd_q[q] <= rd_next;
        count_q <= count_q + 8'(in) + 8'(back_i[q]) - 8'(out);
        more_q[q] <= in || back_i[q] || count_q[7:1] != '0 || (more_q[q] && !out);
        unsure_q[q] <= out ? !settle_i[q] : unsure_q[q] && !settle_i[q] && !back_i[q];
        full_q <= level >= Size - 8'd1;
      end
    end
  end

  (* no_rw_check *) logic [31:0] mem_q[256];  // no word is read in the cycle it is written
  logic end_q[256];
  logic write_q, wr_end_q;
  logic [ 7:0] wr_addr_q;
  logic [31:0] wr_data_q;
  assign ends = end_q[addr_q];

  always_ff @(posedge clk_i) begin
    // A cycle late: no word is read sooner than two cycles after it was put.
    write_q <= put_valid_i && fits;
    wr_addr_q <= first ? put_whole : put_next;
    {wr_end_q, wr_data_q} <= {put_end_i, put_data_i};
    if (write_q) mem_q[wr_addr_q] <= wr_data_q;
    if (write_q) end_q[wr_addr_q] <= wr_end_q;
    if (fetch) begin
      out_data_o  <= mem_q[addr_q];
      out_end_o   <= ends;
      out_queue_o <= sel_q;
    end
    if (choose) addr_q <= addr_pick;
    else if (fetch) addr_q <= addr_next;
    if (rst_i) begin
      run_q <= 1'b0;
      sel_q <= '0;
      out_valid_o <= 1'b0;
      broken_o <= 1'b0;
    end else begin
      if (choose) begin
        run_q <= pick != '0;
        sel_q <= pick;
      end
      out_valid_o <= fetch || (out_valid_o && !out_ready_i);
      broken_o <= (put_valid_i && (!fits || (first && expected != '0))) || forgotten != '0;
    end
  end

  assign more_o = more_q;
  assign busy_o = run_q || out_valid_o || more_q != '0 || unsure_q != '0 || broken_o;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!put_valid_i || (put_queue_i != '0 && (put_queue_i & (put_queue_i - N'(1))) == '0));
      assert (!put_valid_i || (put_queue_i & full_o) == '0);
      assert (!put_valid_i || (put_queue_i & forget_i) == '0);
      assert ((sel_q & (sel_q - N'(1))) == '0);
      assert ((back_i & ~unsure_q) == '0 && (back_i & sel_q) == '0);
    end
  end
`endif
endmodule
