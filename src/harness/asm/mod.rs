//! What the assemblers of the machines' processors share: sources, expressions, refusals, the listing.

pub mod error;
pub mod expr;
pub mod listing;

pub use error::{AsmError, Refusal};

/// The longest statement: an expression of any length would overflow the stack.
pub const STATEMENT_BYTES: usize = 1000;

/// A file of source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    pub text: String,
}

/// A line of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Which of the sources.
    pub source: usize,
    /// 1 is the first.
    pub line: usize,
}

/// A statement's part of a line.
pub fn statements(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split('#').next().and_then(|text| text.split("//").next());
    code.unwrap_or_default().split(';')
}
