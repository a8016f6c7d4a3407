//! Model and RTL agree in time: the same program ends at about the same instant on both.

use tsunagi::dimmnet1::golden::packet::Place;
use tsunagi::dimmnet1::host::layout::{self, common};
use tsunagi::dimmnet1::host::{Barrier, Command, Dimmnet1Sim, How, Message, Node};
use tsunagi::dimmnet1::params::Config;
use tsunagi::dimmnet1::regs::*;
use tsunagi::harness::backend::AnyBackend;
use tsunagi::{Addr, NodeId, Picos};

use crate::backends::{Kind, build};
use crate::host::{A, B, BOUND};

/// By how much the model may be wrong: of the time, and at least two polls of a register.
const RELATIVE: f64 = 0.05;
const ABSOLUTE: Picos = Picos::from_ns(400);

type Sim = Dimmnet1Sim<AnyBackend>;

/// Runs a scenario on both backends, each on `nodes` nodes, and compares the times that it gives.
fn agree(what: &str, nodes: u32, scenario: impl Fn(&mut Sim) -> Picos) {
    let config = Config {
        nodes,
        ..Config::paper()
    };
    agree_on(what, &config, scenario);
}

fn agree_on(what: &str, config: &Config, scenario: impl Fn(&mut Sim) -> Picos) {
    let [model, rtl] = [Kind::Model, Kind::Rtl].map(|kind| {
        let mut sim = Dimmnet1Sim::new(build(kind, config), config).unwrap_or_else(|error| panic!("{error}"));
        scenario(&mut sim)
    });
    let (more, less) = (model.max(rtl), model.min(rtl));
    let relative = (more - less).as_us() / rtl.as_us();
    println!("{what}: model {model}, RTL {rtl}, {:.1} %", 100.0 * relative);
    assert!(
        relative < RELATIVE || more - less < ABSOLUTE,
        "{what}: model {model}, RTL {rtl}"
    );
}

/// The time that a program on node A takes, when all cards have been at rest for some time.
fn timed<F: Future<Output = ()> + 'static>(sim: &mut Sim, program: impl FnOnce(Node) -> F + 'static) -> Picos {
    let mut time = sim.spawn(A, async move |node| {
        node.compute(Picos::from_ns(10_000)).await;
        let start = node.now();
        program(node.clone()).await;
        node.now() - start
    });
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    time.take().expect("the program has ended")
}

fn send(message: Message, bytes: u32) -> impl Fn(&mut Sim) -> Picos {
    move |sim| {
        sim.spawn(B, async |node| node.set_pointer(0, Addr(0x1_0000)).await.unwrap());
        timed(sim, async move |node| {
            node.send(&message, Addr(0), bytes).await.unwrap()
        })
    }
}

#[test]
fn in_hardware_sends() {
    let place = Place::new(layout::MEMORY, 0x1_0000);
    for how in [How::Botf, How::Rdma] {
        for bytes in [8, 464, 4096, 46_400] {
            let message = Message::push(B, place).by(how);
            agree(&format!("{how:?}, {bytes} B"), 2, send(message, bytes));
        }
    }
}

#[test]
fn in_a_pull() {
    let place = Place::new(layout::MEMORY, 0x1_0000);
    for bytes in [8, 4096, 40_000] {
        agree(&format!("PULL, {bytes} B"), 2, |sim| {
            timed(sim, async move |node| {
                node.pull(B, place, Addr(0), bytes).await.unwrap()
            })
        });
    }
}

/// Bursts each way wait for the ends of those before them.
#[test]
fn with_memory_of_any_speed() {
    let place = Place::new(layout::MEMORY, 0x1_0000);
    for (read, write, pause) in [
        (0, 0, 0),
        (100, 4, 0),
        (1000, 4, 0),
        (6, 100, 0),
        (6, 1000, 0),
        (6, 4, 100),
    ] {
        let config = Config {
            mem_read_latency: read,
            mem_write_latency: write,
            mem_overhead: pause,
            ..Config::paper()
        };
        let what = format!("latency {read} and {write}, pause {pause}");
        for how in [How::Botf, How::Rdma] {
            let message = Message::push(B, place).by(how);
            agree_on(&format!("{what}, {how:?}"), &config, send(message, 46_400));
        }
        agree_on(&format!("{what}, PULL"), &config, |sim| {
            timed(sim, async move |node| {
                node.pull(B, place, Addr(0), 40_000).await.unwrap()
            })
        });
    }
}

#[test]
fn in_indirect_writes() {
    let kind = TYPE_INDIRECT;
    let cell = Place::new(layout::COMMON, common::POINTERS.into());
    let page = Place::new(layout::INDIRECT_PAGES, u64::from(common::POINTERS % SIZE_PAGE));
    let by_type = Message {
        kind,
        ..Message::push(B, cell)
    };
    let by_region = Message::push(B, Place::new(layout::INDIRECT_REGION, 0));
    for (what, message) in [
        ("type", by_type),
        ("RVATLB", by_region),
        ("PATLB", Message::push(B, page)),
    ] {
        for bytes in [464, 46_400] {
            agree(&format!("indirect by {what}, {bytes} B"), 2, send(message, bytes));
        }
    }
}

#[test]
fn in_what_the_matcher_serves() {
    let config = Config {
        matching: true,
        ..Config::paper()
    };
    let pointer = Message {
        kind: TYPE_INDIRECT,
        ..Message::push(B, Place::new(layout::COMMON, common::POINTERS.into()))
    };
    for how in [How::Botf, How::Rdma] {
        for bytes in [8, 464, 46_400] {
            let what = format!("matched, {how:?}, {bytes} B");
            agree_on(&what, &config, send(pointer.by(how), bytes));
        }
    }
    for bytes in [8, 464, 8192] {
        agree_on(&format!("message, matched, {bytes} B"), &config, |sim| {
            timed(sim, async move |node| {
                node.send_message(B, Addr(0), bytes).await.unwrap()
            })
        });
    }
}

/// Blocks of one packet, by two commands: one word each, and whole bursts.
#[test]
fn in_chains() {
    for matching in [false, true] {
        let config = Config {
            matching,
            ..Config::paper()
        };
        for (how, bytes) in [(How::Botf, 448), (How::Rdma, 4096)] {
            for block in [8, 24, 64, 1024] {
                let what = format!("chain, matching {matching}, {how:?}, blocks of {block} B");
                agree_on(&what, &config, |sim| {
                    sim.spawn(B, async move |node| set_chain(&node, block).await);
                    timed(sim, async move |node| {
                        let message = node.chain_message(B, 0).by(how);
                        node.send(&message, Addr(0), bytes).await.unwrap()
                    })
                });
            }
        }
    }
}

/// Two commands in a circle, over the same place.
async fn set_chain(node: &Node, block: u16) {
    for number in [0, 1] {
        let command = Command {
            to: Addr(0x1_0000 + 0x1000 * number),
            length: block,
            count: 20,
            stride: 0,
            next: Some(1 - number),
        };
        node.set_command(number, command).await.unwrap();
    }
}

#[test]
fn in_messages_of_software() {
    for f_seq in [false, true] {
        agree(&format!("soft, f_seq {f_seq}"), 2, |sim| {
            const BYTES: u32 = 46_400;
            sim.spawn(B, async |node| node.post_soft(A, Addr(0x1_0000), BYTES).await.unwrap());
            let message = sim.node(A).soft_message(B).numbered(f_seq);
            timed(sim, async move |node| {
                node.send(&message, Addr(0), BYTES).await.unwrap()
            })
        });
    }
}

#[test]
fn in_barriers() {
    for nodes in [2, 8, 16] {
        for barrier in [
            Barrier::Hosts,
            Barrier::HostsMulticast,
            Barrier::Processor,
            Barrier::ProcessorMulticast,
        ] {
            agree(&format!("{nodes} nodes, {barrier:?}"), nodes, |sim| {
                for node in 1..nodes as u16 {
                    sim.spawn(NodeId(node), async move |node| node.barrier(barrier).await.unwrap());
                }
                timed(sim, async move |node| node.barrier(barrier).await.unwrap())
            });
        }
    }
}
