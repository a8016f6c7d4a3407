//! The native library: fields, send rights, transfers, waits.

use std::cell::{Cell, RefCell};

use super::kernel::{self, Made, word};
use super::layout::{self, USER};
use super::{Node, RdmaError};
use crate::cppacs::golden::tcw::{MOST_ELEMENT, Tcw};
use crate::cppacs::regs::*;
use crate::harness::cpu::Level;
use crate::harness::exec::{First, race};
use crate::harness::memory::Memory;
use crate::net::hyper::Channel;
use crate::{Addr, NodeId, Picos};

/// An object: memory that may be sent from and received into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    name: String,
    /// In the process's area.
    offset: u32,
    bytes: u32,
}

/// Some bytes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    offset: u32,
    bytes: u32,
}

/// Elements of an object that lie the same distance apart: the first one, how many, and the distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided {
    pub first: Span,
    pub count: u32,
    pub step: u32,
}

/// Where elements go in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    pub offset: u32,
    pub step: u32,
}

/// What a field allows others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allow {
    pub write: bool,
    pub read: bool,
    pub atomic: bool,
}

/// A field of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    name: String,
    number: u16,
    index: u32,
    size: u32,
}

/// Whom a right is for: a node, or each node of its lines along the axes of a mask (X is bit 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    Node(NodeId),
    Broadcast(u32, NodeId),
}

/// What this process may write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Right {
    index: u32,
    size: u32,
    is_broadcast: bool,
}

/// How a transfer is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct How {
    pub channel: Channel,
    /// The receiver's kernel is interrupted.
    pub notify: bool,
    /// There will be a send flag to wait for.
    pub flagged: bool,
}

/// A transfer that a TCW is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub from: Span,
    pub right: Right,
    pub offset: u32,
    pub how: How,
}

/// What becomes of a TCW.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    pub from: Option<Span>,
    pub offset: Option<u32>,
}

/// A prepared TCW.
#[derive(Debug, PartialEq, Eq)]
pub struct TcwId {
    number: u32,
    tcw: Cell<Tcw>,
}

/// A transfer that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    tcw: u32,
    /// Of the TCW's uses; `None` without a flag.
    flag: Option<u32>,
}

/// Transfers that came into a field, and who sent the last one, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    pub src: u32,
    pub count: u32,
}

/// How often a TCW was kicked, and whether the last time with a flag.
#[derive(Clone, Copy, Debug, Default)]
struct TcwUse {
    count: u32,
    is_flagged: bool,
}

/// What the library of a node keeps.
#[derive(Debug)]
pub(super) struct Library {
    /// The next TCW of a send, and how often each was used.
    next: Cell<u32>,
    uses: RefCell<Vec<TcwUse>>,
    free: RefCell<Vec<u32>>,
    /// Kicks of each channel that the NIA has room for, as far as we know.
    room: [Cell<u32>; 2],
    /// Where answers of atomics go.
    reply: RefCell<Option<(Area, Field)>>,
    /// The count of releases at a barrier that this node has come to and not left: the wait's bound was over.
    at_barrier: Cell<Option<u64>>,
}

impl Default for Library {
    fn default() -> Library {
        Library {
            next: Cell::new(0),
            uses: RefCell::new(vec![TcwUse::default(); layout::ALL_TCWS as usize]),
            free: RefCell::new((layout::SEND_TCWS..layout::ALL_TCWS).rev().collect()),
            room: Default::default(),
            reply: RefCell::default(),
            at_barrier: Cell::new(None),
        }
    }
}

impl Allow {
    pub const WRITE: Allow = Allow {
        write: true,
        read: false,
        atomic: false,
    };
    pub const ALL: Allow = Allow {
        write: true,
        read: true,
        atomic: true,
    };
}

impl Default for How {
    fn default() -> How {
        How {
            channel: Channel::Data,
            notify: false,
            flagged: false,
        }
    }
}

impl How {
    /// On the acknowledge channel.
    pub const ACK: How = How {
        channel: Channel::Ack,
        notify: false,
        flagged: false,
    };
    /// With a send flag.
    pub const FLAGGED: How = How {
        channel: Channel::Data,
        notify: false,
        flagged: true,
    };
}

fn check_shape(offset: u32, bytes: u32) -> Result<(), RdmaError> {
    let is_sound = offset.is_multiple_of(8) && bytes.is_multiple_of(8) && bytes > 0;
    is_sound.then_some(()).ok_or(RdmaError::Shape { offset, bytes })
}

fn check_within(offset: u32, bytes: u32, size: u32) -> Result<(), RdmaError> {
    let is_within = u64::from(offset) + u64::from(bytes) <= size.into();
    is_within
        .then_some(())
        .ok_or(RdmaError::Outside { offset, bytes, size })
}

impl Area {
    pub(super) fn at(name: String, offset: u32, bytes: u32) -> Area {
        Area { name, offset, bytes }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Some of its bytes.
    ///
    /// # Errors
    /// They are not all there.
    pub fn span(&self, offset: u32, bytes: u32) -> Result<Span, RdmaError> {
        check_within(offset, bytes, self.bytes)?;
        let offset = self.offset + offset;
        Ok(Span { offset, bytes })
    }

    pub fn all(&self) -> Span {
        let (offset, bytes) = (self.offset, self.bytes);
        Span { offset, bytes }
    }
}

impl Span {
    pub(super) fn at(offset: u32, bytes: u32) -> Span {
        Span { offset, bytes }
    }

    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Physical address.
    pub fn addr(&self) -> Addr {
        Addr(layout::AREA + self.offset)
    }
}

impl Field {
    pub fn size(&self) -> u32 {
        self.size
    }
}

impl Right {
    /// Bytes of the field.
    pub fn size(&self) -> u32 {
        self.size
    }
}

impl Node {
    /// Makes an object of this name, for good.
    ///
    /// # Errors
    /// No name, a second one of it, or no memory left.
    pub fn object(&self, name: &str, bytes: u32) -> Result<Area, RdmaError> {
        let offset = self.kernel.place_object(name, bytes)?;
        let name = name.to_owned();
        Ok(Area { name, offset, bytes })
    }

    /// Reads bytes of an object, in no time.
    pub fn read(&self, span: &Span) -> Vec<u8> {
        self.host().read(span.addr(), span.bytes)
    }

    /// Writes bytes of an object, in no time.
    ///
    /// # Panics
    /// There are more bytes than the span has.
    pub fn write(&self, span: &Span, data: &[u8]) {
        assert!(data.len() <= span.bytes as usize, "{} bytes into {span:?}", data.len());
        self.host().write(span.addr(), data);
    }

    /// Makes a field of an object: a system call. Fields 0 to 7 of an object `all:…` are for broadcasts, too.
    ///
    /// # Errors
    /// Bytes that are not there; a number that is used; no field left.
    pub async fn create_field(
        &self,
        area: &Area,
        offset: u32,
        bytes: u32,
        number: u16,
        allow: Allow,
    ) -> Result<Field, RdmaError> {
        check_shape(offset, bytes)?;
        check_within(offset, bytes, area.bytes)?;
        self.compute(self.config().syscall).await;
        let place = (area.offset + offset, bytes);
        let Made { index, size, .. } = self.kernel.make_field(&area.name, number, place, allow).await?;
        let name = area.name.clone();
        Ok(Field {
            name,
            number,
            index,
            size,
        })
    }

    /// Takes a field away: nothing is written into it any more, and rights for it are refused.
    ///
    /// # Errors
    /// None yet.
    pub async fn destroy_field(&self, field: Field) -> Result<(), RdmaError> {
        self.compute(self.config().syscall).await;
        self.kernel.unmake_field(&field.name, field.number, field.index).await;
        Ok(())
    }

    /// Gets the right for a field, once it is there.
    ///
    /// # Errors
    /// No such node; no field within that time; no right left.
    pub async fn get_sendright(&self, to: To, name: &str, number: u16, wait: Picos) -> Result<Right, RdmaError> {
        let (mask, to) = match to {
            To::Node(to) => (0, to),
            To::Broadcast(mask, to) => (mask & 7, to),
        };
        let (node, nodes) = (self.id(), self.nodes());
        if to.index() >= nodes {
            return Err(RdmaError::NoNode { to, nodes });
        }
        self.compute(self.config().syscall).await;
        let end = self.now() + wait;
        loop {
            if let Some(made) = self.kernel.find(to.0.into(), name, number).await? {
                let place = self.config().grid().place(to.0.into());
                let index = self.kernel.make_right(place, mask, made).await?;
                let (size, is_broadcast) = (made.size, mask != 0);
                return Ok(Right {
                    index,
                    size,
                    is_broadcast,
                });
            }
            if self.now() >= end {
                let name = name.to_owned();
                return Err(RdmaError::NoField { node, to, name, number });
            }
            self.host().delay(ASK_AGAIN).await;
        }
    }

    /// Gives a right back.
    pub async fn free_right(&self, right: Right) {
        self.compute(self.config().syscall).await;
        self.kernel.unmake_right(right.index).await;
    }

    /// Sends bytes into a field: set-up and the light system call. More than 1 MB goes as several transfers, each of
    /// which counts at the receiver.
    ///
    /// # Errors
    /// A shape or a place that cannot be.
    pub async fn send(&self, from: Span, right: &Right, offset: u32, how: How) -> Result<Sent, RdmaError> {
        check_shape(offset | from.offset, from.bytes)?;
        check_within(offset, from.bytes, right.size)?;
        check_channel(from.bytes.min(SIZE_TRANSFER), right, how)?;
        self.compute(self.config().send_setup).await;
        let mut done = 0;
        loop {
            let length = (from.bytes - done).min(SIZE_TRANSFER);
            let tcw = Tcw {
                source: from.offset + done,
                length,
                offset: offset + done,
                ..plain(right, how)
            };
            done += length;
            let sent = self.start(tcw, how.flagged).await;
            if done == from.bytes {
                return Ok(sent);
            }
        }
    }

    /// Sends elements that lie apart into a field.
    ///
    /// # Errors
    /// A shape or a place that cannot be.
    pub async fn stride_send(&self, from: Strided, right: &Right, to: Steps, how: How) -> Result<Sent, RdmaError> {
        let Strided { first, count, step } = from;
        check_shape(to.offset | first.offset | step | to.step, first.bytes)?;
        let bytes = u64::from(first.bytes) * u64::from(count);
        let length = u32::try_from(bytes).unwrap_or(u32::MAX);
        if count == 0 || length > SIZE_TRANSFER || first.bytes > MOST_ELEMENT || how.channel == Channel::Ack {
            return Err(RdmaError::TooLong { bytes: length });
        }
        let last = |at: u32, step: u32| u32::try_from(u64::from(at) + u64::from(step) * u64::from(count - 1));
        check_within(last(to.offset, to.step).unwrap_or(u32::MAX), first.bytes, right.size)?;
        check_within(
            last(first.offset, step).unwrap_or(u32::MAX),
            first.bytes,
            self.kernel.area_bytes(),
        )?;
        self.compute(self.config().send_setup).await;
        let tcw = Tcw {
            strided: true,
            source: first.offset,
            length,
            offset: to.offset,
            element: first.bytes,
            source_step: step,
            step: to.step,
            ..plain(right, how)
        };
        Ok(self.start(tcw, how.flagged).await)
    }

    /// Reads bytes of a field of another node into one of this process, and waits for them.
    ///
    /// # Errors
    /// A shape or a place that cannot be; no answer within the library's bound, as when the field does not allow it.
    pub async fn get(&self, right: &Right, offset: u32, into: &Field, at: u32, bytes: u32) -> Result<(), RdmaError> {
        check_shape(offset | at, bytes)?;
        check_within(offset, bytes, right.size)?;
        check_within(at, bytes, into.size)?;
        check_request(bytes, SIZE_WORM, right)?;
        let tcw = Tcw {
            kind: KIND_GET,
            length: bytes,
            offset,
            reply_field: into.index,
            reply_offset: at,
            ..plain(right, How::ACK)
        };
        self.ask(tcw, into).await
    }

    /// Writes 8 bytes of a field of another node, and gives what was there.
    ///
    /// # Errors
    /// As of [`get`](Node::get).
    pub async fn swap(&self, right: &Right, offset: u32, new: u64) -> Result<u64, RdmaError> {
        self.atomic(
            right,
            offset,
            Tcw {
                kind: KIND_SWAP,
                operand: new,
                ..Tcw::default()
            },
        )
        .await
    }

    /// The same if `compare` was there; gives what was there in any case.
    ///
    /// # Errors
    /// As of [`get`](Node::get).
    pub async fn cswap(&self, right: &Right, offset: u32, compare: u64, new: u64) -> Result<u64, RdmaError> {
        self.atomic(
            right,
            offset,
            Tcw {
                kind: KIND_CSWAP,
                operand: new,
                compare,
                ..Tcw::default()
            },
        )
        .await
    }

    async fn atomic(&self, right: &Right, offset: u32, what: Tcw) -> Result<u64, RdmaError> {
        check_shape(offset, 8)?;
        check_within(offset, 8, right.size)?;
        check_request(8, 8, right)?;
        if self.library.reply.borrow().is_none() {
            let area = self.object("library:reply", 8)?;
            let field = self.create_field(&area, 0, 8, 0, Allow::WRITE).await?;
            self.library.reply.replace(Some((area, field)));
        }
        let (area, field) = self.library.reply.borrow().clone().expect("it was made");
        let Tcw {
            kind, operand, compare, ..
        } = what;
        let tcw = Tcw {
            kind,
            operand,
            compare,
            length: 8,
            offset,
            reply_field: field.index,
            ..plain(right, How::ACK)
        };
        self.ask(tcw, &field).await?;
        let old = self.read(&area.all());
        Ok(u64::from_le_bytes(old.try_into().expect("8 bytes")))
    }

    /// Sends a request, and waits for its answer.
    async fn ask(&self, tcw: Tcw, into: &Field) -> Result<(), RdmaError> {
        let count = self.arrived(into).count.wrapping_add(1);
        self.compute(self.config().send_setup).await;
        self.start(tcw, false).await;
        self.wait(into, count, self.config().wait_bound).await.map(drop)
    }

    /// Prepares a TCW that can be kicked again and again.
    ///
    /// # Errors
    /// A shape or a place that cannot be, or no TCW left.
    pub async fn make_tcw(&self, what: &Transfer) -> Result<TcwId, RdmaError> {
        let Transfer {
            from,
            right,
            offset,
            how,
        } = what;
        check_shape(offset | from.offset, from.bytes)?;
        check_within(*offset, from.bytes, right.size)?;
        check_channel(from.bytes, right, *how)?;
        let node = self.id();
        let number = self.library.free.borrow_mut().pop();
        let number = number.ok_or(RdmaError::NoRoom { node, what: "TCW" })?;
        let tcw = Tcw {
            source: from.offset,
            length: from.bytes,
            offset: *offset,
            flagged: how.flagged,
            send_flag: layout::send_flag(number),
            ..plain(right, *how)
        };
        self.compute(self.config().send_setup).await;
        self.put_tcw(number, &tcw);
        Ok(TcwId {
            number,
            tcw: Cell::new(tcw),
        })
    }

    /// Changes source, length or offset of a TCW. The NIA checks what comes out.
    ///
    /// # Errors
    /// A shape that cannot be.
    pub async fn modify_tcw(&self, tcw: &TcwId, change: Change) -> Result<(), RdmaError> {
        let mut new = tcw.tcw.get();
        if let Some(from) = change.from {
            (new.source, new.length) = (from.offset, from.bytes);
        }
        new.offset = change.offset.unwrap_or(new.offset);
        check_shape(new.source | new.offset, new.length)?;
        tcw.tcw.set(new);
        self.compute(self.config().access).await;
        self.put_tcw(tcw.number, &new);
        Ok(())
    }

    /// Gives a TCW back.
    pub fn free_tcw(&self, tcw: TcwId) {
        self.library.free.borrow_mut().push(tcw.number);
    }

    /// Starts a prepared TCW by the light system call.
    ///
    /// # Errors
    /// None yet.
    pub async fn kick(&self, tcw: &TcwId) -> Result<Sent, RdmaError> {
        self.compute(self.config().syscall).await;
        self.kick_fast(tcw).await
    }

    /// Starts a prepared TCW by an access to the process's page.
    ///
    /// # Errors
    /// None yet.
    pub async fn kick_fast(&self, tcw: &TcwId) -> Result<Sent, RdmaError> {
        let TcwId { number, tcw } = tcw;
        Ok(self.fire(*number, &tcw.get()).await)
    }

    /// Puts a TCW into the next place for sends, and kicks it.
    async fn start(&self, mut tcw: Tcw, flagged: bool) -> Sent {
        let number = self.library.next.get();
        self.library.next.set((number + 1) % layout::SEND_TCWS);
        (tcw.flagged, tcw.send_flag) = (flagged, layout::send_flag(number));
        self.put_tcw(number, &tcw);
        self.compute(self.config().syscall).await;
        self.fire(number, &tcw).await
    }

    fn put_tcw(&self, number: u32, tcw: &Tcw) {
        self.host()
            .write(Addr(layout::tcw(number)), &kernel::words(&tcw.words()));
    }

    /// Kicks, once the NIA has room for a kick. A flag is for one transfer at a time, so the last one's must be there.
    async fn fire(&self, number: u32, tcw: &Tcw) -> Sent {
        let flag = layout::AREA + layout::send_flag(number);
        let (use_of_it, was_flagged) = {
            let TcwUse { count, is_flagged } = &mut self.library.uses.borrow_mut()[number as usize];
            *count += 1;
            (*count, std::mem::replace(is_flagged, tcw.flagged))
        };
        if was_flagged {
            self.flag_comes(number).await;
        }
        if tcw.flagged {
            self.host().write(Addr(flag), &[0; 8]);
        }
        let (page, room) = (KICK + SIZE_PAGE * USER, &self.library.room[tcw.channel as usize]);
        while room.get() == 0 {
            let kicks = self.kernel.load(Level::User, page + (KICKS - KICK)).await;
            let (mask, shift) = match tcw.channel {
                0 => (KICKS_ROOM_MASK, KICKS_ROOM_SHIFT),
                _ => (KICKS_ROOM_ACK_MASK, KICKS_ROOM_ACK_SHIFT),
            };
            room.set(((kicks & mask) >> shift) as u32);
        }
        room.set(room.get() - 1);
        let value = u64::from(number) | u64::from(tcw.channel) << KICK_CHANNEL_SHIFT;
        self.kernel.store(Level::User, page, value).await;
        Sent {
            tcw: number,
            flag: tcw.flagged.then_some(use_of_it),
        }
    }

    /// Waits until the data of a send were read, so that they may be changed.
    ///
    /// # Errors
    /// The NIA refused it, or it was sent without a flag.
    pub async fn wait_sent(&self, sent: Sent) -> Result<(), RdmaError> {
        let node = self.id();
        let use_of_it = sent.flag.ok_or(RdmaError::NoFlag { node })?;
        if self.library.uses.borrow()[sent.tcw as usize].count != use_of_it {
            // The TCW was used again, so it was done with.
            return Ok(());
        }
        match self.flag_comes(sent.tcw).await {
            RESULT_SENT => Ok(()),
            result => Err(RdmaError::refused(node, result)),
        }
    }

    /// Waits for the send flag of a TCW: its result.
    async fn flag_comes(&self, tcw: u32) -> u32 {
        let at = layout::AREA + layout::send_flag(tcw) + SFLAG_RESULT;
        let comes = move |memory: &Memory| word(memory, at) != 0;
        self.host().watch("a send flag", comes).await;
        self.host().memory(|memory| word(memory, at))
    }

    /// Looks whether the data of a send were read: an access.
    ///
    /// # Errors
    /// As of [`wait_sent`](Node::wait_sent).
    pub async fn check_sent(&self, sent: Sent) -> Result<bool, RdmaError> {
        self.compute(self.config().access).await;
        let at = layout::AREA + layout::send_flag(sent.tcw) + SFLAG_RESULT;
        let is_last = Some(self.library.uses.borrow()[sent.tcw as usize].count) == sent.flag;
        if is_last && self.host().memory(|memory| word(memory, at)) == 0 {
            return Ok(false);
        }
        self.wait_sent(sent).await.map(|()| true)
    }

    /// What has come into a field so far, without looking twice.
    pub fn arrived(&self, field: &Field) -> Arrived {
        let flag = layout::flag(field.index);
        let at = |offset: u32| self.host().memory(|memory| word(memory, flag + offset));
        Arrived {
            src: at(RFLAG_SRC),
            count: at(RFLAG_COUNT),
        }
    }

    /// Waits until a transfer comes into any field.
    pub(super) async fn any_flag_changes(&self) {
        let bytes = 8 * self.config().fields as usize;
        let flags = move |memory: &Memory| memory.read(Addr(layout::FLAGS), bytes).map(<[u8]>::to_vec);
        let before = self.host().memory(|memory| flags(memory)).expect("the flags");
        let differs = move |memory: &Memory| memory.read(Addr(layout::FLAGS), bytes) != Some(&before[..]);
        self.host().watch("any receive flag", differs).await;
    }

    /// When so many transfers have come into a field, as nobody's processor sees it: without cost and bound.
    pub async fn flagged(&self, field: &Field, count: u32) -> Picos {
        let flag = layout::flag(field.index) + RFLAG_COUNT;
        let comes = move |memory: &Memory| word(memory, flag).wrapping_sub(count) < 1 << 31;
        self.host().watch("a receive flag", comes).await;
        self.now()
    }

    /// Spins until so many transfers have come into a field since it was made.
    ///
    /// # Errors
    /// They did not within the bound; hardware shut the field.
    pub async fn wait(&self, field: &Field, count: u32, bound: Picos) -> Result<Arrived, RdmaError> {
        let flag = layout::flag(field.index) + RFLAG_COUNT;
        let has_come = move |had: u32| had.wrapping_sub(count) < 1 << 31;
        let comes = self
            .host()
            .watch("a receive flag", move |memory| has_come(word(memory, flag)));
        let first = race(comes, self.host().delay(bound)).await;
        let arrived = self.arrived(field);
        self.check_open(field)?;
        match first {
            First::Left(()) => {
                self.compute(self.config().receive_poll).await;
                Ok(arrived)
            }
            First::Right(()) => Err(RdmaError::Timeout {
                node: self.id(),
                name: field.name.clone(),
                number: field.number,
                had: arrived.count,
                count,
            }),
        }
    }

    /// Spins until one of these fields has more transfers than that.
    ///
    /// # Errors
    /// As of [`wait`](Node::wait).
    pub async fn wait_any(&self, fields: &[(&Field, u32)], bound: Picos) -> Result<(usize, Arrived), RdmaError> {
        let flags: Vec<(u32, u32)> = fields
            .iter()
            .map(|(field, had)| (layout::flag(field.index) + RFLAG_COUNT, *had))
            .collect();
        let comes = self.host().watch("one of some receive flags", move |memory| {
            flags.iter().any(|&(flag, had)| word(memory, flag) != had)
        });
        let first = race(comes, self.host().delay(bound)).await;
        for (at, (field, had)) in fields.iter().enumerate() {
            self.check_open(field)?;
            let arrived = self.arrived(field);
            if arrived.count != *had {
                self.compute(self.config().receive_poll).await;
                return Ok((at, arrived));
            }
        }
        assert!(matches!(first, First::Right(())), "a flag changed");
        let (field, had) = fields.first().expect("a field to wait for");
        let (node, name, number) = (self.id(), field.name.clone(), field.number);
        let (had, count) = (*had, had + 1);
        Err(RdmaError::Timeout {
            node,
            name,
            number,
            had,
            count,
        })
    }

    fn check_open(&self, field: &Field) -> Result<(), RdmaError> {
        let (node, name, number) = (self.id(), field.name.clone(), field.number);
        let is_open = !self.kernel.is_shut(field.index);
        is_open.then_some(()).ok_or(RdmaError::Shut { node, name, number })
    }

    /// The barrier of all nodes, in hardware. Who came and was not let go within the bound is still there: the next
    /// call waits on.
    ///
    /// # Errors
    /// It is not released within the bound.
    pub async fn barrier(&self, bound: Picos) -> Result<(), RdmaError> {
        let (end, at_barrier) = (self.now() + bound, &self.library.at_barrier);
        let releases = async || self.kernel.load(Level::User, BARRIER).await >> BARRIER_COUNT_SHIFT;
        let before = match at_barrier.get() {
            Some(before) => before,
            None => {
                let before = releases().await;
                self.kernel
                    .store(Level::User, BARRIER, BARRIER_MEMBER_MASK | BARRIER_ARRIVE_MASK)
                    .await;
                before
            }
        };
        at_barrier.set(Some(before));
        while releases().await == before {
            if self.now() >= end {
                return Err(RdmaError::Barrier { node: self.id() });
            }
            self.host().delay(BARRIER_POLL).await;
        }
        at_barrier.set(None);
        Ok(())
    }
}

/// A kernel asks another again for a field that is not there yet.
const ASK_AGAIN: Picos = Picos::from_ns(50_000);
/// Between two looks at the barrier.
const BARRIER_POLL: Picos = Picos::from_ns(1000);

/// A write by this right.
fn plain(right: &Right, how: How) -> Tcw {
    Tcw {
        valid: true,
        right: right.index,
        channel: how.channel as u32,
        notify: how.notify,
        ..Tcw::default()
    }
}

fn check_channel(bytes: u32, right: &Right, how: How) -> Result<(), RdmaError> {
    match how.channel {
        Channel::Ack if bytes > SIZE_ACK || right.is_broadcast => Err(RdmaError::TooLong { bytes }),
        Channel::Data if bytes > SIZE_TRANSFER => Err(RdmaError::TooLong { bytes }),
        _ => Ok(()),
    }
}

fn check_request(bytes: u32, most: u32, right: &Right) -> Result<(), RdmaError> {
    let is_sound = bytes <= most && !right.is_broadcast;
    is_sound.then_some(()).ok_or(RdmaError::TooLong { bytes })
}
