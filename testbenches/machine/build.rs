//! Verilates the machine of 16 PEs as one top: the group "top" of `rtl/units.toml`.

fn main() {
    verilated_build::Builder::from_toml("../../rtl/units.toml")
        .groups(&["top"])
        .build();
}
