//! The specification: what memories, rings and reports may show at the end of a run.

use std::collections::BTreeMap;
use std::ops::Range;

use super::software::{LOSSES, Queued, Seen, Taken};
use super::{DMA_HEADERS, MEMORY, MSG_BODIES, MSG_HEADERS, Play, QUEUES, Rings, SOURCE};
use crate::campaign::memory::Allowed;
use crate::campaign::{Broken, Clause};
use crate::cenju3::golden::packet::{
    HEAD_FLITS, Kind, PacketHeader, PacketPlan, Status, body_flits, get, header_bytes, split, to_bytes,
};
use crate::cenju3::regs::*;
use crate::harness::faults::{Fault, Injection};
use crate::{Addr, Picos};

impl Play<'_> {
    /// Whether a memory failed somewhere in these bytes of a node, at any time.
    fn failed(&self, node: usize, bytes: Range<u32>) -> bool {
        self.case.faults.iter().any(|injection| match injection.fault {
            Fault::MemoryFails { from, bytes: count, .. } => {
                injection.node.index() == node && from.0 < bytes.end && bytes.start < from.0 + count
            }
            _ => false,
        })
    }

    /// Checks everything. The parcels of `certain`, by node numbers in queue 1, must have come whole. Gives the number
    /// of lost packets.
    pub(super) fn judge(&self, certain: &[Range<usize>]) -> Result<u64, Broken> {
        let mut sent = Sent::default();
        for node in 0..self.software.len() {
            self.judge_sender(node, &mut sent)?;
        }
        for node in 0..self.software.len() {
            self.judge_order(node, &mut sent)?;
        }
        let mut lost = 0;
        for node in 0..self.software.len() {
            lost += self.judge_losses(node, &sent, certain)?;
            self.judge_memory(node, &sent)?;
        }
        Ok(lost)
    }

    /// Each parcel was sent, or refused as it must be.
    fn judge_sender(&self, node: usize, sent: &mut Sent) -> Result<(), Broken> {
        let software = &self.software[node];
        let seen = software.seen.borrow();
        let key = |&(life, queue, index, status): &(u32, usize, u8, u32)| ((life, queue, index), status);
        let refused: BTreeMap<(u32, usize, u8), u32> = seen.refused.iter().map(key).collect();
        if refused.len() != seen.refused.len() {
            let what = format!("PE {node}: a parcel was refused twice: {:?}", seen.refused);
            return Err(Broken::new(Clause::Report, what));
        }
        if let Some(offset) = seen.poked.first() {
            let what = format!("PE {node}: an access of offset {offset:#x}, where no register is, was not refused");
            return Err(Broken::new(Clause::Report, what));
        }
        if let Some(causes) = seen.silent {
            let what = format!("PE {node}: a packet was published without its causes {causes:#x} in R_STAT");
            return Err(Broken::new(Clause::Order, what));
        }
        if let Some(ring) = seen.unhalted {
            let what = format!("PE {node}: ring {ring}: the Receiver goes on behind a packet at which it halts");
            return Err(Broken::new(Clause::Order, what));
        }
        for (queue, parcels) in seen.queued.iter().enumerate() {
            for (
                number,
                Queued {
                    index,
                    life,
                    at,
                    parcel,
                    ..
                },
            ) in parcels.iter().enumerate()
            {
                let header = QUEUES[queue] + number as u32 * PARCEL_HEADER_BYTES;
                let status = refused
                    .get(&(*life, queue, *index))
                    .map(|&code| Status::from_code(code));
                let header_failed = self.failed(node, header..header + PARCEL_HEADER_BYTES);
                // A reset forgets what was queued before.
                let forgotten = *life < software.life.get();
                let is_right = match (parcel, status) {
                    (Ok(_), None) => true,
                    (Err(_), None) => forgotten,
                    (Err(expected), Some(Some(status))) if status == *expected => true,
                    (_, Some(Some(Status::HeaderBusError))) => header_failed,
                    (Ok(parcel), Some(Some(Status::BodyBusError))) => {
                        let body = parcel.body.0..parcel.body.0.saturating_add(parcel.bytes);
                        body.end > MEMORY || self.failed(node, body)
                    }
                    _ => false,
                };
                if !is_right {
                    let what = format!(
                        "PE {node}, queue {queue}, parcel {number}: {parcel:?} by specification, {status:?} reported"
                    );
                    return Err(Broken::new(Clause::Report, what));
                }
                let Ok(parcel) = parcel else { continue };
                if status.is_none_or(|status| status == Some(Status::BodyBusError)) {
                    for plan in split(*parcel, node as u8, queue as u8, *index) {
                        sent.packets.push(Packet {
                            plan,
                            number,
                            at: *at,
                            abandoned: forgotten || status.is_some(),
                            cut: forgotten,
                            taken: false,
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// What was published is what was sent, in its order, each once.
    fn judge_order(&self, node: usize, sent: &mut Sent) -> Result<(), Broken> {
        let seen = self.software[node].seen.borrow();
        for (ring, taken) in seen.taken.iter().enumerate() {
            let mut last: BTreeMap<(u8, u8), usize> = BTreeMap::new();
            for Taken { header, body } in taken {
                let found = sent
                    .packets
                    .iter()
                    .position(|packet| packet.plan.header.encode() == *header);
                let Some(number) = found else {
                    let what = format!("PE {node}: ring {ring} has {header:02x?}, which nobody sent");
                    return Err(Broken::new(Clause::Memory, what));
                };
                let packet = &mut sent.packets[number];
                let PacketHeader {
                    src,
                    queue,
                    kind,
                    bytes,
                    ..
                } = packet.plan.header;
                if usize::from(packet.plan.route.dst) != node || (kind == Kind::Dma) != (ring == 1) {
                    let what = format!("PE {node}: ring {ring} has {header:02x?}, which is for another");
                    return Err(Broken::new(Clause::Memory, what));
                }
                if packet.taken {
                    return Err(Broken::new(
                        Clause::Order,
                        format!("PE {node}: {header:02x?} came twice"),
                    ));
                }
                packet.taken = true;
                let from = packet.plan.body.0 as usize;
                let data = &self.before[usize::from(src)][from..from + bytes as usize];
                // A reset may cut the last flit.
                let whole = 2 * (body_flits(bytes) - 1);
                let cut =
                    packet.cut && data[..whole] == body[..whole] && body[whole..].iter().all(|&byte| byte == 0xff);
                match kind {
                    _ if data == body || cut => {}
                    Kind::Msg0 | Kind::Msg1 => {
                        let what = format!("PE {node}: the message {header:02x?} has another body than was sent");
                        return Err(Broken::new(Clause::Memory, what));
                    }
                    Kind::Dma => {
                        // A later packet may have come over it.
                        let later = |at: u32, byte: u8| self.may_write(&sent.packets, node, at, byte);
                        let bytes = (sent.packets[number].plan.header.dest..).zip(body.iter().zip(data));
                        let mut strange = bytes.filter(|(at, (is, due))| is != due && !later(*at, **is));
                        if let Some((at, (is, due))) = strange.next() {
                            let what = format!(
                                "PE {node}: when {header:02x?} was published, {at:#x} held {is:#x}, and not {due:#x}"
                            );
                            return Err(Broken::new(Clause::Order, what));
                        }
                    }
                }
                let before = last.insert((src, queue), number);
                if before.is_some_and(|before| before > number) {
                    let what = format!("PE {node}: {header:02x?} came behind a later packet of its queue");
                    return Err(Broken::new(Clause::Order, what));
                }
            }
        }
        Ok(())
    }

    /// Whether some DMA packet to the node brings this byte to this address.
    fn may_write(&self, packets: &[Packet], node: usize, at: u32, byte: u8) -> bool {
        let sent = packets.iter().any(|packet| {
            let PacketHeader {
                kind, src, bytes, dest, ..
            } = packet.plan.header;
            let here = kind == Kind::Dma && usize::from(packet.plan.route.dst) == node;
            let data = || self.before[usize::from(src)][(packet.plan.body.0 + at - dest) as usize];
            here && (dest..dest + bytes).contains(&at) && (data() == byte || packet.cut && byte == 0xff)
        });
        let forged = |packet: Forged| {
            let body = packet.body().find(|(address, _)| *address == at);
            packet.to == node && body.is_some_and(|(_, value)| value == byte)
        };
        sent || self.forged().any(forged)
    }

    /// What did not come was lost for a reason, counted and reported.
    fn judge_losses(&self, node: usize, sent: &Sent, certain: &[Range<usize>]) -> Result<u64, Broken> {
        let seen = self.software[node].seen.borrow();
        let here = || {
            sent.packets
                .iter()
                .filter(|packet| usize::from(packet.plan.route.dst) == node)
        };
        // A reset of this NIC forgets what came before it.
        let software = &self.software[node];
        let was_reset = software.life.get() > 0;
        let forgotten = |packet: &&Packet| packet.abandoned || was_reset && packet.at < software.up_since.get();
        let missing: Vec<&Packet> = here().filter(|packet| !packet.taken && !forgotten(packet)).collect();
        let abandoned = here().filter(|packet| !packet.taken && forgotten(packet)).count() as u32;
        let forged = self.forged().filter(|packet| packet.to == node).count() as u32;
        let ranges = [
            MSG_HEADERS..DMA_HEADERS,
            DMA_HEADERS..0x6000,
            MSG_BODIES[0]..SOURCE.start,
        ];
        let rings_failed = ranges.into_iter().any(|range| self.failed(node, range));
        for packet in &missing {
            let PacketHeader {
                src,
                queue,
                kind,
                bytes,
                dest,
                ..
            } = packet.plan.header;
            let dest_failed = kind == Kind::Dma && self.failed(node, dest..dest + bytes.next_multiple_of(8));
            let must_come = certain
                .get(usize::from(src))
                .is_some_and(|numbers| queue == 1 && numbers.contains(&packet.number));
            if must_come || !(rings_failed || dest_failed) {
                let what = format!(
                    "PE {node}: {:02x?} did not come, and no memory failed",
                    packet.plan.header
                );
                return Err(Broken::new(Clause::Loss, what));
            }
        }
        let lost = missing.len() as u32;
        let least = if was_reset { 0 } else { lost + forged };
        if !(least..=lost + forged + abandoned).contains(&seen.drops) {
            let what = format!(
                "PE {node}: {lost} packets lost, {forged} malformed, {abandoned} abandoned, {} counted",
                seen.drops
            );
            return Err(Broken::new(Clause::Report, what));
        }
        if (seen.causes & LOSSES != 0) != (seen.drops != 0) && !was_reset {
            let what = format!(
                "PE {node}: {} packets counted as lost, causes {:#x}",
                seen.drops, seen.causes
            );
            return Err(Broken::new(Clause::Report, what));
        }
        Ok(u64::from(seen.drops))
    }

    /// The packets that neighbours forge.
    fn forged(&self) -> impl Iterator<Item = Forged> {
        let of = |injection: &Injection| match &injection.fault {
            Fault::Packet(words) => {
                let flits: Vec<u16> = words.iter().map(|&word| word as u16).collect();
                Some(Forged {
                    to: get(ROUTE_DST_MASK, flits[0].into()) as usize,
                    flits,
                })
            }
            _ => None,
        };
        self.case.faults.iter().filter_map(of)
    }

    /// No byte has changed but those that may.
    fn judge_memory(&self, node: usize, sent: &Sent) -> Result<(), Broken> {
        let software = &self.software[node];
        let now = software.host.read(Addr(0), MEMORY);
        let before = &self.before[node];
        let mut may = Allowed::default();
        let taken = software.seen.borrow();
        self.may_hold_headers(node, &taken, &mut may);
        // DMA packets in the order of their ring, and then those that did not come, of which any byte may be there.
        let published = taken.taken[1].iter().filter_map(|taken| {
            sent.packets
                .iter()
                .find(|packet| packet.plan.header.encode() == taken.header)
        });
        let is_dma_here = |packet: &&Packet| {
            !packet.taken && packet.plan.header.kind == Kind::Dma && usize::from(packet.plan.route.dst) == node
        };
        let unpublished = sent.packets.iter().filter(is_dma_here);
        for (packet, certain) in published.map(|p| (p, true)).chain(unpublished.map(|p| (p, false))) {
            let PacketHeader { src, bytes, dest, .. } = packet.plan.header;
            let from = packet.plan.body.0 as usize;
            for (at, &byte) in (dest..).zip(&self.before[usize::from(src)][from..from + bytes as usize]) {
                let values = [Some(byte), packet.cut.then_some(0xff)].into_iter().flatten();
                if certain {
                    may.only(at, values);
                } else {
                    may.or(at, before[at as usize], values);
                }
            }
        }
        for packet in self.forged().filter(|packet| packet.to == node) {
            for (at, byte) in packet.body() {
                may.or(at, before[at as usize], [byte]);
            }
        }
        may.judge(&format!("PE {node}"), &now, before, |at| self.is_own(at))
    }

    /// What may stand where parcel headers were queued: the status of a refused one, unless memory failed there.
    /// Elsewhere stands what software wrote.
    fn may_hold_headers(&self, node: usize, seen: &Seen, may: &mut Allowed) {
        for (queue, parcels) in seen.queued.iter().enumerate() {
            for (number, queued) in parcels.iter().enumerate() {
                let from = QUEUES[queue] + number as u32 * PARCEL_HEADER_BYTES;
                let key = (queued.life, queue, queued.index);
                let refused = seen
                    .refused
                    .iter()
                    .find(|(life, queue, index, _)| (*life, *queue, *index) == key);
                let mut expected = queued.bytes;
                if let Some((.., code)) = refused {
                    expected[PARCEL_STATUS as usize..][..4].copy_from_slice(&code.to_le_bytes());
                }
                // A reset may have come between the status word and software.
                let forgotten = queued.life < self.software[node].life.get();
                let uncertain = forgotten || self.failed(node, from..from + PARCEL_HEADER_BYTES);
                for (at, (byte, written)) in (from..).zip(expected.into_iter().zip(queued.bytes)) {
                    let mut values = vec![byte];
                    if uncertain && (at - from) / 4 == PARCEL_STATUS / 4 {
                        values.extend([written, 0]);
                        values.extend(Status::ALL.map(|status| status.code() as u8));
                    }
                    may.only(at, values);
                }
            }
        }
    }

    /// Memory that software and NIC use together: rings and slots.
    fn is_own(&self, at: u32) -> bool {
        let Rings { headers, bodies } = self.software[0].rings;
        let within = |base: u32, bytes: u32| (base..base + bytes).contains(&at);
        within(MSG_HEADERS, headers[0] * PACKET_HEADER_BYTES)
            || within(DMA_HEADERS, headers[1] * PACKET_HEADER_BYTES)
            || (0..2).any(|i| within(MSG_BODIES[i], bodies[i] * BODY_SLOT_BYTES))
    }
}

/// A packet that was sent, perhaps.
struct Packet {
    plan: PacketPlan,
    /// Of its parcel, in its queue.
    number: usize,
    /// When its parcel was queued.
    at: Picos,
    /// Of a parcel that the Sender gave up.
    abandoned: bool,
    /// By a reset, perhaps: its last flit may be another.
    cut: bool,
    taken: bool,
}

/// A packet of nobody.
struct Forged {
    to: usize,
    flits: Vec<u16>,
}

impl Forged {
    /// The bytes that it may leave in memory, by address.
    fn body(&self) -> impl Iterator<Item = (u32, u8)> {
        let header = header_bytes(&self.flits).map(|bytes| PacketHeader::decode(&bytes));
        let place = match header {
            Some(Ok(PacketHeader {
                kind: Kind::Dma,
                bytes,
                dest,
                ..
            })) => dest..dest + bytes,
            _ => 0..0,
        };
        let body = self.flits.get(HEAD_FLITS..).unwrap_or_default();
        place.zip(to_bytes(body))
    }
}

/// All packets, of each queue in order.
#[derive(Default)]
struct Sent {
    packets: Vec<Packet>,
}
