// Written by `rtl-flow docs`; do not edit.
// SPDX-License-Identifier: MIT OR Apache-2.0
// Paths from this file: `verilator -F` reads it so.
../common/dma_read.sv
../common/command_queue.sv
../common/fifo.sv
../common/mem_read_rules.sv
../common/stream_rules.sv
