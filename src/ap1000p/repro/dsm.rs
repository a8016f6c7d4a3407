//! Distributed shared memory: remote loads and stores, their completion, and copies in Write Through Pages.

use std::cell::{Cell as Count, RefCell};
use std::rc::Rc;

use super::lab::{HARDWARE, Lab, MeasureError, Sim, finish, flag, node, pattern};
use super::queues::look_up;
use crate::ap1000p::golden::window;
use crate::ap1000p::golden::wtp::{LOCAL_BITS, Remote, Update};
use crate::ap1000p::host::{DsmError, Shared};
use crate::ap1000p::regs::*;
use crate::harness::backend::EventKind;
use crate::harness::seed::Seed;
use crate::repro::row::{Origin, Spec};
use crate::repro::{Curve, Plot, Scale};
use crate::{Addr, NodeId, Picos};

fn shared(cell: usize, addr: u32) -> Shared {
    Shared {
        cell: node(cell),
        addr: Addr(addr),
    }
}

/// Eight bytes of a cell's initial memory.
fn double(cell: usize, addr: u32) -> u64 {
    u64::from(pattern(cell, addr)) | u64::from(pattern(cell, addr + 4)) << 32
}

/// Processor cycles of a load and of a store of a word; the cell is a neighbour.
fn cycles(lab: &Lab<'_>) -> Result<(f64, f64), MeasureError> {
    const TIMES: u32 = 8;
    let mut sim = lab.boot(2, 1)?;
    let took = Rc::new(Count::new((0.0, 0.0)));
    let (times, period) = (took.clone(), lab.config().period);
    sim.spawn_checked(node(0), async move |cell| {
        let cycles = |start: Picos| (cell.now() - start).0 as f64 / period.0 as f64;
        let (mut load, mut store) = (0.0, f64::INFINITY);
        for n in 0..TIMES {
            let start = cell.now();
            cell.load(shared(1, 4 * n), 4).await?;
            load = f64::max(load, cycles(start));
            cell.host().delay(Picos::from_ns(5000)).await;
            let start = cell.now();
            cell.store(shared(1, 4 * n), 4, 0).await?;
            store = f64::min(store, cycles(start));
            cell.host().delay(Picos::from_ns(5000)).await;
        }
        times.set((load, store));
        Ok::<_, DsmError>(())
    });
    finish(&mut sim)?;
    Ok(took.get())
}

pub fn c15(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut sim = lab.boot(2, 2)?;
    let bad = Rc::new(Count::new(0));
    let done = Rc::new(Count::new(0));
    for from in 0..4 {
        let (bad, done) = (bad.clone(), done.clone());
        sim.spawn_checked(node(from), async move |cell| {
            for (n, to) in (0..).zip([0, 1, 2, 3, 1, 0, 3, 2]) {
                // Words that no other cell stores to.
                let addr = 0x400 * from as u32 + 4 * n;
                let got = cell.load(shared(to, addr), 4).await?;
                cell.store(shared(to, addr), 4, !got).await?;
                let again = cell.load(shared(to, addr), 4).await?;
                let as_it_must = got == u64::from(pattern(to, addr)) && again == !got & 0xffff_ffff;
                bad.set(bad.get() + u32::from(!as_it_must));
                done.set(done.get() + 1);
            }
            Ok::<_, DsmError>(())
        });
    }
    finish(&mut sim)?;
    lab.none(
        "c15.data",
        "loaded words that differ from the stored ones",
        "words",
        bad.get(),
    );
    lab.done("c15.tried", "words stored and loaded again", "words", 32, done.get());
    let (load, store) = cycles(lab)?;
    let spec = |row: &str, what: &str| Spec::new(row, what, "cycles").depends(&HARDWARE);
    // The request and its reply have seven words, and each passes two routers.
    let least = 7.0 * f64::from(lab.config().link_cycles());
    lab.row(
        spec(
            "c15.load",
            "a load of a neighbour's word: the processor waits for the reply",
        )
        .by_formula(least, f64::INFINITY, "seven words on links")
        .says(),
        load,
    );
    lab.row(
        spec(
            "c15.store",
            "a store of a neighbour's word: the processor does not wait",
        )
        .within(0.0, 8.0)
        .says()
        .stops(
            lab.differs(&["store_cycles"]),
            "a store takes the processor's own cycles, whatever the other cell does",
        ),
        store,
    );
    Ok(())
}

pub fn c16(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const BASE: u32 = 0x1_0000;
    let mut sim = lab.boot(2, 1)?;
    let bad = Rc::new(Count::new(0));
    let done = Rc::new(Count::new(0));
    let (wrong, count) = (bad.clone(), done.clone());
    sim.spawn_checked(node(0), async move |cell| {
        for (block, bytes) in (0..).zip([1, 2, 4, 8_u8]) {
            for place in 0..8 / u32::from(bytes) {
                let addr = BASE + 0x80 * block + 8 * place + place * u32::from(bytes);
                let word = addr & !7;
                let (shift, mask) = (8 * (addr % 8), u64::MAX >> (64 - 8 * u32::from(bytes)));
                let before = double(1, word);
                let got = cell.load(shared(1, addr), bytes).await?;
                let value = 0x8765_4321_0fed_cba9_u64.rotate_left(8 * place) & mask;
                // The bytes above are not stored.
                cell.store(shared(1, addr), bytes, value | !mask).await?;
                let after = cell.load(shared(1, word), 8).await?;
                let want = before & !(mask << shift) | value << shift;
                wrong.set(wrong.get() + u32::from(got != before >> shift & mask || after != want));
                count.set(count.get() + 1);
            }
        }
        Ok::<_, DsmError>(())
    });
    finish(&mut sim)?;
    lab.none(
        "c16.bytes",
        "accesses of 1, 2, 4 and 8 bytes that touched wrong bytes",
        "accesses",
        bad.get(),
    );
    lab.done(
        "c16.tried",
        "positions within 8 bytes, of all sizes",
        "places",
        15,
        done.get(),
    );
    // Impossible loads: not at a multiple of the size, or beyond the cell's memory.
    let memory = lab.config().mem_bytes;
    let refused = Rc::new(Count::new((0, 0)));
    let count = refused.clone();
    sim.spawn_checked(node(0), async move |cell| {
        let askew = cell.load(shared(1, BASE + 2), 4).await;
        let beyond = cell.load(shared(1, memory), 4).await;
        let host = cell.host();
        let at = window::shared(cell.torus().cell(1), BASE);
        let odd = host.load(at + 4, 8).await.is_err();
        let kept = cell.load(shared(1, BASE), 8).await?;
        let errors = [askew.is_err(), beyond.is_err(), odd]
            .iter()
            .filter(|&&error| error)
            .count();
        count.set((errors as u32, u32::from(kept == double(1, BASE) & !0xff | 0xa9)));
        Ok::<_, DsmError>(())
    });
    super::lab::settle(&mut sim)?;
    let told = sim.take_faults().len() as u32;
    let (errors, kept) = refused.get();
    lab.bounds_by(Origin::Ours);
    lab.check(
        "c16.refused",
        "exceptions from three impossible loads",
        "loads",
        (3.0, 3.0),
        errors,
    );
    // The own cell reports the misaligned load; for the load beyond memory, the other cell reports message and word.
    // The shared space ends at 32 MB of each cell: the library makes no load beyond that.
    let all = if memory >> LOCAL_BITS == 0 { 3.0 } else { 1.0 };
    lab.check(
        "c16.told",
        "faults of these loads that the systems read: three where the cell has less than 32 MB, else one",
        "faults",
        (all, all),
        told,
    );
    lab.check("c16.after", "correct loads after them", "loads", (1.0, 1.0), kept);
    Ok(())
}

/// Where C17's bounds stop.
const LATE_MEMORY: &str = "the bound counts words on links: memory that answers later than a PUT passes its link holds the \
                           PUTs that are ahead";

pub fn c17(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const WORDS: u32 = 32;
    let mut waits = Vec::new();
    let mut left = Vec::new();
    let mut bad = 0;
    for queued in [0, 8, 32, 48] {
        let mut sim = lab.boot(2, 1)?;
        let (took, open) = (Rc::new(Count::new(0.0)), Rc::new(Count::new(0)));
        let (time, ahead, period) = (took.clone(), open.clone(), lab.config().period);
        let there = sim.cell(node(1));
        sim.spawn_checked(node(0), async |cell| look_up(&cell).await);
        finish(&mut sim)?;
        sim.spawn_checked(node(0), async move |cell| {
            // The processor stores as fast as it can, so that PUTs fill the queue.
            let command = [
                1 << COMMAND_HEAD_DX_SHIFT,
                WORDS,
                0x3_0000,
                0,
                flag(0).0,
                0,
                0x1_0000,
                0,
            ];
            for _ in 0..queued {
                for word in command {
                    cell.host().store(window::page(KIND_PUT), 4, word.into()).await?;
                }
            }
            let start = cell.now();
            let got = cell.host().load(window::shared(cell.torus().cell(1), 0x100), 4).await?;
            time.set(if got == u64::from(pattern(1, 0x100)) {
                (cell.now() - start).0 as f64 / period.0 as f64
            } else {
                f64::NAN
            });
            ahead.set(queued - there.word(flag(0)));
            Ok::<_, crate::harness::exec::RegError>(())
        });
        finish(&mut sim)?;
        bad += u32::from(sim.cell(node(1)).word(flag(0)) != queued);
        waits.push(took.get());
        left.push(open.get());
    }
    lab.none(
        "c17.done",
        "runs in which some PUT was not executed exactly once",
        "runs",
        bad,
    );
    let overtaken = Spec::new(
        "c17.overtaken",
        "of 48 PUTs stored before a load, executed after it",
        "PUTs",
    );
    lab.row(
        overtaken
            .within(32.0, f64::INFINITY)
            .says()
            .depends(&HARDWARE)
            .depends(&["store_cycles"])
            .stops(
                lab.differs(&["link_rate", "period", "store_cycles"]),
                "fewer than 32 wait where links take PUTs nearly as fast as the processor stores them",
            ),
        left[3].into(),
    );
    let spec = |row: &str, what: String| Spec::new(row, what, "cycles").depends(&HARDWARE);
    let beyond = lab.differs(&["mem_read_latency", "mem_write_latency"]);
    // Three PUTs are ahead in the cell: one goes out, one is being read, one was chosen. The load's own command also
    // passes the queue. Six words precede the data.
    let words = |words: u32| f64::from(words * lab.config().link_cycles());
    let (one, command) = (words(WORDS + 6), words(COMMAND_WORDS));
    for (n, queued) in [(1, 8), (2, 32), (3, 48)] {
        lab.row(
            spec(
                &format!("c17.behind_{queued}"),
                format!("extra wait of a load behind {queued} PUTs of {WORDS} words: at most three PUTs and a command"),
            )
            .by_formula(
                0.0,
                3.0 * one + command,
                "three PUTs of 38 words and a command of eight on a link",
            )
            .says()
            .stops(beyond, LATE_MEMORY),
            waits[n] - waits[0],
        );
    }
    lab.row(
        spec(
            "c17.depth",
            "extra wait behind 48 PUTs over 32: the depth of the queue does not matter".into(),
        )
        .by_formula(-one, one, "a PUT of 38 words on a link")
        .says()
        .stops(beyond, LATE_MEMORY),
        waits[3] - waits[2],
    );
    Ok(())
}

pub fn c18(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const STORES: u32 = 40;
    let mut sim = lab.boot(2, 2)?;
    // The counter after each store, when the last was not yet acknowledged and when all were.
    let seen = Rc::new(RefCell::new(Vec::new()));
    let early = Rc::new(Count::new(0));
    let stale = Rc::new(Count::new(0));
    let done = Rc::new(Count::new(0));
    let mut rng = Seed::get().stream("ap1000p C18");
    let plan: Vec<(usize, u32, u64)> = (0..STORES)
        .map(|n| (1 + rng.below(3) as usize, 0x1_0000 + 4 * n, 20 * rng.below(400)))
        .collect();
    let others: Vec<_> = (0..4).map(|number| sim.cell(node(number))).collect();
    let (counts, too_early, old, tried) = (seen.clone(), early.clone(), stale.clone(), done.clone());
    sim.spawn_checked(node(0), async move |cell| {
        let acks = async || {
            cell.host()
                .reg_read(window::register(ACKS))
                .await
                .map_or(0, |word| word & ACKS_COUNT_MASK)
        };
        // The stores come back to back, so no acknowledgement can have arrived.
        for n in 0..4 {
            cell.store(shared(3, 0x1_8000 + 4 * n), 4, n.into()).await?;
        }
        let after_four = acks().await;
        cell.fence().await;
        let after_fence = acks().await;
        counts.borrow_mut().extend([after_four, after_fence]);
        let missing = |done: &[(usize, u32, u64)]| {
            let there = |&&(to, addr, _): &&(usize, u32, u64)| others[to].word(Addr(addr)) != addr;
            done.iter().filter(there).count() as u32
        };
        for (n, &(to, addr, pause)) in plan.iter().enumerate() {
            cell.store(shared(to, addr), 4, addr.into()).await?;
            tried.set(tried.get() + 1);
            cell.host().delay(Picos::from_ns(pause)).await;
            if acks().await == 0 {
                too_early.set(too_early.get() + missing(&plan[..=n]));
            }
        }
        cell.fence().await;
        too_early.set(too_early.get() + missing(&plan));
        for (to, addr, _) in plan {
            let got = cell.load(shared(to, addr), 4).await?;
            old.set(old.get() + u32::from(got != u64::from(addr)));
        }
        Ok::<_, DsmError>(())
    });
    finish(&mut sim)?;
    let seen = seen.take();
    let exact = Spec::new(
        "c18.exact",
        "stores that the counter shows after 4 that cannot be acknowledged yet",
        "stores",
    );
    let exact = exact.stated(4.0, 4.0).depends(&HARDWARE).depends(&["store_cycles"]);
    let slow = "the processor stores so slowly that acknowledgements come between";
    lab.row(exact.stops(lab.differs(&["store_cycles"]), slow), seen[0].into());
    lab.none(
        "c18.fence",
        "stores that the counter shows after a fence",
        "stores",
        seen[1],
    );
    lab.none(
        "c18.early",
        "stores not performed when the counter was 0",
        "stores",
        early.get(),
    );
    lab.none(
        "c18.stale",
        "loads after a fence that returned the old word",
        "loads",
        stale.get(),
    );
    lab.done(
        "c18.tried",
        "stores at random times to three cells",
        "stores",
        STORES,
        done.get(),
    );
    Ok(())
}

/// M3: the processor's wait for a load, beside a budget of ours, because no source reports it.
pub fn m3(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut points = Vec::new();
    let bad = Rc::new(Count::new(0));
    for (columns, rows, to, hops) in [(2, 1, 1, 1), (4, 1, 2, 2), (4, 4, 10, 4)] {
        let mut sim = lab.boot(columns, rows)?;
        let took = Rc::new(Count::new([0.0; 2]));
        let (times, wrong) = (took.clone(), bad.clone());
        sim.spawn_checked(node(0), async move |cell| {
            let mut us = [0.0; 2];
            let (word, double) = (pattern(to, 0x100).into(), double(to, 0x100));
            for (us, (bytes, want)) in us.iter_mut().zip([(4, word), (8, double)]) {
                let start = cell.now();
                let got = cell.load(shared(to, 0x100), bytes).await?;
                wrong.set(wrong.get() + u32::from(got != want));
                *us = (cell.now() - start).as_us();
                cell.host().delay(Picos::from_ns(5000)).await;
            }
            times.set(us);
            Ok::<_, DsmError>(())
        });
        finish(&mut sim)?;
        points.push((hops, took.get()));
    }
    lab.none("m3.data", "loads that returned a wrong word", "loads", bad.get());
    let neighbour = points[0].1[0];
    lab.row(
        Spec::new("m3.load", "load of a neighbour's word", "us")
            .near(
                2.28,
                0.25,
                "114 cycles: 7 words on a link, 4 routers, memory, 10 to decode; within 25 %",
            )
            .depends(&HARDWARE),
        neighbour,
    );
    let curve = |name: &str, which: usize| Curve {
        name: name.into(),
        points: points
            .iter()
            .map(|(hops, took)| (f64::from(*hops), took[which]))
            .collect(),
    };
    lab.outcome.plots.push(Plot {
        id: "load",
        title: "Time of a remote load".into(),
        axes: ["links on the way", "us"],
        scales: [Scale::Linear, Scale::Linear],
        curves: vec![curve("a word", 0), curve("8 bytes", 1)],
        marks: Vec::new(),
    });
    let mut row = |name: String, what: String, us: f64| lab.row(Spec::new(name, what, "us").depends(&HARDWARE), us);
    for (hops, [word, double]) in points {
        row(
            format!("m3.{hops}_hops"),
            format!("load of a word, {hops} links away"),
            word,
        );
        row(
            format!("m3.{hops}_hops_8B"),
            format!("load of 8 bytes, {hops} links away"),
            double,
        );
    }
    Ok(())
}

/// Memory of its full size, with room for a local cache.
const BYTES: u32 = 8 << 20;
const CACHE: Addr = Addr(2 << 20);
/// Size of the Write Through Pages: twice the local cache.
const THROUGH: std::ops::Range<u32> = 0..4 << 20;

/// Requests and replies of 256 words or more that a cell has sent and received since the last call.
fn fetches(sim: &mut Sim, cell: usize) -> (u32, u32) {
    let events = sim.backend_mut().take_events();
    let own = events.iter().filter(|e| e.node == node(cell));
    let (mut sent, mut whole) = (0, 0);
    for event in own {
        match event.kind {
            EventKind::TxFirst { .. } => sent += 1,
            EventKind::RxLast { flits } if flits == 256 + 6 => whole += 1,
            _ => {}
        }
    }
    (sent, whole)
}

/// A machine with Write Through Pages in every cell.
fn boot_through(lab: &Lab<'_>, columns: u32, rows: u32) -> Result<Sim, MeasureError> {
    let mut sim = lab.boot_with(columns, rows, |config| config.mem_bytes = BYTES)?;
    for number in 0..sim.cells() {
        sim.spawn_checked(node(number), async |cell| cell.write_through(CACHE, THROUGH).await);
    }
    finish(&mut sim)?;
    Ok(sim)
}

/// The words that a cell loads from these addresses; a fault fails the run.
fn loads(sim: &mut Sim, from: usize, places: &[(usize, u32)]) -> Result<Vec<u64>, MeasureError> {
    let got = Rc::new(RefCell::new(Vec::new()));
    let (values, places) = (got.clone(), places.to_vec());
    sim.spawn_checked(node(from), async move |cell| {
        for (to, addr) in places {
            let value = cell.load(shared(to, addr), 4).await?;
            values.borrow_mut().push(value);
        }
        Ok::<_, DsmError>(())
    });
    finish(sim)?;
    Ok(got.take())
}

/// The rows of the fetches: `want` messages sent, and `want` kilobytes received.
fn fetch_rows(lab: &mut Lab<'_>, name: &str, what: &str, (sent, whole): (u32, u32), want: u32) {
    let want = f64::from(want);
    lab.check(
        &format!("c19.{name}_sent"),
        &format!("{what}: messages sent"),
        "messages",
        (want, want),
        sent,
    );
    lab.check(
        &format!("c19.{name}_came"),
        &format!("{what}: kilobytes received"),
        "kilobytes",
        (want, want),
        whole,
    );
}

/// The address of the copy in the local cache.
fn copy(addr: u32) -> Addr {
    Addr(CACHE.0 + addr % (2 << 20))
}

pub fn c19(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut sim = boot_through(lab, 2, 1)?;
    let bad = copies_by_loads(lab, &mut sim)?;
    stores_through(lab, &mut sim)?;
    all_places(lab, &mut sim)?;
    lab.none("c19.data", "runs with a load that returned a wrong word", "runs", bad);
    no_copy_is_stale(lab)
}

/// Loads copy kilobytes: a miss, hits, the page's other kilobytes, a rival at the same place. Returns the number of
/// wrong loads.
fn copies_by_loads(lab: &mut Lab<'_>, sim: &mut Sim) -> Result<u32, MeasureError> {
    let mut bad = 0;
    let word = |addr: u32| u64::from(pattern(1, addr));
    fetches(sim, 0);
    // A miss, hits in the same kilobyte, then the page's other kilobytes.
    bad += u32::from(loads(sim, 0, &[(1, 0x1_0404)])? != [word(0x1_0404)]);
    let seen = fetches(sim, 0);
    fetch_rows(lab, "miss", "a missing load", seen, 1);
    let places: Vec<(usize, u32)> = (0..256).map(|n| (1, 0x1_0400 + 4 * n)).collect();
    bad += u32::from(loads(sim, 0, &places)? != (0..256).map(|n| word(0x1_0400 + 4 * n)).collect::<Vec<_>>());
    let seen = fetches(sim, 0);
    fetch_rows(lab, "hit", "loads of the whole kilobyte", seen, 0);
    let lines = [0x1_0000, 0x1_07fc, 0x1_0800, 0x1_0c00];
    bad += u32::from(loads(sim, 0, &lines.map(|addr| (1, addr)))? != lines.map(word));
    let seen = fetches(sim, 0);
    fetch_rows(lab, "lines", "loads of the page's other three kilobytes", seen, 3);
    // Another page at the same place, and the first again. The place of a page's copy is our choice.
    let rival = 0x1_0000 + (2 << 20);
    sim.cell(node(1)).set_word(Addr(rival), 0x1234);
    let got = loads(sim, 0, &[(1, rival), (1, 0x1_0000), (0, 0x1_0000)])?;
    bad += u32::from(got != [0x1234, word(0x1_0000), u64::from(pattern(0, 0x1_0000))]);
    let events = fetches(sim, 0);
    // The third is the own cell's page: its GET stays in the cell.
    lab.bounds_by(Origin::Ours);
    fetch_rows(
        lab,
        "rival",
        "a page 2 MB further, the first page again, the own cell's page",
        events,
        2,
    );
    lab.bounds_by(Origin::Paper);
    Ok(bad)
}

/// Stores to addresses with and without a copy.
fn stores_through(lab: &mut Lab<'_>, sim: &mut Sim) -> Result<(), MeasureError> {
    sim.spawn_checked(node(0), async |cell| {
        cell.store(shared(0, 0x1_0000), 4, 0xabcd).await?;
        cell.store(shared(1, 0x2_0000), 1, 0x5a).await?;
        cell.load(shared(1, 0x3_0000), 4).await?;
        cell.store(shared(1, 0x3_0002), 2, 0xbeef).await?;
        cell.store(shared(1, 0x3_0008), 8, 0x1122_3344_5566_7788).await?;
        cell.fence().await;
        Ok::<_, DsmError>(())
    });
    finish(sim)?;
    let (here, there) = (sim.cell(node(0)), sim.cell(node(1)));
    let half = pattern(1, 0x3_0000) & 0xffff | 0xbeef_0000;
    let hits = [
        (here.word(Addr(0x1_0000)), 0xabcd),
        (here.word(copy(0x1_0000)), 0xabcd),
        (there.word(Addr(0x3_0000)), half),
        (here.word(copy(0x3_0000)), half),
        (there.word(Addr(0x3_0008)), 0x5566_7788),
        (there.word(Addr(0x3_000c)), 0x1122_3344),
        (here.word(copy(0x3_0008)), 0x5566_7788),
        (here.word(copy(0x3_000c)), 0x1122_3344),
    ];
    let wrong = |words: &[(u32, u32)]| words.iter().filter(|(got, want)| got != want).count() as u32;
    lab.none(
        "c19.store_hit",
        "of 8 words stored to an address with a copy, wrong there or in the copy",
        "words",
        wrong(&hits),
    );
    let misses = [
        (there.word(Addr(0x2_0000)), pattern(1, 0x2_0000) & !0xff | 0x5a),
        (here.word(copy(0x2_0000)), 0),
    ];
    lab.none(
        "c19.store_miss",
        "a store to an address without a copy: wrong there, or made a copy",
        "words",
        wrong(&misses),
    );
    Ok(())
}

/// Every place of the local cache, each with a page. Software makes all copies at once.
fn all_places(lab: &mut Lab<'_>, sim: &mut Sim) -> Result<(), MeasureError> {
    const PLACES: u32 = 512;
    let places: Vec<(usize, u32)> = (0..PLACES)
        .map(|n| (1, 4096 * n + 1024 * (n % 4) + 4 * (n % 256)))
        .collect();
    let copies: Vec<u32> = (0..PLACES).map(|n| n.wrapping_mul(0x9e37_79b1)).collect();
    for (&(_, addr), &value) in places.iter().zip(&copies) {
        sim.cell(node(0)).set_word(copy(addr), value);
    }
    let set = places.clone();
    sim.spawn_checked(node(0), async move |cell| {
        for (to, addr) in set {
            let cell_name = window::name(cell.torus().cell(to));
            let remote = Remote { cell: cell_name, addr };
            cell.host()
                .reg_write(window::register(WTP_UPDATE), Update::Set.word(remote))
                .await?;
        }
        Ok::<_, crate::harness::exec::RegError>(())
    });
    finish(sim)?;
    fetches(sim, 0);
    let got = loads(sim, 0, &places)?;
    let missing = got
        .iter()
        .zip(&copies)
        .filter(|(got, want)| **got != u64::from(**want))
        .count();
    lab.none(
        "c19.places",
        "of 512 pages at 512 places, missing in the local cache",
        "pages",
        missing as u32,
    );
    let seen = fetches(sim, 0);
    fetch_rows(lab, "places", "loads from all 512 pages", seen, 0);
    Ok(())
}

/// All cells keep copies of a kilobyte of each. One after the other changes its own, and all load after its
/// synchronising write.
fn no_copy_is_stale(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const ROUNDS: u32 = 6;
    let mut sim = boot_through(lab, 2, 2)?;
    let cells = sim.cells();
    let stale = Rc::new(Count::new(0));
    let loaded = Rc::new(Count::new(0));
    let holders: Vec<NodeId> = (0..cells).map(node).collect();
    for number in 0..cells {
        let (stale, loaded, holders) = (stale.clone(), loaded.clone(), holders.clone());
        sim.spawn(node(number), async move |cell| {
            let mut rng = Seed::get().stream(&format!("ap1000p C19 cell {number}"));
            for round in 1..=ROUNDS {
                let (writer, home) = (round as usize % cells, (round as usize / 2) % cells);
                let place = shared(home, 0x2_0000 + 4 * (round % 3));
                // Every cell has a copy, or will soon.
                let before = cell.load(place, 4).await;
                cell.host().delay(Picos::from_ns(20 * rng.below(2000))).await;
                let mut failed = before.is_err();
                if number == writer {
                    failed |= cell.store(place, 4, round.into()).await.is_err();
                    failed |= cell.sync_write(&[place], &holders).await.is_err();
                }
                failed |= cell.barrier_by_flags().await.is_err();
                let after = cell.load(place, 4).await;
                stale.set(stale.get() + u32::from(failed || after != Ok(round.into())));
                loaded.set(loaded.get() + 1);
                failed = cell.barrier_by_flags().await.is_err();
                stale.set(stale.get() + u32::from(failed));
            }
        });
    }
    finish(&mut sim)?;
    lab.none(
        "c19.stale",
        "loads after a synchronising write that returned an old copy",
        "loads",
        stale.get(),
    );
    let all = ROUNDS * cells as u32;
    lab.done(
        "c19.loads",
        "loads after a synchronising write, all cells",
        "loads",
        all,
        loaded.get(),
    );
    Ok(())
}

/// M4: time of a load by the number of loads of a kilobyte before it is written again, with and without a Write Through
/// Page.
/// Time of each load by the number of loads of a kilobyte, and the number of wrong loads.
fn time_of_loads(sim: &mut Sim, name: &str) -> Result<(Curve, u32), MeasureError> {
    const COUNTS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
    let (mut points, mut bad) = (Vec::new(), 0);
    for (n, count) in (0..).zip(COUNTS) {
        let base = 0x1_0000 + 0x400 * n;
        let took = Rc::new(Count::new((Picos::ZERO, 0)));
        let time = took.clone();
        sim.spawn_checked(node(0), async move |cell| {
            let (start, mut wrong) = (cell.now(), 0);
            for at in 0..count {
                let addr = base + 4 * at;
                let got = cell.load(shared(1, addr), 4).await?;
                wrong += u32::from(got != u64::from(pattern(1, addr)));
            }
            time.set((cell.now() - start, wrong));
            Ok::<_, DsmError>(())
        });
        finish(sim)?;
        let (time, wrong) = took.get();
        bad += wrong;
        points.push((f64::from(count), time.as_us() / f64::from(count)));
    }
    let name = name.into();
    Ok((Curve { name, points }, bad))
}

pub fn m4(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut depends = HARDWARE.to_vec();
    depends.extend(["store_cycles", "trap", "call", "flag_test"]);
    let mut sim = lab.boot_with(2, 1, |config| config.mem_bytes = BYTES)?;
    let (remote, bad_remote) = time_of_loads(&mut sim, "remote loads")?;
    let mut sim = boot_through(lab, 2, 1)?;
    let (through, bad_through) = time_of_loads(&mut sim, "Write Through Page")?;
    // The total time of all loads is a line over their number, through the first and the last point.
    let line = |curve: &Curve| {
        let (one, all) = (curve.at(1.0), 256.0 * curve.at(256.0));
        let slope = (all - one) / 255.0;
        (one - slope, slope)
    };
    let ((at_remote, per_remote), (at_through, per_through)) = (line(&remote), line(&through));
    let even = (at_through - at_remote) / (per_remote - per_through);
    let spec = |name: &str, what: &str, unit| Spec::new(format!("m4.{name}"), what, unit).depends(&depends);
    lab.none(
        "m4.data",
        "loads that returned a wrong word",
        "loads",
        bad_remote + bad_through,
    );
    lab.row(
        spec(
            "gain",
            "256 loads of a kilobyte: speed-up of a Write Through Page over remote loads",
            "",
        )
        .within(1.0, f64::INFINITY)
        .says(),
        remote.at(256.0) / through.at(256.0),
    );
    lab.row(
        spec("once", "a single load: cost of the copy over a remote load", "").within(1.0, f64::INFINITY),
        through.at(1.0) / remote.at(1.0),
    );
    lab.row(
        spec(
            "even",
            "break-even number of loads of a kilobyte between writes",
            "loads",
        )
        .beside(
            21.0,
            "47 us of a copy / 2.28 us of a load, rounded up, without trap, library and hits",
        ),
        even,
    );
    lab.row(
        spec(
            "miss",
            "a load that fetches the copy: trap, GET of 256 words, tags",
            "us",
        ),
        through.at(1.0),
    );
    lab.row(spec("hit", "a load of the copy", "us"), per_through);
    let curves = vec![remote, through];
    for curve in &curves {
        for &(count, us) in &curve.points {
            let name = curve.name.to_lowercase().replace(' ', "_");
            lab.row(
                spec(
                    &format!("{name}.{count}"),
                    &format!("{}, {count} loads: time of each", curve.name),
                    "us",
                ),
                us,
            );
        }
    }
    lab.outcome.plots.push(Plot {
        id: "wtp",
        title: "Time of a load by number of loads of a kilobyte between writes".into(),
        axes: ["loads of the kilobyte", "us per load"],
        scales: [Scale::Log(2), Scale::Log(10)],
        curves,
        marks: Vec::new(),
    });
    Ok(())
}
