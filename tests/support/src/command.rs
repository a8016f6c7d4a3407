//! Running the command as a user does.

use std::process::Command;

use tsunagi::harness::seed::Seed;

/// Exit code, standard output and standard error of a program that ends by itself, under the usual seed.
pub fn run(program: &str, args: &[&str]) -> (i32, String, String) {
    ended(Command::new(program).args(args).env_remove("TSUNAGI_SEED"))
}

/// The same under the seed of the run.
pub fn run_under_seed(program: &str, args: &[&str]) -> (i32, String, String) {
    let seed = Seed::get().to_string();
    ended(Command::new(program).args(args).env("TSUNAGI_SEED", seed))
}

fn ended(command: &mut Command) -> (i32, String, String) {
    // It is for this process to say that it reads the seed.
    let output = command
        .env_remove("TSUNAGI_SEED_READ")
        .output()
        .expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("it prints UTF-8");
    (
        output.status.code().expect("it ends by itself"),
        text(&output.stdout),
        text(&output.stderr),
    )
}
