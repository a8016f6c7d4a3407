//! The composed machine and the machine as one RTL top do the same in every clock cycle.

mod cenju3;
mod cppacs;
mod dimmnet1;
mod emx;
