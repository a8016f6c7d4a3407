//! Traffic between the nodes of a machine, and what it measures: the same for the timed model and for RTL.

use support::cenju3::{A, B, BODIES, Driver, LIMIT};
use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader};
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::regs::*;
use tsunagi::harness::backend::{Backend, Event, EventKind};
use tsunagi::{Addr, NodeId, Picos};

pub const SOURCE: u32 = 0x10_0000;
pub const DEST: u32 = 0x20_0000;

pub fn dma(dst: u8, bytes: u32, offset: u32) -> ParcelHeader {
    ParcelHeader {
        kind: Kind::Dma,
        arr: false,
        end: true,
        dst,
        bytes,
        body: Addr(SOURCE + offset),
        dest: Addr(DEST + offset),
        soft: [0; 2],
    }
}

/// Throughput in MB/s of transfers of `size` bytes, one after the other. After each the Receiver stands for `delay`
/// microseconds and for the CPU's invalidation at `rate` MB/s; without `rate` it does not stand at all.
pub fn throughput<M: Backend>(
    make: impl Fn(&Config) -> M,
    config: &Config,
    size: u32,
    rate: Option<f64>,
    delay: f64,
) -> f64 {
    let mut d = Driver::new(make(config), config, 0);
    let run = R_CTRL_RUN_MASK | R_CTRL_IE_END_MASK | rate.map_or(0, |_| R_CTRL_HALT_END_DMA_MASK);
    d.write(B, R_CTRL, run);
    let transfers = (200_000 / size).clamp(6, 100);
    let parcels: Vec<_> = (0..transfers).map(|_| dma(1, size, 0)).collect();
    d.send(A, &parcels);
    let mut done = Vec::new();
    for _ in 0..transfers {
        let at = d.irq(B, LIMIT);
        d.write(B, R_STAT, R_STAT_END_MASK);
        let put = d.read(B, DHB_PUT);
        d.write(B, DHB_GET, put);
        if let Some(rate) = rate {
            d.until(at + Picos::from_us(delay + f64::from(size) / rate));
            d.write(B, R_CTRL, run | R_CTRL_RESTART_MASK);
        }
        done.push(d.machine.now());
    }
    let half = done.len() / 2;
    let span = done[done.len() - 1] - done[half];
    span.rate_mb_s(u64::from(size) * (done.len() - 1 - half) as u64)
}

/// The path of `CJrmwrite` with pre-invalidation by message and post-invalidation by pieces: transfers of `size` in
/// pieces. The CPU's time is reckoned here.
pub fn rmwrite_throughput<M: Backend>(make: impl Fn(&Config) -> M, config: &Config, size: u32) -> f64 {
    let mut d = Driver::new(make(config), config, 0);
    let run = R_CTRL_RUN_MASK | R_CTRL_IE_END_MASK | R_CTRL_HALT_END_MSG_MASK;
    d.write(B, R_CTRL, run);
    let pieces = size / config.piece_bytes;
    let transfers = 255 / (pieces + 1);
    let mut parcels = Vec::new();
    for _ in 0..transfers {
        parcels.push(ParcelHeader {
            kind: Kind::Msg0,
            ..dma(1, config.request_bytes, 0)
        });
        parcels.extend((0..pieces).map(|i| dma(1, config.piece_bytes, i * config.piece_bytes)));
    }
    d.send(A, &parcels);
    let delay = config.irq_recognition + config.handler;
    let (mut cpu, mut seen, mut done) = (Picos::ZERO, (0, 0), Vec::new());
    while done.len() < transfers as usize {
        let at = d.irq(B, LIMIT);
        d.write(B, R_STAT, R_STAT_END_MASK);
        let now = (d.read(B, MHB_PUT), d.read(B, DHB_PUT));
        for _ in seen.1..now.1 {
            cpu = cpu.max(at + delay) + Picos::from_us(f64::from(config.piece_bytes) / config.postinval_rate);
        }
        if now.1 / pieces > seen.1 / pieces {
            done.push(cpu);
        }
        if now.0 > seen.0 {
            cpu = cpu.max(at + delay) + Picos::from_us(f64::from(size) / config.preinval_rate);
            d.until(cpu);
            d.write(B, MHB_GET, now.0);
            d.write(B, MBB0_GET, now.0 % BODIES);
            d.write(B, R_CTRL, run | R_CTRL_RESTART_MASK);
        }
        seen = now;
    }
    let half = done.len() / 2;
    (done[done.len() - 1] - done[half]).rate_mb_s(u64::from(size) * (done.len() - 1 - half) as u64)
}

/// When a node's first event of this kind was.
pub fn first(events: &[Event], node: NodeId, wanted: impl Fn(EventKind) -> bool) -> Picos {
    let found = events.iter().find(|e| e.node == node && wanted(e.kind));
    found
        .unwrap_or_else(|| panic!("no such event of {node} in {events:#?}"))
        .at
}

/// Every PE sends `bytes` to every other, at once, and all of it is checked. Gives the events (of up to 16 PEs) and the
/// time it took.
pub fn all_to_all<M: Backend>(make: impl Fn(&Config) -> M, pes: usize, bytes: u32) -> (Vec<Event>, Picos) {
    let config = Config {
        pes: pes as u32,
        stages: if pes > 64 { 4 } else { 3 },
        ..Config::paper()
    };
    let mut d = Driver::new(make(&config), &config, 0);
    let nodes: Vec<NodeId> = d.nodes().collect();
    let start = d.machine.now();
    d.machine.record(pes <= 16);
    let slot = bytes.next_multiple_of(32);
    let place = |from: NodeId| DEST + slot * u32::from(from.0);
    let fill = |node: &NodeId| d.fill(*node, SOURCE, bytes as usize * pes, node.0.into());
    let sent: Vec<Vec<u8>> = nodes.iter().map(fill).collect();
    for (i, &from) in nodes.iter().enumerate() {
        d.fill(from, DEST, slot as usize * pes, !0);
        let others = nodes[i + 1..].iter().chain(&nodes[..i]);
        let parcel = |to: &NodeId| ParcelHeader {
            dest: Addr(place(from)),
            ..dma(to.0 as u8, bytes, 0)
        };
        let parcels: Vec<_> = others.map(parcel).collect();
        d.send(from, &parcels);
    }
    d.settle(LIMIT);
    let took = d.machine.now() - start;
    for &to in &nodes {
        assert_eq!(d.read(to, R_DROP), 0);
        for (&from, sent) in nodes.iter().zip(&sent).filter(|(from, _)| **from != to) {
            let got = d.bytes(to, place(from), bytes as usize);
            assert_eq!(got, sent[..bytes as usize], "{from} to {to}");
        }
    }
    (d.machine.take_events(), took)
}
