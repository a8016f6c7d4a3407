// Ports of every storage size, two clocks, a memory, a submodule and an unreset register.
module mixer #(
    parameter int W = 8,
    parameter int Depth = 4
) (
    input  logic               a_clk_i,
    input  logic               b_clk_i,
    input  logic               rst_i,
    input  logic               load_i,
    input  logic [W-1:0]       data_i,
    input  logic [15:0]        half_i,
    input  logic [39:0]        long_i,
    input  logic [2:0][49:0]   wide_i,
    output logic [W-1:0]       data_o,
    output logic [15:0]        half_o,
    output logic [39:0]        long_o,
    output logic [2:0][49:0]   wide_o,
    output logic [31:0]        a_count_o,
    output logic [31:0]        b_count_o,
    output logic [31:0]        unreset_o,
    output logic [31:0]        random_o
);
  logic [W-1:0] memory_q[Depth];
  logic [31:0] unreset_q;

  always_ff @(posedge a_clk_i) begin
    if (rst_i) begin
      a_count_o <= '0;
    end else begin
      a_count_o <= a_count_o + 1;
      if (load_i) memory_q[a_count_o%Depth] <= data_i;
      data_o <= memory_q[0];
      half_o <= half_i + 1;
      long_o <= long_i;
      wide_o <= {wide_i[0], wide_i[2], wide_i[1]};
      random_o <= $urandom;
    end
  end
  assign unreset_o = unreset_q;
  always_ff @(posedge a_clk_i) if (load_i) unreset_q <= 32'd5;

  mixer_counter u_count (
      .clk_i  (b_clk_i),
      .rst_i  (rst_i),
      .count_o(b_count_o)
  );
endmodule
