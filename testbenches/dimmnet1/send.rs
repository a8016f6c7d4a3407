//! `dimmnet1_send`: AOTF and BOTF. The host is the bench's, and so is the giver of credits.

use std::collections::VecDeque;
use std::mem;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::dimmnet1::golden::send::{Credit, Due, Send, Store, Stored};
use tsunagi::dimmnet1::regs::{
    AOTF, HDR_W0_ACK_REQ_MASK, HDR_W0_DST_SHIFT, HDR_W0_LENGTH_SHIFT, HDR_W0_MULTICAST_MASK, HDR_W0_OTF_MASK,
    HDR_W1_TAG_SHIFT, HEADER_TLB, KICK0, SIZE_PAGE, SIZE_WINDOW, WINDOWS_AOTF_MASK, WINDOWS_WAITING_MASK,
};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer, Sink};
use verilated::{Input as _, Port as _};

use crate::tx::{Collector, Word};

rules!(
    /// Packets are those of the stores and windows, in the order of their kind.
    Packets
    /// A packet that asks for an answer has its credit before it begins, and its generation.
    Credit
    /// Stores that change nothing, or make no packet, are reported, and no others.
    Report
    /// WINDOWS says what is under way and what was refused.
    Windows
    /// A store waits only for the queue, and not too long.
    Ready
    /// Neither kind starves.
    Turn
    /// The first word of a packet comes in time.
    Latency
    /// A word per cycle.
    Rate
    /// At rest nothing changes.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// All packets leave.
    Hang
);

/// Stores that the queue of AOTF holds.
const QUEUE: usize = 16;
const PAGES: u64 = 8;
/// Decisions of the host in a case.
const OPS: u64 = 500;

#[derive(Clone, Copy, Default)]
struct In {
    pgid: u16,
    patience: u16,
    store: Option<Store>,
    /// The generation of a credit that is given.
    credit: Option<u16>,
    ready: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    busy: bool,
    ready: bool,
    error: bool,
    lost: bool,
    windows: u64,
    credit: Option<Credit>,
    word: Option<Word>,
}

fn set(dut: &impl Dimmnet1SendPorts, inputs: &In) {
    dut.pgid_i().set(inputs.pgid.into());
    dut.patience_i().set(inputs.patience.into());
    let store = inputs.store.unwrap_or(Store {
        addr: KICK0,
        data: 0,
        strb: 0xff,
    });
    dut.store_valid_i().set_bool(inputs.store.is_some());
    dut.store_addr_i().set(store.addr.into());
    dut.store_data_i().set(store.data);
    dut.store_strb_i().set(store.strb.into());
    dut.credit_ready_i().set_bool(inputs.credit.is_some());
    dut.credit_gen_i().set(inputs.credit.unwrap_or(0xbad).into());
    dut.out_ready_i().set_bool(inputs.ready);
}

fn seen(dut: &impl Dimmnet1SendPorts) -> Out {
    let credit = || Credit {
        slot: dut.credit_slot_o().get() as u8,
        dst: dut.credit_dst_o().get() as u16,
    };
    Out {
        busy: dut.busy_o().is_set(),
        ready: dut.store_ready_o().is_set(),
        error: dut.store_error_o().is_set(),
        lost: dut.lost_o().is_set(),
        windows: dut.windows_o().get(),
        credit: dut.credit_valid_o().is_set().then(credit),
        word: (dut.out_valid_o().is_set()).then(|| (dut.out_data_o().get(), dut.out_last_o().is_set())),
    }
}

fn send<U: Dimmnet1SendUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

fn whole(addr: u32, data: u64) -> Store {
    Store { addr, data, strb: 0xff }
}

/// Header word 0 of a type, without flags.
fn head(kind: u64, length: u64, dst: u64) -> u64 {
    kind | length << HDR_W0_LENGTH_SHIFT | dst << HDR_W0_DST_SHIFT
}

/// The entry of a page; its slot is below 8. One in eight is closed.
fn entry(rng: &mut Rng, page: u64) -> Vec<Store> {
    let kind = [0, 1, 2, 8, 1, 8, 17, 18][rng.below(8) as usize];
    let mut w0 = rng.bits() & !0xff & !HDR_W0_ACK_REQ_MASK & !HDR_W0_MULTICAST_MASK | kind;
    w0 |= if rng.chance(1, 3) { HDR_W0_ACK_REQ_MASK } else { 0 };
    w0 |= if rng.chance(1, 8) { HDR_W0_MULTICAST_MASK } else { 0 };
    let w1 = rng.bits() & !(8 << HDR_W1_TAG_SHIFT);
    let at = HEADER_TLB + 32 * page as u32;
    [w0, w1, rng.bits()]
        .into_iter()
        .zip(0..)
        .map(|(word, i)| whole(at + 8 * i, word))
        .collect()
}

/// A store to an AOTF page; some strobes are not one run.
fn aotf(rng: &mut Rng) -> Store {
    let page = if rng.chance(1, 50) { 63 } else { rng.below(PAGES) };
    let addr = AOTF + (page * u64::from(SIZE_PAGE) + rng.below(u64::from(SIZE_PAGE) / 8) * 8) as u32;
    let (first, length) = (rng.below(8), rng.between(1, 8));
    let run = ((1u32 << length) - 1) << first;
    let strb = if rng.chance(1, 16) { rng.bits() as u8 } else { run as u8 };
    Store {
        addr,
        data: rng.bits(),
        strb,
    }
}

/// Stores that fill a window and kick it; its slot is 8 or above.
fn botf(rng: &mut Rng, window: u32) -> Vec<Store> {
    let base = window * SIZE_WINDOW;
    let kind = [1, 1, 1, 16, 17, 255, 2, 15][rng.below(8) as usize];
    let longest = if rng.chance(1, 3) { 464 } else { 40 };
    let length = match rng.below(16) {
        0 => 0,
        1 => rng.between(465, 65535),
        _ => rng.between(1, longest),
    };
    let mut w0 = head(kind, length, rng.below(3)) | (rng.bits() & 0xffff_fa00);
    w0 |= if rng.chance(1, 3) { HDR_W0_ACK_REQ_MASK } else { 0 };
    w0 |= if rng.chance(1, 8) { HDR_W0_MULTICAST_MASK } else { 0 };
    let mut stores = vec![whole(base, w0), whole(base + 8, rng.bits() | 8 << HDR_W1_TAG_SHIFT)];
    let words = 6 + length.min(464).div_ceil(8) as u32;
    stores.extend((2..words).map(|word| {
        let strb = if rng.chance(1, 4) { rng.bits() as u8 } else { 0xff };
        Store {
            addr: base + 8 * word,
            data: rng.bits(),
            strb,
        }
    }));
    stores.push(whole(KICK0 + 8 * window, rng.bits()));
    stores
}

/// The host: what it stores next.
struct Host {
    rng: Rng,
    pacer: Pacer,
    stores: VecDeque<Store>,
    /// Decisions still to come.
    left: u64,
    offering: bool,
}

impl Host {
    fn new(run: &Run, pauses: bool, left: u64) -> Host {
        let mut rng = run.rng("host");
        let memory = (0..2 * SIZE_WINDOW / 8).map(|word| whole(8 * word, u64::from(word)));
        let mut stores: VecDeque<Store> = memory.collect();
        stores.extend((0..32).map(|word| whole(HEADER_TLB + 32 * 63 + 8 * (word % 4), 0)));
        (0..PAGES).for_each(|page| stores.extend(entry(&mut rng, page)));
        Host {
            rng,
            pacer: run.pacer(pauses, "host pauses"),
            stores,
            left,
            offering: false,
        }
    }

    fn offer(&mut self, windows: u64, waits: bool) -> Option<Store> {
        if self.stores.is_empty() && self.left > 0 {
            self.left -= 1;
            self.decide(windows, waits);
        }
        let go = self.pacer.step();
        self.offering = !self.stores.is_empty() && (self.offering || go);
        self.stores.front().filter(|_| self.offering).copied()
    }

    fn taken(&mut self) {
        self.offering = false;
        self.stores.pop_front();
    }

    fn decide(&mut self, windows: u64, waits: bool) {
        let rng = &mut self.rng;
        let window = rng.below(2) as u32;
        let busy = windows >> window & 1 == 1;
        match rng.below(8) {
            0 | 1 if !busy => self.stores.extend(botf(rng, window)),
            2 if busy => {
                let word = rng.below(64) as u32;
                let addr = [KICK0 + 8 * window, window * SIZE_WINDOW + 8 * word][rng.below(2) as usize];
                self.stores.push_back(whole(addr, rng.bits()));
            }
            3 => {
                let strb = !(1 << rng.below(8));
                let addr = [KICK0 + 8 * window, HEADER_TLB + 8 * rng.below(32) as u32][rng.below(2) as usize];
                let data = rng.bits();
                self.stores.push_back(Store { addr, data, strb });
            }
            4 if !waits => {
                let page = rng.below(PAGES);
                self.stores.extend(entry(rng, page));
            }
            _ => {
                let count = if rng.chance(1, 8) { 20 } else { rng.between(1, 4) };
                self.stores.extend((0..count).map(|_| aotf(rng)));
            }
        }
    }
}

/// What is known of the store that was taken in the last cycle.
#[derive(Clone, Copy)]
enum Last {
    Done(Stored),
    /// It may have come too late for the queue.
    Late(Store),
}

/// A packet on its way: its kind and words.
struct Leaving {
    kind: usize,
    window: usize,
    words: Vec<u64>,
}

/// The unit with host, credits and network.
struct Rig<'a> {
    bench: Bench<'a, In, Out>,
    inputs: In,
    model: Send,
    host: Host,
    sink: Sink<Word>,
    credits: Sink<Credit>,
    collector: Collector,
    leaving: Option<Leaving>,
    collected: usize,
    granted: [Option<u16>; 2],
    why: [u8; 2],
    last: Option<Last>,
    waited: u64,
    /// Packets of the other kind that began while the next of this kind could.
    passed: [u64; 2],
    rng: Rng,
    cycle: u64,
    /// Cycles of the first and the last word.
    span: Option<(u64, u64)>,
}

impl<'a> Rig<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, gaps: Gaps, ops: u64) -> Result<Rig<'a>, Fault> {
        let mut rng = run.rng("rig");
        let patience = [0, 1, 5, 40][rng.below(4) as usize];
        let pgid = rng.bits() as u16;
        let mut bench = Bench::new(run, dut);
        for _ in 0..2 {
            bench.reset(&In::default())?;
        }
        Ok(Rig {
            bench,
            inputs: In {
                pgid,
                patience,
                ..In::default()
            },
            model: Send::new(pgid),
            host: Host::new(run, gaps.at_source(), ops),
            sink: Sink::new(run.pacer(gaps.at_sink(), "sink")),
            credits: Sink::new(run.pacer(gaps.at_sink(), "credits")),
            collector: Collector::default(),
            leaving: None,
            collected: 0,
            granted: [None; 2],
            why: [0; 2],
            last: None,
            waited: 0,
            passed: [0; 2],
            rng,
            cycle: 0,
            span: None,
        })
    }

    fn step(&mut self) -> Result<Out, Fault> {
        self.cycle += 1;
        let before = self.bench.seen();
        let waits = before.windows & WINDOWS_AOTF_MASK != 0 || !self.model.aotf.is_empty() || self.last.is_some();
        self.inputs.store = self.host.offer(before.windows, waits);
        self.inputs.ready = self.sink.ready();
        // A credit is given to an offer that was seen before.
        let gives = self.credits.ready() && before.credit.is_some();
        self.inputs.credit = gives.then(|| self.rng.below(1 << 12) as u16);
        let still = self.inputs.store.is_none();
        let clocked = !still || self.rng.chance(1, 2);
        let inputs = self.inputs;
        let seen = self.bench.step_gated(&inputs, |seen| still && !seen.busy, clocked)?;
        let cycle = self.cycle;
        self.follow(&seen).map_err(|fault| fault.at(cycle))?;
        Ok(seen)
    }

    fn follow(&mut self, seen: &Out) -> Result<(), Fault> {
        self.report(seen)?;
        self.windows(seen)?;
        self.credit(seen)?;
        if let Some(word) = self.sink.step(seen.word)? {
            self.word(word)?;
        }
        self.store(seen)
    }

    /// The pulses about the store of the last cycle, and about those that were refused later.
    fn report(&mut self, seen: &Out) -> Result<(), Fault> {
        let pulses = (seen.error, seen.lost);
        let mut want = (false, false);
        match self.last.take() {
            Some(Last::Done(Stored::Refused(aotf))) => want = (true, aotf),
            Some(Last::Late(store)) => {
                let lost = pulses == (false, true);
                let waiting = self.waiting();
                Rule::Report.holds(!lost || waiting >= QUEUE, || {
                    format!("lost with {waiting} in the queue")
                })?;
                self.model.store(&store, !lost);
                want.1 = lost;
            }
            _ => {}
        }
        if want == (false, false) && pulses == (true, true) {
            let due = self.model.aotf.pop_front();
            let refused = matches!(due, Some(Due::Refused(_)));
            return Rule::Report.holds(refused, || format!("refused, and due is {due:x?}"));
        }
        Rule::Report.same("error and loss", want, pulses)
    }

    fn waiting(&self) -> usize {
        self.model.aotf.len()
    }

    fn windows(&mut self, seen: &Out) -> Result<(), Fault> {
        for window in 0..2 {
            let busy = seen.windows >> window & 1 == 1;
            if self.model.is_busy(window) && !busy {
                match self.model.botf.front() {
                    Some(&(at, Due::Refused(reason))) if at == window => {
                        self.why[window] = reason;
                        self.model.botf.pop_front();
                    }
                    front => {
                        let left = self.leaving.as_ref().filter(|leaving| leaving.window == window);
                        let left = left.map_or(0, |leaving| leaving.words.len() - self.collected);
                        let waits = front.is_some_and(|(at, _)| *at == window);
                        Rule::Windows.holds(!waits && left <= 1, || {
                            format!("{window} is free with {left} words left")
                        })?;
                    }
                }
                self.model.free(window);
            }
            Rule::Windows.same(format!("BUSY{window}"), self.model.is_busy(window), busy)?;
            let why = (seen.windows >> (4 + 4 * window) & 0xf) as u8;
            Rule::Windows.same(format!("ERROR{window}"), self.why[window], why)?;
        }
        let some = self.model.next(0).is_some();
        Rule::Windows.holds(!some || seen.windows & WINDOWS_AOTF_MASK != 0, || {
            "a store does not wait".into()
        })?;
        let asks = seen.credit.is_some();
        let waits = seen.windows & WINDOWS_WAITING_MASK != 0;
        Rule::Windows.holds(waits || !asks, || "no packet waits for credit".into())
    }

    fn credit(&mut self, seen: &Out) -> Result<(), Fault> {
        if let Some(credit) = seen.credit {
            let kind = usize::from(credit.slot >= 8);
            let want = self.model.next(kind).and_then(|packet| packet.credit);
            let right = want == Some(credit) && self.granted[kind].is_none();
            Rule::Credit.holds(right, || format!("asks for {credit:x?}, and {want:x?} is due"))?;
        }
        // Ready without an offer is not given.
        let given = self.credits.step(seen.credit)?;
        if let Some(credit) = given.filter(|_| self.inputs.credit.is_some()) {
            self.granted[usize::from(credit.slot >= 8)] = self.inputs.credit;
        }
        Ok(())
    }

    fn word(&mut self, word: Word) -> Result<(), Fault> {
        let from = self.span.map_or(self.cycle, |(from, _)| from);
        self.span = Some((from, self.cycle));
        if self.leaving.is_none() {
            self.begin(word.0)?;
        }
        self.collected += 1;
        let Some(packet) = self.collector.push(word) else {
            return Ok(());
        };
        self.collected = 0;
        let want = self.leaving.take().map(|leaving| leaving.words);
        Rule::Packets.same("packet", want, Some(packet))
    }

    fn begin(&mut self, head: u64) -> Result<(), Fault> {
        let kind = usize::from(head & HDR_W0_OTF_MASK == 0);
        let (window, due) = match kind {
            0 => (2, self.model.aotf.pop_front()),
            _ => self
                .model
                .botf
                .pop_front()
                .map_or((2, None), |(window, due)| (window, Some(due))),
        };
        let Some(Due::Packet(packet)) = due else {
            return Err(Rule::Packets.broken(format!("{head:x} begins a packet, and due is {due:x?}")));
        };
        let generation = self.granted[kind].take();
        let right = generation.is_some() == packet.credit.is_some();
        Rule::Credit.holds(right, || format!("{:x?} has {generation:x?}", packet.credit))?;
        self.leaving = Some(Leaving {
            kind,
            window,
            words: packet.words(generation.unwrap_or(0)),
        });
        self.passed[kind] = 0;
        let other = 1 - kind;
        let free =
            |packet: &tsunagi::dimmnet1::golden::send::Packet| packet.credit.is_none() || self.granted[other].is_some();
        if self.model.next(other).is_some_and(free) {
            self.passed[other] += 1;
        }
        let passed = self.passed[other];
        Rule::Turn.holds(passed <= 4, || format!("kind {other} is passed over {passed} times"))
    }

    fn store(&mut self, seen: &Out) -> Result<(), Fault> {
        let Some(store) = self.inputs.store else { return Ok(()) };
        let patience = u64::from(self.inputs.patience);
        if !seen.ready {
            self.waited += 1;
            let (waiting, waited) = (self.waiting(), self.waited);
            let bound = if store.is_aotf() { patience } else { 1 };
            let kept = waiting >= QUEUE && (bound == 0 || waited <= bound);
            return Rule::Ready.holds(kept, || format!("waits {waited} cycles with {waiting} in the queue"));
        }
        let late = store.is_aotf() && patience > 0 && mem::take(&mut self.waited) >= patience;
        self.waited = 0;
        self.host.taken();
        let shape = u32::from(store.strb) >> store.strb.trailing_zeros().min(7);
        let is_run = store.strb != 0 && shape & (shape + 1) == 0;
        self.last = Some(match late && is_run {
            true => Last::Late(store),
            false => {
                let stored = self.model.store(&store, true);
                if let (Stored::Taken, true) = (stored, store.addr & !8 == KICK0) {
                    self.why[(store.addr >> 3 & 1) as usize] = 0;
                }
                Last::Done(stored)
            }
        });
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Fault> {
        self.inputs.store = None;
        let inputs = self.inputs;
        self.bench.reset(&inputs)?;
        self.model.aotf.clear();
        self.model.botf.clear();
        (0..2).for_each(|window| self.model.free(window));
        self.host.stores.clear();
        self.host.offering = false;
        self.sink.reset();
        self.credits.reset();
        self.collector = Collector::default();
        (self.leaving, self.collected, self.granted, self.why) = (None, 0, [None; 2], [0; 2]);
        (self.last, self.waited, self.passed) = (None, 0, [0; 2]);
        Ok(())
    }

    fn is_done(&self) -> bool {
        let sent = self.model.aotf.is_empty() && self.model.botf.is_empty() && self.leaving.is_none();
        sent && self.host.left == 0 && self.host.stores.is_empty() && self.last.is_none()
    }

    /// Until all has left, and a while at rest.
    fn finish(&mut self) -> Result<(), Fault> {
        for _ in 0..40_000 {
            if self.is_done() {
                for _ in 0..20 {
                    self.step()?;
                }
                let Out { busy, windows, .. } = self.bench.seen();
                let rest = !busy && windows & (WINDOWS_AOTF_MASK | WINDOWS_WAITING_MASK | 3) == 0;
                return Rule::Hang.holds(rest, || format!("busy {busy}, WINDOWS {windows:x}"));
            }
            self.step()?;
        }
        let kind = self.leaving.as_ref().map(|leaving| leaving.kind);
        let (aotf, botf) = (self.model.aotf.len(), self.model.botf.len());
        Err(Rule::Hang.broken(format!("{aotf} stores and {botf} windows wait, kind {kind:?} leaves")))
    }
}

fn traffic(run: &Run, dut: &Dut<In, Out>, gaps: Gaps, reset: bool) -> Result<(), Fault> {
    let mut rig = Rig::new(run, dut, gaps, OPS)?;
    if reset {
        // A reset leaves the memory as it is: only then is all of it known.
        while rig.host.left == OPS {
            rig.step()?;
        }
        for _ in 0..run.rng("reset").between(1, 2000) {
            rig.step()?;
        }
        rig.reset()?;
    }
    rig.finish()
}

/// A rig at rest with page 0 for a type with these flags, and long windows that ask for no answer.
fn at_rest<'a>(run: &Run<'a>, dut: &Dut<In, Out>, flags: u64) -> Result<Rig<'a>, Fault> {
    let mut rig = Rig::new(run, dut, Gaps::None, 0)?;
    rig.inputs.patience = 0;
    for window in 0..2u32 {
        let base = window * SIZE_WINDOW;
        rig.host.stores.push_back(whole(base, head(1, 464, 3) | flags));
        rig.host.stores.push_back(whole(base + 8, 8 << HDR_W1_TAG_SHIFT));
    }
    rig.host.stores.push_back(whole(HEADER_TLB, head(8, 0, 3) | flags));
    rig.host.stores.push_back(whole(HEADER_TLB + 8, 0));
    rig.finish()?;
    rig.span = None;
    Ok(rig)
}

/// From rest, with and without credit.
fn latency(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    for (flags, most) in [(0, 3), (HDR_W0_ACK_REQ_MASK, 7)] {
        let mut rig = at_rest(run, dut, flags)?;
        for store in [whole(AOTF, 1), whole(KICK0, 0), whole(AOTF, 2), whole(KICK0 + 8, 0)] {
            rig.host.stores.push_back(store);
            let most = if store.is_aotf() { most - 1 } else { most };
            let begin = rig.cycle;
            while rig.step()?.word.is_none() {
                let took = rig.cycle - begin;
                Rule::Latency.holds(took <= most, || {
                    format!("{:x} takes more than {most} cycles", store.addr)
                })?;
            }
            rig.finish()?;
        }
    }
    Ok(())
}

/// Both windows, and a full queue of AOTF: no cycle is lost.
fn rate(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    for stores in [vec![whole(KICK0, 0), whole(KICK0 + 8, 0)], vec![whole(AOTF, 1); 30]] {
        let mut rig = at_rest(run, dut, 0)?;
        let words = if stores.len() == 2 { 128 } else { 120 };
        rig.host.stores.extend(stores);
        rig.finish()?;
        let took = rig.span.map_or(0, |(from, to)| to + 1 - from);
        Rule::Rate.holds(took == words, || format!("{words} words take {took} cycles"))?;
    }
    Ok(())
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for reset in [false, true] {
            let params = format!("{} {gaps:?} reset {reset}", dut.name);
            cases.from_each(&Start::RANDOM, params, |run| traffic(run, dut, gaps, reset));
        }
    }
    cases.case(Start::Random1, format!("{} latency", dut.name), |run| latency(run, dut));
    cases.case(Start::Zero, format!("{} rate", dut.name), |run| rate(run, dut));
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| checks(&send::<Dimmnet1Send>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // Data are not shifted to byte 0.
            (Packets, &[], &|cases| checks(&send::<TwinOtfShift>(), cases)),
            // A remote address does not carry.
            (Packets, &[], &|cases| checks(&send::<TwinOtfCarry>(), cases)),
            // A window keeps the host's stamp.
            (Packets, &[], &|cases| checks(&send::<TwinOtfStamp>(), cases)),
            // The window of the last kick is sent first, in mid-packet too.
            (Windows, &[Packets, Hang, Credit, Rate, Report], &|cases| {
                checks(&send::<TwinOtfOrder>(), cases)
            }),
            // A PULL begins without credit.
            (Credit, &[Report, Packets], &|cases| {
                checks(&send::<TwinOtfPull>(), cases)
            }),
            // The generation of the other kind.
            (Packets, &[], &|cases| checks(&send::<TwinOtfGeneration>(), cases)),
            // A store to a busy window is not refused.
            (Report, &[Packets], &|cases| checks(&send::<TwinOtfBusy>(), cases)),
            // A late error shows beside another.
            (Report, &[], &|cases| checks(&send::<TwinOtfHidden>(), cases)),
            // A window is free when its last word is asked for.
            (Windows, &[Hang, Packets, Rate], &|cases| {
                checks(&send::<TwinOtfEarly>(), cases)
            }),
            // A window waits behind AOTF.
            (Ready, &[], &|cases| checks(&send::<TwinOtfPatience>(), cases)),
            (Turn, &[Ready], &|cases| checks(&send::<TwinOtfFirst>(), cases)),
            (Latency, &[], &|cases| checks(&send::<TwinOtfLate>(), cases)),
            (Rate, &[], &|cases| checks(&send::<TwinOtfBubble>(), cases)),
            (Rest, &[Hang, Packets, Rate, Latency], &|cases| {
                checks(&send::<TwinOtfRest>(), cases)
            }),
            (Path, &[], &|cases| checks(&send::<TwinOtfPath>(), cases)),
            (Protocol, &[Packets, Credit], &|cases| {
                checks(&send::<TwinOtfWithdraws>(), cases)
            }),
            // A store that waits for credit never gets it.
            (Hang, &[Turn, Ready, Rate, Latency, Windows], &|cases| {
                checks(&send::<TwinOtfHang>(), cases)
            }),
        ],
    );
}
