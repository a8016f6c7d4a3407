//! Crossbar, omega network, Cenju-3's switch and the torus's router against the golden switch.

mod any;
mod bench;
mod crossbar;
mod omega;
#[path = "../../tests/property/mod.rs"]
mod property;
mod switch;
mod torus;
mod twins;
