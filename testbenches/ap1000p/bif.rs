//! The BIF against its model, every cycle: registers, barriers, and words of the bus both ways.

use testbenches::rtl::*;
use tsunagi::ap1000p::bif_regs::*;
use tsunagi::ap1000p::golden::bif::{Bif, BusWord, WORDS};
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::wave::Probe;

use crate::rig::{Ports, Rig, Twin, each_is_caught};
use crate::{STARTS, holds};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// What the host is answered, and when.
    Answer,
    /// Groups the cell is a member of, and its arrivals.
    Barrier,
    /// The words offered to the bus.
    Sends,
    /// Words of the bus are taken where there is room.
    Takes,
    Rest,
    Path,
}

const RULES: [Rule; 6] = [
    Rule::Answer,
    Rule::Barrier,
    Rule::Sends,
    Rule::Takes,
    Rule::Rest,
    Rule::Path,
];

/// An access of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    offset: u32,
    write: Option<u32>,
    strb: u8,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct In {
    host: Option<Access>,
    take: bool,
    release: u32,
    bus_takes: bool,
    bus: Option<BusWord>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    ready: bool,
    /// Value and error.
    answer: Option<(u32, bool)>,
    member: u32,
    arrive: u32,
    offered: Option<BusWord>,
    takes: bool,
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
                let host = inputs.host.unwrap_or(Access { offset: BIF_SEND_LAST, write: Some(!0), strb: 0xf });
                self.host_req_valid_i.set_bool(inputs.host.is_some());
                self.host_req_addr_i.set(host.offset as u8);
                self.host_req_write_i.set_bool(host.write.is_some());
                self.host_req_wdata_i.set(host.write.unwrap_or(0x5555_5555));
                self.host_req_wstrb_i.set(host.strb);
                self.host_rsp_ready_i.set_bool(inputs.take);
                self.release_i.set(inputs.release as u8);
                self.out_ready_i.set_bool(inputs.bus_takes);
                let (word, last) = inputs.bus.unwrap_or((0xdead_beef, true));
                self.in_valid_i.set_bool(inputs.bus.is_some());
                self.in_data_i.set(word);
                self.in_last_i.set_bool(last);
            }

            fn seen(&self) -> Out {
                let answer = || (self.host_rsp_rdata_o.get(), self.host_rsp_err_o.is_set());
                let word = || (self.out_data_o.get(), self.out_last_o.is_set());
                Out {
                    ready: self.host_req_ready_o.is_set(),
                    answer: self.host_rsp_valid_o.is_set().then(answer),
                    member: self.member_o.get().into(),
                    arrive: self.arrive_o.get().into(),
                    offered: self.out_valid_o.is_set().then(word),
                    takes: self.in_ready_o.is_set(),
                    busy: self.busy_o.is_set(),
                }
            }
        }
    )+};
}

ports!(Ap1000pBifBench
       TwinBifStranger TwinBifStays TwinBifLong TwinBifNothing TwinBifEarly TwinBifHalf TwinBifDeaf TwinBifPath TwinBifRest);

/// How eager everybody is, of 8, for a while.
struct Mood {
    host: u64,
    sends: u64,
    receives: u64,
    bus: u64,
    bus_takes: u64,
}

impl Mood {
    fn new(rng: &mut Rng) -> Mood {
        let mut eager = || [0, 1, 4, 8][rng.below(4) as usize];
        Mood {
            host: eager().max(1),
            sends: eager(),
            receives: eager(),
            bus: eager(),
            bus_takes: eager(),
        }
    }

    /// A register that is worth it, or anything.
    fn access(&self, rng: &mut Rng) -> Access {
        let (offset, write) = if rng.chance(self.sends, 10) {
            let last = rng.chance(1, 12);
            (if last { BIF_SEND_LAST } else { BIF_SEND }, true)
        } else if rng.chance(self.receives, 10) {
            (BIF_RECEIVE, false)
        } else {
            let any = [
                BIF_MEMBER,
                BIF_ARRIVE,
                BIF_ARRIVE,
                BIF_MODE,
                BIF_STATE,
                BIF_STATE,
                BIF_SEND_LAST,
                BIF_RECEIVE,
            ];
            let strange = rng.chance(1, 20);
            let offset = if strange {
                rng.below(256) as u32
            } else {
                any[rng.below(8) as usize]
            };
            (offset, rng.chance(1, 2))
        };
        Access {
            offset,
            write: write.then(|| rng.bits() as u32),
            strb: if rng.chance(1, 30) { rng.below(16) as u8 } else { 0xf },
        }
    }
}

/// Host, tree and bus do what they please, within their protocols; the model says each output of each cycle.
fn follows<U: Ports<In = In, Out = Out>>(case: &Case, start: &str, probe: &Probe) -> Result<(), String> {
    let mut rig = Rig::<U>::new(case, start, probe);
    let mut rng = case.rng("all");
    let mut model = Bif::default();
    let (mut answer, mut arrive) = (None, 0);
    let mut inputs = In::default();
    let mut mood = Mood::new(&mut rng);
    let (mut longest, mut fullest, mut deaf, mut run) = (0, 0, 0, 0);
    rig.step(&inputs, true)?;
    for cycle in 0..60_000 {
        if cycle % 200 == 0 {
            mood = Mood::new(&mut rng);
        }
        let rst = rng.chance(1, 5_000);
        // What is offered stays.
        inputs.host = inputs
            .host
            .or_else(|| rng.chance(mood.host, 8).then(|| mood.access(&mut rng)));
        let word = |rng: &mut Rng| (rng.bits() as u32, rng.chance(1, 9));
        inputs.bus = inputs.bus.or_else(|| rng.chance(mood.bus, 8).then(|| word(&mut rng)));
        inputs.take = rng.chance(2, 3);
        inputs.bus_takes = rng.chance(mood.bus_takes, 8);
        inputs.release = if rng.chance(1, 10) {
            rng.below(4) as u32 & model.waiting()
        } else {
            0
        };

        let seen = rig.step(&inputs, rst)?;
        let at = || format!("cycle {}: {seen:x?} after {inputs:x?}", rig.cycle);
        holds(
            Rule::Answer,
            (seen.ready, seen.answer) == (answer.is_none(), answer),
            || format!("{}, not {answer:x?}", at()),
        )?;
        holds(
            Rule::Barrier,
            (seen.member, seen.arrive) == (model.member(), arrive),
            || format!("{}, not {:x}, {arrive:x}", at(), model.member()),
        )?;
        holds(Rule::Sends, seen.offered == model.offered(), || {
            format!("{}, not {:x?}", at(), model.offered())
        })?;
        holds(Rule::Takes, seen.takes == model.takes(), || {
            format!("{}, not {}", at(), model.takes())
        })?;
        let busy = answer.is_some() || model.offered().is_some();
        holds(Rule::Rest, seen.busy == busy, || format!("{}, not {busy}", at()))?;

        // The edge. All of it is seen as it was before.
        let (offered, takes) = (model.offered(), inputs.bus.is_some() && model.offer());
        arrive = 0;
        let mut after = answer.filter(|_| !inputs.take);
        if let Some(access) = inputs.host.filter(|_| answer.is_none()) {
            let done = match access.write {
                Some(_) if access.strb != 0xf => None,
                Some(value) => model.write(access.offset, value).ok().map(|groups| {
                    arrive = groups;
                    0
                }),
                None => model.read(access.offset).ok(),
            };
            after = Some((done.unwrap_or(0), done.is_none()));
            inputs.host = None;
        }
        model.release(inputs.release);
        answer = after;
        if offered.is_some() && inputs.bus_takes {
            model.sent();
            run += 1;
            longest = longest.max(run);
            run = if offered.is_some_and(|word| word.1) { 0 } else { run };
        }
        if takes {
            let word = inputs.bus.take().expect("a word was offered");
            let before = model.clone();
            model.hear(word);
            deaf += u32::from(before.words() == model.words());
        }
        fullest = fullest.max(model.words());
        if rst {
            (model, answer, arrive, run) = (Bif::default(), None, 0, 0);
            (inputs.host, inputs.bus) = (None, None);
        }
    }
    assert!(
        longest == WORDS && fullest == WORDS && deaf > 100,
        "not everything was tried: {longest} {fullest} {deaf}"
    );
    Ok(())
}

#[test]
fn follows_its_model() {
    for start in STARTS {
        let case = Case::new("ap1000p", "bif::follows_its_model", start);
        case.run(|probe| follows::<Ap1000pBifBench>(&case, start, probe));
    }
}

fn checks<U: Ports<In = In, Out = Out>>() -> Vec<Result<(), String>> {
    let case = Case::new("ap1000p", "bif::each_twin_is_caught", "");
    vec![follows::<U>(&case, STARTS[0], &Probe::default())]
}

#[test]
fn each_twin_is_caught() {
    let twins: &[Twin] = &[
        // A barrier of others.
        ("Barrier", &checks::<TwinBifStranger>),
        // It opens for others only: nothing is left to arrive at. The status says so, too.
        ("Barrier|Answer", &checks::<TwinBifStays>),
        // A packet that can never be completed.
        ("Answer", &checks::<TwinBifLong>),
        // A word from nowhere.
        ("Answer", &checks::<TwinBifNothing>),
        // A packet that pauses on the bus.
        ("Sends", &checks::<TwinBifEarly>),
        // A packet's second half.
        ("Answer", &checks::<TwinBifHalf>),
        // Who does not listen stops the bus.
        ("Takes", &checks::<TwinBifDeaf>),
        // A bus word that comes within the cycle is taken in it.
        ("Path|Takes", &checks::<TwinBifPath>),
        ("Rest", &checks::<TwinBifRest>),
    ];
    each_is_caught(&RULES, twins);
}
