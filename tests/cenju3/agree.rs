//! The timed golden model and the RTL machine, under the same host.

use support::cenju3::{A, B, DMA_HEADERS, Driver, LIMIT};
use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader};
use tsunagi::cenju3::model::ModelMachine;
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::regs::*;
use tsunagi::cenju3::repro::{AtEnd, Scenario, What, measure};
use tsunagi::cenju3::rtl::{Machine, of_nics};
use tsunagi::harness::backend::{Backend, Event, EventKind};
use tsunagi::repro::Record;
use tsunagi::repro::row::BackendKind;
use tsunagi::rtl::{Cenju3Nic, Cenju3NicWide};
use tsunagi::{Addr, Picos};

use crate::traffic::{DEST, SOURCE, all_to_all, dma, rmwrite_throughput, throughput};

fn rtl(config: &Config) -> Machine<Cenju3Nic> {
    of_nics::<Cenju3Nic>(config).expect("the RTL is built")
}

fn latency<M: Backend>(machine: M, config: &Config, kind: Kind) -> Vec<Event> {
    let mut d = Driver::new(machine, config, 0);
    d.fill(A, SOURCE, 64, 1);
    d.write(B, R_CTRL, R_CTRL_RUN_MASK | R_CTRL_IE_END_MASK);
    d.settle(LIMIT);
    d.machine.record(true);
    d.send(A, &[ParcelHeader { kind, ..dma(1, 32, 0) }]);
    d.irq(B, LIMIT);
    d.machine.take_events()
}

#[test]
fn one_packet_takes_the_same_way_at_the_same_times() {
    let config = Config::paper();
    for kind in [Kind::Msg0, Kind::Dma] {
        let (model, rtl) = (
            latency(ModelMachine::new(&config), &config, kind),
            latency(rtl(&config), &config, kind),
        );
        let kinds = |events: &[Event]| events.iter().map(|e| (e.node, e.kind)).collect::<Vec<_>>();
        assert_eq!(kinds(&model), kinds(&rtl));
        for (m, r) in model.iter().zip(&rtl) {
            let (m_at, r_at) = ((m.at - model[0].at).as_us(), (r.at - rtl[0].at).as_us());
            assert!(
                (m_at - r_at).abs() <= 0.15,
                "{:?}: model {m_at} us, RTL {r_at} us",
                m.kind
            );
        }
    }
}

/// Sends these parcels to PE 1 back to back; its memory answers late and refuses one byte. Gives PE 1's writes with
/// their responses, and its registers at the end.
fn writes<M: Backend>(
    machine: M,
    config: &Config,
    parcels: &[ParcelHeader],
    refused: Option<u32>,
) -> (Vec<Event>, Vec<u32>) {
    let mut d = Driver::new(machine, config, 0);
    d.fill(A, SOURCE, 4096, 1);
    if let Some(at) = refused {
        d.machine.memory(B).inject_fault(at..at + 1);
    }
    d.settle(LIMIT);
    d.machine.record(true);
    d.send(A, parcels);
    d.settle(LIMIT);
    let is_write = |e: &Event| matches!(e.kind, EventKind::MemWrite { .. } | EventKind::MemWritten { .. });
    let events = d.machine.take_events().into_iter();
    let writes = events.filter(|e| e.node == B && is_write(e)).collect();
    let registers = [DHB_PUT, MHB_PUT, MBB0_PUT, R_STAT, R_DROP, R_ERR];
    (writes, registers.map(|offset| d.read(B, offset)).into())
}

#[test]
fn what_is_written_behind_a_late_or_refused_packet_agrees() {
    let config = Config {
        s_gap: 0,
        sync_idle: 0,
        mem_write_latency: 60,
        ..Config::paper()
    };
    let message = ParcelHeader {
        kind: Kind::Msg0,
        ..dma(1, 64, 0)
    };
    let four = [0, 1, 2, 3].map(|i| dma(1, 64 + 32 * i, 512 * i));
    let mixed = [four[0], message, four[1], message, four[2], four[3]];
    for (parcels, refused, again) in [
        (&four[..], None, 0),
        (&four, Some(DEST), 1),
        (&four, Some(DEST + 512), 1),
        (&four, Some(DMA_HEADERS + 16), 2),
        (&mixed, None, 0),
        (&mixed, Some(DEST + 1024), 1),
    ] {
        let (model, rtl) = (
            writes(ModelMachine::new(&config), &config, parcels, refused),
            writes(rtl(&config), &config, parcels, refused),
        );
        assert_eq!(model.1, rtl.1, "registers, with {refused:x?} refused");
        let kinds = |events: &[Event]| events.iter().map(|e| e.kind).collect::<Vec<_>>();
        assert_eq!(kinds(&model.0), kinds(&rtl.0), "with {refused:x?} refused");
        for (m, r) in model.0.iter().zip(&rtl.0) {
            let (m_at, r_at) = ((m.at - model.0[0].at).as_us(), (r.at - rtl.0[0].at).as_us());
            // The RTL's commands may be ahead of the bus; the model has both at once.
            let command = matches!(m.kind, EventKind::MemWrite { .. });
            assert!(
                (m_at - r_at).abs() <= if command { 1.0 } else { 0.4 },
                "{:x?}: model {m_at} us, RTL {r_at} us, with {refused:x?} refused",
                m.kind
            );
        }
        let header = |e: &&Event| matches!(e.kind, EventKind::MemWrite { bytes: 16, .. });
        assert_eq!(model.0.iter().filter(header).count(), parcels.len() + again);
    }
}

#[test]
fn addresses_far_beyond_memory_are_refused_alike() {
    let (config, beyond) = (Config::paper(), Addr(0xf000_0000));
    let (body, dest) = (dma(1, 64, 0), dma(1, 64, 0));
    for parcel in [
        ParcelHeader { body: beyond, ..body },
        ParcelHeader { dest: beyond, ..dest },
    ] {
        let model = writes(ModelMachine::new(&config), &config, &[parcel], None);
        let rtl = writes(rtl(&config), &config, &[parcel], None);
        assert_eq!(model.1, rtl.1, "registers, {parcel:?}");
        let [published, .., dropped, _] = model.1[..] else {
            panic!("six registers")
        };
        assert_eq!((published, dropped), (0, 1), "{parcel:?}");
    }
}

fn agree(what: &str, model: f64, rtl: f64, percent: f64) {
    println!("{what}: model {model:.2}, RTL {rtl:.2} MB/s");
    assert!(
        (model / rtl - 1.0).abs() * 100.0 <= percent,
        "{what}: model {model:.2}, RTL {rtl:.2} MB/s"
    );
}

#[test]
fn throughput_agrees() {
    let config = Config::paper();
    for size in [1024, 7168, 8192, 16384] {
        let model = throughput(ModelMachine::new, &config, size, Some(200.0), 9.0);
        let rtl = throughput(rtl, &config, size, Some(200.0), 9.0);
        agree(&format!("{size} B not pipelined"), model, rtl, 1.0);
    }
    let (size, rate, delay) = (16384, None, 0.0);
    let model = throughput(ModelMachine::new, &config, size, rate, delay);
    agree(
        "16 KB running on",
        model,
        throughput(rtl, &config, size, rate, delay),
        0.1,
    );
}

#[test]
fn rmwrite_agrees() {
    let config = Config::paper();
    for size in [2048, 8192] {
        let model = rmwrite_throughput(ModelMachine::new, &config, size);
        agree(
            &format!("{size} B written"),
            model,
            rmwrite_throughput(rtl, &config, size),
            1.0,
        );
    }
}

#[test]
fn a_wide_and_fast_machine_agrees() {
    let config = Config {
        io_period: Picos::from_ns(20),
        bus_bytes: 8,
        net_period: Picos::from_ns(5),
        s_gap: 0,
        mem_overhead: 0,
        r_thresh: 496,
        ..Config::paper()
    };
    for mem_rate_limit in [0.0, 144.0] {
        let config = Config {
            mem_rate_limit,
            ..config.clone()
        };
        let wide = |config: &Config| of_nics::<Cenju3NicWide>(config).expect("the RTL is built");
        let model = throughput(ModelMachine::new, &config, 16384, None, 0.0);
        let rtl = throughput(wide, &config, 16384, None, 0.0);
        agree(&format!("memory of {mem_rate_limit} MB/s"), model, rtl, 1.0);
    }
}

#[test]
fn contention_agrees() {
    for (pes, bytes) in [(4, 2048), (16, 700)] {
        let (model, rtl) = (
            all_to_all(ModelMachine::new, pes, bytes).1,
            all_to_all(rtl, pes, bytes).1,
        );
        println!("{pes} PEs, {bytes} B to each other: model {model}, RTL {rtl}");
        assert!((model.as_us() / rtl.as_us() - 1.0).abs() < 0.01);
    }
}

/// Bytes in the receive FIFO `us` after the record begins.
fn level(record: &Record, us: f64) -> f64 {
    let begin = record.fifo[0].0;
    let before = record.fifo.iter().rfind(|s| (s.0 - begin).as_us() <= us);
    before.map_or(0.0, |s| f64::from(s.1))
}

#[test]
fn the_receive_fifo_fills_and_empties_alike() {
    let record = |backend| {
        let what = What::Stream {
            bytes: 8192,
            transfers: 4,
            at_end: AtEnd::InvalidateStopped,
        };
        let config = Config::paper();
        measure(&Scenario { backend, config, what }).unwrap().record
    };
    let (model, rtl) = (record(BackendKind::Model), record(BackendKind::Rtl));
    let (mut off, mut most) = (0.0, 0.0f64);
    for tenths in 0..4600 {
        let us = f64::from(tenths) / 10.0;
        let (m, r) = (level(&model, us), level(&rtl, us));
        (off, most) = (off + (m - r).abs(), most.max(r));
    }
    let off = off / 4600.0;
    // The model moves in chunks of 32 B, and takes the crossing behind the FIFO, 64 B, for full.
    println!("the FIFO holds up to {most} B on the RTL; the model is {off:.1} B off on average");
    assert!((1400.0..1500.0).contains(&most) && off < 96.0, "{most} B, {off} B off");
}
