//! A unit with one clock: how its ports are set and read, an instance of it, and its cycles.

use std::fmt::Debug;

use tsunagi::harness::seed::Recorder;
use verilated::{Context, PortInfo, Unit, Verilated};

use crate::{Fault, Run, name};

/// Clock period, picoseconds.
pub const PERIOD: u64 = 10_000;

/// An instance: `I` are all inputs in a cycle, `O` all outputs that the bench looks at.
pub trait Instance<I, O> {
    fn set(&self, inputs: &I);
    fn seen(&self) -> O;
    fn verilated(&self) -> &dyn Verilated;
}

struct Pins<U: Unit, I, O> {
    unit: U,
    set: fn(&U::Ports, &I),
    seen: fn(&U::Ports) -> O,
}

impl<U: Unit, I, O> Instance<I, O> for Pins<U, I, O> {
    fn set(&self, inputs: &I) {
        (self.set)(&self.unit, inputs);
    }

    fn seen(&self) -> O {
        (self.seen)(&self.unit)
    }

    fn verilated(&self) -> &dyn Verilated {
        &self.unit
    }
}

/// A unit under test, of any parameter set or twin. Only its two functions are compiled for each unit; a bench is
/// written for a `Dut`, and compiled once.
pub struct Dut<I, O> {
    /// The unit's name in `units.toml`.
    pub name: &'static str,
    make: Box<Make<I, O>>,
}

/// Makes an instance of this name.
type Make<I, O> = dyn Fn(&Context, &str) -> Box<dyn Instance<I, O>>;

impl<I: 'static, O: 'static> Dut<I, O> {
    /// `set` drives all inputs but clock and reset; `seen` reads the outputs.
    pub fn of<U: Unit + 'static>(set: fn(&U::Ports, &I), seen: fn(&U::Ports) -> O) -> Dut<I, O> {
        Dut {
            name: name::<U>(),
            make: Box::new(move |context, name| {
                let unit = U::named(context, name);
                Box::new(Pins { unit, set, seen })
            }),
        }
    }

    /// An instance, for a bench with clocks of its own.
    pub fn instance(&self, context: &Context) -> Box<dyn Instance<I, O>> {
        self.named(context, "dut")
    }

    /// One of several instances in a simulation, which differ by their names.
    pub fn named(&self, context: &Context, name: &str) -> Box<dyn Instance<I, O>> {
        (self.make)(context, name)
    }

    /// Bits of a port, which follow from the unit's parameters.
    ///
    /// # Panics
    /// The unit has no such port.
    pub fn width(&self, port: &str) -> usize {
        let instance = self.instance(&Context::new());
        let found = instance.verilated().ports().iter().find(|info| info.name == port);
        found
            .unwrap_or_else(|| panic!("{} has no port `{port}`", self.name))
            .width
    }
}

/// An instance with its clock `clk_i`, its reset `rst_i` and its wave.
pub struct Bench<'a, I, O> {
    instance: Box<dyn Instance<I, O>>,
    reset: &'static PortInfo,
    wave: Recorder<'a>,
    cycle: u64,
}

impl<'a, I: 'static, O: PartialEq + Debug + 'static> Bench<'a, I, O> {
    /// An instance before its first edge. Its reset is off, its inputs are zero.
    ///
    /// # Panics
    /// The unit has no `rst_i`.
    pub fn new(run: &Run<'a>, dut: &Dut<I, O>) -> Bench<'a, I, O> {
        let instance = dut.instance(&run.context());
        let unit = instance.verilated();
        let reset = unit.ports().iter().find(|port| port.name == "rst_i");
        Bench {
            reset: reset.unwrap_or_else(|| panic!("{} has no port `rst_i`", dut.name)),
            wave: run.recorder(&[unit]),
            instance,
            cycle: 0,
        }
    }

    /// Cycles so far.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// The outputs as they are.
    pub fn seen(&self) -> O {
        self.instance.seen()
    }

    /// The instance, for code that works by port names.
    pub fn unit(&self) -> &dyn Verilated {
        self.instance.verilated()
    }

    /// A cycle with these inputs; its outputs before the edge.
    ///
    /// # Errors
    /// `Path`: an output follows an input within the cycle.
    pub fn step(&mut self, inputs: &I) -> Result<O, Fault> {
        self.registered(inputs, false)
    }

    /// The same with the reset on.
    ///
    /// # Errors
    /// As of [`step`](Bench::step).
    pub fn reset(&mut self, inputs: &I) -> Result<O, Fault> {
        self.registered(inputs, true)
    }

    /// As [`step`](Bench::step) or [`reset`](Bench::reset).
    ///
    /// # Errors
    /// As of [`step`](Bench::step).
    pub fn registered(&mut self, inputs: &I, reset: bool) -> Result<O, Fault> {
        let before = self.seen();
        self.drive(inputs, reset);
        let seen = self.seen();
        self.check_path(&before, &seen)?;
        self.edge();
        Ok(seen)
    }

    fn check_path(&self, before: &O, seen: &O) -> Result<(), Fault> {
        // Before the first edge the outputs may be anything.
        if self.cycle == 0 || before == seen {
            return Ok(());
        }
        Err(Fault {
            rule: "Path",
            what: format!("cycle {}: within the cycle {before:x?} becomes {seen:x?}", self.cycle),
        })
    }

    /// A cycle of a unit with a clock that may stop while `rests` holds for its outputs. Such a cycle has an edge only
    /// if `clocked`, and the edge changes no output.
    ///
    /// # Errors
    /// As of [`step`](Bench::step); `Rest`: an edge at rest changes an output.
    pub fn step_gated(&mut self, inputs: &I, rests: impl FnOnce(&O) -> bool, clocked: bool) -> Result<O, Fault> {
        let before = self.seen();
        self.drive(inputs, false);
        let seen = self.seen();
        self.check_path(&before, &seen)?;
        let rests = rests(&seen);
        if rests && !clocked {
            self.cycle += 1;
            return Ok(seen);
        }
        self.edge();
        let (after, cycle) = (self.seen(), self.cycle - 1);
        if rests && after != seen {
            return Err(Fault {
                rule: "Rest",
                what: format!("cycle {cycle}: at rest {seen:x?} becomes {after:x?}"),
            });
        }
        Ok(seen)
    }

    /// A cycle of a unit with outputs that may follow its inputs within the cycle.
    pub fn through(&mut self, inputs: &I, reset: bool) -> O {
        self.drive(inputs, reset);
        let seen = self.seen();
        self.edge();
        seen
    }

    /// The first half of a cycle: clock low, inputs set, outputs settled.
    pub fn drive(&mut self, inputs: &I, reset: bool) {
        self.instance.set(inputs);
        let unit = self.instance.verilated();
        unit.set_flag(self.reset, reset);
        unit.context().set_time(self.cycle * PERIOD);
        unit.junk();
        unit.fall(!0);
        self.wave.tick(unit.context().time());
    }

    /// The second half: the rising edge, with the inputs as they are.
    pub fn edge(&mut self) {
        let unit = self.instance.verilated();
        unit.context().set_time(self.cycle * PERIOD + PERIOD / 2);
        unit.junk();
        unit.rise(!0);
        self.wave.tick(unit.context().time());
        self.cycle += 1;
    }
}
