//! The verilated units that only testbenches need. One test target per machine stands in `tests/`.

/// The group "bench" of `rtl/units.toml`: one struct for each unit and parameter set.
pub mod rtl {
    include!(concat!(env!("OUT_DIR"), "/units.rs"));
}
