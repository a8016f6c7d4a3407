// Four-state simulation of `async_fifo`. Everything starts unknown, and each side has a reset of one cycle. Then the
// outputs are known and words pass. It ends with "passed", or with the fault.
module async_fifo_unknown #(
    parameter int InHalf = 5,  // half a period of each clock
    parameter int OutHalf = 5,
    parameter int InReset = 10,  // the edge, counted from 0, that finds each side's reset
    parameter int OutReset = 10
);
  localparam int Words = 20;

  logic in_clk = 1'b0, out_clk = 1'b0, in_rst = 1'b0, out_rst = 1'b0, in_valid = 1'b0;
  logic in_ready, out_valid;
  logic [7:0] in_data = '0, out_data, next = '0;
  int in_edges = 0, out_edges = 0, start = 0;

  always #InHalf in_clk = !in_clk;
  always #OutHalf out_clk = !out_clk;

  async_fifo #(
      .W(8)
  ) dut (
      .in_clk_i(in_clk),
      .in_rst_i(in_rst),
      .in_valid_i(in_valid),
      .in_ready_o(in_ready),
      .in_data_i(in_data),
      .out_clk_i(out_clk),
      .out_rst_i(out_rst),
      .out_valid_o(out_valid),
      .out_ready_i(1'b1),
      .out_data_o(out_data)
  );

  // Inputs change at falling edges.
  always @(negedge in_clk) begin
    in_edges = in_edges + 1;
    in_rst   = in_edges == InReset;
    if (start != 0 && in_edges >= start) begin
      if (in_ready === 1'bx) $display("in_ready_o is unknown");
      if (in_valid && in_ready) in_data = in_data + 8'd1;
      in_valid = in_data != Words;
    end
  end
  always @(negedge out_clk) begin
    out_edges = out_edges + 1;
    out_rst   = out_edges == OutReset;
    if (start != 0) begin
      if (out_valid === 1'bx) $display("out_valid_o is unknown");
      if (out_valid === 1'b1) begin
        if (out_data !== next) $display("word %0d is %0d", next, out_data);
        next = next + 8'd1;
      end
    end
  end

  initial begin
    wait (in_edges > InReset && out_edges > OutReset);
    repeat (30) @(posedge in_clk);
    repeat (30) @(posedge out_clk);
    start = in_edges + 1;
    wait (in_data === Words);
    repeat (30) @(posedge in_clk);
    repeat (30) @(posedge out_clk);
    if (next === Words) $display("passed");
    else $display("of %0d words %0d came", Words, next);
    $finish;
  end
  initial begin
    #200000;
    $display("no end: in_ready_o is %b, out_valid_o is %b, %0d words came", in_ready, out_valid, next);
    $finish;
  end
endmodule
