//! Whole paths through composed RTL: memory, NIC, network, NIC, memory, interrupt.

use support::cenju3::{A, B, Driver, FREE, pattern};
use support::this_test;
use tsunagi::cenju3::golden::packet::{HEAD_FLITS, Kind, ParcelHeader};
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::regs::*;
use tsunagi::cenju3::rtl::{Composed, Machine, NotBuilt, of_nics};
use tsunagi::harness::backend::{Backend, Event, EventKind};
use tsunagi::harness::check::{holds, same_events};
use tsunagi::harness::memory::Memory;
use tsunagi::harness::wave::Probe;
use tsunagi::rtl::{Cenju3Nic, Cenju3NicUnit, Cenju3NicWide};
use tsunagi::{Addr, Cycle, NodeId, Picos};

const DEST: u32 = 0x10_0000;
const LIMIT: Picos = Picos::from_ns(20_000_000);

fn machine<N: Cenju3NicUnit>(config: &Config, probe: &Probe) -> Machine<N> {
    of_nics(config).expect("the RTL is built").with_probe(probe)
}

fn dma(bytes: u32) -> ParcelHeader {
    ParcelHeader {
        kind: Kind::Dma,
        arr: true,
        end: true,
        dst: 1,
        bytes,
        body: Addr(FREE),
        dest: Addr(DEST),
        soft: [0; 2],
    }
}

/// One DMA parcel from A to B, with both interrupts; checks the bytes and gives the events from the Sender's start.
fn transfer<N: Cenju3NicUnit>(driver: &mut Driver<Machine<N>>, bytes: u32) -> Vec<Event> {
    let data = pattern(A, B, bytes as usize);
    assert!(driver.machine.memory(A).write(Addr(FREE), &data));
    driver.machine.memory(B).poison(DEST..DEST + bytes + 64);
    driver.queue(A, 1, &dma(bytes));
    driver.machine.record(true);
    driver.start(&[A], 1);
    driver.settle(LIMIT);
    let mut want = data;
    want.extend((DEST + bytes..DEST + bytes + 64).map(Memory::poison_at));
    holds(driver.machine.memory(B), Addr(DEST), &want).unwrap_or_else(|error| panic!("{bytes} bytes: {error}"));
    driver.machine.take_events()
}

fn times(events: &[Event], node: NodeId, wanted: impl Fn(&EventKind) -> bool) -> Vec<Picos> {
    let found = events.iter().filter(|event| event.node == node && wanted(&event.kind));
    found.map(|event| event.at).collect()
}

const INTERRUPTS: u32 = R_CTRL_IE_ARRIVAL_MASK | R_CTRL_IE_END_MASK | R_CTRL_IE_ERROR_MASK | R_CTRL_IE_SEND_MASK;

#[test]
fn parcels_of_any_length_arrive_whole_and_the_interrupt_follows_the_last_write() {
    this_test!().run(|probe| {
        let config = Config::paper();
        let mut driver = Driver::new(machine::<Cenju3Nic>(&config, probe), &config, R_CTRL_IE_END_MASK);
        for bytes in [1, 2, 3, 4, 31, 32, 33, 511, 512, 513, 5000, 131_072] {
            let events = transfer(&mut driver, bytes);
            let packets = times(&events, A, |kind| matches!(kind, EventKind::TxLast { .. }));
            assert_eq!(packets.len() as u32, bytes.div_ceil(512), "{bytes} bytes");
            let irq = times(&events, B, |kind| *kind == EventKind::Irq { level: true });
            let written = times(&events, B, |kind| matches!(kind, EventKind::MemWritten { .. }));
            assert_eq!(irq.len(), 1);
            assert!(
                irq[0] >= *written.last().unwrap(),
                "{bytes} bytes: interrupt before the data are in memory"
            );
            assert_eq!(driver.read(B, R_STAT) & R_STAT_END_MASK, R_STAT_END_MASK);
            driver.write(B, R_STAT, R_STAT_END_MASK | R_STAT_ARRIVAL_MASK);
            driver.settle(LIMIT);
            assert!(!driver.machine.irq(B));
        }
    });
}

#[test]
fn a_packet_crosses_four_stages_in_forty_cycles() {
    this_test!().run(|probe| {
        let config = Config::paper();
        let mut driver = Driver::new(machine::<Cenju3Nic>(&config, probe), &config, 0);
        let events = transfer(&mut driver, 32);
        let first = |node, wanted: fn(&EventKind) -> bool| times(&events, node, wanted)[0];
        let tx = first(A, |kind| matches!(kind, EventKind::TxFirst { .. }));
        let rx = first(B, |kind| matches!(kind, EventKind::RxFirst { .. }));
        assert_eq!(
            rx - tx,
            config.net_period * u64::from(config.stages * config.stage_cycles())
        );
        let flits = events.iter().find_map(|event| match event.kind {
            EventKind::RxLast { flits } => Some(flits),
            _ => None,
        });
        assert_eq!(flits, Some(HEAD_FLITS as u32 + 16));
    });
}

#[test]
fn the_same_run_twice_and_with_every_unit_evaluated_gives_the_same_events() {
    this_test!().run(|probe| {
        let config = Config::paper();
        let run = |gated: bool| {
            let machine = machine::<Cenju3Nic>(&config, probe);
            let machine = if gated { machine } else { machine.ungated() };
            let mut driver = Driver::new(machine, &config, INTERRUPTS);
            [3000, 64].map(|bytes| transfer(&mut driver, bytes)).concat()
        };
        let first = run(true);
        same_events(&first, &run(true)).unwrap();
        same_events(&first, &run(false)).unwrap();
    });
}

#[test]
fn any_ratio_and_phase_of_the_clocks_carries_the_data() {
    this_test!().run(|probe| {
        for (io, net, phase) in [
            (40, 50, 13),
            (50, 40, 0),
            (40, 40, 0),
            (40, 40, 7),
            (41, 53, 29),
            (7, 97, 3),
            (97, 7, 50),
        ] {
            let config = Config {
                io_period: Picos::from_ns(io),
                net_period: Picos::from_ns(net),
                net_phase: Picos::from_ns(phase),
                ..Config::paper()
            };
            let mut driver = Driver::new(machine::<Cenju3Nic>(&config, probe), &config, 0);
            for bytes in [1, 1000, 2048] {
                transfer(&mut driver, bytes);
            }
        }
    });
}

#[test]
fn memories_with_random_latency_change_times_only() {
    this_test!().run(|probe| {
        let config = Config::paper();
        for seed in 0..8 {
            let machine = machine::<Cenju3Nic>(&config, probe).with_memory_jitter(seed, Cycle(60), Cycle(3));
            let mut driver = Driver::new(machine, &config, 0);
            for bytes in [5, 700, 4096] {
                transfer(&mut driver, bytes);
            }
        }
    });
}

#[test]
fn the_wide_fast_machine_carries_the_same_bytes() {
    this_test!().run(|probe| {
        let config = Config {
            bus_bytes: 8,
            io_period: Picos::from_ns(20),
            net_period: Picos::from_ns(5),
            s_gap: 0,
            sync_idle: 0,
            ..Config::paper()
        };
        let mut driver = Driver::new(machine::<Cenju3NicWide>(&config, probe), &config, 0);
        for bytes in [1, 7, 8, 9, 513, 65_536] {
            transfer(&mut driver, bytes);
        }
    });
}

#[test]
fn a_sink_in_place_of_the_receiver_takes_everything_at_wire_speed() {
    this_test!().run(|probe| {
        let config = Config::paper();
        let mut machine = machine::<Cenju3Nic>(&config, probe);
        machine.with_hardware(|hardware| hardware.sink(B));
        let mut driver = Driver::new(machine, &config, 0);
        assert!(driver.machine.memory(A).write(Addr(FREE), &[7; 65_536]));
        driver.queue(A, 1, &dma(65_536));
        driver.machine.record(true);
        driver.start(&[A], 1);
        driver.settle(LIMIT);
        let events = driver.machine.take_events();
        assert_eq!(
            times(&events, B, |kind| matches!(kind, EventKind::RxLast { .. })).len(),
            128
        );
        assert!(times(&events, B, |kind| matches!(kind, EventKind::MemWrite { .. })).is_empty());
        // Nothing holds the link up: every packet comes in as fast as its flits go.
        let heads = times(&events, B, |kind| matches!(kind, EventKind::RxFirst { .. }));
        let tails = times(&events, B, |kind| matches!(kind, EventKind::RxLast { flits: 265 }));
        assert!(
            heads
                .iter()
                .zip(&tails)
                .all(|(head, tail)| *tail - *head == config.net_period * 264)
        );
        assert_eq!(tails.len(), 128);
    });
}

#[test]
fn a_bus_error_on_the_body_is_reported_and_the_next_parcel_arrives() {
    this_test!().run(|probe| {
        let config = Config::paper();
        let mut driver = Driver::new(machine::<Cenju3Nic>(&config, probe), &config, INTERRUPTS);
        driver.machine.memory(A).inject_fault(FREE + 700..FREE + 701);
        driver.queue(A, 1, &dma(2048));
        driver.start(&[A], 1);
        driver.irq(A, LIMIT);
        driver.settle(LIMIT);
        assert_eq!(driver.read(A, R_STAT) & R_STAT_SEND_ERROR_MASK, R_STAT_SEND_ERROR_MASK);
        assert_eq!(
            (driver.read(A, S_STAT) & S_STAT_ERROR1_MASK) >> S_STAT_ERROR1_SHIFT,
            STATUS_BODY_BUS_ERROR
        );
        assert_eq!(driver.read(B, R_STAT) & R_STAT_TRUNCATED_MASK, R_STAT_TRUNCATED_MASK);
        driver.machine.memory(A).clear_faults();
        driver.write(A, R_STAT, R_STAT_SEND_ERROR_MASK);
        driver.write(A, S_CTRL, S_CTRL_RESUME1_MASK);
        transfer(&mut driver, 2048);
    });
}

#[test]
fn a_halted_receiver_is_named_in_the_hang_report_and_goes_on_when_restarted() {
    this_test!().run(|probe| {
        let config = Config::paper();
        let mut driver = Driver::new(
            machine::<Cenju3Nic>(&config, probe),
            &config,
            INTERRUPTS | R_CTRL_HALT_END_DMA_MASK,
        );
        let data = pattern(A, B, 16_384);
        assert!(driver.machine.memory(A).write(Addr(FREE), &data));
        for part in 0..2 {
            let parcel = ParcelHeader {
                bytes: 8192,
                body: Addr(FREE + part * 8192),
                dest: Addr(DEST + part * 8192),
                ..dma(1)
            };
            driver.queue(A, 1, &parcel);
        }
        driver.start(&[A], 1);
        driver.irq(B, LIMIT);
        let later = driver.machine.now() + Picos::from_us(500.0);
        while driver.machine.next_event().is_some_and(|next| next <= later) {
            let next = driver.machine.next_event().unwrap();
            driver.machine.advance(next);
        }
        let report = driver.machine.hang_report();
        for part in [
            "PE 1: interrupt line high",
            "PE 1: a flit waits for the NIC's receive side",
            "stage 3",
        ] {
            assert!(report.contains(part), "no `{part}` in:\n{report}");
        }
        let run = R_CTRL_RUN_MASK | INTERRUPTS;
        driver.write(B, R_STAT, R_STAT_END_MASK | R_STAT_ARRIVAL_MASK);
        driver.write(B, R_CTRL, run | R_CTRL_RESTART_MASK);
        driver.settle(LIMIT);
        holds(driver.machine.memory(B), Addr(DEST), &data).unwrap();
    });
}

#[test]
fn hardware_that_was_not_built_is_refused_by_name() {
    let error = |config: Config| Composed::<Cenju3Nic>::new(&config).err().unwrap();
    let many = error(Config {
        pes: 17,
        stages: 2,
        ..Config::paper()
    });
    assert!(matches!(many, NotBuilt::TooManyPes { ports: 16, .. }), "{many}");
    let wide = error(Config {
        bus_bytes: 8,
        ..Config::paper()
    });
    assert!(wide.to_string().contains("`bus_bytes` = 8"), "{wide}");
    let deep = error(Config {
        buf_flits: 64,
        ..Config::paper()
    });
    assert!(deep.to_string().contains("`buf_flits` = 64"), "{deep}");
}
