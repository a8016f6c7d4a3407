//! The rows of one experiment: the paper's value, then each backend's beside it.

use maud::{Markup, html};

use crate::repro::Outcome;
use crate::repro::row::{Row, number};

/// Checked rows in a table, the points of curves folded away under it.
pub fn rows(outcomes: &[&Outcome]) -> Markup {
    let Some(first) = outcomes.first() else { return html! {} };
    let (checked, points): (Vec<&Row>, Vec<&Row>) =
        first.rows.iter().partition(|r| r.pass.is_some() || r.paper.is_some());
    html! {
        @if !checked.is_empty() { (table(outcomes, &checked)) }
        @if !points.is_empty() { details { summary { "All " (points.len()) " points of the curves" } (table(outcomes, &points)) } }
    }
}

fn table(outcomes: &[&Outcome], rows: &[&Row]) -> Markup {
    html! {
        table {
            tr {
                th { "quantity" } th.n { "paper" }
                @for o in outcomes { th.n { (o.backend.name()) } th.n { "difference" } }
                th.n { "bounds" } th { "kind" } th { "depends on" }
            }
            @for row in rows {
                tr {
                    td { (row.quantity) span.id { (row.row) } }
                    td.n { (row.paper.map_or("–".into(), |v| format!("{} {}", number(v), row.unit))) }
                    @for o in outcomes { (cells(o, &row.row)) }
                    td.n { (row.bounds_text()) }
                    td { span class={ "kind " (row.kind.name()) } { (row.kind.name()) } }
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
        td.n.ok[row.pass == Some(true)].bad[row.failed()] { (number(row.ours)) " " (row.unit) }
        td.n { (row.difference_text()) }
    }
}

/// A few parameters in full, many folded away.
fn depends(row: &Row) -> Markup {
    let names = row.depends_on.join(", ");
    html! {
        @if row.depends_on.len() <= 6 { (names) } @else { details { summary { (row.depends_on.len()) " parameters" } (names) } }
    }
}
