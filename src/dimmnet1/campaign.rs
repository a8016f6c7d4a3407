//! DIMMnet-1 in the fault campaign: programs send, read and store through the host library, legally and not.
//!
//! What may come of it:
//!
//! - A call that succeeds leaves its bytes where it says, at the instant when it returns.
//! - A call fails only where a memory failed meanwhile, or where it was illegal; then it names the reason, and its
//!   bytes are those before or its own.
//! - An illegal call changes nothing, and is refused with its reason.
//! - Words by AOTF arrive in their order; those that are lost are counted.
//! - No byte changes but destinations of calls. A neighbour's packets, of a node and a stamp that nobody has, change
//!   nothing, whatever else is in them.
//! - Legal calls afterwards succeed.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use super::Dimmnet1;
use super::golden::packet::{Header, Place, Reason, get};
use super::host::layout::{self, common};
use super::host::{CommError, Dimmnet1Sim, How, Message, Node};
use super::model::ModelMachine;
use super::params::Config;
use super::regs::*;
use super::rtl;
use crate::campaign::memory::Allowed;
use crate::campaign::{
    self, Broken, Campaign, Case, CaseError, Clause, Known, Met, On, Ran, Sleeper, Touched, Victim, draw_faults, hang,
    on_first_nodes, plan,
};
use crate::harness::backend::{AnyBackend, Backend as _};
use crate::harness::exec::Host;
use crate::harness::faults::Fault;
use crate::harness::params::{Settings, Table as _};
use crate::harness::seed::{Rng, Seed};
use crate::harness::wave::Probe;
use crate::{Addr, NodeId, Picos};

const MOST_NODES: u32 = 8;
/// Memory of a node that the programs use: sources, then a window for each sender, then one for its own reads.
const MEMORY: u32 = 0x3_0000;
const SOURCE: Range<u32> = 0..0x1_0000;
const WINDOWS: u32 = 0x1_0000;
const WINDOW: u32 = 0x3000;
const READS: u32 = WINDOWS + WINDOW * MOST_NODES;
/// Longer than any run that does not hang.
const BOUND: Picos = Picos::from_ns(100_000_000);
/// Faults begin within this time.
const HORIZON: Picos = Picos::from_ns(200_000);
/// Within this time, words under way are stored.
const SETTLE: Picos = Picos::from_ns(20_000);
const LONGEST_PAUSE: u32 = 1_000_000;

/// How a command moves its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Botf,
    Rdma,
    /// Through a pointer that the sender's window begins with.
    Indirect,
    Pull,
}

/// A command of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Command {
    /// `botf|rdma|indirect|pull TO BYTES FROM AT`: offsets in the sources, and in the sender's window.
    Move {
        how: By,
        to: u16,
        bytes: u32,
        from: u32,
        at: u32,
    },
    /// `beyond TO BYTES`: a write behind the end of a region.
    Beyond { to: u16, bytes: u32 },
    /// `unknown TO BYTES`: a write into no region.
    Unknown { to: u16, bytes: u32 },
    /// `word TO VALUE`: the sender's word of LLCM, by AOTF.
    Word { to: u16, value: u32 },
    /// `pause NS`
    Pause(Picos),
}

impl Command {
    /// `None` for a text that is no command.
    fn parse(text: &str) -> Option<Command> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |word: &str| word.parse::<u32>().ok();
        let node = |word: &str| number(word).filter(|to| *to < MOST_NODES).map(|to| to as u16);
        let some = |word: &str| number(word).filter(|bytes| (1..=WINDOW).contains(bytes));
        Some(match words[..] {
            ["pause", ns] => Command::Pause(Picos::from_ns(number(ns).filter(|ns| *ns <= LONGEST_PAUSE)?.into())),
            ["word", to, value] => Command::Word {
                to: node(to)?,
                value: number(value)?,
            },
            ["beyond", to, bytes] => Command::Beyond {
                to: node(to)?,
                bytes: some(bytes)?,
            },
            ["unknown", to, bytes] => Command::Unknown {
                to: node(to)?,
                bytes: some(bytes)?,
            },
            [how, to, bytes, from, at] => {
                let how = match how {
                    "botf" => By::Botf,
                    "rdma" => By::Rdma,
                    "indirect" => By::Indirect,
                    "pull" => By::Pull,
                    _ => return None,
                };
                let (bytes, from, at) = (some(bytes)?, number(from)?, number(at)?);
                let aligned = from.is_multiple_of(8) && at.is_multiple_of(8);
                let fits = from.checked_add(bytes)? <= SOURCE.end && at.checked_add(bytes)? <= WINDOW;
                let one = how != By::Indirect || at % SIZE_PAGE + bytes <= SIZE_PAGE && bytes <= 464;
                (aligned && fits && one).then_some(Command::Move {
                    how,
                    to: node(to)?,
                    bytes,
                    from,
                    at,
                })?
            }
            _ => return None,
        })
    }

    /// The other node, if there is one.
    fn to(&self) -> Option<u16> {
        match *self {
            Command::Move { to, .. } | Command::Beyond { to, .. } | Command::Unknown { to, .. } => Some(to),
            Command::Word { to, .. } => Some(to),
            Command::Pause(_) => None,
        }
    }

    /// Memory that cards read and write for a command of this node. Data for windows the host reads.
    fn touches(&self, issuer: usize) -> Vec<Touched> {
        let &Command::Move {
            how,
            to,
            bytes,
            from,
            at,
        } = self
        else {
            return Vec::new();
        };
        let touched = |node, from| Touched {
            node,
            from: Addr(from),
            bytes,
        };
        let to = usize::from(to);
        let written = window(NodeId(issuer as u16)) + at;
        match how {
            By::Botf | By::Indirect => vec![touched(to, written)],
            By::Rdma => vec![touched(issuer, from), touched(to, written)],
            By::Pull => vec![touched(to, from), touched(issuer, READS + at)],
        }
    }
}

/// The commands of a random program.
fn program(rng: &mut Rng, nodes: u64) -> Vec<String> {
    let command = |rng: &mut Rng| {
        let to = rng.below(nodes);
        let most = [8, 464, 1400, u64::from(WINDOW)][rng.below(4) as usize];
        let bytes = rng.between(1, most);
        let from = rng.below((u64::from(SOURCE.end) - bytes) / 8 + 1) * 8;
        let at = rng.below((u64::from(WINDOW) - bytes) / 8 + 1) * 8;
        match rng.below(12) {
            0 => format!("pause {}", rng.below(30_000)),
            1 => format!("beyond {to} {bytes}"),
            2 => format!("unknown {to} {bytes}"),
            3 | 4 => format!("word {to} {}", rng.below(1 << 32)),
            5 | 6 => format!("rdma {to} {bytes} {from} {at}"),
            7 | 8 => format!("pull {to} {bytes} {from} {at}"),
            9 => {
                let (bytes, at) = (bytes.min(464), at % 0xe00);
                format!("indirect {to} {bytes} {from} {at}")
            }
            _ => format!("botf {to} {bytes} {from} {at}"),
        }
    };
    (0..rng.below(9)).map(|_| command(rng)).collect()
}

/// A packet of a neighbour, its header as of no card of the machine.
fn junk(rng: &mut Rng, nodes: u64) -> Vec<u64> {
    let flags = [HDR_W0_ACK_REQ_MASK, HDR_W0_F_SEQ_MASK, HDR_W0_OTF_MASK, HDR_W0_OTF_MASK];
    let kinds = [TYPE_PUSH, TYPE_PULL, TYPE_PULL_REPLY, TYPE_ACK, TYPE_NACK, TYPE_OTF];
    let kinds = kinds.into_iter().chain(TYPE_INDIRECT..=TYPE_CHAIN).collect::<Vec<_>>();
    let kind = if rng.chance(1, 8) {
        rng.below(256) as u32
    } else {
        kinds[rng.below(kinds.len() as u64) as usize]
    };
    // Half of them are as of another process of the cards.
    let is_near = rng.chance(1, 2);
    let (kind, length) = if is_near {
        ([TYPE_PUSH, TYPE_OTF][rng.below(2) as usize], 8)
    } else {
        (
            kind,
            [rng.below(10), rng.below(4098), rng.below(1 << 16)][rng.below(3) as usize],
        )
    };
    let pgid = if is_near {
        [0, 2, 3, 65][rng.below(4) as usize]
    } else {
        rng.between(2, 0xffff)
    };
    let place = if rng.chance(1, 2) {
        common::USER + 8 * rng.below(MOST_NODES.into()) as u32
    } else {
        8 * rng.below(1 << 14) as u32
    };
    let header = Header {
        kind,
        flags: (0..rng.below(4)).fold(0, |all, _| all | flags[rng.below(4) as usize]),
        src: rng.between(MOST_NODES.into(), 0xffff) as u16,
        dst: rng.below(nodes + 1) as u16,
        length: length as u32,
        pgid: pgid as u16,
        tag: rng.below(1 << 16) as u16,
        seq: rng.below(3) as u32,
        place: Place::new(rng.below(4) as u16, place.into()),
        soft: [rng.bits(), rng.bits(), rng.bits()],
    };
    let whole = header.packet_words() as u64;
    let words = if is_near || rng.chance(1, 2) {
        whole.min(600)
    } else {
        rng.between(1, 70)
    };
    let mut packet = header.encode()[..header.words()].to_vec();
    packet.resize_with(words as usize, || rng.bits());
    packet
}

/// Why a neighbour's packet might do something.
fn refused_packet(words: &[u64]) -> Option<&'static str> {
    let header = Header::decode(words);
    if u32::from(header.src) < MOST_NODES {
        Some("its SRC must be of no node: a card stamps its packets")
    } else if words.len() > 1 && get(HDR_W1_PGID_MASK, words[1]) == u64::from(layout::PGID) {
        Some("its stamp must be another one than that of the programs")
    } else {
        None
    }
}

/// Memory that cards read and write for these programs.
fn touched(programs: &[Vec<String>]) -> Vec<Touched> {
    let of = |(issuer, program): (usize, &Vec<String>)| {
        let commands = program.iter().filter_map(|text| Command::parse(text));
        commands.flat_map(|command| command.touches(issuer)).collect::<Vec<_>>()
    };
    programs.iter().enumerate().flat_map(of).collect()
}

impl Campaign for Dimmnet1 {
    fn draw(&self, rng: &mut Rng) -> Case {
        let nodes = rng.between(2, MOST_NODES.into());
        let mut pick = |from: &[f64]| from[rng.below(from.len() as u64) as usize];
        let settings = [
            ("nodes", nodes as f64),
            ("core_period", pick(&[20.0, 20.0, 8.0, 37.0])),
            ("link_period", pick(&[16.0, 16.0, 10.0, 41.0])),
            ("mem_read_latency", pick(&[0.0, 6.0, 60.0])),
            ("mem_write_latency", pick(&[0.0, 4.0, 90.0])),
            ("mem_overhead", pick(&[0.0, 8.0])),
            ("poll", pick(&[0.0, 0.0, 1.0])),
            ("f_seq", pick(&[0.0, 1.0])),
            ("matching", pick(&[0.0, 1.0])),
            ("store_path", pick(&[0.0, 40.0])),
        ];
        let own = |rng: &mut Rng, _, _| Fault::Packet(junk(rng, nodes));
        let programs: Vec<_> = (0..nodes).map(|_| program(rng, nodes)).collect();
        let touched = touched(&programs);
        Case {
            chance: 0,
            settings: Settings::default().with(&settings),
            programs,
            faults: draw_faults(rng, nodes as usize, HORIZON, &touched, Some(&own)),
        }
    }

    fn accepts(&self, case: &Case) -> Result<(), CaseError> {
        let config = Config::of(&case.settings).map_err(|error| CaseError::Settings(error.to_string()))?;
        let nodes = config.nodes;
        if nodes > MOST_NODES {
            return Err(CaseError::Settings(format!("nodes={nodes}: at most {MOST_NODES}")));
        }
        let known = Known {
            nodes: nodes as usize,
            programs: nodes as usize,
            command: &|text, _| {
                let there = |command: Command| command.to().is_none_or(|to| u32::from(to) < nodes);
                Command::parse(text).is_some_and(there)
            },
            fault: &|fault| match fault {
                Fault::PagesGone { .. } => Some("DIMMnet-1 has no pages that go"),
                Fault::NicResets(_) => Some("the library does not set up a card again"),
                Fault::Packet(words) => refused_packet(words),
                _ => None,
            },
        };
        campaign::accepts(case, &known)
    }

    fn is_on_model(&self, fault: &Fault) -> bool {
        !matches!(fault, Fault::NicResets(_))
    }

    fn fewer(&self, case: &Case) -> Vec<Case> {
        let nodes = Config::of(&case.settings).map_or(0, |config| config.nodes as usize);
        let smaller = (nodes > 2).then(|| on_first_nodes(case, nodes, nodes - 1, &[("nodes", nodes as f64 - 1.0)]));
        let smaller = smaller.flatten().filter(|case| self.accepts(case).is_ok());
        smaller.into_iter().collect()
    }

    fn run(&self, case: &Case, on: On, probe: &Probe) -> Result<Ran, Broken> {
        let config = Config::of(&case.settings).map_err(|error| Broken::new(Clause::Report, error.to_string()))?;
        let not_built = |error: rtl::NotBuilt| Broken::new(Clause::Report, error.to_string());
        let backend: AnyBackend = match on {
            On::Model => Box::new(ModelMachine::new(&config)),
            On::Rtl => rtl::build_with(&config, probe, Some(case.chance), true).map_err(not_built)?,
            On::Ungated => rtl::build_with(&config, probe, Some(case.chance), false).map_err(not_built)?,
        };
        play(case, &config, backend)
    }
}

/// The software of a node.
struct Software {
    node: Node,
    sleeper: Sleeper,
    /// Each command with what came of it.
    done: RefCell<Vec<(Command, Result<(), CommError>)>>,
    /// By node, for a look at another one's memory.
    nodes: Rc<Vec<Node>>,
    /// The first command whose bytes were not there when it returned.
    early: RefCell<Option<Command>>,
}

impl Victim for Software {
    fn host(&self) -> &Host {
        self.node.host()
    }

    fn sleeper(&self) -> &Sleeper {
        &self.sleeper
    }
}

/// Where the window of a sender begins.
fn window(sender: NodeId) -> u32 {
    WINDOWS + WINDOW * u32::from(sender.0)
}

impl Software {
    async fn program(self: Rc<Self>, commands: Vec<Command>) {
        for command in commands {
            self.sleeper.awake(self.node.host()).await;
            let result = self.execute(&command).await;
            if result.is_ok() && !self.is_there(&command) {
                self.early.borrow_mut().get_or_insert_with(|| command.clone());
            }
            self.done.borrow_mut().push((command, result));
        }
    }

    /// Whether the bytes of a command are where it says. Sources never change.
    fn is_there(&self, command: &Command) -> bool {
        let &Command::Move {
            how,
            to,
            bytes,
            from,
            at,
        } = command
        else {
            return true;
        };
        let (own, other) = (&self.node, &self.nodes[usize::from(to)]);
        let (source, target, first) = match how {
            By::Pull => (other, own, READS + at),
            _ => (own, other, window(own.id()) + at),
        };
        source.read(Addr(from), bytes) == target.read(Addr(first), bytes)
    }

    async fn execute(&self, command: &Command) -> Result<(), CommError> {
        let (node, own) = (&self.node, self.node.id());
        let memory = |offset: u32| Place::new(layout::MEMORY, offset.into());
        let illegal = |to: u16, place| Message::push(NodeId(to), place).numbered(node.config().f_seq);
        match *command {
            Command::Pause(span) => node.compute(span).await,
            Command::Word { to, value } => {
                let word = common::of(common::USER, own);
                return node.aotf_write(NodeId(to), word, 8, value.into()).await;
            }
            Command::Beyond { to, bytes } => {
                let message = illegal(to, memory(node.config().mem_bytes));
                return node.send(&message, Addr(SOURCE.start), bytes).await;
            }
            Command::Unknown { to, bytes } => {
                const NOWHERE: u16 = 77;
                return node
                    .send(&illegal(to, Place::new(NOWHERE, 0)), Addr(SOURCE.start), bytes)
                    .await;
            }
            Command::Move {
                how,
                to,
                bytes,
                from,
                at,
            } => {
                let (to, target) = (NodeId(to), window(own) + at);
                let message = Message::push(to, memory(target));
                return match how {
                    By::Botf => {
                        node.send(&message.numbered(node.config().f_seq), Addr(from), bytes)
                            .await
                    }
                    By::Rdma => node.send(&message.by(How::Rdma), Addr(from), bytes).await,
                    By::Pull => node.pull(to, memory(from), Addr(READS + at), bytes).await,
                    By::Indirect => self.indirect(to, target, from, bytes).await,
                };
            }
        }
        Ok(())
    }

    /// Writes the pointer of this sender at the receiver, then through it. The pointer does not go by AOTF: a window
    /// may overtake a store that waits.
    async fn indirect(&self, to: NodeId, target: u32, from: u32, bytes: u32) -> Result<(), CommError> {
        let (node, pointer) = (&self.node, common::of(common::USER + 0x200, self.node.id()));
        let goal = Place::new(layout::MEMORY, target.into());
        let place = Place::new(layout::COMMON, pointer.into());
        node.write(Addr(MEMORY), &goal.word().to_le_bytes());
        node.send(&Message::push(to, place), Addr(MEMORY), 8).await?;
        let message = Message {
            kind: TYPE_INDIRECT,
            ..Message::push(to, place)
        };
        node.send(&message.numbered(node.config().f_seq), Addr(from), bytes)
            .await
    }
}

/// Runs a case and judges it.
pub fn play(case: &Case, config: &Config, backend: AnyBackend) -> Result<Ran, Broken> {
    let failed = |what: String| Broken::new(Clause::Report, what);
    let mut sim = Dimmnet1Sim::new(backend, config).map_err(|error| failed(error.to_string()))?;
    let nodes: Vec<NodeId> = (0..sim.nodes() as u16).map(NodeId).collect();
    let (mut software, mut before) = (Vec::new(), Vec::new());
    let nodes: Rc<Vec<Node>> = Rc::new(nodes.into_iter().map(|at| sim.node(at)).collect());
    for (at, node) in nodes.iter().enumerate() {
        let mut bytes = vec![0; MEMORY as usize];
        Seed(case.chance).stream(&format!("memory {at}")).fill(&mut bytes);
        node.write(Addr(0), &bytes);
        before.push(bytes);
        software.push(Rc::new(Software {
            node: node.clone(),
            sleeper: Sleeper::default(),
            done: RefCell::default(),
            nodes: nodes.clone(),
            early: RefCell::default(),
        }));
    }
    let (start, met) = (sim.now(), Rc::new(RefCell::new(Met::default())));
    sim.backend_mut().record(true);
    for injection in &case.faults {
        if let Some(software) = software.get(injection.node.index()) {
            plan(software.clone(), start, injection, met.clone());
        }
    }
    for (software, program) in software.iter().zip(&case.programs) {
        let commands = program.iter().filter_map(|text| Command::parse(text)).collect();
        let software = software.clone();
        sim.spawn(software.node.id(), async move |_| software.program(commands).await);
    }
    sim.run(BOUND).map_err(|error| hang(&error))?;
    for software in &software {
        if let Some(command) = &*software.early.borrow() {
            let what = format!("{}: the bytes of {command:?} came after its end", software.node.id());
            return Err(Broken::new(Clause::Order, what));
        }
    }
    let lost = judge(case, &software, &before)?;
    sim.spawn_all(async |node| node.compute(SETTLE).await);
    sim.run(BOUND).map_err(|error| hang(&error))?;
    words(&mut sim, &software)?;
    afterwards(&mut sim, &software)?;
    let events = sim.backend_mut().take_events();
    Ok(Ran {
        met: met.take(),
        events,
        lost,
        simulated: sim.now(),
    })
}

/// Judges results and memories; gives the number of calls that failed.
fn judge(case: &Case, software: &[Rc<Software>], before: &[Vec<u8>]) -> Result<u64, Broken> {
    let memory_fails = case
        .faults
        .iter()
        .any(|fault| matches!(fault.fault, Fault::MemoryFails { .. }));
    let mut allowed: Vec<Allowed> = software.iter().map(|_| Allowed::default()).collect();
    let mut lost = 0;
    for sender in software {
        for (command, result) in sender.done.borrow().iter() {
            expected(command, result, memory_fails, sender.node.id())?;
            lost += u64::from(result.is_err());
            let &Command::Move {
                how,
                to,
                bytes,
                from,
                at,
            } = command
            else {
                continue;
            };
            let own = sender.node.id();
            let (source, target, first) = match how {
                By::Pull => (usize::from(to), own.index(), READS + at),
                _ => (own.index(), usize::from(to), window(own) + at),
            };
            for n in 0..bytes {
                let (sent, place) = (before[source][(from + n) as usize], first + n);
                match result {
                    Ok(()) => allowed[target].only(place, [sent]),
                    Err(_) => allowed[target].or(place, before[target][place as usize], [sent]),
                }
            }
        }
    }
    for ((software, allowed), before) in software.iter().zip(&allowed).zip(before) {
        let now = software.node.read(Addr(0), MEMORY);
        allowed.judge(&software.node.id().to_string(), &now, before, |_| false)?;
    }
    Ok(lost)
}

/// Whether a result may come of a command.
fn expected(command: &Command, result: &Result<(), CommError>, fails: bool, node: NodeId) -> Result<(), Broken> {
    let refused = |reason: Reason| matches!(result, Err(CommError::Refused { reason: is, .. }) if *is == reason);
    let fits = match command {
        Command::Beyond { .. } => refused(Reason::Range),
        Command::Unknown { .. } => refused(Reason::Rights),
        Command::Word { .. } | Command::Pause(_) => result.is_ok(),
        Command::Move { .. } => result.is_ok() || fails && result.as_ref().is_err_and(is_of_memory),
    };
    let broken = || Broken::new(Clause::Report, format!("{node}: {command:?} ended with {result:?}"));
    if fits { Ok(()) } else { Err(broken()) }
}

/// Whether an error may come of memory that failed: it says so, or that a packet has ended early for it.
fn is_of_memory(error: &CommError) -> bool {
    match error {
        CommError::Refused { reason, .. } => matches!(reason, Reason::Bus | Reason::Length),
        CommError::Unsent { reason, .. } => *reason == Reason::Bus,
        _ => false,
    }
}

/// The last word from each sender stands in LLCM, unless the sender's card lost some.
fn words(sim: &mut Dimmnet1Sim<AnyBackend>, software: &[Rc<Software>]) -> Result<(), Broken> {
    for receiver in software {
        let to = receiver.node.id();
        for sender in software {
            let value = |command: &Command| match *command {
                Command::Word { to: goal, value } if goal == to.0 => Some(u64::from(value)),
                _ => None,
            };
            let done = sender.done.borrow();
            let last = done.iter().rev().find_map(|(command, _)| value(command)).unwrap_or(0);
            let word = u64::from(LLCM + common::of(common::USER, sender.node.id()));
            let is = load(sim, &receiver.node, word)?;
            if is == last {
                continue;
            }
            let lost = load(sim, &sender.node, AOTF_LOST.into())?;
            let one_of = done.iter().any(|(command, _)| value(command) == Some(is)) || is == 0;
            if lost == 0 || !one_of {
                let what = format!("{to}: the word of {} is {is:#x}, not {last:#x}", sender.node.id());
                return Err(Broken::new(Clause::Loss, what));
            }
        }
    }
    Ok(())
}

/// A word of a node's card.
fn load(sim: &mut Dimmnet1Sim<AnyBackend>, node: &Node, addr: u64) -> Result<u64, Broken> {
    let mut word = sim.spawn(node.id(), async move |node: Node| node.host().load(addr, 8).await);
    sim.run(BOUND).map_err(|error| hang(&error))?;
    let word = word.take().expect("the program has ended");
    word.map_err(|error| Broken::new(Clause::Report, error.to_string()))
}

/// Every node writes to the next one, in each way.
fn afterwards(sim: &mut Dimmnet1Sim<AnyBackend>, software: &[Rc<Software>]) -> Result<(), Broken> {
    const BYTES: u32 = 1000;
    let nodes = software.len() as u16;
    for how in [By::Botf, By::Rdma, By::Pull] {
        for software in software {
            let software = software.clone();
            sim.spawn(software.node.id(), async move |_| {
                let to = (software.node.id().0 + 1) % nodes;
                let (bytes, from, at) = (BYTES, 0, 0);
                software
                    .program(vec![Command::Move {
                        how,
                        to,
                        bytes,
                        from,
                        at,
                    }])
                    .await;
            });
        }
        sim.run(BOUND).map_err(|error| hang(&error))?;
        for sender in software {
            let (node, next) = (
                &sender.node,
                &software[(sender.node.id().index() + 1) % software.len()].node,
            );
            let (source, got) = match how {
                By::Pull => (next, node.read(Addr(READS), BYTES)),
                _ => (node, next.read(Addr(window(node.id())), BYTES)),
            };
            let done = sender.done.borrow();
            let result = &done.last().expect("a command was done").1;
            if result.is_err() || got != source.read(Addr(0), BYTES) {
                let what = format!("{}: {how:?} of {BYTES} B ended with {result:?}", node.id());
                return Err(Broken::new(Clause::Afterwards, what));
            }
        }
    }
    Ok(())
}
