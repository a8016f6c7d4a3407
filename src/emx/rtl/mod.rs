//! The verilated machine: PEs and the links between them, edge by edge. A PE that rests is not evaluated.

mod host;

use std::collections::{BTreeMap, VecDeque};

use thiserror::Error;
use verilated::{Context, Input as _, Port as _, Verilated};

use super::backend::{Backend, Counts, Executed, RunError, Seen, Told, Waiting};
use super::golden::execute::{Cause, Fault};
use super::golden::route::{Place, Shape};
use super::packet::Packet;
use super::params::Config;
use super::regs::*;
use crate::Picos;
use crate::harness::clock::Clock;
use crate::harness::wave::{Probe, Trace};
use crate::rtl::{Em4Pe, EmXPe, EmxPePorts as _, EmxPeUnit};
use host::{Access, Host};

/// The configuration asks for RTL that was not built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no RTL was built for this configuration: EM-4 or EM-X as they are")]
pub struct NotBuilt;

/// Bits of a link's word.
const WORD: usize = 39;
const LINKS: usize = 2;
const CHANNELS: usize = SIZE_CHANNELS as usize;
/// Edges in reset, and most edges until all is at rest behind it.
const RESET: u32 = 4;
const CLEARED: u32 = 64;
/// Values of `state_o`.
const RUNS: u64 = 1;
const WAITS: u64 = 2;

/// The machine of `config`.
///
/// # Errors
/// The configuration asks for RTL that was not built.
pub fn build(config: &Config) -> Result<Box<dyn Backend>, NotBuilt> {
    let sets: [fn(&Config) -> Option<Box<dyn Backend>>; 2] = [built::<Em4Pe>, built::<EmXPe>];
    sets.iter().find_map(|set| set(config)).ok_or(NotBuilt)
}

/// The machine of these PEs, if their parameters are those of `config`.
fn built<P: EmxPeUnit + 'static>(config: &Config) -> Option<Box<dyn Backend>> {
    let asked = [
        (P::ROW_BITS, config.row_bits),
        (P::ADDR_W, config.memory_bits),
        (P::SPILL_BITS, config.spill_bits),
        (P::HALF_PACKETS, config.half_packets),
        (P::PACKETS, config.channel_packets),
        (P::SPILL_TURNS, config.spill_turns),
        (P::HOST_WAIT, config.host_wait),
        (P::LEVELS, config.levels),
        (P::OUTPUT_PACKETS, config.output_packets),
        (P::WRITE_BYPASS, config.write_bypass.into()),
        (P::READ_BYPASS, config.read_bypass.into()),
        (P::INPUT_FIRST, config.input_first.into()),
        (P::CODE_PORT, config.code_port.into()),
        (P::FAST_SEND, config.fast_send.into()),
    ];
    let fits = asked.iter().all(|(built, asked)| *built == *asked as usize);
    fits.then(|| Box::new(Machine::<P>::new()) as Box<dyn Backend>)
}

/// What the machine keeps of a PE beside its hardware.
#[derive(Default)]
struct Node {
    host: Host,
    /// Packets that the host gives it as the next run begins.
    packets: VecDeque<Packet>,
    awake: bool,
    /// Where the outputs lead, and where the inputs come from: the PE and its input or output.
    next: [(usize, usize); LINKS],
    before: [(usize, usize); LINKS],
    /// Links with a word for it, that it shows, and the room that it shows, as they were carried last.
    incoming: u64,
    shown: u64,
    room: u64,
    /// Cycles of threads since an instruction was done.
    cycles: u64,
    instructions: u64,
    seen: Seen,
    told: Option<(u64, u32)>,
}

/// PEs of type `P` and the links between them.
pub struct Machine<P> {
    units: Vec<P>,
    nodes: Vec<Node>,
    /// Edges since reset, and before the first cycle of the run.
    now: u64,
    begin: u64,
    /// A PE has raised its interrupt: it halted, or has no memory for packets any more.
    alarm: bool,
    executed: Vec<Executed>,
    every: Option<u64>,
    seen: Vec<Vec<Seen>>,
    context: Context,
    /// The wave of the first run: the clock's period, and the last edge before it.
    trace: Option<Trace>,
    period: Picos,
    traced: Option<u64>,
    /// The first edge of the run behind which PE 0 showed a word on a link.
    first_word: Option<u64>,
}

impl<P: EmxPeUnit> Machine<P> {
    /// The machine, reset.
    ///
    /// # Panics
    /// It does not come to rest.
    pub fn new() -> Machine<P> {
        let context = Context::new();
        let shape = Shape::new(P::ROW_BITS as u32);
        let place = |pe| shape.place(pe).expect("it is there");
        let number = |at: Place| (0..shape.pes()).position(|pe| place(pe) == at).expect("each place has a PE");
        let mut nodes: Vec<Node> = (0..shape.pes()).map(|_| Node::default()).collect();
        for pe in 0..nodes.len() {
            for output in 0..LINKS {
                let (to, input) = shape.link(place(pe as u32), output as u32);
                nodes[pe].next[output] = (number(to), input as usize);
                nodes[number(to)].before[input as usize] = (pe, output);
            }
        }
        let mut machine = Machine {
            units: (0..nodes.len()).map(|pe| P::named(&context, &format!("pe_{pe}"))).collect(),
            nodes,
            now: 0,
            begin: 0,
            alarm: false,
            executed: Vec::new(),
            every: None,
            seen: Vec::new(),
            context,
            trace: None,
            period: Picos::ZERO,
            traced: None,
            first_word: None,
        };
        machine.reset();
        machine
    }

    fn reset(&mut self) {
        for (pe, unit) in (0..).zip(&self.units) {
            unit.pe_i().set(pe);
            unit.host_rsp_ready_i().set_bool(true);
            unit.rst_i().set_bool(true);
        }
        let edges = |machine: &mut Machine<P>, count| {
            for _ in 0..count {
                machine.nodes.iter_mut().for_each(|node| node.awake = true);
                machine.edge();
            }
        };
        edges(self, RESET);
        self.units.iter().for_each(|unit| unit.rst_i().set_bool(false));
        edges(self, CLEARED);
        assert!(!self.stirs(), "the machine is busy {CLEARED} cycles after its reset");
        let levels = 1 << STATUS_HALTED_SHIFT | 1 << STATUS_FATAL_SHIFT;
        for node in &mut self.nodes {
            node.host.put(Access::store(MASK, levels));
            node.host.put(Access::store(CONTROL, CONTROL_RUN_MASK));
        }
        self.settle();
        self.now = 0;
    }

    fn stirs(&self) -> bool {
        self.nodes.iter().any(|node| node.awake)
    }

    /// An edge of the clock, for all that do not rest.
    fn edge(&mut self) {
        self.now += 1;
        let time = self.now & u64::from(u32::MAX);
        if let (Some(trace), Some(begin)) = (&mut self.trace, self.traced) {
            // Every edge is shown, so none is left out.
            self.nodes.iter_mut().for_each(|node| node.awake = true);
            let at = self.period * (self.now - begin);
            trace.before(at, || self.units.iter().map(|unit| unit as &dyn Verilated).collect());
            self.context.set_time(at.0);
        }
        for (unit, node) in self.units.iter().zip(&mut self.nodes).filter(|(_, node)| node.awake) {
            node.host.look(unit);
            unit.time_i().set(time);
            unit.rise(1);
        }
        if let Some(trace) = self.trace.as_mut().filter(|_| self.traced.is_some()) {
            trace.after();
        }
        for pe in 0..self.nodes.len() {
            if self.nodes[pe].awake {
                self.carry(pe);
                self.watch_pe(pe);
                self.nodes[pe].host.drive(&self.units[pe]);
            }
        }
        for (unit, node) in self.units.iter().zip(&mut self.nodes) {
            node.awake = node.incoming != 0 || node.host.is_active() || (node.awake && unit.busy_o().is_set());
        }
    }

    /// Carries what a PE shows its neighbours.
    #[inline]
    fn carry(&mut self, pe: usize) {
        let unit = &self.units[pe];
        let (shown, room) = (unit.link_out_valid_o().get(), unit.link_in_room_o().get());
        if pe == 0 && shown != 0 {
            self.first_word.get_or_insert(self.now);
        }
        if shown | self.nodes[pe].shown != 0 {
            let last = unit.link_out_last_o().get();
            for output in 0..LINKS {
                let (to, input) = self.nodes[pe].next[output];
                let (other, valid) = (&self.units[to], shown >> output & 1);
                other.link_in_valid_i().set_bits(input, 1, valid);
                self.nodes[to].incoming = self.nodes[to].incoming & !(1 << input) | valid << input;
                if valid != 0 {
                    let word = unit.link_out_data_o().get_bits(WORD * output, WORD);
                    other.link_in_data_i().set_bits(WORD * input, WORD, word);
                    other.link_in_vc_i().set_bits(2 * input, 2, unit.link_out_vc_o().get_bits(2 * output, 2));
                    other.link_in_last_i().set_bits(input, 1, last >> output & 1);
                }
            }
            self.nodes[pe].shown = shown;
        }
        if room != self.nodes[pe].room {
            for input in 0..LINKS {
                let (from, output) = self.nodes[pe].before[input];
                let channels = room >> (CHANNELS * input) & ((1 << CHANNELS) - 1);
                self.units[from].link_out_room_i().set_bits(CHANNELS * output, CHANNELS, channels);
            }
            self.nodes[pe].room = room;
        }
    }

    /// What a PE did in the cycle before this edge.
    #[inline]
    fn watch_pe(&mut self, pe: usize) {
        let (unit, node) = (&self.units[pe], &mut self.nodes[pe]);
        let state = unit.state_o().get();
        if matches!(state, RUNS | WAITS) {
            node.cycles += 1;
            node.seen.busy += 1;
            node.seen.send_wait += u32::from(state == WAITS);
        }
        if unit.ret_valid_o().is_set() {
            let at = unit.ret_pc_o().get() as usize;
            if at >= self.executed.len() {
                self.executed.resize(at + 1, Executed::default());
            }
            self.executed[at].times += 1;
            self.executed[at].cycles += std::mem::take(&mut node.cycles);
            node.instructions += 1;
        }
        if unit.tell_valid_o().is_set() {
            // Its instruction was done in the cycle before.
            node.told = Some((self.now - 1, unit.tell_data_o().get() as u32));
        }
        self.alarm |= unit.irq_o().is_set();
    }

    /// Goes on until the host has done all that it was asked for.
    fn settle(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.awake |= node.host.is_active());
        while self.nodes.iter().any(|node| node.host.is_active()) {
            self.edge();
        }
    }

    fn load_register(&mut self, pe: usize, offset: u32) -> u64 {
        self.nodes[pe].host.put(Access::load(offset));
        self.settle();
        self.nodes[pe].host.take().expect("it has settled")
    }

    fn load_words(&mut self, pe: usize, addrs: std::ops::Range<u32>) -> Vec<u64> {
        for addr in addrs.clone() {
            self.nodes[pe].host.put(Access::load(MEMORY + 8 * addr));
        }
        self.settle();
        addrs.map(|_| self.nodes[pe].host.take().expect("it has settled")).collect()
    }

    /// The host gives each PE its packets: the first ones in the same cycle, which is the run's first.
    fn give_packets(&mut self) {
        self.settle();
        for node in &mut self.nodes {
            if let Some(packet) = node.packets.front() {
                node.host.put(Access::store(SEND0, packet.words()[0] & !PKT_W0_PE_MASK));
            }
        }
        self.settle();
        for node in &mut self.nodes {
            for (at, packet) in node.packets.drain(..).enumerate() {
                if at > 0 {
                    node.host.put(Access::store(SEND0, packet.words()[0] & !PKT_W0_PE_MASK));
                }
                node.host.put(Access::store(SEND1, packet.words()[1]));
            }
            node.awake |= node.host.is_active();
        }
        // One edge offers the request, and the next one takes it.
        self.begin = self.now + 1;
        self.first_word = None;
        if self.trace.is_some() {
            self.traced.get_or_insert(self.now);
        }
    }

    fn look(&mut self) {
        let look = |(unit, node): (&P, &mut Node)| Seen {
            depth: unit.depth_o().get() as u32,
            ..std::mem::take(&mut node.seen)
        };
        self.seen.push(self.units.iter().zip(&mut self.nodes).map(look).collect());
    }

    /// What keeps the run from its end.
    fn check(&mut self, count: usize) -> Result<(), RunError> {
        if self.alarm {
            self.alarm = false;
            for pe in 0..self.nodes.len() {
                if self.units[pe].irq_o().is_set() {
                    return Err(self.trouble(pe));
                }
            }
        }
        if self.stirs() {
            return Ok(());
        }
        let cycles = self.now - self.begin;
        let pes = (0..).zip(&self.nodes[..count]).filter(|(_, node)| node.told.is_none());
        let pes = pes.map(|(pe, _)| pe).collect();
        let waiting = (0..self.nodes.len()).flat_map(|pe| self.waiting(pe)).collect();
        Err(RunError::Hang { cycles, pes, waiting })
    }

    fn trouble(&mut self, pe: usize) -> RunError {
        let status = self.load_register(pe, STATUS);
        let fault = self.load_register(pe, FAULT);
        let frame = self.load_register(pe, FRAME) as u32;
        let pe = pe as u32;
        if status & STATUS_HALTED_MASK == 0 {
            let packets = 1 << P::SPILL_BITS;
            return RunError::Fatal { pe, packets };
        }
        let code = ((fault & FAULT_CODE_MASK) >> FAULT_CODE_SHIFT) as i32;
        let cause = match ((fault & FAULT_CAUSE_MASK) >> FAULT_CAUSE_SHIFT) as u32 {
            FAULT_CAUSE_CODE => Cause::Code,
            FAULT_CAUSE_FETCH => Cause::Fetch,
            FAULT_CAUSE_ADDRESS => Cause::Address,
            // An immediate, signed.
            _ => Cause::Trap { code: code << 15 >> 15 },
        };
        let pc = (fault & FAULT_PC_MASK) as u32;
        RunError::Fault { pe, fault: Fault { pc, frame, cause } }
    }

    /// The operands that wait in a PE's memory.
    fn waiting(&mut self, pe: usize) -> Vec<Waiting> {
        let held = self.load_register(pe, WAITING) as usize;
        let mut all = Vec::new();
        for frame in (0..1 << P::ADDR_W).step_by(SIZE_FRAME as usize) {
            if all.len() >= held {
                break;
            }
            let words = self.load_words(pe, frame..frame + SIZE_FRAME);
            let waits = (0..).zip(words).filter(|(_, word)| word & MEM_PRESENT_MASK != 0);
            all.extend(waits.map(|(offset, _)| Waiting { pe: pe as u32, frame, offset }));
        }
        all
    }
}

impl<P: EmxPeUnit> Default for Machine<P> {
    fn default() -> Machine<P> {
        Machine::new()
    }
}

impl<P: EmxPeUnit> Backend for Machine<P> {
    fn pes(&self) -> u32 {
        self.nodes.len() as u32
    }

    fn set_word(&mut self, pe: u32, addr: u32, data: u32) {
        self.nodes[pe as usize].host.put(Access::store(MEMORY + 8 * addr, data.into()));
    }

    fn word(&mut self, pe: u32, addr: u32) -> u32 {
        (self.load_words(pe as usize, addr..addr + 1)[0] & MEM_DATA_MASK) as u32
    }

    fn inject(&mut self, pe: u32, packet: Packet) {
        self.nodes[pe as usize].packets.push_back(packet);
    }

    fn run(&mut self, count: u32, limit: u64) -> Result<Told, RunError> {
        self.give_packets();
        self.nodes.iter_mut().for_each(|node| node.told = None);
        while self.now < self.begin + limit {
            self.edge();
            let cycle = self.now.saturating_sub(self.begin);
            if self.every.is_some_and(|every| cycle > 0 && cycle.is_multiple_of(every)) {
                self.look();
            }
            let told = self.nodes[..count as usize].iter().map(|node| node.told);
            if let Some(told) = told.collect::<Option<Vec<_>>>() {
                let last = told.iter().map(|(at, _)| *at).max();
                return Ok(Told {
                    cycles: last.unwrap_or(self.begin) - self.begin,
                    values: told.into_iter().map(|(_, value)| value).collect(),
                });
            }
            self.check(count as usize)?;
        }
        Err(RunError::Limit { cycles: limit })
    }

    fn probe(&mut self, period: Picos, probe: &Probe) {
        self.period = period;
        self.trace = probe.request().map(|_| Trace::new(probe, &[("clk_i", Clock::new(period, Picos::ZERO))]));
    }

    fn first_word(&self) -> Option<u64> {
        Some(self.first_word? - self.traced.unwrap_or(self.begin))
    }

    fn words(&mut self, pe: u32, addr: u32, count: u32) -> Vec<u32> {
        let words = self.load_words(pe as usize, addr..addr + count);
        words.into_iter().map(|word| (word & MEM_DATA_MASK) as u32).collect()
    }

    fn counts(&mut self, pe: u32) -> Counts {
        let pe = pe as usize;
        for code in 0..8 {
            self.nodes[pe].host.put(Access::load(COUNTS + 8 * code));
        }
        for reason in 0..8 {
            self.nodes[pe].host.put(Access::load(REFUSALS + 8 * reason));
        }
        self.settle();
        let mut take = || self.nodes[pe].host.take().expect("it has settled");
        let counts: [u64; 8] = std::array::from_fn(|_| take());
        let refused = std::array::from_fn(|_| take());
        let count = |code: u32| counts[code as usize];
        Counts {
            sent: count(COUNT_SENT),
            received: count(COUNT_RECEIVED),
            started: count(COUNT_STARTED),
            bypassed: count(COUNT_BYPASSED),
            spilled: count(COUNT_SPILLED),
            busy: count(COUNT_BUSY),
            send_wait: count(COUNT_SEND_WAIT),
            stalled: count(COUNT_STALLED),
            instructions: self.nodes[pe].instructions,
            refused,
        }
    }

    fn peak(&mut self) -> usize {
        let peak = |pe| (self.load_register(pe, DEPTH) & DEPTH_PEAK_MASK) >> DEPTH_PEAK_SHIFT;
        (0..self.units.len()).map(peak).max().unwrap_or_default() as usize
    }

    fn watch(&mut self, every: u64) {
        self.every = Some(every);
        self.nodes.iter_mut().for_each(|node| node.seen = Seen::default());
    }

    fn seen(&mut self) -> Vec<Vec<Seen>> {
        std::mem::take(&mut self.seen)
    }

    fn executed(&self) -> BTreeMap<u32, Executed> {
        let all = (0..).zip(&self.executed);
        all.filter(|(_, executed)| executed.times > 0).map(|(at, executed)| (at, *executed)).collect()
    }
}
