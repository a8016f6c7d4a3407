//! Waves of the composed machines: they change nothing, show what the events say, and are left behind by a run that fails.

mod machine_driver;
mod wave_reader;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use machine_driver::{Driver, FREE, pattern};
use tsunagi::ap1000p::host::Ap1000pSim;
use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader};
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::rtl::Machine;
use tsunagi::harness::backend::{Backend, Event, EventKind};
use tsunagi::harness::check::same_events;
use tsunagi::harness::wave::{Probe, WaveRequest, with_waves};
use tsunagi::rtl::Cenju3Nic;
use tsunagi::{Addr, NodeId, Picos, ap1000p};
use wave_reader::{Grid, changes, check_clocks};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

/// A parcel of three packets from A to B.
fn run(probe: &Probe) -> Vec<Event> {
    let config = Config::paper();
    let machine = Machine::<Cenju3Nic>::build(&config)
        .expect("the RTL is built")
        .with_probe(probe);
    let mut driver = Driver::new(machine, &config, 0);
    assert!(driver.machine.memory(A).write(Addr(FREE), &pattern(A, B, 1500)));
    let parcel = ParcelHeader {
        kind: Kind::Dma,
        arr: false,
        end: false,
        dst: 1,
        bytes: 1500,
        body: Addr(FREE),
        dest: Addr(FREE),
        soft: [0; 2],
    };
    driver.queue(A, 0, &parcel);
    driver.machine.record(true);
    driver.start(&[A], 0);
    driver.settle(Picos::from_us(1000.0));
    driver.machine.take_events()
}

/// 300 words by PUT from one cell of AP1000+ to the other.
fn run_ap1000p(probe: &Probe) -> Vec<Event> {
    let mut config = ap1000p::params::Config::paper();
    (config.columns, config.rows) = (2, 1);
    let machine = ap1000p::rtl::build(&config, probe).expect("the RTL is built");
    let mut sim = Ap1000pSim::new(machine, config).expect("it boots");
    sim.backend_mut().record(true);
    let flag = Addr(4);
    sim.spawn_checked(A, async move |cell| {
        cell.put(B, Addr(0x100), 300, Addr(0x100), Some(flag), None).await
    });
    sim.spawn_checked(B, async move |cell| cell.wait_flag(flag, 1).await);
    sim.run(Picos::from_us(1000.0)).expect("it ends");
    sim.backend_mut().take_events()
}

fn last_before(changes: &[(u64, String)], at: Picos) -> &str {
    let before = changes.iter().take_while(|(time, _)| *time < at.0);
    before.last().map_or("none", |(_, value)| value)
}

/// A machine of two nodes, and how its wave calls what is looked at.
struct Shown {
    run: fn(&Probe) -> Vec<Event>,
    /// A sends a packet's first word; a write of B's memory is answered.
    sends: &'static str,
    written: &'static str,
    clocks: [&'static str; 2],
    grids: &'static [(&'static str, Grid)],
}

const CENJU3: [(&str, Grid); 3] = [
    ("io_clk_i", (40_000, 0)),
    ("net_clk_i", (50_000, 0)),
    ("clk_i", (50_000, 0)),
];

const MACHINES: [Shown; 2] = [
    Shown {
        run,
        sends: "nic_0.tx_valid_o",
        written: "nic_1.mem_wr_rsp_valid_i",
        clocks: ["nic_0.io_clk_i", "switch_0_0.clk_i"],
        grids: &CENJU3,
    },
    Shown {
        run: run_ap1000p,
        sends: "cell0.tx_valid_o",
        written: "cell1.mem_wr_rsp_valid_i",
        clocks: ["cell0.clk_i", "router1x0.clk_i"],
        grids: &[("clk_i", (20_000, 0))],
    },
];

#[test]
fn a_wave_changes_no_event_and_shows_what_the_events_say_in_both_formats() {
    for Shown {
        run,
        sends,
        written,
        clocks,
        grids,
    } in MACHINES
    {
        let folder = tempfile::tempdir().unwrap();
        let plain = run(&Probe::default());
        let signals = [&clocks[..], &[sends, written]].concat();
        let (mut shown, mut checked) = (Vec::new(), BTreeMap::new());
        for name in ["run.vcd", "run.fst"] {
            let path = folder.path().join(name);
            let request = WaveRequest {
                path: path.clone(),
                from: Picos::ZERO,
                to: None,
            };
            same_events(&plain, &run(&Probe::new(request))).unwrap();
            let found = changes(&path, |name| signals.contains(&name));
            assert_eq!(found.len(), signals.len(), "{:?}", found.keys());
            for event in &plain {
                let signal = match event.kind {
                    EventKind::TxFirst { .. } if event.node == A => sends,
                    EventKind::MemWritten { .. } if event.node == B => written,
                    _ => continue,
                };
                *checked.entry(signal).or_insert(0) += 1;
                let shown_before = last_before(&found[signal], event.at);
                // An output stands before the edge that takes it; an input is given at the edge.
                let at_edge = last_before(&found[signal], event.at + Picos(1));
                assert!(shown_before == "1" || at_edge == "1", "{signal} at {event:?}");
            }
            for clock in clocks {
                let edges = &found[clock];
                assert!(edges.len() > 100, "{clock} changes {} times", edges.len());
                assert!(edges.windows(2).all(|pair| pair[0].1 != pair[1].1));
            }
            assert!(check_clocks(&path, grids) > 10);
            shown.push(found);
        }
        assert_eq!(checked.len(), 2, "{checked:?}");
        assert_eq!(shown[0], shown[1], "VCD and FST agree");
    }
}

#[test]
fn a_wave_of_a_span_begins_and_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.fst");
    let (from, to) = (Picos::from_us(20.0), Picos::from_us(25.0));
    let request = WaveRequest {
        path: path.clone(),
        from,
        to: Some(to),
    };
    run(&Probe::new(request));
    let found = changes(&path, |name| name == "nic_0.io_clk_i");
    assert!(check_clocks(&path, &CENJU3) > 10);
    let times: Vec<u64> = found["nic_0.io_clk_i"].iter().map(|(at, _)| *at).collect();
    assert!(times[0].abs_diff(from.0) < 100_000, "{times:?}");
    assert!(
        *times.last().unwrap() <= to.0 && *times.last().unwrap() > to.0 - 100_000,
        "{times:?}"
    );
}

#[test]
fn a_failing_run_leaves_a_wave_of_its_last_microseconds() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        with_waves(
            folder.path(),
            "twin",
            "cargo test -p tsunagi --test machine_wave",
            |probe| {
                run(probe);
                panic!("found wrong");
            },
        )
    }));
    assert_eq!(outcome.unwrap_err().downcast_ref::<&str>(), Some(&"found wrong"));
    let files: Vec<_> = fs::read_dir(folder.path().join("twin")).unwrap().flatten().collect();
    assert_eq!(files.len(), 1);
    let found = changes(&files[0].path(), |name| name == "nic_1.rx_valid_i");
    assert_eq!(found.len(), 1);
}
