//! The kernel of one PE: its interrupt handler serves the messages and DMA packets that arrive.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use super::layout::{BODY_SLOTS, DMA_HEADERS, Layout, MESSAGE_HEADERS};
use super::send::{Kind, Priority, SendQueue};
use super::trace::{FaultKind, Stage, Trace};
use crate::cenju3::params::Config;
use crate::cenju3::regs;
use crate::cenju3::window::REGISTERS;
use crate::harness::cpu::{Cpu, Level, at_rate};
use crate::harness::exec::Host;
use crate::harness::sync::{Queue, Signal};
use crate::{Addr, NodeId, Picos};

/// Types of system messages: software word 0. Word 1 is the argument.
pub(super) mod message {
    /// Nothing to do.
    pub const NOTHING: u32 = 0;
    /// The body goes to address word 1.
    pub const DATA: u32 = 1;
    /// Invalidate this many bytes (word 1) before a DMA; the body begins with their address.
    pub const PRE_INVALIDATE: u32 = 2;
    /// Another PE has reached a round of a barrier; word 1 is the round.
    pub const BARRIER: u32 = 3;
    /// Reply with ACK: everything sent before has been handled.
    pub const FENCE: u32 = 4;
    pub const ACK: u32 = 5;
}

/// A user message as [`super::Pe::receive`] hands it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub src: NodeId,
    pub soft: [u32; 2],
    pub body: Vec<u8>,
}

/// The consumer of the packets that reach a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A CPU with the kernel.
    Kernel,
    /// No consumer: the Receiver stores everything at its own speed and never waits, as if the PE were taken out.
    Sink,
}

/// A ring that the Receiver fills; indices count modulo its size.
pub(super) struct Ring {
    size: u32,
    get_reg: u32,
    get: Cell<u32>,
    /// The last index written to the NIC.
    reported: Cell<u32>,
}

impl Ring {
    fn new(size: u32, get_reg: u32) -> Ring {
        Ring {
            size,
            get_reg,
            get: Cell::new(0),
            reported: Cell::new(0),
        }
    }

    /// Takes the next index, if there is one before `put`.
    fn next(&self, put: u32) -> Option<u32> {
        let get = self.get.get();
        (get != put).then(|| self.get.replace((get + 1) % self.size))
    }

    fn untold(&self) -> u32 {
        (self.get.get() + self.size - self.reported.get()) % self.size
    }
}

pub(super) struct Kernel {
    pub config: Rc<Config>,
    pub layout: Layout,
    pub host: Host,
    pub cpu: Cpu,
    pub queues: [SendQueue; 2],
    headers: Ring,
    dma_headers: Ring,
    bodies: [Ring; 2],
    pub inbox: Queue<Message>,
    /// Replies that the handler owes. The handler does not send, because it must not wait for room in a send queue.
    answers: Queue<(NodeId, u32, u32)>,
    /// Signals that a handler or a program of this PE changed something that a user program can see.
    pub served: Signal,
    pub acks: Cell<u32>,
    /// Destinations of remote writes since the last fence.
    pub written: RefCell<BTreeSet<NodeId>>,
    /// Messages received in each barrier round since boot.
    pub rounds: [Cell<u32>; 8],
    pub epoch: Cell<u32>,
    pub bounce_used: Cell<u32>,
    trace: Rc<Trace>,
}

impl Kernel {
    pub fn new(host: Host, config: Rc<Config>, layout: Layout, trace: Rc<Trace>) -> Kernel {
        let answer = config.io_period * u64::from(config.register_answer);
        Kernel {
            cpu: Cpu::new(host.clone(), REGISTERS, config.ext_access, answer),
            queues: [SendQueue::new(), SendQueue::new()],
            headers: Ring::new(MESSAGE_HEADERS, regs::MHB_GET),
            dma_headers: Ring::new(DMA_HEADERS, regs::DHB_GET),
            bodies: [
                Ring::new(BODY_SLOTS, regs::MBB0_GET),
                Ring::new(BODY_SLOTS, regs::MBB1_GET),
            ],
            inbox: Queue::new("a user message"),
            answers: Queue::new("an answer to be sent"),
            served: Signal::new("something new in its memory"),
            acks: Cell::new(0),
            written: RefCell::default(),
            rounds: Default::default(),
            epoch: Cell::new(0),
            bounce_used: Cell::new(0),
            config,
            layout,
            host,
            trace,
        }
    }

    pub fn stamp(&self, stage: Stage) {
        self.trace.stamp(self.host.now(), self.host.node(), stage);
    }

    fn fault(&self, kind: FaultKind) {
        self.trace.fault(self.host.now(), self.host.node(), kind);
    }

    /// Sets up the NIC. The only cost is the response time of the NIC.
    pub async fn boot(&self, role: Role) {
        let l = &self.layout;
        let writes = [
            (regs::SQ0_BASE, l.send_ring(0).0),
            (regs::SQ1_BASE, l.send_ring(1).0),
            (regs::MHB_BASE, l.message_ring().0),
            (regs::MHB_SIZE, MESSAGE_HEADERS),
            (regs::DHB_BASE, l.dma_ring().0),
            (regs::DHB_SIZE, DMA_HEADERS),
            (regs::MBB0_BASE, l.body_ring(0).0),
            (regs::MBB0_SIZE, BODY_SLOTS),
            (regs::MBB1_BASE, l.body_ring(1).0),
            (regs::MBB1_SIZE, BODY_SLOTS),
            (regs::NODE_ID, u32::from(self.host.node().0)),
            (regs::S_GAP, self.config.s_gap),
            (regs::R_THRESH, self.config.r_thresh),
            (regs::R_CTRL, self.control(role)),
        ];
        for (offset, value) in writes {
            self.write_now(offset, value).await;
        }
    }

    /// Messages halt the Receiver, so that nothing overtakes an invalidation that they request. The end of a DMA halts
    /// it only where post-invalidation is not pipelined.
    fn control(&self, role: Role) -> u32 {
        if role == Role::Sink {
            return regs::R_CTRL_RUN_MASK;
        }
        let halt_dma = if self.config.pipelined {
            0
        } else {
            regs::R_CTRL_HALT_END_DMA_MASK
        };
        let enables = regs::R_CTRL_IE_ARRIVAL_MASK
            | regs::R_CTRL_IE_END_MASK
            | regs::R_CTRL_IE_ERROR_MASK
            | regs::R_CTRL_IE_SEND_MASK;
        regs::R_CTRL_RUN_MASK | regs::R_CTRL_HALT_END_MSG_MASK | halt_dma | enables
    }

    /// Serves interrupts for ever.
    pub async fn run(self: Rc<Kernel>) {
        loop {
            self.host.irq().await;
            self.cpu.enter();
            self.host.delay(self.config.irq_recognition).await;
            while self.host.irq_level() {
                self.stamp(Stage::Recognised);
                self.serve().await;
            }
            self.cpu.leave();
            self.stamp(Stage::Served);
            self.served.notify();
        }
    }

    /// Sends the replies that handlers owe, through high-priority queue 0.
    pub async fn run_answers(self: Rc<Kernel>) {
        loop {
            let (dest, kind, argument) = self.answers.pop().await;
            self.cpu.work(Level::User, self.config.kernel_send).await;
            self.queue(Priority::High)
                .await
                .message(Kind::System, dest, [kind, argument], &[0; 4])
                .await;
        }
    }

    /// Empties the rings of a PE without a CPU, in no time, often enough that none fills.
    pub async fn run_sink(self: Rc<Kernel>) {
        let rings = [
            (regs::MHB_PUT, regs::MHB_GET),
            (regs::DHB_PUT, regs::DHB_GET),
            (regs::MBB0_PUT, regs::MBB0_GET),
            (regs::MBB1_PUT, regs::MBB1_GET),
        ];
        loop {
            self.host.delay(SINK_PERIOD).await;
            for (put, get) in rings {
                let value = self.read_now(put).await;
                self.write_now(get, value).await;
            }
        }
    }

    /// One pass over causes and rings.
    async fn serve(&self) {
        // The authors fitted one delay to their simulation, in which the Receiver restarts in no time. So the handler's
        // time covers the restart write and the reads here. Clear the causes before the rings are read, so that no
        // event is missed.
        let ready = self.host.now() + self.config.handler.saturating_sub(self.config.ext_access);
        let stat = self.read_now(regs::R_STAT).await;
        self.write_now(regs::R_STAT, stat & CAUSES).await;
        let two_reads = self.config.io_period * u64::from(2 * self.config.register_answer);
        self.host.delay_until(ready.saturating_sub(two_reads)).await;
        let message_put = self.read_now(regs::MHB_PUT).await;
        let dma_put = self.read_now(regs::DHB_PUT).await;
        self.host.delay_until(ready).await;

        let mut restart = stat & regs::R_STAT_HALTED_MASK != 0;
        // DMA first: a message halts the Receiver, so DMA packets in the rings arrived before the message.
        restart |= self.post_invalidate(dma_put).await;
        while let Some(index) = self.headers.next(message_put) {
            restart |= self.take_message(index).await;
        }
        let overflow = stat & regs::R_STAT_OVERFLOW_MASK != 0;
        if stat & ERRORS != 0 {
            self.report(stat).await;
        }
        for ring in [&self.headers, &self.dma_headers, &self.bodies[0], &self.bodies[1]] {
            if ring.untold() > ring.size / 2 || overflow {
                self.cpu.write(Level::Handler, ring.get_reg, ring.get.get()).await;
                ring.reported.set(ring.get.get());
            }
        }
        if restart {
            let control = self.control(Role::Kernel) | regs::R_CTRL_RESTART_MASK;
            self.cpu.write(Level::Handler, regs::R_CTRL, control).await;
            self.stamp(Stage::Restarted);
        }
    }

    /// Invalidates the destinations of DMA packets, by their headers. Returns whether the Receiver halted after one of
    /// them.
    async fn post_invalidate(&self, put: u32) -> bool {
        let (mut bytes, mut end) = (0, false);
        while let Some(index) = self.dma_headers.next(put) {
            let header = self.read_words::<4>(self.layout.dma_header(index));
            bytes += header[1] & regs::PACKET_BODY_BYTES_MASK;
            end |= header[0] & regs::PACKET_HEAD_END_MASK != 0;
        }
        if bytes > 0 {
            self.stamp(Stage::Invalidate { bytes });
            self.host.delay(at_rate(bytes, self.config.postinval_rate)).await;
        }
        end && !self.config.pipelined
    }

    /// Handles one message. Returns whether the Receiver halted after it.
    async fn take_message(&self, index: u32) -> bool {
        let start = self.host.now();
        let header = self.read_words::<4>(self.layout.message_header(index));
        let kind = ((header[0] & regs::PACKET_HEAD_KIND_MASK) >> regs::PACKET_HEAD_KIND_SHIFT) as usize;
        let src = NodeId(((header[0] & regs::PACKET_HEAD_SRC_MASK) >> regs::PACKET_HEAD_SRC_SHIFT) as u16);
        let bytes = header[1] & regs::PACKET_BODY_BYTES_MASK;
        let ring = &self.bodies[kind];
        let slot = ring.get.replace((ring.get.get() + 1) % ring.size);
        let at = self.layout.body_slot(kind, slot);
        let body = self
            .host
            .memory(|m| m.read(at, bytes as usize).expect("body rings lie in memory").to_vec());
        let soft = [header[2], header[3]];
        if kind == regs::KIND_MSG1 as usize {
            self.host.delay(at_rate(bytes, self.config.copy_rate)).await;
            self.inbox.push(Message { src, soft, body });
        } else {
            if !self.dispatch(src, soft, &body).await {
                self.fault(FaultKind::BadMessage { src, kind: soft[0] });
            }
        }
        let is_request = kind == regs::KIND_MSG0 as usize && soft[0] == message::PRE_INVALIDATE;
        let least = if is_request {
            self.config.preinval_kernel
        } else {
            self.config.receive_kernel
        };
        self.host.delay_until(start + least).await;
        header[0] & regs::PACKET_HEAD_END_MASK != 0
    }

    /// Executes a system message; false if it makes no sense.
    async fn dispatch(&self, src: NodeId, [kind, argument]: [u32; 2], body: &[u8]) -> bool {
        match kind {
            message::NOTHING => {}
            message::DATA => {
                self.host.delay(at_rate(body.len() as u32, self.config.copy_rate)).await;
                return self.host.memory(|m| m.write(Addr(argument), body));
            }
            message::PRE_INVALIDATE => {
                self.stamp(Stage::Invalidate { bytes: argument });
                self.host.delay(at_rate(argument, self.config.preinval_rate)).await;
            }
            message::BARRIER => match self.rounds.get(argument as usize) {
                Some(round) => round.set(round.get() + 1),
                None => return false,
            },
            message::FENCE => self.answers.push((src, message::ACK, argument)),
            message::ACK => self.acks.set(self.acks.get() + 1),
            _ => return false,
        }
        true
    }

    /// Reports and clears the error causes.
    async fn report(&self, stat: u32) {
        let h = Level::Handler;
        if stat & regs::R_STAT_OVERFLOW_MASK != 0 {
            self.fault(FaultKind::Overflow);
        }
        if stat & regs::R_STAT_BUS_ERROR_MASK != 0 {
            self.fault(FaultKind::BusError);
        }
        if stat & (regs::R_STAT_BAD_HEADER_MASK | regs::R_STAT_TRUNCATED_MASK | regs::R_STAT_OVERLONG_MASK) != 0 {
            let word0 = self.cpu.read(h, regs::R_ERR).await;
            for (mask, kind) in [
                (regs::R_STAT_BAD_HEADER_MASK, FaultKind::BadHeader { word0 }),
                (regs::R_STAT_TRUNCATED_MASK, FaultKind::Truncated { word0 }),
                (regs::R_STAT_OVERLONG_MASK, FaultKind::Overlong { word0 }),
            ] {
                if stat & mask != 0 {
                    self.fault(kind);
                }
            }
        }
        if stat & regs::R_STAT_SEND_ERROR_MASK != 0 {
            let send = self.cpu.read(h, regs::S_STAT).await;
            let mut resume = 0;
            for (queue, halted, code) in [
                (
                    0,
                    regs::S_STAT_HALTED0_MASK,
                    (send & regs::S_STAT_ERROR0_MASK) >> regs::S_STAT_ERROR0_SHIFT,
                ),
                (
                    1,
                    regs::S_STAT_HALTED1_MASK,
                    (send & regs::S_STAT_ERROR1_MASK) >> regs::S_STAT_ERROR1_SHIFT,
                ),
            ] {
                if send & halted != 0 {
                    self.fault(FaultKind::Send { queue, status: code });
                    resume |= regs::S_CTRL_RESUME0_MASK << queue;
                }
            }
            self.cpu.write(h, regs::S_CTRL, resume).await;
        }
    }

    /// A register access in the response time of the NIC; the caller accounts for that time.
    async fn read_now(&self, offset: u32) -> u32 {
        let value = self.host.reg_read(REGISTERS + u64::from(offset)).await;
        value.expect("a register of the NIC")
    }

    async fn write_now(&self, offset: u32, value: u32) {
        let written = self.host.reg_write(REGISTERS + u64::from(offset), value).await;
        written.expect("a register of the NIC");
    }

    pub fn read_words<const N: usize>(&self, at: Addr) -> [u32; N] {
        self.host.memory(|m| {
            let bytes = m.read(at, 4 * N).expect("kernel structures lie in memory");
            std::array::from_fn(|i| u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().expect("four bytes")))
        })
    }

    pub fn write_words(&self, at: Addr, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert!(
            self.host.memory(|m| m.write(at, &bytes)),
            "kernel structures lie in memory"
        );
    }
}

/// At full rate, a ring of 64 messages or 4096 DMA packets does not fill within this period.
const SINK_PERIOD: Picos = Picos::from_ns(200_000);

const ERRORS: u32 = regs::R_STAT_OVERFLOW_MASK
    | regs::R_STAT_BAD_HEADER_MASK
    | regs::R_STAT_BUS_ERROR_MASK
    | regs::R_STAT_TRUNCATED_MASK
    | regs::R_STAT_OVERLONG_MASK
    | regs::R_STAT_SEND_ERROR_MASK;
const CAUSES: u32 = regs::R_STAT_ARRIVAL_MASK | regs::R_STAT_END_MASK | ERRORS;
