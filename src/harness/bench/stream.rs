//! Streams of a unit's ports: valid and ready, and what counts while both are high.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use verilated::{Input, Pin, Port, Verilated};

use super::Agent;
use super::names::{NoPort, Way, find, maybe, number};
use crate::Picos;
use crate::stream::{Monitor, Pacer, Sink, Source};

/// What passes a stream in one cycle. A unit without such a port does not see the field, and gives its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    pub data: u64,
    /// A bit for each byte of the data that counts.
    pub keep: u64,
    /// The last of its packet.
    pub last: bool,
    pub id: u64,
    pub dest: u64,
    pub user: u64,
}

impl From<u64> for Beat {
    /// Data alone: all bytes count, and the packet ends with it.
    fn from(data: u64) -> Beat {
        Beat {
            data,
            keep: u64::MAX,
            last: true,
            id: 0,
            dest: 0,
            user: 0,
        }
    }
}

/// The ports of a stream.
struct Pins {
    prefix: String,
    valid: Pin,
    ready: Pin,
    data: Pin,
    keep: Option<Pin>,
    last: Option<Pin>,
    id: Option<Pin>,
    dest: Option<Pin>,
    user: Option<Pin>,
}

impl Pins {
    /// `way`: that of `valid`.
    fn new(unit: &dyn Verilated, prefix: &str, way: Way) -> Result<Pins, NoPort> {
        let optional = |signal| maybe(unit, prefix, signal, way);
        Ok(Pins {
            prefix: prefix.to_owned(),
            valid: find(unit, prefix, "valid", way)?,
            ready: find(unit, prefix, "ready", way.other())?,
            data: number(unit, prefix, "data", way)?,
            keep: optional("keep"),
            last: optional("last"),
            id: optional("id"),
            dest: optional("dest"),
            user: optional("user"),
        })
    }

    /// The beat on offer.
    fn beat(&self) -> Option<Beat> {
        let of = |pin: &Option<Pin>, other| pin.as_ref().map_or(other, Pin::get);
        self.valid.is_set().then(|| Beat {
            data: self.data.get(),
            keep: self.keep.as_ref().map_or(u64::MAX, Pin::get),
            last: of(&self.last, 1) == 1,
            id: of(&self.id, 0),
            dest: of(&self.dest, 0),
            user: of(&self.user, 0),
        })
    }

    /// Offers a beat. Without one the other ports keep what they have: see [`Verilated::junk`].
    fn offer(&self, beat: Option<&Beat>) {
        self.valid.set_bool(beat.is_some());
        let Some(beat) = beat else { return };
        super::set_word(&self.data, beat.data);
        let others = [
            (&self.keep, beat.keep),
            (&self.last, beat.last.into()),
            (&self.id, beat.id),
            (&self.dest, beat.dest),
            (&self.user, beat.user),
        ];
        for (pin, value) in others {
            if let Some(pin) = pin {
                super::set_word(pin, value);
            }
        }
    }
}

struct Sending {
    source: Source<Beat>,
    pushed: u64,
    taken: u64,
}

/// Gives beats to a unit, in order; see [`Bench::source`](super::Bench::source). Clones give to the same ports.
#[derive(Clone)]
pub struct StreamSource {
    state: Rc<RefCell<Sending>>,
}

impl StreamSource {
    pub(super) fn new(unit: &dyn Verilated, prefix: &str) -> Result<(StreamSource, SourceAgent), NoPort> {
        let pins = Pins::new(unit, prefix, Way::Input)?;
        let state = Rc::new(RefCell::new(Sending {
            source: Source::new([], Pacer::steady()),
            pushed: 0,
            taken: 0,
        }));
        let source = StreamSource { state: state.clone() };
        Ok((source, SourceAgent { pins, state }))
    }

    /// Offers from now on with this pace.
    pub fn pace(&self, pacer: Pacer) {
        self.state.borrow_mut().source.set_pace(pacer);
    }

    /// Puts a beat behind those that wait, and goes on.
    pub fn push(&self, beat: impl Into<Beat>) {
        let mut state = self.state.borrow_mut();
        state.source.push(beat.into());
        state.pushed += 1;
    }

    /// Puts a beat behind those that wait, and waits until the unit has taken it.
    pub async fn send(&self, beat: impl Into<Beat>) {
        self.push(beat);
        self.drain().await;
    }

    /// Waits until the unit has taken all that was given so far.
    pub async fn drain(&self) {
        let end = self.state.borrow().pushed;
        poll_fn(|_| match self.state.borrow().taken >= end {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }
}

pub(super) struct SourceAgent {
    pins: Pins,
    state: Rc<RefCell<Sending>>,
}

impl Agent for SourceAgent {
    fn side(&self) -> &str {
        &self.pins.prefix
    }

    fn edge(&mut self, _: Picos) -> Result<(), String> {
        let mut state = self.state.borrow_mut();
        let taken = state.source.step(self.pins.ready.is_set()).is_some();
        state.taken += u64::from(taken);
        Ok(())
    }

    fn reset(&mut self) {
        self.state.borrow_mut().source.reset();
    }

    fn drive(&mut self, in_reset: bool) {
        let mut state = self.state.borrow_mut();
        self.pins.offer(if in_reset { None } else { state.source.offer() });
    }
}

struct Taking {
    sink: Sink<Beat>,
    taken: VecDeque<Beat>,
}

/// Takes beats from a unit; see [`Bench::sink`](super::Bench::sink). Clones take from the same ports.
#[derive(Clone)]
pub struct StreamSink {
    state: Rc<RefCell<Taking>>,
}

impl StreamSink {
    pub(super) fn new(unit: &dyn Verilated, prefix: &str) -> Result<(StreamSink, SinkAgent), NoPort> {
        let pins = Pins::new(unit, prefix, Way::Output)?;
        let state = Rc::new(RefCell::new(Taking {
            sink: Sink::new(Pacer::steady()),
            taken: VecDeque::new(),
        }));
        let sink = StreamSink { state: state.clone() };
        Ok((sink, SinkAgent { pins, state }))
    }

    /// Is ready from now on with this pace.
    pub fn pace(&self, pacer: Pacer) {
        self.state.borrow_mut().sink.set_pace(pacer);
    }

    /// Waits for the next beat.
    pub async fn take(&self) -> Beat {
        poll_fn(|_| match self.state.borrow_mut().taken.pop_front() {
            Some(beat) => Poll::Ready(beat),
            None => Poll::Pending,
        })
        .await
    }

    /// Waits for a whole packet.
    pub async fn packet(&self) -> Vec<Beat> {
        let mut packet = Vec::new();
        loop {
            let beat = self.take().await;
            packet.push(beat);
            if beat.last {
                return packet;
            }
        }
    }

    /// Beats that came and that nobody took.
    pub fn waiting(&self) -> usize {
        self.state.borrow().taken.len()
    }
}

pub(super) struct SinkAgent {
    pins: Pins,
    state: Rc<RefCell<Taking>>,
}

impl Agent for SinkAgent {
    fn side(&self) -> &str {
        &self.pins.prefix
    }

    fn edge(&mut self, _: Picos) -> Result<(), String> {
        let mut state = self.state.borrow_mut();
        let came = state.sink.step(self.pins.beat()).map_err(|error| error.to_string())?;
        state.taken.extend(came);
        Ok(())
    }

    fn reset(&mut self) {
        self.state.borrow_mut().sink.reset();
    }

    fn drive(&mut self, _: bool) {
        self.pins.ready.set_bool(self.state.borrow_mut().sink.ready());
    }
}

/// What passed a stream; see [`Bench::monitor`](super::Bench::monitor).
#[derive(Clone)]
pub struct StreamMonitor {
    passed: Rc<RefCell<Vec<(Picos, Beat)>>>,
}

impl StreamMonitor {
    /// Watches the stream that the unit gives, else the one that it takes.
    pub(super) fn new(unit: &dyn Verilated, prefix: &str) -> Result<(StreamMonitor, MonitorAgent), NoPort> {
        let pins = Pins::new(unit, prefix, Way::Output).or_else(|error| {
            let pins = Pins::new(unit, prefix, Way::Input);
            pins.map_err(|_| error)
        })?;
        let passed = Rc::<RefCell<Vec<_>>>::default();
        let agent = MonitorAgent {
            pins,
            rules: Monitor::default(),
            passed: passed.clone(),
        };
        Ok((StreamMonitor { passed }, agent))
    }

    /// Takes what passed since the last call, each with its instant.
    pub fn passed(&self) -> Vec<(Picos, Beat)> {
        self.passed.take()
    }
}

pub(super) struct MonitorAgent {
    pins: Pins,
    rules: Monitor<Beat>,
    passed: Rc<RefCell<Vec<(Picos, Beat)>>>,
}

impl Agent for MonitorAgent {
    fn side(&self) -> &str {
        &self.pins.prefix
    }

    fn edge(&mut self, now: Picos) -> Result<(), String> {
        let (offered, ready) = (self.pins.beat(), self.pins.ready.is_set());
        self.rules
            .step(offered.as_ref(), ready)
            .map_err(|error| error.to_string())?;
        self.passed
            .borrow_mut()
            .extend(offered.filter(|_| ready).map(|beat| (now, beat)));
        Ok(())
    }

    fn reset(&mut self) {
        self.rules.reset();
    }

    fn drive(&mut self, _: bool) {}
}
