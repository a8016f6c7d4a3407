//! A master of AXI4 or AXI4-Lite: asks what it is told to, pauses at random.

use super::{Burst, FromMaster, FromSlave, ReadBeat, WriteBeat, WriteEnd};
use crate::harness::seed::Rng;
use crate::harness::stream::{Gaps, Pacer, Source};

/// What passed the five channels at an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    pub aw: Option<Burst>,
    pub w: Option<WriteBeat>,
    pub b: Option<WriteEnd>,
    pub ar: Option<Burst>,
    pub r: Option<ReadBeat>,
}

/// Offers addresses and data, each channel at its own pace, and takes the answers. A write's data do not wait for its
/// address.
#[derive(Clone, Debug)]
pub struct AxiMaster {
    aw: Source<Burst>,
    w: Source<WriteBeat>,
    ar: Source<Burst>,
    /// Of B and R.
    pub paces: [Pacer; 2],
    from: FromMaster,
}

impl AxiMaster {
    /// `gaps` says which side pauses; the master is the source of addresses and data, and the sink of answers.
    pub fn new(gaps: Gaps, rng: impl Fn(&str) -> Rng) -> AxiMaster {
        let pacer = |pauses, name| Pacer::new(pauses, rng(name));
        AxiMaster {
            aw: Source::new([], pacer(gaps.at_source(), "AW")),
            w: Source::new([], pacer(gaps.at_source(), "W")),
            ar: Source::new([], pacer(gaps.at_source(), "AR")),
            paces: [pacer(gaps.at_sink(), "B"), pacer(gaps.at_sink(), "R")],
            from: FromMaster::default(),
        }
    }

    pub fn read(&mut self, burst: Burst) {
        self.ar.push(burst);
    }

    pub fn write(&mut self, burst: Burst, beats: impl IntoIterator<Item = WriteBeat>) {
        self.aw.push(burst);
        beats.into_iter().for_each(|beat| self.w.push(beat));
    }

    /// What the master drives in this cycle; once per cycle, before the edge.
    pub fn drive(&mut self) -> FromMaster {
        self.from = FromMaster {
            aw: self.aw.offer().copied(),
            w: self.w.offer().copied(),
            b_ready: self.paces[0].step(),
            ar: self.ar.offer().copied(),
            r_ready: self.paces[1].step(),
        };
        self.from
    }

    /// The edge, with what the slave drove before it.
    pub fn step(&mut self, slave: &FromSlave) -> Taken {
        Taken {
            aw: self.aw.step(slave.aw_ready),
            w: self.w.step(slave.w_ready),
            b: slave.b.filter(|_| self.from.b_ready),
            ar: self.ar.step(slave.ar_ready),
            r: slave.r.filter(|_| self.from.r_ready),
        }
    }

    /// Everything was asked; answers may still come.
    pub fn is_empty(&self) -> bool {
        self.aw.is_empty() && self.w.is_empty() && self.ar.is_empty()
    }
}
