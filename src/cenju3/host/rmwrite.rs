//! `CJrmwrite`: the machine's remote write, by its own procedure (paper 4.1 to 4.4, 6.2 and 6.3).
//!
//! The user-level library cuts a transfer into chunks, and calls the kernel for each. The kernel checks and translates
//! the addresses, then sends
//! - a transfer of at most a cache line as one **message**, which the receiving kernel copies to its destination;
//! - a longer transfer as **DMA**. Messages carry the bytes at either end that do not fill a whole line of the
//!   destination. Every DMA of at most 128 KB begins with a request message for the invalidation of the destination;
//!   during the invalidation the Receiver takes no packet. Then, piece by piece, the CPU writes the source lines back,
//!   queues a parcel and starts the Sender. The Sender sends one piece while the CPU writes back the next. The
//!   receiving kernel invalidates one piece while the next is stored. Without pipelining, a DMA is one piece.
//!
//! **Order.** All parcels go through queue 1 in ascending addresses, so the last byte of a transfer is the last to
//! arrive.
//!
//! **Completion.** The call returns when the last parcel is queued, as on the machine. Until
//! [`Pe::fence`](super::Pe::fence) or [`Pe::barrier`](super::Pe::barrier) returns, the program must not change the
//! source or rely on the destination.
//!
//! **Alignment.** Any alignment is legal. The interface requires the body of a DMA to be 32-byte aligned at both ends.
//! The cutting aligns the destination. If the source lies differently in its line, the kernel copies each piece into an
//! aligned bounce buffer (instead of writing it back).

use thiserror::Error;

use super::kernel::{Kernel, message};
use super::layout::BOUNCE_BYTES;
use super::send::{Kind, Parcel, Priority, QueueCall};
use super::trace::Stage;
use crate::cenju3::params::Config;
use crate::cenju3::regs::ALIGN_BYTES;
use crate::harness::cpu::{Level, at_rate};
use crate::{Addr, NodeId};

/// The reason why a remote write was refused; nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RmwriteError {
    #[error("no {dest}: the machine has {pes} PEs")]
    PeOutOfRange { dest: NodeId, pes: usize },
    #[error("a remote write of 0 bytes")]
    ZeroLength,
    #[error("the source of {bytes} bytes at {addr} leaves the user's memory of {size} bytes")]
    SourceOutOfRange { addr: Addr, bytes: u32, size: u32 },
    #[error("the destination of {bytes} bytes at {addr} leaves the user's memory of {size} bytes")]
    DestinationOutOfRange { addr: Addr, bytes: u32, size: u32 },
}

/// The method of a transfer. [`new`](RmwriteOptions::new) takes it from the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmwriteOptions {
    /// Bytes per kernel call, at least 512; `u32::MAX` for one call of any size.
    pub chunk_bytes: u32,
    /// Bytes per DMA parcel if pipelined.
    pub piece_bytes: u32,
    /// Cut a DMA into pieces, so that the receiving kernel can invalidate one while the next is stored. The receiving
    /// side must have the same configuration, or its Receiver halts after each piece.
    pub pipelined: bool,
    /// Request invalidation before a DMA.
    pub pre_invalidate: bool,
    /// Without system call and checks, as with an interface that protects itself.
    pub user_level: bool,
}

impl RmwriteOptions {
    pub fn new(config: &Config) -> RmwriteOptions {
        RmwriteOptions {
            chunk_bytes: config.chunk_bytes,
            piece_bytes: config.piece_bytes,
            pipelined: config.pipelined,
            pre_invalidate: true,
            user_level: config.user_level,
        }
    }
}

impl Kernel {
    /// The user-level library.
    pub async fn rmwrite(
        &self,
        options: &RmwriteOptions,
        src: Addr,
        dest: NodeId,
        to: Addr,
        bytes: u32,
    ) -> Result<u32, RmwriteError> {
        self.check_rmwrite(src, dest, to, bytes)?;
        self.written.borrow_mut().insert(dest);
        let line = self.line();
        let mut done = 0;
        while done < bytes {
            // A cut lies on a line border of the destination.
            let limit = (to.0 + done).saturating_add(options.chunk_bytes.max(line)) / line * line;
            let chunk = (limit - (to.0 + done)).min(bytes - done);
            self.call(options.user_level).await;
            self.write_chunk(options, src.offset(done), dest, to.offset(done), chunk)
                .await;
            done += chunk;
        }
        self.stamp(Stage::Return);
        Ok(bytes)
    }

    /// The line at whose borders message and DMA meet: the cache line, rounded up to the alignment that the interface
    /// requires.
    fn line(&self) -> u32 {
        self.config.cache_line.next_multiple_of(ALIGN_BYTES)
    }

    fn check_rmwrite(&self, src: Addr, dest: NodeId, to: Addr, bytes: u32) -> Result<(), RmwriteError> {
        let size = self.layout.user_end;
        if dest.index() >= self.host.nodes() {
            Err(RmwriteError::PeOutOfRange {
                dest,
                pes: self.host.nodes(),
            })
        } else if bytes == 0 {
            Err(RmwriteError::ZeroLength)
        } else if !self.layout.is_user(src, bytes) {
            Err(RmwriteError::SourceOutOfRange { addr: src, bytes, size })
        } else if !self.layout.is_user(to, bytes) {
            Err(RmwriteError::DestinationOutOfRange { addr: to, bytes, size })
        } else {
            Ok(())
        }
    }

    /// The path from the user program to a kernel that is ready to queue.
    pub async fn call(&self, user_level: bool) {
        self.stamp(Stage::Call);
        if !user_level {
            self.cpu.work(Level::User, self.config.syscall).await;
            self.stamp(Stage::Kernel);
            self.cpu.work(Level::User, self.config.check_translate).await;
        }
        self.cpu.work(Level::User, self.config.kernel_send).await;
    }

    /// One kernel call of `CJrmwrite`.
    async fn write_chunk(&self, options: &RmwriteOptions, src: Addr, dest: NodeId, to: Addr, bytes: u32) {
        let queue = self.queue(Priority::Normal).await;
        if bytes <= self.config.cache_line {
            return self.data_message(&queue, src, dest, to, bytes).await;
        }
        let line = self.line();
        let head = (to.0.next_multiple_of(line) - to.0).min(bytes);
        let middle = (bytes - head) / line * line;
        let tail = bytes - head - middle;
        if head > 0 {
            self.data_message(&queue, src, dest, to, head).await;
        }
        let most = self.config.parcel_max / line * line;
        for at in (0..middle).step_by(most as usize) {
            let part = most.min(middle - at);
            self.dma(options, &queue, src.offset(head + at), dest, to.offset(head + at), part)
                .await;
        }
        if tail > 0 {
            self.data_message(&queue, src.offset(head + middle), dest, to.offset(head + middle), tail)
                .await;
        }
    }

    async fn data_message(&self, queue: &QueueCall<'_>, src: Addr, dest: NodeId, to: Addr, bytes: u32) {
        let body = self
            .host
            .memory(|m| m.read(src, bytes as usize).expect("checked").to_vec());
        queue.message(Kind::System, dest, [message::DATA, to.0], &body).await;
    }

    /// One DMA of whole lines, at most 128 KB.
    async fn dma(
        &self,
        options: &RmwriteOptions,
        queue: &QueueCall<'_>,
        src: Addr,
        dest: NodeId,
        to: Addr,
        bytes: u32,
    ) {
        if options.pre_invalidate {
            let mut body = vec![0; self.config.request_bytes as usize];
            body[..4].copy_from_slice(&to.0.to_le_bytes());
            queue
                .message(Kind::System, dest, [message::PRE_INVALIDATE, bytes], &body)
                .await;
        }
        let line = self.line();
        let piece = if options.pipelined {
            options.piece_bytes.max(line) / line * line
        } else {
            bytes
        };
        let aligned = src.0.is_multiple_of(ALIGN_BYTES);
        for at in (0..bytes).step_by(piece as usize) {
            let part = piece.min(bytes - at);
            let body = if aligned {
                self.cpu
                    .work(Level::User, at_rate(part, self.config.writeback_rate))
                    .await;
                src.offset(at)
            } else {
                self.bounce(queue, src.offset(at), part).await
            };
            queue
                .append(Parcel::dma(dest, body, to.offset(at), part).header())
                .await;
            queue.start().await;
        }
    }

    /// Copies a piece of the source to an aligned place in the bounce buffer. No place is used twice before the queue
    /// was empty.
    async fn bounce(&self, queue: &QueueCall<'_>, src: Addr, bytes: u32) -> Addr {
        let room = bytes.next_multiple_of(ALIGN_BYTES);
        if self.bounce_used.get() + room > BOUNCE_BYTES {
            queue.wait_until_queued(0).await;
            self.bounce_used.set(0);
        }
        let at = self
            .layout
            .bounce()
            .offset(self.bounce_used.replace(self.bounce_used.get() + room));
        self.cpu.work(Level::User, at_rate(bytes, self.config.copy_rate)).await;
        self.host.memory(|m| {
            let body = m.read(src, bytes as usize).expect("checked").to_vec();
            assert!(m.write(at, &body), "the bounce buffer lies in memory");
        });
        at
    }
}
