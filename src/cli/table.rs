//! Tables on the terminal, and the same as JSON.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write, stdout};
use std::path::Path;

use comfy_table::presets;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table};
use serde::Serialize;

use super::CliError;

/// Columns of text without a terminal.
const WIDTH: u16 = 132;

/// An empty table with these columns; the columns in `numbers` are aligned to the right.
pub fn new(columns: &[&str], numbers: &[usize]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none()))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(columns);
    if table.width().is_none() {
        table.set_width(WIDTH);
    }
    for column in numbers {
        if let Some(column) = table.column_mut(*column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Prints one or more lines. A reader may close the pipe: that is no error.
///
/// # Errors
/// Any other failure to write.
pub fn print(text: impl Display) -> Result<(), CliError> {
    match writeln!(stdout().lock(), "{text}") {
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
