//! Drives a Cenju-3 at register level: lays out each node's rings, queues parcels, and lets time pass.

use tsunagi::cenju3::golden::packet::ParcelHeader;
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::regs::*;
use tsunagi::harness::backend::{Backend, HostReq, HostRsp};
use tsunagi::{Addr, NodeId, Picos};

/// The first two nodes.
pub const A: NodeId = NodeId(0);
pub const B: NodeId = NodeId(1);

/// Where everything lies in a node's memory: both send queues, the rings of headers, the rings of bodies.
pub const QUEUES: [u32; 2] = [0x0000, 0x2000];
pub const MSG_HEADERS: u32 = 0x4000;
pub const DMA_HEADERS: u32 = 0x8000;
pub const MSG_BODIES: [u32; 2] = [0x1_0000, 0x1_8000];
/// Entries of each header ring, and slots of each body ring.
pub const HEADERS: u32 = 1024;
pub const BODIES: u32 = 64;
/// From here on the memory is the test's.
pub const FREE: u32 = 0x2_0000;

/// Longer than anything here takes.
pub const LIMIT: Picos = Picos::from_ns(200_000_000);

/// A machine and the hand that drives it.
pub struct Driver<B> {
    pub machine: B,
    /// By node and queue.
    puts: Vec<[u8; 2]>,
}

/// What each node's registers hold at first, beside its identity.
pub fn setup(config: &Config, r_ctrl: u32) -> [(u32, u32); 13] {
    [
        (SQ0_BASE, QUEUES[0]),
        (SQ1_BASE, QUEUES[1]),
        (MHB_BASE, MSG_HEADERS),
        (MHB_SIZE, HEADERS),
        (DHB_BASE, DMA_HEADERS),
        (DHB_SIZE, HEADERS),
        (MBB0_BASE, MSG_BODIES[0]),
        (MBB0_SIZE, BODIES),
        (MBB1_BASE, MSG_BODIES[1]),
        (MBB1_SIZE, BODIES),
        (S_GAP, config.s_gap),
        (R_THRESH, config.r_thresh),
        (R_CTRL, R_CTRL_RUN_MASK | r_ctrl),
    ]
}

impl<B: Backend> Driver<B> {
    /// Sets up every node: rings, identity, gap and threshold of `config`, receiver running with `r_ctrl` besides.
    pub fn new(machine: B, config: &Config, r_ctrl: u32) -> Driver<B> {
        let puts = vec![[0; 2]; machine.nodes()];
        let mut driver = Driver { machine, puts };
        driver.write_all(|node| (NODE_ID, node.0.into()));
        for register in setup(config, r_ctrl) {
            driver.write_all(|_| register);
        }
        driver
    }

    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<B> {
        (0..self.machine.nodes() as u16).map(NodeId)
    }

    /// The same access on all nodes at once.
    fn write_all(&mut self, what: impl Fn(NodeId) -> (u32, u32)) {
        for node in self.nodes() {
            let (offset, value) = what(node);
            self.machine.host_start(node, HostReq::write(offset.into(), value));
        }
        for node in self.nodes() {
            assert!(!self.answer(node).error, "{node}: {:?} refused", what(node));
        }
    }

    fn answer(&mut self, node: NodeId) -> HostRsp {
        let deadline = self.machine.now() + Picos::from_ns(100_000);
        loop {
            if let Some(answer) = self.machine.host_take(node) {
                return answer;
            }
            match self.machine.next_event() {
                Some(next) if next <= deadline => self.machine.advance(next),
                _ => panic!("{node}: no answer\n{}", self.machine.hang_report()),
            }
        }
    }

    /// An access that may be refused.
    pub fn access(&mut self, node: NodeId, req: HostReq) -> HostRsp {
        self.machine.host_start(node, req);
        self.answer(node)
    }

    pub fn write(&mut self, node: NodeId, offset: u32, value: u32) {
        let refused = self.access(node, HostReq::write(offset.into(), value)).error;
        assert!(!refused, "{node}: write of {value:#x} to {offset:#x} refused");
    }

    pub fn read(&mut self, node: NodeId, offset: u32) -> u32 {
        let answer = self.access(node, HostReq::read(offset.into()));
        assert!(!answer.error, "{node}: read of {offset:#x} refused");
        answer.value as u32
    }

    /// Writes a parcel header into the queue's ring, without telling the Sender.
    pub fn queue(&mut self, node: NodeId, queue: usize, parcel: &ParcelHeader) {
        let put = &mut self.puts[node.index()][queue];
        let at = Addr(QUEUES[queue] + u32::from(*put) * PARCEL_HEADER_BYTES);
        *put = put.wrapping_add(1);
        assert!(self.machine.memory(node).write(at, &parcel.encode()));
    }

    /// Parcels queued so far, modulo 256.
    pub fn queued(&self, node: NodeId, queue: usize) -> u8 {
        self.puts[node.index()][queue]
    }

    /// Tells the Senders of `nodes` of what was queued, all at once.
    pub fn start(&mut self, nodes: &[NodeId], queue: usize) {
        let offset = [SQ0_PUT, SQ1_PUT][queue];
        for &node in nodes {
            let value = self.queued(node, queue).into();
            self.machine.host_start(node, HostReq::write(offset.into(), value));
        }
        for &node in nodes {
            assert!(!self.answer(node).error);
        }
    }

    /// Puts parcels into queue 1 and starts the Sender.
    pub fn send(&mut self, node: NodeId, parcels: &[ParcelHeader]) {
        for parcel in parcels {
            self.queue(node, 1, parcel);
        }
        self.start(&[node], 1);
    }

    /// Lets time pass until nothing moves any more; gives the time.
    pub fn settle(&mut self, limit: Picos) -> Picos {
        let deadline = self.machine.now() + limit;
        while let Some(next) = self.machine.next_event() {
            assert!(
                next <= deadline,
                "not at rest after {limit}\n{}",
                self.machine.hang_report()
            );
            self.machine.advance(next);
        }
        self.machine.now()
    }

    /// Lets time pass until the interrupt line is high; gives the time.
    pub fn irq(&mut self, node: NodeId, limit: Picos) -> Picos {
        let deadline = self.machine.now() + limit;
        while !self.machine.irq(node) {
            match self.machine.next_event() {
                Some(next) if next <= deadline => self.machine.advance(next),
                _ => panic!("{node}: no interrupt in {limit}\n{}", self.machine.hang_report()),
            }
        }
        self.machine.now()
    }

    /// Lets time pass until this instant.
    pub fn until(&mut self, at: Picos) {
        while let Some(next) = self.machine.next_event().filter(|&next| next <= at) {
            self.machine.advance(next);
        }
        self.machine.advance(at);
    }

    /// Fills memory with bytes that `salt` decides, and gives them.
    pub fn fill(&mut self, node: NodeId, at: u32, bytes: usize, salt: u32) -> Vec<u8> {
        let data: Vec<u8> = (0..bytes as u32)
            .map(|i| ((i ^ salt).wrapping_mul(0x9e37_79b1) >> 24) as u8)
            .collect();
        assert!(self.machine.memory(node).write(Addr(at), &data));
        data
    }

    pub fn bytes(&mut self, node: NodeId, at: u32, bytes: usize) -> Vec<u8> {
        let memory = self.machine.memory(node);
        memory.read(Addr(at), bytes).expect("in memory").to_vec()
    }
}

/// Bytes that say whose they are: different for each sender, receiver and place.
pub fn pattern(from: NodeId, to: NodeId, len: usize) -> Vec<u8> {
    let seed = u32::from(from.0) << 16 | u32::from(to.0);
    (0..len as u32)
        .map(|at| {
            let mixed = (seed ^ at.wrapping_mul(0x85eb_ca6b)).wrapping_mul(0xc2b2_ae35);
            (mixed >> 24) as u8 ^ mixed as u8
        })
        .collect()
}
