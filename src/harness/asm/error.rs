//! What the assembler refuses, and the mend.

use thiserror::Error;

/// A refusal, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{line}: {refusal}")]
pub struct AsmError {
    pub file: String,
    pub line: usize,
    pub refusal: Refusal,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("`{name}` is no instruction and no directive{}", suggestion(.nearest))]
    Unknown {
        name: String,
        nearest: Option<&'static str>,
    },
    #[error("`{name}` is not defined: put a label `{name}:` or `.equ {name}, VALUE`")]
    Undefined { name: String },
    #[error("no label `{number}:` {side}: put one, or turn `{number}f` and `{number}b` round")]
    NoLocal { number: String, side: &'static str },
    #[error("the value must be known here: define `{name}` on an earlier line")]
    Early { name: String },
    #[error("`{name}` is defined already, {first}: give one of them another name")]
    Doubled { name: String, first: String },
    #[error("{what} {value} does not fit, {low} to {high} do{}", mend(.what))]
    Range {
        what: &'static str,
        value: i64,
        low: i64,
        high: i64,
    },
    #[error(
        "branch too far: {target:#x} is {words} words from the delay slot, -32768 to 32767 can be reached: use `j`"
    )]
    BranchFar { target: u32, words: i64 },
    #[error("jump too far: {target:#x} is in other 256 MB: load the address and use `jr`")]
    JumpFar { target: u32 },
    #[error("target {target:#x} is no multiple of 4: an instruction never stands there")]
    OddTarget { target: i64 },
    #[error("branch in a delay slot: put `nop` or another instruction between the two branches")]
    BranchInSlot,
    #[error("no instruction in the delay slot of this branch: put `nop` behind it")]
    NoSlot,
    #[error("more than one instruction, and only the first is in the delay slot: write one instruction here")]
    SplitInSlot,
    #[error(
        "load delay: ${register} still has its old value here, {first} loads it one instruction earlier: put `nop` or \
         another instruction between; `.set nohazard` allows it"
    )]
    LoadDelay { register: &'static str, first: String },
    #[error("unaligned: {at:#x} is no multiple of {size}: put `.align {}` before it", size.trailing_zeros())]
    Unaligned { at: u32, size: u32 },
    #[error("the image ends behind {limit:#x}, where the SRAM ends: make it smaller by {over} bytes")]
    TooLarge { limit: u32, over: u32 },
    #[error("`.org` leads back from {at:#x} to {to:#x}: sort the parts by address")]
    Back { at: u32, to: u32 },
    #[error("`{end}` is missing: `{what}` is open")]
    Open { what: &'static str, end: &'static str },
    #[error("macro `{name}` has {wanted} operands, {found} are given")]
    Operands { name: String, wanted: usize, found: usize },
    #[error("macros are used more than {limit} deep: does one use itself?")]
    Nested { limit: u32 },
    #[error("the code before this entry has {over} instructions too many: put `j` in it and the rest elsewhere")]
    Entry { over: u32 },
    #[error("`{name}` belongs behind `.template`")]
    NoTemplate { name: &'static str },
    #[error("operand missing: {what} belongs here")]
    Missing { what: &'static str },
    #[error("`{found}` where {what} belongs")]
    Expected { what: &'static str, found: String },
    #[error("`{found}` is no number: 10, 0x1f and 0b101 are")]
    Number { found: String },
    #[error("a statement of more than {limit} bytes: split it")]
    Long { limit: usize },
    #[error("parentheses or signs are more than {limit} deep: give a part a name by `.equ`")]
    Deep { limit: u32 },
    #[error("a step of the expression leaves 64 bits: make it smaller")]
    Overflow,
    #[error("`{inner}` beside `{outer}`: assemblers differ in which comes first, put parentheses")]
    Mixed { inner: &'static str, outer: &'static str },
}

fn suggestion(nearest: &Option<&'static str>) -> String {
    nearest.map_or(String::new(), |nearest| format!(": did you mean `{nearest}`?"))
}

fn mend(what: &str) -> &'static str {
    match what {
        "immediate" => ": load it with `li`, behind the definition of its symbols",
        "offset" => ": add its upper part to the base first",
        _ => "",
    }
}
