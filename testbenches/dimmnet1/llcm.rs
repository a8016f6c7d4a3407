//! `dimmnet1_llcm`: five parties at one memory.
//!
//! Host and processor share words, and so do OTF writes and the processor: the model knows the cycle of each access.
//! Matcher and streams have words of their own. At the end the host reads all of them.

use std::collections::VecDeque;
use std::ops::Range;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::dimmnet1::golden::llcm::{Access, Llcm, WORDS};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use verilated::{Input as _, Port as _};

rules!(
    /// Reads give what was written, in order.
    Content
    /// What one port writes, the other one sees in the same cycle; of two writes port B's stays.
    Collision
    /// Bursts end where they should, with an error beyond the memory only.
    Response
    /// A stream gets one cycle in four at least.
    Share
    /// Host and processor have their word in the next cycle.
    Latency
    /// It is busy while something is inside, and only then.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// Every access ends.
    Hang
);

/// {address, beats - 1}.
type Command = (u32, u8);
/// {data, strobes, last}.
type Beat = (u64, u8, bool);
/// {data, last, err}.
type Read = (u64, bool, bool);

#[derive(Clone, Debug, Default)]
struct In {
    a: Option<Access>,
    otf: Option<Access>,
    cpu: Option<Access>,
    mat: Option<Access>,
    rd_cmd: Option<Command>,
    rd_ready: bool,
    wr_cmd: Option<Command>,
    wr_data: Option<Beat>,
    rsp_ready: bool,
}

#[derive(Debug, PartialEq)]
struct Out {
    a: u64,
    otf_ready: bool,
    cpu_ready: bool,
    cpu: Option<u64>,
    mat_ready: bool,
    mat: Option<u64>,
    rd_cmd_ready: bool,
    read: Option<Read>,
    wr_cmd_ready: bool,
    wr_data_ready: bool,
    response: Option<bool>,
    busy: bool,
}

fn set(dut: &impl Dimmnet1LlcmPorts, inputs: &In) {
    let junk = Access {
        word: 3,
        write: Some((0xdead, 0xff)),
    };
    let of = |access: Option<Access>| {
        let access = access.unwrap_or(junk);
        let (data, strobes) = access.write.unwrap_or((0xbad, 0x5a));
        (access.write.is_some(), access.word as u64, data, u64::from(strobes))
    };
    let (write, word, data, strobes) = of(inputs.a);
    dut.a_valid_i().set_bool(inputs.a.is_some());
    dut.a_write_i().set_bool(write);
    dut.a_addr_i().set(word);
    dut.a_wdata_i().set(data);
    dut.a_strb_i().set(strobes);
    let (_, word, data, strobes) = of(inputs.otf);
    dut.otf_valid_i().set_bool(inputs.otf.is_some());
    dut.otf_addr_i().set(word * 8 + data % 8);
    dut.otf_data_i().set(data);
    dut.otf_strb_i().set(strobes);
    let (write, word, data, strobes) = of(inputs.cpu);
    dut.cpu_valid_i().set_bool(inputs.cpu.is_some());
    dut.cpu_write_i().set_bool(write);
    dut.cpu_addr_i().set(word);
    dut.cpu_wdata_i().set(data);
    dut.cpu_strb_i().set(strobes);
    let (write, word, data, strobes) = of(inputs.mat);
    dut.mat_valid_i().set_bool(inputs.mat.is_some());
    dut.mat_write_i().set_bool(write);
    dut.mat_addr_i().set(word);
    dut.mat_wdata_i().set(data);
    dut.mat_strb_i().set(strobes);
    let (addr, len) = inputs.rd_cmd.unwrap_or((0xdead, 0xbe));
    dut.rd_cmd_valid_i().set_bool(inputs.rd_cmd.is_some());
    dut.rd_cmd_addr_i().set(addr.into());
    dut.rd_cmd_len_i().set(len.into());
    dut.rd_data_ready_i().set_bool(inputs.rd_ready);
    let (addr, len) = inputs.wr_cmd.unwrap_or((0xdead, 0xbe));
    dut.wr_cmd_valid_i().set_bool(inputs.wr_cmd.is_some());
    dut.wr_cmd_addr_i().set(addr.into());
    dut.wr_cmd_len_i().set(len.into());
    let (data, strobes, last) = inputs.wr_data.unwrap_or((0xbad, 0xff, false));
    dut.wr_data_valid_i().set_bool(inputs.wr_data.is_some());
    dut.wr_data_data_i().set(data);
    dut.wr_data_strb_i().set(strobes.into());
    dut.wr_data_last_i().set_bool(last);
    dut.wr_rsp_ready_i().set_bool(inputs.rsp_ready);
}

fn seen(dut: &impl Dimmnet1LlcmPorts) -> Out {
    Out {
        a: dut.a_rdata_o().get(),
        otf_ready: dut.otf_ready_o().is_set(),
        cpu_ready: dut.cpu_ready_o().is_set(),
        cpu: dut.cpu_rvalid_o().is_set().then(|| dut.cpu_rdata_o().get()),
        mat_ready: dut.mat_ready_o().is_set(),
        mat: dut.mat_rvalid_o().is_set().then(|| dut.mat_rdata_o().get()),
        rd_cmd_ready: dut.rd_cmd_ready_o().is_set(),
        read: dut.rd_data_valid_o().is_set().then(|| {
            let (data, err) = (dut.rd_data_data_o().get(), dut.rd_data_err_o().is_set());
            (if err { 0 } else { data }, dut.rd_data_last_o().is_set(), err)
        }),
        wr_cmd_ready: dut.wr_cmd_ready_o().is_set(),
        wr_data_ready: dut.wr_data_ready_o().is_set(),
        response: dut.wr_rsp_valid_o().is_set().then(|| dut.wr_rsp_err_o().is_set()),
        busy: dut.busy_o().is_set(),
    }
}

fn dut<U: Dimmnet1LlcmUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

// --------------------------------------------------------------------------------------------------------- the parties

/// Words that host and processor share, and those that OTF writes and the processor share.
const SHARED: Range<u64> = 0..8;
const OTF: Range<u64> = 8..16;
const MATCHER: Range<u64> = 16..32;
const STREAMS: Range<u64> = 32..96;
/// Words that the bench uses.
const USED: usize = 96;

fn access(rng: &mut Rng, words: &Range<u64>, writes: u64) -> Access {
    let strobes = if rng.chance(1, 2) { 0xff } else { rng.bits() as u8 };
    Access {
        word: rng.between(words.start, words.end - 1) as usize,
        write: rng.chance(writes, 4).then(|| (rng.bits(), strobes)),
    }
}

/// A burst, with its words if it writes.
type Burst = (Command, Option<Vec<Beat>>);

/// In the streams' words, or around the memory's end.
fn burst(rng: &mut Rng) -> Burst {
    let len = rng.below(16) as u8;
    let word = match rng.below(8) {
        0 => WORDS as u64 + rng.below(1 << 14),
        _ => rng.between(STREAMS.start, STREAMS.end - 16),
    };
    let beat = |rng: &mut Rng, last| (rng.bits(), rng.bits() as u8, last);
    let write = rng
        .chance(1, 2)
        .then(|| (0..=len).map(|i| beat(rng, i == len)).collect());
    (((8 * word) as u32, len), write)
}

/// What the parties do, and what is due to them.
struct World {
    model: Llcm,
    /// Left for the host.
    host: usize,
    pacer: Pacer,
    rng: Rng,
    otf: Source<Access>,
    cpu: Source<Access>,
    mat: Source<Access>,
    bursts: VecDeque<Burst>,
    rd_cmd: Source<Command>,
    wr_cmd: Source<Command>,
    wr_data: Source<Beat>,
    reads: Sink<Read>,
    responses: Sink<bool>,
    due_host: Option<(u64, bool)>,
    due_cpu: Option<(u64, bool)>,
    due_mat: VecDeque<u64>,
    due_reads: VecDeque<Read>,
    due_responses: VecDeque<bool>,
    /// OTF writes that were taken in the last cycle.
    written: Option<Access>,
    inputs: In,
}

impl World {
    fn new(run: &Run, gaps: Gaps, count: usize) -> World {
        let mut rng = run.rng("accesses");
        let source = |rng: &mut Rng, name: &str, words: &[Range<u64>], writes| {
            let one = |_| {
                let words = &words[rng.below(words.len() as u64) as usize];
                access(rng, words, writes)
            };
            Source::new(
                (0..count).map(one).collect::<Vec<_>>(),
                run.pacer(gaps.at_source(), name),
            )
        };
        World {
            model: Llcm::default(),
            host: 2 * count,
            pacer: run.pacer(gaps.at_source(), "host"),
            otf: source(&mut rng, "otf", &[OTF], 4),
            cpu: source(&mut rng, "processor", &[SHARED, OTF], 2),
            mat: source(&mut rng, "matcher", &[MATCHER], 2),
            bursts: (0..count / 4).map(|_| burst(&mut rng)).collect(),
            rd_cmd: Source::new([], run.pacer(gaps.at_source(), "read commands")),
            wr_cmd: Source::new([], run.pacer(gaps.at_source(), "write commands")),
            wr_data: Source::new([], run.pacer(gaps.at_source(), "write data")),
            reads: Sink::new(run.pacer(gaps.at_sink(), "reads")),
            responses: Sink::new(run.pacer(gaps.at_sink(), "responses")),
            due_host: None,
            due_cpu: None,
            due_mat: VecDeque::new(),
            due_reads: VecDeque::new(),
            due_responses: VecDeque::new(),
            written: None,
            inputs: In::default(),
            rng,
        }
    }

    /// Bursts go on while they cannot meet one of the other kind.
    fn issue(&mut self) {
        while let Some((_, write)) = self.bursts.front() {
            let open = if write.is_some() {
                self.due_reads.len()
            } else {
                self.due_responses.len()
            };
            if open > 0 {
                return;
            }
            let ((addr, len), write) = self.bursts.pop_front().expect("it was seen");
            let word = |i: u8| addr as usize / 8 + usize::from(i);
            if let Some(beats) = write {
                let mut inside = true;
                for (i, &(data, strobes, _)) in beats.iter().enumerate() {
                    inside = self.model.write(word(i as u8), data, strobes);
                }
                self.wr_cmd.push((addr, len));
                beats.into_iter().for_each(|beat| self.wr_data.push(beat));
                self.due_responses.push_back(!inside);
            } else {
                self.rd_cmd.push((addr, len));
                self.due_reads.extend((0..=len).map(|i| {
                    let data = self.model.word(word(i));
                    (data.unwrap_or(0), i == len, data.is_none())
                }));
            }
        }
    }

    fn begin(&mut self) {
        self.issue();
        let a = (self.pacer.step() && self.host > 0).then(|| access(&mut self.rng, &SHARED, 2));
        self.host -= usize::from(a.is_some());
        self.inputs = In {
            a,
            otf: self.otf.offer().copied(),
            cpu: self.cpu.offer().copied(),
            mat: self.mat.offer().copied(),
            rd_cmd: self.rd_cmd.offer().copied(),
            rd_ready: self.reads.ready(),
            wr_cmd: self.wr_cmd.offer().copied(),
            wr_data: self.wr_data.offer().copied(),
            rsp_ready: self.responses.ready(),
        };
    }

    fn inside(&self) -> bool {
        !self.due_mat.is_empty() || self.due_cpu.is_some() || self.written.is_some()
    }

    fn step(&mut self, out: &Out) -> Result<(), Fault> {
        Rule::Rest.holds(out.busy || !self.inside(), || "it rests with work inside".into())?;
        if let Some((want, alone)) = self.due_host {
            let rule = if alone { Rule::Content } else { Rule::Collision };
            rule.same("the host's word", want, out.a)?;
        }
        let due = self.due_cpu.take();
        Rule::Latency.same("a word for the processor", due.is_some(), out.cpu.is_some())?;
        if let (Some((want, alone)), Some(got)) = (due, out.cpu) {
            let rule = if alone { Rule::Content } else { Rule::Collision };
            rule.same("the processor's word", want, got)?;
        }
        if let Some(got) = out.mat {
            Rule::Content.same("the matcher's word", self.due_mat.pop_front(), Some(got))?;
        }
        // An OTF write of the last cycle is in before what the processor does now.
        if let Some(Access {
            word,
            write: Some((data, strobes)),
        }) = self.written.take()
        {
            self.model.write(word, data, strobes);
        }
        self.written = self.otf.step(out.otf_ready);
        let cpu = self.cpu.step(out.cpu_ready);
        let host = self.inputs.a;
        let alone = host.zip(cpu).is_none_or(|(host, cpu)| host.word != cpu.word);
        let [for_host, for_cpu] = self.model.cycle(host, cpu);
        self.due_host = for_host.map(|word| (word, alone));
        self.due_cpu = for_cpu.map(|word| (word, alone));
        if let Some(access) = self.mat.step(out.mat_ready) {
            match access.write {
                Some((data, strobes)) => drop(self.model.write(access.word, data, strobes)),
                None => self.due_mat.extend(self.model.word(access.word)),
            }
        }
        self.rd_cmd.step(out.rd_cmd_ready);
        self.wr_cmd.step(out.wr_cmd_ready);
        self.wr_data.step(out.wr_data_ready);
        if let Some((data, last, err)) = self.reads.step(out.read)? {
            let want = self.due_reads.pop_front();
            Rule::Response.same("last and error", want.map(|w| (w.1, w.2)), Some((last, err)))?;
            Rule::Content.same("a stream's word", want.map(|w| w.0), Some(data))?;
        }
        if let Some(err) = self.responses.step(out.response)? {
            Rule::Response.same("error of a write", self.due_responses.pop_front(), Some(err))?;
        }
        Ok(())
    }

    fn over(&self) -> bool {
        let streams = self.bursts.is_empty() && self.due_reads.is_empty() && self.due_responses.is_empty();
        let others = self.otf.is_empty() && self.cpu.is_empty() && self.mat.is_empty();
        streams && others && self.host == 0 && !self.inside()
    }

    /// A reset: what is under way is lost.
    fn reset(&mut self) {
        for source in [&mut self.otf, &mut self.cpu, &mut self.mat] {
            source.reset();
        }
        for commands in [&mut self.rd_cmd, &mut self.wr_cmd] {
            commands.reset();
            commands.stop();
        }
        self.wr_data.reset();
        self.wr_data.stop();
        self.reads.reset();
        self.responses.reset();
        (self.due_host, self.due_cpu, self.written) = (None, None, None);
        self.due_mat.clear();
        self.due_reads.clear();
        self.due_responses.clear();
    }
}

/// The host writes all words that are used.
fn fill(bench: &mut Bench<In, Out>, model: &mut Llcm, rng: &mut Rng) -> Result<(), Fault> {
    for word in 0..USED {
        let data = rng.bits();
        model.write(word, data, 0xff);
        let a = Some(Access {
            word,
            write: Some((data, 0xff)),
        });
        bench.step(&In { a, ..In::default() })?;
    }
    Ok(())
}

fn start<'a>(run: &Run<'a>, dut: &Dut<In, Out>, model: &mut Llcm, rng: &mut Rng) -> Result<Bench<'a, In, Out>, Fault> {
    let mut bench = Bench::new(run, dut);
    for _ in 0..3 {
        bench.reset(&In::default())?;
    }
    fill(&mut bench, model, rng)?;
    Ok(bench)
}

fn traffic(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for resets in [false, true] {
            cases.case(Start::Random1, format!("{} {gaps:?} reset {resets}", dut.name), |run| {
                let mut world = World::new(run, gaps, 400);
                let mut rng = run.rng("fill");
                let mut reset = resets.then(|| rng.between(150, 900));
                let mut bench = start(run, dut, &mut world.model, &mut rng)?;
                while !world.over() {
                    let cycle = bench.cycle();
                    Rule::Hang.holds(cycle < 60_000, || "accesses are left".into())?;
                    if reset.is_some_and(|at| cycle >= at) {
                        reset = None;
                        world.reset();
                        bench.reset(&In::default())?;
                        fill(&mut bench, &mut world.model, &mut rng)?;
                    }
                    world.begin();
                    let out = bench.step(&world.inputs)?;
                    world.step(&out).map_err(|fault| fault.at(cycle))?;
                }
                finish(&mut bench, &world.model)
            });
        }
    }
}

/// In quiet the host finds all words.
fn finish(bench: &mut Bench<In, Out>, model: &Llcm) -> Result<(), Fault> {
    for _ in 0..20 {
        bench.step(&In::default())?;
    }
    Rule::Rest.holds(!bench.seen().busy, || "it is busy without end".into())?;
    for word in 0..USED {
        let a = Some(Access { word, write: None });
        bench.step(&In { a, ..In::default() })?;
        let got = bench.seen().a;
        Rule::Content.same(format!("word {word} at the end"), model.word(word), Some(got))?;
    }
    Ok(())
}

/// 64 words are read or written within a limit, while the processor never pauses, or does nothing.
fn share(run: &Run, dut: &Dut<In, Out>, write: bool, busy: bool) -> Result<(), Fault> {
    let (mut model, mut rng) = (Llcm::default(), run.rng("fill"));
    let mut bench = start(run, dut, &mut model, &mut rng)?;
    let (mut commands, mut beats, mut left) = (8, 64, 64);
    let end = bench.cycle() + if busy { 4 * 64 } else { 64 } + 8;
    while left > 0 {
        Rule::Share.holds(bench.cycle() <= end, || format!("{left} words are left"))?;
        let command = (commands > 0).then_some((256, 7));
        let inputs = In {
            cpu: busy.then_some(Access { word: 3, write: None }),
            rd_cmd: command.filter(|_| !write),
            rd_ready: true,
            wr_cmd: command.filter(|_| write),
            wr_data: (write && beats > 0).then_some((5, 1, beats % 8 == 1)),
            rsp_ready: true,
            ..In::default()
        };
        let out = bench.step(&inputs)?;
        let taken = if write { out.wr_cmd_ready } else { out.rd_cmd_ready };
        commands -= u64::from(taken && commands > 0);
        beats -= u64::from(out.wr_data_ready && beats > 0);
        left -= if write {
            8 * u64::from(out.response.is_some())
        } else {
            u64::from(out.read.is_some())
        };
    }
    Ok(())
}

fn shares(dut: &Dut<In, Out>, cases: &mut Cases) {
    for (write, busy) in [(false, false), (true, false), (false, true), (true, true)] {
        cases.case(Start::Zero, format!("{} write {write} busy {busy}", dut.name), |run| {
            share(run, dut, write, busy)
        });
    }
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    traffic(dut, cases);
    shares(dut, cases);
}

#[test]
fn keeps_every_byte_of_all_parties() {
    pass(this_test!(), |cases| traffic(&dut::<Dimmnet1Llcm>(), cases));
}

#[test]
fn streams_get_their_share() {
    pass(this_test!(), |cases| shares(&dut::<Dimmnet1Llcm>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Content, &[], &|cases| checks(&dut::<TwinLlcmStrobes>(), cases)),
            // The processor does not wait for the OTF write before it.
            (Content, &[Collision], &|cases| checks(&dut::<TwinLlcmPasses>(), cases)),
            (Content, &[Collision], &|cases| checks(&dut::<TwinLlcmDrops>(), cases)),
            (Collision, &[], &|cases| checks(&dut::<TwinLlcmOld>(), cases)),
            (Response, &[], &|cases| checks(&dut::<TwinLlcmError>(), cases)),
            (Share, &[], &|cases| checks(&dut::<TwinLlcmStarves>(), cases)),
            (Latency, &[], &|cases| checks(&dut::<TwinLlcmLate>(), cases)),
            (Rest, &[], &|cases| checks(&dut::<TwinLlcmRests>(), cases)),
            (Path, &[], &|cases| checks(&dut::<TwinLlcmPath>(), cases)),
            // A withdrawn word is lost.
            (Protocol, &[Hang, Response, Content], &|cases| {
                checks(&dut::<TwinLlcmWithdraws>(), cases)
            }),
            (Hang, &[Response], &|cases| checks(&dut::<TwinLlcmHang>(), cases)),
        ],
    );
}
