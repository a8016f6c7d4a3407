//! One scenario on one machine: programs run, the far end checks the data, and the run's events give the times.

use std::cell::RefCell;
use std::rc::Rc;

use super::lab::{Measurement, Scatter, Scenario, Way, What};
use super::profile::Profile;
use super::steps;
use crate::dimmnet1::golden::packet::{Place, cut};
use crate::dimmnet1::host::layout::{self, common};
use crate::dimmnet1::host::{Barrier, BootError, CommError, Command, Dimmnet1Sim, How, MASTER, Message, Node};
use crate::dimmnet1::model::ModelMachine;
use crate::dimmnet1::params::Config;
use crate::dimmnet1::regs::{AOTF, SIZE_BOTF, SIZE_PAGE, TYPE_INDIRECT};
use crate::dimmnet1::rtl::{self, NotBuilt};
use crate::harness::backend::{AnyBackend, Backend as _, Event, EventKind};
use crate::harness::exec::SimError;
use crate::harness::wave::Probe;
use crate::machine::poison;
use crate::repro::row::BackendKind;
use crate::repro::{Act, Record};
use crate::{Addr, NodeId, Picos};

pub(super) type Sim = Dimmnet1Sim<AnyBackend>;

pub(super) const FROM: NodeId = NodeId(0);
/// The on-chip processor has left its boot routine by then.
const BOOTED: Picos = Picos::from_ns(5_000);
/// What is measured begins at a multiple of this: there the clocks of the paper's machine stand alike, on both
/// backends.
const ALIKE: Picos = Picos::from_ns(10_000);
/// From one barrier to the next: longer than any takes.
const APART: Picos = Picos::from_ns(300_000);

#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error(transparent)]
    NotBuilt(#[from] NotBuilt),
    #[error(transparent)]
    Boot(#[from] BootError),
    #[error(transparent)]
    Sim(#[from] SimError),
    #[error("a transfer of {bytes} bytes and its source need more than the {room} bytes of user memory: set mem_bytes")]
    TooLong { bytes: u32, room: u32 },
    #[error("{what}: the receiver's data differ from the sender's, first at byte {at}")]
    Corrupt { what: String, at: usize },
}

/// A machine with this configuration; the RTL writes the wave of `probe`.
///
/// # Errors
/// The configuration asks for RTL that was not built.
pub fn machine(backend: BackendKind, config: &Config, probe: &Probe) -> Result<AnyBackend, NotBuilt> {
    match backend {
        BackendKind::Model => Ok(Box::new(ModelMachine::new(config))),
        BackendKind::Rtl => rtl::build(config, probe),
    }
}

/// Runs the scenario.
///
/// # Errors
/// Memory too small for the transfers, a machine that does not boot or hangs, a refused transfer, or received data that
/// differ from the sent ones.
pub fn measure(scenario: &Scenario) -> Result<Measurement, MeasureError> {
    measure_with_wave(scenario, &Probe::default())
}

/// The same; the RTL writes the wave of `probe`.
///
/// # Errors
/// As [`measure`].
pub fn measure_with_wave(scenario: &Scenario, probe: &Probe) -> Result<Measurement, MeasureError> {
    let Scenario { backend, config, what } = scenario;
    if *what == What::Steps {
        return steps::measure(*backend, config);
    }
    let mut sim = Sim::new(machine(*backend, config, probe)?, config)?;
    sim.spawn_all(async |node| node.compute(BOOTED).await);
    finish(&mut sim, 0)?;
    sim.backend_mut().record(true);
    let to = NodeId(config.nodes as u16 - 1);
    let (mut events, mut acts) = (Vec::new(), Vec::new());
    let values = match *what {
        What::PingPong { rounds } => ping_pong(&mut sim, to, rounds)?,
        What::Send { way, bytes, count } => sends(&mut sim, to, (way, bytes, count), &mut acts)?,
        What::Scatter { by, bytes, block } => scatters(&mut sim, to, (by, bytes, block))?,
        What::Pull { bytes, count } => pulls(&mut sim, to, bytes, count)?,
        What::Barrier { barrier, count } => barriers(&mut sim, barrier, count, &mut events)?,
        What::Message { bytes, count } => messages(&mut sim, to, bytes, count)?,
        What::Steps => unreachable!("the steps have machines of their own"),
    };
    events.extend(sim.backend_mut().take_events());
    let served_by = if matches!(what, What::Barrier { .. }) {
        MASTER
    } else {
        to
    };
    let profile = Profile::of(&events, served_by, config);
    Ok(Measurement {
        record: Record::of(acts, &events),
        ..finished(&events, what, to, profile, values)
    })
}

/// The values that come from the run's events, beside those of its programs.
fn finished(
    events: &[Event],
    what: &What,
    to: NodeId,
    profile: Profile,
    mut values: Vec<(&'static str, f64)>,
) -> Measurement {
    let find = |from: Picos, node: NodeId, test: fn(EventKind) -> bool| {
        let found = events.iter().find(|e| e.at >= from && e.node == node && test(e.kind));
        found.map(|e| e.at)
    };
    let is_first = |kind| matches!(kind, EventKind::TxFirst { .. });
    let first = find(Picos::ZERO, FROM, is_first);
    if matches!(what, What::PingPong { .. }) {
        let stored = find(Picos::ZERO, FROM, is_aotf);
        let left = stored.and_then(|at| find(at, FROM, is_first));
        let came = left.and_then(|at| find(at, to, |kind| matches!(kind, EventKind::RxFirst { .. })));
        values.push(("store_to_link", us_between(stored, left)));
        values.push(("hop", us_between(left, came)));
    } else if matches!(
        what,
        What::Barrier {
            barrier: Barrier::Processor | Barrier::ProcessorMulticast,
            ..
        }
    ) {
        values.push(("served", profile.period()));
    }
    Measurement {
        values,
        first_word: first.or_else(|| find(Picos::ZERO, to, is_first)),
        profile,
        ..Measurement::default()
    }
}

fn is_aotf(kind: EventKind) -> bool {
    matches!(kind, EventKind::RegWrite { offset, .. } if offset >= AOTF)
}

/// Microseconds from one instant to a later one; NaN if either is missing.
fn us_between(from: Option<Picos>, to: Option<Picos>) -> f64 {
    let span = from.zip(to).filter(|(from, to)| from <= to);
    span.map_or(f64::NAN, |(from, to)| (to - from).as_us())
}

/// Runs all programs, which move `bytes`, to their end. Below a hundredth of a megabyte a second the machine counts as
/// hung.
///
/// # Errors
/// A program that gave up, or a hang.
pub fn finish(sim: &mut Sim, bytes: u32) -> Result<(), SimError> {
    sim.run(Picos::from_us(100_000.0 + f64::from(bytes) * 100.0))
}

/// Byte `n` of the sent data; neighbours, packets and transfers differ.
pub(super) fn pattern(count: u32, salt: u32) -> Vec<u8> {
    let byte = |n: u32| (n.wrapping_add(salt).wrapping_mul(0x9e37_79b1) >> 21) as u8;
    (0..count).map(byte).collect()
}

/// The next instant at which something may be measured.
fn alike(now: Picos) -> Picos {
    ALIKE * now.0.div_ceil(ALIKE.0)
}

/// Runs a program of a node that measures its own time.
pub(super) fn timed<F>(sim: &mut Sim, node: NodeId, bytes: u32, program: F) -> Result<Picos, SimError>
where
    F: AsyncFnOnce(&Node) -> Result<(), CommError> + 'static,
{
    let span = Rc::new(RefCell::new(Picos::ZERO));
    let taken = span.clone();
    let start = alike(sim.now());
    sim.spawn_checked(node, async move |node| {
        node.host().delay_until(start).await;
        program(&node).await?;
        *taken.borrow_mut() = node.now() - start;
        Ok::<_, CommError>(())
    });
    finish(sim, bytes)?;
    Ok(span.take())
}

/// Where a transfer of `bytes` from address 0 may go.
fn target(node: &Node, bytes: u32) -> Result<Addr, MeasureError> {
    let (at, room) = (bytes.next_multiple_of(SIZE_PAGE), node.memory_end());
    let fits = at.checked_add(bytes).is_some_and(|end| end <= room);
    fits.then_some(Addr(at)).ok_or(MeasureError::TooLong { bytes, room })
}

fn compare(what: &dyn std::fmt::Debug, got: &[u8], sent: &[u8]) -> Result<(), MeasureError> {
    let differs = got.iter().zip(sent).position(|(got, sent)| got != sent);
    let corrupt = |at| MeasureError::Corrupt {
        what: format!("{what:?}"),
        at,
    };
    differs.map_or(Ok(()), |at| Err(corrupt(at)))
}

fn ping_pong(sim: &mut Sim, to: NodeId, rounds: u32) -> Result<Vec<(&'static str, f64)>, MeasureError> {
    const WORD: u32 = common::USER;
    sim.spawn_checked(to, async move |node| {
        for round in 0..u64::from(rounds) {
            node.wait_common(WORD, round).await?;
            node.aotf_write(FROM, WORD + 8, 8, round + 1).await?;
        }
        Ok::<_, CommError>(())
    });
    let spans = Rc::new(RefCell::new(Vec::new()));
    let taken = spans.clone();
    let begin = alike(sim.now());
    sim.spawn_checked(FROM, async move |node| {
        node.host().delay_until(begin).await;
        for round in 0..u64::from(rounds) {
            let start = node.now();
            node.aotf_write(to, WORD, 8, round + 1).await?;
            node.wait_common(WORD + 8, round).await?;
            taken.borrow_mut().push(node.now() - start);
        }
        Ok::<_, CommError>(())
    });
    finish(sim, 8 * rounds)?;
    let round_trip = spans.take().last().map_or(f64::NAN, |span| span.as_us());
    Ok(vec![("round_trip", round_trip), ("one_way", round_trip / 2.0)])
}

/// The message of a way from `from` to node `to`. For an indirect way, pointer 0 of `to` says where.
pub(super) fn message(from: &Node, to: NodeId, way: Way, target: Addr) -> Message {
    let config = from.config();
    let place = match way {
        Way::Botf | Way::Rdma => Place::new(layout::MEMORY, target.0.into()),
        Way::Soft | Way::SoftRdma => from.soft_message(to).place,
        Way::Indirect => Place::new(layout::COMMON, common::POINTERS.into()),
        Way::Region => Place::new(layout::INDIRECT_REGION, 0),
        Way::Page => Place::new(layout::INDIRECT_PAGES, u64::from(common::POINTERS % SIZE_PAGE)),
    };
    let message = match way {
        Way::Soft | Way::SoftRdma => from.soft_message(to),
        Way::Indirect => Message {
            kind: TYPE_INDIRECT,
            ..Message::push(to, place)
        },
        _ => Message::push(to, place),
    };
    match way {
        Way::Rdma | Way::SoftRdma => message.by(How::Rdma),
        _ => message.numbered(config.f_seq),
    }
}

/// What is at a target behind a transfer.
pub(super) fn arrives(way: Way, data: &[u8]) -> Vec<u8> {
    if !way.is_indirect() {
        return data.to_vec();
    }
    // Each packet goes where the pointer says, which stays.
    let mut at_pointer = Vec::new();
    for packet in data.chunks(SIZE_BOTF as usize) {
        let rest = at_pointer.split_off(packet.len().min(at_pointer.len()));
        at_pointer = [packet, &rest].concat();
    }
    at_pointer
}

type Sends = (Way, u32, u32);

/// `acts` gets the last send, if it is of one packet.
fn sends(
    sim: &mut Sim,
    to: NodeId,
    sends: Sends,
    acts: &mut Vec<Act>,
) -> Result<Vec<(&'static str, f64)>, MeasureError> {
    let (way, bytes, count) = sends;
    let (from, receiver) = (sim.node(FROM), sim.node(to));
    let target = target(&receiver, bytes)?;
    let mut span = Picos::ZERO;
    for number in 0..count {
        let data = pattern(bytes, number);
        from.write(Addr(0), &data);
        receiver.write(target, &poison(&data));
        sim.spawn_checked(to, async move |node| match way {
            Way::Soft | Way::SoftRdma => node.post_soft(FROM, target, bytes).await,
            _ => node.set_pointer(0, target).await,
        });
        finish(sim, 0)?;
        let message = message(&from, to, way, target);
        let start = alike(sim.now());
        span = timed(sim, FROM, bytes, async move |node| {
            node.send(&message, Addr(0), bytes).await
        })?;
        let arrives = arrives(way, &data);
        compare(&(way, bytes), &receiver.read(target, arrives.len() as u32), &arrives)?;
        let act = Act {
            node: FROM,
            from: start,
            to: start + span,
            what: "a program sends, and waits for the answer",
        };
        *acts = Vec::from_iter((bytes <= SIZE_BOTF).then_some(act));
    }
    Ok(vec![
        ("send", span.as_us()),
        ("bandwidth", span.rate_mb_s(bytes.into())),
    ])
}

/// Blocks of `block` bytes, each followed by as many that stay.
fn scatters(
    sim: &mut Sim,
    to: NodeId,
    (by, bytes, block): (Scatter, u32, u32),
) -> Result<Vec<(&'static str, f64)>, MeasureError> {
    let (from, receiver, room) = (sim.node(FROM), sim.node(to), 2 * bytes);
    let target = target(&receiver, room)?;
    let data = pattern(bytes, 0);
    let mut image = poison(&pattern(room, 1));
    from.write(Addr(0), &data);
    receiver.write(target, &image);
    for (there, data) in image.chunks_mut(2 * block as usize).zip(data.chunks(block as usize)) {
        there[..data.len()].copy_from_slice(data);
    }
    sim.spawn_checked(to, async move |node| {
        post_blocks(&node, target, bytes / block, block).await
    });
    finish(sim, 0)?;
    let span = timed(sim, FROM, bytes, async move |node| match by {
        Scatter::Chain(how) => {
            let numbered = how == How::Botf && node.config().f_seq;
            let message = node.chain_message(to, 0).by(how).numbered(numbered);
            node.send(&message, Addr(0), bytes).await
        }
        Scatter::Packets => send_blocks(node, to, target, (bytes, block)).await,
    })?;
    compare(&(by, bytes, block), &receiver.read(target, room), &image)?;
    Ok(vec![
        ("send", span.as_us()),
        ("bandwidth", span.rate_mb_s(bytes.into())),
    ])
}

/// Receive commands for so many blocks, from command 0 on.
async fn post_blocks(node: &Node, target: Addr, blocks: u32, block: u32) -> Result<(), CommError> {
    const MOST: u32 = u8::MAX as u32;
    for (number, first) in (0..blocks).step_by(MOST as usize).enumerate() {
        let number = number as u32;
        let command = Command {
            to: target.offset(2 * block * first),
            length: block as u16,
            count: MOST.min(blocks - first) as u8,
            stride: 2 * block,
            next: (first + MOST < blocks).then_some(number + 1),
        };
        node.set_command(number, command).await?;
    }
    Ok(())
}

/// A packet for each block; more of them for one that is longer than a window. They are written in their order, so the
/// answer to the last one tells that all are there.
async fn send_blocks(node: &Node, to: NodeId, target: Addr, (bytes, block): (u32, u32)) -> Result<(), CommError> {
    let pieces = (0..bytes).step_by(block as usize).flat_map(|at| {
        let there = target.offset(2 * at);
        let pieces = cut(block, SIZE_BOTF, &[]);
        pieces.map(move |piece| (Addr(at + piece.at), there.offset(piece.at), piece.bytes))
    });
    let mut pieces = pieces.peekable();
    while let Some((src, there, bytes)) = pieces.next() {
        let place = Place::new(layout::MEMORY, there.0.into());
        if pieces.peek().is_some() {
            node.botf_send(to, place, src, bytes).await?;
        } else {
            let last = Message::push(to, place).numbered(node.config().f_seq);
            node.send(&last, src, bytes).await?;
        }
    }
    Ok(())
}

fn pulls(sim: &mut Sim, to: NodeId, bytes: u32, count: u32) -> Result<Vec<(&'static str, f64)>, MeasureError> {
    let (here, there) = (sim.node(FROM), sim.node(to));
    let target = target(&here, bytes)?;
    let mut span = Picos::ZERO;
    for number in 0..count {
        let data = pattern(bytes, number);
        there.write(Addr(0), &data);
        here.write(target, &poison(&data));
        let place = Place::new(layout::MEMORY, 0);
        span = timed(sim, FROM, bytes, async move |node| {
            node.pull(to, place, target, bytes).await
        })?;
        compare(&("PULL", bytes), &here.read(target, bytes), &data)?;
    }
    Ok(vec![
        ("pull", span.as_us()),
        ("bandwidth", span.rate_mb_s(bytes.into())),
    ])
}

fn barriers(
    sim: &mut Sim,
    barrier: Barrier,
    count: u32,
    events: &mut Vec<Event>,
) -> Result<Vec<(&'static str, f64)>, MeasureError> {
    let (begin, last) = (alike(sim.now()), NodeId(sim.nodes() as u16 - 1));
    let ends = Rc::new(RefCell::new(Vec::new()));
    for at in 0..sim.nodes() as u16 {
        let (node, ends) = (NodeId(at), ends.clone());
        sim.spawn_checked(node, async move |node| {
            for round in 0..count {
                node.host().delay_until(begin + APART * u64::from(round + 1)).await;
                node.barrier(barrier).await?;
                if node.id() == last {
                    ends.borrow_mut().push(node.now());
                }
            }
            Ok::<_, CommError>(())
        });
    }
    finish(sim, 0)?;
    let ends = ends.take();
    *events = sim.backend_mut().take_events();
    let stored = events
        .iter()
        .filter(|e| e.node == last && is_aotf(e.kind))
        .map(|e| e.at);
    let arrivals = stored.filter(|at| *at >= begin + APART).collect::<Vec<_>>();
    let span = |round: usize| {
        let from = arrivals.iter().find(|at| **at >= begin + APART * (round as u64 + 1));
        us_between(from.copied(), ends.get(round).copied())
    };
    let spans: Vec<f64> = (0..count as usize).map(span).collect();
    Ok(vec![
        ("barrier", spans.last().copied().unwrap_or(f64::NAN)),
        ("barrier_worst", crate::repro::greatest(spans.into_iter())),
    ])
}

fn messages(sim: &mut Sim, to: NodeId, bytes: u32, count: u32) -> Result<Vec<(&'static str, f64)>, MeasureError> {
    let from = sim.node(FROM);
    let mut span = Picos::ZERO;
    let room = from.memory_end();
    if bytes > room {
        return Err(MeasureError::TooLong { bytes, room });
    }
    for number in 0..count {
        let data = pattern(bytes, number);
        from.write(Addr(0), &data);
        let start = alike(sim.now());
        let taken = Rc::new(RefCell::new((Picos::ZERO, Vec::new())));
        let at_receiver = taken.clone();
        sim.spawn_checked(FROM, async move |node| {
            node.host().delay_until(start).await;
            node.send_message(to, Addr(0), bytes).await
        });
        sim.spawn_checked(to, async move |node| {
            let data = node.receive(FROM).await?;
            *at_receiver.borrow_mut() = (node.now(), data);
            Ok::<_, CommError>(())
        });
        finish(sim, bytes)?;
        let (at, got) = taken.take();
        span = at - start;
        compare(&("message", bytes), &got, &data)?;
    }
    Ok(vec![
        ("message", span.as_us()),
        ("bandwidth", span.rate_mb_s(bytes.into())),
    ])
}
