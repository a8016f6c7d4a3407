#![doc = include_str!("README.md")]

pub mod agenda;
pub mod asm;
pub mod axi;
pub mod backend;
pub mod bench;
pub mod check;
pub mod clock;
pub mod cpu;
pub mod event;
pub mod exec;
pub mod fault;
pub mod faults;
pub mod host_port;
mod ids;
pub mod lane;
pub mod linear;
pub mod machine;
pub mod memory;
pub mod names;
pub mod params;
pub mod seed;
pub mod stream;
pub mod sync;
pub mod wave;

pub use ids::{Addr, ByteLen, Cycle, NodeId, Picos};
