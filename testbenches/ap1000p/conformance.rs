//! The machine's conformance list for command window and queues, one behind the other.

use support::{Test, this_test};
use testbenches::rtl::{Ap1000pCommand, Ap1000pQueues, Ap1000pQueuesSoftware};
use testbenches::{Fault, Run, Start, pass};
use tsunagi::ap1000p::golden::command::{CommandModel, Refused, Setup};
use tsunagi::ap1000p::golden::page::{Owner, Page};
use tsunagi::ap1000p::golden::queues::Region;
use tsunagi::ap1000p::golden::{Label, Queue, Word};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer, Source};

use crate::SLOW;
use crate::command::{self, SETUP, Store, USER, page_of, pages};
use crate::queues::{self, Plan, Queues, Refill};

/// A command window before five queues, with a host that stores words.
struct Cell<'a> {
    window: testbenches::Bench<'a, command::In, command::Out>,
    queues: queues::Bench<'a>,
    stores: Source<Store>,
    /// Cycles between two stores.
    pace: u64,
    stalls: u64,
    stored: u64,
    last_stored: u64,
    model: CommandModel,
    /// The model's words of each owner, in order.
    due: [Vec<Word>; 2],
    refused: Vec<(Refused, u16)>,
    /// Refusals of the window.
    told: Vec<(u8, u16)>,
}

impl<'a> Cell<'a> {
    fn new(run: &Run<'a>, region: Region, timing: MemoryTiming) -> Result<Cell<'a>, Fault> {
        let mut window = testbenches::Bench::new(run, &command::dut::<Ap1000pCommand>());
        for _ in 0..3 {
            window.reset(&command::In::idle(SETUP))?;
        }
        let plan = Plan {
            gaps: Gaps::None,
            timing,
            region,
        };
        Ok(Cell {
            window,
            queues: queues::Bench::new(run, &five_queues(), plan)?,
            stores: Source::new([], Pacer::steady()),
            pace: 1,
            stalls: 0,
            stored: 0,
            last_stored: 0,
            model: CommandModel::default(),
            due: Default::default(),
            refused: Vec::new(),
            told: Vec::new(),
        })
    }

    fn store(&mut self, stores: &[Store]) {
        stores.iter().for_each(|&store| self.stores.push(store));
    }

    fn cycle(&mut self) -> Result<(), Fault> {
        let (now, ready) = (self.queues.cycles(), self.queues.outputs().ready);
        let pauses = self.stored > 0 && now < self.last_stored + self.pace;
        let store = if pauses { None } else { self.stores.offer().copied() };
        let takes = |queue: Queue| ready >> queue as u8 & 1 == 1;
        let seen = self.window.step(&command::In {
            store,
            ready: [takes(Queue::System), takes(Queue::User), false],
            ..command::In::idle(SETUP)
        })?;
        // A word on offer at the window is on offer at its queue.
        for (queue, word) in [Queue::System, Queue::User].into_iter().zip(seen.words) {
            let writer = &mut self.queues.writers[queue as usize];
            if let Some((_, word)) = word.filter(|_| writer.is_empty()) {
                writer.push(word);
            }
        }
        self.told.extend(seen.refused.then_some(seen.why));
        self.queues.cycle()?;
        self.stalls += u64::from(store.is_some() && !seen.ready);
        if pauses {
            return Ok(());
        }
        if let Some(store) = self.stores.step(seen.ready) {
            self.stored += 1;
            self.last_stored = now;
            let outcome = self.model.store(&SETUP, store.page, store.data);
            self.refused.extend(outcome.refused);
            if let Some((queue, words)) = outcome.words {
                self.due[usize::from(queue == Queue::System)].extend(words);
            }
        }
        Ok(())
    }

    fn run(&mut self, cycles: u64) -> Result<(), Fault> {
        (0..cycles).try_for_each(|_| self.cycle())
    }

    fn store_all(&mut self) -> Result<(), Fault> {
        while !self.stores.is_empty() {
            self.cycle()?;
        }
        Ok(())
    }

    fn given(&self) -> usize {
        self.queues.given.len()
    }

    fn is_done(&self) -> bool {
        let busy = self.window.seen().busy || self.queues.outputs().busy;
        self.stores.is_empty() && !busy && self.queues.left() == 0
    }

    /// Until all is stored and given. The words of each owner came in order.
    fn finish(&mut self, limit: u64) -> Result<(), Fault> {
        let end = self.queues.cycles() + limit;
        while !self.is_done() {
            self.cycle()?;
            assert!(self.queues.cycles() < end, "no end after {limit} cycles");
        }
        for owner in Owner::ALL {
            let given = self.queues.given.iter().filter(|given| given.queue == owner.queue());
            let given: Vec<Word> = given.map(|given| given.word).collect();
            assert_eq!(given, self.due[owner as usize], "{owner:?}");
        }
        let told: Vec<(u8, u16)> = self.refused.iter().map(|&(why, page)| (why as u8, page)).collect();
        assert_eq!(self.told, told);
        Ok(())
    }
}

fn five_queues() -> Queues {
    queues::queues::<Ap1000pQueues>(Refill::Hardware)
}

fn window<'a>(run: &Run<'a>) -> Result<command::Bench<'a>, Fault> {
    command::Bench::new(run, &command::dut::<Ap1000pCommand>(), Gaps::None)
}

const REGION: Region = Region { base: 1, limit: 9 };

/// A test of one case.
fn case(test: Test, body: impl Fn(&Run) -> Result<(), Fault>) {
    pass(test, |cases| cases.case(Start::Random1, "", body));
}

/// The stores of a PUT to the next cell.
fn put(owner: Owner, rng: &mut Rng) -> Vec<Store> {
    let length = rng.below(1 << 20) as u32;
    command::command(page_of(owner), 0x0001, length, rng)
}

#[test]
fn c2_a_command_starts_with_its_last_word() {
    case(this_test!(), |run| {
        let mut cell = Cell::new(run, REGION, MemoryTiming::IDEAL)?;
        let stores = put(Owner::User, &mut run.rng("stores"));
        cell.store(&stores[..7]);
        cell.run(200)?;
        assert_eq!((cell.stored, cell.given()), (7, 0), "7 words start nothing");
        cell.store(&stores[7..]);
        cell.run(40)?;
        assert_eq!(cell.given(), 8, "8 words start the command");
        cell.finish(100)
    });
}

#[test]
fn c3_commands_of_one_stream_of_stores_come_in_order() {
    case(this_test!(), |run| {
        let mut cell = Cell::new(run, REGION, MemoryTiming::IDEAL)?;
        let mut rng = run.rng("stores");
        for _ in 0..100 {
            cell.store(&put(Owner::User, &mut rng));
        }
        cell.finish(2_000)?;
        let span = cell.queues.given.last().expect("given").cycle - cell.queues.given[0].cycle + 1;
        assert_eq!((cell.stalls, cell.given(), span), (0, 800, 800), "no bubble");
        Ok(())
    });
}

#[test]
fn c4_a_system_command_within_a_users() {
    case(this_test!(), |run| {
        for split in 1..8 {
            let mut cell = Cell::new(run, REGION, MemoryTiming::IDEAL)?;
            let mut rng = run.rng("stores");
            let user = put(Owner::User, &mut rng);
            cell.store(&user[..split]);
            cell.store(&put(Owner::System, &mut rng));
            cell.run(60)?;
            assert_eq!(
                cell.given(),
                8,
                "the system's command is out, after {split} words of the user's"
            );
            cell.store(&user[split..]);
            cell.finish(200)?;
            assert_eq!(cell.given(), 16);
        }
        Ok(())
    });
}

/// The page codes that the machine's software uses.
#[test]
fn c5_pages_of_the_machine() {
    let command = |owner, row, column| {
        Some(Page::Command {
            owner,
            broadcast: [row, column],
        })
    };
    let direct = |queue, end| {
        let label = Label::default();
        Some(Page::Direct { queue, end, label })
    };
    let (user, system) = (Owner::User, Owner::System);
    for (code, page) in [
        (0x0000, command(user, false, false)),
        (0x0001, command(user, false, false)),
        (0x2000, command(system, false, false)),
        (0x2020, command(system, false, false)),
        (0x2021, command(system, false, false)),
        (0x0040, command(user, false, false)),
        (0x0240, command(user, true, false)),
        (0x0440, command(user, false, true)),
        (0x0640, command(user, true, true)),
        (0x0600, command(user, true, true)),
        (0x2004, command(system, false, false)),
        (0x2005, command(system, false, false)),
        (0x8000, direct(Queue::System, false)),
        (0x8001, direct(Queue::User, false)),
        (0xc002, direct(Queue::Access, true)),
        (0xc003, direct(Queue::GetReply, true)),
        (0xc004, direct(Queue::RemoteReply, true)),
        (0x0002, None),
        (0x4000, None),
        (0x8005, None),
        (0x0041, None),
        (0x0201, None),
        (0x0024, None),
        (0x0610, None),
        (0x0650, None),
        (0xa000, None),
    ] {
        assert_eq!(Page::decode(code), page, "{code:#06x}");
    }
}

#[test]
fn c5_every_page_code() {
    case(this_test!(), |run| {
        let mut bench = window(run)?;
        // Broadcasts of users need the whole torus.
        bench.setup = Setup {
            low: [-4, -2],
            high: [3, 1],
            ..SETUP
        };
        bench.cycle()?;
        let mut rng = run.rng("stores");
        for code in 0..=u16::MAX {
            match Page::decode(code) {
                Some(Page::Command { .. }) => bench.store(command::command(code, 0x0102, 3, &mut rng)),
                _ => bench.store([Store {
                    page: code,
                    data: rng.bits() as u32,
                }]),
            }
        }
        bench.finish(100_000)?;
        let commands = pages().len() as u64;
        // Five queues, the end or not, and any label.
        assert_eq!((commands, bench.given), (54, [8 * 27, 8 * 27, 5 * 2 * 128]));
        Ok(())
    });
}

#[test]
fn wrong_word_counts() {
    case(this_test!(), |run| {
        let mut rng = run.rng("stores");
        for words in 1..8 {
            let mut cell = Cell::new(run, REGION, MemoryTiming::IDEAL)?;
            // Too few, then another page: the next command is whole. One too many: it is the first of the next.
            cell.store(&put(Owner::User, &mut rng)[..words]);
            cell.store(&command::command(1, 0x0001, 5, &mut rng));
            cell.store(&put(Owner::User, &mut rng));
            cell.store(&put(Owner::User, &mut rng)[..1]);
            cell.run(100)?;
            cell.finish(200)?;
            assert_eq!(cell.refused, [(Refused::Change, 0)]);
            assert_eq!(cell.given(), 16);
            assert_eq!(cell.model.open(Owner::User).1.len(), 1);
        }
        Ok(())
    });
}

/// 1000 PUTs at the bus's rate of a word in two cycles, and nobody takes them.
#[test]
fn c23_overflow_does_not_stop_the_processor() {
    case(this_test!(), |run| {
        // The user's half of it.
        let region = Region {
            limit: 2 * REGION.limit,
            ..REGION
        };
        let mut cell = Cell::new(run, region, SLOW)?;
        cell.pace = 2;
        cell.queues.take(Pacer::stopped);
        let mut rng = run.rng("stores");
        for _ in 0..1000 {
            cell.store(&put(Owner::User, &mut rng));
        }
        cell.store_all()?;
        cell.run(100)?;
        assert_eq!((cell.stored, cell.stalls), (8000, 0), "the processor never waits");
        // 63 or 64 are in the queue, the first word is on offer; the spill elements' form is the model's business.
        assert!(
            (7_930..=7_940).contains(&cell.queues.seen.held),
            "{:x?}",
            cell.queues.seen
        );
        assert!(
            !cell.queues.seen.full,
            "{} elements are outside the red zone",
            cell.queues.seen.held
        );
        cell.store(
            &[put(Owner::User, &mut rng), put(Owner::User, &mut rng)]
                .concat()
                .repeat(33),
        );
        cell.run(1_200)?;
        assert!(
            cell.queues.seen.full,
            "{} elements are in the red zone",
            cell.queues.seen.held
        );
        cell.queues.take(Pacer::steady);
        cell.finish(200_000)?;
        assert_eq!((cell.stalls, cell.given()), (0, 8 * 1066));
        Ok(())
    });
}

#[test]
fn c23_overflow_of_each_queue() {
    pass(this_test!(), |cases| {
        for queue in Queue::ALL {
            queues::overflow(&five_queues(), queue, cases);
        }
    });
}

/// 100 GETs arrive, and their replies are not taken; then the system software refills.
#[test]
fn c23_replies_refilled_by_software() {
    case(this_test!(), |run| {
        let plan = Plan {
            gaps: Gaps::None,
            timing: SLOW,
            region: REGION,
        };
        let mut bench = queues::Bench::new(run, &queues::queues::<Ap1000pQueuesSoftware>(Refill::Software), plan)?;
        bench.take(Pacer::stopped);
        for reply in 0..100 {
            let words: Vec<u32> = (0..8).map(|word| reply << 8 | word).collect();
            bench.write(Queue::GetReply, &words);
        }
        bench.run(4_000)?;
        assert!(
            bench.elements[Queue::GetReply as usize] >= 800 - 128 - 1,
            "{:?}",
            bench.elements
        );
        assert_eq!(bench.writers[Queue::GetReply as usize].len(), 0);
        bench.take(Pacer::steady);
        bench.finish(60_000)?;
        assert_eq!(bench.given.len(), 800);
        Ok(())
    });
}

/// Users have filled their queue and the region behind it: a system command is late by one message at most.
#[test]
fn c24_a_users_overflow_does_not_delay_the_system() {
    case(this_test!(), |run| {
        let mut took = Vec::new();
        for users in [0, 60, 400] {
            let mut cell = Cell::new(run, REGION, SLOW)?;
            let mut rng = run.rng("stores");
            cell.queues.take(Pacer::stopped);
            for _ in 0..users {
                cell.store(&put(Owner::User, &mut rng));
            }
            cell.pace = 2;
            cell.store_all()?;
            cell.run(100)?;
            assert_eq!((cell.stalls, cell.queues.seen.spilled != 0), (0, users > 8));
            // A word in four cycles goes to the network.
            let begun = cell.queues.cycles();
            cell.store(&put(Owner::System, &mut rng));
            while !cell.queues.given.iter().any(|given| given.queue == Queue::System) {
                let open = (cell.queues.cycles() - begun).is_multiple_of(4);
                cell.queues.take(if open { Pacer::steady } else { Pacer::stopped });
                cell.cycle()?;
                assert!(
                    cell.queues.cycles() < begun + 1_000,
                    "the system's command does not come"
                );
            }
            took.push(cell.queues.cycles() - begun);
            cell.queues.take(Pacer::steady);
            cell.finish(100_000)?;
        }
        assert!(took[1] <= took[0] + 4 * 16 && took[2] <= took[1], "{took:?}");
        Ok(())
    });
}

/// The context is the register's, whatever is stored.
#[test]
fn c25_a_context_cannot_be_forged() {
    case(this_test!(), |run| {
        for owner in Owner::ALL {
            let mut cell = Cell::new(run, REGION, MemoryTiming::IDEAL)?;
            let mut rng = run.rng("stores");
            for bit in 0..12 {
                let mut stores = put(owner, &mut rng);
                stores[1].data |= 1 << (COMMAND_LENGTH_CONTEXT_SHIFT + bit);
                cell.store(&stores);
                let mut stores = put(owner, &mut rng);
                stores[0].data |= 1 << (COMMAND_HEAD_KIND_SHIFT + bit);
                cell.store(&stores);
                cell.store(&put(owner, &mut rng));
            }
            cell.finish(1_000)?;
            assert_eq!(cell.refused.len(), 24);
            let given: Vec<Word> = cell.queues.given.iter().map(|given| given.word).collect();
            assert_eq!(given.len(), 12 * 8);
            for command in given.chunks(8) {
                assert_eq!(command[0].data >> COMMAND_HEAD_KIND_SHIFT & PAGE_KIND_MASK, KIND_PUT);
                assert_eq!(
                    command[1].data >> COMMAND_LENGTH_CONTEXT_SHIFT,
                    u32::from(SETUP.context)
                );
            }
        }
        Ok(())
    });
}

/// Every distance along each axis, in tori and ranges of many sizes: users reach the range, the system the torus.
#[test]
fn c25_cells_outside_the_range() {
    case(this_test!(), |run| {
        let mut bench = window(run)?;
        let mut rng = run.rng("stores");
        for (size, low, high) in [
            ([8, 4], [-1, -1], [1, 1]),
            ([1, 128], [0, -64], [0, 63]),
            ([16, 16], [0, 0], [0, 0]),
            ([5, 7], [2, -3], [4, -1]),
            ([32, 32], [-31, 31], [31, -31]),
        ] {
            bench.setup = Setup {
                size,
                low,
                high,
                ..SETUP
            };
            bench.cycle()?;
            for distance in 0..=255 {
                for head in [distance << 8, distance, distance << 8 | distance] {
                    for owner in Owner::ALL {
                        let mut stores = put(owner, &mut rng);
                        stores[0].data = head;
                        bench.store(stores);
                    }
                }
            }
            bench.finish(20_000)?;
        }
        Ok(())
    });
}

/// A cell of the torus is less than a turn away. A command may name it either way round, for the range too, and not by
/// a turn more.
#[test]
fn c25_a_cell_has_a_distance_each_way() {
    case(this_test!(), |run| {
        let along_x = |distance: i8| u32::from(distance as u8) << COMMAND_HEAD_DX_SHIFT;
        let along_y = |distance: i8| u32::from(distance as u8) << COMMAND_HEAD_DY_SHIFT;
        // 8 columns and 4 rows, of which a user has the next ones.
        for (owner, columns, rows) in [
            (Owner::User, vec![-7, -1, 0, 1, 7], vec![-3, -1, 0, 1, 3]),
            (Owner::System, (-7..=7).collect(), (-3..=3).collect()),
        ] {
            let heads =
                |distances: Vec<i8>, head: &dyn Fn(i8) -> u32| distances.into_iter().map(head).collect::<Vec<_>>();
            let mut cell = Cell::new(run, REGION, MemoryTiming::IDEAL)?;
            let mut rng = run.rng("stores");
            let mut commands = 0;
            for head in [
                heads((-128..=127).collect(), &along_x),
                heads((-128..=127).collect(), &along_y),
            ]
            .concat()
            {
                let mut stores = put(owner, &mut rng);
                stores[0].data = head;
                cell.store(&stores);
                commands += 1;
            }
            cell.finish(10_000)?;
            let given: Vec<Word> = cell.queues.given.iter().map(|given| given.word).collect();
            let head = |words: &[Word]| words[0].data & !COMMAND_HEAD_KIND_MASK;
            let reached: Vec<u32> = given.chunks(8).map(head).collect();
            assert_eq!(
                reached,
                [heads(columns, &along_x), heads(rows, &along_y)].concat(),
                "{owner:?}"
            );
            assert_eq!(cell.told.len(), commands - reached.len());
        }
        Ok(())
    });
}

/// An operating system saves a half-written command of each length, lets another user send, and restores the first.
#[test]
fn a_half_written_command_survives_a_switch_of_users() {
    case(this_test!(), |run| {
        for words in 1..8 {
            let mut bench = window(run)?;
            let mut rng = run.rng("stores");
            let first = put(Owner::User, &mut rng);
            bench.store(first[..words].iter().copied());
            bench.finish(100)?;
            let (page, saved) = bench.model.open(Owner::User);
            let saved: Vec<Store> = saved
                .iter()
                .enumerate()
                .map(|(i, &word)| {
                    let mask = [!COMMAND_HEAD_KIND_MASK, COMMAND_LENGTH_WORDS_MASK];
                    let data = word & mask.get(i).copied().unwrap_or(u32::MAX);
                    Store { page, data }
                })
                .collect();
            assert_eq!(saved, first[..words], "what is kept is what was stored");
            bench.forget(Owner::User);
            bench.check_open()?;
            bench.store(put(Owner::User, &mut rng));
            bench.finish(100)?;
            bench.store(saved);
            bench.store(first[words..].iter().copied());
            bench.finish(100)?;
            assert_eq!(bench.given[USER], 16);
        }
        Ok(())
    });
}
