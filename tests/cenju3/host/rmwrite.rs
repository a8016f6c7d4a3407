//! `CJrmwrite` and its companions over a machine of a few lines: data, order, latency stages, every refusal.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tsunagi::cenju3::host::{
    BootError, Cenju3Sim, Fault, FaultKind, Kind, Parcel, Priority, RmwriteError, RmwriteOptions, SendError, Stage,
};
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::regs;
use tsunagi::harness::exec::{HangCause, SimError};
use tsunagi::{Addr, NodeId, Picos};

use super::fake_machine::FakeMachine;

const BOUND: Picos = Picos::from_ns(200_000_000);
const MEMORY: u32 = 2 << 20;

fn config() -> Config {
    Config {
        mem_bytes: MEMORY,
        ..Config::paper()
    }
}

fn machine(pes: usize, config: &Config) -> Cenju3Sim<FakeMachine> {
    Cenju3Sim::new(FakeMachine::new(pes, config.mem_bytes), config.clone()).expect("boots")
}

fn data(seed: u64, bytes: u32) -> Vec<u8> {
    let mut data = vec![0; bytes as usize];
    ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut data);
    data
}

/// Writes `bytes` from `src` to `to` in the next PE's poisoned memory; the bytes around them must stay.
fn carries(config: &Config, options: &RmwriteOptions, src: u32, to: u32, bytes: u32) {
    let mut sim = machine(2, config);
    let sent = data(u64::from(src ^ to ^ bytes), bytes);
    let poison = vec![0xa5; sim.pe(NodeId(1)).memory_end() as usize];
    sim.pe(NodeId(1)).write(Addr(0), &poison);
    sim.pe(NodeId(0)).write(Addr(src), &sent);
    let options = *options;
    let mut written = sim.spawn(NodeId(0), async move |pe| {
        let written = pe.rmwrite_with(&options, Addr(src), NodeId(1), Addr(to), bytes).await;
        pe.fence().await;
        written
    });
    sim.run(BOUND).unwrap();
    assert_eq!(written.take(), Some(Ok(bytes)));
    let mut expected = poison;
    expected[to as usize..(to + bytes) as usize].copy_from_slice(&sent);
    let got = sim.pe(NodeId(1)).read(Addr(0), expected.len() as u32);
    let differs = got.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(differs, None, "src {src} to {to} bytes {bytes} {options:?}");
    assert_eq!(sim.take_faults(), []);
}

#[test]
fn any_length_and_alignment_arrives_and_nothing_beside_it_changes() {
    let config = config();
    let options = RmwriteOptions::new(&config);
    for bytes in [1, 4, 31, 32, 33, 63, 64, 65, 512, 513, 8192, 8193] {
        for (src, to) in [(0, 0), (64, 4096), (3, 67), (5, 96), (31, 1)] {
            carries(&config, &options, src, to, bytes);
        }
    }
    carries(&config, &options, 100_000, 7, 300_001);
}

#[test]
fn every_option_carries_the_same() {
    let paper = config();
    let base = RmwriteOptions::new(&paper);
    let options = [
        RmwriteOptions {
            chunk_bytes: u32::MAX,
            ..base
        },
        RmwriteOptions {
            chunk_bytes: 1000,
            piece_bytes: 100,
            ..base
        },
        RmwriteOptions {
            pre_invalidate: false,
            ..base
        },
        RmwriteOptions {
            user_level: true,
            piece_bytes: 4096,
            ..base
        },
        RmwriteOptions {
            pipelined: false,
            ..base
        },
    ];
    for options in options {
        let config = Config {
            pipelined: options.pipelined,
            ..paper.clone()
        };
        carries(&config, &options, 40, 40, 270_000);
        carries(&config, &options, 41, 40, 150_000);
    }
    for cache_line in [16, 48, 128] {
        carries(
            &Config {
                cache_line,
                ..paper.clone()
            },
            &base,
            4,
            20,
            1000,
        );
    }
}

#[test]
fn one_word_ping_pong_takes_the_stages_of_figure_8() {
    let mut sim = machine(2, &config());
    sim.trace(true);
    let word = Addr(0x100);
    let mut time = sim.spawn(NodeId(0), async move |pe| {
        let start = pe.now();
        pe.write(Addr(0), &1u32.to_le_bytes());
        pe.rmwrite(Addr(0), NodeId(1), word, 4).await.unwrap();
        pe.wait_for_change(word, 0).await;
        pe.now() - start
    });
    sim.spawn(NodeId(1), async move |pe| {
        let value = pe.wait_for_change(word, 0).await;
        pe.write(Addr(0), &(value + 1).to_le_bytes());
        pe.rmwrite(Addr(0), NodeId(0), word, 4).await.unwrap();
    });
    sim.run(BOUND).unwrap();
    assert_eq!(sim.pe(NodeId(0)).read(word, 4), 2u32.to_le_bytes());
    let round = time.take().unwrap().as_us();
    assert!((60.0..70.0).contains(&round), "{round} us");
    let stamps = sim.take_stamps();
    let at = |node: u16, stage: Stage| {
        stamps
            .iter()
            .find(|s| s.node == NodeId(node) && s.stage == stage)
            .unwrap()
            .at
            .as_us()
    };
    let started = Stage::Started { queue: 1 };
    let split = [
        at(0, Stage::Kernel) - at(0, Stage::Call),
        at(0, started) - at(0, Stage::Kernel),
        at(1, Stage::Served) - at(1, Stage::Recognised),
    ];
    for (ours, paper) in split.iter().zip([5.0, 8.0, 8.0]) {
        assert!((ours - paper).abs() < 1.0, "{split:?}");
    }
}

#[test]
fn a_user_level_call_saves_system_call_and_checks() {
    let time = |user_level| {
        let config = Config { user_level, ..config() };
        let mut sim = machine(2, &config);
        let mut seen = sim.spawn(NodeId(1), async |pe| {
            pe.wait_for_change(Addr(0), 0).await;
            pe.now()
        });
        sim.spawn(NodeId(0), async |pe| {
            pe.write(Addr(4), &[1; 4]);
            pe.rmwrite(Addr(4), NodeId(1), Addr(0), 4).await
        });
        sim.run(BOUND).unwrap();
        seen.take().unwrap().as_us()
    };
    assert!((time(false) - time(true) - 9.0).abs() < 0.2);
}

#[test]
fn what_a_call_cannot_do_is_refused_and_nothing_is_sent() {
    let mut sim = machine(2, &config());
    let end = sim.pe(NodeId(0)).memory_end();
    let mut results = sim.spawn(NodeId(0), async move |pe| {
        let calls = [
            (0, 2, 0, 4),
            (0, 1, 0, 0),
            (end - 3, 1, 0, 4),
            (0, 1, end - 3, 4),
            (u32::MAX, 1, 0, 4),
        ];
        let mut results = Vec::new();
        for (src, dest, to, bytes) in calls {
            results.push(pe.rmwrite(Addr(src), NodeId(dest), Addr(to), bytes).await.unwrap_err());
        }
        pe.fence().await;
        (results, pe.now())
    });
    let before = sim.now();
    sim.run(BOUND).unwrap();
    let (results, after) = results.take().unwrap();
    let (bytes, size) = (4, end);
    let expected = [
        RmwriteError::PeOutOfRange {
            dest: NodeId(2),
            pes: 2,
        },
        RmwriteError::ZeroLength,
        RmwriteError::SourceOutOfRange {
            addr: Addr(end - 3),
            bytes,
            size,
        },
        RmwriteError::DestinationOutOfRange {
            addr: Addr(end - 3),
            bytes,
            size,
        },
        RmwriteError::SourceOutOfRange {
            addr: Addr(u32::MAX),
            bytes,
            size,
        },
    ];
    assert_eq!(results, expected);
    assert_eq!(after, before);
}

#[test]
fn raw_parcels_are_checked() {
    let mut sim = machine(2, &config());
    let (good, to) = (Parcel::dma(NodeId(1), Addr(64), Addr(96), 32), Addr(96));
    let message = Parcel::message(Kind::User, NodeId(1), Addr(64), 32);
    let size = MEMORY;
    let refused = [
        (
            Parcel {
                dest: NodeId(2),
                ..good
            },
            SendError::PeOutOfRange {
                dest: NodeId(2),
                pes: 2,
            },
        ),
        (Parcel { bytes: 0, ..good }, SendError::ZeroLength),
        (
            Parcel { bytes: 131_073, ..good },
            SendError::TooLong {
                bytes: 131_073,
                max: 131_072,
            },
        ),
        (
            Parcel { bytes: 513, ..message },
            SendError::MessageTooLong { bytes: 513, max: 512 },
        ),
        (
            Parcel { body: Addr(65), ..good },
            SendError::Misaligned {
                what: "body",
                addr: Addr(65),
            },
        ),
        (
            Parcel {
                kind: Kind::Dma { to: Addr(68) },
                ..good
            },
            SendError::Misaligned {
                what: "destination",
                addr: Addr(68),
            },
        ),
        (
            Parcel {
                body: Addr(size),
                ..good
            },
            SendError::OutOfRange {
                what: "body",
                addr: Addr(size),
                bytes: 32,
                size,
            },
        ),
        (
            Parcel {
                kind: Kind::Dma { to: Addr(size) },
                ..good
            },
            SendError::OutOfRange {
                what: "destination",
                addr: Addr(size),
                bytes: 32,
                size,
            },
        ),
    ];
    let mut results = sim.spawn(NodeId(0), async move |pe| {
        let mut results = Vec::new();
        for (parcel, _) in refused {
            results.push(pe.send_parcels(Priority::Normal, &[good, parcel]).await.unwrap_err());
        }
        results
    });
    sim.run(BOUND).unwrap();
    assert_eq!(results.take().unwrap(), refused.map(|(_, error)| error));
    assert_eq!(sim.pe(NodeId(1)).read(to, 32), [0; 32]);
}

#[test]
fn a_queue_takes_255_headers_and_refuses_the_256th() {
    let mut sim = machine(2, &config());
    let parcels: Vec<_> = (0..256)
        .map(|i| Parcel::dma(NodeId(1), Addr(32 * i), Addr(32 * i), 32))
        .collect();
    let content = data(1, 256 * 32);
    let expected = content.clone();
    let mut result = sim.spawn(NodeId(0), async move |pe| {
        pe.write(Addr(0), &content);
        let all = pe.send_parcels(Priority::Normal, &parcels).await.unwrap_err();
        pe.send_parcels(Priority::Normal, &parcels[..255]).await.unwrap();
        let one_more = pe.send_parcels(Priority::Normal, &parcels[255..]).await;
        pe.sent(Priority::Normal).await;
        pe.send_parcels(Priority::Normal, &parcels[255..]).await.unwrap();
        pe.sent(Priority::Normal).await;
        (all, one_more.unwrap_err())
    });
    sim.run(BOUND).unwrap();
    let (all, one_more) = result.take().unwrap();
    let full = |queued, wanted| SendError::QueueFull {
        queue: 1,
        queued,
        wanted,
        max: 255,
    };
    assert_eq!(all, full(0, 256));
    assert_eq!(one_more, full(255, 1));
    sim.spawn(NodeId(0), async |pe| pe.barrier().await);
    sim.spawn(NodeId(1), async |pe| pe.barrier().await);
    sim.run(BOUND).unwrap();
    assert_eq!(sim.pe(NodeId(1)).read(Addr(0), 256 * 32), expected);
}

#[test]
fn barriers_and_fences_order_an_all_to_all() {
    for pes in [2, 3, 5, 8] {
        let mut sim = machine(pes, &config());
        let sums = sim.spawn_all(async |pe| {
            let me = u32::from(pe.id().0);
            for round in 0..3u32 {
                for dest in 0..pe.pes() as u32 {
                    let (from, to) = (Addr(0x1000 + 4 * dest), Addr(0x2000 * (round + 1) + 4 * me));
                    pe.write(from, &(100 * round + 10 * me + dest).to_le_bytes());
                    pe.rmwrite(from, NodeId(dest as u16), to, 4).await.unwrap();
                }
                pe.barrier().await;
                for src in 0..pe.pes() as u32 {
                    let word = pe.read(Addr(0x2000 * (round + 1) + 4 * src), 4);
                    assert_eq!(
                        word,
                        (100 * round + 10 * src + me).to_le_bytes(),
                        "PE {me} from {src}, round {round}"
                    );
                }
            }
            pe.now()
        });
        sim.run(BOUND).unwrap();
        assert!(sums.into_iter().all(|mut s| s.take().is_some()));
    }
}

#[test]
fn interrupts_hold_the_user_program_up() {
    let mut sim = machine(2, &config());
    let mut end = sim.spawn(NodeId(1), async |pe| {
        let start = pe.now();
        pe.compute(Picos::from_us(100.0)).await;
        (pe.now() - start).as_us()
    });
    sim.spawn(NodeId(0), async |pe| pe.rmwrite(Addr(0), NodeId(1), Addr(0), 4).await);
    sim.run(BOUND).unwrap();
    // One handler: recognition, entry, message.
    assert_eq!(end.take(), Some(113.0));
}

#[test]
fn user_messages_are_handed_over_and_overflow_loses_none() {
    let config = config();
    let mut sim = machine(2, &config);
    sim.spawn(NodeId(0), async |pe| {
        let messages: Vec<_> = (0..200u32)
            .map(|i| {
                pe.write(Addr(32 * i), &i.to_le_bytes());
                let end = i == 199;
                Parcel {
                    soft: [i, !i],
                    end,
                    ..Parcel::message(Kind::User, NodeId(1), Addr(32 * i), 4)
                }
            })
            .collect();
        pe.send_parcels(Priority::High, &messages).await.unwrap();
    });
    sim.spawn(NodeId(1), async |pe| {
        for i in 0..200u32 {
            let message = pe.receive().await;
            assert_eq!(
                (message.src, message.soft, message.body),
                (NodeId(0), [i, !i], i.to_le_bytes().to_vec())
            );
        }
    });
    sim.run(BOUND).unwrap();
    let faults = sim.take_faults();
    assert!(
        faults.len() >= 2 && faults.iter().all(|f| f.kind == FaultKind::Overflow),
        "{faults:?}"
    );
}

#[test]
fn error_interrupts_are_reported_and_the_next_transfer_is_unharmed() {
    let mut sim = machine(2, &config());
    let causes = [
        (regs::R_STAT_BAD_HEADER_MASK, FaultKind::BadHeader { word0: 7 }),
        (regs::R_STAT_TRUNCATED_MASK, FaultKind::Truncated { word0: 7 }),
        (regs::R_STAT_OVERLONG_MASK, FaultKind::Overlong { word0: 7 }),
        (regs::R_STAT_BUS_ERROR_MASK, FaultKind::BusError),
    ];
    for (mask, kind) in causes {
        sim.backend_mut().pend(NodeId(1), mask, 7);
        sim.spawn(NodeId(1), async |pe| pe.compute(Picos::from_us(50.0)).await);
        sim.run(BOUND).unwrap();
        let faults = sim.take_faults();
        assert!(
            matches!(faults[..], [Fault { node: NodeId(1), kind: k, .. }] if k == kind),
            "{faults:?}"
        );
    }
    for (header, status) in [
        ([3, 4, 0, 0, 0, 0, 0, 0], regs::STATUS_BAD_KIND),
        ([2, 0, 0, 0, 0, 0, 0, 0], regs::STATUS_ZERO_LENGTH),
        ([0, 513, 0, 0, 0, 0, 0, 0], regs::STATUS_MESSAGE_TOO_LONG),
    ] {
        let mut sent = sim.spawn(NodeId(0), async move |pe| {
            pe.send_unchecked(Priority::Normal, header).await;
            pe.write(Addr(0), &status.to_le_bytes());
            pe.rmwrite(Addr(0), NodeId(1), Addr(64), 4).await.unwrap();
            pe.fence().await;
        });
        sim.run(BOUND).unwrap();
        assert_eq!(sent.take(), Some(()));
        let faults = sim.take_faults();
        let expected = FaultKind::Send { queue: 1, status };
        assert!(
            matches!(faults[..], [Fault { node: NodeId(0), kind, .. }] if kind == expected),
            "{faults:?}"
        );
        assert_eq!(sim.pe(NodeId(1)).read(Addr(64), 4), status.to_le_bytes());
    }
    sim.backend_mut()
        .inject(NodeId(1), [regs::PACKET_HEAD_END_MASK | 0x1_0000, 4, 99, 0], &[0; 4]);
    sim.spawn(NodeId(1), async |pe| pe.compute(Picos::from_us(50.0)).await);
    sim.run(BOUND).unwrap();
    let bad = FaultKind::BadMessage {
        src: NodeId(1),
        kind: 99,
    };
    assert_eq!(sim.take_faults()[0].kind, bad);
}

#[test]
fn an_interrupt_that_is_never_served_is_a_hang_with_its_state() {
    let mut sim = machine(2, &config());
    sim.backend_mut().deaf = true;
    sim.spawn(NodeId(0), async |pe| {
        pe.rmwrite(Addr(0), NodeId(1), Addr(0), 4).await.unwrap();
        pe.rmwrite(Addr(0), NodeId(1), Addr(0), 4).await.unwrap();
        pe.fence().await;
    });
    let error = sim.run(BOUND).unwrap_err();
    let SimError::Hang { cause, at, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(*cause, HangCause::NothingCanHappen);
    assert!(*at < Picos::from_us(200.0));
    let text = error.to_string();
    for part in [
        "program of PE 0 waits for something new",
        "kernel of PE 1 waits for an interrupt of PE 1",
        "Receiver halted",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_sink_takes_everything_and_answers_nothing() {
    let config = config();
    let machine = FakeMachine::new(2, config.mem_bytes);
    let mut sim = Cenju3Sim::with_sinks(machine, config, &[NodeId(1)]).unwrap();
    let content = data(3, 500_000);
    sim.pe(NodeId(0)).write(Addr(0), &content);
    sim.spawn(NodeId(0), async |pe| {
        pe.rmwrite(Addr(0), NodeId(1), Addr(0), 500_000).await.unwrap();
        pe.sent(Priority::Normal).await;
        pe.compute(Picos::from_us(1000.0)).await;
    });
    sim.run(BOUND).unwrap();
    assert!(sim.pe(NodeId(1)).read(Addr(0), 499_968) == content[..499_968]);
}

#[test]
fn the_same_run_twice_is_the_same() {
    let run = || {
        let mut sim = machine(4, &config());
        sim.trace(true);
        sim.spawn_all(async |pe| {
            for i in 0..4u16 {
                pe.rmwrite(Addr(0), NodeId((pe.id().0 + i) % 4), Addr(8192), 5000)
                    .await
                    .unwrap();
            }
            pe.barrier().await;
        });
        sim.run(BOUND).unwrap();
        sim.take_stamps()
    };
    assert!(run() == run());
}

#[test]
fn too_little_memory_does_not_boot() {
    let config = Config {
        mem_bytes: 65_536,
        ..Config::paper()
    };
    let error = Cenju3Sim::new(FakeMachine::new(2, 65_536), config).err().unwrap();
    assert!(matches!(error, BootError::MemoryTooSmall { bytes: 65_536 }), "{error}");
}
