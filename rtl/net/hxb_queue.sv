// One channel of an hxb_input: the order of its words, and what is known of the one at the head.
//
// Purpose    keeps for each word whether it ends its worm, and its worm's outputs; the words themselves stand in a
//            memory of the input, at the same addresses.
// Handshake  push_i: a word comes to address free_o. way_i are its outputs: none, one, or all. pop_i: the word at the
//            head leaves. Of that word: valid_o; one_o and all_o, for one output or for all; way_o its outputs, to_o
//            the number of the one, last_o, at_o its address. way_o and to_o hold while there is no word.
// Latency    pushed at one edge, at the head after the next one (Deep: two later). Then 1 word a cycle.
// Full       the parent pushes no word that has no place: Words are inside.
// busy_o     a word is inside.
// Source     ours. Few words: their control stands in LUT RAM. Many: in block RAM, whose output is too slow to be asked
//            in the cycle in which a word goes, so a spare register stands behind it, as in multicast_input. The
//            addresses of many words never have five ones at the top: these places are the other channel's.
module hxb_queue #(
    parameter int N = 4,  // outputs, 2 or more
    parameter bit Deep = 1'b0,  // 496 words instead of 16
    localparam int ToW = $clog2(N)
) (
    input  logic           clk_i,
    input  logic           rst_i,
    input  logic           push_i,
    input  logic           last_i,
    input  logic [  N-1:0] way_i,
    output logic [    8:0] free_o,
    output logic           valid_o,
    output logic           one_o,
    output logic           all_o,
    output logic           last_o,
    output logic [  N-1:0] way_o,
    output logic [ToW-1:0] to_o,
    output logic [    8:0] at_o,
    input  logic           pop_i,
    output logic           busy_o
);
  // Many: 16 words in each of 31 rows, which a shift register with feedback steps through.
  function automatic logic [8:0] next(input logic [8:0] address);
    logic [3:0] low;
    low = address[3:0] + 4'd1;
    next = {address[8:4], low};
    if (Deep && address[3:0] == '1) next[8:4] = {address[7:4], address[8] ~^ address[6]};
  endfunction

  (* init = 0 *) logic [8:0] free_q, read_q, at_q;
  logic valid_q, more, step;
  // What follows the word at the head: {last, outputs}.
  logic follows, load;
  logic [N:0] follow;
  logic [ToW-1:0] to;

  assign more = read_q != free_q;
  assign load = follows && (pop_i || !valid_q);

  if (Deep) begin : gen_many
    (* no_rw_check *) logic [N:0] infos_q[512];
    logic [N:0] out_q, spare_q;
    logic out_valid_q, empty_q;  // empty: no word in spare_q
    assign step = !out_valid_q || empty_q;
    assign follows = out_valid_q || !empty_q;
    assign follow = empty_q ? out_q : spare_q;
    always_ff @(posedge clk_i) begin
      if (push_i) infos_q[free_q] <= {last_i, way_i};
      if (step) out_q <= infos_q[read_q];
      if (empty_q) spare_q <= out_q;
      if (rst_i) begin
        out_valid_q <= 1'b0;
        empty_q <= 1'b1;
      end else begin
        if (step) out_valid_q <= more;
        empty_q <= pop_i || !valid_q || (empty_q && !out_valid_q);
      end
    end
    assign busy_o = valid_q || out_valid_q || !empty_q || more;
  end else begin : gen_few
    logic [N:0] infos_q[16];
    always_ff @(posedge clk_i) begin
      if (push_i) infos_q[free_q[3:0]] <= {last_i, way_i};
    end
    assign step = pop_i || !valid_q;
    assign follows = more;
    assign follow = infos_q[read_q[3:0]];
    assign busy_o = valid_q || more;
  end

  always_comb begin
    to = '0;
    for (int o = 0; o < N; o++) if (follow[o]) to = to | ToW'(o);
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      {last_o, way_o} <= follow;
      to_o <= to;
    end
    if (rst_i) begin
      free_q  <= '0;
      read_q  <= '0;
      at_q    <= '0;
      valid_q <= 1'b0;
      one_o   <= 1'b0;
      all_o   <= 1'b0;
    end else begin
      if (push_i) free_q <= next(free_q);
      if (step && more) read_q <= next(read_q);
      if (pop_i) at_q <= next(at_q);
      valid_q <= follows || (valid_q && !pop_i);
      if (pop_i || !valid_q) begin
        one_o <= follows && follow[N-1:0] != '0 && follow[1:0] != '1;
        all_o <= follows && follow[1:0] == '1;
      end
    end
  end

  assign free_o = free_q;
  assign at_o = at_q;
  assign valid_o = valid_q;

`ifdef TSUNAGI_ASSERT
  localparam int Words = Deep ? 496 : 16;
  logic [9:0] inside_q;
  always_ff @(posedge clk_i) begin
    if (rst_i) inside_q <= '0;
    else inside_q <= inside_q + 10'(push_i) - 10'(pop_i);
    if (!rst_i) begin
      assert (!push_i || int'(inside_q) < Words)
      else $error("hxb_queue: a word without a place");
      assert (!pop_i || valid_q);
      assert ((inside_q != '0) == busy_o);
    end
  end
`endif
endmodule
