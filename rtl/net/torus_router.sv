// SPDX-License-Identifier: MIT OR Apache-2.0
// Router of a 2-D torus: one for each cell, five ports, wormhole packets, two message classes, broadcasts.
//
// Purpose    carries packets (words up to and including `last`) by their first word, X before Y, in the shorter
//            direction (+ if both are equally short). First word: [7:0] x and [15:8] y of the destination; [17:16] the
//            receivers; [18] the class (0 requests, 1 replies and acknowledges). Receivers: 0 that cell; 1 each cell of
//            the sender's row, the sender included; 2 each cell of column x. The rest of the word, y of a column and x
//            and y of a row are free for the sender.
// Ports      0 the cell, 1 +X, 2 -X, 3 +Y, 4 -Y: port 1 of (x, y) joins port 2 of (x + 1, y), port 3 port 4 of (x, y +
//            1). Virtual channel: {class, lane}. On lane 0 a packet has yet to cross the link between its ring's last
//            cell and cell 0; on lane 1 it does not cross it any more. To and from the cell there is lane 0 only.
// Handshake  credits. A word comes with in_valid_i and the number of its virtual channel; the sender needs one of that
//            channel's four credits. in_credit_o pulses for each credit in the cycle after its slot becomes free.
//            Outputs likewise. Packets may share a link word by word, each on a channel of its own. Outputs come from
//            flip-flops (data: from an OR of flip-flops). x_i, y_i and last_x_i, last_y_i (the highest coordinates) are
//            static from the last cycle of reset on.
// Latency    a word on the link at one clock edge is on the next link after the second edge after it (3 cycles link to
//            link). A word a cycle and link, from one channel or several, without a bubble between packets; an input
//            and an output each carry one word a cycle. Where a broadcast forks, each word takes two cycles: one for
//            each copy. With CyclesPerWord above 1 each of the four links carries a word in as many cycles.
// Order      two packets of one class from one cell to another, or two broadcasts to one row or column, do not overtake
//            each other.
// Broadcast  a column broadcast goes along X to its column. Each broadcast then goes in + direction to cell 0 of its
//            ring (lane 0, no copies), all round if it starts there. Then it goes to the last cell (lane 1), with a
//            copy at each cell, taken before it goes on. No word goes to two links: a tree of broadcasts deadlocks.
// Full       a word leaves only with a free slot beyond; nothing is lost. docs/machines/torus.md proves that no packets
//            wait for each other in a circle, with copies and replies; src/net/dependencies.rs checks it over the same
//            routing function.
// Misuse     drained: a packet to its own cell (a cell copies by itself), a broadcast that is a reply, and one to both
//            a row and a column. A coordinate above last_x_i or last_y_i leads to the end of its ring, and the packet
//            is drained there. A packet on a port or in a class that it never should use is drained, too. drained_o
//            counts them all, and saturates. A word sent without a credit overwrites the words waiting in its channel.
// busy_o     0 after an edge: nothing is inside, and further edges change nothing while no in_valid_i or out_credit_i
//            is set.
// Source     dimension order and two lanes a ring: Dally and Seitz, 1987. Only the rate of the machine's own router is
//            known (25 MB/s a link: W = 32, CyclesPerWord = 8 at 50 MHz); organisation and broadcast paths are ours.
module torus_router #(
    parameter int W = 64,  // bits a word, 19 or more
    parameter int CoordW = 5,  // bits of x_i, y_i, last_x_i and last_y_i, 1 to 8
    parameter int CyclesPerWord = 1  // on links to other routers, 1 or more
) (
    input  logic                     clk_i,
    input  logic                     rst_i,
    input  logic [CoordW-1:0]        x_i,
    input  logic [CoordW-1:0]        y_i,
    input  logic [CoordW-1:0]        last_x_i,
    input  logic [CoordW-1:0]        last_y_i,
    input  logic [       4:0]        in_valid_i,
    input  logic [       4:0][  1:0] in_vc_i,
    input  logic [       4:0][W-1:0] in_data_i,
    input  logic [       4:0]        in_last_i,
    output logic [       4:0][  3:0] in_credit_o,
    output logic [       4:0]        out_valid_o,
    output logic [       4:0][  1:0] out_vc_o,
    output logic [       4:0][W-1:0] out_data_o,
    output logic [       4:0]        out_last_o,
    input  logic [       4:0][  3:0] out_credit_i,
    output logic                     busy_o,
    output logic [      15:0]        drained_o
);

  if (W < 19) begin : gen_bad_w
    torus_router_W_must_be_at_least_19 u_bad ();
  end
  if (CoordW < 1 || CoordW > 8) begin : gen_bad_coord
    torus_router_CoordW_must_be_1_to_8 u_bad ();
  end
  if (CyclesPerWord < 1) begin : gen_bad_pace
    torus_router_CyclesPerWord_must_be_at_least_1 u_bad ();
  end

  // The last cell of a ring that is reached in + direction: half way round, rounded down. The top bit: it is not below
  // this one.
  function automatic logic [CoordW:0] half_way(input logic [CoordW-1:0] here, input logic [CoordW-1:0] last);
    logic [CoordW:0] far, beyond;  // beyond: from cell 0 on, negative if it is not
    logic unused_half;
    {far, unused_half} = {1'b0, here, 1'b1} + {2'b0, last};
    beyond = far + {1'b1, ~last};
    half_way = {beyond[CoordW], beyond[CoordW] ? far[CoordW-1:0] : beyond[CoordW-1:0]};
  endfunction

  // Per input, over outputs: the request of its word; the grant.
  logic [4:0][4:0] request, grant;
  logic [4:0][4:0] request_to, grant_to;  // per output, over inputs
  // Over inputs: of the word that requests.
  logic [4:0][1:0] vc;
  logic [4:0] head, last;
  logic [4:0][W:0] word  /*verilator split_var*/;  // {last, data} of the word that requested in the cycle before
  logic [4:0] drained, in_busy, out_busy;
  // The router's position: see torus_route.
  logic [CoordW-1:0] far_x, far_y, far_x_q, far_y_q;
  logic [1:0] at_first_q, at_last_q, above, before_q;
  logic retry;
  logic [4:0] retry_q;  // at irregular intervals, or a waiting channel could miss its chance each time

  assign {above[0], far_x} = half_way(x_i, last_x_i);
  assign {above[1], far_y} = half_way(y_i, last_y_i);
  always_ff @(posedge clk_i) begin
    far_x_q <= far_x;
    far_y_q <= far_y;
    at_first_q <= {y_i == '0, x_i == '0};
    at_last_q <= {y_i == last_y_i, x_i == last_x_i};
    before_q <= above;
    if (rst_i) retry_q <= '1;
    else if (busy_o) retry_q <= {retry_q[3:0], retry_q[4] ^ retry_q[2]};
    if (rst_i) busy_o <= 1'b1;
    else busy_o <= in_valid_i != '0 || (in_busy | out_busy) != '0;
  end

  assign retry = retry_q[2:0] == '0;
  for (genvar i = 0; i < 5; i++) begin : gen_in
    for (genvar o = 0; o < 5; o++) begin : gen_to
      assign request_to[o][i] = request[i][o];
      assign grant[i][o] = grant_to[o][i];
    end
    torus_input #(
        .Port  (i),
        .W     (W),
        .CoordW(CoordW)
    ) u_input (
        .clk_i     (clk_i),
        .rst_i     (rst_i),
        .x_i       (x_i),
        .y_i       (y_i),
        .far_x_i   (far_x_q),
        .far_y_i   (far_y_q),
        .at_first_i(at_first_q),
        .at_last_i (at_last_q),
        .before_i  (before_q),
        .valid_i   (in_valid_i[i]),
        .vc_i      (in_vc_i[i]),
        .data_i    (in_data_i[i]),
        .last_i    (in_last_i[i]),
        .credit_o  (in_credit_o[i]),
        .request_o (request[i]),
        .vc_o      (vc[i]),
        .head_o    (head[i]),
        .last_o    (last[i]),
        .grant_i   (grant[i]),
        .word_o    (word[i]),
        .retry_i   (retry),
        .drained_o (drained[i]),
        .busy_o    (in_busy[i])
    );
  end

  for (genvar o = 0; o < 5; o++) begin : gen_out
    torus_output #(
        .Port         (o),
        .W            (W),
        .CyclesPerWord(o == 0 ? 1 : CyclesPerWord)
    ) u_output (
        .clk_i    (clk_i),
        .rst_i    (rst_i),
        .request_i(request_to[o]),
        .vc_i     (vc),
        .head_i   (head),
        .last_i   (last),
        .grant_o  (grant_to[o]),
        .word_i   (word),
        .valid_o  (out_valid_o[o]),
        .vc_o     (out_vc_o[o]),
        .data_o   (out_data_o[o]),
        .last_o   (out_last_o[o]),
        .credit_i (out_credit_i[o]),
        .busy_o   (out_busy[o])
    );
  end

  // Packets without a receiver, counted at their last word.
  logic [ 2:0] more;
  logic [16:0] count_d;
  always_comb begin
    more = '0;
    for (int i = 0; i < 5; i++) more = more + {2'd0, drained[i]};
    count_d = {1'b0, drained_o} + {14'd0, more};
  end
  always_ff @(posedge clk_i) begin
    if (rst_i) drained_o <= '0;
    else drained_o <= count_d[16] ? '1 : count_d[15:0];
  end

endmodule
