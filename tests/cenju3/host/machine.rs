//! The host software on whole machines, golden model and verilated RTL: data, latency, throughput, faults of the
//! interface.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tsunagi::cenju3::host::{
    Cenju3Sim, FaultKind, Parcel, Pe, Priority, RmwriteError, RmwriteOptions, SendError, Stage,
};
use tsunagi::cenju3::model::ModelMachine;
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::regs;
use tsunagi::cenju3::rtl::{Machine, of_nics};
use tsunagi::harness::backend::Backend;
use tsunagi::harness::exec::SimError;
use tsunagi::rtl::Cenju3Nic;
use tsunagi::{Addr, NodeId, Picos};

const BOUND: Picos = Picos::from_ns(100_000_000);
const HERE: NodeId = NodeId(0);
const THERE: NodeId = NodeId(1);

fn config() -> Config {
    Config {
        mem_bytes: 2 << 20,
        ..Config::paper()
    }
}

fn data(seed: u64, bytes: u32) -> Vec<u8> {
    let mut data = vec![0; bytes as usize];
    ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut data);
    data
}

fn boot<B: Backend + 'static>(make: impl Fn(&Config) -> B, config: &Config) -> Cenju3Sim<B> {
    Cenju3Sim::new(make(config), config.clone()).expect("boots")
}

fn any_length_and_alignment_arrives<B: Backend + 'static>(make: impl Fn(&Config) -> B) {
    let mut sim = boot(make, &config());
    for (at, bytes) in [1, 33, 64, 513, 9000].into_iter().enumerate() {
        for (src, to) in [(64, 4096), (3, 67), (5, 96)] {
            let sent = data(at as u64, bytes);
            let poison = vec![0xa5; 16_384];
            sim.pe(THERE).write(Addr(0), &poison);
            sim.pe(HERE).write(Addr(src), &sent);
            sim.spawn(HERE, async move |pe| {
                pe.rmwrite(Addr(src), THERE, Addr(to), bytes).await.unwrap();
                pe.fence().await;
            });
            sim.run(BOUND).unwrap();
            let mut expected = poison;
            expected[to as usize..(to + bytes) as usize].copy_from_slice(&sent);
            let got = sim.pe(THERE).read(Addr(0), 16_384);
            assert_eq!(
                got.iter().zip(&expected).position(|(a, b)| a != b),
                None,
                "{src} to {to}, {bytes} bytes"
            );
        }
    }
    assert_eq!(sim.take_faults(), []);
}

fn all_to_all_is_right<B: Backend + 'static>(make: impl Fn(&Config) -> B) {
    const BLOCK: u32 = 600;
    fn block(from: u32, to: u32) -> Vec<u8> {
        data(u64::from(from << 8 | to), BLOCK)
    }
    let mut sim = boot(
        make,
        &Config {
            pes: 16,
            stages: 2,
            ..config()
        },
    );
    sim.spawn_all(async |pe: Pe| {
        let (me, pes) = (u32::from(pe.id().0), pe.pes() as u32);
        for shift in 0..pes {
            let to = (me + shift) % pes;
            pe.write(Addr(BLOCK * to), &block(me, to));
            pe.rmwrite(Addr(BLOCK * to), NodeId(to as u16), Addr(0x8000 + BLOCK * me), BLOCK)
                .await
                .unwrap();
        }
        pe.barrier().await;
        for from in 0..pes {
            assert!(
                pe.read(Addr(0x8000 + BLOCK * from), BLOCK) == block(from, me),
                "PE {me} from {from}"
            );
        }
    });
    sim.run(BOUND).unwrap();
    assert_eq!(sim.take_faults(), []);
}

/// Microseconds for one word there and back, and the stages of the way there: call, kernel, hardware with recognition,
/// receiving kernel.
fn ping_pong<B: Backend + 'static>(make: impl Fn(&Config) -> B, config: &Config) -> (f64, [f64; 4]) {
    let mut sim = boot(make, config);
    sim.trace(true);
    let word = Addr(0x100);
    let mut time = sim.spawn(HERE, async move |pe| {
        let start = pe.now();
        pe.write(Addr(0), &1u32.to_le_bytes());
        pe.rmwrite(Addr(0), THERE, word, 4).await.unwrap();
        pe.wait_for_change(word, 0).await;
        (pe.now() - start).as_us()
    });
    sim.spawn(THERE, async move |pe| {
        let value = pe.wait_for_change(word, 0).await;
        pe.write(Addr(0), &(value + 1).to_le_bytes());
        pe.rmwrite(Addr(0), HERE, word, 4).await.unwrap();
    });
    sim.run(BOUND).unwrap();
    assert_eq!(sim.pe(HERE).read(word, 4), 2u32.to_le_bytes());
    let stamps = sim.take_stamps();
    let at = |node, stage| {
        stamps
            .iter()
            .find(|s| s.node == node && s.stage == stage)
            .map(|s| s.at.as_us())
    };
    let call = at(HERE, Stage::Call).unwrap();
    let kernel = at(HERE, Stage::Kernel).unwrap_or(call);
    let started = at(HERE, Stage::Started { queue: 1 }).unwrap();
    let recognised = at(THERE, Stage::Recognised).unwrap();
    let served = at(THERE, Stage::Served).unwrap();
    (
        time.take().unwrap(),
        [
            kernel - call,
            started - kernel,
            recognised - started,
            served - recognised,
        ],
    )
}

fn latency_is_that_of_figure_8<B: Backend + 'static>(make: impl Fn(&Config) -> B) {
    let (round, split) = ping_pong(&make, &config());
    assert!((64.0..=68.0).contains(&round), "{round} us there and back, {split:?}");
    for (ours, paper) in split.iter().zip([5.0, 8.0, 12.0, 8.0]) {
        assert!((ours - paper).abs() <= 1.0, "{split:?}");
    }
    let (user, _) = ping_pong(
        &make,
        &Config {
            user_level: true,
            ..config()
        },
    );
    assert!(
        (user / 2.0 - 24.0).abs() <= 1.0,
        "{user} us there and back at user level"
    );
}

/// MB/s of many `CJrmwrite` of `bytes` each, once the stream runs.
fn throughput<B: Backend + 'static>(
    make: impl Fn(&Config) -> B,
    config: &Config,
    options: RmwriteOptions,
    bytes: u32,
) -> f64 {
    let count = (400_000 / bytes).clamp(4, 100);
    let time = |count: u32| {
        let mut sim = boot(&make, config);
        let mut end = sim.spawn(HERE, async move |pe| {
            for _ in 0..count {
                pe.rmwrite_with(&options, Addr(0), THERE, Addr(0), bytes).await.unwrap();
            }
            pe.fence().await;
            pe.now()
        });
        sim.run(BOUND).unwrap();
        end.take().unwrap()
    };
    (time(2 * count) - time(count)).rate_mb_s(u64::from(count * bytes))
}

fn throughput_is_that_of_figures_9_11_and_14<B: Backend + 'static>(make: impl Fn(&Config) -> B) {
    let config = config();
    let chunked = RmwriteOptions::new(&config);
    let single = RmwriteOptions {
        chunk_bytes: u32::MAX,
        ..chunked
    };
    let raw = RmwriteOptions {
        pre_invalidate: false,
        user_level: true,
        ..single
    };
    let halting = Config {
        pipelined: false,
        ..config.clone()
    };
    let library = throughput(&make, &config, chunked, 65_536);
    let one_dma = throughput(&make, &config, single, 131_072);
    let pipelined = throughput(&make, &config, raw, 65_536);
    let not = throughput(
        &make,
        &halting,
        RmwriteOptions {
            pipelined: false,
            ..raw
        },
        131_072,
    );
    assert!((library - 34.7).abs() <= 0.4, "8 KB chunks: {library} MB/s");
    assert!(one_dma < library, "one DMA: {one_dma} MB/s");
    assert!((35.5..=36.5).contains(&pipelined), "pipelined: {pipelined} MB/s");
    assert!((30.5..=31.5).contains(&not), "not pipelined: {not} MB/s");
}

fn faults_of_the_sender_are_reported_and_the_next_transfer_is_unharmed<B: Backend + 'static>(
    make: impl Fn(&Config) -> B,
) {
    let mut sim = boot(make, &config());
    let good = Parcel::dma(THERE, Addr(64), Addr(96), 32).header();
    let with = |at: usize, value: u32| {
        let mut header = good;
        header[at] = value;
        header
    };
    for (header, status) in [
        (with(0, good[0] & !0xff | 3), regs::STATUS_BAD_KIND),
        (with(1, 0), regs::STATUS_ZERO_LENGTH),
        (with(1, 131_073), regs::STATUS_TOO_LONG),
        (with(2, 65), regs::STATUS_BODY_MISALIGNED),
        (with(3, 97), regs::STATUS_DEST_MISALIGNED),
    ] {
        sim.spawn(HERE, async move |pe| {
            pe.send_unchecked(Priority::Normal, header).await;
            pe.write(Addr(0), &status.to_le_bytes());
            pe.rmwrite(Addr(0), THERE, Addr(64), 4).await.unwrap();
            pe.fence().await;
        });
        sim.run(BOUND).unwrap();
        let kinds: Vec<_> = sim.take_faults().iter().map(|f| (f.node, f.kind)).collect();
        assert_eq!(kinds, [(HERE, FaultKind::Send { queue: 1, status })]);
        assert_eq!(sim.pe(THERE).read(Addr(64), 4), status.to_le_bytes());
    }
}

fn memory_that_refuses_is_reported_at_both_ends<B: Backend + 'static>(make: impl Fn(&Config) -> B) {
    let mut sim = boot(make, &config());
    let again = |sim: &mut Cenju3Sim<B>| {
        sim.spawn(HERE, async |pe| {
            pe.rmwrite(Addr(0x8000), THERE, Addr(0x8000), 2048).await.unwrap();
            pe.fence().await;
        });
        sim.run(BOUND).unwrap();
        sim.take_faults().iter().map(|f| (f.node, f.kind)).collect::<Vec<_>>()
    };
    sim.pe(HERE).memory(|m| m.inject_fault(0x8100..0x8120));
    let faults = again(&mut sim);
    let status = regs::STATUS_BODY_BUS_ERROR;
    assert!(
        faults.contains(&(HERE, FaultKind::Send { queue: 1, status })),
        "{faults:?}"
    );
    assert!(
        faults.iter().any(|f| matches!(f, (THERE, FaultKind::Truncated { .. }))),
        "{faults:?}"
    );
    sim.pe(HERE).memory(|m| m.clear_faults());
    sim.pe(THERE).memory(|m| m.inject_fault(0x8100..0x8120));
    assert_eq!(again(&mut sim), [(THERE, FaultKind::BusError)]);
    sim.pe(THERE).memory(|m| m.clear_faults());
    assert_eq!(again(&mut sim), []);
}

/// An address without memory is a bus error, at the Sender for the body and at the Receiver for the destination.
fn addresses_out_of_range_are_reported_and_the_next_transfer_is_unharmed<B: Backend + 'static>(
    make: impl Fn(&Config) -> B,
) {
    let config = config();
    let beyond = Addr(config.mem_bytes);
    let mut sim = boot(make, &config);
    let status = regs::STATUS_BODY_BUS_ERROR;
    for (body, to, told) in [
        (beyond, Addr(0), (HERE, FaultKind::Send { queue: 1, status })),
        (Addr(0), beyond, (THERE, FaultKind::BusError)),
    ] {
        let header = Parcel::dma(THERE, body, to, 64).header();
        sim.spawn(HERE, async move |pe| {
            pe.send_unchecked(Priority::Normal, header).await;
            pe.write(Addr(0), &body.0.to_le_bytes());
            pe.rmwrite(Addr(0), THERE, Addr(64), 4).await.unwrap();
            pe.fence().await;
        });
        sim.run(BOUND).unwrap();
        let faults = sim.take_faults();
        assert!(faults.iter().any(|f| (f.node, f.kind) == told), "{faults:?}");
        assert_eq!(sim.pe(THERE).read(Addr(64), 4), body.0.to_le_bytes());
    }
}

/// 255 parcels wait; the 256th is refused, and PUT does not come round to GET, which would read as an empty queue.
fn the_256th_parcel_is_refused<B: Backend + 'static>(make: impl Fn(&Config) -> B) {
    let mut sim = boot(make, &config());
    let mut refused = sim.spawn(HERE, async |pe| {
        let parcels = [Parcel::dma(THERE, Addr(0), Addr(0), 65_536); 255];
        pe.send_parcels(Priority::Normal, &parcels).await.unwrap();
        let refused = pe.send_parcels(Priority::Normal, &parcels[..1]).await.unwrap_err();
        let (put, get) = (
            pe.host().reg_read(regs::SQ1_PUT.into()).await,
            pe.host().reg_read(regs::SQ1_GET.into()).await,
        );
        (refused, put, get)
    });
    sim.run(BOUND).unwrap();
    let full = SendError::QueueFull {
        queue: 1,
        queued: 255,
        wanted: 1,
        max: 255,
    };
    assert_eq!(refused.take(), Some((full, Ok(255), Ok(0))));
}

fn an_interrupt_that_is_never_served_is_a_hang<B: Backend + 'static>(make: impl Fn(&Config) -> B) {
    let mut sim = boot(make, &config());
    sim.spawn(THERE, async |pe| {
        pe.host()
            .reg_write(regs::R_CTRL.into(), regs::R_CTRL_RUN_MASK)
            .await
            .unwrap()
    });
    sim.run(BOUND).unwrap();
    sim.spawn(HERE, async |pe| {
        pe.rmwrite(Addr(0), THERE, Addr(0), 4000).await.unwrap();
        pe.fence().await;
    });
    let error = sim.run(Picos::from_us(1000.0)).unwrap_err();
    let SimError::Hang { at, .. } = &error else {
        panic!("{error}")
    };
    assert!(*at <= Picos::from_us(1100.0));
    let text = error.to_string();
    assert!(
        text.contains("program of PE 0 waits for something new in its memory"),
        "{text}"
    );
    assert!(text.contains("kernel of PE 1 waits for an interrupt of PE 1"), "{text}");
}

/// PE 0's refused call is reported, not PE 1's wait for it. Where only the hardware refuses, the hang says so.
fn a_refusal_is_reported_and_not_hidden_by_who_waits_for_it<B: Backend + 'static>(make: impl Fn(&Config) -> B) {
    let machine = || {
        let sim = boot(&make, &config());
        sim.spawn(THERE, async |pe| pe.wait_for_change(Addr(0), 0).await);
        sim
    };
    let mut sim = machine();
    sim.spawn_checked(HERE, async |pe| {
        pe.rmwrite(Addr(0), THERE, Addr(pe.memory_end()), 4).await.map(drop)
    });
    let error = sim.run(BOUND).unwrap_err();
    assert!(
        matches!(&error, SimError::Failed { error, .. } if error.is::<RmwriteError>()),
        "{error}"
    );
    let text = error.to_string();
    assert!(
        text.starts_with("program of PE 0, at ") && text.contains("the destination of 4 bytes"),
        "{text}"
    );

    let mut sim = machine();
    let mut header = Parcel::dma(THERE, Addr(64), Addr(0), 32).header();
    header[1] = 131_073;
    sim.spawn(HERE, async move |pe| pe.send_unchecked(Priority::Normal, header).await);
    let text = sim.run(BOUND).unwrap_err().to_string();
    for part in [
        "PE 0 reported at ",
        "the Sender refused a parcel of queue 1: longer than 128 KB",
        "program of PE 1 waits for something new in its memory",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

fn rtl_machine(config: &Config) -> Machine<Cenju3Nic> {
    of_nics(config).expect("RTL built for the paper's machine")
}

macro_rules! on {
    ($backend:ident: $make:expr; $($scenario:ident),* $(,)?) => {
        mod $backend {
            use super::*;

            $(#[test] fn $scenario() { super::$scenario($make); })*
        }
    };
}

macro_rules! scenarios {
    ($backend:ident: $make:expr) => {
        on!($backend: $make;
            any_length_and_alignment_arrives,
            all_to_all_is_right,
            latency_is_that_of_figure_8,
            throughput_is_that_of_figures_9_11_and_14,
            faults_of_the_sender_are_reported_and_the_next_transfer_is_unharmed,
            memory_that_refuses_is_reported_at_both_ends,
            addresses_out_of_range_are_reported_and_the_next_transfer_is_unharmed,
            the_256th_parcel_is_refused,
            an_interrupt_that_is_never_served_is_a_hang,
            a_refusal_is_reported_and_not_hidden_by_who_waits_for_it);
    };
}

scenarios!(model: ModelMachine::new);
scenarios!(rtl: rtl_machine);
