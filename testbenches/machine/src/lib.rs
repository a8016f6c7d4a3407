//! Machines as one RTL top. The composed machines must agree with them in every event: Cenju-3 of 16 PEs, and of 3 on a
//! switch of 4 ports; DIMMnet-1 of 4 nodes; EM-4 of 5 PEs and EM-X of 20; CP-PACS of 2x2x2 nodes. The package is
//! separate because its models take minutes to compile.

/// The group "top" of `rtl/units.toml`.
pub mod rtl {
    include!(concat!(env!("OUT_DIR"), "/units.rs"));
}

pub mod cenju3;
pub mod cppacs;
pub mod dimmnet1;
pub mod emx;
mod part;
