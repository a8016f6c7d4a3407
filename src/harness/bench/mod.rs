//! Async testbenches for any verilated unit: drivers and monitors that find a unit's ports by name, and tasks that wait
//! for simulated time.
//!
//! A task is an `async` block. It runs just behind a rising edge, and sees the outputs that the edge made. What it
//! gives to a driver is on the ports before the next edge. All runs in one thread and in a fixed order: what is driven
//! first is asked first, so the same bench on the same seed gives the same run.

mod axi;
mod names;
mod pins;
mod stream;

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::path::Path;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use verilated::{Clocks, Input, Verilated, Wave};

pub use axi::{AxiBus, AxiError, AxiRam};
pub use names::NoPort;
pub use pins::{
    burst, read_beat, set_burst, set_read_beat, set_word, set_write_beat, set_write_end, write_beat, write_end,
};
pub use stream::{Beat, StreamMonitor, StreamSink, StreamSource};

use crate::{Cycle, Picos};

/// Why a bench could not be built, or its run ended early.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error(transparent)]
    NoPort(#[from] NoPort),
    /// A monitor or a driver saw what no protocol allows.
    #[error("{side} at {at}: {what}")]
    Broken {
        /// The ports' common prefix.
        side: String,
        at: Picos,
        what: String,
    },
    /// An assertion of the RTL.
    #[error(transparent)]
    Rtl(#[from] verilated::Failure),
    #[error("the bench is not done after {limit}: a task waits for what does not come (`Bench::limit` allows more)")]
    Late { limit: Picos },
    #[error("a bench needs a clock: call `Bench::clock` before `run`")]
    NoClock,
    #[error("{}: {source}", path.display())]
    Wave {
        path: std::path::PathBuf,
        source: std::io::Error,
    },
}

/// A clock of a [`Bench`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchClock(usize);

/// The level at which a reset is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Active {
    High,
    Low,
}

/// What drives or watches some ports of a unit, cycle by cycle of one clock.
pub trait Agent {
    /// The common prefix of its ports, for messages.
    fn side(&self) -> &str;

    /// A rising edge, with all ports as they are before it.
    ///
    /// # Errors
    /// What the ports show is not allowed.
    fn edge(&mut self, now: Picos) -> Result<(), String>;

    /// A rising edge in reset.
    fn reset(&mut self);

    /// Sets the inputs of the cycle that begins; nothing is valid in reset.
    fn drive(&mut self, in_reset: bool);
}

struct Domain {
    pin: verilated::Pin,
    clock: verilated::Clock,
    edges: u64,
    in_reset: bool,
    agents: Vec<Box<dyn Agent>>,
}

type Task<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A unit with its clocks, drivers, monitors and tasks.
pub struct Bench<'a> {
    unit: &'a dyn Verilated,
    clocks: RefCell<Clocks>,
    domains: RefCell<Vec<Domain>>,
    tasks: RefCell<Vec<Task<'a>>>,
    wave: RefCell<Option<Wave>>,
    limit: Cell<Picos>,
}

impl<'a> Bench<'a> {
    /// A bench of an instance, which has its inputs as they were set.
    pub fn new(unit: &'a dyn Verilated) -> Bench<'a> {
        Bench {
            unit,
            clocks: RefCell::default(),
            domains: RefCell::default(),
            tasks: RefCell::default(),
            wave: RefCell::default(),
            limit: Cell::new(Picos::from_us(1000.0)),
        }
    }

    /// A clock on this input. It is low at first, and rises after a period.
    ///
    /// # Errors
    /// The unit has no such input.
    pub fn clock(&self, port: &str, period: Picos) -> Result<BenchClock, BenchError> {
        let pin = names::input(self.unit, port)?;
        let mut domains = self.domains.borrow_mut();
        domains.push(Domain {
            pin,
            clock: self.clocks.borrow_mut().add(period.0, 0),
            edges: 0,
            in_reset: false,
            agents: Vec::new(),
        });
        Ok(BenchClock(domains.len() - 1))
    }

    /// A wave of all that follows. The end of the name gives the format: `.fst`, else VCD.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn wave(&self, path: impl AsRef<Path>) -> Result<(), BenchError> {
        let path = path.as_ref();
        let wave = Wave::create(path, &[self.unit]);
        let path = path.to_path_buf();
        *self.wave.borrow_mut() = Some(wave.map_err(|source| BenchError::Wave { path, source })?);
        Ok(())
    }

    /// The simulated time after which a run has failed; by default 1 ms.
    pub fn limit(&self, limit: Picos) {
        self.limit.set(limit);
    }

    /// Adds a driver or monitor of one's own.
    pub fn add(&self, clock: BenchClock, agent: impl Agent + 'static) {
        let mut agent = Box::new(agent);
        agent.drive(false);
        self.domains.borrow_mut()[clock.0].agents.push(agent);
    }

    /// A driver of the stream that the unit takes on the ports of this prefix, as `in_valid_i`, `in_ready_o` and
    /// `in_data_i`, or of an AXI4-Stream, as `s_axis_tvalid`.
    ///
    /// # Errors
    /// The unit has no such ports, or data of more than 64 bits.
    pub fn source(&self, clock: BenchClock, prefix: &str) -> Result<StreamSource, BenchError> {
        let (source, agent) = StreamSource::new(self.unit, prefix)?;
        self.add(clock, agent);
        Ok(source)
    }

    /// A receiver of the stream that the unit gives on the ports of this prefix; it watches the stream's rules, too.
    ///
    /// # Errors
    /// As of [`source`](Bench::source).
    pub fn sink(&self, clock: BenchClock, prefix: &str) -> Result<StreamSink, BenchError> {
        let (sink, agent) = StreamSink::new(self.unit, prefix)?;
        self.add(clock, agent);
        Ok(sink)
    }

    /// A monitor of a stream that others drive: it watches the rules, and keeps what passes.
    ///
    /// # Errors
    /// As of [`source`](Bench::source).
    pub fn monitor(&self, clock: BenchClock, prefix: &str) -> Result<StreamMonitor, BenchError> {
        let (monitor, agent) = StreamMonitor::new(self.unit, prefix)?;
        self.add(clock, agent);
        Ok(monitor)
    }

    /// A master of the unit's AXI4 or AXI4-Lite slave on the ports of this prefix, as `s_axi`: those of AXI4 have
    /// `s_axi_awlen`. All rules of the protocol are watched on both sides.
    ///
    /// # Errors
    /// The unit has no such ports, or data of more than 64 bits.
    pub fn axi_master(&self, clock: BenchClock, prefix: &str) -> Result<AxiBus, BenchError> {
        let (bus, agent) = AxiBus::new(self.unit, prefix)?;
        self.add(clock, agent);
        Ok(bus)
    }

    /// A memory of so many bytes, from address 0, behind the unit's AXI4 master on the ports of this prefix, as
    /// `m_axi`. All rules of the protocol are watched on both sides.
    ///
    /// # Errors
    /// As of [`axi_master`](Bench::axi_master).
    pub fn axi_ram(&self, clock: BenchClock, prefix: &str, bytes: usize) -> Result<AxiRam, BenchError> {
        let (ram, agent) = AxiRam::new(self.unit, prefix, bytes)?;
        self.add(clock, agent);
        Ok(ram)
    }

    /// Simulated time.
    pub fn now(&self) -> Picos {
        Picos(self.unit.context().time())
    }

    /// Rising edges of a clock so far.
    pub fn cycle(&self, clock: BenchClock) -> Cycle {
        Cycle(self.domains.borrow()[clock.0].edges)
    }

    /// Waits for rising edges of a clock.
    pub async fn cycles(&self, clock: BenchClock, count: Cycle) {
        let end = self.cycle(clock).0 + count.0;
        self.until(|| self.cycle(clock).0 >= end).await;
    }

    /// Waits until a condition holds behind a rising edge of any clock.
    pub async fn until(&self, mut met: impl FnMut() -> bool) {
        poll_fn(|_| if met() { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// Holds a reset for so many cycles of a clock; its drivers and monitors forget what was under way.
    ///
    /// # Panics
    /// The unit has no such input.
    pub async fn reset(&self, clock: BenchClock, port: &str, active: Active, count: Cycle) {
        let pin = names::input(self.unit, port).unwrap_or_else(|error| panic!("{error}"));
        let set = |on: bool| {
            pin.set_bool(on == (active == Active::High));
            self.domains.borrow_mut()[clock.0].in_reset = on;
        };
        set(true);
        self.cycles(clock, count).await;
        set(false);
    }

    /// Starts a task beside the others. Nobody waits for its end: the run ends with its main task.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'a) {
        self.tasks.borrow_mut().push(Box::pin(task));
    }

    /// Runs until the main task is done, and gives what it gives. Can be called again: time goes on.
    ///
    /// # Errors
    /// What ended it early. The wave is written, too.
    pub fn run<T>(&self, main: impl Future<Output = T>) -> Result<T, BenchError> {
        let mut main = pin!(main);
        let mut waker = Context::from_waker(Waker::noop());
        let end = self.now() + self.limit.get();
        loop {
            if let Poll::Ready(value) = main.as_mut().poll(&mut waker) {
                self.dump();
                return Ok(value);
            }
            let mut tasks = self.tasks.take();
            tasks.retain_mut(|task| task.as_mut().poll(&mut waker).is_pending());
            // Those that were started meanwhile come behind.
            let started = self.tasks.replace(tasks);
            self.tasks.borrow_mut().extend(started);
            if self.now() > end {
                return Err(BenchError::Late {
                    limit: self.limit.get(),
                });
            }
            self.next_edge()?;
        }
    }

    /// Goes on behind the next instant with a rising edge.
    fn next_edge(&self) -> Result<(), BenchError> {
        let (mut domains, mut clocks) = (self.domains.borrow_mut(), self.clocks.borrow_mut());
        for Domain { agents, in_reset, .. } in domains.iter_mut() {
            agents.iter_mut().for_each(|agent| agent.drive(*in_reset));
        }
        self.eval()?;
        self.dump();
        clocks.next_at().ok_or(BenchError::NoClock)?;
        loop {
            let edges = clocks.step(self.unit.context());
            let mut rises = false;
            for domain in domains.iter_mut() {
                if !edges.rises(domain.clock) {
                    continue;
                }
                rises = true;
                domain.edges += 1;
                for agent in &mut domain.agents {
                    if domain.in_reset {
                        agent.reset();
                        continue;
                    }
                    let at = Picos(edges.at);
                    if let Err(what) = agent.edge(at) {
                        let side = agent.side().to_owned();
                        return Err(BenchError::Broken { side, at, what });
                    }
                }
            }
            for domain in domains.iter() {
                if edges.rises(domain.clock) || edges.falls(domain.clock) {
                    domain.pin.set_bool(edges.rises(domain.clock));
                }
            }
            self.eval()?;
            if rises {
                // The wave shows what follows at the same instant.
                return Ok(());
            }
            self.dump();
        }
    }

    fn dump(&self) {
        if let Some(wave) = &mut *self.wave.borrow_mut() {
            wave.dump();
        }
    }

    fn eval(&self) -> Result<(), verilated::Failure> {
        self.unit.junk();
        self.unit.try_eval()
    }
}
