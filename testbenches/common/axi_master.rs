//! The shared bench of `axi_read_master` and `axi_write_master`, the bridges from memory streams to AXI4: commands are
//! cut at 4 KB only, every word and every error has its place, the protocol is kept, and no cycle is lost.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::Cycle;
use tsunagi::harness::axi::{AxiMemory, AxiTiming, FromMaster, FromSlave, Rules, WriteOrder};
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::Memory;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::Gaps;

use crate::axi_read_master::read_bridge;
use crate::axi_write_master::write_bridge;
use crate::dma::{Bursts, Hardship, SIZE, Slowness, cut};

rules!(
    /// Every word of every read comes, in order, with its error.
    Content
    /// Every write ends in one response, in order, with its error.
    Response
    /// No write ends before its bursts are answered.
    Early
    /// Each byte goes to its place and to no other.
    Memory
    /// Commands are cut at 4 KB, and nowhere else.
    Bursts
    /// Bursts are of normal memory, not cached, not buffered, not exclusive.
    Plain
    /// No more bursts are open than the parameter says.
    Outstanding
    /// No output follows an input within the cycle.
    Path
    /// An offer of the memory streams holds until it is taken.
    Protocol
    /// A word per cycle, if no other party pauses.
    Rate
    /// Every command ends.
    Hang
    /// AXI: an offer holds until it is taken.
    Hold
    /// AXI: a burst is one that the specification allows.
    Legal
    /// AXI: WLAST comes with the last beat, and with no other.
    WriteLast
    /// AXI: strobes are on for bytes of the beat only.
    Lanes
    /// AXI: nothing is valid in reset.
    Reset
);

/// A memory command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub addr: u32,
    /// 1 to 256.
    pub beats: u32,
}

impl Command {
    /// {address, beats - 1}, the words of the command's ports; junk without a command.
    pub fn words(command: Option<Command>) -> (u64, u64) {
        command.map_or((0xdead, 0xbe), |command| {
            (command.addr.into(), (command.beats - 1).into())
        })
    }
}

/// A word of memory data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    pub data: u64,
    /// Of a write.
    pub strb: u8,
    pub last: bool,
    /// Of a read.
    pub err: bool,
}

/// The inputs of either bridge.
#[derive(Clone, Copy, Debug, Default)]
pub struct In {
    pub cmd: Option<Command>,
    /// A word to write.
    pub word: Option<Word>,
    /// Ready for a word that is read, or for a response.
    pub ready: bool,
    pub axi: FromSlave,
}

/// The outputs of either bridge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Out {
    pub cmd_ready: bool,
    /// A word that was read.
    pub word: Option<Word>,
    /// Ready for a word to write.
    pub word_ready: bool,
    /// A response: whether it has an error.
    pub err: Option<bool>,
    pub busy: bool,
    pub axi: FromMaster,
}

/// A bridge under test.
pub struct Bridge {
    pub dut: Dut<In, Out>,
    /// Bytes of a word.
    pub word: u32,
    /// AXI bursts that may be open.
    pub outstanding: usize,
    /// Does the commands of a plan.
    pub exercise: fn(&Run, &Bridge, &Plan) -> Result<Times, Fault>,
}

/// The commands of a run, and the conditions.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    pub commands: &'a [Command],
    pub hardship: Hardship,
    pub order: WriteOrder,
    /// The cycle of a reset of everything, which loses the open commands.
    pub reset: Option<u64>,
}

impl<'a> Plan<'a> {
    /// No gaps, and a memory that answers at once.
    pub fn easy(commands: &'a [Command]) -> Plan<'a> {
        Plan {
            commands,
            hardship: Hardship {
                gaps: Gaps::None,
                memory: Slowness::Ideal,
                faults: false,
            },
            order: WriteOrder::Any,
            reset: None,
        }
    }

    /// Whether the reset is on in this cycle.
    pub fn resets(&self, cycle: u64) -> bool {
        cycle < 3 || self.reset == Some(cycle)
    }

    fn timing(&self) -> AxiTiming {
        let ideal = AxiTiming {
            order: self.order,
            ..AxiTiming::IDEAL
        };
        match self.hardship.memory {
            Slowness::Ideal => ideal,
            Slowness::Slow => AxiTiming {
                read_latency: Cycle(9),
                write_latency: Cycle(7),
                stalls: true,
                ..ideal
            },
        }
    }
}

/// The first cycle of each event of a run, and the last of data.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// A command was taken, and an AXI address was offered.
    pub command: Option<u64>,
    pub address: Option<u64>,
    /// Data were taken, and data were offered: of a read by the bridge, of a write on AXI.
    pub data_in: Option<u64>,
    pub data_out: Option<u64>,
    /// An AXI response was taken, and a response was offered.
    pub answer_in: Option<u64>,
    pub answer_out: Option<u64>,
    /// Data were offered for the last time.
    pub last: u64,
}

impl Times {
    /// Cycles from the first data to the last, both counted.
    fn span(&self) -> u64 {
        self.last - self.data_out.unwrap_or(self.last) + 1
    }
}

/// Cycles after which a run counts as hung.
pub const LIMIT: u64 = 60_000;

/// Idle cycles watched after the last word.
pub const TAIL: u64 = 30;

/// A bridge with its memory, and the checks of every cycle.
pub struct Bridged<'a> {
    bench: Bench<'a, In, Out>,
    pub memory: Memory,
    axi: AxiMemory,
    rules: Rules,
    bursts: Bursts,
    word: u32,
    outstanding: usize,
}

impl<'a> Bridged<'a> {
    pub fn new(run: &Run<'a>, bridge: &Bridge, plan: &Plan) -> Bridged<'a> {
        Bridged {
            bench: Bench::new(run, &bridge.dut),
            memory: plan.hardship.filled(&mut run.rng("memory")),
            axi: AxiMemory::new(bridge.word, plan.timing(), |name| run.rng(name)),
            rules: Rules::new(bridge.word),
            bursts: Bursts::new(),
            word: bridge.word,
            outstanding: bridge.outstanding,
        }
    }

    /// The outputs of the AXI memory.
    pub fn axi(&self) -> FromSlave {
        *self.axi.ports()
    }

    /// One cycle: the outputs before its edge, and the events in memory. A reset forgets everything.
    pub fn cycle(&mut self, reset: bool, inputs: &In) -> Result<(Out, Vec<EventKind>), Fault> {
        let cycle = self.bench.cycle();
        let seen = self.bench.registered(inputs, reset)?;
        let events = if reset {
            self.axi.reset();
            self.bursts = Bursts::new();
            let after = self.bench.seen().axi;
            self.rules
                .reset(&after, &FromSlave::default())
                .map_err(Fault::from)
                .map(|()| Vec::new())
        } else {
            self.edge(cycle, inputs, &seen)
        };
        events.map(|events| (seen, events)).map_err(|fault| fault.at(cycle))
    }

    fn edge(&mut self, cycle: u64, inputs: &In, seen: &Out) -> Result<Vec<EventKind>, Fault> {
        self.rules.step(&seen.axi, &inputs.axi)?;
        Rule::Plain.holds(seen.axi.is_plain(), || format!("{:x?}", seen.axi))?;
        let open = self.rules.open_reads() + self.rules.open_writes();
        Rule::Outstanding.holds(open <= self.outstanding, || format!("{open} bursts are open"))?;
        let mut events = Vec::new();
        let memory = &mut self.memory;
        self.axi
            .step(Cycle(cycle), memory, &seen.axi, |event| events.push(event));
        for (got, want) in events.iter().filter_map(|event| self.bursts.take(event)) {
            Rule::Bursts.holds(want == Some(got), || format!("{got:x?}, not {want:x?}"))?;
        }
        Ok(events)
    }

    /// A command was taken: its bursts are due, cut at 4 KB. The number of them.
    pub fn expect(&mut self, command: Command) -> usize {
        let list = cut(command.addr, command.beats, self.word, 4096 / self.word);
        self.bursts.due.extend(&list);
        list.len()
    }

    pub fn is_idle(&self) -> bool {
        let asked = self.bursts.due.is_empty() && self.axi.is_idle();
        asked && self.rules.is_idle() && !self.bench.seen().busy
    }

    /// What is open in a run that hangs.
    pub fn report(&self) -> String {
        self.axi.report()
    }
}

/// Word-aligned commands of 1 to 256 beats, many of them short or at a 4 KB boundary. With faults, some are beyond the
/// memory's end.
fn commands(rng: &mut Rng, count: usize, word: u32, faults: bool) -> Vec<Command> {
    let one = |_| {
        let beats = match rng.below(4) {
            0 => 1,
            1 => rng.between(1, 256),
            _ => rng.between(1, 20),
        } as u32;
        let addr = if rng.chance(1, 2) {
            rng.between(1, 15) as u32 * 4096 - rng.between(0, beats.into()) as u32 * word
        } else {
            rng.below(u64::from((SIZE - 2048) / word)) as u32 * word
        };
        let beyond = faults && rng.chance(1, 8);
        let addr = if beyond {
            SIZE - rng.below(32) as u32 * word
        } else {
            addr
        };
        Command { addr, beats }
    };
    (0..count).map(one).collect()
}

/// All gap patterns, memories and faults, with and without a reset.
pub fn under_hardship(bridge: &Bridge, cases: &mut Cases) {
    let orders = [WriteOrder::Any, WriteOrder::AddressFirst, WriteOrder::DataFirst];
    for (i, hardship) in Hardship::all().enumerate() {
        for resets in [false, true] {
            let (start, order) = (Start::ALL[i % 3], orders[i / 3 % 3]);
            let params = format!("{} {hardship:?} {order:?} reset {resets}", bridge.dut.name);
            cases.case(start, params, |run| {
                let plan = Plan {
                    commands: &commands(&mut run.rng("commands"), 40, bridge.word, hardship.faults),
                    hardship,
                    order,
                    reset: resets.then(|| run.rng("reset").between(20, 250)),
                };
                (bridge.exercise)(run, bridge, &plan).map(drop)
            });
        }
    }
}

/// Words pass one per cycle, between commands of any length, and where one is cut.
pub fn at_full_rate(bridge: &Bridge, cases: &mut Cases) {
    let word = bridge.word;
    for beats in [1, 3, 256] {
        let addr = |i| (4096 - beats / 2 * word + i * beats * word) % (SIZE / 2);
        let list: Vec<Command> = (0..40).map(|i| Command { addr: addr(i), beats }).collect();
        let words = 40 * u64::from(beats);
        cases.case(
            Start::Zero,
            format!("{} commands of {beats} words", bridge.dut.name),
            |run| {
                let cycles = (bridge.exercise)(run, bridge, &Plan::easy(&list))?.span();
                Rule::Rate.holds(cycles == words, || format!("{words} words took {cycles} cycles"))
            },
        );
    }
}

/// Commands that cross each multiple of a power of two, which carries through all bits of the address below it. There
/// is no memory that high.
pub fn across_powers(bridge: &Bridge, cases: &mut Cases) {
    let command = |power| Command {
        addr: (1u32 << power) - 3 * bridge.word,
        beats: 8,
    };
    let list: Vec<Command> = (12..32).map(command).collect();
    cases.case(Start::Zero, format!("{} powers", bridge.dut.name), |run| {
        (bridge.exercise)(run, bridge, &Plan::easy(&list)).map(drop)
    });
}

/// All checks.
pub fn checks(bridge: &Bridge, cases: &mut Cases) {
    under_hardship(bridge, cases);
    across_powers(bridge, cases);
    at_full_rate(bridge, cases);
}

#[test]
fn a_cut_carries_through_the_address() {
    pass(this_test!(), |cases| {
        across_powers(&read_bridge::<AxiRead>(4), cases);
        across_powers(&write_bridge::<AxiWrite64>(), cases);
    });
}

#[test]
fn one_word_per_cycle() {
    pass(this_test!(), |cases| {
        at_full_rate(&read_bridge::<AxiRead>(4), cases);
        at_full_rate(&write_bridge::<AxiWrite>(), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    fn read<U: AxiReadMasterUnit + 'static>(cases: &mut Cases) {
        checks(&read_bridge::<U>(4), cases);
    }
    fn write<U: AxiWriteMasterUnit + 'static>(cases: &mut Cases) {
        checks(&write_bridge::<U>(), cases);
    }
    each_is_caught(
        this_test!(),
        &[
            (Content, &[], &read::<TwinAxiReadLast>),
            (Content, &[], &read::<TwinAxiReadDecerr>),
            (Response, &[], &write::<TwinAxiWriteForgets>),
            // An early response is one too many.
            (Early, &[Response], &write::<TwinAxiWriteEarly>),
            // A byte that is not enabled may be one with a bus error.
            (Memory, &[Response], &write::<TwinAxiWriteStrobes>),
            // The wrong page has the wrong words.
            (Bursts, &[Content], &read::<TwinAxiReadPage>),
            // The wrong page is one without memory.
            (Bursts, &[Content], &read::<TwinAxiReadCarry>),
            (Plain, &[], &read::<TwinAxiReadCached>),
            (Plain, &[], &write::<TwinAxiWriteLocks>),
            (Plain, &[], &write::<TwinAxiWritePrivileged>),
            (Outstanding, &[], &read::<TwinAxiReadOutstanding>),
            (Path, &[], &read::<TwinAxiReadPath>),
            (Protocol, &[Content], &read::<TwinAxiReadChanges>),
            (Rate, &[], &read::<TwinAxiReadBubble>),
            // Data wait for their address: for ever where the memory waits for the data, else for a cycle.
            (Hang, &[Rate], &write::<TwinAxiWriteWaits>),
            // The burst of a withdrawn address never comes.
            (Hold, &[Bursts, Content, Hang], &read::<TwinAxiReadWithdraws>),
            (Legal, &[Bursts], &read::<TwinAxiReadBoundary>),
            // A burst without an end waits for the end of the next.
            (
                WriteLast,
                &[Hang, Memory, Response, Early, Rate],
                &write::<TwinAxiWriteLast>,
            ),
            // Beats of half a word go to other places.
            (Lanes, &[Bursts, Memory, Response], &write::<TwinAxiWriteLanes>),
            // An address that survives the reset is a burst without a command.
            (
                Reset,
                &[Legal, Bursts, Content, Outstanding, Hang],
                &read::<TwinAxiReadReset>,
            ),
        ],
    );
}
