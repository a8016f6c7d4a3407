//! Tables on the terminal, and the same as JSON.

use std::fmt::Display;
use std::io::{Write, stdout};

use comfy_table::presets;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table};
use serde::Serialize;

/// Columns of text where there is no terminal to tell.
const WIDTH: u16 = 132;

/// An empty table with these columns; those in `numbers` are aligned to the right.
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

/// Prints a line or more. Who reads it may stop reading: that is no error.
pub fn print(text: impl Display) {
    let _ = writeln!(stdout().lock(), "{text}");
}

pub fn print_json(value: &(impl Serialize + ?Sized)) {
    print(serde_json::to_string_pretty(value).expect("plain data can be written as JSON"));
}
