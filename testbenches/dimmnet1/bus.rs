//! `dimmnet1_bus` with `dimmnet1_regs`: host and processor at the registers and memories, against the golden registers.
//!
//! A phase is a list of accesses of the host, of the processor, or of both at once; then each register has one owner,
//! so that the order between the two does not count. What other blocks show changes between phases, in quiet.

use std::collections::{BTreeMap, VecDeque};

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::dimmnet1::golden::bus::{Access, Answer, Bus, Effect, Go, Party, Stop, Target, View};
use tsunagi::dimmnet1::regs as r;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Sink};
use verilated::{Input as _, Port as _};

rules!(
    /// Each access has the model's answer, in order.
    Answer
    /// Each command reaches its block once, with the right values.
    Effect
    /// Stores reach AOTF and BOTF in order and whole.
    Store
    /// LLCM and SRAM keep what is written.
    Memory
    /// Settings and interrupts are the model's.
    Level
    /// The watchdog ends a stop in its cycle, and nobody else ends it, too.
    Watchdog
    /// TIME counts cycles.
    Time
    /// Nothing changes while the unit is not busy, and it is busy while something is inside.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// Accesses take the stated cycles.
    Latency
    /// Every access ends.
    Hang
);

/// A word of a memory: {write, word address, data, strobes}.
type Word = (bool, u32, u64, u8);

#[derive(Clone, Debug, Default)]
struct In {
    host: Option<Access>,
    rsp_ready: bool,
    cpu: Option<Access>,
    load_ready: bool,
    load: Option<u32>,
    store_ready: bool,
    store_error: bool,
    lost: bool,
    stray: bool,
    outcome: Option<u8>,
    ended: Option<u8>,
    a_rdata: u64,
    cpu_ready: bool,
    cpu_rdata: Option<u64>,
    build_ready: bool,
    slot: u64,
    view: View,
}

#[derive(Clone, Debug, PartialEq)]
struct Out {
    host_ready: bool,
    response: Option<(u64, bool)>,
    done: Option<(u32, bool)>,
    load: Option<Word>,
    store: Option<Word>,
    a: Option<Word>,
    cpu: Option<Word>,
    build: Option<(u64, bool)>,
    slot_index: u8,
    effects: Vec<Effect>,
    /// NODE, PGID, PATIENCE, {interrupts of processor and host, MATCH, RECEIVE, RUN}.
    levels: (u16, u16, u16, u8),
    busy: bool,
}

fn set(dut: &impl Dimmnet1BusPorts, inputs: &In) {
    let idle = Access {
        offset: 0x55aa54,
        write: Some((0x1234_5678_9abc_def0, 0x5a)),
    };
    let host = inputs.host.unwrap_or(idle);
    let (data, strobes) = host.write.unwrap_or((0xdead, 0x33));
    dut.host_req_valid_i().set_bool(inputs.host.is_some());
    dut.host_req_write_i().set_bool(host.write.is_some());
    dut.host_req_addr_i().set(host.offset.into());
    dut.host_req_wdata_i().set(data);
    dut.host_req_wstrb_i().set(strobes.into());
    dut.host_rsp_ready_i().set_bool(inputs.rsp_ready);
    let cpu = inputs.cpu.unwrap_or(idle);
    let (data, strobes) = cpu.write.unwrap_or((0xdead, 3));
    dut.bus_valid_i().set_bool(inputs.cpu.is_some());
    dut.bus_write_i().set_bool(cpu.write.is_some());
    dut.bus_addr_i().set(u64::from(cpu.offset >> 2));
    dut.bus_wdata_i().set(data & 0xffff_ffff);
    dut.bus_be_i().set(u64::from(strobes & 0xf));
    dut.load_ready_i().set_bool(inputs.load_ready);
    dut.load_rvalid_i().set_bool(inputs.load.is_some());
    dut.load_rdata_i().set(inputs.load.unwrap_or(0xbad).into());
    dut.store_ready_i().set_bool(inputs.store_ready);
    dut.store_error_i().set_bool(inputs.store_error);
    dut.lost_i().set_bool(inputs.lost);
    dut.stray_i().set_bool(inputs.stray);
    dut.outcome_valid_i().set_bool(inputs.outcome.is_some());
    dut.outcome_reason_i().set(inputs.outcome.unwrap_or(5).into());
    dut.desc_done_i().set_bool(inputs.ended.is_some());
    dut.desc_error_i().set(inputs.ended.unwrap_or(7).into());
    dut.desc_ready_i().set_bool(true);
    dut.a_rdata_i().set(inputs.a_rdata);
    dut.cpu_ready_i().set_bool(inputs.cpu_ready);
    dut.cpu_rvalid_i().set_bool(inputs.cpu_rdata.is_some());
    dut.cpu_rdata_i().set(inputs.cpu_rdata.unwrap_or(0xbad));
    dut.build_ready_i().set_bool(inputs.build_ready);
    dut.slot_value_i().set(inputs.slot);
    let view = &inputs.view;
    dut.windows_i().set(view.windows);
    dut.rx_stop_valid_i().set_bool(view.receiver.stopped);
    dut.rx_stop_cause_i().set(view.receiver.cause.into());
    dut.rx_stop_more_i().set_bool(view.receiver.more);
    dut.rx_stop_key_i().set(view.receiver.key);
    for (i, &word) in view.header.iter().enumerate() {
        dut.rx_hdr_i().set_bits(64 * i, 64, word);
    }
    dut.rx_dma_done_i().set_bool(view.dma_done);
    dut.rx_dma_reason_i().set(view.dma_reason.into());
    dut.rdma_busy_i().set_bool(view.rdma_busy);
    dut.rdma_full_i().set_bool(view.rdma_full);
    dut.rdma_stop_valid_i().set_bool(view.rdma.stopped);
    dut.rdma_stop_cause_i().set(view.rdma.cause.into());
    dut.rdma_stop_key_i().set(view.rdma.key);
}

/// The bits of these halves of a word.
fn lanes(halves: u8) -> u64 {
    let low = if halves & 1 == 1 { 0xffff_ffff } else { 0 };
    low | if halves & 2 == 2 { 0xffff_ffff << 32 } else { 0 }
}

fn effects(dut: &impl Dimmnet1BusPorts) -> Vec<Effect> {
    let mut list = Vec::new();
    let mut add = |valid: bool, effect: Effect| list.extend(valid.then_some(effect));
    add(
        dut.clear_valid_o().is_set(),
        Effect::ClearSlot(dut.clear_index_o().get() as u8),
    );
    add(
        dut.rva_valid_o().is_set(),
        Effect::Rva {
            key: dut.rva_key_o().get(),
            base: dut.rva_base_o().get(),
            bound: dut.rva_bound_o().get(),
        },
    );
    add(
        dut.pa_valid_o().is_set(),
        Effect::Pa {
            key: dut.pa_key_o().get(),
            frame: dut.pa_frame_o().get(),
        },
    );
    add(dut.flush_o().is_set(), Effect::Flush);
    let halves = dut.rx_hdr_write_strb_o().get() as u8;
    let index = dut.rx_hdr_write_index_o().get() as u8;
    // The other half means nothing.
    let data = dut.rx_hdr_write_data_o().get() & lanes(halves);
    add(
        dut.rx_hdr_write_valid_o().is_set(),
        Effect::Header { index, data, halves },
    );
    let what = dut.rx_go_what_o().get() as u8;
    let bytes = dut.rx_go_bytes_o().get() as u16;
    let go = Go {
        what,
        reason: dut.rx_go_reason_o().get() as u8,
        bytes: if u32::from(what) == r::GO_PART { bytes } else { 0 },
    };
    let address = dut.rx_go_addr_o().get() as u32;
    add(dut.rx_go_valid_o().is_set(), Effect::ReceiverGo { go, address });
    let go = Go {
        what: dut.rdma_go_what_o().get() as u8,
        reason: dut.rdma_go_reason_o().get() as u8,
        bytes: 0,
    };
    add(dut.rdma_go_valid_o().is_set(), Effect::RdmaGo(go));
    add(
        dut.desc_valid_o().is_set(),
        Effect::Descriptor {
            what: dut.desc_w0_o().get(),
            local: dut.desc_local_o().get(),
            remote: dut.desc_remote_o().get(),
            bytes: dut.desc_bytes_o().get() as u32,
            slot: dut.desc_slot_o().get() as u8,
        },
    );
    list
}

fn seen(dut: &impl Dimmnet1BusPorts) -> Out {
    let flag = |set: bool, bit: u8| u8::from(set) << bit;
    Out {
        host_ready: dut.host_req_ready_o().is_set(),
        response: dut
            .host_rsp_valid_o()
            .is_set()
            .then(|| (dut.host_rsp_rdata_o().get(), dut.host_rsp_err_o().is_set())),
        done: dut
            .bus_done_o()
            .is_set()
            .then(|| (dut.bus_rdata_o().get() as u32, dut.bus_error_o().is_set())),
        load: dut.load_valid_o().is_set().then(|| {
            let write = dut.load_write_o().is_set();
            let data = if write { dut.load_data_o().get() } else { 0 };
            (write, dut.load_addr_o().get() as u32, data, 0xf)
        }),
        store: dut.store_valid_o().is_set().then(|| {
            let strobes = dut.store_strb_o().get() as u8;
            (true, dut.store_addr_o().get() as u32, dut.store_data_o().get(), strobes)
        }),
        a: dut.a_valid_o().is_set().then(|| {
            let strobes = dut.a_strb_o().get() as u8;
            (
                dut.a_write_o().is_set(),
                dut.a_addr_o().get() as u32,
                dut.a_wdata_o().get(),
                strobes,
            )
        }),
        cpu: dut.cpu_valid_o().is_set().then(|| {
            let strobes = dut.cpu_strb_o().get() as u8;
            let data = dut.cpu_wdata_o().get();
            (dut.cpu_write_o().is_set(), dut.cpu_addr_o().get() as u32, data, strobes)
        }),
        build: dut
            .build_valid_o()
            .is_set()
            .then(|| (dut.build_data_o().get(), dut.build_last_o().is_set())),
        slot_index: dut.slot_index_o().get() as u8,
        effects: effects(dut),
        levels: (
            dut.node_o().get() as u16,
            dut.pgid_o().get() as u16,
            dut.patience_o().get() as u16,
            flag(dut.irq_cpu_o().is_set(), 4)
                | flag(dut.irq_o().is_set(), 3)
                | flag(dut.match_o().is_set(), 2)
                | flag(dut.receive_o().is_set(), 1)
                | flag(dut.run_o().is_set(), 0),
        ),
        busy: dut.busy_o().is_set(),
    }
}

fn dut<U: Dimmnet1BusUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

// ------------------------------------------------------------------------------------------------------- other blocks

/// Adds what a command changes to what the blocks show.
fn apply(view: &mut View, effect: &Effect) {
    match effect {
        Effect::ClearSlot(slot) => {
            let slot = &mut view.slots[usize::from(*slot)];
            *slot = slot.wrapping_mul(5).wrapping_add(1);
        }
        Effect::Header { index, data, halves } => {
            let word = &mut view.header[usize::from(*index)];
            *word = *word & !lanes(*halves) | data & lanes(*halves);
        }
        Effect::ReceiverGo { .. } => view.receiver.stopped = false,
        Effect::RdmaGo(_) => view.rdma.stopped = false,
        Effect::Descriptor { .. } => {
            view.rdma_full = view.rdma_busy;
            view.rdma_busy = true;
        }
        _ => {}
    }
}

/// Words of a memory.
#[derive(Clone, Debug, Default, PartialEq)]
struct Words(BTreeMap<u32, u64>);

impl Words {
    fn read(&self, at: u32) -> u64 {
        self.0.get(&at).copied().unwrap_or(0)
    }

    fn write(&mut self, at: u32, data: u64, strobes: u8) {
        let mask = (0..8)
            .map(|i| (u64::from(strobes >> i & 1) * 0xff) << (8 * i))
            .sum::<u64>();
        self.0.insert(at, self.read(at) & !mask | data & mask);
    }
}

/// One for each stream of the bus.
#[derive(Default)]
struct Monitors {
    load: Monitor<Word>,
    store: Monitor<Word>,
    cpu: Monitor<Word>,
    build: Monitor<(u64, bool)>,
}

/// The other blocks: they take what comes, and show its effects.
struct Blocks {
    rng: Rng,
    pacers: [Pacer; 4],
    view: View,
    llcm: Words,
    sram: Words,
    stores: Vec<Word>,
    effects: Vec<Effect>,
    packet: Vec<u64>,
    /// Stores that WINDOWS will show.
    taken: u64,
    /// The answer of SRAM after the next cycle.
    load: Option<u32>,
    monitors: Monitors,
    /// The inputs of the next cycle.
    next: In,
}

impl Blocks {
    fn new(run: &Run, pauses: bool) -> Blocks {
        Blocks {
            rng: run.rng("blocks"),
            pacers: ["load", "store", "llcm", "build"].map(|name| run.pacer(pauses, name)),
            view: View::default(),
            llcm: Words::default(),
            sram: Words::default(),
            stores: Vec::new(),
            effects: Vec::new(),
            packet: Vec::new(),
            taken: 0,
            load: None,
            monitors: Default::default(),
            next: In::default(),
        }
    }

    fn inputs(&mut self) -> In {
        let [load, store, llcm, build] = &mut self.pacers;
        let ready = [load.step(), store.step(), llcm.step(), build.step()];
        [
            self.next.load_ready,
            self.next.store_ready,
            self.next.cpu_ready,
            self.next.build_ready,
        ] = ready;
        self.next.view = self.view.clone();
        self.next.clone()
    }

    fn reset(&mut self) {
        self.load = None;
        self.packet.clear();
        self.monitors = Default::default();
        self.next = In::default();
    }

    fn step(&mut self, now: &In, seen: &Out) -> Result<(), Fault> {
        self.monitors.load.step(seen.load.as_ref(), now.load_ready)?;
        self.monitors.store.step(seen.store.as_ref(), now.store_ready)?;
        self.monitors.cpu.step(seen.cpu.as_ref(), now.cpu_ready)?;
        self.monitors.build.step(seen.build.as_ref(), now.build_ready)?;
        let mut next = In {
            slot: self.view.slots[usize::from(seen.slot_index)],
            ..In::default()
        };
        // WINDOWS shows a store two cycles after it is taken.
        self.view.windows = self.taken;
        if let Some(store) = seen.store.filter(|_| now.store_ready) {
            self.stores.push(store);
            self.taken += 1;
        }
        next.a_rdata = self.rng.bits();
        if let Some((write, at, data, strobes)) = seen.a {
            match write {
                true => self.llcm.write(at, data, strobes),
                false => next.a_rdata = self.llcm.read(at),
            }
        }
        if let Some((write, at, data, strobes)) = seen.cpu.filter(|_| now.cpu_ready) {
            match write {
                true => self.llcm.write(at, data, strobes),
                false => next.cpu_rdata = Some(self.llcm.read(at)),
            }
        }
        // SRAM answers two cycles later, writes as well.
        next.load = self.load.take();
        if let Some((write, at, data, strobes)) = seen.load.filter(|_| now.load_ready) {
            if write {
                self.sram.write(at, data, strobes);
            }
            self.load = Some(if write { 0xbad } else { self.sram.read(at) as u32 });
        }
        if let Some((word, last)) = seen.build.filter(|_| now.build_ready) {
            self.packet.push(word);
            if last {
                self.effects.push(Effect::Packet(std::mem::take(&mut self.packet)));
            }
        }
        for effect in &seen.effects {
            apply(&mut self.view, effect);
            self.effects.push(effect.clone());
        }
        self.next = next;
        Ok(())
    }
}

// --------------------------------------------------------------------------------------------------------------- a rig

/// The unit and the other blocks.
struct Rig<'a> {
    bench: Bench<'a, In, Out>,
    blocks: Blocks,
    sink: Sink<(u64, bool)>,
    pulses: In,
    /// Requests taken, and not answered.
    open: u32,
    /// Edges since reset.
    time: u64,
}

/// What ended in a cycle.
struct Ended {
    taken: bool,
    response: Option<(u64, bool)>,
    done: Option<(u32, bool)>,
    seen: Out,
}

impl<'a> Rig<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, gaps: Gaps) -> Result<Rig<'a>, Fault> {
        let mut rig = Rig {
            bench: Bench::new(run, dut),
            blocks: Blocks::new(run, gaps.at_sink()),
            sink: Sink::new(run.pacer(gaps.at_sink(), "responses")),
            pulses: In::default(),
            open: 0,
            time: 0,
        };
        for _ in 0..3 {
            rig.reset()?;
        }
        Ok(rig)
    }

    fn reset(&mut self) -> Result<(), Fault> {
        let inputs = self.blocks.inputs();
        self.bench.reset(&inputs)?;
        self.blocks.reset();
        self.sink.reset();
        (self.open, self.time) = (0, 0);
        Ok(())
    }

    fn inputs(&mut self, host: Option<Access>, cpu: Option<Access>) -> In {
        let pulses = std::mem::take(&mut self.pulses);
        In {
            host,
            cpu,
            rsp_ready: self.sink.ready(),
            store_error: pulses.store_error,
            lost: pulses.lost,
            stray: pulses.stray,
            outcome: pulses.outcome,
            ended: pulses.ended,
            ..self.blocks.inputs()
        }
    }

    fn tick(&mut self, host: Option<Access>, cpu: Option<Access>) -> Result<Ended, Fault> {
        let cycle = self.bench.cycle();
        let inputs = self.inputs(host, cpu);
        let seen = self.bench.step(&inputs)?;
        self.time += 1;
        self.end(&inputs, seen, host.is_some()).map_err(|fault| fault.at(cycle))
    }

    fn end(&mut self, inputs: &In, seen: Out, asks: bool) -> Result<Ended, Fault> {
        Rule::Rest.holds(seen.busy || self.open == 0, || "it rests with open requests".into())?;
        self.blocks.step(inputs, &seen)?;
        let response = self.sink.step(seen.response)?;
        let taken = asks && seen.host_ready;
        Rule::Answer.holds(response.is_none() || self.open > 0, || "an answer to nothing".into())?;
        self.open = self.open + u32::from(taken) - u32::from(response.is_some());
        Ok(Ended {
            taken,
            response,
            done: seen.done,
            seen,
        })
    }

    /// Cycles without accesses until it rests, and some more, with edges at times.
    fn rest(&mut self, rng: &mut Rng) -> Result<Out, Fault> {
        for _ in 0..400 {
            let ended = self.tick(None, None)?;
            if !ended.seen.busy {
                break;
            }
        }
        let mut last = None;
        for _ in 0..rng.between(1, 8) {
            let inputs = self.inputs(None, None);
            let idle = |out: &Out| !out.busy;
            let clocked = rng.chance(1, 2);
            let seen = self.bench.step_gated(&inputs, idle, clocked)?;
            Rule::Rest.holds(!seen.busy, || "it is busy without end".into())?;
            if clocked {
                self.time += 1;
            }
            last = Some(seen);
        }
        Ok(last.expect("one cycle at least"))
    }

    /// One access of the host: its answer.
    fn host(&mut self, access: Access) -> Result<(u64, bool), Fault> {
        let mut offer = Some(access);
        for _ in 0..300 {
            let ended = self.tick(offer, None)?;
            if ended.taken {
                offer = None;
            }
            if let Some(response) = ended.response {
                return Ok(response);
            }
        }
        Err(Rule::Hang.broken(format!("{access:x?}")))
    }

    fn write(&mut self, offset: u32, data: u64) -> Result<bool, Fault> {
        let write = Some((data, 0xff));
        self.host(Access { offset, write }).map(|(_, err)| !err)
    }

    fn read(&mut self, offset: u32) -> Result<u64, Fault> {
        let (data, err) = self.host(Access { offset, write: None })?;
        Rule::Answer.holds(!err, || format!("a read of {offset:#x} is refused"))?;
        Ok(data)
    }
}

// ------------------------------------------------------------------------------------------------------------ accesses

/// Registers that only one party may touch in a phase of both: what shows the effect of one must have one owner.
fn group(offset: u32) -> u32 {
    match offset & !7 {
        0x6000..0x6060 | r::RDMA => 1,
        0x6100..0x6128 => 2,
        0x5000..0x5018 => 3,
        0x5020..0x5038 => 4,
        offset => offset,
    }
}

/// Registers that show what both did.
const OF_BOTH: [u32; 3] = [r::STATUS, r::HOST_ERRORS, r::CPU_ERRORS];

fn any_register(rng: &mut Rng) -> u32 {
    let pages = [
        (0x1010, 7),
        (0x1100, 17),
        (0x2000, 9),
        (0x2100, 21),
        (0x5000, 8),
        (0x6000, 12),
        (0x6000, 12),
        (0x6100, 6),
    ];
    let (first, count) = pages[rng.below(pages.len() as u64) as usize];
    first + 8 * rng.below(count) as u32
}

/// Data that are a sound command at times.
fn any_data(rng: &mut Rng, offset: u32) -> u64 {
    match offset & !7 {
        r::RX_GO | r::RDMA_GO => rng.below(7) | rng.below(3) << 4 | rng.bits() << 8,
        // Its own test lets it fire.
        r::WATCHDOG => (rng.bits() | 1 << 24) & if rng.chance(1, 4) { !0 } else { 0 },
        r::CONTROL => rng.below(16),
        _ => rng.bits(),
    }
}

fn host_access(rng: &mut Rng) -> Access {
    let offset = match rng.below(10) {
        0 => rng.below(0x400) as u32,
        1 => 0x100000 + rng.below(0x40000) as u32,
        2 => 0x4000 + rng.below(0x800) as u32,
        3 => 0x1000 + 8 * rng.below(2) as u32,
        4 => 0x10000 + 8 * rng.below(64) as u32,
        5 => 0x8000 + 8 * rng.below(64) as u32,
        6 => (rng.bits() & 0xff_ffff) as u32 >> rng.below(20),
        _ => any_register(rng),
    };
    let strobes = if rng.chance(1, 6) { rng.bits() as u8 } else { 0xff };
    let write = rng.chance(2, 3).then(|| (any_data(rng, offset), strobes));
    Access { offset, write }
}

fn cpu_access(rng: &mut Rng) -> Access {
    let offset = match rng.below(10) {
        0..=1 => 0x12000 + 4 * rng.below(128) as u32,
        2 => (rng.bits() & 0x7fff_ffff) as u32 >> rng.below(28),
        _ => any_register(rng) + 4 * rng.below(2) as u32,
    } & !3;
    let strobes = if rng.chance(1, 8) { rng.bits() as u8 & 0xf } else { 0xf };
    let write = rng.chance(2, 3).then(|| (any_data(rng, offset) & 0xffff_ffff, strobes));
    Access { offset, write }
}

/// The model with the memories, and what it expects of a phase.
#[derive(Clone, Default)]
struct Golden {
    bus: Bus,
    view: View,
    llcm: Words,
    sram: Words,
    stores: Vec<Word>,
    effects: Vec<Effect>,
}

impl Golden {
    /// The answer that is due.
    fn access(&mut self, party: Party, access: &Access) -> Answer {
        match self.bus.target(party, access) {
            Target::Registers => {
                let (answer, effect) = self.bus.access(party, access, &self.view);
                if let Some(effect) = effect {
                    apply(&mut self.view, &effect);
                    self.effects.push(effect);
                }
                answer
            }
            Target::Send => {
                let (data, strobes) = access.write.expect("only stores go there");
                self.stores.push((true, access.offset & !7, data, strobes));
                self.view.windows += 1;
                Answer::Done
            }
            Target::Llcm => {
                let (at, high) = (
                    access.offset >> 3 & 0x7ff,
                    access.offset & 4 != 0 && party == Party::Processor,
                );
                let shift = if high { 4 } else { 0 };
                match access.write {
                    Some((data, strobes)) => {
                        self.llcm.write(at, data << (8 * shift), strobes << shift);
                        Answer::Done
                    }
                    None => Answer::Value(self.llcm.read(at) >> (8 * shift)),
                }
            }
            Target::Sram => {
                let at = access.offset >> 2 & 0xffe;
                match access.write {
                    Some((data, _)) => {
                        self.sram.write(at, data & 0xffff_ffff, 0xf);
                        self.sram.write(at + 1, data >> 32, 0xf);
                        Answer::Done
                    }
                    None => Answer::Value(self.sram.read(at) | self.sram.read(at + 1) << 32),
                }
            }
            Target::Nothing => {
                self.bus.refuse(party, access);
                Answer::Refused
            }
        }
    }
}

/// Accesses of one party, and the answers that are due.
type Jobs = VecDeque<(Access, Answer)>;

/// The parties of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    Host,
    Processor,
    Both,
}

fn jobs(golden: &mut Golden, rng: &mut Rng, who: Who, count: usize) -> (Jobs, Jobs) {
    let salt = rng.bits() as u32 | 1;
    let owner = |offset: u32| match group(offset).wrapping_mul(salt) >> 7 & 1 {
        // RUN is the host's: it decides about SRAM.
        _ if offset & !7 == r::CONTROL => Party::Host,
        0 => Party::Host,
        _ => Party::Processor,
    };
    let mut one = |party: Party| {
        let mut list = Jobs::new();
        let skip = match party {
            Party::Host => who == Who::Processor,
            Party::Processor => who == Who::Host,
        };
        while list.len() < count && !skip {
            let mut access = match party {
                Party::Host => host_access(rng),
                Party::Processor => cpu_access(rng),
            };
            // A read right behind a register's write sees it.
            if let Some((last, _)) = list.back()
                && last.write.is_some()
                && matches!(golden.bus.target(party, last), Target::Registers)
                && rng.chance(1, 2)
            {
                access = Access {
                    offset: last.offset,
                    write: None,
                };
            }
            let offset = access.offset & !7;
            let foreign = match golden.bus.target(party, &access) {
                Target::Registers => owner(offset) != party || OF_BOTH.contains(&offset),
                Target::Llcm => (offset >= 0x12000) != (party == Party::Processor),
                _ => false,
            };
            if offset == r::TIME || who == Who::Both && foreign {
                continue;
            }
            let answer = golden.access(party, &access);
            list.push_back((access, answer));
        }
        list
    };
    (one(Party::Host), one(Party::Processor))
}

fn check(access: &Access, want: Answer, got: (u64, bool)) -> Result<(), Fault> {
    let same = match want {
        Answer::Refused => got.1,
        Answer::Done => !got.1,
        Answer::Value(value) => got == (value, false),
    };
    let memory = (r::SRAM..r::LLCM + r::SIZE_LLCM).contains(&access.offset) && matches!(want, Answer::Value(_));
    let rule = if memory && !got.1 { Rule::Memory } else { Rule::Answer };
    rule.holds(same, || format!("{access:x?}: {got:x?}, not {want:x?}"))
}

/// Does the jobs. `false`: the cycle of the reset came before the end.
fn phase(rig: &mut Rig, pacers: &mut [Pacer; 2], jobs: (Jobs, Jobs), reset: Option<u64>) -> Result<bool, Fault> {
    let (mut host, mut cpu) = jobs;
    let mut sent: Jobs = Jobs::new();
    let (mut offer, mut access) = (None, None);
    for _ in 0..20_000 {
        if reset.is_some_and(|at| rig.bench.cycle() >= at) {
            return Ok(false);
        }
        let go = [pacers[0].step(), pacers[1].step()];
        offer = offer.or_else(|| host.front().filter(|_| go[0]).map(|job| job.0));
        access = access.or_else(|| cpu.front().filter(|_| go[1]).map(|job| job.0));
        let ended = rig.tick(offer, access)?;
        if ended.taken {
            offer = None;
            sent.extend(host.pop_front());
        }
        if let Some(response) = ended.response {
            let (access, want) = sent.pop_front().expect("the rig counts them");
            check(&access, want, response)?;
        }
        if let Some((data, err)) = ended.done {
            let due = access.take().and_then(|_| cpu.pop_front());
            let (access, want) = due.ok_or_else(|| Rule::Answer.broken("done, but no access"))?;
            let want = match want {
                // Stores of the processor do not wait for their error, loads do.
                Answer::Value(value) => Answer::Value(value & 0xffff_ffff),
                want => want,
            };
            check(&access, want, (data.into(), err))?;
        }
        if host.is_empty() && cpu.is_empty() && sent.is_empty() {
            return Ok(true);
        }
    }
    Err(Rule::Hang.broken(format!("{} and {} accesses left", host.len() + sent.len(), cpu.len())))
}

/// What one kind of command did, in order.
fn of_kind(list: &[Effect], like: &Effect) -> Vec<Effect> {
    let kind = std::mem::discriminant(like);
    list.iter()
        .filter(|e| std::mem::discriminant(*e) == kind)
        .cloned()
        .collect()
}

/// In quiet: commands, stores, settings and interrupts are the model's.
fn compare(rig: &mut Rig, golden: &mut Golden, rng: &mut Rng) -> Result<(), Fault> {
    let seen = rig.rest(rng)?;
    let want = std::mem::take(&mut golden.effects);
    let got = std::mem::take(&mut rig.blocks.effects);
    for like in want.iter().chain(&got) {
        Rule::Effect.same("commands", of_kind(&want, like), of_kind(&got, like))?;
    }
    let stores = std::mem::take(&mut golden.stores);
    Rule::Store.same("stores", stores, std::mem::take(&mut rig.blocks.stores))?;
    Rule::Memory.same("LLCM", &golden.llcm, &rig.blocks.llcm)?;
    Rule::Memory.same("SRAM", &golden.sram, &rig.blocks.sram)?;
    let value = |offset: u32| golden.bus.value(offset);
    let control = value(r::CONTROL);
    let flag = |set: bool, bit: u8| u8::from(set) << bit;
    let flags = flag(golden.bus.interrupts_processor(&golden.view), 4)
        | flag(golden.bus.interrupts(), 3)
        | flag(control & r::CONTROL_MATCH_MASK != 0, 2)
        | (control & 3) as u8;
    let levels = (
        value(r::NODE) as u16,
        value(r::PGID) as u16,
        value(r::PATIENCE) as u16,
        flags,
    );
    Rule::Level.same("settings", levels, seen.levels)
}

/// Between phases the other blocks show something else, and have some news.
fn news(rig: &mut Rig, golden: &mut Golden, rng: &mut Rng) -> Result<(), Fault> {
    // A running watchdog would keep the unit busy.
    let may = golden.bus.value(r::WATCHDOG) == 0;
    let stop = |rng: &mut Rng| Stop {
        stopped: may && rng.chance(1, 2),
        more: rng.chance(1, 2),
        cause: rng.below(4) as u8,
        key: rng.bits(),
    };
    let view = &mut golden.view;
    (view.receiver, view.rdma) = (stop(rng), stop(rng));
    view.header = std::array::from_fn(|_| rng.bits());
    view.slots = std::array::from_fn(|_| rng.bits());
    (view.dma_done, view.dma_reason) = (rng.chance(1, 2), rng.below(16) as u8);
    view.rdma_busy = rng.chance(1, 2);
    view.rdma_full = view.rdma_busy && rng.chance(1, 2);
    rig.blocks.view = view.clone();
    for _ in 0..rng.below(12) {
        let pulses = In {
            store_error: rng.chance(1, 2),
            lost: rng.chance(1, 2),
            stray: rng.chance(1, 2),
            outcome: rng.chance(1, 2).then(|| rng.below(4) as u8 * 5),
            ended: rng.chance(1, 2).then(|| rng.below(16) as u8),
            ..In::default()
        };
        let bus = &mut golden.bus;
        pulses.outcome.into_iter().for_each(|reason| bus.outcome(reason));
        pulses.ended.into_iter().for_each(|reason| bus.descriptor_ended(reason));
        pulses.stray.then(|| bus.stray());
        pulses.lost.then(|| bus.lost());
        pulses.store_error.then(|| bus.store_refused());
        rig.pulses = pulses;
        rig.tick(None, None)?;
    }
    Ok(())
}

fn traffic(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for resets in [false, true] {
            let params = format!("{} {gaps:?} reset {resets}", dut.name);
            cases.case(Start::Random1, params, |run| {
                let mut rng = run.rng("accesses");
                let mut rig = Rig::new(run, dut, gaps)?;
                let mut pacers = ["host", "processor"].map(|name| run.pacer(gaps.at_source(), name));
                let mut golden = Golden::default();
                let mut reset = resets.then(|| rng.between(300, 3000));
                for who in [Who::Host, Who::Processor, Who::Both, Who::Both]
                    .into_iter()
                    .cycle()
                    .take(24)
                {
                    news(&mut rig, &mut golden, &mut rng)?;
                    let list = jobs(&mut golden, &mut rng, who, 40);
                    if phase(&mut rig, &mut pacers, list, reset)? {
                        compare(&mut rig, &mut golden, &mut rng)?;
                        continue;
                    }
                    rig.reset()?;
                    reset = None;
                    golden = Golden {
                        llcm: rig.blocks.llcm.clone(),
                        sram: rig.blocks.sram.clone(),
                        view: rig.blocks.view.clone(),
                        ..Golden::default()
                    };
                    golden.view.windows = rig.blocks.taken;
                    (rig.blocks.effects, rig.blocks.stores) = (Vec::new(), Vec::new());
                }
                Ok(())
            });
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ watchdog

/// The cycles of a stop until it is ended, and how.
fn stopped(rig: &mut Rig, receiver: bool, go: Option<(u64, Go)>) -> Result<(u64, Vec<Effect>, bool), Fault> {
    let view = &mut rig.blocks.view;
    if receiver {
        view.receiver.stopped = true;
    } else {
        view.rdma.stopped = true;
    }
    rig.blocks.effects.clear();
    let (mut cycles, mut ok) = (0, false);
    let mut offer = None;
    for now in 0..120 {
        if let Some((at, go)) = go
            && at == now
        {
            let data = u64::from(go.what) | u64::from(go.reason) << 4;
            let offset = if receiver { r::RX_GO } else { r::RDMA_GO };
            offer = Some(Access {
                offset,
                write: Some((data, 0xff)),
            });
        }
        let ended = rig.tick(offer, None)?;
        if ended.taken {
            offer = None;
        }
        if let Some((_, err)) = ended.response {
            ok = !err;
        }
        if rig.blocks.effects.is_empty() {
            cycles += 1;
        }
    }
    Ok((cycles, std::mem::take(&mut rig.blocks.effects), ok))
}

fn watchdog(dut: &Dut<In, Out>, cases: &mut Cases) {
    for receiver in [true, false] {
        cases.case(Start::Random1, format!("{} watchdog {receiver}", dut.name), |run| {
            let mut rig = Rig::new(run, dut, Gaps::None)?;
            let effect = |go: Go| match receiver {
                true => Effect::ReceiverGo { go, address: 0 },
                false => Effect::RdmaGo(go),
            };
            let timeout = Go {
                what: r::GO_NACK as u8,
                reason: r::REASON_TIMEOUT as u8,
                bytes: 0,
            };
            let host = Go {
                what: r::GO_NACK as u8,
                reason: r::REASON_FIRMWARE as u8,
                bytes: 0,
            };
            for limit in [0, 1, 2, 17, 60] {
                rig.write(r::WATCHDOG, limit)?;
                for go in [None].into_iter().chain((10..25).map(|at| Some((at, host)))) {
                    rig.write(r::CONTROL, 1)?;
                    rig.write(r::STATUS, 0x7f)?;
                    let (cycles, effects, ok) = stopped(&mut rig, receiver, go)?;
                    let want = match (ok, limit) {
                        (true, _) => vec![effect(host)],
                        (false, 0) => vec![],
                        (false, _) => vec![effect(timeout)],
                    };
                    Rule::Watchdog.same("the stop's end", want, effects)?;
                    let fires = !ok && limit != 0;
                    let on_time = if fires { cycles == limit } else { go.is_none() || ok };
                    Rule::Watchdog.holds(on_time, || format!("limit {limit}, {go:x?}: {cycles} cycles, ok {ok}"))?;
                    let status = rig.read(r::STATUS)? & r::STATUS_FIRED_MASK;
                    let runs = rig.read(r::CONTROL)? & 1;
                    Rule::Watchdog.same("FIRED and RUN", (u64::from(fires), u64::from(!fires)), (status, runs))?;
                    rig.blocks.view.receiver.stopped = false;
                    rig.blocks.view.rdma.stopped = false;
                    rig.tick(None, None)?;
                }
            }
            Ok(())
        });
    }
}

// ------------------------------------------------------------------------------------------------------------- latency

/// Cycles of one access of the processor from its first to its last, both counted.
fn cpu_cycles(rig: &mut Rig, access: Access) -> Result<u64, Fault> {
    for cycles in 1..100 {
        if rig.tick(None, Some(access))?.done.is_some() {
            return Ok(cycles);
        }
    }
    Err(Rule::Hang.broken(format!("{access:x?}")))
}

fn latency(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} latency", dut.name), |run| {
        let mut rig = Rig::new(run, dut, Gaps::None)?;
        for _ in 0..20 {
            rig.tick(None, None)?;
        }
        let some = Some((3, 0xf));
        for (offset, write, cycles) in [
            (r::RX_STOP, None, 2),
            (r::NODE, some, 2),
            (r::LLCM, some, 2),
            (r::LLCM, None, 4),
            (r::BUILD + 4, None, 2),
        ] {
            let got = cpu_cycles(&mut rig, Access { offset, write })?;
            Rule::Latency.same(format!("processor at {offset:#x}, {write:x?}"), cycles, got)?;
        }
        for offset in [r::NODE, r::LLCM, r::SLOTS, r::TIME, r::WINDOW0] {
            let before = rig.time;
            let (value, _) = rig.host(Access { offset, write: None })?;
            Rule::Latency.same(format!("host at {offset:#x}"), 4, rig.time - before)?;
            // It is read in the cycle after the request.
            Rule::Time.holds(offset != r::TIME || value == before + 1, || {
                format!("TIME is {value}, not {}", before + 1)
            })?;
        }
        // Stores leave one per cycle, and a built packet does not hold up other registers.
        for first in [r::AOTF, r::WINDOW0, r::LLCM] {
            let before = rig.time;
            let mut left = 40;
            while left > 0 {
                Rule::Hang.holds(rig.time - before < 400, || "stores are left".into())?;
                let access = Access {
                    offset: first + 8 * left,
                    write: Some((left.into(), 0xff)),
                };
                left -= u32::from(rig.tick(Some(access), None)?.taken);
            }
            Rule::Latency.same(format!("40 stores from {first:#x}"), 40, rig.time - before)?;
            for _ in 0..10 {
                rig.tick(None, None)?;
            }
        }
        Ok(())
    });
}

/// The processor gives up an access; the next one has its own answer.
fn withdrawn(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} withdrawn", dut.name), |run| {
        let mut rig = Rig::new(run, dut, Gaps::Sink)?;
        let mut rng = run.rng("accesses");
        for word in 0..16 {
            rig.write(r::LLCM + 8 * word, word.into())?;
        }
        for _ in 0..200 {
            let word = rng.below(16) as u32;
            let load = |word: u32| Access {
                offset: r::LLCM + 8 * word,
                write: None,
            };
            for _ in 0..rng.below(4) {
                if rig.tick(None, Some(load(word)))?.done.is_some() {
                    break;
                }
            }
            for _ in 0..rng.between(1, 2) {
                rig.tick(None, None)?;
            }
            let word = rng.below(16) as u32;
            let mut cycles = 0;
            let data = loop {
                cycles += 1;
                Rule::Hang.holds(cycles < 200, || "a load".into())?;
                if let Some((data, _)) = rig.tick(None, Some(load(word)))?.done {
                    break data;
                }
            };
            Rule::Answer.same("a load from LLCM", word, data)?;
        }
        Ok(())
    });
}

/// An access of the host and a store are refused in the same cycle: both count.
fn refused_at_once(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} refused at once", dut.name), |run| {
        let mut rig = Rig::new(run, dut, Gaps::None)?;
        let before = rig.read(r::HOST_ERRORS)?;
        let mut offer = Some(Access {
            offset: r::WINDOWS,
            write: Some((0, 0xff)),
        });
        for _ in 0..10 {
            rig.pulses.store_error = true;
            if rig.tick(offer, None)?.taken {
                offer = None;
            }
        }
        let counted = rig.read(r::HOST_ERRORS)? - before;
        Rule::Answer.same("ten stores and a write to a read-only register", 11, counted)
    });
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    traffic(dut, cases);
    watchdog(dut, cases);
    latency(dut, cases);
    withdrawn(dut, cases);
    refused_at_once(dut, cases);
}

#[test]
fn accesses_are_the_models() {
    pass(this_test!(), |cases| {
        traffic(&dut::<Dimmnet1Bus>(), cases);
        refused_at_once(&dut::<Dimmnet1Bus>(), cases);
    });
}

#[test]
fn the_watchdog_ends_a_stop_in_its_cycle() {
    pass(this_test!(), |cases| watchdog(&dut::<Dimmnet1Bus>(), cases));
}

#[test]
fn accesses_take_the_stated_cycles() {
    pass(this_test!(), |cases| {
        latency(&dut::<Dimmnet1Bus>(), cases);
        withdrawn(&dut::<Dimmnet1Bus>(), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Answer, &[], &|cases| checks(&dut::<TwinCardBusFull>(), cases)),
            (Answer, &[], &|cases| checks(&dut::<TwinCardBusStale>(), cases)),
            (Answer, &[Effect], &|cases| checks(&dut::<TwinCardBusSettles>(), cases)),
            (Answer, &[], &|cases| checks(&dut::<TwinCardBusGone>(), cases)),
            (Effect, &[], &|cases| checks(&dut::<TwinCardBusHalf>(), cases)),
            (Store, &[], &|cases| checks(&dut::<TwinCardBusStrobes>(), cases)),
            (Memory, &[], &|cases| checks(&dut::<TwinCardBusLanes>(), cases)),
            (Memory, &[], &|cases| checks(&dut::<TwinCardBusSwaps>(), cases)),
            (Level, &[], &|cases| checks(&dut::<TwinCardBusMask>(), cases)),
            (Watchdog, &[], &|cases| checks(&dut::<TwinCardBusWatchdog>(), cases)),
            (Watchdog, &[], &|cases| checks(&dut::<TwinCardBusRuns>(), cases)),
            (Time, &[], &|cases| checks(&dut::<TwinCardBusTime>(), cases)),
            (Rest, &[], &|cases| checks(&dut::<TwinCardBusRests>(), cases)),
            (Path, &[], &|cases| checks(&dut::<TwinCardBusPath>(), cases)),
            (Protocol, &[Store], &|cases| {
                checks(&dut::<TwinCardBusWithdraws>(), cases)
            }),
            (Latency, &[], &|cases| checks(&dut::<TwinCardBusBubble>(), cases)),
            // A write does not wait for its half, so it is lost.
            (Hang, &[Memory], &|cases| checks(&dut::<TwinCardBusHang>(), cases)),
        ],
    );
}
