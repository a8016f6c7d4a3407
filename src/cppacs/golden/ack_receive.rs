//! Receiver of the acknowledge channel: short messages are written, requests are answered.

use crate::cppacs::regs::*;
use crate::net::hyper::{Channel, Place};

use super::entry::Field;
use super::message::{ACK_WORDS, Header, Kind, RecvReason, Request, header_words, sum};
use super::receive::Named;

/// What a sound worm asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// These words are written. With `completes` the field's count grows, then its flag is written.
    Write {
        address: u32,
        words: Vec<u32>,
        completes: bool,
    },
    Answer(Ask),
}

/// The memory that an answer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// As it is when the answer is sent.
    Bytes { address: u32, bytes: u32 },
    /// The old value of 8 bytes, which become `new` if they are `compare`.
    Old {
        address: u32,
        new: u64,
        compare: Option<u64>,
    },
}

/// An answer: it goes to `to` as REPLY, with what the request brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    pub to: Place,
    pub field: u32,
    pub key: u32,
    pub offset: u32,
    pub source: Source,
}

/// How a worm is taken; GONE and MEMORY may still come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckStep {
    pub named: Named,
    pub act: Result<Act, RecvReason>,
    /// The kernel is interrupted when it is done.
    pub notifies: bool,
}

/// LENGTH of a request: 8 to 65,536 bytes of GET, 8 of the others.
fn is_asked(kind: Kind, request: &Request) -> bool {
    match kind {
        Kind::Get => (8..=SIZE_WORM).contains(&request.length) && request.length.is_multiple_of(8),
        _ => request.length == 8,
    }
}

/// The worm's header, if its words can be, and its payload.
fn parse(words: &[u32]) -> Result<(Header, Vec<u32>), RecvReason> {
    let (&last, before) = words.split_last().ok_or(RecvReason::Form)?;
    let fails = |is_wrong: bool, reason: RecvReason| if is_wrong { Err(reason) } else { Ok(()) };
    fails(words.len() > ACK_WORDS, RecvReason::Form)?;
    fails(last == !sum(before), RecvReason::GivenUp)?;
    fails(last != sum(before), RecvReason::Sum)?;
    let head = before.get(..header_words(words[0])).ok_or(RecvReason::Form)?;
    let header = Header::parse(head).map_err(|_| RecvReason::Form)?;
    let is_whole = header.channel == Channel::Ack && words.len() == header.worm_words() as usize;
    fails(!is_whole, RecvReason::Form)?;
    Ok((header, before[head.len()..].to_vec()))
}

/// What a worm asks for. `field` gives the entry of a field; `place` is this node's; `room`: an answer finds place.
pub fn ack_receive(words: &[u32], place: Place, field: impl Fn(u32) -> Field, room: bool) -> AckStep {
    let mut step = AckStep {
        named: Named::of(words),
        act: Err(RecvReason::Form),
        notifies: false,
    };
    step.act = parse(words).and_then(|(header, payload)| {
        step.notifies = header.notify && header.last;
        act(&header, &payload, place, &field(header.field), room)
    });
    step.notifies &= step.act.is_ok();
    step
}

fn act(header: &Header, payload: &[u32], place: Place, field: &Field, room: bool) -> Result<Act, RecvReason> {
    let fails = |is_wrong: bool, reason: RecvReason| if is_wrong { Err(reason) } else { Ok(()) };
    let request = payload
        .try_into()
        .map(|words: &[u32; 8]| Request::of(words))
        .unwrap_or_default();
    let asks = header.kind.is_request();
    fails(asks && !is_asked(header.kind, &request), RecvReason::Form)?;
    fails(header.to != place, RecvReason::Elsewhere)?;
    fails(!field.enabled, RecvReason::Field)?;
    fails(field.key != header.key, RecvReason::Key)?;
    let is_allowed = match header.kind {
        Kind::Write => field.write,
        Kind::Get => field.read,
        _ => field.atomic,
    };
    fails(!is_allowed, RecvReason::Rights)?;
    fails(asks && !room, RecvReason::Full)?;
    let bytes = if asks { request.length } else { header.length };
    fails(!field.has(header.offset, bytes), RecvReason::Bounds)?;
    let address = field.base.wrapping_add(header.offset);
    let source = match header.kind {
        Kind::Get => Source::Bytes { address, bytes },
        Kind::Swap | Kind::Cswap => Source::Old {
            address,
            new: request.operand,
            compare: (header.kind == Kind::Cswap).then_some(request.compare),
        },
        _ => {
            return Ok(Act::Write {
                address,
                words: payload.to_vec(),
                completes: header.last,
            });
        }
    };
    Ok(Act::Answer(Ask {
        to: header.src,
        field: request.field & MSG_F1_FIELD_MASK >> MSG_F1_FIELD_SHIFT,
        key: request.key,
        offset: request.offset,
        source,
    }))
}
