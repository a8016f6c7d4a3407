//! Ports, clocks and stops of verilated instances.

use verilated::{Clocks, Context, Input, Port, Verilated};
use verilated_tests::{Mixer, MixerDepth3W24, MixerPorts, MixerUnit, Slopes, Stopper, TwinMixerHalf};

fn reset(dut: &Mixer) {
    dut.rst_i.set(1);
    for _ in 0..2 {
        dut.a_clk_i.set(1);
        dut.b_clk_i.set(1);
        dut.eval();
        dut.a_clk_i.set(0);
        dut.b_clk_i.set(0);
        dut.eval();
    }
    dut.rst_i.set(0);
}

#[test]
fn ports_of_every_size_carry_their_values() {
    let context = Context::new();
    let dut = Mixer::new(&context);
    reset(&dut);
    dut.half_i.set(0x1233);
    dut.long_i.set(0xab_cdef_0123);
    for (i, value) in [1u64 << 49 | 3, 0x1_2345_6789_abcd, 77].into_iter().enumerate() {
        dut.wide_i.set_bits(50 * i, 50, value);
    }
    dut.a_clk_i.set(1);
    dut.eval();
    assert_eq!(dut.half_o.get(), 0x1234);
    assert_eq!(dut.long_o.get(), 0xab_cdef_0123);
    let wide: Vec<u64> = (0..3).map(|i| dut.wide_o.get_bits(50 * i, 50)).collect();
    assert_eq!(wide, [0x1_2345_6789_abcd, 77, 1 << 49 | 3]);
    assert_eq!(dut.peek("half_o").expect("a port"), [0x1234]);
    assert_eq!(dut.peek("wide_o").expect("a port"), dut.wide_o.get());
    assert_eq!(dut.clocks(), ["a_clk_i", "b_clk_i"]);
    assert_eq!((MixerDepth3W24::W, MixerDepth3W24::DEPTH), (24, 3));
    let narrow: u32 = MixerDepth3W24::new(&context).data_o.get();
    assert_eq!(narrow >> 24, 0);
}

#[test]
fn a_public_signal_inside_is_read_by_field_trait_and_path() {
    fn counted<U: MixerUnit>() -> u64 {
        let dut = U::named(&Context::new(), "any");
        dut.rst_i().set(1);
        dut.rise(2);
        dut.rst_i().set(0);
        (0..3).for_each(|_| dut.rise(2));
        dut.u_count_count_o().get()
    }
    assert_eq!((counted::<Mixer>(), counted::<TwinMixerHalf>()), (3, 3));
    let dut = Mixer::new(&Context::random(3));
    let random = dut.unreset_q.get();
    assert_ne!(random, 0, "it is not reset");
    dut.load_i.set(1);
    dut.rise(1);
    assert_eq!((dut.unreset_q.get(), dut.peek("unreset_q")), (5, Some(vec![5])));
    assert_eq!(dut.peek("u_count.count_o"), Some(vec![dut.u_count_count_o.get()]));
    let names: Vec<&str> = dut.signals().iter().map(|signal| signal.name).collect();
    assert_eq!(names, ["unreset_q", "u_count.count_o"]);
    assert!(
        dut.ports().iter().all(|port| !names.contains(&port.name)),
        "they are no ports"
    );
}

/// What any mixer shows after an edge, and the outputs that the edge changed.
fn any_mixer<U: MixerUnit>() -> (u64, u64, usize, String) {
    let dut = U::named(&Context::new(), "any");
    dut.half_i().set(0x1233);
    dut.wide_i().set_bits(50, 50, 7);
    let before = dut.snapshot();
    dut.rise(1);
    let after = dut.snapshot();
    assert!(before.has_outputs_of(&before) && !before.has_outputs_of(&after));
    assert_eq!(before.half_o().get(), 0, "a snapshot stays as it was");
    let width = after.data_o().width();
    (
        after.half_o().get(),
        after.wide_o().get_bits(0, 50),
        width,
        before.changes(&after),
    )
}

#[test]
fn one_trait_has_all_sets_and_twins_of_a_unit() {
    let (half, wide, width, changes) = any_mixer::<Mixer>();
    assert_eq!((half, wide, width), (0x1234, 7, 8));
    assert!(changes.contains("half_o 0, then 0x1234"), "{changes}");
    assert_eq!(any_mixer::<MixerDepth3W24>().2, 24);
    assert_eq!(any_mixer::<TwinMixerHalf>().0, 0x1235);
}

#[test]
#[should_panic(expected = "the value is wider than the port")]
fn a_value_that_does_not_fit_is_refused() {
    Mixer::new(&Context::new()).long_i.set(1 << 40);
}

#[test]
fn edges_come_in_order_of_time_and_together_when_they_coincide() {
    let context = Context::new();
    let dut = Mixer::new(&context);
    reset(&dut);
    let mut clocks = Clocks::new();
    let (a, b) = (clocks.add(40_000, 0), clocks.add(50_000, 10_000));
    let mut last = 0;
    let mut together = 0;
    while clocks.next_at().is_some_and(|at| at <= 1_000_000) {
        let edges = clocks.step(&context);
        assert!(edges.at > last || last == 0);
        last = edges.at;
        together += u32::from(edges.rises(a) && edges.rises(b));
        if edges.rises(a) || edges.falls(a) {
            dut.a_clk_i.set_bool(edges.rises(a));
        }
        if edges.rises(b) || edges.falls(b) {
            dut.b_clk_i.set_bool(edges.rises(b));
        }
        dut.eval();
    }
    // 40, 80, … 1000 ns; 60, 110, … 960 ns; together at 160, 360, … 960 ns.
    assert_eq!((dut.a_count_o.get(), dut.b_count_o.get(), together), (25, 19, 5));
}

/// [`Verilated::rise`] as it is described, by name.
fn rise_in_two(dut: &Mixer, clocks: u64) {
    for level in [false, true] {
        for (clock, port) in [&dut.a_clk_i, &dut.b_clk_i].into_iter().enumerate() {
            if clocks >> clock & 1 == 1 {
                port.set_bool(level);
            }
        }
        dut.eval();
    }
}

#[test]
fn a_rise_is_an_evaluation_low_and_one_high() {
    let context = Context::random(3);
    let (one, two) = (Mixer::new(&context), Mixer::new(&context));
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    for step in 0..2_000 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        for dut in [&one, &two] {
            dut.rst_i.set_bool(step < 3);
            dut.load_i.set_bool(random & 4 == 4);
            dut.data_i.set((random >> 8) as u8);
            dut.half_i.set((random >> 16) as u16);
            dut.wide_i.set_bits(100, 50, random >> 14);
        }
        one.rise(random & 3);
        rise_in_two(&two, random & 3);
        // All outputs but that of $urandom, which the two share.
        for port in one.ports().iter().filter(|port| port.output && port.name != "random_o") {
            assert_eq!(one.peek(port.name), two.peek(port.name), "{} in step {step}", port.name);
        }
    }
}

#[test]
fn a_rise_does_not_lose_the_fall_before_it() {
    let dut = Slopes::new(&Context::new());
    for rises in 1..10 {
        dut.rise(1);
        assert_eq!((dut.rises_o.get(), dut.falls_o.get()), (rises, rises - 1));
    }
    dut.clk_i.set(0);
    dut.eval();
    dut.rise(1);
    assert_eq!((dut.rises_o.get(), dut.falls_o.get()), (10, 9));
    assert!(dut.level_o.is_set());
}

#[test]
fn a_failed_assertion_names_file_line_instance_and_time() {
    let context = Context::new();
    let dut = Stopper::named(&context, "left");
    dut.eval();
    dut.data_i.set(77);
    dut.clk_i.set(1);
    context.set_time(1250);
    let failure = dut.try_eval().expect_err("the assertion fails");
    assert_eq!(
        failure.to_string(),
        "rtl/stopper.sv:11: assertion failed (or $stop) in left at 1250 ps"
    );
    dut.clk_i.set(0);
    dut.data_i.set(1);
    assert_eq!(dut.try_eval(), Ok(()), "the instance lives on");
}

#[test]
#[should_panic(expected = "rtl/stopper.sv:11: assertion failed (or $stop) in stopper at 0 ps")]
fn eval_panics_on_a_failed_assertion() {
    let dut = Stopper::new(&Context::new());
    dut.data_i.set(77);
    dut.eval();
    dut.clk_i.set(1);
    dut.eval();
}

#[test]
fn finish_is_noted_in_the_context_and_is_no_failure() {
    let context = Context::new();
    let dut = Stopper::new(&context);
    dut.eval();
    dut.finish_i.set(1);
    assert!(!context.finished());
    dut.clk_i.set(1);
    dut.eval();
    assert!(context.finished());
}

#[test]
fn a_model_that_does_not_settle_is_a_failure_and_not_the_end_of_the_process() {
    let dut = Stopper::new(&Context::new());
    dut.loop_i.set(1);
    let failure = dut.try_eval().expect_err("it oscillates");
    assert!(failure.to_string().contains("converge"), "{failure}");
}

#[test]
fn unreset_registers_follow_the_seed() {
    let start = |context: Context| {
        let dut = Mixer::new(&context);
        dut.eval();
        dut.unreset_o.get()
    };
    assert_eq!(start(Context::new()), 0);
    assert_eq!(start(Context::random(1)), start(Context::random(1)));
    assert_ne!(start(Context::random(1)), start(Context::random(2)));
}

#[test]
fn chance_in_one_thread_is_not_disturbed_by_another() {
    let draw = || {
        let dut = Mixer::new(&Context::random(4));
        let cycles = (0..2000).map(|_| {
            dut.a_clk_i.set(1);
            dut.eval();
            dut.a_clk_i.set(0);
            dut.eval();
            dut.random_o.get()
        });
        cycles.collect::<Vec<u32>>()
    };
    let alone = draw();
    assert_ne!(alone[0], alone[1]);
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..3).map(|_| scope.spawn(draw)).collect();
        for _ in 0..200 {
            drop(Context::random(7));
        }
        for other in others {
            assert_eq!(other.join().expect("it draws"), alone);
        }
    });
}
