//! The templates of `fpga/constraints`: nextpnr takes the clocks of the LPF; a Tcl with no more than the commands of
//! the vendors' tools, as their manuals have them, takes the SDC and the XDC.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A crossing with the nets that the templates name.
const TOP: &str = "module crossing_top (
    input logic core_clk,
    input logic link_clk,
    input logic rst,
    input logic [3:0] data,
    output logic [3:0] crossed,
    output logic [1:0] full_empty
);
  logic ready, valid;
  always_ff @(posedge link_clk) full_empty <= {!ready, !valid};
  async_fifo #(
      .W(4),
      .Depth(4)
  ) u_fifo (
      .in_clk_i(core_clk),
      .in_rst_i(rst),
      .in_valid_i(1'b1),
      .in_ready_o(ready),
      .in_data_i(data),
      .out_clk_i(link_clk),
      .out_rst_i(rst),
      .out_valid_o(valid),
      .out_ready_i(1'b1),
      .out_data_o(crossed)
  );
endmodule
";
const BOARD: &str = "top = \"crossing_top\"
constraints = \"two_clocks.lpf\"
device = [\"--25k\", \"--package\", \"CABGA256\", \"--lpf-allow-unconstrained\"]
seed = 1
";

fn workspace() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    folder.canonicalize().expect("it is there")
}

fn template(name: &str) -> String {
    fs::read_to_string(workspace().join("fpga/constraints").join(name)).expect("a template")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// `rtl-flow fpga` on a board with these constraints.
fn place(lpf: &str) -> Output {
    // Not in the system's temporary folder, which YoWASP shadows with its own.
    let folder: TempDir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let board = folder.path().join("fpga/crossing");
    fs::create_dir_all(&board).unwrap();
    fs::create_dir_all(folder.path().join("fpga/ecp5")).unwrap();
    let cells = "fpga/ecp5/cells_bb.vlt";
    fs::copy(workspace().join(cells), folder.path().join(cells)).unwrap();
    for (file, text) in [("board.toml", BOARD), ("crossing_top.sv", TOP), ("two_clocks.lpf", lpf)] {
        fs::write(board.join(file), text).unwrap();
    }
    Command::new(env!("CARGO_BIN_EXE_rtl-flow"))
        .args(["fpga", "crossing", "--units"])
        .arg(workspace().join("rtl/units.toml"))
        .arg("--bin")
        .arg(workspace().join(".tools/venv/bin"))
        .current_dir(folder.path())
        .output()
        .unwrap()
}

#[test]
fn nextpnr_has_both_clocks_of_the_lpf() {
    let lpf = template("two_clocks.lpf");
    let output = place(&lpf);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    for clock in ["core_clk", "link_clk"] {
        let line = said.lines().find(|line| line.starts_with(&format!("clock {clock}: ")));
        assert!(
            line.is_some_and(|line| line.ends_with(" MHz of 100.0")),
            "{clock}: {said}"
        );
    }
    assert!(said.contains("crossing core_clk to link_clk"), "{said}");
    let output = place(&lpf.replace("\"link_clk\"", "\"no_clk\""));
    let error = text(&output.stderr);
    assert!(
        !output.status.success() && error.contains("link_clk has no constraint"),
        "{error}"
    );
}

/// The commands that a template may use; each says what it was given. An option that a command lacks is an error.
const VENDOR: &str = r#"
rename unknown {}
proc options {known arguments} {
    foreach word $arguments {
        if {[string match -* $word] && $word ni $known} { error "no option $word" }
    }
}
proc get_clocks {name} { return "clock:$name" }
proc get_cells {args} { options {-hierarchical -filter} $args; return "cells:[lindex $args end]" }
proc get_pins {args} { options {-quiet -of_objects -filter} $args; return "pins:[lindex $args end]" }
proc set_max_delay {args} { options {-from -to -datapath_only} $args; puts "max $args" }
proc set_false_path {args} { options {-from -to -hold} $args; puts "false $args" }
"#;

/// What the template says to such a tool, after the lines that its comment says to put before it.
fn told(template: &str) -> Option<Output> {
    let before = template.lines().find_map(|line| line.strip_prefix("#   "));
    let before = before.expect("a comment with what must be set before");
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("constraints.tcl");
    fs::write(&script, format!("{VENDOR}\n{before}\n{template}")).unwrap();
    Command::new("tclsh").arg(&script).output().ok()
}

/// Both directions have the period of the faster clock.
fn bounded(said: &str, option: &str) -> bool {
    let pairs = [("clock:aclk", "clock:link_aclk"), ("clock:link_aclk", "clock:aclk")];
    let line = |(from, to): (&str, &str)| format!("max {option}-from {from} -to {to} 10.0");
    pairs
        .into_iter()
        .all(|pair| said.lines().any(|said| said == line(pair)))
}

#[test]
fn tcl_takes_the_sdc_and_the_xdc() {
    for (name, option, says) in [
        ("two_clocks.sdc", "", "false -hold -from clock:aclk -to clock:link_aclk"),
        (
            "two_clocks.xdc",
            "-datapath_only ",
            "false -to {pins:REF_PIN_NAME == PRE}",
        ),
    ] {
        let template = template(name);
        let Some(output) = told(&template) else {
            eprintln!("left out: no tclsh on PATH (Debian's package `tcl`)");
            return;
        };
        let said = text(&output.stdout);
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        assert!(
            bounded(said, option) && said.lines().any(|line| line == says),
            "{name}: {said}"
        );
        for (good, broken) in [
            ("set_max_delay", "set_most_delay"),
            ("-from $link_clk", "-form $link_clk"),
        ] {
            let twin = told(&template.replace(good, broken)).expect("it ran before");
            assert!(!twin.status.success(), "{name}: {broken} was taken");
        }
        let twin = told(&template.replace("-from $link_clk", "-from $core_clk")).expect("it ran before");
        assert!(!bounded(text(&twin.stdout), option), "{name}: one direction is enough");
    }
}
