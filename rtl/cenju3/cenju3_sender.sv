// SPDX-License-Identifier: MIT OR Apache-2.0
// Cenju-3 Sender: two queues of parcels in memory become packets on the way to the network, without the CPU.
//
// Order      a header is fetched between two bursts of the body being read. The queue of the next packet is selected
//            when the last burst of the previous packet is about to be requested; a later choice would idle the memory.
//            It is queue 0 if that has a packet or will have one in a few cycles. At most two packets are in flight,
//            one going out and one being read. So queue 0 waits for requested data only: one packet and the reader's
//            lead.
// Output     bus words {data, keep = 16-bit units - 1, last}: the route flit alone, the 16-byte header, the body, zero
//            beyond its last byte. A packet starts when the first word of its body is here. 1 word per cycle with an
//            ideal memory, no bubble between packets.
// Bus error  of a body: the packet ends with the last word before the error; cenju3_send_queue describes the rest.
// busy_o     low when nothing is queued, inside or outstanding.
// Source     paper section 3.1 (Fig 3); two priorities and switching at packets are our reading of its "x 2".
module cenju3_sender #(
    parameter int BusW = 32,  // bits of a bus word, 32 or 64
    parameter int BurstBeats = 8,  // words in the longest burst, power of two
    parameter int Outstanding = 4,  // bursts of bodies that may await data; and a header of each queue
    localparam int KeepW = $clog2(BusW / 16)
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [7:0] node_id_i,
    input logic [1:0][31:0] sq_base_i,
    input logic [1:0][7:0] sq_put_i,
    input logic [1:0] sq_resume_i,
    output logic [1:0][7:0] sq_get_o,
    output logic [1:0] sq_empty_o,
    output logic [1:0] sq_halted_o,
    output logic [1:0][3:0] sq_error_o,
    output logic [1:0] sq_sent_o,  // pulse
    output logic [1:0] sq_failed_o,  // pulse
    output logic s_busy_o,

    output logic mem_cmd_valid_o,
    input logic mem_cmd_ready_i,
    output logic [31:0] mem_cmd_addr_o,
    output logic [7:0] mem_cmd_len_o,
    input logic mem_data_valid_i,
    output logic mem_data_ready_o,
    input logic [BusW-1:0] mem_data_data_i,
    input logic mem_data_last_i,
    input logic mem_data_err_i,

    output logic status_valid_o,
    input logic status_ready_i,
    output logic [31:0] status_addr_o,
    output logic [31:0] status_data_o,
    input logic status_done_i,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic [BusW-1:0] out_data_o,
    output logic [KeepW-1:0] out_keep_o,
    output logic out_last_o
);
  if (BusW != 32 && BusW != 64) begin : g_bad
    cenju3_sender_BusW_must_be_32_or_64 u_bad ();
  end

  localparam int HeadBeats = cenju3_pkg::PacketHeaderBytes * 8 / BusW;
  localparam int HeadW = $clog2(HeadBeats);
  localparam int TagW = 2 + 16 + 128;
  localparam int ParcelBeats = cenju3_pkg::ParcelHeaderBytes * 8 / BusW;
  localparam int FetchBeats = (ParcelBeats < BurstBeats) ? ParcelBeats : BurstBeats;
  localparam int Bursts = Outstanding + 2 * ParcelBeats / FetchBeats;  // of bodies, and of a header of each queue

  // -------------------------------------------------------------------------------------------------------- two queues
  logic [1:0] fetch_valid, fetch_ready, hdr_valid;
  logic [1:0][31:0] fetch_addr, pkt_addr;
  logic [1:0] pkt_valid, pkt_ready, pkt_last;
  logic [1:0][  9:0] pkt_bytes;
  logic [1:0][ 15:0] pkt_route;
  logic [1:0][127:0] pkt_header;
  logic [1:0] pkt_done, parcel_done, abort, drop, active, waiting;
  logic [1:0] status_valid, status_ready, status_done;
  logic [1:0][31:0] status_addr, status_data;

  logic rd_valid, rd_last, rd_err;
  logic [BusW-1:0] rd_data;

  for (genvar q = 0; q < 2; q++) begin : g_queue
    cenju3_send_queue #(
        .BusW(BusW),
        .FetchBeats(FetchBeats),
        .Queue(q == 1)
    ) u_queue (
        .clk_i,
        .rst_i,
        .base_i(sq_base_i[q]),
        .put_i(sq_put_i[q]),
        .resume_i(sq_resume_i[q]),
        .node_id_i,
        .get_o(sq_get_o[q]),
        .empty_o(sq_empty_o[q]),
        .halted_o(sq_halted_o[q]),
        .error_o(sq_error_o[q]),
        .failed_o(sq_failed_o[q]),
        .active_o(active[q]),
        .waiting_o(waiting[q]),
        .fetch_valid_o(fetch_valid[q]),
        .fetch_ready_i(fetch_ready[q]),
        .fetch_addr_o(fetch_addr[q]),
        .hdr_valid_i(hdr_valid[q]),
        .hdr_data_i(mem_data_data_i),
        .hdr_err_i(mem_data_err_i),
        .pkt_valid_o(pkt_valid[q]),
        .pkt_ready_i(pkt_ready[q]),
        .pkt_addr_o(pkt_addr[q]),
        .pkt_bytes_o(pkt_bytes[q]),
        .pkt_route_o(pkt_route[q]),
        .pkt_header_o(pkt_header[q]),
        .pkt_last_o(pkt_last[q]),
        .pkt_done_i(pkt_done[q]),
        .parcel_done_i(parcel_done[q]),
        .abort_i(abort[q]),
        .drop_o(drop[q]),
        .status_valid_o(status_valid[q]),
        .status_ready_i(status_ready[q]),
        .status_addr_o(status_addr[q]),
        .status_data_o(status_data[q]),
        .status_done_i(status_done[q])
    );
  end
  logic unused_waiting;
  assign unused_waiting = waiting[1];
  assign sq_sent_o = parcel_done;
  assign s_busy_o = |active;

  // Status writes: one at a time, queue 0 first.
  logic status_wait_q, status_queue_q;
  assign status_valid_o = |status_valid && !status_wait_q;
  assign status_addr_o = status_valid[0] ? status_addr[0] : status_addr[1];
  assign status_data_o = status_valid[0] ? status_data[0] : status_data[1];
  assign status_ready[0] = status_ready_i && !status_wait_q;
  assign status_ready[1] = status_ready_i && !status_wait_q && !status_valid[0];
  assign status_done = {status_queue_q, !status_queue_q} & {2{status_done_i}};
  always_ff @(posedge clk_i) begin
    if (status_valid_o && status_ready_i) begin
      status_wait_q  <= 1'b1;
      status_queue_q <= !status_valid[0];
    end else if (status_done_i) status_wait_q <= 1'b0;
    if (rst_i) begin
      status_wait_q  <= 1'b0;
      status_queue_q <= 1'b0;
    end
  end

  // ------------------------------------------------------------------------------------------------------- next packet
  logic rd_next, go, pick, done, dropping, leaving, tag_queue, tag_last;
  logic cmd_ready, tag_ready;
  logic [ 15:0] tag_route;
  logic [127:0] tag_header;
  logic [  1:0] packets_q;  // requested packets that have not left

  // Queue 1 yields also while queue 0's next packet is only a few cycles away.
  assign pick = !waiting[0];
  assign go = pkt_valid[pick] && rd_next && !packets_q[1];
  assign pkt_ready = {go && pick, go && !pick};

  always_ff @(posedge clk_i) begin
    packets_q <= packets_q + 2'(go) - 2'(leaving) - 2'(done && dropping);
    if (rst_i) packets_q <= '0;
  end

  logic tag_valid;
  logic [1:0] unused_level;
  fifo #(
      .W(TagW),
      .Depth(2)
  ) u_tags (
      .clk_i,
      .rst_i,
      .in_valid_i(go),
      .in_ready_o(tag_ready),
      .in_data_i({pick, pkt_last[pick], pkt_route[pick], pkt_header[pick]}),
      .out_valid_o(tag_valid),
      .out_ready_i(done),
      .out_data_o({tag_queue, tag_last, tag_route, tag_header}),
      .level_o(unused_level)
  );

  logic rd_take, rd_busy, rd_cmd_valid, rd_cmd_ready, rd_data_ready;
  logic [31:0] rd_cmd_addr;
  logic [7:0] rd_cmd_len;
  logic [KeepW:0] rd_keep;  // bytes, minus 1
  logic data_valid, data_fetch, data_queue;  // the client of the next data
  dma_read #(
      .DataW(BusW),
      .LenW(10),
      .BurstBeats(BurstBeats),
      .Outstanding(Outstanding)
  ) u_read (
      .clk_i,
      .rst_i,
      .busy_o(rd_busy),
      .cmd_valid_i(go),
      .cmd_ready_o(cmd_ready),
      .next_o(rd_next),
      .cmd_addr_i(pkt_addr[pick]),
      .cmd_bytes_i(pkt_bytes[pick]),
      .mem_cmd_valid_o(rd_cmd_valid),
      .mem_cmd_ready_i(rd_cmd_ready),
      .mem_cmd_addr_o(rd_cmd_addr),
      .mem_cmd_len_o(rd_cmd_len),
      .mem_data_valid_i(mem_data_valid_i && !data_fetch),
      .mem_data_ready_o(rd_data_ready),
      .mem_data_data_i,
      .mem_data_last_i,
      .mem_data_err_i,
      .out_valid_o(rd_valid),
      .out_ready_i(rd_take),
      .out_data_o(rd_data),
      .out_keep_o(rd_keep),
      .out_last_o(rd_last),
      .out_err_o(rd_err)
  );

  // ------------------------------------------------------------------------------------ headers and bodies, one memory
  logic cmd_free, offer, order_ready;
  assign cmd_free = !mem_cmd_valid_o || mem_cmd_ready_i;
  assign fetch_ready = {cmd_free && !fetch_valid[0], cmd_free};
  assign rd_cmd_ready = cmd_free && fetch_valid == '0;
  assign offer = cmd_free && (fetch_valid != '0 || rd_cmd_valid);

  always_ff @(posedge clk_i) begin
    if (cmd_free) begin
      mem_cmd_valid_o <= offer;
      mem_cmd_addr_o  <= fetch_valid[0] ? fetch_addr[0] : fetch_valid[1] ? fetch_addr[1] : rd_cmd_addr;
      mem_cmd_len_o   <= (|fetch_valid) ? 8'(FetchBeats - 1) : rd_cmd_len;
    end
    if (rst_i) mem_cmd_valid_o <= 1'b0;
  end

  logic [$clog2(Bursts + 1)-1:0] unused_order_level;
  fifo #(
      .W(2),
      .Depth(Bursts)
  ) u_order (
      .clk_i,
      .rst_i,
      .in_valid_i(offer),
      .in_ready_o(order_ready),
      .in_data_i({|fetch_valid, !fetch_valid[0]}),
      .out_valid_o(data_valid),
      .out_ready_i(mem_data_valid_i && mem_data_ready_o && mem_data_last_i),
      .out_data_o({data_fetch, data_queue}),
      .level_o(unused_order_level)
  );
  assign mem_data_ready_o = data_valid && (data_fetch || rd_data_ready);
  assign hdr_valid = {2{mem_data_valid_i && data_valid && data_fetch}} & {data_queue, !data_queue};

  // --------------------------------------------------------------------------------------------------- packet assembly
  typedef enum logic [1:0] {
    Route,
    Head,
    Body
  } state_e;
  state_e state_q;
  logic [HeadW-1:0] beat_q;
  logic sending, push, push_last, failing;
  logic [BusW-1:0] push_data, body_mask;
  logic [KeepW-1:0] push_keep;
  logic hold_valid_q, hold_last_q, hold_queue_q, hold_parcel_q, hold_free;
  logic [ BusW-1:0] hold_data_q;
  logic [KeepW-1:0] hold_keep_q;

  assign dropping = tag_valid && drop[tag_queue] && state_q == Route;
  assign sending = tag_valid && rd_valid && !dropping;
  assign failing = sending && state_q == Body && rd_err;  // no word of its own: ends the packet at the held word
  assign push = sending && !failing;
  assign push_last = state_q == Body && rd_last;
  always_comb begin
    for (int i = 0; i < BusW / 8; i++) body_mask[8*i+:8] = {8{i <= 32'(rd_keep)}};
    case (state_q)
      Route: begin
        push_data = BusW'(tag_route);
        push_keep = '0;
      end
      Head: begin
        push_data = tag_header[32'(beat_q)*BusW+:BusW];
        push_keep = '1;
      end
      default: begin
        push_data = rd_data & body_mask;
        push_keep = rd_keep[KeepW:1];
      end
    endcase
  end

  // The held word goes out when its successor is known, or when it is the last.
  assign out_valid_o = hold_valid_q && (hold_last_q || sending);
  assign out_data_o = hold_data_q;
  assign out_keep_o = hold_keep_q;
  assign out_last_o = hold_last_q || failing;
  assign hold_free = !hold_valid_q || (out_valid_o && out_ready_i);
  assign leaving = out_valid_o && out_ready_i && out_last_o;

  assign rd_take = tag_valid && (dropping || (state_q == Body && hold_free));
  assign done = rd_valid && rd_take && rd_last;
  for (genvar q = 0; q < 2; q++) begin : g_done
    logic left;
    assign left = leaving && hold_queue_q == (q == 1);
    assign pkt_done[q] = left || (done && dropping && tag_queue == (q == 1));
    // Without regard to its successor: a packet's last word waits for nothing, and only a body fails.
    assign parcel_done[q] = hold_valid_q && hold_last_q && out_ready_i && hold_parcel_q && hold_queue_q == (q == 1);
    assign abort[q] = left && failing;
  end

  always_ff @(posedge clk_i) begin
    if (hold_free) begin
      hold_valid_q  <= push;
      hold_last_q   <= push_last;
      hold_data_q   <= push_data;
      hold_keep_q   <= push_keep;
      hold_queue_q  <= tag_queue;
      hold_parcel_q <= tag_last;
      if (sending) begin
        beat_q <= (state_q == Head) ? beat_q + HeadW'(1) : '0;
        case (state_q)
          Route: state_q <= Head;
          Head: if (beat_q == HeadW'(HeadBeats - 1)) state_q <= Body;
          default: if (rd_last) state_q <= Route;
        endcase
      end
    end
    if (rst_i) begin
      hold_valid_q <= 1'b0;
      hold_last_q <= 1'b0;
      state_q <= Route;
      beat_q <= '0;
    end
  end

  assign busy_o = |active || rd_busy || packets_q != '0 || status_wait_q;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!offer || order_ready);
      assert (!go || (cmd_ready && tag_ready));
    end
  end
`endif
endmodule
