// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+, the requests of the MSC+ to the MC and the responses: bundles of streams, and the indices of the clients in
// them.
//
// Between    ap1000p_msc drives requests, ap1000p_mc responses. `valid` and its fields hold until `ready`, as in every
//            stream here; a bundle only groups the wires.
// Order      the index says which client goes first when all request for the first time after reset.
// Source     the V-Bus joins the two chips: paper 2.1, Fig 2. Streams of the clients in place of one bus: own guess.
package ap1000p_vbus_pkg;
  // No one module needs them all.
  /* verilator lint_off UNUSEDPARAM */

  localparam int LocalW = 25;  // bits of an address in a cell's memory that the shared space has

  // The MSC+'s clients of cell memory: queues (refill reads, spill writes), the controllers of both classes (send
  // reads, receive writes), the word unit, copies of Write Through Pages.
  localparam int MemQueues = 0;
  localparam int MemClass = 1;  // and 2
  localparam int MemWord = 3;
  localparam int MemAccess = 4;
  localparam int MemClients = 5;

  typedef struct packed {
    logic [MemClients-1:0] cmd_valid;
    logic [MemClients-1:0] data_ready;
    logic [MemClients-1:0][7:0] cmd_len;  // words, minus 1
    logic [MemClients-1:0][31:0] cmd_addr;
  } read_request_t;

  typedef struct packed {
    logic [MemClients-1:0] cmd_ready;
    logic [MemClients-1:0] data_valid;
    logic last;  // the same wires for all clients, as the next two
    logic err;
    logic [31:0] data;
  } read_response_t;

  typedef struct packed {
    logic [MemClients-1:0] cmd_valid;
    logic [MemClients-1:0] data_valid;
    logic [MemClients-1:0] last;
    logic [MemClients-1:0] rsp_ready;
    logic [MemClients-1:0][3:0] strb;
    logic [MemClients-1:0][7:0] cmd_len;  // words, minus 1
    logic [MemClients-1:0][31:0] cmd_addr;
    logic [MemClients-1:0][31:0] data;
  } write_request_t;

  typedef struct packed {
    logic [MemClients-1:0] cmd_ready;
    logic [MemClients-1:0] data_ready;
    logic [MemClients-1:0] rsp_valid;
    logic err;  // the same wire for all clients
  } write_response_t;

  // Sides of the MMU: of the senders; of the receivers and the word unit.
  localparam int SideSend = 0;
  localparam int SideReceive = 1;
  localparam int Sides = 2;

  // A logical address to be looked up.
  typedef struct packed {
    logic [11:0] context_id;
    logic [31:0] addr;
    logic write;
    logic system;
  } lookup_t;
  localparam int LookupW = 12 + 32 + 1 + 1;  // its bits

  typedef struct packed {
    logic [Sides-1:0] valid;
    logic [Sides-1:0] rsp_ready;
    logic [Sides-1:0] write;
    logic [Sides-1:0] system;
    logic [Sides-1:0][11:0] context_id;
    logic [Sides-1:0][31:0] addr;
  } lookup_request_t;

  typedef struct packed {
    logic [Sides-1:0] ready;
    logic [Sides-1:0] valid;
    logic [Sides-1:0][2:0] fault;
    logic [Sides-1:0][31:0] addr;
  } lookup_response_t;

  // The MSC+'s sources of the communication registers: the receive controllers of both classes, and both send
  // controllers as one. (The processor is a source of its own, before them.)
  localparam int CregReceive = 0;  // and 1
  localparam int CregSend = 2;
  localparam int CregSources = 3;

  typedef struct packed {
    logic [CregSources-1:0] valid;
    logic [CregSources-1:0] rsp_ready;
    logic [CregSources-1:0] write;
    logic [CregSources-1:0][6:0] addr;
    logic [CregSources-1:0][31:0] data;
  } creg_request_t;

  typedef struct packed {
    logic [CregSources-1:0] ready;
    logic [CregSources-1:0] valid;
    logic [CregSources-1:0] fault;
    logic [CregSources-1:0][31:0] data;
  } creg_response_t;

  // Settings of the MC from the registers, which are in the MSC+.
  typedef struct packed {
    logic [1:0] creg_fault;  // a conflict is a fault: [0] of the processor, [1] of the network
    logic demap_valid;
    logic demap_all;
    logic update_valid;  // of the tags
    logic [2:0] update_kind;
    logic [24:0] update_line;
    logic [31:0] demap_addr;
    logic [31:0] context_table;
    logic [31:0] local_cache;
  } control_request_t;

  typedef struct packed {
    logic demap_ready;
    logic update_ready;
  } control_response_t;

  /* verilator lint_on UNUSEDPARAM */
endpackage
