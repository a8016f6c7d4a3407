// CP-PACS NIA, registers: the host's window, counters, the interrupt, and the barrier.
//
// Host       one access at a time: request, then response, 8 cycles later or, for tables, 32. After a refused kick or
//            access the next request may wait for 24 more. Nothing that the network does holds it up.
// Misuse     an access to an offset that does not exist, a write to a read-only register or with partial strobes, a
//            read of KICK, and ARRIVE without MEMBER or while WAITING get `host_rsp_err_o`, change nothing, and are
//            counted.
// Process    `area_*_o` and `tcw_*_o` are those of `process_i`, a cycle later.
// Refusals   a pulse with what was refused: of the kicks in the cycle after `kick_valid_o`; of each sender and receiver
//            (0 data, 1 acknowledge), and of each `notify`, at most one each 32 cycles.
// Counts     `count_i`: a pulse each, by code of Counts. They and the refusals stand in a memory. A counter takes its
//            turn, one a cycle, so a register shows an event at the latest 32 cycles later; so does the interrupt.
// Barrier    to `sync_tree`, one group. MEMBER of a write counts for its ARRIVE.
// Reset      all registers are 0, after 64 cycles; the host waits until then.
// busy_o     low when no further edge changes anything while no input is valid.
// Source     ours; the family has a hardware barrier, as is public. Layout: regs.toml.
module cppacs_regs #(
    parameter int Rights = 512,  // as of cppacs_tables
    parameter int Fields = 512
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic host_req_valid_i,
    output logic host_req_ready_o,
    input logic host_req_write_i,
    input logic [16:0] host_req_addr_i,
    input logic [63:0] host_req_wdata_i,
    input logic [7:0] host_req_wstrb_i,
    output logic host_rsp_valid_o,
    input logic host_rsp_ready_i,
    output logic [63:0] host_rsp_rdata_o,
    output logic host_rsp_err_o,
    output logic irq_o,

    output logic barrier_member_o,
    output logic barrier_arrive_o,
    input  logic barrier_waiting_i,
    input  logic barrier_release_i,

    output logic kick_valid_o,
    output logic [2:0] kick_process_o,  // also the process whose room is asked for
    output logic kick_channel_o,
    output logic [15:0] kick_tcw_o,
    input logic kick_refused_i,
    input logic [1:0][4:0] room_i,
    input logic [7:0] waiting_i,

    output logic table_valid_o,
    output logic table_write_o,
    output logic table_right_o,
    output logic [9:0] table_index_o,
    output logic [1:0] table_word_o,
    output logic [63:0] table_wdata_o,
    input logic table_done_i,
    input logic [63:0] table_rdata_i,

    output logic [12:0] place_o,
    output logic [12:0] last_o,  // highest coordinates of the grid
    output logic run_o,  // CONTROL.SEND
    output logic [31:0] ring_tail_o,
    output logic [4:0] ring_slot_log_o,
    output logic [3:0] ring_slots_log_o,
    input logic [2:0] process_i,
    output logic [31:0] area_base_o,
    output logic [31:0] area_size_o,
    output logic [31:0] tcw_base_o,
    output logic [16:0] tcw_count_o,

    input logic [1:0] sending_i,
    input logic [1:0] receiving_i,
    input logic [9:0] field_i,
    input logic [15:0] answers_i,
    input logic [15:0] drained_i,
    input logic [7:0] count_i,
    input logic [1:0] shut_i,
    input logic [1:0] notify_valid_i,
    input logic [1:0][12:0] notify_src_i,
    input logic [1:0][9:0] notify_field_i,
    input logic [1:0] send_refused_valid_i,
    input logic [1:0][2:0] send_refused_process_i,
    input logic [1:0][15:0] send_refused_tcw_i,
    input logic [1:0][3:0] send_refused_reason_i,
    input logic [1:0] recv_refused_valid_i,
    input logic [1:0][12:0] recv_refused_src_i,
    input logic [1:0][9:0] recv_refused_field_i,
    input logic [1:0][2:0] recv_refused_kind_i,
    input logic [1:0][3:0] recv_refused_reason_i
);
  localparam bit [3:0] SlotKick = 4'd8;
  localparam bit [3:0] SlotRecv0 = 4'd9;
  localparam bit [3:0] SlotSend0 = 4'd10;
  localparam bit [3:0] SlotHost = 4'd11;
  localparam bit [3:0] SlotRecv1 = 4'd12;
  localparam bit [3:0] SlotSend1 = 4'd13;
  localparam bit [3:0] SlotNotify0 = 4'd14;
  localparam bit [3:0] SlotNotify1 = 4'd15;

  if (Rights < 16 || Rights > 1024 || Fields < 16 || Fields > 1024) begin : gen_bad_entries
    cppacs_regs_Rights_and_Fields_must_be_16_to_1024 u_bad ();
  end

  // ------------------------------------------------------------------------------------------------- the host's access
  typedef enum logic [2:0] {
    Idle,
    Decode,
    Wait,    // an event under way ends
    Act,
    Have,
    Kicked,
    Table,
    Respond
  } state_e;
  state_e state_q;
  logic clear_q, write_q, partial_q, err_q, accept;
  logic [ 5:0] clear_at_q;
  logic [16:0] addr_q;
  logic [63:0] wdata_q;
  logic kick_pend_q, host_pend_q;

  // Which register it is, and what may be done with it.
  logic is_page, is_table, is_right, is_field, is_process, is_low, is_counter, is_kept, is_live;
  logic readable, writable, sound;
  logic [5:0] low;
  assign low = addr_q[8:3];
  assign is_page = addr_q[16:15] == 2'b10 && addr_q[11:4] == '0;
  assign is_right = addr_q[16:14] == 3'b001 && 32'(addr_q[13:4]) < Rights;
  assign is_field = addr_q[16:15] == 2'b01 && 32'(addr_q[14:5]) < Fields;
  assign is_table = is_right || is_field;
  assign is_low = addr_q[16:9] == '0;
  assign is_process = addr_q[16:7] == 10'(cppacs_pkg::Area >> 7);
  assign is_counter = is_low && ((low >= 6'd16 && low < 6'd56) || low == 6'd10);
  assign is_kept = is_process ||
      (is_low && (low == 6'd0 || low == 6'd1 || low == 6'd4 || (low >= 6'd6 && low <= 6'd9)));
  assign is_live = is_low && (low == 6'd2 || low == 6'd3 || low == 6'd5 || low == 6'd11);
  assign readable = is_table || is_counter || is_kept || is_live || (is_page && addr_q[3]);
  assign writable = is_table || is_process || (is_page && !addr_q[3]) ||
      (is_low && (low == 6'd0 || low == 6'd1 || (low >= 6'd3 && low <= 6'd6)));
  logic arrives, may_arrive, waiting;
  assign waiting = barrier_waiting_i || barrier_arrive_o;
  assign arrives = is_low && low == 6'd5 && write_q && wdata_q[cppacs_pkg::BarrierArriveLsb];
  assign may_arrive = wdata_q[cppacs_pkg::BarrierMemberLsb] && !waiting;
  assign sound = addr_q[2:0] == '0 && (write_q ? writable && !partial_q && (!arrives || may_arrive) : readable);

  assign host_req_ready_o = state_q == Idle && !clear_q && !kick_pend_q && !host_pend_q;
  assign accept = host_req_valid_i && host_req_ready_o;
  assign host_rsp_valid_o = state_q == Respond;
  assign host_rsp_err_o = err_q;

  logic act_write;
  assign act_write = state_q == Act && write_q;
  always_ff @(posedge clk_i) begin
    if (accept) begin
      addr_q <= host_req_addr_i;
      wdata_q <= host_req_wdata_i;
      write_q <= host_req_write_i;
      partial_q <= host_req_wstrb_i != '1;
    end
    if (rst_i) wdata_q <= '0;  // what clears AREA and TCWS
    if (state_q == Decode) err_q <= !sound;
    if (rst_i) state_q <= Idle;
    else begin
      case (state_q)
        Idle: if (accept) state_q <= Decode;
        Decode: state_q <= !sound ? Respond : (is_table ? Table : Wait);
        Wait: state_q <= Act;
        Act: state_q <= write_q && !is_page ? Respond : Have;
        Have: state_q <= write_q ? Kicked : Respond;
        Kicked: state_q <= Respond;  // now its refusal is known
        Table: if (table_done_i) state_q <= Wait;
        default: if (host_rsp_ready_i) state_q <= Idle;
      endcase
    end
  end

  assign table_valid_o = state_q == Table;
  assign table_write_o = write_q;
  assign table_right_o = is_right;
  assign table_index_o = is_right ? addr_q[13:4] : addr_q[14:5];
  assign table_word_o = is_right ? {1'b0, addr_q[3]} : addr_q[4:3];
  assign table_wdata_o = wdata_q;
  assign kick_process_o = addr_q[14:12];
  assign kick_channel_o = wdata_q[cppacs_pkg::KickChannelLsb];
  assign kick_tcw_o = wdata_q[cppacs_pkg::KickTcwLsb+:cppacs_pkg::KickTcwW];
  always_ff @(posedge clk_i) kick_valid_o <= act_write && is_page && !rst_i;

  // ------------------------------------------------------------------------------------- events, one a cycle, in turn
  // In a slot's cycle the memories are read, in the next one they are written, counters in the one behind that. So
  // three slots lie between two that may count the same.
  logic [3:0] slot_q, done_slot_q;
  logic stall, step_q, any;
  logic [7:0][4:0] counts_q;
  logic [1:0] send_q, recv_q, notify_q;
  logic [1:0][22:0] send_what_q, notify_what_q;
  logic [1:0][29:0] recv_what_q;
  logic [5:0] counter_at, counter_at_q;
  logic [4:0] add, add_q;
  logic is_told, is_told_q, is_event, is_send, is_recv, is_notify, second, of_notify;
  logic [22:0] told, told_q, received;
  logic [29:0] came_q;

  assign stall = state_q == Decode || state_q == Wait || state_q == Act || clear_q;
  assign any   = {counts_q, send_q, recv_q, notify_q, kick_pend_q, host_pend_q} != '0;
  always_comb begin
    counter_at = 6'(cppacs_pkg::Counts >> 3) + 6'(slot_q);
    add = counts_q[slot_q[2:0]];
    is_told = 1'b0;
    told = slot_q == SlotKick ? {4'd0, kick_process_o, kick_tcw_o} : send_what_q[slot_q==SlotSend1];
    case (slot_q)
      SlotKick: begin
        counter_at = 6'(cppacs_pkg::SendRefusals >> 3);
        add = 5'(kick_pend_q);
        is_told = kick_pend_q;
      end
      SlotSend0, SlotSend1: begin
        counter_at = 6'(cppacs_pkg::SendRefusals >> 3) + 6'(told[22:19]);
        add = 5'(send_q[slot_q==SlotSend1]);
        is_told = send_q[slot_q==SlotSend1];
      end
      SlotRecv0, SlotRecv1: begin
        counter_at = 6'(cppacs_pkg::ReceiveRefusals >> 3) + 6'(recv_what_q[slot_q==SlotRecv1][29:26]);
        add = 5'(recv_q[slot_q==SlotRecv1]);
      end
      SlotHost: begin
        counter_at = 6'(cppacs_pkg::HostErrors >> 3);
        add = 5'(host_pend_q);
      end
      SlotNotify0, SlotNotify1: add = 5'(notify_q[slot_q==SlotNotify1]);
      default: ;
    endcase
  end
  // Field and source of what was received or refused.
  assign second = slot_q == SlotNotify1 || slot_q == SlotRecv1;
  assign of_notify = slot_q == SlotNotify0 || slot_q == SlotNotify1;
  assign received = of_notify ? notify_what_q[second] : recv_what_q[second][22:0];

  assign is_event = step_q && add_q != '0;
  assign is_send = step_q && is_told_q;
  assign is_recv = is_event && (done_slot_q == SlotRecv0 || done_slot_q == SlotRecv1);
  assign is_notify = is_event && (done_slot_q == SlotNotify0 || done_slot_q == SlotNotify1);

  // A worm has 8 cycles at least, but words and stalls may come in each cycle.
  for (genvar k = 0; k < 8; k++) begin : gen_count
    localparam int Bits = (k == cppacs_pkg::CountWords || k == cppacs_pkg::CountWordsIn ||
                           k == cppacs_pkg::CountStalls) ? 5 : 3;
    logic [Bits-1:0] left;
    assign left = counts_q[k][Bits-1:0] & {Bits{!(slot_q == 4'(k) && !stall)}};
    always_ff @(posedge clk_i) begin
      if (rst_i) counts_q[k] <= '0;
      else counts_q[k] <= 5'(left + Bits'(count_i[k]));
    end
  end

  always_ff @(posedge clk_i) begin
    for (int c = 0; c < 2; c++) begin
      if (send_refused_valid_i[c])
        send_what_q[c] <= {send_refused_reason_i[c], send_refused_process_i[c], send_refused_tcw_i[c]};
      if (recv_refused_valid_i[c])
        recv_what_q[c] <= {
          recv_refused_reason_i[c], recv_refused_kind_i[c], recv_refused_field_i[c], recv_refused_src_i[c]
        };
      if (notify_valid_i[c]) notify_what_q[c] <= {notify_field_i[c], notify_src_i[c]};
    end
    add_q <= add;
    is_told_q <= is_told;
    told_q <= told;
    counter_at_q <= counter_at;
    came_q <= {recv_what_q[second][29:23] & {7{!of_notify}}, received};
    done_slot_q <= slot_q;
    // While the host has the memories, and while they are cleared, events add nothing to what is written.
    if (rst_i || stall) {add_q, told_q, came_q} <= '0;
    else if (!is_told) told_q <= '0;
    if (!(of_notify || slot_q == SlotRecv0 || slot_q == SlotRecv1)) came_q <= '0;
    if (rst_i) begin
      {slot_q, step_q, kick_pend_q, host_pend_q} <= '0;
      {send_q, recv_q, notify_q} <= '0;
    end else begin
      step_q <= any && !stall;
      if (!stall) slot_q <= any ? slot_q + 4'd1 : '0;
      kick_pend_q <= kick_refused_i || (kick_pend_q && !(slot_q == SlotKick && !stall));
      host_pend_q <= (state_q == Decode && !sound) || (host_pend_q && !(slot_q == SlotHost && !stall));
      send_q <= send_refused_valid_i | (send_q & ~({slot_q == SlotSend1, slot_q == SlotSend0} &{2{!stall}}));
      recv_q <= recv_refused_valid_i | (recv_q & ~({slot_q == SlotRecv1, slot_q == SlotRecv0} &{2{!stall}}));
      notify_q <= notify_valid_i | (notify_q & ~({slot_q == SlotNotify1, slot_q == SlotNotify0} &{2{!stall}}));
    end
  end

  // ---------------------------------------------------------------------------------------- registers and the counters
  // What the host wrote, and what events leave; counters; of each process's kicks {reason, TCW, number of refusals};
  // for fetch AREA and TCWS once more.
  (* ram_style = "block", no_rw_check *) logic [63:0] kept_q[32];
  (* ram_style = "block", no_rw_check *) logic [31:0] counters_q[64];
  (* ram_style = "block", no_rw_check *) logic [35:0] kicks_q[16];
  (* ram_style = "block", no_rw_check *) logic [63:0] areas_q[8];
  (* ram_style = "block", no_rw_check *) logic [48:0] tcws_q[8];
  localparam bit [4:0] Nothing = 5'd2;  // a word of it that is always 0, as counter 0 is, and the kicks of process 8
  logic [63:0] kept, kept_d, area;
  logic [48:0] tcws;
  logic [31:0] counter;
  logic [35:0] kicks;
  logic [ 4:0] kept_at;
  logic [3:0] kicks_at, kicks_at_q;
  logic kept_write, full, event_q;
  logic [ 4:0] more_q;
  logic [ 5:0] count_at_q;
  logic [31:0] count_q;
  logic [ 5:0] cause_q;
  assign full = counter[15:0] == '1 && counter_at_q < 6'(cppacs_pkg::Counts >> 3);
  assign kicks_at = state_q == Act ? {!is_page, kick_process_o} : {1'b0, told[18:16]};

  // The host's word, or an event's: SEND_FIRST, RECEIVE_FIRST, NOTIFIED.
  logic [63:0] event_word;
  assign event_word = {28'd0, came_q[29:26], 1'b0, came_q[25:23], 2'd0, came_q[22:13], 3'd0, came_q[12:0]} |
                      {36'd0, told_q[22:19], 5'd0, told_q[18:0]};
  assign kept_d = (wdata_q & {64{act_write}}) | event_word;
  always_comb begin
    kept_at = is_kept ? {is_process, addr_q[6:3]} : Nothing;
    kept_write = act_write && is_kept;
    if (is_send) begin
      kept_at = 5'(cppacs_pkg::SendFirst >> 3);
      kept_write = !cause_q[cppacs_pkg::CauseSendRefusedLsb];
    end
    if (is_recv) begin
      kept_at = 5'(cppacs_pkg::ReceiveFirst >> 3);
      kept_write = !cause_q[cppacs_pkg::CauseReceiveRefusedLsb];
    end
    if (is_notify) begin
      kept_at = 5'(cppacs_pkg::Notified >> 3);
      kept_write = 1'b1;
    end
    if (clear_q) {kept_at, kept_write} = {clear_at_q[4:0], 1'b1};
  end

  always_ff @(posedge clk_i) begin
    kept <= kept_q[kept_at];
    if (kept_write) kept_q[kept_at] <= kept_d;
    counter <= counters_q[state_q==Act?(is_counter?low : 6'd0) : counter_at];
    event_q <= is_event;
    more_q <= add_q & {5{!full}};
    count_at_q <= counter_at_q;
    count_q <= counter;
    if (event_q || clear_q) counters_q[clear_q?clear_at_q : count_at_q] <= count_q + 32'(more_q);
    kicks <= kicks_q[kicks_at];
    kicks_at_q <= kicks_at;
    if (is_send || clear_q)
      kicks_q[clear_q?clear_at_q[3:0] : kicks_at_q] <= {told_q[22:19], told_q[15:0], kicks[15:0] + 16'(is_send)};
    if (rst_i || clear_q) {counter, kicks, event_q, more_q, count_q} <= '0;
    area <= areas_q[process_i];
    tcws <= tcws_q[process_i];
    if (clear_q || (act_write && is_process && !addr_q[3])) areas_q[clear_q?clear_at_q[2:0] : addr_q[6:4]] <= wdata_q;
    if (clear_q || (act_write && is_process && addr_q[3]))
      tcws_q[clear_q?clear_at_q[2:0] : addr_q[6:4]] <= wdata_q[48:0];
    if (rst_i) {clear_q, clear_at_q} <= {1'b1, 6'd0};
    else begin
      clear_q <= clear_q && clear_at_q != '1;
      clear_at_q <= clear_at_q + 6'(clear_q);
    end
  end
  assign {area_size_o, area_base_o} = area;
  assign {tcw_count_o, tcw_base_o}  = tcws;

  // --------------------------------------------------------------------------------- causes, barrier, and what is read
  logic [5:0] mask_q, cleared;
  logic [31:0] releases_q;
  logic [63:0] live, live_q;
  assign cleared = act_write && is_low && low == 6'd3 ? wdata_q[5:0] : '0;
  always_ff @(posedge clk_i) begin
    if (act_write && is_low) begin
      case (low)
        6'd0: {last_o, place_o} <= {wdata_q[44:32], wdata_q[12:0]};
        6'd1: run_o <= wdata_q[cppacs_pkg::ControlSendLsb];
        6'd4: mask_q <= wdata_q[5:0];
        6'd5: barrier_member_o <= wdata_q[cppacs_pkg::BarrierMemberLsb];
        6'd6: {ring_slots_log_o, ring_slot_log_o, ring_tail_o} <= {wdata_q[43:40], wdata_q[36:32], wdata_q[31:0]};
        default: ;
      endcase
    end
    barrier_arrive_o <= act_write && arrives && !rst_i;
    irq_o <= (cause_q & mask_q) != '0 && !rst_i;
    releases_q <= releases_q + 32'(barrier_release_i);
    cause_q <= (cause_q & ~cleared) |
        {barrier_release_i, is_event && done_slot_q == SlotHost, shut_i != '0, is_recv, is_send, is_notify};
    if (rst_i) begin
      {place_o, last_o, run_o, mask_q, barrier_member_o, cause_q, releases_q} <= '0;
      {ring_slots_log_o, ring_slot_log_o, ring_tail_o} <= '0;
    end
  end

  always_comb begin
    live = '0;
    case (low)
      6'd2: begin
        live[cppacs_pkg::StatusSendingLsb+:2] = sending_i;
        live[cppacs_pkg::StatusReceivingLsb+:2] = receiving_i;
        live[cppacs_pkg::StatusKickedLsb+:8] = waiting_i;
        live[cppacs_pkg::StatusFieldLsb+:10] = field_i & {10{receiving_i[0]}};
        live[cppacs_pkg::StatusAnswersLsb+:16] = answers_i;
      end
      6'd3: live[5:0] = cause_q;
      6'd5: begin
        live[cppacs_pkg::BarrierWaitingLsb] = waiting;
        live[cppacs_pkg::BarrierMemberLsb] = barrier_member_o;
        live[cppacs_pkg::BarrierCountLsb+:32] = releases_q;
      end
      default: live[15:0] = drained_i;
    endcase
    if (is_page) live = {51'd0, room_i[1], 3'd0, room_i[0]};
    else if (!is_live) live = '0;
  end
  always_ff @(posedge clk_i) begin
    if (state_q == Table) live_q <= table_rdata_i;
    else if (!is_table) live_q <= live;
    // What was not read is 0.
    if (state_q == Have) host_rsp_rdata_o <= live_q | kept | {12'd0, kicks, 16'd0} | {32'd0, counter};
    if (state_q == Decode) host_rsp_rdata_o <= '0;
  end

  assign busy_o = any || step_q || event_q || clear_q || state_q != Idle || kick_valid_o ||
      barrier_arrive_o || irq_o != ((cause_q & mask_q) != '0);
endmodule
