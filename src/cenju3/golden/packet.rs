//! Formats of Cenju-3 and the cutting of parcels (`cenju3_sender`, `cenju3_receiver`): pure functions for both golden
//! models, the timed model and the tests.
//!
//! The paper fixes only that a packet carries about 512 bytes and that its header takes 18 bytes of the wire (sec. 3.1,
//! 6.1); the layout is our choice. All positions come from the generated [`regs`](crate::cenju3::regs).

use crate::Addr;
use crate::cenju3::regs::*;

/// Flits before the body: the route flit and the packet header.
pub const HEAD_FLITS: usize = 1 + PACKET_HEADER_BYTES as usize / 2;

/// Kind of a packet: where the Receiver stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A message for body buffer 0.
    Msg0,
    /// A message for body buffer 1.
    Msg1,
    /// A body for the address in the header.
    Dma,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Msg0, Kind::Msg1, Kind::Dma];

    /// The kind of that code.
    ///
    /// # Errors
    /// Any code above 2.
    pub fn from_code(code: u32) -> Result<Kind, FormatError> {
        match code {
            KIND_MSG0 => Ok(Kind::Msg0),
            KIND_MSG1 => Ok(Kind::Msg1),
            KIND_DMA => Ok(Kind::Dma),
            _ => Err(FormatError::Kind { code }),
        }
    }

    pub fn code(self) -> u32 {
        match self {
            Kind::Msg0 => KIND_MSG0,
            Kind::Msg1 => KIND_MSG1,
            Kind::Dma => KIND_DMA,
        }
    }

    /// The body buffer of a message.
    pub fn buffer(self) -> Option<usize> {
        match self {
            Kind::Msg0 => Some(0),
            Kind::Msg1 => Some(1),
            Kind::Dma => None,
        }
    }
}

/// Reasons why flits or bytes are no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    #[error("{flits} flits are less than a packet header")]
    Short { flits: usize },
    #[error("unknown packet kind {code}")]
    Kind { code: u32 },
    #[error("body length {bytes}, not 1 to {PACKET_BODY_MAX}")]
    Length { bytes: u32 },
    #[error("DMA destination {dest} is not {ALIGN_BYTES}-byte aligned")]
    Dest { dest: Addr },
    #[error("reserved bits of the route flit {flit:#06x} are not zero")]
    Reserved { flit: u16 },
    #[error("the body has {flits} flits, too few for {bytes} bytes")]
    Truncated { flits: usize, bytes: u32 },
    #[error("the body has {flits} flits, too many for {bytes} bytes")]
    Overlong { flits: usize, bytes: u32 },
}

/// Reasons why the Sender refuses or abandons a parcel: the status that it writes into the parcel header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Status {
    #[error("unknown packet kind")]
    BadKind,
    #[error("length 0")]
    ZeroLength,
    #[error("longer than 128 KB")]
    TooLong,
    #[error("message longer than one packet")]
    MessageTooLong,
    #[error("body address not 32-byte aligned")]
    BodyMisaligned,
    #[error("DMA destination not 32-byte aligned")]
    DestMisaligned,
    #[error("bus error on the parcel header")]
    HeaderBusError,
    #[error("bus error on the body")]
    BodyBusError,
}

impl Status {
    pub const ALL: [Status; 8] = [
        Status::BadKind,
        Status::ZeroLength,
        Status::TooLong,
        Status::MessageTooLong,
        Status::BodyMisaligned,
        Status::DestMisaligned,
        Status::HeaderBusError,
        Status::BodyBusError,
    ];

    pub fn code(self) -> u32 {
        match self {
            Status::BadKind => STATUS_BAD_KIND,
            Status::ZeroLength => STATUS_ZERO_LENGTH,
            Status::TooLong => STATUS_TOO_LONG,
            Status::MessageTooLong => STATUS_MESSAGE_TOO_LONG,
            Status::BodyMisaligned => STATUS_BODY_MISALIGNED,
            Status::DestMisaligned => STATUS_DEST_MISALIGNED,
            Status::HeaderBusError => STATUS_HEADER_BUS_ERROR,
            Status::BodyBusError => STATUS_BODY_BUS_ERROR,
        }
    }

    /// The status of that code; `None` for 0 and for unknown codes.
    pub fn from_code(code: u32) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.code() == code)
    }
}

/// The first flit of a packet: the fields that the network needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    pub dst: u8,
    /// From queue 0.
    pub priority: bool,
    pub kind: Kind,
    pub arr: bool,
    pub end: bool,
}

impl Route {
    pub fn encode(&self) -> u16 {
        let word = put(ROUTE_DST_MASK, u32::from(self.dst))
            | put(ROUTE_PRIORITY_MASK, u32::from(self.priority))
            | put(ROUTE_KIND_MASK, self.kind.code())
            | put(ROUTE_ARR_MASK, u32::from(self.arr))
            | put(ROUTE_END_MASK, u32::from(self.end));
        word as u16
    }

    /// # Errors
    /// An unknown kind, or reserved bits that are not zero.
    pub fn decode(flit: u16) -> Result<Route, FormatError> {
        let word = u32::from(flit);
        let known = ROUTE_DST_MASK | ROUTE_PRIORITY_MASK | ROUTE_KIND_MASK | ROUTE_ARR_MASK | ROUTE_END_MASK;
        if word & !known != 0 {
            return Err(FormatError::Reserved { flit });
        }
        Ok(Route {
            dst: get(ROUTE_DST_MASK, word) as u8,
            priority: get(ROUTE_PRIORITY_MASK, word) != 0,
            kind: Kind::from_code(get(ROUTE_KIND_MASK, word))?,
            arr: get(ROUTE_ARR_MASK, word) != 0,
            end: get(ROUTE_END_MASK, word) != 0,
        })
    }
}

/// The 16-byte packet header on the wire and in a header buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketHeader {
    pub kind: Kind,
    pub arr: bool,
    pub end: bool,
    /// Last packet of its parcel.
    pub last: bool,
    /// From queue 0.
    pub priority: bool,
    pub src: u8,
    /// Packet number in the parcel, modulo 256.
    pub seq: u8,
    /// Body bytes, 1 to 512.
    pub bytes: u32,
    /// Ring index of the parcel header.
    pub index: u8,
    /// Send queue.
    pub queue: u8,
    /// DMA: destination address of this body. Message: software word 0.
    pub dest: u32,
    /// Software word 1.
    pub soft1: u32,
}

impl PacketHeader {
    pub fn encode(&self) -> [u8; PACKET_HEADER_BYTES as usize] {
        let head = put(PACKET_HEAD_KIND_MASK, self.kind.code())
            | put(PACKET_HEAD_ARR_MASK, u32::from(self.arr))
            | put(PACKET_HEAD_END_MASK, u32::from(self.end))
            | put(PACKET_HEAD_LAST_MASK, u32::from(self.last))
            | put(PACKET_HEAD_PRIORITY_MASK, u32::from(self.priority))
            | put(PACKET_HEAD_SRC_MASK, u32::from(self.src))
            | put(PACKET_HEAD_SEQ_MASK, u32::from(self.seq));
        let body = put(PACKET_BODY_BYTES_MASK, self.bytes)
            | put(PACKET_BODY_INDEX_MASK, u32::from(self.index))
            | put(PACKET_BODY_QUEUE_MASK, u32::from(self.queue));
        let mut bytes = [0; PACKET_HEADER_BYTES as usize];
        set_word(&mut bytes, PACKET_HEAD, head);
        set_word(&mut bytes, PACKET_BODY, body);
        set_word(&mut bytes, PACKET_DEST, self.dest);
        set_word(&mut bytes, PACKET_SOFT1, self.soft1);
        bytes
    }

    /// # Errors
    /// The first reason for which the Receiver reports a bad header: unknown kind, length 0 or above 512, DMA
    /// destination not aligned.
    pub fn decode(bytes: &[u8; PACKET_HEADER_BYTES as usize]) -> Result<PacketHeader, FormatError> {
        let (head, body) = (word(bytes, PACKET_HEAD), word(bytes, PACKET_BODY));
        let header = PacketHeader {
            kind: Kind::from_code(get(PACKET_HEAD_KIND_MASK, head))?,
            arr: get(PACKET_HEAD_ARR_MASK, head) != 0,
            end: get(PACKET_HEAD_END_MASK, head) != 0,
            last: get(PACKET_HEAD_LAST_MASK, head) != 0,
            priority: get(PACKET_HEAD_PRIORITY_MASK, head) != 0,
            src: get(PACKET_HEAD_SRC_MASK, head) as u8,
            seq: get(PACKET_HEAD_SEQ_MASK, head) as u8,
            bytes: get(PACKET_BODY_BYTES_MASK, body),
            index: get(PACKET_BODY_INDEX_MASK, body) as u8,
            queue: get(PACKET_BODY_QUEUE_MASK, body) as u8,
            dest: word(bytes, PACKET_DEST),
            soft1: word(bytes, PACKET_SOFT1),
        };
        if !(1..=PACKET_BODY_MAX).contains(&header.bytes) {
            return Err(FormatError::Length { bytes: header.bytes });
        }
        if header.kind == Kind::Dma && !header.dest.is_multiple_of(ALIGN_BYTES) {
            return Err(FormatError::Dest {
                dest: Addr(header.dest),
            });
        }
        Ok(header)
    }
}

/// A packet on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    pub route: Route,
    pub header: PacketHeader,
    /// As many bytes as the header states.
    pub body: Vec<u8>,
}

impl Packet {
    /// Route flit, header, body padded with zero to a whole flit.
    pub fn flits(&self) -> Vec<u16> {
        let mut flits = vec![self.route.encode()];
        flits.extend(to_flits(&self.header.encode()));
        flits.extend(to_flits(&self.body));
        flits
    }

    /// # Errors
    /// The first error in the flits, in wire order.
    pub fn from_flits(flits: &[u16]) -> Result<Packet, FormatError> {
        let (head, body) = flits
            .split_at_checked(HEAD_FLITS)
            .ok_or(FormatError::Short { flits: flits.len() })?;
        let route = Route::decode(head[0])?;
        let header = PacketHeader::decode(&header_bytes(flits).expect("checked above"))?;
        let (flits, bytes) = (body.len(), header.bytes);
        match body_flits(bytes).cmp(&flits) {
            std::cmp::Ordering::Greater => return Err(FormatError::Truncated { flits, bytes }),
            std::cmp::Ordering::Less => return Err(FormatError::Overlong { flits, bytes }),
            std::cmp::Ordering::Equal => {}
        }
        let mut body = to_bytes(body);
        body.truncate(bytes as usize);
        Ok(Packet { route, header, body })
    }
}

/// The 32-byte parcel header that the kernel writes into a send queue, without its status word and its reserved word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParcelHeader {
    pub kind: Kind,
    pub arr: bool,
    pub end: bool,
    pub dst: u8,
    /// Body bytes, 1 to 131072, at most 512 for a message.
    pub bytes: u32,
    pub body: Addr,
    /// DMA destination address.
    pub dest: Addr,
    pub soft: [u32; 2],
}

impl ParcelHeader {
    /// The header with status 0.
    pub fn encode(&self) -> [u8; PARCEL_HEADER_BYTES as usize] {
        let head = put(PARCEL_HEAD_KIND_MASK, self.kind.code())
            | put(PARCEL_HEAD_ARR_MASK, u32::from(self.arr))
            | put(PARCEL_HEAD_END_MASK, u32::from(self.end))
            | put(PARCEL_HEAD_DST_MASK, u32::from(self.dst));
        let mut bytes = [0; PARCEL_HEADER_BYTES as usize];
        set_word(&mut bytes, PARCEL_HEAD, head);
        set_word(&mut bytes, PARCEL_BYTES, self.bytes);
        set_word(&mut bytes, PARCEL_BODY, self.body.0);
        set_word(&mut bytes, PARCEL_DEST, self.dest.0);
        set_word(&mut bytes, PARCEL_SOFT0, self.soft[0]);
        set_word(&mut bytes, PARCEL_SOFT1, self.soft[1]);
        bytes
    }

    /// # Errors
    /// The status with which the Sender refuses the parcel: the lowest code, if several apply.
    pub fn decode(bytes: &[u8; PARCEL_HEADER_BYTES as usize]) -> Result<ParcelHeader, Status> {
        let head = word(bytes, PARCEL_HEAD);
        let parcel = ParcelHeader {
            kind: Kind::from_code(get(PARCEL_HEAD_KIND_MASK, head)).map_err(|_| Status::BadKind)?,
            arr: get(PARCEL_HEAD_ARR_MASK, head) != 0,
            end: get(PARCEL_HEAD_END_MASK, head) != 0,
            dst: get(PARCEL_HEAD_DST_MASK, head) as u8,
            bytes: word(bytes, PARCEL_BYTES),
            body: Addr(word(bytes, PARCEL_BODY)),
            dest: Addr(word(bytes, PARCEL_DEST)),
            soft: [word(bytes, PARCEL_SOFT0), word(bytes, PARCEL_SOFT1)],
        };
        parcel.check().map(|()| parcel)
    }

    /// # Errors
    /// As [`decode`](ParcelHeader::decode).
    pub fn check(&self) -> Result<(), Status> {
        let dma = self.kind == Kind::Dma;
        match self {
            p if p.bytes == 0 => Err(Status::ZeroLength),
            p if p.bytes > PARCEL_BODY_MAX => Err(Status::TooLong),
            p if !dma && p.bytes > PACKET_BODY_MAX => Err(Status::MessageTooLong),
            p if !p.body.0.is_multiple_of(ALIGN_BYTES) => Err(Status::BodyMisaligned),
            p if dma && !p.dest.0.is_multiple_of(ALIGN_BYTES) => Err(Status::DestMisaligned),
            _ => Ok(()),
        }
    }
}

/// A packet before its body is read: its head, and the place of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketPlan {
    pub route: Route,
    pub header: PacketHeader,
    pub body: Addr,
}

impl PacketPlan {
    /// The packet with its body.
    pub fn with_body(&self, body: &[u8]) -> Packet {
        assert_eq!(
            body.len(),
            self.header.bytes as usize,
            "the body's length differs from the header's"
        );
        Packet {
            route: self.route,
            header: self.header,
            body: body.to_vec(),
        }
    }
}

/// Cuts a parcel, which must pass [`check`](ParcelHeader::check), into packets of 512 bytes; the last one has the rest.
/// Only the last packet carries the interrupt flags (sec. 3.1, 3.2). `index` is the ring index of the parcel header in
/// `queue` of PE `src`.
pub fn split(parcel: ParcelHeader, src: u8, queue: u8, index: u8) -> impl Iterator<Item = PacketPlan> + Clone {
    assert!(parcel.check().is_ok(), "an illegal parcel cannot be cut");
    let packets = parcel.bytes.div_ceil(PACKET_BODY_MAX);
    (0..packets).map(move |k| {
        let offset = k * PACKET_BODY_MAX;
        let last = k + 1 == packets;
        let (arr, end) = (last && parcel.arr, last && parcel.end);
        let priority = queue == 0;
        PacketPlan {
            route: Route {
                dst: parcel.dst,
                priority,
                kind: parcel.kind,
                arr,
                end,
            },
            header: PacketHeader {
                kind: parcel.kind,
                arr,
                end,
                last,
                priority,
                src,
                seq: k as u8,
                bytes: (parcel.bytes - offset).min(PACKET_BODY_MAX),
                index,
                queue,
                dest: if parcel.kind == Kind::Dma {
                    parcel.dest.offset(offset).0
                } else {
                    parcel.soft[0]
                },
                soft1: parcel.soft[1],
            },
            body: parcel.body.offset(offset),
        }
    })
}

/// Flits of a body of that many bytes.
pub fn body_flits(bytes: u32) -> usize {
    bytes.div_ceil(2) as usize
}

/// Little-endian flits of `bytes`, the last one padded with zero.
pub fn to_flits(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    bytes
        .chunks(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
}

/// The bytes of `flits`.
pub fn to_bytes(flits: &[u16]) -> Vec<u8> {
    flits.iter().flat_map(|flit| flit.to_le_bytes()).collect()
}

/// The 16 header bytes of a packet's flits, legal or not; `None` if some are missing.
pub fn header_bytes(flits: &[u16]) -> Option<[u8; PACKET_HEADER_BYTES as usize]> {
    to_bytes(flits.get(1..HEAD_FLITS)?).try_into().ok()
}

/// The field of `mask` in `word`.
pub fn get(mask: u32, word: u32) -> u32 {
    (word & mask) >> mask.trailing_zeros()
}

/// `value` in the place of `mask`, which it must fit.
pub fn put(mask: u32, value: u32) -> u32 {
    let placed = value << mask.trailing_zeros();
    assert_eq!(get(mask, placed), value, "{value} does not fit field {mask:#x}");
    assert_eq!(placed & !mask, 0, "{value} does not fit field {mask:#x}");
    placed
}

/// The little-endian word at `offset`.
pub fn word(bytes: &[u8], offset: u32) -> u32 {
    let at = offset as usize;
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn set_word(bytes: &mut [u8], offset: u32, value: u32) {
    bytes[offset as usize..offset as usize + 4].copy_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
mod tests;
