//! TCWs, and the check that makes a descriptor of one.

use crate::cppacs::regs::*;
use crate::net::hyper::{Axis, Channel, Grid, Place};

use super::entry::{Field, Process, Right, is_within};
use super::message::{Kind, Request, bits, wide};
use super::runs::Stride;

/// What a process asks for: the transmission control word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcw {
    pub valid: bool,
    pub right: u32,
    /// A code of Kinds; others are refused.
    pub kind: u32,
    /// 0 data, 1 acknowledge.
    pub channel: u32,
    pub notify: bool,
    pub flagged: bool,
    pub strided: bool,
    pub source: u32,
    pub length: u32,
    pub offset: u32,
    pub send_flag: u32,
    pub element: u32,
    pub source_step: u32,
    pub step: u32,
    pub reply_field: u32,
    pub reply_offset: u32,
    pub operand: u64,
    pub compare: u64,
}

/// Who asks for which TCW on which channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kick {
    pub process: u32,
    pub channel: Channel,
    pub tcw: u32,
}

/// Why a TCW was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum SendReason {
    Queue = SEND_QUEUE,
    Tcw = SEND_TCW,
    Kind = SEND_KIND,
    Length = SEND_LENGTH,
    Shape = SEND_SHAPE,
    Area = SEND_AREA,
    Right = SEND_RIGHT,
    Owner = SEND_OWNER,
    Limit = SEND_LIMIT,
    Nowhere = SEND_NOWHERE,
    Reply = SEND_REPLY,
    Memory = SEND_MEMORY,
}

/// A transfer that may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    pub process: u32,
    pub tcw: u32,
    pub place: Place,
    /// Broadcast along X (bit 0), Y, Z.
    pub mask: u32,
    pub channel: Channel,
    pub kind: Kind,
    pub notify: bool,
    pub field: u32,
    pub key: u32,
    pub offset: u32,
    /// Physical address of the area, and its bytes.
    pub base: u32,
    pub size: u32,
    /// Offset in the area.
    pub source: u32,
    pub length: u32,
    pub strides: Option<Strides>,
    /// Physical address of the send flag.
    pub flag: Option<u32>,
    /// What is sent in place of memory: an atomic's answer.
    pub value: Option<u64>,
    /// The payload of a GET, SWAP or CSWAP.
    pub request: Option<Request>,
}

/// Elements and their distances in the area and in the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    pub element: u32,
    pub source_step: u32,
    pub step: u32,
}

/// A TCW that was refused, and the address of the flag that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub process: u32,
    pub tcw: u32,
    pub reason: SendReason,
    pub flag: Option<u32>,
}

/// Most bytes of an element: F5 has 16 bits for units of 8 bytes.
pub const MOST_ELEMENT: u32 = 8 * 0xffff;

impl Strides {
    /// In the sender's area, from the first byte on.
    pub fn of_source(self) -> Stride {
        let Strides {
            element,
            source_step: step,
            ..
        } = self;
        Stride {
            element,
            left: element,
            step,
        }
    }
}

impl Tcw {
    pub fn parse(words: &[u32; 16]) -> Tcw {
        let word = |offset: u32| words[offset as usize / 4];
        let control = word(TCW_CONTROL);
        Tcw {
            valid: control & TCW_CONTROL_VALID_MASK != 0,
            right: bits(control, TCW_CONTROL_RIGHT_MASK, TCW_CONTROL_RIGHT_SHIFT),
            kind: bits(control, TCW_CONTROL_KIND_MASK, TCW_CONTROL_KIND_SHIFT),
            channel: bits(control, TCW_CONTROL_CHANNEL_MASK, TCW_CONTROL_CHANNEL_SHIFT),
            notify: control & TCW_CONTROL_NOTIFY_MASK != 0,
            flagged: control & TCW_CONTROL_FLAGGED_MASK != 0,
            strided: control & TCW_CONTROL_STRIDED_MASK != 0,
            source: word(TCW_SOURCE),
            length: word(TCW_LENGTH),
            offset: word(TCW_OFFSET),
            send_flag: word(TCW_SEND_FLAG),
            element: word(TCW_ELEMENT),
            source_step: word(TCW_SOURCE_STEP),
            step: word(TCW_STEP),
            reply_field: word(TCW_REPLY_FIELD),
            reply_offset: word(TCW_REPLY_OFFSET),
            operand: wide(word(TCW_OPERAND_LOW), word(TCW_OPERAND_HIGH)),
            compare: wide(word(TCW_COMPARE_LOW), word(TCW_COMPARE_HIGH)),
        }
    }

    pub fn words(&self) -> [u32; 16] {
        let control = self.right << TCW_CONTROL_RIGHT_SHIFT
            | self.kind << TCW_CONTROL_KIND_SHIFT
            | self.channel << TCW_CONTROL_CHANNEL_SHIFT
            | u32::from(self.notify) << TCW_CONTROL_NOTIFY_SHIFT
            | u32::from(self.flagged) << TCW_CONTROL_FLAGGED_SHIFT
            | u32::from(self.strided) << TCW_CONTROL_STRIDED_SHIFT
            | u32::from(self.valid) << TCW_CONTROL_VALID_SHIFT;
        let mut words = [0; 16];
        for (offset, value) in [
            (TCW_CONTROL, control),
            (TCW_SOURCE, self.source),
            (TCW_LENGTH, self.length),
            (TCW_OFFSET, self.offset),
            (TCW_SEND_FLAG, self.send_flag),
            (TCW_ELEMENT, self.element),
            (TCW_SOURCE_STEP, self.source_step),
            (TCW_STEP, self.step),
            (TCW_REPLY_FIELD, self.reply_field),
            (TCW_REPLY_OFFSET, self.reply_offset),
            (TCW_OPERAND_LOW, self.operand as u32),
            (TCW_OPERAND_HIGH, (self.operand >> 32) as u32),
            (TCW_COMPARE_LOW, self.compare as u32),
            (TCW_COMPARE_HIGH, (self.compare >> 32) as u32),
        ] {
            words[offset as usize / 4] = value;
        }
        words
    }

    /// Physical address of the send flag, if one is asked for and it is in the area. A refusal is written there, too.
    pub fn flag(&self, process: &Process) -> Option<u32> {
        let is_there = self.valid
            && self.flagged
            && is_multiple(self.send_flag)
            && is_within(self.send_flag, 8, process.area_bytes);
        is_there.then(|| process.area.wrapping_add(self.send_flag))
    }
}

fn is_multiple(offset: u32) -> bool {
    offset.is_multiple_of(8)
}

/// Makes a descriptor of a TCW. `right` and `reply` are the entries that it names, `None` beyond their tables. What a
/// kind does not use is not looked at: SOURCE of requests, the REPLY words of others, steps without STRIDED.
///
/// # Errors
/// The first reason in the contract's order. QUEUE and MEMORY are others' to find.
pub fn check(
    tcw: &Tcw,
    kick: Kick,
    process: &Process,
    right: Option<&Right>,
    reply: Option<&Field>,
    grid: Grid,
) -> Result<Descriptor, SendReason> {
    let ensure = |holds: bool, reason| if holds { Ok(()) } else { Err(reason) };
    ensure(tcw.valid && kick.tcw < process.tcw_count, SendReason::Tcw)?;
    let kind = Kind::of(tcw.kind).ok_or(SendReason::Kind)?;
    let is_kind = kick.channel as u32 == tcw.channel && kind != Kind::Reply && kind.goes_on(kick.channel);
    ensure(is_kind, SendReason::Kind)?;
    ensure(has_shape(tcw, kind, kick.channel), SendReason::Shape)?;
    let lengths = match (kind, kick.channel) {
        (Kind::Write, Channel::Data) => 8..=SIZE_TRANSFER,
        (Kind::Write, Channel::Ack) => 8..=SIZE_ACK,
        (Kind::Get, _) => 8..=SIZE_WORM,
        _ => 8..=8,
    };
    ensure(
        lengths.contains(&tcw.length) && is_multiple(tcw.length),
        SendReason::Length,
    )?;
    let first = if tcw.strided { tcw.element } else { tcw.length };
    let is_source = kind.is_request() || is_within(tcw.source, first, process.area_bytes);
    let flag = tcw.flag(process);
    ensure(is_source && tcw.flagged == flag.is_some(), SendReason::Area)?;
    let right = right.filter(|right| right.valid).ok_or(SendReason::Right)?;
    ensure(right.owner == kick.process, SendReason::Owner)?;
    ensure(right.mask == 0 || kick.channel == Channel::Data, SendReason::Kind)?;
    ensure(is_somewhere(right, grid), SendReason::Nowhere)?;
    let is_inside = match tcw.strided {
        true => tcw.offset < right.size,
        false => is_within(tcw.offset, tcw.length, right.size),
    };
    ensure(is_inside, SendReason::Limit)?;
    let request = kind.is_request().then(|| request(tcw, kick, reply)).transpose()?;
    let Tcw {
        element,
        source_step,
        step,
        ..
    } = *tcw;
    Ok(Descriptor {
        process: kick.process,
        tcw: kick.tcw,
        place: right.place,
        mask: right.mask,
        channel: kick.channel,
        kind,
        notify: tcw.notify,
        field: right.field,
        key: right.key,
        offset: tcw.offset,
        base: process.area,
        size: process.area_bytes,
        source: tcw.source,
        length: tcw.length,
        strides: tcw.strided.then_some(Strides {
            element,
            source_step,
            step,
        }),
        flag,
        value: None,
        request,
    })
}

fn has_shape(tcw: &Tcw, kind: Kind, channel: Channel) -> bool {
    let is_stride = channel == Channel::Data
        && (8..=MOST_ELEMENT).contains(&tcw.element)
        && [tcw.element, tcw.source_step, tcw.step].into_iter().all(is_multiple);
    is_multiple(tcw.offset)
        && (kind.is_request() || is_multiple(tcw.source))
        && (!kind.is_request() || is_multiple(tcw.reply_offset))
        && (!tcw.flagged || is_multiple(tcw.send_flag))
        && (!tcw.strided || is_stride)
}

/// Each coordinate that counts is one of the grid's.
fn is_somewhere(right: &Right, grid: Grid) -> bool {
    let is_there = |axis: &Axis| right.mask >> *axis as u32 & 1 != 0 || right.place.along(*axis) < grid.along(*axis);
    Axis::ALL.iter().all(is_there)
}

/// The payload of a request, with the key of the field that takes the answer.
fn request(tcw: &Tcw, kick: Kick, reply: Option<&Field>) -> Result<Request, SendReason> {
    let is_own = |field: &&Field| field.enabled && field.owner == kick.process;
    let field = reply.filter(is_own).ok_or(SendReason::Reply)?;
    let has_room = field.has(tcw.reply_offset, tcw.length);
    has_room.then_some(()).ok_or(SendReason::Reply)?;
    Ok(Request {
        field: tcw.reply_field,
        key: field.key,
        offset: tcw.reply_offset,
        length: tcw.length,
        operand: tcw.operand,
        compare: tcw.compare,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: Grid = Grid { x: 2, y: 2, z: 2 };
    const KICK: Kick = Kick {
        process: 3,
        channel: Channel::Data,
        tcw: 5,
    };
    const PROCESS: Process = Process {
        area: 0x1000,
        area_bytes: 0x800,
        tcws: 0,
        tcw_count: 6,
    };

    fn write() -> Tcw {
        Tcw {
            valid: true,
            right: 1,
            length: 64,
            source: 8,
            offset: 16,
            ..Tcw::default()
        }
    }

    fn get() -> Tcw {
        Tcw {
            kind: KIND_GET,
            channel: 1,
            reply_field: 4,
            reply_offset: 8,
            ..write()
        }
    }

    fn right() -> Right {
        Right {
            owner: 3,
            valid: true,
            size: 0x100,
            key: 77,
            field: 9,
            ..Right::default()
        }
    }

    fn reply() -> Field {
        Field {
            enabled: true,
            owner: 3,
            key: 99,
            size: 72,
            ..Field::default()
        }
    }

    fn checked(tcw: Tcw) -> Result<Descriptor, SendReason> {
        let channel = Channel::ALL[tcw.channel as usize];
        check(
            &tcw,
            Kick { channel, ..KICK },
            &PROCESS,
            Some(&right()),
            Some(&reply()),
            GRID,
        )
    }

    #[test]
    fn a_tcw_is_what_its_words_say() {
        let tcw = Tcw {
            valid: true,
            right: 1023,
            kind: 7,
            channel: 1,
            notify: true,
            flagged: true,
            strided: true,
            source: 1,
            length: 2,
            offset: 3,
            send_flag: 4,
            element: 5,
            source_step: 6,
            step: 7,
            reply_field: 8,
            reply_offset: 9,
            operand: 10 << 32 | 11,
            compare: 12 << 32 | 13,
        };
        assert_eq!(
            tcw.words(),
            [0x8007_f3ff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 10, 13, 12, 0, 0]
        );
        assert_eq!(Tcw::parse(&tcw.words()), tcw);
    }

    #[test]
    fn a_sound_tcw_becomes_a_descriptor() {
        let sound = checked(Tcw {
            flagged: true,
            send_flag: 0x7f8,
            ..write()
        })
        .expect("a sound TCW");
        assert_eq!(
            (sound.key, sound.field, sound.base, sound.flag),
            (77, 9, 0x1000, Some(0x17f8))
        );
        let request = checked(get()).expect("a sound TCW").request.expect("a request");
        assert_eq!(
            (request.key, request.field, request.offset, request.length),
            (99, 4, 8, 64)
        );
        // What a kind does not use is not looked at.
        assert!(checked(Tcw { source: 1, ..get() }).is_ok());
        assert!(
            checked(Tcw {
                reply_offset: 1,
                element: 3,
                step: 1,
                ..write()
            })
            .is_ok()
        );
    }

    #[test]
    fn each_reason_has_its_tcw() {
        let strided = Tcw {
            strided: true,
            element: 16,
            ..write()
        };
        let wrong: [(Tcw, fn(&mut Tcw), SendReason); 25] = [
            (write(), |t| t.valid = false, SendReason::Tcw),
            (write(), |t| t.kind = KIND_REPLY, SendReason::Kind),
            (write(), |t| t.kind = 5, SendReason::Kind),
            (get(), |t| t.channel = 0, SendReason::Kind),
            (write(), |t| t.offset = 4, SendReason::Shape),
            (write(), |t| t.source = 4, SendReason::Shape),
            (get(), |t| t.reply_offset = 4, SendReason::Shape),
            (write(), |t| (t.flagged, t.send_flag) = (true, 4), SendReason::Shape),
            (strided, |t| t.element = 0, SendReason::Shape),
            (strided, |t| t.element = MOST_ELEMENT + 8, SendReason::Shape),
            (strided, |t| t.step = 4, SendReason::Shape),
            (strided, |t| (t.channel, t.length) = (1, 16), SendReason::Shape),
            (write(), |t| t.length = 0, SendReason::Length),
            (write(), |t| t.length = 12, SendReason::Length),
            (write(), |t| t.length = SIZE_TRANSFER + 8, SendReason::Length),
            (write(), |t| (t.channel, t.length) = (1, 40), SendReason::Length),
            (get(), |t| (t.kind, t.length) = (KIND_SWAP, 16), SendReason::Length),
            (write(), |t| t.source = 0x7c8, SendReason::Area),
            (write(), |t| t.source = u32::MAX - 7, SendReason::Area),
            (write(), |t| (t.flagged, t.send_flag) = (true, 0x800), SendReason::Area),
            (strided, |t| t.source = 0x7f8, SendReason::Area),
            (write(), |t| t.offset = 0xc8, SendReason::Limit),
            (write(), |t| t.offset = u32::MAX - 7, SendReason::Limit),
            (strided, |t| t.offset = 0x100, SendReason::Limit),
            (get(), |t| t.reply_offset = 16, SendReason::Reply),
        ];
        for (mut tcw, change, reason) in wrong {
            change(&mut tcw);
            assert_eq!(checked(tcw), Err(reason), "{tcw:?}");
        }
    }

    #[test]
    fn entries_that_do_not_allow_it() {
        let with = |tcw: &Tcw, right: Option<Right>, reply: Option<Field>| {
            let channel = Channel::ALL[tcw.channel as usize];
            check(
                tcw,
                Kick { channel, ..KICK },
                &PROCESS,
                right.as_ref(),
                reply.as_ref(),
                GRID,
            )
            .err()
        };
        let place = |x, y| Place { x, y, z: 0 };
        let rights = [
            (None, SendReason::Right),
            (
                Some(Right {
                    valid: false,
                    ..right()
                }),
                SendReason::Right,
            ),
            (Some(Right { owner: 2, ..right() }), SendReason::Owner),
            (
                Some(Right {
                    place: place(2, 0),
                    ..right()
                }),
                SendReason::Nowhere,
            ),
            (
                Some(Right {
                    place: place(2, 2),
                    mask: 1,
                    ..right()
                }),
                SendReason::Nowhere,
            ),
            (Some(Right { size: 0x48, ..right() }), SendReason::Limit),
        ];
        for (right, reason) in rights {
            assert_eq!(with(&write(), right, None), Some(reason), "{right:?}");
        }
        assert_eq!(
            with(
                &write(),
                Some(Right {
                    place: place(2, 1),
                    mask: 1,
                    ..right()
                }),
                None
            ),
            None
        );
        assert_eq!(
            with(&get(), Some(Right { mask: 1, ..right() }), Some(reply())),
            Some(SendReason::Kind)
        );
        for reply in [
            None,
            Some(Field { owner: 2, ..reply() }),
            Some(Field {
                enabled: false,
                ..reply()
            }),
        ] {
            assert_eq!(with(&get(), Some(right()), reply), Some(SendReason::Reply));
        }
    }

    #[test]
    fn a_kick_names_its_tcws_channel_and_number() {
        let kicked = |kick| check(&write(), kick, &PROCESS, Some(&right()), None, GRID).err();
        assert_eq!(kicked(Kick { tcw: 6, ..KICK }), Some(SendReason::Tcw));
        assert_eq!(
            kicked(Kick {
                channel: Channel::Ack,
                ..KICK
            }),
            Some(SendReason::Kind)
        );
    }
}
