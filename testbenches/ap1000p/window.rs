//! The processor's window: each access on the bus has its meaning, happens once, and is answered in order.

use std::collections::VecDeque;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::ap1000p::golden::creg;
use tsunagi::ap1000p::golden::window::Window;
use tsunagi::ap1000p::regs::{CREG_SPACE, PAGE_SPACE};
use tsunagi::harness::backend::HostReq;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Source};
use verilated::{Input as _, Port as _};

rules!(
    /// The cell gets the requests of the accesses, each once, in order.
    Request
    /// Each access is answered when it is done, in order, with the cell's answer.
    Answer
    /// `busy_o` is high while an access is not answered.
    Busy
    /// A store per cycle.
    Rate
    /// An offer holds until it is taken.
    Protocol
    /// No output follows an input within the cycle.
    Path
);

/// An access of the bus.
#[derive(Clone, Copy, Debug)]
struct Access {
    write: bool,
    addr: u64,
    data: u64,
    strobes: u8,
}

/// The meaning of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    Refused,
    Nothing,
    Store { page: u16, data: u32 },
    Creg { write: Option<u32>, register: u8 },
    Remote(Remote),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Remote {
    write: Option<u64>,
    registers: bool,
    cell: u16,
    addr: u32,
    size: u8,
}

impl Access {
    fn means(self) -> Does {
        if self.strobes == 0 {
            return if self.write { Does::Nothing } else { Does::Refused };
        }
        // One run of 1, 2, 4 or 8 bytes, at a multiple of their number.
        let (first, bytes) = (self.strobes.trailing_zeros(), self.strobes.count_ones());
        let run = ((1_u32 << bytes) - 1) << first;
        if u32::from(self.strobes) != run || !bytes.is_power_of_two() || first % bytes != 0 {
            return Does::Refused;
        }
        // A whole word of the bus, with the bytes beside the run.
        let words = if bytes == 8 {
            self.data
        } else {
            self.data >> (first / 4 * 32) & 0xffff_ffff
        };
        let req = HostReq {
            addr: self.addr & !7 | u64::from(first),
            bytes: bytes as u8,
            write: self.write.then_some(words),
        };
        match Window::of(req) {
            Some(Window::Page { code, data }) => Does::Store { page: code, data },
            Some(Window::Creg(creg::Access { addr, write })) => Does::Creg { write, register: addr },
            Some(Window::Shared(access)) => Does::Remote(Remote {
                write: req.write,
                registers: access.registers,
                cell: access.name(),
                addr: access.addr,
                size: access.size,
            }),
            // Registers have a port of their own.
            Some(Window::Register(_) | Window::Bif(_)) | None => Does::Refused,
        }
    }
}

impl Does {
    fn is_of_the_cell(&self) -> bool {
        !matches!(self, Does::Refused | Does::Nothing)
    }

    fn is_read(&self) -> bool {
        matches!(
            self,
            Does::Creg { write: None, .. } | Does::Remote(Remote { write: None, .. })
        )
    }
}

/// Words and error.
type Answer = (u64, bool);

#[derive(Clone, Copy, Debug, Default)]
struct In {
    access: Option<Access>,
    rsp_ready: bool,
    store_ready: bool,
    creg_ready: bool,
    /// Word and fault.
    creg_rsp: Option<(u32, bool)>,
    dsm_ready: bool,
    dsm_rsp: Option<Answer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    ready: bool,
    rsp: Option<Answer>,
    store: Option<Does>,
    creg: Option<Does>,
    creg_rsp_ready: bool,
    remote: Option<Does>,
    dsm_rsp_ready: bool,
    busy: bool,
}

fn set(dut: &impl Ap1000pWindowPorts, inputs: &In) {
    let junk = Access {
        write: true,
        addr: 0x8_bad0_bad0,
        data: 0xbad1_bad2_bad3_bad4,
        strobes: 0xa5,
    };
    let access = inputs.access.unwrap_or(junk);
    dut.req_valid_i().set_bool(inputs.access.is_some());
    dut.req_write_i().set_bool(access.write);
    dut.req_addr_i().set(access.addr);
    dut.req_wdata_i().set(access.data);
    dut.req_wstrb_i().set(access.strobes.into());
    dut.rsp_ready_i().set_bool(inputs.rsp_ready);
    dut.store_ready_i().set_bool(inputs.store_ready);
    dut.creg_req_ready_i().set_bool(inputs.creg_ready);
    let (word, fault) = inputs.creg_rsp.unwrap_or((0xbad5_bad6, true));
    dut.creg_rsp_valid_i().set_bool(inputs.creg_rsp.is_some());
    dut.creg_rsp_data_i().set(word.into());
    dut.creg_rsp_fault_i().set_bool(fault);
    dut.dsm_req_ready_i().set_bool(inputs.dsm_ready);
    let (words, error) = inputs.dsm_rsp.unwrap_or((0xbad7_bad8_bad9_bada, true));
    dut.dsm_rsp_valid_i().set_bool(inputs.dsm_rsp.is_some());
    dut.dsm_rsp_data_i().set(words);
    dut.dsm_rsp_err_i().set_bool(error);
}

fn seen(dut: &impl Ap1000pWindowPorts) -> Out {
    let store = || Does::Store {
        page: dut.store_page_o().get() as u16,
        data: dut.store_data_o().get() as u32,
    };
    let creg = || {
        let write = dut.creg_req_write_o().is_set();
        Does::Creg {
            write: write.then(|| dut.creg_req_data_o().get() as u32),
            register: dut.creg_req_addr_o().get() as u8,
        }
    };
    let remote = || {
        let write = dut.dsm_req_write_o().is_set();
        Does::Remote(Remote {
            write: write.then(|| dut.dsm_req_data_o().get()),
            registers: dut.dsm_req_registers_o().is_set(),
            cell: dut.dsm_req_cell_o().get() as u16,
            addr: dut.dsm_req_addr_o().get() as u32,
            size: dut.dsm_req_size_o().get() as u8,
        })
    };
    let rsp = || (dut.rsp_rdata_o().get(), dut.rsp_err_o().is_set());
    Out {
        ready: dut.req_ready_o().is_set(),
        rsp: dut.rsp_valid_o().is_set().then(rsp),
        store: dut.store_valid_o().is_set().then(store),
        creg: dut.creg_req_valid_o().is_set().then(creg),
        creg_rsp_ready: dut.creg_rsp_ready_o().is_set(),
        remote: dut.dsm_req_valid_o().is_set().then(remote),
        dsm_rsp_ready: dut.dsm_rsp_ready_o().is_set(),
        busy: dut.busy_o().is_set(),
    }
}

fn window<U: Ap1000pWindowUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// An access of any kind, now and then with another bit of its address.
fn access(rng: &mut Rng) -> Access {
    let bytes = 1 << rng.below(4);
    let (first, write) = (rng.below(8) / bytes * bytes, rng.chance(1, 2));
    let strobes = match rng.below(8) {
        0 => rng.bits() as u8,
        _ => (((1_u32 << bytes) - 1) << first) as u8,
    };
    let space = |space: u32, rest: u64| u64::from(space) << 32 | rest;
    let (addr, write, strobes) = match rng.below(8) {
        0..3 => (rng.bits() >> 29, write, strobes),
        3 => (space(PAGE_SPACE, rng.below(1 << 28)), write, strobes),
        4 => (space(PAGE_SPACE, rng.below(1 << 28)), true, 0x0f << (4 * rng.below(2))),
        5 => (space(CREG_SPACE, rng.below(512)), write, 0x0f << (4 * rng.below(2))),
        6 => (
            space(CREG_SPACE, 1 << 28 | rng.below(1 << 19)),
            write,
            0x0f << (4 * rng.below(2)),
        ),
        _ => (rng.bits() >> 28, write, strobes),
    };
    let other = if rng.chance(1, 10) { 1 << rng.below(36) } else { 0 };
    Access {
        write,
        addr: addr ^ other,
        data: rng.bits(),
        strobes,
    }
}

/// The bus and the cell.
struct Peers {
    source: Source<Access>,
    /// Responses of the bus, stores, registers, remote accesses, answers of the cell.
    pacers: [Pacer; 5],
    rng: Rng,
    rsp: Monitor<Answer>,
    ports: [Monitor<Does>; 3],
    /// Accesses that are not answered, and their requests that the cell did not get.
    due: VecDeque<Does>,
    requests: VecDeque<Does>,
    /// Answers that the cell gave, and those that it is about to give.
    given: VecDeque<Answer>,
    creg_rsp: VecDeque<(u32, bool)>,
    dsm_rsp: VecDeque<Answer>,
    answers: bool,
}

impl Peers {
    fn new(run: &Run, accesses: Vec<Access>, gaps: Gaps) -> Peers {
        let names = ["responses", "stores", "registers", "remote", "answers"];
        Peers {
            source: Source::new(accesses, run.pacer(gaps.at_source(), "source")),
            pacers: names.map(|name| run.pacer(gaps.at_sink(), name)),
            rng: run.rng("cell"),
            rsp: Monitor::default(),
            ports: Default::default(),
            due: VecDeque::new(),
            requests: VecDeque::new(),
            given: VecDeque::new(),
            creg_rsp: VecDeque::new(),
            dsm_rsp: VecDeque::new(),
            answers: false,
        }
    }

    /// The inputs of the next cycle.
    fn drive(&mut self) -> In {
        let access = self.source.offer().copied();
        let [rsp_ready, store_ready, creg_ready, dsm_ready, begins] = self.pacers.each_mut().map(Pacer::step);
        // An answer stays on offer until it is taken.
        self.answers = begins || self.answers && self.creg_rsp.len() + self.dsm_rsp.len() > 0;
        In {
            access,
            rsp_ready,
            store_ready,
            creg_ready,
            creg_rsp: self.creg_rsp.front().copied().filter(|_| self.answers),
            dsm_ready,
            dsm_rsp: self.dsm_rsp.front().copied().filter(|_| self.answers),
        }
    }

    /// The window took answers of the cell.
    fn give(&mut self, inputs: &In, seen: &Out) {
        if let Some((word, fault)) = inputs.creg_rsp.filter(|_| seen.creg_rsp_ready) {
            self.creg_rsp.pop_front();
            let word = u64::from(word);
            self.given.push_back((word << 32 | word, fault));
        }
        if let Some(answer) = inputs.dsm_rsp.filter(|_| seen.dsm_rsp_ready) {
            self.dsm_rsp.pop_front();
            self.given.push_back(answer);
        }
    }

    /// The cell got a request, and chooses its answer.
    fn request(&mut self, does: Does) -> Result<(), Fault> {
        let wanted = self.requests.pop_front();
        Rule::Request.holds(wanted == Some(does), || format!("{does:x?}, not {wanted:x?}"))?;
        let (words, fails) = (self.rng.bits(), self.rng.chance(1, 4));
        match does {
            Does::Creg { .. } => self.creg_rsp.push_back((words as u32, fails)),
            Does::Remote(Remote { write: None, size, .. }) => {
                // A word is on both halves of the bus.
                let half = words & 0xffff_ffff;
                let words = if size == 3 { words } else { half << 32 | half };
                self.dsm_rsp.push_back((words, fails));
            }
            _ => self.given.push_back((0, false)),
        }
        Ok(())
    }

    /// The bus got an answer.
    fn answer(&mut self, (words, error): Answer) -> Result<(), Fault> {
        let Some(does) = self.due.pop_front() else {
            return Err(Rule::Answer.broken("an answer to nothing"));
        };
        let (given, fails) = match does {
            Does::Refused => (0, true),
            Does::Nothing => (0, false),
            _ => self
                .given
                .pop_front()
                .ok_or_else(|| Rule::Answer.broken(format!("{does:x?} is answered before it is done")))?,
        };
        // Words count for a read without an error only.
        let same = error == fails && (words == given || error || !does.is_read());
        Rule::Answer.holds(same, || format!("{does:x?}: {words:x} {error}, not {given:x} {fails}"))
    }

    fn cycle(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        Rule::Busy.holds(seen.busy || self.due.is_empty(), || {
            format!("not busy, with {:x?} inside", self.due)
        })?;
        self.give(inputs, seen);
        let requests = [
            (seen.store, inputs.store_ready),
            (seen.creg, inputs.creg_ready),
            (seen.remote, inputs.dsm_ready),
        ];
        for (i, (does, ready)) in requests.into_iter().enumerate() {
            self.ports[i].step(does.as_ref(), ready)?;
            if let Some(does) = does.filter(|_| ready) {
                self.request(does)?;
            }
        }
        self.rsp.step(seen.rsp.as_ref(), inputs.rsp_ready)?;
        if let Some(rsp) = seen.rsp.filter(|_| inputs.rsp_ready) {
            self.answer(rsp)?;
        }
        if let Some(access) = self.source.step(seen.ready) {
            let does = access.means();
            self.due.push_back(does);
            self.requests.extend(Some(does).filter(Does::is_of_the_cell));
        }
        Ok(())
    }
}

/// Does the accesses. The cycles from the first that was taken to the last answer.
fn exercise(run: &Run, dut: &Dut<In, Out>, accesses: Vec<Access>, gaps: Gaps) -> Result<u64, Fault> {
    let mut bench = Bench::new(run, dut);
    let mut peers = Peers::new(run, accesses, gaps);
    bench.reset(&In::default())?;
    let (mut first, mut last, mut idle) = (None, 0, 0);
    while idle < 4 {
        let cycle = bench.cycle();
        let inputs = peers.drive();
        let seen = bench.step(&inputs)?;
        peers.cycle(&inputs, &seen).map_err(|fault| fault.at(cycle))?;
        if seen.rsp.is_some() && inputs.rsp_ready {
            last = cycle;
        }
        if inputs.access.is_some() && seen.ready {
            first.get_or_insert(cycle);
        }
        let done = peers.source.is_empty() && peers.due.is_empty() && !bench.seen().busy;
        idle = if done { idle + 1 } else { 0 };
        Rule::Answer.holds(cycle < 100_000, || format!("not answered: {:x?}", peers.due))?;
    }
    Ok(last - first.expect("there are accesses"))
}

/// A store per cycle, and the response to the last one two cycles after it.
fn rate(dut: &Dut<In, Out>, cases: &mut Cases) {
    let store = |i: u64| Access {
        write: true,
        addr: (u64::from(PAGE_SPACE) << 32) | (4 * (i % 8)),
        data: i << 32 | i,
        strobes: 0x0f << (4 * (i % 2)),
    };
    cases.case(Start::Random1, format!("{} rate", dut.name), |run| {
        let cycles = exercise(run, dut, (0..64).map(store).collect(), Gaps::None)?;
        Rule::Rate.holds(cycles <= 65, || format!("{cycles} cycles for 64 stores"))
    });
}

fn random(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        cases.from_each(&Start::RANDOM, format!("{} {gaps:?}", dut.name), |run| {
            let mut rng = run.rng("accesses");
            let accesses = (0..1500).map(|_| access(&mut rng)).collect();
            exercise(run, dut, accesses, gaps).map(drop)
        });
    }
}

/// All checks, as they find the twins.
fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    random(dut, cases);
    rate(dut, cases);
}

#[test]
fn accesses_happen_once_and_are_answered_in_order() {
    pass(this_test!(), |cases| random(&window::<Ap1000pWindow>(), cases));
}

#[test]
fn a_store_a_cycle() {
    pass(this_test!(), |cases| rate(&window::<Ap1000pWindow>(), cases));
}

#[test]
fn addresses_mean_what_the_header_says() {
    let means = |addr: u64, strobes: u8, write: bool| {
        let data = 0x8877_6655_4433_2211;
        Access {
            write,
            addr,
            data,
            strobes,
        }
        .means()
    };
    let page = 0xa_0200_1000;
    let store = Does::Store {
        page: 0x2001,
        data: 0x8877_6655,
    };
    assert_eq!(means(page, 0xf0, true), store);
    assert_eq!([means(page, 0x0f, false), means(page, 0xff, true)], [Does::Refused; 2]);
    let creg = Does::Creg {
        write: None,
        register: 127,
    };
    assert_eq!(means(0xb_0000_01f8, 0xf0, false), creg);
    let byte = Does::Remote(Remote {
        write: None,
        registers: false,
        cell: 0x3ff,
        addr: 0x1ff_ffff,
        size: 0,
    });
    assert_eq!(means(0x7_ffff_ffff, 0x80, false), byte);
    let register = Does::Remote(Remote {
        write: Some(0x4433_2211),
        registers: true,
        cell: 1,
        addr: 8,
        size: 2,
    });
    assert_eq!(means(0xb_1000_0208, 0x0f, true), register);
    for (addr, strobes) in [(0x8_0000_0000, 0x0f), (0, 0x3c), (0, 0)] {
        assert_eq!(means(addr, strobes, false), Does::Refused, "{addr:#x} {strobes:#x}");
    }
    assert_eq!(means(0, 0, true), Does::Nothing);
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The lower half of the bus goes to the cell for the upper one.
            (Request, &[], &|cases| checks(&window::<TwinWindowHalf>(), cases)),
            // An access to shared memory goes to the cell with any strobes.
            (Request, &[], &|cases| checks(&window::<TwinWindowBytes>(), cases)),
            // A request for a register is made twice. The second time, another request may follow within the offer.
            (Request, &[Protocol], &|cases| {
                checks(&window::<TwinWindowTwice>(), cases);
            }),
            // The error of a remote read is lost.
            (Answer, &[], &|cases| checks(&window::<TwinWindowError>(), cases)),
            // `busy_o` is low with a response on offer.
            (Busy, &[], &|cases| checks(&window::<TwinWindowBusy>(), cases)),
            // A store waits for the response to the last one.
            (Rate, &[], &|cases| checks(&window::<TwinWindowRate>(), cases)),
            // Accesses and responses are withdrawn.
            (Protocol, &[Request, Answer, Busy], &|cases| {
                checks(&window::<TwinWindowWithdraws>(), cases);
            }),
            // `creg_rsp_ready_o` follows `creg_rsp_valid_i`.
            (Path, &[], &|cases| checks(&window::<TwinWindowPath>(), cases)),
        ],
    );
}
