//! Cards with a memory and a host each. The link of each card leads to the next, that of the last to the first.

use std::collections::VecDeque;
use std::mem;

use testbenches::rtl::*;
use testbenches::{Dut, Fault, Instance, Rule as _, Run};
use tsunagi::harness::event::EventKind;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::Recorder;
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use tsunagi::Cycle;
use verilated::{Clock, Clocks, Context, Edges, Input as _, Port as _, PortInfo, Verilated};

use crate::nic::Rule;
use crate::tx::{Collector, Word};

/// The clocks.
pub const CORE: usize = 0;
pub const LINK: usize = 1;

/// An access of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub addr: u32,
    /// The word and its byte strobes; `None`: a load.
    pub store: Option<(u64, u8)>,
}

/// The answer to an access: the word, and whether it is refused.
pub type Answer = (u64, bool);

#[derive(Debug, Default)]
pub struct In {
    /// Both resets.
    reset: bool,
    rx: Option<Word>,
    tx_ready: bool,
    mem: MemPortsOut,
    host: Option<Access>,
    answer_ready: bool,
}

#[derive(Debug, Default)]
pub struct Out {
    pub irq: bool,
    busy: bool,
    pub tx: Option<Word>,
    rx_ready: bool,
    mem: MemPortsIn,
    host_ready: bool,
    answer: Option<Answer>,
    retired: Option<(u32, bool)>,
}

/// A card of any parameter set or twin.
pub type Nic = Dut<In, Out>;

pub fn nic<U: Dimmnet1NicUnit + 'static>() -> Nic {
    Dut::of::<U>(set, seen)
}

fn set(dut: &impl Dimmnet1NicPorts, inputs: &In) {
    dut.core_rst_i().set_bool(inputs.reset);
    dut.link_rst_i().set_bool(inputs.reset);
    dut.link_tx_ready_i().set_bool(inputs.tx_ready);
    let (data, last) = inputs.rx.unwrap_or_default();
    dut.link_rx_valid_i().set_bool(inputs.rx.is_some());
    dut.link_rx_data_i().set(data);
    dut.link_rx_last_i().set_bool(last);
    dut.host_req_valid_i().set_bool(inputs.host.is_some());
    dut.host_rsp_ready_i().set_bool(inputs.answer_ready);
    if let Some(Access { addr, store }) = inputs.host {
        let (word, strobes) = store.unwrap_or_default();
        dut.host_req_write_i().set_bool(store.is_some());
        dut.host_req_addr_i().set(addr.into());
        dut.host_req_wdata_i().set(word);
        dut.host_req_wstrb_i().set(strobes.into());
    }
    tsunagi::set_mem_ports!(dut, &inputs.mem);
}

fn seen(dut: &impl Dimmnet1NicPorts) -> Out {
    let retired = || (dut.retire_pc_o().get() as u32, dut.retire_trap_o().is_set());
    let word = || (dut.link_tx_data_o().get(), dut.link_tx_last_o().is_set());
    let answer = || (dut.host_rsp_rdata_o().get(), dut.host_rsp_err_o().is_set());
    Out {
        irq: dut.irq_o().is_set(),
        busy: dut.core_busy_o().is_set() || dut.link_busy_o().is_set(),
        tx: dut.link_tx_valid_o().is_set().then(word),
        rx_ready: dut.link_rx_ready_o().is_set(),
        mem: tsunagi::mem_ports!(dut),
        host_ready: dut.host_req_ready_o().is_set(),
        answer: dut.host_rsp_valid_o().is_set().then(answer),
        retired: dut.retire_valid_o().is_set().then(retired),
    }
}

/// What a card does at its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Accepted(Access),
    /// Of a store or an error, the word means nothing.
    Answered(Answer),
    Memory(EventKind),
    Sent(Word),
    Received(Word),
    Irq(bool),
    Retired((u32, bool)),
}

/// An event at a port, and its time in ps.
pub type Event = (u64, What);

/// Clocks, cards, memory and links.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub cards: usize,
    /// Periods of core and link, ps.
    pub periods: [u64; 2],
    pub timing: MemoryTiming,
    /// Links are tied together; else what a card sends is only kept.
    pub linked: bool,
    /// Leaves out edges at which a card says that nothing changes.
    pub gated: bool,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            cards: 1,
            periods: [20_000, 16_000],
            timing: MemoryTiming::IDEAL,
            linked: true,
            gated: false,
        }
    }
}

pub const MEMORY: usize = 1 << 17;

/// A card, its memory, its host, and the ends of its links.
pub struct Card {
    dut: Box<dyn Instance<In, Out>>,
    clks: [&'static PortInfo; 2],
    inputs: In,
    pub seen: Out,
    agent: MemoryAgent,
    pub memory: Memory,
    requests: Source<Access>,
    answers: Sink<Answer>,
    /// Whether each access that awaits its answer is a load.
    open: VecDeque<bool>,
    loaded: VecDeque<Answer>,
    /// Stores that were refused at once.
    pub refused: u32,
    /// Into the card.
    pub to: Source<Word>,
    from: Sink<Word>,
    packet: Collector,
    /// Packets that it sent.
    pub sent: Vec<Vec<u64>>,
    pub events: Vec<Event>,
    /// Edges that were left out.
    pub skipped: u64,
}

impl Card {
    fn new(dut: Box<dyn Instance<In, Out>>, timing: MemoryTiming) -> Card {
        let unit = dut.verilated();
        let clks = [0, 1].map(|clock| {
            let port = unit.ports().iter().find(|port| port.name == unit.clocks()[clock]);
            port.expect("a clock is a port")
        });
        Card {
            clks,
            inputs: In::default(),
            seen: dut.seen(),
            dut,
            agent: MemoryAgent::new(timing, 8),
            memory: Memory::new(MEMORY),
            requests: Source::new([], Pacer::steady()),
            answers: Sink::new(Pacer::steady()),
            open: VecDeque::new(),
            loaded: VecDeque::new(),
            refused: 0,
            to: Source::new([], Pacer::steady()),
            from: Sink::new(Pacer::steady()),
            packet: Collector::default(),
            sent: Vec::new(),
            events: Vec::new(),
            skipped: 0,
        }
    }

    fn unit(&self) -> &dyn Verilated {
        self.dut.verilated()
    }

    /// Everything in flight is forgotten.
    fn begin_reset(&mut self) {
        self.inputs = In {
            reset: true,
            ..In::default()
        };
        self.agent.reset();
        self.requests = Source::new([], Pacer::steady());
        self.to = Source::new([], Pacer::steady());
        self.answers.reset();
        self.from.reset();
        self.open.clear();
        self.loaded.clear();
        self.packet = Collector::default();
    }

    /// The host begins a load whose answer is only an event.
    pub fn request_load(&mut self, addr: u32) {
        self.requests.push(Access { addr, store: None });
    }

    /// The link takes nothing, or all.
    pub fn hold(&mut self, held: bool) {
        self.from = Sink::new(if held { Pacer::stopped() } else { Pacer::steady() });
    }

    /// Nothing is in flight.
    fn is_idle(&self) -> bool {
        let empty = self.to.is_empty() && self.requests.is_empty() && self.open.is_empty();
        empty && !self.seen.busy && !self.agent.has_taken()
    }

    /// An edge would change nothing.
    fn rests(&self) -> bool {
        let (inputs, seen) = (&self.inputs, &self.seen);
        let asks = inputs.reset || inputs.rx.is_some() || inputs.host.is_some();
        !asks && !seen.busy && seen.answer.is_none() && seen.tx.is_none() && self.agent.is_idle()
    }

    /// What is in flight.
    fn report(&self) -> String {
        let (inputs, seen, open) = (&self.inputs, &self.seen, &self.open);
        format!("{}; loads {open:?}; {inputs:x?}; {seen:x?}", self.agent.report().join("; "))
    }

    fn core_edge(&mut self, at: u64, edges: u64) -> Result<(), Fault> {
        let events = &mut self.events;
        let inputs = &mut self.inputs;
        inputs.host = self.requests.offer().copied();
        inputs.answer_ready = self.answers.ready();
        inputs.mem = *self.agent.ports();
        if let Some(access) = self.requests.step(self.seen.host_ready) {
            self.open.push_back(access.store.is_none());
            events.push((at, What::Accepted(access)));
        }
        if let Some((word, error)) = self.answers.step(self.seen.answer)? {
            let open = self.open.pop_front();
            let is_load = open.ok_or_else(|| Rule::Host.broken("an answer without an access"))?;
            let answer = (if is_load && !error { word } else { 0 }, error);
            events.push((at, What::Answered(answer)));
            if is_load {
                self.loaded.push_back(answer);
            } else {
                self.refused += u32::from(error);
            }
        }
        let mut event = |kind| events.push((at, What::Memory(kind)));
        self.agent.step(Cycle(edges), &mut self.memory, &self.seen.mem, &mut event);
        if let Some(retired) = self.seen.retired {
            self.events.push((at, What::Retired(retired)));
        }
        Ok(())
    }

    /// The word that it sends at this edge.
    fn link_edge(&mut self, at: u64) -> Result<Option<Word>, Fault> {
        self.inputs.rx = self.to.offer().copied();
        self.inputs.tx_ready = self.from.ready();
        if let Some(word) = self.to.step(self.seen.rx_ready) {
            self.events.push((at, What::Received(word)));
        }
        let sent = self.from.step(self.seen.tx)?;
        if let Some(word) = sent {
            self.events.push((at, What::Sent(word)));
            self.sent.extend(self.packet.push(word));
        }
        Ok(sent)
    }

    /// The edges of its clocks, with its inputs as they are.
    fn clock(&mut self, edges: &Edges, clocks: [Clock; 2], gated: bool) {
        self.dut.set(&self.inputs);
        let stands = gated && self.rests();
        for (clock, port) in clocks.into_iter().zip(self.clks) {
            let rises = edges.rises(clock);
            self.skipped += u64::from(rises && stands);
            if edges.falls(clock) || (rises && !stands) {
                self.unit().set_flag(port, rises);
            }
        }
        self.unit().junk();
        self.unit().eval();
        let irq = self.seen.irq;
        self.seen = self.dut.seen();
        if irq != self.seen.irq && !self.inputs.reset {
            self.events.push((edges.at, What::Irq(self.seen.irq)));
        }
    }
}

pub struct Rig<'a> {
    pub cards: Vec<Card>,
    context: Context,
    clocks: Clocks,
    clks: [Clock; 2],
    setup: Setup,
    /// Edges of each clock so far.
    pub edges: [u64; 2],
    wave: Recorder<'a>,
}

impl<'a> Rig<'a> {
    /// Cards at rest after their reset.
    ///
    /// # Errors
    /// As of [`run`](Rig::run).
    pub fn new(run: &Run<'a>, nic: &Nic, setup: Setup) -> Result<Rig<'a>, Fault> {
        let context = run.context();
        let cards: Vec<Card> = (0..setup.cards)
            .map(|at| Card::new(nic.named(&context, &format!("nic_{at}")), setup.timing))
            .collect();
        let (mut clocks, mut phase) = (Clocks::new(), run.rng("phase"));
        let units: Vec<&dyn Verilated> = cards.iter().map(Card::unit).collect();
        let wave = run.recorder(&units);
        let mut rig = Rig {
            clks: setup.periods.map(|period| clocks.add(period, phase.below(period))),
            cards,
            context,
            clocks,
            setup,
            edges: [0; 2],
            wave,
        };
        rig.reset()?;
        Ok(rig)
    }

    /// Resets everything but the memories' bytes, and waits for rest.
    ///
    /// # Errors
    /// As of [`run`](Rig::run).
    pub fn reset(&mut self) -> Result<(), Fault> {
        self.cards.iter_mut().for_each(Card::begin_reset);
        let from = self.edges;
        while (0..2).any(|clock| self.edges[clock] < from[clock] + 8) {
            self.step()?;
        }
        self.cards.iter_mut().for_each(|card| card.inputs.reset = false);
        self.settle(100)
    }

    /// From now on hosts and links pause in this pattern, and memories at random.
    pub fn pause(&mut self, run: &Run, gaps: Gaps) {
        let (source, sink) = (gaps.at_source(), gaps.at_sink());
        for (at, card) in self.cards.iter_mut().enumerate() {
            let pacer = |pauses, name| run.pacer(pauses, &format!("{name} {at}"));
            card.to = Source::new([], pacer(source, "to"));
            card.from = Sink::new(pacer(sink, "from"));
            card.requests = Source::new([], pacer(source, "requests"));
            card.answers = Sink::new(pacer(sink, "answers"));
            let agent = MemoryAgent::new(self.setup.timing, 8);
            let (latency, gap) = if sink { (30, 3) } else { (0, 0) };
            let seed = run.rng(&format!("memory {at}")).bits();
            card.agent = agent.with_jitter(seed, Cycle(latency), Cycle(gap));
        }
    }

    pub fn now(&self) -> u64 {
        self.context.time()
    }

    /// One instant with an edge.
    fn step(&mut self) -> Result<(), Fault> {
        let edges = self.clocks.step(&self.context);
        let [core, link] = self.clks.map(|clk| edges.rises(clk));
        self.edges[CORE] += u64::from(core);
        self.edges[LINK] += u64::from(link);
        let mut moved = vec![None; self.cards.len()];
        for (card, moved) in self.cards.iter_mut().zip(&mut moved) {
            // The outputs mean nothing in reset.
            if card.inputs.reset {
                continue;
            }
            if core {
                card.core_edge(edges.at, self.edges[CORE])?;
            }
            if link {
                *moved = card.link_edge(edges.at)?;
            }
        }
        for card in &mut self.cards {
            card.clock(&edges, self.clks, self.setup.gated);
        }
        let linked = moved.into_iter().enumerate().filter(|_| self.setup.linked);
        for (at, word) in linked {
            let next = (at + 1) % self.cards.len();
            word.into_iter().for_each(|word| self.cards[next].to.push(word));
        }
        self.wave.tick(edges.at);
        Ok(())
    }

    /// Runs until `done`, at most `us` microseconds.
    ///
    /// # Errors
    /// `Hang`: it is not done by then. Also `Protocol` of a link or of a host's port, and `Host`.
    pub fn run(&mut self, what: &str, us: u64, done: impl Fn(&Rig) -> bool) -> Result<(), Fault> {
        let limit = self.now() + us * 1_000_000;
        while !done(self) {
            Rule::Hang.holds(self.now() < limit, || {
                let reports: Vec<String> = self.cards.iter().map(Card::report).collect();
                format!("no {what} within {us} us; {reports:?}")
            })?;
            self.step()?;
        }
        Ok(())
    }

    /// Until cards and links are at rest.
    ///
    /// # Errors
    /// As of [`run`](Rig::run).
    pub fn settle(&mut self, us: u64) -> Result<(), Fault> {
        self.run("rest", us, |rig| rig.cards.iter().all(Card::is_idle))
    }

    /// Until no access of a host is under way.
    ///
    /// # Errors
    /// As of [`run`](Rig::run).
    pub fn settle_hosts(&mut self, us: u64) -> Result<(), Fault> {
        let is_done = |card: &Card| card.requests.is_empty() && card.open.is_empty();
        self.run("rest of the hosts", us, |rig| rig.cards.iter().all(is_done))
    }

    /// For so many microseconds.
    ///
    /// # Errors
    /// As of [`run`](Rig::run).
    pub fn pass(&mut self, us: u64) -> Result<(), Fault> {
        let end = self.now() + us * 1_000_000;
        self.run("time", us + 1, |rig| rig.now() >= end)
    }

    /// The host of a card begins a store of a word.
    pub fn store(&mut self, card: usize, addr: u32, word: u64) {
        self.store_part(card, addr, word, 0xff);
    }

    pub fn store_part(&mut self, card: usize, addr: u32, word: u64, strobes: u8) {
        let store = Some((word, strobes));
        self.cards[card].requests.push(Access { addr, store });
    }

    /// A load, behind all that its host began before.
    ///
    /// # Errors
    /// As of [`run`](Rig::run).
    pub fn answer(&mut self, card: usize, addr: u32) -> Result<Answer, Fault> {
        self.cards[card].requests.push(Access { addr, store: None });
        self.run("answer of a load", 1_000, |rig| !rig.cards[card].loaded.is_empty())?;
        Ok(self.cards[card].loaded.pop_front().expect("answered"))
    }

    /// A load that must succeed.
    ///
    /// # Errors
    /// `Host`: it does not. Also as of [`run`](Rig::run).
    pub fn load(&mut self, card: usize, addr: u32) -> Result<u64, Fault> {
        let (word, error) = self.answer(card, addr)?;
        Rule::Host.holds(!error, || format!("a load of {addr:#x} is refused"))?;
        Ok(word)
    }

    /// Loads a register until these bits are clear.
    ///
    /// # Errors
    /// `Hang`: they do not become clear. Also as of [`load`](Rig::load).
    pub fn poll(&mut self, card: usize, addr: u32, bits: u64) -> Result<(), Fault> {
        let end = self.now() + 1_000_000_000;
        while self.load(card, addr)? & bits != 0 {
            Rule::Hang.holds(self.now() < end, || format!("{bits:#x} at {addr:#x} of card {card} stay"))?;
        }
        Ok(())
    }

    /// A register has this value.
    ///
    /// # Errors
    /// `rule`: it does not. Also as of [`load`](Rig::load).
    pub fn reads(&mut self, rule: Rule, card: usize, addr: u32, want: u64) -> Result<(), Fault> {
        let got = self.load(card, addr)?;
        rule.same(format!("word at {addr:#x} of card {card}"), want, got)
    }

    /// The packets that a card has sent since the last call.
    pub fn take_sent(&mut self, card: usize) -> Vec<Vec<u64>> {
        mem::take(&mut self.cards[card].sent)
    }
}
