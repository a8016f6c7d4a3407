//! The system on a cell: sets the registers at the start, then serves interrupts. A page that is to be mapped on demand is, and the transfer
//! goes on; everything else is noted as a fault, and a transfer that waits for it is given up.

use std::cell::RefCell;
use std::rc::Rc;

use thiserror::Error;

use super::layout::{Layout, PROCESS};
use crate::ap1000p::params::Config;
use crate::ap1000p::regs::*;
use crate::harness::cpu::{Cpu, Level};
use crate::harness::exec::{Host, RegError};
use crate::{NodeId, Picos};

/// All of the torus, as a range of relative cells.
const EVERYWHERE: u32 = 0x7f81_7f81;
/// All causes interrupt.
const ALL_CAUSES: u32 = ENABLE_CAUSES_MASK;

/// What the hardware told the system of a cell and the system could not mend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{node} was told at {at}: {kind}")]
pub struct Fault {
    pub at: Picos,
    pub node: NodeId,
    pub kind: FaultKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FaultKind {
    /// An address that the process may not use so (reason: `FAULT_…`); the transfer was given up.
    #[error(
        "no translation of {addr:#010x} in context {context} (reason {reason}, unit {unit}): the transfer was given up"
    )]
    Address {
        unit: usize,
        reason: u32,
        context: u32,
        addr: u32,
    },
    /// A store or a command was refused (cause: `REFUSED_…`).
    #[error("{count} stores or commands were refused, the last one's page code {page:#06x}, cause {cause}")]
    Refused { count: u32, page: u32, cause: u32 },
    /// A message that came was not executed (why: `BROKEN_…`).
    #[error("a message of cell ({x}, {y}) of kind {kind:#06x} was not executed, why {why}")]
    Broken { x: u32, y: u32, kind: u32, why: u32 },
    /// Any other cause, as its bit in `CAUSE`.
    #[error("cause {cause:#x}")]
    Other { cause: u32 },
}

/// Collects the faults of all cells.
#[derive(Default)]
pub(super) struct Faults(pub RefCell<Vec<Fault>>);

pub(super) struct Kernel {
    pub host: Host,
    pub cpu: Cpu,
    pub config: Rc<Config>,
    pub layout: Layout,
    faults: Rc<Faults>,
}

fn field(word: u32, mask: u32) -> u32 {
    (word & mask) >> mask.trailing_zeros()
}

impl Kernel {
    pub fn new(host: Host, config: Rc<Config>, layout: Layout, faults: Rc<Faults>) -> Kernel {
        Kernel {
            // A register answers when it does: the bus is the processor's own.
            cpu: Cpu::new(host.clone(), Picos::ZERO, Picos::ZERO),
            host,
            config,
            layout,
            faults,
        }
    }

    pub async fn boot(&self) -> Result<(), RegError> {
        self.host.memory(|memory| self.layout.write_tables(memory));
        let region = self.layout.spill / (SPILL_UNITS * SPILL_UNIT * SPILL_BYTES);
        for (offset, value) in [
            (CONTEXT_TABLE, self.layout.tables),
            (CONTEXT, PROCESS.into()),
            (SPILL_REGION, region | SPILL_UNITS << SPILL_REGION_LIMIT_SHIFT),
            (RANGE, EVERYWHERE),
            (ENABLE, ALL_CAUSES),
        ] {
            self.host.reg_write(offset, value).await?;
        }
        Ok(())
    }

    pub async fn run(self: Rc<Kernel>) {
        loop {
            self.host.irq().await;
            self.cpu.enter();
            self.host.delay(self.config.interrupt).await;
            self.serve().await;
            self.cpu.leave();
        }
    }

    async fn read(&self, offset: u32) -> u32 {
        self.cpu.read(Level::Handler, offset).await
    }

    async fn serve(&self) {
        let cause = self.read(CAUSE).await;
        if cause & CAUSE_FAULT_MASK != 0 {
            self.serve_addresses().await;
        }
        if cause & CAUSE_REFUSED_MASK != 0 {
            let word = self.read(REFUSED_COUNT).await;
            let open = self.read(OPEN).await;
            self.note(FaultKind::Refused {
                count: field(word, REFUSED_COUNT_COUNT_MASK),
                page: field(word, REFUSED_COUNT_PAGE_MASK),
                cause: field(open, OPEN_CAUSE_MASK),
            });
        }
        if cause & CAUSE_BROKEN_MASK != 0 {
            let what = self.read(BROKEN_WHAT).await;
            let open = self.read(OPEN).await;
            self.note(FaultKind::Broken {
                x: field(what, BROKEN_WHAT_X_MASK),
                y: field(what, BROKEN_WHAT_Y_MASK),
                kind: field(what, BROKEN_WHAT_KIND_MASK),
                why: field(open, OPEN_WHY_MASK),
            });
        }
        for bit in 0..32 {
            let one = cause & 1 << bit;
            if one & !(CAUSE_FAULT_MASK | CAUSE_REFUSED_MASK | CAUSE_BROKEN_MASK) != 0 {
                self.note(FaultKind::Other { cause: one });
            }
        }
        self.cpu.write(Level::Handler, CAUSE, cause).await;
    }

    async fn serve_addresses(&self) {
        let waiting = self.read(FAULTS).await;
        let mut serve = 0;
        for unit in 0..5_usize {
            if waiting >> unit & 1 == 0 {
                continue;
            }
            let at = 8 * unit as u32;
            let why = self.read(WHY0 + at).await;
            let addr = self.read(WHERE0 + at).await;
            let (reason, context) = (field(why, WHY0_REASON_MASK), field(why, WHY0_CONTEXT_MASK));
            let mapped = reason == FAULT_PAGE
                && context == u32::from(PROCESS)
                && self.host.memory(|memory| self.layout.map(memory, addr));
            if mapped {
                self.host.delay(self.config.page_service).await;
                serve |= 1 << unit << SERVE_RETRY_SHIFT;
            } else {
                self.note(FaultKind::Address {
                    unit,
                    reason,
                    context,
                    addr,
                });
                serve |= 1 << unit << SERVE_ABORT_SHIFT;
            }
        }
        self.cpu.write(Level::Handler, SERVE, serve).await;
    }

    fn note(&self, kind: FaultKind) {
        self.faults.0.borrow_mut().push(Fault {
            at: self.host.now(),
            node: self.host.node(),
            kind,
        });
    }
}
