//! `rtl-flow families` over one small top, with the list of families of this workspace.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A register that a reset clears at once, and that is to begin as zero.
const BLOCK: &str = "// A register.
module block (
    input logic clk_i,
    input logic rst_i,
    input logic [7:0] data_i,
    output logic [7:0] data_o
);
  logic [7:0] data_q = 8'h00;
  always_ff @(posedge clk_i, posedge rst_i)
    if (rst_i) data_q <= '0;
    else data_q <= data_q ^ data_i;
  assign data_o = data_q;
endmodule
";

/// A folder with the block as a top, and with the families; `more` is added to their list.
fn folder(block: &str, more: &str) -> TempDir {
    // Not in the system's temporary folder, which YoWASP shadows with its own.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::create_dir(folder.path().join("blocks")).unwrap();
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let families = fs::read_to_string(workspace.join("rtl/families.toml")).unwrap();
    // Without this workspace's exceptions, which name its own tops.
    let own: Vec<&str> = families
        .split("\n\n")
        .filter(|entry| !entry.starts_with("[[whole]]") && !entry.starts_with("[[refused]]"))
        .collect();
    for (file, text) in [
        (
            "units.toml",
            "library = [\"blocks\"]\nlists = [\"blocks/units.toml\"]\n",
        ),
        ("blocks/units.toml", "[metadata]\ntops = [\"block\"]\n"),
        ("blocks/block.sv", block),
        ("families.toml", &format!("{}\n\n{more}", own.join("\n\n"))),
    ] {
        fs::write(folder.path().join(file), text).unwrap();
    }
    folder
}

/// Whether the command succeeded, and its output.
fn families(folder: &TempDir, more: &[&str]) -> (bool, String) {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/venv/bin");
    let output = Command::new(env!("CARGO_BIN_EXE_rtl-flow"))
        .args(["families", "--units", "units.toml", "--bin"])
        .arg(tools.canonicalize().expect("`make tools` was run"))
        .args(more)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    (output.status.success(), said.concat())
}

#[test]
fn a_top_has_its_size_on_each_family_and_another_size_is_named() {
    let folder = folder(BLOCK, "");
    let (passed, said) = families(&folder, &[]);
    assert!(!passed && said.contains("the sizes of block are others"), "{said}");
    let (passed, said) = families(&folder, &["--record"]);
    assert!(passed, "{said}");
    let recorded = fs::read_to_string(folder.path().join("families.json")).unwrap();
    let recorded: serde_json::Value = serde_json::from_str(&recorded).unwrap();
    for family in ["ECP5", "iCE40", "Xilinx 7", "Gowin"] {
        let size = &recorded["block"][family];
        // One XOR and one flip-flop for each bit.
        assert_eq!(
            *size,
            serde_json::json!({"lut": 8, "ff": 8, "ram": 0, "dsp": 0}),
            "{family}"
        );
    }
    let (passed, said) = families(&folder, &[]);
    assert!(passed && said.contains("1 tops, 4 sizes for 4 families"), "{said}");
    fs::write(
        folder.path().join("blocks/block.sv"),
        BLOCK.replace("^ data_i", "& ~data_i & {8{^data_q}}"),
    )
    .unwrap();
    let (passed, said) = families(&folder, &[]);
    assert!(!passed && said.contains("the sizes of block are others"), "{said}");
}

/// A first value beside the one that the reset gives: a flip-flop of the ECP5 has one value for both.
#[test]
fn a_top_that_a_family_cannot_map_is_named() {
    let twin = BLOCK.replace("= 8'h00;", "= 8'h01;");
    let (passed, said) = families(&folder(&twin, ""), &["--record"]);
    assert!(!passed && said.contains("yosys over block for ECP5"), "{said}");
    assert!(!said.contains("for Xilinx 7"), "{said}");
}

/// The list says what is refused: only that may fail, and it must.
#[test]
fn a_refusal_in_the_list_is_held_to() {
    let refused = |says: &str| {
        format!("[[refused]]\ntop = \"block\"\nfamily = \"ECP5\"\nsays = \"{says}\"\nwhy = \"its first value\"\n")
    };
    let twin = BLOCK.replace("= 8'h00;", "= 8'h01;");
    let known: Vec<String> = ["init", "another reason"]
        .map(|says| families(&folder(&twin, &refused(says)), &[]).1)
        .into();
    assert!(!known[0].contains("block for ECP5"), "{}", known[0]);
    assert!(known[1].contains("yosys over block for ECP5"), "{}", known[1]);
    let (passed, said) = families(&folder(BLOCK, &refused("init")), &[]);
    assert!(
        !passed && said.contains("ECP5 has cells for `block`: delete this refusal"),
        "{said}"
    );
}
