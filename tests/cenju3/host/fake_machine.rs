//! A Cenju-3 of a few lines, for tests of the host software alone. Its interfaces keep the register contract, with
//! fixed latencies, no contention and endless receive FIFOs.

use std::collections::{BTreeMap, VecDeque};

use tsunagi::cenju3::regs;
use tsunagi::harness::backend::{Backend, Event, HostReq, HostRsp};
use tsunagi::harness::memory::Memory;
use tsunagi::{Addr, NodeId, Picos};

const ANSWER: Picos = Picos(80_000);
/// Pointer write to first flit, and first flit to Receiver.
const FETCH: Picos = Picos(2_000_000);
const FLIGHT: Picos = Picos(2_000_000);
const HEADER_WRITE: Picos = Picos(1_000_000);
const FLIT: u64 = 50_000;
const GAP_FLITS: u64 = 19;
/// Storing at 48 MB/s.
const STORE_PER_BYTE: u64 = 20_833;

#[derive(Clone)]
struct Packet {
    dest: usize,
    header: [u32; 4],
    body: Vec<u8>,
}

enum Happening {
    Send,
    Arrive(Packet),
    Stored(Packet),
}

struct Nic {
    memory: Memory,
    regs: [u32; 32],
    answer: Option<(Picos, HostRsp)>,
    /// Offset into the parcel at each queue's head.
    offset: [u32; 2],
    sending: bool,
    fifo: VecDeque<Packet>,
    storing: bool,
    parcels: u32,
}

pub struct FakeMachine {
    now: Picos,
    nics: Vec<Nic>,
    happenings: BTreeMap<(Picos, u64), (usize, Happening)>,
    serial: u64,
    /// Interrupt lines are cut.
    pub deaf: bool,
}

fn field(word: u32, mask: u32) -> u32 {
    (word & mask) >> mask.trailing_zeros()
}

impl Nic {
    fn reg(&mut self, offset: u32) -> &mut u32 {
        &mut self.regs[offset as usize / 4]
    }

    fn get(&self, offset: u32) -> u32 {
        self.regs[offset as usize / 4]
    }

    fn words<const N: usize>(&self, at: u32) -> [u32; N] {
        let bytes = self.memory.read(Addr(at), 4 * N).expect("in memory");
        std::array::from_fn(|i| u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap()))
    }

    fn write(&mut self, offset: u32, value: u32) {
        match offset {
            regs::R_STAT => *self.reg(offset) &= !(value & !regs::R_STAT_HALTED_MASK),
            regs::R_CTRL => {
                if value & regs::R_CTRL_RESTART_MASK != 0 {
                    *self.reg(regs::R_STAT) &= !regs::R_STAT_HALTED_MASK;
                }
                *self.reg(offset) = value & !regs::R_CTRL_RESTART_MASK;
            }
            regs::S_CTRL => {
                for queue in 0..2u32 {
                    if value & (regs::S_CTRL_RESUME0_MASK << queue) != 0 {
                        *self.reg(regs::S_STAT) &= !(regs::S_STAT_HALTED0_MASK << queue);
                        let get = self.reg(regs::SQ0_GET + 0x10 * queue);
                        *get = (*get + 1) % regs::SEND_RING;
                    }
                }
            }
            _ => *self.reg(offset) = value,
        }
    }

    fn status(&self, header: &[u32; 8]) -> u32 {
        match (field(header[0], regs::PARCEL_HEAD_KIND_MASK), header[1]) {
            (3.., _) => regs::STATUS_BAD_KIND,
            (_, 0) => regs::STATUS_ZERO_LENGTH,
            (0 | 1, 513..) => regs::STATUS_MESSAGE_TOO_LONG,
            _ => regs::STATUS_OK,
        }
    }

    /// The next packet of the queues, if any.
    fn next_packet(&mut self, node: usize) -> Option<Packet> {
        for queue in 0..2u32 {
            let (base, put, get) = (regs::SQ0_BASE, regs::SQ0_PUT, regs::SQ0_GET);
            let at = self.get(get + 0x10 * queue);
            let halted = self.get(regs::S_STAT) & (regs::S_STAT_HALTED0_MASK << queue) != 0;
            if halted || at == self.get(put + 0x10 * queue) {
                continue;
            }
            let header: [u32; 8] = self.words(self.get(base + 0x10 * queue) + 32 * at);
            let status = self.status(&header);
            if status != regs::STATUS_OK {
                let error = status << (regs::S_STAT_ERROR0_SHIFT + 4 * queue);
                *self.reg(regs::S_STAT) &= !(regs::S_STAT_ERROR0_MASK << (4 * queue));
                *self.reg(regs::S_STAT) |= (regs::S_STAT_HALTED0_MASK << queue) | error;
                *self.reg(regs::R_STAT) |= regs::R_STAT_SEND_ERROR_MASK;
                continue;
            }
            let offset = self.offset[queue as usize];
            let bytes = (header[1] - offset).min(512);
            let last = offset + bytes == header[1];
            let flags = if last {
                header[0] & 0xff00 | regs::PACKET_HEAD_LAST_MASK
            } else {
                0
            };
            let dma = header[0] & 0xff == regs::KIND_DMA;
            let word2 = if dma { header[3] + offset } else { header[4] };
            let body = self
                .memory
                .read(Addr(header[2] + offset), bytes as usize)
                .expect("in memory")
                .to_vec();
            self.offset[queue as usize] = if last { 0 } else { offset + bytes };
            if last {
                *self.reg(get + 0x10 * queue) = (at + 1) % regs::SEND_RING;
                self.parcels += 1;
            }
            let word0 = header[0] & 0xff | flags | (node as u32) << 16 | (offset / 512 % 256) << 24;
            let dest = field(header[0], regs::PARCEL_HEAD_DST_MASK) as usize;
            return Some(Packet {
                dest,
                header: [word0, bytes, word2, header[5]],
                body,
            });
        }
        None
    }

    /// Stores a whole packet and says so; false and an overflow where a ring is full.
    fn store(&mut self, packet: &Packet) -> bool {
        let kind = packet.header[0] & 0xff;
        let ring = if kind == regs::KIND_DMA {
            regs::DHB_BASE
        } else {
            regs::MHB_BASE
        };
        let body = regs::MBB0_BASE + 0x10 * (kind & 1);
        let full = |nic: &Nic, r: u32| (nic.get(r + 8) + 1) % nic.get(r + 4) == nic.get(r + 12);
        if full(self, ring) || kind != regs::KIND_DMA && full(self, body) {
            *self.reg(regs::R_STAT) |= regs::R_STAT_OVERFLOW_MASK | regs::R_STAT_HALTED_MASK;
            return false;
        }
        let at = self.get(ring) + 16 * self.get(ring + 8);
        let bytes: Vec<u8> = packet.header.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert!(self.memory.write(Addr(at), &bytes));
        let to = if kind == regs::KIND_DMA {
            packet.header[2]
        } else {
            self.get(body) + 512 * self.get(body + 8)
        };
        if !self.memory.write(Addr(to), &packet.body) {
            *self.reg(regs::R_STAT) |= regs::R_STAT_BUS_ERROR_MASK;
            return true;
        }
        *self.reg(ring + 8) = (self.get(ring + 8) + 1) % self.get(ring + 4);
        if kind != regs::KIND_DMA {
            *self.reg(body + 8) = (self.get(body + 8) + 1) % self.get(body + 4);
        }
        if packet.header[0] & regs::PACKET_HEAD_END_MASK != 0 {
            let halt = if kind == regs::KIND_DMA {
                regs::R_CTRL_HALT_END_DMA_MASK
            } else {
                regs::R_CTRL_HALT_END_MSG_MASK
            };
            let halted = self.get(regs::R_CTRL) & halt != 0;
            *self.reg(regs::R_STAT) |= regs::R_STAT_END_MASK | u32::from(halted);
        }
        true
    }
}

impl FakeMachine {
    pub fn new(pes: usize, mem_bytes: u32) -> FakeMachine {
        let nic = || Nic {
            memory: Memory::new(mem_bytes as usize),
            regs: [0; 32],
            answer: None,
            offset: [0; 2],
            sending: false,
            fifo: VecDeque::new(),
            storing: false,
            parcels: 0,
        };
        let nics = (0..pes).map(|_| nic()).collect();
        FakeMachine {
            now: Picos::ZERO,
            nics,
            happenings: BTreeMap::new(),
            serial: 0,
            deaf: false,
        }
    }

    /// A packet out of nowhere into a PE's receive FIFO.
    pub fn inject(&mut self, dest: NodeId, header: [u32; 4], body: &[u8]) {
        let packet = Packet {
            dest: dest.index(),
            header,
            body: body.to_vec(),
        };
        self.after(FLIGHT, dest.index(), Happening::Arrive(packet));
    }

    /// Error causes out of nowhere.
    pub fn pend(&mut self, node: NodeId, causes: u32, word0: u32) {
        let nic = &mut self.nics[node.index()];
        *nic.reg(regs::R_STAT) |= causes;
        *nic.reg(regs::R_ERR) = word0;
    }

    fn after(&mut self, span: Picos, node: usize, what: Happening) {
        self.serial += 1;
        self.happenings.insert((self.now + span, self.serial), (node, what));
    }

    fn kick(&mut self, node: usize) {
        if !self.nics[node].sending {
            self.nics[node].sending = true;
            self.after(FETCH, node, Happening::Send);
        }
    }

    fn send(&mut self, node: usize) {
        let Some(packet) = self.nics[node].next_packet(node) else {
            self.nics[node].sending = false;
            return;
        };
        let wire = Picos(FLIT * (9 + packet.body.len().div_ceil(2) as u64));
        let dest = packet.dest;
        self.after(wire + FLIGHT, dest, Happening::Arrive(packet));
        self.after(wire + Picos(FLIT * GAP_FLITS), node, Happening::Send);
    }

    fn receive(&mut self, node: usize) {
        let nic = &mut self.nics[node];
        let runs = nic.get(regs::R_CTRL) & regs::R_CTRL_RUN_MASK != 0;
        if nic.storing || !runs || nic.get(regs::R_STAT) & regs::R_STAT_HALTED_MASK != 0 {
            return;
        }
        if let Some(packet) = nic.fifo.pop_front() {
            nic.storing = true;
            let span = HEADER_WRITE + Picos(STORE_PER_BYTE * packet.body.len() as u64);
            self.after(span, node, Happening::Stored(packet));
        }
    }
}

impl Backend for FakeMachine {
    fn now(&self) -> Picos {
        self.now
    }

    fn nodes(&self) -> usize {
        self.nics.len()
    }

    fn next_event(&self) -> Option<Picos> {
        let answers = self.nics.iter().filter_map(|n| n.answer).map(|(at, _)| at);
        let happenings = self.happenings.keys().next().map(|&(at, _)| at);
        answers.chain(happenings).filter(|&at| at > self.now).min()
    }

    fn advance(&mut self, to: Picos) {
        assert!(to > self.now && self.next_event().is_none_or(|next| to <= next));
        self.now = to;
        while let Some(entry) = self.happenings.first_entry()
            && entry.key().0 <= to
        {
            match entry.remove() {
                (node, Happening::Send) => self.send(node),
                (node, Happening::Arrive(packet)) => self.nics[node].fifo.push_back(packet),
                (node, Happening::Stored(packet)) => {
                    self.nics[node].storing = false;
                    if !self.nics[node].store(&packet) {
                        self.nics[node].fifo.push_front(packet);
                    }
                }
            }
            (0..self.nics.len()).for_each(|node| self.receive(node));
        }
    }

    fn host_start(&mut self, node: NodeId, req: HostReq) {
        let nic = &mut self.nics[node.index()];
        assert!(nic.answer.is_none(), "one access at a time");
        let offset = req.addr as u32;
        let value = match req.write {
            None => nic.get(offset),
            Some(value) => {
                nic.write(offset, value as u32);
                self.kick(node.index());
                self.receive(node.index());
                0
            }
        };
        let value = value.into();
        self.nics[node.index()].answer = Some((self.now + ANSWER, HostRsp { value, error: false }));
    }

    fn host_take(&mut self, node: NodeId) -> Option<HostRsp> {
        let now = self.now;
        self.nics[node.index()]
            .answer
            .take_if(|(at, _)| *at <= now)
            .map(|(_, rsp)| rsp)
    }

    fn irq(&self, node: NodeId) -> bool {
        let stat = self.nics[node.index()].get(regs::R_STAT);
        !self.deaf && stat & !(regs::R_STAT_HALTED_MASK | regs::R_STAT_LEVEL_MASK) != 0
    }

    fn memory(&mut self, node: NodeId) -> &mut Memory {
        &mut self.nics[node.index()].memory
    }

    fn record(&mut self, _on: bool) {}

    fn take_events(&mut self) -> Vec<Event> {
        Vec::new()
    }

    fn hang_report(&self) -> String {
        let line = |(node, nic): (usize, &Nic)| {
            let halted = if nic.get(regs::R_STAT) & regs::R_STAT_HALTED_MASK != 0 {
                "halted"
            } else {
                "ready"
            };
            format!(
                "PE {node}: Receiver {halted}, {} packets wait, {} parcels sent",
                nic.fifo.len(),
                nic.parcels
            )
        };
        self.nics.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    }
}
