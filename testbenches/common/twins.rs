//! A broken twin of a unit for each checker: it differs in one line, is caught by its own check, and passes all the others.

use testbenches::rtl::*;

use crate::bench::{Each, failures};
use crate::{arbiter, crossing, dma_read, dma_write, fifo, models, splitter, width};

/// The check of this name finds the twin broken, and says so in its own words.
fn caught(rule: &str, own: impl FnOnce(Each)) {
    let found = failures(own);
    assert!(!found.is_empty(), "{rule} does not catch its twin");
    for (params, what) in found {
        assert!(
            what.contains(&format!("{rule}:")),
            "{params}: caught by another check than {rule}: {what}"
        );
    }
}

/// The other checks find nothing.
fn passes(others: impl FnOnce(Each)) {
    let found = failures(others);
    assert!(found.is_empty(), "a check that should pass finds {found:?}");
}

#[test]
fn queues() {
    use models::Rule;
    type Queue = fn(&'static str, usize, u64, Option<Rule>, Each);
    let twins: [(Rule, usize, Queue); 2] = [
        (Rule::Order, 3, fifo::queue_gaps::<TwinFifoOrder>),
        (Rule::Level, 16, fifo::queue_gaps::<TwinFifoLevel>),
    ];
    for (rule, depth, check) in twins {
        caught(&format!("{rule:?}"), |each| {
            check("twins::queues", depth, 1, None, each)
        });
        passes(|each| check("twins::queues", depth, 1, Some(rule), each));
    }
    let set_gap = |dut: &TwinStreamGapShort, gap: u8| dut.gap_i.set(gap);
    caught("Latency", |each| fifo::gap_checks(set_gap, None, each));
    passes(|each| fifo::gap_checks(set_gap, Some(Rule::Latency), each));
}

/// A register that is not reset: found by a reset in mid-flight, and by a random start; by nothing else.
#[test]
fn reset() {
    let found = failures(|each| fifo::queue_resets::<TwinFifoReset>("twins::reset", 3, 1, each));
    assert!(
        found.iter().any(|(params, _)| params.contains("Zero")),
        "a reset in mid-flight does not catch its twin"
    );
    let found = failures(|each| fifo::queue_gaps::<TwinFifoReset>("twins::reset", 3, 1, None, each));
    assert!(!found.is_empty(), "a random start does not catch its twin");
    assert!(found.iter().all(|(params, _)| params.contains("Random")), "{found:?}");
}

#[test]
fn arbiters() {
    use arbiter::Rule;
    type Check = fn(Option<Rule>, Each);
    let twins: [(Rule, Check); 3] = [
        (Rule::Legal, arbiter::checks::<TwinArbiterLegal>),
        (Rule::Hold, arbiter::checks::<TwinArbiterHold>),
        (Rule::Fair, arbiter::checks::<TwinArbiterFair>),
    ];
    for (rule, check) in twins {
        caught(&format!("{rule:?}"), |each| check(None, each));
        passes(|each| check(Some(rule), each));
    }
}

#[test]
fn crossings() {
    passes(|each| crossing::traffic::<TwinAsyncFifoGray>(true, each));
    caught("Protocol", |each| {
        crossing::traffic::<TwinAsyncFifoGrayJitter>(true, each)
    });
    caught("Protocol", |each| {
        crossing::traffic::<TwinAsyncFifoWithdraws>(true, each)
    });
    passes(|each| crossing::traffic::<TwinAsyncFifoWithdraws>(false, each));
    caught("Reset", |each| crossing::resets::<TwinAsyncFifoReset>(each));
    passes(|each| crossing::traffic::<TwinAsyncFifoReset>(true, each));
}

#[test]
fn widths_and_parcels() {
    caught("Content", |each| width::up_content::<TwinStreamUpFlush, 2>(true, each));
    passes(|each| width::up_content::<TwinStreamUpFlush, 2>(false, each));
    passes(|each| width::up_rate::<TwinStreamUpFlush, 2>(each));
    caught("Rate", |each| width::down_rate::<TwinStreamDownBubble>(2, each));
    passes(|each| width::down_content::<TwinStreamDownBubble>(2, each));
    caught("Content", |each| splitter::content::<TwinSplitterFlags>(3, each));
    passes(|each| splitter::content::<TwinSplitterFlags>(0, each));
    passes(|each| splitter::rate::<TwinSplitterFlags>(each));
    caught("Rate", |each| splitter::rate::<TwinSplitterBubble>(each));
    passes(|each| splitter::content::<TwinSplitterBubble>(3, each));
}

#[test]
fn dma_reads() {
    caught("Bursts", |each| dma_read::content::<TwinDmaReadAlign>(&[], each));
    passes(|each| dma_read::content::<TwinDmaReadAlign>(&["Bursts"], each));
    caught("Content", |each| dma_read::content::<TwinDmaReadError>(&[], each));
    passes(|each| dma_read::content::<TwinDmaReadError>(&["Content"], each));
    passes(|each| dma_read::rate::<TwinDmaReadError>(each));
    caught("Rate", |each| dma_read::rate::<TwinDmaReadBubble>(each));
    passes(|each| dma_read::content::<TwinDmaReadBubble>(&[], each));
}

#[test]
fn dma_writes() {
    // A byte beyond the range may also be one that answers with a bus error.
    caught("Memory", |each| {
        dma_write::content::<TwinDmaWriteBeyond>(&["Code"], each)
    });
    passes(|each| dma_write::content::<TwinDmaWriteBeyond>(&["Memory", "Code"], each));
    caught("Code", |each| dma_write::content::<TwinDmaWriteCode>(&[], each));
    passes(|each| dma_write::content::<TwinDmaWriteCode>(&["Code"], each));
    caught("Code", |each| dma_write::content::<TwinDmaWriteForgets>(&[], each));
    passes(|each| dma_write::content::<TwinDmaWriteForgets>(&["Code"], each));
    caught("Rate", |each| dma_write::rate::<TwinDmaWriteBubble>(each));
    passes(|each| dma_write::content::<TwinDmaWriteBubble>(&[], each));
}
