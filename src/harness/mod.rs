//! What drives any machine: simulated memory, streams, checkers, host programs on simulated time.

pub mod agenda;
pub mod axi;
pub mod backend;
pub mod check;
pub mod clock;
pub mod cpu;
pub mod exec;
pub mod linear;
pub mod memory;
pub mod params;
pub mod seed;
pub mod stream;
pub mod sync;
pub mod wave;
