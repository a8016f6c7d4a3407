//! Golden model of the receive controller: it executes whole messages one after the other.

use crate::net::torus::Class;
use std::cmp::Ordering;

use crate::ap1000p::golden::Queue;
use crate::ap1000p::golden::address_runs::places;
use crate::ap1000p::golden::creg::{self, Access, WORDS};
use crate::ap1000p::golden::page::Page;
use crate::ap1000p::golden::ring::{HEADER_WORDS, NoRoom, Place};
use crate::ap1000p::golden::word::{Cell, Failed, Op, Request, perform};
use crate::ap1000p::regs::*;

/// The second word of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct What {
    pub kind: u16,
    /// The sender.
    pub x: u8,
    pub y: u8,
}

impl What {
    pub fn of(word: u32) -> What {
        What {
            kind: (word >> MESSAGE_WHAT_KIND_SHIFT) as u16,
            x: (word >> MESSAGE_WHAT_X_SHIFT) as u8,
            y: (word >> MESSAGE_WHAT_Y_SHIFT) as u8,
        }
    }

    fn has(self, mask: u32) -> bool {
        u32::from(self.kind) & mask != 0
    }

    /// Bytes of a remote access.
    pub fn size(self) -> u32 {
        1 << ((u32::from(self.kind) & PAGE_SIZE_MASK) >> PAGE_SIZE_SHIFT)
    }

    /// Whether its address is a communication register's.
    pub fn registers(self) -> bool {
        self.has(PAGE_AS_RECEIVE_MASK)
    }

    pub fn system(self) -> bool {
        self.has(PAGE_SYSTEM_MASK)
    }

    /// Word 0 of a message to reply to this one, sent by the cell `own`: {x, y}.
    fn answer(self, made: u32, own: [u8; 2]) -> u32 {
        let kind = u32::from(self.kind) & !PAGE_KIND_MASK | PAGE_DIRECT_MASK | made;
        kind << COMMAND_HEAD_KIND_SHIFT
            | u32::from(self.x.wrapping_sub(own[0])) << COMMAND_HEAD_DX_SHIFT
            | u32::from(self.y.wrapping_sub(own[1])) << COMMAND_HEAD_DY_SHIFT
    }
}

/// Words for memory or for communication registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    pub context: u16,
    pub dest: u32,
    pub stride: u32,
    pub flag: u32,
    /// Number of words that it states, which may differ from the received number.
    pub said: u32,
    pub words: Vec<u32>,
}

/// A message for a ring buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Send {
    pub context: u16,
    pub flag: u32,
    /// Number of words of data that it states.
    pub said: u32,
    /// Its header, and the received data.
    pub words: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Data(Data),
    Ring(Send),
    /// The words from the length on.
    Get([u32; 7]),
    /// The same, for a compare-and-swap or a fetch-and-op.
    Atomic(Op, [u32; 7]),
    Load {
        addr: u32,
    },
    /// One word, or two.
    Store {
        addr: u32,
        words: Vec<u32>,
    },
    /// No word: the load failed.
    Loaded(Vec<u32>),
    Stored,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub what: What,
    pub body: Body,
}

/// Reasons why a message was not executed as stated; the hardware's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Why {
    Class = BROKEN_CLASS as u8,
    Kind = BROKEN_KIND as u8,
    Short = BROKEN_SHORT as u8,
    Long = BROKEN_LONG as u8,
    Address = BROKEN_ADDRESS as u8,
    GivenUp = BROKEN_GIVEN_UP as u8,
    Bus = BROKEN_BUS as u8,
    Register = BROKEN_REGISTER as u8,
    Ring = BROKEN_RING as u8,
    RingSize = BROKEN_RING_SIZE as u8,
}

impl Why {
    pub const ALL: [Why; 10] = [
        Why::Class,
        Why::Kind,
        Why::Short,
        Why::Long,
        Why::Address,
        Why::GivenUp,
        Why::Bus,
        Why::Register,
        Why::Ring,
        Why::RingSize,
    ];
}

impl From<Failed> for Why {
    fn from(failed: Failed) -> Why {
        match failed {
            Failed::GivenUp => Why::GivenUp,
            Failed::Bus => Why::Bus,
        }
    }
}

impl From<NoRoom> for Why {
    fn from(none: NoRoom) -> Why {
        match none {
            NoRoom::Miss | NoRoom::Full(_) => Why::Ring,
            NoRoom::TooLong => Why::RingSize,
        }
    }
}

/// A malformed message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    pub why: Why,
    pub what: What,
    /// The part of its data that arrived and can be executed; none of a load.
    pub came: Option<Body>,
}

/// The content of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Data,
    Ring,
    Get,
    Atomic(Op),
    Load,
    Store,
    Loaded,
    Stored,
}

impl Shape {
    /// `None`: the class has no message of this kind.
    fn of(what: What, class: Class) -> Option<Shape> {
        let kind = u32::from(what.kind) & PAGE_KIND_MASK;
        if !what.has(PAGE_DIRECT_MASK) {
            Page::decode(what.kind).filter(|_| class == Class::Request)?;
            return Some(match kind {
                KIND_PUT if what.has(PAGE_SEND_MASK) => Shape::Ring,
                KIND_PUT => Shape::Data,
                KIND_GET => Shape::Get,
                KIND_CSI => Shape::Atomic(Op::Csi),
                _ => Shape::Atomic(Op::Fop),
            });
        }
        let access = PAGE_SIZE_MASK | PAGE_AS_RECEIVE_MASK;
        let (shape, with) = match (class, kind) {
            (Class::Request, MADE_LOAD) => (Shape::Load, access),
            (Class::Request, MADE_STORE) => (Shape::Store, access),
            (Class::Reply, MADE_GET_REPLY) => (Shape::Data, PAGE_AS_SEND_MASK | PAGE_AS_RECEIVE_MASK),
            (Class::Reply, MADE_ATOMIC_REPLY) => (Shape::Data, 0),
            (Class::Reply, MADE_LOAD_REPLY) => (Shape::Loaded, access),
            (Class::Reply, MADE_STORE_ACK) => (Shape::Stored, access),
            _ => return None,
        };
        let named = PAGE_DIRECT_MASK | PAGE_KIND_MASK | PAGE_SYSTEM_MASK | with;
        (!what.has(!named)).then_some(shape)
    }
}

impl Message {
    /// Parses the words of a message, the route first.
    ///
    /// # Errors
    /// The first error, in the order in which the words arrive.
    pub fn parse(words: &[u32], class: Class) -> Result<Message, Broken> {
        let what = words.get(1).map_or(What::default(), |&word| What::of(word));
        let broken = |why, came| Err(Broken { why, what, came });
        if (words[0] & MESSAGE_ROUTE_REPLY_MASK != 0) != (class == Class::Reply) {
            return broken(Why::Class, None);
        }
        if words.len() < 2 {
            return broken(Why::Short, None);
        }
        let Some(shape) = Shape::of(what, class) else {
            return broken(Why::Kind, None);
        };
        let rest = &words[2..];
        let double = usize::from(what.size() == 8);
        // The words after the second one; before the data, if there are any.
        let (least, most) = match shape {
            Shape::Data | Shape::Ring => (4, usize::MAX),
            Shape::Get | Shape::Atomic(_) => (7, 7),
            Shape::Load => (1, 1),
            Shape::Store => (2 + double, 2 + double),
            Shape::Loaded if rest.is_empty() => (0, 0),
            Shape::Loaded => (1 + double, 1 + double),
            Shape::Stored => (0, 0),
        };
        let ends_load = (shape == Shape::Loaded).then_some(Body::Loaded(Vec::new()));
        if rest.len() < least {
            return broken(Why::Short, ends_load);
        }
        if rest.len() > most {
            return broken(Why::Long, ends_load);
        }
        let seven = || rest.try_into().expect("checked");
        let body = match shape {
            Shape::Data | Shape::Ring => return Message::data(what, shape, rest),
            Shape::Get => Body::Get(seven()),
            Shape::Atomic(op) => Body::Atomic(op, seven()),
            Shape::Load => Body::Load { addr: rest[0] },
            Shape::Store => Body::Store {
                addr: rest[0],
                words: rest[1..].to_vec(),
            },
            Shape::Loaded => Body::Loaded(rest.to_vec()),
            Shape::Stored => Body::Stored,
        };
        Ok(Message { what, body })
    }

    fn data(what: What, shape: Shape, rest: &[u32]) -> Result<Message, Broken> {
        let broken = |why, came| Err(Broken { why, what, came });
        let (head, came) = rest.split_at(4);
        let said = (head[0] & COMMAND_LENGTH_WORDS_MASK) as usize;
        if said > 0 && came.is_empty() {
            return broken(Why::Short, None);
        }
        if said == 0 && !came.is_empty() {
            return broken(Why::Long, None);
        }
        let context = (head[0] >> COMMAND_LENGTH_CONTEXT_SHIFT) as u16;
        if shape == Shape::Ring {
            let body = Body::Ring(Send {
                context,
                flag: head[1],
                said: said as u32,
                words: [&head[2..], &came[..said.min(came.len())]].concat(),
            });
            return Message::came(what, body, came.len(), said);
        }
        let data = Data {
            context,
            dest: head[1],
            stride: head[2],
            flag: head[3],
            said: said as u32,
            words: came[..said.min(came.len())].to_vec(),
        };
        if what.registers() && said > 0 && creg::range(data.dest, data.said).is_none() {
            return broken(Why::Address, None);
        }
        Message::came(what, Body::Data(data), came.len(), said)
    }

    /// The message, if as many words of data arrived as it states.
    fn came(what: What, body: Body, came: usize, said: usize) -> Result<Message, Broken> {
        let why = match came.cmp(&said) {
            Ordering::Less => Why::Short,
            Ordering::Greater => Why::Long,
            Ordering::Equal => return Ok(Message { what, body }),
        };
        let came = Some(body);
        Err(Broken { why, what, came })
    }
}

/// The effects of a message, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A word of data is in cell memory.
    Written { addr: u32, data: u32 },
    /// The word unit has executed this.
    Word(Request),
    /// A communication register was accessed.
    Register(Access),
    /// A message with this many words of data is in a ring buffer; the next one goes behind it.
    Ringed { place: Place, words: u32 },
    /// A message for a queue.
    Queue(Queue, Vec<u32>),
    /// A load of this cell, {x, y}, has ended: its words, or none if it failed.
    Loaded([u8; 2], Vec<u32>),
    /// A store has ended.
    Acknowledged,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub effects: Vec<Effect>,
    /// It was not executed as stated.
    pub reported: Option<(Why, What)>,
}

/// Golden model of the receive controller: one step per message.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    pub class: Class,
    /// This cell: {x, y}.
    pub own: [u8; 2],
    /// Bits of an address in cell memory.
    pub mem_bits: u32,
}

impl Receiver {
    pub fn execute(&self, words: &[u32], cell: &mut impl Cell) -> Outcome {
        let mut effects = Vec::new();
        let (why, what) = match Message::parse(words, self.class) {
            Ok(Message { what, body }) => (self.body(what, &body, true, cell, &mut effects).err(), what),
            Err(Broken { why, what, came }) => {
                let worse = came.and_then(|came| self.body(what, &came, false, cell, &mut effects).err());
                // A message ends early at data that do not fit a register or a ring.
                let first = |worse: &Why| matches!(worse, Why::Register | Why::Ring | Why::RingSize);
                (Some(worse.filter(first).unwrap_or(why)), what)
            }
        };
        Outcome {
            effects,
            reported: why.map(|why| (why, what)),
        }
    }

    /// Stores the words; counts no flag if the message is not `whole`.
    fn body(
        &self,
        what: What,
        body: &Body,
        whole: bool,
        cell: &mut impl Cell,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Why> {
        match body {
            Body::Data(data) => {
                if what.registers() {
                    into_registers(data, cell, effects)?;
                } else {
                    into_memory(what, data, cell, effects)?;
                }
                if whole {
                    count(what, data.context, data.flag, cell, effects);
                }
            }
            Body::Ring(send) => {
                into_ring(what, send, whole, cell, effects)?;
                if whole {
                    count(what, send.context, send.flag, cell, effects);
                }
            }
            Body::Get(words) => {
                let head = what.answer(MADE_GET_REPLY, self.own);
                effects.push(Effect::Queue(Queue::GetReply, [&[head], &words[..]].concat()));
            }
            Body::Atomic(op, words) => {
                let [length, dest, _, flag, addr, a, b] = *words;
                let context = (length >> COMMAND_LENGTH_CONTEXT_SHIFT) as u16;
                let request = Request {
                    a,
                    b,
                    ..request(*op, what, context, addr)
                };
                effects.push(Effect::Word(request));
                let old = perform(cell, &request)?;
                let head = what.answer(MADE_ATOMIC_REPLY, self.own);
                let length = length & COMMAND_LENGTH_CONTEXT_MASK | 1;
                effects.push(Effect::Queue(
                    Queue::RemoteReply,
                    vec![head, length, dest, 0, flag, old],
                ));
            }
            Body::Load { addr } => {
                let loaded = self.load(what, *addr, cell, effects);
                let head = what.answer(MADE_LOAD_REPLY, self.own);
                let words = loaded.clone().unwrap_or_default();
                effects.push(Effect::Queue(Queue::RemoteReply, [vec![head], words].concat()));
                loaded?;
            }
            Body::Store { addr, words } => {
                let stored = self.store(what, *addr, words, cell, effects);
                let head = what.answer(MADE_STORE_ACK, self.own);
                effects.push(Effect::Queue(Queue::RemoteReply, vec![head]));
                stored?;
            }
            Body::Loaded(words) => effects.push(Effect::Loaded([what.x, what.y], words.clone())),
            Body::Stored => effects.push(Effect::Acknowledged),
        }
        Ok(())
    }

    fn load(&self, what: What, addr: u32, cell: &mut impl Cell, effects: &mut Vec<Effect>) -> Result<Vec<u32>, Why> {
        if what.registers() {
            let word = register(what, addr, None, cell, effects)?;
            return Ok(vec![word.expect("a read gives a word")]);
        }
        self.inside(what, addr)?;
        let read = |i: u32| {
            let request = Request {
                physical: true,
                ..request(Op::Read, what, 0, addr / 4 * 4 + 4 * i)
            };
            effects.push(Effect::Word(request));
            Ok(perform(cell, &request)?)
        };
        (0..what.size().div_ceil(4)).map(read).collect()
    }

    fn store(
        &self,
        what: What,
        addr: u32,
        words: &[u32],
        cell: &mut impl Cell,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Why> {
        if what.registers() {
            return register(what, addr, Some(words[0]), cell, effects).map(|_| ());
        }
        self.inside(what, addr)?;
        let lanes = ((1 << what.size().min(4)) - 1) << (addr % 4);
        for (i, &word) in words.iter().enumerate() {
            let request = Request {
                physical: true,
                strb: lanes,
                a: word,
                ..request(Op::Write, what, 0, addr / 4 * 4 + 4 * i as u32)
            };
            effects.push(Effect::Word(request));
            perform(cell, &request)?;
        }
        Ok(())
    }

    /// Whether the remote access is aligned and its bytes lie in the cell's memory.
    fn inside(&self, what: What, addr: u32) -> Result<(), Why> {
        if u64::from(addr) >> self.mem_bits == 0 && addr.is_multiple_of(what.size()) {
            Ok(())
        } else {
            Err(Why::Address)
        }
    }
}

/// A request of the word unit without operands, at a logical address.
fn request(op: Op, what: What, context: u16, addr: u32) -> Request {
    Request {
        op,
        context,
        system: what.system(),
        physical: false,
        addr,
        strb: 0xf,
        a: 0,
        b: 0,
    }
}

/// Counts a flag, if there is one.
fn count(what: What, context: u16, addr: u32, cell: &mut impl Cell, effects: &mut Vec<Effect>) {
    if addr != 0 {
        let flag = request(Op::Inc, what, context, addr);
        effects.push(Effect::Word(flag));
        // The word unit reports errors of a flag.
        let _ = perform(cell, &flag);
    }
}

/// A remote access to a communication register.
fn register(
    what: What,
    addr: u32,
    write: Option<u32>,
    cell: &mut impl Cell,
    effects: &mut Vec<Effect>,
) -> Result<Option<u32>, Why> {
    if what.size() != 4 || !addr.is_multiple_of(4) || addr as usize / 4 >= WORDS {
        return Err(Why::Address);
    }
    let access = Access {
        addr: (addr / 4) as u8,
        write,
    };
    effects.push(Effect::Register(access));
    cell.register(access).map_err(|_| Why::Register)
}

fn into_registers(data: &Data, cell: &mut impl Cell, effects: &mut Vec<Effect>) -> Result<(), Why> {
    for (i, &word) in data.words.iter().enumerate() {
        let access = Access {
            addr: (data.dest / 4) as u8 + i as u8,
            write: Some(word),
        };
        effects.push(Effect::Register(access));
        cell.register(access).map_err(|_| Why::Register)?;
    }
    Ok(())
}

fn into_memory(what: What, data: &Data, cell: &mut impl Cell, effects: &mut Vec<Effect>) -> Result<(), Why> {
    let mut failed = Ok(());
    for (addr, &word) in places(data.dest, data.stride, data.said).zip(&data.words) {
        if !addr.is_multiple_of(4) {
            return Err(Why::GivenUp);
        }
        let at = cell
            .place(data.context, what.system(), true, addr)
            .ok_or(Why::GivenUp)?;
        match cell.write(at, word, 0xf) {
            Ok(()) => effects.push(Effect::Written { addr: at, data: word }),
            Err(bus) => failed = Err(bus.into()),
        }
    }
    failed
}

/// If the message is not `whole`, its words stay where the next one goes.
fn into_ring(what: What, send: &Send, whole: bool, cell: &mut impl Cell, effects: &mut Vec<Effect>) -> Result<(), Why> {
    let place = cell.ring(send.context, what.system(), send.said)?;
    let mut failed = Ok(());
    for (addr, &word) in place.words(send.said + HEADER_WORDS).zip(&send.words) {
        match cell.write(addr, word, 0xf) {
            Ok(()) => effects.push(Effect::Written { addr, data: word }),
            Err(bus) => failed = Err(bus.into()),
        }
    }
    let words = (whole && failed.is_ok()).then_some(send.said);
    cell.ringed(place, words);
    effects.extend(words.map(|words| Effect::Ringed { place, words }));
    failed
}
