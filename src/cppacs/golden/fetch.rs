//! Fetch: from a kick and its TCW to a descriptor or a refusal.

use crate::net::hyper::Grid;

use super::entry::Process;
use super::tables::Tables;
use super::tcw::{Descriptor, Kick, Refusal, SendReason, Tcw, check};
use super::words::BusError;

/// What the kernel sets.
#[derive(Clone, Debug)]
pub struct Fetch {
    pub grid: Grid,
    pub processes: Vec<Process>,
}

impl Fetch {
    /// The physical address of a kick's TCW; `None`: there is no such, and nothing is read.
    pub fn address(&self, kick: Kick) -> Option<u32> {
        self.processes[kick.process as usize].tcw(kick.tcw)
    }

    /// What becomes of a kick. `tcw` is what memory gave; without an address it does not count.
    ///
    /// # Errors
    /// It is refused.
    pub fn take(&self, kick: Kick, tcw: Result<[u32; 16], BusError>, tables: &Tables) -> Result<Descriptor, Refusal> {
        let refusal = |reason, flag| Refusal {
            process: kick.process,
            tcw: kick.tcw,
            reason,
            flag,
        };
        if self.address(kick).is_none() {
            return Err(refusal(SendReason::Tcw, None));
        }
        let words = tcw.map_err(|BusError| refusal(SendReason::Memory, None))?;
        let (tcw, process) = (Tcw::parse(&words), &self.processes[kick.process as usize]);
        let right = tables.right(tcw.right as usize);
        let reply = tables.field(tcw.reply_field as usize);
        check(&tcw, kick, process, right.as_ref(), reply.as_ref(), self.grid)
            .map_err(|reason| refusal(reason, tcw.flag(process)))
    }
}
