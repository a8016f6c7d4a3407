// SPDX-License-Identifier: MIT OR Apache-2.0
// One output of a torus router: it allocates its link's virtual channels, arbitrates, and sends the words.
//
// Handshake  request_i[i]: input i has a word for this output, on vc_i[i], that begins (head_i) or ends (last_i) a
//            packet. grant_o (one at most) says in the same cycle that the word goes; word_i has it in the next cycle.
//            Out: a word with valid_o, on vc_o. credit_i returns a credit, which may be used in the same cycle. The
//            link is a function of flip-flops; its data are an OR of flip-flops.
// Channels   a packet holds its channel from its first word to its last; in between, others use the link on other
//            channels.
// Fairness   least recently served first, among the inputs that may go. But traffic straight along its ring sends 16
//            words for one of the others.
// Latency    granted at one edge, on the link after the next: 1 word a cycle, or one in CyclesPerWord.
// busy_o     a word is on its way, or the link has to pause.
// Source     ours. Each crosspoint is a flip-flop with its own reset, as in crossbar_output. Credits are counted a
//            cycle late, and the counter opens a channel at two or more. That leaves half a LUT between a credit and
//            the channel's use. The price: if no credit comes and nothing was sent in the cycle before, a channel's
//            last credit waits for the next one. So a receiver has to return credits before it holds four words. A
//            stream loses nothing: its last word still counts, and then credits come.
module torus_output #(
    parameter int Port = 0,  // 0 the cell, 1 +X, 2 -X, 3 +Y, 4 -Y
    parameter int W = 64,  // bits a word
    parameter int CyclesPerWord = 1
) (
    input  logic              clk_i,
    input  logic              rst_i,
    input  logic [  4:0]      request_i,
    input  logic [  4:0][1:0] vc_i,
    input  logic [  4:0]      head_i,
    input  logic [  4:0]      last_i,
    output logic [  4:0]      grant_o,
    input  logic [  4:0][W:0] word_i,     // {last, data}
    output logic              valid_o,
    output logic [  1:0]      vc_o,
    output logic [W-1:0]      data_o,
    output logic              last_o,
    input  logic [  3:0]      credit_i,
    output logic              busy_o
);
  // Inputs with routes to this output.
  localparam logic [4:0] From = Port == 0 ? 5'b11110 : Port == 1 ? 5'b00101 : Port == 2 ? 5'b00011 :
      Port == 3 ? 5'b10111 : 5'b01111;
  // The opposite input: its traffic moves straight on along its ring.
  localparam int Straight = Port == 1 ? 2 : Port == 2 ? 1 : Port == 3 ? 4 : Port == 4 ? 3 : 5;
  localparam bit ToCell = Port == 0;  // has lane 0 only

  logic [4:0] want;  // it may go, unless a rival is first
  logic [4:0][1:0] vc;
  logic [4:0][4:0] beaten  /*verilator split_var*/;  // beaten[i][j]: by j, which wants to go and was served longer ago
  logic [5:0][W:0] crossed  /*verilator split_var*/;  // {last, data} at the first i crosspoints, ORed
  logic open_q, yields;
  // The present and the previous word: whether there is one, its channel, the end of its packet.
  logic go, sent_q, ends;
  logic [1:0] goes, sent_vc_q;
  logic [3:0] room, free;  // over channels: has room; is not allocated

  // Straight traffic yields to the others with each 16th word. If it yielded with each, rings would fill up and nearly
  // stand still.
  if (ToCell) begin : gen_turns
    assign yields = 1'b1;
  end else begin : gen_straight
    logic [3:0] straight_q;
    assign yields = straight_q == '1;
    always_ff @(posedge clk_i) begin
      if (rst_i) straight_q <= '0;
      else if (grant_o[Straight]) straight_q <= straight_q + 4'd1;
    end
  end

  assign crossed[0] = '0;
  for (genvar i = 0; i < 5; i++) begin : gen_from
    assign grant_o[i] = want[i] && beaten[i] == '0;
    if (From[i]) begin : gen_input
      logic usable;  // its channel has room and is free, or its own
      logic granted_q;
      logic [W:0] cross_q;
      assign vc[i]   = {vc_i[i][1], !ToCell && vc_i[i][0]};
      assign usable  = open_q && room[vc[i]] && (!head_i[i] || free[vc[i]]);
      assign want[i] = request_i[i] && usable;
      for (genvar j = 0; j < 5; j++) begin : gen_rival
        if (From[j] && j < i) begin : gen_pair
          logic older_q;
          always_ff @(posedge clk_i) begin
            if (rst_i) older_q <= 1'b1;
            else
              older_q <= (older_q && !(grant_o[j] && (j != Straight || yields))) ||
                (grant_o[i] && (i != Straight || yields));
          end
          assign beaten[i][j] = want[j] && older_q;
          assign beaten[j][i] = want[i] && !older_q;
        end else if (!From[j] || j == i) begin : gen_none
          assign beaten[i][j] = 1'b0;
        end
      end
      always_ff @(posedge clk_i) begin
        granted_q <= grant_o[i];
        if (!granted_q) cross_q <= '0;
        else cross_q <= word_i[i];
      end
      assign crossed[i+1] = crossed[i] | cross_q;
    end else begin : gen_never
      logic unused;
      assign unused  = &{1'b0, request_i[i], vc_i[i], head_i[i], last_i[i], word_i[i]};
      assign want[i] = 1'b0;
      assign vc[i]   = '0;
      for (genvar j = 0; j < 5; j++) begin : gen_rival
        assign beaten[i][j] = 1'b0;
      end
      assign crossed[i+1] = crossed[i];
    end
  end

  assign go = grant_o != '0;
  always_comb begin
    goes = '0;
    ends = 1'b0;
    for (int i = 0; i < 5; i++) begin
      if (grant_o[i]) begin
        goes = goes | vc[i];
        ends = ends | last_i[i];
      end
    end
  end

  for (genvar v = 0; v < 4; v++) begin : gen_channel
    if (ToCell && v % 2 == 1) begin : gen_none
      logic unused;
      assign unused  = credit_i[v];
      assign room[v] = 1'b0;
      assign free[v] = 1'b0;
    end else begin : gen_some
      logic [2:0] places_q;  // free credits plus 2, so that the highest bit means two or more
      logic free_q, uses, used_q;
      assign uses = go && goes == 2'(v);
      assign room[v] = places_q[2] || credit_i[v];
      assign free[v] = free_q;
      always_ff @(posedge clk_i) begin
        if (rst_i) begin
          places_q <= 3'd6;
          free_q   <= 1'b1;
          used_q   <= 1'b0;
        end else begin
          used_q <= uses;
          if (credit_i[v] != used_q) places_q <= places_q + (used_q ? 3'd7 : 3'd1);
          if (uses) free_q <= ends;
        end
`ifdef TSUNAGI_ASSERT
        if (!rst_i) assert (credit_i[v] == used_q || places_q != (used_q ? 3'd2 : 3'd6));
`endif
      end
    end
  end

  // The pause after a word.
  if (CyclesPerWord == 1) begin : gen_full_speed
    assign open_q = 1'b1;
  end else begin : gen_paced
    localparam int PauseW = $clog2(CyclesPerWord);
    logic [PauseW-1:0] pause_q;
    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        open_q <= 1'b1;
      end else if (go) begin
        open_q  <= 1'b0;
        pause_q <= PauseW'(CyclesPerWord - 1);
      end else if (!open_q) begin
        open_q  <= pause_q == PauseW'(1);
        pause_q <= pause_q - PauseW'(1);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    sent_vc_q <= goes;
    vc_o <= sent_vc_q;
    if (rst_i) begin
      sent_q  <= 1'b0;
      valid_o <= 1'b0;
    end else begin
      sent_q  <= go;
      valid_o <= sent_q;
    end
  end

  assign {last_o, data_o} = crossed[5];
  assign busy_o = sent_q || valid_o || credit_i != '0 || !open_q;
endmodule
