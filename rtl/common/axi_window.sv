// SPDX-License-Identifier: MIT OR Apache-2.0
// Carries beats of reads and writes to one window, one access at a time, and their responses back. `axi_slave` and
// `axil_slave` share it.
//
// Beats      `rd_*` and `wr_*`: valid/ready streams. Beats with `refuse` do not reach the window and get an error
//            response.
// Window     the protocol of a NIC's host port: request (valid/ready), then its response (valid/ready), in order. Any
//            number of requests may await responses. `strb` of a read marks the requested bytes. Reads and writes take
//            turns when both wait; each direction stays in order.
// Responses  `r_*` for each beat of a read, `b_*` after the last beat of a write, in order. They are OKAY, or SLVERR if
//            the window reports an error or the beat was refused (for a write: at any of its beats). Room for a
//            response is reserved before the request goes to the window. So a master that does not take its responses
//            never holds the window, and reads never hold up writes, nor writes reads.
// Latency    1 cycle from a beat to the window's request, 1 from the window's response to `r_*` or `b_*`; 1 beat per
//            cycle.
// Full       `*_ready_o` is low when Outstanding beats of reads, or Outstanding writes, await the window or the master.
//            It is also low when twice as many beats await the window.
// Misuse     if a window never responds, the block waits forever. A response without a request in an earlier cycle
//            fails an assertion.
// Reset      drops everything; the window must be reset, too.
// busy_o     low when nothing is inside or outstanding.
// Source     ours.
module axi_window #(
    parameter int AddrW = 32,  // bits of a byte address, >= 1
    parameter int DataW = 32,  // bits of a word, multiple of 8
    parameter int IdW = 1,  // bits of an ID, >= 1
    parameter int Outstanding = 8,  // outstanding responses of each direction, >= 1
    localparam int StrbW = DataW / 8
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic rd_valid_i,
    output logic rd_ready_o,
    input logic [IdW-1:0] rd_id_i,
    input logic [AddrW-1:0] rd_addr_i,
    input logic [StrbW-1:0] rd_lanes_i,
    input logic rd_last_i,
    input logic rd_refuse_i,

    input logic wr_valid_i,
    output logic wr_ready_o,
    input logic [IdW-1:0] wr_id_i,
    input logic [AddrW-1:0] wr_addr_i,
    input logic [DataW-1:0] wr_data_i,
    input logic [StrbW-1:0] wr_strb_i,
    input logic wr_last_i,
    input logic wr_refuse_i,

    output logic win_req_valid_o,
    input logic win_req_ready_i,
    output logic win_req_write_o,
    output logic [AddrW-1:0] win_req_addr_o,
    output logic [DataW-1:0] win_req_wdata_o,
    output logic [StrbW-1:0] win_req_wstrb_o,
    input logic win_rsp_valid_i,
    output logic win_rsp_ready_o,
    input logic [DataW-1:0] win_rsp_rdata_i,
    input logic win_rsp_err_i,

    output logic r_valid_o,
    input logic r_ready_i,
    output logic [IdW-1:0] r_id_o,
    output logic [DataW-1:0] r_data_o,
    output logic [1:0] r_resp_o,
    output logic r_last_o,
    output logic b_valid_o,
    input logic b_ready_i,
    output logic [IdW-1:0] b_id_o,
    output logic [1:0] b_resp_o
);
  localparam int LevelW = $clog2(Outstanding + 1);
  localparam int NoteLevelW = $clog2(2 * Outstanding + 1);

  if (AddrW < 1) begin : gen_bad_addr
    axi_window_AddrW_must_be_at_least_1 u_bad ();
  end
  if (DataW < 8 || DataW % 8 != 0) begin : gen_bad_data
    axi_window_DataW_must_be_a_multiple_of_8 u_bad ();
  end
  if (IdW < 1) begin : gen_bad_id
    axi_window_IdW_must_be_at_least_1 u_bad ();
  end
  if (Outstanding < 1) begin : gen_bad_outstanding
    axi_window_Outstanding_must_be_at_least_1 u_bad ();
  end

  // ----------------------------------------------------------------------------------------------------- to the window
  logic rd_room, wr_room, req_ready, note_ready, write_next_q, go, write, refuse;
  logic [1:0] req_level;

  // The direction with the turn goes first.
  assign go = req_ready && note_ready;
  assign rd_ready_o = go && rd_room && !(write_next_q && wr_valid_i && wr_room);
  assign wr_ready_o = go && wr_room && (write_next_q || !(rd_valid_i && rd_room));
  assign write = wr_valid_i && wr_ready_o;
  assign refuse = write ? wr_refuse_i : rd_refuse_i;

  logic rd_take, take;
  assign rd_take = rd_valid_i && rd_ready_o;
  assign take = rd_take || write;

  always_ff @(posedge clk_i) begin
    if (rst_i) write_next_q <= 1'b0;
    else if (take) write_next_q <= !write;
  end

  fifo #(
      .W(1 + AddrW + DataW + StrbW),
      .Depth(2)
  ) u_req (
      .clk_i,
      .rst_i,
      .in_valid_i (take && !refuse),
      .in_ready_o (req_ready),
      .in_data_i  ({write, write ? wr_addr_i : rd_addr_i, wr_data_i, write ? wr_strb_i : rd_lanes_i}),
      .out_valid_o(win_req_valid_o),
      .out_ready_i(win_req_ready_i),
      .out_data_o ({win_req_write_o, win_req_addr_o, win_req_wdata_o, win_req_wstrb_o}),
      .level_o    (req_level)
  );

  // --------------------------------------------------------------------------------------------------- from the window
  logic note_valid, note_write, note_refuse, note_last, done, err, err_q;
  logic [IdW-1:0] note_id;
  logic [NoteLevelW-1:0] note_level;

  fifo #(
      .W(3 + IdW),
      .Depth(2 * Outstanding)
  ) u_note (
      .clk_i,
      .rst_i,
      .in_valid_i (take),
      .in_ready_o (note_ready),
      .in_data_i  ({write, refuse, write ? wr_last_i : rd_last_i, write ? wr_id_i : rd_id_i}),
      .out_valid_o(note_valid),
      .out_ready_i(done),
      .out_data_o ({note_write, note_refuse, note_last, note_id}),
      .level_o    (note_level)
  );

  assign win_rsp_ready_o = note_valid && !note_refuse;
  assign done = note_valid && (note_refuse || win_rsp_valid_i);
  assign err = note_refuse || win_rsp_err_i;

  always_ff @(posedge clk_i) begin
    if (rst_i) err_q <= 1'b0;
    else if (done && note_write) err_q <= !note_last && (err_q || err);
  end

  logic r_err, r_room_left, b_err, b_room_left;
  logic [LevelW-1:0] r_level, b_level;

  fifo #(
      .W(IdW + DataW + 2),
      .Depth(Outstanding)
  ) u_r (
      .clk_i,
      .rst_i,
      .in_valid_i (done && !note_write),
      .in_ready_o (r_room_left),
      .in_data_i  ({note_id, win_rsp_rdata_i, err, note_last}),
      .out_valid_o(r_valid_o),
      .out_ready_i(r_ready_i),
      .out_data_o ({r_id_o, r_data_o, r_err, r_last_o}),
      .level_o    (r_level)
  );
  assign r_resp_o = {r_err, 1'b0};

  fifo #(
      .W(IdW + 1),
      .Depth(Outstanding)
  ) u_b (
      .clk_i,
      .rst_i,
      .in_valid_i (done && note_write && note_last),
      .in_ready_o (b_room_left),
      .in_data_i  ({note_id, err_q || err}),
      .out_valid_o(b_valid_o),
      .out_ready_i(b_ready_i),
      .out_data_o ({b_id_o, b_err}),
      .level_o    (b_level)
  );
  assign b_resp_o = {b_err, 1'b0};

  // Beats of reads, and ends of writes, that occupy or will need an entry in these two FIFOs.
  logic [LevelW-1:0] r_due_q, b_due_q;
  assign rd_room = r_due_q != LevelW'(Outstanding);
  assign wr_room = b_due_q != LevelW'(Outstanding);

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      r_due_q <= '0;
      b_due_q <= '0;
    end else begin
      r_due_q <= r_due_q + LevelW'(rd_take) - LevelW'(r_valid_o && r_ready_i);
      b_due_q <= b_due_q + LevelW'(write && wr_last_i) - LevelW'(b_valid_o && b_ready_i);
    end
  end

  logic unused;
  assign unused = &{1'b0, r_room_left, b_room_left};

  assign busy_o = req_level != '0 || note_level != '0 || r_level != '0 || b_level != '0;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (r_room_left || !(done && !note_write));
      assert (b_room_left || !(done && note_write && note_last));
    end
  end
  mem_write_rules u_win (
      .clk_i,
      .rst_i,
      .data_valid_i(win_req_valid_o),
      .data_ready_i(win_req_ready_i),
      .data_last_i (1'b1),
      .rsp_valid_i (win_rsp_valid_i),
      .rsp_ready_i (win_rsp_ready_o)
  );
`endif
endmodule
