//! Crossbars, omega network, the switches of Cenju-3 and DIMMnet-1 and the torus's router against the golden switch;
//! barrier tree and broadcast bus against theirs.

mod any;
mod broadcast_bus;
mod cenju3_switch;
mod crossbar;
mod crossbar_multicast;
mod dimmnet1_switch;
mod hxb;
mod omega;
mod switch;
mod sync_tree;
mod torus_router;
mod waves;
