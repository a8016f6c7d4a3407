//! The instructions of MIPS I as words and as text: the integer set whole, and coprocessor 0 without a TLB.
//!
//! Source: Kane and Heinrich, "MIPS RISC Architecture", 1992, appendix A.

use std::ops::RangeInclusive;

use Field::{Base, Branch, Code, CodeHigh, CodeLow, Cop0, Jump, Offset, Rd, Rs, Rt, RtOut, Shift, Signed, Unsigned};

/// The o32 names of the registers, by number.
pub const REGISTERS: [&str; 32] = [
    "zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "s0", "s1", "s2",
    "s3", "s4", "s5", "s6", "s7", "t8", "t9", "k0", "k1", "gp", "sp", "fp", "ra",
];

/// An operand, by its place in the word and its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Rs,
    /// A register that is read.
    Rt,
    /// The same place, where the instruction writes the register.
    RtOut,
    Rd,
    /// The register in the brackets of a load or store.
    Base,
    /// A register of coprocessor 0.
    Cop0,
    Shift,
    Signed,
    Unsigned,
    /// What stands before the brackets of a load or store.
    Offset,
    /// Words from the delay slot to the target.
    Branch,
    /// The target's word within its 256 MB.
    Jump,
    Code,
    CodeHigh,
    CodeLow,
}

impl Field {
    /// Lowest bit and width.
    const fn place(self) -> (u32, u32) {
        match self {
            Rs | Base => (21, 5),
            Rt | RtOut => (16, 5),
            Rd | Cop0 => (11, 5),
            Shift => (6, 5),
            Signed | Unsigned | Offset | Branch => (0, 16),
            Jump => (0, 26),
            Code => (6, 20),
            CodeHigh => (16, 10),
            CodeLow => (6, 10),
        }
    }

    const fn is_signed(self) -> bool {
        matches!(self, Signed | Offset | Branch)
    }

    pub fn is_register(self) -> bool {
        matches!(self, Rs | Rt | RtOut | Rd | Base)
    }

    /// An operand of SYSCALL and BREAK: left out, it is 0.
    pub fn is_code(self) -> bool {
        matches!(self, Code | CodeHigh | CodeLow)
    }

    /// The values that fit.
    pub fn range(self) -> RangeInclusive<i64> {
        let (_, width) = self.place();
        if self.is_signed() {
            -(1 << (width - 1))..=(1 << (width - 1)) - 1
        } else {
            0..=(1 << width) - 1
        }
    }

    fn insert(self, value: i32) -> u32 {
        let (low, width) = self.place();
        (value as u32 & ((1 << width) - 1)) << low
    }

    fn extract(self, word: u32) -> i32 {
        let (low, width) = self.place();
        let top = word << (32 - low - width);
        if self.is_signed() {
            top as i32 >> (32 - width)
        } else {
            (top >> (32 - width)) as i32
        }
    }
}

/// An instruction without its operands.
#[derive(Debug, PartialEq, Eq)]
pub struct Op {
    pub name: &'static str,
    /// The word, with all operands 0.
    pub word: u32,
    /// The operands in the order they are written.
    pub fields: &'static [Field],
}

const fn op(name: &'static str, word: u32, fields: &'static [Field]) -> Op {
    Op { name, word, fields }
}

const THREE: &[Field] = &[Rd, Rs, Rt];
const SHIFT: &[Field] = &[Rd, Rt, Shift];
const SHIFT_BY: &[Field] = &[Rd, Rt, Rs];
const HI_LO: &[Field] = &[Rs, Rt];
const SIGNED: &[Field] = &[RtOut, Rs, Signed];
const UNSIGNED: &[Field] = &[RtOut, Rs, Unsigned];
const LOAD: &[Field] = &[RtOut, Offset, Base];
const STORE: &[Field] = &[Rt, Offset, Base];
const COMPARE: &[Field] = &[Rs, Rt, Branch];
const SIGN: &[Field] = &[Rs, Branch];

/// Every instruction.
pub static OPS: &[Op] = &[
    op("sll", 0x0000_0000, SHIFT),
    op("srl", 0x0000_0002, SHIFT),
    op("sra", 0x0000_0003, SHIFT),
    op("sllv", 0x0000_0004, SHIFT_BY),
    op("srlv", 0x0000_0006, SHIFT_BY),
    op("srav", 0x0000_0007, SHIFT_BY),
    op("jr", 0x0000_0008, &[Rs]),
    op("jalr", 0x0000_0009, &[Rd, Rs]),
    op("syscall", 0x0000_000c, &[Code]),
    op("break", 0x0000_000d, &[CodeHigh, CodeLow]),
    op("mfhi", 0x0000_0010, &[Rd]),
    op("mthi", 0x0000_0011, &[Rs]),
    op("mflo", 0x0000_0012, &[Rd]),
    op("mtlo", 0x0000_0013, &[Rs]),
    op("mult", 0x0000_0018, HI_LO),
    op("multu", 0x0000_0019, HI_LO),
    op("div", 0x0000_001a, HI_LO),
    op("divu", 0x0000_001b, HI_LO),
    op("add", 0x0000_0020, THREE),
    op("addu", 0x0000_0021, THREE),
    op("sub", 0x0000_0022, THREE),
    op("subu", 0x0000_0023, THREE),
    op("and", 0x0000_0024, THREE),
    op("or", 0x0000_0025, THREE),
    op("xor", 0x0000_0026, THREE),
    op("nor", 0x0000_0027, THREE),
    op("slt", 0x0000_002a, THREE),
    op("sltu", 0x0000_002b, THREE),
    op("bltz", 0x0400_0000, SIGN),
    op("bgez", 0x0401_0000, SIGN),
    op("bltzal", 0x0410_0000, SIGN),
    op("bgezal", 0x0411_0000, SIGN),
    op("j", 0x0800_0000, &[Jump]),
    op("jal", 0x0c00_0000, &[Jump]),
    op("beq", 0x1000_0000, COMPARE),
    op("bne", 0x1400_0000, COMPARE),
    op("blez", 0x1800_0000, SIGN),
    op("bgtz", 0x1c00_0000, SIGN),
    op("addi", 0x2000_0000, SIGNED),
    op("addiu", 0x2400_0000, SIGNED),
    op("slti", 0x2800_0000, SIGNED),
    op("sltiu", 0x2c00_0000, SIGNED),
    op("andi", 0x3000_0000, UNSIGNED),
    op("ori", 0x3400_0000, UNSIGNED),
    op("xori", 0x3800_0000, UNSIGNED),
    op("lui", 0x3c00_0000, &[RtOut, Unsigned]),
    op("mfc0", 0x4000_0000, &[RtOut, Cop0]),
    op("mtc0", 0x4080_0000, &[Rt, Cop0]),
    op("rfe", 0x4200_0010, &[]),
    op("lb", 0x8000_0000, LOAD),
    op("lh", 0x8400_0000, LOAD),
    op("lwl", 0x8800_0000, LOAD),
    op("lw", 0x8c00_0000, LOAD),
    op("lbu", 0x9000_0000, LOAD),
    op("lhu", 0x9400_0000, LOAD),
    op("lwr", 0x9800_0000, LOAD),
    op("sb", 0xa000_0000, STORE),
    op("sh", 0xa400_0000, STORE),
    op("swl", 0xa800_0000, STORE),
    op("sw", 0xac00_0000, STORE),
    op("swr", 0xb800_0000, STORE),
];

impl Op {
    pub fn named(name: &str) -> Option<&'static Op> {
        OPS.iter().find(|op| op.name == name)
    }

    /// The bits that say which instruction it is.
    fn mask(&self) -> u32 {
        !self.fields.iter().fold(0, |bits, field| bits | field.insert(-1))
    }
}

/// An instruction with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insn {
    op: &'static Op,
    /// In the order of the operands; those that it does not have are 0.
    values: [i32; 3],
}

impl Insn {
    /// None: not as many values as operands, or one that does not fit.
    pub fn new(op: &'static Op, values: &[i64]) -> Option<Insn> {
        let fits = |(field, value): (&Field, &i64)| field.range().contains(value);
        if values.len() != op.fields.len() || !op.fields.iter().zip(values).all(fits) {
            return None;
        }
        let value = |at: usize| values.get(at).map_or(0, |&value| value as i32);
        Some(Insn {
            op,
            values: [value(0), value(1), value(2)],
        })
    }

    /// None: no instruction of MIPS I.
    pub fn decode(word: u32) -> Option<Insn> {
        let op = OPS.iter().find(|op| word & op.mask() == op.word)?;
        let value = |at: usize| op.fields.get(at).map_or(0, |field| field.extract(word));
        Some(Insn {
            op,
            values: [value(0), value(1), value(2)],
        })
    }

    pub fn encode(&self) -> u32 {
        let insert = |word, (field, value): (Field, i32)| word | field.insert(value);
        self.operands().fold(self.op.word, insert)
    }

    pub fn op(&self) -> &'static Op {
        self.op
    }

    /// Operands and their values.
    pub fn operands(&self) -> impl Iterator<Item = (Field, i32)> {
        self.op.fields.iter().copied().zip(self.values)
    }

    /// Where a branch or jump to a fixed place goes from `addr`.
    pub fn target(&self, addr: u32) -> Option<u32> {
        let slot = addr.wrapping_add(4);
        self.operands().find_map(|(field, value)| match field {
            Branch => Some(slot.wrapping_add_signed(value << 2)),
            Jump => Some(slot & 0xf000_0000 | (value as u32) << 2),
            _ => None,
        })
    }

    /// Does a delay slot follow?
    pub fn has_delay_slot(&self) -> bool {
        matches!(self.op.name, "jr" | "jalr") || self.target(0).is_some()
    }

    /// Does what stands behind the delay slot never run next?
    pub fn always_leaves(&self) -> bool {
        match self.op.name {
            "j" | "jal" | "jr" | "jalr" => true,
            "beq" => self.values[0] == self.values[1],
            _ => false,
        }
    }

    /// Does it load a part of a register, and keep the rest?
    pub fn merges(&self) -> bool {
        matches!(self.op.name, "lwl" | "lwr")
    }

    /// The register that has its new value one instruction late.
    pub fn loads(&self) -> Option<i32> {
        let late = self.op.fields == LOAD || self.op.name == "mfc0";
        (late && self.values[0] != 0).then_some(self.values[0])
    }

    pub fn reads(&self, register: i32) -> bool {
        let mut operands = self.operands();
        let read = |field| matches!(field, Rs | Rt | Base) || (field == RtOut && self.merges());
        operands.any(|(field, value)| value == register && read(field))
    }

    /// As the assembler takes it, at address `addr`.
    pub fn text(&self, addr: u32) -> String {
        if self.encode() == 0 {
            return "nop".to_owned();
        }
        let mut shown = self.op.fields.len();
        while shown > 0 && self.op.fields[shown - 1].is_code() && self.values[shown - 1] == 0 {
            shown -= 1;
        }
        let mut text = self.op.name.to_owned();
        for (at, (field, value)) in self.operands().take(shown).enumerate() {
            text += match (at, field) {
                (0, _) => " ",
                (_, Base) => "",
                _ => ", ",
            };
            text += &match field {
                Base => format!("(${})", REGISTERS[value as usize]),
                Cop0 => format!("${value}"),
                Unsigned => format!("{value:#x}"),
                Branch | Jump => format!("{:#x}", self.target(addr).unwrap_or_default()),
                _ if field.is_register() => format!("${}", REGISTERS[value as usize]),
                _ => value.to_string(),
            };
        }
        text
    }
}
