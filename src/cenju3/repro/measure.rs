//! One scenario on one machine: host programs run, the far end checks the data, and the run's events give the times.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use thiserror::Error;

use super::lab::{AtEnd, Measurement, Scenario, What};
use crate::cenju3::host::layout::Layout;
use crate::cenju3::host::{
    BootError, Cenju3Sim, Fault, FaultKind, Kind, Parcel, Pe, Priority, RmwriteError, SendError, Stage, Stamp,
};
use crate::cenju3::model::ModelMachine;
use crate::cenju3::params::Config;
use crate::cenju3::regs;
use crate::cenju3::rtl::{self, NotBuilt};
use crate::harness::backend::AnyBackend;
use crate::harness::backend::{Event, EventKind};
use crate::harness::exec::{Sample, SimError};
use crate::harness::memory::Memory;
use crate::harness::wave::Probe;
use crate::repro::row::BackendKind;
use crate::repro::{Act, Record};
use crate::{Addr, NodeId, Picos};

type Sim = Cenju3Sim<AnyBackend>;

const FROM: NodeId = NodeId(0);
const TO: NodeId = NodeId(1);
/// After this time, responses and interrupts that were under way with the last byte are over.
const TAIL: Picos = Picos::from_ns(60_000);
/// A bare message that has raised no interrupt by then never will.
const MESSAGE_BOUND: Picos = Picos::from_ns(100_000_000);
/// After this time, a Receiver without a CPU has stored all that the Sender has sent.
const SINK_TAIL: Picos = Picos::from_ns(10_000_000);
/// For transfers up to this size, the report shows the last two.
const RECORDED_BYTES: u32 = 8192;

#[derive(Debug, Error)]
pub enum MeasureError {
    #[error(transparent)]
    NotBuilt(#[from] NotBuilt),
    #[error(transparent)]
    Boot(#[from] BootError),
    #[error(transparent)]
    Sim(#[from] SimError),
    #[error(transparent)]
    Fault(#[from] Fault),
    #[error("mem_bytes = {bytes} B is too little: the transfers and the kernel need {needed} B")]
    MemoryTooSmall { bytes: u32, needed: u32 },
    #[error("{what}: PE 1's data differ from the data that PE 0 sent, first at byte {at}")]
    Corrupt { what: String, at: Addr },
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
/// Memory too small for the transfers, a machine that does not boot or hangs, a refused transfer, an interrupting
/// fault, or received data that differ from the sent ones.
pub fn measure(scenario: &Scenario) -> Result<Measurement, MeasureError> {
    measure_with_wave(scenario, &Probe::default())
}

/// The same; the RTL writes the wave of `probe`.
///
/// # Errors
/// As [`measure`].
pub fn measure_with_wave(scenario: &Scenario, probe: &Probe) -> Result<Measurement, MeasureError> {
    let mut config = scenario.config.clone();
    if let What::Stream { at_end, .. } = scenario.what {
        config.pipelined = at_end != AtEnd::InvalidateStopped;
    }
    let machine = machine(scenario.backend, &config, probe)?;
    match scenario.what {
        What::OneWord => one_word(&mut boot(machine, config, true)?),
        What::Line => one_line(&mut boot(machine, config, true)?),
        What::Parcel => parcel(&mut boot(machine, config, true)?),
        What::Fill => fill(&mut boot(machine, config, true)?),
        What::PingPong { rounds } => ping_pong(&mut boot(machine, config, true)?, rounds),
        What::Rmwrite { bytes, calls, receiver } => {
            let mut sim = boot(machine, config, receiver)?;
            let send = async move |pe: Pe| {
                for call in 0..calls {
                    pe.rmwrite(Addr(0), TO, Addr(call * bytes), bytes).await?;
                }
                if !receiver {
                    // Nobody copies the data of messages, so the last byte may never arrive.
                    pe.sent(Priority::Normal).await;
                    pe.host().delay(SINK_TAIL).await;
                }
                Ok::<_, RmwriteError>(())
            };
            transfers(&mut sim, &scenario.what, bytes, calls, send)
        }
        What::Stream {
            bytes,
            transfers: count,
            at_end,
        } => {
            let whole = bytes.min(config.parcel_max);
            let piece = if at_end == AtEnd::InvalidatePieces {
                whole.min(config.piece_bytes)
            } else {
                whole
            };
            let mut sim = boot(machine, config, at_end != AtEnd::Nothing)?;
            let parcels = (0..count).flat_map(move |n| Parcel::dma(TO, Addr(0), Addr(n * bytes), bytes).cut(piece));
            transfers(&mut sim, &scenario.what, bytes, count, async move |pe: Pe| {
                queue_all(&pe, parcels.collect()).await
            })
        }
    }
}

/// A machine with events and stamps on. PE 0's user memory holds the data to send, PE 1's holds other bytes.
fn boot(machine: AnyBackend, config: Config, receiver: bool) -> Result<Sim, BootError> {
    let sinks: &[NodeId] = if receiver { &[] } else { &[TO] };
    let mut sim = Cenju3Sim::with_sinks(machine, config, sinks)?;
    sim.trace(true);
    sim.backend_mut().record(true);
    Ok(sim)
}

/// Byte `n` of the sent data; neighbours, packets and transfers differ.
fn pattern(n: u32) -> u8 {
    (n.wrapping_mul(0x9e37_79b1) >> 21) as u8
}

/// Runs all programs, which move `bytes`, to their end. Below a hundredth of a megabyte a second the machine counts as
/// hung.
///
/// # Errors
/// A program that gave up, a hang, or an interrupting fault that lost something.
pub fn finish(sim: &mut Cenju3Sim<AnyBackend>, bytes: u32) -> Result<(), MeasureError> {
    sim.run(Picos::from_us(100_000.0 + f64::from(bytes) * 100.0))?;
    let lost = sim.take_faults().into_iter().find(|f| f.kind != FaultKind::Overflow);
    lost.map_or(Ok(()), |fault| Err(fault.into()))
}

/// Keeps the Sender's queue from running empty.
async fn queue_all(pe: &Pe, parcels: Vec<Parcel>) -> Result<(), SendError> {
    for some in parcels.chunks(pe.config().queue_headers.min(32) as usize) {
        loop {
            match pe.send_parcels(Priority::Normal, some).await {
                Err(SendError::QueueFull { .. }) => pe.host().delay(Picos::from_us(20.0)).await,
                other => break other?,
            }
        }
    }
    Ok(())
}

/// Runs `send` on PE 0 until `count` transfers of `bytes` lie one after the other in PE 1's memory.
fn transfers<E: std::error::Error + Send + Sync + 'static>(
    sim: &mut Sim,
    what: &What,
    bytes: u32,
    count: u32,
    send: impl AsyncFnOnce(Pe) -> Result<(), E> + 'static,
) -> Result<Measurement, MeasureError> {
    let (source, total) = ((0..bytes).map(pattern).collect::<Vec<u8>>(), bytes * count);
    let (from, to) = (sim.pe(FROM), sim.pe(TO));
    if total > to.memory_end() {
        return Err(MeasureError::MemoryTooSmall {
            bytes: to.config().mem_bytes,
            needed: Layout::mem_bytes_for(total),
        });
    }
    let poison: Vec<u8> = source.iter().map(|b| !b).collect();
    from.write(Addr(0), &source);
    (0..count).for_each(|n| to.write(Addr(n * bytes), &poison));

    let recorded = count > 1 && bytes <= RECORDED_BYTES;
    if recorded {
        sim.sample_each(Picos::from_ns(500));
    }
    sim.spawn_checked(FROM, async move |pe| send(pe).await);
    let copied = !matches!(what, What::Rmwrite { receiver: false, .. });
    let copies = Rc::new(RefCell::new(Vec::new()));
    if copied {
        let (last, copies) = (source[source.len() - 1], copies.clone());
        sim.spawn(TO, async move |pe| {
            for n in 1..=count {
                let there = move |m: &Memory| m.read(Addr(n * bytes - 1), 1) == Some(&[last][..]);
                pe.host().watch("the last byte", there).await;
                copies.borrow_mut().push(pe.host().now());
            }
            pe.host().delay(TAIL).await;
        });
    }
    finish(sim, total)?;
    for n in 0..count {
        let got = to.read(Addr(n * bytes), bytes);
        let wrong = |n: usize| got[n] != source[n] && (copied || got[n] != poison[n]);
        if let Some(at) = (0..source.len()).find(|n| wrong(*n)) {
            return Err(MeasureError::Corrupt {
                what: format!("{what:?}"),
                at: Addr(n * bytes + at as u32),
            });
        }
    }
    let events = sim.backend_mut().take_events();
    let mut stored = stored(&events, to.memory_end(), what, bytes, count);
    if stored.ends.len() < stored.units as usize && copied {
        // The rest came by message; the kernel copied it.
        stored = Stored {
            unit: bytes,
            units: count,
            ends: copies.take(),
        };
    }
    let record = match stored.ends.as_slice() {
        [.., from, _, to] if recorded => record(&events, &sim.take_samples(), *from, *to),
        _ => Record::default(),
    };
    Ok(Measurement {
        values: rates(&events, &stored, total, to.config().net_period),
        first_flit: first_flit(&events),
        record,
    })
}

/// The parts that a run stored.
struct Stored {
    /// Bytes of a part, and the number of parts.
    unit: u32,
    units: u32,
    /// When each part was complete in PE 1's user memory.
    ends: Vec<Picos>,
}

/// Measures `count` transfers of `bytes` one by one; a single transfer by the hardware alone, packet by packet.
fn stored(events: &[Event], user_end: u32, what: &What, bytes: u32, count: u32) -> Stored {
    let alone = matches!(
        what,
        What::Stream {
            transfers: 1,
            at_end: AtEnd::Nothing,
            ..
        }
    );
    let (unit, units) = if alone {
        (bytes.min(512), bytes.div_ceil(512))
    } else {
        (bytes, count)
    };
    let total = u64::from(bytes) * u64::from(count);
    let (mut so_far, mut ends) = (0u64, Vec::new());
    for e in events.iter().filter(|e| e.node == TO) {
        if let EventKind::MemWritten { addr, bytes } = e.kind
            && addr.0 < user_end
        {
            so_far += u64::from(bytes);
            // The last packet of a transfer may be shorter.
            let end_of_next = |ends: &Vec<Picos>| (u64::from(unit) * (ends.len() as u64 + 1)).min(total);
            while ends.len() < units as usize && so_far >= end_of_next(&ends) {
                ends.push(e.at);
            }
        }
    }
    Stored { unit, units, ends }
}

/// Rates of a run. A run that was not stored to its end has none; a single part has no steady state.
fn rates(events: &[Event], stored: &Stored, total: u32, period: Picos) -> Vec<(&'static str, f64)> {
    let (mut steady, mut transfer) = (f64::NAN, f64::NAN);
    let start = events
        .iter()
        .find(|e| e.node == FROM && is_pointer_write(e.kind))
        .map(|e| e.at);
    if let (Some(start), Some(&last)) = (start, stored.ends.last())
        && stored.ends.len() == stored.units as usize
    {
        let warm = (stored.ends.len() / 2).max(1);
        if stored.ends.len() > warm {
            let bytes = u64::from(total) - u64::from(stored.unit) * warm as u64;
            let span = last.saturating_sub(stored.ends[warm - 1]);
            steady = span.rate_mb_s(bytes);
        }
        let span = last.saturating_sub(start);
        transfer = span.rate_mb_s(total.into());
    }
    vec![
        ("steady_rate", steady),
        ("transfer_rate", transfer),
        ("link_rate", link_rate(events, period)),
    ]
}

/// Bytes of all flits on PE 0's link, over the time from the first packet's head to the last one's; the first third is
/// left out. A single packet counts to the end of its last flit.
fn link_rate(events: &[Event], period: Picos) -> f64 {
    let packets = |test: fn(EventKind) -> Option<u32>| {
        events
            .iter()
            .filter(|e| e.node == FROM)
            .filter_map(move |e| Some((e.at, test(e.kind)?)))
            .collect::<Vec<_>>()
    };
    let heads = packets(|k| matches!(k, EventKind::TxFirst { .. }).then_some(0));
    let tails = packets(|k| {
        if let EventKind::TxLast { flits } = k {
            Some(flits)
        } else {
            None
        }
    });
    if let ([head], [tail]) = (heads.as_slice(), tails.as_slice()) {
        let span = tail.0.saturating_sub(head.0) + period;
        return span.rate_mb_s(u64::from(tail.1) * 2);
    }
    let warm = heads.len() / 3;
    let (Some(first), Some(last)) = (heads.get(warm), heads.last()) else {
        return f64::NAN;
    };
    let flits: u32 = tails[warm..heads.len() - 1].iter().map(|t| t.1).sum();
    last.0.saturating_sub(first.0).rate_mb_s(u64::from(flits) * 2)
}

fn first_flit(events: &[Event]) -> Option<Picos> {
    let leaves = |e: &&Event| e.node == FROM && matches!(e.kind, EventKind::TxFirst { .. });
    events.iter().find(leaves).map(|e| e.at)
}

fn is_pointer_write(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::RegWrite {
            offset: regs::SQ0_PUT | regs::SQ1_PUT,
            ..
        }
    )
}

/// The record from one instant to another.
fn record(events: &[Event], samples: &[Sample], from: Picos, to: Picos) -> Record {
    let within = |at: Picos| from <= at && at <= to;
    let level = |s: &Sample| (s.at.max(from), s.levels[TO.index()]);
    let before = samples.iter().rfind(|s| s.at < from);
    let fifo = before.into_iter().chain(samples.iter().filter(|s| within(s.at)));
    Record {
        events: events.iter().filter(|e| within(e.at)).copied().collect(),
        fifo: fifo.map(level).collect(),
        ..Record::default()
    }
}

/// E2: a word as a bare message.
fn one_word(sim: &mut Sim) -> Result<Measurement, MeasureError> {
    sim.sample_each(Picos::from_ns(100));
    sim.spawn_checked(FROM, async |pe| {
        pe.write(Addr(0), b"word");
        pe.send_parcels(Priority::Normal, &[Parcel::message(Kind::System, TO, Addr(0), 4)])
            .await
    });
    let recognised = |s: &Stamp| s.node == TO && s.stage == Stage::Recognised;
    let mut stamps = Vec::new();
    while !stamps.iter().any(recognised) && sim.now() < MESSAGE_BOUND {
        sim.spawn(TO, async |pe| pe.host().delay(TAIL).await);
        finish(sim, 4)?;
        stamps.extend(sim.take_stamps());
    }
    let events = sim.backend_mut().take_events();
    let config = sim.pe(FROM).config().clone();
    Ok(hardware_steps(&events, &stamps, &sim.take_samples(), &config))
}

/// Microseconds from one instant to a later one; NaN if either is missing.
fn us_between(from: Option<Picos>, to: Option<Picos>) -> f64 {
    let span = from.zip(to).filter(|(from, to)| from <= to);
    span.map_or(f64::NAN, |(from, to)| (to - from).as_us())
}

/// The steps of one packet, from the time stamps of its events. A missing step gives NaN.
fn hardware_steps(events: &[Event], stamps: &[Stamp], samples: &[Sample], config: &Config) -> Measurement {
    let at = |node: NodeId, test: &dyn Fn(EventKind) -> bool| {
        let found = events.iter().find(|e| e.node == node && test(e.kind));
        found.map(|e| e.at)
    };
    let stamp = |node: NodeId, test: &dyn Fn(Stage) -> bool| {
        let found = stamps.iter().find(|s| s.node == node && test(s.stage));
        found.map(|s| s.at)
    };
    // The CPU's access begins this long before the kernel continues.
    let started = stamp(FROM, &|s| matches!(s, Stage::Started { .. }));
    let begin = started.map(|at| at.saturating_sub(config.ext_access));
    let pointer = at(FROM, &is_pointer_write);
    // The Sender reads the header from the queue first, then the body from address 0. Each item ends where the next
    // begins: at the command or flit that the read data lead to.
    let header = at(
        FROM,
        &|k| matches!(k, EventKind::MemRead { addr, .. } if addr != Addr(0)),
    );
    let body = at(FROM, &|k| matches!(k, EventKind::MemRead { addr: Addr(0), .. }));
    let out = at(FROM, &|k| matches!(k, EventKind::TxFirst { .. }));
    let into = at(TO, &|k| matches!(k, EventKind::RxFirst { .. }));
    let received = at(TO, &|k| matches!(k, EventKind::RxLast { .. }));
    let written = at(TO, &|k| matches!(k, EventKind::MemWritten { .. }));
    let recognised = stamp(TO, &|s| s == Stage::Recognised);
    let sync_share = f64::from(config.sync_cycles) / f64::from(config.stage_cycles());
    let values = vec![
        ("pointer_write", us_between(begin, pointer)),
        ("header_read", us_between(header, body)),
        ("body_read", us_between(body, out)),
        ("sync", us_between(out, into) * sync_share),
        ("switch", us_between(out, into) * (1.0 - sync_share)),
        ("header_write", us_between(received, written)),
        ("total", us_between(begin, written)),
        ("irq", us_between(written, recognised)),
        ("recognised", us_between(begin, recognised)),
    ];
    // The packet's path begins with the CPU's access, and ends with the interrupt in the other kernel.
    let act = |node, from, to, what| Act { node, from, to, what };
    let record = begin
        .zip(started)
        .zip(recognised)
        .map(|((begin, started), recognised)| Record {
            acts: vec![
                act(FROM, begin, started, "writes the queue's pointer"),
                act(TO, recognised, recognised, "the kernel has the interrupt"),
            ],
            ..record(events, samples, begin, recognised)
        });
    Measurement {
        values,
        first_flit: out,
        record: record.unwrap_or_default(),
    }
}

/// E11: a line from a user program to one that polls for it, by a DMA that interrupts nobody.
fn one_line(sim: &mut Sim) -> Result<Measurement, MeasureError> {
    const LINE: u32 = regs::ALIGN_BYTES;
    let (source, seen) = ((1..=LINE as u8).collect::<Vec<u8>>(), Rc::new(Cell::new(None)));
    let called = sim.now();
    sim.pe(FROM).write(Addr(0), &source);
    sim.spawn_checked(FROM, async |pe| {
        pe.compute(pe.config().kernel_send).await;
        let line = Parcel {
            end: false,
            ..Parcel::dma(TO, Addr(0), Addr(0), LINE)
        };
        pe.send_parcels(Priority::Normal, &[line]).await
    });
    let end = seen.clone();
    sim.spawn(TO, async move |pe| {
        let there = move |m: &Memory| m.read(Addr(0), LINE as usize) == Some(&source[..]);
        pe.host().watch("the line", there).await;
        end.set(Some(pe.now()));
    });
    finish(sim, LINE)?;
    Ok(Measurement {
        values: vec![("one_way", us_between(Some(called), seen.get()))],
        ..Measurement::default()
    })
}

/// E1: the packets and the interrupts of parcels.
fn parcel(sim: &mut Sim) -> Result<Measurement, MeasureError> {
    /// Longer than the kernel needs for the first interrupt.
    const APART: Picos = Picos::from_ns(1_000_000);
    let most = sim.pe(FROM).config().parcel_max;
    let packet = most.min(512);
    let (user_end, second) = (sim.pe(TO).memory_end(), Rc::new(Cell::new(Picos::ZERO)));
    if packet + most > user_end {
        return Err(MeasureError::MemoryTooSmall {
            bytes: sim.pe(TO).config().mem_bytes,
            needed: Layout::mem_bytes_for(packet + most),
        });
    }
    let (start, last) = (second.clone(), most - 1);
    sim.pe(FROM).write(Addr(last), &[1]);
    sim.pe(TO).write(Addr(packet + last), &[0]);
    sim.spawn(TO, async move |pe| {
        let there = move |m: &Memory| m.read(Addr(packet + last), 1) == Some(&[1][..]);
        pe.host().watch("the last byte", there).await;
        pe.host().delay(TAIL).await;
    });
    sim.spawn_checked(FROM, async move |pe| {
        let first = Parcel {
            arrival: true,
            end: false,
            ..Parcel::dma(TO, Addr(0), Addr(0), packet)
        };
        pe.send_parcels(Priority::Normal, &[first]).await?;
        pe.sent(Priority::Normal).await;
        pe.host().delay(APART).await;
        start.set(pe.now());
        let whole = Parcel::dma(TO, Addr(0), Addr(packet), most);
        pe.send_parcels(Priority::Normal, &[whole]).await
    });
    finish(sim, packet + most)?;
    let events = sim.backend_mut().take_events();
    let (before, after): (Vec<Event>, Vec<Event>) = events.into_iter().partition(|e| e.at < second.get());
    let raised = |events: &[Event]| -> Vec<Picos> {
        let is = |e: &&Event| e.node == TO && e.kind == EventKind::Irq { level: true };
        events.iter().filter(is).map(|e| e.at).collect()
    };
    let stored = |events: &[Event]| -> Vec<Picos> {
        let is = |e: &&Event| matches!(e.kind, EventKind::MemWritten { addr, .. } if e.node == TO && addr.0 < user_end);
        events.iter().filter(is).map(|e| e.at).collect()
    };
    let (arrival, end) = (raised(&before), raised(&after));
    let first = |e: &&Event| e.node == FROM && matches!(e.kind, EventKind::TxFirst { .. });
    let packets = after.iter().filter(first).count() as f64;
    Ok(Measurement {
        values: vec![
            ("packets", packets),
            ("packets_an_interrupt", packets / end.len() as f64),
            (
                "arrival",
                us_between(arrival.first().copied(), stored(&before).first().copied()),
            ),
            ("end", us_between(stored(&after).last().copied(), end.first().copied())),
        ],
        ..Measurement::default()
    })
}

/// E1: the headers that each queue takes, and the bytes of both queues.
fn fill(sim: &mut Sim) -> Result<Measurement, MeasureError> {
    let taken = Rc::new(Cell::new([0; 2]));
    let counts = taken.clone();
    sim.spawn(FROM, async move |pe| {
        let parcel = Parcel::dma(TO, Addr(0), Addr(0), pe.config().parcel_max);
        let mut taken = [0; 2];
        for (priority, count) in [Priority::High, Priority::Normal].into_iter().zip(&mut taken) {
            // At once, before the Sender has sent one of them.
            let mut parcels = vec![parcel; 256];
            while pe.send_parcels(priority, &parcels).await.is_err() {
                parcels.pop();
            }
            *count = parcels.len() as u32;
        }
        counts.set(taken);
    });
    finish(sim, 0)?;
    let [high, normal] = taken.get();
    let bytes = u64::from(high + normal) * u64::from(sim.pe(FROM).config().parcel_max);
    Ok(Measurement {
        values: vec![
            ("headers", high.min(normal).into()),
            ("queued", bytes as f64 / f64::from(1 << 20)),
        ],
        ..Measurement::default()
    })
}

/// E3: a word there and back between two user programs that poll for it.
fn ping_pong(sim: &mut Sim, rounds: u32) -> Result<Measurement, MeasureError> {
    const OUT: Addr = Addr(0);
    const IN: Addr = Addr(64);
    async fn player(pe: Pe, peer: NodeId, rounds: u32, serves: bool) -> Result<(), RmwriteError> {
        for round in 0..rounds {
            if !serves {
                pe.wait_for_change(IN, round).await;
            }
            pe.write(OUT, &(round + 1).to_le_bytes());
            pe.rmwrite(OUT, peer, IN, 4).await?;
            if serves {
                pe.wait_for_change(IN, round).await;
            }
        }
        Ok(())
    }
    sim.spawn_checked(FROM, move |pe| player(pe, TO, rounds, true));
    sim.spawn_checked(TO, move |pe| player(pe, FROM, rounds, false));
    finish(sim, 8 * rounds)?;
    let events = sim.backend_mut().take_events();
    let stamps = sim.take_stamps();
    Ok(stages(&events, &stamps))
}

/// The stages of the last but one word from PE 0 to PE 1.
fn stages(events: &[Event], stamps: &[Stamp]) -> Measurement {
    let calls: Vec<Picos> = stamps
        .iter()
        .filter(|s| s.node == FROM && s.stage == Stage::Call)
        .map(|s| s.at)
        .collect();
    let Some(&[call, next]) = calls.last_chunk() else {
        return Measurement::default();
    };
    let after = |node: NodeId, stage: Stage| {
        let found = stamps
            .iter()
            .find(|s| s.at >= call && s.node == node && s.stage == stage);
        found.map(|s| s.at)
    };
    let start = events
        .iter()
        .find(|e| e.at >= call && e.node == FROM && is_pointer_write(e.kind))
        .map(|e| e.at);
    let (kernel, recognised, answer) = (
        after(FROM, Stage::Kernel),
        after(TO, Stage::Recognised),
        after(TO, Stage::Call),
    );
    let call = Some(call);
    let values = vec![
        ("round_trip", us_between(call, Some(next))),
        ("one_way", us_between(call, answer)),
        ("syscall", us_between(call, kernel)),
        ("kernel_to_start", us_between(kernel, start)),
        ("call_to_start", us_between(call, start)),
        ("start_to_kernel", us_between(start, recognised)),
        ("receive_kernel", us_between(recognised, answer)),
    ];
    Measurement {
        values,
        first_flit: first_flit(events),
        record: Record::default(),
    }
}
