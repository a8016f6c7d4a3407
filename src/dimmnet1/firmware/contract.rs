//! What the firmware achieves at each stop, whatever instructions it is made of: the golden model of the firmware.
//!
//! Written from the layouts of the [parent](super) and from the register page, never from the sources.

use std::collections::BTreeMap;

use super::*;
use crate::dimmnet1::golden::matcher::{self, Chain, Step};

/// The stop of the receiver, or of the RDMA engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    pub who: Engine,
    /// A code of Stops.
    pub cause: u32,
    /// What a TLB missed: RVA.KEY or PA.KEY.
    pub key: u64,
    /// It follows a part.
    pub more: bool,
    /// The receiver's packet.
    pub header: [u64; 6],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Receiver,
    Rdma,
}

/// How a stop ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    Continue,
    Drop,
    /// With a code of Reasons.
    Nack(u32),
    /// With the physical address.
    Dma(u64),
    /// With so many bytes.
    Part(u16),
}

/// An entry that a TLB takes before the stop ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    Region([u64; 3]),
    Page([u64; 2]),
}

/// All that the firmware does at a stop, but for memory: that is in [`Contract`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub go: Go,
    /// The header with which the receiver goes on, if it continues.
    pub header: Option<[u64; 6]>,
    pub fill: Option<Fill>,
    /// Packets that leave, in order.
    pub packets: Vec<Vec<u64>>,
}

impl From<Go> for Outcome {
    fn from(go: Go) -> Outcome {
        Outcome {
            go,
            header: None,
            fill: None,
            packets: Vec::new(),
        }
    }
}

/// A code of Reasons why a stop ends with NACK.
type Refused = u32;

/// The firmware's tables, and what it remembers.
#[derive(Clone, Debug)]
pub struct Contract {
    regions: BTreeMap<(u16, u16), Region>,
    pages: BTreeMap<(u16, u32), u32>,
    barriers: BTreeMap<u32, Barrier>,
    /// Arrivals that miss.
    left: BTreeMap<u32, u32>,
    /// The next number of each source.
    next: [u32; NODES as usize],
    /// The receive command of the packet under way.
    chain: Option<Chain>,
    pub llcm: Vec<u8>,
}

/// A field of a word, by the names of `regs.rs`.
macro_rules! field {
    ($word:expr, $mask:ident, $shift:ident) => {
        ($word & $mask) >> $shift
    };
}

impl Contract {
    pub fn new(tables: &Tables) -> Contract {
        let barriers = tables.barriers.iter();
        Contract {
            regions: tables.regions.iter().map(|of| ((of.pgid, of.region), *of)).collect(),
            pages: tables.pages.iter().map(|of| ((of.pgid, of.page), of.frame)).collect(),
            left: barriers.clone().map(|of| (of.number, of.arrivals)).collect(),
            barriers: barriers.map(|of| (of.number, of.clone())).collect(),
            next: [0; NODES as usize],
            chain: None,
            llcm: vec![0; SIZE_LLCM as usize],
        }
    }

    /// Serves a stop. `transfer` says how a transfer to a physical address ends: a code of Reasons, 0 for well.
    pub fn serve(&mut self, stop: &Stop, transfer: impl FnOnce(u64) -> u32) -> Outcome {
        let served = match stop.cause {
            STOP_RVATLB => self.region_miss(stop),
            STOP_PATLB => self.page_miss(stop),
            _ if Header(stop.header).kind() == TYPE_CHAIN => self.chain(Header(stop.header), stop.more),
            _ => self.packet(&Header(stop.header), transfer),
        };
        served.unwrap_or_else(|reason| Go::Nack(reason).into())
    }

    fn region_miss(&self, stop: &Stop) -> Result<Outcome, Refused> {
        let region = field!(stop.key, RVA_KEY_REGION_MASK, RVA_KEY_REGION_SHIFT) as u16;
        let pgid = field!(stop.key, RVA_KEY_PGID_MASK, RVA_KEY_PGID_SHIFT) as u16;
        if u32::from(region) << 16 < INDIRECT_FROM {
            let &Region { base, bytes, .. } = self.region(pgid, region)?;
            let key = RVA_KEY_VALID_MASK | stop.key;
            return Ok(filled(stop, Fill::Region([key, base, bytes])));
        }
        let header = Header(redirected(stop)?);
        let at = self.cell(&header, matcher::POINTER_BYTES)?;
        Ok(self.follow(header, at))
    }

    fn page_miss(&self, stop: &Stop) -> Result<Outcome, Refused> {
        let page = field!(stop.key, PA_KEY_PAGE_MASK, PA_KEY_PAGE_SHIFT) as u32;
        let pgid = field!(stop.key, PA_KEY_PGID_MASK, PA_KEY_PGID_SHIFT) as u16;
        if page << 4 < INDIRECT_FROM {
            let frame = self.frame(pgid, page)?;
            let key = PA_KEY_VALID_MASK | stop.key;
            return Ok(filled(stop, Fill::Page([key, frame.into()])));
        }
        let header = Header(redirected(stop)?);
        let frame = self.frame(pgid, page)?.wrapping_sub(LLCM_PAGE);
        if frame >= SIZE_LLCM / SIZE_PAGE {
            return Err(REASON_RANGE);
        }
        let at = frame as usize * 4096 + (header.offset() & 0xff8) as usize;
        Ok(self.follow(header, at))
    }

    fn packet(&mut self, header: &Header, transfer: impl FnOnce(u64) -> u32) -> Result<Outcome, Refused> {
        match header.kind() {
            TYPE_INDIRECT => {
                let at = self.cell(header, matcher::POINTER_BYTES)?;
                Ok(self.follow(*header, at))
            }
            TYPE_MESSAGE => self.message(header),
            TYPE_BARRIER => self.barrier(header),
            TYPE_SOFT => self.soft(header, transfer),
            _ => Err(REASON_TYPE),
        }
    }

    /// Continues with the pointer at this place of LLCM as the remote address.
    fn follow(&self, header: Header, at: usize) -> Outcome {
        redirect(header, matcher::pointer(&self.llcm[at..]))
    }

    fn message(&mut self, header: &Header) -> Result<Outcome, Refused> {
        let at = self.cell(header, CELL_BYTES)?;
        let cell = &mut self.llcm[at..at + CELL_BYTES as usize];
        let place = matcher::message(header.length() as u32, cell)?;
        Ok(redirect(*header, place))
    }

    fn chain(&mut self, mut header: Header, more: bool) -> Result<Outcome, Refused> {
        if more {
            let mut chain = self.chain.expect("a part came before");
            let step = chain.step()?;
            self.chain = Some(chain);
            match step {
                Step::Block(place, bytes) => return Ok(part(header, place, bytes)),
                Step::Command(place) => header.0[2] = place,
            }
        }
        let at = self.cell(&header, COMMAND_BYTES)?;
        let mut chain = Chain::begin(header.region(), &self.llcm[at..])?;
        let step = chain.step()?;
        self.chain = Some(chain);
        let Step::Block(place, bytes) = step else {
            unreachable!("a command has a block")
        };
        Ok(part(header, place, bytes))
    }

    fn barrier(&mut self, header: &Header) -> Result<Outcome, Refused> {
        let number = (header.0[2] & u64::from(u32::MAX)) >> 3;
        if number >= BARRIERS.into() {
            return Err(REASON_RANGE);
        }
        let barrier = self
            .barriers
            .get(&(number as u32))
            .filter(|of| of.pgid == header.pgid());
        let barrier = barrier.ok_or(REASON_RIGHTS)?;
        let left = self
            .left
            .get_mut(&barrier.number)
            .expect("each barrier has its counter");
        *left -= 1;
        let mut outcome = Outcome::from(Go::Drop);
        if *left == 0 {
            *left = barrier.arrivals;
            outcome.packets = barrier.packets.iter().map(|words| words.to_vec()).collect();
        }
        Ok(outcome)
    }

    fn soft(&mut self, header: &Header, transfer: impl FnOnce(u64) -> u32) -> Result<Outcome, Refused> {
        let at = self.cell(header, SOFT_BYTES)?;
        let place = |word: u32| at + word as usize;
        if self.half(place(SOFT_DONE)) != 0 {
            return Err(REASON_OVERFLOW);
        }
        let numbered = header.0[0] & HDR_W0_F_SEQ_MASK != 0;
        let source = header.source() as usize % NODES as usize;
        let (expected, seq) = (self.next[source], header.seq());
        if numbered && (seq.wrapping_sub(expected) as i32) < 0 {
            return Err(REASON_SEQUENCE);
        }
        let length = header.length() as u32;
        let (total, number) = (header.0[4] as u32, (header.0[4] >> 32) as u32);
        let count = self.half(place(SOFT_COUNT));
        if length == 0 {
            return Err(REASON_LENGTH);
        }
        if count != 0 && number != self.half(place(SOFT_NUMBER)) {
            return Err(REASON_OVERFLOW);
        }
        if u64::from(count) + u64::from(length) > total.into() || total > self.half(place(SOFT_ROOM)) {
            return Err(REASON_RANGE);
        }
        let area = self.read(place(SOFT_AREA));
        let addr = self.physical(header.pgid(), area, count, length)?;
        if addr % 8 != 0 {
            return Err(REASON_LENGTH);
        }
        let reason = transfer(addr);
        if reason == REASON_NONE {
            if numbered {
                self.next[source] = seq.wrapping_add(1);
            }
            self.write_half(place(SOFT_NUMBER), number);
            self.write_half(place(SOFT_COUNT), count + length);
            if count + length == total {
                self.write_half(place(SOFT_DONE), total);
            }
        }
        let mut outcome = Outcome::from(Go::Dma(addr));
        if header.0[0] & HDR_W0_ACK_REQ_MASK != 0 {
            outcome.packets.push(header.answer(reason));
        }
        Ok(outcome)
    }

    /// The physical address of `length` bytes, `count` bytes behind the start of an area.
    fn physical(&self, pgid: u16, area: u64, count: u32, length: u32) -> Result<u64, Refused> {
        let (region, offset) = ((area >> 48) as u16, (area & HDR_W2_OFFSET_MASK) + u64::from(count));
        let end = offset + u64::from(length);
        if end > u32::MAX.into() {
            return Err(REASON_RANGE);
        }
        let region = self.region(pgid, region)?;
        if end > region.bytes {
            return Err(REASON_RANGE);
        }
        if region.base & RVA_BASE_WRITE_MASK == 0 {
            return Err(REASON_RIGHTS);
        }
        let base = region.base & RVA_BASE_PAGE_MASK;
        if region.base & RVA_BASE_LLCM_MASK != 0 {
            return Ok((u64::from(LLCM_PAGE) << 12) + base + offset);
        }
        let page = base as u32 + (offset >> 12) as u32;
        let frame = self.frame(pgid, page)?;
        let crosses = offset % 4096 + u64::from(length) > 4096;
        if crosses && self.frame(pgid, page + 1)? != frame + 1 {
            return Err(REASON_RANGE);
        }
        Ok((u64::from(frame) << 12) + offset % 4096)
    }

    /// The place in LLCM that the packet names, with so many bytes.
    fn cell(&self, header: &Header, bytes: u32) -> Result<usize, Refused> {
        let region = self.region(header.pgid(), header.region())?;
        if region.base & RVA_BASE_LLCM_MASK == 0 {
            return Err(REASON_RIGHTS);
        }
        let offset = header.offset();
        if !offset.is_multiple_of(8) || offset + u64::from(bytes) > region.bytes {
            return Err(REASON_RANGE);
        }
        Ok(((region.base & RVA_BASE_PAGE_MASK) + offset) as usize)
    }

    fn region(&self, pgid: u16, region: u16) -> Result<&Region, Refused> {
        self.regions.get(&(pgid, region)).ok_or(REASON_RIGHTS)
    }

    fn frame(&self, pgid: u16, page: u32) -> Result<u32, Refused> {
        self.pages.get(&(pgid, page)).copied().ok_or(REASON_RIGHTS)
    }

    fn read(&self, at: usize) -> u64 {
        u64::from(self.half(at)) | u64::from(self.half(at + 4)) << 32
    }

    fn half(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.llcm[at..at + 4].try_into().expect("four bytes"))
    }

    pub fn write(&mut self, at: usize, word: u64) {
        self.llcm[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }

    fn write_half(&mut self, at: usize, half: u32) {
        self.llcm[at..at + 4].copy_from_slice(&half.to_le_bytes());
    }
}

/// The packet goes on with another remote address.
fn redirect(mut header: Header, place: u64) -> Outcome {
    header.0[2] = place;
    Outcome {
        header: Some(header.0),
        ..Go::Continue.into()
    }
}

/// A part of the packet goes to another remote address.
fn part(mut header: Header, place: u64, bytes: u16) -> Outcome {
    header.0[2] = place;
    Outcome {
        header: Some(header.0),
        ..Go::Part(bytes).into()
    }
}

/// The receiver goes on as it is, the RDMA engine looks again.
fn filled(stop: &Stop, fill: Fill) -> Outcome {
    Outcome {
        header: (stop.who == Engine::Receiver).then_some(stop.header),
        fill: Some(fill),
        ..Go::Continue.into()
    }
}

/// The header of a PUSH to an indirect place, with the mark that it had its turn.
fn redirected(stop: &Stop) -> Result<[u64; 6], Refused> {
    let mut header = stop.header;
    if stop.who == Engine::Rdma || Header(header).kind() != TYPE_PUSH {
        return Err(REASON_RANGE);
    }
    header[0] &= !HDR_W0_TYPE_MASK;
    Ok(header)
}

/// A packet's header.
#[derive(Clone, Copy)]
struct Header([u64; 6]);

impl Header {
    fn kind(&self) -> u32 {
        field!(self.0[0], HDR_W0_TYPE_MASK, HDR_W0_TYPE_SHIFT) as u32
    }

    fn source(&self) -> u64 {
        field!(self.0[0], HDR_W0_SRC_MASK, HDR_W0_SRC_SHIFT)
    }

    fn length(&self) -> u64 {
        field!(self.0[0], HDR_W0_LENGTH_MASK, HDR_W0_LENGTH_SHIFT)
    }

    fn pgid(&self) -> u16 {
        field!(self.0[1], HDR_W1_PGID_MASK, HDR_W1_PGID_SHIFT) as u16
    }

    fn seq(&self) -> u32 {
        field!(self.0[1], HDR_W1_SEQ_MASK, HDR_W1_SEQ_SHIFT) as u32
    }

    fn region(&self) -> u16 {
        field!(self.0[2], HDR_W2_REGION_MASK, HDR_W2_REGION_SHIFT) as u16
    }

    fn offset(&self) -> u64 {
        field!(self.0[2], HDR_W2_OFFSET_MASK, HDR_W2_OFFSET_SHIFT)
    }

    /// ACK, or NACK with its reason.
    fn answer(&self, reason: u32) -> Vec<u64> {
        let kind = if reason == REASON_NONE { TYPE_ACK } else { TYPE_NACK };
        let w0 = u64::from(kind) | HDR_W0_OTF_MASK | self.source() << HDR_W0_DST_SHIFT;
        let w1 = self.0[1] & (HDR_W1_PGID_MASK | HDR_W1_TAG_MASK);
        let seq = u64::from(self.seq()) << ANSWER_SEQ_SHIFT;
        vec![w0, w1, seq | u64::from(reason)]
    }
}
