//! What runs thread code: the timed model or the verilated PEs, behind one trait.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use thiserror::Error;

use super::asm::Image;
use super::golden::execute::Fault;
use super::golden::sequence::OrderError;
use super::library::Run;
use super::model;
use super::packet::Packet;
use super::params::Config;
use super::rtl::{self, Event};
use crate::Picos;
use crate::harness::backend::Doing;
use crate::harness::wave::Probe;
use crate::repro::row::BackendKind;

/// Why a run ended without its result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    #[error("PE {pe} halted: {fault}")]
    Fault { pe: u32, fault: Fault },
    #[error("PE {pe}: its memory holds {packets} packets, and another came")]
    Fatal { pe: u32, packets: usize },
    #[error(
        "nothing moves after {cycles} cycles; {} have not ended; {}",
        listed("PE", "PEs", pes),
        listed("operand waits", "operands wait", waiting)
    )]
    Hang {
        cycles: u64,
        pes: Vec<u32>,
        waiting: Vec<Waiting>,
    },
    #[error("not ended after {cycles} cycles")]
    Limit { cycles: u64 },
    #[error(transparent)]
    Order(#[from] OrderError),
}

/// How many there are, and the first of them.
fn listed(one: &str, many: &str, all: &[impl Display]) -> String {
    const SHOWN: usize = 8;
    let named: Vec<String> = all.iter().take(SHOWN).map(ToString::to_string).collect();
    let what = if all.len() == 1 { one } else { many };
    let more = all.len().saturating_sub(SHOWN);
    let more = if more > 0 {
        format!("; and {more} more")
    } else {
        String::new()
    };
    let names = if all.is_empty() {
        String::new()
    } else {
        format!(" ({}{more})", named.join("; "))
    };
    format!("{} {what}{names}", all.len())
}

/// An operand without its partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub pe: u32,
    pub frame: u32,
    pub offset: u32,
}

impl Display for Waiting {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Waiting { pe, frame, offset } = self;
        write!(f, "PE {pe}, frame {frame:#x}, offset {offset}")
    }
}

/// What a PE counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub sent: u64,
    /// From the network.
    pub received: u64,
    pub started: u64,
    pub bypassed: u64,
    pub spilled: u64,
    /// Cycles in which a thread ran; of these, in which it waited to send.
    pub busy: u64,
    pub send_wait: u64,
    /// Cycles in which the input buffer had no room for a packet.
    pub stalled: u64,
    pub instructions: u64,
    /// Refused packets, by code of Reasons.
    pub refused: [u64; 8],
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Cycle in which the last of the PEs told its result; the host's packets are in the input buffers in cycle 1.
    pub cycles: u64,
    /// Results, by PE.
    pub values: Vec<u32>,
}

/// What a PE did in a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Cycles in which a thread ran; of these, in which it waited to send.
    pub busy: u32,
    pub send_wait: u32,
    /// Packets in the input buffer at the end, those in memory included.
    pub depth: u32,
}

/// How often an instruction was executed, and the cycles that it took with all waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    pub times: u64,
    pub cycles: u64,
}

/// A packet that a neighbour sends on a link into a PE, between two of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forged {
    /// Of the links into the PE.
    pub input: u8,
    pub channel: u8,
    /// The second one ends it.
    pub words: [u64; 2],
}

/// What happens around a PE, and for how many cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Its links stand still, both ways.
    Links(u64),
    /// The host reads its memory over and over.
    Reads(u64),
    /// CONTROL.RUN is clear.
    Stops(u64),
    Packet(Forged),
}

/// A machine: PEs with their memories, and the network between them.
pub trait Backend {
    /// PEs of the machine.
    fn pes(&self) -> u32;

    /// The host writes a word of a PE's memory; no operand waits there any more.
    fn set_word(&mut self, pe: u32, addr: u32, data: u32);

    fn word(&mut self, pe: u32, addr: u32) -> u32;

    /// Blocks of so many words, each from an address of a PE on.
    fn blocks(&mut self, places: &[(u32, u32)], words: u32) -> Vec<Vec<u32>> {
        let mut block = |&(pe, addr): &(u32, u32)| (addr..addr + words).map(|addr| self.word(pe, addr)).collect();
        places.iter().map(&mut block).collect()
    }

    /// Words from an address on.
    fn words(&mut self, pe: u32, addr: u32, count: u32) -> Vec<u32> {
        self.blocks(&[(pe, addr)], count).remove(0)
    }

    /// The same words of each PE.
    fn words_of_all(&mut self, addr: u32, count: u32) -> Vec<Vec<u32>> {
        let places: Vec<_> = (0..self.pes()).map(|pe| (pe, addr)).collect();
        self.blocks(&places, count)
    }

    /// The RTL writes the wave that is asked for, of the first run, which begins at time 0.
    fn probe(&mut self, _period: Picos, _probe: &Probe) {}

    /// The edge of the run, or of the wave, behind which PE 0 showed its first word on a link; not where only packets
    /// are seen.
    fn first_word(&self) -> Option<u64> {
        None
    }

    /// The host gives a packet to a PE as the next run begins.
    fn inject(&mut self, pe: u32, packet: Packet);

    /// Runs until each of the first `count` PEs has told a result.
    ///
    /// # Errors
    /// A PE halted, nothing moves any more, or `limit` cycles have passed.
    fn run(&mut self, count: u32, limit: u64) -> Result<Told, RunError>;

    /// What a PE counted since it was made.
    fn counts(&mut self, pe: u32) -> Counts;

    /// Most packets that the input buffer of a PE held at a time, those in memory included.
    fn peak(&mut self) -> usize;

    /// The host reads a word of a PE's memory over and over while threads run.
    fn poll(&mut self, _pe: u32, _addr: u32) {}

    /// Most cycles for which such a read has waited; not where nobody reads.
    fn polled(&self) -> Option<u64> {
        None
    }

    /// Something happens around a PE so many cycles after the next run begins. A run goes on until it has ended, unless
    /// its results are there. False where this backend has no such part.
    fn trouble(&mut self, _cycle: u64, _pe: u32, _trouble: Trouble) -> bool {
        false
    }

    /// Resets all PEs, at any moment: memory stays, and nothing else. Gives what this PE was doing; none where this
    /// backend has no reset.
    fn reset(&mut self, _pe: u32) -> Option<Doing> {
        None
    }

    /// What PEs were doing when trouble came, by the names that the campaign uses; empty where that is not known.
    fn met(&mut self) -> Vec<(Trouble, Doing)> {
        Vec::new()
    }

    /// Keeps what happens at all ports from now on.
    fn record(&mut self) {}

    /// What has been kept.
    fn events(&mut self) -> Vec<Event> {
        Vec::new()
    }

    /// Looks at all PEs every so many cycles, from now on.
    fn watch(&mut self, _every: u64) {}

    /// What was seen, by time and by PE; empty where nobody looks.
    fn seen(&mut self) -> Vec<Vec<Seen>> {
        Vec::new()
    }

    /// The instructions that all PEs executed, by address; empty where that is not known.
    fn executed(&self) -> BTreeMap<u32, Executed> {
        BTreeMap::new()
    }

    /// Loads code and arguments of a program on its PEs.
    fn load(&mut self, run: &Run, image: &Image) {
        for pe in 0..run.count {
            for (addr, word) in image.load().chain(run.setup(image, pe)) {
                self.set_word(pe, addr, word);
            }
        }
    }

    /// Loads a program, and starts it on its PEs.
    fn start(&mut self, run: &Run, image: &Image) {
        self.load(run, image);
        (0..run.count).for_each(|pe| self.inject(pe, run.start()));
    }
}

/// The machine of `config`.
///
/// # Errors
/// RTL that was not built.
pub fn build(config: &Config, kind: BackendKind) -> Result<Box<dyn Backend>, rtl::NotBuilt> {
    Ok(match kind {
        BackendKind::Model => Box::new(model::Machine::new(config)),
        BackendKind::Rtl => rtl::build(config)?,
    })
}
