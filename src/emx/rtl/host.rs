//! The host at one PE's window: what it has still to do there, one access at a time.

use std::collections::VecDeque;

use verilated::{Input as _, Port as _};

use crate::rtl::{EmxPePorts as _, EmxPeUnit};

/// An access of a register or of a word of memory.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    offset: u32,
    store: Option<u64>,
}

impl Access {
    pub fn load(offset: u32) -> Access {
        Access { offset, store: None }
    }

    pub fn store(offset: u32, value: u64) -> Access {
        Access {
            offset,
            store: Some(value),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    Offers,
    /// The request was taken.
    Waits,
}

#[derive(Default)]
pub struct Host {
    queue: VecDeque<Access>,
    phase: Phase,
    answers: VecDeque<u64>,
}

impl Host {
    pub fn put(&mut self, access: Access) {
        self.queue.push_back(access);
    }

    /// The next answer to a load.
    pub fn take(&mut self) -> Option<u64> {
        self.answers.pop_front()
    }

    pub fn is_active(&self) -> bool {
        !self.queue.is_empty()
    }

    /// What happens at the edge that comes.
    ///
    /// # Panics
    /// The PE refuses the access.
    #[inline]
    pub fn look<P: EmxPeUnit>(&mut self, unit: &P) {
        match self.phase {
            Phase::Offers if unit.host_req_ready_o().is_set() => self.phase = Phase::Waits,
            Phase::Waits if unit.host_rsp_valid_o().is_set() => {
                let access = self.queue.pop_front().expect("it was asked for");
                assert!(!unit.host_rsp_err_o().is_set(), "{access:x?} was refused");
                if access.store.is_none() {
                    self.answers.push_back(unit.host_rsp_rdata_o().get());
                }
                self.phase = Phase::Idle;
            }
            _ => (),
        }
    }

    /// What the PE sees of it behind the edge.
    #[inline]
    pub fn drive<P: EmxPeUnit>(&mut self, unit: &P) {
        match (self.phase, self.queue.front()) {
            (Phase::Idle, Some(access)) => {
                unit.host_req_valid_i().set_bool(true);
                unit.host_req_write_i().set_bool(access.store.is_some());
                unit.host_req_addr_i().set(access.offset.into());
                unit.host_req_wdata_i().set(access.store.unwrap_or_default());
                unit.host_req_wstrb_i().set(if access.store.is_some() { 0xff } else { 0 });
                self.phase = Phase::Offers;
            }
            (Phase::Waits, _) => unit.host_req_valid_i().set_bool(false),
            _ => (),
        }
    }
}
