//! The unchanged testbenches on netlists by Yosys: generic gates, or the cells of an ECP5.
//!
//! A netlist replaces a set's RTL in the build scripts (`VERILATED_NETLISTS`, see `verilated-build`), with the same
//! ports and so the same Rust struct. It has no assertions, and a register without reset starts at random where it does
//! in RTL. Broken twins stay RTL: they test the checks, not the synthesis.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use regex::Regex;

use crate::cargo::Tests;
use crate::pages::{self, Part};
use crate::{Entry, Flow, FlowError, Outcome, kept, lists, pool, yosys};

/// Run the testbenches on netlists
#[derive(clap::Args)]
pub struct Args {
    /// The cells; without it, both kinds
    #[arg(value_enum)]
    cells: Vec<Cells>,
    /// Only the designs with a matching struct name; the others stay RTL
    #[arg(long, value_name = "REGEX")]
    unit: Option<Regex>,
    /// Only make the netlists
    #[arg(long)]
    netlists: bool,
    /// Number of netlists to make at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    #[command(flatten)]
    tests: Tests,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Cells {
    /// Gates of two inputs, multiplexers and flip-flops: every entry of the list of units
    Generic,
    /// LUTs, carry chains, LUT RAM and block RAM: the entries with targets
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

/// The macro that adds jitter to synchronisers, which only a simulation can, and the module with the jitter. In a set
/// with the macro this module stays RTL, so that the gates around it meet the jitter.
const JITTER: (&str, &str) = ("TSUNAGI_CDC_JITTER", "cdc_sync");

/// Memories of at least this many words stay memories among generic gates, as a RAM macro would. As gates, the memories
/// of the queues would be nine tenths of a switch. Among an ECP5's cells they are LUT RAM and block RAM.
const RAM_WORDS: u32 = 16;

/// Nets between gates appear in no wave and need not be kept; they would be most of the code to compile. Bits of a port
/// that follow from one another look like a loop; Yosys has checked that there is none.
const FOR_VERILATOR: &str = "// verilator tracing_off\n// verilator lint_off UNOPTFLAT\n";

/// The group of entries that run nowhere.
const NOT_RUN: &str = "synth";

pub fn run(flow: &Flow, args: &Args) -> Outcome {
    let kinds = if args.cells.is_empty() {
        &Cells::ALL[..]
    } else {
        &args.cells
    };
    let mut lines = Vec::new();
    for &cells in kinds {
        let started = Instant::now();
        let (netlists, rtl) = chosen(flow, args, cells)?;
        if netlists.is_empty() && kinds.len() > 1 {
            continue;
        } else if netlists.is_empty() {
            return Err(FlowError::NoDesign.into());
        }
        let made = pool::each(args.jobs, netlists, |entry| netlist(flow, cells, &entry));
        let (mut files, mut errors) = (Vec::new(), Vec::new());
        for result in made {
            match result {
                Ok(file) => files.push(file),
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut line = format!("rtl-flow gate: {cells}: {} netlists", files.len());
        for entry in rtl {
            let why = entry.metadata.rtl_only.unwrap_or_default();
            line += &format!("; {} stays RTL: {why}", entry.name);
        }
        if !args.netlists {
            let passed = test(cells, args, &files)?;
            line += &format!("; {passed} tests passed");
        }
        lines.push(format!("{line}; {} s", started.elapsed().as_secs()));
    }
    if lines.is_empty() {
        return Err(FlowError::NoDesign.into());
    }
    Ok(lines.join("\n"))
}

/// The entries to make into netlists, and the entries that stay RTL.
fn chosen(flow: &Flow, args: &Args, cells: Cells) -> Result<(Vec<Entry>, Vec<Entry>), FlowError> {
    let mut entries = flow.entries()?;
    entries.retain(|entry| {
        entry.group != NOT_RUN
            && args.unit.as_ref().is_none_or(|regex| regex.is_match(&entry.name))
            && (cells == Cells::Generic || entry.metadata.synth.is_some())
    });
    Ok(entries.into_iter().partition(|entry| entry.metadata.rtl_only.is_none()))
}

/// The sets that stay RTL, for docs/gate.md.
pub fn part(flow: &Flow) -> Result<Part, FlowError> {
    let rows = flow.entries()?.into_iter().filter_map(|entry| {
        let why = entry.metadata.rtl_only?;
        Some([format!("`{}`", entry.name), why])
    });
    Ok(Part {
        page: "docs/gate.md".into(),
        name: "sets that stay RTL".into(),
        text: pages::table(["set", "reason"], rows),
    })
}

/// The folder of this part's files.
fn folder() -> PathBuf {
    Path::new(yosys::FOLDER).join("gate")
}

/// Makes one netlist, unless it is up to date.
fn netlist(flow: &Flow, cells: Cells, entry: &Entry) -> Result<PathBuf, FlowError> {
    let (mut read, mut library) = (flow.needs(entry)?, Vec::new());
    if entry.defines.iter().any(|define| define == JITTER.0) {
        let is_jittery = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == JITTER.1);
        (library, read) = read.into_iter().partition(is_jittery);
    }
    let name = format!("gate/{cells}/{}", entry.name);
    let path = Path::new(yosys::FOLDER).join(format!("{name}.v"));
    let mut script = flow.read(&read);
    for file in &library {
        script += &format!("read_verilog -sv -lib {}\n", file.display());
    }
    script += &(yosys::elaborate(entry) + yosys::CHECK);
    script += &match cells {
        Cells::Generic => format!(
            "synth -run coarse:fine\nopt -fast -full\nmemory_map t:$mem_v2 r:SIZE<{RAM_WORDS} %i\n\
             opt -undriven -fine\ntechmap\nopt -fast\nabc -g simple\nopt_clean -purge\n"
        ),
        Cells::Ecp5 => format!("synth_ecp5 -top {}\n", entry.top),
    };
    // One variable per bit: a simulator sees no loop where a vector's bits follow from one another.
    script += &format!("check -assert\nsplitnets\nwrite_verilog -noattr {}\n", path.display());
    let models = match cells {
        Cells::Generic => String::new(),
        Cells::Ecp5 => ecp5_models(flow)?,
    };
    let mut parts = vec![FOR_VERILATOR.to_owned(), script.clone(), models.clone()];
    for file in read.iter().chain(&library) {
        parts.push(fs::read_to_string(file).map_err(|e| FlowError::io(file, e))?);
    }
    let key = kept::key(&parts.iter().map(String::as_str).collect::<Vec<_>>());
    let mark = format!("// {key}\n");
    if fs::read_to_string(&path).is_ok_and(|text| text.starts_with(&mark)) {
        return Ok(path);
    }
    println!("yosys: {entry} to {}", path.display());
    flow.yosys("yosys", &name, &script)?;
    let text = fs::read_to_string(&path).map_err(|e| FlowError::io(&path, e))?;
    fs::write(&path, mark + FOR_VERILATOR + &models + &text).map_err(|e| FlowError::io(&path, e))?;
    Ok(path)
}

/// The ECP5's cells from Yosys's own models, and our model of its block RAM, which Yosys lacks.
fn ecp5_models(flow: &Flow) -> Result<String, FlowError> {
    let share = flow.tools.yosys_share()?;
    let mut text = String::from("`define NO_INCLUDES\n");
    // Neither these models nor Yosys's output are written for Verilator's lint.
    for warning in ["INITIALDLY", "PINMISSING", "SPECIFYIGN", "WIDTHEXPAND"] {
        text += &format!("// verilator lint_off {warning}\n");
    }
    for file in [
        share.join("ecp5/common_sim.vh"),
        share.join("ecp5/ccu2c_sim.vh"),
        PathBuf::from("fpga/ecp5/DP16KD.v"),
    ] {
        text += &fs::read_to_string(&file).map_err(|e| FlowError::io(&file, e))?;
    }
    Ok(text)
}

/// Runs the tests with exactly these netlists; returns the number that passed.
fn test(cells: Cells, args: &Args, netlists: &[PathBuf]) -> Result<u32, FlowError> {
    let run = folder().join(format!("run-{cells}"));
    lists::emptied(&run)?;
    for file in netlists {
        let copy = run.join(file.file_name().unwrap_or_default());
        fs::copy(file, copy).map_err(|e| FlowError::io(file, e))?;
    }
    let what = format!("{cells} netlists");
    let kept = folder().join(format!("passed-{cells}"));
    match args.tests.all() {
        true => args.tests.run_changed(&what, "VERILATED_NETLISTS", &run, &kept),
        false => args.tests.run(&what, "VERILATED_NETLISTS", &run),
    }
}
