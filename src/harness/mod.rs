//! What drives any machine: simulated memory, streams, checkers, host programs on simulated time, and the machine of
//! verilated units.

pub mod agenda;
pub mod asm;
pub mod axi;
pub mod backend;
pub mod check;
pub mod clock;
pub mod cpu;
pub mod event;
pub mod exec;
pub mod fault;
pub mod faults;
pub mod host_port;
pub mod linear;
pub mod machine;
pub mod memory;
pub mod names;
pub mod params;
pub mod seed;
pub mod stream;
pub mod sync;
pub mod wave;
