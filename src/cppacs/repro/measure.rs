//! One scenario on one machine: programs run, the far end checks the data, and flags give the times.

use super::lab::{Measurement, Pattern, Scenario, What};
use super::{kernels, pvm};
use crate::cppacs::host::pvm::RunError;
use crate::cppacs::host::{Allow, Area, BootError, CppacsSim, Field, How, Node, RdmaError, Right, TcwId, To, Transfer};
use crate::cppacs::model::{ModelMachine, conflicts};
use crate::cppacs::params::Config;
use crate::cppacs::regs::{COUNT_ANSWERED, COUNT_SENT, COUNTS, RECEIVE_REFUSALS};
use crate::cppacs::rtl::{self, NotBuilt};
use crate::harness::backend::{AnyBackend, Backend as _, EventKind};
use crate::harness::exec::SimError;
use crate::harness::wave::Probe;
use crate::net::hyper::{Axis, Grid, Place};
use crate::repro::row::BackendKind;
use crate::{NodeId, Picos};

pub(super) type Sim = CppacsSim<AnyBackend>;

/// A run without a measurement.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error(transparent)]
    NotBuilt(#[from] NotBuilt),
    #[error(transparent)]
    Boot(#[from] BootError),
    #[error(transparent)]
    Sim(#[from] SimError),
    #[error(transparent)]
    Rdma(#[from] RdmaError),
    #[error(transparent)]
    Pvm(#[from] RunError),
    #[error("{what}: the data of {node} differ from the sender's, first at byte {at}")]
    Corrupt { what: String, node: NodeId, at: usize },
}

const FROM: NodeId = NodeId(0);
/// A run ends within a second of simulated time, with what its transfers need on top.
const BOUND: Picos = Picos::from_ns(1_000_000_000);
const NAME: &str = "all:data";
/// Words of a worm of conflict-free traffic: more than any buffer holds.
const WORM: u64 = 2000;

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
/// A machine that does not boot or hangs, a refused transfer, or received data that differ from the sent ones.
pub fn measure(scenario: &Scenario) -> Result<Measurement, MeasureError> {
    measure_with_wave(scenario, &Probe::default())
}

/// The same; the RTL writes the wave of `probe`.
///
/// # Errors
/// As [`measure`].
pub fn measure_with_wave(scenario: &Scenario, probe: &Probe) -> Result<Measurement, MeasureError> {
    let Scenario { backend, config, what } = scenario;
    if let What::Conflicts(pattern) = what {
        return count_conflicts(*backend, config, *pattern);
    }
    let mut sim = Sim::new(machine(*backend, config, probe)?, config)?;
    if let What::Pvm { bytes } = *what {
        let mut values = pvm::ping_pong(&mut sim, bytes)?;
        values.extend(counters(&mut sim)?);
        return Ok(Measurement {
            values,
            first_word: None,
        });
    }
    if let What::Kernel { job, by_pvm } = *what {
        return Ok(Measurement {
            values: kernels::run(&mut sim, job, by_pvm)?,
            first_word: None,
        });
    }
    let (bytes, to) = match *what {
        What::Broadcast { bytes } => (bytes, To::Broadcast(7, last(&sim))),
        What::PingPong { bytes, .. } | What::Stream { bytes, .. } | What::Get { bytes, .. } => {
            (bytes, To::Node(last(&sim)))
        }
        What::Pvm { .. } | What::Conflicts(_) | What::Kernel { .. } => {
            unreachable!("they have programs of their own, or none")
        }
    };
    let parts = prepare(&mut sim, bytes, to)?;
    sim.backend_mut().record(true);
    let mut values = match *what {
        What::PingPong { rounds, .. } => ping_pong(&mut sim, &parts, bytes, rounds)?,
        What::Get { count, .. } => gets(&mut sim, &parts, bytes, count)?,
        What::Stream { count, .. } => {
            let to = [last(&sim)];
            stream(&mut sim, &parts, count, &to)?
        }
        What::Broadcast { .. } => {
            let all: Vec<NodeId> = (0..sim.nodes() as u16).map(NodeId).collect();
            stream(&mut sim, &parts, 1, &all)?
        }
        What::Pvm { .. } | What::Conflicts(_) | What::Kernel { .. } => {
            unreachable!("they have programs of their own, or none")
        }
    };
    let events = sim.backend_mut().take_events();
    let is_first = |kind| matches!(kind, EventKind::TxFirst { .. });
    let first_word = events
        .iter()
        .find(|event| event.node == FROM && is_first(event.kind))
        .map(|event| event.at);
    if let (Some(first), Some(at)) = (first_word, value(&values, "ended")) {
        values.push(("worm", at - first.as_us()));
    }
    values.retain(|(name, _)| *name != "ended");
    values.extend(counters(&mut sim)?);
    Ok(Measurement { values, first_word })
}

fn value(values: &[(&'static str, f64)], name: &str) -> Option<f64> {
    values.iter().find(|(known, _)| *known == name).map(|&(_, value)| value)
}

fn last(sim: &Sim) -> NodeId {
    NodeId(sim.nodes() as u16 - 1)
}

/// What a node has: its object, the field of all of it, and at both ends the right for the other's.
struct Part {
    area: Area,
    field: Field,
    right: Option<Right>,
}

/// Byte `at` of what node 0 sends.
fn byte(at: usize) -> u8 {
    (at * 7 + (at >> 8)) as u8
}

/// Runs a program on every node, and gives what each gave.
fn on_all<T: 'static, F: Future<Output = Result<T, RdmaError>> + 'static>(
    sim: &mut Sim,
    program: impl Fn(Node) -> F,
) -> Result<Vec<T>, MeasureError> {
    let programs = sim.spawn_all(program);
    sim.run(BOUND)?;
    let ended = programs
        .into_iter()
        .map(|mut program| program.take().expect("it ended"));
    Ok(ended.collect::<Result<Vec<T>, RdmaError>>()?)
}

fn prepare(sim: &mut Sim, bytes: u32, to: To) -> Result<Vec<Part>, MeasureError> {
    let last = last(sim);
    on_all(sim, move |node| async move {
        let area = node.object(NAME, bytes)?;
        let field = node.create_field(&area, 0, bytes, 0, Allow::ALL).await?;
        let to = match node.id() {
            FROM => Some(to),
            id if id == last => Some(To::Node(FROM)),
            _ => None,
        };
        let right = match to {
            Some(to) => Some(node.get_sendright(to, NAME, 0, BOUND).await?),
            None => None,
        };
        if node.id() == FROM {
            node.write(&area.all(), &(0..bytes as usize).map(byte).collect::<Vec<u8>>());
        }
        Ok(Part { area, field, right })
    })
}

/// The sender's data are in the object of this node.
fn check(sim: &Sim, part: &Part, node: NodeId, what: &str) -> Result<(), MeasureError> {
    let data = sim.node(node).read(&part.area.all());
    match data.iter().enumerate().position(|(at, &have)| have != byte(at)) {
        Some(at) => {
            let what = what.to_owned();
            Err(MeasureError::Corrupt { what, node, at })
        }
        None => Ok(()),
    }
}

pub(super) type Values = Vec<(&'static str, f64)>;

fn ping_pong(sim: &mut Sim, parts: &[Part], bytes: u32, rounds: u32) -> Result<Values, MeasureError> {
    let to = last(sim);
    let begin = sim.now();
    for node in [FROM, to] {
        let Part { area, field, right } = &parts[node.index()];
        let (area, field, right) = (area.clone(), field.clone(), right.clone().expect("a right"));
        sim.spawn_checked(node, async move |node| {
            for round in 0..rounds {
                if node.id() == FROM {
                    give(&node, &area, &right, bytes).await?;
                }
                node.wait(&field, round + 1, BOUND).await?;
                node.copy(bytes).await;
                if node.id() == to {
                    give(&node, &area, &right, bytes).await?;
                }
            }
            Ok::<(), RdmaError>(())
        });
    }
    sim.run(BOUND)?;
    check(sim, &parts[to.index()], to, "ping-pong")?;
    let us = (sim.now() - begin).as_us() / f64::from(2 * rounds);
    Ok(vec![("time", us), ("bandwidth", f64::from(bytes) / us)])
}

/// Packs and sends.
async fn give(node: &Node, area: &Area, right: &Right, bytes: u32) -> Result<(), RdmaError> {
    node.copy(bytes).await;
    node.send(area.all(), right, 0, How::default()).await?;
    debug_assert_eq!(area.bytes(), bytes);
    Ok(())
}

fn gets(sim: &mut Sim, parts: &[Part], bytes: u32, count: u32) -> Result<Values, MeasureError> {
    let to = last(sim);
    sim.node(to).write(
        &parts[to.index()].area.all(),
        &(0..bytes as usize).map(byte).collect::<Vec<u8>>(),
    );
    let begin = sim.now();
    let Part { area, field, right } = &parts[0];
    let (area, field, right) = (area.clone(), field.clone(), right.clone().expect("a right"));
    sim.spawn_checked(FROM, async move |node| {
        node.write(&area.all(), &vec![0; bytes as usize]);
        for _ in 0..count {
            node.get(&right, 0, &field, 0, bytes).await?;
        }
        Ok::<(), RdmaError>(())
    });
    sim.run(BOUND)?;
    check(sim, &parts[0], FROM, "get")?;
    let us = (sim.now() - begin).as_us() / f64::from(count);
    Ok(vec![("time", us), ("bandwidth", f64::from(bytes) / us)])
}

/// Kicks a prepared TCW `count` times; each of `receivers` says when its flags change.
fn stream(sim: &mut Sim, parts: &[Part], count: u32, receivers: &[NodeId]) -> Result<Values, MeasureError> {
    let bytes = parts[0].area.bytes();
    let mut tcw = sim.spawn(FROM, {
        let (from, right) = (parts[0].area.all(), parts[0].right.clone().expect("a right"));
        let how = How::default();
        async move |node| {
            node.make_tcw(&Transfer {
                from,
                right,
                offset: 0,
                how,
            })
            .await
        }
    });
    sim.run(BOUND)?;
    let tcw: TcwId = tcw.take().expect("it ended")?;
    let begin = sim.now();
    sim.spawn_checked(FROM, async move |node| {
        for _ in 0..count {
            node.kick_fast(&tcw).await?;
        }
        Ok::<(), RdmaError>(())
    });
    let watchers: Vec<_> = receivers
        .iter()
        .map(|&node| {
            let field = parts[node.index()].field.clone();
            sim.spawn(node, async move |node| {
                let first = node.flagged(&field, 1).await;
                (first, node.flagged(&field, count).await)
            })
        })
        .collect();
    sim.run(BOUND)?;
    for &node in receivers {
        check(sim, &parts[node.index()], node, "stream")?;
    }
    let ends: Vec<(Picos, Picos)> = watchers
        .into_iter()
        .map(|mut watcher| watcher.take().expect("it ended"))
        .collect();
    let (first, end) = (ends.iter().map(|end| end.0).max(), ends.iter().map(|end| end.1).max());
    let (first, end) = (first.expect("a receiver"), end.expect("a receiver"));
    let access = sim.node(FROM).config().access;
    let way = (first - begin).saturating_sub(access).as_us();
    let rate = match count {
        1 => f64::from(bytes) / way,
        _ => f64::from(bytes) * f64::from(count - 1) / (end - first).as_us(),
    };
    Ok(vec![("way", way), ("bandwidth", rate), ("ended", end.as_us())])
}

fn counters(sim: &mut Sim) -> Result<Values, MeasureError> {
    let all = on_all(sim, async move |node| {
        let host = node.host();
        let read = async |offset: u32| host.load(offset.into(), 8).await.map_or(f64::NAN, |value| value as f64);
        let mut refused = 0.0;
        for reason in 0..16 {
            refused += read(RECEIVE_REFUSALS + 8 * reason).await;
        }
        Ok([
            read(COUNTS + 8 * COUNT_SENT).await,
            read(COUNTS + 8 * COUNT_ANSWERED).await,
            refused,
        ])
    })?;
    let sum = |at: usize| all.iter().map(|counts| counts[at]).sum();
    Ok(vec![("worms", sum(0)), ("answered", sum(1)), ("refused", sum(2))])
}

/// The steps of a pattern: by node, where it sends, if it does.
fn steps(grid: Grid, pattern: Pattern) -> Vec<Vec<Option<Place>>> {
    let nodes = grid.nodes();
    let by = |to: &dyn Fn(u32) -> Option<u32>| (0..nodes).map(|node| to(node).map(|to| grid.place(to))).collect();
    match pattern {
        Pattern::Shifts => (0..nodes)
            .map(|shift| by(&|node| Some((node + shift) % nodes)))
            .collect(),
        Pattern::Neighbours => {
            let step = |axis: Axis, by: u32| {
                let line = grid.along(axis);
                let to = |place: Place| place.moved(axis, (place.along(axis) + by) % line);
                grid.places().map(|place| Some(to(place))).collect()
            };
            Axis::ALL
                .iter()
                .flat_map(|&axis| [step(axis, 1), step(axis, grid.along(axis) - 1)])
                .collect()
        }
        Pattern::Meshes => {
            let shapes = (1..=nodes).flat_map(|rows| (1..=nodes / rows).map(move |columns| (rows, columns)));
            shapes
                .flat_map(|(rows, columns)| {
                    let inside = move |row: i64, column: i64| {
                        let is_in = (0..rows.into()).contains(&row) && (0..columns.into()).contains(&column);
                        is_in.then(|| (row * i64::from(columns) + column) as u32)
                    };
                    let step = move |down: i64, right: i64| {
                        by(&|node| {
                            let (row, column) = (i64::from(node / columns), i64::from(node % columns));
                            inside(row, column).and_then(|_| inside(row + down, column + right))
                        })
                    };
                    [step(0, 1), step(0, -1), step(1, 0), step(-1, 0)]
                })
                .collect()
        }
        Pattern::Tori => {
            let sides = (0..=nodes.ilog2())
                .map(|log| 1 << log)
                .filter(|columns| nodes.is_multiple_of(*columns));
            sides
                .flat_map(|columns: u32| {
                    let rows = nodes / columns;
                    let step = move |down: u32, right: u32| {
                        by(&|node| {
                            let (row, column) = (node / columns, node % columns);
                            Some((row + down) % rows * columns + (column + right) % columns)
                        })
                    };
                    [step(0, 1), step(0, columns - 1), step(1, 0), step(rows - 1, 0)]
                })
                .collect()
        }
    }
}

fn count_conflicts(backend: BackendKind, config: &Config, pattern: Pattern) -> Result<Measurement, MeasureError> {
    let steps = steps(config.grid(), pattern);
    let stalled: u64 = match backend {
        BackendKind::Model => steps.iter().map(|to| conflicts(config, to, WORM)).sum(),
        BackendKind::Rtl => rtl::conflicts(config, &steps, WORM as u32)?,
    };
    Ok(Measurement {
        values: vec![("stalled", stalled as f64), ("steps", steps.len() as f64)],
        first_word: None,
    })
}
