//! `rtl-flow synth` refuses a loss: each case is a good block with one line changed.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const BLOCK: &str = "module block (
    input logic clk_i,
    input logic rst_i,
    input logic [15:0] data_i,
    output logic [15:0] data_o
);
  logic [15:0] data_q;
  always_ff @(posedge clk_i)
    if (rst_i) data_q <= '0;
    else data_q <= data_q ^ data_i;
  assign data_o = data_q;
endmodule
";
const UNITS: &str =
    "library = [\"rtl\"]\n[[unit]]\nname = \"block\"\ngroup = \"bench\"\nclocks = [\"clk_i\"]\n[[unit.set]]
name = \"Block\"\n";
/// A speed above the block's reach; and an area below its own.
const TARGET: &str = "[unit.set.metadata.synth]\nfmax = { least = 9999 }\nlut_eq = { most = 100, aim = 1 }\n";

/// A folder with the list of units and the block.
fn folder() -> TempDir {
    // Not in the system's temporary folder, which YoWASP shadows with its own.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::create_dir(folder.path().join("rtl")).unwrap();
    fs::write(folder.path().join("units.toml"), format!("{UNITS}{TARGET}")).unwrap();
    fs::write(folder.path().join("rtl/block.sv"), BLOCK).unwrap();
    folder
}

fn synth(folder: &TempDir, more: &[&str]) -> Output {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_rtl-flow"))
        .args(["synth", "--units", "units.toml", "--bin"])
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

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The output for the block with one line changed, after the good one is recorded.
fn refused(line: &str, twin: &str) -> String {
    let folder = folder();
    let landed = synth(&folder, &["--quick", "--record"]);
    assert!(landed.status.success(), "{}", text(&landed.stderr));
    assert!(BLOCK.contains(line));
    fs::write(folder.path().join("rtl/block.sv"), BLOCK.replace(line, twin)).unwrap();
    let output = synth(&folder, &["--quick"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    text(&output.stderr).to_owned()
}

#[test]
fn a_sound_block_lands_and_passes_and_a_missed_target_is_no_error() {
    let folder = folder();
    let landed = synth(&folder, &["--record", "--json", "figures.json"]);
    assert!(landed.status.success(), "{}", text(&landed.stderr));
    let output = synth(&folder, &[]);
    let table = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // One XOR per bit, and the reset in the flip-flop itself.
    let figures: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("figures.json")).unwrap()).unwrap();
    assert_eq!(figures["Block"]["lut_eq"], 16);
    assert_eq!(figures["Block"]["ff"], 16);
    assert_eq!(figures["Block"]["fmax"]["clk_i"].as_array().unwrap().len(), 3);
    assert!(table.contains("MISSED: under 9999 MHz"), "{table}");
    // The slowest path of a missed target is reported.
    assert!(table.contains("Block clk_i:") && table.contains("routing"), "{table}");
    let recorded = fs::read_to_string(folder.path().join("synth.json")).unwrap();
    assert_eq!(
        recorded,
        fs::read_to_string(folder.path().join("figures.json")).unwrap()
    );
}

#[test]
fn a_latch_is_refused() {
    let said = refused("always_ff @(posedge clk_i)\n", "always_latch if (clk_i)\n");
    assert!(said.contains("yosys over block"), "{said}");
}

#[test]
fn a_loop_is_refused() {
    let said = refused("assign data_o = data_q", "assign data_o = data_q & ~data_o");
    assert!(said.contains("yosys over block"), "{said}");
}

#[test]
fn a_second_driver_is_refused() {
    let said = refused(
        "assign data_o = data_q;",
        "assign data_o = data_q;\n  assign data_o = data_i;",
    );
    assert!(said.contains("yosys over block"), "{said}");
}

/// Two LUTs more than sixteen.
#[test]
fn a_block_that_grew_by_an_eighth_is_refused() {
    let said = refused(
        "assign data_o = data_q;",
        "assign data_o = {data_q[15:2], data_q[1] ^ data_q[2], data_q[0] ^ data_q[3]};",
    );
    assert!(said.contains("LUT-eq 18, was 16"), "{said}");
}

/// A design with a target that was synthesised only, or not at all.
#[test]
fn a_target_that_nobody_measured_is_refused() {
    let folder = folder();
    for more in [&["--quick"][..], &["--quick", "--record"], &["--quick"]] {
        let output = synth(&folder, more);
        let said = text(&output.stderr);
        let told = said.contains("block: synth.json has no result for its target; ")
            && said.contains("`rtl-flow synth --record --unit '^Block$'`");
        assert_eq!(told, !output.status.success(), "{said}");
        assert_eq!(told, !more.contains(&"--record"), "{said}");
    }
}

#[test]
fn a_tool_that_is_not_there_is_an_error() {
    let folder = folder();
    let output = Command::new(env!("CARGO_BIN_EXE_rtl-flow"))
        .args(["synth", "--quick", "--units", "units.toml", "--bin", "nowhere"])
        .env("PATH", "")
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("`make tools` installs it"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_mistake_in_what_a_list_says_to_the_tool_is_named_with_its_place() {
    let folder = folder();
    for (list, told) in [
        (
            format!("{UNITS}{}", TARGET.replace("fmax", "fmux")),
            "units.toml: set `Block`: metadata: unknown field `fmux`",
        ),
        (
            format!("{UNITS}metadata.check_only = \" \"\n"),
            "units.toml: set `Block`: say why in `check_only`",
        ),
        (
            format!("{UNITS}[metadata]\nilegal = 1\n"),
            "units.toml: metadata: unknown field `ilegal`",
        ),
        (
            format!("{UNITS}[[unit.set]]\nname = \"Same\"\n{TARGET}"),
            "unit `Same`: Block is the same design",
        ),
    ] {
        fs::write(folder.path().join("units.toml"), list).unwrap();
        let output = synth(&folder, &["--quick"]);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains(told), "{said}");
    }
}
