//! CP-PACS of 2x2x2 nodes: transfers on both channels, broadcasts, requests and barriers between all.

use support::this_test;
use testbenches_machine::cppacs::SingleTop;
use testbenches_machine::rtl::{CppacsMachineTop, CppacsMachineUnit, TwinCppacsMachineLines};
use tsunagi::cppacs::host::{Allow, CppacsSim, How, Node, RdmaError, To};
use tsunagi::cppacs::params::Config;
use tsunagi::cppacs::rtl::{Machine, machine};
use tsunagi::harness::backend::{Backend as _, Event};
use tsunagi::harness::check::same_events;
use tsunagi::harness::machine::{Hardware, RtlMachine};
use tsunagi::harness::wave::Probe;
use tsunagi::rtl::CppacsMachineNia;
use tsunagi::{Cycle, NodeId, Picos};

const SIDE: u32 = 2;
/// Bytes from a node to each other one: several bursts, and no whole one at the end.
const BYTES: u32 = 1000;
const NODES: u32 = SIDE * SIDE * SIDE;
const BOUND: Picos = Picos::from_ns(20_000_000);

fn config() -> Config {
    Config {
        x: SIDE,
        y: SIDE,
        z: SIDE,
        mem_bytes: 0x40_0000,
        ..Config::paper()
    }
}

fn pattern(from: NodeId) -> Vec<u8> {
    (0..BYTES)
        .map(|at| (at * 13 + at / 256 + u32::from(from.0)) as u8)
        .collect()
}

/// To each node, and from it by a request; then a barrier.
async fn program(node: Node) -> Result<(), RdmaError> {
    let own = u32::from(node.id().0);
    let sends = node.object("sends", BYTES)?;
    let comes = node.object("comes", NODES * 1024)?;
    let field = node.create_field(&comes, 0, comes.bytes(), 3, Allow::ALL).await?;
    node.write(&sends.all(), &pattern(node.id()));
    let mut rights = Vec::new();
    for to in 0..NODES as u16 {
        rights.push(node.get_sendright(To::Node(NodeId(to)), "comes", 3, BOUND).await?);
    }
    node.barrier(BOUND).await?;
    for right in &rights {
        node.send(sends.all(), right, 1024 * own, How::default()).await?;
    }
    node.wait(&field, NODES, BOUND).await?;
    for from in 0..NODES {
        let got = node.read(&comes.span(1024 * from, BYTES)?);
        assert_eq!(got, pattern(NodeId(from as u16)));
    }
    node.barrier(BOUND).await?;
    for right in &rights {
        node.send(sends.span(8, 16)?, right, 1024 * own, How::ACK).await?;
    }
    node.wait(&field, 2 * NODES, BOUND).await?;
    node.barrier(BOUND).await?;
    let next = &rights[(own as usize + 1) % rights.len()];
    node.get(next, 1024 * own, &field, 1024 * own, 512).await?;
    node.swap(next, 1024 * own, 7).await?;
    node.barrier(BOUND).await
}

/// Runs the program on all nodes, with memories of random latency. Gives the events.
fn traffic<H: Hardware + 'static>(machine: RtlMachine<H>, config: &Config) -> Vec<Event> {
    let machine = machine.with_memory_jitter(5, Cycle(40), Cycle(1));
    let mut sim = CppacsSim::new(machine, config).unwrap_or_else(|error| panic!("{error}"));
    sim.backend_mut().record(true);
    for at in 0..sim.nodes() as u16 {
        sim.spawn_checked(NodeId(at), program);
    }
    sim.run(Picos::from_us(1e5)).unwrap_or_else(|error| panic!("{error}"));
    let events = sim.backend_mut().take_events();
    assert!(!events.is_empty());
    events
}

fn single<U: CppacsMachineUnit + 'static>() -> Vec<Event> {
    // With junk on the lines of words that do not count.
    let config = config();
    traffic(machine(SingleTop::<U>::default(), &config).ungated(), &config)
}

fn composed(probe: &Probe) -> Vec<Event> {
    let config = config();
    let machine = Machine::<CppacsMachineNia>::build(&config).expect("the RTL is built");
    traffic(machine.with_probe(probe), &config)
}

#[test]
fn the_composed_machine_agrees_with_the_single_top_in_every_event() {
    this_test!().run(|probe| {
        same_events(&composed(probe), &single::<CppacsMachineTop>()).unwrap();
    });
}

#[test]
fn a_twin_that_takes_acknowledgements_for_data_is_seen() {
    let twin = std::panic::catch_unwind(single::<TwinCppacsMachineLines>);
    let same = twin.is_ok_and(|twin| same_events(&composed(&Probe::default()), &twin).is_ok());
    assert!(!same);
}
