//! The rows of one experiment: the paper's value, then each backend's beside it.

use maud::{Markup, html};

use crate::repro::Outcome;
use crate::repro::row::{Row, number};

/// The compared rows, and below them, folded, the values without bounds: mostly points of curves.
pub fn rows(outcomes: &[&Outcome]) -> Markup {
    let Some(first) = outcomes.first() else { return html! {} };
    let (compared, values): (Vec<&Row>, Vec<&Row>) = first.rows.iter().partition(|r| r.is_compared());
    html! {
        @if !compared.is_empty() { (table(outcomes, &compared)) }
        @if !values.is_empty() {
            details { summary { "Values without bounds: " (values.len()) } (table(outcomes, &values)) }
        }
    }
}

fn table(outcomes: &[&Outcome], rows: &[&Row]) -> Markup {
    html! {
        table {
            tr {
                th { "quantity" } th.n { "paper" }
                @for o in outcomes { th.n { (o.backend.name()) } th.n { "difference" } }
                th.n { "bounds" } th { "bounds by" } th { "kind" } th { "depends on" }
            }
            @for row in rows {
                tr {
                    td {
                        (row.quantity) span.id { (row.row) }
                        @if let Some(reason) = reason(outcomes, &row.row) { span.id { "missed: " (reason) } }
                    }
                    td.n { (row.paper_text()) }
                    @for o in outcomes { (cells(o, &row.row)) }
                    td.n { (row.bounds_text()) }
                    td.note { (row.bounds_by_text()) }
                    td { @if let Some(kind) = row.kind { span class={ "kind " (kind.name()) } { (kind.name()) } } }
                    td.note { (depends(row)) }
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
        td.n.ok[row.pass == Some(true)].bad[row.is_missed()] { (number(row.ours)) " " (row.unit) }
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
