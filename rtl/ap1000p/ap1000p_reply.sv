// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, inside ap1000p_receive: executes operations, everything but data for memory, and makes the replies.
//
// Operation  `op_valid_i` with its kind (0 GET, 1 CSI or FOP, 2 load, 3 store, 4 a word for a communication register)
//            holds until `op_done_o`, a pulse with `op_reason_o` if it was not done (regs.toml, "BROKEN"). It begins
//            when `may_i` says that everything before is done.
// Operands   the words of the head from number 2 on, as they were put; `word_i` the last three, the last in [0]. For a
//            register's word: `word_i[2]` the register, `word_i[1]` the word.
// Replies    queue 1 (`queue_valid_o[1]`, GET replies): a GET with a reply's kind, and the sender as its cell. Queue 0
//            (remote replies): ATOMIC_REPLY, LOAD_REPLY, STORE_ACK. A load that failed gets a reply without data, a
//            store always gets one, an atomic operation that failed gets none. A word per cycle.
// Latency    2 cycles from operation to the first word of a reply that needs no memory.
// Full       waits for the queue.
// Reset      drops everything.
// Source     reply made by the hardware, automatic acknowledge: paper 2.2.4, 2.2.6. Words: docs/machines/ap1000p.md,
//            own guess.
module ap1000p_reply #(
    parameter bit Reply = 1'b0,  // replies (only words for registers are operations), otherwise requests
    parameter int MemW = 26  // bits of an address in cell memory, 9 to 31
) (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic [7:0] cell_x_i,
    input logic [7:0] cell_y_i,

    input logic may_i,
    input logic op_valid_i,
    input logic [2:0] op_i,
    output logic op_done_o,
    output logic [3:0] op_reason_o,
    input logic [15:0] kind_i,
    input logic [7:0] x_i,
    input logic [7:0] y_i,
    input logic [11:0] context_i,
    input logic [2:0][31:0] word_i,
    input logic head_put_i,
    input logic [3:0] head_index_i,
    input logic [31:0] head_data_i,

    output logic word_valid_o,
    input logic word_ready_i,
    output logic [2:0] word_op_o,
    output logic word_physical_o,
    output logic [31:0] word_addr_o,
    output logic [3:0] word_strb_o,
    output logic [31:0] word_a_o,
    output logic [31:0] word_b_o,
    input logic word_done_i,
    input logic [31:0] word_old_i,
    input logic word_fault_i,
    input logic word_err_i,

    output logic creg_valid_o,
    input logic creg_ready_i,
    output logic [6:0] creg_addr_o,
    output logic creg_write_o,
    output logic [31:0] creg_data_o,
    input logic creg_rsp_valid_i,
    output logic creg_rsp_ready_o,
    input logic creg_rsp_fault_i,
    input logic [31:0] creg_rsp_data_i,

    output logic [1:0] queue_valid_o,
    input logic [1:0] queue_ready_i,
    output logic queue_end_o,
    output logic [31:0] queue_data_o
);
  if (MemW < 9 || MemW > 31) begin : gen_bad_mem
    ap1000p_reply_MemW_must_be_9_to_31 u_bad ();
  end

  localparam logic [3:0] None = 4'(ap1000p_pkg::BrokenNone);
  localparam logic [3:0] OldAt = 4'd9;  // index of the first word that was read

  typedef enum logic [2:0] {
    Rest,
    Request,  // to the word unit
    Await,
    RequestRegister,
    AwaitRegister,
    Give,
    Done
  } state_e;
  state_e state_q;

  // --------------------------------------------------------------------------------------------------------- operation
  logic get, atomic, load, store, register;
  assign get = !Reply && op_i == 3'd0;
  assign atomic = !Reply && op_i == 3'd1;
  assign load = !Reply && op_i == 3'd2;
  assign store = !Reply && op_i == 3'd3;
  assign register = op_i == 3'd4;

  logic [1:0] size;
  logic double, second_q, registers, refused;
  logic [31:0] addr;
  assign size = kind_i[ap1000p_pkg::PageSizeLsb+:2];
  assign double = size == 2'd3;
  assign registers = kind_i[ap1000p_pkg::PageAsReceiveLsb];
  assign addr = load ? word_i[0] : (store && !double) ? word_i[1] : word_i[2];
  always_comb begin
    case (size)
      2'd0: refused = 1'b0;
      2'd1: refused = addr[0];
      2'd2: refused = addr[1:0] != '0;
      default: refused = addr[2:0] != '0;
    endcase
    if (registers ? addr[31:9] != '0 || size != 2'd2 : addr[31:MemW] != '0) refused = 1'b1;
  end

  assign word_valid_o = !Reply && state_q == Request;
  assign word_op_o = load ? 3'(ap1000p_pkg::WordRead) : store ? 3'(ap1000p_pkg::WordWrite) :
                     kind_i[0] == 1'(ap1000p_pkg::KindCsi) ? 3'(ap1000p_pkg::WordCsi) : 3'(ap1000p_pkg::WordFop);
  assign word_physical_o = !atomic;
  assign word_addr_o = atomic ? addr : {addr[31:3], addr[2] || second_q, 2'b00};
  assign word_a_o = (atomic || (double && !second_q)) ? word_i[1] : word_i[0];
  assign word_b_o = word_i[0];
  always_comb begin
    case (size)
      2'd0: word_strb_o = 4'b0001 << addr[1:0];
      2'd1: word_strb_o = addr[1] ? 4'b1100 : 4'b0011;
      default: word_strb_o = 4'b1111;
    endcase
  end
  assign creg_valid_o = state_q == RequestRegister;
  assign creg_addr_o = addr[8:2];
  assign creg_write_o = !load;
  assign creg_data_o = store ? word_i[0] : word_i[1];
  assign creg_rsp_ready_o = state_q == AwaitRegister;

  // ----------------------------------------------------------------------------------------------------------- replies
  // The head, then the words that were read.
  logic [31:0] head_q[16];
  logic [31:0] put, next;
  logic [3:0] put_at, at_q;
  logic [2:0] made;
  logic puts, moves, ends;
  assign puts = head_put_i || state_q == Await || state_q == AwaitRegister;
  assign put_at = head_put_i ? head_index_i : OldAt + {3'd0, second_q};
  assign put = head_put_i ? head_data_i : (state_q == Await) ? word_old_i : creg_rsp_data_i;
  assign made = get ? 3'(ap1000p_pkg::MadeGetReply) : atomic ? 3'(ap1000p_pkg::MadeAtomicReply) :
                load ? 3'(ap1000p_pkg::MadeLoadReply) : 3'(ap1000p_pkg::MadeStoreAck);
  always_comb begin
    next = head_q[at_q];
    ends = at_q == (get ? 4'd8 : OldAt + {3'd0, second_q});
    if (at_q == '0) begin
      next = {1'b1, kind_i[14:3], made, x_i - cell_x_i, y_i - cell_y_i};
      ends = store || op_reason_o != None;
    end else if (atomic && at_q == 4'd2) begin
      next = {context_i, 20'd1};
    end else if (atomic && at_q == 4'd4) begin
      next = '0;
    end
  end
  assign moves = state_q == Give && (queue_valid_o & ~queue_ready_i) == '0;
  always_ff @(posedge clk_i) begin
    if (puts) head_q[put_at] <= put;
    if (moves) begin
      queue_data_o <= next;
      queue_end_o  <= ends;
    end
    if (state_q != Give) at_q <= '0;
    else if (moves) begin
      if (at_q == '0) at_q <= load ? OldAt : 4'd2;
      else at_q <= (atomic && at_q == 4'd5) ? OldAt : at_q + 4'd1;
    end
  end

  // ----------------------------------------------------------------------------------------------------------- control
  always_ff @(posedge clk_i) begin
    case (state_q)
      Rest: begin
        second_q <= 1'b0;
        op_reason_o <= (refused && (load || store)) ? 4'(ap1000p_pkg::BrokenAddress) : None;
      end
      Await:
      if (word_done_i) begin
        if (word_fault_i) op_reason_o <= 4'(ap1000p_pkg::BrokenGivenUp);
        else if (word_err_i) op_reason_o <= 4'(ap1000p_pkg::BrokenBus);
        else if (double) second_q <= 1'b1;
      end
      AwaitRegister: if (creg_rsp_valid_i && creg_rsp_fault_i) op_reason_o <= 4'(ap1000p_pkg::BrokenRegister);
      default: ;
    endcase
    if (rst_i) begin
      state_q <= Rest;
      queue_valid_o <= '0;
    end else begin
      if (!Reply) queue_valid_o <= moves ? {get, !get} : queue_valid_o & ~queue_ready_i;
      case (state_q)
        Rest:
        if (op_valid_i && may_i) begin
          if (get || (refused && (load || store))) state_q <= Give;
          else if (registers) state_q <= RequestRegister;
          else state_q <= Request;
        end
        Request: if (word_ready_i) state_q <= Await;
        Await:
        if (word_done_i) begin
          if (word_fault_i || word_err_i) state_q <= atomic ? Done : Give;
          else state_q <= (double && !atomic && !second_q) ? Request : Give;
        end
        RequestRegister: if (creg_ready_i) state_q <= AwaitRegister;
        AwaitRegister: if (creg_rsp_valid_i) state_q <= register ? Done : Give;
        Give: if (moves && ends) state_q <= Done;
        default: state_q <= Rest;
      endcase
    end
  end
  assign op_done_o = state_q == Done;
  assign busy_o = state_q != Rest || queue_valid_o != '0;
endmodule
