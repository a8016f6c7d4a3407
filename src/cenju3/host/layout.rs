//! The layout of the kernel's queues, rings and buffers in the memory of a PE.
//!
//! User programs own `[0, user_end)`; the kernel owns the top 640 KB. Offsets from `user_end`:
//!
//! | offset | bytes | contents |
//! | --- | --- | --- |
//! | `0x00000` | 8 K | send queue 0: 256 parcel headers of 32 B |
//! | `0x02000` | 8 K | send queue 1 |
//! | `0x04000` | 4 K | message header ring: 256 headers of 16 B |
//! | `0x08000` | 32 K | message body ring of kind 0 (system): 64 slots of 512 B |
//! | `0x10000` | 64 K | DMA header ring: 4096 headers of 16 B |
//! | `0x20000` | 32 K | message body ring of kind 1 (user) |
//! | `0x40000` | 128 K | message bodies to be sent: 512 B per slot of queue 0 |
//! | `0x60000` | 128 K | the same for queue 1 |
//! | `0x80000` | 128 K | bounce buffer: copies of sources, with the alignment of their destinations in cache lines |
//!
//! The kernel accesses this memory uncached, so no part of it needs write-back or invalidation.

use crate::Addr;
use crate::cenju3::params::Config;
use crate::cenju3::regs::{BODY_SLOT_BYTES, PACKET_HEADER_BYTES, PARCEL_HEADER_BYTES};

/// The kernel's memory, at the top.
pub const KERNEL_BYTES: u32 = 0xa_0000;

pub const MESSAGE_HEADERS: u32 = 256;
pub const DMA_HEADERS: u32 = 4096;
pub const BODY_SLOTS: u32 = 64;
pub const BOUNCE_BYTES: u32 = 0x2_0000;

/// The layout of one PE's memory.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// End of the user programs' memory, which starts at 0; a multiple of 512.
    pub user_end: u32,
}

impl Layout {
    /// `None` if the configured memory leaves user programs less than 512 bytes.
    pub fn new(config: &Config) -> Option<Layout> {
        let user_end = config.mem_bytes.checked_sub(KERNEL_BYTES)? / BODY_SLOT_BYTES * BODY_SLOT_BYTES;
        (user_end > 0).then_some(Layout { user_end })
    }

    /// The least memory of a PE that gives user programs `user` bytes.
    pub fn mem_bytes_for(user: u32) -> u32 {
        user.next_multiple_of(BODY_SLOT_BYTES) + KERNEL_BYTES
    }

    fn at(&self, offset: u32) -> Addr {
        Addr(self.user_end + offset)
    }

    pub fn send_ring(&self, queue: usize) -> Addr {
        self.at(0x2000 * queue as u32)
    }

    pub fn send_header(&self, queue: usize, slot: u8) -> Addr {
        self.send_ring(queue).offset(u32::from(slot) * PARCEL_HEADER_BYTES)
    }

    /// The message buffer of a slot of a send queue: free when the slot is free.
    pub fn send_body(&self, queue: usize, slot: u8) -> Addr {
        self.at(0x4_0000 + 0x2_0000 * queue as u32 + u32::from(slot) * BODY_SLOT_BYTES)
    }

    pub fn message_ring(&self) -> Addr {
        self.at(0x4000)
    }

    pub fn message_header(&self, index: u32) -> Addr {
        self.message_ring().offset(index * PACKET_HEADER_BYTES)
    }

    pub fn dma_ring(&self) -> Addr {
        self.at(0x1_0000)
    }

    pub fn dma_header(&self, index: u32) -> Addr {
        self.dma_ring().offset(index * PACKET_HEADER_BYTES)
    }

    pub fn body_ring(&self, kind: usize) -> Addr {
        self.at([0x8000, 0x2_0000][kind])
    }

    pub fn body_slot(&self, kind: usize, index: u32) -> Addr {
        self.body_ring(kind).offset(index * BODY_SLOT_BYTES)
    }

    pub fn bounce(&self) -> Addr {
        self.at(0x8_0000)
    }

    /// Whether all `bytes` from `addr` belong to the user.
    pub fn is_user(&self, addr: Addr, bytes: u32) -> bool {
        addr.0.checked_add(bytes).is_some_and(|end| end <= self.user_end)
    }
}
