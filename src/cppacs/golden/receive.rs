//! Receiver of the data channel: a worm becomes writes into a field, and ends in one way.

use crate::cppacs::regs::*;
use crate::net::hyper::{Axis, Channel, Place};

use super::entry::Field;
use super::message::{Header, Kind, RecvReason, header_words, sum};
use super::runs::runs;

/// The kernel's ring in field 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ring {
    /// Messages that the kernel has taken.
    pub tail: u32,
    /// Logarithm of a slot's bytes; 0: there is no ring.
    pub slot_log: u32,
    /// Logarithm of the number of slots.
    pub slots_log: u32,
}

/// What a refusal says of a worm; zeros stand for what did not come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Named {
    pub src: Place,
    pub field: u32,
    /// Its code, whatever it is.
    pub kind: u32,
}

/// What becomes of a worm if memory reports no error and its field stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub named: Named,
    /// Runs of words, in order: physical address and content.
    pub writes: Vec<(u32, Vec<u32>)>,
    /// Why it is refused.
    pub refused: Option<RecvReason>,
    /// The header was accepted. Then a destroyed field makes it [`RecvReason::Gone`] instead.
    pub accepted: bool,
    /// The field is shut.
    pub shuts: bool,
    /// It ends a transfer: the field's count grows, then its flag is written.
    pub completes: bool,
    /// The kernel is interrupted.
    pub notifies: bool,
}

impl Named {
    /// What a worm's words say, however few.
    pub fn of(words: &[u32]) -> Named {
        let word = |index: usize| words.get(index).copied().unwrap_or(0);
        Named {
            src: Place::of(word(1)),
            field: (word(1) & MSG_F1_FIELD_MASK) >> MSG_F1_FIELD_SHIFT,
            kind: (word(0) & MSG_F0_KIND_MASK) >> MSG_F0_KIND_SHIFT,
        }
    }
}

impl Ring {
    /// Whether it takes the worms for this field.
    fn takes(&self, header: &Header) -> bool {
        header.field == 0 && self.slot_log != 0
    }

    fn is_full(&self, count: u32) -> bool {
        count.wrapping_sub(self.tail) == 1 << self.slots_log
    }

    /// Offset in the field of the next message.
    fn slot(&self, count: u32) -> u32 {
        (count % (1 << self.slots_log)) << self.slot_log
    }
}

impl Outcome {
    fn refused(words: &[u32], reason: RecvReason) -> Outcome {
        Outcome {
            named: Named::of(words),
            writes: Vec::new(),
            refused: Some(reason),
            accepted: false,
            shuts: false,
            completes: false,
            notifies: false,
        }
    }
}

/// Whether a worm to this destination may come to this node.
fn is_here(header: &Header, place: Place) -> bool {
    let is_axis = |axis: Axis| header.mask >> axis as u32 & 1 != 0 || header.to.along(axis) == place.along(axis);
    Axis::ALL.into_iter().all(is_axis)
}

/// The checks of a header against the entry of its field. The ring's bounds are the last.
fn check(words: &[u32], place: Place, field: &Field, count: u32, ring: Ring) -> Result<Header, RecvReason> {
    let first = words.first().copied().unwrap_or(0);
    let header = words
        .get(..header_words(first))
        .filter(|header| words.len() > header.len());
    let header = header.and_then(|header| Header::parse(header).ok());
    let header = header
        .filter(|header| header.channel == Channel::Data)
        .ok_or(RecvReason::Form)?;
    let in_ring = ring.takes(&header);
    let fails = |is_wrong: bool, reason: RecvReason| if is_wrong { Err(reason) } else { Ok(()) };
    fails(
        in_ring && (header.stride.is_some() || !header.last || header.worm != 0),
        RecvReason::Form,
    )?;
    fails(!is_here(&header, place), RecvReason::Elsewhere)?;
    fails(!field.enabled, RecvReason::Field)?;
    fails(field.key != header.key, RecvReason::Key)?;
    fails(header.kind == Kind::Write && !field.write, RecvReason::Rights)?;
    fails(in_ring && ring.is_full(count), RecvReason::Full)?;
    fails(in_ring && header.length > 1 << ring.slot_log, RecvReason::Bounds)?;
    Ok(header)
}

/// What becomes of a worm. `field` and `count` are the entry of the field that it names, `place` is this node's.
pub fn receive(words: &[u32], place: Place, field: &Field, count: u32, ring: Ring) -> Outcome {
    let header = match check(words, place, field, count, ring) {
        Ok(header) => header,
        Err(reason) => return Outcome::refused(words, reason),
    };
    let offset = if ring.takes(&header) {
        ring.slot(count)
    } else {
        header.offset
    };
    let head = header.words().len();
    let mut payload = &words[head..];
    let mut outcome = Outcome {
        accepted: true,
        ..Outcome::refused(words, RecvReason::Form)
    };
    for run in runs(offset, header.length, header.stride, field.size) {
        let Ok(run) = run else {
            outcome.refused = Some(RecvReason::Bounds);
            return outcome;
        };
        let (data, rest) = payload.split_at(payload.len().min(run.bytes as usize / 4));
        outcome
            .writes
            .push((field.base.wrapping_add(run.offset), data.to_vec()));
        payload = rest;
        if payload.is_empty() {
            outcome.shuts = true; // its last word was none of the sum
            return outcome;
        }
    }
    let all_but_sum = sum(&words[..words.len() - 1]);
    outcome.refused = match *payload {
        [last] if last == all_but_sum => None,
        [last] if last == !all_but_sum => Some(RecvReason::GivenUp),
        [_] => Some(RecvReason::Sum),
        _ => Some(RecvReason::Form),
    };
    outcome.shuts = matches!(outcome.refused, Some(RecvReason::Sum | RecvReason::Form));
    outcome.completes = outcome.refused.is_none() && header.last;
    outcome.notifies = outcome.completes && header.notify;
    outcome
}
