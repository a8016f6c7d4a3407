//! The counter of remote stores without an acknowledgement.

/// An event that was not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// A store beyond the counter's maximum.
    pub over: bool,
    /// An acknowledgement without a store.
    pub under: bool,
}

#[derive(Clone, Debug)]
pub struct Acks {
    count: u32,
    most: u32,
}

impl Acks {
    /// A counter up to `most`.
    pub fn new(most: u32) -> Acks {
        Acks { count: 0, most }
    }

    /// One cycle: a store, an acknowledgement, both or none.
    pub fn step(&mut self, issue: bool, ack: bool) -> Refused {
        let under = ack && self.count == 0;
        // The acknowledgement makes room first.
        self.count -= u32::from(ack && !under);
        let over = issue && self.count == self.most;
        self.count += u32::from(issue && !over);
        Refused { over, under }
    }

    pub fn count(&self) -> u32 {
        self.count
    }
}
