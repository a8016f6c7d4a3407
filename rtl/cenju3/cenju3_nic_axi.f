// Written by `rtl-flow docs`; do not edit.
// SPDX-License-Identifier: MIT OR Apache-2.0
// Paths from this file: `verilator -F` reads it so.
../cenju3/cenju3_pkg.sv
../cenju3/cenju3_nic_axi.sv
../common/axi_bridge.sv
../cenju3/cenju3_nic.sv
../common/axil_slave.sv
../common/axi_read_master.sv
../common/axi_write_master.sv
../cenju3/cenju3_regs.sv
../cenju3/cenju3_sender.sv
../cenju3/cenju3_tx.sv
../cenju3/cenju3_rx.sv
../cenju3/cenju3_receiver.sv
../cenju3/cenju3_busy.sv
../common/skid.sv
../common/axi_window.sv
../common/axi_burst_cut.sv
../common/fifo.sv
../cenju3/cenju3_send_queue.sv
../common/dma_read.sv
../common/async_fifo.sv
../common/stream_down.sv
../common/stream_gap.sv
../common/stream_up.sv
../common/fifo_bram.sv
../common/cdc_sync.sv
../cenju3/cenju3_parse.sv
../cenju3/cenju3_store.sv
../common/stream_rules.sv
../common/mem_write_rules.sv
../common/dma_splitter.sv
../common/command_queue.sv
../common/mem_read_rules.sv
../common/async_fifo_side.sv
../common/dma_write.sv
