//! `emx_core`: packets in, threads, packets out, with all blocks of a PE at work on one memory.

use std::collections::{BTreeMap, VecDeque};

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start as From, each_is_caught, pass, rules};
use tsunagi::emx::packet::{Kind, Packet, global};
use tsunagi::emx::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer};
use verilated::{Input as _, Port as _};

use crate::rig::{Access, Sender, set_packet, word};

rules!(
    /// The first instruction of a thread executes so many cycles after its packet came.
    Latency
    /// A remote write takes no cycle of the thread that runs.
    Free
    /// Packets of a level start their threads in order, each once.
    Order
    /// A thread's packet leaves as it was sent.
    Send
    /// Memory holds what was written.
    Memory
    /// All that came in is handled.
    Hang
);

#[derive(Clone, Default)]
struct In {
    su: Option<(u64, bool)>,
    room: bool,
    access: Option<Access>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    room: bool,
    mem_ready: bool,
    read: u64,
    word: Option<(u64, bool)>,
    tell: Option<u32>,
    retired: Option<(u32, u32)>,
    refused: [bool; 2],
    fault: bool,
    fatal: bool,
    spilled: bool,
    depth: u64,
}

fn set(dut: &impl EmxCorePorts, inputs: &In) {
    dut.run_i().set_bool(true);
    dut.pe_i().set(7);
    dut.time_i().set(0);
    let (word, last) = inputs.su.unwrap_or((0x55_dead_beef, true));
    dut.su_valid_i().set_bool(inputs.su.is_some());
    dut.su_data_i().set(word);
    dut.su_last_i().set_bool(last);
    dut.out_room_i().set_bool(inputs.room);
    dut.host_valid_i().set_bool(false);
    set_packet(dut.host_packet_i(), 0, None);
    dut.host_mem_valid_i().set_bool(inputs.access.is_some());
    let access = inputs.access.unwrap_or(Access {
        addr: 3,
        write: Some(0xde_adbe_ef01),
    });
    dut.host_mem_write_i().set_bool(access.write.is_some());
    dut.host_mem_addr_i().set(access.addr.into());
    dut.host_mem_wdata_i().set(access.write.unwrap_or(0xbad));
}

fn seen(dut: &impl EmxCorePorts) -> Out {
    let word = || (dut.out_data_o().get(), dut.out_last_o().is_set());
    let retired = || (dut.ret_pc_o().get() as u32, dut.ret_insn_o().get() as u32);
    Out {
        room: dut.su_room_o().is_set(),
        mem_ready: dut.host_mem_ready_o().is_set(),
        read: dut.host_mem_rdata_o().get(),
        word: dut.out_valid_o().is_set().then(word),
        tell: dut.tell_valid_o().is_set().then(|| dut.tell_data_o().get() as u32),
        retired: dut.ret_valid_o().is_set().then(retired),
        refused: [0, 1].map(|unit| dut.refused_valid_o().bit(unit)),
        fault: dut.fault_o().is_set(),
        fatal: dut.fatal_o().is_set(),
        spilled: dut.spilled_o().is_set(),
        depth: dut.depth_o().get(),
    }
}

/// A unit under test.
struct Unit {
    dut: Dut<In, Out>,
    levels: usize,
    bypass: bool,
}

fn unit<U: EmxCoreUnit + 'static>() -> Unit {
    Unit {
        dut: Dut::of::<U>(set, seen),
        levels: U::LEVELS,
        bypass: U::WRITE_BYPASS,
    }
}

const SYSTEM: u32 = 0x400;
const FRAME: u32 = 0x40;
const CODE: u32 = 0x800 - 4 * SIZE_FRAME;
/// Words that are written, and an array that threads read.
const WRITTEN: u32 = 0x200;
const ARRAY: u32 = 0x300;
const LOOP: u32 = 0x480;
/// A frame with a link of its own, and code that tells 0 in place of the operand.
const OTHER: u32 = 0x80;
const ZEROS: u32 = 0x600;

/// A program: a thread of one operand and one of two tell and send what they got, WRITE writes, and entry 3 is long.
fn program() -> BTreeMap<u32, u32> {
    let end = 1 << INSN_END_SHIFT;
    let thread = CODE + SIZE_ENTRY;
    let both = CODE + 2 * SIZE_ENTRY;
    let urgent = CODE + 6 * SIZE_ENTRY;
    let long = CODE + 3 * SIZE_ENTRY;
    BTreeMap::from([
        (0, SYSTEM),
        (FRAME, CODE),
        (thread, word(OP_TELL, [1, 0], 0)),
        (thread + 1, word(OP_SEND, [2, 1], 0x55) | end),
        (both, word(OP_ADD, [3, 1], 2 << 13)),
        (both + 1, word(OP_TELL, [3, 0], 0)),
        (both + 2, word(OP_SEND, [0, 3], 0x55) | end),
        // The same for level 1, with a slot of its own.
        (urgent, word(OP_ADD, [3, 1], 2 << 13)),
        (urgent + 1, word(OP_TELL, [3, 0], 0)),
        (urgent + 2, word(OP_SEND, [0, 3], 0x55) | end),
        (ZEROS + SIZE_ENTRY, word(OP_TELL, [0, 0], 0) | end),
        (ZEROS + 2 * SIZE_ENTRY, word(OP_TELL, [0, 0], 0) | end),
        (long, word(OP_JALR, [14, 0], LOOP)),
        (SYSTEM + SIZE_ENTRY, word(OP_ST, [1, 2], 0) | end),
        (SYSTEM + 5 * SIZE_ENTRY, word(OP_TELL, [1, 0], 0)),
        (SYSTEM + 5 * SIZE_ENTRY + 1, word(OP_SEND, [2, 1], 0x55) | end),
        // r1 times: loads and stores one behind the other, and a branch.
        (LOOP, word(OP_LD, [3, 0], ARRAY)),
        (LOOP + 1, word(OP_LD, [4, 0], ARRAY + 1)),
        (LOOP + 2, word(OP_ST, [3, 0], ARRAY + 1)),
        (LOOP + 3, word(OP_ST, [4, 0], ARRAY)),
        (LOOP + 4, word(OP_SUBI, [1, 1], 1)),
        (LOOP + 5, word(OP_BNE, [1, 0], 0u32.wrapping_sub(5)) | end),
    ])
}

/// A PE with its program, and what drives it.
struct Rig<'a> {
    bench: Bench<'a, In, Out>,
    sender: Sender,
    rooms: Pacer,
    /// The network takes nothing.
    is_shut: bool,
    /// Words that leave, and the packet of which word 0 was seen.
    sent: Vec<Packet>,
    half: Option<u64>,
}

impl<'a> Rig<'a> {
    fn new(run: &Run<'a>, unit: &Unit, gaps: Gaps) -> Result<Rig<'a>, Fault> {
        let mut rig = Rig {
            bench: Bench::new(run, &unit.dut),
            sender: Sender::new(run.pacer(gaps.at_source(), "packets")),
            rooms: run.pacer(gaps.at_sink(), "room"),
            is_shut: false,
            sent: Vec::new(),
            half: None,
        };
        for _ in 0..2 {
            rig.bench.through(&In::default(), true);
        }
        for addr in (0..SIZE_FRAME).chain(FRAME..OTHER + SIZE_FRAME) {
            rig.write(addr, 0)?;
        }
        for addr in (WRITTEN..WRITTEN + 16).chain(ARRAY..ARRAY + 2) {
            rig.write(addr, addr)?;
        }
        for (addr, word) in program() {
            rig.write(addr, word)?;
        }
        Ok(rig)
    }

    /// A cycle in which the host wants an access or not.
    fn step(&mut self, access: Option<Access>) -> Result<Out, Fault> {
        let inputs = In {
            su: self.sender.word(),
            room: self.rooms.step() && !self.is_shut,
            access,
        };
        let seen = self.bench.through(&inputs, false);
        self.sender.step(seen.room);
        if let Some((word, last)) = seen.word {
            let half = self.half.take();
            Rule::Send.same("word 1 behind word 0", half.is_some(), last)?;
            match half {
                Some(first) => self.sent.push(Packet::of([first, word])),
                None => self.half = Some(word),
            }
        }
        Ok(seen)
    }

    fn write(&mut self, addr: u32, word: u32) -> Result<(), Fault> {
        let write = Some(word.into());
        while !self.step(Some(Access { addr, write }))?.mem_ready {}
        Ok(())
    }

    fn read(&mut self, addr: u32) -> Result<u64, Fault> {
        while !self.step(Some(Access { addr, write: None }))?.mem_ready {}
        Ok(self.step(None)?.read)
    }

    fn idle(&mut self, cycles: u64) -> Result<(), Fault> {
        (0..cycles).try_for_each(|_| self.step(None).map(drop))
    }
}

fn thread(kind: Kind, offset: u32, data: u32) -> Packet {
    Packet::to(kind, global(1, FRAME + offset), data)
}

/// From word 1 on the pins to the first instruction, in an empty PE.
fn latency(unit: &Unit, cases: &mut Cases) {
    let special = Packet::to(Kind::of(TYPE_USER5), global(1, 0x234), 5);
    let one = thread(Kind::THREAD, 1, 5);
    let two = thread(Kind::matching(true), 2, 5);
    for (name, packet, cycles) in [("special", special, 4), ("one", one, 4), ("two", two, 4)] {
        cases.case(From::Random1, format!("{} {name}", unit.dut.name), |run| {
            let mut rig = Rig::new(run, unit, Gaps::None)?;
            if packet.kind.is_matching() {
                rig.sender.push(thread(Kind::matching(false), 2, 5));
            }
            rig.idle(20)?;
            rig.sender.push(packet);
            let mut came = None;
            for cycle in 0..30 {
                came = came.or_else(|| rig.sender.arrival().map(|_| cycle));
                if rig.step(None)?.retired.is_some() {
                    // It is shown in the cycle behind.
                    let took = came.map(|came| cycle - 1 - came);
                    return Rule::Latency.same("cycles", Some(cycles), took);
                }
            }
            Err(Rule::Hang.broken("no thread began"))
        });
    }
}

/// The cycles in which the instructions of a long thread were done, with so many WRITEs in its time.
fn long(run: &Run, unit: &Unit, writes: u32) -> Result<Vec<(u64, u32)>, Fault> {
    let mut rig = Rig::new(run, unit, Gaps::None)?;
    rig.sender.push(thread(Kind::THREAD, 3, 20));
    for number in 0..writes {
        rig.sender.push(Packet::to(
            Kind::of(TYPE_WRITE),
            global(1, WRITTEN + number % 16),
            number,
        ));
    }
    let mut done = Vec::new();
    for cycle in 0..1000 {
        let seen = rig.step(None)?;
        done.extend(seen.retired.map(|(pc, _)| (cycle, pc)));
    }
    Ok(done)
}

fn free(unit: &Unit, cases: &mut Cases) {
    cases.case(From::Random1, format!("{} free", unit.dut.name), |run| {
        let (alone, beside) = (long(run, unit, 0)?, long(run, unit, 100)?);
        Rule::Hang.holds(alone.len() > 100, || "the thread does not run".into())?;
        if unit.bypass {
            return Rule::Free.same("instructions", alone, beside);
        }
        // A thread of one instruction for each WRITE.
        Rule::Hang.same("instructions", alone.len() + 100, beside.len())
    });
}

/// A packet behind a WRITE of its frame's link, or of its slot's word, finds what the WRITE put there.
fn written(unit: &Unit, cases: &mut Cases) {
    for pause in 0..8 {
        cases.case(From::Random1, format!("{} pause {pause}", unit.dut.name), |run| {
            let mut rig = Rig::new(run, unit, Gaps::None)?;
            for (offset, kinds) in [
                (1, &[Kind::THREAD][..]),
                (2, &[Kind::matching(false), Kind::matching(true)]),
            ] {
                rig.write(OTHER, ZEROS)?;
                rig.idle(20)?;
                rig.sender
                    .push(Packet::to(Kind::of(TYPE_WRITE), global(1, OTHER), CODE));
                rig.idle(2 + pause)?;
                for kind in kinds {
                    rig.sender.push(Packet::to(*kind, global(1, OTHER + offset), 7));
                }
                let mut tells = Vec::new();
                for _ in 0..60 {
                    tells.extend(rig.step(None)?.tell);
                }
                Rule::Memory.same("told", vec![7 * kinds.len() as u32], tells)?;
            }
            Ok(())
        });
    }
}

/// A network that takes nothing stops no packet on its way in: threads that wait to send leave the memory free.
fn shut(unit: &Unit, cases: &mut Cases) {
    const PACKETS: u32 = 200;
    cases.case(From::Random1, format!("{} shut", unit.dut.name), |run| {
        let mut rig = Rig::new(run, unit, Gaps::None)?;
        rig.is_shut = true;
        (0..PACKETS).for_each(|data| rig.sender.push(thread(Kind::THREAD, 1, data)));
        let mut tells = Vec::new();
        for _ in 0..40 * PACKETS {
            tells.extend(rig.step(None)?.tell);
        }
        Rule::Hang.holds(rig.sender.is_empty(), || "packets stay in the network".into())?;
        rig.is_shut = false;
        for _ in 0..40 * PACKETS {
            tells.extend(rig.step(None)?.tell);
        }
        Rule::Order.same("told", (0..PACKETS).collect(), tells)?;
        Rule::Send.same("packets", PACKETS as usize, rig.sent.len())
    });
}

/// Chance for a case of traffic, and what is to come of it.
#[derive(Default)]
struct Expected {
    /// What threads tell, by level.
    tells: [VecDeque<u32>; 2],
    written: BTreeMap<u32, u32>,
}

impl Expected {
    /// Packets with their effects. The first thread is long, so that others are spilled.
    fn packets(&mut self, rng: &mut Rng, levels: usize) -> Vec<Packet> {
        let mut packets = vec![thread(Kind::THREAD, 3, 20)];
        for number in 0..400 {
            let urgent = levels == 2 && rng.chance(1, 3);
            let level = |kind: Kind| if urgent { kind.urgent() } else { kind };
            let data = number << 16 | rng.below(1 << 15) as u32;
            match rng.below(8) {
                0..3 => {
                    packets.push(thread(level(Kind::THREAD), 1, data));
                    self.tells[usize::from(urgent)].push_back(data);
                }
                3..5 => {
                    let first = rng.chance(1, 2);
                    let slot = if urgent { 6 } else { 2 };
                    packets.push(thread(level(Kind::matching(first)), slot, data));
                    packets.push(thread(level(Kind::matching(!first)), slot, 1));
                    self.tells[usize::from(urgent)].push_back(data + 1);
                }
                _ => {
                    let addr = WRITTEN + rng.below(16) as u32;
                    packets.push(Packet::to(Kind::of(TYPE_WRITE), global(1, addr), data));
                    self.written.insert(addr, data);
                }
            }
        }
        packets
    }

    fn told(&mut self, data: u32) -> Result<(), Fault> {
        let queue = self.tells.iter_mut().find(|queue| queue.front() == Some(&data));
        let queue = queue.ok_or_else(|| Rule::Order.broken(format!("{data:#x} is told")))?;
        queue.pop_front();
        Ok(())
    }
}

fn traffic(unit: &Unit, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        cases.from_each(
            &[From::Random1, From::Zero],
            format!("{} {gaps:?}", unit.dut.name),
            |run| {
                let mut rng = run.rng("traffic");
                let mut rig = Rig::new(run, unit, gaps)?;
                let mut expected = Expected::default();
                let packets = expected.packets(&mut rng, unit.levels);
                packets.into_iter().for_each(|packet| rig.sender.push(packet));
                let (mut told, mut spills, mut idle) = (Vec::new(), 0, 0);
                for _ in 0..30_000 {
                    let seen = rig.step(None)?;
                    let sound = !seen.fault && !seen.fatal && seen.refused == [false; 2];
                    Rule::Order.holds(sound, || format!("{seen:x?}"))?;
                    if let Some(data) = seen.tell {
                        expected.told(data)?;
                        told.push(data);
                    }
                    spills += u64::from(seen.spilled);
                    let done = rig.sender.is_empty() && seen.depth == 0 && rig.sent.len() == told.len();
                    idle = if done { idle + 1 } else { 0 };
                    if idle > 50 {
                        break;
                    }
                }
                Rule::Hang.holds(expected.tells.iter().all(VecDeque::is_empty), || {
                    "threads are missing".into()
                })?;
                let sent: Vec<u32> = rig.sent.iter().map(|packet| packet.data).collect();
                Rule::Send.same("data of the packets", told, sent)?;
                assert!(
                    spills > 0 || gaps.at_source(),
                    "{} {gaps:?}: nothing was spilled",
                    unit.dut.name
                );
                for (addr, data) in &expected.written {
                    Rule::Memory.same(
                        format!("word {addr:#x}"),
                        u64::from(*data),
                        rig.read(*addr)? & MEM_DATA_MASK,
                    )?;
                }
                Ok(())
            },
        );
    }
}

fn checks(unit: &Unit, cases: &mut Cases) {
    latency(unit, cases);
    free(unit, cases);
    written(unit, cases);
    shut(unit, cases);
    traffic(unit, cases);
}

#[test]
fn follows_its_contract() {
    pass(this_test!(), |cases| {
        checks(&unit::<EmxCoreR>(), cases);
        checks(&unit::<EmxCoreY>(), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // Nothing is read before a packet is whole.
            (Latency, &[], &|cases| checks(&unit::<TwinCoreLatency>(), cases)),
            // The input buffer goes before the thread, urgent or not.
            (Free, &[], &|cases| checks(&unit::<TwinCoreFree>(), cases)),
            // A packet overtakes one that comes back from memory.
            (Order, &[Hang, Memory], &|cases| {
                traffic(&unit::<TwinCoreOrder>(), cases)
            }),
            // Word 1 is that of the packet behind.
            (Send, &[], &|cases| checks(&unit::<TwinCoreSend>(), cases)),
            // A WRITE that waits writes what comes behind it.
            (Memory, &[], &|cases| checks(&unit::<TwinCoreMemory>(), cases)),
            // A packet finds the link before a WRITE of it.
            (Memory, &[], &|cases| written(&unit::<TwinCoreWrite>(), cases)),
            // A last SEND that waits keeps the memory.
            (Hang, &[], &|cases| shut(&unit::<TwinCoreShut>(), cases)),
            // What is in memory stays there.
            (Hang, &[Order], &|cases| traffic(&unit::<TwinCoreHang>(), cases)),
        ],
    );
}
