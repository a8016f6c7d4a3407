//! What a program must do: the golden model, cycle by cycle.

use std::ops::Range;

use tsunagi::harness::seed::Rng;
use tsunagi::r3000::golden::{Bus, BusError, Cpu, Need, Work};
use tsunagi::r3000::timing::Timing;

use super::program::{Flavour, Image};

/// A bus access; the data are zero of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub write: bool,
    pub addr: u32,
    pub enables: u8,
    pub data: u32,
}

/// How the bus answers an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Cycles from the first in which the access is seen.
    pub latency: u64,
    pub data: u32,
    pub error: bool,
}

/// The answers of the bus to come.
#[derive(Clone, Debug)]
pub struct Plan {
    rng: Rng,
    slow: bool,
    fails: bool,
}

impl Plan {
    pub fn new(rng: Rng, slow: bool, flavour: Flavour) -> Plan {
        let fails = flavour != Flavour::Smooth;
        Plan { rng, slow, fails }
    }

    pub fn next(&mut self) -> Answer {
        let longest = match self.rng.below(8) {
            _ if !self.slow => 0,
            0 => 40,
            1..4 => 6,
            _ => 1,
        };
        Answer {
            latency: self.rng.between(0, longest),
            data: self.rng.bits() as u32,
            error: self.rng.chance(1, 16) && self.fails,
        }
    }
}

/// The bus, and the access of the instruction under way.
struct World {
    plan: Plan,
    access: Option<(Access, Answer)>,
}

impl World {
    fn access(&mut self, access: Access) -> Result<u32, BusError> {
        let answer = self.plan.next();
        self.access = Some((access, answer));
        if answer.error { Err(BusError) } else { Ok(answer.data) }
    }
}

impl Bus for World {
    fn load(&mut self, addr: u32, enables: u8) -> Result<u32, BusError> {
        self.access(Access {
            write: false,
            addr,
            enables,
            data: 0,
        })
    }

    fn store(&mut self, addr: u32, enables: u8, data: u32) -> Result<(), BusError> {
        let write = true;
        self.access(Access {
            write,
            addr,
            enables,
            data,
        })
        .map(drop)
    }
}

/// What is seen of a program, by the cycles since its start.
#[derive(Debug, Default)]
pub struct Expected {
    /// Cycle, address, and whether it traps.
    pub retired: Vec<(u64, u32, bool)>,
    /// The first cycle of each.
    pub accesses: Vec<(u64, Access)>,
    pub store_errors: Vec<u64>,
    pub waits: Vec<Range<u64>>,
    /// The cycle in which the program is stopped.
    pub last: u64,
    /// The memory then.
    pub sram: Vec<u32>,
}

/// When the interrupt line is high.
pub struct Line(Vec<Range<u64>>);

impl Line {
    /// Short and long times, with pauses of up to so many cycles between.
    pub fn new(rng: &mut Rng, pause: u64) -> Line {
        let (mut at, mut times) = (0, Vec::new());
        for _ in 0..60 {
            let from = at + rng.between(1, pause);
            let longest = if rng.chance(1, 4) { 150 } else { 3 };
            at = from + rng.between(1, longest);
            times.push(from..at);
        }
        Line(times)
    }

    pub fn is_high(&self, cycle: u64) -> bool {
        self.0.iter().any(|time| time.contains(&cycle))
    }
}

/// Runs the program until it ends, or until this cycle.
pub fn expect(image: Image, plan: Plan, line: &Line, limit: u64, cut: bool) -> Expected {
    let mut cpu = Cpu::new(image.sram);
    let mut world = World { plan, access: None };
    let mut timing = Timing::new(0);
    let mut expected = Expected {
        last: limit,
        ..Expected::default()
    };
    // The processor sees the line a cycle late.
    let irq = |cycle: u64| line.is_high(cycle - 1);
    let mut store_error = false;
    loop {
        let arrives = timing.arrives();
        if !cut && cpu.pc == image.end && expected.last == limit {
            expected.last = limit.min(arrives + 40);
        }
        let need = cpu.need();
        let executes = timing.executes(need).unwrap_or(u64::MAX);
        let until = executes.min(expected.last + 1);
        let at = (arrives..=until)
            .find(|&cycle| cpu.interrupts(irq(cycle)))
            .unwrap_or(executes);
        if need == Need::Interrupt {
            let quiet = (arrives + 2)
                .max(timing.hi_lo())
                .max(timing.bus() + u64::from(store_error));
            expected.waits.push(quiet..at.min(expected.last + 1).max(quiet));
        }
        if at > expected.last {
            break;
        }
        let retired = cpu.step(&mut world, irq(at));
        if retired.work == Work::LostStore {
            expected.store_errors.push(at + 1);
        }
        let access = world.access.take();
        let seen = timing.retires(at, &retired, |cycle| {
            let (access, answer) = access.expect("it has accessed the bus");
            expected.accesses.push((cycle, access));
            store_error = access.write && answer.error;
            if store_error {
                expected.store_errors.push(cycle + answer.latency + 1);
            }
            cycle + answer.latency
        });
        expected.retired.push((seen, retired.pc, retired.trap.is_some()));
    }
    expected.sram = cpu.sram;
    expected
}
