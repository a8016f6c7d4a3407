//! Turns a machine by hand, at register level, and measures it: the same for the timed model and for RTL.

#![allow(dead_code, reason = "each test target uses its part")]

use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader};
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::regs::*;
use tsunagi::harness::backend::{Backend, Event, EventKind, HostReq};
use tsunagi::{Addr, NodeId, Picos};

pub const RING: [u32; 2] = [0x0000, 0x2000];
pub const HEADERS: [u32; 2] = [0x4000, 0x8000];
pub const BODIES: u32 = 0x1_0000;
pub const SOURCE: u32 = 0x10_0000;
pub const DEST: u32 = 0x20_0000;
pub const DMA_HEADERS: u32 = 1024;

/// A machine and the hand that turns it.
pub struct Driver<B> {
    pub machine: B,
    puts: Vec<[u8; 2]>,
}

impl<B: Backend> Driver<B> {
    pub fn new(machine: B, config: &Config) -> Driver<B> {
        let puts = vec![[0; 2]; machine.nodes()];
        let mut driver = Driver { machine, puts };
        for node in 0..driver.machine.nodes() {
            let set = [
                (SQ0_BASE, RING[0]),
                (SQ1_BASE, RING[1]),
                (MHB_BASE, HEADERS[0]),
                (MHB_SIZE, 64),
                (DHB_BASE, HEADERS[1]),
                (DHB_SIZE, DMA_HEADERS),
                (MBB0_BASE, BODIES),
                (MBB0_SIZE, 64),
                (MBB1_BASE, BODIES + 0x8000),
                (MBB1_SIZE, 64),
                (NODE_ID, node as u32),
                (S_GAP, config.s_gap),
                (R_THRESH, config.r_thresh),
                (R_CTRL, R_CTRL_RUN_MASK),
            ];
            for (offset, value) in set {
                driver.write(node, offset, value);
            }
        }
        driver
    }

    fn access(&mut self, node: usize, req: HostReq) -> u32 {
        let node = NodeId(node as u16);
        self.machine.host_start(node, req);
        loop {
            let next = self.machine.next_event().expect("an answer is due");
            self.machine.advance(next);
            if let Some(rsp) = self.machine.host_take(node) {
                assert!(!rsp.error, "{req}");
                return rsp.value as u32;
            }
        }
    }

    pub fn write(&mut self, node: usize, offset: u32, value: u32) {
        self.access(node, HostReq::write(offset.into(), value));
    }

    pub fn read(&mut self, node: usize, offset: u32) -> u32 {
        self.access(node, HostReq::read(offset.into()))
    }

    /// Puts parcels into queue 1 and starts the Sender.
    pub fn send(&mut self, node: usize, parcels: &[ParcelHeader]) {
        for parcel in parcels {
            let put = &mut self.puts[node][1];
            let at = Addr(RING[1] + 32 * u32::from(*put));
            *put = put.wrapping_add(1);
            assert!(self.machine.memory(NodeId(node as u16)).write(at, &parcel.encode()));
        }
        let put = self.puts[node][1].into();
        self.write(node, SQ1_PUT, put);
    }

    /// Runs until the interrupt line of a node is up.
    pub fn interrupt(&mut self, node: usize) -> Picos {
        while !self.machine.irq(NodeId(node as u16)) {
            let next = self.machine.next_event();
            let next = next.unwrap_or_else(|| panic!("no interrupt will come:\n{}", self.machine.hang_report()));
            self.machine.advance(next);
        }
        self.machine.now()
    }

    /// Lets time pass.
    pub fn until(&mut self, at: Picos) {
        while let Some(next) = self.machine.next_event().filter(|&next| next <= at) {
            self.machine.advance(next);
        }
        self.machine.advance(at);
    }

    /// Runs until nothing moves.
    pub fn settle(&mut self) {
        while let Some(next) = self.machine.next_event() {
            self.machine.advance(next);
        }
    }

    pub fn fill(&mut self, node: usize, at: u32, bytes: usize, salt: u32) -> Vec<u8> {
        let data: Vec<u8> = (0..bytes as u32)
            .map(|i| ((i ^ salt).wrapping_mul(0x9e37_79b1) >> 24) as u8)
            .collect();
        assert!(self.machine.memory(NodeId(node as u16)).write(Addr(at), &data));
        data
    }

    pub fn bytes(&mut self, node: usize, at: u32, bytes: usize) -> Vec<u8> {
        self.machine
            .memory(NodeId(node as u16))
            .read(Addr(at), bytes)
            .unwrap()
            .to_vec()
    }
}

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

/// Bytes per microsecond of transfers of `size` bytes, one after the other, where the Receiver stands after each for `delay` and as long as
/// the CPU takes at `rate` for the invalidation; without `rate` it does not stand at all.
pub fn throughput<B: Backend>(
    make: impl Fn(&Config) -> B,
    config: &Config,
    size: u32,
    rate: Option<f64>,
    delay: f64,
) -> f64 {
    let mut d = Driver::new(make(config), config);
    let run = R_CTRL_RUN_MASK | R_CTRL_IE_END_MASK | rate.map_or(0, |_| R_CTRL_HALT_END_DMA_MASK);
    d.write(1, R_CTRL, run);
    let transfers = (200_000 / size).clamp(6, 100);
    let parcels: Vec<_> = (0..transfers).map(|_| dma(1, size, 0)).collect();
    d.send(0, &parcels);
    let mut done = Vec::new();
    for _ in 0..transfers {
        let at = d.interrupt(1);
        d.write(1, R_STAT, R_STAT_END_MASK);
        let put = d.read(1, DHB_PUT);
        d.write(1, DHB_GET, put);
        if let Some(rate) = rate {
            d.until(at + Picos::from_us(delay + f64::from(size) / rate));
            d.write(1, R_CTRL, run | R_CTRL_RESTART_MASK);
        }
        done.push(d.machine.now());
    }
    let half = done.len() / 2;
    let span = done[done.len() - 1] - done[half];
    span.rate_mb_s(u64::from(size) * (done.len() - 1 - half) as u64)
}

/// The path of `CJrmwrite` with pre-invalidation by message and post-invalidation by pieces: transfers of `size` in pieces, the CPU's time
/// reckoned here.
pub fn rmwrite_throughput<B: Backend>(make: impl Fn(&Config) -> B, config: &Config, size: u32) -> f64 {
    let mut d = Driver::new(make(config), config);
    let run = R_CTRL_RUN_MASK | R_CTRL_IE_END_MASK | R_CTRL_HALT_END_MSG_MASK;
    d.write(1, R_CTRL, run);
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
    d.send(0, &parcels);
    let delay = config.irq_recognition + config.handler;
    let (mut cpu, mut seen, mut done) = (Picos::ZERO, (0, 0), Vec::new());
    while done.len() < transfers as usize {
        let at = d.interrupt(1);
        d.write(1, R_STAT, R_STAT_END_MASK);
        let now = (d.read(1, MHB_PUT), d.read(1, DHB_PUT));
        for _ in seen.1..now.1 {
            cpu = cpu.max(at + delay) + Picos::from_us(f64::from(config.piece_bytes) / config.postinval_rate);
        }
        if now.1 / pieces > seen.1 / pieces {
            done.push(cpu);
        }
        if now.0 > seen.0 {
            cpu = cpu.max(at + delay) + Picos::from_us(f64::from(size) / config.preinval_rate);
            d.until(cpu);
            d.write(1, MHB_GET, now.0);
            d.write(1, MBB0_GET, now.0);
            d.write(1, R_CTRL, run | R_CTRL_RESTART_MASK);
        }
        seen = now;
    }
    let half = done.len() / 2;
    (done[done.len() - 1] - done[half]).rate_mb_s(u64::from(size) * (done.len() - 1 - half) as u64)
}

pub fn first(events: &[Event], node: usize, wanted: impl Fn(EventKind) -> bool) -> Picos {
    let found = events.iter().find(|e| e.node.index() == node && wanted(e.kind));
    found
        .unwrap_or_else(|| panic!("no such event of PE {node} in {events:#?}"))
        .at
}

/// Every PE sends `bytes` to every other, at once, and all of it is checked. Gives the events (of up to 16 PEs) and the time it took.
pub fn all_to_all<B: Backend>(make: impl Fn(&Config) -> B, pes: usize, bytes: u32) -> (Vec<Event>, Picos) {
    let config = Config {
        pes: pes as u32,
        stages: if pes > 64 { 4 } else { 3 },
        ..Config::paper()
    };
    let mut d = Driver::new(make(&config), &config);
    let start = d.machine.now();
    d.machine.record(pes <= 16);
    let sent: Vec<Vec<u8>> = (0..pes)
        .map(|from| d.fill(from, SOURCE, bytes as usize * pes, from as u32))
        .collect();
    let slot = bytes.next_multiple_of(32);
    for from in 0..pes {
        d.fill(from, DEST, slot as usize * pes, !0);
        let parcels: Vec<_> = (1..pes)
            .map(|i| (from + i) % pes)
            .map(|to| ParcelHeader {
                dest: Addr(DEST + slot * from as u32),
                ..dma(to as u8, bytes, slot * to as u32)
            })
            .map(|p| ParcelHeader {
                body: Addr(SOURCE),
                ..p
            })
            .collect();
        d.send(from, &parcels);
    }
    d.settle();
    let took = d.machine.now() - start;
    for to in 0..pes {
        assert_eq!(d.read(to, R_DROP), 0);
        for (from, sent) in sent.iter().enumerate().filter(|(from, _)| *from != to) {
            assert_eq!(
                d.bytes(to, DEST + slot * from as u32, bytes as usize),
                sent[..bytes as usize],
                "{from} to {to}"
            );
        }
    }
    (d.machine.take_events(), took)
}
