//! What PVM and the C library need of the native library, under its names.

use std::error::Error;

use crate::cppacs::params::Config;
use crate::harness::exec::Host;
use crate::{Addr, NodeId, Picos};

/// Memory of a process that may be sent from and received into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    pub addr: Addr,
    pub bytes: u32,
}

/// Which virtual channel a transfer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    Data,
    Ack,
}

/// Most bytes of a transfer, and of its elements if there is more than one.
const MOST: u32 = 1 << 20;
const MOST_ELEMENT: u32 = 1 << 19;

/// Elements of equal size, equally far apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided {
    pub addr: Addr,
    pub element: u32,
    pub count: u32,
    /// From the start of one element to the next, at the source and at the destination.
    pub steps: (u32, u32),
}

impl Strided {
    /// One contiguous piece.
    pub fn whole(addr: Addr, bytes: u32) -> Strided {
        Strided {
            addr,
            element: bytes,
            count: 1,
            steps: (0, 0),
        }
    }

    pub fn bytes(&self) -> u64 {
        u64::from(self.element) * u64::from(self.count)
    }

    /// The transfers that it takes, each with how far behind the first one its data go. A TCW has at most 1 MB, in
    /// elements of less than 512 KB.
    pub fn transfers(self) -> Vec<(Strided, u32)> {
        let by = if self.element < MOST_ELEMENT {
            MOST / self.element.max(1)
        } else {
            1
        };
        let part = |first: u32| {
            let count = by.min(self.count - first);
            let addr = self.addr.offset(first * self.steps.0);
            (Strided { addr, count, ..self }, first * self.steps.1)
        };
        let parts = (0..self.count).step_by(by as usize).map(part);
        let cut = |(part, at): (Strided, u32)| {
            let pieces = if part.count == 1 {
                part.element.div_ceil(MOST)
            } else {
                1
            };
            let piece = move |n: u32| match pieces {
                1 => (part, at),
                _ => {
                    let bytes = (part.element - n * MOST).min(MOST);
                    (Strided::whole(part.addr.offset(n * MOST), bytes), at + n * MOST)
                }
            };
            (0..pieces.max(1)).map(piece)
        };
        parts.flat_map(cut).collect()
    }
}

/// One node's native library. One task at a time calls it.
#[allow(async_fn_in_trait, reason = "simulated time has one thread")]
pub trait Transport: Clone + 'static {
    type Field: Clone + 'static;
    type Right: Clone + 'static;
    /// A transfer whose last read is to be waited for.
    type Sent: Clone + 'static;
    type Error: Error + Send + Sync + 'static;

    fn host(&self) -> &Host;

    fn config(&self) -> &Config;

    /// The processor works for this long.
    async fn work(&self, span: Picos);

    /// The processor copies out of a field for this long; data that arrive share the memory with it.
    async fn occupy(&self, span: Picos);

    /// Makes an area, for good. The process has one of each name.
    ///
    /// # Errors
    /// Too little memory; a name that is taken.
    async fn object(&self, name: &str, bytes: u32) -> Result<Area, Self::Error>;

    /// Makes a part of an area a field, under the area's name and this number.
    ///
    /// # Errors
    /// It leaves the area; no field is left.
    async fn create_field(&self, area: &Area, offset: u32, bytes: u32, number: u16)
    -> Result<Self::Field, Self::Error>;

    /// Gets the right to write into a field of another node; waits until there is such a field.
    ///
    /// # Errors
    /// None within `wait`.
    async fn get_sendright(&self, to: NodeId, name: &str, number: u16, wait: Picos)
    -> Result<Self::Right, Self::Error>;

    /// Starts a transfer, with the costs of set-up and system call.
    ///
    /// # Errors
    /// No multiple of 8 bytes; outside the field.
    async fn send(
        &self,
        from: Strided,
        right: &Self::Right,
        offset: u32,
        channel: Channel,
    ) -> Result<Self::Sent, Self::Error>;

    /// Waits until the memory of a transfer may be used again.
    async fn wait_sent(&self, sent: &Self::Sent);

    /// How many transfers have come into a field. Costs nothing: the caller charges `receive_poll` for what it takes.
    fn count(&self, field: &Self::Field) -> u32;

    /// Waits until a transfer comes into any field of this node. Costs nothing, either.
    async fn changed(&self);

    /// A message of normal mode to the kernel of a node, which has handled it at the end.
    async fn normal(&self, to: NodeId);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tcw_cannot_hold_is_cut() {
        let lengths = |element: u32, count: u32| -> Vec<(u64, u32)> {
            let (addr, steps) = (Addr(0), (2 * element, element));
            let whole = Strided {
                addr,
                element,
                count,
                steps,
            };
            whole
                .transfers()
                .into_iter()
                .map(|(part, at)| (part.bytes(), at))
                .collect()
        };
        assert_eq!(lengths(8, 3), [(24, 0)]);
        assert_eq!(lengths(1 << 18, 8), [(1 << 20, 0), (1 << 20, 1 << 20)]);
        assert_eq!(lengths(1 << 19, 2), [(1 << 19, 0), (1 << 19, 1 << 19)]);
        assert_eq!(lengths(5 << 18, 1), [(1 << 20, 0), (1 << 18, 1 << 20)]);
        assert_eq!(lengths(0, 1), [(0, 0)]);
    }
}
