//! A master of AXI4 or AXI4-Lite: asks what it is told to, pauses at random.

use super::{Burst, FromMaster, FromSlave, ReadBeat, WriteBeat, WriteEnd};
use crate::seed::Rng;
use crate::stream::{Gaps, Pacer, Source};

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
        let mut master = AxiMaster {
            aw: Source::new([], Pacer::steady()),
            w: Source::new([], Pacer::steady()),
            ar: Source::new([], Pacer::steady()),
            paces: [Pacer::steady(), Pacer::steady()],
            from: FromMaster::default(),
        };
        master.set_gaps(gaps, rng);
        master
    }

    /// Pauses like this from now on.
    pub fn set_gaps(&mut self, gaps: Gaps, rng: impl Fn(&str) -> Rng) {
        let pacer = |pauses, name| Pacer::new(pauses, rng(name));
        self.aw.set_pace(pacer(gaps.at_source(), "AW"));
        self.w.set_pace(pacer(gaps.at_source(), "W"));
        self.ar.set_pace(pacer(gaps.at_source(), "AR"));
        self.paces = [pacer(gaps.at_sink(), "B"), pacer(gaps.at_sink(), "R")];
    }

    /// The interface was reset: offers are withdrawn, and made again.
    pub fn reset(&mut self) {
        self.aw.reset();
        self.w.reset();
        self.ar.reset();
        self.from = FromMaster::default();
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
