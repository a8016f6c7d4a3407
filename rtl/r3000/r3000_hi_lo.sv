// SPDX-License-Identifier: MIT OR Apache-2.0
// Multiplier and divider of `r3000`, with the registers HI and LO.
//
// Start      only while `busy_o` is low; so are `to_hi_i` and `to_lo_i`, which write `a_i` to a register.
// Latency    a product after 32 cycles, a quotient and a remainder after 33: a bit per cycle, one to start, and one for
//            the signs of a division.
// By zero    the quotient is -1, or 1 of a negative signed dividend; the remainder is the dividend.
// Source     common practice: one adder, shift and add, shift and subtract. The R3000 needs 12 and 35 cycles.
module r3000_hi_lo (
    input logic clk_i,
    input logic rst_i,
    output logic busy_o,
    input logic start_i,
    input logic divide_i,
    input logic signed_i,
    input logic to_hi_i,
    input logic to_lo_i,
    input logic [31:0] a_i,
    input logic [31:0] b_i,
    output logic [31:0] hi_o,
    output logic [31:0] lo_o
);
  // LO holds the multiplier or the dividend, whose bits make room for those of the result.
  logic [31:0] hi_q, lo_q, operand_q;
  logic [4:0] left_q;  // steps left, minus 1
  logic busy_q, signs_q, divide_q, signed_q, minus_hi_q, minus_lo_q, full_q;

  // A step of a product: HI plus the operand; the sign of a signed multiplier counts negative. A step of a division:
  // the remainder with the dividend's next bit loses the divisor's size, so a negative divisor is added. Of a negative
  // dividend -N, the step divides N - 1: the dividend's bits inverted. `full_q`: N has a further divisor in it. The
  // last step of a division turns the signs: -R is the inverse of R - 1, and the adder counts the quotient on.
  logic steps, product, divides, last, minus, subtract, adds, carry, bit_in, fits, further;
  logic [31:0] high;
  logic [33:0] x, y, sum;
  assign steps = busy_q && !signs_q;
  assign product = steps && !divide_q;
  assign divides = steps && divide_q;
  assign last = left_q == '0;
  assign minus = signed_q && operand_q[31];
  assign subtract = divide_q ? !minus && !signs_q : signed_q && last;
  assign adds = divide_q ? !signs_q : lo_q[0];
  assign further = full_q && minus_hi_q;
  assign carry = signs_q ? minus_lo_q ^ further : subtract;
  assign bit_in = lo_q[31] ^ minus_hi_q;
  assign high = ({32{!divide_q}} & hi_q) | ({32{divides}} & {hi_q[30:0], bit_in});
  assign x[31:0] = high | ({32{signs_q}} & (lo_q ^ {32{minus_lo_q}}));
  assign x[33:32] = divide_q ? {1'b0, hi_q[31]} : {2{signed_q && hi_q[31]}};
  assign y = ({{2{minus}}, operand_q} & {34{adds}}) ^ {34{subtract}};
  assign sum = x + y + 34'(carry);
  assign fits = !sum[33];

  // The next values: at most one source of each is chosen. HI without one becomes zero.
  logic write_hi, write_lo;
  logic [31:0] next_hi, next_lo;
  assign write_hi = start_i || to_hi_i || steps || (signs_q && minus_hi_q);
  assign write_lo = start_i || to_lo_i || busy_q;
  assign next_hi = (({32{product}} & sum[32:1]) | ({32{divides && fits}} & sum[31:0])) |
                   (({32{divides && !fits}} & {hi_q[30:0], bit_in}) | ({32{to_hi_i}} & a_i)) |
                   ({32{signs_q && !further}} & ~hi_q);
  assign next_lo = (({32{product}} & {sum[0], lo_q[31:1]}) | ({32{divides}} & {lo_q[30:0], fits})) |
                   (({32{signs_q}} & sum[31:0]) | ({32{!busy_q}} & a_i));

  always_ff @(posedge clk_i) begin
    if (write_hi) hi_q <= next_hi;
    if (write_lo) lo_q <= next_lo;
    if (steps) left_q <= left_q - 5'd1;
    if (divides) full_q <= (sum[31:0] == '1 && !fits) || (full_q && bit_in);
    if (start_i) begin
      operand_q <= b_i;
      left_q <= '1;
      divide_q <= divide_i;
      signed_q <= signed_i;
      minus_hi_q <= signed_i && a_i[31];
      minus_lo_q <= signed_i && (a_i[31] ^ b_i[31]);
    end
    if (rst_i) begin
      busy_q  <= 1'b0;
      signs_q <= 1'b0;
      hi_q    <= '0;
      lo_q    <= '0;
    end else begin
      busy_q  <= start_i || (busy_q && !signs_q && !(last && !divide_q));
      signs_q <= divides && last;
    end
  end

  assign busy_o = busy_q;
  assign hi_o   = hi_q;
  assign lo_o   = lo_q;

`ifdef TSUNAGI_ASSERT
  always_ff @(posedge clk_i) begin
    if (!rst_i) assert (!busy_q || !(start_i || to_hi_i || to_lo_i));
  end
`endif
endmodule
