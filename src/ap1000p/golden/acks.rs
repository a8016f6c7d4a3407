//! Remote stores that are not acknowledged.

/// What was not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// A store more than can be counted.
    pub over: bool,
    /// An acknowledgement of no store.
    pub under: bool,
}

#[derive(Clone, Debug)]
pub struct Acks {
    count: u32,
    most: u32,
}

impl Acks {
    /// Counts up to `most`.
    pub fn new(most: u32) -> Acks {
        Acks { count: 0, most }
    }

    /// A cycle with a store, an acknowledgement, both or none.
    pub fn step(&mut self, issue: bool, ack: bool) -> Refused {
        let under = ack && self.count == 0;
        // What is acknowledged makes room.
        self.count -= u32::from(ack && !under);
        let over = issue && self.count == self.most;
        self.count += u32::from(issue && !over);
        Refused { over, under }
    }

    pub fn count(&self) -> u32 {
        self.count
    }
}
