//! F3: the time of an RDMA, packing and unpacking included, and without copies.

use super::lab::{Lab, What};
use crate::repro::row::Spec;
use crate::repro::{Course, THROUGHPUT};

/// The parameters that an RDMA's time depends on.
pub const DEPENDS: [&str; 6] = [
    "clock_period",
    "memory_read_latency",
    "memory_write_latency",
    "syscall",
    "send_setup",
    "receive_poll",
];
/// From 8 B to 1 MB.
const SIZES: [u32; 10] = [8, 64, 256, 1024, 4096, 16_384, 65_536, 131_072, 262_144, 1_048_576];
const ROUNDS: u32 = 4;

pub fn f3(lab: &mut Lab<'_>) {
    let config = lab.grid((2, 1, 1));
    let us = |lab: &Lab<'_>, bytes| {
        lab.measure(&config, What::PingPong { bytes, rounds: ROUNDS })
            .get("time")
    };
    let all = [&DEPENDS[..], &["copy"]].concat();
    let [short, long] = [8, 1_048_576].map(|bytes| us(lab, bytes));
    let spec = Spec::new("fig3.overhead", "RDMA of 8 B", "us")
        .paper(12.0)
        .within(11.7, 12.3);
    lab.row(spec.depends(&all), short);
    let spec = Spec::new("fig3.rdma_1mb", "RDMA of 1 MB, packing and unpacking included", "ms");
    lab.row(
        spec.beside(7.02, "12 us, and 3.33 ns/B of the link with 1.68 ns/B for each copy")
            .depends(&all),
        long / 1e3,
    );
    let raw = lab.measure(
        &config,
        What::Stream {
            bytes: 1_048_576,
            count: 1,
        },
    );
    let spec = Spec::new("sec2.raw", "RDMA of 1 MB without copies and software", "MB/s").paper(300.0);
    lab.row(spec.within(295.0, 301.0).depends(&DEPENDS[..3]), raw.get("bandwidth"));
    for (row, bytes) in [("fig3.rdma_8", 8), ("fig3.rdma_1k", 1024), ("fig3.rdma_64k", 65_536)] {
        lab.agrees(row, &config, What::PingPong { bytes, rounds: ROUNDS }, "time", &all);
    }
    let time = lab.curve("RDMA", &SIZES, |bytes| us(lab, bytes));
    let rate = lab.curve("RDMA", &SIZES, |bytes| f64::from(bytes) / us(lab, bytes));
    lab.outcome.courses.push(Course {
        title: "Fig. 3: time of an RDMA by size".into(),
        axes: ["transfer size, KB", "us"],
        curves: vec![time],
        level: None,
    });
    lab.outcome.courses.push(Course {
        title: "Throughput of an RDMA by size".into(),
        axes: THROUGHPUT,
        curves: vec![rate],
        level: Some((300.0, "a link")),
    });
}
