// Written by `rtl-flow docs`; do not edit.
// SPDX-License-Identifier: MIT OR Apache-2.0
// Paths from this file: `verilator -F` reads it so.
../net/cut_through.sv
../net/cut_through_input.sv
../net/arbiter_lru.sv
