//! The arbiter: told which request it granted, the model says whether that was legal, held, and fair.

use testbenches::name;
use testbenches::rtl::*;
use tsunagi::harness::seed::{Case, Recorder};
use tsunagi::harness::stream::Gaps;
use tsunagi::harness::wave::Probe;
use verilated::Unit;

use crate::bench::{Each, PERIOD, Start, holds, must_pass, rules};

pub trait Ports: Unit {
    const N: usize;

    fn set(&self, clk: bool, rst: bool, req: u8, advance: bool);
    fn grant(&self) -> u8;
}

macro_rules! ports {
    ($($unit:ident)+) => {$(
        impl Ports for $unit {
            const N: usize = <$unit>::N;

            fn set(&self, clk: bool, rst: bool, req: u8, advance: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
                self.req_i.set(req);
                self.advance_i.set_bool(advance);
            }

            fn grant(&self) -> u8 {
                self.grant_o.get()
            }
        }
    )+};
}

ports!(ArbiterN1 ArbiterN2 ArbiterN3 ArbiterN4 TwinArbiterLegal TwinArbiterHold TwinArbiterFair TwinArbiterBusy);

rules!(
    /// At most one grant, and only to a request.
    Legal
    /// A grant stands until it is told to advance.
    Hold
    /// Nobody is passed over N times.
    Fair
    /// Somebody is granted when there is a request.
    Busy
);

/// The rules, and what they remember.
struct Model<'a> {
    without: &'a [Rule],
    grant: u8,
    passed: Vec<usize>,
}

impl Model<'_> {
    /// The edge: the inputs before it, the grant after it.
    fn step(&mut self, rst: bool, req: u8, advance: bool, grant: u8) -> Result<(), String> {
        let without = self.without;
        if rst {
            self.grant = 0;
            self.passed.fill(0);
            return holds(without, Rule::Legal, grant == 0, || {
                format!("grant {grant:b} after reset")
            });
        }
        let held = self.grant != 0 && !advance;
        let kept = grant == self.grant;
        holds(without, Rule::Hold, kept || !held, || {
            format!("grant {:b} became {grant:b}", self.grant)
        })?;
        if !held || !kept {
            let legal = grant.count_ones() <= 1 && grant & !req == 0;
            holds(without, Rule::Legal, legal, || {
                format!("grant {grant:b} for requests {req:b}")
            })?;
            holds(without, Rule::Busy, grant != 0 || req == 0, || {
                format!("no grant for requests {req:b}")
            })?;
            for (i, passed) in self.passed.iter_mut().enumerate() {
                let waits = req & !grant & 1 << i != 0;
                *passed = if waits { *passed + usize::from(grant != 0) } else { 0 };
            }
            let worst = self.passed.iter().max().copied().unwrap_or(0);
            holds(without, Rule::Fair, worst < self.passed.len(), || {
                format!("a request was passed over {worst} times")
            })?;
        }
        self.grant = grant;
        Ok(())
    }
}

/// `gaps.at_source()`: requests come at times, else all the time; `gaps.at_sink()`: the grant stands for a while, else for one cycle.
fn run<U: Ports>(case: &Case, start: Start, gaps: Gaps, without: &[Rule], probe: &Probe) -> Result<(), String> {
    let context = start.context(case);
    let dut = U::named(&context, "dut");
    let mut wave = Recorder::new(probe, &[&dut]);
    let mut rng = case.rng("requests");
    let mut model = Model {
        without,
        grant: 0,
        passed: vec![0; U::N],
    };
    let (mut req, all) = (0u8, (1u8 << U::N) - 1);
    for cycle in 0..2000u64 {
        let rst = cycle < 2 || rng.chance(1, 200);
        let advance = !gaps.at_sink() || rng.chance(1, 3);
        // Requests stand until granted; how eager they are changes now and then.
        let eager = if gaps.at_source() { 1 + cycle / 100 % 4 } else { 8 };
        req |= (0..U::N).fold(0, |bits, i| bits | u8::from(rng.chance(eager, 8)) << i) & all;
        for clk in [false, true] {
            dut.set(clk, rst, req, advance);
            context.set_time(cycle * PERIOD + if clk { PERIOD / 2 } else { 0 });
            dut.eval();
            wave.tick(context.time());
        }
        model
            .step(rst, req, advance, dut.grant())
            .map_err(|what| format!("cycle {cycle}: {what}"))?;
        req &= !dut.grant();
    }
    Ok(())
}

pub fn checks<U: Ports>(without: &[Rule], each: Each) {
    for (start, gaps) in Start::ALL
        .into_iter()
        .flat_map(|start| Gaps::ALL.map(|gaps| (start, gaps)))
    {
        let params = format!("{} {gaps:?} {start:?}", name::<U>());
        let case = Case::new("common", "arbiter::arbiter", params);
        each(&case, &|probe| run::<U>(&case, start, gaps, without, probe));
    }
}

#[test]
fn arbiter() {
    checks::<ArbiterN1>(&[], &mut must_pass);
    checks::<ArbiterN2>(&[], &mut must_pass);
    checks::<ArbiterN3>(&[], &mut must_pass);
    checks::<ArbiterN4>(&[], &mut must_pass);
}
