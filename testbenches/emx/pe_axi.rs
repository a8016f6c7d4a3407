//! The PE behind AXI, and `emx_pe` in it: accesses, packets and resets at its pins, with the protocol watched and idle
//! edges left out.

use std::collections::{BTreeMap, VecDeque};

use support::this_test;
use testbenches::rtl::*;
use testbenches::{
    Cases, Dut, Fault, Instance, PERIOD, Rule as _, Run, Start, each_is_caught, pass, rules, s_axil, set_s_axil,
};
use tsunagi::emx::packet::{Kind, Packet, global};
use tsunagi::emx::regs::*;
use tsunagi::harness::axi::{self, AxiMaster, Burst, FromMaster, FromSlave, Resp, Rules, WriteBeat};
use tsunagi::harness::seed::{Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Pacer};
use verilated::{Input as _, Port as _};

use crate::rig::{Sender, word};

rules!(
    /// The PE is busy while its bridge is: leaving out the other edges changes nothing.
    Gating
    /// An access has its effect, and its answer or its error.
    Access
    /// What comes on a link goes on or starts a thread; what a thread sends leaves where there is room.
    Links
    /// A thread that faults stops the threads of its PE until reset, and is shown; packets still go on.
    Halt
    /// A reset leaves nothing but memory.
    Reset
    /// TIME counts cycles.
    Time
);

/// Bytes of a word of the bus.
const BUS: u32 = 8;
/// It stands in column 2, so channels stay as they are.
const PE_NUMBER: u32 = 7;
const PES: u32 = 80;
const CODE: u32 = 0x400;
const WORDS: u32 = 1 << EmxPeAxi::ADDR_W;
/// Where the host writes and reads.
const DATA: u32 = 0x3000;

#[derive(Clone, Debug, Default, PartialEq)]
struct In {
    reset: bool,
    axi: FromMaster,
    links: [Option<(u64, bool)>; 2],
    room: [bool; 2],
}

#[derive(Clone, Debug, PartialEq)]
struct Out {
    irq: bool,
    busy: bool,
    axi: FromSlave,
    room: [bool; 2],
    links: [Option<(u64, bool)>; 2],
}

fn set(dut: &impl EmxPeAxiPorts, inputs: &In) {
    dut.aresetn().set_bool(!inputs.reset);
    dut.pe().set(PE_NUMBER.into());
    dut.link_in_vc().set(0);
    for (link, word) in inputs.links.iter().enumerate() {
        let (data, last) = word.unwrap_or((0x2a_dead_beef, true));
        dut.link_in_valid().set_bits(link, 1, word.is_some().into());
        dut.link_in_data().set_bits(39 * link, 39, data);
        dut.link_in_last().set_bits(link, 1, last.into());
        dut.link_out_room()
            .set_bits(3 * link, 3, if inputs.room[link] { 7 } else { 0 });
    }
    set_s_axil!(dut, &inputs.axi);
}

fn seen(dut: &impl EmxPeAxiPorts) -> Out {
    let word = |link: usize| {
        (
            dut.link_out_data().get_bits(39 * link, 39),
            dut.link_out_last().bit(link),
        )
    };
    Out {
        irq: dut.irq().is_set(),
        busy: dut.busy().is_set(),
        axi: s_axil!(dut),
        room: [0, 1].map(|link| dut.link_in_room().bit(3 * link)),
        links: [0, 1].map(|link| dut.link_out_valid().bit(link).then(|| word(link))),
    }
}

/// A host, the neighbours, and two instances, one of which leaves out the edges that should change nothing.
struct Rig<'a> {
    units: [Box<dyn Instance<In, Out>>; 2],
    wave: Recorder<'a>,
    cycle: u64,
    gates: bool,
    host: AxiMaster,
    rules: Rules,
    answers: VecDeque<(u64, Resp)>,
    neighbours: [Sender; 2],
    rooms: [Pacer; 2],
    /// Of the last two cycles, the newer first.
    room: [[bool; 2]; 2],
    /// Word 0 of a packet under way, and packets that left.
    half: [Option<u64>; 2],
    left: Vec<[u64; 2]>,
    rng: Rng,
}

impl<'a> Rig<'a> {
    /// Out of reset. TIME is not the same where edges are left out.
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, gaps: Gaps, gates: bool) -> Rig<'a> {
        let context = run.context();
        let units = ["dut", "gated"].map(|name| dut.named(&context, name));
        let mut rig = Rig {
            wave: run.recorder(&[units[0].verilated(), units[1].verilated()]),
            units,
            cycle: 0,
            gates,
            host: AxiMaster::new(gaps, |name| run.rng(&format!("host {name}"))),
            // AXI4-Lite always means the whole word, whatever the low bits of the address.
            rules: Rules::new(BUS).without(&[axi::Rule::Lanes]),
            answers: VecDeque::new(),
            neighbours: [0, 1].map(|link| Sender::new(run.pacer(gaps.at_source(), &format!("link {link}")))),
            rooms: [0, 1].map(|link| run.pacer(gaps.at_sink(), &format!("room {link}"))),
            room: [[false; 2]; 2],
            half: [None; 2],
            left: Vec::new(),
            rng: run.rng("chance"),
        };
        rig.reset();
        rig
    }

    fn reset(&mut self) {
        // Inside, resets begin a cycle later, and so they do in the neighbours.
        let mut inputs = In {
            reset: true,
            links: self.words(),
            ..In::default()
        };
        for _ in 0..8 {
            self.edge(&inputs, true);
            inputs.links = [None; 2];
        }
        // A master waits for the first edge out of reset.
        self.edge(&In::default(), true);
        self.rules.forget();
        self.answers.clear();
        self.neighbours.iter_mut().for_each(Sender::reset);
        self.room = [[false; 2]; 2];
        self.half = [None; 2];
        self.left.clear();
    }

    /// Outputs of both instances before an edge; the second has it only if `asked`.
    fn edge(&mut self, inputs: &In, asked: bool) -> [Out; 2] {
        for unit in &self.units {
            unit.set(inputs);
            let unit = unit.verilated();
            unit.context().set_time(self.cycle * PERIOD);
            unit.junk();
            unit.fall(!0);
        }
        self.wave.tick(self.cycle * PERIOD);
        let seen = [0, 1].map(|unit| self.units[unit].seen());
        for (number, unit) in self.units.iter().enumerate() {
            if number == 0 || asked || seen[1].busy || !self.gates {
                let unit = unit.verilated();
                unit.context().set_time(self.cycle * PERIOD + PERIOD / 2);
                unit.junk();
                unit.rise(!0);
            }
        }
        self.wave.tick(self.cycle * PERIOD + PERIOD / 2);
        self.cycle += 1;
        seen
    }

    /// On the links to the PE.
    fn words(&self) -> [Option<(u64, bool)>; 2] {
        [0, 1].map(|link| self.neighbours[link].word())
    }

    fn step(&mut self) -> Result<Out, Fault> {
        let inputs = In {
            reset: false,
            axi: self.host.drive(),
            links: self.words(),
            room: [0, 1].map(|link| self.rooms[link].step()),
        };
        let asked = inputs.axi.aw.is_some()
            || inputs.axi.w.is_some()
            || inputs.axi.ar.is_some()
            || inputs.links.iter().any(Option::is_some);
        let [seen, gated] = self.edge(&inputs, asked);
        Rule::Gating.same(format!("cycle {}, with edges left out", self.cycle), &seen, &gated)?;
        self.rules.step(&inputs.axi, &seen.axi)?;
        let taken = self.host.step(&seen.axi);
        self.answers.extend(taken.r.map(|beat| (beat.data, beat.resp)));
        self.answers.extend(taken.b.map(|end| (0, end.resp)));
        for link in 0..2 {
            self.neighbours[link].step(seen.room[link]);
            self.take(link, seen.links[link])?;
        }
        self.room = [inputs.room, self.room[0]];
        Ok(seen)
    }

    fn take(&mut self, link: usize, came: Option<(u64, bool)>) -> Result<(), Fault> {
        let half = self.half[link].take();
        let wants = half.is_some();
        Rule::Links.holds(came.is_some() || !wants, || "word 1 does not follow".into())?;
        let Some((word, last)) = came else { return Ok(()) };
        Rule::Links.same("last", wants, last)?;
        match half {
            Some(first) => self.left.push([first, word]),
            None => {
                Rule::Links.holds(self.room[0][link], || "a packet without room".into())?;
                self.half[link] = Some(word);
            }
        }
        Ok(())
    }

    /// An access, and its answer.
    fn access(&mut self, addr: u32, write: Option<(u64, u8)>) -> Result<(u64, Resp), Fault> {
        let burst = Burst::words(addr, 1, BUS);
        match write {
            None => self.host.read(burst),
            Some((data, strb)) => self.host.write(burst, [WriteBeat { data, strb, last: true }]),
        }
        for _ in 0..5_000 {
            self.step()?;
            if let Some(answer) = self.answers.pop_front() {
                return Ok(answer);
            }
        }
        Err(Rule::Access.broken(format!("no answer at {addr:#x}")))
    }

    fn write(&mut self, addr: u32, value: u64) -> Result<(), Fault> {
        let answer = self.access(addr, Some((value, 0xff)))?;
        Rule::Access.same(format!("write to {addr:#x}"), (0, Resp::Okay), answer)
    }

    fn read(&mut self, addr: u32) -> Result<u64, Fault> {
        let (value, resp) = self.access(addr, None)?;
        Rule::Access.same(format!("response to a read of {addr:#x}"), Resp::Okay, resp)?;
        Ok(value)
    }

    /// What left but for its path, in order of value.
    fn departed(&mut self) -> Vec<[u64; 2]> {
        let left = self.left.drain(..);
        let mut left: Vec<[u64; 2]> = left.map(|[first, second]| [first & !PKT_W0_PE_MASK, second]).collect();
        left.sort_unstable();
        left
    }

    /// Until nothing has moved for a while.
    fn rest(&mut self) -> Result<(), Fault> {
        let mut quiet = 0;
        for _ in 0..20_000 {
            let seen = self.step()?;
            let moves = seen.busy || !self.neighbours.iter().all(Sender::is_empty);
            quiet = if moves { 0 } else { quiet + 1 };
            if quiet == 30 {
                return Ok(());
            }
        }
        Err(Rule::Links.broken("it never rests"))
    }
}

/// Random accesses against what the page of registers says.
fn accesses(rig: &mut Rig, count: u32) -> Result<(), Fault> {
    let mut words: BTreeMap<u32, u64> = BTreeMap::new();
    let (mut mask, mut send0, mut errors) = (0, 0, 0);
    for _ in 0..count {
        let (at, value) = (rig.rng.below(8) as u32, rig.rng.bits());
        let strobes = if rig.rng.chance(1, 6) {
            rig.rng.below(255) as u8
        } else {
            0xff
        };
        let addr = match rig.rng.below(8) {
            0 => MASK,
            1 => SEND0,
            2 => COUNTS,
            3 => [0x70, 0x140, 0x7f_fff8, MEMORY + BUS * WORDS][at as usize % 4],
            _ => MEMORY + BUS * (DATA + at),
        };
        let writable = !matches!(addr, COUNTS | 0x70 | 0x140 | 0x7f_fff8) && addr < MEMORY + BUS * WORDS;
        if rig.rng.chance(1, 2) || (addr > MEMORY && writable && !words.contains_key(&addr)) {
            let (_, resp) = rig.access(addr, Some((value, strobes)))?;
            let good = writable && strobes == 0xff;
            Rule::Access.same(format!("write to {addr:#x}"), !good, resp == Resp::SlvErr)?;
            errors += u64::from(!good);
            match addr {
                _ if !good => {}
                MASK => mask = value & 0x1f,
                SEND0 => send0 = value & ((1 << 39) - 1),
                _ => drop(words.insert(addr, value & ((1 << 40) - 1))),
            }
        } else {
            let (value, resp) = rig.access(addr, None)?;
            let good = writable || addr == COUNTS;
            errors += u64::from(!good);
            let want = match addr {
                MASK => mask,
                SEND0 => send0,
                _ => words.get(&addr).copied().unwrap_or_default(),
            };
            Rule::Access.same(
                format!("read of {addr:#x}"),
                (want, !good),
                (value, resp == Resp::SlvErr),
            )?;
        }
    }
    let counted = rig.read(HOST_ERRORS)?;
    Rule::Access.same("HOST_ERRORS", errors, counted)
}

/// The thread of USER5 tells its data and sends it on; its address part is the receiver's.
fn load(rig: &mut Rig) -> Result<(), Fault> {
    let end = 1 << INSN_END_SHIFT;
    let thread = CODE + SIZE_ENTRY * TYPE_USER5;
    let code = [
        (0, CODE),
        (thread, word(OP_TELL, [1, 0], 0)),
        (thread + 1, word(OP_SEND, [1, 2], 0) | end),
        (thread + SIZE_ENTRY, word(OP_GET, [3, 0], SPECIAL_TIME)),
        (thread + SIZE_ENTRY + 1, word(OP_GET, [4, 0], SPECIAL_TIME)),
        (thread + SIZE_ENTRY + 2, word(OP_SUB, [3, 4], 3 << 13)),
        (thread + SIZE_ENTRY + 3, word(OP_TELL, [3, 0], 0) | end),
    ];
    for (addr, insn) in code {
        rig.write(MEMORY + BUS * addr, insn.into())?;
    }
    rig.write(CONTROL, CONTROL_RUN_MASK)
}

/// A packet for here, which starts USER5, and what leaves for it but for its path.
fn starts(rng: &mut Rng) -> (Packet, [u64; 2]) {
    let others = [8, 33, PES - 1];
    let target = global(others[rng.below(3) as usize], rng.below(1 << 16) as u32);
    let addr = rng.below(CODE.into()) as u32;
    let packet = Packet::to(Kind::of(TYPE_USER5), global(1, addr), target);
    let first = u64::from(target) & PKT_W0_ADDR_MASK;
    (packet, [first, u64::from(addr)])
}

/// A packet that goes on, and how it leaves.
fn passes(rng: &mut Rng) -> (Packet, [u64; 2]) {
    let path = 2 + rng.below(2) as u32;
    let packet = Packet::to(Kind::of(TYPE_WRITE), global(path | 4, 0x55), rng.bits() as u32);
    let [first, second] = packet.words();
    (packet, [first & !PKT_W0_PE_MASK, second])
}

/// Packets on both links and from the host, with accesses at the same time.
fn traffic(rig: &mut Rig, count: u32) -> Result<(), Fault> {
    load(rig)?;
    let (mut wanted, mut told) = (Vec::new(), false);
    for _ in 0..count {
        let (packet, leaves) = if rig.rng.chance(1, 2) {
            starts(&mut rig.rng)
        } else {
            passes(&mut rig.rng)
        };
        let here = leaves[0] >> PKT_W0_TYPE_SHIFT == 0;
        told |= here;
        wanted.push(leaves);
        if here && rig.rng.chance(1, 3) {
            let [first, second] = packet.words();
            rig.write(SEND0, first)?;
            rig.write(SEND1, second)?;
        } else {
            let link = rig.rng.below(2) as usize;
            rig.neighbours[link].push(packet);
        }
        if rig.rng.chance(1, 4) {
            let value = rig.rng.bits() & MEM_DATA_MASK;
            rig.write(MEMORY + BUS * DATA, value)?;
            let got = rig.read(MEMORY + BUS * DATA)?;
            Rule::Access.same("a word", value, got)?;
        }
    }
    rig.rest()?;
    wanted.sort_unstable();
    Rule::Links.same("packets that left", wanted, rig.departed())?;
    rig.write(MASK, STATUS_TOLD_MASK)?;
    rig.rest()?;
    let seen = rig.step()?;
    Rule::Links.same("interrupt", told, seen.irq)
}

/// Resets in the middle of all of that; nothing but memory is left.
fn resets(rig: &mut Rig) -> Result<(), Fault> {
    for _ in 0..6 {
        load(rig)?;
        rig.write(MASK, 0x1f)?;
        for _ in 0..20 {
            let (packet, _) = starts(&mut rig.rng);
            rig.neighbours[0].push(packet);
        }
        for _ in 0..rig.rng.below(150) {
            rig.step()?;
        }
        rig.reset();
        rig.neighbours = [0, 1].map(|_| Sender::new(Pacer::steady()));
        for register in [CONTROL, STATUS, MASK, SEND0, TELL, DEPTH, WAITING, HOST_ERRORS, COUNTS] {
            let value = rig.read(register)?;
            Rule::Reset.same(format!("register {register:#x}"), 0, value)?;
        }
        let code = rig.read(MEMORY)?;
        Rule::Reset.same("memory", u64::from(CODE), code)?;
        rig.rest()?;
        Rule::Reset.same("packets that left", 0, rig.left.len())?;
    }
    Ok(())
}

/// A thread traps. Packets go on, and after a reset all is as ever.
fn halts(rig: &mut Rig) -> Result<(), Fault> {
    const CODE_OF_TRAP: u32 = 0x155;
    load(rig)?;
    let pc = CODE + SIZE_ENTRY * TYPE_USER5 + 1;
    let trap = word(OP_TRAP, [0, 0], CODE_OF_TRAP);
    rig.write(MEMORY + BUS * pc, trap.into())?;
    rig.write(MASK, STATUS_HALTED_MASK)?;
    let (packet, _) = starts(&mut rig.rng);
    rig.neighbours[0].push(packet);
    rig.rest()?;
    let irq = rig.step()?.irq;
    Rule::Halt.holds(irq, || "no interrupt".into())?;
    let fault = rig.read(FAULT)?;
    let [pc, cause, code] = [
        (pc, FAULT_PC_SHIFT),
        (FAULT_CAUSE_TRAP, FAULT_CAUSE_SHIFT),
        (CODE_OF_TRAP, FAULT_CODE_SHIFT),
    ]
    .map(|(value, shift)| u64::from(value) << shift);
    Rule::Halt.same("FAULT", pc | cause | code, fault)?;
    let mut wanted = Vec::new();
    for _ in 0..10 {
        let (packet, leaves) = passes(&mut rig.rng);
        rig.neighbours[1].push(packet);
        wanted.push(leaves);
    }
    // It waits for ever, and so the PE never rests.
    let (packet, _) = starts(&mut rig.rng);
    rig.neighbours[0].push(packet);
    for _ in 0..500 {
        rig.step()?;
    }
    wanted.sort_unstable();
    Rule::Halt.same("packets that left", wanted, rig.departed())?;
    rig.reset();
    traffic(rig, 20)
}

/// Two instructions one behind the other read TIME.
fn time(rig: &mut Rig) -> Result<(), Fault> {
    load(rig)?;
    let [first, second] = Packet::to(Kind::of(TYPE_USER5 + 1), global(1, 0), 0).words();
    rig.write(SEND0, first)?;
    rig.write(SEND1, second)?;
    rig.rest()?;
    let cycles = rig.read(TELL)?;
    Rule::Time.same("from an instruction to the next", 1, cycles)
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        let mut case = |name, gates, body: &dyn Fn(&mut Rig) -> Result<(), Fault>| {
            cases.from_each(&Start::RANDOM, format!("{name} {gaps:?}"), |run| {
                body(&mut Rig::new(run, dut, gaps, gates))
            });
        };
        case("accesses", true, &|rig| accesses(rig, 200));
        case("traffic", true, &|rig| traffic(rig, 100));
        case("halts", true, &halts);
        case("resets", true, &resets);
        case("time", false, &time);
    }
}

fn unit<U: EmxPeAxiUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

#[test]
fn follows_its_contract() {
    pass(this_test!(), |cases| checks(&unit::<EmxPeAxi>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The access of a host does not make it busy.
            (Gating, &[], &|cases| checks(&unit::<TwinPeAxiBusy>(), cases)),
            // The counters are not cleared at rest.
            (Gating, &[], &|cases| checks(&unit::<TwinPeAxiClears>(), cases)),
            // What is refused is answered as what is not.
            (Access, &[], &|cases| checks(&unit::<TwinPeAxiError>(), cases)),
            // Packets leave without room.
            (Links, &[], &|cases| checks(&unit::<TwinPeAxiRoom>(), cases)),
            // A fault is not told to the registers.
            (Halt, &[], &|cases| checks(&unit::<TwinPeAxiHalt>(), cases)),
            // There is no reset but that at the begin.
            (Reset, &[Access, Gating, Links], &|cases| {
                checks(&unit::<TwinPeAxiReset>(), cases)
            }),
            // TIME counts by two.
            (Time, &[], &|cases| checks(&unit::<TwinPeAxiTime>(), cases)),
        ],
    );
}
