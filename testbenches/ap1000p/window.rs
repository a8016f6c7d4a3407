//! The processor's window: what an access on the bus means, and that each is done once and answered in order.

use std::collections::VecDeque;

use testbenches::rtl::*;
use tsunagi::ap1000p::golden::creg;
use tsunagi::ap1000p::golden::window::Window;
use tsunagi::ap1000p::regs::{CREG_SPACE, PAGE_SPACE};
use tsunagi::harness::backend::HostReq;
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Source};
use tsunagi::harness::wave::Probe;

use crate::rig::{Common, Ports, Rig, Twin, each_is_caught};
use crate::{STARTS, holds};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The cell is asked what the accesses mean, each once, in order.
    Request,
    /// Each access is answered when it is done, in order, as the cell says.
    Answer,
    /// `busy_o` is high as long as one is not.
    Busy,
    /// Stores go through one a cycle.
    Rate,
}

const RULES: [Rule; 4] = [Rule::Request, Rule::Answer, Rule::Busy, Rule::Rate];

/// An access of the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    write: bool,
    addr: u64,
    data: u64,
    strobes: u8,
}

/// What the cell is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    Refused,
    Nothing,
    Store { page: u16, data: u32 },
    Creg { write: Option<u32>, register: u8 },
    Remote(Remote),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
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
        // A word as it is on the bus, with what stands beside the bytes.
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
            // Registers have a side of their own.
            Some(Window::Register(_) | Window::Bif(_)) | None => Does::Refused,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct In {
    access: Option<Access>,
    rsp_ready: bool,
    store_ready: bool,
    creg_ready: bool,
    /// Word, fault.
    creg_rsp: Option<(u32, bool)>,
    dsm_ready: bool,
    /// Words, error.
    dsm_rsp: Option<(u64, bool)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    ready: bool,
    rsp: Option<(u64, bool)>,
    store: Option<Does>,
    creg: Option<Does>,
    creg_rsp_ready: bool,
    remote: Option<Does>,
    dsm_rsp_ready: bool,
    busy: bool,
}

macro_rules! ports {
    ($($unit:ident)+) => {$(
        impl Ports for $unit {
            type In = In;
            type Out = Out;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, inputs: &In) {
                let junk = Access { write: true, addr: 0x8_bad0_bad0, data: 0xbad1_bad2_bad3_bad4, strobes: 0xa5 };
                let access = inputs.access.unwrap_or(junk);
                self.req_valid_i.set_bool(inputs.access.is_some());
                self.req_write_i.set_bool(access.write);
                self.req_addr_i.set(access.addr);
                self.req_wdata_i.set(access.data);
                self.req_wstrb_i.set(access.strobes);
                self.rsp_ready_i.set_bool(inputs.rsp_ready);
                self.store_ready_i.set_bool(inputs.store_ready);
                self.creg_req_ready_i.set_bool(inputs.creg_ready);
                let (word, fault) = inputs.creg_rsp.unwrap_or((0xbad5_bad6, true));
                self.creg_rsp_valid_i.set_bool(inputs.creg_rsp.is_some());
                self.creg_rsp_data_i.set(word);
                self.creg_rsp_fault_i.set_bool(fault);
                self.dsm_req_ready_i.set_bool(inputs.dsm_ready);
                let (words, error) = inputs.dsm_rsp.unwrap_or((0xbad7_bad8_bad9_bada, true));
                self.dsm_rsp_valid_i.set_bool(inputs.dsm_rsp.is_some());
                self.dsm_rsp_data_i.set(words);
                self.dsm_rsp_err_i.set_bool(error);
            }

            fn seen(&self) -> Out {
                let (register, write) = (self.creg_req_addr_o.get(), self.creg_req_write_o.is_set());
                Out {
                    ready: self.req_ready_o.is_set(),
                    rsp: self.rsp_valid_o.is_set().then(|| (self.rsp_rdata_o.get(), self.rsp_err_o.is_set())),
                    store: self.store_valid_o.is_set().then(|| Does::Store {
                        page: self.store_page_o.get(),
                        data: self.store_data_o.get(),
                    }),
                    creg: self.creg_req_valid_o.is_set().then(|| Does::Creg {
                        write: write.then(|| self.creg_req_data_o.get()),
                        register,
                    }),
                    creg_rsp_ready: self.creg_rsp_ready_o.is_set(),
                    remote: self.dsm_req_valid_o.is_set().then(|| Does::Remote(Remote {
                        write: self.dsm_req_write_o.is_set().then(|| self.dsm_req_data_o.get()),
                        registers: self.dsm_req_registers_o.is_set(),
                        cell: self.dsm_req_cell_o.get(),
                        addr: self.dsm_req_addr_o.get(),
                        size: self.dsm_req_size_o.get(),
                    })),
                    dsm_rsp_ready: self.dsm_rsp_ready_o.is_set(),
                    busy: self.busy_o.is_set(),
                }
            }
        }
    )+};
}

ports!(Ap1000pWindow TwinWindowHalf TwinWindowBytes TwinWindowTwice TwinWindowError TwinWindowBusy TwinWindowRate);

/// An access of any kind, a bit of its address otherwise now and then.
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

/// The cell's answer to an access of this kind, as the bus is to have it.
fn answer(does: Does, given: Option<(u64, bool)>) -> Result<(Option<u64>, bool), String> {
    let told = |value| {
        let (words, error) = given.ok_or(format!("{does:x?} is answered before it is done"))?;
        Ok((Option::filter(value, |_| !error).map(|_: ()| words), error))
    };
    match does {
        Does::Refused => Ok((None, true)),
        Does::Nothing => Ok((None, false)),
        Does::Store { .. } => told(None),
        Does::Creg { write, .. } => told(write.is_none().then_some(())),
        Does::Remote(remote) => told(remote.write.is_none().then_some(())),
    }
}

fn is_done_by_the_cell(does: &Does) -> bool {
    !matches!(does, Does::Refused | Does::Nothing)
}

fn follows<U: Ports<In = In, Out = Out>>(
    case: &Case,
    start: &str,
    accesses: Vec<Access>,
    gaps: Gaps,
    probe: &Probe,
) -> Result<u64, String> {
    let mut rig = Rig::<U>::new(case, start, probe);
    let pacer = |name: &str, pauses| Pacer::new(pauses, case.rng(name));
    let mut source = Source::new(accesses, pacer("source", gaps.at_source()));
    let names = ["responses", "stores", "registers", "remote", "answers"];
    let mut sinks = names.map(|name| pacer(name, gaps.at_sink()));
    let mut rng = case.rng("cell");
    let (mut rsp, mut ports) = (Monitor::default(), [(); 3].map(|()| Monitor::default()));
    // What is asked of the window, what of it the cell has to do, what the cell did, and what it is about to answer.
    let (mut due, mut to_do, mut given) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
    let (mut creg_rsp, mut dsm_rsp) = (VecDeque::new(), VecDeque::new());
    rig.step(&In::default(), true)?;
    let (mut first, mut last, mut idle, mut answers) = (None, 0, 0, false);
    while idle < 4 {
        let offered = source.offer().copied();
        let [rsp_ready, store_ready, creg_ready, dsm_ready, begins] = sinks.each_mut().map(Pacer::step);
        // An answer stays offered until it is taken.
        answers = begins || answers && creg_rsp.len() + dsm_rsp.len() > 0;
        let inputs = In {
            access: offered,
            rsp_ready,
            store_ready,
            creg_ready,
            creg_rsp: creg_rsp.front().copied().filter(|_| answers),
            dsm_ready,
            dsm_rsp: dsm_rsp.front().copied().filter(|_| answers),
        };
        let seen = rig.step(&inputs, false)?;
        let at = |what: String| format!("cycle {}: {what}", rig.cycle);
        holds(Rule::Busy, seen.busy || due.is_empty(), || at(format!("{due:x?}")))?;
        if let Some(offered) = inputs.creg_rsp.filter(|_| seen.creg_rsp_ready) {
            creg_rsp.pop_front();
            given.push_back((u64::from(offered.0) << 32 | u64::from(offered.0), offered.1));
        }
        if let Some(offered) = inputs.dsm_rsp.filter(|_| seen.dsm_rsp_ready) {
            dsm_rsp.pop_front();
            given.push_back(offered);
        }
        let asked = [
            (seen.store, store_ready),
            (seen.creg, creg_ready),
            (seen.remote, dsm_ready),
        ];
        for ((asked, ready), monitor) in asked.into_iter().zip(&mut ports) {
            let kept = monitor.step(asked.as_ref(), ready);
            holds(Common::Protocol, kept.is_ok(), || at(format!("{kept:?}")))?;
            let Some(does) = asked.filter(|_| ready) else {
                continue;
            };
            let wanted = to_do.pop_front();
            holds(Rule::Request, wanted == Some(does), || {
                at(format!("{does:x?}, not {wanted:x?}"))
            })?;
            let (words, fails) = (rng.bits(), rng.chance(1, 4));
            match does {
                Does::Creg { .. } => creg_rsp.push_back((words as u32, fails)),
                Does::Remote(Remote {
                    write: None, size: 3, ..
                }) => dsm_rsp.push_back((words, fails)),
                // Both halves of the bus have a word.
                Does::Remote(Remote { write: None, .. }) => {
                    dsm_rsp.push_back((words << 32 | words & 0xffff_ffff, fails))
                }
                _ => given.push_back((0, false)),
            }
        }
        let kept = rsp.step(seen.rsp.as_ref(), rsp_ready);
        holds(Common::Protocol, kept.is_ok(), || at(format!("{kept:?}")))?;
        if let Some((words, error)) = seen.rsp.filter(|_| rsp_ready) {
            let does = due.pop_front();
            holds(Rule::Answer, does.is_some(), || at("an answer to nothing".into()))?;
            let does = does.expect("there is one");
            let done = is_done_by_the_cell(&does).then(|| given.pop_front()).flatten();
            let wanted = answer(does, done).map_err(|what| format!("{:?}: {}", Rule::Answer, at(what)))?;
            let right = error == wanted.1 && wanted.0.is_none_or(|wanted| wanted == words);
            holds(Rule::Answer, right, || {
                at(format!("{does:x?}: {words:x} {error}, not {wanted:x?}"))
            })?;
            last = rig.cycle;
        }
        if let Some(access) = source.step(seen.ready) {
            first.get_or_insert(rig.cycle);
            let does = access.means();
            due.push_back(does);
            to_do.extend(Some(does).filter(is_done_by_the_cell));
        }
        idle = if source.is_empty() && due.is_empty() && !rig.seen().busy {
            idle + 1
        } else {
            0
        };
        holds(Rule::Answer, rig.cycle < 100_000, || {
            at(format!("not answered: {due:x?}"))
        })?;
    }
    Ok(last - first.expect("there are accesses"))
}

/// A store a cycle, and the last one's response two cycles after it.
fn rate<U: Ports<In = In, Out = Out>>(case: &Case, probe: &Probe) -> Result<(), String> {
    let store = |i: u64| Access {
        write: true,
        addr: (u64::from(PAGE_SPACE) << 32) | (4 * (i % 8)),
        data: i << 32 | i,
        strobes: 0x0f << (4 * (i % 2)),
    };
    let cycles = follows::<U>(case, STARTS[0], (0..64).map(store).collect(), Gaps::None, probe)?;
    holds(Rule::Rate, cycles <= 65, || format!("{cycles} cycles for 64 stores"))
}

fn random<U: Ports<In = In, Out = Out>>(case: &Case, start: &str, gaps: Gaps, probe: &Probe) -> Result<(), String> {
    let mut rng = case.rng("accesses");
    let accesses = (0..1500).map(|_| access(&mut rng)).collect();
    follows::<U>(case, start, accesses, gaps, probe).map(drop)
}

#[test]
fn accesses_are_done_once_and_answered_in_order() {
    for (start, gaps) in STARTS.into_iter().flat_map(|start| Gaps::ALL.map(|gaps| (start, gaps))) {
        let what = format!("{start} {gaps:?}");
        let case = Case::new("ap1000p", "window::accesses_are_done_once_and_answered_in_order", what);
        case.run(|probe| random::<Ap1000pWindow>(&case, start, gaps, probe));
    }
}

#[test]
fn a_store_a_cycle() {
    let case = Case::new("ap1000p", "window::a_store_a_cycle", "");
    case.run(|probe| rate::<Ap1000pWindow>(&case, probe));
}

#[test]
fn addresses_mean_what_the_header_says() {
    let word = |addr: u64, strobes: u8, write: bool| {
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
    assert_eq!(
        word(page, 0xf0, true),
        Does::Store {
            page: 0x2001,
            data: 0x8877_6655
        }
    );
    assert_eq!([word(page, 0x0f, false), word(page, 0xff, true)], [Does::Refused; 2]);
    assert_eq!(
        word(0xb_0000_01f8, 0xf0, false),
        Does::Creg {
            write: None,
            register: 127
        }
    );
    assert_eq!(word(0x7_ffff_ffff, 0x80, false), {
        let (write, registers) = (None, false);
        Does::Remote(Remote {
            write,
            registers,
            cell: 0x3ff,
            addr: 0x1ff_ffff,
            size: 0,
        })
    });
    assert_eq!(word(0xb_1000_0208, 0x0f, true), {
        let (write, registers) = (Some(0x4433_2211), true);
        Does::Remote(Remote {
            write,
            registers,
            cell: 1,
            addr: 8,
            size: 2,
        })
    });
    assert_eq!(
        [
            word(0x8_0000_0000, 0x0f, false),
            word(0, 0x3c, false),
            word(0, 0, false)
        ],
        [Does::Refused; 3]
    );
    assert_eq!(word(0, 0, true), Does::Nothing);
}

fn checks<U: Ports<In = In, Out = Out>>() -> Vec<Result<(), String>> {
    let case = Case::new("ap1000p", "window::each_twin_is_caught", "");
    let probe = Probe::default();
    let mut found: Vec<_> = Gaps::ALL.map(|gaps| random::<U>(&case, STARTS[0], gaps, &probe)).into();
    found.push(rate::<U>(&case, &probe));
    found
}

#[test]
fn each_twin_is_caught() {
    let twins: &[Twin] = &[
        ("Request", &checks::<TwinWindowHalf>),
        ("Request", &checks::<TwinWindowBytes>),
        // The second time it may be the next one that is on show.
        ("Request|Protocol", &checks::<TwinWindowTwice>),
        ("Answer", &checks::<TwinWindowError>),
        ("Busy", &checks::<TwinWindowBusy>),
        ("Rate", &checks::<TwinWindowRate>),
    ];
    each_is_caught(&RULES, twins);
}
