//! Golden model of `dimmnet1_bus`: host and processor at the registers.
//!
//! One step per access, in the order of the accesses. What other blocks show in registers is a [`View`].

use std::collections::BTreeMap;

use crate::dimmnet1::regs as r;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Party {
    Host,
    Processor,
}

/// An access: of the host to 8 aligned bytes, of the processor to 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub offset: u32,
    /// Data and byte strobes of a write, in the lanes of the access.
    pub write: Option<(u64, u8)>,
}

/// Where an access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Registers,
    /// AOTF and BOTF.
    Send,
    Llcm,
    Sram,
    /// Nowhere: it is refused.
    Nothing,
}

/// How an access to a register ends. Data of a processor's read are the low half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Done,
    Value(u64),
    Refused,
}

/// How a stop ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Go {
    pub what: u8,
    pub reason: u8,
    /// Of PART, else 0.
    pub bytes: u16,
}

/// What a write does outside the registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    ClearSlot(u8),
    Rva {
        key: u64,
        base: u64,
        bound: u64,
    },
    Pa {
        key: u64,
        frame: u64,
    },
    Flush,
    Header {
        index: u8,
        data: u64,
        halves: u8,
    },
    ReceiverGo {
        go: Go,
        address: u32,
    },
    RdmaGo(Go),
    Descriptor {
        what: u64,
        local: u64,
        remote: u64,
        bytes: u32,
        slot: u8,
    },
    Packet(Vec<u64>),
}

/// A stop as its block shows it; cause and key mean nothing while there is none, and read as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    pub stopped: bool,
    pub more: bool,
    pub cause: u8,
    pub key: u64,
}

impl Stop {
    fn shown(&self) -> Stop {
        if self.stopped { *self } else { Stop::default() }
    }
}

/// What other blocks show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    pub windows: u64,
    pub slots: [u64; 16],
    pub rdma_full: bool,
    pub rdma_busy: bool,
    pub rdma: Stop,
    pub receiver: Stop,
    pub header: [u64; 6],
    pub dma_done: bool,
    pub dma_reason: u8,
    pub time: u64,
}

const BUILD_WORD3: u32 = r::BUILD + 24;
const RVA_BASE: u32 = r::RVATLB + r::RVA_BASE;
const RVA_BOUND: u32 = r::RVATLB + r::RVA_BOUND;
const PA_FRAME: u32 = r::PATLB + r::PA_FRAME;

/// Registers that keep what is written: offset, bits.
const KEPT: [(u32, u64); 16] = [
    (r::RDMA_WHAT, u64::MAX),
    (r::RDMA_LOCAL, u64::MAX),
    (r::RDMA_REMOTE, u64::MAX),
    (r::RDMA_LENGTH, r::RDMA_LENGTH_BYTES_MASK | r::RDMA_LENGTH_SLOT_MASK),
    (r::NODE, r::NODE_ID_MASK),
    (r::PGID, r::PGID_STAMP_MASK),
    (r::CONTROL, 0xf),
    (r::WATCHDOG, r::WATCHDOG_CYCLES_MASK),
    (r::PATIENCE, r::PATIENCE_CYCLES_MASK),
    (r::MASK, 0x7f),
    (r::CALL, u64::MAX),
    (r::RX_DMA, 0xffff_fff8),
    (r::BUILD, u64::MAX),
    (r::BUILD + 8, u64::MAX),
    (r::BUILD + 16, u64::MAX),
    (BUILD_WORD3, u64::MAX),
];

/// Words of TLB entries: they keep what is written, and cannot be read.
const ENTRIES: [(u32, u64); 5] = [
    (
        r::RVATLB,
        r::RVA_KEY_PGID_MASK | r::RVA_KEY_REGION_MASK | r::RVA_KEY_VALID_MASK,
    ),
    (RVA_BASE, 0xf000_0000_0fff_ffff),
    (RVA_BOUND, r::RVA_BOUND_BYTES_MASK),
    (
        r::PATLB,
        r::PA_KEY_PAGE_MASK | r::PA_KEY_PGID_MASK | r::PA_KEY_VALID_MASK,
    ),
    (PA_FRAME, r::PA_FRAME_PAGE_MASK),
];

/// Index of the word at `offset` in a table of `count` words from `first`.
fn among(offset: u32, first: u32, count: u32) -> Option<usize> {
    (first..first + 8 * count)
        .contains(&offset)
        .then(|| ((offset - first) / 8) as usize)
}

/// The registers.
#[derive(Clone, Debug, Default)]
pub struct Bus {
    kept: BTreeMap<u32, u64>,
    status: u64,
    rdma_error: u8,
    counts: [u16; 16],
    strays: u16,
    lost: u16,
    host_errors: u16,
    cpu_errors: u16,
}

impl Bus {
    /// Where an access goes.
    pub fn target(&self, party: Party, access: &Access) -> Target {
        let offset = access.offset & !7;
        let within = |first: u32, bytes: u32| (first..first + bytes).contains(&offset);
        match party {
            _ if within(r::LLCM, r::SIZE_LLCM) => Target::Llcm,
            Party::Processor if offset < 0x8000 => Target::Registers,
            Party::Processor => Target::Nothing,
            Party::Host if access.write.is_some() => {
                let send = within(r::WINDOW0, 2 * r::SIZE_WINDOW)
                    || within(r::KICK0, 16)
                    || within(r::HEADER_TLB, 64 * 32)
                    || within(r::AOTF, 64 * 4096);
                match send {
                    true => Target::Send,
                    false => self.plain(access, offset),
                }
            }
            Party::Host => self.plain(access, offset),
        }
    }

    /// A host's access that goes neither to LLCM nor to AOTF and BOTF.
    fn plain(&self, access: &Access, offset: u32) -> Target {
        let sram = (r::SRAM..r::SRAM + r::SIZE_SRAM).contains(&offset);
        let whole = access.write.is_none_or(|(_, strobes)| strobes == 0xff);
        match offset {
            0..0x8000 => Target::Registers,
            _ if sram && whole && !self.runs() => Target::Sram,
            _ => Target::Nothing,
        }
    }

    /// An access that goes nowhere.
    pub fn refuse(&mut self, party: Party, access: &Access) {
        match party {
            Party::Host => {
                self.host_errors = self.host_errors.saturating_add(1);
                self.status |= r::STATUS_HOST_MASK;
            }
            Party::Processor if access.write.is_some() => {
                self.cpu_errors = self.cpu_errors.saturating_add(1);
                self.status |= r::STATUS_CPU_MASK;
            }
            Party::Processor => {}
        }
    }

    /// An access to a register.
    pub fn access(&mut self, party: Party, access: &Access, view: &View) -> (Answer, Option<Effect>) {
        let offset = access.offset & !7;
        let high = party == Party::Processor && access.offset & 4 != 0;
        let users = (0x1000..0x2000).contains(&offset);
        let done = match access.write {
            _ if party == Party::Processor && users => None,
            None => self.read(offset, view).map(|value| {
                let value = if high { value >> 32 } else { value };
                (Answer::Value(value), None)
            }),
            Some((data, strobes)) => {
                let (data, halves, all) = match party {
                    Party::Host => (data, 0b11, 0xff),
                    Party::Processor if high => (data << 32, 0b10, 0xf),
                    Party::Processor => (data & 0xffff_ffff, 0b01, 0xf),
                };
                let write = Write {
                    party,
                    offset,
                    data,
                    halves,
                };
                let effect = if strobes == all { self.write(&write, view) } else { None };
                effect.map(|effect| (Answer::Done, effect))
            }
        };
        done.unwrap_or_else(|| {
            self.refuse(party, access);
            (Answer::Refused, None)
        })
    }

    fn read(&self, offset: u32, view: &View) -> Option<u64> {
        let value = match offset {
            _ if KEPT.iter().any(|&(kept, _)| kept == offset) => self.value(offset),
            r::WINDOWS => view.windows,
            r::RDMA => {
                u64::from(view.rdma_full) << r::RDMA_FULL_SHIFT
                    | u64::from(view.rdma_busy) << r::RDMA_BUSY_SHIFT
                    | u64::from(view.rdma.stopped) << r::RDMA_STOPPED_SHIFT
                    | u64::from(self.rdma_error) << r::RDMA_ERROR_SHIFT
            }
            r::TIME => view.time,
            r::STATUS => self.status,
            r::STRAYS => self.strays.into(),
            r::AOTF_LOST => self.lost.into(),
            r::HOST_ERRORS => self.host_errors.into(),
            r::CPU_ERRORS => self.cpu_errors.into(),
            r::RX_STOP => {
                u64::from(view.receiver.stopped) << r::RX_STOP_STOPPED_SHIFT
                    | u64::from(view.receiver.shown().more) << r::RX_STOP_MORE_SHIFT
                    | u64::from(view.receiver.shown().cause) << r::RX_STOP_CAUSE_SHIFT
                    | (view.header[0] & r::HDR_W0_TYPE_MASK) << r::RX_STOP_TYPE_SHIFT
                    | u64::from(view.rdma.stopped) << r::RX_STOP_RDMA_SHIFT
                    | u64::from(view.rdma.shown().cause) << r::RX_STOP_RDMA_CAUSE_SHIFT
                    | u64::from(view.dma_done) << r::RX_STOP_DONE_SHIFT
                    | u64::from(view.dma_reason) << r::RX_STOP_DONE_REASON_SHIFT
            }
            r::RX_PAGE => view.receiver.shown().key,
            r::RDMA_KEY => view.rdma.shown().key,
            _ => {
                let slot = among(offset, r::SLOTS, 16).map(|i| view.slots[i]);
                let count = || among(offset, r::COUNTS, 16).map(|i| self.counts[i].into());
                let header = || among(offset, r::RX_HEADER, 6).map(|i| view.header[i]);
                return slot.or_else(count).or_else(header);
            }
        };
        Some(value)
    }

    /// `None`: it is refused.
    fn write(&mut self, write: &Write, view: &View) -> Option<Option<Effect>> {
        let &Write {
            offset, data, halves, ..
        } = write;
        let low = halves & 1 == 1;
        let go = Go {
            what: (data >> r::RX_GO_WHAT_SHIFT & 7) as u8,
            reason: (data >> r::RX_GO_REASON_SHIFT & 0xf) as u8,
            bytes: 0,
        };
        let effect = match offset {
            r::RDMA_LENGTH if view.rdma_full => return None,
            r::STATUS => {
                self.status &= !if low { data } else { 0 };
                None
            }
            r::TLB_FLUSH => low.then_some(Effect::Flush),
            r::BUILD_GO => low.then(|| self.packet(data & r::BUILD_GO_DATA_MASK != 0)),
            r::RX_GO => {
                let known = (1..=r::GO_PART).contains(&go.what.into());
                let bytes = if u32::from(go.what) == r::GO_PART {
                    (data >> r::RX_GO_BYTES_SHIFT & 0xffff) as u16
                } else {
                    0
                };
                let go = Go { bytes, ..go };
                let said = u32::from(go.what) != r::GO_NACK || go.reason != 0;
                if !view.receiver.stopped || low && !(known && said) {
                    return None;
                }
                let address = self.value(r::RX_DMA) as u32;
                low.then_some(Effect::ReceiverGo { go, address })
            }
            r::RDMA_GO => {
                let known = (1..=r::GO_NACK).contains(&go.what.into());
                if !view.rdma.stopped || low && !known {
                    return None;
                }
                low.then_some(Effect::RdmaGo(go))
            }
            _ => return self.write_word(write, view),
        };
        Some(effect)
    }

    fn write_word(&mut self, write: &Write, view: &View) -> Option<Option<Effect>> {
        let &Write {
            party,
            offset,
            data,
            halves,
        } = write;
        if let Some(slot) = among(offset, r::SLOTS, 16) {
            return Some(Some(Effect::ClearSlot(slot as u8)));
        }
        if let Some(index) = among(offset, r::RX_HEADER, 6) {
            let index = index as u8;
            return view
                .receiver
                .stopped
                .then_some(Some(Effect::Header { index, data, halves }));
        }
        let (_, mask) = *KEPT.iter().chain(&ENTRIES).find(|(kept, _)| *kept == offset)?;
        let lanes = if halves & 1 == 1 { 0xffff_ffff } else { 0 } | if halves & 2 == 2 { 0xffff_ffff << 32 } else { 0 };
        let old = self.value(offset);
        self.kept.insert(offset, (old & !lanes | data & lanes) & mask);
        if halves & 1 == 0 {
            return Some(None);
        }
        if offset == r::CALL && party == Party::Processor {
            self.status |= r::STATUS_FIRMWARE_MASK;
        }
        Some(match offset {
            r::RDMA_LENGTH => {
                let length = self.value(offset);
                Some(Effect::Descriptor {
                    what: self.value(r::RDMA_WHAT),
                    local: self.value(r::RDMA_LOCAL),
                    remote: self.value(r::RDMA_REMOTE),
                    bytes: length as u32,
                    slot: (length >> r::RDMA_LENGTH_SLOT_SHIFT) as u8,
                })
            }
            RVA_BOUND => Some(Effect::Rva {
                key: self.value(r::RVATLB),
                base: self.value(RVA_BASE),
                bound: self.value(RVA_BOUND),
            }),
            PA_FRAME => Some(Effect::Pa {
                key: self.value(r::PATLB),
                frame: self.value(PA_FRAME),
            }),
            _ => None,
        })
    }

    /// The built packet.
    fn packet(&self, data: bool) -> Effect {
        let words = if data { 4 } else { 3 };
        let mut words: Vec<u64> = (0..words).map(|i| self.value(r::BUILD + 8 * i)).collect();
        words[0] |= r::HDR_W0_OTF_MASK;
        Effect::Packet(words)
    }

    /// What a register keeps.
    pub fn value(&self, offset: u32) -> u64 {
        self.kept.get(&offset).copied().unwrap_or(0)
    }

    /// CONTROL.RUN.
    pub fn runs(&self) -> bool {
        self.value(r::CONTROL) & r::CONTROL_RUN_MASK != 0
    }

    /// The host's interrupt.
    pub fn interrupts(&self) -> bool {
        self.status & self.value(r::MASK) != 0
    }

    /// The processor's interrupt.
    pub fn interrupts_processor(&self, view: &View) -> bool {
        (view.receiver.stopped || view.rdma.stopped) && self.value(r::CONTROL) & r::CONTROL_POLL_MASK == 0
    }

    /// The receiver is done with a packet.
    pub fn outcome(&mut self, reason: u8) {
        let count = &mut self.counts[usize::from(reason)];
        *count = count.saturating_add(1);
        if reason != 0 {
            self.status |= r::STATUS_REFUSED_MASK;
        }
    }

    /// An answer came that no slot waits for.
    pub fn stray(&mut self) {
        self.strays = self.strays.saturating_add(1);
        self.status |= r::STATUS_STRAY_MASK;
    }

    /// A store to an AOTF page was lost.
    pub fn lost(&mut self) {
        self.lost = self.lost.saturating_add(1);
        self.status |= r::STATUS_LOST_MASK;
    }

    /// A store that went to AOTF or BOTF was refused there.
    pub fn store_refused(&mut self) {
        self.host_errors = self.host_errors.saturating_add(1);
        self.status |= r::STATUS_HOST_MASK;
    }

    /// A descriptor ended.
    pub fn descriptor_ended(&mut self, reason: u8) {
        self.rdma_error = reason;
    }

    /// The watchdog ended a stop.
    pub fn fired(&mut self) {
        let control = self.value(r::CONTROL) & !r::CONTROL_RUN_MASK;
        self.kept.insert(r::CONTROL, control);
        self.status |= r::STATUS_FIRED_MASK;
    }
}

/// A write with its halves in place.
struct Write {
    party: Party,
    offset: u32,
    data: u64,
    halves: u8,
}
