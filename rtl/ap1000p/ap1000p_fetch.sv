// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, inside ap1000p_send: reads the words of communication registers that messages bring.
//
// Job        `job_valid_i`, for one cycle: `job_words_i` words, possibly 0, from register `job_addr_i` / 4 on. At most
//            two jobs may be unread.
// Registers  a source of ap1000p_creg that never waits there (its `fault_i` is high). An empty register is requested
//            again while `wait_i` is high; otherwise it ends the job as an error. So no other reader of registers waits
//            for this one.
// Out        valid/ready: the words with `last`. `out_err_o` stands in place of a word that cannot be had, and the job
//            ends. So does a job that leaves the registers, before its first word.
// done_o     a pulse: all words of a job are in the buffer, or its error. The message then waits for nobody.
// Latency    3 cycles from job to request; a word per 4 cycles with ap1000p_creg; 3 from the response to `out`.
// Full       128 words, the most that a job has, wait to be taken.
// Reset      drops everything; ap1000p_creg must forget the request, too.
// busy_o     low when nothing is inside.
// Source     registers as the sending side of a PUT: paper 2.2.1, 2.2.8. Read before the message goes, repeated
//            requests: own guess.
module ap1000p_fetch (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,
    input  logic wait_i,

    input logic job_valid_i,
    input logic [31:0] job_addr_i,
    input logic [19:0] job_words_i,
    output logic done_o,

    output logic creg_valid_o,
    input logic creg_ready_i,
    output logic [6:0] creg_addr_o,
    input logic creg_rsp_valid_i,
    output logic creg_rsp_ready_o,
    input logic creg_rsp_fault_i,
    input logic [31:0] creg_rsp_data_i,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic out_err_o,
    output logic out_last_o,
    output logic [31:0] out_data_o
);
  typedef enum logic [1:0] {
    Idle,
    Begin,
    Request,
    Await
  } state_e;
  state_e state_q;

  // A job: {leaves the registers, words, first}.
  logic job_valid, job_ready, job_pop, job_bad, job_outside;
  logic [6:0] job_first;
  logic [7:0] job_words;
  logic [1:0] job_level;
  assign job_outside = job_addr_i[31:9] != '0 || job_addr_i[1:0] != '0 || job_words_i[19:8] != '0 ||
                       {1'b0, job_words_i[7:0]} + {2'b0, job_addr_i[8:2]} > 9'd128;
  fifo #(
      .W(16),
      .Depth(2)
  ) u_jobs (
      .clk_i,
      .rst_i,
      .in_valid_i (job_valid_i),
      .in_ready_o (job_ready),
      .in_data_i  ({job_outside && job_words_i != '0, job_words_i[7:0], job_addr_i[8:2]}),
      .out_valid_o(job_valid),
      .out_ready_i(job_pop),
      .out_data_o ({job_bad, job_words, job_first}),
      .level_o    (job_level)
  );

  logic came, put, room, err, last, bad_q, none_q;
  logic [6:0] at_q;
  logic [7:0] left_q;
  logic [7:0] level;
  assign job_pop = state_q == Idle;
  assign creg_valid_o = state_q == Request && room;
  assign creg_addr_o = at_q;
  assign creg_rsp_ready_o = state_q == Await;
  // An empty register gives no word yet.
  assign came = state_q == Await && creg_rsp_valid_i && !(creg_rsp_fault_i && wait_i);
  assign put = came || (state_q == Begin && bad_q && room);
  assign err = bad_q || creg_rsp_fault_i;
  assign last = err || left_q == 8'd1;

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      {bad_q, left_q, at_q} <= {job_bad, job_words, job_first};
      none_q <= job_words == '0 && !job_bad;
    end else if (put) begin
      left_q <= left_q - 8'd1;
      at_q   <= at_q + 7'd1;
    end
    if (rst_i) begin
      state_q <= Idle;
      done_o  <= 1'b0;
    end else begin
      done_o <= (put && last) || (state_q == Begin && none_q);
      case (state_q)
        Idle: if (job_valid) state_q <= Begin;
        Begin: begin
          if (none_q || put) state_q <= Idle;
          else if (!bad_q) state_q <= Request;
        end
        Request: if (room && creg_ready_i) state_q <= Await;
        default: if (creg_rsp_valid_i) state_q <= (put && last) ? Idle : Request;
      endcase
    end
  end

  logic waits, pass;
  logic [33:0] next;
  fifo_bram #(
      .W(34),
      .Depth(128)
  ) u_words (
      .clk_i,
      .rst_i,
      .in_valid_i(put),
      .in_ready_o(room),
      .in_data_i ({err, last, creg_rsp_data_i}),
      .out_valid_o(waits),
      .out_ready_i(pass),
      .out_data_o(next),
      .level_o   (level)
  );
  // A block RAM shows its word late in the cycle.
  skid #(
      .W(34)
  ) u_out (
      .clk_i,
      .rst_i,
      .in_valid_i(waits),
      .in_ready_o(pass),
      .in_data_i (next),
      .out_valid_o,
      .out_ready_i,
      .out_data_o({out_err_o, out_last_o, out_data_o})
  );
  assign busy_o = state_q != Idle || job_level != '0 || level != '0 || out_valid_o || done_o;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) assert (!job_valid_i || job_ready);
  end
`endif
endmodule
