//! The Receiver of a PE: from the FIFO to memory, with rings, interrupts and halts.

use std::collections::VecDeque;
use std::rc::Rc;

use super::bus::Writer;
use super::{Due, Flight, ModelMachine};
use crate::Addr;
use crate::cenju3::golden::packet::{HEAD_FLITS, Kind, PacketHeader, header_bytes, to_bytes};
use crate::cenju3::golden::receiver_state::{Cause, RecvRegs, RingId, Verdict, header_word0};
use crate::cenju3::regs::*;

/// IO cycles from the network clock to the IO clock.
pub(super) const CROSSING_CYCLES: u64 = 7;
/// IO cycles from a packet's header in the Receiver to its write command.
const PARSE_CYCLES: u64 = 8;
/// IO cycles from the end of a failed packet to the command that writes the header of the next packet again.
const AGAIN_CYCLES: u64 = 8;
/// Bursts that may wait for the bus; the rest of the body stays in the FIFO.
const WAITING_BURSTS: usize = 2;

/// The packet whose body the Receiver is taking.
struct Current {
    packet: Rc<Flight>,
    body_at: Addr,
    /// Body bytes to store: those that arrived, at most the number in the header.
    bytes: u32,
    /// Body bytes taken from the FIFO, and the number of them whose writes are commanded.
    taken: u32,
    commanded: u32,
}

/// A packet that is begun and not complete.
struct Open {
    packet: Rc<Flight>,
    header: PacketHeader,
    /// The entry of the header ring that its header was last written to.
    entry: u32,
    unanswered: u32,
    all_commanded: bool,
    arrival_due: bool,
    fault: Option<Cause>,
    bus_error: bool,
}

#[derive(Default)]
pub(super) struct Receiver {
    current: Option<Current>,
    open: VecDeque<Open>,
    /// Packets that left `open`.
    closed: u64,
    /// The Receiver discards the rest of a dropped packet.
    draining: bool,
}

impl Receiver {
    /// The work in progress; `None` if idle.
    pub fn state(&self, regs: &RecvRegs) -> Option<String> {
        let what = match (regs.halted, self.open.len()) {
            (true, open) => format!("halted with {open} packets open, causes {:#x} pending", regs.pending),
            (false, 0) => return None,
            (false, open) => format!("busy with {open} packets"),
        };
        Some(what)
    }
}

impl ModelMachine {
    /// Runs the Receiver as far as possible.
    pub(super) fn receiver(&mut self, node: usize) {
        while let Some(chunk) = self.network.fifos[node].chunks.front()
            && chunk.ready <= self.now
        {
            let went_on = if self.nodes[node].receiver.draining {
                self.nodes[node].receiver.draining = !self.fifo_taken(node).last;
                true
            } else if self.nodes[node].receiver.current.is_some() {
                self.take_body(node)
            } else {
                self.begin_reception(node)
            };
            if !went_on {
                return;
            }
        }
    }

    /// Begins to receive the first packet in the FIFO; false if it must wait.
    fn begin_reception(&mut self, node: usize) -> bool {
        let n = &mut self.nodes[node];
        if n.regs.ctrl & R_CTRL_RUN_MASK == 0 || n.regs.halted {
            return false;
        }
        let packet = self.network.fifos[node].chunks[0].packet.clone();
        let verdict = Verdict::of(&packet.flits, n.regs.node);
        let open = &n.receiver.open;
        let behind = match open.back() {
            None => false,
            Some(p) if open.len() == 1 && verdict.may_follow() && !n.regs.may_halt(&p.header) => {
                p.header.kind == Kind::Dma && p.fault.is_none()
            }
            Some(_) => return false,
        };
        let Some((header, body)) = verdict.stored() else {
            n.regs.drop_packet(header_word0(&packet.flits));
            self.raise(node, verdict.fault().expect("not to be stored"));
            self.nodes[node].receiver.draining = !self.fifo_taken(node).last;
            return true;
        };
        let Some(entry) = n.regs.header_entry(header.kind, behind) else {
            if open.is_empty() {
                n.regs.halted = true;
                self.raise(node, Cause::Overflow);
            }
            return false;
        };
        let body_at = RingId::of(header.kind).1.map_or(Addr(header.dest), |id| {
            n.regs.entry_at(id, n.regs.rings[id as usize].put)
        });
        n.receiver.open.push_back(Open {
            packet: packet.clone(),
            header: *header,
            entry,
            unanswered: 0,
            all_commanded: false,
            arrival_due: header.arr,
            fault: verdict.fault(),
            bus_error: false,
        });
        n.receiver.current = Some(Current {
            packet,
            body_at,
            bytes: body.len() as u32,
            taken: 0,
            commanded: 0,
        });
        let index = n.receiver.open.len() - 1;
        self.command_header(node, index, PARSE_CYCLES);
        if self.fifo_taken(node).last {
            self.end_body(node);
        }
        true
    }

    /// Commands the write of a header into its entry, `pipe` IO cycles from now.
    fn command_header(&mut self, node: usize, index: usize, pipe: u64) {
        let n = &mut self.nodes[node];
        let open = &mut n.receiver.open[index];
        open.unanswered += 1;
        let at = n.regs.entry_at(RingId::of(open.header.kind).0, open.entry);
        let head = header_bytes(&open.packet.flits).expect("stored").to_vec();
        let packet = n.receiver.closed + index as u64;
        self.command_write(node, at, head, Writer::Packet { packet }, pipe);
    }

    /// Takes a chunk of body; false if it must wait.
    fn take_body(&mut self, node: usize) -> bool {
        let n = &mut self.nodes[node];
        let arriving = n.receiver.open.back().is_some_and(|p| p.arrival_due);
        if arriving || n.regs.halted || n.bus.waiting_writes() >= WAITING_BURSTS {
            return false;
        }
        let chunk = self.fifo_taken(node);
        let burst = self.config.bus_bytes * self.config.burst_beats;
        let n = &mut self.nodes[node];
        let number = n.receiver.closed + n.receiver.open.len() as u64 - 1;
        let current = n.receiver.current.as_mut().expect("a packet is being taken");
        current.taken = (current.taken + 2 * chunk.flits).min(current.bytes);
        let mut writes = Vec::new();
        loop {
            let at = current.body_at.offset(current.commanded);
            let size = (current.bytes - current.commanded).min(burst - at.0 % burst);
            if size == 0 || current.commanded + size > current.taken {
                break;
            }
            let from = HEAD_FLITS + current.commanded as usize / 2;
            let mut data = to_bytes(&current.packet.flits[from..from + size.div_ceil(2) as usize]);
            data.truncate(size as usize);
            current.commanded += size;
            writes.push((at, data));
        }
        n.receiver.open.back_mut().expect("its packet").unanswered += writes.len() as u32;
        for (at, data) in writes {
            self.command_write(node, at, data, Writer::Packet { packet: number }, 1);
        }
        if chunk.last {
            self.end_body(node);
        }
        true
    }

    /// All writes of the packet are commanded.
    fn end_body(&mut self, node: usize) {
        let receiver = &mut self.nodes[node].receiver;
        receiver.current = None;
        receiver.open.back_mut().expect("its packet").all_commanded = true;
        self.complete(node);
    }

    /// The response to a write of a packet arrives.
    pub(super) fn packet_written(&mut self, node: usize, packet: u64, ok: bool) {
        let n = &mut self.nodes[node];
        let index = (packet - n.receiver.closed) as usize;
        let open = &mut n.receiver.open[index];
        open.unanswered -= 1;
        open.bus_error |= !ok;
        if open.arrival_due {
            open.arrival_due = false;
            if ok {
                n.regs.halted |= n.regs.ctrl & R_CTRL_HALT_ARRIVAL_MASK != 0;
                self.raise(node, Cause::Arrival);
            }
        }
        self.complete(node);
        self.at(self.now, Due::Receiver(node));
    }

    /// Publishes, in order, the packets that are complete in memory. If a packet fails, the header of the next packet
    /// is written again, into the entry that the failed packet has left free.
    fn complete(&mut self, node: usize) {
        loop {
            let n = &mut self.nodes[node];
            let Some(front) = n.receiver.open.front_mut().filter(|p| p.all_commanded) else {
                return;
            };
            let (head_ring, body_ring) = RingId::of(front.header.kind);
            let put = n.regs.rings[head_ring as usize].put;
            if front.entry != put {
                front.entry = put;
                self.command_header(node, 0, AGAIN_CYCLES);
                return;
            }
            if front.unanswered > 0 {
                return;
            }
            let open = n.receiver.open.pop_front().expect("looked at");
            n.receiver.closed += 1;
            let fault = if open.bus_error {
                Some(Cause::BusError)
            } else {
                open.fault
            };
            if let Some(fault) = fault {
                n.regs.drop_packet(header_word0(&open.packet.flits));
                self.raise(node, fault);
                continue;
            }
            for id in [Some(head_ring), body_ring].into_iter().flatten() {
                let ring = &mut n.regs.rings[id as usize];
                ring.put = ring.after(ring.put);
            }
            if open.header.end {
                n.regs.halted |= n.regs.halts_at_end(open.header.kind);
                self.raise(node, Cause::End);
            }
            self.at(self.now, Due::Receiver(node));
        }
    }
}
