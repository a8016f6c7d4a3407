use std::process::ExitCode;

fn main() -> ExitCode {
    tsunagi::machines::register(&[&your_machine::YourMachine]);
    tsunagi::cli::main()
}
