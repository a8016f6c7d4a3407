//! No parameter is for show: another value of each moves a row, or the machine, or is refused.

use std::collections::BTreeMap;

use tsunagi::ap1000p;
use tsunagi::ap1000p::host::{Ap1000pSim, RingError, RingSize, Transfer};
use tsunagi::ap1000p::model::ModelMachine;
use tsunagi::cenju3;
use tsunagi::harness::backend::Backend;
use tsunagi::harness::params::Param;
use tsunagi::repro::row::{BackendKind, Row};
use tsunagi::repro::{self, pool};
use tsunagi::{Addr, NodeId, Picos};

/// Where another value of a parameter shows.
#[derive(Clone, Copy)]
enum Shows {
    /// In a row of this experiment, on the golden model.
    Row(&'static str),
    /// In one on the RTL: the model has no such thing.
    RtlRow(&'static str),
    /// In how many nodes the machine has, or in their memory; of AP1000+ experiments take sizes of their own.
    Size,
    /// In how long messages take that are larger than goes at once, and then more than a ring buffer holds.
    Messages,
    /// In the same of a `CJrmwrite` of a line and a half.
    Lines,
}
use Shows::*;

const AP1000P: [(&str, f64, Shows); 24] = [
    ("columns", 4.0, Size),
    ("rows", 4.0, Size),
    ("mem_bytes", 2_097_152.0, Size),
    ("period", 10.0, Row("M1")),
    ("link_rate", 50.0, Row("M1")),
    ("lane_words", 2.0, Row("C24")),
    ("bus_rate", 25.0, Row("C30")),
    ("mem_read_latency", 20.0, Row("M1")),
    ("mem_write_latency", 20.0, Row("M1")),
    ("mem_overhead", 20.0, RtlRow("M1")),
    ("mem_shared", 0.0, RtlRow("C3")),
    ("hardware_refill", 0.0, Row("C3")),
    ("rendezvous_words", 100.0, Messages),
    ("overflow_bytes", 65_536.0, Messages),
    ("overflow_slot", 800.0, Messages),
    ("store_cycles", 4.0, Row("C3")),
    ("flag_test", 1200.0, Row("M1")),
    ("register_poll", 400.0, Row("C30")),
    ("call", 3000.0, Row("M1")),
    ("system_call", 7000.0, Row("M2")),
    ("interrupt", 6000.0, Row("C27")),
    ("refill_word", 600.0, Row("Q1")),
    ("trap", 4000.0, Row("M4")),
    ("page_service", 30_000.0, Row("C27")),
];

/// Those that no row lists: `tests/depends.rs` holds that the others move rows.
const CENJU3: [(&str, f64, Shows); 3] = [
    ("pes", 16.0, Size),
    ("mem_bytes", 8_388_608.0, Size),
    ("cache_line", 64.0, Lines),
];

/// What rows and machines are without changes, kept, and with one.
type Seen = BTreeMap<String, u64>;

fn ap1000p_sees(shows: Shows, config: &ap1000p::params::Config) -> Result<Seen, String> {
    let rows = |id, backend| {
        let request = repro::Request {
            experiments: &[id],
            backends: &[backend],
            config,
            full: false,
            threads: pool::threads(),
        };
        let outcomes = ap1000p::repro::run(&request, |_, _| ()).map_err(|e| e.to_string())?;
        Ok(by_name(outcomes.iter().flat_map(|o| &o.rows)))
    };
    match shows {
        Row(id) => rows(id, BackendKind::Model),
        RtlRow(id) => rows(id, BackendKind::Rtl),
        Size => Ok(size(&mut ModelMachine::new(config))),
        Messages => messages(config),
        Lines => unreachable!("of the other machine"),
    }
}

fn by_name<'a>(rows: impl Iterator<Item = &'a Row>) -> Seen {
    rows.map(|r| (r.row.clone(), r.ours.to_bits())).collect()
}

fn size(machine: &mut impl Backend) -> Seen {
    let bytes = machine.memory(NodeId(0)).size();
    Seen::from([("nodes".into(), machine.nodes() as u64), ("bytes".into(), bytes as u64)])
}

/// Cell 0 sends, cell 1 has a ring of 128 KB and takes what came when all is there: a message that is fetched by its receiver, and more than the
/// ring holds.
fn messages(config: &ap1000p::params::Config) -> Result<Seen, String> {
    const BOUND: Picos = Picos::from_ns(500_000_000);
    const MESSAGES: u32 = 900;
    let mut sim = Ap1000pSim::new(ModelMachine::new(config), config.clone()).map_err(|e| e.to_string())?;
    sim.spawn_checked(NodeId(1), async |cell| {
        cell.open_ring(Addr(0x2_0000), RingSize::K128).await
    });
    sim.run(BOUND).map_err(|e| e.to_string())?;
    sim.spawn_checked(NodeId(0), async |cell| {
        cell.send(NodeId(1), 0, Addr(0), 64, None).await?;
        for tag in 1..MESSAGES {
            cell.send(NodeId(1), tag, Addr(0), 32, None).await?;
        }
        // All that went before is done when this is.
        cell.ack_put(NodeId(1), &Transfer::default()).await
    });
    sim.run(BOUND).map_err(|e| e.to_string())?;
    let sent = sim.now();
    sim.spawn_checked(NodeId(1), async |cell| {
        for _ in 0..MESSAGES {
            cell.recv().await?;
        }
        Ok::<_, RingError>(())
    });
    sim.run(BOUND).map_err(|e| e.to_string())?;
    match sim.take_faults().first() {
        Some(fault) => Err(fault.to_string()),
        None => Ok([("sent", sent), ("received", sim.now())]
            .map(|(name, at)| (name.into(), at.0))
            .into()),
    }
}

fn cenju3_sees(shows: Shows, config: &cenju3::params::Config) -> Result<Seen, String> {
    use cenju3::repro::{Scenario, What, measure};
    match shows {
        Size => Ok(size(&mut cenju3::model::ModelMachine::new(config))),
        Lines => {
            let scenario = Scenario {
                backend: BackendKind::Model,
                config: config.clone(),
                what: What::Rmwrite {
                    bytes: 48,
                    calls: 2,
                    receiver: true,
                },
            };
            let measured = measure(&scenario).map_err(|e| e.to_string())?;
            let values = measured.values.into_iter();
            Ok(values.map(|(name, value)| (name.into(), value.to_bits())).collect())
        }
        Row(_) | RtlRow(_) | Messages => unreachable!("rows of it are held by another test"),
    }
}

/// Names for which `see` gives the same with the other value.
fn idle<C: Clone>(
    entries: &[(&'static str, f64, Shows)],
    paper: &C,
    set: impl Fn(&mut C, &str, f64),
    see: impl Fn(Shows, &C) -> Result<Seen, String>,
) -> Vec<&'static str> {
    let moves = |&&(name, value, shows): &&(&'static str, f64, Shows)| {
        let mut changed = paper.clone();
        set(&mut changed, name, value);
        let before = see(shows, paper).unwrap_or_else(|error| panic!("the machine of the paper: {error}"));
        // What is refused is not for show.
        see(shows, &changed).is_ok_and(|after| after == before)
    };
    entries.iter().filter(moves).map(|entry| entry.0).collect()
}

fn ap1000p_idle(entries: &[(&'static str, f64, Shows)]) -> Vec<&'static str> {
    let set = |config: &mut ap1000p::params::Config, name: &str, value| config.set(name, value).unwrap();
    idle(entries, &ap1000p::params::Config::paper(), set, ap1000p_sees)
}

#[test]
fn each_of_ap1000p_moves_something() {
    let names: Vec<&str> = AP1000P.iter().map(|entry| entry.0).collect();
    let table: Vec<&str> = ap1000p::params::PARAMS.iter().map(|p| p.name).collect();
    assert_eq!(names, table);
    assert_eq!(ap1000p_idle(&AP1000P), Vec::<&str>::new());
}

/// Columns and rows are no parameters of an experiment, so none takes them.
#[test]
fn what_moves_no_experiment_is_refused_there() {
    for name in ["columns", "rows"] {
        let mut config = ap1000p::params::Config::paper();
        config.set(name, 4.0).unwrap();
        let refused = ap1000p_sees(Row("C2"), &config).unwrap_err();
        assert!(refused.contains("columns and rows"), "{refused}");
    }
}

#[test]
fn each_of_cenju3_moves_something() {
    let config = cenju3::params::Config::paper();
    let request = repro::Request {
        experiments: &[],
        backends: &[BackendKind::Model],
        config: &config,
        full: false,
        threads: pool::threads(),
    };
    let outcomes = cenju3::repro::run(&request, |_, _| ()).unwrap();
    let listed = |p: &&Param| {
        outcomes
            .iter()
            .flat_map(|o| &o.rows)
            .any(|r| r.depends_on.contains(&p.name))
    };
    let is_built_in = |p: &Param| p.range.0 == p.range.1;
    let others = cenju3::params::PARAMS.iter().filter(|p| !listed(p) && !is_built_in(p));
    let names: Vec<&str> = CENJU3.iter().map(|entry| entry.0).collect();
    assert_eq!(names, others.map(|p| p.name).collect::<Vec<_>>());
    let set = |config: &mut cenju3::params::Config, name: &str, value| config.set(name, value).unwrap();
    assert_eq!(idle(&CENJU3, &config, set, cenju3_sees), Vec::<&str>::new());
}

/// The broken twin: what is looked for where it does not show.
#[test]
fn a_parameter_that_moves_nothing_is_found() {
    let twins = [
        ("trap", 4000.0, Row("M1")),
        ("call", 3000.0, Row("M1")),
        ("bus_rate", 25.0, Size),
    ];
    assert_eq!(ap1000p_idle(&twins), ["trap", "bus_rate"]);
}
