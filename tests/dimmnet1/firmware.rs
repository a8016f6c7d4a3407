//! The firmware of the on-chip processor against its contract, on the processor's instruction-set model.

mod board;
mod cases;
mod twins;

use std::collections::BTreeSet;

use tsunagi::dimmnet1::firmware::contract::{Contract, Engine, Fill, Go, Outcome, Stop};
use tsunagi::dimmnet1::firmware::*;
use tsunagi::dimmnet1::regs::*;
use tsunagi::harness::seed::Seed;
use tsunagi::r3000::asm::Source;

use board::Bench;

/// Stops of one run.
const STOPS: usize = 8000;

/// What became of a stop, in a word or two.
fn told(stop: &Stop, outcome: &Outcome) -> String {
    let what = match (stop.who, stop.cause, stop.header[0] as u8) {
        (Engine::Rdma, ..) => "rdma".to_owned(),
        (_, STOP_TYPE, kind @ 16..=20) => format!("type {kind}"),
        (_, STOP_TYPE, _) => "other type".to_owned(),
        _ => "miss".to_owned(),
    };
    let how = match (outcome.go, outcome.fill) {
        (Go::Continue, Some(Fill::Region(_))) => "region".to_owned(),
        (Go::Continue, Some(Fill::Page(_))) => "page".to_owned(),
        (Go::Continue, None) => "continue".to_owned(),
        (Go::Part(_), _) => "part".to_owned(),
        (Go::Nack(reason), _) => format!("refused {reason}"),
        _ => format!("{} packets", outcome.packets.len().min(2)),
    };
    format!("{what}: {how}")
}

/// Random stops, each as the contract says. Gives what there was.
fn follow(sources: &[Source], poll: bool, seed: Seed) -> Result<BTreeSet<String>, String> {
    let mut rng = seed.stream("stops");
    let tables = cases::tables(&mut rng);
    let mut bench = Bench::new(sources, &tables, poll, seed.stream("board"))?;
    let mut contract = Contract::new(&tables);
    let mut seen = BTreeSet::new();
    let mut parted = None;
    for number in 0..STOPS {
        cases::rewrite(&mut rng, &mut contract);
        bench.board.llcm.clone_from(&contract.llcm);
        let mut stop = cases::stop(&mut rng);
        // A packet in parts stops again, perhaps behind a miss.
        if stop.cause == STOP_TYPE
            && let Some(more) = parted.take().filter(|_| rng.chance(7, 8))
        {
            stop = more;
        }
        let ends = [Some(0), Some(0), Some(0), Some(REASON_BUS)][rng.below(4) as usize];
        bench.board.ends = if rng.chance(1, 200) { None } else { ends };
        let reason = bench.board.ends.unwrap_or(REASON_TIMEOUT);
        let expected = contract.serve(&stop, |_| reason);
        let differs = |what: String| format!("stop {number}, {stop:x?}: {what}");
        let (outcomes, _) = bench.serve(&[stop], rng.below(20)).map_err(differs)?;
        if outcomes != [expected.clone()] {
            return Err(differs(format!("expected {expected:x?}, got {outcomes:x?}")));
        }
        if let Some(at) = (0..contract.llcm.len()).find(|&at| contract.llcm[at] != bench.board.llcm[at]) {
            return Err(differs(format!("byte {at:#x} of LLCM differs")));
        }
        if let (Go::Part(_), Some(header)) = (expected.go, expected.header) {
            parted = Some(Stop {
                more: true,
                header,
                ..stop
            });
        }
        seen.insert(told(&stop, &expected));
    }
    if !bench.board.calls.is_empty() {
        return Err("the firmware called the host".into());
    }
    Ok(seen)
}

/// What [`follow`] must have met.
const MET: [&str; 31] = [
    "miss: continue",
    "miss: page",
    "miss: refused 2",
    "miss: refused 3",
    "miss: region",
    "other type: refused 10",
    "rdma: page",
    "rdma: refused 2",
    "rdma: refused 3",
    "rdma: region",
    "type 16: continue",
    "type 16: refused 2",
    "type 16: refused 3",
    "type 17: continue",
    "type 17: refused 2",
    "type 17: refused 3",
    "type 17: refused 6",
    "type 18: 0 packets",
    "type 18: refused 2",
    "type 18: refused 3",
    "type 19: 0 packets",
    "type 19: 1 packets",
    "type 19: refused 1",
    "type 19: refused 2",
    "type 19: refused 3",
    "type 19: refused 4",
    "type 19: refused 6",
    "type 20: part",
    "type 20: refused 10",
    "type 20: refused 2",
    "type 20: refused 3",
];

#[test]
fn every_stop_ends_as_the_contract_says() {
    for poll in [false, true] {
        let seen = follow(&sources(), poll, Seed::get()).unwrap_or_else(|differs| panic!("poll {poll}: {differs}"));
        let missing: Vec<&&str> = MET.iter().filter(|met| !seen.contains(**met)).collect();
        assert!(missing.is_empty(), "the random stops lack {missing:?}");
        assert!(
            seen.iter()
                .any(|met| met.starts_with("type 18: 1") || met.starts_with("type 18: 2"))
        );
    }
}

/// A page of memory at a region of one stamp, and LLCM at two.
fn small() -> Tables {
    let region = |region, base, bytes| Region {
        pgid: 7,
        region,
        base,
        bytes,
    };
    let llcm = RVA_BASE_LLCM_MASK | RVA_BASE_WRITE_MASK;
    Tables {
        regions: vec![
            region(1, llcm, 512),
            region(2, RVA_BASE_WRITE_MASK | 0x100, 16 << 12),
            region(0xff01, llcm, 512),
        ],
        pages: (0..16)
            .map(|page| Page {
                pgid: 7,
                page: 0x100 + page,
                frame: 0x800 + page,
            })
            .collect(),
        barriers: vec![Barrier {
            number: 3,
            pgid: 7,
            arrivals: 2,
            packets: vec![[1, 2, 3, 4]],
        }],
    }
}

/// A packet of 464 bytes with ACK_REQ, at which the receiver stops.
fn packet(kind: u32, flags: u64, address: u64, cause: u32, key: u64) -> Stop {
    let w0 = u64::from(kind) | HDR_W0_ACK_REQ_MASK | flags | 464 << HDR_W0_LENGTH_SHIFT;
    let header = [w0, 7, address, 0, 464 * 4, 0];
    Stop {
        who: Engine::Receiver,
        cause,
        key,
        more: false,
        header,
    }
}

const REGION_KEY: u64 = 2 << RVA_KEY_REGION_SHIFT | 7;
const PAGE_KEY: u64 = 0x100 | 7 << PA_KEY_PGID_SHIFT;

/// Between the two misses of a packet no other fill takes its places in the TLBs.
fn packet_comes_before_rdma(sources: &[Source]) -> Result<(), String> {
    let mut bench = Bench::new(sources, &small(), false, Seed(1).stream("board"))?;
    let first = packet(TYPE_PUSH, 0, 2 << 48, STOP_RVATLB, REGION_KEY);
    let rdma = Stop {
        who: Engine::Rdma,
        ..first
    };
    // One look is at the first stop.
    bench.board.later = Some((
        3,
        Stop {
            cause: STOP_PATLB,
            key: PAGE_KEY,
            ..first
        },
    ));
    let (outcomes, _) = bench.serve(&[first, rdma], 0)?;
    let kind = |outcome: &Outcome| match outcome.fill {
        Some(Fill::Region(_)) => "region",
        Some(Fill::Page(_)) => "page",
        None => "none",
    };
    let fills: Vec<&str> = outcomes.iter().map(kind).collect();
    if fills == ["region", "page", "region"] {
        Ok(())
    } else {
        Err(format!("filled {fills:?}"))
    }
}

/// A routine that fails refuses its packet, calls the host, and the firmware lives on.
fn failure_is_told(sources: &[Source]) -> Result<(), String> {
    let pointer = packet(TYPE_INDIRECT, 0, 1 << 48, STOP_TYPE, 0);
    let rdma = Stop {
        who: Engine::Rdma,
        ..packet(TYPE_PUSH, 0, 0, STOP_RVATLB, REGION_KEY)
    };
    for (stop, poll) in [(pointer, false), (rdma, false), (pointer, true), (rdma, true)] {
        for loads in 1..3 {
            let mut bench = Bench::new(sources, &small(), poll, Seed(1).stream("board"))?;
            bench.board.loads = Some(loads);
            let (failed, _) = bench.serve(&[stop], 0)?;
            let (good, _) = bench.serve(&[stop], 0)?;
            let expected = [Go::Nack(REASON_FIRMWARE), Go::Continue];
            let go = [failed[0].go, good[0].go];
            if go != expected || bench.board.calls.len() != 1 {
                return Err(format!("{go:?}, and {} calls of the host", bench.board.calls.len()));
            }
        }
    }
    Ok(())
}

/// A pointer that the host posts while the firmware is at the cell is used for this packet, or for the next.
fn posts_are_kept(sources: &[Source]) -> Result<(), String> {
    let at = 128;
    let stop = packet(TYPE_MESSAGE, 0, 1 << 48 | at as u64, STOP_TYPE, 0);
    let [system, first, second] = [1_u64 << 32 | 0x1000, 5 << 48 | 0x150, 6 << 48 | 0x260];
    for (pointer, accesses) in [system, first]
        .into_iter()
        .flat_map(|pointer| (0..12).map(move |n| (pointer, n)))
    {
        let mut bench = Bench::new(sources, &small(), false, Seed(1).stream("board"))?;
        let mut before = Contract::new(&small());
        let words = [pointer, 0x8000 << 32 | 0x1000, system >> 32];
        words
            .iter()
            .zip((at..).step_by(8))
            .for_each(|(word, at)| before.write(at, *word));
        bench.board.llcm.clone_from(&before.llcm);
        bench.board.post = Some((accesses, at, second));
        let mut after = before.clone();
        let mut allowed = vec![(after.serve(&stop, |_| 0), after)];
        allowed[0].1.write(at, second);
        if pointer == system {
            before.write(at, second);
            allowed.push((before.serve(&stop, |_| 0), before));
        }
        let (outcomes, _) = bench.serve(&[stop], 0)?;
        while bench.board.post.is_some() {
            bench.board.host();
        }
        let is = |(outcome, contract): &(Outcome, Contract)| {
            outcomes == [outcome.clone()] && contract.llcm == bench.board.llcm
        };
        if !allowed.iter().any(is) {
            return Err(format!("posted behind {accesses} accesses: {outcomes:x?}"));
        }
    }
    Ok(())
}

#[test]
fn posts_of_the_host_are_kept() {
    posts_are_kept(&sources()).unwrap();
}

#[test]
fn packets_come_before_rdma() {
    packet_comes_before_rdma(&sources()).unwrap();
}

#[test]
fn failures_are_told() {
    failure_is_told(&sources()).unwrap();
}

/// The sources with one line of one file replaced. Blanks in front do not count.
fn twin(file: &str, line: &str, instead: &str) -> Vec<Source> {
    let mut sources = sources();
    let name = format!("src/dimmnet1/firmware/{file}");
    let source = sources
        .iter_mut()
        .find(|source| source.name == name)
        .expect("the file is a source");
    let is = |of: &&str| of.trim() == line;
    assert_eq!(
        source.text.lines().filter(is).count(),
        1,
        "{file} has one line `{line}`"
    );
    let lines = source
        .text
        .lines()
        .map(|of| if of.trim() == line { instead } else { of });
    source.text = lines.map(|line| format!("{line}\n")).collect();
    sources
}

#[test]
fn each_broken_twin_is_caught() {
    let mut missed = Vec::new();
    for &(file, line, instead) in twins::TWINS {
        let sources = twin(file, line, instead);
        image_of(&sources, &Tables::default()).unwrap_or_else(|error| panic!("{file}, `{line}`: {error}"));
        let caught = follow(&sources, false, Seed::of_twins())
            .map(|_| ())
            .and_then(|()| packet_comes_before_rdma(&sources))
            .and_then(|()| posts_are_kept(&sources))
            .and_then(|()| failure_is_told(&sources));
        if caught.is_ok() {
            missed.push((file, line));
        }
    }
    assert!(missed.is_empty(), "not caught: {missed:#?}");
}

/// Cycles of each routine.
fn cycles(poll: bool) -> Vec<(&'static str, board::Cycles)> {
    let page = Page {
        pgid: 7,
        page: INDIRECT_FROM >> 4 | 0x40,
        frame: LLCM_PAGE,
    };
    let mut tables = small();
    tables.pages.push(page);
    let key = u64::from(page.page) | 7 << PA_KEY_PGID_SHIFT;
    let soft = |flags| packet(TYPE_SOFT, flags, 1 << 48 | 64, STOP_TYPE, 0);
    let message = packet(TYPE_MESSAGE, 0, 1 << 48 | 128, STOP_TYPE, 0);
    let barrier = packet(TYPE_BARRIER, 0, 3 * 8, STOP_TYPE, 0);
    let chain = packet(TYPE_CHAIN, 0, 1 << 48 | 192, STOP_TYPE, 0);
    let stops = [
        ("RVATLB miss", packet(TYPE_PUSH, 0, 2 << 48, STOP_RVATLB, REGION_KEY)),
        ("PATLB miss", packet(TYPE_PUSH, 0, 2 << 48, STOP_PATLB, PAGE_KEY)),
        (
            "RVATLB miss-continue",
            packet(TYPE_PUSH, 0, 0xff01 << 48, STOP_RVATLB, 0xff01_0007),
        ),
        ("PATLB miss-continue", packet(TYPE_PUSH, 0, 5 << 48, STOP_PATLB, key)),
        ("INDIRECT", packet(TYPE_INDIRECT, 0, 1 << 48, STOP_TYPE, 0)),
        ("MESSAGE to a posted area", message),
        ("MESSAGE to the system buffer", message),
        ("SOFT", soft(0)),
        ("SOFT with F_SEQ", soft(HDR_W0_F_SEQ_MASK)),
        ("CHAIN, the first block of a packet", chain),
        ("CHAIN, the next block", Stop { more: true, ..chain }),
        (
            "CHAIN, the first block of the next command",
            Stop { more: true, ..chain },
        ),
        ("BARRIER, an arrival", barrier),
        ("BARRIER, the last arrival, one packet", barrier),
    ];
    let mut bench = Bench::new(&sources(), &tables, poll, Seed(1).stream("board")).unwrap();
    let mut contract = Contract::new(&tables);
    let words = [
        (0, 2 << 48),
        (64, 2 << 48),
        (72, 1 << 16),
        (128, 2 << 48),
        (136, 1 << 44),
        (144, 2 << 16 | 1),
        (192, 2 << 48),
        (200, 1 << CHAIN_SHAPE_KIND_SHIFT | 2 << CHAIN_SHAPE_COUNT_SHIFT | 64),
        (208, 192),
    ];
    words.iter().for_each(|&(at, word)| contract.write(at, word));
    bench.board.llcm.clone_from(&contract.llcm);
    let mut serve = |(name, stop)| {
        bench.board.looks = Some(0);
        let (outcomes, cycles) = bench.serve(&[stop], 0).unwrap();
        assert_eq!(outcomes, [contract.serve(&stop, |_| 0)], "{name}");
        (name, cycles)
    };
    stops.into_iter().map(&mut serve).collect()
}

#[test]
fn cycles_are_as_the_page_says() {
    let page = include_str!("../../docs/machines/dimmnet1-firmware.md");
    let rows: Vec<String> = cycles(false)
        .into_iter()
        .zip(cycles(true))
        .map(|((name, line), (_, poll))| {
            format!("| {name} | {} | {} | {} | {} |", line.go, line.rest, poll.go, poll.rest)
        })
        .collect();
    let missing: Vec<&String> = rows
        .iter()
        .filter(|row| !page.lines().any(|line| line == **row))
        .collect();
    assert!(missing.is_empty(), "the page must say:\n{}", rows.join("\n"));
}

#[test]
fn the_assembler_names_file_and_line() {
    let broken = twin(
        "miss.s",
        "or   $a1, $a1, $gp                      # VALID",
        "or   $a1, $a1, $pg",
    );
    let text = &broken[1].text;
    let line = text.lines().position(|line| line.contains("$pg")).unwrap() + 1;
    let error = image_of(&broken, &Tables::default()).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("src/dimmnet1/firmware/miss.s:{line}: ")),
        "{error}"
    );
    let mut large = sources();
    large[0].text += "        .space 4096";
    let error = image_of(&large, &Tables::default()).unwrap_err().to_string();
    assert!(error.starts_with("the firmware ends at 0x1"), "{error}");
}

#[test]
fn tables_that_cannot_be_are_refused() {
    let refused = |change: &dyn Fn(&mut Tables)| {
        let mut tables = small();
        change(&mut tables);
        image(&tables).unwrap_err().to_string()
    };
    let twice = refused(&|tables| tables.regions.push(tables.regions[0]));
    assert_eq!(twice, "region 0x1 of stamp 0x7 stands twice in the table");
    let twice = refused(&|tables| tables.pages.push(tables.pages[1]));
    assert_eq!(
        twice,
        "page 0x101 of stamp 0x7 stands twice in the table, or has more than 28 bits"
    );
    let crowd = refused(&|tables| {
        let region = tables.regions[0];
        tables.regions.extend((1..40).map(|n| Region {
            pgid: 7 + 128 * n,
            ..region
        }));
    });
    assert_eq!(
        crowd,
        "region 0x1 of stamp 0x787 finds its 16 places taken: choose another number"
    );
    let crowd = refused(&|tables| {
        let page = tables.pages[0];
        tables.pages.extend((1..40).map(|n| Page {
            page: page.page + 256 * n,
            ..page
        }));
    });
    assert!(
        crowd.ends_with("of stamp 0x7 finds its 16 places taken: choose another page"),
        "{crowd}"
    );
    for (number, arrivals) in [(64, 1), (u32::MAX, 1), (3, 1), (4, 0)] {
        let barrier = Barrier {
            number,
            arrivals,
            ..small().barriers[0].clone()
        };
        let told = refused(&|tables| tables.barriers.push(barrier.clone()));
        assert!(told.starts_with(&format!("barrier {number}: ")), "{told}");
    }
    let packets = refused(&|tables| tables.barriers[0].packets = vec![[0; 4]; 65]);
    assert_eq!(packets, "the barriers have 65 packets: there is room for 64");
}
