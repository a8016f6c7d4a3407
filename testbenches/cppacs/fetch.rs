//! `cppacs_fetch`: TCWs become descriptors or refusals. Kicks, registers, tables, the words unit and the senders are
//! the bench's.

use std::collections::VecDeque;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::cppacs::golden::entry::{Field, Process, Right};
use tsunagi::cppacs::golden::fetch::Fetch;
use tsunagi::cppacs::golden::tables::Tables;
use tsunagi::cppacs::golden::tcw::{Descriptor, Kick, Refusal, Tcw};
use tsunagi::cppacs::golden::words::BusError;
use tsunagi::cppacs::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Pacer};
use tsunagi::net::hyper::{Channel, Grid, Place};
use verilated::{Input as _, Port as _};

rules!(
    /// A sound TCW becomes the model's descriptor.
    Descriptor
    /// Another is refused for the model's reason.
    Reason
    /// A refusal's flag is that of a TCW whose flag may be written.
    Flag
    /// Each TCW is read once, at its address, and none that does not exist.
    Read
    /// The channels alternate.
    Turn
    /// No kick is taken while the kernel stops it, or a descriptor of its channel waits.
    Waits
    /// 3 cycles from kick to job, 4 from the burst's end to F0.
    Latency
    /// At rest nothing changes.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// All kicks are served.
    Hang
);

const GRID: Grid = Grid { x: 4, y: 5, z: 3 };
const SRC: Place = Place { x: 1, y: 2, z: 2 };
const ENTRIES: usize = 16;

type Part = (u8, u32);

#[derive(Clone, Default)]
struct In {
    run: bool,
    kicks: [Option<Kick>; 2],
    process: Process,
    job_ready: bool,
    data: Option<u32>,
    /// The job's end: whether with an error.
    done: Option<bool>,
    look_ready: bool,
    /// STATE, EXTENT, FLAG; or PLACE, 0, SIZE.
    found: Option<[u64; 3]>,
    ready: [bool; 2],
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    busy: bool,
    take: [bool; 2],
    process: usize,
    job: Option<u32>,
    /// Index, and whether it is a right's.
    look: Option<(usize, bool)>,
    desc: [Option<Part>; 2],
}

fn set(dut: &impl CppacsFetchPorts, inputs: &In) {
    let last = Place {
        x: GRID.x - 1,
        y: GRID.y - 1,
        z: GRID.z - 1,
    };
    dut.run_i().set_bool(inputs.run);
    dut.place_i().set(SRC.word().into());
    dut.last_i().set(last.word().into());
    for c in 0..2 {
        dut.next_valid_i().set_bits(c, 1, inputs.kicks[c].is_some().into());
        let (process, tcw) = inputs.kicks[c].map_or((5, 9), |kick| (kick.process, kick.tcw));
        dut.next_process_i().set_bits(3 * c, 3, process.into());
        dut.next_tcw_i().set_bits(16 * c, 16, tcw.into());
        dut.desc_ready_i().set_bits(c, 1, inputs.ready[c].into());
    }
    dut.area_base_i().set(inputs.process.area.into());
    dut.area_size_i().set(inputs.process.area_bytes.into());
    dut.tcw_base_i().set(inputs.process.tcws.into());
    dut.tcw_count_i().set(inputs.process.tcw_count.into());
    dut.job_ready_i().set_bool(inputs.job_ready);
    dut.job_data_valid_i().set_bool(inputs.data.is_some());
    dut.job_data_i().set(inputs.data.unwrap_or(0xffff_ffff).into());
    dut.job_done_i().set_bool(inputs.done.is_some());
    dut.job_err_i().set_bool(inputs.done.unwrap_or(true));
    dut.look_ready_i().set_bool(inputs.look_ready);
    dut.look_for_i().set_bool(inputs.found.is_some());
    let [first, second, flag] = inputs.found.unwrap_or([!0; 3]);
    dut.look_first_i().set(first);
    dut.look_second_i().set(second);
    dut.look_flag_i().set(flag & 0xffff_ffff);
}

fn seen(dut: &impl CppacsFetchPorts) -> Out {
    let desc = |c: usize| {
        let part = || {
            let index = dut.desc_index_o().get_bits(4 * c, 4) as u8;
            (index, dut.desc_data_o().get_bits(32 * c, 32) as u32)
        };
        (dut.desc_valid_o().get_bits(c, 1) == 1).then(part)
    };
    Out {
        busy: dut.busy_o().is_set(),
        take: [0, 1].map(|c| dut.next_take_o().get_bits(c, 1) == 1),
        process: dut.process_o().get() as usize,
        job: dut.job_valid_o().is_set().then(|| dut.job_addr_o().get() as u32),
        look: (dut.look_valid_o().is_set()).then(|| (dut.look_index_o().get() as usize, dut.look_right_o().is_set())),
        desc: [0, 1].map(desc),
    }
}

fn fetch<U: CppacsFetchUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// A kick with what memory holds for it.
#[derive(Clone, Debug)]
struct Case {
    kick: Kick,
    tcw: Result<[u32; 16], BusError>,
}

/// Tables, registers, and kicks by channel.
struct World {
    fetch: Fetch,
    tables: Tables,
    rights: Vec<Right>,
    fields: Vec<Field>,
    cases: [VecDeque<Case>; 2],
}

fn units(rng: &mut Rng, most: u64) -> u32 {
    8 * rng.below(most) as u32
}

impl World {
    fn new(rng: &mut Rng, count: usize) -> World {
        let processes: Vec<Process> = (0..8)
            .map(|_| Process {
                area: (rng.bits() as u32) & !63,
                area_bytes: if rng.chance(1, 4) {
                    !7
                } else {
                    8 * rng.between(1, 400_000) as u32
                },
                tcws: (rng.bits() as u32) & !63,
                tcw_count: if rng.chance(1, 4) {
                    65_536
                } else {
                    rng.between(1, 60_000) as u32
                },
            })
            .collect();
        let right = |rng: &mut Rng| Right {
            place: Place {
                x: rng.below(5).min(rng.below(5)) as u32,
                y: rng.below(6).min(rng.below(6)) as u32,
                z: rng.below(4).min(rng.below(4)) as u32,
            },
            mask: if rng.chance(1, 4) { rng.between(1, 7) as u32 } else { 0 },
            field: rng.below(1024) as u32,
            owner: rng.below(3) as u32,
            valid: rng.chance(7, 8),
            key: rng.bits() as u32,
            size: if rng.chance(1, 4) {
                !7
            } else {
                8 * rng.between(1, 300_000) as u32
            },
        };
        let rights: Vec<Right> = (0..ENTRIES).map(|_| right(rng)).collect();
        let field = |rng: &mut Rng| Field {
            enabled: rng.chance(7, 8),
            owner: rng.below(3) as u32,
            key: rng.bits() as u32,
            base: (rng.bits() as u32) & !7,
            size: if rng.chance(1, 4) {
                !7
            } else {
                8 * rng.between(1, 20_000) as u32
            },
            flag: (rng.bits() as u32) & !7,
            ..Field::default()
        };
        let fields: Vec<Field> = (0..ENTRIES).map(|_| field(rng)).collect();
        let mut tables = Tables::new(ENTRIES, ENTRIES);
        for index in 0..ENTRIES {
            for (word, value) in rights[index].words().into_iter().enumerate() {
                tables.write(true, index, word, value);
            }
            for (word, value) in fields[index].words().into_iter().enumerate() {
                tables.write(false, index, word, value);
            }
        }
        let mut world = World {
            fetch: Fetch { grid: GRID, processes },
            tables,
            rights,
            fields,
            cases: Default::default(),
        };
        for _ in 0..count {
            let case = world.case(rng);
            world.cases[case.kick.channel as usize].push_back(case);
        }
        world
    }

    fn case(&self, rng: &mut Rng) -> Case {
        let right = rng.below(ENTRIES as u64) as usize;
        let process = if rng.chance(15, 16) {
            self.rights[right].owner
        } else {
            rng.below(8) as u32
        };
        let registers = self.fetch.processes[process as usize];
        let kick = Kick {
            process,
            channel: Channel::ALL[rng.below(2) as usize],
            tcw: if rng.chance(1, 16) {
                registers.tcw_count.min(65_535)
            } else {
                rng.below(registers.tcw_count.into()) as u32
            },
        };
        let mut tcw = self.sound(rng, kick, right, registers);
        if rng.chance(1, 2) {
            self.spoil(rng, &mut tcw, registers);
        }
        let words = tcw.words();
        let tcw = if rng.chance(1, 20) { Err(BusError) } else { Ok(words) };
        Case { kick, tcw }
    }

    /// A TCW that is refused only for what its right or its reply's field says.
    fn sound(&self, rng: &mut Rng, kick: Kick, right: usize, process: Process) -> Tcw {
        let is_ack = kick.channel == Channel::Ack;
        let kind = if is_ack {
            [KIND_WRITE, KIND_GET, KIND_SWAP, KIND_CSWAP][rng.below(4) as usize]
        } else {
            KIND_WRITE
        };
        let strided = !is_ack && rng.chance(1, 3);
        let (size, area) = (self.rights[right].size, process.area_bytes);
        let most = match (kind, is_ack) {
            (KIND_WRITE, false) => 1 << 20,
            (KIND_WRITE, true) => 32,
            (KIND_GET, _) => 65_536,
            _ => 8,
        };
        let most = if kind == KIND_WRITE {
            most.min(size).min(area)
        } else {
            most.min(size)
        };
        let length = if rng.chance(1, 4) {
            most
        } else {
            8 + units(rng, u64::from(most / 8))
        };
        let element = if rng.chance(1, 6) {
            524_280.min(area)
        } else {
            8 + units(rng, u64::from(length.min(area) / 8))
        };
        let element = element.min(524_280);
        let first = if strided { element } else { length };
        let end = |rng: &mut Rng, all: u32, part: u32| {
            let room = all.saturating_sub(part);
            if rng.chance(1, 3) {
                room
            } else {
                units(rng, u64::from(room / 8) + 1)
            }
        };
        let reply = rng.below(ENTRIES as u64) as usize;
        Tcw {
            valid: true,
            right: right as u32,
            kind,
            channel: kick.channel as u32,
            notify: rng.chance(1, 2),
            flagged: rng.chance(1, 2),
            strided,
            source: if kind == KIND_WRITE {
                end(rng, area, first)
            } else {
                rng.bits() as u32
            },
            length,
            offset: end(rng, size, if strided { 8 } else { length }),
            send_flag: end(rng, area, 8),
            element: if strided { element } else { rng.bits() as u32 },
            source_step: (rng.bits() as u32) & !7,
            step: (rng.bits() as u32) & !7,
            reply_field: reply as u32,
            reply_offset: end(rng, self.fields[reply].size, length),
            operand: rng.bits(),
            compare: rng.bits(),
        }
    }

    /// One thing is wrong, or near to it.
    fn spoil(&self, rng: &mut Rng, tcw: &mut Tcw, process: Process) {
        let odd = [1, 2, 4][rng.below(3) as usize];
        match rng.below(18) {
            0 => tcw.valid = false,
            1 => tcw.kind = rng.below(8) as u32,
            2 => tcw.channel ^= 1,
            3 => tcw.source |= odd,
            4 => tcw.offset |= odd,
            5 => tcw.send_flag |= odd,
            6 => tcw.element = [0, odd, 524_288, 1 << 31][rng.below(4) as usize],
            7 => tcw.source_step |= odd,
            8 => tcw.step |= odd,
            9 => tcw.length = [0, odd, 40, 16, 65_544, (1 << 20) + 8, 1 << 31][rng.below(7) as usize],
            10 => tcw.source = tcw.source.wrapping_add(8 << rng.below(29)),
            11 => tcw.offset = tcw.offset.wrapping_add(8 << rng.below(29)),
            12 => {
                tcw.send_flag = [process.area_bytes & !7, !7, process.area_bytes.wrapping_sub(8)][rng.below(3) as usize]
            }
            13 => tcw.strided = !tcw.strided,
            14 => tcw.reply_field = [16, 1 << 10 | tcw.reply_field, 1 << 31][rng.below(3) as usize],
            15 => tcw.reply_offset = tcw.reply_offset.wrapping_add(8 << rng.below(29)),
            16 => tcw.reply_offset |= odd,
            _ => tcw.right = rng.below(32) as u32,
        }
    }
}

/// The words of a descriptor that count, by index, and F0's bits that count.
fn due(what: &Result<Descriptor, Refusal>, channel: usize) -> (Vec<Part>, u32, u32) {
    let [flag_at, what_at] = [[7, 8], [13, 14]][channel];
    let (process, tcw, flag) = match what {
        Ok(d) => (d.process, d.tcw, d.flag),
        Err(r) => (r.process, r.tcw, r.flag),
    };
    let mut parts = vec![(what_at, tcw | process << 16)];
    parts.extend(flag.map(|flag| (flag_at, flag)));
    let flagged = u32::from(flag.is_some()) << 27;
    let d = match what {
        Err(refusal) => return (parts, (refusal.reason as u32) << 28 | flagged, !0 << 27),
        Ok(d) => d,
    };
    let length = d.request.map_or(d.length, |_| SIZE_ACK);
    parts.extend([
        (1, SRC.word() | d.field << MSG_F1_FIELD_SHIFT),
        (2, d.key),
        (3, d.offset),
        (4, length),
    ]);
    match (channel, d.request) {
        (0, _) => parts.extend([(9, d.base.wrapping_add(d.source)), (10, d.size - d.source)]),
        (_, Some(request)) => parts.extend((5..).zip(request.words())),
        (_, None) => parts.push((15, d.base.wrapping_add(d.source))),
    }
    if let Some(strides) = d.strides {
        parts.extend([(5, strides.element), (6, strides.step), (12, strides.source_step)]);
    }
    let f0 = d.place.word()
        | d.mask << MSG_F0_MASK_SHIFT
        | (d.channel as u32) << MSG_F0_CHANNEL_SHIFT
        | (d.kind as u32) << MSG_F0_KIND_SHIFT
        | u32::from(d.strides.is_some()) << MSG_F0_STRIDED_SHIFT
        | u32::from(d.notify) << MSG_F0_NOTIFY_SHIFT;
    (parts, f0 | flagged, !0)
}

/// The words unit: words and the end, each after a pause.
#[derive(Default)]
struct Job {
    words: VecDeque<u32>,
    err: bool,
    open: bool,
    wait: u64,
}

struct Rig<'a> {
    bench: Bench<'a, In, Out>,
    world: World,
    /// Kicks that were taken, and what they become.
    taken: [VecDeque<Case>; 2],
    current: Option<Case>,
    job: Job,
    found: Option<([u64; 3], u64)>,
    offers: [Pacer; 2],
    shown: [bool; 2],
    pause: Pacer,
    readies: [Pacer; 2],
    monitor: Monitor<Part>,
    parts: [Vec<Part>; 2],
    /// The acknowledge sender takes whole descriptors.
    ack_open: bool,
    process: Process,
    gate: Rng,
    run: bool,
    row: [usize; 2],
    ended: u64,
    slow: bool,
}

impl<'a> Rig<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, gaps: Gaps, count: usize) -> Result<Rig<'a>, Fault> {
        let mut bench = Bench::new(run, dut);
        for _ in 0..2 {
            bench.reset(&In::default())?;
        }
        Ok(Rig {
            bench,
            world: World::new(&mut run.rng("world"), count),
            taken: Default::default(),
            current: None,
            job: Job::default(),
            found: None,
            offers: ["kicks", "acknowledge kicks"].map(|name| run.pacer(gaps.at_source(), name)),
            shown: [false; 2],
            pause: run.pacer(gaps.at_source(), "words"),
            readies: ["data", "acknowledge"].map(|name| run.pacer(gaps.at_sink(), name)),
            monitor: Monitor::default(),
            parts: Default::default(),
            ack_open: false,
            process: Process::default(),
            gate: run.rng("gate"),
            run: true,
            row: [0; 2],
            ended: 0,
            slow: gaps != Gaps::None,
        })
    }

    fn step(&mut self) -> Result<Out, Fault> {
        let now = self.bench.cycle();
        if self.slow && self.gate.chance(1, 100) {
            self.run = !self.run;
        }
        for c in 0..2 {
            self.shown[c] |= self.offers[c].step();
        }
        let kicks = [0, 1].map(|c: usize| {
            self.world.cases[c]
                .front()
                .filter(|_| self.shown[c])
                .map(|case| case.kick)
        });
        self.job.wait = self.job.wait.saturating_sub(1);
        let moves = self.job.open && self.job.wait == 0 && self.pause.step();
        let data = if moves { self.job.words.pop_front() } else { None };
        let done = (moves && data.is_none()).then_some(self.job.err);
        // The acknowledge sender says that it is ready until it has a whole descriptor.
        self.ack_open |= self.readies[1].step();
        let inputs = In {
            run: self.run,
            kicks,
            process: self.process,
            job_ready: !self.job.open && self.gate.chance(1, if self.slow { 3 } else { 1 }),
            data,
            done,
            look_ready: self.found.is_none(),
            found: self.found.filter(|&(_, due)| due <= now).map(|(words, _)| words),
            ready: [self.readies[0].step(), self.ack_open],
        };
        let still = kicks == [None; 2] && data.is_none() && done.is_none() && inputs.found.is_none();
        let clocked = self.gate.chance(1, 2);
        let seen = self.bench.step_gated(&inputs, |seen| still && !seen.busy, clocked)?;
        self.watch(&inputs, &seen, now).map_err(|fault| fault.at(now))?;
        Ok(seen)
    }

    fn watch(&mut self, inputs: &In, seen: &Out, now: u64) -> Result<(), Fault> {
        self.process = self.world.fetch.processes[seen.process];
        if inputs.found.is_some() {
            self.found = None;
        } else if let (Some((index, right)), true) = (seen.look, inputs.look_ready) {
            let tables = &self.world.tables;
            let words = if right {
                let [place, size] = tables.right(index).map_or([0; 2], |right| right.words());
                [place, !0, size]
            } else {
                tables.field(index).map_or([0, !0, 0], |field| field.words())
            };
            let latency = if self.slow { self.gate.between(6, 40) } else { 6 };
            self.found = Some((words, now + latency));
        }
        if inputs.done.is_some() {
            (self.job.open, self.ended) = (false, now);
        }
        if let (Some(addr), true) = (seen.job, inputs.job_ready) {
            self.begin(addr)?;
        }
        for c in 0..2 {
            if let (true, Some(_)) = (seen.take[c], inputs.kicks[c]) {
                self.took(c)?;
            }
        }
        self.monitor.step(seen.desc[0].as_ref(), inputs.ready[0])?;
        for c in 0..2 {
            if let (Some(part), true) = (seen.desc[c], inputs.ready[c]) {
                self.parts[c].push(part);
                if part.0 == 0 {
                    self.ack_open &= c == 0;
                    self.ends(c, now)?;
                }
            }
        }
        Ok(())
    }

    fn took(&mut self, c: usize) -> Result<(), Fault> {
        Rule::Waits.holds(self.taken[c].is_empty(), || {
            format!("a descriptor of channel {c} waits")
        })?;
        let both = self.shown[1 - c] && !self.world.cases[1 - c].is_empty();
        self.row[c] += 1;
        self.row[1 - c] = 0;
        Rule::Turn.holds(self.row[c] < 3 || !both || self.slow, || format!("channel {c} goes on"))?;
        let case = self.world.cases[c].pop_front().expect("a kick is there");
        self.shown[c] = false;
        self.current = Some(case.clone());
        self.taken[c].push_back(case);
        Ok(())
    }

    fn begin(&mut self, addr: u32) -> Result<(), Fault> {
        let case = self.current.take().ok_or_else(|| Rule::Read.broken("a second read"))?;
        Rule::Read.same("address", self.world.fetch.address(case.kick), Some(addr))?;
        let junk: Vec<u32> = (0..16).map(|_| self.gate.bits() as u32).collect();
        self.job = Job {
            words: case.tcw.map_or(junk, |words| words.to_vec()).into(),
            err: case.tcw.is_err(),
            open: true,
            wait: if self.slow { self.gate.below(30) } else { 8 },
        };
        Ok(())
    }

    /// A descriptor is complete.
    fn ends(&mut self, c: usize, now: u64) -> Result<(), Fault> {
        let case = self.taken[c].pop_front();
        let case = case.ok_or_else(|| Rule::Descriptor.broken("nobody kicked"))?;
        let parts = std::mem::take(&mut self.parts[c]);
        let what = self.world.fetch.take(case.kick, case.tcw, &self.world.tables);
        let got = |index: u8| parts.iter().rev().find(|part| part.0 == index).map(|part| part.1);
        let (due, f0, bits) = due(&what, c);
        let word = got(0).expect("F0 is last");
        Rule::Reason.same(format!("{case:x?}"), f0 >> 28, word >> 28)?;
        Rule::Flag.same(format!("FLAGGED of {case:x?}"), f0 >> 27 & 1, word >> 27 & 1)?;
        Rule::Descriptor.same(format!("F0 of {case:x?}"), f0 & bits, word & bits)?;
        for (index, word) in due {
            Rule::Descriptor.same(format!("word {index} of {case:x?}"), Some(word), got(index))?;
        }
        let took = now - self.ended;
        let is_plain = !self.slow && c == 0 && self.world.fetch.address(case.kick).is_some();
        Rule::Latency.holds(took <= 4 || !is_plain, || {
            format!("F0 comes {took} cycles after the burst")
        })
    }

    fn finish(&mut self) -> Result<(), Fault> {
        for _ in 0..100_000 {
            let is_done = |cases: &[VecDeque<Case>; 2]| cases.iter().all(VecDeque::is_empty);
            if is_done(&self.world.cases) && is_done(&self.taken) {
                for _ in 0..40 {
                    self.step()?;
                }
                return Ok(());
            }
            self.step()?;
        }
        Err(Rule::Hang.broken("kicks are left"))
    }
}

/// Kicks wait while the kernel stops them; then the first one's job comes after 3 cycles.
fn stops(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    let mut rig = Rig::new(run, dut, Gaps::None, 40)?;
    rig.run = false;
    for _ in 0..50 {
        let seen = rig.step()?;
        Rule::Waits.holds(seen.take == [false; 2], || "a kick is taken".into())?;
    }
    let kick = |rig: &Rig| rig.world.cases[0].front().map(|case| case.kick);
    rig.world.cases[1].clear();
    rig.world.cases[0].retain(|case| case.kick.tcw < 4000 && case.kick.tcw > 0);
    while kick(&rig).is_some_and(|kick| rig.world.fetch.address(kick).is_none()) {
        rig.world.cases[0].pop_front();
    }
    if kick(&rig).is_some() {
        rig.run = true;
        for cycle in 0..4 {
            let seen = rig.step()?;
            Rule::Latency.holds(cycle < 3 || seen.job.is_some(), || "the job is late".into())?;
        }
    }
    rig.run = true;
    rig.finish()
}

fn reset(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    let mut first = Rig::new(run, dut, Gaps::Both, 60)?;
    for _ in 0..run.rng("reset").between(20, 1000) {
        first.step()?;
    }
    first.bench.reset(&In::default())?;
    let mut second = Rig::new(run, dut, Gaps::Both, 60)?;
    std::mem::swap(&mut first.bench, &mut second.bench);
    second.finish()
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for start in Start::RANDOM {
            cases.case(start, format!("{} {gaps:?}", dut.name), |run| {
                Rig::new(run, dut, gaps, 400)?.finish()
            });
        }
    }
    cases.case(Start::Random1, format!("{} reset", dut.name), |run| reset(run, dut));
    cases.case(Start::Zero, format!("{} stops", dut.name), |run| stops(run, dut));
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| checks(&fetch::<CppacsFetch>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The reply's key is the right's.
            (Descriptor, &[Reason], &|cases| checks(&fetch::<TwinFetchKey>(), cases)),
            // A sum wraps in LIMIT, or in AREA.
            (Reason, &[], &|cases| checks(&fetch::<TwinFetchLimit>(), cases)),
            (Reason, &[Flag, Descriptor], &|cases| {
                checks(&fetch::<TwinFetchArea>(), cases)
            }),
            (Reason, &[], &|cases| checks(&fetch::<TwinFetchOwner>(), cases)),
            // The kick's channel does not count.
            (Reason, &[], &|cases| checks(&fetch::<TwinFetchChannel>(), cases)),
            (Flag, &[], &|cases| checks(&fetch::<TwinFetchFlag>(), cases)),
            (Read, &[Reason, Flag, Latency], &|cases| {
                checks(&fetch::<TwinFetchRead>(), cases)
            }),
            (Turn, &[], &|cases| checks(&fetch::<TwinFetchTurn>(), cases)),
            (Waits, &[], &|cases| checks(&fetch::<TwinFetchWaits>(), cases)),
            (Latency, &[], &|cases| checks(&fetch::<TwinFetchLate>(), cases)),
            (Rest, &[], &|cases| checks(&fetch::<TwinFetchRest>(), cases)),
            (Path, &[], &|cases| checks(&fetch::<TwinFetchPath>(), cases)),
            (Protocol, &[Descriptor, Reason, Hang, Flag], &|cases| {
                checks(&fetch::<TwinFetchOver>(), cases)
            }),
            (Hang, &[], &|cases| checks(&fetch::<TwinFetchStuck>(), cases)),
        ],
    );
}
