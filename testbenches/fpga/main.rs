//! A board's `cenju3_selftest`, without clocks and pins: it passes round after round, and tells a broken NIC.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Instance, Rule as _, Run, Start, assertion, each_is_caught, pass, rules};
use tsunagi::harness::seed::Recorder;
use verilated::{Clock, Clocks, Input as _, Port as _};

rules!(
    /// Reason 1, or no round in time: something hangs.
    Timeout
    /// Reason 2: the NIC refuses an access to a register.
    Refused
    /// Reason 3: a register differs.
    Register
    /// Reason 4: the memory answers with an error.
    Error
    /// Reason 5: the memory differs.
    Memory
);

/// The lights of a self-test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shown {
    rounds: u64,
    /// The reason, once it has failed.
    failed: Option<u64>,
}

impl Shown {
    /// # Errors
    /// The self-test has failed.
    fn passes(self) -> Result<(), Fault> {
        let rule = match self.failed {
            None => return Ok(()),
            Some(1) => Rule::Timeout,
            Some(2) => Rule::Refused,
            Some(3) => Rule::Register,
            Some(4) => Rule::Error,
            Some(5) => Rule::Memory,
            Some(_) => return wrong(format!("{self:?}: there is no such reason")),
        };
        Err(rule.broken(format!("{self:?}")))
    }
}

/// The self-test itself is wrong, for which there is no twin.
fn wrong<T>(what: String) -> Result<T, Fault> {
    Err(Fault { rule: "Shown", what })
}

/// The levels of the clocks that change, and the resets.
struct In {
    io: Option<bool>,
    net: Option<bool>,
    reset: bool,
}

/// A self-test under test.
type SelfTest = Dut<In, Shown>;

fn selftest<U: Cenju3SelftestUnit + 'static>() -> SelfTest {
    fn set(dut: &impl Cenju3SelftestPorts, inputs: &In) {
        inputs.io.iter().for_each(|level| dut.io_clk_i().set_bool(*level));
        inputs.net.iter().for_each(|level| dut.net_clk_i().set_bool(*level));
        dut.io_rst_i().set_bool(inputs.reset);
        dut.net_rst_i().set_bool(inputs.reset);
    }
    fn seen(dut: &impl Cenju3SelftestPorts) -> Shown {
        Shown {
            rounds: dut.rounds_o().get(),
            failed: dut.fail_o().is_set().then(|| dut.reason_o().get()),
        }
    }
    Dut::of::<U>(set, seen)
}

/// A self-test with its clocks.
struct Board<'a> {
    dut: Box<dyn Instance<In, Shown>>,
    clocks: Clocks,
    io: Clock,
    net: Clock,
    io_edges: u64,
    wave: Recorder<'a>,
}

impl<'a> Board<'a> {
    /// Clock periods in ps. The board is reset.
    fn new(run: &Run<'a>, selftest: &SelfTest, (io, net): (u64, u64)) -> Board<'a> {
        let dut = selftest.instance(&run.context());
        let mut clocks = Clocks::new();
        let phase = run.rng("phase").below(net);
        let (io, net) = (clocks.add(io, 0), clocks.add(net, phase));
        let mut board = Board {
            wave: run.recorder(&[dut.verilated()]),
            dut,
            clocks,
            io,
            net,
            io_edges: 0,
        };
        board.reset();
        board
    }

    fn reset(&mut self) {
        let until = self.io_edges + 10;
        while self.io_edges < until {
            self.step(true);
        }
    }

    fn step(&mut self, reset: bool) {
        let context = self.dut.verilated().context();
        let edges = self.clocks.step(context);
        let level = |clock| match (edges.rises(clock), edges.falls(clock)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        self.io_edges += u64::from(edges.rises(self.io));
        let (io, net) = (level(self.io), level(self.net));
        self.dut.set(&In { io, net, reset });
        self.dut.verilated().eval();
        self.wave.tick(context.time());
    }

    /// Until this number of rounds has passed, or one has failed. A round may take 60,000 cycles of the IO clock.
    ///
    /// # Errors
    /// The self-test fails, or hangs, or does not count its rounds.
    fn rounds(&mut self, rounds: u64) -> Result<(), Fault> {
        let mut before = self.dut.seen();
        let mut limit = self.io_edges + 60_000;
        loop {
            self.step(false);
            let now = self.dut.seen();
            if now.rounds != before.rounds {
                if now.rounds != before.rounds + 1 {
                    return wrong(format!("{before:?}, then {now:?}"));
                }
                limit = self.io_edges + 60_000;
            }
            before = now;
            if now.failed.is_some() {
                self.stays(now)?;
            }
            now.passes()?;
            if now.rounds >= rounds {
                return Ok(());
            }
            Rule::Timeout.holds(self.io_edges <= limit, || format!("hung at {now:?}"))?;
        }
    }

    /// A failure stays on show.
    fn stays(&mut self, shown: Shown) -> Result<(), Fault> {
        (0..50_000).for_each(|_| self.step(false));
        match self.dut.seen() {
            now if now == shown => Ok(()),
            now => wrong(format!("{shown:?}, then {now:?}")),
        }
    }
}

/// Periods of the board's clocks, ps.
const BOARD: (u64, u64) = (10_000, 13_333);

/// The first rounds pass, with clocks of these periods.
fn passes(selftest: &SelfTest, periods: (u64, u64), rounds: u64, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} {periods:?}", selftest.name), |run| {
        Board::new(run, selftest, periods).rounds(rounds)
    });
}

#[test]
fn every_round_passes() {
    pass(this_test!(), |cases| {
        for periods in [BOARD, (40_000, 50_000), (13_000, 7_000)] {
            passes(&selftest::<Cenju3Selftest>(), periods, 60, cases);
        }
    });
}

#[test]
fn a_reset_starts_again() {
    pass(this_test!(), |cases| {
        cases.case(Start::Random1, "", |run| {
            let mut board = Board::new(run, &selftest::<Cenju3Selftest>(), BOARD);
            for _ in 0..4 {
                // Setup begins with its first register: the first round, a short one, takes about 1000 cycles.
                let begun = board.io_edges;
                board.rounds(1)?;
                let took = board.io_edges - begun;
                if took > 3_000 {
                    return wrong(format!("the first round took {took} cycles"));
                }
                board.rounds(3)?;
                (0..run.rng("reset").below(20_000)).for_each(|_| board.step(false));
                board.reset();
                let shown = board.dut.seen();
                shown.passes()?;
                if shown.rounds != 0 {
                    return wrong(format!("{shown:?} after a reset"));
                }
            }
            board.rounds(3)
        });
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    let checks = |selftest: &SelfTest, cases: &mut Cases| passes(selftest, BOARD, 20, cases);
    each_is_caught(
        this_test!(),
        &[
            // No interrupt.
            (Timeout, &[], &|cases| checks(&selftest::<TwinSelftestSilent>(), cases)),
            // Register ID refuses to be read.
            (Refused, &[], &|cases| checks(&selftest::<TwinSelftestRefused>(), cases)),
            // Ring indices advance by two.
            (Register, &[], &|cases| checks(&selftest::<TwinSelftestIndex>(), cases)),
            // The index of the DMA header buffer stands.
            (Register, &[], &|cases| checks(&selftest::<TwinSelftestDma>(), cases)),
            // The memory answers writes with errors.
            (Error, &[], &|cases| checks(&selftest::<TwinSelftestMemory>(), cases)),
            // A word is always written whole.
            (Memory, &[], &|cases| checks(&selftest::<TwinSelftestByte>(), cases)),
        ],
    );
}

/// The engines' own rules find a memory that ends its bursts too soon, and one that answers before the data, where they
/// do so.
#[test]
fn a_twin_memory_breaks_the_rules_of_the_engines() {
    let test = this_test!();
    let words = |selftest: SelfTest| assertion(test, |cases| passes(&selftest, BOARD, 20, cases));
    let last = words(selftest::<TwinSelftestLast>());
    assert!(last.contains("mem_read_rules.sv"), "{last}");
    let early = words(selftest::<TwinSelftestEarly>());
    assert!(early.contains("mem_write_rules.sv"), "{early}");
}

/// The memory's own rule finds a host that offers a word before its time, and another one in its place.
#[test]
fn a_twin_host_breaks_the_rule_of_the_memory() {
    let words = assertion(this_test!(), |cases| {
        passes(&selftest::<TwinSelftestWord>(), BOARD, 20, cases);
    });
    assert!(words.contains("stream_rules.sv"), "{words}");
}
