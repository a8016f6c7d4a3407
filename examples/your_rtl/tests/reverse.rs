use tsunagi_harness::bench::{Active, Bench, BenchError};
use tsunagi_harness::{Cycle, Picos};
use verilated::Context;
use your_rtl::Reverse8;

#[test]
fn bits_leave_reversed() -> Result<(), BenchError> {
    let dut = Reverse8::new(&Context::random(7)); // what is not reset starts at random
    let bench = Bench::new(&dut);
    let clk = bench.clock("aclk", Picos::from_ns(10))?;
    let source = bench.source(clk, "s_axis")?; // s_axis_tvalid, s_axis_tready, s_axis_tdata, …
    let sink = bench.sink(clk, "m_axis")?; // takes words, and watches that offers hold
    bench.run(async {
        bench.reset(clk, "aresetn", Active::Low, Cycle(4)).await;
        source.push(0b0000_1101);
        source.push(0b1000_0000);
        assert_eq!(sink.take().await.data, 0b1011_0000);
        assert_eq!(sink.take().await.data, 0b0000_0001);
    })
}
