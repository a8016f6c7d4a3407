use std::process::ExitCode;

fn main() -> ExitCode {
    tsunagi::cli::main()
}
