// One output of a switch of the hyper-crossbar: its crosspoints, its link, and the credits beyond.
//
// Handshake  grant_i (one at most): the word of this input goes, on channel_i; it is in data_i of that input in the
//            next cycle. room_o, by channel: a word may go in this cycle. whole_o: Whole data words may, if no other
//            data word goes meanwhile. Link out: valid_o with channel_o, data_o, last_o, and source_o, the input. A
//            pulse of credit_i returns a credit, which may be used in the next cycle.
// Latency    granted at one edge, on the link after the next one. 1 word a cycle.
// busy_o     a word is on its way, or a credit is about to be counted.
// Source     docs/machines/cppacs-contract.md. Each crosspoint is a flip-flop with its own reset, as in
//            crossbar_output. The credits are counted a cycle late, so no counter stands behind a grant.
module hxb_output #(
    parameter int N = 4,  // inputs, 2 or more
    parameter int Credits = 16,  // of data, 4 or more
    parameter int AckCredits = 16,  // 4 or more
    parameter int Whole = 4,  // below Credits
    localparam int SourceW = $clog2(N)
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic [N-1:0]       grant_i,
    input  logic               channel_i,
    input  logic               last_i,
    input  logic [N-1:0][31:0] data_i,
    output logic [1:0]         room_o,
    output logic               whole_o,
    output logic               valid_o,
    output logic               channel_o,
    output logic [31:0]        data_o,
    output logic               last_o,
    output logic [SourceW-1:0] source_o,
    input  logic [1:0]         credit_i,
    output logic               busy_o
);
  if (Credits < 4 || AckCredits < 4) begin : gen_bad_credits
    hxb_output_Credits_must_be_at_least_4 u_bad ();
  end
  if (Whole >= Credits) begin : gen_bad_whole
    hxb_output_Whole_must_be_below_Credits u_bad ();
  end

  logic [N:0][31:0] crossed  /*verilator split_var*/;  // data at the first i crosspoints, ORed
  logic [N-1:0] granted_q;
  logic sent_q, sent_channel_q, sent_last_q;
  logic [SourceW-1:0] source, sent_source_q;

  assign crossed[0] = '0;
  for (genvar i = 0; i < N; i++) begin : gen_cross
    logic [31:0] cross_q;
    always_ff @(posedge clk_i) begin
      if (!granted_q[i]) cross_q <= '0;
      else cross_q <= data_i[i];
    end
    assign crossed[i+1] = crossed[i] | cross_q;
  end
  assign data_o = crossed[N];

  always_comb begin
    source = '0;
    for (int i = 0; i < N; i++) if (grant_i[i]) source = source | SourceW'(i);
  end
  always_ff @(posedge clk_i) begin
    sent_channel_q <= channel_i;
    sent_last_q <= last_i;
    sent_source_q <= source;
    channel_o <= sent_channel_q;
    last_o <= sent_last_q;
    source_o <= sent_source_q;
    if (rst_i) begin
      granted_q <= '0;
      sent_q <= 1'b0;
      valid_o <= 1'b0;
    end else begin
      granted_q <= grant_i;
      sent_q <= grant_i != '0;
      valid_o <= sent_q;
    end
  end

  for (genvar c = 0; c < 2; c++) begin : gen_channel
    localparam int Most = c == 0 ? Credits : AckCredits;
    localparam int CountW = $clog2(Most + 1);
    // Credits before the word of the cycle before; two or more of them; one.
    logic [CountW-1:0] count_q, count_d;
    logic many_q, one_q, used;
    assign used = sent_q && sent_channel_q == 1'(c);
    assign count_d = count_q + (credit_i[c] == used ? '0 : used ? '1 : CountW'(1));
    assign room_o[c] = many_q || (one_q && !used);
    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        count_q <= CountW'(Most);
        many_q  <= 1'b1;
        one_q   <= 1'b0;
      end else begin
        count_q <= count_d;
        many_q  <= count_d[CountW-1:1] != '0;
        one_q   <= count_d == CountW'(1);
      end
`ifdef TSUNAGI_ASSERT
      if (!rst_i) begin
        assert (!credit_i[c] || used || int'(count_q) < Most)
        else $error("hxb_output: a credit too many");
        assert (!used || count_q != '0);
      end
`endif
    end
    if (c == 0) begin : gen_whole
      always_ff @(posedge clk_i) begin
        if (rst_i) whole_o <= 1'b1;
        else whole_o <= int'(count_d) > Whole;  // one may be gone by then
      end
    end
  end

  assign busy_o = sent_q || valid_o || credit_i != '0;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) assert ((grant_i & (grant_i - N'(1))) == '0);
  end
`endif
endmodule
