//! The timed golden model against the paper's arithmetic, under the simplest possible host. Its bytes are real.

use support::cenju3::{A, B, DMA_HEADERS, Driver, LIMIT, MSG_BODIES, MSG_HEADERS, QUEUES};
use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader};
use tsunagi::cenju3::model::ModelMachine;
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::regs::*;
use tsunagi::harness::backend::{Backend, EventKind, HostReq};
use tsunagi::{Addr, Picos};

use crate::traffic::{self, DEST, SOURCE, all_to_all, dma, first};

fn driver(config: &Config) -> Driver<ModelMachine> {
    Driver::new(ModelMachine::new(config), config, 0)
}

fn throughput(config: &Config, size: u32, rate: Option<f64>, delay: f64) -> f64 {
    traffic::throughput(ModelMachine::new, config, size, rate, delay)
}

fn rmwrite_throughput(config: &Config, size: u32) -> f64 {
    traffic::rmwrite_throughput(ModelMachine::new, config, size)
}

/// Digest of sec. 6.3: reception is bound by Receiver, network or FIFO, whichever takes longest.
fn formula(size: u32, network: f64, fifo: f64, delay: f64, rate: f64) -> f64 {
    const RECEIVER: f64 = 48.0;
    let s = f64::from(size);
    let stall = delay + s / rate;
    s / (stall + s / RECEIVER)
        .max(s / network)
        .max(stall + (s - fifo) / network)
}

fn assert_near(what: &str, expected: f64, got: f64, percent: f64) {
    let off = (got / expected - 1.0) * 100.0;
    assert!(
        off.abs() <= percent,
        "{what}: expected {expected:.2} within {percent} %, got {got:.2} ({off:+.2} %)"
    );
}

#[test]
fn links_gap_and_synchronisation_give_the_levels_of_section_6_1() {
    for (gap, idle, expected) in [(0, 0, 38.64), (0, 5, 37.93), (19, 5, 36.06)] {
        let config = Config {
            s_gap: gap,
            sync_idle: idle,
            ..Config::paper()
        };
        assert_near("network", expected, throughput(&config, 131072, None, 0.0), 0.1);
    }
    // Memory at both ends is not what limits: with the ends four times slower it is.
    let slow = Config {
        mem_overhead: 32,
        ..Config::paper()
    };
    assert!(throughput(&slow, 65536, None, 0.0) < 25.0);
}

#[test]
fn not_pipelined_throughput_is_that_of_the_formula() {
    let config = Config::paper();
    let sizes = [1024, 2048, 4096, 6144, 7168, 8192, 16384, 65536, 131072];
    let ours: Vec<f64> = sizes
        .iter()
        .map(|&s| throughput(&config, s, Some(200.0), 9.0))
        .collect();
    for (size, ours) in sizes.into_iter().zip(&ours) {
        assert_near(
            &format!("{size} B"),
            formula(size, 36.06, 1600.0, 9.0, 200.0),
            *ours,
            2.5,
        );
    }
    // At half a kilobyte the time between the last word and the interrupt shows; the formula counts it as part of the
    // 9.
    let half = throughput(&config, 512, Some(200.0), 9.0);
    assert_near("512 B", formula(512, 36.06, 1600.0, 9.5, 200.0), half, 2.0);
    let best = (0..sizes.len()).max_by(|&a, &b| ours[a].total_cmp(&ours[b])).unwrap();
    assert!((6144..=8192).contains(&sizes[best]), "peak at {} B", sizes[best]);
    assert!(ours[5..].windows(2).all(|w| w[1] < w[0]), "falling past 8 KB: {ours:?}");
    assert!((30.5..=31.5).contains(ours.last().unwrap()));
}

#[test]
fn the_delay_hurts_small_transfers_most() {
    let config = Config::paper();
    for (delay, expected) in [(0.0, 36.0), (9.0, 28.9), (20.0, 22.0)] {
        assert_near("1 KB", expected, throughput(&config, 1024, Some(200.0), delay), 5.0);
    }
    let large = |delay| throughput(&config, 131072, Some(200.0), delay);
    assert!((large(0.0) - large(20.0)).abs() < 0.2);
}

#[test]
fn rates_act_where_the_paper_says() {
    let at = |size, config: &Config, rate| throughput(config, size, Some(rate), 9.0);
    let paper = Config::paper();
    let slow_network = Config {
        s_gap: 76,
        ..Config::paper()
    };
    assert_near(
        "1 KB, N = 30",
        at(1024, &paper, 200.0),
        at(1024, &slow_network, 200.0),
        1.0,
    );
    assert_near(
        "128 KB, N = 30",
        formula(131072, 30.03, 1600.0, 9.0, 200.0),
        at(131072, &slow_network, 200.0),
        2.0,
    );
    let slow_receiver = Config {
        mem_overhead: 12,
        ..Config::paper()
    };
    assert!(at(1024, &slow_receiver, 200.0) < 0.95 * at(1024, &paper, 200.0));
    assert_near(
        "128 KB, R = 38",
        at(131072, &paper, 200.0),
        at(131072, &slow_receiver, 200.0),
        1.0,
    );
    for size in [1024, 8192, 131072] {
        assert!(at(size, &paper, 100.0) < 0.93 * at(size, &paper, 200.0), "{size} B");
    }
}

#[test]
fn rmwrite_reaches_what_the_fluid_simulation_says() {
    let config = Config {
        pipelined: true,
        ..Config::paper()
    };
    assert_near("8 KB", 34.73, rmwrite_throughput(&config, 8192), 2.0);
    assert!(rmwrite_throughput(&config, 16384) < rmwrite_throughput(&config, 8192));
    assert!(rmwrite_throughput(&config, 2048) < rmwrite_throughput(&config, 6144));
}

#[test]
fn hardware_latency_is_seven_microseconds_of_about_one_each() {
    let config = Config::paper();
    let mut d = driver(&config);
    d.write(B, R_CTRL, R_CTRL_RUN_MASK | R_CTRL_IE_END_MASK);
    d.machine.record(true);
    d.send(
        A,
        &[ParcelHeader {
            kind: Kind::Msg0,
            ..dma(1, 32, 0)
        }],
    );
    d.irq(B, LIMIT);
    let events = d.machine.take_events();
    assert!(events.windows(2).all(|w| w[0].at <= w[1].at), "in time order");
    let start = first(&events, A, |k| matches!(k, EventKind::RegWrite { offset: SQ1_PUT, .. }));
    let header_came = first(&events, A, |k| k == EventKind::MemReadData { addr: Addr(QUEUES[1]) });
    let header_read = header_came + config.io_period * 7;
    let out = first(&events, A, |k| matches!(k, EventKind::TxFirst { .. }));
    let inward = first(&events, B, |k| matches!(k, EventKind::RxFirst { .. }));
    let written = |at: u32, bytes: u32| first(&events, B, |k| k == EventKind::MemWritten { addr: Addr(at), bytes });
    let header = written(MSG_HEADERS, 16);
    for (what, span) in [
        ("header read", header_read - start),
        ("body read", out - header_read),
        ("header write", header - (inward + config.net_period * 9)),
    ] {
        assert!((0.8..=1.3).contains(&span.as_us()), "{what}: {span}");
    }
    assert_eq!(
        inward - out,
        Picos::from_us(2.0),
        "synchronisation and switching, 1 us each"
    );
    let total = config.ext_access + (header - start);
    assert!((6.5..=7.5).contains(&total.as_us()), "total {total}");
    let irq = first(&events, B, |k| k == EventKind::Irq { level: true });
    assert!(
        irq >= written(MSG_BODIES[0], 32),
        "the end interrupt follows the last write"
    );
    assert!((11.0..=13.0).contains(&(irq - start + config.irq_recognition).as_us()));
}

#[test]
fn all_to_all_delivers_every_byte_and_repeats_exactly() {
    let (first, end) = all_to_all(ModelMachine::new, 16, 700);
    let (second, again) = all_to_all(ModelMachine::new, 16, 700);
    assert!(first == second && end == again, "two runs differ");
    // Fifteen packets of 512 B and fifteen of 188 B into each PE.
    let least = 15.0 * (265.0 + 103.0) * 0.05;
    assert!(
        end.as_us() > least && end.as_us() < 6.0 * least,
        "{end} for at least {least} us"
    );
}

#[test]
fn a_machine_of_256_exchanges_with_all() {
    all_to_all(ModelMachine::new, 256, 64);
}

#[test]
fn a_priority_parcel_passes_a_long_one_at_a_packet_boundary() {
    let mut d = driver(&Config::paper());
    let at = d.machine.now();
    d.send(A, &[dma(1, 131072, 0)]);
    d.until(at + Picos::from_us(500.0));
    let urgent = ParcelHeader {
        kind: Kind::Msg1,
        ..dma(1, 8, 0)
    };
    d.queue(A, 0, &urgent);
    d.machine.record(true);
    d.start(&[A], 0);
    d.settle(LIMIT);
    let events = d.machine.take_events();
    let heads: Vec<u16> = events
        .iter()
        .filter_map(|e| {
            if let EventKind::TxFirst { head } = e.kind {
                Some(head)
            } else {
                None
            }
        })
        .collect();
    let place = heads
        .iter()
        .position(|head| u32::from(*head) & ROUTE_PRIORITY_MASK != 0)
        .expect("it went");
    assert!(place <= 2, "after {place} more packets of {}", heads.len());
    assert!(heads.len() > 100);
}

#[test]
fn bad_parcels_and_packets_are_reported_and_the_next_is_unharmed() {
    let mut d = driver(&Config::paper());
    d.write(A, R_CTRL, R_CTRL_RUN_MASK | R_CTRL_IE_SEND_MASK);
    let data = d.fill(A, SOURCE, 4096, 3);
    d.send(
        A,
        &[
            ParcelHeader {
                dest: Addr(DEST + 4),
                ..dma(1, 64, 0)
            },
            dma(1, 64, 0),
        ],
    );
    d.irq(A, LIMIT);
    assert_eq!(
        d.read(A, S_STAT) & 0xffff,
        S_STAT_EMPTY0_MASK | S_STAT_HALTED1_MASK | STATUS_DEST_MISALIGNED << S_STAT_ERROR1_SHIFT
    );
    assert_eq!(
        d.bytes(A, QUEUES[1] + PARCEL_STATUS, 4),
        STATUS_DEST_MISALIGNED.to_le_bytes()
    );
    d.write(A, R_STAT, R_STAT_SEND_ERROR_MASK);
    d.write(A, S_CTRL, S_CTRL_RESUME1_MASK);
    d.settle(LIMIT);
    assert_eq!((d.read(A, SQ1_GET), d.bytes(B, DEST, 64)), (2, data[..64].to_vec()));

    // A body that memory refuses: the packet under way is cut, and the Receiver does not publish it.
    d.machine.memory(A).inject_fault(SOURCE + 1024 + 40..SOURCE + 1024 + 44);
    d.send(A, &[dma(1, 2048, 0), dma(1, 512, 2048)]);
    d.irq(A, LIMIT);
    assert_eq!(
        d.bytes(A, QUEUES[1] + 64 + PARCEL_STATUS, 4),
        STATUS_BODY_BUS_ERROR.to_le_bytes()
    );
    d.settle(LIMIT);
    assert_eq!((d.read(B, DHB_PUT), d.read(B, R_DROP)), (3, 1));
    assert_eq!(d.read(B, R_STAT), R_STAT_END_MASK | R_STAT_TRUNCATED_MASK);
    d.write(A, S_CTRL, S_CTRL_RESUME1_MASK);
    d.settle(LIMIT);
    assert_eq!(
        (d.read(B, DHB_PUT), d.bytes(B, DEST + 2048, 512)),
        (4, data[2048..2560].to_vec())
    );

    // A packet for another PE, and a write that memory refuses.
    d.write(B, NODE_ID, 7);
    d.send(A, &[dma(1, 512, 0)]);
    d.settle(LIMIT);
    assert_eq!(
        (d.read(B, R_DROP), d.read(B, R_STAT) & R_STAT_BAD_HEADER_MASK != 0),
        (2, true)
    );
    d.write(B, NODE_ID, 1);
    d.machine.memory(B).inject_fault(DEST + 100..DEST + 101);
    d.send(A, &[dma(1, 512, 0), dma(1, 512, 512)]);
    d.settle(LIMIT);
    assert_eq!(
        (d.read(B, R_DROP), d.read(B, R_STAT) & R_STAT_BUS_ERROR_MASK != 0),
        (3, true)
    );
    assert_eq!(
        (d.read(B, DHB_PUT), d.bytes(B, DEST + 512, 512)),
        (5, data[512..1024].to_vec())
    );
}

#[test]
fn a_full_ring_stops_the_network_and_nothing_is_lost() {
    let mut d = driver(&Config::paper());
    d.write(B, DHB_SIZE, 4);
    d.write(B, R_CTRL, R_CTRL_RUN_MASK | R_CTRL_IE_ERROR_MASK);
    let data = d.fill(A, SOURCE, 16 * 512, 9);
    let parcels: Vec<_> = (0..16).map(|i| dma(1, 512, 512 * i)).collect();
    d.send(A, &parcels);
    let mut taken = 0;
    while taken < 15 {
        d.irq(B, LIMIT);
        d.settle(LIMIT);
        assert_eq!(
            d.read(B, R_STAT) & 0xffff,
            R_STAT_HALTED_MASK | R_STAT_OVERFLOW_MASK | R_STAT_END_MASK
        );
        let put = d.read(B, DHB_PUT);
        assert_eq!((put + 4 - taken % 4) % 4, 3, "the ring holds three");
        taken += 3;
        if taken < 9 {
            assert!(
                d.machine.hang_report().contains("PE 1: sender idle; receiver halted"),
                "{}",
                d.machine.hang_report()
            );
        }
        d.write(B, DHB_GET, put);
        d.write(B, R_STAT, R_STAT_OVERFLOW_MASK);
        d.write(B, R_CTRL, R_CTRL_RUN_MASK | R_CTRL_IE_ERROR_MASK | R_CTRL_RESTART_MASK);
    }
    d.settle(LIMIT);
    assert_eq!(d.bytes(B, DEST, 16 * 512), data);
}

#[test]
fn a_halt_on_arrival_holds_the_body_back() {
    let mut d = driver(&Config::paper());
    let run = R_CTRL_RUN_MASK | R_CTRL_HALT_ARRIVAL_MASK | R_CTRL_IE_ARRIVAL_MASK | R_CTRL_IE_END_MASK;
    d.write(B, R_CTRL, run);
    let data = d.fill(A, SOURCE, 512, 5);
    let before = d.fill(B, DEST, 512, 6);
    d.send(
        A,
        &[ParcelHeader {
            arr: true,
            ..dma(1, 512, 0)
        }],
    );
    d.irq(B, LIMIT);
    d.settle(LIMIT);
    assert_eq!(d.read(B, R_STAT) & 0xffff, R_STAT_HALTED_MASK | R_STAT_ARRIVAL_MASK);
    assert_eq!((d.read(B, DHB_PUT), d.bytes(B, DEST, 512)), (0, before));
    assert_eq!(
        d.bytes(B, DMA_HEADERS + PACKET_BODY, 2),
        512u16.to_le_bytes(),
        "the header is there"
    );
    d.write(B, R_STAT, R_STAT_ARRIVAL_MASK);
    d.write(B, R_CTRL, run | R_CTRL_RESTART_MASK);
    d.irq(B, LIMIT);
    assert_eq!((d.read(B, DHB_PUT), d.bytes(B, DEST, 512)), (1, data));
}

#[test]
fn registers_that_are_not_there_answer_with_an_error() {
    let mut d = driver(&Config::paper());
    let mut error = |req| d.access(A, req).error;
    for offset in [SQ0_GET, S_STAT, MHB_PUT, MBB1_PUT, R_DROP, R_ERR, ID, 0x80, 2] {
        assert!(error(HostReq::write(offset.into(), 1)), "write {offset:#x}");
    }
    for offset in [0x80, 0xfc, 2] {
        assert!(error(HostReq::read(offset)), "read {offset:#x}");
    }
    assert!((0..=ID).step_by(4).all(|offset| !error(HostReq::read(offset.into()))));
}
