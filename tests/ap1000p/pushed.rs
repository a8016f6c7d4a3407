//! The whole machine at the ends of its parameters: every kind of transfer at once arrives, and what the experiments
//! check holds, or its row says where it stops.

use tsunagi::ap1000p::Ap1000p;
use tsunagi::ap1000p::host::{Along, Ap1000pSim, BootError, Cell, Combine, RingSize, Shared, Transfer};
use tsunagi::ap1000p::model::ModelMachine;
use tsunagi::ap1000p::params::{Config, PARAMS};
use tsunagi::repro::row::{BackendKind, Kind, Origin, Row};
use tsunagi::repro::{Request, lab, pool};
use tsunagi::{Addr, NodeId, Picos};

const BOUND: Picos = Picos::from_ns(100_000_000_000);

/// What each cell has in memory, and where others write to it.
const OWN: Addr = Addr(0x1000);
const RING: Addr = Addr(0x2_0000);
const PUT: Addr = Addr(0x4_0000);
const GOT: Addr = Addr(0x4_4000);
const ALL: Addr = Addr(0x4_8000);
const STORED: Addr = Addr(0x4_c000);
const BITS: Addr = Addr(0x4_c100);
const FLAGS: u32 = 0x4_d000;
const WORDS: u32 = 300;
const SHORT: u32 = 8;

fn flag(number: u32) -> Option<Addr> {
    Some(Addr(FLAGS + 4 * number))
}

fn words(cell: u16, count: u32) -> Vec<u32> {
    (0..count)
        .map(|n| n.wrapping_mul(0x9e37_79b1) ^ u32::from(cell) << 20)
        .collect()
}

/// The machine with each parameter at either end of its range.
fn ends(of: &Config) -> impl Iterator<Item = (&'static str, String, Config)> + '_ {
    let values = PARAMS.iter().flat_map(|p| [(p.name, p.range.0), (p.name, p.range.1)]);
    values.map(|(name, value)| {
        let mut config = of.clone();
        config.set(name, value).unwrap_or_else(|error| panic!("{error}"));
        (name, format!("{name}={value}"), config)
    })
}

/// Transfers of each kind to the next cell, one behind the other, and of cell 0 to all.
async fn all_at_once(cell: Cell) {
    let (cells, own) = (cell.cells() as u16, cell.id().0);
    let next = NodeId((own + 1) % cells);
    let before = (own + cells - 1) % cells;
    cell.put(next, OWN, WORDS, PUT, flag(0), None).await.expect("a PUT");
    cell.get(next, OWN, WORDS, GOT, flag(1), None).await.expect("a GET");
    if own == 0 {
        let all = Transfer {
            words: WORDS,
            source: OWN,
            dest: ALL,
            dest_flag: flag(2),
            ..Transfer::default()
        };
        cell.broadcast(Along::All, &all).await.expect("a broadcast");
    }
    let there = |addr| Shared { cell: next, addr };
    let value = u64::from(own) + 1;
    cell.store(there(STORED), 4, value).await.expect("a store");
    cell.fence().await;
    assert_eq!(cell.load(there(STORED), 4).await.expect("a load"), value);
    let bit = 1 << (own % 32);
    cell.fetch_op(NodeId(0), BITS, u32::MAX, bit).await.expect("an atomic");
    for (tag, count) in [(7, SHORT), (8, WORDS)] {
        cell.send(next, tag, OWN, count, None).await.expect("a message");
    }
    for (tag, count) in [(7, SHORT), (8, WORDS)] {
        let came = cell.recv().await.expect("a message");
        assert_eq!((came.from.0, came.tag), (before, tag));
        assert!(
            came.words == words(before, count),
            "the words of message {tag} to cell {own}"
        );
    }
    for number in 0..3 {
        cell.wait_flag(Addr(FLAGS + 4 * number), 1).await.expect("a flag");
    }
    cell.barrier().await.expect("a barrier");
    cell.barrier_by_snet().await.expect("a barrier");
    let sum = cell.reduce(Combine::Sum, 1).await.expect("a sum");
    assert_eq!(sum, u32::from(cells));
}

fn pushed(what: &str, config: &Config) {
    println!("{what}");
    let backend = ModelMachine::new(config);
    let mut sim = Ap1000pSim::new(backend, config.clone()).unwrap_or_else(|error| panic!("{what}: {error}"));
    let nodes = || (0..config.cells() as u16).map(NodeId);
    for node in nodes() {
        sim.cell(node).set_words(OWN, &words(node.0, WORDS));
        sim.spawn_checked(node, async |cell| cell.open_ring(RING, RingSize::K128).await);
    }
    sim.run(BOUND).unwrap_or_else(|error| panic!("{what}: {error}"));
    for node in nodes() {
        sim.spawn(node, all_at_once);
    }
    sim.run(BOUND).unwrap_or_else(|error| panic!("{what}: {error}"));
    let cells = config.cells() as u16;
    for node in nodes() {
        let (before, next) = ((node.0 + cells - 1) % cells, (node.0 + 1) % cells);
        let cell = sim.cell(node);
        for (place, from) in [(PUT, before), (GOT, next), (ALL, 0)] {
            assert!(
                cell.words(place, WORDS) == words(from, WORDS),
                "{what}: {place} of {node}"
            );
        }
        assert_eq!(cell.word(STORED), u32::from(before) + 1, "{what}");
    }
    let bits = (0..cells).fold(0, |bits, cell| bits | 1_u32 << (cell % 32));
    assert_eq!(sim.cell(NodeId(0)).word(BITS), bits, "{what}");
    assert!(sim.take_faults().is_empty(), "{what}");
}

#[test]
fn all_arrives_at_both_ends_of_each_parameter() {
    for (_, what, config) in ends(&Config::paper()) {
        pushed(&what, &config);
    }
}

#[test]
fn all_arrives_with_slow_memory_behind_fast_links_and_the_other_way() {
    for (link, memory) in [(10_000.0, 1000.0), (1.0, 0.0)] {
        for refill in [0.0, 1.0] {
            let mut config = Config::paper();
            for (name, value) in [
                ("link_rate", link),
                ("mem_read_latency", memory),
                ("mem_write_latency", memory),
                ("hardware_refill", refill),
                ("lane_words", 2.0),
                ("call", 0.0),
                ("store_cycles", 1.0),
            ] {
                config.set(name, value).unwrap_or_else(|error| panic!("{error}"));
            }
            pushed(&format!("links of {link} MB/s, memory of {memory} cycles"), &config);
        }
    }
}

#[test]
fn a_cell_needs_memory_beside_its_system() {
    let config = Config {
        mem_bytes: 1 << 19,
        ..Config::paper()
    };
    let refused = Ap1000pSim::new(ModelMachine::new(&config), config);
    assert!(matches!(refused, Err(BootError::Memory { .. })));
}

/// The experiments that check something, without those that take seconds: C11 and C21 repeat, C29 and C30 are large.
/// M1 to M4 compare times with those of the paper's parameters.
const EXPERIMENTS: [&str; 26] = [
    "C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10", "C12", "C13", "C14", "C15", "C16", "C17", "C18",
    "C19", "C20", "C22", "C23", "C24", "C25", "C26", "C27", "C28",
];

fn rows(experiments: &[&str], config: &Config) -> Result<Vec<Row>, String> {
    let request = Request {
        experiments,
        backends: &[BackendKind::Model],
        config,
        full: false,
        threads: pool::threads(),
    };
    let outcomes = lab::run::<Ap1000p>(&request, |_, _| ()).map_err(|error| error.to_string())?;
    Ok(outcomes.into_iter().flat_map(|o| o.rows).collect())
}

#[test]
fn what_is_checked_holds_or_says_where_it_stops() {
    let mut found = Vec::new();
    for (name, what, config) in ends(&Config::paper()) {
        // Experiments have sizes of their own.
        if matches!(name, "columns" | "rows") {
            continue;
        }
        // C14 fills a ring buffer, and what has no memory to go to is given up.
        let is_without = |id: &&str| what == "overflow_bytes=0" && *id == "C14";
        let (without, with): (Vec<&str>, Vec<&str>) = EXPERIMENTS.iter().copied().partition(is_without);
        for id in without {
            let error = rows(&[id], &config).expect_err("a message given up");
            assert!(error.contains("set overflow_bytes higher"), "{error}");
        }
        let rows = rows(&with, &config).unwrap_or_else(|error| panic!("{what}: {error}"));
        // Counts of trials are our own choice; with fewer of them a run checks less, and nothing is wrong.
        let is_claim = |r: &Row| r.kind == Some(Kind::Criterion) || r.bounds_by == Some(Origin::Formula);
        let failed = rows.into_iter().filter(|r| is_claim(r) && r.failed());
        found.extend(failed.map(|r| format!("{what}: {} is {} {}", r.row, r.ours, r.unit)));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
