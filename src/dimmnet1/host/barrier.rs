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

/// How many barriers a node has begun.
#[derive(Default)]
pub(super) struct Rounds {
    hosts: Cell<u64>,
    processor: Cell<u64>,
}

fn next(rounds: &Cell<u64>) -> u64 {
    rounds.set(rounds.get() + 1);
    rounds.get()
}

impl Node {
    /// Waits until every node has called this. After an error, a barrier of the processor has arrivals too many: its
    /// firmware is loaded again before the next one.
    ///
    /// # Errors
    /// [`CommError::Missing`] names the nodes that did not come, where this node can know; else
    /// [`CommError::NotReleased`].
    pub async fn barrier(&self, barrier: Barrier) -> Result<(), CommError> {
        match barrier {
            Barrier::Hosts => self.barrier_hosts(false).await,
            Barrier::HostsMulticast => self.barrier_hosts(true).await,
            Barrier::Processor => self.barrier_processor(layout::BARRIER_UNICAST).await,
            Barrier::ProcessorMulticast => self.barrier_processor(layout::BARRIER_MULTICAST).await,
        }
    }

    async fn barrier_hosts(&self, multicast: bool) -> Result<(), CommError> {
        let round = next(&self.rounds.hosts);
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
                return Err(self.missing(common::ARRIVED, round).await);
            }
        }
        Ok(())
    }

    /// Looks who has not come, by a table of rounds.
    async fn missing(&self, table: u32, round: u64) -> CommError {
        let mut nodes = Vec::new();
        for node in self.all() {
            if self.processor.llcm_load(common::of(table, node)).await < round {
                nodes.push(node);
            }
        }
        CommError::Missing { nodes }
    }

    /// The processor only counts, so those that waited in vain tell the master, which waits for them as long again.
    async fn barrier_processor(&self, number: u32) -> Result<(), CommError> {
        let round = next(&self.rounds.processor);
        self.processor.llcm_store(common::RELEASE_CPU, 0).await;
        self.aotf(layout::barrier_of(MASTER), 8 * number, 8, 1).await?;
        let Err(error) = self.released(common::RELEASE_CPU, |word| word != 0).await else {
            return Ok(());
        };
        let own = common::of(common::WAITED, self.id());
        self.aotf_write(MASTER, own, 8, round).await?;
        if self.id() != MASTER {
            return Err(error);
        }
        self.compute(self.config().wait_bound).await;
        Err(self.missing(common::WAITED, round).await)
    }

    async fn released(&self, offset: u32, met: impl FnMut(u64) -> bool) -> Result<(), CommError> {
        let (node, master) = (self.id(), MASTER);
        let released = self.poll_common(offset, met).await;
        released.map(drop).ok_or(CommError::NotReleased { node, master })
    }
}
