//! What stands on a board, without its clocks and pins: the self-test passes round after round, and tells a broken NIC.

// Its benches are to stand on a kit, and are not split before.
#![allow(clippy::too_many_lines)]

use testbenches::rtl::*;
use tsunagi::harness::seed::{Case, Recorder};
use tsunagi::harness::wave::Probe;
use verilated::{Clock, Clocks, Context, Unit};

/// What a person sees of a self-test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shown {
    rounds: u32,
    /// The reason, once it has failed.
    failed: Option<u8>,
}

trait SelfTest: Unit {
    fn set(&self, io: Option<bool>, net: Option<bool>, reset: bool);
    fn shown(&self) -> Shown;
}

macro_rules! selftest {
    ($($unit:ident)+) => {$(
        impl SelfTest for $unit {
            fn set(&self, io: Option<bool>, net: Option<bool>, reset: bool) {
                io.into_iter().for_each(|level| self.io_clk_i.set_bool(level));
                net.into_iter().for_each(|level| self.net_clk_i.set_bool(level));
                self.io_rst_i.set_bool(reset);
                self.net_rst_i.set_bool(reset);
            }

            fn shown(&self) -> Shown {
                Shown {
                    rounds: self.rounds_o.get(),
                    failed: self.fail_o.is_set().then(|| self.reason_o.get()),
                }
            }
        }
    )+};
}

selftest!(Cenju3Selftest TwinSelftestSilent TwinSelftestRefused TwinSelftestIndex TwinSelftestMemory TwinSelftestByte
          TwinSelftestLast TwinSelftestEarly);

/// A self-test with its clocks.
struct Board<'a, U> {
    dut: U,
    context: Context,
    clocks: Clocks,
    io: Clock,
    net: Clock,
    io_edges: u64,
    wave: Recorder<'a>,
}

impl<'a, U: SelfTest> Board<'a, U> {
    /// Clock periods in ps; started from a random state, and reset.
    fn new(case: &Case, periods: (u64, u64), probe: &'a Probe) -> Board<'a, U> {
        let context = case.context();
        let dut = U::named(&context, "dut");
        let mut clocks = Clocks::new();
        let phase = case.rng("phase").below(periods.1);
        let (io, net) = (clocks.add(periods.0, 0), clocks.add(periods.1, phase));
        let mut board = Board {
            wave: Recorder::new(probe, &[&dut]),
            dut,
            context,
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
        let edges = self.clocks.step(&self.context);
        let level = |clock| match (edges.rises(clock), edges.falls(clock)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        self.io_edges += u64::from(edges.rises(self.io));
        self.dut.set(level(self.io), level(self.net), reset);
        self.dut.eval();
        self.wave.tick(self.context.time());
    }

    /// Until so many rounds have passed, or it fails; a round may take 60,000 cycles of the IO clock.
    fn rounds(&mut self, rounds: u32) -> Result<Shown, String> {
        let mut before = self.dut.shown();
        let mut limit = self.io_edges + 60_000;
        loop {
            self.step(false);
            let now = self.dut.shown();
            if now.rounds != before.rounds {
                if now.rounds != before.rounds + 1 {
                    return Err(format!("{before:?}, then {now:?}"));
                }
                limit = self.io_edges + 60_000;
            }
            before = now;
            if now.failed.is_some() || now.rounds >= rounds {
                return Ok(now);
            }
            if self.io_edges > limit {
                return Err(format!("hung at {now:?}"));
            }
        }
    }
}

const BOARD: (u64, u64) = (10_000, 13_333);

#[test]
fn every_round_passes() {
    for periods in [BOARD, (40_000, 50_000), (13_000, 7_000)] {
        let case = Case::new("fpga", "every_round_passes", format!("{periods:?}"));
        case.run(|probe| {
            let shown = Board::<Cenju3Selftest>::new(&case, periods, probe).rounds(60)?;
            match shown {
                Shown {
                    rounds: 60,
                    failed: None,
                } => Ok(()),
                other => Err(format!("{other:?}")),
            }
        });
    }
}

#[test]
fn a_reset_starts_again() {
    let case = Case::new("fpga", "a_reset_starts_again", "");
    case.run(|probe| {
        let mut board = Board::<Cenju3Selftest>::new(&case, BOARD, probe);
        for _ in 0..4 {
            board.rounds(3)?;
            for _ in 0..case.rng("reset").below(20_000) {
                board.step(false);
            }
            board.reset();
            let shown = board.dut.shown();
            if (shown
                != Shown {
                    rounds: 0,
                    failed: None,
                })
            {
                return Err(format!("{shown:?} after a reset"));
            }
        }
        match board.rounds(3)? {
            Shown { failed: None, .. } => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
}

/// The reason a broken NIC or memory gives, in the first rounds.
fn fails<U: SelfTest>(twin: &'static str, reason: u8) {
    let case = Case::new("fpga", "each_broken_board_shows_why", twin);
    case.run(|probe| {
        let mut board = Board::<U>::new(&case, BOARD, probe);
        let shown = board.rounds(20)?;
        if shown.failed != Some(reason) {
            return Err(format!("{twin}: {shown:?}, not reason {reason}"));
        }
        // It stays so.
        for _ in 0..50_000 {
            board.step(false);
        }
        match board.dut.shown() {
            now if now == shown => Ok(()),
            now => Err(format!("{twin}: {shown:?}, then {now:?}")),
        }
    });
}

#[test]
fn each_broken_board_shows_why() {
    // No interrupt.
    fails::<TwinSelftestSilent>("silent", 1);
    // Register ID refuses to be read.
    fails::<TwinSelftestRefused>("refused", 2);
    // Ring indices advance by two.
    fails::<TwinSelftestIndex>("index", 3);
    // Memory answers writes with errors.
    fails::<TwinSelftestMemory>("memory", 4);
    // A word is always written whole.
    fails::<TwinSelftestByte>("byte", 5);
}

/// What a broken memory does is told by the engines' own rules, where it happens.
fn breaks_a_rule<U: SelfTest>(twin: &'static str) {
    let case = Case::new("fpga", "breaks_a_rule", twin);
    let shown = Board::<U>::new(&case, BOARD, &Probe::default()).rounds(20);
    panic!("{twin}: no rule is broken, {shown:?}");
}

#[test]
#[should_panic(expected = "mem_read_rules.sv")]
fn a_memory_ends_its_bursts_too_soon() {
    breaks_a_rule::<TwinSelftestLast>("last");
}

#[test]
#[should_panic(expected = "mem_write_rules.sv")]
fn a_memory_answers_before_the_data() {
    breaks_a_rule::<TwinSelftestEarly>("early");
}
