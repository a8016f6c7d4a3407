//! Golden model of `emx_execute`: one instruction at a time, and its cycles.

use thiserror::Error;

use super::matching::Start;
use super::memory::Memory;
use crate::emx::isa::{Field, Insn};
use crate::emx::packet::{Kind, Packet};
use crate::emx::regs::*;

/// The frame pointer.
const FP: usize = 15;

/// Why execution halts; the value is a code of Faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Cause {
    #[error("no instruction")]
    Code,
    #[error("an instruction beyond memory")]
    Fetch,
    #[error("a load or store outside of what threads may touch")]
    Address,
    #[error("trap {code}")]
    Trap { code: i32 },
}

impl Cause {
    /// Its code in FAULT.
    pub fn code(self) -> u32 {
        match self {
            Cause::Code => FAULT_CAUSE_CODE,
            Cause::Fetch => FAULT_CAUSE_FETCH,
            Cause::Address => FAULT_CAUSE_ADDRESS,
            Cause::Trap { .. } => FAULT_CAUSE_TRAP,
        }
    }
}

/// A thread that cannot go on, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{cause} at {pc:#x}, frame {frame:#x}")]
pub struct Fault {
    pub pc: u32,
    pub frame: u32,
    pub cause: Cause,
}

/// What an instruction did beside the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    Nothing,
    Load { addr: u32 },
    Store { addr: u32 },
    Send(Packet),
    Tell(u32),
}

/// An instruction that was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retired {
    pub pc: u32,
    pub insn: Insn,
    pub did: Did,
    pub jumped: bool,
    /// The thread ended.
    pub ended: bool,
}

impl Retired {
    /// From its execution to that of the next instruction, where nothing waits.
    pub fn cycles(&self, fast_send: bool) -> u32 {
        match self.did {
            Did::Load { .. } | Did::Store { .. } => 2,
            Did::Send(_) if !fast_send => 2,
            _ => 1 + u32::from(self.jumped),
        }
    }
}

/// What GET gives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Special {
    pub pe: u32,
    pub time: u32,
    pub depth: u32,
}

/// The execution unit.
#[derive(Clone, Debug, Default)]
pub struct Execute {
    registers: [u32; 16],
    pc: u32,
    frame: u32,
    /// A thread runs.
    running: bool,
    fault: Option<Fault>,
}

impl Execute {
    /// Does a thread run?
    pub fn is_running(&self) -> bool {
        self.running
    }

    /// Why and where execution halted.
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// Frame of the thread that runs, or ran last.
    pub fn frame(&self) -> u32 {
        self.frame
    }

    /// Address of the next instruction.
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// The other registers keep what the thread before left in them.
    ///
    /// # Panics
    /// A thread runs, or one faulted.
    pub fn start(&mut self, start: &Start) {
        assert!(!self.running && self.fault.is_none(), "a thread begins beside another");
        self.registers[1] = start.r1;
        self.registers[2] = start.r2;
        self.registers[FP] = start.frame;
        (self.pc, self.frame) = (start.pc, start.frame);
        self.running = true;
    }

    /// Executes an instruction of the thread.
    ///
    /// # Errors
    /// It faulted: no instruction is executed any more.
    ///
    /// # Panics
    /// No thread runs.
    pub fn step(&mut self, memory: &mut Memory, special: Special) -> Result<Retired, Fault> {
        assert!(self.running, "an instruction without a thread");
        self.execute(memory, special).map_err(|cause| {
            let fault = Fault {
                pc: self.pc,
                frame: self.frame,
                cause,
            };
            (self.running, self.fault) = (false, Some(fault));
            fault
        })
    }

    fn execute(&mut self, memory: &mut Memory, special: Special) -> Result<Retired, Cause> {
        let pc = self.pc;
        let reaches = |addr: u32| memory.map.is_public(addr);
        if !reaches(pc) {
            return Err(Cause::Fetch);
        }
        let insn = Insn::decode(memory.data(pc)).ok_or(Cause::Code)?;
        let register = |field| self.registers[insn.value(field) as usize];
        let (a, b) = (register(Field::A), register(Field::B));
        let near = |addr: u32, field| addr.wrapping_add_signed(insn.value(field));
        let addr = near(register(Field::Base), Field::Offset);
        let (mut result, mut target, mut did) = (None, None, Did::Nothing);
        match insn.op().code {
            code @ OP_ADD..=OP_SLTU => result = Some(alu(code, b, register(Field::C))),
            code @ OP_ADDI..=OP_SLTUI => result = Some(alu(code - OP_ADDI + OP_ADD, b, near(0, Field::Imm))),
            OP_LUI => result = Some(near(0, Field::Imm) << 16),
            OP_LD | OP_ST if !reaches(addr) => return Err(Cause::Address),
            OP_LD => {
                did = Did::Load { addr };
                result = Some(memory.data(addr));
            }
            OP_ST => {
                did = Did::Store { addr };
                memory.write(addr, a.into());
            }
            code @ OP_BEQ..=OP_BGE => target = holds(code, a, b).then(|| near(pc, Field::Branch)),
            OP_JAL => (result, target) = (Some(pc + 1), Some(near(pc, Field::Branch))),
            OP_JALR => (result, target) = (Some(pc + 1), Some(addr)),
            OP_SEND => {
                let tag = insn.value(Field::Tag) as u8;
                let packet = Packet::to(Kind(insn.value(Field::Kind) as u8), a, b);
                did = Did::Send(Packet { tag, ..packet });
            }
            OP_TELL => did = Did::Tell(a),
            OP_GET => {
                result = Some(match insn.value(Field::Imm) as u32 {
                    SPECIAL_PE => special.pe,
                    SPECIAL_TIME => special.time,
                    SPECIAL_DEPTH => special.depth,
                    _ => 0,
                });
            }
            _ => {
                let code = insn.value(Field::Imm);
                return Err(Cause::Trap { code });
            }
        }
        if let Some(result) = result {
            self.registers[insn.value(Field::A) as usize] = result;
            self.registers[0] = 0;
        }
        let jumped = target.is_some();
        let ended = insn.end && !jumped;
        self.pc = target.unwrap_or(pc + 1);
        self.running = !ended;
        Ok(Retired {
            pc,
            insn,
            did,
            jumped,
            ended,
        })
    }
}

fn alu(code: u32, b: u32, c: u32) -> u32 {
    match code {
        OP_ADD => b.wrapping_add(c),
        OP_SUB => b.wrapping_sub(c),
        OP_AND => b & c,
        OP_OR => b | c,
        OP_XOR => b ^ c,
        OP_SLL => b.wrapping_shl(c),
        OP_SRL => b.wrapping_shr(c),
        OP_SRA => (b as i32).wrapping_shr(c) as u32,
        OP_SLT => u32::from((b as i32) < c as i32),
        _ => u32::from(b < c),
    }
}

fn holds(code: u32, a: u32, b: u32) -> bool {
    match code {
        OP_BEQ => a == b,
        OP_BNE => a != b,
        OP_BLT => (a as i32) < b as i32,
        _ => a as i32 >= b as i32,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::memory::Map;
    use super::*;
    use crate::emx::asm::{Source, assemble};
    use crate::emx::params::Config;

    /// Runs a program of one thread to its end or fault: its registers' owner, its memory and its cycles.
    fn run(text: &str) -> (Execute, Memory, u32, Vec<Packet>) {
        let source = Source {
            name: "test.s".into(),
            text: format!(".org 0x1000\n{text}"),
        };
        let image = assemble(&[source], &BTreeMap::new()).unwrap_or_else(|errors| panic!("{errors:?}"));
        let mut memory = Memory::new(Map::of(&Config::paper()));
        for (addr, word) in image.load() {
            memory.write(addr, word.into());
        }
        let mut unit = Execute::default();
        unit.start(&Start {
            pc: 0x1000,
            r1: 5,
            r2: 0x6000,
            frame: 0x40,
        });
        let (mut cycles, mut sent) = (0, Vec::new());
        let special = Special {
            pe: 9,
            ..Special::default()
        };
        while unit.is_running() {
            let Ok(retired) = unit.step(&mut memory, special) else {
                break;
            };
            cycles += retired.cycles(false);
            if let Did::Send(packet) = retired.did {
                sent.push(packet);
            }
        }
        (unit, memory, cycles, sent)
    }

    #[test]
    fn a_loop_and_its_cycles() {
        let (_, memory, cycles, _) = run("addi r3, r0, 0
             1: add r3, r3, r1
             subi r1, r1, 1
             bne r1, r0, 1b
             st.end r3, 4(r2)");
        assert_eq!(memory.data(0x6004), 15);
        assert_eq!(cycles, 1 + 4 * 4 + 3 + 2);
    }

    #[test]
    fn the_block_loop_takes_eleven_cycles_a_word() {
        let body = |words| {
            format!(
                "li r4, 0x6100; li r5, 0x6200; li r6, {words}; li r7, 100
                 1: ld r3, 0(r4); addi r4, r4, 1; send WRITE, r5, r3; addi r5, r5, 1
                 subi r6, r6, 1; beq r6, r0, 2f; subi r7, r7, 1; bne r7, r0, 1b
                 2: nop.end"
            )
        };
        let cycles = |words| run(&body(words)).2;
        assert_eq!(cycles(9) - cycles(8), 11);
        assert_eq!(run(&body(3)).3.len(), 3);
    }

    #[test]
    fn arithmetic_agrees_with_the_books() {
        let (_, memory, ..) = run(
            "li r3, -8; srai r4, r3, 1; st r4, 0(r2); srli r4, r3, 28; st r4, 1(r2); slti r4, r3, 0; st r4, 2(r2)
             sltui r4, r3, 5; st r4, 3(r2); li r4, 0x12345678; st r4, 4(r2); get r4, PE; st r4, 5(r2)
             add r0, r3, r3; st r0, 6(r2); jal ra, 1f
             1: st ra, 7(r2); st.end fp, 8(r2)",
        );
        let words: Vec<u32> = (0x6000..0x6009).map(|addr| memory.data(addr)).collect();
        assert_eq!(words[..7], [-4i32 as u32, 15, 1, 0, 0x1234_5678, 9, 0]);
        assert_eq!((memory.data(words[7] - 1) >> 26, words[8]), (OP_JAL, 0x40));
    }

    #[test]
    fn faults_say_where() {
        let fault = |text: &str| run(text).0.fault().map(|fault| (fault.pc, fault.cause));
        assert_eq!(fault("nop"), Some((0x1001, Cause::Code)));
        assert_eq!(fault("ld r3, 0x2000(r0)"), Some((0x1000, Cause::Address)));
        assert_eq!(fault("jalr r0, -1(r0)"), Some((u32::MAX, Cause::Fetch)));
        assert_eq!(fault("trap 3"), Some((0x1000, Cause::Trap { code: 3 })));
        assert_eq!(fault("nop.end"), None);
    }

    #[test]
    fn a_branch_that_ends_ends_only_where_it_does_not_jump() {
        let (_, memory, cycles, _) = run("1: subi r1, r1, 1; st r1, 0(r2); bne.end r1, r0, 1b");
        assert_eq!((memory.data(0x6000), cycles), (0, 4 * 5 + 4));
    }
}
