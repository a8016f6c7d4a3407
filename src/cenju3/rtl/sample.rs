//! What the report draws of a run: how full links and receive FIFOs were.

use serde::Serialize;

use super::ports::LinkCount;
use crate::Picos;

/// One node's counts since reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NodeSample {
    /// From the NIC into the network.
    pub tx: LinkCount,
    /// From the network into the NIC.
    pub rx: LinkCount,
    /// Bytes the NIC has written to memory, headers included.
    pub written: u64,
}

impl NodeSample {
    /// Bytes that came in by the link and are not yet in memory: what waits in the receive FIFO and the Receiver. Route flits go no
    /// further than the link.
    pub fn waiting(&self) -> u64 {
        (2 * (self.rx.flits - self.rx.packets)).saturating_sub(self.written)
    }
}

/// All nodes at one instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sample {
    pub at: Picos,
    pub nodes: Vec<NodeSample>,
    /// Flits inside the switches of each stage.
    pub stages: Vec<u64>,
}

#[derive(Debug)]
pub struct Sampler {
    period: u64,
    next: Picos,
    samples: Vec<Sample>,
}

impl Sampler {
    pub fn new(period: Picos, now: Picos) -> Sampler {
        assert!(period > Picos::ZERO, "samples are taken some time apart");
        Sampler {
            period: period.0,
            next: now,
            samples: Vec::new(),
        }
    }

    pub fn due(&self, now: Picos) -> bool {
        now >= self.next
    }

    /// A sample; the next one is due at the next multiple of the period.
    pub fn push(&mut self, sample: Sample) {
        self.next = Picos((sample.at.0 / self.period + 1) * self.period);
        self.samples.push(sample);
    }

    pub fn take(&mut self) -> Vec<Sample> {
        std::mem::take(&mut self.samples)
    }
}
