// Written by `rtl-flow docs`; do not edit.
// SPDX-License-Identifier: MIT OR Apache-2.0
// Paths from this file: `verilator -F` reads it so.
../net/crossbar.sv
../net/crossbar_arbiter.sv
../net/crossbar_output.sv
