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

use std::collections::{BTreeMap, BTreeSet};

use super::Emx;
use super::asm::Source;
use super::backend::{Backend, Counts, Forged, RunError, Trouble};
use super::golden::route::{Path, Place, Shape, channel_beyond};
use super::host::{Emx as Loaded, HostError};
use super::library::layout;
use super::model;
use super::packet::{Kind, Packet, global};
use super::params::Config;
use super::regs::*;
use super::rtl;
use crate::campaign::{self, Broken, Campaign, Case, CaseError, Clause, Known, Met, On, Ran, on_first_nodes};
use crate::harness::event::{Event, EventKind};
use crate::harness::faults::{Fault, Injection};
use crate::harness::params::{Settings, Table as _};
use crate::harness::seed::{Rng, Seed};
use crate::harness::wave::Probe;
use crate::{NodeId, Picos};

/// Numbers of PEs that a packet can name.
const NUMBERS: u64 = (PKT_W0_PE_MASK >> PKT_W0_PE_SHIFT) + 1;
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
/// Most packets of a command.
const PACKETS: u32 = 24;
const LONGEST_SPIN: u32 = 4000;
/// Longer than any run that does not hang, in cycles behind the last fault.
const BOUND: u64 = 200_000;
/// Faults begin within so many cycles.
const HORIZON: u64 = 3000;
/// Reasons that are judged.
const REASONS: [u32; 4] = [REASON_TYPE, REASON_RANGE, REASON_OVERRUN, REASON_NOWHERE];

/// Packets that a receiver refuses for their form, by name, and the code that sends one.
const FORMS: [(&str, &str); 5] = [
    ("type-8", "soak_type_8"),
    ("type-15", "soak_type_15"),
    ("side", "soak_side"),
    ("match", "soak_match"),
    ("tag", "soak_tag"),
];

/// A command of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    /// `write TO AT VALUE`: a word of the sender's window.
    Write { to: u32, at: u32, value: u32 },
    /// `block TO WORDS FROM AT`: from the sources to the sender's window.
    Block { to: u32, words: u32, from: u32, at: u32 },
    /// `read OF FROM AT`, `reads OF PACKETS FROM AT`: a word of another's sources, once or oftener, to AT of its own reads.
    Read { of: u32, packets: u32, from: u32, at: u32 },
    /// `add TO PACKETS VALUE`, `urgent TO PACKETS VALUE`: so many packets, each of which adds the value.
    Add {
        to: u32,
        packets: u32,
        value: u32,
        urgent: bool,
    },
    /// `word TO VALUE`: a word message of the sender's type.
    Word { to: u32, value: u32 },
    /// `ask TO VALUE AT`: two operands meet there, and their thread answers.
    Ask { to: u32, value: u32, at: u32 },
    /// `call TO VALUE AT`: a frame is taken there, a function runs in it, and frees it.
    Call { to: u32, value: u32, at: u32 },
    /// `spin TURNS`: a thread that does not end for so long.
    Spin(u32),
    /// `nowhere PE`: a word to a PE that is not there.
    Nowhere(u32),
    /// `form TO NAME`: a packet of a form that is none.
    Form { to: u32, form: usize },
    /// `beyond TO ADDR`, `beyond-read TO ADDR`: a word outside of memory.
    Beyond { to: u32, addr: u32, read: bool },
    /// `half TO VALUE`: an operand whose partner never comes; a second one is too many.
    Half { to: u32, value: u32 },
}

impl Command {
    /// `None` for a text that is no command.
    fn parse(text: &str) -> Option<Command> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |word: &str| word.parse::<u32>().ok();
        let pe = |word: &str| number(word).filter(|pe| *pe < MOST_PES);
        let below = |word: &str, end: u32| number(word).filter(|value| *value < end);
        let packets = |word: &str| number(word).filter(|packets| (1..=PACKETS).contains(packets));
        Some(match words[..] {
            ["write", to, at, value] => Command::Write {
                to: pe(to)?,
                at: below(at, WINDOW)?,
                value: number(value)?,
            },
            ["block", to, words, from, at] => {
                let (words, from, at) = (packets(words)?, below(from, SOURCES)?, below(at, WINDOW)?);
                let fits = from + words <= SOURCES && at + words <= WINDOW;
                let to = pe(to)?;
                fits.then_some(Command::Block { to, words, from, at })?
            }
            ["read", of, from, at] => Command::Read {
                of: pe(of)?,
                packets: 1,
                from: below(from, SOURCES)?,
                at: below(at, READ)?,
            },
            ["reads", of, count, from, at] => Command::Read {
                of: pe(of)?,
                packets: packets(count)?,
                from: below(from, SOURCES)?,
                at: below(at, READ)?,
            },
            [how @ ("add" | "urgent"), to, count, value] => Command::Add {
                to: pe(to)?,
                packets: packets(count)?,
                value: below(value, 1 << 16)?,
                urgent: how == "urgent",
            },
            ["word", to, value] => Command::Word {
                to: pe(to)?,
                value: below(value, 1 << 16)?,
            },
            ["ask", to, value, at] => Command::Ask {
                to: pe(to)?,
                value: number(value)?,
                at: below(at, ANSWER)?,
            },
            ["call", to, value, at] => Command::Call {
                to: pe(to)?,
                value: number(value)?,
                at: below(at, ANSWER)?,
            },
            ["spin", turns] => Command::Spin(number(turns).filter(|turns| (1..=LONGEST_SPIN).contains(turns))?),
            ["nowhere", to] => Command::Nowhere(below(to, NUMBERS as u32)?),
            ["form", to, name] => Command::Form {
                to: pe(to)?,
                form: FORMS.iter().position(|form| form.0 == name)?,
            },
            [how @ ("beyond" | "beyond-read"), to, addr] => Command::Beyond {
                to: pe(to)?,
                addr: number(addr).filter(|addr| is_beyond(*addr))?,
                read: how == "beyond-read",
            },
            ["half", to, value] => Command::Half {
                to: pe(to)?,
                value: number(value)?,
            },
            _ => return None,
        })
    }

    /// Whether a machine of so many PEs, of which these have programs, has all that it names.
    fn is_there(&self, pes: u32, used: u32) -> bool {
        match *self {
            Command::Spin(_) => true,
            Command::Nowhere(to) => to >= pes,
            Command::Write { to, .. }
            | Command::Block { to, .. }
            | Command::Read { of: to, .. }
            | Command::Add { to, .. }
            | Command::Word { to, .. }
            | Command::Ask { to, .. }
            | Command::Call { to, .. }
            | Command::Form { to, .. }
            | Command::Beyond { to, .. }
            | Command::Half { to, .. } => to < used,
        }
    }

    /// Its words in the memory of PE `own`: the symbol of its code, r4 to r6, and where a result goes.
    fn code(&self, own: u32, function: u32) -> (&'static str, [u32; 4]) {
        let window = WINDOWS + WINDOW * own;
        let word = global(own, layout::PORT + 33 + TYPES);
        match *self {
            Command::Write { to, at, value } => ("soak_write", [global(to, window + at), value, 0, 0]),
            Command::Block { to, words, from, at } => {
                ("soak_block", [SOURCE + from, global(to, window + at), words, 0])
            }
            Command::Read { of, packets, from, at } => {
                let (word, answer) = (global(of, SOURCE + from), global(own, READS + at));
                ("soak_read", [word, answer, packets, 0])
            }
            Command::Add {
                to,
                packets,
                value,
                urgent,
            } => {
                let code = if urgent { "soak_urgent" } else { "soak_add" };
                (code, [global(to, SERVE + 1), own << 24 | value, packets, 0])
            }
            Command::Word { to, value } => (
                "soak_word",
                [global(to, layout::PORT), own % TYPES, own << 16 | value, 0],
            ),
            Command::Ask { to, value, at } => {
                let answer = global(own, layout::PORT + 1);
                ("soak_ask", [global(to, SERVE + 8 + own), value, answer, ANSWERS + at])
            }
            Command::Call { to, value, at } => ("soak_call", [global(to, function), word, value, ANSWERS + at]),
            Command::Spin(turns) => ("soak_spin", [turns, 0, 0, 0]),
            Command::Nowhere(to) => ("soak_write", [global(to, GUARD), 0, 0, 0]),
            Command::Form { to, form } => (FORMS[form].1, [global(to, GUARD + 1), 1, 0, 0]),
            Command::Beyond { to, addr, read } => {
                let code = if read { "soak_read" } else { "soak_write" };
                (code, [global(to, addr), global(own, GUARD + 2), 1, 0])
            }
            Command::Half { to, value } => ("soak_right", [global(to, HALVES + 1 + own), value, 0, 0]),
        }
    }
}

/// Beyond memory, or where packets of either machine are spilled.
fn is_beyond(addr: u32) -> bool {
    (0x1_0000..=PKT_W0_ADDR_MASK as u32).contains(&addr) || (0x2000..0x4000).contains(&addr)
}

/// The commands of a random program.
fn program(rng: &mut Rng, pes: u64, used: u64) -> Vec<String> {
    let command = |rng: &mut Rng| {
        // Many of them have the same receiver.
        let to = if rng.chance(1, 3) { 0 } else { rng.below(used) };
        let value = rng.below(1 << 16);
        match rng.below(16) {
            0 | 1 => format!("write {to} {} {}", rng.below(WINDOW.into()), rng.below(1 << 32)),
            2 | 3 => {
                let words = rng.between(1, PACKETS.into());
                let from = rng.below(u64::from(SOURCES) - words + 1);
                format!("block {to} {words} {from} {}", rng.below(u64::from(WINDOW) - words + 1))
            }
            4 => format!("read {to} {} {}", rng.below(SOURCES.into()), rng.below(READ.into())),
            5 => {
                let (packets, from) = (rng.between(1, PACKETS.into()), rng.below(SOURCES.into()));
                format!("reads {to} {packets} {from} {}", rng.below(READ.into()))
            }
            6 => format!("add {to} {} {value}", rng.between(1, PACKETS.into())),
            7 => format!("urgent {to} {} {value}", rng.between(1, PACKETS.into())),
            8 => format!("word {to} {value}"),
            9 | 10 => format!("ask {to} {value} {}", rng.below(ANSWER.into())),
            11 => format!("call {to} {value} {}", rng.below(ANSWER.into())),
            12 => {
                let longest = [10, 200, u64::from(LONGEST_SPIN)][rng.below(3) as usize];
                format!("spin {}", rng.between(1, longest))
            }
            13 => format!("half {to} {value}"),
            14 => format!("nowhere {}", rng.between(pes, NUMBERS - 1)),
            _ => match rng.below(3) {
                0 => format!("form {to} {}", FORMS[rng.below(FORMS.len() as u64) as usize].0),
                1 => format!("beyond {to} {}", 0x2000 + rng.below(0x2000)),
                _ => format!("beyond-read {to} {}", rng.between(0x1_0000, PKT_W0_ADDR_MASK)),
            },
        }
    };
    (0..rng.below(COMMANDS as u64 + 1)).map(|_| command(rng)).collect()
}

/// A packet of a neighbour as it stands in a case: two words, then its input and channel.
fn forged(rng: &mut Rng) -> Fault {
    let mut packet = Packet {
        kind: Kind(rng.below(128) as u8),
        pe: rng.below(NUMBERS) as u16,
        addr: rng.below(1 << 22) as u32,
        tag: rng.below(128) as u8,
        data: rng.bits() as u32,
    };
    if !packet.is_malformed() {
        packet.addr |= 0x10_0000;
    }
    let [w0, w1] = packet.words();
    Fault::Packet(vec![w0, w1, rng.below(2), rng.below(SIZE_CHANNELS.into())])
}

/// `None`: no packet that each receiver must refuse.
fn read_forged(words: &[u64]) -> Option<Forged> {
    let &[w0, w1, input, channel] = words else { return None };
    let packet = Packet::of([w0, w1]);
    let whole = w0 >> 39 == 0 && w1 >> 39 == 0;
    let refused = packet.is_malformed() || packet.addr >= 0x1_0000;
    let there = input < 2 && channel < SIZE_CHANNELS.into();
    (whole && refused && there).then_some(Forged {
        input: input as u8,
        channel: channel as u8,
        words: [w0, w1],
    })
}

/// Where a neighbour's packet ends: `None` if a switch throws it away.
fn goal(shape: Shape, pe: u32, forged: &Forged) -> Option<u32> {
    let (mut at, mut channel) = (shape.place(pe)?, u32::from(forged.channel));
    let mut path = Path(Packet::of(forged.words).pe);
    while path != Path::HERE {
        let (output, rest) = path.next()?;
        channel = channel_beyond(at.column, channel)?;
        at = shape.link(at, output).0;
        path = rest;
    }
    let is_at = |place: Place| place == at;
    (0..shape.pes()).find(|pe| shape.place(*pe).is_some_and(is_at))
}

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
        let programs = (0..used).map(|_| program(rng, pes, used)).collect();
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

fn fault(rng: &mut Rng, pes: u64, period: Picos) -> Injection {
    let longest = [20, 200, 2000][rng.below(3) as usize];
    let span = period * rng.between(1, longest);
    let fault = match rng.below(9) {
        0 | 1 => Fault::LinkStalls(span),
        2 | 3 => Fault::MemoryStalls(span),
        4 | 5 => Fault::SoftwareSleeps(span),
        6 | 7 => forged(rng),
        _ => Fault::NicResets(span),
    };
    Injection {
        at: period * rng.below(HORIZON),
        node: NodeId(rng.below(pes) as u16),
        fault,
    }
}

/// The programs of a case, and what must come of them.
struct Expected {
    programs: Vec<Vec<Command>>,
    before: Vec<Vec<u32>>,
    /// By PE: what words may hold that may change.
    words: Vec<BTreeMap<u32, BTreeSet<u32>>>,
    /// By PE and reason.
    refused: Vec<[u64; REASONS.len()]>,
    /// By receiver and sender: word messages in their order.
    messages: Vec<Vec<Vec<u32>>>,
    /// Neighbours' packets that arrive.
    forged: u64,
}

impl Expected {
    fn new(case: &Case, config: &Config) -> Expected {
        let pes = config.pes() as usize;
        let words = |pe| {
            let mut rng = Seed(case.chance).stream(&format!("memory {pe}"));
            (MEMORY..END).map(|_| rng.bits() as u32).collect()
        };
        let parsed = |program: &Vec<String>| program.iter().filter_map(|text| Command::parse(text)).collect();
        let mut programs: Vec<Vec<Command>> = case.programs.iter().map(parsed).collect();
        programs.resize(config.used as usize, Vec::new());
        let mut expected = Expected {
            programs: programs.clone(),
            before: (0..pes).map(words).collect(),
            words: vec![BTreeMap::new(); pes],
            refused: vec![[0; REASONS.len()]; pes],
            messages: vec![vec![Vec::new(); MOST_PES as usize]; pes],
            forged: 0,
        };
        for (own, program) in (0..).zip(&programs) {
            program.iter().for_each(|command| expected.add(own, command));
        }
        expected
    }

    fn before(&self, pe: u32, addr: u32) -> u32 {
        self.before[pe as usize][(addr - MEMORY) as usize]
    }

    fn is(&mut self, pe: u32, addr: u32, value: u32) {
        self.words[pe as usize].insert(addr, [value].into());
    }

    fn refuses(&mut self, pe: u32, reason: u32) {
        let at = REASONS.iter().position(|other| *other == reason).expect("it is judged");
        self.refused[pe as usize][at] += 1;
    }

    /// What a command does that is legal, or not.
    fn add(&mut self, own: u32, command: &Command) {
        let window = WINDOWS + WINDOW * own;
        match *command {
            Command::Spin(_) => (),
            Command::Write { to, at, value } => self.is(to, window + at, value),
            Command::Block { to, words, from, at } => (0..words).for_each(|word| {
                let value = self.before(own, SOURCE + from + word);
                self.is(to, window + at + word, value);
            }),
            // Answers from several PEs may come in any order.
            Command::Read { of, from, at, .. } => {
                let value = self.before(of, SOURCE + from);
                self.words[own as usize].entry(READS + at).or_default().insert(value);
            }
            Command::Add { to, packets, value, .. } => {
                let addr = SUMS + own;
                let sum = self.words[to as usize]
                    .get(&addr)
                    .and_then(|values| values.first().copied());
                let sum = sum.unwrap_or_else(|| self.before(to, addr));
                self.is(to, addr, sum.wrapping_add(value * packets));
            }
            Command::Word { to, value } => self.messages[to as usize][own as usize].push(own << 16 | value),
            Command::Ask { to, value, at } => {
                // The first operand waited in its slot.
                self.is(to, SERVE + 8 + own, value);
                self.is(own, ANSWERS + at, value.wrapping_mul(2).wrapping_add(1));
            }
            Command::Call { value, at, .. } => self.is(own, ANSWERS + at, value.wrapping_mul(3).wrapping_add(7)),
            Command::Nowhere(_) => self.refuses(own, REASON_NOWHERE),
            Command::Form { to, .. } => self.refuses(to, REASON_TYPE),
            Command::Beyond { to, .. } => self.refuses(to, REASON_RANGE),
            Command::Half { to, value } => {
                let addr = HALVES + 1 + own;
                if self.words[to as usize].contains_key(&addr) {
                    self.refuses(to, REASON_OVERRUN);
                } else {
                    self.is(to, addr, value);
                }
            }
        }
    }

    /// A neighbour's packet that comes to a PE.
    fn comes(&mut self, shape: Shape, pe: u32, forged: &Forged) {
        if let Some(goal) = goal(shape, pe, forged) {
            let malformed = Packet::of(forged.words).is_malformed();
            self.refuses(goal, if malformed { REASON_TYPE } else { REASON_RANGE });
            self.forged += 1;
        }
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

/// Judges results, memories, messages and counts.
fn judge(machine: &mut Loaded, expected: &Expected, told: &[u32]) -> Result<(), Broken> {
    let done: Vec<u32> = expected.programs.iter().map(|program| program.len() as u32).collect();
    if *told != done[..told.len()] {
        let what = format!("programs of {done:?} commands told that they did {told:?}");
        return Err(Broken::new(Clause::Report, what));
    }
    let mut all = Counts::default();
    for pe in 0..machine.config().pes() {
        memory(machine, expected, pe)?;
        messages(machine, expected, pe)?;
        let counts = machine.machine.counts(pe);
        let refused = REASONS.map(|reason| counts.refused[reason as usize]);
        if refused != expected.refused[pe as usize] {
            let what = format!("PE {pe} refused {refused:?} packets by TYPE, RANGE, OVERRUN and NOWHERE");
            let what = format!("{what}, and not {:?}", expected.refused[pe as usize]);
            return Err(Broken::new(Clause::Report, what));
        }
        all.sent += counts.sent;
        all.received += counts.received;
        all.refused[REASON_NOWHERE as usize] += counts.refused[REASON_NOWHERE as usize];
    }
    let left = all.sent - all.refused[REASON_NOWHERE as usize] + expected.forged;
    if all.received < left {
        let what = format!(
            "{} packets arrived, of {left} that PEs and neighbours sent",
            all.received
        );
        return Err(Broken::new(Clause::Loss, what));
    }
    Ok(())
}

fn memory(machine: &mut Loaded, expected: &Expected, pe: u32) -> Result<(), Broken> {
    let mut judged: Vec<u32> = (MEMORY..PROGRAM).filter(|addr| *addr != SERVE).collect();
    judged.extend(HALVES + 1..HALVES + 1 + MOST_PES);
    let mut now = machine.machine.words(pe, MEMORY, PROGRAM - MEMORY);
    now.remove((SERVE - MEMORY) as usize);
    now.extend(machine.machine.words(pe, HALVES + 1, MOST_PES));
    for (addr, is) in judged.into_iter().zip(now) {
        let was = if addr < MEMORY { 0 } else { expected.before(pe, addr) };
        let fits = match expected.words[pe as usize].get(&addr) {
            Some(values) => values.contains(&is),
            None => is == was,
        };
        if !fits {
            let may = expected.words[pe as usize].get(&addr);
            let what = format!("PE {pe}: {addr:#x} holds {is:#x}, was {was:#x}, may hold {may:x?}");
            return Err(Broken::new(Clause::Memory, what));
        }
    }
    Ok(())
}

/// Word messages stand in the rings of their types, those of a sender in their order.
fn messages(machine: &mut Loaded, expected: &Expected, pe: u32) -> Result<(), Broken> {
    let mut left = expected.messages[pe as usize].clone();
    left.iter_mut().for_each(|words| words.reverse());
    for kind in 0..TYPES {
        if left
            .iter()
            .skip(kind as usize)
            .step_by(TYPES as usize)
            .all(Vec::is_empty)
        {
            continue;
        }
        let (ring, tail) = (
            layout::RINGS + 64 * kind,
            machine.machine.word(pe, layout::QUEUES + 4 * kind + 1),
        );
        for word in machine.machine.words(pe, ring, tail.saturating_sub(ring).min(64)) {
            let from = word >> 16;
            let next = left.get_mut(from as usize).and_then(Vec::pop);
            if next != Some(word) {
                let what = format!("PE {pe} got the word message {word:#x}, and not {next:x?} of PE {from}");
                return Err(Broken::new(Clause::Order, what));
            }
        }
    }
    match left.iter().position(|words| !words.is_empty()) {
        None => Ok(()),
        Some(from) => {
            let what = format!("PE {pe}: {} word messages of PE {from} did not come", left[from].len());
            Err(Broken::new(Clause::Loss, what))
        }
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
