//! X1 and X5: the configuration, and the steps that the report describes without a number.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::lab::{Lab, Measurement, Way, What};
use super::measure::{self, FROM, MeasureError, Sim, arrives, finish, machine, pattern};
use crate::dimmnet1::firmware::{CELL_POINTER, CELL_SYSTEM};
use crate::dimmnet1::host::layout::common;
use crate::dimmnet1::host::{Barrier, CommError, Node};
use crate::dimmnet1::params::Config;
use crate::dimmnet1::regs::{COUNTS, LLCM, REASON_OVERFLOW, SIZE_BOTF};
use crate::harness::wave::Probe;
use crate::machine::poison;
use crate::repro::row::{BackendKind, Spec};
use crate::{Addr, NodeId, Picos};

const TO: NodeId = NodeId(1);
const OTHER: NodeId = NodeId(2);

/// Table 1, as far as it is of the card and its link.
pub fn x1(lab: &mut Lab<'_>) {
    let mhz = 1000.0 / lab.value("core_period");
    let link = lab.value("word_bytes") * 1000.0 / lab.value("link_period");
    for (name, what, unit, stated, ours) in [
        ("core", "core and on-chip processor", "MHz", 50.0, mhz),
        ("link", "link", "MB/s", 500.0, link),
    ] {
        let depends: &[&str] = if name == "core" {
            &["core_period"]
        } else {
            &["link_period", "word_bytes"]
        };
        lab.row(
            Spec::new(format!("table1.{name}"), what, unit)
                .stated(stated, stated)
                .depends(depends),
            ours,
        );
    }
    for (name, what, unit, stated) in [
        ("window_bytes", "data of a packet of BOTF", "B", 464.0),
        ("windows", "windows used in turn", "windows", 2.0),
    ] {
        let ours = lab.value(name);
        let spec = Spec::new(format!("sec4.2.{name}"), what, unit).stated(stated, stated);
        lab.row(spec.depends(&[name]), ours);
    }
}

/// Sections 3.4 and 4.3.
pub fn x5(lab: &mut Lab<'_>) {
    let config = lab.with(&[("matching", 0.0)]);
    let m = exchange(lab, &config, "sec3.4");
    lab.none(
        "sec4.3.early",
        "nodes that left a barrier before the last one came",
        "nodes",
        m.count("early"),
    );
    lab.done(
        "sec4.3.rounds",
        "barriers by one counter, one after the other",
        "barriers",
        4 * ROUNDS,
        m.count("barriers"),
    );
}

/// The steps of indirect writes and messages, in rows of this place.
pub fn exchange(lab: &mut Lab<'_>, config: &Config, place: &str) -> Measurement {
    let m = lab.measure(config, What::Steps);
    let rows = [
        (
            "visible",
            "bytes that are not there when the answer comes",
            "B",
            "bytes_late",
        ),
        (
            "overflow_lost",
            "bytes lost or doubled where the system buffer was full",
            "B",
            "overflow_wrong",
        ),
        (
            "renewed",
            "pointers to a posted area that are not the system buffer's afterwards",
            "pointers",
            "kept",
        ),
        (
            "not_renewed",
            "pointers to the system buffer that a packet changed",
            "pointers",
            "changed",
        ),
        (
            "interleaved",
            "bytes of two senders' messages in the wrong place",
            "B",
            "mixed",
        ),
    ];
    for (row, what, unit, count) in rows {
        lab.none(&format!("{place}.{row}"), what, unit, m.count(count));
    }
    let refused = format!("{place}.refused");
    let what = "packets refused because the system buffer was full";
    lab.tried(&refused, what, "packets", 1, m.count("overflows"));
    m
}

/// Barriers of each kind.
const ROUNDS: u32 = 5;

/// Runs all steps, each on a machine of its own.
///
/// # Errors
/// A machine that does not boot or hangs, or a refused transfer.
pub fn measure(backend: BackendKind, config: &Config) -> Result<Measurement, MeasureError> {
    let run = Steps { backend, config };
    let mut counts = vec![("bytes_late", run.late()?), ("mixed", run.mixed()?)];
    counts.extend(run.overflow()?);
    counts.extend(run.pointers()?);
    counts.extend(run.barriers()?);
    Ok(Measurement {
        counts,
        ..Measurement::default()
    })
}

/// Bytes that differ, and those that are missing.
fn wrong(got: &[u8], sent: &[u8]) -> u32 {
    let differ = got.iter().zip(sent).filter(|(got, sent)| got != sent).count();
    (differ + got.len().abs_diff(sent.len())) as u32
}

type Counts = Vec<(&'static str, u32)>;

struct Steps<'a> {
    backend: BackendKind,
    config: &'a Config,
}

impl Steps<'_> {
    fn boot(&self, nodes: u32) -> Result<Sim, MeasureError> {
        let mut config = self.config.clone();
        config.nodes = nodes;
        Ok(Sim::new(machine(self.backend, &config, &Probe::default())?, &config)?)
    }

    /// Sends in every way; the receiver's memory at the instant at which each returns.
    fn late(&self) -> Result<u32, MeasureError> {
        const TARGET: Addr = Addr(0x4008);
        let mut late = 0;
        for way in [
            Way::Botf,
            Way::Rdma,
            Way::Soft,
            Way::SoftRdma,
            Way::Indirect,
            Way::Region,
            Way::Page,
        ] {
            let mut sim = self.boot(2)?;
            for bytes in [1, 9, 464, 1400] {
                let (from, to) = (sim.node(FROM), sim.node(TO));
                let data = pattern(bytes, bytes);
                from.write(Addr(0), &data);
                to.write(TARGET, &poison(&data));
                sim.spawn_checked(TO, async move |node| match way {
                    Way::Soft | Way::SoftRdma => node.post_soft(FROM, TARGET, bytes).await,
                    _ => node.set_pointer(0, TARGET).await,
                });
                finish(&mut sim, 0)?;
                let message = measure::message(&from, TO, way, TARGET);
                let seen = Rc::new(RefCell::new(Vec::new()));
                let arrives = arrives(way, &data);
                let (at_answer, count) = (seen.clone(), arrives.len() as u32);
                sim.spawn_checked(FROM, async move |node| {
                    node.send(&message, Addr(0), bytes).await?;
                    *at_answer.borrow_mut() = to.read(TARGET, count);
                    Ok::<_, CommError>(())
                });
                finish(&mut sim, bytes)?;
                late += wrong(&seen.take(), &arrives);
            }
        }
        Ok(late)
    }

    /// A message larger than the system buffer, whose receiver comes late.
    fn overflow(&self) -> Result<Counts, MeasureError> {
        const BYTES: u32 = 40_000;
        let mut sim = self.boot(2)?;
        let data = pattern(BYTES, 1);
        sim.node(FROM).write(Addr(0), &data);
        sim.spawn_checked(FROM, async |node| node.send_message(TO, Addr(0), BYTES).await);
        let (got, refused) = (Rc::new(RefCell::new(Vec::new())), Rc::new(Cell::new(0)));
        let (came, count) = (got.clone(), refused.clone());
        sim.spawn_checked(TO, async move |node| {
            node.compute(Picos::from_ns(200_000)).await;
            *came.borrow_mut() = node.receive(FROM).await?;
            count.set(load(&node, COUNTS + 8 * REASON_OVERFLOW).await as u32);
            Ok::<_, CommError>(())
        });
        finish(&mut sim, BYTES)?;
        Ok(vec![
            ("overflow_wrong", wrong(&got.take(), &data)),
            ("overflows", refused.get()),
        ])
    }

    /// A posted area takes one packet; then the pointer is the system buffer's, and stays so.
    fn pointers(&self) -> Result<Counts, MeasureError> {
        const AREA: Addr = Addr(0x8000);
        const ROUNDS: u32 = 3;
        let mut sim = self.boot(2)?;
        let (kept, changed) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        sim.spawn_checked(FROM, async |node| {
            for _ in 0..2 * ROUNDS + 1 {
                node.send_message(TO, Addr(0), SIZE_BOTF).await?;
            }
            Ok::<_, CommError>(())
        });
        let counts = (kept.clone(), changed.clone());
        sim.spawn_checked(TO, async move |node| {
            let cell = LLCM + common::cell(common::CELLS, FROM);
            for round in 0..2 * ROUNDS + 1 {
                // The area is for every second message.
                let next = (round % 2 == 0).then_some(AREA);
                let (before, arrived) = (load(&node, cell + CELL_POINTER).await, wait(&node, round + 1).await);
                let (after, system) = (
                    load(&node, cell + CELL_POINTER).await,
                    load(&node, cell + CELL_SYSTEM).await,
                );
                let is_system = after >> 32 == system;
                if round % 2 == 1 {
                    counts.0.set(counts.0.get() + u32::from(!is_system || !arrived));
                } else {
                    counts
                        .1
                        .set(counts.1.get() + u32::from(!is_system || !arrived || before >> 32 != system));
                }
                node.receive_and_post(FROM, next).await?;
            }
            Ok::<_, CommError>(())
        });
        finish(&mut sim, SIZE_BOTF)?;
        Ok(vec![("kept", kept.get()), ("changed", changed.get())])
    }

    /// Two senders at once, in different phases.
    fn mixed(&self) -> Result<u32, MeasureError> {
        const BYTES: u32 = 3000;
        let mut mixed = 0;
        for phase in [0, 1, 3, 7] {
            let mut sim = self.boot(3)?;
            let got = Rc::new(Cell::new(0));
            for from in [FROM, OTHER] {
                let data = pattern(BYTES, u32::from(from.0));
                sim.node(from).write(Addr(0), &data);
                sim.spawn_checked(from, async move |node| {
                    node.compute(Picos::from_ns(1_000 * phase * u64::from(from.0))).await;
                    node.send_message(TO, Addr(0), BYTES).await
                });
                let count = got.clone();
                sim.spawn_checked(TO, async move |node| {
                    let came = node.receive(from).await?;
                    count.set(count.get() + wrong(&came, &data));
                    Ok::<_, CommError>(())
                });
            }
            finish(&mut sim, 2 * BYTES)?;
            mixed += got.get();
        }
        Ok(mixed)
    }

    /// Each counter serves one barrier after the other; the nodes come in another order each time.
    fn barriers(&self) -> Result<Counts, MeasureError> {
        const NODES: u32 = 3;
        let (mut early, mut rounds) = (0, 0);
        for barrier in [
            Barrier::Hosts,
            Barrier::HostsMulticast,
            Barrier::Processor,
            Barrier::ProcessorMulticast,
        ] {
            let mut sim = self.boot(NODES)?;
            let times = Rc::new(RefCell::new(Vec::new()));
            for node in (0..NODES as u16).map(NodeId) {
                let times = times.clone();
                sim.spawn_checked(node, async move |node| {
                    for round in 0..ROUNDS {
                        let turn = (u32::from(node.id().0) + round) % NODES;
                        node.compute(Picos::from_ns(3_000 * u64::from(turn))).await;
                        let came = node.now();
                        node.barrier(barrier).await?;
                        times.borrow_mut().push((round, came, node.now()));
                    }
                    Ok::<_, CommError>(())
                });
            }
            finish(&mut sim, 0)?;
            let times = times.take();
            for round in 0..ROUNDS {
                let of: Vec<_> = times.iter().filter(|time| time.0 == round).collect();
                let last = of.iter().map(|time| time.1).max();
                early += of.iter().filter(|time| Some(time.2) < last).count() as u32;
                rounds += u32::from(of.len() == NODES as usize);
            }
        }
        Ok(vec![("early", early), ("barriers", rounds)])
    }
}

/// A word of the node's card.
async fn load(node: &Node, offset: u32) -> u64 {
    let word = node.host().load(offset.into(), 8).await;
    word.expect("the card has this word")
}

/// Waits until so many messages were announced; whether they were.
async fn wait(node: &Node, count: u32) -> bool {
    const LOOKS: u32 = 10_000;
    for _ in 0..LOOKS {
        let word = load(node, LLCM + common::of(common::MESSAGES, FROM)).await;
        if word >> 32 >= count.into() {
            return true;
        }
        node.compute(Picos::from_ns(100)).await;
    }
    false
}
