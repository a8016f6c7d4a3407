// One input of crossbar_multicast: it looks up a packet's outputs, and offers the packet to one of them after the other.
//
// Purpose    stores the words of packets in block RAM, and gives each packet to the crossbar as often as it has outputs,
//            each time with the digit of one output. It begins with output Own, so inputs that send to all at the same
//            time do not meet.
// Handshake  AXI4-Stream valid/ready/data/last on both sides; every valid and ready is a flip-flop. out_digit_o counts
//            with a packet's first word. A pulse of unroutable_o or refused_o counts a packet that was drained.
// Tables     route_write_i and group_write_i: the edge writes route_i or group_i at index_i. A first word that is taken
//            at the same edge has the old entry.
// Latency    a word is offered after the fourth edge after it was taken; a multicast, after that of its last word. One
//            word a cycle, no bubble between packets; three cycles before each further copy.
// Full       in_ready_o falls with Depth - 4 to Depth - 1 words inside. A multicast is inside to its last copy.
// Misuse     a multicast of more than MulticastWords words is drained and counted in refused_o; a packet without an
//            output, in unroutable_o.
// busy_o     a word is inside.
// Why so     words of a multicast are committed together, so a copy never waits for its source, and what was too long is
//            forgotten by going back to the last commit. The pipeline fetches ahead, and goes back for a copy.
// Source     our own: the papers on RHiNET-2/SW name multicast and no circuit.
module multicast_input #(
    parameter int N = 8,  // outputs, 2 to 64
    parameter int W = 64,  // bits a word
    parameter int MulticastWords = 70,  // longest multicast, 1 or more
    parameter int DstAt = 32,  // lowest of the destination's 16 bits in a first word
    parameter int MulticastAt = 10,  // bit of a first word that marks a multicast
    parameter int Own = 0,  // output of the first copy
    localparam int DigitW = $clog2(N)
) (
    input  logic              clk_i,
    input  logic              rst_i,
    input  logic              open_i,
    input  logic              route_write_i,
    input  logic              group_write_i,
    input  logic [       5:0] index_i,
    input  logic [  DigitW:0] route_i,        // {there is one, output}
    input  logic [     N-1:0] group_i,        // outputs
    input  logic              in_valid_i,
    output logic              in_ready_o,
    input  logic [     W-1:0] in_data_i,
    input  logic              in_last_i,
    output logic              out_valid_o,
    input  logic              out_ready_i,
    output logic [     W-1:0] out_data_o,
    output logic              out_last_o,
    output logic [DigitW-1:0] out_digit_o,
    output logic              busy_o,
    output logic              unroutable_o,
    output logic              refused_o
);
  // A multicast that is one word too long still leaves room.
  localparam int AtW = $clog2(MulticastWords + 5);
  localparam int Depth = 2 ** AtW;

  (* no_rw_check *) logic [N+W:0] words_q[Depth];  // {outputs, last, data}; no place is read in the cycle of its write
  // Words are kept up to write_q, may be read up to commit_q, and are fetched up to read_q. free_q is the first word that
  // is still needed.
  logic [AtW-1:0] write_q, commit_q, read_q, free_q, level, open_words;

  // ---------------------------------------------------------------------------------------------------------- tables
  logic [DigitW:0] routes_q[64];
  logic [N-1:0] groups_q[16];
  always_ff @(posedge clk_i) begin
    if (route_write_i) routes_q[index_i] <= route_i;
    if (group_write_i) groups_q[index_i[3:0]] <= group_i;
  end

  logic [15:0] dst;
  logic [DigitW:0] route;
  logic [N-1:0] one, group, outputs;
  logic multicast;
  assign dst = in_data_i[DstAt+:16];
  assign multicast = in_data_i[MulticastAt];
  assign route = routes_q[dst[5:0]];
  assign one = N'(route[DigitW] && dst[15:6] == '0) << route[DigitW-1:0];
  assign group = dst[15:4] == '0 ? groups_q[dst[3:0]] : '0;
  assign outputs = multicast ? group : one;

  // ---------------------------------------------------------------------------------------------------------- way in
  logic ready_q, first_q, taken_q, multicast_q, refuse_q;
  logic [  W:0] word_q;
  logic [N-1:0] outputs_q;  // of the last word taken, output Own lowest
  logic take, none, excess, keep;

  assign take = in_valid_i && ready_q;
  assign none = outputs_q == '0;
  assign open_words = write_q - commit_q;
  assign excess = taken_q && multicast_q && open_words == AtW'(MulticastWords);
  assign keep = taken_q && !none && !excess && !refuse_q;
  assign level = write_q - free_q;

  always_ff @(posedge clk_i) begin
    word_q <= {in_last_i, in_data_i};
    if (take && first_q) begin
      multicast_q <= multicast;
      outputs_q   <= N'({outputs, outputs} >> Own);
    end
    if (keep) words_q[write_q] <= {outputs_q, word_q};
    if (rst_i) begin
      ready_q <= 1'b0;
      first_q <= 1'b1;
      taken_q <= 1'b0;
      refuse_q <= 1'b0;
      write_q <= '0;
      commit_q <= '0;
      unroutable_o <= 1'b0;
      refused_o <= 1'b0;
    end else begin
      ready_q <= open_i && level[AtW-1:2] != '1;
      taken_q <= take;
      if (take) first_q <= in_last_i;
      if (taken_q) refuse_q <= (excess || refuse_q) && !word_q[W];
      if (excess) write_q <= commit_q;
      else if (keep) write_q <= write_q + AtW'(1);
      if (keep && (word_q[W] || !multicast_q)) commit_q <= write_q + AtW'(1);
      unroutable_o <= taken_q && word_q[W] && none;
      refused_o <= taken_q && word_q[W] && (excess || refuse_q);
    end
  end

  // --------------------------------------------------------------------------------------------------------- way out
  // Fetched from the memory, and looked at.
  logic fetched_valid_q, looked_valid_q, valid_q;
  logic [N+W:0] fetched_q, looked_q;
  logic [W:0] out_q;
  logic [DigitW-1:0] digit_q, digit;
  logic begins_q, again_q;  // a copy begins with the next word, and it is not the packet's first
  logic [N-1:0] left_q, due, pick, left;
  logic go, more, final_copy, back;

  assign go = !valid_q || out_ready_i;
  assign more = read_q != commit_q;
  assign due = again_q ? left_q : looked_q[W+1+:N];
  assign left = begins_q ? due & ~pick : left_q;
  assign final_copy = left == '0;
  assign back = looked_valid_q && looked_q[W] && !final_copy;

  always_comb begin
    pick  = '0;
    digit = '0;
    for (int i = N - 1; i >= 0; i--) begin
      if (due[i]) begin
        pick  = N'(1) << i;
        digit = DigitW'((i + Own) % N);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (go) begin
      fetched_q <= words_q[read_q];
      looked_q <= fetched_q;
      out_q <= looked_q[W:0];
      digit_q <= digit;
      if (looked_valid_q) left_q <= left;
    end
    if (rst_i) begin
      read_q <= '0;
      free_q <= '0;
      fetched_valid_q <= 1'b0;
      looked_valid_q <= 1'b0;
      valid_q <= 1'b0;
      begins_q <= 1'b1;
      again_q <= 1'b0;
    end else if (go) begin
      if (back) read_q <= free_q;
      else if (more) read_q <= read_q + AtW'(1);
      fetched_valid_q <= more && !back;
      looked_valid_q <= fetched_valid_q && !back;
      valid_q <= looked_valid_q;
      if (looked_valid_q) begin
        if (final_copy) free_q <= free_q + AtW'(1);
        begins_q <= looked_q[W];
        again_q  <= back;
      end
    end
  end

  assign in_ready_o = ready_q;
  assign out_valid_o = valid_q;
  assign {out_last_o, out_data_o} = out_q;
  assign out_digit_o = digit_q;
  assign busy_o = taken_q || level != '0 || valid_q;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!keep || level != '1);
      assert (open_words <= AtW'(MulticastWords));
      assert (!looked_valid_q || !begins_q || due != '0);
    end
  end
`endif
endmodule
