//! The host at one PE's window: what it has still to do there, one access at a time.

use std::collections::VecDeque;

/// An access of a register or of a word of memory.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub offset: u32,
    pub store: Option<u64>,
    /// Nobody looks at the answer.
    idle: bool,
}

impl Access {
    /// A load of the word at this byte offset.
    pub fn load(offset: u32) -> Access {
        let (store, idle) = (None, false);
        Access { offset, store, idle }
    }

    /// A load whose answer is thrown away.
    pub fn glance(offset: u32) -> Access {
        let idle = true;
        Access {
            idle,
            ..Access::load(offset)
        }
    }

    /// A store of the whole word at this byte offset.
    pub fn store(offset: u32, value: u64) -> Access {
        let (store, idle) = (Some(value), false);
        Access { offset, store, idle }
    }

    /// A store writes whole words.
    pub fn strobes(&self) -> u8 {
        if self.store.is_some() { 0xff } else { 0 }
    }
}

/// What the PE's port shows the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPorts {
    pub ready: bool,
    /// Data, and whether the access was refused.
    pub response: Option<(u64, bool)>,
}

/// The host at a PE.
#[derive(Debug, Default)]
pub struct Host {
    queue: VecDeque<Access>,
    /// The first access is offered, or was taken.
    offers: bool,
    waits: bool,
    answers: VecDeque<u64>,
}

impl Host {
    /// Queues an access behind the others.
    pub fn put(&mut self, access: Access) {
        self.queue.push_back(access);
    }

    /// The next answer to a load.
    pub fn take(&mut self) -> Option<u64> {
        self.answers.pop_front()
    }

    /// Is an access queued or under way?
    pub fn is_active(&self) -> bool {
        !self.queue.is_empty()
    }

    /// What it offers at the edge that comes.
    pub fn offer(&mut self) -> Option<Access> {
        self.offers = !self.waits && self.is_active();
        self.queue.front().filter(|_| self.offers).copied()
    }

    /// The edge comes; before it the port shows this.
    ///
    /// # Panics
    /// The PE refuses the access.
    pub fn edge(&mut self, ports: HostPorts) {
        if self.offers && ports.ready {
            (self.offers, self.waits) = (false, true);
        } else if let Some((value, refused)) = ports.response.filter(|_| self.waits) {
            let access = self.queue.pop_front().expect("it was asked for");
            assert!(!refused, "{access:x?} was refused");
            let kept = access.store.is_none() && !access.idle;
            self.answers.extend(kept.then_some(value));
            self.waits = false;
        }
    }
}
