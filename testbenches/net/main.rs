//! Crossbar, omega network, Cenju-3's switch and the torus's router against the golden switch; barrier tree and broadcast bus against theirs.

// Its benches are to stand on a kit, and are not split before.
#![allow(clippy::too_many_lines)]

mod any;
mod bench;
mod cells;
mod crossbar;
mod omega;
mod switch;
mod torus;
mod twins;
mod waves;
