//! The rows of one experiment: the paper's value, then each backend's beside it.

use maud::{Markup, html};

use super::micro;
use crate::repro::Outcome;
use crate::repro::row::Row;

/// The compared rows, and below them, folded, the counts of errors that are zero, and the values without bounds: mostly
/// points of curves.
pub fn rows(outcomes: &[&Outcome]) -> Markup {
    let Some(first) = outcomes.first() else { return html! {} };
    let (compared, values): (Vec<&Row>, Vec<&Row>) = first.rows.iter().partition(|r| r.is_compared());
    let (zeros, shown): (Vec<&Row>, Vec<&Row>) = compared.into_iter().partition(|row| is_zero(outcomes, row));
    html! {
        @if !shown.is_empty() { (table(outcomes, &shown)) }
        @for (what, rows) in [("Counts of errors, each zero as it must be", zeros), ("Values without bounds", values)] {
            @if !rows.is_empty() {
                details { summary { (what) ": " (rows.len()) } (table(outcomes, &rows)) }
            }
        }
    }
}

/// Whether the row may only be 0, and is on every backend.
fn is_zero(outcomes: &[&Outcome], row: &Row) -> bool {
    let mut found = outcomes.iter().flat_map(|o| &o.rows).filter(|r| r.row == row.row);
    (row.low, row.high) == (Some(0.0), Some(0.0)) && found.all(|r| r.pass == Some(true))
}

fn table(outcomes: &[&Outcome], rows: &[&Row]) -> Markup {
    html! {
        div.scroll {
            table {
                tr {
                    th scope="col" { "quantity" } th.n scope="col" { "paper" }
                    @for o in outcomes {
                        th.n scope="col" { (o.backend.name()) } th.n scope="col" { "difference" }
                    }
                    th.n scope="col" { "bounds" } th scope="col" { "bounds by" } th scope="col" { "kind" }
                    th scope="col" { "depends on" }
                }
                @for row in rows {
                    tr {
                        th scope="row" {
                            (micro(&row.quantity)) span.id { (row.row) }
                            @if let Some(reason) = reason(outcomes, &row.row) { span.id { "missed: " (reason) } }
                        }
                        td.n { (micro(&row.paper_text())) }
                        @for o in outcomes { (cells(o, &row.row)) }
                        td.n { (row.bounds_text()) }
                        td.note { (micro(&row.bounds_by_text())) }
                        td {
                            @if let Some(kind) = row.kind { span class={ "kind " (kind.name()) } { (kind.name()) } }
                        }
                        td.note { (depends(row)) }
                    }
                }
            }
        }
    }
}

fn cells(outcome: &Outcome, name: &str) -> Markup {
    let Some(row) = outcome.rows.iter().find(|r| r.row == name) else {
        return html! { td {} td {} };
    };
    html! {
        td.n.ok[row.pass == Some(true)].bad[row.is_missed()] { (micro(&row.ours_text())) }
        td.n { (row.difference_text()) }
    }
}

/// Why a row is missed, where that is known.
fn reason(outcomes: &[&Outcome], name: &str) -> Option<&'static str> {
    let rows = outcomes.iter().flat_map(|o| &o.rows).filter(|r| r.row == name);
    rows.filter_map(|r| r.reason).next()
}

/// Up to six parameters in full, more of them folded.
fn depends(row: &Row) -> Markup {
    let names = row.depends_on.join(", ");
    html! {
        @if row.depends_on.len() <= 6 { (names) } @else {
            details { summary { (row.depends_on.len()) " parameters" } (names) }
        }
    }
}
