// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, the five queues of messages to be sent, with spill to cell memory.
//
// In         a writer for each queue (regs.toml: 0 system, 1 remote access, 2 user, 3 remote reply, 4 GET reply), each
//            a stream of words with `end` on a message's last one. `in_ready_o` depends on flip-flops only.
// Direct     words for any queue, as the host writes them to direct pages: {queue one-hot, number of the message, index
//            in it, end, word}. Number and index count in through mode only.
// Out        a stream of whole messages {end, word} for each send controller: [0] requests of queues 0 to 2, [1]
//            replies of 3 and 4. `out_queue_o` says of which queue: a bit of [2:0] and one of [4:3]. No message waits
//            for one of the other class.
// Order      remote access, system, user; remote reply, GET reply. A message that was passed over AgeCap times goes
//            first: `ap1000p_queue_arbiter`.
// Aside      by queue: `hold_i`, `back_i` and `settle_i`, see ap1000p_queue_ram. A message that came back is the next
//            one of its queue; other queues pass it.
// Spill      a word that finds its queue full goes to the spill region, and so do all later ones of its queue until it
//            has none there: order is kept. The region is a ring of `limit_i` x 8 KB from `base_i` x 512 KB, shared by
//            the queues.
// Share      the user's queue gets half of the region at most, and leaves the other half to the others. Replies enter
//            the region only while no request is there, and no request enters amid a reply. So in-order refill never
//            keeps a reply behind a request. The queues of replies are as if nothing was spilled when their last
//            element is back, the others when theirs is, or (without HardwareRefill) when the region is empty.
// Refill     with HardwareRefill the elements come back by themselves, in the order in which they were spilled. Without
//            it `fill_o` asks software for them. In through mode direct words enter their queue's RAM whatever is
//            spilled (or wait for room), with the number and the index of their elements. `release` gives up elements
//            that software has read.
// Latency    3 cycles from a message's last word to its first one offered, if nothing was spilled. 1 word per cycle in,
//            all writers together, and 1 per cycle out of each class.
// Full       if a queue is full, and the region has no room for it or `block_i` is set, its writer waits, and no other.
//            Nothing is lost. `full_o`: 8 KB or less are left of the region, or of the user's half once it has words
//            there (the red zone).
// Modes      each acts a cycle later. `pause_i`: no writer begins a message. `stable_o`: no writer is within a message,
//            everything spilled is in memory, no direct word waits. Without HardwareRefill a message may wait for room
//            in the region and be stable. `block_i`: a queue with nothing in the region spills nothing. `through_i`:
//            see Refill.
// Misuse     a message of more than 16 words is dropped: `broken_o`. Base and limit act when the region is next empty.
// Memory     a refused write: `spill_error_o`. An element that the memory refused, or that does not read back as it was
//            written: `lost_o`. Each message that misses a word is dropped (`broken_o`); the others are as if nothing
//            had happened. An element names its message modulo 8. So if 8 or more elements of any queue are lost
//            between two elements of a message, that message is dropped, too. (Refused runs: `ap1000p_refill`.)
// Reset      empties all, the region too; the memory must forget its bursts.
// busy_o     low: without a valid input nothing changes.
// Source     queues, automatic spill, the processor not stopped: paper 2.2.5, 2.2.10. Sizes, numbers, element, region,
//            modes: the machine's Linux port; from the paper only that remote accesses go before PUT and GET (2.2.5).
//            Order, an output for each class, ring, hardware refill, the cost of an error, the exact meaning of the
//            modes: own guess.
module ap1000p_queues #(
    parameter int DataW = 64,  // bits of a bus word, 32 or 64
    parameter bit HardwareRefill = 1'b1,
    // words of each queue, a power of two and at least 32, those of a class 256 together at most
    parameter int System = 64,
    parameter int Access = 32,
    parameter int User = 64,
    parameter int RemoteReply = 32,
    parameter int GetReply = 64,
    parameter int AgeCap = 16  // messages that may pass over one, 4 to 255
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [7:0] base_i,  // 512 KB
    input logic [6:0] limit_i,  // 8 KB, 0 (no region) to 64
    input logic pause_i,
    input logic through_i,
    input logic block_i,
    input logic release_valid_i,
    input logic [16:0] release_count_i,  // elements
    output logic stable_o,
    output logic fill_o,
    output logic full_o,
    output logic [4:0] spilled_o,  // queues with words in the region
    output logic [16:0] held_o,  // elements in the region, or on the way there
    output logic [15:0] position_o,  // of the next element
    output logic spill_error_o,  // pulses
    output logic lost_o,
    output logic broken_o,

    input logic [4:0] in_valid_i,
    output logic [4:0] in_ready_o,
    input logic [4:0] in_end_i,
    input logic [4:0][31:0] in_data_i,
    input logic arriving_i,  // a direct word is on its way: not stable
    input logic direct_valid_i,
    output logic direct_ready_o,
    input logic [4:0] direct_queue_i,
    input logic [2:0] direct_number_i,
    input logic [3:0] direct_index_i,
    input logic direct_end_i,
    input logic [31:0] direct_data_i,
    input logic [4:0] hold_i,
    input logic [4:0] settle_i,
    input logic [4:0] back_i,
    output logic [1:0] out_valid_o,
    input logic [1:0] out_ready_i,
    output logic [4:0] out_queue_o,
    output logic [1:0] out_end_o,
    output logic [1:0][31:0] out_data_o,

    output logic mem_wr_cmd_valid_o,
    input logic mem_wr_cmd_ready_i,
    output logic [31:0] mem_wr_cmd_addr_o,
    output logic [7:0] mem_wr_cmd_len_o,
    output logic mem_wr_data_valid_o,
    input logic mem_wr_data_ready_i,
    output logic [DataW-1:0] mem_wr_data_data_o,
    output logic [DataW/8-1:0] mem_wr_data_strb_o,
    output logic mem_wr_data_last_o,
    input logic mem_wr_rsp_valid_i,
    output logic mem_wr_rsp_ready_o,
    input logic mem_wr_rsp_err_i,
    output logic mem_rd_cmd_valid_o,
    input logic mem_rd_cmd_ready_i,
    output logic [31:0] mem_rd_cmd_addr_o,
    output logic [7:0] mem_rd_cmd_len_o,
    input logic mem_rd_data_valid_i,
    output logic mem_rd_data_ready_o,
    input logic [DataW-1:0] mem_rd_data_data_i,
    input logic mem_rd_data_last_i,
    input logic mem_rd_data_err_i
);
  localparam int TagW = ap1000p_pkg::SpillTagLapW + ap1000p_pkg::SpillTagPositionW;

  logic pause_q, through_q, block_q;
  always_ff @(posedge clk_i) {pause_q, through_q, block_q} <= {pause_i, through_i, block_i};

  // ------------------------------------------------------------------------------------------------------- arbitration
  logic [6:0] req, req_q, grant, take;
  logic direct_valid, direct_end;
  logic [ 4:0] direct_queue;
  logic [ 2:0] direct_number;
  logic [ 3:0] direct_index;
  logic [31:0] direct_data;
  skid #(
      .W(45)
  ) u_direct (
      .clk_i,
      .rst_i,
      .in_valid_i (direct_valid_i),
      .in_ready_o (direct_ready_o),
      .in_data_i  ({direct_queue_i, direct_number_i, direct_index_i, direct_end_i, direct_data_i}),
      .out_valid_o(direct_valid),
      .out_ready_i(take[5]),
      .out_data_o ({direct_queue, direct_number, direct_index, direct_end, direct_data})
  );

  logic refill_valid, refill_new, refill_lost, refill_end;
  logic [4:0] refill_queue;
  logic [2:0] refill_number;
  logic [3:0] refill_index;
  logic [TagW-1:0] refill_tag;
  logic [31:0] refill_data;

  logic [4:0] full, away_q, may, midway_q;  // away: has words in the region; midway: amid a message
  logic [4:0][3:0] index_q;  // of the writer's next word in its message
  logic [4:0][2:0] number_q;  // of its message
  logic [4:0] room;  // to spill a word
  logic [4:0] forget;  // the rest of the open message was lost

  for (genvar q = 0; q < 5; q++) begin : gen_writer
    assign may[q] = full[q] || away_q[q] ? room[q] && (away_q[q] || !block_q) : 1'b1;
    assign in_ready_o[q] = grant[q] && may[q] && (midway_q[q] || !pause_q);
    assign req[q] = in_valid_i[q] && may[q] && (midway_q[q] || !pause_q);
  end
  assign req[5] = direct_valid && (direct_queue & (through_q ? ~full & ~forget : may)) != '0;
  assign req[6] = refill_valid && !refill_new && (refill_lost || (refill_queue & full) == '0);
  assign take   = grant & req;
  // The arbiter sees the requests of the cycle before; one that has gone is passed by.
  always_ff @(posedge clk_i) req_q <= req;

  arbiter_rr #(
      .N(7)
  ) u_turn (
      .clk_i,
      .rst_i,
      .req_i(req_q),
      .advance_i(1'b1),
      .grant_o(grant)
  );

  // -------------------------------------------------------------------------------------------------------------- word
  logic through, refill, taken, put, diverted, word_end;  // put: into a RAM; diverted: to the region
  logic [ 6:0] away;  // writers that put words there
  logic [ 4:0] queue;
  logic [ 2:0] number;
  logic [ 3:0] index;
  logic [31:0] word;

  // The word of the granted writer, taken or not, so that its queue is known early.
  assign through = grant[5] && through_q;
  always_comb begin
    queue = grant[4:0];
    if (grant[5]) queue = direct_queue;
    if (grant[6]) queue = refill_queue;
    word = '0;
    word_end = 1'b0;
    number = '0;
    index = '0;
    for (int q = 0; q < 5; q++) begin
      if (grant[q]) word = word | in_data_i[q];
      if (grant[q]) word_end = word_end | in_end_i[q];
      if (queue[q]) {number, index} = {number, index} | {number_q[q], index_q[q]};
    end
    if (through) {number, index} = {direct_number, direct_index};
    if (grant[5]) {word_end, word} = {direct_end, direct_data};
    if (grant[6]) {word_end, number, index, word} = {refill_end, refill_number, refill_index, refill_data};
  end
  assign away[4:0] = full | away_q;
  assign away[5] = !through_q && (direct_queue & away[4:0]) != '0;
  assign away[6] = 1'b0;
  assign taken = take != '0;
  assign diverted = (take & away) != '0;
  assign put = (take & ~away) != '0 && !(grant[6] && refill_lost);
  assign refill = take[6];

  always_ff @(posedge clk_i) begin
    for (int q = 0; q < 5; q++) begin
      if (rst_i) begin
        index_q[q]  <= '0;
        number_q[q] <= '0;
        midway_q[q] <= 1'b0;
      end else if (taken && queue[q] && !through && !grant[6]) begin
        midway_q[q] <= !word_end;
        number_q[q] <= number_q[q] + 3'(word_end);
        if (word_end) index_q[q] <= '0;
        else if (index_q[q] != '1) index_q[q] <= index_q[q] + 4'd1;
      end
    end
  end

  // Remote accesses go before the system.
  logic [1:0] put_class, ram_busy, broken;
  logic [4:0] more;
  logic doubt;
  assign put_class = {put && queue[4:3] != '0, put && queue[2:0] != '0};
  assign broken_o  = broken != '0;
  ap1000p_queue_ram #(
      .First (Access),
      .Second(System),
      .Third (User),
      .AgeCap(AgeCap)
  ) u_requests (
      .clk_i,
      .rst_i,
      .busy_o(ram_busy[0]),
      .put_valid_i(put_class[0]),
      .put_queue_i({queue[2], queue[0], queue[1]}),
      .put_number_i(number),
      .put_index_i(index),
      .put_end_i(word_end),
      .put_data_i(word),
      .put_doubt_i(doubt),
      .forget_i({forget[2], forget[0], forget[1]}),
      .hold_i({hold_i[2], hold_i[0], hold_i[1]}),
      .settle_i({settle_i[2], settle_i[0], settle_i[1]}),
      .back_i({back_i[2], back_i[0], back_i[1]}),
      .broken_o(broken[0]),
      .full_o({full[2], full[0], full[1]}),
      .more_o({more[2], more[0], more[1]}),
      .out_valid_o(out_valid_o[0]),
      .out_ready_i(out_ready_i[0]),
      .out_queue_o({out_queue_o[2], out_queue_o[0], out_queue_o[1]}),
      .out_end_o(out_end_o[0]),
      .out_data_o(out_data_o[0])
  );
  ap1000p_queue_ram #(
      .First (RemoteReply),
      .Second(GetReply),
      .Third (0),
      .AgeCap(AgeCap)
  ) u_replies (
      .clk_i,
      .rst_i,
      .busy_o(ram_busy[1]),
      .put_valid_i(put_class[1]),
      .put_queue_i(queue[4:3]),
      .put_number_i(number),
      .put_index_i(index),
      .put_end_i(word_end),
      .put_data_i(word),
      .put_doubt_i(doubt),
      .forget_i(forget[4:3]),
      .hold_i(hold_i[4:3]),
      .settle_i(settle_i[4:3]),
      .back_i(back_i[4:3]),
      .broken_o(broken[1]),
      .full_o(full[4:3]),
      .more_o(more[4:3]),
      .out_valid_o(out_valid_o[1]),
      .out_ready_i(out_ready_i[1]),
      .out_queue_o(out_queue_o[4:3]),
      .out_end_o(out_end_o[1]),
      .out_data_o(out_data_o[1])
  );

  // ------------------------------------------------------------------------------------------------------------ region
  logic spill_ready, spill_room, spill_busy, empty, stored_valid, spill_error;
  logic [2:0] stored_count;
  logic [16:0] held_q, gone, users_q;  // elements; users: the user's, and lost ones until the region is empty
  logic signed [18:0] left, users_left;
  logic quiet, requests_away, requests_wait, reply_goes, any_room;
  logic [2:0] room_q;  // replies, user, other requests
  logic [1:0] just_q;  // a reply, a request went in the cycle before; `room_q` does not include it
  logic [7:0] base;
  logic [6:0] limit;
  logic [TagW-1:0] tag;

  assign empty = held_q == '0;
  assign quiet = empty && (grant & away) == '0;  // and nothing goes there now
  assign left = $signed({2'b0, limit, 10'b0}) - $signed({2'b0, held_q});
  assign users_left = $signed({3'b0, limit, 9'b0}) - $signed({2'b0, users_q});
  // A word may be on its way in. A region that is empty may be taken away in the next cycle.
  assign any_room = left >= 19'sd2 && spill_room && !(empty && limit_i == '0);
  assign room = {{2{room_q[2] && !just_q[0]}}, {room_q[1], {2{room_q[0]}}} & {3{!just_q[1]}}};
  assign requests_away = away_q[2:0] != '0;
  assign requests_wait = (in_valid_i[2:0] & full[2:0]) != '0;  // before the next message of a reply
  always_comb begin
    reply_goes = (away_q[4:3] & midway_q[4:3]) != '0;
    gone = '0;
    if (HardwareRefill) gone = 17'(refill);
    else if (release_valid_i) gone = release_count_i < held_q ? release_count_i : held_q;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      held_q  <= '0;
      users_q <= '0;
      room_q  <= '0;
      just_q  <= '0;
      full_o  <= 1'b0;
    end else begin
      held_q <= held_q + 17'(diverted) - gone;
      if (empty && !diverted) users_q <= '0;
      else users_q <= users_q + 17'(diverted && queue[2]) - 17'(refill && !refill_lost && refill_queue[2]);
      just_q <= {diverted && queue[4:3] != '0, diverted && queue[2:0] != '0};
      room_q <= {
        any_room && !requests_away && (reply_goes || !requests_wait),
        any_room && !reply_goes && users_left >= 19'sd2,
        any_room && !reply_goes
      };
      full_o <= !empty && (left <= 19'sd1024 || (users_q != '0 && users_left <= 19'sd1024));
    end
  end

  ap1000p_spill #(
      .DataW(DataW)
  ) u_spill (
      .clk_i,
      .rst_i,
      .busy_o(spill_busy),
      .base_i,
      .limit_i,
      .empty_i(quiet),
      .base_o(base),
      .limit_o(limit),
      .tag_o(tag),
      .in_valid_i(diverted),
      .in_ready_o(spill_ready),
      .in_room_o(spill_room),
      .in_queue_i(queue),
      .in_number_i(number),
      .in_index_i(index),
      .in_end_i(word_end),
      .in_data_i(word),
      .mem_cmd_valid_o(mem_wr_cmd_valid_o),
      .mem_cmd_ready_i(mem_wr_cmd_ready_i),
      .mem_cmd_addr_o(mem_wr_cmd_addr_o),
      .mem_cmd_len_o(mem_wr_cmd_len_o),
      .mem_data_valid_o(mem_wr_data_valid_o),
      .mem_data_ready_i(mem_wr_data_ready_i),
      .mem_data_data_o(mem_wr_data_data_o),
      .mem_data_strb_o(mem_wr_data_strb_o),
      .mem_data_last_o(mem_wr_data_last_o),
      .mem_rsp_valid_i(mem_wr_rsp_valid_i),
      .mem_rsp_ready_o(mem_wr_rsp_ready_o),
      .mem_rsp_err_i(mem_wr_rsp_err_i),
      .stored_valid_o(stored_valid),
      .stored_count_o(stored_count),
      .error_o(spill_error)
  );

  // A queue has nothing more in the region when its last spilled element is back, or the region is empty. In the latter
  // case that element was lost, and with it the rest of a message that is open in the RAM.
  logic [4:0] back;
  if (HardwareRefill) begin : gen_refill
    logic [TagW-1:0] first_q[8];  // of each queue's first element; all earlier words are in the RAM
    logic [TagW-1:0] last_q [8];  // of its last one
    logic [4:0] starts, missed;
    logic [2:0] put_number, get_number;
    always_comb begin
      put_number = '0;
      get_number = '0;
      for (int q = 0; q < 5; q++) begin
        if (queue[q]) put_number = put_number | 3'(q);
        if (refill_queue[q]) get_number = get_number | 3'(q);
      end
    end
    assign starts = empty ? '1 : ~away_q;
    always_ff @(posedge clk_i) begin
      if (diverted && (queue & starts) != '0) first_q[put_number] <= tag;
      if (diverted) last_q[put_number] <= tag;
    end
    for (genvar q = 0; q < 5; q++) begin : gen_missed
      logic [3:0] misses_q;  // elements lost since the queue's last one came, 8 at most
      assign missed[q] = misses_q[3];
      always_ff @(posedge clk_i) begin
        if (rst_i || (refill && !refill_lost && refill_queue[q])) misses_q <= '0;
        else if (refill && refill_lost && !missed[q]) misses_q <= misses_q + 4'd1;
      end
    end
    // While many are missing, an element is checked in the cycle before its turn.
    logic stood_q, doubt_q;
    always_ff @(posedge clk_i) begin
      stood_q <= refill_valid && !refill && !rst_i;
      doubt_q <= (refill_queue & missed) != '0 && first_q[get_number] != refill_tag;
    end
    assign refill_new = missed != '0 && !stood_q;
    assign doubt = grant[6] && stood_q && doubt_q;
    assign forget = empty ? away_q : '0;
    assign back = refill && !refill_lost && last_q[get_number] == refill_tag ? refill_queue : '0;

    logic busy;
    ap1000p_refill #(
        .DataW(DataW)
    ) u_refill (
        .clk_i,
        .rst_i,
        .busy_o(busy),
        .base_i(base),
        .limit_i(limit),
        .empty_i(empty),
        .tag_i(tag),
        .stored_valid_i(stored_valid),
        .stored_count_i(stored_count),
        .stored_refused_i(spill_error),
        .mem_cmd_valid_o(mem_rd_cmd_valid_o),
        .mem_cmd_ready_i(mem_rd_cmd_ready_i),
        .mem_cmd_addr_o(mem_rd_cmd_addr_o),
        .mem_cmd_len_o(mem_rd_cmd_len_o),
        .mem_data_valid_i(mem_rd_data_valid_i),
        .mem_data_ready_o(mem_rd_data_ready_o),
        .mem_data_data_i(mem_rd_data_data_i),
        .mem_data_last_i(mem_rd_data_last_i),
        .mem_data_err_i(mem_rd_data_err_i),
        .out_valid_o(refill_valid),
        .out_ready_i(refill),
        .out_lost_o(refill_lost),
        .out_queue_o(refill_queue),
        .out_number_o(refill_number),
        .out_index_o(refill_index),
        .out_end_o(refill_end),
        .out_tag_o(refill_tag),
        .out_data_o(refill_data)
    );
    logic unused;
    assign unused = busy || release_valid_i || release_count_i != '0;
  end else begin : gen_software
    logic [16:0] replies_q;  // elements up to the last reply
    always_ff @(posedge clk_i) begin
      if (rst_i) replies_q <= '0;
      else if (diverted && queue[4:3] != '0) replies_q <= held_q + 17'd1 - gone;
      else replies_q <= replies_q > gone ? replies_q - gone : '0;
    end
    assign back = replies_q == '0 ? 5'b11000 : '0;
    assign doubt = 1'b0;
    assign refill_new = 1'b0;
    assign forget = '0;
    assign {refill_valid, refill_lost, refill_end, refill_queue} = '0;
    assign {refill_number, refill_index, refill_tag, refill_data} = '0;
    assign {mem_rd_cmd_valid_o, mem_rd_cmd_addr_o, mem_rd_cmd_len_o, mem_rd_data_ready_o} = '0;
    logic unused;
    assign unused = ^{base, tag[TagW-1:16], stored_valid, stored_count, refill_tag, mem_rd_cmd_ready_i,
                      mem_rd_data_valid_i, mem_rd_data_data_i, mem_rd_data_last_i, mem_rd_data_err_i};
  end

  // Amid a message, without room in the region for its rest: only software makes room.
  logic [4:0] stuck;
  assign stuck = HardwareRefill ? '0 : away_q & ~room;

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      away_q <= '0;
      fill_o <= 1'b0;
      stable_o <= 1'b0;
      spill_error_o <= 1'b0;
      lost_o <= 1'b0;
    end else begin
      away_q <= ((empty ? '0 : away_q) & ~back) | (diverted ? queue : '0);
      fill_o <= !HardwareRefill && (away_q & ~more) != '0;
      stable_o <= pause_q && (midway_q & ~stuck) == '0 && take == '0 && !arriving_i && !direct_valid && !spill_busy;
      spill_error_o <= spill_error;
      lost_o <= refill && refill_lost;
    end
  end

  assign spilled_o = away_q;
  assign held_o = held_q;
  assign position_o = tag[15:0];

  // Flags settle a few cycles after the last movement.
  logic comes;
  logic [2:0] tail_q;
  assign comes = in_valid_i != '0 || arriving_i || direct_valid_i || direct_valid;
  always_ff @(posedge clk_i) begin
    if (rst_i || comes || ram_busy != '0 || spill_busy || !empty || grant != '0) tail_q <= '1;
    else if (tail_q != '0) tail_q <= tail_q - 3'd1;
  end
  assign busy_o = tail_q != '0;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      // At most one word per cycle; a spilled word has room.
      assert ((grant & (grant - 7'd1)) == '0);
      assert (!diverted || spill_ready);
    end
  end
`else
  logic unused_ready;
  assign unused_ready = spill_ready;
`endif
endmodule
