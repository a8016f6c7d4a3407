//! EM-4 and EM-X in the fault campaign: programs of thread code send, write, read, ask and call, legally and not.
//!
//! What may come of it:
//!
//! - Each program comes to its end, and so does all that it began, within a bound behind the last fault.
//! - Words that were written, read, asked for and called for are where the program says. What one PE sends another
//!   arrives in the order sent.
//! - Each illegal packet is counted once, by its reason: at the sender if there is no such receiver, else at the
//!   receiver. It changes nothing.
//! - Each packet that was sent arrives, but those. A path that no sender makes leads a neighbour's packet nowhere.
//! - No other word changes: not the sources, and no guard.
//! - Legal traffic afterwards is as ever.
//!
//! A neighbour's packet is one that each receiver must refuse: EM-4 protects no word of memory from a legal one.

mod draw;
mod judge;

use super::Emx;
use super::asm::Source;
use super::backend::{Backend, RunError, Trouble};
use super::golden::route::Shape;
use super::host::{Emx as Loaded, HostError};
use super::model;
use super::params::Config;
use super::regs::{SIZE_FRAME, TELL};
use super::rtl;
use crate::campaign::{self, Broken, Campaign, Case, CaseError, Clause, Known, Met, On, Ran, on_first_nodes};
use crate::harness::event::{Event, EventKind};
use crate::harness::faults::{Fault, Injection};
use crate::harness::params::{Settings, Table as _};
use crate::harness::seed::Rng;
use crate::harness::wave::Probe;
use crate::{NodeId, Picos};
use draw::{Command, fault, program, read_forged, storm};
use judge::{Expected, judge};

/// PEs with a program, at most.
const MOST_PES: u32 = 20;
/// Memory of a PE that the programs use: sources, a window for each sender, then one for its own reads, and so on.
const MEMORY: u32 = 0x7000;
const SOURCE: u32 = MEMORY;
const SOURCES: u32 = 128;
const WINDOWS: u32 = SOURCE + SOURCES;
const WINDOW: u32 = 40;
const READS: u32 = WINDOWS + WINDOW * MOST_PES;
const READ: u32 = 32;
/// A sum for each sender.
const SUMS: u32 = READS + READ;
/// Results of calls and questions.
const ANSWERS: u32 = SUMS + 32;
const ANSWER: u32 = 32;
/// Frame of what others' packets start, and of operands that never meet.
const SERVE: u32 = ANSWERS + ANSWER;
const HALVES: u32 = 0x180;
/// Nobody writes here.
const GUARD: u32 = SERVE + SIZE_FRAME;
/// Commands of the PE.
const PROGRAM: u32 = GUARD + SIZE_FRAME;
const END: u32 = PROGRAM + SIZE_FRAME;
/// Words of a command, and most commands of a program.
const COMMAND: u32 = 5;
const COMMANDS: usize = 8;
/// The types of words, and the one by which results come.
const TYPES: u32 = 16;
/// Longer than any run that does not hang, in cycles behind the last fault.
const BOUND: u64 = 200_000;

impl Campaign for Emx {
    fn draw(&self, rng: &mut Rng) -> Case {
        // The sizes of both machines of which there is RTL that is small enough.
        let is_x = rng.chance(1, 3);
        let pes = if is_x { 20 } else { 5 };
        let used = rng.between(2, pes);
        let chunk = [10, 10, 1, 3, 0][rng.below(5) as usize];
        let mut settings = vec![("row_bits", if is_x { 2.0 } else { 0.0 }), ("used", used as f64)];
        settings.push(("chunk", f64::from(chunk)));
        if is_x {
            settings.extend(super::params::EM_X);
        }
        let storms = rng.chance(1, 4);
        let draw = |own| {
            if storms {
                storm(rng, own, used)
            } else {
                program(rng, pes, used)
            }
        };
        let programs = (0..used).map(draw).collect();
        let period = Config::paper().clock_period;
        let mut faults: Vec<Injection> = (0..rng.below(6)).map(|_| fault(rng, pes, period)).collect();
        faults.sort_by_key(|injection| (injection.at, injection.node));
        Case {
            chance: 0,
            settings: Settings::default().with(&settings),
            programs,
            faults,
        }
    }

    fn accepts(&self, case: &Case) -> Result<(), CaseError> {
        let config = Config::of(&case.settings).map_err(|error| CaseError::Settings(error.to_string()))?;
        config.check().map_err(|error| CaseError::Settings(error.to_string()))?;
        let (pes, used) = (config.pes(), config.used);
        if used > MOST_PES {
            return Err(CaseError::Settings(format!("used={used}: at most {MOST_PES}")));
        }
        if let Some(program) = case.programs.iter().position(|program| program.len() > COMMANDS) {
            let text = case.programs[program][COMMANDS].clone();
            return Err(CaseError::Command { program, text });
        }
        let known = Known {
            nodes: pes as usize,
            programs: used as usize,
            command: &|text, _| Command::parse(text).is_some_and(|command| command.is_there(pes, used)),
            fault: &|fault| match fault {
                Fault::MemoryRefuses(_) => Some("a PE's memory is its own, and takes every command"),
                Fault::MemoryFails { .. } => Some("a PE's memory is its own, and does not fail"),
                Fault::PagesGone { .. } => Some("EM-4 has no pages"),
                Fault::InterruptsMasked(_) => Some("programs of EM-4 take no interrupts"),
                Fault::Packet(words) if read_forged(words).is_none() => {
                    Some("a packet is two words that each PE refuses, the input 0 or 1, and the channel 0 to 2")
                }
                _ => None,
            },
        };
        campaign::accepts(case, &known)
    }

    fn is_on_model(&self, fault: &Fault) -> bool {
        !matches!(fault, Fault::Packet(_))
    }

    fn fewer(&self, case: &Case) -> Vec<Case> {
        let used = Config::of(&case.settings).map_or(0, |config| config.used);
        let settings = [("used", f64::from(used) - 1.0)];
        let smaller = (used > 2).then(|| on_first_nodes(case, used as usize, used as usize - 1, &settings));
        let smaller = smaller.flatten().filter(|case| self.accepts(case).is_ok());
        smaller.into_iter().collect()
    }

    fn run(&self, case: &Case, on: On, probe: &Probe) -> Result<Ran, Broken> {
        let config = Config::of(&case.settings).map_err(|error| Broken::new(Clause::Report, error.to_string()))?;
        let not_built = |error: rtl::NotBuilt| Broken::new(Clause::Report, error.to_string());
        let mut machine: Box<dyn Backend> = match on {
            On::Model => Box::new(model::Machine::new(&config)),
            On::Rtl => rtl::build_with(&config, Some(case.chance), true).map_err(not_built)?,
            On::Ungated => rtl::build_with(&config, Some(case.chance), false).map_err(not_built)?,
        };
        machine.probe(config.clock_period, probe);
        play(case, &config, machine)
    }
}

/// The code of the programs.
fn code() -> Source {
    let entries: String = (0..MOST_PES).map(|from| format!("serve_entry {from}\n")).collect();
    Source {
        name: "soak.s".into(),
        text: format!(".equ SUMS, {SUMS}\n{}{entries}", include_str!("campaign/soak.s")),
    }
}

fn trouble(fault: &Fault, period: Picos) -> Option<Trouble> {
    let cycles = |span: &Picos| span.0.div_ceil(period.0).max(1);
    Some(match fault {
        Fault::LinkStalls(span) => Trouble::Links(cycles(span)),
        Fault::MemoryStalls(span) | Fault::MemoryRefuses(span) => Trouble::Reads(cycles(span)),
        Fault::SoftwareSleeps(span) => Trouble::Stops(cycles(span)),
        Fault::Packet(words) => Trouble::Packet(read_forged(words)?),
        _ => return None,
    })
}

/// The fault of which this came.
fn name(trouble: &Trouble) -> &'static str {
    match trouble {
        Trouble::Links(_) => "link-stalls",
        Trouble::Reads(_) => "memory-stalls",
        Trouble::Stops(_) => "software-sleeps",
        Trouble::Packet(_) => "packet",
    }
}

/// Puts programs and data into all PEs.
fn fill(machine: &mut Loaded, expected: &Expected) {
    let symbol = |machine: &Loaded, name: &str| machine.image.symbols[name];
    let (serve, function) = (symbol(machine, "SERVE"), symbol(machine, "FUNCTION"));
    for pe in 0..machine.config().pes() {
        let mut words = expected.before[pe as usize].clone();
        words[(SERVE - MEMORY) as usize] = serve;
        let program = expected.programs.get(pe as usize).map_or(&[][..], |program| program);
        let mut at = (PROGRAM - MEMORY) as usize;
        for command in program {
            let (name, rest) = command.code(pe, function);
            words[at] = symbol(machine, name);
            words[at + 1..at + 5].copy_from_slice(&rest);
            at += COMMAND as usize;
        }
        words[at] = symbol(machine, "soak_end");
        let all = (MEMORY..)
            .zip(words)
            .chain((HALVES..HALVES + SIZE_FRAME).map(|addr| (addr, 0)));
        all.for_each(|(addr, word)| machine.machine.set_word(pe, addr, word));
    }
}

/// Runs a case and judges it.
///
/// # Errors
/// The first clause that is broken.
pub fn play(case: &Case, config: &Config, machine: Box<dyn Backend>) -> Result<Ran, Broken> {
    let failed = |error: HostError| Broken::new(Clause::Report, error.to_string());
    let mut machine = Loaded::on(config, machine, &[code()]).map_err(failed)?;
    let (period, shape) = (config.clock_period, Shape::new(config.row_bits));
    let cycle = |at: Picos| at.0 / period.0;
    let mut expected = Expected::new(case, config);
    machine.machine.record();
    let mut begin = Picos::ZERO;
    let mut met = Met::default();
    let resets = case
        .faults
        .iter()
        .filter(|fault| matches!(fault.fault, Fault::NicResets(_)));
    let ends: Vec<Option<&Injection>> = resets.map(Some).chain([None]).collect();
    let mut told = Ok(Vec::new());
    for end in ends {
        expected = Expected::new(case, config);
        fill(&mut machine, &expected);
        let until = end.map_or(Picos(u64::MAX), |reset| reset.at);
        let mut bound = BOUND;
        for injection in case.faults.iter().filter(|fault| (begin..until).contains(&fault.at)) {
            let Some(trouble) = trouble(&injection.fault, period) else {
                continue;
            };
            let (after, pe) = (cycle(injection.at - begin), injection.node.0.into());
            if machine.machine.trouble(after, pe, trouble)
                && let Trouble::Packet(forged) = trouble
            {
                expected.comes(shape, pe, &forged);
            }
            bound = bound.max(after + cycle(injection.fault.span()) + BOUND);
        }
        machine.limit = end.map_or(bound, |_| cycle(until - begin).max(1));
        let arguments = vec![vec![PROGRAM]; config.used as usize];
        told = machine.call("SOAK", &arguments);
        for (trouble, doing) in machine.machine.met() {
            *met.entry((name(&trouble), doing.name())).or_default() += 1;
        }
        let Some(reset) = end else { continue };
        match told {
            Ok(_) | Err(HostError::Run(RunError::Limit { .. })) => (),
            Err(error) => return Err(broken(error)),
        }
        if let Some(doing) = machine.reset(reset.node.0.into()) {
            *met.entry((reset.fault.name(), doing.name())).or_default() += 1;
        }
        begin = until;
    }
    let told = told.map_err(broken)?;
    settle(&mut machine)?;
    judge(&mut machine, &expected, &told)?;
    afterwards(&mut machine, config)?;
    let lost = expected.refused.iter().flatten().sum();
    Ok(Ran {
        met,
        events: events(&mut *machine.machine, period),
        lost,
        simulated: machine.now(),
    })
}

/// The clause that an end without results breaks.
fn broken(error: HostError) -> Broken {
    let clause = match &error {
        HostError::Run(RunError::Hang { .. } | RunError::Limit { .. }) => Clause::Hang,
        HostError::Run(RunError::Order(_)) => Clause::Order,
        _ => Clause::Report,
    };
    Broken::new(clause, error.to_string())
}

/// Goes on until nothing moves.
fn settle(machine: &mut Loaded) -> Result<(), Broken> {
    match machine.machine.run(1, BOUND) {
        Err(RunError::Hang { .. }) => Ok(()),
        Err(error) => Err(broken(error.into())),
        Ok(told) => Err(Broken::new(Clause::Report, format!("{:?} was told twice", told.values))),
    }
}

/// Every PE writes to the next one, and asks and calls it.
fn afterwards(machine: &mut Loaded, config: &Config) -> Result<(), Broken> {
    let used = config.used;
    let program = |own: u32| {
        let to = (own + 1) % used;
        let (words, from, at, value) = (23, 5, 7, own + 77);
        vec![
            Command::Block { to, words, from, at },
            Command::Ask { to, value, at: 0 },
            Command::Call { to, value, at: 1 },
        ]
    };
    let mut expected = Expected::new(&Case::default(), config);
    expected.programs = (0..used).map(program).collect();
    for (own, program) in (0..).zip(expected.programs.clone()) {
        program.iter().for_each(|command| expected.add(own, command));
    }
    // A half that waits there stays.
    let symbols = &machine.image.symbols;
    let (function, end) = (symbols["FUNCTION"], symbols["soak_end"]);
    for pe in 0..used {
        let mut at = PROGRAM;
        for command in &expected.programs[pe as usize] {
            let (name, rest) = command.code(pe, function);
            for word in [machine.image.symbols[name]].into_iter().chain(rest) {
                machine.machine.set_word(pe, at, word);
                at += 1;
            }
        }
        machine.machine.set_word(pe, at, end);
        let sources = expected.before[pe as usize][..SOURCES as usize].to_vec();
        (SOURCE..)
            .zip(sources)
            .for_each(|(addr, word)| machine.machine.set_word(pe, addr, word));
    }
    machine.limit = BOUND;
    let late = |what: String| Broken::new(Clause::Afterwards, what);
    let told = machine.call("SOAK", &vec![vec![PROGRAM]; used as usize]);
    let told = told.map_err(|error| late(error.to_string()))?;
    settle(machine).map_err(|broken| late(broken.what))?;
    for pe in 0..used {
        for (addr, values) in expected.words[pe as usize].clone() {
            let is = machine.machine.word(pe, addr);
            if !values.contains(&is) || told[pe as usize] != 3 {
                return Err(late(format!("PE {pe}: {addr:#x} holds {is:#x}, and not {values:x?}")));
            }
        }
    }
    Ok(())
}

/// What happened at the ports, as all machines tell it.
fn events(machine: &mut dyn Backend, period: Picos) -> Vec<Event> {
    let event = |event: rtl::Event| Event {
        at: period * event.cycle,
        node: NodeId(event.pe as u16),
        kind: match event.kind {
            rtl::EventKind::Retire { pc } => EventKind::Retire { pc, trapped: false },
            rtl::EventKind::Tell { value } => EventKind::RegWrite { offset: TELL, value },
            rtl::EventKind::Link(link) => {
                let folded =
                    link.word ^ link.word >> 13 ^ link.word >> 26 ^ link.channel << 7 ^ (link.output as u64) << 9;
                if link.last {
                    EventKind::TxLast { flits: folded as u32 }
                } else {
                    EventKind::TxFirst { head: folded as u16 }
                }
            }
        },
    };
    machine.events().into_iter().map(event).collect()
}
