//! Synchroniser: a change takes its stages, and with jitter at times one cycle more.

use std::collections::VecDeque;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Instance, PERIOD, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::harness::seed::Recorder;
use verilated::{Input as _, Port as _};

rules!(
    /// A change is shown after its stages.
    Stages
    /// With jitter, about half of the changes are shown one cycle later.
    Jitter
);

/// A synchroniser of four bits under test.
struct Sync {
    dut: Dut<u8, u8>,
    stages: usize,
}

fn sync<U: CdcSyncUnit + 'static>() -> Sync {
    fn set(dut: &impl CdcSyncPorts, data: &u8) {
        dut.data_i().set(u64::from(*data));
    }

    fn seen(dut: &impl CdcSyncPorts) -> u8 {
        dut.data_o().get() as u8
    }

    Sync {
        dut: Dut::of::<U>(set, seen),
        stages: U::STAGES,
    }
}

/// A synchroniser and its clock.
struct Clocked<'a> {
    dut: Box<dyn Instance<u8, u8>>,
    wave: Recorder<'a>,
}

impl<'a> Clocked<'a> {
    fn new(run: &Run<'a>, sync: &Sync) -> Clocked<'a> {
        let dut = sync.dut.instance(&run.context());
        let wave = run.recorder(&[dut.verilated()]);
        Clocked { dut, wave }
    }

    /// The value shown after an edge with these data.
    fn edge(&mut self, data: u8) -> u8 {
        self.dut.set(&data);
        let unit = self.dut.verilated();
        for rises in [false, true] {
            unit.context().set_time(unit.context().time() + PERIOD / 2);
            if rises {
                unit.rise(!0);
            } else {
                unit.fall(!0);
            }
            self.wave.tick(unit.context().time());
        }
        self.dut.seen()
    }
}

/// Without jitter every value is shown after exactly its stages.
fn steady(sync: &Sync, cases: &mut Cases) {
    cases.from_each(&Start::RANDOM, sync.dut.name, |run| {
        let mut clocked = Clocked::new(run, sync);
        let mut rng = run.rng("data");
        let mut past = VecDeque::new();
        for _ in 0..200 {
            let data = rng.below(16) as u8;
            past.push_back(data);
            let shown = clocked.edge(data);
            if past.len() == sync.stages {
                let settled = past.pop_front();
                Rule::Stages.holds(settled == Some(shown), || format!("{shown} came, not {settled:?}"))?;
            }
        }
        Ok(())
    });
}

/// With jitter a step of a Gray count is shown after its stages or one cycle later, each about as often.
fn jittery(sync: &Sync, cases: &mut Cases) {
    let stages = sync.stages;
    cases.from_each(&Start::RANDOM, sync.dut.name, |run| {
        let mut clocked = Clocked::new(run, sync);
        let mut late = 0;
        for step in 0..200u8 {
            let (old, new) = (gray(step), gray(step.wrapping_add(1)));
            for _ in 0..stages + 2 {
                clocked.edge(old);
            }
            let seen: Vec<u8> = (0..=stages).map(|_| clocked.edge(new)).collect();
            let waited = seen.iter().take_while(|&&shown| shown == old).count();
            let settled = (stages - 1..=stages).contains(&waited) && seen[waited..].iter().all(|&shown| shown == new);
            Rule::Stages.holds(settled, || format!("{old} to {new} came as {seen:?}"))?;
            late += usize::from(waited == stages);
        }
        Rule::Jitter.holds((50..150).contains(&late), || {
            format!("{late} of 200 changes came a cycle late")
        })
    });
}

fn gray(count: u8) -> u8 {
    let count = count & 15;
    count ^ count >> 1
}

#[test]
fn a_value_takes_its_stages() {
    pass(this_test!(), |cases| steady(&sync::<CdcSyncS3>(), cases));
}

#[test]
fn with_jitter_a_change_takes_its_stages_or_one_more() {
    pass(this_test!(), |cases| jittery(&sync::<CdcSyncJitter>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Stages, &[], &|cases| steady(&sync::<TwinCdcSyncStages>(), cases)),
            (Jitter, &[], &|cases| jittery(&sync::<TwinCdcSyncSure>(), cases)),
        ],
    );
}
