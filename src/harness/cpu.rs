//! The CPU as a cost agent: one per PE. An interrupt handler takes it from the user program (and the system call it is
//! in), whose work stands still until the handler returns.

use std::cell::Cell;

use crate::Picos;
use crate::exec::{First, Host, race};
use crate::sync::{Lock, Signal};

/// On whose behalf the CPU works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The user program, or the kernel called by it: suspended while a handler runs.
    User,
    Handler,
}

pub struct Cpu {
    pub host: Host,
    /// Physical address of the NIC's registers.
    registers: u64,
    /// Time of one register access.
    access: Picos,
    /// The part of it that is left for the NIC to answer in.
    answer: Picos,
    handling: Cell<bool>,
    changed: Signal,
    user: Lock,
}

impl Cpu {
    /// The NIC's registers begin at the physical address `registers`. An access of one takes `access`, the last
    /// `answer` of it for the NIC to answer in.
    pub fn new(host: Host, registers: u64, access: Picos, answer: Picos) -> Cpu {
        Cpu {
            host,
            registers,
            access,
            answer,
            handling: Cell::new(false),
            changed: Signal::new("the CPU, taken by an interrupt handler"),
            user: Lock::new("the CPU, taken by another program"),
        }
    }

    /// Works for `span` of CPU time. User programs of one PE take turns.
    pub async fn work(&self, level: Level, span: Picos) {
        if level == Level::Handler {
            return self.host.delay(span).await;
        }
        let _turn = self.user.hold().await;
        let mut left = span;
        loop {
            while self.handling.get() {
                self.changed.changed().await;
            }
            if left == Picos::ZERO {
                return;
            }
            let start = self.host.now();
            match race(self.host.delay(left), self.changed.changed()).await {
                First::Left(()) => return,
                First::Right(()) => left = left.saturating_sub(self.host.now() - start),
            }
        }
    }

    /// Whether a handler has it.
    pub fn handling(&self) -> bool {
        self.handling.get()
    }

    /// The handler takes the CPU.
    pub fn enter(&self) {
        assert!(!self.handling.replace(true), "handlers do not nest");
        self.changed.notify();
    }

    /// The handler gives it back.
    pub fn leave(&self) {
        assert!(self.handling.replace(false));
        self.changed.notify();
    }

    /// Reads the register at `offset`: one external access, at the end of which the NIC answers.
    pub async fn read(&self, level: Level, offset: u32) -> u32 {
        let end = self.host.now() + self.access;
        self.work(level, self.access.saturating_sub(self.answer)).await;
        let value = self.host.reg_read(self.registers + u64::from(offset)).await;
        let value = value.expect("a register of the NIC");
        self.host.delay_until(end).await;
        value
    }

    /// Writes a register, the same way.
    pub async fn write(&self, level: Level, offset: u32, value: u32) {
        let end = self.host.now() + self.access;
        self.work(level, self.access.saturating_sub(self.answer)).await;
        let written = self.host.reg_write(self.registers + u64::from(offset), value).await;
        written.expect("a register of the NIC");
        self.host.delay_until(end).await;
    }
}

/// The time `bytes` take at `mb_s` (10^6 B/s).
pub fn at_rate(bytes: u32, mb_s: f64) -> Picos {
    Picos::from_us(f64::from(bytes) / mb_s)
}
