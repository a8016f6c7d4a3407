//! No parameter is for show: another value of each moves a row, or the machine, or is refused.

use support::parameters::{self, Entry, Seen, by_name, size};
use tsunagi::ap1000p::Ap1000p;
use tsunagi::ap1000p::host::{Ap1000pSim, RingError, RingSize, Transfer};
use tsunagi::ap1000p::model::ModelMachine;
use tsunagi::ap1000p::params::{Config, PARAMS};
use tsunagi::repro::row::BackendKind;
use tsunagi::repro::{Request, lab, pool};
use tsunagi::{Addr, NodeId, Picos};

/// Where another value of a parameter shows.
#[derive(Clone, Copy)]
enum Shows {
    /// In a row of this experiment, on the golden model.
    Row(&'static str),
    /// In one on the RTL: the model has no such thing.
    RtlRow(&'static str),
    /// In how many nodes the machine has, or in their memory; experiments take sizes of their own.
    Size,
    /// In how long messages take that are larger than goes at once, and then more than a ring buffer holds.
    Messages,
}
use Shows::*;

const ENTRIES: [Entry<Shows>; 24] = [
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

fn see(shows: Shows, config: &Config) -> Result<Seen, String> {
    let rows = |id, backend| {
        let request = Request {
            experiments: &[id],
            backends: &[backend],
            config,
            full: false,
            threads: pool::threads(),
        };
        let outcomes = lab::run::<Ap1000p>(&request, |_, _| ()).map_err(|e| e.to_string())?;
        Ok(by_name(outcomes.iter().flat_map(|o| &o.rows)))
    };
    match shows {
        Row(id) => rows(id, BackendKind::Model),
        RtlRow(id) => rows(id, BackendKind::Rtl),
        Size => Ok(size(&mut ModelMachine::new(config))),
        Messages => messages(config),
    }
}

/// Cell 0 sends. Cell 1 has a ring of 128 KB and receives when all is sent. One message is fetched by its receiver, and
/// all of them are more than the ring holds.
fn messages(config: &Config) -> Result<Seen, String> {
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

fn idle(entries: &[Entry<Shows>]) -> Vec<&'static str> {
    let set = |config: &mut Config, name: &str, value| config.set(name, value).unwrap();
    parameters::idle(entries, &Config::paper(), set, see)
}

#[test]
fn each_moves_something() {
    let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.0).collect();
    let table: Vec<&str> = PARAMS.iter().map(|p| p.name).collect();
    assert_eq!(names, table);
    assert_eq!(idle(&ENTRIES), Vec::<&str>::new());
}

/// Columns and rows are no parameters of an experiment, so none takes them.
#[test]
fn what_moves_no_experiment_is_refused_there() {
    for name in ["columns", "rows"] {
        let mut config = Config::paper();
        config.set(name, 4.0).unwrap();
        let refused = see(Row("C2"), &config).unwrap_err();
        assert!(refused.contains("columns and rows"), "{refused}");
    }
}

/// The broken twin: what is looked for where it does not show.
#[test]
fn a_parameter_that_moves_nothing_is_found() {
    let twins = [
        ("trap", 4000.0, Row("M1")),
        ("call", 3000.0, Row("M1")),
        ("bus_rate", 25.0, Size),
    ];
    assert_eq!(idle(&twins), ["trap", "bus_rate"]);
}
