// CP-PACS NIA, link: between the streams of the NIA, one for each channel, and the link to the exchanger, with credits.
//
// Streams    in_* from the senders, out_* to the receivers, by channel: 0 data, 1 acknowledge.
// Link       `valid`, `channel`, `data`, `last`, no ready; back a pulse of `credit` for each word that left the buffer.
//            A word is sent only with a credit of its channel.
// Order      the channels alternate word by word where both could go.
// Latency    1 cycle from stream to link, 2 where the other channel went last; 2 from link to stream; one word a cycle.
// Stall      `stall_o`: a word waits, and no channel with a word has a credit.
// Misuse     a word that comes without credit is lost: asserted.
// Reset      forgets all words, and has all credits.
// busy_o     low when no word is inside.
// Source     ours; two channels: US patent 5,892,923 of the family.
module cppacs_link #(
    parameter int Credits = 16,  // words of data that the exchanger's buffer takes, 2..1023
    parameter int AckCredits = 16,  // the same of the acknowledge channel
    // Words of the NIA's own buffer, for each channel: the exchanger's PuRoom, power of two, 8..1024
    parameter int Room = 32
) (
    input  logic clk_i,
    input  logic rst_i,
    output logic busy_o,

    input logic [1:0] in_valid_i,
    output logic [1:0] in_ready_o,
    input logic [1:0][31:0] in_data_i,
    input logic [1:0] in_last_i,

    output logic [1:0] out_valid_o,
    input logic [1:0] out_ready_i,
    output logic [1:0][31:0] out_data_o,
    output logic [1:0] out_last_o,

    output logic link_out_valid_o,
    output logic link_out_channel_o,
    output logic [31:0] link_out_data_o,
    output logic link_out_last_o,
    input logic [1:0] link_out_credit_i,
    input logic link_in_valid_i,
    input logic link_in_channel_i,
    input logic [31:0] link_in_data_i,
    input logic link_in_last_i,
    output logic [1:0] link_in_credit_o,

    output logic stall_o
);
  if (Credits < 2 || Credits > 1023 || AckCredits < 2 || AckCredits > 1023) begin : gen_bad_credits
    cppacs_link_Credits_must_be_2_to_1023 u_bad ();
  end
  if (Room < 8 || Room > 1024 || (1 << $clog2(Room)) != Room) begin : gen_bad_room
    cppacs_link_Room_must_be_a_power_of_two_from_8_to_1024 u_bad ();
  end

  // --------------------------------------------------------------------------------------------------------------- out
  // A channel with the turn and a credit takes a word. The turn goes to the other one as soon as that could go, too.
  logic [1:0] some_q, go, could;  // some: a credit
  logic turn_q;
  assign in_ready_o = {turn_q, !turn_q} & some_q;
  assign could = in_valid_i & some_q;
  assign go = in_valid_i & in_ready_o;

  for (genvar c = 0; c < 2; c++) begin : gen_out
    localparam int Most = (c == 0) ? Credits : AckCredits;
    localparam int CountW = $clog2(Most + 1);
    logic [CountW-1:0] credits_q;

    always_ff @(posedge clk_i) begin
      if (rst_i) begin
        credits_q <= CountW'(Most);
        some_q[c] <= 1'b1;
      end else begin
        if (go[c] != link_out_credit_i[c]) credits_q <= credits_q + (go[c] ? '1 : CountW'(1));
        some_q[c] <= link_out_credit_i[c] || CountW'(credits_q >> 1) != '0 || (some_q[c] && !go[c]);
      end
    end

`ifdef TSUNAGI_ASSERT
    always_ff @(posedge clk_i) begin
      if (!rst_i) begin
        assert (some_q[c] == (credits_q != '0));
        assert (!link_out_credit_i[c] || credits_q != CountW'(Most));
      end
    end
`endif
  end

  always_ff @(posedge clk_i) begin
    {link_out_last_o, link_out_data_o} <= turn_q ? {in_last_i[1], in_data_i[1]} : {in_last_i[0], in_data_i[0]};
    link_out_channel_o <= turn_q;
    link_out_valid_o <= go != '0 && !rst_i;
    stall_o <= in_valid_i != '0 && could == '0 && !rst_i;
    if (rst_i) turn_q <= 1'b0;
    else turn_q <= turn_q ? !could[0] : could[1];
  end

  // ---------------------------------------------------------------------------------------------------------------- in
  // Credits keep a buffer from overflowing. A word leaves the memory for its output register.
  logic [1:0] some;
  for (genvar c = 0; c < 2; c++) begin : gen_in
    localparam int SlotW = $clog2(Room);
    (* ram_style = "block", no_rw_check *) logic [32:0] mem_q[Room];  // no slot is read in the cycle of its write
    logic [SlotW-1:0] wr_q, rd_q;
    logic [32:0] word_q;
    logic come, fetch, valid_q, taken;
    assign come = link_in_valid_i && link_in_channel_i == 1'(c);
    assign taken = valid_q && out_ready_i[c];
    assign fetch = some[c] && (!valid_q || out_ready_i[c]);
    assign some[c] = wr_q != rd_q;

    always_ff @(posedge clk_i) begin
      if (come) mem_q[wr_q] <= {link_in_last_i, link_in_data_i};
      if (fetch) word_q <= mem_q[rd_q];
      link_in_credit_o[c] <= taken && !rst_i;
      if (rst_i) begin
        wr_q <= '0;
        rd_q <= '0;
        valid_q <= 1'b0;
      end else begin
        wr_q <= wr_q + SlotW'(come);
        rd_q <= rd_q + SlotW'(fetch);
        valid_q <= fetch || (valid_q && !taken);
      end
    end
    assign out_valid_o[c] = valid_q;
    assign {out_last_o[c], out_data_o[c]} = word_q;

`ifdef TSUNAGI_ASSERT
    logic [SlotW:0] level_q;
    always_ff @(posedge clk_i) begin
      if (rst_i) level_q <= '0;
      else begin
        assert (!come || level_q != (SlotW + 1)'(Room));
        level_q <= level_q + (SlotW + 1)'(come) - (SlotW + 1)'(taken);
      end
    end
`endif
  end

  assign busy_o = some != '0 || out_valid_o != '0 || link_out_valid_o || link_in_credit_o != '0 || stall_o;
endmodule
