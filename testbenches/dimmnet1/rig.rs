//! Cards with a memory and a host each. The link of each card leads to the next, that of the last to the first.

use std::collections::VecDeque;
use std::mem;

use testbenches::rtl::*;
use testbenches::{Dut, Fault, Instance, Rule as _, Run};
use tsunagi::Cycle;
use tsunagi::harness::axi::{FromMaster, FromSlave};
use tsunagi::harness::event::EventKind;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::{Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
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

/// The inputs of a card but its clocks. Those from memory and host are bare or AXI.
#[derive(Debug, Default)]
pub struct In {
    /// Both resets.
    pub reset: bool,
    pub rx: Option<Word>,
    pub tx_ready: bool,
    mem: MemPortsOut,
    host: Option<Access>,
    answer_ready: bool,
    pub axi_mem: FromSlave,
    pub axi_host: FromMaster,
}

impl In {
    fn asks(&self) -> bool {
        let axi = &self.axi_host;
        self.reset
            || self.rx.is_some()
            || self.host.is_some()
            || axi.aw.is_some()
            || axi.w.is_some()
            || axi.ar.is_some()
    }
}

#[derive(Debug, Default)]
pub struct Out {
    pub irq: bool,
    pub busy: bool,
    pub tx: Option<Word>,
    pub rx_ready: bool,
    pub mem: MemPortsIn,
    pub host_ready: bool,
    pub answer: Option<Answer>,
    pub retired: Option<(u32, bool)>,
    pub axi_mem: FromMaster,
    pub axi_host: FromSlave,
}

/// The memory of a card, and its host, which makes its accesses in order.
pub trait Side {
    /// From now on the host and the memory pause at random, or not.
    fn pause(&mut self, source: bool, sink: bool, rng: &dyn Fn(&str) -> Rng);
    /// Everything in flight is forgotten.
    fn reset(&mut self);
    /// An access, behind all others.
    fn push(&mut self, access: Access);
    /// All accesses are taken.
    fn is_empty(&self) -> bool;
    /// The memory answers nothing and takes what comes.
    fn memory_rests(&self) -> bool;
    /// The edge of the core's clock, with the outputs before it. `event` is told of what is taken and answered.
    ///
    /// # Errors
    /// The card breaks the protocol.
    fn edge(
        &mut self,
        cycle: Cycle,
        seen: &Out,
        inputs: &mut In,
        memory: &mut Memory,
        event: &mut dyn FnMut(What),
    ) -> Result<(), Fault>;
    /// What is in flight, for a hang report.
    fn report(&self) -> String;
}

/// A card of any parameter set or twin, and what makes its memory and host.
pub struct Nic {
    pub dut: Dut<In, Out>,
    pub side: fn(MemoryTiming) -> Box<dyn Side>,
}

/// A card with bare ports.
pub fn nic<U: Dimmnet1NicUnit + 'static>() -> Nic {
    Nic {
        dut: Dut::of::<U>(set, seen),
        side: |timing| {
            Box::new(Bare {
                timing,
                agent: MemoryAgent::new(timing, 8),
                requests: Source::new([], Pacer::steady()),
                answers: Sink::new(Pacer::steady()),
            })
        },
    }
}

/// Memory and host at bare ports.
struct Bare {
    timing: MemoryTiming,
    agent: MemoryAgent,
    requests: Source<Access>,
    answers: Sink<Answer>,
}

impl Side for Bare {
    fn pause(&mut self, source: bool, sink: bool, rng: &dyn Fn(&str) -> Rng) {
        self.requests = Source::new([], Pacer::new(source, rng("requests")));
        self.answers = Sink::new(Pacer::new(sink, rng("answers")));
        let (latency, gap) = if sink { (30, 3) } else { (0, 0) };
        let agent = MemoryAgent::new(self.timing, 8);
        self.agent = agent.with_jitter(rng("memory").bits(), Cycle(latency), Cycle(gap));
    }

    fn reset(&mut self) {
        self.agent.reset();
        self.requests.reset();
        self.requests.stop();
        self.answers.reset();
    }

    fn push(&mut self, access: Access) {
        self.requests.push(access);
    }

    fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    fn memory_rests(&self) -> bool {
        self.agent.is_idle()
    }

    fn edge(
        &mut self,
        cycle: Cycle,
        seen: &Out,
        inputs: &mut In,
        memory: &mut Memory,
        event: &mut dyn FnMut(What),
    ) -> Result<(), Fault> {
        inputs.host = self.requests.offer().copied();
        inputs.answer_ready = self.answers.ready();
        inputs.mem = *self.agent.ports();
        self.requests
            .step(seen.host_ready)
            .into_iter()
            .for_each(|access| event(What::Accepted(access)));
        let answer = self.answers.step(seen.answer)?;
        answer.into_iter().for_each(|answer| event(What::Answered(answer)));
        self.agent
            .step(cycle, memory, &seen.mem, &mut |kind| event(What::Memory(kind)));
        Ok(())
    }

    fn report(&self) -> String {
        self.agent.report().join("; ")
    }
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
    tsunagi::harness::set_mem_ports!(dut, &inputs.mem);
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
        mem: tsunagi::harness::mem_ports!(dut),
        host_ready: dut.host_req_ready_o().is_set(),
        answer: dut.host_rsp_valid_o().is_set().then(answer),
        retired: dut.retire_valid_o().is_set().then(retired),
        ..Out::default()
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
    side: Box<dyn Side>,
    pub memory: Memory,
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
    fn new(dut: Box<dyn Instance<In, Out>>, side: Box<dyn Side>) -> Card {
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
            side,
            memory: Memory::new(MEMORY),
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
        self.side.reset();
        self.to.reset();
        self.to.stop();
        self.from.reset();
        self.open.clear();
        self.loaded.clear();
        self.packet = Collector::default();
    }

    /// The host begins a load whose answer is only an event.
    pub fn request_load(&mut self, addr: u32) {
        self.side.push(Access { addr, store: None });
    }

    /// The link takes nothing, or all.
    pub fn hold(&mut self, held: bool) {
        self.from = Sink::new(if held { Pacer::stopped() } else { Pacer::steady() });
    }

    /// Nothing is in flight.
    fn is_idle(&self) -> bool {
        let empty = self.to.is_empty() && self.side.is_empty() && self.open.is_empty();
        empty && !self.seen.busy
    }

    /// An edge would change nothing.
    fn rests(&self) -> bool {
        let seen = &self.seen;
        let answers = seen.answer.is_some() || seen.axi_host.b.is_some() || seen.axi_host.r.is_some();
        !self.inputs.asks() && !seen.busy && !answers && seen.tx.is_none() && self.side.memory_rests()
    }

    /// What is in flight.
    fn report(&self) -> String {
        let (inputs, seen, open) = (&self.inputs, &self.seen, &self.open);
        format!("{}; loads {open:?}; {inputs:x?}; {seen:x?}", self.side.report())
    }

    fn core_edge(&mut self, at: u64, edges: u64) -> Result<(), Fault> {
        let mut events = Vec::new();
        let mut event = |what| events.push((at, what));
        let (seen, inputs) = (&self.seen, &mut self.inputs);
        self.side
            .edge(Cycle(edges), seen, inputs, &mut self.memory, &mut event)?;
        seen.retired
            .into_iter()
            .for_each(|retired| event(What::Retired(retired)));
        for (_, what) in &mut events {
            match what {
                What::Accepted(access) => self.open.push_back(access.store.is_none()),
                What::Answered((word, error)) => {
                    let open = self.open.pop_front();
                    let is_load = open.ok_or_else(|| Rule::Host.broken("an answer without an access"))?;
                    if !is_load || *error {
                        *word = 0;
                    }
                    self.loaded.extend(is_load.then_some((*word, *error)));
                    self.refused += u32::from(!is_load && *error);
                }
                _ => {}
            }
        }
        self.events.append(&mut events);
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
            .map(|at| {
                let dut = nic.dut.named(&context, &format!("nic_{at}"));
                Card::new(dut, (nic.side)(setup.timing))
            })
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
            card.side.pause(source, sink, &|name| run.rng(&format!("{name} {at}")));
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
        let is_done = |card: &Card| card.side.is_empty() && card.open.is_empty();
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
        self.cards[card].side.push(Access { addr, store });
    }

    /// A load, behind all that its host began before.
    ///
    /// # Errors
    /// As of [`run`](Rig::run).
    pub fn answer(&mut self, card: usize, addr: u32) -> Result<Answer, Fault> {
        self.cards[card].side.push(Access { addr, store: None });
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
            Rule::Hang.holds(self.now() < end, || {
                format!("{bits:#x} at {addr:#x} of card {card} stay")
            })?;
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
