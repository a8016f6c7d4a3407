// SPDX-License-Identifier: MIT OR Apache-2.0
// DIMMnet-1 card, inside dimmnet1_bus: what kind of register a word of the registers' range is.
//
// Kinds      `kinds_o` has the place of a register in LUT RAM, the bits that are kept there, and a bit for each kind of
//            register that is treated by itself, in the order in which dimmnet1_regs takes them. The user's page and
//            the header TLB are the host's: `user_i`.
// Latency    none: combinational. The bus decodes a request before it waits, for the registers have no time for it.
// Source     ours: regs.toml.
module dimmnet1_decode (
    input logic [14:3] word_i,
    input logic user_i,
    output logic [40:0] kinds_o
);
  function automatic logic at(input logic [14:3] word, input bit [23:0] offset);
    at = {9'd0, word, 3'd0} == offset;
  endfunction
  // One of 2^(bits) registers from this one.
  function automatic logic among(input logic [14:3] word, input bit [23:0] offset, input int bits);
    among = ({9'd0, word, 3'd0} ^ offset) >> (bits + 3) == '0;
  endfunction

  logic desc, length, windows, rdma, slot, status, system, control, call, timer, count, other;
  logic node, pgid, patience, watchdog, causes, no_upper;
  logic rva, rva_bound, pa_key, pa_frame, flush, header, stop, rx_go, rx_dma, key, rdma_go, build, build_go;
  logic stored, readable, writable;
  assign windows = user_i && at(word_i, dimmnet1_pkg::Windows);
  assign desc = user_i && among(word_i, dimmnet1_pkg::RdmaWhat, 2);
  assign length = user_i && at(word_i, dimmnet1_pkg::RdmaLength);
  assign rdma = user_i && at(word_i, dimmnet1_pkg::Rdma);
  assign slot = user_i && among(word_i, dimmnet1_pkg::Slots, 4);
  assign status = at(word_i, dimmnet1_pkg::Status);
  assign system = among(word_i, dimmnet1_pkg::Node, 3) && !status;
  assign node = at(word_i, dimmnet1_pkg::Node);
  assign pgid = at(word_i, dimmnet1_pkg::Pgid);
  assign patience = at(word_i, dimmnet1_pkg::Patience);
  assign watchdog = at(word_i, dimmnet1_pkg::Watchdog);
  assign causes = at(word_i, dimmnet1_pkg::Mask);
  assign control = at(word_i, dimmnet1_pkg::Control);
  assign call = at(word_i, dimmnet1_pkg::Call);
  assign timer = at(word_i, dimmnet1_pkg::Time);
  assign count = among(word_i, dimmnet1_pkg::Counts, 4);
  assign other = among(word_i, dimmnet1_pkg::Strays, 2);
  assign rva = among(word_i, dimmnet1_pkg::Rvatlb, 2) && word_i[4:3] != 2'd3;
  assign rva_bound = rva && word_i[4:3] == 2'd2;
  assign pa_key = at(word_i, dimmnet1_pkg::Patlb);
  assign pa_frame = at(word_i, dimmnet1_pkg::Patlb + 24'd8);
  assign flush = at(word_i, dimmnet1_pkg::TlbFlush);
  assign header = among(word_i, dimmnet1_pkg::RxHeader, 3) && word_i[5:3] < 3'd6;
  assign stop = at(word_i, dimmnet1_pkg::RxStop);
  assign rx_go = at(word_i, dimmnet1_pkg::RxGo);
  assign rx_dma = at(word_i, dimmnet1_pkg::RxDma);
  assign key = at(word_i, dimmnet1_pkg::RxPage) || at(word_i, dimmnet1_pkg::RdmaKey);
  assign rdma_go = at(word_i, dimmnet1_pkg::RdmaGo);
  assign build = among(word_i, dimmnet1_pkg::Build, 2);
  assign build_go = at(word_i, dimmnet1_pkg::BuildGo);
  assign stored = desc || system || rx_dma || build;
  assign readable = stored || windows || rdma || slot || status || timer || count || other || header || stop || key;
  // Without those that are refused now and then.
  assign writable = (stored && !length) || slot || status || rva || pa_key || pa_frame || flush || build_go;

  logic [3:0] place;
  logic [5:0] keeps;  // bits 63 to 36, 35 to 32, 31 to 16, 15 to 7, 6 to 4, 2 to 0
  assign place = desc ? {2'b00, word_i[4:3]} : build ? {2'b01, word_i[4:3]} : rx_dma ? 4'd13 : {1'b1, word_i[5:3]};
  assign no_upper = node || pgid || patience || causes || control;
  assign keeps = {
    !(no_upper || watchdog || rx_dma || length),
    !(no_upper || watchdog || rx_dma),
    !no_upper,
    !(causes || control),
    !control,
    !rx_dma
  };
  assign kinds_o = {
    place,
    keeps,
    desc,
    windows,
    rdma,
    slot,
    status,
    node,
    pgid,
    patience,
    watchdog,
    causes,
    control,
    call,
    timer,
    count,
    other,
    rva,
    rva_bound,
    pa_key,
    pa_frame,
    flush,
    stop,
    rx_dma,
    key,
    build_go,
    stored,
    // These say whether an access is refused.
    length,
    header,
    rx_go,
    rdma_go,
    readable,
    writable
  };
endmodule
