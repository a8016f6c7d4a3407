// NIC of one word each way, for a machine of two nodes: the toy of docs/adding-a-machine.md.
//
// Purpose    a store to SEND (0x0) puts one word on the link. The other NIC holds the word and raises its interrupt; a
//            load of RECEIVED (0x4) takes the word.
// Host       request {write, address, data, strobes}, then its response {data, error}. One access at a time: the next
//            request is taken after the response.
// Link       one word per beat. `tx_valid_o` holds until `tx_ready_i`; `rx_ready_o` is low while a word is held.
// Latency    1 cycle from request to response, 1 from request to `tx_valid_o`, 1 from `rx_valid_i` to `irq_o`. One word
//            every 2 cycles.
// Full       a store while the last word still waits on the link gets an error response, and so does a load without a
//            word. Nothing changes; software tries again.
// Misuse     any other access gets an error response and changes nothing: another address, a store of fewer than four
//            bytes, a store to RECEIVED, a load of SEND.
// Reset      drops both words and the response; the other NIC must be reset, too.
// busy_o     low when an edge without a valid input changes nothing.
// Source     ours alone. No machine had this NIC.
module your_nic (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic host_req_valid_i,
    output logic host_req_ready_o,
    input logic host_req_write_i,
    input logic [7:0] host_req_addr_i,
    input logic [31:0] host_req_wdata_i,
    input logic [3:0] host_req_wstrb_i,
    output logic host_rsp_valid_o,
    input logic host_rsp_ready_i,
    output logic [31:0] host_rsp_rdata_o,
    output logic host_rsp_err_o,
    output logic irq_o,

    output logic tx_valid_o,
    input logic tx_ready_i,
    output logic [31:0] tx_data_o,
    input logic rx_valid_i,
    output logic rx_ready_o,
    input logic [31:0] rx_data_i
);
  localparam logic [7:0] Send = 8'h0;
  localparam logic [7:0] Received = 8'h4;

  logic access, send, receive;
  logic [31:0] word_q;  // held while irq_o is high

  assign host_req_ready_o = !host_rsp_valid_o;
  assign access = host_req_valid_i && host_req_ready_o;
  assign send = host_req_write_i && host_req_addr_i == Send && &host_req_wstrb_i && !tx_valid_o;
  assign receive = access && !host_req_write_i && host_req_addr_i == Received && irq_o;
  assign rx_ready_o = !irq_o;
  assign busy_o = host_rsp_valid_o || tx_valid_o;

  always_ff @(posedge clk_i) begin
    if (access) begin
      host_rsp_valid_o <= 1'b1;
      host_rsp_rdata_o <= receive ? word_q : '0;
      host_rsp_err_o   <= !send && !receive;
    end else if (host_rsp_ready_i) begin
      host_rsp_valid_o <= 1'b0;
    end

    if (access && send) begin
      tx_valid_o <= 1'b1;
      tx_data_o  <= host_req_wdata_i;
    end else if (tx_ready_i) begin
      tx_valid_o <= 1'b0;
    end

    if (receive) irq_o <= 1'b0;
    if (rx_valid_i && rx_ready_o) begin
      irq_o  <= 1'b1;
      word_q <= rx_data_i;
    end

    if (rst_i) begin
      host_rsp_valid_o <= 1'b0;
      host_rsp_rdata_o <= '0;
      host_rsp_err_o <= 1'b0;
      tx_valid_o <= 1'b0;
      irq_o <= 1'b0;
    end
  end
endmodule
