// Written by `rtl-flow docs`; do not edit.
// SPDX-License-Identifier: MIT OR Apache-2.0
// Paths from this file: `verilator -F` reads it so.
../ap1000p/ap1000p_bif_pkg.sv
../ap1000p/ap1000p_bif.sv
../common/fifo.sv
../common/stream_rules.sv
