// Unsigned division, one bit a clock: set n and d, pulse start, wait for done.
module divider #(
    parameter W = 8
) (
    input              clk,
    input              rst,
    input              start,
    input      [W-1:0] n,
    input      [W-1:0] d,
    output reg         done,
    output reg [W-1:0] quotient,
    output reg [W-1:0] remainder
);
  reg [W-1:0] left;
  reg [W:0] count;
  wire [W:0] next = {remainder, left[W-1]};
  wire fits = next >= {1'b0, d};

  always @(posedge clk) begin
    done <= count[0];
    count <= rst ? 0 : start ? {1'b1, {W{1'b0}}} : count >> 1;
    if (start) begin
      left <= n;
      quotient <= 0;
      remainder <= 0;
    end else if (count[W:1] != 0) begin
      left <= left << 1;
      quotient <= {quotient[W-2:0], fits};
      remainder <= fits ? next[W-1:0] - d : next[W-1:0];
    end
  end
endmodule
