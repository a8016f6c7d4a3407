//! Overflow of the queues: it stops nobody and keeps the order; its cost is measured.

use std::cell::{Cell as Count, RefCell};
use std::rc::Rc;

use super::lab::{HARDWARE, Lab, MeasureError, Sim, finish, flag, node, settle};
use super::messages::follow;
use crate::ap1000p::golden::queues::{Element, Region};
use crate::ap1000p::golden::{Queue, Word, window};
use crate::ap1000p::host::layout::{DEMAND, PROCESS};
use crate::ap1000p::host::{Cell, CommandError, Fault, FaultKind, Transfer};
use crate::ap1000p::params::Config;
use crate::ap1000p::regs::*;
use crate::harness::exec::RegError;
use crate::repro::row::{Origin, Spec};
use crate::repro::{Curve, OVER_SIZES, Plot};
use crate::{Addr, NodeId, Picos};

/// Addresses of the sent numbers, and of the word that receives them.
const NUMBERS: u32 = 0x1000;
const SLOT: Addr = Addr(0x3_0000);
/// A page that is unmapped at first: a transfer that reads it waits until the system has served an interrupt.
const ABSENT: u32 = DEMAND + 0x2_0000;
/// The word that a held transfer writes.
const ASIDE: u32 = 0x3_0100;

/// Numbers from 1 up, to be sent in sequence.
fn number(cell: &Cell, count: u32) {
    cell.set_words(Addr(NUMBERS), &(1..=count).collect::<Vec<_>>());
    cell.set_word(SLOT, 0);
}

/// The command of a PUT of the word at `source` to `dest` in the next cell along X, or of a GET from there.
fn command(source: u32, dest: u32, flag: Addr) -> window::Command {
    [1 << COMMAND_HEAD_DX_SHIFT, 1, dest, 0, flag.0, 0, source, 0]
}

/// Stores a command as fast as possible; returns the number of stores that had to wait.
async fn store(cell: &Cell, page: u32, words: window::Command) -> Result<u32, RegError> {
    let config = cell.config();
    let most = config.period * u64::from(2 * config.store_cycles);
    let mut waited = 0;
    for word in words {
        let start = cell.now();
        cell.store_to_page(page, word).await?;
        waited += u32::from(cell.now() - start > most);
    }
    Ok(waited)
}

/// Has the pages translated before the clock runs.
pub(super) async fn look_up(cell: &Cell) -> Result<(), CommandError> {
    let transfer = Transfer {
        words: 1,
        source: Addr(NUMBERS),
        dest: Addr(ASIDE),
        dest_flag: Some(flag(2)),
        ..Transfer::default()
    };
    cell.ack_put(node(1), &transfer).await
}

/// The elements in a cell's region, and whether each stands in its place.
async fn elements(cell: &Cell) -> Result<Vec<Option<Element>>, RegError> {
    let host = cell.host();
    let region = region(host.reg_read(window::register(SPILL_REGION)).await?);
    let (held, next) = (
        host.reg_read(window::register(HELD)).await?,
        host.reg_read(window::register(POSITION)).await?,
    );
    let element = |back: u32| {
        let place = (next + region.elements() - back) % region.elements();
        let words = cell.words(Addr(region.addr() + SPILL_BYTES * place), 2);
        Element::decode(words[0], words[1]).filter(|element| u32::from(element.position) == place)
    };
    Ok((1..=held).rev().map(element).collect())
}

fn region(word: u32) -> Region {
    Region {
        base: (word & SPILL_REGION_BASE_MASK) as u8,
        limit: ((word & SPILL_REGION_LIMIT_MASK) >> SPILL_REGION_LIMIT_SHIFT) as u8,
    }
}

/// The elements that are not the last ones of these words of a queue.
fn misformed(elements: &[Option<Element>], queue: Queue, words: &[u32]) -> u32 {
    let last = words.len().saturating_sub(elements.len());
    let expected = words[last..].iter().zip(last..).map(|(&data, place)| {
        let index = place as u32 % COMMAND_WORDS;
        let end = index + 1 == COMMAND_WORDS;
        (queue, index as u8, Word { data, end })
    });
    let of = |element: &Element| (element.queue, element.label.index, element.word);
    let pairs = elements.iter().zip(expected);
    let wrong = pairs.filter(|(element, expected)| element.as_ref().map(of) != Some(*expected));
    wrong.count() as u32
}

/// Follows the numbers that arrive at a cell: the last one, the count, and the count out of order.
fn watch(sim: &Sim, at: NodeId) -> Rc<RefCell<(u32, u32, u32)>> {
    let seen = Rc::new(RefCell::new((0, 0, 0)));
    let (looks, host) = (follow(&seen, SLOT), sim.cell(at).host().clone());
    host.clone().spawn_daemon(
        "a check of each number",
        async move { host.watch("no end", looks).await },
    );
    seen
}

/// Counts that the checks compare.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    waited: u32,
    held: u32,
    misformed: u32,
    early: u32,
    full: u32,
}

pub fn c23(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    for (hardware, name) in [(true, "hardware"), (false, "software")] {
        puts(lab, hardware, name)?;
        replies(lab, hardware, name)?;
    }
    Ok(())
}

/// PUTs that nobody takes, and more up to the red zone.
fn puts(lab: &mut Lab<'_>, hardware: bool, name: &str) -> Result<(), MeasureError> {
    const PUTS: u32 = 1000;
    const MORE: u32 = 66;
    /// In units of 8 KB: the user has half of them, and the last of these is the red zone.
    const LIMIT: u32 = 18;
    let mut sim = lab.boot_with(2, 1, |config| config.hardware_refill = hardware)?;
    number(&sim.cell(node(0)), PUTS + MORE);
    number(&sim.cell(node(1)), 0);
    let seen = watch(&sim, node(1));
    let found = Rc::new(Count::new(Found::default()));
    let told = found.clone();
    sim.spawn_checked(node(0), async move |cell| {
        let host = cell.host();
        let enabled = host.reg_read(window::register(ENABLE)).await?;
        host.reg_write(window::register(ENABLE), 0).await?;
        let region = host.reg_read(window::register(SPILL_REGION)).await? & SPILL_REGION_BASE_MASK;
        host.reg_write(
            window::register(SPILL_REGION),
            region | LIMIT << SPILL_REGION_LIMIT_SHIFT,
        )
        .await?;
        let mut found = Found {
            waited: store(&cell, KIND_PUT, command(ABSENT, ASIDE, flag(0))).await?,
            ..Found::default()
        };
        let mut words = Vec::new();
        for number in 0..PUTS + MORE {
            if number == PUTS {
                host.delay(Picos::from_ns(10_000)).await;
                found.early = host.reg_read(window::register(CAUSE)).await? & CAUSE_FULL_MASK;
                let elements = elements(&cell).await?;
                found.held = elements.len() as u32;
                found.misformed = misformed(&elements, Queue::User, &words);
            }
            // As often as in a program that does nothing else.
            host.delay(cell.config().call).await;
            let command = command(NUMBERS + 4 * number, SLOT.0, flag(0));
            found.waited += store(&cell, KIND_PUT, command).await?;
            words.extend(command);
            // The form in the queue: with the context.
            let length = words.len() - 7;
            words[length] |= u32::from(PROCESS) << COMMAND_LENGTH_CONTEXT_SHIFT;
        }
        host.delay(Picos::from_ns(10_000)).await;
        found.full = host.reg_read(window::register(STATUS)).await? & STATUS_FULL_MASK;
        told.set(found);
        host.reg_write(window::register(ENABLE), enabled).await
    });
    settle(&mut sim)?;
    let Found {
        waited,
        held,
        misformed,
        early,
        full,
    } = found.get();
    let (_, came, late) = *seen.borrow();
    let row = |what: &str| format!("c23.{name}_{what}");
    waits(lab, name, waited);
    lab.none(&row("order"), "PUTs out of order", "PUTs", late);
    let all = f64::from(PUTS + MORE);
    lab.check(&row("came"), "PUTs that arrived", "PUTs", (all, all), came);
    let counted = sim.cell(node(1)).word(flag(0));
    lab.check(&row("counted"), "PUTs counted", "PUTs", (all + 1.0, all + 1.0), counted);
    lab.tried(
        &row("spilled"),
        "words of the first 1000 PUTs spilled",
        "words",
        7900,
        held,
    );
    // The form of an element, and the red zone.
    lab.bounds_by(Origin::Public);
    lab.none(&row("elements"), "malformed elements", "elements", misformed);
    lab.none(&row("early"), "early reports of the red zone", "times", early);
    let is_full = |fault: &&Fault| fault.kind == FaultKind::Other { cause: CAUSE_FULL_MASK };
    let faults = sim.take_faults();
    let interrupts = faults.iter().filter(is_full).count();
    lab.check(
        &row("full"),
        "interrupts of the red zone",
        "interrupts",
        (1.0, 1.0),
        if full == 0 { 0 } else { interrupts as u32 },
    );
    let others = (faults.len() - interrupts) as u32;
    lab.none(&row("faults"), "other faults", "faults", others);
    lab.bounds_by(Origin::Paper);
    Ok(())
}

/// The stores of those PUTs for which the processor waits, and the pause between them that the row needs.
fn waits(lab: &mut Lab<'_>, name: &str, waited: u32) {
    let what = format!(
        "{name} refill: stores for which the processor waits, of 1066 PUTs that nobody takes, each after its call"
    );
    let none = Spec::new(format!("c23.{name}_waited"), what, "stores").stated(0.0, 0.0);
    let none = none.depends(&HARDWARE).depends(&["call", "store_cycles"]);
    let pauses = lab.config().call >= Config::paper().call;
    lab.row(
        none.stops(
            !pauses,
            "stores of PUTs back to back wait for spill, which writes two words for each over one 32-bit memory port: Q1 \
             measures the cycles of such a store; with a call of 1.5 us before each PUT none waits",
        ),
        waited.into(),
    );
}

/// GETs arrive at a cell that cannot reply.
fn replies(lab: &mut Lab<'_>, hardware: bool, name: &str) -> Result<(), MeasureError> {
    const GETS: u32 = 100;
    let mut sim = lab.boot_with(2, 1, |config| config.hardware_refill = hardware)?;
    number(&sim.cell(node(1)), GETS);
    number(&sim.cell(node(0)), 0);
    let seen = watch(&sim, node(0));
    let found = Rc::new(Count::new(Found::default()));
    let told = found.clone();
    let asked = GETS + 1;
    sim.spawn_checked(node(1), async move |cell| {
        let host = cell.host();
        let enabled = host.reg_read(window::register(ENABLE)).await?;
        host.reg_write(window::register(ENABLE), 0).await?;
        // Until all have arrived and nothing moves: 400 us, or what the slowest of links, stores, spill and software
        // needs.
        let config = cell.config();
        let slowest = config
            .link_cycles()
            .max(config.store_cycles)
            .max(config.mem_write_latency / 2);
        let hardware = config.period * u64::from(2500 * slowest);
        let software = (config.interrupt * 200).max(config.refill_word * 2000);
        host.delay(hardware.max(software)).await;
        let elements = elements(&cell).await?;
        let held = elements.len() as u32;
        let of_replies = |element: &Option<Element>| element.is_some_and(|element| element.queue == Queue::GetReply);
        let misformed = elements.iter().filter(|element| !of_replies(element)).count() as u32;
        told.set(Found {
            held,
            misformed,
            ..Found::default()
        });
        host.reg_write(window::register(ENABLE), enabled).await
    });
    sim.spawn_checked(node(0), async move |cell| {
        cell.host().delay(Picos::from_ns(10_000)).await;
        for number in 0..asked {
            // The first one is held at its source.
            let command = match number {
                0 => command(ABSENT, ASIDE, flag(0)),
                _ => command(NUMBERS + 4 * (number - 1), SLOT.0, flag(0)),
            };
            store(&cell, KIND_GET, command).await?;
        }
        Ok::<_, RegError>(())
    });
    finish(&mut sim)?;
    let Found { held, misformed, .. } = found.get();
    let (_, came, late) = *seen.borrow();
    let row = |what: &str| format!("c23.{name}_replies_{what}");
    lab.tried(
        &row("spilled"),
        &format!("{name} refill: words spilled of the replies to 100 received GETs"),
        "words",
        700,
        held,
    );
    lab.none(&row("order"), "replies out of order", "replies", late);
    let all = f64::from(GETS);
    lab.check(&row("came"), "replies that arrived", "replies", (all, all), came);
    let counted = sim.cell(node(0)).word(flag(0));
    lab.check(
        &row("counted"),
        "replies counted",
        "replies",
        (all + 1.0, all + 1.0),
        counted,
    );
    lab.bounds_by(Origin::Public);
    lab.none(
        &row("elements"),
        "elements that belong to no reply",
        "elements",
        misformed,
    );
    lab.bounds_by(Origin::Paper);
    Ok(())
}

pub fn c24(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut alone = None;
    for users in [0_u32, 60, 400] {
        let mut sim = lab.boot(2, 1)?;
        number(&sim.cell(node(0)), users);
        let stored = Rc::new(Count::new((Picos::ZERO, 0)));
        let at = stored.clone();
        sim.spawn_checked(node(0), async move |cell| {
            look_up(&cell).await?;
            for number in 0..users {
                store(&cell, KIND_PUT, command(NUMBERS + 4 * number, SLOT.0, flag(0))).await?;
            }
            let spilled = cell.host().reg_read(window::register(HELD)).await?;
            let words = command(NUMBERS, ASIDE, flag(1));
            store(&cell, KIND_PUT | PAGE_SYSTEM_MASK, words).await?;
            at.set((cell.now(), spilled));
            Ok::<_, CommandError>(())
        });
        let seen = Rc::new(Count::new(Picos::ZERO));
        let came = seen.clone();
        let host = sim.cell(node(1)).host().clone();
        sim.spawn(node(1), async move |_| {
            host.watch("the system's flag", |memory| memory.read(flag(1), 4) != Some(&[0; 4]))
                .await;
            came.set(host.now());
        });
        finish(&mut sim)?;
        let (start, spilled) = stored.get();
        let took = (seen.get() - start).as_us();
        let alone = *alone.get_or_insert(took);
        if users > 0 {
            // One message goes out, one is being read, one was chosen.
            let most = 3.0 * 7.0 * f64::from(lab.config().link_cycles()) * lab.config().period.as_us();
            let spec = Spec::new(
                format!("c24.{users}"),
                format!("extra delay of a system's PUT behind {users} of the user"),
                "us",
            );
            let spec = spec.by_formula(0.0, most, "three messages of seven words on a link");
            let spec = spec
                .depends(&HARDWARE)
                .depends(&["hardware_refill", "store_cycles", "lane_words"]);
            let reason = "the RTL keeps within three messages where reads and writes of memory share its bus and \
                          hardware refills; with a bus of its own for each (mem_shared=0) it was 3.76 us, and with \
                          refill by software (hardware_refill=0) 3.60 us";
            let spec = spec.stops(lab.differs(&["mem_shared", "hardware_refill"]), reason);
            let late = "the bound counts words on links: faster links, or memory that answers later, leave the time of \
                        memory, which it does not count";
            let beyond = lab.differs(&["link_rate", "period", "mem_read_latency", "mem_write_latency"]);
            lab.row(spec.stops(beyond, late), took - alone);
            let name = format!("c24.{users}_spilled");
            lab.tried(&name, "words of the user's PUTs spilled by then", "words", 1, spilled);
            let counted = sim.cell(node(1)).word(flag(0));
            let (name, all) = (format!("c24.{users}_counted"), f64::from(users));
            lab.check(&name, "PUTs of the user executed", "PUTs", (all, all), counted);
        }
    }
    Ok(())
}

/// Commands per microsecond that leave a cell where `backlog` commands wait, and cycles per store over the last half of
/// them.
fn rate(lab: &Lab<'_>, hardware: bool, link_cycles: u64, backlog: u32) -> Result<(f64, f64), MeasureError> {
    let mut sim = lab.boot_with(2, 1, |config| {
        config.hardware_refill = hardware;
        config.link_rate = (config.period * link_cycles).rate_mb_s(4);
    })?;
    let stored = Rc::new(Count::new(Picos::ZERO));
    let half = stored.clone();
    sim.spawn_checked(node(0), async move |cell| {
        look_up(&cell).await?;
        let host = cell.host();
        let enabled = host.reg_read(window::register(ENABLE)).await?;
        host.reg_write(window::register(ENABLE), 0).await?;
        store(&cell, KIND_PUT, command(ABSENT, ASIDE, flag(0))).await?;
        for number in 0..backlog {
            if number == backlog / 2 {
                half.set(cell.now());
            }
            store(&cell, KIND_PUT, command(NUMBERS + 4 * number, SLOT.0, flag(0))).await?;
        }
        half.set(cell.now() - half.get());
        host.delay(Picos::from_ns(10_000)).await;
        host.reg_write(window::register(ENABLE), enabled).await?;
        Ok::<_, CommandError>(())
    });
    let span = Rc::new(Count::new(Picos::ZERO));
    let took = span.clone();
    sim.spawn_checked(node(1), async move |cell| {
        let counts = |count: u32| {
            move |memory: &crate::harness::memory::Memory| {
                let bytes = memory.read(flag(0), 4).expect("in memory");
                u32::from_le_bytes(bytes.try_into().expect("four bytes")) >= count
            }
        };
        let host = cell.host();
        host.watch("the held PUT and the next one", counts(2)).await;
        let start = host.now();
        host.watch("all PUTs", counts(1 + backlog)).await;
        took.set(host.now() - start);
        Ok::<_, RegError>(())
    });
    finish(&mut sim)?;
    let rate = f64::from(backlog - 1) / span.get().as_us();
    let stores = f64::from((backlog - backlog / 2) * COMMAND_WORDS);
    Ok((rate, stored.get().as_us() / lab.config().period.as_us() / stores))
}

/// Eight commands fill the user's queue.
const BACKLOGS: [u32; 7] = [4, 8, 16, 32, 64, 128, 256];

pub fn q1(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut curves = Vec::new();
    for (hardware, link_cycles, name, says) in [
        (true, 8, "hardware", "refill by hardware, 25 MB/s"),
        (false, 8, "software", "refill by software, 25 MB/s"),
        (true, 1, "hardware_full", "refill by hardware, full speed"),
        (false, 1, "software_full", "refill by software, full speed"),
    ] {
        let software: &[&'static str] = if hardware { &[] } else { &["interrupt", "refill_word"] };
        let (mut points, mut stores) = (Vec::new(), 0.0);
        for backlog in BACKLOGS {
            let (rate, store) = rate(lab, hardware, link_cycles, backlog)?;
            stores = store;
            let spec = Spec::new(
                format!("q1.{name}_{backlog}"),
                format!("{says}: rate of PUTs of a word while {backlog} wait"),
                "commands/us",
            );
            lab.row(spec.depends(&HARDWARE).depends(software), rate);
            points.push((f64::from(backlog), rate));
        }
        // The queue alone, compared with all commands spilled.
        let cost = 100.0 * (1.0 - points[BACKLOGS.len() - 1].1 / points[1].1);
        let spec = Spec::new(
            format!("q1.{name}_cost"),
            format!("{says}: rate lost to spill, 256 commands compared with 8"),
            "%",
        );
        let spec = if hardware { spec.within(-5.0, 5.0) } else { spec };
        lab.row(spec.depends(&HARDWARE).depends(software), cost);
        let spec = Spec::new(
            format!("q1.{name}_store"),
            format!("{says}: a store of successive PUTs while all are spilled"),
            "cycles",
        );
        lab.row(spec.depends(&HARDWARE).depends(&["store_cycles"]), stores);
        curves.push(Curve {
            name: says.into(),
            points,
        });
    }
    lab.outcome.plots.push(Plot {
        id: "spill",
        title: "The cost of spill".into(),
        axes: ["waiting commands", "commands/us"],
        scales: OVER_SIZES,
        curves,
        marks: Vec::new(),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ap1000p::golden::Label;

    #[test]
    fn elements_that_are_not_the_words_are_counted() {
        let words: Vec<u32> = (0..16).collect();
        let element = |place: u32| {
            Some(Element {
                queue: Queue::User,
                label: Label {
                    number: (place / COMMAND_WORDS) as u8,
                    index: (place % COMMAND_WORDS) as u8,
                },
                position: place as u16,
                lap: 0,
                word: Word {
                    data: place,
                    end: place % COMMAND_WORDS == COMMAND_WORDS - 1,
                },
            })
        };
        let mut elements: Vec<_> = (5..16).map(element).collect();
        assert_eq!(misformed(&elements, Queue::User, &words), 0);
        assert_eq!(misformed(&elements, Queue::System, &words), 11);
        elements.swap(1, 2);
        elements[4] = None;
        assert_eq!(misformed(&elements, Queue::User, &words), 3);
    }
}
