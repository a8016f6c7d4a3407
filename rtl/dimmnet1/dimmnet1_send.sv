// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1, on-the-fly sending: stores of the host become packets, one by one (AOTF) or by the block (BOTF).
//
// Stores     to windows, kicks, header TLB and AOTF pages, decoded by address bits 20, 14 and 12 alone; the bus sends
//            no others here. Each is taken in the cycle in which `store_valid_i` and `store_ready_o` are high.
//            `store_error_o` says, once per store, that one changed nothing: partial strobes of a kick or of the header
//            TLB, a kick of a busy window or a store to it, or a store to an AOTF page with strobes that are not one
//            run. `lost_o` says that a store to an AOTF page made no packet: the last of these errors, no room in time,
//            or, later and with `store_error_o`, an entry that is closed or asks a group for answers.
// AOTF       a queue of 16 stores, passed by when nothing waits. While it is full, `store_ready_o` is low. Then a store
//            to an AOTF page is taken after `patience_i` cycles (0: never), and lost; any other is taken after one
//            cycle. A store uses the entry as it is when the packet begins: software changes an entry while
//            WINDOWS.AOTF is 0. The low three bits of the entry's OFFSET do not count.
// BOTF       two windows, sent in the order of their kicks. A window is busy until its last word has been read. A kick
//            that cannot be sent leaves its reason in WINDOWS, TYPE before LENGTH, and frees the window.
// Credit     a packet with ACK_REQ or of type PULL asks for an answer, and takes a credit before it begins. While it
//            waits, the other kind of packets goes on, unless that wants a credit as well.
//            TAG holds its generation; any other packet has generation 0.
// Order      of each kind the order of stores, and none between the kinds: AOTF before BOTF when both begin to wait, by
//            turns when both always wait. Software that needs another order waits until WINDOWS.AOTF, or BUSY, is 0.
// Latency    store to first word: 2 cycles when idle, 7 with credit; kick to first word: 3, or 8. 1 word per cycle, no
//            bubble between packets that need no credit.
// Reset      drops all packets, in mid-packet too. Memory keeps its contents, so the host writes the header TLB anew.
// busy_o     low when nothing is inside.
// Source     AOTF, BOTF, two windows, 464 bytes: paper section 2; the header TLB: Tanabe and others, "On-the-fly
//            sending" (digest M3); all formats are ours.
module dimmnet1_send (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [15:0] pgid_i,
    input logic [15:0] patience_i,
    input logic store_valid_i,
    output logic store_ready_o,
    input logic [20:0] store_addr_i,
    input logic [63:0] store_data_i,
    input logic [7:0] store_strb_i,
    output logic store_error_o,
    output logic lost_o,
    output logic [63:0] windows_o,

    output logic credit_valid_o,
    input logic credit_ready_i,
    output logic [3:0] credit_slot_o,
    output logic [15:0] credit_dst_o,
    input logic [11:0] credit_gen_i,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic [63:0] out_data_o,
    output logic out_last_o
);
  if (dimmnet1_pkg::SizeBotf != 464) begin : gen_bad_botf
    dimmnet1_send_SizeBotf_must_be_464 u_bad_package ();
  end

  // ------------------------------------------------------------------------------------------------------------ stores
  logic is_aotf, is_htlb, is_kick, window, run, bad, take, missed, kick, write;
  logic [1:0] busy_q;  // of the windows
  logic [7:0] begins;
  assign is_aotf = store_addr_i[20];
  assign is_htlb = !is_aotf && store_addr_i[14];
  assign is_kick = !is_aotf && !is_htlb && store_addr_i[12];
  assign window  = is_kick ? store_addr_i[3] : store_addr_i[9];
  // One run of ones begins once.
  function automatic logic [1:0] ones(input logic [3:0] bits);  // {two or more, any}
    ones = {(bits[3] && bits[2:0] != '0) || (bits[2] && bits[1:0] != '0) || bits[1:0] == '1, bits != '0};
  endfunction
  logic [1:0] begins_low, begins_high;
  assign begins = store_strb_i & ~{store_strb_i[6:0], 1'b0};
  assign begins_low = ones(begins[3:0]);
  assign begins_high = ones(begins[7:4]);
  assign run = begins_low[0] != begins_high[0] && !begins_low[1] && !begins_high[1];
  assign bad = is_aotf ? !run : ((is_htlb || is_kick) && store_strb_i != '1) || (!is_htlb && busy_q[window]);

  logic fifo_ready, fifo_valid, pop, passes, let_q, late_q, error_q, lost_q;
  logic [15:0] wait_q;  // cycles that the store has waited, plus 1
  assign store_ready_o = fifo_ready || let_q;
  assign take = store_valid_i && store_ready_o;
  assign missed = take && is_aotf && !fifo_ready;
  assign kick = take && is_kick && !bad;
  assign write = take && !is_aotf && !is_kick && !bad;

  // A late error waits until no other shows.
  assign store_error_o = error_q || (late_q && !lost_q);
  assign lost_o = lost_q || (late_q && !error_q);

  always_ff @(posedge clk_i) begin
    wait_q  <= store_valid_i && !take ? wait_q + 16'd1 : 16'd1;
    let_q   <= store_valid_i && !take && (!is_aotf || (patience_i != '0 && wait_q >= patience_i)) && !rst_i;
    error_q <= take && bad && !rst_i;
    lost_q  <= ((take && is_aotf && bad) || missed) && !rst_i;
  end

  // The store at the head of the queue, or the one that passes it by.
  logic [ 5:0] head_page;
  logic [ 8:0] head_at;
  logic [ 7:0] head_strb;
  logic [63:0] head_data;
  logic [86:0] fifo_store, store;
  assign store = {store_addr_i[17:3], store_strb_i, store_data_i};
  assign {head_page, head_at, head_strb, head_data} = fifo_valid ? fifo_store : store;
  logic [4:0] unused_level;
  fifo #(
      .W(87),
      .Depth(16)
  ) u_stores (
      .clk_i,
      .rst_i,
      .in_valid_i (take && is_aotf && run && fifo_ready && !passes),
      .in_ready_o (fifo_ready),
      .in_data_i  (store),
      .out_valid_o(fifo_valid),
      .out_ready_i(pop),
      .out_data_o (fifo_store),
      .level_o    (unused_level)
  );

  // ------------------------------------------------------------------------------------------------------------ memory
  // Words 0 to 127: the windows; 256 to 511: the header TLB. Software reads no word in the cycle of its write.
  // Each byte has a mark, made when the byte is stored: the memory's output is too late for it. Of a header TLB's
  // entry, which is stored whole: 0, it is open; 1, it asks for an answer. Of a window's first word: 0, the type may be
  // sent; 1, it asks a group; 6 and 7, the byte of LENGTH is beyond 464's. A memory of zeros has the right marks.
  (* no_rw_check *) logic [71:0] mem_q[512];
  logic [71:0] read9_q;
  logic [63:0] read_q;
  logic [7:0] mark, marked, type_in;
  logic [3:0] unused_marks;
  assign unused_marks = marked[5:2];
  logic [8:0] read_at, write_at;
  logic move;  // both stages move on
  logic acks_in, asks_in, group_in;
  assign write_at = is_htlb ? {1'b1, store_addr_i[10:3]} : {2'b00, store_addr_i[9:3]};
  assign type_in  = store_data_i[dimmnet1_pkg::HdrW0TypeLsb+:8];
  assign acks_in  = store_data_i[dimmnet1_pkg::HdrW0AckReqLsb];
  assign group_in = store_data_i[dimmnet1_pkg::HdrW0MulticastLsb];
  assign asks_in  = acks_in || type_in == 8'(dimmnet1_pkg::TypePull);
  always_comb begin
    mark = '0;
    if (is_htlb) begin
      mark[0] = type_in != 8'(dimmnet1_pkg::TypeClosed) && !(asks_in && group_in);
      mark[1] = asks_in;
    end else begin
      mark[0] = type_in == 8'(dimmnet1_pkg::TypePush) || type_in >= 8'd16;
      mark[1] = acks_in && group_in;
      mark[6] = store_data_i[dimmnet1_pkg::HdrW0LengthLsb+:8] > 8'hd0;
      mark[7] = store_data_i[dimmnet1_pkg::HdrW0LengthLsb+9+:7] != '0;
    end
  end
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < 8; i++) begin
      if (write && store_strb_i[i]) mem_q[write_at][9*i+:9] <= {mark[i], store_data_i[8*i+:8]};
    end
    if (move) read9_q <= mem_q[read_at];
  end
  for (genvar i = 0; i < 8; i++) begin : gen_byte
    assign {marked[i], read_q[8*i+:8]} = read9_q[9*i+:9];
  end

  // --------------------------------------------------------------------------------------------- which packet is next
  // Kinds: 0 AOTF, 1 BOTF.
  logic [1:0] need_q, have_q, can;  // the packet of the kind must have a credit; has it; may be tried
  logic keep_q;  // a store has left the queue, and its packet is not over
  logic head_q;  // the window whose packet is next
  logic owed_q;  // AOTF began while BOTF waited
  logic in_q;  // inside a packet
  logic kind_q, kind, fresh, start, end_read, kill;
  logic [5:0] index_q, index, end_q, page_q, page;  // end: index of the last word of BOTF, never below 6
  assign can[0] = (fifo_valid || keep_q) && (!need_q[0] || have_q[0] || !credit_valid_o);
  assign can[1] = busy_q[head_q] && (!need_q[1] || have_q[1] || !credit_valid_o);
  assign fresh = can == '0 && !fifo_valid && !keep_q && store_valid_i && is_aotf && run;
  assign start = !in_q && (can != '0 || fresh);
  assign passes = start && fresh && move;
  assign kind = in_q ? kind_q : can[1] && (!can[0] || owed_q);
  assign index = in_q ? index_q : '0;
  assign end_read = index == (kind ? end_q : 6'd3);
  assign page = keep_q ? page_q : head_page;
  assign read_at = kind ? {2'b00, head_q, index} : {1'b1, page, index[1:0]};
  assign pop = move && start && !kind && !keep_q;

  // The store whose packet is sent, its data at byte 0.
  logic [11:0] at_q;
  logic [ 3:0] bytes_q;
  logic [63:0] data_q, data_d;
  logic [2:0] lane;
  logic [3:0] bytes;
  always_comb begin
    lane  = 3'd0;
    bytes = 4'd0;
    for (int i = 7; i >= 0; i--) begin
      if (head_strb[i]) lane = 3'(i);
      bytes = bytes + 4'(head_strb[i]);
    end
    data_d = head_data >> {lane, 3'b000};
    // The packet brings no other bytes of the host.
    for (int i = 0; i < 8; i++) if (4'(i) >= bytes) data_d[8*i+:8] = '0;
  end

  // --------------------------------------------------------------------------------------------- the word that is read
  logic have2_q, kind2_q, last2_q, quiet_q;  // quiet: its packet only asks for a credit
  logic [3:0] word_q;  // which of the first four words, one-hot
  logic head, closed, asks, wants, over, refuse, emit, room, request;
  logic [3:0] reason;
  logic [8:0] length;
  assign head = have2_q && word_q[0];
  assign length = read_q[dimmnet1_pkg::HdrW0LengthLsb+:9];
  assign asks = kind2_q ? read_q[dimmnet1_pkg::HdrW0AckReqLsb] : marked[1];
  assign closed = !marked[0];
  assign wants = asks && !have_q[kind2_q];
  // Nothing, or more than 464.
  assign over = marked[7] || (length[8] ? marked[6] : length[7:0] == '0);
  assign reason = (closed || marked[1]) ? 4'(dimmnet1_pkg::ReasonType) : 4'(dimmnet1_pkg::ReasonLength);
  assign refuse = head && (closed || (kind2_q && (marked[1] || over)));
  assign request = have2_q && word_q[1] && quiet_q;
  assign emit = have2_q && !request && !(word_q[0] && (wants || refuse));
  assign kill = move && (refuse || request || (head && wants && credit_valid_o));
  assign room = !out_valid_o || out_ready_i;
  assign move = (room || !have2_q) && !late_q;

  logic [11:0] gen0_q, gen1_q;  // generation of the credit of each kind
  logic [63:0] word;
  logic [44:0] sum;
  assign sum = read_q[47:3] + 45'(at_q[11:3]);
  always_comb begin
    word = read_q;
    if (word_q[0]) begin
      word[dimmnet1_pkg::HdrW0SrcLsb+:16] = '0;
      word[dimmnet1_pkg::HdrW0OtfLsb] = !kind2_q;
      if (!kind2_q) word[dimmnet1_pkg::HdrW0LengthLsb+:16] = 16'(bytes_q);
    end
    if (word_q[1]) begin
      word[31:20] = have_q[kind2_q] ? (kind2_q ? gen1_q : gen0_q) : '0;
      if (kind2_q) word[dimmnet1_pkg::HdrW1PgidLsb+:16] = pgid_i;
      else word[dimmnet1_pkg::HdrW1SeqLsb+:32] = '0;
    end
    if (word_q[2] && !kind2_q) word[47:0] = {sum, at_q[2:0]};
    if (word_q[3] && !kind2_q) word = data_q;
  end

  // ------------------------------------------------------------------------------------------------------------- state
  logic credit_kind_q;
  logic [1:0][3:0] why_q;  // ERROR of the windows
  // A kick that is refused frees its window a cycle later: the memory's word comes late.
  logic refused_q, refused_window_q;
  logic [3:0] refused_why_q;
  logic begin2;  // the first word leaves
  assign begin2 = move && emit && word_q[0];

  always_ff @(posedge clk_i) begin
    if (move) begin
      kind2_q <= kind;
      last2_q <= end_read;
      word_q  <= index < 6'd4 ? 4'd1 << index[1:0] : '0;
      index_q <= index + 6'd1;
      kind_q  <= kind;
    end
    if (pop) begin
      page_q  <= head_page;
      at_q    <= {head_at, lane};
      bytes_q <= bytes;
      data_q  <= data_d;
    end
    if (move && head) begin
      quiet_q <= wants;
      if (!credit_valid_o) credit_dst_o <= read_q[dimmnet1_pkg::HdrW0DstLsb+:16];
      if (kind2_q && !refuse) end_q <= length[8:3] + (length[2:0] == '0 ? 6'd5 : 6'd6);
    end
    if (move && request) begin
      credit_slot_o <= read_q[19:16];
      credit_kind_q <= kind2_q;
    end
    if (credit_valid_o && credit_ready_i) begin
      if (credit_kind_q) gen1_q <= credit_gen_i;
      else gen0_q <= credit_gen_i;
    end
    // The word of a refused packet, too: it is not valid.
    if (room && have2_q) begin
      out_data_o <= word;
      out_last_o <= last2_q;
    end
    if (room) out_valid_o <= move && emit;
    if (move && start) owed_q <= !kind && can[1];

    if (move) begin
      in_q <= (in_q || start) && !end_read && !kill;
      have2_q <= (in_q || start) && !kill;
      if (start && !kind) keep_q <= 1'b1;
      if (in_q && end_read && !kind) keep_q <= 1'b0;
      if (in_q && end_read && kind) head_q <= !head_q;
    end
    if (kick && busy_q == '0) head_q <= window;

    if (kick) begin
      busy_q[window] <= 1'b1;
      why_q[window]  <= '0;
    end
    if (move && have2_q && last2_q && kind2_q) busy_q[!head_q] <= 1'b0;
    if (begin2) need_q[kind2_q] <= 1'b0;
    if (move && have2_q && word_q[1] && !quiet_q) have_q[kind2_q] <= 1'b0;
    if (kill && !refuse) need_q[kind2_q] <= 1'b1;
    late_q <= late_q && (error_q || lost_q);
    if (move && refuse) begin
      need_q[kind2_q] <= 1'b0;
      have_q[kind2_q] <= 1'b0;
      if (kind2_q) begin
        head_q <= !head_q;
      end else begin
        keep_q <= 1'b0;
        late_q <= 1'b1;
      end
    end
    refused_q <= move && refuse && kind2_q;
    refused_window_q <= head_q;
    refused_why_q <= reason;
    if (refused_q) begin
      busy_q[refused_window_q] <= 1'b0;
      why_q[refused_window_q]  <= refused_why_q;
    end
    credit_valid_o <= (move && request) || (credit_valid_o && !credit_ready_i);
    if (credit_valid_o && credit_ready_i) have_q[credit_kind_q] <= 1'b1;
    if (rst_i) begin
      out_valid_o <= 1'b0;
      owed_q <= 1'b0;
      end_q <= '1;
      in_q <= 1'b0;
      have2_q <= 1'b0;
      keep_q <= 1'b0;
      head_q <= 1'b0;
      busy_q <= '0;
      why_q <= '0;
      refused_q <= 1'b0;
      need_q <= '0;
      have_q <= '0;
      late_q <= 1'b0;
      credit_valid_o <= 1'b0;
    end
  end

  always_comb begin
    windows_o = '0;
    windows_o[dimmnet1_pkg::WindowsBusy0Lsb+:2] = busy_q;
    windows_o[dimmnet1_pkg::WindowsError0Lsb+:8] = why_q;
    windows_o[dimmnet1_pkg::WindowsWaitingLsb] = need_q != '0;
    windows_o[dimmnet1_pkg::WindowsAotfLsb] = fifo_valid || keep_q;
  end
  assign busy_o = fifo_valid || keep_q || busy_q != '0 || in_q || have2_q || out_valid_o || error_q || lost_q || late_q;

  logic [4:0] unused_addr;
  assign unused_addr = {store_addr_i[19:18], store_addr_i[2:0]};
endmodule
