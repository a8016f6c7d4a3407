//! Verible's lint and format over every file, slang over the library, Verilator's -Wall and Yosys's structural check
//! over every design: each unit with each of its parameter sets, and each board.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};

use verilated_build::Toolchain;

use crate::entries::sv_files;
use crate::fpga::Board;
use crate::{Entry, Flow, FlowError, Outcome, tools, yosys};

/// Lint the RTL: Verible, slang, Verilator, Yosys
#[derive(clap::Args)]
pub struct Args {
    /// Rewrite files in Verible's format instead of checking it
    #[arg(long)]
    fix: bool,
    /// The folder of the proofs, whose files only Verible looks at: the others do so when they are proved
    #[arg(long, default_value = "formal")]
    proofs: PathBuf,
}

/// Everything that was found, not only the first.
pub fn run(flow: &Flow, args: &Args) -> Outcome {
    let mut designs = flow.designs()?;
    for board in Board::all()? {
        designs.push(board.entry(flow)?);
    }
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
    for folder in [args.proofs.clone(), args.proofs.join("model")] {
        written.extend(sv_files(&folder)?);
    }
    errors.extend(verible(flow, args, &written).err());
    let variable = |name| env::var_os(name);
    let verilator = Toolchain::find_in(
        variable("VERILATOR_ROOT").as_deref(),
        Some(Path::new(".")),
        variable("PATH").as_deref(),
    );
    match verilator {
        Ok(verilator) => errors.extend(designs.iter().filter_map(|d| wall(&verilator, flow, d).err())),
        Err(e) => errors.push(e.into()),
    }
    errors.extend(structure(flow, &[of("v"), of("sv")].concat(), &designs).err());
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(format!(
        "rtl-flow lint: {} files, {} designs: clean under Verible, slang, Verilator and Yosys",
        written.len(),
        designs.len()
    ))
}

fn verible(flow: &Flow, args: &Args, files: &[PathBuf]) -> Result<(), FlowError> {
    let format = if args.fix { "--verify=false" } else { "--verify" };
    let mut command = flow.tools.command("verible-verilog-format");
    let output = tools::output(command.args(["--column_limit=120", "--inplace", format]).args(files))?;
    tools::clean(
        "verible-verilog-format (`cargo run -p rtl-flow -- lint --fix` mends it)",
        "the sources",
        &output,
    )?;
    let mut command = flow.tools.command("verible-verilog-lint");
    // 120 columns; parameters are UpperCamelCase without a mandatory explicit storage type for the derived ones.
    let rules = "--rules=line-length=length:120,-explicit-parameter-storage-type";
    let output = tools::output(command.arg(rules).args(files))?;
    tools::clean("verible-verilog-lint", "the sources", &output)
}

/// The strictest front end: a signal that is used before its declaration is an error here, and here only.
fn slang(flow: &Flow) -> Result<(), FlowError> {
    let mut script = "read_slang -j 1 --ast-compilation-only --error-limit=0".to_owned();
    script.extend(flow.units.defines.iter().map(|define| format!(" -D{define}")));
    let include = flow.units.include.iter();
    script.extend(include.map(|folder| format!(" -I{}", flow.units.path(folder).display())));
    script.extend(flow.sources()?.iter().map(|file| format!(" {}", file.display())));
    flow.yosys("slang", "slang", &(script + "\n"))
}

fn wall(verilator: &Toolchain, flow: &Flow, design: &Entry) -> Result<(), FlowError> {
    let mut command = verilator.verilator();
    command.args(["--lint-only", "-Wall", "--top-module", &design.top]);
    command.args(design.allow.iter().map(|name| format!("-Wno-{name}")));
    command.args(design.defines.iter().map(|define| format!("+define+{define}")));
    for folder in flow.units.library.iter().chain(&flow.units.include) {
        command.arg("-y").arg(flow.units.path(folder));
    }
    command.args(design.params.iter().map(|(name, value)| format!("-G{name}={value}")));
    command.args(&design.files);
    tools::clean("verilator -Wall", design.to_string(), &tools::output(&mut command)?)
}

fn structure(flow: &Flow, files: &[PathBuf], designs: &[Entry]) -> Result<(), FlowError> {
    // A port of another width than its signal: Yosys pads it, where the others would have taken the right bits.
    let mut script = "logger -werror \"Resizing cell port\"\n".to_owned();
    script += &(flow.read(files) + "design -save sources\n");
    for design in designs {
        script += "design -load sources\n";
        script += &yosys::elaborate(design);
        script += yosys::CHECK;
    }
    flow.yosys("yosys check -assert", "lint", &script)
}
