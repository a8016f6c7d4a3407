//! NEC Cenju-3: golden model, machine, host library.

pub mod host;
pub mod lockstep;
pub mod model;
pub mod packet;
pub mod params;
pub mod recv;
pub mod recv_state;
pub mod regs;
pub mod rtl;
pub mod send;
