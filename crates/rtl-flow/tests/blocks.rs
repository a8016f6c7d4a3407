//! `rtl-flow blocks` and `docs`: the page of a block follows its source, and its waves are those of its example.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const BLOCK: &str = "// A step. One word.
//
// Latency    one cycle,
//            always.
// Source     ours.
module step #(
    parameter int W = 4  // bits
) (
    input logic clk_i,
    input  logic [   W-1:0][1:0] in_data_i,
    output logic out_last_o  // of a packet
);
  always_ff @(posedge clk_i) out_last_o <= in_data_i[0][0];
endmodule
";
const EXAMPLE: &str = "// A count through a step.
module step_example (
    input logic clk_i,
    input logic rst_i,
    output logic [1:0] count_o,
    output logic out_last_o
);
  logic [3:0] left_q;
  always_ff @(posedge clk_i)
    if (rst_i) {left_q, count_o} <= '0;
    else if (left_q != 4'd4) {left_q, count_o} <= {left_q + 4'd1, count_o + 2'd1};
  step u_step (
      .clk_i,
      .in_data_i({6'd0, count_o}),
      .out_last_o
  );
endmodule
";
/// The count; its bit 0, a cycle later; and a cycle without a change.
const WAVES: &str = "cycle       0   1   2   3   4   5   6
count_o     |0  |1  |2  |3  |0
out_last_o  ________/‾‾‾\\___/‾‾‾\\_______
";

fn workspace() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    folder.canonicalize().expect("it is there")
}

/// Whether the command succeeded, and its output.
fn flow(folder: &Path, args: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_rtl-flow"))
        .args(args)
        .arg("--bin")
        .arg(workspace().join(".tools/venv/bin"))
        .current_dir(folder)
        .output()
        .unwrap();
    let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    (output.status.success(), said.concat())
}

#[test]
fn a_page_follows_its_block_and_waves_are_those_of_the_example() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = |file: &str| folder.path().join(file);
    let write = |file: &str, text: &str| {
        fs::create_dir_all(path(file).parent().unwrap()).unwrap();
        fs::write(path(file), text).unwrap();
    };
    let part = |name: &str| format!("<!-- begin {name}: `rtl-flow docs` writes it -->\n<!-- end {name} -->\n");
    write("rtl/units.toml", "library = [\"common\"]\n");
    write("rtl/common/step.sv", BLOCK);
    write("rtl/examples/step_example.sv", EXAMPLE);
    write("formal/common/proofs.toml", "proof = []\n");
    write("docs/blocks.md", &(part("step") + &part("waves of step_example")));
    let page = || fs::read_to_string(path("docs/blocks.md")).unwrap();
    let (passed, said) = flow(folder.path(), &["docs"]);
    assert!(passed, "{said}");
    for line in [
        "A step.",
        "| **Latency** | one cycle, always. |",
        "| parameter | `W` | `4` | bits |",
        "| input | `in_data_i` | `[W-1:0][1:0]` |  |",
        "| output | `out_last_o` | `1` | of a packet |",
    ] {
        assert!(page().lines().any(|own| own == line), "{line} in {}", page());
    }
    assert!(!page().contains("ours"), "{}", page());
    let (passed, said) = flow(folder.path(), &["blocks", "--check"]);
    assert!(!passed && said.contains("waves of step_example is stale"), "{said}");
    let (passed, said) = flow(folder.path(), &["blocks"]);
    assert!(passed && page().contains(WAVES), "{said}{}", page());
    assert!(flow(folder.path(), &["blocks", "--check"]).0, "it was written");
    // A cycle more.
    let line = "out_last_o <= in_data_i[0][0];";
    assert!(BLOCK.contains(line));
    let late = "{out_last_o, late_q} <= {late_q, in_data_i[0][0]};\n  logic late_q;";
    write("rtl/common/step.sv", &BLOCK.replace(line, late));
    let (passed, said) = flow(folder.path(), &["blocks", "--check"]);
    assert!(!passed && said.contains("waves of step_example is stale"), "{said}");
    write("rtl/examples/stop_example.sv", EXAMPLE);
    let (passed, said) = flow(folder.path(), &["docs", "--check"]);
    assert!(!passed && said.contains("stop_example.sv: its name is not"), "{said}");
}

/// The page of this workspace.
#[test]
fn no_wave_here_is_stale() {
    let (passed, said) = flow(&workspace(), &["blocks", "--check"]);
    assert!(passed, "{said}");
}
