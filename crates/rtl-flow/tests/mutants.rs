//! `rtl-flow mutants` names the changes that no test notices, and an unnecessary excuse.

mod package;

use package::Package;

const LINE: &str = "left <= n;";
/// What makes no difference, for `quotient` gets all its bits anew, and `count` has at most one bit set.
const SAME: [(&str, &str); 3] = [
    ("quotient <= 0;", "`quotient <= 0;` is deleted"),
    ("quotient <= 0;", "`0` becomes `(0 ^ 1)`"),
    ("end else if (count[W:1] != 0) begin", "`0` becomes `(0 ^ 1)`"),
];

#[test]
fn changes_that_no_test_notices_are_named() {
    let package = Package::new(LINE, LINE);
    // What only an assertion looks at has no mutants.
    let assertion = "  always @(posedge clk) if (!rst) assert (done == 0 || done == 1);\nendmodule";
    let source = package.read("rtl/divider.v");
    package.write("rtl/divider.v", &source.replace("endmodule", assertion));
    let run = |more: &[&str]| package.run(&["mutants", "--count", "1000"], "units.toml", more);
    let (passed, said) = run(&["--json", "mutants.jsonl"]);
    assert!(!passed && said.contains("mutants: 33 of 33 in 1 files"), "{said}");
    for (_, change) in SAME {
        assert!(
            said.contains(&format!("{change}:\n1 tests see a difference, and pass")),
            "{said}"
        );
    }
    let lines = package.read("mutants.jsonl");
    let count = |fate: &str| lines.lines().filter(|line| line.contains(fate)).count();
    assert_eq!(
        [count("{\"test\":\"it_divides\"}"), count("{\"alive\":1}")],
        [30, 3],
        "{lines}"
    );

    let excuse = |line: &str, change: &str, why: &str| {
        let place = format!("[[mutant]]\nfile = \"rtl/divider.v\"\nline = \"{line}\"\n");
        format!("{place}change = \"{change}\"\nwhy = \"{why}\"\n")
    };
    let excuses: String = SAME
        .iter()
        .map(|(line, change)| excuse(line, change, "it is the same"))
        .collect();
    package.write("mutants.toml", &excuse(LINE, "`left <= n;` is deleted", ""));
    let (passed, said) = run(&[]);
    assert!(!passed && said.contains("say why nothing can notice"), "{said}");
    package.write(
        "mutants.toml",
        &(excuses.clone() + &excuse(LINE, "`left` becomes `right`", "it is")),
    );
    let (passed, said) = run(&[]);
    assert!(
        !passed && said.contains("which is of no mutant of rtl/divider.v"),
        "{said}"
    );
    package.write("mutants.toml", &excuses);
    let (passed, said) = run(&[]);
    assert!(
        passed && said.contains("30 of 33 noticed, the others excused (3)"),
        "{said}"
    );
    package.write(
        "mutants.toml",
        &(excuses + &excuse(LINE, "`left <= n;` is deleted", "it is not")),
    );
    let (passed, said) = run(&[]);
    assert!(!passed && said.contains("delete the excuse"), "{said}");

    // A test that sees nothing of the quotient.
    let test = package.read("tests/divider.rs");
    package.write("tests/divider.rs", &test.replace("n / d", "dut.quotient.get()"));
    let (passed, said) = run(&["--shard", "1/1"]);
    assert!(
        !passed && said.contains("`quotient <= {quotient[W-2:0], fits};` is deleted:\n1 tests see"),
        "{said}"
    );
}
