//! Golden model of `emx_execute`: one instruction at a time, and the unit cycle by cycle.

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

    /// What SEND sends.
    fn packet(&self, insn: &Insn) -> Packet {
        let register = |field| self.registers[insn.value(field) as usize];
        let tag = insn.value(Field::Tag) as u8;
        let packet = Packet::to(
            Kind(insn.value(Field::Kind) as u8),
            register(Field::A),
            register(Field::B),
        );
        Packet { tag, ..packet }
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
                did = Did::Send(self.packet(&insn));
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

/// Instructions that are inside at most: at hand, behind it, or asked for.
const INSIDE: u32 = 3;

/// A load or store that waits for the data port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataAccess {
    pub addr: u32,
    /// What a store writes.
    pub write: Option<u32>,
    register: u32,
}

/// What stands around the unit in a cycle. A port is looked at where it is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Around {
    /// CONTROL.RUN.
    pub run: bool,
    pub start: Option<Start>,
    pub data_ready: bool,
    pub fetch_ready: bool,
    pub send_ready: bool,
    pub special: Special,
}

/// What came of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Came {
    /// A thread can begin.
    pub start_ready: bool,
    /// The one that was offered began.
    pub started: bool,
    /// The instruction that executed, or its fault.
    pub executed: Option<Result<Retired, Fault>>,
    /// SEND waits.
    pub waits_send: bool,
}

/// The unit: instructions are asked for, come in the next cycle, and execute behind it, one in a cycle.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    pub execute: Execute,
    fast_send: bool,
    /// Instructions at hand and behind it.
    waiting: u32,
    /// One was asked for in the last cycle.
    comes: bool,
    access: Option<DataAccess>,
    /// A load's data come.
    loads: bool,
    /// SEND's second cycle.
    sent: bool,
    /// SEND waited in the last cycle.
    waited: bool,
}

impl Unit {
    pub fn new(fast_send: bool) -> Unit {
        Unit {
            fast_send,
            ..Unit::default()
        }
    }

    /// Access that is asked for.
    pub fn access(&self) -> Option<DataAccess> {
        self.access
    }

    /// Packet that is offered.
    pub fn sending(&self, memory: &Memory, data_ready: bool) -> Option<Packet> {
        let word = self.at_hand(memory).filter(|word| self.tries(*word, data_ready))?;
        let insn = Insn::decode(word).filter(|insn| insn.op().code == OP_SEND)?;
        memory
            .map
            .is_public(self.execute.pc)
            .then(|| self.execute.packet(&insn))
    }

    /// Does nothing happen before a thread begins?
    pub fn is_idle(&self) -> bool {
        !self.execute.running && self.access.is_none() && !self.loads
    }

    /// Does nothing hold the instruction at hand?
    fn tries(&self, word: u32, data_ready: bool) -> bool {
        let blocked = self.access.is_some() && !data_ready;
        let load = self.access.filter(|access| access.write.is_none());
        let needs = load.is_some_and(|access| names(word, access.register) || operation(word) == OP_SEND);
        !(self.loads || self.sent || blocked || needs)
    }

    /// The word of the instruction at hand, as far as an address reaches.
    fn at_hand(&self, memory: &Memory) -> Option<u32> {
        let here = self.execute.running && self.waiting > 0;
        here.then(|| memory.data(self.execute.pc & (memory.map.words - 1)))
    }

    /// Where the next instruction is asked for; none: nowhere.
    pub fn fetch(&self, memory: &Memory, run: bool, start: Option<&Start>) -> Option<u32> {
        let at_hand = self.at_hand(memory);
        let is_last = at_hand.is_some_and(is_last);
        if let Some(start) = start.filter(|_| self.begins(is_last, run)) {
            return Some(start.pc);
        }
        let full = self.waiting + u32::from(self.comes) == INSIDE;
        let asks = self.execute.running && !is_last && !(full && self.waited);
        let pc = self.execute.pc;
        let target = at_hand.and_then(led).map(|by| pc.wrapping_add_signed(by));
        let next = pc.wrapping_add(self.waiting + u32::from(self.comes));
        asks.then(|| target.unwrap_or(next))
    }

    /// May a thread's first instruction be asked for? A last SEND that waits leaves the memory free.
    fn begins(&self, is_last: bool, run: bool) -> bool {
        run && self.execute.fault.is_none() && (!self.execute.running || (is_last && !self.waited))
    }

    /// A cycle.
    pub fn cycle(&mut self, memory: &mut Memory, around: &Around) -> Came {
        let at_hand = self.at_hand(memory);
        let fetches = self.fetch(memory, around.run, around.start.as_ref()).is_some() && around.fetch_ready;
        let is_last = at_hand.is_some_and(is_last);
        let may_begin = self.begins(is_last, around.run) && around.fetch_ready;
        let full = self.waiting + u32::from(self.comes) == INSIDE;
        let was_running = self.execute.running;

        let blocked = self.access.is_some() && !around.data_ready;
        let load = self.access.filter(|access| access.write.is_none());
        let waits_send = self.sending(memory, around.data_ready).is_some() && !around.send_ready;
        let goes = at_hand.is_some_and(|word| self.tries(word, around.data_ready)) && !waits_send;
        let executed = goes.then(|| self.execute.step(memory, around.special));

        let done = executed.and_then(Result::ok);
        let jumped = done.is_some_and(|retired| retired.jumped);
        let ended = done.is_some_and(|retired| retired.ended);
        let flush = jumped || ended || matches!(executed, Some(Err(_)));
        let start_ready = may_begin && (!was_running || (is_last && ended));
        let started = around.start.filter(|_| start_ready);
        let leads = at_hand.and_then(led).is_some();
        let useful = if leads { jumped } else { !full && !flush };

        self.waiting += u32::from(self.comes);
        self.waiting -= u32::from(executed.is_some());
        if flush {
            self.waiting = 0;
        }
        let is_next = fetches && was_running && !is_last && useful;
        self.comes = started.is_some() || is_next;
        self.loads = load.is_some() && !blocked;
        if !blocked {
            self.access = done.and_then(|retired| access(&retired, memory));
        }
        self.sent = !self.fast_send && done.is_some_and(|retired| matches!(retired.did, Did::Send(_)));
        self.waited = waits_send;
        if let Some(start) = started {
            self.execute.start(&start);
        }
        Came {
            start_ready,
            started: started.is_some(),
            executed,
            waits_send,
        }
    }
}

fn operation(word: u32) -> u32 {
    (word & INSN_OP_MASK) >> INSN_OP_SHIFT
}

/// Does it end the thread for certain, if it is done at all?
fn is_last(word: u32) -> bool {
    word & INSN_END_MASK != 0 && !(OP_BEQ..=OP_JALR).contains(&operation(word))
}

/// How far away what is asked for beside it stands, as it probably jumps.
fn led(word: u32) -> Option<i32> {
    let by = Field::Branch.extract(word);
    let leads = operation(word) == OP_JAL || ((OP_BEQ..=OP_BGE).contains(&operation(word)) && by < 0);
    leads.then_some(by)
}

/// Is this register among A, B and C, whether the instruction has them or not? C: of an operation on registers.
fn names(word: u32, register: u32) -> bool {
    let is = |field: Field| field.extract(word) as u32 == register;
    is(Field::A) || is(Field::B) || (operation(word) < 16 && is(Field::C))
}

fn access(retired: &Retired, memory: &Memory) -> Option<DataAccess> {
    let register = retired.insn.value(Field::A) as u32;
    let (addr, write) = match retired.did {
        Did::Load { addr } => (addr, None),
        Did::Store { addr } => (addr, Some(memory.data(addr))),
        _ => return None,
    };
    Some(DataAccess { addr, write, register })
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

    const BEGIN: Start = Start {
        pc: 0x1000,
        r1: 5,
        r2: 0x6000,
        frame: 0x40,
    };

    fn loaded(text: &str) -> Memory {
        let source = Source {
            name: "test.s".into(),
            text: format!(".org 0x1000\n{text}"),
        };
        let image = assemble(&[source], &BTreeMap::new()).unwrap_or_else(|errors| panic!("{errors:?}"));
        let mut memory = Memory::new(Map::of(&Config::paper()));
        for (addr, word) in image.load() {
            memory.write(addr, word.into());
        }
        memory
    }

    /// Runs a program of one thread to its end or fault: its registers' owner, its memory and what it sent.
    fn run(text: &str) -> (Execute, Memory, Vec<Packet>) {
        let mut memory = loaded(text);
        let mut unit = Execute::default();
        unit.start(&BEGIN);
        let mut sent = Vec::new();
        let special = Special {
            pe: 9,
            ..Special::default()
        };
        while unit.is_running() {
            let Ok(retired) = unit.step(&mut memory, special) else {
                break;
            };
            if let Did::Send(packet) = retired.did {
                sent.push(packet);
            }
        }
        (unit, memory, sent)
    }

    /// The cycles of a thread from its start to its last instruction, on EM-4 or EM-X, where nothing else waits.
    fn cycles(text: &str, em_x: bool) -> u32 {
        let mut memory = loaded(text);
        let mut unit = Unit::new(em_x);
        let mut start = Some(BEGIN);
        for cycle in 0..1000 {
            let around = Around {
                run: true,
                start,
                data_ready: true,
                // EM-4 has one port.
                fetch_ready: em_x || unit.access().is_none(),
                send_ready: true,
                special: Special::default(),
            };
            let came = unit.cycle(&mut memory, &around);
            start = start.filter(|_| !came.started);
            if came
                .executed
                .is_some_and(|done| done.is_ok_and(|retired| retired.ended))
            {
                return cycle;
            }
        }
        panic!("it does not end");
    }

    #[test]
    fn a_loop() {
        let (_, memory, _) = run("addi r3, r0, 0
             1: add r3, r3, r1
             subi r1, r1, 1
             bne r1, r0, 1b
             st.end r3, 4(r2)");
        assert_eq!(memory.data(0x6004), 15);
    }

    #[test]
    fn each_instruction_has_its_cycles() {
        // The first one executes 2 cycles behind the start.
        assert_eq!(cycles("nop.end", false), 2);
        for (text, em_4, em_x) in [
            ("nop", 1, 1),
            ("ld r3, 0(r2); nop; nop", 4, 4),
            ("ld r3, 0(r2); addi r4, r3, 1", 4, 4),
            ("ld r3, 0(r2); ld r4, 0(r2); nop; nop", 6, 6),
            ("ld r3, 0(r2); send WRITE, r2, r1; nop", 6, 5),
            ("st r3, 0(r2); nop; nop; nop", 5, 4),
            ("send WRITE, r2, r3; nop", 3, 2),
            ("send WRITE, r2, r3; send WRITE, r2, r3", 4, 2),
            ("beq r0, r0, 1f; nop; 1: nop", 4, 4),
            ("beq r0, r1, 1f; nop; 1: nop", 3, 3),
            ("j 1f; nop; 1: nop", 3, 3),
            ("li r3, 0x1003; jr r3; nop; nop", 5, 5),
            (
                "li r3, 2; 1: subi r3, r3, 1; bnez r3, 1b; nop",
                1 + 1 + 2 + 1 + 2 + 1,
                8,
            ),
        ] {
            let text = format!("{text}; nop.end");
            assert_eq!(
                [false, true].map(|em_x| cycles(&text, em_x)),
                [em_4 + 2, em_x + 2],
                "{text}"
            );
        }
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
        let of = |words| cycles(&body(words), false);
        assert_eq!(of(9) - of(8), 11);
        assert_eq!(run(&body(3)).2.len(), 3);
    }

    #[test]
    fn arithmetic_agrees_with_the_books() {
        let (_, memory, _) = run(
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
        let (_, memory, _) = run("1: subi r1, r1, 1; st r1, 0(r2); bne.end r1, r0, 1b");
        assert_eq!(memory.data(0x6000), 0);
    }
}
