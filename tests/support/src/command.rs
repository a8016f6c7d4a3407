//! Running the command as a user does.

use std::process::Command;

/// Exit code, standard output and standard error of a program that ends by itself.
pub fn run(program: &str, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(program).args(args).output().expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("it prints UTF-8");
    (
        output.status.code().expect("it ends by itself"),
        text(&output.stdout),
        text(&output.stderr),
    )
}
