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
//! - Some order of all atomic operations on a word explains what they saw.
//! - A user beside the process changes its own pages alone, and learns no word of others. What the window must refuse
//!   is refused and reported. The process's traffic is as ever, if late.
//! - A malformed packet, or a reply to nobody, is reported where it comes, and changes nothing.
//! - No other byte of user memory changes.

mod forged;
mod guest;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use thiserror::Error;

use self::forged::Told;
use self::guest::Guest;
use super::Ap1000p;
use super::golden::window::register;
use super::host::layout::{DEMAND, Layout};
use super::host::{Ap1000pSim, Cell, CommandError, Fault as Reported, FaultKind, RingError, RingSize};
use super::model::ModelMachine;
use super::params::Config;
use super::regs::*;
use super::rtl;
use crate::campaign::{
    Broken, Campaign, Case, Clause, Deed, Met, On, Ran, Sleeper, Touched, Victim, draw_faults, plan,
};
use crate::harness::backend::{AnyBackend, Backend as _};
use crate::harness::exec::RegError;
use crate::harness::exec::{Host, SimError};
use crate::harness::faults::{Fault, Injection};
use crate::harness::linear::{Call, explain};
use crate::harness::params::{Settings, Table as _};
use crate::harness::seed::{Rng, Seed};
use crate::harness::sync::Lock;
use crate::harness::wave::Probe;
use crate::net::torus::Torus;
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
        let fits = words <= WINDOW / 4 && from + 4 * words <= SOURCE.len() as u32 && at + 4 * words <= WINDOW;
        fits.then_some(Move { words, from, at })
    }
}

impl Command {
    /// `put TO WORDS FROM AT flag|-`, `get OF WORDS FROM AT`, both perhaps with `demand`, `atomic HOME AND OR`,
    /// `nowhere`, `send TO WORDS FROM`, `receive MESSAGES`, `store GUEST PAGE WORD...`, `region UNITS`, `pause NS`;
    /// `None` for anything else.
    fn parse(text: &str, cells: usize) -> Option<Command> {
        let cell = |word: &str| word.parse::<usize>().ok().filter(|cell| *cell < cells);
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let demand = words.pop_if(|word| *word == "demand").is_some();
        Some(match words[..] {
            ["put", to, words, from, at, flag] => Command::Put {
                to: cell(to)?,
                transfer: Move::parse(words, from, at)?,
                flag: flag == "flag",
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
            ["pause", ns] => Command::Pause(Picos::from_ns(ns.parse::<u32>().ok()?.into())),
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

fn put_flag(sender: usize) -> Addr {
    Addr(FLAGS + 4 * sender as u32)
}

fn get_flag(of: usize) -> Addr {
    Addr(FLAGS + 0x80 + 4 * of as u32)
}

/// A message out of a ring: its number, and its words.
type Message = (u32, Vec<u32>);

/// What programs noted.
#[derive(Default)]
struct Notes {
    /// Of all cells, in the order of each: sender or getter, and the command.
    issued: Vec<(usize, Command)>,
    /// By home.
    calls: BTreeMap<usize, Vec<Call<[u32; 2]>>>,
    /// By sender and receiver, messages for rings in their order: words, and their offset in the source.
    sent: BTreeMap<(usize, usize), Vec<(u32, u32)>>,
    /// The same of messages that were taken: their number, and what they brought.
    taken: BTreeMap<(usize, usize), Vec<Message>>,
    /// By cell: stores and commands that must be refused.
    refused: Vec<u32>,
    /// What a look amid the run found.
    broken: Option<Broken>,
}

impl Notes {
    /// Flags that may have counted, by cell and address, where a command waits for these pages of a cell. It was issued
    /// when the pages were absent: behind the first `mark` commands.
    fn held(&self, mark: usize, cell: usize, pages: &Range<u32>) -> BTreeMap<(usize, u32), u32> {
        let mut streams: BTreeMap<(usize, u32), (u32, bool)> = BTreeMap::new();
        for (number, (issuer, command)) in self.issued.iter().enumerate() {
            let Some((place, counts)) = flag_of(*issuer, command) else {
                continue;
            };
            let (count, waits) = streams.entry(place).or_default();
            *waits |= number >= mark && command.needs(*issuer, cell, pages);
            *count += u32::from(counts && !*waits);
        }
        let held = streams.into_iter().filter(|(_, (_, waits))| *waits);
        held.map(|(place, (count, _))| (place, count)).collect()
    }
}

/// Software of a cell.
struct Software {
    sleeper: Sleeper,
    /// A program has the processor until its command is stored, or an atomic operation is done.
    turn: Lock,
    guests: RefCell<[Guest; guest::GUESTS]>,
}

impl Default for Software {
    fn default() -> Software {
        Software {
            sleeper: Sleeper::default(),
            turn: Lock::new("another program's command"),
            guests: RefCell::default(),
        }
    }
}

/// Why a program gives up.
#[derive(Debug, Error)]
enum Stop {
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error(transparent)]
    Ring(#[from] RingError),
    #[error(transparent)]
    Register(#[from] RegError),
}

async fn program(
    cell: Cell,
    commands: Vec<Command>,
    software: Rc<Software>,
    notes: Rc<RefCell<Notes>>,
) -> Result<(), Stop> {
    let me = cell.id().index();
    for command in commands {
        software.sleeper.awake(cell.host()).await;
        if let Command::Pause(span) = command {
            cell.host().delay(span).await;
            continue;
        }
        let _turn = software.turn.hold().await;
        notes.borrow_mut().issued.push((me, command.clone()));
        match command {
            Command::Pause(_) => {}
            Command::Put {
                to,
                transfer,
                flag,
                demand,
            } => {
                let (source, dest) = (SOURCE.start + transfer.from, put_window(me) + transfer.at);
                let [source, dest] = [source, dest].map(|addr| logical(Addr(addr), demand));
                let flag = flag.then(|| logical(put_flag(me), demand));
                cell.put(NodeId(to as u16), source, transfer.words, dest, flag, None)
                    .await?;
            }
            Command::Get { of, transfer, demand } => {
                let (source, dest) = (SOURCE.start + transfer.from, get_window(of) + transfer.at);
                let [source, dest] = [source, dest].map(|addr| logical(Addr(addr), demand));
                let flag = Some(logical(get_flag(of), demand));
                cell.get(NodeId(of as u16), source, transfer.words, dest, flag, None)
                    .await?;
            }
            Command::Atomic { home, and, or } => {
                let called = cell.now();
                let saw = cell.fetch_op(NodeId(home as u16), ATOMIC, and, or).await?;
                let call = Call {
                    caller: me,
                    called,
                    returned: cell.now(),
                    operation: [and, or],
                    saw,
                };
                notes.borrow_mut().calls.entry(home).or_default().push(call);
            }
            Command::Nowhere => {
                // As far as a distance can be.
                for word in [0x7f7f, 4, PUT_WINDOWS, 0, 0, 0, SOURCE.start, 0] {
                    cell.store_to_page(KIND_PUT, word).await?;
                }
                notes.borrow_mut().refused[me] += 1;
            }
            Command::Store { guest, page, words } => {
                let mut user = std::mem::take(&mut software.guests.borrow_mut()[guest]);
                let before = user.refused;
                let keeps = user.store(&cell, guest, page, &words).await?;
                let mut notes = notes.borrow_mut();
                notes.refused[me] += user.refused - before;
                if !keeps {
                    let what = format!("cell {me}: the open command of guest {guest} is not what it stored");
                    notes.broken = Some(Broken::new(Clause::Report, what));
                }
                software.guests.borrow_mut()[guest] = user;
            }
            Command::Send { to, words, from } => {
                let number = {
                    let mut notes = notes.borrow_mut();
                    let sent = notes.sent.entry((me, to)).or_default();
                    sent.push((words, from));
                    sent.len() as u32 - 1
                };
                let source = Addr(SOURCE.start + from);
                cell.send(NodeId(to as u16), number, source, words, None).await?;
            }
            Command::Receive(count) => {
                for _ in 0..count {
                    let Some(message) = cell.try_recv_into(TAKEN, WINDOW / 4).await? else {
                        break;
                    };
                    let words = cell.words(TAKEN, message.words);
                    let mut notes = notes.borrow_mut();
                    let taken = notes.taken.entry((message.from.index(), me)).or_default();
                    taken.push((message.tag, words));
                }
            }
            Command::Region(units) => {
                let layout = Layout::new(cell.config()).expect("it has booted");
                let region = (layout.spill / SPILL_REGION_BYTES) | (units << SPILL_REGION_LIMIT_SHIFT);
                cell.host().reg_write(register(SPILL_REGION), region).await?;
            }
        }
    }
    Ok(())
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
        let (columns, rows) = [(2, 1), (1, 2), (2, 2), (3, 2), (3, 3), (4, 4)][rng.below(6) as usize];
        let cells = (columns * rows) as u64;
        let mut pick = |from: &[f64]| from[rng.below(from.len() as u64) as usize];
        let settings = [
            ("columns", f64::from(columns)),
            ("rows", f64::from(rows)),
            ("link_rate", pick(&[25.0, 200.0])),
            ("lane_words", pick(&[2.0, 4.0])),
            ("hardware_refill", pick(&[0.0, 1.0])),
            ("mem_read_latency", pick(&[0.0, 12.0, 70.0])),
            ("mem_write_latency", pick(&[0.0, 12.0, 70.0])),
            ("mem_overhead", pick(&[0.0, 1.0])),
            ("mem_shared", pick(&[0.0, 1.0])),
            ("store_cycles", pick(&[1.0, 2.0])),
            ("call", 0.0),
            ("flag_test", 0.0),
            ("interrupt", pick(&[0.0, 2000.0])),
            ("page_service", pick(&[0.0, 1000.0, 10_000.0])),
            ("mem_bytes", f64::from(MEM_BYTES)),
            // All messages go through rings.
            ("rendezvous_words", f64::from(WINDOW)),
            ("overflow_bytes", pick(&[0.0, 1024.0, 8192.0, 262_144.0])),
        ];
        let settings = Settings::default().with(&settings);
        let torus = Torus::new(columns as usize, rows as usize);
        let [demand, guests, packets, rings] = [2, 3, 3, 2].map(|of| rng.chance(1, of));
        let drawn = Drawn {
            torus,
            demand,
            guests,
            rings,
        };
        // The first cells have a second program, perhaps.
        let second = if rng.chance(1, 2) { rng.below(cells + 1) } else { 0 };
        let mut programs: Vec<Vec<String>> = (0..cells + second).map(|_| drawn.program(rng)).collect();
        // A processor that waits for room serves no fault, so it waits only where there are none.
        let is_quiet = !demand && !guests && !packets && !rings;
        for program in &mut programs {
            if rng.chance(1, 3) {
                let units = rng.between(u64::from(!is_quiet), 4);
                let at = rng.below(program.len() as u64 + 1) as usize;
                program.insert(at, format!("region {units}"));
            }
        }
        if is_quiet && rng.chance(1, 6) {
            let other = rng.below(cells);
            let bursts = (0..rng.between(70, 300)).map(|n| format!("put {other} {} {} 0 flag", n % 3, 4 * n));
            programs[rng.below(cells) as usize].extend(bursts);
        }
        let mut touched = touched(&programs, cells as usize);
        if let Some(layout) = Config::of(&settings).ok().and_then(|config| Layout::new(&config)) {
            let spilled = (0..cells as usize).map(|node| Touched {
                node,
                from: Addr(layout.spill),
                bytes: 0x200,
            });
            // A fifth of all memory that fails.
            let times = touched.len() / (4 * cells as usize) + 1;
            touched.extend(spilled.cycle().take(times * cells as usize));
        }
        let horizon = HORIZONS[rng.below(2) as usize];
        let mut faults = draw_faults(rng, cells as usize, Picos::from_ns(horizon), &touched, None);
        let (gone, forged) = (
            if demand { rng.below(4) } else { 0 },
            if packets { rng.below(8) } else { 0 },
        );
        faults.extend((0..gone + forged).map(|number| Injection {
            at: Picos::from_ns(rng.below(horizon)),
            node: NodeId(rng.below(cells) as u16),
            fault: if number < gone {
                pages_gone(rng, cells)
            } else {
                Fault::Packet(forged::draw(rng, torus))
            },
        }));
        faults.sort_by_key(|injection| (injection.at, injection.node));
        // A program waits for the old value, which a failing memory may keep back for ever.
        if faults
            .iter()
            .any(|injection| matches!(injection.fault, Fault::MemoryFails { .. }))
        {
            for program in &mut programs {
                program.retain(|text| !text.starts_with("atomic"));
            }
        }
        Case {
            chance: 0,
            settings,
            programs,
            faults,
        }
    }

    fn run(&self, case: &Case, on: On, probe: &Probe) -> Result<Ran, Broken> {
        let wrong = |error: String| Broken::new(Clause::Report, error);
        let config = Config::of(&case.settings).map_err(|error| wrong(error.to_string()))?;
        if config.cells() as u64 > MOST_CELLS {
            return Err(wrong(format!("a case has at most {MOST_CELLS} cells")));
        }
        let backend: AnyBackend = match on {
            On::Model => Box::new(ModelMachine::new(&config)),
            On::Rtl => rtl::build_with(&config, probe, case.chance, true).map_err(|e| wrong(e.to_string()))?,
            On::Ungated => rtl::build_with(&config, probe, case.chance, false).map_err(|e| wrong(e.to_string()))?,
        };
        play(case, config, backend)
    }
}

/// Memory that the commands of these programs touch.
fn touched(programs: &[Vec<String>], cells: usize) -> Vec<Touched> {
    let commands = |(issuer, program): (usize, &'_ Vec<String>)| {
        let parsed = program.iter().filter_map(move |text| Command::parse(text, cells));
        parsed
            .flat_map(move |command| command.touches(issuer % cells))
            .collect::<Vec<_>>()
    };
    programs.iter().enumerate().flat_map(commands).collect()
}

/// Pages on demand go.
fn pages_gone(rng: &mut Rng, cells: u64) -> Fault {
    let other = rng.below(cells) as usize;
    let longest = [1_000, 20_000, 300_000][rng.below(3) as usize];
    let from = match rng.below(4) {
        0 => SOURCE.start + 0x1000 * rng.below(8) as u32,
        1 => put_window(other),
        2 => get_window(other),
        _ => FLAGS,
    };
    Fault::PagesGone {
        from: Addr(DEMAND + from),
        bytes: [1, 0x1000, 0x3000][rng.below(3) as usize],
        span: Picos::from_ns(rng.between(10, longest)),
    }
}

/// What programs of a case may do.
struct Drawn {
    torus: Torus,
    demand: bool,
    guests: bool,
    rings: bool,
}

impl Drawn {
    fn program(&self, rng: &mut Rng) -> Vec<String> {
        let cells = self.torus.cells() as u64;
        let mut commands = Vec::new();
        let count = if rng.chance(1, 5) { 0 } else { rng.between(1, 40) };
        for _ in 0..count {
            // One cell is met by many.
            let other = if rng.chance(1, 3) { 0 } else { rng.below(cells) };
            let most = [4, 40, 40, 300][rng.below(4) as usize];
            let words = rng.between(0, most);
            let (from, at) = (4 * rng.below(0x300), 4 * rng.below(u64::from(WINDOW) / 4 - words + 1));
            let demand = if self.demand && rng.chance(1, 2) { " demand" } else { "" };
            if self.guests && rng.chance(1, 3) {
                commands.push(format!("store {}", guest::draw(rng, self.torus)));
                continue;
            }
            if self.rings && rng.chance(1, 3) {
                commands.push(match rng.below(5) {
                    0 => format!("receive {}", rng.below(12)),
                    _ => format!("send {other} {words} {from}"),
                });
                continue;
            }
            commands.push(match rng.below(12) {
                0..=1 => format!("pause {}", rng.below(20_000)),
                2 => format!("atomic {other} {} {}", rng.below(16), rng.below(16)),
                3 if rng.chance(1, 3) => "nowhere".into(),
                4..=6 => format!("get {other} {words} {from} {at}{demand}"),
                _ => {
                    let flag = ["flag", "flag", "-"][rng.below(3) as usize];
                    format!("put {other} {words} {from} {at} {flag}{demand}")
                }
            });
        }
        commands
    }
}

/// A cell, as far as faults need its software.
struct Node {
    cell: Cell,
    software: Rc<Software>,
    cells: Rc<Vec<Cell>>,
    notes: Rc<RefCell<Notes>>,
    /// Commands that were issued when its fault had begun.
    mark: std::cell::Cell<usize>,
}

impl Victim for Node {
    fn host(&self) -> &Host {
        self.cell.host()
    }

    fn sleeper(&self) -> &Sleeper {
        &self.software.sleeper
    }

    fn begins(self: Rc<Self>, fault: &Fault) -> Deed {
        let Fault::PagesGone { from, bytes, .. } = *fault else {
            return Box::pin(async {});
        };
        Box::pin(async move {
            let taken = self.cell.take_pages(from, bytes).await;
            taken.expect("the system's registers");
            self.mark.set(self.notes.borrow().issued.len());
        })
    }

    fn ends(self: Rc<Self>, fault: &Fault) -> Deed {
        let Fault::PagesGone { from, bytes, .. } = *fault else {
            return Box::pin(async {});
        };
        Box::pin(async move {
            let number = self.cell.id().index();
            let pages = from.0 & !0xfff..(from.0 + bytes).next_multiple_of(0x1000);
            let held = self.notes.borrow().held(self.mark.get(), number, &pages);
            for ((cell, flag), most) in held {
                let is = self.cells[cell].word(Addr(flag));
                if is > most {
                    let what = format!(
                        "cell {cell}: the flag at {flag:#x} is {is}, and behind {most} a message needs a page that is \
                         gone from cell {number}"
                    );
                    self.notes.borrow_mut().broken = Some(Broken::new(Clause::Memory, what));
                }
            }
            self.cell.give_pages(from, bytes);
        })
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
        Ok(Play {
            case,
            software: (0..sim.cells()).map(|_| Rc::default()).collect(),
            notes: Rc::new(RefCell::new(Notes {
                refused: vec![0; sim.cells()],
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

    /// With guests, registers that are empty or full end a message: it waits for nobody. With messages for rings, each
    /// cell has one.
    fn prepare(&mut self) -> Result<(), Broken> {
        let has = |word: &str| self.case.programs.iter().flatten().any(|text| text.starts_with(word));
        let (guests, rings) = (has("store"), has("send"));
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
            format!("the machine does not come to rest:\n{report}"),
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

    /// All flags, by cell and address.
    fn flags(&self) -> BTreeMap<(usize, u32), u32> {
        let mut flags = BTreeMap::new();
        for number in 0..self.sim.cells() {
            let cell = self.sim.cell(NodeId(number as u16));
            for other in 0..self.sim.cells() {
                for flag in [put_flag(other), get_flag(other)] {
                    flags.insert((number, flag.0), cell.word(flag));
                }
            }
        }
        flags
    }

    fn memory_failed(&self) -> bool {
        let fails = |fault: &Fault| matches!(fault, Fault::MemoryFails { .. });
        self.case.faults.iter().any(|injection| fails(&injection.fault))
    }

    /// Checks everything; gives the number of messages that were lost.
    fn judge(&mut self) -> Result<u64, Broken> {
        let told = self.counts()?;
        let notes = self.notes.borrow();
        let mut due: BTreeMap<(usize, u32), u32> = self.flags().into_keys().map(|key| (key, 0)).collect();
        for (issuer, command) in &notes.issued {
            if let Some((key, true)) = flag_of(*issuer, command) {
                *due.entry(key).or_default() += 1;
            }
        }
        let (mut lost, mut complete) = (0, BTreeSet::new());
        for (key, count) in self.flags() {
            let due = due[&key];
            if count > due || (count < due && !self.memory_failed()) {
                let what = format!("cell {}: the flag at {:#x} is {count}, not {due}", key.0, key.1);
                return Err(Broken::new(Clause::Loss, what));
            }
            lost += u64::from(due - count);
            if count == due {
                complete.insert(key);
            }
        }
        let full = self.full_rings();
        lost += self.judge_rings(&notes, &full)?;
        self.judge_reports(&notes, lost, &told)?;
        for number in 0..self.sim.cells() {
            self.judge_memory(&notes, number, &complete)?;
            if self.tables_of(number) != self.tables[number] {
                let what = format!("cell {number}: the tables of the guests have changed");
                return Err(Broken::new(Clause::Memory, what));
            }
        }
        if self.has_guests()
            && let Some((cell, at, word)) =
                guest::leak(&self.before, |cell| self.sim.cell(cell).host().read(Addr(0), END))
        {
            let what = format!("cell {cell}: a guest has {word:#x} at {at:#x}, a word of others");
            return Err(Broken::new(Clause::Memory, what));
        }
        for (home, calls) in &notes.calls {
            let last = self.sim.cell(NodeId(*home as u16)).word(ATOMIC);
            let apply = |operation: &[u32; 2], word: u32| word & operation[0] | operation[1];
            let explained = explain(calls, 0, last, apply);
            explained.map_err(|why| Broken::new(Clause::Order, format!("atomics of cell {home}: {why}; {calls:?}")))?;
        }
        Ok(lost)
    }

    /// By cell: messages that were given up, for which ring and overflow had no room.
    fn full_rings(&self) -> Vec<u32> {
        let mut full = vec![0; self.sim.cells()];
        for fault in &self.reported {
            full[fault.node.index()] += u32::from(matches!(fault.kind, FaultKind::RingFull { .. }));
        }
        full
    }

    /// Messages were taken in their order, each once and whole; gives the number of those that were not taken.
    fn judge_rings(&self, notes: &Notes, full: &[u32]) -> Result<u64, Broken> {
        let mut missing = vec![0; self.sim.cells()];
        for (&(from, to), sent) in &notes.sent {
            missing[to] += sent.len() as u32;
            let mut next = 0;
            for (number, words) in notes.taken.get(&(from, to)).into_iter().flatten() {
                let message = format!("message {number} of cell {from} to cell {to}");
                let Some(&(count, at)) = sent.get(*number as usize).filter(|_| *number >= next) else {
                    let what = format!(
                        "{message} was taken where number {next} or a later one of {} may be",
                        sent.len()
                    );
                    return Err(Broken::new(Clause::Order, what));
                };
                next = number + 1;
                missing[to] -= 1;
                let source = (SOURCE.start + at) as usize;
                let data = &self.before[from][source..source + 4 * count as usize];
                if data != words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>() {
                    return Err(Broken::new(
                        Clause::Memory,
                        format!("{message} has other words than were sent"),
                    ));
                }
            }
        }
        if let Some(stranger) = notes.taken.keys().find(|pair| !notes.sent.contains_key(pair)) {
            let what = format!(
                "cell {} took a message of cell {}, which sent none",
                stranger.1, stranger.0
            );
            return Err(Broken::new(Clause::Order, what));
        }
        for (cell, (&missing, &full)) in missing.iter().zip(full).enumerate() {
            if missing < full || (missing > full && !self.memory_failed()) {
                let what =
                    format!("cell {cell}: {missing} messages did not come, and {full} were given up by a full ring");
                return Err(Broken::new(Clause::Loss, what));
            }
        }
        Ok(missing.iter().map(|&missing| u64::from(missing)).sum())
    }

    /// Each loss and each refusal is reported, and nothing else.
    fn judge_reports(&self, notes: &Notes, lost: u64, told: &Told) -> Result<(), Broken> {
        let wrong = |what: String| Err(Broken::new(Clause::Report, what));
        // Each report has the cell's count until then.
        let (mut refused, mut others) = (vec![0; self.sim.cells()], vec![0_u64; self.sim.cells()]);
        for fault in &self.reported {
            match fault.kind {
                FaultKind::Refused { count, .. } => refused[fault.node.index()] = count,
                // Only a state of the spill region.
                FaultKind::Other { cause: CAUSE_FULL_MASK } => {}
                _ => others[fault.node.index()] += 1,
            }
        }
        if refused != notes.refused {
            let due = &notes.refused;
            return wrong(format!(
                "by cell, {due:?} stores and commands to be refused, {refused:?} reported"
            ));
        }
        let mut due = self.due();
        let full = self.full_rings();
        due.broken.iter_mut().zip(&full).for_each(|(due, full)| *due += full);
        let whole = !self.memory_failed();
        let fits = |due: &[u32], is: &[u32], exactly: bool| {
            due.iter()
                .zip(is)
                .all(|(due, is)| if exactly { due == is } else { due <= is })
        };
        // Memory may lose an answer on its way.
        let sound = fits(&due.broken, &told.broken, whole && !self.has_guests())
            && (!whole || due.stray == told.stray && due.drained == told.drained);
        if !sound {
            return wrong(format!(
                "forged packets are to be told as {due:?}, and the cells count {told:?}"
            ));
        }
        for (number, &others) in others.iter().enumerate() {
            if others == 0 && (told.broken[number] > 0 || told.stray[number] > 0) {
                return wrong(format!(
                    "cell {number} counts broken or stray messages, and reports none: {told:?}"
                ));
            }
        }
        let others: u64 = others.iter().sum();
        let expected = !whole || self.has_guests() || due != Told::new(self.sim.cells());
        if (others > 0 && !expected) || (others == 0 && lost > 0) {
            return wrong(format!(
                "{lost} messages lost, {others} faults reported: {:?}",
                self.reported
            ));
        }
        Ok(())
    }

    /// Reports of the forged packets.
    fn due(&self) -> Told {
        let mut due = Told::new(self.sim.cells());
        let torus = self.sim.cell(NodeId(0)).torus();
        for injection in &self.case.faults {
            match &injection.fault {
                Fault::Packet(words) if self.forges && injection.node.index() < self.sim.cells() => {
                    due.add(torus, injection.node.index(), words);
                }
                _ => {}
            }
        }
        due
    }

    /// No byte has changed but those that may. The flags of `complete` have counted all messages that count them.
    fn judge_memory(&self, notes: &Notes, number: usize, complete: &BTreeSet<(usize, u32)>) -> Result<(), Broken> {
        let now = self.sim.cell(NodeId(number as u16)).host().read(Addr(0), END);
        let before = &self.before[number];
        let whole = !self.memory_failed();
        let guests = self.has_guests();
        let mut may: BTreeMap<u32, BTreeSet<u8>> = BTreeMap::new();
        for (issuer, command) in &notes.issued {
            let (from, at, transfer) = match *command {
                Command::Put { to, transfer, .. } if to == number => (*issuer, put_window(*issuer), transfer),
                Command::Get { of, transfer, .. } if *issuer == number => (of, get_window(of), transfer),
                _ => continue,
            };
            let counted = flag_of(*issuer, command).is_some_and(|(place, counts)| counts && complete.contains(&place));
            let source = (SOURCE.start + transfer.from) as usize;
            let data = &self.before[from][source..source + 4 * transfer.words as usize];
            for (at, &byte) in (at + transfer.at..).zip(data) {
                let values = may.entry(at).or_insert_with(|| BTreeSet::from([before[at as usize]]));
                // Messages of a pair come in their order; one that failed may have left anything of its own.
                if whole || counted {
                    values.clear();
                }
                values.insert(byte);
            }
        }
        for (at, (&is, &was)) in (0..).zip(now.iter().zip(before)) {
            let fits = match may.get(&at) {
                Some(values) => values.contains(&is),
                None => {
                    is == was
                        || (FLAGS..FLAGS + 0x104).contains(&at)
                        // No flag of a forged packet.
                        || (self.forges && (FORGED..FORGED + 0xff0).contains(&at))
                        || (guests && (0..guest::GUESTS).any(|guest| guest::own(guest).contains(&at)))
                }
            };
            if !fits {
                let allowed = may.get(&at);
                let what = format!("cell {number}: {at:#x} holds {is:#x}, was {was:#x}, may hold {allowed:x?}");
                return Err(Broken::new(Clause::Memory, what));
            }
        }
        Ok(())
    }
}

/// The cell and the address of the flag of a command's kind and cells, and whether the command counts it. Messages of
/// one such place come in their order.
fn flag_of(issuer: usize, command: &Command) -> Option<((usize, u32), bool)> {
    match *command {
        Command::Put { to, flag, .. } => Some(((to, put_flag(issuer).0), flag)),
        Command::Get { of, .. } => Some(((issuer, get_flag(of).0), true)),
        _ => None,
    }
}

fn hang(error: &SimError) -> Broken {
    let clause = match error {
        SimError::Hang { .. } => Clause::Hang,
        SimError::Failed { .. } => Clause::Report,
    };
    Broken::new(clause, error.to_string())
}
