//! Verilates what `tsunagi` itself runs: the group "machine" of `rtl/units.toml`.

fn main() {
    verilated_build::Builder::from_toml("rtl/units.toml")
        .groups(&["machine"])
        .build();
}
