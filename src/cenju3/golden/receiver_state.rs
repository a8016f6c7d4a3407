//! The state of `cenju3_receiver` as the host sees it: verdicts on packets, causes, rings, registers. It is pure state;
//! the lock-step model and the timed machine model share it.

use crate::Addr;
use crate::cenju3::golden::packet::{HEAD_FLITS, Kind, PacketHeader, get, header_bytes, put, to_bytes, word};
use crate::cenju3::regs::*;

/// The Receiver's verdict on a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// To be delivered: the body has as many bytes as the header states.
    Good { header: PacketHeader, body: Vec<u8> },
    /// Ends within its header: dropped, counted as truncated, nothing written.
    Short,
    /// Bad header: dropped, nothing written.
    Bad,
    /// Fewer body bytes than the header states: written, not published.
    Truncated { header: PacketHeader, body: Vec<u8> },
    /// More body bytes than the header states: the excess is discarded, nothing is published.
    Overlong { header: PacketHeader, body: Vec<u8> },
}

impl Verdict {
    /// Judges the flits of a packet that arrived at PE `node`.
    pub fn of(flits: &[u16], node: u8) -> Verdict {
        let Some(bytes) = header_bytes(flits) else {
            return Verdict::Short;
        };
        let route = u32::from(flits[0]);
        let dst = get(ROUTE_DST_MASK, route);
        let route_kind = Kind::from_code(get(ROUTE_KIND_MASK, route));
        let (Ok(header), Ok(_), true) = (PacketHeader::decode(&bytes), route_kind, dst == u32::from(node)) else {
            return Verdict::Bad;
        };
        let mut body = to_bytes(&flits[HEAD_FLITS..]);
        let (came, said) = (body.len() as u32, header.bytes);
        body.truncate(said as usize);
        match came {
            _ if came < said => Verdict::Truncated { header, body },
            _ if came > said.next_multiple_of(2) => Verdict::Overlong { header, body },
            _ => Verdict::Good { header, body },
        }
    }

    /// Header and body, if the packet is written.
    pub fn stored(&self) -> Option<(&PacketHeader, &[u8])> {
        match self {
            Verdict::Good { header, body }
            | Verdict::Truncated { header, body }
            | Verdict::Overlong { header, body } => Some((header, body)),
            Verdict::Short | Verdict::Bad => None,
        }
    }

    /// Whether the packet may begin while the one before it is still being written; any other waits until nothing is
    /// under way.
    pub fn may_follow(&self) -> bool {
        self.stored()
            .is_some_and(|(header, body)| header.kind == Kind::Dma && !header.arr && !body.is_empty())
    }

    /// The reason why it is not delivered.
    pub fn fault(&self) -> Option<Cause> {
        match self {
            Verdict::Good { .. } => None,
            Verdict::Short | Verdict::Truncated { .. } => Some(Cause::Truncated),
            Verdict::Bad => Some(Cause::BadHeader),
            Verdict::Overlong { .. } => Some(Cause::Overlong),
        }
    }
}

/// Causes in `R_STAT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Arrival,
    End,
    Overflow,
    BadHeader,
    BusError,
    Truncated,
    Overlong,
    SendError,
}

impl Cause {
    /// Its bit in `R_STAT`.
    pub fn stat_mask(self) -> u32 {
        match self {
            Cause::Arrival => R_STAT_ARRIVAL_MASK,
            Cause::End => R_STAT_END_MASK,
            Cause::Overflow => R_STAT_OVERFLOW_MASK,
            Cause::BadHeader => R_STAT_BAD_HEADER_MASK,
            Cause::BusError => R_STAT_BUS_ERROR_MASK,
            Cause::Truncated => R_STAT_TRUNCATED_MASK,
            Cause::Overlong => R_STAT_OVERLONG_MASK,
            Cause::SendError => R_STAT_SEND_ERROR_MASK,
        }
    }

    /// Its enable in `R_CTRL`.
    pub fn enable_mask(self) -> u32 {
        match self {
            Cause::Arrival => R_CTRL_IE_ARRIVAL_MASK,
            Cause::End => R_CTRL_IE_END_MASK,
            Cause::SendError => R_CTRL_IE_SEND_MASK,
            Cause::Overflow | Cause::BadHeader | Cause::BusError | Cause::Truncated | Cause::Overlong => {
                R_CTRL_IE_ERROR_MASK
            }
        }
    }

    pub const ALL: [Cause; 8] = [
        Cause::Arrival,
        Cause::End,
        Cause::Overflow,
        Cause::BadHeader,
        Cause::BusError,
        Cause::Truncated,
        Cause::Overlong,
        Cause::SendError,
    ];
}

/// The four rings a Receiver fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingId {
    MessageHeader,
    DmaHeader,
    Body0,
    Body1,
}

impl RingId {
    pub const ALL: [RingId; 4] = [RingId::MessageHeader, RingId::DmaHeader, RingId::Body0, RingId::Body1];

    /// The header ring of a kind, and the body ring of a message.
    pub fn of(kind: Kind) -> (RingId, Option<RingId>) {
        match kind {
            Kind::Msg0 => (RingId::MessageHeader, Some(RingId::Body0)),
            Kind::Msg1 => (RingId::MessageHeader, Some(RingId::Body1)),
            Kind::Dma => (RingId::DmaHeader, None),
        }
    }

    /// Offset of its four registers.
    pub fn registers(self) -> u32 {
        match self {
            RingId::MessageHeader => MHB_BASE,
            RingId::DmaHeader => DHB_BASE,
            RingId::Body0 => MBB0_BASE,
            RingId::Body1 => MBB1_BASE,
        }
    }

    pub fn entry_bytes(self) -> u32 {
        match self {
            RingId::MessageHeader | RingId::DmaHeader => PACKET_HEADER_BYTES,
            RingId::Body0 | RingId::Body1 => BODY_SLOT_BYTES,
        }
    }

    fn align(self) -> u32 {
        self.entry_bytes().min(ALIGN_BYTES)
    }
}

/// A ring in memory with room for `size` - 1 entries: the Receiver fills at `put`, the host empties at `get`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ring {
    pub base: u32,
    pub size: u32,
    pub put: u32,
    pub get: u32,
}

impl Ring {
    /// The index after `index`.
    pub fn after(&self, index: u32) -> u32 {
        if index + 1 >= self.size { 0 } else { index + 1 }
    }

    /// The entry of the next packet, when `last` is the last entry taken and not published; `None` without room.
    pub fn entry(&self, last: Option<u32>) -> Option<u32> {
        let at = last.map_or(self.put, |last| self.after(last));
        (self.size >= 2 && self.after(at) != self.get % self.size).then_some(at)
    }
}

/// The Receiver's registers, as the host sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecvRegs {
    pub rings: [Ring; 4],
    /// `R_CTRL` without the restart bit.
    pub ctrl: u32,
    /// Pending causes, in place in `R_STAT`.
    pub pending: u32,
    pub halted: bool,
    pub node: u8,
    pub drops: u16,
    /// `R_ERR`.
    pub error_word: u32,
}

impl RecvRegs {
    /// Performs a host's write; other registers are ignored. Returns true if it restarts the Receiver.
    pub fn write(&mut self, offset: u32, value: u32) -> bool {
        match offset {
            MHB_BASE..R_CTRL => {
                let id = RingId::ALL[((offset - MHB_BASE) / (DHB_BASE - MHB_BASE)) as usize];
                let ring = &mut self.rings[id as usize];
                match offset - id.registers() {
                    0 => ring.base = value & !(id.align() - 1),
                    4 => {
                        *ring = Ring {
                            base: ring.base,
                            size: value & 0x1_ffff,
                            put: 0,
                            get: 0,
                        }
                    }
                    12 => ring.get = value & 0xffff,
                    _ => {}
                }
            }
            R_CTRL => {
                let known = R_CTRL_RUN_MASK
                    | R_CTRL_HALT_ARRIVAL_MASK
                    | R_CTRL_HALT_END_MSG_MASK
                    | R_CTRL_HALT_END_DMA_MASK
                    | R_CTRL_IE_ARRIVAL_MASK
                    | R_CTRL_IE_END_MASK
                    | R_CTRL_IE_ERROR_MASK
                    | R_CTRL_IE_SEND_MASK;
                self.ctrl = value & known;
                return value & R_CTRL_RESTART_MASK != 0;
            }
            R_STAT => self.pending &= !value,
            NODE_ID => self.node = get(NODE_ID_PE_MASK, value) as u8,
            _ => {}
        }
        false
    }

    /// The value that the host reads at a ring's offset, `R_CTRL`, `R_STAT` (with a FIFO level of 0), `NODE_ID`,
    /// `R_DROP` or `R_ERR`; else `None`.
    pub fn read(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            MHB_BASE..R_CTRL => {
                let ring = self.rings[((offset - MHB_BASE) / (DHB_BASE - MHB_BASE)) as usize];
                [ring.base, ring.size, ring.put, ring.get][(offset / 4 % 4) as usize]
            }
            R_CTRL => self.ctrl,
            R_STAT => self.pending | put(R_STAT_HALTED_MASK, u32::from(self.halted)),
            NODE_ID => u32::from(self.node),
            R_DROP => u32::from(self.drops),
            R_ERR => self.error_word,
            _ => return None,
        })
    }

    pub fn raise(&mut self, cause: Cause) {
        self.pending |= cause.stat_mask();
    }

    /// The interrupt line.
    pub fn irq(&self) -> bool {
        Cause::ALL
            .into_iter()
            .any(|c| self.pending & c.stat_mask() != 0 && self.ctrl & c.enable_mask() != 0)
    }

    /// Whether the end of a packet of this kind halts.
    pub fn halts_at_end(&self, kind: Kind) -> bool {
        let mask = if kind == Kind::Dma {
            R_CTRL_HALT_END_DMA_MASK
        } else {
            R_CTRL_HALT_END_MSG_MASK
        };
        self.ctrl & mask != 0
    }

    /// Whether the Receiver may halt for a packet with this header; then no other packet begins before it is complete.
    pub fn may_halt(&self, header: &PacketHeader) -> bool {
        let at_arrival = header.arr && self.ctrl & R_CTRL_HALT_ARRIVAL_MASK != 0;
        at_arrival || (header.end && self.halts_at_end(header.kind))
    }

    /// The header ring's entry for the next packet of this kind, or for the one after that if `behind`; `None` if one
    /// of its rings is full.
    pub fn header_entry(&self, kind: Kind, behind: bool) -> Option<u32> {
        let (head, body) = RingId::of(kind);
        let ring = self.rings[head as usize];
        let room = body.is_none_or(|id| self.rings[id as usize].entry(None).is_some());
        ring.entry(behind.then_some(ring.put)).filter(|_| room)
    }

    /// Address of an entry of a ring.
    pub fn entry_at(&self, id: RingId, index: u32) -> Addr {
        Addr(self.rings[id as usize].base).offset(index * id.entry_bytes())
    }

    /// Counts a packet that is not delivered; `word0` is word 0 of its header, if that arrived.
    pub fn drop_packet(&mut self, word0: Option<u32>) {
        self.drops = self.drops.saturating_add(1);
        if let Some(word0) = word0 {
            self.error_word = word0;
        }
    }
}

/// Word 0 of a packet's header, as far as it arrived.
pub fn header_word0(flits: &[u16]) -> Option<u32> {
    let bytes = to_bytes(flits.get(1..3)?);
    Some(word(&bytes, 0))
}
