//! Writes every machine's generated register files; with `--check`, fails and names the stale ones.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
#[command(about = "Registers and packet formats from rtl/*/regs.toml")]
struct Args {
    /// Write nothing; fail when a generated file is stale
    #[arg(long)]
    check: bool,
    /// Checkout to work in
    #[arg(long, default_value = ".")]
    root: PathBuf,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = if args.check {
        regs_gen::check(&args.root)
    } else {
        regs_gen::write(&args.root).map(|paths| paths.iter().for_each(|p| println!("wrote {}", p.display())))
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("regs-gen: {error}");
            ExitCode::FAILURE
        }
    }
}
