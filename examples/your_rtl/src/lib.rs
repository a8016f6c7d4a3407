//! Somebody else's Verilog under test: the list `units.toml`, the build script of one line, and the test in `tests/`.

include!(concat!(env!("OUT_DIR"), "/units.rs"));
