// Written by `rtl-flow docs`; do not edit.
// SPDX-License-Identifier: MIT OR Apache-2.0
// Paths from this file: `verilator -F` reads it so.
../common/axil_slave.sv
../common/skid.sv
../common/axi_window.sv
../common/stream_rules.sv
../common/fifo.sv
../common/mem_write_rules.sv
