//! Cenju-3: DMA and messages between all.

use support::cenju3::{Driver, FREE, pattern};
use support::this_test;
use testbenches_machine::cenju3::SingleTop;
use testbenches_machine::rtl::{Cenju3Machine, Cenju3MachineOpen, Cenju3MachineUnit, TwinMachineOpen};
use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader};
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::regs::{R_CTRL_IE_ARRIVAL_MASK, R_CTRL_IE_END_MASK, ROUTE_DST_MASK};
use tsunagi::cenju3::rtl::{machine, of_nics};
use tsunagi::harness::backend::{Backend, Event};
use tsunagi::harness::check::{holds, same_events, same_packets};
use tsunagi::harness::machine::{Hardware, RtlMachine};
use tsunagi::harness::wave::Probe;
use tsunagi::rtl::Cenju3Nic;
use tsunagi::{Addr, Cycle, NodeId, Picos};

const SLOT: u32 = 0x1000;
const DEST: u32 = FREE + 16 * SLOT;

/// Every PE sends to every other: DMA of up to 4 KB through one queue, messages of both kinds through the other. All do
/// so at once, with memories of random latency. Gives the events.
fn traffic<H: Hardware>(machine: RtlMachine<H>, config: &Config) -> Vec<Event> {
    let machine = machine.with_memory_jitter(5, Cycle(40), Cycle(1));
    let mut driver = Driver::new(machine, config, R_CTRL_IE_ARRIVAL_MASK | R_CTRL_IE_END_MASK);
    driver.machine.record(true);
    let nodes: Vec<NodeId> = driver.nodes().collect();
    let length = |from: NodeId, to: NodeId| 1 + (u32::from(from.0) * 997 + u32::from(to.0) * 331) % SLOT;
    for &from in &nodes {
        for &to in nodes.iter().filter(|to| **to != from) {
            let bytes = length(from, to);
            let body = Addr(FREE + u32::from(to.0) * SLOT);
            assert!(
                driver
                    .machine
                    .memory(from)
                    .write(body, &pattern(from, to, bytes as usize))
            );
            let parcel = ParcelHeader {
                kind: Kind::Dma,
                arr: to.0 % 3 == 0,
                end: to.0 % 2 == 0,
                dst: to.0 as u8,
                bytes,
                body,
                dest: Addr(DEST + u32::from(from.0) * SLOT),
                soft: [1, 2],
            };
            driver.queue(from, 1, &parcel);
            let message = ParcelHeader {
                kind: if from.0 % 2 == 0 { Kind::Msg0 } else { Kind::Msg1 },
                bytes: bytes.min(512),
                ..parcel
            };
            driver.queue(from, 0, &message);
        }
        // A port without a PE takes everything.
        if nodes.len() < 4_usize.pow(config.stages) {
            let parcel = ParcelHeader {
                kind: Kind::Dma,
                arr: false,
                end: false,
                dst: nodes.len() as u8,
                bytes: 64,
                body: Addr(FREE),
                dest: Addr(DEST),
                soft: [0; 2],
            };
            driver.queue(from, 0, &parcel);
        }
    }
    driver.start(&nodes, 1);
    driver.start(&nodes, 0);
    driver.settle(Picos::from_us(3_000.0 * nodes.len() as f64));
    for &to in &nodes {
        for &from in nodes.iter().filter(|from| **from != to) {
            let want = pattern(from, to, length(from, to) as usize);
            holds(driver.machine.memory(to), Addr(DEST + u32::from(from.0) * SLOT), &want).unwrap();
        }
    }
    driver.machine.take_events()
}

/// The machine of a top, with links of this period and phase.
fn config<U: Cenju3MachineUnit>(net_ns: u64, phase_ns: u64) -> Config {
    Config {
        pes: U::NODES as u32,
        stages: U::STAGES as u32,
        net_period: Picos::from_ns(net_ns),
        net_phase: Picos::from_ns(phase_ns),
        s_gap: 3,
        ..Config::paper()
    }
}

fn single<U: Cenju3MachineUnit>(config: &Config) -> Vec<Event> {
    // With junk on the lines of words that do not count.
    traffic(machine(SingleTop::<U>::new(config), config).ungated(), config)
}

/// The events of the top, which are the same in the composed machine.
fn agree<U: Cenju3MachineUnit>(probe: &Probe, config: &Config) -> Vec<Event> {
    let composed = of_nics::<Cenju3Nic>(config).expect("the RTL is built");
    let composed = traffic(composed.with_probe(probe), config);
    let single = single::<U>(config);
    same_events(&composed, &single).unwrap();
    single
}

#[test]
fn the_composed_machine_agrees_with_the_single_top_in_every_event() {
    let test = this_test!();
    for (net_ns, phase_ns) in [(50, 0), (37, 11)] {
        test.run(|probe| {
            let events = agree::<Cenju3Machine>(probe, &config::<Cenju3Machine>(net_ns, phase_ns));
            same_packets(&events, |head| NodeId(head & ROUTE_DST_MASK as u16)).unwrap();
            agree::<Cenju3MachineOpen>(probe, &config::<Cenju3MachineOpen>(net_ns, phase_ns));
        });
    }
}

#[test]
#[should_panic(expected = "not at rest")]
fn a_twin_port_that_takes_nothing_is_seen() {
    single::<TwinMachineOpen>(&config::<TwinMachineOpen>(50, 0));
}
