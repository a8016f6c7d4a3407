//! Drivers that find their ports by name, and tasks on simulated time: an AXI4-Stream, AXI4-Lite and AXI4.

use tsunagi_harness::axi::{AxiTiming, WriteOrder};
use tsunagi_harness::bench::{Active, Bench, BenchError, StreamSink};
use tsunagi_harness::seed::Seed;
use tsunagi_harness::stream::{Gaps, Pacer};
use tsunagi_harness::{Addr, Cycle, Picos};
use verilated::{Context, Unit, Verilated};
use your_rtl::{Reverse8, Summer, TwinReverseHolds, TwinSummerLast};

const PERIOD: Picos = Picos::from_ns(10);

/// Sends 200 words with pauses on both sides, in packets of 7; gives what left.
fn reverse<U: Unit + 'static>(seed: Seed) -> Result<Vec<(u64, bool)>, BenchError> {
    let dut = U::named(&Context::random(seed.0), "dut");
    let bench = Bench::new(&dut);
    let clk = bench.clock("aclk", PERIOD)?;
    let (source, sink) = (bench.source(clk, "s_axis")?, bench.sink(clk, "m_axis")?);
    source.pace(Pacer::new(true, seed.stream("source")));
    sink.pace(Pacer::new(true, seed.stream("sink")));
    let monitor = bench.monitor(clk, "m_axis")?;
    bench.run(async {
        bench.reset(clk, "aresetn", Active::Low, Cycle(4)).await;
        for n in 0..200u64 {
            source.push(tsunagi_harness::bench::Beat {
                last: n % 7 == 6 || n == 199,
                ..n.into()
            });
        }
        let mut left = Vec::new();
        while left.len() < 200 {
            let beat = sink.take().await;
            left.push((beat.data, beat.last));
        }
        let passed: Vec<_> = monitor
            .passed()
            .into_iter()
            .map(|(_, beat)| (beat.data, beat.last))
            .collect();
        assert_eq!(passed, left, "the monitor sees the same");
        left
    })
}

#[test]
fn words_leave_reversed_in_their_packets() {
    for seed in 1..=20 {
        let left = reverse::<Reverse8>(Seed(seed)).unwrap();
        let due: Vec<_> = (0..200u8)
            .map(|n| (n.reverse_bits().into(), n % 7 == 6 || n == 199))
            .collect();
        assert_eq!(left, due, "seed {seed}");
    }
}

#[test]
fn a_word_that_does_not_hold_is_found() {
    let broken = reverse::<TwinReverseHolds>(Seed(1)).unwrap_err();
    let text = broken.to_string();
    assert!(
        text.starts_with("m_axis at ") && text.contains("before it was taken"),
        "{text}"
    );
}

/// Has `words` words summed, with pauses on all channels; gives the sum that memory has.
fn sum<U: Unit + 'static>(seed: Seed, words: u32) -> Result<u32, BenchError> {
    let dut = U::named(&Context::random(seed.0), "dut");
    let bench = Bench::new(&dut);
    let clk = bench.clock("aclk", PERIOD)?;
    let (bus, ram) = (bench.axi_master(clk, "s_axil")?, bench.axi_ram(clk, "m_axi", 8192)?);
    bus.pace(Gaps::Both, |name| seed.stream(name));
    let timing = AxiTiming {
        stalls: true,
        order: WriteOrder::Any,
        ..AxiTiming::IDEAL
    };
    ram.timing(timing, |name| seed.stream(name));
    ram.memory(|memory| {
        for n in 0..words {
            assert!(memory.write(Addr(0x400 + 4 * n), &(n * n).to_le_bytes()));
        }
    });
    bench.run(async {
        bench.reset(clk, "aresetn", Active::Low, Cycle(4)).await;
        for (at, value) in [(0, 0x400), (4, words), (8, 0x1000), (12, 1)] {
            bus.write(Addr(at), &value.to_le_bytes()).await.expect("a register");
        }
        assert_eq!(
            bus.read(Addr(4), 8).await.expect("registers")[4..],
            0x1000u32.to_le_bytes()
        );
        while bus.read(Addr(12), 1).await.expect("a register") != [0] {}
        ram.memory(|memory| u32::from_le_bytes(memory.read(Addr(0x1000), 4).unwrap().try_into().unwrap()))
    })
}

#[test]
fn words_of_memory_are_summed() {
    for seed in 1..=20 {
        let words = [1, 2, 17, 256][seed as usize % 4];
        assert_eq!(
            sum::<Summer>(Seed(seed), words).unwrap(),
            (0..words).map(|n| n * n).sum(),
            "seed {seed}"
        );
    }
}

#[test]
fn a_burst_without_a_last_word_is_found() {
    let broken = sum::<TwinSummerLast>(Seed(1), 3).unwrap_err();
    assert!(broken.to_string().contains("WriteLast"), "{broken}");
}

#[test]
fn a_port_that_is_nearly_right_is_proposed() {
    let dut = Reverse8::new(&Context::new());
    let bench = Bench::new(&dut);
    let error = bench.clock("aclock", PERIOD).unwrap_err();
    assert_eq!(error.to_string(), "reverse has no input aclock; did you mean `aclk`?");
    let clk = bench.clock("aclk", PERIOD).unwrap();
    let error = bench.source(clk, "s_axi").err().expect("no such stream").to_string();
    assert!(
        error.starts_with("reverse has no input s_axi_valid_i or s_axi_valid_o or s_axi_valid"),
        "{error}"
    );
    assert!(bench.sink(clk, "s_axis").is_err(), "the unit takes this stream");
}

#[test]
fn a_task_that_waits_for_ever_is_told() {
    let dut = Reverse8::new(&Context::new());
    let bench = Bench::new(&dut);
    let clk = bench.clock("aclk", PERIOD).unwrap();
    let sink: StreamSink = bench.sink(clk, "m_axis").unwrap();
    bench.limit(Picos::from_us(1.0));
    dut.aresetn.set(1);
    let error = bench.run(sink.take()).unwrap_err();
    assert!(error.to_string().contains("not done after 1.000 us"), "{error}");
    let bench = Bench::new(&dut);
    assert!(matches!(
        bench.run(std::future::pending::<()>()),
        Err(BenchError::NoClock)
    ));
}

/// Tasks beside the main one, and a wave.
#[test]
fn tasks_run_side_by_side_and_the_wave_shows_them() {
    let folder = tempfile::tempdir().unwrap();
    let dut = Reverse8::new(&Context::new());
    let bench = Bench::new(&dut);
    let clk = bench.clock("aclk", PERIOD).unwrap();
    let (source, sink) = (bench.source(clk, "s_axis").unwrap(), bench.sink(clk, "m_axis").unwrap());
    bench.wave(folder.path().join("run.vcd")).unwrap();
    let sender = source.clone();
    bench.spawn(async move {
        for n in 0..3u64 {
            sender.send(n).await;
        }
    });
    let got = bench.run(async {
        bench.reset(clk, "aresetn", Active::Low, Cycle(2)).await;
        [sink.take().await.data, sink.take().await.data, sink.take().await.data]
    });
    assert_eq!(got.unwrap(), [0, 0x80, 0x40]);
    assert_eq!(bench.cycle(clk).0, dut.context().time() / PERIOD.0);
    drop(bench);
    assert!(
        std::fs::read_to_string(folder.path().join("run.vcd"))
            .unwrap()
            .contains("m_axis_tdata")
    );
}
