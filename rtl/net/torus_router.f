// Written by `rtl-flow docs`; do not edit.
// SPDX-License-Identifier: MIT OR Apache-2.0
// Paths from this file: `verilator -F` reads it so.
../net/torus_router.sv
../net/torus_input.sv
../net/torus_output.sv
../net/torus_route.sv
