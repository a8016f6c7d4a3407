// Written by `rtl-flow docs`; do not edit.
// SPDX-License-Identifier: MIT OR Apache-2.0
// Paths from this file: `verilator -F` reads it so.
../emx/emx_pkg.sv
../emx/emx_place_pkg.sv
../emx/emx_machine.sv
../emx/emx_pe.sv
../emx/emx_switch.sv
../emx/emx_route.sv
../emx/emx_core.sv
../emx/emx_regs.sv
../net/cut_through.sv
../emx/emx_input.sv
../emx/emx_matching.sv
../emx/emx_execute.sv
../emx/emx_output.sv
../emx/emx_memory.sv
../net/cut_through_input.sv
../net/arbiter_lru.sv
../emx/emx_public.sv
../emx/emx_queue.sv
../emx/emx_decode.sv
../emx/emx_alu.sv
../common/fifo.sv
../common/stream_rules.sv
