//! The listing: what each line became, and how long it took.

use std::fmt::Write;

use super::super::isa::Insn;
use super::{Image, Place};

/// Every line of the sources, with its words; `cycles` says what stands beside a word. A line's words behind its first
/// are shown as instructions.
pub fn listing(image: &Image, cycles: impl Fn(u32) -> Option<String>) -> String {
    let addresses = (0..).step_by(4);
    let words = addresses.zip(&image.words).zip(&image.places);
    // Words stand in the order of the lines.
    let mut rows = words
        .filter_map(|((at, word), place)| Some(((*place)?, at, *word)))
        .peekable();
    let mut text = String::new();
    let mut row = |columns: &str, cycles: &str, source: &str| {
        let line = format!("{columns:17} {cycles:>9}  {source}");
        writeln!(text, "{}", line.trim_end()).expect("a string takes all text");
    };
    row("address  word", "cycles", "source");
    for (source, file) in image.sources.iter().enumerate() {
        row("", "", &format!("{}:", file.name));
        for (line, code) in file.text.lines().enumerate() {
            let place = Place { source, line: line + 1 };
            let mut shown = false;
            while let Some((_, at, word)) = rows.next_if(|(of, ..)| *of == place) {
                let behind = Insn::decode(word).map_or(String::new(), |insn| format!("        > {}", insn.text(at)));
                let source = if shown { &behind } else { code };
                row(&format!("{at:08x} {word:08x}"), &cycles(at).unwrap_or_default(), source);
                shown = true;
            }
            if !shown {
                row("", "", code);
            }
        }
    }
    text
}
