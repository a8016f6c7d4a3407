//! Paths that the on-chip processor serves, with the real firmware, or that the matcher serves in hardware.

use tsunagi::dimmnet1::golden::packet::{Place, Reason};
use tsunagi::dimmnet1::host::layout::{self, common};
use tsunagi::dimmnet1::host::{CommError, Command, Dimmnet1Sim, How, Message};
use tsunagi::dimmnet1::params::Config;
use tsunagi::dimmnet1::regs::*;
use tsunagi::harness::backend::AnyBackend;
use tsunagi::{Addr, NodeId, Picos};

use crate::backends::{Kind, build, on_both};
use crate::host::{A, B, BOUND, booted, bytes, machine};

on_both! {
    an_indirect_write_goes_where_the_pointer_says
    bandwidth_of_long_sends
    messages_come_whole_and_in_order
    a_chain_scatters_a_packet
    the_matcher_needs_no_processor
    without_a_processor_its_packets_are_refused
    pages_that_the_tlb_lacks_are_filled_in
}

/// The ways to an indirect write of this node's pointer number 2.
fn indirect() -> [Message; 3] {
    let offset = 16;
    let push = |region| Message::push(B, Place::new(region, offset));
    let cell = Place::new(layout::COMMON, u64::from(common::POINTERS) + offset);
    let kind = TYPE_INDIRECT;
    [
        Message {
            kind,
            ..Message::push(B, cell)
        },
        push(layout::INDIRECT_REGION),
        Message::push(
            B,
            Place::new(layout::INDIRECT_PAGES, u64::from(common::POINTERS) % 4096 + offset),
        ),
    ]
}

fn an_indirect_write_goes_where_the_pointer_says(kind: Kind) {
    for (way, message) in indirect().into_iter().enumerate() {
        for (poll, matching, how) in [
            (false, false, How::Botf),
            (true, false, How::Botf),
            (false, false, How::Rdma),
            (false, true, How::Botf),
            (false, true, How::Rdma),
        ] {
            let mut config = Config::paper();
            (config.poll, config.matching) = (poll, matching);
            let mut sim = booted(kind, &config);
            let data = bytes(464, 9);
            sim.node(A).write(Addr(0), &data);
            sim.spawn(B, async |node| node.set_pointer(2, Addr(0x4008)).await.unwrap());
            let mut time = sim.spawn(A, async move |node| {
                node.compute(Picos::from_ns(5000)).await;
                let start = node.now();
                node.send(&message.by(how), Addr(0), 464).await.unwrap();
                node.now() - start
            });
            let what = format!("way {way}, poll {poll}, matching {matching}, {how:?}");
            sim.run(BOUND).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(sim.node(B).read(Addr(0x4008), 464), data, "{what}");
            println!("{what}: {}", time.take().unwrap());
        }
    }
}

/// Two commands: 16 blocks of 16 bytes, 48 apart, then blocks of 24 bytes, one behind the other.
fn a_chain_scatters_a_packet(kind: Kind) {
    for (poll, matching, f_seq) in [
        (false, false, false),
        (true, false, true),
        (false, true, false),
        (false, true, true),
    ] {
        let mut config = Config::paper();
        (config.poll, config.matching) = (poll, matching);
        let mut sim = booted(kind, &config);
        let data = bytes(400, 9);
        sim.node(A).write(Addr(0), &data);
        let first = Command {
            to: Addr(0x4000),
            length: 16,
            count: 16,
            stride: 48,
            next: Some(3),
        };
        let second = Command {
            to: Addr(0x5000),
            length: 24,
            count: 5,
            stride: 24,
            next: None,
        };
        sim.spawn(B, async move |node| {
            node.set_command(1, first).await.unwrap();
            node.set_command(3, second).await.unwrap();
        });
        let what = format!("poll {poll}, matching {matching}, f_seq {f_seq}");
        let mut ends = sim.spawn(A, async move |node| {
            node.compute(Picos::from_ns(9000)).await;
            let message = node.chain_message(B, 1).numbered(f_seq);
            let start = node.now();
            node.send(&message, Addr(0), 376).await.unwrap();
            let took = node.now() - start;
            // The chain has 376 bytes.
            (took, node.send(&message, Addr(0), 400).await)
        });
        sim.run(BOUND).unwrap_or_else(|error| panic!("{what}: {error}"));
        for (block, bytes) in data[..256].chunks(16).enumerate() {
            let at = Addr(0x4000 + 48 * block as u32);
            assert_eq!(sim.node(B).read(at, 16), bytes, "{what}: block {block}");
        }
        assert_eq!(sim.node(B).read(Addr(0x5000), 120), data[256..376], "{what}");
        let (took, refused) = ends.take().unwrap();
        println!("{what}: {took}");
        let told = matches!(
            refused,
            Err(CommError::Refused {
                reason: Reason::Range,
                ..
            })
        );
        assert!(told, "{what}: {refused:?}");
    }
}

/// MB/s of a blocking send.
fn rate(sim: &mut Dimmnet1Sim<AnyBackend>, message: Message, count: u32) -> f64 {
    let mut time = sim.spawn(A, async move |node| {
        node.compute(Picos::from_ns(5000)).await;
        let start = node.now();
        node.send(&message, Addr(0), count).await.unwrap();
        node.now() - start
    });
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    time.take().unwrap().rate_mb_s(count.into())
}

fn bandwidth_of_long_sends(kind: Kind) {
    const COUNT: u32 = 46_400;
    let (_, mut sim) = machine(kind, 2);
    sim.spawn(B, async |node| node.set_pointer(2, Addr(0x4008)).await.unwrap());
    let to = Place::new(layout::MEMORY, 0x1_0000);
    let direct = rate(&mut sim, Message::push(B, to), COUNT);
    let rdma = rate(&mut sim, Message::push(B, to).by(How::Rdma), COUNT);
    println!("BOTF {direct:.1} MB/s, RDMA {rdma:.1} MB/s");
    assert!(direct > 150.0 && rdma > 150.0);
    for message in indirect() {
        let indirect = rate(&mut sim, message, COUNT);
        println!("indirect {indirect:.1} MB/s");
        assert!(indirect < direct);
    }
    for f_seq in [false, true] {
        let (_, mut sim) = machine(kind, 2);
        sim.spawn(B, async |node| node.post_soft(A, Addr(0x1_0000), COUNT).await.unwrap());
        let message = sim.node(A).soft_message(B).numbered(f_seq);
        let soft = rate(&mut sim, message, COUNT);
        println!("soft, f_seq {f_seq}: {soft:.1} MB/s");
        sim.spawn(B, async |node| assert_eq!(node.wait_soft(A).await, Ok(COUNT)));
        sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            sim.node(B).read(Addr(0x1_0000), COUNT),
            sim.node(A).read(Addr(0), COUNT)
        );
    }
}

fn messages_come_whole_and_in_order(kind: Kind) {
    for matching in [false, true] {
        let mut config = Config::paper();
        (config.nodes, config.matching) = (3, matching);
        exchange_messages(&mut booted(kind, &config));
    }
}

fn exchange_messages(sim: &mut Dimmnet1Sim<AnyBackend>) {
    let sizes = [8, 464, 465, 5000, 40_000, 1, 16_000];
    for from in [A, NodeId(2)] {
        sim.spawn(from, async move |node| {
            for (number, count) in sizes.into_iter().enumerate() {
                node.write(Addr(0), &bytes(count, number as u32 + u32::from(from.0)));
                node.send_message(B, Addr(0), count)
                    .await
                    .unwrap_or_else(|error| panic!("{count} B: {error}"));
            }
        });
        sim.spawn(B, async move |node| {
            for (number, count) in sizes.into_iter().enumerate() {
                let next = (number % 2 == 0).then_some(Addr(0x1_0000 * (1 + u32::from(from.0))));
                let data = node
                    .receive_and_post(from, next)
                    .await
                    .unwrap_or_else(|error| panic!("{count} B: {error}"));
                assert!(
                    data == bytes(count, number as u32 + u32::from(from.0)),
                    "{from}: {count} B"
                );
                node.compute(Picos::from_ns(20_000)).await;
            }
        });
    }
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
}

/// An indirect write, and a message to a posted area, whose cell is the system buffer's afterwards.
fn the_matcher_needs_no_processor(kind: Kind) {
    const AREA: u32 = 0x8000;
    let mut config = Config::paper();
    config.matching = true;
    let mut sim = Dimmnet1Sim::with_program(build(kind, &config), &config, None).unwrap();
    let data = bytes(464, 9);
    sim.node(A).write(Addr(0), &data);
    let cell = common::cell(common::CELLS, A);
    let pointer = u64::from(LLCM + cell);
    sim.spawn(B, async move |node| {
        node.set_pointer(2, Addr(0x4008)).await.unwrap();
        let area = Place::new(layout::MEMORY, AREA.into());
        node.host().store(pointer, 8, area.word()).await.unwrap();
    });
    sim.spawn(A, async move |node| {
        node.compute(Picos::from_ns(1000)).await;
        let [by_type, ..] = indirect();
        node.send(&by_type, Addr(0), 464).await.unwrap();
        let message = Message {
            kind: TYPE_MESSAGE,
            ..Message::push(B, Place::new(layout::COMMON, cell.into()))
        };
        node.send(&message, Addr(0), 464).await.unwrap();
    });
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(sim.node(B).read(Addr(0x4008), 464), data);
    assert_eq!(sim.node(B).read(Addr(AREA), 464), data);
    let mut left = sim.spawn(B, async move |node| node.host().load(pointer, 8).await.unwrap());
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    let system = Place::new(layout::SYSTEM, layout::system_offset(A).into());
    assert_eq!(left.take(), Some(system.word()));
}

fn without_a_processor_its_packets_are_refused(kind: Kind) {
    let config = Config::paper();
    let mut sim = Dimmnet1Sim::with_program(build(kind, &config), &config, None).unwrap();
    let [by_type, by_region, _] = indirect();
    let mut results = sim.spawn(A, async move |node| {
        [
            node.send(&by_type, Addr(0), 100).await,
            node.send(&by_region, Addr(0), 100).await,
            node.send(&Message::push(B, Place::new(layout::MEMORY, 0)), Addr(0), 100)
                .await,
        ]
    });
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    let refused = Err(CommError::Refused {
        node: A,
        dst: B,
        reason: Reason::Unserved,
    });
    assert_eq!(results.take().unwrap(), [refused.clone(), refused, Ok(())]);
}

fn pages_that_the_tlb_lacks_are_filled_in(kind: Kind) {
    let (config, mut sim) = machine(kind, 2);
    let to = Addr(sim.node(B).memory_end() - 0x8000);
    assert!(to.0 / SIZE_PAGE > SIZE_TLB && config.mem_bytes > to.0);
    let data = bytes(20_000, 5);
    sim.node(A).write(Addr(0), &data);
    sim.spawn(A, async move |node| {
        let place = Place::new(layout::MEMORY, to.0.into());
        node.send(&Message::push(B, place).by(How::Rdma), Addr(0), 20_000)
            .await
            .unwrap();
        node.pull(B, place, to, 20_000).await.unwrap();
    });
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(sim.node(B).read(to, 20_000), data);
    assert_eq!(sim.node(A).read(to, 20_000), data);
}
