//! Verilates what only testbenches need: the group "bench" of `rtl/units.toml`.

fn main() {
    verilated_build::Builder::from_toml("../rtl/units.toml")
        .groups(&["bench"])
        .beside("::tsunagi::rtl", &["machine"])
        .build();
}
