//! The host library on the model: each primitive, with real bytes.

use tsunagi::dimmnet1::golden::packet::{Place, Reason};
use tsunagi::dimmnet1::host::layout::{self, common};
use tsunagi::dimmnet1::host::{Barrier, CommError, Dimmnet1Sim, How, Message};
use tsunagi::dimmnet1::params::Config;
use tsunagi::dimmnet1::regs::*;
use tsunagi::harness::backend::{AnyBackend, Backend, EventKind};
use tsunagi::{Addr, NodeId, Picos};

use crate::backends::{Kind, build, on_both};

on_both! {
    pushes_of_all_sizes_arrive
    a_store_is_soon_in_the_other_nodes_llcm
    packets_of_windows_are_there_before_a_store_behind_them
    a_message_that_is_awaited_twice_is_whole
    a_message_that_failed_is_forgotten
    a_pull_brings_what_is_there
    what_must_not_be_is_refused_and_the_next_is_unharmed
    all_barriers_hold_back_and_let_go
    who_does_not_come_is_named
    a_card_that_does_not_receive_is_named
}

pub const BOUND: Picos = Picos::from_ns(100_000_000);
pub const A: NodeId = NodeId(0);
pub const B: NodeId = NodeId(1);

pub fn machine(kind: Kind, nodes: u32) -> (Config, Dimmnet1Sim<AnyBackend>) {
    let mut config = Config::paper();
    config.nodes = nodes;
    let sim = booted(kind, &config);
    (config, sim)
}

pub fn booted(kind: Kind, config: &Config) -> Dimmnet1Sim<AnyBackend> {
    Dimmnet1Sim::new(build(kind, config), config).unwrap_or_else(|error| panic!("{error}"))
}

pub fn bytes(count: u32, salt: u32) -> Vec<u8> {
    (0..count).map(|at| (at * 7 + at / 251 + salt) as u8).collect()
}

/// A whole transfer: where it arrives it is looked at, and at the bytes around it.
fn push(kind: Kind, message: impl Fn(Place) -> Message, count: u32, to: u32) -> Picos {
    let (_, mut sim) = machine(kind, 2);
    let data = bytes(count, 3);
    sim.node(A).write(Addr(0x2000), &data);
    let poison = vec![0xee; count as usize + 16];
    sim.node(B).write(Addr(to - 8), &poison);
    let message = message(Place::new(layout::MEMORY, to.into()));
    let mut time = sim.spawn(A, async move |node| {
        let start = node.now();
        node.send(&message, Addr(0x2000), count).await.unwrap();
        node.now() - start
    });
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    let node = sim.node(B);
    assert_eq!(node.read(Addr(to), count), data);
    assert_eq!(node.read(Addr(to - 8), 8), [0xee; 8]);
    assert_eq!(node.read(Addr(to + count), 8), [0xee; 8]);
    time.take().unwrap()
}

fn pushes_of_all_sizes_arrive(kind: Kind) {
    for how in [How::Botf, How::Rdma] {
        for f_seq in [false, true] {
            for count in [1, 7, 8, 464, 465, 928, 4096, 10_000] {
                let message = |place| Message::push(B, place).by(how).numbered(f_seq);
                let time = push(kind, message, count, 0x5f00 & !7);
                assert!(time > Picos::from_ns(1000), "{how:?} {count}: {time}");
                println!(
                    "{how:?} f_seq {f_seq} {count} B: {time}, {:.1} MB/s",
                    time.rate_mb_s(count.into())
                );
            }
        }
    }
}

fn a_store_is_soon_in_the_other_nodes_llcm(kind: Kind) {
    let (_, mut sim) = machine(kind, 2);
    sim.backend_mut().record(true);
    let mut sent = sim.spawn(A, async move |node| {
        node.aotf_write(B, common::USER + 4, 4, 0xdead_beef).await.unwrap();
        node.now()
    });
    let mut came = sim.spawn(B, async move |node| {
        let word = node.wait_common(common::USER, 0).await.unwrap();
        (word, node.now())
    });
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    let (word, at) = came.take().unwrap();
    assert_eq!(word, 0xdead_beef_0000_0000);
    let time = at - sent.take().unwrap();
    println!("AOTF to the end of the poll: {time}");
    assert!(time < Picos::from_ns(1500), "{time}");
    let events = sim.backend_mut().take_events();
    let stored = events
        .iter()
        .find(|event| matches!(event.kind, EventKind::RegWrite { .. }));
    let left = events
        .iter()
        .find(|event| matches!(event.kind, EventKind::TxFirst { .. }));
    let hardware = left.unwrap().at - stored.unwrap().at;
    println!("store to first word: {hardware}");
    assert!(hardware < Picos::from_ns(320), "{hardware}");
}

fn packets_of_windows_are_there_before_a_store_behind_them(kind: Kind) {
    let (_, mut sim) = machine(kind, 2);
    let data = bytes(SIZE_BOTF, 5);
    let place = |page: u32| page * SIZE_PAGE + SIZE_PAGE - SIZE_BOTF;
    let to = |at: u32| Place::new(layout::MEMORY, at.into());
    sim.node(A).write(Addr(0x2001), &data);
    sim.spawn(A, async move |node| {
        let send = async |at, bytes| node.botf_send(B, to(at), Addr(0x2001), bytes).await;
        for page in 0..4 {
            send(place(page), SIZE_BOTF).await.unwrap();
        }
        node.botf_wait().await.unwrap();
        node.aotf_write(B, common::USER, 8, 1).await.unwrap();
        let (bytes, most) = (SIZE_BOTF + 1, SIZE_BOTF);
        assert_eq!(send(0, bytes).await, Err(CommError::TooLong { bytes, most }));
        let (bytes, remote) = (SIZE_BOTF - 7, u64::from(place(0)) + 8);
        assert_eq!(
            send(place(0) + 8, bytes).await,
            Err(CommError::AcrossPage { bytes, remote })
        );
        assert_eq!(send(0, 0).await, Err(CommError::Empty));
    });
    sim.spawn(B, async move |node| {
        node.wait_common(common::USER, 0).await.unwrap();
        for page in 0..4 {
            assert_eq!(node.read(Addr(place(page)), SIZE_BOTF), data, "page {page}");
        }
    });
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
}

/// The receiver gives up after it has emptied the system buffer once, and then waits again.
fn a_message_that_is_awaited_twice_is_whole(kind: Kind) {
    let mut config = Config::paper();
    config.wait_bound = Picos::from_ns(240_000);
    let mut sim = booted(kind, &config);
    let data = bytes(20_000, 2);
    sim.node(A).write(Addr(0), &data);
    sim.spawn_checked(A, async |node| {
        node.compute(Picos::from_ns(50_000)).await;
        node.send_message(B, Addr(0), 20_000).await
    });
    let mut taken = sim.spawn(B, async |node| {
        let first = node.message_bytes(A).await;
        let bytes = node.message_bytes(A).await;
        (first, bytes, node.receive(A).await)
    });
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    let (first, bytes, received) = taken.take().unwrap();
    assert_eq!(first, Err(CommError::NoMessage { node: B, src: A }));
    assert_eq!((bytes, received), (Ok(20_000), Ok(data)));
}

/// The receiver comes so late that a message finds no room, with a posted area for its first packet.
fn a_message_that_failed_is_forgotten(kind: Kind) {
    let mut config = Config::paper();
    config.wait_bound = Picos::from_ns(240_000);
    let mut sim = booted(kind, &config);
    let data = bytes(20_000, 2);
    sim.node(A).write(Addr(0), &data);
    let mut sent = sim.spawn(A, async |node| {
        let mut results = Vec::new();
        for (at, bytes) in [(1, 100), (0, 20_000), (2, 500)] {
            results.push(node.send_message(B, Addr(at), bytes).await);
        }
        results
    });
    let mut taken = sim.spawn(B, async |node| {
        let area = Addr(0x1000);
        let first = node.receive_and_post(A, Some(area)).await;
        node.compute(Picos::from_ns(350_000)).await;
        (first, node.receive(A).await, node.read(area, SIZE_BOTF))
    });
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    let (node, dst, reason) = (A, B, Reason::Overflow);
    let failed = Err(CommError::Refused { node, dst, reason });
    assert_eq!(sent.take().unwrap(), [Ok(()), failed, Ok(())]);
    let (first, second, area) = taken.take().unwrap();
    assert_eq!((first, second), (Ok(data[1..101].to_vec()), Ok(data[2..502].to_vec())));
    assert_eq!(area, data[2..466]);
}

fn a_pull_brings_what_is_there(kind: Kind) {
    let (_, mut sim) = machine(kind, 3);
    let data = bytes(9001, 1);
    sim.node(B).write(Addr(0x3008), &data);
    let at = Place::new(layout::MEMORY, 0x3008);
    let mut time = sim.spawn(A, async move |node| {
        let start = node.now();
        node.pull(B, at, Addr(0x8010), 9001).await.unwrap();
        node.now() - start
    });
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(sim.node(A).read(Addr(0x8010), 9001), data);
    println!("PULL of 9001 B: {}", time.take().unwrap());
}

fn what_must_not_be_is_refused_and_the_next_is_unharmed(kind: Kind) {
    let (config, mut sim) = machine(kind, 2);
    let end = config.mem_bytes;
    let outside = Place::new(layout::MEMORY, end.into());
    let unknown = Place::new(77, 0);
    let legal = Place::new(layout::MEMORY, 0x100);
    let mut done = sim.spawn(A, async move |node| {
        let mut results = Vec::new();
        for place in [outside, unknown, legal] {
            for (how, f_seq) in [(How::Botf, false), (How::Botf, true), (How::Rdma, false)] {
                let message = Message::push(B, place).by(how).numbered(f_seq);
                results.push(node.send(&message, Addr(0x1000), 1000).await);
            }
        }
        results.push(node.send(&Message::push(NodeId(9), legal), Addr(0), 8).await);
        results.push(node.pull(B, unknown, Addr(0), 64).await);
        results
    });
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    let results = done.take().unwrap();
    let refused = |reason| {
        Err(CommError::Refused {
            node: A,
            dst: B,
            reason,
        })
    };
    assert!(
        results[..3].iter().all(|result| *result == refused(Reason::Range)),
        "{results:?}"
    );
    assert!(
        results[3..6].iter().all(|result| *result == refused(Reason::Rights)),
        "{results:?}"
    );
    assert!(results[6..9].iter().all(Result::is_ok), "{results:?}");
    assert!(matches!(results[9], Err(CommError::NoNode { .. })));
    assert_eq!(results[10], refused(Reason::Rights));
}

fn all_barriers_hold_back_and_let_go(kind: Kind) {
    for nodes in [2, 3, 8, 16] {
        for barrier in [
            Barrier::Hosts,
            Barrier::HostsMulticast,
            Barrier::Processor,
            Barrier::ProcessorMulticast,
        ] {
            let (_, mut sim) = machine(kind, nodes);
            let mut times = sim.spawn_all(|node| async move {
                for round in 0..3 {
                    node.compute(Picos::from_ns(u64::from(node.id().0) * 700)).await;
                    node.barrier(barrier)
                        .await
                        .unwrap_or_else(|error| panic!("{round}: {error}"));
                }
                let late = Picos::from_ns(10_000 * (1 + u64::from(node.id().0)));
                node.compute(late).await;
                let came = node.now();
                node.barrier(barrier).await.unwrap_or_else(|error| panic!("{error}"));
                (came, node.now())
            });
            sim.run(BOUND)
                .unwrap_or_else(|error| panic!("{nodes} {barrier:?}: {error}"));
            let times: Vec<_> = times.iter_mut().map(|time| time.take().unwrap()).collect();
            let (last, first) = (times.iter().map(|t| t.0).max(), times.iter().map(|t| t.1).min());
            assert!(first > last, "{nodes} {barrier:?}: left before the last came");
            let (came, left) = times[nodes as usize - 1];
            println!("{nodes} nodes, {barrier:?}: {}", left - came);
        }
    }
}

fn who_does_not_come_is_named(kind: Kind) {
    let mut config = Config::paper();
    (config.nodes, config.wait_bound) = (3, Picos::from_ns(50_000));
    for barrier in [
        Barrier::Hosts,
        Barrier::HostsMulticast,
        Barrier::Processor,
        Barrier::ProcessorMulticast,
    ] {
        let mut sim = booted(kind, &config);
        let mut missing = sim.spawn(A, async move |node| node.barrier(barrier).await);
        let mut other = sim.spawn(NodeId(2), async move |node| {
            node.compute(Picos::from_ns(40_000)).await;
            node.barrier(barrier).await
        });
        sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
        let nodes = vec![B];
        assert_eq!(
            missing.take().unwrap(),
            Err(CommError::Missing { nodes }),
            "{barrier:?}"
        );
        assert!(matches!(other.take().unwrap(), Err(CommError::NotReleased { .. })));
    }
}

fn a_card_that_does_not_receive_is_named(kind: Kind) {
    let mut config = Config::paper();
    config.wait_bound = Picos::from_ns(50_000);
    let mut sim = booted(kind, &config);
    let place = Place::new(layout::MEMORY, 0);
    let stop = sim.node(B).host().clone();
    sim.spawn(B, async move |_| stop.store(CONTROL.into(), 8, 0).await.unwrap());
    let mut sent = sim.spawn(A, async move |node| {
        node.compute(Picos::from_ns(1000)).await;
        node.send(&Message::push(B, place), Addr(0), 464).await
    });
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    let silent = CommError::Silent {
        node: A,
        dst: B,
        open: 1,
    };
    assert_eq!(sent.take().unwrap(), Err(silent));
}
