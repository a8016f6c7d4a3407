//! DMA copy: bytes arrive where they should and nowhere else, every command ends with the right code, no cycle lost.

use std::collections::VecDeque;

use testbenches::name;
use testbenches::rtl::*;
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Sink, Source};
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, Cycle};
use verilated::Unit;

use crate::bench::{Each, PERIOD, Start, holds, must_pass, rules};
use crate::dma::{Bursts, Hardship, SIZE, Slowness, cut};

rules!(
    /// Bytes arrive where they should and nowhere else.
    Memory
    /// Every command ends with the right code.
    Code
    /// None ends before its responses are in.
    Early
    /// Bursts are cut as they must be, both ways.
    Bursts
    /// No more bursts than this are open each way.
    Outstanding
    /// No output follows an input within the cycle, else the bench does not see what the unit sees.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// As many words per cycle as the memory's latency allows.
    Rate
    /// Cycles from the first command to its first read command.
    Latency
    /// Everything is copied and told.
    Hang
);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    src: u32,
    dst: u32,
    bytes: u32,
}

pub trait Ports: Unit {
    /// Bytes of a word, bytes of a packet, words of the longest burst, bursts outstanding each way.
    const WORD: u32;
    const PACKET: u32;
    const BURST: u32;
    const OUTSTANDING: u32;

    fn set_clk(&self, clk: bool, rst: bool);
    fn set(&self, job: Option<&Job>, mem: &MemPortsOut, done_ready: bool);
    fn cmd_ready(&self) -> bool;
    fn mem(&self) -> MemPortsIn;
    fn done(&self) -> Option<u8>;
    fn busy(&self) -> bool;
}

macro_rules! ports {
    ($($unit:ident: $word:expr, $packet:expr, $burst:expr, $outstanding:expr;)+) => {$(
        impl Ports for $unit {
            const WORD: u32 = $word;
            const PACKET: u32 = $packet;
            const BURST: u32 = $burst;
            const OUTSTANDING: u32 = $outstanding;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, job: Option<&Job>, mem: &MemPortsOut, done_ready: bool) {
                self.cmd_valid_i.set_bool(job.is_some());
                self.cmd_src_i.set(job.map_or(0xdead, |job| job.src));
                self.cmd_dst_i.set(job.map_or(0xfeed, |job| job.dst));
                self.cmd_bytes_i.set(job.map_or(0x2ef, |job| job.bytes) as _);
                self.rd_cmd_ready_i.set_bool(mem.rd_cmd_ready);
                self.rd_data_valid_i.set_bool(mem.rd_data_valid);
                self.rd_data_data_i.set(mem.rd_data_data as _);
                self.rd_data_last_i.set_bool(mem.rd_data_last);
                self.rd_data_err_i.set_bool(mem.rd_data_err);
                self.wr_cmd_ready_i.set_bool(mem.wr_cmd_ready);
                self.wr_data_ready_i.set_bool(mem.wr_data_ready);
                self.wr_rsp_valid_i.set_bool(mem.wr_rsp_valid);
                self.wr_rsp_err_i.set_bool(mem.wr_rsp_err);
                self.done_ready_i.set_bool(done_ready);
            }

            fn cmd_ready(&self) -> bool {
                self.cmd_ready_o.is_set()
            }

            fn mem(&self) -> MemPortsIn {
                MemPortsIn {
                    rd_cmd_valid: self.rd_cmd_valid_o.is_set(),
                    rd_cmd_addr: self.rd_cmd_addr_o.get(),
                    rd_cmd_len: self.rd_cmd_len_o.get(),
                    rd_data_ready: self.rd_data_ready_o.is_set(),
                    wr_cmd_valid: self.wr_cmd_valid_o.is_set(),
                    wr_cmd_addr: self.wr_cmd_addr_o.get(),
                    wr_cmd_len: self.wr_cmd_len_o.get(),
                    wr_data_valid: self.wr_data_valid_o.is_set(),
                    wr_data_data: self.wr_data_data_o.get() as u64,
                    wr_data_strb: self.wr_data_strb_o.get(),
                    wr_data_last: self.wr_data_last_o.is_set(),
                    wr_rsp_ready: self.wr_rsp_ready_o.is_set(),
                }
            }

            fn done(&self) -> Option<u8> {
                self.done_valid_o.is_set().then(|| self.done_err_o.get())
            }

            fn busy(&self) -> bool {
                self.busy_o.is_set()
            }
        }
    )+};
}

ports!(
    DmaCopy: 8, 512, 8, 4;
    DmaCopy32P16: 4, 16, 2, 1;
    TwinDmaCopyMemory: 8, 512, 8, 4;
    TwinDmaCopyCode: 8, 512, 8, 4;
    TwinDmaCopyEarly: 8, 512, 8, 4;
    TwinDmaCopyBursts: 8, 512, 8, 4;
    TwinDmaCopyOutstanding: 8, 512, 8, 4;
    TwinDmaCopyPath: 8, 512, 8, 4;
    TwinDmaCopyWithdraws: 8, 512, 8, 4;
    TwinDmaCopyBubble: 8, 512, 8, 4;
    TwinDmaCopyLate: 8, 512, 8, 4;
    TwinDmaCopyHang: 8, 512, 8, 4;
);

/// Cycles without a command, a burst or a `done` after which the unit hangs: many times what the slowest memory takes for one burst.
const PATIENCE: u64 = 2000;

const READ: u8 = 1;
const WRITE: u8 = 2;

/// What memory must be in the end: bytes, and which of them nobody knows, as a bus error gave them.
struct Golden {
    memory: Memory,
    unknown: Vec<bool>,
}

impl Golden {
    /// Copies packet by packet, word by word where the bus allows it. The code, and the bursts that go out each way.
    fn apply<U: Ports>(&mut self, job: &Job) -> (u8, [Vec<crate::dma::Burst>; 2]) {
        let mut code = 0;
        let mut bursts = [vec![], vec![]];
        for packet in (0..job.bytes).step_by(U::PACKET as usize) {
            let bytes = U::PACKET.min(job.bytes - packet);
            let (src, dst) = (job.src + packet, job.dst + packet);
            let mut written = 0;
            for at in (0..bytes).step_by(U::WORD as usize) {
                written += 1;
                let len = U::WORD.min(bytes - at);
                let readable = self.memory.bus_ok(Addr(src + at), U::WORD);
                if self.memory.bus_ok(Addr(dst + at), len) {
                    let word = self.memory.read(Addr(src + at), len as usize);
                    let word = word.expect("commands stay in the memory").to_vec();
                    assert!(self.memory.write(Addr(dst + at), &word), "commands stay in the memory");
                    self.unknown[(dst + at) as usize..][..len as usize].fill(!readable);
                } else {
                    code |= WRITE;
                }
                if !readable {
                    code |= READ;
                    break;
                }
            }
            bursts[0].extend(cut(src, bytes.div_ceil(U::WORD), U::WORD, U::BURST));
            bursts[1].extend(cut(dst, written, U::WORD, U::BURST));
        }
        (code, bursts)
    }

    fn compare(&self, memory: &Memory) -> Result<(), String> {
        for at in 0..SIZE {
            let byte = |memory: &Memory| memory.read(Addr(at), 1).expect("in the memory")[0];
            let (got, want) = (byte(memory), byte(&self.memory));
            if got != want && !self.unknown[at as usize] {
                return Err(format!("memory at {at:#x} is {got:#04x}, not {want:#04x}"));
            }
        }
        Ok(())
    }
}

#[derive(Clone)]
struct Plan<'a> {
    jobs: &'a [Job],
    hardship: Hardship,
    /// Another memory than that of the hardship.
    timing: Option<MemoryTiming>,
    start: Start,
    /// Cycle of a reset of everything; what is under way is given up.
    reset: Option<u64>,
    without: &'a [Rule],
}

/// What a run took, in cycles.
#[derive(Default)]
struct Took {
    /// From the first command's cycle to that of the last `done`, both counted.
    all: u64,
    /// From the first command to its first read command.
    to_address: u64,
}

fn run<U: Ports>(case: &Case, plan: &Plan, probe: &Probe) -> Result<Took, String> {
    let Plan { hardship, without, .. } = *plan;
    let context = plan.start.context(case);
    let dut = U::named(&context, "dut");
    let mut wave = Recorder::new(probe, &[&dut]);
    let mut memory = hardship.filled(&mut case.rng("memory"));
    let mut golden = Golden {
        memory: memory.clone(),
        unknown: vec![false; SIZE as usize],
    };
    let mut agent = match plan.timing {
        Some(timing) => MemoryAgent::new(timing, U::WORD),
        None => hardship.agent(case.rng("agent").bits(), U::WORD),
    };
    let pacer = |pauses, name| Pacer::new(pauses, case.rng(name));
    let mut jobs = Source::new(plan.jobs.iter().copied(), pacer(hardship.gaps.at_source(), "commands"));
    let mut dones = Sink::new(pacer(hardship.gaps.at_sink(), "dones"));
    let (mut asks, mut commands, mut data) = (Monitor::default(), Monitor::default(), Monitor::default());
    let mut bursts = [Bursts::new(), Bursts::new()];
    // Codes due, with the write bursts that must be in memory by then.
    let mut due: VecDeque<(u8, usize)> = VecDeque::new();
    let (mut next, mut announced, mut ended, mut idle, mut first) = (0, 0, [0; 2], 0, None);
    let mut took = Took::default();
    let mut moved = 0;
    for cycle in 0.. {
        let rst = cycle < 3 || plan.reset == Some(cycle);
        let fault = |what: String| format!("cycle {cycle}: {what}");
        let (cmd_ready, mem, done, ready) = (dut.cmd_ready(), dut.mem(), dut.done(), dones.ready());
        dut.set(jobs.offer(), agent.ports(), ready);
        for clk in [false, true] {
            dut.set_clk(clk, rst);
            context.set_time(cycle * PERIOD + if clk { PERIOD / 2 } else { 0 });
            dut.junk();
            dut.eval();
            wave.tick(context.time());
            let same = clk || (cmd_ready, mem, done) == (dut.cmd_ready(), dut.mem(), dut.done());
            holds(&[], Rule::Path, same || cycle == 0, || {
                "an input reaches an output within the cycle".into()
            })
            .map_err(fault)?;
        }
        if rst {
            // The memory may hold any of what is under way. The rest starts anew.
            let rest = plan.jobs[next..].iter().copied();
            jobs = Source::new(rest, pacer(hardship.gaps.at_source(), "commands"));
            (bursts, due) = ([Bursts::new(), Bursts::new()], VecDeque::new());
            golden.memory = memory.clone();
            (announced, ended) = (0, [0; 2]);
            dones.reset();
            asks.reset();
            commands.reset();
            data.reset();
            agent.reset();
            continue;
        }
        let ports = agent.ports();
        let ask = mem.rd_cmd_valid.then_some((mem.rd_cmd_addr, mem.rd_cmd_len));
        let command = mem.wr_cmd_valid.then_some((mem.wr_cmd_addr, mem.wr_cmd_len));
        let beat = (mem.wr_data_data, mem.wr_data_strb, mem.wr_data_last);
        let beat = mem.wr_data_valid.then_some(beat);
        let protocol = |e| fault(format!("Protocol: {e}"));
        asks.step(ask.as_ref(), ports.rd_cmd_ready).map_err(protocol)?;
        commands.step(command.as_ref(), ports.wr_cmd_ready).map_err(protocol)?;
        data.step(beat.as_ref(), ports.wr_data_ready).map_err(protocol)?;
        if mem.rd_cmd_valid && took.to_address == 0 {
            took.to_address = cycle - first.expect("nothing is asked for before the first command");
        }
        ended[0] += usize::from(ports.rd_data_valid && mem.rd_data_ready && ports.rd_data_last);
        let mut events = Vec::new();
        agent.step(Cycle(cycle), &mut memory, &mem, |event| events.push(event));
        if let Some(job) = jobs.step(cmd_ready) {
            first.get_or_insert(cycle);
            let (code, list) = golden.apply::<U>(&job);
            announced += list[1].len();
            due.push_back((code, announced));
            moved = cycle;
            for (bursts, list) in bursts.iter_mut().zip(list) {
                bursts.due.extend(list);
            }
            next += 1;
        }
        for event in &events {
            moved = cycle;
            let way = usize::from(!matches!(event, EventKind::MemRead { .. }));
            if let Some((got, want)) = bursts[way].take(event) {
                holds(without, Rule::Bursts, want == Some(got), || {
                    format!("{got:x?}, not {want:x?}")
                })
                .map_err(fault)?;
            }
            ended[1] += usize::from(matches!(event, EventKind::MemWritten { .. }));
        }
        for way in 0..2 {
            let open = bursts[way].seen - ended[way];
            holds(without, Rule::Outstanding, open <= U::OUTSTANDING as usize, || {
                format!("{open} bursts are open")
            })
            .map_err(fault)?;
        }
        if let Some(code) = dones.step(done).map_err(protocol)? {
            let (want, needs) = due
                .pop_front()
                .ok_or_else(|| fault("Code: done, but no command".into()))?;
            holds(without, Rule::Code, code == want, || {
                format!("done with {code:02b}, not {want:02b}")
            })
            .map_err(fault)?;
            holds(without, Rule::Early, ended[1] >= needs, || {
                format!("done with {} of {needs} bursts", ended[1])
            })
            .map_err(fault)?;
            took.all = cycle - first.unwrap_or(cycle) + 1;
            moved = cycle;
        }
        let done = next == plan.jobs.len() && due.is_empty() && !dut.busy() && !agent.has_taken();
        idle = if done { idle + 1 } else { 0 };
        if idle > 30 {
            let same = golden.compare(&memory);
            holds(without, Rule::Memory, same.is_ok(), || same.expect_err("differs"))?;
            return Ok(took);
        }
        if cycle - moved > PATIENCE {
            break;
        }
    }
    holds(without, Rule::Hang, false, || {
        format!(
            "{} commands, {} dones left; {}",
            jobs.len(),
            due.len(),
            agent.report().join("; ")
        )
    })
    .map(|()| took)
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

fn content<U: Ports>(without: &[Rule], each: Each) {
    for (i, hardship) in Hardship::all().enumerate() {
        for reset in [false, true] {
            let start = Start::ALL[i % 3];
            let case = Case::new(
                "common",
                "dma_copy::content_under_hardship",
                format!("{} {hardship:?} {start:?} reset {reset}", name::<U>()),
            );
            let list = random(&mut case.rng("jobs"), 20, U::WORD);
            let plan = Plan {
                jobs: &list,
                hardship,
                timing: None,
                start,
                reset: reset.then(|| case.rng("reset").between(20, 250)),
                without,
            };
            each(&case, &|probe| run::<U>(&case, &plan, probe).map(drop));
        }
    }
}

/// With a memory that takes 10 cycles to answer, from the first command to the last `done`: 0.985 words a cycle, as one command of many
/// packets and as commands of 512 bytes; the first read command comes 2 cycles after the command.
fn rate<U: Ports>(without: &[Rule], each: Each) {
    let total = 60 * 512;
    for bytes in [512, total] {
        let case = Case::new(
            "common",
            "dma_copy::rate",
            format!("{} commands of {bytes} bytes", name::<U>()),
        );
        let job = |i: u32| Job {
            src: i * bytes,
            dst: SIZE / 2 + i * bytes,
            bytes,
        };
        let list: Vec<Job> = (0..total / bytes).map(job).collect();
        let plan = Plan {
            jobs: &list,
            hardship: Hardship {
                gaps: Gaps::None,
                memory: Slowness::Ideal,
                faults: false,
            },
            timing: Some(MemoryTiming {
                read_latency: Cycle(10),
                write_latency: Cycle(10),
                ..MemoryTiming::IDEAL
            }),
            start: Start::Zero,
            reset: None,
            without,
        };
        each(&case, &|probe| {
            let took = run::<U>(&case, &plan, probe)?;
            let rate = f64::from(total / U::WORD) / took.all as f64;
            println!(
                "{}: {rate:.4} words/cycle, address after {} cycles",
                case.params(),
                took.to_address
            );
            holds(without, Rule::Rate, rate >= 0.985, || {
                format!("{rate:.4} words a cycle, less than 0.985")
            })?;
            holds(without, Rule::Latency, took.to_address == 2, || {
                format!("the read command came after {} cycles, not 2", took.to_address)
            })
        });
    }
}

/// All checks.
pub fn checks<U: Ports>(without: &[Rule], each: Each) {
    content::<U>(without, each);
    if U::OUTSTANDING > 1 {
        rate::<U>(without, each);
    }
}

#[test]
fn content_under_hardship() {
    content::<DmaCopy>(&[], &mut must_pass);
    content::<DmaCopy32P16>(&[], &mut must_pass);
}

#[test]
fn words_per_cycle() {
    rate::<DmaCopy>(&[], &mut must_pass);
}
