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
  logic busy_q, signs_q, divide_q, signed_q, minus_hi_q, minus_lo_q;

  function automatic logic [31:0] negated(input logic negate, input logic [31:0] value);
    negated = (value ^ {32{negate}}) + 32'(negate);
  endfunction

  // A step: HI, or the remainder with the dividend's next bit, plus or minus the operand. The sign of a signed
  // multiplier counts negative. The remainder loses the divisor's size, so a negative divisor is added.
  logic last, subtract, minus, fits;
  logic [33:0] x, y, sum;
  assign last = left_q == '0;
  assign minus = signed_q && operand_q[31];
  assign subtract = divide_q ? !minus : signed_q && last;
  assign x = divide_q ? {1'b0, hi_q, lo_q[31]} : {{2{signed_q && hi_q[31]}}, hi_q};
  assign y = (divide_q || lo_q[0]) ? {{2{minus}}, operand_q} : '0;
  assign sum = x + (y ^ {34{subtract}}) + 34'(subtract);
  assign fits = !sum[33];

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      hi_q <= '0;
      lo_q <= negated(divide_i && signed_i && a_i[31], a_i);
      operand_q <= b_i;
      left_q <= '1;
      divide_q <= divide_i;
      signed_q <= signed_i;
      minus_hi_q <= signed_i && a_i[31];
      minus_lo_q <= signed_i && (a_i[31] ^ b_i[31]);
    end else if (signs_q) begin
      hi_q <= negated(minus_hi_q, hi_q);
      lo_q <= negated(minus_lo_q, lo_q);
    end else if (busy_q) begin
      left_q <= left_q - 5'd1;
      hi_q   <= divide_q ? (fits ? sum[31:0] : x[31:0]) : sum[32:1];
      lo_q   <= divide_q ? {lo_q[30:0], fits} : {sum[0], lo_q[31:1]};
    end else begin
      if (to_hi_i) hi_q <= a_i;
      if (to_lo_i) lo_q <= a_i;
    end
    if (rst_i) begin
      busy_q  <= 1'b0;
      signs_q <= 1'b0;
      hi_q    <= '0;
      lo_q    <= '0;
    end else begin
      busy_q  <= start_i || (busy_q && !signs_q && !(last && !divide_q));
      signs_q <= busy_q && !signs_q && last && divide_q;
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
