// Routing function of an exchanger of the hyper-crossbar, by a worm's first word: X before Y before Z.
//
// Handshake  combinational. f0_i is the first word, channel_i the link's channel; place and far_i (the axis has more
//            than one node; over {Z, Y, X}) are the exchanger's. way_o is the output, over {Z, Y, X, PU}; none: the
//            worm has to be drained.
// Source     docs/machines/cppacs-contract.md, Routing; src/net/hyper.rs is the same function. rtl/cppacs/regs.toml has
//            the fields of F0.
module hxb_turn #(
    parameter int Port = 0  // where it came in: 0 PU, 1 X, 2 Y, 3 Z. Axes up to that are crossed
) (
    input  logic [ 3:0] x_i,
    input  logic [ 4:0] y_i,
    input  logic [ 3:0] z_i,
    input  logic [ 2:0] far_i,
    input  logic [16:0] f0_i,
    input  logic        channel_i,
    output logic [ 3:0] way_o
);
  localparam logic [2:0] Crossed = Port == 0 ? 3'b000 : Port == 1 ? 3'b001 : Port == 2 ? 3'b011 : 3'b111;

  logic [2:0] mask, differs, onward;
  logic lost;

  assign mask = f0_i[15:13];
  assign differs = {f0_i[12:9] != z_i, f0_i[8:4] != y_i, f0_i[3:0] != x_i};
  assign onward = far_i & (mask | differs) & ~Crossed;
  assign lost = (differs & ~mask & Crossed) != '0 || f0_i[16] != channel_i || (f0_i[16] && mask != '0);

  always_comb begin
    way_o = '0;
    if (!lost) begin
      way_o[1] = onward[0];
      way_o[2] = onward[1] && !onward[0];
      way_o[3] = onward[2] && onward[1:0] == '0;
      way_o[0] = onward == '0;
    end
  end
endmodule
