//! Every rule has a broken twin: a unit with one line broken (`rtl/*/units.toml`), which its own rule finds.

use std::fmt::Debug;

use testbenches::rtl::*;
use tsunagi::ap1000p::golden::Queue;
use tsunagi::ap1000p::golden::queues::{Region, Rule as Model};
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::{Case, Seed};
use tsunagi::harness::stream::Gaps;
use tsunagi::harness::wave::Probe;

use crate::queues::{Plan, REGION};
use crate::{SLOW, STARTS, command, queues};

/// What the checks of a window say.
fn of_command<U: command::Ports>() -> Vec<String> {
    let case = |what: String| Case::new("ap1000p", "twins::each_window_twin_is_caught", what);
    let probe = Probe::default();
    let mut found = Vec::new();
    for gaps in Gaps::ALL {
        let case = case(format!("{gaps:?}"));
        found.extend(command::follows::<U>(&case, STARTS[0], gaps, &probe).err());
    }
    found.extend(command::broadcasts::<U>(&case("broadcasts".into()), &probe).err());
    found.extend(command::switch::<U>(&case("switch".into()), &probe).err());
    found.extend(command::rate::<U>(&case("rate".into()), &probe).err());
    found
}

/// What the checks of the queues say.
fn of_queues<U: queues::Ports>() -> Vec<String> {
    let case = |what: String| Case::new("ap1000p", "twins::each_queues_twin_is_caught", what);
    let probe = Probe::default();
    let mut found = Vec::new();
    for region in [REGION, Region { base: 0, limit: 0 }] {
        for (gaps, timing) in [
            (Gaps::None, MemoryTiming::IDEAL),
            (Gaps::Both, SLOW),
            (Gaps::Sink, SLOW),
        ] {
            let plan = Plan { gaps, timing, region };
            let case = case(format!("{plan:?}"));
            found.extend(queues::follows::<U>(&case, STARTS[0], plan, 250, &probe).err());
        }
    }
    found.extend(queues::rate::<U>(&case("rate".into()), &probe).err());
    found.extend(queues::overflow::<U>(&case("overflow".into()), Queue::User, &probe).err());
    found.extend(queues::wakes::<U>(&case("wakes".into()), &probe).err());
    found.extend(queues::sizes::<U>(&case("sizes".into()), &probe).err());
    found.extend(queues::classes::<U>(&case("classes".into()), &probe).err());
    found.extend(queues::behind::<U>(&case("behind".into()), &probe).err());
    found.extend(queues::region_full::<U>(&case("full".into()), &probe).err());
    found.extend(queues::memory_errors::<U>(&case("errors".into()), &probe).err());
    found.extend(queues::refused_again::<U>(&case("refused".into()), &probe).err());
    found.extend(queues::lost_runs::<U>(&case("runs".into()), &probe).err());
    found.extend(queues::too_long::<U>(&case("long".into()), &probe).err());
    found.extend(queues::blocked::<U>(&case("block".into()), &probe).err());
    found.extend(queues::region_gone::<U>(&case("gone".into()), &probe).err());
    found
}

/// A twin: the rule that finds it, those that may as well, and the checks of its bench.
type Twin<'a> = (&'a str, &'a [&'a str], fn() -> Vec<String>);

/// Each rule has a twin; its own rule is among what is found, and nothing is that is not one of those that go `with` it.
fn each_is_caught(rules: &[String], twins: &[Twin]) {
    for rule in rules {
        assert!(twins.iter().any(|(own, ..)| own == rule), "{rule} has no twin");
    }
    let mut wrong = Vec::new();
    for (i, (own, with, checks)) in twins.iter().enumerate() {
        let found = Seed::of_twins().under(checks);
        let says = |rule: &str, what: &str| what.starts_with(&format!("{rule}:"));
        if !found.iter().any(|what| says(own, what)) {
            wrong.push(format!("twin {i}: no {own}: {found:#?}"));
        }
        for what in found {
            if !says(own, &what) && !with.iter().any(|rule| says(rule, &what)) {
                wrong.push(format!("twin {i}: not {own}: {what}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn names<R: Debug>(rules: &[R]) -> Vec<String> {
    rules.iter().map(|rule| format!("{rule:?}")).collect()
}

#[test]
fn the_units_pass_what_their_twins_do_not() {
    assert_eq!(of_command::<Ap1000pCommand>(), [""; 0]);
    assert_eq!(of_queues::<Ap1000pQueues>(), [""; 0]);
}

#[test]
fn each_window_twin_is_caught() {
    each_is_caught(
        &names(&command::Rule::ALL),
        &[
            // The kind without address spaces and class.
            ("Words", &[], of_command::<TwinCommandKind>),
            // The context is what was stored.
            ("Words", &[], of_command::<TwinCommandContext>),
            // A refused command is passed on.
            ("Words", &[], of_command::<TwinCommandKeeps>),
            // A cell only by the distance that was given, not by the way round.
            ("Refusal", &["Words", "Hang"], of_command::<TwinCommandRange>),
            // Broadcasts beyond the range.
            ("Words", &["Refusal", "Hang"], of_command::<TwinCommandBroadcast>),
            // A bit without a meaning has none.
            ("Refusal", &["Words", "Hang"], of_command::<TwinCommandPage>),
            // A command of words of two pages.
            ("Refusal", &["Words", "Hang"], of_command::<TwinCommandChange>),
            // Of nothing refused, any page and cause.
            ("Refusal", &[], of_command::<TwinCommandShown>),
            // Counted late.
            ("Refusal", &[], of_command::<TwinCommandCount>),
            // The user's words shown as the system's.
            ("Open", &[], of_command::<TwinCommandClass>),
            // A word that waits for room is not shown.
            ("Open", &[], of_command::<TwinCommandUnseen>),
            // It is the next user's.
            ("Open", &["Words", "Refusal", "Hang"], of_command::<TwinCommandLeak>),
            ("Protocol", &["Rate", "Latency"], of_command::<TwinCommandWithdraws>),
            ("Path", &["Words", "Refusal"], of_command::<TwinCommandPath>),
            // One command inside instead of two.
            ("Rate", &["Hang"], of_command::<TwinCommandBubble>),
            ("Latency", &[], of_command::<TwinCommandLate>),
            // At rest with a direct word on show.
            (
                "Rest",
                &["Words", "Refusal", "Open", "Hang", "Rate", "Latency"],
                of_command::<TwinCommandDozes>,
            ),
            // Never at rest.
            ("Hang", &[], of_command::<TwinCommandStuck>),
        ],
    );
}

#[test]
fn each_queues_twin_is_caught() {
    let rules = [
        Model::Order,
        Model::Whole,
        Model::Early,
        Model::Choice,
        Model::Element,
        Model::Lost,
        Model::Behind,
        Model::Share,
    ];
    each_is_caught(
        &[names(&rules), names(&queues::Rule::ALL)].concat(),
        &[
            // Later words of a queue go past those that are spilled.
            (
                "Order",
                &["Hang", "Element", "Reported", "Lost"],
                of_queues::<TwinQueuesOrder>,
            ),
            // Another queue's turn after each word.
            (
                "Whole",
                &["Hang", "Rate", "Choice", "Order", "Early", "Reported", "Waits"],
                of_queues::<TwinQueuesWhole>,
            ),
            // A message is there with its first word.
            (
                "Early",
                &["Hang", "Order", "Choice", "Rate", "Latency", "Reported", "Full"],
                of_queues::<TwinQueuesEarly>,
            ),
            // Users before the system.
            ("Choice", &[], of_queues::<TwinQueuesChoice>),
            // No cap.
            ("Choice", &[], of_queues::<TwinQueuesAge>),
            // No end bit in an element.
            ("Element", &[], of_queues::<TwinQueuesElement>),
            // The same lap for ever.
            ("Element", &[], of_queues::<TwinQueuesLap>),
            // An element of an earlier lap for one of this.
            (
                "Lost",
                &["Order", "Early", "Reported", "Hang"],
                of_queues::<TwinQueuesLost>,
            ),
            // A message with a gap.
            (
                "Lost",
                &["Order", "Early", "Reported", "Hang"],
                of_queues::<TwinQueuesGap>,
            ),
            // What was there before for what the memory refused.
            (
                "Lost",
                &["Order", "Early", "Reported", "Hang"],
                of_queues::<TwinQueuesOld>,
            ),
            // A word of another message.
            (
                "Lost",
                &["Order", "Early", "Reported", "Hang"],
                of_queues::<TwinQueuesNumber>,
            ),
            // A word of another message of the same number.
            (
                "Lost",
                &["Order", "Early", "Reported", "Hang"],
                of_queues::<TwinQueuesDoubt>,
            ),
            (
                "Lost",
                &["Order", "Early", "Reported", "Hang"],
                of_queues::<TwinQueuesForget>,
            ),
            // Replies are spilled whatever is.
            ("Behind", &["Waits", "Hang"], of_queues::<TwinQueuesBehind>),
            // The user has all of the region.
            ("Share", &["Waits", "Reported"], of_queues::<TwinQueuesShare>),
            (
                "Protocol",
                &["Hang", "Order", "Whole", "Early", "Choice", "Rate", "Reported"],
                of_queues::<TwinQueuesWithdraws>,
            ),
            ("Path", &[], of_queues::<TwinQueuesPath>),
            // A word every other cycle.
            ("Rate", &["Choice"], of_queues::<TwinQueuesBubble>),
            // A message is seen a cycle late.
            ("Latency", &["Rate", "Choice"], of_queues::<TwinQueuesLate>),
            // A full queue stops its writer.
            ("Waits", &["Reported", "Blocks"], of_queues::<TwinQueuesWaits>),
            // One full queue stops all writers.
            (
                "Waits",
                &["Rate", "Reported", "Blocks", "Hang"],
                of_queues::<TwinQueuesClasses>,
            ),
            // Two words are left free.
            ("Full", &[], of_queues::<TwinQueuesSmall>),
            // There is no block mode.
            ("Blocks", &[], of_queues::<TwinQueuesBlocks>),
            // A word more than there is a region for.
            ("Blocks", &[], of_queues::<TwinQueuesGone>),
            // The red zone is 4 KB.
            ("Reported", &[], of_queues::<TwinQueuesReported>),
            // Software waits for the end of a message that waits for room.
            ("Hang", &[], || {
                let case = Case::new("ap1000p", "twins::each_queues_twin_is_caught", "full, software");
                queues::region_full::<TwinQueuesStable>(&case, &Probe::default())
                    .err()
                    .into_iter()
                    .collect()
            }),
            // Stable, with a direct word on its way.
            ("Reported", &[], || {
                let case = Case::new("ap1000p", "twins::each_queues_twin_is_caught", "direct, software");
                queues::region_full::<TwinQueuesDirect>(&case, &Probe::default())
                    .err()
                    .into_iter()
                    .collect()
            }),
            // What is stored is not fetched.
            ("Hang", &["Reported"], of_queues::<TwinQueuesHang>),
            // At rest with words in the region.
            (
                "Order",
                &[
                    "Element", "Choice", "Early", "Whole", "Hang", "Reported", "Waits", "Blocks", "Full", "Protocol",
                    "Rest",
                ],
                of_queues::<TwinQueuesAsleep>,
            ),
            // At rest with a word on show.
            (
                "Rest",
                &["Order", "Early", "Choice", "Rate", "Reported"],
                of_queues::<TwinQueuesKeeps>,
            ),
            // At rest with a direct word inside.
            ("Rest", &["Hang"], || {
                let case = Case::new("ap1000p", "twins::each_queues_twin_is_caught", "asleep, software");
                queues::wakes::<TwinQueuesDozes>(&case, &Probe::default())
                    .err()
                    .into_iter()
                    .collect()
            }),
        ],
    );
}
