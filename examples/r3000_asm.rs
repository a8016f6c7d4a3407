//! Assembles the R3000 program on standard input, and prints its words in hexadecimal, or what is wrong with it.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::ExitCode;

use tsunagi::r3000::asm::{Source, assemble};

fn main() -> ExitCode {
    let mut text = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut text) {
        eprintln!("the program cannot be read: {error}");
        return ExitCode::FAILURE;
    }
    let source = Source {
        name: "stdin".to_owned(),
        text,
    };
    match assemble(&[source], &BTreeMap::new()) {
        Ok(image) => {
            image.words.iter().for_each(|word| println!("{word:08x}"));
            ExitCode::SUCCESS
        }
        Err(errors) => {
            errors.iter().for_each(|error| eprintln!("{error}"));
            ExitCode::FAILURE
        }
    }
}
