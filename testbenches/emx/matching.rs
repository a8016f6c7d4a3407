//! `emx_matching`: packets become starts, in lock step with the golden model and the cycles of its contract.

use std::collections::VecDeque;

use support::this_test;
use testbenches::gate::Pair;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Rule as _, Run, Start as From, each_is_caught, pass, rules};
use tsunagi::emx::golden::matching::{Outcome, Start, take};
use tsunagi::emx::golden::memory::{Map, Memory};
use tsunagi::emx::packet::{ADDR_MASK, Kind, Packet};
use tsunagi::emx::params::Config;
use tsunagi::emx::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::Gaps;
use verilated::{Input as _, Port as _};

use crate::rig::{Access, packet, set_packet, value};

rules!(
    /// A start is that of the model.
    Start
    /// An access is that of the model.
    Access
    /// The presence bit is set with the operand's write, or cleared with an access behind that of the link.
    Presence
    /// Packets that meet one of their own side are refused, and no others.
    Refused
    /// Accesses, starts and the next packet come in their cycles.
    Latency
    /// Operands that wait are counted.
    Held
    /// An edge that may be left out changes nothing.
    Gating
);

#[derive(Clone, Default)]
struct In {
    next: Option<Packet>,
    /// It is offered two cycles later, or never.
    early: Option<Packet>,
    link: u32,
    /// The start that was taken last is not done.
    thread: bool,
    start_ready: bool,
    mem_ready: bool,
    /// The word with its presence bit.
    read: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    next_ready: bool,
    start: Option<Start>,
    access: Option<Access>,
    presence: Option<(u32, bool)>,
    refused: Option<(u32, Packet)>,
    held: u16,
}

fn set(dut: &impl EmxMatchingPorts, inputs: &In) {
    dut.next_valid_i().set_bool(inputs.next.is_some());
    set_packet(dut.next_packet_i(), 0, inputs.next);
    dut.early_valid_i().set_bool(inputs.early.is_some());
    dut.early_word_i()
        .set(inputs.early.map_or(0x2a_dead_beef, |packet| packet.words()[0]));
    dut.system_link_i().set(inputs.link.into());
    dut.thread_i().set_bool(inputs.thread);
    dut.start_ready_i().set_bool(inputs.start_ready);
    dut.mem_ready_i().set_bool(inputs.mem_ready);
    let read = inputs.read.unwrap_or(0xde_adbe_efad);
    dut.mem_rdata_i().set(read & !MEM_PRESENT_MASK);
    dut.pres_i().set(read >> MEM_PRESENT_SHIFT);
}

fn seen(dut: &impl EmxMatchingPorts) -> Out {
    let start = || Start {
        pc: dut.start_pc_o().get() as u32,
        r1: dut.start_r1_o().get() as u32,
        r2: dut.start_r2_o().get() as u32,
        frame: dut.start_frame_o().get() as u32,
    };
    let access = || Access {
        addr: dut.mem_addr_o().get() as u32,
        write: dut.mem_write_o().is_set().then(|| dut.mem_wdata_o().get()),
    };
    let presence = || (dut.pres_addr_o().get() as u32, dut.pres_value_o().is_set());
    let refused = || (dut.refused_reason_o().get() as u32, packet(dut.refused_packet_o()));
    Out {
        next_ready: dut.next_ready_o().is_set(),
        start: dut.start_valid_o().is_set().then(start),
        access: dut.mem_valid_o().is_set().then(access),
        presence: dut.pres_write_o().is_set().then(presence),
        refused: dut.refused_valid_o().is_set().then(refused),
        held: dut.held_o().get() as u16,
    }
}

fn matching<U: EmxMatchingUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// What is to come of the packet inside.
#[derive(Clone, Debug)]
enum Due {
    Access(Access),
    /// The link was read.
    Decide,
    /// All was read; the slot is emptied.
    Clear(Access),
    /// The operand goes to its slot.
    Store(Access),
    Refuse(Packet),
    Start(Start),
}

struct Model {
    /// As the model has it, and as the unit wrote it.
    memory: Memory,
    written: Memory,
    due: VecDeque<Due>,
    /// Cycles until the packet of an early word 0 is offered, or will never be.
    comes: Option<u32>,
    /// The packet inside, and the one of the start that was taken last, are WRITEs.
    is_write: bool,
    writes: bool,
    refused: Option<(u32, Packet)>,
    held: u16,
    starts: u64,
    meetings: u64,
}

impl Model {
    fn new(memory: Memory) -> Model {
        Model {
            written: memory.clone(),
            memory,
            due: VecDeque::new(),
            comes: None,
            is_write: false,
            writes: false,
            refused: None,
            held: 0,
            starts: 0,
            meetings: 0,
        }
    }

    fn reset(&mut self) {
        self.memory = self.written.clone();
        self.due.clear();
        self.comes = None;
        (self.refused, self.held) = (None, 0);
        self.writes = false;
    }

    /// What a packet needs of memory, by its word 0.
    fn look(&mut self, packet: &Packet) {
        let read = |addr| Due::Access(Access { addr, write: None });
        if packet.kind.is_matching() {
            self.due.extend([read(packet.addr), read(packet.frame())]);
        } else if packet.kind.kind() == TYPE_THREAD {
            self.due.extend([read(packet.frame()), Due::Decide]);
        }
    }

    /// What follows of a packet.
    fn take(&mut self, packet: &Packet) -> Vec<Due> {
        self.is_write = packet.kind.kind() == TYPE_WRITE;
        let slot = Access {
            addr: packet.addr,
            write: None,
        };
        match take(packet, &mut self.memory) {
            Outcome::Waits => {
                let write = Some(self.memory.word(packet.addr));
                vec![Due::Store(Access { write, ..slot })]
            }
            Outcome::Refused(_) => vec![Due::Refuse(*packet)],
            Outcome::Start(start) => {
                let pc = start.pc.min(ADDR_MASK);
                let start = Due::Start(Start { pc, ..start });
                if !packet.kind.is_matching() {
                    return vec![start];
                }
                self.meetings += 1;
                vec![Due::Clear(slot), start]
            }
        }
    }

    fn step(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        Rule::Refused.same("refused", self.refused.take(), seen.refused)?;
        Rule::Held.same("operands that wait", self.held, seen.held)?;
        let is_idle = self.due.is_empty() && self.comes.is_none();
        let takes = is_idle || self.comes == Some(0);
        Rule::Latency.same("ready for a packet", takes, seen.next_ready)?;
        let taken = inputs.next.filter(|_| takes);
        let early = inputs
            .early
            .filter(|packet| is_idle && packet.kind.kind() == TYPE_THREAD && !self.keeps(inputs));
        let never = self.comes == Some(0) && taken.is_none();
        let mut behind = Vec::new();
        if let Some(packet) = taken {
            if is_idle {
                self.look(&packet);
                behind.extend(self.due.drain(..));
            }
            behind.extend(self.take(&packet));
            // Where all was read, it is known in this cycle whether the partner is there.
            let at_once = matches!(behind.first(), Some(Due::Clear(_) | Due::Refuse(_)));
            if self.due.is_empty() && at_once {
                self.due.extend(behind.drain(..));
            }
        } else if let Some(packet) = early {
            self.look(&packet);
            self.comes = Some(2);
        }
        self.shown(inputs, seen)?;
        self.edge(inputs, seen)?;
        if never {
            self.due.clear();
        }
        self.due.extend(behind);
        self.comes = self.comes.and_then(|cycles| cycles.checked_sub(1));
        Ok(())
    }

    /// Nothing is read: a WRITE before is not done.
    fn keeps(&self, inputs: &In) -> bool {
        self.writes && inputs.thread
    }

    /// What the unit is to show in this cycle.
    fn shown(&self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        let (mut access, mut start, mut presence) = (None, None, None);
        match self.due.front() {
            Some(Due::Access(due)) => access = Some(*due).filter(|_| !self.keeps(inputs)),
            Some(&Due::Clear(due)) => {
                access = Some(due);
                presence = Some((due.addr, false)).filter(|_| inputs.mem_ready);
            }
            Some(&Due::Store(due)) => {
                access = Some(due);
                presence = Some((due.addr, true)).filter(|_| inputs.mem_ready);
            }
            Some(Due::Start(due)) => start = Some(*due),
            Some(Due::Refuse(_) | Due::Decide) | None => {}
        }
        Rule::Latency.same("asks for memory", access.is_some(), seen.access.is_some())?;
        Rule::Access.same("access", access, seen.access)?;
        Rule::Latency.same("offers a start", start.is_some(), seen.start.is_some())?;
        Rule::Start.same("start", start, seen.start)?;
        Rule::Presence.same("presence bit", presence, seen.presence)
    }

    fn edge(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        if let Some(access) = seen.access.filter(|_| inputs.mem_ready)
            && let Some(word) = access.write
        {
            self.written.write(access.addr, word);
        }
        if let Some((addr, present)) = seen.presence {
            self.written.set_present(addr, present);
            let want = self.memory.host_read(addr);
            Rule::Presence.same(format!("slot {addr:#x}"), want, self.written.host_read(addr))?;
        }
        let goes = match self.due.front() {
            None => false,
            Some(Due::Access(_)) => inputs.mem_ready && !self.keeps(inputs),
            Some(Due::Store(_) | Due::Clear(_)) => inputs.mem_ready,
            Some(Due::Refuse(_) | Due::Decide) => true,
            Some(Due::Start(_)) => inputs.start_ready,
        };
        match goes.then(|| self.due.pop_front()).flatten() {
            Some(Due::Store(_)) => self.held = self.held.wrapping_add(1),
            Some(Due::Clear(_)) => self.held = self.held.wrapping_sub(1),
            Some(Due::Refuse(packet)) => self.refused = Some((REASON_OVERRUN, packet)),
            Some(Due::Start(_)) => {
                self.starts += 1;
                self.writes = self.is_write;
            }
            Some(Due::Access(_) | Due::Decide) | None => {}
        }
        Ok(())
    }
}

/// A packet that the input buffer may give.
fn some_packet(rng: &mut Rng) -> Packet {
    let kind = match rng.below(8) {
        0..2 => Kind::THREAD,
        2..6 => Kind::matching(rng.chance(1, 2)),
        _ => Kind::of(rng.between(1, 7) as u32),
    };
    let frame = SIZE_FRAME * rng.below(4) as u32;
    let offset = if rng.chance(1, 2) {
        rng.between(1, 3)
    } else {
        rng.between(1, 63)
    } as u32;
    let addr = match kind.is_matching() {
        false if rng.chance(1, 4) => rng.below(1 << 14) as u32,
        _ => frame + offset,
    };
    Packet {
        kind: if rng.chance(1, 2) { kind.urgent() } else { kind },
        pe: rng.below(1 << 10) as u16,
        addr,
        tag: if kind.kind() == TYPE_READ {
            rng.below(1 << 7) as u8
        } else {
            0
        },
        data: value(rng),
    }
}

/// A link; at times it is none, or leads beyond all memory.
fn link(rng: &mut Rng) -> u64 {
    match rng.below(8) {
        0 => u64::from(ADDR_MASK) - rng.below(260),
        1 => 1 << (22 + rng.below(10)) | rng.below(1 << 22),
        _ => rng.below(1 << 22),
    }
}

/// How often each wait is drawn, and whether the case has resets.
fn exercise(run: &Run, dut: &Dut<In, Out>, gaps: Gaps, resets: bool) -> Result<(), Fault> {
    let mut bench = Pair::new(run, dut);
    let mut rng = run.rng("events");
    let mut memory = Memory::new(Map::of(&Config {
        memory_bits: 14,
        spill_bits: 4,
        ..Config::paper()
    }));
    for addr in 0..memory.map.words {
        memory.host_write(addr, rng.bits() & !MEM_PRESENT_MASK);
    }
    for frame in (0..4 * SIZE_FRAME).step_by(SIZE_FRAME as usize) {
        memory.host_write(frame, link(&mut rng) | MEM_PRESENT_MASK);
    }
    let mut model = Model::new(memory);
    let mut source = run.pacer(gaps.at_source(), "packets");
    let mut sinks = ["starts", "memory"].map(|name| run.pacer(gaps.at_sink(), name));
    let mut thread = false;
    let (mut read, mut offer) = (None, some_packet(&mut rng));
    // Announced, and the cycles until it is offered.
    let mut coming: Option<(Packet, u32)> = None;
    let mut last = In::default();
    for cycle in 0..3000 {
        let [start_ready, mem_ready] = sinks.each_mut().map(|pacer| pacer.step());
        // What is on offer may change: another packet goes first.
        if rng.chance(1, 4) {
            offer = some_packet(&mut rng);
        }
        // One that was announced comes, or was refused.
        let next = match coming {
            Some((packet, 1)) => Some(packet).filter(|_| rng.chance(3, 4)),
            Some(_) => None,
            None => source.step().then_some(offer),
        };
        coming = coming.and_then(|(packet, cycles)| (cycles > 1).then_some((packet, cycles - 1)));
        let early = (next.is_none() && coming.is_none() && rng.chance(1, 2)).then(|| some_packet(&mut rng));
        coming = coming.or(early.map(|packet| (packet, 2)));
        thread = if thread { rng.chance(3, 4) } else { rng.chance(1, 4) };
        let inputs = In {
            next,
            early,
            thread,
            link: model.memory.data(0),
            start_ready,
            mem_ready,
            read: Option::take(&mut read),
        };
        if cycle < 2 || (resets && rng.chance(1, 200)) {
            bench.reset(&inputs);
            model.reset();
            coming = None;
            last = inputs;
            continue;
        }
        let offers = |inputs: &In| inputs.next.is_some() || inputs.early.is_some();
        let asks = offers(&last) || offers(&inputs) || inputs.link != last.link;
        let seen = bench.step(&inputs, asks).map_err(|fault| fault.at(cycle))?;
        model.step(&inputs, &seen).map_err(|fault| fault.at(cycle))?;
        if inputs.next.is_some() && seen.next_ready {
            offer = some_packet(&mut rng);
        }
        last = inputs;
        let granted = seen.access.filter(|_| mem_ready);
        read = granted.map(|access| model.written.host_read(access.addr & 0x3fff));
        // Threads give frames other links.
        if model.due.is_empty() && model.comes.is_none() && rng.chance(1, 8) {
            let frame = SIZE_FRAME * rng.below(4) as u32;
            let word = link(&mut rng);
            model.memory.write(frame, word);
            model.written.write(frame, word);
        }
    }
    let enough = model.starts > 150 && model.meetings > 10;
    assert!(
        enough || resets,
        "{} starts, {} of two operands",
        model.starts,
        model.meetings
    );
    Ok(())
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for resets in [false, true] {
            let params = format!("{} {gaps:?} resets {resets}", dut.name);
            cases.from_each(&[From::Random1, From::Zero], params, |run| {
                exercise(run, dut, gaps, resets)
            });
        }
    }
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| checks(&matching::<EmxMatching>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // Left and right are mixed up.
            (Start, &[], &|cases| checks(&matching::<TwinMatchingSides>(), cases)),
            // A special thread does not see the tag.
            (Start, &[], &|cases| checks(&matching::<TwinMatchingTag>(), cases)),
            // A link that is none starts a thread somewhere.
            (Start, &[], &|cases| checks(&matching::<TwinMatchingLink>(), cases)),
            // An operand waits without its side.
            (Access, &[], &|cases| checks(&matching::<TwinMatchingSide>(), cases)),
            // The bit changes before the memory is free.
            (Presence, &[], &|cases| checks(&matching::<TwinMatchingEarly>(), cases)),
            (Refused, &[Gating], &|cases| {
                checks(&matching::<TwinMatchingRefused>(), cases)
            }),
            // A refusal delays the next packet.
            (Latency, &[], &|cases| checks(&matching::<TwinMatchingPause>(), cases)),
            // A packet that was refused starts a thread all the same.
            (Latency, &[Start, Gating], &|cases| {
                checks(&matching::<TwinMatchingNever>(), cases)
            }),
            // What was asked for early counts as read.
            (Access, &[], &|cases| checks(&matching::<TwinMatchingAsked>(), cases)),
            // A packet finds the word before a WRITE.
            (Latency, &[], &|cases| checks(&matching::<TwinMatchingWrite>(), cases)),
            (Held, &[], &|cases| checks(&matching::<TwinMatchingHeld>(), cases)),
            (Gating, &[], &|cases| checks(&matching::<TwinMatchingRest>(), cases)),
        ],
    );
}
