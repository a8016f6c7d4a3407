// Stops in each way a model can.
module stopper (
    input  logic       clk_i,
    input  logic [7:0] data_i,
    input  logic       finish_i,
    input  logic       loop_i,
    output logic       loop_o
);
`ifdef CHECK
  always_ff @(posedge clk_i) begin
    assert (data_i != 8'd77);
    if (finish_i) $finish;
  end
`endif
  /* verilator lint_off UNOPTFLAT */
  logic spin;
  assign spin = loop_i & ~spin;
  assign loop_o = spin;
endmodule
