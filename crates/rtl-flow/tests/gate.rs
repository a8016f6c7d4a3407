//! `rtl-flow gate` runs tests on netlists. The netlist of a good source passes; the netlist of a broken source fails,
//! although the RTL beside it is good.

mod package;

use package::Package;

#[test]
fn a_netlist_of_a_broken_source_is_caught() {
    let package = Package::new("left <= left << 1;", "left <= left;");
    // A test may ask what its models are made of.
    package.write(
        "tests/models.rs",
        "#[test]\nfn they_are_netlists() {\n    assert!(std::env::var_os(\"VERILATED_NETLISTS\").is_some());\n}\n",
    );
    let run = |units, more: &[&str]| package.run(&["gate", "generic"], units, more);
    let (passed, said) = run("units.toml", &[]);
    assert!(passed && said.contains("generic: 1 netlists; 2 tests passed"), "{said}");
    let (passed, said) = run("units.toml", &[]);
    assert!(
        passed && said.contains("is unchanged since it passed") && said.contains("2 tests passed"),
        "{said}"
    );
    let (passed, said) = run("changed/units.toml", &[]);
    assert!(!passed && said.contains("it_divides ... FAILED"), "{said}");
    assert!(said.contains("cargo test over generic netlists"), "{said}");
    let (passed, said) = run("units.toml", &["--unit", "Multiplier"]);
    assert!(!passed && said.contains("no design has such a name"), "{said}");
    let (passed, said) = run("units.toml", &["--", "no_such_test"]);
    assert!(!passed && said.contains("0 tests passed"), "{said}");
}
