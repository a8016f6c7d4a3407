module mixer_counter (
    input logic clk_i,
    input logic rst_i,
    output logic [31:0] count_o
);
  always_ff @(posedge clk_i) begin
    if (rst_i) count_o <= '0;
    else count_o <= count_o + 1;
  end
endmodule
