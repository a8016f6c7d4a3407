//! One scenario on one machine: host programs run, data are checked at the far end, and times are read from the events of that run.

use thiserror::Error;

use super::lab::{AtEnd, Measurement, Scenario, What};
use crate::cenju3::host::{BootError, Cenju3Sim, Kind, Parcel, Pe, Priority, RmwriteError, SendError, Stage, Stamp};
use crate::cenju3::model::ModelMachine;
use crate::cenju3::params::Config;
use crate::cenju3::regs;
use crate::cenju3::rtl::{Composed, NotBuilt, RtlMachine};
use crate::harness::backend::{Event, EventKind};
use crate::harness::exec::SimError;
use crate::harness::wave::Probe;
use crate::repro::machine::AnyBackend;
use crate::repro::row::BackendKind;
use crate::rtl::{Cenju3Nic, Cenju3NicWide};
use crate::{Addr, NodeId, Picos};

type Sim = Cenju3Sim<AnyBackend>;

const FROM: NodeId = NodeId(0);
const TO: NodeId = NodeId(1);
/// No scenario takes as long: beyond it the machine hangs.
const BOUND: Picos = Picos::from_ns(200_000_000);
/// What is still under way when the last byte is in memory, responses and interrupts, is over after this.
const TAIL: Picos = Picos::from_ns(60_000);
/// Transfers up to this size keep their events for the report.
const TRACED_BYTES: u32 = 8192;

#[derive(Debug, Error)]
pub enum MeasureError {
    #[error(transparent)]
    NotBuilt(#[from] NotBuilt),
    #[error(transparent)]
    Boot(#[from] BootError),
    #[error(transparent)]
    Sim(#[from] SimError),
    #[error(transparent)]
    Send(#[from] SendError),
    #[error(transparent)]
    Rmwrite(#[from] RmwriteError),
    #[error("{what}: PE 1 did not get what PE 0 sent; first wrong byte at {at}")]
    Corrupt { what: String, at: Addr },
}

/// The machine of a configuration; the RTL leaves the wave that `probe` asks for.
///
/// # Errors
/// The configuration asks for RTL that was not built.
pub fn machine(backend: BackendKind, config: &Config, probe: &Probe) -> Result<AnyBackend, NotBuilt> {
    Ok(match (backend, config.bus_bytes) {
        (BackendKind::Model, _) => Box::new(ModelMachine::new(config)),
        (BackendKind::Rtl, 8) => Box::new(RtlMachine::<Composed<Cenju3NicWide>>::build(config)?.with_probe(probe)),
        (BackendKind::Rtl, _) => Box::new(RtlMachine::<Composed<Cenju3Nic>>::build(config)?.with_probe(probe)),
    })
}

/// Runs the scenario.
///
/// # Errors
/// A machine that does not boot or hangs, a refused transfer, or data that did not arrive as they were sent.
pub fn measure(scenario: &Scenario) -> Result<Measurement, MeasureError> {
    measure_with_wave(scenario, &Probe::default())
}

/// The same, and the RTL leaves the wave that `probe` asks for.
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
        What::PingPong { rounds } => ping_pong(&mut boot(machine, config, true)?, rounds),
        What::Rmwrite { bytes, calls, receiver } => {
            let mut sim = boot(machine, config, receiver)?;
            let send = async move |pe: Pe| {
                for call in 0..calls {
                    pe.rmwrite(Addr(0), TO, Addr(call * bytes), bytes).await?;
                }
                Ok(())
            };
            transfers(&mut sim, &scenario.what, bytes, calls, send)
        }
        What::Stream {
            bytes,
            transfers: count,
            at_end,
        } => {
            let piece = if at_end == AtEnd::InvalidatePieces {
                config.piece_bytes
            } else {
                bytes
            };
            let mut sim = boot(machine, config, at_end != AtEnd::Nothing)?;
            let parcels = (0..count).flat_map(move |n| Parcel::dma(TO, Addr(0), Addr(n * bytes), bytes).cut(piece));
            transfers(&mut sim, &scenario.what, bytes, count, async move |pe: Pe| {
                queue_all(&pe, parcels.collect()).await
            })
        }
    }
}

/// A machine with events and stamps on, PE 0's user memory filled and PE 1's filled with something else.
fn boot(machine: AnyBackend, config: Config, receiver: bool) -> Result<Sim, BootError> {
    let sinks: &[NodeId] = if receiver { &[] } else { &[TO] };
    let mut sim = Cenju3Sim::with_sinks(machine, config, sinks)?;
    sim.trace(true);
    sim.backend_mut().record(true);
    Ok(sim)
}

/// Byte `n` of what is sent; neighbours, packets and transfers differ.
fn pattern(n: u32) -> u8 {
    (n.wrapping_mul(0x9e37_79b1) >> 21) as u8
}

/// Keeps the Sender's queue from running empty.
async fn queue_all(pe: &Pe, parcels: Vec<Parcel>) -> Result<(), MeasureError> {
    for some in parcels.chunks(32) {
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
fn transfers(
    sim: &mut Sim,
    what: &What,
    bytes: u32,
    count: u32,
    send: impl AsyncFnOnce(Pe) -> Result<(), MeasureError> + 'static,
) -> Result<Measurement, MeasureError> {
    let (source, total) = ((0..bytes).map(pattern).collect::<Vec<u8>>(), bytes * count);
    let (from, to) = (sim.pe(FROM), sim.pe(TO));
    let poison: Vec<u8> = source.iter().map(|b| !b).collect();
    from.write(Addr(0), &source);
    (0..count).for_each(|n| to.write(Addr(n * bytes), &poison));

    let mut sent = sim.spawn(FROM, async move |pe| send(pe).await);
    let last = source[source.len() - 1];
    sim.spawn(TO, async move |pe| {
        let there = move |m: &crate::harness::memory::Memory| m.read(Addr(total - 1), 1) == Some(&[last][..]);
        pe.host().watch("the last byte", there).await;
        pe.host().delay(TAIL).await;
    });
    sim.run(BOUND)?;
    sent.take().expect("the program is done")?;
    for n in 0..count {
        let got = to.read(Addr(n * bytes), bytes);
        if let Some(at) = got.iter().zip(&source).position(|(a, b)| a != b) {
            return Err(MeasureError::Corrupt {
                what: format!("{what:?}"),
                at: Addr(n * bytes + at as u32),
            });
        }
    }
    let events = sim.backend_mut().take_events();
    Ok(rates(&events, to.memory_end(), bytes, count))
}

/// Rates of a run that stored `count` transfers of `bytes` in PE 1's user memory, which ends at `user_end`.
fn rates(events: &[Event], user_end: u32, bytes: u32, count: u32) -> Measurement {
    // One transfer is looked at packet by packet.
    let (unit, units) = if count > 1 {
        (bytes, count)
    } else {
        (bytes.min(512), bytes.div_ceil(512))
    };
    let stored = ends_of_units(events, user_end, unit, units);
    let warm = (units as usize / 2).max(1);
    let mut values = Vec::new();
    if stored.len() == units as usize && stored.len() > warm {
        let (first, last) = (stored[warm - 1], stored[stored.len() - 1]);
        values.push((
            "steady_rate",
            last.saturating_sub(first)
                .rate_mb_s(u64::from(unit) * (stored.len() - warm) as u64),
        ));
    }
    let start = events
        .iter()
        .find(|e| e.node == FROM && is_pointer_write(e.kind))
        .map(|e| e.at);
    if let (Some(start), Some(last)) = (start, stored.last()) {
        values.push((
            "transfer_rate",
            last.saturating_sub(start)
                .rate_mb_s(u64::from(bytes) * u64::from(count)),
        ));
    }
    values.push(("link_rate", link_rate(events)));
    let trace = match stored.len() {
        n if n > 2 && count > 1 && bytes <= TRACED_BYTES => between(events, stored[n - 3], stored[n - 1]),
        _ => Vec::new(),
    };
    Measurement { values, trace }
}

/// When each unit of bytes was complete in PE 1's user memory.
fn ends_of_units(events: &[Event], user_end: u32, unit: u32, units: u32) -> Vec<Picos> {
    let (mut stored, mut ends) = (0u64, Vec::new());
    for e in events.iter().filter(|e| e.node == TO) {
        if let EventKind::MemWritten { addr, bytes } = e.kind
            && addr.0 < user_end
        {
            stored += u64::from(bytes);
            while ends.len() < units as usize && stored >= u64::from(unit) * (ends.len() as u64 + 1) {
                ends.push(e.at);
            }
        }
    }
    ends
}

/// Bytes of all flits over the time from the first packet's head to the last one's, on PE 0's link; the first third left out.
fn link_rate(events: &[Event]) -> f64 {
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
    let warm = heads.len() / 3;
    let (Some(first), Some(last)) = (heads.get(warm), heads.last()) else {
        return f64::NAN;
    };
    let flits: u32 = tails[warm..heads.len() - 1].iter().map(|t| t.1).sum();
    last.0.saturating_sub(first.0).rate_mb_s(u64::from(flits) * 2)
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

fn between(events: &[Event], from: Picos, to: Picos) -> Vec<Event> {
    events.iter().filter(|e| e.at >= from && e.at <= to).copied().collect()
}

/// E2: a word as a bare message.
fn one_word(sim: &mut Sim) -> Result<Measurement, MeasureError> {
    let mut sent = sim.spawn(FROM, async |pe| {
        pe.write(Addr(0), b"word");
        pe.send_parcels(Priority::Normal, &[Parcel::message(Kind::System, TO, Addr(0), 4)])
            .await
    });
    sim.spawn(TO, async |pe| pe.host().delay(TAIL).await);
    sim.run(BOUND)?;
    sent.take().expect("the program is done")?;
    let events = sim.backend_mut().take_events();
    let stamps = sim.take_stamps();
    let config = sim.pe(FROM).config().clone();
    Ok(hardware_steps(&events, &stamps, &config))
}

/// The steps of one packet, from the time stamps of its events. A step that did not happen gives NaN.
fn hardware_steps(events: &[Event], stamps: &[Stamp], config: &Config) -> Measurement {
    let at = |node: NodeId, test: &dyn Fn(EventKind) -> bool| {
        events
            .iter()
            .find(|e| e.node == node && test(e.kind))
            .map_or(f64::NAN, |e| e.at.as_us())
    };
    let stamp = |node: NodeId, test: &dyn Fn(Stage) -> bool| {
        stamps
            .iter()
            .find(|s| s.node == node && test(s.stage))
            .map_or(f64::NAN, |s| s.at.as_us())
    };
    // The CPU's access begins so long before the kernel goes on.
    let begin = stamp(FROM, &|s| matches!(s, Stage::Started { .. })) - config.ext_access.as_us();
    let pointer = at(FROM, &is_pointer_write);
    // The header is read first, from the queue; then the body, from address 0. Each item ends where the next begins: with the command or
    // the flit that what was read leads to.
    let header = at(
        FROM,
        &|k| matches!(k, EventKind::MemRead { addr, .. } if addr != Addr(0)),
    );
    let body = at(FROM, &|k| matches!(k, EventKind::MemRead { addr: Addr(0), .. }));
    let out = at(FROM, &|k| matches!(k, EventKind::TxFirst { .. }));
    let into = at(TO, &|k| matches!(k, EventKind::RxFirst { .. }));
    let received = at(TO, &|k| matches!(k, EventKind::RxLast { .. }));
    let written = at(TO, &|k| matches!(k, EventKind::MemWritten { .. }));
    let sync_share = f64::from(config.sync_cycles) / f64::from(config.stage_cycles());
    let values = vec![
        ("pointer_write", pointer - begin),
        ("header_read", body - header),
        ("body_read", out - body),
        ("sync", (into - out) * sync_share),
        ("switch", (into - out) * (1.0 - sync_share)),
        ("header_write", written - received),
        ("total", written - begin),
        ("recognised", stamp(TO, &|s| s == Stage::Recognised) - begin),
    ];
    // The interrupt ends the packet's way.
    let raised = events.iter().find(|e| e.kind == EventKind::Irq { level: true });
    let trace = raised.map_or(Vec::new(), |last| {
        between(events, Picos::from_us(begin.max(0.0)), last.at)
    });
    Measurement { values, trace }
}

/// E3: a word to and fro between two user programs that poll for it.
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
    let mut server = sim.spawn(FROM, move |pe| player(pe, TO, rounds, true));
    let mut other = sim.spawn(TO, move |pe| player(pe, FROM, rounds, false));
    sim.run(BOUND)?;
    server.take().expect("the program is done")?;
    other.take().expect("the program is done")?;
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
        stamps
            .iter()
            .find(|s| s.at >= call && s.node == node && s.stage == stage)
            .map_or(f64::NAN, |s| s.at.as_us())
    };
    let start = events
        .iter()
        .find(|e| e.at >= call && e.node == FROM && is_pointer_write(e.kind));
    let start = start.map_or(f64::NAN, |e| e.at.as_us());
    let (kernel, recognised, answer) = (
        after(FROM, Stage::Kernel),
        after(TO, Stage::Recognised),
        after(TO, Stage::Call),
    );
    let call_us = call.as_us();
    let values = vec![
        ("round_trip", next.as_us() - call_us),
        ("one_way", answer - call_us),
        ("syscall", kernel - call_us),
        ("kernel_to_start", start - kernel),
        ("call_to_start", start - call_us),
        ("start_to_kernel", recognised - start),
        ("receive_kernel", answer - recognised),
    ];
    Measurement {
        values,
        trace: Vec::new(),
    }
}
