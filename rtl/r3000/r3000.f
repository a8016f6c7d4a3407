// Written by `rtl-flow docs`; do not edit.
// SPDX-License-Identifier: MIT OR Apache-2.0
// Paths from this file: `verilator -F` reads it so.
../r3000/r3000_pkg.sv
../r3000/r3000.sv
../r3000/r3000_decode.sv
../r3000/r3000_alu.sv
../r3000/r3000_hi_lo.sv
../r3000/r3000_lanes.sv
../r3000/r3000_system.sv
../r3000/r3000_sram.sv
