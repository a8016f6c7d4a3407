// Written by `rtl-flow docs`; do not edit.
// SPDX-License-Identifier: MIT OR Apache-2.0
// Paths from this file: `verilator -F` reads it so.
../cenju3/cenju3_switch.sv
../common/stream_delay.sv
../net/crossbar.sv
../common/stream_gap.sv
../common/fifo.sv
../net/crossbar_arbiter.sv
../net/crossbar_output.sv
../common/skid.sv
../common/stream_rules.sv
