// Looks at both slopes of its clock, and at its level.
module slopes (
    input logic clk_i,
    output logic level_o,
    output logic [7:0] rises_o,
    output logic [7:0] falls_o
);
  initial begin
    rises_o = '0;
    falls_o = '0;
  end
  assign level_o = clk_i;
  always_ff @(posedge clk_i) rises_o <= rises_o + 1;
  always_ff @(negedge clk_i) falls_o <= falls_o + 1;
endmodule
