// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, send controller of one class: messages of the queues become messages on the network, with data from
// cell memory.
//
// In         whole messages {queue one-hot, end, word} of queues 0 to 2 (with Reply: 3 and 4), word 0 with the kind as
//            the command window put it. `in_more_i` with the last word: the next message is of the same command, see
//            ap1000p_broadcast.
// Out        {data, last} and `out_local_o`: to the cell itself. Formats: docs/machines/ap1000p.md, "Messages on the
//            network".
// Data       of PUT, SEND and GET_REPLY: ap1000p_address_runs says where, dma_read reads. The next message's addresses
//            are translated and its data requested while this one's go out. A word goes out when it is known whether it
//            is the last one.
// Judgement  of each command, before a word of it goes out: a pulse `settle_o` or `back_o` of its queue, when its first
//            message has been taken. It is put back if a translation is missing (`why_*_o`) before all are there, or
//            before one waits for room in dma_read. Nothing of it goes out, its other messages are thrown away, and it
//            must come again. With `lost_i` of its queue it is not put back, but ends at the missing translation. The next
//            message enters after the judgement. A later fault holds this controller: `fault_valid_o`.
// Registers  with AS_SEND data are those of communication registers, `creg`: ap1000p_fetch. Nothing of such a message
//            goes out before all are read. A message that waits for a register to be filled, with `creg_wait_i`, holds
//            this controller and no link.
// Flag       valid/ready, for ap1000p_word: the send flag, when the last word of a command's last message has been
//            taken from `out`. There is none for a command with a message that was cut short, nor for address 0.
// Latency    6 cycles from a command's last word to the memory's address, if its translation takes the MMU's 3, and 7
//            to the route offered. Without data: 3 from its first word to the route offered. One word per cycle out,
//            messages one after the other without a bubble. The route of scattered data waits for 8 runs.
// Error      a memory error, an aborted fault, a register that is empty and does not wait, or an address that is no
//            register's: the message ends with the word before, `error_o`. Requested data are thrown away; a
//            fault that is shown waits for software all the same.
// Misuse     kinds of the other class or none: dropped, `bad_o`. Commands of fewer than 8 words go out as short as they
//            are, longer ones are cut, `bad_o`, and not put back. A cell that is not in the torus leads where the sum
//            leads; the router drains the message.
// Reset      drops everything; memory and MMU must forget their requests, too.
// busy_o     low when nothing is inside.
// Source     send controller with header generator and memory access sequencer: paper 2.2; flag after the last word:
//            paper 3.1, 3.2. A controller for each class, so that replies never wait for a request; cut messages; what
//            is held or put back: own guess, docs/decisions/2026-11-29-ap1000p-send.md.
module ap1000p_send #(
    parameter bit Reply = 1'b0,
    parameter int CoordW = 5,  // bits of a coordinate, 1 to 8
    localparam int Queues = Reply ? 2 : 3
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,
    output logic bad_o,   // pulses
    output logic error_o,

    input logic [CoordW-1:0] x_i,
    input logic [CoordW-1:0] y_i,
    input logic [CoordW-1:0] last_x_i,
    input logic [CoordW-1:0] last_y_i,

    input logic in_valid_i,
    output logic in_ready_o,
    input logic [Queues-1:0] in_queue_i,
    input logic in_end_i,
    input logic in_more_i,
    input logic [31:0] in_data_i,
    input logic [Queues-1:0] lost_i,
    output logic [Queues-1:0] settle_o,
    output logic [Queues-1:0] back_o,

    output logic req_valid_o,
    input logic req_ready_i,
    output logic [11:0] req_context_o,
    output logic [31:0] req_addr_o,
    output logic req_system_o,
    input logic rsp_valid_i,
    output logic rsp_ready_o,
    input logic [31:0] rsp_addr_i,
    input logic [2:0] rsp_fault_i,
    input logic forget_i,
    output logic fault_valid_o,  // why: with it, or with `back_o`
    output logic [2:0] why_reason_o,
    output logic [11:0] why_context_o,
    output logic why_system_o,
    output logic [31:0] why_addr_o,
    input logic retry_i,
    input logic abort_i,

    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [31:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    input logic mem_data_valid_i,
    output logic mem_data_ready_o,
    input logic [31:0] mem_data_data_i,
    input logic mem_data_last_i,
    input logic mem_data_err_i,

    input logic creg_wait_i,
    output logic creg_valid_o,
    input logic creg_ready_i,
    output logic [6:0] creg_addr_o,
    input logic creg_rsp_valid_i,
    output logic creg_rsp_ready_o,
    input logic creg_rsp_fault_i,
    input logic [31:0] creg_rsp_data_i,

    output logic flag_valid_o,
    input logic flag_ready_i,
    output logic [11:0] flag_context_o,
    output logic flag_system_o,
    output logic [31:0] flag_addr_o,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic out_local_o,
    output logic out_last_o,
    output logic [31:0] out_data_o
);
  if (CoordW < 1 || CoordW > 8) begin : gen_bad_coord
    ap1000p_send_CoordW_must_be_1_to_8 u_bad ();
  end

  // System and user, or GET reply: messages of the other queues have no data of theirs, and are good.
  localparam logic [Queues-1:0] Back = Queues'(Reply ? 3'b010 : 3'b101);

  // The coordinate at a distance.
  function automatic logic [CoordW-1:0] away(input logic [CoordW-1:0] here, input logic [7:0] distance,
                                             input logic [CoordW-1:0] last);
    logic signed [9:0] sum, size;
    size = 10'(last) + 10'sd1;
    sum  = $signed(10'(here)) + 10'($signed(distance));
    if (sum < 0) sum = sum + size;
    else if (sum >= size) sum = sum - size;
    away = CoordW'(sum);
  endfunction

  // ------------------------------------------------------------------------- messages in: header, addresses, send flag
  logic [2:0] index_q;  // of the next word; 7 for all from there on
  logic
      over_q,
      again_q,  // the next message is of the same command
      dropped_q,  // which was put back
      pending_q,  // a command whose queue waits for the judgement
      judging_q,  // its data are looked up
      looked_q,  // a run of them is known
      lost,
      given_up_q,  // the job ends at the first missing translation
      skips_all,
      fault,
      good,
      first,
      take,
      known,
      drop,
      has_data,
      data,
      registers,
      command,
      head_ready,
      job_ready,
      note_ready,
      job_due,
      job_judged,
      ends;
  logic [Queues-1:0] queue_q;
  logic head_put, skips, run_valid, run_ready, run_last;
  logic [15:0] kind_q, kind;
  logic [31:0] length_q, addr_q, stride_q, flag_q, held_q, head_word;
  logic is_send;
  logic [CoordW-1:0] to_x, to_y;

  assign first = index_q == '0;
  assign kind = first ? in_data_i[ap1000p_pkg::CommandHeadKindLsb+:16] : kind_q;
  assign is_send = kind[ap1000p_pkg::PageSendLsb] && !kind[ap1000p_pkg::PageDirectLsb];

  always_comb begin
    known = 1'b0;
    command = !kind[ap1000p_pkg::PageDirectLsb];
    has_data = 1'b0;
    case ({
      kind[ap1000p_pkg::PageDirectLsb], kind[ap1000p_pkg::PageKindLsb+:3]
    })
      4'(ap1000p_pkg::KindPut): {known, has_data} = {2{!Reply}};
      4'(ap1000p_pkg::KindGet), 4'(ap1000p_pkg::KindCsi), 4'(ap1000p_pkg::KindFop): known = !Reply;
      4'(8 + ap1000p_pkg::MadeLoad), 4'(8 + ap1000p_pkg::MadeStore): known = !Reply;
      4'(8 + ap1000p_pkg::MadeGetReply): {known, has_data, command} = {Reply, Reply, 1'b1};
      4'(8 + ap1000p_pkg::MadeAtomicReply), 4'(8 + ap1000p_pkg::MadeLoadReply), 4'(8 + ap1000p_pkg::MadeStoreAck):
      known = Reply;
      default: known = 1'b0;
    endcase
  end
  // The other messages of a command that was put back.
  assign skips_all = again_q && dropped_q;
  assign drop = !known || skips_all;
  assign lost = !again_q && (lost_i & queue_q) != '0;
  assign data = has_data && length_q[ap1000p_pkg::CommandLengthWordsLsb+:20] != '0;
  assign registers = has_data && kind[ap1000p_pkg::PageAsSendLsb];

  assign to_x = away(x_i, in_data_i[ap1000p_pkg::CommandHeadDxLsb+:8], last_x_i);
  assign to_y = away(y_i, in_data_i[ap1000p_pkg::CommandHeadDyLsb+:8], last_y_i);

  // The header leaves out this side's own words. Its last word is put with the command's last, which says that the
  // command is whole.
  assign ends = in_end_i || index_q == 3'd7;
  assign skips = has_data && !ends && (is_send ? index_q >= 3'd3 && index_q < 3'd6 : index_q >= 3'd4);
  assign head_put = take && !drop && !over_q && !skips;
  always_comb begin
    head_word = in_data_i;
    if (first) head_word = {kind, 8'(to_y), 8'(to_x)};
    else if (has_data && !is_send && index_q > 3'd4) head_word = held_q;
  end

  // One message goes out and one is read ahead, so a later one of higher priority waits for no more.
  logic [1:0] inside_q;  // messages
  logic gone_put, skip_end, note_put, mark_due_q, rest_ready;
  assign rest_ready = (job_ready && !mark_due_q) || index_q != 3'd7;
  assign in_ready_o = head_ready && note_ready && (first ? !inside_q[1] && !judging_q : rest_ready);
  assign take = in_valid_i && in_ready_o;
  assign job_due = take && index_q == 3'd7 && !over_q && data && !registers && !drop;
  assign job_judged = job_due && !again_q && !lost && (queue_q & Back) != '0;

  always_ff @(posedge clk_i) begin
    if (take) begin
      kind_q <= kind;
      if (index_q == 3'd1) length_q <= in_data_i;
      if (index_q == (is_send ? 3'd3 : 3'd5)) flag_q <= in_data_i;
      if (index_q == (is_send ? 3'd4 : 3'd6)) addr_q <= in_data_i;
      if (index_q == 3'd5) stride_q <= in_data_i;
      if (index_q == 3'd4) held_q <= in_data_i;
    end
    bad_o <= take && in_end_i && !skips_all && (drop || over_q || (command && index_q != 3'd7));
    if (take && first && !again_q) queue_q <= in_queue_i;
    if (job_due) given_up_q <= lost;
    looked_q <= !job_ready && (looked_q || (run_valid && run_ready));
    if (rst_i) begin
      index_q   <= '0;
      over_q    <= 1'b0;
      inside_q  <= '0;
      again_q   <= 1'b0;
      dropped_q <= 1'b0;
      pending_q <= 1'b0;
      judging_q <= 1'b0;
    end else begin
      inside_q  <= inside_q + 2'(take && first && !drop) - 2'(gone_put || skip_end);
      pending_q <= (take && first && !again_q) || (pending_q && settle_o == '0 && back_o == '0);
      judging_q <= job_judged || (judging_q && !good && back_o == '0);
      if (back_o != '0) dropped_q <= 1'b1;
      else if (take && first && !again_q) dropped_q <= 1'b0;
      if (take) begin
        if (in_end_i) again_q <= in_more_i;
        index_q <= in_end_i ? '0 : (index_q == 3'd7) ? 3'd7 : index_q + 3'd1;
        over_q  <= !in_end_i && index_q == 3'd7;
      end
    end
  end

  // {waits for its judgement, of registers, data follow, end of the header, word}; the first word's is {kind, y, x}.
  logic head_valid, head_pop, head_judged, head_registers, head_data, head_end;
  logic [31:0] head;
  logic [ 4:0] head_level;
  fifo #(
      .W(36),
      .Depth(16)
  ) u_head (
      .clk_i,
      .rst_i,
      .in_valid_i (head_put),
      .in_ready_o (head_ready),
      .in_data_i  ({has_data, registers, data && index_q == 3'd7, ends, head_word}),
      .out_valid_o(head_valid),
      .out_ready_i(head_pop),
      .out_data_o ({head_judged, head_registers, head_data, head_end, head}),
      .level_o    (head_level)
  );

  // ------------------------------------------------------------------------------------------------------- data: reads
  logic address_runs_busy, run_none, run_stop, put_back, unused_write;
  logic [31:0] run_addr;
  logic [10:0] run_words;
  ap1000p_address_runs #(
      .Write(1'b0)
  ) u_address_runs (
      .clk_i,
      .rst_i,
      .busy_o(address_runs_busy),
      .job_valid_i(job_due),
      .job_ready_o(job_ready),
      .job_context_i(length_q[ap1000p_pkg::CommandLengthContextLsb+:12]),
      .job_system_i(kind_q[ap1000p_pkg::PageSystemLsb]),
      .job_physical_i(1'b0),
      .job_addr_i(addr_q),
      .job_stride_i(is_send ? stride_q : in_data_i),
      .job_words_i(length_q[ap1000p_pkg::CommandLengthWordsLsb+:20]),
      .forget_i,
      .stop_i(run_stop && !fault),  // a fault that is shown waits for software
      .req_valid_o,
      .req_ready_i,
      .req_context_o,
      .req_addr_o,
      .req_write_o(unused_write),
      .req_system_o,
      .rsp_valid_i,
      .rsp_ready_o,
      .rsp_addr_i,
      .rsp_fault_i,
      .run_valid_o(run_valid),
      .run_ready_i(run_ready),
      .run_addr_o(run_addr),
      .run_words_o(run_words),
      .run_last_o(run_last),
      .fault_valid_o(fault),
      .fault_reason_o(why_reason_o),
      .retry_i(retry_i && !judging_q),
      .abort_i((abort_i && !judging_q) || put_back || (fault && given_up_q))
  );
  assign run_none = run_words == '0;
  assign {why_context_o, why_system_o, why_addr_o} = {req_context_o, req_system_o, req_addr_o};
  assign fault_valid_o = fault && !judging_q && !given_up_q;

  // Good: all runs are known, or the next one waits for room. A message that is too long has not been taken yet.
  assign good = judging_q && (over_q || (run_valid && (run_ready ? run_last : looked_q)));
  assign back_o = judging_q && fault && index_q == '0 ? queue_q : '0;
  assign put_back = back_o != '0;
  assign settle_o = pending_q && !judging_q && index_q == '0 ? queue_q : '0;

  // A message that waits for its judgement goes at once.
  logic verdict_put, verdict_valid, verdict_back, verdict_pop, goes, unused_verdict;
  logic [1:0] unused_verdicts;
  assign verdict_put = good || put_back || (note_put && has_data && !job_judged);
  fifo #(
      .W(1),
      .Depth(2)
  ) u_verdicts (
      .clk_i,
      .rst_i,
      .in_valid_i (verdict_put && !(goes && !verdict_valid)),
      .in_ready_o (unused_verdict),
      .in_data_i  (put_back),
      .out_valid_o(verdict_valid),
      .out_ready_i(verdict_pop),
      .out_data_o (verdict_back),
      .level_o    (unused_verdicts)
  );

  logic read_busy, read_ready, read_valid, read_pop, read_last, read_err, mark_ready, unused_next;
  logic [31:0] read_data;
  logic [ 1:0] unused_keep;
  dma_read #(
      .LenW (13),
      .Early(1'b1)
  ) u_read (
      .clk_i,
      .rst_i,
      .busy_o(read_busy),
      .cmd_valid_i(run_valid && !run_none && mark_ready),
      .cmd_ready_o(read_ready),
      .next_o(unused_next),
      .cmd_addr_i(run_addr),
      .cmd_bytes_i({run_words, 2'b00}),
      .mem_cmd_valid_o,
      .mem_cmd_ready_i,
      .mem_cmd_addr_o,
      .mem_cmd_len_o,
      .mem_data_valid_i,
      .mem_data_ready_o,
      .mem_data_data_i,
      .mem_data_last_i,
      .mem_data_err_i,
      .out_valid_o(read_valid),
      .out_ready_i(read_pop),
      .out_data_o(read_data),
      .out_keep_o(unused_keep),
      .out_last_o(read_last),
      .out_err_o(read_err)
  );

  // A job for each message with registers, when it has been taken, even of 0 words.
  logic fetch_busy, fetch_done, fetch_valid, fetch_pop, fetch_err, fetch_last;
  logic [31:0] fetch_data;
  logic [19:0] fetch_words;
  logic [ 1:0] fetched_q;  // messages with all registers read that have not begun to go out
  assign fetch_words = (index_q == 3'd7) ? length_q[ap1000p_pkg::CommandLengthWordsLsb+:20] : 20'd0;
  ap1000p_fetch u_fetch (
      .clk_i,
      .rst_i,
      .busy_o(fetch_busy),
      .wait_i(creg_wait_i),
      .job_valid_i(note_put && registers),
      .job_addr_i(addr_q),
      .job_words_i(fetch_words),
      .done_o(fetch_done),
      .creg_valid_o,
      .creg_ready_i,
      .creg_addr_o,
      .creg_rsp_valid_i,
      .creg_rsp_ready_o,
      .creg_rsp_fault_i,
      .creg_rsp_data_i,
      .out_valid_o(fetch_valid),
      .out_ready_i(fetch_pop),
      .out_err_o(fetch_err),
      .out_last_o(fetch_last),
      .out_data_o(fetch_data)
  );

  // A mark for each run that is read: {of registers, no data (the message ends before it), the message's last}.
  logic mark_valid, mark_pop, mark_registers, mark_none, mark_last, mark_put;
  logic [3:0] mark_level, lasts_q;  // marks of a message's last run
  assign run_ready = mark_ready && (run_none || read_ready);
  assign mark_put  = (run_valid && run_ready) || (mark_due_q && mark_ready);
  fifo #(
      .W(3),
      .Depth(8)
  ) u_marks (
      .clk_i,
      .rst_i,
      .in_valid_i (mark_put),
      .in_ready_o (mark_ready),
      .in_data_i  (mark_due_q ? 3'b101 : {1'b0, run_none, run_last}),
      .out_valid_o(mark_valid),
      .out_ready_i(mark_pop),
      .out_data_o ({mark_registers, mark_none, mark_last}),
      .level_o    (mark_level)
  );
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      lasts_q <= '0;
      mark_due_q <= 1'b0;
    end else begin
      lasts_q <= lasts_q + 4'(mark_put && (mark_due_q || run_last)) - 4'(mark_pop && mark_last);
      mark_due_q <= (note_put && registers && fetch_words != '0) || (mark_due_q && !mark_ready);
    end
  end

  // ------------------------------------------------------------------------------------------------------ messages out
  typedef enum logic [2:0] {
    Route,
    What,
    Rest,
    Data,
    Skip,   // the header of a message that was put back is thrown away
    Drain   // data of a message that was cut short or put back are thrown away
  } phase_e;
  phase_e phase_q;

  // The next word; the word held until it is known whether it is the last; the way out.
  logic next_valid, next_last, next_sure, load, cut, meets, go, skid_ready;
  logic hold_valid_q, hold_last_q, hold_sure_q, hold_local_q;
  logic [31:0] next, hold_q;
  logic broadcast;

  // Data from memory or from registers.
  logic data_valid, data_err, data_last, data_pop;
  logic [31:0] data_word;
  assign {data_valid, data_err, data_last, data_word} = mark_registers ?
      {fetch_valid, fetch_err, fetch_last, fetch_data} : {read_valid, read_err, read_last, read_data};
  assign fetch_pop = data_pop && mark_registers;
  assign read_pop = data_pop && !mark_registers;

  // A word is held while data follow. It goes when the next one is there, or will not come.
  assign meets = phase_q == Data && mark_valid && (mark_none || data_valid) && skid_ready;
  assign cut = meets && (mark_none || data_err);
  assign go = hold_valid_q && (meets || (hold_sure_q && skid_ready));
  assign load = next_valid && (!hold_valid_q || go);
  assign broadcast = head[16+ap1000p_pkg::PageRowLsb] || head[16+ap1000p_pkg::PageColumnLsb];

  always_comb begin
    next_last  = head_end && !head_data;
    next_sure  = !head_end || !head_data;
    next_valid = head_valid;
    case (phase_q)
      Route: begin
        next_valid = head_valid && (!head_registers || fetched_q != '0) &&
            (!head_judged || (verdict_valid ? !verdict_back : good));
        next = '0;
        next[ap1000p_pkg::MessageRouteXLsb+:16] = head[15:0];
        next[ap1000p_pkg::MessageRouteScopeLsb+:2] = {
          head[16+ap1000p_pkg::PageColumnLsb], head[16+ap1000p_pkg::PageRowLsb]
        };
        next[ap1000p_pkg::MessageRouteReplyLsb] = Reply;
        next_last = 1'b0;
        next_sure = 1'b1;
      end
      What: next = {head[31:16], 8'(y_i), 8'(x_i)};
      Rest: next = head;
      default: begin
        next = data_word;
        next_last = data_last && mark_last;
        next_sure = next_last;
        next_valid = meets && !cut;
      end
    endcase
  end
  assign head_pop = (load && (phase_q == What || phase_q == Rest)) || phase_q == Skip;
  assign goes = load && phase_q == Route && head_judged;
  assign verdict_pop = goes || skip_end;
  assign skip_end = phase_q == Skip && head_end;
  assign data_pop = mark_valid && !mark_none && (phase_q == Drain || (phase_q == Data && skid_ready));
  always_comb begin
    mark_pop = mark_valid && data_valid && data_pop && data_last;
    if (mark_valid && mark_none && (cut || phase_q == Drain)) mark_pop = 1'b1;
  end
  assign run_stop = phase_q == Drain && lasts_q == '0;

  always_ff @(posedge clk_i) begin
    if (load) begin
      hold_q <= next;
      hold_last_q <= next_last;
      hold_sure_q <= next_sure;
      if (phase_q == Route) hold_local_q <= !broadcast && head[15:0] == {8'(y_i), 8'(x_i)};
    end
    error_o <= cut;
    if (rst_i) begin
      phase_q <= Route;
      hold_valid_q <= 1'b0;
      fetched_q <= '0;
    end else begin
      fetched_q <= fetched_q + 2'(fetch_done) - 2'(load && phase_q == Route && head_registers);
      hold_valid_q <= load || (hold_valid_q && !go);
      case (phase_q)
        Route: begin
          // The message before it has gone.
          if (head_judged && verdict_valid && verdict_back && !hold_valid_q && !out_valid_o) phase_q <= Skip;
          else if (load) phase_q <= What;
        end
        Skip: if (head_end) phase_q <= Drain;
        What, Rest: if (load) phase_q <= !head_end ? Rest : head_data ? Data : Route;
        Data: begin
          if (cut) phase_q <= (mark_pop && mark_last) ? Route : Drain;
          else if (load && next_last) phase_q <= Route;
        end
        default: if (mark_pop && mark_last) phase_q <= Route;
      endcase
    end
  end

  logic out_cut;
  skid #(
      .W(35)
  ) u_out (
      .clk_i,
      .rst_i,
      .in_valid_i(go),
      .in_ready_o(skid_ready),
      .in_data_i ({cut, hold_local_q, hold_last_q || cut, hold_q}),
      .out_valid_o,
      .out_ready_i,
      .out_data_o({out_cut, out_local_o, out_last_o, out_data_o})
  );

  // -------------------------------------------------------------------------------------------------------- send flags
  // A note for each message, with its flag. When the message has gone, bits say whether it was put back or cut short.
  logic note_valid, note_more, note_flag, note_counts, note_pop, gone_valid, gone_back, gone_cut;
  logic whole, unused_gone;
  logic cut_q;  // a message of this command was
  logic [2:0] note_level, gone_level;
  assign note_put = head_put && ends;
  assign note_counts = has_data && index_q == 3'd7 && flag_q != '0;
  fifo #(
      .W(47),
      .Depth(4)
  ) u_notes (
      .clk_i,
      .rst_i,
      .in_valid_i(note_put),
      .in_ready_o(note_ready),
      .in_data_i({
        in_more_i,
        length_q[ap1000p_pkg::CommandLengthContextLsb+:12],
        kind[ap1000p_pkg::PageSystemLsb],
        note_counts,
        flag_q
      }),
      .out_valid_o(note_valid),
      .out_ready_i(note_pop),
      .out_data_o({note_more, flag_context_o, flag_system_o, note_flag, flag_addr_o}),
      .level_o(note_level)
  );
  assign gone_put = out_valid_o && out_ready_i && out_last_o;
  fifo #(
      .W(2),
      .Depth(4)
  ) u_gone (
      .clk_i,
      .rst_i,
      .in_valid_i (gone_put || skip_end),
      .in_ready_o (unused_gone),
      .in_data_i  ({skip_end, out_cut && !skip_end}),
      .out_valid_o(gone_valid),
      .out_ready_i(note_pop),
      .out_data_o ({gone_back, gone_cut}),
      .level_o    (gone_level)
  );
  assign whole = !gone_cut && !cut_q;
  assign flag_valid_o = gone_valid && whole && !gone_back && !note_more && note_flag;
  assign note_pop = gone_valid && (!flag_valid_o || flag_ready_i);
  always_ff @(posedge clk_i) begin
    if (rst_i) cut_q <= 1'b0;
    else if (note_pop) cut_q <= note_more && !whole;
  end

  assign busy_o = pending_q || head_level != '0 || index_q != '0 || address_runs_busy || read_busy || fetch_busy
      || mark_level != '0 || hold_valid_q
      || out_valid_o || note_level != '0 || gone_level != '0;

`ifdef TSUNAGI_ASSERT
  // Messages that have gone with their last word, and those with a flag due.
  logic [2:0] went_q, noted_q;
  always_ff @(posedge clk_i) begin
    went_q  <= rst_i ? '0 : went_q + 3'(gone_put || skip_end);
    noted_q <= rst_i ? '0 : noted_q + 3'(note_pop);
    if (!rst_i) begin
      assert (!flag_valid_o || went_q != noted_q);
      assert (!mark_due_q || !run_valid);
      assert (!(gone_put || skip_end) || unused_gone);
      assert (!verdict_put || unused_verdict);
      assert (phase_q != Skip || (head_valid && !gone_put));
      assert (!gone_valid || note_valid);
      assert (phase_q != Data || (hold_valid_q && !hold_sure_q));
    end
  end
`endif
endmodule
