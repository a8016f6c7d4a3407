// SPDX-License-Identifier: MIT OR Apache-2.0
// AP1000+ MSC+, inside ap1000p_command: the open command of one class, and the complete ones on their way to its queue.
//
// Handshake  `put_i` stores a word while `full_o` is low: the next of the open command, or with `forget_i` the first of
//            a new one. The last word ends the command: with `keep_i` it is passed on, otherwise forgotten. `forget_i`
//            alone forgets the open command. Out: a valid/ready stream of whole commands, `end` on the last word; data
//            from a memory addressed by flip-flops.
// Latency    1 cycle from the last word stored to the first one offered. 1 word per cycle, no bubble between commands.
// Full       16 words inside.
// Reset      empties it.
// Source     own guess. The machine counts the words of an open command, and has them in the queue itself. Here a
//            command enters its queue when it is complete, so one that is given up leaves nothing behind there.
module ap1000p_command_buffer (
    input logic clk_i,
    input logic rst_i,
    input logic put_i,
    input logic forget_i,
    input logic keep_i,
    input logic [31:0] put_data_i,
    output logic full_o,
    output logic [2:0] count_o,  // words of the open command
    output logic out_valid_o,
    input logic out_ready_i,
    output logic out_end_o,
    output logic [31:0] out_data_o
);
  logic [31:0] mem_q[16];  // two commands
  logic bank_q, end_put, end_out;
  logic [2:0] count_q, index;
  logic [3:0] rd_q;
  logic [1:0] level_q;  // complete commands

  assign index   = forget_i ? 3'd0 : count_q;
  assign end_put = put_i && keep_i && index == 3'd7;
  assign end_out = out_valid_o && out_ready_i && out_end_o;

  always_ff @(posedge clk_i) begin
    if (put_i) mem_q[{bank_q, index}] <= put_data_i;
    if (rst_i) begin
      bank_q  <= 1'b0;
      count_q <= '0;
      rd_q    <= '0;
      level_q <= '0;
    end else begin
      if (put_i) count_q <= index + 3'd1;
      else if (forget_i) count_q <= '0;
      bank_q <= bank_q ^ end_put;
      if (out_valid_o && out_ready_i) rd_q <= rd_q + 4'd1;
      if (end_put != end_out) level_q <= level_q + (end_out ? '1 : 2'd1);
    end
  end

  // With two complete commands inside, the next one's words replace words that have left.
  assign full_o = level_q[1] && count_q >= rd_q[2:0];
  assign count_o = count_q;
  assign out_valid_o = level_q != '0;
  assign out_end_o = rd_q[2:0] == '1;
  assign out_data_o = mem_q[rd_q];

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      assert (!put_i || !full_o);
    end
  end
`endif
endmodule
