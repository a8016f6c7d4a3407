// Written by `rtl-flow docs`; do not edit.
// SPDX-License-Identifier: MIT OR Apache-2.0
// Paths from this file: `verilator -F` reads it so.
../common/axi_bridge.sv
../common/axil_slave.sv
../common/axi_read_master.sv
../common/axi_write_master.sv
../common/skid.sv
../common/axi_window.sv
../common/axi_burst_cut.sv
../common/fifo.sv
../common/stream_rules.sv
../common/mem_write_rules.sv
