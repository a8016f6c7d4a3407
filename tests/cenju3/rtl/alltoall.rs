//! 256 PEs, each sending to each other one at once, with real data, on composed RTL.

use support::cenju3::{Driver, FREE, pattern};
use support::this_test;
use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader};
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::regs::ROUTE_DST_MASK;
use tsunagi::cenju3::rtl::of_nics;
use tsunagi::harness::backend::{Backend, Event};
use tsunagi::harness::check::{holds, same_events, same_packets};
use tsunagi::harness::memory::Memory;
use tsunagi::harness::wave::Probe;
use tsunagi::rtl::Cenju3Nic;
use tsunagi::{Addr, NodeId, Picos};

/// Bytes set aside for each sender in each receiver's memory.
const SLOT: u32 = 96;
const SOURCE: u32 = FREE;
const DEST: u32 = FREE + 256 * SLOT;

/// Each pair has its own length, of up to two thirds of a slot; the rest of the slot must stay as it was.
fn length(from: NodeId, to: NodeId) -> u32 {
    1 + (u32::from(from.0) * 7 + u32::from(to.0) * 13) % 64
}

/// Every PE sends to every other; all data are checked. Gives the events.
fn all_to_all(pes: u32, gated: bool, probe: &Probe) -> Vec<Event> {
    let config = Config {
        pes,
        mem_bytes: 1 << 20,
        ..Config::paper()
    };
    let machine = of_nics::<Cenju3Nic>(&config)
        .expect("the RTL is built")
        .with_probe(probe);
    let machine = if gated { machine } else { machine.ungated() };
    let mut driver = Driver::new(machine, &config, 0);
    driver.machine.record(true);
    let nodes: Vec<NodeId> = driver.nodes().collect();
    for &from in &nodes {
        driver.machine.memory(from).poison(DEST..DEST + 256 * SLOT);
        for step in 1..nodes.len() {
            let to = nodes[(from.index() + step) % nodes.len()];
            let (bytes, body) = (length(from, to), Addr(SOURCE + u32::from(to.0) * SLOT));
            assert!(
                driver
                    .machine
                    .memory(from)
                    .write(body, &pattern(from, to, bytes as usize))
            );
            let dest = Addr(DEST + u32::from(from.0) * SLOT);
            let parcel = ParcelHeader {
                kind: Kind::Dma,
                arr: false,
                end: false,
                dst: to.0 as u8,
                bytes,
                body,
                dest,
                soft: [0; 2],
            };
            driver.queue(from, 0, &parcel);
        }
    }
    driver.start(&nodes, 0);
    driver.settle(Picos::from_us(100_000.0));
    for &to in &nodes {
        for &from in nodes.iter().filter(|from| **from != to) {
            let (bytes, slot) = (length(from, to), DEST + u32::from(from.0) * SLOT);
            let mut want = pattern(from, to, bytes as usize);
            want.extend((slot + bytes..slot + SLOT).map(Memory::poison_at));
            if let Err(error) = holds(driver.machine.memory(to), Addr(slot), &want) {
                panic!("{from} to {to}, {bytes} bytes: {error}");
            }
        }
    }
    let events = driver.machine.take_events();
    same_packets(&events, |head| NodeId(head & ROUTE_DST_MASK as u16)).unwrap();
    events
}

#[test]
fn every_byte_of_256_pes_sending_to_all_others_arrives() {
    this_test!().run(|probe| all_to_all(256, true, probe));
}

#[test]
fn leaving_out_idle_units_changes_no_event() {
    this_test!().run(|probe| {
        same_events(&all_to_all(6, true, probe), &all_to_all(6, false, probe)).unwrap();
    });
}
