//! What the README shows is what the commands print.

use std::fs;

use crate::tsunagi;

/// The blocks of the README between lines of three backticks.
fn blocks() -> Vec<String> {
    let text = fs::read_to_string("README.md").unwrap();
    text.split("```\n").skip(1).step_by(2).map(str::to_owned).collect()
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
