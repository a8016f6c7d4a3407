// CP-PACS, node: the NIA, and the exchanger that joins it to the crossbars of its three lines.
//
// Host, memory, barrier  as cppacs_nia.
// Ports      of the exchanger to the crossbars: 0 X, 1 Y, 2 Z, as hxb_exchanger.
// busy_o     as cppacs_nia.
// Source     paper, section 2: each node has an exchanger. See cppacs_nia and hxb_exchanger.
module cppacs_node #(
    parameter int Rights = 512,  // as cppacs_tables
    parameter int Fields = 512,
    parameter int KickDepth = 4,  // as cppacs_kicks
    parameter int Answers = 128,  // as cppacs_answers
    parameter int BurstBeats = 16,  // words of the longest burst, power of two, 4..64
    parameter int Outstanding = 4  // bursts under way, 2..16
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic host_req_valid_i,
    output logic host_req_ready_o,
    input logic host_req_write_i,
    input logic [16:0] host_req_addr_i,
    input logic [63:0] host_req_wdata_i,
    input logic [7:0] host_req_wstrb_i,
    output logic host_rsp_valid_o,
    input logic host_rsp_ready_i,
    output logic [63:0] host_rsp_rdata_o,
    output logic host_rsp_err_o,
    output logic irq_o,

    output logic barrier_member_o,
    output logic barrier_arrive_o,
    input  logic barrier_waiting_i,
    input  logic barrier_release_i,

    output logic mem_rd_cmd_valid_o,
    input logic mem_rd_cmd_ready_i,
    output logic [31:0] mem_rd_cmd_addr_o,
    output logic [7:0] mem_rd_cmd_len_o,
    input logic mem_rd_data_valid_i,
    output logic mem_rd_data_ready_o,
    input logic [31:0] mem_rd_data_data_i,
    input logic mem_rd_data_last_i,
    input logic mem_rd_data_err_i,

    output logic mem_wr_cmd_valid_o,
    input logic mem_wr_cmd_ready_i,
    output logic [31:0] mem_wr_cmd_addr_o,
    output logic [7:0] mem_wr_cmd_len_o,
    output logic mem_wr_data_valid_o,
    input logic mem_wr_data_ready_i,
    output logic [31:0] mem_wr_data_data_o,
    output logic [3:0] mem_wr_data_strb_o,
    output logic mem_wr_data_last_o,
    input logic mem_wr_rsp_valid_i,
    output logic mem_wr_rsp_ready_o,
    input logic mem_wr_rsp_err_i,

    input logic [2:0] in_valid_i,
    input logic [2:0] in_channel_i,
    input logic [2:0][31:0] in_data_i,
    input logic [2:0] in_last_i,
    output logic [2:0][1:0] in_credit_o,
    output logic [2:0] out_valid_o,
    output logic [2:0] out_channel_o,
    output logic [2:0][31:0] out_data_o,
    output logic [2:0] out_last_o,
    input logic [2:0][1:0] out_credit_i,

    // The link between NIA and exchanger, for those who watch.
    output logic link_out_valid_o,
    output logic link_out_channel_o,
    output logic [31:0] link_out_data_o,
    output logic link_out_last_o,
    output logic link_in_valid_o,
    output logic link_in_channel_o,
    output logic [31:0] link_in_data_o,
    output logic link_in_last_o
);
  logic nia_busy, exchanger_busy;
  assign busy_o = nia_busy || exchanger_busy;

  // From the NIA to the exchanger, and back.
  logic to_valid, to_channel, to_last, from_valid, from_channel, from_last;
  logic [31:0] to_data, from_data;
  logic [1:0] to_credit, from_credit;
  logic [12:0] place, last;
  logic [15:0] drained;
  logic [3:0][1:0] unused_source;
  assign {link_out_valid_o, link_out_channel_o, link_out_data_o, link_out_last_o} = {
    to_valid, to_channel, to_data, to_last
  };
  assign {link_in_valid_o, link_in_channel_o, link_in_data_o, link_in_last_o} = {
    from_valid, from_channel, from_data, from_last
  };

  cppacs_nia #(
      .Rights(Rights),
      .Fields(Fields),
      .KickDepth(KickDepth),
      .Answers(Answers),
      .BurstBeats(BurstBeats),
      .Outstanding(Outstanding)
  ) u_nia (
      .clk_i,
      .rst_i,
      .busy_o(nia_busy),
      .host_req_valid_i,
      .host_req_ready_o,
      .host_req_write_i,
      .host_req_addr_i,
      .host_req_wdata_i,
      .host_req_wstrb_i,
      .host_rsp_valid_o,
      .host_rsp_ready_i,
      .host_rsp_rdata_o,
      .host_rsp_err_o,
      .irq_o,
      .barrier_member_o,
      .barrier_arrive_o,
      .barrier_waiting_i,
      .barrier_release_i,
      .mem_rd_cmd_valid_o,
      .mem_rd_cmd_ready_i,
      .mem_rd_cmd_addr_o,
      .mem_rd_cmd_len_o,
      .mem_rd_data_valid_i,
      .mem_rd_data_ready_o,
      .mem_rd_data_data_i,
      .mem_rd_data_last_i,
      .mem_rd_data_err_i,
      .mem_wr_cmd_valid_o,
      .mem_wr_cmd_ready_i,
      .mem_wr_cmd_addr_o,
      .mem_wr_cmd_len_o,
      .mem_wr_data_valid_o,
      .mem_wr_data_ready_i,
      .mem_wr_data_data_o,
      .mem_wr_data_strb_o,
      .mem_wr_data_last_o,
      .mem_wr_rsp_valid_i,
      .mem_wr_rsp_ready_o,
      .mem_wr_rsp_err_i,
      .link_out_valid_o(to_valid),
      .link_out_channel_o(to_channel),
      .link_out_data_o(to_data),
      .link_out_last_o(to_last),
      .link_out_credit_i(to_credit),
      .link_in_valid_i(from_valid),
      .link_in_channel_i(from_channel),
      .link_in_data_i(from_data),
      .link_in_last_i(from_last),
      .link_in_credit_o(from_credit),
      .place_o(place),
      .last_o(last),
      .drained_i(drained)
  );

  hxb_exchanger u_exchanger (
      .clk_i,
      .rst_i,
      .busy_o(exchanger_busy),
      .x_i(place[cppacs_pkg::NodeXLsb+:cppacs_pkg::NodeXW]),
      .y_i(place[cppacs_pkg::NodeYLsb+:cppacs_pkg::NodeYW]),
      .z_i(place[cppacs_pkg::NodeZLsb+:cppacs_pkg::NodeZW]),
      .last_x_i(last[cppacs_pkg::NodeXLsb+:cppacs_pkg::NodeXW]),
      .last_y_i(last[cppacs_pkg::NodeYLsb+:cppacs_pkg::NodeYW]),
      .last_z_i(last[cppacs_pkg::NodeZLsb+:cppacs_pkg::NodeZW]),
      .in_valid_i({in_valid_i, to_valid}),
      .in_channel_i({in_channel_i, to_channel}),
      .in_data_i({in_data_i, to_data}),
      .in_last_i({in_last_i, to_last}),
      .in_credit_o({in_credit_o, to_credit}),
      .out_valid_o({out_valid_o, from_valid}),
      .out_channel_o({out_channel_o, from_channel}),
      .out_data_o({out_data_o, from_data}),
      .out_last_o({out_last_o, from_last}),
      .out_credit_i({out_credit_i, from_credit}),
      .out_source_o(unused_source),
      .drained_o(drained)
  );
endmodule
