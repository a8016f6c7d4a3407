//! Small units on which the two crates are tested.

include!(concat!(env!("OUT_DIR"), "/units.rs"));
