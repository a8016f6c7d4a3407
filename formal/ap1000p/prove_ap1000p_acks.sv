// SPDX-License-Identifier: MIT OR Apache-2.0
// `ap1000p_acks` counts the stores that were issued and not acknowledged: 0 says that all are performed.
//
// This holds until it reports that a store or an acknowledge could not be counted, for want of room or because there
// was no store. It reports that exactly then. The count never wraps.
//
// Nothing is assumed of issues and acknowledges.
module prove_ap1000p_acks #(
    parameter int W = 3
) (
    input logic clk_i,
    input logic rst_i,
    input logic issue_i,
    input logic ack_i
);
  logic [W-1:0] count;
  logic full, over, under;
  ap1000p_acks #(
      .W(W)
  ) dut (
      .clk_i,
      .rst_i,
      .issue_i,
      .ack_i,
      .count_o(count),
      .full_o (full),
      .over_o (over),
      .under_o(under)
  );
  power_up u_power_up (.*);

  // Stores that are not performed, while all are counted.
  logic [  W:0] stores_q;
  logic [W-1:0] count_q;
  logic missed_q, missed, nobodys, missed_before_q, nobodys_before_q, fresh_q;
  assign missed  = issue_i && !ack_i && count == '1;
  assign nobodys = ack_i && count == '0;
  always_ff @(posedge clk_i) begin
    count_q <= count;
    fresh_q <= rst_i;
    missed_before_q <= missed && !rst_i;
    nobodys_before_q <= nobodys && !rst_i;
    missed_q <= (missed_q || missed) && !rst_i;
    stores_q <= rst_i ? '0 : stores_q + (W + 1)'(issue_i) - (W + 1)'(ack_i && stores_q != '0);
    if (!rst_i) begin
      counts : assert (missed_q || {1'b0, count} == stores_q);
      full_tells : assert (full == (count == '1));
      over_reported : assert (over == missed_before_q);
      under_reported : assert (under == nobodys_before_q);
      never_wraps : assert (fresh_q || !(count_q == '1 && count == '0) && !(count_q == '0 && count == '1));
      all_performed : cover (!missed_q && count == '0 && count_q != '0 && !fresh_q);
      too_many : cover (over);
      too_few : cover (under);
    end
  end
endmodule
