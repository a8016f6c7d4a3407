//! The whole machine at the ends of its parameters: every kind of transfer at once, with no cost between two of them.

use tsunagi::dimmnet1::golden::packet::Place;
use tsunagi::dimmnet1::host::layout::{self, common};
use tsunagi::dimmnet1::host::{Barrier, CommError, Dimmnet1Sim, How, Message, Node};
use tsunagi::dimmnet1::params::{Config, PARAMS};
use tsunagi::dimmnet1::regs::*;
use tsunagi::{Addr, NodeId, Picos};

use crate::backends::{Kind, build, on_both};
use crate::host::bytes;

on_both! {
    the_paper_machine
    the_most_nodes
    the_least_and_the_most_of_each_parameter
    clocks_far_apart
    slow_memory_behind_a_fast_card
}

/// Costs of the host's software: none, so that commands come back to back.
const NO_COSTS: &[(&str, f64)] = &[
    ("store_path", 0.0),
    ("store", 0.0),
    ("wc_word", 1.0),
    ("fence", 0.0),
    ("load", 0.0),
    ("poll_loop", 0.0),
    ("send_call", 0.0),
    ("rdma_setup", 0.0),
    ("copy_rate", 100_000.0),
];

/// No bound of a wait is meant to pass here: slow machines are slow, and nothing else.
const NO_BOUNDS: &[(&str, f64)] = &[("watchdog", 0.0), ("patience", 0.0), ("wait_bound", 10_000_000.0)];

const BOUND: Picos = Picos::from_ns(20_000_000_000);

/// What each node has in memory, and where its neighbours write.
const OWN: u32 = 0;
const FROM_WINDOWS: u32 = 0x4000;
const FROM_RDMA: u32 = 0x8000;
const PULLED: u32 = 0xc000;
const ROUNDS: u64 = 8;
const BLOCK: u32 = 5000;

fn pushed(kind: Kind, settings: &[&[(&str, f64)]]) {
    let mut config = Config::paper();
    for (name, value) in NO_COSTS
        .iter()
        .chain(NO_BOUNDS)
        .chain(settings.iter().copied().flatten())
    {
        config.set(name, *value).unwrap_or_else(|error| panic!("{error}"));
    }
    let what = format!("{kind:?}, {settings:?}");
    let mut sim = Dimmnet1Sim::new(build(kind, &config), &config).unwrap_or_else(|error| panic!("{what}: {error}"));
    let nodes = config.nodes;
    for node in (0..nodes as u16).map(NodeId) {
        sim.node(node).write(Addr(OWN), &bytes(BLOCK, u32::from(node.0)));
    }
    let mut ended = sim.spawn_all(|node| {
        let what = what.clone();
        async move {
            all_at_once(&node)
                .await
                .unwrap_or_else(|error| panic!("{what}: {error}"))
        }
    });
    sim.run(BOUND).unwrap_or_else(|error| panic!("{what}: {error}"));
    for (node, ended) in (0..nodes).zip(&mut ended) {
        let (before, two_before) = ((node + nodes - 1) % nodes, (node + 2 * nodes - 2) % nodes);
        let (words, message) = ended.take().expect("the program has ended");
        assert_eq!(words, ROUNDS, "{what}: words of node {before}");
        assert!(message == bytes(BLOCK, before), "{what}: message of node {before}");
        let memory = sim.node(NodeId(node as u16));
        for (place, from) in [(FROM_WINDOWS, before), (FROM_RDMA, two_before), (PULLED, before)] {
            assert!(
                memory.read(Addr(place), BLOCK) == bytes(BLOCK, from),
                "{what}: {place:#x} of node {node}"
            );
        }
    }
    println!("{what}: {}", sim.now());
}

/// Words, windows, RDMA, a PULL, a message and barriers, each begun as soon as the one before has been.
async fn all_at_once(node: &Node) -> Result<(u64, Vec<u8>), CommError> {
    let (nodes, own) = (node.nodes() as u16, node.id().0);
    let [next, second, before] = [1, 2, nodes - 1].map(|far| NodeId((own + far) % nodes));
    let to = |place: u32| Place::new(layout::MEMORY, place.into());
    for round in 1..=ROUNDS {
        node.aotf_write(next, common::USER, 8, round).await?;
    }
    node.send(&Message::push(next, to(FROM_WINDOWS)).by(How::Botf), Addr(OWN), BLOCK)
        .await?;
    node.send(&Message::push(second, to(FROM_RDMA)).by(How::Rdma), Addr(OWN), BLOCK)
        .await?;
    node.pull(before, to(OWN), Addr(PULLED), BLOCK).await?;
    node.send_message(next, Addr(OWN), BLOCK).await?;
    let message = node.receive(before).await?;
    for barrier in [
        Barrier::Hosts,
        Barrier::HostsMulticast,
        Barrier::Processor,
        Barrier::ProcessorMulticast,
    ] {
        node.barrier(barrier).await?;
    }
    Ok((node.load_common(common::USER).await?, message))
}

fn the_paper_machine(kind: Kind) {
    pushed(kind, &[]);
}

fn the_most_nodes(kind: Kind) {
    for nodes in [3.0, 9.0, 16.0] {
        pushed(kind, &[&[("nodes", nodes)]]);
    }
}

/// Each parameter that is free, but the host's costs and the bounds of waits, which stand at their ends here.
fn the_least_and_the_most_of_each_parameter(kind: Kind) {
    let set = |name: &str| NO_COSTS.iter().chain(NO_BOUNDS).any(|&(other, _)| other == name);
    for param in PARAMS {
        let (least, most) = param.range;
        if least == most || set(param.name) || param.name == "nodes" {
            continue;
        }
        for value in [least, most] {
            pushed(kind, &[&[(param.name, value)]]);
        }
    }
}

fn clocks_far_apart(kind: Kind) {
    for (core, link) in [(4.0, 1000.0), (1000.0, 4.0), (4.0, 4.0), (7.0, 5.0)] {
        pushed(kind, &[&[("core_period", core), ("link_period", link)]]);
    }
}

fn slow_memory_behind_a_fast_card(kind: Kind) {
    let slow: &[(&str, f64)] = &[
        ("mem_read_latency", 1000.0),
        ("mem_write_latency", 1000.0),
        ("mem_overhead", 100.0),
    ];
    for windows in [1.0, 2.0] {
        for matching in [0.0, 1.0] {
            pushed(
                kind,
                &[
                    slow,
                    &[("windows", windows), ("matching", matching), ("link_period", 4.0)],
                ],
            );
        }
    }
}

const _: () = assert!(BLOCK > SIZE_BOTF && BLOCK > SIZE_PACKET && BLOCK < FROM_WINDOWS);
