//! Crossbar, omega network and Cenju-3's switch against the golden switch.

mod bench;
mod crossbar;
mod omega;
mod switch;
mod twins;
