//! Software of a cell: its programs, and what it does about pages that go.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use thiserror::Error;

use super::guest::{self, Guest};
use super::judge::flag_of;
use super::{
    ATOMIC, Command, PUT_WINDOWS, SOURCE, SPILL_REGION_BYTES, TAKEN, WINDOW, get_flag, get_window, logical, put_flag,
    put_window, remote_window,
};
use crate::ap1000p::golden::window::register;
use crate::ap1000p::host::layout::Layout;
use crate::ap1000p::host::{Cell, CommandError, DsmError, RingError, Shared};
use crate::ap1000p::regs::*;
use crate::campaign::{Broken, Clause, Deed, Sleeper, Victim};
use crate::harness::exec::{Host, RegError};
use crate::harness::faults::Fault;
use crate::harness::linear::Call;
use crate::harness::sync::Lock;
use crate::{Addr, NodeId};

/// A message out of a ring: its number, and its words.
pub(super) type Message = (u32, Vec<u32>);

/// What programs noted.
#[derive(Default)]
pub(super) struct Notes {
    /// Of all cells, in the order of each: sender or getter, and the command.
    pub issued: Vec<(usize, Command)>,
    /// By home.
    pub calls: BTreeMap<usize, Vec<Call<[u32; 2]>>>,
    /// By sender and receiver, messages for rings in their order: words, and their offset in the source.
    pub sent: BTreeMap<(usize, usize), Vec<(u32, u32)>>,
    /// The same of messages that were taken: their number, and what they brought.
    pub taken: BTreeMap<(usize, usize), Vec<Message>>,
    /// By issuer and cell, what remote stores leave in a window.
    pub remote: BTreeMap<(usize, usize), Vec<u8>>,
    /// By cell: stores and commands that must be refused.
    pub refused: Vec<u32>,
    /// What a look amid the run found.
    pub broken: Option<Broken>,
}

impl Notes {
    /// Flags that may have counted, by cell and address, where a command waits for these pages of a cell. It was issued
    /// when the pages were absent: behind the first `mark` commands.
    pub fn held(&self, mark: usize, cell: usize, pages: &Range<u32>) -> BTreeMap<(usize, u32), u32> {
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
pub(super) struct Software {
    pub sleeper: Sleeper,
    /// A program has the processor until its command is stored, or an atomic operation is done.
    pub turn: Lock,
    pub guests: RefCell<[Guest; guest::GUESTS]>,
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
pub(super) enum Stop {
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error(transparent)]
    Ring(#[from] RingError),
    #[error(transparent)]
    Remote(#[from] DsmError),
    #[error(transparent)]
    Register(#[from] RegError),
}

pub(super) async fn program(
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
            Command::RemoteStore { to, bytes, at, value } => {
                remote_store(&cell, &notes, (to, at), bytes, value).await?
            }
            Command::RemoteLoad { of, bytes, at } => remote_load(&cell, &notes, (of, at), bytes).await?,
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

/// The place of a cell's remote accesses at an offset in its window of another.
fn shared(me: usize, (of, at): (usize, u32)) -> Shared {
    Shared {
        cell: NodeId(of as u16),
        addr: Addr(remote_window(me) + at),
    }
}

async fn remote_store(
    cell: &Cell,
    notes: &RefCell<Notes>,
    place: (usize, u32),
    bytes: u8,
    value: u64,
) -> Result<(), DsmError> {
    let (me, at, count) = (cell.id().index(), place.1 as usize, usize::from(bytes));
    if let Some(window) = notes.borrow_mut().remote.get_mut(&(me, place.0)) {
        window[at..at + count].copy_from_slice(&value.to_le_bytes()[..count]);
    }
    cell.store(shared(me, place), bytes, value).await
}

/// Loads what this cell's stores have left there.
async fn remote_load(cell: &Cell, notes: &RefCell<Notes>, place: (usize, u32), bytes: u8) -> Result<(), DsmError> {
    let (me, at, count) = (cell.id().index(), place.1 as usize, usize::from(bytes));
    let loaded = cell.load(shared(me, place), bytes).await?.to_le_bytes();
    let mut notes = notes.borrow_mut();
    let due = &notes.remote[&(me, place.0)][at..at + count];
    if loaded[..count] != *due {
        let what = format!("cell {me}: a remote load of {place:x?} gave {loaded:02x?}, and not {due:02x?}");
        notes.broken = Some(Broken::new(Clause::Order, what));
    }
    Ok(())
}

/// A cell, as far as faults need its software.
pub(super) struct Node {
    pub cell: Cell,
    pub software: Rc<Software>,
    pub cells: Rc<Vec<Cell>>,
    pub notes: Rc<RefCell<Notes>>,
    /// Commands that were issued when its fault had begun.
    pub mark: std::cell::Cell<usize>,
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
