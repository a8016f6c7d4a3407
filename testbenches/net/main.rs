//! Crossbar, omega network and Cenju-3's switch against the golden switch.

mod any;
mod bench;
mod crossbar;
mod omega;
#[path = "../../tests/property/mod.rs"]
mod property;
mod switch;
mod twins;
