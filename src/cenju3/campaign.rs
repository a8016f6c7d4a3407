//! Cenju-3 in the fault campaign: programs queue parcels, legal and illegal, and software serves the Receiver.
//!
//! What may come of it (paper, sec. 3.1 to 3.3, and the register table):
//!
//! - A parcel goes out as the packets of `split`, or is refused with its status, which halts its queue.
//! - The packets of a queue for one header ring are published in their order, each once, with their bodies.
//! - A packet is lost only where a memory failed, and is then counted and reported; or where a NIC was reset.
//! - Behind a packet at which the Receiver halts, none is published before a restart.
//! - A packet is published when its body is in memory, and no later than the interrupt that it asks for.
//! - A malformed packet is counted and reported, and leaves at most its body at its destination.
//! - No byte changes but rings, body slots, status words, and the destinations of DMA packets.

mod draw;
mod judge;
mod software;

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use super::Cenju3;
use super::golden::packet::{Kind, ParcelHeader};
use super::model::ModelMachine;
use super::params::Config;
use super::regs::*;
use super::rtl;
use crate::campaign::{
    self, Broken, Campaign, Case, CaseError, Clause, Known, Met, On, Ran, Sleeper, draw_faults, hang, on_first_nodes,
    plan,
};
use crate::harness::backend::{AnyBackend, Backend as _};
use crate::harness::exec::{Join, Sim};
use crate::harness::faults::Fault;
use crate::harness::params::{Settings, Table as _};
use crate::harness::seed::{Rng, Seed};
use crate::harness::sync::Lock;
use crate::harness::wave::Probe;
use crate::{Addr, NodeId, Picos};
use draw::{is_malformed, malformed, program, touched};
use software::{CONTROL, Look, Software};

/// Bytes of a node's memory.
const MEMORY: u32 = 0x8_0000;
const QUEUES: [u32; 2] = [0x0000, 0x2000];
const MSG_HEADERS: u32 = 0x4000;
const DMA_HEADERS: u32 = 0x5000;
const MSG_BODIES: [u32; 2] = [0x8000, 0xc000];
/// Sources of bodies.
const SOURCE: Range<u32> = 0x1_0000..0x2_0000;
/// Destinations, a window for each sender.
const DEST: u32 = 0x4_0000;
const WINDOW: u32 = 0x4000;
const MOST_PES: u32 = 16;
/// Of a command, in nanoseconds.
const LONGEST_PAUSE: u32 = 10_000_000;
/// Longer than any run that does not hang.
const BOUND: Picos = Picos::from_ns(400_000_000);
/// Between two looks of software that waits for nothing in particular.
const LOOK: Picos = Picos::from_ns(20_000);
/// Looks without a change anywhere after which the machine hangs.
const PATIENCE: u32 = 250;
/// Sleeps at most so long in a run; faults are drawn within the first part of it.
const HORIZON: Picos = Picos::from_ns(400_000);

/// Entries of rings: message headers, DMA headers, slots of each body buffer.
#[derive(Clone, Copy, Debug)]
struct Rings {
    headers: [u32; 2],
    bodies: [u32; 2],
}

/// A command of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Command {
    /// Writes a parcel header into a queue.
    Parcel {
        queue: usize,
        parcel: ParcelHeader,
    },
    /// Writes anything into a queue.
    Raw {
        queue: usize,
        words: [u32; 8],
    },
    /// Writes to an offset at which there is no register, and reads there.
    Poke {
        offset: u32,
        value: u32,
    },
    /// Tells the Sender of what was queued.
    Start {
        queue: usize,
    },
    /// Has the Receiver halt at these events, bits of `R_CTRL`.
    Halt(u32),
    Pause(Picos),
}

impl Command {
    /// `parcel QUEUE KIND TO BYTES FROM AT FLAGS`, `raw QUEUE WORD...` of eight words, `poke OFFSET VALUE`,
    /// `start QUEUE`, `halt EVENTS`, `pause NS`; `None` for anything else. Addresses are offsets in sources and in the
    /// sender's window, of which a legal parcel leaves neither. Words of `raw` make a header that the Sender refuses.
    fn parse(text: &str, sender: u8) -> Option<Command> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |word: &str| word.parse::<u32>().ok();
        let queue = |word: &str| number(word).filter(|queue| *queue < 2).map(|queue| queue as usize);
        Some(match words[..] {
            ["halt", events] => {
                let bit = |event: char| match event {
                    'a' => Some(R_CTRL_HALT_ARRIVAL_MASK),
                    'm' => Some(R_CTRL_HALT_END_MSG_MASK),
                    'd' => Some(R_CTRL_HALT_END_DMA_MASK),
                    '-' => Some(0),
                    _ => None,
                };
                Command::Halt(events.chars().try_fold(0, |all, event| Some(all | bit(event)?))?)
            }
            ["start", which] => Command::Start { queue: queue(which)? },
            ["pause", ns] => Command::Pause(Picos::from_ns(number(ns).filter(|ns| *ns <= LONGEST_PAUSE)?.into())),
            ["raw", which, ref words @ ..] => {
                let words: Vec<u32> = words.iter().map(|word| number(word)).collect::<Option<_>>()?;
                let words: [u32; 8] = words.try_into().ok()?;
                let bytes = words.map(u32::to_le_bytes);
                let header = ParcelHeader::decode(bytes.as_flattened().try_into().expect("eight words"));
                let queue = queue(which)?;
                header.is_err().then_some(Command::Raw { queue, words })?
            }
            ["poke", offset, value] => Command::Poke {
                offset: number(offset).filter(|offset| is_hole(*offset))?,
                value: number(value)?,
            },
            ["parcel", which, kind, to, bytes, from, at, flags] => {
                let kind = match kind {
                    "msg0" => Kind::Msg0,
                    "msg1" => Kind::Msg1,
                    "dma" => Kind::Dma,
                    _ => return None,
                };
                let (bytes, from, at) = (number(bytes)?, number(from)?, number(at)?);
                let fits = |bytes: u32| {
                    let ends = |at: u32, room: u32| at.checked_add(bytes).is_some_and(|end| end <= room);
                    ends(from, SOURCE.len() as u32) && ends(at, WINDOW)
                };
                let parcel = ParcelHeader {
                    kind,
                    arr: flags.contains('a'),
                    end: flags.contains('e'),
                    dst: number(to).filter(|to| *to < MOST_PES)? as u8,
                    bytes,
                    body: Addr(SOURCE.start.checked_add(from)?),
                    dest: Addr((DEST + WINDOW * u32::from(sender)).checked_add(at)?),
                    soft: [from, bytes],
                };
                let is_legal = ParcelHeader::decode(&parcel.encode()).is_ok();
                (!is_legal || fits(bytes)).then_some(Command::Parcel {
                    queue: queue(which)?,
                    parcel,
                })?
            }
            _ => return None,
        })
    }
}

/// Whether the register block has no register at this offset.
fn is_hole(offset: u32) -> bool {
    offset.is_multiple_of(4) && (ID + 4..0x100).contains(&offset)
}

/// Runs a case on a machine of this configuration, and judges it.
///
/// # Errors
/// The first clause of the specification that is broken.
pub fn play(case: &Case, config: Config, backend: AnyBackend) -> Result<Ran, Broken> {
    Play::new(case, config, backend)?.run()
}

impl Campaign for Cenju3 {
    fn draw(&self, rng: &mut Rng) -> Case {
        let pes = rng.between(2, MOST_PES.into());
        let mut pick = |from: &[f64]| from[rng.below(from.len() as u64) as usize];
        let settings = [
            ("pes", pes as f64),
            ("stages", 2.0),
            ("io_period", pick(&[40.0, 40.0, 20.0, 37.0, 130.0, 311.0])),
            ("net_period", pick(&[50.0, 50.0, 25.0, 41.0, 190.0])),
            ("bus_bytes", pick(&[4.0, 4.0, 8.0])),
            ("s_gap", pick(&[0.0, 19.0])),
            ("sync_idle", pick(&[0.0, 5.0])),
            ("mem_read_latency", pick(&[0.0, 14.0, 60.0])),
            ("mem_write_latency", pick(&[0.0, 10.0, 90.0])),
            ("mem_overhead", pick(&[0.0, 8.0])),
            ("mem_rate_limit", 0.0),
            ("r_thresh", pick(&[16.0, 64.0, 352.0])),
            ("mem_bytes", f64::from(MEMORY)),
        ];
        let programs: Vec<Vec<String>> = (0..pes).map(|_| program(rng, pes)).collect();
        let touched = touched(&programs);
        let own = |rng: &mut Rng, node: usize, span: Picos| match rng.below(3) {
            0 => Fault::NicResets(span),
            _ => Fault::Packet(malformed(rng, node, pes)),
        };
        Case {
            chance: 0,
            settings: Settings::default().with(&settings),
            programs,
            faults: draw_faults(rng, pes as usize, HORIZON, &touched, Some(&own)),
        }
    }

    fn accepts(&self, case: &Case) -> Result<(), CaseError> {
        let config = Config::of(&case.settings).map_err(|error| CaseError::Settings(error.to_string()))?;
        let (pes, memory) = (config.pes, config.mem_bytes);
        if pes > MOST_PES || memory < MEMORY {
            let what =
                format!("pes={pes} mem_bytes={memory}: at most {MOST_PES} PEs, each with {MEMORY} bytes or more");
            return Err(CaseError::Settings(what));
        }
        let goes_to =
            |command: &Command| !matches!(command, Command::Parcel { parcel, .. } if u32::from(parcel.dst) >= pes);
        let known = Known {
            nodes: pes as usize,
            programs: pes as usize,
            command: &|text, node| Command::parse(text, node as u8).is_some_and(|command| goes_to(&command)),
            fault: &|fault| match fault {
                Fault::PagesGone { .. } => Some("Cenju-3 has no pages"),
                Fault::Packet(words) if !is_malformed(words, pes) => {
                    Some("it must be malformed, of words of 16 bits, and its route that of a PE")
                }
                _ => None,
            },
        };
        campaign::accepts(case, &known)
    }

    fn fewer(&self, case: &Case) -> Vec<Case> {
        let pes = Config::of(&case.settings).map_or(0, |config| config.pes as usize);
        let smaller = (pes > 2).then(|| on_first_nodes(case, pes, pes - 1, &[("pes", pes as f64 - 1.0)]));
        smaller
            .flatten()
            .filter(|case| self.accepts(case).is_ok())
            .into_iter()
            .collect()
    }

    fn run(&self, case: &Case, on: On, probe: &Probe) -> Result<Ran, Broken> {
        let config = Config::of(&case.settings).map_err(|error| Broken::new(Clause::Report, error.to_string()))?;
        let backend: AnyBackend = match on {
            On::Model => Box::new(ModelMachine::new(&config)),
            On::Rtl => rtl::build_with(&config, probe, Some(case.chance), true).map_err(not_built)?,
            On::Ungated => rtl::build_with(&config, probe, Some(case.chance), false).map_err(not_built)?,
        };
        play(case, config, backend)
    }
}

fn not_built(error: rtl::NotBuilt) -> Broken {
    Broken::new(Clause::Report, error.to_string())
}

/// A run of a case.
struct Play<'a> {
    case: &'a Case,
    sim: Sim<AnyBackend>,
    software: Vec<Rc<Software>>,
    /// Each node's memory before the programs.
    before: Vec<Vec<u8>>,
    met: Rc<RefCell<Met>>,
}

impl<'a> Play<'a> {
    fn new(case: &'a Case, config: Config, backend: AnyBackend) -> Result<Play<'a>, Broken> {
        let mut sim = Sim::new(backend);
        let mut rng = Seed(case.chance).stream("rings");
        let rings = Rings {
            headers: [rng.between(2, 64) as u32, rng.between(2, 256) as u32],
            bodies: [rng.between(2, 32) as u32, rng.between(2, 32) as u32],
        };
        let software: Vec<Rc<Software>> = (0..sim.nodes())
            .map(|node| {
                Rc::new(Software {
                    host: sim.host(NodeId(node as u16)),
                    rings,
                    config: config.clone(),
                    life: Cell::default(),
                    resets: Cell::default(),
                    up: Cell::default(),
                    up_since: Cell::default(),
                    first: Cell::default(),
                    seen: RefCell::default(),
                    sleeper: Sleeper::default(),
                    control: Cell::new(CONTROL),
                    held: Cell::default(),
                    restarted: Cell::default(),
                    unsure: Cell::default(),
                    gets: Cell::default(),
                    body_gets: Cell::default(),
                    service: Lock::new("the service of the Receiver"),
                })
            })
            .collect();
        let mut before = Vec::new();
        for (at, software) in software.iter().enumerate() {
            let mut bytes = vec![0; MEMORY as usize];
            Seed(case.chance).stream(&format!("memory {at}")).fill(&mut bytes);
            software.host.write(Addr(0), &bytes);
            before.push(bytes);
            let host = &software.host;
            host.spawn_checked(format!("boot of {}", host.node()), software.clone().boot());
        }
        sim.run(BOUND).map_err(|error| hang(&error))?;
        for software in &software {
            let host = &software.host;
            host.spawn_daemon(
                format!("service of {}", host.node()),
                software.clone().serve_interrupts(),
            );
        }
        let met = Rc::default();
        Ok(Play {
            case,
            sim,
            software,
            before,
            met,
        })
    }

    fn run(mut self) -> Result<Ran, Broken> {
        let start = self.sim.now();
        self.sim.backend_mut().record(true);
        for injection in &self.case.faults {
            if let Some(software) = self.software.get(injection.node.index()) {
                plan(software.clone(), start, injection, self.met.clone());
            }
        }
        for (at, (software, program)) in self.software.iter().zip(&self.case.programs).enumerate() {
            let commands = program
                .iter()
                .filter_map(|text| Command::parse(text, at as u8))
                .collect();
            let host = &software.host;
            host.spawn_checked(
                format!("program of {}", host.node()),
                software.clone().program(commands),
            );
        }
        self.finish()?;
        let lost = self.judge(&[])?;
        self.afterwards()?;
        let events = self.sim.backend_mut().take_events();
        Ok(Ran {
            met: self.met.take(),
            events,
            lost,
            simulated: self.sim.now(),
        })
    }

    /// Runs programs and faults to their ends, and then until nothing moves in the whole machine. A node alone may wait
    /// long for its turn at a slow one.
    fn finish(&mut self) -> Result<(), Broken> {
        let bound = self.sim.now() + BOUND;
        self.sim.run(bound).map_err(|error| hang(&error))?;
        let (mut before, mut same, mut rested) = (Vec::new(), 0, false);
        while same < PATIENCE {
            self.pause(bound)?;
            let rests = self.sim.backend().next_event().is_none();
            // What ends on its way behind the last look would not be seen, so it rested before that too.
            if rests && rested && same > 0 && before.iter().all(Look::is_empty) {
                return Ok(());
            }
            rested = rests;
            let looks = self.looks(bound)?;
            same = if looks == before { same + 1 } else { 0 };
            before = looks;
        }
        let left = before.iter().enumerate().filter(|(_, look)| !look.is_empty());
        let left: Vec<_> = left
            .map(|(pe, look)| format!("PE {pe}: S_STAT is {:#x}\n", look.sends))
            .collect();
        let report = self.sim.backend().hang_report();
        Err(Broken::new(
            Clause::Hang,
            format!(
                "at {}, nothing has moved in {PATIENCE} looks, {LOOK} apart:\n{}{report}",
                self.sim.now(),
                left.concat()
            ),
        ))
    }

    fn pause(&mut self, bound: Picos) -> Result<(), Broken> {
        let host = self.software[0].host.clone();
        host.clone().spawn("a pause", async move { host.delay(LOOK).await });
        self.sim.run(bound).map_err(|error| hang(&error))
    }

    /// Lets each node look once.
    fn looks(&mut self, bound: Picos) -> Result<Vec<Look>, Broken> {
        let look = |software: &Rc<Software>| {
            let host = &software.host;
            host.spawn(format!("look of {}", host.node()), software.clone().look())
        };
        let looks: Vec<_> = self.software.iter().map(look).collect();
        self.sim.run(bound).map_err(|error| hang(&error))?;
        let seen = |(mut look, software): (Join<Result<Look, _>>, &Rc<Software>)| {
            let seen = look.take().expect("it has run");
            seen.map_err(|error| Broken::new(Clause::Report, format!("{}: a look: {error}", software.host.node())))
        };
        looks.into_iter().zip(&self.software).map(seen).collect()
    }

    /// Legal traffic after all faults: each node sends a DMA and a message to the next, which must come.
    fn afterwards(&mut self) -> Result<(), Broken> {
        let pes = self.software.len();
        let mut last = Vec::new();
        for (at, software) in self.software.iter().enumerate() {
            let to = (at + 1) % pes;
            let commands = ["dma", "msg0"].map(|kind| {
                let text = format!("parcel 1 {kind} {to} 96 640 1024 e");
                Command::parse(&text, at as u8).expect("a command")
            });
            let queued = software.seen.borrow().queued[1].len();
            last.push(queued..(queued + 2).min(255));
            let host = &software.host;
            host.spawn_checked(
                format!("program of {}", host.node()),
                software.clone().program(commands.into()),
            );
        }
        self.finish()?;
        self.judge(&last).map(drop).map_err(|broken| Broken {
            clause: Clause::Afterwards,
            what: format!("{:?}: {}", broken.clause, broken.what),
        })
    }
}
