// AP1000+ MSC+, remote access generator: loads and stores of the processor to other cells' memory become messages for the queue of
// remote accesses, which goes before PUT and GET.
//
// Request    valid/ready: {write, cell {y, x}, address in its memory, size as a power of two of bytes (0 to 3), data}. A store's bytes are in
//            their lanes of the word; of 8 bytes, the lower word comes first. `dsm_req_registers_i`: the address is one of a communication register.
// Answer     of a load: valid until taken, the word or words, or `dsm_rsp_err_o`. The next request is taken after it. Stores have no answer.
// Issue      `issue_o`, for ap1000p_acks, in the very cycle in which a store is taken: who looks at the count after that sees it.
// Refused    a cell that is not there, an address that is no multiple of the size: `refused_o`, a pulse; a load is answered with an error.
// Latency    1 cycle from the request to the message's first word. A store takes 4 cycles (5 of 8 bytes).
// Full       a store waits while `acks_full_i`, any access while its queue takes no words.
// Misuse     an answer that no load waits for is dropped. A load to a cell that never answers waits until reset.
// Reset      forgets what is under way; an answer that comes later must not (reset the network, too).
// Source     access-sized GET or PUT, queue of its own with priority, a counter of acknowledges: paper 2.2.5, 2.2.6. Cell's number as {y, x},
//            refusals: own guess.
module ap1000p_access #(
    parameter int CoordW = 5  // bits of a coordinate, 1 to 7
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [CoordW-1:0] x_i,
    input logic [CoordW-1:0] y_i,
    input logic [CoordW-1:0] last_x_i,
    input logic [CoordW-1:0] last_y_i,
    input logic acks_full_i,

    input logic dsm_req_valid_i,
    output logic dsm_req_ready_o,
    input logic dsm_req_write_i,
    input logic dsm_req_registers_i,
    input logic [2*CoordW-1:0] dsm_req_cell_i,
    input logic [31:0] dsm_req_addr_i,
    input logic [1:0] dsm_req_size_i,
    input logic [63:0] dsm_req_data_i,
    output logic dsm_rsp_valid_o,
    input logic dsm_rsp_ready_i,
    output logic dsm_rsp_err_o,
    output logic [63:0] dsm_rsp_data_o,
    output logic issue_o,
    output logic refused_o,

    output logic out_valid_o,
    input logic out_ready_i,
    output logic out_end_o,
    output logic [31:0] out_data_o,
    input logic load_valid_i,
    output logic load_ready_o,
    input logic load_err_i,
    input logic [63:0] load_data_i
);
  if (CoordW < 1 || CoordW > 7) begin : gen_bad_coord
    ap1000p_access_CoordW_must_be_1_to_7 u_bad ();
  end

  typedef enum logic [2:0] {
    Idle,
    Head,
    Addr,
    Low,    // data
    High,
    Await,
    Answer
  } state_e;
  state_e state_q;

  logic write_q, registers_q, bad, aligned, accept, sends;
  logic [1:0] size_q;
  logic [CoordW-1:0] to_x, to_y;
  logic [7:0] dx_q, dy_q;
  logic [31:0] addr_q;
  logic [63:0] data_q;
  assign {to_y, to_x} = dsm_req_cell_i;
  assign bad = to_x > last_x_i || to_y > last_y_i || !aligned;
  assign accept = dsm_req_valid_i && dsm_req_ready_o;
  assign sends = state_q == Head || state_q == Addr || state_q == Low || state_q == High;

  always_comb begin
    case (dsm_req_size_i)
      2'd0: aligned = 1'b1;
      2'd1: aligned = !dsm_req_addr_i[0];
      2'd2: aligned = dsm_req_addr_i[1:0] == '0;
      default: aligned = dsm_req_addr_i[2:0] == '0;
    endcase
  end

  always_comb begin
    out_data_o = '0;
    case (state_q)
      Head: begin
        out_data_o[ap1000p_pkg::CommandHeadDxLsb+:8] = dx_q;
        out_data_o[ap1000p_pkg::CommandHeadDyLsb+:8] = dy_q;
        out_data_o[16+ap1000p_pkg::PageDirectLsb] = 1'b1;
        out_data_o[16+ap1000p_pkg::PageAsReceiveLsb] = registers_q;
        out_data_o[16+ap1000p_pkg::PageSizeLsb+:2] = size_q;
        out_data_o[16+ap1000p_pkg::PageKindLsb+:3] = write_q ? 3'(ap1000p_pkg::MadeStore) : 3'(ap1000p_pkg::MadeLoad);
      end
      Addr: out_data_o = addr_q;
      Low: out_data_o = data_q[31:0];
      default: out_data_o = data_q[63:32];
    endcase
  end
  assign out_valid_o = sends;
  assign out_end_o = (state_q == Addr && !write_q) || (state_q == Low && size_q != 2'd3) || state_q == High;

  assign dsm_req_ready_o = state_q == Idle && !acks_full_i;
  assign issue_o = accept && dsm_req_write_i && !bad;
  assign load_ready_o = 1'b1;
  assign dsm_rsp_valid_o = state_q == Answer;
  assign dsm_rsp_data_o = data_q;
  assign busy_o = state_q != Idle;

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      {write_q, registers_q, size_q} <= {dsm_req_write_i, dsm_req_registers_i, dsm_req_size_i};
      {addr_q, data_q} <= {dsm_req_addr_i, dsm_req_data_i};
      dx_q <= 8'(to_x) - 8'(x_i);
      dy_q <= 8'(to_y) - 8'(y_i);
      dsm_rsp_err_o <= 1'b1;
    end
    if (state_q == Await && load_valid_i) begin
      dsm_rsp_err_o <= load_err_i;
      data_q <= size_q == 2'd3 ? load_data_i : {32'd0, load_data_i[31:0]};
    end
    refused_o <= accept && bad && !rst_i;
    if (rst_i) state_q <= Idle;
    else begin
      case (state_q)
        Idle: if (accept && !(bad && dsm_req_write_i)) state_q <= bad ? Answer : Head;
        Head: if (out_ready_i) state_q <= Addr;
        Addr: if (out_ready_i) state_q <= write_q ? Low : Await;
        Low: if (out_ready_i) state_q <= size_q == 2'd3 ? High : Idle;
        High: if (out_ready_i) state_q <= Idle;
        Await: if (load_valid_i) state_q <= Answer;
        default: if (dsm_rsp_ready_i) state_q <= Idle;
      endcase
    end
  end
endmodule
