// CP-PACS NIA, words: all small accesses of memory, one after the other.
//
// Clients    0 receiver (flag), 1 acknowledge receiver, 2 acknowledge sender, 3 fetch (TCWs), 4 sender (flag).
// Job        READ and WRITE: `job_words_i` (1..16) words of 32 bits from `job_addr_i` on, a multiple of 4. SWAP and
//            CSWAP: 2 words, a multiple of 8. `job_valid_i` and what goes with it hold until `job_ready_o`: then the
//            job begins. A client gives the next one after `done_valid_o`.
// Data in    `data_i` is the next word that is needed, from `job_valid_i` on. In a cycle with `data_take_o` it is
//            used, and the next one stands there in the cycle after. WRITE: all its words. SWAP: the new value. CSWAP:
//            the value that is compared, then the new one, each low word first; the new one is not taken if the
//            comparison fails.
// Data out   `data_valid_o` of the client for each word that was read, in order, with `data_o` and `data_err_o`; the
//            client always takes it. SWAP and CSWAP: the old value.
// Done       `done_valid_o` for a cycle, after the job's last response; `done_err_o`: memory reported an error in it. A
//            SWAP or CSWAP whose read fails writes nothing.
// Order      one job at a time, the least recently served client first. Nothing of this unit comes between the read
//            and the write of a SWAP or CSWAP.
// Latency    2 cycles from job to memory command, 1 from memory data to `data_valid_o`, 1 from the last response to
//            `done_valid_o`.
// Fairness   a job that waits is passed over by at most 4 others. It waits for memory only.
// Reset      drops the job; the memory must forget it, too.
// busy_o     low when no job is under way.
// Source     ours.
module cppacs_words (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [4:0] job_valid_i,
    output logic [4:0] job_ready_o,
    input logic [4:0][1:0] job_op_i,  // 0 READ, 1 WRITE, 2 SWAP, 3 CSWAP
    input logic [4:0][31:0] job_addr_i,
    input logic [4:0][4:0] job_words_i,
    input logic [4:0][31:0] data_i,
    output logic [4:0] data_take_o,
    output logic [4:0] data_valid_o,
    output logic [31:0] data_o,
    output logic data_err_o,
    output logic [4:0] done_valid_o,
    output logic done_err_o,

    output logic rd_cmd_valid_o,
    input logic rd_cmd_ready_i,
    output logic [31:0] rd_cmd_addr_o,
    output logic [7:0] rd_cmd_len_o,
    input logic rd_data_valid_i,
    output logic rd_data_ready_o,
    input logic [31:0] rd_data_data_i,
    input logic rd_data_last_i,
    input logic rd_data_err_i,

    output logic wr_cmd_valid_o,
    input logic wr_cmd_ready_i,
    output logic [31:0] wr_cmd_addr_o,
    output logic [7:0] wr_cmd_len_o,
    output logic wr_data_valid_o,
    input logic wr_data_ready_i,
    output logic [31:0] wr_data_data_o,
    output logic [3:0] wr_data_strb_o,
    output logic wr_data_last_o,
    input logic wr_rsp_valid_i,
    output logic wr_rsp_ready_o,
    input logic wr_rsp_err_i
);
  typedef enum logic [2:0] {
    Idle,
    Begin,
    ReadAsk,
    ReadData,
    Decide,
    WriteAsk,
    WriteData,
    WriteRsp
  } state_e;
  localparam bit [1:0] Write = 2'd1;
  localparam bit [1:0] Cswap = 2'd3;

  state_e state_q;
  logic [4:0] first, who_q;
  logic [1:0] op_q, op;
  logic [31:0] addr, data, old_q;
  logic [3:0] words, left_q;  // left: minus 1
  logic err_q, differs_q, take, take_old, compare_q, come_q, settled, finish, writes;

  arbiter_lru #(
      .N(5)
  ) u_first (
      .clk_i,
      .rst_i,
      .request_i(job_valid_i),
      .block_i  (job_valid_i),
      .served_i (job_ready_o),
      .first_o  (first)
  );

  always_comb begin
    op = '0;
    addr = '0;
    data = '0;
    words = '0;
    for (int i = 0; i < 5; i++) begin
      op |= job_op_i[i] & {2{who_q[i]}};
      addr |= job_addr_i[i] & {32{who_q[i]}};
      data |= data_i[i] & {32{who_q[i]}};
      words |= job_words_i[i][3:0] & {4{who_q[i]}};
    end
  end

  // A word that was read is compared in the cycle after the client has seen it.
  assign take_old = come_q && op_q == Cswap;
  assign settled = !take_old && !compare_q;
  assign writes = op_q[1] && !err_q && !differs_q;
  assign take = state_q == WriteData && !wr_data_valid_o;
  assign finish = (state_q == Decide && settled && !writes) || (state_q == WriteRsp && wr_rsp_valid_i);

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) who_q <= first;
    if (state_q == Begin) begin
      op_q <= op;
      {rd_cmd_addr_o, wr_cmd_addr_o} <= {addr, addr};
      left_q <= words - 4'd1;
      err_q <= 1'b0;
      differs_q <= 1'b0;
    end else begin
      err_q <= err_q || (rd_data_valid_i && rd_data_ready_o && rd_data_err_i);
      differs_q <= differs_q || (compare_q && old_q != wr_data_data_o);
      left_q <= left_q - 4'(take);
    end
    data_o <= rd_data_data_i;
    data_err_o <= rd_data_err_i;
    old_q <= data_o;
    if (take || take_old) wr_data_data_o <= data;
    if (take) wr_data_last_o <= left_q == '0;
    compare_q  <= take_old && !rst_i;
    done_err_o <= err_q || (state_q == WriteRsp && wr_rsp_err_i);
    if (rst_i) begin
      state_q <= Idle;
      {come_q, wr_data_valid_o} <= '0;
      done_valid_o <= '0;
    end else begin
      case (state_q)
        Idle: if (job_valid_i != '0) state_q <= Begin;
        Begin: state_q <= (op == Write) ? WriteAsk : ReadAsk;
        ReadAsk: if (rd_cmd_ready_i) state_q <= ReadData;
        ReadData: if (rd_data_valid_i && rd_data_last_i) state_q <= Decide;
        Decide: if (settled) state_q <= writes ? WriteAsk : Idle;
        WriteAsk: if (wr_cmd_ready_i) state_q <= WriteData;
        WriteData: if (wr_data_valid_o && wr_data_ready_i && wr_data_last_o) state_q <= WriteRsp;
        default: if (wr_rsp_valid_i) state_q <= Idle;
      endcase
      come_q <= rd_data_valid_i && rd_data_ready_o;
      wr_data_valid_o <= take || (wr_data_valid_o && !wr_data_ready_i);
      done_valid_o <= who_q & {5{finish}};
    end
  end

  assign job_ready_o = who_q & {5{state_q == Begin}};
  assign data_take_o = who_q & {5{take || take_old}};
  assign data_valid_o = who_q & {5{come_q}};
  assign rd_cmd_valid_o = state_q == ReadAsk;
  assign rd_cmd_len_o = {4'd0, left_q};
  assign rd_data_ready_o = state_q == ReadData;
  assign wr_cmd_valid_o = state_q == WriteAsk;
  assign wr_cmd_len_o = {4'd0, left_q};
  assign wr_data_strb_o = '1;
  assign wr_rsp_ready_o = state_q == WriteRsp;
  assign busy_o = state_q != Idle || done_valid_o != '0;

`ifdef TSUNAGI_ASSERT
  for (genvar i = 0; i < 5; i++) begin : gen_rules
    stream_rules #(
        .W(39)
    ) u_job (
        .clk_i,
        .rst_i,
        .valid_i(job_valid_i[i]),
        .ready_i(job_ready_o[i]),
        .data_i ({job_op_i[i], job_addr_i[i], job_words_i[i]})
    );
    always_ff @(posedge clk_i) begin
      if (!rst_i && job_valid_i[i]) assert (!job_op_i[i][1] || (job_words_i[i] == 5'd2 && job_addr_i[i][2:0] == '0));
    end
  end
`endif
endmodule
