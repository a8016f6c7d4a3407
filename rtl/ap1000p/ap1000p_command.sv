// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, the command window: words that the host stores to pages become commands for the system's and the user's
// queue.
//
// Store      {page code, word}, valid/ready; `store_ready_o` depends on flip-flops only.
// Command    eight words of one page. The page says kind, address spaces, broadcast and class (regs.toml). The hardware
//            puts it into word 0 and the context into word 1, where the host must have left zero. The command starts
//            with its last word. System and user have an open command each, counted apart.
// Direct     a page with the direct bit passes its word unchanged to the named queue; open commands stay as they are.
//            `direct_waits_o`: there is such a word inside.
// Streams    `system`, `user`: whole commands, `end` on the last word. `direct`: {queue one-hot, number of the message,
//            index in it, end, word}.
// Latency    2 cycles from the last word's store to the command's first word offered. 1 store per cycle, no bubble
//            between commands.
// Full       a store waits while its class has 16 words inside, and keeps the stores behind it waiting.
// Refused    unknown page: the word is dropped, nothing else. Page changed within a command: the command is dropped,
//            the word begins the next. Cell outside (of the torus; for a user, of the range; for a user's broadcast, a
//            range less than the whole axis), or length over 20 bits: all words of the command are taken, and none is
//            passed on. One pulse each, with cause and page; `refused_count_o` counts up to 65535.
// Switch     an operating system that changes users reads `open_count_o`, `open_page_o` and the words with `peek`, and
//            drops the open command with `drop_i`. Later it stores the words again, without kind and context, and they
//            are checked again. These outputs show a store 2 cycles later, even one that waits. A word that waits and
//            ends its command belongs to none.
// Reset      forgets everything: nothing is refused, and zero is shown.
// Peek       {class, word}; 2 cycles later `peek_data_o` is that word of the open command.
// busy_o     low: without a store, and 4 cycles after the last change of another input, nothing changes. An open
//            command does not count.
// Source     two queues, start on the last word, context put by hardware: paper 2.2.1, 3.1, 3.2. Page bits, range
//            register, counters: the machine's Linux port. Which combinations of bits are refused, and how: own guess.
module ap1000p_command (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic store_valid_i,
    output logic store_ready_o,
    input logic [15:0] store_page_i,
    input logic [31:0] store_data_i,

    // quasi-static; the context is the one when word 1 is stored
    input logic [11:0] context_i,
    input logic [ 7:0] size_x_i,   // cells of the torus, 1 to 128
    input logic [ 7:0] size_y_i,
    input logic [ 7:0] low_x_i,    // range of users, signed
    input logic [ 7:0] high_x_i,
    input logic [ 7:0] low_y_i,
    input logic [ 7:0] high_y_i,

    // open commands: [0] user, [1] system
    output logic [1:0][2:0] open_count_o,
    output logic [1:0][15:0] open_page_o,
    input logic [1:0] drop_i,  // not in the cycle after a store
    input logic [3:0] peek_i,
    output logic [31:0] peek_data_o,

    output logic refused_valid_o,
    output logic [1:0] refused_cause_o,
    output logic [15:0] refused_page_o,
    output logic [15:0] refused_count_o,

    output logic system_valid_o,
    input logic system_ready_i,
    output logic system_end_o,
    output logic [31:0] system_data_o,
    output logic user_valid_o,
    input logic user_ready_i,
    output logic user_end_o,
    output logic [31:0] user_data_o,
    output logic direct_waits_o,
    output logic direct_valid_o,
    input logic direct_ready_i,
    output logic [4:0] direct_queue_o,
    output logic [2:0] direct_number_o,
    output logic [3:0] direct_index_o,
    output logic direct_end_o,
    output logic [31:0] direct_data_o
);
  // Whether the page code is valid.
  function automatic logic exists(input logic [15:0] page);
    logic [2:0] kind_of;
    logic send, broadcast, all, spaces;
    kind_of = page[ap1000p_pkg::PageKindLsb+:3];
    send = page[ap1000p_pkg::PageSendLsb];
    broadcast = page[ap1000p_pkg::PageRowLsb] || page[ap1000p_pkg::PageColumnLsb];
    all = page[ap1000p_pkg::PageRowLsb] && page[ap1000p_pkg::PageColumnLsb];
    spaces = page[ap1000p_pkg::PageAsSendLsb] || page[ap1000p_pkg::PageAsReceiveLsb];
    exists = 1'b0;
    if (page[ap1000p_pkg::PageDirectLsb]) exists = page[13:10] == '0 && kind_of <= 3'(ap1000p_pkg::DirectRemoteReply);
    else if ((page & 16'h5988) == '0) begin  // bits without a meaning, and the end bit of direct pages
      case (kind_of)
        3'(ap1000p_pkg::KindPut):
        exists = !(send && page[ap1000p_pkg::PageAsReceiveLsb]) && !(all && page[ap1000p_pkg::PageAsSendLsb]);
        3'(ap1000p_pkg::KindGet): exists = !send && !broadcast;
        3'(ap1000p_pkg::KindCsi), 3'(ap1000p_pkg::KindFop): exists = !send && !broadcast && !spaces;
        default: exists = 1'b0;
      endcase
    end
  endfunction

  // ------------------------------------------------------------------------------------------------------------- store
  logic valid_q, known_q, same_q, move, to_open;
  logic [15:0] page_q, after;
  logic [31:0] data_q;
  logic [1:0][15:0] open_page_q;
  logic class_in;

  // The page of the open command: that of the word before, if it is of the same class.
  assign class_in = store_page_i[ap1000p_pkg::PageSystemLsb];
  assign after = to_open && page_q[ap1000p_pkg::PageSystemLsb] == class_in ? page_q : open_page_q[class_in];

  assign store_ready_o = !valid_q || move;
  always_ff @(posedge clk_i) begin
    if (store_ready_o) begin
      page_q  <= store_page_i;
      known_q <= exists(store_page_i);
      same_q  <= store_page_i == after;
      data_q  <= store_data_i;
    end
    if (rst_i) valid_q <= 1'b0;
    else valid_q <= !store_ready_o || store_valid_i;
  end

  // -------------------------------------------------------------------------------------------------------------- page
  logic [2:0] kind;
  logic row, column, class_, direct;
  assign kind = page_q[ap1000p_pkg::PageKindLsb+:3];
  assign row = page_q[ap1000p_pkg::PageRowLsb];
  assign column = page_q[ap1000p_pkg::PageColumnLsb];
  assign class_ = page_q[ap1000p_pkg::PageSystemLsb];
  assign direct = page_q[ap1000p_pkg::PageDirectLsb];

  logic [4:0] direct_queue;
  logic direct_ready;
  always_comb begin
    direct_queue = '0;
    case (kind)
      3'(ap1000p_pkg::DirectSystem): direct_queue[ap1000p_pkg::QueueSystem] = 1'b1;
      3'(ap1000p_pkg::DirectUser): direct_queue[ap1000p_pkg::QueueUser] = 1'b1;
      3'(ap1000p_pkg::DirectAccess): direct_queue[ap1000p_pkg::QueueAccess] = 1'b1;
      3'(ap1000p_pkg::DirectGetReply): direct_queue[ap1000p_pkg::QueueGetReply] = 1'b1;
      default: direct_queue[ap1000p_pkg::QueueRemoteReply] = 1'b1;
    endcase
  end
  skid #(
      .W(45)
  ) u_direct (
      .clk_i,
      .rst_i,
      .in_valid_i(valid_q && known_q && direct),
      .in_ready_o(direct_ready),
      .in_data_i({
        direct_queue,
        page_q[ap1000p_pkg::DirectPageNumberLsb+:3],
        page_q[ap1000p_pkg::DirectPageIndexLsb+:4],
        page_q[ap1000p_pkg::PageEndLsb],
        data_q
      }),
      .out_valid_o(direct_valid_o),
      .out_ready_i(direct_ready_i),
      .out_data_o({direct_queue_o, direct_number_o, direct_index_o, direct_end_o, direct_data_o})
  );
  assign direct_waits_o = (valid_q && known_q && direct) || direct_valid_o;

  // ------------------------------------------------------------------------------------------------------ open command
  logic [1:0] full, put, keep, forget;
  logic [1:0][2:0] count;
  logic [1:0] bad_head_q, bad_cell_q, bad_length_q;
  logic change, last, bad_where, bad, dropped;
  logic [ 2:0] index;
  logic [31:0] word;

  assign to_open = valid_q && known_q && !direct;
  // A word that waits for room counts as one of the open command, unless it ends it: then there is none.
  assign dropped = to_open && drop_i[class_] && count[class_] != 3'(ap1000p_pkg::CommandWords - 1);
  assign move = !known_q || (direct ? direct_ready : !full[class_] || dropped);
  assign change = count[class_] != '0 && !same_q;
  assign index = change ? '0 : count[class_];
  assign last = index == 3'(ap1000p_pkg::CommandWords - 1);
  assign bad_where = bad_head_q[class_] || bad_cell_q[class_];
  assign bad = bad_where || bad_length_q[class_];

  always_comb begin
    put = '0;
    put[class_] = to_open && !full[class_] && !dropped;
    forget = drop_i;
    if (to_open) forget[class_] = change || dropped;
    keep = {2{!bad}};
    word = data_q;
    if (index == 3'd0) word[ap1000p_pkg::CommandHeadKindLsb+:16] = page_q;
    if (index == 3'd1) word[ap1000p_pkg::CommandLengthContextLsb+:12] = context_i;
  end

  // A user's broadcast needs a range of the whole axis.
  logic whole_x_q, whole_y_q;
  logic abroad;
  assign abroad = (row && !whole_x_q) || (column && !whole_y_q);
  logic signed [9:0] span_x_q, span_y_q;  // minus 1
  always_ff @(posedge clk_i) begin
    span_x_q  <= 10'($signed(high_x_i)) - 10'($signed(low_x_i));
    span_y_q  <= 10'($signed(high_y_i)) - 10'($signed(low_y_i));
    whole_x_q <= span_x_q >= $signed(10'(size_x_i)) - 10'sd1;
    whole_y_q <= span_y_q >= $signed(10'(size_y_i)) - 10'sd1;
    for (int c = 0; c < 2; c++) begin
      if (to_open && class_ == c[0] && index == 3'd0) open_page_q[c] <= page_q;
      if (put[c] && index == 3'd0) begin
        bad_head_q[c] <= data_q[31:16] != '0 || (c == 0 && abroad);
      end
      if (put[c] && index == 3'd1) bad_length_q[c] <= data_q[31:20] != '0;
    end
    if (rst_i) open_page_q <= '0;
  end

  // The cell's check comes 4 cycles after word 0, and the last word at least 7.
  logic [2:0][1:0] check_q;  // of the class
  logic torus_x, torus_y, range_x, range_y;
  ap1000p_cell_check u_x (
      .clk_i,
      .distance_i(data_q[ap1000p_pkg::CommandHeadDxLsb+:8]),
      .size_i    (size_x_i),
      .low_i     (low_x_i),
      .high_i    (high_x_i),
      .torus_o   (torus_x),
      .range_o   (range_x)
  );
  ap1000p_cell_check u_y (
      .clk_i,
      .distance_i(data_q[ap1000p_pkg::CommandHeadDyLsb+:8]),
      .size_i    (size_y_i),
      .low_i     (low_y_i),
      .high_i    (high_y_i),
      .torus_o   (torus_y),
      .range_o   (range_y)
  );
  always_ff @(posedge clk_i) begin
    if (check_q[0][0]) bad_cell_q[0] <= !(torus_x && torus_y && range_x && range_y);
    if (check_q[0][1]) bad_cell_q[1] <= !(torus_x && torus_y);
    if (rst_i) check_q <= '0;
    else check_q <= {index == 3'd0 ? put : 2'b00, check_q[2:1]};
  end

  // ---------------------------------------------------------------------------------------------------------- commands
  logic [1:0] out_valid, out_ready, out_end;
  logic [1:0][31:0] out_data;
  for (genvar c = 0; c < 2; c++) begin : gen_class
    ap1000p_command_buffer u_command_buffer (
        .clk_i,
        .rst_i,
        .put_i      (put[c]),
        .forget_i   (forget[c]),
        .keep_i     (keep[c]),
        .put_data_i (word),
        .full_o     (full[c]),
        .count_o    (count[c]),
        .out_valid_o(out_valid[c]),
        .out_ready_i(out_ready[c]),
        .out_end_o  (out_end[c]),
        .out_data_o (out_data[c])
    );
  end
  assign {system_valid_o, user_valid_o} = out_valid;
  assign {system_end_o, user_end_o} = out_end;
  assign {system_data_o, user_data_o} = out_data;
  assign out_ready = {system_ready_i, user_ready_i};

  // ------------------------------------------------------------------------------------------------------------- shown
  assign open_page_o = open_page_q;
  logic [31:0] shown_q[16];  // the words of the open commands, by {class, index}
  logic [ 3:0] peek_q;
  always_ff @(posedge clk_i) begin
    if (to_open) shown_q[{class_, index}] <= word;
    peek_q <= peek_i;
    for (int c = 0; c < 2; c++) begin
      if (to_open && class_ == c[0]) open_count_o[c] <= dropped ? '0 : index + 3'd1;
      else if (drop_i[c]) open_count_o[c] <= '0;
    end
    if (rst_i) open_count_o <= '0;
    peek_data_o <= '0;
    if (!rst_i && open_count_o[peek_q[3]] > peek_q[2:0]) peek_data_o <= shown_q[peek_q];
  end

  // ----------------------------------------------------------------------------------------------------------- refused
  logic refuse;
  assign refuse = (valid_q && !known_q) || (to_open && change && !dropped) || (put != '0 && last && bad);
  always_ff @(posedge clk_i) begin
    // Held, since the register block shows the last ones.
    if (refuse) begin
      refused_page_o <= change && known_q ? open_page_q[class_] : page_q;
      if (!known_q) refused_cause_o <= 2'(ap1000p_pkg::RefusedPage);
      else if (change) refused_cause_o <= 2'(ap1000p_pkg::RefusedChange);
      else refused_cause_o <= bad_where ? 2'(ap1000p_pkg::RefusedCell) : 2'(ap1000p_pkg::RefusedLength);
    end
    if (rst_i) begin
      refused_valid_o <= 1'b0;
      refused_count_o <= '0;
      {refused_page_o, refused_cause_o} <= '0;
    end else begin
      refused_valid_o <= refuse;
      if (refuse && refused_count_o != '1) refused_count_o <= refused_count_o + 16'd1;
    end
  end

  // `open_count_o` follows a word a cycle late.
  logic late_q;
  always_ff @(posedge clk_i) late_q <= to_open;
  assign busy_o = valid_q || late_q || direct_valid_o || out_valid != '0 || check_q != '0 || refused_valid_o;
endmodule
