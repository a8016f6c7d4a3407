use verilated::{Clocks, Context, Wave};
use your_rtl::Divider16;

#[test]
fn it_divides() {
    let context = Context::random(1);
    let dut = Divider16::new(&context);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut wave = Wave::create(folder.path().join("divider.fst"), &[&dut]).expect("a wave file");
    let mut clocks = Clocks::new();
    let clk = clocks.add(10_000, 0); // period and phase in picoseconds
    let mut cycle = || {
        for _ in 0..2 {
            dut.clk.set_bool(clocks.step(&context).rises(clk));
            dut.eval();
            wave.dump();
        }
    };
    dut.rst.set(1);
    cycle();
    dut.rst.set(0);
    for (n, d) in [(1, 1), (100, 7), (65_535, 256), (3, 40_000), (0, 9)] {
        dut.n.set(n);
        dut.d.set(d);
        dut.start.set(1);
        cycle();
        dut.start.set(0);
        for _ in 0..=Divider16::W {
            assert_eq!(dut.done.get(), 0, "{n} / {d} is done too early");
            cycle();
        }
        assert_eq!(
            (dut.done.get(), dut.quotient.get(), dut.remainder.get()),
            (1, n / d, n % d),
            "{n} / {d}"
        );
    }
}
