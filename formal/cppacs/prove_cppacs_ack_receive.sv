// `cppacs_ack_receive` does nothing to memory, and answers nothing, but what the worm's field allows.
//
// - A job of a worm, and an answer, only if the field was ENABLED and had the worm's key when it was looked up.
// - Then all bytes that are written, read or answered are inside the field.
// - An answer only if there was room for it when the worm was judged, and only to the worm's source.
// - A count only while the other receiver is not amid count and flag.
//
// Assumed: a lookup's result, and words that memory gives, come only while they are waited for.
module prove_cppacs_ack_receive (
    input logic clk_i,
    input logic rst_i,
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
    input logic job_ready_i,
    input logic job_take_i,
    input logic data_valid_i,
    input logic [31:0] data_i,
    input logic done_valid_i,
    input logic done_err_i,
    input logic ask_room_i,
    input logic other_settling_i
);
  localparam bit [3:0] Take = 4'd0;
  localparam bit [3:0] Sum = 4'd1;
  localparam bit [3:0] Looked = 4'd3;
  localparam bit [3:0] Verdict = 4'd4;
  localparam bit [3:0] Job = 4'd5;
  localparam bit [3:0] Answer = 4'd6;
  localparam bit [3:0] Report = 4'd9;

  logic busy, in_ready, look_valid, count_valid, shut_valid, open, job_valid, ask_valid, settling, notify, refused;
  logic received, words;
  logic [9:0] field;
  logic [1:0] job_op;
  logic [31:0] job_addr, job_data, ask_data;
  logic [4:0] job_words;
  logic [3:0] ask_index, reason;
  logic [12:0] src;
  logic [ 2:0] kind;

  cppacs_ack_receive dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .place_i(13'h155),
      .in_valid_i,
      .in_ready_o(in_ready),
      .in_data_i,
      .in_last_i,
      .field_o(field),
      .look_valid_o(look_valid),
      .look_ready_i,
      .look_for_i,
      .look_first_i,
      .look_second_i,
      .look_flag_i,
      .look_count_i,
      .count_valid_o(count_valid),
      .shut_valid_o(shut_valid),
      .open_o(open),
      .gone_i,
      .job_valid_o(job_valid),
      .job_ready_i,
      .job_op_o(job_op),
      .job_addr_o(job_addr),
      .job_words_o(job_words),
      .job_data_o(job_data),
      .job_take_i,
      .data_valid_i,
      .data_i,
      .done_valid_i,
      .done_err_i,
      .ask_room_i,
      .ask_valid_o(ask_valid),
      .ask_index_o(ask_index),
      .ask_data_o(ask_data),
      .settling_o(settling),
      .other_settling_i,
      .notify_valid_o(notify),
      .refused_valid_o(refused),
      .src_o(src),
      .kind_o(kind),
      .reason_o(reason),
      .received_o(received),
      .words_o(words)
  );
  power_up u_power_up (.*);

  // What was so when the worm was judged.
  logic [3:0] state;
  logic room_q, sound_q, other_q, acts, named;
  logic [29:0] end_q;
  assign state = dut.state_q;
  assign acts  = (state == Job && !dut.behind_q) || state == Answer;
  assign named = (state == Take || state == Sum) ? dut.n_q >= 4'd2 : state != Report;
  always_ff @(posedge clk_i) begin
    if (state == Verdict) begin
      room_q  <= ask_room_i;
      sound_q <= dut.enabled_q && dut.field_key_q == dut.key_q;
    end
    other_q <= other_settling_i;
  end
  // In units of 8 bytes from the field's base, in 30 bits.
  assign end_q = {1'b0, dut.offset_q[31:3]} + 30'(dut.request ? dut.asked_q[16:3] : dut.length_q[16:3]);

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      looked_is_waited_for : assume (!look_for_i || state == Looked);
      old_value_is_waited_for : assume (!data_valid_i || (state == Job && !dut.behind_q && dut.request));
      answers_into_room : assert (!ask_valid || room_q);
      only_with_the_key : assert (!(job_valid && !dut.behind_q) && !ask_valid || sound_q);
      inside_the_field : assert (!(job_valid && !dut.behind_q) && !ask_valid || end_q <= {1'b0, dut.size_q});
      at_its_address : assert (!(job_valid && !dut.behind_q) || job_addr == dut.base_q + dut.offset_q);
      to_who_asked : assert (!(ask_valid && ask_index == cppacs_desc_pkg::F0) || ask_data[12:0] == src);
      counts_alone : assert (!count_valid || !other_q);
      // Invariants for induction.
      room_was_seen : assert (!(acts && dut.request) || room_q);
      sound_was_seen : assert (!acts || sound_q);
      inside_was_seen : assert (!acts || end_q <= {1'b0, dut.size_q});
      source_stays : assert (!named || dut.worm[1][12:0] == dut.src_q);
      old_value_behind : assert (state == Take || state == Sum || state == Report || dut.n_q >= 4'd14);
      // The claims are not vacuous.
      answers : cover (ask_valid && ask_index == cppacs_desc_pkg::F0);
      counts : cover (count_valid);
    end
  end
endmodule
