// CP-PACS NIA, sender of the acknowledge channel: each transfer is one short worm.
//
// Transfers  descriptors of `cppacs_desc_pkg`, a word a cycle. `desc_ready_o` is high until the last word, and again
//            when
//            all of the transfer is done.
// WRITE      reads its data, 2 to 8 words, and then sends. A memory error: nothing is sent, the reason is MEMORY.
// Requests   8 words of payload, of the descriptor.
// Memory     client 2 of the words unit: reads, and the send flag after the worm's last word, or for a refusal.
// Latency    3 cycles from the descriptor's last word to F0 at `out`, with a read 6 more and the read. One word a
//            cycle.
// Full       one transfer at a time.
// busy_o     low when nothing is inside.
// Source     the channel: US patent 5,892,923 of the family; formats are ours.
module cppacs_ack_send (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic desc_valid_i,
    output logic desc_ready_o,
    input logic [3:0] desc_index_i,
    input logic [31:0] desc_data_i,

    output logic job_valid_o,
    input logic job_ready_i,
    output logic [1:0] job_op_o,
    output logic [31:0] job_addr_o,
    output logic [4:0] job_words_o,
    output logic [31:0] job_data_o,
    input logic job_take_i,
    input logic job_data_valid_i,
    input logic [31:0] job_data_i,
    input logic job_done_i,
    input logic job_err_i,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic [31:0] out_data_o,
    output logic out_last_o,

    output logic sending_o,  // a transfer is under way
    output logic sent_o,  // pulse: a worm is out
    output logic words_o,  // pulse: a word of payload is out
    output logic refused_o,  // pulse: the transfer was refused
    output logic [2:0] refused_process_o,
    output logic [15:0] refused_tcw_o,
    output logic [3:0] refused_reason_o
);
  // States are named after the word that the memory gives.
  typedef enum logic [2:0] {
    Idle,
    Begin,
    HaveAddress,
    Read,
    Send,
    HaveFlag,
    HaveWhat,
    Flag
  } state_e;
  state_e state_q, state_d;

  // The worm stands in memory as it leaves, but for its sum.
  (* ram_style = "block", no_rw_check *) logic [31:0] mem_q[16];  // no word is read in the cycle of its write
  logic [31:0] ram_q, sum_q;
  logic [3:0] at, at_q, end_q, put_at;
  logic desc, put, take, is_write_q, flagged_q, is_sum_q, job_valid_q, finish;
  logic [3:0] reason_q;

  assign desc = desc_valid_i && desc_ready_o;
  assign put = desc || job_data_valid_i;
  assign put_at = desc ? desc_index_i : at_q;
  assign take = out_valid_o && out_ready_i;
  assign finish = state_q == HaveWhat;

  always_comb begin
    state_d = state_q;
    at = at_q;
    case (state_q)
      Idle: if (desc && desc_index_i == cppacs_desc_pkg::F0) state_d = Begin;
      Begin: begin
        at = cppacs_desc_pkg::F0;
        state_d = Send;
        if (is_write_q) begin
          at = cppacs_desc_pkg::AckAddress;
          state_d = HaveAddress;
        end
        if (reason_q != '0) begin
          at = cppacs_desc_pkg::AckFlag;
          state_d = HaveFlag;
        end
      end
      HaveAddress: begin
        at = cppacs_desc_pkg::AckPayload;
        state_d = Read;
      end
      Read: begin
        if (job_data_valid_i) at = at_q + 4'd1;
        if (job_done_i) begin
          at = job_err_i ? cppacs_desc_pkg::AckFlag : cppacs_desc_pkg::F0;
          state_d = job_err_i ? HaveFlag : Send;
        end
      end
      Send: begin
        if (take) at = is_sum_q ? cppacs_desc_pkg::AckFlag : at_q + 4'd1;
        if (take && is_sum_q) state_d = HaveFlag;
      end
      HaveFlag: begin
        at = cppacs_desc_pkg::AckWhat;
        state_d = HaveWhat;
      end
      HaveWhat: state_d = flagged_q ? Flag : Idle;
      default: if (job_done_i) state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (put) mem_q[put_at] <= desc ? desc_data_i : job_data_i;
    ram_q <= mem_q[at];
    at_q  <= at;
    if (desc && desc_index_i == cppacs_desc_pkg::F0) begin
      is_write_q <= desc_data_i[cppacs_pkg::MsgF0KindLsb+:cppacs_pkg::MsgF0KindW] == 3'(cppacs_pkg::KindWrite);
      flagged_q  <= desc_data_i[cppacs_desc_pkg::F0FlaggedLsb];
      reason_q   <= desc_data_i[cppacs_desc_pkg::F0ReasonLsb+:cppacs_desc_pkg::F0ReasonW];
    end
    // The index behind the payload, and with it the number of its words.
    if (desc && desc_index_i == cppacs_desc_pkg::Length) end_q <= cppacs_desc_pkg::AckPayload + desc_data_i[5:2];
    if (state_q == Read && job_done_i && job_err_i) reason_q <= 4'(cppacs_pkg::SendMemory);
    if (state_q == HaveAddress || state_q == HaveFlag) job_addr_o <= ram_q;
    if (finish) job_data_o <= {16'd0, ram_q[cppacs_desc_pkg::WhatTcwLsb+:cppacs_desc_pkg::WhatTcwW]};
    else if (job_take_i)
      job_data_o <= (reason_q == '0) ? 32'(cppacs_pkg::ResultSent) : 32'(cppacs_pkg::ResultRefused) | 32'(reason_q);
    if (state_q != Send) begin
      sum_q <= '0;
      is_sum_q <= 1'b0;
    end else if (take) begin
      sum_q <= sum_q + out_data_o;
      is_sum_q <= at == end_q;
    end
    refused_process_o <= ram_q[cppacs_desc_pkg::WhatProcessLsb+:cppacs_desc_pkg::WhatProcessW];
    refused_tcw_o <= ram_q[cppacs_desc_pkg::WhatTcwLsb+:cppacs_desc_pkg::WhatTcwW];
    refused_reason_o <= reason_q;
    if (rst_i) begin
      state_q <= Idle;
      {job_valid_q, sent_o, words_o, refused_o} <= '0;
    end else begin
      state_q <= state_d;
      job_valid_q <= state_q == HaveAddress || (finish && flagged_q) || (job_valid_q && !job_ready_i);
      sent_o <= take && is_sum_q;
      words_o <= take && !is_sum_q && at_q >= cppacs_desc_pkg::AckPayload;
      refused_o <= finish && reason_q != '0;
    end
  end

  assign desc_ready_o = state_q == Idle;
  assign job_valid_o = job_valid_q;
  assign job_op_o = {1'b0, state_q == Flag};
  assign job_words_o = (state_q == Flag) ? 5'd2 : {1'b0, end_q - cppacs_desc_pkg::AckPayload};
  assign out_valid_o = state_q == Send;
  always_comb begin
    out_data_o = is_sum_q ? sum_q : ram_q;
    if (at_q == cppacs_desc_pkg::F0) begin
      out_data_o[31:23] = '0;
      out_data_o[cppacs_pkg::MsgF0LastLsb] = 1'b1;
    end
  end
  assign out_last_o = is_sum_q;
  assign sending_o = state_q != Idle;
  assign busy_o = state_q != Idle || {sent_o, words_o, refused_o} != '0;
endmodule
