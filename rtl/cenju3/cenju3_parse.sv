// SPDX-License-Identifier: MIT OR Apache-2.0
// Cenju-3 Receiver, first part: parses packets from the receive FIFO and checks their headers.
//
// Input      bus words {data, keep = 16-bit units - 1, last}: route flit alone, 16-byte header, body.
// Job        one per packet, in order, with its whole header, or at the end of a shorter packet. `job_bad_o`: its
//            header is wrong (kind 3 or different in route and header, other PE, length 0 or above 512, DMA destination
//            not aligned). `job_short_o`: it ends within its header. A bad or short packet is dropped. `job_empty_o`:
//            it ends with its header. `job_stop_o`: the Receiver may halt after it, so no further packet begins until
//            `resume_i`. `job_after_o`: the previous stored packet is known to be truncated or overlong, if
//            there is one.
// Body       follows on `body_*` with `keep` in bytes. A body with as many flits as the header says is cut to the exact
//            length. The write engine finds longer and shorter ones.
// Latency    1 word per cycle, no bubble between good packets.
// Source     paper section 3.2; checks are ours.
module cenju3_parse #(
    parameter int BusW = 32,  // bits of a bus word, 32 or 64
    localparam int KeepW = $clog2(BusW / 16)
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic go_i,  // a new packet may begin
    input logic resume_i,  // pulse
    input logic halt_arrival_i,
    input logic [1:0] halt_end_i,
    input logic [7:0] node_id_i,

    input logic in_valid_i,
    output logic in_ready_o,
    input logic [BusW-1:0] in_data_i,
    input logic [KeepW-1:0] in_keep_i,
    input logic in_last_i,

    output logic job_valid_o,
    input logic job_ready_i,
    output logic [1:0] job_kind_o,
    output logic job_arr_o,
    output logic job_end_o,
    output logic job_halt_o,  // halt at the packet's end
    output logic job_stop_o,
    output logic job_bad_o,
    output logic job_short_o,
    output logic job_empty_o,
    output logic job_after_o,
    output logic job_known_o,  // header word 0 came
    output logic [127:0] job_header_o,

    output logic body_valid_o,
    input logic body_ready_i,
    output logic [BusW-1:0] body_data_o,
    output logic [KeepW:0] body_keep_o,  // bytes, minus 1
    output logic body_last_o
);
  localparam int HeadBeats = cenju3_pkg::PacketHeaderBytes * 8 / BusW;
  localparam int BeatsW = $clog2(HeadBeats + 1);

  if (BusW != 32 && BusW != 64) begin : gen_bad_bus
    cenju3_parse_BusW_must_be_32_or_64 u_bad ();
  end

  typedef enum logic [2:0] {
    Route,
    Head,
    Check,  // hand the job on, and take the first body word
    Body,
    Drain
  } state_e;
  state_e state_q;
  logic stop_q, short_q, empty_q, known_q, spoilt_q, take;
  logic [BeatsW-1:0] beats_q;  // header words received
  logic [15:0] route_q;
  logic [127:0] head_q;
  logic [9:0] word_q;  // current body word
  assign take = in_valid_i && in_ready_o;

  // ------------------------------------------------------------------------------------------------------------ header
  logic [7:0] kind, dst;
  logic [15:0] bytes, bytes_m1;
  logic [1:0] route_kind;
  logic bad, dma_misaligned, halt_arr;
  assign kind = head_q[cenju3_pkg::PacketHeadKindLsb+:cenju3_pkg::PacketHeadKindW];
  assign bytes = head_q[8*cenju3_pkg::PacketBody+cenju3_pkg::PacketBodyBytesLsb+:cenju3_pkg::PacketBodyBytesW];
  assign bytes_m1 = bytes - 16'd1;
  assign dst = route_q[cenju3_pkg::RouteDstLsb+:cenju3_pkg::RouteDstW];
  assign route_kind = route_q[cenju3_pkg::RouteKindLsb+:cenju3_pkg::RouteKindW];
  assign dma_misaligned = kind == 8'(cenju3_pkg::KindDma) && head_q[8*cenju3_pkg::PacketDest+:5] != '0;
  assign bad = !short_q && (kind != {6'b0, route_kind} || kind > 8'(cenju3_pkg::KindDma) || dst != node_id_i ||
               bytes == '0 || bytes > 16'(cenju3_pkg::PacketBodyMax) || dma_misaligned);
  logic unused_route;  // priority; the header repeats ARR and END
  assign unused_route = &{1'b0, route_q};

  assign job_kind_o = kind[1:0];
  assign job_arr_o = head_q[cenju3_pkg::PacketHeadArrLsb];
  assign job_end_o = head_q[cenju3_pkg::PacketHeadEndLsb];
  assign job_halt_o = job_end_o && halt_end_i[kind==8'(cenju3_pkg::KindDma)];
  assign halt_arr = job_arr_o && halt_arrival_i;
  assign job_stop_o = !bad && !short_q && (job_halt_o || halt_arr);
  assign job_bad_o = bad;
  assign job_short_o = short_q;
  assign job_empty_o = empty_q;
  assign job_after_o = spoilt_q;
  assign job_known_o = known_q;
  assign job_valid_o = state_q == Check;
  always_comb begin
    job_header_o = head_q;
    // Only word 0 of a short header counts: the received words are at the top of the shift register.
    if (short_q) begin
      for (int i = 1; i <= HeadBeats; i++) begin
        if (beats_q == BeatsW'(i)) job_header_o[31:0] = head_q[128-i*BusW+:32];
      end
    end
  end

  // -------------------------------------------------------------------------------------------------------------- body
  logic exact, body_go;
  // The job takes a first body word even of a bad packet, and drops it: the check comes too late to refuse it.
  assign body_go = state_q == Check && job_ready_i && !empty_q;
  assign exact = word_q == 10'(bytes_m1[9:0] >> (KeepW + 1)) && in_keep_i == bytes_m1[KeepW:1];
  assign body_valid_o = in_valid_i && (state_q == Body || (body_go && !bad));
  assign body_data_o = in_data_i;
  assign body_keep_o = (in_last_i && exact) ? bytes_m1[KeepW:0] : {in_keep_i, 1'b1};
  assign body_last_o = in_last_i;
  logic unused_length;
  assign unused_length = &{1'b0, bytes_m1[15:10]};

  always_comb begin
    case (state_q)
      Route: in_ready_o = go_i && !stop_q;
      Head, Drain: in_ready_o = 1'b1;
      Check: in_ready_o = body_go && body_ready_i;
      default: in_ready_o = body_ready_i;
    endcase
  end

  always_ff @(posedge clk_i) begin
    case (state_q)
      Route:
      if (take) begin
        state_q <= in_last_i ? Check : Head;
        route_q <= in_data_i[15:0];
        short_q <= in_last_i;
        empty_q <= in_last_i;
        known_q <= 1'b0;
      end
      Head:
      if (take) begin
        head_q  <= {in_data_i, head_q[127:BusW]};
        beats_q <= beats_q + BeatsW'(1);
        if (in_last_i || beats_q == BeatsW'(HeadBeats - 1)) state_q <= Check;
        short_q <= !(beats_q == BeatsW'(HeadBeats - 1) && in_keep_i == '1);
        empty_q <= in_last_i;
        known_q <= known_q || in_keep_i != '0;
      end
      Check:
      if (job_ready_i) begin
        if (empty_q || (take && in_last_i)) state_q <= Route;
        else state_q <= bad ? Drain : Body;
        stop_q <= job_stop_o;
        if (empty_q && !short_q && !bad) spoilt_q <= 1'b1;
      end
      default: if (take && in_last_i) state_q <= Route;
    endcase
    if (body_valid_o && take && in_last_i) spoilt_q <= !exact;
    if (resume_i) stop_q <= 1'b0;
    if (state_q == Route) begin
      beats_q <= '0;
      word_q  <= '0;
    end else if (take && state_q != Head) word_q <= word_q + 10'(word_q != '1);
    if (rst_i) begin
      state_q <= Route;
      stop_q  <= 1'b0;
    end
  end

  assign busy_o = take || (job_valid_o && job_ready_i);
endmodule
