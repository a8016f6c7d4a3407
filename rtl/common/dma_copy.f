// Written by `rtl-flow docs`; do not edit.
// SPDX-License-Identifier: MIT OR Apache-2.0
// Paths from this file: `verilator -F` reads it so.
../common/dma_copy.sv
../common/dma_splitter.sv
../common/dma_read.sv
../common/dma_write.sv
../common/fifo.sv
../common/command_queue.sv
../common/mem_read_rules.sv
../common/mem_write_rules.sv
../common/stream_rules.sv
