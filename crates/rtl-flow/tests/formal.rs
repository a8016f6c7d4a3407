//! `rtl-flow formal` refuses a false proof: each case is a sound counter with one line changed, in the counter or its
//! proof.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const BLOCK: &str = "module block (
    input logic clk_i,
    input logic rst_i,
    output logic [3:0] count_o
);
  always_ff @(posedge clk_i)
    if (rst_i || count_o == 4'd9) count_o <= '0;
    else count_o <= count_o + 4'd1;
endmodule
";
const PROOF: &str = "module prove_block (
    input logic clk_i,
    input logic rst_i
);
  logic [3:0] count;
  logic started_q = 1'b0;
  block dut (.clk_i, .rst_i, .count_o(count));
  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!started_q) begin
      reset_first : assume (rst_i);
    end else begin
      decimal : assert (count < 4'd10);
      nine : cover (count == 4'd9);
    end
  end
endmodule
";
const PROOFS: &str = "[[proof]]
name = \"block\"
mode = \"induction\"
depth = 2
cover = 13
quick = 1
sets = [{}]
[[proof.twin]]
name = \"one more\"
line = \"if (rst_i || count_o == 4'd9) count_o <= '0;\"
broken = \"if (rst_i || count_o == 4'd10) count_o <= '0;\"
fails = [\"decimal\"]
";
const UNITS: &str = "library = [\"rtl\"]\n[[unit]]\nname = \"block\"\ngroup = \"bench\"\nclocks = [\"clk_i\"]\n";

/// The output for the four files, with every occurrence of `line` changed.
fn formal(line: &str, twin: &str, more: &[&str]) -> Output {
    // Not in the system's temporary folder, which YoWASP shadows with its own.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let files = [
        ("units.toml", UNITS),
        ("rtl/block.sv", BLOCK),
        ("formal/some/prove_block.sv", PROOF),
        ("formal/some/proofs.toml", PROOFS),
    ];
    assert!(files.iter().any(|(_, text)| text.contains(line)));
    for (file, text) in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace(line, twin)).unwrap();
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_rtl-flow"))
        .args(["formal", "--units", "units.toml", "--bin"])
        .arg(
            workspace
                .join(".tools/venv/bin")
                .canonicalize()
                .expect("`make tools` was run"),
        )
        .args(more)
        .current_dir(folder.path())
        .output()
        .unwrap()
}

/// The output of a failure.
fn refused(line: &str, twin: &str, more: &[&str]) -> String {
    let output = formal(line, twin, more);
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_sound_block_passes_and_its_twin_is_caught() {
    for more in [&["--quick"][..], &["--twins"]] {
        let output = formal("module", "module", more);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_counterexample_is_reported_with_its_trace() {
    let said = refused("count_o == 4'd9", "count_o == 4'd10", &[]);
    assert!(said.contains("decimal") && said.contains(".vcd"), "{said}");
}

#[test]
fn what_is_not_inductive_fails() {
    let said = refused("count < 4'd10", "count != 4'd12", &[]);
    assert!(said.contains("decimal") && said.contains("step.vcd"), "{said}");
}

#[test]
fn an_unreached_cover_fails() {
    let said = refused("count == 4'd9)", "count == 4'd11)", &[]);
    assert!(said.contains("nine"), "{said}");
}

#[test]
fn assumptions_that_exclude_each_other_fail() {
    let said = refused("assume (rst_i)", "assume (rst_i && !rst_i)", &[]);
    assert!(said.contains("smtbmc"), "{said}");
}

#[test]
fn a_twin_that_breaks_nothing_fails() {
    let said = refused("4'd10) count_o <=", "4'd8) count_o <=", &["--twins"]);
    assert!(said.contains("HOLDS: decimal"), "{said}");
}

#[test]
fn an_assertion_without_a_twin_fails() {
    let said = refused("decimal :", "dozen : assert (count < 4'd12); decimal :", &["--twins"]);
    assert!(said.contains("no twin breaks `dozen`"), "{said}");
}

#[test]
fn a_stale_twin_or_lemma_is_named_without_a_solver() {
    for (line, other, named) in [
        ("line = \"if (rst_i", "line = \"if (rst", "bring the twin up to date"),
        (
            "4'd10) count_o <=",
            "ten) count_o <=",
            "block-0-one-more/twin/block.sv:7: ERROR",
        ),
        ("[\"decimal\"]", "[\"dozen\"]", "no assertion is called `dozen`"),
    ] {
        let said = refused(line, other, &["--quick"]);
        assert!(said.contains(named), "{said}");
    }
}
