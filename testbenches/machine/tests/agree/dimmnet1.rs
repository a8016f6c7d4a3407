//! DIMMnet-1: sends of all kinds, messages and barriers between all.

use support::this_test;
use testbenches_machine::dimmnet1::SingleTop;
use testbenches_machine::rtl::{Dimmnet1Machine, Dimmnet1MachineUnit, TwinMachineDelay};
use tsunagi::dimmnet1::golden::packet::Place;
use tsunagi::dimmnet1::host::{Barrier, CommError, Dimmnet1Sim, How, Message, Node, layout};
use tsunagi::dimmnet1::params::Config;
use tsunagi::dimmnet1::rtl::{machine, of_cards};
use tsunagi::harness::backend::{Backend as _, Event};
use tsunagi::harness::check::same_events;
use tsunagi::harness::machine::{Hardware, RtlMachine};
use tsunagi::harness::wave::Probe;
use tsunagi::rtl::{Dimmnet1Nic, Dimmnet1Switch};
use tsunagi::{Addr, Cycle, NodeId, Picos};

/// Bytes from a node to each other one: several pages, and no whole word at the end.
const BYTES: u32 = 9001;
const SOURCE: Addr = Addr(0);
/// By sender: where its bytes go.
const PLACES: u32 = 0x4000;
const BOUND: Picos = Picos::from_ns(20_000_000);

fn place(from: NodeId) -> u32 {
    PLACES * (1 + u32::from(from.0))
}

fn pattern(from: NodeId) -> Vec<u8> {
    (0..BYTES)
        .map(|at| (at * 13 + at / 256 + u32::from(from.0)) as u8)
        .collect()
}

/// To each other node, by windows, RDMA and messages that firmware takes; a barrier of hosts and one of processors.
async fn program(node: Node) -> Result<(), CommError> {
    let others = (0..node.nodes() as u16).map(NodeId).filter(|to| *to != node.id());
    node.write(SOURCE, &pattern(node.id()));
    node.barrier(Barrier::Hosts).await?;
    for to in others.clone() {
        let how = if to < node.id() { How::Botf } else { How::Rdma };
        let there = Place::new(layout::MEMORY, place(node.id()).into());
        node.send(&Message::push(to, there).by(how), SOURCE, BYTES).await?;
    }
    node.barrier(Barrier::ProcessorMulticast).await?;
    for to in others.clone() {
        node.send_message(to, SOURCE, 200).await?;
    }
    for from in others {
        assert_eq!(node.receive(from).await?, pattern(from)[..200]);
    }
    node.barrier(Barrier::HostsMulticast).await
}

/// Runs the program on all nodes, with memories of random latency. Gives the events.
fn traffic<H: Hardware + 'static>(machine: RtlMachine<H>, config: &Config) -> Vec<Event> {
    let machine = machine.with_memory_jitter(5, Cycle(40), Cycle(1));
    let mut sim = Dimmnet1Sim::new(machine, config).unwrap_or_else(|error| panic!("{error}"));
    sim.backend_mut().record(true);
    for at in 0..sim.nodes() as u16 {
        sim.spawn_checked(NodeId(at), program);
    }
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    let nodes: Vec<NodeId> = (0..sim.nodes() as u16).map(NodeId).collect();
    for &to in &nodes {
        for &from in nodes.iter().filter(|from| **from != to) {
            assert_eq!(sim.node(to).read(Addr(place(from)), BYTES), pattern(from));
        }
    }
    let events = sim.backend_mut().take_events();
    assert!(!events.is_empty());
    events
}

fn config(link_ns: u64, phase_ns: u64) -> Config {
    Config {
        nodes: Dimmnet1Machine::NODES as u32,
        link_period: Picos::from_ns(link_ns),
        link_phase: Picos::from_ns(phase_ns),
        ..Config::paper()
    }
}

fn single<U: Dimmnet1MachineUnit + 'static>(config: &Config) -> Vec<Event> {
    // With junk on the lines of words that do not count.
    traffic(machine(SingleTop::<U>::default(), config).ungated(), config)
}

fn composed(probe: &Probe, config: &Config) -> Vec<Event> {
    let machine = of_cards::<Dimmnet1Nic, Dimmnet1Switch>(config).expect("the RTL is built");
    traffic(machine.with_probe(probe), config)
}

#[test]
fn the_composed_machine_agrees_with_the_single_top_in_every_event() {
    let test = this_test!();
    for (link_ns, phase_ns) in [(16, 0), (37, 11)] {
        test.run(|probe| {
            let config = config(link_ns, phase_ns);
            same_events(&composed(probe, &config), &single::<Dimmnet1Machine>(&config)).unwrap();
        });
    }
}

#[test]
fn a_twin_with_a_later_hop_is_seen() {
    let config = config(16, 0);
    let twin = single::<TwinMachineDelay>(&config);
    assert!(same_events(&composed(&Probe::default(), &config), &twin).is_err());
}
