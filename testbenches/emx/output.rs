//! `emx_output`: packets leave in the order in which they came, two words each, where there is room.

use support::this_test;
use testbenches::gate::Pair;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Rule as _, Run, Start as From, each_is_caught, pass, rules};
use tsunagi::emx::golden::output::Output;
use tsunagi::emx::packet::Packet;
use tsunagi::harness::stream::{Gaps, Pacer, Source};
use verilated::{Input as _, Port as _};

use crate::rig::{set_packet, some_packet};

rules!(
    /// Both words of each packet, in order; answers before packets of their cycle.
    Packet
    /// A packet begins as soon as there is room and no word 1 is due, and only then.
    Begin
    /// A thread's packet finds a place, or waits; an answer has one of its own.
    Ready
    /// An edge that may be left out changes nothing.
    Gating
);

#[derive(Clone, Default)]
struct In {
    /// Of a thread, and an answer.
    packets: [Option<Packet>; 2],
    room: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    ready: [bool; 2],
    /// A word, and whether it is the last one.
    word: Option<(u64, bool)>,
}

fn set(dut: &impl EmxOutputPorts, inputs: &In) {
    for (index, packet) in inputs.packets.into_iter().enumerate() {
        dut.in_valid_i().set_bits(index, 1, packet.is_some().into());
        set_packet(dut.in_packet_i(), index, packet);
    }
    dut.out_room_i().set_bool(inputs.room);
}

fn seen(dut: &impl EmxOutputPorts) -> Out {
    let word = || (dut.out_data_o().get(), dut.out_last_o().is_set());
    Out {
        ready: [0, 1].map(|index| dut.in_ready_o().bit(index)),
        word: dut.out_valid_o().is_set().then(word),
    }
}

/// A unit under test.
struct Unit {
    dut: Dut<In, Out>,
    /// Packets of threads that it holds.
    depth: usize,
    replies: bool,
}

fn unit<U: EmxOutputUnit + 'static>() -> Unit {
    Unit {
        dut: Dut::of::<U>(set, seen),
        depth: U::OUTPUT_PACKETS,
        replies: U::READ_BYPASS,
    }
}

/// The model, with a place for the answer, and one for a packet that passes through.
struct Model {
    output: Output,
    /// Packets inside.
    level: usize,
    /// Word 1 that is due.
    second: Option<u64>,
    taken: [u64; 2],
}

impl Model {
    fn new(unit: &Unit) -> Model {
        Model {
            output: Output::new(unit.depth as u32 + 2),
            level: 0,
            second: None,
            taken: [0; 2],
        }
    }

    fn step(&mut self, unit: &Unit, inputs: &In, seen: &Out) -> Result<(), Fault> {
        let begins = inputs.room && self.second.is_none();
        let place = match unit.depth {
            0 => begins,
            depth => self.level < depth && inputs.packets[1].is_none(),
        };
        Rule::Ready.same("ready for a thread's packet", place, seen.ready[0])?;
        let reserved = unit.replies && self.level <= unit.depth;
        Rule::Ready.same("ready for an answer", reserved, seen.ready[1])?;
        let stored = self.level > 0;
        let mut passes = false;
        for index in [1, 0] {
            if let Some(packet) = inputs.packets[index].filter(|_| seen.ready[index]) {
                self.output.put(packet);
                self.level += 1;
                self.taken[index] += 1;
                passes |= index == 0;
            }
        }
        let second = self.second.take();
        let begins = begins && (stored || passes);
        let is_last = seen.word.map(|(_, last)| last);
        let want = second.map(|_| true).or(begins.then_some(false));
        Rule::Begin.same("last", want, is_last)?;
        if begins {
            let [w0, w1] = self.output.take().map_or([0; 2], |packet| packet.words());
            self.level -= 1;
            self.second = Some(w1);
            return Rule::Packet.same("word 0", Some((w0, false)), seen.word);
        }
        Rule::Packet.same("word 1", second.map(|word| (word, true)), seen.word)
    }
}

fn exercise(run: &Run, unit: &Unit, gaps: Gaps, resets: bool) -> Result<(), Fault> {
    let mut bench = Pair::new(run, &unit.dut);
    let mut rng = run.rng("packets");
    let mut model = Model::new(unit);
    let sends: Vec<Packet> = (0..800).map(|_| some_packet(&mut rng)).collect();
    let mut sends = Source::new(sends, run.pacer(gaps.at_source(), "sends"));
    let mut answers = run.pacer(true, "answers");
    let mut rooms = run.pacer(gaps.at_sink(), "room");
    let (mut reserved, mut last) = (false, In::default());
    for cycle in 0..2500 {
        let answer = answers.step() && reserved;
        let inputs = In {
            packets: [sends.offer().copied(), answer.then(|| some_packet(&mut rng))],
            room: Pacer::step(&mut rooms),
        };
        if cycle < 2 || resets && rng.chance(1, 200) {
            bench.reset(&inputs);
            model = Model::new(unit);
            sends.reset();
            (last, reserved) = (inputs, false);
            continue;
        }
        let offers = |inputs: &In| inputs.packets.iter().any(Option::is_some);
        let asks = offers(&inputs) || offers(&last) || inputs.room != last.room;
        let seen = bench.step(&inputs, asks).map_err(|fault| fault.at(cycle))?;
        model.step(unit, &inputs, &seen).map_err(|fault| fault.at(cycle))?;
        sends.step(seen.ready[0]);
        // A place is promised for the next cycle, but not two.
        reserved = seen.ready[1] && !answer;
        last = inputs;
    }
    let enough = model.taken[0] > 100 && (model.taken[1] > 20 || !unit.replies);
    assert!(enough || resets, "{:?} packets", model.taken);
    Ok(())
}

fn checks(unit: &Unit, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for resets in [false, true] {
            let params = format!("{} {gaps:?} resets {resets}", unit.dut.name);
            cases.from_each(&[From::Random1, From::Zero], params, |run| {
                exercise(run, unit, gaps, resets)
            });
        }
    }
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| {
        checks(&unit::<EmxOutputR>(), cases);
        checks(&unit::<EmxOutputY>(), cases);
        checks(&unit::<EmxOutputSmall>(), cases);
        checks(&unit::<EmxOutputThreads>(), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The thread's packet is stored where an answer comes: what stands on its pins.
            (Packet, &[Gating], &|cases| checks(&unit::<TwinOutputMixed>(), cases)),
            // Word 1 is that of the packet behind.
            (Packet, &[Gating], &|cases| checks(&unit::<TwinOutputWord>(), cases)),
            // A packet begins without room.
            (Begin, &[], &|cases| checks(&unit::<TwinOutputRoom>(), cases)),
            // A packet takes a cycle more through the empty buffer.
            (Begin, &[], &|cases| checks(&unit::<TwinOutputLate>(), cases)),
            // Threads take the place of the answer.
            (Ready, &[], &|cases| checks(&unit::<TwinOutputPlace>(), cases)),
            (Gating, &[], &|cases| checks(&unit::<TwinOutputRest>(), cases)),
        ],
    );
}
