// Written by `rtl-flow docs`; do not edit.
// SPDX-License-Identifier: MIT OR Apache-2.0
// Paths from this file: `verilator -F` reads it so.
../common/async_fifo.sv
../common/cdc_sync.sv
../common/async_fifo_side.sv
../common/stream_rules.sv
