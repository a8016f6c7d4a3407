//! The on-chip processor in the model: the golden instruction set with its cycles, on the model's registers.

use std::cell::Cell;

use super::{Due, ModelMachine, timing};
use crate::Picos;
use crate::dimmnet1::regs::*;
use crate::dimmnet1::window::CardAccess;
use crate::harness::event::EventKind;
use crate::r3000::golden::{Bus, BusError, Cpu, Need};
use crate::r3000::timing::Timing;

/// Bit of an address that leads to the card's registers.
const REGISTERS: u32 = 1 << 31;

pub(super) struct Processor {
    /// Taken out while it executes.
    cpu: Option<Cpu>,
    timing: Timing,
    /// The interrupt line.
    line: bool,
    /// Instructions that were due before this one are not executed: the processor was stopped meanwhile.
    run: u64,
    /// It waits for an interrupt.
    waits: bool,
}

impl Processor {
    pub fn new() -> Processor {
        Processor {
            cpu: Some(Cpu::new(vec![0; SIZE_SRAM as usize / 4])),
            timing: Timing::new(0),
            line: false,
            run: 0,
            waits: false,
        }
    }

    fn sram(&mut self) -> &mut Vec<u32> {
        &mut self.cpu.as_mut().expect("it does not execute").sram
    }

    /// Two words of SRAM, by the host while the processor stands still.
    pub fn store_sram(&mut self, at: usize, value: u64) {
        self.sram()[at..at + 2].copy_from_slice(&[value as u32, (value >> 32) as u32]);
    }

    pub fn load_sram(&mut self, at: usize) -> u64 {
        let [low, high] = [self.sram()[at], self.sram()[at + 1]];
        u64::from(high) << 32 | u64::from(low)
    }

    /// For a hang report: where it is, if it does not wait.
    pub fn at(&self) -> Option<u32> {
        self.cpu.as_ref().filter(|_| !self.waits).map(|cpu| cpu.pc)
    }
}

/// The registers as the processor's bus reaches them, and how long the access took.
struct CardBus<'a> {
    machine: &'a mut ModelMachine,
    node: usize,
    cycles: &'a Cell<u64>,
}

impl Bus for CardBus<'_> {
    fn load(&mut self, addr: u32, _enables: u8) -> Result<u32, BusError> {
        let offset = addr & !REGISTERS;
        let (word, high) = (offset & !7, offset & 4 != 0);
        let card = &self.machine.cards[self.node];
        let value = if (LLCM..LLCM + SIZE_LLCM).contains(&word) {
            self.cycles.set(timing::CPU_LLCM);
            Some(card.load_llcm(word))
        } else if word < NODE {
            // The user's page is the host's.
            None
        } else {
            self.machine.register_read(self.node, word)
        };
        let value = value.ok_or(BusError)?;
        Ok(if high { (value >> 32) as u32 } else { value as u32 })
    }

    fn store(&mut self, addr: u32, enables: u8, data: u32) -> Result<(), BusError> {
        let offset = addr & !REGISTERS;
        let (word, high) = (offset & !7, offset & 4 != 0);
        let lane = if high { 4 } else { 0 };
        let stored = if (LLCM..LLCM + SIZE_LLCM).contains(&word) {
            let access = CardAccess {
                offset: word,
                strobes: enables << lane,
                store: Some(u64::from(data) << (8 * lane)),
            };
            self.machine.cards[self.node].store_llcm(word, access);
            true
        } else {
            enables == 0xf && self.machine.store_half(self.node, word, high, data)
        };
        if !stored {
            self.machine.lost_store(self.node);
        }
        stored.then_some(()).ok_or(BusError)
    }
}

impl ModelMachine {
    /// The processor writes half of a register. The half that is not written keeps its value, and the low half of a
    /// command starts it.
    fn store_half(&mut self, node: usize, offset: u32, high: bool, data: u32) -> bool {
        if offset < NODE {
            return false;
        }
        let held = *self.cards[node].halves.get(&offset).unwrap_or(&0);
        let held = self.register_read(node, offset).unwrap_or(held);
        let value = if high {
            held & u64::from(u32::MAX) | u64::from(data) << 32
        } else {
            held & !u64::from(u32::MAX) | u64::from(data)
        };
        self.cards[node].halves.insert(offset, value);
        let commands = [RVATLB + 16, PATLB + 8, TLB_FLUSH, RX_GO, RDMA_GO, BUILD_GO, CALL];
        if high && commands.contains(&offset) {
            return true;
        }
        self.register_write(node, offset, value, true)
    }

    /// A store of the processor was refused.
    fn lost_store(&mut self, node: usize) {
        let regs = &mut self.cards[node].regs;
        regs.cpu_errors = regs.cpu_errors.saturating_add(1);
        regs.status |= STATUS_CPU_MASK;
        super::bus::raises(self, node);
    }

    /// CONTROL.RUN may have changed.
    pub(super) fn run_changed(&mut self, node: usize, ran: bool) {
        let runs = self.cards[node].regs.runs();
        if runs == ran {
            return;
        }
        let cycle = self.cycle(self.now);
        let processor = &mut self.cards[node].cpu;
        processor.run += 1;
        processor.waits = false;
        if runs {
            if let Some(cpu) = &mut processor.cpu {
                cpu.reset();
            }
            processor.timing = Timing::new(cycle + timing::RUN);
            self.cpu_next(node);
        }
    }

    /// The processor's line may have changed.
    pub(super) fn cpu_line(&mut self, node: usize) {
        let card = &mut self.cards[node];
        let polls = card.regs.control & CONTROL_POLL_MASK != 0;
        card.cpu.line = !polls && (card.rx.is_stopped() || card.rdma.stop().is_some());
        if card.cpu.line && std::mem::take(&mut card.cpu.waits) {
            let (now, run) = (self.now, self.cards[node].cpu.run);
            self.at(now, Due::Cpu { node, run });
        }
    }

    /// Puts the next instruction into the agenda.
    fn cpu_next(&mut self, node: usize) {
        let processor = &mut self.cards[node].cpu;
        let Some(cpu) = &processor.cpu else { return };
        let need = if cpu.interrupts(processor.line) {
            Need::Nothing
        } else {
            cpu.need()
        };
        let Some(cycle) = processor.timing.executes(need) else {
            processor.waits = true;
            return;
        };
        let run = processor.run;
        let at = self.at_cycle(cycle).max(self.now);
        self.at(at, Due::Cpu { node, run });
    }

    /// The processor executes an instruction.
    pub(super) fn cpu(&mut self, node: usize, run: u64) {
        let processor = &mut self.cards[node].cpu;
        if processor.run != run || !self.cards[node].regs.runs() {
            return;
        }
        let Some(mut cpu) = self.cards[node].cpu.cpu.take() else {
            return;
        };
        let (line, cycle) = (self.cards[node].cpu.line, self.cycle(self.now));
        let cycles = Cell::new(timing::CPU_REGISTER);
        let mut bus = CardBus {
            machine: self,
            node,
            cycles: &cycles,
        };
        let retired = cpu.step(&mut bus, line);
        if retired.work == crate::r3000::golden::Work::LostStore {
            self.lost_store(node);
        }
        let card = &mut self.cards[node];
        card.cpu.cpu = Some(cpu);
        let at = card
            .cpu
            .timing
            .retires(cycle, &retired, |visible| visible + cycles.get());
        let (pc, trapped) = (retired.pc, retired.trap.is_some());
        let retires = self.at_cycle(at).max(self.now);
        self.note(retires, node, EventKind::Retire { pc, trapped });
        if self.cards[node].cpu.run == run {
            self.cpu_next(node);
        }
    }

    /// The number of the last edge of the core clock at or before `at`.
    fn cycle(&self, at: Picos) -> u64 {
        at.saturating_sub(self.config.core_phase).0 / self.config.core_period.0
    }

    fn at_cycle(&self, cycle: u64) -> Picos {
        self.config.core_phase + self.config.core_period * cycle
    }
}
