//! `cppacs_runs`: bytes of a transfer that are contiguous.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::cppacs::golden::runs::{Stride, runs};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Sink, Source};
use verilated::{Input as _, Port as _};

rules!(
    /// The runs are the model's.
    Runs
    /// A run that leaves the limit is offered as bad, and is the last.
    Bad
    /// The first run takes 3 cycles, each further one 2.
    Rate
    /// A stopped job gives no run.
    Stop
    /// At rest nothing changes.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// All runs come.
    Hang
);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Job {
    base: u32,
    offset: u32,
    limit: u32,
    bytes: u32,
    stride: Option<Stride>,
}

/// Address, bytes, last; no address and bytes of a bad one.
type Offer = (Option<(u32, u32)>, bool);

#[derive(Clone, Default)]
struct In {
    job: Option<Job>,
    ready: bool,
    stop: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    busy: bool,
    ready: bool,
    run: Option<Offer>,
}

fn set(dut: &impl CppacsRunsPorts, inputs: &In) {
    dut.job_valid_i().set_bool(inputs.job.is_some());
    dut.run_ready_i().set_bool(inputs.ready);
    dut.stop_i().set_bool(inputs.stop);
    if let Some(job) = inputs.job {
        let stride = job.stride.unwrap_or(Stride {
            element: 24,
            left: 8,
            step: 32,
        });
        dut.job_base_i().set(job.base.into());
        dut.job_offset_i().set(job.offset.into());
        dut.job_limit_i().set(job.limit.into());
        dut.job_bytes_i().set(job.bytes.into());
        dut.job_strided_i().set_bool(job.stride.is_some());
        dut.job_element_i().set(stride.element.into());
        dut.job_left_i().set(stride.left.into());
        dut.job_step_i().set(stride.step.into());
    }
}

fn seen(dut: &impl CppacsRunsPorts) -> Out {
    let run = || {
        let place = (dut.run_addr_o().get() as u32, dut.run_bytes_o().get() as u32);
        ((!dut.run_bad_o().is_set()).then_some(place), dut.run_last_o().is_set())
    };
    Out {
        busy: dut.busy_o().is_set(),
        ready: dut.job_ready_o().is_set(),
        run: dut.run_valid_o().is_set().then(run),
    }
}

fn unit<U: CppacsRunsUnit + 'static>() -> (Dut<In, Out>, bool) {
    (Dut::of::<U>(set, seen), testbenches::name::<U>().ends_with("Whole"))
}

impl Job {
    /// The offers that are due.
    fn offers(&self) -> Vec<Offer> {
        let to_offer = |run: Result<tsunagi::cppacs::golden::runs::Run, _>| match run {
            Ok(run) => (Some((self.base.wrapping_add(run.offset), run.bytes)), run.last),
            Err(_) => (None, true),
        };
        runs(self.offset, self.bytes, self.stride, self.limit)
            .map(to_offer)
            .collect()
    }
}

fn job(rng: &mut Rng, is_whole: bool) -> Job {
    let units = |rng: &mut Rng, most: u64| 8 * rng.between(1, most) as u32;
    let bytes = match rng.below(4) {
        0 => units(rng, 131_072),
        _ => units(rng, 40),
    };
    let element = match rng.below(8) {
        0 => units(rng, 65_535),
        _ => units(rng, 8),
    };
    // As long as the transfer has at most some hundred runs.
    let element = element.max(bytes / 200 & !7);
    let limit = match rng.below(4) {
        0 => !7,
        1 => units(rng, 1 << 20),
        _ => units(rng, 100) + bytes,
    };
    let offset = match rng.below(4) {
        0 => (rng.bits() as u32) & !7,
        1 => 0,
        2 => limit.wrapping_sub(units(rng, 60)) & !7,
        _ => limit.saturating_sub(bytes) & !7,
    };
    let step = match rng.below(4) {
        0 => (rng.bits() as u32) & !7,
        1 => 0,
        _ => element.wrapping_add(units(rng, 4)) - 8,
    };
    let left = if is_whole {
        element
    } else {
        8 * rng.between(1, u64::from(element / 8)) as u32
    };
    Job {
        base: (rng.bits() as u32) & !7,
        offset,
        limit,
        bytes,
        stride: rng.chance(2, 3).then_some(Stride { element, left, step }),
    }
}

/// Each job's offers, in order.
fn check_run(want: Option<&Offer>, got: Offer) -> Result<(), Fault> {
    if want.is_some_and(|want| want.0.is_none()) != got.0.is_none() {
        return Err(Rule::Bad.broken(format!("{got:x?}, not {want:x?}")));
    }
    Rule::Runs.same("run", want, Some(&got))
}

fn traffic(run: &Run, (dut, is_whole): &(Dut<In, Out>, bool), gaps: Gaps, stops: bool) -> Result<(), Fault> {
    let mut rng = run.rng("jobs");
    let jobs: Vec<Job> = (0..80).map(|_| job(&mut rng, *is_whole)).collect();
    let mut source = Source::new(jobs, run.pacer(gaps.at_source(), "jobs"));
    let mut sink = Sink::new(run.pacer(gaps.at_sink(), "runs"));
    let mut bench = Bench::new(run, dut);
    for _ in 0..2 {
        bench.reset(&In::default())?;
    }
    let mut due: Vec<Offer> = Vec::new();
    let mut idle = 0;
    for cycle in 0..80_000 {
        let stop = stops && rng.chance(1, 60);
        let inputs = In {
            job: source.offer().copied().filter(|_| !stop),
            ready: sink.ready(),
            stop,
        };
        let still = inputs.job.is_none() && !stop;
        let seen = bench.step_gated(&inputs, |seen| still && !seen.busy, rng.chance(1, 2))?;
        let at = |fault: Fault| fault.at(cycle);
        if let Some(got) = sink.step(seen.run).map_err(|error| at(error.into()))? {
            let rule = if due.is_empty() && stops {
                Rule::Stop
            } else {
                Rule::Runs
            };
            rule.holds(!due.is_empty(), || format!("a run {got:x?} too many"))
                .map_err(at)?;
            check_run(due.first(), got).map_err(at)?;
            due.remove(0);
        }
        if stop {
            due.clear();
            sink.reset();
            source.reset();
        } else if let Some(job) = source.step(seen.ready) {
            due.extend(job.offers());
        }
        idle = if source.is_empty() && due.is_empty() {
            idle + 1
        } else {
            0
        };
        if idle > 20 {
            return Ok(());
        }
    }
    Err(Rule::Hang.broken(format!("{} jobs are left", source.len())))
}

/// One job at a time.
fn rate(run: &Run, (dut, is_whole): &(Dut<In, Out>, bool)) -> Result<(), Fault> {
    let mut rng = run.rng("jobs");
    let mut bench = Bench::new(run, dut);
    bench.reset(&In::default())?;
    for _ in 0..30 {
        let job = job(&mut rng, *is_whole);
        let due = job.offers();
        bench.step(&In {
            job: Some(job),
            ready: true,
            stop: false,
        })?;
        for (number, want) in due.iter().enumerate() {
            for _ in 0..if number == 0 { 2 } else { 1 } {
                bench.step(&In {
                    ready: true,
                    ..In::default()
                })?;
            }
            let seen = bench.step(&In {
                ready: true,
                ..In::default()
            })?;
            Rule::Rate.holds(seen.run.is_some(), || format!("run {number} is late"))?;
            check_run(Some(want), seen.run.unwrap_or_default())?;
        }
    }
    Ok(())
}

fn checks(unit: &(Dut<In, Out>, bool), cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for stops in [false, true] {
            let params = format!("{} {gaps:?} stops {stops}", unit.0.name);
            cases.case(Start::Random1, params, |run| traffic(run, unit, gaps, stops));
        }
    }
    cases.case(Start::Zero, format!("{} rate", unit.0.name), |run| rate(run, unit));
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| {
        checks(&unit::<CppacsRuns>(), cases);
        checks(&unit::<CppacsRunsWhole>(), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The last run is not cut.
            (Runs, &[Bad, Rate, Stop, Hang], &|cases| {
                checks(&unit::<TwinRunsUncut>(), cases)
            }),
            // The step counts from the end of the element.
            (Runs, &[Bad, Rate, Stop], &|cases| {
                checks(&unit::<TwinRunsStep>(), cases)
            }),
            // A sum wraps.
            (Bad, &[Runs, Rate, Stop, Hang], &|cases| {
                checks(&unit::<TwinRunsWraps>(), cases)
            }),
            (Bad, &[Runs, Rate, Stop], &|cases| {
                checks(&unit::<TwinRunsLimit>(), cases)
            }),
            (Rate, &[], &|cases| checks(&unit::<TwinRunsLate>(), cases)),
            (Stop, &[Protocol, Runs, Bad], &|cases| {
                checks(&unit::<TwinRunsStop>(), cases)
            }),
            (Rest, &[], &|cases| checks(&unit::<TwinRunsRest>(), cases)),
            (Path, &[], &|cases| checks(&unit::<TwinRunsPath>(), cases)),
            (Protocol, &[Runs, Bad, Hang, Rate], &|cases| {
                checks(&unit::<TwinRunsOver>(), cases)
            }),
            // A bad run is the last one, but the job goes on.
            (Hang, &[Runs, Bad, Rate, Stop], &|cases| {
                checks(&unit::<TwinRunsGoesOn>(), cases)
            }),
        ],
    );
}
