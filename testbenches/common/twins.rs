//! Every rule of every bench has a broken twin: a unit with one line broken (`rtl/units.toml`), which its own rule finds and no other.

use std::fmt::Debug;

use testbenches::rtl::*;
use tsunagi::harness::seed::Seed;

use crate::bench::{Each, failures};
use crate::{
    arbiter, axi_master, axi_slave, crossing, dma_copy, dma_read, dma_write, fifo, mem, mem_clients, models, reset,
    splitter, width,
};

/// A twin: the rule that it breaks, the rules that are broken with it, and the checks of its bench without some rules.
type Twin<'a, R> = (R, &'a [R], &'a dyn Fn(&[R], Each));

/// Each rule has a twin. Without the rules that are broken with it, that rule is found, and without it, too, nothing is; but a rule that ends
/// the run is told all the same.
fn each_is_caught<R: Copy + Debug + PartialEq>(rules: &[R], twins: &[Twin<R>]) {
    for rule in rules {
        assert!(twins.iter().any(|(own, ..)| own == rule), "{rule:?} has no twin");
    }
    let mut wrong = Vec::new();
    for (own, with, checks) in twins {
        let both = [&[*own], *with].concat();
        let says = |what: &str, rule: &R| what.contains(&format!("{rule:?}:"));
        let found = Seed::of_twins().under(|| failures(|each| checks(with, each)));
        let rest = Seed::of_twins().under(|| failures(|each| checks(&both, each)));
        if !found.iter().any(|(_, what)| says(what, own)) {
            wrong.push(format!("{own:?} does not catch its twin: {found:?}"));
        }
        for (params, what) in found.into_iter().chain(rest) {
            if !both.iter().any(|rule| says(&what, rule)) {
                wrong.push(format!("{params}: {own:?} should say this, not: {what}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn queues_and_converters() {
    use models::Rule::*;
    let gap = |dut: &TwinStreamGapShort, gap: u8| dut.gap_i.set(gap);
    let withdraws = |dut: &TwinStreamGapWithdraws, gap: u8| dut.gap_i.set(gap);
    let test = "twins::queues_and_converters";
    // Not the resets where nothing else tells: a stale word may be the first after one.
    each_is_caught(
        models::Rule::ALL,
        &[
            (Order, &[], &|w, each| fifo::queue::<TwinFifoOrder>(test, 3, 1, w, each)),
            (Order, &[], &|w, each| fifo::queue::<TwinSkidOrder>(test, 2, 1, w, each)),
            (Level, &[], &|w, each| {
                fifo::queue::<TwinFifoLevel>(test, 16, 1, w, each)
            }),
            (Ready, &[], &|w, each| {
                fifo::queue::<TwinDelayReady>(test, 7, 5, w, each)
            }),
            // A word that is not offered does not come.
            (Latency, &[Hang], &|w, each| {
                fifo::queue::<TwinFifoBramLone>(test, 5, 2, w, each)
            }),
            (Latency, &[], &|w, each| {
                fifo::queue::<TwinDelayEarly>(test, 7, 5, w, each)
            }),
            (Latency, &[], &|w, each| fifo::gaps(gap, w, each)),
            // A word that is withdrawn is late, too.
            (Protocol, &[Latency], &|w, each| fifo::gaps(withdraws, w, each)),
            (Content, &[], &|w, each| {
                width::up::<TwinStreamUpFlush, 2>(w.is_empty(), &[], each)
            }),
            (Content, &[], &|w, each| {
                splitter::checks::<TwinSplitterFlags>(if w.is_empty() { 3 } else { 0 }, &[], each)
            }),
            (Rate, &[], &|w, each| width::down::<TwinStreamDownBubble>(2, w, each)),
            (Rate, &[], &|w, each| splitter::checks::<TwinSplitterBubble>(3, w, each)),
            (Hang, &[], &|w, each| width::up::<TwinStreamUpHang, 2>(true, w, each)),
        ],
    );
}

/// A register that is not reset: found by a reset in mid-flight, and by a random start; by nothing else.
#[test]
fn reset() {
    let found = failures(|each| fifo::queue_resets::<TwinFifoReset>("twins::reset", 3, 1, &[], each));
    assert!(
        found.iter().any(|(params, _)| params.contains("Zero")),
        "a reset in mid-flight does not catch its twin"
    );
    let found = failures(|each| fifo::queue_gaps::<TwinFifoReset>("twins::reset", 3, 1, &[], each));
    assert!(!found.is_empty(), "a random start does not catch its twin");
    assert!(found.iter().all(|(params, _)| params.contains("Random")), "{found:?}");
}

#[test]
#[should_panic(expected = "Path: an input reaches an output within the cycle")]
fn path() {
    failures(|each| fifo::queue_gaps::<TwinSkidPath>("twins::path", 2, 1, &[], each));
}

#[test]
fn arbiters() {
    use arbiter::{Rule::*, checks};
    each_is_caught(
        arbiter::Rule::ALL,
        &[
            (Legal, &[], &checks::<TwinArbiterLegal>),
            (Hold, &[], &checks::<TwinArbiterHold>),
            (Fair, &[], &checks::<TwinArbiterFair>),
            (Busy, &[], &checks::<TwinArbiterBusy>),
        ],
    );
}

#[test]
fn crossings() {
    use crossing::{Rule::*, checks, jittery, latency, rate, steady, traffic};
    each_is_caught(
        crossing::Rule::ALL,
        &[
            // A reset's check looks at the order, too.
            (Order, &[], &|w, each| {
                traffic::<TwinAsyncFifoOrder>(w, each);
                rate::<TwinAsyncFifoOrder>(w, each);
            }),
            // What is withdrawn is offered no more, or twice.
            (Protocol, &[Order, Latency], &|w, each| {
                traffic::<TwinAsyncFifoWithdraws>(w, each);
                latency::<TwinAsyncFifoWithdraws>(w, each);
            }),
            // The resets after power-up lose words too.
            (Reset, &[Order], &checks::<TwinAsyncFifoReset>),
            (Rate, &[], &checks::<TwinAsyncFifoHalf>),
            // A stage too few: with the values there are in a simulation nothing goes wrong, it is only too fast.
            (Latency, &[], &|w, each| {
                traffic::<TwinAsyncFifoStages>(w, each);
                latency::<TwinAsyncFifoStages>(w, each);
            }),
            (Stages, &[], &steady::<TwinCdcSyncStages>),
            (Jitter, &[], &jittery::<TwinCdcSyncSure>),
        ],
    );
}

/// No traffic shows what a pointer that changes in two bits at once would do between two real clocks: the unit itself says so.
#[test]
#[should_panic(expected = "async_fifo_side.sv")]
fn gray() {
    failures(|each| crossing::traffic::<TwinAsyncFifoGray>(&[], each));
}

#[test]
fn dma_reads() {
    use dma_read::{Rule::*, checks};
    each_is_caught(
        dma_read::Rule::ALL,
        &[
            (Content, &[], &checks::<TwinDmaReadError>),
            (Bursts, &[], &checks::<TwinDmaReadAlign>),
            (Room, &[], &checks::<TwinDmaReadRoom>),
            (Outstanding, &[], &checks::<TwinDmaReadOutstanding>),
            (Path, &[], &checks::<TwinDmaReadPath>),
            // In each of its FIFOs: the one that knows of room, too.
            (Protocol, &[Room, Rate], &checks::<TwinDmaReadWithdraws>),
            (Rate, &[], &checks::<TwinDmaReadBubble>),
            (Next, &[], &checks::<TwinDmaReadNext>),
            (Hang, &[], &checks::<TwinDmaReadHang>),
        ],
    );
}

#[test]
fn dma_writes() {
    use dma_write::{Rule::*, checks};
    each_is_caught(
        dma_write::Rule::ALL,
        &[
            // A byte beyond the range may also be one that answers with a bus error.
            (Memory, &[Code], &checks::<TwinDmaWriteBeyond>),
            (Code, &[], &checks::<TwinDmaWriteCode>),
            (Code, &[], &checks::<TwinDmaWriteForgets>),
            // What does not wait for a response does not count it, does not know of its bus error, and leaves it standing.
            (Early, &[Outstanding, Code, Hang], &checks::<TwinDmaWriteEarly>),
            (Bursts, &[], &checks::<TwinDmaWriteBursts>),
            (Outstanding, &[], &checks::<TwinDmaWriteOutstanding>),
            (Path, &[], &checks::<TwinDmaWritePath>),
            (Protocol, &[], &checks::<TwinDmaWriteWithdraws>),
            (Rate, &[], &checks::<TwinDmaWriteBubble>),
            (Hang, &[], &checks::<TwinDmaWriteHang>),
        ],
    );
}

#[test]
fn axi_masters() {
    use axi_master::{Rule::*, read_checks, write_checks};
    each_is_caught(
        axi_master::Rule::ALL,
        &[
            (Content, &[], &read_checks::<TwinAxiReadLast>),
            (Content, &[], &read_checks::<TwinAxiReadDecerr>),
            (Response, &[], &write_checks::<TwinAxiWriteForgets>),
            // A response too early is one too many.
            (Early, &[Response], &write_checks::<TwinAxiWriteEarly>),
            // A byte that is not enabled may also be one that answers with a bus error.
            (Memory, &[Response], &write_checks::<TwinAxiWriteStrobes>),
            // The wrong page has the wrong words.
            (Bursts, &[Content], &read_checks::<TwinAxiReadPage>),
            // The page that is reached is one without memory.
            (Bursts, &[Content], &read_checks::<TwinAxiReadCarry>),
            (Plain, &[], &read_checks::<TwinAxiReadCached>),
            (Plain, &[], &write_checks::<TwinAxiWriteLocks>),
            (Plain, &[], &write_checks::<TwinAxiWritePrivileged>),
            (Outstanding, &[], &read_checks::<TwinAxiReadOutstanding>),
            (Path, &[], &read_checks::<TwinAxiReadPath>),
            (Protocol, &[Content], &read_checks::<TwinAxiReadChanges>),
            (Rate, &[], &read_checks::<TwinAxiReadBubble>),
            // Data that wait for their address: for ever, where the slave waits for the data, and else for a cycle.
            (Hang, &[Rate], &write_checks::<TwinAxiWriteWaits>),
            // An address that is withdrawn is a burst that never comes.
            (Hold, &[Bursts, Content, Hang], &read_checks::<TwinAxiReadWithdraws>),
            (Legal, &[Bursts], &read_checks::<TwinAxiReadBoundary>),
            // What has no end waits for that of the next.
            (
                WriteLast,
                &[Hang, Memory, Response, Early, Rate],
                &write_checks::<TwinAxiWriteLast>,
            ),
            // Beats of half a word go to other places.
            (Lanes, &[Bursts, Memory, Response], &write_checks::<TwinAxiWriteLanes>),
            // An address that survives the reset is a burst that nobody asked for, and may be any.
            (
                Reset,
                &[Legal, Bursts, Content, Outstanding, Hang],
                &read_checks::<TwinAxiReadReset>,
            ),
        ],
    );
}

#[test]
fn axi_slaves() {
    use axi_slave::{Rule::*, checks};
    each_is_caught(
        axi_slave::Rule::ALL,
        &[
            (Request, &[], &checks::<TwinAxiSlaveWrap>),
            // What should have been refused is answered as the window likes.
            (Request, &[Content, Response], &checks::<TwinAxiSlaveExclusive>),
            // Of reads and of writes.
            (Content, &[Response], &checks::<TwinAxilSlaveError>),
            (Response, &[], &checks::<TwinAxiSlaveForgets>),
            (Path, &[], &checks::<TwinAxiSlavePath>),
            // In each of its FIFOs.
            (Protocol, &[Hold, Rate, Hang], &checks::<TwinAxiSlaveWithdraws>),
            (Rate, &[], &checks::<TwinAxiSlaveBubble>),
            (Turns, &[], &checks::<TwinAxiSlaveTurns>),
            (Hang, &[], &checks::<TwinAxiSlaveHolds>),
            (Hold, &[Content], &checks::<TwinAxiSlaveChanges>),
            // Answers beyond the one that is due have no room.
            (WriteEnd, &[Response, Rate, Turns, Hang], &checks::<TwinAxiSlaveEnd>),
            (ReadData, &[Content, ReadLast], &checks::<TwinAxiSlaveId>),
            (ReadLast, &[Content], &checks::<TwinAxiSlaveReadLast>),
            (Exclusive, &[Content], &checks::<TwinAxiSlaveExokay>),
            // What survives the reset is a request or an answer of before.
            (
                Reset,
                &[
                    Request, Content, Response, Protocol, Hold, WriteEnd, ReadData, ReadLast, Hang,
                ],
                &checks::<TwinAxiSlaveReset>,
            ),
        ],
    );
}

#[test]
fn memories() {
    use mem::{Rule::*, checks};
    each_is_caught(
        mem::Rule::ALL,
        &[
            (Content, &[], &checks::<TwinMemStrobe>),
            (Response, &[], &checks::<TwinMemForgets>),
            (Path, &[], &checks::<TwinMemPath>),
            // A word that is withdrawn is lost.
            (Protocol, &[], &checks::<TwinMemWithdraws>),
            (Rate, &[], &checks::<TwinMemBubble>),
            // The response that does not come is taken for that of the next write.
            (Hang, &[Response], &checks::<TwinMemHang>),
        ],
    );
}

#[test]
fn clients_of_a_memory() {
    use mem_clients::{Rule::*, checks};
    each_is_caught(
        mem_clients::Rule::ALL,
        &[
            (Answers, &[], &checks::<TwinMemReadMuxError>),
            (Answers, &[], &checks::<TwinMemReadWideLane>),
            // Whoever is not answered waits for ever; whoever should not be may see it vanish.
            (Answers, &[Protocol, Rest, Hang], &checks::<TwinMemWriteMuxWhose>),
            // A byte that is not the client's may also be one that answers with a bus error.
            (Memory, &[Answers], &checks::<TwinMemWriteMuxOthers>),
            (Memory, &[Answers], &checks::<TwinMemWriteWideStrobes>),
            // Other bursts have other words.
            (Bursts, &[Answers], &checks::<TwinMemReadMuxAddress>),
            (Bursts, &[Answers, Hang], &checks::<TwinMemReadWideBeats>),
            // The last one's words come after a pause.
            (Fair, &[Rate], &checks::<TwinMemReadMuxFair>),
            (Outstanding, &[], &checks::<TwinMemReadMuxOutstanding>),
            (Path, &[], &checks::<TwinMemReadMuxPath>),
            (Protocol, &[Answers], &checks::<TwinMemReadWideChanges>),
            (Rest, &[], &checks::<TwinMemReadMuxRests>),
            (Rest, &[], &checks::<TwinMemWriteMuxRests>),
            (Rest, &[], &checks::<TwinMemReadWideRests>),
            (Rate, &[], &checks::<TwinMemWriteWideBubble>),
            // Whoever is served once is served alone.
            (Hang, &[Rate], &checks::<TwinMemReadMuxHang>),
        ],
    );
}

#[test]
fn reset_bridges() {
    use reset::{Rule::*, checks};
    each_is_caught(
        reset::Rule::ALL,
        &[
            // What never went up is not there when it should go down.
            (Up, &[Down], &checks::<TwinResetSyncClocked>),
            (Down, &[], &checks::<TwinResetSyncEarly>),
        ],
    );
}

#[test]
fn dma_copies() {
    use dma_copy::{Rule::*, checks};
    each_is_caught(
        dma_copy::Rule::ALL,
        &[
            (Memory, &[], &checks::<TwinDmaCopyMemory>),
            (Code, &[], &checks::<TwinDmaCopyCode>),
            // Reported with the first of its packets, a command does not know of the others' errors.
            (Early, &[Code], &checks::<TwinDmaCopyEarly>),
            (Bursts, &[], &checks::<TwinDmaCopyBursts>),
            (Outstanding, &[], &checks::<TwinDmaCopyOutstanding>),
            (Path, &[], &checks::<TwinDmaCopyPath>),
            (Protocol, &[], &checks::<TwinDmaCopyWithdraws>),
            (Rate, &[], &checks::<TwinDmaCopyBubble>),
            (Latency, &[], &checks::<TwinDmaCopyLate>),
            (Hang, &[], &checks::<TwinDmaCopyHang>),
        ],
    );
}
