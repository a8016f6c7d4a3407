// `hxb_arbiter` lets words go one by one at each input and output, by worms, fairly, and where it can.
//
// - An input sends one word at most in a cycle, and an output gets one. Each goes only where its output has room.
// - From first word to last no other worm of its channel goes to its output.
// - In a channel's own cycle each output with room gets a word of it, if one waits that may go. So neither channel can
//   keep the other from more than every second cycle, and in a cycle of its own none can be kept from going at all.
// - A waiting worm is passed over by at most N - 1 worms of its channel.
//
// Assumed: a head stands until it goes, and all words of a worm are for one output.
module prove_hxb_arbiter #(
    parameter int N = 2
) (
    input logic clk_i,
    input logic rst_i,
    input logic [1:0][N-1:0] one_i,
    input logic [1:0][N-1:0] last_i,
    input logic [1:0][N-1:0][1:0] to_i,
    input logic [1:0][N-1:0] room_i,
    input logic closed_i,
    input logic hush_i,
    // Any output: what is claimed of it holds for each.
    input logic [1:0] output_i
);
  localparam int ToW = $clog2(N);
  logic [1:0][N-1:0] go;
  logic [1:0][N-1:0][N-1:0] way;
  logic [1:0][N-1:0][ToW-1:0] to;
  logic [N-1:0] open;
  logic data_first;

  for (genvar c = 0; c < 2; c++) begin : gen_channel
    for (genvar i = 0; i < N; i++) begin : gen_input
      assign to[c][i]  = ToW'(to_i[c][i]);
      assign way[c][i] = N'(1) << to[c][i];
    end
  end

  hxb_arbiter #(
      .N(N)
  ) dut (
      .clk_i,
      .rst_i,
      .one_i,
      .last_i,
      .way_i       (way),
      .to_i        (to),
      .room_i,
      .closed_i,
      .hush_i,
      .go_o        (go),
      .open_o      (open),
      .data_first_o(data_first)
  );
  power_up u_power_up (.*);

  logic [1:0][N-1:0] one_q, last_q, stay_q, open_q;
  logic [1:0][N-1:0][ToW-1:0] to_q;
  logic [1:0] output_q;
  logic ran_q = 1'b0;
  assign open_q = dut.open_q;
  always_ff @(posedge clk_i) begin
    ran_q <= 1'b1;
    one_q <= one_i;
    last_q <= last_i;
    to_q <= to;
    stay_q <= one_i & ~go & {2 * N{!rst_i}};
    output_q <= output_i;
    output_stays : assume (!ran_q || output_q == output_i);
    output_exists : assume (int'(output_i) < N);
  end
  for (genvar c = 0; c < 2; c++) begin : gen_rules
    for (genvar i = 0; i < N; i++) begin : gen_head
      always_ff @(posedge clk_i) begin
        exists : assume (int'(to_i[c][i]) < N);
        head_stands : assume (!stay_q[c][i] || (one_i[c][i] && last_i[c][i] == last_q[c][i]));
        worm_stays : assume (!(stay_q[c][i] || open_q[c][i]) || to[c][i] == to_q[c][i]);
      end
    end
  end

  // What goes to the output, by channel; who is inside a worm to it; who waits for it and may go.
  logic [1:0][N-1:0] goes, held, waits;
  always_comb begin
    for (int c = 0; c < 2; c++) begin
      for (int i = 0; i < N; i++) begin
        goes[c][i] = go[c][i] && to[c][i] == ToW'(output_i);
        held[c][i] = open_q[c][i] && to[c][i] == ToW'(output_i);
        waits[c][i] = one_i[c][i] && to[c][i] == ToW'(output_i);
      end
    end
  end
  function automatic logic several(input logic [N-1:0] set);
    several = (set & (set - N'(1))) != '0;
  endfunction

  // By channel and input, for a worm that waits at the head: the inputs whose worms passed it.
  logic [1:0][N-1:0][N-1:0] passed_q;
  for (genvar c = 0; c < 2; c++) begin : gen_fair
    for (genvar i = 0; i < N; i++) begin : gen_waits
      logic mine;
      logic [N-1:0] begins, older;
      assign mine  = one_i[c][i] && !open_q[c][i];
      assign older = dut.older[c][i];
      for (genvar j = 0; j < N; j++) begin : gen_rival
        assign begins[j] = j != i && go[c][j] && !open_q[c][j] && to[c][j] == to[c][i];
      end
      always_ff @(posedge clk_i) begin
        if (rst_i || !mine || go[c][i]) passed_q[c][i] <= '0;
        else passed_q[c][i] <= passed_q[c][i] | begins;
        if (!rst_i) begin
          passed_once : assert (!mine || (begins & passed_q[c][i]) == '0);
          passed_are_younger : assert (!mine || (passed_q[c][i] & older) == '0);
          passes : cover (mine && passed_q[c][i] != '0 && go[c][i]);
        end
      end
    end
  end
  for (genvar c = 0; c < 2; c++) begin : gen_order
    if (N == 3) begin : gen_three
      always_ff @(posedge clk_i) begin
        if (!rst_i) begin
          in_order : assert (!(dut.older[c][0][1] && dut.older[c][1][2] && dut.older[c][2][0]));
          in_order_back : assert (!(dut.older[c][1][0] && dut.older[c][2][1] && dut.older[c][0][2]));
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_of_an_input : assert ((go[0] & go[1]) == '0);
      one_to_an_output : assert (!several(goes[0]) && !several(goes[1]) && !(goes[0] != '0 && goes[1] != '0));
      only_waiting : assert ((go & ~one_i) == '0);
      with_room : assert (goes[0] == '0 || room_i[0][output_i]);
      acks_with_room : assert (goes[1] == '0 || room_i[1][output_i]);
      unmixed : assert (held[0] == '0 || (goes[0] & ~held[0]) == '0);
      acks_unmixed : assert (held[1] == '0 || (goes[1] & ~held[1]) == '0);
      closes : assert (!closed_i || (goes[0] & ~held[0]) == '0);
      data_in_own_cycle : assert (!data_first || !room_i[0][output_i] || goes[0] != '0 ||
          (held[0] == '0 ? waits[0] == '0 || closed_i : (waits[0] & held[0]) == '0));
      acks_in_own_cycle : assert (data_first || !room_i[1][output_i] || goes[1] != '0 ||
          (held[1] == '0 ? waits[1] == '0 : (waits[1] & held[1]) == '0));
      hushed : assert (!(hush_i && data_first) || go[1] == '0);
      // Invariants for induction.
      one_inside : assert (!several(held[0]) && !several(held[1]));
      // The claims are not vacuous.
      both : cover (goes[0] != '0 && go[1] != '0);
    end
  end
endmodule
