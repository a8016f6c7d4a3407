//! Distributed shared memory: remote loads and stores, when they are done, and copies in Write Through Pages.

use std::cell::{Cell as Count, RefCell};
use std::rc::Rc;

use super::lab::{HARDWARE, Lab, MeasureError, Sim, finish, flag, node, pattern};
use super::queues::look_up;
use crate::ap1000p::golden::window;
use crate::ap1000p::golden::wtp::{Remote, Update};
use crate::ap1000p::host::{DsmError, Shared};
use crate::ap1000p::regs::*;
use crate::harness::backend::EventKind;
use crate::harness::seed::Seed;
use crate::repro::row::{Origin, Spec};
use crate::repro::{Curve, Plot};
use crate::{Addr, NodeId, Picos};

fn shared(cell: usize, addr: u32) -> Shared {
    Shared {
        cell: node(cell),
        addr: Addr(addr),
    }
}

/// Eight bytes of a cell's memory as they were at first.
fn double(cell: usize, addr: u32) -> u64 {
    u64::from(pattern(cell, addr)) | u64::from(pattern(cell, addr + 4)) << 32
}

/// Cycles a load, and a store, of a word takes the processor; the cell is a neighbour.
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
    lab.none("c15.data", "words loaded that are not those stored", "words", bad.get());
    lab.done("c15.tried", "words loaded, stored and loaded", "words", 32, done.get());
    let (load, store) = cycles(lab)?;
    let spec = |row: &str, what: &str| Spec::new(row, what, "cycles").depends(&HARDWARE);
    // The message and its answer are seven words, and pass two routers each.
    let least = 7.0 * f64::from(lab.config().link_cycles());
    lab.row(
        spec(
            "c15.load",
            "a load of a neighbour's word: the processor waits for the answer",
        )
        .by_formula(least, f64::INFINITY, "seven words on links")
        .says(),
        load,
    );
    lab.row(
        spec("c15.store", "a store there: the processor goes on")
            .within(0.0, 8.0)
            .says(),
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
                // What is above is not stored.
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
        "accesses of 1, 2, 4 and 8 bytes that touched others, or not theirs",
        "accesses",
        bad.get(),
    );
    lab.done(
        "c16.tried",
        "places within 8 bytes, of all sizes",
        "places",
        15,
        done.get(),
    );
    // What no load can be: at no multiple of its size, beyond the cell's memory.
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
        "of three loads that cannot be, exceptions",
        "loads",
        (3.0, 3.0),
        errors,
    );
    // The one at no multiple to the own; of the one beyond memory, message and word to the other.
    lab.check(
        "c16.told",
        "what the systems were told of them",
        "faults",
        (3.0, 3.0),
        told,
    );
    lab.check("c16.after", "loads as ever after them", "loads", (1.0, 1.0), kept);
    Ok(())
}

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
            // Stored as fast as the processor can, so that the queue is full of them.
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
    lab.none("c17.done", "runs in which not every PUT was done once", "runs", bad);
    let overtaken = Spec::new(
        "c17.overtaken",
        "PUTs of 48 stored before a load and done after it",
        "PUTs",
    );
    lab.row(
        overtaken.within(32.0, f64::INFINITY).says().depends(&HARDWARE),
        left[3].into(),
    );
    let spec = |row: &str, what: String| Spec::new(row, what, "cycles").depends(&HARDWARE);
    // In the cell one goes out, one is being read, one was chosen; and the load's own command passes the queue. Six words before the data.
    let words = |words: u32| f64::from(words * lab.config().link_cycles());
    let (one, command) = (words(WORDS + 6), words(COMMAND_WORDS));
    for (n, queued) in [(1, 8), (2, 32), (3, 48)] {
        lab.row(
            spec(
                &format!("c17.behind_{queued}"),
                format!("what a load waits longer behind {queued} PUTs of {WORDS} words: three and a command at most"),
            )
            .by_formula(
                0.0,
                3.0 * one + command,
                "three PUTs of 38 words and a command of eight on a link",
            )
            .says(),
            waits[n] - waits[0],
        );
    }
    lab.row(
        spec(
            "c17.depth",
            "what it waits longer behind 48 than behind 32: the queue's depth does not count".into(),
        )
        .by_formula(-one, one, "a PUT of 38 words on a link")
        .says(),
        waits[3] - waits[2],
    );
    Ok(())
}

pub fn c18(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const STORES: u32 = 40;
    let mut sim = lab.boot(2, 2)?;
    // The count after each store, when the last was not yet acknowledged and when all were.
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
        // Back to back, no answer can have come.
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
    lab.check(
        "c18.exact",
        "counted after 4 stores of which none can be acknowledged",
        "stores",
        (4.0, 4.0),
        seen[0],
    );
    lab.none("c18.fence", "counted after a fence", "stores", seen[1]);
    lab.none(
        "c18.early",
        "stores that were not performed when the counter was 0",
        "stores",
        early.get(),
    );
    lab.none(
        "c18.stale",
        "loads after a fence that found the old word",
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

/// M3: what the processor waits for a load, beside a budget of ours: nobody reports it.
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
    lab.none("m3.data", "loads that did not give what is there", "loads", bad.get());
    let neighbour = points[0].1[0];
    lab.row(
        Spec::new("m3.load", "load of a neighbour's word", "us")
            .near(
                2.28,
                0.25,
                "114 cycles: 7 words on a link, 4 routers, memory, 10 to decode; 25 % round it",
            )
            .depends(&HARDWARE),
        neighbour,
    );
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

/// Memory with room for a local cache, at its own size.
const BYTES: u32 = 8 << 20;
const CACHE: Addr = Addr(2 << 20);
/// The bytes of Write Through Pages: as many as the local cache has, and as many again.
const THROUGH: std::ops::Range<u32> = 0..4 << 20;

/// Requests and answers of 256 words and more that a cell sent and got since last asked.
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

/// A machine whose cells have Write Through Pages.
fn boot_through(lab: &Lab<'_>, columns: u32, rows: u32) -> Result<Sim, MeasureError> {
    let mut sim = lab.boot_with(columns, rows, |config| config.mem_bytes = BYTES)?;
    for number in 0..sim.cells() {
        sim.spawn_checked(node(number), async |cell| cell.write_through(CACHE, THROUGH).await);
    }
    finish(&mut sim)?;
    Ok(sim)
}

/// What a cell loads from these places; nothing may go wrong.
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

pub fn c19(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut sim = boot_through(lab, 2, 1)?;
    let mut bad = 0;
    let word = |addr: u32| u64::from(pattern(1, addr));
    let row = |lab: &mut Lab<'_>, name: &str, what: &str, (sent, whole): (u32, u32), want: u32| {
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
            &format!("{what}: kilobytes that came"),
            "kilobytes",
            (want, want),
            whole,
        );
    };
    fetches(&mut sim, 0);
    // A miss, then hits of the same kilobyte, then the page's other ones.
    bad += u32::from(loads(&mut sim, 0, &[(1, 0x1_0404)])? != [word(0x1_0404)]);
    let seen = fetches(&mut sim, 0);
    row(lab, "miss", "a load that misses", seen, 1);
    let places: Vec<(usize, u32)> = (0..256).map(|n| (1, 0x1_0400 + 4 * n)).collect();
    bad += u32::from(loads(&mut sim, 0, &places)? != (0..256).map(|n| word(0x1_0400 + 4 * n)).collect::<Vec<_>>());
    let seen = fetches(&mut sim, 0);
    row(lab, "hit", "loads of all of that kilobyte", seen, 0);
    let lines = [0x1_0000, 0x1_07fc, 0x1_0800, 0x1_0c00];
    bad += u32::from(loads(&mut sim, 0, &lines.map(|addr| (1, addr)))? != lines.map(word));
    let seen = fetches(&mut sim, 0);
    row(lab, "lines", "loads of the page's three others", seen, 3);
    // Another page at the same place, and the first again. Where a page's copy may lie is our choice.
    let rival = 0x1_0000 + (2 << 20);
    sim.cell(node(1)).set_word(Addr(rival), 0x1234);
    let got = loads(&mut sim, 0, &[(1, rival), (1, 0x1_0000), (0, 0x1_0000)])?;
    bad += u32::from(got != [0x1234, word(0x1_0000), u64::from(pattern(0, 0x1_0000))]);
    let events = fetches(&mut sim, 0);
    // The third is the own cell's: its GET does not leave it.
    lab.bounds_by(Origin::Ours);
    row(
        lab,
        "rival",
        "a page 2 MB further, the first again, that page of the own cell",
        events,
        2,
    );
    lab.bounds_by(Origin::Paper);

    // Stores: to a copy, and where there is none.
    sim.spawn_checked(node(0), async |cell| {
        cell.store(shared(0, 0x1_0000), 4, 0xabcd).await?;
        cell.store(shared(1, 0x2_0000), 1, 0x5a).await?;
        cell.load(shared(1, 0x3_0000), 4).await?;
        cell.store(shared(1, 0x3_0002), 2, 0xbeef).await?;
        cell.store(shared(1, 0x3_0008), 8, 0x1122_3344_5566_7788).await?;
        cell.fence().await;
        Ok::<_, DsmError>(())
    });
    finish(&mut sim)?;
    let copy = |addr: u32| Addr(CACHE.0 + addr % (2 << 20));
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
        "of 8 words stored to where there is a copy, wrong there or in the copy",
        "words",
        wrong(&hits),
    );
    let misses = [
        (there.word(Addr(0x2_0000)), pattern(1, 0x2_0000) & !0xff | 0x5a),
        (here.word(copy(0x2_0000)), 0),
    ];
    lab.none(
        "c19.store_miss",
        "a store where there is none: wrong there, or a copy made",
        "words",
        wrong(&misses),
    );

    // All places of the local cache, each with a page; the copies are made by software at once.
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
    finish(&mut sim)?;
    fetches(&mut sim, 0);
    let got = loads(&mut sim, 0, &places)?;
    let missing = got
        .iter()
        .zip(&copies)
        .filter(|(got, want)| **got != u64::from(**want))
        .count();
    lab.none(
        "c19.places",
        "of 512 pages at 512 places, not found in the local cache",
        "pages",
        missing as u32,
    );
    let seen = fetches(&mut sim, 0);
    row(lab, "places", "loads of all of them", seen, 0);
    lab.none("c19.data", "loads that did not give what is there", "runs", bad);
    no_copy_is_stale(lab)
}

/// All cells keep copies of a kilobyte of each; in turn one changes it, and all load after its synchronising write.
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
                // All have a copy, or are about to.
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
        "loads after a synchronising write that found an old copy",
        "loads",
        stale.get(),
    );
    let all = ROUNDS * cells as u32;
    lab.done("c19.loads", "loads after it, of all cells", "loads", all, loaded.get());
    Ok(())
}

/// M4: the time of a load by how often a kilobyte is read before it is written again, with a Write Through Page and without.
pub fn m4(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const COUNTS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
    let mut depends = HARDWARE.to_vec();
    depends.extend(["store_cycles", "trap", "call", "flag_test"]);
    let mut curves = Vec::new();
    let mut bad = 0;
    for through in [false, true] {
        let mut sim = if through {
            boot_through(lab, 2, 1)?
        } else {
            lab.boot_with(2, 1, |config| config.mem_bytes = BYTES)?
        };
        let mut points = Vec::new();
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
            finish(&mut sim)?;
            let (time, wrong) = took.get();
            bad += wrong;
            points.push((f64::from(count), time.as_us() / f64::from(count)));
        }
        let name = if through { "Write Through Page" } else { "remote loads" };
        curves.push(Curve {
            name: name.into(),
            points,
        });
    }
    let (remote, through) = (&curves[0], &curves[1]);
    // Both times of all loads are lines over their number, through the first and the last point.
    let line = |curve: &Curve| {
        let (one, all) = (curve.at(1.0), 256.0 * curve.at(256.0));
        let slope = (all - one) / 255.0;
        (one - slope, slope)
    };
    let ((at_remote, per_remote), (at_through, per_through)) = (line(remote), line(through));
    let even = (at_through - at_remote) / (per_remote - per_through);
    let spec = |name: &str, what: &str, unit| Spec::new(format!("m4.{name}"), what, unit).depends(&depends);
    lab.none("m4.data", "loads that did not give what is there", "loads", bad);
    lab.row(
        spec(
            "gain",
            "256 loads of a kilobyte: remote loads take so many times as long as with a Write Through Page",
            "",
        )
        .within(1.0, f64::INFINITY)
        .says(),
        remote.at(256.0) / through.at(256.0),
    );
    lab.row(
        spec("once", "a single load: the copy costs so many times a remote load", "").within(1.0, f64::INFINITY),
        through.at(1.0) / remote.at(1.0),
    );
    lab.row(
        spec(
            "even",
            "loads of a kilobyte before it is written from which the copy pays",
            "loads",
        )
        .beside(
            21.0,
            "47 us of a copy over 2.28 us of a load, rounded up, without trap, library and the time of hits",
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
    for curve in &curves {
        for &(count, us) in &curve.points {
            let name = curve.name.to_lowercase().replace(' ', "_");
            lab.row(
                spec(
                    &format!("{name}.{count}"),
                    &format!("{}, {count} loads: each", curve.name),
                    "us",
                ),
                us,
            );
        }
    }
    lab.outcome.plots.push(Plot {
        id: "wtp",
        title: "Time of a load by loads of a kilobyte before it is written again".into(),
        axes: ["loads of the kilobyte", "us per load"],
        curves,
        marks: Vec::new(),
    });
    Ok(())
}
