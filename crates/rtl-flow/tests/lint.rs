//! Each tool of the lint finds its kind of error, in a module that is otherwise clean.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use verilated_build::Toolchain;

const CLEAN: &str = "// A register.
module block (
    input logic clk_i,
    input logic [3:0] data_i,
    output logic [3:0] data_o
);
  logic [3:0] data_q;
  always_ff @(posedge clk_i) data_q <= data_i;
  assign data_o = data_q;
endmodule
";

/// A slice of an array of structs, which Yosys and Verilator treat differently.
const SLICE: &str = "// A slice.
module block (
    input logic clk_i,
    input logic [7:0] data_i,
    output logic [7:0] data_o
);
  typedef struct packed {
    logic [1:0] high;
    logic [1:0] low;
  } pair_t;
  pair_t [2:0] pairs_q;
  always_ff @(posedge clk_i) pairs_q <= {data_i[3:0], data_i};
  register u_register (
      .clk_i,
      .data_i(pairs_q[2:1]),
      .data_o
  );
endmodule
module register (
    input logic clk_i,
    input logic [7:0] data_i,
    output logic [7:0] data_o
);
  always_ff @(posedge clk_i) data_o <= data_i;
endmodule
";

const PROOF: &str = "// A proof.
module prove_block (
    input logic clk_i
);
  block dut (.clk_i);
endmodule
";

const UNITS: &str = "library = [\"rtl\"]\n[[unit]]\nname = \"block\"\ngroup = \"bench\"\nclocks = [\"clk_i\"]\n";

fn lint(source: &str, proof: &str, units: &str) -> Output {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap();
    let set = |name| env::var_os(name);
    let tools = Toolchain::find_in(
        set("VERILATOR_ROOT").as_deref(),
        Some(&workspace),
        set("PATH").as_deref(),
    );
    // Not in the system's temporary folder, which YoWASP shadows with its own.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::create_dir(folder.path().join("rtl")).unwrap();
    fs::write(folder.path().join("rtl/block.sv"), source).unwrap();
    fs::create_dir_all(folder.path().join("formal/some")).unwrap();
    fs::write(folder.path().join("formal/some/prove_block.sv"), proof).unwrap();
    fs::write(folder.path().join("units.toml"), units).unwrap();
    Command::new(env!("CARGO_BIN_EXE_rtl-flow"))
        .args(["lint", "--units", "units.toml", "--bin"])
        .arg(workspace.join(".tools/venv/bin"))
        .env("VERILATOR_ROOT", tools.unwrap_or_else(|e| panic!("{e}")).root())
        .current_dir(folder.path())
        .output()
        .unwrap()
}

/// The lint's output for the clean module with one line changed.
fn finding(line: &str, twin: &str) -> String {
    assert!(CLEAN.contains(line));
    let output = lint(&CLEAN.replace(line, twin), PROOF, UNITS);
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_clean_module_passes() {
    let output = lint(CLEAN, PROOF, UNITS);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn verilator_names_file_and_line() {
    let said = finding("data_q <= data_i", "data_q <= data_i[2:0]");
    assert!(
        said.contains("verilator -Wall over block") && said.contains("rtl/block.sv:8"),
        "{said}"
    );
}

/// An unused bit and a wrong width: both are found unless the unit allows them.
#[test]
fn a_warning_that_a_unit_allows_is_none() {
    let source = CLEAN.replace("data_q <= data_i", "data_q <= data_i[2:0]");
    let warnings = ["WIDTHEXPAND", "UNUSEDSIGNAL"];
    for allowed in [0, 1, 2] {
        let output = lint(&source, PROOF, &format!("{UNITS}allow = {:?}\n", &warnings[..allowed]));
        let said = String::from_utf8_lossy(&output.stderr);
        let found = warnings.map(|warning| said.contains(warning));
        assert_eq!(found, [allowed < 1, allowed < 2], "{said}");
        assert_eq!(output.status.success(), allowed == 2, "{said}");
    }
}

#[test]
fn a_latch_is_found() {
    let said = finding(
        "always_ff @(posedge clk_i) data_q <= data_i",
        "always_latch if (clk_i) data_q <= data_i",
    );
    assert!(said.contains("yosys check -assert over block"), "{said}");
}

/// Yosys 0.70 drops what stands before such a cast.
#[test]
fn a_cast_that_is_chosen_inside_a_concatenation_is_found() {
    let said = finding(
        "assign data_o = data_q",
        "assign data_o = {data_q[3], data_q[2] ? 3'(data_q) : 3'd0}",
    );
    assert!(said.contains("rtl/block.sv:9: a cast chosen by `?`"), "{said}");
    let number = CLEAN.replace(
        "assign data_o = data_q",
        "assign data_o = {data_q[3], data_q[2] ? data_q[2:0] : 3'(0)}",
    );
    let output = lint(&number, PROOF, UNITS);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_loop_is_found() {
    let said = finding("assign data_o = data_q", "assign data_o = data_q & ~data_o");
    assert!(said.contains("yosys check -assert over block"), "{said}");
}

#[test]
fn a_use_before_the_declaration_is_found() {
    let declared = "  logic [3:0] data_q;\n  always_ff @(posedge clk_i) data_q <= data_i;\n";
    let late = "  always_ff @(posedge clk_i) data_q <= data_i;\n  logic [3:0] data_q;\n";
    let said = finding(declared, late);
    assert!(
        said.contains("slang over the sources") && said.contains("'data_q' used before its declaration"),
        "{said}"
    );
}

#[test]
fn a_port_that_yosys_pads_is_found() {
    let output = lint(SLICE, PROOF, UNITS);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(1) && said.contains("Resizing cell port block.u_register.data_i from 2 bits to 8"),
        "{said}"
    );
}

#[test]
fn a_format_that_is_not_veribles_is_found_and_can_be_mended() {
    let said = finding("  assign data_o", "      assign  data_o");
    assert!(said.contains("--fix"), "{said}");
}

#[test]
fn a_proof_is_looked_at_too() {
    let output = lint(CLEAN, &PROOF.replace("  block", "   block"), UNITS);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(1) && said.contains("prove_block.sv"),
        "{said}"
    );
}
