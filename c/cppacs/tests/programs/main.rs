//! Programs in C on the simulated machine: the NAS kernels, programs of PVM, Debian's examples.

mod examples;
mod kernels;
mod pvm;
mod support;
