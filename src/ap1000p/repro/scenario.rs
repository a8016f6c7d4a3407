//! One operation on a row of cells, from cell 0 to its neighbour, for `tsunagi run` and `tsunagi wave`.

use std::cell::{Cell as Count, RefCell};
use std::rc::Rc;

use super::lab::{MeasureError, Sim, finish, machine, pattern, wrong};
use crate::ap1000p::host::layout::Layout;
use crate::ap1000p::host::{Ap1000pSim, Cell, CommandError, DsmError, Shared};
use crate::ap1000p::params::Config;
use crate::harness::backend::{Event, EventKind};
use crate::harness::wave::Probe;
use crate::repro::lab::Job;
use crate::repro::{Quantity, mb_s, us};
use crate::{Addr, NodeId, Picos};

/// The operation.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// `count` successive PUTs of `bytes`.
    Put { bytes: u32, count: u32 },
    /// `count` successive GETs of `bytes`.
    Get { bytes: u32, count: u32 },
    /// `count` loads of a word, each after the previous one is done.
    Load { count: u32 },
    /// A word by PUT there and back, `rounds` times.
    PingPong { rounds: u32 },
}

impl What {
    /// Bytes of a message, and the number of messages side by side at the end.
    fn volume(&self) -> (u32, u32) {
        match *self {
            What::Put { bytes, count } | What::Get { bytes, count } => (bytes, count),
            What::Load { .. } | What::PingPong { .. } => (4, 1),
        }
    }

    /// Bytes of user memory that the operation needs.
    fn user_bytes(&self) -> u32 {
        let (bytes, count) = self.volume();
        DATA + bytes * count
    }

    /// The least `mem_bytes` for the operation.
    pub fn mem_bytes(&self) -> u32 {
        Layout::mem_bytes_for(self.user_bytes())
    }
}

/// A machine and its operation.
pub type Scenario = Job<Config, What>;

/// The measurable quantities, in the order in which they happen.
const QUANTITIES: [Quantity; 9] = [
    us("request_out", "call to the request's first word on the link"),
    us("request_in", "request on the link to the other cell"),
    us(
        "reply_out",
        "request at the other cell to the reply's first word on the link",
    ),
    us("reply_in", "reply on the link to the requesting cell"),
    us("seen", "last arrival to the waiting program"),
    us("latency", "call to the waiting program, the first time"),
    us("later", "mean of all times without the first, which misses in the TLBs"),
    us("one_way", "one word, one way, mean"),
    mb_s("rate", "throughput from the first call to the last announced byte"),
];

const FROM: NodeId = NodeId(0);
const TO: NodeId = NodeId(1);
/// Addresses, in every cell, of the flags for arrived words and of the data.
const FLAG: Addr = Addr(4);
const DATA: u32 = 0x100;

/// The results of a run.
#[derive(Debug)]
pub struct Measurement {
    /// NaN without a measurement.
    pub values: Vec<(&'static Quantity, f64)>,
    /// The time of the first word on cell 0's link.
    pub first_word: Option<Picos>,
}

/// Runs the scenario; the RTL writes the wave of `probe`.
///
/// # Errors
/// A machine that is not built, does not boot or hangs; one without a neighbour or with too little memory; a fault; or
/// received data that differ from the sent ones.
pub fn measure(scenario: &Scenario, probe: &Probe) -> Result<Measurement, MeasureError> {
    let config = scenario.config.clone();
    let mut backend = machine(scenario.backend, &config, probe)?;
    backend.record(true);
    let mut sim = Ap1000pSim::new(backend, config)?;
    if sim.cells() < 2 {
        return Err(MeasureError::Alone);
    }
    sim.backend_mut().take_events();
    let (bytes, count) = scenario.what.volume();
    let needed = scenario.what.user_bytes();
    let (from, to) = (sim.cell(FROM), sim.cell(TO));
    if needed > to.memory_end() {
        return Err(MeasureError::Memory {
            needed,
            there: to.memory_end(),
        });
    }
    let words: Vec<u32> = (0..bytes / 4).map(|n| pattern(1, DATA + 4 * n)).collect();
    let is_get = matches!(scenario.what, What::Get { .. } | What::Load { .. });
    let (source, dest) = if is_get { (&to, &from) } else { (&from, &to) };
    source.set_words(Addr(DATA), &words);

    let times = Rc::new(Times::default());
    spawn(&mut sim, &scenario.what, &times, &words);
    finish(&mut sim)?;
    let copies = if matches!(scenario.what, What::Load { .. }) {
        0
    } else {
        count
    };
    let bad: u32 = (0..copies).map(|n| wrong(dest, Addr(DATA + n * bytes), &words)).sum();
    if bad + times.wrong.get() > 0 {
        return Err(MeasureError::Corrupt {
            words: bad + times.wrong.get(),
        });
    }
    let events = sim.backend_mut().take_events();
    let leaves = |e: &&Event| e.node == FROM && matches!(e.kind, EventKind::TxFirst { .. });
    Ok(Measurement {
        values: values(&scenario.what, &times, &events),
        first_word: events.iter().find(leaves).map(|e| e.at),
    })
}

/// Starts the programs of both cells; `words` are the data to send.
fn spawn(sim: &mut Sim, what: &What, times: &Rc<Times>, words: &[u32]) {
    let (bytes, count) = what.volume();
    let (is_get, waits) = match what {
        What::Get { .. } => (true, FROM),
        _ => (false, TO),
    };
    match *what {
        What::Put { .. } | What::Get { .. } => {
            let (start, end) = (times.clone(), times.clone());
            sim.spawn_checked(FROM, async move |cell| {
                for n in 0..count {
                    start.called(&cell);
                    let (words, dest) = (bytes / 4, Addr(DATA + n * bytes));
                    if is_get {
                        cell.get(TO, Addr(DATA), words, dest, Some(FLAG), None).await?;
                    } else {
                        cell.put(TO, Addr(DATA), words, dest, Some(FLAG), None).await?;
                    }
                }
                Ok::<_, CommandError>(())
            });
            sim.spawn_checked(waits, async move |cell| {
                for n in 1..=count {
                    cell.wait_flag(FLAG, n).await?;
                    end.seen(&cell);
                }
                Ok::<_, CommandError>(())
            });
        }
        What::Load { count } => {
            let (times, want) = (times.clone(), u64::from(words[0]));
            let at = Shared {
                cell: TO,
                addr: Addr(DATA),
            };
            sim.spawn_checked(FROM, async move |cell| {
                for _ in 0..count {
                    times.called(&cell);
                    let got = cell.load(at, 4).await?;
                    times.seen(&cell);
                    times.wrong.set(times.wrong.get() + u32::from(got != want));
                }
                Ok::<_, DsmError>(())
            });
        }
        What::PingPong { rounds } => {
            let times = times.clone();
            sim.spawn_checked(FROM, async move |cell| {
                for n in 1..=rounds {
                    times.called(&cell);
                    cell.put(TO, Addr(DATA), 1, Addr(DATA), Some(FLAG), None).await?;
                    cell.wait_flag(FLAG, n).await?;
                    times.seen(&cell);
                }
                Ok::<_, CommandError>(())
            });
            sim.spawn_checked(TO, async move |cell| {
                for n in 1..=rounds {
                    cell.wait_flag(FLAG, n).await?;
                    cell.put(FROM, Addr(DATA), 1, Addr(DATA), Some(FLAG), None).await?;
                }
                Ok::<_, CommandError>(())
            });
        }
    }
}

/// The times of the calls, and the times at which programs saw the end of each.
#[derive(Default)]
struct Times {
    calls: RefCell<Vec<Picos>>,
    seen: RefCell<Vec<Picos>>,
    wrong: Count<u32>,
}

impl Times {
    fn called(&self, cell: &Cell) {
        self.calls.borrow_mut().push(cell.now());
    }

    fn seen(&self, cell: &Cell) {
        self.seen.borrow_mut().push(cell.now());
    }
}

fn values(what: &What, times: &Times, events: &[Event]) -> Vec<(&'static Quantity, f64)> {
    let (calls, seen) = (times.calls.borrow(), times.seen.borrow());
    let mut values: Vec<(&str, f64)> = Vec::new();
    let us = |from: Picos, to: Picos| to.saturating_sub(from).as_us();
    // The path of the first request, and of its reply.
    let first = |node: NodeId, after: Picos, wanted: fn(EventKind) -> bool| {
        let found = |e: &&Event| e.node == node && e.at > after && wanted(e.kind);
        events.iter().find(found).map_or(Picos(u64::MAX), |e| e.at)
    };
    let leaves: fn(EventKind) -> bool = |kind| matches!(kind, EventKind::TxFirst { .. });
    let comes: fn(EventKind) -> bool = |kind| matches!(kind, EventKind::RxFirst { .. });
    let mut at = calls[0];
    let mut steps = vec![("request_out", FROM, leaves), ("request_in", TO, comes)];
    if matches!(what, What::Get { .. } | What::Load { .. }) {
        steps.extend([("reply_out", TO, leaves), ("reply_in", FROM, comes)]);
    }
    if !matches!(what, What::PingPong { .. }) {
        for (name, node, wanted) in steps {
            let then = first(node, at, wanted);
            values.push((name, us(at, then)));
            at = then;
        }
        values.extend([("seen", us(at, seen[0])), ("latency", us(calls[0], seen[0]))]);
    }
    let spans: Vec<f64> = calls
        .iter()
        .zip(seen.iter())
        .map(|(call, seen)| us(*call, *seen))
        .collect();
    let mean = |spans: &[f64]| spans.iter().sum::<f64>() / spans.len() as f64;
    match *what {
        What::Put { bytes, count } | What::Get { bytes, count } => {
            let span = seen[seen.len() - 1].saturating_sub(calls[0]);
            values.push(("rate", span.rate_mb_s(u64::from(bytes) * u64::from(count))));
        }
        What::Load { .. } => values.push(("later", mean(&spans[1..]))),
        What::PingPong { .. } => values.push(("one_way", mean(&spans[1..]) / 2.0)),
    }
    let quantity = |name| QUANTITIES.iter().find(|q| q.name == name).expect("one of them");
    values
        .into_iter()
        .map(|(name, value)| (quantity(name), value))
        .collect()
}
