//! The examples in the help, made from the machines' scenarios and experiments.

use crate::machine::{Machine, Scenario};
use crate::machines;

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  a check failed
  2  wrong usage, or settings that no machine has
  3  a file cannot be read or written
  4  the simulated machine hangs or loses data";

fn first() -> &'static dyn Machine {
    machines::all()[0]
}

/// Commands, each with its explanation where it has one.
fn listed(examples: &[(String, String)]) -> String {
    let width = examples.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    let lines = examples
        .iter()
        .map(|(command, does)| format!("  {command:width$}  {does}").trim_end().to_owned());
    ["Examples:".to_owned()]
        .into_iter()
        .chain(lines)
        .collect::<Vec<_>>()
        .join("\n")
}

fn commands(examples: impl IntoIterator<Item = String>) -> String {
    listed(
        &examples
            .into_iter()
            .map(|command| (command, String::new()))
            .collect::<Vec<_>>(),
    )
}

/// A command line of a scenario with all its options.
fn scenario(machine: &dyn Machine, scenario: &Scenario) -> String {
    let options = scenario
        .options
        .iter()
        .map(|option| format!(" --{} {}", option.name, option.value.usual()));
    format!(
        "tsunagi run {} {}{}",
        machine.name(),
        scenario.name,
        options.collect::<String>()
    )
}

/// The examples of the whole command.
pub fn all() -> String {
    let says = |command: &str, does: &str| (command.to_owned(), does.to_owned());
    let name = first().name();
    let mut examples = vec![says(
        "tsunagi list",
        "machines, experiments, scenarios, waves, parameters",
    )];
    for machine in machines::all() {
        let does = format!("every experiment on the {}, on the RTL", machine.facts().title);
        examples.push((format!("tsunagi repro {}", machine.name()), does));
    }
    if let Some(experiment) = first().experiments().last() {
        let command = format!("tsunagi repro {name} --experiment {} --json", experiment.id);
        examples.push((command, "one of them, as JSON".into()));
    }
    let send = format!("tsunagi send FILE --machine {name} --from 0 --to 1");
    examples.push((send, "a file through the machine, compared at both ends".into()));
    if let Some(wave) = first().facts().waves.first() {
        let does = "a wave and signal lists for GTKWave and Surfer";
        examples.push((format!("tsunagi wave {name}/{}", wave.name), does.into()));
    }
    format!("{}\n\n{EXIT_CODES}", listed(&examples))
}

pub fn run() -> String {
    let of = |machine: &&'static dyn Machine| {
        let machine = *machine;
        machine
            .facts()
            .scenarios
            .iter()
            .take(2)
            .map(move |one| scenario(machine, one))
    };
    let model = first()
        .facts()
        .scenarios
        .iter()
        .take(1)
        .map(|one| scenario(first(), one) + " --backend model");
    commands(machines::all().iter().flat_map(of).chain(model))
}

pub fn repro() -> String {
    let name = first().name();
    let all = machines::all()
        .iter()
        .map(|machine| format!("tsunagi repro {}", machine.name()));
    let both = first()
        .experiments()
        .last()
        .map(|one| format!("tsunagi repro {name} --experiment {} --backend both", one.id));
    let more = [
        format!("tsunagi repro {name} {}", first().facts().next),
        format!("tsunagi repro {name} --json --out out"),
    ];
    let examples = commands(all.chain(both).chain(more));
    format!(
        "{examples}\n\n--out writes rows.json and a report of the machine to the folder; without a machine, one \
        report for each, and report.html over them. The exit code is 1 if a row misses its bounds."
    )
}

pub fn send() -> String {
    let of =
        |machine: &&'static dyn Machine| format!("tsunagi send README.md --machine {} --from 0 --to 1", machine.name());
    let examples = commands(machines::all().iter().map(of));
    format!(
        "{examples}\n\nThe file goes through the memories of the PEs in windows. The command first fills the \
         receiver's memory with a pattern, and hashes the data that it reads back from there."
    )
}

pub fn wave() -> String {
    let of = |machine: &&'static dyn Machine| {
        let wave = machine.facts().waves.first()?;
        Some(format!("tsunagi wave {}/{}", machine.name(), wave.name))
    };
    let vcd = first()
        .facts()
        .waves
        .last()
        .map(|wave| format!("tsunagi wave {}/{} --format vcd --out waves", first().name(), wave.name));
    commands(machines::all().iter().filter_map(of).chain(vcd))
}

pub fn soak() -> String {
    let with = machines::all()
        .iter()
        .filter(|machine| machine.facts().campaign.is_some());
    let of = |machine: &&'static dyn Machine| format!("tsunagi soak {} --seeds 1000", machine.name());
    let more = [
        "tsunagi soak --seeds 10000 --shard 1/4 --json soak.jsonl".to_owned(),
        format!("tsunagi soak {} --case out/soak/{0}-7.case", first().name()),
    ];
    commands(with.map(of).chain(more))
}

pub fn report() -> String {
    commands([format!(
        "tsunagi report {} --backend both --out report.html",
        first().name()
    )])
}

pub fn list() -> String {
    let name = first().name();
    let of = |rest: &str| format!("tsunagi list{rest}");
    let examples = commands([
        of(""),
        of(&format!(" {name}")),
        of(&format!(" {name} --params --csv")),
        of(" --json"),
    ]);
    format!("{examples}\n\n--csv has the parameters only; --json has all.")
}

pub fn completions() -> String {
    commands(["tsunagi completions bash > ~/.local/share/bash-completion/completions/tsunagi".into()])
}

pub fn man() -> String {
    commands(["tsunagi man --out out/man".into(), "man out/man/tsunagi-repro.1".into()])
}

pub fn bench() -> String {
    let of = |machine: &&'static dyn Machine| format!("tsunagi bench {}", machine.name());
    let json = format!("tsunagi bench {} --json", first().name());
    commands(machines::all().iter().map(of).chain([json]))
}
