//! Runs programs on the golden model of `r3000` for another simulator to compare with: `testbenches/cpu_peer`.
//!
//! Standard input, in little-endian words: for each program its steps and the SRAM's words, then these. Standard
//! output: for each program the number of steps, before each step PC, HI, LO and the general registers, then whether
//! the last step trapped, and the SRAM. A loaded register has its new value at once.

use std::io::{self, Read, Write};

use tsunagi::r3000::golden::{Bus, BusError, Cpu};

/// Nothing answers.
struct NoBus;

impl Bus for NoBus {
    fn load(&mut self, _: u32, _: u8) -> Result<u32, BusError> {
        Err(BusError)
    }

    fn store(&mut self, _: u32, _: u8, _: u32) -> Result<(), BusError> {
        Err(BusError)
    }
}

/// The next word, unless the input ends.
fn word(input: &mut impl Read) -> io::Result<Option<u32>> {
    let mut bytes = [0; 4];
    match input.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(u32::from_le_bytes(bytes))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn main() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::BufWriter::new(io::stdout().lock()));
    while let Some(steps) = word(&mut input)? {
        let words = word(&mut input)?.unwrap_or(0);
        let sram: Option<Vec<u32>> = (0..words).map(|_| word(&mut input).ok().flatten()).collect();
        let Some(sram) = sram.filter(|sram| sram.len().is_power_of_two()) else {
            return Err(io::Error::other("a program is cut, or not a power of two words long"));
        };
        let mut cpu = Cpu::new(sram);
        let (mut said, mut trapped) = (Vec::new(), false);
        for _ in 0..steps {
            said.extend([cpu.pc, cpu.hi, cpu.lo]);
            said.extend(cpu.settled());
            trapped = cpu.step(&mut NoBus, false).trap.is_some();
            if trapped {
                break;
            }
        }
        let count = said.len() as u32 / 35;
        let all = [count]
            .into_iter()
            .chain(said)
            .chain([u32::from(trapped)])
            .chain(cpu.sram);
        let bytes: Vec<u8> = all.flat_map(u32::to_le_bytes).collect();
        output.write_all(&bytes)?;
        output.flush()?;
    }
    Ok(())
}
