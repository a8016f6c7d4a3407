//! Transfers data from one PE's memory to another's by `mem_copyout`.

use super::host::{Emx, HostError, Place};
use super::library::layout;
use super::params::Config;
use crate::Picos;
use crate::harness::params::Table as _;
use crate::machine::{Carrier, MachineError, Route, poison};

/// Bytes of a window: source and destination lie one behind the other.
const WINDOW: u32 = 4 * ((1 << layout::MEMORY_BITS) - layout::BLOCKS) / 2;

/// Carries files from one PE to another by `mem_copyout`.
pub struct EmxCarrier {
    machine: Emx,
    from: u32,
    to: u32,
}

impl EmxCarrier {
    /// # Errors
    /// The settings make no machine.
    pub fn new(route: &Route<'_>) -> Result<EmxCarrier, MachineError> {
        let config = Config::of(route.settings)?;
        let machine = Emx::new(&config, route.backend)?;
        let [from, to] = [route.from, route.to].map(|node| u32::from(node.0));
        Ok(EmxCarrier { machine, from, to })
    }
}

impl Carrier for EmxCarrier {
    fn now(&self) -> Picos {
        self.machine.now()
    }

    fn window(&self) -> u32 {
        WINDOW
    }

    fn carry(&mut self, data: &[u8]) -> Result<Vec<u8>, MachineError> {
        Ok(transfer(&mut self.machine, (self.from, self.to), data)?)
    }
}

/// Moves bytes from one PE to another, by windows, and gives what is read back there.
///
/// # Errors
/// How the run ended.
pub fn transfer(machine: &mut Emx, (from, to): (u32, u32), data: &[u8]) -> Result<Vec<u8>, HostError> {
    let mut got = Vec::with_capacity(data.len());
    for window in data.chunks(WINDOW as usize) {
        let sent = words(window);
        let place = Place {
            words: sent.len() as u32,
            source: layout::BLOCKS,
            destination: layout::BLOCKS + WINDOW / 4,
        };
        machine.write(from, place.source, &sent)?;
        machine.write(to, place.destination, &words(&poison(window)))?;
        let arguments = vec![vec![from, to]; from.max(to) as usize + 1];
        machine.call_at("CARRY", &place, &arguments)?;
        let words = machine.read(to, place.destination, sent.len())?;
        got.extend(words.iter().flat_map(|word| word.to_le_bytes()).take(window.len()));
    }
    Ok(got)
}

/// Bytes as words, the first in the lowest place; the last word is filled with zeros.
fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |bytes: &[u8]| (0..).zip(bytes).map(|(at, byte)| u32::from(*byte) << (8 * at)).sum();
    bytes.chunks(4).map(word).collect()
}
