//! `cppacs_kicks`: queues of kicks.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::cppacs::golden::kicks::Kicks;
use tsunagi::harness::stream::{Gaps, Sink};
use verilated::{Input as _, Port as _};

rules!(
    /// Kicks of a queue leave as they came, none is lost or doubled.
    Order
    /// A kick is refused if its queue is full, and only then.
    Refused
    /// Who waits is passed over by each other process at most once.
    Fair
    /// Room and who waits are told as they are.
    Room
    /// A kick takes 2 cycles.
    Latency
    /// At rest nothing changes.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// All kicks leave.
    Hang
);

/// Kicks of a queue.
const DEPTH: usize = 4;

#[derive(Clone, Default)]
struct In {
    /// Process, channel, TCW.
    kick: Option<(u64, usize, u16)>,
    take: [bool; 2],
    room_process: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    busy: bool,
    refused: bool,
    /// Process and TCW.
    next: [Option<(usize, u16)>; 2],
    room: [usize; 2],
    waiting: u32,
}

fn set(dut: &impl CppacsKicksPorts, inputs: &In) {
    let (process, channel, tcw) = inputs.kick.unwrap_or((5, 1, 0x5555));
    dut.kick_valid_i().set_bool(inputs.kick.is_some());
    dut.kick_process_i().set(process);
    dut.kick_channel_i().set(channel as u64);
    dut.kick_tcw_i().set(tcw.into());
    for c in 0..2 {
        dut.next_take_i().set_bits(c, 1, inputs.take[c].into());
    }
    dut.room_process_i().set(inputs.room_process);
}

fn seen(dut: &impl CppacsKicksPorts) -> Out {
    let next = |c: usize| {
        let what = || {
            let process = dut.next_process_o().get_bits(3 * c, 3) as usize;
            (process, dut.next_tcw_o().get_bits(16 * c, 16) as u16)
        };
        (dut.next_valid_o().get_bits(c, 1) == 1).then(what)
    };
    Out {
        busy: dut.busy_o().is_set(),
        refused: dut.refused_o().is_set(),
        next: [0, 1].map(next),
        room: [0, 1].map(|c| dut.room_o().get_bits(5 * c, 5) as usize),
        waiting: dut.waiting_o().get() as u32,
    }
}

fn kicks<U: CppacsKicksUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// How kicks come.
#[derive(Clone, Copy)]
struct Traffic {
    gaps: Gaps,
    /// Processes that kick.
    processes: u64,
    reset: bool,
}

/// What became of the kick of the cycle before. With a take of its queue, or right after it, it may still find it full.
fn refusal(
    model: &mut Kicks,
    kicked: Option<(usize, usize, u16)>,
    refused: bool,
    taken: &[[u64; 8]; 2],
    cycle: u64,
) -> Result<(), Fault> {
    let Some((process, channel, tcw)) = kicked else {
        return Rule::Refused.same("refused", false, refused);
    };
    let was_full = model.room(process, channel) == 1 && cycle <= taken[channel][process] + 2;
    if refused && was_full {
        return Ok(());
    }
    let want = model.kick(process, channel, tcw).is_err();
    Rule::Refused.same("refused", want, refused)
}

fn traffic(run: &Run, dut: &Dut<In, Out>, traffic: Traffic) -> Result<(), Fault> {
    let mut rng = run.rng("kicks");
    let mut model = Kicks::new(DEPTH);
    let mut bench = Bench::new(run, dut);
    for _ in 0..2 {
        bench.reset(&In::default())?;
    }
    let mut sinks = ["data", "acknowledge"].map(|name| Sink::new(run.pacer(traffic.gaps.at_sink(), name)));
    let reset_at = if traffic.reset { rng.between(100, 1000) } else { 0 };
    let (mut quiet, mut wait, mut left) = (0, 0, 600);
    // The kick of the cycle before; the cycle of the last take of each queue; since when one process's room is asked.
    let mut kicked: Option<(usize, usize, u16)> = None;
    let mut taken = [[0u64; 8]; 2];
    let mut asked = 0;
    let mut room_process = 0;
    for cycle in 1..20_000 {
        if cycle == reset_at {
            bench.reset(&In::default())?;
            model = Kicks::new(DEPTH);
            sinks.iter_mut().for_each(Sink::reset);
            (quiet, kicked) = (0, None);
            continue;
        }
        wait -= i32::from(wait > 0);
        let kicks = left > 0 && wait == 0 && (!traffic.gaps.at_source() || rng.chance(1, 2));
        if rng.chance(1, 8) {
            (room_process, quiet, asked) = (rng.below(8), 0, cycle);
        }
        let inputs = In {
            kick: kicks.then(|| (rng.below(traffic.processes), rng.below(2) as usize, rng.bits() as u16)),
            take: [0, 1].map(|c: usize| sinks[c].ready()),
            room_process,
        };
        let still = inputs.kick.is_none() && inputs.take == [false; 2] && cycle > asked;
        let seen = bench.step_gated(&inputs, |seen| still && !seen.busy, rng.chance(1, 2))?;
        let at = |fault: Fault| fault.at(cycle);
        refusal(&mut model, kicked.take(), seen.refused, &taken, cycle).map_err(at)?;
        if quiet > 4 {
            let room = [0, 1].map(|c| model.room(room_process as usize, c));
            Rule::Room.same("room", room, seen.room).map_err(at)?;
            Rule::Room.same("waiting", model.waiting(), seen.waiting).map_err(at)?;
        }
        quiet += 1;
        for c in 0..2 {
            if let Some((process, tcw)) = sinks[c].step(seen.next[c]).map_err(|error| at(error.into()))? {
                (quiet, taken[c][process]) = (0, cycle);
                let want = model.first(c, process);
                Rule::Order.same("kick", want, Some(tcw)).map_err(at)?;
                let next = model.next(c, process);
                Rule::Fair
                    .holds(next.is_ok(), || format!("{next:?} on channel {c}"))
                    .map_err(at)?;
            }
        }
        if let Some((process, channel, tcw)) = inputs.kick {
            kicked = Some((process as usize, channel, tcw));
            (quiet, left, wait) = (0, left - 1, 4);
        }
        if left == 0 && model.waiting() == 0 && quiet > 20 {
            return Ok(());
        }
    }
    Err(Rule::Hang.broken(format!("{left} kicks have not come; {:x} wait", model.waiting())))
}

/// One kick from rest.
fn latency(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    let mut rng = run.rng("kicks");
    let mut bench = Bench::new(run, dut);
    bench.reset(&In::default())?;
    for _ in 0..50 {
        let (process, channel) = (rng.below(8), rng.below(2) as usize);
        bench.step(&In {
            kick: Some((process, channel, 1)),
            ..In::default()
        })?;
        bench.step(&In::default())?;
        let take = [channel == 0, channel == 1];
        let seen = bench.step(&In { take, ..In::default() })?;
        Rule::Latency.holds(seen.next[channel].is_some(), || "no kick after 2 cycles".into())?;
        for _ in 0..4 {
            bench.step(&In::default())?;
        }
    }
    Ok(())
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for (processes, reset) in [(8, false), (2, false), (3, true)] {
            let params = format!("{} {gaps:?} {processes} processes, reset {reset}", dut.name);
            let how = Traffic { gaps, processes, reset };
            cases.case(Start::Random1, params, |run| traffic(run, dut, how));
        }
    }
    cases.case(Start::Zero, format!("{} latency", dut.name), |run| latency(run, dut));
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| checks(&kicks::<CppacsKicks>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // A full queue overwrites.
            (Refused, &[Order, Room, Hang, Fair, Protocol, Rest], &|cases| {
                checks(&kicks::<TwinKicksFull>(), cases)
            }),
            // A kick goes to the slot before.
            (Order, &[Fair, Hang], &|cases| checks(&kicks::<TwinKicksSlot>(), cases)),
            // Who has more kicks goes on.
            (Fair, &[Hang, Order, Room], &|cases| {
                checks(&kicks::<TwinKicksFair>(), cases)
            }),
            (Room, &[], &|cases| checks(&kicks::<TwinKicksRoom>(), cases)),
            (Latency, &[], &|cases| checks(&kicks::<TwinKicksLate>(), cases)),
            (Rest, &[Latency, Room], &|cases| {
                checks(&kicks::<TwinKicksRest>(), cases)
            }),
            (Path, &[], &|cases| checks(&kicks::<TwinKicksPath>(), cases)),
            (Protocol, &[Order, Fair, Hang, Room, Refused], &|cases| {
                checks(&kicks::<TwinKicksOver>(), cases)
            }),
            // A process with two kicks serves one.
            (Hang, &[Room, Refused], &|cases| {
                checks(&kicks::<TwinKicksStuck>(), cases)
            }),
        ],
    );
}
