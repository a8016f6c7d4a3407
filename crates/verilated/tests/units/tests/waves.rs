//! Wave files and checkpoints.

use std::path::Path;

use verilated::{CheckpointError, Context, Recorded, Verilated, Wave};
use verilated_tests::{Mixer, MixerDepth3W24, Stopper, TwinMixerHalf};
use wellen::simple;

/// Drives both clocks and the inputs from a counter, and dumps after each edge.
fn run(
    context: &Context,
    dut: &Mixer,
    cycles: std::ops::Range<u64>,
    mut wave: Option<&mut Wave>,
) -> Vec<(u8, u32, [u32; 5])> {
    let mut seen = Vec::new();
    for cycle in cycles {
        dut.rst_i.set_bool(cycle < 2);
        dut.load_i.set_bool(cycle % 3 == 0);
        dut.data_i.set((cycle * 37) as u8);
        dut.wide_i
            .set_bits((cycle % 3) as usize * 50, 50, cycle * 0x12_3456_789a);
        for level in [1, 0] {
            context.set_time(cycle * 10_000 + 5_000 * (1 - level));
            dut.a_clk_i.set(level as u8);
            dut.b_clk_i.set((cycle % 2) as u8);
            dut.eval();
            if let Some(wave) = &mut wave {
                wave.dump();
            }
        }
        seen.push((dut.data_o.get(), dut.random_o.get(), dut.wide_o.get()));
    }
    seen
}

/// Every signal's changes: full name, and (time, value) pairs.
fn changes(path: &Path) -> Vec<(String, Vec<(u64, String)>)> {
    let mut wave = simple::read(path).expect("a wave that wellen reads");
    let unit = wave.hierarchy().timescale().expect("a timescale");
    assert_eq!((unit.factor, unit.unit), (1, wellen::TimescaleUnit::PicoSeconds));
    let vars: Vec<_> = {
        let all = wave.hierarchy();
        all.all_vars()
            .map(|v| (all[v].full_name(all), all[v].signal_ref()))
            .collect()
    };
    let signals: Vec<_> = vars.iter().map(|(_, signal)| *signal).collect();
    wave.load_signals(&signals);
    let mut all = Vec::new();
    for (name, signal) in vars {
        let signal = wave.get_signal(signal).expect("loaded");
        let times = wave.time_table();
        let values = signal
            .iter_changes()
            .map(|(at, value)| (times[at as usize], value.to_string()))
            .collect();
        all.push((name, values));
    }
    all.sort();
    all
}

#[test]
fn vcd_and_fst_of_two_instances_agree_in_every_signal() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let context = Context::random(3);
    let (left, right) = (Mixer::named(&context, "left"), MixerDepth3W24::named(&context, "right"));
    let mut files = Vec::new();
    for name in ["a.vcd", "a.fst"] {
        let path = folder.path().join(name);
        let (start, random) = (left.save().expect("savable"), context.save_random());
        let mut wave = Wave::create(&path, &[&left, &right]).expect("a wave file");
        run(&context, &left, 0..50, Some(&mut wave));
        drop(wave);
        left.restore(&start).expect("its own checkpoint");
        context.restore_random(&random);
        files.push(changes(&path));
    }
    assert_eq!(files[0], files[1]);
    let signals: Vec<&str> = files[0].iter().map(|(name, _)| name.as_str()).collect();
    for name in [
        "left.mixer.u_count.count_o",
        "right.mixer.memory_q.[2]",
        "left.mixer.wide_o",
    ] {
        assert!(signals.contains(&name), "{name} is not among {signals:?}");
    }
    let count = &files[0]
        .iter()
        .find(|(name, _)| name == "left.mixer.a_count_o")
        .expect("a port")
        .1;
    assert_eq!(count.len(), 49, "0 in reset, then a change in each of 48 cycles");
}

/// A lane's changes, as text.
fn texts(all: &[(String, Vec<(u64, String)>)], lane: &str) -> Vec<(u64, String)> {
    let text = |bits: &str| -> String {
        let byte = |at: usize| u8::from_str_radix(&bits[at..at + 8], 2).expect("bits");
        let bytes = (0..bits.len()).step_by(8).map(byte);
        bytes.skip_while(|byte| *byte == 0).map(char::from).collect()
    };
    let (_, changes) = all.iter().find(|(name, _)| name == lane).expect("a lane");
    changes.iter().map(|(at, bits)| (*at, text(bits))).collect()
}

#[test]
fn a_lane_shows_its_text_in_both_formats() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut files = Vec::new();
    for name in ["a.vcd", "a.fst"] {
        let path = folder.path().join(name);
        let context = Context::new();
        let dut = Mixer::named(&context, "left");
        let lanes = ["packets.left.out", "packets.left.in", "packets.right.out"];
        let mut wave = Wave::create_with_lanes(&path, &[&dut], &lanes).expect("a wave file");
        let long = "a text of thirty-three signs, so.";
        for (lane, text) in [(0, ""), (0, "#1 to PE 1"), (1, long), (0, "#2 \u{b5}"), (0, "")] {
            wave.set_lane(lane, text);
            dut.a_clk_i.set(1 - dut.a_clk_i.get());
            dut.eval();
            wave.dump();
            context.set_time(context.time() + 5_000);
        }
        wave.close().expect("it has room");
        files.push(changes(&path));
    }
    let [vcd, fst] = &files[..] else { unreachable!() };
    assert_eq!(vcd, fst);
    let told = |lane| {
        let texts = texts(fst, lane).into_iter();
        texts.map(|(at, text)| format!("{at} {text}")).collect::<Vec<_>>()
    };
    assert_eq!(
        told("packets.left.out"),
        ["0 ", "5000 #1 to PE 1", "15000 #2 ?", "20000 "]
    );
    assert_eq!(
        told("packets.left.in"),
        ["0 ", "10000 a text of thirty-three signs, s~"]
    );
    assert_eq!(told("packets.right.out"), ["0 "]);
    let names = fst.iter().filter(|(name, _)| name.starts_with("packets."));
    assert_eq!(names.count(), 3, "each stands there once");
}

#[test]
fn a_restored_instance_goes_on_as_the_straight_run() {
    let context = Context::random(5);
    let dut = Mixer::new(&context);
    run(&context, &dut, 0..20, None);
    let (state, random) = (dut.save().expect("savable"), context.save_random());
    assert!(state.size() > 40);
    let straight = run(&context, &dut, 20..60, None);
    context.restore_random(&random);
    dut.restore(&state).expect("its own checkpoint");
    assert_eq!(run(&context, &dut, 20..60, None), straight);
    let other = Mixer::new(&context);
    other.eval();
    context.restore_random(&random);
    other.restore(&state).expect("the same unit");
    assert_eq!(run(&context, &other, 20..60, None), straight, "in another instance too");
}

#[test]
fn a_checkpoint_is_refused_by_other_units() {
    let context = Context::new();
    let state = Mixer::new(&context).save().expect("savable");
    assert_eq!(
        MixerDepth3W24::new(&context).restore(&state),
        Err(CheckpointError::OtherUnit("mixer"))
    );
    assert_eq!(
        Stopper::new(&context).save().err(),
        Some(CheckpointError::NotSavable("stopper"))
    );
}

#[test]
fn a_wave_that_cannot_be_made_is_an_error() {
    let dut = Mixer::new(&Context::new());
    let error = Wave::create("/no/such/folder/a.vcd", &[&dut])
        .err()
        .expect("there is no such folder");
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn a_wave_that_cannot_be_written_whole_is_an_error_of_its_close() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let context = Context::random(3);
    let dut = Mixer::new(&context);
    for name in ["full.vcd", "full.fst"] {
        let path = folder.path().join(name);
        std::os::unix::fs::symlink("/dev/full", &path).expect("a link");
        let mut wave = Wave::create(&path, &[&dut]).expect("it can be opened");
        run(&context, &dut, 0..2000, Some(&mut wave));
        let error = wave.close().expect_err("it has no room");
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{name}: {error}");
        assert!(path.exists(), "a device is not removed");
        let mut wave = Wave::create(&path, &[&dut]).expect("it can be opened");
        run(&context, &dut, 0..2000, Some(&mut wave));
        drop(wave);
        let mut wave = Wave::create(folder.path().join("sound").with_extension(&name[5..]), &[&dut]).expect("a file");
        run(&context, &dut, 0..10, Some(&mut wave));
        wave.close().expect("it has room");
    }
}

#[test]
fn a_wave_outlives_its_instance() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let context = Context::new();
    let dut = Mixer::new(&context);
    let mut wave = Wave::create(folder.path().join("a.vcd"), &[&dut]).expect("a wave file");
    run(&context, &dut, 0..5, Some(&mut wave));
    drop(dut);
    context.set_time(90_000);
    wave.dump();
}

#[test]
fn a_panic_leaves_a_wave_of_the_last_cycles_that_agrees_with_the_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("last.fst");
    let seen = std::sync::Mutex::new(Vec::new());
    let failed = std::panic::catch_unwind(|| {
        let context = Context::random(9);
        let dut = Recorded::new(Mixer::named(&context, "left"), &path, 20);
        for cycle in 0..53u64 {
            dut.rst_i.set_bool(cycle < 2);
            dut.half_i.set((cycle * 321) as u16);
            for level in [1, 0] {
                context.set_time(cycle * 10_000 + 5_000 * (1 - u64::from(level)));
                dut.a_clk_i.set(level);
                dut.eval();
                if level == 1 {
                    let now = (context.time(), dut.random_o.get());
                    seen.lock().expect("one thread").push(now);
                }
            }
        }
        panic!("the test's own");
    });
    assert!(failed.is_err());
    let all = changes(&path);
    let random = &all.iter().find(|(name, _)| name == "left.random_o").expect("a port").1;
    // 106 evaluations, checkpoints after 80 and 100: the wave starts at the 81st, which is the rising edge of cycle 40.
    let seen = seen.into_inner().expect("one thread");
    let last: Vec<(u64, String)> = seen[40..]
        .iter()
        .map(|(at, value)| (*at, format!("{value:032b}")))
        .collect();
    assert_eq!(*random, last);
}

#[test]
fn a_broken_twin_has_no_waves() {
    let folder = tempfile::tempdir().unwrap();
    let twin = TwinMixerHalf::new(&Context::new());
    let refused = Wave::create(folder.path().join("twin.vcd"), &[&twin])
        .err()
        .expect("a twin has no code for waves");
    assert!(refused.to_string().contains("is a broken twin"), "{refused}");
}
