//! Tables on the terminal, and the same as JSON or CSV.

use std::fmt::{self, Display};
use std::io::{self, ErrorKind, Write, stdout};
use std::path::Path;

use comfy_table::presets;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle};
use serde::Serialize;

use super::CliError;

/// Columns of text without a terminal.
const WIDTH: u16 = 132;
/// With fewer columns of text than these, the cells of a row that does not fit stand below each other.
const NARROW: usize = 100;

/// A table of texts.
pub struct Table {
    columns: Vec<&'static str>,
    /// Columns that are aligned to the right.
    numbers: Vec<usize>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns; the columns in `numbers` are aligned to the right.
    pub fn new(columns: &[&'static str], numbers: &[usize]) -> Table {
        Table {
            columns: columns.to_vec(),
            numbers: numbers.to_vec(),
            rows: Vec::new(),
        }
    }

    pub fn add_row<T: Into<String>>(&mut self, row: impl IntoIterator<Item = T>) {
        let row: Vec<String> = row.into_iter().map(Into::into).collect();
        assert_eq!(row.len(), self.columns.len(), "a cell for each column");
        self.rows.push(row);
    }

    fn ruled(&self, width: u16) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        table
            .load_style(presets::UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none()))
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_header(&self.columns)
            .set_width(width)
            .add_rows(&self.rows);
        for column in &self.numbers {
            if let Some(column) = table.column_mut(*column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    }

    /// The first cell of each row as its heading, and the others below it, each behind the name of its column.
    fn stacked(&self, width: usize) -> String {
        let heading = |text: &str| textwrap::fill(text, whole_words(width));
        let label = self.columns.iter().skip(1).map(|name| name.chars().count()).max();
        let label = label.unwrap_or_default();
        let line = |(name, cell): (&&str, &String)| {
            let (first, rest) = (format!("  {name:label$}  "), " ".repeat(label + 4));
            let options = whole_words(width).initial_indent(&first).subsequent_indent(&rest);
            textwrap::fill(cell, options)
        };
        let of = |row: &Vec<String>| {
            let cells = self
                .columns
                .iter()
                .zip(row)
                .skip(1)
                .filter(|(_, cell)| !cell.is_empty());
            let lines = [heading(&row[0])].into_iter().chain(cells.map(line));
            lines.collect::<Vec<_>>().join("\n")
        };
        self.rows.iter().map(of).collect::<Vec<_>>().join("\n")
    }

    /// Columns of text that the table takes if what `longest` says of a cell is not broken.
    fn takes(&self, longest: impl Fn(&str) -> usize) -> usize {
        const BORDERS: usize = 3;
        let of = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].as_str());
            cells
                .chain([self.columns[column]])
                .map(&longest)
                .max()
                .unwrap_or_default()
        };
        (0..self.columns.len()).map(|column| of(column) + BORDERS).sum()
    }

    /// The table for so many columns of text.
    fn text(&self, width: u16) -> String {
        let lines = self.takes(textwrap::core::display_width);
        let words = self.takes(|cell| {
            let words = cell.split_whitespace().map(textwrap::core::display_width);
            words.max().unwrap_or_default()
        });
        let columns = usize::from(width);
        if lines <= columns || (words <= columns && columns >= NARROW) {
            self.ruled(width).trim_fmt()
        } else {
            self.stacked(columns)
        }
    }
}

/// Lines break between words only: one that is longer than a line stands alone, whole. A hyphen is part of its word, as
/// in an option or a file's name.
fn whole_words(width: usize) -> textwrap::Options<'static> {
    textwrap::Options::new(width)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
}

/// What stands behind a label.
pub enum Said {
    /// Words, which break where a line ends.
    Words(String),
    /// One piece to be copied, a command or a path: never broken.
    Whole(String),
}

/// Lines with a label each. What does not fit beside its label stands below it.
pub fn labelled(lines: &[(&str, Said)], width: usize) -> String {
    const LABEL: usize = 18;
    let line = |(label, said): &(&str, Said)| {
        let (Said::Words(text) | Said::Whole(text)) = said;
        let beside = format!("{label:LABEL$}  {text}\n");
        if textwrap::core::display_width(beside.trim_end()) <= width {
            return beside;
        }
        let indent = " ".repeat(label.len() - label.trim_start().len() + 2);
        let below = match said {
            Said::Whole(text) => format!("{indent}{text}"),
            Said::Words(text) => {
                let options = whole_words(width).initial_indent(&indent).subsequent_indent(&indent);
                textwrap::fill(text, options)
            }
        };
        format!("{label}\n{below}\n")
    };
    lines.iter().map(line).collect()
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(width()))
    }
}

/// Columns of text of the terminal.
pub fn width() -> u16 {
    comfy_table::Table::new().width().unwrap_or(WIDTH)
}

/// Prints sentences, broken between words where the terminal ends.
pub fn print_wrapped(text: &str) -> Result<(), CliError> {
    print(textwrap::fill(text, whole_words(width().into())))
}

/// Prints one or more lines. A reader may close the pipe: that is no error.
///
/// # Errors
/// Any other failure to write.
pub fn print(text: impl Display) -> Result<(), CliError> {
    print_bytes(format!("{text}\n").as_bytes())
}

/// As [`print`], without an end of line.
pub fn print_bytes(bytes: &[u8]) -> Result<(), CliError> {
    match stdout().lock().write_all(bytes) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(not_printed(error)),
        _ => Ok(()),
    }
}

pub fn not_printed(error: io::Error) -> CliError {
    CliError::file("write", Path::new("standard output"))(error)
}

/// The same as JSON.
pub fn print_json(value: &(impl Serialize + ?Sized)) -> Result<(), CliError> {
    print(serde_json::to_string_pretty(value).expect("plain data can be written as JSON"))
}

/// Records as CSV (RFC 4180 with line feeds), under one line of their fields' names.
///
/// # Panics
/// A field is no plain value.
pub fn print_csv(records: impl IntoIterator<Item = impl Serialize>) -> Result<(), CliError> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    for record in records {
        csv.serialize(record).expect("plain values can be written as CSV");
    }
    print_bytes(&csv.into_inner().expect("memory takes it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["parameter", "value", "unit", "origin", "meaning"], &[1]);
        table.add_row([
            "mem_read_latency",
            "6",
            "core cycles",
            "design",
            "Read command to first data.",
        ]);
        table.add_row(["nodes", "2", "nodes", "", "Nodes on one switch."]);
        table.add_row([
            "surfer",
            "",
            "",
            "",
            "surfer --command-file out/waves/cenju3-one-word.sucl",
        ]);
        table
    }

    #[test]
    fn rows_stand_below_each_other_where_there_is_little_room() {
        let text = table().text(30);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..3],
            ["mem_read_latency", "  value    6", "  unit     core cycles"]
        );
        assert_eq!(lines[4..6], ["  meaning  Read command to", "           first data."]);
        assert!(!text.contains("origin   \n"), "an empty cell has no line");
    }

    #[test]
    fn no_word_is_broken_at_any_width() {
        for width in 1..240 {
            let text = table().text(width);
            for word in [
                "mem_read_latency",
                "command",
                "switch.",
                "--command-file",
                "cenju3-one-word.sucl",
            ] {
                assert!(text.contains(word), "{width}: {text}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_beside_its_label_stands_below_it() {
        let command = "gtkwave out/waves/cenju3-one-word.fst out/waves/cenju3-one-word.gtkw";
        let lines = [
            (
                "Cenju-3 (NEC, 1993)",
                Said::Words("200 of 201 checks met by the machine".into()),
            ),
            ("  wave", Said::Whole(command.into())),
        ];
        assert_eq!(
            labelled(&lines, 120),
            format!("Cenju-3 (NEC, 1993)  200 of 201 checks met by the machine\n  wave              {command}\n")
        );
        assert_eq!(
            labelled(&lines, 30),
            format!("Cenju-3 (NEC, 1993)\n  200 of 201 checks met by the\n  machine\n  wave\n    {command}\n")
        );
        for width in 1..160 {
            let text = labelled(&lines, width);
            assert!(text.contains(command), "{width}: {text}");
            for line in text.lines().filter(|line| !line.contains("gtkwave") && width > 20) {
                assert!(line.len() <= width, "{width}: {line}");
            }
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(
                words(&text),
                words(&labelled(&lines, 160)),
                "{width}: no word is broken"
            );
        }
    }

    #[test]
    fn a_row_of_csv_is_quoted_where_it_must_be() {
        #[derive(Serialize)]
        struct Record {
            name: &'static str,
            value: Option<f64>,
        }
        let mut csv = csv::Writer::from_writer(Vec::new());
        csv.serialize(Record {
            name: "a, b",
            value: None,
        })
        .unwrap();
        assert_eq!(csv.into_inner().unwrap(), b"name,value\n\"a, b\",\n");
    }
}
