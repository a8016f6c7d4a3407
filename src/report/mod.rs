//! The report: one self-contained HTML file that fetches nothing.

mod diagram;
mod map;
mod plot;
mod table;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::repro::row::{BackendKind, Row};
use crate::repro::summary::Summary;
use crate::repro::{Experiment, Outcome, Plot, Trace};

/// The content of a machine's report.
pub struct Page<'a> {
    pub machine: &'a str,
    /// The citation of the paper.
    pub paper: &'a str,
    /// By experiment, then by backend.
    pub outcomes: &'a [Outcome],
    pub params: Vec<ParamLine>,
}

/// One parameter, as the report prints it.
pub struct ParamLine {
    pub name: &'static str,
    pub value: String,
    pub unit: &'static str,
    pub origin: String,
    pub measured_on: String,
    pub note: &'static str,
}

/// Renders the whole file.
pub fn render(page: &Page<'_>) -> String {
    let title = format!("Tsunagi: {} reproduced", page.machine);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(include_str!("report.css"))) }
            }
            body {
                h1 { (title) }
                p.cite { (page.paper) }
                (summary(page.outcomes))
                nav {
                    @for e in experiments(page.outcomes) { a href={ "#" (e.id) } { (e.id) " " span { (e.figure) } } }
                }
                @for e in experiments(page.outcomes) { (section(e, page.outcomes)) }
                (parameters(&page.params))
            }
        }
    }
    .into_string()
}

/// The experiments in their order, each once.
fn experiments(outcomes: &[Outcome]) -> Vec<Experiment> {
    let mut found: Vec<Experiment> = Vec::new();
    for outcome in outcomes {
        if !found.contains(&outcome.experiment) {
            found.push(outcome.experiment);
        }
    }
    found
}

fn summary(outcomes: &[Outcome]) -> Markup {
    let backends = [BackendKind::Rtl, BackendKind::Model];
    let rows = |backend: BackendKind| -> Vec<&Row> {
        let of = outcomes.iter().filter(|o| o.backend == backend);
        of.flat_map(|o| &o.rows).collect()
    };
    let counts = backends.map(|backend| (backend, Summary::of(&rows(backend))));
    let measured = |backend: BackendKind| outcomes.iter().any(|o| o.backend == backend);
    html! {
        table.summary {
            tr {
                th { "measured on" } th { "checks met" }
                @for (by, _) in counts[0].1.bounds_by { th { "bounds by " (by.name()) } }
                @for (kind, _) in counts[0].1.kinds { th { (kind.name()) } }
                th { "worst prediction" } th { "values without bounds" }
            }
            @for (backend, summary) in counts.iter().filter(|(backend, _)| measured(*backend)) {
                @let is_met = summary.met == summary.checks;
                tr {
                    td { (backend_name(*backend)) }
                    td.ok[is_met].bad[!is_met] { (summary.met) " of " (summary.checks) }
                    @for (_, count) in summary.bounds_by { td { (count) } }
                    @for (_, count) in summary.kinds { td { (count) } }
                    td { @if let Some(worst) = summary.worst { (worst.row) " " (worst.difference_text()) } }
                    td { (summary.values) }
                }
            }
        }
        p.legend {
            "A row is a " b { "prediction" }
            " only if no parameter it depends on was measured or fitted on that row or figure of the source, "
            "or derived from one that was; otherwise it is " b { "calibrated" } ". A " b { "criterion" }
            " checks a statement for which the source gives no value. An " b { "own" }
            " row is a check of ours that no source states. In the paper's column, brackets mark the value of a "
            "formula of ours. " b { "Bounds" } " come from the paper, another public source, a formula, "
            "or from us: a tolerance that we chose and the paper does not state. "
            "MB = 10" sup { "6" } " B, KB = 1024 B."
        }
    }
}

fn backend_name(backend: BackendKind) -> &'static str {
    match backend {
        BackendKind::Rtl => "verilated RTL",
        BackendKind::Model => "timed golden model",
    }
}

fn section(experiment: Experiment, outcomes: &[Outcome]) -> Markup {
    let ours: Vec<&Outcome> = outcomes.iter().filter(|o| o.experiment == experiment).collect();
    // Diagrams show one run: the RTL's, if there is one.
    let shown = ours.iter().find(|o| o.backend == BackendKind::Rtl).or(ours.first());
    html! {
        section id=(experiment.id) {
            h2 { (experiment.id) ". " (experiment.title) " " span { (experiment.figure) } }
            @for id in plot_ids(&ours) { figure { (PreEscaped(plot::draw(&same_plot(&ours, id)))) } }
            @if let Some(outcome) = shown {
                @for b in &outcome.breakdowns { figure { (diagram::breakdown(b)) } }
                @for stack in &outcome.stacks { figure { (diagram::stack(stack)) } }
                @for course in &outcome.courses { figure { (map::course(course)) } }
                @for map in &outcome.maps { figure { (map::draw(map)) } }
                @for (n, t) in outcome.traces.iter().enumerate() {
                    figure { (diagram::time_space(t)) }
                    figure { (diagram::occupancy(&same_run(&ours, n))) }
                }
            }
            (table::rows(&ours))
        }
    }
}

fn plot_ids(outcomes: &[&Outcome]) -> Vec<&'static str> {
    let mut ids: Vec<&'static str> = Vec::new();
    for plot in outcomes.iter().flat_map(|o| &o.plots) {
        if !ids.contains(&plot.id) {
            ids.push(plot.id);
        }
    }
    ids
}

fn same_plot<'a>(outcomes: &[&'a Outcome], id: &str) -> Vec<(BackendKind, &'a Plot)> {
    let all = outcomes.iter().flat_map(|o| o.plots.iter().map(|p| (o.backend, p)));
    all.filter(|(_, p)| p.id == id).collect()
}

/// Trace `n` of each backend, the RTL's first.
fn same_run<'a>(outcomes: &[&'a Outcome], n: usize) -> Vec<(BackendKind, &'a Trace)> {
    let traces = outcomes.iter().filter_map(|o| Some((o.backend, o.traces.get(n)?)));
    let mut runs: Vec<_> = traces.collect();
    runs.sort_by_key(|(backend, _)| *backend);
    runs
}

fn parameters(params: &[ParamLine]) -> Markup {
    html! {
        section id="parameters" {
            h2 { "Parameters" }
            table {
                tr {
                    th { "name" } th { "value" } th { "unit" } th { "origin" } th { "measured or fitted on" }
                    th { "meaning" }
                }
                @for p in params {
                    tr {
                        td { code { (p.name) } } td.n { (p.value) } td { (p.unit) } td { (p.origin) }
                        td { (p.measured_on) } td.note { (p.note) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repro::row::{Provenance, Source, Spec};
    use crate::repro::{Curve, Mark, THROUGHPUT};

    const E7: Experiment = Experiment {
        id: "E7",
        figure: "Fig. 11",
        title: "Post-invalidation <&>",
    };

    fn outcome(backend: BackendKind, ours: f64) -> Outcome {
        let table = [Provenance {
            name: "s_gap",
            measured_on: &["fig11"],
            derived_from: &[],
        }];
        let mut outcome = Outcome::new(E7, backend);
        let spec = Spec::new("fig11.peak", "size of the peak", "KB")
            .paper_range(6.0, 8.0)
            .depends(&["s_gap"]);
        outcome.rows.push(spec.measured(
            ours,
            Source {
                machine: "cenju3",
                experiment: E7.id,
                backend,
            },
            &table,
        ));
        outcome.plots.push(Plot {
            id: "fig11",
            title: "Fig. 11".into(),
            axes: THROUGHPUT,
            curves: vec![Curve {
                name: "not pipelined".into(),
                points: vec![(0.5, 20.0), (8.0, ours)],
            }],
            marks: vec![
                Mark::Level {
                    mb_s: 31.0,
                    says: "about 31",
                },
                Mark::Window {
                    from_kb: 6.0,
                    to_kb: 8.0,
                    says: "peak",
                },
            ],
        });
        outcome
    }

    fn page(outcomes: &[Outcome]) -> String {
        render(&Page {
            machine: "Cenju-3",
            paper: "a paper",
            outcomes,
            params: Vec::new(),
        })
    }

    #[test]
    fn both_backends_share_one_plot_and_one_table() {
        let html = page(&[outcome(BackendKind::Rtl, 7.0), outcome(BackendKind::Model, 9.0)]);
        assert_eq!(html.matches("<svg").count(), 1);
        assert!(html.contains("Fig. 11 (RTL solid, golden model dashed)"));
        assert_eq!(html.matches("not pipelined").count(), 1, "one line of the key");
        assert!(html.contains("paper: about 31"));
        assert!(html.contains("Post-invalidation &lt;&amp;&gt;"));
        assert!(html.contains("1 of 1") && html.contains("0 of 1"));
    }

    #[test]
    fn nothing_is_fetched_from_anywhere() {
        let html = page(&[outcome(BackendKind::Rtl, 7.0)]).replace("http://www.w3.org/2000/svg", "");
        for link in ["http:", "https:", "src=", "<link", "@import", "url("] {
            assert!(!html.contains(link), "{link} in the report");
        }
    }
}
