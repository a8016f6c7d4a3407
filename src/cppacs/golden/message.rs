//! Messages: a worm is a header, a payload and a sum.

use crate::cppacs::regs::*;
use crate::net::hyper::{Channel, Place, route};

use super::runs::Stride;

/// What a worm asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Write,
    Reply,
    Get,
    Swap,
    Cswap,
}

/// Why a message was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum RecvReason {
    Form = RECV_FORM,
    Elsewhere = RECV_ELSEWHERE,
    Field = RECV_FIELD,
    Key = RECV_KEY,
    Rights = RECV_RIGHTS,
    Bounds = RECV_BOUNDS,
    Sum = RECV_SUM,
    GivenUp = RECV_GIVEN_UP,
    Gone = RECV_GONE,
    Full = RECV_FULL,
    Memory = RECV_MEMORY,
}

/// A header that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form;

/// A worm's header, with F5 and F6 where it has a stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub to: Place,
    /// Broadcast along X (bit 0), Y, Z.
    pub mask: u32,
    pub channel: Channel,
    pub kind: Kind,
    /// Last worm of its transfer.
    pub last: bool,
    pub notify: bool,
    pub src: Place,
    pub field: u32,
    pub key: u32,
    pub offset: u32,
    /// Bytes of payload.
    pub length: u32,
    /// Number of the worm in its transfer.
    pub worm: u32,
    pub stride: Option<Stride>,
}

/// The payload of a GET, SWAP or CSWAP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub field: u32,
    pub key: u32,
    pub offset: u32,
    pub length: u32,
    pub operand: u64,
    pub compare: u64,
}

/// Words of a header without and with a stride.
pub const HEADER_WORDS: [usize; 2] = [5, 7];
/// Most words of a worm on the acknowledge channel.
pub const ACK_WORDS: usize = HEADER_WORDS[0] + SIZE_ACK as usize / 4 + 1;
/// F5 counts in units of so many bytes.
const UNIT: u32 = 8;

impl Kind {
    pub const ALL: [Kind; 5] = [Kind::Write, Kind::Reply, Kind::Get, Kind::Swap, Kind::Cswap];

    /// The kind of this code.
    pub fn of(code: u32) -> Option<Kind> {
        Kind::ALL.get(code as usize).copied()
    }

    /// It asks for an answer.
    pub fn is_request(self) -> bool {
        matches!(self, Kind::Get | Kind::Swap | Kind::Cswap)
    }

    /// Whether worms of this kind go on a channel.
    pub fn goes_on(self, channel: Channel) -> bool {
        match channel {
            Channel::Data => matches!(self, Kind::Write | Kind::Reply),
            Channel::Ack => self != Kind::Reply,
        }
    }
}

/// A field of a word.
pub(super) fn bits(word: u32, mask: u32, shift: u32) -> u32 {
    (word & mask) >> shift
}

/// Words of the header that begins with F0.
pub fn header_words(f0: u32) -> usize {
    HEADER_WORDS[usize::from(f0 & MSG_F0_STRIDED_MASK != 0)]
}

/// The sum of all words before a worm's last one. Its complement there says that the sender gave up.
pub fn sum(words: &[u32]) -> u32 {
    words.iter().fold(0, |sum, &word| sum.wrapping_add(word))
}

impl Header {
    /// What the words say: 5, or 7 with STRIDED. Bits that have no name are ignored.
    ///
    /// # Errors
    /// A header that cannot be, on the channel that F0 names: a number of words, a kind, a length, an offset or a
    /// stride. That the channel is the one it came by is the receiver's to check.
    pub fn parse(words: &[u32]) -> Result<Header, Form> {
        let (&f0, rest) = words.split_first().ok_or(Form)?;
        if words.len() != header_words(f0) {
            return Err(Form);
        }
        let [f1, key, offset, f4] = [rest[0], rest[1], rest[2], rest[3]];
        let (channel, length) = (Channel::of(f0), f4 & MSG_F4_LENGTH_MASK);
        let kind = Kind::of(bits(f0, MSG_F0_KIND_MASK, MSG_F0_KIND_SHIFT)).ok_or(Form)?;
        let stride = (words.len() == HEADER_WORDS[1]).then(|| Stride {
            element: UNIT * bits(rest[4], MSG_F5_ELEMENT_MASK, MSG_F5_ELEMENT_SHIFT),
            left: UNIT * bits(rest[4], MSG_F5_LEFT_MASK, MSG_F5_LEFT_SHIFT),
            step: rest[5],
        });
        let is_length = match (channel, kind.is_request()) {
            (Channel::Data, _) => (1..=SIZE_WORM).contains(&length),
            (Channel::Ack, false) => (1..=SIZE_ACK).contains(&length),
            (Channel::Ack, true) => length == SIZE_ACK,
        };
        let is_stride =
            |s: Stride| channel == Channel::Data && (1..=s.element).contains(&s.left) && s.step.is_multiple_of(UNIT);
        let is_sound = kind.goes_on(channel)
            && is_length
            && length.is_multiple_of(UNIT)
            && offset.is_multiple_of(UNIT)
            && stride.is_none_or(is_stride);
        is_sound.then_some(()).ok_or(Form)?;
        Ok(Header {
            to: Place::of(f0),
            mask: bits(f0, MSG_F0_MASK_MASK, MSG_F0_MASK_SHIFT),
            channel,
            kind,
            last: f0 & MSG_F0_LAST_MASK != 0,
            notify: f0 & MSG_F0_NOTIFY_MASK != 0,
            src: Place::of(f1),
            field: bits(f1, MSG_F1_FIELD_MASK, MSG_F1_FIELD_SHIFT),
            key,
            offset,
            length,
            worm: bits(f4, MSG_F4_WORM_MASK, MSG_F4_WORM_SHIFT),
            stride,
        })
    }

    /// All that exchangers and crossbars look at.
    pub fn route(&self) -> u32 {
        self.to.word() | self.mask << route::MASK | (self.channel as u32) << route::CHANNEL
    }

    /// The header's words.
    pub fn words(&self) -> Vec<u32> {
        let f0 = self.route()
            | (self.kind as u32) << MSG_F0_KIND_SHIFT
            | u32::from(self.last) << MSG_F0_LAST_SHIFT
            | u32::from(self.stride.is_some()) << MSG_F0_STRIDED_SHIFT
            | u32::from(self.notify) << MSG_F0_NOTIFY_SHIFT;
        let f1 = self.src.word() | self.field << MSG_F1_FIELD_SHIFT;
        let f4 = self.length | self.worm << MSG_F4_WORM_SHIFT;
        let mut words = vec![f0, f1, self.key, self.offset, f4];
        if let Some(Stride { element, left, step }) = self.stride {
            let f5 = (element / UNIT) << MSG_F5_ELEMENT_SHIFT | (left / UNIT) << MSG_F5_LEFT_SHIFT;
            words.extend([f5, step]);
        }
        words
    }

    /// Words of the whole worm.
    pub fn worm_words(&self) -> u32 {
        HEADER_WORDS[usize::from(self.stride.is_some())] as u32 + self.length / 4 + 1
    }

    /// The worm with this payload, which is as long as the header says.
    pub fn worm(&self, payload: &[u32]) -> Vec<u32> {
        assert_eq!(payload.len() as u32 * 4, self.length, "payload of a worm");
        let mut words = self.words();
        words.extend(payload);
        words.push(sum(&words));
        words
    }
}

/// Two words as one number, the lower one first.
pub(super) fn wide(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

impl Request {
    pub fn of(words: &[u32; 8]) -> Request {
        let [field, key, offset, length, o0, o1, c0, c1] = *words;
        Request {
            field,
            key,
            offset,
            length,
            operand: wide(o0, o1),
            compare: wide(c0, c1),
        }
    }

    pub fn words(&self) -> [u32; 8] {
        let ([o0, o1], [c0, c1]) = (
            [0, 32].map(|s| (self.operand >> s) as u32),
            [0, 32].map(|s| (self.compare >> s) as u32),
        );
        [self.field, self.key, self.offset, self.length, o0, o1, c0, c1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::hyper::Axis;

    fn header() -> Header {
        Header {
            to: Place { x: 3, y: 16, z: 7 },
            mask: 0,
            channel: Channel::Data,
            kind: Kind::Write,
            last: true,
            notify: false,
            src: Place { x: 7, y: 1, z: 2 },
            field: 1023,
            key: 0xfeed_beef,
            offset: 0x1_0008,
            length: 65_536,
            worm: 4095,
            stride: None,
        }
    }

    #[test]
    fn the_layout_is_the_networks() {
        let fields = [
            (MSG_F0_X_MASK, MSG_F0_X_SHIFT),
            (MSG_F0_Y_MASK, MSG_F0_Y_SHIFT),
            (MSG_F0_Z_MASK, MSG_F0_Z_SHIFT),
        ];
        for (axis, (mask, shift)) in Axis::ALL.into_iter().zip(fields) {
            let (low, bits) = route::COORDINATES[axis as usize];
            assert_eq!((shift, mask), (low, ((1 << bits) - 1) << low));
            assert!(axis.is_masked(1 << (MSG_F0_MASK_SHIFT + axis as u32)));
        }
        assert_eq!((MSG_F0_MASK_SHIFT, MSG_F0_CHANNEL_SHIFT), (route::MASK, route::CHANNEL));
        assert_eq!(
            Kind::ALL.map(|kind| kind as u32),
            [KIND_WRITE, KIND_REPLY, KIND_GET, KIND_SWAP, KIND_CSWAP]
        );
        assert_eq!(ACK_WORDS, 14);
    }

    #[test]
    fn a_header_is_what_its_words_say() {
        let strided = Some(Stride {
            element: 524_280,
            left: 8,
            step: 0xffff_fff8,
        });
        let headers = [
            header(),
            Header {
                stride: strided,
                mask: 5,
                last: false,
                ..header()
            },
            Header {
                channel: Channel::Ack,
                length: 8,
                notify: true,
                ..header()
            },
            Header {
                channel: Channel::Ack,
                kind: Kind::Cswap,
                length: 32,
                ..header()
            },
        ];
        for header in headers {
            let words = header.words();
            assert_eq!(
                (words.len(), Header::parse(&words)),
                (header_words(words[0]), Ok(header))
            );
            assert_eq!(Header::parse(&words[1..]), Err(Form));
        }
    }

    #[test]
    fn headers_that_cannot_be() {
        let stride = |element, left, step| Some(Stride { element, left, step });
        let ack = Header {
            channel: Channel::Ack,
            length: 32,
            ..header()
        };
        let wrong = [
            Header { length: 0, ..header() },
            Header { length: 12, ..header() },
            Header {
                length: 65_544,
                ..header()
            },
            Header { offset: 4, ..header() },
            Header {
                kind: Kind::Get,
                ..header()
            },
            Header {
                stride: stride(16, 24, 8),
                ..header()
            },
            Header {
                stride: stride(16, 0, 8),
                ..header()
            },
            Header {
                stride: stride(16, 16, 4),
                ..header()
            },
            Header {
                kind: Kind::Reply,
                ..ack
            },
            Header { length: 40, ..ack },
            Header {
                kind: Kind::Swap,
                length: 8,
                ..ack
            },
            Header {
                stride: stride(16, 16, 16),
                ..ack
            },
        ];
        for header in wrong {
            assert_eq!(Header::parse(&header.words()), Err(Form), "{header:?}");
        }
        let no_kind = header().words()[0] | 7 << MSG_F0_KIND_SHIFT;
        assert_eq!(Header::parse(&[no_kind, 0, 0, 0, 8]), Err(Form));
        assert_eq!(Header::parse(&[]), Err(Form));
    }

    #[test]
    fn a_worm_ends_with_its_sum() {
        let header = Header { length: 16, ..header() };
        let worm = header.worm(&[1, 2, u32::MAX, 4]);
        assert_eq!(worm.len() as u32, header.worm_words());
        assert_eq!(worm[9], sum(&worm[..9]));
        let request = Request {
            field: 1,
            key: 2,
            offset: 3,
            length: 4,
            operand: 5 << 32 | 6,
            compare: 7 << 32 | 8,
        };
        assert_eq!(request.words(), [1, 2, 3, 4, 6, 5, 8, 7]);
        assert_eq!(Request::of(&request.words()), request);
    }
}
