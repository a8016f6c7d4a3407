//! `emx_route`: the receiver's number becomes the path to it, in lock step with the golden paths, a cycle later.

use support::this_test;
use testbenches::gate::Pair;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::emx::golden::route::Shape;
use tsunagi::emx::packet::Packet;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer};
use verilated::{Input as _, Port as _};

use crate::rig::{Feed, packet, some_packet};

rules!(
    /// Word 0 has the path from here to the receiver.
    Path
    /// All else of a packet is as it came.
    Word
    /// A packet begins in the next cycle, and there is room for one where there is room beyond.
    Begin
    /// A packet for a receiver that does not exist is refused, and no other.
    Nowhere
    /// An edge that may be left out changes nothing.
    Gating
);

#[derive(Clone, Default)]
pub struct In {
    /// Its own number.
    pe: u32,
    /// And whether it is the last one.
    word: Option<(u64, bool)>,
    room: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Out {
    room: bool,
    word: Option<(u64, bool)>,
    nowhere: Option<Packet>,
}

/// A unit under test.
pub struct Router {
    pub dut: Dut<In, Out>,
    pub shape: Shape,
}

pub fn router<U: EmxRouteUnit + 'static>() -> Router {
    fn set(dut: &impl EmxRoutePorts, inputs: &In) {
        let (word, last) = inputs.word.unwrap_or((0x3f_dead_beef, false));
        dut.pe_i().set(inputs.pe.into());
        dut.in_valid_i().set_bool(inputs.word.is_some());
        dut.in_data_i().set(word);
        dut.in_last_i().set_bool(last);
        dut.out_room_i().set_bool(inputs.room);
    }
    fn seen(dut: &impl EmxRoutePorts) -> Out {
        let word = || (dut.out_data_o().get(), dut.out_last_o().is_set());
        Out {
            room: dut.in_room_o().is_set(),
            word: dut.out_valid_o().is_set().then(word),
            nowhere: dut.nowhere_o().is_set().then(|| packet(dut.nowhere_packet_o())),
        }
    }
    Router {
        dut: Dut::of::<U>(set, seen),
        shape: Shape::new(U::ROW_BITS as u32),
    }
}

/// What stands on the link of a feed.
pub fn word((packet, last): (Packet, bool)) -> (u64, bool) {
    (packet.words()[usize::from(last)], last)
}

/// The paths that the unit makes from a PE to each.
pub fn paths(run: &Run, router: &Router, from: u32) -> Result<Vec<u16>, Fault> {
    let mut bench = Bench::new(run, &router.dut);
    let mut inputs = In {
        pe: from,
        word: None,
        room: true,
    };
    bench.reset(&inputs)?;
    let mut found = Vec::new();
    for to in 0..router.shape.pes() {
        let packet = Packet {
            pe: to as u16,
            ..Packet::default()
        };
        for second in [false, true] {
            inputs.word = Some(word((packet, second)));
            let seen = bench.step(&inputs)?.word;
            found.extend(seen.filter(|(_, last)| !last));
        }
    }
    found.extend(bench.seen().word.filter(|(_, last)| !last));
    let path = |(word, _): &(u64, bool)| Packet::of([*word, 0]).pe;
    Ok(found.iter().map(path).collect())
}

/// The model.
struct Model {
    shape: Shape,
    pe: u32,
    /// Due in this cycle: a word, and whether it is the last one; a packet that is refused.
    shown: Option<(u64, bool)>,
    nowhere: Option<Packet>,
}

impl Model {
    fn new(shape: Shape, pe: u32) -> Model {
        Model {
            shape,
            pe,
            shown: None,
            nowhere: None,
        }
    }

    fn step(&mut self, inputs: &In, feed: &Feed<Packet>, seen: &Out) -> Result<(), Fault> {
        let want = self.shown;
        Rule::Begin.same("last", want.map(|(_, last)| last), seen.word.map(|(_, last)| last))?;
        if let (Some((want, _)), Some((got, _))) = (want, seen.word) {
            let [want, got] = [want, got].map(|word| Packet::of([word, 0]));
            let bare = |packet| Packet { pe: 0, ..packet };
            Rule::Word.same("word", bare(want), bare(got))?;
            Rule::Path.same("path", want.pe, got.pe)?;
        }
        Rule::Begin.same("room", inputs.room, seen.room)?;
        Rule::Nowhere.same("refused", self.nowhere, seen.nowhere)?;
        let route = |packet: &Packet| self.shape.route(self.pe, packet.pe.into());
        self.nowhere = feed.second().filter(|packet| route(packet).is_none());
        let sent = |(packet, last): (Packet, bool)| {
            let pe = route(&packet)?.0;
            Some(word((Packet { pe, ..packet }, last)))
        };
        self.shown = feed.now().and_then(sent);
        Ok(())
    }
}

fn exercise(
    run: &Run,
    router: &Router,
    gaps: Gaps,
    cycles: u64,
    mut next: impl FnMut(&mut Rng, u32) -> Option<Packet>,
    mut moves: impl FnMut(&mut Rng, u64) -> Option<u32>,
) -> Result<(), Fault> {
    let mut rng = run.rng("packets");
    let mut bench = Pair::new(run, &router.dut);
    let mut model = Model::new(router.shape, 0);
    let mut feed = Feed::default();
    let mut source = run.pacer(gaps.at_source(), "source");
    let mut sink = run.pacer(gaps.at_sink(), "sink");
    let mut before = None;
    let mut room = true;
    for cycle in 0..cycles {
        let inputs = In {
            pe: model.pe,
            word: feed.now().map(word),
            room,
        };
        let to = moves(&mut rng, cycle);
        if cycle < 2 || to.is_some() {
            let pe = to.unwrap_or(0);
            bench.reset(&In { pe, ..inputs });
            (model, feed) = (Model::new(router.shape, pe), Feed::default());
            continue;
        }
        // `in_room_o` follows `out_room_i` at once.
        let asks = inputs.word.is_some() || before.replace(inputs.room) != Some(inputs.room);
        let seen = bench.step(&inputs, asks).map_err(|fault| fault.at(cycle))?;
        model.step(&inputs, &feed, &seen).map_err(|fault| fault.at(cycle))?;
        // A packet begins in a cycle in which room is high.
        room = Pacer::step(&mut sink);
        let goes = source.step() && room;
        feed.step(|| if goes { next(&mut rng, model.pe) } else { None });
    }
    assert!(bench.skipped() > 0 || !gaps.at_source(), "it is never at rest");
    Ok(())
}

/// Packets of any kind, from one PE after the other.
fn random(run: &Run, router: &Router, gaps: Gaps, resets: bool) -> Result<(), Fault> {
    let pes = u64::from(router.shape.pes());
    let next = |rng: &mut Rng, _| {
        // Now and then to nobody, and often to the first one who is not there.
        let pe = match rng.below(8) {
            0 => rng.below(1 << 10),
            1 => pes,
            _ => rng.below(pes),
        };
        Some(Packet {
            pe: pe as u16,
            ..some_packet(rng)
        })
    };
    let moves = |rng: &mut Rng, _| (resets && rng.chance(1, 100)).then(|| rng.below(pes) as u32);
    exercise(run, router, gaps, 2000, next, moves)
}

/// From each to each, and to all numbers that are nobody's.
fn each(run: &Run, router: &Router) -> Result<(), Fault> {
    let pes = u64::from(router.shape.pes());
    let turn = 2 * (1 << 10) + 4;
    let mut to = 0;
    let next = |rng: &mut Rng, _| {
        let packet = Packet {
            pe: to,
            ..some_packet(rng)
        };
        to = (to + 1) % (1 << 10);
        Some(packet)
    };
    let moves = |_: &mut Rng, cycle| (cycle % turn == 0).then_some((cycle / turn) as u32);
    exercise(run, router, Gaps::None, turn * pes, next, moves)
}

fn checks(router: &Router, cases: &mut Cases) {
    let name = router.dut.name;
    for gaps in Gaps::ALL {
        for resets in [false, true] {
            let params = format!("{name} {gaps:?} resets {resets}");
            cases.from_each(&[Start::Random1, Start::Zero], params, |run| {
                random(run, router, gaps, resets)
            });
        }
    }
    cases.case(Start::Random1, format!("{name} each"), |run| each(run, router));
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| {
        checks(&router::<EmxRoute5>(), cases);
        checks(&router::<EmxRoute20>(), cases);
        checks(&router::<EmxRoute80>(), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // Hops that could go either way all go one way.
            (Path, &[], &|cases| checks(&router::<TwinRouteSpread>(), cases)),
            // Word 1 has a path, too.
            (Path, &[], &|cases| checks(&router::<TwinRouteSecond>(), cases)),
            (Word, &[Gating], &|cases| checks(&router::<TwinRouteWord>(), cases)),
            // A packet begins without room.
            (Begin, &[], &|cases| checks(&router::<TwinRouteRoom>(), cases)),
            // The first number that is nobody's is somebody's.
            (Begin, &[Nowhere], &|cases| checks(&router::<TwinRouteNobody>(), cases)),
            // The packet that is refused stands in the wrong order.
            (Nowhere, &[], &|cases| checks(&router::<TwinRouteOrder>(), cases)),
            (Gating, &[], &|cases| checks(&router::<TwinRouteRest>(), cases)),
        ],
    );
}
