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

/// Rings of 128 KB, from here on.
const RINGS: u32 = 0x8_0000;
const RING: u32 = 0x2_0000;
/// Where messages come from.
const SOURCE: u32 = 0x1_0000;

/// Takes all messages that a context of a cell has.
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

pub fn c14(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    const LENGTHS: [u32; 7] = [0, 1, 6, 7, 14, 15, 100];
    const CONTEXTS: u16 = 5;
    const ROUNDS: u32 = 3;
    const LONG: u32 = 1000;
    const EACH: u32 = 20;
    let (mut sent, mut came, mut bad, mut order) = (0, 0, 0, 0);
    let mut sim = lab.boot_with(2, 2, |config| {
        config.mem_bytes = config.mem_bytes.max(2 << 20);
        // Every message goes into the ring whole.
        config.rendezvous_words = WORDS_MOST_IN_ANY;
    })?;
    let open = |sim: &mut Sim, cell: usize, context: u16| {
        let at = Addr(RINGS + RING * u32::from(context - 1));
        sim.spawn_checked(node(cell), async move |cell| {
            cell.open_ring_of(context, at, RingSize::K128).await
        });
        finish(sim)
    };

    // What stands in the ring: header, data, whole slots, and what was there before behind them.
    open(&mut sim, 3, 1)?;
    sim.spawn_checked(node(0), async move |cell| {
        for (tag, words) in (0..).zip(LENGTHS) {
            cell.send(node(3), tag, Addr(SOURCE), words, None).await?;
        }
        Ok::<_, CommandError>(())
    });
    finish(&mut sim)?;
    let ring = sim.cell(node(3));
    let mut expected = Vec::new();
    for (tag, words) in (0..).zip(LENGTHS) {
        let end = expected.len() + (slots(words) * RING_BYTES / 4) as usize;
        expected.extend([words, tag]);
        expected.extend((0..words).map(|n| pattern(0, SOURCE + 4 * n)));
        expected.resize(end, 0);
    }
    let placed = wrong(&ring, Addr(RINGS), &expected);
    let used = expected.len() as u32 * 4 / RING_BYTES;
    let write = Rc::new(std::cell::Cell::new(0));
    let into = write.clone();
    sim.spawn_checked(node(3), async move |cell| {
        into.set(cell.host().reg_read(window::register(RING0_WRITE)).await?);
        Ok::<_, CommandError>(())
    });
    finish(&mut sim)?;
    let moved = write.get() - RINGS / RING_BYTES;
    let messages = take(&mut sim, 3, 1)?;
    sent += LENGTHS.len() as u32;
    came += messages.len() as u32;
    for (message, words) in messages.iter().zip(LENGTHS) {
        bad += differ(message, 0, SOURCE) + u32::from(message.words.len() as u32 != words);
    }

    // Five contexts for three sets. All have the tables of the first.
    for cell in (0..4).map(|number| sim.cell(node(number))) {
        let tables = cell.memory_end();
        let entry = cell.word(Addr(tables + 4));
        for context in 2..=u32::from(CONTEXTS) {
            cell.set_word(Addr(tables + 4 * context), entry);
        }
    }
    for context in 1..=CONTEXTS {
        open(&mut sim, 2, context)?;
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
    finish(&mut sim)?;
    let misses = sim.cell(node(2)).rings_served().misses;
    for context in 1..=CONTEXTS {
        let messages = take(&mut sim, 2, context)?;
        sent += ROUNDS;
        came += messages.len() as u32;
        for (round, message) in (0..).zip(&messages) {
            order += u32::from(message.tag != round || message.words.len() as u32 != 20 * round);
            bad += differ(message, 0, SOURCE + 4 * u32::from(context));
        }
    }

    // More than a ring holds, while nobody reads it.
    for from in 0..2 {
        sim.spawn_checked(node(from), async move |cell| {
            for tag in 0..EACH {
                cell.send(node(3), tag, Addr(SOURCE + 4 * tag), LONG, None).await?;
            }
            Ok::<_, CommandError>(())
        });
    }
    finish(&mut sim)?;
    let full = sim.cell(node(3)).rings_served().full;
    let messages = take(&mut sim, 3, 1)?;
    sent += 2 * EACH;
    came += messages.len() as u32;
    for from in 0..2 {
        let of = messages.iter().filter(|message| message.from == node(from));
        for (tag, message) in (0..).zip(of) {
            order += u32::from(message.tag != tag || message.words.len() as u32 != LONG);
            bad += differ(message, from, SOURCE + 4 * tag);
        }
    }
    let around = (used + 2 * EACH * slots(LONG)) / (RING / RING_BYTES);

    lab.none("c14.data", "words that are not as they were sent", "words", bad);
    lab.none("c14.order", "messages that came out of their order", "messages", order);
    lab.none("c14.lost", "messages lost", "messages", sent.abs_diff(came));
    lab.bounds_by(Origin::Public);
    lab.none(
        "c14.placed",
        "words of a ring that are not header, data, or as before",
        "words",
        placed,
    );
    lab.check(
        "c14.rounding",
        "slots that seven messages took",
        "slots",
        (f64::from(used), f64::from(used)),
        moved,
    );
    lab.tried("c14.sent", "messages sent", "messages", 62, sent);
    lab.tried(
        "c14.miss",
        "messages whose context's ring was in none of three sets",
        "interrupts",
        5,
        misses,
    );
    lab.tried("c14.full", "messages that found their ring full", "interrupts", 1, full);
    lab.tried("c14.wrap", "times around the ring", "turns", 1, around);
    Ok(())
}
