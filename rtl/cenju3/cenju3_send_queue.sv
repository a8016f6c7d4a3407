// SPDX-License-Identifier: MIT OR Apache-2.0
// One send queue of the Cenju-3 Sender: fetches parcel headers ahead, checks them, cuts parcels into packets.
//
// Fetch      `fetch_addr_o` requests the next header whenever its slot is free, so a header is on its way while the
//            present parcel is sent. A fetch is one burst of FetchBeats words, or several. Its words come back on
//            `hdr_*`, never stalled.
// Packets    one read command per packet, with the 16-byte packet header and the route flit to send before its body.
//            Only the last packet of the parcel has the END and ARR flags. 1 packet per cycle.
// Retire     `pkt_done_i` for each packet that left; `parcel_done_i` with the last packet of a parcel, which moves GET.
//            `abort_i` replaces it when memory refused the body.
// Error      an illegal parcel waits until the earlier ones are out. After an abort the rest of the parcel and
//            everything read ahead is dropped (`drop_o`: drop this queue's packets that are still in flight). Then the
//            status is written into the header. Only when it is in memory `halted_o` rises, with a pulse of `failed_o`;
//            `resume_i` skips the bad header.
// Latency    header complete to first packet command: 4 cycles.
// Source     send queues of 255 headers, cutting, flags on the last packet: paper section 3.1; status and halt: ours.
module cenju3_send_queue #(
    parameter int BusW = 32,  // bits of a bus word, 32 or 64
    parameter int FetchBeats = 8,  // words in a burst of a header: all of it, or a power of two below
    parameter bit Queue = 1'b0  // 0: high priority, 1: normal
) (
    input logic clk_i,
    input logic rst_i,

    input logic [31:0] base_i,
    input logic [7:0] put_i,
    input logic resume_i,
    input logic [7:0] node_id_i,
    output logic [7:0] get_o,
    output logic empty_o,
    output logic halted_o,
    output logic [3:0] error_o,
    output logic failed_o,
    output logic active_o,  // something is in progress
    output logic waiting_o,  // a parcel is here: its next packet comes now or in a few cycles

    output logic fetch_valid_o,
    input logic fetch_ready_i,
    output logic [31:0] fetch_addr_o,
    input logic hdr_valid_i,
    input logic [BusW-1:0] hdr_data_i,
    input logic hdr_err_i,

    output logic pkt_valid_o,
    input logic pkt_ready_i,
    output logic [31:0] pkt_addr_o,
    output logic [9:0] pkt_bytes_o,
    output logic [15:0] pkt_route_o,
    output logic [127:0] pkt_header_o,
    output logic pkt_last_o,

    input  logic pkt_done_i,
    input  logic parcel_done_i,
    input  logic abort_i,
    output logic drop_o,

    output logic status_valid_o,
    input logic status_ready_i,
    output logic [31:0] status_addr_o,
    output logic [31:0] status_data_o,
    input logic status_done_i
);
  localparam int Beats = cenju3_pkg::ParcelHeaderBytes * 8 / BusW;
  localparam int BeatW = $clog2(Beats);
  localparam int Bursts = Beats / FetchBeats;
  localparam int BurstW = (Bursts > 1) ? $clog2(Bursts) : 1;
  localparam int Ahead = 3;  // parcels fetched and not out: one leaving, one being read, one to come
  localparam int UserW = 2 + 8 + 8 + 32;

  if (BusW != 32 && BusW != 64) begin : gen_bad_bus
    cenju3_send_queue_BusW_must_be_32_or_64 u_bad ();
  end
  if (FetchBeats < 1 || FetchBeats > Beats || Beats % FetchBeats != 0) begin : gen_bad_fetch
    cenju3_send_queue_FetchBeats_must_be_a_power_of_two_and_at_most_a_header u_bad ();
  end

  typedef enum logic [2:0] {
    Run,
    Flush,   // wait until all requested packets have left
    Status,  // write the status word
    Settle,  // wait until the status is in memory
    Halted
  } state_e;
  state_e state_q;

  // ------------------------------------------------------------------------------------------------------ header fetch
  logic [7:0] fetch_q, get_q;  // next header to fetch; oldest parcel that is not out
  logic fetching_q, slot_valid_q, slot_err_q, stale_q;
  logic [BeatW-1:0] beat_q;
  logic [BurstW-1:0] burst_q;  // of a header with bursts still to request
  logic [255:0] slot_q;  // the fetched header
  logic load, issued, fetched;
  logic [3:0] parcels_q;  // loaded, not out

  assign fetch_valid_o = burst_q != '0 ||
      (state_q == Run && !fetching_q && !slot_valid_q && fetch_q != put_i && parcels_q < 4'(Ahead));
  assign fetch_addr_o = base_i + {19'b0, fetch_q, 5'(32'(burst_q) * FetchBeats * BusW / 8)};
  assign issued = fetch_valid_o && fetch_ready_i && burst_q == BurstW'(Bursts - 1);
  assign fetched = hdr_valid_i && beat_q == BeatW'(Beats - 1);

  always_ff @(posedge clk_i) begin
    if (hdr_valid_i) begin
      slot_q[32'(beat_q)*BusW+:BusW] <= hdr_data_i;
      beat_q <= beat_q + BeatW'(1);
      slot_err_q <= hdr_err_i || (slot_err_q && beat_q != '0);
    end
    if (rst_i) beat_q <= '0;
  end

  logic unused_slot;  // reserved bits, status
  assign unused_slot = &{1'b0, slot_q};

  // ---------------------------------------------------------------------------------------------------------- checking
  logic [7:0] kind, dst;
  logic [31:0] bytes, body, dest, soft0, soft1;
  logic is_dma;
  logic [3:0] code;
  assign kind = slot_q[cenju3_pkg::ParcelHeadKindLsb+:cenju3_pkg::ParcelHeadKindW];
  assign dst = slot_q[cenju3_pkg::ParcelHeadDstLsb+:cenju3_pkg::ParcelHeadDstW];
  assign bytes = slot_q[8*cenju3_pkg::ParcelBytes+:32];
  assign body = slot_q[8*cenju3_pkg::ParcelBody+:32];
  assign dest = slot_q[8*cenju3_pkg::ParcelDest+:32];
  assign soft0 = slot_q[8*cenju3_pkg::ParcelSoft0+:32];
  assign soft1 = slot_q[8*cenju3_pkg::ParcelSoft1+:32];
  assign is_dma = kind == 8'(cenju3_pkg::KindDma);

  always_comb begin
    if (slot_err_q) code = 4'(cenju3_pkg::StatusHeaderBusError);
    else if (kind > 8'(cenju3_pkg::KindDma)) code = 4'(cenju3_pkg::StatusBadKind);
    else if (bytes == '0) code = 4'(cenju3_pkg::StatusZeroLength);
    else if (bytes > 32'(cenju3_pkg::ParcelBodyMax)) code = 4'(cenju3_pkg::StatusTooLong);
    else if (!is_dma && bytes > 32'(cenju3_pkg::PacketBodyMax)) code = 4'(cenju3_pkg::StatusMessageTooLong);
    else if (body[4:0] != '0) code = 4'(cenju3_pkg::StatusBodyMisaligned);
    else if (is_dma && dest[4:0] != '0) code = 4'(cenju3_pkg::StatusDestMisaligned);
    else code = 4'(cenju3_pkg::StatusOk);
  end

  // ----------------------------------------------------------------------------------------------------------- cutting
  logic split_ready, split_rst, unused_first;
  logic [31:0] split_dst;
  logic [1:0] split_flags;  // END, ARR
  logic [UserW-1:0] split_user;
  logic [7:0] split_seq, split_index, split_pe;
  logic [ 1:0] split_kind;
  logic [31:0] split_soft1;

  assign load = state_q == Run && slot_valid_q && code == 4'(cenju3_pkg::StatusOk) && split_ready && !abort_i;
  assign split_rst = rst_i || abort_i;

  dma_splitter #(
      .LenW(18),
      .PacketBytes(cenju3_pkg::PacketBodyMax),
      .FlagsW(2),
      .UserW(UserW)
  ) u_splitter (
      .clk_i,
      .rst_i(split_rst),
      .in_valid_i(load),
      .in_ready_o(split_ready),
      .in_src_i(body),
      .in_dst_i(is_dma ? dest : soft0),
      .in_bytes_i(bytes[17:0]),
      .in_flags_i({slot_q[cenju3_pkg::ParcelHeadEndLsb], slot_q[cenju3_pkg::ParcelHeadArrLsb]}),
      .in_user_i({kind[1:0], dst, fetch_q - 8'd1, soft1}),
      .out_valid_o(pkt_valid_o),
      .out_ready_i(pkt_ready_i),
      .out_src_o(pkt_addr_o),
      .out_dst_o(split_dst),
      .out_bytes_o(pkt_bytes_o),
      .out_first_o(unused_first),
      .out_last_o(pkt_last_o),
      .out_flags_o(split_flags),
      .out_user_o(split_user),
      .out_seq_o(split_seq)
  );

  assign {split_kind, split_pe, split_index, split_soft1} = split_user;

  always_comb begin
    pkt_route_o = '0;
    pkt_route_o[cenju3_pkg::RouteDstLsb+:cenju3_pkg::RouteDstW] = split_pe;
    pkt_route_o[cenju3_pkg::RoutePriorityLsb] = !Queue;
    pkt_route_o[cenju3_pkg::RouteKindLsb+:cenju3_pkg::RouteKindW] = split_kind;
    pkt_route_o[cenju3_pkg::RouteArrLsb] = split_flags[0];
    pkt_route_o[cenju3_pkg::RouteEndLsb] = split_flags[1];
    pkt_header_o = '0;
    pkt_header_o[cenju3_pkg::PacketHeadKindLsb+:cenju3_pkg::PacketHeadKindW] = {6'b0, split_kind};
    pkt_header_o[cenju3_pkg::PacketHeadArrLsb] = split_flags[0];
    pkt_header_o[cenju3_pkg::PacketHeadEndLsb] = split_flags[1];
    pkt_header_o[cenju3_pkg::PacketHeadLastLsb] = pkt_last_o;
    pkt_header_o[cenju3_pkg::PacketHeadPriorityLsb] = !Queue;
    pkt_header_o[cenju3_pkg::PacketHeadSrcLsb+:cenju3_pkg::PacketHeadSrcW] = node_id_i;
    pkt_header_o[cenju3_pkg::PacketHeadSeqLsb+:cenju3_pkg::PacketHeadSeqW] = split_seq;
    pkt_header_o[8*cenju3_pkg::PacketBody+cenju3_pkg::PacketBodyBytesLsb+:cenju3_pkg::PacketBodyBytesW] = {
      6'b0, pkt_bytes_o
    };
    pkt_header_o[8*cenju3_pkg::PacketBody+cenju3_pkg::PacketBodyIndexLsb+:cenju3_pkg::PacketBodyIndexW] = split_index;
    pkt_header_o[8*cenju3_pkg::PacketBody+cenju3_pkg::PacketBodyQueueLsb] = Queue;
    pkt_header_o[8*cenju3_pkg::PacketDest+:32] = split_dst;
    pkt_header_o[8*cenju3_pkg::PacketSoft1+:32] = split_soft1;
  end

  // ----------------------------------------------------------------------------------------------------------- control
  logic [1:0] inflight_q;  // packets requested that have not left
  logic [2:0] uncut_q;  // loaded parcels with a last packet to request
  logic [3:0] error_q;
  logic bad;

  assign bad = state_q == Run && slot_valid_q && code != 4'(cenju3_pkg::StatusOk);

  always_ff @(posedge clk_i) begin
    failed_o <= 1'b0;
    parcels_q <= abort_i ? '0 : parcels_q + 4'(load) - 4'(parcel_done_i);
    uncut_q <= abort_i ? '0 : uncut_q + 3'(load) - 3'(pkt_valid_o && pkt_ready_i && pkt_last_o);
    inflight_q <= inflight_q + 2'(pkt_valid_o && pkt_ready_i) - 2'(pkt_done_i);
    if (fetch_valid_o && fetch_ready_i) begin
      fetching_q <= 1'b1;
      burst_q <= issued ? '0 : burst_q + BurstW'(1);
    end
    if (issued) fetch_q <= fetch_q + 8'd1;
    if (fetched) fetching_q <= 1'b0;
    if (fetched) slot_valid_q <= !stale_q;
    else if (load) slot_valid_q <= 1'b0;
    if (parcel_done_i) get_q <= get_q + 8'd1;
    case (state_q)
      Run:
      if (bad) begin
        state_q <= Flush;
        error_q <= code;
      end
      Flush:
      if (parcels_q == '0 && inflight_q == '0 && !fetching_q) begin
        state_q <= Status;
        slot_valid_q <= 1'b0;
      end
      Status: if (status_ready_i) state_q <= Settle;
      Settle:
      if (status_done_i) begin
        state_q  <= Halted;
        failed_o <= 1'b1;
      end
      default:  // Halted
      if (resume_i) begin
        state_q <= Run;
        stale_q <= 1'b0;
        get_q   <= get_q + 8'd1;
        fetch_q <= get_q + 8'd1;
      end
    endcase
    if (abort_i) begin
      state_q <= Flush;
      error_q <= 4'(cenju3_pkg::StatusBodyBusError);
      stale_q <= 1'b1;
    end
    if (rst_i) begin
      state_q <= Run;
      stale_q <= 1'b0;
      get_q <= '0;
      fetch_q <= '0;
      fetching_q <= 1'b0;
      burst_q <= '0;
      slot_valid_q <= 1'b0;
      parcels_q <= '0;
      inflight_q <= '0;
      uncut_q <= '0;
    end
  end

  assign get_o = get_q;
  assign empty_o = get_q == put_i;
  assign halted_o = state_q == Halted;
  assign error_o = halted_o ? error_q : '0;
  assign active_o = state_q == Flush || state_q == Status || state_q == Settle || parcels_q != '0 ||
                    inflight_q != '0 || fetching_q || (state_q == Run && (slot_valid_q || fetch_q != put_i));
  assign waiting_o = uncut_q != '0 || (state_q == Run && slot_valid_q);
  assign drop_o = stale_q;
  assign status_valid_o = state_q == Status;
  assign status_addr_o = base_i + {19'b0, get_q, 5'b0} + 32'(cenju3_pkg::ParcelStatus);
  assign status_data_o = {28'b0, error_q};

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!hdr_valid_i || (fetching_q && !slot_valid_q));
      assert (!pkt_done_i || inflight_q != '0);
      assert (!parcel_done_i || parcels_q != '0);
    end
  end
`endif
endmodule
