//! Software copies spilled words back. If memory has lost some, messages that miss a word are gone, and no other is.
//! What a refill waits for comes.

use super::*;
use tsunagi::ap1000p::golden::page;
use tsunagi::ap1000p::golden::queues::Element;
use tsunagi::ap1000p::golden::{Label, Queue};

/// Of each PUT.
const WORDS: u32 = COMMAND_WORDS;
const SOURCE: u32 = 0x1_0000;
const DEST: u32 = 0x2_0000;
const PUTS: u32 = 60;
/// Messages whose numbers in elements differ.
const NUMBERS: u32 = (SPILL_TAG_NUMBER_MASK >> SPILL_TAG_NUMBER_SHIFT) + 1;

fn two_cells() -> Config {
    Config {
        hardware_refill: false,
        ..config(2, 1)
    }
}

/// A PUT of one word; `number` is its place.
fn one_word(number: u32) -> Transfer {
    Transfer {
        words: 1,
        source: Addr(SOURCE + 4 * number),
        dest: Addr(DEST + 4 * number),
        dest_flag: Some(FLAG),
        ..Transfer::default()
    }
}

/// No interrupt is served, and the first PUT waits for its page: those behind it are spilled.
async fn hold(cell: &Cell, round: u32) -> Result<(), CommandError> {
    cell.host().reg_write(window::register(ENABLE), 0).await?;
    let held = Transfer {
        words: 1,
        source: Addr(DEMAND + 0x1000 * round),
        dest: Addr(0x3_0000),
        ..Transfer::default()
    };
    cell.put_stride(NodeId(1), &held).await
}

/// Interrupts are served again.
async fn serve(cell: &Cell) -> Result<(), RegError> {
    cell.host()
        .reg_write(window::register(ENABLE), ENABLE_CAUSES_MASK)
        .await
}

/// The same, until nothing is spilled; what is sent then comes.
async fn release(cell: &Cell) -> Result<(), CommandError> {
    serve(cell).await?;
    while cell.host().reg_read(window::register(HELD)).await? != 0 {}
    let last = Transfer {
        dest_flag: Some(OTHER_FLAG),
        ..one_word(0)
    };
    cell.put_stride(NodeId(1), &last).await
}

/// The elements that are spilled, with their addresses, in their order.
async fn elements(cell: &Cell) -> Result<Vec<(Addr, Element)>, RegError> {
    let host = cell.host();
    host.delay(Picos::from_us(10.0)).await;
    let region = host.reg_read(window::register(SPILL_REGION)).await?;
    let base = (region & SPILL_REGION_BASE_MASK) >> SPILL_REGION_BASE_SHIFT << 19;
    let size = ((region & SPILL_REGION_LIMIT_MASK) >> SPILL_REGION_LIMIT_SHIFT) * SPILL_UNIT;
    let (held, next) = (
        host.reg_read(window::register(HELD)).await?,
        host.reg_read(window::register(POSITION)).await?,
    );
    let at = |back: u32| Addr(base + (next + size - back) % size * SPILL_BYTES);
    let element = |at: Addr| {
        let word = |at: u32| {
            let bytes = host.memory(|memory| memory.read(Addr(at), 4).map(<[u8]>::to_vec));
            u32::from_le_bytes(bytes.expect("in memory").try_into().expect("four bytes"))
        };
        Element::decode(word(at.0), word(at.0 + 4)).expect("an element")
    };
    Ok((1..=held).rev().map(|back| (at(back), element(at(back)))).collect())
}

/// Each of these queues has words in the region.
async fn are_spilled(cell: &Cell, queues: [Queue; 2]) -> Result<(), RegError> {
    let spilled = elements(cell).await?;
    for queue in queues {
        assert!(spilled.iter().any(|(_, element)| element.queue == queue), "{queue:?}");
    }
    Ok(())
}

/// Memory has nothing there.
fn lose(cell: &Cell, elements: &[(Addr, Element)]) {
    for &(at, _) in elements {
        assert!(
            cell.host()
                .memory(|memory| memory.write(at, &[0; SPILL_BYTES as usize]))
        );
    }
}

/// As many elements are lost as eight messages have. The first element behind them has the number and the place that
/// fit the last one before.
#[test]
fn no_message_goes_on_behind_words_that_were_lost() {
    const FIRST: u32 = 30;
    for words in 1..WORDS {
        let mut sim = boot(two_cells());
        let sent = data(3, PUTS);
        sim.cell(NodeId(0)).set_words(Addr(SOURCE), &sent);
        sim.cell(NodeId(1)).set_words(Addr(DEST), &[0; PUTS as usize]);
        sim.spawn_checked(NodeId(0), async move |cell| {
            hold(&cell, 0).await?;
            for number in 0..PUTS {
                cell.put_stride(NodeId(1), &one_word(number)).await?;
            }
            let spilled = elements(&cell).await?;
            let first = FIRST * WORDS + words - (PUTS * WORDS - spilled.len() as u32);
            let lost = first as usize..(first + NUMBERS * WORDS) as usize;
            assert_eq!(u32::from(spilled[lost.start].1.label.index), words);
            lose(&cell, &spilled[lost]);
            release(&cell).await
        });
        sim.spawn_checked(NodeId(1), async |cell| cell.wait_flag(OTHER_FLAG, 1).await);
        sim.run(BOUND).unwrap();
        let gone = FIRST..=FIRST + NUMBERS;
        let want: Vec<u32> = (0..PUTS)
            .map(|number| {
                if gone.contains(&number) {
                    0
                } else {
                    sent[number as usize]
                }
            })
            .collect();
        assert_eq!(
            sim.cell(NodeId(1)).words(Addr(DEST), PUTS),
            want,
            "{words} words came before"
        );
        assert_eq!(sim.cell(NodeId(1)).words(FLAG, 1), [PUTS - NUMBERS - 1]);
        let queue = FaultKind::Other {
            cause: CAUSE_QUEUE_MASK,
        };
        let told = sim
            .take_faults()
            .into_iter()
            .filter(|fault| fault.kind == queue)
            .count();
        // And the interrupt tells it.
        assert!(told as u32 > NUMBERS * WORDS, "told {told} times");
    }
}

/// The user's half of the region ends amid a message, and memory loses as many elements before that as eight messages
/// have. The words that still come are not the rest of the message before.
#[test]
fn no_message_goes_on_behind_the_last_words_that_were_lost() {
    const MOST: u32 = 100;
    let mut sim = boot(two_cells());
    let sent = data(4, MOST);
    sim.cell(NodeId(0)).set_words(Addr(SOURCE), &sent);
    sim.cell(NodeId(1)).set_words(Addr(DEST), &[0; MOST as usize]);
    let mut last = sim.spawn(NodeId(0), async move |cell| {
        limit_region(&cell, 1).await?;
        hold(&cell, 0).await?;
        // A message of two words, which will be refused: without it all are of eight, and so the region ends with one.
        for (word, end) in [(7 << COMMAND_HEAD_KIND_SHIFT, false), (0, true)] {
            cell.store_to_page(page::direct(Queue::User, end, Label::default()), word)
                .await?;
        }
        let (mut held, mut number) = (0, 0);
        // What has no room waits outside, and so does one more.
        loop {
            cell.put_stride(NodeId(1), &one_word(number)).await?;
            cell.host().delay(Picos::from_us(2.0)).await;
            let before = std::mem::replace(&mut held, cell.host().reg_read(window::register(HELD)).await?);
            if held > 0 && held == before {
                break;
            }
            number += 1;
        }
        let spilled = elements(&cell).await?;
        let words = u32::from(spilled.last().expect("spilled").1.label.index) + 1;
        assert_ne!(words, WORDS, "the region ends with a message: the case shows nothing");
        lose(&cell, &spilled[spilled.len() - (NUMBERS * WORDS) as usize..]);
        release(&cell).await?;
        Ok::<_, CommandError>(number)
    });
    sim.spawn_checked(NodeId(1), async |cell| cell.wait_flag(OTHER_FLAG, 1).await);
    sim.run(BOUND).unwrap();
    // The one behind the one that was cut.
    let last = last.take().expect("ended").unwrap();
    let gone = last - 1 - NUMBERS..last;
    let want: Vec<u32> = (0..=last)
        .map(|number| {
            if gone.contains(&number) {
                0
            } else {
                sent[number as usize]
            }
        })
        .collect();
    assert_eq!(sim.cell(NodeId(1)).words(Addr(DEST), last + 1), want);
    assert_eq!(sim.cell(NodeId(1)).words(FLAG, 1), [last - NUMBERS]);
}

/// Memory refuses elements where it took those of the lap before: none of these comes again.
#[test]
fn what_was_copied_back_does_not_come_again() {
    const BAD: std::ops::Range<u32> = 160..176;
    // Before and behind those that are bad: of a burst all elements are refused.
    const BURST: u32 = 8;
    // With the one that waits and the last one as many as numbers repeat after.
    const PUTS: u32 = 8 * NUMBERS - 2;
    const ROUNDS: u32 = 4;
    let mut sim = boot(two_cells());
    let all = data(5, ROUNDS * PUTS);
    let mut came = 0;
    for round in 0..ROUNDS {
        sim.cell(NodeId(0)).set_words(Addr(SOURCE), &all);
        sim.cell(NodeId(1)).set_words(Addr(DEST), &vec![0; all.len()]);
        let mut spilled = sim.spawn(NodeId(0), async move |cell| {
            hold(&cell, round).await?;
            let region = cell.host().reg_read(window::register(SPILL_REGION)).await?;
            let base = (region & SPILL_REGION_BASE_MASK) >> SPILL_REGION_BASE_SHIFT << 19;
            let bad = base + BAD.start * SPILL_BYTES..base + BAD.end * SPILL_BYTES;
            if round > 0 {
                cell.host().memory(|memory| memory.inject_fault(bad));
            }
            for number in 0..PUTS {
                cell.put_stride(NodeId(1), &one_word(round * PUTS + number)).await?;
            }
            cell.host().delay(Picos::from_us(10.0)).await;
            cell.host().memory(|memory| memory.clear_faults());
            let held = cell.host().reg_read(window::register(HELD)).await?;
            assert_eq!(
                cell.host().reg_read(window::register(POSITION)).await?,
                held,
                "from the region's first element on"
            );
            release(&cell).await?;
            Ok::<_, CommandError>(held)
        });
        sim.spawn_checked(NodeId(1), async move |cell| cell.wait_flag(OTHER_FLAG, round + 1).await);
        sim.run(BOUND).unwrap();
        let held = spilled.take().expect("ended").unwrap();
        let dest = sim.cell(NodeId(1)).words(Addr(DEST), ROUNDS * PUTS);
        for (number, (&word, &sent)) in (0..).zip(dest.iter().zip(&all)) {
            // Its elements end there; in the RAM nothing is lost.
            let end = ((number + 1) * WORDS + held).checked_sub((round * PUTS + PUTS) * WORDS);
            let clear = |end: u32| end <= BAD.start - BURST || end - WORDS >= BAD.end + BURST;
            let hit = |end: u32| end > BAD.start && end - WORDS < BAD.end;
            // The last PUT of each round is of the first word of all.
            if number == 0 || number / PUTS == round && (round == 0 || end.is_none_or(clear)) {
                assert_eq!(word, sent, "round {round}, PUT {number}");
            } else if number / PUTS != round || end.is_some_and(hit) {
                assert_eq!(word, 0, "round {round}, PUT {number} came");
            }
            came += u32::from(number / PUTS == round && word != 0);
        }
        assert_eq!(sim.cell(NodeId(1)).words(FLAG, 1), [came], "round {round}");
    }
}

/// Commands of the user's that wait for this cell's own replies.
async fn ask_itself(cell: &Cell, gets: u32) -> Result<(), CommandError> {
    for _ in 0..gets {
        cell.get(cell.id(), Addr(SOURCE), 1, Addr(DEST), Some(FLAG), None)
            .await?;
    }
    Ok(())
}

/// The words that software copies first wait for room in the user's queue. It is full of GETs from this cell itself,
/// which wait for its replies. So the replies go on while software waits.
#[test]
fn software_that_waits_for_room_lets_replies_go_on() {
    const GETS: u32 = 24;
    const STORES: u32 = 40;
    for mut sim in both(&two_cells()) {
        sim.spawn_checked(NodeId(0), async move |cell| {
            hold(&cell, 0).await?;
            ask_itself(&cell, GETS).await?;
            // They go before GETs, so their queue is the first without a message.
            for number in 0..STORES {
                let there = Shared {
                    cell: NodeId(1),
                    addr: Addr(DEST + 4 * number),
                };
                cell.store(there, 4, (number + 1).into()).await?;
            }
            are_spilled(&cell, [Queue::User, Queue::Access]).await?;
            serve(&cell).await?;
            cell.wait_flag(FLAG, GETS).await?;
            cell.fence().await;
            Ok::<_, DsmError>(())
        });
        sim.run(BOUND).unwrap();
        let stored: Vec<u32> = (1..=STORES).collect();
        assert_eq!(sim.cell(NodeId(1)).words(Addr(DEST), STORES), stored);
    }
}

/// Replies are spilled, and behind them GETs from this cell itself. Those wait for further replies, which do not wait
/// until the GETs are back.
#[test]
fn replies_that_are_back_do_not_wait_for_requests_behind_them() {
    const REPLIES: u32 = 200;
    const GETS: u32 = 24;
    const REGISTER: u8 = 5;
    for mut sim in both(&two_cells()) {
        sim.spawn_checked(NodeId(0), async |cell| {
            cell.get_registers(NodeId(1), REGISTER, 1, Addr(0x3_0000), None).await?;
            for _ in 0..REPLIES {
                cell.get(NodeId(1), Addr(0), 0, Addr(0), Some(FLAG), None).await?;
            }
            cell.wait_flag(FLAG, REPLIES).await
        });
        sim.spawn_checked(NodeId(1), async |cell| {
            // Until the replies of the other cell's GETs are spilled.
            cell.compute(Picos::from_us(1_000.0)).await;
            hold(&cell, 0).await?;
            ask_itself(&cell, GETS).await?;
            are_spilled(&cell, [Queue::GetReply, Queue::User]).await?;
            serve(&cell).await?;
            cell.register_write(REGISTER, 1).await?;
            cell.wait_flag(FLAG, GETS).await
        });
        sim.run(BOUND).unwrap();
    }
}
