//! What the README shows is what the commands print.

use std::fs;
use std::process::Command;

use crate::tsunagi;

/// The blocks of the README between lines of three backticks, in whatever language.
fn blocks() -> Vec<String> {
    let text = fs::read_to_string("README.md").unwrap();
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        match (line.starts_with("```"), &mut open) {
            (true, Some(_)) => blocks.extend(open.take()),
            (true, None) => open = Some(String::new()),
            (false, Some(block)) => *block += &format!("{line}\n"),
            (false, None) => {}
        }
    }
    blocks
}

/// The test of somebody's own Verilog is one that runs, and so is its list.
#[test]
fn the_bench_shown_is_the_one_that_runs() {
    let bench = fs::read_to_string("examples/your_rtl/tests/reverse.rs").unwrap();
    assert!(
        blocks().contains(&bench),
        "README shows examples/your_rtl/tests/reverse.rs"
    );
    let list = fs::read_to_string("examples/your_rtl/units.toml").unwrap();
    let shown = blocks()
        .into_iter()
        .find(|block| block.starts_with("[[unit]]"))
        .expect("a list of units");
    assert!(list.contains(&shown), "examples/your_rtl/units.toml has:\n{shown}");
}

/// For whom this is stands where it is read first, with a way for each.
#[test]
fn the_first_screen_says_for_whom() {
    let text = fs::read_to_string("README.md").unwrap();
    let first: Vec<&str> = text.lines().take(25).collect();
    for (who, way) in [
        ("**block**", "](rtl/README.md)"),
        ("**test Verilog**", "](#in-your-own-project)"),
        ("**study these machines**", "](#try)"),
    ] {
        let line = first.iter().find(|line| line.contains(who));
        assert!(line.is_some_and(|line| line.contains(way)), "{who}: {line:?}");
    }
    for heading in ["## In your own project", "## Try"] {
        assert!(text.lines().any(|line| line == heading), "{heading}");
    }
}

/// The example of a host program, on both backends.
#[test]
fn the_host_program_prints_what_is_shown() {
    const COMMAND: &str = "$ cargo run --example hello_cenju3 ";
    let block = blocks()
        .into_iter()
        .find(|b| b.starts_with(COMMAND))
        .expect("it is shown");
    let (command, shown) = block.split_once('\n').unwrap();
    let run = |backend: &str| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["run", "--quiet", "--offline", "--example", "hello_cenju3", backend]);
        let output = cargo.output().expect("cargo starts");
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(run(&command[COMMAND.len()..]), (true, shown.to_owned()));
    assert!(run("model").1.starts_with("PE 0 has 43 after "));
    assert_eq!(run("paper"), (false, String::new()));
}

fn printed(arguments: &[&str]) -> String {
    let (code, text, error) = tsunagi(arguments);
    assert_eq!(code, 0, "{error}");
    text
}

/// Lines shown that were not printed; `…` stands for what was left out, trailing blanks do not show.
fn not_printed<'a>(shown: &'a str, printed: &str) -> Vec<&'a str> {
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    shown
        .lines()
        .map(str::trim_end)
        .filter(|line| *line != "…" && !printed.contains(line))
        .collect()
}

#[test]
fn commands_print_what_is_shown() {
    let mut commands = 0;
    for block in blocks().iter().filter(|b| b.starts_with("$ cargo run -- ")) {
        let (command, shown) = block.split_once('\n').unwrap();
        let arguments: Vec<&str> = command["$ cargo run -- ".len()..].split(' ').collect();
        assert_eq!(
            not_printed(shown, &printed(&arguments)),
            Vec::<&str>::new(),
            "{command}"
        );
        commands += 1;
    }
    assert!(commands > 0, "the README shows commands");
}

#[test]
fn tables_are_what_is_shown() {
    let tables: Vec<String> = blocks().into_iter().filter(|b| b.starts_with("E2 ")).collect();
    assert_eq!(tables.len(), 1, "the README shows tables of make sim");
    let printed = printed(&[
        "repro",
        "cenju3",
        "--backend",
        "rtl",
        "--experiment",
        "E2",
        "--experiment",
        "E4",
    ]);
    assert_eq!(not_printed(&tables[0], &printed), Vec::<&str>::new());
}

#[test]
fn another_line_is_found() {
    assert_eq!(not_printed("one\n…\nthree\n", "one \ntwo\n"), ["three"]);
}
