//! The listing: what each line became, and how long it took.

use std::fmt::Write;

use super::{Place, Source};

/// A word of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub place: Place,
    pub at: u32,
    pub word: u32,
    /// As an instruction, where it is one.
    pub text: Option<String>,
    /// What stands beside it.
    pub cycles: Option<String>,
}

/// Every line of the sources, with its words, which stand in the order of the lines. A line's words behind its first
/// are shown as instructions.
pub fn listing(sources: &[Source], rows: impl Iterator<Item = Row>) -> String {
    let mut rows = rows.peekable();
    let mut text = String::new();
    let mut print = |columns: &str, cycles: &str, source: &str| {
        let line = format!("{columns:17} {cycles:>9}  {source}");
        writeln!(text, "{}", line.trim_end()).expect("a string takes all text");
    };
    print("address  word", "cycles", "source");
    for (source, file) in sources.iter().enumerate() {
        print("", "", &format!("{}:", file.name));
        for (line, code) in file.text.lines().enumerate() {
            let place = Place { source, line: line + 1 };
            let mut shown = false;
            while let Some(row) = rows.next_if(|row| row.place == place) {
                let behind = row.text.map_or(String::new(), |text| format!("        > {text}"));
                let columns = format!("{:08x} {:08x}", row.at, row.word);
                print(
                    &columns,
                    &row.cycles.unwrap_or_default(),
                    if shown { &behind } else { code },
                );
                shown = true;
            }
            if !shown {
                print("", "", code);
            }
        }
    }
    text
}
