//! Memory in block RAM: keeps every byte, answers outside with errors, one word per cycle each way.

use std::collections::VecDeque;
use std::ops::Range;

use support::this_test;
use testbenches::mem::set_word;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Sink, Source};
use verilated::{Input as _, Port as _};

rules!(
    /// A read returns the bytes last written, or an error outside the memory.
    Content
    /// Each write has its response, with an error if it went outside.
    Response
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// A word per cycle each way, if no other party pauses.
    Rate
    /// Every command ends.
    Hang
);

/// A word of read data; with an error the data do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Read {
    data: u64,
    last: bool,
    err: bool,
}

/// A word to be written.
#[derive(Clone, Debug)]
struct Write {
    data: u64,
    strb: u8,
    last: bool,
}

/// {address, beats - 1}.
type Command = (u32, u8);

#[derive(Debug)]
struct In {
    rd_cmd: Option<Command>,
    rd_ready: bool,
    wr_cmd: Option<Command>,
    wr_data: Option<Write>,
    rsp_ready: bool,
}

#[derive(Debug, PartialEq)]
struct Out {
    rd_cmd_ready: bool,
    wr_cmd_ready: bool,
    wr_data_ready: bool,
    read: Option<Read>,
    response: Option<bool>,
}

fn set(dut: &impl MemBramPorts, inputs: &In) {
    let (addr, len) = inputs.rd_cmd.unwrap_or((0xdead, 0xbe));
    dut.rd_cmd_valid_i().set_bool(inputs.rd_cmd.is_some());
    dut.rd_cmd_addr_i().set(addr.into());
    dut.rd_cmd_len_i().set(len.into());
    dut.rd_data_ready_i().set_bool(inputs.rd_ready);
    let (addr, len) = inputs.wr_cmd.unwrap_or((0xdead, 0xbe));
    dut.wr_cmd_valid_i().set_bool(inputs.wr_cmd.is_some());
    dut.wr_cmd_addr_i().set(addr.into());
    dut.wr_cmd_len_i().set(len.into());
    let word = inputs.wr_data.as_ref();
    dut.wr_data_valid_i().set_bool(word.is_some());
    set_word(dut.wr_data_data_i(), word.map_or(0xdead, |word| word.data));
    dut.wr_data_strb_i().set(word.map_or(0xf, |word| word.strb.into()));
    dut.wr_data_last_i().set_bool(word.is_some_and(|word| word.last));
    dut.wr_rsp_ready_i().set_bool(inputs.rsp_ready);
}

fn seen(dut: &impl MemBramPorts) -> Out {
    Out {
        rd_cmd_ready: dut.rd_cmd_ready_o().is_set(),
        wr_cmd_ready: dut.wr_cmd_ready_o().is_set(),
        wr_data_ready: dut.wr_data_ready_o().is_set(),
        read: dut.rd_data_valid_o().is_set().then(|| Read {
            data: dut.rd_data_data_o().get(),
            last: dut.rd_data_last_o().is_set(),
            err: dut.rd_data_err_o().is_set(),
        }),
        response: dut.wr_rsp_valid_o().is_set().then(|| dut.wr_rsp_err_o().is_set()),
    }
}

/// A memory under test.
pub struct Mem {
    dut: Dut<In, Out>,
    size: Size,
}

/// Bytes of a word and of the memory.
#[derive(Clone, Copy)]
struct Size {
    word: u32,
    bytes: u32,
}

pub fn mem<U: MemBramUnit + 'static>() -> Mem {
    let dut = Dut::of::<U>(set, seen);
    let word = dut.width("wr_data_data_i") as u32 / 8;
    let bytes = word * U::WORDS as u32;
    let size = Size { word, bytes };
    Mem { dut, size }
}

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
fn bursts(size: Size, rng: &mut Rng, count: u64) -> Vec<Burst> {
    let some = |rng: &mut Rng| {
        let len = rng.below(16) as u8;
        let addr = rng.below(u64::from(size.bytes + size.bytes / 4) / u64::from(size.word)) as u32 * size.word;
        let all = (1u32 << size.word) - 1;
        let word = |rng: &mut Rng, last| Write {
            data: rng.bits() >> (64 - 8 * size.word),
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

/// The bytes of the memory; `None` where they are unknown.
struct Model {
    size: Size,
    bytes: Vec<Option<u8>>,
}

impl Model {
    fn new(size: Size) -> Model {
        let bytes = vec![None; size.bytes as usize];
        Model { size, bytes }
    }

    /// Whether the response has an error.
    fn write(&mut self, (addr, _): Command, words: &[Write]) -> bool {
        let mut err = false;
        for (at, word) in (addr..).step_by(self.size.word as usize).zip(words) {
            if at >= self.size.bytes {
                err = true;
                continue;
            }
            for lane in (0..self.size.word).filter(|lane| word.strb >> lane & 1 == 1) {
                self.bytes[(at + lane) as usize] = Some(word.data.to_le_bytes()[lane as usize]);
            }
        }
        err
    }

    /// The words of a burst, and the known bits of each.
    fn read(&self, (addr, len): Command) -> Vec<(Read, u64)> {
        let word = |i: u32| {
            let (at, last) = (addr + i * self.size.word, i == u32::from(len));
            let err = at >= self.size.bytes;
            let (mut data, mut known) = ([0; 8], [0; 8]);
            for lane in 0..if err { 0 } else { self.size.word } {
                if let Some(byte) = self.bytes[(at + lane) as usize] {
                    (data[lane as usize], known[lane as usize]) = (byte, 0xff);
                }
            }
            let data = u64::from_le_bytes(data);
            (Read { data, last, err }, u64::from_le_bytes(known))
        };
        (0..=u32::from(len)).map(word).collect()
    }

    /// A write of these bytes was given up: any part of it may be there.
    fn forget(&mut self, bytes: Range<u32>) {
        let end = self.size.bytes;
        self.bytes[bytes.start.min(end) as usize..bytes.end.min(end) as usize].fill(None);
    }
}

/// Words and responses that are due, with the bytes of their bursts.
struct Due {
    model: Model,
    words: VecDeque<(Read, u64, Range<u32>)>,
    responses: VecDeque<(bool, Range<u32>)>,
}

impl Due {
    /// Whether the burst overlaps an open one of the other kind: then it must wait.
    fn must_wait(&self, burst: &Burst) -> bool {
        let bytes = burst.bytes(self.model.size.word);
        let touches = |open: &Range<u32>| open.start < bytes.end && bytes.start < open.end;
        match burst.write {
            None => self.responses.iter().any(|(_, open)| touches(open)),
            Some(_) => self.words.iter().any(|(_, _, open)| touches(open)),
        }
    }

    fn issue(&mut self, burst: &Burst) {
        let bytes = burst.bytes(self.model.size.word);
        match &burst.write {
            None => {
                let words = self.model.read(burst.command).into_iter();
                self.words
                    .extend(words.map(|(word, known)| (word, known, bytes.clone())));
            }
            Some(data) => self.responses.push_back((self.model.write(burst.command, data), bytes)),
        }
    }

    fn read(&mut self, got: &Read) -> Result<(), Fault> {
        let want = self.words.pop_front();
        let same = want.as_ref().is_some_and(|(want, known, _)| {
            (got.last, got.err, got.data & known) == (want.last, want.err, want.data & known)
        });
        Rule::Content.holds(same, || format!("got {got:x?}, not {want:x?}"))
    }

    fn response(&mut self, got: bool) -> Result<(), Fault> {
        let want = self.responses.pop_front().map(|(want, _)| want);
        Rule::Response.holds(want == Some(got), || format!("error {got}, not {want:?}"))
    }

    fn reset(&mut self) {
        self.words.clear();
        for (_, bytes) in self.responses.drain(..) {
            self.model.forget(bytes);
        }
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.responses.is_empty()
    }
}

/// Does the bursts, with a reset in this cycle that loses the open ones. The cycles from the first word to the last.
fn exercise(run: &Run, mem: &Mem, bursts: &[Burst], gaps: Gaps, reset: Option<u64>) -> Result<u64, Fault> {
    let mut bench = Bench::new(run, &mem.dut);
    let mut rd_cmd = Source::new([], run.pacer(gaps.at_source(), "read commands"));
    let mut wr_cmd = Source::new([], run.pacer(gaps.at_source(), "write commands"));
    let mut wr_data = Source::new([], run.pacer(gaps.at_source(), "write data"));
    let mut reads = Sink::new(run.pacer(gaps.at_sink(), "read data"));
    let mut responses = Sink::new(run.pacer(gaps.at_sink(), "responses"));
    let mut due = Due {
        model: Model::new(mem.size),
        words: VecDeque::new(),
        responses: VecDeque::new(),
    };
    let mut list = bursts.iter().peekable();
    let (mut first, mut last, mut idle) = (None, 0, 0);
    for cycle in 0..100_000 {
        let rst = cycle < 3 || reset == Some(cycle);
        while let Some(burst) = list.next_if(|burst| !rst && !due.must_wait(burst)) {
            due.issue(burst);
            match &burst.write {
                None => rd_cmd.push(burst.command),
                Some(data) => {
                    wr_cmd.push(burst.command);
                    data.iter().for_each(|word| wr_data.push(word.clone()));
                }
            }
        }
        let inputs = In {
            rd_cmd: rd_cmd.offer().copied(),
            rd_ready: reads.ready(),
            wr_cmd: wr_cmd.offer().copied(),
            wr_data: wr_data.offer().cloned(),
            rsp_ready: responses.ready(),
        };
        let seen = bench.registered(&inputs, rst)?;
        if rst {
            due.reset();
            for commands in [&mut rd_cmd, &mut wr_cmd] {
                commands.reset();
                commands.stop();
            }
            wr_data.reset();
            wr_data.stop();
            reads.reset();
            responses.reset();
            continue;
        }
        let at = |fault: Fault| fault.at(cycle);
        if let Some(word) = reads.step(seen.read).map_err(|error| at(error.into()))? {
            due.read(&word).map_err(at)?;
            first.get_or_insert(cycle);
            last = cycle;
        }
        if let Some(err) = responses.step(seen.response).map_err(|error| at(error.into()))? {
            due.response(err).map_err(at)?;
        }
        rd_cmd.step(seen.rd_cmd_ready);
        wr_cmd.step(seen.wr_cmd_ready);
        wr_data.step(seen.wr_data_ready);
        idle = if list.len() == 0 && due.is_empty() { idle + 1 } else { 0 };
        if idle > 30 {
            return Ok(last - first.unwrap_or(last) + 1);
        }
    }
    let (words, responses) = (due.words.len(), due.responses.len());
    Err(Rule::Hang.broken(format!(
        "{} bursts, {words} words, {responses} responses left",
        list.len()
    )))
}

fn content(mem: &Mem, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for resets in [false, true] {
            let params = format!("{} {gaps:?} reset {resets}", mem.dut.name);
            cases.case(Start::Random1, params, |run| {
                let bursts = bursts(mem.size, &mut run.rng("bursts"), 200);
                let reset = resets.then(|| run.rng("reset").between(20, 600));
                exercise(run, mem, &bursts, gaps, reset).map(drop)
            });
        }
    }
}

/// Reads of one half while the other is written, in bursts of one length.
fn rate(mem: &Mem, cases: &mut Cases) {
    for len in [0, 1, 7] {
        let word = |n: u8| Write {
            data: 7,
            strb: 1,
            last: n == len,
        };
        let burst = |write: bool| Burst {
            command: (if write { mem.size.bytes / 2 } else { 0 }, len),
            write: write.then(|| (0..=len).map(word).collect()),
        };
        let bursts: Vec<Burst> = (0..200).map(|i| burst(i % 2 == 0)).collect();
        let words = 100 * (u64::from(len) + 1);
        cases.case(Start::Zero, format!("{} len {len}", mem.dut.name), |run| {
            let cycles = exercise(run, mem, &bursts, Gaps::None, None)?;
            Rule::Rate.holds(cycles == words, || format!("{words} words took {cycles} cycles"))
        });
    }
}

/// All checks.
pub fn checks(mem: &Mem, cases: &mut Cases) {
    content(mem, cases);
    rate(mem, cases);
}

#[test]
fn keeps_every_byte() {
    pass(this_test!(), |cases| {
        content(&mem::<MemBramW64>(), cases);
        content(&mem::<MemBram64W16>(), cases);
    });
}

#[test]
fn one_word_per_cycle() {
    pass(this_test!(), |cases| {
        rate(&mem::<MemBramW64>(), cases);
        rate(&mem::<MemBram64W16>(), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Content, &[], &|cases| checks(&mem::<TwinMemStrobe>(), cases)),
            (Response, &[], &|cases| checks(&mem::<TwinMemForgets>(), cases)),
            (Path, &[], &|cases| checks(&mem::<TwinMemPath>(), cases)),
            // A withdrawn word is lost.
            (Protocol, &[], &|cases| checks(&mem::<TwinMemWithdraws>(), cases)),
            (Rate, &[], &|cases| checks(&mem::<TwinMemBubble>(), cases)),
            // The response of the next write is taken for the missing one.
            (Hang, &[Response], &|cases| checks(&mem::<TwinMemHang>(), cases)),
        ],
    );
}
