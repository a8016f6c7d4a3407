// CP-PACS, a whole machine as one top: nodes, the crossbars of all lines, and the barrier's tree.
//
// Host, memory  the ports of cppacs_nia, an element of a packed array for each node. Node n is at x = n mod X,
//            y = n / X mod Y, z = n / X / Y; NODE of each must say so before anything is sent.
// link_*     per node, for those who watch: the links between NIA and exchanger.
// Crossbars  one for each line of more than one node.
// busy_o     per node; `network_busy_o` of crossbars and tree. While all are low and no input is valid, no edge changes
//            anything.
// Source     paper, section 2: crossbars along three axes; see cppacs_node and hxb_crossbar.
module cppacs_machine #(
    parameter int X = 2,  // nodes along each axis, 1 or 2
    parameter int Y = 2,
    parameter int Z = 2,
    parameter int Rights = 512,  // as cppacs_tables
    parameter int Fields = 512,
    parameter int KickDepth = 4,  // as cppacs_kicks
    parameter int Answers = 128,  // as cppacs_answers
    parameter int BurstBeats = 16,  // words of the longest burst, power of two, 4..64
    parameter int Outstanding = 4,  // bursts under way, 2..16
    localparam int Nodes = X * Y * Z
) (
    input logic clk_i,
    input logic rst_i,
    output logic [Nodes-1:0] busy_o,
    output logic network_busy_o,

    input logic [Nodes-1:0] host_req_valid_i,
    output logic [Nodes-1:0] host_req_ready_o,
    input logic [Nodes-1:0] host_req_write_i,
    input logic [Nodes-1:0][16:0] host_req_addr_i,
    input logic [Nodes-1:0][63:0] host_req_wdata_i,
    input logic [Nodes-1:0][7:0] host_req_wstrb_i,
    output logic [Nodes-1:0] host_rsp_valid_o,
    input logic [Nodes-1:0] host_rsp_ready_i,
    output logic [Nodes-1:0][63:0] host_rsp_rdata_o,
    output logic [Nodes-1:0] host_rsp_err_o,
    output logic [Nodes-1:0] irq_o,

    output logic [Nodes-1:0] mem_rd_cmd_valid_o,
    input logic [Nodes-1:0] mem_rd_cmd_ready_i,
    output logic [Nodes-1:0][31:0] mem_rd_cmd_addr_o,
    output logic [Nodes-1:0][7:0] mem_rd_cmd_len_o,
    input logic [Nodes-1:0] mem_rd_data_valid_i,
    output logic [Nodes-1:0] mem_rd_data_ready_o,
    input logic [Nodes-1:0][31:0] mem_rd_data_data_i,
    input logic [Nodes-1:0] mem_rd_data_last_i,
    input logic [Nodes-1:0] mem_rd_data_err_i,

    output logic [Nodes-1:0] mem_wr_cmd_valid_o,
    input logic [Nodes-1:0] mem_wr_cmd_ready_i,
    output logic [Nodes-1:0][31:0] mem_wr_cmd_addr_o,
    output logic [Nodes-1:0][7:0] mem_wr_cmd_len_o,
    output logic [Nodes-1:0] mem_wr_data_valid_o,
    input logic [Nodes-1:0] mem_wr_data_ready_i,
    output logic [Nodes-1:0][31:0] mem_wr_data_data_o,
    output logic [Nodes-1:0][3:0] mem_wr_data_strb_o,
    output logic [Nodes-1:0] mem_wr_data_last_o,
    input logic [Nodes-1:0] mem_wr_rsp_valid_i,
    output logic [Nodes-1:0] mem_wr_rsp_ready_o,
    input logic [Nodes-1:0] mem_wr_rsp_err_i,

    output logic [Nodes-1:0] link_out_valid_o,
    output logic [Nodes-1:0] link_out_channel_o,
    output logic [Nodes-1:0][31:0] link_out_data_o,
    output logic [Nodes-1:0] link_out_last_o,
    output logic [Nodes-1:0] link_in_valid_o,
    output logic [Nodes-1:0] link_in_channel_o,
    output logic [Nodes-1:0][31:0] link_in_data_o,
    output logic [Nodes-1:0] link_in_last_o
);
  if (X < 1 || X > 2 || Y < 1 || Y > 2 || Z < 1 || Z > 2) begin : gen_bad_grid
    cppacs_machine_sides_must_be_1_or_2 u_bad ();
  end

  // By node and axis: from the exchanger to the crossbar, and back.
  logic [Nodes-1:0][2:0] to_valid, to_channel, to_last, from_valid, from_channel, from_last;
  logic [Nodes-1:0][2:0][31:0] to_data, from_data;
  logic [Nodes-1:0][2:0][1:0] to_credit, from_credit;
  logic [Nodes-1:0] member, arrive, waiting, release_all;

  for (genvar n = 0; n < Nodes; n++) begin : gen_node
    cppacs_node #(
        .Rights(Rights),
        .Fields(Fields),
        .KickDepth(KickDepth),
        .Answers(Answers),
        .BurstBeats(BurstBeats),
        .Outstanding(Outstanding)
    ) u_node (
        .clk_i,
        .rst_i,
        .busy_o(busy_o[n]),
        .barrier_member_o(member[n]),
        .barrier_arrive_o(arrive[n]),
        .barrier_waiting_i(waiting[n]),
        .barrier_release_i(release_all[n]),
        .host_req_valid_i(host_req_valid_i[n]),
        .host_req_ready_o(host_req_ready_o[n]),
        .host_req_write_i(host_req_write_i[n]),
        .host_req_addr_i(host_req_addr_i[n]),
        .host_req_wdata_i(host_req_wdata_i[n]),
        .host_req_wstrb_i(host_req_wstrb_i[n]),
        .host_rsp_valid_o(host_rsp_valid_o[n]),
        .host_rsp_ready_i(host_rsp_ready_i[n]),
        .host_rsp_rdata_o(host_rsp_rdata_o[n]),
        .host_rsp_err_o(host_rsp_err_o[n]),
        .irq_o(irq_o[n]),
        .mem_rd_cmd_valid_o(mem_rd_cmd_valid_o[n]),
        .mem_rd_cmd_ready_i(mem_rd_cmd_ready_i[n]),
        .mem_rd_cmd_addr_o(mem_rd_cmd_addr_o[n]),
        .mem_rd_cmd_len_o(mem_rd_cmd_len_o[n]),
        .mem_rd_data_valid_i(mem_rd_data_valid_i[n]),
        .mem_rd_data_ready_o(mem_rd_data_ready_o[n]),
        .mem_rd_data_data_i(mem_rd_data_data_i[n]),
        .mem_rd_data_last_i(mem_rd_data_last_i[n]),
        .mem_rd_data_err_i(mem_rd_data_err_i[n]),
        .mem_wr_cmd_valid_o(mem_wr_cmd_valid_o[n]),
        .mem_wr_cmd_ready_i(mem_wr_cmd_ready_i[n]),
        .mem_wr_cmd_addr_o(mem_wr_cmd_addr_o[n]),
        .mem_wr_cmd_len_o(mem_wr_cmd_len_o[n]),
        .mem_wr_data_valid_o(mem_wr_data_valid_o[n]),
        .mem_wr_data_ready_i(mem_wr_data_ready_i[n]),
        .mem_wr_data_data_o(mem_wr_data_data_o[n]),
        .mem_wr_data_strb_o(mem_wr_data_strb_o[n]),
        .mem_wr_data_last_o(mem_wr_data_last_o[n]),
        .mem_wr_rsp_valid_i(mem_wr_rsp_valid_i[n]),
        .mem_wr_rsp_ready_o(mem_wr_rsp_ready_o[n]),
        .mem_wr_rsp_err_i(mem_wr_rsp_err_i[n]),
        .in_valid_i(from_valid[n]),
        .in_channel_i(from_channel[n]),
        .in_data_i(from_data[n]),
        .in_last_i(from_last[n]),
        .in_credit_o(from_credit[n]),
        .out_valid_o(to_valid[n]),
        .out_channel_o(to_channel[n]),
        .out_data_o(to_data[n]),
        .out_last_o(to_last[n]),
        .out_credit_i(to_credit[n]),
        .link_out_valid_o(link_out_valid_o[n]),
        .link_out_channel_o(link_out_channel_o[n]),
        .link_out_data_o(link_out_data_o[n]),
        .link_out_last_o(link_out_last_o[n]),
        .link_in_valid_o(link_in_valid_o[n]),
        .link_in_channel_o(link_in_channel_o[n]),
        .link_in_data_o(link_in_data_o[n]),
        .link_in_last_o(link_in_last_o[n])
    );
  end

  // The crossbar of each line: of its nodes, the first is the one at coordinate 0, and `Step` nodes lie between two.
  logic [Nodes-1:0][2:0] line_busy;
  for (genvar n = 0; n < Nodes; n++) begin : gen_place
    for (genvar a = 0; a < 3; a++) begin : gen_axis
      localparam int Side = (a == 0) ? X : (a == 1) ? Y : Z;
      localparam int Step = (a == 0) ? 1 : (a == 1) ? X : X * Y;
      localparam bit First = (n / Step) % Side == 0;
      if (Side == 1) begin : gen_alone
        assign {from_valid[n][a], from_channel[n][a], from_data[n][a], from_last[n][a], to_credit[n][a]} = '0;
        logic unused_alone;
        assign unused_alone = ^{to_valid[n][a], to_channel[n][a], to_data[n][a], to_last[n][a], from_credit[n][a]};
        assign line_busy[n][a] = 1'b0;
      end else if (First) begin : gen_line
        localparam int M = n + Step;
        logic [1:0] in_valid, in_channel, in_last, out_valid, out_channel, out_last;
        logic [1:0][31:0] in_data, out_data;
        logic [1:0][1:0] in_credit, out_credit;
        logic [1:0] unused_source;
        logic [15:0] unused_drained, unused_cut;
        assign in_valid = {to_valid[M][a], to_valid[n][a]};
        assign in_channel = {to_channel[M][a], to_channel[n][a]};
        assign in_data = {to_data[M][a], to_data[n][a]};
        assign in_last = {to_last[M][a], to_last[n][a]};
        assign {to_credit[M][a], to_credit[n][a]} = in_credit;
        assign {from_valid[M][a], from_valid[n][a]} = out_valid;
        assign {from_channel[M][a], from_channel[n][a]} = out_channel;
        assign {from_data[M][a], from_data[n][a]} = out_data;
        assign {from_last[M][a], from_last[n][a]} = out_last;
        assign out_credit = {from_credit[M][a], from_credit[n][a]};
        assign line_busy[M][a] = 1'b0;
        hxb_crossbar #(
            .N(2),
            .Axis(a)
        ) u_crossbar (
            .clk_i,
            .rst_i,
            .in_valid_i(in_valid),
            .in_channel_i(in_channel),
            .in_data_i(in_data),
            .in_last_i(in_last),
            .in_credit_o(in_credit),
            .out_valid_o(out_valid),
            .out_channel_o(out_channel),
            .out_data_o(out_data),
            .out_last_o(out_last),
            .out_credit_i(out_credit),
            .out_source_o(unused_source),
            .drained_o(unused_drained),
            .cut_o(unused_cut),
            .busy_o(line_busy[n][a])
        );
      end
    end
  end

  logic tree_busy;
  sync_tree #(
      .Cells (Nodes),
      .Groups(1)
  ) u_barrier (
      .clk_i,
      .rst_i,
      .busy_o(tree_busy),
      .member_i(member),
      .arrive_i(arrive),
      .waiting_o(waiting),
      .release_o(release_all)
  );
  assign network_busy_o = tree_busy || line_busy != '0;
endmodule
