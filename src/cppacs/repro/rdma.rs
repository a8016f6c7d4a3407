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
    let pvm = |lab: &Lab<'_>, bytes| lab.measure(&config, What::Pvm { bytes }).get("time");
    ratios(lab, &us, &pvm);
    let time = lab.curve("RDMA", &SIZES, |bytes| us(lab, bytes));
    let by_pvm = lab.curve("PVM", &SIZES, |bytes| pvm(lab, bytes));
    let rate = lab.curve("RDMA", &SIZES, |bytes| f64::from(bytes) / us(lab, bytes));
    lab.outcome.courses.push(Course {
        title: "Fig. 3: time of RDMA and PVM by size".into(),
        axes: ["transfer size, KB", "us"],
        curves: vec![time, by_pvm],
        level: None,
    });
    lab.outcome.courses.push(Course {
        title: "Throughput of an RDMA by size".into(),
        axes: THROUGHPUT,
        curves: vec![rate],
        level: Some((300.0, "a link")),
    });
}

/// PVM's times, and over RDMA's.
fn ratios(lab: &mut Lab<'_>, rdma: &impl Fn(&Lab<'_>, u32) -> f64, pvm: &impl Fn(&Lab<'_>, u32) -> f64) {
    let depends = super::pvm::depends();
    let ratio = |lab: &Lab<'_>, kb: u32| pvm(lab, 1024 * kb) / rdma(lab, 1024 * kb);
    let spec = |row: &str, what: &str, unit| Spec::new(format!("fig3.{row}"), what.to_owned(), unit).depends(&depends);
    let [one, thousand] = [1024, 1_048_576].map(|bytes| pvm(lab, bytes));
    lab.row(spec("pvm_1k", "PVM, 1 KB", "us").paper(54.0).within(53.0, 54.5), one);
    lab.row(spec("pvm_1mb", "PVM, 1 MB", "ms").within(9.0, 9.2), thousand / 1e3);
    let short = ratio(lab, 1);
    lab.row(
        spec("ratio_1k", "PVM over RDMA, 1 KB", "").paper(3.0).within(2.5, 3.5),
        short,
    );
    let long = ratio(lab, 1024);
    lab.row(
        spec("ratio_1mb", "PVM over RDMA, 1 MB", "")
            .paper(1.3)
            .within(1.25, 1.35),
        long,
    );
    let [four, sixteen, sixty_four] = [4, 16, 64].map(|kb| ratio(lab, kb));
    let falls = f64::from(u8::from(four > sixteen && sixteen > sixty_four));
    lab.row(
        spec("ratio_falls", "the ratio falls from 4 KB to 64 KB", "").within(1.0, 1.0),
        falls,
    );
    let rest = [64, 256, 1024].map(|kb| ratio(lab, kb));
    let most = crate::repro::greatest(rest.into_iter());
    lab.row(
        spec("ratio_rest", "the ratio from 64 KB on, greatest", "").within(1.25, 1.45),
        most,
    );
}
