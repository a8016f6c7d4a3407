// Written by `rtl-flow docs`; do not edit.
// SPDX-License-Identifier: MIT OR Apache-2.0
// Paths from this file: `verilator -F` reads it so.
../cenju3/cenju3_pkg.sv
../cenju3/cenju3_machine.sv
../cenju3/cenju3_nic.sv
../cenju3/cenju3_switch.sv
../cenju3/cenju3_regs.sv
../cenju3/cenju3_sender.sv
../cenju3/cenju3_tx.sv
../cenju3/cenju3_rx.sv
../cenju3/cenju3_receiver.sv
../cenju3/cenju3_busy.sv
../common/stream_delay.sv
../net/crossbar.sv
../common/stream_gap.sv
../cenju3/cenju3_send_queue.sv
../common/fifo.sv
../common/dma_read.sv
../common/async_fifo.sv
../common/stream_down.sv
../common/stream_up.sv
../common/fifo_bram.sv
../common/cdc_sync.sv
../cenju3/cenju3_parse.sv
../cenju3/cenju3_store.sv
../net/crossbar_arbiter.sv
../net/crossbar_output.sv
../common/skid.sv
../common/dma_splitter.sv
../common/stream_rules.sv
../common/command_queue.sv
../common/mem_read_rules.sv
../common/async_fifo_side.sv
../common/dma_write.sv
../common/mem_write_rules.sv
