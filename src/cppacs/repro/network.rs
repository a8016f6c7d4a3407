//! N1 to N3: latency, throughput, broadcast and conflicts of the hyper-crossbar.

use super::lab::{Lab, Pattern, What};
use super::rdma::DEPENDS;
use crate::net::hyper::{Axis, Grid};
use crate::repro::row::{BackendKind, Spec};

/// What the way from kick to flag depends on.
const WAY: &[&str] = &[DEPENDS[0], DEPENDS[1], DEPENDS[2]];

/// Latency, and what a link carries.
pub fn n1(lab: &mut Lab<'_>) {
    let (near, far) = (lab.grid((2, 1, 1)), lab.grid((2, 2, 2)));
    let short = What::Stream { bytes: 8, count: 1 };
    let way = lab.measure(&near, short).get("way");
    let spec = Spec::new("latency.public", "8 B from kick to receive flag, one crossbar", "us");
    lab.row(spec.paper(3.0).within(2.8, 3.2).depends(WAY), way);
    lab.agrees("latency.public", &near, short, "way", WAY);
    let spec = Spec::new("latency.crossbars_3", "the same through three crossbars", "us");
    let more = way + 18.0 * lab.config().clock_period.as_us();
    lab.row(
        spec.near(more, 0.001, "one crossbar's, and 9 cycles for each more")
            .depends(WAY),
        lab.measure(&far, short).get("way"),
    );
    for (row, bytes, low, high) in [("rate_64k", 65_536, 298.5, 300.0), ("rate_1k", 1024, 281.0, 284.0)] {
        let what = What::Stream { bytes, count: 16 };
        let spec = Spec::new(
            format!("sec2.{row}"),
            format!("stream of transfers of {bytes} B"),
            "MB/s",
        );
        let how = "300 MB/s, less header and sum, or less the TCW, which passes the port of memory that data pass";
        lab.row(
            spec.by_formula(low, high, how).depends(WAY),
            lab.measure(&near, what).get("bandwidth"),
        );
        lab.agrees(&format!("sec2.{row}"), &near, what, "bandwidth", WAY);
    }
}

/// A broadcast takes as long as one to one.
pub fn n2(lab: &mut Lab<'_>) {
    let size = if lab.backend() == BackendKind::Model {
        (4, 4, 8)
    } else {
        (2, 2, 2)
    };
    let config = lab.grid(size);
    for (row, bytes, most) in [("8", 8, 1.0), ("992", 992, 1.0), ("64k", 65_536, 1.05)] {
        let worm = |what| lab.measure(&config, what).get("worm");
        let ratio = worm(What::Broadcast { bytes }) / worm(What::Stream { bytes, count: 1 });
        let spec = Spec::new(
            format!("sec2.broadcast_{row}"),
            format!("broadcast of {bytes} B to all over one to one, first word to last flag"),
            "",
        );
        lab.row(spec.paper(1.0).within(1.0, most).depends(WAY), ratio);
        lab.agrees(
            &format!("sec2.broadcast_{row}"),
            &config,
            What::Broadcast { bytes },
            "worm",
            WAY,
        );
    }
}

/// What has no conflicts, and the counts of the paper's machine.
pub fn n3(lab: &mut Lab<'_>) {
    let size = if lab.backend() == BackendKind::Model {
        (4, 4, 8)
    } else {
        (2, 2, 2)
    };
    let config = lab.grid(size);
    for (row, pattern, what) in [
        ("neighbours", Pattern::Neighbours, "neighbours along each axis"),
        ("shifts", Pattern::Shifts, "all shifts of the node numbers"),
        ("meshes", Pattern::Meshes, "all meshes of at most as many nodes"),
        ("tori", Pattern::Tori, "tori with sides that are powers of two"),
    ] {
        let m = lab.measure(&config, What::Conflicts(pattern));
        let spec = Spec::new(
            format!("sec2.{row}"),
            format!("{what}: cycles that worms waited"),
            "cycles",
        );
        lab.row(
            spec.paper(0.0).within(0.0, 0.0).depends(&["clock_period"]),
            m.get("stalled"),
        );
        let spec = Spec::new(format!("sec2.{row}_steps"), format!("{what}: steps"), "");
        lab.row(spec.within(1.0, f64::INFINITY), m.get("steps"));
    }
    let grid = Grid { x: 8, y: 17, z: 8 };
    let crossbars: u32 = Axis::ALL.iter().map(|&axis| grid.crossbars(axis)).sum();
    let spec = Spec::new("sec2.nodes", "nodes of 8 x 17 x 8, and so exchangers", "");
    lab.row(spec.paper(1088.0).within(1088.0, 1088.0), grid.nodes().into());
    let spec = Spec::new("sec2.crossbars", "crossbars of 8 x 17 x 8", "");
    lab.row(spec.near(336.0, 0.0, "17 x 8 + 8 x 8 + 8 x 17"), crossbars.into());
}
