//! The whole machine at the ends of its parameters: every kind of transfer at once arrives, and what the paper claims
//! holds, or its row says where it stops.

use tsunagi::cenju3::Cenju3;
use tsunagi::cenju3::host::{BootError, Cenju3Sim, FaultKind, Kind, Parcel, Pe, Priority, SendError};
use tsunagi::cenju3::model::ModelMachine;
use tsunagi::cenju3::params::{Config, PARAMS};
use tsunagi::repro::row::{self, BackendKind, Row};
use tsunagi::repro::{Request, lab, pool};
use tsunagi::{Addr, NodeId, Picos};

const BOUND: Picos = Picos::from_ns(100_000_000_000);

/// What each PE has in memory, and where others write to it: by calls, and by bare parcels. A call's destination lies
/// otherwise in its line than its source.
const OWN: u32 = 0;
const FROM_CALL: u32 = 0x4005;
const FROM_PARCEL: u32 = 0x8000;
const WORD: u32 = 0xc000;
const BLOCK: u32 = 9000;
const PARCELS: u32 = 2048;

fn bytes(pe: u16, count: u32) -> Vec<u8> {
    let byte = |n: u32| (n.wrapping_mul(0x9e37_79b1).wrapping_add(u32::from(pe) << 22) >> 21) as u8;
    (0..count).map(byte).collect()
}

/// Four PEs with what a program of this test needs.
fn small() -> Config {
    Config {
        pes: 4,
        mem_bytes: 1 << 20,
        ..Config::paper()
    }
}

/// The machine with each parameter that is free at either end of its range.
fn ends(of: &Config) -> impl Iterator<Item = (String, Config)> + '_ {
    let free = PARAMS.iter().filter(|p| p.range.0 < p.range.1);
    let values = free.flat_map(|p| [(p.name, p.range.0), (p.name, p.range.1)]);
    values.map(|(name, value)| {
        let mut config = of.clone();
        config.set(name, value).unwrap_or_else(|error| panic!("{error}"));
        (format!("{name}={value}"), config)
    })
}

/// Calls, bare parcels and messages of each PE to others, one behind the other.
async fn all_at_once(pe: Pe) -> (u16, Vec<u8>) {
    let (pes, own) = (pe.pes() as u16, pe.id().0);
    let [next, second] = [1, 2].map(|far| NodeId((own + far) % pes));
    let call = async |src: u32, to: u32, bytes: u32| {
        pe.rmwrite(Addr(src), next, Addr(to), bytes)
            .await
            .expect("a call in memory");
    };
    call(OWN, WORD, 4).await;
    call(OWN, FROM_CALL, BLOCK).await;
    let whole = Parcel::dma(second, Addr(OWN), Addr(FROM_PARCEL), PARCELS);
    let message = Parcel::message(Kind::User, next, Addr(OWN), 64);
    for parcel in whole.cut(512).into_iter().chain([message]) {
        while let Err(error) = pe.send_parcels(Priority::Normal, &[parcel]).await {
            assert!(matches!(error, SendError::QueueFull { .. }), "{error}");
            pe.host().delay(Picos::from_us(20.0)).await;
        }
    }
    let message = pe.receive().await;
    pe.barrier().await;
    (message.src.0, message.body)
}

fn pushed(what: &str, config: &Config) {
    let backend = ModelMachine::new(config);
    let mut sim = Cenju3Sim::new(backend, config.clone()).unwrap_or_else(|error| panic!("{what}: {error}"));
    let pes = sim.pes() as u16;
    for pe in 0..pes {
        sim.pe(NodeId(pe)).write(Addr(OWN), &bytes(pe, BLOCK));
    }
    let mut ended = sim.spawn_all(all_at_once);
    sim.run(BOUND).unwrap_or_else(|error| panic!("{what}: {error}"));
    // The order of a pair does not bind a third PE: what it sent is there when nothing moves.
    sim.spawn_all(|pe| async move { pe.host().delay(Picos::from_us(200_000.0)).await });
    sim.run(BOUND).unwrap_or_else(|error| panic!("{what}: {error}"));
    for (pe, ended) in (0..pes).zip(&mut ended) {
        let [before, two_before] = [1, 2].map(|far| (pe + pes - far) % pes);
        let memory = sim.pe(NodeId(pe));
        let (sender, message) = ended.take().expect("the program has ended");
        assert!(
            sender == before && message == bytes(before, 64),
            "{what}: message of PE {before}"
        );
        for (place, from, count) in [
            (WORD, before, 4),
            (FROM_CALL, before, BLOCK),
            (FROM_PARCEL, two_before, PARCELS),
        ] {
            assert!(
                memory.read(Addr(place), count) == bytes(from, count),
                "{what}: {place:#x} of PE {pe}"
            );
        }
    }
    let lost = sim.take_faults().into_iter().find(|f| f.kind != FaultKind::Overflow);
    assert!(lost.is_none(), "{what}: {lost:?}");
}

#[test]
fn all_arrives_at_both_ends_of_each_parameter() {
    for (what, config) in ends(&small()) {
        if what != "mem_bytes=65536" {
            pushed(&what, &config);
            continue;
        }
        // The kernel alone takes more.
        let refused = Cenju3Sim::new(ModelMachine::new(&config), config);
        assert!(matches!(refused, Err(BootError::MemoryTooSmall { .. })));
    }
}

#[test]
fn all_arrives_with_clocks_far_apart_and_slow_memory() {
    for (io, net) in [(1.0, 1000.0), (1000.0, 1.0), (1.0, 1.0), (7.0, 5.0)] {
        for slow in [0.0, 1000.0] {
            let mut config = small();
            for (name, value) in [
                ("io_period", io),
                ("net_period", net),
                ("mem_read_latency", slow),
                ("mem_write_latency", slow),
                ("r_thresh", 8.0),
                ("s_gap", 0.0),
            ] {
                config.set(name, value).unwrap_or_else(|error| panic!("{error}"));
            }
            pushed(&format!("{io} and {net} ns, memory of {slow} cycles"), &config);
        }
    }
}

/// The rows of these experiments that a statement of the paper bounds.
fn claims(experiments: &[&str], config: &Config) -> Vec<Row> {
    let request = Request {
        experiments,
        backends: &[BackendKind::Model],
        config,
        full: false,
        threads: pool::threads(),
    };
    let outcomes = lab::run::<Cenju3>(&request, |_, _| ()).unwrap_or_else(|error| panic!("{config:?}: {error}"));
    let rows = outcomes.into_iter().flat_map(|o| o.rows);
    rows.filter(|r| r.kind == Some(row::Kind::Criterion)).collect()
}

/// Of the curves, which take long, the first two stand for all, and of the parameters those of the receiving side,
/// about which they say something.
#[test]
fn what_the_paper_claims_holds_or_says_where_it_stops() {
    let sides = [
        "r_thresh",
        "irq_recognition",
        "handler",
        "preinval_kernel",
        "postinval_rate",
        "preinval_rate",
        "request_bytes",
        "piece_bytes",
        "mem_overhead",
        "s_gap",
        "pipelined",
    ];
    let mut found = Vec::new();
    for (what, config) in ends(&Config::paper()) {
        if what == "mem_bytes=65536" {
            continue;
        }
        let name = what.split('=').next().expect("a name");
        let experiments: &[&str] = if sides.contains(&name) {
            &["E1", "E4", "E7", "E12"]
        } else {
            &["E1", "E12"]
        };
        let missed = claims(experiments, &config).into_iter().filter(Row::failed);
        found.extend(missed.map(|r| format!("{what}: {} is {} {}", r.row, r.ours, r.unit)));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
