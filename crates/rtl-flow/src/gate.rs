//! The testbenches, unchanged, on what Yosys makes of the RTL: generic gates, or the cells of an ECP5.
//!
//! A netlist takes the place of a set's RTL in the build scripts (`VERILATED_NETLISTS`, see `verilated-build`), with the same ports and so
//! the same Rust struct. There are no assertions in it, and what has no reset starts at random where it does in RTL. Broken twins stay RTL:
//! they are there for the checks, not for synthesis.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::synth::Blocks;
use crate::{Entry, Flow, FlowError, Outcome, kept, pool, tools, yosys};

/// Run the testbenches on netlists
#[derive(clap::Args)]
pub struct Args {
    /// The cells; both kinds when none is named
    #[arg(value_enum)]
    cells: Vec<Cells>,
    /// Only make the netlists
    #[arg(long)]
    netlists: bool,
    /// How many netlists are made at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Options for `cargo test`, as `-- --test net crossbar`; without, all testbenches
    #[arg(last = true)]
    cargo: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Cells {
    /// Gates of two inputs, multiplexers and flip-flops: every entry of the list of units
    Generic,
    /// LUTs, carry chains, LUT RAM and block RAM: the entries that synth.toml has figures for
    Ecp5,
}

impl Cells {
    const ALL: [Cells; 2] = [Cells::Generic, Cells::Ecp5];
}

impl fmt::Display for Cells {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Cells::Generic => "generic",
            Cells::Ecp5 => "ecp5",
        })
    }
}

/// The macro that adds jitter to synchronisers, which only a simulation can, and the module that has it. In a set with the macro this
/// module stays RTL, so that the gates around it meet the jitter.
const JITTER: (&str, &str) = ("TSUNAGI_CDC_JITTER", "cdc_sync");

/// Memories of so many words or more stay memories among generic gates, as a RAM macro would.
const RAM_WORDS: u32 = 256;

pub fn run(flow: &Flow, args: &Args) -> Outcome {
    let kinds = if args.cells.is_empty() {
        &Cells::ALL[..]
    } else {
        &args.cells
    };
    let mut lines = Vec::new();
    for &cells in kinds {
        let started = Instant::now();
        let netlists = netlists(flow, cells, args.jobs)?;
        let mut line = format!("rtl-flow gate: {cells}: {netlists}");
        if !args.netlists {
            let passed = test(cells, &args.cargo)?;
            line += &format!("; {passed} tests passed");
        }
        lines.push(format!("{line}, {} s", started.elapsed().as_secs()));
    }
    Ok(lines.join("\n"))
}

/// Where the netlists of a kind are, a file for each set.
fn folder(cells: Cells) -> PathBuf {
    Path::new(yosys::FOLDER).join("gate").join(cells.to_string())
}

/// What the sets of the list of units became.
struct Made {
    netlists: usize,
    /// Sets that stay RTL, and why.
    rtl: Vec<(String, &'static str)>,
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} netlists", self.netlists)?;
        let reasons: BTreeSet<&str> = self.rtl.iter().map(|(_, why)| *why).collect();
        reasons.into_iter().try_for_each(|why| {
            let sets = self.rtl.iter().filter(|rtl| rtl.1 == why).map(|rtl| rtl.0.as_str());
            write!(f, ", RTL as {why}: {}", sets.collect::<Vec<_>>().join(" "))
        })
    }
}

/// Makes the netlists that are not up to date, and removes those of sets that are no more.
fn netlists(flow: &Flow, cells: Cells, jobs: usize) -> Result<Made, Vec<FlowError>> {
    let entries = flow.entries()?;
    let blocks = Blocks::read(&flow.units.path("synth.toml"), &entries)?;
    let mut made = Made {
        netlists: 0,
        rtl: Vec::new(),
    };
    let mut chosen = Vec::new();
    for entry in &entries {
        if entry.top == JITTER.1 && is_jittery(entry) {
            made.rtl.push((entry.name.clone(), "nothing else is in it"));
        } else if cells == Cells::Generic || blocks.of(entry).is_some() {
            chosen.push(entry);
        }
    }
    let folder = folder(cells);
    fs::create_dir_all(&folder).map_err(|e| FlowError::io(&folder, e))?;
    for old in tools::files(&folder, "v")? {
        if !chosen
            .iter()
            .any(|entry| old.file_stem().is_some_and(|name| name == entry.name.as_str()))
        {
            fs::remove_file(&old).map_err(|e| FlowError::io(&old, e))?;
        }
    }
    made.netlists = chosen.len();
    let errors: Vec<FlowError> = pool::each(jobs, chosen, |entry| netlist(flow, cells, entry).err())
        .into_iter()
        .flatten()
        .collect();
    if errors.is_empty() { Ok(made) } else { Err(errors) }
}

fn is_jittery(entry: &Entry) -> bool {
    entry.defines.iter().any(|define| define == JITTER.0)
}

/// Makes one netlist, if it is not what it would become.
fn netlist(flow: &Flow, cells: Cells, entry: &Entry) -> Result<(), FlowError> {
    let (mut read, mut library) = (flow.needs(entry)?, Vec::new());
    if is_jittery(entry) {
        library = read
            .extract_if(.., |path| path.file_stem().is_some_and(|stem| stem == JITTER.1))
            .collect();
    }
    let path = folder(cells).join(format!("{}.v", entry.name));
    let script = script(flow, cells, entry, &read, &library, &path);
    let models = match cells {
        Cells::Generic => String::new(),
        Cells::Ecp5 => ecp5_models(flow)?,
    };
    let mut parts = vec![script.clone(), models.clone()];
    for file in read.iter().chain(&library) {
        parts.push(fs::read_to_string(file).map_err(|e| FlowError::io(file, e))?);
    }
    let mark = format!(
        "// {}\n",
        kept::key(&parts.iter().map(String::as_str).collect::<Vec<_>>())
    );
    if fs::read_to_string(&path).is_ok_and(|text| text.starts_with(&mark)) {
        return Ok(());
    }
    flow.yosys("yosys", &format!("gate/{cells}/{}", entry.name), &script)?;
    let text = fs::read_to_string(&path).map_err(|e| FlowError::io(&path, e))?;
    fs::write(&path, mark + &models + &dressed(&text, &entry.top)).map_err(|e| FlowError::io(&path, e))
}

fn script(flow: &Flow, cells: Cells, entry: &Entry, read: &[PathBuf], library: &[PathBuf], path: &Path) -> String {
    let top = &entry.top;
    let params: String = entry
        .params
        .iter()
        .map(|(name, value)| format!(" -chparam {name} {value}"))
        .collect();
    let mut script = flow.read(read);
    for file in library {
        script += &format!("read_verilog -sv -lib {}\n", file.display());
    }
    script += &format!("log -stdout == {entry}\nhierarchy -check -top {top}{params}\n");
    // What a machine is built of stays a module, so that each is synthesised and compiled once.
    for unit in flow
        .units
        .units
        .iter()
        .filter(|unit| unit.group == "machine" && unit.name != *top)
    {
        script += &format!("setattr -mod -set keep_hierarchy 1 A:hdlname={}\n", unit.name);
    }
    script += &match cells {
        Cells::Generic => format!(
            "synth -flatten -top {top} -run begin:fine\nopt -fast -full\nmemory_map t:$mem_v2 r:SIZE<{RAM_WORDS} %i\n\
             opt -undriven -fine\ntechmap\nopt -fast\nabc -g simple\nopt_clean -purge\n"
        ),
        Cells::Ecp5 => format!("synth_ecp5 -top {top}\n"),
    };
    // One variable a bit: a simulator sees no loop where a vector's bits follow from one another.
    script
        + &format!(
            "check -assert\nsplitnets\nrename -top {top}\nwrite_verilog -noattr {}\n",
            path.display()
        )
}

/// Lets Verilator keep the modules inside the top, as Yosys did.
fn dressed(text: &str, top: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        out.push_str(line);
        out.push('\n');
        if line.starts_with("module ") && !line.starts_with(&format!("module {top}(")) {
            out.push_str("  /* verilator no_inline_module */\n");
        }
    }
    out
}

/// The ECP5's cells as Yosys's own models describe them, and ours of its block RAM, of which Yosys has none.
fn ecp5_models(flow: &Flow) -> Result<String, FlowError> {
    let share = flow.tools.yosys_share()?;
    let mut text = String::from("`define NO_INCLUDES\n");
    for file in [
        share.join("ecp5/common_sim.vh"),
        share.join("ecp5/ccu2c_sim.vh"),
        PathBuf::from("fpga/ecp5/DP16KD.v"),
    ] {
        text += &fs::read_to_string(&file).map_err(|e| FlowError::io(&file, e))?;
    }
    Ok(text)
}

/// Runs the testbenches in a build folder of their own, and says how many tests passed.
fn test(cells: Cells, cargo: &[String]) -> Result<u32, FlowError> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let netlists = std::path::absolute(folder(cells)).map_err(|e| FlowError::io(&folder(cells), e))?;
    let mut command = Command::new(program);
    command.args(["test", "--package", "testbenches", "--package", "testbenches-machine"]);
    command.args(cargo);
    command.env("VERILATED_NETLISTS", netlists);
    command.env("CARGO_TARGET_DIR", format!("target/gate/{cells}"));
    command.stdout(Stdio::piped());
    let broken = |source| FlowError::Program {
        program: "cargo".into(),
        source,
    };
    let mut child = command.spawn().map_err(broken)?;
    let mut passed = 0;
    for line in BufReader::new(child.stdout.take().expect("it is piped")).lines() {
        let line = line.map_err(broken)?;
        passed += passed_in(&line);
        println!("{line}");
    }
    let status = child.wait().map_err(broken)?;
    if !status.success() || passed == 0 {
        return Err(FlowError::Finding {
            tool: "cargo test",
            what: format!("{cells} netlists"),
            text: format!("{passed} tests passed, {status}"),
        });
    }
    Ok(passed)
}

/// How many tests a line of `cargo test` says have passed.
fn passed_in(line: &str) -> u32 {
    let count = line
        .strip_prefix("test result: ")
        .and_then(|rest| rest.split_once(". "))
        .and_then(|(_, rest)| rest.split_once(" passed"));
    count.and_then(|(n, _)| n.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_tests_are_counted() {
        let line = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.61s";
        assert_eq!(passed_in(line), 12);
        assert_eq!(passed_in("test fifo::fifo_lut_ram ... ok"), 0);
    }

    #[test]
    fn only_inner_modules_are_kept() {
        let text = "module fifo(a);\nendmodule\nmodule \\$paramod\\fifo (a);\nendmodule\n";
        let dressed = dressed(text, "fifo");
        let inner = "module \\$paramod\\fifo (a);\n  /* verilator no_inline_module */\nendmodule\n";
        assert_eq!(dressed, format!("module fifo(a);\nendmodule\n{inner}"));
    }
}
