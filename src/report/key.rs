//! The key below a picture: a swatch and a text for each style. It wraps as text does, and covers nothing.

use maud::{Markup, html};

use super::diagram::SOFT;
use crate::repro::row::BackendKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    Solid,
    Dashed,
    Dotted,
    /// A filled area.
    Block,
    /// A point that is not filled.
    Ring,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub colour: String,
    pub stroke: Stroke,
    pub text: String,
}

impl Entry {
    pub fn line(colour: &str, text: impl Into<String>) -> Entry {
        Entry {
            colour: colour.into(),
            stroke: Stroke::Solid,
            text: text.into(),
        }
    }

    pub fn block(colour: &str, text: impl Into<String>) -> Entry {
        Entry {
            colour: colour.into(),
            stroke: Stroke::Block,
            text: text.into(),
        }
    }
}

/// The style of a backend's lines.
pub fn of_backend(backend: BackendKind) -> Entry {
    let (stroke, text) = match backend {
        BackendKind::Rtl => (Stroke::Solid, "RTL"),
        BackendKind::Model => (Stroke::Dashed, "golden model"),
    };
    Entry {
        colour: SOFT.into(),
        stroke,
        text: text.into(),
    }
}

pub fn draw(entries: &[Entry]) -> Markup {
    html! {
        ul.key { @for entry in entries { li { (swatch(entry)) (entry.text) } } }
    }
}

fn swatch(entry: &Entry) -> Markup {
    let (width, dashes) = match entry.stroke {
        Stroke::Solid => ("2", ""),
        Stroke::Dashed => ("1.5", "6 4"),
        Stroke::Dotted => ("2", "2 4"),
        Stroke::Block => ("10", ""),
        Stroke::Ring => ("2", ""),
    };
    html! {
        svg viewBox="0 0 26 12" aria-hidden="true" {
            @if entry.stroke == Stroke::Ring {
                circle cx="13" cy="6" r="4.5" fill="none" stroke=(entry.colour) stroke-width=(width) {}
            } @else {
                line x1="0" y1="6" x2="26" y2="6" stroke=(entry.colour) stroke-width=(width)
                    stroke-dasharray=(dashes) {}
            }
        }
    }
}
