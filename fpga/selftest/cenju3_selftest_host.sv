// SPDX-License-Identifier: MIT OR Apache-2.0
// The host of a self-test: a state machine in place of a CPU that sends parcels to itself and checks the arrivals.
//
// Purpose    sets a Cenju-3 NIC up, then runs rounds. A round writes a parcel header and a random body into memory, and
//            the body's complement to the destination. It advances the Header Queue Pointer and waits for the end
//            interrupt. Then it checks causes, ring index and count of parcels, and compares memory, including the word
//            beyond. Odd rounds of the random sequence are messages of 1 to 512 bytes, even ones DMA of 1 to 2048 (in
//            up to four packets).
// Handshake  register port as a NIC's; memory streams as dma_read and dma_write, one word at a time. `mem_own_o`: the
//            memory is the host's; while it is low it is the NIC's. `lane_o` = {input, output} of the switch that a
//            round uses. It is random, and changes only between rounds, when no packet is in flight.
// Outcome    `rounds_o` passed so far. After a failure `fail_o` stays high with `reason_o`, and everything stops: 1
//            nothing happened for TimeoutCycles, 2 register access refused, 3 register differs, 4 memory access
//            refused, 5 memory differs.
// Source     ours.
module cenju3_selftest_host #(
    parameter int TimeoutCycles = 65536  // time limit of one access, and of a parcel's way through NIC and switch
) (
    input logic clk_i,
    input logic rst_i,

    output logic req_valid_o,
    input logic req_ready_i,
    output logic req_write_o,
    output logic [7:0] req_addr_o,
    output logic [31:0] req_wdata_o,
    input logic rsp_valid_i,
    output logic rsp_ready_o,
    input logic [31:0] rsp_rdata_i,
    input logic rsp_err_i,
    input logic irq_i,

    output logic mem_own_o,
    output logic rd_cmd_valid_o,
    input logic rd_cmd_ready_i,
    input logic rd_data_valid_i,
    output logic rd_data_ready_o,
    input logic [31:0] rd_data_data_i,
    input logic rd_data_err_i,
    output logic wr_cmd_valid_o,
    input logic wr_cmd_ready_i,
    output logic wr_data_valid_o,
    input logic wr_data_ready_i,
    output logic [31:0] wr_data_data_o,
    input logic wr_rsp_valid_i,
    output logic wr_rsp_ready_o,
    input logic wr_rsp_err_i,
    output logic [31:0] mem_addr_o,

    output logic [3:0] lane_o,
    output logic [31:0] rounds_o,
    output logic fail_o,
    output logic [2:0] reason_o
);
  localparam int TimerW = $clog2(TimeoutCycles + 1);

  // 16 KB of memory.
  localparam logic [31:0] Queue = 32'h0000;  // send queue 0, 256 headers
  localparam logic [31:0] MsgHeaders = 32'h2000;
  localparam logic [31:0] DmaHeaders = 32'h2100;
  localparam logic [31:0] Slots = 32'h2400;  // two of 512 bytes
  localparam logic [31:0] Dest = 32'h2800;  // 2 KB, and a word
  localparam logic [31:0] Source = 32'h3800;  // 2 KB
  localparam logic [31:0] Ring = 32'd16;  // headers in a header buffer

  localparam logic [31:0] FirstSeed = 32'h2545F491;  // any but 0

  typedef enum logic [3:0] {
    Setup,  // registers, once
    Lane,  // this round's PE, equal to an output of the switch
    Head,  // parcel header
    Spoil,  // the complement of the body, one word more
    Body,
    Start,
    Wait,
    Causes,
    Clear,
    Put,
    Get,
    SlotGet,
    Sent,
    Compare  // one word more
  } step_e;

  typedef enum logic [2:0] {
    RegRead,
    RegWrite,
    MemRead,
    MemWrite,
    Irq
  } op_e;

  typedef enum logic [2:0] {
    Prepare,
    Issue,
    Await,
    Judge,
    Advance,
    Failed
  } state_e;

  // Xorshift, 32 bits, 13-17-5.
  function automatic logic [31:0] scrambled(input logic [31:0] from);
    logic [31:0] x;
    x = from ^ (from << 13);
    x = x ^ (x >> 17);
    scrambled = x ^ (x << 5);
  endfunction

  // -------------------------------------------------------------------------------------------------------- this round
  logic [3:0] step_q;
  logic [9:0] word_q;  // of the step
  logic [31:0] seed_q, data_q;  // the round's, and the present word of its body
  logic message_q;
  logic [10:0] length_q;  // bytes - 1
  logic [7:0] put_q;
  logic [3:0] msg_q, dma_q;
  logic slot_q;

  logic [9:0] last_word, words;
  logic [3:0] kept;  // bytes of the present word that arrive
  logic [31:0] dest, arriving;
  logic [3:0] msg_d, dma_d;

  assign last_word = {1'b0, length_q[10:2]};
  assign words = last_word + 10'd1;
  assign dest = message_q ? Slots + {22'b0, slot_q, 9'b0} : Dest;
  assign msg_d = msg_q + 4'(message_q);
  assign dma_d = message_q ? dma_q : dma_q + {2'b0, length_q[10:9]} + 4'd1;
  always_comb begin
    kept = 4'b1111;
    if (word_q == last_word) kept = ~(4'b1110 << length_q[1:0]);
    if (word_q == words) kept = 4'b0000;
  end
  for (genvar b = 0; b < 4; b++) begin : gen_byte
    assign arriving[8*b+:8] = kept[b] ? data_q[8*b+:8] : ~data_q[8*b+:8];
  end

  // ------------------------------------------------------------------------------- operation at this word of this step
  logic [2:0] op;
  logic [31:0] addr, data, mask;  // data to write, or expected data where the mask is set
  logic final_word;

  always_comb begin
    op = RegWrite;
    addr = '0;
    data = '0;
    mask = '1;
    final_word = 1'b1;
    case (step_q)
      Setup: begin
        final_word = word_q == 10'd8;
        case (word_q[3:0])
          4'd0: {addr[7:0], data} = {cenju3_pkg::Sq0Base, Queue};
          4'd1: {addr[7:0], data} = {cenju3_pkg::MhbBase, MsgHeaders};
          4'd2: {addr[7:0], data} = {cenju3_pkg::MhbSize, Ring};
          4'd3: {addr[7:0], data} = {cenju3_pkg::DhbBase, DmaHeaders};
          4'd4: {addr[7:0], data} = {cenju3_pkg::DhbSize, Ring};
          4'd5: {addr[7:0], data} = {cenju3_pkg::Mbb0Base, Slots};
          4'd6: {addr[7:0], data} = {cenju3_pkg::Mbb0Size, 32'd2};
          4'd7: begin
            addr[7:0] = cenju3_pkg::RCtrl;
            data[cenju3_pkg::RCtrlRunLsb] = 1'b1;
            data[cenju3_pkg::RCtrlIeEndLsb] = 1'b1;
            data[cenju3_pkg::RCtrlIeErrorLsb] = 1'b1;
            data[cenju3_pkg::RCtrlIeSendLsb] = 1'b1;
          end
          default: begin
            op = RegRead;
            {addr[7:0], data} = {cenju3_pkg::Id, cenju3_pkg::IdValue};
          end
        endcase
      end
      Lane: {addr[7:0], data} = {cenju3_pkg::NodeId, 30'b0, lane_o[1:0]};
      Head: begin
        final_word = word_q == 10'd7;
        op = MemWrite;
        addr = Queue + {19'b0, put_q, word_q[2:0], 2'b0};
        case (8'({
          word_q[2:0], 2'b0
        }))
          cenju3_pkg::ParcelHead: begin
            data[cenju3_pkg::ParcelHeadKindLsb+:cenju3_pkg::ParcelHeadKindW] =
                cenju3_pkg::ParcelHeadKindW'(message_q ? cenju3_pkg::KindMsg0 : cenju3_pkg::KindDma);
            data[cenju3_pkg::ParcelHeadEndLsb] = 1'b1;
            data[cenju3_pkg::ParcelHeadDstLsb+:2] = lane_o[1:0];
          end
          cenju3_pkg::ParcelBytes: data = {21'b0, length_q} + 32'd1;
          cenju3_pkg::ParcelBody: data = Source;
          cenju3_pkg::ParcelDest: data = Dest;
          default: data = '0;
        endcase
      end
      Spoil: begin
        final_word = word_q == words;
        op = MemWrite;
        addr = dest + {20'b0, word_q, 2'b0};
        data = ~data_q;
      end
      Body: begin
        final_word = word_q == last_word;
        op = MemWrite;
        addr = Source + {20'b0, word_q, 2'b0};
        data = data_q;
      end
      Start: {addr[7:0], data} = {cenju3_pkg::Sq0Put, 24'b0, put_q + 8'd1};
      Wait: op = Irq;
      Causes: begin
        op = RegRead;
        addr[7:0] = cenju3_pkg::RStat;
        data[cenju3_pkg::RStatEndLsb] = 1'b1;
        mask = 32'hFFFF;
      end
      Clear: begin
        addr[7:0] = cenju3_pkg::RStat;
        data[cenju3_pkg::RStatEndLsb] = 1'b1;
      end
      Put: begin
        op = RegRead;
        if (message_q) {addr[7:0], data} = {cenju3_pkg::MhbPut, 28'b0, msg_d};
        else {addr[7:0], data} = {cenju3_pkg::DhbPut, 28'b0, dma_d};
      end
      Get: begin
        if (message_q) {addr[7:0], data} = {cenju3_pkg::MhbGet, 28'b0, msg_d};
        else {addr[7:0], data} = {cenju3_pkg::DhbGet, 28'b0, dma_d};
      end
      SlotGet: {addr[7:0], data} = {cenju3_pkg::Mbb0Get, 31'b0, slot_q ^ message_q};
      Sent: begin
        op = RegRead;
        addr[7:0] = cenju3_pkg::SStat;
        data[cenju3_pkg::SStatEmpty0Lsb] = 1'b1;
        data[cenju3_pkg::SStatEmpty1Lsb] = 1'b1;
        data[cenju3_pkg::SStatSentLsb+:cenju3_pkg::SStatSentW] = rounds_o[15:0] + 16'd1;
      end
      default: begin  // Compare
        final_word = word_q == words;
        op = MemRead;
        addr = dest + {20'b0, word_q, 2'b0};
        data = arriving;
      end
    endcase
  end

  // --------------------------------------------------------------------------------------------------------- execution
  logic [2:0] state_q, op_q;
  logic [31:0] addr_q, out_q, mask_q, got_q;
  logic final_q, err_q, differs_q, is_reg, done;
  logic [TimerW-1:0] timer_q;

  assign req_write_o = op_q == RegWrite;
  assign req_addr_o = addr_q[7:0];
  assign req_wdata_o = out_q;
  assign mem_addr_o = addr_q;
  assign wr_data_data_o = out_q;
  assign rsp_ready_o = state_q == Await;
  assign rd_data_ready_o = state_q == Await;
  assign wr_rsp_ready_o = state_q == Await;
  assign fail_o = state_q == Failed;
  assign is_reg = op_q == RegRead || op_q == RegWrite;

  always_comb begin
    case (op_q)
      MemRead: done = rd_data_valid_i;
      MemWrite: done = wr_rsp_valid_i;
      Irq: done = irq_i;
      default: done = rsp_valid_i;
    endcase
  end

  logic bad, round_end;
  logic [31:0] seed_d;
  assign bad = err_q || differs_q;
  assign round_end = state_q == Advance && final_q && step_q == Compare && !bad;
  assign seed_d = rst_i ? FirstSeed : data_q;

  always_ff @(posedge clk_i) begin
    if (req_ready_i) req_valid_o <= 1'b0;
    if (rd_cmd_ready_i) rd_cmd_valid_o <= 1'b0;
    if (wr_cmd_ready_i) wr_cmd_valid_o <= 1'b0;
    if (wr_data_ready_i) wr_data_valid_o <= 1'b0;
    got_q <= (op_q == MemRead) ? rd_data_data_i : rsp_rdata_i;
    differs_q <= (op_q == RegRead || op_q == MemRead) && ((got_q ^ out_q) & mask_q) != '0;

    case (state_q)
      Prepare: begin
        {op_q, addr_q, out_q, mask_q, final_q} <= {op, addr, data, mask, final_word};
        mem_own_o <= step_q != Wait;
        state_q <= Issue;
      end
      Issue: begin
        req_valid_o <= is_reg;
        rd_cmd_valid_o <= op_q == MemRead;
        wr_cmd_valid_o <= op_q == MemWrite;
        wr_data_valid_o <= op_q == MemWrite;
        timer_q <= TimerW'(TimeoutCycles);
        state_q <= Await;
      end
      Await: begin
        timer_q <= timer_q - TimerW'(1);
        err_q   <= (is_reg && rsp_err_i) || (op_q == MemRead && rd_data_err_i) || (op_q == MemWrite && wr_rsp_err_i);
        if (done) state_q <= Judge;
        else if (timer_q == '0) begin
          reason_o <= 3'd1;
          state_q  <= Failed;
        end
      end
      Judge:   state_q <= Advance;
      Advance: begin
        word_q <= final_q ? '0 : word_q + 10'd1;
        data_q <= scrambled(final_q ? seed_q : data_q);
        if (final_q) step_q <= (step_q == Compare) ? Lane : step_q + 4'd1;
        state_q <= Prepare;
        if (bad) begin
          reason_o <= (is_reg ? 3'd2 : 3'd4) + 3'(!err_q);
          state_q  <= Failed;
        end
      end
      default: ;
    endcase

    if (rst_i || round_end) begin
      seed_q <= seed_d;
      data_q <= scrambled(seed_d);
      message_q <= seed_d[0];
      length_q <= {seed_d[0] ? 2'b0 : seed_d[11:10], seed_d[9:1]};
      lane_o <= seed_d[15:12];
      put_q <= put_q + 8'd1;
      msg_q <= msg_d;
      dma_q <= dma_d;
      slot_q <= slot_q ^ message_q;
      rounds_o <= rounds_o + 32'd1;
    end
    if (rst_i) begin
      state_q <= Prepare;
      step_q <= Setup;
      word_q <= '0;
      put_q <= '0;
      msg_q <= '0;
      dma_q <= '0;
      slot_q <= 1'b0;
      rounds_o <= '0;
      reason_o <= '0;
      req_valid_o <= 1'b0;
      rd_cmd_valid_o <= 1'b0;
      wr_cmd_valid_o <= 1'b0;
      wr_data_valid_o <= 1'b0;
      mem_own_o <= 1'b1;
    end
  end
endmodule
