//! Packets of DIMMnet-1: header words, the cutting of transfers, and the entries of the card's tables.
//!
//! Pure functions of `regs.toml` and of the contract in `docs/machines/dimmnet1.md`, for the host library, the timed
//! model and tests.

use std::fmt;

use crate::dimmnet1::regs::*;

/// Words of a long header, and of a short one.
pub const HEADER_WORDS: usize = 6;
pub const SHORT_WORDS: usize = 3;

/// Bytes of a word.
pub const WORD: u32 = 8;

/// A field of a word, by its mask in place.
pub fn get(mask: u64, word: u64) -> u64 {
    (word & mask) >> mask.trailing_zeros()
}

/// A value in the place of a field; bits that do not fit are cut.
pub fn put(mask: u64, value: u64) -> u64 {
    value << mask.trailing_zeros() & mask
}

/// Why a receiver, an engine or the firmware refused something: a code of Reasons, without NONE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    Sequence,
    Rights,
    Range,
    Length,
    Bus,
    Overflow,
    Unserved,
    Timeout,
    Firmware,
    Type,
    Credit,
    /// A code that has no name.
    Other(u8),
}

impl Reason {
    /// Of a code; `None`: all is well.
    pub fn of(code: u32) -> Option<Reason> {
        Some(match code {
            REASON_NONE => return None,
            REASON_SEQUENCE => Reason::Sequence,
            REASON_RIGHTS => Reason::Rights,
            REASON_RANGE => Reason::Range,
            REASON_LENGTH => Reason::Length,
            REASON_BUS => Reason::Bus,
            REASON_OVERFLOW => Reason::Overflow,
            REASON_UNSERVED => Reason::Unserved,
            REASON_TIMEOUT => Reason::Timeout,
            REASON_FIRMWARE => Reason::Firmware,
            REASON_TYPE => Reason::Type,
            REASON_CREDIT => Reason::Credit,
            other => Reason::Other(other as u8),
        })
    }

    pub fn code(self) -> u32 {
        match self {
            Reason::Sequence => REASON_SEQUENCE,
            Reason::Rights => REASON_RIGHTS,
            Reason::Range => REASON_RANGE,
            Reason::Length => REASON_LENGTH,
            Reason::Bus => REASON_BUS,
            Reason::Overflow => REASON_OVERFLOW,
            Reason::Unserved => REASON_UNSERVED,
            Reason::Timeout => REASON_TIMEOUT,
            Reason::Firmware => REASON_FIRMWARE,
            Reason::Type => REASON_TYPE,
            Reason::Credit => REASON_CREDIT,
            Reason::Other(code) => code.into(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Sequence => "its number is not the one expected",
            Reason::Rights => "no such region, or its rights do not allow it",
            Reason::Range => "beyond the region, or across a page",
            Reason::Length => "malformed: a length or alignment that its type cannot have",
            Reason::Bus => "memory refused",
            Reason::Overflow => "no room in the receive buffer",
            Reason::Unserved => "the processor that would serve it does not run",
            Reason::Timeout => "the watchdog ended it",
            Reason::Firmware => "the firmware refused it",
            Reason::Type => "a type that must not come this way",
            Reason::Credit => "the answer queue had no room",
            Reason::Other(code) => return write!(f, "reason {code}"),
        })
    }
}

/// An address in the space of a group of processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub region: u16,
    /// 48 bits.
    pub offset: u64,
}

impl Place {
    pub fn new(region: u16, offset: u64) -> Place {
        Place { region, offset }
    }

    pub fn of(word: u64) -> Place {
        Place {
            region: get(HDR_W2_REGION_MASK, word) as u16,
            offset: get(HDR_W2_OFFSET_MASK, word),
        }
    }

    pub fn word(self) -> u64 {
        put(HDR_W2_REGION_MASK, self.region.into()) | put(HDR_W2_OFFSET_MASK, self.offset)
    }

    /// The place so many bytes on, modulo 2^48.
    pub fn plus(self, bytes: u64) -> Place {
        Place {
            offset: self.offset.wrapping_add(bytes) & HDR_W2_OFFSET_MASK,
            ..self
        }
    }
}

/// A header, field by field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// A code of Types.
    pub kind: u32,
    /// Flags, as bits of word 0.
    pub flags: u64,
    pub src: u16,
    pub dst: u16,
    pub length: u32,
    pub pgid: u16,
    pub tag: u16,
    pub seq: u32,
    /// Remote address; of an answer: its status.
    pub place: Place,
    /// Words 3 to 5.
    pub soft: [u64; 3],
}

/// All flags of word 0.
const FLAGS: u64 = HDR_W0_ACK_REQ_MASK
    | HDR_W0_F_SEQ_MASK
    | HDR_W0_MULTICAST_MASK
    | HDR_W0_LAST_MASK
    | HDR_W0_OTF_MASK
    | HDR_W0_RESEND_MASK;

impl Header {
    /// Six words; a short packet has the first three.
    pub fn encode(&self) -> [u64; HEADER_WORDS] {
        let w0 = put(HDR_W0_TYPE_MASK, self.kind.into())
            | self.flags & FLAGS
            | put(HDR_W0_SRC_MASK, self.src.into())
            | put(HDR_W0_DST_MASK, self.dst.into())
            | put(HDR_W0_LENGTH_MASK, self.length.into());
        let w1 = put(HDR_W1_PGID_MASK, self.pgid.into())
            | put(HDR_W1_TAG_MASK, self.tag.into())
            | put(HDR_W1_SEQ_MASK, self.seq.into());
        let [w3, w4, w5] = self.soft;
        [w0, w1, self.place.word(), w3, w4, w5]
    }

    /// Of the words that have come; those that have not are zero.
    pub fn decode(words: &[u64]) -> Header {
        let word = |at: usize| words.get(at).copied().unwrap_or(0);
        let (w0, w1) = (word(0), word(1));
        Header {
            kind: get(HDR_W0_TYPE_MASK, w0) as u32,
            flags: w0 & FLAGS,
            src: get(HDR_W0_SRC_MASK, w0) as u16,
            dst: get(HDR_W0_DST_MASK, w0) as u16,
            length: get(HDR_W0_LENGTH_MASK, w0) as u32,
            pgid: get(HDR_W1_PGID_MASK, w1) as u16,
            tag: get(HDR_W1_TAG_MASK, w1) as u16,
            seq: get(HDR_W1_SEQ_MASK, w1) as u32,
            place: Place::of(word(2)),
            soft: [word(3), word(4), word(5)],
        }
    }

    pub fn has(&self, flag: u64) -> bool {
        self.flags & flag != 0
    }

    pub fn is_short(&self) -> bool {
        self.has(HDR_W0_OTF_MASK)
    }

    pub fn slot(&self) -> u8 {
        (self.tag & 0xf) as u8
    }

    /// Header words of this packet.
    pub fn words(&self) -> usize {
        if self.is_short() { SHORT_WORDS } else { HEADER_WORDS }
    }

    /// Words of this packet, if its form is legal.
    pub fn packet_words(&self) -> usize {
        let data = if self.kind == TYPE_PULL {
            1
        } else {
            self.length.div_ceil(WORD) as usize
        };
        self.words() + data
    }

    /// Whether the form is one that its type can have, as the receiver looks at it before anything else.
    ///
    /// # Errors
    /// [`Reason::Length`].
    pub fn check_form(&self) -> Result<(), Reason> {
        let (length, offset) = (self.length, self.place.offset);
        let is_whole = offset.is_multiple_of(WORD.into());
        let legal = match self.kind {
            TYPE_ACK | TYPE_NACK => self.is_short() && length == 0,
            TYPE_PULL => self.is_short() && is_whole && (1..=SIZE_PACKET).contains(&length),
            TYPE_OTF => {
                let in_word = offset % u64::from(WORD) + u64::from(length) <= WORD.into();
                self.is_short() && (1..=WORD).contains(&length) && in_word
            }
            TYPE_PUSH | TYPE_PULL_REPLY => is_whole && length > 0 && self.fits(),
            // What else OFFSET means is the firmware's or the matcher's.
            _ => is_whole && self.fits() && (length > 0 || self.is_short()),
        };
        if legal { Ok(()) } else { Err(Reason::Length) }
    }

    fn fits(&self) -> bool {
        let most = if self.is_short() { WORD } else { SIZE_PACKET };
        self.length <= most
    }

    /// The answer of the receiver to this packet; `seq` is what its status says.
    pub fn answer(&self, refused: Option<Reason>, seq: u32) -> Header {
        let status = Status { refused, seq };
        Header {
            kind: if refused.is_some() { TYPE_NACK } else { TYPE_ACK },
            flags: HDR_W0_OTF_MASK,
            src: 0,
            dst: self.src,
            length: 0,
            seq: 0,
            place: Place::of(status.word()),
            soft: [0; 3],
            ..*self
        }
    }
}

/// What an answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// `None` in an ACK.
    pub refused: Option<Reason>,
    /// SEQ of the packet that is answered; after a gap, the number that was expected.
    pub seq: u32,
}

impl Status {
    pub fn of(word: u64) -> Status {
        Status {
            refused: Reason::of(get(ANSWER_REASON_MASK, word) as u32),
            seq: get(ANSWER_SEQ_MASK, word) as u32,
        }
    }

    pub fn word(self) -> u64 {
        let reason = self.refused.map_or(REASON_NONE, Reason::code);
        put(ANSWER_REASON_MASK, reason.into()) | put(ANSWER_SEQ_MASK, self.seq.into())
    }
}

/// The value of a register SLOTS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    pub open: u16,
    pub nacks: u16,
    /// Of the first negative answer.
    pub reason: Option<Reason>,
    /// Its low 28 bits.
    pub seq: u32,
}

impl Slot {
    pub const SEQ_BITS: u32 = SLOTS_SEQ_MASK.count_ones();

    pub fn of(word: u64) -> Slot {
        Slot {
            open: get(SLOTS_OPEN_MASK, word) as u16,
            nacks: get(SLOTS_NACKS_MASK, word) as u16,
            reason: Reason::of(get(SLOTS_REASON_MASK, word) as u32),
            seq: get(SLOTS_SEQ_MASK, word) as u32,
        }
    }

    pub fn word(self) -> u64 {
        put(SLOTS_OPEN_MASK, self.open.into())
            | put(SLOTS_NACKS_MASK, self.nacks.into())
            | put(SLOTS_REASON_MASK, self.reason.map_or(REASON_NONE, Reason::code).into())
            | put(SLOTS_SEQ_MASK, self.seq.into())
    }
}

/// A packet of these words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    pub words: Vec<u64>,
}

impl Packet {
    /// The packet of a header and its data. LENGTH is the header's: for a PULL it is not that of `data`.
    pub fn new(header: &Header, data: &[u8]) -> Packet {
        let mut words = header.encode()[..header.words()].to_vec();
        words.extend(data.chunks(WORD as usize).map(word));
        Packet { words }
    }

    pub fn header(&self) -> Header {
        let short = Header::decode(&self.words[..1]).is_short();
        // The fourth word of a short packet is data, and stands where W3 does.
        let words = if short { 4 } else { HEADER_WORDS };
        Header::decode(&self.words[..words.min(self.words.len())])
    }

    /// The data that have come, at most LENGTH bytes.
    pub fn data(&self) -> Vec<u8> {
        let header = self.header();
        let words = self.words.iter().skip(header.words());
        let mut bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(header.length as usize);
        bytes
    }

    /// Whether the number of its words is one that a receiver lets pass when it has seen header and first data word.
    pub fn is_well_counted(&self) -> bool {
        let header = self.header();
        match self.words.len() {
            words if !header.is_short() => words > HEADER_WORDS,
            words if header.length == 0 => words == SHORT_WORDS,
            words => words == SHORT_WORDS + 1,
        }
    }

    /// Whether as many words have come as its header says.
    pub fn is_whole(&self) -> bool {
        self.words.len() == self.header().packet_words()
    }
}

/// A word of up to 8 bytes, the first lowest.
pub fn word(bytes: &[u8]) -> u64 {
    let lanes = bytes.iter().zip((0..64).step_by(8));
    lanes.map(|(byte, shift)| u64::from(*byte) << shift).sum()
}

/// One packet's part of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bytes of the transfer before it.
    pub at: u32,
    pub bytes: u32,
}

/// Cuts a transfer into pieces of at most `most` bytes, none of which crosses a page of any of these offsets. With
/// offsets and `most` that are multiples of 8, so is each piece's beginning.
pub fn cut(bytes: u32, most: u32, offsets: &[u64]) -> impl Iterator<Item = Piece> {
    assert!(most > 0, "a piece has bytes");
    let page = u64::from(SIZE_PAGE);
    let mut at = 0;
    std::iter::from_fn(move || {
        if at == bytes {
            return None;
        }
        let to_border = |offset: &u64| (page - (offset + u64::from(at)) % page) as u32;
        let borders = offsets.iter().map(to_border).min().unwrap_or(u32::MAX);
        let piece = Piece {
            at,
            bytes: most.min(borders).min(bytes - at),
        };
        at += piece.bytes;
        Some(piece)
    })
}

/// What a region allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    pub read: bool,
    pub write: bool,
    pub otf: bool,
}

impl Rights {
    pub const ALL: Rights = Rights {
        read: true,
        write: true,
        otf: true,
    };
    pub const READ_WRITE: Rights = Rights {
        otf: false,
        ..Rights::ALL
    };
}

/// Where a region begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// At a virtual page.
    Page(u32),
    /// At a byte of LLCM, 8-byte aligned.
    Llcm(u32),
}

/// An entry of the RVATLB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub pgid: u16,
    pub region: u16,
    pub base: Base,
    pub rights: Rights,
    pub bytes: u64,
}

impl Region {
    pub fn key(pgid: u16, region: u16) -> u64 {
        put(RVA_KEY_PGID_MASK, pgid.into()) | put(RVA_KEY_REGION_MASK, region.into()) | RVA_KEY_VALID_MASK
    }

    /// The words RVA.
    pub fn encode(&self) -> [u64; 3] {
        let flag = |mask: u64, on: bool| if on { mask } else { 0 };
        let (base, in_llcm) = match self.base {
            Base::Page(page) => (page, false),
            Base::Llcm(byte) => (byte, true),
        };
        let base = put(RVA_BASE_PAGE_MASK, base.into())
            | flag(RVA_BASE_LLCM_MASK, in_llcm)
            | flag(RVA_BASE_READ_MASK, self.rights.read)
            | flag(RVA_BASE_WRITE_MASK, self.rights.write)
            | flag(RVA_BASE_OTF_MASK, self.rights.otf && in_llcm);
        [
            Region::key(self.pgid, self.region),
            base,
            put(RVA_BOUND_BYTES_MASK, self.bytes),
        ]
    }

    /// `None` of an entry that is not valid.
    pub fn decode([key, base, bound]: [u64; 3]) -> Option<Region> {
        let at = get(RVA_BASE_PAGE_MASK, base) as u32;
        let has = |mask: u64| base & mask != 0;
        (key & RVA_KEY_VALID_MASK != 0).then(|| Region {
            pgid: get(RVA_KEY_PGID_MASK, key) as u16,
            region: get(RVA_KEY_REGION_MASK, key) as u16,
            base: if has(RVA_BASE_LLCM_MASK) {
                Base::Llcm(at)
            } else {
                Base::Page(at)
            },
            rights: Rights {
                read: has(RVA_BASE_READ_MASK),
                write: has(RVA_BASE_WRITE_MASK),
                otf: has(RVA_BASE_OTF_MASK),
            },
            bytes: get(RVA_BOUND_BYTES_MASK, bound),
        })
    }
}

/// An entry of the PATLB: a virtual page and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageEntry {
    pub pgid: u16,
    pub page: u32,
    pub frame: u32,
}

impl PageEntry {
    pub fn key(pgid: u16, page: u32) -> u64 {
        put(PA_KEY_PGID_MASK, pgid.into()) | put(PA_KEY_PAGE_MASK, page.into()) | PA_KEY_VALID_MASK
    }

    /// The words PA.
    pub fn encode(&self) -> [u64; 2] {
        [
            PageEntry::key(self.pgid, self.page),
            put(PA_FRAME_PAGE_MASK, self.frame.into()),
        ]
    }

    /// `None` of an entry that is not valid.
    pub fn decode([key, frame]: [u64; 2]) -> Option<PageEntry> {
        (key & PA_KEY_VALID_MASK != 0).then(|| PageEntry {
            pgid: get(PA_KEY_PGID_MASK, key) as u16,
            page: get(PA_KEY_PAGE_MASK, key) as u32,
            frame: get(PA_FRAME_PAGE_MASK, frame) as u32,
        })
    }
}

/// The words HTLB of a page of AOTF: `header` but for SRC, LENGTH and SEQ, which are the hardware's. OTF is always set.
pub fn header_entry(header: &Header) -> [u64; 3] {
    let page = Header {
        flags: header.flags | HDR_W0_OTF_MASK,
        src: 0,
        length: 0,
        seq: 0,
        ..*header
    };
    let [w0, w1, w2, ..] = page.encode();
    [w0, w1, w2]
}
