//! E1: what the hardware's two halves do with parcels, packets and interrupts.

use super::depends::all;
use super::lab::{Lab, What};
use crate::repro::row::Spec;

/// Sections 3.1 and 3.2, Figs. 3 and 4.
pub fn e1(lab: &mut Lab<'_>) {
    let (parcel, fill) = (
        lab.measure(lab.config(), What::Parcel),
        lab.measure(lab.config(), What::Fill),
    );
    let half = 65_536.0;
    // 256 of 128 KB.
    let packets = (lab.value("parcel_max") / lab.value("packet_bytes")).ceil();
    let cut = |row: &str, what: &str| {
        Spec::new(row, what, "packets")
            .by_formula(packets, packets, "128 KB / 512 B")
            .says()
            .depends(&["parcel_max"])
            .moves_with("parcel_max", half)
    };
    lab.row(
        cut("sec3.1.packets", "packets of the longest parcel"),
        parcel.get("packets"),
    );
    lab.row(
        cut(
            "sec3.2.packets_an_interrupt",
            "packets of the longest parcel for each end interrupt",
        ),
        parcel.get("packets_an_interrupt"),
    );
    let clock = ["io_period"];
    let after = |row: &str, what: &str| Spec::new(row, what, "us").stated(0.0, f64::INFINITY);
    lab.row(
        after("sec3.2.arrival", "arrival interrupt to the first stored byte").depends(&all(&[
            &["bus_bytes", "burst_beats", "net_period"],
            &clock,
            &["mem_write_latency", "mem_overhead"],
        ])),
        parcel.get("arrival"),
    );
    lab.row(
        after("sec3.2.end", "last stored byte to the end interrupt").depends(&clock),
        parcel.get("end"),
    );
    lab.row(
        Spec::new(
            "sec3.1.headers",
            "headers that a queue takes before it refuses one",
            "headers",
        )
        .paper(255.0)
        .stated(255.0, 255.0)
        .depends(&["queue_headers"])
        .moves_with("queue_headers", 128.0),
        fill.get("headers"),
    );
    lab.row(
        Spec::new(
            "sec3.1.queued",
            "data that wait in two queues (about 64 MB, of 2^20 B)",
            "MiB",
        )
        .paper(64.0)
        .within(63.5, 64.5)
        .depends(&["queue_headers", "parcel_max"])
        .moves_with("parcel_max", half),
        fill.get("queued"),
    );
}
