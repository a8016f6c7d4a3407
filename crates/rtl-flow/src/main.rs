//! The command. Exit status 1: a finding, or a tool that could not run.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use rtl_flow::{
    Flow, Outcome, blocks, cores, coverage, docs, families, formal, fpga, gate, junit, lint, mutants, rails, synth,
};

/// Works on the RTL outside its simulation
#[derive(Parser)]
struct Args {
    /// The list of units
    #[arg(long, global = true, default_value = "rtl/units.toml")]
    units: PathBuf,
    /// The folder of the tools' programs, if not on PATH
    #[arg(long, global = true, default_value = ".tools/venv/bin")]
    bin: PathBuf,
    #[command(subcommand)]
    part: Part,
}

#[derive(Subcommand)]
enum Part {
    Lint(lint::Args),
    Synth(synth::Args),
    Families(families::Args),
    Formal(formal::Args),
    Fpga(fpga::Args),
    Gate(gate::Args),
    Coverage(coverage::Args),
    Mutants(mutants::Args),
    Docs(docs::Args),
    Blocks(blocks::Args),
    Cores(cores::Args),
    Rails(rails::Args),
    Junit(junit::Args),
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(errors) => {
            for error in &errors {
                eprintln!("rtl-flow: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Outcome {
    let flow = || Flow::new(&args.units, &args.bin);
    match &args.part {
        Part::Rails(part) => rails::run(part),
        Part::Junit(part) => junit::run(part),
        Part::Lint(part) => lint::run(&flow()?, part),
        Part::Synth(part) => synth::run(&flow()?, part),
        Part::Families(part) => families::run(&flow()?, part),
        Part::Formal(part) => formal::run(&flow()?, part),
        Part::Fpga(part) => fpga::run(&flow()?, part),
        Part::Gate(part) => gate::run(&flow()?, part),
        Part::Coverage(part) => coverage::run(&flow()?, part),
        Part::Mutants(part) => mutants::run(&flow()?, part),
        Part::Docs(part) => docs::run(&flow()?, part),
        Part::Blocks(part) => blocks::run(&flow()?, part),
        Part::Cores(part) => cores::run(&flow()?, part),
    }
}
