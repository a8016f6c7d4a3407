//! The firmware of the on-chip processor against its contract, on the processor's instruction-set model.

mod board;
mod cases;

use std::collections::BTreeSet;

use tsunagi::dimmnet1::firmware::contract::{Contract, Fill, Go};
use tsunagi::dimmnet1::firmware::*;
use tsunagi::dimmnet1::regs::*;
use tsunagi::harness::seed::Seed;
use tsunagi::r3000::asm::Source;

use board::Bench;

/// Stops of one run.
const STOPS: usize = 4000;

/// Random stops; the first difference from the contract. What was seen: causes with types, and how they ended.
fn follow(sources: &[Source], poll: bool, seed: Seed) -> Result<BTreeSet<String>, String> {
    let mut rng = seed.stream("stops");
    let tables = cases::tables(&mut rng);
    let mut bench = Bench::new(sources, &tables, poll, seed.stream("board"))?;
    let mut contract = Contract::new(&tables);
    let mut seen = BTreeSet::new();
    for number in 0..STOPS {
        cases::rewrite(&mut rng, &mut contract);
        bench.board.llcm.clone_from(&contract.llcm);
        let stop = cases::stop(&mut rng);
        let ends = [Some(0), Some(0), Some(0), Some(REASON__BUS)][rng.below(4) as usize];
        let ends = if rng.chance(1, 200) { None } else { ends };
        bench.board.ends = ends;
        let expected = contract.serve(&stop, |_| ends.unwrap_or(REASON__TIMEOUT));
        let linger = rng.below(20);
        let differs = |what: String| format!("stop {number}, {stop:x?}: {what}");
        let (outcome, _) = bench.serve(stop, linger).map_err(differs)?;
        if outcome != expected {
            return Err(differs(format!("expected {expected:x?}, got {outcome:x?}")));
        }
        if let Some(at) = (0..contract.llcm.len()).find(|&at| contract.llcm[at] != bench.board.llcm[at]) {
            return Err(differs(format!("byte {at:#x} of LLCM differs")));
        }
        let kind = if stop.cause == STOP__TYPE { stop.header[0] as u8 } else { 0 };
        let fill = match outcome.fill {
            None => "",
            Some(Fill::Region(_)) => " region",
            Some(Fill::Page(_)) => " page",
        };
        let go = match outcome.go {
            Go::Dma(_) => format!("DMA, {} answers", outcome.packets.len()),
            go => format!("{go:?}{fill}, packets {}", !outcome.packets.is_empty()),
        };
        seen.insert(format!("{:?} {} {}: {go}", stop.who, stop.cause, kind));
    }
    if bench.board.calls > 0 {
        return Err("the firmware called the host".into());
    }
    Ok(seen)
}

#[test]
fn every_stop_is_as_the_contract_says() {
    for poll in [false, true] {
        let seen = follow(&sources(), poll, Seed::get()).unwrap_or_else(|differs| panic!("poll {poll}: {differs}"));
        for line in &seen {
            println!("{line}");
        }
    }
}
