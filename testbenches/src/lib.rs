//! The bench kit, and the verilated units that only benches need.
//!
//! A bench of a unit with one clock has five parts:
//!
//! 1. `struct In` and `struct Out`, all inputs and outputs of a cycle as values, and two functions over the ports of
//!    the unit with any parameters: `fn set(dut: &impl FifoPorts, inputs: &In)` and
//!    `fn seen(dut: &impl FifoPorts) -> Out`. `fn dut<U: FifoUnit>() -> Dut<In, Out>` joins them. It also has the
//!    parameters of the unit that the checks need. No other code is generic over units, so a further twin costs little
//!    to compile.
//! 2. [`rules!`]: the rules that the unit must keep.
//! 3. Checks: functions of a [`Dut`] and of [`Cases`]. Each case is a [`Run`]: it makes a [`Bench`], steps it together
//!    with the golden model, and ends with a [`Fault`] where a rule is broken.
//! 4. Tests: [`pass`] runs checks on the units.
//! 5. Twins: [`each_is_caught`] runs the same checks on units with one broken line.

pub mod axi;
mod cases;
mod dut;
mod fault;
pub mod gate;
pub mod mem;
pub mod pipe;
pub mod planted;

pub use cases::{Cases, Run, Start, Twin, assertion, check_wave, each_is_caught, failures, pass};
pub use dut::{Bench, Dut, Instance, PERIOD};
pub use fault::{Fault, Rule};

/// A unit's name: its type's without the path.
pub fn name<T>() -> &'static str {
    let path = std::any::type_name::<T>();
    path.rsplit("::").next().unwrap_or(path)
}

/// The group "bench" of `rtl/units.toml`: one struct for each unit and parameter set.
pub mod rtl {
    include!(concat!(env!("OUT_DIR"), "/units.rs"));
}
