//! AP1000+ in the fault campaign: programs PUT, GET, and do atomic operations, over the system software.
//!
//! What may come of it (paper, sec. 2.2 and 3, and the page of the machine):
//!
//! - The messages of a cell to another come in their order. Each leaves its words where it says, and then counts its
//!   flag once.
//! - A message that meets a memory error ends there and counts no flag, and its cell's system reports a fault.
//! - A message that meets an absent page waits for it, and those behind it in its order wait, too.
//! - Messages of a cell for another's ring buffer are taken in their order, each once. One is given up, and reported,
//!   where ring and overflow are full: software comes late.
//! - A command to no cell of the torus is refused and reported, and changes nothing.
//! - A cell's remote stores to another are done in their order, before its later remote loads there.
//! - Some order of all atomic operations on a word explains what they saw.
//! - A user beside the process changes its own pages alone, and learns no word of others. What the window must refuse
//!   is refused and reported. The process's traffic is as ever, if late.
//! - A malformed packet, or a reply to nobody, is reported where it comes, and changes nothing.
//! - No other byte of user memory changes.

mod draw;
mod forged;
mod guest;
mod judge;
mod software;

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use self::forged::Told;
use self::judge::flag_of;
use self::software::{Node, Notes, Software, Stop, program};
use super::Ap1000p;
use super::golden::window::register;
use super::host::layout::{DEMAND, Layout};
use super::host::{Ap1000pSim, Cell, Fault as Reported, RingSize};
use super::model::ModelMachine;
use super::params::Config;
use super::regs::*;
use super::rtl;
use crate::campaign::{
    self, Broken, Campaign, Case, CaseError, Clause, Known, Met, On, Ran, Touched, hang, on_first_nodes, plan,
};
use crate::harness::backend::{AnyBackend, Backend as _};
use crate::harness::exec::RegError;
use crate::harness::faults::Fault;
use crate::harness::params::Table as _;
use crate::harness::seed::{Rng, Seed};
use crate::harness::wave::Probe;
use crate::{Addr, NodeId, Picos};

/// Data to be sent; no one writes here.
const SOURCE: Range<u32> = 0x1_0000..0x1_8000;
/// Where PUTs come to, a window for each sender.
const PUT_WINDOWS: u32 = 0x2_0000;
/// Where GETs' data come to, a window for each other cell.
const GET_WINDOWS: u32 = 0x3_0000;
const WINDOW: u32 = 0x1000;
/// Flags of PUTs by sender, of GETs by the other cell, then the word of atomic operations.
const FLAGS: u32 = 0x4_0000;
const ATOMIC: Addr = Addr(FLAGS + 0x100);
/// Where remote stores come to, a window for each issuer.
const REMOTE_WINDOWS: u32 = 0x4_1000;
const REMOTE_WINDOW: u32 = 0x400;
/// The ring buffer of a cell's process, and where its program takes messages to.
const RING: Addr = Addr(0x8_0000);
const TAKEN: Addr = Addr(0xa_0000);
/// Memory with room for them.
const MEM_BYTES: u32 = 0x18_0000;
/// Where data of forged packets may come to.
const FORGED: u32 = 0x4_8000;
/// User memory of a run ends here.
const END: u32 = guest::MEMORY.end;
const MOST_CELLS: u64 = 16;
/// Of a command, in nanoseconds.
const LONGEST_PAUSE: u32 = 10_000_000;
/// Bytes of the largest spill region; its base is a multiple.
const SPILL_REGION_BYTES: u32 = SPILL_UNITS * SPILL_UNIT * SPILL_BYTES;

const BOUND: Picos = Picos::from_ns(200_000_000);
const LOOK: Picos = Picos::from_ns(20_000);
/// Looks without an end.
const PATIENCE: u32 = 2_000;
/// Faults begin within one of these spans: while programs store commands, and until most are done.
const HORIZONS: [u64; 2] = [50_000, 300_000];

/// A command of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Command {
    Put {
        to: usize,
        transfer: Move,
        flag: bool,
        /// Its addresses are those of pages on demand.
        demand: bool,
    },
    Get {
        of: usize,
        transfer: Move,
        demand: bool,
    },
    /// A fetch-and-op on the word of a cell.
    Atomic {
        home: usize,
        and: u32,
        or: u32,
    },
    /// A remote store of so many bytes at this offset in the issuer's window of a cell.
    RemoteStore {
        to: usize,
        bytes: u8,
        at: u32,
        value: u64,
    },
    /// A remote load of bytes there.
    RemoteLoad {
        of: usize,
        bytes: u8,
        at: u32,
    },
    /// A PUT to a cell that the torus does not have.
    Nowhere,
    /// A message for the ring buffer of a cell: words from this offset in the source.
    Send {
        to: usize,
        words: u32,
        from: u32,
    },
    /// Takes so many messages, if there are as many.
    Receive(u32),
    /// A user beside the process stores these words to this page.
    Store {
        guest: usize,
        page: u32,
        words: Vec<u32>,
    },
    /// The system gives the queues so many units of the spill region.
    Region(u32),
    Pause(Picos),
}

/// Words of a transfer: their number, and the offsets in source and window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Move {
    words: u32,
    from: u32,
    at: u32,
}

impl Move {
    fn parse(words: &str, from: &str, at: &str) -> Option<Move> {
        let [words, from, at] = [words, from, at].map(|word| word.parse::<u32>().ok());
        let (words, from, at) = (words?, from? & !3, at? & !3);
        let ends = |at: u32, room: u32| words <= WINDOW / 4 && at <= room && at + 4 * words <= room;
        let fits = ends(from, SOURCE.len() as u32) && ends(at, WINDOW);
        fits.then_some(Move { words, from, at })
    }
}

impl Command {
    /// `put TO WORDS FROM AT flag|-`, `get OF WORDS FROM AT`, both perhaps with `demand`, `atomic HOME AND OR`,
    /// `remote-store TO BYTES AT VALUE`, `remote-load OF BYTES AT`, `nowhere`, `send TO WORDS FROM`,
    /// `receive MESSAGES`, `store GUEST PAGE WORD...`, `region UNITS`, `pause NS`; `None` for anything else.
    fn parse(text: &str, cells: usize) -> Option<Command> {
        let cell = |word: &str| word.parse::<usize>().ok().filter(|cell| *cell < cells);
        let remote = |bytes: &str, at: &str| {
            let (bytes, at): (u8, u32) = (bytes.parse().ok()?, at.parse().ok()?);
            let is_whole = [1, 2, 4, 8].contains(&bytes) && at.is_multiple_of(bytes.into());
            (is_whole && at < REMOTE_WINDOW).then_some((bytes, at))
        };
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let demand = words.pop_if(|word| *word == "demand").is_some();
        Some(match words[..] {
            ["put", to, words, from, at, flag] => Command::Put {
                to: cell(to)?,
                transfer: Move::parse(words, from, at)?,
                flag: ["-", "flag"].iter().position(|word| *word == flag)? == 1,
                demand,
            },
            ["get", of, words, from, at] => Command::Get {
                of: cell(of)?,
                transfer: Move::parse(words, from, at)?,
                demand,
            },
            ["atomic", home, and, or] => Command::Atomic {
                home: cell(home)?,
                and: and.parse().ok()?,
                or: or.parse().ok()?,
            },
            ["remote-store", to, bytes, at, value] => {
                let (bytes, at) = remote(bytes, at)?;
                let (to, value) = (cell(to)?, value.parse().ok()?);
                Command::RemoteStore { to, bytes, at, value }
            }
            ["remote-load", of, bytes, at] => {
                let (bytes, at) = remote(bytes, at)?;
                let of = cell(of)?;
                Command::RemoteLoad { of, bytes, at }
            }
            ["nowhere"] => Command::Nowhere,
            ["store", guest, page, ref words @ ..] => {
                let hex = |word: &&str| u32::from_str_radix(word.strip_prefix("0x")?, 16).ok();
                Command::Store {
                    guest: guest.parse().ok().filter(|guest| *guest < guest::GUESTS)?,
                    page: hex(&page).filter(|page| page & !guest::PAGES == 0)?,
                    words: words.iter().map(hex).collect::<Option<_>>()?,
                }
            }
            ["send", to, words, from] => {
                let Move { words, from, .. } = Move::parse(words, from, "0")?;
                let to = cell(to)?;
                Command::Send { to, words, from }
            }
            ["receive", count] => Command::Receive(count.parse().ok()?),
            ["region", units] => Command::Region(units.parse().ok().filter(|units| *units <= SPILL_UNITS)?),
            ["pause", ns] => {
                let ns = ns.parse().ok().filter(|ns: &u32| *ns <= LONGEST_PAUSE)?;
                Command::Pause(Picos::from_ns(ns.into()))
            }
            _ => return None,
        })
    }

    /// The memory that a command of `issuer` uses: cell, address, bytes.
    fn touches(&self, issuer: usize) -> Vec<Touched> {
        let touched = |node, from, words| Touched {
            node,
            from: Addr(from),
            bytes: 4 * words,
        };
        let some = |touched: &Touched| touched.bytes > 0;
        let (from, to, window, transfer, flag) = match *self {
            Command::Put { to, transfer, flag, .. } => {
                (issuer, to, put_window(issuer), transfer, flag.then(|| put_flag(issuer)))
            }
            Command::Get { of, transfer, .. } => (of, issuer, get_window(of), transfer, Some(get_flag(of))),
            Command::Send { to, words, from } => {
                let sent = touched(issuer, SOURCE.start + from, words);
                return vec![sent, touched(to, RING.0, 0x400)]
                    .into_iter()
                    .filter(some)
                    .collect();
            }
            _ => return Vec::new(),
        };
        let data = [
            touched(from, SOURCE.start + transfer.from, transfer.words),
            touched(to, window + transfer.at, transfer.words),
        ];
        let data = data.into_iter().filter(some);
        data.chain(flag.map(|flag| touched(to, flag.0, 1))).collect()
    }

    /// Whether a command of `issuer` waits while these pages on demand of a cell are absent.
    fn needs(&self, issuer: usize, cell: usize, pages: &Range<u32>) -> bool {
        let (Command::Put { demand, .. } | Command::Get { demand, .. }) = self else {
            return false;
        };
        let meets = |touched: Touched| {
            let from = DEMAND + touched.from.0;
            touched.node == cell && from < pages.end && pages.start < from + touched.bytes
        };
        *demand && self.touches(issuer).into_iter().any(meets)
    }
}

/// The address of a page on demand, or the same by the pages that are always there.
fn logical(addr: Addr, demand: bool) -> Addr {
    addr.offset(if demand { DEMAND } else { 0 })
}

fn put_window(sender: usize) -> u32 {
    PUT_WINDOWS + WINDOW * sender as u32
}

fn get_window(of: usize) -> u32 {
    GET_WINDOWS + WINDOW * of as u32
}

fn remote_window(issuer: usize) -> u32 {
    REMOTE_WINDOWS + REMOTE_WINDOW * issuer as u32
}

fn put_flag(sender: usize) -> Addr {
    Addr(FLAGS + 4 * sender as u32)
}

fn get_flag(of: usize) -> Addr {
    Addr(FLAGS + 0x80 + 4 * of as u32)
}

/// Runs a case on a machine of this configuration, and judges it.
///
/// # Errors
/// The first clause of the specification that is broken.
pub fn play(case: &Case, config: Config, backend: AnyBackend) -> Result<Ran, Broken> {
    Play::new(case, config, backend)?.run()
}

impl Campaign for Ap1000p {
    fn draw(&self, rng: &mut Rng) -> Case {
        draw::case(rng)
    }

    fn accepts(&self, case: &Case) -> Result<(), CaseError> {
        let config = Config::of(&case.settings).map_err(|error| CaseError::Settings(error.to_string()))?;
        let (cells, memory) = (config.cells(), config.mem_bytes);
        if cells as u64 > MOST_CELLS || memory < MEM_BYTES || Layout::new(&config).is_none() {
            let what = format!(
                "{cells} cells, mem_bytes={memory}: at most {MOST_CELLS} cells, each with {MEM_BYTES} bytes or more"
            );
            return Err(CaseError::Settings(what));
        }
        let pages = DEMAND..DEMAND + END;
        let known = Known {
            nodes: cells,
            programs: 2 * cells,
            command: &|text, _| Command::parse(text, cells).is_some(),
            fault: &|fault| match fault {
                Fault::NicResets(_) => Some("a cell of an AP1000+ is not reset alone"),
                Fault::PagesGone { from, bytes, .. } => {
                    let is_on_demand = pages.contains(&from.0) && from.0 + bytes <= pages.end;
                    (!is_on_demand).then_some("its pages are none on demand")
                }
                _ => None,
            },
        };
        campaign::accepts(case, &known)
    }

    /// Without the last row, or of a single row without the last column: the numbers of the others stay.
    fn fewer(&self, case: &Case) -> Vec<Case> {
        let Ok(config) = Config::of(&case.settings) else {
            return Vec::new();
        };
        let torus = config.torus();
        let (name, other, along) = match torus.y() {
            1 => ("columns", 1, torus.x()),
            rows => ("rows", torus.x(), rows),
        };
        let left = other * (along - 1);
        let smaller = (left >= 2).then(|| on_first_nodes(case, torus.cells(), left, &[(name, along as f64 - 1.0)]));
        smaller
            .flatten()
            .filter(|case| self.accepts(case).is_ok())
            .into_iter()
            .collect()
    }

    fn run(&self, case: &Case, on: On, probe: &Probe) -> Result<Ran, Broken> {
        let wrong = |error: String| Broken::new(Clause::Report, error);
        let config = Config::of(&case.settings).map_err(|error| wrong(error.to_string()))?;
        let on_rtl = |gated: bool| {
            let machine = rtl::build_with(&config, probe, Some(case.chance), gated);
            machine.map_err(|error| wrong(error.to_string()))
        };
        let backend: AnyBackend = match on {
            On::Model => Box::new(ModelMachine::new(&config)),
            On::Rtl => on_rtl(true)?,
            On::Ungated => on_rtl(false)?,
        };
        play(case, config, backend)
    }
}

/// A run of a case.
struct Play<'a> {
    case: &'a Case,
    sim: Ap1000pSim<AnyBackend>,
    software: Vec<Rc<Software>>,
    notes: Rc<RefCell<Notes>>,
    layout: Layout,
    /// Each cell's user memory before the programs, and the guests' tables.
    before: Vec<Vec<u8>>,
    tables: Vec<Vec<u8>>,
    /// Packets that routers had no way for, before the programs.
    drained: u32,
    met: Rc<RefCell<Met>>,
    reported: Vec<Reported>,
    /// The machine has links for forged packets.
    forges: bool,
}

impl<'a> Play<'a> {
    fn new(case: &'a Case, config: Config, backend: AnyBackend) -> Result<Play<'a>, Broken> {
        let forges = backend.gauge(NodeId(0), "drained").is_some();
        let layout = Layout::new(&config).ok_or_else(|| Broken::new(Clause::Report, "too small a memory"))?;
        let boots = |error: super::host::BootError| Broken::new(Clause::Report, error.to_string());
        let sim = Ap1000pSim::new(backend, config).map_err(boots)?;
        let mut before = Vec::new();
        for number in 0..sim.cells() {
            let mut bytes = vec![0; END as usize];
            Seed(case.chance).stream(&format!("memory {number}")).fill(&mut bytes);
            guest::mark(&mut bytes);
            bytes[FLAGS as usize..FLAGS as usize + 0x200].fill(0);
            let cell = sim.cell(NodeId(number as u16));
            cell.host().write(Addr(0), &bytes);
            cell.memory(|memory| guest::write_tables(&layout, memory));
            before.push(bytes);
        }
        let remote = |(issuer, to): (usize, usize)| {
            let window = remote_window(issuer) as usize;
            (
                (issuer, to),
                before[to][window..window + REMOTE_WINDOW as usize].to_vec(),
            )
        };
        let pairs = (0..sim.cells()).flat_map(|issuer| (0..sim.cells()).map(move |to| (issuer, to)));
        let remote = pairs.map(remote).collect();
        Ok(Play {
            case,
            software: (0..sim.cells()).map(|_| Rc::default()).collect(),
            notes: Rc::new(RefCell::new(Notes {
                refused: vec![0; sim.cells()],
                remote,
                ..Notes::default()
            })),
            sim,
            layout,
            tables: Vec::new(),
            drained: 0,
            before,
            met: Rc::default(),
            reported: Vec::new(),
            forges,
        })
    }

    fn run(mut self) -> Result<Ran, Broken> {
        self.tables = (0..self.sim.cells()).map(|number| self.tables_of(number)).collect();
        self.drained = self.drained();
        self.sim.backend_mut().record(true);
        self.prepare()?;
        let start = self.sim.now();
        let cells = (0..self.sim.cells()).map(|number| self.sim.cell(NodeId(number as u16)));
        let cells = Rc::new(cells.collect::<Vec<_>>());
        for injection in &self.case.faults {
            if injection.node.index() < self.sim.cells() {
                let node = Node {
                    cell: self.sim.cell(injection.node),
                    software: self.software[injection.node.index()].clone(),
                    cells: cells.clone(),
                    notes: self.notes.clone(),
                    mark: std::cell::Cell::default(),
                };
                plan(Rc::new(node), start, injection, self.met.clone());
            }
        }
        let programs = self.case.programs.iter().enumerate();
        for (number, program) in programs {
            let commands = program
                .iter()
                .filter_map(|text| Command::parse(text, self.sim.cells()))
                .collect();
            self.start(number % self.sim.cells(), commands);
        }
        self.finish()?;
        if let Some(broken) = self.notes.borrow_mut().broken.take() {
            return Err(broken);
        }
        let lost = self.judge()?;
        self.afterwards(lost)?;
        let events = self.sim.backend_mut().take_events();
        Ok(Ran {
            met: self.met.take(),
            events,
            lost,
            simulated: self.sim.now(),
        })
    }

    fn has(&self, of: fn(&Command) -> bool) -> bool {
        self.notes.borrow().issued.iter().any(|(_, command)| of(command))
    }

    fn has_guests(&self) -> bool {
        self.has(|command| matches!(command, Command::Store { .. }))
    }

    /// With guests, registers that are empty or full end a message: it waits for nobody. Where programs use rings, each
    /// cell has one.
    fn prepare(&mut self) -> Result<(), Broken> {
        let has = |word: &str| self.case.programs.iter().flatten().any(|text| text.starts_with(word));
        let (guests, rings) = (has("store"), has("send") || has("receive"));
        for number in 0..self.sim.cells() {
            self.sim.spawn_checked(NodeId(number as u16), async move |cell| {
                if guests {
                    cell.host().reg_write(register(MODE), MODE_FAULT_NET_MASK).await?;
                }
                if rings {
                    cell.open_ring(RING, RingSize::K128).await?;
                }
                Ok::<_, Stop>(())
            });
        }
        self.sim.run(BOUND).map_err(|error| hang(&error))
    }

    fn tables_of(&self, number: usize) -> Vec<u8> {
        let tables = guest::tables(&self.layout);
        let cell = self.sim.cell(NodeId(number as u16));
        cell.host().read(Addr(tables.start), tables.len() as u32)
    }

    /// Packets that routers had no way for; none on the model.
    fn drained(&mut self) -> u32 {
        self.sim.backend_mut().gauge(NodeId(0), "drained").unwrap_or(0)
    }

    /// The counts of a cell: messages not executed, and replies that nobody waits for.
    fn counts(&mut self) -> Result<Told, Broken> {
        let mut told = Told::new(self.sim.cells());
        for number in 0..self.sim.cells() {
            let mut read = self.sim.spawn(NodeId(number as u16), async move |cell: Cell| {
                let broken = cell.host().reg_read(register(BROKEN_COUNT)).await?;
                let stray = cell.host().reg_read(register(STRAY_COUNT)).await?;
                Ok::<_, RegError>([broken, stray].map(|count| (count & 0xffff) + (count >> 16)))
            });
            self.sim.run(BOUND).map_err(|error| hang(&error))?;
            let counts = read.take().expect("it has run");
            let counts = counts.map_err(|error| Broken::new(Clause::Report, error.to_string()))?;
            [told.broken[number], told.stray[number]] = counts;
        }
        told.drained = self.drained() - self.drained;
        Ok(told)
    }

    fn start(&self, number: usize, commands: Vec<Command>) {
        let (software, notes) = (self.software[number].clone(), self.notes.clone());
        let cell = NodeId(number as u16);
        self.sim
            .spawn_checked(cell, |cell| program(cell, commands, software, notes));
    }

    /// Runs programs and faults to their ends, takes what is in rings, and looks on until nothing moves.
    fn finish(&mut self) -> Result<(), Broken> {
        self.rest()?;
        if self.has(|command| matches!(command, Command::Send { .. })) {
            for number in 0..self.sim.cells() {
                self.start(number, vec![Command::Receive(u32::MAX)]);
            }
            self.rest()?;
        }
        Ok(())
    }

    fn rest(&mut self) -> Result<(), Broken> {
        self.sim.run(BOUND).map_err(|error| hang(&error))?;
        for _ in 0..PATIENCE {
            if !self.sim.moves() {
                let reported = self.sim.take_faults();
                self.reported.extend(reported);
                return Ok(());
            }
            self.sim.pass(LOOK).map_err(|error| hang(&error))?;
        }
        let report = self.sim.backend_mut().hang_report();
        Err(Broken::new(
            Clause::Hang,
            format!("at {}, the machine does not come to rest:\n{report}", self.sim.now()),
        ))
    }

    /// Legal traffic after all faults: each cell PUTs to the next, GETs from it, and sends to its ring, if there are
    /// rings.
    fn afterwards(&mut self, lost: u64) -> Result<(), Broken> {
        let cells = self.sim.cells();
        let before = self.notes.borrow().issued.len();
        let flags = self.flags();
        let rings = self.has(|command| matches!(command, Command::Send { .. }));
        for number in 0..cells {
            let next = (number + 1) % cells;
            let transfer = Move {
                words: 9,
                from: 0x2000,
                at: 0xf00,
            };
            let mut commands = vec![
                Command::Put {
                    to: next,
                    transfer,
                    flag: true,
                    demand: false,
                },
                Command::Get {
                    of: next,
                    transfer,
                    demand: false,
                },
            ];
            if rings {
                commands.push(Command::Send {
                    to: next,
                    words: 9,
                    from: 0x2000,
                });
            }
            self.start(number, commands);
        }
        let clause = |broken: Broken| Broken {
            clause: Clause::Afterwards,
            what: format!("{:?}: {}", broken.clause, broken.what),
        };
        self.finish().map_err(clause)?;
        let now = self.flags();
        for (key, count) in &now {
            let issued = self.notes.borrow();
            let more = issued.issued[before..]
                .iter()
                .filter(|(issuer, command)| flag_of(*issuer, command) == Some((*key, true)));
            if *count != flags[key] + more.count() as u32 {
                let what = format!("cell {}, flag {:#x}: {} before, {count} now", key.0, key.1, flags[key]);
                return Err(Broken::new(Clause::Afterwards, what));
            }
        }
        let again = self.judge().map_err(clause)?;
        if again != lost {
            return Err(Broken::new(
                Clause::Afterwards,
                format!("{lost} messages lost before, {again} now"),
            ));
        }
        Ok(())
    }
}
