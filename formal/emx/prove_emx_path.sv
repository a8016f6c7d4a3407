// No sync is handled before its data: a packet that follows a remote write from one PE to another is handled after it.
//
// - When PE 1 offers the later packet to its matching unit, the earlier WRITE is done: with WriteBypass it stands in
//   memory, as it was sent; without, it was taken by the matching unit before.
// - Both arrive once, as they were sent.
//
// The way is the RTL's, of a machine of five PEs: output buffer and route of PE 0, its switch, the switch of PE 1 and its
// input buffer, with spill and memory port. Free: the other traffic through both switches and of both PEs, room, the
// port, and when a packet is taken. Bounded. That each part keeps order for ever is claimed by the proofs of
// `emx_output`, `emx_route`, `emx_switch` and `emx_input`.
// Assumed: other packets have other addresses. Senders keep the rule of room.
module prove_emx_path #(
    parameter int Levels = 2,
    parameter int OutputPackets = 1,
    parameter bit WriteBypass = 1'b1
) (
    input logic clk_i,
    input logic rst_i,
    input logic send_valid_i,
    input logic [1:0] send_which_i,
    input logic [2:0] begins_i,  // on the links into PE 0, and of PE 1's own packets
    input logic [2:0][1:0] vc_i,
    input logic [2:0][3:0] what_i,
    input logic [1:0][2:0] beyond_room_i,
    input logic own_room_i,
    input logic next_ready_i,
    input logic mem_ready_i
);
  localparam int AddrW = 14;
  localparam int SpillBits = 4;
  localparam int Base = 1 << (AddrW - 3);
  localparam int Words = Levels << (SpillBits + 1);
  localparam int IndexW = SpillBits + 2;
  localparam bit [21:0] DataAt = 22'h41;
  localparam bit [21:0] SyncAt = 22'h1000;
  localparam bit [21:0] OtherAt = 22'h80;

  power_up u_power_up (.*);

  // ------------------------------------------------------------------------------------------------------------- packets
  logic level_q;  // of the two
  always_ff @(posedge clk_i) level_q <= level_q;
  function automatic logic [38:0] first(input logic level, input logic write, input logic [9:0] pe, input logic [21:0] addr);
    first = {level, 2'b00, 3'b000, write, pe, addr};
  endfunction
  // PE 1 sees PE = 1, too: the path's mark.
  logic [77:0] data_packet, sync_packet, send_packet;
  assign data_packet = {first(level_q, 1'b1, 10'd1, DataAt), 39'h3c};
  assign sync_packet = {first(level_q, 1'b0, 10'd1, SyncAt), 39'h5a};
  always_comb begin
    send_packet = {first(!level_q, 1'b1, {8'd0, send_which_i}, OtherAt), 39'd0};
    if (send_which_i == 2'd0) send_packet = data_packet;
    if (send_which_i == 2'd1) send_packet = sync_packet;
  end

  // ---------------------------------------------------------------------------------------------------------- PE 0 sends
  logic [1:0] send_ready;
  logic out_valid, out_last, out_room, path_valid, path_last, path_room, nowhere;
  logic [38:0] out_data, path_data;
  logic [77:0] nowhere_packet;
  logic [9:0] busy;
  emx_output #(
      .OutputPackets(OutputPackets)
  ) u_output (
      .clk_i,
      .rst_i,
      .busy_o(busy[0]),
      .in_valid_i({1'b0, send_valid_i}),
      .in_ready_o(send_ready),
      .in_packet_i({78'd0, send_packet}),
      .out_valid_o(out_valid),
      .out_data_o(out_data),
      .out_last_o(out_last),
      .out_room_i(out_room)
  );
  emx_route #(
      .RowBits(0)
  ) u_route (
      .clk_i,
      .rst_i,
      .pe_i(10'd0),
      .in_valid_i(out_valid),
      .in_data_i(out_data),
      .in_last_i(out_last),
      .in_room_o(out_room),
      .out_valid_o(path_valid),
      .out_data_o(path_data),
      .out_last_o(path_last),
      .out_room_i(path_room),
      .nowhere_o(nowhere),
      .nowhere_packet_o(nowhere_packet),
      .busy_o(busy[1])
  );

  // ------------------------------------------------------------------------------------------------ through two switches
  logic [1:0] link_valid, link_last, beyond_valid, beyond_last;
  logic [1:0][1:0] link_vc, beyond_vc;
  logic [1:0][38:0] link_data, beyond_data;
  logic [1:0][2:0] link_room;
  logic [2:0][2:0] in_room;
  logic su_valid, su_last, su_room, own_valid, own_last;
  logic [38:0] su_data, own_data;
  logic [1:0][15:0] drained;
  assign in_room[2][2:1] = '0;
  // Others' packets, for PE 1, PE 0 and beyond.
  logic [2:0] head, inside_q, in_valid;
  logic [2:0][2:0] in_room_q;
  logic [2:0][38:0] in_data;
  for (genvar i = 0; i < 3; i++) begin : gen_other
    logic [2:0] path;
    assign path = what_i[i][1:0] == '0 ? 3'b001 : what_i[i][1:0] == 2'd3 ? 3'b110 : {1'b0, what_i[i][1:0]};
    assign in_data[i] = inside_q[i] ? '0 : first(what_i[i][3], what_i[i][2], 10'(path), OtherAt);
  end
  assign in_valid = head | inside_q;
  emx_switch #(
      .Packets(1)
  ) u_switch0 (
      .clk_i,
      .rst_i,
      .column_i(3'd0),
      .link_in_valid_i(in_valid[1:0]),
      .link_in_vc_i(vc_i[1:0]),
      .link_in_data_i(in_data[1:0]),
      .link_in_last_i(inside_q[1:0]),
      .link_in_room_o(in_room[1:0]),
      .link_out_valid_o(link_valid),
      .link_out_vc_o(link_vc),
      .link_out_data_o(link_data),
      .link_out_last_o(link_last),
      .link_out_room_i(link_room),
      .pe_in_valid_i(path_valid),
      .pe_in_data_i(path_data),
      .pe_in_last_i(path_last),
      .pe_in_room_o(path_room),
      .pe_out_valid_o(own_valid),
      .pe_out_data_o(own_data),
      .pe_out_last_o(own_last),
      .pe_out_room_i(own_room_i),
      .busy_o(busy[2]),
      .drained_o(drained[0])
  );
  emx_switch #(
      .Packets(1)
  ) u_switch1 (
      .clk_i,
      .rst_i,
      .column_i(3'd1),
      .link_in_valid_i(link_valid),
      .link_in_vc_i(link_vc),
      .link_in_data_i(link_data),
      .link_in_last_i(link_last),
      .link_in_room_o(link_room),
      .link_out_valid_o(beyond_valid),
      .link_out_vc_o(beyond_vc),
      .link_out_data_o(beyond_data),
      .link_out_last_o(beyond_last),
      .link_out_room_i(beyond_room_i),
      .pe_in_valid_i(in_valid[2]),
      .pe_in_data_i(in_data[2]),
      .pe_in_last_i(inside_q[2]),
      .pe_in_room_o(in_room[2][0]),
      .pe_out_valid_o(su_valid),
      .pe_out_data_o(su_data),
      .pe_out_last_o(su_last),
      .pe_out_room_i(su_room),
      .busy_o(busy[3]),
      .drained_o(drained[1])
  );

  // ------------------------------------------------------------------------------------------------------- PE 1 takes them
  logic host_ready, next_valid, mem_valid, mem_write, urgent, reply_valid, refused_valid, spilled, bypassed, fatal;
  logic [77:0] next_packet, reply_packet, refused_packet;
  logic [21:0] mem_addr;
  logic [38:0] mem_wdata, mem_rdata;
  logic [3:0] reason;
  logic [13:0] depth;
  emx_input #(
      .AddrW(AddrW),
      .SpillBits(SpillBits),
      .Levels(Levels),
      .HalfPackets(2),
      .SpillTurns(1),
      .WriteBypass(WriteBypass)
  ) u_input (
      .clk_i,
      .rst_i,
      .busy_o(busy[4]),
      .su_valid_i(su_valid),
      .su_data_i(su_data),
      .su_last_i(su_last),
      .su_room_o(su_room),
      .host_valid_i(1'b0),
      .host_ready_o(host_ready),
      .host_packet_i('0),
      .next_valid_o(next_valid),
      .next_ready_i,
      .next_packet_o(next_packet),
      .mem_valid_o(mem_valid),
      .mem_ready_i,
      .mem_write_o(mem_write),
      .mem_addr_o(mem_addr),
      .mem_wdata_o(mem_wdata),
      .mem_rdata_i(mem_rdata),
      .urgent_o(urgent),
      .reply_valid_o(reply_valid),
      .reply_ready_i(1'b0),
      .reply_packet_o(reply_packet),
      .refused_valid_o(refused_valid),
      .refused_reason_o(reason),
      .refused_packet_o(refused_packet),
      .depth_o(depth),
      .spilled_o(spilled),
      .bypassed_o(bypassed),
      .fatal_o(fatal)
  );
  logic access, in_rings;
  logic [38:0] ring_mem[1<<IndexW];
  logic [38:0] read_q;
  assign access = mem_valid && mem_ready_i;
  assign in_rings = int'(mem_addr) >= Base && int'(mem_addr) < Base + Words;
  assign mem_rdata = read_q;
  always_ff @(posedge clk_i) begin
    if (access && mem_write && in_rings) ring_mem[mem_addr[IndexW-1:0]] <= mem_wdata;
    read_q <= ring_mem[mem_addr[IndexW-1:0]];
  end

  // ------------------------------------------------------------------------------------ the data and the sync behind them
  function automatic logic [67:0] kept(input logic [77:0] packet);
    kept = {packet[77:71], packet[60:0]};
  endfunction

  logic send, data_sent_q, sync_sent_q, written, taken, data_done_q, sync_done_q;
  logic here_data, here_sync;
  assign send = send_valid_i && send_ready[0];
  assign written = access && mem_write && mem_addr == DataAt;
  assign taken = next_valid && next_ready_i;
  assign here_data = next_valid && next_packet[39+:22] == DataAt;
  assign here_sync = next_valid && next_packet[39+:22] == SyncAt;
  for (genvar i = 0; i < 3; i++) begin : gen_head
    assign head[i] = i != 1 && begins_i[i] && !inside_q[i] && vc_i[i] <= 2'd2 && in_room_q[i][vc_i[i]];
  end
  always_ff @(posedge clk_i) begin
    inside_q <= rst_i ? '0 : head;
    in_room_q <= rst_i ? '0 : in_room;
    if (rst_i) {data_sent_q, sync_sent_q, data_done_q, sync_done_q} <= '0;
    else begin
      data_sent_q <= data_sent_q || (send && send_which_i == 2'd0);
      sync_sent_q <= sync_sent_q || (send && send_which_i == 2'd1);
      data_done_q <= data_done_q || (WriteBypass ? written : taken && here_data);
      sync_done_q <= sync_done_q || (taken && here_sync);
    end
    if (!rst_i) begin
      data_then_sync :
      assume (!send_valid_i || send_which_i[1] || (send_which_i[0] ? data_sent_q && !sync_sent_q : !data_sent_q));
    end
  end
  stream_rules #(
      .W(2),
      .Assume(1'b1)
  ) u_send (
      .clk_i,
      .rst_i,
      .valid_i(send_valid_i),
      .ready_i(send_ready[0]),
      .data_i (send_which_i)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      data_before_sync : assert (!here_sync || data_done_q);
      data_as_sent :
      assert (WriteBypass ? !written || mem_wdata == data_packet[38:0] :
              !here_data || kept(next_packet) == kept(data_packet));
      sync_as_sent : assert (!here_sync || kept(next_packet) == kept(sync_packet));
      each_once : assert (!(sync_done_q && here_sync) && !(data_done_q && (written || here_data)));
      // The claims are not vacuous.
      both : cover (sync_done_q);
    end
  end
endmodule
