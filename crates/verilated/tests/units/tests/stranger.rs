//! The two crates in a stranger's hands: a crate outside of the checkout with its own Verilog, and the packaged crates.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Verilog as many write it: widths are whatever they become.
const QUEUE: &str = "module byte_queue #(
    parameter DEPTH = 12
) (
    input clk,
    input rst,
    input push,
    input [7:0] in_byte,
    input pop,
    output [7:0] out_byte,
    output reg [3:0] level,
    output reg [7:0] sum
);
  reg [7:0] memory[DEPTH-1:0];
  reg [3:0] head, tail;
  assign out_byte = memory[tail];
  always @(posedge clk) begin
    if (push) memory[head] <= in_byte;
    if (push) head <= head == DEPTH - 1 ? 0 : head + 1;
    if (pop) tail <= tail == DEPTH - 1 ? 0 : tail + 1;
    level <= level + push - pop;
    if (push) sum <= sum + {in_byte, 1'b0};
    if (rst) begin
      head  <= 0;
      tail  <= 0;
      level <= 0;
      sum   <= 0;
    end
  end
endmodule
";

const LIST: &str = r#"
[[unit]]
name = "byte_queue"
group = "all"
files = ["byte_queue.v"]
clocks = ["clk"]
"#;

const MAIN: &str = r#"
include!(concat!(env!("OUT_DIR"), "/units.rs"));

fn main() {
    let dut = ByteQueue::new(&verilated::Context::random(1));
    dut.rst.set(1);
    dut.rise(1);
    dut.rst.set(0);
    dut.push.set_bool(true);
    for byte in 1..=9 {
        dut.in_byte.set(byte);
        dut.rise(1);
    }
    dut.push.set(u8::from(!dut.push.is_set()));
    dut.pop.set(1);
    dut.rise(1);
    println!("{} bytes, then {}, sum {}", dut.level.get(), dut.out_byte.get(), dut.sum.get());
}
"#;

fn workspace() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../..")
        .canonicalize()
        .expect("it is there")
}

/// Cargo, without network. Its folder is shared with other tests, so the dependencies of the crates are compiled once.
fn cargo(folder: &Path, arguments: &[&str]) -> Output {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(arguments)
        .current_dir(folder)
        .env("CARGO_NET_OFFLINE", "true");
    cargo.env(
        "CARGO_TARGET_DIR",
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("package"),
    );
    cargo.output().expect("cargo starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A crate of somebody's own, with these files beside its manifest and the lock of the checkout.
fn project(dependencies: &str, files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().canonicalize().expect("it is there");
    assert!(!path.starts_with(workspace()), "{} is in the checkout", path.display());
    let manifest =
        format!("[package]\nname = \"your-rtl\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n{dependencies}");
    let lock = fs::read_to_string(workspace().join("Cargo.lock")).expect("it is there");
    for (file, text) in [("Cargo.toml", &*manifest), ("Cargo.lock", &*lock)].iter().chain(files) {
        let file = path.join(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, text).expect("written");
    }
    folder
}

fn stranger() -> TempDir {
    let crates = workspace().join("crates");
    let dependencies = format!(
        "[dependencies]\nverilated = {{ path = {:?} }}\n[build-dependencies]\nverilated-build = {{ path = {:?} }}\n",
        crates.join("verilated"),
        crates.join("verilated-build")
    );
    let build = "fn main() {\n    verilated_build::Builder::from_toml(\"units.toml\").build();\n}\n";
    let files = [
        ("build.rs", build),
        ("units.toml", LIST),
        ("byte_queue.v", QUEUE),
        ("src/main.rs", MAIN),
    ];
    project(&dependencies, &files)
}

/// What stands between two texts.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let rest = text
        .split_once(begin)
        .unwrap_or_else(|| panic!("no `{begin}` in {text}"))
        .1;
    rest.split_once(end).unwrap_or_else(|| panic!("no `{end}` in {rest}")).0
}

/// The project of the README's section, copied as it stands there; only the folder of the checkout is filled in.
#[test]
fn the_readmes_own_project_is_one() {
    let readme = fs::read_to_string(workspace().join("README.md")).expect("it is there");
    let section = between(&readme, "## In your own project", "\n## ");
    let checkout = workspace();
    let place = checkout.to_str().expect("UTF-8");
    let dependencies = between(section, "```toml\n[dep", "```").replace("…/tsunagi", place);
    let build = format!("fn main() {{ {} }}\n", between(section, "`build.rs` calls `", "`"));
    let result = between(section, "includes its result:\n`", "`");
    let list = format!("[[unit]]\n{}", between(section, "```toml\n[[unit]]\n", "```"));
    let test = between(section, "```rust\n", "```");
    let verilog = fs::read_to_string(checkout.join("examples/your_rtl/rtl/reverse.v")).expect("it is there");
    let allowed = "allow = [\"lint\"]\n";
    let files = [
        ("build.rs", &*build),
        ("src/lib.rs", result),
        ("units.toml", &list.replace(allowed, "")),
        ("rtl/reverse.v", &verilog),
        ("tests/reverse.rs", test),
    ];
    let folder = project(&format!("[dep{dependencies}"), &files);
    let output = cargo(folder.path(), &["test", "--quiet"]);
    let said = text(&output.stderr);
    let mend = "`allow = [\"WIDTHTRUNC\"]`";
    assert!(!output.status.success() && said.contains(mend), "no mend in: {said}");
    assert!(list.contains(allowed), "{list}");
    fs::write(folder.path().join("units.toml"), &list).expect("written");
    let output = cargo(folder.path(), &["test", "--quiet", "--test", "reverse"]);
    let said = text(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        text(&output.stderr)
    );
}

/// Nothing in its folder, or above it, says where Verilator is: `verilated` does.
#[test]
fn a_crate_outside_of_the_checkout_puts_its_verilog_under_test() {
    let folder = stranger();
    let output = cargo(folder.path(), &["run", "--quiet"]);
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("byte_queue.v:21:"), "{said}");
    let named = said
        .lines()
        .find_map(|line| line.split('`').find(|part| part.starts_with("allow = [")));
    let named = named.unwrap_or_else(|| panic!("no mend in: {said}"));
    fs::write(folder.path().join("units.toml"), format!("{LIST}{named}\n")).expect("written");
    let output = cargo(folder.path(), &["run", "--quiet"]);
    assert_eq!(
        text(&output.stdout),
        "8 bytes, then 2, sum 90\n",
        "{}",
        text(&output.stderr)
    );
}

/// A file of a package.
fn packed(package: &Path, file: &str) -> String {
    let mut tar = Command::new("tar");
    let output = tar
        .args(["--extract", "--gzip", "--to-stdout", "--file"])
        .arg(package)
        .arg(file)
        .output();
    let output = output.expect("tar runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn the_crates_can_be_packaged() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = folder.path().to_str().expect("UTF-8");
    let packages = ["package", "-p", "verilated-build", "-p", "verilated"];
    let more = ["--no-verify", "--allow-dirty", "--target-dir", target];
    let output = cargo(&workspace(), &[&packages[..], &more].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    for name in ["verilated-build", "verilated"] {
        let package = folder
            .path()
            .join(format!("package/{name}-{}.crate", env!("CARGO_PKG_VERSION")));
        assert!(package.is_file(), "{}", package.display());
        let manifest = packed(&package, &format!("{name}-{}/Cargo.toml", env!("CARGO_PKG_VERSION")));
        for said in [
            "license = \"MIT OR Apache-2.0\"",
            "keywords = [",
            "\"verilator\"",
            "categories = [",
        ] {
            assert!(manifest.contains(said), "{name} does not say {said}: {manifest}");
        }
    }
}
