//! The verilated units that `tsunagi` itself runs: the group "machine" of `rtl/units.toml`, one struct for each unit
//! and parameter set.

include!(concat!(env!("OUT_DIR"), "/units.rs"));
