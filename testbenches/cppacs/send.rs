//! `cppacs_send`: transfers and answers become worms. The memory behind dma_read, the words unit and the link are the
//! bench's.

use std::collections::VecDeque;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::cppacs::golden::message::Kind;
use tsunagi::cppacs::golden::send::worms;
use tsunagi::cppacs::golden::tcw::{Descriptor, SendReason, Strides};
use tsunagi::cppacs::golden::words::BusError;
use tsunagi::cppacs::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use tsunagi::net::hyper::{Channel, Place};
use verilated::{Input as _, Port as _};

rules!(
    /// The worms are the model's.
    Worms
    /// Send flags tell how a transfer ended, in order.
    Flags
    /// Refused and broken transfers are told.
    Refused
    /// Transfers and answers alternate.
    Turn
    /// The first word leaves 3 cycles after the descriptor's last.
    Latency
    /// A word a cycle; 2 cycles between worms, 4 between transfers.
    Rate
    /// Worms, words and answers are counted.
    Counts
    /// At rest nothing changes.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// All worms leave.
    Hang
);

const SRC: Place = Place { x: 3, y: 5, z: 7 };
/// Memory that gives errors.
const FAULTS: std::ops::Range<u32> = 0x4_0000..0x4_0040;

/// A word of a descriptor with its index.
type Part = (u8, u32);

#[derive(Clone, Default)]
struct In {
    desc: Option<Part>,
    answer: Option<Part>,
    read_ready: bool,
    /// A word, `last`, `err`.
    data: Option<(u32, bool, bool)>,
    job_ready: bool,
    job_take: bool,
    job_done: bool,
    ready: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    busy: bool,
    ready: [bool; 2],
    read: Option<(u32, u32)>,
    data_ready: bool,
    /// The address and word of a flag's job.
    job: Option<u32>,
    job_data: u32,
    word: Option<(u32, bool)>,
    sending: bool,
    sent: bool,
    words: bool,
    answered: bool,
    /// Process, TCW, reason.
    refused: Option<(u32, u32, u32)>,
}

fn set(dut: &impl CppacsSendPorts, inputs: &In) {
    let (index, word) = inputs.desc.unwrap_or((0, 0x1000_0000));
    dut.desc_valid_i().set_bool(inputs.desc.is_some());
    dut.desc_index_i().set(index.into());
    dut.desc_data_i().set(word.into());
    let (index, word) = inputs.answer.unwrap_or((0, 0x1000_0000));
    dut.answer_valid_i().set_bool(inputs.answer.is_some());
    dut.answer_index_i().set(index.into());
    dut.answer_data_i().set(word.into());
    dut.read_ready_i().set_bool(inputs.read_ready);
    let (word, last, err) = inputs.data.unwrap_or((7, true, true));
    dut.data_valid_i().set_bool(inputs.data.is_some());
    dut.data_data_i().set(word.into());
    dut.data_last_i().set_bool(last);
    dut.data_err_i().set_bool(err);
    dut.job_ready_i().set_bool(inputs.job_ready);
    dut.job_take_i().set_bool(inputs.job_take);
    dut.job_done_i().set_bool(inputs.job_done);
    dut.out_ready_i().set_bool(inputs.ready);
}

fn seen(dut: &impl CppacsSendPorts) -> Out {
    let refused = || {
        let [process, tcw, reason] = [
            dut.refused_process_o().get(),
            dut.refused_tcw_o().get(),
            dut.refused_reason_o().get(),
        ];
        (process as u32, tcw as u32, reason as u32)
    };
    Out {
        busy: dut.busy_o().is_set(),
        ready: [dut.desc_ready_o().is_set(), dut.answer_ready_o().is_set()],
        read: (dut.read_valid_o().is_set()).then(|| (dut.read_addr_o().get() as u32, dut.read_bytes_o().get() as u32)),
        data_ready: dut.data_ready_o().is_set(),
        job: dut.job_valid_o().is_set().then(|| dut.job_addr_o().get() as u32),
        job_data: if dut.job_valid_o().is_set() {
            0
        } else {
            dut.job_data_o().get() as u32
        },
        word: (dut.out_valid_o().is_set()).then(|| (dut.out_data_o().get() as u32, dut.out_last_o().is_set())),
        sending: dut.sending_o().is_set(),
        sent: dut.sent_o().is_set(),
        words: dut.words_o().is_set(),
        answered: dut.answered_o().is_set(),
        refused: dut.refused_o().is_set().then(refused),
    }
}

fn send<U: CppacsSendUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// A transfer as fetch gives it, and why it is refused.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    what: Descriptor,
    refused: u32,
}

fn word_at(addr: u32) -> u32 {
    (addr >> 2).wrapping_mul(0x9e37_79b1) ^ 0x55aa
}

fn is_fault(addr: u32) -> bool {
    FAULTS.contains(&addr)
}

impl Transfer {
    fn f0(&self) -> u32 {
        let d = &self.what;
        d.place.word()
            | d.mask << MSG_F0_MASK_SHIFT
            | (d.kind as u32) << MSG_F0_KIND_SHIFT
            | u32::from(d.strides.is_some()) << MSG_F0_STRIDED_SHIFT
            | u32::from(d.notify) << MSG_F0_NOTIFY_SHIFT
            | u32::from(d.value.is_some()) << 26
            | u32::from(d.flag.is_some()) << 27
            | self.refused << 28
    }

    /// Its descriptor, word by word.
    fn parts(&self) -> Vec<Part> {
        let d = &self.what;
        let mut parts = vec![
            (1, SRC.word() | d.field << MSG_F1_FIELD_SHIFT),
            (2, d.key),
            (3, d.offset),
            (4, d.length),
        ];
        if let Some(value) = d.value {
            parts.extend([(7, value as u32), (8, (value >> 32) as u32)]);
        } else {
            parts.extend([(9, d.base.wrapping_add(d.source)), (10, d.size.wrapping_sub(d.source))]);
        }
        if d.kind == Kind::Write {
            parts.extend([(7, d.flag.unwrap_or(0xbad)), (8, d.tcw | d.process << 16)]);
            let strides = d.strides.unwrap_or(Strides {
                element: 0xbad8,
                source_step: 0xbad0,
                step: 0xbad0,
            });
            parts.extend([(5, strides.element), (6, strides.step), (12, strides.source_step)]);
        }
        parts.push((0, self.f0()));
        parts
    }

    fn worms(&self) -> (Vec<Vec<u32>>, Option<SendReason>) {
        if self.refused != 0 {
            return (Vec::new(), None);
        }
        let base = self.what.base;
        let (worms, sent) = worms(&self.what, SRC, |run| {
            let addresses = (0..run.bytes / 4).map(|word| base.wrapping_add(run.offset + 4 * word));
            let words: Vec<u32> = addresses
                .clone()
                .take_while(|&addr| !is_fault(addr))
                .map(word_at)
                .collect();
            if words.len() as u32 * 4 < run.bytes {
                Err((words, BusError))
            } else {
                Ok(words)
            }
        });
        (worms, sent.reason)
    }

    fn is_answer(&self) -> bool {
        self.what.kind == Kind::Reply
    }
}

fn transfer(rng: &mut Rng, is_answer: bool, long: bool) -> Transfer {
    let units = |rng: &mut Rng, most: u64| 8 * rng.between(1, most) as u32;
    let mask = if !is_answer && rng.chance(1, 4) {
        rng.between(1, 7) as u32
    } else {
        0
    };
    let value = (is_answer && rng.chance(1, 3)).then(|| rng.bits());
    let length = match rng.below(6) {
        _ if value.is_some() => 8,
        0 if long => 65_536 + units(rng, 2000),
        1 => units(rng, if mask == 0 { 40 } else { 400 }),
        2 => 992,
        _ => units(rng, 16),
    };
    let element = units(rng, 12).max(length / 100 & !7);
    let strides = (!is_answer && rng.chance(1, 3)).then(|| Strides {
        element,
        source_step: element + units(rng, 3) - 8,
        step: (rng.bits() as u32) & !7,
    });
    let source = units(rng, 20);
    let first = strides.map_or(length, |strides| strides.element.max(strides.element.min(length)));
    // Mostly large enough for all; a strided one may leave the area.
    let size = source
        + first
        + if strides.is_some() && rng.chance(3, 4) {
            3 * length + 8000
        } else {
            0
        };
    let base = if rng.chance(1, 12) {
        FAULTS.start - source - units(rng, 40)
    } else {
        (rng.bits() as u32) & 0x7ff_ffc0 | 0x10_0000
    };
    let what = Descriptor {
        process: rng.below(8) as u32,
        tcw: rng.below(1 << 16) as u32,
        place: Place::of(rng.bits() as u32 & 0x1fff),
        mask,
        channel: Channel::Data,
        kind: if is_answer { Kind::Reply } else { Kind::Write },
        notify: rng.chance(1, 2),
        field: rng.below(1024) as u32,
        key: rng.bits() as u32,
        offset: (rng.bits() as u32) & !7,
        base,
        size,
        source,
        length,
        strides,
        flag: (!is_answer && rng.chance(1, 2)).then(|| (rng.bits() as u32) & !7),
        value,
        request: None,
    };
    let refused = if !is_answer && rng.chance(1, 8) {
        rng.between(1, 11) as u32
    } else {
        0
    };
    Transfer { what, refused }
}

/// dma_read with its memory: packets of words, each ready at a cycle.
struct Reader {
    packets: VecDeque<(u64, VecDeque<(u32, bool, bool)>)>,
    latency: u64,
    commands: Pacer,
    words: Pacer,
    holds: bool,
}

impl Reader {
    fn offer(&mut self, now: u64) -> Option<(u32, bool, bool)> {
        let (due, words) = self.packets.front()?;
        self.holds |= *due <= now && self.words.step();
        words.front().copied().filter(|_| self.holds)
    }

    fn command(&mut self, now: u64, (addr, bytes): (u32, u32)) {
        let mut words = VecDeque::new();
        for word in 0..bytes / 4 {
            let at = addr.wrapping_add(4 * word);
            words.push_back((word_at(at), word + 1 == bytes / 4 || is_fault(at), is_fault(at)));
            if is_fault(at) {
                break;
            }
        }
        self.packets.push_back((now + self.latency, words));
    }

    /// The word was taken.
    fn take(&mut self) {
        self.holds = false;
        let (_, words) = self.packets.front_mut().expect("a packet is under way");
        words.pop_front();
        if words.is_empty() {
            self.packets.pop_front();
        }
    }
}

/// The words unit, as the sender sees it: it takes a job, then its two words, and then it is done.
#[derive(Default)]
struct Flags {
    addr: Option<u32>,
    words: Vec<u32>,
    wait: u64,
}

struct Rig<'a> {
    bench: Bench<'a, In, Out>,
    sources: [Source<Part>; 2],
    /// Transfers and answers whose worms are due; how many of their worms have left.
    due: [VecDeque<Transfer>; 2],
    worms: [VecDeque<Vec<u32>>; 2],
    flags: VecDeque<(u32, [u32; 2])>,
    refused: VecDeque<(u32, u32, u32)>,
    reader: Reader,
    job: Flags,
    sink: Sink<(u32, bool)>,
    worm: Vec<u32>,
    gate: Rng,
    /// Worms, payload, answers: counted and due.
    counts: [[u64; 3]; 2],
    /// Worms of each kind since the other had one.
    row: [usize; 2],
    gap: u64,
    most_gap: u64,
    idle: u64,
}

impl<'a> Rig<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, gaps: Gaps, lists: [Vec<Transfer>; 2]) -> Result<Rig<'a>, Fault> {
        let mut bench = Bench::new(run, dut);
        for _ in 0..2 {
            bench.reset(&In::default())?;
        }
        let parts = |list: &[Transfer]| -> Vec<Part> { list.iter().flat_map(Transfer::parts).collect() };
        let mut rig = Rig {
            bench,
            sources: [0, 1]
                .map(|i: usize| Source::new(parts(&lists[i]), run.pacer(gaps.at_source(), ["desc", "answer"][i]))),
            due: Default::default(),
            worms: Default::default(),
            flags: VecDeque::new(),
            refused: VecDeque::new(),
            reader: Reader {
                packets: VecDeque::new(),
                latency: if gaps.at_source() { 30 } else { 4 },
                commands: run.pacer(gaps.at_source(), "commands"),
                words: run.pacer(gaps.at_source(), "words"),
                holds: false,
            },
            job: Flags::default(),
            sink: Sink::new(run.pacer(gaps.at_sink(), "out")),
            worm: Vec::new(),
            gate: run.rng("gate"),
            counts: [[0; 3]; 2],
            row: [0; 2],
            gap: 0,
            most_gap: 0,
            idle: 0,
        };
        for (side, list) in lists.into_iter().enumerate() {
            list.into_iter().for_each(|transfer| rig.expect(side, transfer));
        }
        Ok(rig)
    }

    /// What a transfer leads to.
    fn expect(&mut self, side: usize, transfer: Transfer) {
        let (worms, reason) = transfer.worms();
        let reason = reason.map_or(transfer.refused, |reason| reason as u32);
        let d = transfer.what;
        if let Some(flag) = d.flag {
            let result = if reason == 0 {
                RESULT_SENT
            } else {
                RESULT_REFUSED + reason
            };
            self.flags.push_back((flag, [d.tcw, result]));
        }
        if reason != 0 && !transfer.is_answer() {
            self.refused.push_back((d.process, d.tcw, reason));
        }
        let header = if d.strides.is_some() { 7 } else { 5 };
        let payload: usize = worms.iter().map(|worm| worm.len() - header - 1).sum();
        let due = &mut self.counts[1];
        due[0] += worms.len() as u64;
        due[1] += payload as u64;
        due[2] += u64::from(transfer.is_answer());
        self.worms[side].extend(worms);
        self.due[side].push_back(transfer);
    }

    fn step(&mut self) -> Result<Out, Fault> {
        let now = self.bench.cycle();
        self.job.wait = self.job.wait.saturating_sub(1);
        let open = self.job.addr.is_some() && self.job.wait == 0;
        let inputs = In {
            desc: self.sources[0].offer().copied(),
            answer: self.sources[1].offer().copied(),
            read_ready: self.reader.commands.step() && self.reader.packets.len() < 8,
            data: self.reader.offer(now),
            job_ready: self.job.addr.is_none() && self.gate.chance(1, 3),
            job_take: open && self.job.words.len() < 2,
            job_done: open && self.job.words.len() == 2,
            ready: self.sink.ready(),
        };
        let still = inputs.desc.is_none() && inputs.answer.is_none() && inputs.data.is_none() && !open;
        let clocked = self.gate.chance(1, 2);
        let seen = self.bench.step_gated(&inputs, |seen| still && !seen.busy, clocked)?;
        self.watch(&inputs, &seen, now).map_err(|fault| fault.at(now))?;
        Ok(seen)
    }

    fn watch(&mut self, inputs: &In, seen: &Out, now: u64) -> Result<(), Fault> {
        for side in 0..2 {
            self.sources[side].step(seen.ready[side]);
        }
        if let (Some(read), true) = (seen.read, inputs.read_ready) {
            self.reader.command(now, read);
        }
        if inputs.data.is_some() && seen.data_ready {
            self.reader.take();
        }
        self.watch_job(inputs, seen)?;
        for (count, pulse) in self.counts[0].iter_mut().zip([seen.sent, seen.words, seen.answered]) {
            *count += u64::from(pulse);
        }
        if let Some(got) = seen.refused {
            Rule::Refused.same("refused", self.refused.pop_front(), Some(got))?;
            // A refused transfer has its turn, too.
            self.row = [0; 2];
        }
        self.gap += 1;
        if let Some((word, last)) = self.sink.step(seen.word)? {
            if !self.worm.is_empty() || now > 60 {
                self.most_gap = self.most_gap.max(self.gap - 1);
                self.idle += self.gap - 1;
            }
            self.gap = 0;
            self.worm.push(word);
            if last {
                let worm = std::mem::take(&mut self.worm);
                self.check(worm)?;
            }
        }
        Ok(())
    }

    fn watch_job(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        if let (Some(addr), true) = (seen.job, inputs.job_ready) {
            self.job = Flags {
                addr: Some(addr),
                words: Vec::new(),
                wait: self.gate.below(20),
            };
        }
        if inputs.job_take {
            self.job.words.push(seen.job_data);
        }
        if inputs.job_done {
            let got = (self.job.addr.take(), std::mem::take(&mut self.job.words));
            let want = self.flags.pop_front().map(|(addr, words)| (Some(addr), words.to_vec()));
            Rule::Flags.same("flag", want, Some(got))?;
        }
        Ok(())
    }

    fn check(&mut self, worm: Vec<u32>) -> Result<(), Fault> {
        let kind = worm[0] >> MSG_F0_KIND_SHIFT & 7;
        let side = usize::from(kind == KIND_REPLY);
        let want = self.worms[side].pop_front();
        if want.as_ref() != Some(&worm) {
            let short = |worm: &[u32]| format!("{} words, {:x?}", worm.len(), &worm[..worm.len().min(12)]);
            let at = want
                .as_ref()
                .and_then(|want| want.iter().zip(&worm).position(|(a, b)| a != b));
            let what = format!("{}, not {:?}, word {at:?}", short(&worm), want.as_deref().map(short));
            return Err(Rule::Worms.broken(what));
        }
        let ends = worm[0] & MSG_F0_LAST_MASK != 0;
        self.row[side] += usize::from(ends);
        self.row[1 - side] = 0;
        let waits = self.worms[1 - side].len() > 3;
        Rule::Turn.holds(self.row[side] < 4 || !waits || self.slow(), || {
            format!("{side} goes on")
        })
    }

    /// The sources pause, so there need not be two transfers to alternate.
    fn slow(&self) -> bool {
        self.reader.latency > 10
    }

    fn finish(&mut self) -> Result<(), Fault> {
        for _ in 0..400_000 {
            let left: usize = self.worms.iter().map(VecDeque::len).sum();
            if left + self.flags.len() + self.refused.len() == 0 && self.sources.iter().all(Source::is_empty) {
                for _ in 0..40 {
                    self.step()?;
                }
                let [counted, due] = self.counts;
                return Rule::Counts.same("worms, words, answers", due, counted);
            }
            self.step()?;
        }
        Err(Rule::Hang.broken(format!(
            "{} and {} worms are due",
            self.worms[0].len(),
            self.worms[1].len()
        )))
    }
}

/// Transfers of any kind. Each list but the answers' has one whose worms are cut amid an element.
fn list(rng: &mut Rng, count: usize, is_answer: bool, long: bool) -> Vec<Transfer> {
    let mut list: Vec<Transfer> = (0..count).map(|_| transfer(rng, is_answer, long)).collect();
    if !is_answer {
        let cut = &mut list[count / 2];
        let what = &mut cut.what;
        let strides = Strides {
            element: 24,
            source_step: 40,
            step: 48,
        };
        cut.refused = 0;
        (what.mask, what.length, what.strides) = (1, 2400, Some(strides));
        (what.base, what.source, what.size) = (0x10_0000, 16, 1 << 16);
    }
    list
}

fn traffic(run: &Run, dut: &Dut<In, Out>, gaps: Gaps, long: bool) -> Result<(), Fault> {
    let mut rng = run.rng("transfers");
    let (transfers, answers) = if long { (6, 2) } else { (60, 40) };
    let lists = [
        list(&mut rng, transfers, false, long),
        list(&mut rng, answers, true, long),
    ];
    Rig::new(run, dut, gaps, lists)?.finish()
}

/// Contiguous transfers that wait, with a fast memory: no more idle cycles than promised.
fn rate(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    let mut rng = run.rng("transfers");
    let plain = |rng: &mut Rng, mask: u32, length: u32| {
        let mut transfer = transfer(rng, false, false);
        transfer.refused = 0;
        let d = &mut transfer.what;
        (d.mask, d.length, d.strides, d.base, d.size) = (mask, length, None, 0x10_0000, 1 << 20);
        transfer
    };
    let worms = plain(&mut rng, 1, 9920);
    let mut rig = Rig::new(run, dut, Gaps::None, [vec![worms], Vec::new()])?;
    rig.finish()?;
    Rule::Rate.holds(rig.idle <= 20, || format!("{} idle cycles in 10 worms", rig.idle))?;
    Rule::Rate.holds(rig.most_gap <= 2, || format!("{} cycles between worms", rig.most_gap))?;
    let transfers: Vec<Transfer> = (0..20).map(|_| plain(&mut rng, 0, 512)).collect();
    let mut rig = Rig::new(run, dut, Gaps::None, [transfers, Vec::new()])?;
    rig.finish()?;
    Rule::Rate.holds(rig.most_gap <= 4, || {
        format!("{} cycles between transfers", rig.most_gap)
    })?;
    for _ in 0..10 {
        let mut rig = Rig::new(run, dut, Gaps::None, [Vec::new(), Vec::new()])?;
        let transfer = plain(&mut rng, 0, 64);
        rig.expect(0, transfer);
        for part in transfer.parts() {
            rig.sources[0].push(part);
        }
        while !rig.sources[0].is_empty() {
            rig.step()?;
        }
        for cycle in 0.. {
            let seen = rig.step()?;
            if seen.word.is_some() {
                break;
            }
            Rule::Latency.holds(cycle < 5, || "the first word is late".into())?;
        }
        rig.finish()?;
    }
    Ok(())
}

fn reset(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    let mut rng = run.rng("reset");
    let lists = [list(&mut rng, 30, false, false), list(&mut rng, 10, true, false)];
    let mut first = Rig::new(run, dut, Gaps::Both, lists)?;
    for _ in 0..rng.between(20, 2000) {
        first.step()?;
    }
    first.bench.reset(&In::default())?;
    let lists = [list(&mut rng, 30, false, false), list(&mut rng, 10, true, false)];
    let mut second = Rig::new(run, dut, Gaps::Both, lists)?;
    std::mem::swap(&mut first.bench, &mut second.bench);
    second.finish()
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        let params = format!("{} {gaps:?}", dut.name);
        cases.case(Start::Random1, &params, |run| traffic(run, dut, gaps, false));
    }
    cases.case(Start::Random2, format!("{} long", dut.name), |run| {
        traffic(run, dut, Gaps::None, true)
    });
    cases.case(Start::Random1, format!("{} reset", dut.name), |run| reset(run, dut));
    cases.case(Start::Zero, format!("{} rate", dut.name), |run| rate(run, dut));
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| checks(&send::<CppacsSend>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // LAST in every worm.
            (Worms, &[], &|cases| checks(&send::<TwinCppacsSendLast>(), cases)),
            // The sum without F0.
            (Worms, &[], &|cases| checks(&send::<TwinCppacsSendSum>(), cases)),
            // The next worm begins with a whole element.
            (Worms, &[], &|cases| checks(&send::<TwinCppacsSendLeft>(), cases)),
            // The rest of a broken transfer comes into the next one.
            (Worms, &[Hang, Turn, Flags, Refused, Counts], &|cases| {
                checks(&send::<TwinCppacsSendGoesOn>(), cases)
            }),
            // A refusal is told as sent.
            (Flags, &[], &|cases| checks(&send::<TwinCppacsSendFlag>(), cases)),
            (Refused, &[Flags], &|cases| {
                checks(&send::<TwinCppacsSendReason>(), cases)
            }),
            (Turn, &[Hang], &|cases| checks(&send::<TwinCppacsSendTurn>(), cases)),
            (Latency, &[Hang, Rate, Turn, Worms], &|cases| {
                checks(&send::<TwinCppacsSendLate>(), cases)
            }),
            (Rate, &[Latency], &|cases| {
                checks(&send::<TwinCppacsSendBubble>(), cases)
            }),
            (Protocol, &[Worms, Hang, Rate], &|cases| {
                checks(&send::<TwinCppacsSendOver>(), cases)
            }),
            (Counts, &[], &|cases| checks(&send::<TwinCppacsSendCounts>(), cases)),
            (Rest, &[Refused], &|cases| checks(&send::<TwinCppacsSendRest>(), cases)),
            (Path, &[Worms, Hang], &|cases| {
                checks(&send::<TwinCppacsSendPath>(), cases)
            }),
            (Hang, &[Rate, Worms], &|cases| {
                checks(&send::<TwinCppacsSendStuck>(), cases)
            }),
        ],
    );
}
