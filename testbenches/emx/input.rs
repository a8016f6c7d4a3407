//! `emx_input`: every packet is refused, done or queued, in order across the spill to memory, beside the golden model.

use std::collections::VecDeque;

use support::this_test;
use testbenches::gate::Pair;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Rule as _, Run, Start as From, each_is_caught, pass, rules};
use tsunagi::emx::golden::input::{Arrival, Input};
use tsunagi::emx::golden::memory::{Map, Memory};
use tsunagi::emx::packet::{Kind, Packet};
use tsunagi::emx::params::Config;
use tsunagi::emx::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer, Source};
use verilated::{Input as _, Port as _};

use crate::rig::{Access, Sender, config, packet, set_packet, value};

rules!(
    /// Packets of no form or address are refused, in order, and no others.
    Refused
    /// A WRITE or READ that passes is one access, before later packets.
    Bypass
    /// A READ that passes is answered in the next cycle.
    Reply
    /// Packets leave in order, those of level 1 first.
    Next
    /// Word 0 of a packet that is alone is shown at once, and nothing is offered in the next cycle.
    Early
    /// Packets go to memory and come back where the model allows it, both words in turn.
    Spill
    /// A refill that waits goes first after so many spills.
    Turns
    /// Packets that are held are counted.
    Depth
    /// There is room for a packet that begins where `su_room_o` is high, and it is high where there is room.
    Room
    /// FATAL where the memory for packets is full, and only there.
    Fatal
    /// The host's packet waits for 15 of the switch's at most.
    Host
    /// The memory is asked for as long as there is something to do, urgently where the tail is short.
    Prompt
    /// A packet every two cycles where nothing waits, and a spill and a refill in two accesses each.
    Rate
    /// An edge that may be left out changes nothing.
    Gating
);

#[derive(Clone, Default)]
struct In {
    /// A word, and whether it is the last one.
    su: Option<(u64, bool)>,
    host: Option<Packet>,
    next_ready: bool,
    mem_ready: bool,
    mem_rdata: Option<u64>,
    reply_ready: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    room: bool,
    host_ready: bool,
    next: Option<Packet>,
    early: Option<u64>,
    access: Option<Access>,
    urgent: bool,
    reply: Option<Packet>,
    refused: Option<(u32, Packet)>,
    depth: usize,
    spilled: bool,
    bypassed: bool,
    fatal: bool,
}

fn set(dut: &impl EmxInputPorts, inputs: &In) {
    let (word, last) = inputs.su.unwrap_or((0x55_dead_beef, true));
    dut.su_valid_i().set_bool(inputs.su.is_some());
    dut.su_data_i().set(word);
    dut.su_last_i().set_bool(last);
    dut.host_valid_i().set_bool(inputs.host.is_some());
    set_packet(dut.host_packet_i(), 0, inputs.host);
    dut.next_ready_i().set_bool(inputs.next_ready);
    dut.mem_ready_i().set_bool(inputs.mem_ready);
    dut.mem_rdata_i().set(inputs.mem_rdata.unwrap_or(0x2a_bad0_bad0));
    dut.reply_ready_i().set_bool(inputs.reply_ready);
}

fn seen(dut: &impl EmxInputPorts) -> Out {
    let access = || Access {
        addr: dut.mem_addr_o().get() as u32,
        write: dut.mem_write_o().is_set().then(|| dut.mem_wdata_o().get()),
    };
    let refused = || (dut.refused_reason_o().get() as u32, packet(dut.refused_packet_o()));
    Out {
        room: dut.su_room_o().is_set(),
        host_ready: dut.host_ready_o().is_set(),
        next: dut.next_valid_o().is_set().then(|| packet(dut.next_packet_o())),
        early: dut.early_valid_o().is_set().then(|| dut.early_word_o().get()),
        access: dut.mem_valid_o().is_set().then(access),
        urgent: dut.urgent_o().is_set(),
        reply: dut.reply_valid_o().is_set().then(|| packet(dut.reply_packet_o())),
        refused: dut.refused_valid_o().is_set().then(refused),
        depth: dut.depth_o().get() as usize,
        spilled: dut.spilled_o().is_set(),
        bypassed: dut.bypassed_o().is_set(),
        fatal: dut.fatal_o().is_set(),
    }
}

/// A unit under test.
struct Unit {
    dut: Dut<In, Out>,
    config: Config,
}

fn unit<U: EmxInputUnit + 'static>() -> Unit {
    let mut config = config(U::ADDR_W, U::SPILL_BITS, U::LEVELS);
    config.half_packets = U::HALF_PACKETS as u32;
    config.spill_turns = U::SPILL_TURNS as u32;
    (config.write_bypass, config.read_bypass) = (U::WRITE_BYPASS, U::READ_BYPASS);
    Unit {
        dut: Dut::of::<U>(set, seen),
        config,
    }
}

/// The two accesses of a packet that goes to the ring or comes back.
#[derive(Clone, Copy, Debug)]
struct Move {
    level: usize,
    addr: u32,
    /// The words of a spill.
    words: Option<[u64; 2]>,
    second: bool,
}

struct Model {
    config: Config,
    map: Map,
    input: Input,
    memory: Memory,
    /// Arrivals of which nothing is known yet.
    pending: VecDeque<Packet>,
    moving: Option<Move>,
    /// A refill whose second word comes in this cycle.
    coming: Option<Move>,
    /// What the last cycle did.
    last: Last,
    /// Due in this cycle.
    reply: Option<Packet>,
    spilled: bool,
    bypassed: bool,
    /// Spills since the last refill.
    turns: u32,
    fatal: bool,
    /// Packets that went before the host's.
    passed: u64,
    waits: Waits,
    seen: Totals,
}

#[derive(Default)]
struct Last {
    reply_ready: bool,
    early: bool,
    depth: usize,
    /// A spill was wanted, and the memory for packets was full.
    full: bool,
    may_be_full: bool,
    /// It was urgent, and not shown.
    late: bool,
}

/// Cycles for which something was so.
#[derive(Default)]
struct Waits {
    decision: u64,
    memory: u64,
    room: u64,
}

/// What a case saw.
#[derive(Default)]
struct Totals {
    spills: u64,
    refills: u64,
    bypasses: u64,
    taken: u64,
    fatals: u64,
}

/// What memory keeps of a packet.
fn kept(packet: Packet) -> Packet {
    Packet { pe: 0, ..packet }
}

impl Model {
    fn new(unit: &Unit, memory: Memory) -> Model {
        Model {
            config: unit.config.clone(),
            map: memory.map.clone(),
            input: Input::new(&unit.config),
            memory,
            pending: VecDeque::new(),
            moving: None,
            coming: None,
            last: Last::default(),
            reply: None,
            spilled: false,
            bypassed: false,
            turns: 0,
            fatal: false,
            passed: 0,
            waits: Waits::default(),
            seen: Totals::default(),
        }
    }

    fn reset(&mut self, unit: &Unit) {
        let memory = self.memory.clone();
        let totals = std::mem::take(&mut self.seen);
        *self = Model::new(unit, memory);
        self.seen = totals;
    }

    fn levels(&self) -> usize {
        self.config.levels as usize
    }

    /// A cycle; gives the word that the memory returns.
    fn step(&mut self, inputs: &In, arrival: Option<Packet>, seen: &Out) -> Result<Option<u64>, Fault> {
        self.decisions(seen)?;
        Rule::Reply.same("answer", self.reply.take(), seen.reply)?;
        Rule::Spill.same("spilled", std::mem::take(&mut self.spilled), seen.spilled)?;
        Rule::Bypass.same("bypassed", std::mem::take(&mut self.bypassed), seen.bypassed)?;
        self.room(inputs, seen)?;
        self.early(inputs, seen)?;
        let waits = self.pending.len();
        let from_host = inputs.host.filter(|_| seen.host_ready);
        self.pending.extend(arrival.or(from_host));
        Rule::Room.holds(self.pending.len() <= 3, || "arrivals pile up".into())?;
        let next = self.input.next().copied();
        let short = (0..self.levels()).any(|level| self.input.wants_spill(level));
        self.urgent(inputs, seen, short, waits > 1)?;
        Rule::Next.same("next", next.map(kept), seen.next.map(kept))?;
        let read = self.memory(inputs, seen)?;
        self.prompt(inputs, seen)?;
        self.last.reply_ready = inputs.reply_ready;
        Ok(read)
    }

    fn early(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        let alone = self.pending.is_empty() && seen.depth == 0;
        let word = inputs.su.filter(|(_, last)| alone && !last).map(|(word, _)| word);
        Rule::Early.same("word 0", word, seen.early)?;
        let before = std::mem::replace(&mut self.last.early, seen.early.is_some());
        Rule::Early.holds(!(before && seen.next.is_some()), || "another is offered".into())
    }

    /// What became of arrivals in the last cycle.
    fn decisions(&mut self, seen: &Out) -> Result<(), Fault> {
        let room = self.last.reply_ready;
        if let Some((reason, packet)) = seen.refused {
            let front = self.pending.pop_front();
            Rule::Refused.same("packet", front, Some(packet))?;
            let arrival = self.input.arrives(packet, room);
            Rule::Refused.same("reason", Ok(Arrival::Refused(reason)), arrival)?;
            self.waits.decision = 0;
        }
        if seen.depth > self.last.depth {
            let front = self
                .pending
                .pop_front()
                .ok_or(Rule::Depth.broken("a packet from nowhere"))?;
            let arrival = self.input.arrives(front, room);
            let refuses = matches!(arrival, Ok(Arrival::Refused(_)));
            let rule = if refuses { Rule::Refused } else { Rule::Bypass };
            rule.same(format!("{front} is queued"), Ok(Arrival::Queued), arrival)?;
            self.waits.decision = 0;
        }
        Rule::Depth.same("depth", self.input.depth(), seen.depth)?;
        self.last.depth = seen.depth;
        // What waits is a bypass, or finds no place.
        let stands = |packet: &Packet| !self.input.bypasses(packet, true);
        let waits = self.pending.front().is_some_and(stands) && self.input.free() > 1;
        self.waits.decision = if waits { self.waits.decision + 1 } else { 0 };
        Rule::Room.holds(self.waits.decision < 8, || "an arrival is not queued".into())
    }

    fn room(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        if seen.fatal != self.fatal {
            Rule::Fatal.holds(self.last.may_be_full, || "the memory for packets is not full".into())?;
            self.fatal = true;
            self.seen.fatals += 1;
        }
        // The place of a packet that comes back is free already.
        self.last.may_be_full = self.input.is_fatal();
        let full = self.coming.is_none() && self.last.may_be_full;
        Rule::Fatal.holds(seen.fatal || !(self.last.full && full), || "it is not shown".into())?;
        self.last.full = full;
        Rule::Fatal.holds(!(seen.fatal && (seen.room || seen.host_ready)), || {
            "room for more".into()
        })?;
        let free = !seen.fatal && self.pending.is_empty() && inputs.host.is_none() && self.input.free() >= 2;
        self.waits.room = if free && !seen.room { self.waits.room + 1 } else { 0 };
        Rule::Room.holds(self.waits.room < 4, || "there is room, but not shown".into())?;
        let from_su = matches!(inputs.su, Some((_, true)));
        self.passed = match inputs.host {
            Some(_) if !seen.host_ready => self.passed + u64::from(from_su),
            _ => 0,
        };
        Rule::Host.holds(self.passed <= 15, || {
            format!("{} packets before the host's", self.passed)
        })
    }

    /// The access of this cycle, a packet that is taken, and a refill that comes in it.
    fn memory(&mut self, inputs: &In, seen: &Out) -> Result<Option<u64>, Fault> {
        let coming = self.coming.take();
        // What begins in this cycle is of the state before; but the place of a packet that comes is free.
        let level = seen.access.and_then(|access| self.level(access.addr));
        let behind = coming.is_some_and(|coming| Some(coming.level) == level && !self.is_last(coming.level));
        if !behind {
            self.access(inputs, seen)?;
        }
        if seen.next.is_some() && inputs.next_ready {
            self.input
                .take()
                .map_err(|error| Rule::Next.broken(error.to_string()))?;
            self.last.depth -= 1;
            self.seen.taken += 1;
        }
        if let Some(coming) = coming {
            let place = self.input.refill(coming.level);
            Rule::Spill.same("place of a refill", Ok(coming.addr), place)?;
            self.seen.refills += 1;
        }
        if behind {
            self.access(inputs, seen)?;
        }
        let access = seen.access.filter(|_| inputs.mem_ready);
        let Some(Access { addr, write }) = access else {
            return Ok(None);
        };
        match write {
            Some(word) => self.memory.write(addr, word),
            None => return Ok(Some(self.memory.word(addr))),
        }
        Ok(None)
    }

    /// The level in whose ring the address is.
    fn level(&self, addr: u32) -> Option<usize> {
        let within = self.map.spill.contains(&addr);
        within.then(|| ((addr - self.map.spill.start) / (2 * self.map.ring_packets)) as usize)
    }

    fn access(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        match seen.access {
            None => Rule::Spill.holds(self.moving.is_none(), || "nothing between two words".into()),
            Some(access) => match self.level(access.addr) {
                Some(level) => self.move_packet(inputs, &access, level),
                None => self.bypass(inputs, seen, &access),
            },
        }
    }

    /// Is there but one packet in this level's ring?
    fn is_last(&self, level: usize) -> bool {
        let mut input = self.input.clone();
        input.refill(level).is_ok() && input.refill(level).is_err()
    }

    fn move_packet(&mut self, inputs: &In, access: &Access, level: usize) -> Result<(), Fault> {
        let moving = match self.moving {
            Some(moving) => moving,
            None => self.begin(inputs, access, level)?,
        };
        let addr = moving.addr + u32::from(moving.second);
        let write = moving.words.map(|words| words[usize::from(moving.second)]);
        Rule::Spill.same("access", Access { addr, write }, *access)?;
        self.moving = Some(moving);
        if !inputs.mem_ready {
            return Ok(());
        }
        self.moving = (!moving.second).then_some(Move { second: true, ..moving });
        if moving.second && moving.words.is_some() {
            self.spilled = true;
            self.seen.spills += 1;
        } else if moving.second {
            self.coming = Some(moving);
            self.turns = 0;
        }
        Ok(())
    }

    fn begin(&mut self, inputs: &In, access: &Access, level: usize) -> Result<Move, Fault> {
        let passes = |packet: &Packet| self.input.bypasses(packet, inputs.reply_ready);
        let passes = self.pending.front().is_some_and(passes);
        let read = self
            .pending
            .front()
            .is_some_and(|packet| packet.kind.kind() == TYPE_READ);
        Rule::Bypass.holds(!passes || read, || "a packet moves before a WRITE passes".into())?;
        let mut moving = Move {
            level,
            addr: access.addr,
            words: None,
            second: false,
        };
        if access.write.is_none() {
            let may = self.input.wants_refill(level);
            Rule::Spill.holds(may, || format!("a refill of level {level} that need not be"))?;
            return Ok(moving);
        }
        let may = self.input.wants_spill(level);
        Rule::Spill.holds(may, || format!("a spill of level {level} that need not be"))?;
        let waits = (0..self.levels()).any(|level| self.input.wants_refill(level));
        let turns = self.turns;
        Rule::Turns.holds(!waits || turns < self.config.spill_turns, || {
            format!("a refill waits for {turns} spills, and one more")
        })?;
        self.turns += 1;
        let spilled = self.input.spill(level);
        let (addr, words) = spilled.map_err(|error| Rule::Spill.broken(error.to_string()))?;
        (moving.addr, moving.words) = (addr, Some(words));
        Ok(moving)
    }

    fn bypass(&mut self, inputs: &In, seen: &Out, access: &Access) -> Result<(), Fault> {
        let moving = self.moving.is_some();
        Rule::Spill.holds(!moving, || "another access between two words".into())?;
        let front = self.pending.front().copied();
        let front = front.ok_or_else(|| Rule::Bypass.broken(format!("{access:x?} of no packet")))?;
        let arrival = self.input.clone().arrives(front, inputs.reply_ready);
        let want = match arrival {
            Ok(Arrival::Write { addr, data }) => Some(Access {
                addr,
                write: Some(data.into()),
            }),
            Ok(Arrival::Read { addr }) => Some(Access { addr, write: None }),
            _ => None,
        };
        Rule::Bypass.same(format!("access of {front}"), want, Some(*access))?;
        if !inputs.mem_ready {
            return Ok(());
        }
        self.pending.pop_front();
        self.bypassed = true;
        self.seen.bypasses += 1;
        if access.write.is_none() {
            Rule::Reply.holds(seen.reply.is_none(), || "one place for two answers".into())?;
            self.reply = Some(front.answer(self.memory.data(access.addr)));
        }
        Ok(())
    }

    fn prompt(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        let mut levels = 0..self.levels();
        let passes = |packet: &Packet| self.input.bypasses(packet, inputs.reply_ready);
        let passes = self.pending.front().is_some_and(passes) && seen.reply.is_none();
        let wants = levels.any(|level| {
            self.input.wants_refill(level) || !seen.fatal && self.input.wants_spill(level) && !self.input.is_fatal()
        });
        let idle = (wants || passes) && seen.access.is_none();
        self.waits.memory = if idle { self.waits.memory + 1 } else { 0 };
        Rule::Prompt.holds(self.waits.memory < 3, || "nothing is asked for".into())?;
        Ok(())
    }

    fn urgent(&mut self, inputs: &In, seen: &Out, short: bool, behind: bool) -> Result<(), Fault> {
        let passes = |packet: &Packet| self.input.bypasses(packet, inputs.reply_ready);
        let behind = behind && self.pending.front().is_some_and(passes);
        let may = short || behind;
        Rule::Prompt.holds(may || !seen.urgent, || "urgent without a cause".into())?;
        // On the chip packets move up one by one.
        let late = may && !seen.urgent;
        let missed = std::mem::replace(&mut self.last.late, late);
        Rule::Prompt.holds(!(late && missed), || "it is urgent".into())
    }
}

/// What a case sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Traffic {
    All,
    Threads,
    Writes,
    Reads,
}

/// A packet, well formed or not.
fn some_packet(rng: &mut Rng, map: &Map, traffic: Traffic) -> Packet {
    let edges = [map.spill.start - 1, map.spill.end, map.words - 1];
    let within = [map.spill.start, map.spill.end - 1, map.words, (1 << 22) - 1];
    let wrong = traffic == Traffic::All && rng.chance(1, 20);
    let addr = match rng.below(8) {
        0 => edges[rng.below(3) as usize],
        1 if wrong => within[rng.below(4) as usize],
        _ => rng.below(map.spill.start.into()) as u32,
    };
    let kind = match traffic {
        Traffic::Threads => Kind::THREAD,
        Traffic::Writes => Kind::of(TYPE_WRITE),
        Traffic::Reads => Kind::of(TYPE_READ),
        Traffic::All if wrong => Kind(rng.below(1 << 7) as u8),
        Traffic::All => match rng.below(8) {
            0..3 => Kind::THREAD,
            3 if addr % SIZE_FRAME != 0 => Kind::matching(rng.chance(1, 2)),
            3..5 => Kind::of(rng.between(1, 7) as u32),
            5 => Kind::of(TYPE_READ),
            _ => Kind::of(TYPE_WRITE),
        },
    };
    let tag = if kind.kind() == TYPE_READ || wrong && rng.chance(1, 4) {
        rng.below(1 << 7) as u8
    } else {
        0
    };
    Packet {
        kind: if rng.chance(1, 2) { kind.urgent() } else { kind },
        pe: 1,
        addr,
        tag,
        data: value(rng),
    }
}

/// How a case runs.
#[derive(Clone, Copy, Debug)]
struct Plan {
    gaps: Gaps,
    traffic: Traffic,
    resets: bool,
    /// The host sends, too.
    host: bool,
    /// Nothing is taken in this time, in which more comes than memory holds.
    stop: Option<u64>,
}

const PACKETS: u64 = 600;

fn exercise(run: &Run, unit: &Unit, plan: Plan) -> Result<(u64, Totals), Fault> {
    let Plan { gaps, resets, .. } = plan;
    let mut bench = Pair::new(run, &unit.dut);
    let mut rng = run.rng("events");
    let mut memory = Memory::new(Map::of(&unit.config));
    for addr in 0..memory.map.words.min(1 << 15) {
        memory.host_write(addr, rng.bits() & !MEM_PRESENT_MASK);
    }
    let mut model = Model::new(unit, memory);
    let mut sender = Sender::new(run.pacer(gaps.at_source(), "packets"));
    for _ in 0..PACKETS {
        sender.push(some_packet(&mut rng, &model.map, plan.traffic));
    }
    let hosts = if plan.host { 60 } else { 0 };
    let hosts: Vec<Packet> = (0..hosts)
        .map(|_| some_packet(&mut rng, &model.map, plan.traffic))
        .collect();
    let mut host = Source::new(hosts, run.pacer(true, "host"));
    let mut sinks = ["next", "memory", "replies"].map(|name| run.pacer(gaps.at_sink(), name));
    let (mut read, mut last, mut rate, mut idle) = (None, In::default(), 8, 0);
    for cycle in 0..20_000 {
        let [next, mem_ready, reply_ready] = sinks.each_mut().map(Pacer::step);
        if cycle % 100 == 0 && gaps.at_sink() {
            rate = [0, 1, 4, 8][rng.below(4) as usize];
        }
        let stopped = plan.stop.is_some_and(|stop| cycle < stop);
        let inputs = In {
            su: sender.word(),
            host: host.offer().copied(),
            next_ready: next && rng.chance(rate, 8) && !stopped,
            mem_ready,
            mem_rdata: Option::take(&mut read),
            reply_ready: reply_ready && !stopped,
        };
        if cycle < 2 || resets && rng.chance(1, 300) {
            bench.reset(&inputs);
            model.reset(unit);
            sender.reset();
            host.reset();
            last = inputs;
            continue;
        }
        let asks = [&last, &inputs]
            .iter()
            .any(|inputs| inputs.su.is_some() || inputs.host.is_some());
        let seen = bench.step(&inputs, asks).map_err(|fault| fault.at(cycle))?;
        let stepped = model.step(&inputs, sender.arrival(), &seen);
        read = stepped.map_err(|fault| fault.at(cycle))?;
        sender.step(seen.room);
        host.step(seen.host_ready);
        last = inputs;
        let done = sender.is_empty() && host.is_empty() || seen.fatal && !stopped && sender.word().is_none();
        let empty = done && model.input.depth() == 0 && model.pending.is_empty();
        idle = if empty { idle + 1 } else { 0 };
        if idle > 20 {
            return Ok((cycle - 20, model.seen));
        }
    }
    Err(Rule::Prompt.broken(format!("{} packets are left", model.input.depth())))
}

fn random(unit: &Unit, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for resets in [false, true] {
            let plan = Plan {
                gaps,
                traffic: Traffic::All,
                resets,
                host: true,
                stop: None,
            };
            let params = format!("{} {gaps:?} resets {resets}", unit.dut.name);
            cases.from_each(&[From::Random1, From::Zero], params, |run| {
                exercise(run, unit, plan).map(drop)
            });
        }
    }
}

/// Nothing is taken until memory is full; all comes out in order after that.
fn full(unit: &Unit, cases: &mut Cases) {
    for gaps in [Gaps::None, Gaps::Source] {
        let plan = Plan {
            gaps,
            traffic: Traffic::Threads,
            resets: false,
            host: false,
            stop: Some(2000),
        };
        cases.case(From::Random1, format!("{} full {gaps:?}", unit.dut.name), |run| {
            let (_, seen) = exercise(run, unit, plan)?;
            let Config {
                spill_bits,
                half_packets,
                ..
            } = unit.config;
            let least = (1 << spill_bits) + 2 * u64::from(half_packets) - 1;
            let fits = unit.config.levels > 1 || (least..=least + 2).contains(&seen.taken);
            Rule::Fatal.holds(fits, || format!("{} packets were held, not {least}", seen.taken))?;
            Rule::Fatal.same("cases of FATAL", 1, seen.fatals)
        });
    }
}

/// The host sends while the switch's packets take the places that spills make.
fn host(unit: &Unit, cases: &mut Cases) {
    for number in 0..4 {
        let plan = Plan {
            gaps: Gaps::None,
            traffic: Traffic::Threads,
            resets: false,
            host: true,
            stop: Some(60),
        };
        cases.case(From::Random1, format!("{} host {number}", unit.dut.name), |run| {
            exercise(run, unit, plan).map(drop)
        });
    }
}

/// A packet every two cycles, where nothing waits.
fn rate(unit: &Unit, cases: &mut Cases) {
    let Config {
        write_bypass,
        read_bypass,
        ..
    } = unit.config;
    for traffic in [Traffic::Threads, Traffic::Writes, Traffic::Reads] {
        let plan = Plan {
            gaps: Gaps::None,
            traffic,
            resets: false,
            host: false,
            stop: None,
        };
        cases.case(From::Zero, format!("{} {traffic:?}", unit.dut.name), |run| {
            let (cycles, seen) = exercise(run, unit, plan)?;
            let most = 2 * PACKETS + 8;
            Rule::Rate.holds(cycles <= most, || format!("{cycles} cycles for {PACKETS} packets"))?;
            let passes = traffic == Traffic::Writes && write_bypass || traffic == Traffic::Reads && read_bypass;
            Rule::Rate.same("bypasses", if passes { PACKETS } else { 0 }, seen.bypasses)
        });
    }
}

fn checks(unit: &Unit, cases: &mut Cases) {
    random(unit, cases);
    full(unit, cases);
    host(unit, cases);
    rate(unit, cases);
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    let late: &[Rule] = &[Refused, Bypass, Reply, Next, Spill, Depth, Room, Prompt, Gating];
    each_is_caught(
        this_test!(),
        &[
            // Addresses of the rings are accepted.
            (Refused, &[], &|cases| checks(&unit::<TwinInputRange>(), cases)),
            // A WRITE of an odd address is queued.
            (Bypass, &[Rate], &|cases| checks(&unit::<TwinInputOdd>(), cases)),
            (Reply, &[], &|cases| checks(&unit::<TwinInputTag>(), cases)),
            // Level 0 goes first.
            (Next, &[], &|cases| checks(&unit::<TwinInputLevel>(), cases)),
            // A packet overtakes one that comes back from memory, and is lost.
            (Next, late, &|cases| checks(&unit::<TwinInputOvertakes>(), cases)),
            // A packet that comes back from memory stands before it.
            (Early, &[], &|cases| checks(&unit::<TwinInputEarly>(), cases)),
            (Spill, &[], &|cases| checks(&unit::<TwinInputPlace>(), cases)),
            // Spills go first, however long a refill waits.
            (Turns, &[], &|cases| checks(&unit::<TwinInputTurns>(), cases)),
            // A packet that goes while another is written is still counted.
            (Depth, late, &|cases| checks(&unit::<TwinInputDepth>(), cases)),
            // One packet at a time; room comes back a cycle after the unit is at rest.
            (Room, &[Rate, Gating], &|cases| checks(&unit::<TwinInputRoom>(), cases)),
            // A third packet comes where two wait.
            (Room, late, &|cases| checks(&unit::<TwinInputRegister>(), cases)),
            // The packet that goes to the last place is fatal.
            (Fatal, &[], &|cases| checks(&unit::<TwinInputFatal>(), cases)),
            (Host, &[], &|cases| checks(&unit::<TwinInputHost>(), cases)),
            // A packet behind a WRITE that waits is not urgent.
            (Prompt, &[], &|cases| checks(&unit::<TwinInputUrgent>(), cases)),
            // A packet every three cycles.
            (Rate, &[], &|cases| checks(&unit::<TwinInputRate>(), cases)),
            (Gating, &[], &|cases| checks(&unit::<TwinInputRest>(), cases)),
        ],
    );
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| {
        checks(&unit::<EmxInputR>(), cases);
        checks(&unit::<EmxInputY>(), cases);
        checks(&unit::<EmxInputSmall>(), cases);
        checks(&unit::<EmxInputOdd>(), cases);
    });
}
