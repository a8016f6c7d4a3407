//! Memory in block RAM: keeps every byte, answers outside with errors, one word per cycle each way.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::ops::Range;

use testbenches::name;
use testbenches::rtl::*;
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use tsunagi::harness::wave::Probe;
use verilated::Unit;

use crate::bench::{Each, PERIOD, Start, holds, must_pass, rules};

rules!(
    /// What is read is what was written, byte by byte, or an error outside.
    Content
    /// Each write has its response, with an error if it went outside.
    Response
    /// No output follows an input within the cycle, else the bench does not see what the unit sees.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// A word per cycle each way, if nobody else pauses.
    Rate
    /// Everything that is asked for comes.
    Hang
);

/// A word of read data; of one with an error the data are not said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    data: u64,
    last: bool,
    err: bool,
}

/// A word to be written.
#[derive(Clone, Debug)]
pub struct Write {
    data: u64,
    strb: u8,
    last: bool,
}

/// {address, beats - 1}.
type Command = (u32, u8);

pub trait Ports: Unit {
    /// Bytes of a word, and of the memory.
    const WORD: u32;
    const SIZE: u32;

    fn set_clk(&self, clk: bool, rst: bool);
    fn set_read(&self, cmd: Option<&Command>, ready: bool);
    fn set_write(&self, cmd: Option<&Command>, word: Option<&Write>, ready: bool);
    /// Whether read command, write command and write data are taken.
    fn ready(&self) -> [bool; 3];
    fn read(&self) -> Option<Read>;
    fn response(&self) -> Option<bool>;
}

macro_rules! ports {
    ($($unit:ident: $word:expr, $size:expr;)+) => {$(
        impl Ports for $unit {
            const WORD: u32 = $word;
            const SIZE: u32 = $size;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set_read(&self, cmd: Option<&Command>, ready: bool) {
                self.rd_cmd_valid_i.set_bool(cmd.is_some());
                self.rd_cmd_addr_i.set(cmd.map_or(0xdead, |cmd| cmd.0));
                self.rd_cmd_len_i.set(cmd.map_or(0xbe, |cmd| cmd.1));
                self.rd_data_ready_i.set_bool(ready);
            }

            fn set_write(&self, cmd: Option<&Command>, word: Option<&Write>, ready: bool) {
                self.wr_cmd_valid_i.set_bool(cmd.is_some());
                self.wr_cmd_addr_i.set(cmd.map_or(0xdead, |cmd| cmd.0));
                self.wr_cmd_len_i.set(cmd.map_or(0xbe, |cmd| cmd.1));
                self.wr_data_valid_i.set_bool(word.is_some());
                self.wr_data_data_i.set(word.map_or(0xdead, |word| word.data) as _);
                self.wr_data_strb_i.set(word.map_or(0xf, |word| word.strb));
                self.wr_data_last_i.set_bool(word.is_some_and(|word| word.last));
                self.wr_rsp_ready_i.set_bool(ready);
            }

            fn ready(&self) -> [bool; 3] {
                [&self.rd_cmd_ready_o, &self.wr_cmd_ready_o, &self.wr_data_ready_o].map(|port| port.is_set())
            }

            fn read(&self) -> Option<Read> {
                self.rd_data_valid_o.is_set().then(|| Read {
                    data: u64::from(self.rd_data_data_o.get()),
                    last: self.rd_data_last_o.is_set(),
                    err: self.rd_data_err_o.is_set(),
                })
            }

            fn response(&self) -> Option<bool> {
                self.wr_rsp_valid_o.is_set().then(|| self.wr_rsp_err_o.is_set())
            }
        }
    )+};
}

ports!(
    MemBramW64: 4, 256;
    MemBram64W16: 8, 128;
    TwinMemStrobe: 4, 256;
    TwinMemForgets: 4, 256;
    TwinMemPath: 4, 256;
    TwinMemWithdraws: 4, 256;
    TwinMemBubble: 4, 256;
    TwinMemHang: 4, 256;
);

/// A burst, with its words if it writes.
#[derive(Clone, Debug)]
struct Burst {
    command: Command,
    write: Option<Vec<Write>>,
}

impl Burst {
    fn bytes(&self, word: u32) -> Range<u32> {
        let (addr, len) = self.command;
        addr..addr + (u32::from(len) + 1) * word
    }
}

/// Bursts of 1 to 16 words, the last of them beyond the memory's end.
fn bursts<U: Ports>(rng: &mut Rng, count: u64) -> Vec<Burst> {
    let some = |rng: &mut Rng| {
        let len = rng.below(16) as u8;
        let addr = rng.below(u64::from(U::SIZE + U::SIZE / 4) / u64::from(U::WORD)) as u32 * U::WORD;
        let all = (1u32 << U::WORD) - 1;
        let word = |rng: &mut Rng, last| Write {
            data: rng.bits() >> (64 - 8 * U::WORD),
            strb: if rng.chance(1, 2) { all } else { rng.bits() as u32 & all } as u8,
            last,
        };
        let write = rng.chance(1, 2);
        Burst {
            command: (addr, len),
            write: write.then(|| (0..=len).map(|i| word(rng, i == len)).collect()),
        }
    };
    (0..count).map(|_| some(rng)).collect()
}

/// What the memory holds; `None` where nobody knows.
struct Model<U> {
    bytes: Vec<Option<u8>>,
    unit: PhantomData<U>,
}

impl<U: Ports> Model<U> {
    /// Whether the response has an error.
    fn write(&mut self, (addr, _): Command, words: &[Write]) -> bool {
        let mut err = false;
        for (at, word) in (addr..).step_by(U::WORD as usize).zip(words) {
            if at >= U::SIZE {
                err = true;
                continue;
            }
            for lane in (0..U::WORD).filter(|lane| word.strb >> lane & 1 == 1) {
                self.bytes[(at + lane) as usize] = Some(word.data.to_le_bytes()[lane as usize]);
            }
        }
        err
    }

    /// The words of a burst, and which bits of each are known.
    fn read(&self, (addr, len): Command) -> Vec<(Read, u64)> {
        let word = |i: u32| {
            let (at, last) = (addr + i * U::WORD, i == u32::from(len));
            let err = at >= U::SIZE;
            let (mut data, mut known) = ([0; 8], [0; 8]);
            for lane in 0..if err { 0 } else { U::WORD } {
                if let Some(byte) = self.bytes[(at + lane) as usize] {
                    (data[lane as usize], known[lane as usize]) = (byte, 0xff);
                }
            }
            let data = u64::from_le_bytes(data);
            (Read { data, last, err }, u64::from_le_bytes(known))
        };
        (0..=u32::from(len)).map(word).collect()
    }
}

/// One run: what is asked for, and how hard it is made.
#[derive(Clone, Debug)]
struct Plan<'a> {
    bursts: &'a [Burst],
    gaps: Gaps,
    /// Cycle of a reset; what is under way is lost.
    reset: Option<u64>,
    without: &'a [Rule],
}

/// Does the bursts; one that overlaps an open one of the other kind waits for it. The cycles from the first word to the last.
fn run<U: Ports>(case: &Case, plan: &Plan, probe: &Probe) -> Result<u64, String> {
    let Plan { gaps, without, .. } = *plan;
    let context = Start::Random1.context(case);
    let dut = U::named(&context, "dut");
    let mut wave = Recorder::new(probe, &[&dut]);
    let pacer = |at: bool, name: &str| Pacer::new(at, case.rng(name));
    let mut rd_cmd = Source::new([], pacer(gaps.at_source(), "read commands"));
    let mut wr_cmd = Source::new([], pacer(gaps.at_source(), "write commands"));
    let mut wr_data = Source::new([], pacer(gaps.at_source(), "write data"));
    let mut rd_sink = Sink::new(pacer(gaps.at_sink(), "read data"));
    let mut rsp_sink = Sink::new(pacer(gaps.at_sink(), "responses"));
    let mut model = Model::<U> {
        bytes: vec![None; U::SIZE as usize],
        unit: PhantomData,
    };
    let mut list: VecDeque<Burst> = plan.bursts.iter().cloned().collect();
    // Words and responses to come, with the bytes their bursts touch.
    let mut words: VecDeque<(Read, u64, Range<u32>)> = VecDeque::new();
    let mut responses: VecDeque<(bool, Range<u32>)> = VecDeque::new();
    let (mut first, mut last, mut idle) = (None, 0, 0);
    for cycle in 0..100_000 {
        let rst = cycle < 3 || plan.reset == Some(cycle);
        let fault = |what: String| format!("cycle {cycle}: {what}");
        while let Some(burst) = list.front().filter(|_| !rst) {
            let bytes = burst.bytes(U::WORD);
            let touches = |open: &Range<u32>| open.start < bytes.end && bytes.start < open.end;
            match &burst.write {
                None if responses.iter().any(|(_, open)| touches(open)) => break,
                None => {
                    let read = model.read(burst.command);
                    words.extend(read.into_iter().map(|(word, known)| (word, known, bytes.clone())));
                    rd_cmd.push(burst.command);
                }
                Some(_) if words.iter().any(|(_, _, open)| touches(open)) => break,
                Some(data) => {
                    responses.push_back((model.write(burst.command, data), bytes));
                    wr_cmd.push(burst.command);
                    data.iter().for_each(|word| wr_data.push(word.clone()));
                }
            }
            list.pop_front();
        }
        dut.set_read(rd_cmd.offer(), rd_sink.ready());
        dut.set_write(wr_cmd.offer(), wr_data.offer(), rsp_sink.ready());
        let (ready, read, response) = (dut.ready(), dut.read(), dut.response());
        for clk in [false, true] {
            dut.set_clk(clk, rst);
            context.set_time(cycle * PERIOD + if clk { PERIOD / 2 } else { 0 });
            dut.junk();
            dut.eval();
            wave.tick(context.time());
            let same = clk || (ready, &read, response) == (dut.ready(), &dut.read(), dut.response());
            holds(&[], Rule::Path, same || cycle == 0, || {
                "an input reaches an output within the cycle".into()
            })
            .map_err(fault)?;
        }
        if rst {
            // What was being written may be there or not.
            for at in responses
                .drain(..)
                .flat_map(|(_, bytes)| bytes)
                .filter(|at| *at < U::SIZE)
            {
                model.bytes[at as usize] = None;
            }
            words.clear();
            for commands in [&mut rd_cmd, &mut wr_cmd] {
                commands.reset();
                commands.stop();
            }
            wr_data.reset();
            wr_data.stop();
            rd_sink.reset();
            rsp_sink.reset();
            continue;
        }
        let taken = rd_sink.step(read).map_err(|e| fault(format!("Protocol: {e}")))?;
        if let Some(got) = taken {
            let want = words.pop_front();
            let same = want.as_ref().is_some_and(|(want, known, _)| {
                (got.last, got.err, got.data & known) == (want.last, want.err, want.data & known)
            });
            holds(without, Rule::Content, same, || format!("got {got:x?}, not {want:x?}")).map_err(fault)?;
            first.get_or_insert(cycle);
            last = cycle;
        }
        let taken = rsp_sink.step(response).map_err(|e| fault(format!("Protocol: {e}")))?;
        if let Some(got) = taken {
            let want = responses.pop_front().map(|(want, _)| want);
            holds(without, Rule::Response, want == Some(got), || {
                format!("error {got}, not {want:?}")
            })
            .map_err(fault)?;
        }
        rd_cmd.step(ready[0]);
        wr_cmd.step(ready[1]);
        wr_data.step(ready[2]);
        let done = list.is_empty() && words.is_empty() && responses.is_empty();
        idle = if done { idle + 1 } else { 0 };
        if idle > 30 {
            return Ok(last - first.unwrap_or(last) + 1);
        }
    }
    let (words, responses) = (words.len(), responses.len());
    holds(without, Rule::Hang, false, || {
        format!("{} bursts, {words} words, {responses} responses left", list.len())
    })
    .map(|()| 0)
}

fn content<U: Ports>(without: &[Rule], each: Each) {
    for gaps in Gaps::ALL {
        for reset in [false, true] {
            let params = format!("{} {gaps:?} reset {reset}", name::<U>());
            let case = Case::new("common", "mem::keeps_every_byte", params);
            let plan = Plan {
                bursts: &bursts::<U>(&mut case.rng("bursts"), 200),
                gaps,
                reset: reset.then(|| case.rng("reset").between(20, 600)),
                without,
            };
            each(&case, &|probe| run::<U>(&case, &plan, probe).map(drop));
        }
    }
}

/// Reads of one half while the other is written, in bursts of one length.
fn rate<U: Ports>(without: &[Rule], each: Each) {
    for len in [0, 1, 7] {
        let case = Case::new(
            "common",
            "mem::one_word_per_cycle",
            format!("{} len {len}", name::<U>()),
        );
        let word = |n: u8| Write {
            data: 7,
            strb: 1,
            last: n == len,
        };
        let burst = |write: bool| Burst {
            command: (if write { U::SIZE / 2 } else { 0 }, len),
            write: write.then(|| (0..=len).map(word).collect()),
        };
        let plan = Plan {
            bursts: &(0..200).map(|i| burst(i % 2 == 0)).collect::<Vec<_>>(),
            gaps: Gaps::None,
            reset: None,
            without,
        };
        let beats = 100 * (u64::from(len) + 1);
        each(&case, &|probe| {
            let cycles = run::<U>(&case, &plan, probe)?;
            holds(without, Rule::Rate, cycles == beats, || {
                format!("{beats} words took {cycles} cycles")
            })
        });
    }
}

/// All checks.
pub fn checks<U: Ports>(without: &[Rule], each: Each) {
    content::<U>(without, each);
    rate::<U>(without, each);
}

#[test]
fn keeps_every_byte() {
    content::<MemBramW64>(&[], &mut must_pass);
    content::<MemBram64W16>(&[], &mut must_pass);
}

#[test]
fn one_word_per_cycle() {
    rate::<MemBramW64>(&[], &mut must_pass);
    rate::<MemBram64W16>(&[], &mut must_pass);
}
