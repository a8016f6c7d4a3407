//! The one experiment: the latency of a word.

use tsunagi::harness::backend::{Backend as _, Event, EventKind};
use tsunagi::harness::exec::Sim;
use tsunagi::harness::wave::Probe;
use tsunagi::machine::{Carrier as _, MachineError, Measured};
use tsunagi::repro::lab::{self, Entry, Subject, entry};
use tsunagi::repro::{Quantity, row::Spec, us};
use tsunagi::{NodeId, Picos};

use crate::machine::{Config, build};
use crate::{YourMachine, host::Transfer};

const LATENCY: Quantity = us("latency", "store at the NIC to interrupt of the other node");

/// A word from node 0 to node 1 of a machine of its own.
pub type Job = lab::Job<Config, u32>;
type Lab<'a> = lab::Lab<'a, YourMachine>;

impl Subject for YourMachine {
    const NAME: &'static str = "yours";
    const EXPERIMENTS: &'static [Entry<Self::Run>] = &[entry("Y1", "our own", "Latency of a word", y1)];

    type Config = Config;
    type Run = fn(&mut Lab<'_>);
    type Job = Job;
    type Measured = Measured;
    type Error = MachineError;

    fn perform(run: Self::Run, lab: &mut Lab<'_>) {
        run(lab);
    }

    fn measure(job: &Job) -> Result<Measured, MachineError> {
        measure(job, &Probe::default())
    }
}

/// Time stamps of events at the ports of the NICs give the latency.
pub(crate) fn measure(job: &Job, probe: &Probe) -> Result<Measured, MachineError> {
    let (mut sim, nodes) = (Sim::new(build(job.backend, &job.config, probe)), [NodeId(0), NodeId(1)]);
    sim.backend_mut().record(true);
    let (mut transfer, word) = (Transfer { sim, nodes }, job.what.to_le_bytes());
    if transfer.carry(&word)? != word {
        return Err(MachineError::failure("another word arrived"));
    }
    let events = transfer.sim.backend_mut().take_events();
    let first = |is: fn(&&Event) -> bool| events.iter().find(is).map(|event| event.at);
    let stored = first(|event| matches!(event.kind, EventKind::RegWrite { .. }));
    let interrupt = first(|event| event.kind == EventKind::Irq { level: true });
    let latency = |(from, to): (Picos, Picos)| (to - from).as_us();
    Ok(Measured {
        done: format!("{:#x} from node 0 to node 1", job.what),
        values: vec![(&LATENCY, stored.zip(interrupt).map_or(f64::NAN, latency))],
        first_word: first(|event| matches!(event.kind, EventKind::TxFirst { .. })),
        ..Measured::default()
    })
}

/// No paper states the latency, so the row has a formula of ours and no `.paper(value)`.
fn y1(lab: &mut Lab<'_>) {
    let (backend, config, what) = (lab.backend(), lab.config().clone(), 1);
    let expected = config.period.as_us();
    for (of, ours) in lab.ask(Job { backend, config, what }).values {
        let spec = Spec::new("y1.latency", of.what, of.unit).depends(&["period"]);
        lab.row(spec.near(expected, 0.01, "1 cycle of the link"), ours);
    }
}
