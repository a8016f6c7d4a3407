//! Waves of the composed machine change nothing and show what the events say. A run that fails leaves one behind.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use support::cenju3::{A, B, Driver, FREE, pattern};
use support::machine_wave::{Link, Shown};
use support::wave_reader::{Grid, changes, check_clocks};
use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader};
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::rtl::of_nics;
use tsunagi::harness::backend::{Backend, Event, EventKind};
use tsunagi::harness::lane::Way;
use tsunagi::harness::wave::{Probe, WaveRequest, with_waves};
use tsunagi::rtl::Cenju3Nic;
use tsunagi::{Addr, Picos};

/// A parcel of three packets from A to B.
fn run(probe: &Probe) -> Vec<Event> {
    let config = Config::paper();
    let machine = of_nics::<Cenju3Nic>(&config)
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

const CLOCKS: [(&str, Grid); 3] = [
    ("io_clk_i", (40_000, 0)),
    ("net_clk_i", (50_000, 0)),
    ("clk_i", (50_000, 0)),
];

#[test]
fn a_wave_changes_no_event_and_shows_what_the_events_say_in_both_formats() {
    let shown = Shown {
        run,
        high: [
            (A, |kind| matches!(kind, EventKind::TxFirst { .. }), "nic_0.tx_valid_o"),
            (
                B,
                |kind| matches!(kind, EventKind::MemWritten { .. }),
                "nic_1.mem_wr_rsp_valid_i",
            ),
        ],
        links: &[
            Link {
                lane: "lanes.nic_0.link_out",
                node: A,
                way: Way::Out,
                sender: A,
                end: "B to PE 1",
            },
            Link {
                lane: "lanes.nic_1.link_in",
                node: B,
                way: Way::In,
                sender: A,
                end: "B to PE 1",
            },
        ],
        clocks: ["nic_0.io_clk_i", "switch_0_0.clk_i"],
        grids: &CLOCKS,
    };
    shown.check();
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
    assert!(check_clocks(&path, &CLOCKS) > 10);
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
        with_waves(folder.path(), "twin", "no line repeats it", |probe| {
            run(probe);
            panic!("found wrong");
        })
    }));
    assert_eq!(outcome.unwrap_err().downcast_ref::<&str>(), Some(&"found wrong"));
    let files: Vec<_> = fs::read_dir(folder.path().join("twin")).unwrap().flatten().collect();
    assert_eq!(files.len(), 1);
    let found = changes(&files[0].path(), |name| name == "nic_1.rx_valid_i");
    assert_eq!(found.len(), 1);
}
