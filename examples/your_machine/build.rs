fn main() {
    verilated_build::Builder::from_toml("units.toml").build();
}
