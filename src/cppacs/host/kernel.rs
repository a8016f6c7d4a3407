//! A node's kernel: it sets up the NIA, hands out fields and rights, and serves messages of normal mode.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::layout::{self, KERNEL, USER};
use super::{Allow, RdmaError};
use crate::cppacs::golden::entry::{self, Process, node_word};
use crate::cppacs::golden::tcw::Tcw;
use crate::cppacs::params::Config;
use crate::cppacs::regs::*;
use crate::harness::cpu::{Cpu, Level};
use crate::harness::exec::{First, Host, race};
use crate::harness::memory::Memory;
use crate::harness::sync::{Lock, Queue, Signal};
use crate::net::hyper::Place;
use crate::{Addr, NodeId, Picos};

/// A message of normal mode: 16 words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Message {
    kind: u32,
    serial: u32,
    from: u32,
    number: u32,
    /// An answer: 1, if there is such a field, its index, key and size.
    found: u32,
    index: u32,
    key: u32,
    size: u32,
    name: [u8; 32],
}

/// Asks for a field by name and number, for the key of a number of all nodes, and answers.
const ASK_FIELD: u32 = 1;
const ASK_KEY: u32 = 2;
const ANSWER: u32 = 3;
const GREET: u32 = 4;
const MESSAGE_BYTES: u32 = 64;
/// An asker tries so often, and waits so long each time.
const TRIES: u32 = 4;
const PATIENCE: Picos = Picos::from_ns(5_000_000);

impl Message {
    fn of(bytes: &[u8]) -> Message {
        let word = |at: usize| u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().expect("4 bytes"));
        Message {
            kind: word(0),
            serial: word(1),
            from: word(2),
            number: word(3),
            found: word(4),
            index: word(5),
            key: word(6),
            size: word(7),
            name: bytes[32..64].try_into().expect("32 bytes"),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let words = [
            self.kind,
            self.serial,
            self.from,
            self.number,
            self.found,
            self.index,
            self.key,
            self.size,
        ];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(self.name);
        bytes
    }
}

/// A field that a process has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub index: u32,
    pub key: u32,
    pub size: u32,
}

#[derive(Default)]
struct State {
    /// Objects by their offset in the area, and where the next one begins.
    objects: BTreeMap<u32, String>,
    top: u32,
    fields: BTreeMap<(String, u16), Made>,
    free_fields: Vec<u32>,
    free_rights: Vec<u32>,
    /// Keys given out.
    keys: u32,
    /// Keys of fields that all nodes have, by number; node 0's kernel has them.
    all_keys: BTreeMap<u32, u32>,
    /// Messages taken from the ring.
    taken: u32,
    serial: u32,
    answers: BTreeMap<u32, Message>,
    /// Fields that hardware shut.
    shut: BTreeSet<u32>,
}

pub(super) struct Kernel {
    pub cpu: Cpu,
    pub config: Rc<Config>,
    pub place: Place,
    state: RefCell<State>,
    answered: Signal,
    outgoing: Queue<(u32, Message)>,
    sending: Lock,
}

/// A 32-bit number that is another for each other number.
fn mixed(number: u32) -> u32 {
    let x = (number ^ number >> 16).wrapping_mul(0x85eb_ca6b);
    let x = (x ^ x >> 13).wrapping_mul(0xc2b2_ae35);
    x ^ x >> 16
}

impl Kernel {
    pub fn new(host: Host, config: Rc<Config>) -> Kernel {
        let state = State {
            top: layout::OBJECTS,
            free_fields: (layout::FIRST_FIELD..config.fields).rev().collect(),
            free_rights: (layout::FIRST_RIGHT..config.rights).rev().collect(),
            ..State::default()
        };
        Kernel {
            place: config.grid().place(host.node().0.into()),
            cpu: Cpu::new(host, 0, config.access, Picos::ZERO),
            config,
            state: RefCell::new(state),
            answered: Signal::new("an answer of another kernel"),
            outgoing: Queue::new("a message to answer"),
            sending: Lock::new("the kernel's turn to send"),
        }
    }

    pub fn host(&self) -> &Host {
        &self.cpu.host
    }

    pub fn id(&self) -> NodeId {
        self.host().node()
    }

    /// Writes a word of the window: one access of the processor.
    pub async fn store(&self, level: Level, offset: u32, value: u64) {
        self.cpu.work(level, self.config.access).await;
        let stored = self.host().store(offset.into(), 8, value).await;
        stored.expect("a register of the NIA");
    }

    pub async fn load(&self, level: Level, offset: u32) -> u64 {
        self.cpu.work(level, self.config.access).await;
        let loaded = self.host().load(offset.into(), 8).await;
        loaded.expect("a register of the NIA")
    }

    /// Bytes of the user's area.
    pub fn area_bytes(&self) -> u32 {
        self.config.mem_bytes - layout::AREA
    }

    /// Sets up the NIA.
    pub async fn boot(&self) {
        let grid = self.config.grid();
        let set = async |offset, value| self.store(Level::User, offset, value).await;
        set(NODE, node_word(grid, self.place)).await;
        let kernel = Process {
            area: layout::KERNEL_AREA,
            area_bytes: layout::KERNEL_AREA_BYTES,
            tcws: layout::KERNEL_TCWS,
            tcw_count: 1,
        };
        let user = Process {
            area: layout::AREA,
            area_bytes: self.area_bytes(),
            tcws: layout::TCWS,
            tcw_count: layout::ALL_TCWS,
        };
        for (process, words) in [(KERNEL, kernel.words()), (USER, user.words())] {
            set(AREA + 16 * process, words[0]).await;
            set(TCWS + 16 * process, words[1]).await;
        }
        let slots = u64::from(layout::RING_SLOTS_LOG) << RING_SLOTS_LOG_SHIFT;
        set(RING, slots | u64::from(layout::RING_SLOT_LOG) << RING_SLOT_LOG_SHIFT).await;
        let ring = entry::Field {
            enabled: true,
            write: true,
            flagged: true,
            owner: KERNEL,
            key: layout::KERNEL_KEY,
            base: layout::RING,
            size: 1 << (layout::RING_SLOT_LOG + layout::RING_SLOTS_LOG),
            flag: layout::flag(0),
            ..entry::Field::default()
        };
        self.write_field(Level::User, 0, &ring).await;
        set(MASK, CAUSE_NOTIFY_MASK | CAUSE_SHUT_MASK).await;
        set(BARRIER, BARRIER_MEMBER_MASK).await;
        set(CONTROL, CONTROL_SEND_MASK).await;
    }

    /// An entry of the table of fields, its STATE last.
    async fn write_field(&self, level: Level, index: u32, field: &entry::Field) {
        let [state, extent, flag] = field.words();
        let at = FIELDS + 32 * index;
        self.store(level, at + FIELD_EXTENT, extent).await;
        self.store(level, at + FIELD_FLAG, flag).await;
        self.store(level, at + FIELD_STATE, state).await;
    }

    async fn write_right(&self, level: Level, index: u32, right: &entry::Right) {
        let [place, limit] = right.words();
        let at = RIGHTS + 16 * index;
        self.store(level, at + RIGHT_LIMIT, limit).await;
        self.store(level, at + RIGHT_PLACE, place).await;
    }

    /// Takes interrupts, for ever.
    pub async fn interrupts(self: Rc<Kernel>) {
        loop {
            self.host().irq().await;
            self.cpu.enter();
            self.cpu.work(Level::Handler, self.config.interrupt).await;
            let cause = self.load(Level::Handler, CAUSE).await & (CAUSE_NOTIFY_MASK | CAUSE_SHUT_MASK);
            self.store(Level::Handler, CAUSE, cause).await;
            if cause & CAUSE_NOTIFY_MASK != 0 {
                self.take_messages().await;
            }
            if cause & CAUSE_SHUT_MASK != 0 {
                self.find_shut().await;
            }
            self.cpu.leave();
        }
    }

    async fn take_messages(&self) {
        let mut taken = self.state.borrow().taken;
        while taken != count(&self.host().read(Addr(layout::flag(0)), 8)) {
            let slot = taken & ((1 << layout::RING_SLOTS_LOG) - 1);
            let at = layout::RING + (slot << layout::RING_SLOT_LOG);
            self.receive(Message::of(&self.host().read(Addr(at), MESSAGE_BYTES)));
            taken = taken.wrapping_add(1);
            self.state.borrow_mut().taken = taken;
            let ring = u64::from(layout::RING_SLOTS_LOG) << RING_SLOTS_LOG_SHIFT
                | u64::from(layout::RING_SLOT_LOG) << RING_SLOT_LOG_SHIFT;
            self.store(Level::Handler, RING, ring | u64::from(taken)).await;
        }
    }

    fn receive(&self, message: Message) {
        let mut state = self.state.borrow_mut();
        let answer = match message.kind {
            ANSWER => {
                state.answers.insert(message.serial, message);
                return self.answered.notify();
            }
            ASK_FIELD => {
                let found = state.fields.get(&(name_of(&message.name), message.number as u16));
                let (found, made) = (u32::from(found.is_some()), found.copied());
                let Made { index, key, size } = made.unwrap_or(Made {
                    index: 0,
                    key: 0,
                    size: 0,
                });
                Message {
                    found,
                    index,
                    key,
                    size,
                    ..message
                }
            }
            ASK_KEY => {
                drop(state);
                let key = self.all_key(message.number);
                Message {
                    found: 1,
                    key,
                    ..message
                }
            }
            GREET => message,
            // Nobody but kernels has a right for the ring.
            _ => return,
        };
        let answer = Message { kind: ANSWER, ..answer };
        self.outgoing.push((message.from, answer));
    }

    /// Sends answers, for ever.
    pub async fn answers(self: Rc<Kernel>) {
        loop {
            let (to, message) = self.outgoing.pop().await;
            // A program that computes must not hold it up. Who gets no answer asks again.
            let _ = self.tell(Level::Handler, to, &message).await;
        }
    }

    /// Sends a message of normal mode.
    async fn tell(&self, level: Level, to: u32, message: &Message) -> Result<(), RdmaError> {
        let _turn = self.sending.hold().await;
        self.cpu.work(level, self.config.send_setup).await;
        let right = entry::Right {
            place: self.config.grid().place(to),
            owner: KERNEL,
            valid: true,
            key: layout::KERNEL_KEY,
            size: u32::MAX,
            ..entry::Right::default()
        };
        self.write_right(level, 0, &right).await;
        let tcw = Tcw {
            valid: true,
            notify: true,
            flagged: true,
            length: MESSAGE_BYTES,
            send_flag: layout::KERNEL_FLAG,
            ..Tcw::default()
        };
        let host = self.host();
        host.write(Addr(layout::KERNEL_AREA), &message.bytes());
        host.write(Addr(layout::KERNEL_TCWS), &words(&tcw.words()));
        let flag = layout::KERNEL_AREA + layout::KERNEL_FLAG;
        host.write(Addr(flag), &[0; 8]);
        self.store(level, KICK + SIZE_PAGE * KERNEL, 0).await;
        host.watch("the kernel's send flag", move |memory| {
            word(memory, flag + SFLAG_RESULT) != 0
        })
        .await;
        match host.memory(|memory| word(memory, flag + SFLAG_RESULT)) {
            RESULT_SENT => Ok(()),
            refused => Err(RdmaError::refused(self.id(), refused)),
        }
    }

    /// Asks the kernel of a node, and gives its answer.
    async fn ask(&self, to: u32, kind: u32, name: &str, number: u32) -> Result<Message, RdmaError> {
        let serial = {
            let mut state = self.state.borrow_mut();
            state.serial += 1;
            state.serial
        };
        let message = Message {
            kind,
            serial,
            from: self.id().0.into(),
            number,
            name: name_bytes(name)?,
            ..Message::default()
        };
        for _ in 0..TRIES {
            self.tell(Level::User, to, &message).await?;
            let end = self.host().now() + PATIENCE;
            loop {
                if let Some(answer) = self.state.borrow_mut().answers.remove(&serial) {
                    return Ok(answer);
                }
                if let First::Right(()) = race(self.answered.changed(), self.host().delay_until(end)).await {
                    break;
                }
            }
        }
        Err(RdmaError::Silent {
            node: self.id(),
            to: NodeId(to as u16),
        })
    }

    /// A field of a node, if there is one.
    pub async fn find(&self, to: u32, name: &str, number: u16) -> Result<Option<Made>, RdmaError> {
        let Message {
            found,
            index,
            key,
            size,
            ..
        } = self.ask(to, ASK_FIELD, name, number.into()).await?;
        Ok((found != 0).then_some(Made { index, key, size }))
    }

    /// A message to the kernel of a node that changes nothing there, and its answer.
    pub async fn greet(&self, to: u32) -> Result<(), RdmaError> {
        self.ask(to, GREET, "greet", 0).await.map(drop)
    }

    /// The object that begins at this offset of the area.
    pub fn object_at(&self, offset: u32) -> Option<String> {
        self.state.borrow().objects.get(&offset).cloned()
    }

    fn new_key(&self) -> u32 {
        let mut state = self.state.borrow_mut();
        state.keys += 1;
        // Keys of nodes differ, too, until a node has given out 2^19.
        mixed(state.keys << 13 | u32::from(self.id().0))
    }

    /// The key of a number for all nodes, of node 0.
    fn all_key(&self, number: u32) -> u32 {
        let known = self.state.borrow().all_keys.get(&number).copied();
        known.unwrap_or_else(|| {
            let key = self.new_key();
            self.state.borrow_mut().all_keys.insert(number, key);
            key
        })
    }

    /// Room for an object in the user's area: its offset there.
    pub fn place_object(&self, name: &str, bytes: u32) -> Result<u32, RdmaError> {
        name_bytes(name)?;
        let node = self.id();
        let mut state = self.state.borrow_mut();
        let (top, room) = (state.top, self.area_bytes() - state.top);
        if bytes == 0 || bytes > room {
            return Err(RdmaError::Memory { node, bytes, room });
        }
        if state.objects.values().any(|taken| taken == name) {
            let name = name.into();
            return Err(RdmaError::Twice { node, name });
        }
        state.objects.insert(top, name.to_owned());
        state.top = (top + bytes).next_multiple_of(64).min(self.area_bytes());
        Ok(top)
    }

    /// Makes a field at an offset of the user's area.
    pub async fn make_field(
        &self,
        name: &str,
        number: u16,
        (offset, size): (u32, u32),
        allow: Allow,
    ) -> Result<Made, RdmaError> {
        let (node, known) = (self.id(), (name.to_owned(), number));
        if self.state.borrow().fields.contains_key(&known) {
            return Err(RdmaError::Twice {
                node,
                name: format!("{name} {number}"),
            });
        }
        let is_all = name.starts_with(layout::ALL_NAME);
        let index = match is_all {
            true if u32::from(number) < layout::FIRST_FIELD - layout::ALL_FIELDS => {
                layout::ALL_FIELDS + u32::from(number)
            }
            true => {
                return Err(RdmaError::NoRoom {
                    node,
                    what: "field for all nodes",
                });
            }
            false => self
                .state
                .borrow_mut()
                .free_fields
                .pop()
                .ok_or(RdmaError::NoRoom { node, what: "field" })?,
        };
        let key = match is_all {
            true if node.0 != 0 => self.ask(0, ASK_KEY, name, number.into()).await?.key,
            true => self.all_key(number.into()),
            false => self.new_key(),
        };
        let made = Made { index, key, size };
        self.host().write(Addr(layout::flag(index)), &[0; 8]);
        let field = entry::Field {
            enabled: true,
            write: allow.write,
            read: allow.read,
            atomic: allow.atomic,
            flagged: true,
            owner: USER,
            key,
            base: layout::AREA + offset,
            size,
            flag: layout::flag(index),
        };
        self.write_field(Level::User, index, &field).await;
        let mut state = self.state.borrow_mut();
        state.shut.remove(&index);
        state.fields.insert(known, made);
        Ok(made)
    }

    /// Takes a field away. When it is done, nothing is written into it any more.
    pub async fn unmake_field(&self, name: &str, number: u16, index: u32) {
        self.store(Level::User, FIELDS + 32 * index + FIELD_STATE, 0).await;
        loop {
            let status = self.load(Level::User, STATUS).await;
            let is_of_field = (status & STATUS_FIELD_MASK) >> STATUS_FIELD_SHIFT == u64::from(index);
            if status & STATUS_RECEIVING_MASK == 0 || !is_of_field {
                break;
            }
        }
        let mut state = self.state.borrow_mut();
        state.fields.remove(&(name.to_owned(), number));
        if index >= layout::FIRST_FIELD {
            state.free_fields.push(index);
        }
    }

    /// Writes a right for the user's process, and gives its number.
    pub async fn make_right(&self, place: Place, mask: u32, made: Made) -> Result<u32, RdmaError> {
        let node = self.id();
        let index = self.state.borrow_mut().free_rights.pop();
        let index = index.ok_or(RdmaError::NoRoom {
            node,
            what: "send right",
        })?;
        let right = entry::Right {
            place,
            mask,
            field: made.index,
            owner: USER,
            valid: true,
            key: made.key,
            size: made.size,
        };
        self.write_right(Level::User, index, &right).await;
        Ok(index)
    }

    pub async fn unmake_right(&self, index: u32) {
        self.store(Level::User, RIGHTS + 16 * index + RIGHT_PLACE, 0).await;
        self.state.borrow_mut().free_rights.push(index);
    }

    /// Notes the fields that hardware disabled.
    async fn find_shut(&self) {
        let made: Vec<u32> = self.state.borrow().fields.values().map(|made| made.index).collect();
        for index in made {
            let state = self.load(Level::Handler, FIELDS + 32 * index + FIELD_STATE).await;
            if state & FIELD_STATE_ENABLED_MASK == 0 {
                self.state.borrow_mut().shut.insert(index);
            }
        }
    }

    /// Whether hardware shut a field.
    pub fn is_shut(&self, index: u32) -> bool {
        self.state.borrow().shut.contains(&index)
    }
}

/// COUNT of a receive flag.
pub(super) fn count(flag: &[u8]) -> u32 {
    u32::from_le_bytes(flag[4..8].try_into().expect("8 bytes"))
}

/// A word of memory; 0 where there is none.
pub(super) fn word(memory: &Memory, addr: u32) -> u32 {
    let bytes = memory.read(Addr(addr), 4).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u32::from_le_bytes)
}

pub(super) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn name_bytes(name: &str) -> Result<[u8; 32], RdmaError> {
    let mut bytes = [0; 32];
    let is_name = !name.is_empty() && name.len() < bytes.len() && !name.contains('\0');
    is_name
        .then_some(())
        .ok_or_else(|| RdmaError::Name { name: name.into() })?;
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    Ok(bytes)
}

fn name_of(bytes: &[u8; 32]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
