//! What one node can do to the time of others: nothing delays a send by more than the page's table says.

use super::*;
use crate::backends::on_both;

on_both!(a_flood_delays_others_within_its_bound);

/// Bytes of the send from A to B: ten packets. Packets of each of the two nodes that flood.
const BYTES: u32 = 4640;
const PACKETS: usize = 150;
/// With C, a node that floods; and a node that is flooded in place of B.
const D: NodeId = NodeId(3);
const E: NodeId = NodeId(4);

/// What a flood is made of.
#[derive(Clone, Copy, Debug)]
enum Of {
    Writes,
    Stores,
    Pulls,
    Copies,
    Stamps,
    Types,
    Indirect,
}

impl Of {
    fn packet(self, from: NodeId, to: NodeId) -> Packet {
        let write = push(from, to, memory(0xa000), 464);
        let kind = |kind| Header { kind, ..write };
        let short = |kind, place| Header {
            kind,
            flags: HDR_W0_ACK_REQ_MASK | HDR_W0_OTF_MASK,
            ..push(from, to, place, 8)
        };
        match self {
            Of::Writes => filled(&write),
            Of::Stores => filled(&short(TYPE_OTF, Place::new(layout::COMMON, common::USER.into()))),
            Of::Pulls => {
                let pull = Header {
                    kind: TYPE_PULL,
                    flags: HDR_W0_OTF_MASK,
                    ..push(from, to, memory(0), 4096)
                };
                Packet::new(&pull, &memory(0xa000).word().to_le_bytes())
            }
            Of::Copies => filled(&Header {
                flags: HDR_W0_MULTICAST_MASK,
                dst: layout::EVERYBODY,
                ..write
            }),
            Of::Stamps => filled(&Header { pgid: FOREIGN, ..write }),
            Of::Types => filled(&kind(9)),
            Of::Indirect => filled(&Header {
                place: Place::new(layout::COMMON, 0x1000),
                ..kind(TYPE_INDIRECT)
            }),
        }
    }
}

fn five(config: &mut Config) {
    (config.nodes, config.wait_bound) = (5, Picos::from_ns(5_000_000));
}

/// Microseconds of the send from A to B while C and D flood a node, which still has packets to come at its end.
fn us(kind: Kind, flood: Option<(Of, NodeId)>) -> f64 {
    let mut rig = Rig::with(kind, five);
    for from in [C, D] {
        let host = rig.sim.node(from).host().clone();
        let Some((of, to)) = flood else { break };
        let packet = of.packet(from, to).words;
        (0..PACKETS).for_each(|_| assert!(host.inject(&Fault::Packet(packet.clone()))));
    }
    let time = rig.run(A, async |node| {
        node.compute(Picos::from_ns(10_000)).await;
        let start = node.now();
        let sent = node.send(&Message::push(B, memory(TO)), Addr(0), BYTES).await;
        sent.unwrap_or_else(|error| panic!("{error}"));
        node.now() - start
    });
    let [sent, got] = [(A, 0), (B, TO)].map(|(node, at)| rig.sim.node(node).read(Addr(at), BYTES));
    assert!(got == sent, "{flood:?}");
    if let Some((of, to)) = flood {
        // Replies to reads come to those that flood.
        let at = if matches!(of, Of::Pulls) { C } else { to };
        let came = rig.taken(at);
        rig.rest();
        assert!(rig.taken(at) > came, "{flood:?} lasts longer than the send");
        rig.run(A, async |node| node.compute(Picos::from_ns(4_000_000)).await);
    }
    rig.unharmed();
    time.as_us()
}

impl Rig {
    /// Packets that a node's receiver has ended.
    fn taken(&mut self, node: NodeId) -> u64 {
        (COUNTS..COUNTS + 8 * 16).step_by(8).map(|at| self.load(node, at)).sum()
    }
}

/// By flood: how many times as long the send takes at most if B is flooded, and if E is. An answer waits behind all
/// reads that came before: 300 replies of 8.2 us.
const BOUNDS: [(Of, f64, f64); 7] = [
    (Of::Writes, 3.0, 1.2),
    (Of::Stores, 2.0, 1.2),
    (Of::Pulls, 130.0, 1.2),
    (Of::Copies, 2.0, 2.0),
    (Of::Stamps, 6.0, 1.2),
    (Of::Types, 3.0, 1.2),
    (Of::Indirect, 6.0, 1.2),
];

fn a_flood_delays_others_within_its_bound(kind: Kind) {
    let quiet = us(kind, None);
    for (of, near, far) in BOUNDS {
        for (to, most) in [(B, near), (E, far)] {
            let factor = us(kind, Some((of, to))) / quiet;
            println!("{of:?} to {to}: {factor:.2} times {quiet} us");
            assert!(factor <= most, "{of:?} to {to}: {factor:.2} times");
        }
    }
}

/// B sends to E, whose link stands still. Who sends to B waits for answers, which wait behind B's packets; others do
/// not.
/// On RTL only: the model's links never stand still.
#[test]
fn a_node_whose_link_stands_still_holds_who_sends_to_it() {
    const SPAN: Picos = Picos::from_ns(500_000);
    let time = |to: NodeId, stall: bool| {
        let mut rig = Rig::with(Kind::Rtl, five);
        if stall {
            assert!(rig.sim.node(E).host().inject(&Fault::LinkStalls(SPAN)));
        }
        let held = rig.sim.spawn(B, async |node| {
            let sent = node.send(&Message::push(E, memory(TO)), Addr(0), BYTES).await;
            sent.unwrap_or_else(|error| panic!("{error}"));
            node.now()
        });
        let time = rig.run(A, async move |node| {
            node.compute(Picos::from_ns(10_000)).await;
            let start = node.now();
            let sent = node.send(&Message::push(to, memory(TO)), Addr(0), BYTES).await;
            sent.unwrap_or_else(|error| panic!("{error}"));
            node.now() - start
        });
        let mut held = held;
        println!("to {to}, stall {stall}: {time}; B's own by {:?}", held.take());
        rig.unharmed();
        time.as_us()
    };
    for (to, most) in [(B, SPAN.as_us()), (C, 0.0)] {
        let (quiet, slow) = (time(to, false), time(to, true));
        assert!(slow <= 1.2 * quiet + most, "to {to}: {slow} us, quiet {quiet} us");
    }
}
