//! Golden model of `r3000`: MIPS I one instruction at a time, with load delay slots, exceptions and local SRAM.
//!
//! Source: Kane, Heinrich, MIPS RISC Architecture (1992), for the instructions; `docs/r3000.md` for what is our choice.

use std::fmt;

/// Where exceptions and interrupts go.
pub const VECTOR: u32 = 0x80;
/// Register PRId of coprocessor 0: an R3000A.
pub const PRID: u32 = 0x230;

/// Status: interrupts are enabled (IEc), and the mode is user (KUc).
const IE: u32 = 1;
const KU: u32 = 2;
/// Status: coprocessor 0 is usable in user mode.
const CU0: u32 = 1 << 28;
/// The bits of Status that exist.
const STATUS_BITS: u32 = CU0 | IP_BITS | 0x3f;
/// Cause, Status: interrupts, the lower two of them by software.
const IP_BITS: u32 = 7 << 8;
const IP_SOFTWARE: u32 = 3 << 8;
const IP_LINE: u32 = 4 << 8;
const BD: u32 = 1 << 31;

/// `b .`: with a `nop` behind it, the idiom of a program that waits for an interrupt.
const SELF_BRANCH: u32 = 0x1000_ffff;

/// The addresses with bit 31 set. All access whole words, of which byte enables select bytes.
pub trait Bus {
    /// # Errors
    /// Nothing answers at the address.
    fn load(&mut self, addr: u32, enables: u8) -> Result<u32, BusError>;

    /// # Errors
    /// Nothing answers at the address. The processor does not notice, but for its output `store_error_o`.
    fn store(&mut self, addr: u32, enables: u8, data: u32) -> Result<(), BusError>;
}

/// A bus access that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bus error")]
pub struct BusError;

/// Why an instruction traps; the value is Cause.ExcCode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Exception {
    Interrupt = 0,
    AddressLoad = 4,
    AddressStore = 5,
    BusFetch = 6,
    BusLoad = 7,
    Syscall = 8,
    Break = 9,
    Reserved = 10,
    Coprocessor = 11,
    Overflow = 12,
}

/// What an instruction did, for the [timing](super::timing).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Plain,
    /// Started the multiplier.
    Multiply,
    /// Started the divider.
    Divide,
    /// A load from the bus, failed or not.
    BusLoad,
    BusStore,
    /// A store to an address where nothing is.
    LostStore,
}

/// What an instruction needs before it can execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Nothing,
    /// Multiplier and divider at rest.
    HiLo,
    /// The bus at rest.
    Bus,
    /// An interrupt: the program waits for one.
    Interrupt,
}

/// An executed instruction, or one that trapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retired {
    pub pc: u32,
    pub trap: Option<Exception>,
    pub work: Work,
}

/// Progress of the program into the loop `1: b 1b; nop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loop {
    Outside,
    Branched,
    Closed,
}

/// A trap with its coprocessor number or bad address.
struct Trap {
    exception: Exception,
    coprocessor: u32,
    bad_addr: Option<u32>,
}

impl From<Exception> for Trap {
    fn from(exception: Exception) -> Trap {
        Trap {
            exception,
            coprocessor: 0,
            bad_addr: None,
        }
    }
}

/// The fields of an instruction.
#[derive(Clone, Copy)]
struct Word(u32);

impl Word {
    fn op(self) -> u32 {
        self.0 >> 26
    }
    fn rs(self) -> usize {
        (self.0 >> 21 & 31) as usize
    }
    fn rt(self) -> usize {
        (self.0 >> 16 & 31) as usize
    }
    fn rd(self) -> usize {
        (self.0 >> 11 & 31) as usize
    }
    fn shift(self) -> u32 {
        self.0 >> 6 & 31
    }
    fn funct(self) -> u32 {
        self.0 & 63
    }
    fn zero_extended(self) -> u32 {
        self.0 & 0xffff
    }
    fn sign_extended(self) -> u32 {
        i32::from(self.0 as i16) as u32
    }
    fn is_load(self) -> bool {
        (0x20..=0x26).contains(&self.op())
    }
    fn is_store(self) -> bool {
        matches!(self.op(), 0x28..=0x2b | 0x2e)
    }
}

/// The bytes of a word that a memory instruction accesses, and the part of the register that they are.
struct Lanes {
    enables: u8,
    /// The register's value turned left by so many bits stands at the lanes.
    turn: u32,
    /// The bits of the register that come from memory, of a load.
    mask: u32,
}

/// The lanes of the instruction with this opcode at this address; an error if it is not aligned.
fn lanes(op: u32, addr: u32) -> Option<Lanes> {
    let byte = addr & 3;
    let (enables, turn, mask) = match op & 7 {
        0 | 4 => (1 << byte, 8 * byte, 0xff),
        1 | 5 if byte & 1 == 0 => (3 << byte, 8 * byte, 0xffff),
        3 if byte == 0 => (15, 0, !0),
        2 => ((2 << byte) - 1, 8 * (byte + 1), !0 << (24 - 8 * byte)),
        6 => (15 << byte & 15, 8 * byte, !0 >> (8 * byte)),
        _ => return None,
    };
    Some(Lanes { enables, turn, mask })
}

/// The processor and its SRAM.
#[derive(Clone)]
pub struct Cpu {
    pub regs: [u32; 32],
    pub hi: u32,
    pub lo: u32,
    /// Address of the next instruction, and of the one behind it.
    pub pc: u32,
    next_pc: u32,
    /// The next instruction is in a branch's delay slot.
    in_slot: bool,
    /// The register that the previous instruction loads, and its new value: the next one does not see it.
    delayed: Option<(usize, u32)>,
    status: u32,
    cause: u32,
    epc: u32,
    bad_addr: u32,
    waits: Loop,
    pub sram: Vec<u32>,
}

impl fmt::Debug for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cpu")
            .field("pc", &format_args!("{:#x}", self.pc))
            .field("regs", &format_args!("{:x?}", self.regs))
            .finish_non_exhaustive()
    }
}

impl Cpu {
    /// A processor after reset, with this SRAM. General registers are zero, where the hardware leaves them as they are.
    ///
    /// # Panics
    /// The words are not a power of two.
    pub fn new(sram: Vec<u32>) -> Cpu {
        assert!(sram.len().is_power_of_two(), "{} words of SRAM", sram.len());
        Cpu {
            regs: [0; 32],
            hi: 0,
            lo: 0,
            pc: 0,
            next_pc: 4,
            in_slot: false,
            delayed: None,
            status: 0,
            cause: 0,
            epc: 0,
            bad_addr: 0,
            waits: Loop::Outside,
            sram,
        }
    }

    /// Reset as by `run_i`: SRAM and general registers keep their values.
    pub fn reset(&mut self) {
        let regs = self.regs;
        *self = Cpu::new(std::mem::take(&mut self.sram));
        self.regs = regs;
    }

    /// The general registers, with the value of a load that the next instruction does not see.
    pub fn settled(&self) -> [u32; 32] {
        let mut regs = self.regs;
        if let Some((register, value)) = self.delayed.filter(|&(register, _)| register != 0) {
            regs[register] = value;
        }
        regs
    }

    /// A register of coprocessor 0, with the interrupt line as it is.
    pub fn cp0(&self, number: usize, irq: bool) -> u32 {
        match number {
            8 => self.bad_addr,
            12 => self.status,
            13 => self.cause | if irq { IP_LINE } else { 0 },
            14 => self.epc,
            15 => PRID,
            _ => 0,
        }
    }

    /// Whether the next instruction is interrupted when the line is so.
    pub fn interrupts(&self, irq: bool) -> bool {
        self.status & IE != 0 && self.cp0(13, irq) & self.status & IP_BITS != 0
    }

    /// What the next instruction needs, if no interrupt comes before.
    pub fn need(&self) -> Need {
        let Ok(word) = self.fetch() else { return Need::Nothing };
        let is_hi_lo = word.op() == 0 && matches!(word.funct(), 0x10..=0x13 | 0x18..=0x1b);
        if is_hi_lo {
            return Need::HiLo;
        }
        if self.status & IE != 0 && self.waits == Loop::Closed && word.0 == SELF_BRANCH {
            return Need::Interrupt;
        }
        if (word.is_load() || word.is_store()) && lanes(word.op(), self.addr(word)).is_some() {
            let addr = self.addr(word);
            if self.sram_index(addr).is_none() && !self.is_forbidden(addr) {
                return Need::Bus;
            }
        }
        Need::Nothing
    }

    /// Executes an instruction, or takes the interrupt before it.
    pub fn step(&mut self, bus: &mut impl Bus, irq: bool) -> Retired {
        let pc = self.pc;
        let in_slot = self.in_slot;
        // A load's value arrives behind the instruction in its delay slot, and one that this instruction writes wins.
        let arriving = self.delayed.take();
        let mut work = Work::Plain;
        let result = if self.interrupts(irq) {
            Err(Exception::Interrupt.into())
        } else {
            self.fetch().and_then(|word| {
                self.note_loop(word, in_slot);
                self.execute(word, arriving, bus, irq, &mut work)
            })
        };
        match result {
            Ok(written) => {
                self.write(arriving);
                self.write(written);
                Retired { pc, trap: None, work }
            }
            Err(trap) => {
                self.write(arriving);
                self.enter(&trap, pc, in_slot);
                Retired {
                    pc,
                    trap: Some(trap.exception),
                    work,
                }
            }
        }
    }

    fn write(&mut self, written: Option<(usize, u32)>) {
        if let Some((register, value)) = written.filter(|&(register, _)| register != 0) {
            self.regs[register] = value;
        }
    }

    fn enter(&mut self, trap: &Trap, pc: u32, in_slot: bool) {
        self.epc = if in_slot { pc.wrapping_sub(4) } else { pc };
        let branch = if in_slot { BD } else { 0 };
        self.cause = branch | trap.coprocessor << 28 | self.cause & IP_SOFTWARE | (trap.exception as u32) << 2;
        self.bad_addr = trap.bad_addr.unwrap_or(self.bad_addr);
        self.status = self.status & !0x3f | self.status << 2 & 0x3c;
        self.pc = VECTOR;
        self.next_pc = VECTOR + 4;
        self.in_slot = false;
        self.waits = Loop::Outside;
    }

    fn note_loop(&mut self, word: Word, in_slot: bool) {
        self.waits = match (word.0, self.waits) {
            // In a delay slot it has another slot than the nop behind it.
            (SELF_BRANCH, _) if !in_slot => Loop::Branched,
            (0, Loop::Branched) => Loop::Closed,
            _ => Loop::Outside,
        };
    }

    /// Whether the mode forbids the address.
    fn is_forbidden(&self, addr: u32) -> bool {
        self.status & KU != 0 && addr >> 31 != 0
    }

    fn sram_index(&self, addr: u32) -> Option<usize> {
        let index = (addr >> 2) as usize;
        (index < self.sram.len()).then_some(index)
    }

    fn fetch(&self) -> Result<Word, Trap> {
        if self.pc & 3 != 0 || self.is_forbidden(self.pc) {
            return Err(address_error(Exception::AddressLoad, self.pc));
        }
        let index = self.sram_index(self.pc).ok_or(Exception::BusFetch)?;
        Ok(Word(self.sram[index]))
    }

    fn addr(&self, word: Word) -> u32 {
        self.regs[word.rs()].wrapping_add(word.sign_extended())
    }

    /// The register that the instruction writes at once, and its value.
    fn execute(
        &mut self,
        word: Word,
        arriving: Option<(usize, u32)>,
        bus: &mut impl Bus,
        irq: bool,
        work: &mut Work,
    ) -> Result<Option<(usize, u32)>, Trap> {
        let pc = self.pc;
        // A link is the address behind the delay slot, wherever that is.
        let link = self.next_pc.wrapping_add(4);
        // The place of the next two instructions is settled before it is known that this one does not trap: a trap
        // overwrites it.
        self.pc = self.next_pc;
        self.next_pc = self.next_pc.wrapping_add(4);
        self.in_slot = false;
        let (a, b) = (self.regs[word.rs()], self.regs[word.rt()]);
        let (imm, unsigned) = (word.sign_extended(), word.zero_extended());
        let value = match word.op() {
            0x00 => return self.special(word, link, work),
            0x01 => return self.compare_with_zero(word, pc, link),
            0x02 | 0x03 => {
                self.branch(true, pc.wrapping_add(4) & 0xf000_0000 | word.0 << 6 >> 4);
                return Ok((word.op() == 3).then_some((31, link)));
            }
            0x04..=0x07 => {
                let taken = match word.op() {
                    0x04 => a == b,
                    0x05 => a != b,
                    0x06 => a as i32 <= 0,
                    _ => a as i32 > 0,
                };
                self.branch(taken, relative(word, pc));
                return Ok(None);
            }
            0x08 => (a as i32).checked_add(imm as i32).ok_or(Exception::Overflow)? as u32,
            0x09 => a.wrapping_add(imm),
            0x0a => u32::from((a as i32) < imm as i32),
            0x0b => u32::from(a < imm),
            0x0c => a & unsigned,
            0x0d => a | unsigned,
            0x0e => a ^ unsigned,
            // An OR: the register field must be 0 in MIPS I.
            0x0f => a | unsigned << 16,
            0x10 => return self.system(word, irq).map(|()| None),
            0x11..=0x13 | 0x31..=0x33 | 0x39..=0x3b => return Err(unusable(word.op() & 3)),
            _ if word.is_load() => {
                return self.load(word, arriving, bus, work).map(|()| None);
            }
            _ if word.is_store() => return self.store(word, bus, work).map(|()| None),
            _ => return Err(Exception::Reserved.into()),
        };
        Ok(Some((word.rt(), value)))
    }

    fn branch(&mut self, taken: bool, target: u32) {
        self.in_slot = true;
        if taken {
            self.next_pc = target;
        }
    }

    fn special(&mut self, word: Word, link: u32, work: &mut Work) -> Result<Option<(usize, u32)>, Trap> {
        let (a, b) = (self.regs[word.rs()], self.regs[word.rt()]);
        let value = match word.funct() {
            0x00 => b << word.shift(),
            0x02 => b >> word.shift(),
            0x03 => (b as i32 >> word.shift()) as u32,
            0x04 => b << (a & 31),
            0x06 => b >> (a & 31),
            0x07 => (b as i32 >> (a & 31)) as u32,
            0x08 | 0x09 => {
                self.branch(true, a);
                return Ok((word.funct() == 9).then_some((word.rd(), link)));
            }
            0x0c => return Err(Exception::Syscall.into()),
            0x0d => return Err(Exception::Break.into()),
            0x10 => self.hi,
            0x12 => self.lo,
            0x11 | 0x13 | 0x18..=0x1b => {
                self.set_hi_lo(word.funct(), a, b, work);
                return Ok(None);
            }
            0x20 => (a as i32).checked_add(b as i32).ok_or(Exception::Overflow)? as u32,
            0x21 => a.wrapping_add(b),
            0x22 => (a as i32).checked_sub(b as i32).ok_or(Exception::Overflow)? as u32,
            0x23 => a.wrapping_sub(b),
            0x24 => a & b,
            0x25 => a | b,
            0x26 => a ^ b,
            0x27 => !(a | b),
            0x2a => u32::from((a as i32) < b as i32),
            0x2b => u32::from(a < b),
            _ => return Err(Exception::Reserved.into()),
        };
        Ok(Some((word.rd(), value)))
    }

    fn set_hi_lo(&mut self, funct: u32, a: u32, b: u32, work: &mut Work) {
        let (signed_a, signed_b) = (i64::from(a as i32), i64::from(b as i32));
        match funct {
            0x11 => self.hi = a,
            0x13 => self.lo = a,
            0x18 | 0x19 => {
                let product = if funct == 0x18 {
                    (signed_a * signed_b) as u64
                } else {
                    u64::from(a) * u64::from(b)
                };
                (self.hi, self.lo) = ((product >> 32) as u32, product as u32);
                *work = Work::Multiply;
            }
            _ => {
                // A division by zero gives what the subtractions of the R3000 give.
                (self.hi, self.lo) = match (funct, b) {
                    (0x1a, 0) => (a, if signed_a < 0 { 1 } else { !0 }),
                    (_, 0) => (a, !0),
                    (0x1a, _) => ((signed_a % signed_b) as u32, (signed_a / signed_b) as u32),
                    _ => (a % b, a / b),
                };
                *work = Work::Divide;
            }
        }
    }

    fn compare_with_zero(&mut self, word: Word, pc: u32, link: u32) -> Result<Option<(usize, u32)>, Trap> {
        if word.rt() & 0b01110 != 0 {
            return Err(Exception::Reserved.into());
        }
        let is_negative = (self.regs[word.rs()] as i32) < 0;
        self.branch(is_negative == (word.rt() & 1 == 0), relative(word, pc));
        Ok((word.rt() & 16 != 0).then_some((31, link)))
    }

    /// Coprocessor 0.
    fn system(&mut self, word: Word, irq: bool) -> Result<(), Trap> {
        if self.status & KU != 0 && self.status & CU0 == 0 {
            return Err(unusable(0));
        }
        let value = self.regs[word.rt()];
        match (word.rs(), word.rd()) {
            (0, number) => self.delayed = Some((word.rt(), self.cp0(number, irq))),
            (4, 12) => self.status = value & STATUS_BITS,
            (4, 13) => self.cause = self.cause & !IP_SOFTWARE | value & IP_SOFTWARE,
            (4, _) => (),
            (16.., _) if word.funct() == 0x10 => self.status = self.status & !0xf | self.status >> 2 & 0xf,
            _ => return Err(Exception::Reserved.into()),
        }
        Ok(())
    }

    fn load(
        &mut self,
        word: Word,
        arriving: Option<(usize, u32)>,
        bus: &mut impl Bus,
        work: &mut Work,
    ) -> Result<(), Trap> {
        let addr = self.addr(word);
        let lanes = lanes(word.op(), addr)
            .filter(|_| !self.is_forbidden(addr))
            .ok_or_else(|| address_error(Exception::AddressLoad, addr))?;
        let memory = match self.sram_index(addr) {
            Some(index) => self.sram[index],
            None if addr >> 31 == 0 => return Err(Exception::BusLoad.into()),
            None => {
                *work = Work::BusLoad;
                bus.load(addr & !3, lanes.enables).map_err(|_| Exception::BusLoad)?
            }
        };
        let turned = memory.rotate_right(lanes.turn);
        let value = match word.op() {
            0x20 => i32::from(turned as i8) as u32,
            0x21 => i32::from(turned as i16) as u32,
            0x22 | 0x26 => {
                // One of a pair sees what its predecessor loads.
                let old = match arriving {
                    Some((register, value)) if register == word.rt() => value,
                    _ => self.regs[word.rt()],
                };
                turned & lanes.mask | old & !lanes.mask
            }
            _ => turned & lanes.mask,
        };
        self.delayed = Some((word.rt(), value));
        Ok(())
    }

    fn store(&mut self, word: Word, bus: &mut impl Bus, work: &mut Work) -> Result<(), Trap> {
        let addr = self.addr(word);
        let lanes = lanes(word.op(), addr)
            .filter(|_| !self.is_forbidden(addr))
            .ok_or_else(|| address_error(Exception::AddressStore, addr))?;
        let data = self.regs[word.rt()].rotate_left(lanes.turn);
        match self.sram_index(addr) {
            Some(index) => {
                let mask = (0..4).filter(|lane| lanes.enables >> lane & 1 != 0);
                let mask = mask.fold(0, |mask, lane| mask | 0xff << (8 * lane));
                self.sram[index] = self.sram[index] & !mask | data & mask;
            }
            None if addr >> 31 == 0 => *work = Work::LostStore,
            None => {
                *work = Work::BusStore;
                // The store was posted: its error changes nothing here.
                let _: Result<(), BusError> = bus.store(addr & !3, lanes.enables, data);
            }
        }
        Ok(())
    }
}

fn relative(word: Word, pc: u32) -> u32 {
    pc.wrapping_add(4).wrapping_add(word.sign_extended() << 2)
}

fn address_error(exception: Exception, addr: u32) -> Trap {
    Trap {
        bad_addr: Some(addr),
        ..exception.into()
    }
}

fn unusable(coprocessor: u32) -> Trap {
    Trap {
        coprocessor,
        ..Exception::Coprocessor.into()
    }
}
