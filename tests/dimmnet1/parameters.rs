//! Each parameter that is not built in moves something that can be seen.

use tsunagi::dimmnet1::golden::packet::Place;
use tsunagi::dimmnet1::host::layout::{self, common};
use tsunagi::dimmnet1::host::{Barrier, Dimmnet1Sim, How, Message};
use tsunagi::dimmnet1::params::{Config, PARAMS};
use tsunagi::dimmnet1::regs::*;
use tsunagi::harness::backend::{AnyBackend, Backend as _, EventKind};
use tsunagi::{Addr, NodeId, Picos};

use crate::backends::{Kind, build};
use crate::host::{A, B, BOUND, booted};

/// What a machine of these parameters shows.
type Shown = fn(&Config) -> String;

/// Another value of each parameter, and what shows it.
const OTHERS: &[(&str, f64, Shown)] = &[
    ("nodes", 5.0, sizes),
    ("mem_bytes", 655_360.0, sizes),
    ("core_period", 25.0, sends),
    ("core_phase", 7.0, sends),
    ("link_period", 20.0, sends),
    ("link_phase", 9.0, first_word),
    ("windows", 1.0, sends),
    ("watchdog", 100.0, stopped),
    ("patience", 100.0, flooded),
    ("poll", 1.0, messages),
    ("matching", 1.0, messages),
    ("f_seq", 0.0, messages),
    ("mem_read_latency", 20.0, sends),
    ("mem_write_latency", 20.0, sends),
    ("mem_overhead", 3.0, sends),
    ("store_path", 80.0, sends),
    ("store", 30.0, sends),
    ("wc_word", 40.0, sends),
    ("fence", 150.0, sends),
    ("load", 300.0, sends),
    ("poll_loop", 70.0, sends),
    ("send_call", 400.0, sends),
    ("rdma_setup", 2000.0, sends),
    ("copy_rate", 50.0, messages),
    ("retry", 60.0, messages),
    ("wait_bound", 300.0, lonely),
];

fn run(sim: &mut Dimmnet1Sim<AnyBackend>) -> String {
    match sim.run(BOUND) {
        Ok(()) => sim.now().to_string(),
        Err(error) => format!("{}: {error}", sim.now()),
    }
}

fn sizes(config: &Config) -> String {
    let sim = booted(Kind::Model, config);
    format!("{} nodes, {:#x}", sim.nodes(), sim.node(A).memory_end())
}

/// One send of each kind, and a barrier.
fn sends(config: &Config) -> String {
    let mut sim = booted(Kind::Model, config);
    let mut times = sim.spawn(A, async |node| {
        let mut times = Vec::new();
        let place = Place::new(layout::MEMORY, 0x1000);
        for how in [How::Botf, How::Rdma] {
            node.send(&Message::push(B, place).by(how), Addr(0), 3000)
                .await
                .unwrap();
            times.push(node.now());
        }
        node.pull(B, place, Addr(0), 3000).await.unwrap();
        times.push(node.now());
        node.barrier(Barrier::Hosts).await.unwrap();
        times.push(node.now());
        times
    });
    sim.spawn(B, async |node| node.barrier(Barrier::Hosts).await.unwrap());
    let end = run(&mut sim);
    format!("{end} {:?}", times.take())
}

/// When the first word of a packet is on the link.
fn first_word(config: &Config) -> String {
    let mut sim = booted(Kind::Rtl, config);
    sim.backend_mut().record(true);
    sim.spawn(A, async |node| {
        node.aotf_write(B, common::USER, 8, 1).await.unwrap();
        node.compute(Picos::from_ns(2000)).await;
    });
    run(&mut sim);
    let events = sim.backend_mut().take_events();
    let first = events.iter().find(|e| matches!(e.kind, EventKind::TxFirst { .. }));
    first.expect("a word leaves").at.to_string()
}

/// A message for which the system buffer has no room at first.
fn messages(config: &Config) -> String {
    let mut sim = booted(Kind::Model, config);
    let count = 3 * layout::SYSTEM_BYTES / 2;
    let mut sent = sim.spawn(A, async move |node| {
        let short = node.send_message(B, Addr(0), 400).await;
        let sent = node.now();
        format!(
            "{short:?} {sent} {:?} {}",
            node.send_message(B, Addr(0), count).await,
            node.now()
        )
    });
    let mut taken = sim.spawn(B, async |node| {
        let first = node.receive(A).await.map(|data| data.len());
        let at = node.now();
        format!("{first:?} {at} {:?}", node.receive(A).await.map(|data| data.len()))
    });
    let end = run(&mut sim);
    format!("{end} {:?} {:?}", sent.take(), taken.take())
}

/// A packet for a processor that does nothing.
fn stopped(config: &Config) -> String {
    const HANGS: [u32; 2] = [0x1000_ffff, 0];
    let backend = build(Kind::Model, config);
    let mut sim = Dimmnet1Sim::with_program(backend, config, Some(&HANGS)).unwrap();
    let place = Place::new(layout::COMMON, common::POINTERS.into());
    let message = Message {
        kind: TYPE_INDIRECT,
        ..Message::push(B, place)
    };
    let mut sent = sim.spawn(A, async move |node| node.send(&message, Addr(0), 8).await);
    let end = run(&mut sim);
    format!("{end} {:?}", sent.take())
}

/// Stores to pages of AOTF for a card that takes none.
fn flooded(config: &Config) -> String {
    let mut sim = booted(Kind::Model, config);
    sim.spawn(B, async |node| node.host().store(CONTROL.into(), 8, 0).await.unwrap());
    let mut lost = sim.spawn(A, async |node| {
        node.compute(Picos::from_ns(1000)).await;
        for _ in 0..120 {
            node.aotf_write(B, common::USER, 8, 1).await.unwrap();
        }
        node.host().load(AOTF_LOST.into(), 8).await
    });
    let end = run(&mut sim);
    format!("{end} {:?}", lost.take())
}

/// A barrier to which one node does not come.
fn lonely(config: &Config) -> String {
    let mut sim = booted(Kind::Model, config);
    let mut waits = sim.spawn(NodeId(0), async |node| node.barrier(Barrier::Hosts).await);
    let end = run(&mut sim);
    format!("{end} {:?}", waits.take())
}

#[test]
fn each_moves_something() {
    let is_free = |name: &str| PARAMS.iter().any(|p| p.name == name && p.range.0 < p.range.1);
    let free: Vec<&str> = PARAMS.iter().map(|p| p.name).filter(|name| is_free(name)).collect();
    let others: Vec<&str> = OTHERS.iter().map(|other| other.0).collect();
    assert_eq!(free, others);
    let paper = Config::paper();
    for (name, value, shows) in OTHERS {
        let mut config = paper.clone();
        config.set(name, *value).unwrap();
        assert_ne!(shows(&paper), shows(&config), "{name} moves nothing");
    }
}
