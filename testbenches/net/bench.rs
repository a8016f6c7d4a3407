//! One switch in lock step with the golden switch.

use std::fmt::{self, Display, Formatter};
use std::ops::Deref;

use testbenches::rtl;
use tsunagi::harness::seed::{Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Pacer, ProtocolError, Sink, Source};
use tsunagi::net::fabric::{Flit, SwitchUnit};
use tsunagi::net::switch::{GoldenSwitch, SwitchError};
use tsunagi::net::units;
use verilated::{Context, Verilated};

/// Clock period in waves, ps.
pub const PERIOD: u64 = 10_000;

/// What is checked of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Of the golden switch: see [`SwitchError`].
    Nothing,
    Word,
    Mixed,
    Unfair,
    Left,
    Unroutable,
    /// An offer holds until it is taken.
    Protocol,
    /// Everything offered is taken in the end.
    Hang,
    /// With nothing to do it says so.
    Rest,
    /// Edges left out at rest change nothing.
    Gating,
    /// The first word takes its cycles.
    Latency,
    /// A word a cycle.
    Rate,
    /// Each flit of Cenju-3's switch in its cycle, and links idle as long as set.
    Timing,
    /// The omega network as one top and composed of switches do the same.
    Agree,
}

impl Check {
    pub const ALL: [Check; 14] = [
        Check::Nothing,
        Check::Word,
        Check::Mixed,
        Check::Unfair,
        Check::Left,
        Check::Unroutable,
        Check::Protocol,
        Check::Hang,
        Check::Rest,
        Check::Gating,
        Check::Latency,
        Check::Rate,
        Check::Timing,
        Check::Agree,
    ];

    /// Holds, or is what is wrong, in these words.
    pub fn holds(self, kept: bool, what: impl FnOnce() -> String) -> Result<(), Fault> {
        if kept {
            Ok(())
        } else {
            Err(Fault {
                check: self,
                what: what(),
            })
        }
    }
}

/// What a check found.
#[derive(Clone, Debug)]
pub struct Fault {
    pub check: Check,
    what: String,
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{:?}: {}", self.check, self.what)
    }
}

impl Fault {
    pub fn at(self, cycle: u64) -> Fault {
        let what = format!("cycle {cycle}: {}", self.what);
        Fault { what, ..self }
    }
}

impl From<SwitchError> for Fault {
    fn from(error: SwitchError) -> Fault {
        let check = match error {
            SwitchError::Nothing { .. } => Check::Nothing,
            SwitchError::Word { .. } => Check::Word,
            SwitchError::Mixed { .. } => Check::Mixed,
            SwitchError::Unfair { .. } => Check::Unfair,
            SwitchError::Left { .. } => Check::Left,
            SwitchError::Unroutable { .. } => Check::Unroutable,
        };
        let what = error.to_string();
        Fault { check, what }
    }
}

impl From<ProtocolError> for Fault {
    fn from(error: ProtocolError) -> Fault {
        let what = error.to_string();
        Fault {
            check: Check::Protocol,
            what,
        }
    }
}

/// A verilated switch as a testbench sees it.
pub trait Switch: SwitchUnit {
    /// Bits of a word.
    const WIDTH: usize;

    fn named(context: &Context) -> Self;

    fn unit(&self) -> &dyn Verilated;

    fn set_digit(&self, digit: usize);

    /// Idle cycles after each packet on an output link, where the unit has them.
    fn set_idle(&self, idle: u8);

    /// The input that the word on show at an output came from, where the unit tells.
    fn source(&self, output: usize) -> Option<usize>;
}

/// The unit of the same name as a [`Switch`].
macro_rules! switch {
    ($unit:ident, $radix:literal, $width:literal, $idle:expr, $source:expr) => {
        pub struct $unit(rtl::$unit);

        impl Deref for $unit {
            type Target = rtl::$unit;

            fn deref(&self) -> &rtl::$unit {
                &self.0
            }
        }

        impl SwitchUnit for $unit {
            const RADIX: usize = $radix;

            fn set_reset(&mut self, reset: bool) {
                self.rst_i.set_bool(reset);
            }

            fn edge(&mut self, words: &[u64], in_valid: u32, in_last: u32, out_ready: u32) {
                let inputs = (
                    &self.in_data_i,
                    &self.in_valid_i,
                    &self.in_last_i,
                    &self.out_ready_i,
                );
                units::edge(
                    &self.0,
                    inputs,
                    ($radix, $width),
                    words,
                    [in_valid, in_last, out_ready],
                );
            }

            fn in_ready(&self) -> u32 {
                self.in_ready_o.get().into()
            }

            fn out_valid(&self) -> u32 {
                self.out_valid_o.get().into()
            }

            fn out_last(&self) -> u32 {
                self.out_last_o.get().into()
            }

            fn out_word(&self, output: usize) -> u64 {
                self.out_data_o.get_bits(output * $width, $width)
            }

            fn busy(&self) -> bool {
                self.busy_o.is_set()
            }

            fn unroutable(&self) -> u64 {
                self.unroutable_o.get().into()
            }
        }

        impl Switch for $unit {
            const WIDTH: usize = $width;

            fn named(context: &Context) -> $unit {
                $unit(rtl::$unit::named(context, "switch"))
            }

            fn unit(&self) -> &dyn Verilated {
                &self.0
            }

            fn set_digit(&self, digit: usize) {
                self.digit_i.set(digit as u8);
            }

            fn set_idle(&self, idle: u8) {
                let set: fn(&rtl::$unit, u8) = $idle;
                set(&self.0, idle);
            }

            fn source(&self, output: usize) -> Option<usize> {
                let source: fn(&rtl::$unit, usize) -> Option<usize> = $source;
                source(&self.0, output)
            }
        }
    };
}

/// A crossbar, which tells the source in fields of so many bits.
macro_rules! crossbar {
    ($unit:ident, $radix:literal, $width:literal, $bits:literal) => {
        switch!($unit, $radix, $width, |_, _| (), |unit, output| Some(
            unit.out_source_o.get_bits(output * $bits, $bits) as usize
        ));
    };
}

/// A switch of Cenju-3, which does not tell the source.
macro_rules! cenju3_switch {
    ($unit:ident) => {
        switch!($unit, 4, 16, |unit, idle| unit.idle_i.set(idle), |_, _| None);
    };
}

crossbar!(CrossbarN2W16, 2, 16, 1);
crossbar!(CrossbarN2W64, 2, 64, 1);
crossbar!(CrossbarN3W16D2, 3, 16, 2);
crossbar!(CrossbarN3W64, 3, 64, 2);
crossbar!(CrossbarN4W64, 4, 64, 2);
crossbar!(CrossbarN8W64, 8, 64, 3);
crossbar!(BufferedN4W64, 4, 64, 2);
crossbar!(BufferedN3W16D2, 3, 16, 2);
crossbar!(TwinCrossbarRoute, 4, 64, 2);
crossbar!(TwinCrossbarWord, 4, 64, 2);
crossbar!(TwinCrossbarMixed, 4, 64, 2);
crossbar!(TwinCrossbarUnfair, 4, 64, 2);
crossbar!(TwinCrossbarWithdraws, 4, 64, 2);
crossbar!(TwinCrossbarRest, 4, 64, 2);
crossbar!(TwinCrossbarBubble, 4, 64, 2);
crossbar!(TwinCrossbarLeft, 4, 64, 2);
crossbar!(TwinCrossbarBusy, 4, 64, 2);
crossbar!(TwinCrossbarLate, 4, 64, 2);
crossbar!(TwinCrossbarUnroutable, 3, 16, 2);
crossbar!(TwinCrossbarCount, 3, 16, 2);
crossbar!(TwinCrossbarJams, 3, 16, 2);
crossbar!(TwinBufferedDeadlock, 4, 64, 2);
crossbar!(TwinBufferedFull, 4, 64, 2);
crossbar!(TwinBufferedRest, 4, 64, 2);
crossbar!(TwinBufferedHasty, 4, 64, 2);
crossbar!(TwinBufferedUnroutable, 3, 16, 2);
crossbar!(TwinBufferedCount, 3, 16, 2);
cenju3_switch!(Cenju3SwitchRandom);
cenju3_switch!(Cenju3SwitchB9);
cenju3_switch!(TwinCenju3SwitchIdle);
cenju3_switch!(TwinCenju3SwitchSync);

/// Why a unit is busy straight out of reset: what has no reset changes with the first edge.
pub const SETTLES: &str = "at rest straight out of reset, before an edge has settled the rest";

/// A switch just reset, with nothing random, that routes by the lowest digit.
pub fn fresh<U: Switch>(idle: u8) -> U {
    let mut unit = U::named(&Context::new());
    unit.set_digit(0);
    unit.set_idle(idle);
    unit.reset();
    unit
}

/// Two switches get the same traffic, bursts with long silences; one is clocked only when it is busy or offered something.
/// Both must look the same in every cycle.
pub fn gating<U: Switch>(mut rng: Rng) -> Result<(), Fault> {
    let (mut always, mut gated) = (fresh::<U>(5), fresh::<U>(5));
    Check::Rest.holds(gated.busy(), || SETTLES.into())?;
    let all = (1 << U::RADIX) - 1;
    let mut left = vec![0; U::RADIX];
    let mut skipped = 0;
    for cycle in 0..20_000 {
        let (mut valid, mut last) = (0, 0);
        let mut words = vec![0; U::RADIX];
        for (input, left) in left.iter_mut().enumerate() {
            if *left == 0 && cycle % 400 < 60 && rng.chance(1, 8) {
                *left = rng.between(1, 20);
            }
            if *left > 0 {
                words[input] = *left + 7 * input as u64 + cycle / 400;
                valid |= 1 << input;
                last |= u32::from(*left == 1) << input;
            }
        }
        let taken = valid & always.in_ready();
        let ready = if rng.chance(3, 4) { all } else { 1 };
        always.edge(&words, valid, last, ready);
        if gated.busy() || valid != 0 {
            gated.edge(&words, valid, last, ready);
        } else {
            skipped += 1;
        }
        // What `busy_o` is itself shows in what follows from it.
        let outputs = always
            .unit()
            .ports()
            .iter()
            .filter(|port| port.output && port.name != "busy_o");
        for port in outputs {
            let same = always.unit().peek(port.name) == gated.unit().peek(port.name);
            Check::Gating.holds(same, || {
                format!("cycle {cycle}: gated and ungated differ in {}", port.name)
            })?;
        }
        for (input, left) in left.iter_mut().enumerate() {
            *left -= u64::from(taken >> input & 1);
        }
    }
    Check::Rest.holds(skipped > 10_000, || format!("only {skipped} edges skipped"))
}

/// A packet to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub input: usize,
    /// What its first word has where its way is read from.
    pub to: u64,
    pub words: u64,
}

/// What is sent.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// So many packets of each input, a third of them of one word, the others of up to so many, to anywhere.
    Random { packets: usize, longest: u64 },
    /// Those of each input in this order.
    These(Vec<Packet>),
}

impl Traffic {
    /// The flits of one input. The way is read from `bits` bits of a first word, from bit `shift` on.
    pub fn flits(&self, input: usize, width: usize, (shift, bits): (usize, usize), rng: &mut Rng) -> Vec<Flit> {
        let mut flits = Vec::new();
        let mut packet = |to: Option<u64>, words: u64, rng: &mut Rng| {
            let first = flits.len();
            flits.extend((0..words).rev().map(|left| Flit {
                word: word(input, width, rng),
                last: left == 0,
            }));
            if let Some(to) = to {
                let way = ((1 << bits) - 1) << shift;
                flits[first].word = flits[first].word & !way | to << shift;
            }
        };
        match self {
            Traffic::Random { packets, longest } => {
                for _ in 0..*packets {
                    let words = if rng.chance(1, 3) { 1 } else { rng.between(1, *longest) };
                    packet(None, words, rng);
                }
            }
            Traffic::These(list) => {
                for p in list.iter().filter(|p| p.input == input) {
                    packet(Some(p.to), p.words, rng);
                }
            }
        }
        flits
    }
}

/// What is done to a switch.
#[derive(Clone, Debug)]
pub struct Plan {
    pub gaps: Gaps,
    /// The digit the switch routes by.
    pub digit: usize,
    pub traffic: Traffic,
    /// How many packets may pass a waiting one; see [`GoldenSwitch::new`].
    pub bound: u64,
    /// Leave off in mid-flight after so many cycles.
    pub stop: Option<u64>,
}

/// The input a word came from is in its upper four bits, so that words of different inputs differ.
fn word(input: usize, width: usize, rng: &mut Rng) -> u64 {
    rng.bits() >> (64 - width) & !(0xF << (width - 4)) | (input as u64) << (width - 4)
}

/// Sends packets through a switch that was just reset, in lock step with the golden switch.
pub fn exercise<U: Switch>(
    unit: &mut U,
    plan: &Plan,
    rng: impl Fn(&str) -> Rng,
    recorder: &mut Recorder,
) -> Result<(), Fault> {
    unit.set_digit(plan.digit);
    // The clock goes on where it was.
    let start = unit
        .unit()
        .context()
        .time()
        .next_multiple_of(PERIOD)
        .saturating_sub(PERIOD);
    let mut golden = GoldenSwitch::new(U::RADIX, plan.digit, plan.bound);
    let pacer = |pauses, name: String| Pacer::new(pauses, rng(&name));
    let mut sources: Vec<_> = (0..U::RADIX)
        .map(|i| {
            let bits = U::RADIX.next_power_of_two().trailing_zeros() as usize;
            let mut words = rng(&format!("packets {i}"));
            let flits = plan.traffic.flits(i, U::WIDTH, (plan.digit * bits, bits), &mut words);
            Source::new(flits, pacer(plan.gaps.at_source(), format!("source {i}")))
        })
        .collect();
    let mut sinks: Vec<_> = (0..U::RADIX)
        .map(|o| Sink::new(pacer(plan.gaps.at_sink(), format!("sink {o}"))))
        .collect();
    let limit = 2000 + 4 * sources.iter().map(|source| source.len() as u64).sum::<u64>();
    let mut quiet = 0;
    for cycle in 0..limit {
        if plan.stop == Some(cycle) {
            return Ok(());
        }
        let mut words = vec![0; U::RADIX];
        let (mut valid, mut last, mut ready) = (0, 0, 0);
        let (in_ready, out_valid, out_last) = (unit.in_ready(), unit.out_valid(), unit.out_last());
        for (o, sink) in sinks.iter_mut().enumerate() {
            ready |= u32::from(sink.ready()) << o;
            let shown = (out_valid >> o & 1 == 1).then(|| Flit {
                word: unit.out_word(o),
                last: out_last >> o & 1 == 1,
            });
            if let Some(flit) = sink.step(shown).map_err(|e| Fault::from(e).at(cycle))? {
                let source = unit.source(o).unwrap_or((flit.word >> (U::WIDTH - 4)) as usize);
                golden
                    .sent(o, source, flit.word, flit.last)
                    .map_err(|e| Fault::from(e).at(cycle))?;
            }
        }
        for (i, source) in sources.iter_mut().enumerate() {
            if let Some(flit) = source.offer() {
                words[i] = flit.word;
                valid |= 1 << i;
                last |= u32::from(flit.last) << i;
            }
            if let Some(flit) = source.step(in_ready >> i & 1 == 1) {
                golden.took(i, flit.word, flit.last);
            }
        }
        unit.unit().context().set_time(start + (cycle + 1) * PERIOD);
        unit.edge(&words, valid, last, ready);
        recorder.tick_up(&[unit.unit()], PERIOD);
        let done = sources.iter().all(Source::is_empty) && golden.finish(unit.unroutable()).is_ok();
        quiet = if done { quiet + 1 } else { 0 };
        if quiet > 60 {
            return Check::Rest.holds(!unit.busy(), || format!("cycle {cycle}: still busy"));
        }
    }
    let left: usize = sources.iter().map(Source::len).sum();
    Check::Hang.holds(left == 0, || format!("after {limit} cycles {left} words are not taken"))?;
    golden.finish(unit.unroutable()).map_err(|e| Fault::from(e).at(limit))
}
