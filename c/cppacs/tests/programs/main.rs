//! Programs in C on the simulated machine: the native library, the NAS kernels, programs of PVM,
//! Debian's examples.

mod bad_input;
mod examples;
mod kernels;
mod native;
mod pvm;
mod support;
