//! `cppacs_answers`: words leave as they came, and there is room for all of an answer that looked first.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::cppacs::golden::answers::{ANSWER_WORDS, Answers, Word};
use tsunagi::harness::stream::{Gaps, Sink};
use verilated::{Input as _, Port as _};

rules!(
    /// Words leave as they came, in order, all of them.
    Words
    /// Room is what the model says, a cycle later.
    Room
    /// The answers that wait are counted.
    Waiting
    /// It is busy while something is inside, and only then.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
);

#[derive(Default)]
struct In {
    ask: Option<Word>,
    ready: bool,
}

#[derive(Debug, PartialEq)]
struct Out {
    room: bool,
    answer: Option<Word>,
    waiting: usize,
    busy: bool,
}

fn set(dut: &impl CppacsAnswersPorts, inputs: &In) {
    let (index, data) = inputs.ask.unwrap_or((0, 0xdead));
    dut.ask_valid_i().set_bool(inputs.ask.is_some());
    dut.ask_index_i().set(index.into());
    dut.ask_data_i().set(data.into());
    dut.answer_ready_i().set_bool(inputs.ready);
}

fn seen(dut: &impl CppacsAnswersPorts) -> Out {
    let word = (dut.answer_index_o().get() as u32, dut.answer_data_o().get() as u32);
    Out {
        room: dut.ask_room_o().is_set(),
        answer: dut.answer_valid_o().is_set().then_some(word),
        waiting: dut.waiting_o().get() as usize,
        busy: dut.busy_o().is_set(),
    }
}

fn dut<U: CppacsAnswersUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// Cycles behind an answer until the room is looked at again, at least.
const PAUSE: u64 = 3;

/// So many answers pass, with a reset in a cycle.
fn exercise(run: &Run, dut: &Dut<In, Out>, answers: usize, gaps: Gaps, reset: Option<u64>) -> Result<(), Fault> {
    let mut bench = Bench::new(run, dut);
    let mut model = Answers::new(answers);
    let mut rng = run.rng("words");
    let mut pacer = run.pacer(gaps.at_source(), "words");
    let mut sink = Sink::new(run.pacer(gaps.at_sink(), "sink"));
    let (mut left, mut room, mut next, mut count) = (0, true, 0, 0);
    for cycle in 0..20_000 {
        let rst = cycle < 3 || reset == Some(cycle);
        if rst {
            model = Answers::new(answers);
            (left, room, next) = (0, true, cycle + PAUSE);
            sink.reset();
            bench.registered(&In::default(), true)?;
            continue;
        }
        let go = pacer.step();
        if left == 0 && go && room && cycle >= next && count < 300 {
            left = ANSWER_WORDS as u32 - rng.below(2) as u32;
            count += 1;
        }
        let inputs = In {
            ask: (left > 0 && go).then(|| (if left == 1 { 0 } else { 16 - left }, rng.bits() as u32)),
            ready: sink.ready(),
        };
        let out = bench.step(&inputs).map_err(|fault| fault.at(cycle))?;
        let at = |fault: Fault| fault.at(cycle);
        Rule::Room.same("room", room, out.room).map_err(at)?;
        Rule::Waiting
            .same("waiting", model.waiting(), out.waiting)
            .map_err(at)?;
        Rule::Rest.same("busy", !model.is_empty(), out.busy).map_err(at)?;
        room = model.has_room();
        if let Some(word) = sink.step(out.answer).map_err(|error| at(error.into()))? {
            Rule::Words.same("a word", model.take(), Some(word)).map_err(at)?;
        }
        if let Some(word) = inputs.ask {
            let room = model.ask(word);
            Rule::Room.holds(room.is_ok(), || "no room for an answer that looked".into())?;
            left -= 1;
            next = cycle + PAUSE;
        }
        if count == 300 && left == 0 && model.is_empty() {
            return Ok(());
        }
    }
    Err(Rule::Words.broken(format!("{} words inside", model.len())))
}

fn checks(dut: &Dut<In, Out>, answers: usize, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for resets in [false, true] {
            cases.case(Start::Random1, format!("{} {gaps:?} reset {resets}", dut.name), |run| {
                let reset = resets.then(|| run.rng("reset").between(20, 500));
                exercise(run, dut, answers, gaps, reset)
            });
        }
    }
}

#[test]
fn words_leave_as_they_came() {
    pass(this_test!(), |cases| {
        checks(&dut::<CppacsAnswers4>(), 4, cases);
        checks(&dut::<CppacsAnswers>(), 128, cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Words, &[], &|cases| checks(&dut::<TwinCppacsAnswersIndex>(), 4, cases)),
            (Room, &[], &|cases| checks(&dut::<TwinCppacsAnswersRoom>(), 4, cases)),
            (Waiting, &[], &|cases| {
                checks(&dut::<TwinCppacsAnswersWaiting>(), 4, cases)
            }),
            (Rest, &[], &|cases| checks(&dut::<TwinCppacsAnswersRest>(), 4, cases)),
            (Path, &[Waiting], &|cases| {
                checks(&dut::<TwinCppacsAnswersPath>(), 4, cases)
            }),
            (Protocol, &[Words, Waiting, Rest], &|cases| {
                checks(&dut::<TwinCppacsAnswersOffer>(), 4, cases)
            }),
        ],
    );
}
