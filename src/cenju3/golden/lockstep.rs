//! Mismatches of `cenju3_sender` and `cenju3_receiver` with their golden models in lock step.

use std::collections::VecDeque;
use std::fmt::Debug;

/// Events kept for a report.
const KEPT: usize = 8;
/// Characters of one value in a report.
const SHOWN: usize = 160;

/// The hardware did something that the model does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{model}, packet {packet}: {field}: expected {expected}, got {got}; last events: {}", last.join(" | "))]
pub struct Mismatch {
    pub model: &'static str,
    /// Number of packets completed before.
    pub packet: u64,
    /// One of the model's `FIELDS`.
    pub field: &'static str,
    pub expected: String,
    pub got: String,
    /// The events before, oldest first, and the refused one.
    pub last: Vec<String>,
}

/// The last events of a model, for its reports.
#[derive(Clone, Debug)]
pub(super) struct History {
    model: &'static str,
    fields: &'static [&'static str],
    pub packet: u64,
    last: VecDeque<String>,
}

impl History {
    pub fn new(model: &'static str, fields: &'static [&'static str]) -> History {
        History {
            model,
            fields,
            packet: 0,
            last: VecDeque::new(),
        }
    }

    pub fn note(&mut self, event: &impl Debug) {
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(shown(event));
    }

    /// A mismatch of `field`.
    pub fn differs(&self, field: &'static str, expected: impl Debug, got: impl Debug) -> Mismatch {
        assert!(self.fields.contains(&field), "{field} is not in the list of fields");
        Mismatch {
            model: self.model,
            packet: self.packet,
            field,
            expected: shown(&expected),
            got: shown(&got),
            last: self.last.iter().cloned().collect(),
        }
    }

    pub fn same<T: PartialEq + Debug>(&self, field: &'static str, expected: T, got: T) -> Result<(), Mismatch> {
        if expected == got {
            Ok(())
        } else {
            Err(self.differs(field, expected, got))
        }
    }
}

fn shown(value: &impl Debug) -> String {
    let text = format!("{value:x?}");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
