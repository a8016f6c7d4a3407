//! DMA copy: bytes arrive where they should and nowhere else, every command ends with the right code, no cycle lost.

use std::collections::VecDeque;

use support::this_test;
use testbenches::mem::{Offers, set_word};
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Sink, Source};
use tsunagi::{Addr, Cycle};
use verilated::{Input as _, Port as _};

use crate::dma::{self, Burst, Bursts, Environment, Hardship, Progress, SIZE, Size, cut, under_hardship};

rules!(
    /// Bytes arrive where they should and nowhere else.
    Memory
    /// Every command ends with the right code.
    Code
    /// No command ends before its responses are in.
    Early
    /// Bursts are cut as they must be, both ways.
    Bursts
    /// A limited number of bursts is open each way.
    Outstanding
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// As many words per cycle as the memory's latency allows.
    Rate
    /// Cycles from the first command to its first read command.
    Latency
    /// All is copied, and every command ends.
    Hang
);

#[derive(Clone, Copy, Debug)]
struct Job {
    src: u32,
    dst: u32,
    bytes: u32,
}

struct In {
    job: Option<Job>,
    mem: MemPortsOut,
    done_ready: bool,
}

#[derive(Debug, PartialEq)]
struct Out {
    job_ready: bool,
    busy: bool,
    mem: MemPortsIn,
    /// The code of a command that ended.
    done: Option<u8>,
}

fn set(dut: &impl DmaCopyPorts, In { job, mem, done_ready }: &In) {
    let Job { src, dst, bytes } = job.unwrap_or(Job {
        src: 0xdead,
        dst: 0xfeed,
        bytes: 0x2ef,
    });
    dut.cmd_valid_i().set_bool(job.is_some());
    dut.cmd_src_i().set(src.into());
    dut.cmd_dst_i().set(dst.into());
    dut.cmd_bytes_i().set(bytes.into());
    dut.rd_cmd_ready_i().set_bool(mem.rd_cmd_ready);
    dut.rd_data_valid_i().set_bool(mem.rd_data_valid);
    set_word(dut.rd_data_data_i(), mem.rd_data_data);
    dut.rd_data_last_i().set_bool(mem.rd_data_last);
    dut.rd_data_err_i().set_bool(mem.rd_data_err);
    dut.wr_cmd_ready_i().set_bool(mem.wr_cmd_ready);
    dut.wr_data_ready_i().set_bool(mem.wr_data_ready);
    dut.wr_rsp_valid_i().set_bool(mem.wr_rsp_valid);
    dut.wr_rsp_err_i().set_bool(mem.wr_rsp_err);
    dut.done_ready_i().set_bool(*done_ready);
}

fn seen(dut: &impl DmaCopyPorts) -> Out {
    Out {
        job_ready: dut.cmd_ready_o().is_set(),
        busy: dut.busy_o().is_set(),
        mem: MemPortsIn {
            rd_cmd_valid: dut.rd_cmd_valid_o().is_set(),
            rd_cmd_addr: dut.rd_cmd_addr_o().get() as u32,
            rd_cmd_len: dut.rd_cmd_len_o().get() as u8,
            rd_data_ready: dut.rd_data_ready_o().is_set(),
            wr_cmd_valid: dut.wr_cmd_valid_o().is_set(),
            wr_cmd_addr: dut.wr_cmd_addr_o().get() as u32,
            wr_cmd_len: dut.wr_cmd_len_o().get() as u8,
            wr_data_valid: dut.wr_data_valid_o().is_set(),
            wr_data_data: dut.wr_data_data_o().get(),
            wr_data_strb: dut.wr_data_strb_o().get() as u8,
            wr_data_last: dut.wr_data_last_o().is_set(),
            wr_rsp_ready: dut.wr_rsp_ready_o().is_set(),
        },
        done: dut.done_valid_o().is_set().then(|| dut.done_err_o().get() as u8),
    }
}

/// A unit under test.
pub struct Copier {
    dut: Dut<In, Out>,
    size: Size,
    /// Bytes of a packet.
    packet: u32,
}

/// A unit with the sizes of the machine.
pub fn usual<U: DmaCopyUnit + 'static>() -> Copier {
    Copier {
        dut: Dut::of::<U>(set, seen),
        size: Size {
            word: 8,
            burst: 8,
            outstanding: 4,
        },
        packet: 512,
    }
}

/// A unit with packets of two bursts, each of two words of 32 bits, and no burst outstanding beside another.
fn small<U: DmaCopyUnit + 'static>() -> Copier {
    Copier {
        dut: Dut::of::<U>(set, seen),
        size: Size {
            word: 4,
            burst: 2,
            outstanding: 1,
        },
        packet: 16,
    }
}

const READ: u8 = 1;
const WRITE: u8 = 2;

/// What memory must be in the end: its bytes, and which of them are unknown after a bus error.
struct Golden {
    memory: Memory,
    unknown: Vec<bool>,
}

impl Golden {
    /// Copies packet by packet, word by word where the bus allows it. The code, and the bursts of each way.
    fn apply(&mut self, job: Job, size: Size, packet: u32) -> (u8, [Vec<Burst>; 2]) {
        let mut code = 0;
        let mut bursts = [vec![], vec![]];
        for from in (0..job.bytes).step_by(packet as usize) {
            let bytes = packet.min(job.bytes - from);
            let (src, dst) = (job.src + from, job.dst + from);
            let mut written = 0;
            for at in (0..bytes).step_by(size.word as usize) {
                written += 1;
                let len = size.word.min(bytes - at);
                let readable = self.memory.bus_ok(Addr(src + at), size.word);
                if self.memory.bus_ok(Addr(dst + at), len) {
                    self.copy(src + at, dst + at, len);
                    self.unknown[(dst + at) as usize..][..len as usize].fill(!readable);
                } else {
                    code |= WRITE;
                }
                if !readable {
                    code |= READ;
                    break;
                }
            }
            bursts[0].extend(cut(src, bytes.div_ceil(size.word), size.word, size.burst));
            bursts[1].extend(cut(dst, written, size.word, size.burst));
        }
        (code, bursts)
    }

    fn copy(&mut self, src: u32, dst: u32, len: u32) {
        let word = self.memory.read(Addr(src), len as usize).map(<[u8]>::to_vec);
        let inside = word.is_some_and(|word| self.memory.write(Addr(dst), &word));
        assert!(inside, "commands stay in the memory");
    }

    fn compare(&self, memory: &Memory) -> Result<(), Fault> {
        let all = |memory: &Memory| memory.read(Addr(0), SIZE as usize).expect("all of it").to_vec();
        let (got, want) = (all(memory), all(&self.memory));
        let Some(at) = (0..got.len()).find(|&at| got[at] != want[at] && !self.unknown[at]) else {
            return Ok(());
        };
        Err(Rule::Memory.broken(format!("{:#04x} at {at:#x}, not {:#04x}", got[at], want[at])))
    }
}

struct Traffic<'a> {
    copier: &'a Copier,
    memory: Memory,
    golden: Golden,
    agent: MemoryAgent,
    jobs: Source<Job>,
    dones: Sink<u8>,
    offers: Offers,
    /// Reads and writes.
    bursts: [Bursts; 2],
    ended: [usize; 2],
    /// Codes, and the number of write bursts that must be in memory with each.
    due: VecDeque<(u8, usize)>,
    /// Write bursts of all commands that were taken.
    announced: usize,
    /// Cycles of the first command, of the first read command and of the last end.
    first: Option<u64>,
    asked: Option<u64>,
    last: u64,
}

impl<'a> Traffic<'a> {
    fn new(run: &Run, copier: &'a Copier, jobs: &[Job], hardship: Hardship) -> Traffic<'a> {
        let gaps = hardship.gaps;
        let memory = hardship.filled(&mut run.rng("memory"));
        Traffic {
            copier,
            golden: Golden {
                memory: memory.clone(),
                unknown: vec![false; SIZE as usize],
            },
            memory,
            agent: hardship.agent(run.rng("agent").bits(), copier.size.word),
            jobs: Source::new(jobs.iter().copied(), run.pacer(gaps.at_source(), "commands")),
            dones: Sink::new(run.pacer(gaps.at_sink(), "dones")),
            offers: Offers::default(),
            bursts: [Bursts::new(), Bursts::new()],
            ended: [0; 2],
            due: VecDeque::new(),
            announced: 0,
            first: None,
            asked: None,
            last: 0,
        }
    }

    fn begin(&mut self, cycle: u64, job: Job) {
        self.first.get_or_insert(cycle);
        let (code, lists) = self.golden.apply(job, self.copier.size, self.copier.packet);
        self.announced += lists[1].len();
        self.due.push_back((code, self.announced));
        for (bursts, list) in self.bursts.iter_mut().zip(lists) {
            bursts.due.extend(list);
        }
    }

    fn end(&mut self, code: u8) -> Result<(), Fault> {
        let written = self.ended[1];
        let due = self.due.pop_front();
        let (want, needs) = due.ok_or_else(|| Rule::Code.broken("done, but no command"))?;
        Rule::Code.holds(code == want, || format!("done with {code:02b}, not {want:02b}"))?;
        Rule::Early.holds(written >= needs, || format!("done with {written} of {needs} bursts"))
    }

    fn event(&mut self, event: &EventKind) -> Result<(), Fault> {
        self.ended[1] += usize::from(matches!(event, EventKind::MemWritten { .. }));
        let way = usize::from(!matches!(event, EventKind::MemRead { .. }));
        let Some((got, want)) = self.bursts[way].take(event) else {
            return Ok(());
        };
        Rule::Bursts.holds(want == Some(got), || format!("{got:x?}, not {want:x?}"))
    }
}

impl Environment for Traffic<'_> {
    type In = In;
    type Out = Out;

    fn inputs(&mut self) -> In {
        In {
            job: self.jobs.offer().copied(),
            mem: *self.agent.ports(),
            done_ready: self.dones.ready(),
        }
    }

    /// Gives up the commands under way: the memory may hold any of their bytes. The rest starts anew.
    fn reset(&mut self) {
        self.golden.memory = self.memory.clone();
        (self.bursts, self.ended) = ([Bursts::new(), Bursts::new()], [0; 2]);
        (self.due, self.announced) = (VecDeque::new(), 0);
        self.offers.reset();
        self.jobs.reset();
        self.dones.reset();
        self.agent.reset();
    }

    fn step(&mut self, cycle: u64, seen: Out) -> Result<Progress, Fault> {
        let ports = *self.agent.ports();
        self.offers.step(&seen.mem, &ports)?;
        if seen.mem.rd_cmd_valid {
            self.asked.get_or_insert(cycle);
        }
        self.ended[0] += usize::from(ports.rd_data_valid && seen.mem.rd_data_ready && ports.rd_data_last);
        let mut events = Vec::new();
        self.agent
            .step(Cycle(cycle), &mut self.memory, &seen.mem, |event| events.push(event));
        let job = self.jobs.step(seen.job_ready);
        if let Some(job) = job {
            self.begin(cycle, job);
        }
        for event in &events {
            self.event(event)?;
        }
        for way in 0..2 {
            let open = self.bursts[way].seen - self.ended[way];
            Rule::Outstanding.holds(open <= self.copier.size.outstanding, || {
                format!("{open} bursts are open")
            })?;
        }
        let done = self.dones.step(seen.done)?;
        if let Some(code) = done {
            self.end(code)?;
            self.last = cycle;
        }
        if self.jobs.is_empty() && self.due.is_empty() && !seen.busy && !self.agent.has_taken() {
            return Ok(Progress::Done);
        }
        let moved = job.is_some() || done.is_some() || !events.is_empty();
        Ok(if moved { Progress::Moved } else { Progress::Waiting })
    }

    fn left(&self) -> String {
        let (commands, dones) = (self.jobs.len(), self.due.len());
        let memory = self.agent.report().join("; ");
        format!("{commands} commands, {dones} codes left; {memory}")
    }
}

/// From the lower half of the memory into the upper one; a few words, or a few packets.
fn random(rng: &mut Rng, count: usize, word: u32) -> Vec<Job> {
    let one = |_| {
        let most = if rng.chance(1, 3) { u64::from(3 * word) } else { 1900 };
        let mut place = || rng.below(u64::from((SIZE / 2 - 2048) / word)) as u32 * word;
        Job {
            src: place(),
            dst: SIZE / 2 + place(),
            bytes: rng.between(1, most) as u32,
        }
    };
    (0..count).map(one).collect()
}

fn content(copier: &Copier, cases: &mut Cases) {
    under_hardship(cases, copier.dut.name, |run, hardship, reset| {
        let jobs = random(&mut run.rng("jobs"), 20, copier.size.word);
        let mut traffic = Traffic::new(run, copier, &jobs, hardship);
        dma::exercise(run, &copier.dut, &mut traffic, reset)?;
        traffic.golden.compare(&traffic.memory)
    });
}

/// A memory that answers after 10 cycles. From the first command to its end: 0.985 words per cycle, as one command of
/// many packets and as commands of 512 bytes. The first read command comes 2 cycles after the command.
fn rate(copier: &Copier, cases: &mut Cases) {
    let total = 60 * 512;
    let timing = MemoryTiming {
        read_latency: Cycle(10),
        write_latency: Cycle(10),
        ..MemoryTiming::IDEAL
    };
    for bytes in [512, total] {
        let job = |i: u32| Job {
            src: i * bytes,
            dst: SIZE / 2 + i * bytes,
            bytes,
        };
        let jobs: Vec<Job> = (0..total / bytes).map(job).collect();
        let params = format!("{} commands of {bytes} bytes", copier.dut.name);
        cases.case(Start::Zero, params, |run| {
            let mut traffic = Traffic::new(run, copier, &jobs, Hardship::NONE);
            traffic.agent = MemoryAgent::new(timing, copier.size.word);
            dma::exercise(run, &copier.dut, &mut traffic, None)?;
            traffic.golden.compare(&traffic.memory)?;
            let Traffic { first, asked, last, .. } = traffic;
            let first = first.expect("a command was taken");
            let rate = f64::from(total / copier.size.word) / (last - first + 1) as f64;
            Rule::Rate.holds(rate >= 0.985, || format!("{rate:.4} words per cycle, less than 0.985"))?;
            let latency = asked.expect("a word was read") - first;
            Rule::Latency.holds(latency == 2, || {
                format!("the read command came after {latency} cycles, not 2")
            })
        });
    }
}

/// All checks.
pub fn checks(copier: &Copier, cases: &mut Cases) {
    content(copier, cases);
    rate(copier, cases);
}

#[test]
fn content_under_hardship() {
    pass(this_test!(), |cases| {
        content(&usual::<DmaCopy>(), cases);
        content(&small::<DmaCopy32P16>(), cases);
    });
}

#[test]
fn words_per_cycle() {
    pass(this_test!(), |cases| rate(&usual::<DmaCopy>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Memory, &[], &|cases| checks(&usual::<TwinDmaCopyMemory>(), cases)),
            (Code, &[], &|cases| checks(&usual::<TwinDmaCopyCode>(), cases)),
            // A command that ends with the first of its packets does not know the errors of the others.
            (Early, &[Code], &|cases| checks(&usual::<TwinDmaCopyEarly>(), cases)),
            (Bursts, &[], &|cases| checks(&usual::<TwinDmaCopyBursts>(), cases)),
            (Outstanding, &[], &|cases| {
                checks(&usual::<TwinDmaCopyOutstanding>(), cases)
            }),
            (Path, &[], &|cases| checks(&usual::<TwinDmaCopyPath>(), cases)),
            (Protocol, &[], &|cases| checks(&usual::<TwinDmaCopyWithdraws>(), cases)),
            (Rate, &[], &|cases| checks(&usual::<TwinDmaCopyBubble>(), cases)),
            (Latency, &[], &|cases| checks(&usual::<TwinDmaCopyLate>(), cases)),
            (Hang, &[], &|cases| checks(&usual::<TwinDmaCopyHang>(), cases)),
        ],
    );
}
