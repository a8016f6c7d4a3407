//! `dimmnet1_acks`: slots and credits, against the model in lock step.

use std::array;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::dimmnet1::golden::acks::{Acks, Answer};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Source};
use verilated::{Input as _, Port as _};

rules!(
    /// A credit is given only where the model has one, with the right generation.
    Credit
    /// Answers that do not count are reported, and no others.
    Stray
    /// A slot's register follows the model.
    Value
    /// A take that can go on does, in turn.
    Prompt
    /// At rest nothing changes.
    Rest
    /// No output follows an input within the cycle.
    Path
);

/// Slot and node.
type Take = (u8, u16);

#[derive(Clone)]
struct In {
    takes: [Option<Take>; 2],
    answer: Option<Answer>,
    index: u8,
    clear: Option<u8>,
}

impl In {
    fn is_quiet(&self) -> bool {
        self.takes == [None; 2] && self.answer.is_none() && self.clear.is_none()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    busy: bool,
    ready: [bool; 2],
    generation: [u16; 2],
    answer_ready: bool,
    stray: bool,
    value: u64,
}

fn set(dut: &impl Dimmnet1AcksPorts, inputs: &In) {
    for (k, take) in inputs.takes.iter().enumerate() {
        dut.take_valid_i().set_bits(k, 1, take.is_some().into());
        let (slot, dst) = take.unwrap_or((5, 0xdead));
        dut.take_slot_i().set_bits(4 * k, 4, slot.into());
        dut.take_dst_i().set_bits(16 * k, 16, dst.into());
    }
    let answer = inputs.answer.unwrap_or(Answer {
        tag: 0,
        src: 0,
        nack: Some(1),
        seq: 0,
    });
    dut.ans_valid_i().set_bool(inputs.answer.is_some());
    dut.ans_tag_i().set(answer.tag.into());
    dut.ans_src_i().set(answer.src.into());
    dut.ans_nack_i().set_bool(answer.nack.is_some());
    dut.ans_reason_i().set(answer.nack.unwrap_or(0).into());
    dut.ans_seq_i().set(answer.seq.into());
    dut.slot_index_i().set(inputs.index.into());
    dut.clear_valid_i().set_bool(inputs.clear.is_some());
    dut.clear_index_i().set(inputs.clear.unwrap_or(0).into());
}

fn seen(dut: &impl Dimmnet1AcksPorts) -> Out {
    let bits = |k| dut.take_ready_o().get_bits(k, 1) == 1;
    Out {
        busy: dut.busy_o().is_set(),
        ready: [bits(0), bits(1)],
        generation: [0, 1].map(|k| dut.take_gen_o().get_bits(12 * k, 12) as u16),
        answer_ready: dut.ans_ready_o().is_set(),
        stray: dut.stray_o().is_set(),
        value: dut.slot_value_o().get(),
    }
}

fn acks<U: Dimmnet1AcksUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// Cycles that the slots are being cleared after a reset.
const INIT: u64 = 16;

/// The model, and what is under way in the unit.
struct Model {
    acks: Acks,
    /// Open packets, as the other nodes know them.
    open: Vec<(u16, u16)>,
    /// Came in the last cycle.
    answer: Option<Answer>,
    clear: Option<u8>,
    /// Due in the next cycle.
    stray: bool,
    value: Option<u64>,
    /// Clears that the unit has not done.
    clears: u64,
    /// Cycles since the reset.
    age: u64,
    /// Cycles in which a take could have been given a credit, and was not.
    missed: [u64; 2],
}

impl Model {
    fn new() -> Model {
        Model {
            acks: Acks::default(),
            open: Vec::new(),
            answer: None,
            clear: None,
            stray: false,
            value: None,
            clears: 0,
            age: 0,
            missed: [0; 2],
        }
    }

    /// A cycle: what was seen before its edge.
    fn step(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        Rule::Stray.same("stray", self.stray, seen.stray)?;
        Rule::Stray.holds(seen.answer_ready, || "an answer waits".into())?;
        if let Some(want) = self.value {
            Rule::Value.same("value", want, seen.value)?;
        }
        for (k, (&ready, take)) in seen.ready.iter().zip(inputs.takes).enumerate() {
            if ready {
                self.take(k, take, seen.generation[k])?;
            }
        }
        self.wait(inputs, seen)?;
        let cleared = self.clear == Some(inputs.index);
        self.value = Some(if cleared { 0 } else { self.acks.value(inputs.index) });
        self.stray = self.answer.take().is_some_and(|answer| !self.acks.answer(&answer));
        if let Some(slot) = self.clear.take() {
            self.acks.clear(slot);
            self.open.retain(|&(tag, _)| tag & 0xf != u16::from(slot));
        }
        (self.answer, self.clear) = (inputs.answer, inputs.clear);
        self.clears += u64::from(inputs.clear.is_some());
        self.age += 1;
        Ok(())
    }

    fn take(&mut self, k: usize, take: Option<Take>, generation: u16) -> Result<(), Fault> {
        let Some((slot, dst)) = take else {
            return Err(Rule::Credit.broken(format!("client {k} gets a credit it did not ask for")));
        };
        let may = self.acks.may_take(slot, dst);
        Rule::Credit.holds(may, || format!("credit for slot {slot}, node {dst}"))?;
        let want = self.acks.take(slot, dst);
        Rule::Credit.same("generation", want, generation)?;
        self.open.push((generation << 4 | u16::from(slot), dst));
        self.missed[k] = 0;
        Ok(())
    }

    /// Takes that wait although this cycle has nothing else to do.
    fn wait(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        let free = self.age >= INIT && self.answer.is_none();
        if free && self.clears == 0 {
            let waits: [Option<Take>; 2] = array::from_fn(|k| inputs.takes[k].filter(|_| !seen.ready[k]));
            for (k, wait) in waits.into_iter().enumerate() {
                let may = wait.is_some_and(|(slot, dst)| self.acks.may_take(slot, dst));
                self.missed[k] = if may { self.missed[k] + 1 } else { 0 };
                let missed = self.missed[k];
                // The cycle of the credit itself, and one for the other client.
                Rule::Prompt.holds(missed <= 2, || format!("client {k} misses {missed} turns"))?;
            }
        } else if free {
            self.clears -= 1;
        }
        Ok(())
    }
}

/// What comes in a stretch of a case: chances in 16.
#[derive(Clone, Copy)]
struct Rates {
    answer: u64,
    clear: u64,
}

/// An answer to an open packet, or one that nobody waits for.
fn answer(model: &mut Model, rng: &mut Rng) -> Answer {
    let known = !model.open.is_empty() && rng.chance(7, 8);
    let (mut tag, mut src) = match known {
        true => model.open.swap_remove(rng.below(model.open.len() as u64) as usize),
        false => (rng.below(4) as u16, rng.below(3) as u16),
    };
    if rng.chance(1, 16) {
        tag ^= 1 << rng.below(16);
    }
    if rng.chance(1, 16) {
        src ^= 1 << rng.below(16);
    }
    let nack = rng.chance(1, 3).then(|| rng.between(1, 11) as u8);
    let seq = rng.bits() as u32;
    Answer { tag, src, nack, seq }
}

fn exercise(run: &Run, dut: &Dut<In, Out>, gaps: Gaps, reset: bool) -> Result<(), Fault> {
    let mut bench = Bench::new(run, dut);
    let mut rng = run.rng("events");
    // At first all go to one node, so that the credits run out.
    let mut take = |number: u64| {
        let nodes = if number > 200 && rng.chance(1, 4) { 3 } else { 1 };
        (rng.below(4) as u8 * 5, rng.below(nodes) as u16)
    };
    let mut sources = [0, 1].map(|k: usize| {
        let takes: Vec<Take> = (0..600).map(&mut take).collect();
        Source::new(takes, run.pacer(gaps.at_source(), ["takes 0", "takes 1"][k]))
    });
    let mut model = Model::new();
    let (mut rates, mut index, mut burst, mut full) = (Rates { answer: 0, clear: 0 }, 0, 0, false);
    let from = run.rng("reset").between(100, 2000);
    for cycle in 0..4000 {
        let rst = cycle < 2 || (reset && (from..from + 2).contains(&cycle));
        if cycle % 100 == 0 {
            let answer = if gaps.at_sink() { rng.below(6) } else { rng.below(17) };
            rates = Rates {
                answer,
                clear: rng.below(2),
            };
        }
        if model.clears == 0 && model.clear.is_none() && rng.chance(rates.clear, 32) {
            burst = 4;
        }
        let busy = bench.seen().busy;
        if busy || rng.chance(1, 4) {
            index = rng.below(4) as u8 * 5;
        }
        let takes = [0, 1].map(|k: usize| sources[k].offer().copied());
        let clear = burst > 0 && rng.chance(3, 4);
        burst -= u64::from(clear);
        let inputs = In {
            takes,
            answer: rng.chance(rates.answer, 16).then(|| answer(&mut model, &mut rng)),
            index,
            clear: clear.then_some(burst as u8 * 5),
        };
        if rst {
            bench.reset(&inputs)?;
            sources.iter_mut().for_each(Source::reset);
            (model, burst) = (Model::new(), 0);
            continue;
        }
        let still = inputs.is_quiet() && model.value == Some(model.acks.value(index));
        let clocked = rng.chance(1, 2);
        let rests = move |seen: &Out| still && !seen.busy;
        let seen = bench.step_gated(&inputs, rests, clocked || !still)?;
        let stepped = model.step(&inputs, &seen);
        stepped.map_err(|fault| fault.at(cycle))?;
        full |= model.acks.open() == 32;
        for (source, ready) in sources.iter_mut().zip(seen.ready) {
            source.step(ready);
        }
    }
    assert!(full || !gaps.at_sink() || reset, "the credits never ran out");
    Ok(())
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for reset in [false, true] {
            let params = format!("{} {gaps:?} reset {reset}", dut.name);
            cases.from_each(&[Start::Random1, Start::Zero], params, |run| {
                exercise(run, dut, gaps, reset)
            });
        }
    }
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| checks(&acks::<Dimmnet1Acks>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // A packet to another node opens.
            (Credit, &[Stray, Value], &|cases| {
                checks(&acks::<TwinSlotsAnyNode>(), cases)
            }),
            // A 33rd packet opens.
            (Credit, &[], &|cases| checks(&acks::<TwinSlotsCredits>(), cases)),
            // Answers of an old generation count.
            (Stray, &[Value, Credit, Prompt, Rest], &|cases| {
                checks(&acks::<TwinSlotsOld>(), cases)
            }),
            // The last negative answer is kept, not the first.
            (Value, &[], &|cases| checks(&acks::<TwinSlotsLast>(), cases)),
            // A clear does not give credits back.
            (Prompt, &[], &|cases| checks(&acks::<TwinSlotsLeak>(), cases)),
            // One client goes before the other.
            (Prompt, &[], &|cases| checks(&acks::<TwinSlotsUnfair>(), cases)),
            // A late pulse.
            (Rest, &[Stray], &|cases| checks(&acks::<TwinSlotsRest>(), cases)),
            (Path, &[Stray], &|cases| checks(&acks::<TwinSlotsPath>(), cases)),
        ],
    );
}
