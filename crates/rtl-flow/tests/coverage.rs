//! `rtl-flow coverage` names a branch that no test takes, and an unnecessary exception.

mod package;

use package::Package;

const LINE: &str = "end else if (count[W:1] != 0) begin";

#[test]
fn a_branch_that_is_never_taken_is_found() {
    let never = "if (start && d == 0) remainder <= n;";
    let package = Package::new(LINE, &format!("{never}\n    {LINE}"));
    let run = |more: &[&str]| package.run(&["coverage"], "units.toml", more);
    let (passed, said) = run(&["--lcov", "divider.info"]);
    assert!(passed && said.contains("in 1 files taken"), "{said}");
    let lcov = package.read("divider.info");
    assert!(
        lcov.contains("SF:rtl/divider.v\n") && lcov.contains("DA:22,5\n"),
        "{lcov}"
    );

    let sound = package.read("rtl/divider.v");
    package.write("rtl/divider.v", &package.read("changed/rtl/divider.v"));
    let (passed, said) = run(&[]);
    let found = format!("coverage over rtl/divider.v:26:5:\n`if` is never taken: {never}");
    assert!(!passed && said.contains(&found), "{said}");
    let list = package.read("units.toml");
    let excuse = |why| {
        let key = "[[metadata.coverage]]\nfile = \"rtl/divider.v\"";
        format!("{list}{key}\nlines = [\"{never}\"]\nwhy = \"{why}\"\n")
    };
    package.write("units.toml", &excuse(""));
    let (passed, said) = run(&[]);
    assert!(!passed && said.contains("units.toml: say why"), "{said}");
    package.write("units.toml", &excuse("nobody divides by zero"));
    let (passed, said) = run(&[]);
    assert!(passed && said.contains("the others excused"), "{said}");
    package.write("rtl/divider.v", &sound);
    let (passed, said) = run(&[]);
    assert!(!passed && said.contains("delete this exception"), "{said}");
}
