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
