//! The verilated units that only testbenches need, and what their test targets share.

pub mod axi;
pub mod mem;

/// A unit's name: its type's without the path.
pub fn name<T>() -> &'static str {
    let path = std::any::type_name::<T>();
    path.rsplit("::").next().unwrap_or(path)
}

/// The group "bench" of `rtl/units.toml`: one struct for each unit and parameter set.
pub mod rtl {
    include!(concat!(env!("OUT_DIR"), "/units.rs"));
}
