//! The BIF in lock step with its golden model: registers, barriers, and words of the bus both ways.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Start, each_is_caught, pass, rules};
use tsunagi::ap1000p::bif_regs::*;
use tsunagi::ap1000p::golden::bif::{Bif, BusWord, WORDS};
use tsunagi::harness::seed::Rng;
use verilated::{Input as _, Port as _};

rules!(
    /// The host gets the model's answers, in their cycles.
    Answer
    /// The groups of the cell and its arrivals are the model's.
    Barrier
    /// The bus is offered the model's words.
    Sends
    /// A word of the bus is taken where there is room.
    Takes
    /// `busy_o` is high with an answer or a word on offer, and only then.
    Rest
    /// No output follows an input within the cycle.
    Path
);

/// An access of the host.
#[derive(Clone, Copy, Debug)]
struct Access {
    offset: u32,
    write: Option<u32>,
    strb: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct In {
    host: Option<Access>,
    take: bool,
    release: u32,
    bus_takes: bool,
    bus: Option<BusWord>,
}

/// Value and error.
type Answer = (u32, bool);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    ready: bool,
    answer: Option<Answer>,
    member: u32,
    arrive: u32,
    offered: Option<BusWord>,
    takes: bool,
    busy: bool,
}

fn set(dut: &impl Ap1000pBifPorts, inputs: &In) {
    let junk = Access {
        offset: BIF_SEND_LAST,
        write: Some(!0),
        strb: 0xf,
    };
    let host = inputs.host.unwrap_or(junk);
    dut.host_req_valid_i().set_bool(inputs.host.is_some());
    dut.host_req_addr_i().set(host.offset.into());
    dut.host_req_write_i().set_bool(host.write.is_some());
    dut.host_req_wdata_i().set(host.write.unwrap_or(0x5555_5555).into());
    dut.host_req_wstrb_i().set(host.strb.into());
    dut.host_rsp_ready_i().set_bool(inputs.take);
    dut.release_i().set(inputs.release.into());
    dut.out_ready_i().set_bool(inputs.bus_takes);
    let (word, last) = inputs.bus.unwrap_or((0xdead_beef, true));
    dut.in_valid_i().set_bool(inputs.bus.is_some());
    dut.in_data_i().set(word.into());
    dut.in_last_i().set_bool(last);
}

fn seen(dut: &impl Ap1000pBifPorts) -> Out {
    let answer = || (dut.host_rsp_rdata_o().get() as u32, dut.host_rsp_err_o().is_set());
    let word = || (dut.out_data_o().get() as u32, dut.out_last_o().is_set());
    Out {
        ready: dut.host_req_ready_o().is_set(),
        answer: dut.host_rsp_valid_o().is_set().then(answer),
        member: dut.member_o().get() as u32,
        arrive: dut.arrive_o().get() as u32,
        offered: dut.out_valid_o().is_set().then(word),
        takes: dut.in_ready_o().is_set(),
        busy: dut.busy_o().is_set(),
    }
}

fn bif<U: Ap1000pBifUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// How eager each party is, of 8, for a while.
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

    /// An access to a register, rarely to any offset.
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

    /// The inputs of a cycle. An offer stays until it is taken.
    fn drive(&self, rng: &mut Rng, waiting: u32, before: &In) -> In {
        let host = before
            .host
            .or_else(|| rng.chance(self.host, 8).then(|| self.access(rng)));
        let word = |rng: &mut Rng| (rng.bits() as u32, rng.chance(1, 9));
        In {
            host,
            bus: before.bus.or_else(|| rng.chance(self.bus, 8).then(|| word(rng))),
            take: rng.chance(2, 3),
            bus_takes: rng.chance(self.bus_takes, 8),
            release: if rng.chance(1, 10) {
                rng.below(4) as u32 & waiting
            } else {
                0
            },
        }
    }
}

/// The outputs that are due.
#[derive(Default)]
struct Due {
    model: Bif,
    answer: Option<Answer>,
    arrive: u32,
    tried: Tried,
}

/// The states that a run has reached.
#[derive(Debug, Default)]
struct Tried {
    /// Words of the packet under way to the bus, and of the longest one.
    packet: usize,
    longest: usize,
    /// The most words that waited to be received.
    fullest: usize,
    /// Words of packets that the cell does not keep.
    dropped: u32,
}

impl Due {
    fn check(&self, seen: &Out) -> Result<(), Fault> {
        let answer = self.answer;
        Rule::Answer.holds((seen.ready, seen.answer) == (answer.is_none(), answer), || {
            format!("{seen:x?}, not {answer:x?}")
        })?;
        let (member, arrive) = (self.model.member(), self.arrive);
        Rule::Barrier.holds((seen.member, seen.arrive) == (member, arrive), || {
            format!("{seen:x?}, not member {member:x}, arrive {arrive:x}")
        })?;
        let offered = self.model.offered();
        Rule::Sends.holds(seen.offered == offered, || format!("{seen:x?}, not {offered:x?}"))?;
        let takes = self.model.takes();
        Rule::Takes.holds(seen.takes == takes, || format!("{seen:x?}, not {takes}"))?;
        let busy = answer.is_some() || offered.is_some();
        Rule::Rest.holds(seen.busy == busy, || format!("{seen:x?}, not {busy}"))
    }

    /// The edge. The unit takes all inputs in the state before it. What it takes is no longer an input.
    fn edge(&mut self, inputs: &mut In) {
        let (offered, takes) = (self.model.offered(), inputs.bus.is_some() && self.model.offer());
        self.arrive = 0;
        if self.answer.is_none() {
            self.answer = inputs.host.take().map(|access| self.access(access));
        } else if inputs.take {
            self.answer = None;
        }
        self.model.release(inputs.release);
        if let Some((_, last)) = offered.filter(|_| inputs.bus_takes) {
            self.model.sent();
            self.tried.packet += 1;
            self.tried.longest = self.tried.longest.max(self.tried.packet);
            if last {
                self.tried.packet = 0;
            }
        }
        if takes {
            let words = self.model.words();
            self.model.hear(inputs.bus.take().expect("a word was offered"));
            self.tried.dropped += u32::from(self.model.words() == words);
        }
        self.tried.fullest = self.tried.fullest.max(self.model.words());
    }

    fn access(&mut self, access: Access) -> Answer {
        let done = match access.write {
            Some(_) if access.strb != 0xf => None,
            Some(value) => self.model.write(access.offset, value).ok().map(|groups| {
                self.arrive = groups;
                0
            }),
            None => self.model.read(access.offset).ok(),
        };
        (done.unwrap_or(0), done.is_none())
    }

    fn reset(&mut self) {
        (self.model, self.answer, self.arrive, self.tried.packet) = (Bif::default(), None, 0, 0);
    }
}

/// Host, tree and bus do anything that their protocols allow; the model says each output of each cycle.
fn follows(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.from_each(&Start::RANDOM, dut.name, |run| {
        let mut bench = Bench::new(run, dut);
        let mut rng = run.rng("all");
        let mut due = Due::default();
        let mut inputs = In::default();
        let mut mood = Mood::new(&mut rng);
        bench.reset(&inputs)?;
        for cycle in 0..60_000 {
            if cycle % 200 == 0 {
                mood = Mood::new(&mut rng);
            }
            let rst = rng.chance(1, 1_000);
            inputs = mood.drive(&mut rng, due.model.waiting(), &inputs);
            let seen = bench.registered(&inputs, rst)?;
            due.check(&seen).map_err(|fault| fault.at(cycle))?;
            due.edge(&mut inputs);
            if rst {
                due.reset();
                (inputs.host, inputs.bus) = (None, None);
                // Often the first packet is one of the longest.
                (mood.host, mood.sends) = (8, 10);
            }
        }
        let Tried {
            longest,
            fullest,
            dropped,
            ..
        } = due.tried;
        assert!(
            longest == WORDS && fullest == WORDS && dropped > 100,
            "the run does not reach all states: {:?}",
            due.tried
        );
        Ok(())
    });
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| follows(&bif::<Ap1000pBifBench>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The cell arrives at a barrier of other cells.
            (Barrier, &[], &|cases| follows(&bif::<TwinBifStranger>(), cases)),
            // A barrier does not open for this cell. STATE shows it, or the next arrival does.
            (Answer, &[Barrier], &|cases| follows(&bif::<TwinBifStays>(), cases)),
            // The first packet after a reset can have a word too many.
            (Answer, &[], &|cases| follows(&bif::<TwinBifFirst>(), cases)),
            // A packet can have no last word.
            (Answer, &[], &|cases| follows(&bif::<TwinBifLong>(), cases)),
            // RECEIVE gives a word that did not come.
            (Answer, &[], &|cases| follows(&bif::<TwinBifNothing>(), cases)),
            // A packet pauses on the bus.
            (Sends, &[], &|cases| follows(&bif::<TwinBifEarly>(), cases)),
            // The second half of a packet is kept. RECEIVE gives it, or it takes the room of a later packet.
            (Answer, &[Takes], &|cases| follows(&bif::<TwinBifHalf>(), cases)),
            // A cell that does not listen stops the bus.
            (Takes, &[], &|cases| follows(&bif::<TwinBifDeaf>(), cases)),
            // A bus word is taken in the cycle in which it comes.
            (Path, &[Takes], &|cases| follows(&bif::<TwinBifPath>(), cases)),
            // `busy_o` is low with a word on offer.
            (Rest, &[], &|cases| follows(&bif::<TwinBifRest>(), cases)),
        ],
    );
}
