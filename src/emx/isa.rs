//! The instructions as words and as text. The codes are those of `rtl/emx/regs.toml`.

use std::ops::RangeInclusive;

use crate::emx::regs::*;

/// An operand, by its place in the word and its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    A,
    B,
    C,
    /// The register in the brackets behind an immediate.
    Base,
    /// Signed, 17 bits.
    Imm,
    /// What stands before the brackets.
    Offset,
    /// Instructions from this one to the target.
    Branch,
    /// Upper bits of word 0 of a packet.
    Kind,
    /// Upper bits of word 1; left out, they are 0.
    Tag,
}

use Field::{A, B, Base, Branch, C, Imm, Kind, Offset, Tag};

impl Field {
    /// Lowest bit and width.
    const fn place(self) -> (u32, u32) {
        match self {
            A => (INSN_A_SHIFT, 4),
            B | Base => (INSN_B_SHIFT, 4),
            C => (13, 4),
            Imm | Offset | Branch => (INSN_IMM_SHIFT, 17),
            Kind => (INSN_IMM_SHIFT, 7),
            Tag => (INSN_IMM_SHIFT + 7, 7),
        }
    }

    const fn is_signed(self) -> bool {
        matches!(self, Imm | Offset | Branch)
    }

    pub fn is_register(self) -> bool {
        matches!(self, A | B | C | Base)
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

    pub fn extract(self, word: u32) -> i32 {
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
    pub code: u32,
    /// The operands in the order they are written.
    pub fields: &'static [Field],
}

const fn op(name: &'static str, code: u32, fields: &'static [Field]) -> Op {
    Op { name, code, fields }
}

const THREE: &[Field] = &[A, B, C];
const IMMEDIATE: &[Field] = &[A, B, Imm];
const MEMORY: &[Field] = &[A, Offset, Base];
const COMPARE: &[Field] = &[A, B, Branch];

/// Every instruction.
pub static OPS: &[Op] = &[
    op("add", OP_ADD, THREE),
    op("sub", OP_SUB, THREE),
    op("and", OP_AND, THREE),
    op("or", OP_OR, THREE),
    op("xor", OP_XOR, THREE),
    op("sll", OP_SLL, THREE),
    op("srl", OP_SRL, THREE),
    op("sra", OP_SRA, THREE),
    op("slt", OP_SLT, THREE),
    op("sltu", OP_SLTU, THREE),
    op("addi", OP_ADDI, IMMEDIATE),
    op("subi", OP_SUBI, IMMEDIATE),
    op("andi", OP_ANDI, IMMEDIATE),
    op("ori", OP_ORI, IMMEDIATE),
    op("xori", OP_XORI, IMMEDIATE),
    op("slli", OP_SLLI, IMMEDIATE),
    op("srli", OP_SRLI, IMMEDIATE),
    op("srai", OP_SRAI, IMMEDIATE),
    op("slti", OP_SLTI, IMMEDIATE),
    op("sltui", OP_SLTUI, IMMEDIATE),
    op("lui", OP_LUI, &[A, Imm]),
    op("ld", OP_LD, MEMORY),
    op("st", OP_ST, MEMORY),
    op("beq", OP_BEQ, COMPARE),
    op("bne", OP_BNE, COMPARE),
    op("blt", OP_BLT, COMPARE),
    op("bge", OP_BGE, COMPARE),
    op("jal", OP_JAL, &[A, Branch]),
    op("jalr", OP_JALR, MEMORY),
    op("send", OP_SEND, &[Kind, A, B, Tag]),
    op("tell", OP_TELL, &[A]),
    op("get", OP_GET, &[A, Imm]),
    op("trap", OP_TRAP, &[Imm]),
];

impl Op {
    /// The instruction of this name; none: there is none.
    pub fn named(name: &str) -> Option<&'static Op> {
        OPS.iter().find(|op| op.name == name)
    }

    /// The bits that the instruction does not have, which are 0.
    #[cfg(test)]
    fn unused(&self) -> u32 {
        let used = |bits, field: &Field| bits | field.insert(-1);
        !self.fields.iter().fold(INSN_OP_MASK | INSN_END_MASK, used)
    }
}

/// An instruction with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insn {
    op: &'static Op,
    /// The thread ends behind it, unless it jumps.
    pub end: bool,
    /// In the order of the operands; those that it does not have are 0.
    values: [i32; 4],
}

impl Insn {
    /// None: not as many values as operands, or one that does not fit.
    pub fn new(op: &'static Op, end: bool, values: &[i64]) -> Option<Insn> {
        let fits = |(field, value): (&Field, &i64)| field.range().contains(value);
        if values.len() != op.fields.len() || !op.fields.iter().zip(values).all(fits) {
            return None;
        }
        let value = |at: usize| values.get(at).map_or(0, |&value| value as i32);
        let values = [value(0), value(1), value(2), value(3)];
        Some(Insn { op, end, values })
    }

    /// As hardware does, whatever stands in bits that the instruction does not have. None: no instruction.
    pub fn decode(word: u32) -> Option<Insn> {
        let code = (word & INSN_OP_MASK) >> INSN_OP_SHIFT;
        let op = OPS.iter().find(|op| op.code == code)?;
        let value = |at: usize| op.fields.get(at).map_or(0, |field| field.extract(word));
        Some(Insn {
            op,
            end: word & INSN_END_MASK != 0,
            values: [value(0), value(1), value(2), value(3)],
        })
    }

    /// Its word.
    pub fn encode(&self) -> u32 {
        let start = self.op.code << INSN_OP_SHIFT | u32::from(self.end) << INSN_END_SHIFT;
        self.operands()
            .fold(start, |word, (field, value)| word | field.insert(value))
    }

    /// What it does, without operands.
    pub fn op(&self) -> &'static Op {
        self.op
    }

    /// Operands and their values.
    pub fn operands(&self) -> impl Iterator<Item = (Field, i32)> {
        self.op.fields.iter().copied().zip(self.values)
    }

    /// The value of an operand; 0 where the instruction has none.
    pub fn value(&self, of: Field) -> i32 {
        let found = self.operands().find(|(field, _)| *field == of);
        found.map_or(0, |(_, value)| value)
    }

    /// As the assembler takes it, at address `addr`.
    pub fn text(&self, addr: u32) -> String {
        let mut text = self.op.name.to_owned();
        if self.end {
            text += ".end";
        }
        for (at, (field, value)) in self.operands().enumerate() {
            if field == Tag && value == 0 {
                continue;
            }
            text += match (at, field) {
                (0, _) => " ",
                (_, Base) => "",
                _ => ", ",
            };
            text += &match field {
                Base => format!("(r{value})"),
                Branch => format!("{:#x}", addr.wrapping_add_signed(value)),
                Kind | Tag => format!("{value:#x}"),
                _ if field.is_register() => format!("r{value}"),
                _ => value.to_string(),
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_are_unique_and_words_come_back() {
        for op in OPS {
            let same = |other: &&Op| other.code == op.code || other.name == op.name;
            assert_eq!(OPS.iter().filter(same).count(), 1, "{}", op.name);
            for end in [false, true] {
                let lowest: Vec<i64> = op.fields.iter().map(|field| *field.range().start()).collect();
                let highest: Vec<i64> = op.fields.iter().map(|field| *field.range().end()).collect();
                for values in [lowest, highest] {
                    let insn = Insn::new(op, end, &values).unwrap();
                    assert_eq!(Insn::decode(insn.encode()), Some(insn));
                    assert_eq!(insn.encode() & op.unused(), 0);
                }
            }
        }
        assert_eq!(Insn::decode(0), None, "a thread that runs off its code is caught");
    }

    #[test]
    fn texts() {
        let text =
            |name: &str, end, values: &[i64]| Insn::new(Op::named(name).unwrap(), end, values).unwrap().text(0x1000);
        assert_eq!(text("ld", false, &[3, -1, 4]), "ld r3, -1(r4)");
        assert_eq!(text("send", true, &[1, 5, 3, 0]), "send.end 0x1, r5, r3");
        assert_eq!(text("bne", false, &[7, 0, -7]), "bne r7, r0, 0xff9");
        assert_eq!(Insn::new(Op::named("ld").unwrap(), false, &[16, 0, 0]), None);
    }
}
