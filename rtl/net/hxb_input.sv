// One input of a switch of the hyper-crossbar: the words of two channels, of which one goes in a cycle.
//
// Handshake  link in: a word comes with in_valid_i, on a channel (0 data, 1 acknowledge). Its sender needs a credit of
//            the channel: Room of data, 16 of acknowledge, after reset. in_credit_o pulses in the cycle after a word
//            has left. in_way_i: the outputs of the word on the link if it begins a worm; none: the worm is drained,
//            and drained_o pulses at its last word. Heads, by channel: see hxb_queue; one_o and all_o ask. take_i (one
//            at most) says in the same cycle that a channel's word goes; data_o is that word in the next cycle. drop_i
//            takes a word of the data channel away and shows it nowhere.
// Latency    a word on the link at one edge is at the head two edges later; with Room = 496, on the data channel,
//            three. 1 word a cycle.
// Misuse     a word sent without a credit overwrites the words of its channel; an assertion says so.
// busy_o     a word is inside, or a credit on its way.
// Source     docs/machines/cppacs-contract.md. All words stand in one block RAM of 512 words, those of the acknowledge
//            channel in the last 16. It has a write port and a read port, as a link has a word a cycle.
module hxb_input #(
    parameter int N = 4,  // outputs, 2 or more
    parameter int Room = 16,  // words of data: 16 or 496
    localparam int ToW = $clog2(N)
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                in_valid_i,
    input  logic                in_channel_i,
    input  logic [31:0]         in_data_i,
    input  logic                in_last_i,
    input  logic [N-1:0]        in_way_i,
    output logic [1:0]          in_credit_o,
    output logic [1:0]          one_o,
    output logic [1:0]          all_o,
    output logic [1:0]          last_o,
    output logic [1:0][N-1:0]   way_o,
    output logic [1:0][ToW-1:0] to_o,
    input  logic [1:0]          take_i,
    input  logic                drop_i,
    output logic [31:0]         data_o,
    output logic [1:0]          drained_o,
    output logic                busy_o
);
  if (Room != 16 && Room != 496) begin : gen_bad_room
    hxb_input_Room_must_be_16_or_496 u_bad ();
  end

  (* no_rw_check, ram_style = "block" *) logic [31:0] words_q[512];
  logic [1:0] push, pop, valid, lost, busy;
  logic [1:0][8:0] free, at;
  logic [8:0] write_at, read_at;

  assign push = {in_valid_i && in_channel_i, in_valid_i && !in_channel_i};
  assign lost = valid & ~one_o & ~all_o;
  assign pop  = take_i | lost | {1'b0, drop_i && valid[0]};

  assign write_at = in_channel_i ? {5'h1f, free[1][3:0]} : free[0];
  assign read_at = take_i[1] ? {5'h1f, at[1][3:0]} : at[0];
  always_ff @(posedge clk_i) begin
    if (in_valid_i) words_q[write_at] <= in_data_i;
    data_o <= words_q[read_at];
  end

  for (genvar c = 0; c < 2; c++) begin : gen_channel
    logic begun_q;  // of the incoming worm
    logic [N-1:0] way_q, way;
    assign way = begun_q ? way_q : in_way_i;
    always_ff @(posedge clk_i) begin
      if (push[c]) way_q <= way;
      if (rst_i) begin
        begun_q <= 1'b0;
        in_credit_o[c] <= 1'b0;
        drained_o[c] <= 1'b0;
      end else begin
        if (push[c]) begun_q <= !in_last_i;
        in_credit_o[c] <= pop[c];
        drained_o[c] <= lost[c] && last_o[c];
      end
    end
    hxb_queue #(
        .N(N),
        .Deep(Room == 496 && c == 0)
    ) u_queue (
        .clk_i  (clk_i),
        .rst_i  (rst_i),
        .push_i (push[c]),
        .last_i (in_last_i),
        .way_i  (way),
        .free_o (free[c]),
        .valid_o(valid[c]),
        .one_o  (one_o[c]),
        .all_o  (all_o[c]),
        .last_o (last_o[c]),
        .way_o  (way_o[c]),
        .to_o   (to_o[c]),
        .at_o   (at[c]),
        .pop_i  (pop[c]),
        .busy_o (busy[c])
    );
  end

  assign busy_o = busy != '0 || in_credit_o != '0 || drained_o != '0;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (take_i != '1);
      assert ((take_i & ~valid) == '0 && (take_i & lost) == '0);
    end
  end
`endif
endmodule
