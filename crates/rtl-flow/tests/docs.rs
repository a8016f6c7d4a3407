//! `rtl-flow docs` names a page that differs from RTL, proofs and lists, and rewrites it.

use std::fs;
use std::path::Path;
use std::process::Command;

const FIFO: &str = "// A buffer. It has words.
module fifo #(
    parameter int W = 4,  // bits
    parameter int Depth = 2
) (
    input  logic clk_i,
    input  logic [W-1:0] in_data_i
);
endmodule
";
const UNITS: &str = "library = [\"common\"]
[[unit]]
name = \"fifo\"
group = \"bench\"
[[unit.set]]
name = \"Fifo\"
metadata.rtl_only = \"too small\"
";
const PROOFS: &str = "[[proof]]
name = \"fifo\"
mode = \"bounded\"
depth = 9
cover = 5
sets = [{ W = 2, Depth = 3 }, { W = 1, Depth = 3 }]
";

/// The output of `rtl-flow docs` in a folder.
fn docs(folder: &Path, more: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_rtl-flow"))
        .arg("docs")
        .args(more)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    (output.status.success(), said.concat())
}

#[test]
fn a_stale_table_is_named_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let page = |name| {
        format!("# A page\n\n<!-- begin {name}: `rtl-flow docs` writes it -->\n<!-- end {name} -->\n\nThe end.\n")
    };
    for (file, text) in [
        ("rtl/units.toml", UNITS),
        ("rtl/common/fifo.sv", FIFO),
        ("rtl/README.md", &page("modules of common")),
        ("formal/common/proofs.toml", PROOFS),
        (
            "formal/common/prove_fifo.sv",
            "// `fifo`: order | content.\n//\n// More.\nmodule prove_fifo;\nendmodule\n",
        ),
        ("docs/formal.md", &page("proofs")),
        ("docs/gate.md", &page("sets that stay RTL")),
    ] {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let (passed, said) = docs(folder.path(), &["--check"]);
    assert!(
        !passed && said.contains("rtl/README.md: modules of common is stale"),
        "{said}"
    );
    assert!(
        said.contains("docs/formal.md: proofs is stale; `rtl-flow docs`"),
        "{said}"
    );
    let (passed, said) = docs(folder.path(), &[]);
    assert!(
        passed && said.contains("5 tables, 0 lists of files; 3 were stale"),
        "{said}"
    );
    let read = |page: &str| fs::read_to_string(folder.path().join(page)).unwrap();
    let row = "\n| `fifo` | A buffer. | `W`, `Depth` | `clk_i` |\n\n<!-- end modules of common -->\n\nThe end.\n";
    assert!(read("rtl/README.md").ends_with(row), "{}", read("rtl/README.md"));
    let row = "| `fifo` | `fifo`: order \\| content. | for 9 steps from reset | `Depth` 3; `W` 1, 2 |\n";
    assert!(read("docs/formal.md").contains(row), "{}", read("docs/formal.md"));
    assert!(read("docs/gate.md").contains("| `Fifo` | too small |\n"));
    assert!(docs(folder.path(), &["--check"]).0, "it was written");
    fs::write(folder.path().join("docs/gate.md"), "# A page\n").unwrap();
    let (passed, said) = docs(folder.path(), &[]);
    assert!(
        !passed && said.contains("docs/gate.md: the two lines around a generated table"),
        "{said}"
    );
}

/// A folder with a top that needs another module.
#[test]
fn lists_of_files_follow_the_rtl() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "rtl/units.toml",
        "library = [\"common\", \"net\"]\nlists = [\"net/units.toml\"]\n",
    );
    write("rtl/net/units.toml", "[metadata]\ntops = [\"switch\"]\n");
    write("formal/common/proofs.toml", PROOFS);
    write(
        "formal/common/prove_fifo.sv",
        "// `fifo`: order.\nmodule prove_fifo;\nendmodule\n",
    );
    write("rtl/common/fifo.sv", FIFO);
    write("rtl/net/ways_pkg.sv", "// Ways.\npackage ways_pkg;\nendpackage\n");
    let switch = |what| format!("// A \"switch\". It has ways.\nmodule switch;\n  {what}\nendmodule\n");
    write("rtl/net/switch.sv", &switch("import ways_pkg::*; fifo u_fifo ();"));
    let (passed, said) = docs(folder.path(), &["--check"]);
    assert!(
        !passed && said.contains("rtl/net/net.core: the whole file is stale"),
        "{said}"
    );
    let (passed, said) = docs(folder.path(), &[]);
    assert!(passed && said.contains("4 lists of files; 4 were stale"), "{said}");
    let lines = |file: &str| {
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        lines("rtl/net/switch.f")[3..],
        ["../net/ways_pkg.sv", "../net/switch.sv", "../common/fifo.sv"]
    );
    let core = lines("rtl/net/net.core");
    assert_eq!(core[0], "CAPI=2:");
    for line in [
        "- tsunagi:rtl:common:0.1.0",
        "- ways_pkg.sv",
        "lint_switch:",
        "description: \"lint: A 'switch'.\"",
    ] {
        assert!(core.iter().any(|own| own == line), "{line} in {core:#?}");
    }
    assert!(lines("Bender.yml").contains(&"- rtl/common/fifo.sv".to_owned()));
    write("rtl/net/switch.sv", &switch("import ways_pkg::*;"));
    let (passed, said) = docs(folder.path(), &["--check"]);
    assert!(
        !passed && said.contains("rtl/net/switch.f: the whole file is stale"),
        "{said}"
    );
    assert!(
        said.contains("rtl/net/net.core") && !said.contains("Bender.yml"),
        "{said}"
    );
}

/// The pages of this workspace.
#[test]
fn no_table_here_is_stale() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (passed, said) = docs(&workspace, &["--check"]);
    assert!(passed && said.contains("none stale"), "{said}");
}
