//! The registers of a card in the model, with their two masters: the host and the on-chip processor.

use super::rdma::Descriptor;
use super::send::merge;
use super::{Access, Due, ModelMachine, timing};
use crate::Picos;
use crate::dimmnet1::golden::packet::{Header, Packet, Place, Reason, SHORT_WORDS, get, put};
use crate::dimmnet1::regs::*;
use crate::dimmnet1::window::CardAccess;
use crate::harness::backend::HostRsp;
use crate::harness::event::EventKind;

/// Registers that hold what was written, and counters.
#[derive(Debug, Default)]
pub(super) struct Regs {
    pub node: u16,
    pub pgid: u16,
    pub control: u64,
    pub watchdog: u64,
    pub patience: u64,
    pub status: u64,
    mask: u64,
    pub counts: [u16; 16],
    pub strays: u16,
    lost: u16,
    host_errors: u16,
    pub cpu_errors: u16,
    rdma: [u64; 4],
    region: [u64; 3],
    page: [u64; 2],
    build: [u64; 4],
    /// When the last two stores that were accepted from the host leave their queue, and when the last is done.
    leaves: [Picos; 2],
    written: Picos,
    /// When a register can be written again.
    register: Picos,
    /// When the host's store that waits for room in front of AOTF began to wait.
    waits_since: Option<Picos>,
}

impl Regs {
    /// The on-chip processor runs.
    pub fn runs(&self) -> bool {
        self.control & CONTROL_RUN_MASK != 0
    }

    /// The matcher is on.
    pub fn matches(&self) -> bool {
        self.control & CONTROL_MATCH_MASK != 0
    }

    pub fn irq(&self) -> bool {
        self.status & self.mask != 0
    }
}

/// How an access of the host went.
enum Done {
    Answered(HostRsp),
    /// The value at this instant, which comes later.
    Loaded(HostRsp),
    /// The store is not accepted yet.
    Waits,
}

const OK: Done = Done::Answered(HostRsp { value: 0, error: false });

/// The number of a word within a table of so many words.
fn index(offset: u32, base: u32, words: u32) -> Option<usize> {
    let at = offset.checked_sub(base)? / 8;
    (at < words).then_some(at as usize)
}

fn within(offset: u32, base: u32, bytes: u32) -> bool {
    (base..base + bytes).contains(&offset)
}

impl ModelMachine {
    /// The host's access is looked at, at an edge of the core clock.
    pub(super) fn host(&mut self, node: usize) {
        let access = match self.cards[node].host {
            Some(Access::Asking(access)) => access,
            Some(Access::Loaded(at, rsp)) if at <= self.now => {
                self.cards[node].host = Some(Access::Answered(rsp));
                return;
            }
            _ => return,
        };
        let done = if access.store.is_some() {
            self.host_store(node, access)
        } else {
            let value = self.host_load(node, access.offset);
            let error = value.is_none();
            if error {
                self.host_error(node);
            }
            Done::Loaded(HostRsp {
                value: access.value(value.unwrap_or(0)),
                error,
            })
        };
        match done {
            Done::Answered(rsp) => self.cards[node].host = Some(Access::Answered(rsp)),
            Done::Loaded(rsp) => {
                let at = self.now + self.core_cycles(timing::LOAD);
                self.cards[node].host = Some(Access::Loaded(at, rsp));
                self.at(at, Due::Host(node));
            }
            Done::Waits => {}
        }
    }

    fn host_error(&mut self, node: usize) {
        let regs = &mut self.cards[node].regs;
        regs.host_errors = regs.host_errors.saturating_add(1);
        regs.status |= STATUS_HOST_MASK;
        raises(self, node);
    }

    /// A posted store; what it refuses is counted.
    fn host_store(&mut self, node: usize, access: CardAccess) -> Done {
        if access.offset >= AOTF {
            return self.host_aotf(node, access);
        }
        let offset = access.offset;
        if !self.host_queues(node, offset) {
            return Done::Waits;
        }
        self.note_store(node, access);
        let value = access.store.expect("it is a store");
        let card = &mut self.cards[node];
        let stored = if within(offset, WINDOW0, 2 * SIZE_WINDOW) {
            card.send.store_window(access)
        } else if within(offset, LLCM, SIZE_LLCM) {
            card.store_llcm(offset, access);
            true
        } else if access.strobes != 0xff {
            false
        } else if within(offset, SRAM, SIZE_SRAM) {
            let at = ((offset - SRAM) / 4) as usize;
            let free = !card.regs.runs();
            if free {
                card.cpu.store_sram(at, value);
            }
            free
        } else if within(offset, HEADER_TLB, 32 * SIZE_TLB) {
            card.send.store_header(offset, value);
            true
        } else {
            self.register_write(node, offset, value, false)
        };
        if !stored {
            self.host_error(node);
        }
        OK
    }

    /// A store of the host joins the queue of two; false if that is full.
    fn host_queues(&mut self, node: usize, offset: u32) -> bool {
        let (is_register, cycles) = match offset {
            WINDOWS..HEADER_TLB | RVATLB..SRAM => (true, 1),
            SRAM..LLCM => (false, timing::SRAM_WRITE),
            _ => (false, 1),
        };
        let (cycle, span) = (self.core_cycles(1), self.core_cycles(cycles));
        let (now, register) = (self.now, self.core_cycles(timing::REGISTER_WRITE));
        let regs = &mut self.cards[node].regs;
        let [older, newer] = regs.leaves;
        if older >= now {
            self.at(older + cycle, Due::Host(node));
            return false;
        }
        let mut leaves = regs.written.max(now + cycle);
        if is_register {
            leaves = leaves.max(regs.register);
            regs.register = leaves + register;
        }
        (regs.leaves, regs.written) = ([newer, leaves], leaves + span);
        true
    }

    fn note_store(&mut self, node: usize, access: CardAccess) {
        if access.is_command() {
            let kind = EventKind::RegWrite {
                offset: access.offset + access.strobes.trailing_zeros(),
                value: access.value(access.store.unwrap_or(0)) as u32,
            };
            self.note(self.now, node, kind);
        }
    }

    /// A store to a page of AOTF waits for room, as long as PATIENCE lets it.
    fn host_aotf(&mut self, node: usize, access: CardAccess) -> Done {
        let now = self.now;
        let patience = self.core_cycles(self.cards[node].regs.patience);
        let ready = now + self.core_cycles(timing::AOTF);
        let card = &mut self.cards[node];
        let mut lost = false;
        if card.send.is_full() {
            let since = *card.regs.waits_since.get_or_insert(now);
            lost = patience > Picos::ZERO && now >= since + patience;
            if !lost {
                if patience > Picos::ZERO && since == now {
                    self.at(now + patience, Due::Host(node));
                }
                return Done::Waits;
            }
        }
        card.regs.waits_since = None;
        if lost || !card.send.store_aotf(access, ready) {
            card.regs.lost = card.regs.lost.saturating_add(1);
            card.regs.status |= STATUS_LOST_MASK;
            raises(self, node);
        }
        self.note_store(node, access);
        self.at(ready, Due::Tx(node));
        OK
    }

    fn host_load(&mut self, node: usize, offset: u32) -> Option<u64> {
        let card = &mut self.cards[node];
        if within(offset, LLCM, SIZE_LLCM) {
            return Some(card.load_llcm(offset));
        }
        if within(offset, SRAM, SIZE_SRAM) {
            let at = ((offset - SRAM) / 4) as usize;
            return (!card.regs.runs()).then(|| card.cpu.load_sram(at));
        }
        self.register_read(node, offset)
    }

    /// The value of a register; `None`: there is none to be read.
    pub(super) fn register_read(&self, node: usize, offset: u32) -> Option<u64> {
        let card = &self.cards[node];
        let regs = &card.regs;
        if let Some(slot) = index(offset, SLOTS, SIZE_SLOTS) {
            return Some(card.acks.value(slot));
        }
        if let Some(reason) = index(offset, COUNTS, 16) {
            return Some(regs.counts[reason].into());
        }
        if let Some(word) = index(offset, RX_HEADER, 6) {
            return Some(card.rx.header[word]);
        }
        if let Some(word) = index(offset, BUILD, 4) {
            return Some(regs.build[word]);
        }
        Some(match offset {
            WINDOWS => card.send.state(),
            RDMA_WHAT..=RDMA_LENGTH => regs.rdma[((offset - RDMA_WHAT) / 8) as usize],
            RDMA => self.rdma_state(node),
            NODE => regs.node.into(),
            PGID => regs.pgid.into(),
            CONTROL => regs.control,
            WATCHDOG => regs.watchdog,
            PATIENCE => regs.patience,
            STATUS => regs.status,
            MASK => regs.mask,
            CALL => 0,
            TIME => self.now.0 / self.config.core_period.0,
            STRAYS => regs.strays.into(),
            AOTF_LOST => regs.lost.into(),
            HOST_ERRORS => regs.host_errors.into(),
            CPU_ERRORS => regs.cpu_errors.into(),
            RX_STOP => self.stop_state(node),
            RX_DMA => card.rx.dma_addr,
            RX_PAGE => card.rx.key,
            RDMA_KEY => card.rdma.stop().map_or(0, |(_, key)| key),
            _ => return None,
        })
    }

    fn rdma_state(&self, node: usize) -> u64 {
        let rdma = &self.cards[node].rdma;
        put(RDMA_FULL_MASK, rdma.is_full().into())
            | put(RDMA_BUSY_MASK, rdma.is_busy().into())
            | put(RDMA_STOPPED_MASK, rdma.stop().is_some().into())
            | put(RDMA_ERROR_MASK, rdma.error.map_or(0, Reason::code).into())
    }

    fn stop_state(&self, node: usize) -> u64 {
        let (rx, rdma) = (&self.cards[node].rx, self.cards[node].rdma.stop());
        let kind = if rx.is_stopped() {
            Header::decode(&rx.header).kind
        } else {
            0
        };
        let reason = rx.done.flatten().map_or(0, Reason::code);
        put(RX_STOP_STOPPED_MASK, rx.is_stopped().into())
            | put(RX_STOP_MORE_MASK, (rx.is_stopped() && rx.more).into())
            | put(RX_STOP_CAUSE_MASK, rx.cause().into())
            | put(RX_STOP_TYPE_MASK, kind.into())
            | put(RX_STOP_RDMA_MASK, rdma.is_some().into())
            | put(RX_STOP_RDMA_CAUSE_MASK, rdma.map_or(0, |(cause, _)| cause).into())
            | put(RX_STOP_DONE_MASK, rx.done.is_some().into())
            | put(RX_STOP_DONE_REASON_MASK, reason.into())
    }

    /// Writes a register; false if it cannot be written.
    pub(super) fn register_write(&mut self, node: usize, offset: u32, value: u64, by_cpu: bool) -> bool {
        let now = self.now;
        let kicked = now + self.core_cycles(timing::KICK);
        let card = &mut self.cards[node];
        if let Some(slot) = index(offset, SLOTS, SIZE_SLOTS) {
            card.acks.clear(slot);
            self.at(now, Due::Tx(node));
            return true;
        }
        if let Some(word) = index(offset, RX_HEADER, 6) {
            card.rx.header[word] = if card.rx.is_stopped() {
                value
            } else {
                card.rx.header[word]
            };
            return card.rx.is_stopped();
        }
        if let Some(word) = index(offset, BUILD, 4) {
            card.regs.build[word] = value;
            return true;
        }
        match offset {
            KICK0 | KICK1 => {
                self.at(kicked, Due::Tx(node));
                let card = &mut self.cards[node];
                card.send.kick(usize::from(offset == KICK1), card.regs.pgid, kicked)
            }
            RDMA_WHAT..RDMA_LENGTH => {
                card.regs.rdma[((offset - RDMA_WHAT) / 8) as usize] = value;
                true
            }
            RDMA_LENGTH => self.start_rdma(node, value),
            RVATLB..PATLB => {
                let word = ((offset - RVATLB) / 8) as usize;
                let Some(part) = card.regs.region.get_mut(word) else {
                    return false;
                };
                *part = value;
                if word == 2 {
                    card.tlb.write_region(card.regs.region);
                }
                true
            }
            PATLB..TLB_FLUSH => {
                let word = ((offset - PATLB) / 8) as usize;
                card.regs.page[word] = value;
                if word == 1 {
                    card.tlb.write_page(card.regs.page);
                }
                true
            }
            TLB_FLUSH => {
                card.tlb.flush();
                true
            }
            RX_GO => {
                let what = get(RX_GO_WHAT_MASK, value) as u32;
                let says = what != GO_NACK || get(RX_GO_REASON_MASK, value) != 0;
                let known = (GO_CONTINUE..=GO_PART).contains(&what) && says;
                let bytes = get(RX_GO_BYTES_MASK, value) as u16;
                known && self.rx_go(node, what, reason(RX_GO_REASON_MASK, value), bytes)
            }
            RDMA_GO => {
                let what = get(RDMA_GO_WHAT_MASK, value) as u32;
                let known = (GO_CONTINUE..=GO_NACK).contains(&what);
                known && self.rdma_go(node, what, reason(RDMA_GO_REASON_MASK, value))
            }
            BUILD_GO => {
                self.build(node, value & BUILD_GO_DATA_MASK != 0);
                true
            }
            _ => self.plain_write(node, offset, value, by_cpu),
        }
    }

    /// Writes a register that holds its value, or that clears bits.
    fn plain_write(&mut self, node: usize, offset: u32, value: u64, by_cpu: bool) -> bool {
        let card = &mut self.cards[node];
        let regs = &mut card.regs;
        match offset {
            NODE => regs.node = value as u16,
            PGID => regs.pgid = value as u16,
            CONTROL => {
                let ran = regs.runs();
                regs.control = value & 0xf;
                self.run_changed(node, ran);
                self.at(self.now, Due::Rx(node));
            }
            WATCHDOG => regs.watchdog = get(WATCHDOG_CYCLES_MASK, value),
            PATIENCE => regs.patience = get(PATIENCE_CYCLES_MASK, value),
            STATUS => regs.status &= !value,
            MASK => regs.mask = value,
            CALL if by_cpu => regs.status |= STATUS_FIRMWARE_MASK,
            CALL => {}
            RX_DMA => card.rx.dma_addr = value & 0xffff_fff8,
            _ => return false,
        }
        raises(self, node);
        true
    }

    fn start_rdma(&mut self, node: usize, value: u64) -> bool {
        let card = &mut self.cards[node];
        if card.rdma.is_full() {
            return false;
        }
        card.regs.rdma[3] = value;
        let [what, local, remote, length] = card.regs.rdma;
        let descriptor = Descriptor {
            what: Header::decode(&[what]),
            local: Place::of(local),
            remote: Place::of(remote),
            bytes: get(RDMA_LENGTH_BYTES_MASK, length) as u32,
            slot: get(RDMA_LENGTH_SLOT_MASK, length) as u8,
        };
        self.rdma_start(node, descriptor);
        true
    }

    /// The packet of the builder goes into the answer queue. The model does not wait for room there: a card's credit
    /// bounds what is in it.
    fn build(&mut self, node: usize, data: bool) {
        let words = self.cards[node].regs.build[..SHORT_WORDS + usize::from(data)].to_vec();
        self.queue_answer(node, Packet { words }, timing::BUILD);
    }

    /// The receiver or the RDMA engine stops: the processor is called, and the watchdog waits.
    pub(super) fn stopped(&mut self, node: usize, rdma: bool) {
        let at = self.now + self.core_cycles(timing::LINE);
        self.at(at, Due::CpuLine(node));
        let card = &mut self.cards[node];
        card.stops[usize::from(rdma)] += 1;
        let (stop, cycles) = (card.stops[usize::from(rdma)], card.regs.watchdog);
        if cycles > 0 {
            let end = self.now + self.core_cycles(cycles);
            self.at(end, Due::Watchdog { node, rdma, stop });
        }
    }

    /// A stop has lasted too long, if it is still the same.
    pub(super) fn watchdog(&mut self, node: usize, rdma: bool, stop: u64) {
        let card = &mut self.cards[node];
        if card.stops[usize::from(rdma)] != stop {
            return;
        }
        let is_stopped = if rdma {
            card.rdma.stop().is_some()
        } else {
            card.rx.is_stopped()
        };
        if !is_stopped {
            return;
        }
        card.regs.status |= STATUS_FIRED_MASK;
        let ran = card.regs.runs();
        card.regs.control &= !CONTROL_RUN_MASK;
        self.run_changed(node, ran);
        if rdma {
            self.rdma_go(node, GO_NACK, Reason::Timeout);
        } else {
            self.rx_go(node, GO_NACK, Reason::Timeout, 0);
        }
        raises(self, node);
    }
}

fn reason(mask: u64, value: u64) -> Reason {
    // A refusal without a reason is the firmware's own.
    Reason::of(get(mask, value) as u32).unwrap_or(Reason::Firmware)
}

/// Drives the interrupt lines of host and processor.
pub(super) fn raises(machine: &mut ModelMachine, node: usize) {
    let level = machine.cards[node].regs.irq();
    if level != machine.cards[node].irq {
        machine.cards[node].irq = level;
        machine.note(machine.now, node, EventKind::Irq { level });
    }
    let at = machine.now + machine.core_cycles(timing::LINE);
    machine.at(at, Due::CpuLine(node));
}

impl super::Card {
    pub(super) fn load_llcm(&self, offset: u32) -> u64 {
        let at = (offset - LLCM) as usize;
        u64::from_le_bytes(self.llcm[at..at + 8].try_into().expect("eight bytes"))
    }

    pub(super) fn store_llcm(&mut self, offset: u32, access: CardAccess) {
        let at = (offset - LLCM) as usize;
        let word = merge(self.load_llcm(offset), access);
        self.llcm[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }
}
