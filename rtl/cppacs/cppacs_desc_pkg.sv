// CP-PACS NIA, descriptors: how a transfer comes to a sender, a word of 32 bits a cycle, each with its index.
//
// Order      any, but F0 last: it starts the transfer. Words that do not count for it may be left out.
// F0         as in the message, with LAST 0. REASON is 0, or the send reason for which nothing is sent; then F0, FLAG
//            and WHAT alone count. FLAGGED: the send flag at FLAG is written. IMMEDIATE (data channel): the payload is
//            the two words at FLAG and WHAT.
// Data       F0 to F2, OFFSET, LENGTH (bytes in all), BASE (address of the first byte), SIZE (from there to the end
//            of the
//            area). Transfers of fetch have also FLAG and WHAT; with STRIDED ELEMENT, STEP and SOURCE_STEP, all in
//            bytes. Answers with IMMEDIATE have the words at FLAG and WHAT instead of BASE and SIZE.
// Ack        F0 to F2, OFFSET, LENGTH, FLAG, WHAT; WRITE: ADDRESS of its data; requests: PAYLOAD and the 7 indices
//            behind it.
// Source     ours.
package cppacs_desc_pkg;
  // No module needs all of them.
  /* verilator lint_off UNUSEDPARAM */
  localparam bit [3:0] F0 = 4'd0;
  localparam int F0ImmediateLsb = 26;
  localparam int F0FlaggedLsb = 27;
  localparam int F0ReasonLsb = 28;
  localparam int F0ReasonW = 4;
  localparam bit [3:0] F1 = 4'd1;
  localparam bit [3:0] F2 = 4'd2;
  localparam bit [3:0] Offset = 4'd3;
  localparam bit [3:0] Length = 4'd4;

  // Data channel
  localparam bit [3:0] Element = 4'd5;
  localparam bit [3:0] Step = 4'd6;
  localparam bit [3:0] Flag = 4'd7;
  localparam bit [3:0] What = 4'd8;
  localparam int WhatTcwLsb = 0;
  localparam int WhatTcwW = 16;
  localparam int WhatProcessLsb = 16;
  localparam int WhatProcessW = 3;
  localparam bit [3:0] Base = 4'd9;
  localparam bit [3:0] Size = 4'd10;
  localparam bit [3:0] SourceStep = 4'd12;

  // Acknowledge channel
  localparam bit [3:0] AckPayload = 4'd5;
  localparam bit [3:0] AckFlag = 4'd13;
  localparam bit [3:0] AckWhat = 4'd14;
  localparam bit [3:0] AckAddress = 4'd15;
  /* verilator lint_on UNUSEDPARAM */
endpackage
