//! The report: one self-contained HTML file that fetches nothing, and an index of several.

mod axis;
mod diagram;
mod key;
mod map;
mod plot;
mod spans;
mod steps;
mod table;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::machine::Facts;
use crate::repro::row::{BackendKind, Row};
use crate::repro::summary::Summary;
use crate::repro::{Experiment, Outcome, Plot, Trace};

/// The content of a machine's report.
pub struct Page<'a> {
    pub facts: &'a Facts,
    /// By experiment, then by backend.
    pub outcomes: &'a [Outcome],
    pub params: Vec<ParamLine>,
    pub made: &'a Made,
    /// The file of the index, where there is one beside the report.
    pub index: Option<&'a str>,
}

/// How a report was made.
pub struct Made {
    /// The commit of the sources and its date, where it is known.
    pub commit: Option<String>,
    /// The command that makes it again.
    pub command: String,
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

/// A machine in the index.
pub struct Listed<'a> {
    pub facts: &'a Facts,
    /// The file of its report.
    pub file: String,
    pub outcomes: &'a [Outcome],
}

/// What every report is, after what its machine was.
const COMPARED: &str = "Here the hardware is Verilog again: the paper's experiments run on it cycle by cycle, and on a \
     golden model written from the paper, and each number of the paper stands beside ours.";

/// Renders a machine's report.
pub fn render(page: &Page<'_>) -> String {
    let title = format!("{} reproduced", page.facts.title);
    let point = page.outcomes.iter().find(|o| o.experiment.id == page.facts.point);
    file(
        &title,
        &html! {
            header {
                @if let Some(index) = page.index { p.crumb { a href=(index) { "all machines" } } }
                h1 { (title) }
                p.lead { (page.facts.about) " " (COMPARED) }
                (stats(page.outcomes, ""))
                @if let Some(point) = point {
                    (figures(point.experiment, page.outcomes, true))
                    p.more { a href={ "#" (point.experiment.id) } { "more of this experiment" } }
                }
                p.cite { "The paper: " (page.facts.paper) "." }
                (origin(page.made))
            }
            (contents(page.outcomes))
            @for e in experiments(page.outcomes) { (section(e, page.outcomes)) }
            (parameters(&page.params))
            (counts(page.outcomes))
            @if page.outcomes.iter().flat_map(|o| &o.traces).any(|trace| trace.stepped) {
                script { (PreEscaped(include_str!("steps.js"))) }
            }
        },
    )
}

/// Renders the index of the machines' reports.
pub fn index(machines: &[Listed<'_>], made: &Made) -> String {
    file(
        "Tsunagi: machines reproduced",
        &html! {
            header {
                h1 { "Tsunagi: machines reproduced" }
                p.lead {
                    "Parallel computers of the 1990s whose network interfaces were ahead of their time. " (COMPARED)
                }
            }
            @for machine in machines {
                section {
                    h2 { a href=(machine.file) { (machine.facts.title) } }
                    p { (machine.facts.about) }
                    (stats(machine.outcomes, &machine.file))
                }
            }
            (origin(made))
        },
    )
}

fn origin(made: &Made) -> Markup {
    html! {
        p.cite {
            @if let Some(commit) = &made.commit { "Made from commit " (commit) " by " } @else { "Made by " }
            code { (made.command) }
        }
    }
}

fn file(title: &str, body: &Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(include_str!("report.css"))) }
            }
            body { (body) }
        }
    }
    .into_string()
}

/// The unit `us` of the rows as print has it.
fn micro(text: &str) -> String {
    let word = |word: &str| match word.strip_prefix("us") {
        Some(rest) if !rest.starts_with(char::is_alphanumeric) => format!("µs{rest}"),
        _ => word.into(),
    };
    text.split_inclusive(|c: char| !c.is_alphanumeric()).map(word).collect()
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

/// The backends that measured, with all rows of each.
fn by_backend(outcomes: &[Outcome]) -> Vec<(BackendKind, Vec<&Row>)> {
    let of = |backend: BackendKind| {
        let ours = outcomes.iter().filter(move |o| o.backend == backend);
        (backend, ours.flat_map(|o| &o.rows).collect::<Vec<_>>())
    };
    let all = [BackendKind::Rtl, BackendKind::Model].map(of);
    all.into_iter().filter(|(_, rows)| !rows.is_empty()).collect()
}

/// The result in a few numbers; `file` has the experiments, if it is not this one.
fn stats(outcomes: &[Outcome], file: &str) -> Markup {
    let all: Vec<&Row> = outcomes.iter().flat_map(|o| &o.rows).collect();
    let whole = Summary::of(&all);
    html! {
        ul.stats {
            @for (backend, rows) in by_backend(outcomes) {
                @let Summary { met, checks, .. } = Summary::of(&rows);
                li { b.ok[met == checks].bad[met < checks] { (met) " of " (checks) } " checks met by the "
                    (backend_name(backend)) }
            }
            li { b { (whole.predictions()) } " independent prediction" @if whole.predictions() != 1 { "s" } }
            @if let Some(worst) = whole.worst {
                li { b { (worst.difference_text()) } " at the worst, " a href={ (file) "#" (worst.experiment) } {
                    (worst.row) } }
            }
        }
    }
}

fn backend_name(backend: BackendKind) -> &'static str {
    match backend {
        BackendKind::Rtl => "verilated RTL",
        BackendKind::Model => "golden model",
    }
}

/// Each experiment with its title and its checks.
fn contents(outcomes: &[Outcome]) -> Markup {
    html! {
        nav aria-label="experiments" {
            @for e in experiments(outcomes) {
                @let rows: Vec<&Row> = outcomes.iter().filter(|o| o.experiment == e).flat_map(|o| &o.rows).collect();
                @let Summary { met, checks, .. } = Summary::of(&rows);
                a href={ "#" (e.id) } {
                    b { (e.id) } " " (e.title) " " span { (e.figure) }
                    @if checks > 0 { " " span.ok[met == checks].bad[met < checks] { (met) "/" (checks) } }
                }
            }
            a href="#parameters" { "Parameters" }
            a href="#counts" { "How rows are counted" }
        }
    }
}

/// What kinds of rows there are, and how many of each.
fn counts(outcomes: &[Outcome]) -> Markup {
    let counted = by_backend(outcomes);
    let summaries: Vec<_> = counted
        .iter()
        .map(|(backend, rows)| (*backend, Summary::of(rows)))
        .collect();
    html! {
        section id="counts" {
            h2 { "How rows are counted" }
            p {
                "A row is a " b { "prediction" }
                " only if no parameter it depends on was measured or fitted on that row or figure of the source, "
                "or derived from one that was; otherwise it is " b { "calibrated" } ". A " b { "criterion" }
                " checks a statement for which the source gives no value. An " b { "own" }
                " row is a check of ours that no source states. In the paper's column, brackets mark the value of a "
                "formula of ours. " b { "Bounds" } " come from the paper, another public source, a formula, "
                "or from ourselves: a tolerance that we chose and the paper does not state. "
                "MB = 10" sup { "6" } " B, KB = 1024 B."
            }
            @if let Some((_, first)) = summaries.first() {
                div.scroll {
                    table {
                        tr {
                            th scope="col" { "measured on" } th.n scope="col" { "checks" } th.n scope="col" { "met" }
                            @for (by, _) in first.bounds_by { th.n scope="col" { "bounds by " (by.name()) } }
                            @for (kind, _) in first.kinds { th.n scope="col" { (kind.name()) } }
                            th.n scope="col" { "values without bounds" }
                        }
                        @for (backend, summary) in &summaries {
                            tr {
                                th scope="row" { (backend_name(*backend)) }
                                td.n { (summary.checks) } td.n { (summary.met) }
                                @for (_, count) in summary.bounds_by { td.n { (count) } }
                                @for (_, count) in summary.kinds { td.n { (count) } }
                                td.n { (summary.values) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn section(experiment: Experiment, outcomes: &[Outcome]) -> Markup {
    let ours: Vec<&Outcome> = outcomes.iter().filter(|o| o.experiment == experiment).collect();
    html! {
        section id=(experiment.id) {
            h2 { (experiment.id) ". " (experiment.title) " " span { (experiment.figure) } }
            (figures(experiment, outcomes, false))
            (table::rows(&ours))
        }
    }
}

/// The pictures of an experiment; only the `first`, or all.
fn figures(experiment: Experiment, outcomes: &[Outcome], first: bool) -> Markup {
    let ours: Vec<&Outcome> = outcomes.iter().filter(|o| o.experiment == experiment).collect();
    // Diagrams show one run: the RTL's, if there is one.
    let shown = ours.iter().find(|o| o.backend == BackendKind::Rtl).or(ours.first());
    let names = plot::names(ours.iter().flat_map(|o| &o.plots));
    let plots = plot_ids(&ours).into_iter();
    let mut all: Vec<Markup> = plots.map(|id| plot::draw(&same_plot(&ours, id), &names)).collect();
    if let Some(outcome) = shown {
        all.extend(outcome.breakdowns.iter().map(diagram::breakdown));
        all.extend(outcome.stacks.iter().map(diagram::stack));
        all.extend(outcome.maps.iter().map(map::draw));
        for (n, trace) in outcome.traces.iter().enumerate() {
            all.push(diagram::time_space(trace));
            if trace.stepped {
                all.push(steps::draw(trace));
            }
            if !trace.record.fifo.is_empty() {
                all.push(diagram::occupancy(&same_run(&ours, n)));
            }
        }
    }
    let count = if first { 1 } else { all.len() };
    html! { @for drawn in all.iter().take(count) { figure { (drawn) } } }
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
            div.scroll {
                table {
                    tr {
                        th scope="col" { "name" } th.n scope="col" { "value" } th scope="col" { "unit" }
                        th scope="col" { "origin" } th scope="col" { "measured or fitted on" }
                        th scope="col" { "meaning" }
                    }
                    @for p in params {
                        tr {
                            th scope="row" { code { (p.name) } } td.n { (p.value) } td { (micro(p.unit)) }
                            td { (p.origin) } td { (p.measured_on) } td.note { (p.note) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines;
    use crate::repro::row::{Provenance, Source, Spec};
    use crate::repro::{Curve, Mark, OVER_SIZES, Record, THROUGHPUT};

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
            scales: OVER_SIZES,
            curves: vec![Curve {
                name: "not pipelined".into(),
                points: vec![(0.5, 20.0), (8.0, ours)],
            }],
            marks: vec![
                Mark::Level {
                    y: 31.0,
                    from: 1.0,
                    says: "about 31",
                },
                Mark::Window {
                    from: 6.0,
                    to: 8.0,
                    says: "peak",
                },
            ],
        });
        outcome
    }

    fn page(outcomes: &[Outcome]) -> String {
        render(&Page {
            facts: machines::all()[0].facts(),
            outcomes,
            params: Vec::new(),
            made: &Made {
                commit: Some("0123abc of 2026-11-29".into()),
                command: "cargo run -- repro".into(),
            },
            index: Some("report.html"),
        })
    }

    #[test]
    fn both_backends_share_one_plot_and_one_table() {
        let html = page(&[outcome(BackendKind::Rtl, 7.0), outcome(BackendKind::Model, 9.0)]);
        assert_eq!(html.matches("role=\"img\"").count(), 1);
        assert_eq!(html.matches("</svg>not pipelined").count(), 1, "one line of the key");
        for style in [
            "</svg>RTL",
            "</svg>golden model",
            "</svg>paper: about 31",
            "</svg>paper: peak",
        ] {
            assert_eq!(html.matches(style).count(), 1, "{style}");
        }
        assert!(
            html.contains("not pipelined (model), transfer size, KB 8: 9.00 MB/s"),
            "the values of a point"
        );
        assert!(html.contains("Post-invalidation &lt;&amp;&gt;"));
        assert!(html.contains("1 of 1") && html.contains("0 of 1"));
    }

    #[test]
    fn the_first_lines_say_what_it_is_and_where_it_is_from() {
        let mut first = outcome(BackendKind::Model, 7.0);
        first.experiment.id = machines::all()[0].facts().point;
        let html = page(&[first, outcome(BackendKind::Model, 7.0)]);
        let header = html.split_once("</header>").expect("a header").0;
        for part in [
            "Cenju-3 (NEC, 1993)",
            "role=\"img\"",
            "2 of 2",
            "0123abc of 2026-11-29",
            "cargo run -- repro",
        ] {
            assert!(header.contains(part), "no {part} in {header}");
        }
        let nav = html.split_once("<nav").and_then(|(_, rest)| rest.split_once("</nav>"));
        let nav = nav.expect("a list of experiments").0;
        for part in ["href=\"#E7\"", "Post-invalidation &lt;&amp;&gt;", "Fig. 11", "1/1"] {
            assert!(nav.contains(part), "no {part} in {nav}");
        }
    }

    #[test]
    fn counts_of_errors_are_one_line_while_they_are_zero() {
        let of = |ours: f64| {
            let mut outcome = Outcome::new(E7, BackendKind::Model);
            let spec = Spec::new("fig11.lost", "words that were lost", "words").stated(0.0, 0.0);
            let source = Source {
                machine: "cenju3",
                experiment: E7.id,
                backend: BackendKind::Model,
            };
            outcome.rows.push(spec.measured(ours, source, &[]));
            page(&[outcome])
        };
        assert!(of(0.0).contains("Counts of errors, each zero as it must be: 1"));
        assert!(!of(3.0).contains("Counts of errors") && of(3.0).contains("3 words"));
    }

    #[test]
    fn a_micro_is_a_word() {
        assert_eq!(micro("9 us, (20 us) and commands/us"), "9 µs, (20 µs) and commands/µs");
        assert_eq!(micro("bus uses"), "bus uses");
    }

    #[test]
    fn nothing_is_fetched_from_anywhere() {
        let mut outcome = outcome(BackendKind::Rtl, 7.0);
        assert!(!page(&[outcome.clone()]).contains("<script"), "nothing is stepped");
        outcome.traces.push(Trace::of("a packet", Record::default()));
        let html = page(&[outcome.clone(), outcome]);
        assert_eq!(html.matches("<script").count(), 1);
        for link in ["http:", "https:", "src=", "<link", "@import", "url("] {
            assert!(!html.contains(link), "{link} in the report");
        }
    }
}
