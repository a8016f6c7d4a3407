//! The host registers in lock step with a model whose registers, their access and their fields are those of `regs.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use regs_gen::Word;
use testbenches::rtl::*;
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::wave::Probe;

use crate::rig::{Ports, Rig, Twin, each_is_caught};
use crate::{STARTS, holds};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// What is read, and what is refused.
    Answer,
    /// What software has set reaches the cell, and no more than it may set.
    Control,
    /// The spill region is no larger than the largest.
    Limit,
    /// What a write asks for is asked for once.
    Pulse,
    /// Causes and the interrupt.
    Interrupt,
    /// Ready for a request, and with an answer, in the cycles that are told.
    Handshake,
    /// Busy while there is something to be done, and only then.
    Rest,
    Path,
}

const RULES: [Rule; 8] = [
    Rule::Answer,
    Rule::Control,
    Rule::Limit,
    Rule::Pulse,
    Rule::Interrupt,
    Rule::Handshake,
    Rule::Rest,
    Rule::Path,
];

/// Of the ring registers' names.
const RINGS: usize = RING_SETS as usize;

#[derive(Clone, Copy, Debug)]
struct Request {
    write: bool,
    offset: u8,
    data: u32,
    strobes: u8,
}

#[derive(Clone, Debug, Default)]
pub struct In {
    request: Option<Request>,
    rsp_ready: bool,
    upd_ready: bool,
    demap_ready: bool,
    loaded: u8,
    ring_write: [u32; RINGS],
    ring_busy: u8,
    fault: u8,
    fault_write: u8,
    fault_system: u8,
    fault_reason: [u8; 5],
    fault_context: [u16; 5],
    fault_addr: [u32; 5],
    cell_busy: bool,
    stable: bool,
    fill: bool,
    full: bool,
    spilled: u8,
    held: u32,
    position: u16,
    acks: u16,
    pulse: u8,
    stray: u8,
    refused_count: u16,
    refused_page: u16,
    refused_cause: u8,
    broken_count: [u16; 2],
    broken: u8,
    broken_reason: [u8; 2],
    broken_what: [u32; 2],
    open_count: [u8; 2],
    open_page: [u16; 2],
    peek_data: u32,
}

/// What the cell is told, as long as it is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Control {
    cell: u16,
    size: u16,
    last: u16,
    context: u16,
    range: u32,
    table: u32,
    base: u8,
    /// As in MODE.
    mode: u32,
    peek: u8,
    cache: u32,
    /// As in WTP_PAGES.
    pages: u32,
    ring_on: u8,
    ring_size: u8,
    ring_context: u64,
    ring_read: u64,
}

/// What the cell is to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pulses {
    retry: u8,
    abort: u8,
    drop: u8,
    release: Option<u32>,
    /// Kind and line.
    update: Option<(u8, u32)>,
    /// All, or of this address.
    demap: Option<(bool, u32)>,
    forget: bool,
    /// Which ring, and where to.
    ring_set: Option<(u8, u32)>,
}

/// A demap; of everything it has no address.
fn any_address((all, addr): (bool, u32)) -> (bool, u32) {
    (all, if all { 0 } else { addr })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    busy: bool,
    irq: bool,
    ready: bool,
    /// `None` in it: an error.
    answer: Option<Option<u32>>,
    limit: u8,
    control: Control,
    pulses: Pulses,
}

/// Elements of a packed array of elements of `width` bits.
fn packed<const N: usize>(width: usize, values: [u64; N]) -> u64 {
    (0..N).map(|i| values[i] << (i * width)).sum()
}

macro_rules! ports {
    ($($unit:ident)+) => {$(
        impl Ports for $unit {
            type In = In;
            type Out = Out;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, inputs: &In) {
                let nothing = Request { write: true, offset: SERVE as u8, data: 0xffff_ffff, strobes: 15 };
                let request = inputs.request.unwrap_or(nothing);
                self.host_req_valid_i.set_bool(inputs.request.is_some());
                self.host_req_write_i.set_bool(request.write);
                self.host_req_addr_i.set(request.offset);
                self.host_req_wdata_i.set(request.data);
                self.host_req_wstrb_i.set(request.strobes);
                self.host_rsp_ready_i.set_bool(inputs.rsp_ready);
                self.upd_ready_i.set_bool(inputs.upd_ready);
                self.demap_ready_i.set_bool(inputs.demap_ready);
                self.loaded_i.set(inputs.loaded);
                for (i, &slot) in inputs.ring_write.iter().enumerate() {
                    self.ring_write_i.set_bits(27 * i, 27, slot.into());
                }
                self.ring_busy_i.set(inputs.ring_busy);
                self.fault_i.set(inputs.fault);
                self.fault_write_i.set(inputs.fault_write);
                self.fault_system_i.set(inputs.fault_system);
                self.fault_reason_i.set(packed(3, inputs.fault_reason.map(u64::from)) as u16);
                self.fault_context_i.set(packed(12, inputs.fault_context.map(u64::from)));
                for (i, &addr) in inputs.fault_addr.iter().enumerate() {
                    self.fault_addr_i.set_bits(32 * i, 32, addr.into());
                }
                self.cell_busy_i.set_bool(inputs.cell_busy);
                self.stable_i.set_bool(inputs.stable);
                self.fill_i.set_bool(inputs.fill);
                self.full_i.set_bool(inputs.full);
                self.spilled_i.set(inputs.spilled);
                self.held_i.set(inputs.held);
                self.position_i.set(inputs.position);
                self.acks_i.set(inputs.acks);
                self.pulse_i.set(inputs.pulse);
                self.stray_i.set(inputs.stray);
                self.refused_count_i.set(inputs.refused_count);
                self.refused_page_i.set(inputs.refused_page);
                self.refused_cause_i.set(inputs.refused_cause);
                self.count_of_broken_i.set(packed(16, inputs.broken_count.map(u64::from)) as u32);
                self.broken_valid_i.set(inputs.broken);
                self.broken_reason_i.set(packed(4, inputs.broken_reason.map(u64::from)) as u8);
                self.broken_what_i.set(packed(32, inputs.broken_what.map(u64::from)));
                self.open_count_i.set(packed(3, inputs.open_count.map(u64::from)) as u8);
                self.open_page_i.set(packed(16, inputs.open_page.map(u64::from)) as u32);
                self.peek_data_i.set(inputs.peek_data);
            }

            fn seen(&self) -> Out {
                let valid = |flag: bool| flag.then_some(());
                let mode = [
                    (MODE_PAUSE_SHIFT, u32::from(self.pause_o.get())),
                    (MODE_THROUGH_SHIFT, self.through_o.get().into()),
                    (MODE_BLOCK_SHIFT, self.block_o.get().into()),
                    (MODE_FAULT_HOST_SHIFT, self.creg_fault_o.get().into()),
                ];
                Out {
                    busy: self.busy_o.is_set(),
                    irq: self.irq_o.is_set(),
                    ready: self.host_req_ready_o.is_set(),
                    answer: valid(self.host_rsp_valid_o.is_set())
                        .map(|()| (!self.host_rsp_err_o.is_set()).then(|| self.host_rsp_rdata_o.get())),
                    limit: self.limit_o.get(),
                    control: Control {
                        cell: self.cell_o.get(),
                        size: self.size_o.get(),
                        last: self.last_o.get(),
                        context: self.context_o.get(),
                        range: self.range_o.get(),
                        table: self.table_o.get(),
                        base: self.base_o.get(),
                        mode: mode.iter().map(|(shift, bits)| bits << shift).sum(),
                        peek: self.peek_o.get(),
                        cache: self.cache_o.get(),
                        pages: u32::from(self.high_o.get()) << WTP_PAGES_HIGH_SHIFT | u32::from(self.low_o.get()),
                        ring_on: self.ring_on_o.get(),
                        ring_size: self.ring_size_o.get(),
                        ring_context: self.ring_context_o.get(),
                        ring_read: self.ring_read_o.get(),
                    },
                    pulses: Pulses {
                        retry: self.retry_o.get(),
                        abort: self.abort_o.get(),
                        drop: self.drop_o.get(),
                        release: valid(self.release_valid_o.is_set()).map(|()| self.release_count_o.get()),
                        update: valid(self.upd_valid_o.is_set())
                            .map(|()| (self.upd_kind_o.get(), self.upd_line_o.get())),
                        demap: valid(self.demap_valid_o.is_set())
                            .map(|()| any_address((self.demap_all_o.is_set(), self.demap_addr_o.get()))),
                        forget: self.forget_o.is_set(),
                        ring_set: valid(self.ring_set_o.get() != 0)
                            .map(|()| (self.ring_set_o.get(), self.ring_at_o.get())),
                    },
                }
            }
        }
    )+};
}

ports!(Ap1000pRegs TwinRegsRead TwinRegsPartial TwinRegsLast TwinRegsTable TwinRegsLimit TwinRegsForget TwinRegsDemap TwinRegsCause
       TwinRegsStray TwinRegsEnable TwinRegsUpdate TwinRegsRest TwinRegsDozes TwinRegsPath);

/// A value of a word with these bits in place of a field's.
fn at(value: impl Into<u64>, mask: u32) -> u32 {
    let value: u64 = value.into();
    let value = value << mask.trailing_zeros();
    assert!(value <= mask.into(), "{value:#x} is more than a field of {mask:#x}");
    value as u32
}

fn field(word: u32, mask: u32) -> u32 {
    (word & mask) >> mask.trailing_zeros()
}

fn bit(flag: bool, mask: u32) -> u32 {
    if flag { mask } else { 0 }
}

/// Of which ring a register is, and its name without the number.
fn of_ring(name: &str) -> Option<(usize, &str)> {
    let (number, part) = name.strip_prefix("RING")?.split_once('_')?;
    Some((number.parse().ok()?, part))
}

/// Of which fault a register tells, and which of the two it is.
fn of_fault(name: &str) -> Option<(usize, bool)> {
    let why = name.strip_prefix("WHY").map(|number| (number, true));
    let (number, why) = why.or_else(|| Some((name.strip_prefix("WHERE")?, false)))?;
    Some((number.parse().ok()?, why))
}

struct Model {
    registers: BTreeMap<u8, Word>,
    /// What was written to registers that keep it, by name; zero where nothing is.
    kept: BTreeMap<String, u32>,
    last: u16,
    pending: u32,
    irq: bool,
    /// Acknowledgements and loads' answers.
    stray: [u16; 2],
    what: u32,
    why: u8,
    pulses: Pulses,
    /// Cycles in which what depends on a write settles.
    settles: u8,
    /// A demap was asked for while another was not done.
    again: bool,
    answer: Option<Option<u32>>,
    /// What is answered, for whose rule it is.
    asked: u8,
}

impl Model {
    fn new() -> Model {
        let origin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtl/ap1000p/regs.toml");
        let machine = regs_gen::load(&origin).expect("regs-gen reads it");
        let block = machine.block.into_iter().find(|block| block.name == "Registers");
        let words = block.expect("there are registers").word;
        let registers = words.into_iter().map(|word| (word.offset as u8, word)).collect();
        let mut model = Model {
            registers,
            kept: BTreeMap::new(),
            last: 0,
            pending: 0,
            irq: false,
            stray: [0; 2],
            what: 0,
            why: 0,
            pulses: Pulses::default(),
            settles: 0,
            again: false,
            answer: None,
            asked: 0,
        };
        model.reset();
        model
    }

    /// `last` follows the size all the time.
    fn reset(&mut self) {
        self.kept = BTreeMap::from([("SIZE".into(), 1 << SIZE_X_SHIFT | 1 << SIZE_Y_SHIFT)]);
        (self.pending, self.irq, self.stray) = (0, false, [0; 2]);
        (self.what, self.why) = (0, 0);
        (self.pulses, self.again, self.answer) = (Pulses::default(), false, None);
        self.settles = 7;
    }

    fn kept(&self, name: &str) -> u32 {
        self.kept.get(name).copied().unwrap_or(0)
    }

    fn ring(&self, set: usize, part: &str) -> u32 {
        self.kept(&format!("RING{set}_{part}"))
    }

    /// What a word keeps of what is written to it: its fields, and what their description says of them.
    fn keeps(word: &Word, data: u32) -> u32 {
        let fields: u32 = word.field.iter().map(|field| field.mask()).sum();
        let data = data & if word.field.is_empty() { u32::MAX } else { fields };
        match word.name.as_str() {
            "CONTEXT_TABLE" => data & !(16 * 1024 - 1),
            "WTP_CACHE" => data & !(2 * 1024 * 1024 - 1),
            "SPILL_REGION" => {
                let limit = field(data, SPILL_REGION_LIMIT_MASK).min(SPILL_UNITS);
                data & SPILL_REGION_BASE_MASK | limit << SPILL_REGION_LIMIT_SHIFT
            }
            name if of_ring(name).is_some_and(|(_, part)| part == "MODE") => data & !RING0_MODE_BUSY_MASK,
            _ => data,
        }
    }

    fn read(&self, name: &str, inputs: &In) -> u32 {
        if let Some((fault, why)) = of_fault(name) {
            let flag = |flags: u8| flags >> fault & 1 == 1;
            if !flag(inputs.fault) {
                return 0;
            }
            return if why {
                at(inputs.fault_reason[fault], WHY0_REASON_MASK)
                    | bit(flag(inputs.fault_write), WHY0_WRITE_MASK)
                    | bit(flag(inputs.fault_system), WHY0_SYSTEM_MASK)
                    | at(inputs.fault_context[fault], WHY0_CONTEXT_MASK)
            } else {
                inputs.fault_addr[fault]
            };
        }
        if let Some((set, part)) = of_ring(name) {
            let busy = bit(inputs.ring_busy >> set & 1 == 1, RING0_MODE_BUSY_MASK);
            return match part {
                "WRITE" => inputs.ring_write[set],
                "MODE" => self.kept(name) | busy,
                _ => self.kept(name),
            };
        }
        match name {
            "STATUS" => {
                bit(inputs.stable, STATUS_STABLE_MASK)
                    | bit(inputs.fill, STATUS_FILL_MASK)
                    | bit(inputs.full, STATUS_FULL_MASK)
                    | bit(inputs.cell_busy, STATUS_BUSY_MASK)
                    | bit(self.pulses.demap.is_some(), STATUS_DEMAP_MASK)
                    | at(inputs.spilled, STATUS_SPILLED_MASK)
            }
            "CAUSE" => self.pending,
            "FAULTS" => at(inputs.fault, FAULTS_WHO_MASK),
            "ACKS" => at(inputs.acks, ACKS_COUNT_MASK),
            "STRAY_COUNT" => at(self.stray[0], STRAY_COUNT_ACKS_MASK) | at(self.stray[1], STRAY_COUNT_LOADS_MASK),
            "REFUSED_COUNT" => {
                at(inputs.refused_count, REFUSED_COUNT_COUNT_MASK) | at(inputs.refused_page, REFUSED_COUNT_PAGE_MASK)
            }
            "BROKEN_COUNT" => {
                at(inputs.broken_count[0], BROKEN_COUNT_REQUESTS_MASK)
                    | at(inputs.broken_count[1], BROKEN_COUNT_REPLIES_MASK)
            }
            "BROKEN_WHAT" => self.what,
            "OPEN" => {
                at(inputs.open_count[0], OPEN_USER_MASK)
                    | at(inputs.open_count[1], OPEN_SYSTEM_MASK)
                    | at(self.why, OPEN_WHY_MASK)
                    | at(inputs.refused_cause, OPEN_CAUSE_MASK)
            }
            "OPEN_PAGE" => {
                at(inputs.open_page[0], OPEN_PAGE_USER_MASK) | at(inputs.open_page[1], OPEN_PAGE_SYSTEM_MASK)
            }
            "PEEK" => inputs.peek_data,
            "HELD" => at(inputs.held, HELD_COUNT_MASK),
            "POSITION" => at(inputs.position, POSITION_ELEMENT_MASK),
            "LOADED" => at(inputs.loaded, LOADED_WHY_MASK),
            "ID" => ID_VALUE,
            _ => self.kept(name),
        }
    }

    fn write(&mut self, offset: u8, data: u32) {
        let word = &self.registers[&offset];
        let name = word.name.clone();
        let kept = Model::keeps(word, data);
        match name.as_str() {
            "SERVE" => {
                self.pulses.retry = field(data, SERVE_RETRY_MASK) as u8;
                self.pulses.abort = field(data, SERVE_ABORT_MASK) as u8;
            }
            "DROP" => self.pulses.drop = (data & (DROP_USER_MASK | DROP_SYSTEM_MASK)) as u8,
            "RELEASE" => self.pulses.release = Some(kept),
            "DEMAP" | "DEMAP_ALL" => {
                self.again = self.again || self.pulses.demap.is_some();
                let asked = any_address((name == "DEMAP_ALL", data));
                self.pulses.demap.get_or_insert(asked);
            }
            "WTP_UPDATE" => {
                let kind = field(data, WTP_UPDATE_KIND_MASK) as u8;
                self.pulses.update = Some((kind, field(data, WTP_UPDATE_LINE_MASK)));
            }
            "CAUSE" => self.pending &= !data,
            _ => match of_ring(&name) {
                Some((set, "WRITE")) => self.pulses.ring_set = Some((1 << set, kept)),
                _ => {
                    self.kept.insert(name, kept);
                }
            },
        }
    }

    /// What the outputs are in this cycle.
    fn seen(&self) -> Out {
        let ring = |part, mask: u32| [0, 1, 2].map(|set| u64::from(field(self.ring(set, part), mask)));
        Out {
            busy: self.settles > 0 || self.pulses.update.is_some() || self.pulses.demap.is_some(),
            irq: self.irq,
            ready: self.answer.is_none() && self.pulses.update.is_none(),
            answer: self.answer,
            limit: field(self.kept("SPILL_REGION"), SPILL_REGION_LIMIT_MASK) as u8,
            control: Control {
                cell: self.kept("CELL") as u16,
                size: self.kept("SIZE") as u16,
                last: self.last,
                context: self.kept("CONTEXT") as u16,
                range: self.kept("RANGE"),
                table: self.kept("CONTEXT_TABLE"),
                base: field(self.kept("SPILL_REGION"), SPILL_REGION_BASE_MASK) as u8,
                mode: self.kept("MODE"),
                peek: self.kept("PEEK") as u8,
                cache: self.kept("WTP_CACHE"),
                pages: self.kept("WTP_PAGES"),
                ring_on: packed(1, ring("MODE", RING0_MODE_ON_MASK)) as u8,
                ring_size: packed(2, ring("MODE", RING0_MODE_SIZE_MASK)) as u8,
                ring_context: packed(12, ring("MODE", RING0_MODE_CONTEXT_MASK)),
                ring_read: packed(18, ring("READ", RING0_READ_SLOT_MASK)),
            },
            pulses: self.pulses,
        }
    }

    /// The edge.
    fn step(&mut self, inputs: &In, rst: bool) {
        let size = self.kept("SIZE");
        self.last = [SIZE_X_MASK, SIZE_Y_MASK]
            .into_iter()
            .map(|mask| (field(size, mask) as u8).wrapping_sub(1))
            .enumerate()
            .map(|(axis, last)| u16::from(last) << (8 * axis))
            .sum();
        if rst {
            self.reset();
            return;
        }
        let request = inputs.request.filter(|_| self.seen().ready);
        let pending = self.pending;
        let irq = pending & self.kept("ENABLE") != 0;
        // What is there before this edge is what a read finds.
        let register = request.and_then(|request| self.registers.get(&request.offset));
        let allowed = request
            .zip(register)
            .filter(|(request, word)| match word.access.as_str() {
                "rw" | "wo" => !request.write || request.strobes == 15,
                "ro" => !request.write,
                access => panic!("{}: a register that is {access:?}", word.name),
            });
        let data = allowed.map(|(request, word)| match (request.write, word.access.as_str()) {
            (true, _) | (_, "wo") => 0,
            _ => self.read(&word.name, inputs),
        });
        let write = allowed.and_then(|(request, _)| request.write.then_some((request.offset, request.data)));
        let before = std::mem::take(&mut self.pulses);
        self.pulses.forget = before.demap.is_some() && inputs.demap_ready;
        self.pulses.demap = before.demap.filter(|_| !inputs.demap_ready);
        self.pulses.update = before.update.filter(|_| !inputs.upd_ready);
        let updated = before.update.is_some() && inputs.upd_ready;
        if let Some((offset, data)) = write {
            self.write(offset, data);
        }
        if (before.demap.is_none() || inputs.demap_ready) && std::mem::take(&mut self.again) {
            self.pulses.demap = Some((true, 0));
        }
        if let Some(request) = request {
            self.asked = request.offset;
            // An update is answered when it is taken.
            self.answer = self.pulses.update.is_none().then_some(data);
        } else if updated {
            self.answer = Some(Some(0));
        } else if inputs.rsp_ready {
            self.answer = None;
        }
        self.irq = irq;
        let causes = bit(inputs.fault != 0, CAUSE_FAULT_MASK)
            | bit(inputs.fill, CAUSE_FILL_MASK)
            | bit(inputs.full, CAUSE_FULL_MASK)
            | u32::from(inputs.pulse) << CAUSE_REFUSED_SHIFT
            | bit(inputs.stray != 0, CAUSE_STRAY_MASK);
        let written = request.is_some_and(|request| request.write && request.strobes == 15);
        self.settles = if written || causes & !pending != 0 {
            7
        } else {
            self.settles.saturating_sub(1)
        };
        self.pending |= causes;
        for (i, count) in self.stray.iter_mut().enumerate() {
            *count = count.saturating_add((inputs.stray >> i & 1).into());
        }
        if inputs.broken != 0 {
            let class = usize::from(inputs.broken & 1 == 0);
            self.what = inputs.broken_what[class];
            self.why = inputs.broken_reason[class];
        }
    }
}

/// A register more often than not, those of the interrupt oftener; more ones and zeros than by chance alone.
fn any_request(rng: &mut Rng, model: &Model) -> Request {
    let number = rng.below(model.registers.len() as u64) as usize;
    let known = *model.registers.keys().nth(number).expect("counted");
    Request {
        write: rng.chance(1, 2),
        offset: match rng.below(8) {
            0 => rng.bits() as u8,
            1 => CAUSE as u8,
            2 => ENABLE as u8,
            // Often one while another is not done.
            3 => [DEMAP, DEMAP_ALL][rng.below(2) as usize] as u8,
            _ => known,
        },
        data: match rng.below(4) {
            0 => 0,
            1 => u32::MAX,
            _ => rng.bits() as u32,
        },
        strobes: if rng.chance(1, 8) { rng.bits() as u8 & 15 } else { 15 },
    }
}

/// Whatever the other parts say.
fn any_inputs(rng: &mut Rng, quiet: bool) -> In {
    let mut bits = |width: u32| rng.bits() >> (64 - width);
    let mut inputs = In {
        loaded: bits(2) as u8,
        ring_write: [0; RINGS].map(|_: u32| bits(27) as u32),
        ring_busy: bits(3) as u8,
        fault: bits(5) as u8,
        fault_write: bits(5) as u8,
        fault_system: bits(5) as u8,
        fault_reason: [0; 5].map(|_: u8| bits(3) as u8),
        fault_context: [0; 5].map(|_: u16| bits(12) as u16),
        fault_addr: [0; 5].map(|_: u32| bits(32) as u32),
        cell_busy: bits(1) == 1,
        stable: bits(1) == 1,
        fill: bits(1) == 1,
        full: bits(1) == 1,
        spilled: bits(5) as u8,
        held: bits(17) as u32,
        position: bits(16) as u16,
        acks: bits(16) as u16,
        pulse: (bits(6) & bits(6)) as u8,
        stray: (bits(2) & bits(2)) as u8,
        refused_count: bits(16) as u16,
        refused_page: bits(16) as u16,
        refused_cause: bits(2) as u8,
        broken_count: [0; 2].map(|_: u16| bits(16) as u16),
        broken: bits(2) as u8,
        broken_reason: [0; 2].map(|_: u8| bits(4) as u8),
        broken_what: [0; 2].map(|_: u32| bits(32) as u32),
        open_count: [0; 2].map(|_: u8| bits(3) as u8),
        open_page: [0; 2].map(|_: u16| bits(16) as u16),
        peek_data: bits(32) as u32,
        ..In::default()
    };
    if quiet {
        (inputs.fault, inputs.fill, inputs.full, inputs.pulse, inputs.stray) = (0, false, false, 0, 0);
    }
    inputs
}

struct Bench<'a, U> {
    rig: Rig<'a, U>,
    model: Model,
}

impl<'a, U: Ports<In = In, Out = Out>> Bench<'a, U> {
    fn new(case: &Case, start: &str, probe: &'a Probe) -> Result<Self, String> {
        let mut bench = Bench {
            rig: Rig::new(case, start, probe),
            model: Model::new(),
        };
        for _ in 0..2 {
            bench.rig.step(&In::default(), true)?;
            bench.model.step(&In::default(), true);
        }
        Ok(bench)
    }

    fn cycle(&mut self, inputs: &In, rst: bool) -> Result<Out, String> {
        let now = self.rig.cycle;
        let seen = self.rig.step(inputs, rst)?;
        let want = self.model.seen();
        let asked = self.model.asked;
        let told = || format!("cycle {now}, register {asked:#04x}: {seen:x?}, not {want:x?}");
        let came = (seen.ready, seen.answer.is_some()) == (want.ready, want.answer.is_some());
        let values = [seen.answer, want.answer]
            .iter()
            .all(|answer| answer.flatten().is_some());
        let rule = if u32::from(asked) == CAUSE && values {
            Rule::Interrupt
        } else {
            Rule::Answer
        };
        holds(Rule::Handshake, came, told)?;
        holds(Rule::Limit, seen.limit == want.limit, told)?;
        holds(rule, seen.answer == want.answer, told)?;
        holds(Rule::Control, seen.control == want.control, told)?;
        holds(Rule::Pulse, seen.pulses == want.pulses, told)?;
        holds(Rule::Interrupt, seen.irq == want.irq, told)?;
        holds(Rule::Rest, seen.busy == want.busy, told)?;
        self.model.step(inputs, rst);
        Ok(seen)
    }

    /// One request, and its answer.
    fn access(&mut self, request: Request) -> Result<Option<u32>, String> {
        let mut inputs = In {
            request: Some(request),
            upd_ready: true,
            demap_ready: true,
            ..In::default()
        };
        self.cycle(&inputs, false)?;
        (inputs.request, inputs.rsp_ready) = (None, true);
        for _ in 0..4 {
            if let Some(answer) = self.cycle(&inputs, false)?.answer {
                return Ok(answer);
            }
        }
        Err(format!("{:?}: no answer to {request:x?}", Rule::Handshake))
    }
}

/// Requests at any time to any register, whatever the other parts say, with resets among them; in the end to those that chance
/// has left out.
fn follows<U: Ports<In = In, Out = Out>>(case: &Case, start: &str, probe: &Probe) -> Result<(), String> {
    let mut rng = case.rng("events");
    let mut bench = Bench::<U>::new(case, start, probe)?;
    let mut request = None;
    let mut taken: BTreeMap<(u8, bool), u32> = BTreeMap::new();
    let is_rare = |taken: &BTreeMap<_, u32>, met: &(u8, bool)| taken.get(met).is_none_or(|count| *count < 10);
    let all = |model: &Model| {
        let offsets: Vec<u8> = model.registers.keys().copied().collect();
        offsets.into_iter().flat_map(|offset| [(offset, false), (offset, true)])
    };
    for phase in 0..120 {
        let mut rare = all(&bench.model).filter(|met| phase >= 80 && is_rare(&taken, met));
        let left_out = rare.next();
        if phase >= 80 && left_out.is_none() {
            break;
        }
        let (asks, takes) = (rng.between(1, 8), rng.between(1, 8));
        for _ in 0..250 {
            let quiet = phase % 3 == 0 || rng.chance(1, 2);
            let mut inputs = any_inputs(&mut rng, quiet);
            if request.is_none() && rng.chance(asks, 8) {
                let mut any = any_request(&mut rng, &bench.model);
                if let Some((offset, write)) = left_out {
                    (any.offset, any.write) = (offset, write);
                }
                request = Some(any);
            }
            inputs.request = request;
            inputs.rsp_ready = rng.chance(takes, 8);
            inputs.upd_ready = rng.chance(takes, 8);
            inputs.demap_ready = rng.chance(takes, 16);
            let rst = rng.chance(1, 1500);
            let ready = bench.cycle(&inputs, rst)?.ready;
            if let Some(Request { write, offset, .. }) = request.filter(|_| ready && !rst) {
                *taken.entry((offset, write)).or_default() += 1;
            }
            if ready || rst {
                request = None;
            }
        }
    }
    for met in all(&bench.model) {
        let name = &bench.model.registers[&met.0].name;
        assert!(
            !is_rare(&taken, &met),
            "{name} was met {:?} times, write {}",
            taken.get(&met),
            met.1
        );
    }
    Ok(())
}

/// Every limit that can be written.
fn limits<U: Ports<In = In, Out = Out>>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, STARTS[0], probe)?;
    let request = |write, data| Request {
        write,
        offset: SPILL_REGION as u8,
        data,
        strobes: 15,
    };
    for limit in 0..=field(u32::MAX, SPILL_REGION_LIMIT_MASK) {
        let base = limit.wrapping_mul(0x35) & 0xff;
        bench.access(request(true, limit << SPILL_REGION_LIMIT_SHIFT | base))?;
        let read = bench.access(request(false, 0))?;
        let want = limit.min(SPILL_UNITS) << SPILL_REGION_LIMIT_SHIFT | base;
        holds(Rule::Limit, read == Some(want), || {
            format!("{limit} of {base:#x} reads as {read:x?}")
        })?;
    }
    Ok(())
}

/// Counters of stray answers end where they are full.
fn strays<U: Ports<In = In, Out = Out>>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, STARTS[0], probe)?;
    let read = Request {
        write: false,
        offset: STRAY_COUNT as u8,
        data: 0,
        strobes: 15,
    };
    let came = |stray| In { stray, ..In::default() };
    // One acknowledgement less than loads' answers, then both on.
    bench.cycle(&came(0b10), false)?;
    for _ in 0..u16::MAX - 1 {
        bench.cycle(&came(0b11), false)?;
    }
    for _ in 0..3 {
        bench.access(read)?;
        bench.cycle(&came(0b11), false)?;
    }
    Ok(())
}

/// Every offset that is none, and every register that cannot be written, is refused.
fn refusals<U: Ports<In = In, Out = Out>>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, STARTS[0], probe)?;
    for offset in 0..=u8::MAX {
        let access = bench.model.registers.get(&offset).map(|word| word.access.clone());
        for (write, strobes) in [(false, 0), (true, 15), (true, 7)] {
            let data = u32::from(offset) * 0x0101_0101;
            let request = Request {
                write,
                offset,
                data,
                strobes,
            };
            let read = bench.access(request)?;
            let allowed = match access.as_deref() {
                None => false,
                Some("ro") => !write,
                Some(_) => !write || strobes == 15,
            };
            holds(Rule::Answer, read.is_some() == allowed, || {
                format!("{request:x?}: {read:x?}")
            })?;
        }
    }
    Ok(())
}

#[test]
fn follow_their_model() {
    for start in STARTS {
        let case = Case::new("ap1000p", "registers::follow_their_model", start);
        case.run(|probe| follows::<Ap1000pRegs>(&case, start, probe));
    }
}

#[test]
fn a_limit_above_64_is_64() {
    let case = Case::new("ap1000p", "registers::a_limit_above_64_is_64", "");
    case.run(|probe| limits::<Ap1000pRegs>(&case, probe));
}

#[test]
fn stray_answers_are_counted_to_the_end() {
    let case = Case::new("ap1000p", "registers::stray_answers_are_counted_to_the_end", "");
    case.run(|probe| strays::<Ap1000pRegs>(&case, probe));
}

#[test]
fn what_is_no_register_is_refused() {
    let case = Case::new("ap1000p", "registers::what_is_no_register_is_refused", "");
    case.run(|probe| refusals::<Ap1000pRegs>(&case, probe));
}

fn checks<U: Ports<In = In, Out = Out>>() -> Vec<Result<(), String>> {
    let case = Case::new("ap1000p", "registers::each_twin_is_caught", "");
    vec![follows::<U>(&case, STARTS[0], &Probe::default())]
}

/// That a limit is checked by name, too.
fn of_limits<U: Ports<In = In, Out = Out>>() -> Vec<Result<(), String>> {
    let case = Case::new("ap1000p", "registers::each_twin_is_caught", "limits");
    vec![limits::<U>(&case, &Probe::default())]
}

/// That what is counted is not counted anew.
fn of_strays<U: Ports<In = In, Out = Out>>() -> Vec<Result<(), String>> {
    let case = Case::new("ap1000p", "registers::each_twin_is_caught", "strays");
    vec![strays::<U>(&case, &Probe::default())]
}

#[test]
fn each_twin_is_caught() {
    let twins: &[Twin] = &[
        ("Answer", &checks::<TwinRegsRead>),
        ("Answer", &checks::<TwinRegsPartial>),
        ("Answer", &checks::<TwinRegsLast>),
        ("Answer", &of_strays::<TwinRegsStray>),
        ("Control", &checks::<TwinRegsTable>),
        ("Limit", &checks::<TwinRegsLimit>),
        ("Limit", &of_limits::<TwinRegsLimit>),
        ("Pulse", &checks::<TwinRegsForget>),
        ("Pulse", &checks::<TwinRegsDemap>),
        ("Rest|Interrupt", &checks::<TwinRegsCause>),
        ("Interrupt", &checks::<TwinRegsEnable>),
        ("Handshake", &checks::<TwinRegsUpdate>),
        ("Rest", &checks::<TwinRegsRest>),
        ("Rest", &checks::<TwinRegsDozes>),
        ("Path", &checks::<TwinRegsPath>),
    ];
    each_is_caught(&RULES, twins);
}
