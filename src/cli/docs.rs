//! `tsunagi completions` and `tsunagi man`: what clap knows of the command, for shells and for `man`.

use clap::CommandFactory as _;

use super::args::{CompletionsArgs, ManArgs, Tsunagi};
use super::{CliError, make_folder, table};

pub fn completions(args: &CompletionsArgs) -> Result<(), CliError> {
    let mut command = Tsunagi::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    table::print_bytes(&script)
}

pub fn man(args: &ManArgs) -> Result<(), CliError> {
    make_folder(&args.out)?;
    clap_mangen::generate_to(Tsunagi::command(), &args.out).map_err(CliError::file("write pages to", &args.out))?;
    table::print(format!("man {}", args.out.join("tsunagi.1").display()))
}
