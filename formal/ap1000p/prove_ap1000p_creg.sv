// SPDX-License-Identifier: MIT OR Apache-2.0
// `ap1000p_creg` reads a word only when it is full, as it was written, and writes it only when it is empty.
//
// - Every request has one answer. A fault is reported only of a conflict, and only in the mode with faults.
// - A source that can go waits for at most one access of each source of a lower number.
// - Offers hold.
//
// One word, any word, is followed. Nothing is assumed of sources and sinks. An access has its effect at the edge at
// which its answer appears.
module prove_ap1000p_creg #(
    parameter  int Words   = 2,
    parameter  int W       = 1,
    parameter  int Sources = 2,
    localparam int AddrW   = $clog2(Words)
) (
    input logic clk_i,
    input logic rst_i,
    input logic [Sources-1:0] fault_i,
    input logic [Sources-1:0] req_valid_i,
    input logic [Sources-1:0][AddrW-1:0] req_addr_i,
    input logic [Sources-1:0] req_write_i,
    input logic [Sources-1:0][W-1:0] req_data_i,
    input logic [Sources-1:0] rsp_ready_i
);
  logic busy;
  logic [Sources-1:0] req_ready, rsp_valid, rsp_fault;
  logic [Sources-1:0][W-1:0] rsp_data;
  logic [Words-1:0] present;

  ap1000p_creg #(
      .Words(Words),
      .W(W),
      .Sources(Sources)
  ) dut (
      .clk_i,
      .rst_i,
      .busy_o(busy),
      .fault_i,
      .req_valid_i,
      .req_ready_o(req_ready),
      .req_addr_i,
      .req_write_i,
      .req_data_i,
      .rsp_valid_o(rsp_valid),
      .rsp_ready_i,
      .rsp_fault_o(rsp_fault),
      .rsp_data_o(rsp_data),
      .present_o(present)
  );
  power_up u_power_up (.*);

  // The checked word: a register that keeps its initial value.
  logic [AddrW-1:0] at_q;
  always_ff @(posedge clk_i) at_q <= at_q;

  // Requests without an answer, as they were taken; the mode at the edge before.
  logic [Sources-1:0] open_q, write_q, mode_q, fresh, here, done;
  logic [Sources-1:0][AddrW-1:0] addr_q;
  logic [Sources-1:0][W-1:0] data_q;
  // The word, before and after this cycle's answer.
  logic full_q, full;
  logic [W-1:0] word_q, word;

  assign fresh = rsp_valid & open_q;
  assign done  = fresh & here & ~rsp_fault;
  always_comb begin
    full = full_q;
    word = word_q;
    for (int p = 0; p < Sources; p++) begin
      here[p] = addr_q[p] == at_q;
      if (done[p]) full = write_q[p];
      if (done[p] && write_q[p]) word = data_q[p];
    end
  end
  always_ff @(posedge clk_i) begin
    mode_q <= fault_i;
    word_q <= word;
    full_q <= full && !rst_i;
    for (int p = 0; p < Sources; p++) begin
      if (rst_i) open_q[p] <= 1'b0;
      else open_q[p] <= (req_valid_i[p] && req_ready[p]) || (open_q[p] && !rsp_valid[p]);
      if (req_valid_i[p] && req_ready[p]) begin
        addr_q[p]  <= req_addr_i[p];
        write_q[p] <= req_write_i[p];
        data_q[p]  <= req_data_i[p];
      end
    end
  end

  // Cycles in a row in which a request for the word could have gone.
  int could_q[Sources];
  logic [Sources-1:0] can;
  always_comb begin
    for (int p = 0; p < Sources; p++)
    can[p] = open_q[p] && !rsp_valid[p] && here[p] && (full != write_q[p] || fault_i[p]);
  end
  always_ff @(posedge clk_i) begin
    for (int p = 0; p < Sources; p++) could_q[p] <= (can[p] && !rst_i) ? could_q[p] + 1 : 0;
  end

  // Cycles since each source was answered, from 1 to 3 or more. It cannot go again before the fourth.
  logic [Sources-1:0][1:0] since_q;
  always_ff @(posedge clk_i) begin
    for (int p = 0; p < Sources; p++) begin
      if (rst_i) since_q[p] <= '1;
      else if (fresh[p]) since_q[p] <= 2'd1;
      else if (since_q[p] != '1) since_q[p] <= since_q[p] + 2'd1;
    end
  end

  for (genvar p = 0; p < Sources; p++) begin : gen_source
    // In each of the last one, two, three cycles one with a lower number went.
    logic [2:0] lower;
    logic passed;
    always_comb begin
      lower = '0;
      for (int q = 0; q < p; q++) begin
        lower[0] = lower[0] || fresh[q];
        lower[1] = lower[1] || (since_q[q] == 2'd1 && !fresh[q]);
        lower[2] = lower[2] || (since_q[q] == 2'd2 && !fresh[q]);
      end
      passed = (could_q[p] < 2 || lower[0]) && (could_q[p] < 3 || lower[1]) && (could_q[p] < 4 || lower[2]);
    end
    logic answered_q;  // a request was answered, and its answer not taken
    always_ff @(posedge clk_i) answered_q <= rsp_valid[p] && !rsp_ready_i[p] && !rst_i;
    stream_rules #(
        .W(W + 1)
    ) u_answers (
        .clk_i,
        .rst_i,
        .valid_i(rsp_valid[p]),
        .ready_i(rsp_ready_i[p]),
        .data_i ({rsp_fault[p], rsp_data[p]})
    );
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        nothing_invented : assert (!rsp_valid[p] || open_q[p] || answered_q);
        takes_unless_open : assert (req_ready[p] == (!open_q[p] && !rsp_valid[p]));
        only_what_fits : assert (!done[p] || full_q != write_q[p]);
        read_as_written : assert (!done[p] || write_q[p] || rsp_data[p] == word_q);
        fault_is_conflict : assert (!(fresh[p] && here[p] && rsp_fault[p]) || full_q == write_q[p]);
        fault_is_requested : assert (!(fresh[p] && rsp_fault[p]) || mode_q[p]);
        goes_soon : assert (could_q[p] <= 2 + p);
        // The claims are not vacuous.
        waited : cover (done[p] && could_q[p] == 1);  // at once when it fitted at last
        faults : cover (fresh[p] && here[p] && rsp_fault[p]);
        // Invariants for induction.
        todo : assert (dut.todo_q[p] == (open_q[p] && !rsp_valid[p]) && (dut.todo_q[p] || !dut.new_q[p]));
        taken : assert (dut.taken_q[p] == (open_q[p] || rsp_valid[p]));
        request : assert (!open_q[p] || (dut.addr_q[p] == addr_q[p] && dut.write_q[p] == write_q[p]));
        request_data : assert (!open_q[p] || dut.data_q[p] == data_q[p]);
        full_known : assert (!dut.todo_q[p] || dut.new_q[p] || !here[p] || dut.full_q[p] == full);
        counted : assert (could_q[p] >= 0 && (!dut.new_q[p] || could_q[p] == 0));
        in_line : assert (!dut.todo_q[p] || (could_q[p] <= 1 + p && passed));
        not_back :
        assert ((since_q[p] != 2'd1 || !dut.todo_q[p]) && (since_q[p] != 2'd2 || !dut.todo_q[p] || dut.new_q[p]) &&
                since_q[p] != '0);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_a_cycle : assert ((fresh & (fresh - Sources'(1))) == '0);
      present_bit : assert (present[at_q] == full);
      content : assert (!full || dut.mem_q[at_q] == word);
    end
  end
endmodule
