// SPDX-License-Identifier: MIT OR Apache-2.0
// Cenju-3 Receiver: stores packets into the buffers and addresses that their headers name, and interrupts.
//
// Packets    a packet's header goes to ring[PUT] of the message or DMA header buffer. Then its body goes to the slot of
//            the message body buffer, or to the address in the header. When both are in memory, PUT moves and END is
//            raised.
// Arrival    a packet with ARR begins when all earlier ones are complete. The interrupt is raised when its header is in
//            memory, before its first body write. With halt-on-arrival the body waits for restart.
// Streaming  a DMA packet without ARR begins while the previous one still awaits its responses: 1 word per cycle, no
//            bubble. If the previous one then fails, its header slot is free again, and the header is written a second
//            time, there.
// Halt       on arrival, on END of a message or of a DMA packet, on a full ring. Whether END halts is decided when the
//            header comes. `restart_i` continues, and checks a full ring again. While halted no further packet begins.
// Error      a packet that is truncated, overlong or refused by memory is counted; its slots are used again.
// busy_o     low when nothing moves, also when halted with packets waiting; not when halted on arrival, amid a packet.
// Source     paper sections 3.2 (Fig 4), 4 and 6.3; the behaviour of full rings and the choice of halts are ours.
module cenju3_receiver #(
    parameter int BusW = 32,  // bits of a bus word, 32 or 64
    parameter int BurstBeats = 8,  // words in the longest burst
    parameter int Outstanding = 4,  // bursts that may await their response
    localparam int KeepW = $clog2(BusW / 16)
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [7:0] node_id_i,
    input logic run_i,
    input logic restart_i,  // pulse
    input logic halt_arrival_i,
    input logic [1:0] halt_end_i,  // 0 message, 1 DMA
    output logic halted_o,
    output logic [6:0] cause_o,  // pulses: arrival, end, overflow, bad header, bus error, truncated, overlong
    output logic drop_o,  // pulse: a packet was not delivered
    output logic drop_known_o,  // with its header word 0
    output logic [31:0] drop_head_o,
    input logic [3:0][31:0] ring_base_i,
    input logic [3:0][16:0] ring_size_i,
    input logic [3:0][15:0] ring_put_i,
    input logic [3:0][15:0] ring_put1_i,  // PUT + 1, around the ring
    input logic [15:0] dma_put2_i,  // of ring 1: PUT + 2
    input logic [3:0][15:0] ring_get_i,
    output logic [3:0] ring_publish_o,  // pulses

    input logic in_valid_i,
    output logic in_ready_o,
    input logic [BusW-1:0] in_data_i,
    input logic [KeepW-1:0] in_keep_i,
    input logic in_last_i,

    input logic status_valid_i,
    output logic status_ready_o,
    input logic [31:0] status_addr_i,
    input logic [31:0] status_data_i,
    output logic status_done_o,

    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [31:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    output logic mem_data_valid_o,
    input logic mem_data_ready_i,
    output logic [BusW-1:0] mem_data_data_o,
    output logic [BusW/8-1:0] mem_data_strb_o,
    output logic mem_data_last_o,
    input logic mem_rsp_valid_i,
    output logic mem_rsp_ready_o,
    input logic mem_rsp_err_i
);
  if (BusW != 32 && BusW != 64) begin : g_bad
    cenju3_receiver_BusW_must_be_32_or_64 u_bad ();
  end

  // ---------------------------------------------------------------------------------------------------- parsed packets
  localparam int JobW = 2 + 9 + 128;
  logic parse_busy, resume;
  logic parse_job_valid, parse_job_ready, parse_arr, parse_end, parse_halt, parse_stop;
  logic parse_bad, parse_short, parse_empty, parse_after, parse_known;
  logic [  1:0] parse_kind;
  logic [127:0] parse_header;
  logic parse_body_valid, parse_body_ready, parse_body_last;
  logic [BusW-1:0] parse_body_data;
  logic [KeepW:0] parse_body_keep;
  logic halted_q;

  cenju3_parse #(
      .BusW(BusW)
  ) u_parse (
      .clk_i,
      .rst_i,
      .busy_o(parse_busy),
      .go_i(run_i && !halted_q),
      .resume_i(resume),
      .halt_arrival_i,
      .halt_end_i,
      .node_id_i,
      .in_valid_i,
      .in_ready_o,
      .in_data_i,
      .in_keep_i,
      .in_last_i,
      .job_valid_o(parse_job_valid),
      .job_ready_i(parse_job_ready),
      .job_kind_o(parse_kind),
      .job_arr_o(parse_arr),
      .job_end_o(parse_end),
      .job_halt_o(parse_halt),
      .job_stop_o(parse_stop),
      .job_bad_o(parse_bad),
      .job_short_o(parse_short),
      .job_empty_o(parse_empty),
      .job_after_o(parse_after),
      .job_known_o(parse_known),
      .job_header_o(parse_header),
      .body_valid_o(parse_body_valid),
      .body_ready_i(parse_body_ready),
      .body_data_o(parse_body_data),
      .body_keep_o(parse_body_keep),
      .body_last_o(parse_body_last)
  );

  logic job_valid, job_pop, arr, fin, halt_end, stop, bad, short, empty, after_bad, known;
  logic [1:0] kind, job_level;
  logic [127:0] header;
  fifo #(
      .W(JobW),
      .Depth(2)
  ) u_jobs (
      .clk_i,
      .rst_i,
      .in_valid_i(parse_job_valid),
      .in_ready_o(parse_job_ready),
      .in_data_i({
        parse_kind,
        parse_arr,
        parse_end,
        parse_halt,
        parse_stop,
        parse_bad,
        parse_short,
        parse_empty,
        parse_after,
        parse_known,
        parse_header
      }),
      .out_valid_o(job_valid),
      .out_ready_i(job_pop),
      .out_data_o({kind, arr, fin, halt_end, stop, bad, short, empty, after_bad, known, header}),
      .level_o(job_level)
  );

  // Lets the parser read the next header while the writer works on this body.
  logic body_valid, body_ready, body_last;
  logic [BusW-1:0] body_data;
  logic [KeepW:0] body_keep;
  logic [4:0] body_level;
  fifo #(
      .W(BusW + KeepW + 2),
      .Depth(16)
  ) u_body (
      .clk_i,
      .rst_i,
      .in_valid_i(parse_body_valid),
      .in_ready_o(parse_body_ready),
      .in_data_i({parse_body_last, parse_body_keep, parse_body_data}),
      .out_valid_o(body_valid),
      .out_ready_i(body_ready),
      .out_data_o({body_last, body_keep, body_data}),
      .level_o(body_level)
  );

  // ------------------------------------------------------------------------------------------------------- destination
  logic dma, behind, full;
  logic [1:0] head_ring, body_ring;
  logic [1:0] open;  // packets begun and not complete: 0 to 2
  logic last_dma_q;  // the last packet begun is DMA
  // All candidate addresses: the selection among them comes late.
  logic [3:0][31:0] at_put;
  logic [31:0] at_after;
  assign at_after = ring_base_i[1] + {12'b0, ring_put1_i[1], 4'b0};
  logic [3:0] last_free;  // per ring: no slot is free after the one at PUT
  assign dma = kind == 2'(cenju3_pkg::KindDma);
  assign head_ring = {1'b0, dma};
  assign body_ring = {1'b1, kind[0]};
  for (genvar g = 0; g < 4; g++) begin : g_ring
    localparam int PlaceBits = (g < 2) ? 4 : 9;
    assign at_put[g] = ring_base_i[g] + (32'(ring_put_i[g]) << PlaceBits);
    assign last_free[g] = ring_size_i[g] < 17'd2 || ring_put1_i[g] == ring_get_i[g];
  end
  // The previous packet is not complete, and may keep the slot at PUT.
  assign behind = open == 2'd1 && last_dma_q && dma && !after_bad;
  always_comb begin
    full = last_free[head_ring] || (!dma && last_free[body_ring]);
    if (behind) full = ring_size_i[1] < 17'd2 || dma_put2_i == ring_get_i[1];
  end

  // ----------------------------------------------------------------------------------------------------------- control
  typedef enum logic [2:0] {
    Idle,
    Head,  // header to memory
    Arrival,  // wait until the header is there, interrupt, perhaps halt
    Body,  // body to memory
    Settle,  // wait until the previous packet is complete
    Again,  // header to the slot that the failed packet left free
    End  // wait until all is complete, perhaps halt
  } state_e;
  state_e state_q, after_head;
  logic go, throw, may_begin, overflow, begun, arrived_q, head_done, arrival, leave;
  logic store_valid, store_ready, store_busy, done_valid, done_body;
  logic [31:0] store_addr;
  logic [ 2:0] done_err;
  logic retire, ok, redo_q, oldest_halt;

  assign go = state_q == Idle && job_valid && !halted_q;
  assign throw = go && (bad || short) && open == '0;
  assign may_begin = !bad && !short && (open == '0 || (dma && !arr && !empty && open == 2'd1));
  assign overflow = go && !bad && !short && full && open == '0;
  assign begun = state_q == Head && store_ready;
  assign after_head = empty ? Settle : Body;
  assign head_done = done_valid && !done_body;
  assign arrival = state_q == Arrival && head_done && !done_err[0];
  assign leave = (state_q == Settle && open != 2'd2 && !redo_q) || (state_q == Again && store_ready);
  assign job_pop = leave || throw;
  assign resume = state_q == End && open == '0 && !halted_q;

  assign store_valid = state_q == Head || state_q == Body || state_q == Again;
  always_comb begin
    store_addr = at_put[head_ring];
    // In Again the previous packet is gone; the packet that is behind is this one, behind itself.
    if (behind && state_q != Again) store_addr = at_after;
    if (state_q == Body) store_addr = dma ? header[8*cenju3_pkg::PacketDest+:32] : at_put[body_ring];
  end

  always_ff @(posedge clk_i) begin
    if (restart_i) halted_q <= 1'b0;
    case (state_q)
      Idle:
      if (overflow) halted_q <= 1'b1;
      else if (go && may_begin && !full) state_q <= Head;
      Head:
      if (store_ready) begin
        state_q <= arr ? Arrival : after_head;
        last_dma_q <= dma;
        arrived_q <= 1'b0;
      end
      Arrival: begin
        if (head_done) arrived_q <= 1'b1;
        if (arrival && halt_arrival_i) halted_q <= 1'b1;
        if (arrived_q && !halted_q) state_q <= after_head;
      end
      Body: if (store_ready) state_q <= Settle;
      Settle, Again: begin
        if (leave) state_q <= stop ? End : Idle;
        else if (state_q == Settle && open != 2'd2) state_q <= Again;
      end
      default: if (resume) state_q <= Idle;  // End
    endcase
    if (retire && ok && oldest_halt) halted_q <= 1'b1;
    if (rst_i) begin
      state_q <= Idle;
      halted_q <= 1'b0;
      last_dma_q <= 1'b0;
      arrived_q <= 1'b0;
    end
  end
  assign halted_o = halted_q;

  cenju3_store #(
      .BusW(BusW),
      .BurstBeats(BurstBeats),
      .Outstanding(Outstanding)
  ) u_store (
      .clk_i,
      .rst_i,
      .busy_o(store_busy),
      .job_valid_i(store_valid),
      .job_ready_o(store_ready),
      .job_body_i(state_q == Body),
      .job_addr_i(store_addr),
      .job_bytes_i(state_q == Body
          ? header[8*cenju3_pkg::PacketBody+cenju3_pkg::PacketBodyBytesLsb+:10] : 10'(cenju3_pkg::PacketHeaderBytes)),
      .job_header_i(header),
      .body_valid_i(body_valid),
      .body_ready_o(body_ready),
      .body_data_i(body_data),
      .body_keep_i(body_keep),
      .body_last_i(body_last),
      .done_valid_o(done_valid),
      .done_body_o(done_body),
      .done_err_o(done_err),
      .status_valid_i,
      .status_ready_o,
      .status_addr_i,
      .status_data_i,
      .status_done_o,
      .mem_cmd_valid_o,
      .mem_cmd_ready_i,
      .mem_cmd_addr_o,
      .mem_cmd_len_o,
      .mem_data_valid_o,
      .mem_data_ready_i,
      .mem_data_data_o,
      .mem_data_strb_o,
      .mem_data_last_o,
      .mem_rsp_valid_i,
      .mem_rsp_ready_o,
      .mem_rsp_err_i
  );

  // -------------------------------------------------------------------------------------------------------- completion
  // Packets begun, oldest first.
  logic oldest_valid, oldest_end, oldest_empty, open_ready;
  logic [ 1:0] oldest_kind;
  logic [31:0] oldest_head;
  fifo #(
      .W(2 + 3 + 32),
      .Depth(2)
  ) u_open_packets (
      .clk_i,
      .rst_i,
      .in_valid_i(begun),
      .in_ready_o(open_ready),
      .in_data_i({kind, fin, halt_end, empty, header[31:0]}),
      .out_valid_o(oldest_valid),
      .out_ready_i(retire),
      .out_data_o({oldest_kind, oldest_end, oldest_halt, oldest_empty, oldest_head}),
      .level_o(open)
  );

  // A packet is complete with its body. Without a body it is complete with its header, after a rewrite with its second
  // header.
  logic again_q, body_done_q, head_err_q, behind_q, spoilt;
  logic [2:0] body_err_q, errs;
  assign retire = done_valid && (done_body ? !again_q : body_done_q || oldest_empty);
  always_comb begin
    if (done_body) errs = done_err | {2'b0, head_err_q};
    else if (oldest_empty) errs = {1'b0, 1'b1, done_err[0]};
    else errs = body_err_q | done_err | {2'b0, head_err_q};
  end
  assign ok = errs == '0;
  // The oldest fails, and the next packet's header is on its way to the slot after.
  assign spoilt = retire && !ok && (begun ? behind : open == 2'd2 && behind_q);
  always_ff @(posedge clk_i) begin
    if (head_done) head_err_q <= done_err[0];
    // Only the job after a body looks at it.
    if (done_valid) body_err_q <= done_err;
    if (begun) behind_q <= behind;
    if (spoilt) again_q <= 1'b1;
    else if (retire) again_q <= 1'b0;
    if (retire) body_done_q <= 1'b0;
    else if (done_valid && done_body) body_done_q <= 1'b1;
    if (spoilt) redo_q <= 1'b1;
    else if (state_q == Again && store_ready) redo_q <= 1'b0;
    if (rst_i) begin
      again_q <= 1'b0;
      body_done_q <= 1'b0;
      redo_q <= 1'b0;
    end
  end

  always_comb begin
    ring_publish_o = '0;
    if (retire && ok) begin
      ring_publish_o[0] = oldest_kind != 2'(cenju3_pkg::KindDma);
      ring_publish_o[1] = oldest_kind == 2'(cenju3_pkg::KindDma);
      ring_publish_o[2] = oldest_kind == 2'(cenju3_pkg::KindMsg0);
      ring_publish_o[3] = oldest_kind == 2'(cenju3_pkg::KindMsg1);
    end
  end
  // The bus error has priority among several errors.
  assign cause_o = {
    retire && errs[2] && !errs[0],
    (throw && short) || (retire && errs[1] && !errs[0]),
    retire && errs[0],
    throw && bad,
    overflow,
    retire && ok && oldest_end,
    arrival
  };
  assign drop_o = throw || (retire && !ok);
  assign drop_known_o = !throw || known;
  assign drop_head_o = throw ? header[31:0] : oldest_head;

  assign busy_o = parse_busy || store_busy || open != '0 || !(halted_q || (state_q == Idle && !job_valid));

  logic unused_level;
  assign unused_level = &{1'b0, job_level, body_level};
`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!begun || open_ready);
      assert (!retire || oldest_valid);
    end
  end
`else
  logic unused_open;
  assign unused_open = &{1'b0, open_ready, oldest_valid};
`endif
endmodule
