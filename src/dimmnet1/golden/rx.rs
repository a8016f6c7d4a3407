//! Golden model of `dimmnet1_rx`: receiver.

use super::tlb::{Access, Found, Lookup, Tlb};
use crate::dimmnet1::regs;

/// Where data go: memory, and LLCM from [`LLCM`](super::tlb::LLCM) on.
pub trait Bus {
    /// At most 8 bytes of one word; false: a bus error.
    fn write(&mut self, addr: u32, bytes: &[u8]) -> bool;
}

/// Levels at the receiver's inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    pub node: u16,
    pub cpu_runs: bool,
    /// There is a matcher.
    pub matches: bool,
    /// The answer queue has room.
    pub room: bool,
}

/// Why a packet waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The matcher looks at it.
    Match,
    /// A code of Stops.
    Stop(u32),
}

/// A packet that waits for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    pub cause: Cause,
    /// The key that missed, else 0.
    pub key: u64,
    /// A part of the packet is done, by whom it waits for.
    pub more: bool,
    pub header: [u64; 6],
}

/// How a stop ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    Continue,
    Drop,
    /// A code of Reasons.
    Nack(u32),
    /// A physical address.
    Dma(u32),
    /// So many bytes of the data.
    Part(u16),
    /// The matcher leaves the packet to the processor.
    Pass,
}

/// What the slots are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    pub tag: u16,
    pub src: u16,
    pub nack: bool,
    pub reason: u32,
    pub seq: u32,
}

/// What the receiver does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet for the answer queue.
    Answer(Vec<u64>),
    Told(Told),
    Outcome(u32),
    /// Data in the lanes of a word of LLCM.
    Otf {
        addr: u16,
        data: u64,
        strobes: u8,
    },
    /// Bytes sent to memory or LLCM, whatever the bus says.
    Wrote {
        addr: u32,
        bytes: Vec<u8>,
    },
    /// A transfer of [`Go::Dma`] ended so.
    Done(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Push,
    Pull,
    Reply,
    Ack,
    Nack,
    Otf,
    Trap,
    Unknown,
}

impl Kind {
    fn of(code: u64) -> Kind {
        match code as u32 {
            regs::TYPE_PUSH => Kind::Push,
            regs::TYPE_PULL => Kind::Pull,
            regs::TYPE_PULL_REPLY => Kind::Reply,
            regs::TYPE_ACK => Kind::Ack,
            regs::TYPE_NACK => Kind::Nack,
            regs::TYPE_OTF => Kind::Otf,
            regs::TYPE_INDIRECT.. => Kind::Trap,
            _ => Kind::Unknown,
        }
    }

    fn is_answer(self) -> bool {
        matches!(self, Kind::Ack | Kind::Nack)
    }
}

/// A packet under way.
#[derive(Clone, Debug)]
struct Packet {
    header: [u64; 6],
    kind: Kind,
    /// The data words that came, but those of parts that are done.
    data: Vec<u64>,
    /// Bytes of the part under way.
    part: Option<u64>,
    /// The matcher, or else the processor, began the last part.
    by_matcher: bool,
    /// Why the first part that failed did.
    failed: u32,
}

fn field(word: u64, mask: u64) -> u64 {
    (word & mask) >> mask.trailing_zeros()
}

impl Packet {
    fn flag(&self, mask: u64) -> bool {
        self.header[0] & mask != 0
    }

    fn is_short(&self) -> bool {
        self.flag(regs::HDR_W0_OTF_MASK)
    }

    fn length(&self) -> u64 {
        field(self.header[0], regs::HDR_W0_LENGTH_MASK)
    }

    fn src(&self) -> u16 {
        field(self.header[0], regs::HDR_W0_SRC_MASK) as u16
    }

    fn tag(&self) -> u16 {
        field(self.header[1], regs::HDR_W1_TAG_MASK) as u16
    }

    fn seq(&self) -> u32 {
        field(self.header[1], regs::HDR_W1_SEQ_MASK) as u32
    }

    fn offset(&self) -> u64 {
        field(self.header[2], regs::HDR_W2_OFFSET_MASK)
    }

    fn lane(&self) -> u64 {
        self.offset() % 8
    }

    fn asks(&self) -> bool {
        let may = !(self.kind.is_answer() || self.kind == Kind::Reply || self.flag(regs::HDR_W0_MULTICAST_MASK));
        may && (self.kind == Kind::Pull || self.flag(regs::HDR_W0_ACK_REQ_MASK))
    }

    fn is_numbered(&self) -> bool {
        self.flag(regs::HDR_W0_F_SEQ_MASK) && !self.kind.is_answer()
    }

    /// LENGTH is one that a packet of this length may have, 0 left aside.
    fn fits(&self) -> bool {
        self.length()
            <= if self.is_short() {
                8
            } else {
                u64::from(regs::SIZE_PACKET)
            }
    }

    /// The header says nothing that its type cannot mean.
    fn is_formed(&self) -> bool {
        let (length, aligned) = (self.length(), self.lane() == 0);
        match self.kind {
            Kind::Ack | Kind::Nack => self.is_short() && length == 0,
            Kind::Otf => self.is_short() && (1..=8).contains(&length) && self.lane() + length <= 8,
            Kind::Pull => self.is_short() && (1..=u64::from(regs::SIZE_PACKET)).contains(&length) && aligned,
            Kind::Trap if self.is_short() => self.fits() && aligned,
            _ => self.fits() && length > 0 && aligned,
        }
    }

    /// How the packet ends, if its rest ends so.
    fn ends(&self, reason: u32) -> u32 {
        if self.failed == regs::REASON_NONE {
            reason
        } else {
            self.failed
        }
    }

    fn lookup(&self) -> Lookup {
        Lookup {
            pgid: field(self.header[1], regs::HDR_W1_PGID_MASK) as u16,
            region: field(self.header[2], regs::HDR_W2_REGION_MASK) as u16,
            offset: self.offset(),
            bytes: self.part.unwrap_or(self.length()) as u16,
            access: if self.kind == Kind::Otf {
                Access::Otf
            } else {
                Access::Write
            },
        }
    }
}

/// The receiver, packet by packet.
#[derive(Clone, Debug)]
pub struct Receiver {
    expected: [u32; 64],
    /// The packet that waits, and why.
    stopped: Option<(Packet, Cause)>,
    events: Vec<Event>,
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver {
            expected: [0; 64],
            stopped: None,
            events: Vec::new(),
        }
    }
}

impl Receiver {
    /// The number that the next packet of this node with F_SEQ must have.
    pub fn expected(&self, src: u16) -> u32 {
        self.expected.get(usize::from(src)).copied().unwrap_or(0)
    }

    /// What was done since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// A packet comes in while none waits.
    pub fn receive(&mut self, words: &[u64], levels: Levels, tlb: &Tlb, bus: &mut dyn Bus) -> Option<Stop> {
        assert!(self.stopped.is_none(), "a packet waits");
        if words.len() < 3 {
            self.events.push(Event::Outcome(regs::REASON_LENGTH));
            return None;
        }
        let is_short = words[0] & regs::HDR_W0_OTF_MASK != 0;
        let head = words.len().min(if is_short { 3 } else { 6 });
        let mut packet = Packet {
            header: [0; 6],
            kind: Kind::of(field(words[0], regs::HDR_W0_TYPE_MASK)),
            data: words[head..].to_vec(),
            part: None,
            by_matcher: false,
            failed: regs::REASON_NONE,
        };
        packet.header[..head].copy_from_slice(&words[..head]);
        let well_counted = if is_short {
            words.len() == if packet.length() == 0 { 3 } else { 4 }
        } else {
            words.len() > 6
        };
        if is_short {
            packet.header[3] = packet.data.first().copied().unwrap_or(0);
        }
        // A PULL takes a place in the queue even if nobody waits for its answer.
        let (queues, seq) = (packet.asks() || packet.kind == Kind::Pull, packet.seq());
        let expected = self.expected(packet.src());
        let reason = if queues && !levels.room {
            self.events.push(Event::Outcome(regs::REASON_CREDIT));
            return None;
        } else if packet.kind == Kind::Unknown {
            regs::REASON_TYPE
        } else if !well_counted || !packet.is_formed() {
            regs::REASON_LENGTH
        } else if packet.is_numbered() && (seq != expected || packet.src() >= 64) {
            return self.out_of_order(&packet, levels);
        } else {
            regs::REASON_NONE
        };
        if reason != regs::REASON_NONE {
            self.finish(&packet, reason, levels);
            return None;
        }
        self.execute(packet, levels, tlb, bus)
    }

    /// The packet's number is not the expected one.
    fn out_of_order(&mut self, packet: &Packet, levels: Levels) -> Option<Stop> {
        let expected = self.expected(packet.src());
        let behind = expected.wrapping_sub(packet.seq());
        if packet.src() < 64 && (1..1 << 31).contains(&behind) {
            if packet.asks() {
                self.answer(packet, regs::REASON_NONE, packet.seq(), levels);
            }
            self.close(packet, regs::REASON_SEQUENCE, packet.seq());
        } else {
            if packet.asks() {
                self.answer(packet, regs::REASON_SEQUENCE, expected, levels);
            }
            self.close(packet, regs::REASON_SEQUENCE, expected);
        }
        None
    }

    /// What the packet asks for is done, or it stops.
    fn execute(&mut self, mut packet: Packet, levels: Levels, tlb: &Tlb, bus: &mut dyn Bus) -> Option<Stop> {
        let reason = match packet.kind {
            Kind::Ack | Kind::Nack => {
                let status = packet.header[2];
                self.events.push(Event::Told(Told {
                    tag: packet.tag(),
                    src: packet.src(),
                    nack: packet.kind == Kind::Nack,
                    reason: if packet.kind == Kind::Nack {
                        field(status, regs::ANSWER_REASON_MASK) as u32
                    } else {
                        0
                    },
                    seq: field(status, regs::ANSWER_SEQ_MASK) as u32,
                }));
                return None;
            }
            Kind::Pull => {
                self.events.push(Event::Answer(packet.header[..4].to_vec()));
                self.count(&packet);
                return None;
            }
            Kind::Trap if levels.matches => return self.stop(packet, Cause::Match, 0),
            Kind::Trap if levels.cpu_runs => return self.stop(packet, Cause::Stop(regs::STOP_TYPE), 0),
            Kind::Trap => regs::REASON_UNSERVED,
            Kind::Push | Kind::Reply | Kind::Otf => match tlb.look(&packet.lookup()) {
                Found::At(addr) if packet.kind == Kind::Otf => self.write_otf(&packet, addr),
                Found::At(addr) if packet.part.is_some() => {
                    self.write_part(&mut packet, addr, bus);
                    let cause = if packet.by_matcher {
                        Cause::Match
                    } else {
                        Cause::Stop(regs::STOP_TYPE)
                    };
                    return self.stop(packet, cause, 0);
                }
                Found::At(addr) => self.write(&packet.data, packet.length(), addr, bus),
                Found::Refused(reason) => reason,
                Found::NoRegion(_) | Found::NoPage(_) if !levels.cpu_runs => regs::REASON_UNSERVED,
                Found::NoRegion(key) => return self.stop(packet, Cause::Stop(regs::STOP_RVATLB), key),
                Found::NoPage(key) => return self.stop(packet, Cause::Stop(regs::STOP_PATLB), key),
            },
            Kind::Unknown => regs::REASON_TYPE,
        };
        self.finish(&packet, reason, levels);
        None
    }

    fn write_otf(&mut self, packet: &Packet, addr: u32) -> u32 {
        let (lane, length) = (packet.lane(), packet.length());
        self.events.push(Event::Otf {
            addr: (addr % regs::SIZE_LLCM) as u16,
            data: packet.header[3] << (8 * lane),
            strobes: (((1u16 << length) - 1) << lane) as u8,
        });
        regs::REASON_NONE
    }

    /// The next words of the data, and LENGTH is less.
    fn write_part(&mut self, packet: &mut Packet, addr: u32, bus: &mut dyn Bus) {
        let bytes = packet.part.take().expect("a part");
        let rest = packet.data.split_off(packet.data.len().min(bytes as usize / 8));
        let part = std::mem::replace(&mut packet.data, rest);
        let reason = self.write(&part, bytes, addr, bus);
        if packet.failed == regs::REASON_NONE {
            packet.failed = reason;
        }
        packet.header[0] -= bytes << regs::HDR_W0_LENGTH_SHIFT;
    }

    fn write(&mut self, data: &[u64], length: u64, addr: u32, bus: &mut dyn Bus) -> u32 {
        let length = length as usize;
        let came = data.len();
        let mut bytes: Vec<u8> = data.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(length);
        let mut reason = if came == length.div_ceil(8) {
            regs::REASON_NONE
        } else {
            regs::REASON_LENGTH
        };
        for (i, word) in bytes.chunks(8).enumerate() {
            if !bus.write(addr + 8 * i as u32, word) {
                reason = regs::REASON_BUS;
            }
        }
        self.events.push(Event::Wrote { addr, bytes });
        reason
    }

    fn stop(&mut self, packet: Packet, cause: Cause, key: u64) -> Option<Stop> {
        let header = packet.header;
        let more = packet.kind != Kind::Trap
            && match cause {
                Cause::Match => true,
                Cause::Stop(cause) => cause == regs::STOP_TYPE && !packet.by_matcher,
            };
        self.stopped = Some((packet, cause));
        Some(Stop {
            cause,
            key,
            more,
            header,
        })
    }

    /// Changes halves of a header word of the packet that waits.
    pub fn write_header(&mut self, index: usize, halves: [bool; 2], data: u64) {
        let (packet, _) = self.stopped.as_mut().expect("a packet waits");
        for (half, mask) in halves.into_iter().zip([u64::from(u32::MAX), u64::from(u32::MAX) << 32]) {
            if half {
                packet.header[index] = packet.header[index] & !mask | data & mask;
            }
        }
    }

    /// Ends the stop, or leads to the next one.
    pub fn go(&mut self, go: Go, levels: Levels, tlb: &Tlb, bus: &mut dyn Bus) -> Option<Stop> {
        let (mut packet, cause) = self.stopped.take().expect("a packet waits");
        if packet.part.is_none() {
            packet.by_matcher = cause == Cause::Match;
        }
        match go {
            Go::Continue => return self.resume(packet, levels, tlb, bus),
            Go::Part(bytes) => {
                packet.part = Some(u64::from(bytes)).filter(|bytes| *bytes < packet.length());
                return self.resume(packet, levels, tlb, bus);
            }
            Go::Drop => self.count(&packet),
            Go::Nack(regs::REASON_NONE) => self.finish(&packet, regs::REASON_FIRMWARE, levels),
            Go::Nack(reason) => self.finish(&packet, reason, levels),
            Go::Dma(addr) => {
                // The data word of OTF goes to LLCM only.
                let has_data = !packet.data.is_empty() && packet.kind != Kind::Otf;
                let wraps = u64::from(addr) + packet.length() > 1 << 32;
                let good = packet.fits() && packet.length() > 0 && has_data && addr.is_multiple_of(8) && !wraps;
                let reason = if good {
                    self.write(&packet.data, packet.length(), addr, bus)
                } else {
                    regs::REASON_LENGTH
                };
                let reason = packet.ends(reason);
                self.events.push(Event::Done(reason));
                if reason == regs::REASON_NONE {
                    self.count(&packet);
                } else {
                    self.events.push(Event::Outcome(reason));
                }
            }
            Go::Pass if levels.cpu_runs => return self.stop(packet, Cause::Stop(regs::STOP_TYPE), 0),
            Go::Pass => self.finish(&packet, regs::REASON_UNSERVED, levels),
        }
        None
    }

    /// The packet is looked at anew, as a PUSH if it was of no type.
    fn resume(&mut self, mut packet: Packet, levels: Levels, tlb: &Tlb, bus: &mut dyn Bus) -> Option<Stop> {
        if packet.kind == Kind::Trap {
            packet.kind = Kind::Push;
        }
        let fits = |bytes: u64| (1..packet.length()).contains(&bytes) && bytes.is_multiple_of(8);
        let part_fits = packet.part.is_none_or(fits);
        if packet.is_formed() && part_fits && !packet.data.is_empty() {
            return self.execute(packet, levels, tlb, bus);
        }
        self.finish(&packet, regs::REASON_LENGTH, levels);
        None
    }

    /// The packet is accepted.
    fn count(&mut self, packet: &Packet) {
        self.events.push(Event::Outcome(packet.failed));
        if packet.failed != regs::REASON_NONE {
            return;
        }
        if packet.is_numbered()
            && let Some(expected) = self.expected.get_mut(usize::from(packet.src()))
        {
            *expected = packet.seq().wrapping_add(1);
        }
    }

    /// The packet is done or refused, and whoever waits for it is told.
    fn finish(&mut self, packet: &Packet, reason: u32, levels: Levels) {
        let reason = packet.ends(reason);
        if packet.asks() {
            self.answer(packet, reason, packet.seq(), levels);
        }
        self.close(packet, reason, packet.seq());
    }

    fn close(&mut self, packet: &Packet, reason: u32, seq: u32) {
        if packet.kind == Kind::Reply {
            self.events.push(Event::Told(Told {
                tag: packet.tag(),
                src: packet.src(),
                nack: reason != regs::REASON_NONE,
                reason,
                seq,
            }));
        }
        if reason == regs::REASON_NONE {
            self.count(packet);
        } else {
            self.events.push(Event::Outcome(reason));
        }
    }

    fn answer(&mut self, packet: &Packet, reason: u32, seq: u32, levels: Levels) {
        let code = if reason == regs::REASON_NONE {
            regs::TYPE_ACK
        } else {
            regs::TYPE_NACK
        };
        self.events.push(Event::Answer(vec![
            u64::from(code)
                | regs::HDR_W0_OTF_MASK
                | u64::from(levels.node) << regs::HDR_W0_SRC_SHIFT
                | u64::from(packet.src()) << regs::HDR_W0_DST_SHIFT,
            packet.header[1] & (regs::HDR_W1_PGID_MASK | regs::HDR_W1_TAG_MASK),
            u64::from(reason) << regs::ANSWER_REASON_SHIFT | u64::from(seq) << regs::ANSWER_SEQ_SHIFT,
        ]));
    }
}
