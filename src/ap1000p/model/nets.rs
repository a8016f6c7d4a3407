//! S-net and B-net of the model. A barrier opens some cycles after its last arrival. The bus carries complete packets
//! one after the other.

use std::collections::VecDeque;

use crate::ap1000p::golden::bif::Bif;

/// Groups of the S-net.
const GROUPS: usize = 2;

#[derive(Default)]
pub(super) struct Nets {
    /// Indexed by cell.
    pub bifs: Vec<Bif>,
    /// Indexed by group: the barrier is about to open.
    opens: [bool; GROUPS],
    /// Cells with complete packets, in the order of completion. The bus carries the packet of the first cell.
    turns: VecDeque<usize>,
    /// An event of the bus is due.
    runs: bool,
}

impl Nets {
    pub fn new(cells: usize) -> Nets {
        Nets {
            bifs: vec![Bif::default(); cells],
            ..Nets::default()
        }
    }

    /// Groups whose members have all arrived. Each is returned once a barrier.
    pub fn complete(&mut self) -> Vec<usize> {
        let group_is = |group: usize| {
            let bit = 1 << group;
            let mut members = self.bifs.iter().filter(|bif| bif.member() & bit != 0).peekable();
            members.peek().is_some() && members.all(|bif| bif.waiting() & bit != 0)
        };
        let complete: Vec<usize> = (0..GROUPS).filter(|&g| group_is(g) && !self.opens[g]).collect();
        complete.iter().for_each(|&g| self.opens[g] = true);
        complete
    }

    /// A barrier opens.
    pub fn open(&mut self, group: usize) {
        self.opens[group] = false;
        self.bifs.iter_mut().for_each(|bif| bif.release(1 << group));
    }

    /// A packet of this cell is complete.
    pub fn queue(&mut self, cell: usize) {
        self.turns.push_back(cell);
    }

    /// Whether the caller must schedule an event of the bus.
    pub fn wakes(&mut self) -> bool {
        let wakes = !self.runs && !self.turns.is_empty();
        self.runs |= wakes;
        wakes
    }

    /// The bus sends a word to all cells, if all have room. Returns whether another word may follow.
    pub fn run(&mut self) -> bool {
        self.runs = false;
        let Some(&from) = self.turns.front() else { return false };
        let word = self.bifs[from].offered().expect("a complete packet");
        // Call `offer` on every cell: with the first word each cell decides whether it listens.
        let full = self.bifs.iter_mut().map(Bif::offer).filter(|room| !room).count();
        if full > 0 {
            return false;
        }
        self.bifs[from].sent();
        self.bifs.iter_mut().for_each(|bif| bif.hear(word));
        if word.1 {
            self.turns.pop_front();
        }
        self.runs = !self.turns.is_empty();
        self.runs
    }

    /// The packet in progress, for a hang report.
    pub fn state(&self) -> Option<String> {
        let from = self.turns.front()?;
        Some(format!("a packet of cell {from} waits for the B-net"))
    }
}
