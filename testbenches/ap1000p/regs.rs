//! The host registers in lock step with a model that takes registers, accesses and fields from `regs.toml`.

use std::collections::BTreeMap;
use std::mem;
use std::path::Path;

use regs_gen::Word;
use support::this_test;
use testbenches::rtl::{
    Ap1000pRegs, Ap1000pRegsPorts, Ap1000pRegsUnit, TwinRegsCause, TwinRegsDemap, TwinRegsDozes, TwinRegsEnable,
    TwinRegsForget, TwinRegsLast, TwinRegsLimit, TwinRegsPartial, TwinRegsPath, TwinRegsRead, TwinRegsRest,
    TwinRegsStray, TwinRegsTable, TwinRegsUpdate,
};
use testbenches::{Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::seed::Rng;
use verilated::{Input as _, Port as _};

rules!(
    /// Reads give the model's values, and errors are the model's.
    Answer
    /// The cell gets the settings of software, and no more than software may set.
    Control
    /// The spill region has at most 64 units.
    Limit
    /// Each request of a write reaches the cell once.
    Pulse
    /// Causes and the interrupt are the model's.
    Interrupt
    /// The unit is ready, and answers, in the stated cycles.
    Handshake
    /// `busy_o` is high while there is work, and only then.
    Rest
    /// No output follows an input within the cycle.
    Path
);

/// Sets of the ring registers.
const RINGS: usize = RING_SETS as usize;

#[derive(Clone, Copy, Debug)]
struct Request {
    write: bool,
    offset: u8,
    data: u32,
    strobes: u8,
}

#[derive(Clone, Debug, Default)]
struct In {
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

/// The settings of the cell.
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

/// Requests to the cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pulses {
    retry: u8,
    abort: u8,
    drop: u8,
    release: Option<u32>,
    /// Kind and line.
    update: Option<(u8, u32)>,
    demap: Option<Demap>,
    forget: bool,
    /// The ring, one-hot, and its new place.
    ring_set: Option<(u8, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Demap {
    All,
    Address(u32),
}

/// A value, or `None` for an error.
type Answer = Option<u32>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    busy: bool,
    irq: bool,
    ready: bool,
    answer: Option<Answer>,
    limit: u8,
    control: Control,
    pulses: Pulses,
}

/// Elements of a packed array of elements of `width` bits.
fn packed<const N: usize>(width: usize, values: [u64; N]) -> u64 {
    (0..N).map(|i| values[i] << (i * width)).sum()
}

fn set(dut: &impl Ap1000pRegsPorts, inputs: &In) {
    let junk = Request {
        write: true,
        offset: SERVE as u8,
        data: 0xffff_ffff,
        strobes: 15,
    };
    let request = inputs.request.unwrap_or(junk);
    dut.host_req_valid_i().set_bool(inputs.request.is_some());
    dut.host_req_write_i().set_bool(request.write);
    dut.host_req_addr_i().set(request.offset.into());
    dut.host_req_wdata_i().set(request.data.into());
    dut.host_req_wstrb_i().set(request.strobes.into());
    dut.host_rsp_ready_i().set_bool(inputs.rsp_ready);
    dut.upd_ready_i().set_bool(inputs.upd_ready);
    dut.demap_ready_i().set_bool(inputs.demap_ready);
    dut.loaded_i().set(inputs.loaded.into());
    for (i, &slot) in inputs.ring_write.iter().enumerate() {
        dut.ring_write_i().set_bits(27 * i, 27, slot.into());
    }
    dut.ring_busy_i().set(inputs.ring_busy.into());
    dut.fault_i().set(inputs.fault.into());
    dut.fault_write_i().set(inputs.fault_write.into());
    dut.fault_system_i().set(inputs.fault_system.into());
    dut.fault_reason_i().set(packed(3, inputs.fault_reason.map(u64::from)));
    dut.fault_context_i()
        .set(packed(12, inputs.fault_context.map(u64::from)));
    for (i, &addr) in inputs.fault_addr.iter().enumerate() {
        dut.fault_addr_i().set_bits(32 * i, 32, addr.into());
    }
    dut.cell_busy_i().set_bool(inputs.cell_busy);
    dut.stable_i().set_bool(inputs.stable);
    dut.fill_i().set_bool(inputs.fill);
    dut.full_i().set_bool(inputs.full);
    dut.spilled_i().set(inputs.spilled.into());
    dut.held_i().set(inputs.held.into());
    dut.position_i().set(inputs.position.into());
    dut.acks_i().set(inputs.acks.into());
    dut.pulse_i().set(inputs.pulse.into());
    dut.stray_i().set(inputs.stray.into());
    dut.refused_count_i().set(inputs.refused_count.into());
    dut.refused_page_i().set(inputs.refused_page.into());
    dut.refused_cause_i().set(inputs.refused_cause.into());
    dut.count_of_broken_i()
        .set(packed(16, inputs.broken_count.map(u64::from)));
    dut.broken_valid_i().set(inputs.broken.into());
    dut.broken_reason_i()
        .set(packed(4, inputs.broken_reason.map(u64::from)));
    dut.broken_what_i().set(packed(32, inputs.broken_what.map(u64::from)));
    dut.open_count_i().set(packed(3, inputs.open_count.map(u64::from)));
    dut.open_page_i().set(packed(16, inputs.open_page.map(u64::from)));
    dut.peek_data_i().set(inputs.peek_data.into());
}

fn control(dut: &impl Ap1000pRegsPorts) -> Control {
    let mode = [
        (MODE_PAUSE_SHIFT, dut.pause_o().get()),
        (MODE_THROUGH_SHIFT, dut.through_o().get()),
        (MODE_BLOCK_SHIFT, dut.block_o().get()),
        (MODE_FAULT_HOST_SHIFT, dut.creg_fault_o().get()),
    ];
    Control {
        cell: dut.cell_o().get() as u16,
        size: dut.size_o().get() as u16,
        last: dut.last_o().get() as u16,
        context: dut.context_o().get() as u16,
        range: dut.range_o().get() as u32,
        table: dut.table_o().get() as u32,
        base: dut.base_o().get() as u8,
        mode: mode.iter().map(|&(shift, bits)| (bits as u32) << shift).sum(),
        peek: dut.peek_o().get() as u8,
        cache: dut.cache_o().get() as u32,
        pages: (dut.high_o().get() as u32) << WTP_PAGES_HIGH_SHIFT | dut.low_o().get() as u32,
        ring_on: dut.ring_on_o().get() as u8,
        ring_size: dut.ring_size_o().get() as u8,
        ring_context: dut.ring_context_o().get(),
        ring_read: dut.ring_read_o().get(),
    }
}

fn pulses(dut: &impl Ap1000pRegsPorts) -> Pulses {
    let release = || dut.release_count_o().get() as u32;
    let update = || (dut.upd_kind_o().get() as u8, dut.upd_line_o().get() as u32);
    let demap = || match dut.demap_all_o().is_set() {
        true => Demap::All,
        false => Demap::Address(dut.demap_addr_o().get() as u32),
    };
    let ring_set = || (dut.ring_set_o().get() as u8, dut.ring_at_o().get() as u32);
    Pulses {
        retry: dut.retry_o().get() as u8,
        abort: dut.abort_o().get() as u8,
        drop: dut.drop_o().get() as u8,
        release: dut.release_valid_o().is_set().then(release),
        update: dut.upd_valid_o().is_set().then(update),
        demap: dut.demap_valid_o().is_set().then(demap),
        forget: dut.forget_o().is_set(),
        ring_set: dut.ring_set_o().is_set().then(ring_set),
    }
}

fn seen(dut: &impl Ap1000pRegsPorts) -> Out {
    let answer = || {
        let error = dut.host_rsp_err_o().is_set();
        (!error).then(|| dut.host_rsp_rdata_o().get() as u32)
    };
    Out {
        busy: dut.busy_o().is_set(),
        irq: dut.irq_o().is_set(),
        ready: dut.host_req_ready_o().is_set(),
        answer: dut.host_rsp_valid_o().is_set().then(answer),
        limit: dut.limit_o().get() as u8,
        control: control(dut),
        pulses: pulses(dut),
    }
}

fn regs<U: Ap1000pRegsUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// A value in the place of a field.
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

/// A ring register's set, and its name without the number.
fn of_ring(name: &str) -> Option<(usize, &str)> {
    let (number, part) = name.strip_prefix("RING")?.split_once('_')?;
    Some((number.parse().ok()?, part))
}

/// The fault that a register describes, and whether it is WHY or WHERE.
fn of_fault(name: &str) -> Option<(usize, bool)> {
    let why = name.strip_prefix("WHY").map(|number| (number, true));
    let (number, why) = why.or_else(|| Some((name.strip_prefix("WHERE")?, false)))?;
    Some((number.parse().ok()?, why))
}

/// The bits of a written word that its register keeps: its fields, within the limits of their descriptions.
fn keeps(word: &Word, data: u32) -> u32 {
    let fields = word.field.iter().map(|field| field.mask() as u32).sum();
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

impl In {
    /// The causes of an interrupt.
    fn causes(&self) -> u32 {
        bit(self.fault != 0, CAUSE_FAULT_MASK)
            | bit(self.fill, CAUSE_FILL_MASK)
            | bit(self.full, CAUSE_FULL_MASK)
            | u32::from(self.pulse) << CAUSE_REFUSED_SHIFT
            | bit(self.stray != 0, CAUSE_STRAY_MASK)
    }

    /// WHY and WHERE of a fault, zero without it.
    fn fault(&self, fault: usize, is_why: bool) -> u32 {
        let flag = |flags: u8| flags >> fault & 1 == 1;
        if !flag(self.fault) {
            return 0;
        }
        if !is_why {
            return self.fault_addr[fault];
        }
        at(self.fault_reason[fault], WHY0_REASON_MASK)
            | bit(flag(self.fault_write), WHY0_WRITE_MASK)
            | bit(flag(self.fault_system), WHY0_SYSTEM_MASK)
            | at(self.fault_context[fault], WHY0_CONTEXT_MASK)
    }

    /// A register that shows other parts of the cell.
    fn shown(&self, name: &str) -> Option<u32> {
        Some(match name {
            "FAULTS" => at(self.fault, FAULTS_WHO_MASK),
            "ACKS" => at(self.acks, ACKS_COUNT_MASK),
            "REFUSED_COUNT" => {
                at(self.refused_count, REFUSED_COUNT_COUNT_MASK) | at(self.refused_page, REFUSED_COUNT_PAGE_MASK)
            }
            "BROKEN_COUNT" => {
                at(self.broken_count[0], BROKEN_COUNT_REQUESTS_MASK)
                    | at(self.broken_count[1], BROKEN_COUNT_REPLIES_MASK)
            }
            "OPEN_PAGE" => at(self.open_page[0], OPEN_PAGE_USER_MASK) | at(self.open_page[1], OPEN_PAGE_SYSTEM_MASK),
            "PEEK" => self.peek_data,
            "HELD" => at(self.held, HELD_COUNT_MASK),
            "POSITION" => at(self.position, POSITION_ELEMENT_MASK),
            "LOADED" => at(self.loaded, LOADED_WHY_MASK),
            "ID" => ID_VALUE,
            _ => return None,
        })
    }
}

struct Model {
    registers: BTreeMap<u8, Word>,
    /// The contents of registers that keep a written word, by name; zero without one.
    kept: BTreeMap<String, u32>,
    last: u16,
    pending: u32,
    irq: bool,
    /// Acknowledgements and replies to loads.
    stray: [u16; 2],
    what: u32,
    why: u8,
    pulses: Pulses,
    /// Cycles until a write has had all its effects.
    settles: u8,
    /// A demap was requested during another.
    again: bool,
    answer: Option<Answer>,
    /// The offset of the last request, which decides the rule of its answer.
    asked: u8,
}

impl Model {
    fn new() -> Model {
        let origin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtl/ap1000p/regs.toml");
        let machine = regs_gen::load(&origin).expect("regs-gen reads it");
        let block = machine.block.into_iter().find(|block| block.name == "Registers");
        let words = block.expect("there are registers").word;
        let mut model = Model {
            registers: words.into_iter().map(|word| (word.offset as u8, word)).collect(),
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

    /// `last` follows the size at any time.
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

    fn read(&self, name: &str, inputs: &In) -> u32 {
        if let Some((fault, is_why)) = of_fault(name) {
            return inputs.fault(fault, is_why);
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
            "STRAY_COUNT" => at(self.stray[0], STRAY_COUNT_ACKS_MASK) | at(self.stray[1], STRAY_COUNT_LOADS_MASK),
            "BROKEN_WHAT" => self.what,
            "OPEN" => {
                at(inputs.open_count[0], OPEN_USER_MASK)
                    | at(inputs.open_count[1], OPEN_SYSTEM_MASK)
                    | at(self.why, OPEN_WHY_MASK)
                    | at(inputs.refused_cause, OPEN_CAUSE_MASK)
            }
            _ => inputs.shown(name).unwrap_or_else(|| self.kept(name)),
        }
    }

    fn write(&mut self, offset: u8, data: u32) {
        let word = &self.registers[&offset];
        let name = word.name.clone();
        let kept = keeps(word, data);
        match name.as_str() {
            "SERVE" => {
                self.pulses.retry = field(data, SERVE_RETRY_MASK) as u8;
                self.pulses.abort = field(data, SERVE_ABORT_MASK) as u8;
            }
            "DROP" => self.pulses.drop = (data & (DROP_USER_MASK | DROP_SYSTEM_MASK)) as u8,
            "RELEASE" => self.pulses.release = Some(kept),
            "DEMAP" => self.demap(Demap::Address(data)),
            "DEMAP_ALL" => self.demap(Demap::All),
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

    fn demap(&mut self, demap: Demap) {
        self.again = self.again || self.pulses.demap.is_some();
        self.pulses.demap.get_or_insert(demap);
    }

    /// The outputs in this cycle.
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

    /// The register of a request, if it exists and allows the access.
    fn allowed(&self, request: &Request) -> Option<&Word> {
        let word = self.registers.get(&request.offset)?;
        let allows = match word.access.as_str() {
            "rw" | "wo" => !request.write || request.strobes == 15,
            "ro" => !request.write,
            access => panic!("{}: a register that is {access:?}", word.name),
        };
        allows.then_some(word)
    }

    /// The answer to a request, from the state before the edge.
    fn answer(&self, request: &Request, inputs: &In) -> Answer {
        let word = self.allowed(request)?;
        let is_read = !request.write && word.access != "wo";
        Some(if is_read { self.read(&word.name, inputs) } else { 0 })
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
        let before = self.pending;
        let irq = before & self.kept("ENABLE") != 0;
        self.requested(request, inputs);
        self.irq = irq;
        let causes = inputs.causes();
        let written = request.is_some_and(|request| request.write && request.strobes == 15);
        self.settles = if written || causes & !before != 0 {
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

    /// The edge of the answer and of the requests to the cell.
    fn requested(&mut self, request: Option<Request>, inputs: &In) {
        let answer = request.map(|request| self.answer(&request, inputs));
        let write = request.filter(|request| request.write && self.allowed(request).is_some());
        let before = mem::take(&mut self.pulses);
        self.pulses.forget = before.demap.is_some() && inputs.demap_ready;
        self.pulses.demap = before.demap.filter(|_| !inputs.demap_ready);
        self.pulses.update = before.update.filter(|_| !inputs.upd_ready);
        let updated = before.update.is_some() && inputs.upd_ready;
        if let Some(Request { offset, data, .. }) = write {
            self.write(offset, data);
        }
        if (before.demap.is_none() || inputs.demap_ready) && mem::take(&mut self.again) {
            self.pulses.demap = Some(Demap::All);
        }
        if let Some(request) = request {
            self.asked = request.offset;
            // An update is answered when it is taken.
            self.answer = answer.filter(|_| self.pulses.update.is_none());
        } else if updated {
            self.answer = Some(Some(0));
        } else if inputs.rsp_ready {
            self.answer = None;
        }
    }
}

/// Mostly a register, often of the interrupt; data of only ones or zeros oftener than by chance.
fn any_request(rng: &mut Rng, model: &Model) -> Request {
    let number = rng.below(model.registers.len() as u64) as usize;
    let known = *model.registers.keys().nth(number).expect("counted");
    Request {
        write: rng.chance(1, 2),
        offset: match rng.below(8) {
            0 => rng.bits() as u8,
            1 => CAUSE as u8,
            2 => ENABLE as u8,
            // Often one during another.
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

/// Any inputs from the other parts.
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

struct Bench<'a> {
    bench: testbenches::Bench<'a, In, Out>,
    model: Model,
}

impl<'a> Bench<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>) -> Result<Bench<'a>, Fault> {
        let mut bench = Bench {
            bench: testbenches::Bench::new(run, dut),
            model: Model::new(),
        };
        for _ in 0..2 {
            bench.bench.reset(&In::default())?;
            bench.model.step(&In::default(), true);
        }
        Ok(bench)
    }

    fn cycle(&mut self, inputs: &In, rst: bool) -> Result<Out, Fault> {
        let cycle = self.bench.cycle();
        let seen = self.bench.registered(inputs, rst)?;
        self.check(&seen).map_err(|fault| fault.at(cycle))?;
        self.model.step(inputs, rst);
        Ok(seen)
    }

    fn check(&self, seen: &Out) -> Result<(), Fault> {
        let want = self.model.seen();
        let asked = self.model.asked;
        let told = || format!("register {asked:#04x}: {seen:x?}, not {want:x?}");
        let came = (seen.ready, seen.answer.is_some()) == (want.ready, want.answer.is_some());
        let values = [seen.answer, want.answer]
            .iter()
            .all(|answer| answer.flatten().is_some());
        let rule = if u32::from(asked) == CAUSE && values {
            Rule::Interrupt
        } else {
            Rule::Answer
        };
        Rule::Handshake.holds(came, told)?;
        Rule::Limit.holds(seen.limit == want.limit, told)?;
        rule.holds(seen.answer == want.answer, told)?;
        Rule::Control.holds(seen.control == want.control, told)?;
        Rule::Pulse.holds(seen.pulses == want.pulses, told)?;
        Rule::Interrupt.holds(seen.irq == want.irq, told)?;
        Rule::Rest.holds(seen.busy == want.busy, told)
    }

    /// One request, and its answer.
    fn access(&mut self, request: Request) -> Result<Answer, Fault> {
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
        Err(Rule::Handshake.broken(format!("no answer to {request:x?}")))
    }
}

/// An offset, and whether it is written.
type Access = (u8, bool);

/// How often each access was taken.
#[derive(Default)]
struct Taken(BTreeMap<Access, u32>);

impl Taken {
    /// The accesses that were taken less than ten times.
    fn rare<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = Access> + 'a {
        let offsets = model.registers.keys();
        let all = offsets.flat_map(|&offset| [(offset, false), (offset, true)]);
        all.filter(move |access| self.0.get(access).is_none_or(|count| *count < 10))
    }
}

/// Requests at any time to any register, with any inputs from the other parts and with resets; in the end requests
/// that were rare.
fn follows(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.from_each(&Start::RANDOM, dut.name, |run| {
        let mut rng = run.rng("events");
        let mut bench = Bench::new(run, dut)?;
        let mut request = None;
        let mut taken = Taken::default();
        for phase in 0..120 {
            let left_out = taken.rare(&bench.model).next().filter(|_| phase >= 80);
            if phase >= 80 && left_out.is_none() {
                break;
            }
            let (asks, takes) = (rng.between(1, 8), rng.between(1, 8));
            for _ in 0..250 {
                let quiet = phase % 3 == 0 || rng.chance(1, 2);
                let mut inputs = any_inputs(&mut rng, quiet);
                if request.is_none() && rng.chance(asks, 8) {
                    let mut any = any_request(&mut rng, &bench.model);
                    (any.offset, any.write) = left_out.unwrap_or((any.offset, any.write));
                    request = Some(any);
                }
                inputs.request = request;
                inputs.rsp_ready = rng.chance(takes, 8);
                inputs.upd_ready = rng.chance(takes, 8);
                inputs.demap_ready = rng.chance(takes, 16);
                let rst = rng.chance(1, 1500);
                let ready = bench.cycle(&inputs, rst)?.ready;
                if let Some(Request { write, offset, .. }) = request.filter(|_| ready && !rst) {
                    *taken.0.entry((offset, write)).or_default() += 1;
                }
                request = request.filter(|_| !ready && !rst);
            }
        }
        let rare: Vec<Access> = taken.rare(&bench.model).collect();
        assert!(
            rare.is_empty(),
            "accesses that were taken less than ten times: {rare:x?}"
        );
        Ok(())
    });
}

/// Every limit that can be written.
fn limits(dut: &Dut<In, Out>, cases: &mut Cases) {
    let request = |write, data| Request {
        write,
        offset: SPILL_REGION as u8,
        data,
        strobes: 15,
    };
    cases.case(Start::Random1, format!("{} limits", dut.name), |run| {
        let mut bench = Bench::new(run, dut)?;
        for limit in 0..=field(u32::MAX, SPILL_REGION_LIMIT_MASK) {
            let base = limit.wrapping_mul(0x35) & 0xff;
            bench.access(request(true, limit << SPILL_REGION_LIMIT_SHIFT | base))?;
            let read = bench.access(request(false, 0))?;
            let want = limit.min(SPILL_UNITS) << SPILL_REGION_LIMIT_SHIFT | base;
            Rule::Limit.holds(read == Some(want), || {
                format!("{limit} of {base:#x} reads as {read:x?}")
            })?;
        }
        Ok(())
    });
}

/// The counters of stray answers stop at their maximum.
fn strays(dut: &Dut<In, Out>, cases: &mut Cases) {
    let read = Request {
        write: false,
        offset: STRAY_COUNT as u8,
        data: 0,
        strobes: 15,
    };
    let came = |stray| In { stray, ..In::default() };
    cases.case(Start::Random1, format!("{} strays", dut.name), |run| {
        let mut bench = Bench::new(run, dut)?;
        // One reply to a load more than acknowledgements, then both.
        bench.cycle(&came(0b10), false)?;
        for _ in 0..u16::MAX - 1 {
            bench.cycle(&came(0b11), false)?;
        }
        for _ in 0..3 {
            bench.access(read)?;
            bench.cycle(&came(0b11), false)?;
        }
        Ok(())
    });
}

/// Each offset without a register, and each write to a read-only register, is refused.
fn refusals(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} refusals", dut.name), |run| {
        let mut bench = Bench::new(run, dut)?;
        for offset in 0..=u8::MAX {
            for (write, strobes) in [(false, 0), (true, 15), (true, 7)] {
                let data = u32::from(offset) * 0x0101_0101;
                let request = Request {
                    write,
                    offset,
                    data,
                    strobes,
                };
                let read = bench.access(request)?;
                let is_allowed = bench.model.allowed(&request).is_some();
                Rule::Answer.holds(read.is_some() == is_allowed, || format!("{request:x?}: {read:x?}"))?;
            }
        }
        Ok(())
    });
}

#[test]
fn follow_their_model() {
    pass(this_test!(), |cases| follows(&regs::<Ap1000pRegs>(), cases));
}

#[test]
fn a_limit_above_64_is_64() {
    pass(this_test!(), |cases| limits(&regs::<Ap1000pRegs>(), cases));
}

#[test]
fn stray_answers_are_counted_to_the_end() {
    pass(this_test!(), |cases| strays(&regs::<Ap1000pRegs>(), cases));
}

#[test]
fn an_offset_without_a_register_is_refused() {
    pass(this_test!(), |cases| refusals(&regs::<Ap1000pRegs>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // A bit of HELD is lost.
            (Answer, &[], &|cases| follows(&regs::<TwinRegsRead>(), cases)),
            // A write of some bytes is done.
            (Answer, &[], &|cases| follows(&regs::<TwinRegsPartial>(), cases)),
            // Of two broken messages in one cycle, the reply is kept.
            (Answer, &[], &|cases| follows(&regs::<TwinRegsLast>(), cases)),
            // The counters of stray answers wrap.
            (Answer, &[], &|cases| strays(&regs::<TwinRegsStray>(), cases)),
            // The context table may begin anywhere.
            (Control, &[], &|cases| follows(&regs::<TwinRegsTable>(), cases)),
            // The limit may be above 64.
            (Limit, &[], &|cases| follows(&regs::<TwinRegsLimit>(), cases)),
            (Limit, &[], &|cases| limits(&regs::<TwinRegsLimit>(), cases)),
            // The cell forgets with the request for a demap, not with its end.
            (Pulse, &[], &|cases| follows(&regs::<TwinRegsForget>(), cases)),
            // A demap requested during another is forgotten.
            (Pulse, &[], &|cases| follows(&regs::<TwinRegsDemap>(), cases)),
            // A write to CAUSE clears a cause of the same cycle. `busy_o` shows it before CAUSE does.
            (Rest, &[Interrupt], &|cases| follows(&regs::<TwinRegsCause>(), cases)),
            // ENABLE is ignored.
            (Interrupt, &[], &|cases| follows(&regs::<TwinRegsEnable>(), cases)),
            // The unit is ready during an update.
            (Handshake, &[], &|cases| follows(&regs::<TwinRegsUpdate>(), cases)),
            // `busy_o` is low during a demap.
            (Rest, &[], &|cases| follows(&regs::<TwinRegsRest>(), cases)),
            // `busy_o` is low with a new cause.
            (Rest, &[], &|cases| follows(&regs::<TwinRegsDozes>(), cases)),
            // `busy_o` follows `host_req_valid_i`.
            (Path, &[], &|cases| strays(&regs::<TwinRegsPath>(), cases)),
        ],
    );
}
