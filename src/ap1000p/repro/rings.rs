//! Messages through ring buffers.

use std::cell::RefCell;
use std::rc::Rc;

use super::lab::{Lab, MeasureError, Sim, finish, node, pattern, wrong};
use crate::Addr;
use crate::ap1000p::golden::ring::{WORDS_MOST_IN_ANY, slots};
use crate::ap1000p::golden::window;
use crate::ap1000p::host::{CommandError, Received, RingError, RingSize};
use crate::ap1000p::regs::*;
use crate::repro::row::Origin;

/// Rings of 128 KB start here.
const RINGS: u32 = 0x8_0000;
const RING: u32 = 0x2_0000;
/// The source of the messages.
const SOURCE: u32 = 0x1_0000;

/// Takes all messages of a context of a cell.
fn take(sim: &mut Sim, cell: usize, context: u16) -> Result<Vec<Received>, MeasureError> {
    let came = Rc::new(RefCell::new(Vec::new()));
    let into = came.clone();
    sim.spawn_checked(node(cell), async move |cell| {
        while let Some(message) = cell.recv_of(context).await? {
            into.borrow_mut().push(message);
        }
        Ok::<_, RingError>(())
    });
    finish(sim)?;
    Ok(came.take())
}

fn differ(message: &Received, from: usize, source: u32) -> u32 {
    let expected = (source..).step_by(4).map(|at| pattern(from, at));
    message.words.iter().zip(expected).filter(|(a, b)| **a != *b).count() as u32
}

/// Opens the ring of a context.
fn open(sim: &mut Sim, cell: usize, context: u16) -> Result<(), MeasureError> {
    let at = Addr(RINGS + RING * u32::from(context - 1));
    sim.spawn_checked(node(cell), async move |cell| {
        cell.open_ring_of(context, at, RingSize::K128).await
    });
    finish(sim)
}

/// Messages until now.
#[derive(Default)]
struct Tally {
    sent: u32,
    came: u32,
    /// Words that differ from the sent ones.
    bad: u32,
    /// Messages out of order.
    order: u32,
}

/// The traces of messages in a ring.
struct Placed {
    /// Words that are neither header, nor data, nor unchanged.
    wrong: u32,
    /// Slots that the messages need, and the advance of the ring's write pointer.
    slots: u32,
    moved: u32,
}

/// Sends messages of all lengths to a ring, and compares header, data, whole slots, and the words behind them.
fn placed(sim: &mut Sim, tally: &mut Tally) -> Result<Placed, MeasureError> {
    const LENGTHS: [u32; 7] = [0, 1, 6, 7, 14, 15, 100];
    open(sim, 3, 1)?;
    sim.spawn_checked(node(0), async move |cell| {
        for (tag, words) in (0..).zip(LENGTHS) {
            cell.send(node(3), tag, Addr(SOURCE), words, None).await?;
        }
        Ok::<_, CommandError>(())
    });
    finish(sim)?;
    let ring = sim.cell(node(3));
    let mut expected = Vec::new();
    for (tag, words) in (0..).zip(LENGTHS) {
        let end = expected.len() + (slots(words) * RING_BYTES / 4) as usize;
        expected.extend([words, tag]);
        expected.extend((0..words).map(|n| pattern(0, SOURCE + 4 * n)));
        expected.resize(end, 0);
    }
    let wrong = wrong(&ring, Addr(RINGS), &expected);
    let write = Rc::new(std::cell::Cell::new(0));
    let into = write.clone();
    sim.spawn_checked(node(3), async move |cell| {
        into.set(cell.host().reg_read(window::register(RING0_WRITE)).await?);
        Ok::<_, CommandError>(())
    });
    finish(sim)?;
    let messages = take(sim, 3, 1)?;
    tally.sent += LENGTHS.len() as u32;
    tally.came += messages.len() as u32;
    for (message, words) in messages.iter().zip(LENGTHS) {
        tally.bad += differ(message, 0, SOURCE) + u32::from(message.words.len() as u32 != words);
    }
    Ok(Placed {
        wrong,
        slots: expected.len() as u32 * 4 / RING_BYTES,
        moved: write.get() - RINGS / RING_BYTES,
    })
}

/// Five contexts share three sets of ring registers. Returns the number of messages that found no set.
fn misses(sim: &mut Sim, tally: &mut Tally) -> Result<u32, MeasureError> {
    const CONTEXTS: u16 = 5;
    const ROUNDS: u32 = 3;
    // All contexts use the tables of the first.
    for cell in (0..4).map(|number| sim.cell(node(number))) {
        let tables = cell.memory_end();
        let entry = cell.word(Addr(tables + 4));
        for context in 2..=u32::from(CONTEXTS) {
            cell.set_word(Addr(tables + 4 * context), entry);
        }
    }
    for context in 1..=CONTEXTS {
        open(sim, 2, context)?;
    }
    sim.spawn_checked(node(0), async move |cell| {
        for round in 0..ROUNDS {
            for context in 1..=u32::from(CONTEXTS) {
                cell.host().reg_write(window::register(CONTEXT), context).await?;
                cell.send(node(2), round, Addr(SOURCE + 4 * context), 20 * round, None)
                    .await?;
            }
        }
        cell.host().reg_write(window::register(CONTEXT), 1).await?;
        Ok::<_, CommandError>(())
    });
    finish(sim)?;
    let misses = sim.cell(node(2)).rings_served().misses;
    for context in 1..=CONTEXTS {
        let messages = take(sim, 2, context)?;
        tally.sent += ROUNDS;
        tally.came += messages.len() as u32;
        for (round, message) in (0..).zip(&messages) {
            tally.order += u32::from(message.tag != round || message.words.len() as u32 != 20 * round);
            tally.bad += differ(message, 0, SOURCE + 4 * u32::from(context));
        }
    }
    Ok(misses)
}

/// Two cells send more than a ring holds while nobody reads it. Returns the messages that found it full, and the slots
/// of all.
fn overflow(sim: &mut Sim, tally: &mut Tally) -> Result<(u32, u32), MeasureError> {
    const LONG: u32 = 1000;
    const EACH: u32 = 20;
    for from in 0..2 {
        sim.spawn_checked(node(from), async move |cell| {
            for tag in 0..EACH {
                cell.send(node(3), tag, Addr(SOURCE + 4 * tag), LONG, None).await?;
            }
            Ok::<_, CommandError>(())
        });
    }
    finish(sim)?;
    let full = sim.cell(node(3)).rings_served().full;
    let messages = take(sim, 3, 1)?;
    tally.sent += 2 * EACH;
    tally.came += messages.len() as u32;
    for from in 0..2 {
        let of = messages.iter().filter(|message| message.from == node(from));
        for (tag, message) in (0..).zip(of) {
            tally.order += u32::from(message.tag != tag || message.words.len() as u32 != LONG);
            tally.bad += differ(message, from, SOURCE + 4 * tag);
        }
    }
    Ok((full, 2 * EACH * slots(LONG)))
}

pub fn c14(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let mut sim = lab.boot_with(2, 2, |config| {
        config.mem_bytes = config.mem_bytes.max(2 << 20);
        // Every message goes into the ring whole.
        config.rendezvous_words = WORDS_MOST_IN_ANY;
    })?;
    let mut tally = Tally::default();
    let placed = placed(&mut sim, &mut tally)?;
    let misses = misses(&mut sim, &mut tally)?;
    let (full, more) = overflow(&mut sim, &mut tally)?;
    let Tally { sent, came, bad, order } = tally;
    lab.none(
        "c14.data",
        "received words that differ from the sent ones",
        "words",
        bad,
    );
    lab.none("c14.order", "messages that arrived out of order", "messages", order);
    lab.none("c14.lost", "messages lost", "messages", sent.abs_diff(came));
    lab.bounds_by(Origin::Public);
    lab.none(
        "c14.placed",
        "words of a ring that are neither header, nor data, nor unchanged",
        "words",
        placed.wrong,
    );
    lab.check(
        "c14.rounding",
        "slots of seven messages",
        "slots",
        (f64::from(placed.slots), f64::from(placed.slots)),
        placed.moved,
    );
    lab.tried("c14.sent", "messages sent", "messages", 62, sent);
    lab.tried(
        "c14.miss",
        "messages to a context without one of the three register sets",
        "interrupts",
        5,
        misses,
    );
    lab.tried("c14.full", "messages that found their ring full", "interrupts", 1, full);
    let around = (placed.slots + more) / (RING / RING_BYTES);
    lab.tried("c14.wrap", "times around the ring", "turns", 1, around);
    Ok(())
}
