//! The golden models of the NIC and its formats, by themselves and watching whole machines.

mod lockstep;
mod packet;
mod receiver;
mod sender;
