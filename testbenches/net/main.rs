//! Crossbar, omega network, Cenju-3's switch and the torus's router against the golden switch; barrier tree and
//! broadcast bus against theirs.

mod any;
mod broadcast_bus;
mod cenju3_switch;
mod crossbar;
mod omega;
mod switch;
mod sync_tree;
mod torus_router;
mod waves;
