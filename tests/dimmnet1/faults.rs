//! Faults and forgeries on whole machines: from a host, from the network, and in the firmware. Each is refused and
//! reported as the registers say, changes nothing else, and legal traffic afterwards is as ever.

mod availability;
mod barriers;
mod firmware;
mod hosts;
mod network;

use tsunagi::dimmnet1::golden::packet::{Header, Packet, PageEntry, Place, Reason, Region, Slot};
use tsunagi::dimmnet1::host::layout::{self, common};
use tsunagi::dimmnet1::host::{CommError, Dimmnet1Sim, How, Message, Node};
use tsunagi::dimmnet1::params::Config;
use tsunagi::dimmnet1::regs::*;
use tsunagi::harness::backend::AnyBackend;
use tsunagi::harness::faults::Fault;
use tsunagi::{Addr, NodeId, Picos};

use crate::backends::Kind;
use crate::host::{A, B, BOUND, booted, bytes};

const C: NodeId = NodeId(2);
/// Within this time, everything under way has come to rest.
const REST: Picos = Picos::from_ns(100_000);
/// Memory that the tests look at: sources, and behind them where data go.
const MEMORY: u32 = 0x1_0000;
const TO: u32 = 0x8000;
/// A group of processes that no card knows.
const FOREIGN: u16 = 2;

/// A machine of three nodes, whose memories have bytes of their own.
struct Rig {
    sim: Dimmnet1Sim<AnyBackend>,
    config: Config,
}

impl Rig {
    fn new(kind: Kind) -> Rig {
        Rig::with(kind, |_| {})
    }

    fn with(kind: Kind, set: impl FnOnce(&mut Config)) -> Rig {
        let mut config = Config::paper();
        (config.nodes, config.wait_bound) = (3, Picos::from_ns(50_000));
        set(&mut config);
        Rig::of(booted(kind, &config), config)
    }

    fn of(sim: Dimmnet1Sim<AnyBackend>, config: Config) -> Rig {
        for node in [A, B, C] {
            sim.node(node)
                .write(Addr(0), &bytes(MEMORY, 1 + 50 * u32::from(node.0)));
        }
        Rig { sim, config }
    }

    /// Runs a program to its end.
    fn run<T: 'static, F: Future<Output = T> + 'static>(
        &mut self,
        node: NodeId,
        program: impl FnOnce(Node) -> F + 'static,
    ) -> T {
        let mut result = self.sim.spawn(node, program);
        self.sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
        result.take().expect("the program has ended")
    }

    fn rest(&mut self) {
        self.run(A, async |node| node.compute(REST).await);
    }

    /// A neighbour sends packets on a node's link.
    fn forge(&mut self, from: NodeId, packets: impl IntoIterator<Item = Packet>) {
        for packet in packets {
            assert!(self.sim.node(from).host().inject(&Fault::Packet(packet.words)));
        }
        self.rest();
    }

    fn load(&mut self, node: NodeId, offset: u32) -> u64 {
        self.run(node, async move |node| {
            node.host().load(offset.into(), 8).await.unwrap()
        })
    }

    fn store(&mut self, node: NodeId, words: impl IntoIterator<Item = (u32, u64)>) {
        let words: Vec<_> = words.into_iter().collect();
        self.run(node, async move |node| {
            for (offset, word) in words {
                node.host().store(offset.into(), 8, word).await.unwrap();
            }
        });
    }

    /// A counter of the receiver; `None`: accepted.
    fn count(&mut self, node: NodeId, reason: Option<Reason>) -> u64 {
        self.load(node, COUNTS + 8 * reason.map_or(0, Reason::code))
    }

    fn slot(&mut self, node: NodeId, slot: u8) -> Slot {
        Slot::of(self.load(node, SLOTS + 8 * u32::from(slot)))
    }

    fn memories(&self) -> Vec<Vec<u8>> {
        [A, B, C].map(|node| self.sim.node(node).read(Addr(0), MEMORY)).into()
    }

    /// All of LLCM of a node.
    fn llcm(&mut self, node: NodeId) -> Vec<u64> {
        self.run(node, async |node| {
            let mut words = Vec::new();
            for offset in (0..SIZE_LLCM).step_by(8) {
                words.push(node.host().load((LLCM + offset).into(), 8).await.unwrap());
            }
            words
        })
    }

    /// The library sends this, and is refused for this reason.
    fn refused(&mut self, message: Message, src: Addr, bytes: u32, reason: Reason) {
        let (node, dst) = (A, message.dst);
        let result = self.run(A, async move |node| node.send(&message, src, bytes).await);
        assert_eq!(result, Err(CommError::Refused { node, dst, reason }), "{message:?}");
    }

    /// Every node writes to every other in each way, reads from it, and stores a word there.
    fn unharmed(&mut self) {
        const BYTES: u32 = 1000;
        for node in [A, B, C] {
            self.sim.spawn(node, traffic);
        }
        self.sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
        self.rest();
        for from in [A, B, C] {
            let sent = self.sim.node(from).read(Addr(0), BYTES);
            for to in [A, B, C] {
                for way in 0..3 {
                    let got = self.sim.node(to).read(Addr(goal(from, way)), BYTES);
                    assert!(got == sent, "{from} to {to}, way {way}");
                }
                let read = self.sim.node(to).read(Addr(goal(from, 3)), BYTES);
                assert!(read == sent, "{to} read of {from}");
                let word = self.load(to, LLCM + common::of(common::USER, from));
                assert_eq!(word, 0x1234_0000 + u64::from(from.0), "word of {from} at {to}");
            }
        }
    }
}

/// Where bytes of a node go.
fn goal(from: NodeId, way: u32) -> u32 {
    0x1_8000 + 0x800 * (4 * u32::from(from.0) + way)
}

async fn traffic(node: Node) {
    const BYTES: u32 = 1000;
    let own = node.id();
    for at in 0..3 {
        let cell = common::of(common::USER + 0x200, own);
        let (to, pointer) = (NodeId(at), Place::new(layout::COMMON, cell.into()));
        let place = |way| Place::new(layout::MEMORY, goal(own, way).into());
        let push = Message::push(to, place(0)).numbered(node.config().f_seq);
        let sent = async {
            node.send(&push, Addr(0), BYTES).await?;
            let rdma = Message::push(to, place(1)).by(How::Rdma);
            node.send(&rdma, Addr(0), BYTES).await?;
            // Packets through a pointer, which moves on.
            for from in (0..BYTES).step_by(400) {
                let left = (BYTES - from).min(400);
                node.write(Addr(0x1_7000), &place(2).plus(from.into()).word().to_le_bytes());
                node.send(&Message::push(to, pointer), Addr(0x1_7000), 8).await?;
                let kind = TYPE_INDIRECT;
                let message = Message {
                    kind,
                    ..Message::push(to, pointer)
                };
                node.send(&message.numbered(node.config().f_seq), Addr(from), left)
                    .await?;
            }
            let there = Place::new(layout::MEMORY, 0);
            node.pull(to, there, Addr(goal(to, 3)), BYTES).await?;
            let word = 0x1234_0000 + u64::from(own.0);
            node.aotf_write(to, common::of(common::USER, own), 8, word).await
        };
        let result: Result<(), CommError> = sent.await;
        result.unwrap_or_else(|error| panic!("afterwards, {own} to {to}: {error}"));
    }
}

/// A remote write to the processes of a node, as another card would send it.
fn push(from: NodeId, to: NodeId, place: Place, length: u32) -> Header {
    Header {
        kind: TYPE_PUSH,
        flags: HDR_W0_ACK_REQ_MASK,
        src: from.0,
        dst: to.0,
        length,
        pgid: layout::PGID,
        place,
        ..Header::default()
    }
}

fn memory(offset: u32) -> Place {
    Place::new(layout::MEMORY, offset.into())
}

/// A packet with as many bytes as its header says.
fn filled(header: &Header) -> Packet {
    let length = if header.kind == TYPE_PULL { 8 } else { header.length };
    Packet::new(header, &vec![0xa5; length as usize])
}

/// Stores of a table entry.
fn region_words(region: &Region) -> impl Iterator<Item = (u32, u64)> + use<> {
    (RVATLB..).step_by(8).zip(region.encode())
}

fn page_words(page: &PageEntry) -> impl Iterator<Item = (u32, u64)> + use<> {
    (PATLB..).step_by(8).zip(page.encode())
}
