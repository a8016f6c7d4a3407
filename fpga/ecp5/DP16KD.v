// The ECP5's block RAM of 18 Kbit, for the simulation of netlists: Yosys's cell library has only an empty box for it.
//
// Purpose    What synthesis made of a memory is simulated, not the memory.
// Ports      Two that read and write, of any width up to 18. At width 36 port A only writes, port B only reads: `DIB` is the
//            upper half of what is written, `DOB` of what is read.
// Address    14 bits, those of a port of width 1; a wider one leaves its lowest bits out. At width 18 `AD1:0`, at width 36
//            `AD3:0` enable bytes of nine bits.
// Latency    1 cycle, no output registers. `RST` clears what was read, and in RESETMODE SYNC keeps its port from writing.
// Contents   start as the simulator's context says. A write and an access by the other port to one place at one edge are
//            undefined in the hardware; here a read sees what was there before.
// Misused    what Yosys does not make of a memory without initial values stops elaboration: output registers, inverted
//            clocks, chip selects, initial values, WRITETHROUGH, width 36 of port B alone.
// Source     Lattice's memory usage guide for ECP5 (FPGA-TN-02204), and how Yosys's synth_ecp5 connects the cell; halves and
//            enables at width 36 are as Yosys has them, and are not confirmed on hardware.

// verilator lint_off UNUSEDPARAM
// verilator lint_off UNUSEDSIGNAL
// verilator lint_off WIDTHEXPAND
// verilator lint_off MULTIDRIVEN
module DP16KD #(
    parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18,
    parameter REGMODE_A = "NOREG", REGMODE_B = "NOREG", WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL",
    parameter CLKAMUX = "CLKA", CLKBMUX = "CLKB", CSDECODE_A = "0b000", CSDECODE_B = "0b000",
    parameter RESETMODE = "SYNC", ASYNC_RESET_RELEASE = "SYNC", GSR = "ENABLED",
    parameter [319:0] INITVAL_00 = 320'b0, INITVAL_01 = 320'b0, INITVAL_02 = 320'b0, INITVAL_03 = 320'b0,
    INITVAL_04 = 320'b0, INITVAL_05 = 320'b0, INITVAL_06 = 320'b0, INITVAL_07 = 320'b0, INITVAL_08 = 320'b0,
    INITVAL_09 = 320'b0, INITVAL_0A = 320'b0, INITVAL_0B = 320'b0, INITVAL_0C = 320'b0, INITVAL_0D = 320'b0,
    INITVAL_0E = 320'b0, INITVAL_0F = 320'b0, INITVAL_10 = 320'b0, INITVAL_11 = 320'b0, INITVAL_12 = 320'b0,
    INITVAL_13 = 320'b0, INITVAL_14 = 320'b0, INITVAL_15 = 320'b0, INITVAL_16 = 320'b0, INITVAL_17 = 320'b0,
    INITVAL_18 = 320'b0, INITVAL_19 = 320'b0, INITVAL_1A = 320'b0, INITVAL_1B = 320'b0, INITVAL_1C = 320'b0,
    INITVAL_1D = 320'b0, INITVAL_1E = 320'b0, INITVAL_1F = 320'b0, INITVAL_20 = 320'b0, INITVAL_21 = 320'b0,
    INITVAL_22 = 320'b0, INITVAL_23 = 320'b0, INITVAL_24 = 320'b0, INITVAL_25 = 320'b0, INITVAL_26 = 320'b0,
    INITVAL_27 = 320'b0, INITVAL_28 = 320'b0, INITVAL_29 = 320'b0, INITVAL_2A = 320'b0, INITVAL_2B = 320'b0,
    INITVAL_2C = 320'b0, INITVAL_2D = 320'b0, INITVAL_2E = 320'b0, INITVAL_2F = 320'b0, INITVAL_30 = 320'b0,
    INITVAL_31 = 320'b0, INITVAL_32 = 320'b0, INITVAL_33 = 320'b0, INITVAL_34 = 320'b0, INITVAL_35 = 320'b0,
    INITVAL_36 = 320'b0, INITVAL_37 = 320'b0, INITVAL_38 = 320'b0, INITVAL_39 = 320'b0, INITVAL_3A = 320'b0,
    INITVAL_3B = 320'b0, INITVAL_3C = 320'b0, INITVAL_3D = 320'b0, INITVAL_3E = 320'b0, INITVAL_3F = 320'b0
) (
    input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2,
    DIA1, DIA0,
    input ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
    input CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
    output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2,
    DOA1, DOA0,
    input DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2,
    DIB1, DIB0,
    input ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
    input CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
    output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2,
    DOB1, DOB0
);
  localparam [319:0] Initial =
      INITVAL_00 | INITVAL_01 | INITVAL_02 | INITVAL_03 | INITVAL_04 | INITVAL_05 | INITVAL_06 | INITVAL_07 |
      INITVAL_08 | INITVAL_09 | INITVAL_0A | INITVAL_0B | INITVAL_0C | INITVAL_0D | INITVAL_0E | INITVAL_0F |
      INITVAL_10 | INITVAL_11 | INITVAL_12 | INITVAL_13 | INITVAL_14 | INITVAL_15 | INITVAL_16 | INITVAL_17 |
      INITVAL_18 | INITVAL_19 | INITVAL_1A | INITVAL_1B | INITVAL_1C | INITVAL_1D | INITVAL_1E | INITVAL_1F |
      INITVAL_20 | INITVAL_21 | INITVAL_22 | INITVAL_23 | INITVAL_24 | INITVAL_25 | INITVAL_26 | INITVAL_27 |
      INITVAL_28 | INITVAL_29 | INITVAL_2A | INITVAL_2B | INITVAL_2C | INITVAL_2D | INITVAL_2E | INITVAL_2F |
      INITVAL_30 | INITVAL_31 | INITVAL_32 | INITVAL_33 | INITVAL_34 | INITVAL_35 | INITVAL_36 | INITVAL_37 |
      INITVAL_38 | INITVAL_39 | INITVAL_3A | INITVAL_3B | INITVAL_3C | INITVAL_3D | INITVAL_3E | INITVAL_3F;

  if (REGMODE_A != "NOREG" || REGMODE_B != "NOREG" || WRITEMODE_A == "WRITETHROUGH" || WRITEMODE_B == "WRITETHROUGH" ||
      CLKAMUX != "CLKA" || CLKBMUX != "CLKB" || CSDECODE_A != "0b000" || CSDECODE_B != "0b000" || Initial != 0 ||
      (DATA_WIDTH_B == 36 && DATA_WIDTH_A != 36)) begin : gen_unknown
    DP16KD_in_a_mode_that_this_model_does_not_know u_bad ();
  end

  wire [17:0] dia = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3,
      DIA2, DIA1, DIA0};
  wire [17:0] dib = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3,
      DIB2, DIB1, DIB0};
  wire [13:0] ada = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
  wire [13:0] adb = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};

  reg [8:0] mem[2048];

  // Index of byte n of a word.
  function automatic [10:0] index(input integer width, input [13:0] address, input integer n);
    index = address[13:3];
    if (width == 18) index[0] = n[0];
    if (width == 36) index[1:0] = n[1:0];
  endfunction

  // Where in its byte a narrow word begins.
  function automatic integer offset(input integer width, input [13:0] address);
    offset = width < 9 ? 32'(address[2:0]) & ~(width - 1) : 0;
  endfunction

  // A byte after a write: of a narrow word only its bits change.
  function automatic [8:0] written(input integer width, input [13:0] address, input [8:0] old, input [8:0] data);
    written = old;
    for (int i = 0; i < 9; i++) if (i < width) written[offset(width, address)+i] = data[i];
  endfunction

  function automatic [35:0] word(input integer width, input [13:0] address);
    for (int n = 0; n < 4; n++) word[9*n+:9] = mem[index(width, address, n)];
    word = word >> offset(width, address);
  endfunction

  wire write_a = CEA && WEA && !(RSTA && RESETMODE == "SYNC");
  wire write_b = CEB && WEB && !(RSTB && RESETMODE == "SYNC");
  reg [35:0] word_a, word_b;
  always @(posedge CLKA) begin
    for (int n = 0; n < (DATA_WIDTH_A + 8) / 9; n++) begin
      if (write_a && (DATA_WIDTH_A < 18 || ada[n])) begin
        mem[index(DATA_WIDTH_A, ada, n)] <=
            written(DATA_WIDTH_A, ada, mem[index(DATA_WIDTH_A, ada, n)], 9'({dib, dia} >> 9 * n));
      end
    end
    if (RSTA) word_a <= 36'b0;
    else if (CEA && (!WEA || WRITEMODE_A == "READBEFOREWRITE")) word_a <= word(DATA_WIDTH_A, ada);
  end
  always @(posedge CLKB) begin
    for (int n = 0; n < (DATA_WIDTH_B + 8) / 9; n++) begin
      if (write_b && (DATA_WIDTH_B < 18 || adb[n])) begin
        mem[index(DATA_WIDTH_B, adb, n)] <=
            written(DATA_WIDTH_B, adb, mem[index(DATA_WIDTH_B, adb, n)], 9'(dib >> 9 * n));
      end
    end
    if (RSTB) word_b <= 36'b0;
    else if (CEB && (!WEB || WRITEMODE_B == "READBEFOREWRITE")) word_b <= word(DATA_WIDTH_B, adb);
  end

  wire [35:0] read_a = RSTA && RESETMODE == "ASYNC" ? 36'b0 : word_a;
  wire [35:0] read_b = RSTB && RESETMODE == "ASYNC" ? 36'b0 : word_b;
  // At width 36 what port B reads leaves by both.
  wire [17:0] doa = DATA_WIDTH_B == 36 ? read_b[17:0] : read_a[17:0];
  wire [17:0] dob = DATA_WIDTH_B == 36 ? read_b[35:18] : read_b[17:0];
  assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2,
      DOA1, DOA0} = doa;
  assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2,
      DOB1, DOB0} = dob;
endmodule
