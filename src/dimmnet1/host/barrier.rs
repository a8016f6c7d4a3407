//! Barriers: of hosts over LLCM, and counted by the on-chip processor.

use std::cell::Cell;

use super::layout::{self, common};
use super::{CommError, Node};
use crate::NodeId;

/// Who counts the arrivals, and how the release reaches all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// The master's host counts in LLCM, and releases by one AOTF store to each node in ascending order.
    Hosts,
    /// The same with one store that the switch copies.
    HostsMulticast,
    /// The master's on-chip processor counts, and sends a prepared packet to each node in ascending order.
    Processor,
    /// The same with one packet that the switch copies.
    ProcessorMulticast,
}

/// The node whose host or processor counts.
pub const MASTER: NodeId = NodeId(0);

/// How many barriers of hosts a node has begun.
#[derive(Default)]
pub(super) struct Rounds(Cell<u64>);

impl Node {
    /// Waits until every node has called this.
    ///
    /// # Errors
    /// At the master [`CommError::Missing`] names the nodes that did not come; elsewhere [`CommError::NotReleased`]. The
    /// barrier is broken then.
    pub async fn barrier(&self, barrier: Barrier) -> Result<(), CommError> {
        match barrier {
            Barrier::Hosts => self.barrier_hosts(false).await,
            Barrier::HostsMulticast => self.barrier_hosts(true).await,
            Barrier::Processor => self.barrier_processor(layout::BARRIER_UNICAST).await,
            Barrier::ProcessorMulticast => self.barrier_processor(layout::BARRIER_MULTICAST).await,
        }
    }

    async fn barrier_hosts(&self, multicast: bool) -> Result<(), CommError> {
        let round = self.rounds.0.get() + 1;
        self.rounds.0.set(round);
        let own = common::of(common::ARRIVED, self.id());
        self.aotf_write(MASTER, own, 8, round).await?;
        if self.id() == MASTER {
            self.count(round).await?;
            if multicast {
                self.aotf_write_all(common::RELEASE, 8, round).await?;
            } else {
                for node in self.all() {
                    self.aotf_write(node, common::RELEASE, 8, round).await?;
                }
            }
        }
        self.released(common::RELEASE, |word| word == round).await
    }

    /// The master sees all arrivals.
    async fn count(&self, round: u64) -> Result<(), CommError> {
        for node in self.all() {
            let own = common::of(common::ARRIVED, node);
            if self.poll_common(own, |word| word >= round).await.is_none() {
                let nodes = self.lacking(common::ARRIVED, round).await;
                return Err(CommError::Missing { nodes });
            }
        }
        Ok(())
    }

    /// The nodes whose words in a table are less than this.
    async fn lacking(&self, table: u32, least: u64) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        for node in self.all() {
            if self.processor.llcm_load(common::of(table, node)).await < least {
                nodes.push(node);
            }
        }
        nodes
    }

    async fn barrier_processor(&self, number: u32) -> Result<(), CommError> {
        self.processor.llcm_store(common::RELEASE_CPU, 0).await;
        self.aotf(layout::barrier_of(MASTER), 8 * number, 8, 1).await?;
        match self.released(common::RELEASE_CPU, |word| word != 0).await {
            Err(error) => self.gave_up(error).await,
            released => released,
        }
    }

    /// The processor counts without names. So who gives up tells the master, which waits until all that came have given
    /// up, too.
    async fn gave_up(&self, error: CommError) -> Result<(), CommError> {
        let own = common::of(common::GAVE_UP, self.id());
        self.aotf_write(MASTER, own, 8, 1).await?;
        if self.id() != MASTER {
            return Err(error);
        }
        self.compute(self.config().wait_bound).await;
        let nodes = self.lacking(common::GAVE_UP, 1).await;
        Err(if nodes.is_empty() {
            error
        } else {
            CommError::Missing { nodes }
        })
    }

    async fn released(&self, offset: u32, met: impl FnMut(u64) -> bool) -> Result<(), CommError> {
        let (node, master) = (self.id(), MASTER);
        let released = self.poll_common(offset, met).await;
        released.map(drop).ok_or(CommError::NotReleased { node, master })
    }
}
