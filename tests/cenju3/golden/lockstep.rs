//! The lock-step models watch whole machines, the timed model and the RTL alike, through the events at their ports. The
//! traffic is random parcels of all kinds, in both queues and both ways at once.

use std::collections::VecDeque;

use proptest::prelude::*;
use support::cenju3::{Driver, LIMIT, setup};
use support::property::holds;
use support::{Test, this_test};
use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader};
use tsunagi::cenju3::golden::receiver::{Inside, RecvEvent, RecvModel};
use tsunagi::cenju3::golden::sender::{SendEvent, SendModel, Window};
use tsunagi::cenju3::model::ModelMachine;
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::regs::*;
use tsunagi::cenju3::rtl::{Machine, of_nics};
use tsunagi::harness::backend::{Backend, Event, EventKind};
use tsunagi::harness::memory::Memory;
use tsunagi::harness::wave::Probe;
use tsunagi::rtl::Cenju3Nic;
use tsunagi::{Addr, NodeId};

use crate::traffic::{DEST, SOURCE};

/// The models of one PE.
struct Watch {
    send: SendModel,
    recv: RecvModel,
    /// Bytes of the read commands whose first word has not come.
    reads: VecDeque<(Addr, u32)>,
    writes: VecDeque<Addr>,
    /// Flits of the packet on the outgoing link.
    leaving: Vec<u16>,
    /// Packets on their way here.
    coming: VecDeque<Vec<u16>>,
    memory: Memory,
}

impl Watch {
    fn new(node: u8, config: &Config, memory: Memory) -> Watch {
        Watch {
            send: SendModel::new(node, config.bus_bytes, Window::LINK),
            recv: RecvModel::new(config.bus_bytes, config.burst_beats, Inside::Assumed, memory.clone()),
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            leaving: Vec::new(),
            coming: VecDeque::new(),
            memory,
        }
    }
}

/// Shows all events to the models.
fn watch(watches: &mut [Watch; 2], events: &[Event]) {
    for event in events {
        let node = event.node.index();
        let w = &mut watches[node];
        let checked = match event.kind {
            EventKind::RegWrite { offset, value } => w
                .send
                .observe(SendEvent::Register { offset, value }, &w.memory)
                .and_then(|()| w.recv.observe(RecvEvent::Register { offset, value })),
            EventKind::MemRead { addr, bytes } => {
                w.reads.push_back((addr, bytes));
                Ok(())
            }
            EventKind::MemReadData { addr } => {
                let (at, bytes) = w.reads.pop_front().expect("a command before its data");
                assert_eq!(at, addr);
                w.send.observe(SendEvent::Read { addr, bytes }, &w.memory)
            }
            EventKind::MemWrite { addr, bytes } => {
                w.writes.push_back(addr);
                w.recv.observe(RecvEvent::Write { addr, bytes })
            }
            EventKind::MemWritten { addr, bytes } => {
                assert_eq!(w.writes.pop_front(), Some(addr), "responses in order");
                let ok = w.memory.bus_ok(addr, bytes);
                w.recv.observe(RecvEvent::Written { ok })
            }
            EventKind::TxFirst { head } => {
                let queue = usize::from(u32::from(head) & ROUTE_PRIORITY_MASK == 0);
                let packet = w.send.next_packets(&w.memory)[queue]
                    .clone()
                    .expect("that queue has a packet");
                w.leaving = packet.flits();
                assert_eq!(w.leaving[0], head);
                let flits = w.leaving.clone();
                watches[1 - node].coming.push_back(flits);
                Ok(())
            }
            EventKind::TxLast { flits } => {
                assert_eq!(w.leaving.len() as u32, flits);
                w.send.observe(
                    SendEvent::Packet {
                        flits: w.leaving.clone(),
                    },
                    &w.memory,
                )
            }
            EventKind::RxFirst { head } => {
                let flits = w.coming.pop_front().expect("it was sent");
                assert_eq!(flits[0], head);
                w.recv.observe(RecvEvent::Arrives { flits })
            }
            EventKind::RxLast { .. } | EventKind::Irq { .. } | EventKind::Retire { .. } => Ok(()),
        };
        checked.unwrap_or_else(|mismatch| panic!("{}, {}: {mismatch}", event.at, event.node));
    }
}

/// Sends `parcels` (sender, queue, parcel) to memories that refuse the 32 bytes at `faults`, and checks everything.
fn scenario<B: Backend>(machine: B, config: &Config, parcels: &[(usize, usize, ParcelHeader)], faults: &[u32]) {
    const NODES: [NodeId; 2] = [NodeId(0), NodeId(1)];
    let mut d = Driver::new(machine, config, 0);
    for node in NODES {
        d.fill(node, SOURCE, 0x1_0000, node.0.into());
        d.fill(node, DEST, 0x1_0000, !0);
        for &at in faults {
            d.machine.memory(node).inject_fault(at..at + 32);
        }
    }
    for (from, queue, parcel) in parcels {
        d.queue(NODES[*from], *queue, parcel);
    }
    d.settle(LIMIT);
    let mut watches = NODES.map(|node| Watch::new(node.0 as u8, config, d.machine.memory(node).clone()));
    d.machine.record(true);
    for node in NODES {
        d.write(node, NODE_ID, node.0.into());
        for (offset, value) in setup(config, R_CTRL_IE_END_MASK) {
            d.write(node, offset, value);
        }
    }
    for node in NODES {
        d.start(&[node], 1);
        d.start(&[node], 0);
    }
    d.settle(LIMIT);
    watch(&mut watches, &d.machine.take_events());
    for (node, w) in NODES.into_iter().zip(&mut watches) {
        for queue in 0..2 {
            for value in 1..=d.queued(node, queue) {
                w.send.observe(SendEvent::Get { queue, value }, &w.memory).unwrap();
            }
        }
        w.send.finished().unwrap();
        w.recv.finished().unwrap();
        w.recv.check_memory(d.machine.memory(node)).unwrap();
        assert_eq!(d.read(node, S_STAT), w.send.stat());
        for offset in [MHB_PUT, DHB_PUT, MBB0_PUT, MBB1_PUT, R_DROP, R_STAT] {
            let got = d.read(node, offset);
            assert_eq!(Some(got), w.recv.regs.read(offset), "register {offset:#x}");
        }
        assert_eq!(d.machine.irq(node), w.recv.regs.irq());
    }
}

prop_compose! {
    fn any_parcel()(
        from in 0..2usize, queue in 0..2usize, kind in proptest::sample::select(&Kind::ALL[..]),
        long in 1..2600u32, short in 1..80u32, is_short: bool, at in 0..1024u32, arr: bool, end: bool, soft: [u32; 2],
    ) -> (usize, usize, ParcelHeader) {
        let len = if is_short { short } else { long };
        let bytes = if kind == Kind::Dma { len } else { len.min(512) };
        let (body, dest) = (Addr(SOURCE + 32 * at), Addr(DEST + 32 * (1023 - at)));
        (from, queue, ParcelHeader { kind, arr, end, dst: 1 - from as u8, bytes, body, dest, soft })
    }
}

fn random<B: Backend>(test: Test, cases: u32, most_faults: usize, make: impl Fn(&Config, &Probe) -> B) {
    let config = Config {
        mem_bytes: 1 << 22,
        stages: 2,
        ..Config::paper()
    };
    let parcels = prop::collection::vec(any_parcel(), 1..16);
    let faults = prop::collection::vec((0..1100u32).prop_map(|at| DEST + 32 * at), 0..=most_faults);
    let strategy = (parcels, faults);
    holds(
        test,
        "tests/cenju3/regressions/lockstep.txt",
        cases,
        strategy,
        |_, (parcels, faults), probe| {
            scenario(make(&config, probe), &config, parcels, faults);
            Ok::<(), String>(())
        },
    );
}

fn model(config: &Config, _: &Probe) -> ModelMachine {
    ModelMachine::new(config)
}

fn rtl(config: &Config, probe: &Probe) -> Machine<Cenju3Nic> {
    of_nics::<Cenju3Nic>(config)
        .expect("the RTL is built")
        .with_probe(probe)
}

#[test]
fn timed_model_is_legal() {
    random(this_test!(), 64, 0, model);
}

#[test]
fn timed_model_is_legal_when_memory_refuses() {
    random(this_test!(), 64, 100, model);
}

#[test]
fn rtl_is_legal() {
    random(this_test!(), 24, 0, rtl);
}

#[test]
fn rtl_is_legal_when_memory_refuses() {
    random(this_test!(), 24, 100, rtl);
}
