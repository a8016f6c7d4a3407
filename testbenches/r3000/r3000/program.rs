//! Random programs: every instruction, traps of every kind, and a handler that logs and goes on.

use std::iter::zip;

use tsunagi::harness::seed::Rng;

/// Words of SRAM, and where things stand in it.
pub const WORDS: usize = 1024;
const HANDLER: usize = 0x80 / 4;
const BODY: usize = 0x200 / 4;
const BODY_END: usize = 0xa00 / 4;
/// Stores go to here and up to the log.
const DATA: i16 = 0xc00;
const LOG: u32 = 0xe00;

// Registers with a purpose. Random instructions write the lower ones and the last.
const RANDOM: u64 = 23;
/// Where a handler returns to, unless it is zero.
const RESUME: u32 = 24;
const LOG_AT: u32 = 25;
const K0: u32 = 26;
const K1: u32 = 27;
const DATA_BASE: u32 = 28;
const BUS_BASE: u32 = 29;
const COUNT: u32 = 30;

const STATUS: u32 = 12;
const CAUSE: u32 = 13;

fn immediate(op: u32, rs: u32, rt: u32, imm: u32) -> u32 {
    op << 26 | rs << 21 | rt << 16 | imm & 0xffff
}

fn register(funct: u32, rs: u32, rt: u32, rd: u32) -> u32 {
    rs << 21 | rt << 16 | rd << 11 | funct
}

fn jump(op: u32, index: usize) -> u32 {
    op << 26 | index as u32
}

fn from_system(rt: u32, number: u32) -> u32 {
    0x10 << 26 | rt << 16 | number << 11
}

fn to_system(rt: u32, number: u32) -> u32 {
    0x10 << 26 | 4 << 21 | rt << 16 | number << 11
}

const NOP: u32 = 0;
const SELF_BRANCH: u32 = 0x1000_ffff;
const RETURN_MODE: u32 = 0x4200_0010;

/// What a program is made of, beside the ordinary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Everything.
    Mixed,
    /// No traps and no waits: what a handler of messages looks like.
    Smooth,
    /// It waits for interrupts, again and again.
    Waiting,
}

/// A program under construction.
struct Program<'a> {
    rng: &'a mut Rng,
    flavour: Flavour,
    words: Vec<u32>,
    at: usize,
}

/// The SRAM with a program, and the address of the loop at its end.
#[derive(Clone, Debug)]
pub struct Image {
    pub sram: Vec<u32>,
    pub end: u32,
}

pub fn program(rng: &mut Rng, flavour: Flavour) -> Image {
    let mut words: Vec<u32> = (0..WORDS).map(|_| rng.bits() as u32).collect();
    words[0] = jump(2, BODY);
    words[1] = NOP;
    let length = rng.between(30, 300) as usize;
    let mut program = Program {
        rng,
        flavour,
        words,
        at: HANDLER,
    };
    program.handler();
    assert!(program.at <= BODY, "the handler fits");
    program.at = BODY;
    program.prologue();
    let end = program.at + length;
    while program.at < end {
        program.block();
    }
    program.epilogue();
    assert!(program.at <= BODY_END, "the program fits");
    Image {
        end: 4 * (program.at as u32 - 2),
        sram: program.words,
    }
}

impl Program<'_> {
    fn put(&mut self, words: &[u32]) {
        self.words[self.at..self.at + words.len()].copy_from_slice(words);
        self.at += words.len();
    }

    fn below(&mut self, n: u64) -> u32 {
        self.rng.below(n) as u32
    }

    fn chance(&mut self, n: u64, of: u64) -> bool {
        self.rng.chance(n, of)
    }

    /// Any register to read. Those with a purpose are among them.
    fn source(&mut self) -> u32 {
        if self.chance(1, 8) {
            self.below(32)
        } else {
            1 + self.below(8)
        }
    }

    /// A register to write; often one of few, so that instructions depend on each other.
    fn target(&mut self) -> u32 {
        match self.below(16) {
            0 => 0,
            1 => 31,
            2..5 => self.below(RANDOM + 1),
            _ => 1 + self.below(8),
        }
    }

    /// Sets the register to an address.
    fn set(&mut self, register: u32, value: u32) {
        self.put(&[
            immediate(0x0f, 0, register, value >> 16),
            immediate(0x0d, register, register, value),
        ]);
    }

    /// Logs Cause, EPC, BadVAddr and Status, and goes on: at RESUME if there is one, else at the interrupted
    /// instruction, or behind the one that trapped.
    fn handler(&mut self) {
        self.put(&[
            from_system(K0, 14),
            from_system(K1, CAUSE),
            immediate(0x2b, LOG_AT, K0, 4),
            immediate(0x2b, LOG_AT, K1, 0),
            from_system(K1, 8),
            from_system(K0, STATUS),
            immediate(0x2b, LOG_AT, K1, 8),
            immediate(0x2b, LOG_AT, K0, 12),
            immediate(0x09, LOG_AT, LOG_AT, 16),
            immediate(0x0d, LOG_AT, LOG_AT, LOG),
            immediate(0x0c, LOG_AT, LOG_AT, 0xfff),
            to_system(0, CAUSE),
        ]);
        // Some handlers leave user mode at once.
        if self.chance(2, 3) {
            self.put(&[
                from_system(K0, STATUS),
                NOP,
                immediate(0x0c, K0, K0, 0xfff7),
                to_system(K0, STATUS),
            ]);
        }
        self.put(&[
            from_system(K1, CAUSE),
            from_system(K0, 14),
            // To the way out that fits.
            immediate(0x05, RESUME, 0, 13),
            immediate(0x0c, K1, K1, 0x7c),
            immediate(0x04, K1, 0, 8),
            from_system(K1, CAUSE),
            NOP,
            immediate(0x01, K1, 0, 3),
            immediate(0x09, K0, K0, 4),
            register(0x08, K0, 0, 0),
            RETURN_MODE,
            immediate(0x09, K0, K0, 4),
            NOP,
            register(0x08, K0, 0, 0),
            RETURN_MODE,
            NOP,
            immediate(0x0d, RESUME, K0, 0),
            immediate(0x0d, 0, RESUME, 0),
            register(0x08, K0, 0, 0),
            RETURN_MODE,
        ]);
    }

    /// General registers have no value after a reset.
    fn prologue(&mut self) {
        for register in 1..32 {
            let value = match self.below(3) {
                0 => self.rng.bits() as u32,
                1 => self.below(8).wrapping_sub(4),
                _ => DATA as u32 + self.below(64),
            };
            self.set(register, value);
        }
        self.set(RESUME, 0);
        self.set(LOG_AT, LOG);
        self.set(DATA_BASE, DATA as u32);
        let bus = 0x8000_0000 | self.rng.bits() as u32 & 0x7ffe_fffc;
        self.set(BUS_BASE, bus);
    }

    /// Puts all registers into memory, and ends in a loop.
    fn epilogue(&mut self) {
        for register in 1..32 {
            self.put(&[immediate(0x2b, DATA_BASE, register, 0u32.wrapping_sub(4 * register))]);
        }
        self.put(&[
            register(0x10, 0, 0, 1),
            register(0x12, 0, 0, 2),
            immediate(0x2b, DATA_BASE, 1, 0xff00),
            immediate(0x2b, DATA_BASE, 2, 0xff04),
            from_system(3, STATUS),
            NOP,
            immediate(0x2b, DATA_BASE, 3, 0xff08),
            SELF_BRANCH,
            NOP,
        ]);
    }

    /// A few instructions that belong together.
    fn block(&mut self) {
        let kinds = match self.flavour {
            Flavour::Smooth => 20,
            _ => 29,
        };
        match self.below(kinds) {
            0..=11 => {
                let word = self.plain();
                self.put(&[word]);
            }
            12 | 13 => self.forward(),
            14 => self.count_down(),
            15 => self.call(),
            16 | 17 => self.pair(),
            18 => self.depend(),
            19 => self.compute(),
            20 => {
                let word = self.trap();
                self.put(&[word]);
            }
            21 => self.stray(),
            22 => self.lost_store(),
            23 | 24 => self.modes(),
            25 => {
                let [number, target] = [8 + self.below(8), self.target()];
                self.put(&[from_system(target, number)]);
            }
            26 => {
                let word = if self.chance(1, 2) {
                    RETURN_MODE
                } else {
                    to_system(self.below(32), CAUSE)
                };
                self.put(&[word]);
            }
            _ if self.flavour == Flavour::Waiting || self.chance(1, 4) => self.wait(),
            _ => self.put(&[NOP]),
        }
    }

    /// An instruction that goes on to the next one. It traps at most in a mixed program.
    fn plain(&mut self) -> u32 {
        let [rs, rt, rd] = [self.source(), self.source(), self.target()];
        match self.below(16) {
            0..=3 => {
                let functs = [0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2a, 0x2b, 0x20, 0x22];
                let usable = if self.flavour == Flavour::Smooth { 8 } else { 10 };
                register(functs[self.below(usable) as usize], rs, rt, rd)
            }
            4..=6 => {
                let ops = [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x08];
                let usable = if self.flavour == Flavour::Smooth { 7 } else { 8 };
                let imm = self.rng.bits() as u32;
                immediate(ops[self.below(usable) as usize], rs, rd, imm)
            }
            7 | 8 => {
                let funct = [0, 2, 3, 4, 6, 7][self.below(6) as usize];
                register(funct, rs, rt, rd) | if funct < 4 { self.below(32) << 6 } else { 0 }
            }
            9 => {
                // The divider is slow.
                let funct = if self.chance(1, 3) {
                    0x18 + self.below(4)
                } else {
                    0x10 + self.below(4)
                };
                register(funct, rs, rt, rd)
            }
            _ => self.memory(),
        }
    }

    /// An access of the data, of the bus, or of anything.
    fn memory(&mut self) -> u32 {
        let is_store = self.chance(2, 5);
        let op = if is_store {
            [0x28, 0x29, 0x2a, 0x2b, 0x2b, 0x2e][self.below(6) as usize]
        } else {
            [0x20, 0x21, 0x22, 0x23, 0x23, 0x24, 0x25, 0x26][self.below(8) as usize]
        };
        let mut offset = self.below(0x1f0).wrapping_sub(0xf8);
        if self.flavour == Flavour::Smooth || !self.chance(1, 12) {
            offset &= match op & 7 {
                1 | 5 => !1,
                3 => !3,
                _ => !0,
            };
        }
        let base = match self.below(8) {
            0..3 => BUS_BASE,
            3 if !is_store && self.flavour != Flavour::Smooth => self.source(),
            _ => DATA_BASE,
        };
        let register = if is_store { self.source() } else { self.target() };
        immediate(op, base, register, offset)
    }

    /// A branch over some instructions; now and then its delay slot traps or branches, too.
    fn forward(&mut self) {
        let length = self.rng.between(1, 4) as usize;
        let [rs, rt] = [self.source(), self.source()];
        let to = self.at + length + 1;
        let offset = length as u32 + 1;
        let branch = match self.below(11) {
            0 => jump(2, to),
            1 => jump(3, to),
            2 => immediate(1, rs, 16, offset),
            3 => immediate(1, rs, 17, offset),
            4 => immediate(1, rs, 0, offset),
            5 => immediate(1, rs, 1, offset),
            6 => immediate(6, rs, 0, offset),
            7 => immediate(7, rs, 0, offset),
            8 => immediate(4, rs, rs, offset),
            9 => immediate(4, rs, rt, offset),
            _ => immediate(5, rs, rt, offset),
        };
        let slot = match self.below(12) {
            0 if self.flavour != Flavour::Smooth => self.trap(),
            1 if self.flavour != Flavour::Smooth => immediate(5, rs, rt, 2),
            _ => self.plain(),
        };
        self.put(&[branch, slot]);
        for _ in 0..length {
            let word = self.plain();
            self.put(&[word]);
        }
    }

    /// A loop with a counter; the counting is in the delay slot.
    fn count_down(&mut self) {
        let (count, length) = (self.rng.between(1, 5) as u32, self.rng.between(1, 4) as u32);
        self.put(&[immediate(0x09, 0, COUNT, count)]);
        for _ in 0..length {
            let word = self.plain();
            self.put(&[word]);
        }
        let back = 0u32.wrapping_sub(length + 1);
        self.put(&[immediate(7, COUNT, 0, back), immediate(0x09, COUNT, COUNT, 0xffff)]);
    }

    /// A jump to an address in a register, which may be loaded just before.
    fn call(&mut self) {
        let link = [0, 31, 1 + self.below(8)][self.below(3) as usize];
        let slot = self.plain();
        let word = self.plain();
        let to = 4 * (self.at as u32 + 5);
        self.set(23, to);
        self.put(&[register(0x09, 23, 0, link), slot, word]);
    }

    /// The two halves of an unaligned access, one behind the other.
    fn pair(&mut self) {
        let bases = [[DATA_BASE, DATA_BASE], [BUS_BASE, BUS_BASE], [DATA_BASE, BUS_BASE]][self.below(3) as usize];
        let (target, offset) = (self.target(), self.below(0xf0));
        let mut halves = if self.chance(2, 3) {
            [(0x22, offset + 3), (0x26, offset)]
        } else {
            [(0x2a, offset + 3), (0x2e, offset)]
        };
        if self.chance(1, 2) {
            halves.swap(0, 1);
        }
        // The second half may have to wait for a store that was posted.
        if self.chance(1, 2) {
            self.put(&[immediate(0x2b, BUS_BASE, target, 0)]);
        }
        let halves: Vec<u32> = zip(halves, bases)
            .map(|((op, offset), base)| immediate(op, base, target, offset))
            .collect();
        self.put(&halves);
    }

    /// A load, and instructions that use its register at once and later.
    fn depend(&mut self) {
        let target = 1 + self.below(8);
        let base = if self.chance(1, 3) { BUS_BASE } else { DATA_BASE };
        let offset = 4 * self.below(32);
        self.put(&[immediate(0x23, base, target, offset)]);
        for _ in 0..2 {
            let word = match self.below(4) {
                0 => immediate(0x2b, DATA_BASE, target, offset + 4),
                1 => register(0x21, target, target, 1 + self.below(8)),
                2 => immediate(0x0d, 0, target, offset),
                _ => register(0x26, target, self.source(), target),
            };
            self.put(&[word]);
        }
    }

    /// A product or a quotient, which is read at once.
    fn compute(&mut self) {
        let [rs, rt, low, high] = [self.source(), self.source(), self.target(), self.target()];
        let funct = 0x18 + self.below(4);
        self.put(&[
            register(funct, rs, rt, 0),
            register(0x12, 0, 0, low),
            register(0x10, 0, 0, high),
        ]);
    }

    /// An instruction that traps.
    fn trap(&mut self) -> u32 {
        let bits = self.rng.bits() as u32;
        match self.below(7) {
            0 => 0x0c | bits & 0x03ff_ffc0,
            1 => 0x0d | bits & 0x03ff_ffc0,
            2 => [0x11, 0x12, 0x13, 0x31, 0x33, 0x3b][self.below(6) as usize] << 26 | bits & 0x03ff_ffff,
            3 => [0x14, 0x18, 0x27, 0x2c, 0x30, 0x3f][self.below(6) as usize] << 26 | bits & 0x03ff_ffff,
            4 => bits & 0x03ff_ffc0 | [0x01, 0x05, 0x0a, 0x14, 0x1c, 0x28, 0x3f][self.below(7) as usize],
            5 => 0x0400_0000 | bits & 0x03e0_ffff | [2, 8, 14, 18, 30][self.below(5) as usize] << 16,
            _ => 0x4100_0000 | bits & 0xffff,
        }
    }

    /// A jump to an address without an instruction.
    fn stray(&mut self) {
        let to = match self.below(4) {
            0 => self.rng.bits() as u32,
            1 => 4 * self.at as u32 + 2,
            2 => 4 * WORDS as u32,
            _ => 0x8000_0000,
        };
        let after = 4 * (self.at as u32 + 6);
        self.set(22, to);
        self.set(RESUME, after);
        self.put(&[register(0x08, 22, 0, 0), NOP]);
    }

    /// A store to an address where nothing is.
    fn lost_store(&mut self) {
        let source = self.source();
        let upper = [0x7fff, 0x1000, 0x0001][self.below(3) as usize];
        self.put(&[immediate(0x0f, 0, 21, upper), immediate(0x2b, 21, source, 0)]);
    }

    /// A new Status, which often enables interrupts.
    fn modes(&mut self) {
        let mut status = 1 | self.below(8) << 8 | self.below(64) & 0x3c;
        if self.chance(1, 4) {
            status ^= 1 + self.below(3);
        }
        status |= self.below(2) << 28;
        self.set(20, status);
        self.put(&[to_system(20, STATUS)]);
        if self.chance(1, 4) {
            let bits = self.below(4) << 8;
            self.put(&[immediate(0x0d, 0, 20, bits), to_system(20, CAUSE)]);
        }
    }

    /// Waits for an interrupt by the line: at rest, or in a loop that looks so where it begins, in a delay slot.
    fn wait(&mut self) {
        let in_slot = self.chance(1, 4);
        let after = 4 * (self.at as u32 + if in_slot { 10 } else { 8 });
        self.set(RESUME, after);
        self.put(&[immediate(0x0d, 0, 19, 0x0401), NOP, to_system(19, STATUS), NOP]);
        if in_slot {
            self.put(&[jump(0x02, self.at + 3), SELF_BRANCH, immediate(0x09, 19, 19, 1), NOP]);
        } else {
            self.put(&[SELF_BRANCH, NOP]);
        }
    }
}
