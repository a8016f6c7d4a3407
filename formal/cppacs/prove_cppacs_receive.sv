// `cppacs_receive` writes for worms that bring the key of an enabled field only, and counts what is in memory only.
//
// - Words go to the store only if the worm's field was ENABLED, and had its key, when it was looked up. Its runs are of
//   the extent that was looked up with them. (That each run is inside is proved of cppacs_runs, and that bursts are
//   inside a run of cppacs_store; a bad run is never given to the store.)
// - A count only for a sound worm with LAST, after the last response to its writes, while its field is not known to be
//   gone, and not while the other receiver is amid count and flag. A flag only behind a count.
// - Behind a worm's last word the next one is a header's. Lookups of the next worm are for the field that is open.
//
// Assumed: as of prove_cppacs_store; memory responds to bursts that it has; tables take a lookup only when the one
// before has its result, and give a result only then.
module prove_cppacs_receive (
    input logic clk_i,
    input logic rst_i,
    input logic [12:0] place_i,
    input logic [31:0] ring_tail_i,
    input logic [4:0] ring_slot_log_i,
    input logic [3:0] ring_slots_log_i,
    input logic in_valid_i,
    input logic [31:0] in_data_i,
    input logic in_last_i,
    input logic look_ready_i,
    input logic look_for_i,
    input logic [63:0] look_first_i,
    input logic [63:0] look_second_i,
    input logic [31:0] look_flag_i,
    input logic [31:0] look_count_i,
    input logic gone_i,
    input logic mem_cmd_ready_i,
    input logic mem_data_ready_i,
    input logic mem_rsp_valid_i,
    input logic mem_rsp_err_i,
    input logic job_ready_i,
    input logic job_take_i,
    input logic done_valid_i,
    input logic done_err_i,
    input logic other_settling_i
);
  localparam bit [2:0] Check = 3'd0;
  localparam bit [2:0] Slot = 3'd1;
  localparam bit [2:0] Body = 3'd2;
  localparam bit [2:0] Last = 3'd3;
  localparam bit [2:0] Drain = 3'd4;
  localparam bit [1:0] Head = 2'd0;
  localparam bit [1:0] Pass = 2'd1;
  localparam bit [2:0] Turn = 3'd2;
  localparam bit [2:0] Count = 3'd3;
  localparam bit [2:0] Looked = 3'd5;
  localparam bit [2:0] Flag = 3'd6;

  logic busy;
  logic in_ready;
  logic [9:0] field;
  logic look_valid;
  logic count_valid;
  logic shut_valid;
  logic open;
  logic mem_cmd_valid;
  logic [31:0] mem_cmd_addr;
  logic [7:0] mem_cmd_len;
  logic mem_data_valid;
  logic [31:0] mem_data_data;
  logic mem_data_last;
  logic mem_rsp_ready;
  logic job_valid;
  logic [31:0] job_addr;
  logic [31:0] job_data;
  logic settling;
  logic notify_valid;
  logic refused_valid;
  logic [12:0] src;
  logic [9:0] ended_field;
  logic [2:0] kind;
  logic [3:0] reason;
  logic received;
  logic words;
  cppacs_receive #(
      .BurstBeats (4),
      .Outstanding(2)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .place_i,
      .ring_tail_i,
      .ring_slot_log_i,
      .ring_slots_log_i,
      .in_valid_i,
      .in_data_i,
      .in_last_i,
      .look_ready_i,
      .look_for_i,
      .look_first_i,
      .look_second_i,
      .look_flag_i,
      .look_count_i,
      .gone_i,
      .mem_cmd_ready_i,
      .mem_data_ready_i,
      .mem_rsp_valid_i,
      .mem_rsp_err_i,
      .job_ready_i,
      .job_take_i,
      .done_valid_i,
      .done_err_i,
      .other_settling_i,
      .in_ready_o(in_ready),
      .field_o(field),
      .look_valid_o(look_valid),
      .count_valid_o(count_valid),
      .shut_valid_o(shut_valid),
      .open_o(open),
      .mem_cmd_valid_o(mem_cmd_valid),
      .mem_cmd_addr_o(mem_cmd_addr),
      .mem_cmd_len_o(mem_cmd_len),
      .mem_data_valid_o(mem_data_valid),
      .mem_data_data_o(mem_data_data),
      .mem_data_last_o(mem_data_last),
      .mem_rsp_ready_o(mem_rsp_ready),
      .job_valid_o(job_valid),
      .job_addr_o(job_addr),
      .job_data_o(job_data),
      .settling_o(settling),
      .notify_valid_o(notify_valid),
      .refused_valid_o(refused_valid),
      .src_o(src),
      .ended_field_o(ended_field),
      .kind_o(kind),
      .reason_o(reason),
      .received_o(received),
      .words_o(words)
  );
  power_up u_power_up (.*);
  mem_write_rules #(
      .Assume(1'b1)
  ) u_memory (
      .clk_i,
      .rst_i,
      .data_valid_i(mem_data_valid),
      .data_ready_i(mem_data_ready_i),
      .data_last_i (mem_data_last),
      .rsp_valid_i (mem_rsp_valid_i),
      .rsp_ready_i (mem_rsp_ready)
  );

  // Of the worm whose header was taken last by the writing side: its key was right.
  logic [2:0] state, settle;
  // And whether it, and the one that settles, ends a transfer, and whether that one has counted.
  logic sound, right_q, accepted, amid, ended_q, other_q, looks_q, last_q, settled_last_q, counted_q;
  assign state = dut.state_q;
  assign settle = dut.settle_q;
  assign sound = dut.looked_q && dut.enabled_q && dut.field_key_q == dut.key_q;
  assign accepted = state == Slot || state == Body || state == Last;
  assign amid = settle >= Turn && settle <= Flag;
  always_ff @(posedge clk_i) begin
    ended_q <= in_valid_i && in_ready && in_last_i && !rst_i;
    other_q <= other_settling_i;
    if (dut.begins) {right_q, last_q} <= {sound, dut.last_q};
    if (dut.turn) settled_last_q <= last_q;
    if (dut.turn) counted_q <= 1'b0;
    else if (count_valid) counted_q <= 1'b1;
    if (rst_i) looks_q <= 1'b0;
    else looks_q <= (look_valid && look_ready_i) || (looks_q && !look_for_i);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_lookup : assume (!look_ready_i || !looks_q);
      looked_is_waited_for : assume (!look_for_i || looks_q);
      words_are_there : assume (!dut.u_store.data_go || dut.u_store.unused_valid);
      only_with_the_key : assert (!dut.u_store.take || right_q);
      of_its_field : assert (!(dut.job_q && dut.job_ready) || sound);
      no_bad_run : assert (!dut.u_store.load || (dut.run_valid && !dut.run_bad));
      counts_what_is_there : assert (!count_valid || (dut.old_done && dut.settle_reason_q == '0 && !dut.old_err));
      counts_transfers : assert (!count_valid || (settled_last_q && !dut.settle_gone_q));
      counts_alone : assert (!count_valid || !other_q);
      flag_behind_count : assert (!job_valid || (settle == Flag && counted_q));
      then_a_header : assert (!ended_q || dut.head_q != Pass);
      one_field : assert (!(look_valid && (settle != '0 || state != Check)) || field == dut.open_q);
      // Invariants for induction.
      waited_for : assert (looks_q == (dut.asked_q || settle == Looked) && !(dut.asked_q && settle == Looked));
      mine : assert (!looks_q || dut.mine_q == (settle != Looked));
      looked_once : assert (!(dut.looked_q && (dut.asked_q || dut.wants_q)) && !(dut.asked_q && dut.wants_q));
      looks_for_a_header :
      assert (!(dut.wants_q || dut.asked_q || dut.looked_q) ||
                                   (dut.n_q >= 3'd2 && (dut.ready_q || dut.head_q == Head)));
      head_counts :
      assert (dut.head_q != Head || (!dut.runt_q && (dut.n_q == '0 || dut.n_q <= (dut.strided_q ? 3'd6 : 3'd4))));
      held_in_a_worm : assert (dut.held_q ? dut.head_q == Pass || dut.head_q == 2'd2 : dut.head_q != 2'd2);
      accepted_is_right : assert (!accepted || right_q);
      job_is_looked : assert (!(dut.job_q || state == Slot) || (dut.ready_q && sound));
      header_is_kept : assert (!dut.ready_q || dut.head_q != Head);
      job_in_body : assert (!dut.job_q || state == Body);
      last_is_kept :
      assert ((state == Check || dut.ends_last_q == last_q) && (settle == '0 || dut.settle_last_q == settled_last_q));
      counted_first : assert (settle < 3'd4 || settle > Flag || counted_q);
      settled : assert (!amid || (dut.old_done && dut.settle_last_q && !dut.old_err));
      sound_or_gone : assert (!(settle == Turn || settle == Count) || dut.settle_gone_q || dut.settle_reason_q == '0);
      runs_in_body : assert (state == Body || !(dut.run_valid || dut.u_runs.active_q || dut.job_q));
      job_comes_first : assert (!dut.job_q || !(dut.run_valid || dut.u_runs.active_q || dut.u_store.active_q));
      last_run_ends : assert (!(dut.run_valid && dut.run_last) || !dut.u_runs.active_q);
      bad_run_is_last : assert (!(dut.run_valid && dut.run_bad) || dut.run_last);
      none_behind_the_last :
      assert (!(state == Body && dut.u_store.active_q && dut.last_run_q) ||
                                     !(dut.run_valid || dut.u_runs.active_q || dut.job_q));
      done_behind_wait : assert (dut.old_done || settle == 3'd1);
      store_in_body : assert (!dut.u_store.active_q || state == Body);
`ifdef TSUNAGI_ASSERT
      same_memory : assert (u_memory.written_q == dut.u_store.u_memory.written_q);
`endif
      goes_if_announced : assert (dut.u_store.data_go == (dut.u_store.announced_q != '0));
      all_are_somewhere :
      assert (17'(dut.u_store.all_q) ==
          17'(u_memory.written_q) + 17'(dut.u_store.announced_q) + 17'(dut.u_store.u_note.level_q) &&
          dut.u_store.all_q <= 2'd2);
      in_range :
      assert (dut.u_store.u_buffer.level_q <= 5'd16 && dut.u_store.u_note.level_q <= 7'd64 &&
                         dut.u_words.level_q <= 7'd64);
      room_for_one : assert (dut.u_store.note_ready == (dut.u_store.all_q != 2'd2));
      checked_words :
      assert (dut.form_q || dut.runt_q ||
          ((dut.n_q <= 3'd4 || (dut.length_q != '0 && dut.length_q[2:0] == '0)) &&
           (dut.n_q <= 3'd3 || dut.offset_q[2:0] == '0) && (dut.n_q <= 3'd6 || dut.step_q[2:0] == '0) &&
           (dut.n_q <= 3'd5 || (dut.left_q != '0 && dut.left_q <= dut.element_q))));
      whole_header : assert (!dut.ready_q || dut.runt_q || dut.n_q == (dut.strided_q ? 3'd7 : 3'd5));
      job_is_checked : assert (!(dut.job_q || state == Slot) || (!dut.form_q && !dut.runt_q));
      runs_rest : assert (!dut.u_runs.active_q || dut.u_runs.rest_q != '0);
      runs_size :
      assert (!(dut.u_runs.active_q && dut.u_runs.strided_q) || (dut.u_runs.element_q != '0 && dut.u_runs.size != '0));
      runs_bytes :
      assert (!dut.u_runs.check_q || (dut.u_runs.active_q && dut.u_runs.bytes_q != '0 &&
          dut.u_runs.bytes_q == (dut.u_runs.cut ? 18'(dut.u_runs.size) : dut.u_runs.rest_q) &&
          dut.u_runs.last_q == !dut.u_runs.cut));
      runs_offer : assert (!dut.run_valid || (dut.run_bytes != '0 && {dut.run_bytes[2:0], dut.run_addr[2:0]} == '0));
      // The claims are not vacuous.
      counts : cover (count_valid);
      ahead : cover (dut.u_store.take && dut.looked_q);
    end
  end
endmodule
