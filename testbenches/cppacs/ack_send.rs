//! `cppacs_ack_send`: short worms. The words unit and the link are the bench's.

use std::collections::VecDeque;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::cppacs::golden::ack_send::worm;
use tsunagi::cppacs::golden::message::{Kind, Request};
use tsunagi::cppacs::golden::tcw::Descriptor;
use tsunagi::cppacs::golden::words::BusError;
use tsunagi::cppacs::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Sink, Source};
use tsunagi::net::hyper::{Channel, Place};
use verilated::{Input as _, Port as _};

rules!(
    /// The worms are the model's.
    Worms
    /// Data are read where they stand.
    Read
    /// Send flags tell how a transfer ended.
    Flags
    /// Refused transfers are told.
    Refused
    /// Worms and words are counted.
    Counts
    /// 3 cycles to F0, 6 more with a read.
    Latency
    /// A word a cycle.
    Rate
    /// At rest nothing changes.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// All transfers end.
    Hang
);

const SRC: Place = Place { x: 3, y: 5, z: 7 };

type Part = (u8, u32);

#[derive(Clone, Default)]
struct In {
    desc: Option<Part>,
    job_ready: bool,
    take: bool,
    data: Option<u32>,
    done: Option<bool>,
    ready: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    busy: bool,
    desc_ready: bool,
    /// Whether it writes, its address, its words.
    job: Option<(u32, u32, u32)>,
    job_data: u32,
    word: Option<(u32, bool)>,
    sending: bool,
    sent: bool,
    words: bool,
    refused: Option<(u32, u32, u32)>,
}

fn set(dut: &impl CppacsAckSendPorts, inputs: &In) {
    let (index, word) = inputs.desc.unwrap_or((0, 0x5000_0000));
    dut.desc_valid_i().set_bool(inputs.desc.is_some());
    dut.desc_index_i().set(index.into());
    dut.desc_data_i().set(word.into());
    dut.job_ready_i().set_bool(inputs.job_ready);
    dut.job_take_i().set_bool(inputs.take);
    dut.job_data_valid_i().set_bool(inputs.data.is_some());
    dut.job_data_i().set(inputs.data.unwrap_or(0x77).into());
    dut.job_done_i().set_bool(inputs.done.is_some());
    dut.job_err_i().set_bool(inputs.done.unwrap_or(true));
    dut.out_ready_i().set_bool(inputs.ready);
}

fn seen(dut: &impl CppacsAckSendPorts) -> Out {
    let job = || {
        (
            dut.job_op_o().get() as u32,
            dut.job_addr_o().get() as u32,
            dut.job_words_o().get() as u32,
        )
    };
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
        desc_ready: dut.desc_ready_o().is_set(),
        job: dut.job_valid_o().is_set().then(job),
        job_data: dut.job_data_o().get() as u32,
        word: (dut.out_valid_o().is_set()).then(|| (dut.out_data_o().get() as u32, dut.out_last_o().is_set())),
        sending: dut.sending_o().is_set(),
        sent: dut.sent_o().is_set(),
        words: dut.words_o().is_set(),
        refused: dut.refused_o().is_set().then(refused),
    }
}

fn ack_send<U: CppacsAckSendUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// A transfer, why it is refused, and whether its memory gives an error.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    what: Descriptor,
    refused: u32,
    err: bool,
}

fn word_at(addr: u32) -> u32 {
    (addr >> 2).wrapping_mul(0x9e37_79b1) ^ 0x55aa
}

impl Transfer {
    fn parts(&self) -> Vec<Part> {
        let d = &self.what;
        let length = d.request.map_or(d.length, |_| SIZE_ACK);
        let mut parts = vec![
            (1, SRC.word() | d.field << MSG_F1_FIELD_SHIFT),
            (2, d.key),
            (3, d.offset),
            (4, length),
        ];
        match d.request {
            Some(request) => parts.extend((5..).zip(request.words())),
            None => parts.push((15, d.base.wrapping_add(d.source))),
        }
        parts.extend([(13, d.flag.unwrap_or(0xbad0)), (14, d.tcw | d.process << 16)]);
        let f0 = d.place.word()
            | 1 << MSG_F0_CHANNEL_SHIFT
            | (d.kind as u32) << MSG_F0_KIND_SHIFT
            | u32::from(d.notify) << MSG_F0_NOTIFY_SHIFT
            | u32::from(d.flag.is_some()) << 27
            | self.refused << 28;
        parts.push((0, f0));
        parts
    }
}

fn transfer(rng: &mut Rng) -> Transfer {
    let kind = [Kind::Write, Kind::Get, Kind::Swap, Kind::Cswap][rng.below(4) as usize];
    let mut any = || (rng.bits() as u32) & !7;
    let request = Request {
        field: any(),
        key: any(),
        offset: any(),
        length: any(),
        operand: any().into(),
        compare: any().into(),
    };
    let [base, offset, flag] = [any(), any(), any()];
    let what = Descriptor {
        process: rng.below(8) as u32,
        tcw: rng.below(1 << 16) as u32,
        place: Place::of(rng.bits() as u32 & 0x1fff),
        mask: 0,
        channel: Channel::Ack,
        kind,
        notify: rng.chance(1, 2),
        field: rng.below(1024) as u32,
        key: rng.bits() as u32,
        offset,
        base,
        size: 1 << 20,
        source: 8 * rng.below(100) as u32,
        length: if kind == Kind::Write {
            8 * rng.between(1, 4) as u32
        } else {
            8
        },
        strides: None,
        flag: rng.chance(1, 2).then_some(flag),
        value: None,
        request: kind.is_request().then_some(request),
    };
    Transfer {
        what,
        refused: if rng.chance(1, 6) { rng.between(1, 11) as u32 } else { 0 },
        err: kind == Kind::Write && rng.chance(1, 6),
    }
}

/// A job under way: what is asked for, words that are left, words that were taken.
#[derive(Default)]
struct Job {
    open: Option<(u32, u32, u32)>,
    given: u32,
    words: Vec<u32>,
    wait: u64,
}

struct Rig<'a> {
    bench: Bench<'a, In, Out>,
    source: Source<Part>,
    current: VecDeque<Transfer>,
    worms: VecDeque<Vec<u32>>,
    flags: VecDeque<(u32, [u32; 2])>,
    refused: VecDeque<(u32, u32, u32)>,
    reads: VecDeque<(u32, u32, bool)>,
    job: Job,
    sink: Sink<(u32, bool)>,
    worm: Vec<u32>,
    gate: Rng,
    counts: [[u64; 2]; 2],
    gap: u64,
    slow: bool,
}

impl<'a> Rig<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, gaps: Gaps, list: &[Transfer]) -> Result<Rig<'a>, Fault> {
        let mut bench = Bench::new(run, dut);
        for _ in 0..2 {
            bench.reset(&In::default())?;
        }
        let mut rig = Rig {
            bench,
            source: Source::new(
                list.iter().flat_map(Transfer::parts),
                run.pacer(gaps.at_source(), "desc"),
            ),
            current: VecDeque::new(),
            worms: VecDeque::new(),
            flags: VecDeque::new(),
            refused: VecDeque::new(),
            reads: VecDeque::new(),
            job: Job::default(),
            sink: Sink::new(run.pacer(gaps.at_sink(), "out")),
            worm: Vec::new(),
            gate: run.rng("gate"),
            counts: [[0; 2]; 2],
            gap: 0,
            slow: gaps != Gaps::None,
        };
        list.iter().for_each(|&transfer| rig.expect(transfer));
        Ok(rig)
    }

    fn expect(&mut self, transfer: Transfer) {
        let d = transfer.what;
        let mut reason = transfer.refused;
        if reason == 0 {
            let (worm, sent) = worm(&d, SRC, |addr, words| {
                self.reads.push_back((addr, words, transfer.err));
                let words = (0..words).map(|word| word_at(addr.wrapping_add(4 * word))).collect();
                if transfer.err { Err(BusError) } else { Ok(words) }
            });
            reason = sent.reason.map_or(0, |reason| reason as u32);
            if let Some(worm) = &worm {
                self.counts[1][0] += 1;
                self.counts[1][1] += worm.len() as u64 - 6;
            }
            self.worms.extend(worm);
        }
        if let Some(flag) = d.flag {
            let result = if reason == 0 {
                RESULT_SENT
            } else {
                RESULT_REFUSED + reason
            };
            self.flags.push_back((flag, [d.tcw, result]));
        }
        if reason != 0 {
            self.refused.push_back((d.process, d.tcw, reason));
        }
        self.current.push_back(transfer);
    }

    fn step(&mut self) -> Result<Out, Fault> {
        let now = self.bench.cycle();
        self.job.wait = self.job.wait.saturating_sub(1);
        let mut inputs = In {
            desc: self.source.offer().copied(),
            job_ready: self.job.open.is_none() && self.gate.chance(1, if self.slow { 3 } else { 1 }),
            ready: self.sink.ready(),
            ..In::default()
        };
        if let Some((op, addr, words)) = self.job.open.filter(|_| self.job.wait == 0) {
            match op {
                0 if self.job.given < words => {
                    inputs.data = Some(word_at(addr.wrapping_add(4 * self.job.given)));
                    self.job.given += 1;
                }
                1 if self.job.words.len() < 2 => inputs.take = true,
                _ => inputs.done = Some(op == 0 && self.reads.front().is_some_and(|read| read.2)),
            }
            if self.slow {
                self.job.wait = self.gate.below(4);
            }
        }
        let still = inputs.desc.is_none() && self.job.open.is_none();
        let clocked = self.gate.chance(1, 2);
        let seen = self.bench.step_gated(&inputs, |seen| still && !seen.busy, clocked)?;
        self.watch(&inputs, &seen).map_err(|fault| fault.at(now))?;
        Ok(seen)
    }

    fn watch(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        self.source.step(seen.desc_ready);
        if inputs.take {
            self.job.words.push(seen.job_data);
        }
        if inputs.done.is_some() {
            let (op, addr, words) = self.job.open.take().expect("a job is open");
            if op == 0 {
                let want = self.reads.pop_front().map(|(addr, words, _)| (addr, words));
                Rule::Read.same("read", want, Some((addr, words)))?;
            } else {
                let got = (addr, std::mem::take(&mut self.job.words));
                let want = self.flags.pop_front().map(|(addr, words)| (addr, words.to_vec()));
                Rule::Flags.same("flag", want, Some(got))?;
            }
        }
        if let (Some(job), true) = (seen.job, inputs.job_ready) {
            let wait = if self.slow { self.gate.below(20) } else { 3 };
            self.job = Job {
                open: Some(job),
                wait,
                ..Job::default()
            };
        }
        for (count, pulse) in self.counts[0].iter_mut().zip([seen.sent, seen.words]) {
            *count += u64::from(pulse);
        }
        if let Some(got) = seen.refused {
            Rule::Refused.same("refused", self.refused.pop_front(), Some(got))?;
        }
        self.gap += 1;
        if let Some((word, last)) = self.sink.step(seen.word)? {
            let late = !self.worm.is_empty() && self.gap > 1 && !self.slow;
            Rule::Rate.holds(!late, || format!("{} cycles within a worm", self.gap))?;
            self.gap = 0;
            self.worm.push(word);
            if last {
                let worm = std::mem::take(&mut self.worm);
                Rule::Worms.same("worm", self.worms.pop_front(), Some(worm))?;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Fault> {
        for _ in 0..60_000 {
            let left = self.worms.len() + self.flags.len() + self.refused.len() + self.reads.len();
            if left == 0 && self.source.is_empty() {
                for _ in 0..40 {
                    self.step()?;
                }
                let [counted, due] = self.counts;
                return Rule::Counts.same("worms, words", due, counted);
            }
            self.step()?;
        }
        Err(Rule::Hang.broken(format!("{} worms are due", self.worms.len())))
    }
}

fn traffic(run: &Run, dut: &Dut<In, Out>, gaps: Gaps) -> Result<(), Fault> {
    let mut rng = run.rng("transfers");
    let list: Vec<Transfer> = (0..150).map(|_| transfer(&mut rng)).collect();
    Rig::new(run, dut, gaps, &list)?.finish()
}

fn latency(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    let mut rng = run.rng("transfers");
    let mut rig = Rig::new(run, dut, Gaps::None, &[])?;
    for _ in 0..40 {
        let mut transfer = transfer(&mut rng);
        (transfer.refused, transfer.err) = (0, false);
        rig.expect(transfer);
        transfer.parts().into_iter().for_each(|part| rig.source.push(part));
        while !rig.source.is_empty() {
            rig.step()?;
        }
        let reads = if transfer.what.request.is_some() {
            0
        } else {
            9 + u64::from(transfer.what.length / 4)
        };
        for cycle in 0.. {
            if rig.step()?.word.is_some() {
                break;
            }
            Rule::Latency.holds(cycle < 1 + reads + u64::from(reads > 0), || {
                format!("no word after {cycle} cycles")
            })?;
        }
        rig.finish()?;
    }
    Ok(())
}

fn reset(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    let mut rng = run.rng("reset");
    let mut list = || -> Vec<Transfer> { (0..30).map(|_| transfer(&mut rng)).collect() };
    let mut first = Rig::new(run, dut, Gaps::Both, &list())?;
    let mut second = Rig::new(run, dut, Gaps::Both, &list())?;
    for _ in 0..run.rng("when").between(20, 1500) {
        first.step()?;
    }
    first.bench.reset(&In::default())?;
    std::mem::swap(&mut first.bench, &mut second.bench);
    second.finish()
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        cases.case(Start::Random1, format!("{} {gaps:?}", dut.name), |run| {
            traffic(run, dut, gaps)
        });
    }
    cases.case(Start::Random2, format!("{} reset", dut.name), |run| reset(run, dut));
    cases.case(Start::Zero, format!("{} latency", dut.name), |run| latency(run, dut));
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| checks(&ack_send::<CppacsAckSend>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The sum without F0.
            (Worms, &[], &|cases| checks(&ack_send::<TwinAckSendSum>(), cases)),
            (Read, &[Worms], &|cases| checks(&ack_send::<TwinAckSendRead>(), cases)),
            (Flags, &[], &|cases| checks(&ack_send::<TwinAckSendFlag>(), cases)),
            (Refused, &[Flags], &|cases| {
                checks(&ack_send::<TwinAckSendReason>(), cases)
            }),
            (Counts, &[], &|cases| checks(&ack_send::<TwinAckSendCounts>(), cases)),
            (Latency, &[], &|cases| checks(&ack_send::<TwinAckSendLate>(), cases)),
            (Rate, &[], &|cases| checks(&ack_send::<TwinAckSendBubble>(), cases)),
            (Rest, &[], &|cases| checks(&ack_send::<TwinAckSendRest>(), cases)),
            (Path, &[Hang], &|cases| checks(&ack_send::<TwinAckSendPath>(), cases)),
            (Protocol, &[Worms], &|cases| {
                checks(&ack_send::<TwinAckSendOver>(), cases)
            }),
            // A refusal without a flag never ends.
            (Hang, &[], &|cases| checks(&ack_send::<TwinAckSendStuck>(), cases)),
        ],
    );
}
