//! The kernel's send side. It writes parcel headers into the queue ring in memory, and bodies of messages into prepared
//! buffers. The write of the Header Queue Pointer starts the Sender.

use std::cell::Cell;

use thiserror::Error;

use super::kernel::Kernel;
use super::trace::Stage;
use crate::cenju3::regs::{self, ALIGN_BYTES, PARCEL_HEADER_BYTES, SEND_RING};
use crate::harness::cpu::{Level, at_rate};
use crate::harness::sync::{Held, Lock};
use crate::{Addr, NodeId};

/// The two queues of parcel headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Queue 0: its packets go before those of queue 1.
    High = 0,
    /// Queue 1: `CJrmwrite` uses it.
    Normal = 1,
}

/// The kind of a parcel for the Receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// For the kernel at the other end. Software word 0 is its type; type 0 requests nothing.
    System,
    /// For the user program at the other end: [`super::Pe::receive`].
    User,
    /// Directly to an address in the memory of the other PE.
    Dma { to: Addr },
}

/// One parcel in the form that the hardware takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parcel {
    pub kind: Kind,
    pub dest: NodeId,
    /// Address of the body, 32-byte aligned.
    pub body: Addr,
    /// 1 to 128 K for DMA, to 512 for a message.
    pub bytes: u32,
    /// Arrival interrupt before the body of the last packet is stored.
    pub arrival: bool,
    /// End interrupt after it is stored.
    pub end: bool,
    pub soft: [u32; 2],
}

impl Parcel {
    /// A DMA parcel with an end interrupt.
    pub fn dma(dest: NodeId, body: Addr, to: Addr, bytes: u32) -> Parcel {
        Parcel {
            kind: Kind::Dma { to },
            dest,
            body,
            bytes,
            arrival: false,
            end: true,
            soft: [0; 2],
        }
    }

    /// A message with an end interrupt.
    pub fn message(kind: Kind, dest: NodeId, body: Addr, bytes: u32) -> Parcel {
        Parcel {
            kind,
            dest,
            body,
            bytes,
            arrival: false,
            end: true,
            soft: [0; 2],
        }
    }

    /// Cuts a DMA parcel into several of at most `piece` bytes (at least 32, in whole lines of 32). Each has the flags
    /// of the whole.
    pub fn cut(&self, piece: u32) -> Vec<Parcel> {
        let Kind::Dma { to } = self.kind else {
            return vec![*self];
        };
        let piece = piece / ALIGN_BYTES * ALIGN_BYTES;
        assert!(piece > 0, "a piece of less than {ALIGN_BYTES} bytes");
        let part = |at: u32| Parcel {
            kind: Kind::Dma { to: to.offset(at) },
            body: self.body.offset(at),
            bytes: piece.min(self.bytes - at),
            ..*self
        };
        (0..self.bytes).step_by(piece as usize).map(part).collect()
    }

    /// The header in the format of the queue.
    pub fn header(&self) -> [u32; 8] {
        let (kind, to) = match self.kind {
            Kind::System => (regs::KIND_MSG0, 0),
            Kind::User => (regs::KIND_MSG1, 0),
            Kind::Dma { to } => (regs::KIND_DMA, to.0),
        };
        let head = kind << regs::PARCEL_HEAD_KIND_SHIFT
            | u32::from(self.arrival) << regs::PARCEL_HEAD_ARR_SHIFT
            | u32::from(self.end) << regs::PARCEL_HEAD_END_SHIFT
            | u32::from(self.dest.0) << regs::PARCEL_HEAD_DST_SHIFT;
        [head, self.bytes, self.body.0, to, self.soft[0], self.soft[1], 0, 0]
    }
}

/// The reason why parcels were refused; none of them is queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    #[error("no {dest}: the machine has {pes} PEs")]
    PeOutOfRange { dest: NodeId, pes: usize },
    #[error("a parcel of 0 bytes")]
    ZeroLength,
    #[error("a parcel of {bytes} bytes; at most {max}")]
    TooLong { bytes: u32, max: u32 },
    #[error("a message of {bytes} bytes; at most {max}, one packet")]
    MessageTooLong { bytes: u32, max: u32 },
    #[error("the {what} address {addr} is not a multiple of {ALIGN_BYTES}")]
    Misaligned { what: &'static str, addr: Addr },
    #[error("the {what} of {bytes} bytes at {addr} leaves the memory of {size} bytes")]
    OutOfRange {
        what: &'static str,
        addr: Addr,
        bytes: u32,
        size: u32,
    },
    #[error("queue {queue} holds {queued} of {max} parcel headers, {wanted} more do not fit")]
    QueueFull {
        queue: usize,
        queued: u32,
        wanted: usize,
        max: u32,
    },
}

/// One ring of parcel headers, in the kernel's view.
pub(super) struct SendQueue {
    put: Cell<u8>,
    /// The position of the Sender at the last read.
    get: Cell<u8>,
    lock: Lock,
}

impl SendQueue {
    pub fn new() -> SendQueue {
        SendQueue {
            put: Cell::new(0),
            get: Cell::new(0),
            lock: Lock::new("a send queue, used by another call"),
        }
    }

    /// Headers not yet sent, as of the last read.
    fn queued(&self) -> u32 {
        u32::from(self.put.get().wrapping_sub(self.get.get()))
    }
}

const PUT: [u32; 2] = [regs::SQ0_PUT, regs::SQ1_PUT];
const GET: [u32; 2] = [regs::SQ0_GET, regs::SQ1_GET];

impl Kernel {
    /// Checks a parcel of the raw interface.
    pub fn check(&self, parcel: &Parcel) -> Result<(), SendError> {
        let Parcel { dest, body, bytes, .. } = *parcel;
        let size = self.config.mem_bytes;
        let fits = |addr: Addr| addr.0.checked_add(bytes).is_some_and(|end| end <= size);
        let aligned = |addr: Addr| addr.0.is_multiple_of(ALIGN_BYTES);
        let (max, message_max) = (self.config.parcel_max, self.config.message_max);
        if dest.index() >= self.host.nodes() {
            return Err(SendError::PeOutOfRange {
                dest,
                pes: self.host.nodes(),
            });
        }
        match parcel.kind {
            _ if bytes == 0 => Err(SendError::ZeroLength),
            Kind::System | Kind::User if bytes > message_max => Err(SendError::MessageTooLong {
                bytes,
                max: message_max,
            }),
            _ if bytes > max => Err(SendError::TooLong { bytes, max }),
            _ if !aligned(body) => Err(SendError::Misaligned {
                what: "body",
                addr: body,
            }),
            _ if !fits(body) => Err(SendError::OutOfRange {
                what: "body",
                addr: body,
                bytes,
                size,
            }),
            Kind::Dma { to } if !aligned(to) => Err(SendError::Misaligned {
                what: "destination",
                addr: to,
            }),
            Kind::Dma { to } if !fits(to) => Err(SendError::OutOfRange {
                what: "destination",
                addr: to,
                bytes,
                size,
            }),
            _ => Ok(()),
        }
    }

    /// Takes a queue for one call, so that the parcels of two calls do not mix.
    pub async fn queue(&self, priority: Priority) -> QueueCall<'_> {
        let queue = &self.queues[priority as usize];
        let held = queue.lock.hold().await;
        QueueCall {
            kernel: self,
            queue,
            index: priority as usize,
            _held: held,
        }
    }
}

/// One call's use of a send queue, at user level: interrupt handlers never wait for a queue.
pub(super) struct QueueCall<'a> {
    kernel: &'a Kernel,
    queue: &'a SendQueue,
    index: usize,
    _held: Held<'a>,
}

impl QueueCall<'_> {
    /// Refuses if `wanted` more headers do not fit: PUT never advances onto GET.
    pub async fn need_room(&self, wanted: usize) -> Result<(), SendError> {
        let max = self.kernel.config.queue_headers;
        let fits = || wanted <= max.saturating_sub(self.queue.queued()) as usize;
        if !fits() {
            self.read_position().await;
        }
        if fits() {
            return Ok(());
        }
        Err(SendError::QueueFull {
            queue: self.index,
            queued: self.queue.queued(),
            wanted,
            max,
        })
    }

    /// Reads the Sender's position again and again until at most `left` headers are queued.
    pub async fn wait_until_queued(&self, left: u32) {
        while self.queue.queued() > left {
            self.read_position().await;
        }
    }

    async fn read_position(&self) {
        let get = self.kernel.cpu.read(Level::User, GET[self.index]).await;
        self.queue.get.set(get as u8);
    }

    /// Waits for room if necessary, and writes a header into the ring. [`start`](Self::start) announces it to the
    /// Sender.
    pub async fn append(&self, header: [u32; 8]) {
        let kernel = self.kernel;
        self.wait_until_queued(kernel.config.queue_headers - 1).await;
        let put = self.queue.put.get();
        kernel.write_words(kernel.layout.send_header(self.index, put), &header);
        kernel
            .cpu
            .work(Level::User, at_rate(PARCEL_HEADER_BYTES, kernel.config.copy_rate))
            .await;
        self.queue.put.set(put.wrapping_add(1));
        assert!(self.queue.queued() < SEND_RING, "PUT advanced onto GET");
    }

    /// Copies `body` into the buffer of the next slot, queues it as a message with an end interrupt, and starts the
    /// Sender.
    pub async fn message(&self, kind: Kind, dest: NodeId, soft: [u32; 2], body: &[u8]) {
        let kernel = self.kernel;
        self.wait_until_queued(kernel.config.queue_headers - 1).await;
        let at = kernel.layout.send_body(self.index, self.queue.put.get());
        assert!(
            kernel.host.memory(|m| m.write(at, body)),
            "message buffers lie in memory"
        );
        let bytes = body.len() as u32;
        kernel
            .cpu
            .work(Level::User, at_rate(bytes, kernel.config.copy_rate))
            .await;
        self.append(
            Parcel {
                soft,
                ..Parcel::message(kind, dest, at, bytes)
            }
            .header(),
        )
        .await;
        self.start().await;
    }

    /// Writes the Header Queue Pointer.
    pub async fn start(&self) {
        self.kernel
            .cpu
            .write(Level::User, PUT[self.index], u32::from(self.queue.put.get()))
            .await;
        self.kernel.stamp(Stage::Started { queue: self.index });
    }
}
